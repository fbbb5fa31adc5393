//! Annotations whose form is fixed: structured ones, `@match`, `@p4runtime_translation`.

use p4cc_syntax::ast::{Annotation, AnnotationBody, AnnotationToken, DeclKind, Program};
use p4cc_syntax::visit::{self, Visitor};
use p4cc_syntax::{Diagnostic, Span};
use std::collections::BTreeSet;

/// Runs the pass.
pub(super) fn check(tree: &Program, found: &mut Vec<Diagnostic>) {
    let mut match_kinds = BTreeSet::new();
    for decl in &tree.decls {
        if let DeclKind::MatchKind { members } = &decl.kind {
            match_kinds.extend(members.iter().map(|member| member.name.as_str()));
        }
    }
    visit::walk_program(&mut Annotations { found, match_kinds }, tree);
}

struct Annotations<'a> {
    found: &'a mut Vec<Diagnostic>,
    match_kinds: BTreeSet<&'a str>,
}

impl Annotations<'_> {
    /// Unstructured annotations add up; a structured one is the only one of its name (P4-16 20.2).
    fn duplicates(&mut self, annotations: &[Annotation]) {
        for (index, annotation) in annotations.iter().enumerate() {
            let name = &annotation.name.name;
            let before = annotations.iter().take(index).find(|other| other.name.name == *name);
            if let Some(first) = before
                && (is_structured(first) || is_structured(annotation))
            {
                self.found.push(
                    Diagnostic::error(
                        annotation.span,
                        format!("`@{name}` is given twice, once with `[...]`"),
                    )
                    .with_related(first.span, "given first here")
                    .with_help("a structured annotation can be given only once"),
                );
            }
        }
    }

    /// `@match(lpm)` of a value set's field.
    fn match_annotation(&mut self, annotation: &Annotation) {
        let AnnotationBody::Tokens(tokens) = &annotation.body else { return };
        let known = |token: &AnnotationToken| self.match_kinds.contains(token.text.as_str());
        if matches!(tokens.as_slice(), [token] if known(token)) {
            return;
        }
        let kinds: Vec<&str> = self.match_kinds.iter().copied().collect();
        self.found.push(
            Diagnostic::error(inner_span(annotation, tokens), "`@match` takes one match kind")
                .with_help(format!("the program declares {}", kinds.join(", "))),
        );
    }

    /// `@pkginfo(name = "...")`.
    fn package_info(&mut self, annotation: &Annotation) {
        if matches!(annotation.body, AnnotationBody::Empty) {
            self.found.push(
                Diagnostic::error(annotation.span, "`@pkginfo` takes named values")
                    .with_help("write `@pkginfo(name = \"...\", version = \"...\")`"),
            );
        }
    }

    /// `@p4runtime_translation("uri", 32)`, with a number of bits, `bit<W>` or `string`.
    fn translation(&mut self, annotation: &Annotation) {
        let AnnotationBody::Tokens(tokens) = &annotation.body else { return };
        let texts: Vec<&str> = tokens.iter().map(|token| token.text.as_str()).collect();
        let number = |text: &&str| text.starts_with(|c: char| c.is_ascii_digit());
        let fine = match texts.as_slice() {
            [uri, ",", rest @ ..] if uri.starts_with('"') => match rest {
                ["string"] => true,
                [width] => number(width),
                ["bit", "<", width, ">"] => number(width),
                _ => false,
            },
            _ => false,
        };
        if !fine {
            let second = tokens.get(2..).filter(|rest| !rest.is_empty()).unwrap_or(tokens);
            self.found.push(
                Diagnostic::error(
                    inner_span(annotation, second),
                    "`@p4runtime_translation` takes a string and the controller's type",
                )
                .with_help("write `@p4runtime_translation(\"uri\", bit<32>)`, a number of bits, or `string`"),
            );
        }
    }
}

fn is_structured(annotation: &Annotation) -> bool {
    matches!(annotation.body, AnnotationBody::Expressions(_) | AnnotationBody::KeyValues(_))
}

/// The tokens' place, or the annotation's if it has none.
fn inner_span(annotation: &Annotation, tokens: &[AnnotationToken]) -> Span {
    match (tokens.first(), tokens.last()) {
        (Some(first), Some(last)) => first.span.to(last.span),
        _ => annotation.span,
    }
}

impl Visitor for Annotations<'_> {
    fn annotations(&mut self, annotations: &[Annotation]) {
        self.duplicates(annotations);
        for annotation in annotations {
            match annotation.name.name.as_str() {
                "match" => self.match_annotation(annotation),
                "pkginfo" => self.package_info(annotation),
                "p4runtime_translation" => self.translation(annotation),
                _ => {}
            }
        }
        visit::walk_annotations(self, annotations);
    }
}
