//! Externs in the interpreter: hashes, checksums, registers, meters, and requests to the architecture.

use p4cc_ir::{Bits, HashAlgorithm, RegisterId};

use super::{Run, get};
use crate::COLOR_GREEN;
use crate::bitplan::{BitWriter, slices_of};
use crate::checksum;
use crate::env::{CloneRequest, DigestMessage, Env, PacketView, RegisterAccess, Trace, Values};
use crate::frame_layout::{FrameLocation, NO_SLOT};
use crate::op::{ChecksumOp, Data, ExternOp};
use crate::wide::Wide;

/// The low 32 bits, all ones when they do not hold the value.
fn low_u32(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// A length without the bytes that are not to count.
fn without(length: u32, bytes: u64) -> u32 {
    length.saturating_sub(low_u32(bytes))
}

impl<T: Trace> Run<'_, '_, '_, T> {
    /// Whether all headers that the fields belong to are valid.
    #[inline]
    fn is_whole(&self, data: &Data) -> bool {
        data.guards.iter().all(|&guard| get(self.slots, guard) != 0)
    }

    /// Packs fields of valid headers into the byte buffer, padded with zero bits at the end.
    fn pack(&mut self, data: &Data) {
        let whole = self.is_whole(data);
        self.bytes.clear();
        let mut out = BitWriter::new(self.bytes);
        if let Some(plan) = &data.plan
            && whole
        {
            plan.store(self.slots, &mut out);
            return;
        }
        for (&field, &owner) in data.fields.iter().zip(&data.owners) {
            if owner != NO_SLOT && get(self.slots, owner) == 0 {
                continue;
            }
            let width = if field.varbit { get(self.slots, field.slot) as u32 } else { field.width };
            let value = FrameLocation { slot: field.value(), width, varbit: false };
            for (slot, width) in slices_of(value) {
                out.put(get(self.slots, slot), u32::from(width));
            }
        }
    }

    /// The hash of a field list.
    pub(crate) fn hash(&mut self, algorithm: HashAlgorithm, data: &Data) -> u64 {
        match algorithm {
            HashAlgorithm::Random => self.env.as_mut().map_or(0, |env| env.random.next_u64()),
            HashAlgorithm::Csum16 if data.plan.is_some() && self.is_whole(data) => {
                u64::from(!checksum::fold(self.column_sum(data)))
            }
            HashAlgorithm::Object(id) => {
                self.pack(data);
                self.env.as_ref().map_or(0, |env| env.state.hash_message(id, self.bytes, data.front))
            }
            _ => {
                self.pack(data);
                let bytes = PacketView::new(self.bytes);
                self.env.as_ref().map_or(0, |env| env.state.hash(algorithm, bytes, PacketView::default()))
            }
        }
    }

    /// Internet sum of the fields by their columns, not folded.
    #[inline]
    fn column_sum(&self, data: &Data) -> u64 {
        data.columns.iter().fold(0, |sum, &(slot, shift)| {
            let word = get(self.slots, slot);
            sum + (((word & 0xffff_ffff) + (word >> 32)) << shift)
        })
    }

    #[inline]
    fn checksum(&mut self, op: &ChecksumOp) -> u64 {
        if !op.with_payload {
            return self.hash(op.algorithm, &op.data);
        }
        if op.algorithm == HashAlgorithm::Random {
            return self.hash(op.algorithm, &op.data);
        }
        self.pack(&op.data);
        let bytes = PacketView::new(self.bytes);
        self.env.as_ref().map_or(0, |env| env.state.hash(op.algorithm, bytes, env.payload))
    }

    #[inline]
    pub(crate) fn verify_checksum(&mut self, index: u32) {
        let code = self.code;
        let op = &code.checksums[index as usize];
        if get(self.slots, op.cond) == 0 {
            return;
        }
        let computed = self.checksum(op);
        let matches = if op.checksum.is_narrow() {
            computed & (u64::MAX >> (64 - op.checksum.width)) == get(self.slots, op.checksum.slot)
        } else {
            self.wide(op.checksum) == Wide::from_words(op.checksum.width, &[computed])
        };
        if !matches && let Some(places) = &code.v1model {
            self.slots[places.checksum_error as usize] = 1;
        }
    }

    #[inline]
    pub(crate) fn update_checksum(&mut self, index: u32) {
        let code = self.code;
        let op = &code.checksums[index as usize];
        if get(self.slots, op.cond) == 0 {
            return;
        }
        let computed = self.checksum(op);
        if op.checksum.is_narrow() {
            let mask = u64::MAX >> (64 - op.checksum.width);
            self.slots[op.checksum.slot as usize] = computed & mask;
        } else {
            self.put_wide(op.checksum, Wide::from_words(64, &[computed]));
        }
    }

    pub(crate) fn call_extern(&mut self, index: u32) {
        let code = self.code;
        match &code.externs[index as usize] {
            ExternOp::MeterExecute { meter, index, color, dst } => {
                let index = get(self.slots, *index);
                let before = color.map_or(COLOR_GREEN, |color| get(self.slots, color));
                let Some(Env { state, packet_length, now, .. }) = self.env.as_deref_mut() else { return };
                let color = state.meter_execute(*meter, index, before, *packet_length, *now);
                if T::ENABLED {
                    self.trace.meter(*meter, index, color, Values(self.slots));
                }
                if let Some(color) = color {
                    self.put_wide(*dst, Wide::from_words(64, &[color]));
                }
            }
            ExternOp::CounterAdd { .. }
            | ExternOp::MeterMeasure { .. }
            | ExternOp::FilterExecute { .. }
            | ExternOp::PlaceWrite { .. }
            | ExternOp::RegisterClear { .. }
            | ExternOp::Math { .. } => self.call_chip(&code.externs[index as usize]),
            ExternOp::RegisterRead { register, index, dst } => {
                self.register_read(*register, get(self.slots, *index), *dst);
            }
            ExternOp::RegisterWrite { register, index, src } => {
                self.register_write(*register, get(self.slots, *index), *src);
            }
            ExternOp::Hash { dst, algorithm, base, data, max } => {
                let hash = self.hash(*algorithm, data);
                self.put_hash(*dst, hash, *base, *max);
            }
            ExternOp::Random { dst, low, high } => self.random(*dst, *low, *high),
            ExternOp::MarkToDrop => {
                let (Some(env), Some(places)) = (self.env.as_ref(), &code.v1model) else { return };
                let port = u64::from(env.state.drop_port());
                self.put_wide(places.egress_spec, Wide::from_words(64, &[port]));
                self.slots[places.mcast_grp as usize] = 0;
                if T::ENABLED {
                    self.trace.mark_to_drop(!self.calls.is_empty());
                }
            }
            op => self.request(op),
        }
    }

    #[inline]
    fn register_read(&mut self, register: RegisterId, index: u64, dst: FrameLocation) {
        if T::ENABLED {
            let words = self.env.as_ref().and_then(|env| env.state.register_words(register, index));
            let value = words.map(|words| Bits::from_words(dst.width, words));
            self.trace.register(register, RegisterAccess { index, writes: false, value }, Values(self.slots));
        }
        let to = dst.value() as usize..(dst.slot + dst.words()) as usize;
        let Some(env) = self.env.as_ref() else { return };
        match env.state.register_words(register, index) {
            Some(words) => self.slots[to].copy_from_slice(words),
            None => self.slots[to].fill(0),
        }
    }

    #[inline]
    fn register_write(&mut self, register: RegisterId, index: u64, src: FrameLocation) {
        if T::ENABLED {
            let cell = self.env.as_ref().and_then(|env| env.state.register_words(register, index));
            let value = cell.map(|_| Bits::from_words(src.width, self.words(src)));
            self.trace.register(register, RegisterAccess { index, writes: true, value }, Values(self.slots));
        }
        let Some(env) = self.env.as_mut() else { return };
        let from = &self.slots[src.value() as usize..(src.slot + src.words()) as usize];
        if let Some(cell) = env.state.register_words_mut(register, index) {
            cell.copy_from_slice(from);
        }
    }

    /// Objects that only TNA has.
    fn call_chip(&mut self, op: &ExternOp) {
        let word = |slots: &[u64], slot: Option<u32>| slot.map_or(0, |slot| get(slots, slot));
        match op {
            ExternOp::CounterAdd { counter, table, index, adjust } => {
                let (index, less) = (get(self.slots, *index), word(self.slots, *adjust));
                let Some(Env { state, packet_length, .. }) = self.env.as_deref_mut() else { return };
                state.counter_add((*counter, *table), index, without(*packet_length, less));
            }
            ExternOp::MeterMeasure { meter, table, index, color, adjust, dst } => {
                let (index, less) = (get(self.slots, *index), word(self.slots, *adjust));
                let before = color.map_or(COLOR_GREEN, |color| get(self.slots, color));
                let Some(Env { state, packet_length, now, .. }) = self.env.as_deref_mut() else { return };
                let length = without(*packet_length, less);
                let color = state.meter_measure((*meter, *table), index, before, length, *now);
                if T::ENABLED {
                    self.trace.meter(*meter, index, color, Values(self.slots));
                }
                if let Some(color) = color {
                    self.put_wide(*dst, Wide::from_words(64, &[color]));
                }
            }
            ExternOp::FilterExecute { filter, index, value, dst } => {
                let (index, value) = (get(self.slots, *index), get(self.slots, *value));
                let Some(Env { state, now, .. }) = self.env.as_deref_mut() else { return };
                self.slots[*dst as usize] = state.filter_execute(*filter, index, value, *now);
            }
            ExternOp::RegisterClear { register, src } => {
                let from = &self.slots[src.value() as usize..(src.slot + src.words()) as usize];
                if let Some(env) = self.env.as_mut() {
                    env.state.register_fill(*register, from);
                }
            }
            ExternOp::PlaceWrite { profile, index, src } => {
                let (index, bit) = (get(self.slots, *index), get(self.slots, src.slot));
                if let Some(env) = self.env.as_deref_mut() {
                    env.state.place_write(*profile, index, bit);
                }
            }
            ExternOp::Math { unit, src, dst } => {
                let value = crate::math_unit::execute(unit, get(self.slots, *src), dst.width);
                self.slots[dst.slot as usize] = value;
            }
            _ => {}
        }
    }

    /// `base + hash mod max`, or `base` when `max` is zero.
    fn put_hash(&mut self, dst: FrameLocation, hash: u64, base: FrameLocation, max: FrameLocation) {
        if dst.is_narrow() && base.is_narrow() && max.is_narrow() {
            let offset = hash.checked_rem(get(self.slots, max.slot)).unwrap_or(0);
            let value = get(self.slots, base.slot).wrapping_add(offset);
            self.slots[dst.slot as usize] = value & (u64::MAX >> (64 - dst.width));
            return;
        }
        let width = dst.width.max(base.width).max(max.width).max(64);
        let max = self.wide(max).resize(width, false);
        let offset = Wide::from_words(width, &[hash]).div_rem(&max).1;
        let value = self.wide(base).resize(width, false).add(&offset);
        self.put_wide(dst, value);
    }

    /// A number between `low` and `high`, both included; `low` when `high` lies below it.
    fn random(&mut self, dst: FrameLocation, low: FrameLocation, high: FrameLocation) {
        if let (1..=64, false) = (low.width, low.varbit) {
            return self.random_word(dst, low, high);
        }
        let (low, high) = (self.wide(low), self.wide(high));
        let Some(env) = self.env.as_mut() else { return };
        let mut random = Wide::zero(low.width);
        let used = random.used().len();
        random.words[..used].fill_with(|| env.random.next_u64());
        let random = random.resize(low.width, false);
        if high.less(&low) {
            return self.put_wide(dst, low);
        }
        let one = Wide::from_words(low.width, &[1]);
        let count = high.sub(&low).add(&one);
        // All values are wanted when the count wraps to zero.
        let offset = if count.is_zero() { random } else { random.div_rem(&count).1 };
        self.put_wide(dst, low.add(&offset));
    }

    /// The same for values of one word, which nearly all are.
    fn random_word(&mut self, dst: FrameLocation, low: FrameLocation, high: FrameLocation) {
        let mask = u64::MAX >> (64 - low.width);
        let (low, high) = (get(self.slots, low.slot), get(self.slots, high.slot));
        let Some(env) = self.env.as_mut() else { return };
        let random = env.random.next_u64() & mask;
        let count = high.wrapping_sub(low).wrapping_add(1) & mask;
        // No values are wanted when the bounds cross, all when the count wraps to zero.
        let offset = match count {
            _ if high < low => 0,
            0 => random,
            count => random % count,
        };
        self.slots[dst.slot as usize] = low.wrapping_add(offset) & mask;
    }

    /// What the architecture does after the run.
    fn request(&mut self, op: &ExternOp) {
        let word = |slot: u32| low_u32(get(self.slots, slot));
        let bits = |&field: &FrameLocation| {
            let value = self.wide(field);
            Bits::from_words(value.width, value.used())
        };
        match op {
            ExternOp::Digest { digest, fields } => {
                let values = fields.iter().map(bits).collect();
                self.effect(|effects| {
                    effects.digests.push(DigestMessage { digest: *digest, values, pipe: 0 })
                });
            }
            ExternOp::Clone { kind, session, field_list } => {
                let field_list = field_list.map(word);
                let request = CloneRequest { kind: *kind, session: word(*session), field_list };
                self.effect(|effects| effects.clones.push(request));
            }
            ExternOp::Resubmit { field_list } => {
                let list = word(*field_list);
                self.effect(|effects| effects.resubmit = Some(list));
            }
            ExternOp::Recirculate { field_list } => {
                let list = word(*field_list);
                self.effect(|effects| effects.recirculate = Some(list));
            }
            ExternOp::Truncate { bytes } => {
                let bytes = word(*bytes);
                self.effect(|effects| effects.truncate = Some(bytes));
            }
            ExternOp::LogMsg { format, args }
                if self.env.as_ref().is_some_and(|env| env.effects.keep_logs) =>
            {
                let line = format_log(format, args.iter().map(bits));
                self.effect(|effects| effects.logs.push(line));
            }
            ExternOp::Assert { cond, place } if get(self.slots, *cond) == 0 => {
                self.effect(|effects| effects.assertion_failures.push(place.to_string()));
            }
            _ => {}
        }
    }

    fn effect(&mut self, f: impl FnOnce(&mut crate::Effects)) {
        if let Some(env) = self.env.as_mut() {
            f(env.effects.request());
        }
    }
}

/// Each `{}` is replaced by the next argument in decimal, or in hexadecimal past 128 bits.
fn format_log(format: &str, mut args: impl Iterator<Item = Bits>) -> String {
    let mut line = String::new();
    let mut rest = format;
    while let Some(at) = rest.find("{}") {
        line.push_str(&rest[..at]);
        match args.next() {
            Some(value) => match value.to_u128() {
                Some(number) => line.push_str(&number.to_string()),
                None => line.push_str(&value.to_string()),
            },
            None => line.push_str("{}"),
        }
        rest = &rest[at + 2..];
    }
    line.push_str(rest);
    line
}
