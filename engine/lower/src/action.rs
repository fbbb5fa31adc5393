//! Actions: bodies that tables run, wrappers that bind directional arguments, direct calls.

use super::inline::Passing;
use super::storage::{Binding, StaticStorage};
use super::{Flow, Lowerer};
use p4cc_ir::{
    Action, ActionId, ActionParam, ControlPlaneName, Inst, Operand, Terminator, VarId, VarKind, VarType,
};
use p4cc_syntax::ast::Direction;
use p4cc_syntax::{Diagnostic, Span};
use p4cc_types::hir::{self, ActionRef, Call, Expr, LocalKind};
use p4cc_types::ids::{ActId, LocalId};
use p4cc_types::ty::Ty;

impl Lowerer<'_> {
    fn is_directional(&self, param: LocalId) -> bool {
        !matches!(
            self.hir.locals.get(param.index()).map(|local| local.kind),
            Some(LocalKind::Param(Direction::None))
        )
    }

    fn is_composite(&self, param: LocalId) -> bool {
        let local = self.hir.locals.get(param.index());
        local.is_some_and(|local| matches!(local.ty, Ty::Aggregate(_) | Ty::Stack(..) | Ty::Tuple(_)))
    }

    /// A direct call.
    pub(super) fn call_action(&mut self, id: ActId, call: &Call) -> Option<()> {
        let span = call.span;
        self.count_inlined(span)?;
        self.note_call(id);
        let action = self.hir.actions.get(id.index())?;
        if self.flow.in_parser {
            let message = format!("action `{}` cannot be called in a parser", action.name);
            return self.misplaced(span, message, "move its statements into the state, or call a function");
        }
        // A deparser has no functions of its own, so that an action may emit. Data of actions are scalars.
        let is_bound = |param: &LocalId| self.is_directional(*param) || self.is_composite(*param);
        if self.in_plain_deparser() || action.params.iter().any(is_bound) {
            return self.inline_action(id, call);
        }
        let made = self.action(id, span)?;
        let mut operands = vec![None; call.args.len()];
        let given: Vec<(usize, &Expr)> = call.in_evaluation_order().collect();
        for (turn, (at, arg)) in given.iter().enumerate() {
            if self.is_empty(&arg.ty) {
                self.rvalue(arg)?;
                continue;
            }
            let later: Vec<&Expr> = given.iter().skip(turn + 1).map(|(_, arg)| *arg).collect();
            *operands.get_mut(*at)? = Some(self.operand_before(arg, &later)?);
        }
        // What has no bits is no parameter of an action either.
        let args = operands.into_iter().flatten().collect();
        self.emit(Inst::CallAction { action: made, args });
        self.pass_exit_on(&[made], span)
    }

    fn inline_action(&mut self, id: ActId, call: &Call) -> Option<()> {
        let action = self.hir.actions.get(id.index())?;
        let source = (id, if action.global { 0 } else { self.env.0 });
        if !self.inlined_actions.iter().any(|(known, _)| *known == source) {
            self.inlined_actions.push((source, self.action_name(action)));
        }
        let args = (call.args.as_slice(), &call.order);
        let copies = self.bind_args(&action.params, args, self.env, passing(action.global))?;
        let end = self.func.block("");
        let outer_end = self.flow.end.replace(end);
        let outer_loops = std::mem::take(&mut self.flow.loops);
        self.flow.pending.push(copies);
        let within_action = std::mem::replace(&mut self.flow.within_action, true);
        let made = self.stmts(&action.body);
        self.flow.within_action = within_action;
        let copies = self.flow.pending.pop().unwrap_or_default();
        self.flow.loops = outer_loops;
        self.flow.end = outer_end;
        made?;
        self.func.end(Terminator::Jump(end));
        self.func.open(end);
        self.copy_out(copies, call.span)
    }

    /// Calls of global actions in statements that no packet
    /// reaches: p4c tells the control plane of these actions.
    pub(super) fn note_unreached(&mut self, stmts: &[hir::Stmt]) {
        for stmt in stmts {
            let hir::StmtKind::Call(call) = &stmt.kind else { continue };
            let hir::Callee::Action(id) = call.callee else { continue };
            let Some(action) = self.hir.actions.get(id.index()).filter(|action| action.global) else {
                continue;
            };
            self.note_call(id);
            if !self.inlined_actions.iter().any(|(known, _)| *known == (id, 0)) {
                self.inlined_actions.push(((id, 0), self.action_name(action)));
            }
        }
    }

    /// Actions that were only inlined, because all their arguments come from the program: the control plane
    /// sees them nevertheless, without parameters (as p4c has it).
    pub(super) fn declare_inlined(&mut self) -> Option<()> {
        for (source, cp) in std::mem::take(&mut self.inlined_actions) {
            if self.action_sources.contains(&source) {
                continue;
            }
            let body = self.function(cp.name.clone(), Flow::default(), &Terminator::Return, |_| Some(()))?;
            self.out.actions.push(Action { cp, params: Vec::new(), body });
            self.action_sources.push(source);
        }
        Some(())
    }

    fn action_name(&self, action: &hir::Action) -> ControlPlaneName {
        match action.global {
            true => Self::cp_name_in("", &action.name, &action.annotations),
            false => self.cp_name(&action.name, &action.annotations),
        }
    }

    /// What the control plane gives with an action has no parts: P4Info has no others.
    fn is_data(&mut self, action: &hir::Action, span: Span) -> Option<()> {
        let bad =
            action.params.iter().find(|param| !self.is_directional(**param) && self.is_composite(**param));
        let Some(local) = bad.and_then(|param| self.hir.locals.get(param.index())) else { return Some(()) };
        let (name, shown) = (&local.name, self.hir.show(&local.ty));
        let message =
            format!("parameter `{name}` comes from the control plane and cannot have type `{shown}`");
        let help = "pass the fields as action parameters, or call the action without a table";
        let found = Diagnostic::error(local.span, message).with_help(help);
        self.push(found.with_related(span, "the table lists it here"));
        None
    }

    /// The action that a table lists. Directional parameters are bound by an action of its own; several that
    /// bind one action to different arguments share its name, and are one action to the control plane.
    pub(super) fn listed_action(&mut self, listed: &ActionRef) -> Option<ActionId> {
        let action = self.hir.actions.get(listed.action.index())?;
        self.is_data(action, listed.span)?;
        if !action.params.iter().any(|param| self.is_directional(*param)) {
            return self.action(listed.action, listed.span);
        }
        self.count_inlined(listed.span)?;
        let places: Option<Vec<StaticStorage>> =
            listed.args.iter().map(|arg| arg.as_ref().and_then(|arg| self.static_place(arg))).collect();
        let key = places
            .filter(|_| listed.order.is_plain())
            .map(|places| (listed.action, if action.global { 0 } else { self.env.0 }, places));
        if let Some((_, made)) = self.wrappers.iter().find(|(old, _)| Some(old) == key.as_ref()) {
            return Some(*made);
        }
        let directional: Vec<LocalId> =
            action.params.iter().copied().filter(|param| self.is_directional(*param)).collect();
        let made = self.make_action(listed.action, |this| {
            let args = (listed.args.as_slice(), &listed.order);
            let copies = this.bind_args(&directional, args, this.env, passing(action.global))?;
            // A `return` in the body leads to the copies, not past them.
            let end = this.func.block("");
            this.flow.end = Some(end);
            this.flow.pending.push(copies);
            this.stmts(&action.body)?;
            let copies = this.flow.pending.pop().unwrap_or_default();
            this.func.end(Terminator::Jump(end));
            this.func.open(end);
            this.copy_out(copies, listed.span)
        })?;
        if let Some(key) = key {
            self.wrappers.push((key, made));
        }
        Some(made)
    }

    /// An action without directional parameters, made on first use in the current environment.
    pub(super) fn action(&mut self, id: ActId, span: Span) -> Option<ActionId> {
        let action = self.hir.actions.get(id.index())?;
        // Global actions are one action, wherever they are used.
        let env = if action.global { 0 } else { self.env.0 };
        if let Some(made) = self.envs.get(env).and_then(|env| env.actions.get(&id)) {
            return Some(*made);
        }
        self.count_inlined(span)?;
        let made = self.make_action(id, |this| this.stmts(&action.body))?;
        if let Some(env) = self.envs.get_mut(env) {
            env.actions.insert(id, made);
        }
        Some(made)
    }

    fn make_action(&mut self, id: ActId, body: impl FnOnce(&mut Self) -> Option<()>) -> Option<ActionId> {
        let action = self.hir.actions.get(id.index())?;
        let cp = self.action_name(action);
        let mut params = Vec::new();
        for param in action.params.iter().copied() {
            if self.is_directional(param) {
                continue;
            }
            let local = self.hir.locals.get(param.index())?;
            let name = format!("{}.{}", cp.name, local.name);
            let place = self.alloc(&local.ty, &name, VarKind::Local, local.span)?;
            self.bind(param, Binding::StaticStorage(place.clone()));
            // A parameter without bits has one value: the control plane does not hear of it.
            if self.is_empty(&local.ty) {
                continue;
            }
            let StaticStorage::Scalar(var) = place else { return self.shape_error(local.span) };
            let cp = Self::cp_name_in("", &local.name, &local.annotations);
            params.push(ActionParam { cp: self.typed(cp, &local.ty), var });
        }
        let mut exits = false;
        let flow = Flow { in_action: true, within_action: true, ..Flow::default() };
        let body = self.function(cp.name.clone(), flow, &Terminator::Return, |this| {
            let made = body(this);
            exits = this.flow.exits;
            made
        })?;
        let made = ActionId::from_index(self.out.actions.len());
        self.out.actions.push(Action { cp, params, body });
        self.action_sources.push((id, if action.global { 0 } else { self.env.0 }));
        if exits {
            self.exiting.insert(made);
        }
        Some(made)
    }

    /// Behind a call or a table: when an action of these ended by `exit`, so does what called it.
    ///
    /// An action cannot know which copies its callers owe. It leaves a flag and returns; each caller looks at
    /// the flag, pays what it owes and leaves in its turn.
    pub(super) fn pass_exit_on(&mut self, actions: &[ActionId], span: Span) -> Option<()> {
        if !actions.iter().any(|action| self.exiting.contains(action)) {
            return Some(());
        }
        let flag = self.exit_flag();
        let (leave, stay) = (self.func.block(""), self.func.block(""));
        self.func.end(Terminator::Branch { cond: Operand::Var(flag), then: leave, otherwise: stay });
        self.func.open(leave);
        self.exit_stmt(span)?;
        self.func.open(stay);
        Some(())
    }

    /// Set while an `exit` in an action is on its way to the control around.
    pub(super) fn exit_flag(&mut self) -> VarId {
        if let Some(flag) = self.exit_flag {
            return flag;
        }
        let flag = self.new_var("exit", VarType::Bool, VarKind::Local);
        self.exit_flag = Some(flag);
        flag
    }

    /// Values of an action's control-plane parameters, known at compile time.
    pub(super) fn action_data(&mut self, id: ActId, args: &[Option<Expr>]) -> Option<Vec<p4cc_ir::Bits>> {
        let action = self.hir.actions.get(id.index())?;
        let params: Vec<LocalId> =
            action.params.iter().copied().filter(|param| !self.is_directional(*param)).collect();
        let mut data = Vec::with_capacity(params.len());
        for (param, arg) in params.iter().zip(args) {
            let ty = &self.hir.locals.get(param.index())?.ty;
            if self.is_empty(ty) {
                continue;
            }
            let width = self.width(ty)?;
            match self.operand(arg.as_ref()?)? {
                Operand::Const(bits) if bits.width() == width => data.push(bits),
                _ => return self.shape_error(action.span),
            }
        }
        Some(data)
    }
}

/// A global action sees its parameters only, as a function does.
fn passing(global: bool) -> Passing {
    if global { Passing::Function } else { Passing::Action }
}
