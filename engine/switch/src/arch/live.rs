//! What of a frame lives from the end of ingress to the start of egress.
//!
//! v1model keeps a packet's headers and metadata while it waits in a queue; it is not deparsed and parsed again.
//! Keeping a whole frame for each waiting packet would take kilobytes, so only what egress can see is kept: the valid
//! headers and the metadata that egress or what follows names. [`Snapshot`] packs it.

use std::collections::BTreeSet;

use p4cc_exec::{Frame, Pipeline, Snapshot};
use p4cc_ir::{
    ExternCall, Func, FuncId, HeaderId, Inst, Operand, Program, StandardMetadata, Terminator, V1Model, VarId,
    VarKind,
};

/// Which variables are kept.
#[derive(Debug)]
pub(crate) struct LiveSet {
    /// For each of [`set_at_egress`] whether anything reads it.
    egress_reads: [bool; EGRESS_METADATA],
    snapshot: Snapshot,
}

impl LiveSet {
    /// The variables that live across the queues of a v1model program.
    pub fn new(pipeline: &Pipeline, v1: &V1Model) -> Self {
        let program: &Program = pipeline.program();
        let mut named = Named { program, vars: BTreeSet::new(), seen: BTreeSet::new(), keeps_lists: false };
        for func in [v1.egress, v1.compute_checksum, v1.deparser] {
            named.func(func);
        }
        if named.keeps_lists {
            named.vars.extend(program.field_lists.iter().flat_map(|list| &list.vars));
        }
        let set_at_egress = set_at_egress(v1);
        let lives =
            |var: &VarId| program.vars[var.index()].kind == VarKind::Metadata && !set_at_egress.contains(var);
        let metadata: Vec<VarId> = named.vars.iter().copied().filter(lives).collect();
        Self {
            egress_reads: set_at_egress.map(|var| named.vars.contains(&var)),
            snapshot: Snapshot::new(pipeline, &metadata),
        }
    }

    /// For each of [`set_at_egress`], in its order, whether anything reads it.
    pub fn egress_reads(&self) -> &[bool; EGRESS_METADATA] {
        &self.egress_reads
    }

    /// The live part of a frame as bytes, in place of what `out` held.
    pub fn save(&self, frame: &Frame, out: &mut Vec<u8>) {
        out.clear();
        self.snapshot.save(frame, out);
    }

    /// Takes what was saved into a frame that was reset.
    pub fn restore(&self, saved: &[u8], frame: &mut Frame) {
        self.snapshot.restore(saved, frame);
    }
}

/// Copies the headers of one frame into another that was reset: what a clone starts from.
pub(crate) fn copy_headers(pipeline: &Pipeline, from: &Frame, to: &mut Frame) {
    for (i, header) in pipeline.program().headers.iter().enumerate() {
        let id = HeaderId::from_index(i);
        if from.is_valid(pipeline, id) {
            to.set_valid(pipeline, id, true);
            to.copy_vars(pipeline, from, &header.fields);
        }
    }
}

/// How much metadata the switch itself sets when a packet leaves its queue.
const EGRESS_METADATA: usize = 10;

/// Metadata that the switch itself sets when a packet leaves its queue.
pub(crate) fn set_at_egress(v1: &V1Model) -> [VarId; EGRESS_METADATA] {
    let StandardMetadata {
        egress_spec,
        egress_port,
        instance_type,
        packet_length,
        enq_timestamp,
        enq_qdepth,
        deq_timedelta,
        deq_qdepth,
        egress_global_timestamp,
        egress_rid,
        ..
    } = v1.metadata;
    [
        egress_spec,
        egress_port,
        instance_type,
        packet_length,
        enq_timestamp,
        enq_qdepth,
        deq_timedelta,
        deq_qdepth,
        egress_global_timestamp,
        egress_rid,
    ]
}

/// Collects the variables that some functions, and what they reach, name.
struct Named<'a> {
    program: &'a Program,
    vars: BTreeSet<VarId>,
    seen: BTreeSet<FuncId>,
    /// Something clones or recirculates with a field list.
    keeps_lists: bool,
}

impl<'a> Named<'a> {
    fn func(&mut self, id: FuncId) {
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
