//! Member access: fields, stack properties, enum and error members, results of `apply()`.

use super::Checker;
use super::CodeContext;
use super::expr::fold_field;
use super::hir::{Callee, Expr, ExprKind};
use super::scope::{Symbol, TypeSymbol};
use super::ty::Ty;
use super::value::Value;
use p4cc_syntax::ast::{self, ExprKind as Ast, Ident, Type, TypeKind};
use p4cc_syntax::closest;
use p4cc_syntax::{Diagnostic, Span};

impl Checker {
    pub(super) fn member(&mut self, base: &ast::Expr, name: &Ident, span: Span) -> Expr {
        if let Ast::Path(path) = &base.kind
            && let Some(entry) = self.scopes.get(&path.name.name, path.absolute)
            && let Symbol::Type(symbol) = &entry.symbol
        {
            let ty = match symbol {
                TypeSymbol::Plain(ty) => ty.clone(),
                _ => Ty::Void,
            };
            return self.member_of_type(&ty, name, span);
        }
        let base = self.expr(base);
        self.member_of(base, name, span)
    }

    fn member_of(&mut self, base: Expr, name: &Ident, span: Span) -> Expr {
        match &base.ty {
            Ty::Unknown => Self::poison(span),
            Ty::ApplyResult(table) => {
                let table = *table;
                let applied =
                    matches!(&base.kind, ExprKind::Call(call) if matches!(call.callee, Callee::Table(_)));
                match name.name.as_str() {
                    "hit" | "miss" if applied => {
                        let negated = name.name == "miss";
                        Expr { kind: ExprKind::Hit { table, negated }, ty: Ty::Bool, span }
                    }
                    "action_run" if applied => {
                        Expr { kind: ExprKind::ActionRun(table), ty: Ty::ActionRun(table), span }
                    }
                    _ => self.no_member(
                        &Ty::ApplyResult(table),
                        name,
                        ["hit", "miss", "action_run"].into_iter(),
                    ),
                }
            }
            Ty::Aggregate(_) => {
                let fields = self.hir.fields(&base.ty).len();
                if self.charge_scan(fields, span).is_none() {
                    return Self::poison(span);
                }
                let fields = self.hir.fields(&base.ty);
                match fields.iter().position(|field| field.name == name.name) {
                    Some(at) => {
                        let ty = fields.get(at).map_or(Ty::Unknown, |field| field.ty.clone());
                        fold_field(base, at, ty, span)
                    }
                    None => self.no_field(&base.ty.clone(), name),
                }
            }
            Ty::Stack(elem, size) => {
                let (elem, size) = ((**elem).clone(), *size);
                self.stack_member(base, elem, size, name, span)
            }
            other => {
                let other = other.clone();
                self.no_member(&other, name, std::iter::empty())
            }
        }
    }

    fn stack_member(&mut self, base: Expr, elem: Ty, size: u32, name: &Ident, span: Span) -> Expr {
        let parser_only = matches!(name.name.as_str(), "next" | "last" | "lastIndex");
        if parser_only && !self.hir.is_stack(&base.ty) {
            return self.poison_error(span, format!("`{}` can be used only on header stacks", name.name));
        }
        if parser_only && self.place != CodeContext::Parser {
            return self
                .poison_error(span, format!("`{}` of a stack can be used only in a parser", name.name));
        }
        let base = Box::new(base);
        match name.name.as_str() {
            "next" => Expr { kind: ExprKind::StackNext(base), ty: elem, span },
            "last" => Expr { kind: ExprKind::StackLast(base), ty: elem, span },
            "lastIndex" => Expr { kind: ExprKind::StackLastIndex(base), ty: Ty::Bit(32), span },
            "size" => Expr { kind: ExprKind::Const(Value::Int(size.into())), ty: Ty::Bit(32), span },
            _ => {
                let names = ["next", "last", "lastIndex", "size"].into_iter();
                self.no_member(&base.ty.clone(), name, names)
            }
        }
    }

    fn no_field(&mut self, ty: &Ty, name: &Ident) -> Expr {
        if matches!(name.name.as_str(), "isValid" | "setValid" | "setInvalid" | "minSizeInBits") {
            return self.poison_error(name.span, format!("`{}` is a method; call it with `()`", name.name));
        }
        let names: Vec<String> = self.hir.fields(ty).iter().map(|field| field.name.clone()).collect();
        self.no_member(ty, name, names.iter().map(String::as_str))
    }

    fn no_member<'a>(&mut self, ty: &Ty, name: &Ident, names: impl Iterator<Item = &'a str>) -> Expr {
        let shown = self.hir.show(ty);
        let mut diagnostic = Diagnostic::error(name.span, format!("`{shown}` has no member `{}`", name.name))
            .with_label("not found");
        if let Some(near) = closest(&name.name, names) {
            diagnostic = diagnostic.with_help(format!("did you mean `{near}`?"));
        }
        self.push(diagnostic);
        Self::poison(name.span)
    }

    pub(super) fn type_member(&mut self, ty: &Type, name: &Ident, span: Span) -> Expr {
        // Only types without parameters have members; resolving others would ask for arguments first.
        if let TypeKind::Named(path) = &ty.kind
            && let Some(entry) = self.scopes.get(&path.name.name, path.absolute)
            && !matches!(entry.symbol, Symbol::Type(TypeSymbol::Plain(_)))
        {
            return self.poison_error(span, format!("`{}` has no member `{}`", path.name.name, name.name));
        }
        let ty = self.resolve_type(ty);
        self.member_of_type(&ty, name, span)
    }

    fn member_of_type(&mut self, ty: &Ty, name: &Ident, span: Span) -> Expr {
        match ty {
            Ty::Unknown => Self::poison(span),
            Ty::Error => match self.error_names.get(&name.name) {
                Some(at) => Expr { kind: ExprKind::Const(Value::Error(*at)), ty: Ty::Error, span },
                None => {
                    let names = self.hir.errors.clone();
                    self.no_member(ty, name, names.iter().map(String::as_str))
                }
            },
            Ty::Enum(id) => {
                let members = self.hir.enums.get(id.index()).map_or(0, |def| def.members.len());
                if self.charge_scan(members, span).is_none() {
                    return Self::poison(span);
                }
                let Some(def) = self.hir.enums.get(id.index()) else { return Self::poison(span) };
                match def.members.iter().position(|(member, _)| *member == name.name) {
                    Some(at) => {
                        let value = match (&def.underlying, def.members.get(at)) {
                            (Some(_), Some((_, value))) => Value::Int(value.clone()),
                            _ => Value::Enum(at as u32),
                        };
                        Expr { kind: ExprKind::Const(value), ty: ty.clone(), span }
                    }
                    None => {
                        let names: Vec<String> =
                            def.members.iter().map(|(member, _)| member.clone()).collect();
                        self.no_member(ty, name, names.iter().map(String::as_str))
                    }
                }
            }
            Ty::MatchKind if self.match_kinds.contains(&name.name) => {
                Expr { kind: ExprKind::Const(Value::MatchKind(name.name.clone())), ty: Ty::MatchKind, span }
            }
            _ => {
                let shown = self.hir.show(ty);
                self.poison_error(span, format!("type `{shown}` has no member `{}`", name.name))
            }
        }
    }
}
