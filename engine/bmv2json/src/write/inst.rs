//! Instructions as primitives of actions and operations of parser states.

use p4cc_ir::{CloneKind, ExternCall, HashAlgorithm, Inst, Operand, StackId, VarId, VarType};
use serde_json::{Value, json};

use super::json::{call, constant, number, parameter, parser_op, typed};
use super::{Res, Writer, refuse};

/// The receiver that v1model programs give a digest; simple_switch does not look at it.
const DIGEST_RECEIVER: u64 = 1;

/// The list of a clone that keeps no field: the last id that BMv2's registers of a packet hold.
const NO_FIELDS: u32 = 0xffff;

/// What code is written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place<'n> {
    /// An action, or code of a control, of this name.
    Action(&'n str),
    /// A state of the parser.
    Parser(&'n str),
}

impl Place<'_> {
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Action(name) | Self::Parser(name) => name,
        }
    }

    /// An assignment where this code stands.
    pub(super) fn assign(self, dst: Value, value: Value) -> Value {
        let op = if matches!(self, Self::Parser(_)) { "set" } else { "assign" };
        call(op, vec![dst, value])
    }

    /// A primitive where this code stands.
    pub(super) fn primitive(self, op: &str, parameters: Vec<Value>) -> Value {
        match self {
            Self::Action(_) => call(op, parameters),
            Self::Parser(_) => parser_op("primitive", vec![call(op, parameters)]),
        }
    }
}

impl Writer<'_> {
    /// `dst = value` where code stands.
    pub(super) fn set(&mut self, place: Place<'_>, dst: VarId, value: Value) -> Value {
        place.assign(self.names.field(dst), value)
    }

    /// One instruction that neither applies a table, nor calls an action, nor matches a value set.
    pub(super) fn inst(&mut self, place: Place<'_>, inst: &Inst) -> Res<Vec<Value>> {
        if let Inst::Assign { dst, src } = inst
            && self.is_varbit(src)
        {
            let Operand::Var(src) = src else {
                return refuse(place.name(), "a constant varbit", "copy a field");
            };
            let parameters = vec![self.names.field(*dst), self.names.field(*src)];
            return Ok(vec![place.primitive("assign_VL", parameters)]);
        }
        if let Inst::StackNextIndex { dst, stack } = inst {
            self.made.next_of.insert(*dst, *stack);
        }
        if let Some(value) = self.value(inst, &mut |writer, operand| writer.operand(operand))
            && let Some(dst) = destination(inst)
        {
            return Ok(vec![self.set(place, dst, value)]);
        }
        let header = |writer: &Self, header| typed("header", writer.names.header(header));
        let stack = |writer: &Self, stack| typed("header_stack", writer.names.stack(stack));
        Ok(vec![match inst {
            Inst::SetValid { header: of } => place.primitive("add_header", vec![header(self, *of)]),
            Inst::SetInvalid { header: of } => place.primitive("remove_header", vec![header(self, *of)]),
            Inst::CopyHeader { dst, src } => {
                place.primitive("assign_header", vec![header(self, *dst), header(self, *src)])
            }
            Inst::StackStore { stack, index, field, src } => {
                let index = self.operand(index);
                let (element, value) = (self.stack_field(*stack, index, *field), self.operand(src));
                place.primitive("assign", vec![element, value])
            }
            Inst::StackSetValid { stack, index, valid } => {
                let index = self.operand(index);
                let op = if *valid { "add_header" } else { "remove_header" };
                place.primitive(op, vec![self.element(*stack, index)])
            }
            Inst::StackPush { stack: of, count } => {
                place.primitive("push", vec![stack(self, *of), number(u64::from(*count))])
            }
            Inst::StackPop { stack: of, count } => {
                place.primitive("pop", vec![stack(self, *of), number(u64::from(*count))])
            }
            Inst::Extern(extern_call) => return self.extern_call(place, extern_call),
            Inst::Extract { .. }
            | Inst::ExtractVar { .. }
            | Inst::ExtractNext { .. }
            | Inst::Advance { .. }
            | Inst::PacketLength { .. }
            | Inst::Verify { .. } => self.parser_op(place, inst)?,
            Inst::StackSetNextIndex { stack: of, next } => self.set_next_index(place, *of, next)?,
            other => return refuse(place.name(), format!("{other:?}"), "move it to where P4 allows it"),
        }])
    }

    /// The next index moves with the elements only. A copy of a stack begins with that of its source, so that
    /// the whole stack is copied here; a stack that begins anew is emptied.
    fn set_next_index(&self, place: Place<'_>, to: StackId, next: &Operand) -> Res<Value> {
        let stack = |stack: StackId| typed("header_stack", self.names.stack(stack));
        match next {
            Operand::Const(next) if next.is_zero() => {
                let count = self.program.stacks[to.index()].elements.len() as u64;
                Ok(place.primitive("pop", vec![stack(to), number(count)]))
            }
            Operand::Var(var) if self.made.next_of.contains_key(var) => {
                let from = self.made.next_of[var];
                Ok(place.primitive("assign_header_stack", vec![stack(to), stack(from)]))
            }
            _ => {
                let cause = format!("the next index of `{}` is set to a number", self.names.stack(to));
                refuse(place.name(), cause, "copy whole stacks")
            }
        }
    }

    fn parser_op(&mut self, place: Place<'_>, inst: &Inst) -> Res<Value> {
        Ok(match inst {
            Inst::Extract { header } => call("extract", vec![typed("regular", self.names.header(*header))]),
            Inst::ExtractVar { header, varbit_bits } => {
                let header = typed("regular", self.names.header(*header));
                parser_op("extract_VL", vec![header, typed("expression", self.operand(varbit_bits))])
            }
            Inst::ExtractNext { stack, varbit_bits } => {
                let target = typed("stack", self.names.stack(*stack));
                match varbit_bits {
                    None => call("extract", vec![target]),
                    Some(bits) => {
                        parser_op("extract_VL", vec![target, typed("expression", self.operand(bits))])
                    }
                }
            }
            Inst::Advance { bits } => call("advance", vec![self.operand(bits)]),
            Inst::Verify { cond, error } => {
                parser_op("verify", vec![self.condition(cond), self.operand(error)])
            }
            _ => return refuse(place.name(), "packet.length()", "read standard_metadata.packet_length"),
        })
    }

    fn extern_call(&mut self, place: Place<'_>, extern_call: &ExternCall) -> Res<Vec<Value>> {
        if let ExternCall::Digest { digest, data } = extern_call {
            return Ok(self.digest(place, *digest, data));
        }
        if self.is_psa()
            && let Some(calls) = self.psa_call(place, extern_call)?
        {
            return Ok(calls);
        }
        let (op, parameters) = match extern_call {
            // BMv2 counts and measures by itself when an entry is hit.
            ExternCall::DirectCounterCount { .. } => return Ok(Vec::new()),
            ExternCall::DirectMeterRead { meter, dst } => {
                let color = self.meter_color(*meter);
                return Ok(vec![self.set(place, *dst, typed("field", color))]);
            }
            ExternCall::CounterCount { counter, index } => {
                let name = &self.program.counters[counter.index()].cp.name;
                ("count", vec![typed("counter_array", name.as_str()), self.operand(index)])
            }
            ExternCall::MeterExecute { meter, index, color: None, dst } => {
                let name = &self.program.meters[meter.index()].cp.name;
                let meter = typed("meter_array", name.as_str());
                ("execute_meter", vec![meter, self.operand(index), self.names.field(*dst)])
            }
            ExternCall::RegisterRead { register, dst, index } => {
                let register = self.register(*register);
                ("register_read", vec![self.names.field(*dst), register, self.operand(index)])
            }
            ExternCall::RegisterWrite { register, index, value } => {
                let register = self.register(*register);
                ("register_write", vec![register, self.operand(index), self.operand(value)])
            }
            ExternCall::Hash { dst, algorithm, base, data, max } => {
                let calculation = self.calculation(place.name(), *algorithm, data, false)?;
                let (dst, base) = (self.names.field(*dst), self.operand(base));
                let calculation = typed("calculation", calculation);
                let parameters = vec![dst, base, calculation, self.operand(max)];
                ("modify_field_with_hash_based_offset", parameters)
            }
            ExternCall::Random { dst, low, high } => {
                let parameters = vec![self.names.field(*dst), self.operand(low), self.operand(high)];
                ("modify_field_rng_uniform", parameters)
            }
            ExternCall::MarkToDrop => ("mark_to_drop", vec![typed("header", super::builtin::STANDARD)]),
            ExternCall::Clone { kind, session, field_list } => {
                let op = match kind {
                    CloneKind::I2E => "clone_ingress_pkt_to_egress",
                    CloneKind::E2E => "clone_egress_pkt_to_egress",
                };
                let list = match field_list {
                    Some(list) => self.list(place, list)?,
                    None => {
                        self.made.lists.insert(NO_FIELDS);
                        number(u64::from(NO_FIELDS))
                    }
                };
                (op, vec![self.operand(session), list])
            }
            ExternCall::Resubmit { field_list } => ("resubmit", vec![self.list(place, field_list)?]),
            ExternCall::Recirculate { field_list } => ("recirculate", vec![self.list(place, field_list)?]),
            ExternCall::Truncate { bytes } => ("truncate", vec![self.operand(bytes)]),
            ExternCall::LogMsg { format, args } => {
                let args: Vec<Value> = args.iter().map(|arg| parameter(self.operand(arg))).collect();
                let args = if args.is_empty() { json!({}) } else { json!(args) };
                ("log_msg", vec![typed("string", format.as_str()), typed("parameters_vector", args)])
            }
            ExternCall::Assert { cond, place: what } => {
                let op = if what.starts_with("assume") { "assume" } else { "assert" };
                (op, vec![super::json::bit(self.condition(cond))])
            }
            other => {
                let cause = format!("the format has no call for {other:?}");
                return refuse(place.name(), cause, "use v1model's externs");
            }
        };
        Ok(vec![place.primitive(op, parameters)])
    }

    /// A list of fields that a packet keeps. BMv2 takes 0 for a call that was not made, so ids are one more
    /// than indices.
    fn list(&mut self, place: Place<'_>, list: &Operand) -> Res<Value> {
        let index = match list {
            Operand::Const(bits) => bits.to_u128().and_then(|index| u32::try_from(index + 1).ok()),
            Operand::Var(_) => None,
        };
        let Some(id) = index else {
            return refuse(place.name(), "a field list chosen at run time", "give its number");
        };
        self.made.lists.insert(id);
        Ok(number(u64::from(id)))
    }

    fn register(&self, register: p4cc_ir::RegisterId) -> Value {
        typed("register_array", self.program.registers[register.index()].cp.name.as_str())
    }

    /// A digest: its values go to fields that bear the message's names, then the list of these is sent.
    fn digest(&mut self, place: Place<'_>, digest: p4cc_ir::DigestId, data: &[Operand]) -> Vec<Value> {
        let of = &self.program.digests[digest.index()];
        let id = self.made.learn_lists.len() as u64 + 1;
        let (mut calls, mut elements) = (Vec::new(), Vec::new());
        for (at, value) in data.iter().enumerate() {
            let field = of.fields.get(at);
            let name = field.map_or("", |field| field.name.as_str());
            // Validity has a name that stands for that of a header.
            let name = match name {
                "" => format!("field{at}"),
                name => name.replace("$valid$", "valid"),
            };
            let ty = field.map_or(VarType::Bit(self.width(value)), |field| field.ty);
            let name = self.names.scalar(&name, ty);
            let field = typed("field", name);
            let op = if self.is_varbit(value) { "assign_VL" } else { "assign" };
            let value = self.operand(value);
            calls.push(place.primitive(op, vec![field.clone(), value]));
            elements.push(field);
        }
        let is_taken = self.made.learn_lists.iter().any(|list| list["name"] == of.cp.name.as_str());
        let name = if is_taken { format!("{}_{id}", of.cp.name) } else { of.cp.name.clone() };
        self.made.learn_lists.push(json!({ "id": id, "name": name, "elements": elements }));
        let parameters = vec![number(DIGEST_RECEIVER), number(id)];
        calls.push(place.primitive("generate_digest", parameters));
        calls
    }

    /// A new calculation over these values, by its name.
    pub(super) fn calculation(
        &mut self,
        place: &str,
        algorithm: HashAlgorithm,
        data: &[Operand],
        with_payload: bool,
    ) -> Res<String> {
        let input: Vec<Value> = data.iter().map(|value| self.input(value)).collect();
        self.calculation_over(place, algorithm, input, with_payload)
    }

    /// A value that a calculation runs over.
    pub(super) fn input(&mut self, value: &Operand) -> Value {
        match value {
            Operand::Var(var) => self.names.field(*var),
            Operand::Const(bits) => {
                let mut input = constant(bits);
                input["bitwidth"] = json!(bits.width());
                input
            }
        }
    }

    pub(super) fn calculation_over(
        &mut self,
        place: &str,
        algorithm: HashAlgorithm,
        mut input: Vec<Value>,
        with_payload: bool,
    ) -> Res<String> {
        let Some(algo) = algorithm_name(algorithm) else {
            return refuse(place, format!("the algorithm {algorithm:?}"), "use one of v1model's");
        };
        let id = self.made.calculations.len();
        let mut name = match algorithm {
            // The control plane sets its parameters by this name.
            HashAlgorithm::Crc16Custom(crc) | HashAlgorithm::Crc32Custom(crc) => {
                self.program.custom_crcs[crc.index()].name.clone()
            }
            _ => format!("calculation_{id}"),
        };
        if with_payload {
            input.push(json!({ "type": "payload" }));
        }
        // Code that is written twice, as an action and where it is called, shares what has the name already.
        let known = self.made.calculations.iter().find(|known| known["name"] == name.as_str());
        match known.map(|known| known["input"] == json!(input)) {
            Some(true) => return Ok(name),
            Some(false) => name = format!("{name}_of_{id}"),
            None => {}
        }
        self.made.calculations.push(json!({ "name": name, "id": id, "algo": algo, "input": input }));
        Ok(name)
    }
}

pub(super) fn algorithm_name(algorithm: HashAlgorithm) -> Option<&'static str> {
    Some(match algorithm {
        HashAlgorithm::Crc32 => "crc32",
        HashAlgorithm::Crc32Custom(_) => "crc32_custom",
        HashAlgorithm::Crc16 => "crc16",
        HashAlgorithm::Crc16Custom(_) => "crc16_custom",
        HashAlgorithm::Random => "random",
        HashAlgorithm::Identity => "identity",
        HashAlgorithm::Csum16 => "csum16",
        HashAlgorithm::Xor16 => "xor16",
        HashAlgorithm::Object(_) => return None,
    })
}

/// The variable that a pure instruction writes.
pub(super) fn destination(inst: &Inst) -> Option<VarId> {
    match inst {
        Inst::Assign { dst, .. }
        | Inst::Unary { dst, .. }
        | Inst::Binary { dst, .. }
        | Inst::Resize { dst, .. }
        | Inst::Concat { dst, .. }
        | Inst::Slice { dst, .. }
        | Inst::SetSlice { dst, .. }
        | Inst::IsValid { dst, .. }
        | Inst::UnionIsValid { dst, .. }
        | Inst::HeaderEq { dst, .. }
        | Inst::StackLoad { dst, .. }
        | Inst::StackIsValid { dst, .. }
        | Inst::StackNextIndex { dst, .. }
        | Inst::Lookahead { dst } => Some(*dst),
        _ => None,
    }
}
