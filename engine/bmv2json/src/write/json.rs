//! Pieces of the format: references, constants and operators as p4c spells them.

use p4cc_ir::Bits;
use serde_json::{Value, json};

/// A typed value: `{"type": "field", "value": ...}`.
pub(super) fn typed(ty: &str, value: impl Into<Value>) -> Value {
    json!({ "type": ty, "value": value.into() })
}

/// A constant.
pub(super) fn constant(bits: &Bits) -> Value {
    typed("hexstr", digits(bits))
}

/// A small constant: an id, a width, an index.
pub(super) fn number(value: u64) -> Value {
    typed("hexstr", format!("{value:#x}"))
}

/// The hexadecimal digits of a constant, as many as its bytes have.
pub(super) fn digits(bits: &Bits) -> String {
    let bytes = bits.to_be_bytes();
    if bytes.is_empty() {
        return "0x00".to_owned();
    }
    let digits = bytes.iter().map(|byte| format!("{byte:02x}"));
    core::iter::once("0x".to_owned()).chain(digits).collect()
}

/// `left op right`, where either side may be missing.
fn operation(op: &str, left: Value, right: Value) -> Value {
    typed("expression", json!({ "op": op, "left": left, "right": right }))
}

pub(super) fn binary(op: &str, left: Value, right: Value) -> Value {
    operation(op, left, right)
}

pub(super) fn unary(op: &str, right: Value) -> Value {
    operation(op, Value::Null, right)
}

/// `cond ? left : right`
pub(super) fn choice(cond: Value, left: Value, right: Value) -> Value {
    typed("expression", json!({ "op": "?", "left": left, "right": right, "cond": cond }))
}

/// The low bits of an integer.
pub(super) fn cut(value: Value, width: u32) -> Value {
    binary("&", value, ones(width))
}

/// A mask of so many bits.
pub(super) fn ones(width: u32) -> Value {
    let words = vec![u64::MAX; p4cc_ir::bits::words_for(width)];
    constant(&Bits::from_words(width, &words))
}

/// An unsigned value read as two's complement.
pub(super) fn signed(value: Value, width: u32) -> Value {
    binary("two_comp_mod", value, number(u64::from(width)))
}

/// One bit as a condition.
pub(super) fn holds(bit: Value) -> Value {
    unary("d2b", bit)
}

/// A condition as one bit.
pub(super) fn bit(condition: Value) -> Value {
    unary("b2d", condition)
}

/// A parameter of a primitive: one that is computed holds its expression as a typed value once more.
pub(super) fn parameter(value: Value) -> Value {
    match value["type"].as_str() {
        Some("expression") => typed("expression", value),
        _ => value,
    }
}

/// A call of a primitive.
pub(super) fn call(op: &str, parameters: Vec<Value>) -> Value {
    parser_op(op, parameters.into_iter().map(parameter).collect())
}

/// An operation of a parser state that takes its expressions as they are.
pub(super) fn parser_op(op: &str, parameters: Vec<Value>) -> Value {
    json!({ "op": op, "parameters": parameters })
}
