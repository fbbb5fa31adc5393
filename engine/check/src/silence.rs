//! `@noWarn("name")`: warnings of that name inside what is annotated are not given.

use p4cc_syntax::ast::{Annotation, AnnotationBody, Block, Decl, ParserState, Program};
use p4cc_syntax::visit::{self, Visitor};
use p4cc_syntax::{Diagnostic, Severity, Span};

/// Removes the silenced warnings.
pub fn silence(tree: &Program, diagnostics: &mut Vec<Diagnostic>) {
    if !diagnostics.iter().any(|diagnostic| !diagnostic.name.is_empty()) {
        return;
    }
    let mut silenced = Silenced(Vec::new());
    visit::walk_program(&mut silenced, tree);
    diagnostics.retain(|diagnostic| {
        diagnostic.severity == Severity::Error
            || !silenced.0.iter().any(|(name, span)| {
                *name == diagnostic.name
                    && span.start <= diagnostic.span.start
                    && diagnostic.span.end <= span.end
            })
    });
}

/// Names with the places where they are silent.
struct Silenced(Vec<(String, Span)>);

impl Silenced {
    fn add(&mut self, annotations: &[Annotation], span: Span) {
        for annotation in annotations.iter().filter(|annotation| annotation.name.name == "noWarn") {
            let AnnotationBody::Tokens(tokens) = &annotation.body else { continue };
            let names = tokens.iter().map(|token| token.text.trim_matches('"').to_owned());
            self.0.extend(names.map(|name| (name, span)));
        }
    }
}

impl Visitor for Silenced {
    fn decl(&mut self, decl: &Decl) {
        self.add(&decl.annotations, decl.span);
        visit::walk_decl(self, decl);
    }

    fn state(&mut self, state: &ParserState) {
        self.add(&state.annotations, state.span);
        visit::walk_state(self, state);
    }

    fn block(&mut self, block: &Block) {
        self.add(&block.annotations, block.span);
        visit::walk_block(self, block);
    }
}
