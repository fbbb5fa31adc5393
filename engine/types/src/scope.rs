//! Symbols, scopes and name look-up.
//!
//! Types and values share one name space, as in P4. Invariant: a symbol is entered before anything that may
//! name it is checked, so that a use before the declaration is an undeclared name.

use super::hir::Expr;
use super::ids::{ActId, ControlId, ExternId, FnId, InstId, LocalId, ParserId, SetId, TabId};
use super::ty::Ty;
use indexmap::IndexMap;
use p4cc_syntax::{Diagnostic, Span};
use std::rc::Rc;

/// What a name stands for.
#[derive(Clone, Debug)]
pub enum Symbol {
    /// A type.
    Type(TypeSymbol),
    /// A constant's value.
    Const(Rc<Expr>),
    /// A variable or parameter.
    Local(LocalId),
    /// An instance.
    Instance(InstId),
    /// An action.
    Action(ActId),
    /// Functions of one name.
    Functions(Vec<FnSymbol>),
    /// A table.
    Table(TabId),
    /// A value set.
    ValueSet(SetId),
}

/// A type's name.
#[derive(Clone, Debug)]
pub enum TypeSymbol {
    /// Any type without parameters.
    Plain(Ty),
    /// A generic struct, header or union: position in the checker's list.
    Generic(usize),
    /// An extern object type.
    Extern(ExternId),
    /// A parser with a body.
    Parser(ParserId),
    /// A control with a body.
    Control(ControlId),
    /// A parser or control with a body and type parameters: position in the checker's list.
    GenericBlock(usize),
    /// A parser or control type without a body: position in the checker's list.
    Block(usize),
    /// A package type: position in the checker's list.
    Package(usize),
}

/// A function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FnSymbol {
    /// Position in the checker's list of extern functions.
    Extern(usize),
    /// With a body.
    User(FnId),
    /// With a body and type parameters: position in the checker's list.
    Generic(usize),
}

/// A symbol and where it was declared.
#[derive(Clone, Debug)]
pub struct Entry {
    /// What it is.
    pub symbol: Symbol,
    /// Place of the name.
    pub span: Span,
}

/// Scopes from the outermost to the innermost.
#[derive(Debug)]
pub struct Scopes {
    stack: Vec<IndexMap<String, Entry>>,
}

impl Default for Scopes {
    fn default() -> Self {
        Self { stack: vec![IndexMap::new()] }
    }
}

impl Scopes {
    /// Opens a scope.
    pub fn push(&mut self) {
        self.stack.push(IndexMap::new());
    }

    /// Closes the innermost scope; the global one stays.
    pub fn pop(&mut self) {
        if self.stack.len() > 1 {
            self.stack.pop();
        }
    }

    /// Whether only the global scope is open.
    pub fn at_top(&self) -> bool {
        self.stack.len() == 1
    }

    /// Hides all scopes but the global one until the result is given back.
    pub fn hide_locals(&mut self) -> HiddenScopes {
        HiddenScopes(self.stack.split_off(1))
    }

    /// Brings hidden scopes back.
    pub fn restore(&mut self, hidden: HiddenScopes) {
        self.stack.truncate(1);
        self.stack.extend(hidden.0);
    }

    /// Enters a name into the innermost scope.
    pub fn declare(&mut self, name: &str, span: Span, symbol: Symbol) -> Result<(), Box<Diagnostic>> {
        let Some(scope) = self.stack.last_mut() else { return Ok(()) };
        if let Some(old) = scope.get_mut(name) {
            if let (Symbol::Functions(old), Symbol::Functions(new)) = (&mut old.symbol, &symbol) {
                old.extend(new.iter().copied());
                return Ok(());
            }
            let first = old.span;
            let diagnostic = Diagnostic::error(span, format!("`{name}` is already declared in this scope"))
                .with_label("second declaration")
                .with_related(first, "first declared here");
            return Err(Box::new(diagnostic));
        }
        scope.insert(name.to_owned(), Entry { symbol, span });
        Ok(())
    }

    /// The innermost symbol of a name; `absolute` looks at the global scope only.
    pub fn get(&self, name: &str, absolute: bool) -> Option<&Entry> {
        let depth = if absolute { 1 } else { self.stack.len() };
        self.stack.iter().take(depth).rev().find_map(|scope| scope.get(name))
    }

    /// Names in sight, the innermost first.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.stack.iter().rev().flat_map(|scope| scope.keys().map(String::as_str))
    }
}

/// Scopes taken out of sight.
#[derive(Debug)]
pub struct HiddenScopes(Vec<IndexMap<String, Entry>>);
