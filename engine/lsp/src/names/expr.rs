//! The walk over expressions: what their names stand for, and their types.

use super::build::Builder;
use super::{DefId, DefKind, Ty};
use p4cc_syntax::ast::{Argument, BinaryOp, Expr, ExprKind, Ident, UnaryOp};

impl Builder {
    /// Walks an expression; its type.
    pub(super) fn expr(&mut self, expr: &Expr) -> Ty {
        self.expr_as(expr, &Ty::Unknown)
    }

    /// Walks an expression where a value of a type is wanted: the names of a structure's fields are those of
    /// its type.
    pub(super) fn expr_as(&mut self, expr: &Expr, wanted: &Ty) -> Ty {
        match &expr.kind {
            ExprKind::Bool(_) => Ty::Plain("bool"),
            ExprKind::Int(literal) => match literal.width {
                Some((width, true)) => Ty::Int(Some(width)),
                Some((width, false)) => Ty::Bit(Some(width)),
                None => Ty::Plain("int"),
            },
            ExprKind::String(_) => Ty::Plain("string"),
            ExprKind::Path(path) => {
                let found = self.resolve(&path.name, path.absolute);
                found.map_or(Ty::Unknown, |id| self.names.value_type(id))
            }
            ExprKind::This
            | ExprKind::Dots
            | ExprKind::InvalidHeader
            | ExprKind::DontCare
            | ExprKind::Default => Ty::Unknown,
            ExprKind::List(items) | ExprKind::Tuple(items) => self.list(items, wanted),
            ExprKind::Struct { fields, .. } => {
                for (name, value) in fields {
                    let ty = self.field(wanted, name);
                    self.expr_as(value, &ty);
                }
                wanted.clone()
            }
            ExprKind::Mask(a, b) | ExprKind::Range(a, b) => {
                let ty = self.expr_as(a, wanted);
                self.expr_as(b, wanted);
                ty
            }
            ExprKind::Unary(UnaryOp::Not, a) => {
                self.expr(a);
                Ty::Plain("bool")
            }
            ExprKind::Unary(_, a) => self.expr_as(a, wanted),
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b),
            ExprKind::Conditional(cond, a, b) => self.conditional([cond, a, b], wanted),
            ExprKind::Cast(ty, a) => {
                let ty = self.ty(ty);
                self.expr_as(a, &ty);
                ty
            }
            ExprKind::Index(base, index) => self.element(base, index),
            ExprKind::Slice(base, high, low) => {
                [base, high, low].into_iter().for_each(|part| drop(self.expr(part)));
                let width = self.size(high).zip(self.size(low));
                Ty::Bit(width.and_then(|(high, low)| high.checked_sub(low)?.checked_add(1)))
            }
            ExprKind::PlusSlice(base, low, width) => {
                [base, low, width].into_iter().for_each(|part| drop(self.expr(part)));
                Ty::Bit(self.size(width))
            }
            ExprKind::Member(base, name) => {
                let base = self.expr(base);
                self.member_of(&base, name)
            }
            ExprKind::TypeMember(ty, name) => {
                let ty = Ty::TypeName(Box::new(self.ty(ty)));
                self.member_of(&ty, name)
            }
            ExprKind::Call { callee, type_args, args } => {
                type_args.iter().for_each(|ty| drop(self.ty(ty)));
                self.call(callee, args)
            }
            ExprKind::Construct { ty, args } => {
                let ty = self.ty(ty);
                self.constructor_args(&ty, args);
                ty
            }
        }
    }

    fn list(&mut self, items: &[Expr], wanted: &Ty) -> Ty {
        let fields = self.field_types(wanted, items.len());
        let unknown = Ty::Unknown;
        let types = items.iter().enumerate();
        let types = types.map(|(at, item)| self.expr_as(item, fields.get(at).unwrap_or(&unknown)));
        Ty::Tuple(types.collect())
    }

    fn conditional(&mut self, [cond, a, b]: [&Expr; 3], wanted: &Ty) -> Ty {
        self.expr(cond);
        let (a, b) = (self.expr_as(a, wanted), self.expr_as(b, wanted));
        if matches!(a, Ty::Unknown | Ty::Plain("int")) { b } else { a }
    }

    fn element(&mut self, base: &Expr, index: &Expr) -> Ty {
        self.expr(index);
        let base = self.expr(base);
        match self.names.target(&base) {
            Ty::Stack(elem, _) => (**elem).clone(),
            Ty::Tuple(items) => {
                let at = self.size(index).and_then(|at| items.get(at as usize));
                at.cloned().unwrap_or_default()
            }
            _ => Ty::Unknown,
        }
    }

    fn binary(&mut self, op: BinaryOp, a: &Expr, b: &Expr) -> Ty {
        use BinaryOp::{And, Concat, Eq, Ge, Gt, Le, Lt, Ne, Or, Shl, Shr};
        let a = self.expr(a);
        // A structure is compared with one of its own type.
        let b = self.expr_as(b, if matches!(op, Eq | Ne) { &a } else { &Ty::Unknown });
        match op {
            Lt | Le | Gt | Ge | Eq | Ne | And | Or => Ty::Plain("bool"),
            Shl | Shr => a,
            Concat => match (self.names.width(&a), self.names.width(&b)) {
                (Some(a), Some(b)) => Ty::Bit(u32::try_from(a.saturating_add(b)).ok()),
                _ => Ty::Bit(None),
            },
            _ if matches!(a, Ty::Unknown | Ty::Plain("int")) => b,
            _ => a,
        }
    }

    fn member_of(&mut self, base: &Ty, name: &Ident) -> Ty {
        if let Some(member) = self.names.member(base, &name.name) {
            self.used(name, member);
        }
        self.names.member_type(base, &name.name)
    }

    /// A field by its name in a structure of a type.
    fn field(&mut self, wanted: &Ty, name: &Ident) -> Ty {
        let is_field = |id: &DefId| self.names.def(*id).kind == DefKind::Field;
        match self.names.member(wanted, &name.name).filter(is_field) {
            Some(field) => {
                self.used(name, field);
                self.names.member_type(wanted, &name.name)
            }
            None => Ty::Unknown,
        }
    }

    /// Types of the first fields of a struct or header, or of the first parts of a tuple.
    fn field_types(&self, wanted: &Ty, count: usize) -> Vec<Ty> {
        match self.names.target(wanted) {
            Ty::Tuple(items) => items.iter().take(count).cloned().collect(),
            Ty::Stack(elem, _) => vec![(**elem).clone(); count],
            Ty::Named(id, args) => {
                let children = self.names.def(*id).children.iter().map(|child| self.names.def(*child));
                let fields = children.filter(|def| def.kind == DefKind::Field);
                fields.take(count).map(|def| self.names.fill(&def.ty, *id, args)).collect()
            }
            _ => Vec::new(),
        }
    }

    fn call(&mut self, callee: &Expr, args: &[Argument]) -> Ty {
        match &callee.kind {
            ExprKind::Path(path) => {
                let found = self.resolve(&path.name, path.absolute);
                self.args(args, found);
                match found.map(|id| (id, self.names.def(id))) {
                    Some((id, def)) if def.kind.is_type() => Ty::Named(id, Vec::new()),
                    Some((_, def)) if def.kind == DefKind::Function => def.ty.clone(),
                    _ => Ty::Unknown,
                }
            }
            ExprKind::Member(base, name) => {
                let base = self.expr(base);
                self.method(&base, name, args)
            }
            ExprKind::TypeMember(ty, name) => {
                let ty = Ty::TypeName(Box::new(self.ty(ty)));
                self.method(&ty, name, args)
            }
            _ => {
                self.expr(callee);
                self.args(args, None);
                Ty::Unknown
            }
        }
    }

    fn method(&mut self, base: &Ty, name: &Ident, args: &[Argument]) -> Ty {
        let mut callee = self.names.member(base, &name.name);
        if let Some(method) = callee {
            self.used(name, method);
        } else if name.name == "apply" {
            callee = self.names.holder(base).map(|(id, _)| id);
        }
        self.args(args, callee);
        self.names.call_type(base, &name.name)
    }

    /// Arguments of a call, whose names are those of the parameters.
    pub(super) fn args(&mut self, args: &[Argument], callee: Option<DefId>) {
        let params: Vec<DefId> = callee.map_or_else(Vec::new, |callee| {
            let children = self.names.def(callee).children.iter().copied();
            let params = children.filter(|id| matches!(self.names.def(*id).kind, DefKind::Param(_)));
            params.take(args.len()).collect()
        });
        for (at, arg) in args.iter().enumerate() {
            let param = match &arg.name {
                Some(name) => callee.and_then(|callee| self.names.part(callee, &name.name)),
                None => params.get(at).copied(),
            };
            if let (Some(name), Some(id)) = (&arg.name, param) {
                self.used(name, id);
            }
            let ty = param.map_or(Ty::Unknown, |id| self.names.def(id).ty.clone());
            self.expr_as(&arg.value, &ty);
        }
    }

    pub(super) fn constructor_args(&mut self, ty: &Ty, args: &[Argument]) {
        let of_type = self.names.holder(ty).map(|(id, _)| id);
        // Of several constructors of an extern that which takes so many arguments is meant.
        let constructor = of_type.and_then(|id| {
            let children = self.names.def(id).children.iter().copied();
            let mut made = children.filter(|child| self.names.def(*child).kind == DefKind::Constructor);
            made.find(|child| self.names.params(*child).count() == args.len())
        });
        let is_package = |id: &DefId| self.names.def(*id).kind == DefKind::Package;
        self.args(args, constructor.or(of_type.filter(is_package)));
    }

    /// Keysets of a line of a `select` or of an entry, for keys of some types.
    pub(super) fn keyset(&mut self, keyset: &Expr, types: &[Ty]) {
        let unknown = Ty::Unknown;
        match &keyset.kind {
            ExprKind::Tuple(items) => {
                for (at, item) in items.iter().enumerate() {
                    self.expr_as(item, types.get(at).unwrap_or(&unknown));
                }
            }
            _ => drop(self.expr_as(keyset, types.first().unwrap_or(&unknown))),
        }
    }
}
