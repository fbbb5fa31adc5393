//! The bypass of an empty queue: ingress and egress pipeline as one native function, for packets with the
//! common sets of valid headers.
//!
//! Invariant: the egress pipeline finds the same values as after saving and restoring the packet: valid
//! headers and live metadata unchanged, all other words zero.

use std::collections::BTreeSet;
use std::ops::Range;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value};
use p4cc_ir::{VarId, VarKind};

use super::state::given_flags;
use super::{Shared, TranslateResult, Translator, field};
use crate::native::context::{DEPARSED, DROPPED, WRITTEN};
use crate::native::helpers::Name;
use crate::native::storage::Storage;
use crate::native::zero_init;
use crate::op::Op;
use crate::v1_pipelines::{BYPASS_METADATA, MetadataSource, V1Pipelines};

/// Where a packet continues that bypasses its queue.
pub(super) struct Bypass {
    block: Block,
    /// The port that it leaves by.
    port: Value,
}

impl Translator<'_, '_> {
    /// Whether both pipelines may be one function: the egress pipeline makes no requests.
    pub(super) fn can_bypass(&self, pipelines: &V1Pipelines) -> bool {
        let v1 = pipelines.v1model();
        !pipelines.makes_requests() && self.is_copied(&[v1.egress, v1.compute_checksum, v1.deparser])
    }

    /// Asks the switch whether the packet bypasses its queue; if it does not, goes to `kept`.
    pub(super) fn check_bypass(&mut self, pipelines: &V1Pipelines, kept: Block) -> TranslateResult<Bypass> {
        let meta = &pipelines.v1model().metadata;
        let [single_port, block] = core::array::from_fn(|_| self.b.create_block());
        let (priority, port) = (self.read_u32(meta.priority)?, self.read_u32(meta.egress_spec)?);
        // Headers that ingress added change egress's packet length; rare enough.
        let delta = self.read(self.shared.code.layout.length_delta)?;
        self.brif(delta, kept, &[], single_port, &[]);
        self.switch_to(single_port);
        let may_bypass = self.call(Name::MayBypass, &[port, priority]);
        self.brif(may_bypass, block, &[], kept, &[]);
        Ok(Bypass { block, port })
    }

    /// Egress, checksums and the deparser, up to the end of the function.
    pub(super) fn translate_bypass(
        &mut self,
        pipelines: &V1Pipelines,
        Bypass { block, port }: Bypass,
    ) -> TranslateResult {
        self.switch_to(block);
        let v1 = pipelines.v1model();
        let egress = [v1.egress, v1.compute_checksum, v1.deparser];
        self.forget(pipelines)?;
        for (place, var) in pipelines.set_at_egress() {
            let value = match BYPASS_METADATA[place] {
                MetadataSource::Input(input) => {
                    self.set_input(given_flags(), input, var)?;
                    continue;
                }
                MetadataSource::Zero => self.iconst(0),
                MetadataSource::Port => port,
                MetadataSource::NoDrop => {
                    let drop_port = self.load_given(field!(drop_port));
                    self.b.ins().iadd_imm(drop_port, 1)
                }
            };
            self.set_given(value, var)?;
        }
        // Each programmable block counts the bits that it takes from zero.
        let taken = self.load_field(field!(at));
        if zero_init::reads_payload(self.shared, &egress) {
            self.call(Name::Payload, &[]);
        }
        self.control(v1.egress)?;
        let [kept, dropped] = core::array::from_fn(|_| self.b.create_block());
        self.unless_dropped(pipelines, kept, dropped)?;
        self.switch_to(dropped);
        self.end_with(DROPPED);
        self.switch_to(kept);
        self.control(v1.compute_checksum)?;
        let is_room = self.find_room(pipelines, taken)?;
        self.control(v1.deparser)?;
        self.emit_base = None;
        self.spill_listed()?;
        self.flush();
        let [written, deparsed] = [WRITTEN, DEPARSED].map(|end| self.iconst(end));
        let end = is_room.map_or(deparsed, |is_room| self.b.ins().select(is_room, written, deparsed));
        self.b.ins().return_(&[end]);
        Ok(())
    }

    /// What packing and unpacking leaves out becomes zero.
    fn forget(&mut self, pipelines: &V1Pipelines) -> TranslateResult {
        let Shared { program, code, plan } = *self.shared;
        let zero = self.iconst(0);
        let mut lasting = BTreeSet::new();
        for header in &code.headers {
            if self.known(header.valid) == Some(1) {
                lasting.extend(header.valid..header.valid + header.words);
            } else {
                self.zero_fields(header, zero)?;
            }
        }
        for (id, var) in (0..).map(VarId::from_index).zip(&program.vars) {
            let place = code.layout.var(id);
            if var.kind != VarKind::Metadata || pipelines.kept().contains(&id) {
                continue;
            }
            for slot in (place.slot..place.slot + place.words())
                .filter(|&slot| plan.storage_of(slot) == Storage::Register)
            {
                self.write(slot, zero)?;
            }
        }
        let cleared = zero_init::at_egress(self.shared, pipelines).into_iter().flatten();
        let cleared: Vec<Range<u32>> =
            cleared.filter(|slot| !lasting.contains(slot)).map(|slot| slot..slot + 1).collect();
        self.clear(&cleared);
        Ok(())
    }

    /// Sets where the deparser emits to: to the end of the room for the packet's new head, in front of what
    /// the parser left, if that fits; whether it does. None where it is not known how much is emitted.
    fn find_room(&mut self, pipelines: &V1Pipelines, taken: Value) -> TranslateResult<Option<Value>> {
        let Some(bytes) = self.emitted_bytes(pipelines)? else { return Ok(None) };
        let stored = self.load_given(field!(stored_bits));
        let stored = self.b.ins().ushr_imm(stored, 3);
        let taken = self.b.ins().iadd_imm(taken, 7);
        let taken = self.b.ins().ushr_imm(taken, 3);
        // Past all that is stored it wraps, and fits nowhere.
        let rest = self.b.ins().isub(stored, taken);
        let all = self.b.ins().iadd(rest, bytes);
        let [room, end] = [field!(room_bytes), field!(room_end)].map(|field| self.load_given(field));
        let [rest_fits, all_fits] =
            [rest, all].map(|bytes| self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, bytes, room));
        let fits = self.b.ins().band(rest_fits, all_fits);
        let in_room = self.b.ins().isub(end, all);
        let in_buffer = self.load_given(field!(emit));
        self.emit_base = Some(self.b.ins().select(fits, in_room, in_buffer));
        Ok(Some(fits))
    }

    /// How many bytes a deparser emits that does nothing else.
    fn emitted_bytes(&mut self, pipelines: &V1Pipelines) -> TranslateResult<Option<Value>> {
        let Shared { code, .. } = *self.shared;
        let ops = code.ops_of(pipelines.v1model().deparser.index());
        let Some((Op::Return, emits)) = ops.split_last() else { return Ok(None) };
        let (mut sure, mut sum) = (0, None);
        for op in emits {
            let Op::Emit { header } = *op else { return Ok(None) };
            let header = &code.headers[header as usize];
            let bytes = header.plan.bytes;
            match self.known(header.valid) {
                Some(valid) => sure += valid * u64::from(bytes),
                None => {
                    let valid = self.read(header.valid)?;
                    let there = self.b.ins().imul_imm(valid, i64::from(bytes));
                    sum = Some(sum.map_or(there, |sum| self.b.ins().iadd(sum, there)));
                }
            }
        }
        let sure = self.iconst(sure);
        Ok(Some(sum.map_or(sure, |sum| self.b.ins().iadd(sum, sure))))
    }
}
