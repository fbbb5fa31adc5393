//! Zero initialisation: which words of the frame an ingress or egress pipeline sets to zero at its start.
//!
//! The interpreter zeroes the whole frame. Native code zeroes only the live words, those that may be read
//! before they are written. A field that is read only as part of its valid header is not live: whatever makes
//! a header valid writes all of its fields.

use core::ops::Range;
use std::collections::BTreeSet;

use p4cc_ir::{CloneKind, FuncId, VarId};

use super::storage::Storage;
use super::translate::Shared;
use crate::accesses::{Access, HeaderAccess, OpAccess, accesses};
use crate::op::{ExternOp, Op, SlowOp};
use crate::tna_pipelines::Half;
use crate::v1_pipelines::V1Pipelines;

/// Live words: those that functions may read before they write them, or that the switch reads afterwards.
struct LiveWords<'a> {
    shared: &'a Shared<'a>,
    words: BTreeSet<u32>,
}

impl<'a> LiveWords<'a> {
    fn new(shared: &'a Shared<'a>, funcs: &[FuncId]) -> Self {
        let mut words = BTreeSet::new();
        for op in ops(shared, funcs) {
            accesses(shared.code, op, &mut |access| match access {
                // A flag that nothing else touches is read by nobody; validity is observed in any case.
                OpAccess::Words { access: Access::Flag | Access::Guard, .. } | OpAccess::Header { .. } => {}
                OpAccess::Words { access, .. } if access.is_guarded() => {}
                OpAccess::Words { first, words: count, .. } => words.extend(first..first + count),
            });
        }
        Self { shared, words }
    }

    fn vars(&mut self, vars: impl IntoIterator<Item = VarId>) {
        for var in vars {
            let place = self.shared.code.layout.var(var);
            self.words.extend(place.slot..place.slot + place.words());
        }
    }

    /// Elements of a stack move as they are, so what is named of one is named of all.
    fn spread(&mut self, funcs: &[FuncId]) {
        let code = self.shared.code;
        for op in ops(self.shared, funcs) {
            let Op::Slow(index) = op else { continue };
            let SlowOp::StackShift { words, elements, .. } = &code.slow[*index as usize] else { continue };
            for word in 0..*words {
                if elements.iter().any(|element| self.words.contains(&(element + word))) {
                    self.words.extend(elements.iter().map(|element| element + word));
                }
            }
        }
    }

    /// The words to zero: those of a frame that lie in memory, but for some that are set anyway.
    fn ranges(self, set: impl IntoIterator<Item = u32>) -> Vec<Range<u32>> {
        let Shared { code, plan, .. } = *self.shared;
        let set: BTreeSet<u32> = set.into_iter().collect();
        let mut ranges: Vec<Range<u32>> = Vec::new();
        let cleared = |slot: &u32| {
            *slot < code.layout.zeroed && plan.storage_of(*slot) == Storage::Memory && !set.contains(slot)
        };
        for slot in self.words.into_iter().filter(cleared) {
            match ranges.last_mut() {
                Some(last) if last.end == slot => last.end = slot + 1,
                _ => ranges.push(slot..slot + 1),
            }
        }
        ranges
    }
}

/// Operations of functions and of all that they reach.
fn ops<'a>(shared: &'a Shared<'a>, funcs: &[FuncId]) -> impl Iterator<Item = &'a Op> {
    let Shared { program, code, plan } = *shared;
    let reached: BTreeSet<usize> =
        funcs.iter().flat_map(|func| plan.reached(program, code, func.index())).collect();
    reached.into_iter().flat_map(|func| code.ops_of(func))
}

/// Words that the switch reads after a pipeline, whatever the program reads.
fn observe(live: &mut LiveWords<'_>, pipelines: &V1Pipelines) {
    let Shared { program, code, .. } = *live.shared;
    live.words.extend(pipelines.verdict_slots());
    live.words.insert(code.layout.length_delta);
    live.words.extend(code.headers.iter().map(|header| header.valid));
    live.vars(program.field_lists.iter().flat_map(|list| &list.vars).copied());
}

/// Words that are zero when the parser of a packet from outside starts.
pub(super) fn at_ingress(shared: &Shared<'_>, pipelines: &V1Pipelines) -> Vec<Range<u32>> {
    let v1 = pipelines.v1model();
    let funcs = [v1.parser, v1.verify_checksum, v1.ingress];
    let mut live = LiveWords::new(shared, &funcs);
    observe(&mut live, pipelines);
    live.vars(pipelines.kept().iter().copied());
    live.spread(&funcs);
    let layout = &shared.code.layout;
    live.ranges(pipelines.set_at_ingress().map(|var| layout.var(var).slot))
}

/// Words that are zero when the parser of a half starts.
pub(super) fn at_half(shared: &Shared<'_>, half: &Half) -> Vec<Range<u32>> {
    let Shared { program, code, .. } = *shared;
    let funcs = [half.funcs.parser, half.funcs.control, half.funcs.deparser];
    let mut live = LiveWords::new(shared, &funcs);
    live.words.insert(code.layout.length_delta);
    live.words.extend(code.headers.iter().map(|header| header.valid));
    live.vars(program.field_lists.iter().flat_map(|list| &list.vars).copied());
    live.vars(half.observed.iter().copied());
    live.spread(&funcs);
    live.ranges(half.set_before.map(|(var, _)| code.layout.var(var).slot))
}

/// Words that are zero when a packet that waited is unpacked.
pub(super) fn at_egress(shared: &Shared<'_>, pipelines: &V1Pipelines) -> Vec<Range<u32>> {
    let v1 = pipelines.v1model();
    let funcs = [v1.egress, v1.compute_checksum, v1.deparser];
    let mut live = LiveWords::new(shared, &funcs);
    observe(&mut live, pipelines);
    live.spread(&funcs);
    let layout = &shared.code.layout;
    let set = pipelines.set_at_egress().map(|(_, var)| var).chain(pipelines.kept().iter().copied());
    let set = set.flat_map(|var| {
        let place = layout.var(var);
        place.slot..place.slot + place.words()
    });
    live.ranges(set.chain(shared.code.headers.iter().map(|header| header.valid)))
}

/// Headers, by their validity words, that functions may make valid.
pub(super) fn may_be_valid(shared: &Shared<'_>, funcs: &[FuncId]) -> BTreeSet<u32> {
    let mut valid = BTreeSet::new();
    for op in ops(shared, funcs) {
        accesses(shared.code, op, &mut |access| match access {
            OpAccess::Words { first, words, access, .. } if access.writes() => {
                valid.extend(first..first + words)
            }
            OpAccess::Words { .. } => {}
            OpAccess::Header { header, access } => match access {
                HeaderAccess::SetInvalid | HeaderAccess::Emit | HeaderAccess::ClearRivals => {}
                HeaderAccess::Extract
                | HeaderAccess::SetValid
                | HeaderAccess::ExtractOneOf
                | HeaderAccess::SetOneOf => {
                    valid.insert(shared.code.headers[header as usize].valid);
                }
            },
        });
    }
    valid
}

/// Whether functions work out a checksum over the payload.
pub(super) fn reads_payload(shared: &Shared<'_>, funcs: &[FuncId]) -> bool {
    ops(shared, funcs).any(|op| match op {
        Op::VerifyChecksum(index) | Op::UpdateChecksum(index) => {
            shared.code.checksums[*index as usize].with_payload
        }
        _ => false,
    })
}

/// Whether a function that ran in part may run again: it changes nothing but its frame.
pub(super) fn is_repeatable(shared: &Shared<'_>, func: FuncId) -> bool {
    let changes = |op: &Op| match op {
        Op::Apply { .. } | Op::Call { .. } | Op::Count { .. } => true,
        Op::Extern(index) => !shared.code.externs[*index as usize].is_hash_of_bytes(),
        _ => false,
    };
    !ops(shared, &[func]).any(changes)
}

/// Whether a function may request a clone.
pub(super) fn clones(shared: &Shared<'_>, func: FuncId) -> bool {
    ops(shared, &[func]).any(|op| match op {
        Op::Extern(index) => {
            matches!(
                shared.code.externs[*index as usize],
                ExternOp::Clone { kind: CloneKind::I2E | CloneKind::E2E, .. }
            )
        }
        _ => false,
    })
}
