//! Hash functions that can be changed at run time: the algorithm, the parts of the fields that are hashed,
//! and the hash of given fields. Each of the three tables has one entry only.

use p4cc_ir::{Bits, CrcFunction, HashFunction, HashId, HashKind};
use p4cc_p4runtime::errors::Failure;
use p4cc_p4runtime::p4info::chip::view;

use super::needs_key;
use crate::fields::{Match, Row, Value};
use crate::schema::{Data, Field, Means, Object, Table, Type};
use crate::target::{Entry, Target, Verb};
use p4cc_exec::HashSlice;

/// The program's hash that a table is of.
fn hash(target: &Target<'_>, table: &Table, at: u32) -> Result<HashId, Failure> {
    let name = view(target.program).and_then(|view| view.hashes.get(at as usize)).map(|hash| &hash.cp.name);
    let found = target.program.hashes.iter().position(|one| Some(&one.cp.name) == name);
    found.map(HashId::from_index).ok_or_else(|| {
        Failure::unimplemented(format!("table {}: this hash cannot be changed at run time", table.name))
    })
}

/// Sets the algorithm or the fields of a hash, or gives it back the program's.
pub(super) fn write(target: &mut Target<'_>, verb: Verb, entry: &Entry<'_>) -> Result<(), Failure> {
    let name = &entry.table.name;
    if !entry.is_default {
        return Err(Failure::unimplemented(format!("table {name} has only a default entry")));
    }
    let resets = match verb {
        Verb::Modify => false,
        Verb::Delete | Verb::Reset => true,
        _ => return Err(Failure::unimplemented(format!("table {name}: the default entry is set by MODIFY"))),
    };
    match entry.table.object {
        Object::HashAlgorithm(at) => {
            let id = hash(target, entry.table, at)?;
            let function = (!resets).then(|| function(target, entry, id)).transpose()?;
            let rotation = number(entry, "rotate").filter(|_| !resets).unwrap_or(0);
            let rotation = u32::try_from(rotation).map_err(|_| {
                Failure::invalid(format!("table {name}: rotate is {rotation}, more than any hash has bits"))
            })?;
            let state = target.state_mut()?;
            state.set_hash_function(id, function)?;
            state.set_hash_rotation(id, rotation)?;
            match text(entry, "algorithm_name").filter(|_| !resets) {
                Some(algorithm) => target.kept.hash_names.insert(at, algorithm.to_owned()),
                None => target.kept.hash_names.remove(&at),
            };
            Ok(())
        }
        Object::HashConfigure(at) => {
            let id = hash(target, entry.table, at)?;
            let slices = if resets { Vec::new() } else { slices(target, entry, id)? };
            Ok(target.state_mut()?.set_hash_slices(id, slices)?)
        }
        _ => Err(Failure::unimplemented(format!("table {name} can only be read"))),
    }
}

fn given<'e>(entry: &'e Entry<'_>, name: &str) -> Option<&'e Value> {
    entry.data.iter().find(|one| one.field.name == name).map(|one| &one.value)
}

fn text<'e>(entry: &'e Entry<'_>, name: &str) -> Option<&'e str> {
    match given(entry, name) {
        Some(Value::Text(text)) => Some(text),
        _ => None,
    }
}

fn number(entry: &Entry<'_>, name: &str) -> Option<u64> {
    match given(entry, name) {
        Some(Value::Number(bits)) => Some(bits.low_u64()),
        _ => None,
    }
}

fn truth(entry: &Entry<'_>, name: &str) -> bool {
    given(entry, name) == Some(&Value::Bool(true))
}

/// The hash function that a request describes.
fn function(target: &Target<'_>, entry: &Entry<'_>, id: HashId) -> Result<HashFunction, Failure> {
    let name = &entry.table.name;
    if number(entry, "seed").is_some_and(|seed| seed != 0) {
        return Err(Failure::unimplemented(format!("table {name}: seed is 0 here; leave it out")));
    }
    let (msb, extend) = (truth(entry, "msb"), truth(entry, "extend"));
    let action = entry.action.map_or("", |action| action.name.as_str());
    if action == "pre_defined" {
        let algorithm = text(entry, "algorithm_name").unwrap_or("RANDOM");
        let found = HashFunction::by_name(algorithm).ok_or_else(|| {
            Failure::unimplemented(format!("table {name}: there is no hash {algorithm} here"))
        })?;
        return Ok(HashFunction { msb, extend, ..found });
    }
    if action != "user_defined" {
        return Err(Failure::invalid(format!("table {name}: give the action pre_defined or user_defined")));
    }
    let own = target.program.hashes[id.index()].width;
    let width = number(entry, "hash_bit_width").map_or(own, |width| u32::try_from(width).unwrap_or(u32::MAX));
    let polynomial = number(entry, "polynomial").unwrap_or(0);
    // Clients may write the highest power, which every polynomial of this width has.
    let highest = 1_u64.checked_shl(width).unwrap_or(0);
    let crc = CrcFunction {
        width,
        polynomial: polynomial & !highest,
        initial: number(entry, "init").unwrap_or(0),
        final_xor: number(entry, "final_xor").unwrap_or(0),
        reversed: truth(entry, "reverse"),
    };
    Ok(HashFunction { kind: HashKind::Crc(crc), msb, extend })
}

fn inner(data: &[Data], name: &str) -> Option<u32> {
    data.iter().flat_map(|data| &data.fields).find(|field| field.name == name).map(|field| field.id)
}

/// The parts of fields that a request lists; fields that it leaves out are not hashed.
fn slices(target: &Target<'_>, entry: &Entry<'_>, id: HashId) -> Result<Vec<HashSlice>, Failure> {
    let widths: Vec<u32> = target.program.hashes[id.index()].fields.iter().map(|field| field.width).collect();
    let mut slices = Vec::new();
    for one in &entry.data {
        let (Means::Param(at), Type::Container(data), Value::Rows(rows)) =
            (one.field.means, &one.field.ty, &one.value)
        else {
            continue;
        };
        for row in rows {
            let part = |name: &str| -> Option<u32> {
                let wanted = inner(data, name)?;
                match row.iter().find(|(id, _)| *id == wanted) {
                    Some((_, Value::Number(bits))) => Some(u32::try_from(bits.low_u64()).unwrap_or(u32::MAX)),
                    _ => None,
                }
            };
            let Some(order) = part("order") else {
                let (table, field) = (&entry.table.name, &one.field.name);
                return Err(Failure::invalid(format!("table {table}, {field}: the order is missing")));
            };
            let (width, start_bit) = (widths.get(at).copied().unwrap_or(0), part("start_bit").unwrap_or(0));
            let length = part("length").unwrap_or_else(|| width.saturating_sub(start_bit));
            slices.push(HashSlice { field: at, start_bit, length, order });
        }
    }
    Ok(slices)
}

/// Reads the algorithm or the fields of a hash, or the hash of a key's fields.
pub(super) fn read(target: &mut Target<'_>, entry: &Entry<'_>) -> Result<Vec<Row>, Failure> {
    let row = match entry.table.object {
        Object::HashAlgorithm(at) => algorithm_row(target, entry.table, at)?,
        Object::HashConfigure(at) => configure_row(target, entry.table, at)?,
        Object::HashCompute(at) if !entry.is_default => return compute(target, entry, at),
        _ => return Ok(Vec::new()),
    };
    Ok(vec![row])
}

fn algorithm_row(target: &Target<'_>, table: &Table, at: u32) -> Result<Row, Failure> {
    let id = hash(target, table, at)?;
    let (function, rotation) = (*target.state()?.hash_function(id)?, target.state()?.hash_rotation(id)?);
    let (action, crc) = match (target.kept.hash_names.get(&at), function.kind) {
        (None, HashKind::Crc(crc)) => ("user_defined", Some(crc)),
        _ => ("pre_defined", None),
    };
    let kind = match function.kind {
        HashKind::Identity => "IDENTITY",
        HashKind::Random => "RANDOM",
        HashKind::Xor { .. } => "XOR",
        HashKind::Crc(_) => "",
    };
    let name = target.kept.hash_names.get(&at).map_or(kind, String::as_str);
    let Some(action) = table.actions.iter().find(|one| one.name == action) else { return Ok(Row::default()) };
    let value = |field: &Field| {
        let number = |value: u64| Value::Number(Bits::from_u128(field.ty.width(), value.into()));
        Some(match field.name.as_str() {
            "msb" => Value::Bool(function.msb),
            "extend" => Value::Bool(function.extend),
            "rotate" => number(rotation.into()),
            "seed" => number(0),
            "algorithm_name" => Value::Text(name.to_owned()),
            "reverse" => Value::Bool(crc?.reversed),
            "polynomial" => number(crc?.polynomial),
            "init" => number(crc?.initial),
            "final_xor" => number(crc?.final_xor),
            "hash_bit_width" => number(crc?.width.into()),
            _ => return None,
        })
    };
    let fields = action.data.iter().chain(&table.data).flat_map(|data| &data.fields);
    let data = fields.filter_map(|field| Some((field.id, value(field)?))).collect();
    Ok(Row { key: None, action: action.id, data })
}

fn configure_row(target: &Target<'_>, table: &Table, at: u32) -> Result<Row, Failure> {
    let id = hash(target, table, at)?;
    let set = target.state()?.hash_slices(id)?;
    let all = || {
        let fields = target.program.hashes[id.index()].fields.iter().enumerate();
        let whole = fields.map(|(at, field)| HashSlice {
            field: at,
            start_bit: 0,
            length: field.width,
            order: at as u32 + 1,
        });
        whole.collect::<Vec<_>>()
    };
    let slices = if set.is_empty() { all() } else { set.to_vec() };
    let rows = |at: usize, data: &[Data]| {
        let of = slices.iter().filter(|slice| slice.field == at);
        let row = |slice: &HashSlice| {
            let parts = [("start_bit", slice.start_bit), ("length", slice.length), ("order", slice.order)];
            let value = |value: u32| Value::Number(Bits::from_u128(64, value.into()));
            parts.iter().filter_map(|(name, part)| Some((inner(data, name)?, value(*part)))).collect()
        };
        Value::Rows(of.map(row).collect())
    };
    let fields = table.data.iter().flat_map(|data| &data.fields);
    let data = fields.filter_map(|field| match (&field.means, &field.ty) {
        (Means::Param(at), Type::Container(data)) => Some((field.id, rows(*at, data))),
        _ => None,
    });
    Ok(Row { key: None, action: 0, data: data.collect() })
}

fn compute(target: &Target<'_>, entry: &Entry<'_>, at: u32) -> Result<Vec<Row>, Failure> {
    let Some(key) = &entry.key else { return Err(needs_key(entry)) };
    let id = hash(target, entry.table, at)?;
    let fields = target.program.hashes[id.index()].fields.iter().enumerate();
    let values: Vec<Bits> = fields
        .map(|(at, field)| {
            let one = key.iter().find(|one| one.key.means == Means::Key(at));
            match one.map(|one| &one.value) {
                Some(Match::Exact(value)) => Bits::from_words(field.width, value.words()),
                _ => Bits::zero(field.width),
            }
        })
        .collect();
    let hash = target.state()?.hash_compute(id, &values)?;
    let mut fields = entry.table.data.iter().flat_map(|data| &data.fields);
    let value = fields.next().map(|field| (field.id, Value::Number(super::parts::widened(field, &hash))));
    let key = key.iter().map(|one| (one.key.id, one.value.clone())).collect();
    Ok(vec![Row { key: Some(key), action: 0, data: value.into_iter().collect() }])
}
