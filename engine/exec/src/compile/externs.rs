//! Compiles calls of the architecture's externs.

use p4cc_ir::{ExternCall, Operand};

use super::Compiler;
use crate::frame_layout::FrameLocation;
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
            ExternCall::RegisterWrite { register, index, value } => ExternOp::RegisterWrite {
                register: *register,
                index: self.narrow(index),
                src: self.code.layout.operand(value),
            },
            ExternCall::Hash { dst, algorithm, base, data, max } => ExternOp::Hash {
                dst: self.code.layout.var(*dst),
                algorithm: *algorithm,
                base: self.code.layout.operand(base),
                data: self.operand_data(data),
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
