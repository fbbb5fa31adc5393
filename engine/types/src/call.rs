//! Calls: functions, actions, methods, `apply`.

use super::arguments::Bound;
use super::hir::{Builtin, Call, Callee, Construct, Expr, ExprKind, Instance, Sig, SigParam};
use super::ids::InstId;
use super::order::Order;
use super::scope::{FnSymbol, Symbol};
use super::ty::{Substitution, Ty};
use super::value::Value;
use super::{Checker, CodeContext};
use num_bigint::BigInt;
use p4cc_budget::Resource;
use p4cc_syntax::ast::{self, Argument, Direction, ExprKind as Ast, Ident, Path, Type, TypeKind};
use p4cc_syntax::closest;
use p4cc_syntax::{Diagnostic, Span};

/// What a look at a signature takes of the budget: it is copied and compared.
const STEPS_A_SIGNATURE: u64 = 250;

impl Checker {
    pub(super) fn call(
        &mut self,
        callee: &ast::Expr,
        type_args: &[Type],
        args: &[Argument],
        span: Span,
    ) -> Expr {
        match &callee.kind {
            Ast::Path(path) => self.call_path(path, type_args, args, span),
            Ast::Member(base, name) => self.call_member(base, name, type_args, args, span),
            Ast::TypeMember(ty, name) if name.name == "apply" => self.direct_application(ty, args, span),
            Ast::TypeMember(ty, name) if is_size_method(&name.name) => {
                let ty = self.resolve_type(ty);
                self.size_method(&ty, name, args, span)
            }
            Ast::TypeMember(ty, name) => self.type_method_error(ty, name),
            other => {
                let what = shape_of(other);
                self.push(Diagnostic::error(callee.span, format!("{what} cannot be called")).with_help(
                    "only functions, actions, methods of a value (`hdr.isValid()`) and types can be \
                            called",
                ));
                Self::poison(span)
            }
        }
    }

    /// A method called on a type that has none of that name.
    fn type_method_error(&mut self, ty: &Type, name: &Ident) -> Expr {
        let shown = match &ty.kind {
            TypeKind::Named(path) | TypeKind::Specialized(path, _) => path.name.name.clone(),
            _ => {
                let ty = self.resolve_type(ty);
                self.hir.show(&ty)
            }
        };
        let near = closest(&name.name, SIZE_METHODS.into_iter().chain(["apply"])).map(str::to_owned);
        let help = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => {
                format!("a type has `apply` and {}; other methods belong to values", SIZE_METHODS.join(", "))
            }
        };
        self.push(
            Diagnostic::error(name.span, format!("type `{shown}` has no method `{}`", name.name))
                .with_help(help),
        );
        Self::poison(name.span)
    }

    fn call_path(&mut self, path: &Path, type_args: &[Type], args: &[Argument], span: Span) -> Expr {
        let name = &path.name;
        let Some(entry) = self.scopes.get(&name.name, path.absolute) else {
            self.undeclared("function or action", name);
            return Self::poison(span);
        };
        let declared = entry.span;
        match entry.symbol.clone() {
            Symbol::Functions(symbols) => self.call_function(&symbols, type_args, args, span),
            Symbol::Action(id) => {
                let Some(sig) = self.action_sigs.get(id.index()).cloned() else { return Self::poison(span) };
                if !matches!(self.place, CodeContext::Control | CodeContext::Action) {
                    return self.poison_error(span, "an action can be called only in a control or an action");
                }
                match self.bind(&sig, type_args, args, span) {
                    Some(bound) => call_expr(Callee::Action(id), bound, span),
                    None => Self::poison(span),
                }
            }
            Symbol::Type(_) => {
                let kind = match type_args {
                    [] => TypeKind::Named(path.clone()),
                    _ => TypeKind::Specialized(path.clone(), type_args.to_vec()),
                };
                self.construct_unnamed(&Type { kind, span: name.span }, args, span)
            }
            _ => {
                self.push(
                    Diagnostic::error(span, format!("`{}` cannot be called", name.name))
                        .with_related(declared, "declared here"),
                );
                Self::poison(span)
            }
        }
    }

    fn call_function(
        &mut self,
        symbols: &[FnSymbol],
        type_args: &[Type],
        args: &[Argument],
        span: Span,
    ) -> Expr {
        if self.charge(Resource::Steps, STEPS_A_SIGNATURE * symbols.len() as u64, span).is_none() {
            return Self::poison(span);
        }
        let sigs: Vec<Sig> = symbols
            .iter()
            .filter_map(|symbol| match symbol {
                FnSymbol::Extern(index) => self.extern_functions.get(*index).cloned(),
                FnSymbol::User(id) => self.function_sigs.get(id.index()).cloned(),
                FnSymbol::Generic(index) => self.generic_functions.get(*index).map(|f| f.sig.clone()),
            })
            .collect();
        let Some(sig) = self.overload(&sigs, args, span) else { return Self::poison(span) };
        let chosen = sigs.iter().position(|other| std::ptr::eq(other, sig)).and_then(|at| symbols.get(at));
        let Some(bound) = self.bind(sig, type_args, args, span) else { return Self::poison(span) };
        if !self.no_modules_given(&bound.args) {
            return Self::poison(span);
        }
        match chosen {
            Some(FnSymbol::User(id)) => call_expr(Callee::Function(*id), bound, span),
            Some(FnSymbol::Extern(_)) => self.extern_call(sig, bound, span),
            Some(FnSymbol::Generic(index)) => self.generic_call(*index, sig, bound, span),
            None => Self::poison(span),
        }
    }

    fn generic_call(&mut self, index: usize, sig: &Sig, bound: Bound, span: Span) -> Expr {
        let types: Option<Vec<Ty>> = sig.type_vars.iter().map(|var| bound.types.get(var).cloned()).collect();
        let Some(types) = types else {
            self.push(
                Diagnostic::error(span, format!("a type argument of `{}` cannot be inferred", sig.name))
                    .with_help(format!("write it: `{}<T>(...)`", sig.name)),
            );
            return Self::poison(span);
        };
        match self.function_of(index, &types, span) {
            Some(id) => call_expr(Callee::Function(id), bound, span),
            None => Self::poison(span),
        }
    }

    fn extern_call(&mut self, sig: &Sig, bound: Bound, span: Span) -> Expr {
        if self.require_directionless(sig, &bound).is_none() {
            return Self::poison(span);
        }
        if sig.name == "static_assert" {
            return self.static_assert(&bound, span);
        }
        let type_args =
            sig.type_vars.iter().map(|var| bound.types.get(var).cloned().unwrap_or(Ty::Unknown)).collect();
        let params = sig
            .params
            .iter()
            .map(|param| (param.direction, self.fill(&param.ty, &bound.types, span)))
            .collect();
        call_expr(Callee::Extern { name: sig.name.clone(), type_args, params }, bound, span)
    }

    /// Reports an argument of an extern that is not known where its parameter has no direction.
    fn require_directionless(&mut self, sig: &Sig, bound: &Bound) -> Option<()> {
        for (param, arg) in sig.params.iter().zip(&bound.args) {
            if let Some(arg) = arg
                && param.direction == Direction::None
                // A packet has no value (TNA's `port_metadata_unpack`).
                && !matches!(arg.ty, Ty::Extern(..))
                && !self.is_directionless(arg)
            {
                let name = &param.name;
                let message = format!(
                    "parameter `{name}` has no direction, so its argument must be a compile-time constant"
                );
                self.error(arg.span, message);
                return None;
            }
        }
        Some(())
    }

    fn static_assert(&mut self, bound: &Bound, span: Span) -> Expr {
        let mut args = bound.args.iter().flatten();
        match args.next().map(|arg| &arg.kind) {
            Some(ExprKind::Const(Value::Bool(false))) => {
                let text = match args.next().map(|arg| &arg.kind) {
                    Some(ExprKind::Const(Value::String(text))) => format!("static assertion failed: {text}"),
                    _ => "static assertion failed".to_owned(),
                };
                self.poison_error(span, text)
            }
            Some(ExprKind::Const(_)) => Expr { kind: ExprKind::Const(Value::Bool(true)), ty: Ty::Bool, span },
            // What depends on constructor parameters is known when the instance is made.
            Some(_) => {
                let callee = Callee::Extern {
                    name: "static_assert".to_owned(),
                    type_args: Vec::new(),
                    params: Vec::new(),
                };
                let (args, order) = (bound.args.clone(), bound.order.clone());
                let call = Call { callee, args, order, span };
                Expr { kind: ExprKind::Call(Box::new(call)), ty: Ty::Bool, span }
            }
            None => Self::poison(span),
        }
    }

    fn call_member(
        &mut self,
        base: &ast::Expr,
        name: &Ident,
        type_args: &[Type],
        args: &[Argument],
        span: Span,
    ) -> Expr {
        if let Ast::Path(path) = &base.kind
            && let Some(entry) = self.scopes.get(&path.name.name, path.absolute)
        {
            match entry.symbol.clone() {
                Symbol::Table(id) => return self.apply_table(id, name, args, span),
                Symbol::Type(_) if is_size_method(&name.name) => {
                    let ty =
                        self.resolve_type(&Type { kind: TypeKind::Named(path.clone()), span: base.span });
                    return self.size_method(&ty, name, args, span);
                }
                Symbol::Type(_) if name.name == "apply" => {
                    let ty = Type { kind: TypeKind::Named(path.clone()), span: base.span };
                    return self.direct_application(&ty, args, span);
                }
                Symbol::Instance(id) if name.name == "apply" => {
                    let ty = self.instance_type(id);
                    self.applied(id);
                    let object = Expr { kind: ExprKind::Instance(id), ty, span: base.span };
                    return self.call_object(object, name, type_args, args, span);
                }
                _ => {}
            }
        }
        let object = self.expr(base);
        self.call_object(object, name, type_args, args, span)
    }

    fn call_object(
        &mut self,
        object: Expr,
        name: &Ident,
        type_args: &[Type],
        args: &[Argument],
        span: Span,
    ) -> Expr {
        match object.ty.clone() {
            Ty::Unknown => Self::poison(span),
            Ty::Block(_) => self.apply_block(object, name, args, span),
            Ty::Extern(id, extern_args) => {
                self.call_method(object, id, &extern_args, name, type_args, args, span)
            }
            ty => self.call_builtin(object, &ty, name, args, span),
        }
    }

    fn apply_table(&mut self, id: super::ids::TabId, name: &Ident, args: &[Argument], span: Span) -> Expr {
        if name.name != "apply" {
            let near = closest(&name.name, ["apply"].into_iter());
            let help = if near.is_some() { "did you mean `apply`?" } else { "it has only `apply`" };
            self.push(
                Diagnostic::error(
                    name.span,
                    format!("a table has no method `{}`; it has `apply`", name.name),
                )
                .with_help(help),
            );
            return Self::poison(span);
        }
        if !args.is_empty() {
            return self.poison_error(span, "`apply` of a table takes no arguments");
        }
        if self.place != CodeContext::Control {
            let help = match self.place {
                CodeContext::Action => {
                    "an action cannot apply a table: apply it in `apply { ... }`, before or after the table \
                        that runs this action (`switch (t.apply().action_run)`)"
                }
                _ => "move it into `apply { ... }` of the control that declares the table",
            };
            self.push(
                Diagnostic::error(span, "a table can be applied only in the apply block of its control")
                    .with_help(help),
            );
            return Self::poison(span);
        }
        let call = Call { callee: Callee::Table(id), args: Vec::new(), order: Order::default(), span };
        Expr { kind: ExprKind::Call(Box::new(call)), ty: Ty::ApplyResult(id), span }
    }

    fn apply_block(&mut self, object: Expr, name: &Ident, args: &[Argument], span: Span) -> Expr {
        if name.name != "apply" {
            return self.poison_error(name.span, format!("there is no method `{}`; only `apply`", name.name));
        }
        let Some(sig) = self.apply_sig(&object) else { return Self::poison(span) };
        let Ty::Block(block) = &object.ty else { return Self::poison(span) };
        let wanted = if block.is_parser { CodeContext::Parser } else { CodeContext::Control };
        if self.place != wanted {
            let message = if block.is_parser {
                "a parser can be applied only in a parser state"
            } else {
                "a control can be applied only in the apply block of a control"
            };
            return self.poison_error(span, message);
        }
        match self.bind(&sig, &[], args, span) {
            Some(bound) => call_expr(Callee::Apply(Box::new(object)), bound, span),
            None => Self::poison(span),
        }
    }

    /// Signature of `apply` of a parser or control.
    fn apply_sig(&mut self, object: &Expr) -> Option<Sig> {
        if let ExprKind::Instance(id) = &object.kind {
            let what = &self.hir.instances.get(id.index())?.construct.what;
            return match what {
                super::hir::Constructed::Control(id) => {
                    Some(self.control_sigs.get(id.index())?.apply.clone())
                }
                super::hir::Constructed::Parser(id) => Some(self.parser_sigs.get(id.index())?.apply.clone()),
                _ => None,
            };
        }
        // A constructor parameter: what is known of it is its type.
        let Ty::Block(block) = &object.ty else { return None };
        let params = block.params.iter().zip(&block.param_names);
        let params = params.map(|((direction, ty), name)| SigParam {
            name: name.clone(),
            direction: *direction,
            ty: ty.clone(),
            default: None,
            optional: false,
        });
        Some(Sig {
            name: block.name.clone(),
            type_vars: Vec::new(),
            params: params.collect(),
            ret: Ty::Void,
            span: Span::default(),
        })
    }

    /// Counts a place of the source that applies an instance.
    fn applied(&mut self, id: InstId) {
        if let Some(instance) = self.hir.instances.get_mut(id.index()) {
            instance.apply_sites = instance.apply_sites.saturating_add(1);
        }
    }

    /// `C.apply(args)`: an instance of `C` made for this one call and named like its type.
    pub(super) fn direct_application(&mut self, ty: &Type, args: &[Argument], span: Span) -> Expr {
        let construct = self.construct(ty, &[], span);
        if !matches!(construct.what, super::hir::Constructed::Control(_) | super::hir::Constructed::Parser(_))
        {
            if construct.what != super::hir::Constructed::Poison {
                self.error(ty.span, "only parsers and controls can be applied");
            }
            return Self::poison(span);
        }
        let id = self.anonymous_instance(ty, construct, span);
        self.applied(id);
        let ty = self.instance_type(id);
        let object = Expr { kind: ExprKind::Instance(id), ty, span };
        let name = Ident { name: "apply".to_owned(), span };
        self.apply_block(object, &name, args, span)
    }

    fn anonymous_instance(&mut self, ty: &Type, construct: Construct, span: Span) -> InstId {
        let name = match &ty.kind {
            TypeKind::Named(path) | TypeKind::Specialized(path, _) => path.name.name.clone(),
            _ => "instance".to_owned(),
        };
        let id = InstId::from_index(self.hir.instances.len());
        let annotations = super::hir::Annotations::default();
        self.hir.instances.push(Instance {
            name,
            construct,
            sizes: Vec::new(),
            annotations,
            methods: Vec::new(),
            apply_sites: 0,
            span,
        });
        self.instances.push(id);
        id
    }

    #[allow(clippy::too_many_arguments, reason = "one per part of `object.name<types>(args)`")]
    fn call_method(
        &mut self,
        object: Expr,
        id: super::ids::ExternId,
        extern_args: &[Ty],
        name: &Ident,
        type_args: &[Type],
        args: &[Argument],
        span: Span,
    ) -> Expr {
        let methods = self.hir.externs.get(id.index()).map_or(0, |ext| ext.methods.len());
        if self.charge(Resource::Steps, STEPS_A_SIGNATURE * methods as u64, span).is_none() {
            return Self::poison(span);
        }
        let Some(ext) = self.hir.externs.get(id.index()).cloned() else { return Self::poison(span) };
        let with: Substitution = ext.type_vars.iter().copied().zip(extern_args.iter().cloned()).collect();
        let mut sigs: Vec<Sig> = ext.methods.iter().filter(|sig| sig.name == name.name).cloned().collect();
        for sig in &mut sigs {
            sig.ret = self.fill(&sig.ret, &with, span);
            for param in &mut sig.params {
                param.ty = self.fill(&param.ty, &with, span);
            }
        }
        if super::construct::is_register(&ext.name) && extern_args.first() == Some(&Ty::DontCare) {
            let shown = self.hir.show(&object.ty);
            self.push(
                Diagnostic::error(name.span, format!("the cell type of `{shown}` is unknown here"))
                    .with_help("write the type instead of the first `_`"),
            );
            return Self::poison(span);
        }
        if sigs.is_empty() {
            let near = closest(&name.name, ext.methods.iter().map(|sig| sig.name.as_str()));
            let near = near.map(str::to_owned);
            self.undeclared_near(&format!("method of `{}`", ext.name), name, near);
            return Self::poison(span);
        }
        if ext.name == "packet_in" && self.place != CodeContext::Parser {
            return self.poison_error(span, format!("`{}` can be called only in a parser", name.name));
        }
        let Some(sig) = self.overload(&sigs, args, span) else { return Self::poison(span) };
        let Some(bound) = self.bind(sig, type_args, args, span) else { return Self::poison(span) };
        if !self.no_modules_given(&bound.args) || self.require_directionless(sig, &bound).is_none() {
            return Self::poison(span);
        }
        let types =
            sig.type_vars.iter().map(|var| bound.types.get(var).cloned().unwrap_or(Ty::Unknown)).collect();
        let callee = Callee::Method {
            object: Box::new(object),
            extern_name: ext.name.clone(),
            name: name.name.clone(),
            type_args: types,
        };
        call_expr(callee, bound, span)
    }

    fn call_builtin(&mut self, object: Expr, ty: &Ty, name: &Ident, args: &[Argument], span: Span) -> Expr {
        let is_header = self.hir.is_header(ty);
        let is_union = self.hir.is_union(ty);
        let is_stack = self.hir.is_stack(ty);
        let (builtin, wanted, ret) = match name.name.as_str() {
            "isValid" if is_header || is_union => (Builtin::IsValid, 0, Ty::Bool),
            "setValid" if is_header => (Builtin::SetValid, 0, Ty::Void),
            "setInvalid" if is_header => (Builtin::SetInvalid, 0, Ty::Void),
            "push_front" if is_stack => (Builtin::PushFront, 1, Ty::Void),
            "pop_front" if is_stack => (Builtin::PopFront, 1, Ty::Void),
            other if is_size_method(other) => return self.size_method(ty, name, args, span),
            _ => {
                let shown = self.hir.show(ty);
                return self.poison_error(name.span, format!("`{shown}` has no method `{}`", name.name));
            }
        };
        if args.len() != wanted {
            return self.poison_error(
                span,
                format!(
                    "`{}` takes {wanted} argument{}, but {} given",
                    name.name,
                    if wanted == 1 { "" } else { "s" },
                    args.len()
                ),
            );
        }
        let mut checked = Vec::new();
        for arg in args {
            let value = self.expr(&arg.value);
            if self.number_of(&value, "number of elements", 0, u32::MAX).is_none() {
                return Self::poison(span);
            }
            checked.push(Some(value));
        }
        if builtin != Builtin::IsValid && !self.require_writable(&object) {
            return Self::poison(span);
        }
        let callee = Callee::Builtin(builtin, Box::new(object));
        let call = Call { callee, args: checked, order: Order::default(), span };
        Expr { kind: ExprKind::Call(Box::new(call)), ty: ret, span }
    }

    fn size_method(&mut self, ty: &Ty, name: &Ident, args: &[Argument], span: Span) -> Expr {
        if *ty == Ty::Unknown {
            return Self::poison(span);
        }
        if !args.is_empty() {
            return self.poison_error(span, format!("`{}` takes no arguments", name.name));
        }
        match self.size_bits(ty, name.name.starts_with("max")) {
            Some(bits) => {
                let size = if name.name.ends_with("Bytes") { bits.div_ceil(8) } else { bits };
                let value = Value::Int(BigInt::from(size));
                Expr { kind: ExprKind::Const(value), ty: Ty::Integer, span }
            }
            None => {
                let shown = self.hir.show(ty);
                self.poison_error(span, format!("`{}` is not defined for `{shown}`", name.name))
            }
        }
    }

    /// Smallest or largest size of a value on the wire.
    fn size_bits(&self, ty: &Ty, largest: bool) -> Option<u64> {
        match ty {
            Ty::Varbit(width) => Some(if largest { u64::from(*width) } else { 0 }),
            Ty::Stack(elem, size) => Some(self.size_bits(elem, largest)? * u64::from(*size)),
            Ty::Aggregate(_) => {
                let sizes: Option<Vec<u64>> =
                    self.hir.fields(ty).iter().map(|field| self.size_bits(&field.ty, largest)).collect();
                let sizes = sizes?;
                if !self.hir.is_union(ty) {
                    return Some(sizes.iter().sum());
                }
                // The largest member counts, for the smallest size too (P4-16 9.1).
                Some(sizes.iter().max().copied().unwrap_or(0))
            }
            _ => self.hir.width_bits(ty).map(u64::from),
        }
    }
}

/// Methods that give the size of a value, of values and of types alike (P4-16 9.1).
const SIZE_METHODS: [&str; 4] = ["minSizeInBits", "minSizeInBytes", "maxSizeInBits", "maxSizeInBytes"];

fn is_size_method(name: &str) -> bool {
    SIZE_METHODS.contains(&name)
}

/// What stands where something to call should stand.
fn shape_of(callee: &Ast) -> &'static str {
    match callee {
        Ast::Bool(_) | Ast::Int(_) => "a number",
        Ast::String(_) => "a string",
        Ast::Call { .. } | Ast::Construct { .. } => "the result of a call",
        Ast::Index(..) => "an element of a stack or tuple",
        Ast::Slice(..) | Ast::PlusSlice(..) => "a slice",
        Ast::List(_) | Ast::Struct { .. } | Ast::Tuple(_) => "a structure expression",
        Ast::This => "`this`",
        _ => "the result of an operator",
    }
}

fn call_expr(callee: Callee, bound: Bound, span: Span) -> Expr {
    let ty = bound.ret;
    let call = Call { callee, args: bound.args, order: bound.order, span };
    Expr { kind: ExprKind::Call(Box::new(call)), ty, span }
}
