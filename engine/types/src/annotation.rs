//! Annotations: the few that the engine acts on, and the source text of the rest for P4Info.

use super::Checker;
use super::hir::{Annotations, ExprKind};
use super::scope::{Symbol, TypeSymbol};
use super::ty::Ty;
use super::value::Value;
use num_traits::ToPrimitive;
use p4cc_ir::Translation;
use p4cc_syntax::Diagnostic;
use p4cc_syntax::ast::{Annotation, AnnotationBody, AnnotationToken, Expr, ExprKind as AstKind, Ident};

impl Checker {
    /// Reads a declaration's annotations.
    pub(super) fn annotations(&mut self, annotations: &[Annotation]) -> Annotations {
        let mut out = Annotations::default();
        for annotation in annotations {
            match annotation.name.name.as_str() {
                // Of several names p4c takes the first.
                "name" => {
                    let name = self.string_annotation(annotation);
                    out.name = out.name.or(name);
                }
                "id" => out.id = self.number_annotation(annotation),
                other => {
                    match other {
                        "hidden" => out.hidden = true,
                        "field_list" => out.field_lists.extend(self.number_list(annotation)),
                        "max_group_size" => out.max_group_size = self.number_annotation(annotation),
                        "deprecated" => drop(self.string_annotation(annotation)),
                        "controller_header" => out.controller_header = self.string_annotation(annotation),
                        "p4runtime_translation" => out.translation = translation(annotation),
                        _ => {}
                    }
                    let text = self.text(annotation);
                    out.texts.push(text);
                }
            }
        }
        out
    }

    /// Source text of an annotation, as p4c writes it.
    fn text(&mut self, annotation: &Annotation) -> String {
        let name = &annotation.name.name;
        match &annotation.body {
            AnnotationBody::Empty => format!("@{name}"),
            AnnotationBody::Tokens(tokens) if tokens.is_empty() => format!("@{name}"),
            AnnotationBody::Tokens(tokens) => format!("@{name}({})", join(name, tokens)),
            AnnotationBody::Expressions(exprs) => {
                let items: Vec<_> = exprs.iter().map(|expr| self.value_text(expr)).collect();
                format!("@{name}[{}]", items.join(", "))
            }
            AnnotationBody::KeyValues(pairs) => {
                let item = |(key, value): &(Ident, Expr)| format!("{}={}", key.name, self.value_text(value));
                let items: Vec<_> = pairs.iter().map(item).collect();
                format!("@{name}[{}]", items.join(", "))
            }
        }
    }

    /// A value of a structured annotation: a literal as it stands, an expression as what it comes to.
    fn value_text(&mut self, expr: &Expr) -> String {
        if let Some(text) = literal_text(expr) {
            return text;
        }
        match self.expr(expr).kind {
            ExprKind::Const(Value::Bool(value)) => value.to_string(),
            ExprKind::Const(Value::String(value)) => format!("{value:?}"),
            ExprKind::Const(value) if value.as_int().is_some() => {
                value.as_int().map(ToString::to_string).unwrap_or_default()
            }
            ExprKind::Poison => String::new(),
            _ => {
                self.push(
                    Diagnostic::error(expr.span, "a structured annotation takes only compile-time constants")
                        .with_help("write a number, a string or a boolean"),
                );
                String::new()
            }
        }
    }

    fn string_annotation(&mut self, annotation: &Annotation) -> Option<String> {
        let value = match &annotation.body {
            AnnotationBody::Tokens(tokens) => self.joined_tokens(tokens),
            AnnotationBody::Expressions(exprs) => match exprs.as_slice() {
                [expr] => match self.expr(expr).kind {
                    ExprKind::Const(Value::String(text)) => Some(text),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        };
        if value.is_none() {
            let name = &annotation.name.name;
            self.push(
                Diagnostic::error(annotation.span, format!("`@{name}` takes one string"))
                    .with_help(format!("write `@{name}(\"...\")`")),
            );
        }
        value
    }

    /// Literals and constants joined by `++`.
    fn joined_tokens(&self, tokens: &[AnnotationToken]) -> Option<String> {
        let mut out = String::new();
        for item in tokens.split(|token| token.text == "++") {
            let [token] = item else { return None };
            if let Some(text) = token.text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
                out += &unescape(text);
                continue;
            }
            match &self.scopes.get(&token.text, false)?.symbol {
                Symbol::Const(expr) => match &expr.kind {
                    ExprKind::Const(Value::String(text)) => out += text,
                    _ => return None,
                },
                _ => return None,
            }
        }
        Some(out)
    }

    pub(super) fn number_annotation(&mut self, annotation: &Annotation) -> Option<u32> {
        let value = match &annotation.body {
            AnnotationBody::Tokens(tokens) => match tokens.as_slice() {
                [token] => self.number_token(token),
                _ => None,
            },
            AnnotationBody::Expressions(exprs) => match exprs.as_slice() {
                [expr] => self.number_expr(expr),
                _ => None,
            },
            _ => None,
        };
        if value.is_none() {
            let name = &annotation.name.name;
            self.push(
                Diagnostic::error(annotation.span, format!("`@{name}` takes one number"))
                    .with_help(format!("write `@{name}(1)`")),
            );
        }
        value
    }

    fn number_list(&mut self, annotation: &Annotation) -> Vec<u32> {
        let values: Option<Vec<u32>> = match &annotation.body {
            AnnotationBody::Tokens(tokens) => tokens
                .split(|token| token.text == ",")
                .filter(|item| !item.is_empty())
                .map(|item| self.number_item(item))
                .collect(),
            AnnotationBody::Expressions(exprs) => exprs.iter().map(|expr| self.number_expr(expr)).collect(),
            _ => None,
        };
        values.unwrap_or_else(|| {
            let name = &annotation.name.name;
            self.push(Diagnostic::error(annotation.span, format!("`@{name}` takes a list of numbers")));
            Vec::new()
        })
    }

    fn number_expr(&mut self, expr: &Expr) -> Option<u32> {
        match &self.expr(expr).kind {
            ExprKind::Const(value) => value.as_int().and_then(ToPrimitive::to_u32),
            _ => None,
        }
    }

    /// One number of a list: a literal, a constant, or the member of a serializable enum.
    fn number_item(&self, item: &[AnnotationToken]) -> Option<u32> {
        match item {
            [token] => self.number_token(token),
            [name, dot, member] if dot.text == "." => {
                let Symbol::Type(TypeSymbol::Plain(Ty::Enum(id))) =
                    &self.scopes.get(&name.text, false)?.symbol
                else {
                    return None;
                };
                let def = self.hir.enums.get(id.index()).filter(|def| def.underlying.is_some())?;
                let (_, value) = def.members.iter().find(|(name, _)| *name == member.text)?;
                value.to_u32()
            }
            _ => None,
        }
    }

    /// A literal, or the name of a constant.
    fn number_token(&self, token: &AnnotationToken) -> Option<u32> {
        if token.text.starts_with(|c: char| c.is_ascii_digit()) {
            return number_text(&token.text);
        }
        match &self.scopes.get(&token.text, false)?.symbol {
            Symbol::Const(expr) => match &expr.kind {
                ExprKind::Const(Value::Int(value)) => value.to_u32(),
                _ => None,
            },
            _ => None,
        }
    }
}

/// The value of an integer literal.
fn number_text(text: &str) -> Option<u32> {
    let text = text.replace('_', "");
    let radix = |prefix: &[&str], base: u32| {
        let digits = prefix.iter().find_map(|prefix| text.strip_prefix(prefix));
        digits.and_then(|digits| u32::from_str_radix(digits, base).ok())
    };
    radix(&["0x", "0X"], 16)
        .or_else(|| radix(&["0b", "0B"], 2))
        .or_else(|| radix(&["0o", "0O"], 8))
        .or_else(|| text.parse().ok())
        .or_else(|| text.split_once('w').and_then(|(_, digits)| digits.parse().ok()))
}

/// Resolves the escapes of a string token.
fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some(other) => out.push(other),
            None => out.push('\\'),
        }
    }
    out
}

/// What `@p4runtime_translation("uri", type)` says; its form was checked.
fn translation(annotation: &Annotation) -> Option<Translation> {
    let AnnotationBody::Tokens(tokens) = &annotation.body else { return None };
    let mut texts = tokens.iter().map(|token| token.text.as_str());
    let uri = unescape(texts.next()?.strip_prefix('"')?.strip_suffix('"')?);
    let width = texts.find(|text| text.starts_with(|c: char| c.is_ascii_digit()));
    match width {
        Some(width) => Some(Translation { uri, sdn_bitwidth: Some(number_text(width)?) }),
        None => Some(Translation { uri, sdn_bitwidth: None }),
    }
}

/// Tokens as p4c spells them: of annotations that it knows as lists with commas, of others each apart.
fn join(name: &str, tokens: &[AnnotationToken]) -> String {
    let texts: Vec<&str> = tokens.iter().map(|token| token.text.as_str()).collect();
    let joined = texts.join(" ");
    match name {
        "synchronous" | "field_list" | "command_line" | "symmetric" => joined.replace(" ,", ","),
        "alpm_atcam_exclude_field_msbs" => joined.replace(" ,", ",").replace(" . ", "."),
        _ => joined,
    }
}

/// A literal as text.
fn literal_text(expr: &Expr) -> Option<String> {
    Some(match &expr.kind {
        AstKind::Bool(value) => value.to_string(),
        AstKind::String(value) => format!("{value:?}"),
        AstKind::Int(literal) => {
            let base = match literal.base {
                2 => "0b",
                8 => "0o",
                16 => "0x",
                _ => "",
            };
            match literal.width {
                Some((width, true)) => format!("{width}s{base}{}", literal.digits),
                Some((width, false)) => format!("{width}w{base}{}", literal.digits),
                None => format!("{base}{}", literal.digits),
            }
        }
        _ => return None,
    })
}
