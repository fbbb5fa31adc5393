//! What the expansion of macros keeps while text is read.

use super::file::FileJob;
use super::scan::Scanner;
use super::token::Token;
use std::rc::Rc;

/// Tokens that are read before those below them.
#[derive(Debug)]
pub(super) struct Context {
    pub(super) tokens: Rc<[Token]>,
    pub(super) next: usize,
    /// The macro whose body it is.
    pub(super) owner: Option<Rc<str>>,
    /// Place of the macro in the file, for tokens of its body.
    pub(super) at: u32,
    /// Nothing below is read: an argument or a line.
    pub(super) closed: bool,
}

/// State of expansions.
#[derive(Debug, Default)]
pub(super) struct Expansion {
    pub(super) contexts: Vec<Context>,
    pub(super) disabled: std::collections::BTreeSet<Rc<str>>,
    /// Macros are not expanded: arguments are collected, or `defined` reads a name.
    pub(super) held: u32,
    /// A directive is read: places that may need a blank do not matter.
    pub(super) in_directive: bool,
    /// A directive inside the arguments of a macro is carried out.
    pub(super) in_arguments: bool,
    /// Arguments inside one another.
    pub(super) depth: u32,
}

/// What is below all contexts.
pub(super) enum Base<'b, 't> {
    /// Nothing.
    Empty,
    /// A file.
    File(&'b mut FileJob, &'b mut Scanner<'t>),
}

impl Base<'_, '_> {
    pub(super) fn position(&self) -> usize {
        match self {
            Base::Empty => 0,
            Base::File(_, scanner) => scanner.position(),
        }
    }

    pub(super) fn return_to(&mut self, at: usize) {
        if let Base::File(_, scanner) = self {
            scanner.return_to(at);
        }
    }
}
