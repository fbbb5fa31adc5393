//! Types as written: names, widths, type arguments.

use super::hir::{Aggregate, Expr, ExprKind, Field};
use super::ids::AggId;
use super::scope::{Symbol, TypeSymbol};
use super::ty::{BlockType, Substitution, Ty};
use super::value::Value;
use super::{Checker, hir};
use num_traits::ToPrimitive;
use p4cc_budget::Resource;
use p4cc_ir::limits::{MAX_STACK, MAX_VARBIT, MAX_WIDTH};
use p4cc_syntax::ast::{self, AggregateKind, DeclKind, Path, Type, TypeKind};
use p4cc_syntax::{Diagnostic, Span};
use std::collections::BTreeMap;
use std::rc::Rc;

impl Checker {
    /// The type that a type expression stands for.
    pub(super) fn resolve_type(&mut self, ty: &Type) -> Ty {
        self.nested(ty.span, |this| this.resolve_type_inner(ty)).unwrap_or(Ty::Unknown)
    }

    fn resolve_type_inner(&mut self, ty: &Type) -> Ty {
        match &ty.kind {
            TypeKind::Void => Ty::Void,
            TypeKind::Bool => Ty::Bool,
            TypeKind::Error => Ty::Error,
            TypeKind::MatchKind => Ty::MatchKind,
            TypeKind::String => Ty::String,
            TypeKind::Integer => Ty::Integer,
            TypeKind::Bit(None) => Ty::Bit(1),
            TypeKind::Bit(Some(width)) => self.width(width, 0).map_or(Ty::Unknown, Ty::Bit),
            TypeKind::Int(width) => self.width(width, 1).map_or(Ty::Unknown, Ty::Int),
            TypeKind::Varbit(width) => {
                self.number(width, "width of a varbit", 0, MAX_VARBIT).map_or(Ty::Unknown, Ty::Varbit)
            }
            TypeKind::Named(path) => self.named_type(path, &[], ty.span),
            TypeKind::Specialized(path, args) => {
                let told = self.check_own_argument(path, args);
                let args: Vec<Ty> = args.iter().map(|arg| self.resolve_type(arg)).collect();
                if !told {
                    self.check_own_type(path, &args, ty.span);
                }
                let made = self.named_type(path, &args, ty.span);
                self.sized(made, ty.span)
            }
            TypeKind::Stack(elem, size) => {
                let made = self.stack_type(elem, size);
                self.sized(made, ty.span)
            }
            TypeKind::Tuple(items) => {
                let part = |item| {
                    let ty = self.resolve_type(item);
                    self.tuple_part(item, ty)
                };
                let made = Ty::Tuple(items.iter().map(part).collect());
                self.sized(made, ty.span)
            }
            TypeKind::List(elem) => {
                let made = Ty::List(Rc::new(self.resolve_type(elem)));
                self.sized(made, ty.span)
            }
            TypeKind::DontCare => Ty::DontCare,
        }
    }

    fn stack_type(&mut self, elem: &Type, size: &ast::Expr) -> Ty {
        let elem_ty = self.resolve_type(elem);
        let headers = self.hir.is_header(&elem_ty) || self.hir.is_union(&elem_ty);
        let what = if headers { "size of a header stack" } else { "size of an array" };
        let Some(size) = self.number(size, what, 1, MAX_STACK) else {
            return Ty::Unknown;
        };
        if elem_ty == Ty::Unknown {
            return Ty::Unknown;
        }
        if !headers && !self.may_be_element(&elem_ty) {
            let shown = self.hir.show(&elem_ty);
            self.push(
                Diagnostic::error(elem.span, format!("an array cannot hold values of type `{shown}`"))
                    .with_help(
                        "it can hold headers, numbers, booleans, enums, structs, tuples and arrays of these",
                    ),
            );
            return Ty::Unknown;
        }
        Ty::Stack(Rc::new(elem_ty), size)
    }

    /// Whether an array may hold values of a type. Stacks of stacks are none (P4-16 7.2.4).
    fn may_be_element(&self, ty: &Ty) -> bool {
        match self.hir.underlying(ty) {
            Ty::Bit(_) | Ty::Int(_) | Ty::Bool | Ty::Enum(_) | Ty::Error | Ty::Tuple(_) => true,
            Ty::Stack(elem, _) => self.may_be_element(elem),
            Ty::Aggregate(_) => self.hir.is_struct(ty),
            _ => false,
        }
    }

    fn width(&mut self, expr: &ast::Expr, least: u32) -> Option<u32> {
        self.number(expr, "width", least, MAX_WIDTH)
    }

    /// A compile-time number in a range.
    pub(super) fn number(&mut self, expr: &ast::Expr, what: &str, least: u32, most: u32) -> Option<u32> {
        let checked = self.expr(expr);
        self.number_of(&checked, what, least, most)
    }

    /// The number that a checked expression stands for, in a range.
    pub(super) fn number_of(&mut self, checked: &Expr, what: &str, least: u32, most: u32) -> Option<u32> {
        match &checked.kind {
            ExprKind::Poison => None,
            ExprKind::Const(Value::Int(value)) => {
                let number = value.to_u32().filter(|n| (least..=most).contains(n));
                if number.is_none() {
                    self.error(
                        checked.span,
                        format!("the {what} is {value}; it must lie in {least} to {most}"),
                    );
                }
                number
            }
            _ => {
                self.push(
                    Diagnostic::error(checked.span, format!("the {what} must be a compile-time number"))
                        .with_label("not known at compile time"),
                );
                None
            }
        }
    }

    fn named_type(&mut self, path: &Path, args: &[Ty], span: Span) -> Ty {
        let Some(entry) = self.scopes.get(&path.name.name, path.absolute) else {
            self.undeclared("type", &path.name);
            return Ty::Unknown;
        };
        let Symbol::Type(symbol) = entry.symbol.clone() else {
            let declared = entry.span;
            self.push(
                Diagnostic::error(span, format!("`{}` is not a type", path.name.name))
                    .with_related(declared, "declared here"),
            );
            return Ty::Unknown;
        };
        self.type_of_symbol(&symbol, args, span)
    }

    /// The type that a symbol with type arguments stands for.
    pub(super) fn type_of_symbol(&mut self, symbol: &TypeSymbol, args: &[Ty], span: Span) -> Ty {
        match symbol {
            TypeSymbol::Plain(ty) => {
                if self.type_args_fit(0, args, span) {
                    ty.clone()
                } else {
                    Ty::Unknown
                }
            }
            TypeSymbol::Generic(index) => self.generic_aggregate(*index, args, span),
            TypeSymbol::Extern(id) => {
                let wanted = self.hir.externs.get(id.index()).map_or(0, |ext| ext.type_vars.len());
                if !self.type_args_fit(wanted, args, span) || !self.check_self_argument(*id, args, span) {
                    return Ty::Unknown;
                }
                Ty::Extern(*id, args.into())
            }
            TypeSymbol::Block(index) => self.block_type(*index, args, span),
            TypeSymbol::Control(id) => {
                let sig = self.control_sigs.get(id.index()).map(|sigs| &sigs.apply);
                let name = self.hir.controls.get(id.index()).map(|control| control.name.clone());
                block_type(false, name, sig)
            }
            TypeSymbol::Parser(id) => {
                let sig = self.parser_sigs.get(id.index()).map(|sigs| &sigs.apply);
                let name = self.hir.parsers.get(id.index()).map(|parser| parser.name.clone());
                block_type(true, name, sig)
            }
            TypeSymbol::GenericBlock(index) => match self.block_of(*index, args, span) {
                Some(made) => self.type_of_symbol(&made.symbol(), &[], span),
                None => Ty::Unknown,
            },
            TypeSymbol::Package(index) => {
                let name = self.packages.get(*index).map_or("", |sig| sig.name.as_str());
                Ty::Package(name.into())
            }
        }
    }

    pub(super) fn type_args_fit(&mut self, wanted: usize, args: &[Ty], span: Span) -> bool {
        if args.len() != wanted {
            self.error(span, format!("the type takes {wanted} type arguments, but {} are given", args.len()));
        }
        args.len() == wanted
    }

    fn block_type(&mut self, index: usize, args: &[Ty], span: Span) -> Ty {
        let Some(block) = self.blocks.get(index) else { return Ty::Unknown };
        let (is_parser, sig) = (block.is_parser, block.sig.clone());
        if !self.type_args_fit(sig.type_vars.len(), args, span) {
            return Ty::Unknown;
        }
        let with: Substitution = sig.type_vars.iter().copied().zip(args.iter().cloned()).collect();
        let mut sig = sig;
        for param in &mut sig.params {
            param.ty = self.fill(&param.ty, &with, span);
        }
        block_type(is_parser, Some(sig.name.clone()), Some(&sig))
    }

    /// Puts types in place of type variables, in generic structs too.
    pub(super) fn fill(&mut self, ty: &Ty, with: &Substitution, span: Span) -> Ty {
        if !ty.has_vars() {
            return ty.clone();
        }
        let made = ty.subst(with);
        let made = self.sized(made, span);
        self.close(&made)
    }

    /// Generic structs whose type arguments are known by now become types.
    fn close(&mut self, ty: &Ty) -> Ty {
        match ty {
            Ty::Open(index, args) => {
                let args: Vec<Ty> = args.iter().map(|arg| self.close(arg)).collect();
                self.generic_aggregate(*index, &args, Span::default())
            }
            Ty::Stack(elem, size) => Ty::Stack(Rc::new(self.close(elem)), *size),
            Ty::List(elem) => Ty::List(Rc::new(self.close(elem))),
            Ty::Tuple(items) => Ty::Tuple(items.iter().map(|item| self.close(item)).collect()),
            Ty::Extern(id, args) => Ty::Extern(*id, args.iter().map(|arg| self.close(arg)).collect()),
            Ty::Block(block) => {
                let mut block = (**block).clone();
                for (_, ty) in &mut block.params {
                    *ty = self.close(ty);
                }
                Ty::Block(Rc::new(block))
            }
            other => other.clone(),
        }
    }

    /// Fills the type parameters of a generic struct, header or union.
    pub(super) fn generic_aggregate(&mut self, index: usize, args: &[Ty], span: Span) -> Ty {
        let Some(generic) = self.generics.get(index) else { return Ty::Unknown };
        if let Some(ty) = generic.made.get(args) {
            return ty.clone();
        }
        let decl = generic.decl.clone();
        let DeclKind::Aggregate { kind, name, type_params, fields } = &decl.kind else { return Ty::Unknown };
        if !self.type_args_fit(type_params.len(), args, span) {
            return Ty::Unknown;
        }
        if !args.iter().all(|arg| self.check_field_argument(span, arg)) {
            return Ty::Unknown;
        }
        if args.iter().any(Ty::has_vars) {
            return Ty::Open(index, args.into());
        }
        if self.charge(Resource::Instantiations, 1, span).is_none() {
            return Ty::Unknown;
        }
        let hidden = self.scopes.hide_locals();
        self.scopes.push();
        for (param, arg) in type_params.iter().zip(args) {
            self.declare(param, Symbol::Type(TypeSymbol::Plain(arg.clone())));
        }
        let shown: Vec<String> = args.iter().map(|arg| self.hir.show(arg)).collect();
        let shown = format!("{}<{}>", name.name, shown.join(", "));
        let ty = self.aggregate(*kind, (shown, args), name.span, fields, &decl.annotations);
        self.scopes.pop();
        self.scopes.restore(hidden);
        if let Some(generic) = self.generics.get_mut(index) {
            generic.made.insert(args.to_vec(), ty.clone());
        }
        ty
    }

    /// A generic struct, header or union that is written as a type argument of itself.
    fn check_own_argument(&mut self, path: &Path, args: &[Type]) -> bool {
        let own = |arg: &Type| matches!(&arg.kind, TypeKind::Specialized(inner, _) if inner.name.name == path.name.name);
        let entry = self.scopes.get(&path.name.name, path.absolute);
        let generic = entry.is_some_and(|entry| matches!(entry.symbol, Symbol::Type(TypeSymbol::Generic(_))));
        let found = args.iter().find(|arg| own(arg)).filter(|_| generic);
        if let Some(arg) = found {
            self.error(arg.span, format!("`{}` has itself as a type argument", path.name.name));
        }
        found.is_some()
    }

    /// The same where a name stands for the argument: `typedef S<bit> T;`, `S<T>`.
    fn check_own_type(&mut self, path: &Path, args: &[Ty], span: Span) {
        // `S<T>` may be made for any `T` in a body that has it as a parameter.
        if self.generic_depth > 0 {
            return;
        }
        let entry = self.scopes.get(&path.name.name, path.absolute);
        let Some(Symbol::Type(TypeSymbol::Generic(index))) = entry.map(|entry| &entry.symbol) else { return };
        let Some(generic) = self.generics.get(*index) else { return };
        if args.iter().any(|arg| generic.made.values().any(|made| made == arg && *made != Ty::Unknown)) {
            self.error(span, format!("`{}` has itself as a type argument", path.name.name));
        }
    }

    /// Makes a struct, header or union type from its name, type arguments and fields.
    pub(super) fn aggregate(
        &mut self,
        kind: AggregateKind,
        (name, type_args): (String, &[Ty]),
        span: Span,
        fields: &[ast::Field],
        annotations: &[ast::Annotation],
    ) -> Ty {
        let mut made: Vec<Field> = Vec::with_capacity(fields.len());
        let mut names: BTreeMap<&str, &ast::Field> = BTreeMap::new();
        for field in fields {
            let first = names.entry(&field.name.name).or_insert(field);
            if first.name.span != field.name.span {
                self.push(
                    Diagnostic::error(
                        field.name.span,
                        format!("field `{}` is declared twice", field.name.name),
                    )
                    .with_related(first.name.span, "first declared here"),
                );
                continue;
            }
            let ty = self.resolve_type(&field.ty);
            let ty = self.field_type(kind, ty, field);
            let annotations = self.annotations(&field.annotations);
            made.push(Field { name: field.name.name.clone(), ty, annotations });
        }
        let Some(size) = self.aggregate_size(&name, type_args, &made, span) else { return Ty::Unknown };
        if kind == AggregateKind::Header {
            let mut varbits = fields.iter().filter(|field| matches!(field.ty.kind, TypeKind::Varbit(_)));
            self.check_header(&name, span, varbits.nth(1).map(|field| field.name.span), &made);
        }
        let annotations = self.annotations(annotations);
        let id = AggId::from_index(self.hir.aggregates.len());
        self.aggregate_names.insert(name.clone(), id);
        self.aggregate_sizes.push(size);
        self.hir.aggregates.push(Aggregate { kind, name, fields: made, annotations, span });
        Ty::Aggregate(id)
    }

    fn field_type(&mut self, kind: AggregateKind, ty: Ty, field: &ast::Field) -> Ty {
        let allowed = match kind {
            AggregateKind::Header => match self.hir.underlying(&ty) {
                Ty::Bit(_) | Ty::Int(_) | Ty::Varbit(_) | Ty::Bool | Ty::Unknown => true,
                Ty::Aggregate(_) | Ty::Stack(..) => self.may_lie_in_header(&ty),
                _ => false,
            },
            AggregateKind::HeaderUnion => self.hir.is_header(&ty) || ty == Ty::Unknown,
            AggregateKind::Struct => !matches!(
                ty,
                Ty::Void
                    | Ty::MatchKind
                    | Ty::String
                    | Ty::Integer
                    | Ty::Extern(..)
                    | Ty::Block(_)
                    | Ty::Package(_)
            ),
        };
        if allowed {
            return ty;
        }
        let holder = match kind {
            AggregateKind::Header => "a header",
            AggregateKind::HeaderUnion => "a header union",
            AggregateKind::Struct => "a struct",
        };
        let shown = self.hir.show(&ty);
        self.error(field.ty.span, format!("{holder} cannot have a field of type `{shown}`"));
        Ty::Unknown
    }

    /// Whether a type holds only what a header may hold too, and nothing of variable size (P4-16 7.2.2).
    fn may_lie_in_header(&self, ty: &Ty) -> bool {
        match self.hir.underlying(ty) {
            Ty::Bit(_) | Ty::Int(_) | Ty::Bool | Ty::Unknown => true,
            Ty::Stack(elem, _) => self.may_lie_in_header(elem),
            Ty::Aggregate(_) if self.hir.is_struct(ty) => {
                self.hir.fields(ty).iter().all(|field| self.may_lie_in_header(&field.ty))
            }
            _ => false,
        }
    }

    fn check_header(&mut self, name: &str, span: Span, second_varbit: Option<Span>, fields: &[Field]) {
        let varbits = fields.iter().filter(|field| matches!(field.ty, Ty::Varbit(_))).count();
        if varbits > 1 {
            let place = second_varbit.unwrap_or(span);
            self.error(place, format!("header `{name}` has {varbits} varbit fields; at most one is allowed"));
        }
        let bits: u64 =
            fields.iter().map(|field| u64::from(self.hir.width_bits(&field.ty).unwrap_or(0))).sum();
        let known = fields.iter().all(|field| field.ty != Ty::Unknown);
        if known && !bits.is_multiple_of(8) {
            self.warning(
                span,
                "mismatch",
                format!("header `{name}` is {bits} bits wide, which is not a whole number of bytes"),
            );
        }
    }
}

fn block_type(is_parser: bool, name: Option<String>, sig: Option<&hir::Sig>) -> Ty {
    match (name, sig) {
        (Some(name), Some(sig)) => Ty::Block(Rc::new(BlockType {
            is_parser,
            name,
            params: signature_params(sig),
            param_names: sig.params.iter().map(|param| param.name.clone()).collect(),
            least: least_params(sig),
        })),
        _ => Ty::Unknown,
    }
}

/// Parameters, from the first on, that are not `@optional`.
pub(super) fn least_params(sig: &hir::Sig) -> usize {
    sig.params.iter().rposition(|param| !param.optional && param.default.is_none()).map_or(0, |last| last + 1)
}

/// Directions and types of a signature's parameters.
pub(super) fn signature_params(sig: &hir::Sig) -> Vec<(ast::Direction, Ty)> {
    sig.params.iter().map(|param| (param.direction, param.ty.clone())).collect()
}
