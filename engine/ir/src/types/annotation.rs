//! Annotations: the few that the engine acts on, and the source text of the rest for P4Info.

use super::Checker;
use super::hir::{Annotations, ExprKind};
use super::scope::{Symbol, TypeSymbol};
use super::ty::Ty;
use super::value::Value;
use num_traits::ToPrimitive;
use p4cc_syntax::Diagnostic;
use p4cc_syntax::ast::{Annotation, AnnotationBody, AnnotationToken, Expr, ExprKind as AstKind};

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
                        "controller_header" => out.controller_header = self.string_annotation(annotation),
                        _ => {}
                    }
                    out.texts.push(text(annotation));
                }
            }
        }
        out
    }

    fn string_annotation(&mut self, annotation: &Annotation) -> Option<String> {
        let value = match &annotation.body {
            AnnotationBody::Tokens(tokens) => match tokens.as_slice() {
                [token] => token.text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).map(unescape),
                _ => None,
            },
            AnnotationBody::Expressions(exprs) => match exprs.as_slice() {
                [Expr { kind: AstKind::String(text), .. }] => Some(text.clone()),
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
        let text = token.text.replace('_', "");
        let radix = |prefix: &[&str], base: u32| {
            prefix
                .iter()
                .find_map(|p| text.strip_prefix(p))
                .and_then(|digits| u32::from_str_radix(digits, base).ok())
        };
        if text.starts_with(|c: char| c.is_ascii_digit()) {
            return radix(&["0x", "0X"], 16)
                .or_else(|| radix(&["0b", "0B"], 2))
                .or_else(|| radix(&["0o", "0O"], 8))
                .or_else(|| text.parse().ok())
                .or_else(|| text.split_once('w').and_then(|(_, digits)| digits.parse().ok()));
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

/// Source text of an annotation, one blank between words.
fn text(annotation: &Annotation) -> String {
    let name = &annotation.name.name;
    match &annotation.body {
        AnnotationBody::Empty => format!("@{name}"),
        AnnotationBody::Tokens(tokens) => format!("@{name}({})", join(tokens)),
        AnnotationBody::Expressions(exprs) => {
            let items: Vec<_> = exprs.iter().map(expr_text).collect();
            format!("@{name}[{}]", items.join(", "))
        }
        AnnotationBody::KeyValues(pairs) => {
            let items: Vec<_> =
                pairs.iter().map(|(key, value)| format!("{}={}", key.name, expr_text(value))).collect();
            format!("@{name}[{}]", items.join(", "))
        }
    }
}

fn join(tokens: &[AnnotationToken]) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '"';
    let mut out = String::new();
    for token in tokens {
        let glue = out.ends_with(is_word) && token.text.starts_with(is_word);
        if glue || out.ends_with(',') {
            out.push(' ');
        }
        out.push_str(&token.text);
    }
    out
}

/// The expressions that structured annotations are made of; others print as `...`.
fn expr_text(expr: &Expr) -> String {
    match &expr.kind {
        AstKind::Bool(value) => value.to_string(),
        AstKind::String(value) => format!("{value:?}"),
        AstKind::Path(path) => path.name.name.clone(),
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
        _ => "...".to_owned(),
    }
}
