//! Parser states, transitions, and the keysets that select cases, table entries and value sets share.

use super::{Parsed, Parser};
use crate::ast::{Annotation, Expr, ExprKind, ParserState, SelectCase, Transition};
use crate::lexer::Tok;
use crate::span::Span;

impl Parser<'_> {
    /// `state name { ... }`, annotations already read.
    pub(super) fn parser_state(&mut self, annotations: Vec<Annotation>, start: Span) -> Parsed<ParserState> {
        self.bump();
        let name = self.name("a state name")?;
        self.expect(Tok::LBrace)?;
        self.scopes.push();
        let mut body = Vec::new();
        let mut transition = None;
        while !matches!(self.tok(), Tok::RBrace | Tok::Eof) && !self.at_top_word() && !self.full {
            let at = self.at;
            let result = if self.at(Tok::Transition) {
                self.transition().map(|read| transition = Some(read))
            } else {
                self.statement().map(|stmt| body.push(stmt))
            };
            if result.is_err() {
                self.skip_item(at);
            } else if transition.is_some() {
                break;
            }
        }
        self.scopes.pop();
        if transition.is_some() && !self.at(Tok::RBrace) {
            return self.expected("`}`: a transition must be the last statement of a state");
        }
        self.close()?;
        Ok(ParserState { annotations, name, body, transition, span: self.since(start) })
    }

    fn transition(&mut self) -> Parsed<Transition> {
        let start = self.expect(Tok::Transition)?;
        if !self.eat(Tok::Select) {
            let state = self.name("a state name or `select`")?;
            self.expect_semi("the transition")?;
            return Ok(Transition::Direct(state));
        }
        self.expect(Tok::LParen)?;
        let keys = self.list(Tok::RParen, false, Self::expression)?;
        self.expect(Tok::RParen)?;
        self.expect(Tok::LBrace)?;
        let cases = self.members(Self::select_case)?;
        Ok(Transition::Select { keys, cases, span: self.since(start) })
    }

    fn select_case(&mut self) -> Parsed<SelectCase> {
        let start = self.span();
        let keyset = self.keyset()?;
        self.expect(Tok::Colon)?;
        let state = self.name("a state name")?;
        self.expect_semi("the case")?;
        Ok(SelectCase { keyset, state, span: self.since(start) })
    }

    /// `(a, b)`, `(a)` or one keyset without parentheses.
    pub(super) fn keyset(&mut self) -> Parsed<Expr> {
        let start = self.span();
        if !self.at(Tok::LParen) {
            return self.simple_keyset();
        }
        // The parenthesis opens a tuple or belongs to an expression: `(a) + b`.
        let first = self.guess(true, |parser| {
            parser.bump();
            let first = parser.simple_keyset()?;
            match (parser.tok(), parser.peek(1).tok) {
                (Tok::Comma, _) | (Tok::RParen, Tok::Colon) => Ok(first),
                _ => parser.expected("`,` or `)`"),
            }
        });
        let Some(first) = first else { return self.simple_keyset() };
        if self.eat(Tok::RParen) {
            return Ok(first);
        }
        let mut items = vec![first];
        while self.eat(Tok::Comma) {
            items.push(self.simple_keyset()?);
        }
        self.expect(Tok::RParen)?;
        Ok(Expr { kind: ExprKind::Tuple(items), span: self.since(start) })
    }

    /// `default`, `_`, `a`, `a &&& b` or `a .. b`
    fn simple_keyset(&mut self) -> Parsed<Expr> {
        let start = self.span();
        let word = match self.tok() {
            Tok::Default => Some(ExprKind::Default),
            Tok::DontCare => Some(ExprKind::DontCare),
            _ => None,
        };
        if let Some(kind) = word {
            self.bump();
            return Ok(Expr { kind, span: start });
        }
        let left = self.expression()?;
        let make: fn(Box<Expr>, Box<Expr>) -> ExprKind = match self.tok() {
            Tok::Mask => ExprKind::Mask,
            Tok::DotDot => ExprKind::Range,
            _ => return Ok(left),
        };
        self.bump();
        let right = self.expression()?;
        Ok(Expr { kind: make(Box::new(left), Box::new(right)), span: self.since(start) })
    }
}
