//! Compile-time values and the arithmetic on them.
//!
//! Invariant: an integer of a fixed type lies in the range of that type; `int` has no range but a bound on
//! its size, so that a shift in the source cannot take all memory.

use super::ty::Ty;
use num_bigint::{BigInt, Sign};
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};
use p4cc_ir::Bits;
use p4cc_ir::limits::MAX_INT_BITS;
use p4cc_syntax::ast::{BinaryOp, UnaryOp};

/// A compile-time value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// `bool`
    Bool(bool),
    /// Any integer type, and a serializable enum.
    Int(BigInt),
    /// `string`
    String(String),
    /// Position of a member in an enum that is not serializable.
    Enum(u32),
    /// Position of an error.
    Error(u32),
    /// A match kind.
    MatchKind(String),
}

/// Why an operation has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoldError {
    /// Division or modulo by zero.
    DivisionByZero,
    /// Division or modulo of a negative number.
    NegativeDivision,
    /// Shift by a negative amount.
    NegativeShift,
    /// The result takes this many bits, more than the engine holds.
    TooLarge(u64),
    /// The string is longer than the engine holds.
    LongString,
    /// The operator does not work on such values.
    WrongType,
}

impl FoldError {
    /// One sentence for a diagnostic.
    pub fn message(self) -> String {
        match self {
            Self::DivisionByZero => "division by zero".to_owned(),
            Self::NegativeDivision => "division and modulo are not defined for negative numbers".to_owned(),
            Self::NegativeShift => "shift by a negative amount".to_owned(),
            Self::TooLarge(bits) => {
                format!("the constant takes {bits} bits; at most {MAX_INT_BITS} are allowed")
            }
            Self::LongString => format!("the string is longer than {MAX_STRING_BYTES} bytes"),
            Self::WrongType => "the operator does not work on these values".to_owned(),
        }
    }
}

impl Value {
    /// The integer, if it is one.
    pub fn as_int(&self) -> Option<&BigInt> {
        match self {
            Value::Int(value) => Some(value),
            _ => None,
        }
    }

    /// As the bits of a variable of the given width; two's complement, low bits kept.
    pub fn to_bits(&self, width: u32) -> Bits {
        match self {
            Value::Bool(value) => Bits::from_u128(width, u128::from(*value)),
            Value::Int(value) => int_to_bits(value, width),
            Value::Enum(index) | Value::Error(index) => Bits::from_u128(width, u128::from(*index)),
            Value::String(_) | Value::MatchKind(_) => Bits::zero(width),
        }
    }
}

/// 2 to the `width`.
fn two_to(width: u32) -> BigInt {
    BigInt::one() << width
}

/// The low `width` bits of a number in two's complement.
pub fn int_to_bits(value: &BigInt, width: u32) -> Bits {
    let low = value.mod_floor(&two_to(width));
    let (_, words) = low.to_u64_digits();
    Bits::from_words(width, &words)
}

/// The number that bits stand for.
pub fn bits_to_int(bits: &Bits, signed: bool) -> BigInt {
    let value = BigInt::from_bytes_be(Sign::Plus, &bits.to_be_bytes());
    if signed { wrap(&value, &Ty::Int(bits.width())) } else { value }
}

/// Brings a number into the range of a fixed type; other types leave it.
pub fn wrap(value: &BigInt, ty: &Ty) -> BigInt {
    match ty {
        Ty::Bit(width) => value.mod_floor(&two_to(*width)),
        Ty::Int(0) => BigInt::zero(),
        Ty::Int(width) => {
            let low = value.mod_floor(&two_to(*width));
            if low >= two_to(*width - 1) { low - two_to(*width) } else { low }
        }
        _ => value.clone(),
    }
}

/// Whether a number lies in the range of a type.
pub fn fits(value: &BigInt, ty: &Ty) -> bool {
    wrap(value, ty) == *value
}

/// Brings a number to the nearest end of the type's range.
fn saturate(value: &BigInt, ty: &Ty) -> BigInt {
    let (low, high) = match ty {
        Ty::Bit(width) => (BigInt::zero(), two_to(*width) - 1),
        Ty::Int(width) if *width > 0 => (-two_to(*width - 1), two_to(*width - 1) - 1),
        _ => return value.clone(),
    };
    value.clone().clamp(low, high)
}

/// `op value` where the value has type `ty`.
pub fn unary(op: UnaryOp, value: &Value, ty: &Ty) -> Result<Value, FoldError> {
    match (op, value) {
        (UnaryOp::Not, Value::Bool(value)) => Ok(Value::Bool(!value)),
        (UnaryOp::Plus, Value::Int(value)) => Ok(Value::Int(value.clone())),
        (UnaryOp::Neg, Value::Int(value)) => Ok(Value::Int(wrap(&-value, ty))),
        (UnaryOp::BitNot, Value::Int(value)) if ty.is_fixed() => Ok(Value::Int(wrap(&(-value - 1), ty))),
        _ => Err(FoldError::WrongType),
    }
}

/// `a op b` where both operands of arithmetic have type `ty`;
/// Longest string that `++` makes.
const MAX_STRING_BYTES: usize = 1 << 16;

/// Two strings as one.
pub fn joined(a: &Value, b: &Value) -> Result<Value, FoldError> {
    match (a, b) {
        (Value::String(a), Value::String(b)) if a.len() + b.len() <= MAX_STRING_BYTES => {
            Ok(Value::String(format!("{a}{b}")))
        }
        (Value::String(_), Value::String(_)) => Err(FoldError::LongString),
        _ => Err(FoldError::WrongType),
    }
}

/// shifts and concatenations take `ty` for the left one.
pub fn binary(op: BinaryOp, a: &Value, b: &Value, ty: &Ty) -> Result<Value, FoldError> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => integer_binary(op, a, b, ty),
        (Value::Bool(a), Value::Bool(b)) => match op {
            BinaryOp::And => Ok(Value::Bool(*a && *b)),
            BinaryOp::Or => Ok(Value::Bool(*a || *b)),
            BinaryOp::Eq => Ok(Value::Bool(a == b)),
            BinaryOp::Ne => Ok(Value::Bool(a != b)),
            _ => Err(FoldError::WrongType),
        },
        _ => match op {
            BinaryOp::Eq => Ok(Value::Bool(a == b)),
            BinaryOp::Ne => Ok(Value::Bool(a != b)),
            _ => Err(FoldError::WrongType),
        },
    }
}

fn integer_binary(op: BinaryOp, a: &BigInt, b: &BigInt, ty: &Ty) -> Result<Value, FoldError> {
    let compared = match op {
        BinaryOp::Lt => Some(a < b),
        BinaryOp::Le => Some(a <= b),
        BinaryOp::Gt => Some(a > b),
        BinaryOp::Ge => Some(a >= b),
        BinaryOp::Eq => Some(a == b),
        BinaryOp::Ne => Some(a != b),
        _ => None,
    };
    if let Some(result) = compared {
        return Ok(Value::Bool(result));
    }
    let value = match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::AddSat => saturate(&(a + b), ty),
        BinaryOp::SubSat => saturate(&(a - b), ty),
        BinaryOp::BitAnd => a & b,
        BinaryOp::BitOr => a | b,
        BinaryOp::BitXor => a ^ b,
        BinaryOp::Div | BinaryOp::Mod => return divide(op, a, b),
        BinaryOp::Shl | BinaryOp::Shr => return shift(op, a, b, ty),
        _ => return Err(FoldError::WrongType),
    };
    bounded(wrap(&value, ty))
}

fn bounded(value: BigInt) -> Result<Value, FoldError> {
    if value.bits() > MAX_INT_BITS { Err(FoldError::TooLarge(value.bits())) } else { Ok(Value::Int(value)) }
}

fn divide(op: BinaryOp, a: &BigInt, b: &BigInt) -> Result<Value, FoldError> {
    if b.is_zero() {
        return Err(FoldError::DivisionByZero);
    }
    if a.is_negative() || b.is_negative() {
        return Err(FoldError::NegativeDivision);
    }
    let (quotient, remainder) = a.div_mod_floor(b);
    Ok(Value::Int(if op == BinaryOp::Div { quotient } else { remainder }))
}

fn shift(op: BinaryOp, a: &BigInt, b: &BigInt, ty: &Ty) -> Result<Value, FoldError> {
    if b.is_negative() {
        return Err(FoldError::NegativeShift);
    }
    let limit = ty.fixed_width().map_or(MAX_INT_BITS, u64::from);
    let amount = b.to_u64().map_or(limit + 1, |amount| amount.min(limit + 1));
    if op == BinaryOp::Shr {
        return Ok(Value::Int(a >> amount));
    }
    if !ty.is_fixed() && a.bits() + amount > MAX_INT_BITS && !a.is_zero() {
        let bits = b.to_u64().map_or(u64::MAX, |amount| a.bits().saturating_add(amount));
        return Err(FoldError::TooLarge(bits));
    }
    bounded(wrap(&(a << amount), ty))
}

/// `hi ++ lo`, the result in the range of `ty`.
pub fn concat(hi: &BigInt, lo: &BigInt, lo_width: u32, ty: &Ty) -> Value {
    let low = lo.mod_floor(&two_to(lo_width));
    Value::Int(wrap(&((hi << lo_width) + low), ty))
}

/// `value[hi:lo]`
pub fn slice(value: &BigInt, hi: u32, lo: u32) -> Value {
    let width = hi.saturating_sub(lo).saturating_add(1);
    Value::Int((value >> lo).mod_floor(&two_to(width)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(value: i64) -> Value {
        Value::Int(BigInt::from(value))
    }

    #[test]
    fn fixed_types_wrap_and_saturate() {
        assert_eq!(binary(BinaryOp::Add, &int(250), &int(10), &Ty::Bit(8)), Ok(int(4)));
        assert_eq!(binary(BinaryOp::AddSat, &int(250), &int(10), &Ty::Bit(8)), Ok(int(255)));
        assert_eq!(binary(BinaryOp::SubSat, &int(-120), &int(10), &Ty::Int(8)), Ok(int(-128)));
        assert_eq!(unary(UnaryOp::Neg, &int(-128), &Ty::Int(8)), Ok(int(-128)));
        assert_eq!(unary(UnaryOp::BitNot, &int(0), &Ty::Bit(4)), Ok(int(15)));
    }

    #[test]
    fn division_and_shifts_are_bounded() {
        assert_eq!(binary(BinaryOp::Div, &int(1), &int(0), &Ty::Integer), Err(FoldError::DivisionByZero));
        assert_eq!(binary(BinaryOp::Shl, &int(1), &int(-1), &Ty::Integer), Err(FoldError::NegativeShift));
        assert_eq!(
            binary(BinaryOp::Shl, &int(1), &int(i64::MAX), &Ty::Integer),
            Err(FoldError::TooLarge(1 + i64::MAX as u64))
        );
        assert_eq!(binary(BinaryOp::Shl, &int(1), &int(8), &Ty::Bit(8)), Ok(int(0)));
        assert_eq!(binary(BinaryOp::Shr, &int(-5), &int(100), &Ty::Int(8)), Ok(int(-1)));
    }

    #[test]
    fn bits_and_numbers_convert() {
        assert_eq!(int_to_bits(&BigInt::from(-1), 12).to_u128(), Some(0xfff));
        assert_eq!(bits_to_int(&Bits::from_u128(12, 0xfff), true), BigInt::from(-1));
        assert_eq!(slice(&BigInt::from(0xabcd), 11, 4), int(0xbc));
    }
}
