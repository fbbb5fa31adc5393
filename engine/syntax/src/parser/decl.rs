//! Declarations: the program, types, parsers, controls, externs, functions, constants and instances.

use super::{Failed, Parsed, Parser};
use crate::ast::{
    AggregateKind, Annotation, Block, ControlDecl, Decl, DeclKind, Direction, EnumMember, ExternMethod,
    Field, FunctionSignature, Ident, Param, ParserDecl, ParserState, Path, Program, Type, TypeKind,
};
use crate::diag::Diagnostic;
use crate::lexer::Tok;
use crate::span::Span;

/// One declaration usually; `typedef struct S {...} T;` makes two, `extern E;` none.
type Decls = Vec<Decl>;

impl Parser<'_> {
    /// The whole program.
    pub(super) fn program(&mut self) -> Program {
        let mut decls = Vec::new();
        while !self.at(Tok::Eof) && !self.full {
            if self.eat(Tok::Semi) {
                continue;
            }
            let start = self.at;
            match self.top_declaration() {
                Ok(more) => decls.extend(more),
                Err(Failed) => self.recover_top(start),
            }
        }
        Program { decls, ..Program::default() }
    }

    fn recover_top(&mut self, start: usize) {
        self.scopes.truncate(1);
        self.angle = false;
        self.in_parser = false;
        if self.at > start && self.at_top_word() {
            return;
        }
        self.skip_item(start);
        while self.at(Tok::RBrace) {
            self.bump();
        }
        if self.at == start {
            self.bump();
        }
    }

    /// Items up to the closing brace, which is consumed; the
    /// opening one was. An item with an error is left out.
    pub(super) fn members<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut items = Vec::new();
        while self.more_items() {
            items.extend(self.item(&mut item)?);
        }
        self.close()?;
        Ok(items)
    }

    /// The closing brace of a list. One that is missing is reported and otherwise taken as read, so that what
    /// the list holds stays known to an editor.
    pub(super) fn close(&mut self) -> Parsed<()> {
        let closed = self.expect(Tok::RBrace);
        if self.guessing > 0 || self.full { closed.map(drop) } else { Ok(()) }
    }

    /// The braces hold more.
    pub(super) fn more_items(&self) -> bool {
        !matches!(self.tok(), Tok::RBrace | Tok::Eof) && !self.at_top_word() && !self.full
    }

    /// One item; after an error in it `None`, with parsing to go on at
    /// the next item. Fails if the closing brace of the list is missing.
    pub(super) fn item<T>(&mut self, item: &mut impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Option<T>> {
        let start = self.at;
        let depth = self.scopes.depth();
        match item(self) {
            Ok(found) => Ok(Some(found)),
            Err(Failed) if self.at > start && self.at_top_word() => Err(Failed),
            Err(Failed) => {
                self.scopes.truncate(depth);
                self.skip_item(start);
                Ok(None)
            }
        }
    }

    fn top_declaration(&mut self) -> Parsed<Decls> {
        let start = self.span();
        let annotations = self.annotations()?;
        let kind = match self.tok() {
            Tok::Const => self.constant()?,
            Tok::Extern => match self.external()? {
                Some(kind) => kind,
                None => return Ok(Vec::new()),
            },
            Tok::Action => self.action()?,
            Tok::Parser => self.parser()?,
            Tok::Control => self.control()?,
            Tok::Package => self.package()?,
            Tok::Header | Tok::Struct | Tok::HeaderUnion => self.aggregate()?,
            Tok::Enum => self.enumeration()?,
            Tok::Typedef => return self.typedef(annotations, start),
            Tok::Ident if self.at_word("type") && self.peek(1).tok != Tok::LParen => self.new_type()?,
            Tok::Error if self.peek(1).tok == Tok::LBrace => {
                self.bump();
                DeclKind::Error { members: self.member_names()? }
            }
            Tok::MatchKind if self.peek(1).tok == Tok::LBrace => {
                self.bump();
                DeclKind::MatchKind { members: self.member_names()? }
            }
            Tok::Table => {
                let message = "a table cannot be declared at top level";
                return self
                    .fail(Diagnostic::error(self.span(), message).with_help("move it into a control"));
            }
            _ => self.instance_or_function()?,
        };
        Ok(vec![Decl { annotations, kind, span: self.since(start) }])
    }

    /// `T(args) x;` or `T f(params) {...}`
    fn instance_or_function(&mut self) -> Parsed<DeclKind> {
        if !self.type_at(0) && !matches!(self.tok(), Tok::Ident | Tok::Dot) {
            return self.expected("a declaration");
        }
        let ty = self.type_ref()?;
        if self.at(Tok::LParen) {
            let kind = self.instance(ty)?;
            self.expect_semi("the declaration")?;
            return Ok(kind);
        }
        if self.at(Tok::Ident) && matches!(self.peek(1).tok, Tok::Assign | Tok::Semi) {
            let message = "a variable cannot be declared at top level";
            let help = "write `const` before it, or move it into a parser or control";
            return self.fail(Diagnostic::error(self.span(), message).with_help(help));
        }
        self.function(ty)
    }

    fn function(&mut self, return_type: Type) -> Parsed<DeclKind> {
        let signature = self.signature(return_type)?;
        // A function may implement a method of an instance that stands in a parser.
        let in_parser = std::mem::replace(&mut self.in_parser, false);
        let body = self.block(Vec::new());
        self.in_parser = in_parser;
        self.scopes.pop();
        Ok(DeclKind::Function { signature, body: body? })
    }

    /// Name, type parameters and parameters, whose scope stays open.
    fn signature(&mut self, return_type: Type) -> Parsed<FunctionSignature> {
        let name = self.name("a function name")?;
        self.scopes.declare_object(&name.name);
        self.scopes.push();
        let type_params = self.type_params()?;
        let params = self.params()?;
        Ok(FunctionSignature { return_type, name, type_params, params })
    }

    /// `(params)`; the names join the innermost scope.
    fn params(&mut self) -> Parsed<Vec<Param>> {
        self.expect(Tok::LParen)?;
        let params = self.list(Tok::RParen, false, Self::param)?;
        self.expect(Tok::RParen)?;
        for param in &params {
            self.scopes.declare_object(&param.name.name);
        }
        Ok(params)
    }

    fn param(&mut self) -> Parsed<Param> {
        let annotations = self.annotations()?;
        let direction = match self.tok() {
            Tok::In => Direction::In,
            Tok::Out => Direction::Out,
            Tok::InOut => Direction::InOut,
            _ => Direction::None,
        };
        if direction != Direction::None {
            self.bump();
        }
        let ty = self.type_ref()?;
        let (ty, name) = self.declarator(ty)?;
        let default = if self.eat(Tok::Assign) { Some(self.expression()?) } else { None };
        Ok(Param { annotations, direction, ty, name, default })
    }

    /// A declared name with sizes behind it: `x[3]` is an `x` of type `T[3]`.
    pub(super) fn declarator(&mut self, mut ty: Type) -> Parsed<(Type, Ident)> {
        let name = self.name("a name")?;
        while self.at(Tok::LBracket) {
            ty = self.stack_of(ty)?;
        }
        Ok((ty, name))
    }

    /// `const T x = e;`
    pub(super) fn constant(&mut self) -> Parsed<DeclKind> {
        self.expect(Tok::Const)?;
        let ty = self.type_ref()?;
        let (ty, name) = self.declarator(ty)?;
        self.scopes.declare_object(&name.name);
        self.expect(Tok::Assign)?;
        let value = self.expression()?;
        self.expect_semi("the constant")?;
        Ok(DeclKind::Const { ty, name, value })
    }

    /// `(args) x` with an optional body, the type already read and the `;` left.
    pub(super) fn instance(&mut self, ty: Type) -> Parsed<DeclKind> {
        let args = self.arguments()?;
        let (ty, name) = self.declarator(ty)?;
        self.scopes.declare_object(&name.name);
        if !self.eat(Tok::Assign) {
            return Ok(DeclKind::Instance { ty, args, name, body: None });
        }
        self.expect(Tok::LBrace)?;
        self.scopes.push();
        let body = self.nested(|parser| parser.members(Self::instance_member));
        self.scopes.pop();
        Ok(DeclKind::Instance { ty, args, name, body: Some(body?) })
    }

    fn instance_member(&mut self) -> Parsed<Decl> {
        let start = self.span();
        let annotations = self.annotations()?;
        let ty = self.type_ref()?;
        let kind = if self.at(Tok::LParen) {
            let kind = self.instance(ty)?;
            self.expect_semi("the declaration")?;
            kind
        } else {
            self.function(ty)?
        };
        Ok(Decl { annotations, kind, span: self.since(start) })
    }

    /// `action a(params) {...}`
    fn action(&mut self) -> Parsed<DeclKind> {
        self.expect(Tok::Action)?;
        let name = self.name("an action name")?;
        self.scopes.declare_object(&name.name);
        self.scopes.push();
        let result = self.params().and_then(|params| Ok((params, self.block(Vec::new())?)));
        self.scopes.pop();
        let (params, body) = result?;
        Ok(DeclKind::Action { name, params, body })
    }

    /// Name, type parameters and parameters of a parser, control or package; the scope they open stays open.
    fn container(&mut self, what: &str) -> Parsed<(Ident, Vec<Ident>, Vec<Param>)> {
        self.bump();
        let name = self.name(what)?;
        self.scopes.declare_type(&name.name);
        self.scopes.push();
        let type_params = self.type_params()?;
        let params = self.params()?;
        Ok((name, type_params, params))
    }

    fn package(&mut self) -> Parsed<DeclKind> {
        let (name, type_params, params) = self.container("a package name")?;
        self.scopes.pop();
        self.expect_semi("the package")?;
        Ok(DeclKind::PackageType { name, type_params, params })
    }

    fn parser(&mut self) -> Parsed<DeclKind> {
        let (name, type_params, params) = self.container("a parser name")?;
        if self.eat(Tok::Semi) {
            self.scopes.pop();
            return Ok(DeclKind::ParserType { name, type_params, params });
        }
        let constructor_params = if self.at(Tok::LParen) { self.params()? } else { Vec::new() };
        self.expect(Tok::LBrace)?;
        let mut states = Vec::new();
        self.in_parser = true;
        let locals = self.members(|parser| parser.parser_member(&mut states));
        self.in_parser = false;
        self.scopes.pop();
        let locals = locals?.into_iter().flatten().collect();
        let decl = ParserDecl { name, type_params, params, constructor_params, locals, states };
        Ok(DeclKind::Parser(Box::new(decl)))
    }

    /// A state, which joins `states`, or a local declaration.
    fn parser_member(&mut self, states: &mut Vec<ParserState>) -> Parsed<Option<Decl>> {
        let start = self.span();
        let annotations = self.annotations()?;
        if self.at_word("state") && self.peek(1).tok == Tok::Ident {
            states.push(self.parser_state(annotations, start)?);
            return Ok(None);
        }
        let kind = match self.tok() {
            Tok::ValueSet => self.value_set()?,
            _ => self.local()?,
        };
        Ok(Some(Decl { annotations, kind, span: self.since(start) }))
    }

    /// A constant, variable or instance of a parser or control.
    fn local(&mut self) -> Parsed<DeclKind> {
        if self.at(Tok::Const) {
            return self.constant();
        }
        let ty = self.type_ref()?;
        let kind = self.variable_or_instance(ty)?;
        self.expect_semi("the declaration")?;
        Ok(kind)
    }

    /// `value_set<T>(size) name;`
    fn value_set(&mut self) -> Parsed<DeclKind> {
        self.expect(Tok::ValueSet)?;
        self.expect(Tok::Lt)?;
        let ty = self.with_angle(true, Self::type_ref)?;
        self.expect(Tok::Gt)?;
        self.expect(Tok::LParen)?;
        let size = self.expression()?;
        self.expect(Tok::RParen)?;
        let name = self.name("the name of the value set")?;
        self.scopes.declare_object(&name.name);
        self.expect_semi("the declaration")?;
        Ok(DeclKind::ValueSet { ty, size, name })
    }

    fn control(&mut self) -> Parsed<DeclKind> {
        let (name, type_params, params) = self.container("a control name")?;
        if self.eat(Tok::Semi) {
            self.scopes.pop();
            return Ok(DeclKind::ControlType { name, type_params, params });
        }
        let constructor_params = if self.at(Tok::LParen) { self.params()? } else { Vec::new() };
        self.expect(Tok::LBrace)?;
        let mut apply = None;
        let locals = self.members(|parser| {
            if parser.at_word("apply") && matches!(parser.peek(1).tok, Tok::LBrace | Tok::At) {
                parser.bump();
                let annotations = parser.annotations()?;
                apply = Some(parser.block(annotations)?);
                return if !parser.more_items() {
                    Ok(None)
                } else {
                    parser.expected("`}`: `apply` must be the last part of a control")
                };
            }
            parser.control_member().map(Some)
        });
        self.scopes.pop();
        let locals = locals?.into_iter().flatten().collect();
        let span = name.span;
        let message = format!("control `{}` has no `apply` block", name.name);
        let control = |apply| {
            let decl = ControlDecl { name, type_params, params, constructor_params, locals, apply };
            DeclKind::Control(Box::new(decl))
        };
        let Some(apply) = apply else {
            let help = "add `apply { ... }` as its last part";
            let missing = Diagnostic::error(span, message).with_help(help);
            // What it declares stays known to an editor.
            self.report(missing);
            return Ok(control(Block { annotations: Vec::new(), stmts: Vec::new(), span: self.before() }));
        };
        Ok(control(apply))
    }

    fn control_member(&mut self) -> Parsed<Decl> {
        let start = self.span();
        let annotations = self.annotations()?;
        let kind = match self.tok() {
            Tok::Action => self.action()?,
            Tok::Table => self.table()?,
            _ => self.local()?,
        };
        Ok(Decl { annotations, kind, span: self.since(start) })
    }

    /// `extern E<T> {...}`, `extern T f(params);` or the announcement `extern E;`, of which nothing stays.
    fn external(&mut self) -> Parsed<Option<DeclKind>> {
        self.expect(Tok::Extern)?;
        if self.at(Tok::Ident) && self.peek(1).tok == Tok::Semi {
            let name = self.name("an extern name")?;
            self.scopes.declare_type(&name.name);
            self.bump();
            return Ok(None);
        }
        if self.extern_object_here() {
            return self.extern_object().map(Some);
        }
        let return_type = self.type_ref()?;
        let signature = self.signature(return_type)?;
        self.scopes.pop();
        self.expect_semi("the extern function")?;
        Ok(Some(DeclKind::ExternFunction(signature)))
    }

    /// `E {` or `E<A, B> {`
    fn extern_object_here(&self) -> bool {
        if !self.at(Tok::Ident) {
            return false;
        }
        let mut ahead = 1;
        if self.peek(ahead).tok == Tok::Lt {
            while matches!(self.peek(ahead).tok, Tok::Lt | Tok::Ident | Tok::Comma) {
                ahead += 1;
            }
            if self.peek(ahead).tok == Tok::Gt {
                ahead += 1;
            }
        }
        self.peek(ahead).tok == Tok::LBrace
    }

    fn extern_object(&mut self) -> Parsed<DeclKind> {
        let name = self.name("an extern name")?;
        self.scopes.declare_type(&name.name);
        self.scopes.push();
        let result = self.type_params().and_then(|type_params| {
            self.expect(Tok::LBrace)?;
            Ok((type_params, self.members(|parser| parser.extern_method(&name.name))?))
        });
        self.scopes.pop();
        let (type_params, methods) = result?;
        Ok(DeclKind::ExternObject { name, type_params, methods })
    }

    fn extern_method(&mut self, object: &str) -> Parsed<ExternMethod> {
        let annotations = self.annotations()?;
        let is_abstract = self.eat(Tok::Abstract);
        let is_constructor = self.at_word(object) && self.peek(1).tok == Tok::LParen;
        let return_type =
            if is_constructor { Type { kind: TypeKind::Void, span: self.span() } } else { self.type_ref()? };
        // The scope of a method's name is its object, whose own name a constructor must not hide.
        self.scopes.push();
        let signature = self.signature(return_type);
        self.scopes.pop();
        self.scopes.pop();
        let signature = signature?;
        self.expect_semi("the method")?;
        Ok(ExternMethod { annotations, is_abstract, is_constructor, signature })
    }

    fn aggregate(&mut self) -> Parsed<DeclKind> {
        let kind = match self.bump().tok {
            Tok::Header => AggregateKind::Header,
            Tok::Struct => AggregateKind::Struct,
            _ => AggregateKind::HeaderUnion,
        };
        let name = self.name("a type name")?;
        self.scopes.declare_type(&name.name);
        self.scopes.push();
        let result = self.type_params().and_then(|type_params| {
            self.expect(Tok::LBrace)?;
            Ok((type_params, self.members(Self::field)?))
        });
        self.scopes.pop();
        let (type_params, fields) = result?;
        Ok(DeclKind::Aggregate { kind, name, type_params, fields })
    }

    fn field(&mut self) -> Parsed<Field> {
        let annotations = self.annotations()?;
        let ty = self.type_ref()?;
        let (ty, name) = self.declarator(ty)?;
        self.expect_semi("the field")?;
        Ok(Field { annotations, ty, name })
    }

    fn enumeration(&mut self) -> Parsed<DeclKind> {
        self.expect(Tok::Enum)?;
        let plain = self.at(Tok::Ident) && self.peek(1).tok == Tok::LBrace;
        let underlying = if plain { None } else { Some(self.type_ref()?) };
        let name = self.name("a type name")?;
        self.scopes.declare_type(&name.name);
        self.expect(Tok::LBrace)?;
        let members = self.list(Tok::RBrace, true, |parser| {
            let name = parser.name("the name of a member")?;
            let value = if parser.eat(Tok::Assign) { Some(parser.expression()?) } else { None };
            Ok(EnumMember { name, value })
        })?;
        self.expect(Tok::RBrace)?;
        Ok(DeclKind::Enum { name, underlying, members })
    }

    /// `{ A, B }`
    fn member_names(&mut self) -> Parsed<Vec<Ident>> {
        self.expect(Tok::LBrace)?;
        let members = self.list(Tok::RBrace, true, |parser| parser.name("the name of a member"))?;
        self.expect(Tok::RBrace)?;
        Ok(members)
    }

    /// `typedef T x;`, where `T` may be declared on the spot.
    fn typedef(&mut self, annotations: Vec<Annotation>, start: Span) -> Parsed<Decls> {
        self.expect(Tok::Typedef)?;
        let inner_start = self.span();
        let inner_annotations = self.annotations()?;
        let inner = match self.tok() {
            Tok::Header | Tok::Struct | Tok::HeaderUnion => Some(self.aggregate()?),
            Tok::Enum => Some(self.enumeration()?),
            _ => None,
        };
        let mut decls = Vec::new();
        let ty = match inner {
            Some(kind) => {
                let span = self.since(inner_start);
                let name = declared_name(&kind).cloned().unwrap_or(Ident { name: String::new(), span });
                decls.push(Decl { annotations: inner_annotations, kind, span });
                Type { kind: TypeKind::Named(Path { absolute: false, name }), span }
            }
            None => self.type_ref()?,
        };
        let (ty, name) = self.declarator(ty)?;
        self.scopes.declare_type(&name.name);
        self.expect_semi("the typedef")?;
        let kind = DeclKind::Typedef { ty, name };
        decls.push(Decl { annotations, kind, span: self.since(start) });
        Ok(decls)
    }

    /// `type T x;`
    fn new_type(&mut self) -> Parsed<DeclKind> {
        self.bump();
        let ty = self.type_ref()?;
        let (ty, name) = self.declarator(ty)?;
        self.scopes.declare_type(&name.name);
        self.expect_semi("the type")?;
        Ok(DeclKind::NewType { ty, name })
    }
}

/// Name of a type declared on the spot.
fn declared_name(kind: &DeclKind) -> Option<&Ident> {
    match kind {
        DeclKind::Aggregate { name, .. } | DeclKind::Enum { name, .. } => Some(name),
        _ => None,
    }
}
