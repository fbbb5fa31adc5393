//! Names and values of a test as those of the program.
//!
//! Tests name things as p4c's runner lets them: by the end of a name where that is
//! enough, stack indices as `$0`, validity as `valid`. A ternary number matches
//! the digits that are written; keys left out match anything where they can.

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
        return Err("`*` is not allowed instead of a number".to_owned());
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

/// The one key that is a slice of this field: names of slices hold a colon, which a test cannot say.
fn slice_position(keys: &[&Key], field: &str) -> Option<usize> {
    let mut slices = keys.iter().enumerate().filter(|(_, key)| {
        let Some((of, range)) = key.cp.name.rsplit_once('[') else { return false };
        range.contains(':')
            && (of == field || of.strip_suffix(field).is_some_and(|front| front.ends_with('.')))
    });
    let (at, _) = slices.next()?;
    slices.next().is_none().then_some(at)
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
    slice_position(keys, &name).ok_or_else(|| format!("the table has no key `{name}`"))
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
        // As P4Testgen writes an optional key that is left out.
        MatchKind::Optional if literal.digits.iter().all(Option::is_none) => {
            fits_mask(literal, width)?;
            Ok(MatchValue::Any)
        }
        MatchKind::Exact | MatchKind::Optional => Ok(MatchValue::Exact(bits(literal, width)?)),
        MatchKind::Ternary if literal.digit_bits == 0 => {
            let value = bits(literal, width)?;
            Ok(MatchValue::Ternary { value, mask: prefix(width, width) })
        }
        MatchKind::Ternary => {
            fits_mask(literal, width)?;
            let mask = Bits::from_words(width, &words(literal, |digit| digit.map_or(0, |_| u8::MAX)));
            let value = and(&fit(&plain(), width)?, &mask);
            if mask.is_zero() {
                return Ok(MatchValue::Any);
            }
            Ok(MatchValue::Ternary { value, mask })
        }
        MatchKind::Lpm => {
            let len = prefix_len(value, width)?;
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

/// Bits of a longest-prefix match: those that are given, or those of the digits that are written.
fn prefix_len(value: &KeyValue, width: u32) -> Outcome<u32> {
    let literal = &value.literal;
    if let Some(len) = value.prefix {
        return if len <= width {
            Ok(len)
        } else {
            Err(format!("a prefix of {len} bits is longer than the key of {width}"))
        };
    }
    fits_mask(literal, width)?;
    let written = literal.digits.iter().filter(|digit| digit.is_some()).count() as u32;
    // A number without `*` says all of the key, whatever zeros stand in front of it.
    let is_whole = literal.digit_bits == 0 || written as usize == literal.digits.len();
    Ok(if is_whole { width } else { (written * literal.digit_bits).min(width) })
}

/// Refuses digits with `*` among them that reach beyond the key: they are its mask. The first digit may have
/// bits of which the key has only the lower ones.
fn fits_mask(literal: &Literal, width: u32) -> Outcome<()> {
    let digits = literal.digits.len() as u32;
    if !literal.digits.contains(&None) || digits.saturating_sub(1) * literal.digit_bits < width.max(1) {
        return Ok(());
    }
    let bits = digits * literal.digit_bits;
    Err(format!(
        "a mask of {bits} bits is wider than the key of {width}; write as many digits as the key has"
    ))
}

/// A mask of the `len` highest of `width` bits.
fn prefix(width: u32, len: u32) -> Bits {
    let mut words = vec![u64::MAX; width.div_ceil(64) as usize];
    for bit in 0..(width - len) as usize {
        words[bit / 64] &= !(1 << (bit % 64));
    }
    Bits::from_words(width, &words)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use p4cc_switch::ExecChoice;
    use p4cc_syntax::{Memory, Options, Source};

    use crate::{Cause, run};

    const PROGRAM: &str = r"
        #include <core.p4>
        #include <v1model.p4>
        header h_t { bit<8> a; bit<9> b; bit<7> pad; }
        struct hs { h_t h; } struct m {}
        parser p(packet_in b, out hs x, inout m y, inout standard_metadata_t s) {
            state start { b.extract(x.h); transition accept; } }
        control v(inout hs x, inout m y) { apply {} }
        control i(inout hs x, inout m y, inout standard_metadata_t s) {
            action to(bit<9> port) { s.egress_spec = port; }
            table lpm { key = { x.h.a: lpm; } actions = { to; NoAction; } }
            table ternary { key = { x.h.b: ternary; } actions = { to; NoAction; } }
            table exact { key = { x.h.a: exact; } actions = { to; NoAction; } }
            table optional_ { key = { x.h.b: optional; } actions = { to; NoAction; } }
            table slice { key = { x.h.b[8:5]: exact; x.h.a: exact; } actions = { to; NoAction; } }
            table slices { key = { x.h.b[8:5]: exact; x.h.b[3:0]: exact; } actions = { to; NoAction; } }
            apply { slice.apply(); slices.apply(); if (!lpm.apply().hit) { ternary.apply(); exact.apply(); optional_.apply(); } } }
        control e(inout hs x, inout m y, inout standard_metadata_t s) { apply {} }
        control d(packet_out b, in hs x) { apply { b.emit(x.h); } }
        V1Switch(p(), v(), i(), e(), v(), d()) main;
    ";

    /// What is wrong with the second line of a test.
    fn problem(line: &str) -> Option<String> {
        let (source, found) = Source::from_text("keys.p4", PROGRAM, &Memory::default(), &Options::default());
        assert!(found.is_empty(), "{}", source.render(&found, false));
        let (tree, found) = p4cc_syntax::parse(&source);
        assert!(found.is_empty(), "{}", source.render(&found, false));
        let program = Arc::new(p4cc_compile::compile(&tree).0.expect("a right program"));
        let report = run(&program, &format!("# a comment\n{line}\n"), ExecChoice::Interp);
        let problem = report.problems.first()?;
        assert_eq!(problem.line, 2);
        let Cause::Command(message) = &problem.cause else { panic!("{problem:?}") };
        Some(message.clone())
    }

    #[test]
    fn what_is_wider_than_its_key_is_an_error_of_its_line() {
        for (line, cause) in [
            ("add lpm x.h.a:0x0a/9 to(port:1)", "a prefix of 9 bits is longer than the key of 8"),
            ("add lpm x.h.a:10/33 to(port:1)", "a prefix of 33 bits is longer than the key of 8"),
            ("add lpm x.h.a:0x0a** to(port:1)", "a mask of 16 bits is wider than the key of 8"),
            ("add lpm x.h.a:0x10a to(port:1)", "a number does not fit 8 bits"),
            ("add ternary 1 x.h.b:0x00** to(port:1)", "a mask of 16 bits is wider than the key of 9"),
            ("add ternary 1 x.h.b:0b1********* to(port:1)", "a mask of 10 bits is wider than the key of 9"),
            ("add ternary 1 x.h.b:0x2** to(port:1)", "a number does not fit 9 bits"),
            ("add optional_ 1 x.h.b:0b********** to(port:1)", "a mask of 10 bits is wider than the key of 9"),
            ("add optional_ 1 x.h.b:0b1******** to(port:1)", "`*` is not allowed instead of a number"),
            ("add exact x.h.a:256 to(port:1)", "a number does not fit 8 bits"),
            ("add exact x.h.a:1 to(port:512)", "a number does not fit 9 bits"),
            ("add slice x.h.b:16 to(port:1)", "a number does not fit 4 bits"),
            ("add slice h.c:1 to(port:1)", "the table has no key `h.c`"),
            ("add slices x.h.b:1 to(port:1)", "the table has no key `x.h.b`"),
        ] {
            let found = problem(line).unwrap_or_else(|| panic!("{line}: no error"));
            assert!(found.starts_with(cause), "{line}: {found}");
        }
        for line in [
            "add lpm x.h.a:0x0a/8 to(port:1)",
            "add lpm x.h.a:0x0*/4 to(port:1)",
            "add lpm x.h.a:0x000a to(port:1)",
            "add lpm x.h.a:0x1* to(port:1)",
            "add ternary 1 x.h.b:0x1** to(port:1)",
            "add ternary 1 x.h.b:0b1******** to(port:1)",
            "add ternary 1 x.h.b:0x0001 to(port:1)",
            "add ternary 1 x.h.b:511 to(port:1)",
            "add optional_ 1 x.h.b:0b********* to(port:1)",
            "add optional_ 1 x.h.b:0x1ff to(port:1)",
            "add slice x.h.b:15 x.h.a:1 to(port:1)",
            "add slice h.b:0xf to(port:1)",
        ] {
            assert_eq!(problem(line), None, "{line}");
        }
    }
}
