//! The walk over declarations and statements.

use super::{Def, DefId, DefKind, Names, Scope, Ty, Use};
use p4cc_syntax::Span;
use p4cc_syntax::ast::{
    AggregateKind, Annotation, Argument, Block, ControlDecl, Decl, DeclKind, EnumMember, Expr, ExternMethod,
    Field, ForRange, FunctionSignature, Ident, Param, ParserDecl, ParserState, Program, Stmt, StmtKind,
    SwitchCase, TableDecl, TablePropertyKind, Transition, Type, TypeKind,
};
use std::collections::BTreeMap;

/// Walks a program that a text was parsed to.
pub fn build(program: &Program, text: &str) -> Names {
    let mut builder = Builder { last: text.trim_end().len() as u32, ..Builder::default() };
    builder.open(Span::new(0, text.len() as u32));
    program.decls.iter().for_each(|decl| builder.decl(decl, None));
    builder.names.uses.sort_by_key(|one| one.span);
    builder.names
}

/// Names of a scope that is open.
#[derive(Default)]
struct Open {
    scope: usize,
    names: BTreeMap<String, DefId>,
}

/// The walk.
#[derive(Default)]
pub(super) struct Builder {
    pub(super) names: Names,
    open: Vec<Open>,
    /// Where the last token ends: what ends there has no closing brace yet, or nothing behind it.
    last: u32,
    /// States of the parser that is walked.
    states: BTreeMap<String, DefId>,
}

impl Builder {
    fn open(&mut self, span: Span) {
        let span = if span.end >= self.last { Span::new(span.start, u32::MAX) } else { span };
        let parent = self.open.last().map(|open| open.scope);
        let scope = self.names.scopes.len();
        self.names.scopes.push(Scope { span, parent, defs: Vec::new() });
        self.open.push(Open { scope, names: BTreeMap::new() });
    }

    fn close(&mut self) {
        self.open.pop();
    }

    /// The innermost declaration of a name.
    pub(super) fn find(&self, name: &str, absolute: bool) -> Option<DefId> {
        let depth = if absolute { 1 } else { self.open.len() };
        self.open.iter().take(depth).rev().find_map(|open| open.names.get(name)).copied()
    }

    /// Notes that a name stands for a declaration.
    pub(super) fn used(&mut self, name: &Ident, def: DefId) {
        self.names.uses.push(Use { span: name.span, def });
    }

    /// Looks up a name and notes the use.
    pub(super) fn resolve(&mut self, name: &Ident, absolute: bool) -> Option<DefId> {
        let found = self.find(&name.name, absolute)?;
        self.used(name, found);
        Some(found)
    }

    /// Makes a declaration that no scope knows: a part of another.
    fn part(&mut self, name: &Ident, kind: DefKind, whole: Span, parent: Option<DefId>) -> DefId {
        let id = DefId(self.names.defs.len() as u32);
        self.names.defs.push(Def {
            name: name.name.clone(),
            kind,
            span: name.span,
            whole,
            ty: Ty::Unknown,
            parent,
            children: Vec::new(),
            value: None,
            width: None,
            keys: Vec::new(),
            actions: Vec::new(),
        });
        self.used(name, id);
        if let Some(parent) = parent {
            self.def(parent).children.push(id);
        }
        id
    }

    fn member(&mut self, name: &Ident, kind: DefKind, whole: Span, parent: DefId) -> DefId {
        let id = self.part(name, kind, whole, Some(parent));
        self.names.members.entry(parent).or_default().insert(name.name.clone(), id);
        id
    }

    /// Makes a declaration known in the innermost scope.
    fn declare(&mut self, name: &Ident, kind: DefKind, whole: Span, parent: Option<DefId>) -> DefId {
        let id = self.part(name, kind, whole, parent);
        self.enter(id);
        id
    }

    fn enter(&mut self, id: DefId) {
        let Some(open) = self.open.last_mut() else { return };
        open.names.insert(self.names.defs[id.0 as usize].name.clone(), id);
        self.names.scopes[open.scope].defs.push(id);
    }

    fn def(&mut self, id: DefId) -> &mut Def {
        &mut self.names.defs[id.0 as usize]
    }

    fn typed(&mut self, id: DefId, ty: Ty) {
        self.def(id).width = self.names.width(&ty);
        self.def(id).ty = ty;
    }

    fn decl(&mut self, decl: &Decl, parent: Option<DefId>) {
        self.annotations(&decl.annotations);
        let whole = decl.span;
        match &decl.kind {
            DeclKind::Const { ty, name, value } => self.constant(ty, name, value, (whole, parent)),
            DeclKind::Variable { ty, name, init } => {
                let ty = self.ty(ty);
                init.iter().for_each(|init| drop(self.expr_as(init, &ty)));
                let id = self.declare(name, DefKind::Variable, whole, parent);
                self.typed(id, ty);
            }
            DeclKind::Instance { ty, args, name, body } => {
                self.instance(ty, args, name, body.as_deref(), (whole, parent))
            }
            DeclKind::Error { members } => {
                for member in members {
                    let id = self.part(member, DefKind::ErrorMember, member.span, None);
                    self.names.errors.insert(member.name.clone(), id);
                }
            }
            DeclKind::MatchKind { members } => {
                for member in members {
                    let id = self.part(member, DefKind::MatchKind, member.span, None);
                    self.names.match_kinds.insert(member.name.clone(), id);
                }
            }
            DeclKind::Aggregate { kind, name, type_params, fields } => {
                self.aggregate(*kind, name, type_params, fields, whole);
            }
            DeclKind::Enum { name, underlying, members } => {
                self.enumeration(name, underlying.as_ref(), members, whole)
            }
            DeclKind::Typedef { ty, name } | DeclKind::NewType { ty, name } => {
                let ty = self.ty(ty);
                let id = self.declare(name, DefKind::Typedef, whole, parent);
                self.typed(id, ty);
            }
            DeclKind::ParserType { name, type_params, params } => {
                self.signature_only(name, DefKind::Parser, type_params, params, whole);
            }
            DeclKind::ControlType { name, type_params, params } => {
                self.signature_only(name, DefKind::Control, type_params, params, whole);
            }
            DeclKind::PackageType { name, type_params, params } => {
                self.signature_only(name, DefKind::Package, type_params, params, whole);
            }
            DeclKind::Parser(parser) => self.parser(parser, whole),
            DeclKind::Control(control) => self.control(control, whole),
            DeclKind::ExternObject { name, type_params, methods } => {
                self.extern_object(name, type_params, methods, whole);
            }
            DeclKind::ExternFunction(signature) => drop(self.function(signature, None, whole)),
            DeclKind::Function { signature, body } => drop(self.function(signature, Some(body), whole)),
            DeclKind::Action { name, params, body } => {
                let id = self.declare(name, DefKind::Action, whole, parent);
                self.open(whole);
                self.params(params, id);
                self.block(body);
                self.close();
            }
            DeclKind::Table(table) => self.table(table, whole, parent),
            DeclKind::ValueSet { ty, size, name } => {
                let ty = self.ty(ty);
                self.expr(size);
                let id = self.declare(name, DefKind::ValueSet, whole, parent);
                self.def(id).ty = ty;
            }
        }
    }

    fn constant(&mut self, ty: &Type, name: &Ident, value: &Expr, (whole, parent): (Span, Option<DefId>)) {
        let ty = self.ty(ty);
        self.expr_as(value, &ty);
        let number = self.number(value);
        let id = self.declare(name, DefKind::Const, whole, parent);
        self.typed(id, ty);
        self.def(id).value = number;
    }

    fn instance(
        &mut self,
        ty: &Type,
        args: &[Argument],
        name: &Ident,
        body: Option<&[Decl]>,
        (whole, parent): (Span, Option<DefId>),
    ) {
        let ty = self.ty(ty);
        self.constructor_args(&ty, args);
        let id = self.declare(name, DefKind::Instance, whole, parent);
        self.def(id).ty = ty;
        if let Some(body) = body {
            self.open(whole);
            body.iter().for_each(|decl| self.decl(decl, None));
            self.close();
        }
    }

    fn aggregate(
        &mut self,
        kind: AggregateKind,
        name: &Ident,
        type_params: &[Ident],
        fields: &[Field],
        whole: Span,
    ) {
        let def_kind = match kind {
            AggregateKind::Header => DefKind::Header,
            AggregateKind::Struct => DefKind::Struct,
            AggregateKind::HeaderUnion => DefKind::Union,
        };
        // The name is known behind the fields only, but the fields are its parts.
        let id = self.part(name, def_kind, whole, None);
        self.open(whole);
        self.type_params(type_params, id);
        let mut width = Some(0u64);
        for field in fields {
            self.annotations(&field.annotations);
            let ty = self.ty(&field.ty);
            let start = field.annotations.first().map_or(field.ty.span, |first| first.span);
            let part = self.member(&field.name, DefKind::Field, start.to(field.name.span), id);
            let bits = self.names.width(&ty);
            width = match kind {
                AggregateKind::HeaderUnion => None,
                _ => width.and_then(|sum| sum.checked_add(bits?)),
            };
            self.typed(part, ty);
        }
        self.close();
        self.def(id).width = width;
        self.enter(id);
    }

    fn enumeration(&mut self, name: &Ident, underlying: Option<&Type>, members: &[EnumMember], whole: Span) {
        let underlying = underlying.map(|ty| self.ty(ty));
        let id = self.part(name, DefKind::Enum, whole, None);
        for member in members {
            let value = member.value.as_ref().and_then(|value| {
                self.expr(value);
                self.number(value)
            });
            let part = self.member(&member.name, DefKind::EnumMember, member.name.span, id);
            self.def(part).ty = Ty::Named(id, Vec::new());
            self.def(part).value = value;
        }
        if let Some(ty) = underlying {
            self.typed(id, ty);
        }
        self.enter(id);
    }

    fn type_params(&mut self, params: &[Ident], owner: DefId) {
        for param in params {
            let id = self.declare(param, DefKind::TypeParam, param.span, Some(owner));
            self.def(id).ty = Ty::Unknown;
        }
    }

    fn params(&mut self, params: &[Param], owner: DefId) {
        for param in params {
            self.annotations(&param.annotations);
            let ty = self.ty(&param.ty);
            if let Some(default) = &param.default {
                self.expr_as(default, &ty);
            }
            let start = param.annotations.first().map_or(param.ty.span, |first| first.span);
            let kind = DefKind::Param(param.direction);
            let id = self.declare(&param.name, kind, start.to(param.name.span), Some(owner));
            self.names.members.entry(owner).or_default().insert(param.name.name.clone(), id);
            self.typed(id, ty);
        }
    }

    fn signature_only(
        &mut self,
        name: &Ident,
        kind: DefKind,
        type_params: &[Ident],
        params: &[Param],
        whole: Span,
    ) {
        let id = self.declare(name, kind, whole, None);
        self.open(whole);
        self.type_params(type_params, id);
        self.params(params, id);
        self.close();
    }

    fn function(&mut self, signature: &FunctionSignature, body: Option<&Block>, whole: Span) -> DefId {
        let id = self.declare(&signature.name, DefKind::Function, whole, None);
        self.signature(signature, id, body, whole);
        id
    }

    fn signature(&mut self, signature: &FunctionSignature, id: DefId, body: Option<&Block>, whole: Span) {
        self.open(whole);
        self.type_params(&signature.type_params, id);
        let ty = self.ty(&signature.return_type);
        self.def(id).ty = ty;
        self.params(&signature.params, id);
        body.into_iter().for_each(|body| self.block(body));
        self.close();
    }

    fn extern_object(&mut self, name: &Ident, type_params: &[Ident], methods: &[ExternMethod], whole: Span) {
        let id = self.declare(name, DefKind::Extern, whole, None);
        self.open(whole);
        self.type_params(type_params, id);
        for method in methods {
            self.annotations(&method.annotations);
            let signature = &method.signature;
            let kind = if method.is_constructor { DefKind::Constructor } else { DefKind::Method };
            let last = signature.params.last().map_or(signature.name.span, |param| param.name.span);
            let start = method.annotations.first().map_or(signature.return_type.span, |first| first.span);
            let whole = start.to(last).to(signature.name.span);
            let part = match kind {
                DefKind::Method => self.member(&signature.name, kind, whole, id),
                _ => self.part(&signature.name, kind, whole, Some(id)),
            };
            self.signature(signature, part, None, whole);
        }
        self.close();
    }

    fn parser(&mut self, parser: &ParserDecl, whole: Span) {
        let id = self.declare(&parser.name, DefKind::Parser, whole, None);
        self.open(whole);
        self.type_params(&parser.type_params, id);
        self.params(&parser.params, id);
        self.constructor_params(&parser.constructor_params);
        parser.locals.iter().for_each(|decl| self.decl(decl, Some(id)));
        let states: Vec<DefId> = parser
            .states
            .iter()
            .map(|state| self.part(&state.name, DefKind::State, state.span, Some(id)))
            .collect();
        // States are names of their own, which a variable does not hide.
        self.states =
            parser.states.iter().map(|state| state.name.name.clone()).zip(states.iter().copied()).collect();
        if let Some(open) = self.open.last() {
            self.names.scopes[open.scope].defs.extend(states);
        }
        parser.states.iter().for_each(|state| self.state(state));
        self.states.clear();
        self.close();
    }

    /// Parameters that a constructor takes: known inside, and no parameters of `apply`.
    fn constructor_params(&mut self, params: &[Param]) {
        for param in params {
            let ty = self.ty(&param.ty);
            let kind = DefKind::Param(param.direction);
            let id = self.declare(&param.name, kind, param.ty.span.to(param.name.span), None);
            self.typed(id, ty);
        }
    }

    fn state(&mut self, state: &ParserState) {
        self.annotations(&state.annotations);
        self.open(state.span);
        state.body.iter().for_each(|stmt| self.stmt(stmt));
        match &state.transition {
            Some(Transition::Direct(to)) => self.goes_to(to),
            Some(Transition::Select { keys, cases, .. }) => {
                let types: Vec<Ty> = keys.iter().map(|key| self.expr(key)).collect();
                for case in cases {
                    self.keyset(&case.keyset, &types);
                    self.goes_to(&case.state);
                }
            }
            None => {}
        }
        self.close();
    }

    fn goes_to(&mut self, name: &Ident) {
        if let Some(state) = self.states.get(&name.name) {
            self.used(name, *state);
        }
    }

    fn control(&mut self, control: &ControlDecl, whole: Span) {
        let id = self.declare(&control.name, DefKind::Control, whole, None);
        self.open(whole);
        self.type_params(&control.type_params, id);
        self.params(&control.params, id);
        self.constructor_params(&control.constructor_params);
        control.locals.iter().for_each(|decl| self.decl(decl, Some(id)));
        self.block(&control.apply);
        self.close();
    }

    fn table(&mut self, table: &TableDecl, whole: Span, parent: Option<DefId>) {
        let id = self.declare(&table.name, DefKind::Table, whole, parent);
        self.def(id).ty = Ty::Named(id, Vec::new());
        let mut key_types = Vec::new();
        for property in &table.properties {
            self.annotations(&property.annotations);
            match &property.kind {
                TablePropertyKind::Key(keys) => {
                    for key in keys {
                        self.annotations(&key.annotations);
                        key_types.push(self.expr(&key.expr));
                        if let Some(found) = self.names.match_kinds.get(&key.match_kind.name) {
                            self.used(&key.match_kind, *found);
                        }
                        let kind = key.match_kind.name.clone();
                        self.def(id).keys.push((key.expr.span, kind));
                    }
                }
                TablePropertyKind::Actions(actions) => {
                    for action in actions {
                        self.annotations(&action.annotations);
                        if let Some(found) = self.action(&action.path, &action.args) {
                            self.def(id).actions.push(found);
                        }
                    }
                }
                TablePropertyKind::Entries { entries, .. } => {
                    for entry in entries {
                        entry.priority.iter().for_each(|priority| drop(self.expr(priority)));
                        self.keyset(&entry.keyset, &key_types);
                        self.action(&entry.action.path, &entry.action.args);
                    }
                }
                TablePropertyKind::Other { value, .. } => drop(self.expr(value)),
            }
        }
    }

    fn action(&mut self, path: &p4cc_syntax::ast::Path, args: &[Argument]) -> Option<DefId> {
        let found = self.resolve(&path.name, path.absolute);
        self.args(args, found);
        found
    }

    fn block(&mut self, block: &Block) {
        self.annotations(&block.annotations);
        self.open(block.span);
        block.stmts.iter().for_each(|stmt| self.stmt(stmt));
        self.close();
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Empty
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Exit
            | StmtKind::Return(None) => {}
            StmtKind::Decl(decl) => self.decl(decl, None),
            StmtKind::Assign { target, value, .. } => {
                let ty = self.expr(target);
                self.expr_as(value, &ty);
            }
            StmtKind::Call(expr) | StmtKind::Return(Some(expr)) => drop(self.expr(expr)),
            StmtKind::DirectApplication { ty, args } => {
                let ty = self.ty(ty);
                let callee = self.names.holder(&ty).map(|(id, _)| id);
                self.args(args, callee);
            }
            StmtKind::If { cond, then, otherwise } => {
                self.expr(cond);
                self.stmt(then);
                otherwise.iter().for_each(|stmt| self.stmt(stmt));
            }
            StmtKind::Switch { value, cases } => self.switch(value, cases),
            StmtKind::For { annotations, init, cond, update, body } => {
                self.annotations(annotations);
                self.open(stmt.span);
                init.iter().for_each(|stmt| self.stmt(stmt));
                self.expr(cond);
                update.iter().for_each(|stmt| self.stmt(stmt));
                self.stmt(body);
                self.close();
            }
            StmtKind::ForIn { annotations, ty, name, range, body } => {
                self.annotations(annotations);
                self.open(stmt.span);
                let (start, ty) = (ty.span, self.ty(ty));
                match range {
                    ForRange::Range(low, high) => {
                        [low, high].into_iter().for_each(|end| drop(self.expr(end)))
                    }
                    ForRange::Expr(expr) => drop(self.expr(expr)),
                }
                let id = self.declare(name, DefKind::Variable, start.to(name.span), None);
                self.typed(id, ty);
                self.stmt(body);
                self.close();
            }
            StmtKind::Block(block) => self.block(block),
        }
    }

    fn switch(&mut self, value: &Expr, cases: &[SwitchCase]) {
        let ty = self.expr(value);
        for case in cases {
            if let Some(label) = &case.label {
                self.expr_as(label, &ty);
            }
            case.body.iter().for_each(|body| self.block(body));
        }
    }

    fn annotations(&mut self, annotations: &[Annotation]) {
        use p4cc_syntax::ast::AnnotationBody::{Empty, Expressions, KeyValues, Tokens};
        for annotation in annotations {
            match &annotation.body {
                Empty | Tokens(_) => {}
                Expressions(exprs) => exprs.iter().for_each(|expr| drop(self.expr(expr))),
                KeyValues(pairs) => pairs.iter().for_each(|(_, value)| drop(self.expr(value))),
            }
        }
    }

    /// A type as written.
    pub(super) fn ty(&mut self, ty: &Type) -> Ty {
        let sized = |builder: &mut Self, expr| {
            builder.expr(expr);
            builder.size(expr)
        };
        match &ty.kind {
            TypeKind::Void => Ty::Plain("void"),
            TypeKind::Bool => Ty::Plain("bool"),
            TypeKind::Error => Ty::Error,
            TypeKind::MatchKind => Ty::Plain("match_kind"),
            TypeKind::String => Ty::Plain("string"),
            TypeKind::Integer => Ty::Plain("int"),
            TypeKind::Bit(None) => Ty::Bit(Some(1)),
            TypeKind::Bit(Some(width)) => Ty::Bit(sized(self, width)),
            TypeKind::Int(width) => Ty::Int(sized(self, width)),
            TypeKind::Varbit(width) => Ty::Varbit(sized(self, width)),
            TypeKind::Named(path) => {
                let found = self.resolve(&path.name, path.absolute);
                found.map_or(Ty::Unknown, |id| Ty::Named(id, Vec::new()))
            }
            TypeKind::Specialized(path, args) => {
                let found = self.resolve(&path.name, path.absolute);
                let args = args.iter().map(|arg| self.ty(arg)).collect();
                found.map_or(Ty::Unknown, |id| Ty::Named(id, args))
            }
            TypeKind::Stack(elem, size) => {
                let elem = self.ty(elem);
                Ty::Stack(Box::new(elem), sized(self, size))
            }
            TypeKind::Tuple(items) => Ty::Tuple(items.iter().map(|item| self.ty(item)).collect()),
            TypeKind::List(elem) => Ty::List(Box::new(self.ty(elem))),
            TypeKind::DontCare => Ty::Unknown,
        }
    }
}
