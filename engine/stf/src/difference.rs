//! A packet beside what was expected of it, nibble by nibble.

use core::fmt;

/// Bytes on each line.
const ROW_BYTES: usize = 16;
/// Up to this many rows all are shown; of longer packets only those that differ.
const WHOLE_ROWS: usize = 6;
/// Most rows shown of one packet.
const MAX_ROWS: usize = 64;

/// What a test says of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// Half bytes, `None` for any. None at all matches every packet.
    pub nibbles: Vec<Option<u8>>,
    /// The packet ends where these do.
    pub exact: bool,
}

/// A packet that differs, did not come, or came unasked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketProblem {
    /// Where it leaves.
    pub port: u32,
    /// Its place among the packets of the port, from 0.
    pub number: usize,
    /// What was expected, if anything.
    pub expected: Option<Expected>,
    /// The packet that came, if any.
    pub got: Option<Vec<u8>>,
    /// Other ports on which a packet came that meets the expectation.
    pub seen_on: Vec<u32>,
    /// Of a packet that did not come: where the one ended that the test had sent for it.
    pub ended: Option<Ended>,
}

/// Where a packet and its copies ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Line of the test that sends it.
    pub line: u32,
    /// Where it came in.
    pub port: u32,
    /// In words; never empty.
    pub ways: Vec<String>,
}

impl Expected {
    /// Whether a packet is as expected.
    pub fn matches(&self, got: &[u8]) -> bool {
        self.first_wrong(got).is_none()
    }

    /// The first nibble that is not as expected; the packet's length when it is too short.
    fn first_wrong(&self, got: &[u8]) -> Option<usize> {
        if self.nibbles.is_empty() {
            return None;
        }
        (0..self.nibbles.len().max(got.len() * 2)).find(|&at| self.is_wrong(got, at))
    }

    fn is_wrong(&self, got: &[u8], at: usize) -> bool {
        match (self.nibbles.get(at), nibble(got, at)) {
            (Some(Some(want)), Some(got)) => *want != got,
            (Some(None), Some(_)) => false,
            (Some(_), None) => true,
            (None, got) => self.exact && got.is_some(),
        }
    }

    fn digit(&self, at: usize) -> Option<char> {
        match self.nibbles.get(at)? {
            None => Some('*'),
            Some(value) => char::from_digit((*value).into(), 16),
        }
    }

    /// As a test writes it.
    pub fn pattern(&self) -> String {
        let digits = (0..self.nibbles.len()).filter_map(|at| self.digit(at));
        digits.chain(self.exact.then_some('$')).collect()
    }
}

/// Hexadecimal digits of a packet.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn nibble(bytes: &[u8], at: usize) -> Option<u8> {
    let byte = bytes.get(at / 2)?;
    Some(if at.is_multiple_of(2) { byte >> 4 } else { byte & 15 })
}

impl PacketProblem {
    /// The first byte that is not as expected, from 0; none when only one side is there.
    pub fn first_byte(&self) -> Option<usize> {
        let (want, got) = (self.expected.as_ref()?, self.got.as_ref()?);
        want.first_wrong(got).map(|at| at / 2)
    }

    fn headline(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "port {}, packet {}: ", self.port, self.number)?;
        match (&self.expected, &self.got) {
            (Some(want), Some(got)) => {
                write!(f, "differs from byte {}", self.first_byte().unwrap_or(0))?;
                let wanted = want.nibbles.len().div_ceil(2);
                let (relation, wrong) = match want.exact {
                    true => ("", wanted != got.len()),
                    false => ("at least ", wanted > got.len()),
                };
                if wrong {
                    write!(f, " ({} bytes came, {relation}{wanted} were expected)", got.len())?;
                }
                Ok(())
            }
            (Some(_), None) => f.write_str("did not come"),
            (None, _) => f.write_str("not expected"),
        }
    }

    fn columns(&self, row: usize, digit: impl Fn(usize) -> Option<char>) -> String {
        let mut line = String::new();
        for at in row * ROW_BYTES * 2..(row + 1) * ROW_BYTES * 2 {
            if at.is_multiple_of(2) && !at.is_multiple_of(ROW_BYTES * 2) {
                line.push(' ');
            }
            line.push(digit(at).unwrap_or(' '));
        }
        line.trim_end().to_owned()
    }

    fn row(&self, f: &mut fmt::Formatter<'_>, row: usize, marks: &str) -> fmt::Result {
        let offset = row * ROW_BYTES;
        if let Some(want) = &self.expected {
            // The end that a test asks for stands right behind the last digit.
            let end = want.exact.then_some(want.nibbles.len());
            let digit = |at| if end == Some(at) { Some('$') } else { want.digit(at) };
            write!(f, "\n  expected {offset:04x}  {}", self.columns(row, digit))?;
        }
        if let Some(got) = &self.got {
            let digit = |at| nibble(got, at).and_then(|value| char::from_digit(value.into(), 16));
            write!(f, "\n  got      {offset:04x}  {}", self.columns(row, digit))?;
        }
        if !marks.is_empty() {
            write!(f, "\n                 {marks}")?;
        }
        Ok(())
    }
}

impl fmt::Display for PacketProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.headline(f)?;
        let ends = self.expected.as_ref().map_or(0, |want| want.nibbles.len() + usize::from(want.exact));
        let nibbles = ends.max(self.got.as_ref().map_or(0, |got| got.len() * 2));
        let rows = nibbles.div_ceil(ROW_BYTES * 2);
        let both = self.expected.as_ref().zip(self.got.as_ref());
        let (mut left_out, mut shown) = (0, 0);
        for row in 0..rows {
            let wrong = |at| both.is_some_and(|(want, got)| want.is_wrong(got, at));
            let marks = self.columns(row, |at| wrong(at).then_some('^'));
            if shown == MAX_ROWS
                || rows > WHOLE_ROWS && marks.is_empty() && (both.is_some() || row >= WHOLE_ROWS)
            {
                left_out += 1;
                continue;
            }
            self.row(f, row, &marks)?;
            shown += 1;
        }
        if left_out > 0 {
            let why = if both.is_some() && shown < MAX_ROWS { "equal " } else { "further " };
            write!(f, "\n  ({left_out} {why}lines of {ROW_BYTES} bytes left out)")?;
        }
        if !self.seen_on.is_empty() {
            let ports: Vec<String> = self.seen_on.iter().map(ToString::to_string).collect();
            write!(f, "\n  a packet like this came out of port {}", ports.join(", "))?;
        }
        if let Some(Ended { line, port, ways }) = &self.ended {
            write!(f, "\n  the packet of line {line}, into port {port}: {}", ways.join("; "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(expected: Option<(&str, bool)>, got: Option<&[u8]>) -> PacketProblem {
        let expected = expected.map(|(digits, exact)| Expected {
            nibbles: digits.chars().map(|c| c.to_digit(16).map(|value| value as u8)).collect(),
            exact,
        });
        PacketProblem {
            port: 1,
            number: 0,
            expected,
            got: got.map(<[u8]>::to_vec),
            seen_on: Vec::new(),
            ended: None,
        }
    }

    #[test]
    fn carets_stand_under_the_nibbles_that_differ() {
        let text = problem(Some(("0a*b05", true)), Some(&[0x0a, 0x7c, 0x05, 0xff])).to_string();
        assert_eq!(
            text,
            "port 1, packet 0: differs from byte 1 (4 bytes came, 3 were expected)\n\
             \x20 expected 0000  0a *b 05 $\n\
             \x20 got      0000  0a 7c 05 ff\n\
             \x20                    ^    ^^"
        );
    }

    #[test]
    fn a_packet_too_short_differs_where_it_ends() {
        let short = problem(Some(("0a0b", false)), Some(&[0x0a]));
        assert_eq!(short.first_byte(), Some(1));
        assert!(short.to_string().contains("1 bytes came, at least 2 were expected"), "{short}");
        assert!(
            problem(Some(("0a", false)), Some(&[0x0a, 1])).expected.is_some_and(|e| e.matches(&[0x0a, 1]))
        );
        assert!(problem(Some(("", false)), None).expected.is_some_and(|e| e.matches(&[])));
    }

    #[test]
    fn of_long_packets_only_what_differs_is_shown() {
        let mut got = vec![0; 1_500];
        got[800] = 1;
        let text = problem(Some((&"00".repeat(1_500), true)), Some(&got)).to_string();
        assert!(text.lines().count() == 5 && text.contains("93 equal lines"), "{text}");
        let text = problem(None, Some(&got)).to_string();
        assert!(text.starts_with("port 1, packet 0: not expected\n  got      0000  00 00"), "{text}");
        assert!(text.lines().count() == 8, "{text}");
    }
}
