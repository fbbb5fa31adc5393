//! Externs: checksums over whole headers and registers of one word as straight code, the rest by the machine.

use cranelift_codegen::ir::{InstBuilder, Value};
use p4cc_ir::HashAlgorithm;

use super::{Made, Translator};
use crate::native::helpers::Name;
use crate::op::{ChecksumOp, Data, ExternOp};

/// Folds that bring any sum of columns below 2^16: each takes 16 bits off its length, the last two the carries.
const FOLDS: usize = 5;

impl Translator<'_, '_> {
    /// Whether the checksum is an Internet checksum that straight code works out.
    fn is_columns(op: &ChecksumOp) -> bool {
        op.algorithm == HashAlgorithm::Csum16
            && !op.with_payload
            && op.data.plan.is_some()
            && op.checksum.is_narrow()
    }

    pub(super) fn verify_checksum(&mut self, index: u32) -> Made {
        let code = self.shared.code;
        let op = &code.checksums[index as usize];
        let Some(places) = code.v1model.as_ref().filter(|_| Self::is_columns(op)) else {
            self.call_index(Name::VerifyChecksum, index);
            return Ok(());
        };
        self.checksum(op, index, Name::VerifyChecksum, |t, computed| {
            let stored = t.read(op.checksum.slot)?;
            let next = t.b.create_block();
            let wrong = t.b.create_block();
            t.b.set_cold_block(wrong);
            let computed = t.cut((64 - op.checksum.width) as u8, computed);
            let differs = t.b.ins().bxor(computed, stored);
            t.b.ins().brif(differs, wrong, &[], next, &[]);
            t.b.switch_to_block(wrong);
            let one = t.iconst(1);
            t.write(places.checksum_error, one)?;
            t.b.ins().jump(next, &[]);
            t.b.switch_to_block(next);
            Ok(())
        })
    }

    pub(super) fn update_checksum(&mut self, index: u32) -> Made {
        let op = &self.shared.code.checksums[index as usize];
        if !Self::is_columns(op) {
            self.call_index(Name::UpdateChecksum, index);
            return Ok(());
        }
        self.checksum(op, index, Name::UpdateChecksum, |t, computed| {
            let computed = t.cut((64 - op.checksum.width) as u8, computed);
            t.write(op.checksum.slot, computed)
        })
    }

    /// Works out the sum under the condition and gives it to `f`; where a header is missing the machine does it all.
    fn checksum(
        &mut self,
        op: &ChecksumOp,
        index: u32,
        helper: Name,
        f: impl FnOnce(&mut Self, Value) -> Made,
    ) -> Made {
        let cond = self.read(op.cond)?;
        let [wanted, partial, next] = core::array::from_fn(|_| self.b.create_block());
        self.b.set_cold_block(partial);
        self.b.ins().brif(cond, wanted, &[], next, &[]);
        self.b.switch_to_block(wanted);
        for &guard in &op.data.guards {
            let (valid, whole) = (self.read(guard)?, self.b.create_block());
            self.b.ins().brif(valid, whole, &[], partial, &[]);
            self.b.switch_to_block(whole);
        }
        let sum = self.columns(&op.data)?;
        f(self, sum)?;
        self.b.ins().jump(next, &[]);
        self.b.switch_to_block(partial);
        self.call_index(helper, index);
        self.b.ins().jump(next, &[]);
        self.b.switch_to_block(next);
        Ok(())
    }

    /// The Internet checksum of fields, by their columns.
    fn columns(&mut self, data: &Data) -> Made<Value> {
        let narrow: Vec<bool> = data
            .fields
            .iter()
            .flat_map(|&place| crate::bitplan::pieces_of(place))
            .map(|(_, width)| width <= 32)
            .collect();
        let mut sum = self.iconst(0);
        for (&(slot, shift), narrow) in data.columns.iter().zip(narrow) {
            let word = self.read(slot)?;
            let word = if narrow {
                word
            } else {
                let low = self.b.ins().band_imm(word, 0xffff_ffff);
                let high = self.b.ins().ushr_imm(word, 32);
                self.b.ins().iadd(low, high)
            };
            let word = self.b.ins().ishl_imm(word, i64::from(shift));
            sum = self.b.ins().iadd(sum, word);
        }
        for _ in 0..FOLDS {
            let (high, low) = (self.b.ins().ushr_imm(sum, 16), self.b.ins().band_imm(sum, 0xffff));
            sum = self.b.ins().iadd(high, low);
        }
        Ok(self.b.ins().bxor_imm(sum, 0xffff))
    }

    pub(super) fn extern_op(&mut self, index: u32) -> Made {
        match &self.shared.code.externs[index as usize] {
            ExternOp::RegisterRead { register, index, dst } if dst.is_narrow() => {
                let (register, index) = (self.iconst(register.0.into()), self.read(*index)?);
                let value = self.call(Name::RegisterRead, &[register, index]);
                self.write(dst.slot, value)
            }
            ExternOp::RegisterWrite { register, index, src } if src.is_narrow() => {
                let (register, index) = (self.iconst(register.0.into()), self.read(*index)?);
                let value = self.read(src.slot)?;
                self.call(Name::RegisterWrite, &[register, index, value]);
                Ok(())
            }
            _ => {
                self.call_index(Name::Extern, index);
                Ok(())
            }
        }
    }
}
