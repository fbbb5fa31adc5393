//! What controllers say about learning lists.

use super::{Entry, of_daemon};
use crate::fault::{Fault, Outcome};
use crate::learning::{Lists, NoSuchList};
use crate::service::{Answer, Args, Memory, Target};
use crate::value::Value;

/// `LearnOperationErrorCode`'s `INVALID_LIST_ID` and `ERROR`.
const INVALID_LIST_ID: i32 = 1;
const ERROR: i32 = 3;

pub(super) fn calls() -> impl Iterator<Item = Entry> {
    of_daemon(
        "standard",
        [
            ("bm_learning_ack", acknowledge),
            ("bm_learning_ack_buffer", acknowledge_list),
            ("bm_learning_set_timeout", |target, memory, args| {
                let timeout_ms = u64::from(args.u32(3)?);
                change(target, memory, |lists| {
                    lists.set_timeout_ms(args.i32(2)?, timeout_ms).map_err(no_list)
                })
            }),
            ("bm_learning_set_buffer_size", |target, memory, args| {
                let samples = args.u32(3)? as usize;
                change(target, memory, |lists| lists.set_max_samples(args.i32(2)?, samples).map_err(no_list))
            }),
        ],
    )
}

fn no_list(_: NoSuchList) -> Fault {
    Fault::new(INVALID_LIST_ID, "there is no learning list of this id")
}

fn change(target: &dyn Target, memory: &mut Memory, f: impl FnOnce(&mut Lists) -> Outcome<()>) -> Answer {
    f(&mut memory.names(target)?.lists)?;
    Ok(None)
}

fn acknowledge(target: &dyn Target, memory: &mut Memory, args: &Args<'_>) -> Answer {
    let position = |value: &Value| match value {
        // BMv2 passes over positions that a list does not have.
        Value::I32(position) => Ok(usize::try_from(*position).unwrap_or(usize::MAX)),
        _ => Err(Fault::new(ERROR, "a position is not an i32")),
    };
    let positions: Vec<usize> = args.list(4)?.iter().map(position).collect::<Outcome<_>>()?;
    change(target, memory, |lists| {
        lists.acknowledge(args.i32(2)?, args.u64(3)?, Some(&positions)).map_err(no_list)
    })
}

fn acknowledge_list(target: &dyn Target, memory: &mut Memory, args: &Args<'_>) -> Answer {
    change(target, memory, |lists| lists.acknowledge(args.i32(2)?, args.u64(3)?, None).map_err(no_list))
}
