//! Packed patterns of match values, in the packing of the interpreter's key plan.

use p4cc_ir::{Bits, MatchValue, Program, Table, VarType};

use super::validate::{match_keys, prefix_mask};

/// An entry's packed match: value and mask words, and the ranges that masks cannot say.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pattern {
    /// Wanted bits, zero outside the mask.
    pub value: Box<[u64]>,
    /// Bits that matter.
    pub mask: Box<[u64]>,
    pub ranges: Ranges,
}

/// Ranges over parts of a key.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges {
    /// Of fields within one word.
    narrow: Box<[Range]>,
    /// Of wider fields.
    wide: Box<[WideRange]>,
}

/// A range over part of one key word. One of signed numbers whose low end is negative and high end is not has
/// `low > high` here: it goes on from the largest number at zero.
#[derive(Clone, Copy, Debug)]
struct Range {
    word: u32,
    shift: u8,
    mask: u64,
    low: u64,
    high: u64,
}

/// A range over several whole key words, lowest first; `low > high` as in [`Range`].
#[derive(Clone, Debug)]
struct WideRange {
    first: u32,
    low: Box<[u64]>,
    high: Box<[u64]>,
}

/// Ranges of one entry that are cut in two for [`Pattern::blocks`]; each doubles the blocks.
const MAX_CUTS: usize = 2;

impl Pattern {
    pub fn matches(&self, key: &[u64]) -> bool {
        let masked = key.iter().zip(&self.mask).zip(&self.value);
        masked.into_iter().all(|((key, mask), value)| key & mask == *value) && self.ranges.matches(key)
    }

    /// Calls `f` with the value and the mask of disjoint blocks that hold every key that matches.
    ///
    /// A range is cut where its ends first differ. Each half then starts or ends with a block of twice its
    /// size at most, so that for one range at least every second key of a block matches.
    pub fn blocks(&self, mut f: impl FnMut(&[u64], &[u64])) {
        if self.ranges.narrow.is_empty() {
            return f(&self.value, &self.mask);
        }
        cut(&self.ranges.narrow, MAX_CUTS, &mut self.value.clone(), &mut self.mask.clone(), &mut f);
    }
}

fn cut(
    ranges: &[Range],
    cuts: usize,
    value: &mut [u64],
    mask: &mut [u64],
    f: &mut impl FnMut(&[u64], &[u64]),
) {
    let Some((range, rest)) = ranges.split_first() else { return f(value, mask) };
    let (word, field) = (range.word as usize, range.mask << range.shift);
    for (wanted, cared) in range.blocks(cuts > 0).into_iter().flatten() {
        value[word] = value[word] & !field | wanted << range.shift;
        mask[word] = mask[word] & !field | cared << range.shift;
        cut(rest, cuts.saturating_sub(1), value, mask, f);
    }
    value[word] &= !field;
    mask[word] &= !field;
}

impl Ranges {
    pub fn is_empty(&self) -> bool {
        self.narrow.is_empty() && self.wide.is_empty()
    }

    pub fn matches(&self, key: &[u64]) -> bool {
        self.narrow.iter().all(|range| range.matches(key)) && self.wide.iter().all(|range| range.matches(key))
    }
}

impl Range {
    fn matches(&self, key: &[u64]) -> bool {
        let word = key.get(self.word as usize).copied().unwrap_or(0);
        let value = word >> self.shift & self.mask;
        let (above, below) = (value >= self.low, value <= self.high);
        if self.low <= self.high { above && below } else { above || below }
    }

    /// The smallest block, as value and mask, that holds all from `low` to `high`.
    fn cover(&self, low: u64, high: u64) -> (u64, u64) {
        let below = u64::MAX.checked_shr((low ^ high).leading_zeros()).unwrap_or(0);
        let mask = self.mask & !below;
        (low & mask, mask)
    }

    /// One block, or two where the range does not fill it.
    fn blocks(&self, cut: bool) -> [Option<(u64, u64)>; 2] {
        if self.low > self.high {
            return [Some((0, 0)), None];
        }
        let whole = self.cover(self.low, self.high);
        let full = (self.low, self.high) == (whole.0, whole.0 | self.mask & !whole.1);
        if full || !cut {
            return [Some(whole), None];
        }
        // Not full, so the ends differ; the upper one has this bit.
        let top = u64::BITS - 1 - (self.low ^ self.high).leading_zeros();
        let middle = self.high >> top << top;
        [Some(self.cover(self.low, middle - 1)), Some(self.cover(middle, self.high))]
    }
}

impl WideRange {
    fn matches(&self, key: &[u64]) -> bool {
        let first = self.first as usize;
        let key = key.get(first..first + self.low.len()).unwrap_or_default();
        let above = !key.iter().rev().lt(self.low.iter().rev());
        let below = !self.high.iter().rev().lt(key.iter().rev());
        let wraps = self.high.iter().rev().lt(self.low.iter().rev());
        if wraps { above || below } else { above && below }
    }
}

/// Where one key field lies in the packed key.
#[derive(Clone, Copy, Debug)]
struct Field {
    first: u32,
    shift: u8,
    width: u32,
}

/// How a list of keys packs: fields share a word as long as
/// they fit, a field wider than a word has its own words.
#[derive(Clone, Debug)]
pub(crate) struct KeyShape {
    fields: Vec<Field>,
    /// Words in all.
    pub words: u32,
    /// Bits in all.
    pub bits: u32,
}

impl KeyShape {
    /// Packing of a table's match keys.
    pub fn new(program: &Program, table: &Table) -> Self {
        Self::of_widths(match_keys(table).map(|key| program.vars[key.var.index()].ty.width()))
    }

    /// Each field in words of its own, as value sets compare.
    pub fn unpacked<'a>(types: impl Iterator<Item = &'a VarType>) -> Self {
        let mut shape = Self { fields: Vec::new(), words: 0, bits: 0 };
        for ty in types {
            shape.fields.push(Field { first: shape.words, shift: 0, width: ty.width() });
            shape.words += ty.width().div_ceil(64);
            shape.bits += ty.width();
        }
        shape
    }

    pub fn of_widths(widths: impl Iterator<Item = u32>) -> Self {
        let mut shape = Self { fields: Vec::new(), words: 0, bits: 0 };
        let mut free = 0;
        for width in widths {
            if width <= free {
                shape.fields.push(Field { first: shape.words - 1, shift: (64 - free) as u8, width });
                free -= width;
            } else {
                shape.fields.push(Field { first: shape.words, shift: 0, width });
                shape.words += width.div_ceil(64);
                free = 64u32.saturating_sub(width);
            }
            shape.bits += width;
        }
        shape
    }

    /// `(first word, left shift, width)` of each field.
    pub fn places(&self) -> impl Iterator<Item = (u32, u8, u32)> {
        self.fields.iter().map(|field| (field.first, field.shift, field.width))
    }

    /// Packs validated match values.
    pub fn pattern(&self, matches: &[MatchValue]) -> Pattern {
        let mut value = vec![0; self.words as usize];
        let mut mask = vec![0; self.words as usize];
        let (mut ranges, mut wide_ranges) = (Vec::new(), Vec::new());
        for (field, wanted) in self.fields.iter().zip(matches) {
            let put = |to: &mut Vec<u64>, bits: &Bits| {
                for (word, bits) in to[field.first as usize..].iter_mut().zip(bits.words()) {
                    *word |= bits << field.shift;
                }
            };
            match wanted {
                MatchValue::Any => {}
                MatchValue::Exact(bits) => {
                    put(&mut value, bits);
                    put(&mut mask, &prefix_mask(field.width, field.width));
                }
                MatchValue::Lpm { value: bits, len } => {
                    put(&mut value, bits);
                    put(&mut mask, &prefix_mask(field.width, *len));
                }
                MatchValue::Ternary { value: bits, mask: cared } => {
                    put(&mut value, bits);
                    put(&mut mask, cared);
                }
                MatchValue::Range { low, high } if field.width <= 64 => ranges.push(Range {
                    word: field.first,
                    shift: field.shift,
                    mask: u64::MAX >> (64 - field.width),
                    low: low.low_u64(),
                    high: high.low_u64(),
                }),
                MatchValue::Range { low, high } => wide_ranges.push(WideRange {
                    first: field.first,
                    low: low.words().into(),
                    high: high.words().into(),
                }),
            }
        }
        let (value, mask) = (value.into(), mask.into());
        Pattern { value, mask, ranges: Ranges { narrow: ranges.into(), wide: wide_ranges.into() } }
    }
}
