//! Compiles the field lists of hashes and checksums.

use p4cc_ir::{Bits, HashAlgorithm, Operand, VarKind};

use super::Compiler;
use crate::bitplan::{BitPlan, slices_of};
use crate::frame_layout::{FrameLocation, NO_SLOT};
use crate::op::Data;

impl Compiler<'_> {
    pub(super) fn operands(&mut self, operands: &[Operand]) -> Box<[FrameLocation]> {
        operands.iter().map(|operand| self.code.layout.operand(operand)).collect()
    }

    pub(super) fn operand_data(&mut self, operands: &[Operand]) -> Data {
        let owners: Box<[u32]> = operands.iter().map(|operand| self.owner(operand)).collect();
        let fields = self.operands(operands);
        let mut guards: Vec<u32> = owners.iter().copied().filter(|&owner| owner != NO_SLOT).collect();
        guards.sort_unstable();
        guards.dedup();
        let (plan, columns) = Self::packing(&fields);
        Data { fields, owners, guards: guards.into(), plan, front: 0, columns }
    }

    /// Fields as one message: all of them, with zero bits in front that fill its first byte.
    pub(super) fn message(&mut self, operands: &[Operand]) -> Data {
        let mut fields: Vec<FrameLocation> = self.operands(operands).into();
        let bits: u32 = fields.iter().map(|place| place.width).sum();
        let front = bits.next_multiple_of(8) - bits;
        if front > 0 {
            fields.insert(0, self.code.layout.constant(&Bits::zero(front)));
        }
        let owners = fields.iter().map(|_| NO_SLOT).collect();
        let (plan, columns) = Self::packing(&fields);
        Data { fields: fields.into(), owners, guards: Box::default(), plan, front, columns }
    }

    /// What an algorithm hashes.
    pub(super) fn hashed(&mut self, algorithm: HashAlgorithm, operands: &[Operand]) -> Data {
        match algorithm {
            HashAlgorithm::Object(_) => self.message(operands),
            _ => self.operand_data(operands),
        }
    }

    /// Validity word of the header that a field belongs to.
    fn owner(&self, operand: &Operand) -> u32 {
        let Operand::Var(var) = operand else { return NO_SLOT };
        match self.program.vars[var.index()].kind {
            VarKind::Field { header, .. } => self.code.layout.valid(header),
            VarKind::Metadata | VarKind::Local => NO_SLOT,
        }
    }

    /// How a field list is packed, and its Internet-checksum columns.
    fn packing(fields: &[FrameLocation]) -> (Option<BitPlan>, Box<[(u32, u8)]>) {
        if fields.iter().any(|place| place.varbit) {
            return (None, Box::default());
        }
        let plan = BitPlan::new(fields.iter().copied(), true);
        // 2^16 is 1 modulo 2^16 - 1, so a field adds its value
        // shifted to its column, wherever the 16-bit cuts fall.
        let mut below = plan.bits.next_multiple_of(16);
        let columns = fields
            .iter()
            .flat_map(|&place| slices_of(place))
            .map(|(slot, width)| {
                below -= u32::from(width);
                (slot, (below % 16) as u8)
            })
            .collect();
        (Some(plan), columns)
    }
}
