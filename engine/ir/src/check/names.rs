//! Actions that the control plane could not tell apart.
//!
//! A name is what `@name` says, or the action's own, behind the name of its control; one that starts with a
//! dot, or that stands outside a control, has nothing before it. The lowering looks at the names of
//! instances, too late to know where they were written.

use p4cc_syntax::ast::{Annotation, AnnotationBody, Decl, DeclKind, ExprKind, Ident, Program};
use p4cc_syntax::{Diagnostic, Span};
use std::collections::BTreeMap;

/// Runs the pass.
pub(super) fn check(tree: &Program, found: &mut Vec<Diagnostic>) {
    let mut names: BTreeMap<String, Span> = BTreeMap::new();
    for decl in &tree.decls {
        match &decl.kind {
            DeclKind::Action { name, .. } => enter(&mut names, "", name, &decl.annotations, found),
            DeclKind::Control(control) => {
                let prefix = given(&decl.annotations).unwrap_or_else(|| control.name.name.clone());
                actions(&control.locals).for_each(|(name, annotations)| {
                    enter(&mut names, &prefix, name, annotations, found);
                });
            }
            _ => {}
        }
    }
}

fn actions(decls: &[Decl]) -> impl Iterator<Item = (&Ident, &[Annotation])> {
    decls.iter().filter_map(|decl| match &decl.kind {
        DeclKind::Action { name, .. } => Some((name, decl.annotations.as_slice())),
        _ => None,
    })
}

fn enter(
    names: &mut BTreeMap<String, Span>,
    prefix: &str,
    name: &Ident,
    annotations: &[Annotation],
    found: &mut Vec<Diagnostic>,
) {
    let given = given(annotations);
    let own = given.as_deref().unwrap_or(&name.name);
    let full = match own.strip_prefix('.') {
        Some(absolute) => absolute.to_owned(),
        None if prefix.is_empty() => own.to_owned(),
        None => format!("{}.{own}", prefix.trim_start_matches('.')),
    };
    match names.get(&full) {
        // Two of the same name in one scope are the typing walk's to tell.
        Some(first) if given.is_some() || *first != name.span => found.push(
            Diagnostic::error(name.span, format!("two actions have the control-plane name `{full}`"))
                .with_related(*first, "the other is declared here")
                .with_help("give one of them another `@name`"),
        ),
        Some(_) => {}
        None => {
            names.insert(full, name.span);
        }
    }
}

/// Value of `@name`.
fn given(annotations: &[Annotation]) -> Option<String> {
    let annotation = annotations.iter().find(|annotation| annotation.name.name == "name")?;
    match &annotation.body {
        AnnotationBody::Tokens(tokens) => match tokens.as_slice() {
            [token] => Some(token.text.trim_matches('"').to_owned()),
            _ => None,
        },
        AnnotationBody::Expressions(exprs) => match exprs.first().map(|expr| &expr.kind) {
            Some(ExprKind::String(text)) => Some(text.clone()),
            _ => None,
        },
        _ => None,
    }
}
