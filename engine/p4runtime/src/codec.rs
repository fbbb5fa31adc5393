//! Values between P4Runtime's byte strings and [`Bits`].
//!
//! Byte strings are big-endian. What is sent is canonical: the shortest
//! string, at least one byte. What is received may have leading zeros but
//! must fit the width; an empty string is refused (P4Runtime "Bytestrings").

use p4cc_ir::{Bits, VarType};

use crate::errors::Failure;
use crate::proto::p4::v1 as p4;

/// Reads an unsigned value of `width` bits. `what` names the place for the message.
pub(crate) fn parse(bytes: &[u8], width: u32, what: impl FnOnce() -> String) -> Result<Bits, Failure> {
    if bytes.is_empty() {
        return Err(Failure::out_of_range(format!("{}: the value is empty; zero is one zero byte", what())));
    }
    let significant = bytes.iter().position(|&byte| byte != 0).map_or(&[][..], |first| &bytes[first..]);
    let bits = match significant {
        [] => 0,
        [first, rest @ ..] => rest.len() as u64 * 8 + u64::from(8 - first.leading_zeros()),
    };
    if bits > u64::from(width) {
        let (what, value) = (what(), hex(significant));
        return Err(Failure::out_of_range(format!(
            "{what}: {value} needs {bits} bits, the field has {width}"
        )));
    }
    Ok(Bits::from_be_bytes(width, significant))
}

/// Reads an `int<W>` that stands as a key, parameter or metadata. P4Runtime has no such fields
/// ("Bytestrings"), and P4Info gives them a bitwidth only: as in BMv2's server, the bytes are the number's
/// two's complement pattern of `width` bits without a sign. What is too long for that may be the same with
/// its sign extended.
pub(crate) fn parse_int(bytes: &[u8], width: u32, what: impl Fn() -> String) -> Result<Bits, Failure> {
    parse(bytes, width, &what).or_else(|failure| parse_signed(bytes, width, what).map_err(|_| failure))
}

/// Reads a two's complement value of `width` bits.
fn parse_signed(bytes: &[u8], width: u32, what: impl FnOnce() -> String) -> Result<Bits, Failure> {
    let Some(&first) = bytes.first() else {
        return Err(Failure::out_of_range(format!("{}: the value is empty; zero is one zero byte", what())));
    };
    let sign = if first & 0x80 == 0 { 0x00 } else { 0xff };
    let bit = |from_low: usize| {
        let byte = bytes.len().checked_sub(1 + from_low / 8).map_or(sign, |at| bytes[at]);
        byte >> (from_low % 8) & 1
    };
    let top = (width as usize).saturating_sub(1);
    if (top..bytes.len() * 8).any(|at| bit(at) != sign & 1) {
        let (what, value) = (what(), hex(bytes));
        return Err(Failure::out_of_range(format!("{what}: {value} does not fit int<{width}>")));
    }
    let mut extended = vec![sign; (width as usize).div_ceil(8).saturating_sub(bytes.len())];
    extended.extend_from_slice(bytes);
    Ok(Bits::from_be_bytes(width, &extended))
}

/// The canonical byte string of an unsigned value.
pub(crate) fn canonical(value: &Bits) -> Vec<u8> {
    let bytes = value.to_be_bytes();
    let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
    if zeros == bytes.len() { vec![0] } else { bytes[zeros..].to_vec() }
}

/// The canonical byte string of a two's complement value: the shortest that keeps the sign.
fn canonical_signed(value: &Bits) -> Vec<u8> {
    let mut bytes = value.to_be_bytes();
    let used = value.width() % 8;
    if let Some(first) = bytes.first_mut()
        && used != 0
        && *first >> (used - 1) & 1 == 1
    {
        *first |= 0xff << used;
    }
    let redundant = bytes
        .windows(2)
        .take_while(|pair| {
            matches!(pair, [0, next] if next & 0x80 == 0) || matches!(pair, [0xff, next] if next & 0x80 != 0)
        })
        .count();
    bytes.split_off(redundant)
}

/// Reads the data of a register cell.
pub(crate) fn parse_data(
    data: &p4::P4Data,
    ty: VarType,
    what: impl FnOnce() -> String + Clone,
) -> Result<Bits, Failure> {
    use p4::p4_data::Data;
    match (&data.data, ty) {
        (Some(Data::Bitstring(bytes)), VarType::Bit(width)) => parse(bytes, width, what),
        (Some(Data::Bitstring(bytes)), VarType::Int(width)) => parse_signed(bytes, width, what),
        (Some(Data::Bool(value)), VarType::Bool) => Ok(Bits::from_u128(1, u128::from(*value))),
        (data, _) => {
            let given = if data.is_none() { "no data" } else { "another kind of data" };
            Err(Failure::invalid(format!("{}: {given} given; it takes {}", what(), type_name(ty))))
        }
    }
}

/// The data of a register cell or digest field.
pub(crate) fn data(value: &Bits, ty: VarType) -> p4::P4Data {
    use p4::p4_data::Data;
    let data = match ty {
        VarType::Bool => Data::Bool(!value.is_zero()),
        VarType::Int(_) => Data::Bitstring(canonical_signed(value)),
        VarType::Bit(_) | VarType::Varbit(_) => Data::Bitstring(canonical(value)),
    };
    p4::P4Data { data: Some(data) }
}

/// The data of a struct or tuple from that of its members.
pub(crate) fn members_data(members: Vec<p4::P4Data>, is_tuple: bool) -> p4::P4Data {
    use p4::p4_data::Data;
    let members = p4::P4StructLike { members };
    p4::P4Data { data: Some(if is_tuple { Data::Tuple(members) } else { Data::Struct(members) }) }
}

fn type_name(ty: VarType) -> String {
    match ty {
        VarType::Bool => "bool".to_owned(),
        VarType::Bit(width) => format!("a bit string of bit<{width}>"),
        VarType::Int(width) => format!("a bit string of int<{width}>"),
        VarType::Varbit(width) => format!("a bit string of varbit<{width}>"),
    }
}

/// A value for messages, cut when long.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const MOST: usize = 20;
    let digits: String = bytes.iter().take(MOST).map(|byte| format!("{byte:02x}")).collect();
    let rest = if bytes.len() > MOST { "..." } else { "" };
    format!("0x{digits}{rest}")
}

/// A 128-bit number of the protocol.
pub(crate) fn uint128(value: &p4::Uint128) -> u128 {
    u128::from(value.high) << 64 | u128::from(value.low)
}

/// A 128-bit number for the protocol.
pub(crate) fn to_uint128(value: u128) -> p4::Uint128 {
    p4::Uint128 { high: (value >> 64) as u64, low: value as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tonic::Code;

    fn read(bytes: &[u8], width: u32) -> Result<Bits, Failure> {
        parse(bytes, width, || "t.f".to_owned())
    }

    #[test]
    fn a_value_too_wide_names_place_width_and_value() {
        let failure = read(&[0x02, 0x00], 9).unwrap_err();
        assert_eq!(failure.code, Code::OutOfRange);
        assert_eq!(failure.message, "t.f: 0x0200 needs 10 bits, the field has 9");
        assert_eq!(read(&[0, 0, 0x01, 0xff], 9).unwrap().to_u128(), Some(0x1ff));
        assert_eq!(read(&[], 9).unwrap_err().code, Code::OutOfRange);
    }

    /// The examples of the specification's table of bytestring encodings.
    #[test]
    fn signed_values_are_those_of_the_specification() {
        let signed = |bytes: &[u8], width| parse_signed(bytes, width, || "r".to_owned());
        assert_eq!(canonical_signed(&signed(&[0x63], 8).unwrap()), [0x63]);
        assert_eq!(canonical_signed(&signed(&[0x00, 0x63], 16).unwrap()), [0x63]);
        assert_eq!(canonical_signed(&signed(&[0xff, 0xff, 0xfd], 16).unwrap()), [0xfd]);
        assert_eq!(canonical_signed(&Bits::from_u128(12, 0x800)), [0xf8, 0x00]);
        assert!(signed(&[0x80], 7).is_err(), "-128 needs 8 bits");
        assert!(signed(&[0x40], 7).is_err(), "64 needs 8 bits with its sign");
        assert!(signed(&[0xc0], 7).is_ok(), "-64 fits");
    }

    proptest! {
        #[test]
        fn unsigned_values_round_trip(width in 1_u32..200, bytes in proptest::collection::vec(any::<u8>(), 1..30)) {
            let value = Bits::from_be_bytes(width, &bytes);
            let sent = canonical(&value);
            prop_assert!(sent.len() == 1 || sent[0] != 0, "canonical has no leading zero");
            prop_assert_eq!(read(&sent, width).unwrap(), value);
        }

        #[test]
        fn signed_values_round_trip(width in 1_u32..200, bytes in proptest::collection::vec(any::<u8>(), 1..30)) {
            let value = Bits::from_be_bytes(width, &bytes);
            let sent = canonical_signed(&value);
            prop_assert_eq!(parse_signed(&sent, width, || "r".to_owned()).unwrap(), value);
        }

        #[test]
        fn any_bytes_are_read_or_refused(width in 1_u32..70, bytes in proptest::collection::vec(any::<u8>(), 0..20)) {
            if let Ok(value) = read(&bytes, width) {
                let low = bytes.len().saturating_sub(16);
                let number = bytes[low..].iter().fold(0_u128, |n, &b| n << 8 | u128::from(b));
                prop_assert_eq!(value.to_u128(), Some(number));
            }
            let _ = parse_signed(&bytes, width, || "r".to_owned());
        }
    }
}
