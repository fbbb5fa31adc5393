//! Expressions: reads, writes and conditions.

use super::Flow;
use super::state::{State, Validity, join};
use p4cc_syntax::ast::{BinaryOp, UnaryOp};
use p4cc_types::hir::{Builtin, Callee, Expr, ExprKind};
use p4cc_types::ty::Ty;
use p4cc_types::value::Value;
use p4cc_types::walk::each_part;
use p4cc_types::walk::has_call;

impl Flow<'_> {
    /// A value is needed.
    pub(super) fn read(&mut self, expr: &Expr) {
        if self.now.is_none() {
            return;
        }
        if let Some(region) = self.layouts.place(expr) {
            // A field of an invalid header has no value either way.
            if self.touch_headers(expr, false) {
                self.report_unset(expr, &region);
            }
            return;
        }
        match &expr.kind {
            ExprKind::Call(call) => self.call(call),
            ExprKind::Hit { table, .. } | ExprKind::ActionRun(table) => {
                let ways = self.apply_table(*table);
                self.now = ways.into_iter().fold(None, |sum, (_, way)| join(sum, way));
            }
            ExprKind::Conditional(cond, a, b) => {
                let before = self.now.clone();
                let (yes, no) = self.condition(cond);
                self.now = yes;
                self.read(a);
                let first = std::mem::replace(&mut self.now, no);
                self.read(b);
                let after = join(first, self.now.take());
                self.now = after_value(expr, before, after);
            }
            ExprKind::Binary(BinaryOp::And | BinaryOp::Or, ..) => {
                let before = self.now.clone();
                let (yes, no) = self.condition(expr);
                self.now = after_value(expr, before, join(yes, no));
            }
            // Which element is meant is not known: no word about it.
            ExprKind::Index(_, index) => self.read(index),
            ExprKind::StackNext(_) => self.report_next(expr.span),
            ExprKind::StackLast(_) | ExprKind::StackLastIndex(_) => {}
            _ => each_part(expr, &mut |part| self.read(part)),
        }
    }

    /// The headers on the way to a field are used as valid ones; tells whether they are.
    fn touch_headers(&mut self, expr: &Expr, written: bool) -> bool {
        match &expr.kind {
            ExprKind::Field(base, _) => {
                let valid = !self.program.is_header(&base.ty) || self.report_validity(base, written);
                self.touch_headers(base, written) && valid
            }
            ExprKind::Index(base, _) | ExprKind::Slice(base, _, _) | ExprKind::PlusSlice(base, _, _) => {
                self.touch_headers(base, written)
            }
            _ => true,
        }
    }

    /// A place gets a value: that of `value`, or one that is not known.
    pub(super) fn write(&mut self, target: &Expr, value: Option<&Expr>) {
        if self.now.is_none() {
            return;
        }
        self.touch_headers(target, true);
        let Some(region) = self.layouts.place(target) else {
            self.read_indexes(target);
            // Some part of the holder is written; which one is not known.
            if let (Some(holder), Some(now)) = (self.layouts.holder(target), &mut self.now) {
                now.set(&holder);
                if !matches!(target.kind, ExprKind::Slice(..) | ExprKind::PlusSlice(..)) {
                    now.set_validity(&holder, Validity::Valid);
                }
            }
            return;
        };
        let mut valid = vec![Validity::Valid; region.headers.len()];
        if let Some(value) = value {
            self.validities(&target.ty, value, &mut valid);
        }
        let Some(now) = &mut self.now else { return };
        now.set(&region);
        for (offset, valid) in valid.into_iter().enumerate() {
            let at = region.headers.start + offset;
            let one = super::layout::Region { headers: at..at + 1, ..region.clone() };
            now.set_validity(&one, valid);
        }
    }

    fn read_indexes(&mut self, target: &Expr) {
        match &target.kind {
            ExprKind::Index(base, index) | ExprKind::PlusSlice(base, index, _) => {
                self.read(index);
                self.read_indexes(base);
            }
            ExprKind::Field(base, _) | ExprKind::Slice(base, _, _) | ExprKind::StackNext(base) => {
                self.read_indexes(base);
            }
            _ => {}
        }
    }

    /// Validity of the headers in a value, in order; those not known stay as they are.
    fn validities(&self, ty: &Ty, value: &Expr, out: &mut [Validity]) {
        if let (Some(region), Some(now)) = (self.layouts.place(value), &self.now) {
            for (slot, header) in out.iter_mut().zip(region.headers.clone()) {
                *slot = now.validity(region.local, header);
            }
            return;
        }
        match &value.kind {
            ExprKind::InvalidHeader | ExprKind::Default => out.fill(Validity::Invalid),
            ExprKind::Aggregate(items) | ExprKind::AggregateInOrder(items, _)
                if !self.program.is_union(ty) =>
            {
                let mut at = usize::from(self.program.is_header(ty));
                for item in items {
                    let count = self.layouts.size(&item.ty).headers;
                    let Some(part) = out.get_mut(at..at + count) else { return };
                    self.validities(&item.ty, item, part);
                    at += count;
                }
            }
            _ => {}
        }
    }

    /// Reads a condition; gives what holds where it is true and where it is false.
    pub(super) fn condition(&mut self, cond: &Expr) -> (Option<State>, Option<State>) {
        match &cond.kind {
            ExprKind::Const(Value::Bool(true)) => (self.now.take(), None),
            ExprKind::Const(Value::Bool(false)) => (None, self.now.take()),
            ExprKind::Unary(UnaryOp::Not, inner) => {
                let (yes, no) = self.condition(inner);
                (no, yes)
            }
            ExprKind::Binary(BinaryOp::And, a, b) => {
                let (yes, no) = self.condition(a);
                self.now = yes;
                let (both, second_no) = self.condition(b);
                (both, join(no, second_no))
            }
            ExprKind::Binary(BinaryOp::Or, a, b) => {
                let (yes, no) = self.condition(a);
                self.now = no;
                let (second, neither) = self.condition(b);
                (join(yes, second), neither)
            }
            ExprKind::Hit { table, negated } => {
                let (hit, miss) = self.hit_and_miss(*table);
                if *negated { (miss, hit) } else { (hit, miss) }
            }
            ExprKind::Call(call) => match &call.callee {
                Callee::Builtin(Builtin::IsValid, header) if self.program.is_header(&header.ty) => {
                    self.valid_or_not(header)
                }
                _ => self.plain_condition(cond),
            },
            _ => self.plain_condition(cond),
        }
    }

    fn plain_condition(&mut self, cond: &Expr) -> (Option<State>, Option<State>) {
        self.read(cond);
        let now = self.now.take();
        (now.clone(), now)
    }

    fn valid_or_not(&mut self, header: &Expr) -> (Option<State>, Option<State>) {
        let Some(region) = self.layouts.place(header) else {
            let now = self.now.take();
            return (now.clone(), now);
        };
        let (mut yes, mut no) = (self.now.take(), None);
        no.clone_from(&yes);
        for (way, valid) in [(&mut yes, Validity::Valid), (&mut no, Validity::Invalid)] {
            if let Some(state) = way {
                state.set_validity(&region, valid);
            }
        }
        (yes, no)
    }
}

/// What holds behind a test that is used as a value: it tells
/// what follows nothing about the headers that it tests.
fn after_value(expr: &Expr, before: Option<State>, after: Option<State>) -> Option<State> {
    if has_call(expr) { after } else { before }
}
