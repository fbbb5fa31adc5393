//! Which types may stand where, beyond what a type is: parameters, results, parts of tuples, type arguments.

use super::Checker;
use super::hir::Sig;
use super::ids::ExternId;
use super::scope::{Symbol, TypeSymbol};
use super::ty::Ty;
use p4cc_syntax::ast::{Direction, Param, Type, TypeKind};
use p4cc_syntax::{Diagnostic, Span};

impl Checker {
    /// A parameter of a signature.
    pub(super) fn check_param(&mut self, param: &Param, ty: &Ty) {
        if param.direction != Direction::None
            && matches!(ty, Ty::Extern(..) | Ty::String | Ty::Block(_) | Ty::Package(_))
        {
            let shown = self.hir.show(ty);
            self.push(
                Diagnostic::error(
                    param.name.span,
                    format!("parameter `{}` of type `{shown}` cannot have a direction", param.name.name),
                )
                .with_help("an object or string is a compile-time value; remove the direction"),
            );
        }
    }

    /// A default value is filled in at every call, so nothing may happen in it.
    pub(super) fn check_default(&mut self, param: &Param, value: &super::Expr) {
        if !self.is_compile_time(value) {
            self.push(
                Diagnostic::error(
                    value.span,
                    format!("the default value of `{}` is not a compile-time constant", param.name.name),
                )
                .with_help("remove it, and pass the value in each call"),
            );
        }
    }

    /// Parsers, controls and packages are made before packets come and cannot be handed over at run time.
    pub(super) fn no_modules(&mut self, sig: &Sig, params: &[Param]) {
        for (param, checked) in params.iter().zip(&sig.params) {
            let what = match &checked.ty {
                Ty::Block(block) if block.is_parser => "a parser",
                Ty::Block(_) => "a control",
                Ty::Package(_) => "a package",
                _ => continue,
            };
            if param.direction != Direction::None {
                continue;
            }
            self.push(
                Diagnostic::error(
                    param.name.span,
                    format!("parameter `{}` cannot be {what}", param.name.name),
                )
                .with_help("make it a constructor parameter"),
            );
        }
    }

    /// Parsers, controls and packages are made of externs, and externs not of them.
    pub(super) fn no_modules_for_extern(&mut self, sig: &Sig, params: &[Param]) {
        for (param, checked) in params.iter().zip(&sig.params) {
            if matches!(checked.ty, Ty::Block(_) | Ty::Package(_)) {
                let shown = self.hir.show(&checked.ty);
                let message = format!("parameter `{}` of an extern cannot have type `{shown}`", checked.name);
                self.error(param.name.span, message);
            }
        }
    }

    /// No method takes an object of its own extern.
    pub(super) fn no_own_object(&mut self, id: ExternId, sig: &Sig, params: &[Param]) {
        for (param, checked) in params.iter().zip(&sig.params) {
            if holds_extern(&checked.ty, id) {
                let message =
                    format!("parameter `{}` of the extern has the type of the extern itself", checked.name);
                self.error(param.name.span, message);
            }
        }
    }

    /// As [`Self::no_modules`], for the arguments of a call whose parameters are of any type.
    pub(super) fn no_modules_given(&mut self, args: &[Option<super::Expr>]) -> bool {
        let module = |arg: &&super::Expr| matches!(arg.ty, Ty::Block(_) | Ty::Package(_));
        let Some(given) = args.iter().flatten().find(module) else { return true };
        let shown = self.hir.show(&given.ty);
        self.error(given.span, format!("`{shown}` cannot be passed at run time"));
        false
    }

    /// A constructor parameter that brings an object which the body could never use.
    pub(super) fn check_brought_modules(&mut self, is_parser: bool, sig: &Sig, params: &[Param]) {
        for (param, checked) in params.iter().zip(&sig.params) {
            let Ty::Block(block) = &checked.ty else { continue };
            self.check_module_type(param);
            if block.is_parser != is_parser {
                let (inner, outer) = if is_parser { ("control", "parser") } else { ("parser", "control") };
                self.error(
                    param.name.span,
                    format!(
                        "a {outer} cannot apply a {inner}, so parameter `{}` is useless",
                        param.name.name
                    ),
                );
            }
        }
    }

    /// Result of a function or method.
    pub(super) fn check_result(&mut self, written: &Type, ty: &Ty) {
        let wrong = matches!(ty, Ty::Integer | Ty::Block(_) | Ty::Package(_) | Ty::MatchKind | Ty::DontCare);
        if wrong {
            let shown = self.hir.show(ty);
            let mut diagnostic = Diagnostic::error(
                written.span,
                format!("a function cannot return a value of type `{shown}`"),
            );
            if *ty == Ty::Integer {
                diagnostic = diagnostic.with_help("give it a width: `bit<W>` or `int<W>`");
            }
            self.push(diagnostic);
        }
    }

    /// No type is named `main`, which is the program's package.
    pub(super) fn check_main(&mut self) {
        let Some(entry) = self.scopes.get("main", true) else { return };
        if !matches!(entry.symbol, Symbol::Type(_)) {
            return;
        }
        let span = entry.span;
        self.push(
            Diagnostic::error(span, "`main` must be an instance of a package")
                .with_help("give this instance another name"),
        );
    }

    /// A constructor parameter takes any parser or control of a type, and not one with its body.
    fn check_module_type(&mut self, param: &Param) {
        let TypeKind::Named(path) = &param.ty.kind else { return };
        let Some(entry) = self.scopes.get(&path.name.name, path.absolute) else { return };
        let Symbol::Type(TypeSymbol::Parser(_) | TypeSymbol::Control(_) | TypeSymbol::GenericBlock(_)) =
            entry.symbol
        else {
            return;
        };
        let (declared, name) = (entry.span, &path.name.name);
        self.push(
            Diagnostic::error(
                param.ty.span,
                format!("`{name}` has a body and cannot be the type of a parameter"),
            )
            .with_related(declared, "declared here")
            .with_help("declare a type for it: `control T(...);`"),
        );
    }

    /// A part of a tuple.
    pub(super) fn tuple_part(&mut self, written: &Type, ty: Ty) -> Ty {
        if matches!(ty, Ty::Void | Ty::Block(_) | Ty::Package(_) | Ty::Extern(..)) {
            let shown = self.hir.show(&ty);
            self.error(written.span, format!("a tuple cannot hold a value of type `{shown}`"));
            return Ty::Unknown;
        }
        ty
    }

    /// Whether a type may be that of a value set's members.
    pub(super) fn fits_value_set(&self, ty: &Ty) -> bool {
        match self.hir.underlying(ty) {
            Ty::Unknown | Ty::Bit(_) | Ty::Int(_) | Ty::Bool | Ty::Enum(_) | Ty::Error => true,
            Ty::Tuple(items) => items.iter().all(|item| self.fits_value_set(item)),
            Ty::Aggregate(_) => {
                !self.hir.is_union(ty)
                    && self.hir.fields(ty).iter().all(|field| self.fits_value_set(&field.ty))
            }
            _ => false,
        }
    }

    /// A type argument of a struct, header or union: something that a field can have.
    pub(super) fn check_field_argument(&mut self, span: Span, ty: &Ty) -> bool {
        let wrong = matches!(ty, Ty::Void | Ty::Block(_) | Ty::Package(_) | Ty::Extern(..));
        if wrong {
            let shown = self.hir.show(ty);
            self.error(span, format!("`{shown}` cannot be the type of a field"));
        }
        !wrong
    }

    /// An extern type that names itself among its type arguments would never end.
    pub(super) fn check_self_argument(&mut self, id: ExternId, args: &[Ty], span: Span) -> bool {
        let own = args.iter().any(|arg| holds_extern(arg, id));
        if own {
            let name = self.hir.externs.get(id.index()).map_or_else(String::new, |ext| ext.name.clone());
            self.error(span, format!("extern `{name}` has itself as a type argument"));
        }
        !own
    }

    /// Two methods or constructors that no call could tell apart.
    pub(super) fn check_overloads(&mut self, sigs: &[Sig]) {
        for (index, sig) in sigs.iter().enumerate() {
            let same =
                sigs.iter().take(index).find(|other| other.name == sig.name && same_params(other, sig));
            if let Some(first) = same {
                let message = format!("`{}` is declared twice with the same parameters", sig.name);
                self.error_with(sig.span, message, first.span, "first declared here");
            }
        }
    }
}

fn same_params(a: &Sig, b: &Sig) -> bool {
    a.params.len() == b.params.len()
        && a.params.iter().zip(&b.params).all(|(a, b)| {
            let vars = a.ty.has_vars() && b.ty.has_vars();
            a.name == b.name && (vars || a.ty == b.ty)
        })
}

fn holds_extern(ty: &Ty, id: ExternId) -> bool {
    match ty {
        Ty::Extern(other, args) => *other == id || args.iter().any(|arg| holds_extern(arg, id)),
        Ty::Tuple(items) => items.iter().any(|item| holds_extern(item, id)),
        Ty::List(elem) | Ty::Stack(elem, _) => holds_extern(elem, id),
        Ty::Block(block) => block.params.iter().any(|(_, ty)| holds_extern(ty, id)),
        _ => false,
    }
}
