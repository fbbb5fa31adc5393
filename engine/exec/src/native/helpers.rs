//! Helpers: functions that native code calls for rare or wide operations. They run the interpreter's own
//! functions.
//!
//! A helper whose operation may refuse the packet returns zero for success, or the error plus one.

use p4cc_ir::{CounterId, RegisterId, TableId};
use smallvec::SmallVec;

use super::context::Context;
use crate::bitplan::read_bits;
use crate::env::PacketView;
use crate::op::PACKED_HASHES;
use crate::state::Head;
use crate::state::meter::COLOR_GREEN;

/// No target.
const NONE: u64 = u32::MAX as u64;

fn outcome(result: Result<(), u32>) -> u64 {
    result.map_or_else(|error| u64::from(error) + 1, |()| 0)
}

extern "C" fn extract(context: &mut Context<'_>, header: u64) -> u64 {
    outcome(context.with_interpreter(|run| run.extract(header as u32)))
}

extern "C" fn peek(context: &mut Context<'_>, at: u64, width: u64) -> u64 {
    context.with_interpreter(|run| read_bits(run.packet, at, width as u32))
}

extern "C" fn emit(context: &mut Context<'_>, header: u64) -> u64 {
    context.with_interpreter(|run| run.emit(header as u32));
    0
}

extern "C" fn set_valid(context: &mut Context<'_>, header: u64) -> u64 {
    context.with_interpreter(|run| run.set_valid(header as u32));
    0
}

extern "C" fn set_invalid(context: &mut Context<'_>, header: u64) -> u64 {
    context.with_interpreter(|run| run.set_invalid(header as u32));
    0
}

extern "C" fn slow(context: &mut Context<'_>, index: u64) -> u64 {
    outcome(context.with_interpreter(|run| run.slow(index as u32)))
}

extern "C" fn select_slow(context: &mut Context<'_>, index: u64) -> u64 {
    context.with_interpreter(|run| run.select_slow(index as u32).map_or(NONE, u64::from))
}

extern "C" fn call_extern(context: &mut Context<'_>, index: u64) -> u64 {
    context.with_interpreter(|run| run.call_extern(index as u32));
    0
}

extern "C" fn verify_checksum(context: &mut Context<'_>, index: u64) -> u64 {
    context.with_interpreter(|run| run.verify_checksum(index as u32));
    0
}

extern "C" fn update_checksum(context: &mut Context<'_>, index: u64) -> u64 {
    context.with_interpreter(|run| run.update_checksum(index as u32));
    0
}

extern "C" fn count(context: &mut Context<'_>, counter: u64, index: u64) -> u64 {
    if let Some((env, _)) = context.env() {
        env.state.count(CounterId(counter as u32), index, env.packet_length);
    }
    0
}

extern "C" fn register_read(context: &mut Context<'_>, register: u64, index: u64) -> u64 {
    let Some((env, _)) = context.env() else { return 0 };
    env.state.register_word(RegisterId(register as u32), index).copied().unwrap_or(0)
}

extern "C" fn register_write(context: &mut Context<'_>, register: u64, index: u64, value: u64) -> u64 {
    let Some((env, _)) = context.env() else { return 0 };
    if let Some(word) = env.state.register_word_mut(RegisterId(register as u32), index) {
        *word = value;
    }
    0
}

/// Applies a table with a key of one word and without a
/// selector, as most are: the [`Head`] of what is to run.
extern "C" fn apply_word(context: &mut Context<'_>, table: u64, key: u64) -> u64 {
    if let Some((env, _)) = context.env()
        && let Some((head, args)) = env.state.lookup_exact(TableId(table as u32), key)
    {
        let args = &raw const *args;
        context.color = COLOR_GREEN;
        context.set_args(args);
        return head.0;
    }
    apply_word_slow(context, table, key)
}

/// What [`apply_word`] leaves; by itself, so that the usual case needs no stack.
#[inline(never)]
extern "C" fn apply_word_slow(context: &mut Context<'_>, table: u64, key: u64) -> u64 {
    let Some((env, _)) = context.env() else { return Head::NOTHING.0 };
    let row = env.state.lookup_word(TableId(table as u32), key);
    choose(context, table, row, 0)
}

/// The same where the key stands in the frame.
extern "C" fn apply_words(context: &mut Context<'_>, table: u64) -> u64 {
    let row = lookup_words(context, table);
    choose(context, table, row, 0)
}

fn lookup_words(context: &mut Context<'_>, table: u64) -> u32 {
    let Some((_, code)) = context.env() else { return 0 };
    let at = code.layout.key as usize;
    let words = code.tables.get(table as usize).map_or(0, |plan| plan.words as usize);
    let key: SmallVec<[u64; 8]> = context.words(at..at + words).into();
    context.env().map_or(0, |(env, _)| env.state.lookup(TableId(table as u32), &key))
}

/// Applies a table with a selector and a key of one word. Where a list was hit, its member is still to be
/// chosen by [`apply_list`]; nothing is counted until then.
extern "C" fn apply_selector(context: &mut Context<'_>, table: u64, key: u64) -> u64 {
    let Some((env, _)) = context.env() else { return Head::NOTHING.0 };
    let row = env.state.lookup_word(TableId(table as u32), key);
    choose_or_list(context, table, row)
}

/// The same where the key stands in the frame.
extern "C" fn apply_selector_words(context: &mut Context<'_>, table: u64) -> u64 {
    let row = lookup_words(context, table);
    choose_or_list(context, table, row)
}

#[inline(always)]
fn choose_or_list(context: &mut Context<'_>, table: u64, row: u32) -> u64 {
    let Some((env, _)) = context.env() else { return Head::NOTHING.0 };
    if let Some((head, choices)) = env.state.list_of(TableId(table as u32), row) {
        let choices = &raw const *choices;
        context.row = row.into();
        context.set_choices(choices);
        return head.0;
    }
    choose_one(context, table, row)
}

/// By itself, so that groups need no stack.
#[inline(never)]
fn choose_one(context: &mut Context<'_>, table: u64, row: u32) -> u64 {
    choose(context, table, row, 0)
}

/// The member of the list that was found, by its hash.
extern "C" fn apply_list(context: &mut Context<'_>, table: u64, hash: u64) -> u64 {
    let row = context.row as u32;
    choose(context, table, row, hash)
}

/// The same where the fields of the hash are not packed by native code.
extern "C" fn apply_list_slow(context: &mut Context<'_>, table: u64) -> u64 {
    let row = context.row as u32;
    let hash = context.with_interpreter(|run| run.selector_hash(table as u32, row));
    choose(context, table, row, hash)
}

#[inline]
fn choose(context: &mut Context<'_>, table: u64, row: u32, hash: u64) -> u64 {
    if let Some((env, _)) = context.env()
        && let Some((head, args)) = env.state.choose_uncounted(TableId(table as u32), row, hash)
    {
        let args = &raw const *args;
        context.color = COLOR_GREEN;
        context.set_args(args);
        return head.0;
    }
    choose_counted(context, table, row, hash)
}

#[inline(never)]
fn choose_counted(context: &mut Context<'_>, table: u64, row: u32, hash: u64) -> u64 {
    let Some((env, _)) = context.env() else { return Head::NOTHING.0 };
    let chosen = env.state.choose(TableId(table as u32), row, hash, env.packet_length, env.now);
    let (head, color, args) = (chosen.head, chosen.color, &raw const *chosen.args);
    context.color = color;
    context.entry = row.into();
    context.set_args(args);
    head.0
}

/// What the parser left is the payload.
extern "C" fn payload(context: &mut Context<'_>) -> u64 {
    context.set_payload();
    0
}

/// The next number of the switch's stream.
extern "C" fn random(context: &mut Context<'_>) -> u64 {
    context.env().map_or(0, |(env, _)| env.random.next_u64())
}

/// A control was cut off.
extern "C" fn limit_hit(context: &mut Context<'_>) -> u64 {
    if let Some((env, _)) = context.env() {
        env.effects.request().loop_limits_hit += 1;
    }
    0
}

/// Whether the packet bypasses its queue.
extern "C" fn may_bypass(context: &mut Context<'_>, port: u64, priority: u64) -> u64 {
    context.may_bypass(port as u32, priority as u8).into()
}

/// How many clones were requested.
extern "C" fn clones(context: &mut Context<'_>) -> u64 {
    context.env().map_or(0, |(env, _)| env.effects.clones.len() as u64)
}

/// Sets many words to zero.
extern "C" fn clear(context: &mut Context<'_>, from: u64, words: u64) -> u64 {
    context.with_interpreter(|run| {
        if let Some(words) = run.slots.get_mut(from as usize..(from + words) as usize) {
            words.fill(0);
        }
    });
    0
}

/// The hash of bytes that native code packed, by the number of the algorithm in [`PACKED_HASHES`].
extern "C" fn hash(context: &mut Context<'_>, algorithm: u64, bytes: u64) -> u64 {
    let Some(&algorithm) = PACKED_HASHES.get(algorithm as usize) else { return 0 };
    let Some((state, packed)) = context.state_and_packed(bytes as usize) else { return 0 };
    state.hash(algorithm, PacketView::new(packed), PacketView::default())
}

/// A function that native code calls.
pub(super) struct Helper {
    pub name: &'static str,
    pub address: *const u8,
    /// Words that it takes behind the context.
    pub args: usize,
}

macro_rules! helpers {
    ($($kind:ident $name:ident $args:literal),* $(,)?) => {
        /// Names of the helpers.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Name {
            $($kind,)*
        }

        /// All helpers, in the order of [`Name`].
        pub(super) fn all() -> Vec<Helper> {
            vec![$(Helper {
                name: concat!("p4cc_", stringify!($name)),
                address: $name as *const u8,
                args: $args,
            },)*]
        }
    };
}

helpers! {
    Extract extract 1,
    Peek peek 2,
    Emit emit 1,
    SetValid set_valid 1,
    SetInvalid set_invalid 1,
    Slow slow 1,
    SelectSlow select_slow 1,
    Extern call_extern 1,
    VerifyChecksum verify_checksum 1,
    UpdateChecksum update_checksum 1,
    Count count 2,
    RegisterRead register_read 2,
    RegisterWrite register_write 3,
    ApplyWord apply_word 2,
    ApplyWords apply_words 1,
    ApplySelector apply_selector 2,
    ApplySelectorWords apply_selector_words 1,
    ApplyList apply_list 2,
    ApplyListSlow apply_list_slow 1,
    Hash hash 2,
    Payload payload 0,
    Random random 0,
    LimitHit limit_hit 0,
    Clones clones 0,
    MayBypass may_bypass 2,
    Clear clear 2,
}
