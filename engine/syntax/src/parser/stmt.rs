//! Statements and the declarations that may stand among them.

use super::{Parsed, Parser};
use crate::ast::{
    Annotation, Block, Decl, DeclKind, Expr, ExprKind, ForRange, Stmt, StmtKind, SwitchCase, Type,
};
use crate::diag::Diagnostic;
use crate::lexer::Tok;
use crate::span::Span;

/// Tokens of the sizes of an array whose type nobody declared.
const MAX_SIZE_TOKENS: usize = 32;

impl Parser<'_> {
    /// `{ ... }`
    pub(super) fn block(&mut self, annotations: Vec<Annotation>) -> Parsed<Block> {
        let start = self.expect(Tok::LBrace)?;
        self.scopes.push();
        let stmts = self.statements();
        self.scopes.pop();
        Ok(Block { annotations, stmts: stmts?, span: self.since(start) })
    }

    /// Statements up to the closing brace, which is consumed. A brace missing before an action or table is
    /// reported and otherwise taken as read, so that the members behind it are parsed as what they are.
    fn statements(&mut self) -> Parsed<Vec<Stmt>> {
        let mut stmts = Vec::new();
        while self.more_items() {
            if self.at_control_member() {
                let message = "expected `}` before this: an action or table is not a statement";
                self.report(Diagnostic::error(self.span(), message));
                return Ok(stmts);
            }
            if let Some(stmt) = self.item(&mut Self::statement)? {
                stmts.push(stmt);
            }
        }
        self.close()?;
        Ok(stmts)
    }

    /// A statement or a declaration among statements.
    pub(super) fn statement(&mut self) -> Parsed<Stmt> {
        self.nested(|parser| {
            let start = parser.span();
            let kind = parser.statement_kind(start)?;
            Ok(Stmt { kind, span: parser.since(start) })
        })
    }

    fn statement_kind(&mut self, start: Span) -> Parsed<StmtKind> {
        self.refuse_in_parser();
        match self.tok() {
            Tok::Semi => {
                self.bump();
                Ok(StmtKind::Empty)
            }
            Tok::LBrace => Ok(StmtKind::Block(self.block(Vec::new())?)),
            Tok::If => self.if_statement(),
            Tok::Switch => self.switch_statement(),
            Tok::For => self.for_statement(Vec::new()),
            Tok::Break => self.word_statement(StmtKind::Break, "`break`"),
            Tok::Continue => self.word_statement(StmtKind::Continue, "`continue`"),
            Tok::Exit => self.word_statement(StmtKind::Exit, "`exit`"),
            Tok::Return => {
                self.bump();
                let value = if self.at(Tok::Semi) { None } else { Some(self.expression()?) };
                self.expect_semi("`return`")?;
                Ok(StmtKind::Return(value))
            }
            Tok::Const => {
                let kind = self.constant()?;
                Ok(StmtKind::Decl(Decl { annotations: Vec::new(), kind, span: self.since(start) }))
            }
            Tok::At => self.annotated_statement(start),
            Tok::Ident if self.at_word("while") && self.peek(1).tok == Tok::LParen && self.while_here() => {
                self.while_statement()
            }
            _ => {
                let kind = self.simple_statement(Vec::new(), start)?;
                self.expect_semi(match kind {
                    StmtKind::Decl(_) => "the declaration",
                    StmtKind::Assign { .. } => "the assignment",
                    _ => "the call",
                })?;
                Ok(match kind {
                    StmtKind::Decl(decl) => StmtKind::Decl(Decl { span: self.since(start), ..decl }),
                    kind => kind,
                })
            }
        }
    }

    /// A state of a parser has no `switch`, loops or jumps (grammar: `parserStatement`).
    fn refuse_in_parser(&mut self) {
        let refused = matches!(
            self.tok(),
            Tok::Switch | Tok::For | Tok::Break | Tok::Continue | Tok::Exit | Tok::Return
        );
        if self.in_parser && refused {
            let message = format!("{} is not allowed in a parser", self.found());
            self.report(Diagnostic::error(self.span(), message).with_help("use states and transitions"));
        }
    }

    fn word_statement(&mut self, kind: StmtKind, what: &str) -> Parsed<StmtKind> {
        self.bump();
        self.expect_semi(what)?;
        Ok(kind)
    }

    fn annotated_statement(&mut self, start: Span) -> Parsed<StmtKind> {
        let annotations = self.annotations()?;
        match self.tok() {
            Tok::LBrace => Ok(StmtKind::Block(self.block(annotations)?)),
            Tok::For => {
                self.refuse_in_parser();
                self.for_statement(annotations)
            }
            Tok::Const => {
                let kind = self.constant()?;
                Ok(StmtKind::Decl(Decl { annotations, kind, span: self.since(start) }))
            }
            _ if self.declaration_here() => {
                let kind = self.simple_statement(annotations, start)?;
                self.expect_semi("the declaration")?;
                Ok(kind)
            }
            _ => self.expected("a block, a loop or a declaration after the annotation"),
        }
    }

    /// A declaration stands here: a type, or two names in a row, the first perhaps with sizes of an array (it
    /// is then a type nobody declared).
    fn declaration_here(&self) -> bool {
        let type_value = self.type_name(self.token()) && self.peek(1).tok == Tok::Dot;
        let two_names = self.at(Tok::Ident) && self.peek(self.behind_sizes(1)).tok == Tok::Ident;
        (self.type_at(0) && !type_value) || two_names
    }

    /// The token behind short sizes in brackets, if there are any.
    fn behind_sizes(&self, first: usize) -> usize {
        let (mut at, mut depth) = (first, 0);
        while at < first + MAX_SIZE_TOKENS {
            match self.peek(at).tok {
                Tok::LBracket => depth += 1,
                Tok::RBracket if depth > 0 => depth -= 1,
                Tok::Semi | Tok::LBrace | Tok::RBrace | Tok::Eof => return first,
                _ if depth == 0 => return at,
                _ => {}
            }
            at += 1;
        }
        first
    }

    /// A variable, an instance, an assignment or a call, without its `;`.
    fn simple_statement(&mut self, annotations: Vec<Annotation>, start: Span) -> Parsed<StmtKind> {
        if self.declaration_here() {
            let ty = self.type_ref()?;
            if self.at(Tok::Dot) {
                return self.direct_application(ty);
            }
            let kind = self.variable_or_instance(ty)?;
            return Ok(StmtKind::Decl(Decl { annotations, kind, span: self.since(start) }));
        }
        if self.type_name(self.token()) && self.text_of(self.peek(2)) == "apply" {
            let ty = self.type_ref()?;
            return self.direct_application(ty);
        }
        let target = self.postfix(true)?;
        if let Some(op) = self.assignment() {
            let value = self.expression()?;
            return Ok(StmtKind::Assign { target, op, value });
        }
        match target.kind {
            ExprKind::Call { .. } => Ok(StmtKind::Call(target)),
            _ => self.not_a_statement(&target),
        }
    }

    fn not_a_statement<T>(&mut self, expr: &Expr) -> Parsed<T> {
        if matches!(self.tok(), Tok::Semi | Tok::RBrace | Tok::Eof) {
            let message = "this expression has no effect";
            let help = "a statement must assign a value or call something";
            return self.fail(Diagnostic::error(expr.span, message).with_help(help));
        }
        self.expected("`=` or a call")
    }

    /// `C.apply(args)` where `C` is a type.
    fn direct_application(&mut self, ty: Type) -> Parsed<StmtKind> {
        self.expect(Tok::Dot)?;
        let method = self.name("`apply`")?;
        if method.name != "apply" {
            let message = format!("a type has no method `{}`", method.name);
            return self
                .fail(Diagnostic::error(method.span, message).with_help("only `apply` can be called"));
        }
        Ok(StmtKind::DirectApplication { ty, args: self.arguments()? })
    }

    /// What follows a type in a declaration: `x`, `x = e`, `x[3]` or `(args) x`. The `;` is not read.
    pub(super) fn variable_or_instance(&mut self, ty: Type) -> Parsed<DeclKind> {
        if self.at(Tok::LParen) {
            return self.instance(ty);
        }
        let (ty, name) = self.declarator(ty)?;
        self.scopes.declare_object(&name.name);
        let init = if self.eat(Tok::Assign) { Some(self.expression()?) } else { None };
        Ok(DeclKind::Variable { ty, name, init })
    }

    fn if_statement(&mut self) -> Parsed<StmtKind> {
        self.expect(Tok::If)?;
        self.expect(Tok::LParen)?;
        let cond = self.expression()?;
        self.expect(Tok::RParen)?;
        let then = Box::new(self.statement()?);
        let otherwise = if self.eat(Tok::Else) { Some(Box::new(self.statement()?)) } else { None };
        Ok(StmtKind::If { cond, then, otherwise })
    }

    fn switch_statement(&mut self) -> Parsed<StmtKind> {
        self.expect(Tok::Switch)?;
        self.expect(Tok::LParen)?;
        let value = self.expression()?;
        self.expect(Tok::RParen)?;
        self.expect(Tok::LBrace)?;
        Ok(StmtKind::Switch { value, cases: self.members(Self::switch_case)? })
    }

    fn switch_case(&mut self) -> Parsed<SwitchCase> {
        let start = self.span();
        let label = if self.eat(Tok::Default) { None } else { Some(self.expression()?) };
        self.expect(Tok::Colon)?;
        let annotations = self.annotations()?;
        let body = if self.at(Tok::LBrace) || !annotations.is_empty() {
            Some(self.block(annotations)?)
        } else {
            None
        };
        Ok(SwitchCase { label, body, span: self.since(start) })
    }

    /// Whether a block follows the parentheses behind this word: a function `while` is called without one.
    fn while_here(&self) -> bool {
        const MAX_TOKENS: usize = 256;
        let mut depth = 0u32;
        for ahead in 1..MAX_TOKENS {
            match self.peek(ahead).tok {
                Tok::LParen => depth += 1,
                Tok::RParen if depth == 1 => return self.peek(ahead + 1).tok == Tok::LBrace,
                Tok::RParen => depth -= 1,
                Tok::Eof => return false,
                _ => {}
            }
        }
        false
    }

    /// Other languages' loop, which P4 does not have: read over it so that nothing else is said about it.
    fn while_statement(&mut self) -> Parsed<StmtKind> {
        let message = "P4 has no `while` loop";
        let help = "write `for (; condition; ) { ... }`; in a parser, use a transition to the same state";
        self.report(Diagnostic::error(self.span(), message).with_help(help));
        self.bump();
        self.expect(Tok::LParen)?;
        self.expression()?;
        self.expect(Tok::RParen)?;
        Ok(StmtKind::Block(self.block(Vec::new())?))
    }

    fn for_statement(&mut self, mut annotations: Vec<Annotation>) -> Parsed<StmtKind> {
        self.expect(Tok::For)?;
        self.expect(Tok::LParen)?;
        self.scopes.push();
        let depth = self.scopes.depth();
        let result = self.for_rest(&mut annotations);
        self.scopes.truncate(depth);
        self.scopes.pop();
        result.map(|kind| match kind {
            StmtKind::For { init, cond, update, body, .. } => {
                StmtKind::For { annotations, init, cond, update, body }
            }
            StmtKind::ForIn { ty, name, range, body, .. } => {
                StmtKind::ForIn { annotations, ty, name, range, body }
            }
            kind => kind,
        })
    }

    /// From behind the `(` on; annotations of a walking variable join those of the loop.
    fn for_rest(&mut self, annotations: &mut Vec<Annotation>) -> Parsed<StmtKind> {
        if self.at(Tok::Ident) && self.peek(1).tok == Tok::In {
            let message = "the variable of a `for ... in` loop must be declared in the loop, with its type";
            let help = format!("add the type: `for (bit<8> {} in ...)`", self.text_of(self.token()));
            return self.fail(Diagnostic::error(self.span(), message).with_help(help));
        }
        let mut init = Vec::new();
        while !self.at(Tok::Semi) {
            let start = self.span();
            let own = self.annotations()?;
            if init.is_empty() && self.declaration_here() {
                let ty = self.type_ref()?;
                if self.at(Tok::Ident) && self.peek(1).tok == Tok::In {
                    annotations.extend(own);
                    return self.for_in(ty);
                }
                let kind = self.variable_or_instance(ty)?;
                let span = self.since(start);
                init.push(Stmt { kind: StmtKind::Decl(Decl { annotations: own, kind, span }), span });
            } else {
                let kind = self.simple_statement(own, start)?;
                init.push(Stmt { kind, span: self.since(start) });
            }
            if !self.eat(Tok::Comma) {
                break;
            }
        }
        self.expect(Tok::Semi)?;
        let cond = self.expression()?;
        self.expect(Tok::Semi)?;
        let update = self.list(Tok::RParen, false, |parser| {
            let start = parser.span();
            let kind = parser.simple_statement(Vec::new(), start)?;
            Ok(Stmt { kind, span: parser.since(start) })
        })?;
        self.expect(Tok::RParen)?;
        let body = Box::new(self.statement()?);
        Ok(StmtKind::For { annotations: Vec::new(), init, cond, update, body })
    }

    fn for_in(&mut self, ty: Type) -> Parsed<StmtKind> {
        let name = self.name("a variable name")?;
        self.expect(Tok::In)?;
        self.scopes.declare_object(&name.name);
        let first = self.expression()?;
        let range = if self.eat(Tok::DotDot) {
            ForRange::Range(first, self.expression()?)
        } else {
            ForRange::Expr(first)
        };
        self.expect(Tok::RParen)?;
        let body = Box::new(self.statement()?);
        Ok(StmtKind::ForIn { annotations: Vec::new(), ty, name, range, body })
    }
}
