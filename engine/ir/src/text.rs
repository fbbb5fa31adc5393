//! The text form of a program: what `p4cc compile --ir` writes.
//!
//! One line per object and instruction, names before numbers, in the order of the lists; equal programs give
//! equal text. Variables print as their name, with the number added where a name is not unique.

use core::fmt::{self, Display, Write};
use std::collections::BTreeMap;

use crate::{
    ActionCall, BinOp, ControlPlaneName, ExternCall, Func, HeaderId, Inst, Keyset, MatchValue, Operand,
    Program, RegisterKind, Table, Terminator, UnOp, VarId, VarType,
};

/// The program as text.
pub fn to_text(program: &Program) -> String {
    let mut counts = BTreeMap::new();
    for var in &program.vars {
        *counts.entry(var.name.as_str()).or_insert(0u32) += 1;
    }
    let unique = program.vars.iter().map(|var| counts.get(var.name.as_str()) == Some(&1)).collect();
    let mut printer = Printer { program, unique, out: String::new() };
    // Writing to a string cannot fail.
    let _ = printer.program();
    printer.out
}

struct Printer<'p> {
    program: &'p Program,
    unique: Vec<bool>,
    out: String,
}

/// Appends one formatted line.
macro_rules! line {
    ($self:ident, $($arg:tt)*) => {
        writeln!($self.out, $($arg)*)
    };
}

impl Display for VarType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool => write!(f, "bool"),
            Self::Bit(width) => write!(f, "bit<{width}>"),
            Self::Int(width) => write!(f, "int<{width}>"),
            Self::Varbit(width) => write!(f, "varbit<{width}>"),
        }
    }
}

fn join(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(", ")
}

/// ` @id(n) @hidden @annotation...`, as far as given.
fn notes(cp: &ControlPlaneName) -> String {
    let id = cp.explicit_id.map(|id| format!(" @id({id:#x})"));
    let hidden = cp.hidden.then(|| " @hidden".to_owned());
    let others = cp.annotations.iter().map(|annotation| format!(" {annotation}"));
    id.into_iter().chain(hidden).chain(others).collect()
}

fn match_value(value: &MatchValue) -> String {
    match value {
        MatchValue::Any => "_".to_owned(),
        MatchValue::Exact(bits) => bits.to_string(),
        MatchValue::Lpm { value, len } => format!("{value}/{len}"),
        MatchValue::Ternary { value, mask } => format!("{value} &&& {mask}"),
        MatchValue::Range { low, high } => format!("{low} .. {high}"),
    }
}

fn keyset(set: &Keyset) -> String {
    match set {
        Keyset::Any => "_".to_owned(),
        Keyset::Mask { value, mask } => format!("{value} &&& {mask}"),
        Keyset::Range { low, high, signed } => format!("{low} ..{} {high}", sign(*signed)),
    }
}

fn sign(signed: bool) -> &'static str {
    if signed { "s" } else { "" }
}

fn operator(op: BinOp) -> String {
    match op {
        BinOp::Add => "+".to_owned(),
        BinOp::Sub => "-".to_owned(),
        BinOp::Mul => "*".to_owned(),
        BinOp::Div => "/".to_owned(),
        BinOp::Mod => "%".to_owned(),
        BinOp::AddSat { signed } => format!("|+|{}", sign(signed)),
        BinOp::SubSat { signed } => format!("|-|{}", sign(signed)),
        BinOp::And => "&".to_owned(),
        BinOp::Or => "|".to_owned(),
        BinOp::Xor => "^".to_owned(),
        BinOp::Shl => "<<".to_owned(),
        BinOp::Shr { signed } => format!(">>{}", sign(signed)),
        BinOp::Eq => "==".to_owned(),
        BinOp::Ne => "!=".to_owned(),
        BinOp::Lt { signed } => format!("<{}", sign(signed)),
        BinOp::Le { signed } => format!("<={}", sign(signed)),
    }
}

impl Printer<'_> {
    fn var(&self, id: VarId) -> String {
        match (self.program.vars.get(id.index()), self.unique.get(id.index())) {
            (Some(var), Some(true)) => var.name.clone(),
            (Some(var), _) => format!("{}#{}", var.name, id.0),
            _ => id.to_string(),
        }
    }

    fn operand(&self, operand: &Operand) -> String {
        match operand {
            Operand::Var(var) => self.var(*var),
            Operand::Const(bits) => bits.to_string(),
        }
    }

    fn operands(&self, operands: &[Operand]) -> String {
        join(operands.iter().map(|operand| self.operand(operand)))
    }

    fn header(&self, id: HeaderId) -> String {
        self.program.headers.get(id.index()).map_or_else(|| id.to_string(), |header| header.name.clone())
    }

    fn call(&self, call: &ActionCall) -> String {
        let action = self.program.actions.get(call.action.index());
        let name = action.map_or_else(|| call.action.to_string(), |action| action.cp.name.clone());
        format!("{name}({})", join(call.args.iter().map(ToString::to_string)))
    }

    fn program(&mut self) -> fmt::Result {
        let program = self.program;
        line!(self, "program {}", program.name)?;
        for annotation in &program.package_annotations {
            line!(self, "package {annotation}")?;
        }
        line!(self, "errors {}", program.errors.join(", "))?;
        write!(self.out, "{}", self.program.architecture)?;
        self.shapes()?;
        self.arrays()?;
        for (index, action) in program.actions.iter().enumerate() {
            let params = action
                .params
                .iter()
                .map(|param| format!("{} -> {}{}", param.cp.name, self.var(param.var), notes(&param.cp)));
            let params = join(params);
            line!(self, "action{index} {}({params}) = {}{}", action.cp.name, action.body, notes(&action.cp))?;
        }
        for (index, table) in program.tables.iter().enumerate() {
            self.table(index, table)?;
        }
        for (index, func) in program.funcs.iter().enumerate() {
            self.func(index, func)?;
        }
        Ok(())
    }

    fn shapes(&mut self) -> fmt::Result {
        let program = self.program;
        for ty in &program.header_types {
            let fields = join(ty.fields.iter().map(|field| format!("{}: {}", field.name, field.ty)));
            line!(self, "header_type {} {{ {fields} }}", ty.name)?;
        }
        for (index, header) in program.headers.iter().enumerate() {
            let ty = program.header_types.get(header.ty.index());
            let ty = ty.map_or_else(|| header.ty.to_string(), |ty| ty.name.clone());
            let fields = join(header.fields.iter().map(|&var| self.var(var)));
            let union = header.union.map(|union| format!(" in {union}")).unwrap_or_default();
            line!(self, "h{index} {}: {ty} ({fields}){union}", header.name)?;
        }
        for (index, stack) in program.stacks.iter().enumerate() {
            let elements = join(stack.elements.iter().map(|&header| self.header(header)));
            line!(self, "stack{index} {} [{elements}]", stack.name)?;
        }
        for (index, union) in program.unions.iter().enumerate() {
            let members = join(union.members.iter().map(|&header| self.header(header)));
            line!(self, "union{index} {} {{ {members} }}", union.name)?;
        }
        for (index, var) in program.vars.iter().enumerate() {
            line!(self, "v{index} {}: {} {:?}", self.var(VarId::from_index(index)), var.ty, var.kind)?;
        }
        for list in &program.field_lists {
            let vars = join(list.vars.iter().map(|&var| self.var(var)));
            line!(self, "field_list {} ({vars})", list.index)?;
        }
        for header in &program.controller_headers {
            let fields = header.fields.iter().map(|(cp, ty)| format!("{}: {ty}{}", cp.name, notes(cp)));
            line!(self, "controller_header {} {} ({})", header.cp.name, header.ty, join(fields))?;
        }
        Ok(())
    }

    fn arrays(&mut self) -> fmt::Result {
        let program = self.program;
        let size = |size: Option<u32>| size.map_or_else(|| "direct".to_owned(), |size| format!("[{size}]"));
        for (index, counter) in program.counters.iter().enumerate() {
            let (cp, unit) = (&counter.cp, counter.unit);
            line!(self, "counter{index} {} {} {unit:?}{}", cp.name, size(counter.size), notes(cp))?;
        }
        for (index, meter) in program.meters.iter().enumerate() {
            let (cp, unit) = (&meter.cp, meter.unit);
            line!(self, "meter{index} {} {} {unit:?}{}", cp.name, size(meter.size), notes(cp))?;
        }
        for (index, register) in program.registers.iter().enumerate() {
            let cp = &register.cp;
            let size = match register.kind {
                RegisterKind::Array => format!("[{}]", register.size),
                RegisterKind::Param => "param".to_owned(),
                RegisterKind::Direct => "direct".to_owned(),
            };
            line!(self, "register{index} {} {size} {}{}", cp.name, register.ty, notes(cp))?;
            if let Some(initial) = &register.initial {
                line!(self, "  initial {initial}")?;
            }
        }
        for (index, profile) in program.profiles.iter().enumerate() {
            let selector = profile.selector.map(|(algorithm, width)| {
                format!(" selector({algorithm:?}, {width}) max_group_size={}", profile.max_group_size)
            });
            let (cp, selector) = (&profile.cp, selector.unwrap_or_default());
            let bits = profile.bits.map(|bits| format!(" bits={bits}")).unwrap_or_default();
            line!(self, "profile{index} {} size={}{selector}{bits}{}", cp.name, profile.size, notes(cp))?;
        }
        for (index, digest) in program.digests.iter().enumerate() {
            let fields = join(digest.fields.iter().map(|field| format!("{}: {}", field.name, field.ty)));
            line!(self, "digest{index} {} ({fields}){}", digest.cp.name, notes(&digest.cp))?;
        }
        for (index, set) in program.value_sets.iter().enumerate() {
            let keys = join(set.keys.iter().map(|(cp, ty, kind)| format!("{}: {ty} {kind:?}", cp.name)));
            line!(self, "value_set{index} {} size={} ({keys}){}", set.cp.name, set.size, notes(&set.cp))?;
        }
        for (index, crc) in program.custom_crcs.iter().enumerate() {
            line!(self, "crc{index} {} width={}", crc.name, crc.width)?;
        }
        for (index, filter) in program.filters.iter().enumerate() {
            let (cp, kind, width) = (&filter.cp, filter.kind, filter.width);
            line!(
                self,
                "filter{index} {} {} {kind:?} width={width}{}",
                cp.name,
                size(filter.size),
                notes(cp)
            )?;
        }
        for (index, hash) in program.hashes.iter().enumerate() {
            let fields = join(hash.fields.iter().map(|field| format!("{}: {}", field.name, field.width)));
            let (cp, function) = (&hash.cp, hash.function);
            line!(self, "hash{index} {} width={} {function:?} ({fields}){}", cp.name, hash.width, notes(cp))?;
        }
        Ok(())
    }

    fn table(&mut self, index: usize, table: &Table) -> fmt::Result {
        line!(self, "table{index} {} size={}{}", table.cp.name, table.size, notes(&table.cp))?;
        for key in &table.keys {
            line!(self, "  key {}: {:?} = {}{}", key.cp.name, key.kind, self.var(key.var), notes(&key.cp))?;
        }
        for listed in &table.actions {
            let action = self.program.actions.get(listed.action.index());
            let name = action.map_or_else(|| listed.action.to_string(), |action| action.cp.name.clone());
            let annotations: String = listed.annotations.iter().map(|text| format!(" {text}")).collect();
            line!(self, "  action {name} {:?}{annotations}", listed.scope)?;
        }
        let constant = if table.const_default { "const " } else { "" };
        line!(self, "  {constant}default {}", self.call(&table.default_action))?;
        for entry in &table.entries {
            let constant = if entry.is_const || table.const_entries { "const " } else { "" };
            let matches = join(entry.matches.iter().map(match_value));
            let call = self.call(&entry.action);
            line!(self, "  {constant}entry ({matches}) priority={} -> {call}", entry.priority)?;
        }
        let parts = [
            table.profile.map(|profile| profile.to_string()),
            table.counter.map(|counter| counter.to_string()),
            table.meter.map(|meter| meter.to_string()),
            table.register.map(|register| register.to_string()),
            table.filter.map(|filter| filter.to_string()),
            table.idle_timeout.then(|| "idle_timeout".to_owned()),
        ];
        for part in parts.into_iter().flatten() {
            line!(self, "  with {part}")?;
        }
        Ok(())
    }

    fn func(&mut self, index: usize, func: &Func) -> fmt::Result {
        line!(self, "fn{index} {}", func.name)?;
        for (number, block) in func.blocks.iter().enumerate() {
            let label = if block.label.is_empty() { String::new() } else { format!(" ({})", block.label) };
            line!(self, "  block{number}{label}:")?;
            for inst in &block.insts {
                let text = self.inst(inst);
                line!(self, "    {text}")?;
            }
            let text = self.terminator(&block.terminator);
            line!(self, "    {text}")?;
        }
        Ok(())
    }

    fn terminator(&self, terminator: &Terminator) -> String {
        match terminator {
            Terminator::Jump(to) => format!("jump {to}"),
            Terminator::Branch { cond, then, otherwise } => {
                format!("if {} then {then} else {otherwise}", self.operand(cond))
            }
            Terminator::Switch { value, cases, default } => {
                let cases = join(cases.iter().map(|(bits, to)| format!("{bits} => {to}")));
                format!("switch {} {{ {cases} }} else {default}", self.operand(value))
            }
            Terminator::Select { keys, cases, default } => {
                let cases =
                    cases.iter().map(|(sets, to)| format!("({}) => {to}", join(sets.iter().map(keyset))));
                let otherwise = default.map_or_else(|| "reject".to_owned(), |block| block.to_string());
                format!("select ({}) {{ {} }} else {otherwise}", self.operands(keys), join(cases))
            }
            Terminator::Return => "return".to_owned(),
            Terminator::Exit => "exit".to_owned(),
            Terminator::Accept => "accept".to_owned(),
            Terminator::Reject => "reject".to_owned(),
        }
    }

    fn inst(&self, inst: &Inst) -> String {
        match inst {
            Inst::Assign { dst, src } => format!("{} = {}", self.var(*dst), self.operand(src)),
            Inst::Unary { dst, op, src } => {
                let op = if *op == UnOp::Not { "~" } else { "-" };
                format!("{} = {op}{}", self.var(*dst), self.operand(src))
            }
            Inst::Binary { dst, op, a, b } => {
                format!("{} = {} {} {}", self.var(*dst), self.operand(a), operator(*op), self.operand(b))
            }
            Inst::Resize { dst, src, signed } => {
                format!("{} = resize{} {}", self.var(*dst), sign(*signed), self.operand(src))
            }
            Inst::Concat { dst, hi, lo } => {
                format!("{} = {} ++ {}", self.var(*dst), self.operand(hi), self.operand(lo))
            }
            Inst::Slice { dst, src, lo } => format!("{} = {}[+{lo}]", self.var(*dst), self.operand(src)),
            Inst::SetSlice { dst, lo, src } => format!("{}[+{lo}] = {}", self.var(*dst), self.operand(src)),
            Inst::Apply { table, hit, action } => {
                let out = |name: &str, var: &Option<VarId>| {
                    var.map_or_else(String::new, |var| format!(" {name} -> {}", self.var(var)))
                };
                format!("apply {table}{}{}", out("hit", hit), out("action", action))
            }
            Inst::CallAction { action, args } => format!("call {action}({})", self.operands(args)),
            Inst::Extern(call) => self.extern_call(call),
            _ => self.header_inst(inst),
        }
    }

    fn header_inst(&self, inst: &Inst) -> String {
        match inst {
            Inst::SetValid { header } => format!("{}.setValid()", self.header(*header)),
            Inst::SetInvalid { header } => format!("{}.setInvalid()", self.header(*header)),
            Inst::IsValid { dst, header } => {
                format!("{} = {}.isValid()", self.var(*dst), self.header(*header))
            }
            Inst::UnionIsValid { dst, union } => format!("{} = {union}.isValid()", self.var(*dst)),
            Inst::CopyHeader { dst, src } => format!("{} = {}", self.header(*dst), self.header(*src)),
            Inst::HeaderEq { dst, a, b } => {
                format!("{} = {} == {}", self.var(*dst), self.header(*a), self.header(*b))
            }
            Inst::Extract { header } => format!("extract {}", self.header(*header)),
            Inst::ExtractVar { header, varbit_bits } => {
                format!("extract {} varbit {}", self.header(*header), self.operand(varbit_bits))
            }
            Inst::ExtractNext { stack, varbit_bits: None } => format!("extract {stack}.next"),
            Inst::ExtractNext { stack, varbit_bits: Some(bits) } => {
                format!("extract {stack}.next varbit {}", self.operand(bits))
            }
            Inst::Lookahead { dst } => format!("{} = lookahead", self.var(*dst)),
            Inst::Advance { bits } => format!("advance {}", self.operand(bits)),
            Inst::PacketLength { dst } => format!("{} = packet.length()", self.var(*dst)),
            Inst::Verify { cond, error } => format!("verify {}, {}", self.operand(cond), self.operand(error)),
            Inst::ValueSetMatch { dst, set, keys } => {
                format!("{} = ({}) in {set}", self.var(*dst), self.operands(keys))
            }
            Inst::Emit { header } => format!("emit {}", self.header(*header)),
            _ => self.stack_inst(inst),
        }
    }

    fn stack_inst(&self, inst: &Inst) -> String {
        match inst {
            Inst::StackLoad { dst, stack, index, field } => {
                format!("{} = {stack}[{}].{field}", self.var(*dst), self.operand(index))
            }
            Inst::StackStore { stack, index, field, src } => {
                format!("{stack}[{}].{field} = {}", self.operand(index), self.operand(src))
            }
            Inst::StackIsValid { dst, stack, index } => {
                format!("{} = {stack}[{}].isValid()", self.var(*dst), self.operand(index))
            }
            Inst::StackSetValid { stack, index, valid } => {
                let what = if *valid { "setValid" } else { "setInvalid" };
                format!("{stack}[{}].{what}()", self.operand(index))
            }
            Inst::StackPush { stack, count } => format!("{stack}.push_front({count})"),
            Inst::StackPop { stack, count } => format!("{stack}.pop_front({count})"),
            Inst::StackNextIndex { dst, stack } => format!("{} = {stack}.nextIndex", self.var(*dst)),
            Inst::StackSetNextIndex { stack, next } => format!("{stack}.nextIndex = {}", self.operand(next)),
            other => format!("{other:?}"),
        }
    }

    /// Calls of the chip's own objects.
    fn chip_call(&self, call: &ExternCall) -> String {
        let cell = |index: &Option<Operand>| {
            index.as_ref().map_or_else(|| "hit".to_owned(), |index| self.operand(index))
        };
        let more = |name: &str, given: &Option<Operand>| {
            given.as_ref().map_or_else(String::new, |given| format!(", {name}={}", self.operand(given)))
        };
        match call {
            ExternCall::CounterAdd { counter, index, adjust } => {
                format!("{counter}.add({}{})", cell(index), more("adjust", adjust))
            }
            ExternCall::MeterMeasure { meter, index, color, adjust, dst } => {
                let given = more("color", color) + &more("adjust", adjust);
                format!("{} = {meter}.measure({}{given})", self.var(*dst), cell(index))
            }
            ExternCall::FilterExecute { filter, index, value, dst } => {
                let (dst, value) = (self.var(*dst), self.operand(value));
                format!("{dst} = {filter}.execute({}, {value})", cell(index))
            }
            ExternCall::DirectRegisterRead { register, dst } => {
                format!("{} = {register}[hit]", self.var(*dst))
            }
            ExternCall::DirectRegisterWrite { register, value } => {
                format!("{register}[hit] = {}", self.operand(value))
            }
            ExternCall::RegisterClear { register, value } => {
                format!("{register}[all] = {}", self.operand(value))
            }
            ExternCall::Math { unit, src, dst } => {
                format!("{} = {unit:?}({})", self.var(*dst), self.operand(src))
            }
            other => format!("{other:?}"),
        }
    }

    fn extern_call(&self, call: &ExternCall) -> String {
        match call {
            ExternCall::CounterCount { counter, index } => {
                format!("{counter}.count({})", self.operand(index))
            }
            ExternCall::DirectCounterCount { counter } => format!("{counter}.count()"),
            ExternCall::MeterExecute { meter, index, color, dst } => {
                let color = color.as_ref().map(|color| format!(", {}", self.operand(color)));
                let (dst, index) = (self.var(*dst), self.operand(index));
                format!("{dst} = {meter}.execute({index}{})", color.unwrap_or_default())
            }
            ExternCall::DirectMeterRead { meter, dst } => format!("{} = {meter}.read()", self.var(*dst)),
            ExternCall::CounterAdd { .. }
            | ExternCall::MeterMeasure { .. }
            | ExternCall::FilterExecute { .. }
            | ExternCall::DirectRegisterRead { .. }
            | ExternCall::DirectRegisterWrite { .. }
            | ExternCall::RegisterClear { .. }
            | ExternCall::Math { .. } => self.chip_call(call),
            ExternCall::RegisterRead { register, dst, index } => {
                format!("{} = {register}[{}]", self.var(*dst), self.operand(index))
            }
            ExternCall::RegisterWrite { register, index, value } => {
                format!("{register}[{}] = {}", self.operand(index), self.operand(value))
            }
            ExternCall::Hash { dst, algorithm, base, data, max } => {
                let (dst, base, max) = (self.var(*dst), self.operand(base), self.operand(max));
                format!("{dst} = {base} + {algorithm:?}({}) mod {max}", self.operands(data))
            }
            ExternCall::Random { dst, low, high } => {
                format!("{} = random({}, {})", self.var(*dst), self.operand(low), self.operand(high))
            }
            ExternCall::VerifyChecksum { cond, data, checksum, algorithm, with_payload } => {
                let (cond, data, checksum) =
                    (self.operand(cond), self.operands(data), self.operand(checksum));
                let payload = if *with_payload { " with payload" } else { "" };
                format!("verify_checksum if {cond}: {algorithm:?}({data}){payload} == {checksum}")
            }
            ExternCall::UpdateChecksum { cond, data, checksum, algorithm, with_payload } => {
                let (cond, data, checksum) = (self.operand(cond), self.operands(data), self.var(*checksum));
                let payload = if *with_payload { " with payload" } else { "" };
                format!("update_checksum if {cond}: {checksum} = {algorithm:?}({data}){payload}")
            }
            ExternCall::MarkToDrop => "mark_to_drop".to_owned(),
            ExternCall::Digest { digest, data } => format!("{digest}({})", self.operands(data)),
            ExternCall::Clone { kind, session, field_list } => {
                let list = field_list.as_ref().map_or_else(|| "none".to_owned(), |list| self.operand(list));
                format!("clone {kind:?} session {} field_list {list}", self.operand(session))
            }
            ExternCall::Resubmit { field_list } => {
                format!("resubmit field_list {}", self.operand(field_list))
            }
            ExternCall::Recirculate { field_list } => {
                format!("recirculate field_list {}", self.operand(field_list))
            }
            ExternCall::Truncate { bytes } => format!("truncate {}", self.operand(bytes)),
            ExternCall::LogMsg { format, args } => format!("log_msg {format:?} ({})", self.operands(args)),
            ExternCall::Assert { cond, place } => format!("assert {} at {place:?}", self.operand(cond)),
        }
    }
}
