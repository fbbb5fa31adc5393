//! Extraction of headers from the packet, and their emission.

use core::ops::Range;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use p4cc_ir::core_errors::PACKET_TOO_SHORT;

use super::{TranslateResult, Translator, bytes_flags, field};
use crate::bitplan::{BitPlan, Chunk, FieldSlice};
use crate::native::helpers::Name;
use crate::native::storage::PackedChunk;
use crate::op::{HeaderPlan, Op, SlowOp};

/// Where a chunk was loaded from that is stored elsewhere as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Loaded {
    /// Address of the header's first byte.
    from: Value,
    /// Place of the chunk in the header.
    at: u32,
    bytes: u32,
    /// Bits of the register.
    unit: u8,
}

impl Loaded {
    fn new(from: Value, chunk: &Chunk, packed: &PackedChunk) -> Self {
        Self { from, at: chunk.store_from, bytes: packed.bytes, unit: packed.unit }
    }
}

impl Translator<'_, '_> {
    pub(super) fn packet_op(&mut self, op: Op) -> TranslateResult {
        match op {
            Op::Extract { header } => self.extract(header),
            Op::Advance { bits } => self.advance(bits),
            Op::Lookahead { width, dst } => self.lookahead(width, dst),
            Op::PacketLength { dst, shift } => {
                let bits = self.total_bits();
                let bytes = self.b.ins().ushr_imm(bits, 3);
                let bytes = self.cut(shift, bytes);
                self.write(dst, bytes)
            }
            Op::Verify { cond, error } => {
                let (cond, error) = (self.read(cond)?, self.read(error)?);
                self.reject_unless(cond, false, |t| t.b.ins().band_imm(error, i64::from(u32::MAX)));
                Ok(())
            }
            Op::Emit { header } => self.emit(header),
            Op::SetValid { header } => self.set_valid(header),
            Op::SetInvalid { header } => self.set_invalid(header),
            _ => Ok(()),
        }
    }

    /// Calls the interpreter for an operation that may take bits.
    pub(super) fn slow(&mut self, index: u32) {
        let takes = matches!(
            self.shared.code.slow[index as usize],
            SlowOp::ExtractVar { .. } | SlowOp::ExtractNext { .. } | SlowOp::LookaheadWide { .. }
        );
        if !takes {
            self.call_index(Name::Slow, index);
            return;
        }
        self.flush_at();
        let result = self.call_index(Name::Slow, index);
        let at = self.load_field(field!(at));
        self.b.def_var(self.at, at);
        self.check(result);
    }

    /// Whether the bits up to `end` are stored and start on a byte.
    fn is_stored(&mut self, end: Value) -> Value {
        let stored = self.load_given(field!(stored_bits));
        let fits = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, end, stored);
        if self.summary.aligned {
            return fits;
        }
        let at = self.b.use_var(self.at);
        let odd = self.b.ins().band_imm(at, 7);
        let whole = self.b.ins().icmp_imm(IntCC::Equal, odd, 0);
        self.b.ins().band(fits, whole)
    }

    /// Address of the byte that comes next.
    fn here(&mut self) -> Value {
        let (packet, at) = (self.load_given(field!(packet)), self.b.use_var(self.at));
        let bytes = self.b.ins().ushr_imm(at, 3);
        self.b.ins().iadd(packet, bytes)
    }

    fn extract(&mut self, header: u32) -> TranslateResult {
        let plan = &self.shared.code.headers[header as usize];
        let at = self.b.use_var(self.at);
        let end = self.b.ins().iadd_imm(at, i64::from(plan.plan.bits));
        if let Some(unreadable) = self.unreadable.filter(|_| plan.plan.is_chunked()) {
            let (stored, fast) = (self.is_stored(end), self.b.create_block());
            self.brif(stored, fast, &[], unreadable, &[]);
            self.switch_to(fast);
            let from = self.here();
            self.load_plan(&plan.plan, from)?;
            return self.extracted(plan, end);
        }
        let [fast, slow, next] = core::array::from_fn(|_| self.b.create_block());
        self.b.set_cold_block(slow);
        if plan.plan.is_chunked() {
            let stored = self.is_stored(end);
            self.brif(stored, fast, &[], slow, &[]);
        } else {
            self.jump(slow, &[]);
        }
        self.switch_to(fast);
        let from = self.here();
        self.load_plan(&plan.plan, from)?;
        self.jump(next, &[]);
        self.switch_to(slow);
        self.flush_at();
        let result = self.call_index(Name::Extract, header);
        self.check(result);
        let chunks = self.shared.plan.chunks(plan);
        self.reload(chunks.flat_map(|(_, packed)| packed.slots.iter().copied()))?;
        self.jump(next, &[]);
        self.switch_to(next);
        self.extracted(plan, end)
    }

    /// A header is valid that ends at this bit.
    fn extracted(&mut self, plan: &HeaderPlan, end: Value) -> TranslateResult {
        self.b.def_var(self.at, end);
        let (one, zero) = (self.iconst(1), self.iconst(0));
        self.write(plan.valid, one)?;
        plan.rivals.iter().try_for_each(|&rival| self.write(rival, zero))
    }

    /// Loads the fields of a plan in chunks, from bytes that are there.
    pub(super) fn load_plan(&mut self, plan: &BitPlan, from: Value) -> TranslateResult {
        for (chunk, slices) in plan.chunks() {
            if let Some(packed) = self.shared.plan.packed(slices) {
                self.load_chunk(plan, chunk, slices[0].slot, packed, from);
                continue;
            }
            let loaded_bytes = (plan.bytes - chunk.load_from).min(8);
            let mut together = None;
            for slice in slices {
                let value = match self.load_slice(slice, chunk, loaded_bytes, from) {
                    Some(value) => value,
                    None => {
                        let load = |t: &mut Self| t.load_bytes(from, chunk.load_from, loaded_bytes);
                        let word = *together.get_or_insert_with(|| load(self));
                        self.cut_slice(slice, word, loaded_bytes)
                    }
                };
                self.write(slice.slot, value)?;
            }
        }
        Ok(())
    }

    /// Loads a chunk as it is packed.
    fn load_chunk(&mut self, plan: &BitPlan, chunk: &Chunk, slot: u32, packed: &PackedChunk, from: Value) {
        let whole = u32::from(packed.unit / 8);
        let word = if chunk.store_from + whole <= plan.bytes {
            // What stands behind the chunk comes along; nobody reads
            // it there, or stores it where it is not written again.
            let word = self.load_be(packed.ty(), from, chunk.store_from as i32);
            self.loaded.insert(word, Loaded::new(from, chunk, packed));
            word
        } else if plan.bytes >= 8 {
            let word = self.load_be(types::I64, from, chunk.load_from as i32);
            let before = (chunk.store_from - chunk.load_from) * 8;
            let word = self.b.ins().ishl_imm(word, i64::from(before));
            let word = self.b.ins().band_imm(word, (u64::MAX << (64 - packed.bytes * 8)) as i64);
            self.loaded.insert(word, Loaded::new(from, chunk, packed));
            word
        } else {
            let word = self.load_bytes(from, chunk.store_from, packed.bytes);
            self.b.ins().ishl_imm(word, i64::from((whole - packed.bytes) * 8))
        };
        self.set_chunk(slot, word);
    }

    /// Stores a chunk as it is packed; what hangs over is overwritten by what follows, or not taken.
    fn store_chunk(&mut self, chunk: &Chunk, slot: u32, packed: &PackedChunk, to: Value) {
        let var = self.var(slot);
        let word = self.b.use_var(var);
        let (ty, at) = (packed.ty(), chunk.store_from as i32);
        let word = if ty == types::I64 { word } else { self.b.ins().ireduce(ty, word) };
        let word = if ty == types::I8 { word } else { self.swap(word) };
        self.b.ins().store(bytes_flags(), word, to, at);
    }

    /// A slice that is a whole byte, or two, or four, by a load of its own.
    fn load_slice(&mut self, slice: &FieldSlice, chunk: &Chunk, loaded: u32, from: Value) -> Option<Value> {
        let ty = match slice.width {
            8 => types::I8,
            16 => types::I16,
            32 => types::I32,
            64 => types::I64,
            _ => return None,
        };
        if !slice.load_shift.is_multiple_of(8) {
            return None;
        }
        let behind = u32::from(slice.load_shift / 8 + slice.width / 8);
        let offset = chunk.load_from + loaded - behind;
        Some(self.load_be(ty, from, offset as i32))
    }

    /// A slice out of the bytes loaded together.
    fn cut_slice(&mut self, slice: &FieldSlice, word: Value, loaded: u32) -> Value {
        let low = self.b.ins().ushr_imm(word, i64::from(slice.load_shift));
        if u32::from(slice.load_shift + slice.width) == loaded * 8 {
            return low;
        }
        self.cut(64 - slice.width, low)
    }

    /// Up to eight bytes as one number.
    fn load_bytes(&mut self, from: Value, offset: u32, count: u32) -> Value {
        let mut word = None;
        let (mut at, mut left) = (offset, count);
        for (bytes, ty) in [(8, types::I64), (4, types::I32), (2, types::I16), (1, types::I8)] {
            while left >= bytes {
                let part = self.load_be(ty, from, at as i32);
                word = Some(match word {
                    Some(high) => {
                        let high = self.b.ins().ishl_imm(high, i64::from(bytes * 8));
                        self.b.ins().bor(high, part)
                    }
                    None => part,
                });
                at += bytes;
                left -= bytes;
            }
        }
        word.unwrap_or_else(|| self.iconst(0))
    }

    /// Bits of the packet, zeros that are not stored included.
    fn total_bits(&mut self) -> Value {
        let (stored, zeros) = (self.load_given(field!(stored_bits)), self.load_given(field!(zeros)));
        let zeros = self.b.ins().ishl_imm(zeros, 3);
        self.b.ins().iadd(stored, zeros)
    }

    /// Rejects unless so many bits are left.
    fn need(&mut self, bits: Value) {
        let (total, at) = (self.total_bits(), self.b.use_var(self.at));
        let left = self.b.ins().isub(total, at);
        let enough = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, bits, left);
        self.require(enough, PACKET_TOO_SHORT);
    }

    fn advance(&mut self, bits: u32) -> TranslateResult {
        let bits = self.read(bits)?;
        self.need(bits);
        let at = self.b.use_var(self.at);
        let at = self.b.ins().iadd(at, bits);
        self.b.def_var(self.at, at);
        Ok(())
    }

    fn lookahead(&mut self, width: u32, dst: u32) -> TranslateResult {
        let bits = self.iconst(width.into());
        self.need(bits);
        let at = self.b.use_var(self.at);
        let [fast, slow, next] = core::array::from_fn(|_| self.b.create_block());
        let value = self.b.append_block_param(next, types::I64);
        self.b.set_cold_block(slow);
        let bytes = width.div_ceil(8);
        let end = self.b.ins().iadd_imm(at, i64::from(bytes * 8));
        let stored = self.is_stored(end);
        self.brif(stored, fast, &[], slow, &[]);
        self.switch_to(fast);
        let from = self.here();
        let word = self.load_bytes(from, 0, bytes);
        let word = self.b.ins().ushr_imm(word, i64::from(bytes * 8 - width));
        self.jump(next, &[word.into()]);
        self.switch_to(slow);
        let word = self.call(Name::Peek, &[at, bits]);
        self.jump(next, &[word.into()]);
        self.switch_to(next);
        self.write(dst, value)
    }

    fn emit(&mut self, header: u32) -> TranslateResult {
        if !self.summary.emits {
            self.call_index(Name::Emit, header);
            return Ok(());
        }
        let plan = &self.shared.code.headers[header as usize];
        self.emit_bound += plan.plan.bytes;
        let valid = self.read(plan.valid)?;
        let [there, next] = core::array::from_fn(|_| self.b.create_block());
        self.brif(valid, there, &[], next, &[]);
        self.switch_to(there);
        let base = match self.emit_base {
            Some(base) => base,
            None => self.load_given(field!(emit)),
        };
        let emitted = self.b.use_var(self.emitted);
        let to = self.b.ins().iadd(base, emitted);
        self.store_plan(&plan.plan, to)?;
        let emitted = self.b.ins().iadd_imm(emitted, i64::from(plan.plan.bytes));
        self.b.def_var(self.emitted, emitted);
        self.jump(next, &[]);
        self.switch_to(next);
        Ok(())
    }

    /// Packs fields in chunks behind an address that has room for them and eight bytes more.
    pub(super) fn store_plan(&mut self, plan: &BitPlan, to: Value) -> TranslateResult {
        // Bytes up to here that are as they were loaded, from which header, and are still to be copied.
        let mut same: Option<(Value, Range<u32>)> = None;
        let ends = plan.chunks().skip(1).map(|(chunk, _)| chunk.store_from).chain([plan.bytes]);
        for ((chunk, slices), end) in plan.chunks().zip(ends) {
            let packed = self.shared.plan.packed(slices);
            let loaded = packed.and_then(|packed| self.loaded_from(chunk, slices[0].slot, packed));
            same = match (same, loaded) {
                (Some((before, bytes)), Some(loaded)) if before == loaded => Some((before, bytes.start..end)),
                (before, loaded) => {
                    before.into_iter().for_each(|(from, bytes)| self.copy_bytes(from, to, bytes));
                    loaded.map(|loaded| (loaded, chunk.store_from..end))
                }
            };
            match packed {
                _ if same.is_some() => {}
                Some(packed) => self.store_chunk(chunk, slices[0].slot, packed, to),
                None => self.store_slices(chunk, slices, to)?,
            }
        }
        same.into_iter().for_each(|(from, bytes)| self.copy_bytes(from, to, bytes));
        Ok(())
    }

    /// Packs the fields of a chunk; it writes eight bytes, of which
    /// what hangs over is overwritten by the next one or not taken.
    fn store_slices(&mut self, chunk: &Chunk, slices: &[FieldSlice], to: Value) -> TranslateResult {
        let mut word: Option<Value> = None;
        for slice in slices {
            let value = self.read(slice.slot)?;
            let value = self.b.ins().ishl_imm(value, i64::from(slice.store_shift));
            word = Some(match word {
                Some(word) => self.b.ins().bor(word, value),
                None => value,
            });
        }
        if let Some(word) = word {
            let word = self.swap(word);
            self.b.ins().store(bytes_flags(), word, to, chunk.store_from as i32);
        }
        Ok(())
    }

    /// The header where a chunk stands at this very place as it is now, if one was loaded.
    fn loaded_from(&mut self, chunk: &Chunk, slot: u32, packed: &PackedChunk) -> Option<Value> {
        let var = self.var(slot);
        let word = self.b.use_var(var);
        let word = self.b.func.dfg.resolve_aliases(word);
        let from = self.loaded.get(&word)?.from;
        (self.loaded[&word] == Loaded::new(from, chunk, packed)).then_some(from)
    }

    /// Copies bytes of a header to where it is packed: they need not stay in registers meanwhile.
    fn copy_bytes(&mut self, from: Value, to: Value, bytes: Range<u32>) {
        let units = [(16, types::I8X16), (8, types::I64), (4, types::I32), (2, types::I16), (1, types::I8)];
        let units = &units[usize::from(!super::HAS_PAIRS)..];
        let Some(&(unit, ty)) = units.iter().find(|unit| unit.0 <= bytes.len() as u32) else { return };
        let mut at = bytes.start;
        while at < bytes.end {
            // The last one may begin within the one before.
            let here = at.min(bytes.end - unit) as i32;
            let word = self.b.ins().load(ty, bytes_flags(), from, here);
            self.b.ins().store(bytes_flags(), word, to, here);
            at += unit;
        }
    }

    /// Bytes that a header adds to the packet's length, if the interpreter need not look.
    fn short_header(plan: &HeaderPlan) -> Option<u32> {
        plan.is_short().then_some(plan.plan.bits / 8)
    }

    fn set_valid(&mut self, header: u32) -> TranslateResult {
        let plan = &self.shared.code.headers[header as usize];
        let Some(bytes) = Self::short_header(plan) else {
            self.call_index(Name::SetValid, header);
            return Ok(());
        };
        let valid = self.read(plan.valid)?;
        let [new, next] = core::array::from_fn(|_| self.b.create_block());
        self.brif(valid, next, &[], new, &[]);
        self.switch_to(new);
        let (zero, one) = (self.iconst(0), self.iconst(1));
        self.write(plan.valid, one)?;
        self.zero_fields(plan, zero)?;
        self.count_length(i64::from(bytes))?;
        self.jump(next, &[]);
        self.switch_to(next);
        Ok(())
    }

    /// Sets the fields of a header to zero.
    pub(super) fn zero_fields(&mut self, plan: &HeaderPlan, zero: Value) -> TranslateResult {
        let mut packed = self.shared.plan.chunks(plan).peekable();
        if packed.peek().is_none() {
            return (plan.valid + 1..plan.valid + plan.words).try_for_each(|slot| self.write(slot, zero));
        }
        for (slot, _) in packed {
            self.set_chunk(slot, zero);
        }
        Ok(())
    }

    fn set_invalid(&mut self, header: u32) -> TranslateResult {
        let plan = &self.shared.code.headers[header as usize];
        if self.known(plan.valid) == Some(0) {
            return Ok(());
        }
        let Some(bytes) = Self::short_header(plan) else {
            self.call_index(Name::SetInvalid, header);
            return Ok(());
        };
        let valid = self.read(plan.valid)?;
        let [old, next] = core::array::from_fn(|_| self.b.create_block());
        self.brif(valid, old, &[], next, &[]);
        self.switch_to(old);
        let zero = self.iconst(0);
        self.write(plan.valid, zero)?;
        self.count_length(-i64::from(bytes))?;
        self.jump(next, &[]);
        self.switch_to(next);
        Ok(())
    }

    fn count_length(&mut self, bytes: i64) -> TranslateResult {
        let slot = self.shared.code.layout.length_delta;
        let delta = self.read(slot)?;
        let delta = self.b.ins().iadd_imm(delta, bytes);
        self.write(slot, delta)
    }
}
