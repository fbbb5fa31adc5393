//! Functions in the making, and temporaries.
//!
//! Invariants: every block gets exactly one terminator (those left open return or accept); temporaries live
//! for one statement; variables and instructions never pass the limits of the budget, whatever the input
//! says.

use std::collections::{BTreeMap, BTreeSet};

use p4cc_budget::{Budget, Overrun, Resource};

use p4cc_ir::{BinOp, Bits, Block, BlockId, Func, Inst, Operand, Terminator, Var, VarId, VarKind, VarType};

use super::number;

/// A block whose end may still be open.
struct Open {
    label: String,
    insts: Vec<Inst>,
    end: Option<Terminator>,
}

/// Variables, and the function being written.
#[derive(Default)]
pub(super) struct Builder {
    pub vars: Vec<Var>,
    blocks: Vec<Open>,
    at: usize,
    budget: Budget,
    temps: BTreeMap<VarType, (Vec<VarId>, usize)>,
    /// All temporaries.
    all_temps: BTreeSet<VarId>,
}

impl Builder {
    pub fn new(budget: &Budget) -> Self {
        Self { budget: budget.clone(), ..Self::default() }
    }

    /// Takes of the budget before something is made; false where that is not to be made. Then the program
    /// cannot be used.
    pub fn charge(&self, resource: Resource, amount: usize) -> bool {
        self.budget.charge(resource, amount as u64).is_ok()
    }

    /// Why the program cannot be used, if the budget is over.
    pub fn over(&self) -> Option<Overrun> {
        self.budget.over()
    }

    /// A new variable. Past the limit it is an old one.
    pub fn var(&mut self, name: String, ty: VarType, kind: VarKind) -> VarId {
        if !(self.charge(Resource::Variables, 1) && self.charge(Resource::NameBytes, name.len())) {
            return VarId(0);
        }
        self.vars.push(Var { name, ty, kind });
        VarId::from_index(self.vars.len() - 1)
    }

    /// A variable of its own for some purpose.
    pub fn local(&mut self, name: impl Into<String>, width: u32) -> VarId {
        self.var(name.into(), VarType::Bit(width), VarKind::Local)
    }

    /// A temporary of this statement.
    pub fn temp(&mut self, width: u32) -> VarId {
        let ty = VarType::Bit(width);
        let free = self.temps.get_mut(&ty).and_then(|(vars, used)| {
            let var = vars.get(*used).copied();
            *used += usize::from(var.is_some());
            var
        });
        free.unwrap_or_else(|| {
            let number = self.temps.get(&ty).map_or(0, |(vars, _)| vars.len());
            let var = self.local(format!("$t{width}.{number}"), width);
            let (vars, used) = self.temps.entry(ty).or_default();
            vars.push(var);
            *used = vars.len();
            self.all_temps.insert(var);
            var
        })
    }

    /// The next statement may use all temporaries again.
    pub fn next_statement(&mut self) {
        self.temps.values_mut().for_each(|(_, used)| *used = 0);
    }

    pub fn ty(&self, var: VarId) -> VarType {
        self.vars.get(var.index()).map_or(VarType::Bit(1), |var| var.ty)
    }

    /// Starts a function with its entry block.
    pub fn begin(&mut self) {
        self.blocks.clear();
        let entry = self.block("");
        self.go_to(entry);
        self.next_statement();
    }

    /// Ends the function; open blocks get `end`.
    pub fn finish(&mut self, name: &str, end: &Terminator) -> Func {
        let close = |open: Open| Block {
            label: open.label,
            insts: open.insts,
            terminator: open.end.unwrap_or_else(|| end.clone()),
        };
        Func { name: name.to_owned(), blocks: self.blocks.drain(..).map(close).collect() }
    }

    /// A new block, which counts as an instruction. Past the limit it is the entry.
    pub fn block(&mut self, label: &str) -> BlockId {
        if !(self.charge(Resource::Instructions, 1) && self.charge(Resource::NameBytes, label.len())) {
            return Func::ENTRY;
        }
        self.blocks.push(Open { label: label.to_owned(), insts: Vec::new(), end: None });
        BlockId::from_index(self.blocks.len() - 1)
    }

    pub fn current(&self) -> BlockId {
        BlockId::from_index(self.at)
    }

    pub fn go_to(&mut self, block: BlockId) {
        self.at = block.index();
    }

    /// Ends the current block, if it is open.
    pub fn end(&mut self, terminator: Terminator) {
        if let Some(open) = self.blocks.get_mut(self.at) {
            open.end.get_or_insert(terminator);
        }
    }

    /// Ends the current block with a jump, and goes on there.
    pub fn fall_into(&mut self, block: BlockId) {
        self.end(Terminator::Jump(block));
        self.go_to(block);
    }

    pub fn emit(&mut self, inst: Inst) {
        if !self.charge(Resource::Instructions, 1) {
            return;
        }
        if let Some(open) = self.blocks.get_mut(self.at) {
            open.insts.push(inst);
        }
    }

    /// `dst = src`, written by the instruction that made `src` where that is the last one.
    pub fn store(&mut self, dst: VarId, src: Operand) {
        let made = match &src {
            Operand::Var(var) if self.is_temp(*var) => self.last_result().filter(|made| **made == *var),
            _ => None,
        };
        if made.is_none() {
            return self.emit(Inst::Assign { dst, src });
        }
        if let Some(made) = self.last_result() {
            *made = dst;
        }
    }

    fn is_temp(&self, var: VarId) -> bool {
        self.all_temps.contains(&var)
    }

    /// Where the last instruction writes, if it computes a value.
    fn last_result(&mut self) -> Option<&mut VarId> {
        match self.blocks.get_mut(self.at)?.insts.last_mut()? {
            Inst::Binary { dst, .. }
            | Inst::Unary { dst, .. }
            | Inst::Resize { dst, .. }
            | Inst::Slice { dst, .. }
            | Inst::Lookahead { dst } => Some(dst),
            _ => None,
        }
    }

    /// A binary operation on operands of `width` bits; comparisons give one bit.
    pub fn binary(&mut self, op: BinOp, width: u32, a: Operand, b: Operand) -> Operand {
        let compares = matches!(op, BinOp::Eq | BinOp::Ne | BinOp::Lt { .. } | BinOp::Le { .. });
        let dst = self.temp(if compares { 1 } else { width });
        self.emit(Inst::Binary { dst, op, a, b });
        Operand::Var(dst)
    }

    /// An operand with another width.
    pub fn resize(&mut self, operand: Operand, from: u32, signed: bool, width: u32) -> Operand {
        match operand {
            same if from == width => same,
            Operand::Const(bits) => Operand::Const(number::resized(&bits, signed, width)),
            src @ Operand::Var(_) => {
                let dst = self.temp(width);
                self.emit(Inst::Resize { dst, src, signed });
                Operand::Var(dst)
            }
        }
    }

    /// `cond ? a : b` on `width` bits, without a branch.
    pub fn select(&mut self, cond: Operand, width: u32, a: Operand, b: Operand) -> Operand {
        let mask = self.resize(cond, 1, true, width);
        let differ = self.binary(BinOp::Xor, width, a, b.clone());
        let chosen = self.binary(BinOp::And, width, differ, mask);
        self.binary(BinOp::Xor, width, chosen, b)
    }

    /// Complement of one bit.
    pub fn not(&mut self, flag: Operand) -> Operand {
        self.binary(BinOp::Xor, 1, flag, bit(true))
    }
}

/// A constant of one bit.
pub(super) fn bit(value: bool) -> Operand {
    constant(1, u64::from(value))
}

/// A constant.
pub(super) fn constant(width: u32, value: u64) -> Operand {
    Operand::Const(Bits::from_u128(width, u128::from(value)))
}
