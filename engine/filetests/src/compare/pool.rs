//! Values that packets and entries share: few of each width, so that they meet.

use std::collections::{BTreeMap, BTreeSet};

use p4cc_switch::Stream;
use serde_json::Value;

/// Made-up values of each width, beside the document's own.
const OF_A_WIDTH: u64 = 3;
/// Of eight values, so many are any.
const ANY_OF_EIGHT: u64 = 1;
/// A bit string, its first bit the highest.
pub type BitString = Vec<bool>;

/// Where values come from.
pub struct Pool {
    /// Every number of at most 64 bits that the document writes, by the digits that it writes it with: as
    /// many as its width has bytes twice.
    constants: BTreeMap<usize, BTreeSet<u64>>,
    ports: u32,
}

impl Pool {
    /// The values of a document, for a switch with ports below `ports`.
    pub fn new(document: &Value, ports: u32) -> Self {
        let mut constants = BTreeMap::new();
        collect(document, &mut constants);
        Self { constants, ports }
    }

    /// Numbers of the document up to `most`.
    pub fn constants_up_to(&self, most: u64) -> BTreeSet<u64> {
        self.constants.values().flatten().copied().filter(|value| *value <= most).collect()
    }

    /// A value of some width.
    pub fn value(&self, width: usize, random: &mut Stream) -> BitString {
        if random.below(8) < ANY_OF_EIGHT || width == 0 {
            return (0..width).map(|_| random.next_u64() & 1 == 1).collect();
        }
        // Widths of ports and of indexes of small tables.
        if width == 9 {
            return bits(random.below(self.ports.into()), width);
        }
        if random.below(4) == 0
            && let Some(constants) = self.constants.get(&(width.div_ceil(8) * 2))
            && let Some(value) = constants.iter().nth(random.below(constants.len() as u64) as usize)
        {
            return bits(*value, width);
        }
        let which = random.below(OF_A_WIDTH);
        let mut made = Stream::named(which, &format!("value of {width} bits"));
        match which {
            0 => bits(1 + made.below(3), width),
            _ => (0..width).map(|_| made.next_u64() & 1 == 1).collect(),
        }
    }
}

fn collect(value: &Value, found: &mut BTreeMap<usize, BTreeSet<u64>>) {
    match value {
        Value::String(text) => {
            if let Some(digits) = text.strip_prefix("0x")
                && let Ok(number) = u64::from_str_radix(digits, 16)
            {
                found.entry(digits.len()).or_default().insert(number);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Object(members) => members.values().for_each(|item| collect(item, found)),
        _ => {}
    }
}

/// The lowest bits of a number.
pub fn bits(value: u64, width: usize) -> BitString {
    (0..width).rev().map(|at| at < 64 && value >> at & 1 == 1).collect()
}

/// The bits of hexadecimal digits, as many as wanted; zeros in front.
pub fn bits_of_hex(text: &str, width: usize) -> Option<BitString> {
    let digits = text.strip_prefix("0x")?.chars().map(|digit| digit.to_digit(16));
    let nibbles: Option<Vec<u32>> = digits.collect();
    let all: BitString = nibbles?.iter().flat_map(|nibble| bits(u64::from(*nibble), 4)).collect();
    let missing = width.saturating_sub(all.len());
    let skipped = all.len().saturating_sub(width);
    Some([vec![false; missing], all[skipped..].to_vec()].concat())
}

/// Whole bytes with the value of the bits, zeros in front where they do not fill the first.
pub fn bytes(bits: &[bool]) -> Vec<u8> {
    let pad = bits.len().next_multiple_of(8) - bits.len();
    let padded = [vec![false; pad], bits.to_vec()].concat();
    padded.chunks(8).map(|byte| byte.iter().fold(0, |sum, bit| sum << 1 | u8::from(*bit))).collect()
}
