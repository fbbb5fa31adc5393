//! Statements.

use super::Lowerer;
use super::storage::{CopyOut, INDEX_BITS, Rvalue, StaticStorage, Target};
use p4cc_budget::Resource;
use p4cc_ir::{BinOp, Bits, BlockId, Inst, Operand, Terminator, VarType};
use p4cc_syntax::Span;
use p4cc_syntax::ast::{BinaryOp, UnaryOp};
use p4cc_types::hir::{Expr, ExprKind, Stmt, StmtKind};
use p4cc_types::ids::{ActId, LocalId, TabId};
use p4cc_types::ty::Ty;
use p4cc_types::value::Value;

impl Lowerer<'_> {
    /// Lowers statements in order. What stands behind an end is dropped.
    pub(super) fn stmts(&mut self, stmts: &[Stmt]) -> Option<()> {
        for (at, stmt) in stmts.iter().enumerate() {
            if self.func.ended() {
                self.note_unreached(stmts.get(at..).unwrap_or_default());
                return Some(());
            }
            self.within("statement", stmt.span, |this| this.stmt(stmt))?;
        }
        Some(())
    }

    fn stmt(&mut self, stmt: &Stmt) -> Option<()> {
        self.place = stmt.span;
        // Control flow takes blocks even where it takes no instructions.
        self.charge(Resource::Instructions, 1, stmt.span)?;
        self.within("statement", stmt.span, |this| this.stmt_of(stmt))
    }

    fn stmt_of(&mut self, stmt: &Stmt) -> Option<()> {
        match &stmt.kind {
            StmtKind::Declare(id, init) => self.declare_local(*id, init.as_ref()),
            StmtKind::Assign(target, value) => self.assign_stmt(target, value),
            StmtKind::Update { target, old, value } => self.update(target, *old, value),
            StmtKind::Call(call) => self.call_stmt(call),
            StmtKind::If(cond, then, otherwise) => self.if_stmt(cond, then, otherwise),
            StmtKind::SwitchAction { table, cases, default } => {
                self.switch_action(*table, cases, default, stmt.span)
            }
            StmtKind::SwitchValue { value, cases, default } => self.switch_value(value, cases, default),
            StmtKind::For { init, cond, update, body } => self.for_loop(init, cond, update, body),
            StmtKind::ForEach { var, items, body } => self.for_each(*var, items, body),
            StmtKind::ForRange { var, low, high, body } => self.for_range(*var, low, high, body),
            StmtKind::Break => {
                let (end, _) = self.flow.loops.last().copied()?;
                self.func.end(Terminator::Jump(end));
                Some(())
            }
            StmtKind::Continue => {
                let (_, next) = self.flow.loops.last().copied()?;
                self.func.end(Terminator::Jump(next));
                Some(())
            }
            StmtKind::Return(value) => self.return_stmt(value.as_ref()),
            StmtKind::Exit => self.exit_stmt(stmt.span),
            StmtKind::Block(body) => self.stmts(body),
        }
    }

    fn declare_local(&mut self, id: LocalId, init: Option<&Expr>) -> Option<()> {
        let place = self.local_place(id)?;
        let local = self.hir.locals.get(id.index())?;
        match init {
            Some(init) => {
                let value = self.rvalue(init)?;
                if let (StaticStorage::Scalar(dst), Rvalue::Scalar(src)) = (&place, &value) {
                    self.assign_scalar(*dst, src.clone(), init);
                    return Some(());
                }
                self.assign(Target::StaticStorage(place), value, &local.ty, init.span)
            }
            None => {
                self.invalidate(&place);
                Some(())
            }
        }
    }

    /// Makes every header of a place invalid, as those of a new variable are.
    pub(super) fn invalidate(&mut self, place: &StaticStorage) {
        match place {
            StaticStorage::Scalar(_) => {}
            StaticStorage::Header(header) => self.emit(Inst::SetInvalid { header: *header }),
            StaticStorage::Stack(stack) => {
                let elements =
                    self.out.stacks.get(stack.index()).map_or_else(Vec::new, |s| s.elements.clone());
                elements.into_iter().for_each(|header| self.emit(Inst::SetInvalid { header }));
                self.empty_stacks(place);
            }
            StaticStorage::Union(union) => {
                let members = self.out.unions.get(union.index()).map_or_else(Vec::new, |u| u.members.clone());
                members.into_iter().for_each(|header| self.emit(Inst::SetInvalid { header }));
            }
            StaticStorage::UnionStack(stack) => {
                stack.unions.iter().for_each(|union| self.invalidate(&StaticStorage::Union(*union)));
                self.empty_stacks(place);
            }
            StaticStorage::Struct(parts) => parts.iter().for_each(|part| self.invalidate(part)),
        }
    }

    /// Says of the stacks of a place that nothing was extracted to them. Only parsers ask.
    pub(super) fn empty_stacks(&mut self, place: &StaticStorage) {
        let next = Operand::Const(Bits::zero(INDEX_BITS));
        match place {
            StaticStorage::Stack(stack) if self.flow.in_parser => {
                self.emit(Inst::StackSetNextIndex { stack: *stack, next });
            }
            StaticStorage::UnionStack(stack) => self.emit(Inst::Assign { dst: stack.next, src: next }),
            StaticStorage::Struct(parts) => parts.iter().for_each(|part| self.empty_stacks(part)),
            _ => {}
        }
    }

    fn if_stmt(&mut self, cond: &Expr, then: &[Stmt], otherwise: &[Stmt]) -> Option<()> {
        if let Ok(Some(Value::Bool(known))) = self.try_const(cond) {
            return self.stmts(if known { then } else { otherwise });
        }
        let (yes, no, end) = (self.func.block(""), self.func.block(""), self.func.block(""));
        self.branch(cond, yes, no)?;
        for (block, body) in [(yes, then), (no, otherwise)] {
            self.func.open(block);
            self.stmts(body)?;
            self.func.end(Terminator::Jump(end));
        }
        self.func.open(end);
        Some(())
    }

    /// Goes to one of two blocks by a condition, without making a value of `&&`, `||` and `!`.
    fn branch(&mut self, cond: &Expr, yes: BlockId, no: BlockId) -> Option<()> {
        self.charge(Resource::Instructions, 1, cond.span)?;
        match &cond.kind {
            ExprKind::Unary(UnaryOp::Not, inner) => self.branch(inner, no, yes),
            ExprKind::Binary(BinaryOp::And, a, b) => {
                let more = self.func.block("");
                self.branch(a, more, no)?;
                self.func.open(more);
                self.branch(b, yes, no)
            }
            ExprKind::Binary(BinaryOp::Or, a, b) => {
                let more = self.func.block("");
                self.branch(a, yes, more)?;
                self.func.open(more);
                self.branch(b, yes, no)
            }
            _ => {
                let cond = self.operand(cond)?;
                self.func.end(Terminator::Branch { cond, then: yes, otherwise: no });
                Some(())
            }
        }
    }

    fn switch_action(
        &mut self,
        table: TabId,
        cases: &[(Vec<ActId>, Vec<Stmt>)],
        default: &[Stmt],
        span: Span,
    ) -> Option<()> {
        let ran = self.temp(VarType::Bit(32));
        self.apply_table(table, None, Some(ran), span)?;
        let listed: Vec<ActId> =
            self.hir.tables.get(table.index())?.actions.iter().map(|a| a.action).collect();
        let mut keyed = Vec::with_capacity(cases.len());
        for (labels, body) in cases {
            self.charge(Resource::Steps, (listed.len() * labels.len()) as u64 / 8 + 1, span)?;
            let at = labels.iter().filter_map(|label| listed.iter().position(|action| action == label));
            keyed.push((at.map(|at| Bits::from_u128(32, at as u128)).collect(), body.as_slice()));
        }
        self.switch(Operand::Var(ran), keyed, default)
    }

    fn switch_value(
        &mut self,
        value: &Expr,
        cases: &[(Vec<Expr>, Vec<Stmt>)],
        default: &[Stmt],
    ) -> Option<()> {
        if self.is_empty(&value.ty) {
            // There is one value only, and so one label.
            self.rvalue(value)?;
            return self.stmts(cases.first().map_or(default, |(_, body)| body));
        }
        let width = self.width(&value.ty)?;
        let value = self.operand(value)?;
        let mut keyed = Vec::with_capacity(cases.len());
        for (labels, body) in cases {
            let labels: Option<Vec<Bits>> =
                labels.iter().map(|label| Some(self.const_value(label)?.to_bits(width))).collect();
            keyed.push((labels?, body.as_slice()));
        }
        self.switch(value, keyed, default)
    }

    fn switch(&mut self, value: Operand, cases: Vec<(Vec<Bits>, &[Stmt])>, default: &[Stmt]) -> Option<()> {
        self.charge(Resource::Instructions, cases.len() as u64, self.place)?;
        let (other, end) = (self.func.block(""), self.func.block(""));
        let bodies: Vec<(BlockId, &[Stmt])> =
            cases.iter().map(|(_, body)| (self.func.block(""), *body)).collect();
        let targets = cases
            .into_iter()
            .zip(&bodies)
            .flat_map(|((labels, _), (block, _))| labels.into_iter().map(|label| (label, *block)))
            .collect();
        self.func.end(Terminator::Switch { value, cases: targets, default: other });
        for (block, body) in bodies.into_iter().chain([(other, default)]) {
            self.func.open(block);
            self.stmts(body)?;
            self.func.end(Terminator::Jump(end));
        }
        self.func.open(end);
        Some(())
    }

    fn for_loop(&mut self, init: &[Stmt], cond: &Expr, update: &[Stmt], body: &[Stmt]) -> Option<()> {
        self.stmts(init)?;
        let (head, round) = (self.func.block(""), self.func.block(""));
        let (next, end) = (self.func.block(""), self.func.block(""));
        self.func.end(Terminator::Jump(head));
        self.func.open(head);
        self.branch(cond, round, end)?;
        self.func.open(round);
        self.flow.loops.push((end, next));
        let made = self.stmts(body);
        self.flow.loops.pop();
        made?;
        self.func.end(Terminator::Jump(next));
        self.func.open(next);
        self.stmts(update)?;
        self.func.end(Terminator::Jump(head));
        self.func.open(end);
        Some(())
    }

    /// A round per element, one behind the other: how many there are is known.
    fn for_each(&mut self, var: LocalId, items: &Expr, body: &[Stmt]) -> Option<()> {
        let ty = self.hir.locals.get(var.index())?.ty.clone();
        let place = self.local_place(var)?;
        // The body may change what the loop runs over.
        let value = self.rvalue(items)?;
        let parts: Vec<Ty> = match &items.ty {
            Ty::Stack(_, size) => (0..*size).map(|_| ty.clone()).collect(),
            _ => self.parts(&items.ty)?.into_iter().map(|(_, part)| part).collect(),
        };
        let value = self.snapshot(value, &items.ty, items.span)?;
        let values = self.parts_of(value, &parts, items.span)?;
        let end = self.func.block("");
        for value in values {
            self.count_inlined(items.span)?;
            let next = self.func.block("");
            self.assign(Target::StaticStorage(place.clone()), value, &ty, items.span)?;
            self.flow.loops.push((end, next));
            let made = self.stmts(body);
            self.flow.loops.pop();
            made?;
            self.func.end(Terminator::Jump(next));
            self.func.open(next);
        }
        self.func.end(Terminator::Jump(end));
        self.func.open(end);
        Some(())
    }

    fn for_range(&mut self, var: LocalId, low: &Expr, high: &Expr, body: &[Stmt]) -> Option<()> {
        let ty = self.hir.locals.get(var.index())?.ty.clone();
        let signed = matches!(self.hir.underlying(&ty), Ty::Int(_));
        let width = self.width(&ty)?;
        let StaticStorage::Scalar(shown) = self.local_place(var)? else { return self.shape_error(low.span) };
        // The body may write its variable; how often it runs follows from the range alone.
        let counter = self.temp(self.var_type(&ty)?);
        let first = self.operand_before(low, &[high])?;
        let last = self.operand(high)?;
        let last = self.snapshot_operand(last)?;
        self.emit(Inst::Assign { dst: counter, src: first });
        let (round, next) = (self.func.block(""), self.func.block(""));
        let (step, end) = (self.func.block(""), self.func.block(""));
        let more = self.temp(VarType::Bool);
        self.emit(Inst::Binary {
            dst: more,
            op: BinOp::Le { signed },
            a: Operand::Var(counter),
            b: last.clone(),
        });
        self.func.end(Terminator::Branch { cond: Operand::Var(more), then: round, otherwise: end });
        self.func.open(round);
        self.emit(Inst::Assign { dst: shown, src: Operand::Var(counter) });
        self.flow.loops.push((end, next));
        let made = self.stmts(body);
        self.flow.loops.pop();
        made?;
        self.func.end(Terminator::Jump(next));
        // The last value ends the loop before the counter could wrap around.
        self.func.open(next);
        self.emit(Inst::Binary { dst: more, op: BinOp::Eq, a: Operand::Var(counter), b: last });
        self.func.end(Terminator::Branch { cond: Operand::Var(more), then: end, otherwise: step });
        self.func.open(step);
        let one = Operand::Const(Bits::from_u128(width, 1));
        self.emit(Inst::Binary { dst: counter, op: BinOp::Add, a: Operand::Var(counter), b: one });
        self.func.end(Terminator::Jump(round));
        self.func.open(end);
        Some(())
    }

    fn return_stmt(&mut self, value: Option<&Expr>) -> Option<()> {
        if let Some(value) = value {
            let place = self.flow.result.clone()?;
            let made = self.rvalue(value)?;
            self.assign(Target::StaticStorage(place), made, &value.ty, value.span)?;
        }
        self.func.end(match self.flow.end {
            Some(end) => Terminator::Jump(end),
            None => Terminator::Return,
        });
        Some(())
    }

    /// `exit` first gives the callers around their out and inout arguments.
    pub(super) fn exit_stmt(&mut self, span: Span) -> Option<()> {
        let pending: Vec<Vec<CopyOut>> = self.flow.pending.clone();
        for copies in pending.into_iter().rev() {
            self.copy_out(copies, span)?;
        }
        let bit = |value: u128| Operand::Const(Bits::from_u128(1, value));
        if self.flow.in_action {
            self.flow.exits = true;
            let flag = self.exit_flag();
            self.emit(Inst::Assign { dst: flag, src: bit(1) });
            self.func.end(Terminator::Return);
            return Some(());
        }
        if let Some(flag) = self.exit_flag {
            self.emit(Inst::Assign { dst: flag, src: bit(0) });
        }
        self.func.end(Terminator::Exit);
        Some(())
    }
}
