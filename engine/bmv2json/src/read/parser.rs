//! Parser states.

use std::collections::BTreeMap;

use p4cc_budget::Resource;
use serde_json::Value;

use super::Reader;
use super::build::{bit, constant};
use super::json::{NOT_P4C, Res, fault, get, items, name_of, number, opt, parameters, text, tuple, typed};
use super::names::named;
use super::number::{Number, ones};
use super::shape::INDEX_WIDTH;
use super::term::HeaderRef;
use p4cc_ir::{
    BinOp, Bits, BlockId, ControlPlaneName, Func, HeaderId, Inst, Keyset, MatchKind, Operand, Terminator,
    VarId, VarType, core_errors,
};

/// Width of error codes.
const ERROR_WIDTH: u32 = 32;

/// A transition key: operands and their widths.
struct Keys {
    operands: Vec<Operand>,
    widths: Vec<u32>,
}

impl Keys {
    /// Bits of values and masks: every key takes whole bytes.
    fn padded(&self) -> u32 {
        self.widths.iter().map(|width| width.next_multiple_of(8)).sum()
    }

    /// The parts of a padded value, one for each key; `None` if bits are set that no key has.
    fn split(&self, padded: &Bits) -> Option<Vec<Bits>> {
        let bytes = padded.to_be_bytes();
        let mut rest = &bytes[..];
        let parts = self.widths.iter().map(|&width| {
            let (part, after) = rest.split_at_checked(width.div_ceil(8) as usize)?;
            rest = after;
            let bits = Bits::from_be_bytes(width, part);
            (bits.to_be_bytes() == part).then_some(bits)
        });
        parts.collect()
    }
}

impl<'j> Reader<'j> {
    pub(super) fn parser(&mut self) -> Func {
        self.b.begin();
        self.in_parser = true;
        let root = self.root;
        match items(root, "parsers") {
            Ok([parser]) => {
                if let Err(fault) = self.states(parser) {
                    self.faults.report(fault);
                }
            }
            Ok(all) => self.faults.complain(
                root,
                format!("{} parsers where v1model has one", all.len()),
                "read programs of p4c's v1model back end",
            ),
            Err(fault) => self.faults.report(fault),
        }
        self.in_parser = false;
        self.b.finish("parser", &Terminator::Accept)
    }

    pub(super) fn states(&mut self, parser: &'j Value) -> Res<'j, ()> {
        let states = items(parser, "parse_states")?;
        let mut blocks = BTreeMap::new();
        for state in states {
            let name = name_of(state)?;
            if !self.b.charge(Resource::ParserStates, 1) {
                return self.faults.over(state);
            }
            if blocks.insert(name, self.b.block(name)).is_some() {
                return fault(state, format!("state `{name:.60}` is declared twice"), NOT_P4C);
            }
        }
        let Some(init) = opt(parser, "init_state") else { return Ok(()) };
        let start = next_state(init, &blocks)?;
        self.b.end(start.map_or(Terminator::Accept, Terminator::Jump));
        for state in states {
            if let Some(&block) = blocks.get(name_of(state)?) {
                self.b.go_to(block);
            }
            if let Err(fault) = self.state(state, &blocks) {
                self.faults.report(fault);
            }
            self.faults.check_budget(state)?;
        }
        Ok(())
    }

    fn state(&mut self, state: &'j Value, blocks: &BTreeMap<&'j str, BlockId>) -> Res<'j, ()> {
        for op in items(state, "parser_ops")? {
            self.b.next_statement();
            if self.b.over().is_some() {
                return Ok(());
            }
            self.parser_op(op)?;
        }
        self.b.next_statement();
        self.transitions(state, blocks)
    }

    fn parser_op(&mut self, op: &'j Value) -> Res<'j, ()> {
        match text(get(op, "op")?)? {
            "extract" => {
                let [target] = parameters::<1>(op)?;
                self.extract(target, None)
            }
            "extract_VL" => {
                let [target, bits] = parameters::<2>(op)?;
                let bits = self.exact(bits)?.operand;
                self.extract(target, Some(bits))
            }
            "set" => {
                let [dst, src] = parameters::<2>(op)?;
                self.assign(dst, src)
            }
            "verify" => {
                let [cond, error] = parameters::<2>(op)?;
                let cond = self.condition(cond)?;
                let error = self.low(error, ERROR_WIDTH)?;
                let error = self.translated(error, true);
                self.b.emit(Inst::Verify { cond, error });
                Ok(())
            }
            "shift" => {
                let [bytes] = parameters::<1>(op)?;
                let bits = constant(64, u64::from(number(bytes)?) * 8);
                self.b.emit(Inst::Advance { bits });
                Ok(())
            }
            "advance" => {
                let [bits] = parameters::<1>(op)?;
                let bits = self.exact(bits)?.operand;
                self.b.emit(Inst::Advance { bits });
                Ok(())
            }
            "primitive" => {
                let [call] = parameters::<1>(op)?;
                self.primitive(call)
            }
            other => fault(op, format!("the parser operation `{other:.60}` is unknown"), NOT_P4C),
        }
    }

    fn has_varbit(&self, header: HeaderId) -> bool {
        let fields = &self.program.headers[header.index()].fields;
        fields.iter().any(|&var| matches!(self.b.ty(var), VarType::Varbit(_)))
    }

    /// Checks that a length is given exactly when the header has a varbit, and extracts.
    fn extract_fixed(&mut self, at: &'j Value, header: HeaderId, bits: Option<Operand>) -> Res<'j, ()> {
        self.check_varbit(at, header, bits.is_some())?;
        self.b.emit(match bits {
            Some(varbit_bits) => Inst::ExtractVar { header, varbit_bits },
            None => Inst::Extract { header },
        });
        Ok(())
    }

    fn check_varbit(&self, at: &'j Value, header: HeaderId, has_length: bool) -> Res<'j, ()> {
        if self.has_varbit(header) == has_length {
            return Ok(());
        }
        fault(at, "a length is given exactly when the header has a field of variable length", NOT_P4C)
    }

    fn extract(&mut self, target: &'j Value, bits: Option<Operand>) -> Res<'j, ()> {
        match typed(target)? {
            ("regular", name) => match self.fixed_header(name, &HeaderRef::Named(text(name)?))? {
                Some(header) => self.extract_fixed(name, header, bits),
                None => fault(name, "metadata cannot be extracted", NOT_P4C),
            },
            ("stack", name) => {
                let stack = named(name, "header stack", &self.shapes.stacks)?;
                let first = self.program.stacks[stack.index()].elements[0];
                self.check_varbit(name, first, bits.is_some())?;
                self.b.emit(Inst::ExtractNext { stack, varbit_bits: bits });
                Ok(())
            }
            ("union_stack", pair) => {
                let [stack, member] = tuple::<2>(pair)?;
                let info = self.shapes.union_stack_named(stack, text(stack)?)?;
                let name = text(member)?;
                let Some(member) = info.members.iter().position(|known| known == name) else {
                    return fault(pair, format!("the union has no member `{name:.60}`"), NOT_P4C);
                };
                let headers: Vec<HeaderId> = info
                    .unions
                    .iter()
                    .map(|union| self.program.unions[union.index()].members[member])
                    .collect();
                for &header in &headers {
                    self.check_varbit(pair, header, bits.is_some())?;
                }
                self.extract_chosen(&headers, info.next, bits.as_ref());
                Ok(())
            }
            (other, _) => fault(target, format!("`{other:.40}` cannot be extracted"), NOT_P4C),
        }
    }

    /// Extracts into the one of several headers that `next` chooses, and raises `next`.
    fn extract_chosen(&mut self, headers: &[HeaderId], next: VarId, bits: Option<&Operand>) {
        let size = constant(INDEX_WIDTH, headers.len() as u64);
        let next = Operand::Var(next);
        let room = self.b.binary(BinOp::Lt { signed: false }, INDEX_WIDTH, next.clone(), size);
        let error = constant(ERROR_WIDTH, u64::from(core_errors::STACK_OUT_OF_BOUNDS));
        self.b.emit(Inst::Verify { cond: room, error });
        self.for_chosen(headers, &next, |reader, &header| {
            reader.b.emit(match bits {
                Some(bits) => Inst::ExtractVar { header, varbit_bits: bits.clone() },
                None => Inst::Extract { header },
            });
        });
        if let Operand::Var(dst) = next {
            let (op, b) = (BinOp::Add, constant(INDEX_WIDTH, 1));
            self.b.emit(Inst::Binary { dst, op, a: Operand::Var(dst), b });
        }
    }

    fn transitions(&mut self, state: &'j Value, blocks: &BTreeMap<&'j str, BlockId>) -> Res<'j, ()> {
        let mut keys = Keys { operands: Vec::new(), widths: Vec::new() };
        for key in items(state, "transition_key")? {
            let data = self.exact(key)?;
            keys.widths.push(data.width);
            keys.operands.push(data.operand);
        }
        let accept = self.b.block("");
        let target = |next: Option<BlockId>| next.unwrap_or(accept);
        let mut cases = Vec::new();
        let transitions = items(state, "transitions")?;
        // A select without default has none in the document, and ends in NoMatch (P4-16 13.6; BMv2 accepts).
        let mut default = transitions.is_empty().then_some(accept);
        for transition in transitions {
            if !self.b.charge(Resource::Steps, keys.widths.len()) {
                return self.faults.over(transition);
            }
            let next =
                target(opt(transition, "next_state").map_or(Ok(None), |next| next_state(next, blocks))?);
            match opt(transition, "type").map_or(Ok("hexstr"), text)? {
                "default" => default = Some(next),
                "hexstr" | "hexstring"
                    if opt(transition, "value").and_then(Value::as_str) == Some("default") =>
                {
                    default = Some(next);
                }
                "hexstr" | "hexstring" => {
                    if let Some(sets) = self.keysets(transition, &keys)? {
                        cases.push((sets, next));
                    }
                }
                "parse_vset" => {
                    let otherwise = self.b.block("");
                    if !cases.is_empty() {
                        let here = self.b.block("");
                        self.select(&keys, core::mem::take(&mut cases), Some(here));
                        self.b.go_to(here);
                    }
                    self.value_set_match(transition, &keys, next, otherwise)?;
                }
                other => {
                    return fault(transition, format!("the transition `{other:.40}` is unknown"), NOT_P4C);
                }
            }
        }
        self.select(&keys, cases, default);
        Ok(())
    }

    fn select(&mut self, keys: &Keys, cases: Vec<(Vec<Keyset>, BlockId)>, default: Option<BlockId>) {
        match default {
            Some(default) if cases.is_empty() => self.b.end(Terminator::Jump(default)),
            None if cases.is_empty() => {
                let error = constant(ERROR_WIDTH, u64::from(core_errors::NO_MATCH));
                self.b.emit(Inst::Verify { cond: bit(false), error });
            }
            default => self.b.end(Terminator::Select { keys: keys.operands.clone(), cases, default }),
        }
    }

    /// A value or mask of a transition, padded.
    fn padded(&self, value: &'j Value, keys: &Keys) -> Res<'j, Bits> {
        let Number { bits, negative } = self.number(value)?;
        let padded = keys.padded();
        if negative || padded == 0 || (bits.width() > padded && !bits.is_zero()) {
            return fault(value, format!("does not fit the key's {padded} bits"), NOT_P4C);
        }
        Ok(Bits::from_words(padded, bits.words()))
    }

    /// Keysets of a transition; `None` if it can never match.
    fn keysets(&self, transition: &'j Value, keys: &Keys) -> Res<'j, Option<Vec<Keyset>>> {
        let value = self.padded(get(transition, "value")?, keys)?;
        let Some(mask) = opt(transition, "mask") else {
            let parts = keys.split(&value);
            let exact = |value: Bits| Keyset::Mask { mask: ones(value.width()), value };
            return Ok(parts.map(|parts| parts.into_iter().map(exact).collect()));
        };
        let mask = self.padded(mask, keys)?;
        // Both sides of the comparison are masked.
        let words: Vec<u64> =
            value.words().iter().zip(mask.words()).map(|(value, mask)| value & mask).collect();
        let value = Bits::from_words(value.width(), &words);
        let (Some(values), Some(masks)) = (keys.split(&value), self.masks(&mask, keys)) else {
            return Ok(None);
        };
        let any = |(value, mask): (Bits, Bits)| {
            if mask.is_zero() { Keyset::Any } else { Keyset::Mask { value, mask } }
        };
        Ok(Some(values.into_iter().zip(masks).map(any).collect()))
    }

    /// Parts of a mask; bits that no key has do not count.
    fn masks(&self, mask: &Bits, keys: &Keys) -> Option<Vec<Bits>> {
        let bytes = mask.to_be_bytes();
        let mut rest = &bytes[..];
        let parts = keys.widths.iter().map(|&width| {
            let (part, after) = rest.split_at_checked(width.div_ceil(8) as usize)?;
            rest = after;
            Some(Bits::from_be_bytes(width, part))
        });
        parts.collect()
    }

    /// Goes to `next` if the keys are in a value set, and on at `otherwise`.
    fn value_set_match(
        &mut self,
        transition: &'j Value,
        keys: &Keys,
        next: BlockId,
        otherwise: BlockId,
    ) -> Res<'j, ()> {
        let name = get(transition, "value")?;
        let info = named(name, "value set", &self.objects.sets)?;
        if let Some(mask) = opt(transition, "mask")
            && !self
                .masks(&self.padded(mask, keys)?, keys)
                .is_some_and(|masks| masks.iter().all(|mask| *mask == ones(mask.width())))
        {
            let remedy = "mask the key before the select, or match the whole key";
            return fault(mask, "a mask on a value set", remedy);
        }
        let total: u32 = keys.widths.iter().sum();
        if total != info.width {
            let cause = format!("a key of {total} bits for a value set of {}", info.width);
            return fault(transition, cause, NOT_P4C);
        }
        self.set_keys(transition, text(name)?, &keys.widths)?;
        let dst = self.b.temp(1);
        self.b.emit(Inst::ValueSetMatch { dst, set: info.id, keys: keys.operands.clone() });
        self.b.end(Terminator::Branch { cond: Operand::Var(dst), then: next, otherwise });
        self.b.go_to(otherwise);
        Ok(())
    }

    /// Keys of a value set: the format gives their sum only, a use says how it is split.
    fn set_keys(&mut self, at: &'j Value, name: &'j str, widths: &[u32]) -> Res<'j, ()> {
        let Some(info) = self.objects.sets.get_mut(name) else { return Ok(()) };
        let set = &mut self.program.value_sets[info.id.index()];
        let keys = widths.iter().enumerate().map(|(number, &width)| {
            let cp = ControlPlaneName { name: format!("key{number}"), ..ControlPlaneName::default() };
            (cp, VarType::Bit(width), MatchKind::Exact)
        });
        let keys: Vec<_> = keys.collect();
        if info.used && set.keys != keys {
            return fault(at, format!("value set `{name:.60}` is used with different keys"), NOT_P4C);
        }
        info.used = true;
        set.keys = keys;
        Ok(())
    }

    /// Value sets that no transition uses have one key.
    pub(super) fn unused_sets(&mut self) {
        let unused: Vec<_> = self
            .objects
            .sets
            .iter()
            .filter(|(_, info)| !info.used)
            .map(|(&name, &info)| (name, info))
            .collect();
        for (name, info) in unused {
            if let Err(fault) = self.set_keys(info.at, name, &[info.width]) {
                self.faults.report(fault);
            }
        }
    }

    /// An error code of the format as the IR's, or the other way.
    fn translated(&mut self, code: Operand, to_ir: bool) -> Operand {
        let mut result = code.clone();
        for (format, ir) in self.objects.error_codes.clone() {
            let (from, to) = if to_ir { (format, ir) } else { (ir, format) };
            let from = constant(ERROR_WIDTH, u64::from(from));
            let same = self.b.binary(BinOp::Eq, ERROR_WIDTH, code.clone(), from);
            result = self.b.select(same, ERROR_WIDTH, constant(ERROR_WIDTH, u64::from(to)), result);
        }
        result
    }

    /// After the parser the program compares with the format's codes.
    pub(super) fn errors_to_format(&mut self, error: VarId) {
        if self.objects.error_codes.is_empty() {
            return;
        }
        let width = self.b.ty(error).width();
        let code = self.b.resize(Operand::Var(error), width, false, ERROR_WIDTH);
        let code = self.translated(code, false);
        let src = self.b.resize(code, ERROR_WIDTH, false, width);
        self.b.emit(Inst::Assign { dst: error, src });
    }
}

/// A state by name; `None` for null, the end.
fn next_state<'j>(next: &'j Value, blocks: &BTreeMap<&'j str, BlockId>) -> Res<'j, Option<BlockId>> {
    if next.is_null() {
        return Ok(None);
    }
    let name = text(next)?;
    match blocks.get(name) {
        Some(&block) => Ok(Some(block)),
        None => fault(next, format!("there is no state `{name:.60}`"), NOT_P4C),
    }
}
