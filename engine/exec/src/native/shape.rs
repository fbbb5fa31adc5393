//! What a function as a whole does, found before it is translated.

use super::plan::range;
use super::translate::{Shape, Shared, targets};
use crate::MAX_CONTROL_STEPS;
use crate::op::{Op, SlowOp};

/// The shape of a function with the actions inlined into it.
pub(super) fn of(shared: &Shared<'_>, root: usize, action: bool) -> Shape {
    let Shared { program, code, plan } = *shared;
    // Any jump backward counts as a loop; without one, no path is longer than the function with its copies, and the
    // smaller of the two limits, a parser's, is above what a parser without loops takes unless it is very large.
    let backward = |at: usize| targets(code, &code.ops[at]).iter().any(|&to| to as usize <= at);
    let loops = plan.reached(program, code, root).into_iter().any(|func| range(code, func).any(backward));
    let limit = p4cc_ir::limits::MAX_PARSER_STEPS.min(MAX_CONTROL_STEPS) as usize;
    let mut shape = Shape {
        counted: loops || plan.size(root) > limit || action,
        takes: false,
        emits: false,
        aligned: true,
        action,
    };
    let (mut emits, mut whole) = (false, true);
    for func in plan.parts(program, code, root) {
        for op in &code.ops[range(code, func)] {
            match op {
                Op::Extract { header } => {
                    shape.takes = true;
                    shape.aligned &= code.headers[*header as usize].plan.bits.is_multiple_of(8);
                }
                Op::Advance { bits } => {
                    shape.takes = true;
                    let known = code.layout.constant_at(*bits);
                    shape.aligned &= known.is_some_and(|bits| bits.is_multiple_of(8));
                }
                Op::Lookahead { .. } => shape.takes = true,
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
                    shape.takes = true;
                    shape.aligned &= headers.iter().all(|&header| {
                        let header = &code.headers[header as usize];
                        let behind = header.tail.as_ref().map_or(0, |(_, rest)| rest.bits);
                        (header.plan.bits + behind).is_multiple_of(8)
                    });
                }
                _ => {}
            }
        }
    }
    shape.emits = emits && whole && !shape.counted && !action;
    shape
}
