//! The interpreter's slow path: wide values, header comparison, stacks, value sets, selects of any width.

use super::{Run, get};
use crate::env::Trace;
use crate::frame_layout::FrameLocation;
use crate::op::{SlowKeyset, SlowOp, WideKind};
use crate::wide::{self, Wide};

/// The element that an index word names.
fn element(elements: &[u32], index: u64) -> Option<u32> {
    usize::try_from(index).ok().and_then(|index| elements.get(index)).copied()
}

impl<T: Trace> Run<'_, '_, '_, T> {
    /// Words of a value.
    pub(crate) fn words(&self, place: FrameLocation) -> &[u64] {
        &self.slots[place.value() as usize..(place.slot + place.words()) as usize]
    }

    /// A value of any width; a varbit as wide as it is long.
    pub(crate) fn wide(&self, place: FrameLocation) -> Wide {
        let width = if place.varbit { get(self.slots, place.slot) as u32 } else { place.width };
        Wide::from_words(width, self.words(place))
    }

    /// Writes a value, cut to the place's width.
    pub(crate) fn put_wide(&mut self, place: FrameLocation, value: Wide) {
        let value = value.resize(place.width, false);
        let to = &mut self.slots[place.value() as usize..(place.slot + place.words()) as usize];
        let words = to.len();
        to.copy_from_slice(&value.words[..words]);
    }

    fn put_word(&mut self, slot: u32, value: bool) {
        self.slots[slot as usize] = u64::from(value);
    }

    fn range(slot: u32, words: u32) -> core::ops::Range<usize> {
        slot as usize..(slot + words) as usize
    }

    pub(crate) fn slow(&mut self, index: u32) -> Result<(), u32> {
        let code = self.code;
        match &code.slow[index as usize] {
            SlowOp::Wide { kind, dst, a, b } => self.wide_op(*kind, *dst, *a, *b),
            SlowOp::EqWords { dst, a, b, words, negate } => {
                let equal = self.slots[Self::range(*a, *words)] == self.slots[Self::range(*b, *words)];
                self.put_word(*dst, equal != *negate);
            }
            SlowOp::CopyHeader { dst, src, words } => {
                let words = if get(self.slots, *src) == 0 { 1 } else { *words };
                self.slots.copy_within(Self::range(*src, words), *dst as usize);
            }
            SlowOp::ClearRivals { header } => {
                let header = &code.headers[*header as usize];
                if get(self.slots, header.valid) != 0 {
                    header.rivals.iter().for_each(|&rival| self.slots[rival as usize] = 0);
                }
            }
            SlowOp::AnyWord { dst, of } => {
                let any = of.iter().any(|&slot| get(self.slots, slot) != 0);
                self.put_word(*dst, any);
            }
            SlowOp::HeaderEq { dst, a, b, words } => {
                let (valid_a, valid_b) = (get(self.slots, *a), get(self.slots, *b));
                let fields = self.slots[Self::range(*a, *words)] == self.slots[Self::range(*b, *words)];
                self.put_word(*dst, valid_a == valid_b && (valid_a == 0 || fields));
            }
            SlowOp::ExtractVar { header, varbit_bits } => {
                return self.extract_var(*header, get(self.slots, *varbit_bits));
            }
            SlowOp::ExtractNext { next, elements, varbit_bits } => {
                return self.extract_next(*next, elements, *varbit_bits);
            }
            SlowOp::LookaheadWide { dst } => return self.lookahead_wide(*dst),
            SlowOp::ValueSetMatch { dst, set, keys } => {
                let hit = self.env.as_ref().is_some_and(|env| {
                    let word = |key: &FrameLocation| &self.slots[Self::range(key.slot, key.words())];
                    env.state.value_set_matches(*set, keys.iter().map(word))
                });
                self.put_word(*dst, hit);
            }
            op => self.stack_op(op),
        }
        Ok(())
    }

    fn stack_op(&mut self, op: &SlowOp) {
        match op {
            SlowOp::StackLoad { dst, index, words, elements } => {
                match element(elements, get(self.slots, *index)) {
                    Some(src) => self.slots.copy_within(Self::range(src, *words), *dst as usize),
                    None => self.slots[Self::range(*dst, *words)].fill(0),
                }
            }
            SlowOp::StackStore { src, index, words, elements } => {
                if let Some(dst) = element(elements, get(self.slots, *index)) {
                    self.slots.copy_within(Self::range(*src, *words), dst as usize);
                }
            }
            SlowOp::StackIsValid { dst, index, elements } => {
                let valid = element(elements, get(self.slots, *index));
                let valid = valid.is_some_and(|slot| get(self.slots, slot) != 0);
                self.put_word(*dst, valid);
            }
            SlowOp::StackSetValid { index, valid, elements } => {
                match element(elements, get(self.slots, *index)) {
                    Some(header) if *valid => self.set_valid(header),
                    Some(header) => self.set_invalid(header),
                    None => {}
                }
            }
            SlowOp::StackShift { next, words, elements, count, push } => {
                self.stack_shift(*next, *words, elements, *count, *push);
            }
            _ => {}
        }
    }

    /// `setValid()`: a header that was invalid starts with zeros (BMv2).
    pub(crate) fn set_valid(&mut self, header: u32) {
        let plan = &self.code.headers[header as usize];
        if get(self.slots, plan.valid) == 0 {
            self.slots[Self::range(plan.valid, plan.words)].fill(0);
            self.slots[plan.valid as usize] = 1;
            self.count_length(header, u64::wrapping_add);
        }
    }

    /// `setInvalid()`
    pub(crate) fn set_invalid(&mut self, header: u32) {
        let valid = self.code.headers[header as usize].valid;
        if get(self.slots, valid) != 0 {
            self.count_length(header, u64::wrapping_sub);
            self.slots[valid as usize] = 0;
        }
    }

    /// Adds a header's bytes to the packet's length as egress sees it, or takes them away.
    fn count_length(&mut self, header: u32, change: impl Fn(u64, u64) -> u64) {
        let plan = &self.code.headers[header as usize];
        let tail = plan.tail.as_ref();
        let tail = tail.map_or(0, |(varbit, rest)| get(self.slots, varbit.slot) + u64::from(rest.bits));
        let bytes = (u64::from(plan.plan.bits) + tail) / 8;
        let delta = &mut self.slots[self.code.layout.length_delta as usize];
        *delta = change(*delta, bytes);
    }

    /// `push_front` and `pop_front` (P4-16 8.18): elements
    /// move, what comes in is invalid, the next index follows.
    fn stack_shift(&mut self, next: u32, words: u32, elements: &[u32], count: u32, push: bool) {
        let size = elements.len();
        let count = (count as usize).min(size);
        for step in 0..size {
            let to = if push { size - 1 - step } else { step };
            let from = if push { to.checked_sub(count) } else { Some(to + count) };
            match from.and_then(|from| elements.get(from)) {
                Some(&src) => self.slots.copy_within(Self::range(src, words), elements[to] as usize),
                None => self.slots[elements[to] as usize] = 0,
            }
        }
        let index = get(self.slots, next);
        self.slots[next as usize] =
            if push { (index + count as u64).min(size as u64) } else { index.saturating_sub(count as u64) };
    }

    fn wide_op(&mut self, kind: WideKind, dst: FrameLocation, a: FrameLocation, b: FrameLocation) {
        let left = self.wide(a);
        let result = match kind {
            WideKind::Not => left.not(),
            WideKind::Neg => left.neg(),
            WideKind::Binary(op) => wide::binary(op, left, &self.wide(b)),
            WideKind::Resize { signed } => left.resize(dst.width, signed),
            WideKind::Concat => left.concat(&self.wide(b)),
            WideKind::Slice { lo } => left.shr(u64::from(lo)),
            WideKind::SetSlice { lo } => self.wide(dst).set_slice(lo, &left),
            WideKind::Narrow => Wide::from_words(64, &[left.saturated_u64()]),
        };
        self.put_wide(dst, result);
    }

    pub(crate) fn select_slow(&self, index: u32) -> Option<u32> {
        let select = &self.code.slow_selects[index as usize];
        let matches = |sets: &[SlowKeyset]| {
            select.keys.iter().zip(sets).all(|(&key, set)| self.keyset_matches(key, *set))
        };
        let hit = select.cases.iter().find(|(sets, _)| matches(sets));
        hit.map(|case| case.1).or(select.default)
    }

    fn keyset_matches(&self, key: FrameLocation, set: SlowKeyset) -> bool {
        match set {
            SlowKeyset::Any => true,
            SlowKeyset::Mask { value, mask } => {
                let (value, mask) = (self.words(value), self.words(mask));
                let pairs = value.iter().zip(mask);
                self.words(key).iter().zip(pairs).all(|(key, (value, mask))| (key ^ value) & mask == 0)
            }
            SlowKeyset::Range { low, high, signed } => {
                let key = self.wide(key);
                !key.less_as(&self.wide(low), signed) && !self.wide(high).less_as(&key, signed)
            }
        }
    }
}
