//! The JSON under the reader: bounded parsing, typed access, and the path of a value for messages.
//!
//! Invariants: nothing here recurses deeper than [`MAX_DEPTH`]; every accessor answers with a value or a
//! [`Fault`] that points at the value it was given.

use std::collections::BTreeMap;

use p4cc_budget::{Budget, Overrun, Resource};
use serde::Deserialize;
use serde_json::Value;

/// Largest text that is read, in bytes.
pub(super) const MAX_BYTES: usize = 64 << 20;
/// Deepest nesting of arrays and objects. An operator takes two to four levels.
pub(super) const MAX_DEPTH: usize = 512;

/// Why a value cannot be used.
#[derive(Debug)]
pub(super) struct Fault<'j> {
    /// The value that is wrong, or that lacks something.
    pub at: &'j Value,
    pub cause: String,
    pub remedy: &'static str,
}

pub(super) type Res<'j, T> = Result<T, Fault<'j>>;

/// What to do about JSON that p4c never writes.
pub(super) const NOT_P4C: &str = "give the JSON as p4c-bm2-ss wrote it";

/// A fault.
pub(super) fn fault<'j, T>(at: &'j Value, cause: impl Into<String>, remedy: &'static str) -> Res<'j, T> {
    Err(Fault { at, cause: cause.into(), remedy })
}

/// Why a text is no document that can be read.
#[derive(Debug)]
pub(super) enum Unread {
    /// What is wrong with it.
    Wrong(String),
    /// The budget does not allow it.
    Over(Overrun),
}

/// Parses a document.
pub(super) fn parse(text: &str, budget: &Budget) -> Result<Value, Unread> {
    if text.len() > MAX_BYTES {
        return Err(Unread::Wrong(format!("{} bytes, more than {MAX_BYTES}", text.len())));
    }
    if depth(text, budget).map_err(Unread::Over)? > MAX_DEPTH {
        return Err(Unread::Wrong(format!("arrays and objects are nested deeper than {MAX_DEPTH}")));
    }
    value(text).map_err(|error| Unread::Wrong(error.to_string()))
}

fn value(text: &str) -> serde_json::Result<Value> {
    let mut reader = serde_json::Deserializer::from_str(text);
    // The depth was just checked, and deep sums need more than the default of 128.
    reader.disable_recursion_limit();
    let value = Value::deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

/// Nesting depth of a text, brackets in strings aside. Each value and each name is a token of the budget: a
/// few bytes of text are many of memory.
fn depth(text: &str, budget: &Budget) -> Result<usize, Overrun> {
    let (mut depth, mut deepest, mut in_string, mut escaped) = (0_usize, 0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b',' | b':' if !in_string => budget.charge(Resource::Tokens, 1)?,
            b'[' | b'{' if !in_string => {
                budget.charge(Resource::Tokens, 1)?;
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    Ok(deepest)
}

/// Where values stand in a document: `pipelines[0].tables[2].key`. One walk finds all of them.
pub(super) fn paths_of<'j>(root: &'j Value, targets: impl Iterator<Item = &'j Value>) -> Vec<String> {
    let targets: Vec<*const Value> = targets.map(|target| target as *const Value).collect();
    let mut found: BTreeMap<_, _> = targets.iter().map(|target| (*target, None)).collect();
    find(root, &mut found, &mut Vec::new());
    let path = |target| found.get(target).cloned().flatten().filter(|path| !path.is_empty());
    targets.iter().map(|target| path(target).unwrap_or_else(|| "document".to_owned())).collect()
}

/// A step from a value to one in it.
enum Step<'j> {
    Index(usize),
    Member(&'j str),
}

fn find<'j>(
    value: &'j Value,
    targets: &mut BTreeMap<*const Value, Option<String>>,
    path: &mut Vec<Step<'j>>,
) {
    if let Some(found) = targets.get_mut(&core::ptr::from_ref(value)) {
        *found = Some(written(path));
    }
    match value {
        Value::Array(items) => items.iter().enumerate().for_each(|(index, item)| {
            path.push(Step::Index(index));
            find(item, targets, path);
            path.pop();
        }),
        Value::Object(members) => members.iter().for_each(|(key, member)| {
            path.push(Step::Member(key));
            find(member, targets, path);
            path.pop();
        }),
        _ => {}
    }
}

fn written(path: &[Step<'_>]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            Step::Index(index) => text.push_str(&format!("[{index}]")),
            Step::Member(name) => {
                text.push_str(if text.is_empty() { "" } else { "." });
                text.push_str(name);
            }
        }
    }
    text
}

/// What a value is, for messages.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// A member that must be there.
pub(super) fn get<'j>(object: &'j Value, key: &str) -> Res<'j, &'j Value> {
    match object {
        Value::Object(members) => match members.get(key) {
            Some(value) => Ok(value),
            None => fault(object, format!("`{key}` is missing"), NOT_P4C),
        },
        other => fault(other, format!("{} stands where an object is expected", kind(other)), NOT_P4C),
    }
}

/// A member that may be missing or null.
pub(super) fn opt<'j>(object: &'j Value, key: &str) -> Option<&'j Value> {
    object.get(key).filter(|value| !value.is_null())
}

pub(super) fn text(value: &Value) -> Res<'_, &str> {
    match value {
        Value::String(text) => Ok(text),
        other => fault(other, format!("{} stands where a string is expected", kind(other)), NOT_P4C),
    }
}

pub(super) fn list(value: &Value) -> Res<'_, &[Value]> {
    match value {
        Value::Array(items) => Ok(items),
        other => fault(other, format!("{} stands where an array is expected", kind(other)), NOT_P4C),
    }
}

pub(super) fn flag(value: &Value) -> Res<'_, bool> {
    match value {
        Value::Bool(flag) => Ok(*flag),
        other => fault(other, format!("{} stands where true or false is expected", kind(other)), NOT_P4C),
    }
}

/// A number from 0 to `max`.
pub(super) fn number_to(value: &Value, max: u32) -> Res<'_, u32> {
    let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
    match number.filter(|&number| number <= max) {
        Some(number) => Ok(number),
        None => fault(value, format!("{value:.40} is not a whole number from 0 to {max}"), NOT_P4C),
    }
}

pub(super) fn number(value: &Value) -> Res<'_, u32> {
    number_to(value, u32::MAX)
}

pub(super) fn name_of(object: &Value) -> Res<'_, &str> {
    text(get(object, "name")?)
}

pub(super) fn id_of(object: &Value) -> Res<'_, u32> {
    number(get(object, "id")?)
}

/// A list of an object; empty when it is missing, as older versions of the format leave new lists out.
pub(super) fn items<'j>(object: &'j Value, key: &str) -> Res<'j, &'j [Value]> {
    opt(object, key).map_or(Ok(&[]), list)
}

/// An array of exactly `N` values.
pub(super) fn tuple<const N: usize>(value: &Value) -> Res<'_, &[Value; N]> {
    let items = list(value)?;
    match items.try_into() {
        Ok(items) => Ok(items),
        Err(_) => fault(value, format!("{} values where {N} are expected", items.len()), NOT_P4C),
    }
}

/// The `parameters` of an operation, exactly `N`.
pub(super) fn parameters<const N: usize>(operation: &Value) -> Res<'_, &[Value; N]> {
    tuple(get(operation, "parameters")?)
}

/// Type and value of a "type value object".
pub(super) fn typed(value: &Value) -> Res<'_, (&str, &Value)> {
    Ok((text(get(value, "type")?)?, get(value, "value")?))
}

/// The value of a "type value object" of a given type.
pub(super) fn of_type<'j>(value: &'j Value, expected: &str) -> Res<'j, &'j Value> {
    let (ty, inner) = typed(value)?;
    if ty == expected {
        return Ok(inner);
    }
    fault(value, format!("`{ty:.40}` stands where `{expected}` is expected"), NOT_P4C)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_counts_brackets_outside_of_strings_only() {
        let budget = Budget::default();
        assert_eq!(depth(r#"{"a]": ["[[[\"[", [1]]}"#, &budget), Ok(3));
        assert_eq!(budget.spent(Resource::Tokens), 5);
        let deep = parse(&"[".repeat(100_000), &budget);
        assert!(matches!(deep, Err(Unread::Wrong(cause)) if cause.contains("nested deeper")));
        assert!(parse("[1] 2", &budget).is_err());
    }

    #[test]
    fn paths_name_the_very_value() {
        let root = parse(r#"{"a": [1, {"b": 1}], "c": 1}"#, &Budget::default()).unwrap_or_default();
        let targets = [&root["c"], &root["a"][1]["b"], &root, &root["c"], &Value::Null];
        let paths = paths_of(&root, targets.into_iter());
        assert_eq!(paths, ["c", "a[1].b", "document", "c", "document"]);
    }
}
