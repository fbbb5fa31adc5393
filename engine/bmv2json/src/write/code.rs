//! The code of an action as one list of primitives with jumps.

use std::collections::{BTreeMap, BTreeSet};

use p4cc_ir::{BlockId, Func, Inst, Operand, Terminator};
use serde_json::{Value, json};

use super::inst::Place;
use super::json::{binary, bit, call, constant, number, typed};
use super::{Res, Writer, refuse};

/// Deepest nesting of actions that call actions; P4 has no recursion, so no program comes near it.
const MAX_CALLS: usize = 64;

/// Most primitives of one action. Calls are written out: an action that calls another twice doubles it.
const MAX_PRIMITIVES: usize = 1 << 17;

/// A place to jump to, before places have numbers.
type Label = usize;

/// Where a function that is written in place leads.
#[derive(Clone, Copy)]
struct Ends {
    /// Where it returns to.
    returns: Label,
    /// Where `exit` leads.
    exits: Label,
}

enum Line {
    Primitive(Value),
    Jump(Label),
    /// Goes to the label if the condition does not hold.
    Unless(Value, Label),
    Here(Label),
}

/// A list in the making.
#[derive(Default)]
struct Lines {
    lines: Vec<Line>,
    labels: usize,
}

impl Lines {
    fn label(&mut self) -> Label {
        self.labels += 1;
        self.labels - 1
    }

    /// The list with its jumps resolved; a jump to what comes next anyway is left out.
    fn resolved(self) -> Vec<Value> {
        let (mut lines, mut here) = (Vec::with_capacity(self.lines.len()), BTreeSet::new());
        for line in self.lines.into_iter().rev() {
            match &line {
                Line::Jump(label) if here.contains(label) => continue,
                Line::Here(label) => {
                    here.insert(*label);
                }
                _ => here.clear(),
            }
            lines.push(line);
        }
        lines.reverse();
        let mut places = BTreeMap::new();
        let mut count = 0_u64;
        for line in &lines {
            match line {
                Line::Here(label) => {
                    places.insert(*label, count);
                }
                _ => count += 1,
            }
        }
        let place = |label: &Label| number(places.get(label).copied().unwrap_or(count));
        let written = lines.iter().filter_map(|line| match line {
            Line::Primitive(primitive) => Some(primitive.clone()),
            Line::Jump(label) => Some(call("_jump", vec![place(label)])),
            Line::Unless(cond, label) => Some(call("_jump_if_zero", vec![cond.clone(), place(label)])),
            Line::Here(_) => None,
        });
        written.collect()
    }
}

impl Writer<'_> {
    /// The actions of the program, in order: their ids are their places.
    pub(super) fn actions(&mut self) -> Res<()> {
        for (id, action) in self.program.actions.iter().enumerate() {
            let name = &action.cp.name;
            let place = Place::Action(name);
            let mut lines = Lines::default();
            let mut params = Vec::new();
            // Code may write a parameter, which BMv2's runtime data do not allow: it works on a copy.
            for (at, param) in action.params.iter().enumerate() {
                params
                    .push(json!({ "name": param.cp.name, "bitwidth": self.width(&Operand::Var(param.var)) }));
                lines.lines.push(Line::Primitive(self.set(place, param.var, typed("runtime_data", at))));
            }
            let end = lines.label();
            let body = &self.program.funcs[action.body.index()];
            self.func(&mut lines, place, body, Ends { returns: end, exits: end }, 0)?;
            lines.lines.push(Line::Here(end));
            let primitives = lines.resolved();
            self.made.actions.push(json!({
                "name": name, "id": id, "runtime_data": params, "primitives": primitives,
            }));
        }
        Ok(())
    }

    /// Code of a control that applies no table, as the primitives of an action.
    pub(super) fn straight(&mut self, place: Place<'_>, insts: &[Inst], exits: bool) -> Res<Vec<Value>> {
        let mut lines = Lines::default();
        let end = lines.label();
        self.insts(&mut lines, place, insts, end, 0)?;
        if exits {
            lines.lines.push(Line::Primitive(call("exit", Vec::new())));
        }
        lines.lines.push(Line::Here(end));
        Ok(lines.resolved())
    }

    /// A whole control that applies no table, as the primitives of an action.
    pub(super) fn whole(&mut self, place: Place<'_>, func: &Func) -> Res<Vec<Value>> {
        let mut lines = Lines::default();
        let end = lines.label();
        self.func(&mut lines, place, func, Ends { returns: end, exits: end }, 0)?;
        lines.lines.push(Line::Here(end));
        Ok(lines.resolved())
    }

    /// A function.
    fn func(
        &mut self,
        lines: &mut Lines,
        place: Place<'_>,
        func: &Func,
        ends: Ends,
        depth: usize,
    ) -> Res<()> {
        let Ends { returns, exits } = ends;
        let labels: Vec<Label> = func.blocks.iter().map(|_| lines.label()).collect();
        for at in reachable(func) {
            let block = &func.blocks[at.index()];
            lines.lines.push(Line::Here(labels[at.index()]));
            self.insts(lines, place, &block.insts, exits, depth)?;
            let label = |block: &BlockId| labels[block.index()];
            match &block.terminator {
                Terminator::Jump(next) => lines.lines.push(Line::Jump(label(next))),
                Terminator::Branch { cond, then, otherwise } => {
                    // A parameter is no condition, so the jump looks at a bit.
                    let cond = self.operand(cond);
                    lines.lines.push(Line::Unless(cond, label(otherwise)));
                    lines.lines.push(Line::Jump(label(then)));
                }
                Terminator::Switch { value, cases, default } => {
                    for (case, to) in cases {
                        let value = self.operand(value);
                        let (is_it, next) = (bit(binary("==", value, constant(case))), lines.label());
                        lines.lines.push(Line::Unless(is_it, next));
                        lines.lines.push(Line::Jump(label(to)));
                        lines.lines.push(Line::Here(next));
                    }
                    lines.lines.push(Line::Jump(label(default)));
                }
                Terminator::Return => lines.lines.push(Line::Jump(returns)),
                // BMv2 only marks the packet: the rest of the action is jumped over.
                Terminator::Exit => {
                    lines.lines.push(Line::Primitive(call("exit", Vec::new())));
                    lines.lines.push(Line::Jump(exits));
                }
                other => return refuse(place.name(), format!("{other:?}"), "keep it to the parser"),
            }
        }
        Ok(())
    }

    fn insts(
        &mut self,
        lines: &mut Lines,
        place: Place<'_>,
        insts: &[Inst],
        exits: Label,
        depth: usize,
    ) -> Res<()> {
        for inst in insts {
            if lines.lines.len() > MAX_PRIMITIVES {
                let cause = format!("more than {MAX_PRIMITIVES} primitives once calls are written out");
                return refuse(place.name(), cause, "call fewer actions from actions");
            }
            let Inst::CallAction { action, args } = inst else {
                let skipped = lines.label();
                if let Some(fits) = self.index_fits(inst) {
                    lines.lines.push(Line::Unless(fits, skipped));
                }
                lines.lines.extend(self.inst(place, inst)?.into_iter().map(Line::Primitive));
                lines.lines.push(Line::Here(skipped));
                continue;
            };
            if depth == MAX_CALLS {
                return refuse(place.name(), "actions call each other too deeply", "call fewer");
            }
            let action = &self.program.actions[action.index()];
            for (param, arg) in action.params.iter().zip(args) {
                let value = self.operand(arg);
                lines.lines.push(Line::Primitive(self.set(place, param.var, value)));
            }
            let returns = lines.label();
            let body = &self.program.funcs[action.body.index()];
            self.func(lines, place, body, Ends { returns, exits }, depth + 1)?;
            lines.lines.push(Line::Here(returns));
        }
        Ok(())
    }
}

impl Writer<'_> {
    /// Whether the element or cell that an instruction writes is there, as a bit; none where it always is, or
    /// where BMv2 looks.
    fn index_fits(&mut self, inst: &Inst) -> Option<Value> {
        if let Inst::Extern(call) = inst {
            let (index, bound) = self.cells_bound(call)?;
            return Some(bit(binary("<", self.operand(&index), number(bound))));
        }
        let (Inst::StackStore { stack, index, .. } | Inst::StackSetValid { stack, index, .. }) = inst else {
            return None;
        };
        let bound = self.index_bound(*stack, index)?;
        Some(bit(binary("<", self.operand(index), number(bound))))
    }
}

/// Blocks in an order in which a jump mostly leads to the next one.
pub(super) fn reachable(func: &Func) -> Vec<BlockId> {
    let mut seen = vec![false; func.blocks.len()];
    let (mut order, mut rest) = (Vec::new(), vec![Func::ENTRY]);
    while let Some(block) = rest.pop() {
        if core::mem::replace(&mut seen[block.index()], true) {
            continue;
        }
        order.push(block);
        let mut next = successors(&func.blocks[block.index()].terminator);
        next.reverse();
        rest.extend(next);
    }
    order
}

pub(super) fn successors(terminator: &Terminator) -> Vec<BlockId> {
    match terminator {
        Terminator::Jump(next) => vec![*next],
        Terminator::Branch { then, otherwise, .. } => vec![*then, *otherwise],
        Terminator::Switch { cases, default, .. } => {
            cases.iter().map(|(_, block)| *block).chain([*default]).collect()
        }
        Terminator::Select { cases, default, .. } => {
            cases.iter().map(|(_, block)| *block).chain(*default).collect()
        }
        Terminator::Return | Terminator::Exit | Terminator::Accept | Terminator::Reject => Vec::new(),
    }
}

/// Reachable blocks, each before all that follow it; none if they form a loop.
pub(super) fn in_order(func: &Func) -> Option<Vec<BlockId>> {
    let mut waits = vec![0_usize; func.blocks.len()];
    let reached = reachable(func);
    for block in &reached {
        for next in successors(&func.blocks[block.index()].terminator) {
            waits[next.index()] += 1;
        }
    }
    let (mut order, mut ready) = (Vec::with_capacity(reached.len()), vec![Func::ENTRY]);
    while let Some(block) = ready.pop() {
        order.push(block);
        for next in successors(&func.blocks[block.index()].terminator) {
            waits[next.index()] -= 1;
            if waits[next.index()] == 0 {
                ready.push(next);
            }
        }
    }
    (order.len() == reached.len()).then_some(order)
}

#[cfg(test)]
mod tests {
    use super::*;
    use p4cc_ir::{Bits, Block};

    fn block(terminator: Terminator) -> Block {
        Block { label: String::new(), insts: Vec::new(), terminator }
    }

    #[test]
    fn blocks_come_before_those_that_they_lead_to() {
        let branch = Terminator::Branch {
            cond: Operand::Const(Bits::zero(1)),
            then: BlockId(1),
            otherwise: BlockId(2),
        };
        let jump = || Terminator::Jump(BlockId(2));
        let blocks = vec![block(branch), block(jump()), block(Terminator::Return)];
        let mut func = Func { name: String::new(), blocks };
        assert_eq!(in_order(&func), Some(vec![BlockId(0), BlockId(1), BlockId(2)]));
        func.blocks[2] = block(Terminator::Jump(BlockId(1)));
        assert_eq!(in_order(&func), None);
    }
}
