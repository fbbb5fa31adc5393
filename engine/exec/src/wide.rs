//! Arithmetic on values of up to [`p4cc_ir::limits::MAX_WIDTH`] bits: the interpreter's slow path.
//!
//! Values are little-endian words, masked to their width. Nothing allocates.

use p4cc_ir::BinOp;
use p4cc_ir::bits::words_for;
use p4cc_ir::limits::MAX_WIDTH;

/// Words of the widest value.
const WORDS: usize = words_for(MAX_WIDTH);

/// A value of `width` bits; words past the width are zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wide {
    pub words: [u64; WORDS],
    pub width: u32,
}

impl Wide {
    pub fn zero(width: u32) -> Self {
        Self { words: [0; WORDS], width: width.min(MAX_WIDTH) }
    }

    /// Little-endian words, masked to the width.
    pub fn from_words(width: u32, words: &[u64]) -> Self {
        let mut value = Self::zero(width);
        for (to, from) in value.words.iter_mut().zip(words) {
            *to = *from;
        }
        value.masked()
    }

    fn ones(width: u32) -> Self {
        Self { words: [u64::MAX; WORDS], width: width.min(MAX_WIDTH) }.masked()
    }

    /// Words in use.
    pub fn used(&self) -> &[u64] {
        &self.words[..words_for(self.width)]
    }

    fn masked(mut self) -> Self {
        let whole = (self.width / 64) as usize;
        let rest = self.width % 64;
        for (i, word) in self.words.iter_mut().enumerate() {
            if i > whole || (i == whole && rest == 0) {
                *word = 0;
            } else if i == whole {
                *word &= (1 << rest) - 1;
            }
        }
        self
    }

    /// Bit `i`, false past the width.
    fn bit(&self, i: u32) -> bool {
        self.words.get((i / 64) as usize).is_some_and(|word| word >> (i % 64) & 1 == 1)
    }

    fn sign(&self) -> bool {
        self.width > 0 && self.bit(self.width - 1)
    }

    pub fn is_zero(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    fn map(self, other: &Self, f: impl Fn(u64, u64) -> u64) -> Self {
        let mut words = self.words;
        for (word, &with) in words.iter_mut().zip(&other.words) {
            *word = f(*word, with);
        }
        Self { words, width: self.width }.masked()
    }

    pub fn not(self) -> Self {
        self.map(&Self::ones(self.width), |a, b| a ^ b)
    }

    pub fn neg(self) -> Self {
        Self::zero(self.width).sub(&self)
    }

    /// Wrapping sum.
    pub fn add(mut self, other: &Self) -> Self {
        let mut carry = false;
        for (word, &with) in self.words.iter_mut().zip(&other.words) {
            let (sum, first) = word.overflowing_add(with);
            let (sum, second) = sum.overflowing_add(u64::from(carry));
            *word = sum;
            carry = first || second;
        }
        self.masked()
    }

    /// Wrapping difference.
    pub fn sub(mut self, other: &Self) -> Self {
        let mut borrow = false;
        for (word, &with) in self.words.iter_mut().zip(&other.words) {
            let (difference, first) = word.overflowing_sub(with);
            let (difference, second) = difference.overflowing_sub(u64::from(borrow));
            *word = difference;
            borrow = first || second;
        }
        self.masked()
    }

    /// Wrapping product.
    fn mul(self, other: &Self) -> Self {
        let mut product = Self::zero(self.width);
        let used = words_for(self.width);
        for i in 0..used {
            let mut carry = 0u128;
            for j in 0..used - i {
                let term = u128::from(self.words[i]) * u128::from(other.words[j]);
                let sum = term + u128::from(product.words[i + j]) + carry;
                product.words[i + j] = sum as u64;
                carry = sum >> 64;
            }
        }
        product.masked()
    }

    /// Quotient and remainder, both zero for a zero divisor.
    pub fn div_rem(self, divisor: &Self) -> (Self, Self) {
        let mut quotient = Self::zero(self.width);
        let mut rest = Self::zero(self.width);
        if divisor.is_zero() {
            return (quotient, rest);
        }
        for i in (0..self.width).rev() {
            // The bit that the shift drops still counts: a remainder with it is above any divisor.
            let dropped = rest.sign();
            rest = rest.shl(1);
            rest.words[0] |= u64::from(self.bit(i));
            if dropped || !rest.less(divisor) {
                rest = rest.sub(divisor);
                quotient.words[(i / 64) as usize] |= 1 << (i % 64);
            }
        }
        (quotient, rest)
    }

    pub fn shl(self, amount: u64) -> Self {
        let mut result = Self::zero(self.width);
        if amount >= u64::from(self.width) {
            return result;
        }
        let (whole, part) = ((amount / 64) as usize, amount % 64);
        for i in whole..WORDS {
            let low = if part > 0 && i > whole { self.words[i - whole - 1] >> (64 - part) } else { 0 };
            result.words[i] = self.words[i - whole] << part | low;
        }
        result.masked()
    }

    pub fn shr(self, amount: u64) -> Self {
        let mut result = Self::zero(self.width);
        if amount >= u64::from(self.width) {
            return result;
        }
        let (whole, part) = ((amount / 64) as usize, amount % 64);
        for i in 0..WORDS - whole {
            let above = self.words.get(i + whole + 1).copied().unwrap_or(0);
            let high = if part > 0 { above << (64 - part) } else { 0 };
            result.words[i] = self.words[i + whole] >> part | high;
        }
        result
    }

    fn shr_signed(self, amount: u64) -> Self {
        if self.sign() { self.not().shr(amount).not() } else { self.shr(amount) }
    }

    /// Unsigned comparison.
    pub fn less(&self, other: &Self) -> bool {
        self.words.iter().rev().lt(other.words.iter().rev())
    }

    /// Comparison, signed or not.
    pub fn less_as(&self, other: &Self, signed: bool) -> bool {
        if signed && self.sign() != other.sign() { self.sign() } else { self.less(other) }
    }

    /// Truncated, zero-extended or sign-extended.
    pub fn resize(self, width: u32, signed: bool) -> Self {
        let fill = signed && self.sign() && width > self.width;
        let value = Self { words: self.words, width: width.min(MAX_WIDTH) };
        if fill {
            let sign_bits = Self::ones(width).shl(u64::from(self.width));
            return value.map(&sign_bits, |a, b| a | b);
        }
        value.masked()
    }

    /// `self ++ low`
    pub fn concat(self, low: &Self) -> Self {
        let width = self.width + low.width;
        self.resize(width, false).shl(u64::from(low.width)).map(low, |a, b| a | b)
    }

    /// `self` with the bits from `lo` on replaced by `part`.
    pub fn set_slice(self, lo: u32, part: &Self) -> Self {
        let lo = u64::from(lo);
        let hole = Self::ones(part.width).resize(self.width, false).shl(lo);
        let part = part.resize(self.width, false).shl(lo);
        self.map(&hole, |a, b| a & !b).map(&part, |a, b| a | b)
    }

    /// The value as one word, all ones if it does not fit.
    pub fn saturated_u64(&self) -> u64 {
        if self.words[1..].iter().any(|&word| word != 0) { u64::MAX } else { self.words[0] }
    }

    fn saturating(self, other: &Self, subtract: bool, signed: bool) -> Self {
        let result = if subtract { self.sub(other) } else { self.add(other) };
        if signed {
            let other_sign = other.sign() != subtract;
            if self.sign() != other_sign || result.sign() == self.sign() {
                return result;
            }
            let most_negative = Self::from_words(1, &[1]).resize(self.width, false);
            let most_negative = most_negative.shl(u64::from(self.width - 1));
            return if self.sign() { most_negative } else { most_negative.not() };
        }
        match subtract {
            true if self.less(other) => Self::zero(self.width),
            false if result.less(&self) => Self::ones(self.width),
            _ => result,
        }
    }
}

/// `a op b`; shift amounts are the low word of `b`, saturated by the caller. Comparisons give one bit.
pub(crate) fn binary(op: BinOp, a: Wide, b: &Wide) -> Wide {
    let flag = |value: bool| Wide::from_words(1, &[u64::from(value)]);
    match op {
        BinOp::Add => a.add(b),
        BinOp::Sub => a.sub(b),
        BinOp::Mul => a.mul(b),
        BinOp::Div => a.div_rem(b).0,
        BinOp::Mod => a.div_rem(b).1,
        BinOp::AddSat { signed } => a.saturating(b, false, signed),
        BinOp::SubSat { signed } => a.saturating(b, true, signed),
        BinOp::And => a.map(b, |x, y| x & y),
        BinOp::Or => a.map(b, |x, y| x | y),
        BinOp::Xor => a.map(b, |x, y| x ^ y),
        BinOp::Shl => a.shl(b.words[0]),
        BinOp::Shr { signed: false } => a.shr(b.words[0]),
        BinOp::Shr { signed: true } => a.shr_signed(b.words[0]),
        BinOp::Eq => flag(a.words == b.words),
        BinOp::Ne => flag(a.words != b.words),
        BinOp::Lt { signed } => flag(a.less_as(b, signed)),
        BinOp::Le { signed } => flag(!b.less_as(&a, signed)),
    }
}
