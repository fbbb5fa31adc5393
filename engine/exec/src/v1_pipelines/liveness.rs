//! Liveness across the queues: the variables that the egress pipeline reads, and the requests that it makes.

use std::collections::BTreeSet;

use p4cc_ir::{ExternCall, Func, FuncId, Inst, Operand, Program, Terminator, VarId, VarKind};

/// The variables that are live at the entry of some functions: those that they, or functions they reach,
/// read.
pub(super) struct LiveVars<'a> {
    program: &'a Program,
    vars: BTreeSet<VarId>,
    seen: BTreeSet<FuncId>,
    /// Something clones or recirculates with a field list.
    keeps_lists: bool,
    /// A function makes a request to the architecture.
    pub makes_requests: bool,
}

impl<'a> LiveVars<'a> {
    pub fn new(program: &'a Program) -> Self {
        let (vars, seen) = Default::default();
        Self { program, vars, seen, keeps_lists: false, makes_requests: false }
    }

    /// Whether a variable is read.
    pub fn contains(&self, var: VarId) -> bool {
        self.vars.contains(&var)
    }

    /// Metadata that has to be kept, in the order of its variables, except what the architecture sets again.
    pub fn kept(&mut self, set_anew: &[VarId]) -> Vec<VarId> {
        if self.keeps_lists {
            self.vars.extend(self.program.field_lists.iter().flat_map(|list| &list.vars));
        }
        let is_metadata = |var: &VarId| self.program.vars[var.index()].kind == VarKind::Metadata;
        let kept = self.vars.iter().filter(|var| is_metadata(var) && !set_anew.contains(var));
        kept.copied().collect()
    }

    pub fn func(&mut self, id: FuncId) {
        if !self.seen.insert(id) {
            return;
        }
        let program = self.program;
        let func: &'a Func = &program.funcs[id.index()];
        for block in &func.blocks {
            block.insts.iter().for_each(|inst| self.inst(inst));
            match &block.terminator {
                Terminator::Branch { cond, .. } => self.read(cond),
                Terminator::Switch { value, .. } => self.read(value),
                Terminator::Select { keys, .. } => self.reads(keys),
                Terminator::Jump(_)
                | Terminator::Return
                | Terminator::Exit
                | Terminator::Accept
                | Terminator::Reject => {}
            }
        }
    }

    fn read(&mut self, operand: &Operand) {
        if let Operand::Var(var) = operand {
            self.vars.insert(*var);
        }
    }

    fn reads<'b>(&mut self, operands: impl IntoIterator<Item = &'b Operand>) {
        operands.into_iter().for_each(|operand| self.read(operand));
    }

    /// Only what an instruction reads needs to live; a slice that is set keeps the rest, so it reads too.
    fn inst(&mut self, inst: &Inst) {
        match inst {
            Inst::Assign { src, .. }
            | Inst::Unary { src, .. }
            | Inst::Resize { src, .. }
            | Inst::Slice { src, .. } => self.read(src),
            Inst::SetSlice { dst, src, .. } => {
                self.vars.insert(*dst);
                self.read(src);
            }
            Inst::Binary { a, b, .. } => self.reads([a, b]),
            Inst::Concat { hi, lo, .. } => self.reads([hi, lo]),
            Inst::StackLoad { index, .. }
            | Inst::StackIsValid { index, .. }
            | Inst::StackSetValid { index, .. } => self.read(index),
            Inst::StackStore { index, src, .. } => self.reads([index, src]),
            Inst::ExtractVar { varbit_bits: bits, .. } | Inst::Advance { bits } => self.read(bits),
            Inst::ExtractNext { varbit_bits, .. } => self.reads(varbit_bits),
            Inst::Verify { cond, error } => self.reads([cond, error]),
            Inst::ValueSetMatch { keys, .. } => self.reads(keys),
            Inst::StackSetNextIndex { next, .. } => self.read(next),
            Inst::Apply { table, .. } => {
                let table = &self.program.tables[table.index()];
                self.vars.extend(table.keys.iter().map(|key| key.var));
                let actions = table.actions.iter().map(|action| action.action);
                for action in actions.chain([table.default_action.action]) {
                    self.func(self.program.actions[action.index()].body);
                }
            }
            Inst::CallAction { action, args } => {
                self.reads(args);
                self.func(self.program.actions[action.index()].body);
            }
            Inst::Extern(call) => self.call(call),
            // These name headers only, or nothing that is read; all headers are kept.
            Inst::SetValid { .. }
            | Inst::SetInvalid { .. }
            | Inst::IsValid { .. }
            | Inst::UnionIsValid { .. }
            | Inst::CopyHeader { .. }
            | Inst::HeaderEq { .. }
            | Inst::StackPush { .. }
            | Inst::StackPop { .. }
            | Inst::StackNextIndex { .. }
            | Inst::Extract { .. }
            | Inst::Lookahead { .. }
            | Inst::PacketLength { .. }
            | Inst::Emit { .. } => {}
        }
    }

    fn call(&mut self, call: &ExternCall) {
        self.makes_requests |= matches!(
            call,
            ExternCall::Digest { .. }
                | ExternCall::LogMsg { .. }
                | ExternCall::Clone { .. }
                | ExternCall::Resubmit { .. }
                | ExternCall::Recirculate { .. }
                | ExternCall::Truncate { .. }
                | ExternCall::Assert { .. }
        );
        match call {
            ExternCall::CounterCount { index, .. } | ExternCall::RegisterRead { index, .. } => {
                self.read(index)
            }
            ExternCall::MeterExecute { index, color, .. } => {
                self.read(index);
                self.reads(color);
            }
            ExternCall::RegisterWrite { index, value, .. } => self.reads([index, value]),
            ExternCall::Hash { base, data, max, .. } => {
                self.reads([base, max]);
                self.reads(data);
            }
            ExternCall::Random { low, high, .. } => self.reads([low, high]),
            ExternCall::VerifyChecksum { cond, data, checksum, .. } => {
                self.reads([cond, checksum]);
                self.reads(data);
            }
            ExternCall::UpdateChecksum { cond, data, .. } => {
                self.read(cond);
                self.reads(data);
            }
            ExternCall::Digest { data, .. } | ExternCall::LogMsg { args: data, .. } => self.reads(data),
            ExternCall::Clone { session, field_list, .. } => {
                self.keeps_lists = true;
                self.read(session);
                self.reads(field_list);
            }
            ExternCall::Resubmit { field_list } | ExternCall::Recirculate { field_list } => {
                self.keeps_lists = true;
                self.read(field_list);
            }
            ExternCall::Truncate { bytes } => self.read(bytes),
            ExternCall::Assert { cond, .. } => self.read(cond),
            ExternCall::DirectCounterCount { .. }
            | ExternCall::DirectMeterRead { .. }
            | ExternCall::MarkToDrop => {}
        }
    }
}
