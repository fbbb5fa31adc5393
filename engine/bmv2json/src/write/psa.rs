//! Programs of PSA, for BMv2's psa_switch: both halves of the pipeline, and PSA's externs as instances.
//!
//! The switch knows its metadata, parsers and deparsers by name. Its deparsers run primitives one by one, so
//! that code with branches before the first `emit` moves to the end of the pipeline, where it does the same.

use p4cc_ir::{
    Block, BlockId, CountUnit, ExternCall, Func, FuncId, HalfPipeline, HashAlgorithm, HeaderId, Inst,
    Operand, Psa, Terminator, VarId, VarType,
};
use serde_json::{Value, json};

use super::code::reachable;
use super::inst::{Place, algorithm_name};
use super::json::{binary, choice, digits, number, typed};
use super::{Blocks, Res, Writer, refuse};
use crate::colors::{COLORS, TO_GREEN_FIRST, TO_RED_FIRST};

/// Rates of a meter: RFC 2698's two.
const RATES: u64 = 2;
/// Width of the number of a list of fields.
const LIST_BITS: u32 = 16;

impl Writer<'_> {
    pub(super) fn is_psa(&self) -> bool {
        self.program.architecture.psa().is_some()
    }

    pub(super) fn psa(&mut self, psa: &Psa) -> Res<Blocks> {
        self.arrays();
        let parsers = vec![
            self.parser("ingress_parser", 0, psa.ingress.parser)?,
            self.parser("egress_parser", 1, psa.egress.parser)?,
        ];
        let (ingress, ingress_deparser) = self.half("ingress", 0, psa.ingress)?;
        let (egress, egress_deparser) = self.half("egress", 1, psa.egress)?;
        let deparsers = vec![ingress_deparser, egress_deparser];
        let mut aliases = Vec::new();
        if !self.made.learn_lists.is_empty() {
            // psa_switch sends no digests, but a call of one ends it unless it finds this field.
            let field = self.names.scalar("lf_field_list", VarType::Bit(LIST_BITS));
            aliases.push(json!(["intrinsic_metadata.lf_field_list", field]));
        }
        let (checksums, aliases) = (Vec::new(), json!(aliases));
        Ok(Blocks { parsers, pipelines: [ingress, egress], deparsers, checksums, aliases })
    }

    /// A pipeline and its deparser.
    fn half(&mut self, name: &str, id: usize, half: HalfPipeline) -> Res<(Value, Value)> {
        let deparser = format!("{name}_deparser");
        let func = &self.program.funcs[half.deparser.index()];
        let Some((code, emitted)) = split(func) else {
            let remedy = "emit headers one after another, and make those invalid that are not to be sent";
            return refuse(&deparser, "emit under a condition, or code after emit", remedy);
        };
        let order: Vec<&str> = emitted.iter().map(|header| self.names.header(*header)).collect();
        let mut written = json!({ "name": deparser, "id": id, "order": order, "primitives": [] });
        if is_straight(&code) {
            let mut primitives = Vec::new();
            for block in reachable(&code) {
                for inst in &code.blocks[block.index()].insts {
                    primitives.extend(self.inst(Place::Action(&deparser), inst)?);
                }
            }
            written["primitives"] = json!(primitives);
            return Ok((self.pipeline(name, half.control, None)?, written));
        }
        if self.exits(half.control) {
            let cause = "conditions in the deparser of a pipeline that can exit";
            return refuse(&deparser, cause, "compute in the control, or avoid exit");
        }
        Ok((self.pipeline(name, half.control, Some(&code))?, written))
    }

    /// Whether a control, or an action that it may run, ends a packet's way through it.
    fn exits(&self, control: FuncId) -> bool {
        let actions = self.program.actions.iter().map(|action| action.body);
        let mut funcs = actions.chain([control]).map(|func| &self.program.funcs[func.index()]);
        funcs.any(|func| func.blocks.iter().any(|block| block.terminator == Terminator::Exit))
    }

    /// Counters and meters that are instances of externs: all that no table holds.
    fn arrays(&mut self) {
        for counter in &self.program.counters {
            let Some(size) = counter.size else { continue };
            let kind = match counter.unit {
                CountUnit::Packets => 0,
                CountUnit::Bytes => 1,
                CountUnit::Both => 2,
            };
            let attributes = [("n_counters", number(u64::from(size))), ("type", number(kind))];
            self.instance(&counter.cp.name, "Counter", &attributes);
        }
        for meter in &self.program.meters {
            let Some(size) = meter.size else { continue };
            let unit = if meter.unit == CountUnit::Bytes { "bytes" } else { "packets" };
            let attributes = [
                ("n_meters", number(u64::from(size))),
                ("type", typed("string", unit)),
                ("is_direct", number(0)),
                // psa_switch_CLI counts the rates of a command and compares.
                ("rate_count", json!({ "type": "hexstr", "value": RATES })),
            ];
            self.instance(&meter.cp.name, "Meter", &attributes);
        }
    }

    /// A new instance of an extern of psa_switch.
    fn instance(&mut self, name: &str, ty: &str, attributes: &[(&str, Value)]) -> Value {
        let attributes: Vec<Value> = attributes
            .iter()
            .map(|(name, value)| json!({ "name": name, "type": value["type"], "value": value["value"] }))
            .collect();
        self.made.instances.push(json!({
            "name": name, "id": self.made.instances.len(), "type": ty, "attribute_values": attributes,
        }));
        typed("extern", name)
    }

    /// The calls that psa_switch has for one of the IR; none where it is the same as simple_switch's.
    pub(super) fn psa_call(&mut self, place: Place<'_>, of: &ExternCall) -> Res<Option<Vec<Value>>> {
        Ok(Some(match of {
            ExternCall::CounterCount { counter, index } => {
                let counter = typed("extern", self.program.counters[counter.index()].cp.name.as_str());
                vec![place.primitive("_Counter_count", vec![counter, self.operand(index)])]
            }
            ExternCall::MeterExecute { meter, index, color, dst } => {
                let meter = typed("extern", self.program.meters[meter.index()].cp.name.as_str());
                let mut parameters = vec![meter, self.operand(index)];
                // A packet that was green before, or that nobody has coloured, is metered by itself. The
                // method that takes other colours is p4cc's: psa_switch has none and does not load it.
                if let Some(color) = color.as_ref().filter(|color| !is_green(color)) {
                    parameters.push(turned(self.operand(color), TO_RED_FIRST));
                }
                let color = self.names.field(*dst);
                parameters.push(color.clone());
                let execute = place.primitive("_Meter_execute", parameters);
                vec![execute, self.set(place, *dst, turned(color, TO_GREEN_FIRST))]
            }
            ExternCall::Random { dst, low, high } => self.psa_random(place, *dst, low, high)?,
            ExternCall::Hash { dst, algorithm, base, data, max } => {
                self.psa_hash(place, *dst, (*algorithm, data), (base, max))?
            }
            _ => return Ok(None),
        }))
    }

    fn psa_random(&mut self, place: Place<'_>, dst: VarId, low: &Operand, high: &Operand) -> Res<Vec<Value>> {
        let (Operand::Const(low), Operand::Const(high)) = (low, high) else {
            return refuse(place.name(), "bounds of a random number that are computed", "give constants");
        };
        if low == high {
            // psa_switch refuses to start with such a range.
            return Ok(vec![self.set(place, dst, super::json::constant(low))]);
        }
        let name = format!("random_{}", self.made.instances.len());
        let bound = |bits| typed("hexstr", digits(bits));
        let random = self.instance(&name, "Random", &[("min", bound(low)), ("max", bound(high))]);
        Ok(vec![place.primitive("_Random_read", vec![random, self.names.field(dst)])])
    }

    fn psa_hash(
        &mut self,
        place: Place<'_>,
        dst: VarId,
        (algorithm, data): (HashAlgorithm, &[Operand]),
        (base, max): (&Operand, &Operand),
    ) -> Res<Vec<Value>> {
        let Some(algo) = algorithm_name(algorithm) else {
            return refuse(place.name(), format!("the algorithm {algorithm:?}"), "use one of PSA's");
        };
        let hash = match self.made.hashes.get(algo) {
            Some(hash) => hash.clone(),
            None => {
                let name = format!("hash_{algo}");
                let hash = self.instance(&name, "Hash", &[("algo", typed("string", algo))]);
                self.made.hashes.insert(algo, hash.clone());
                hash
            }
        };
        // The instance reads fields only.
        let (mut calls, mut fields) = (Vec::new(), Vec::with_capacity(data.len()));
        for value in data {
            fields.push(match value {
                Operand::Var(var) => self.names.field(*var),
                Operand::Const(bits) => {
                    let field = self.names.scalar("hashed", VarType::Bit(bits.width()));
                    let field = typed("field", field);
                    calls.push(place.assign(field.clone(), super::json::constant(bits)));
                    field
                }
            });
        }
        let (fields, target) = (typed("field_list", fields), self.names.field(dst));
        let is_whole = matches!(max, Operand::Const(bits) if bits.to_u128().is_some_and(|max| max > u128::from(u64::MAX)));
        if is_whole && matches!(base, Operand::Const(base) if base.is_zero()) {
            calls.push(place.primitive("_Hash_get_hash", vec![hash, target, fields]));
            return Ok(calls);
        }
        // Without a range the result is the base, where psa_switch would divide by zero.
        let max = match max {
            Operand::Const(bits) if bits.is_zero() => number(1),
            Operand::Const(bits) => super::json::constant(bits),
            var => choice(binary("==", self.operand(var), number(0)), number(1), self.operand(var)),
        };
        calls
            .push(place.primitive("_Hash_get_hash_mod", vec![hash, target, self.operand(base), fields, max]));
        Ok(calls)
    }

    /// The number of cells of an array whose index may reach beyond them: psa_switch does not check it.
    pub(super) fn cells_bound(&self, of: &ExternCall) -> Option<(Operand, u64)> {
        let (index, size) = match of {
            ExternCall::CounterCount { counter, index } => {
                (index, self.program.counters[counter.index()].size)
            }
            ExternCall::MeterExecute { meter, index, .. } => (index, self.program.meters[meter.index()].size),
            _ => return None,
        };
        let size = u64::from(size?);
        let fits = match index {
            Operand::Const(bits) => bits.to_u128().is_some_and(|index| index < u128::from(size)),
            Operand::Var(_) => {
                1_u128.checked_shl(self.width(index)).is_some_and(|values| values <= u128::from(size))
            }
        };
        (self.is_psa() && !fits).then(|| (index.clone(), size))
    }
}

/// A colour as another counts them, some steps on.
fn turned(color: Value, steps: u64) -> Value {
    binary("%", binary("+", color, number(steps)), number(COLORS))
}

/// Whether a colour is known to be green, in the IR's numbers.
fn is_green(color: &Operand) -> bool {
    matches!(color, Operand::Const(bits) if bits.is_zero())
}

/// Whether a function has neither branches nor calls.
fn is_straight(func: &Func) -> bool {
    reachable(func).into_iter().all(|block| {
        let block = &func.blocks[block.index()];
        matches!(block.terminator, Terminator::Jump(_) | Terminator::Return)
            && !block.insts.iter().any(|inst| matches!(inst, Inst::CallAction { .. }))
    })
}

/// A deparser as the code before its first `emit`, and the headers that are emitted; none where it does not
/// come apart so.
fn split(func: &Func) -> Option<(Func, Vec<HeaderId>)> {
    let emits = |block: &Block| block.insts.iter().position(|inst| matches!(inst, Inst::Emit { .. }));
    let mut code = func.clone();
    let order = super::code::in_order(func)?;
    let first = order.iter().find_map(|block| Some((*block, emits(&func.blocks[block.index()])?)));
    let Some((tail, at)) = first else { return Some((code, Vec::new())) };
    let mut emitted = Vec::new();
    let (mut block, mut insts) = (tail, &func.blocks[tail.index()].insts[at..]);
    loop {
        for inst in insts {
            let Inst::Emit { header } = inst else { return None };
            emitted.push(*header);
        }
        match &func.blocks[block.index()].terminator {
            Terminator::Jump(next) => block = *next,
            Terminator::Return => break,
            _ => return None,
        }
        insts = &func.blocks[block.index()].insts;
    }
    code.blocks[tail.index()].insts.truncate(at);
    code.blocks[tail.index()].terminator = Terminator::Return;
    let ends_elsewhere = |block: &BlockId| {
        let of = &code.blocks[block.index()];
        *block != tail && (of.terminator == Terminator::Return || emits(of).is_some())
    };
    let is_whole = !reachable(&code).iter().any(ends_elsewhere);
    is_whole.then_some((code, emitted))
}

#[cfg(test)]
mod tests {
    use super::*;
    use p4cc_ir::{Bits, HeaderId};

    fn block(insts: Vec<Inst>, terminator: Terminator) -> Block {
        Block { label: String::new(), insts, terminator }
    }

    fn emit(header: u32) -> Inst {
        Inst::Emit { header: HeaderId(header) }
    }

    fn branch(then: u32, otherwise: u32) -> Terminator {
        let cond = Operand::Const(Bits::zero(1));
        Terminator::Branch { cond, then: BlockId(then), otherwise: BlockId(otherwise) }
    }

    fn func(blocks: Vec<Block>) -> Func {
        Func { name: String::new(), blocks }
    }

    #[test]
    fn code_before_the_first_header_comes_apart_from_the_headers() {
        let jump = |to| Terminator::Jump(BlockId(to));
        let clear = Inst::SetInvalid { header: HeaderId(0) };
        let whole = func(vec![
            block(vec![], branch(1, 2)),
            block(vec![clear.clone()], jump(2)),
            block(vec![clear.clone(), emit(0)], jump(3)),
            block(vec![emit(1)], Terminator::Return),
        ]);
        let (code, emitted) = split(&whole).expect("it comes apart");
        assert_eq!(emitted, [HeaderId(0), HeaderId(1)]);
        assert_eq!(code.blocks[2], block(vec![clear.clone()], Terminator::Return));
        assert!(!is_straight(&code));
        let (code, emitted) =
            split(&func(vec![block(vec![clear.clone()], Terminator::Return)])).expect("no headers");
        assert!(emitted.is_empty() && is_straight(&code));
    }

    #[test]
    fn headers_under_conditions_do_not_come_apart() {
        let returns = |insts| block(insts, Terminator::Return);
        let jump = block(vec![emit(0)], Terminator::Jump(BlockId(2)));
        for blocks in [
            vec![block(vec![], branch(1, 2)), jump, returns(vec![emit(1)])],
            vec![block(vec![], branch(1, 2)), returns(vec![emit(0)]), returns(vec![])],
            vec![returns(vec![emit(0), Inst::SetValid { header: HeaderId(1) }])],
            vec![block(vec![emit(0)], branch(1, 1)), returns(vec![])],
        ] {
            assert_eq!(split(&func(blocks)), None);
        }
    }
}
