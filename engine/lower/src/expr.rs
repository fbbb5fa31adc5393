//! Reading expressions.

use super::Lowerer;
use super::effects::acts;
use super::storage::{Binding, Rvalue, StaticStorage, Target};
use p4cc_budget::Resource;
use p4cc_ir::{BinOp, Bits, Inst, Operand, Terminator, UnOp, VarKind, VarType};
use p4cc_syntax::ast::{BinaryOp, UnaryOp};
use p4cc_syntax::{Diagnostic, Span};
use p4cc_types::hir::{Callee, Expr, ExprKind};
use p4cc_types::order::Order;
use p4cc_types::ty::Ty;
use p4cc_types::value::{self, Value};
use p4cc_types::walk::has_call;

impl Lowerer<'_> {
    /// The scalar that an expression gives.
    pub(super) fn operand(&mut self, expr: &Expr) -> Option<Operand> {
        match self.rvalue(expr)? {
            Rvalue::Scalar(operand) => Some(operand),
            _ => self.shape_error(expr.span),
        }
    }

    /// The scalar of an expression, kept from changes that later expressions make.
    pub(super) fn operand_before(&mut self, expr: &Expr, later: &[&Expr]) -> Option<Operand> {
        match self.rvalue_before(expr, later)? {
            Rvalue::Scalar(operand) => Some(operand),
            _ => self.shape_error(expr.span),
        }
    }

    /// What an expression gives, kept from changes that later expressions make.
    pub(super) fn rvalue_before(&mut self, expr: &Expr, later: &[&Expr]) -> Option<Rvalue> {
        let value = self.rvalue(expr)?;
        self.kept(value, expr, later)
    }

    /// A value that `expr` gave, kept from changes that later expressions make.
    pub(super) fn kept(&mut self, value: Rvalue, expr: &Expr, later: &[&Expr]) -> Option<Rvalue> {
        if self.value_changes(&value, later) {
            self.snapshot(value, &expr.ty, expr.span)
        } else {
            Some(value)
        }
    }

    /// A copy of a variable; constants stand for themselves.
    pub(super) fn snapshot_operand(&mut self, operand: Operand) -> Option<Operand> {
        let Operand::Var(var) = operand else { return Some(operand) };
        let ty = self.out.vars.get(var.index())?.ty;
        let temp = self.temp(ty);
        self.emit(Inst::Assign { dst: temp, src: Operand::Var(var) });
        Some(Operand::Var(temp))
    }

    /// A shape that checking should have refused; reported so that it is never silent.
    pub(super) fn shape_error<T>(&mut self, span: Span) -> Option<T> {
        self.push(Diagnostic::not_supported(span, "this use of a value").with_help(
            "assign the value to a local variable first, and use that; if the error persists, please report \
                the program",
        ));
        None
    }

    /// What an expression gives.
    pub(super) fn rvalue(&mut self, expr: &Expr) -> Option<Rvalue> {
        self.within("expression", expr.span, |this| this.rvalue_of(expr))
    }

    /// `base[hi:lo]`
    fn slice(&mut self, base: &Expr, hi: u32, lo: u32) -> Option<Rvalue> {
        if let ExprKind::Call(call) = &base.kind
            && matches!(&call.callee, Callee::Method { name, .. } if name == "get")
        {
            self.tna.sliced = Some((hi, lo));
        }
        let src = self.operand(base)?;
        self.tna.sliced = None;
        let dst = self.temp(VarType::Bit(hi - lo + 1));
        self.emit(Inst::Slice { dst, src, lo });
        Some(Rvalue::Scalar(Operand::Var(dst)))
    }

    fn rvalue_of(&mut self, expr: &Expr) -> Option<Rvalue> {
        if let Some(width) = self.width(&expr.ty) {
            match self.try_const(expr) {
                Ok(Some(value)) => return Some(Rvalue::Scalar(Operand::Const(value.to_bits(width)))),
                Ok(None) => {}
                Err(error) => {
                    self.push(Diagnostic::error(expr.span, error.message()));
                    return None;
                }
            }
        }
        if let Some(place) = self.static_place(expr) {
            return Some(place.read());
        }
        if self.is_empty(&expr.ty) && !has_call(expr) {
            return Some(Rvalue::Struct(Vec::new()));
        }
        match &expr.kind {
            ExprKind::Local(id) => match self.binding(*id) {
                Some(Binding::Value(value)) => Some(value.clone()),
                _ => self.shape_error(expr.span),
            },
            ExprKind::Field(base, at) => {
                let base_value = self.rvalue(base)?;
                self.project(base_value, (&base.ty, *at), &expr.ty, expr.span)
            }
            ExprKind::Index(base, index) => {
                let element = self.dynamic_element(base, index, expr.span)?;
                if self.width(&expr.ty).is_some() {
                    self.settled(element, &expr.ty, expr.span)
                } else {
                    Some(element)
                }
            }
            ExprKind::StackLast(base) | ExprKind::StackNext(base) => {
                self.stack_end(base, matches!(expr.kind, ExprKind::StackLast(_)))
            }
            ExprKind::StackLastIndex(base) => self.last_index(base).map(Rvalue::Scalar),
            ExprKind::Slice(base, hi, lo) => self.slice(base, *hi, *lo),
            ExprKind::PlusSlice(base, lo, width) => {
                let ty = self.var_type(&base.ty)?;
                let src = self.operand_before(base, &[lo])?;
                let lo = self.operand(lo)?;
                Some(Rvalue::Scalar(self.run_slice(src, ty.width(), lo, *width)))
            }
            ExprKind::Unary(op, operand) => self.unary(*op, operand, expr),
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b, expr),
            ExprKind::Conditional(cond, a, b) => self.conditional(cond, a, b, expr),
            ExprKind::Cast(operand) => self.cast(operand, expr),
            ExprKind::Aggregate(items) => self.aggregate(items, &Order::default(), expr),
            ExprKind::AggregateInOrder(items, order) => self.aggregate(items, order, expr),
            ExprKind::InvalidHeader => Some(Rvalue::Invalid),
            ExprKind::Default => self.default_value(&expr.ty, expr.span),
            ExprKind::Call(call) => match &call.callee {
                Callee::Table(_) => self.shape_error(expr.span),
                _ => self.call(call, Some(&expr.ty)),
            },
            ExprKind::Hit { table, negated } => {
                let hit = self.temp(VarType::Bool);
                self.apply_table(*table, Some(hit), None, expr.span)?;
                if !negated {
                    return Some(Rvalue::Scalar(Operand::Var(hit)));
                }
                let miss = self.temp(VarType::Bool);
                self.emit(Inst::Unary { dst: miss, op: UnOp::Not, src: Operand::Var(hit) });
                Some(Rvalue::Scalar(Operand::Var(miss)))
            }
            _ => self.shape_error(expr.span),
        }
    }

    /// The default value of a type: zeros and invalid headers.
    pub(super) fn default_value(&mut self, ty: &Ty, span: Span) -> Option<Rvalue> {
        match self.var_type(ty) {
            // No constant has a length of its own; a variable that nobody writes is empty.
            Some(ty @ VarType::Varbit(_)) => return Some(Rvalue::Scalar(Operand::Var(self.temp(ty)))),
            Some(ty) => return Some(Rvalue::Scalar(Operand::Const(Bits::zero(ty.width())))),
            None => {}
        }
        if self.hir.is_stack(ty) || self.hir.is_header(ty) || self.hir.is_union(ty) {
            return Some(Rvalue::Invalid);
        }
        let Some(parts) = self.parts(ty) else { return self.shape_error(span) };
        let parts: Option<Vec<Rvalue>> =
            parts.iter().map(|(_, part)| self.default_value(part, span)).collect();
        parts.map(Rvalue::Struct)
    }

    /// Bits of a number from a place on that is known at run time only; bits past its end are zero.
    pub(super) fn run_slice(&mut self, src: Operand, src_width: u32, lo: Operand, width: u32) -> Operand {
        let moved = self.binary_inst(VarType::Bit(src_width), BinOp::Shr { signed: false }, src, lo);
        let dst = self.temp(VarType::Bit(width));
        self.emit(Inst::Slice { dst, src: moved, lo: 0 });
        Operand::Var(dst)
    }

    /// Part `at` of a value of type `base_ty`; the part has type `ty`.
    fn project(&mut self, base: Rvalue, (base_ty, at): (&Ty, usize), ty: &Ty, span: Span) -> Option<Rvalue> {
        match base {
            Rvalue::Struct(parts) => parts.into_iter().nth(at),
            Rvalue::Header(header) => self.header_field(header, base_ty, at).map(|place| place.read()),
            Rvalue::NewHeader(fields) => {
                let (start, _) = self.leaf_start(base_ty, at)?;
                let mut fields = fields.into_iter().skip(start);
                self.put_together(ty, &mut |_, _| fields.next())
            }
            Rvalue::Union(union) => {
                let member = self.out.unions.get(union.index())?.members.get(at).copied()?;
                Some(Rvalue::Header(member))
            }
            Rvalue::Element(stack, index) => {
                let (start, _) = self.leaf_start(base_ty, at)?;
                let mut field = start as u32;
                self.put_together(ty, &mut |this, ty| {
                    let dst = this.temp(ty);
                    this.emit(Inst::StackLoad { dst, stack, index: index.clone(), field });
                    field += 1;
                    Some(Operand::Var(dst))
                })
            }
            Rvalue::Choice(index, values) => {
                let parts: Option<Vec<Rvalue>> =
                    values.into_iter().map(|value| self.project(value, (base_ty, at), ty, span)).collect();
                let chosen = Rvalue::Choice(index, parts?);
                if self.width(ty).is_some() { self.settled(chosen, ty, span) } else { Some(chosen) }
            }
            Rvalue::Invalid => self.default_value(ty, span),
            Rvalue::Scalar(_) | Rvalue::Stack(_) | Rvalue::NewStack(_) | Rvalue::UnionStack(_) => {
                self.shape_error(span)
            }
        }
    }

    /// Code for the one of several that an index chooses; an index past the end runs none.
    pub(super) fn for_chosen(
        &mut self,
        index: &Operand,
        count: usize,
        mut code: impl FnMut(&mut Self, usize) -> Option<()>,
    ) -> Option<()> {
        let Operand::Var(var) = index else { return None };
        let width = self.out.vars.get(var.index())?.ty.width();
        let fits = |at: usize| width >= usize::BITS || at >> width == 0;
        let reached = (0..count).take_while(|at| fits(*at)).count();
        self.charge(Resource::Instructions, reached as u64, self.place)?;
        let blocks: Vec<p4cc_ir::BlockId> = (0..reached).map(|_| self.func.block("")).collect();
        let end = self.func.block("");
        let numbers = (0u128..).map(|at| Bits::from_u128(width, at));
        let cases = numbers.zip(blocks.iter().copied()).collect();
        self.func.end(Terminator::Switch { value: index.clone(), cases, default: end });
        for (at, block) in blocks.into_iter().enumerate() {
            self.func.open(block);
            code(self, at)?;
            self.func.end(Terminator::Jump(end));
        }
        self.func.open(end);
        Some(())
    }

    /// A value that is not a choice any more.
    pub(super) fn settled(&mut self, value: Rvalue, ty: &Ty, span: Span) -> Option<Rvalue> {
        let Rvalue::Choice(index, values) = value else { return Some(value) };
        let name = format!("{}.tmp{}", self.name, self.out.vars.len());
        let place = self.alloc(ty, &name, VarKind::Local, span)?;
        let target = Target::StaticStorage(place.clone());
        let default = self.default_value(ty, span)?;
        self.assign(target.clone(), default, ty, span)?;
        self.for_chosen(&index, values.len(), |this, at| {
            this.assign(target.clone(), values.get(at)?.clone(), ty, span)
        })?;
        Some(place.read())
    }

    fn aggregate(&mut self, items: &[Expr], order: &Order, expr: &Expr) -> Option<Rvalue> {
        let mut found = vec![None; items.len()];
        let turns = order.positions(items.len());
        for (turn, at) in turns.iter().enumerate() {
            let later: Vec<&Expr> = turns.iter().skip(turn + 1).filter_map(|at| items.get(*at)).collect();
            *found.get_mut(*at)? = Some(self.rvalue_before(items.get(*at)?, &later)?);
        }
        let values = found.into_iter().collect::<Option<Vec<Rvalue>>>()?;
        match &expr.ty {
            ty if self.hir.is_stack(ty) => Some(Rvalue::NewStack(values)),
            ty if self.hir.is_header(ty) => {
                let mut fields = Vec::with_capacity(values.len());
                for (value, item) in values.into_iter().zip(items) {
                    self.flatten(value, &item.ty, item.span, &mut fields)?;
                }
                Some(Rvalue::NewHeader(fields))
            }
            _ => Some(Rvalue::Struct(values)),
        }
    }

    fn unary(&mut self, op: UnaryOp, operand: &Expr, expr: &Expr) -> Option<Rvalue> {
        if self.is_empty(&expr.ty) {
            return self.rvalue(operand);
        }
        let src = self.operand(operand)?;
        let op = match op {
            UnaryOp::Plus => return Some(Rvalue::Scalar(src)),
            UnaryOp::Not | UnaryOp::BitNot => UnOp::Not,
            UnaryOp::Neg => UnOp::Neg,
        };
        let dst = self.temp(self.var_type(&expr.ty)?);
        self.emit(Inst::Unary { dst, op, src });
        Some(Rvalue::Scalar(Operand::Var(dst)))
    }

    fn binary(&mut self, op: BinaryOp, a: &Expr, b: &Expr, expr: &Expr) -> Option<Rvalue> {
        match op {
            BinaryOp::And | BinaryOp::Or if acts(b) => return self.short_circuit(op, a, b),
            BinaryOp::Eq | BinaryOp::Ne if self.width(&a.ty).is_none() => {
                return self.compare_parts(op, a, b, expr);
            }
            _ => {}
        }
        if op == BinaryOp::Concat && (self.is_empty(&a.ty) || self.is_empty(&b.ty)) {
            let (a, b) = (self.rvalue_before(a, &[b])?, self.rvalue(b)?);
            return Some(if matches!(a, Rvalue::Struct(_)) { b } else { a });
        }
        if self.is_empty(&a.ty) || self.is_empty(&b.ty) {
            return self.binary_of_nothing(op, a, b);
        }
        let left = self.operand_before(a, &[b])?;
        let right = self.operand(b)?;
        let dst_ty = self.var_type(&expr.ty)?;
        if op == BinaryOp::Concat {
            let dst = self.temp(dst_ty);
            self.emit(Inst::Concat { dst, hi: left, lo: right });
            return Some(Rvalue::Scalar(Operand::Var(dst)));
        }
        let signed = matches!(self.hir.underlying(&a.ty), Ty::Int(_));
        let (op, left, right) = match op {
            BinaryOp::Gt => (BinOp::Lt { signed }, right, left),
            BinaryOp::Ge => (BinOp::Le { signed }, right, left),
            _ => (plain_op(op, signed)?, left, right),
        };
        Some(Rvalue::Scalar(self.binary_inst(dst_ty, op, left, right)))
    }

    /// An operator one of whose operands has no bits, and so the value 0.
    fn binary_of_nothing(&mut self, op: BinaryOp, a: &Expr, b: &Expr) -> Option<Rvalue> {
        let left = self.rvalue_before(a, &[b])?;
        self.rvalue(b)?;
        Some(match op {
            BinaryOp::Lt | BinaryOp::Gt => Rvalue::Scalar(Operand::Const(Bits::zero(1))),
            BinaryOp::Le | BinaryOp::Ge => Rvalue::Scalar(Operand::Const(Bits::from_u128(1, 1))),
            // A shift by nothing; other operators have operands of one type, and so nothing as their result.
            _ => left,
        })
    }

    pub(super) fn binary_inst(&mut self, ty: VarType, op: BinOp, a: Operand, b: Operand) -> Operand {
        let dst = self.temp(ty);
        self.emit(Inst::Binary { dst, op, a, b });
        Operand::Var(dst)
    }

    fn short_circuit(&mut self, op: BinaryOp, a: &Expr, b: &Expr) -> Option<Rvalue> {
        let dst = self.temp(VarType::Bool);
        let first = self.operand(a)?;
        self.emit(Inst::Assign { dst, src: first });
        let (more, end) = (self.func.block(""), self.func.block(""));
        let cond = Operand::Var(dst);
        self.func.end(match op {
            BinaryOp::And => Terminator::Branch { cond, then: more, otherwise: end },
            _ => Terminator::Branch { cond, then: end, otherwise: more },
        });
        self.func.open(more);
        let second = self.operand(b)?;
        self.emit(Inst::Assign { dst, src: second });
        self.func.end(Terminator::Jump(end));
        self.func.open(end);
        Some(Rvalue::Scalar(Operand::Var(dst)))
    }

    /// Equality of structs, headers, unions, stacks and tuples, part by part.
    fn compare_parts(&mut self, op: BinaryOp, a: &Expr, b: &Expr, expr: &Expr) -> Option<Rvalue> {
        let left = self.rvalue_before(a, &[b])?;
        let right = self.rvalue(b)?;
        let equal = self.equal(left, right, &a.ty, expr.span)?;
        if op == BinaryOp::Eq {
            return Some(Rvalue::Scalar(equal));
        }
        let dst = self.temp(VarType::Bool);
        self.emit(Inst::Unary { dst, op: UnOp::Not, src: equal });
        Some(Rvalue::Scalar(Operand::Var(dst)))
    }

    fn equal(&mut self, a: Rvalue, b: Rvalue, ty: &Ty, span: Span) -> Option<Operand> {
        if self.width(ty).is_some() {
            let (Rvalue::Scalar(a), Rvalue::Scalar(b)) = (a, b) else { return self.shape_error(span) };
            return Some(self.binary_inst(VarType::Bool, BinOp::Eq, a, b));
        }
        if self.hir.is_header(ty) {
            let (a, b) = (self.header_of(a, ty, span)?, self.header_of(b, ty, span)?);
            let dst = self.temp(VarType::Bool);
            self.emit(Inst::HeaderEq { dst, a, b });
            return Some(Operand::Var(dst));
        }
        let (a, b) = (self.settled(a, ty, span)?, self.settled(b, ty, span)?);
        let parts: Vec<Ty> = match ty {
            Ty::Stack(elem, size) => (0..*size).map(|_| (**elem).clone()).collect(),
            _ => match self.parts(ty) {
                Some(parts) => parts.into_iter().map(|(_, part)| part).collect(),
                None => return self.shape_error(span),
            },
        };
        let (left, right) = (self.parts_of(a, &parts, span)?, self.parts_of(b, &parts, span)?);
        let mut all: Option<Operand> = None;
        for ((left, right), part) in left.into_iter().zip(right).zip(&parts) {
            let equal = self.equal(left, right, part, span)?;
            all = Some(match all {
                None => equal,
                Some(so_far) => self.binary_inst(VarType::Bool, BinOp::And, so_far, equal),
            });
        }
        Some(all.unwrap_or_else(|| Operand::Const(Bits::from_u128(1, 1))))
    }

    /// A value taken apart.
    pub(super) fn parts_of(&mut self, value: Rvalue, parts: &[Ty], span: Span) -> Option<Vec<Rvalue>> {
        match value {
            Rvalue::Struct(values) | Rvalue::NewStack(values) => Some(values),
            Rvalue::Union(union) => {
                let members = self.out.unions.get(union.index())?.members.clone();
                Some(members.into_iter().map(Rvalue::Header).collect())
            }
            Rvalue::Stack(stack) => {
                let elements = self.out.stacks.get(stack.index())?.elements.clone();
                Some(elements.into_iter().map(Rvalue::Header).collect())
            }
            Rvalue::UnionStack(stack) => Some(stack.unions.iter().copied().map(Rvalue::Union).collect()),
            Rvalue::Invalid => Some(parts.iter().map(|_| Rvalue::Invalid).collect()),
            _ => self.shape_error(span),
        }
    }

    /// A value as a header with a static place.
    pub(super) fn header_of(&mut self, value: Rvalue, ty: &Ty, span: Span) -> Option<p4cc_ir::HeaderId> {
        if let Rvalue::Header(header) = value {
            return Some(header);
        }
        match self.materialize(value, ty, span)? {
            StaticStorage::Header(header) => Some(header),
            _ => self.shape_error(span),
        }
    }

    /// Puts a value into storage of its own.
    pub(super) fn materialize(&mut self, value: Rvalue, ty: &Ty, span: Span) -> Option<StaticStorage> {
        let name = format!("{}.tmp{}", self.name, self.out.vars.len());
        let place = self.alloc(ty, &name, VarKind::Local, span)?;
        self.assign(Target::StaticStorage(place.clone()), value, ty, span)?;
        Some(place)
    }

    /// A value that later writes cannot change.
    pub(super) fn snapshot(&mut self, value: Rvalue, ty: &Ty, span: Span) -> Option<Rvalue> {
        match value {
            Rvalue::Scalar(operand) => self.snapshot_operand(operand).map(Rvalue::Scalar),
            Rvalue::Invalid => Some(value),
            Rvalue::NewHeader(fields) => {
                let fields: Option<Vec<Operand>> =
                    fields.into_iter().map(|field| self.snapshot_operand(field)).collect();
                fields.map(Rvalue::NewHeader)
            }
            other => self.materialize(other, ty, span).map(|place| place.read()),
        }
    }

    fn conditional(&mut self, cond: &Expr, a: &Expr, b: &Expr, expr: &Expr) -> Option<Rvalue> {
        let cond = self.operand(cond)?;
        let name = format!("{}.tmp{}", self.name, self.out.vars.len());
        let place = self.alloc(&expr.ty, &name, VarKind::Local, expr.span)?;
        let (then, otherwise, end) = (self.func.block(""), self.func.block(""), self.func.block(""));
        self.func.end(Terminator::Branch { cond, then, otherwise });
        for (block, side) in [(then, a), (otherwise, b)] {
            self.func.open(block);
            let value = self.rvalue(side)?;
            self.assign(Target::StaticStorage(place.clone()), value, &expr.ty, expr.span)?;
            self.func.end(Terminator::Jump(end));
        }
        self.func.open(end);
        Some(place.read())
    }

    fn cast(&mut self, operand: &Expr, expr: &Expr) -> Option<Rvalue> {
        let from = self.hir.underlying(&operand.ty).clone();
        if from == Ty::Integer {
            // Only constants have type int, and a constant would have been found above.
            let value = self.const_value(operand)?;
            let width = self.width(&expr.ty)?;
            let Value::Int(number) = value else { return self.shape_error(expr.span) };
            return Some(Rvalue::Scalar(Operand::Const(value::int_to_bits(&number, width))));
        }
        if self.is_empty(&operand.ty) {
            self.rvalue(operand)?;
            return self.default_value(&expr.ty, expr.span);
        }
        let src = self.operand(operand)?;
        if self.is_empty(&expr.ty) {
            return Some(Rvalue::Struct(Vec::new()));
        }
        let (from_width, to) = (self.width(&operand.ty)?, self.var_type(&expr.ty)?);
        if from_width == to.width() {
            return Some(Rvalue::Scalar(src));
        }
        let dst = self.temp(to);
        self.emit(Inst::Resize { dst, src, signed: matches!(from, Ty::Int(_)) });
        Some(Rvalue::Scalar(Operand::Var(dst)))
    }
}

fn plain_op(op: BinaryOp, signed: bool) -> Option<BinOp> {
    Some(match op {
        BinaryOp::Add => BinOp::Add,
        BinaryOp::Sub => BinOp::Sub,
        BinaryOp::Mul => BinOp::Mul,
        BinaryOp::Div => BinOp::Div,
        BinaryOp::Mod => BinOp::Mod,
        BinaryOp::AddSat => BinOp::AddSat { signed },
        BinaryOp::SubSat => BinOp::SubSat { signed },
        BinaryOp::BitAnd | BinaryOp::And => BinOp::And,
        BinaryOp::BitOr | BinaryOp::Or => BinOp::Or,
        BinaryOp::BitXor => BinOp::Xor,
        BinaryOp::Shl => BinOp::Shl,
        BinaryOp::Shr => BinOp::Shr { signed },
        BinaryOp::Eq => BinOp::Eq,
        BinaryOp::Ne => BinOp::Ne,
        BinaryOp::Lt => BinOp::Lt { signed },
        BinaryOp::Le => BinOp::Le { signed },
        BinaryOp::Gt | BinaryOp::Ge | BinaryOp::Concat => return None,
    })
}
