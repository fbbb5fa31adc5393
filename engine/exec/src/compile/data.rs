//! Field lists of hashes and checksums.

use p4cc_ir::Operand;

use super::Compiler;
use crate::bitplan::{BitPlan, pieces_of};
use crate::layout::Place;
use crate::op::Data;

impl Compiler<'_> {
    pub(super) fn operands(&mut self, operands: &[Operand]) -> Box<[Place]> {
        operands.iter().map(|operand| self.code.layout.operand(operand)).collect()
    }

    pub(super) fn operand_data(&mut self, operands: &[Operand]) -> Data {
        let fields = self.operands(operands);
        Self::data(fields)
    }

    /// The field list with its packing and its Internet-checksum columns.
    pub(super) fn data(fields: impl Into<Box<[Place]>>) -> Data {
        let fields = fields.into();
        if fields.iter().any(|place| place.varbit) {
            return Data { fields, plan: None, columns: Box::default() };
        }
        let plan = BitPlan::new(fields.iter().copied(), true);
        // 2^16 is 1 modulo 2^16 - 1, so a field adds its value shifted to its column, wherever the 16-bit cuts fall.
        let mut below = plan.bits.next_multiple_of(16);
        let columns = fields
            .iter()
            .flat_map(|&place| pieces_of(place))
            .map(|(slot, width)| {
                below -= u32::from(width);
                (slot, (below % 16) as u8)
            })
            .collect();
        Data { fields, plan: Some(plan), columns }
    }
}
