//! Basic blocks of a function, in reverse postorder: each block comes after all its predecessors, back edges
//! aside.

use core::ops::Range;
use std::collections::{BTreeMap, BTreeSet};

use super::flow::targets;
use crate::op::{Code, Op};

/// Successors of a basic block, by address.
fn successors(code: &Code, block: &Range<u32>, end: u32) -> Vec<u32> {
    let last = &code.ops[block.end as usize - 1];
    match last {
        Op::Jump { .. } | Op::Branch { .. } | Op::Select(_) | Op::SelectSlow(_) => targets(code, last),
        Op::Return | Op::Exit | Op::Accept | Op::Reject => Vec::new(),
        _ => (block.end < end).then_some(block.end).into_iter().collect(),
    }
}

fn ends(op: &Op) -> bool {
    matches!(
        op,
        Op::Jump { .. }
            | Op::Branch { .. }
            | Op::Select(_)
            | Op::SelectSlow(_)
            | Op::Return
            | Op::Exit
            | Op::Accept
            | Op::Reject
    )
}

/// Reachable basic blocks of a function, as ranges of addresses, in reverse postorder.
pub(super) fn reverse_postorder(code: &Code, func: usize) -> Vec<Range<u32>> {
    let all = code.addresses_of(func);
    let (first, end) = (all.start as u32, all.end as u32);
    let ops = (first..).zip(&code.ops[all]);
    let leaders: BTreeSet<u32> = ops
        .flat_map(|(address, op)| targets(code, op).into_iter().chain(ends(op).then_some(address + 1)))
        .chain([first, end])
        .collect();
    let block = |start: u32| {
        let next = leaders.range(start + 1..).next().copied().unwrap_or(end);
        start..next
    };
    if first == end {
        return Vec::new();
    }
    let mut seen = BTreeSet::from([first]);
    let mut done = Vec::new();
    // Blocks on the current path, each with its successors still to visit.
    let mut way = vec![(block(first), successors(code, &block(first), end))];
    while let Some((at, left)) = way.last_mut() {
        match left.pop() {
            Some(next) if seen.insert(next) => {
                let next = block(next);
                let follow = successors(code, &next, end);
                way.push((next, follow));
            }
            Some(_) => {}
            None => {
                done.push(at.clone());
                way.pop();
            }
        }
    }
    done.reverse();
    done
}

/// Loop headers: starts of blocks with a back edge to them.
pub(super) fn loop_headers(
    code: &Code,
    blocks: &[Range<u32>],
    order: &BTreeMap<u32, usize>,
) -> BTreeSet<u32> {
    let mut headers = BTreeSet::new();
    let end = blocks.iter().map(|block| block.end).max().unwrap_or(0);
    for (place, block) in blocks.iter().enumerate() {
        let back = successors(code, block, end).into_iter();
        headers.extend(back.filter(|to| order.get(to).is_some_and(|&to| to <= place)));
    }
    headers
}
