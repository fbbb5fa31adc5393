//! Types: syntax tree to typed tree.
//!
//! [`check`] gives the typed tree ([`hir`]) with types ([`ty`]) and compile-time values ([`value`]).
//!
//! One walk in source order, since P4 wants every name declared before its use. Each file has one subject:
//! types as written ([`typexpr`]), declarations, expressions, calls, statements, tables, parsers. The checker
//! reports and goes on: an expression in error becomes a poison that silences what follows from it.

pub mod hir;
pub mod ids;
pub mod order;
pub mod ty;
pub mod value;
pub mod walk;

mod abstracts;
mod annotation;
mod arguments;
mod block;
mod call;
mod construct;
mod convert;
mod decl;
mod expr;
mod function;
mod generic;
mod keyname;
mod keyset;
mod member;
mod operator;
mod parser;
mod program;
mod scope;
mod size;
mod stmt;
mod table;
mod typexpr;
mod unused;
mod wellformed;

use hir::{Expr, ExprKind, Local, LocalKind, Program, Sig};
use ids::{InstId, LocalId, TypeVar};
use indexmap::IndexMap;
use p4cc_budget::{Budget, Resource};
use p4cc_ir::limits::MAX_SHOWN;
use p4cc_syntax::ast::{self, Decl};
use p4cc_syntax::{Diagnostic, Span};
use scope::{Scopes, Symbol};
use std::collections::{BTreeMap, BTreeSet};
use ty::Ty;

/// Findings past which the rest of the program is not checked.
const MAX_DIAGNOSTICS: usize = 1_000;

/// Longest message: types and names that it quotes may be of any length.
const MAX_MESSAGE_BYTES: usize = 600;
/// What is left of each of them in a longer message.
const MAX_QUOTE_BYTES: usize = 120;

/// Nesting of expressions and statements that the checker follows.
const MAX_DEPTH: u32 = 200;

/// Checks a program. The tree is meaningful only if no diagnostic is an error.
pub fn check(program: &ast::Program, budget: &Budget) -> (Program, Vec<Diagnostic>) {
    let mut checker = Checker { budget: budget.clone(), ..Checker::default() };
    checker.hir.reported.clone_from(&program.reported);
    // The engine sets core.p4's errors by their positions: they
    // come first, also behind errors of the program's own.
    let (core, others): (Vec<&Decl>, Vec<&Decl>) = program.decls.iter().partition(|decl| core_errors(decl));
    for decl in core.into_iter().chain(others) {
        if checker.stopped {
            break;
        }
        checker.global_decl(decl);
    }
    checker.check_main();
    checker.check_unused_generics();
    checker.report_missing_file();
    (checker.hir, checker.diagnostics)
}

/// Cuts what a message quotes, such as a type of types, where the message is longer than anybody would read.
fn shorten(message: &mut String) {
    if message.len() > MAX_MESSAGE_BYTES {
        let parts = message.split('`').enumerate();
        let cut =
            parts.map(|(at, part)| if at % 2 == 1 { head(part, MAX_QUOTE_BYTES) } else { part.to_owned() });
        *message = head(&cut.collect::<Vec<_>>().join("`"), MAX_MESSAGE_BYTES);
    }
}

/// The first bytes of a text, and dots where it goes on.
fn head(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let end = (0..=bytes).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    format!("{} ...", text.get(..end).unwrap_or_default())
}

/// Whether this is the declaration that core.p4 makes.
fn core_errors(decl: &Decl) -> bool {
    matches!(&decl.kind, ast::DeclKind::Error { members } if members.first().is_some_and(|first| first.name == "NoError"))
}

/// Where the checker is, for what is allowed only in some places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum CodeContext {
    /// Outside parsers, controls, actions and functions.
    #[default]
    Top,
    /// A parser or a parser state.
    Parser,
    /// The apply block of a control.
    Control,
    /// An action.
    Action,
    /// A function.
    Function,
}

/// A generic aggregate and its instances so far.
struct GenericAggregate {
    decl: Decl,
    made: IndexMap<Vec<Ty>, Ty>,
}

/// A parser or control type without a body, or a package's or extern's parameter list.
struct BlockSig {
    is_parser: bool,
    sig: Sig,
}

#[derive(Default)]
struct Checker {
    budget: Budget,
    /// The budget is used up or the compilation cancelled, which was reported: nothing more is.
    stopped: bool,
    diagnostics: Vec<Diagnostic>,
    /// Sizes of the aggregates and of the `type` declarations, in the order of their indexes.
    aggregate_sizes: Vec<size::TypeSize>,
    newtype_sizes: Vec<size::TypeSize>,
    scopes: Scopes,
    hir: Program,
    generics: Vec<GenericAggregate>,
    /// Bodies with type parameters around, which stand for types there.
    generic_depth: u32,
    generic_functions: Vec<generic::GenericFunction>,
    generic_blocks: Vec<generic::GenericBlock>,
    blocks: Vec<BlockSig>,
    packages: Vec<Sig>,
    extern_functions: Vec<Sig>,
    function_sigs: Vec<Sig>,
    action_sigs: Vec<Sig>,
    control_sigs: Vec<BlockSigs>,
    parser_sigs: Vec<BlockSigs>,
    match_kinds: BTreeSet<String>,
    /// Positions of the program's errors.
    error_names: BTreeMap<String, u32>,
    aggregate_names: BTreeMap<String, ids::AggId>,
    next_type_var: u32,
    place: CodeContext,
    /// Result type of the function being checked.
    return_ty: Option<Ty>,
    /// Type of the instance whose methods are being checked.
    this: Option<Ty>,
    loop_depth: u32,
    depth: u32,
    /// Instances of the parser or control being checked.
    instances: Vec<InstId>,
    used_locals: BTreeSet<LocalId>,
    /// First use of a name that a file declares which is not included, by file.
    missing_files: BTreeMap<&'static str, ast::Ident>,
}

/// Signatures of a parser's or control's `apply` and constructor.
struct BlockSigs {
    apply: Sig,
    constructor: Sig,
}

impl Checker {
    /// Takes of the budget before something is made at `span`; `None` ends the check, reported once.
    fn charge(&mut self, resource: Resource, amount: u64, span: Span) -> Option<()> {
        let overrun = self.budget.charge(resource, amount).err();
        if let Some(overrun) = overrun {
            self.push(Diagnostic::over_budget(span, overrun));
            self.stopped = true;
        }
        if self.stopped { None } else { Some(()) }
    }

    /// As [`Self::charge`], for a look through so many names.
    fn charge_scan(&mut self, names: usize, span: Span) -> Option<()> {
        self.charge(Resource::Steps, names as u64 / 4 + 1, span)
    }

    fn push(&mut self, mut diagnostic: Diagnostic) {
        if self.stopped {
            return;
        }
        shorten(&mut diagnostic.message);
        // One mistake is told once, however often the checker comes by.
        let told = |old: &Diagnostic| old.span == diagnostic.span && old.message == diagnostic.message;
        if self.diagnostics.iter().rev().take(64).any(told) {
            return;
        }
        let span = diagnostic.span;
        self.diagnostics.push(diagnostic);
        if self.diagnostics.len() >= MAX_DIAGNOSTICS {
            let message =
                format!("more than {MAX_DIAGNOSTICS} diagnostics; the rest of the program was not checked");
            self.diagnostics.push(Diagnostic::error(span, message));
            self.stopped = true;
        }
    }

    fn error(&mut self, span: Span, message: impl Into<String>) {
        self.push(Diagnostic::error(span, message));
    }

    /// A warning under the name by which `@noWarn` silences it.
    fn warning(&mut self, span: Span, name: &'static str, message: impl Into<String>) {
        self.push(Diagnostic::warning(span, message).with_name(name));
    }

    fn not_supported(&mut self, span: Span, what: impl core::fmt::Display) {
        self.push(Diagnostic::not_supported(span, what));
    }

    fn poison(span: Span) -> Expr {
        Expr { kind: ExprKind::Poison, ty: Ty::Unknown, span }
    }

    fn poison_error(&mut self, span: Span, message: impl Into<String>) -> Expr {
        self.error(span, message);
        Self::poison(span)
    }

    fn declare(&mut self, name: &ast::Ident, symbol: Symbol) {
        if let Err(diagnostic) = self.scopes.declare(&name.name, name.span, symbol) {
            self.push(*diagnostic);
        }
    }

    fn new_local(
        &mut self,
        name: &ast::Ident,
        ty: Ty,
        kind: LocalKind,
        annotations: hir::Annotations,
    ) -> LocalId {
        let id = LocalId::from_index(self.hir.locals.len());
        self.hir.locals.push(Local { name: name.name.clone(), ty, kind, annotations, span: name.span });
        self.declare(name, Symbol::Local(id));
        id
    }

    fn local_kind(&self, id: LocalId) -> LocalKind {
        self.hir.locals.get(id.index()).map_or(LocalKind::Variable, |local| local.kind)
    }

    fn new_type_var(&mut self) -> TypeVar {
        let var = TypeVar(self.next_type_var);
        self.next_type_var += 1;
        var
    }

    /// Declares type parameters in the innermost scope.
    fn type_params(&mut self, params: &[ast::Ident]) -> Vec<TypeVar> {
        let mut vars = Vec::with_capacity(params.len());
        for param in params {
            let var = self.new_type_var();
            self.declare(param, Symbol::Type(scope::TypeSymbol::Plain(Ty::Var(var))));
            vars.push(var);
        }
        vars
    }

    fn undeclared(&mut self, what: &str, name: &ast::Ident) {
        // An action can be meant by the name of an action only.
        let is_candidate = |known: &&str| {
            what != "action"
                || self
                    .scopes
                    .get(known, false)
                    .is_some_and(|entry| matches!(entry.symbol, Symbol::Action(_)))
        };
        // Nobody reads more of them, and each is compared with every name in sight.
        let is_shown = self.diagnostics.len() < MAX_SHOWN;
        let near = is_shown.then(|| {
            p4cc_syntax::closest(&name.name, self.scopes.names().filter(is_candidate)).map(str::to_owned)
        });
        let near = near.flatten();
        self.undeclared_or_missing(what, name, near);
    }

    /// A name that is not near another may be one of a file that is not included.
    fn undeclared_or_missing(&mut self, what: &str, name: &ast::Ident, near: Option<String>) {
        if near.is_none()
            && let Some(file) = p4cc_syntax::declaring_file(&name.name)
        {
            self.missing_files.entry(file).or_insert_with(|| name.clone());
            return;
        }
        self.undeclared_near(what, name, near);
    }

    /// One error for all names of a file that is not included: an architecture's includes core.p4.
    fn report_missing_file(&mut self) {
        let missing = std::mem::take(&mut self.missing_files);
        let architecture = missing.iter().find(|(file, _)| **file != "core.p4");
        let Some((file, name)) = architecture.or_else(|| missing.iter().next()) else { return };
        self.push(
            Diagnostic::error(
                name.span,
                format!("`{}` is declared in {file}, which is not included", name.name),
            )
            .with_label("not found")
            .with_help(format!("add `#include <{file}>` at the beginning of the program")),
        );
    }

    fn undeclared_near(&mut self, what: &str, name: &ast::Ident, near: Option<String>) {
        let mut diagnostic = Diagnostic::error(name.span, format!("{what} `{}` is not declared", name.name))
            .with_label("not found");
        if let Some(near) = near {
            diagnostic = diagnostic.with_help(format!("did you mean `{near}`?"));
        }
        self.push(diagnostic);
    }

    /// Runs `body` one level deeper; past the bound it reports and gives `None`.
    fn nested<T>(&mut self, span: Span, body: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.charge(Resource::TreeNodes, 1, span)?;
        if self.depth >= MAX_DEPTH {
            self.error(span, format!("nested deeper than {MAX_DEPTH} levels"));
            return None;
        }
        self.depth += 1;
        let result = body(self);
        self.depth -= 1;
        Some(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_long_message_quotes_is_cut_and_the_sentence_stays() {
        let mut message = format!("`{}` has itself as a type argument", "G<".repeat(1_000));
        shorten(&mut message);
        assert_eq!(message, format!("`{} ...` has itself as a type argument", "G<".repeat(60)));
        let mut message = "é".repeat(1_000);
        shorten(&mut message);
        assert_eq!(message, format!("{} ...", "é".repeat(300)));
        let mut message = format!("`{}`", "n".repeat(500));
        shorten(&mut message);
        assert_eq!(message.len(), 502);
    }
}
