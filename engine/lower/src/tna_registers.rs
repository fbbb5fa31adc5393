//! TNA's registers: actions on them, parameters, math units.
//!
//! A register action reads a cell, runs its `apply` on it and writes it back. The cell is one of an array, or
//! that of the entry that was hit. `execute_log` takes the cells of an array in turn: a hidden register keeps
//! which one is next.

use super::Lowerer;
use super::object::Object;
use super::object::TnaObject;
use super::storage::{Binding, Rvalue, StaticStorage, Target};
use super::tna_objects::RegisterAction;
use num_traits::ToPrimitive;
use p4cc_ir::limits::MAX_ARRAY_CELLS;
use p4cc_ir::{
    BinOp, Bits, Composite, ControlPlaneName, DataType, ExternCall, Inst, MathUnit, Operand, Register,
    RegisterId, RegisterKind, SELECTOR_LINE_BITS, Terminator, VarId, VarKind, VarType,
};
use p4cc_syntax::{Diagnostic, Span};
use p4cc_types::hir::{Call, Construct, Expr, Stmt};
use p4cc_types::ids::{FnId, LocalId};
use p4cc_types::ty::Ty;
use p4cc_types::value::Value;

/// Mantissas of a math unit, and where the lowest one of roots and of the others stands.
const MANTISSAS: usize = 16;
const FIRST_OF_ROOTS: usize = 4;
const FIRST_OF_OTHERS: usize = 8;
/// Widest operand of a math unit.
const MAX_MATH_BITS: u32 = 64;

fn constant(width: u32, value: u128) -> Operand {
    Operand::Const(Bits::from_u128(width, value))
}

impl Lowerer<'_> {
    /// The type of a register's cells as the IR has it, and what they pack.
    pub(super) fn register_cell(&mut self, cell: &Ty, span: Span) -> Option<(VarType, Option<Composite>)> {
        match self.var_type(cell) {
            Some(VarType::Varbit(_)) => {
                self.not_supported(span, "registers of varbits");
                None
            }
            Some(ty) => Some((ty, None)),
            None => {
                let composite = self.composite(cell, span)?;
                let bits = composite.fields.iter().map(|field| field.ty.width()).sum();
                Some((VarType::Bit(bits), Some(composite)))
            }
        }
    }

    /// What the cells hold at the start, if the constructor says so.
    pub(super) fn register_initial(
        &mut self,
        arg: Option<&Expr>,
        cell: &Ty,
        ty: VarType,
    ) -> Option<Option<Bits>> {
        let Some(arg) = arg else { return Some(None) };
        if self.width(&arg.ty).is_some() {
            return Some(Some(self.const_value(arg)?.to_bits(ty.width())));
        }
        let parts = self.constants(arg, cell)?;
        let mut whole = num_bigint::BigInt::ZERO;
        for part in parts {
            whole = (whole << part.width()) | p4cc_types::value::bits_to_int(&part, false);
        }
        Some(Some(Value::Int(whole).to_bits(ty.width())))
    }

    /// The scalars of a value that must be known at compile time.
    fn constants(&mut self, arg: &Expr, ty: &Ty) -> Option<Vec<Bits>> {
        let value = self.rvalue(arg)?;
        let mut parts = Vec::new();
        self.cell_data(value, ty, arg.span, &mut parts)?;
        let known = parts.into_iter().map(|part| match part {
            Operand::Const(bits) => Some(bits),
            Operand::Var(_) => None,
        });
        let known: Option<Vec<Bits>> = known.collect();
        if known.is_none() {
            self.push(Diagnostic::error(arg.span, "the value must be known at compile time"));
        }
        known
    }

    /// `DirectRegister`
    pub(super) fn make_direct_register(
        &mut self,
        types: &[Ty],
        construct: &Construct,
        cp: &ControlPlaneName,
        span: Span,
    ) -> Option<TnaObject> {
        let cell = types.first()?;
        let (ty, composite) = self.register_cell(cell, span)?;
        let initial = self.register_initial(construct.args.first().and_then(Option::as_ref), cell, ty)?;
        let data_type = self.data_type(cell)?;
        let id = RegisterId::from_index(self.out.registers.len());
        // P4Info has no direct registers.
        let cp = ControlPlaneName { hidden: true, ..cp.clone() };
        let kind = RegisterKind::Direct;
        self.out.registers.push(Register { cp, ty, composite, data_type, size: 0, kind, initial });
        self.tna.cells.push((id, cell.clone()));
        Some(TnaObject::DirectRegister(id))
    }

    pub(super) fn register_action(
        &mut self,
        types: &[Ty],
        register: Option<&Expr>,
        methods: &[FnId],
        span: Span,
    ) -> Option<TnaObject> {
        let register = match self.object(register?)? {
            Object::Register(register) | Object::Tna(TnaObject::DirectRegister(register)) => register,
            _ => return self.shape_error(span),
        };
        let known = self.tna.cells.iter().find(|(known, _)| *known == register);
        let cell = known.map(|(_, cell)| cell.clone())?;
        // `RegisterAction<T, I, U>`, `DirectRegisterAction<T, U>`; T2NA's have more results.
        let direct = self.out.registers.get(register.index())?.kind == RegisterKind::Direct;
        let (Some(written), Some(result)) = (types.first(), types.get(if direct { 1 } else { 2 })) else {
            return self.shape_error(span);
        };
        // An action may see the bits of the cells as another type.
        let cell = if *written == Ty::DontCare { cell } else { written.clone() };
        self.register_cell(&cell, span)?;
        let is_apply = |id: &&FnId| self.hir.functions.get(id.index()).is_some_and(|one| one.name == "apply");
        let Some(apply) = methods.iter().find(is_apply).copied() else { return self.shape_error(span) };
        let (result, env) = (result.clone(), self.env);
        self.tna.actions.push(RegisterAction { register, cell, result, apply, env });
        Some(TnaObject::RegisterAction(self.tna.actions.len() - 1))
    }

    /// `SelectorAction`: an action on the bits of a selector's memory. Those of a selector without a register
    /// are a hidden one, of as many cells as the selector's groups have places.
    pub(super) fn selector_action(
        &mut self,
        selector: Option<&Expr>,
        methods: &[FnId],
        span: Span,
    ) -> Option<TnaObject> {
        let Object::Profile(profile) = self.object(selector?)? else { return self.shape_error(span) };
        let of = self.out.profiles.get(profile.index())?;
        let known = of.bits;
        let register = match known {
            Some(register) => register,
            None => {
                let view = self.notes.view.selectors.iter().find(|view| view.profile == profile)?;
                let lines = of.group_lines.saturating_mul(view.groups);
                let size = lines.saturating_mul(SELECTOR_LINE_BITS).min(MAX_ARRAY_CELLS);
                let name = format!("{}$bits", of.cp.name);
                self.hidden_register(name, 1, size)
            }
        };
        self.out.profiles.get_mut(profile.index())?.bits = Some(register);
        let is_apply = |id: &&FnId| self.hir.functions.get(id.index()).is_some_and(|one| one.name == "apply");
        let Some(apply) = methods.iter().find(is_apply).copied() else { return self.shape_error(span) };
        let (cell, result, env) = (Ty::Bit(1), Ty::Bit(1), self.env);
        self.tna.actions.push(RegisterAction { register, cell, result, apply, env });
        Some(TnaObject::RegisterAction(self.tna.actions.len() - 1))
    }

    /// A register that the control plane does not see.
    fn hidden_register(&mut self, name: String, width: u32, size: u32) -> RegisterId {
        let ty = VarType::Bit(width);
        let cp = ControlPlaneName { name, hidden: true, ..ControlPlaneName::default() };
        let (kind, data_type) = (RegisterKind::Array, DataType::Scalar(ty));
        self.out.registers.push(Register { cp, ty, composite: None, data_type, size, kind, initial: None });
        RegisterId::from_index(self.out.registers.len() - 1)
    }

    /// A parameter that the control plane sets, for register actions: a register of one cell.
    pub(super) fn register_param(
        &mut self,
        types: &[Ty],
        initial: Option<&Expr>,
        cp: &ControlPlaneName,
        span: Span,
    ) -> Option<TnaObject> {
        let Some(ty) = types.first().and_then(|ty| self.var_type(ty)) else { return self.shape_error(span) };
        if matches!(ty, VarType::Varbit(_)) {
            return self.no_varbit(span);
        }
        let initial = Some(self.const_value(initial?)?.to_bits(ty.width()));
        let (kind, data_type) = (RegisterKind::Param, DataType::Scalar(ty));
        let cp = cp.clone();
        self.out.registers.push(Register { cp, ty, composite: None, data_type, size: 1, kind, initial });
        let param = RegisterId::from_index(self.out.registers.len() - 1);
        self.note_param(param);
        Some(TnaObject::RegisterParam(param))
    }

    /// A method of a register action.
    pub(super) fn register_action_method(
        &mut self,
        at: usize,
        name: &str,
        call: &Call,
        ret: Option<&Ty>,
    ) -> Option<Rvalue> {
        match name {
            "execute" | "execute_log" => self.execute(at, name == "execute_log", call),
            "predicate" => self.predicate(call, ret),
            "min8" | "max8" | "min16" | "max16" => self.extreme_part(name, call),
            _ => {
                self.not_supported(call.span, format!("method `{name}` of register actions"));
                None
            }
        }
    }

    /// `DirectRegister.read()` and `write(value)`.
    pub(super) fn direct_register_method(
        &mut self,
        register: RegisterId,
        name: &str,
        call: &Call,
        ret: Option<&Ty>,
    ) -> Option<Rvalue> {
        if name == "write" {
            let mut parts = Vec::new();
            let expr = self.arg_expr(call, 0)?;
            let (ty, span) = (expr.ty.clone(), expr.span);
            let value = self.rvalue(expr)?;
            self.cell_data(value, &ty, span, &mut parts)?;
            let value = self.packed(parts)?;
            self.emit(Inst::Extern(ExternCall::DirectRegisterWrite { register, value }));
            return Some(Rvalue::Struct(Vec::new()));
        }
        let ty = self.out.registers.get(register.index())?.ty;
        let dst = self.temp(ty);
        self.emit(Inst::Extern(ExternCall::DirectRegisterRead { register, dst }));
        match ret {
            Some(ret) if self.var_type(ret).is_none() => {
                let mut left = ty.width();
                self.cell_value(ret, dst, &mut left, call.span)
            }
            _ => Some(Rvalue::Scalar(Operand::Var(dst))),
        }
    }

    /// Reads the cell, runs `apply` on it, writes it back.
    fn execute(&mut self, at: usize, in_turn: bool, call: &Call) -> Option<Rvalue> {
        if self.tna.running.is_some() {
            let help = "the chip's register unit executes one action per packet: place the other action after this \
                    one";
            return self.refused(call.span, "a register action cannot execute another one", help);
        }
        self.count_inlined(call.span)?;
        let action = self.tna.actions.get(at)?.clone();
        let function = self.hir.functions.get(action.apply.index())?;
        let register = action.register;
        let declared = self.out.registers.get(register.index())?;
        let (ty, kind) = (declared.ty, declared.kind);
        let (index, results_at) = match (in_turn, kind) {
            (true, RegisterKind::Direct) => {
                return self.refused(call.span, "a direct register has no sequence", "use `execute`");
            }
            (true, _) => (Some(self.next_in_turn(register, call.span)?), 0),
            (false, RegisterKind::Direct) => (None, 0),
            (false, _) if !matches!(call.args.first(), Some(Some(_))) => {
                let help =
                    "pass the index of the cell; for a selector, the position of the member in its memory";
                return self.refused(call.span, "`execute` needs the index of a cell", help);
            }
            (false, _) => {
                let index = self.arg(call, 0)?;
                (Some(self.snapshot_operand(index)?), 1)
            }
        };
        let whole = self.temp(ty);
        self.emit(Inst::Extern(match index.clone() {
            Some(index) => ExternCall::RegisterRead { register, dst: whole, index },
            None => ExternCall::DirectRegisterRead { register, dst: whole },
        }));
        let seen_bits = self.cell_bits(&action.cell)?;
        let seen = if seen_bits == ty.width() {
            whole
        } else {
            self.resized(Operand::Var(whole), VarType::Bit(seen_bits))
        };
        let outer_env = std::mem::replace(&mut self.env, action.env);
        self.tna.running = Some(at);
        self.notes.register = Some(register);
        let made = self.run_apply(&action.cell, &function.params, &function.body, seen, call.span);
        self.tna.running = None;
        self.notes.register = None;
        self.env = outer_env;
        let (value, results) = made?;
        let mut parts = Vec::new();
        self.cell_data(value.read(), &action.cell, call.span, &mut parts)?;
        let mut value = self.packed(parts)?;
        if seen_bits != ty.width() {
            value = Operand::Var(self.resized(value, ty));
        }
        self.emit(Inst::Extern(match index {
            Some(index) => ExternCall::RegisterWrite { register, index, value },
            None => ExternCall::DirectRegisterWrite { register, value },
        }));
        self.further_results(&results, results_at, call)?;
        match results.first() {
            Some(place) => Some(place.read()),
            None if action.result == Ty::Void => Some(Rvalue::Struct(Vec::new())),
            None => self.default_value(&action.result, call.span),
        }
    }

    /// The results behind the first, which go to arguments of the call.
    fn further_results(&mut self, results: &[StaticStorage], first_arg: usize, call: &Call) -> Option<()> {
        for (at, place) in results.iter().skip(1).enumerate() {
            let Some(Some(arg)) = call.args.get(first_arg + at) else { continue };
            let target = self.target(arg)?;
            self.assign(target, place.read(), &arg.ty, call.span)?;
        }
        Some(())
    }

    /// Runs the body of an `apply`; gives the places of the cell's new value and of the results.
    fn run_apply(
        &mut self,
        cell: &Ty,
        params: &[LocalId],
        body: &[Stmt],
        whole: VarId,
        span: Span,
    ) -> Option<(StaticStorage, Vec<StaticStorage>)> {
        let mut places = Vec::new();
        for param in params {
            let local = self.hir.locals.get(param.index())?;
            let name = format!("{}.{}", self.name, local.name);
            let place = self.alloc(&local.ty, &name, VarKind::Local, local.span)?;
            let value = if places.is_empty() {
                let mut left = self.out.vars.get(whole.index())?.ty.width();
                match self.var_type(cell) {
                    Some(_) => Rvalue::Scalar(Operand::Var(whole)),
                    None => self.cell_value(cell, whole, &mut left, span)?,
                }
            } else {
                self.default_value(&local.ty, span)?
            };
            self.assign(Target::StaticStorage(place.clone()), value, &local.ty, span)?;
            self.bind(*param, Binding::StaticStorage(place.clone()));
            places.push(place);
        }
        let end = self.func.block("");
        let outer_end = self.flow.end.replace(end);
        let outer_result = self.flow.result.take();
        let outer_loops = std::mem::take(&mut self.flow.loops);
        let made = self.stmts(body);
        self.flow.loops = outer_loops;
        self.flow.result = outer_result;
        self.flow.end = outer_end;
        made?;
        self.func.end(Terminator::Jump(end));
        self.func.open(end);
        let mut places = places.into_iter();
        Some((places.next()?, places.collect()))
    }

    /// The cell whose turn it is; the next one comes after it, and after the last the first.
    fn next_in_turn(&mut self, register: RegisterId, span: Span) -> Option<Operand> {
        const BITS: u32 = 32;
        let declared = self.out.registers.get(register.index())?;
        let (name, size) = (format!("{}$next", declared.cp.name), declared.size);
        if size == 0 || size > MAX_ARRAY_CELLS {
            return self.shape_error(span);
        }
        let known = self.out.registers.iter().position(|other| other.cp.name == name);
        let turns = match known {
            Some(at) => RegisterId::from_index(at),
            None => self.hidden_register(name, BITS, 1),
        };
        let (now, next) = (self.temp(VarType::Bit(BITS)), self.temp(VarType::Bit(BITS)));
        let first = constant(BITS, 0);
        self.emit(Inst::Extern(ExternCall::RegisterRead { register: turns, dst: now, index: first.clone() }));
        let (op, a, b) = (BinOp::Add, Operand::Var(now), constant(BITS, 1));
        self.emit(Inst::Binary { dst: next, op, a, b });
        let past = self.equals(Operand::Var(next), BITS, size.into());
        self.if_valid(past, |this, past| {
            if past {
                this.emit(Inst::Assign { dst: next, src: constant(BITS, 0) });
            }
        });
        let value = Operand::Var(next);
        self.emit(Inst::Extern(ExternCall::RegisterWrite { register: turns, index: first, value }));
        Some(Operand::Var(now))
    }

    /// One bit, whose place the comparisons say: the first one counts one, the next one two.
    fn predicate(&mut self, call: &Call, ret: Option<&Ty>) -> Option<Rvalue> {
        const BITS: u32 = 32;
        let mut place = constant(BITS, 0);
        for at in 0..call.args.len() {
            let Some(Some(_)) = call.args.get(at) else { continue };
            let flag = self.flag(call, at)?;
            let (wide, moved, both) =
                (self.temp(VarType::Bit(BITS)), self.temp(VarType::Bit(BITS)), self.temp(VarType::Bit(BITS)));
            self.emit(Inst::Resize { dst: wide, src: flag, signed: false });
            let (a, b) = (Operand::Var(wide), constant(BITS, at as u128));
            self.emit(Inst::Binary { dst: moved, op: BinOp::Shl, a, b });
            self.emit(Inst::Binary { dst: both, op: BinOp::Or, a: place, b: Operand::Var(moved) });
            place = Operand::Var(both);
        }
        let bit = self.temp(VarType::Bit(BITS));
        self.emit(Inst::Binary { dst: bit, op: BinOp::Shl, a: constant(BITS, 1), b: place });
        let ty = ret.and_then(|ret| self.var_type(ret)).unwrap_or(VarType::Bit(BITS));
        let dst = self.temp(ty);
        self.emit(Inst::Resize { dst, src: Operand::Var(bit), signed: false });
        Some(Rvalue::Scalar(Operand::Var(dst)))
    }

    /// `MathUnit`, by its function and factor or by its table.
    pub(super) fn math_unit(&mut self, types: &[Ty], construct: &Construct, span: Span) -> Option<TnaObject> {
        match types.first().and_then(|ty| self.var_type(ty)) {
            Some(VarType::Bit(width) | VarType::Int(width)) if width <= MAX_MATH_BITS => {}
            _ => {
                let message = "a math unit processes numbers of at most 64 bits";
                return self.refused(span, message, "use a narrower type");
            }
        }
        let args: Vec<&Expr> = construct.args.iter().flatten().collect();
        let unit = match args[..] {
            [op, factor] => self.math_by_factor(op, factor, None, span)?,
            [op, factor, divisor] => self.math_by_factor(op, factor, Some(divisor), span)?,
            [invert, shift, scale, table] => self.math_by_table([invert, shift, scale], table)?,
            _ => return self.shape_error(span),
        };
        self.tna.math_units.push(unit);
        Some(TnaObject::MathUnit(self.tna.math_units.len() - 1))
    }

    fn math_by_table(&mut self, [invert, shift, scale]: [&Expr; 3], table: &Expr) -> Option<MathUnit> {
        let invert = self.const_value(invert)? == Value::Bool(true);
        let mut number = |expr: &Expr, least: i8, most: i8| {
            let value = self.const_value(expr)?.as_int().and_then(ToPrimitive::to_i8);
            let fits = value.filter(|value| (least..=most).contains(value));
            if fits.is_none() {
                let message = format!("the number is not between {least} and {most}");
                self.push(Diagnostic::error(expr.span, message));
            }
            fits
        };
        let (shift, scale) = (number(shift, -1, 1)?, number(scale, -32, 31)?);
        let ty = table.ty.clone();
        let parts = self.constants(table, &ty)?;
        let mut entries = [0; MANTISSAS];
        // The first number is that of the largest mantissa.
        for (entry, part) in entries.iter_mut().rev().zip(&parts) {
            *entry = part.low_u64() as u8;
        }
        Some(MathUnit { invert, shift, scale, table: entries })
    }

    /// `factor / divisor` times a function. The scale is the largest with which all numbers of the table have
    /// eight bits.
    fn math_by_factor(
        &mut self,
        op: &Expr,
        factor: &Expr,
        divisor: Option<&Expr>,
        span: Span,
    ) -> Option<MathUnit> {
        let (invert, shift) = match self.enum_member(op) {
            Some("MUL") => (false, 0),
            Some("SQR") => (false, 1),
            Some("SQRT") => (false, -1),
            Some("DIV") => (true, 0),
            Some("RSQR") => (true, 1),
            Some("RSQRT") => (true, -1),
            _ => return self.shape_error(span),
        };
        let mut number = |expr: &Expr| {
            let value = self.const_value(expr)?.as_int().and_then(ToPrimitive::to_f64);
            let fits = value.filter(|value| *value >= 1.0 && value.is_finite());
            if fits.is_none() {
                self.push(Diagnostic::error(expr.span, "a factor of a math unit must be at least 1"));
            }
            fits
        };
        let mut factor = number(factor)?;
        if let Some(divisor) = divisor {
            factor /= number(divisor)?;
        }
        let of = |mantissa: usize| {
            let x = mantissa as f64 / 8.0;
            let value = match shift {
                ..0 => x.sqrt(),
                0 => x,
                1.. => x * x,
            };
            factor * if invert { 1.0 / value } else { value }
        };
        let first = if shift < 0 { FIRST_OF_ROOTS } else { FIRST_OF_OTHERS };
        let most = (first..MANTISSAS).map(of).fold(0.0, f64::max);
        let mut scale: i8 = -32;
        let mut unit = f64::from(2.0f32.powi(-32));
        // Seven bits behind the highest one.
        while most / unit >= 256.0 && scale < 31 {
            scale += 1;
            unit *= 2.0;
        }
        let entry = |mantissa: usize| match mantissa < first {
            true => 0,
            false => (of(mantissa) / unit).round_ties_even().clamp(0.0, 255.0) as u8,
        };
        Some(MathUnit { invert, shift, scale, table: core::array::from_fn(entry) })
    }

    /// `math_unit.execute(x)`
    pub(super) fn math(&mut self, at: usize, call: &Call) -> Option<Rvalue> {
        let unit = *self.tna.math_units.get(at)?;
        let src = self.arg(call, 0)?;
        let ty = self.arg_expr(call, 0)?.ty.clone();
        let dst = self.temp(self.var_type(&ty)?);
        self.emit(Inst::Extern(ExternCall::Math { unit, src, dst }));
        Some(Rvalue::Scalar(Operand::Var(dst)))
    }
}
