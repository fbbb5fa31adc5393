//! The order in which the pieces of a function are translated: each behind all that go there, but for loops.

use core::ops::Range;
use std::collections::{BTreeMap, BTreeSet};

use super::flow::targets;
use crate::native::storage::range;
use crate::op::{Code, Op};

/// Addresses that a piece goes on at when it ends.
fn successors(code: &Code, piece: &Range<u32>, end: u32) -> Vec<u32> {
    let last = &code.ops[piece.end as usize - 1];
    match last {
        Op::Jump { .. } | Op::Branch { .. } | Op::Select(_) | Op::SelectSlow(_) => targets(code, last),
        Op::Return | Op::Exit | Op::Accept | Op::Reject => Vec::new(),
        _ => (piece.end < end).then_some(piece.end).into_iter().collect(),
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

/// Straight pieces of a function that something leads to, the first one first, in reverse postorder.
pub(super) fn pieces(code: &Code, func: usize) -> Vec<Range<u32>> {
    let all = range(code, func);
    let (first, end) = (all.start as u32, all.end as u32);
    let ops = (first..).zip(&code.ops[all]);
    let cuts: BTreeSet<u32> = ops
        .flat_map(|(address, op)| targets(code, op).into_iter().chain(ends(op).then_some(address + 1)))
        .chain([first, end])
        .collect();
    let piece = |start: u32| {
        let cut = cuts.range(start + 1..).next().copied().unwrap_or(end);
        start..cut
    };
    if first == end {
        return Vec::new();
    }
    let mut seen = BTreeSet::from([first]);
    let mut done = Vec::new();
    // Pieces on the way, each with what is left to follow.
    let mut way = vec![(piece(first), successors(code, &piece(first), end))];
    while let Some((at, left)) = way.last_mut() {
        match left.pop() {
            Some(next) if seen.insert(next) => {
                let next = piece(next);
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

/// Starts of pieces that something behind them in the order leads to.
pub(super) fn looped(code: &Code, pieces: &[Range<u32>], order: &BTreeMap<u32, usize>) -> BTreeSet<u32> {
    let mut looped = BTreeSet::new();
    let end = pieces.iter().map(|piece| piece.end).max().unwrap_or(0);
    for (place, piece) in pieces.iter().enumerate() {
        let back = successors(code, piece, end).into_iter();
        looped.extend(back.filter(|to| order.get(to).is_some_and(|&to| to <= place)));
    }
    looped
}
