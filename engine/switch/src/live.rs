//! What of a frame lives from the end of ingress to the start of egress, and its compact form.
//!
//! v1model keeps a packet's headers and metadata while it waits in a queue; it is not deparsed and parsed again.
//! Keeping a whole frame for each waiting packet would take kilobytes, so only what egress can see is kept, packed:
//! the validity of each header, the fields of valid headers, and the metadata that egress or what follows names.
//! Fields of invalid headers are not kept: P4 leaves their value open, and here they read as zero.
//!
//! Layout, bits filled from the low end of each word: metadata, one validity bit for each header, fields of valid
//! headers in order. A value of up to 64 bits never crosses a word; a wider one starts a word of its own; a varbit is
//! its length in one word, then its words.

use std::collections::BTreeSet;

use p4cc_exec::{Frame, Pipeline};
use p4cc_ir::bits::words_for;
use p4cc_ir::{
    Architecture, Bits, ExternCall, Func, FuncId, HeaderId, Inst, Operand, Program, StandardMetadata,
    Terminator, V1Model, VarId, VarKind, VarType,
};
use smallvec::SmallVec;

/// The compact form of a frame; 64 bytes need no memory of their own.
pub(crate) type Saved = SmallVec<[u64; 8]>;

/// Which variables are kept, and how.
#[derive(Debug)]
pub(crate) struct LiveSet {
    /// For each of [`set_at_egress`] whether anything reads it.
    egress_reads: [bool; EGRESS_METADATA],
    metadata: Vec<Kept>,
    headers: Vec<(HeaderId, Vec<Kept>)>,
}

#[derive(Clone, Copy, Debug)]
struct Kept {
    var: VarId,
    form: Form,
}

#[derive(Clone, Copy, Debug)]
enum Form {
    /// At most 64 bits.
    Narrow {
        width: u32,
    },
    Wide {
        width: u32,
    },
    Varbit,
}

impl LiveSet {
    /// The variables that live across the queues of a v1model program.
    pub fn new(program: &Program) -> Self {
        let Architecture::V1Model(v1) = &program.architecture;
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
        let metadata = named.vars.iter().copied().filter(lives).map(|var| Kept::new(program, var)).collect();
        let headers = program.headers.iter().enumerate().map(|(i, header)| {
            let fields = header.fields.iter().map(|&var| Kept::new(program, var)).collect();
            (HeaderId::from_index(i), fields)
        });
        Self {
            egress_reads: set_at_egress.map(|var| named.vars.contains(&var)),
            metadata,
            headers: headers.collect(),
        }
    }

    /// For each of [`set_at_egress`], in its order, whether anything reads it.
    pub fn egress_reads(&self) -> &[bool; EGRESS_METADATA] {
        &self.egress_reads
    }

    /// Packs the live part of a frame.
    pub fn save(&self, pipeline: &Pipeline, frame: &Frame) -> Saved {
        let mut to = Packer::default();
        for kept in &self.metadata {
            kept.save(pipeline, frame, &mut to);
        }
        for &(header, _) in &self.headers {
            to.put(u64::from(frame.is_valid(pipeline, header)), 1);
        }
        for (header, fields) in &self.headers {
            if frame.is_valid(pipeline, *header) {
                fields.iter().for_each(|kept| kept.save(pipeline, frame, &mut to));
            }
        }
        to.finish()
    }

    /// Unpacks into a frame that was reset.
    pub fn restore(&self, pipeline: &Pipeline, saved: &Saved, frame: &mut Frame) {
        let mut from = Unpacker { words: saved, at: 0, shift: 0 };
        for kept in &self.metadata {
            kept.restore(pipeline, frame, &mut from);
        }
        for &(header, _) in &self.headers {
            let valid = from.get(1) != 0;
            frame.set_valid(pipeline, header, valid);
        }
        for (header, fields) in &self.headers {
            if frame.is_valid(pipeline, *header) {
                fields.iter().for_each(|kept| kept.restore(pipeline, frame, &mut from));
            }
        }
    }

    /// Copies the headers of one frame into another that was reset: what a clone in egress starts from.
    pub fn copy_headers(&self, pipeline: &Pipeline, from: &Frame, to: &mut Frame) {
        for (header, fields) in &self.headers {
            if from.is_valid(pipeline, *header) {
                to.set_valid(pipeline, *header, true);
                for kept in fields {
                    to.copy_vars(pipeline, from, &[kept.var]);
                }
            }
        }
    }
}

impl Kept {
    fn new(program: &Program, var: VarId) -> Self {
        let form = match program.vars[var.index()].ty {
            VarType::Varbit(_) => Form::Varbit,
            ty if ty.width() > 64 => Form::Wide { width: ty.width() },
            ty => Form::Narrow { width: ty.width() },
        };
        Self { var, form }
    }

    fn save(self, pipeline: &Pipeline, frame: &Frame, to: &mut Packer) {
        match self.form {
            Form::Narrow { width } => to.put(frame.get(pipeline, self.var), width),
            Form::Wide { .. } => to.put_words(frame.get_bits(pipeline, self.var).words()),
            Form::Varbit => {
                let value = frame.get_bits(pipeline, self.var);
                to.put_words(&[u64::from(value.width())]);
                to.put_words(value.words());
            }
        }
    }

    fn restore(self, pipeline: &Pipeline, frame: &mut Frame, from: &mut Unpacker<'_>) {
        match self.form {
            Form::Narrow { width } => frame.set(pipeline, self.var, from.get(width)),
            Form::Wide { width } => frame.set_bits(pipeline, self.var, &from.get_bits(width)),
            Form::Varbit => {
                let width = from.get_bits(64).low_u64() as u32;
                let value = from.get_bits(width);
                frame.set_bits(pipeline, self.var, &value);
            }
        }
    }
}

/// Fills words from the low end.
#[derive(Default)]
struct Packer {
    words: Saved,
    open: u64,
    shift: u32,
}

impl Packer {
    fn put(&mut self, value: u64, width: u32) {
        if self.shift + width > 64 {
            self.close();
        }
        self.open |= value << self.shift;
        self.shift += width;
        if self.shift == 64 {
            self.close();
        }
    }

    fn put_words(&mut self, words: &[u64]) {
        if self.shift > 0 {
            self.close();
        }
        self.words.extend_from_slice(words);
    }

    fn close(&mut self) {
        self.words.push(self.open);
        self.open = 0;
        self.shift = 0;
    }

    fn finish(mut self) -> Saved {
        if self.shift > 0 {
            self.close();
        }
        self.words
    }
}

/// Reads what a [`Packer`] wrote, by the same steps.
struct Unpacker<'a> {
    words: &'a [u64],
    at: usize,
    shift: u32,
}

impl Unpacker<'_> {
    fn get(&mut self, width: u32) -> u64 {
        if self.shift + width > 64 {
            self.next_word();
        }
        let word = self.words.get(self.at).copied().unwrap_or(0);
        let value = (word >> self.shift) & (u64::MAX >> (64 - width));
        self.shift += width;
        if self.shift == 64 {
            self.next_word();
        }
        value
    }

    fn get_bits(&mut self, width: u32) -> Bits {
        if self.shift > 0 {
            self.next_word();
        }
        let words = words_for(width);
        let value = Bits::from_words(width, self.words.get(self.at..self.at + words).unwrap_or(&[]));
        self.at += words;
        value
    }

    fn next_word(&mut self) {
        self.at += 1;
        self.shift = 0;
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
            ExternCall::CounterCount { index, .. }
            | ExternCall::MeterExecute { index, .. }
            | ExternCall::RegisterRead { index, .. } => self.read(index),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_out_again_whatever_the_widths() {
        let wide = Bits::from_u128(100, 0xabcd_ef01_2345_6789_abcd_ef01);
        let mut packer = Packer::default();
        for (value, width) in [(1, 1), (5, 3), (u64::MAX, 64), (0x1_ffff, 17), (0x7fff_ffff_ffff, 47)] {
            packer.put(value, width);
        }
        packer.put_words(wide.words());
        packer.put(9, 4);
        let saved = packer.finish();
        let mut from = Unpacker { words: &saved, at: 0, shift: 0 };
        for (value, width) in [(1, 1), (5, 3), (u64::MAX, 64), (0x1_ffff, 17), (0x7fff_ffff_ffff, 47)] {
            assert_eq!(from.get(width), value);
        }
        assert_eq!(from.get_bits(100), wide);
        assert_eq!(from.get(4), 9);
    }
}
