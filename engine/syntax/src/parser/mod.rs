//! Recursive descent over the P4-16 grammar, one file per area of the language.
//!
//! Invariants: parsing consumes at least one token per round of every loop, so it ends; recursion is bounded
//! by [`MAX_NESTING`] and the height of an expression by [`MAX_HEIGHT`], so neither the parser nor a visitor
//! of the tree runs out of stack; an error is reported where it is found and parsing goes on behind the next
//! `;` or `}`.

mod annotation;
mod decl;
mod expr;
mod lookahead;
mod operator;
mod recover;
mod scope;
mod state;
mod stmt;
mod table;
mod types;

use crate::ast::{Ident, Program};
use crate::diag::{Diagnostic, Severity};
use crate::lexer::{Tok, Token, lex};
use crate::source::Source;
use crate::span::Span;
use p4cc_budget::Budget;
use scope::Scopes;
use std::collections::{BTreeMap, BTreeSet};

/// Statements, types and expressions inside one another.
const MAX_NESTING: u32 = 128;

/// Longest path from the root of an expression or type to a leaf.
const MAX_HEIGHT: u32 = 512;

/// Errors reported; more would only hide the first.
const MAX_ERRORS: usize = 100;

/// Parses a preprocessed program. The tree holds every declaration without errors.
pub fn parse(source: &Source) -> (Program, Vec<Diagnostic>) {
    parse_within(source, &Budget::default())
}

/// As [`parse`], as part of a compilation with this budget.
pub fn parse_within(source: &Source, budget: &Budget) -> (Program, Vec<Diagnostic>) {
    let (tokens, diags) = lex(source.text(), budget);
    let reported = reported(source, &tokens);
    let mut parser = Parser {
        text: source.text(),
        tokens,
        at: 0,
        diags,
        scopes: Scopes::new(),
        nesting: 0,
        height: 0,
        angle: false,
        failed_guesses: BTreeSet::new(),
        guessing: 0,
        in_parser: false,
        full: false,
    };
    let program = Program { reported, ..parser.program() };
    let mut diags = parser.diags;
    diags.sort_by_key(|diag| diag.span);
    (program, diags)
}

/// Where functions are called that say at run time what does not hold.
fn reported(source: &Source, tokens: &[Token]) -> BTreeMap<u32, String> {
    let names = tokens.iter().filter(|token| token.tok == Tok::Ident);
    let named = names.filter(|token| matches!(source.slice(token.span), "assert" | "assume"));
    let place = |token: &Token| {
        let place = source.locate(token.span);
        (token.span.start, format!("{}:{}", place.file, place.line))
    };
    named.map(place).collect()
}

/// An error was reported (or, inside a guess, would have been); the caller recovers.
#[derive(Clone, Copy, Debug)]
struct Failed;

type Parsed<T> = Result<T, Failed>;

struct Parser<'t> {
    text: &'t str,
    tokens: Vec<Token>,
    at: usize,
    diags: Vec<Diagnostic>,
    scopes: Scopes,
    nesting: u32,
    /// Height of the expression or type parsed last.
    height: u32,
    /// Inside `<...>`, where `>` closes the list.
    angle: bool,
    /// Token positions where a guess (type arguments or cast?) failed: a second visit need not try again.
    failed_guesses: BTreeSet<(usize, bool)>,
    /// Guesses under way; errors inside are not reported.
    guessing: u32,
    /// Inside the braces of a parser.
    in_parser: bool,
    /// A bound was exceeded: nothing more is reported or parsed.
    full: bool,
}

impl Parser<'_> {
    fn token(&self) -> Token {
        self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    fn tok(&self) -> Tok {
        self.token().tok
    }

    fn span(&self) -> Span {
        self.token().span
    }

    /// The token `ahead` places from here.
    fn peek(&self, ahead: usize) -> Token {
        self.tokens[(self.at + ahead).min(self.tokens.len() - 1)]
    }

    fn text_of(&self, token: Token) -> &str {
        self.text.get(token.span.start as usize..token.span.end as usize).unwrap_or("")
    }

    /// Span of the token consumed last.
    fn before(&self) -> Span {
        self.at.checked_sub(1).and_then(|at| self.tokens.get(at)).map_or(Span::default(), |token| token.span)
    }

    /// From `start` to the token consumed last.
    fn since(&self, start: Span) -> Span {
        let end = self.before();
        if end.end >= start.end { start.to(end) } else { start }
    }

    fn bump(&mut self) -> Token {
        let token = self.token();
        if token.tok != Tok::Eof {
            self.at += 1;
        }
        token
    }

    fn at(&self, tok: Tok) -> bool {
        self.tok() == tok
    }

    fn eat(&mut self, tok: Tok) -> bool {
        let found = self.at(tok);
        if found {
            self.bump();
        }
        found
    }

    fn expect(&mut self, tok: Tok) -> Parsed<Span> {
        if self.at(tok) { Ok(self.bump().span) } else { self.expected(tok.text()) }
    }

    /// Expects the `;` of `what`; its absence is shown behind
    /// the last token and forgiven at the end of a line.
    fn expect_semi(&mut self, what: &str) -> Parsed<()> {
        if self.eat(Tok::Semi) {
            return Ok(());
        }
        let end = self.before().end;
        let found = self.found();
        let diag =
            Diagnostic::error(Span::new(end.saturating_sub(1), end), format!("expected `;` after {what}"))
                .with_label(format!("{found} follows here"))
                .with_help("add `;`");
        self.report(diag);
        // A new line shows where the next item begins: nothing need be skipped.
        if self.token().new_line && self.guessing == 0 { Ok(()) } else { Err(Failed) }
    }

    /// The current token as a diagnostic names it.
    fn found(&self) -> String {
        let token = self.token();
        match token.tok {
            Tok::Ident | Tok::Int | Tok::Unknown => format!("`{}`", self.text_of(token)),
            Tok::Str => "a string".to_owned(),
            tok => tok.text().to_owned(),
        }
    }

    fn expected<T>(&mut self, what: &str) -> Parsed<T> {
        if self.at(Tok::Unknown) {
            let message = format!("the character {} has no meaning in P4", self.found());
            return self.fail(Diagnostic::error(self.span(), message).with_help("remove it"));
        }
        let message = format!("expected {what}, found {}", self.found());
        // The end is told where the text ends, not behind the empty lines that may follow.
        let end = self.before().end;
        let span = if self.at(Tok::Eof) && end > 0 { Span::new(end - 1, end) } else { self.span() };
        self.fail(Diagnostic::error(span, message))
    }

    fn fail<T>(&mut self, diag: Diagnostic) -> Parsed<T> {
        self.report(diag);
        Err(Failed)
    }

    fn report(&mut self, diag: Diagnostic) {
        if self.guessing > 0 || self.full {
            return;
        }
        // What stands at one place is wrong for one reason: the first.
        if self.diags.last().is_some_and(|last| last.span.start == diag.span.start) {
            return;
        }
        let errors = self.diags.iter().filter(|diag| diag.severity == Severity::Error).count();
        if errors >= MAX_ERRORS {
            self.full = true;
            let message = format!("more than {MAX_ERRORS} errors; the rest of the program was not parsed");
            self.diags.push(Diagnostic::error(diag.span, message));
            return;
        }
        self.diags.push(diag);
    }

    /// Reports an exceeded bound, inside a guess too, and ends the parsing: what follows would be misread.
    fn give_up<T>(&mut self, diag: Diagnostic) -> Parsed<T> {
        let guessing = std::mem::take(&mut self.guessing);
        self.report(diag);
        self.guessing = guessing;
        self.full = true;
        Err(Failed)
    }

    /// The current token is an identifier with this text.
    fn at_word(&self, word: &str) -> bool {
        self.at(Tok::Ident) && self.text_of(self.token()) == word
    }

    /// A name; a reserved word gets its own message.
    fn name(&mut self, what: &str) -> Parsed<Ident> {
        let token = self.token();
        if token.tok == Tok::Ident {
            self.bump();
            return Ok(Ident { name: self.text_of(token).to_owned(), span: token.span });
        }
        if token.tok.is_keyword() && token.tok != Tok::DontCare {
            let message = format!("expected {what}, found {}", self.found());
            let help = "choose another name; reserved words cannot be names";
            return self.fail(Diagnostic::error(token.span, message).with_help(help));
        }
        self.expected(what)
    }

    /// Runs `inner` one nesting level deeper.
    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.nesting >= MAX_NESTING {
            let message = format!("the program is nested more than {MAX_NESTING} levels deep here");
            let help = "split the expression or statement into named parts";
            return self.give_up(Diagnostic::error(self.span(), message).with_help(help));
        }
        self.nesting += 1;
        let result = inner(self);
        self.nesting -= 1;
        result
    }

    /// Sets the height of a node over children of height `child`.
    fn grow(&mut self, child: u32) -> Parsed<()> {
        self.height = child + 1;
        if self.height > MAX_HEIGHT {
            let message = format!("the expression has more than {MAX_HEIGHT} operators in a row");
            let help = "split it into named parts";
            return self.give_up(Diagnostic::error(self.span(), message).with_help(help));
        }
        Ok(())
    }

    /// Runs `inner` with `>` as an ordinary operator (inside brackets) or as the end of a list.
    fn with_angle<T>(&mut self, angle: bool, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let outer = std::mem::replace(&mut self.angle, angle);
        let result = inner(self);
        self.angle = outer;
        result
    }

    /// Tries `inner`; on failure everything is as before and nothing is
    /// reported. `kind` tells apart two guesses that start at the same token.
    fn guess<T>(&mut self, kind: bool, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Option<T> {
        let start = self.at;
        if self.failed_guesses.contains(&(start, kind)) {
            return None;
        }
        let (nesting, height) = (self.nesting, self.height);
        self.guessing += 1;
        let result = inner(self);
        self.guessing -= 1;
        if result.is_err() {
            self.failed_guesses.insert((start, kind));
            self.at = start;
            self.nesting = nesting;
            self.height = height;
        }
        result.ok()
    }

    /// Items separated by commas up to `close`, which is left; a comma before it is allowed if `trailing`.
    fn list<T>(
        &mut self,
        close: Tok,
        trailing: bool,
        mut item: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let mut items = Vec::new();
        if self.at(close) {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if !self.eat(Tok::Comma) {
                break;
            }
            if trailing && self.at(close) {
                break;
            }
        }
        if !self.at(close) {
            return self.expected(&format!("`,` or {}", close.text()));
        }
        Ok(items)
    }
}
