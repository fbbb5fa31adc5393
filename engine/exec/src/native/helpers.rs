//! Functions that native code calls: what is rare or wide runs in the register machine's own functions.
//!
//! Results: where an operation may refuse the packet, zero for success or the error plus one.

use p4cc_ir::{CounterId, HashAlgorithm, RegisterId, TableId};
use smallvec::SmallVec;

use super::context::Context;
use crate::bitplan::read_bits;
use crate::checksum::{crc16_of, crc32_of};
use crate::env::PacketView;

/// No action to run, no target.
pub(super) const NONE: u64 = u32::MAX as u64;
/// Set in what [`apply`] returns when an entry was hit.
pub(super) const HIT_BIT: u8 = 32;
/// Set in what [`apply`] returns when a group's member is still to be chosen.
pub(super) const GROUP_BIT: u8 = 33;

fn outcome(result: Result<(), u32>) -> u64 {
    result.map_or_else(|error| u64::from(error) + 1, |()| 0)
}

extern "C" fn extract(context: &mut Context<'_>, header: u64) -> u64 {
    outcome(context.machine(|run| run.extract(header as u32)))
}

extern "C" fn peek(context: &mut Context<'_>, at: u64, width: u64) -> u64 {
    context.machine(|run| read_bits(run.packet, at, width as u32))
}

extern "C" fn emit(context: &mut Context<'_>, header: u64) -> u64 {
    context.machine(|run| run.emit(header as u32));
    0
}

extern "C" fn set_valid(context: &mut Context<'_>, header: u64) -> u64 {
    context.machine(|run| run.set_valid(header as u32));
    0
}

extern "C" fn set_invalid(context: &mut Context<'_>, header: u64) -> u64 {
    context.machine(|run| run.set_invalid(header as u32));
    0
}

extern "C" fn slow(context: &mut Context<'_>, index: u64) -> u64 {
    outcome(context.machine(|run| run.slow(index as u32)))
}

extern "C" fn select_slow(context: &mut Context<'_>, index: u64) -> u64 {
    context.machine(|run| run.select_slow(index as u32).map_or(NONE, u64::from))
}

extern "C" fn call_extern(context: &mut Context<'_>, index: u64) -> u64 {
    context.machine(|run| run.call_extern(index as u32));
    0
}

extern "C" fn verify_checksum(context: &mut Context<'_>, index: u64) -> u64 {
    context.machine(|run| run.verify_checksum(index as u32));
    0
}

extern "C" fn update_checksum(context: &mut Context<'_>, index: u64) -> u64 {
    context.machine(|run| run.update_checksum(index as u32));
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
    let words = env.state.register_words(RegisterId(register as u32), index);
    words.and_then(|words| words.first().copied()).unwrap_or(0)
}

extern "C" fn register_write(context: &mut Context<'_>, register: u64, index: u64, value: u64) -> u64 {
    let words =
        context.env().and_then(|(env, _)| env.state.register_words_mut(RegisterId(register as u32), index));
    if let Some(word) = words.and_then(|words| words.first_mut()) {
        *word = value;
    }
    0
}

/// Looks a key up: of one word if it fits, else from the frame. The action to run or [`NONE`], whether an entry was hit,
/// and whether it is a group, whose action [`apply_group`] then gives.
extern "C" fn apply(context: &mut Context<'_>, table: u64, key: u64) -> u64 {
    let at = context.env().map_or(0, |(_, code)| code.layout.key as usize);
    let words = context.env().map_or(0, |(_, code)| code.tables[table as usize].words as usize);
    let id = TableId(table as u32);
    let entry = if words == 1 {
        context.env().and_then(|(env, _)| env.state.lookup(id, &[key]))
    } else {
        let key: SmallVec<[u64; 8]> = context.words(at..at + words).into();
        context.env().and_then(|(env, _)| env.state.lookup(id, &key))
    };
    let Some((env, code)) = context.env() else { return NONE };
    if let Some(found) = entry
        && code.tables[table as usize].selector.is_some()
        && env.state.is_group(id, found)
    {
        context.entry = u64::from(found) + 1;
        return NONE | 1 << GROUP_BIT;
    }
    choose(context, id, entry, 0)
}

/// The same for a table with a key of one word and without groups, as most are.
extern "C" fn apply_word(context: &mut Context<'_>, table: u64, key: u64) -> u64 {
    let id = TableId(table as u32);
    let entry = context.env().and_then(|(env, _)| env.state.lookup(id, &[key]));
    choose(context, id, entry, 0)
}

/// The action of the group that [`apply`] found, by its hash.
extern "C" fn apply_group(context: &mut Context<'_>, table: u64, hash: u64) -> u64 {
    let entry = context.entry.checked_sub(1).map(|entry| entry as u32);
    choose(context, TableId(table as u32), entry, hash)
}

/// The same where the fields of the hash are not packed by native code.
extern "C" fn apply_group_slow(context: &mut Context<'_>, table: u64) -> u64 {
    let entry = context.entry.checked_sub(1).map(|entry| entry as u32);
    let hash = context.machine(|run| run.selector_hash(table as u32, entry));
    choose(context, TableId(table as u32), entry, hash)
}

#[inline]
fn choose(context: &mut Context<'_>, table: TableId, entry: Option<u32>, hash: u64) -> u64 {
    let Some((env, _)) = context.env() else { return NONE };
    let chosen = env.state.choose(table, entry, hash, env.packet_length, env.now);
    let (position, color, args) = (chosen.position, chosen.color, &raw const *chosen.args);
    let found = chosen.action.map_or(NONE, |action| u64::from(action.0)) | u64::from(chosen.hit) << HIT_BIT;
    (context.position, context.color) = (position.into(), color);
    context.set_args(args);
    found
}

/// What the parser left is the payload.
extern "C" fn payload(context: &mut Context<'_>) -> u64 {
    context.set_payload();
    0
}

/// A control was cut off.
extern "C" fn limit_hit(context: &mut Context<'_>) -> u64 {
    if let Some((env, _)) = context.env() {
        env.effects.ask().loop_limits_hit += 1;
    }
    0
}

/// How many clones were asked for.
extern "C" fn clones(context: &mut Context<'_>) -> u64 {
    context.env().map_or(0, |(env, _)| env.effects.clones.len() as u64)
}

/// Sets many words to zero.
extern "C" fn clear(context: &mut Context<'_>, from: u64, words: u64) -> u64 {
    context.machine(|run| {
        if let Some(words) = run.slots.get_mut(from as usize..(from + words) as usize) {
            words.fill(0);
        }
    });
    0
}

/// The hash of bytes that native code packed, by the number of the algorithm in [`ALGORITHMS`].
extern "C" fn hash(context: &mut Context<'_>, algorithm: u64, bytes: u64) -> u64 {
    let Some(&algorithm) = ALGORITHMS.get(algorithm as usize) else { return 0 };
    let Some((state, packed)) = context.state_and_packed(bytes as usize) else { return 0 };
    state.hash(algorithm, PacketView::new(packed), PacketView::default())
}

/// `crc16` of so many bytes that native code packed into words, in network byte order.
extern "C" fn crc16(_: &mut Context<'_>, first: u64, second: u64, bytes: u64) -> u64 {
    crc16_of([first, second], bytes as usize).into()
}

/// The same for `crc32`.
extern "C" fn crc32(_: &mut Context<'_>, first: u64, second: u64, bytes: u64) -> u64 {
    crc32_of([first, second], bytes as usize).into()
}

/// Hashes that depend on packed bytes alone, in the order in which native code names them; checks with parameters of
/// their own are left to the machine.
pub(super) const ALGORITHMS: [HashAlgorithm; 5] = [
    HashAlgorithm::Crc32,
    HashAlgorithm::Crc16,
    HashAlgorithm::Identity,
    HashAlgorithm::Csum16,
    HashAlgorithm::Xor16,
];

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
    Apply apply 2,
    ApplyWord apply_word 2,
    ApplyGroup apply_group 2,
    ApplyGroupSlow apply_group_slow 1,
    Hash hash 2,
    Crc16 crc16 3,
    Crc32 crc32 3,
    Payload payload 0,
    LimitHit limit_hit 0,
    Clones clones 0,
    Clear clear 2,
}
