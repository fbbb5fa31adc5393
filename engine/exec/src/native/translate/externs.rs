//! Externs: checksums over whole headers as inline code, the others by calls of the interpreter.

use std::collections::BTreeMap;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};

use super::{TranslateResult, Translator};
use crate::frame_layout::FrameLocation;
use crate::native::helpers::Name;
use crate::native::storage::Storage;
use crate::op::{ChecksumOp, Data, ExternOp};

impl Translator<'_, '_> {
    pub(super) fn verify_checksum(&mut self, index: u32) -> TranslateResult {
        let code = self.shared.code;
        let op = &code.checksums[index as usize];
        let Some(places) = code.v1model.as_ref().filter(|_| op.is_columns()) else {
            return self.checksum_by_interpreter(op, index, Name::VerifyChecksum);
        };
        self.checksum(op, index, Name::VerifyChecksum, |t, computed| {
            let stored = t.read(op.checksum.slot)?;
            let next = t.b.create_block();
            let wrong = t.b.create_block();
            t.b.set_cold_block(wrong);
            let computed = t.cut_sum(op, computed);
            let differs = t.b.ins().bxor(computed, stored);
            t.brif(differs, wrong, &[], next, &[]);
            t.switch_to(wrong);
            let one = t.iconst(1);
            t.write(places.checksum_error, one)?;
            t.jump(next, &[]);
            t.switch_to(next);
            Ok(())
        })
    }

    pub(super) fn update_checksum(&mut self, index: u32) -> TranslateResult {
        let op = &self.shared.code.checksums[index as usize];
        if !op.is_columns() {
            return self.checksum_by_interpreter(op, index, Name::UpdateChecksum);
        }
        self.checksum(op, index, Name::UpdateChecksum, |t, computed| {
            let computed = t.cut_sum(op, computed);
            t.write(op.checksum.slot, computed)
        })
    }

    /// Works out the sum under the condition and gives it to
    /// `f`; where a header is missing the interpreter does it all.
    fn checksum(
        &mut self,
        op: &ChecksumOp,
        index: u32,
        helper: Name,
        f: impl FnOnce(&mut Self, Value) -> TranslateResult,
    ) -> TranslateResult {
        let cond = self.read(op.cond)?;
        let guards =
            op.data.guards.iter().map(|&guard| self.read(guard)).collect::<TranslateResult<Vec<Value>>>()?;
        let [wanted, partial, next] = core::array::from_fn(|_| self.b.create_block());
        self.b.set_cold_block(partial);
        self.brif(cond, wanted, &[], next, &[]);
        self.switch_to(wanted);
        for valid in guards.into_iter().filter(|&valid| valid != cond) {
            let whole = self.b.create_block();
            self.brif(valid, whole, &[], partial, &[]);
            self.switch_to(whole);
        }
        let sum = self.columns(&op.data)?;
        f(self, sum)?;
        self.jump(next, &[]);
        self.switch_to(partial);
        self.checksum_by_interpreter(op, index, helper)?;
        self.jump(next, &[]);
        self.switch_to(next);
        Ok(())
    }

    fn checksum_by_interpreter(&mut self, op: &ChecksumOp, index: u32, helper: Name) -> TranslateResult {
        let error = self.shared.code.v1model.as_ref().map(|places| places.checksum_error);
        let checksum = op.checksum.slot..op.checksum.slot + op.checksum.words();
        self.spill_data(&op.data)?;
        self.spill([op.cond].into_iter().chain(checksum.clone()).chain(error))?;
        self.call_index(helper, index);
        self.reload(checksum.chain(error))
    }

    /// Writes the interpreter's hash input to the frame.
    pub(super) fn spill_data(&mut self, data: &Data) -> TranslateResult {
        let fields = data.fields.iter().flat_map(|field| field.slot..field.slot + field.words());
        self.spill(fields.chain(data.guards.iter().copied()))
    }

    /// The Internet checksum of fields, by their columns.
    pub(super) fn columns(&mut self, data: &Data) -> TranslateResult<Value> {
        let narrow: Vec<bool> = data
            .fields
            .iter()
            .flat_map(|&place| crate::bitplan::slices_of(place))
            .map(|(_, width)| width <= 32)
            .collect();
        // Of numbers below 2^32, which do not fill a word, and of others.
        let (mut short, mut long): (Option<Value>, Option<Value>) = (None, None);
        // Fields of a chunk that stand on their columns there are added together.
        let mut chunks: BTreeMap<u32, (u64, u8)> = BTreeMap::new();
        for (&(slot, shift), narrow) in data.columns.iter().zip(narrow) {
            if let Storage::PackedBits(part) = self.shared.plan.storage_of(slot)
                && part.low % 16 == shift
            {
                let (mask, _) = chunks.entry(part.chunk).or_insert((0, part.unit));
                let bits = (u64::MAX >> (64 - part.width)) << part.low;
                if *mask & bits == 0 {
                    *mask |= bits;
                    continue;
                }
            }
            let word = self.read(slot)?;
            let word = if narrow { word } else { self.halves_of(word) };
            let word = self.b.ins().ishl_imm(word, i64::from(shift));
            short = Some(self.sum(short, word));
        }
        for (chunk, (mask, unit)) in chunks {
            let var = self.var(chunk);
            let word = self.b.use_var(var);
            let word =
                if mask == u64::MAX >> (64 - unit) { word } else { self.b.ins().band_imm(word, mask as i64) };
            if unit <= 32 {
                short = Some(self.sum(short, word));
            } else {
                long = Some(self.sum_around(long, word));
            }
        }
        let sum = match (short, long) {
            (Some(short), Some(long)) => self.sum_around(Some(long), short),
            (one, other) => one.or(other).unwrap_or_else(|| self.iconst(0)),
        };
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

    /// The checksum in as many bits as its field has.
    fn cut_sum(&mut self, op: &ChecksumOp, sum: Value) -> Value {
        if op.checksum.width >= 16 { sum } else { self.cut((64 - op.checksum.width) as u8, sum) }
    }

    fn sum(&mut self, sum: Option<Value>, more: Value) -> Value {
        sum.map_or(more, |sum| self.b.ins().iadd(sum, more))
    }

    /// A sum of words of any size: what is carried out of it is added at its low end.
    fn sum_around(&mut self, sum: Option<Value>, more: Value) -> Value {
        let Some(sum) = sum else { return more };
        let sum = self.b.ins().iadd(sum, more);
        let carry = self.b.ins().icmp(IntCC::UnsignedLessThan, sum, more);
        let carry = self.b.ins().uextend(types::I64, carry);
        self.b.ins().iadd(sum, carry)
    }

    /// The sum of the halves of a word.
    fn halves_of(&mut self, word: Value) -> Value {
        let low = self.b.ins().band_imm(word, 0xffff_ffff);
        let high = self.b.ins().ushr_imm(word, 32);
        self.b.ins().iadd(low, high)
    }

    /// `random(...)` of one word: `low` where the bounds cross, any number where all are wanted.
    fn random(&mut self, dst: FrameLocation, low: FrameLocation, high: FrameLocation) -> TranslateResult {
        let shift = (64 - low.width) as u8;
        let (below, above) = (self.read(low.slot)?, self.read(high.slot)?);
        let drawn = self.call(Name::Random, &[]);
        let drawn = self.cut(shift, drawn);
        let offset = match (self.known(low.slot), self.known(high.slot)) {
            (Some(0), Some(high)) if high == u64::MAX >> shift => drawn,
            _ => {
                let count = self.b.ins().isub(above, below);
                let count = self.b.ins().iadd_imm(count, 1);
                let count = self.cut(shift, count);
                let (zero, one) = (self.iconst(0), self.iconst(1));
                let is_all = self.b.ins().icmp(IntCC::Equal, count, zero);
                let divisor = self.b.ins().select(is_all, one, count);
                let rest = self.b.ins().urem(drawn, divisor);
                let offset = self.b.ins().select(is_all, drawn, rest);
                let crosses = self.b.ins().icmp(IntCC::UnsignedLessThan, above, below);
                self.b.ins().select(crosses, zero, offset)
            }
        };
        let value = self.b.ins().iadd(below, offset);
        let value = self.cut(shift, value);
        self.write(dst.slot, value)
    }

    pub(super) fn extern_op(&mut self, index: u32) -> TranslateResult {
        match &self.shared.code.externs[index as usize] {
            ExternOp::RegisterRead { register, index, dst } if dst.is_narrow() => {
                let index = self.read(*index)?;
                let value = self.register_read(register.0, index);
                self.write(dst.slot, value)
            }
            ExternOp::RegisterWrite { register, index, src } if src.is_narrow() => {
                let (index, value) = (self.read(*index)?, self.read(src.slot)?);
                self.register_write(register.0, index, value)
            }
            ExternOp::Hash { dst, base, max, .. }
                if dst.is_narrow() && base.is_narrow() && max.is_narrow() =>
            {
                self.hash_op(index)
            }
            ExternOp::Hash { data, .. } => {
                self.spill_data(data)?;
                self.call_index(Name::Extern, index);
                Ok(())
            }
            op @ ExternOp::Random { dst, low, high } if op.is_narrow_random() => {
                self.random(*dst, *low, *high)
            }
            ExternOp::MarkToDrop => {
                self.call_index(Name::Extern, index);
                let Some(places) = &self.shared.code.v1model else { return Ok(()) };
                let port = places.egress_spec;
                self.reload((port.slot..port.slot + port.words()).chain([places.mcast_grp]))
            }
            _ => {
                self.call_index(Name::Extern, index);
                Ok(())
            }
        }
    }
}
