//! The ingress and the egress pipeline of a v1model program, each as one native function. Control does not
//! return to the switch between the parser and the end of ingress, nor between egress and the deparser's
//! output.
//!
//! Invariant: the function leaves the same frame, state and effects as [`crate::v1_pipelines`], which runs
//! one programmable block after the other. Only words of the frame that are written before they are read may
//! differ ([`super::super::zero_init`]).

use core::ops::Range;
use std::collections::BTreeSet;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, ConstantData, Endianness, InstBuilder, MemFlags, Type, Value, types};
use cranelift_frontend::FunctionBuilder;
use p4cc_ir::{FuncId, Inst, VarId, VarKind, core_errors, limits};

use super::state::{given_flags, lasting_flags};
use super::{Callees, Shared, TranslateResult, Translator, bytes_flags, field};
use crate::MAX_CONTROL_STEPS;
use crate::bitplan::BitPlan;
use crate::native::context::{DONE, DROPPED, REQUESTED, UNREADABLE, state_vectors};
use crate::native::helpers::Name;
use crate::native::storage::Storage;
use crate::native::summary;
use crate::native::zero_init;
use crate::snapshot::Packing;
use crate::v1_pipelines::V1Pipelines;

/// Most operations of functions that are there twice.
const MAX_COPIED_OPS: usize = 2_048;

/// Headers up to the ports of an encapsulated packet at most.
const FEW_HEADERS: usize = 4;

/// Words past which clearing them is a call.
const MAX_CLEARED_WORDS: u32 = 64;

/// The kind of a programmable block.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockKind {
    Parser,
    /// A parser whose errors the switch hears of before anything else runs.
    StrictParser,
    Control,
}

/// Loads of bits of validity: not aligned, lowest byte first.
fn little_flags() -> MemFlags {
    bytes_flags().with_endianness(Endianness::Little)
}

impl<'a, 'f> Translator<'a, 'f> {
    /// Translates what runs before the queues; besides the bytes that it may emit, what headers packets have
    /// as a rule when it ends, as [`Packing`] has them.
    pub fn ingress_pipeline(
        shared: &'a Shared<'a>,
        pipelines: &V1Pipelines,
        b: FunctionBuilder<'f>,
        callees: Callees,
    ) -> TranslateResult<(u32, Vec<u64>)> {
        let v1 = pipelines.v1model();
        let mut t = Self::start(shared, b, callees);
        t.vectors = state_vectors();
        t.init_registers()?;
        t.clear(&zero_init::at_ingress(shared, pipelines));
        for (place, var) in pipelines.set_at_ingress().into_iter().enumerate() {
            t.set_input(given_flags(), place, var)?;
        }
        let behind = [v1.verify_checksum, v1.ingress];
        t.ends = t.is_copied(&behind).then(Vec::new);
        let unreadable = zero_init::is_repeatable(shared, v1.parser).then(|| t.b.create_block());
        t.unreadable = unreadable;
        t.block(v1.parser, BlockKind::Parser)?;
        t.unreadable = None;
        let others = t.done;
        let mut usual = Vec::new();
        let with_bypass = t.can_bypass(pipelines);
        for block in t.usual_accepts() {
            t.switch_to(block);
            usual.extend(t.behind_parser(pipelines, with_bypass)?);
        }
        t.switch_to(others);
        t.behind_parser(pipelines, false)?;
        if let Some(unreadable) = unreadable {
            t.b.set_cold_block(unreadable);
            t.switch_to(unreadable);
            t.end_with(UNREADABLE);
        }
        Ok((t.close(), usual))
    }

    /// What follows the parser, up to the end of the function: with egress, if packets may bypass their
    /// queue.
    fn behind_parser(&mut self, pipelines: &V1Pipelines, with_bypass: bool) -> TranslateResult<Option<u64>> {
        let v1 = pipelines.v1model();
        self.flush_at();
        if zero_init::reads_payload(self.shared, &[v1.verify_checksum, v1.ingress]) {
            self.call(Name::Payload, &[]);
        }
        self.control(v1.verify_checksum)?;
        self.ends = Some(Vec::new());
        self.block(v1.ingress, BlockKind::Control)?;
        let [any, single, kept, end] = core::array::from_fn(|_| self.b.create_block());
        let group = pipelines.verdict_slots()[1];
        for block in self.ends.take().into_iter().flatten().chain([self.done]) {
            self.switch_to(block);
            let to = if self.known(group) == Some(0) { single } else { any };
            self.jump(to, &[]);
        }
        self.switch_to(any);
        let multicast = self.read_u32(v1.metadata.mcast_grp)?;
        self.brif(multicast, kept, &[], single, &[]);
        self.switch_to(single);
        let single_port = self.b.create_block();
        self.unless_dropped(pipelines, single_port, end)?;
        self.switch_to(single_port);
        let packing = pipelines.snapshot().packing();
        let headers = packing.as_ref().and_then(|packing| self.known_headers(packing));
        let bypass = if with_bypass && headers.is_some() {
            Some(self.check_bypass(pipelines, kept)?)
        } else {
            self.jump(kept, &[]);
            None
        };
        self.switch_to(kept);
        if let Some(packing) = &packing {
            self.save(pipelines, packing)?;
        }
        self.jump(end, &[]);
        self.switch_to(end);
        self.spill(pipelines.verdict_slots())?;
        self.spill_listed()?;
        self.end_with(DONE);
        if let Some(bypass) = bypass {
            self.translate_bypass(pipelines, bypass)?;
        }
        Ok(headers)
    }

    /// Whether functions are small enough to be there twice: for packets with the headers that they have as a
    /// rule, so that nothing tests these, and for others.
    pub(super) fn is_copied(&self, funcs: &[FuncId]) -> bool {
        let ops: usize = funcs.iter().map(|func| self.shared.plan.size(func.index())).sum();
        ops <= MAX_COPIED_OPS
    }

    /// Blocks that packets with most headers go on at behind the parser, and
    /// in programs that read beyond the ports those with all of these but one:
    /// data and what acknowledges them. All others go on where a part is done.
    pub(super) fn usual_accepts(&mut self) -> Vec<Block> {
        let ends = self.ends.take().unwrap_or_default();
        let headers = &self.shared.code.headers;
        let count =
            |block: &Block| headers.iter().filter(|header| self.known.is_at(*block, header.valid, 1)).count();
        let counts: Vec<usize> = ends.iter().map(count).collect();
        let most = counts.iter().copied().max().unwrap_or(0);
        let kinds = if most > FEW_HEADERS { 2 } else { most.min(1) };
        let usual: Vec<Block> = (0..kinds).map(|_| self.b.create_block()).collect();
        for (block, count) in ends.into_iter().zip(counts) {
            let to = usual.get(most - count).copied().unwrap_or(self.done);
            self.switch_to(block);
            self.jump(to, &[]);
        }
        usual
    }

    /// The bits of validity, if all are known.
    fn known_headers(&self, packing: &Packing<'_>) -> Option<u64> {
        let mut bits = 0;
        for (place, &(valid, _)) in packing.headers.iter().enumerate() {
            bits |= self.known(valid)?.checked_shl(place as u32).filter(|_| place < 64)?;
        }
        Some(bits)
    }

    /// Translates what runs behind the queues, with the headers that packets have as a rule.
    pub fn egress_pipeline(
        shared: &'a Shared<'a>,
        pipelines: &V1Pipelines,
        usual: &[u64],
        b: FunctionBuilder<'f>,
        callees: Callees,
    ) -> TranslateResult<u32> {
        let v1 = pipelines.v1model();
        let mut t = Self::start(shared, b, callees);
        t.vectors = state_vectors();
        t.init_registers()?;
        t.clear(&zero_init::at_egress(shared, pipelines));
        if let Some(packing) = pipelines.snapshot().packing() {
            let copied = t.is_copied(&[v1.egress, v1.compute_checksum, v1.deparser]);
            for &usual in usual.iter().filter(|_| copied && packing.validity_bytes <= 8) {
                let others = t.b.create_block();
                t.restore_usual(usual, &packing, others)?;
                t.behind_queues(pipelines)?;
                t.switch_to(others);
            }
            t.restore(pipelines, &packing)?;
        }
        t.behind_queues(pipelines)?;
        Ok(t.close())
    }

    /// What follows when a packet is unpacked, up to the end of the function.
    fn behind_queues(&mut self, pipelines: &V1Pipelines) -> TranslateResult {
        let v1 = pipelines.v1model();
        // Most are named, on many ways: better read once than where they are named.
        for (place, var) in pipelines.set_at_egress() {
            self.set_input(lasting_flags(), place, var)?;
        }
        self.control(v1.egress)?;
        if zero_init::clones(self.shared, v1.egress) {
            let clones = self.call(Name::Clones, &[]);
            let [requested, next] = core::array::from_fn(|_| self.b.create_block());
            self.brif(clones, requested, &[], next, &[]);
            self.switch_to(requested);
            self.end_requested()?;
            self.switch_to(next);
        }
        let [kept, dropped] = core::array::from_fn(|_| self.b.create_block());
        self.unless_dropped(pipelines, kept, dropped)?;
        self.switch_to(dropped);
        self.end_with(DROPPED);
        self.switch_to(kept);
        if pipelines.finish_makes_requests() {
            return self.end_requested();
        }
        self.control(v1.compute_checksum)?;
        self.control(v1.deparser)?;
        self.spill_listed()?;
        self.flush();
        self.end_with(DONE);
        Ok(())
    }

    /// Ends where the frame is looked at next.
    fn end_requested(&mut self) -> TranslateResult {
        let Shared { program, code, .. } = *self.shared;
        self.spill(code.headers.iter().map(|header| header.valid))?;
        let lasting = (0..).map(VarId::from_index).zip(&program.vars);
        let lasting = lasting.filter(|(_, var)| var.kind != VarKind::Local).map(|(id, _)| id);
        self.spill_vars(lasting)?;
        self.end_with(REQUESTED);
        Ok(())
    }

    pub(super) fn spill_vars(&mut self, vars: impl IntoIterator<Item = VarId>) -> TranslateResult {
        for var in vars {
            let place = self.shared.code.layout.var(var);
            self.spill(place.slot..place.slot + place.words())?;
        }
        Ok(())
    }

    /// Metadata that the switch may read from the frame after a pipeline.
    pub(super) fn spill_listed(&mut self) -> TranslateResult {
        let lists = &self.shared.program.field_lists;
        self.spill_vars(lists.iter().flat_map(|list| &list.vars).copied())
    }

    /// What lasts and lives in registers starts as zeros: no header is valid.
    pub(super) fn init_registers(&mut self) -> TranslateResult {
        let Shared { program, code, plan } = *self.shared;
        let zero = self.iconst(0);
        for header in &code.headers {
            if plan.storage_of(header.valid) == Storage::Register {
                self.write(header.valid, zero)?;
            }
            if plan.chunks(header).next().is_some() {
                self.zero_fields(header, zero)?;
            }
        }
        for (id, var) in (0..).map(VarId::from_index).zip(&program.vars) {
            let place = code.layout.var(id);
            for slot in place.slot..place.slot + place.words() {
                if var.kind != VarKind::Local && plan.storage_of(slot) == Storage::Register {
                    self.write(slot, zero)?;
                }
            }
        }
        Ok(())
    }

    /// Runs a control, and goes on behind it however it ends.
    pub(super) fn control(&mut self, func: FuncId) -> TranslateResult {
        self.block(func, BlockKind::Control)?;
        self.switch_to(self.done);
        Ok(())
    }

    /// Runs one programmable block. All its ends go to the block `done`.
    pub(super) fn block(&mut self, func: FuncId, kind: BlockKind) -> TranslateResult {
        let bound = core::mem::take(&mut self.emit_bound);
        self.open(summary::of(self.shared, func.index(), false));
        if self.summary.counted || !self.callees.actions.is_empty() {
            let steps = if kind == BlockKind::Control { MAX_CONTROL_STEPS } else { limits::MAX_PARSER_STEPS };
            let steps = self.iconst(steps.into());
            self.store_field(field!(steps), steps);
        }
        self.body(func.index(), None)?;
        self.rejects()?;
        let after = self.done;
        self.switch_to(self.reject_known);
        match (kind, self.unreadable) {
            (BlockKind::Parser, _) => {
                let error = self.read(self.shared.code.parser_error)?;
                self.keep_error(error, after);
            }
            (BlockKind::StrictParser, Some(unreadable)) => self.jump(unreadable, &[]),
            _ => self.jump(after, &[]),
        }
        self.switch_to(self.limit);
        match (kind, self.unreadable) {
            (BlockKind::Parser, _) => {
                let error = self.iconst(core_errors::PARSER_TIMEOUT.into());
                self.write(self.shared.code.parser_error, error)?;
                self.keep_error(error, after);
            }
            (BlockKind::StrictParser, Some(unreadable)) => self.jump(unreadable, &[]),
            _ => {
                self.call(Name::LimitHit, &[]);
                self.jump(after, &[]);
            }
        }
        self.emit_bound = self.emit_bound.max(bound);
        Ok(())
    }

    /// Keeps a parser's error for the caller: the error plus one.
    fn keep_error(&mut self, error: Value, next: Block) {
        let error = self.b.ins().band_imm(error, i64::from(u32::MAX));
        let error = self.b.ins().iadd_imm(error, 1);
        self.store_field(field!(error), error);
        self.jump(next, &[]);
    }

    /// The low 32 bits of a variable.
    pub(super) fn read_u32(&mut self, var: VarId) -> TranslateResult<Value> {
        let place = self.shared.code.layout.var(var);
        let word = self.read(place.value())?;
        Ok(if place.width <= 32 { word } else { self.b.ins().band_imm(word, i64::from(u32::MAX)) })
    }

    /// Ends the block: goes to `dropped` where the egress specification is the drop port.
    pub(super) fn unless_dropped(
        &mut self,
        pipelines: &V1Pipelines,
        kept: Block,
        dropped: Block,
    ) -> TranslateResult {
        let port = self.read_u32(pipelines.v1model().metadata.egress_spec)?;
        let drop_port = self.load_given(field!(drop_port));
        let stays = self.b.ins().icmp(IntCC::NotEqual, port, drop_port);
        self.brif(stays, kept, &[], dropped, &[]);
        Ok(())
    }

    /// Sets a variable of one word to what the switch gives.
    pub(super) fn set_input(&mut self, flags: MemFlags, place: usize, var: VarId) -> TranslateResult {
        let inputs = self.load_given(field!(inputs));
        let value = self.b.ins().load(types::I64, flags, inputs, place as i32 * 8);
        self.set_given(value, var)
    }

    /// Sets a variable of one word to a value that may be wider.
    pub(super) fn set_given(&mut self, value: Value, var: VarId) -> TranslateResult {
        let to = self.shared.code.layout.var(var);
        let value = match self.constant(value) {
            Some(value) => self.iconst(value & u64::MAX >> (64 - to.width)),
            None => self.cut((64 - to.width) as u8, value),
        };
        self.write(to.slot, value)
    }

    /// Sets words of the frame to zero.
    pub(super) fn clear(&mut self, ranges: &[Range<u32>]) {
        let zero = self.iconst(0);
        for range in ranges {
            if range.len() as u32 > MAX_CLEARED_WORDS {
                let (from, words) = (self.iconst(range.start.into()), self.iconst(range.len() as u64));
                self.call(Name::Clear, &[from, words]);
                continue;
            }
            let mut slot = range.start;
            while slot < range.end {
                let offset = slot as i32 * 8;
                if super::HAS_PAIRS && slot + 1 < range.end {
                    let both = self.b.func.dfg.constants.insert(ConstantData::from(&[0_u8; 16][..]));
                    let both = self.b.ins().vconst(types::I64X2, both);
                    self.b.ins().store(super::pair_flags(), both, self.slots, offset);
                    slot += 2;
                } else {
                    self.b.ins().store(super::frame_flags(), zero, self.slots, offset);
                    slot += 1;
                }
            }
        }
    }

    /// Packs what lives on: see [`crate::Snapshot`].
    fn save(&mut self, pipelines: &V1Pipelines, packing: &Packing<'_>) -> TranslateResult {
        let base = self.load_given(field!(emit));
        let v1 = pipelines.v1model();
        let there = zero_init::may_be_valid(self.shared, &[v1.parser, v1.verify_checksum, v1.ingress]);
        for (group, headers) in packing.headers.chunks(64).enumerate() {
            let mut bits = self.iconst(0);
            for (place, &(valid, _)) in
                headers.iter().enumerate().filter(|(_, header)| there.contains(&header.0))
            {
                let bit = self.read(valid)?;
                let bit = self.b.ins().ishl_imm(bit, place as i64);
                bits = self.b.ins().bor(bits, bit);
            }
            // What hangs over is overwritten by what follows.
            self.b.ins().store(little_flags(), bits, base, group as i32 * 8);
        }
        let metadata = self.b.ins().iadd_imm(base, i64::from(packing.validity_bytes));
        self.store_plan(packing.metadata, metadata)?;
        let at = self.b.declare_var(types::I64);
        let first = self.iconst(u64::from(packing.validity_bytes + packing.metadata.bytes));
        self.b.def_var(at, first);
        let mut bound = packing.validity_bytes + packing.metadata.bytes;
        let with_fields = |header: &&(u32, &BitPlan)| there.contains(&header.0) && header.1.bytes > 0;
        for &(valid, plan) in packing.headers.iter().filter(with_fields) {
            bound += plan.bytes;
            let valid = self.read(valid)?;
            let [there, next] = core::array::from_fn(|_| self.b.create_block());
            self.brif(valid, there, &[], next, &[]);
            self.switch_to(there);
            let here = self.b.use_var(at);
            let to = self.b.ins().iadd(base, here);
            self.store_plan(plan, to)?;
            let behind = self.b.ins().iadd_imm(here, i64::from(plan.bytes));
            self.b.def_var(at, behind);
            self.jump(next, &[]);
            self.switch_to(next);
        }
        self.emit_bound = self.emit_bound.max(bound);
        let bytes = self.b.use_var(at);
        self.store_field(field!(emitted), bytes);
        Ok(())
    }

    /// Unpacks a packet that has these headers and no others; goes to `others` with all else.
    fn restore_usual(&mut self, usual: u64, packing: &Packing<'_>, others: Block) -> TranslateResult {
        let (base, stored) = (self.load_given(field!(packet)), self.load_given(field!(stored_bits)));
        let is_there = |place: usize| usual >> place & 1 == 1;
        let headers = packing.headers.iter().enumerate();
        let fields: u32 = headers.filter(|header| is_there(header.0)).map(|header| header.1.1.bytes).sum();
        let first = packing.validity_bytes + packing.metadata.bytes;
        let bits = self.iconst(u64::from(first + fields) * 8);
        self.unless_stored(bits, stored, others);
        let bits = self.load_little(base, 0, packing.validity_bytes);
        let bits = self.b.ins().bxor_imm(bits, usual as i64);
        let next = self.b.create_block();
        self.brif(bits, others, &[], next, &[]);
        self.switch_to(next);
        let metadata = self.b.ins().iadd_imm(base, i64::from(packing.validity_bytes));
        self.load_plan(packing.metadata, metadata)?;
        let mut at = first;
        for (place, &(valid, plan)) in packing.headers.iter().enumerate() {
            let there = self.iconst(u64::from(is_there(place)));
            self.write(valid, there)?;
            if is_there(place) {
                let from = self.b.ins().iadd_imm(base, i64::from(at));
                self.load_plan(plan, from)?;
                at += plan.bytes;
            }
        }
        Ok(())
    }

    /// Unpacks it; where bytes are missing the pipeline ends as unreadable.
    fn restore(&mut self, pipelines: &V1Pipelines, packing: &Packing<'_>) -> TranslateResult {
        let brought = brought(self.shared, pipelines);
        let unreadable = self.b.create_block();
        self.b.set_cold_block(unreadable);
        let (base, stored) = (self.load_given(field!(packet)), self.load_given(field!(stored_bits)));
        let stored = self.b.ins().ushr_imm(stored, 3);
        let mut at = self.iconst(u64::from(packing.validity_bytes + packing.metadata.bytes));
        self.unless_stored(at, stored, unreadable);
        let metadata = self.b.ins().iadd_imm(base, i64::from(packing.validity_bytes));
        self.load_plan(packing.metadata, metadata)?;
        let mut left = packing.validity_bytes;
        for (group, headers) in packing.headers.chunks(64).enumerate() {
            let bits = self.load_little(base, group as u32 * 8, left.min(8));
            left = left.saturating_sub(8);
            for (place, &(valid, plan)) in headers.iter().enumerate() {
                if !brought.contains(&valid) {
                    let zero = self.iconst(0);
                    self.write(valid, zero)?;
                    continue;
                }
                let bit = self.b.ins().ushr_imm(bits, place as i64);
                let bit = self.b.ins().band_imm(bit, 1);
                self.write(valid, bit)?;
                if plan.bytes > 0 {
                    at = self.restore_header(plan, bit, base, at, stored, unreadable)?;
                }
            }
        }
        let next = self.b.create_block();
        self.jump(next, &[]);
        self.switch_to(unreadable);
        self.end_with(UNREADABLE);
        self.switch_to(next);
        Ok(())
    }

    /// Unpacks a header if it is there; where the next one stands.
    fn restore_header(
        &mut self,
        plan: &BitPlan,
        valid: Value,
        base: Value,
        at: Value,
        stored: Value,
        unreadable: Block,
    ) -> TranslateResult<Value> {
        let [there, next] = core::array::from_fn(|_| self.b.create_block());
        let behind = self.b.append_block_param(next, types::I64);
        self.brif(valid, there, &[], next, &[at.into()]);
        self.switch_to(there);
        let end = self.b.ins().iadd_imm(at, i64::from(plan.bytes));
        self.unless_stored(end, stored, unreadable);
        let from = self.b.ins().iadd(base, at);
        self.load_plan(plan, from)?;
        self.jump(next, &[end.into()]);
        self.switch_to(next);
        Ok(behind)
    }

    /// Goes on where so many bytes are stored.
    fn unless_stored(&mut self, bytes: Value, stored: Value, otherwise: Block) {
        let next = self.b.create_block();
        let fits = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, bytes, stored);
        self.brif(fits, next, &[], otherwise, &[]);
        self.switch_to(next);
    }

    /// Up to eight bytes as one number, the lowest first.
    fn load_little(&mut self, base: Value, from: u32, count: u32) -> Value {
        let mut word = self.iconst(0);
        let mut done = 0;
        for (bytes, ty) in [(8, types::I64), (4, types::I32), (2, types::I16), (1, types::I8)] {
            if count & bytes == 0 {
                continue;
            }
            let part = self.load_part(ty, base, from + done);
            let part = self.b.ins().ishl_imm(part, i64::from(done * 8));
            word = self.b.ins().bor(word, part);
            done += bytes;
        }
        word
    }

    fn load_part(&mut self, ty: Type, base: Value, from: u32) -> Value {
        let part = self.b.ins().load(ty, little_flags(), base, from as i32);
        if ty == types::I64 { part } else { self.b.ins().uextend(types::I64, part) }
    }
}

/// Headers, by their validity words, that a packet may bring to egress:
/// those that ingress may leave, or any where egress may clone what it made.
fn brought(shared: &Shared<'_>, pipelines: &V1Pipelines) -> BTreeSet<u32> {
    let v1 = pipelines.v1model();
    if zero_init::clones(shared, v1.egress) {
        return shared.code.headers.iter().map(|header| header.valid).collect();
    }
    zero_init::may_be_valid(shared, &[v1.parser, v1.verify_checksum, v1.ingress])
}

/// Whether inline code packs and unpacks the packets of a program, and sets what the switch sets.
pub(in crate::native) fn is_plain(shared: &Shared<'_>, pipelines: &V1Pipelines) -> bool {
    let narrow = |var: VarId| shared.code.layout.var(var).is_narrow();
    let set = pipelines.set_at_egress().map(|(_, var)| var).chain(pipelines.set_at_ingress());
    let func = pipelines.v1model().deparser.index();
    let deparser = summary::of(shared, func, false);
    // A hash packs its input where the deparser emits.
    let calls = shared.program.funcs[func]
        .blocks
        .iter()
        .flat_map(|block| &block.insts)
        .any(|inst| matches!(inst, Inst::Extern(_)));
    !calls
        && pipelines.snapshot().packing().is_some()
        && set.into_iter().all(narrow)
        && !deparser.emits_by_interpreter
}
