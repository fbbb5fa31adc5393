//! Hashes of fields. The standard CRCs of short field lists are inline code, byte by byte with tables. Others
//! pack their input into memory and call a helper.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlags, Value, types};
use p4cc_ir::HashAlgorithm;

use super::{TranslateResult, Translator, field};
use crate::bitplan::BitPlan;
use crate::checksum::ReflectedCrc;
use crate::native::helpers::Name;
use crate::native::storage::{PackedBits, Storage};
use crate::op::PACKED_HASHES;
use crate::op::{Data, ExternOp};
use crate::state::offsets;

/// Most bytes of a check that is inline code.
const MAX_CHECKED_BYTES: u32 = 40;

/// Most bytes of fields that are no whole bytes.
const MAX_CUT_BYTES: u32 = 16;

impl Translator<'_, '_> {
    /// Works out the hash of fields and gives it to `f`, which ends its block; `f` gets nothing where the
    /// interpreter has to do it: the algorithm draws a number, a field is a varbit, or a header is missing.
    pub(super) fn hash(
        &mut self,
        algorithm: HashAlgorithm,
        data: &Data,
        f: impl Fn(&mut Self, Option<Value>) -> TranslateResult,
    ) -> TranslateResult {
        let number = PACKED_HASHES.iter().position(|&known| known == algorithm);
        let changed = self.object_is_changed(algorithm);
        let plan = data.plan.as_ref().filter(|plan| plan.is_chunked());
        let (Some(plan), true) = (plan, number.is_some() || changed.is_some()) else {
            self.spill_data(data)?;
            return f(self, None);
        };
        let partial = self.b.create_block();
        self.b.set_cold_block(partial);
        if let Some(changed) = changed {
            let same = self.b.create_block();
            self.brif(changed, partial, &[], same, &[]);
            self.switch_to(same);
        }
        for &guard in &data.guards {
            let (valid, whole) = (self.read(guard)?, self.b.create_block());
            self.brif(valid, whole, &[], partial, &[]);
            self.switch_to(whole);
        }
        match self.hash_of_plan(algorithm, number, data, plan)? {
            Some(hash) => f(self, Some(hash))?,
            None => self.jump(partial, &[]),
        }
        self.switch_to(partial);
        self.spill_data(data)?;
        f(self, None)
    }

    /// Whether the control plane changed the hash function of a TNA program; none where inline code does not
    /// know what it starts with either.
    fn object_is_changed(&mut self, algorithm: HashAlgorithm) -> Option<Value> {
        let HashAlgorithm::Object(id) = algorithm else { return None };
        self.shared.code.hash_crcs.get(id.index())?.as_ref()?;
        self.state_word(offsets::HASH_IS_CHANGED, id.0)
    }

    /// The hash of fields that are all there; none where inline code does not have it.
    fn hash_of_plan(
        &mut self,
        algorithm: HashAlgorithm,
        number: Option<usize>,
        data: &Data,
        plan: &BitPlan,
    ) -> TranslateResult<Option<Value>> {
        if algorithm == HashAlgorithm::Csum16 {
            return self.columns(data).map(Some);
        }
        if let HashAlgorithm::Object(id) = algorithm {
            let Some(Some(object)) = self.shared.code.hash_crcs.get(id.index()) else { return Ok(None) };
            let Some(sum) = self.check_by_tables(&object.check(), plan)? else { return Ok(None) };
            let sum =
                if object.unused == 0 { sum } else { self.b.ins().ushr_imm(sum, i64::from(object.unused)) };
            return Ok(Some(self.cut((64 - object.bits) as u8, sum)));
        }
        if let Some(check) = self.cyclic_check(algorithm, plan)? {
            return Ok(Some(check));
        }
        // Headers are emitted to where it would be packed.
        let Some(number) = number.filter(|_| !self.summary.emits) else { return Ok(None) };
        let to = self.load_given(field!(emit));
        self.store_plan(plan, to)?;
        // The bytes are packed into the buffer from its start; what hangs over takes eight more.
        self.emit_bound = self.emit_bound.max(plan.bytes);
        let (number, bytes) = (self.iconst(number as u64), self.iconst(plan.bytes.into()));
        Ok(Some(self.call(Name::Hash, &[number, bytes])))
    }

    /// A standard check of a few bytes, which need not go through memory.
    fn cyclic_check(&mut self, algorithm: HashAlgorithm, plan: &BitPlan) -> TranslateResult<Option<Value>> {
        if algorithm == HashAlgorithm::Crc16 && plan.bytes <= MAX_CHECKED_BYTES {
            let words = self.message(plan)?;
            return Ok(Some(self.crc16(&words)));
        }
        match ReflectedCrc::standard(algorithm) {
            Some(check) => self.check_by_tables(&check, plan),
            None => Ok(None),
        }
    }

    /// A reflected check byte by byte, eight at once; none where the fields are too many.
    fn check_by_tables(
        &mut self,
        check: &ReflectedCrc<'_>,
        plan: &BitPlan,
    ) -> TranslateResult<Option<Value>> {
        let whole = plan.words().all(|(_, width)| width.is_multiple_of(8));
        let bytes = match (whole, plan.bytes) {
            (true, ..=MAX_CHECKED_BYTES) => self.whole_bytes(plan)?,
            (false, ..=MAX_CUT_BYTES) => self.cut_bytes(plan)?,
            _ => return Ok(None),
        };
        let table = self.iconst(check.tables.as_ptr().expose_provenance() as u64);
        let mut register: Option<Value> = None;
        let first = bytes.len() % ReflectedCrc::STEP;
        let (few, steps) = bytes.split_at(first);
        for step in [few].into_iter().chain(steps.chunks(ReflectedCrc::STEP)).filter(|step| !step.is_empty())
        {
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
                // The table is always there: it may be read where the check is used, if that is anywhere.
                let flags = MemFlags::trusted().with_readonly().with_can_move();
                let taken = self.b.ins().load(types::I32, flags, at, behind as i32);
                sum = Some(sum.map_or(taken, |sum| self.b.ins().bxor(sum, taken)));
            }
            register = sum.map(|sum| self.b.ins().uextend(types::I64, sum));
        }
        let Some(register) = register else { return Ok(None) };
        // Checks are linear: from any start, a message gives what
        // it gives from zero and what zeros give from that start.
        let zeros = check.of_zeros(bytes.len());
        Ok(Some(if zeros == 0 { register } else { self.b.ins().bxor_imm(register, i64::from(zeros)) }))
    }

    /// CRC-16/ARC of a message in words of eight bytes, the first
    /// byte highest; zeros in front of a message change nothing.
    ///
    /// Its polynomial is the product of x + 1 and p = x^15 + x + 1. Modulo p, x^60 is x^4 + 1, x^30 is x^2 +
    /// 1: what stands that high is added further down twice. Then p itself is added if that mends the
    /// remainder modulo x + 1, which is the message's parity. In a word that begins with its highest power,
    /// as the check takes bytes, times x is a shift to the right.
    fn crc16(&mut self, message: &[Value]) -> Value {
        let b = &mut self.b;
        let mut sum: Option<(Value, Value)> = None;
        for &word in message {
            let word = b.ins().bswap(word);
            sum = Some(match sum {
                None => (word, word),
                Some((sum, parity)) => {
                    // x^64 = x^8 + x^4; what leaves the word on its right does so once more.
                    let past = b.ins().ishl_imm(sum, 56);
                    let again = b.ins().ishl_imm(past, 4);
                    let (past, sum) = (b.ins().bxor(past, again), sum);
                    let sum = b.ins().bxor(sum, past);
                    let more = b.ins().ushr_imm(sum, 4);
                    let sum = b.ins().bxor(sum, more);
                    let sum = b.ins().ushr_imm(sum, 4);
                    (b.ins().bxor(sum, word), b.ins().bxor(parity, word))
                }
            });
        }
        let Some((sum, parity)) = sum else { return self.iconst(0) };
        // Times x^16, 80 bits; each step takes the highest ones
        // off: 28 and 22 of them by x^30, 14 by x^15 = x + 1.
        let mut rest = sum;
        for (off, apart, up) in [(28, 2, 0), (22, 2, 6), (14, 1, 0)] {
            let high = b.ins().band_imm(rest, (1 << off) - 1);
            let twice = b.ins().ishl_imm(high, apart);
            let added = b.ins().bxor(high, twice);
            let added = if up == 0 { added } else { b.ins().ishl_imm(added, up) };
            let low = b.ins().ushr_imm(rest, off);
            rest = b.ins().bxor(low, added);
        }
        let parity = b.ins().bxor(parity, rest);
        let ones = b.ins().popcnt(parity);
        let odd = b.ins().band_imm(ones, 1);
        let mended = b.ins().imul_imm(odd, 0xc001);
        b.ins().bxor(rest, mended)
    }

    /// Fields as one number in words, the highest first; bits in front of them are zero.
    fn message(&mut self, plan: &BitPlan) -> TranslateResult<Vec<Value>> {
        let words = plan.bytes.div_ceil(8) as usize;
        let mut message: Vec<Option<Value>> = vec![None; words];
        let mut at = words as u32 * 64 - plan.bytes * 8;
        for (value, width) in self.joined(plan)? {
            let (place, room) = (at as usize / 64, 64 - at % 64);
            at += width;
            if self.constant(value) == Some(0) {
                continue;
            }
            // Bits of the first word; what is left of the value starts the next one.
            let (first, left) = (width.min(room), width.saturating_sub(room));
            let high = if left == 0 { value } else { self.b.ins().ushr_imm(value, i64::from(left)) };
            let high = self.b.ins().ishl_imm(high, i64::from(room - first));
            self.put(&mut message[place], high);
            if left > 0 {
                let low = self.b.ins().ishl_imm(value, i64::from(64 - left));
                self.put(&mut message[place + 1], low);
            }
        }
        Ok(message.into_iter().map(|word| word.unwrap_or_else(|| self.iconst(0))).collect())
    }

    fn put(&mut self, word: &mut Option<Value>, bits: Value) {
        *word = Some(word.map_or(bits, |word| self.b.ins().bor(word, bits)));
    }

    /// Fields with their widths; those that stand side by side in a chunk as one.
    fn joined(&mut self, plan: &BitPlan) -> TranslateResult<Vec<(Value, u32)>> {
        let mut fields = Vec::new();
        let mut open: Option<PackedBits> = None;
        for (slot, width) in plan.words() {
            let part = match self.shared.plan.storage_of(slot) {
                Storage::PackedBits(part) => Some(part),
                _ => None,
            };
            open = match (open, part) {
                (Some(high), Some(low)) if high.chunk == low.chunk && high.low == low.low + low.width => {
                    Some(PackedBits { low: low.low, width: high.width + low.width, ..high })
                }
                (before, part) => {
                    fields.extend(before.map(|part| (self.read_packed(part), u32::from(part.width))));
                    if part.is_none() {
                        fields.push((self.read(slot)?, u32::from(width)));
                    }
                    part
                }
            };
        }
        fields.extend(open.map(|part| (self.read_packed(part), u32::from(part.width))));
        Ok(fields)
    }

    /// For each byte of fields that are whole bytes a word and the place of the byte in it.
    fn whole_bytes(&mut self, plan: &BitPlan) -> TranslateResult<Vec<(Value, u8)>> {
        let mut bytes = Vec::with_capacity(plan.bytes as usize);
        for (slot, width) in plan.words() {
            let word = self.read(slot)?;
            bytes.extend((0..width / 8).rev().map(|byte| (word, byte * 8)));
        }
        Ok(bytes)
    }

    /// The same where fields are first put together to two words.
    fn cut_bytes(&mut self, plan: &BitPlan) -> TranslateResult<Vec<(Value, u8)>> {
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
    pub(super) fn hash_op(&mut self, index: u32) -> TranslateResult {
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
            t.jump(next, &[]);
            Ok(())
        })?;
        self.switch_to(next);
        Ok(())
    }

    /// The remainder by a word; zero where that is zero.
    fn remainder(&mut self, value: Value, divisor: u32) -> TranslateResult<Value> {
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
