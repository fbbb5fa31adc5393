//! Unsigned values of any width.

use smallvec::{SmallVec, smallvec};

/// A value of exactly `width` bits, as little-endian 64-bit words; bits past the width are zero.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Bits {
    width: u32,
    words: SmallVec<[u64; 2]>,
}

/// Words that a value of `width` bits takes.
pub const fn words_for(width: u32) -> usize {
    width.div_ceil(64) as usize
}

impl Bits {
    /// Zero.
    pub fn zero(width: u32) -> Self {
        Self { width, words: smallvec![0; words_for(width)] }
    }

    /// The low `width` bits of `value`.
    pub fn from_u128(width: u32, value: u128) -> Self {
        Self::from_words(width, &[value as u64, (value >> 64) as u64])
    }

    /// The low `width` bits of little-endian words; missing words are zero.
    pub fn from_words(width: u32, words: &[u64]) -> Self {
        let mut bits = Self::zero(width);
        for (to, from) in bits.words.iter_mut().zip(words) {
            *to = *from;
        }
        bits.mask();
        bits
    }

    /// The low `width` bits of a big-endian byte string.
    pub fn from_be_bytes(width: u32, bytes: &[u8]) -> Self {
        let mut bits = Self::zero(width);
        for (i, byte) in bits_from_low(bytes) {
            if let Some(word) = bits.words.get_mut(i / 8) {
                *word |= u64::from(byte) << (8 * (i % 8));
            }
        }
        bits.mask();
        bits
    }

    /// `self[lo + width - 1 : lo]`; bits past the end are zero.
    pub fn slice(&self, lo: u32, width: u32) -> Self {
        let (first, shift) = ((lo / 64) as usize, lo % 64);
        let word = |at: usize| self.words().get(at).copied().unwrap_or(0);
        let words: Vec<u64> = (0..words_for(width))
            .map(|at| {
                let high = if shift == 0 { 0 } else { word(first + at + 1) << (64 - shift) };
                word(first + at) >> shift | high
            })
            .collect();
        Self::from_words(width, &words)
    }

    /// `self ++ low`
    pub fn concat(&self, low: &Self) -> Self {
        let (first, shift) = ((low.width() / 64) as usize, low.width() % 64);
        let width = self.width() + low.width();
        let mut words = low.words().to_vec();
        words.resize(words_for(width) + 1, 0);
        for (at, &word) in self.words().iter().enumerate() {
            words[first + at] |= word << shift;
            if shift != 0 {
                words[first + at + 1] |= word >> (64 - shift);
            }
        }
        Self::from_words(width, &words)
    }

    /// Big-endian bytes, `ceil(width / 8)` of them.
    pub fn to_be_bytes(&self) -> Vec<u8> {
        let len = self.width.div_ceil(8) as usize;
        (0..len).rev().map(|i| (self.words[i / 8] >> (8 * (i % 8))) as u8).collect()
    }

    /// Width in bits.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Little-endian words.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// The value, if it fits 128 bits.
    pub fn to_u128(&self) -> Option<u128> {
        if self.words.iter().skip(2).any(|&w| w != 0) {
            return None;
        }
        let word = |i: usize| u128::from(self.words.get(i).copied().unwrap_or(0));
        Some(word(0) | word(1) << 64)
    }

    /// The low 64 bits.
    pub fn low_u64(&self) -> u64 {
        self.words.first().copied().unwrap_or(0)
    }

    /// Whether all bits are zero.
    pub fn is_zero(&self) -> bool {
        self.words.iter().all(|&w| w == 0)
    }

    fn mask(&mut self) {
        let used = self.width % 64;
        if used != 0
            && let Some(last) = self.words.last_mut()
        {
            *last &= (1 << used) - 1;
        }
    }
}

/// Bytes with their place counted from the low end.
fn bits_from_low(bytes: &[u8]) -> impl Iterator<Item = (usize, u8)> + '_ {
    bytes.iter().rev().copied().enumerate()
}

impl core::fmt::Display for Bits {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self.to_u128() {
            Some(value) => write!(f, "{}w{value:#x}", self.width),
            None => {
                write!(f, "{}w0x", self.width)?;
                self.to_be_bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_round_trip_and_are_masked() {
        let bits = Bits::from_be_bytes(12, &[0xff, 0xab, 0xcd]);
        assert_eq!(bits.to_u128(), Some(0xbcd));
        assert_eq!(bits.to_be_bytes(), [0x0b, 0xcd]);
        let wide = Bits::from_be_bytes(136, &[7; 17]);
        assert_eq!(wide.to_be_bytes(), [7; 17]);
        assert_eq!(wide.to_u128(), None);
    }

    #[test]
    fn slices_and_concatenations_undo_each_other() {
        for (high, low) in [(8, 8), (64, 64), (70, 3), (3, 70), (128, 65)] {
            let a = Bits::from_words(high, &[0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210]);
            let b = Bits::from_words(low, &[0x1122_3344_5566_7788, 0x99aa_bbcc_ddee_ff00]);
            let joined = a.concat(&b);
            assert_eq!(joined.width(), high + low);
            assert_eq!(joined.slice(low, high), a);
            assert_eq!(joined.slice(0, low), b);
        }
    }
}
