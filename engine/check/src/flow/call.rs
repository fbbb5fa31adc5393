//! Calls: what they read, and what they give a value.

use super::Flow;
use super::state::{State, Validity, join};
use p4cc_syntax::ast::Direction;
use p4cc_types::hir::{ActionRef, Builtin, Call, Callee, Constructed, Expr, ExprKind};
use p4cc_types::ids::{ActId, LocalId, TabId};
use p4cc_types::order::Order;
use p4cc_types::ty::Ty;

impl Flow<'_> {
    pub(super) fn call(&mut self, call: &Call) {
        match &call.callee {
            Callee::Action(id) => {
                let args: Vec<Option<&Expr>> = call.args.iter().map(Option::as_ref).collect();
                self.run_action(*id, &args, &call.order);
            }
            Callee::Table(table) => {
                let ways = self.apply_table(*table);
                self.now = ways.into_iter().fold(None, |sum, (_, way)| join(sum, way));
            }
            Callee::Builtin(builtin, object) => self.builtin(*builtin, object),
            callee => {
                let directions = self.directions(callee, call.args.len());
                self.pass(&directions, call);
            }
        }
    }

    /// Directions of a callee's parameters.
    fn directions(&self, callee: &Callee, count: usize) -> Vec<Direction> {
        match callee {
            Callee::Function(id) => self
                .program
                .functions
                .get(id.index())
                .map_or_else(Vec::new, |function| self.local_directions(&function.params)),
            Callee::Extern { params, .. } => params.iter().map(|(direction, _)| *direction).collect(),
            Callee::Method { object, name, .. } => {
                self.program.method_params(object, name, count).iter().map(|param| param.direction).collect()
            }
            Callee::Apply(object) => self.apply_directions(object),
            Callee::Action(_) | Callee::Table(_) | Callee::Builtin(..) => Vec::new(),
        }
    }

    fn local_directions(&self, params: &[LocalId]) -> Vec<Direction> {
        params.iter().map(|param| self.program.direction(*param)).collect()
    }

    fn apply_directions(&self, object: &Expr) -> Vec<Direction> {
        if let ExprKind::Instance(id) = &object.kind
            && let Some(instance) = self.program.instances.get(id.index())
        {
            let params = match instance.construct.what {
                Constructed::Control(id) => self.program.controls.get(id.index()).map(|c| &c.params),
                Constructed::Parser(id) => self.program.parsers.get(id.index()).map(|p| &p.params),
                _ => None,
            };
            return params.map_or_else(Vec::new, |params| self.local_directions(params));
        }
        match &object.ty {
            Ty::Block(block) => block.params.iter().map(|(direction, _)| *direction).collect(),
            _ => Vec::new(),
        }
    }

    /// Arguments of a body that is looked at on its own, or has none.
    fn pass(&mut self, directions: &[Direction], call: &Call) {
        let direction = |at: usize| directions.get(at).copied().unwrap_or(Direction::None);
        for (_, arg) in call.in_evaluation_order().filter(|(at, _)| direction(*at) != Direction::Out) {
            self.read(arg);
        }
        for (at, arg) in call.in_evaluation_order() {
            if matches!(direction(at), Direction::Out | Direction::InOut) {
                self.give(arg);
            }
        }
    }

    /// A place gets a value that is not looked at. What is found on the way was told when it was read.
    fn give(&mut self, arg: &Expr) {
        self.quiet += 1;
        self.write(arg, None);
        self.quiet -= 1;
    }

    fn builtin(&mut self, builtin: Builtin, object: &Expr) {
        let Some(region) = self.layouts.holder(object) else { return };
        let exact = self.layouts.place(object).is_some();
        let Some(now) = &mut self.now else { return };
        match builtin {
            Builtin::IsValid => {}
            Builtin::SetInvalid if exact => now.set_validity(&region, Validity::Invalid),
            Builtin::SetInvalid => {}
            Builtin::SetValid => now.set_validity(&region, Validity::Valid),
            Builtin::PushFront | Builtin::PopFront => {
                now.set(&region);
                now.set_validity(&region, Validity::Valid);
            }
        }
    }

    /// Goes through an action's body; it sees the variables of its control.
    fn run_action(&mut self, id: ActId, args: &[Option<&Expr>], order: &Order) {
        let Some(action) = self.program.actions.get(id.index()) else { return };
        for at in order.positions(args.len()) {
            if let (Some(param), Some(Some(arg))) = (action.params.get(at), args.get(at))
                && self.program.direction(*param) != Direction::Out
            {
                self.read(arg);
            }
        }
        action.params.iter().for_each(|param| self.declare_param(*param));
        let outer = self.returned.take();
        let loops = std::mem::take(&mut self.loops);
        self.stmts(&action.body);
        self.loops = loops;
        self.now = join(self.now.take(), std::mem::replace(&mut self.returned, outer));
        let Some(end) = self.now.clone() else { return };
        for param in &action.params {
            self.report_out_param(&end, *param, &action.name);
        }
        for (param, arg) in action.params.iter().zip(args) {
            if let Some(arg) = arg
                && matches!(self.program.direction(*param), Direction::Out | Direction::InOut)
            {
                self.give(arg);
            }
        }
    }

    /// Applies a table: each action that it may run, with what holds behind it; `None` stands for none.
    pub(super) fn apply_table(&mut self, id: TabId) -> Vec<(Option<ActId>, Option<State>)> {
        let Some(table) = self.program.tables.get(id.index()) else {
            return vec![(None, self.now.take())];
        };
        table.keys.iter().for_each(|key| self.read(&key.expr));
        let before = self.now.take();
        let mut ways = Vec::with_capacity(table.actions.len() + 1);
        for listed in &table.actions {
            self.now.clone_from(&before);
            self.run_listed(listed);
            ways.push((Some(listed.action), self.now.take()));
        }
        if table.default_action.is_none() {
            ways.push((self.program.no_action, before));
        }
        ways
    }

    fn run_listed(&mut self, listed: &ActionRef) {
        // The list binds the directional parameters, which come first.
        let args: Vec<Option<&Expr>> = listed.args.iter().map(Option::as_ref).collect();
        let count = self.program.actions.get(listed.action.index()).map_or(0, |action| action.params.len());
        let padding = count.saturating_sub(args.len());
        let args: Vec<Option<&Expr>> = args.into_iter().chain(std::iter::repeat_n(None, padding)).collect();
        self.run_action(listed.action, &args, &listed.order);
    }

    /// What holds behind a table where an entry matched, and where none did.
    pub(super) fn hit_and_miss(&mut self, id: TabId) -> (Option<State>, Option<State>) {
        let default = self
            .program
            .tables
            .get(id.index())
            .and_then(|table| table.default_action.as_ref())
            .map(|action| action.action)
            .or(self.program.no_action);
        let (mut hit, mut miss) = (None, None);
        for (action, way) in self.apply_table(id) {
            if action == default {
                miss = join(miss, way.clone());
            }
            hit = join(hit, way);
        }
        (hit, miss)
    }
}
