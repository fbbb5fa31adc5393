//! What a half of a pipe writes to fields that the chip acts on only where somebody wrote them.
//!
//! A control that is applied with several arguments works on copies, which go back whether it wrote them or
//! not. A copy that goes back unchanged writes nothing: fields are looked at together with their copies.

use super::{Lowerer, tna_objects::HalfTypes};
use p4cc_ir::{Bits, Inst, Operand, VarId, VarKind, VarType};
use p4cc_syntax::Span;
use std::collections::{BTreeMap, BTreeSet};

impl Lowerer<'_> {
    /// Reports a program that writes something that the switch does not act on.
    pub(super) fn refuse_writes(&mut self, first: usize, fields: &[(&str, VarId)], span: Span) -> Option<()> {
        for (field, var) in fields {
            if self.writes_var(first, *var) {
                let architecture = self.tna.chip.architecture();
                self.not_supported(span, format!("`{field}` of {architecture}, which this block sets"));
                return None;
            }
        }
        Some(())
    }

    /// A type that nobody wrote asks the chip's deparser for nothing, whatever number it has: functions made
    /// from one on note what they write. Where none does, the deparser's own conditions decide.
    pub(super) fn note_types(&mut self, first: usize) {
        let Some(half) = self.tna.half else { return };
        let types = [Some(half.mirror), half.resubmit, half.digest];
        let written = types.map(|var| var.and_then(|var| self.note_writes(first, var)));
        self.tna.half = Some(HalfTypes { written, ..half });
    }

    /// A variable that is set wherever functions made from one on write another, if they do.
    pub(super) fn note_writes(&mut self, first: usize, var: VarId) -> Option<(VarId, VarId)> {
        let copies = self.with_copies(first, var);
        self.insts(first).any(|inst| sets(&copies, inst)).then_some(())?;
        let mut flags = BTreeMap::new();
        for copy in &copies {
            let name = format!("{}$written", self.out.vars.get(copy.index())?.name);
            flags.insert(*copy, self.new_var(&name, VarType::Bool, VarKind::Metadata));
        }
        for block in self.out.funcs.iter_mut().skip(first).flat_map(|func| &mut func.blocks) {
            for inst in core::mem::take(&mut block.insts) {
                let flag = written_var(&inst).and_then(|dst| flags.get(&dst)).copied();
                let src = match moved(&inst).and_then(|(_, src)| flags.get(&src)) {
                    Some(of_copy) => Operand::Var(*of_copy),
                    None => Operand::Const(Bits::from_u128(1, 1)),
                };
                block.insts.push(inst);
                block.insts.extend(flag.map(|dst| Inst::Assign { dst, src }));
            }
        }
        Some((var, *flags.get(&var)?))
    }

    /// Whether functions made from one on write a variable with something else than zero.
    pub(super) fn writes_var(&self, first: usize, var: VarId) -> bool {
        let copies = self.with_copies(first, var);
        self.insts(first).any(|inst| sets(&copies, inst) && !sets_zero(inst))
    }

    /// A variable and those that are made of it and go back to it.
    fn with_copies(&self, first: usize, var: VarId) -> BTreeSet<VarId> {
        let moves: BTreeSet<(VarId, VarId)> = self.insts(first).filter_map(moved).collect();
        let mut copies = BTreeSet::from([var]);
        let mut new = vec![var];
        while let Some(var) = new.pop() {
            let sources = moves.iter().filter(|(dst, _)| *dst == var).map(|(_, src)| *src);
            let more: Vec<VarId> = sources
                .filter(|src| !copies.contains(src) && copies.iter().any(|of| moves.contains(&(*src, *of))))
                .collect();
            copies.extend(&more);
            new.extend(more);
        }
        copies
    }

    fn insts(&self, first: usize) -> impl Iterator<Item = &Inst> {
        self.out.funcs.iter().skip(first).flat_map(|func| &func.blocks).flat_map(|block| &block.insts)
    }
}

/// Whether an instruction writes one of these by something else than another.
fn sets(copies: &BTreeSet<VarId>, inst: &Inst) -> bool {
    let goes_round = moved(inst).is_some_and(|(_, src)| copies.contains(&src));
    !goes_round && written_var(inst).is_some_and(|dst| copies.contains(&dst))
}

fn sets_zero(inst: &Inst) -> bool {
    matches!(inst, Inst::Assign { src: Operand::Const(bits), .. } if bits.is_zero())
}

/// From where to where an instruction moves a variable, if that is all it does.
fn moved(inst: &Inst) -> Option<(VarId, VarId)> {
    match inst {
        Inst::Assign { dst, src: Operand::Var(src) } => Some((*dst, *src)),
        _ => None,
    }
}

/// The variable that an instruction computes.
fn written_var(inst: &Inst) -> Option<VarId> {
    match inst {
        Inst::Assign { dst, .. }
        | Inst::Unary { dst, .. }
        | Inst::Binary { dst, .. }
        | Inst::Resize { dst, .. }
        | Inst::Concat { dst, .. }
        | Inst::Slice { dst, .. }
        | Inst::SetSlice { dst, .. } => Some(*dst),
        _ => None,
    }
}
