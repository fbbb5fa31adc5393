//! P4Info as protobuf text, byte for byte in p4c's form: fields
//! by number, a line for each value, two spaces of indent.

use std::fmt::Write;

use prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage, Kind, MapKey, Value};

use crate::proto::DESCRIPTORS;
use crate::proto::p4::config::v1::P4Info;

const MESSAGE: &str = "p4.config.v1.P4Info";

/// Why a P4Info cannot be printed or read. Printing fails by a fault of the build only.
#[derive(Debug, thiserror::Error)]
#[error("{MESSAGE} as text: {0}")]
pub struct ReflectError(String);

/// The text form, with the two comment lines that p4c puts on top.
///
/// # Errors
/// The message cannot be reflected.
pub fn p4info_text(info: &P4Info) -> Result<String, ReflectError> {
    let failed = |error: &dyn std::fmt::Display| ReflectError(error.to_string());
    let pool = DescriptorPool::decode(DESCRIPTORS).map_err(|error| failed(&error))?;
    let descriptor = pool.get_message_by_name(MESSAGE).ok_or_else(|| failed(&"it is missing"))?;
    let message = DynamicMessage::decode(descriptor, info.encode_to_vec().as_slice());
    let mut out = format!("# proto-file: p4/config/v1/p4info.proto\n# proto-message: {MESSAGE}\n\n");
    print_message(&mut out, 0, &message.map_err(|error| failed(&error))?);
    Ok(out)
}

/// Reads the text form.
///
/// # Errors
/// The text is no P4Info; the message says where.
pub fn p4info_from_text(text: &str) -> Result<P4Info, ReflectError> {
    let failed = |error: &dyn std::fmt::Display| ReflectError(error.to_string());
    let pool = DescriptorPool::decode(DESCRIPTORS).map_err(|error| failed(&error))?;
    let descriptor = pool.get_message_by_name(MESSAGE).ok_or_else(|| failed(&"it is missing"))?;
    let message = DynamicMessage::parse_text_format(descriptor, text).map_err(|error| failed(&error))?;
    P4Info::decode(message.encode_to_vec().as_slice()).map_err(|error| failed(&error))
}

fn print_message(out: &mut String, indent: usize, message: &DynamicMessage) {
    let mut fields: Vec<_> = message.fields().collect();
    fields.sort_by_key(|(field, _)| field.number());
    for (field, value) in fields {
        let kind = field.kind();
        match value {
            Value::List(values) => {
                values.iter().for_each(|value| print_field(out, indent, field.name(), &kind, value));
            }
            Value::Map(entries) => {
                let mut entries: Vec<_> = entries.iter().collect();
                entries.sort_by_key(|(key, _)| key_text(key));
                let value_kind = kind.as_message().map(|entry| entry.map_entry_value_field().kind());
                for (key, value) in entries {
                    line(out, indent, format_args!("{} {{", field.name()));
                    line(out, indent + 1, format_args!("key: {}", key_text(key)));
                    print_field(out, indent + 1, "value", value_kind.as_ref().unwrap_or(&kind), value);
                    line(out, indent, format_args!("}}"));
                }
            }
            value => print_field(out, indent, field.name(), &kind, value),
        }
    }
}

fn print_field(out: &mut String, indent: usize, name: &str, kind: &Kind, value: &Value) {
    let Value::Message(message) = value else {
        return line(out, indent, format_args!("{name}: {}", scalar_text(kind, value)));
    };
    line(out, indent, format_args!("{name} {{"));
    print_message(out, indent + 1, message);
    line(out, indent, format_args!("}}"));
}

fn line(out: &mut String, indent: usize, text: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = writeln!(out, "{:width$}{text}", "", width = 2 * indent);
}

fn key_text(key: &MapKey) -> String {
    match key {
        MapKey::String(text) => quoted(text.as_bytes()),
        MapKey::Bool(value) => value.to_string(),
        MapKey::I32(value) => value.to_string(),
        MapKey::I64(value) => value.to_string(),
        MapKey::U32(value) => value.to_string(),
        MapKey::U64(value) => value.to_string(),
    }
}

fn scalar_text(kind: &Kind, value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text.as_bytes()),
        Value::Bytes(bytes) => quoted(bytes),
        Value::EnumNumber(number) => {
            let named = kind.as_enum().and_then(|kind| kind.get_value(*number));
            named.map_or_else(|| number.to_string(), |value| value.name().to_owned())
        }
        value => value.to_string(),
    }
}

/// A string literal: C escapes, octal for what cannot be printed.
fn quoted(bytes: &[u8]) -> String {
    let mut out = String::from("\"");
    for &byte in bytes {
        match byte {
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            b'"' | b'\'' | b'\\' => out.extend(['\\', char::from(byte)]),
            b' '..=b'~' => out.push(char::from(byte)),
            _ => {
                let _ = write!(out, "\\{byte:03o}");
            }
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::p4::config::v1 as p4;

    #[test]
    fn the_form_is_p4cs() {
        let argument = p4::table_action_call::Argument { param_id: 1, value: vec![0, 0x41, 0xff] };
        let table = p4::Table {
            initial_default_action: Some(p4::TableActionCall { action_id: 7, arguments: vec![argument] }),
            direct_resource_ids: vec![1, 2],
            is_const_table: true,
            ..Default::default()
        };
        let mut types = p4::P4TypeInfo::default();
        types.structs.insert("b".into(), p4::P4StructTypeSpec::default());
        types.structs.insert("a".into(), p4::P4StructTypeSpec::default());
        let info = P4Info { tables: vec![table], type_info: Some(types), ..Default::default() };
        let expected = r#"tables {
  initial_default_action {
    action_id: 7
    arguments {
      param_id: 1
      value: "\000A\377"
    }
  }
  direct_resource_ids: 1
  direct_resource_ids: 2
  is_const_table: true
}
type_info {
  structs {
    key: "a"
    value {
    }
  }
  structs {
    key: "b"
    value {
    }
  }
}
"#;
        let text = p4info_text(&info).expect("the message is known");
        assert_eq!(text.split_once("\n\n").expect("a header").1, expected);
    }
}
