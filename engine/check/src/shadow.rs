//! Names that hide other names.
//!
//! Hiding a parameter is an error, since whoever reads the body takes the name for the parameter; hiding
//! anything else is a warning. Two names in one scope are the typing walk's business.

use p4cc_syntax::ast::{Block, Decl, DeclKind, Ident, Param, ParserState, Program, Stmt, StmtKind};
use p4cc_syntax::visit::{self, Visitor};
use p4cc_syntax::{Diagnostic, Span};
use std::collections::BTreeMap;

/// Runs the pass.
pub(super) fn check(tree: &Program, found: &mut Vec<Diagnostic>) {
    visit::walk_program(&mut Shadow { found, scopes: vec![BTreeMap::new()] }, tree);
}

struct Name {
    span: Span,
    is_param: bool,
}

struct Shadow<'a> {
    found: &'a mut Vec<Diagnostic>,
    /// From the outermost to the innermost.
    scopes: Vec<BTreeMap<String, Name>>,
}

impl Shadow<'_> {
    fn scope(&mut self, walk: impl FnOnce(&mut Self)) {
        self.scopes.push(BTreeMap::new());
        walk(self);
        self.scopes.pop();
    }

    fn declare(&mut self, name: &Ident, is_param: bool) {
        let Some((inner, outer)) = self.scopes.split_last_mut() else { return };
        if inner.contains_key(&name.name) {
            return;
        }
        if let Some(hidden) = outer.iter().rev().find_map(|scope| scope.get(&name.name)) {
            let text = &name.name;
            let diagnostic = if hidden.is_param && !is_param {
                Diagnostic::error(name.span, format!("`{text}` shadows the parameter `{text}`"))
                    .with_help("choose another name")
            } else {
                Diagnostic::warning(name.span, format!("`{text}` shadows another `{text}`"))
                    .with_name("shadow")
            };
            self.found.push(diagnostic.with_related(hidden.span, "shadows this declaration"));
        }
        inner.insert(name.name.clone(), Name { span: name.span, is_param });
    }

    fn params<'a>(&mut self, params: impl IntoIterator<Item = &'a Param>) {
        params.into_iter().for_each(|param| self.declare(&param.name, true));
    }
}

impl Visitor for Shadow<'_> {
    fn decl(&mut self, decl: &Decl) {
        match &decl.kind {
            DeclKind::Const { name, .. }
            | DeclKind::Variable { name, .. }
            | DeclKind::ValueSet { name, .. }
            | DeclKind::Aggregate { name, .. }
            | DeclKind::Enum { name, .. }
            | DeclKind::Typedef { name, .. }
            | DeclKind::NewType { name, .. }
            | DeclKind::ParserType { name, .. }
            | DeclKind::ControlType { name, .. }
            | DeclKind::PackageType { name, .. }
            | DeclKind::ExternObject { name, .. } => self.declare(name, false),
            DeclKind::Table(table) => self.declare(&table.name, false),
            DeclKind::ExternFunction(signature) => self.declare(&signature.name, false),
            DeclKind::Error { .. } | DeclKind::MatchKind { .. } => {}
            DeclKind::Instance { name, body, .. } => {
                self.declare(name, false);
                // The implementations carry names of the extern's methods and hide nothing.
                for method in body.iter().flatten() {
                    match &method.kind {
                        DeclKind::Function { signature, body } => self.scope(|this| {
                            this.params(&signature.params);
                            this.block(body);
                        }),
                        _ => self.decl(method),
                    }
                }
            }
            DeclKind::Action { name, params, body } => {
                self.declare(name, false);
                self.scope(|this| {
                    this.params(params);
                    this.block(body);
                });
            }
            DeclKind::Function { signature, body } => {
                self.declare(&signature.name, false);
                self.scope(|this| {
                    this.params(&signature.params);
                    this.block(body);
                });
            }
            DeclKind::Parser(parser) => {
                self.declare(&parser.name, false);
                self.scope(|this| {
                    this.params(parser.params.iter().chain(&parser.constructor_params));
                    this.scope(|this| {
                        parser.locals.iter().for_each(|decl| this.decl(decl));
                        parser.states.iter().for_each(|state| this.state(state));
                    });
                });
            }
            DeclKind::Control(control) => {
                self.declare(&control.name, false);
                self.scope(|this| {
                    this.params(control.params.iter().chain(&control.constructor_params));
                    this.scope(|this| {
                        control.locals.iter().for_each(|decl| this.decl(decl));
                        this.block(&control.apply);
                    });
                });
            }
        }
    }

    fn state(&mut self, state: &ParserState) {
        self.scope(|this| visit::walk_state(this, state));
    }

    fn block(&mut self, block: &Block) {
        self.scope(|this| visit::walk_block(this, block));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::For { .. } => self.scope(|this| visit::walk_stmt(this, stmt)),
            StmtKind::ForIn { name, .. } => self.scope(|this| {
                this.declare(name, false);
                visit::walk_stmt(this, stmt);
            }),
            _ => visit::walk_stmt(self, stmt),
        }
    }
}
