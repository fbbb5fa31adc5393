//! The halves of a v1model program around its queues, each as one native function: nothing goes back to the switch
//! between the parser and the end of ingress, nor between egress and what the deparser emits.
//!
//! Invariant: a half leaves behind what [`crate::halves`] leaves behind when it runs the same piece by piece, but for
//! words of the frame that nothing reads before they are written ([`super::super::clear`]).

use core::ops::Range;
use std::collections::BTreeSet;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, ConstantData, Endianness, InstBuilder, MemFlags, Type, Value, types};
use cranelift_frontend::FunctionBuilder;
use p4cc_ir::{FuncId, VarId, VarKind, core_errors, limits};

use super::{Callees, Made, Shared, Translator, bytes_flags, field};
use crate::MAX_CONTROL_STEPS;
use crate::bitplan::BitPlan;
use crate::halves::Halves;
use crate::native::clear;
use crate::native::context::{ASKED, DONE, DROPPED, UNREADABLE};
use crate::native::helpers::Name;
use crate::native::plan::Home;
use crate::native::shape;
use crate::snapshot::Packing;
use crate::state::direct;

/// Words past which clearing them is a call.
const MAX_CLEARED_WORDS: u32 = 64;

/// What a part of a half is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Parser,
    Control,
}

/// Loads of bits of validity: not aligned, lowest byte first.
fn little_flags() -> MemFlags {
    bytes_flags().with_endianness(Endianness::Little)
}

impl<'a, 'f> Translator<'a, 'f> {
    /// Translates what runs before the queues.
    pub fn ingress_half(
        shared: &'a Shared<'a>,
        halves: &Halves,
        b: FunctionBuilder<'f>,
        callees: Callees,
    ) -> Made<u32> {
        let v1 = halves.v1model();
        let mut t = Self::start(shared, b, callees);
        t.vectors = direct::vectors();
        t.start_anew()?;
        t.clear(&clear::at_ingress(shared, halves));
        for (place, var) in halves.set_at_ingress().into_iter().enumerate() {
            t.set_input(place, var)?;
        }
        t.absent = shared.code.headers.iter().map(|header| header.valid).collect();
        t.part(v1.parser, Part::Parser)?;
        if clear::reads_payload(shared, &[v1.verify_checksum, v1.ingress]) {
            t.call(Name::Payload, &[]);
        }
        t.part(v1.verify_checksum, Part::Control)?;
        t.part(v1.ingress, Part::Control)?;
        let [kept, end] = core::array::from_fn(|_| t.b.create_block());
        let multicast = t.read_u32(halves.verdict_slots()[1])?;
        let group = t.b.create_block();
        t.b.ins().brif(multicast, kept, &[], group, &[]);
        t.b.switch_to_block(group);
        t.unless_dropped(halves, kept, end)?;
        t.b.switch_to_block(kept);
        if let Some(packing) = halves.snapshot().packing() {
            t.save(halves, &packing)?;
        }
        t.b.ins().jump(end, &[]);
        t.b.switch_to_block(end);
        t.spill(halves.verdict_slots())?;
        t.spill_listed()?;
        t.end_with(DONE);
        Ok(t.close())
    }

    /// Translates what runs behind the queues.
    pub fn egress_half(
        shared: &'a Shared<'a>,
        halves: &Halves,
        b: FunctionBuilder<'f>,
        callees: Callees,
    ) -> Made<u32> {
        let v1 = halves.v1model();
        let mut t = Self::start(shared, b, callees);
        t.vectors = direct::vectors();
        t.start_anew()?;
        t.clear(&clear::at_egress(shared, halves));
        if let Some(packing) = halves.snapshot().packing() {
            t.restore(halves, &packing)?;
        }
        for (place, var) in halves.set_at_egress() {
            t.set_input(place, var)?;
        }
        t.part(v1.egress, Part::Control)?;
        if clear::clones(shared, v1.egress) {
            let clones = t.call(Name::Clones, &[]);
            let [asked, next] = core::array::from_fn(|_| t.b.create_block());
            t.b.ins().brif(clones, asked, &[], next, &[]);
            t.b.switch_to_block(asked);
            t.end_asked()?;
            t.b.switch_to_block(next);
        }
        let [kept, dropped] = core::array::from_fn(|_| t.b.create_block());
        t.unless_dropped(halves, kept, dropped)?;
        t.b.switch_to_block(dropped);
        t.end_with(DROPPED);
        t.b.switch_to_block(kept);
        if halves.finish_asks() {
            t.end_asked()?;
            return Ok(t.close());
        }
        t.part(v1.compute_checksum, Part::Control)?;
        t.part(v1.deparser, Part::Control)?;
        t.spill_listed()?;
        t.flush();
        t.end_with(DONE);
        Ok(t.close())
    }

    /// Ends where the frame is looked at next.
    fn end_asked(&mut self) -> Made {
        let Shared { program, code, .. } = *self.shared;
        self.spill(code.headers.iter().map(|header| header.valid))?;
        let lasting = (0..).map(VarId::from_index).zip(&program.vars);
        let lasting = lasting.filter(|(_, var)| var.kind != VarKind::Local).map(|(id, _)| id);
        self.spill_vars(lasting)?;
        self.end_with(ASKED);
        Ok(())
    }

    fn spill_vars(&mut self, vars: impl IntoIterator<Item = VarId>) -> Made {
        for var in vars {
            let place = self.shared.code.layout.var(var);
            self.spill(place.slot..place.slot + place.words())?;
        }
        Ok(())
    }

    /// Metadata that the switch may look for in the frame after a half.
    fn spill_listed(&mut self) -> Made {
        let lists = &self.shared.program.field_lists;
        self.spill_vars(lists.iter().flat_map(|list| &list.vars).copied())
    }

    /// What lasts and lives in registers starts as zeros: no header is valid.
    fn start_anew(&mut self) -> Made {
        let Shared { program, code, plan } = *self.shared;
        let zero = self.iconst(0);
        for header in &code.headers {
            if plan.home(header.valid) == Home::Register {
                self.write(header.valid, zero)?;
            }
            if plan.chunks(header).next().is_some() {
                self.zero_fields(header, zero)?;
            }
        }
        for (id, var) in (0..).map(VarId::from_index).zip(&program.vars) {
            let place = code.layout.var(id);
            for slot in place.slot..place.slot + place.words() {
                if var.kind != VarKind::Local && plan.home(slot) == Home::Register {
                    self.write(slot, zero)?;
                }
            }
        }
        Ok(())
    }

    /// Runs one function of a half, and goes on behind it however it ends.
    fn part(&mut self, func: FuncId, part: Part) -> Made {
        let bound = core::mem::take(&mut self.emit_bound);
        self.open(shape::of(self.shared, func.index(), false));
        if self.shape.counted || !self.callees.actions.is_empty() {
            let steps = if part == Part::Parser { limits::MAX_PARSER_STEPS } else { MAX_CONTROL_STEPS };
            let steps = self.iconst(steps.into());
            self.store_field(field!(steps), steps);
        }
        self.body(func.index(), None)?;
        self.rejects()?;
        let after = self.done;
        self.b.switch_to_block(self.reject_known);
        if part == Part::Parser {
            let error = self.read(self.shared.code.parser_error)?;
            self.keep_error(error, after);
        } else {
            self.b.ins().jump(after, &[]);
        }
        self.b.switch_to_block(self.limit);
        if part == Part::Parser {
            let error = self.iconst(core_errors::PARSER_TIMEOUT.into());
            self.write(self.shared.code.parser_error, error)?;
            self.keep_error(error, after);
        } else {
            self.call(Name::LimitHit, &[]);
            self.b.ins().jump(after, &[]);
        }
        self.b.switch_to_block(after);
        if part == Part::Parser {
            self.flush_at();
        }
        self.emit_bound = self.emit_bound.max(bound);
        Ok(())
    }

    /// Keeps a parser's error for the caller: the error plus one.
    fn keep_error(&mut self, error: Value, next: Block) {
        let error = self.b.ins().band_imm(error, i64::from(u32::MAX));
        let error = self.b.ins().iadd_imm(error, 1);
        self.store_field(field!(error), error);
        self.b.ins().jump(next, &[]);
    }

    fn read_u32(&mut self, slot: u32) -> Made<Value> {
        let word = self.read(slot)?;
        Ok(self.b.ins().band_imm(word, i64::from(u32::MAX)))
    }

    /// Ends the block: goes to `dropped` where the egress specification is the drop port.
    fn unless_dropped(&mut self, halves: &Halves, kept: Block, dropped: Block) -> Made {
        let port = self.read_u32(halves.verdict_slots()[2])?;
        let drop_port = self.load_field(field!(drop_port));
        let stays = self.b.ins().icmp(IntCC::NotEqual, port, drop_port);
        self.b.ins().brif(stays, kept, &[], dropped, &[]);
        Ok(())
    }

    /// Sets a variable of one word to what the switch gives.
    fn set_input(&mut self, place: usize, var: VarId) -> Made {
        let to = self.shared.code.layout.var(var);
        let inputs = self.load_field(field!(inputs));
        let value = self.b.ins().load(types::I64, bytes_flags(), inputs, place as i32 * 8);
        let value = self.cut((64 - to.width) as u8, value);
        self.write(to.slot, value)
    }

    /// Sets words of the frame to zero.
    fn clear(&mut self, ranges: &[Range<u32>]) {
        let pairs = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));
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
                if pairs && slot + 1 < range.end {
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
    fn save(&mut self, halves: &Halves, packing: &Packing<'_>) -> Made {
        let base = self.load_field(field!(emit));
        let v1 = halves.v1model();
        let there = clear::may_be_valid(self.shared, &[v1.parser, v1.verify_checksum, v1.ingress]);
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
        let to = self.b.declare_var(types::I64);
        let first = self.b.ins().iadd_imm(metadata, i64::from(packing.metadata.bytes));
        self.b.def_var(to, first);
        let mut bound = packing.validity_bytes + packing.metadata.bytes;
        let with_fields = |header: &&(u32, &BitPlan)| there.contains(&header.0) && header.1.bytes > 0;
        for &(valid, plan) in packing.headers.iter().filter(with_fields) {
            bound += plan.bytes;
            let valid = self.read(valid)?;
            let [there, next] = core::array::from_fn(|_| self.b.create_block());
            self.b.ins().brif(valid, there, &[], next, &[]);
            self.b.switch_to_block(there);
            let here = self.b.use_var(to);
            self.store_plan(plan, here)?;
            let behind = self.b.ins().iadd_imm(here, i64::from(plan.bytes));
            self.b.def_var(to, behind);
            self.b.ins().jump(next, &[]);
            self.b.switch_to_block(next);
        }
        self.emit_bound = self.emit_bound.max(bound);
        let end = self.b.use_var(to);
        let bytes = self.b.ins().isub(end, base);
        self.store_field(field!(emitted), bytes);
        Ok(())
    }

    /// Unpacks it; where bytes are missing the half ends as one that cannot be read.
    fn restore(&mut self, halves: &Halves, packing: &Packing<'_>) -> Made {
        let brought = brought(self.shared, halves);
        let unreadable = self.b.create_block();
        self.b.set_cold_block(unreadable);
        let (base, stored) = (self.load_field(field!(packet)), self.load_field(field!(stored_bits)));
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
                    at = self.restore_header(plan, bit, (base, at, stored), unreadable)?;
                }
            }
        }
        let next = self.b.create_block();
        self.b.ins().jump(next, &[]);
        self.b.switch_to_block(unreadable);
        self.end_with(UNREADABLE);
        self.b.switch_to_block(next);
        Ok(())
    }

    /// Unpacks a header if it is there; where the next one stands.
    fn restore_header(
        &mut self,
        plan: &BitPlan,
        valid: Value,
        (base, at, stored): (Value, Value, Value),
        unreadable: Block,
    ) -> Made<Value> {
        let [there, next] = core::array::from_fn(|_| self.b.create_block());
        let behind = self.b.append_block_param(next, types::I64);
        self.b.ins().brif(valid, there, &[], next, &[at.into()]);
        self.b.switch_to_block(there);
        let end = self.b.ins().iadd_imm(at, i64::from(plan.bytes));
        self.unless_stored(end, stored, unreadable);
        let from = self.b.ins().iadd(base, at);
        self.load_plan(plan, from)?;
        self.b.ins().jump(next, &[end.into()]);
        self.b.switch_to_block(next);
        Ok(behind)
    }

    /// Goes on where so many bytes are stored.
    fn unless_stored(&mut self, bytes: Value, stored: Value, otherwise: Block) {
        let next = self.b.create_block();
        let fits = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, bytes, stored);
        self.b.ins().brif(fits, next, &[], otherwise, &[]);
        self.b.switch_to_block(next);
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

/// Headers, by their validity words, that a packet may bring to egress: those that ingress may leave, or any where egress
/// may clone what it made.
fn brought(shared: &Shared<'_>, halves: &Halves) -> BTreeSet<u32> {
    let v1 = halves.v1model();
    if clear::clones(shared, v1.egress) {
        return shared.code.headers.iter().map(|header| header.valid).collect();
    }
    clear::may_be_valid(shared, &[v1.parser, v1.verify_checksum, v1.ingress])
}

/// Whether straight code packs and unpacks the packets of a program, and sets what the switch sets.
pub(in crate::native) fn is_plain(shared: &Shared<'_>, halves: &Halves) -> bool {
    let narrow = |var: VarId| shared.code.layout.var(var).is_narrow();
    let set = halves.set_at_egress().map(|(_, var)| var).chain(halves.set_at_ingress());
    let deparser = shape::of(shared, halves.v1model().deparser.index(), false);
    halves.snapshot().packing().is_some() && set.into_iter().all(narrow) && !deparser.emits_by_machine
}
