//! Numbers and addresses as commands give them, as bytes of a width, and bytes as commands show them.

use std::net::{Ipv4Addr, Ipv6Addr};

/// Widest number that is read.
const MAX_BITS: u32 = 2_048;

const NO_NUMBER: &str = "Invalid input, could not cast to integer, try in hex with 0x prefix";
const TOO_LARGE: &str = "Parameter is too large";

/// A number of a width, big-endian in whole bytes: decimal, hexadecimal, an IPv4, IPv6 or Ethernet address.
pub(crate) fn bytes(text: &str, width: u32) -> Result<Vec<u8>, &'static str> {
    if width > MAX_BITS {
        return Err(TOO_LARGE);
    }
    let length = width.div_ceil(8) as usize;
    let found = if width == 32 && text.contains('.') {
        text.parse::<Ipv4Addr>().map_err(|_| "Invalid IPv4 address")?.octets().to_vec()
    } else if width == 48 && text.contains(':') {
        let parts: Result<Vec<u8>, _> = text.split(':').map(|part| u8::from_str_radix(part, 16)).collect();
        parts.ok().filter(|parts| parts.len() == length).ok_or("Invalid MAC address")?
    } else if width == 128 && text.contains(':') {
        text.parse::<Ipv6Addr>().map_err(|_| "Invalid IPv6 address")?.octets().to_vec()
    } else {
        digits(text).ok_or(NO_NUMBER)?
    };
    let zeros = found.iter().take_while(|byte| **byte == 0).count();
    let significant = &found[zeros..];
    let bits = significant.first().map_or(0, |first| significant.len() * 8 - first.leading_zeros() as usize);
    if bits > width as usize {
        return Err(TOO_LARGE);
    }
    let mut padded = vec![0; length - significant.len()];
    padded.extend(significant);
    Ok(padded)
}

/// The bytes of a decimal, hexadecimal or binary number.
fn digits(text: &str) -> Option<Vec<u8>> {
    let prefixed = |prefix: &str| text.get(..2).filter(|start| start.eq_ignore_ascii_case(prefix));
    let (base, digits) = match () {
        () if prefixed("0x").is_some() => (16, &text[2..]),
        () if prefixed("0b").is_some() => (2, &text[2..]),
        () => (10, text),
    };
    if digits.is_empty() || digits.len() > MAX_BITS as usize {
        return None;
    }
    let mut number = vec![0_u8];
    for digit in digits.chars() {
        let mut carry = digit.to_digit(base)?;
        for byte in number.iter_mut().rev() {
            let product = u32::from(*byte) * base + carry;
            *byte = product as u8;
            carry = product >> 8;
        }
        if carry > 0 {
            number.insert(0, carry as u8);
        }
    }
    Some(number)
}

/// Bytes with colons, as commands repeat what they were given.
pub(crate) fn with_colons(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(":")
}

/// Bytes as one number, as commands show what the switch has.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_addresses_are_bytes_of_their_width() {
        let is = |text: &str, width: u32, expected: &[u8]| {
            assert_eq!(bytes(text, width), Ok(expected.to_vec()), "{text}");
        };
        is("10.0.1.1", 32, &[10, 0, 1, 1]);
        is("08:00:00:00:01:11", 48, &[8, 0, 0, 0, 1, 0x11]);
        is("::1", 128, &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
        is("511", 9, &[1, 255]);
        is("0xdeadBEEF", 48, &[0, 0, 0xde, 0xad, 0xbe, 0xef]);
        is("0b1000_0001".replace('_', "").as_str(), 8, &[0x81]);
        is("0", 1, &[0]);
        is("340282366920938463463374607431768211455", 128, &[255; 16]);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for (text, width) in
            [("512", 9), ("10.0.1", 32), ("08:00", 48), ("", 8), ("-1", 8), ("x", 8), ("2", 1), ("é", 8)]
        {
            assert!(bytes(text, width).is_err(), "{text}");
        }
    }
}
