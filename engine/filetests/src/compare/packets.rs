//! Packets drawn along the ways through a document's parser.
//!
//! A walk takes the transitions of BMv2 JSON at random and writes into the headers extracted so far, or ahead
//! of them, what the transition asks for. What it cannot steer (expressions, metadata) stays as drawn, so
//! that a packet may take another way than the walk: it need not be right, both programs get the same.

use std::collections::BTreeMap;

use p4cc_switch::Stream;
use serde_json::Value;

use super::pool::{BitString, Pool, bits, bits_of_hex, bytes};

/// States of one walk.
const MAX_STATES: usize = 64;
/// Bytes behind the headers.
const MAX_PAYLOAD: u64 = 80;
/// Of so many packets one is cut somewhere.
const CUT_ONE_OF: u64 = 16;
/// Of so many checksums one is wrong.
const WRONG_ONE_OF: u64 = 8;
/// Bits of the longest packet.
const MAX_BITS: usize = 8 * 1_400;

/// What of a document says how packets look.
pub struct Drawer<'a> {
    states: BTreeMap<&'a str, &'a Value>,
    start: &'a str,
    /// Names and widths of the fields of each header.
    headers: BTreeMap<&'a str, Vec<(&'a str, usize)>>,
    /// Elements of each stack.
    stacks: BTreeMap<&'a str, Vec<&'a str>>,
    checksums: Vec<Checksum<'a>>,
}

struct Checksum<'a> {
    target: (&'a str, &'a str),
    input: &'a [Value],
}

/// A walk under way.
#[derive(Default)]
struct Walk {
    bits: BitString,
    /// Bits that a lookahead wants where nothing is yet.
    ahead: BTreeMap<usize, bool>,
    /// Where each field is, by header and name; metadata that a lookahead or a field was copied to, too.
    places: BTreeMap<(String, String), (usize, usize)>,
    next: BTreeMap<String, usize>,
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// The two names of a field.
fn field(value: &Value) -> Option<(&str, &str)> {
    match value.as_array()?.as_slice() {
        [header, name] => Some((header.as_str()?, name.as_str()?)),
        _ => None,
    }
}

fn owned((header, name): (&str, &str)) -> (String, String) {
    (header.to_owned(), name.to_owned())
}

impl<'a> Drawer<'a> {
    /// The packets of a document; none if it has no parser.
    pub fn new(document: &'a Value) -> Option<Self> {
        let parser = list(document, "parsers").first()?;
        let states = list(parser, "parse_states").iter().map(|state| (text(state, "name"), state)).collect();
        let types: BTreeMap<&str, Vec<(&str, usize)>> = list(document, "header_types")
            .iter()
            .map(|ty| (text(ty, "name"), list(ty, "fields").iter().filter_map(described).collect()))
            .collect();
        let of_type =
            |header: &'a Value| Some((text(header, "name"), types.get(text(header, "header_type"))?.clone()));
        let headers: BTreeMap<_, _> = list(document, "headers").iter().filter_map(of_type).collect();
        let by_id: BTreeMap<u64, &str> = list(document, "headers")
            .iter()
            .filter_map(|header| Some((header.get("id")?.as_u64()?, text(header, "name"))))
            .collect();
        let stack = |stack: &'a Value| {
            let ids = list(stack, "header_ids").iter().filter_map(Value::as_u64);
            (text(stack, "name"), ids.filter_map(|id| by_id.get(&id).copied()).collect())
        };
        let stacks = list(document, "header_stacks").iter().map(stack).collect();
        let start = text(parser, "init_state");
        Some(Self { states, start, headers, stacks, checksums: checksums(document) })
    }

    /// A packet.
    pub fn packet(&self, pool: &Pool, random: &mut Stream) -> Vec<u8> {
        let mut walk = Walk::default();
        let mut name = self.start;
        for _ in 0..MAX_STATES {
            let Some(state) = self.states.get(name) else { break };
            for op in list(state, "parser_ops") {
                self.step(&mut walk, op, pool, random);
            }
            let transitions = list(state, "transitions");
            if transitions.is_empty() || walk.bits.len() > MAX_BITS {
                break;
            }
            let taken = &transitions[random.below(transitions.len() as u64) as usize];
            walk.steer(list(state, "transition_key"), taken);
            name = text(taken, "next_state");
        }
        // What was only looked at, and bytes that nobody names.
        let last = walk.ahead.keys().next_back().map_or(0, |last| last + 1);
        let end = walk.bits.len().max(last.min(MAX_BITS)).next_multiple_of(8);
        walk.grow(end, pool, random);
        for checksum in &self.checksums {
            if random.below(WRONG_ONE_OF) != 0 {
                walk.correct(checksum);
            }
        }
        let mut packet = bytes(&walk.bits);
        packet.extend((0..random.below(MAX_PAYLOAD)).map(|_| random.next_u64() as u8));
        if random.below(CUT_ONE_OF) == 0 {
            packet.truncate(random.below(packet.len() as u64 + 1) as usize);
        }
        packet
    }

    fn step(&self, walk: &mut Walk, op: &Value, pool: &Pool, random: &mut Stream) {
        let operands = list(op, "parameters");
        let Some(first) = operands.first() else { return };
        match text(op, "op") {
            "extract" | "extract_VL" => {
                let Some(header) = self.extracted(walk, first) else { return };
                for (name, width) in &self.headers[header] {
                    let place = (walk.bits.len(), *width);
                    let value = pool.value(*width, random);
                    walk.append(&value);
                    walk.places.insert(owned((header, name)), place);
                }
            }
            "advance" => {
                let by = first.get("value").and_then(Value::as_str).and_then(|text| bits_of_hex(text, 12));
                let by = by.map_or(0, |by| by.iter().fold(0, |sum, bit| sum << 1 | usize::from(*bit)));
                let end = walk.bits.len() + by;
                walk.grow(end, pool, random);
            }
            "set" => walk.copy(first, operands.get(1)),
            _ => {}
        }
    }

    /// The header that an extraction fills.
    fn extracted(&self, walk: &mut Walk, operand: &Value) -> Option<&'a str> {
        let name = operand.get("value")?.as_str()?;
        let header = match text(operand, "type") {
            "stack" => {
                let elements = self.stacks.get(name)?;
                let next = walk.next.entry(name.to_owned()).or_default();
                *next += 1;
                *elements.get(*next - 1)?
            }
            _ => name,
        };
        self.headers.get_key_value(header).map(|(name, _)| *name)
    }
}

/// Name and width of a field; a varbit has none of its bits.
fn described(field: &Value) -> Option<(&str, usize)> {
    let field = field.as_array()?;
    Some((field.first()?.as_str()?, field.get(1)?.as_u64().unwrap_or(0) as usize))
}

/// Sums of 16 bits over fields and constants.
fn checksums(document: &Value) -> Vec<Checksum<'_>> {
    let calculations: BTreeMap<&str, &Value> = list(document, "calculations")
        .iter()
        .filter(|one| text(one, "algo") == "csum16")
        .map(|one| (text(one, "name"), one))
        .collect();
    let made = list(document, "checksums").iter().filter_map(|one| {
        let calculation = calculations.get(text(one, "calculation"))?;
        Some(Checksum { target: field(one.get("target")?)?, input: list(calculation, "input") })
    });
    made.collect()
}

impl Walk {
    fn append(&mut self, value: &[bool]) {
        for bit in value {
            let wanted = self.ahead.remove(&self.bits.len());
            self.bits.push(wanted.unwrap_or(*bit));
        }
    }

    fn grow(&mut self, end: usize, pool: &Pool, random: &mut Stream) {
        let value = pool.value(end.saturating_sub(self.bits.len()), random);
        self.append(&value);
    }

    /// Follows a copy of a field or of what lies ahead, or of a slice of one.
    fn copy(&mut self, to: &Value, from: Option<&Value>) {
        let Some(to) = to.get("value").and_then(field) else { return };
        match from.and_then(|from| self.place(from)) {
            Some(place) => self.places.insert(owned(to), place),
            None => self.places.remove(&owned(to)),
        };
    }

    /// Where the bits of an operand are, if it is bits of the packet. p4c writes a slice as a shift and a
    /// mask.
    fn place(&self, operand: &Value) -> Option<(usize, usize)> {
        let value = operand.get("value")?;
        match text(operand, "type") {
            "field" => self.places.get(&owned(field(value)?)).copied(),
            "lookahead" => {
                let (offset, width) = (value.get(0)?.as_u64()?, value.get(1)?.as_u64()?);
                Some((self.bits.len() + offset as usize, width as usize))
            }
            "stack_field" => {
                let (stack, name) = field(value)?;
                let last = self.next.get(stack)?.checked_sub(1)?;
                self.places.get(&(format!("{stack}[{last}]"), name.to_owned())).copied()
            }
            "expression" if value.get("op").is_none() => self.place(value),
            "expression" => {
                let (start, width) = self.place(value.get("left")?)?;
                let number = value.get("right")?.get("value")?.as_str()?.strip_prefix("0x")?;
                let number = u64::from_str_radix(number, 16).ok()?;
                match text(value, "op") {
                    ">>" => Some((start, width.checked_sub(number as usize)?)),
                    "&" if number.trailing_ones() + number.leading_zeros() == u64::BITS => {
                        let kept = width.min(number.trailing_ones() as usize);
                        Some((start + width - kept, kept))
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Writes what a transition wants of its keys; the default wants nothing.
    fn steer(&mut self, keys: &[Value], transition: &Value) {
        let places: Option<Vec<(usize, usize)>> = keys.iter().map(|key| self.place(key)).collect();
        let Some(places) = places else { return };
        // Each key takes whole bytes of the value.
        let padded = |width: usize| width.next_multiple_of(8);
        let width = places.iter().map(|(_, width)| padded(*width)).sum();
        let Some(value) = bits_of_hex(text(transition, "value"), width) else { return };
        let mask = bits_of_hex(text(transition, "mask"), width);
        let mut at = 0;
        for (start, width) in places {
            at += padded(width) - width;
            for bit in 0..width {
                if mask.as_ref().is_none_or(|mask| mask[at]) {
                    self.set(start + bit, value[at]);
                }
                at += 1;
            }
        }
    }

    fn set(&mut self, at: usize, bit: bool) {
        match self.bits.get_mut(at) {
            Some(own) => *own = bit,
            None if at < MAX_BITS => drop(self.ahead.insert(at, bit)),
            None => {}
        }
    }

    /// Sets a sum right, if all of its parts are in the packet.
    fn correct(&mut self, checksum: &Checksum<'_>) {
        let Some(&(at, 16)) = self.places.get(&owned(checksum.target)) else { return };
        let mut summed = BitString::new();
        for part in checksum.input {
            let value = part.get("value");
            match text(part, "type") {
                "field" => {
                    let place = value.and_then(field).and_then(|field| self.places.get(&owned(field)));
                    let Some(&(start, width)) = place else { return };
                    let Some(own) = self.bits.get(start..start + width) else { return };
                    summed.extend_from_slice(own);
                }
                "hexstr" => {
                    let width = part.get("bitwidth").and_then(Value::as_u64).unwrap_or(0) as usize;
                    let own = value.and_then(Value::as_str).and_then(|text| bits_of_hex(text, width));
                    summed.extend(own.unwrap_or_default());
                }
                _ => return,
            }
        }
        let words = summed.chunks(16).map(|word| {
            word.iter().chain([false; 16].iter()).take(16).fold(0u64, |sum, bit| sum << 1 | u64::from(*bit))
        });
        let mut sum: u64 = words.sum();
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        for (bit, value) in bits(!sum & 0xffff, 16).into_iter().enumerate() {
            self.set(at + bit, value);
        }
    }
}
