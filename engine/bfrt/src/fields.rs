//! Values of fields between the wire and the engine, by the types that the schema gives them.

use p4cc_ir::Bits;
use p4cc_p4runtime::errors::Failure;

use crate::proto::bfrt_proto as wire;
use crate::schema::{Action, Data, Field, Key, KeyKind, Table, Type};
use wire::data_field::{BoolArray, ContainerArray, IntArray, StrArray, Value as Given, container_array};
use wire::key_field::MatchType;

/// Most fields of one key or data, those in containers included.
const MAX_FIELDS: usize = 1 << 16;

/// A value of a data field.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number of the field's width.
    Number(Bits),
    /// The same field once for each pipe.
    PerPipe(Vec<Bits>),
    /// Truth.
    Bool(bool),
    /// A number with a point.
    Float(f32),
    /// Text.
    Text(String),
    /// An array of numbers.
    Numbers(Vec<u32>),
    /// An array of truths.
    Bools(Vec<bool>),
    /// An array of texts.
    Texts(Vec<String>),
    /// Containers, each with its fields.
    Rows(Vec<Vec<(u32, Value)>>),
}

/// How a key field is to match.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Match {
    /// Equal.
    Exact(Bits),
    /// Equal, of a field that is text.
    Text(String),
    /// Bits of a mask.
    Ternary(Bits, Bits),
    /// The first so many bits.
    Lpm(Bits, u32),
    /// From the first to the second.
    Range(Bits, Bits),
    /// Equal, or anything where it is not valid.
    Optional(Bits, bool),
}

/// A data field of a request.
#[derive(Clone, Debug)]
pub struct GivenField<'a> {
    /// As the schema has it.
    pub field: &'a Field,
    /// What is given.
    pub value: Value,
}

/// A key field of a request.
#[derive(Clone, Debug)]
pub struct GivenKey<'a> {
    /// As the schema has it.
    pub key: &'a Key,
    /// What is given.
    pub value: Match,
}

/// An entry as it is read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// Key fields; none of a default entry.
    pub key: Option<Vec<(u32, Match)>>,
    /// The action's number; 0 for none.
    pub action: u32,
    /// Data fields by their numbers.
    pub data: Vec<(u32, Value)>,
}

/// Reads the key of a request.
///
/// # Errors
/// A field that the table does not have, twice the same, of another type or too wide.
pub fn parse_key<'a>(table: &'a Table, given: &wire::TableKey) -> Result<Vec<GivenKey<'a>>, Failure> {
    if given.fields.len() > table.key.len() {
        return Err(Failure::invalid(format!(
            "table {} has {} key fields, but {} are given",
            table.name,
            table.key.len(),
            given.fields.len()
        )));
    }
    let mut parsed: Vec<GivenKey<'a>> = Vec::with_capacity(given.fields.len());
    for one in &given.fields {
        let Some(key) = table.key(one.field_id) else {
            return Err(Failure::invalid(format!(
                "table {} has no key field with id {}",
                table.name, one.field_id
            )));
        };
        if parsed.iter().any(|other| other.key.id == key.id) {
            return Err(Failure::invalid(format!("table {}, key {}: given twice", table.name, key.name)));
        }
        parsed.push(GivenKey { key, value: parse_match(table, key, one)? });
    }
    let missing = |key: &&Key| key.mandatory && parsed.iter().all(|one| one.key.id != key.id);
    match table.key.iter().find(missing) {
        Some(key) => {
            Err(Failure::invalid(format!("table {}, key {}: it must be given", table.name, key.name)))
        }
        None => Ok(parsed),
    }
}

fn parse_match(table: &Table, key: &Key, given: &wire::KeyField) -> Result<Match, Failure> {
    let place = || format!("table {}, key {}", table.name, key.name);
    let number = |bytes: &[u8]| parse_number(&place, &key.ty, bytes);
    let kind = match key.kind {
        KeyKind::Atcam | KeyKind::DleftHash => KeyKind::Exact,
        kind => kind,
    };
    match (kind, &given.match_type) {
        (_, None) => Err(Failure::invalid(format!("{}: no value is given", place()))),
        (KeyKind::Exact, Some(MatchType::Exact(exact))) if matches!(key.ty, Type::Text(..)) => {
            let text = String::from_utf8(exact.value.clone());
            let text = text.map_err(|_| Failure::invalid(format!("{}: the text is not UTF-8", place())))?;
            Ok(Match::Text(choice(&place, &key.ty, &text)?))
        }
        (KeyKind::Exact, Some(MatchType::Exact(exact))) => Ok(Match::Exact(number(&exact.value)?)),
        (KeyKind::Ternary, Some(MatchType::Ternary(ternary))) => {
            let (value, mask) = (number(&ternary.value)?, number(&ternary.mask)?);
            Ok(Match::Ternary(and(&value, &mask), mask))
        }
        (KeyKind::Lpm, Some(MatchType::Lpm(lpm))) => {
            let (value, width) = (number(&lpm.value)?, key.ty.width());
            let Some(len) = u32::try_from(lpm.prefix_len).ok().filter(|len| *len <= width) else {
                let len = lpm.prefix_len;
                return Err(Failure::invalid(format!(
                    "{}: prefix length {len} is not between 0 and {width}",
                    place()
                )));
            };
            Ok(Match::Lpm(and(&value, &prefix_mask(width, len)), len))
        }
        (KeyKind::Range, Some(MatchType::Range(range))) => {
            Ok(Match::Range(number(&range.low)?, number(&range.high)?))
        }
        (KeyKind::Optional, Some(MatchType::Optional(optional))) => {
            Ok(Match::Optional(number(&optional.value)?, optional.is_valid))
        }
        (kind, Some(_)) => Err(Failure::invalid(format!(
            "{}: it matches by {kind:?}, another kind of match is given",
            place()
        ))),
    }
}

/// A number in the bytes that its width needs.
fn parse_number(place: &dyn Fn() -> String, ty: &Type, bytes: &[u8]) -> Result<Bits, Failure> {
    let width = ty.width();
    let len = width.div_ceil(8) as usize;
    if width == 0 {
        return Err(Failure::invalid(format!("{}: it is not a number", place())));
    }
    if bytes.len() != len {
        return Err(Failure::invalid(format!(
            "{}: {} bytes are given, its {width} bits take {len}",
            place(),
            bytes.len()
        )));
    }
    let value = Bits::from_be_bytes(width, bytes);
    if value.to_be_bytes() != bytes {
        return Err(Failure::invalid(format!("{}: the value is wider than its {width} bits", place())));
    }
    Ok(value)
}

/// A text as the schema spells it: clients write names in small letters too.
fn choice(place: &dyn Fn() -> String, ty: &Type, text: &str) -> Result<String, Failure> {
    match ty {
        Type::Text(choices, _) if !choices.is_empty() => {
            let found = choices.iter().find(|one| one.eq_ignore_ascii_case(text));
            let none = || format!("{}: `{text:.64}` is none of {}", place(), choices.join(", "));
            found.map(ToString::to_string).ok_or_else(|| Failure::invalid(none()))
        }
        _ => Ok(text.to_owned()),
    }
}

/// Reads the data of a request that writes.
///
/// # Errors
/// A field that the action and the table do not have, twice the same, that can only be read, or of another
/// type.
pub fn parse_data<'a>(
    table: &'a Table,
    action: Option<&'a Action>,
    given: &[wire::DataField],
) -> Result<Vec<GivenField<'a>>, Failure> {
    if given.len() > MAX_FIELDS {
        return Err(Failure::exhausted(format!("table {}: more than {MAX_FIELDS} data fields", table.name)));
    }
    let mut parsed: Vec<GivenField<'a>> = Vec::with_capacity(given.len());
    for one in given {
        let Some((data, field)) = table.field(action, one.field_id) else {
            return Err(no_field(table, action, one.field_id));
        };
        let place = || format!("table {}, data field {}", table.name, field.name);
        if data.read_only {
            return Err(Failure::invalid(format!("{}: it can only be read", place())));
        }
        if parsed.iter().any(|other| other.field.id == field.id) {
            return Err(Failure::invalid(format!("{}: given twice", place())));
        }
        // Clients name fields that they leave to their defaults.
        if one.value.is_none() {
            continue;
        }
        parsed.push(GivenField { field, value: parse_value(&place, field, one)? });
    }
    Ok(parsed)
}

fn no_field(table: &Table, action: Option<&Action>, id: u32) -> Failure {
    let action = action.map(|action| format!(", action {}", action.name)).unwrap_or_default();
    Failure::invalid(format!("table {}{action}: there is no data field with id {id}", table.name))
}

/// The fields that a read asks for; all where it names none.
///
/// # Errors
/// A field that the table does not have.
pub fn wanted_fields(
    table: &Table,
    action: Option<&Action>,
    given: &[wire::DataField],
) -> Result<Vec<u32>, Failure> {
    let known = |id: u32| {
        let of_any = || table.actions.iter().any(|action| table.field(Some(action), id).is_some());
        table.field(action, id).is_some() || (action.is_none() && of_any())
    };
    if let Some(one) = given.iter().find(|one| !known(one.field_id)) {
        return Err(no_field(table, action, one.field_id));
    }
    Ok(given.iter().map(|one| one.field_id).collect())
}

fn parse_value(place: &dyn Fn() -> String, field: &Field, given: &wire::DataField) -> Result<Value, Failure> {
    let other = || {
        Failure::invalid(format!(
            "{}: the value is not of its type, {}",
            place(),
            type_name(&field.ty, field.repeated)
        ))
    };
    let Some(value) = &given.value else {
        return Err(Failure::invalid(format!("{}: no value is given", place())));
    };
    match (&field.ty, field.repeated, value) {
        (Type::Container(inner), _, Given::ContainerArrVal(rows)) => parse_rows(place, inner, rows),
        (Type::Int(..) | Type::Bytes(..), false, Given::Stream(bytes)) => {
            Ok(Value::Number(parse_number(place, &field.ty, bytes)?))
        }
        // A list of bytes, in one piece.
        (Type::Bytes(8, _), true, Given::Stream(bytes)) if bytes.len() <= MAX_FIELDS => {
            Ok(Value::Numbers(bytes.iter().map(|byte| u32::from(*byte)).collect()))
        }
        (Type::Int(..) | Type::Bytes(..), true, Given::IntArrVal(array)) => {
            if array.val.len() > MAX_FIELDS {
                return Err(Failure::exhausted(format!("{}: more than {MAX_FIELDS} numbers", place())));
            }
            Ok(Value::Numbers(array.val.clone()))
        }
        (Type::Bool(_), false, Given::BoolVal(value)) => Ok(Value::Bool(*value)),
        (Type::Bool(_), true, Given::BoolArrVal(array)) => Ok(Value::Bools(array.val.clone())),
        (Type::Float(_), false, Given::FloatVal(value)) => Ok(Value::Float(*value)),
        (Type::Text(..), false, Given::StrVal(text)) => Ok(Value::Text(choice(place, &field.ty, text)?)),
        (Type::Text(..), true, Given::StrArrVal(array)) => {
            let texts = array.val.iter().map(|text| choice(place, &field.ty, text));
            Ok(Value::Texts(texts.collect::<Result<_, _>>()?))
        }
        _ => Err(other()),
    }
}

fn parse_rows(place: &dyn Fn() -> String, inner: &[Data], given: &ContainerArray) -> Result<Value, Failure> {
    let fields: usize = given.container.iter().map(|row| row.val.len()).sum();
    if fields > MAX_FIELDS {
        return Err(Failure::exhausted(format!("{}: more than {MAX_FIELDS} fields", place())));
    }
    let mut rows = Vec::with_capacity(given.container.len());
    for row in &given.container {
        let mut values = Vec::with_capacity(row.val.len());
        for one in &row.val {
            let found = inner.iter().flat_map(|data| &data.fields).find(|field| field.id == one.field_id);
            let Some(field) = found else {
                let id = one.field_id;
                return Err(Failure::invalid(format!("{}: there is no field with id {id} in it", place())));
            };
            // A field without a value has its default.
            if one.value.is_some() {
                values.push((field.id, parse_value(&|| format!("{}.{}", place(), field.name), field, one)?));
            }
        }
        rows.push(values);
    }
    Ok(Value::Rows(rows))
}

fn type_name(ty: &Type, repeated: bool) -> String {
    let name = match ty {
        Type::Int(name, _) => (*name).to_owned(),
        Type::Bytes(width, _) => format!("{width} bits"),
        Type::Bool(_) => "bool".to_owned(),
        Type::Float(_) => "float".to_owned(),
        Type::Text(..) => "string".to_owned(),
        Type::Container(_) => "container".to_owned(),
    };
    if repeated { format!("array of {name}") } else { name }
}

/// A key field as the wire has it.
pub fn key_field(field_id: u32, value: Match) -> wire::KeyField {
    let bytes = |bits: &Bits| bits.to_be_bytes();
    let match_type = match value {
        Match::Exact(value) => MatchType::Exact(wire::key_field::Exact { value: bytes(&value) }),
        Match::Text(text) => MatchType::Exact(wire::key_field::Exact { value: text.into_bytes() }),
        Match::Ternary(value, mask) => {
            MatchType::Ternary(wire::key_field::Ternary { value: bytes(&value), mask: bytes(&mask) })
        }
        Match::Lpm(value, len) => MatchType::Lpm(wire::key_field::Lpm {
            value: bytes(&value),
            prefix_len: i32::try_from(len).unwrap_or(i32::MAX),
        }),
        Match::Range(low, high) => {
            MatchType::Range(wire::key_field::Range { low: bytes(&low), high: bytes(&high) })
        }
        Match::Optional(value, is_valid) => {
            MatchType::Optional(wire::key_field::Optional { value: bytes(&value), is_valid })
        }
    };
    wire::KeyField { field_id, match_type: Some(match_type) }
}

/// Data fields as the wire has them.
pub fn data_fields(field_id: u32, value: Value, out: &mut Vec<wire::DataField>) {
    let given = match value {
        Value::PerPipe(values) => {
            let one = |value: &Bits| Some(Given::Stream(value.to_be_bytes()));
            out.extend(values.iter().map(|value| wire::DataField { field_id, value: one(value) }));
            return;
        }
        Value::Number(value) => Given::Stream(value.to_be_bytes()),
        Value::Bool(value) => Given::BoolVal(value),
        Value::Float(value) => Given::FloatVal(value),
        Value::Text(text) => Given::StrVal(text),
        Value::Numbers(val) => Given::IntArrVal(IntArray { val }),
        Value::Bools(val) => Given::BoolArrVal(BoolArray { val }),
        Value::Texts(val) => Given::StrArrVal(StrArray { val }),
        Value::Rows(rows) => {
            let row = |values: Vec<(u32, Value)>| {
                let mut val = Vec::with_capacity(values.len());
                values.into_iter().for_each(|(id, value)| data_fields(id, value, &mut val));
                container_array::Container { val }
            };
            Given::ContainerArrVal(ContainerArray { container: rows.into_iter().map(row).collect() })
        }
    };
    out.push(wire::DataField { field_id, value: Some(given) });
}

/// Bits that both have.
pub fn and(a: &Bits, b: &Bits) -> Bits {
    let words: Vec<u64> = a.words().iter().zip(b.words()).map(|(a, b)| a & b).collect();
    Bits::from_words(a.width(), &words)
}

/// All bits of a width.
pub fn all_ones(width: u32) -> Bits {
    Bits::from_words(width, &vec![u64::MAX; p4cc_ir::bits::words_for(width)])
}

/// The first `len` bits of a width.
pub fn prefix_mask(width: u32, len: u32) -> Bits {
    let mut words = vec![u64::MAX; p4cc_ir::bits::words_for(width)];
    let low = width.saturating_sub(len);
    for (at, word) in words.iter_mut().enumerate() {
        let below = low.saturating_sub(at as u32 * 64);
        *word = if below >= 64 { 0 } else { u64::MAX << below };
    }
    Bits::from_words(width, &words)
}
