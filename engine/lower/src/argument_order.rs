//! Arguments of externs in their evaluation order (P4-16 6.8).
//!
//! The lowering of an extern reads its arguments in any order. The difference is visible if an argument has
//! side effects. All arguments are then evaluated first, and names stand for their values.

use super::Lowerer;
use super::storage::{Binding, CopyOut, Target};
use p4cc_ir::VarKind;
use p4cc_syntax::ast::Direction;
use p4cc_types::hir::{Call, Expr, ExprKind};
use p4cc_types::ids::LocalId;
use p4cc_types::ty::Ty;
use p4cc_types::walk::has_call;

impl Lowerer<'_> {
    /// Makes a call of an extern by `make`; evaluating what it is given has no effects any more.
    pub(super) fn with_args<T>(
        &mut self,
        call: &Call,
        make: impl FnOnce(&mut Self, &Call) -> Option<T>,
    ) -> Option<T> {
        if !call.args.iter().flatten().any(has_call) {
            return make(self, call);
        }
        let directions = self.directions(&call.callee, call.args.len()).unwrap_or_default();
        let mut settled = call.clone();
        let mut copies = Vec::new();
        let given: Vec<(usize, &Expr)> = call.in_evaluation_order().collect();
        for (turn, (at, arg)) in given.iter().enumerate() {
            let later: Vec<&Expr> = given.iter().skip(turn + 1).map(|(_, arg)| *arg).collect();
            let made = match directions.get(*at) {
                Some(Direction::Out | Direction::InOut) => {
                    let read = directions.get(*at) == Some(&Direction::InOut);
                    self.settled_place(arg, read, &later, &mut copies)?
                }
                _ => self.settled_value(arg, &later)?,
            };
            *settled.args.get_mut(*at)? = Some(made);
        }
        let made = make(self, &settled)?;
        self.copy_out(copies, call.span)?;
        Some(made)
    }

    /// An argument that is read.
    fn settled_value(&mut self, arg: &Expr, later: &[&Expr]) -> Option<Expr> {
        let plain = matches!(arg.ty, Ty::Extern(..) | Ty::Block(_) | Ty::String | Ty::Integer);
        if plain || matches!(self.try_const(arg), Ok(Some(_))) {
            return Some(arg.clone());
        }
        let value = self.rvalue_before(arg, later)?;
        Some(self.named(Binding::Value(value), arg))
    }

    /// An argument that is written. What is no variable gets its value behind the call.
    fn settled_place(
        &mut self,
        arg: &Expr,
        read: bool,
        later: &[&Expr],
        copies: &mut Vec<CopyOut>,
    ) -> Option<Expr> {
        if let Some(stack) = next_of(arg) {
            // `extract` counts the element by itself; that there is one is found out at its turn.
            self.stack_end(stack, false)?;
            return Some(arg.clone());
        }
        let target = self.target(arg)?;
        if let Target::StaticStorage(place) = &target
            && !(read && self.target_changes(&target, later))
        {
            return Some(self.named(Binding::StaticStorage(place.clone()), arg));
        }
        let name = format!("{}.tmp{}", self.name, self.out.vars.len());
        let place = self.alloc(&arg.ty, &name, VarKind::Local, arg.span)?;
        if read {
            let value = self.read_target(&target, &arg.ty)?;
            self.assign(Target::StaticStorage(place.clone()), value, &arg.ty, arg.span)?;
        }
        copies.push(CopyOut { target, place: place.clone(), ty: arg.ty.clone() });
        Some(self.named(Binding::StaticStorage(place), arg))
    }

    /// A name for something that an argument gave.
    fn named(&mut self, binding: Binding, arg: &Expr) -> Expr {
        let id = LocalId::from_index(self.hir.locals.len() + self.named_args);
        self.named_args += 1;
        self.bind(id, binding);
        Expr { kind: ExprKind::Local(id), ty: arg.ty.clone(), span: arg.span }
    }
}

/// The stack whose next element, or a member of whose next union, an argument is.
fn next_of(arg: &Expr) -> Option<&Expr> {
    match &arg.kind {
        ExprKind::StackNext(stack) => Some(stack),
        ExprKind::Field(union, _) => match &union.kind {
            ExprKind::StackNext(stack) => Some(stack),
            _ => None,
        },
        _ => None,
    }
}
