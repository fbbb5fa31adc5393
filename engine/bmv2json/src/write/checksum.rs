//! Checksums and the deparser.
//!
//! The format has no code around a checksum: its condition and its values are expressions over fields. The
//! control is followed along its branches, and what its temporaries stand for is put in their places.

use std::collections::BTreeMap;

use p4cc_ir::{BlockId, ExternCall, FuncId, HashAlgorithm, Inst, Operand, Terminator, VarId, VarKind};
use serde_json::{Value, json};

use super::code::{in_order, reachable, successors};
use super::inst::{Place, destination};
use super::json::{binary, constant, holds, unary};
use super::{Res, Writer, refuse};

/// What is to be done about a control of checksums that does more.
const ONLY_CALLS: &str = "keep the control to conditions and calls, and compute in ingress or egress";

/// Most nodes of one expression, and of all that a document's checksums carry along: each use of a temporary
/// writes out what it stands for.
const MAX_NODES: usize = 2_000;
const MAX_NODES_OF_ALL: usize = 1 << 20;

/// What is known where a block begins.
#[derive(Clone, Default)]
struct Path {
    /// When it is reached; none for always.
    cond: Option<Value>,
    /// What temporaries stand for.
    terms: BTreeMap<VarId, Value>,
    /// Temporaries that put values in a row: a calculation takes them one by one.
    rows: BTreeMap<VarId, [Operand; 2]>,
}

impl Path {
    fn under(mut self, cond: Value) -> Self {
        self.cond = Some(match self.cond.take() {
            None => cond,
            Some(before) => binary("and", before, cond),
        });
        self
    }

    /// What holds where two ways meet: a temporary that both know differently is known no more.
    fn joined(self, other: Self) -> Self {
        let cond = match (self.cond, other.cond) {
            (Some(a), Some(b)) => Some(binary("or", a, b)),
            _ => None,
        };
        let same =
            |(var, term): (VarId, Value)| (other.terms.get(&var) == Some(&term)).then_some((var, term));
        let terms = self.terms.into_iter().filter_map(same).collect();
        // A row is of one block: what a join knows of it is its term.
        Self { cond, terms, rows: BTreeMap::new() }
    }
}

/// A checksum as the IR calls for it.
struct Call<'c> {
    cond: &'c Operand,
    data: &'c [Operand],
    target: VarId,
    algorithm: HashAlgorithm,
    with_payload: bool,
}

impl Writer<'_> {
    /// The checksums of the control that verifies them, or of the one that computes them.
    pub(super) fn checksums(&mut self, func: FuncId, verify: bool) -> Res<Vec<Value>> {
        let place = if verify { "verify_checksum" } else { "compute_checksum" };
        let func = &self.program.funcs[func.index()];
        let mut paths: BTreeMap<BlockId, Path> = BTreeMap::from([(p4cc_ir::Func::ENTRY, Path::default())]);
        let mut found = Vec::new();
        let Some(order) = in_order(func) else { return refuse(place, "a loop", ONLY_CALLS) };
        for block in order {
            let mut path = paths.remove(&block).unwrap_or_default();
            let block = &func.blocks[block.index()];
            for inst in &block.insts {
                self.follow(place, inst, &mut path, &mut found)?;
            }
            for (next, path) in self.ways(&block.terminator, &path) {
                let joined = match paths.remove(&next) {
                    None => path,
                    Some(other) => other.joined(path),
                };
                for carried in joined.terms.values().chain(&joined.cond) {
                    self.charge(place, carried)?;
                }
                paths.insert(next, joined);
            }
            if !matches!(
                block.terminator,
                Terminator::Jump(_) | Terminator::Branch { .. } | Terminator::Return
            ) {
                return refuse(place, "more than conditions and calls", ONLY_CALLS);
            }
        }
        Ok(found)
    }

    /// Counts the nodes of an expression against the bounds.
    fn charge(&mut self, place: &str, expression: &Value) -> Res<()> {
        let nodes = nodes_of(expression);
        self.made.nodes += nodes;
        if nodes <= MAX_NODES && self.made.nodes <= MAX_NODES_OF_ALL {
            return Ok(());
        }
        refuse(place, "conditions or values that become too long when they are written out", ONLY_CALLS)
    }

    fn ways(&mut self, terminator: &Terminator, path: &Path) -> Vec<(BlockId, Path)> {
        match terminator {
            Terminator::Branch { cond, then, otherwise } => {
                let cond = holds(term(self, path, cond));
                let not = unary("not", cond.clone());
                vec![(*then, path.clone().under(cond)), (*otherwise, path.clone().under(not))]
            }
            other => successors(other).into_iter().map(|next| (next, path.clone())).collect(),
        }
    }

    fn follow(&mut self, place: &str, inst: &Inst, path: &mut Path, found: &mut Vec<Value>) -> Res<()> {
        let call = match inst {
            Inst::Extern(ExternCall::VerifyChecksum { cond, data, checksum, algorithm, with_payload }) => {
                let Operand::Var(target) = *checksum else {
                    return refuse(place, "a constant is verified as a checksum", ONLY_CALLS);
                };
                Call { cond, data, target, algorithm: *algorithm, with_payload: *with_payload }
            }
            Inst::Extern(ExternCall::UpdateChecksum { cond, data, checksum, algorithm, with_payload }) => {
                Call { cond, data, target: *checksum, algorithm: *algorithm, with_payload: *with_payload }
            }
            pure => {
                let read = &mut |writer: &mut Self, operand: &Operand| term(writer, path, operand);
                let value = self.value(pure, read);
                let (Some(value), Some(dst)) = (value, destination(pure)) else {
                    return refuse(place, "more than conditions and calls", ONLY_CALLS);
                };
                if self.program.vars[dst.index()].kind != VarKind::Local {
                    return refuse(place, "an assignment to a field", ONLY_CALLS);
                }
                self.charge(place, &value)?;
                path.terms.insert(dst, value);
                if let Inst::Concat { hi, lo, .. } = pure {
                    path.rows.insert(dst, [hi.clone(), lo.clone()]);
                }
                return Ok(());
            }
        };
        let is_verified = matches!(inst, Inst::Extern(ExternCall::VerifyChecksum { .. }));
        let checksum = self.checksum(place, &call, path, is_verified)?;
        found.push(checksum);
        Ok(())
    }

    fn checksum(&mut self, place: &str, call: &Call<'_>, path: &Path, verify: bool) -> Res<Value> {
        let mut input = Vec::with_capacity(call.data.len());
        let mut rest: Vec<&Operand> = call.data.iter().rev().collect();
        while let Some(value) = rest.pop() {
            let known = match value {
                Operand::Var(var) if path.rows.contains_key(var) => {
                    let [hi, lo] = &path.rows[var];
                    rest.extend([lo, hi]);
                    continue;
                }
                Operand::Var(var) => path.terms.get(var).cloned(),
                Operand::Const(_) => None,
            };
            let mut part = known.unwrap_or_else(|| self.input(value));
            if part["type"] == "expression" {
                return refuse(place, "a checksum over a value that is computed", ONLY_CALLS);
            }
            if part["type"] == "hexstr" {
                part["bitwidth"] = json!(self.width(value));
            }
            input.push(part);
        }
        let calculation = self.calculation_over(place, call.algorithm, input, call.with_payload)?;
        let path = match call.cond {
            Operand::Const(always) if !always.is_zero() => path.clone(),
            cond => path.clone().under(holds(term(self, path, cond))),
        };
        Ok(json!({
            "target": self.names.pair(call.target),
            "type": "generic",
            "calculation": calculation,
            "verify": verify,
            "update": !verify,
            "if_cond": path.cond,
        }))
    }

    /// The headers that are sent, in order.
    pub(super) fn deparser(&mut self, func: FuncId) -> Res<Value> {
        let func = &self.program.funcs[func.index()];
        let (mut order, mut primitives) = (Vec::new(), Vec::new());
        for block in reachable(func) {
            let block = &func.blocks[block.index()];
            for inst in &block.insts {
                match inst {
                    Inst::Emit { header } => order.push(json!(self.names.header(*header))),
                    other if order.is_empty() => {
                        primitives.extend(self.inst(Place::Action("deparser"), other)?);
                    }
                    _ => return refuse("deparser", "code after emit", "compute in egress"),
                }
            }
            if !matches!(block.terminator, Terminator::Jump(_) | Terminator::Return) {
                return refuse("deparser", "emit under a condition", "make the header invalid in egress");
            }
        }
        Ok(json!({ "name": "deparser", "id": 0, "order": order, "primitives": primitives }))
    }
}

/// Objects of an expression: its operators and operands.
fn nodes_of(expression: &Value) -> usize {
    match expression {
        Value::Object(members) => 1 + members.values().map(nodes_of).sum::<usize>(),
        _ => 0,
    }
}

/// What an operand stands for on a path.
fn term(writer: &mut Writer<'_>, path: &Path, operand: &Operand) -> Value {
    match operand {
        Operand::Const(bits) => constant(bits),
        Operand::Var(var) => path.terms.get(var).cloned().unwrap_or_else(|| writer.operand(operand)),
    }
}
