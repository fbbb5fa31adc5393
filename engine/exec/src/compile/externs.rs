//! Compiles calls of the architecture's externs.

use p4cc_ir::{Bits, ExternCall, Operand, ProfileId, Table, TableId};

use super::Compiler;
use crate::frame_layout::{FrameLocation, NO_SLOT};
use crate::op::{ChecksumOp, ExternOp, Op};

impl Compiler<'_> {
    pub(super) fn extern_call(&mut self, call: &ExternCall) {
        match call {
            ExternCall::CounterCount { counter, index } => {
                let index = self.narrow(index);
                self.emit(Op::Count { counter: counter.0, index });
            }
            // The hit itself counts, whether or not the action says so (as v1model documents).
            ExternCall::DirectCounterCount { .. } => {}
            ExternCall::DirectMeterRead { meter, dst } => {
                let src = self.code.layout.direct_color(*meter);
                let dst = self.code.layout.var(*dst);
                self.resize_places(dst, FrameLocation { slot: src, width: 64, varbit: false }, false);
            }
            ExternCall::VerifyChecksum { cond, data, checksum, algorithm, with_payload } => {
                let checksum = self.code.layout.operand(checksum);
                let index = self.checksum(cond, data, checksum, *algorithm, *with_payload);
                self.emit(Op::VerifyChecksum(index));
            }
            ExternCall::UpdateChecksum { cond, data, checksum, algorithm, with_payload } => {
                let checksum = self.code.layout.var(*checksum);
                let index = self.checksum(cond, data, checksum, *algorithm, *with_payload);
                self.emit(Op::UpdateChecksum(index));
            }
            _ => {
                let op = self.rare_extern(call);
                let index = self.code.externs.len() as u32;
                self.code.externs.extend(op);
                self.emit(Op::Extern(index));
            }
        }
    }

    /// The table whose entries' cells a call without an index works on, and the word of the index.
    fn cell(&mut self, index: Option<&Operand>, of: impl Fn(&Table) -> bool) -> (Option<TableId>, u32) {
        if let Some(index) = index {
            return (None, self.narrow(index));
        }
        let table = self.program.tables.iter().position(of).map(TableId::from_index);
        // An object that no table has keeps nothing: entry 0 is there in any table.
        let none = self.code.layout.constant(&Bits::zero(64)).slot;
        let word = table.map(|table| self.code.layout.entry(table)).filter(|&slot| slot != NO_SLOT);
        (table, word.unwrap_or(none))
    }

    /// Calls of the chip's own objects.
    fn chip_extern(&mut self, call: &ExternCall) -> Option<ExternOp> {
        Some(match call {
            ExternCall::CounterAdd { counter, index, adjust } => {
                let (table, index) = self.cell(index.as_ref(), |table| table.counter == Some(*counter));
                let adjust = adjust.as_ref().map(|adjust| self.narrow(adjust));
                ExternOp::CounterAdd { counter: *counter, table, index, adjust }
            }
            ExternCall::MeterMeasure { meter, index, color, adjust, dst } => {
                let (table, index) = self.cell(index.as_ref(), |table| table.meter == Some(*meter));
                let color = color.as_ref().map(|color| self.narrow(color));
                let adjust = adjust.as_ref().map(|adjust| self.narrow(adjust));
                let dst = self.code.layout.var(*dst);
                ExternOp::MeterMeasure { meter: *meter, table, index, color, adjust, dst }
            }
            ExternCall::FilterExecute { filter, index, value, dst } => {
                let (_, index) = self.cell(index.as_ref(), |table| table.filter == Some(*filter));
                let (value, dst) = (self.narrow(value), self.code.layout.var(*dst).slot);
                ExternOp::FilterExecute { filter: *filter, index, value, dst }
            }
            ExternCall::DirectRegisterRead { register, dst } => {
                let (_, index) = self.cell(None, |table| table.register == Some(*register));
                ExternOp::RegisterRead { register: *register, index, dst: self.code.layout.var(*dst) }
            }
            ExternCall::DirectRegisterWrite { register, value } => {
                let (_, index) = self.cell(None, |table| table.register == Some(*register));
                ExternOp::RegisterWrite { register: *register, index, src: self.code.layout.operand(value) }
            }
            ExternCall::RegisterClear { register, value } => {
                ExternOp::RegisterClear { register: *register, src: self.code.layout.operand(value) }
            }
            ExternCall::Math { unit, src, dst } => {
                let (src, dst) = (self.narrow(src), self.code.layout.var(*dst));
                ExternOp::Math { unit: Box::new(*unit), src, dst }
            }
            _ => return None,
        })
    }

    fn checksum(
        &mut self,
        cond: &Operand,
        data: &[Operand],
        checksum: FrameLocation,
        algorithm: p4cc_ir::HashAlgorithm,
        with_payload: bool,
    ) -> u32 {
        let cond = self.narrow(cond);
        let data = self.operand_data(data);
        let index = self.code.checksums.len() as u32;
        self.code.checksums.push(ChecksumOp { cond, checksum, algorithm, with_payload, data });
        index
    }

    /// The calls that no fast operation serves; `None` for those handled before.
    fn rare_extern(&mut self, call: &ExternCall) -> Option<ExternOp> {
        Some(match call {
            ExternCall::CounterCount { .. }
            | ExternCall::DirectCounterCount { .. }
            | ExternCall::DirectMeterRead { .. }
            | ExternCall::VerifyChecksum { .. }
            | ExternCall::UpdateChecksum { .. } => return None,
            ExternCall::CounterAdd { .. }
            | ExternCall::MeterMeasure { .. }
            | ExternCall::FilterExecute { .. }
            | ExternCall::DirectRegisterRead { .. }
            | ExternCall::DirectRegisterWrite { .. }
            | ExternCall::RegisterClear { .. }
            | ExternCall::Math { .. } => return self.chip_extern(call),
            ExternCall::MeterExecute { meter, index, color, dst } => ExternOp::MeterExecute {
                meter: *meter,
                index: self.narrow(index),
                color: color.as_ref().map(|color| self.narrow(color)),
                dst: self.code.layout.var(*dst),
            },
            ExternCall::RegisterRead { register, dst, index } => ExternOp::RegisterRead {
                register: *register,
                index: self.narrow(index),
                dst: self.code.layout.var(*dst),
            },
            ExternCall::RegisterWrite { register, index, value } => {
                let (index, src) = (self.narrow(index), self.code.layout.operand(value));
                let selector = self.program.profiles.iter().position(|of| of.bits == Some(*register));
                match selector.map(ProfileId::from_index) {
                    Some(profile) => ExternOp::PlaceWrite { profile, index, src },
                    None => ExternOp::RegisterWrite { register: *register, index, src },
                }
            }
            ExternCall::Hash { dst, algorithm, base, data, max } => ExternOp::Hash {
                dst: self.code.layout.var(*dst),
                algorithm: *algorithm,
                base: self.code.layout.operand(base),
                data: self.hashed(*algorithm, data),
                max: self.code.layout.operand(max),
            },
            ExternCall::Random { dst, low, high } => ExternOp::Random {
                dst: self.code.layout.var(*dst),
                low: self.code.layout.operand(low),
                high: self.code.layout.operand(high),
            },
            ExternCall::MarkToDrop => ExternOp::MarkToDrop,
            ExternCall::Digest { digest, data } => {
                ExternOp::Digest { digest: *digest, fields: self.operands(data) }
            }
            ExternCall::Clone { kind, session, field_list } => ExternOp::Clone {
                kind: *kind,
                session: self.narrow(session),
                field_list: field_list.as_ref().map(|list| self.narrow(list)),
            },
            ExternCall::Resubmit { field_list } => ExternOp::Resubmit { field_list: self.narrow(field_list) },
            ExternCall::Recirculate { field_list } => {
                ExternOp::Recirculate { field_list: self.narrow(field_list) }
            }
            ExternCall::Truncate { bytes } => ExternOp::Truncate { bytes: self.narrow(bytes) },
            ExternCall::LogMsg { format, args } => {
                ExternOp::LogMsg { format: format.as_str().into(), args: self.operands(args) }
            }
            ExternCall::Assert { cond, place } => {
                ExternOp::Assert { cond: self.narrow(cond), place: place.as_str().into() }
            }
        })
    }
}
