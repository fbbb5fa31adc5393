//! Externs: checksums over whole headers and registers of one word as straight code, the rest by the machine.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use p4cc_ir::HashAlgorithm;

use super::{Made, Translator, field};
use crate::bitplan::BitPlan;
use crate::checksum::MAX_WORD_BYTES;
use crate::native::helpers::{ALGORITHMS, Name};
use crate::op::{ChecksumOp, Data, ExternOp};

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
            self.spill(op.data.guards.iter().copied())?;
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
            self.spill(op.data.guards.iter().copied())?;
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
        self.spill(op.data.guards.iter().copied())?;
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
        // A word and itself with its halves exchanged have the sum of the halves in both, carries folded in.
        let turned = self.b.ins().rotl_imm(sum, 32);
        let sum = self.b.ins().iadd(sum, turned);
        let sum = self.b.ins().ushr_imm(sum, 32);
        let sum = self.b.ins().ireduce(types::I32, sum);
        let turned = self.b.ins().rotl_imm(sum, 16);
        let sum = self.b.ins().iadd(sum, turned);
        let sum = self.b.ins().ushr_imm(sum, 16);
        let sum = self.b.ins().uextend(types::I64, sum);
        Ok(self.b.ins().bxor_imm(sum, 0xffff))
    }

    /// Works out the hash of fields and gives it to `f`, which ends its block; `f` gets nothing where the machine has to
    /// do it: the algorithm draws a number, a field is a varbit, or a header is missing.
    pub(super) fn hash(
        &mut self,
        algorithm: HashAlgorithm,
        data: &Data,
        f: impl Fn(&mut Self, Option<Value>) -> Made,
    ) -> Made {
        let number = ALGORITHMS.iter().position(|&known| known == algorithm);
        let plan = data.plan.as_ref().filter(|plan| plan.is_chunked() && !self.shape.emits);
        let guards = data.guards.iter().copied();
        let (Some(number), Some(plan)) = (number, plan) else {
            self.spill(guards)?;
            return f(self, None);
        };
        let partial = self.b.create_block();
        self.b.set_cold_block(partial);
        for &guard in &data.guards {
            let (valid, whole) = (self.read(guard)?, self.b.create_block());
            self.b.ins().brif(valid, whole, &[], partial, &[]);
            self.b.switch_to_block(whole);
        }
        let hash = if algorithm == HashAlgorithm::Csum16 {
            self.columns(data)?
        } else if let Some(check) = self.check_of_words(algorithm, plan)? {
            check
        } else {
            let to = self.load_field(field!(emit));
            self.store_plan(plan, to)?;
            // The bytes are packed into the buffer from its start; what hangs over takes eight more.
            self.emit_bound = self.emit_bound.max(plan.bytes);
            let (number, bytes) = (self.iconst(number as u64), self.iconst(plan.bytes.into()));
            self.call(Name::Hash, &[number, bytes])
        };
        f(self, Some(hash))?;
        self.b.switch_to_block(partial);
        self.spill(guards)?;
        f(self, None)
    }

    /// A standard check of a few bytes, which need not go through memory.
    fn check_of_words(&mut self, algorithm: HashAlgorithm, plan: &BitPlan) -> Made<Option<Value>> {
        let helper = match algorithm {
            HashAlgorithm::Crc16 => Name::Crc16,
            HashAlgorithm::Crc32 => Name::Crc32,
            _ => return Ok(None),
        };
        if plan.bytes > MAX_WORD_BYTES {
            return Ok(None);
        }
        let mut words = [self.iconst(0); 2];
        let mut at = 0;
        for (slot, width) in plan.words() {
            let (value, width) = (self.read(slot)?, u32::from(width));
            // Bits that go to the first word; what is left of the value starts the second one.
            let first = width.min(64_u32.saturating_sub(at));
            if first > 0 {
                let high = self.b.ins().ushr_imm(value, i64::from(width - first));
                let high = self.b.ins().ishl_imm(high, i64::from(64 - at - first));
                words[0] = self.b.ins().bor(words[0], high);
            }
            if first < width {
                let low = self.b.ins().ishl_imm(value, i64::from(128 - at - width));
                words[1] = self.b.ins().bor(words[1], low);
            }
            at += width;
        }
        let bytes = self.iconst(plan.bytes.into());
        Ok(Some(self.call(helper, &[words[0], words[1], bytes])))
    }

    /// `hash(...)` into one word.
    fn hash_op(&mut self, index: u32) -> Made {
        let ExternOp::Hash { dst, algorithm, base, data, max } = &self.shared.code.externs[index as usize]
        else {
            return Ok(());
        };
        let next = self.b.create_block();
        self.hash(*algorithm, data, |t, hash| {
            match hash {
                Some(hash) => {
                    let offset = t.remainder(hash, max.slot)?;
                    let base = t.read(base.slot)?;
                    let value = t.b.ins().iadd(base, offset);
                    let value = t.cut((64 - dst.width) as u8, value);
                    t.write(dst.slot, value)?;
                }
                None => {
                    t.call_index(Name::Extern, index);
                }
            }
            t.b.ins().jump(next, &[]);
            Ok(())
        })?;
        self.b.switch_to_block(next);
        Ok(())
    }

    /// The remainder by a word; zero where that is zero.
    fn remainder(&mut self, value: Value, divisor: u32) -> Made<Value> {
        match self.known(divisor) {
            Some(known) if known.is_power_of_two() => Ok(self.b.ins().band_imm(value, (known - 1) as i64)),
            Some(0) => Ok(self.iconst(0)),
            Some(_) => {
                let divisor = self.read(divisor)?;
                Ok(self.b.ins().urem(value, divisor))
            }
            None => {
                let divisor = self.read(divisor)?;
                let (zero, one) = (self.iconst(0), self.iconst(1));
                let is_zero = self.b.ins().icmp(IntCC::Equal, divisor, zero);
                let safe = self.b.ins().select(is_zero, one, divisor);
                let rest = self.b.ins().urem(value, safe);
                Ok(self.b.ins().select(is_zero, zero, rest))
            }
        }
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
            ExternOp::Hash { dst, base, max, .. }
                if dst.is_narrow() && base.is_narrow() && max.is_narrow() =>
            {
                self.hash_op(index)
            }
            op => {
                if let ExternOp::Hash { data, .. } = op {
                    self.spill(data.guards.iter().copied())?;
                }
                self.call_index(Name::Extern, index);
                Ok(())
            }
        }
    }
}
