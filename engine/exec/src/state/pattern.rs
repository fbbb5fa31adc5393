//! From match values to packed patterns: the same packing as the machine's key plan.

use p4cc_ir::{Bits, MatchValue, Program, Table, VarType};

use super::index::{Pattern, RangeCheck, WideRangeCheck};
use super::validate::{match_keys, prefix_mask};

/// Where one key field lies in the packed key.
#[derive(Clone, Copy, Debug)]
struct Field {
    first: u32,
    shift: u8,
    width: u32,
}

/// How a list of keys packs: fields share a word as long as they fit, a field wider than a word has its own words.
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
                MatchValue::Range { low, high } if field.width <= 64 => ranges.push(RangeCheck {
                    word: field.first,
                    shift: field.shift,
                    mask: u64::MAX >> (64 - field.width),
                    low: low.low_u64(),
                    high: high.low_u64(),
                }),
                MatchValue::Range { low, high } => wide_ranges.push(WideRangeCheck {
                    first: field.first,
                    low: low.words().into(),
                    high: high.words().into(),
                }),
            }
        }
        let (value, mask) = (value.into(), mask.into());
        Pattern { value, mask, ranges: ranges.into(), wide_ranges: wide_ranges.into() }
    }
}
