//! Where things are declared, by the names that a control plane and traces give them.

use std::collections::BTreeMap;

use crate::ast::{Annotation, AnnotationBody, Decl, DeclKind, Ident, Program, Type, TypeKind};
use crate::span::Span;

/// Controls within controls that are followed, and names in all: instances can multiply.
const MAX_DEPTH: usize = 16;
const MAX_NAMES: usize = 100_000;

/// Names of controls, parsers, states, tables, actions and instances with the spans of their declarations:
/// `MyIngress.routes`. A control within another has the path of its instances.
pub fn declared(program: &Program) -> Vec<(String, Span)> {
    let mut walk = Walk { types: BTreeMap::new(), found: Vec::new() };
    for decl in &program.decls {
        if let Some((name, _)) = body(decl) {
            walk.types.insert(&name.name, decl);
        }
    }
    for decl in &program.decls {
        match (&decl.kind, body(decl)) {
            (_, Some((name, _))) => walk.inside(decl, &name.name, MAX_DEPTH),
            (DeclKind::Action { name, .. }, _) => {
                walk.add(local_name(name, &decl.annotations, ""), name.span)
            }
            _ => {}
        }
    }
    walk.found
}

/// Name and local declarations of a control or parser.
fn body(decl: &Decl) -> Option<(&Ident, &[Decl])> {
    match &decl.kind {
        DeclKind::Control(control) => Some((&control.name, &control.locals)),
        DeclKind::Parser(parser) => Some((&parser.name, &parser.locals)),
        _ => None,
    }
}

/// The name of a local declaration below a path; `@name` replaces it, and the path too where it begins with a
/// dot.
fn local_name(name: &Ident, annotations: &[Annotation], path: &str) -> String {
    let given = annotations.iter().find(|one| one.name.name == "name").and_then(text_of);
    let own = given.as_deref().unwrap_or(&name.name);
    match own.strip_prefix('.') {
        Some(whole) => whole.to_owned(),
        None if path.is_empty() => own.to_owned(),
        None => format!("{path}.{own}"),
    }
}

fn text_of(annotation: &Annotation) -> Option<String> {
    let AnnotationBody::Tokens(tokens) = &annotation.body else { return None };
    let [token] = &tokens[..] else { return None };
    Some(token.text.trim_matches('"').to_owned())
}

fn type_name(ty: &Type) -> Option<&str> {
    match &ty.kind {
        TypeKind::Named(path) | TypeKind::Specialized(path, _) => Some(&path.name.name),
        _ => None,
    }
}

struct Walk<'a> {
    /// Controls and parsers.
    types: BTreeMap<&'a str, &'a Decl>,
    found: Vec<(String, Span)>,
}

impl<'a> Walk<'a> {
    fn add(&mut self, name: String, span: Span) {
        if self.found.len() < MAX_NAMES {
            self.found.push((name, span));
        }
    }

    fn inside(&mut self, decl: &'a Decl, path: &str, depth: usize) {
        let Some((name, locals)) = body(decl) else { return };
        let Some(depth) = depth.checked_sub(1).filter(|_| self.found.len() < MAX_NAMES) else { return };
        self.add(path.to_owned(), name.span);
        if let DeclKind::Parser(parser) = &decl.kind {
            for state in &parser.states {
                self.add(local_name(&state.name, &state.annotations, path), state.name.span);
            }
        }
        for local in locals {
            match &local.kind {
                DeclKind::Action { name, .. } => {
                    self.add(local_name(name, &local.annotations, path), name.span);
                }
                DeclKind::Table(table) => {
                    self.add(local_name(&table.name, &local.annotations, path), table.name.span);
                }
                DeclKind::Instance { ty, name, .. } => {
                    let whole = local_name(name, &local.annotations, path);
                    match type_name(ty).and_then(|ty| self.types.get(ty).copied()) {
                        Some(within) => self.inside(within, &whole, depth),
                        None => self.add(whole, name.span),
                    }
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Memory, Options, Source, declared, parse};

    #[test]
    fn names_lead_to_their_declarations() {
        let text = "action none() {}
            control inner() { @name(\"other\") table t { actions = { none; } } apply { t.apply(); } }
            control outer() { inner() first; inner() second; @name(\".top\") action a() {} register<bit<8>>(4) r;
                apply { first.apply(); second.apply(); a(); } }
            parser p(packet_in b) { state start { transition accept; } }";
        let (source, _) = Source::from_text("a.p4", text, &Memory::default(), &Options::default());
        let found = declared(&parse(&source).0);
        let names: Vec<(&str, &str)> =
            found.iter().map(|(name, span)| (name.as_str(), source.slice(*span))).collect();
        let wanted = [
            ("none", "none"),
            ("inner", "inner"),
            ("inner.other", "t"),
            ("outer", "outer"),
            ("outer.first", "inner"),
            ("outer.first.other", "t"),
            ("outer.second", "inner"),
            ("outer.second.other", "t"),
            ("top", "a"),
            ("outer.r", "r"),
            ("p", "p"),
            ("p.start", "start"),
        ];
        assert_eq!(names, wanted);
    }

    #[test]
    fn a_control_within_itself_ends() {
        let text = "control a() { a() x; a() y; apply {} }";
        let (source, _) = Source::from_text("a.p4", text, &Memory::default(), &Options::default());
        assert!(declared(&parse(&source).0).len() <= super::MAX_NAMES);
    }
}
