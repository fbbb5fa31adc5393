//! Arguments of inlined calls: by reference where nobody can tell, by copy otherwise.
//!
//! P4 copies arguments in and out. An argument can stand for its parameter itself when it is a static place
//! that no other written argument overlaps, since a callee sees its parameters only. Actions see the
//! control's variables too, so theirs are always copied.

use super::Lowerer;
use super::effects::Footprint;
use super::env::Owner;
use super::object::{EnvId, Object};
use super::storage::{Binding, CopyOut, Rvalue, StaticStorage, Target};
use p4cc_ir::{Operand, VarKind};
use p4cc_syntax::ast::Direction;
use p4cc_syntax::{Diagnostic, Span};
use p4cc_types::hir::{Expr, LocalKind};
use p4cc_types::ids::LocalId;
use p4cc_types::order::Order;
use p4cc_types::ty::Ty;
use p4cc_types::value::Value;

/// How parameters are bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passing {
    /// The callee sees its parameters only and is bound anew at each call.
    Function,
    /// An instance: bound once, applied at one place of the source.
    InstanceOnce,
    /// An instance that is applied at several places.
    InstanceMany,
    /// The callee sees the caller's variables.
    Action,
}

/// An argument, evaluated in the caller.
enum Evaluated {
    Object(Object),
    Const(Value),
    In(Rvalue, Option<StaticStorage>),
    /// With a copy of what it held where a later argument may change that.
    InOut(Target, Option<StaticStorage>),
    /// `None` is `_`.
    Out(Option<Target>),
}

/// A parameter and its position.
#[derive(Clone, Copy)]
struct Param {
    id: LocalId,
    at: usize,
}

/// A call whose arguments are being bound.
struct Site {
    callee: EnvId,
    passing: Passing,
    /// The callee's code was not made before.
    first_time: bool,
    /// What copies out may change, argument by argument.
    written: Vec<Option<Footprint>>,
    /// Parameters that begin anew; the type is given where storage of their own has to be set.
    begun: Vec<(StaticStorage, Option<Ty>)>,
}

impl Site {
    /// Whether a parameter may be bound anew.
    fn fresh(&self) -> bool {
        self.first_time || matches!(self.passing, Passing::Function | Passing::Action)
    }

    /// Whether no argument but the one at `at` is written where this one lies.
    fn is_alone(&self, own: &Footprint, at: Option<usize>) -> bool {
        let mut others = self.written.iter().enumerate().filter(|(other, _)| Some(*other) != at);
        others.all(|(_, other)| other.as_ref().is_none_or(|other| own.is_disjoint(other)))
    }
}

impl Lowerer<'_> {
    /// Evaluates arguments in the current environment and binds
    /// them in `callee`. Gives the copies owed at the end.
    ///
    /// All happens in the order written (P4-16 6.8): places and values are found one argument after the
    /// other, what a later argument changes is kept, and copies go out in the same order.
    pub(super) fn bind_args(
        &mut self,
        params: &[LocalId],
        (args, order): (&[Option<Expr>], &Order),
        callee: EnvId,
        passing: Passing,
    ) -> Option<Vec<CopyOut>> {
        let turns = order.positions(params.len());
        let arg_at = |at: usize| args.get(at).and_then(Option::as_ref);
        let mut evaluated = Vec::with_capacity(turns.len());
        let mut written = Vec::new();
        written.resize_with(params.len(), || None);
        for (turn, at) in turns.iter().enumerate() {
            let later: Vec<&Expr> = turns.iter().skip(turn + 1).filter_map(|at| arg_at(*at)).collect();
            let made = self.evaluate_arg(*params.get(*at)?, arg_at(*at), &later)?;
            if let Evaluated::InOut(target, _) | Evaluated::Out(Some(target)) = &made {
                *written.get_mut(*at)? = Some(self.footprint_of_target(target));
            }
            evaluated.push((*at, made));
        }
        let first_time = self.envs.get(callee.0).is_none_or(|env| !env.bound);
        let mut site = Site { callee, passing, first_time, written, begun: Vec::new() };
        let mut copies = Vec::new();
        for (at, arg) in evaluated {
            let param = *params.get(at)?;
            let span = arg_at(at).map_or(Span::default(), |arg| arg.span);
            match arg {
                Evaluated::Object(object) => self.bind_in(callee, param, Binding::Object(object)),
                Evaluated::Const(value) => self.bind_const(param, value, callee, first_time, span)?,
                Evaluated::In(value, place) => self.bind_input(param, value, place, &site, span)?,
                Evaluated::InOut(target, kept) => {
                    copies.extend(self.bind_inout(Param { id: param, at }, target, kept, &site, span)?);
                }
                Evaluated::Out(target) => {
                    copies.extend(self.bind_output(Param { id: param, at }, target, &mut site, span)?);
                }
            }
        }
        self.begin(site.begun)?;
        if let Some(env) = self.envs.get_mut(callee.0)
            && matches!(passing, Passing::InstanceOnce | Passing::InstanceMany)
        {
            env.bound = true;
        }
        Some(copies)
    }

    /// Sets `out` parameters to what they begin with: last,
    /// since an argument that is read may lie in the same place.
    fn begin(&mut self, begun: Vec<(StaticStorage, Option<Ty>)>) -> Option<()> {
        for (place, ty) in begun {
            if let Some(ty) = ty {
                let value = self.default_value(&ty, Span::default())?;
                self.assign(Target::StaticStorage(place.clone()), value, &ty, Span::default())?;
                self.empty_stacks(&place);
            } else {
                self.invalidate(&place);
            }
        }
        Some(())
    }

    fn bind_in(&mut self, env: EnvId, param: LocalId, binding: Binding) {
        if let Some(env) = self.envs.get_mut(env.0) {
            env.locals.insert(param, binding);
            env.owned.remove(&param);
        }
    }

    /// A compile-time argument. What an instance made of one, tables
    /// and actions, cannot change with the place that applies it.
    fn bind_const(
        &mut self,
        param: LocalId,
        value: Value,
        callee: EnvId,
        first_time: bool,
        span: Span,
    ) -> Option<()> {
        let env = self.envs.get(callee.0)?;
        let same = matches!(env.locals.get(&param), Some(Binding::Const(old)) if *old == value);
        if !first_time && !same && env.owner != Owner::None {
            self.push(
                Diagnostic::error(span, "this instance is applied with two different compile-time arguments")
                    .with_help("declare one instance per value"),
            );
            return None;
        }
        self.bind_in(callee, param, Binding::Const(value));
        Some(())
    }

    fn direction(&self, param: LocalId) -> Direction {
        match self.hir.locals.get(param.index()).map(|local| local.kind) {
            Some(LocalKind::Param(direction)) => direction,
            _ => Direction::In,
        }
    }

    fn evaluate_arg(&mut self, param: LocalId, arg: Option<&Expr>, later: &[&Expr]) -> Option<Evaluated> {
        let Some(arg) = arg else { return Some(Evaluated::Out(None)) };
        if matches!(arg.ty, Ty::Extern(..) | Ty::Block(_)) {
            return self.object(arg).map(Evaluated::Object);
        }
        if arg.ty == Ty::Integer {
            return self.const_value(arg).map(Evaluated::Const);
        }
        match self.direction(param) {
            Direction::Out => self.target(arg).map(|target| Evaluated::Out(Some(target))),
            Direction::InOut => {
                let target = self.target(arg)?;
                if !self.target_changes(&target, later) {
                    return Some(Evaluated::InOut(target, None));
                }
                let value = self.read_target(&target, &arg.ty)?;
                let kept = self.materialize(value, &arg.ty, arg.span)?;
                Some(Evaluated::InOut(target, Some(kept)))
            }
            Direction::In | Direction::None => {
                let value = self.rvalue(arg)?;
                if self.value_changes(&value, later) {
                    let value = self.snapshot(value, &arg.ty, arg.span)?;
                    return Some(Evaluated::In(value, None));
                }
                let place = self.static_place(arg);
                Some(Evaluated::In(value, place))
            }
        }
    }

    fn bind_input(
        &mut self,
        param: LocalId,
        value: Rvalue,
        place: Option<StaticStorage>,
        site: &Site,
        span: Span,
    ) -> Option<()> {
        let callee = site.callee;
        let unwritten = site.is_alone(&self.footprint_of_value(&value), None);
        match site.passing {
            Passing::Function if unwritten => {
                let binding = place.map_or(Binding::Value(value), Binding::StaticStorage);
                self.bind_in(callee, param, binding);
                return Some(());
            }
            Passing::InstanceOnce if unwritten => {
                if let Some(place) = place
                    && (site.first_time || self.bound_to(callee, param, &place))
                {
                    self.bind_in(callee, param, Binding::StaticStorage(place));
                    return Some(());
                }
            }
            Passing::Action if matches!(value, Rvalue::Scalar(Operand::Const(_))) => {
                self.bind_in(callee, param, Binding::Value(value));
                return Some(());
            }
            _ => {}
        }
        let storage = self.own_storage(param, callee, site.fresh(), span)?;
        let ty = self.hir.locals.get(param.index())?.ty.clone();
        self.assign(Target::StaticStorage(storage), value, &ty, span)
    }

    fn bound_to(&self, env: EnvId, param: LocalId, place: &StaticStorage) -> bool {
        let binding = self.envs.get(env.0).and_then(|env| env.locals.get(&param));
        matches!(binding, Some(Binding::StaticStorage(old)) if old == place)
    }

    /// The place of an argument that can stand for its parameter itself.
    fn by_reference(&self, param: Param, target: &Target, site: &Site) -> Option<StaticStorage> {
        let Target::StaticStorage(place) = target else { return None };
        let alone = || site.is_alone(&self.footprint_of_target(target), Some(param.at));
        let possible = match site.passing {
            Passing::Function => alone(),
            Passing::InstanceOnce => {
                (site.first_time || self.bound_to(site.callee, param.id, place)) && alone()
            }
            Passing::InstanceMany | Passing::Action => false,
        };
        possible.then(|| place.clone())
    }

    fn bind_inout(
        &mut self,
        param: Param,
        target: Target,
        kept: Option<StaticStorage>,
        site: &Site,
        span: Span,
    ) -> Option<Option<CopyOut>> {
        let ty = self.hir.locals.get(param.id.index())?.ty.clone();
        let value = match kept {
            Some(kept) if site.passing == Passing::Function => {
                // Nobody else knows of the copy: it is the parameter.
                self.bind_in(site.callee, param.id, Binding::StaticStorage(kept.clone()));
                return Some(Some(CopyOut { target, place: kept, ty }));
            }
            Some(kept) => kept.read(),
            None => {
                if let Some(place) = self.by_reference(param, &target, site) {
                    self.bind_in(site.callee, param.id, Binding::StaticStorage(place));
                    return Some(None);
                }
                self.read_target(&target, &ty)?
            }
        };
        let storage = self.own_storage(param.id, site.callee, site.fresh(), span)?;
        self.assign(Target::StaticStorage(storage.clone()), value, &ty, span)?;
        Some(Some(CopyOut { target, place: storage, ty }))
    }

    fn bind_output(
        &mut self,
        param: Param,
        target: Option<Target>,
        site: &mut Site,
        span: Span,
    ) -> Option<Option<CopyOut>> {
        let place = target.as_ref().and_then(|target| self.by_reference(param, target, site));
        if let Some(place) = place {
            self.bind_in(site.callee, param.id, Binding::StaticStorage(place.clone()));
            site.begun.push((place, None));
            return Some(None);
        }
        let storage = self.own_storage(param.id, site.callee, site.fresh(), span)?;
        let ty = self.hir.locals.get(param.id.index())?.ty.clone();
        site.begun.push((storage.clone(), Some(ty.clone())));
        Some(target.map(|target| CopyOut { target, place: storage, ty }))
    }

    /// Storage of a parameter. An instance keeps its own from
    /// call to call; it must not be the storage of an argument.
    fn own_storage(&mut self, param: LocalId, env: EnvId, fresh: bool, span: Span) -> Option<StaticStorage> {
        let local = self.hir.locals.get(param.index())?;
        let name = format!("{}.{}", self.env_name(env), local.name);
        let callee = self.envs.get(env.0)?;
        match callee.locals.get(&param) {
            Some(Binding::StaticStorage(place)) if callee.owned.contains(&param) => {
                return Some(place.clone());
            }
            Some(Binding::StaticStorage(_) | Binding::Value(_)) if !fresh => {
                self.not_supported(
                    span,
                    "applying this instance with arguments that overlap in different ways",
                );
                return None;
            }
            _ => {}
        }
        let place = self.alloc(&local.ty, &name, VarKind::Local, local.span)?;
        self.bind_in(env, param, Binding::StaticStorage(place.clone()));
        if let Some(env) = self.envs.get_mut(env.0) {
            env.owned.insert(param);
        }
        Some(place)
    }

    fn env_name(&self, env: EnvId) -> String {
        let prefix = self.envs.get(env.0).map_or("", |env| env.prefix.as_str());
        if prefix.is_empty() { format!("{}.call", self.name) } else { prefix.to_owned() }
    }

    /// What a target holds.
    pub(super) fn read_target(&mut self, target: &Target, ty: &Ty) -> Option<Rvalue> {
        use p4cc_ir::{Inst, VarType};
        Some(match target {
            Target::StaticStorage(place) => place.read(),
            Target::Slice { base, base_width, lo, width } => {
                let base = self.read_target(base, &Ty::Bit(*base_width))?;
                let Rvalue::Scalar(src) = base else { return None };
                let dst = self.temp(VarType::Bit(*width));
                self.emit(Inst::Slice { dst, src, lo: *lo });
                Rvalue::Scalar(Operand::Var(dst))
            }
            Target::RunSlice { base, base_width, lo, width } => {
                let base = self.read_target(base, &Ty::Bit(*base_width))?;
                let Rvalue::Scalar(src) = base else { return None };
                Rvalue::Scalar(self.run_slice(src, *base_width, lo.clone(), *width))
            }
            Target::Choice(index, targets) => {
                let values: Option<Vec<Rvalue>> =
                    targets.iter().map(|target| self.read_target(target, ty)).collect();
                Rvalue::Choice(index.clone(), values?)
            }
            Target::Parts(targets) => {
                let types = self.parts(ty)?;
                let values: Option<Vec<Rvalue>> =
                    targets.iter().zip(&types).map(|(part, (_, ty))| self.read_target(part, ty)).collect();
                Rvalue::Struct(values?)
            }
            Target::Element(stack, index) => Rvalue::Element(*stack, index.clone()),
            Target::ElementField(stack, index, field) => {
                let dst = self.temp(self.var_type(ty)?);
                self.emit(Inst::StackLoad { dst, stack: *stack, index: index.clone(), field: *field });
                Rvalue::Scalar(Operand::Var(dst))
            }
        })
    }

    /// Gives the arguments what the parameters hold at the end of a call.
    pub(super) fn copy_out(&mut self, copies: Vec<CopyOut>, span: Span) -> Option<()> {
        for copy in copies {
            self.assign(copy.target, copy.place.read(), &copy.ty, span)?;
        }
        Some(())
    }
}
