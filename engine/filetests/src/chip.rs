//! Commands of run cases on the objects that only TNA has:
//!
//! ```text
//! // set_filter NAME INDEX FILTER
//! // set_direct_filter TABLE KEY... => FILTER
//! //   FILTER: lpf rate|sample GAIN_NS DECAY_NS SCALE, or wred TIME_NS MIN MAX CHANCE
//! // set_meter NAME INDEX CIR CBURST PIR PBURST
//! // set_direct_meter TABLE KEY... => CIR CBURST PIR PBURST
//! // set_meter_adjust NAME BYTES
//! // set_direct_register TABLE KEY... => VALUE
//! // expect_direct_register TABLE KEY... => VALUE
//! // expect_direct_counter TABLE KEY... => PACKETS BYTES
//! // set_key_mask TABLE MASK...             which bits of its keys count
//! // set_default_entry TABLE member|group ID
//! // set_hash NAME FUNCTION               one of the chip's catalogue, or `program`
//! // set_hash_rotation NAME BITS
//! // expect_hash NAME FIELD... => VALUE   what the control plane computes
//! // set_hash_fields NAME FIELD:START:LENGTH:ORDER...
//! ```
//!
//! Without keys the default entry is meant.

use crate::script::{Key, key, number, small};
use p4cc_exec::control::{ControlError, EntryAction};
use p4cc_exec::{FilterConfig, HashSlice, LpfConfig, MeterConfig, State, WredConfig};
use p4cc_ir::{
    Bits, FilterId, HashFunction, HashId, MatchKind, MatchValue, MeterId, Program, RegisterId, TableId,
};

/// What the command is about.
#[derive(Clone, Debug, PartialEq)]
enum Place {
    /// A cell of an array.
    Cell(String, u32),
    /// An entry of a table.
    Entry(String, Vec<Key>),
}

/// What is done there.
#[derive(Clone, Debug, PartialEq)]
enum Act {
    Filter(FilterConfig),
    Meter(MeterConfig),
    MeterAdjust(i32),
    Register(u128),
    ExpectRegister(u128),
    ExpectCounter(u64, u64),
    Hash(Option<HashFunction>),
    KeyMask(Vec<u128>),
    Default(EntryAction),
    HashFields(Vec<HashSlice>),
    HashRotation(u32),
    ExpectHash(Vec<u128>, u128),
}

/// A command.
#[derive(Clone, Debug, PartialEq)]
pub struct ChipCommand {
    place: Place,
    act: Act,
}

impl ChipCommand {
    /// Whether it only looks.
    pub fn expects(&self) -> bool {
        matches!(self.act, Act::ExpectRegister(_) | Act::ExpectCounter(..) | Act::ExpectHash(..))
    }
}

fn float(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| format!("`{text}` is not a number"))
}

fn entry(rest: &str) -> Result<(Place, Vec<&str>), String> {
    let (head, tail) = rest.split_once("=>").ok_or("the command needs `=>`")?;
    let mut words = head.split_whitespace();
    let table = words.next().ok_or("the command needs a table")?.to_owned();
    let keys = words.map(key).collect::<Result<_, _>>()?;
    Ok((Place::Entry(table, keys), tail.split_whitespace().collect()))
}

fn cell<'t>(words: &[&'t str]) -> Result<(Place, Vec<&'t str>), String> {
    match words {
        [name, index, rest @ ..] => Ok((Place::Cell((*name).to_owned(), small(index)?), rest.to_vec())),
        _ => Err("the command needs a name and an index".to_owned()),
    }
}

fn filter(words: &[&str]) -> Result<Act, String> {
    let config = match words {
        ["lpf", kind @ ("rate" | "sample"), gain, decay, scale] => FilterConfig::Lpf(LpfConfig {
            rate: *kind == "rate",
            gain_time_ns: float(gain)?,
            decay_time_ns: float(decay)?,
            scale_down: small(scale)?,
        }),
        ["wred", time, min, max, chance] => FilterConfig::Wred(WredConfig {
            time_ns: float(time)?,
            min_threshold: small(min)?,
            max_threshold: small(max)?,
            max_probability: float(chance)?,
        }),
        _ => return Err("a filter is `lpf KIND GAIN DECAY SCALE` or `wred TIME MIN MAX CHANCE`".to_owned()),
    };
    Ok(Act::Filter(config))
}

fn meter(words: &[&str]) -> Result<Act, String> {
    let [cir, cburst, pir, pburst] = words else { return Err("a meter is CIR CBURST PIR PBURST".to_owned()) };
    let number = |text: &&str| small(text).map(u64::from);
    let (cir, cburst) = (number(cir)?, number(cburst)?);
    Ok(Act::Meter(MeterConfig { cir, cburst, pir: number(pir)?, pburst: number(pburst)? }))
}

fn slice(text: &str) -> Result<HashSlice, String> {
    let parts = text.split(':').map(small).collect::<Result<Vec<u32>, _>>()?;
    let [field, start_bit, length, order] = parts[..] else {
        return Err("a part is FIELD:START:LENGTH:ORDER".to_owned());
    };
    Ok(HashSlice { field: field as usize, start_bit, length, order })
}

/// Reads a command; `None` if it is another one.
pub fn parse(word: &str, words: &[&str], rest: &str) -> Result<Option<ChipCommand>, String> {
    let one = |words: &[&str]| match words {
        [value] => number(value),
        _ => Err("one value is wanted".to_owned()),
    };
    let named = |name: &str| Place::Cell(name.to_owned(), 0);
    let (place, act) = match (word, words) {
        ("set_filter", _) => cell(words).and_then(|(place, rest)| Ok((place, filter(&rest)?)))?,
        ("set_direct_filter", _) => entry(rest).and_then(|(place, rest)| Ok((place, filter(&rest)?)))?,
        ("set_meter", _) => cell(words).and_then(|(place, rest)| Ok((place, meter(&rest)?)))?,
        ("set_direct_meter", _) => entry(rest).and_then(|(place, rest)| Ok((place, meter(&rest)?)))?,
        ("set_meter_adjust", [name, bytes]) => {
            let bytes = bytes.parse().map_err(|_| format!("`{bytes}` is not a number"))?;
            (named(name), Act::MeterAdjust(bytes))
        }
        ("set_direct_register", _) => {
            let (place, rest) = entry(rest)?;
            (place, Act::Register(one(&rest)?))
        }
        ("expect_direct_register", _) => {
            let (place, rest) = entry(rest)?;
            (place, Act::ExpectRegister(one(&rest)?))
        }
        ("expect_direct_counter", _) => match entry(rest)? {
            (place, counts) if counts.len() == 2 => {
                (place, Act::ExpectCounter(small(counts[0])?.into(), small(counts[1])?.into()))
            }
            _ => return Err("packets and bytes are wanted".to_owned()),
        },
        ("set_default_entry", [name, "member", id]) => {
            (named(name), Act::Default(EntryAction::Member(small(id)?)))
        }
        ("set_default_entry", [name, "group", id]) => {
            (named(name), Act::Default(EntryAction::Group(small(id)?)))
        }
        ("set_key_mask", [name, masks @ ..]) => {
            (named(name), Act::KeyMask(masks.iter().map(|mask| number(mask)).collect::<Result<_, _>>()?))
        }
        ("set_hash_rotation", [name, bits]) => (named(name), Act::HashRotation(small(bits)?)),
        ("expect_hash", [name, fields @ .., "=>", value]) => {
            let fields = fields.iter().map(|field| number(field)).collect::<Result<_, _>>()?;
            (named(name), Act::ExpectHash(fields, number(value)?))
        }
        ("set_hash", [name, "program"]) => (named(name), Act::Hash(None)),
        ("set_hash", [name, function]) => {
            let known = HashFunction::by_name(function);
            (named(name), Act::Hash(Some(known.ok_or_else(|| format!("no hash is named `{function}`"))?)))
        }
        ("set_hash_fields", [name, parts @ ..]) => {
            (named(name), Act::HashFields(parts.iter().map(|part| slice(part)).collect::<Result<_, _>>()?))
        }
        _ => return Ok(None),
    };
    Ok(Some(ChipCommand { place, act }))
}

fn find<T>(list: &[T], name: &str, of: impl Fn(&T) -> &str) -> Result<usize, String> {
    list.iter().position(|one| of(one) == name).ok_or_else(|| format!("there is no `{name}`"))
}

/// The entry that keys stand for.
fn matches(program: &Program, table: TableId, keys: &[Key]) -> Result<Vec<MatchValue>, String> {
    let declared = program.tables[table.index()].keys.iter().filter(|key| key.kind != MatchKind::Selector);
    let parts = keys.iter().zip(declared).map(|(key, declared)| {
        let width = program.vars[declared.var.index()].ty.width();
        crate::runner::match_value(key, declared.kind, width)
    });
    parts.collect()
}

/// Runs a command.
pub fn run(program: &Program, state: &mut State, command: &ChipCommand) -> Result<(), String> {
    let done = match &command.place {
        Place::Cell(name, index) => at_cell(program, state, (name, *index), &command.act)?,
        Place::Entry(table, keys) => {
            let id = TableId::from_index(find(&program.tables, table, |table| &table.cp.name)?);
            at_entry(program, state, (id, &matches(program, id, keys)?), &command.act)?
        }
    };
    done.map_err(|error| error.to_string())
}

type Done = Result<Result<(), ControlError>, String>;

fn at_cell(program: &Program, state: &mut State, (name, index): (&str, u32), act: &Act) -> Done {
    let meter = || find(&program.meters, name, |one| &one.cp.name).map(MeterId::from_index);
    let hash = || find(&program.hashes, name, |one| &one.cp.name).map(HashId::from_index);
    Ok(match act {
        Act::Filter(config) => {
            let id = FilterId::from_index(find(&program.filters, name, |one| &one.cp.name)?);
            let set = state.filter_write(id, index, Some(*config));
            if set.is_ok() && state.filter_read(id, index) != Ok(Some(*config)) {
                return Err("the filter reads otherwise than it was written".to_owned());
            }
            set
        }
        Act::Meter(config) => state.meter_write(meter()?, index, Some(*config)),
        Act::MeterAdjust(bytes) => state.set_meter_adjust(meter()?, *bytes),
        Act::HashRotation(bits) => state.set_hash_rotation(hash()?, *bits),
        Act::ExpectHash(fields, wanted) => {
            let id = hash()?;
            let declared = &program.hashes[id.index()].fields;
            let bits = fields.iter().zip(declared).map(|(value, field)| Bits::from_u128(field.width, *value));
            match state.hash_compute(id, &bits.collect::<Vec<_>>()) {
                Ok(given) if given.to_u128() == Some(*wanted) => Ok(()),
                Ok(given) => return Err(format!("it is {given}, should be {wanted:#x}")),
                Err(error) => Err(error),
            }
        }
        Act::Hash(function) => state.set_hash_function(hash()?, *function),
        Act::Default(entry) => {
            let id = TableId::from_index(find(&program.tables, name, |one| &one.cp.name)?);
            let set = state.set_default_entry(id, entry.clone());
            if set.is_ok() && state.default_entry(id).as_ref() != Ok(entry) {
                return Err("the default entry reads otherwise than it was written".to_owned());
            }
            set
        }
        Act::KeyMask(masks) => {
            let id = find(&program.tables, name, |one| &one.cp.name)?;
            let keys = &program.tables[id].keys;
            let bits = masks
                .iter()
                .zip(keys)
                .map(|(mask, key)| Bits::from_u128(program.vars[key.var.index()].ty.width(), *mask));
            state.set_key_mask(TableId::from_index(id), bits.collect())
        }
        Act::HashFields(slices) => state.set_hash_slices(hash()?, slices.clone()),
        _ => return Err("this is done to entries".to_owned()),
    })
}

fn at_entry(
    program: &Program,
    state: &mut State,
    (id, matches): (TableId, &[MatchValue]),
    act: &Act,
) -> Done {
    let same = |given: String, wanted: String| match given == wanted {
        true => Ok(Ok(())),
        false => Err(format!("it is {given}, should be {wanted}")),
    };
    let width = |id: Option<RegisterId>| id.map_or(0, |id| program.registers[id.index()].ty.width());
    Ok(match act {
        Act::Filter(config) => state.direct_filter_write(id, matches, 0, Some(*config)),
        Act::Meter(config) => state.direct_meter_write(id, matches, 0, Some(*config)),
        Act::Register(value) => {
            let width = width(program.tables[id.index()].register);
            state.direct_register_write(id, matches, 0, &Bits::from_u128(width, *value))
        }
        Act::ExpectRegister(value) => match state.direct_register_read(id, matches, 0) {
            Ok(read) => return same(format!("{:?}", read.to_u128()), format!("{:?}", Some(*value))),
            Err(error) => Err(error),
        },
        Act::ExpectCounter(packets, bytes) => match state.direct_counter_read(id, matches, 0) {
            Ok(read) => {
                let given = format!("{} packets, {} bytes", read.packets, read.bytes);
                return same(given, format!("{packets} packets, {bytes} bytes"));
            }
            Err(error) => Err(error),
        },
        _ => return Err("this is done to arrays".to_owned()),
    })
}
