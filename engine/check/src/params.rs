//! Parameters that have the name of a type parameter of the same declaration.

use p4cc_syntax::Diagnostic;
use p4cc_syntax::ast::{Decl, DeclKind, Ident, Param, Program};
use p4cc_syntax::visit::{self, Visitor};

/// Runs the pass.
pub(super) fn check(tree: &Program, found: &mut Vec<Diagnostic>) {
    visit::walk_program(&mut Params { found }, tree);
}

struct Params<'a> {
    found: &'a mut Vec<Diagnostic>,
}

impl Params<'_> {
    fn distinct(&mut self, types: &[Ident], params: &[Param], constructor: &[Param]) {
        for param in params.iter().chain(constructor) {
            if let Some(first) = types.iter().find(|ty| ty.name == param.name.name) {
                self.found.push(
                    Diagnostic::error(
                        param.name.span,
                        format!("parameter `{}` has the same name as a type parameter", param.name.name),
                    )
                    .with_related(first.span, "the type parameter"),
                );
            }
        }
    }
}

impl Visitor for Params<'_> {
    fn decl(&mut self, decl: &Decl) {
        match &decl.kind {
            DeclKind::Parser(parser) => {
                self.distinct(&parser.type_params, &parser.params, &parser.constructor_params);
            }
            DeclKind::Control(control) => {
                self.distinct(&control.type_params, &control.params, &control.constructor_params);
            }
            DeclKind::ParserType { type_params, params, .. }
            | DeclKind::ControlType { type_params, params, .. }
            | DeclKind::PackageType { type_params, params, .. } => self.distinct(type_params, params, &[]),
            DeclKind::ExternFunction(signature) | DeclKind::Function { signature, .. } => {
                self.distinct(&signature.type_params, &signature.params, &[]);
            }
            DeclKind::ExternObject { methods, .. } => methods.iter().for_each(|method| {
                self.distinct(&method.signature.type_params, &method.signature.params, &[]);
            }),
            _ => {}
        }
        visit::walk_decl(self, decl);
    }
}
