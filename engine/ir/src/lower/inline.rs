//! Arguments of inlined calls: by reference where nobody can tell, by copy otherwise.
//!
//! P4 copies arguments in and out. An argument can stand for its parameter itself when it is a static place that no
//! other written argument overlaps, since a callee sees its parameters only. Actions see the control's variables too,
//! so theirs are always copied.

use super::Lowerer;
use super::env::{EnvId, Object, Owner};
use super::place::{Binding, CopyOut, Place, Rvalue, Target};
use crate::types::hir::{Expr, LocalId, LocalKind};
use crate::types::stmt::has_call;
use crate::types::ty::Ty;
use crate::types::value::Value;
use crate::{HeaderId, Operand, VarId, VarKind};
use p4cc_syntax::ast::Direction;
use p4cc_syntax::{Diagnostic, Span};
use std::collections::BTreeSet;

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
    In(Rvalue, Option<Place>),
    /// `None` is `_`.
    Out(Option<Target>),
}

/// Variables and headers.
type Footprint = (BTreeSet<VarId>, BTreeSet<HeaderId>);

impl Lowerer<'_> {
    /// Evaluates arguments in the current environment and binds them in `callee`. Gives the copies owed at the end.
    pub(super) fn bind_args(
        &mut self,
        params: &[LocalId],
        args: &[Option<Expr>],
        callee: EnvId,
        passing: Passing,
    ) -> Option<Vec<CopyOut>> {
        let mut evaluated = Vec::with_capacity(params.len());
        for (at, param) in params.iter().enumerate() {
            let changed = args.iter().skip(at + 1).flatten().any(has_call);
            evaluated.push(self.evaluate_arg(*param, args.get(at).and_then(Option::as_ref), changed)?);
        }
        let written: Vec<Option<Footprint>> = evaluated
            .iter()
            .map(|arg| match arg {
                Evaluated::Out(Some(target)) => {
                    let mut footprint = Footprint::default();
                    self.target_footprint(target, &mut footprint.0, &mut footprint.1);
                    Some(footprint)
                }
                _ => None,
            })
            .collect();
        let first_time = self.envs.get(callee.0).is_none_or(|env| !env.bound);
        let mut copies = Vec::new();
        for (at, (param, arg)) in params.iter().zip(evaluated).enumerate() {
            let span = args.get(at).and_then(Option::as_ref).map_or(Span::default(), |arg| arg.span);
            match arg {
                Evaluated::Object(object) => self.bind_in(callee, *param, Binding::Object(object)),
                Evaluated::Const(value) => self.bind_const(*param, value, callee, first_time, span)?,
                Evaluated::In(value, place) => {
                    self.bind_input(*param, value, place, &written, callee, (passing, first_time, span))?;
                }
                Evaluated::Out(target) => {
                    let others = written.iter().enumerate().filter(|(other, _)| *other != at);
                    let alone = target.as_ref().is_some_and(|target| self.is_alone(target, others));
                    let copy =
                        self.bind_output(*param, target, alone, callee, (passing, first_time, span))?;
                    copies.extend(copy);
                }
            }
        }
        if let Some(env) = self.envs.get_mut(callee.0)
            && matches!(passing, Passing::InstanceOnce | Passing::InstanceMany)
        {
            env.bound = true;
        }
        Some(copies)
    }

    fn bind_in(&mut self, env: EnvId, param: LocalId, binding: Binding) {
        if let Some(env) = self.envs.get_mut(env.0) {
            env.locals.insert(param, binding);
            env.owned.remove(&param);
        }
    }

    /// A compile-time argument. What an instance made of one, tables and actions, cannot change with the place that
    /// applies it.
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
                Diagnostic::error(
                    span,
                    "this instance is applied with two values of a compile-time argument",
                )
                .with_help("declare an instance for each value"),
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

    fn evaluate_arg(&mut self, param: LocalId, arg: Option<&Expr>, changed: bool) -> Option<Evaluated> {
        let Some(arg) = arg else { return Some(Evaluated::Out(None)) };
        if matches!(arg.ty, Ty::Extern(..) | Ty::Block(_)) {
            return self.object(arg).map(Evaluated::Object);
        }
        if arg.ty == Ty::Integer {
            return self.const_value(arg).map(Evaluated::Const);
        }
        match self.direction(param) {
            Direction::Out | Direction::InOut => self.target(arg).map(|target| Evaluated::Out(Some(target))),
            Direction::In | Direction::None => {
                let value = self.rvalue(arg)?;
                if changed {
                    let value = self.snapshot(value, &arg.ty, arg.span)?;
                    return Some(Evaluated::In(value, None));
                }
                let place = self.static_place(arg);
                Some(Evaluated::In(value, place))
            }
        }
    }

    /// Whether no other written argument overlaps a target.
    fn is_alone<'f>(
        &self,
        target: &Target,
        mut others: impl Iterator<Item = (usize, &'f Option<Footprint>)>,
    ) -> bool {
        let Target::Place(_) = target else { return false };
        let mut own = Footprint::default();
        self.target_footprint(target, &mut own.0, &mut own.1);
        others.all(|(_, other)| other.as_ref().is_none_or(|other| disjoint(&own, other)))
    }

    fn bind_input(
        &mut self,
        param: LocalId,
        value: Rvalue,
        place: Option<Place>,
        written: &[Option<Footprint>],
        callee: EnvId,
        (passing, first_time, span): (Passing, bool, Span),
    ) -> Option<()> {
        let mut own = Footprint::default();
        self.value_footprint(&value, &mut own.0, &mut own.1);
        let unwritten = written.iter().flatten().all(|other| disjoint(&own, other));
        match passing {
            Passing::Function if unwritten => {
                let binding = place.map_or(Binding::Value(value), Binding::Place);
                self.bind_in(callee, param, binding);
                return Some(());
            }
            Passing::InstanceOnce if unwritten => {
                if let Some(place) = place
                    && (first_time || self.bound_to(callee, param, &place))
                {
                    self.bind_in(callee, param, Binding::Place(place));
                    return Some(());
                }
            }
            Passing::Action if matches!(value, Rvalue::Scalar(Operand::Const(_))) => {
                self.bind_in(callee, param, Binding::Value(value));
                return Some(());
            }
            _ => {}
        }
        let storage = self.own_storage(param, callee, fresh(passing, first_time), span)?;
        let ty = self.hir.locals.get(param.index())?.ty.clone();
        self.assign(Target::Place(storage), value, &ty, span)
    }

    fn bound_to(&self, env: EnvId, param: LocalId, place: &Place) -> bool {
        let binding = self.envs.get(env.0).and_then(|env| env.locals.get(&param));
        matches!(binding, Some(Binding::Place(old)) if old == place)
    }

    fn bind_output(
        &mut self,
        param: LocalId,
        target: Option<Target>,
        alone: bool,
        callee: EnvId,
        (passing, first_time, span): (Passing, bool, Span),
    ) -> Option<Option<CopyOut>> {
        let out_only = self.direction(param) == Direction::Out;
        let by_reference = match passing {
            Passing::Function | Passing::InstanceOnce => alone,
            Passing::InstanceMany | Passing::Action => false,
        };
        if by_reference
            && let Some(Target::Place(place)) = &target
            && (first_time || passing == Passing::Function || self.bound_to(callee, param, place))
        {
            self.bind_in(callee, param, Binding::Place(place.clone()));
            if out_only {
                self.invalidate(place);
            }
            return Some(None);
        }
        let storage = self.own_storage(param, callee, fresh(passing, first_time), span)?;
        let ty = self.hir.locals.get(param.index())?.ty.clone();
        if out_only {
            let value = self.default_value(&ty, span)?;
            self.assign(Target::Place(storage.clone()), value, &ty, span)?;
        } else if let Some(target) = &target {
            let value = self.read_target(target, &ty)?;
            self.assign(Target::Place(storage.clone()), value, &ty, span)?;
        }
        Some(target.map(|target| CopyOut { target, place: storage, ty }))
    }

    /// Storage of a parameter. An instance keeps its own from call to call; it must not be the storage of an argument.
    fn own_storage(&mut self, param: LocalId, env: EnvId, fresh: bool, span: Span) -> Option<Place> {
        let local = self.hir.locals.get(param.index())?;
        let name = format!("{}.{}", self.env_name(env), local.name);
        let callee = self.envs.get(env.0)?;
        match callee.locals.get(&param) {
            Some(Binding::Place(place)) if callee.owned.contains(&param) => return Some(place.clone()),
            Some(Binding::Place(_) | Binding::Value(_)) if !fresh => {
                self.not_supported(
                    span,
                    "applying this instance with arguments that overlap in different ways",
                );
                return None;
            }
            _ => {}
        }
        let place = self.alloc(&local.ty, &name, VarKind::Local, local.span)?;
        self.bind_in(env, param, Binding::Place(place.clone()));
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
        use crate::{Inst, VarType};
        Some(match target {
            Target::Place(place) => place.read(),
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

/// Whether a parameter may be bound anew.
fn fresh(passing: Passing, first_time: bool) -> bool {
    first_time || matches!(passing, Passing::Function | Passing::Action)
}

fn disjoint(a: &Footprint, b: &Footprint) -> bool {
    a.0.is_disjoint(&b.0) && a.1.is_disjoint(&b.1)
}
