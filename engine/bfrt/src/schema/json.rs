//! A schema as clients read it: the text of bf-rt.json.

use serde_json::{Map, Value, json};

use super::{
    Action, ActionScope, Annotation, Data, Field, Key, KeyKind, LearnFilter, Object, Schema, Table, Type,
};

/// The text, ended by a line break.
pub fn text(schema: &Schema) -> String {
    let tables: Vec<Value> = schema.tables.iter().map(table).collect();
    let filters: Vec<Value> = schema.learn_filters.iter().map(learn_filter).collect();
    let all = json!({ "schema_version": "1.0.0", "tables": tables, "learn_filters": filters });
    format!("{all:#}\n")
}

fn table(of: &Table) -> Value {
    let mut out = Map::new();
    out.insert("name".to_owned(), json!(of.name));
    out.insert("id".to_owned(), json!(of.id));
    out.insert("table_type".to_owned(), json!(of.kind));
    out.insert("size".to_owned(), json!(of.size));
    if has_annotations(of) {
        out.insert("annotations".to_owned(), annotations(&of.annotations));
    }
    out.insert("depends_on".to_owned(), json!(of.depends_on));
    if let Some(has) = of.has_const_default {
        out.insert("has_const_default_action".to_owned(), json!(has));
    }
    out.insert("key".to_owned(), of.key.iter().map(key).collect());
    if !of.actions.is_empty() || matches!(of.object, Object::Members(_)) {
        let scoped = |action: &Action| action_json(action, of.object == Object::Fixed);
        out.insert("action_specs".to_owned(), of.actions.iter().map(scoped).collect());
    }
    out.insert("data".to_owned(), of.data.iter().map(data).collect());
    out.insert("supported_operations".to_owned(), json!(of.operations));
    out.insert("attributes".to_owned(), json!(of.attributes));
    if matches!(of.object, Object::HashCompute(_)) {
        out.insert("read_only".to_owned(), json!(true));
    }
    Value::Object(out)
}

/// Tables of meters, registers and of the chip have no annotations, not even none.
fn has_annotations(of: &Table) -> bool {
    !matches!(of.object, Object::Meter(_) | Object::Register(_) | Object::Fixed)
}

fn annotations(of: &[Annotation]) -> Value {
    let annotation = |of: &Annotation| match &of.value {
        Some(value) => json!({ "name": of.name, "value": value }),
        None => json!({ "name": of.name }),
    };
    of.iter().map(annotation).collect()
}

fn key(of: &Key) -> Value {
    let kind = match of.kind {
        KeyKind::Exact => "Exact",
        KeyKind::Ternary => "Ternary",
        KeyKind::Lpm => "LPM",
        KeyKind::Range => "Range",
        KeyKind::Optional => "Optional",
        KeyKind::Atcam => "ATCAM",
        KeyKind::DleftHash => "DLEFT_HASH",
    };
    let mut ty = type_json(&of.ty);
    if let (Some(mask), Value::Object(ty)) = (&of.mask, &mut ty) {
        ty.insert("mask".to_owned(), json!(mask));
    }
    json!({
        "id": of.id,
        "name": of.name,
        "repeated": of.repeated,
        "annotations": annotations(&of.annotations),
        "mandatory": of.mandatory,
        "match_type": kind,
        "type": ty,
    })
}

/// Actions of programs hold bare fields, those of the chip's tables what its tables' data hold.
fn action_json(of: &Action, fixed: bool) -> Value {
    let mut out = Map::new();
    out.insert("id".to_owned(), json!(of.id));
    out.insert("name".to_owned(), json!(of.name));
    let scope = match of.scope {
        ActionScope::TableAndDefault => Some("TableAndDefault"),
        ActionScope::TableOnly => Some("TableOnly"),
        ActionScope::DefaultOnly => Some("DefaultOnly"),
        ActionScope::Any => None,
    };
    if let Some(scope) = scope {
        out.insert("action_scope".to_owned(), json!(scope));
    }
    out.insert("annotations".to_owned(), annotations(&of.annotations));
    let bare = |of: &Data| match of.fields.as_slice() {
        [one] if !fixed => {
            let mut made = field(one);
            if let Value::Object(made) = &mut made {
                made.insert("mandatory".to_owned(), json!(of.mandatory));
                made.insert("read_only".to_owned(), json!(of.read_only));
            }
            made
        }
        _ => data(of),
    };
    out.insert("data".to_owned(), of.data.iter().map(bare).collect());
    Value::Object(out)
}

fn data(of: &Data) -> Value {
    match of.fields.as_slice() {
        [one] => json!({ "mandatory": of.mandatory, "read_only": of.read_only, "singleton": field(one) }),
        several => {
            let several: Value = several.iter().map(field).collect();
            json!({ "mandatory": of.mandatory, "read_only": of.read_only, "oneof": several })
        }
    }
}

fn field(of: &Field) -> Value {
    let mut out = Map::new();
    out.insert("id".to_owned(), json!(of.id));
    out.insert("name".to_owned(), json!(of.name));
    out.insert("repeated".to_owned(), json!(of.repeated));
    out.insert("annotations".to_owned(), annotations(&of.annotations));
    match &of.ty {
        Type::Container(inner) => out.insert("container".to_owned(), inner.iter().map(data).collect()),
        ty => out.insert("type".to_owned(), type_json(ty)),
    };
    Value::Object(out)
}

fn type_json(of: &Type) -> Value {
    let (mut out, default) = match of {
        Type::Int(name, default) => (json!({ "type": name }), default.map(|default| json!(default))),
        Type::Bytes(width, default) => {
            (json!({ "type": "bytes", "width": width }), default.map(|default| json!(default)))
        }
        Type::Bool(default) => (json!({ "type": "bool" }), default.map(|default| json!(default))),
        Type::Float(default) => (json!({ "type": "float" }), default.map(|default| json!(default))),
        Type::Text(choices, default) => {
            let ty = match choices.is_empty() {
                true => json!({ "type": "string" }),
                false => json!({ "type": "string", "choices": choices }),
            };
            (ty, default.as_ref().map(|default| json!(default)))
        }
        Type::Container(_) => (json!({}), None),
    };
    if let (Some(default), Value::Object(out)) = (default, &mut out) {
        out.insert("default_value".to_owned(), default);
    }
    out
}

fn learn_filter(of: &LearnFilter) -> Value {
    json!({
        "name": of.name,
        "id": of.id,
        "annotations": annotations(&of.annotations),
        "fields": of.fields.iter().map(field).collect::<Value>(),
    })
}
