//! Whether two P4Infos describe the same control plane, and if not, where they first differ.
//!
//! What does not change how a controller talks to the switch is left out: annotations, documentation, source places,
//! the package's description, user-defined type names, and the order of objects.

use prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage, ReflectMessage, Value};

use crate::proto::DESCRIPTORS;
use crate::proto::p4::config::v1::P4Info;

const LEFT_OUT: [&str; 10] = [
    "annotations",
    "annotation_locations",
    "structured_annotations",
    "doc",
    "pkg_info",
    "type_info",
    "type_name",
    "index_type_name",
    "alias",
    "initial_default_action",
];

/// The first difference in the order of P4Info's fields, or none.
pub(crate) fn first_difference(given: &P4Info, ours: &P4Info) -> Option<String> {
    let dynamic = |info: &P4Info| {
        let descriptor =
            DescriptorPool::decode(DESCRIPTORS).ok()?.get_message_by_name("p4.config.v1.P4Info")?;
        DynamicMessage::decode(descriptor, info.encode_to_vec().as_slice()).ok()
    };
    match (dynamic(given), dynamic(ours)) {
        (Some(given), Some(ours)) => messages("", &given, &ours),
        _ => Some("it cannot be decoded".to_owned()),
    }
}

fn messages(path: &str, given: &DynamicMessage, ours: &DynamicMessage) -> Option<String> {
    ours.descriptor().fields().filter(|field| !LEFT_OUT.contains(&field.name())).find_map(|field| {
        let path = if path.is_empty() { field.name().to_owned() } else { format!("{path}.{}", field.name()) };
        if field.supports_presence() && given.has_field(&field) != ours.has_field(&field) {
            let shown = |has| if has { "set" } else { "not set" };
            let (given, ours) = (shown(given.has_field(&field)), shown(ours.has_field(&field)));
            return Some(format!("{path} is {given}, the program's is {ours}"));
        }
        values(&path, &given.get_field(&field), &ours.get_field(&field))
    })
}

fn values(path: &str, given: &Value, ours: &Value) -> Option<String> {
    match (given, ours) {
        (Value::Message(given), Value::Message(ours)) => messages(path, given, ours),
        (Value::List(given), Value::List(ours)) => lists(path, given, ours),
        (given, ours) if given == ours => None,
        (given, ours) => Some(format!("{path} is {given}, the program's is {ours}")),
    }
}

/// Lists of objects are compared by id, whatever their order.
fn lists(path: &str, given: &[Value], ours: &[Value]) -> Option<String> {
    let sorted = |list: &[Value]| {
        let mut named: Vec<(u32, Value)> = list.iter().map(|value| (id(value), value.clone())).collect();
        named.sort_by_key(|(id, _)| *id);
        named
    };
    let (given, ours) = (sorted(given), sorted(ours));
    let lacks = |of: &[(u32, Value)], id: u32| of.iter().all(|(other, _)| *other != id);
    if let Some((id, value)) = ours.iter().find(|(id, _)| lacks(&given, *id)) {
        return Some(format!("{path} lacks {} (id {id}), which the program has", label(value, *id)));
    }
    if let Some((id, value)) = given.iter().find(|(id, _)| lacks(&ours, *id)) {
        return Some(format!("{path} has {} (id {id}), which the program lacks", label(value, *id)));
    }
    if given.len() != ours.len() {
        return Some(format!("{path} has {} members, the program's has {}", given.len(), ours.len()));
    }
    given
        .iter()
        .zip(&ours)
        .find_map(|((_, given), (id, ours))| values(&format!("{path}[{}]", label(ours, *id)), given, ours))
}

fn field(value: &Value, name: &str) -> Option<Value> {
    let message = value.as_message()?;
    Some(message.get_field_by_name(name)?.into_owned())
}

fn preamble(value: &Value) -> Value {
    field(value, "preamble").unwrap_or_else(|| value.clone())
}

/// What identifies a member of a list: its id, or itself if it is one.
fn id(value: &Value) -> u32 {
    value.as_u32().or_else(|| field(&preamble(value), "id")?.as_u32()).unwrap_or(0)
}

fn label(value: &Value, id: u32) -> String {
    let name = field(&preamble(value), "name");
    name.and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_else(|| id.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::p4::config::v1 as p4;

    fn table(id: u32, width: i32) -> p4::Table {
        let name = format!("t{id}");
        p4::Table {
            preamble: Some(p4::Preamble { id, name, ..Default::default() }),
            match_fields: vec![p4::MatchField {
                id: 1,
                name: "f".into(),
                bitwidth: width,
                ..Default::default()
            }],
            ..Default::default()
        }
    }

    fn info(tables: &[(u32, i32)]) -> P4Info {
        P4Info { tables: tables.iter().map(|&(id, width)| table(id, width)).collect(), ..Default::default() }
    }

    #[test]
    fn order_and_documentation_do_not_matter() {
        let mut given = info(&[(2, 8), (1, 9)]);
        given.tables[0].preamble.as_mut().unwrap().annotations.push("@hot".to_owned());
        given.pkg_info = Some(p4::PkgInfo { name: "x".to_owned(), ..Default::default() });
        assert_eq!(first_difference(&given, &info(&[(1, 9), (2, 8)])), None);
    }

    #[test]
    fn the_first_difference_names_its_place() {
        let difference =
            |given: &[(u32, i32)]| first_difference(&info(given), &info(&[(1, 9), (2, 8)])).unwrap();
        assert_eq!(
            difference(&[(1, 9), (2, 7)]),
            "tables[t2].match_fields[f].bitwidth is 7, the program's is 8"
        );
        assert_eq!(difference(&[(1, 9)]), "tables lacks t2 (id 2), which the program has");
        assert_eq!(difference(&[(1, 9), (2, 8), (3, 1)]), "tables has t3 (id 3), which the program lacks");
    }
}
