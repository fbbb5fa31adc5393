//! Type expressions and type parameters.

use super::{Parsed, Parser};
use crate::ast::{Ident, Path, Type, TypeKind};
use crate::lexer::Tok;

impl Parser<'_> {
    /// A type. A name is taken for one even if no such type is known: the checker says what is wrong with it.
    pub(super) fn type_ref(&mut self) -> Parsed<Type> {
        self.nested(Self::type_with_sizes)
    }

    fn type_with_sizes(&mut self) -> Parsed<Type> {
        let start = self.span();
        let kind = self.type_kind()?;
        let mut ty = Type { kind, span: self.since(start) };
        while self.at(Tok::LBracket) {
            ty = self.stack_of(ty)?;
        }
        Ok(ty)
    }

    /// `ty[size]`
    pub(super) fn stack_of(&mut self, ty: Type) -> Parsed<Type> {
        let below = self.height;
        self.expect(Tok::LBracket)?;
        let size = self.with_angle(false, Self::expression)?;
        self.expect(Tok::RBracket)?;
        self.grow(below.max(self.height))?;
        let span = self.since(ty.span);
        Ok(Type { kind: TypeKind::Stack(Box::new(ty), Box::new(size)), span })
    }

    fn type_kind(&mut self) -> Parsed<TypeKind> {
        self.height = 1;
        let simple = match self.tok() {
            Tok::Bool => TypeKind::Bool,
            Tok::Error => TypeKind::Error,
            Tok::MatchKind => TypeKind::MatchKind,
            Tok::StringType => TypeKind::String,
            Tok::Void => TypeKind::Void,
            Tok::Bit => {
                self.bump();
                return Ok(TypeKind::Bit(self.width()?.map(Box::new)));
            }
            Tok::IntType => {
                self.bump();
                return Ok(self.width()?.map_or(TypeKind::Integer, |width| TypeKind::Int(Box::new(width))));
            }
            Tok::Varbit => {
                self.bump();
                return match self.width()? {
                    Some(width) => Ok(TypeKind::Varbit(Box::new(width))),
                    None => self.expected("`<` and the largest width of the varbit"),
                };
            }
            Tok::Tuple => {
                self.bump();
                return Ok(TypeKind::Tuple(self.type_args()?));
            }
            Tok::Ident if self.list_at(0) => {
                self.bump();
                self.expect(Tok::Lt)?;
                let of = self.type_arg()?;
                self.expect(Tok::Gt)?;
                return Ok(TypeKind::List(Box::new(of)));
            }
            Tok::Ident | Tok::Dot => return self.named_type(),
            _ => return self.expected("a type"),
        };
        self.bump();
        Ok(simple)
    }

    /// `T`, `.T` or `T<A, B>`
    pub(super) fn named_type(&mut self) -> Parsed<TypeKind> {
        let path = self.path("a type name")?;
        self.height = 1;
        if self.at(Tok::Lt) {
            return Ok(TypeKind::Specialized(path, self.type_args()?));
        }
        Ok(TypeKind::Named(path))
    }

    /// `x` or `.x`
    pub(super) fn path(&mut self, what: &str) -> Parsed<Path> {
        let absolute = self.eat(Tok::Dot);
        Ok(Path { absolute, name: self.name(what)? })
    }

    /// `<W>` after `bit`, `int` or `varbit`, if present.
    fn width(&mut self) -> Parsed<Option<crate::ast::Expr>> {
        if !self.eat(Tok::Lt) {
            return Ok(None);
        }
        let width = self.with_angle(true, Self::expression)?;
        self.expect(Tok::Gt)?;
        Ok(Some(width))
    }

    /// `<A, B>`
    pub(super) fn type_args(&mut self) -> Parsed<Vec<Type>> {
        self.expect(Tok::Lt)?;
        let mut high = 0;
        let args = self.with_angle(true, |parser| {
            parser.list(Tok::Gt, false, |parser| {
                let arg = parser.type_arg()?;
                high = high.max(parser.height);
                Ok(arg)
            })
        })?;
        self.expect(Tok::Gt)?;
        self.grow(high)?;
        Ok(args)
    }

    /// A type, `void` or `_`.
    fn type_arg(&mut self) -> Parsed<Type> {
        if self.at(Tok::DontCare) {
            let span = self.bump().span;
            self.height = 1;
            return Ok(Type { kind: TypeKind::DontCare, span });
        }
        self.type_ref()
    }

    /// `<T, U>` after a declared name, if present; the names become types of the innermost scope.
    pub(super) fn type_params(&mut self) -> Parsed<Vec<Ident>> {
        if !self.eat(Tok::Lt) {
            return Ok(Vec::new());
        }
        let params = self.list(Tok::Gt, false, |parser| parser.name("a type parameter"))?;
        self.expect(Tok::Gt)?;
        for param in &params {
            self.scopes.declare_type(&param.name);
        }
        Ok(params)
    }
}
