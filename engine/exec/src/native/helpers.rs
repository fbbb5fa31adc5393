//! Functions that native code calls: what is rare or wide runs in the register machine's own functions.
//!
//! Results: where an operation may refuse the packet, zero for success or the error plus one.

use p4cc_ir::{CounterId, RegisterId, TableId};

use super::context::Context;
use crate::bitplan::read_bits;

/// No action to run, no target.
pub(super) const NONE: u64 = u32::MAX as u64;
/// Set in what [`apply`] returns when an entry was hit.
pub(super) const HIT_BIT: u8 = 32;

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
    context.machine(|run| {
        if let Some(env) = run.env.as_deref_mut() {
            env.state.count(CounterId(counter as u32), index, env.packet_length);
        }
    });
    0
}

extern "C" fn register_read(context: &mut Context<'_>, register: u64, index: u64) -> u64 {
    context.machine(|run| {
        let words =
            run.env.as_ref().and_then(|env| env.state.register_words(RegisterId(register as u32), index));
        words.and_then(|words| words.first().copied()).unwrap_or(0)
    })
}

extern "C" fn register_write(context: &mut Context<'_>, register: u64, index: u64, value: u64) -> u64 {
    context.machine(|run| {
        let Some(env) = run.env.as_deref_mut() else { return };
        let words = env.state.register_words_mut(RegisterId(register as u32), index);
        if let Some(word) = words.and_then(|words| words.first_mut()) {
            *word = value;
        }
    });
    0
}

/// Looks a key up: of one word if it fits, else from the frame. The action to run or [`NONE`], and whether an entry
/// was hit.
extern "C" fn apply(context: &mut Context<'_>, table: u64, key: u64) -> u64 {
    let chosen = context.machine(|run| {
        let code = run.code;
        let plan = &code.tables[table as usize];
        let entry = match plan.words {
            1 => run.entry(table as u32, &[key]),
            words => {
                let at = code.layout.key as usize;
                run.entry(table as u32, &run.slots[at..at + words as usize])
            }
        };
        let hash = run.selector_hash(table as u32, entry);
        let env = run.env.as_mut()?;
        let chosen = env.state.choose(TableId(table as u32), entry, hash, env.packet_length, env.now);
        let count = chosen.action.map_or(0, |action| code.actions[action.index()].param_words.len());
        Some((chosen.hit, chosen.action, chosen.position, chosen.color, &raw const *chosen.args, count))
    });
    let Some((hit, action, position, color, args, count)) = chosen else { return NONE };
    (context.position, context.color) = (position.into(), color);
    let action = if context.set_args(args, count) { action } else { None };
    action.map_or(NONE, |action| u64::from(action.0)) | u64::from(hit) << HIT_BIT
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
    Apply apply 2,
}
