//! Expressions, arguments and literals.

use super::{Parsed, Parser};
use crate::ast::{Argument, Expr, ExprKind, Ident, IntLiteral, Path, Type, TypeKind, UnaryOp};
use crate::diag::Diagnostic;
use crate::lexer::{Tok, split_number};
use crate::span::Span;

impl Parser<'_> {
    /// An expression of any precedence.
    pub(super) fn expression(&mut self) -> Parsed<Expr> {
        self.nested(Self::conditional)
    }

    fn conditional(&mut self) -> Parsed<Expr> {
        let cond = self.binary(1)?;
        if !self.eat(Tok::Question) {
            return Ok(cond);
        }
        let high = self.height;
        let yes = self.with_angle(false, Self::expression)?;
        let high = high.max(self.height);
        self.expect(Tok::Colon)?;
        let no = self.expression()?;
        self.grow(high.max(self.height))?;
        let span = self.since(cond.span);
        Ok(Expr { kind: ExprKind::Conditional(Box::new(cond), Box::new(yes), Box::new(no)), span })
    }

    /// Operators of at least `level`.
    fn binary(&mut self, level: u8) -> Parsed<Expr> {
        let mut left = self.unary()?;
        while let Some(operator) = self.binary_operator().filter(|operator| operator.level >= level) {
            let high = self.height;
            for _ in 0..operator.tokens {
                self.bump();
            }
            let right = self.binary(operator.level + 1)?;
            self.grow(high.max(self.height))?;
            let span = left.span.to(right.span);
            left = Expr { kind: ExprKind::Binary(operator.op, Box::new(left), Box::new(right)), span };
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed<Expr> {
        let start = self.span();
        let op = match self.tok() {
            Tok::Not => UnaryOp::Not,
            Tok::Tilde => UnaryOp::BitNot,
            Tok::Minus => UnaryOp::Neg,
            Tok::Plus => UnaryOp::Plus,
            Tok::LParen => return self.cast_or_postfix(),
            _ => return self.postfix(false),
        };
        self.bump();
        let operand = self.nested(Self::unary)?;
        self.grow(self.height)?;
        Ok(Expr { kind: ExprKind::Unary(op, Box::new(operand)), span: self.since(start) })
    }

    /// `(T) e` or an expression that starts with a parenthesis.
    fn cast_or_postfix(&mut self) -> Parsed<Expr> {
        let start = self.span();
        if self.type_at(1)
            && let Some(ty) = self.guess(false, |parser| {
                parser.bump();
                let ty = parser.with_angle(false, Self::type_ref)?;
                parser.expect(Tok::RParen)?;
                Ok(ty)
            })
        {
            let high = self.height;
            let operand = self.nested(Self::unary)?;
            self.grow(high.max(self.height))?;
            return Ok(Expr { kind: ExprKind::Cast(ty, Box::new(operand)), span: self.since(start) });
        }
        self.postfix(false)
    }

    /// A primary expression with calls, members and indices behind
    /// it. In a `statement` a `<` can only open type arguments.
    pub(super) fn postfix(&mut self, statement: bool) -> Parsed<Expr> {
        let mut expr = self.primary()?;
        loop {
            let (high, start) = (self.height, expr.span);
            let kind = match self.tok() {
                Tok::Dot => {
                    self.bump();
                    let name = self.name("a member name")?;
                    ExprKind::Member(Box::new(expr), name)
                }
                Tok::LBracket => self.index(expr)?,
                Tok::LParen => {
                    let args = self.arguments()?;
                    ExprKind::Call { callee: Box::new(expr), type_args: Vec::new(), args }
                }
                Tok::Lt if statement || self.type_at(1) || self.peek(1).tok == Tok::DontCare => {
                    let Some(type_args) = self.call_type_args() else { return Ok(expr) };
                    let high_types = self.height;
                    let args = self.arguments()?;
                    self.height = self.height.max(high_types);
                    ExprKind::Call { callee: Box::new(expr), type_args, args }
                }
                _ => return Ok(expr),
            };
            self.grow(high.max(self.height))?;
            expr = Expr { kind, span: self.since(start) };
        }
    }

    /// Type arguments, if a `(` follows them; otherwise `<` is an operator.
    fn call_type_args(&mut self) -> Option<Vec<Type>> {
        self.guess(true, |parser| {
            let args = parser.type_args()?;
            if parser.at(Tok::LParen) { Ok(args) } else { parser.expected("`(`") }
        })
    }

    fn index(&mut self, base: Expr) -> Parsed<ExprKind> {
        self.expect(Tok::LBracket)?;
        let first = self.with_angle(false, Self::expression)?;
        let high = self.height;
        let base = Box::new(base);
        let kind = match self.tok() {
            Tok::Colon => {
                self.bump();
                let low = self.with_angle(false, Self::expression)?;
                ExprKind::Slice(base, Box::new(first), Box::new(low))
            }
            Tok::PlusColon => {
                self.bump();
                let width = self.with_angle(false, Self::expression)?;
                ExprKind::PlusSlice(base, Box::new(first), Box::new(width))
            }
            _ => ExprKind::Index(base, Box::new(first)),
        };
        self.height = self.height.max(high);
        self.expect(Tok::RBracket)?;
        Ok(kind)
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let token = self.token();
        self.height = 1;
        let kind = match token.tok {
            Tok::Int => return self.integer(),
            Tok::Str => ExprKind::String(string_value(self.text_of(token))),
            Tok::True => ExprKind::Bool(true),
            Tok::False => ExprKind::Bool(false),
            Tok::This => ExprKind::This,
            Tok::Dots => ExprKind::Dots,
            Tok::InvalidHeader => ExprKind::InvalidHeader,
            Tok::LParen => {
                self.bump();
                let inner = self.with_angle(false, Self::expression)?;
                self.expect(Tok::RParen)?;
                return Ok(Expr { kind: inner.kind, span: self.since(token.span) });
            }
            Tok::LBrace => return self.with_angle(false, Self::braces),
            Tok::Error if self.peek(1).tok == Tok::Dot => {
                self.bump();
                let ty = Type { kind: TypeKind::Error, span: token.span };
                return self.type_member(ty);
            }
            Tok::Ident | Tok::Dot => return self.name_or_type(),
            _ if self.type_at(0) => {
                let message = format!("expected an expression, found the type {}", self.found());
                let help = "a cast needs parentheses: `(bit<8>) x`";
                return self.fail(Diagnostic::error(token.span, message).with_help(help));
            }
            _ => return self.expected("an expression"),
        };
        self.bump();
        Ok(Expr { kind, span: token.span })
    }

    /// `x`, `T.member`, `T(args)`, `T<A>(args)`
    fn name_or_type(&mut self) -> Parsed<Expr> {
        let start = self.span();
        if self.type_at(0) {
            let guessed = self.guess(true, |parser| {
                let kind = parser.named_type()?;
                match parser.tok() {
                    Tok::LParen | Tok::Dot => Ok(Type { kind, span: parser.since(start) }),
                    _ => parser.expected("`(` or `.`"),
                }
            });
            if let Some(ty) = guessed {
                if self.at(Tok::Dot) {
                    return self.type_member(ty);
                }
                let high = self.height;
                let args = self.arguments()?;
                self.grow(high.max(self.height))?;
                return Ok(Expr { kind: ExprKind::Construct { ty, args }, span: self.since(start) });
            }
            let message = format!("expected a value, found the type {}", self.found());
            let help =
                "a type can only be used in a cast, `(T) x`, before `.`, or before constructor arguments";
            return self.fail(Diagnostic::error(start, message).with_help(help));
        }
        let path: Path = self.path("a name")?;
        self.height = 1;
        Ok(Expr { kind: ExprKind::Path(path), span: self.since(start) })
    }

    fn type_member(&mut self, ty: Type) -> Parsed<Expr> {
        self.expect(Tok::Dot)?;
        let name = self.name("a member name")?;
        self.grow(self.height)?;
        let span = self.since(ty.span);
        Ok(Expr { kind: ExprKind::TypeMember(ty, name), span })
    }

    /// `{a, b}` or `{f = a, ...}`
    fn braces(&mut self) -> Parsed<Expr> {
        let start = self.expect(Tok::LBrace)?;
        if self.at(Tok::Ident) && self.peek(1).tok == Tok::Assign {
            return self.struct_fields(start);
        }
        let mut high = 0;
        let items = self.list(Tok::RBrace, true, |parser| {
            let item = parser.expression()?;
            high = high.max(parser.height);
            Ok(item)
        })?;
        self.expect(Tok::RBrace)?;
        self.grow(high)?;
        Ok(Expr { kind: ExprKind::List(items), span: self.since(start) })
    }

    fn struct_fields(&mut self, start: Span) -> Parsed<Expr> {
        let mut high = 0;
        let mut dots = false;
        let fields = self.list(Tok::RBrace, true, |parser| {
            if parser.at(Tok::Dots) {
                let span = parser.bump().span;
                let last =
                    parser.at(Tok::RBrace) || (parser.at(Tok::Comma) && parser.peek(1).tok == Tok::RBrace);
                if !last {
                    let message = "`...` must be the last item of a structure expression";
                    return parser.fail(Diagnostic::error(span, message));
                }
                dots = true;
                return Ok(None);
            }
            let field = parser.key_value()?;
            high = high.max(parser.height);
            Ok(Some(field))
        })?;
        self.expect(Tok::RBrace)?;
        self.grow(high)?;
        let fields = fields.into_iter().flatten().collect();
        Ok(Expr { kind: ExprKind::Struct { fields, dots }, span: self.since(start) })
    }

    /// `name = e`
    pub(super) fn key_value(&mut self) -> Parsed<(Ident, Expr)> {
        let name = self.name("a field name")?;
        self.expect(Tok::Assign)?;
        Ok((name, self.expression()?))
    }

    /// `(args)`
    pub(super) fn arguments(&mut self) -> Parsed<Vec<Argument>> {
        self.expect(Tok::LParen)?;
        let mut high = 0;
        let args = self.with_angle(false, |parser| {
            parser.list(Tok::RParen, false, |parser| {
                let arg = parser.argument()?;
                high = high.max(parser.height);
                Ok(arg)
            })
        })?;
        self.expect(Tok::RParen)?;
        self.height = high;
        Ok(args)
    }

    fn argument(&mut self) -> Parsed<Argument> {
        let named = self.at(Tok::Ident) && self.peek(1).tok == Tok::Assign;
        let name = if named {
            let name = self.name("a parameter name")?;
            self.expect(Tok::Assign)?;
            Some(name)
        } else {
            None
        };
        if self.at(Tok::DontCare) {
            let span = self.bump().span;
            self.height = 1;
            return Ok(Argument { name, value: Expr { kind: ExprKind::DontCare, span } });
        }
        Ok(Argument { name, value: self.expression()? })
    }

    fn integer(&mut self) -> Parsed<Expr> {
        let token = self.bump();
        // The lexer reports a malformed literal; 0 stands for it.
        let (digits, base, width) =
            split_number(self.text_of(token)).unwrap_or_else(|_| ("0".to_owned(), 10, None));
        Ok(Expr { kind: ExprKind::Int(IntLiteral { digits, base, width }), span: token.span })
    }
}

/// Text of a string literal: `\"`, `\\`, `\n` and `\t` are resolved, other backslashes stay.
fn string_value(quoted: &str) -> String {
    let inner = quoted.strip_prefix('"').unwrap_or(quoted);
    let inner = inner.strip_suffix('"').unwrap_or(inner);
    let mut out = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some(c @ ('"' | '\\')) => out.push(c),
            Some(c) => out.extend(['\\', c]),
            None => out.push('\\'),
        }
    }
    out
}
