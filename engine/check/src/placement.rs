//! What may stand where: instances, labels after `default`, constructors, directions and options of
//! parameters, built-in types that core.p4 fills.

use p4cc_syntax::ast::{
    Block, Decl, DeclKind, Direction, ExternMethod, Ident, Param, ParserState, Program, Stmt, StmtKind,
    SwitchCase, Type, TypeKind,
};
use p4cc_syntax::visit::{self, Visitor};
use p4cc_syntax::{Diagnostic, Span};
use std::collections::BTreeMap;

/// Runs the pass.
pub(super) fn check(tree: &Program, found: &mut Vec<Diagnostic>) {
    let declares = |wanted: fn(&DeclKind) -> bool| tree.decls.iter().any(|decl| wanted(&decl.kind));
    let mut pass = Placement {
        found,
        place: Enclosing::Top,
        blocks: BTreeMap::new(),
        has_errors: declares(|kind| matches!(kind, DeclKind::Error { .. })),
        has_match_kinds: declares(|kind| matches!(kind, DeclKind::MatchKind { .. })),
    };
    visit::walk_program(&mut pass, tree);
}

/// Innermost thing that decides whether an instance may be made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Enclosing {
    Top,
    /// Between the declarations of a parser or control.
    Locals,
    /// Statements of a control's `apply`.
    Apply,
    /// Statements of a parser state.
    State,
    /// Bodies that the typing walk looks after: actions, functions.
    Body,
}

struct Placement<'a> {
    found: &'a mut Vec<Diagnostic>,
    place: Enclosing,
    /// Parsers and controls with a body, and which of the two each is.
    blocks: BTreeMap<String, &'static str>,
    has_errors: bool,
    has_match_kinds: bool,
}

impl Placement<'_> {
    fn inside(&mut self, place: Enclosing, walk: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.place, place);
        walk(self);
        self.place = outer;
    }

    /// A parser or control belongs to the one that applies it, or to the package that takes it.
    fn global_instance(&mut self, ty: &Type, name: &Ident) {
        let path = match &ty.kind {
            TypeKind::Named(path) | TypeKind::Specialized(path, _) => path,
            _ => return,
        };
        if let Some(kind) = self.blocks.get(&path.name.name) {
            self.found.push(
                Diagnostic::error(
                    name.span,
                    format!("{kind} `{}` cannot be instantiated at top level", name.name),
                )
                .with_help(format!(
                    "instantiate it where it is applied, or as an argument of the package: `{}()`",
                    path.name.name
                )),
            );
        }
    }

    fn instance(&mut self, ty: &Type, name: &Ident) {
        let what = match self.place {
            Enclosing::Top => return self.global_instance(ty, name),
            Enclosing::Apply => "the apply block of a control",
            Enclosing::State => "a parser state",
            Enclosing::Locals | Enclosing::Body => return,
        };
        self.found.push(
            Diagnostic::error(name.span, format!("`{}` cannot be instantiated inside {what}", name.name))
                .with_help("declare the instance among the declarations of the parser or control"),
        );
    }

    fn constructor_params(&mut self, params: &[Param], may_be_optional: bool) {
        for param in params {
            if param.direction != Direction::None {
                self.found.push(
                    Diagnostic::error(
                        param.name.span,
                        format!("constructor parameter `{}` cannot have a direction", param.name.name),
                    )
                    .with_help("its argument is a compile-time constant; remove the direction"),
                );
            }
        }
        if !may_be_optional {
            self.no_options(params);
        }
    }

    /// `@optional` is for declarations without a body.
    fn no_options(&mut self, params: &[Param]) {
        for param in params.iter().filter(|param| is_optional(param)) {
            self.found.push(
                Diagnostic::error(
                    param.name.span,
                    format!("parameter `{}` cannot be `@optional` here", param.name.name),
                )
                .with_help(
                    "only externs and packages can have optional parameters; give the parameter a default \
                        value",
                ),
            );
        }
    }

    fn extern_method(&mut self, object: &Ident, method: &ExternMethod) {
        let name = &method.signature.name;
        if method.is_constructor {
            self.constructor_params(&method.signature.params, true);
        } else if name.name == object.name {
            self.found.push(
                Diagnostic::error(
                    name.span,
                    format!("a constructor of `{}` cannot have a return type", object.name),
                )
                .with_help(format!("write `{}(...);`", object.name)),
            );
        }
    }

    fn switch(&mut self, cases: &[SwitchCase]) {
        let Some(at) = cases.iter().position(|case| case.label.is_none()) else { return };
        let (Some(default), Some(label)) =
            (cases.get(at), cases.get(at + 1).and_then(|case| case.label.as_ref()))
        else {
            return;
        };
        self.found.push(
            Diagnostic::error(label.span, "a label cannot follow `default`")
                .with_related(Span { end: default.span.start + 7, ..default.span }, "`default` is here")
                .with_help("move `default` to the end"),
        );
    }
}

fn is_optional(param: &Param) -> bool {
    param.annotations.iter().any(|annotation| annotation.name.name == "optional")
}

impl Visitor for Placement<'_> {
    fn decl(&mut self, decl: &Decl) {
        match &decl.kind {
            DeclKind::Instance { ty, name, .. } => {
                self.instance(ty, name);
                self.inside(Enclosing::Body, |this| visit::walk_decl(this, decl));
            }
            DeclKind::Parser(parser) => {
                self.blocks.insert(parser.name.name.clone(), "parser");
                self.constructor_params(&parser.constructor_params, false);
                self.inside(Enclosing::Locals, |this| visit::walk_decl(this, decl));
            }
            DeclKind::Control(control) => {
                self.blocks.insert(control.name.name.clone(), "control");
                self.constructor_params(&control.constructor_params, false);
                self.inside(Enclosing::Locals, |this| visit::walk_decl(this, decl));
            }
            DeclKind::PackageType { params, .. } => {
                self.constructor_params(params, true);
                visit::walk_decl(self, decl);
            }
            DeclKind::ExternObject { name, methods, .. } => {
                methods.iter().for_each(|method| self.extern_method(name, method));
                visit::walk_decl(self, decl);
            }
            DeclKind::Function { signature, .. } => {
                self.no_options(&signature.params);
                self.inside(Enclosing::Body, |this| visit::walk_decl(this, decl));
            }
            DeclKind::Action { .. } => self.inside(Enclosing::Body, |this| visit::walk_decl(this, decl)),
            _ => visit::walk_decl(self, decl),
        }
    }

    fn block(&mut self, block: &Block) {
        // The only block among the declarations of a control is its `apply`.
        let place = if self.place == Enclosing::Locals { Enclosing::Apply } else { self.place };
        self.inside(place, |this| visit::walk_block(this, block));
    }

    fn state(&mut self, state: &ParserState) {
        self.inside(Enclosing::State, |this| visit::walk_state(this, state));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        if let StmtKind::Switch { cases, .. } = &stmt.kind {
            self.switch(cases);
        }
        visit::walk_stmt(self, stmt);
    }

    fn param(&mut self, param: &Param) {
        if is_optional(param) && param.default.is_some() {
            self.found.push(Diagnostic::error(
                param.name.span,
                format!(
                    "parameter `{}` has both `@optional` and a default value; remove one of them",
                    param.name.name
                ),
            ));
        }
        visit::walk_param(self, param);
    }

    fn ty(&mut self, ty: &Type) {
        let missing = match ty.kind {
            TypeKind::Error if !self.has_errors => "error",
            TypeKind::MatchKind if !self.has_match_kinds => "match_kind",
            _ => return visit::walk_type(self, ty),
        };
        self.found.push(
            Diagnostic::error(
                ty.span,
                format!("`{missing}` is used, but the program declares no `{missing}`"),
            )
            .with_help("include core.p4"),
        );
    }
}
