//! Summaries of functions: facts of a whole function that its translation needs beforehand, such as loops and
//! whether it takes from the packet.

use super::translate::{FunctionSummary, Shared, targets};
use crate::MAX_CONTROL_STEPS;
use crate::op::{Code, Op, SlowOp};

/// The summary of a function with the actions inlined into it.
pub(super) fn of(shared: &Shared<'_>, root: usize, action: bool) -> FunctionSummary {
    let Shared { program, code, plan } = *shared;
    // Without a loop no path is longer than the function with its copies, and the smaller of the two limits,
    // a parser's, is above what a parser without loops takes unless it is very large.
    let loops = plan.reached(program, code, root).into_iter().any(|func| has_loop(code, func));
    let limit = p4cc_ir::limits::MAX_PARSER_STEPS.min(MAX_CONTROL_STEPS) as usize;
    let mut summary = FunctionSummary {
        counted: loops || plan.size(root) > limit || action,
        takes: false,
        emits: false,
        emits_by_interpreter: false,
        aligned: true,
        action,
    };
    let (mut emits, mut whole) = (false, true);
    for func in plan.inlined_funcs(program, code, root) {
        for op in code.ops_of(func) {
            match op {
                Op::Extract { header } => {
                    summary.takes = true;
                    summary.aligned &= code.headers[*header as usize].plan.bits.is_multiple_of(8);
                }
                Op::Advance { bits } => {
                    summary.takes = true;
                    let known = code.layout.constant_at(*bits);
                    summary.aligned &= known.is_some_and(|bits| bits.is_multiple_of(8));
                }
                Op::Lookahead { .. } => summary.takes = true,
                Op::Emit { header } => {
                    let header = &code.headers[*header as usize];
                    emits = true;
                    whole &= header.tail.is_none() && (header.plan.is_chunked() || header.plan.bits == 0);
                }
                Op::Slow(index) => {
                    let headers = match &code.slow[*index as usize] {
                        SlowOp::ExtractVar { header, .. } => core::slice::from_ref(header),
                        SlowOp::ExtractNext { elements, .. } => elements,
                        SlowOp::LookaheadWide { .. } => &[],
                        _ => continue,
                    };
                    summary.takes = true;
                    summary.aligned &= headers.iter().all(|&header| {
                        let header = &code.headers[header as usize];
                        let behind = header.tail.as_ref().map_or(0, |(_, rest)| rest.bits);
                        (header.plan.bits + behind).is_multiple_of(8)
                    });
                }
                _ => {}
            }
        }
    }
    summary.emits = emits && whole && !summary.counted && !action;
    summary.emits_by_interpreter = emits && !summary.emits;
    summary
}

/// Whether some path through a function comes back to where it was.
fn has_loop(code: &Code, func: usize) -> bool {
    #[derive(Clone, Copy, PartialEq)]
    enum Seen {
        No,
        Open,
        Done,
    }
    let ops = code.ops_of(func);
    let first = code.addresses_of(func).start;
    let mut seen = vec![Seen::No; ops.len()];
    // Operations on the path, each with the successors that are left to follow.
    let mut path: Vec<(usize, Vec<usize>)> = Vec::new();
    let mut next = Some(0);
    loop {
        if let Some(at) = next.take().filter(|&at| at < ops.len()) {
            match seen[at] {
                Seen::Open => return true,
                Seen::Done => {}
                Seen::No => {
                    seen[at] = Seen::Open;
                    path.push((at, successors(code, &ops[at], first, at)));
                }
            }
        }
        let Some((at, left)) = path.last_mut() else { return false };
        next = left.pop();
        if next.is_none() {
            seen[*at] = Seen::Done;
            path.pop();
        }
    }
}

/// Where an operation goes on within its function, by places counted from the function's first.
fn successors(code: &Code, op: &Op, first: usize, at: usize) -> Vec<usize> {
    match op {
        Op::Return | Op::Exit | Op::Accept | Op::Reject => Vec::new(),
        Op::Jump { .. } | Op::Branch { .. } | Op::Select(_) | Op::SelectSlow(_) => {
            targets(code, op).into_iter().filter_map(|to| (to as usize).checked_sub(first)).collect()
        }
        _ => vec![at + 1],
    }
}
