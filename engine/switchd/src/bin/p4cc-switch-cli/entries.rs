//! Match keys and action data of entries, read from words and shown again.

use p4cc_thrift::value::{Fields, Type, Value};
use serde_json::Value as Json;

use crate::failure::Failure;
use crate::number::{bytes, hex, with_colons};
use crate::program::{Action, Key, Program, word};
use crate::session::{Outcome, Session, field, number, structs};

/// `BmMatchParamType`, the field of `BmMatchParam` that holds each, and its word in capitals.
const EXACT: (i32, i16, &str) = (0, 2, "EXACT");
const LPM: (i32, i16, &str) = (1, 3, "LPM");
const TERNARY: (i32, i16, &str) = (2, 4, "TERNARY");
const VALID: (i32, i16, &str) = (3, 5, "VALID");
const RANGE: (i32, i16, &str) = (4, 6, "RANGE");

/// A key of an entry, for the call and for the eye.
pub(crate) struct Match {
    pub(crate) value: Value,
    pub(crate) shown: String,
}

/// Bytes of an action's arguments.
pub(crate) fn action_data(action: &Action, words: &[&str]) -> Result<Vec<Vec<u8>>, Failure> {
    let read = |(word, (_, width)): (&&str, &(String, u32))| {
        bytes(word, *width).map_err(|cause| Failure::data(format!("Error while parsing {word} - {cause}")))
    };
    words.iter().zip(&action.params).map(read).collect()
}

/// Refuses arguments that are too many or too few; `name` is what the message calls the action.
pub(crate) fn check_count(action: &Action, name: &str, words: &[&str]) -> Outcome {
    let wanted = action.params.len();
    if wanted == words.len() {
        return Ok(());
    }
    Err(Failure::error(format!("Action {name} needs {wanted} parameters")))
}

pub(crate) fn strings(data: &[Vec<u8>]) -> Value {
    Value::List(Type::String, data.iter().map(|bytes| Value::String(bytes.clone())).collect())
}

pub(crate) fn joined(data: &[Vec<u8>]) -> String {
    data.iter().map(|bytes| with_colons(bytes)).collect::<Vec<_>>().join("\t")
}

fn match_of(text: &str, key: &Key) -> Result<Match, Failure> {
    let value = |text: &str| {
        bytes(text, key.width).map_err(|cause| Failure::key(format!("Error while parsing {text} - {cause}")))
    };
    let made = |(kind, at, word): (i32, i16, &str), fields: Vec<Value>, shown: String| {
        let fields: Fields = (1..).zip(fields).collect();
        let value = Value::structure([(1, Value::I32(kind)), (at, Value::Struct(fields))]);
        Match { value, shown: format!("{word}-{shown}") }
    };
    let split = |by: &str, what: &str, between: &str| {
        text.split_once(by).ok_or_else(|| {
            Failure::key(format!("Invalid {what} value {text}, use '{by}' to separate {between}"))
        })
    };
    Ok(match key.kind.as_str() {
        "exact" => {
            let value = value(text)?;
            let shown = with_colons(&value);
            made(EXACT, vec![Value::String(value)], shown)
        }
        "valid" => {
            let valid: i32 = number(text, "Bad format for a validity")?;
            made(VALID, vec![Value::Bool(valid != 0)], String::new())
        }
        "lpm" => {
            let (prefix, length) = split("/", "LPM", "prefix and length")?;
            let prefix = value(prefix)?;
            let shown = format!("{}/{length}", with_colons(&prefix));
            let length = number(length, "Bad format for prefix length")?;
            made(LPM, vec![Value::String(prefix), Value::I32(length)], shown)
        }
        "ternary" | "optional" => {
            let (of, mask) = split("&&&", "ternary", "key and mask")?;
            let (of, mask) = (value(of)?, value(mask)?);
            let shown = format!("{} &&& {}", with_colons(&of), with_colons(&mask));
            made(TERNARY, vec![Value::String(of), Value::String(mask)], shown)
        }
        "range" => {
            let (low, high) = split("->", "range", "range start and range end")?;
            let (low, high) = (value(low)?, value(high)?);
            if low > high {
                return Err(Failure::key(format!("start is less than end in expression {text}")));
            }
            let shown = format!("{} -> {}", with_colons(&low), with_colons(&high));
            made(RANGE, vec![Value::String(low), Value::String(high)], shown)
        }
        other => return Err(Failure::key(format!("keys of kind {other} are not supported"))),
    })
}

/// The keys of an entry; `name` is what the message calls the table.
pub(crate) fn matches(
    program: &Program,
    table: &Json,
    name: &str,
    words: &[&str],
) -> Result<Vec<Match>, Failure> {
    let keys = program.keys(table);
    if words.len() != keys.len() {
        return Err(Failure::error(format!("Table {name} needs {} key fields", keys.len())));
    }
    words.iter().zip(&keys).map(|(word, key)| match_of(word, key)).collect()
}

pub(crate) fn values(matches: &[Match]) -> Value {
    Value::structs(matches.iter().map(|one| one.value.clone()).collect())
}

/// Takes the priority from the end of the words if entries of this table have one.
pub(crate) fn take_priority<'a, 'w>(
    table: &Json,
    words: &'a [&'w str],
) -> Result<(&'a [&'w str], i32), Failure> {
    if !matches!(word(table, "match_type"), "ternary" | "range") {
        return Ok((words, 0));
    }
    let last = words.split_last().and_then(|(last, rest)| Some((rest, last.parse().ok()?)));
    last.ok_or_else(|| Failure::error("Table is ternary, but could not extract a valid priority from args"))
}

pub(crate) fn options(priority: i32) -> Value {
    Value::structure([(1, Value::I32(priority))])
}

/// A key of an entry that the switch has: the word of its kind, and what it matches.
fn shown_match(param: &Fields) -> (&'static str, String) {
    let all = [EXACT, LPM, TERNARY, VALID, RANGE];
    let kind = all.into_iter().find(|(kind, _, _)| param.get(&1) == Some(&Value::I32(*kind)));
    let Some((kind, at, word)) = kind else { return ("", String::new()) };
    let Some(Value::Struct(parts)) = param.get(&at) else { return (word, String::new()) };
    let (first, second) = (hex_of(parts.get(&1)), hex_of(parts.get(&2)));
    let text = match kind {
        0 => first,
        1 => format!("{first}/{}", field(parts, 2)),
        2 => format!("{first} &&& {second}"),
        3 => if parts.get(&1) == Some(&Value::Bool(true)) { "01" } else { "00" }.to_owned(),
        _ => format!("{first} -> {second}"),
    };
    (word, text)
}

fn hex_of(value: Option<&Value>) -> String {
    if let Some(Value::String(bytes)) = value { hex(bytes) } else { String::new() }
}

/// Says what an action and its data are.
pub(crate) fn say_action(switch: &mut Session, name: &str, data: Option<&Value>) {
    let data = match data {
        Some(Value::List(_, values)) => values.iter().map(|value| hex_of(Some(value))).collect::<Vec<_>>(),
        _ => Vec::new(),
    };
    switch.say(format!("Action entry: {name} - {}", data.join(", ")));
}

/// Says what an entry runs.
pub(crate) fn say_action_entry(switch: &mut Session, action: &Fields) {
    match action.get(&1) {
        Some(Value::I32(1)) => say_action(switch, &field(action, 2), action.get(&3)),
        Some(Value::I32(2)) => switch.say(format!("Index: member({})", field(action, 4))),
        Some(Value::I32(3)) => switch.say(format!("Index: group({})", field(action, 5))),
        _ => switch.say("EMPTY"),
    }
}

/// Says all of an entry.
pub(crate) fn say_entry(switch: &mut Session, keys: &[Key], entry: &Fields) {
    let width = keys.iter().map(|key| key.name.len()).max().unwrap_or(0).max(20);
    if let Some(Value::I32(handle)) = entry.get(&3) {
        switch.say(format!("Dumping entry {handle:#x}"));
    }
    switch.say("Match key:");
    for (key, param) in keys.iter().zip(entry.get(&1).map(structs).unwrap_or_default()) {
        let (kind, text) = shown_match(&param);
        switch.say(format!("* {:width$}: {kind:10}{text}", key.name));
    }
    if let Some(Value::Struct(options)) = entry.get(&2)
        && let Some(Value::I32(priority @ 0..)) = options.get(&1)
    {
        switch.say(format!("Priority: {priority}"));
    }
    if let Some(Value::Struct(action)) = entry.get(&4) {
        say_action_entry(switch, action);
    }
    if let Some(Value::Struct(life)) = entry.get(&5) {
        let (timeout, since) = (field(life, 1), field(life, 2));
        switch.say(format!("Life: {since}ms since hit, timeout is {timeout}ms"));
    }
}
