//! What expressions that are evaluated later may change: a value is kept from them only where it must be.

use super::Lowerer;
use super::storage::{Binding, Rvalue, Target};
use p4cc_budget::Resource;
use p4cc_ir::{HeaderId, VarId};
use p4cc_syntax::ast::Direction;
use p4cc_types::hir::{Callee, Expr, ExprKind};
use p4cc_types::ids::LocalId;
use p4cc_types::walk::each_part;
use p4cc_types::walk::has_call;
use std::collections::BTreeSet;

/// Most later expressions that are looked into; behind more of them a value is kept in any case.
const MAX_LOOKED_AT: usize = 32;

/// What an entry of a footprint takes of the budget.
const STEPS_AN_ENTRY: u64 = 60;

/// Variables and headers.
#[derive(Default)]
pub(super) struct Footprint {
    pub(super) vars: BTreeSet<VarId>,
    pub(super) headers: BTreeSet<HeaderId>,
}

impl Footprint {
    pub(super) fn is_disjoint(&self, other: &Self) -> bool {
        self.vars.is_disjoint(&other.vars) && self.headers.is_disjoint(&other.headers)
    }

    fn is_empty(&self) -> bool {
        self.vars.is_empty() && self.headers.is_empty()
    }
}

/// What expressions may write.
enum Written {
    /// Parts of these variables.
    Locals(BTreeSet<LocalId>),
    /// A table runs: its actions see all variables of the control.
    Anything,
}

impl Written {
    fn add(&mut self, arg: &Expr) {
        if let (Written::Locals(locals), Some(local)) = (self, root(arg)) {
            locals.insert(local);
        }
    }
}

/// The variable of which an expression that can be written names a part.
fn root(expr: &Expr) -> Option<LocalId> {
    match &expr.kind {
        ExprKind::Local(id) => Some(*id),
        ExprKind::Field(base, _)
        | ExprKind::Index(base, _)
        | ExprKind::Slice(base, _, _)
        | ExprKind::PlusSlice(base, _, _)
        | ExprKind::StackNext(base)
        | ExprKind::StackLast(base) => root(base),
        _ => None,
    }
}

/// Whether evaluating an expression does anything but give a value:
/// calls, and places of a stack that end the parser where there are none.
pub(super) fn acts(expr: &Expr) -> bool {
    let mut found = matches!(expr.kind, ExprKind::StackNext(_) | ExprKind::StackLast(_)) || has_call(expr);
    if !found {
        each_part(expr, &mut |part| found |= acts(part));
    }
    found
}

impl Lowerer<'_> {
    pub(super) fn footprint_of_target(&self, target: &Target) -> Footprint {
        let mut made = Footprint::default();
        self.target_footprint(target, &mut made.vars, &mut made.headers);
        self.charge_footprint(&made);
        made
    }

    pub(super) fn footprint_of_value(&self, value: &Rvalue) -> Footprint {
        let mut made = Footprint::default();
        self.value_footprint(value, &mut made.vars, &mut made.headers);
        self.charge_footprint(&made);
        made
    }

    /// Each call asks for footprints anew. The next statement reports what is too much.
    fn charge_footprint(&self, made: &Footprint) {
        let entries = (made.vars.len() + made.headers.len()) as u64;
        let _ = self.budget.charge(Resource::Steps, STEPS_AN_ENTRY * entries);
    }

    /// Whether a value that was found may be another once later expressions are evaluated.
    pub(super) fn value_changes(&self, value: &Rvalue, later: &[&Expr]) -> bool {
        later.iter().any(|later| has_call(later)) && self.changes(&self.footprint_of_value(value), later)
    }

    /// The same for what a place holds.
    pub(super) fn target_changes(&self, target: &Target, later: &[&Expr]) -> bool {
        later.iter().any(|later| has_call(later)) && self.changes(&self.footprint_of_target(target), later)
    }

    fn changes(&self, read: &Footprint, later: &[&Expr]) -> bool {
        if later.len() > MAX_LOOKED_AT {
            return !read.is_empty();
        }
        let mut written = Written::Locals(BTreeSet::new());
        later.iter().for_each(|later| self.writes(later, &mut written));
        match written {
            Written::Anything => !read.is_empty(),
            Written::Locals(locals) => locals.iter().any(|local| match self.binding(*local) {
                Some(Binding::StaticStorage(place)) => {
                    !read.is_disjoint(&self.footprint_of_target(&Target::StaticStorage(place.clone())))
                }
                _ => false,
            }),
        }
    }

    fn writes(&self, expr: &Expr, written: &mut Written) {
        match &expr.kind {
            ExprKind::Hit { .. } | ExprKind::ActionRun(_) => *written = Written::Anything,
            ExprKind::Call(call) => match self.directions(&call.callee, call.args.len()) {
                Some(directions) => {
                    let out =
                        |at: usize| matches!(directions.get(at), Some(Direction::Out | Direction::InOut));
                    call.in_evaluation_order()
                        .filter(|(at, _)| out(*at))
                        .for_each(|(_, arg)| written.add(arg));
                }
                None => *written = Written::Anything,
            },
            _ => {}
        }
        each_part(expr, &mut |part| self.writes(part, written));
    }

    /// Directions of a callee that sees its parameters only; `None` for one that sees more.
    pub(super) fn directions(&self, callee: &Callee, count: usize) -> Option<Vec<Direction>> {
        match callee {
            Callee::Function(id) => {
                let params = self.hir.functions.get(id.index()).map_or(&[][..], |function| &function.params);
                Some(params.iter().map(|param| self.hir.direction(*param)).collect())
            }
            Callee::Extern { params, .. } => Some(params.iter().map(|(direction, _)| *direction).collect()),
            Callee::Method { object, name, .. } => {
                let params = self.hir.method_params(object, name, count);
                Some(params.iter().map(|param| param.direction).collect())
            }
            Callee::Builtin(p4cc_types::hir::Builtin::IsValid, _) => Some(Vec::new()),
            Callee::Builtin(..) | Callee::Action(_) | Callee::Apply(_) | Callee::Table(_) => None,
        }
    }
}
