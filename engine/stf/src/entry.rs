//! Names and values of a test as those of the program.
//!
//! Tests name things as p4c's runner lets them: by the end of a name where that is enough, stack indices as `$0`,
//! validity as `valid`. A ternary number matches the digits that are written; keys left out match anything where
//! they can.

use p4cc_ir::{ActionCall, Bits, ControlPlaneName, Key, MatchKind, MatchValue, Program, Table, TableId};

use super::parse::{ActionText, KeyValue, Literal};

type Outcome<T> = Result<T, String>;

/// The one thing of a list with this name, or whose name ends in it.
pub(super) fn find<'a>(
    what: &str,
    names: impl Iterator<Item = &'a ControlPlaneName> + Clone,
    name: &str,
) -> Outcome<usize> {
    let dotted = format!(".{name}");
    let all = || names.clone().map(|cp| cp.name.as_str()).enumerate();
    let rules: [&dyn Fn(&str) -> bool; 3] =
        [&|full| full == name, &|full| full.ends_with(&dotted), &|full| full.ends_with(name)];
    for rule in rules {
        let mut found = all().filter(|(_, full)| rule(full)).map(|(index, _)| index);
        match (found.next(), found.next()) {
            (Some(index), None) => return Ok(index),
            (Some(_), Some(_)) => return Err(format!("the {what} `{name}` is ambiguous")),
            _ => {}
        }
    }
    Err(format!("there is no {what} `{name}`"))
}

pub(super) fn table(program: &Program, name: &str) -> Outcome<TableId> {
    find("table", program.tables.iter().map(|table| &table.cp), name).map(TableId::from_index)
}

/// A number as bits.
pub(super) fn bits(literal: &Literal, width: u32) -> Outcome<Bits> {
    if literal.digits.contains(&None) {
        return Err("`*` stands where only a number can".to_owned());
    }
    if literal.digit_bits == 0 {
        let value = literal.to_u64()?;
        let bits = Bits::from_u128(width, u128::from(value));
        return if bits.to_u128() == Some(u128::from(value)) { Ok(bits) } else { Err(too_wide(width)) };
    }
    fit(&words(literal, |digit| digit.unwrap_or(0)), width)
}

fn too_wide(width: u32) -> String {
    format!("a number does not fit {width} bits")
}

fn fit(words: &[u64], width: u32) -> Outcome<Bits> {
    let bits = Bits::from_words(width, words);
    let kept = bits.words();
    let lost = words.iter().enumerate().any(|(at, &word)| kept.get(at).copied().unwrap_or(0) != word);
    if lost { Err(too_wide(width)) } else { Ok(bits) }
}

/// Little-endian words of a number whose digits have a fixed number of bits.
fn words(literal: &Literal, value: impl Fn(&Option<u8>) -> u8) -> Vec<u64> {
    let mut words = vec![0_u64; (literal.digits.len() * literal.digit_bits as usize).div_ceil(64)];
    for (at, digit) in literal.digits.iter().rev().enumerate() {
        for bit in 0..literal.digit_bits as usize {
            let place = at * literal.digit_bits as usize + bit;
            words[place / 64] |= u64::from(value(digit) >> bit & 1) << (place % 64);
        }
    }
    words
}

/// The action that a table may run, with its arguments.
pub(super) fn action(program: &Program, table: &Table, text: &ActionText) -> Outcome<ActionCall> {
    let listed = |index: usize| &program.actions[table.actions[index].action.index()];
    let names = (0..table.actions.len()).map(|index| &listed(index).cp);
    let index = find("action", names, &text.name)?;
    let mut args = Vec::new();
    for param in &listed(index).params {
        let given = text.args.iter().find(|(name, _)| *name == param.cp.name);
        let Some((_, literal)) = given else {
            return Err(format!("the argument `{}` is missing", param.cp.name));
        };
        args.push(bits(literal, program.vars[param.var.index()].ty.width())?);
    }
    let known = |name: &str| listed(index).params.iter().any(|param| param.cp.name == name);
    match text.args.iter().find(|(name, _)| !known(name)) {
        Some((name, _)) => Err(format!("the action has no parameter `{name}`")),
        None => Ok(ActionCall { action: table.actions[index].action, args }),
    }
}

/// Keys of a table that are matched.
pub(super) fn matched(table: &Table) -> impl Iterator<Item = &Key> {
    table.keys.iter().filter(|key| key.kind != MatchKind::Selector)
}

/// Values of all keys of a table.
pub(super) fn matches(
    program: &Program,
    table: &Table,
    given: &[(String, KeyValue)],
) -> Outcome<Vec<MatchValue>> {
    let keys: Vec<&Key> = matched(table).collect();
    let mut values = Vec::with_capacity(keys.len());
    for key in &keys {
        values.push(absent(key, program.vars[key.var.index()].ty.width()));
    }
    for (name, value) in given {
        let at = key_position(&keys, name)?;
        values[at] = match_value(keys[at], program.vars[keys[at].var.index()].ty.width(), value)?;
    }
    Ok(values)
}

/// What a key matches that is not given.
fn absent(key: &Key, width: u32) -> MatchValue {
    match key.kind {
        MatchKind::Exact => MatchValue::Exact(Bits::zero(width)),
        _ => MatchValue::Any,
    }
}

fn key_position(keys: &[&Key], name: &str) -> Outcome<usize> {
    let name = stack_index(name);
    let validity = name.strip_suffix("valid").filter(|rest| rest.is_empty() || rest.ends_with('.'));
    let by_call = |rest: &str| format!("{rest}isValid()");
    let names = [
        Some(name.clone()),
        Some(format!("{name}$")),
        Some(format!("{name}.$valid$")),
        validity.map(|rest| format!("{rest}$valid$")),
        validity.map(by_call),
        name.strip_suffix("$valid$").map(by_call),
    ];
    for wanted in names.into_iter().flatten() {
        let cps = keys.iter().map(|key| &key.cp);
        if let Ok(at) = find("key", cps, &wanted) {
            return Ok(at);
        }
    }
    Err(format!("the table has no key `{name}`"))
}

/// `vlan$1.id` is `vlan[1].id`.
fn stack_index(name: &str) -> String {
    let Some((head, rest)) = name.split_once('$') else { return name.to_owned() };
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    if digits == 0 { name.to_owned() } else { format!("{head}[{}]{}", &rest[..digits], &rest[digits..]) }
}

fn and(value: &Bits, mask: &Bits) -> Bits {
    let words: Vec<u64> = value.words().iter().zip(mask.words()).map(|(value, mask)| value & mask).collect();
    Bits::from_words(value.width(), &words)
}

fn match_value(key: &Key, width: u32, value: &KeyValue) -> Outcome<MatchValue> {
    let literal = &value.literal;
    let plain = || words(literal, |digit| digit.unwrap_or(0));
    match key.kind {
        MatchKind::Exact | MatchKind::Optional => Ok(MatchValue::Exact(bits(literal, width)?)),
        MatchKind::Ternary if literal.digit_bits == 0 => {
            let value = bits(literal, width)?;
            Ok(MatchValue::Ternary { value, mask: prefix(width, width) })
        }
        MatchKind::Ternary => {
            let mask = Bits::from_words(width, &words(literal, |digit| digit.map_or(0, |_| u8::MAX)));
            let value = and(&fit(&plain(), width)?, &mask);
            if mask.is_zero() {
                return Ok(MatchValue::Any);
            }
            Ok(MatchValue::Ternary { value, mask })
        }
        MatchKind::Lpm => {
            let written = literal.digits.iter().filter(|digit| digit.is_some()).count() as u32;
            let digits = if literal.digit_bits == 0 { width } else { written * literal.digit_bits };
            let len = value.prefix.unwrap_or(digits).min(width);
            if len == 0 {
                return Ok(MatchValue::Any);
            }
            let bits = if literal.digit_bits == 0 { bits(literal, width)? } else { fit(&plain(), width)? };
            Ok(MatchValue::Lpm { value: and(&bits, &prefix(width, len)), len })
        }
        MatchKind::Range => {
            let bits = bits(literal, width)?;
            Ok(MatchValue::Range { low: bits.clone(), high: bits })
        }
        MatchKind::Selector => Err("a selector key is not matched".to_owned()),
    }
}

/// A mask of the `len` highest of `width` bits.
fn prefix(width: u32, len: u32) -> Bits {
    let mut words = vec![u64::MAX; width.div_ceil(64) as usize];
    for bit in 0..(width - len) as usize {
        words[bit / 64] &= !(1 << (bit % 64));
    }
    Bits::from_words(width, &words)
}
