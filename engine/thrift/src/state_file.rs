//! The state of a switch as text: what `bm_serialize_state` gives and `--restore-state` takes.
//!
//! Three lines: the format, the MD5 of the program as it was given, the state in hexadecimal. It is no
//! BMv2's, whose states name nodes of its own control flow; it is read by this switch only.

use std::fmt::Write as _;

use md5::{Digest, Md5};

/// The first line.
const FORMAT: &str = "p4cc-state-1";

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A state of a program as text.
pub fn encode(program: &str, state: &[u8]) -> String {
    format!("{FORMAT}\n{}\n{}\n", hexadecimal(&Md5::digest(program)), hexadecimal(state))
}

/// The state in a text.
///
/// # Errors
/// It is no such text, or of another program.
pub fn decode(program: &str, text: &str) -> Result<Vec<u8>, String> {
    let mut lines = text.lines();
    if lines.next() != Some(FORMAT) {
        return Err(format!("it does not begin with {FORMAT}; give what serialize_state wrote"));
    }
    if lines.next() != Some(&hexadecimal(&Md5::digest(program))) {
        return Err("it is the state of another program".to_owned());
    }
    let digits = lines.next().unwrap_or_default().as_bytes();
    let pairs = digits.chunks(2).map(|pair| match pair {
        [high, low] => {
            let digit = |byte: u8| char::from(byte).to_digit(16);
            Some((digit(*high)? << 4 | digit(*low)?) as u8)
        }
        _ => None,
    });
    pairs.collect::<Option<Vec<u8>>>().ok_or_else(|| "its third line is not hexadecimal".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_state_comes_back_for_its_program_only(state in prop::collection::vec(any::<u8>(), 0..50)) {
            let text = encode("program", &state);
            prop_assert_eq!(decode("program", &text), Ok(state));
            prop_assert!(decode("other", &text).is_err());
        }

        #[test]
        fn any_text_is_a_state_or_an_error(text: String) {
            prop_assert!(decode("program", &text).is_err());
            let _ = decode("program", &format!("{}{text}", encode("program", &[])));
        }
    }
}
