//! Functions: blocks, widths, what may stand where, and that calls end.

use core::fmt::Display;
use std::collections::BTreeSet;

use super::{MAX_DATA_FIELDS, Verifier};
use crate::{
    ActionId, BinOp, BlockId, ExternCall, Func, FuncId, HeaderId, Inst, Keyset, Operand, RegisterId,
    RegisterKind, Role, StackId, TableId, Terminator, VarId, VarType, limits,
};

impl Verifier<'_> {
    pub(super) fn functions(&mut self) {
        let program = self.program;
        let mut roles = vec![None; program.funcs.len()];
        let entries = program.architecture.entries();
        let bodies = program.actions.iter().map(|action| (action.body, Role::Control));
        for (func, role) in entries.into_iter().chain(bodies) {
            self.place = format!("{func}");
            if self.func(func).is_some() {
                let known = roles[func.index()].get_or_insert(role);
                let same = *known == role;
                self.check(same, || format!("runs both as {role:?} and as another"));
            }
        }
        let insts: usize =
            program.funcs.iter().flat_map(|func| &func.blocks).map(|block| block.insts.len()).sum();
        self.place = "program".to_owned();
        self.check(insts <= limits::MAX_INSTS, || {
            format!("{insts} instructions, more than {}", limits::MAX_INSTS)
        });
        for (func, role) in program.funcs.iter().zip(roles) {
            self.function(func, role.unwrap_or(Role::Control));
        }
    }

    fn function(&mut self, func: &Func, role: Role) {
        self.place = format!("function `{}`", func.name);
        self.check(!func.blocks.is_empty(), || "has no blocks".to_owned());
        for (number, block) in func.blocks.iter().enumerate() {
            for (at, inst) in block.insts.iter().enumerate() {
                self.place =
                    format!("function `{}`, {}, instruction {at}", func.name, BlockId::from_index(number));
                self.placed(inst, role);
                self.inst(inst);
            }
            self.place = format!("function `{}`, {}, terminator", func.name, BlockId::from_index(number));
            self.terminator(&block.terminator, role, func.blocks.len());
        }
    }

    /// What may stand where.
    fn placed(&mut self, inst: &Inst, role: Role) {
        let allowed = match inst {
            Inst::Extract { .. }
            | Inst::ExtractVar { .. }
            | Inst::ExtractNext { .. }
            | Inst::Lookahead { .. }
            | Inst::Advance { .. }
            | Inst::PacketLength { .. }
            | Inst::Verify { .. }
            | Inst::ValueSetMatch { .. } => role == Role::Parser,
            Inst::Emit { .. } => matches!(role, Role::Deparser | Role::CallingDeparser),
            Inst::Apply { .. } | Inst::CallAction { .. } => {
                matches!(role, Role::Control | Role::CallingDeparser)
            }
            Inst::Extern(
                ExternCall::Hash { .. }
                | ExternCall::Random { .. }
                | ExternCall::MarkToDrop
                | ExternCall::LogMsg { .. }
                | ExternCall::Assert { .. },
            ) => true,
            Inst::Extern(_) => role != Role::Deparser,
            _ => true,
        };
        self.check(allowed, || format!("cannot stand in a function that runs as {role:?}"));
    }

    fn target(&mut self, block: BlockId, blocks: usize) {
        self.check(block.index() < blocks, || format!("{block} is out of range: the function has {blocks}"));
    }

    fn terminator(&mut self, terminator: &Terminator, role: Role, blocks: usize) {
        let in_parser =
            matches!(terminator, Terminator::Select { .. } | Terminator::Accept | Terminator::Reject);
        let in_control = matches!(terminator, Terminator::Return | Terminator::Exit);
        let allowed = (!in_parser || role == Role::Parser) && (!in_control || role != Role::Parser);
        self.check(allowed, || format!("cannot stand in a function that runs as {role:?}"));
        match terminator {
            Terminator::Jump(to) => self.target(*to, blocks),
            Terminator::Branch { cond, then, otherwise } => {
                self.flag_operand("condition", cond);
                self.target(*then, blocks);
                self.target(*otherwise, blocks);
            }
            Terminator::Switch { value, cases, default } => {
                let width = self.fixed_operand(value);
                let mut seen = BTreeSet::new();
                for (bits, to) in cases {
                    self.same_width("case and value", Some(bits.width()), width);
                    self.check(seen.insert(bits), || format!("case {bits} stands twice"));
                    self.target(*to, blocks);
                }
                self.target(*default, blocks);
            }
            Terminator::Select { keys, cases, default } => {
                let widths: Vec<Option<u32>> = keys.iter().map(|key| self.fixed_operand(key)).collect();
                for (sets, to) in cases {
                    let (has, wants) = (sets.len(), widths.len());
                    self.check(has == wants, || format!("{has} keysets for {wants} keys"));
                    for (set, &width) in sets.iter().zip(&widths) {
                        self.keyset(set, width);
                    }
                    self.target(*to, blocks);
                }
                default.iter().for_each(|to| self.target(*to, blocks));
            }
            Terminator::Return | Terminator::Exit | Terminator::Accept | Terminator::Reject => {}
        }
    }

    fn keyset(&mut self, set: &Keyset, width: Option<u32>) {
        let (first, second) = match set {
            Keyset::Any => return,
            Keyset::Mask { value, mask } => (value, mask),
            Keyset::Range { low, high, .. } => (low, high),
        };
        self.same_width("keyset and key", Some(first.width()), width);
        self.same_width("keyset and key", Some(second.width()), width);
    }

    fn inst(&mut self, inst: &Inst) {
        match inst {
            Inst::Assign { dst, src } => self.same_type(*dst, src),
            Inst::Unary { dst, src, .. } => {
                let (dst, src) = (self.fixed_var(*dst), self.fixed_operand(src));
                self.same_width("operand and result", src, dst);
            }
            Inst::Binary { dst, op, a, b } => self.binary(*dst, *op, a, b),
            Inst::Resize { dst, src, .. } => {
                self.fixed_var(*dst);
                self.fixed_operand(src);
            }
            Inst::Concat { dst, hi, lo } => {
                let dst = self.fixed_var(*dst);
                let (hi, lo) = (self.fixed_operand(hi), self.fixed_operand(lo));
                self.same_width("parts and result", hi.zip(lo).map(|(hi, lo)| hi.saturating_add(lo)), dst);
            }
            Inst::Slice { dst, src, lo } => {
                let (part, whole) = (self.fixed_var(*dst), self.fixed_operand(src));
                self.slice(part, whole, *lo);
            }
            Inst::SetSlice { dst, lo, src } => {
                let (part, whole) = (self.fixed_operand(src), self.fixed_var(*dst));
                self.slice(part, whole, *lo);
            }
            Inst::Apply { table, hit, action } => self.apply(*table, *hit, *action),
            Inst::CallAction { action, args } => {
                let widths: Vec<Option<u32>> = args.iter().map(|arg| self.fixed_operand(arg)).collect();
                if let Some(action) = self.action(*action) {
                    self.arguments(action, &widths);
                }
            }
            Inst::Extern(call) => self.extern_call(call),
            _ => self.header_inst(inst),
        }
    }

    /// Equal types, signs aside.
    fn same_type(&mut self, dst: VarId, src: &Operand) {
        let (Some(to), Some(from)) = (self.var_type(dst), self.operand_type(src)) else { return };
        let varbit = |ty| matches!(ty, VarType::Varbit(_));
        self.check(varbit(to) == varbit(from), || format!("{from:?} cannot go into {to:?}"));
        self.same_width("value and target", Some(from.width()), Some(to.width()));
    }

    fn slice(&mut self, part: Option<u32>, whole: Option<u32>, lo: u32) {
        if let (Some(part), Some(whole)) = (part, whole) {
            self.check(lo.checked_add(part).is_some_and(|end| end <= whole), || {
                format!("{part} bits from bit {lo} do not fit {whole} bits")
            });
        }
    }

    fn binary(&mut self, dst: VarId, op: BinOp, a: &Operand, b: &Operand) {
        let result = self.fixed_var(dst);
        if matches!(op, BinOp::Eq | BinOp::Ne)
            && let Some(VarType::Varbit(left)) = self.operand_type(a)
        {
            let right = self.operand_type(b);
            self.check(right == Some(VarType::Varbit(left)), || {
                format!("a varbit of {left} bits is compared with {right:?}")
            });
            return self.same_width("result of a comparison", result, Some(1));
        }
        let (left, right) = (self.fixed_operand(a), self.fixed_operand(b));
        let compares = matches!(op, BinOp::Eq | BinOp::Ne | BinOp::Lt { .. } | BinOp::Le { .. });
        if !matches!(op, BinOp::Shl | BinOp::Shr { .. }) {
            self.same_width("operands", left, right);
        }
        self.same_width("result", result, if compares { Some(1) } else { left });
    }

    fn apply(&mut self, table: TableId, hit: Option<VarId>, action: Option<VarId>) {
        hit.iter().for_each(|&var| self.flag_var("hit", var));
        let (Some(table), Some(var)) = (self.table(table), action) else { return };
        if let Some(width) = self.fixed_var(var) {
            let actions = table.actions.len() as u64;
            let fits = width <= 64 && (width == 64 || actions < 1 << width);
            self.check(fits, || format!("{width} bits do not hold the place of one of {actions} actions"));
        }
    }

    /// Whether the header type has a varbit.
    fn has_varbit(&mut self, header: HeaderId) -> Option<bool> {
        let ty = self.header(header)?.ty;
        let fields = &self.header_type(ty)?.fields;
        Some(fields.iter().any(|field| matches!(field.ty, VarType::Varbit(_))))
    }

    fn same_header_type(&mut self, a: HeaderId, b: HeaderId) {
        if let (Some(left), Some(right)) = (self.header(a), self.header(b)) {
            self.check(left.ty == right.ty, || format!("{a} and {b} are of different types"));
        }
    }

    fn varbit_extract(&mut self, header: HeaderId, bits: Option<&Operand>) {
        if let Some(varbit) = self.has_varbit(header) {
            self.check(varbit == bits.is_some(), || {
                format!("{header}: a varbit length is given exactly when the header has a varbit")
            });
        }
        if let Some(bits) = bits {
            self.fixed_operand(bits);
        }
    }

    fn header_inst(&mut self, inst: &Inst) {
        match inst {
            Inst::SetValid { header } | Inst::SetInvalid { header } | Inst::Emit { header } => {
                self.header(*header);
            }
            Inst::IsValid { dst, header } => {
                self.header(*header);
                self.flag_var("isValid", *dst);
            }
            Inst::UnionIsValid { dst, union } => {
                self.union(*union);
                self.flag_var("isValid", *dst);
            }
            Inst::CopyHeader { dst, src } => self.same_header_type(*dst, *src),
            Inst::HeaderEq { dst, a, b } => {
                self.same_header_type(*a, *b);
                self.flag_var("result of a comparison", *dst);
            }
            Inst::Extract { header } => self.varbit_extract(*header, None),
            Inst::ExtractVar { header, varbit_bits } => self.varbit_extract(*header, Some(varbit_bits)),
            Inst::ExtractNext { stack, varbit_bits } => {
                if let Some(&first) = self.stack(*stack).and_then(|stack| stack.elements.first()) {
                    self.varbit_extract(first, varbit_bits.as_ref());
                }
            }
            Inst::Lookahead { dst } => {
                self.fixed_var(*dst);
            }
            Inst::Advance { bits } => {
                self.fixed_operand(bits);
            }
            Inst::PacketLength { dst } => {
                if let Some(width) = self.fixed_var(*dst) {
                    self.check(width <= 64, || format!("the packet length goes into {width} bits"));
                }
            }
            Inst::Verify { cond, error } => {
                self.flag_operand("condition", cond);
                self.fixed_operand(error);
            }
            Inst::ValueSetMatch { dst, set, keys } => {
                self.flag_var("match", *dst);
                let Some(set) = self.value_set(*set) else { return };
                let (has, wants) = (keys.len(), set.keys.len());
                self.check(has == wants, || format!("{has} operands for {wants} keys"));
                for (key, (_, ty, _)) in keys.iter().zip(&set.keys) {
                    let width = self.fixed_operand(key);
                    self.same_width("operand and key", width, Some(ty.width()));
                }
            }
            _ => self.stack_inst(inst),
        }
    }

    /// The variable of a field of a stack's first element: its type is that of all.
    fn stack_field(&mut self, stack: StackId, field: u32) -> Option<VarId> {
        let first = *self.stack(stack)?.elements.first()?;
        let var = self.header(first)?.fields.get(field as usize).copied();
        self.check(var.is_some(), || format!("{stack} has no field {field}"));
        var
    }

    fn stack_inst(&mut self, inst: &Inst) {
        match inst {
            Inst::StackLoad { dst, stack, index, field } => {
                self.fixed_operand(index);
                if let Some(var) = self.stack_field(*stack, *field) {
                    self.same_type(*dst, &Operand::Var(var));
                }
            }
            Inst::StackStore { stack, index, field, src } => {
                self.fixed_operand(index);
                if let Some(var) = self.stack_field(*stack, *field) {
                    self.same_type(var, src);
                }
            }
            Inst::StackIsValid { dst, stack, index } => {
                self.flag_var("isValid", *dst);
                self.stack(*stack);
                self.fixed_operand(index);
            }
            Inst::StackSetValid { stack, index, .. } => {
                self.stack(*stack);
                self.fixed_operand(index);
            }
            Inst::StackPush { stack, .. } | Inst::StackPop { stack, .. } => {
                self.stack(*stack);
            }
            Inst::StackNextIndex { dst, stack } => {
                self.stack(*stack);
                self.fixed_var(*dst);
            }
            Inst::StackSetNextIndex { stack, next } => {
                self.stack(*stack);
                if let Some(width) = self.fixed_operand(next) {
                    self.check(width <= 64, || format!("the next index comes from {width} bits"));
                }
            }
            _ => {}
        }
    }

    fn data(&mut self, data: &[Operand]) {
        self.check(data.len() <= MAX_DATA_FIELDS, || {
            format!("{} fields, more than {MAX_DATA_FIELDS}", data.len())
        });
        for field in data {
            self.operand_type(field);
        }
    }

    fn extern_call(&mut self, call: &ExternCall) {
        let allowed = self.program.architecture.may_call(call);
        self.check(allowed, || "is a call of another architecture's".to_owned());
        match call {
            ExternCall::CounterCount { counter, index } => {
                self.fixed_operand(index);
                let array = self.counter(*counter).is_none_or(|counter| counter.size.is_some());
                self.check(array, || format!("{counter} is a direct counter, not an array"));
            }
            ExternCall::DirectCounterCount { counter } => {
                let direct = self.counter(*counter).is_none_or(|counter| counter.size.is_none());
                self.check(direct, || format!("{counter} is an array, not a direct counter"));
            }
            ExternCall::MeterExecute { meter, index, color, dst } => {
                self.fixed_operand(index);
                if let Some(color) = color {
                    self.fixed_operand(color);
                }
                self.fixed_var(*dst);
                let array = self.meter(*meter).is_none_or(|meter| meter.size.is_some());
                self.check(array, || format!("{meter} is a direct meter, not an array"));
            }
            ExternCall::DirectMeterRead { meter, dst } => {
                self.fixed_var(*dst);
                let direct = self.meter(*meter).is_none_or(|meter| meter.size.is_none());
                self.check(direct, || format!("{meter} is an array, not a direct meter"));
            }
            ExternCall::RegisterRead { register, dst, index } => {
                let (width, _) = (self.fixed_var(*dst), self.fixed_operand(index));
                let cell = self.register(*register).map(|register| register.ty.width());
                self.same_width("target and register cell", width, cell);
            }
            ExternCall::RegisterWrite { register, index, value } => {
                let (width, _) = (self.fixed_operand(value), self.fixed_operand(index));
                let cell = self.register(*register).map(|register| register.ty.width());
                self.same_width("value and register cell", width, cell);
            }
            ExternCall::Hash { dst, algorithm, base, data, max } => {
                self.algorithm(*algorithm);
                self.fixed_var(*dst);
                self.fixed_operand(base);
                self.fixed_operand(max);
                self.data(data);
            }
            ExternCall::Random { dst, low, high } => {
                let (dst, low) = (self.fixed_var(*dst), self.fixed_operand(low));
                let high = self.fixed_operand(high);
                self.same_width("low end and result", low, dst);
                self.same_width("high end and result", high, dst);
            }
            ExternCall::CounterAdd { .. }
            | ExternCall::MeterMeasure { .. }
            | ExternCall::FilterExecute { .. }
            | ExternCall::DirectRegisterRead { .. }
            | ExternCall::DirectRegisterWrite { .. }
            | ExternCall::RegisterClear { .. }
            | ExternCall::Math { .. } => self.chip_call(call),
            _ => self.effect_call(call),
        }
    }

    /// A call of an array has an index; one of a table's own object has none.
    fn cell(&mut self, what: &impl Display, index: Option<&Operand>, is_array: Option<bool>) {
        if let Some(index) = index {
            self.fixed_operand(index);
        }
        let fits = is_array.is_none_or(|is_array| is_array == index.is_some());
        self.check(fits, || format!("{what} is called with an index where it has none, or without one"));
    }

    /// Calls of the chip's own objects.
    fn chip_call(&mut self, call: &ExternCall) {
        match call {
            ExternCall::CounterAdd { counter, index, adjust } => {
                let is_array = self.counter(*counter).map(|counter| counter.size.is_some());
                self.cell(counter, index.as_ref(), is_array);
                if let Some(adjust) = adjust {
                    self.fixed_operand(adjust);
                }
            }
            ExternCall::MeterMeasure { meter, index, color, adjust, dst } => {
                let is_array = self.meter(*meter).map(|meter| meter.size.is_some());
                self.cell(meter, index.as_ref(), is_array);
                for given in color.iter().chain(adjust) {
                    self.fixed_operand(given);
                }
                self.fixed_var(*dst);
            }
            ExternCall::FilterExecute { filter, index, value, dst } => {
                let declared = self.filter(*filter);
                self.cell(filter, index.as_ref(), declared.map(|filter| filter.size.is_some()));
                let width = self.fixed_operand(value);
                self.same_width("value and filter", width, declared.map(|filter| filter.width));
                self.narrow_var(*dst);
            }
            ExternCall::DirectRegisterRead { register, dst } => {
                let width = self.fixed_var(*dst);
                let cell = self.direct_register(*register);
                self.same_width("target and register cell", width, cell);
            }
            ExternCall::DirectRegisterWrite { register, value } => {
                let width = self.fixed_operand(value);
                let cell = self.direct_register(*register);
                self.same_width("value and register cell", width, cell);
            }
            ExternCall::RegisterClear { register, value } => {
                let width = self.fixed_operand(value);
                let cell = self.register(*register).map(|register| register.ty.width());
                self.same_width("value and register cell", width, cell);
            }
            ExternCall::Math { src, dst, .. } => {
                self.narrow_var(*dst);
                let (width, dst) = (self.fixed_operand(src), self.fixed_var(*dst));
                self.same_width("operand and result", width, dst);
            }
            _ => {}
        }
    }

    /// Width of the cells of a direct register.
    fn direct_register(&mut self, id: RegisterId) -> Option<u32> {
        let register = self.register(id)?;
        self.check(register.kind == RegisterKind::Direct, || format!("{id} is no direct register"));
        Some(register.ty.width())
    }

    fn effect_call(&mut self, call: &ExternCall) {
        match call {
            ExternCall::VerifyChecksum { cond, data, checksum, algorithm, .. } => {
                self.algorithm(*algorithm);
                self.flag_operand("condition", cond);
                self.fixed_operand(checksum);
                self.data(data);
            }
            ExternCall::UpdateChecksum { cond, data, checksum, algorithm, .. } => {
                self.algorithm(*algorithm);
                self.flag_operand("condition", cond);
                self.fixed_var(*checksum);
                self.data(data);
            }
            ExternCall::Digest { digest, data } => {
                self.data(data);
                let Some(digest) = self.digest(*digest) else { return };
                let (has, wants) = (data.len(), digest.fields.len());
                self.check(has == wants, || format!("{has} values for {wants} fields"));
                for (value, field) in data.iter().zip(&digest.fields) {
                    let width = self.operand_type(value).map(VarType::width);
                    self.same_width("value and digest field", width, Some(field.ty.width()));
                }
            }
            ExternCall::Clone { session, field_list, .. } => {
                self.fixed_operand(session);
                if let Some(list) = field_list {
                    self.fixed_operand(list);
                }
            }
            ExternCall::Resubmit { field_list } | ExternCall::Recirculate { field_list } => {
                self.fixed_operand(field_list);
            }
            ExternCall::Truncate { bytes } => {
                self.fixed_operand(bytes);
            }
            ExternCall::LogMsg { args, .. } => self.data(args),
            ExternCall::Assert { cond, .. } => self.flag_operand("condition", cond),
            _ => {}
        }
    }

    /// No action reaches itself: a depth-first walk with an explicit stack over actions.
    pub(super) fn calls_end(&mut self) {
        let program = self.program;
        let reached: Vec<BTreeSet<ActionId>> =
            program.actions.iter().map(|action| self.callees(action.body)).collect();
        let mut done = vec![false; reached.len()];
        let mut active = vec![false; reached.len()];
        for root in 0..reached.len() {
            let mut path = vec![(root, reached[root].iter())];
            if done[root] {
                continue;
            }
            active[root] = true;
            while let Some((action, callees)) = path.last_mut() {
                let action = *action;
                let Some(callee) = callees.next().map(|callee| callee.index()) else {
                    active[action] = false;
                    done[action] = true;
                    path.pop();
                    continue;
                };
                if active.get(callee) == Some(&true) {
                    self.place = format!("action `{}`", program.actions[callee].cp.name);
                    self.report("reaches itself through calls or tables");
                } else if done.get(callee) == Some(&false) {
                    active[callee] = true;
                    path.push((callee, reached[callee].iter()));
                }
            }
        }
    }

    /// Actions that a function may start.
    fn callees(&self, func: FuncId) -> BTreeSet<ActionId> {
        let mut callees = BTreeSet::new();
        let blocks = self.program.funcs.get(func.index()).map_or(&[][..], |func| &func.blocks);
        for inst in blocks.iter().flat_map(|block| &block.insts) {
            match inst {
                Inst::CallAction { action, .. } => {
                    callees.insert(*action);
                }
                Inst::Apply { table, .. } => {
                    let actions = self.program.tables.get(table.index());
                    callees
                        .extend(actions.iter().flat_map(|table| &table.actions).map(|listed| listed.action));
                }
                _ => {}
            }
        }
        callees
    }
}
