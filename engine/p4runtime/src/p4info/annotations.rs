//! Annotations as P4Info carries them: plain ones as text, structured ones parsed, documentation apart.
//!
//! They arrive as source text (`@name(...)`, `@name[...]`). Text that is not of that form is kept as it
//! stands: an annotation can never make a program invalid here.

use crate::proto::p4::config::v1 as p4;
use p4::action_profile::{SelectorSizeSemantics, SumOfMembers, SumOfWeights};

/// What the annotations of one object become.
#[derive(Default)]
pub(super) struct Annotations {
    pub(super) plain: Vec<String>,
    pub(super) structured: Vec<p4::StructuredAnnotation>,
    pub(super) doc: Option<p4::Documentation>,
}

/// Sorts the annotations of an object; `skip` names those that P4Info expresses elsewhere.
pub(super) fn sort(texts: &[String], skip: &[&str]) -> Annotations {
    let mut sorted = Annotations::default();
    for text in texts {
        let (name, body) = split(text);
        match (name, body) {
            (_, Body::Structured(body)) => sorted.structured.push(structured(name, body)),
            ("name" | "id", _) => {}
            ("brief", Body::Plain(body)) => sorted.doc.get_or_insert_default().brief = unquote(body),
            ("description", Body::Plain(body)) => {
                sorted.doc.get_or_insert_default().description = unquote(body)
            }
            _ if skip.contains(&name) => {}
            _ => sorted.plain.push(text.clone()),
        }
    }
    sorted
}

/// Those that P4Info carries as text.
pub fn plain(texts: &[String]) -> Vec<String> {
    sort(texts, &[]).plain
}

/// The package's description, from `@pkginfo` and the rest of its annotations.
pub(super) fn package(architecture: &str, texts: &[String]) -> p4::PkgInfo {
    // Both are written with round brackets as a rule, and mean the same with square ones.
    let pairs = |text: &String| match split(text) {
        (name @ ("pkginfo" | "platform_property"), Body::Plain(body)) => format!("@{name}[{body}]"),
        _ => text.clone(),
    };
    let texts: Vec<String> = texts.iter().map(pairs).collect();
    let Annotations { plain, structured, doc } = sort(&texts, &[]);
    let mut info =
        p4::PkgInfo { arch: architecture.to_owned(), annotations: plain, doc, ..Default::default() };
    for annotation in structured {
        let Some(p4::structured_annotation::Body::KvPairList(list)) = &annotation.body else {
            info.structured_annotations.push(annotation);
            continue;
        };
        match annotation.name.as_str() {
            "pkginfo" => list.kv_pairs.iter().for_each(|pair| set_package_field(&mut info, pair)),
            "platform_property" => {
                let platform = info.platform_properties.get_or_insert_default();
                list.kv_pairs.iter().for_each(|pair| set_platform_field(platform, pair));
            }
            _ => info.structured_annotations.push(annotation),
        }
    }
    info
}

fn set_package_field(info: &mut p4::PkgInfo, pair: &p4::KeyValuePair) {
    use p4::expression::Value::StringValue;
    let Some(p4::Expression { value: Some(StringValue(value)) }) = &pair.value else { return };
    let field = match pair.key.as_str() {
        "name" => &mut info.name,
        "version" => &mut info.version,
        "organization" => &mut info.organization,
        "contact" => &mut info.contact,
        "url" => &mut info.url,
        "arch" => &mut info.arch,
        _ => return,
    };
    field.clone_from(value);
}

fn set_platform_field(platform: &mut p4::PlatformProperties, pair: &p4::KeyValuePair) {
    use p4::expression::Value::Int64Value;
    let Some(p4::Expression { value: Some(Int64Value(value)) }) = &pair.value else { return };
    let field = match pair.key.as_str() {
        "multicast_group_table_size" => &mut platform.multicast_group_table_size,
        "multicast_group_table_total_replicas" => &mut platform.multicast_group_table_total_replicas,
        "multicast_group_table_max_replicas_per_entry" => {
            &mut platform.multicast_group_table_max_replicas_per_entry
        }
        _ => return,
    };
    *field = i32::try_from(*value).unwrap_or(i32::MAX);
}

/// How the sizes of an action selector's groups count, when an annotation says it.
pub(super) fn size_semantics(texts: &[String]) -> Option<SelectorSizeSemantics> {
    let body = |wanted: &str| {
        texts.iter().find_map(|text| match split(text) {
            (name, Body::Plain(body)) if name == wanted => Some(body),
            _ => None,
        })
    };
    match unquote(body("selector_size_semantics")?).as_str() {
        "sum_of_weights" => Some(SelectorSizeSemantics::SumOfWeights(SumOfWeights {})),
        "sum_of_members" => {
            let most = body("max_member_weight").and_then(integer);
            let max_member_weight = most.and_then(|most| i32::try_from(most).ok()).unwrap_or(0);
            Some(SelectorSizeSemantics::SumOfMembers(SumOfMembers { max_member_weight }))
        }
        _ => None,
    }
}

enum Body<'a> {
    None,
    Plain(&'a str),
    Structured(&'a str),
}

fn split(text: &str) -> (&str, Body<'_>) {
    let text = text.trim().trim_start_matches('@');
    let end = text.find(['(', '[']).unwrap_or(text.len());
    let (name, body) = (text[..end].trim(), &text[end..]);
    let inside = |open, close| body.strip_prefix(open).and_then(|body| body.strip_suffix(close));
    match (inside('(', ')'), inside('[', ']')) {
        (Some(body), _) => (name, Body::Plain(body)),
        (_, Some(body)) => (name, Body::Structured(body)),
        _ => (name, Body::None),
    }
}

fn structured(name: &str, body: &str) -> p4::StructuredAnnotation {
    use p4::structured_annotation::Body as Of;
    let parts = split_at_commas(body);
    let pairs: Option<Vec<p4::KeyValuePair>> = parts
        .iter()
        .map(|part| {
            let (key, value) = part.split_once('=').filter(|(key, _)| is_name(key.trim()))?;
            Some(p4::KeyValuePair { key: key.trim().to_owned(), value: Some(expression(value)) })
        })
        .collect();
    let body = match pairs {
        Some(kv_pairs) if !parts.is_empty() => Of::KvPairList(p4::KeyValuePairList { kv_pairs }),
        _ => Of::ExpressionList(p4::ExpressionList {
            expressions: parts.iter().map(|p| expression(p)).collect(),
        }),
    };
    p4::StructuredAnnotation { name: name.to_owned(), body: Some(body), source_location: None }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// Splits at commas outside of string literals.
fn split_at_commas(body: &str) -> Vec<&str> {
    let (mut parts, mut start, mut quoted, mut escaped) = (Vec::new(), 0, false, false);
    for (at, c) in body.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            ',' if !quoted => {
                parts.push(&body[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    if !body[start..].trim().is_empty() || !parts.is_empty() {
        parts.push(&body[start..]);
    }
    parts
}

fn expression(text: &str) -> p4::Expression {
    use p4::expression::Value;
    let text = text.trim();
    let value = match text {
        "true" => Value::BoolValue(true),
        "false" => Value::BoolValue(false),
        _ => integer(text).map_or_else(|| Value::StringValue(unquote(text)), Value::Int64Value),
    };
    p4::Expression { value: Some(value) }
}

/// An integer literal, its width prefix (`8w`) and underscores dropped.
fn integer(text: &str) -> Option<i64> {
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest.trim_start()));
    let digits = digits.split_once(['w', 's']).map_or(digits, |(_, digits)| digits).replace('_', "");
    let (radix, digits) = match digits.get(..2) {
        Some("0x" | "0X") => (16, &digits[2..]),
        Some("0b" | "0B") => (2, &digits[2..]),
        Some("0o" | "0O") => (8, &digits[2..]),
        _ => (10, digits.as_str()),
    };
    i64::from_str_radix(digits, radix).ok().map(|value| sign * value)
}

/// The text of one or more adjacent string literals.
fn unquote(text: &str) -> String {
    let text = text.trim();
    if !text.starts_with('"') {
        return text.to_owned();
    }
    let (mut out, mut quoted, mut chars) = (String::new(), false, text.chars());
    while let Some(c) = chars.next() {
        match c {
            '"' => quoted = !quoted,
            '\\' if quoted => match chars.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some(other) => out.push(other),
                None => {}
            },
            _ if quoted => out.push(c),
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documentation_is_taken_out_and_the_rest_kept_as_written() {
        let texts =
            ["@brief(\"a \\\"b\\\"\")", "@name(\"x\")", "@noWarn(\"unused\")", "@hot"].map(str::to_owned);
        let sorted = sort(&texts, &[]);
        assert_eq!(sorted.doc.unwrap().brief, "a \"b\"");
        assert_eq!(sorted.plain, ["@noWarn(\"unused\")", "@hot"]);
    }

    #[test]
    fn structured_annotations_are_parsed() {
        use p4::expression::Value;
        let sorted = sort(&["@mixed[1, \"a,b\", true, 8w0x1F]".to_owned()], &[]);
        let Some(p4::structured_annotation::Body::ExpressionList(list)) = &sorted.structured[0].body else {
            panic!("not a list: {:?}", sorted.structured);
        };
        let values: Vec<_> = list.expressions.iter().map(|e| e.value.clone().unwrap()).collect();
        let expected = [
            Value::Int64Value(1),
            Value::StringValue("a,b".into()),
            Value::BoolValue(true),
            Value::Int64Value(31),
        ];
        assert_eq!(values, expected);
    }

    #[test]
    fn package_fields_come_from_pkginfo() {
        for text in
            ["@pkginfo[name=\"ecn.p4\", version=\"2\"]", "@pkginfo(name = \"ecn.p4\",\n version = \"2\")"]
        {
            let info = package(
                "v1model",
                &[text.to_owned(), "@platform_property(multicast_group_table_size = 10)".to_owned()],
            );
            assert_eq!(
                (info.name.as_str(), info.version.as_str(), info.arch.as_str()),
                ("ecn.p4", "2", "v1model")
            );
            assert_eq!(
                info.platform_properties.map(|platform| platform.multicast_group_table_size),
                Some(10)
            );
            assert!(info.structured_annotations.is_empty() && info.annotations.is_empty());
        }
    }

    #[test]
    fn sizes_count_members_when_the_annotation_says_so() {
        let semantics = |of: &str| {
            size_semantics(&[
                format!("@selector_size_semantics(\"{of}\")"),
                "@max_member_weight(40)".to_owned(),
            ])
        };
        let members = SumOfMembers { max_member_weight: 40 };
        assert_eq!(semantics("sum_of_members"), Some(SelectorSizeSemantics::SumOfMembers(members)));
        assert_eq!(semantics("sum_of_weights"), Some(SelectorSizeSemantics::SumOfWeights(SumOfWeights {})));
        assert_eq!(size_semantics(&[]), None);
    }
}
