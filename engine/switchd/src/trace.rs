//! What each packet does, as lines of the log: one for each step, named values behind it.

use p4cc_ir::Bits;
use p4cc_switch::{LogLine, Step, TraceEvent};
use tracing::{debug, trace};

/// Writes steps and the program's own lines in the order of time.
pub(crate) fn write(events: &[TraceEvent], lines: &[LogLine]) {
    events.iter().for_each(step);
    for LogLine { at, text } in lines {
        debug!(at_us = at.as_us(), text, "log_msg");
    }
}

fn step(event: &TraceEvent) {
    let at_us = event.at.as_us();
    match &event.step {
        Step::Received { port, bytes } => debug!(at_us, port, bytes, "packet received"),
        Step::Dequeued { port, priority, enq_qdepth, deq_qdepth } => {
            debug!(at_us, port, priority, enq_qdepth, deq_qdepth, "dequeued")
        }
        Step::Entered { block } => trace!(at_us, block, "entered"),
        Step::State { state } => debug!(at_us, state, "parser state"),
        Step::Table { table, key, hit, .. } => {
            let outcome = if *hit { "hit" } else { "miss" };
            debug!(at_us, table, key = named(key), outcome, "table applied");
        }
        Step::Action { action, args } if args.is_empty() => debug!(at_us, action, "action"),
        Step::Action { action, args } => debug!(at_us, action, args = named(args), "action"),
        Step::Meter { meter, index, color } => debug!(at_us, meter, index, color, "meter"),
        Step::Register { register, index, writes, value } => {
            let access = if *writes { "register written" } else { "register read" };
            debug!(at_us, register, index, value = value.as_ref().map(ToString::to_string), "{access}");
        }
        Step::ParserError { error } => debug!(at_us, error, "parser error"),
        Step::Changed(changed) => {
            for change in &changed.values {
                let (name, value) = (&change.name, &change.after);
                trace!(at_us, name, %value, "changed");
            }
        }
        Step::Enqueued { port, priority } => debug!(at_us, port, priority, "enqueued"),
        Step::Deflected { port, priority } => debug!(at_us, port, priority, "queue full, deflected"),
        Step::Dropped { cause, port, priority } => {
            debug!(at_us, cause = cause.column(), port, priority, "packet dropped")
        }
        Step::ToController { port } => debug!(at_us, port, "to the controller"),
        Step::Sent { port, bytes } => debug!(at_us, port, bytes, "packet sent"),
    }
}

/// Names and values in one text.
fn named(values: &[(String, Bits)]) -> String {
    let values: Vec<String> = values.iter().map(|(name, value)| format!("{name}={value}")).collect();
    values.join(" ")
}
