//! Parser states.

use p4cc_ir::{Bits, BlockId, Func, FuncId, Inst, Keyset, Operand, Terminator, VarId, VarType};
use serde_json::{Value, json};

use super::code::reachable;
use super::inst::Place;
use super::json::{call, constant, number, parser_op, typed};
use super::names::unique;
use super::{Res, Writer, refuse};

/// Most cases that the ranges of one select become: each is a set of prefixes.
const MAX_CASES: usize = 4_096;
/// Widest key that a range is written for.
const MAX_RANGE_BITS: u32 = 127;

/// The states of a parser in the making.
struct States {
    func: FuncId,
    /// Names of the states that blocks begin with.
    names: Vec<String>,
    taken: std::collections::BTreeSet<String>,
    states: Vec<Value>,
}

impl States {
    fn push(&mut self, name: &str, ops: Vec<Value>, keys: Vec<Value>, transitions: Vec<Value>) {
        self.states.push(json!({
            "name": name,
            "id": self.states.len(),
            "parser_ops": ops,
            "transition_key": keys,
            "transitions": transitions,
        }));
    }

    /// A state without a key.
    fn step(&mut self, name: &str, ops: Vec<Value>, next: &Value) {
        self.push(name, ops, Vec::new(), vec![default(next)]);
    }

    fn fresh(&mut self, name: &str) -> String {
        unique(&mut self.taken, name)
    }

    fn next(&self, block: BlockId) -> Value {
        json!(self.names[block.index()])
    }
}

impl Writer<'_> {
    pub(super) fn parser(&mut self, name: &str, id: usize, func: FuncId) -> Res<Value> {
        let blocks = &self.program.funcs[func.index()].blocks;
        let mut taken = std::collections::BTreeSet::new();
        let names = blocks.iter().enumerate().map(|(at, block)| {
            let label = if block.label.is_empty() { format!("block{at}") } else { block.label.clone() };
            unique(&mut taken, &label)
        });
        let names = names.collect();
        let mut states = States { func, names, taken, states: Vec::new() };
        for block in reachable(&self.program.funcs[func.index()]) {
            self.state(&mut states, block)?;
        }
        Ok(json!({
            "name": name,
            "id": id,
            "init_state": states.next(Func::ENTRY),
            "parse_states": states.states,
        }))
    }

    fn state(&mut self, states: &mut States, block: BlockId) -> Res<()> {
        let mut name = states.names[block.index()].clone();
        let block = &self.program.funcs[states.func.index()].blocks[block.index()];
        let mut ops = Vec::new();
        for inst in &block.insts {
            if let Inst::ValueSetMatch { dst, set, keys } = inst {
                let set = self.program.value_sets[set.index()].cp.name.clone();
                name = self.set_match(states, (&name, core::mem::take(&mut ops)), *dst, (&set, keys));
                continue;
            }
            ops.extend(self.inst(Place::Parser(&name), inst)?);
        }
        match &block.terminator {
            Terminator::Jump(next) => states.step(&name, ops, &states.next(*next)),
            Terminator::Accept => states.step(&name, ops, &Value::Null),
            Terminator::Reject => {
                let error = self.names.field(self.program.architecture.parser_error());
                ops.push(parser_op("verify", vec![typed("bool", false), error]));
                states.step(&name, ops, &Value::Null);
            }
            Terminator::Branch { cond, then, otherwise } => {
                let keys = self.keys(core::slice::from_ref(cond), &mut ops, &name);
                let one = case(&[1], &states.next(*then));
                states.push(&name, ops, keys, vec![one, default(&states.next(*otherwise))]);
            }
            Terminator::Switch { value, cases, default: otherwise } => {
                let keys = self.keys(core::slice::from_ref(value), &mut ops, &name);
                let cases = cases.iter().map(|(bits, next)| {
                    json!({
                        "type": "hexstr",
                        "value": super::json::digits(bits),
                        "mask": null,
                        "next_state": states.next(*next),
                    })
                });
                let transitions = cases.chain([default(&states.next(*otherwise))]).collect();
                states.push(&name, ops, keys, transitions);
            }
            Terminator::Select { keys, cases, default: otherwise } => {
                let mut transitions = Vec::new();
                for (sets, next) in cases {
                    let transition = (&states.next(*next), &mut transitions);
                    self.cases(&name, (keys, sets), transition)?;
                }
                // Without a default this crate's reader ends in NoMatch, as P4-16 asks; BMv2 accepts. A
                // state that makes it an error for both would give other packets than p4c's document does.
                transitions.extend(otherwise.map(|next| default(&states.next(next))));
                let keys = self.keys(keys, &mut ops, &name);
                states.push(&name, ops, keys, transitions);
            }
            other => return refuse(&name, format!("{other:?}"), "keep it to a control"),
        }
        Ok(())
    }

    /// A match of a value set, which the format has as a transition only: two states that note what came out,
    /// and a third one, whose name is answered, where code goes on.
    fn set_match(
        &mut self,
        states: &mut States,
        (name, mut ops): (&str, Vec<Value>),
        dst: VarId,
        (set, keys): (&str, &[Operand]),
    ) -> String {
        let after = states.fresh(name);
        let [hit, miss] = ["hit", "miss"].map(|what| states.fresh(&format!("{name}_{what}")));
        let keys = self.keys(keys, &mut ops, name);
        let in_set = json!({ "type": "parse_vset", "value": set, "mask": null, "next_state": hit });
        states.push(name, ops, keys, vec![in_set, default(&json!(miss))]);
        for (state, value) in [(hit, 1), (miss, 0)] {
            let set = self.set(Place::Parser(name), dst, number(value));
            states.step(&state, vec![set], &json!(after));
        }
        after
    }

    /// Fields that a transition looks at; a constant goes to a field first.
    fn keys(&mut self, keys: &[Operand], ops: &mut Vec<Value>, state: &str) -> Vec<Value> {
        let mut fields = Vec::with_capacity(keys.len());
        for key in keys {
            fields.push(match key {
                Operand::Var(var) => self.names.field(*var),
                Operand::Const(bits) => {
                    let key = self.names.scalar(&format!("{state}.key"), VarType::Bit(bits.width()));
                    let field = typed("field", key);
                    ops.push(call("set", vec![field.clone(), constant(bits)]));
                    field
                }
            });
        }
        fields
    }

    /// The transitions of one case: one for each combination of prefixes of its ranges.
    fn cases(
        &self,
        state: &str,
        (keys, sets): (&[Operand], &[Keyset]),
        (next, transitions): (&Value, &mut Vec<Value>),
    ) -> Res<()> {
        let mut parts = Vec::with_capacity(sets.len());
        for (key, set) in keys.iter().zip(sets) {
            let Some(masks) = masks(set, self.width(key)) else {
                let cause = format!("a range over more than {MAX_RANGE_BITS} bits");
                return refuse(state, cause, "select over a part of the key");
            };
            parts.push(masks);
        }
        let count = parts.iter().fold(1_usize, |count, part| count.saturating_mul(part.len()));
        if count.saturating_add(transitions.len()) > MAX_CASES {
            let cause = format!("ranges of a select become more than {MAX_CASES} masks");
            return refuse(state, cause, "select over fewer or narrower ranges");
        }
        for mut number in 0..count {
            let (mut value, mut mask) = (Vec::new(), Vec::new());
            for part in &parts {
                let (part_value, part_mask) = &part[number % part.len()];
                number /= part.len();
                value.extend(part_value.to_be_bytes());
                mask.extend(part_mask.to_be_bytes());
            }
            transitions.push(json!({
                "type": "hexstr", "value": hex(&value), "mask": hex(&mask), "next_state": next,
            }));
        }
        Ok(())
    }
}

/// A keyset as values and masks; none where a range is too wide to be split.
fn masks(set: &Keyset, width: u32) -> Option<Vec<(Bits, Bits)>> {
    Some(match set {
        Keyset::Any => vec![(Bits::zero(width), Bits::zero(width))],
        Keyset::Mask { value, mask } => vec![(value.clone(), mask.clone())],
        Keyset::Range { .. } if width == 0 => vec![(Bits::zero(0), Bits::zero(0))],
        Keyset::Range { .. } if width > MAX_RANGE_BITS => return None,
        Keyset::Range { low, high, signed } => {
            let (low, high) = (low.to_u128()?, high.to_u128()?);
            let (most, half) = (u128::MAX >> (128 - width), 1 << (width - 1));
            let ranges = match *signed && low >= half && high < half {
                // From a negative number to one that is not.
                true => vec![(low, most), (0, high)],
                false => vec![(low, high)],
            };
            let prefixes = ranges.into_iter().flat_map(|(low, high)| prefixes(low, high, width));
            prefixes
                .map(|(value, mask)| (Bits::from_u128(width, value), Bits::from_u128(width, mask)))
                .collect()
        }
    })
}

/// The prefixes that make up a range, as values and masks; none if it is empty.
fn prefixes(low: u128, high: u128, width: u32) -> Vec<(u128, u128)> {
    let most = u128::MAX >> (128 - width);
    let (mut at, mut found) = (low, Vec::new());
    while at <= high {
        // The largest block that begins here and does not pass the end.
        let mut rest = 0_u128;
        while rest < most && at & (rest << 1 | 1) == 0 && at + (rest << 1 | 1) <= high {
            rest = rest << 1 | 1;
        }
        found.push((at, most & !rest));
        match at.checked_add(rest).and_then(|last| last.checked_add(1)) {
            Some(next) if next <= most => at = next,
            _ => break,
        }
    }
    found
}

fn default(next: &Value) -> Value {
    json!({ "type": "default", "value": null, "mask": null, "next_state": next })
}

fn case(value: &[u8], next: &Value) -> Value {
    json!({ "type": "hexstr", "value": hex(value), "mask": null, "next_state": next })
}

fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().map(|byte| format!("{byte:02x}"));
    core::iter::once("0x".to_owned()).chain(digits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn prefixes_are_the_range(low in 0_u128..256, high in 0_u128..256, at in 0_u128..256) {
            let found = prefixes(low, high, 8);
            let matching = found.iter().filter(|(value, mask)| at & mask == *value).count();
            prop_assert_eq!(matching, usize::from((low..=high).contains(&at)));
        }
    }
}
