//! Hexadecimal strings of any length, signed, as values of a width.

use p4cc_ir::{Bits, bits::words_for, limits};

/// An integer of a hexadecimal string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Number {
    /// Two's complement if `negative`, in exactly the bits it needs.
    pub bits: Bits,
    pub negative: bool,
}

impl Number {
    /// Reads `0x1f`, `1f` or `-0x1f`; `None` when it is not one or needs more than `MAX_WIDTH` bits.
    pub fn parse(text: &str) -> Option<Self> {
        let (minus, rest) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let digits = rest.strip_prefix("0x").or_else(|| rest.strip_prefix("0X")).unwrap_or(rest);
        if digits.is_empty() {
            return None;
        }
        let digits = digits.as_bytes();
        let leading = digits.iter().take_while(|&&digit| digit == b'0').count();
        let digits = &digits[leading..];
        if digits.len() > limits::MAX_WIDTH as usize / 4 {
            return None;
        }
        let mut words = vec![0_u64; words_for(limits::MAX_WIDTH)];
        for (at, &digit) in digits.iter().rev().enumerate() {
            let value = char::from(digit).to_digit(16)?;
            words[at / 16] |= u64::from(value) << (4 * (at % 16));
        }
        let length = bit_length(&words);
        if minus && length > 0 {
            if length >= limits::MAX_WIDTH {
                return None;
            }
            // A power of two is the least number of its bits.
            let is_power = words.iter().map(|word| word.count_ones()).sum::<u32>() == 1;
            let width = if is_power { length } else { length + 1 };
            return Some(Self { bits: negated(&words, width), negative: true });
        }
        Some(Self { bits: Bits::from_words(length.max(1), &words), negative: false })
    }

    /// The low `width` bits.
    pub fn low(&self, width: u32) -> Bits {
        resized(&self.bits, self.negative, width)
    }

    /// The value with `width` bits, if it fits: from `-2^(width-1)` to `2^width - 1`.
    pub fn exactly(&self, width: u32) -> Option<Bits> {
        (self.bits.width() <= width || self.bits.is_zero()).then(|| self.low(width))
    }

    /// The value, if it fits.
    pub fn to_u32(&self) -> Option<u32> {
        (!self.negative).then(|| self.bits.to_u128()).flatten().and_then(|value| u32::try_from(value).ok())
    }
}

fn bit_length(words: &[u64]) -> u32 {
    let top = words.iter().rposition(|&word| word != 0);
    top.map_or(0, |top| 64 * top as u32 + 64 - words[top].leading_zeros())
}

fn negated(words: &[u64], width: u32) -> Bits {
    let mut carry = true;
    let words: Vec<u64> = words
        .iter()
        .map(|&word| {
            let (sum, over) = (!word).overflowing_add(u64::from(carry));
            carry = over;
            sum
        })
        .collect();
    Bits::from_words(width, &words)
}

/// A value of another width: truncated, or extended by its sign or zeros.
pub(super) fn resized(bits: &Bits, signed: bool, width: u32) -> Bits {
    let from = bits.width();
    let top = bits.words().get((from as usize - 1) / 64).copied().unwrap_or(0);
    if !signed || width <= from || top >> ((from - 1) % 64) & 1 == 0 {
        return Bits::from_words(width, bits.words());
    }
    let mut words = bits.words().to_vec();
    if !from.is_multiple_of(64)
        && let Some(last) = words.last_mut()
    {
        *last |= u64::MAX << (from % 64);
    }
    words.resize(words_for(width), u64::MAX);
    Bits::from_words(width, &words)
}

/// All bits set.
pub(super) fn ones(width: u32) -> Bits {
    Bits::from_words(width, &vec![u64::MAX; words_for(width)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Option<String> {
        Number::parse(text).map(|number| number.bits.to_string())
    }

    #[test]
    fn numbers_take_the_bits_they_need() {
        assert_eq!(shown("0x00ff").as_deref(), Some("8w0xff"));
        assert_eq!(shown("0x0").as_deref(), Some("1w0x0"));
        assert_eq!(shown("-0x1").as_deref(), Some("1w0x1"));
        assert_eq!(shown("-0x80").as_deref(), Some("8w0x80"));
        assert_eq!(shown("-0x81").as_deref(), Some("9w0x17f"));
        for bad in ["", "0x", "-", "0xg", "é"] {
            assert_eq!(shown(bad), None, "{bad}");
        }
        assert_eq!(shown(&"f".repeat(513)), None);
        assert!(shown(&format!("0x{}{}", "0".repeat(9_999), "f".repeat(512))).is_some());
    }

    #[test]
    fn negative_numbers_extend_by_their_sign() {
        let number = Number::parse("-0x2").map(|number| number.low(130).to_be_bytes());
        let mut want = vec![0xff; 17];
        want[0] = 3;
        want[16] = 0xfe;
        assert_eq!(number, Some(want));
        assert_eq!(Number::parse("0x100").and_then(|number| number.exactly(8)), None);
        assert_eq!(Number::parse("0xff").and_then(|number| number.exactly(8)), Some(ones(8)));
    }
}
