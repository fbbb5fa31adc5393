//! Matches and actions between the protocol's messages and the IR's values.

use p4cc_ir::{ActionCall, ActionId, ActionScope, Bits, MatchKind, MatchValue, VarType};

use crate::catalog::Catalog;
use crate::codec::{canonical, hex, parse};
use crate::errors::Failure;
use crate::objects::{KeyInfo, TableInfo};
use crate::proto::p4::v1 as p4;
use p4::field_match::{Exact, FieldMatchType, Lpm, Optional, Range, Ternary};

/// Where an action is to stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Entry,
    Default,
}

/// Reads the match of a table entry: one value for each key, [`MatchValue::Any`] where none is given.
pub(crate) fn parse_match(
    catalog: &Catalog,
    info: &TableInfo,
    given: &[p4::FieldMatch],
) -> Result<Vec<MatchValue>, Failure> {
    parse_keys(&format!("table {}", catalog.table_name(info.table)), &info.keys, given)
}

/// Reads a value for each key of a table or value set.
pub(crate) fn parse_keys(
    owner: &str,
    keys: &[KeyInfo],
    given: &[p4::FieldMatch],
) -> Result<Vec<MatchValue>, Failure> {
    let with_bits = keys.iter().filter(|key| key.position.is_some()).count();
    let mut values = vec![MatchValue::Any; with_bits];
    let mut seen = vec![false; keys.len()];
    for field in given {
        let Some((at, key)) = keys.iter().enumerate().find(|(_, key)| key.id == field.field_id) else {
            return Err(Failure::invalid(format!("{owner} has no match field with id {}", field.field_id)));
        };
        if std::mem::replace(&mut seen[at], true) {
            return Err(Failure::invalid(format!("{owner}, field {}: given twice", key.name)));
        }
        let value = parse_field(&format!("{owner}, field {}", key.name), key, field)?;
        if let Some(position) = key.position {
            values[position] = value;
        }
    }
    let is_missing = |(at, key): &(usize, &KeyInfo)| key.kind == MatchKind::Exact && !seen[*at];
    match keys.iter().enumerate().find(is_missing) {
        Some((_, key)) => {
            Err(Failure::invalid(format!("{owner}, field {}: an exact field must be given", key.name)))
        }
        None => Ok(values),
    }
}

fn parse_field(place: &str, key: &KeyInfo, field: &p4::FieldMatch) -> Result<MatchValue, Failure> {
    let value = |bytes: &[u8], part: &str| key.form.parse(bytes, || format!("{place}{part}"));
    let Some(given) = &field.field_match_type else {
        return Err(Failure::invalid(format!("{place}: no value; leave the field out for \"don't care\"")));
    };
    if !key.form.is_own() {
        return parse_foreign(place, key, given);
    }
    match (key.kind, given) {
        (MatchKind::Exact, FieldMatchType::Exact(exact)) => Ok(MatchValue::Exact(value(&exact.value, "")?)),
        (MatchKind::Optional, FieldMatchType::Optional(optional)) => {
            Ok(key.whole(value(&optional.value, "")?))
        }
        (MatchKind::Lpm, FieldMatchType::Lpm(lpm)) => parse_lpm(place, key, lpm, value(&lpm.value, "")?),
        (MatchKind::Ternary, FieldMatchType::Ternary(ternary)) => {
            let value = value(&ternary.value, " value")?;
            let mask = parse(&ternary.mask, key.ty.width(), || format!("{place} mask"))?;
            if mask.is_zero() {
                return Err(Failure::invalid(format!(
                    "{place}: the mask is zero; leave the field out for \"don't care\""
                )));
            }
            let outside = value.words().iter().zip(mask.words()).any(|(value, mask)| value & !mask != 0);
            if outside {
                let (value, mask) = (hex(&canonical(&value)), hex(&canonical(&mask)));
                return Err(Failure::invalid(format!(
                    "{place}: value {value} has bits outside of mask {mask}; clear them"
                )));
            }
            Ok(MatchValue::Ternary { value, mask })
        }
        (MatchKind::Range, FieldMatchType::Range(range)) => {
            let (low, high) = (value(&range.low, " low")?, value(&range.high, " high")?);
            if order(&low, key.ty) > order(&high, key.ty) {
                let (low, high) = (hex(&canonical(&low)), hex(&canonical(&high)));
                let signed = match key.ty {
                    VarType::Int(width) => format!(", as numbers of int<{width}>"),
                    _ => String::new(),
                };
                return Err(Failure::invalid(format!(
                    "{place}: low {low} is above high {high}{signed}; swap them"
                )));
            }
            if is_everything(&low, &high, key.ty) {
                return Err(Failure::invalid(format!(
                    "{place}: the range is everything; leave the field out"
                )));
            }
            Ok(MatchValue::Range { low, high })
        }
        (kind, _) => Err(Failure::invalid(format!(
            "{place}: the field is {}; another match type was given",
            kind.name()
        ))),
    }
}

/// Reads a match whose value stands for another of the program. Masks, prefixes and ranges mean nothing for
/// such values, but for those that name one value (P4Runtime "Translation of Match Fields").
fn parse_foreign(place: &str, key: &KeyInfo, given: &FieldMatchType) -> Result<MatchValue, Failure> {
    let place = || place.to_owned();
    let one = |bytes: &[u8]| key.form.parse(bytes, place);
    let all_set = |mask: &[u8]| match key.form.sdn_width() {
        Some(width) => parse(mask, width, place).map(|mask| mask == all_ones(width)),
        None => Ok(!mask.is_empty() && mask.iter().all(|byte| *byte == 0xff)
            || parse(mask, key.ty.width(), place).is_ok_and(|mask| mask == all_ones(key.ty.width()))),
    };
    let value = match (key.kind, given) {
        (MatchKind::Exact, FieldMatchType::Exact(exact)) => one(&exact.value)?,
        (MatchKind::Optional, FieldMatchType::Optional(optional)) => one(&optional.value)?,
        (MatchKind::Ternary, FieldMatchType::Ternary(ternary)) if all_set(&ternary.mask)? => {
            one(&ternary.value)?
        }
        (MatchKind::Lpm, FieldMatchType::Lpm(lpm))
            if u32::try_from(lpm.prefix_len) == Ok(key.form.sdn_width().unwrap_or(key.ty.width())) =>
        {
            one(&lpm.value)?
        }
        (MatchKind::Range, FieldMatchType::Range(range)) if range.low == range.high => one(&range.low)?,
        (MatchKind::Ternary, FieldMatchType::Ternary(_))
        | (MatchKind::Lpm, FieldMatchType::Lpm(_))
        | (MatchKind::Range, FieldMatchType::Range(_)) => {
            return Err(Failure::invalid(format!(
                "{}: the value is translated, so it is matched whole or not at all; give a mask of ones, the whole prefix \
                 or a range of one value",
                place()
            )));
        }
        (kind, _) => {
            let kind = kind.name();
            return Err(Failure::invalid(format!(
                "{}: the field is {kind}; another match type was given",
                place()
            )));
        }
    };
    Ok(key.whole(value))
}

/// A match of one value of the program, for the controller.
fn foreign_field(key: &KeyInfo, value: &Bits) -> FieldMatchType {
    let value = key.form.given(value);
    let width = key.form.sdn_width().unwrap_or(key.ty.width());
    match key.kind {
        MatchKind::Optional => FieldMatchType::Optional(Optional { value }),
        MatchKind::Ternary => FieldMatchType::Ternary(Ternary { value, mask: canonical(&all_ones(width)) }),
        MatchKind::Lpm => {
            let prefix_len = i32::try_from(width).unwrap_or(i32::MAX);
            FieldMatchType::Lpm(Lpm { value, prefix_len })
        }
        MatchKind::Range => FieldMatchType::Range(Range { low: value.clone(), high: value }),
        MatchKind::Exact | MatchKind::Selector => FieldMatchType::Exact(Exact { value }),
    }
}

/// The one value that a match takes, if it takes one.
fn one_value(value: &MatchValue, width: u32) -> Option<&Bits> {
    match value {
        MatchValue::Exact(value) => Some(value),
        MatchValue::Lpm { value, len } if *len == width => Some(value),
        MatchValue::Ternary { value, mask } if *mask == all_ones(width) => Some(value),
        MatchValue::Range { low, high } if low == high => Some(low),
        _ => None,
    }
}

impl KeyInfo {
    /// The match of one value as the program matches.
    fn whole(&self, value: Bits) -> MatchValue {
        match self.own {
            MatchKind::Ternary => MatchValue::Ternary { value, mask: all_ones(self.ty.width()) },
            MatchKind::Lpm => MatchValue::Lpm { value, len: self.ty.width() },
            MatchKind::Range => MatchValue::Range { low: value.clone(), high: value },
            MatchKind::Exact | MatchKind::Optional | MatchKind::Selector => MatchValue::Exact(value),
        }
    }
}

fn parse_lpm(place: &str, key: &KeyInfo, lpm: &Lpm, value: Bits) -> Result<MatchValue, Failure> {
    let width = key.ty.width();
    let len = match u32::try_from(lpm.prefix_len) {
        Ok(0) => {
            return Err(Failure::invalid(format!(
                "{place}: prefix length 0; leave the field out for \"don't care\""
            )));
        }
        Ok(len) if len <= width => len,
        _ => {
            let len = lpm.prefix_len;
            return Err(Failure::invalid(format!("{place}: prefix length {len} is not from 1 to {width}")));
        }
    };
    if (0..width - len).any(|bit| value.words()[(bit / 64) as usize] >> (bit % 64) & 1 == 1) {
        let value = hex(&canonical(&value));
        return Err(Failure::invalid(format!(
            "{place}: {value} has bits set after the prefix of {len} bits; clear them"
        )));
    }
    Ok(MatchValue::Lpm { value, len })
}

/// What sorts as the numbers of a type do.
fn order(value: &Bits, ty: VarType) -> Vec<u8> {
    let mut bytes = value.to_be_bytes();
    if let (VarType::Int(width), Some(first)) = (ty, bytes.first_mut()) {
        *first ^= 1 << (width.saturating_sub(1) % 8);
    }
    bytes
}

/// Whether a range holds all numbers of a type.
fn is_everything(low: &Bits, high: &Bits, ty: VarType) -> bool {
    order(low, ty).iter().all(|byte| *byte == 0) && order(high, ty) == all_ones(ty.width()).to_be_bytes()
}

fn all_ones(width: u32) -> Bits {
    Bits::from_words(width, &vec![u64::MAX; p4cc_ir::bits::words_for(width)])
}

/// The match of an entry, without its "don't care" fields.
pub(crate) fn match_fields(keys: &[KeyInfo], values: &[MatchValue]) -> Vec<p4::FieldMatch> {
    let field = |key: &KeyInfo| match key.position {
        Some(position) => field(key, values.get(position)?),
        None if key.kind == MatchKind::Exact => field(key, &MatchValue::Exact(Bits::zero(0))),
        None => None,
    };
    keys.iter().filter_map(field).collect()
}

fn field(key: &KeyInfo, value: &MatchValue) -> Option<p4::FieldMatch> {
    if !key.form.is_own() || key.kind != key.own {
        // A match that the controller cannot express is one of the program's own entries.
        let given = foreign_field(key, one_value(value, key.ty.width())?);
        return Some(p4::FieldMatch { field_id: key.id, field_match_type: Some(given) });
    }
    let given = match value {
        MatchValue::Any => return None,
        MatchValue::Exact(value) if key.kind == MatchKind::Optional => {
            FieldMatchType::Optional(Optional { value: canonical(value) })
        }
        MatchValue::Exact(value) => FieldMatchType::Exact(Exact { value: canonical(value) }),
        MatchValue::Lpm { len: 0, .. } => return None,
        MatchValue::Lpm { value, len } => {
            let prefix_len = i32::try_from(*len).unwrap_or(i32::MAX);
            FieldMatchType::Lpm(Lpm { value: canonical(value), prefix_len })
        }
        MatchValue::Ternary { mask, .. } if mask.is_zero() => return None,
        MatchValue::Ternary { value, mask } => {
            FieldMatchType::Ternary(Ternary { value: canonical(value), mask: canonical(mask) })
        }
        MatchValue::Range { low, high } if is_everything(low, high, key.ty) => return None,
        MatchValue::Range { low, high } => {
            FieldMatchType::Range(Range { low: canonical(low), high: canonical(high) })
        }
    };
    Some(p4::FieldMatch { field_id: key.id, field_match_type: Some(given) })
}

/// Reads an action with its arguments for a table, or for a profile by its table.
pub(crate) fn parse_action(
    catalog: &Catalog,
    info: &TableInfo,
    given: &p4::Action,
    place: Place,
) -> Result<ActionCall, Failure> {
    let table = catalog.table_name(info.table);
    let Some(&(action, scope)) = info.actions.get(&given.action_id) else {
        let id = given.action_id;
        let known = catalog.ids.actions.iter().position(|&known| known == id).map(ActionId::from_index);
        let name = known
            .map_or_else(|| format!("action id {id} ({id:#010x})"), |a| catalog.action_name(a).to_owned());
        return Err(Failure::invalid(format!("table {table}: {name} is not one of its actions")));
    };
    let name = catalog.action_name(action);
    match (scope, place) {
        (ActionScope::TableOnly, Place::Default) => {
            return Err(Failure::denied(format!(
                "table {table}: {name} is @tableonly, it cannot be the default action"
            )));
        }
        (ActionScope::DefaultOnly, Place::Entry) => {
            return Err(Failure::denied(format!(
                "table {table}: {name} is @defaultonly, no entry can have it"
            )));
        }
        _ => {}
    }
    let params = &catalog.action(action).params;
    let mut args: Vec<Option<Bits>> = vec![None; params.len()];
    let no_bits = &catalog.action(action).no_bits;
    for param in &given.params {
        if let Some(known) = no_bits.iter().find(|known| known.id == param.param_id) {
            let place = || format!("table {table}, action {name}, parameter {}", known.name);
            known.form.parse(&param.value, place)?;
            continue;
        }
        let Some(at) = params.iter().position(|known| known.id == param.param_id) else {
            return Err(Failure::invalid(format!(
                "action {name} has no parameter with id {}",
                param.param_id
            )));
        };
        let param_name = &params[at].name;
        if args[at].is_some() {
            return Err(Failure::invalid(format!("action {name}, parameter {param_name}: given twice")));
        }
        args[at] = Some(
            params[at]
                .form
                .parse(&param.value, || format!("table {table}, action {name}, parameter {param_name}"))?,
        );
    }
    if let Some(missing) = args.iter().position(Option::is_none) {
        let param = &params[missing].name;
        return Err(Failure::invalid(format!("table {table}, action {name}: parameter {param} is missing")));
    }
    Ok(ActionCall { action, args: args.into_iter().flatten().collect() })
}

/// An action with its arguments.
pub(crate) fn action(catalog: &Catalog, call: &ActionCall) -> p4::Action {
    let info = catalog.action(call.action);
    let params = info.params.iter().zip(&call.args);
    let zero = Bits::zero(0);
    let params = params.chain(info.no_bits.iter().map(|param| (param, &zero)));
    let params =
        params.map(|(param, value)| p4::action::Param { param_id: param.id, value: param.form.given(value) });
    p4::Action { action_id: info.id, params: params.collect() }
}
