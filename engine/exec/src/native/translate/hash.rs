//! Hashes of fields. The standard checks of short lists are straight code, byte by byte with tables; others go through memory.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlags, Value, types};
use p4cc_ir::HashAlgorithm;

use super::{Made, Translator, field};
use crate::bitplan::BitPlan;
use crate::checksum::Standard;
use crate::native::helpers::{ALGORITHMS, Name};
use crate::op::{Data, ExternOp};

/// Most bytes of a check that is straight code.
const MAX_CHECKED_BYTES: u32 = 40;

/// Most bytes of fields that are no whole bytes.
const MAX_CUT_BYTES: u32 = 16;

impl Translator<'_, '_> {
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
        let (Some(number), Some(plan)) = (number, plan) else {
            self.spill_data(data)?;
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
        } else if let Some(check) = self.cyclic_check(algorithm, plan)? {
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
        self.spill_data(data)?;
        f(self, None)
    }

    /// A standard check of a few bytes, which need not go through memory.
    fn cyclic_check(&mut self, algorithm: HashAlgorithm, plan: &BitPlan) -> Made<Option<Value>> {
        let Some(check) = Standard::of(algorithm) else { return Ok(None) };
        let whole = plan.words().all(|(_, width)| width.is_multiple_of(8));
        let bytes = match (whole, plan.bytes) {
            (true, ..=MAX_CHECKED_BYTES) => self.whole_bytes(plan)?,
            (false, ..=MAX_CUT_BYTES) => self.cut_bytes(plan)?,
            _ => return Ok(None),
        };
        let table = self.iconst(check.tables.as_ptr().expose_provenance() as u64);
        let mut register: Option<Value> = None;
        let first = bytes.len() % Standard::STEP;
        let (few, steps) = bytes.split_at(first);
        for step in [few].into_iter().chain(steps.chunks(Standard::STEP)).filter(|step| !step.is_empty()) {
            let mut sum = None;
            for (i, &(word, shift)) in step.iter().enumerate() {
                let mut byte = self.b.ins().ushr_imm(word, i64::from(shift));
                // The first step is never shorter than the register where there is something in that.
                if let Some(register) = register.filter(|_| i < check.width as usize / 8) {
                    let before = self.b.ins().ushr_imm(register, i as i64 * 8);
                    byte = self.b.ins().bxor(byte, before);
                }
                let byte = self.b.ins().band_imm(byte, 0xff);
                let at = self.b.ins().ishl_imm(byte, 2);
                let at = self.b.ins().iadd(table, at);
                let behind = (step.len() - 1 - i) * size_of_val(&check.tables[0]);
                let flags = MemFlags::trusted().with_readonly();
                let taken = self.b.ins().load(types::I32, flags, at, behind as i32);
                sum = Some(sum.map_or(taken, |sum| self.b.ins().bxor(sum, taken)));
            }
            register = sum.map(|sum| self.b.ins().uextend(types::I64, sum));
        }
        let Some(register) = register else { return Ok(None) };
        // Checks are linear: from any start, a message gives what it gives from zero and what zeros give from that start.
        let zeros = check.of_zeros(bytes.len());
        Ok(Some(if zeros == 0 { register } else { self.b.ins().bxor_imm(register, i64::from(zeros)) }))
    }

    /// For each byte of fields that are whole bytes a word and the place of the byte in it.
    fn whole_bytes(&mut self, plan: &BitPlan) -> Made<Vec<(Value, u8)>> {
        let mut bytes = Vec::with_capacity(plan.bytes as usize);
        for (slot, width) in plan.words() {
            let word = self.read(slot)?;
            bytes.extend((0..width / 8).rev().map(|byte| (word, byte * 8)));
        }
        Ok(bytes)
    }

    /// The same where fields are first put together to two words.
    fn cut_bytes(&mut self, plan: &BitPlan) -> Made<Vec<(Value, u8)>> {
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
        let bytes = words.into_iter().flat_map(|word| (0..8).rev().map(move |byte| (word, byte * 8)));
        Ok(bytes.take(plan.bytes as usize).collect())
    }

    /// `hash(...)` into one word.
    pub(super) fn hash_op(&mut self, index: u32) -> Made {
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
                    t.spill([base.slot, max.slot])?;
                    t.call_index(Name::Extern, index);
                    t.reload([dst.slot])?;
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
}
