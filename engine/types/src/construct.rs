//! Constructor calls: extern objects, parsers, controls, packages.

use super::Checker;
use super::arguments::Bound;
use super::generic::BlockId;
use super::hir::{Construct, Constructed, Expr, ExprKind, Sig};
use super::ids::{InstId, TypeVar};
use super::scope::{Symbol, TypeSymbol};
use super::ty::{Substitution, Ty};
use p4cc_syntax::ast::{Argument, Type, TypeKind};
use p4cc_syntax::{Diagnostic, Span};
use std::rc::Rc;

impl Checker {
    /// Checks a constructor call.
    pub(super) fn construct(&mut self, ty: &Type, args: &[Argument], span: Span) -> Construct {
        let made = self.construct_inner(ty, args, span);
        made.unwrap_or(Construct { what: Constructed::Poison, args: Vec::new() })
    }

    /// A constructor call in an expression: what it makes has no name, and implements no methods.
    pub(super) fn construct_unnamed(&mut self, ty: &Type, args: &[Argument], span: Span) -> Expr {
        let construct = self.construct(ty, args, span);
        if let Constructed::Extern(id, _) = &construct.what
            && let Some(ext) = self.hir.externs.get(id.index())
            && let Some(missing) = ext.abstracts.iter().find(|one| !ext.optional_abstracts.contains(one))
        {
            let message =
                format!("nothing implements the abstract method `{missing}` of `{}` here", ext.name);
            let help = format!("declare an instance: `{}(...) name = {{ ... }};`", ext.name);
            self.push(Diagnostic::error(span, message).with_help(help));
        }
        let ty = self.constructed_type(&construct);
        Expr { kind: ExprKind::Construct(Box::new(construct)), ty, span }
    }

    fn construct_inner(&mut self, ty: &Type, args: &[Argument], span: Span) -> Option<Construct> {
        let (path, type_args): (_, &[Type]) = match &ty.kind {
            TypeKind::Named(path) => (path, &[]),
            TypeKind::Specialized(path, type_args) => (path, type_args),
            _ => {
                self.error(ty.span, "only externs, parsers, controls and packages have constructors");
                return None;
            }
        };
        let Some(entry) = self.scopes.get(&path.name.name, path.absolute) else {
            self.undeclared("type", &path.name);
            return None;
        };
        let declared = entry.span;
        let Symbol::Type(symbol) = entry.symbol.clone() else {
            self.push(
                Diagnostic::error(ty.span, format!("`{}` is not a type", path.name.name))
                    .with_related(declared, "declared here"),
            );
            return None;
        };
        match symbol {
            // A typedef brings its type arguments along.
            TypeSymbol::Plain(Ty::Extern(id, given)) => {
                if !type_args.is_empty() {
                    let name = &path.name.name;
                    self.error_with(
                        ty.span,
                        format!("`{name}` already has type arguments"),
                        declared,
                        "given here",
                    );
                    return None;
                }
                self.construct_extern(id, given.to_vec(), args, span)
            }
            TypeSymbol::Extern(id) => {
                let written = type_args.iter().map(|ty| self.resolve_type(ty)).collect();
                self.construct_extern(id, written, args, span)
            }
            TypeSymbol::Control(id) => {
                let sig = self.control_sigs.get(id.index())?.constructor.clone();
                let bound = self.bind_constructor(&sig, type_args, args, span)?;
                Some(Construct { what: Constructed::Control(id), args: bound })
            }
            TypeSymbol::Parser(id) => {
                let sig = self.parser_sigs.get(id.index())?.constructor.clone();
                let bound = self.bind_constructor(&sig, type_args, args, span)?;
                Some(Construct { what: Constructed::Parser(id), args: bound })
            }
            TypeSymbol::GenericBlock(index) => self.construct_generic(index, type_args, args, span),
            TypeSymbol::Package(index) => {
                let sig = self.packages.get(index)?.clone();
                let bound = self.bind_constructor(&sig, type_args, args, span)?;
                Some(Construct { what: Constructed::Package(sig.name), args: bound })
            }
            TypeSymbol::Block(_) => {
                self.push(
                    Diagnostic::error(
                        ty.span,
                        format!("`{}` has no body and cannot be instantiated", path.name.name),
                    )
                    .with_related(declared, "declared here"),
                );
                None
            }
            TypeSymbol::Plain(_) | TypeSymbol::Generic(_) => {
                self.error(ty.span, format!("`{}` has no constructor", path.name.name));
                None
            }
        }
    }

    /// A parser or control with type parameters; those not written follow from the arguments.
    fn construct_generic(
        &mut self,
        index: usize,
        written: &[Type],
        args: &[Argument],
        span: Span,
    ) -> Option<Construct> {
        let types = if written.is_empty() {
            let generic = self.generic_blocks.get(index)?;
            let (sig, vars) = (generic.constructor.clone(), generic.type_vars.clone());
            let bound = self.bind_constructor_types(&sig, args, span)?;
            let types: Option<Vec<Ty>> = vars.iter().map(|var| bound.types.get(var).cloned()).collect();
            let Some(types) = types else {
                self.push(
                    Diagnostic::error(span, format!("the type arguments of `{}` are missing", sig.name))
                        .with_help(format!("write `{}<T>(...)`", sig.name)),
                );
                return None;
            };
            types
        } else {
            self.written_types(written)
        };
        self.construct_block(index, &types, args, span)
    }

    /// A parser or control made for some type arguments, with its constructor's arguments.
    pub(super) fn construct_block(
        &mut self,
        index: usize,
        types: &[Ty],
        args: &[Argument],
        span: Span,
    ) -> Option<Construct> {
        let made = self.block_of(index, types, span)?;
        let sig = match made {
            BlockId::Control(id) => self.control_sigs.get(id.index())?.constructor.clone(),
            BlockId::Parser(id) => self.parser_sigs.get(id.index())?.constructor.clone(),
        };
        let bound = self.bind_constructor(&sig, &[], args, span)?;
        Some(Construct { what: made.constructed(), args: bound })
    }

    fn bind_constructor_types(&mut self, sig: &Sig, args: &[Argument], span: Span) -> Option<Bound> {
        let bound = self.bind(sig, &[], args, span)?;
        self.require_compile_time(&bound.args)?;
        Some(bound)
    }

    fn bind_constructor(
        &mut self,
        sig: &Sig,
        type_args: &[Type],
        args: &[Argument],
        span: Span,
    ) -> Option<Vec<Option<Expr>>> {
        let bound = self.bind(sig, type_args, args, span)?;
        self.require_compile_time(&bound.args)?;
        Some(bound.args)
    }

    fn require_compile_time(&mut self, args: &[Option<Expr>]) -> Option<()> {
        for arg in args.iter().flatten() {
            if !self.is_compile_time(arg) {
                self.error(arg.span, "a constructor argument must be a compile-time constant");
                return None;
            }
        }
        Some(())
    }

    fn construct_extern(
        &mut self,
        id: super::ids::ExternId,
        written: Vec<Ty>,
        args: &[Argument],
        span: Span,
    ) -> Option<Construct> {
        let ext = self.hir.externs.get(id.index())?.clone();
        if !written.is_empty() && written.len() != ext.type_vars.len() {
            self.error(
                span,
                format!(
                    "`{}` takes {} type arguments, but {} are given",
                    ext.name,
                    ext.type_vars.len(),
                    written.len()
                ),
            );
            return None;
        }
        if ext.constructors.is_empty() {
            self.error(span, format!("`{}` has no constructor", ext.name));
            return None;
        }
        let sig = self.overload(&ext.constructors, args, span)?;
        let with: Substitution = ext.type_vars.iter().copied().zip(written.iter().cloned()).collect();
        let mut sig = sig.clone();
        let known: Substitution =
            with.iter().filter(|(_, ty)| **ty != Ty::DontCare).map(|(var, ty)| (*var, ty.clone())).collect();
        for param in &mut sig.params {
            param.ty = self.fill(&param.ty, &known, span);
        }
        // The object's own type variables may follow from the
        // constructor's arguments, where `_` stands for one too.
        let open = |var: &&TypeVar| matches!(with.get(*var), None | Some(Ty::DontCare));
        sig.type_vars.extend(ext.type_vars.iter().filter(open).copied());
        if !self.check_self_argument(id, &written, span) {
            return None;
        }
        let bound = self.bind(&sig, &[], args, span)?;
        self.require_compile_time(&bound.args)?;
        let mut made = Vec::with_capacity(ext.type_vars.len());
        for var in &ext.type_vars {
            let given = with.get(var).filter(|ty| **ty != Ty::DontCare);
            match given.or_else(|| bound.types.get(var)).or_else(|| with.get(var)) {
                // What a register's cells hold must be known, of what nobody computes with any type will do.
                Some(Ty::DontCare) if ext.type_vars.first() != Some(var) || !is_register(&ext.name) => {
                    made.push(Ty::DontCare);
                }
                Some(Ty::DontCare) | None => {
                    self.push(
                        Diagnostic::error(span, format!("the type arguments of `{}` are missing", ext.name))
                            .with_help(format!("write `{}<T>(...)`", ext.name)),
                    );
                    return None;
                }
                Some(ty) => made.push(ty.clone()),
            }
        }
        Some(Construct { what: Constructed::Extern(id, made), args: bound.args })
    }

    /// Type of what a constructor call makes.
    pub(super) fn constructed_type(&mut self, construct: &Construct) -> Ty {
        match &construct.what {
            Constructed::Extern(id, args) => Ty::Extern(*id, args.as_slice().into()),
            Constructed::Control(id) => self.type_of_symbol(&TypeSymbol::Control(*id), &[], Span::default()),
            Constructed::Parser(id) => self.type_of_symbol(&TypeSymbol::Parser(*id), &[], Span::default()),
            Constructed::Package(name) => Ty::Package(name.as_str().into()),
            Constructed::Poison => Ty::Unknown,
        }
    }

    /// Type of a named instance.
    pub(super) fn instance_type(&mut self, id: InstId) -> Ty {
        let made = self.hir.instances.get(id.index());
        let Some((construct, sizes)) = made.map(|made| (made.construct.clone(), made.sizes.clone())) else {
            return Ty::Unknown;
        };
        let object = self.constructed_type(&construct);
        sizes.iter().rev().fold(object, |elem, size| Ty::Stack(Rc::new(elem), *size))
    }
}

/// Whether an extern of this name holds values of its first type argument.
pub(super) fn is_register(name: &str) -> bool {
    matches!(name, "register" | "Register")
}
