//! Arguments: matching them to parameters, inferring type arguments, checking directions.

use super::Checker;
use super::hir::{Expr, ExprKind, Sig, SigParam};
use super::ids::TypeVar;
use super::order::Order;
use super::scope::{Symbol, TypeSymbol};
use super::ty::{BlockType, Substitution, Ty};
use p4cc_budget::Resource;
use p4cc_syntax::ast::{self, Argument, Direction, ExprKind as Ast, Type};
use p4cc_syntax::{Diagnostic, Span};

/// A call's arguments checked against a signature.
pub(super) struct Bound {
    /// One per parameter; `None` for `_` and for optional ones left out.
    pub args: Vec<Option<Expr>>,
    /// The order in which they were written.
    pub order: Order,
    /// Result type.
    pub ret: Ty,
    /// Type arguments.
    pub types: Substitution,
}

impl Checker {
    /// Chooses among overloads by number and names of arguments. Reports when none fits.
    pub(super) fn overload<'a>(&mut self, sigs: &'a [Sig], args: &[Argument], span: Span) -> Option<&'a Sig> {
        let fits = |sig: &&Sig| {
            let least = sig.params.iter().filter(|p| p.default.is_none() && !p.optional).count();
            let named = args.iter().filter_map(|arg| arg.name.as_ref());
            let wanted = |p: &SigParam| p.default.is_none() && !p.optional;
            let given = |p: &SigParam| named.clone().any(|name| p.name == name.name);
            (least..=sig.params.len()).contains(&args.len())
                && named.clone().all(|name| sig.params.iter().any(|param| param.name == name.name))
                // Arguments with names leave out none that is asked for.
                && (named.clone().next().is_none() || sig.params.iter().filter(|p| wanted(p)).all(given))
        };
        let mut fitting = sigs.iter().filter(fits);
        if let Some(sig) = fitting.next() {
            let Some(other) = fitting.next() else { return Some(sig) };
            // One that takes all that it asks for goes before one with optional arguments.
            let asks = |sig: &&Sig| {
                sig.params.iter().filter(|p| p.default.is_none() && !p.optional).count() == args.len()
            };
            let mut exact = sigs.iter().filter(fits).filter(asks);
            if let (Some(only), None) = (exact.next(), exact.next()) {
                return Some(only);
            }
            self.push(
                Diagnostic::error(
                    span,
                    format!("this call of `{}` is ambiguous", sig.name),
                )
                .with_related(sig.span, "this declaration matches")
                .with_related(other.span, "this declaration matches, too")
                .with_help(
                    "name the arguments: overloads are distinguished by the number and names of parameters",
                ),
            );
            return None;
        }
        match sigs {
            [single] => Some(single),
            [] => None,
            [first, ..] => {
                let counts: Vec<String> = sigs.iter().map(|sig| sig.params.len().to_string()).collect();
                self.error(
                    span,
                    format!(
                        "`{}` takes {} arguments, but {} are given",
                        first.name,
                        counts.join(" or "),
                        args.len()
                    ),
                );
                None
            }
        }
    }

    /// Checks a call's arguments. Reports and gives `None` if they do not fit.
    pub(super) fn bind(
        &mut self,
        sig: &Sig,
        type_args: &[Type],
        args: &[Argument],
        span: Span,
    ) -> Option<Bound> {
        let (placed, order) = self.place_args(sig, args, span)?;
        let mut types = Substitution::new();
        if !type_args.is_empty() {
            if type_args.len() != sig.type_vars.len() {
                self.error(
                    span,
                    format!(
                        "`{}` takes {} type arguments, but {} are given",
                        sig.name,
                        sig.type_vars.len(),
                        type_args.len()
                    ),
                );
                return None;
            }
            for (var, ty) in sig.type_vars.iter().zip(type_args) {
                let ty = self.resolve_type(ty);
                if ty != Ty::DontCare {
                    types.insert(*var, ty);
                }
            }
        }
        let mut bound = self.bind_placed(sig, placed, types, span)?;
        bound.order = order;
        Some(bound)
    }

    /// Puts each argument at its parameter's place; tells in which order the places were filled.
    fn place_args<'a>(
        &mut self,
        sig: &Sig,
        args: &'a [Argument],
        span: Span,
    ) -> Option<(Vec<Option<&'a ast::Expr>>, Order)> {
        let mut placed: Vec<Option<&ast::Expr>> = vec![None; sig.params.len()];
        let mut written = Vec::with_capacity(args.len());
        if args.len() > sig.params.len() {
            self.count_error(sig, args.len(), span);
            return None;
        }
        for (index, arg) in args.iter().enumerate() {
            let at = match &arg.name {
                None => index,
                Some(name) if self.charge_scan(sig.params.len(), name.span).is_none() => return None,
                Some(name) => match sig.params.iter().position(|param| param.name == name.name) {
                    Some(at) => at,
                    None => {
                        let near =
                            p4cc_syntax::closest(&name.name, sig.params.iter().map(|p| p.name.as_str()));
                        let near = near.map(str::to_owned);
                        self.undeclared_near(&format!("parameter of `{}`", sig.name), name, near);
                        return None;
                    }
                },
            };
            if arg.name.is_some() != args.first().is_some_and(|first| first.name.is_some()) {
                self.error(arg.value.span, "either all arguments must be named or none");
                return None;
            }
            let slot = placed.get_mut(at)?;
            if slot.is_some() {
                self.error(arg.value.span, "the parameter already has an argument");
                return None;
            }
            *slot = Some(&arg.value);
            written.push(at);
        }
        let missing = sig
            .params
            .iter()
            .zip(&placed)
            .find(|(param, arg)| arg.is_none() && param.default.is_none() && !param.optional);
        if missing.is_some() {
            self.count_error(sig, args.len(), span);
            return None;
        }
        Some((placed, Order::new(written)))
    }

    fn count_error(&mut self, sig: &Sig, given: usize, span: Span) {
        let wanted = sig.params.len();
        let names: Vec<String> = sig.params.iter().map(|param| param.name.clone()).collect();
        let plural = if wanted == 1 { "" } else { "s" };
        let mut diagnostic = Diagnostic::error(
            span,
            format!(
                "`{}` takes {wanted} argument{plural}, but {given} {} given",
                sig.name,
                if given == 1 { "is" } else { "are" }
            ),
        );
        if !names.is_empty() {
            diagnostic = diagnostic.with_help(format!("the parameters are ({})", names.join(", ")));
        }
        if sig.span != Span::default() {
            diagnostic = diagnostic.with_related(sig.span, "declared here");
        }
        self.push(diagnostic);
    }

    fn bind_placed(
        &mut self,
        sig: &Sig,
        placed: Vec<Option<&ast::Expr>>,
        mut types: Substitution,
        span: Span,
    ) -> Option<Bound> {
        // Default values are copied to each call.
        self.charge(Resource::TreeNodes, placed.len() as u64, span)?;
        let mut checked: Vec<Option<Expr>> = Vec::with_capacity(placed.len());
        let mut open = Vec::new();
        let written = types.clone();
        for (param, arg) in sig.params.iter().zip(placed) {
            if let (Ty::Block(_), Some(arg)) = (&param.ty, arg)
                && let Some(index) = self.open_block(arg)
            {
                // Its type arguments follow from what the other arguments say of the parameter's type.
                open.push((checked.len(), index, arg));
                checked.push(None);
                continue;
            }
            let Some(arg) = arg else {
                checked.push(param.default.clone());
                continue;
            };
            if matches!(arg.kind, Ast::DontCare) {
                if param.direction != Direction::Out {
                    self.error(
                        arg.span,
                        format!("`_` cannot be the argument of parameter `{}`, which is read", param.name),
                    );
                    return None;
                }
                checked.push(None);
                continue;
            }
            let expr = self.expr(arg);
            if param.ty.has_vars() {
                self.infer(&param.ty, &expr.ty, &mut types);
            }
            checked.push(Some(expr));
        }
        // What the call says itself is not for its arguments to say.
        types.extend(written);
        for (at, index, arg) in open {
            let wanted = self.fill(&sig.params.get(at)?.ty, &types, span);
            let made = self.close_block(index, arg, &wanted);
            *checked.get_mut(at)? = Some(made);
        }
        if checked.iter().flatten().any(|arg| matches!(arg.kind, ExprKind::Poison)) {
            return None;
        }
        self.check_inferred(sig, &checked, &types, span)?;
        let mut args = Vec::with_capacity(checked.len());
        for (param, arg) in sig.params.iter().zip(checked) {
            let arg = match arg {
                Some(arg) => Some(self.bind_arg(param, arg, &types)?),
                None => None,
            };
            args.push(arg);
        }
        let ret = self.fill(&sig.ret, &types, span);
        Some(Bound { args, order: Order::default(), ret, types })
    }

    /// Whether an argument makes a parser or control without saying its type arguments; which one.
    fn open_block(&self, arg: &ast::Expr) -> Option<usize> {
        let path = match &arg.kind {
            Ast::Call { callee, type_args, args } if type_args.is_empty() && args.is_empty() => {
                match &callee.kind {
                    Ast::Path(path) => path,
                    _ => return None,
                }
            }
            Ast::Construct { ty, args } if args.is_empty() => match &ty.kind {
                ast::TypeKind::Named(path) => path,
                _ => return None,
            },
            _ => return None,
        };
        match self.scopes.get(&path.name.name, path.absolute)?.symbol {
            Symbol::Type(TypeSymbol::GenericBlock(index)) => Some(index),
            _ => None,
        }
    }

    /// Makes such a parser or control with the type arguments that its parameter's type asks for.
    fn close_block(&mut self, index: usize, arg: &ast::Expr, wanted: &Ty) -> Expr {
        let Some(types) = self.infer_block_args(index, wanted) else {
            // Says that they are missing.
            return self.expr(arg);
        };
        match self.construct_block(index, &types, &[], arg.span) {
            Some(construct) => {
                let ty = self.constructed_type(&construct);
                Expr { kind: ExprKind::Construct(Box::new(construct)), ty, span: arg.span }
            }
            None => Self::poison(arg.span),
        }
    }

    fn check_inferred(
        &mut self,
        sig: &Sig,
        given: &[Option<Expr>],
        types: &Substitution,
        span: Span,
    ) -> Option<()> {
        // Nobody asks for the type of an optional parameter that is left out.
        let asked = || sig.params.iter().zip(given).filter(|(param, arg)| !param.optional || arg.is_some());
        let occurs =
            |var: TypeVar| asked().any(|(param, _)| mentions(&param.ty, var)) || mentions(&sig.ret, var);
        for var in &sig.type_vars {
            match types.get(var) {
                Some(ty) if has_open_number(ty) => {
                    self.push(
                        Diagnostic::error(
                            span,
                            format!("the width of a number in this call of `{}` is unknown", sig.name),
                        )
                        .with_help("give the number a width: `16w1`"),
                    );
                    return None;
                }
                Some(Ty::Record(_)) => {
                    let message = format!(
                        "the type of a structure expression in this call of `{}` is unknown",
                        sig.name
                    );
                    self.push(Diagnostic::error(span, message).with_help("cast it: `(S){ ... }`"));
                    return None;
                }
                Some(_) => {}
                None if occurs(*var) => {
                    self.push(
                        Diagnostic::error(
                            span,
                            format!("a type argument of `{}` cannot be inferred", sig.name),
                        )
                        .with_help(format!("write it: `{}<T>(...)`", sig.name)),
                    );
                    return None;
                }
                None => {}
            }
        }
        Some(())
    }

    fn bind_arg(&mut self, param: &SigParam, arg: Expr, types: &Substitution) -> Option<Expr> {
        let ty = self.fill(&param.ty, types, arg.span);
        if ty == Ty::String && param.direction != Direction::None {
            let message = format!("parameter `{}` has a direction and cannot be a string", param.name);
            self.error(arg.span, message);
            return None;
        }
        match param.direction {
            Direction::Out | Direction::InOut => {
                if !self.require_writable(&arg) {
                    return None;
                }
                if !stands_for(&arg.ty, &ty) {
                    let (from, wanted) = (self.hir.show(&arg.ty), self.hir.show(&ty));
                    self.push(
                        Diagnostic::error(
                            arg.span,
                            format!("parameter `{}` has type `{wanted}`, found `{from}`", param.name),
                        )
                        .with_help("an out or inout argument must have exactly the parameter's type"),
                    );
                    return None;
                }
                Some(arg)
            }
            Direction::In | Direction::None => {
                if let (Ty::Block(found), Ty::Block(wanted)) = (&arg.ty, &ty) {
                    if !block_fits(found, wanted) {
                        self.block_misfit(param, found, wanted, arg.span);
                        return None;
                    }
                    return Some(arg);
                }
                if matches!(&arg.ty, Ty::Extern(..)) && stands_for(&arg.ty, &ty) {
                    return Some(arg);
                }
                // Any number will do; one without width gets that of most indexes.
                let ty = match (&ty, self.hir.underlying(&arg.ty)) {
                    (Ty::DontCare, Ty::Integer) => Ty::Bit(32),
                    (Ty::DontCare, under) if under.is_fixed() => return Some(arg),
                    _ => ty,
                };
                let made = self.coerce(arg, &ty);
                if matches!(made.kind, ExprKind::Poison) { None } else { Some(made) }
            }
        }
    }
}

/// Whether a value of one type stands for one of another without a cast: what is in error already does, and a
/// don't-care type argument stands for any type.
fn stands_for(found: &Ty, wanted: &Ty) -> bool {
    match (found, wanted) {
        (Ty::Unknown, _) | (_, Ty::Unknown | Ty::DontCare) => true,
        (Ty::Extern(a, found), Ty::Extern(b, wanted)) => {
            a == b
                && found.len() == wanted.len()
                && found.iter().zip(wanted.iter()).all(|(found, wanted)| stands_for(found, wanted))
        }
        _ => found == wanted,
    }
}

fn param_fits(found: &(Direction, Ty), wanted: &(Direction, Ty)) -> bool {
    found.0 == wanted.0 && stands_for(&found.1, &wanted.1)
}

fn block_fits(found: &BlockType, wanted: &BlockType) -> bool {
    found.is_parser == wanted.is_parser
        && wanted.takes_as_many(found)
        && found.params.iter().zip(&wanted.params).all(|(found, wanted)| param_fits(found, wanted))
}

fn mentions(ty: &Ty, var: TypeVar) -> bool {
    match ty {
        Ty::Var(other) => *other == var,
        Ty::Stack(elem, _) | Ty::List(elem) => mentions(elem, var),
        Ty::Tuple(items) | Ty::Extern(_, items) | Ty::Open(_, items) => {
            items.iter().any(|item| mentions(item, var))
        }
        Ty::Block(block) => block.params.iter().any(|(_, ty)| mentions(ty, var)),
        _ => false,
    }
}

/// Whether a number without width is part of a type.
fn has_open_number(ty: &Ty) -> bool {
    match ty {
        Ty::Integer | Ty::Dots | Ty::InvalidHeader => true,
        Ty::Tuple(items) => items.iter().any(has_open_number),
        Ty::Record(fields) => fields.iter().any(|(_, ty)| has_open_number(ty)),
        _ => false,
    }
}

impl Checker {
    /// Reports a parser or control that a parameter does not take: both parameter lists, and where they part.
    fn block_misfit(&mut self, param: &SigParam, found: &BlockType, wanted: &BlockType, span: Span) {
        let name = &found.name;
        let difference = self.block_difference(found, wanted);
        let lists = [wanted, found].map(|block| self.param_list(block));
        let [wants, has] = lists;
        let mut diagnostic = Diagnostic::error(
            span,
            format!("`{name}` does not match parameter `{}`: {difference}", param.name),
        )
        .with_help(format!("expected: {wants}\n      found:    {has}"));
        if let Some(declared) = self.block_span(found) {
            diagnostic = diagnostic.with_related(declared, "declared here");
        }
        self.push(diagnostic);
    }

    /// The first difference between two parameter lists.
    fn block_difference(&self, found: &BlockType, wanted: &BlockType) -> String {
        if found.is_parser != wanted.is_parser {
            let kind = |block: &BlockType| if block.is_parser { "a parser" } else { "a control" };
            return format!("it is {}, not {}", kind(found), kind(wanted));
        }
        let pairs = || wanted.params.iter().zip(&found.params);
        let shared = pairs().count();
        match pairs().position(|(wanted, found)| !param_fits(found, wanted)) {
            Some(at) => {
                let (has, wants) = (self.shown_param(found, at), self.shown_param(wanted, at));
                format!("parameter {} is `{has}`, not `{wants}`", at + 1)
            }
            None if found.params.len() > shared => {
                format!("parameter {} is surplus: `{}`", shared + 1, self.shown_param(found, shared))
            }
            None => format!("parameter {} is missing: `{}`", shared + 1, self.shown_param(wanted, shared)),
        }
    }

    /// Where a parser or control is declared.
    fn block_span(&self, block: &BlockType) -> Option<Span> {
        let (parsers, controls) = (&self.hir.parsers, &self.hir.controls);
        match block.is_parser {
            true => parsers.iter().find(|parser| parser.name == block.name).map(|parser| parser.span),
            false => controls.iter().find(|control| control.name == block.name).map(|control| control.span),
        }
    }

    fn shown_param(&self, block: &BlockType, at: usize) -> String {
        let (Some((direction, ty)), Some(name)) = (block.params.get(at), block.param_names.get(at)) else {
            return String::new();
        };
        let direction = match direction {
            Direction::None => "",
            Direction::In => "in ",
            Direction::Out => "out ",
            Direction::InOut => "inout ",
        };
        format!("{direction}{} {name}", self.hir.show(ty))
    }

    fn param_list(&self, block: &BlockType) -> String {
        let all: Vec<String> = (0..block.params.len()).map(|at| self.shown_param(block, at)).collect();
        format!("({})", all.join(", "))
    }

    /// Finds what type variables stand for by laying an argument's type over a parameter's.
    pub(super) fn infer(&self, param: &Ty, arg: &Ty, types: &mut Substitution) {
        match (param, arg) {
            (Ty::Var(var), _) => {
                // A number without width yields to a type with one, what is in error already to anything.
                let better = match types.get(var) {
                    None => true,
                    Some(Ty::Unknown) => !has_open_number(arg),
                    Some(old) => *old == Ty::Integer && *arg != Ty::Unknown,
                };
                if better {
                    types.insert(*var, arg.clone());
                }
            }
            (_, Ty::Unknown) => self.infer_nothing(param, types),
            (Ty::Stack(a, _), Ty::Stack(b, _)) | (Ty::List(a), Ty::List(b)) => self.infer(a, b, types),
            (Ty::Tuple(a), Ty::Tuple(b)) => self.infer_all(a, b, types),
            (Ty::Extern(x, a), Ty::Extern(y, b)) if x == y => self.infer_all(a, b, types),
            (Ty::Open(x, a), Ty::Open(y, b)) if x == y => self.infer_all(a, b, types),
            (Ty::Open(index, a), Ty::Aggregate(_)) => {
                let generic = self.generics.get(*index);
                let made = generic.and_then(|generic| generic.made.iter().find(|(_, ty)| *ty == arg));
                if let Some((args, _)) = made {
                    self.infer_all(a, args, types);
                }
            }
            (Ty::Block(a), Ty::Block(b))
                if a.is_parser == b.is_parser && (a.takes_as_many(b) || b.takes_as_many(a)) =>
            {
                for ((_, a), (_, b)) in a.params.iter().zip(&b.params) {
                    self.infer(a, b, types);
                }
            }
            _ => {}
        }
    }

    /// An argument in error says nothing of its parameter's type variables, and nobody is to ask for them.
    fn infer_nothing(&self, param: &Ty, types: &mut Substitution) {
        match param {
            Ty::Var(var) => {
                types.entry(*var).or_insert(Ty::Unknown);
            }
            Ty::Stack(elem, _) | Ty::List(elem) => self.infer_nothing(elem, types),
            Ty::Tuple(items) | Ty::Extern(_, items) | Ty::Open(_, items) => {
                items.iter().for_each(|item| self.infer_nothing(item, types));
            }
            Ty::Block(block) => block.params.iter().for_each(|(_, ty)| self.infer_nothing(ty, types)),
            _ => {}
        }
    }

    fn infer_all(&self, params: &[Ty], args: &[Ty], types: &mut Substitution) {
        for (param, arg) in params.iter().zip(args) {
            self.infer(param, arg, types);
        }
    }
}
