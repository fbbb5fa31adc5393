//! The two halves of v1model's pipeline around the queues.
//!
//! Ingress: parser, checksum verification, ingress, then in BMv2's order clone, digests, resubmit, multicast, drop,
//! unicast. Egress, when a packet leaves its queue: egress, clone, drop, checksum update, deparser, recirculation.
//!
//! Invariant: at most [`MAX_PASSES`] resubmissions, recirculations and clones lead to any packet, so every call ends.

use std::sync::Arc;

use p4cc_exec::{CloneRequest, Effects};
use p4cc_ir::{CloneKind, V1Model};
use p4cc_units::Time;

use super::live::{LiveSet, copy_headers, set_at_egress};
use super::machine::Machine;
use super::{Arrival, LeftQueue, MAX_PASSES, copies, truncation};
use crate::core::{Core, Instance, Queued};
use crate::counters::DropCause;
use crate::packet::Packet;
use crate::pre::Replica;

/// A v1model program in its pipeline.
#[derive(Clone)]
pub(crate) struct V1Switch {
    pub machine: Machine,
    v1: V1Model,
    live: Arc<LiveSet>,
}

/// How ingress left a packet, taken from its metadata and effects.
struct Verdict {
    payload_at: u32,
    truncate: u32,
    priority: u8,
    multicast: u32,
    egress_spec: u32,
}

impl V1Switch {
    pub fn new(machine: Machine, v1: V1Model) -> Self {
        let live = Arc::new(LiveSet::new(&machine.pipeline, &v1));
        Self { machine, v1, live }
    }

    /// Takes a packet from outside through ingress into queues.
    pub fn receive(&mut self, core: &mut Core, now: Time, arrival: Arrival) {
        self.machine.frame.reset();
        let (port, stamp) = (u64::from(arrival.ingress_port), core.timestamp(now));
        self.machine.set(self.v1.metadata.ingress_port, port);
        self.machine.set(self.v1.metadata.ingress_global_timestamp, stamp);
        self.ingress(core, now, arrival);
    }

    /// What the headers that the program added and removed so far add to the packet's length as egress sees it.
    fn length_delta(&self, before: i16) -> i16 {
        let delta = self.machine.frame.length_delta(&self.machine.pipeline).saturating_add(before.into());
        delta.clamp(i16::MIN.into(), i16::MAX.into()) as i16
    }

    /// Takes a packet through ingress into queues, resubmissions included. The frame holds nothing but the metadata
    /// that the packet brings along.
    fn ingress(&mut self, core: &mut Core, now: Time, mut arrival: Arrival) {
        loop {
            let verdict = self.ingress_once(core, now, &arrival);
            if let Some(request) = last_clone(&self.machine.effects, CloneKind::I2E) {
                self.clone_to_egress(core, now, &arrival, request);
            }
            self.machine.settle(core, now);
            let Some(list) = self.machine.effects.resubmit else {
                self.forward(core, now, arrival, &verdict);
                return;
            };
            if arrival.passes >= MAX_PASSES {
                core.drop_at(arrival.ingress_port, verdict.priority, DropCause::LoopLimit);
                return;
            }
            core.counters.resubmitted += 1;
            self.start_spare(list);
            core::mem::swap(&mut self.machine.frame, &mut self.machine.spare);
            arrival.instance = Instance::Resubmitted;
            arrival.passes += 1;
        }
    }

    /// Parser, checksum verification and ingress.
    fn ingress_once(&mut self, core: &mut Core, now: Time, arrival: &Arrival) -> Verdict {
        let meta = self.v1.metadata;
        let length = arrival.packet.len();
        self.machine.set(meta.packet_length, u64::from(length));
        self.machine.set(meta.instance_type, arrival.instance as u64);
        self.machine.effects.reset();
        let payload_at = self.machine.parse(core, now, self.v1.parser, &arrival.packet);
        for func in [self.v1.verify_checksum, self.v1.ingress] {
            self.machine.run(core, now, func, &arrival.packet, payload_at, length);
        }
        Verdict {
            payload_at,
            truncate: self.machine.effects.truncate.unwrap_or(u32::MAX),
            priority: self.machine.get(meta.priority) as u8,
            multicast: self.machine.get(meta.mcast_grp) as u32,
            egress_spec: self.machine.get(meta.egress_spec) as u32,
        }
    }

    /// Makes the spare frame start a new life with the metadata of a field list.
    fn start_spare(&mut self, list: u32) {
        self.machine.spare.reset();
        let lists = &self.machine.pipeline.program().field_lists;
        if let Some(list) = lists.iter().find(|candidate| candidate.index == list) {
            self.machine.spare.copy_vars(&self.machine.pipeline, &self.machine.frame, &list.vars);
        }
    }

    /// Multicast, drop or unicast.
    fn forward(&mut self, core: &mut Core, now: Time, arrival: Arrival, verdict: &Verdict) {
        let instance = if verdict.multicast != 0 { Instance::Replica } else { Instance::Normal };
        if verdict.multicast == 0 && verdict.egress_spec == core.config.drop_port {
            core.drop_at(arrival.ingress_port, verdict.priority, DropCause::Ingress);
            return;
        }
        let length = arrival.packet.len();
        let mut packet = arrival.packet;
        self.live.save(&self.machine.frame, &mut self.machine.front);
        packet.replace_front(verdict.payload_at, &self.machine.front);
        let queued = Queued {
            packet,
            enqueued_at: now,
            length,
            saved_bytes: self.machine.front.len() as u32,
            truncate: verdict.truncate,
            rid: 0,
            length_delta: self.length_delta(0),
            ingress_port: arrival.ingress_port as u16,
            instance,
            passes: arrival.passes,
        };
        if verdict.multicast == 0 {
            core.enqueue(verdict.egress_spec, verdict.priority, queued);
            return;
        }
        let group = core.pre.group(verdict.multicast);
        let replicas = group.map(|group| group.replicas.clone()).unwrap_or_default();
        if replicas.is_empty() {
            core.drop_at(arrival.ingress_port, verdict.priority, DropCause::NoReplicas);
            return;
        }
        core.counters.copies += replicas.len() as u64 - 1;
        replicate(core, &replicas, verdict.priority, &queued);
    }

    /// Copies the packet as it came in, parsed anew, to egress.
    fn clone_to_egress(&mut self, core: &mut Core, now: Time, arrival: &Arrival, request: CloneRequest) {
        let Some(session) = core.pre.session(request.session) else { return };
        let (replicas, priority) = (session.replicas.clone(), session.class_of_service as u8);
        let truncate = truncation(session.packet_length_bytes);
        if arrival.passes >= MAX_PASSES {
            // Counted as a copy made and dropped, so that packets stay conserved.
            core.counters.copies += 1;
            core.drop_at(arrival.ingress_port, priority, DropCause::LoopLimit);
            return;
        }
        // The original's frame is set aside while the spare one parses the packet again. Effects of this parse do not
        // count, nor does the metadata that it writes (BMv2 resets it).
        let effects = core::mem::take(&mut self.machine.effects);
        core::mem::swap(&mut self.machine.frame, &mut self.machine.spare);
        self.machine.frame.reset();
        let ingress_port = u64::from(arrival.ingress_port);
        self.machine.set(self.v1.metadata.ingress_port, ingress_port);
        let payload_at = self.machine.parse(core, now, self.v1.parser, &arrival.packet);
        core::mem::swap(&mut self.machine.frame, &mut self.machine.spare);
        self.machine.effects = effects;
        let parsed = self.machine.spare.clone();
        self.start_spare_or_reset(request.field_list);
        copy_headers(&self.machine.pipeline, &parsed, &mut self.machine.spare);
        let mut packet = arrival.packet.clone();
        self.live.save(&self.machine.spare, &mut self.machine.front);
        packet.replace_front(payload_at, &self.machine.front);
        let queued = Queued {
            packet,
            enqueued_at: now,
            saved_bytes: self.machine.front.len() as u32,
            length: arrival.packet.len(),
            truncate,
            rid: 0,
            length_delta: 0,
            ingress_port: arrival.ingress_port as u16,
            instance: Instance::IngressClone,
            passes: arrival.passes + 1,
        };
        core.counters.copies += replicas.len() as u64;
        replicate(core, &replicas, priority, &queued);
    }

    fn start_spare_or_reset(&mut self, list: Option<u32>) {
        match list {
            Some(list) => self.start_spare(list),
            None => self.machine.spare.reset(),
        }
    }

    /// Takes a packet from its queue through egress. Gives it back if it is to be sent.
    pub fn egress(&mut self, core: &mut Core, now: Time, left: LeftQueue) -> Option<Packet> {
        let LeftQueue { mut queued, port, priority, enq_depth, deq_depth } = left;
        self.machine.frame.reset();
        let saved = queued.packet.head.get(..queued.saved_bytes as usize).unwrap_or_default();
        self.live.restore(saved, &mut self.machine.frame);
        self.set_egress_metadata(core, now, &queued, port, enq_depth, deq_depth);
        self.machine.effects.reset();
        self.machine.run(core, now, self.v1.egress, &queued.packet, queued.saved_bytes, queued.length);
        queued.truncate = queued.truncate.min(self.machine.effects.truncate.unwrap_or(u32::MAX));
        if let Some(request) = last_clone(&self.machine.effects, CloneKind::E2E) {
            self.clone_from_egress(core, now, &queued, request);
        }
        self.machine.settle(core, now);
        if self.machine.get(self.v1.metadata.egress_spec) as u32 == core.config.drop_port {
            core.drop_from(port, priority, DropCause::Egress);
            return None;
        }
        let recirculate = self.machine.effects.recirculate;
        self.machine.run(
            core,
            now,
            self.v1.compute_checksum,
            &queued.packet,
            queued.saved_bytes,
            queued.length,
        );
        self.machine.emit();
        let mut packet = queued.packet;
        packet.replace_front(queued.saved_bytes, &self.machine.front);
        packet.truncate(queued.truncate);
        let Some(list) = recirculate else { return Some(packet) };
        if queued.passes >= MAX_PASSES {
            core.drop_from(port, priority, DropCause::LoopLimit);
            return None;
        }
        core.counters.recirculated += 1;
        self.start_spare(list);
        core::mem::swap(&mut self.machine.frame, &mut self.machine.spare);
        let (ingress_port, passes) = (u32::from(queued.ingress_port), queued.passes + 1);
        self.ingress(core, now, Arrival { packet, ingress_port, instance: Instance::Recirculated, passes });
        None
    }

    fn set_egress_metadata(
        &mut self,
        core: &Core,
        now: Time,
        queued: &Queued,
        port: u32,
        enq_depth: u32,
        deq_depth: u32,
    ) {
        let meta = self.v1.metadata;
        let (enqueued, left) = (core.timestamp(queued.enqueued_at), core.timestamp(now));
        // BMv2 starts egress with a value that is not the drop port; most programs never look at it.
        let not_drop = u64::from(core.config.drop_port) + 1;
        // In the order of `set_at_egress`; what nothing reads is left out, but the drop decision reads the
        // egress specification.
        let values = [
            not_drop,
            u64::from(port),
            queued.instance as u64,
            u64::from(queued.length.saturating_add_signed(queued.length_delta.into())),
            enqueued,
            u64::from(enq_depth),
            left - enqueued,
            u64::from(deq_depth),
            left,
            u64::from(queued.rid),
        ];
        for ((var, value), read) in
            set_at_egress(&self.v1).into_iter().zip(values).zip(self.live.egress_reads())
        {
            if *read || var == meta.egress_spec {
                self.machine.frame.set(&self.machine.pipeline, var, value);
            }
        }
    }

    /// Copies the packet, with its headers as egress left them, to egress again.
    fn clone_from_egress(&mut self, core: &mut Core, now: Time, queued: &Queued, request: CloneRequest) {
        let Some(session) = core.pre.session(request.session) else { return };
        let (replicas, priority) = (session.replicas.clone(), session.class_of_service as u8);
        let truncate = truncation(session.packet_length_bytes).min(queued.truncate);
        if queued.passes >= MAX_PASSES {
            core.counters.copies += 1;
            core.drop_at(u32::from(queued.ingress_port), priority, DropCause::LoopLimit);
            return;
        }
        let length_delta = self.length_delta(queued.length_delta);
        self.start_spare_or_reset(request.field_list);
        copy_headers(&self.machine.pipeline, &self.machine.frame, &mut self.machine.spare);
        let mut packet = queued.packet.clone();
        self.live.save(&self.machine.spare, &mut self.machine.front);
        packet.replace_front(queued.saved_bytes, &self.machine.front);
        let copy = Queued {
            packet,
            saved_bytes: self.machine.front.len() as u32,
            enqueued_at: now,
            truncate,
            rid: 0,
            length_delta,
            instance: Instance::EgressClone,
            passes: queued.passes + 1,
            ..*queued
        };
        core.counters.copies += replicas.len() as u64;
        replicate(core, &replicas, priority, &copy);
    }
}

/// Puts one copy for each replica into its queue.
fn replicate(core: &mut Core, replicas: &[Replica], priority: u8, queued: &Queued) {
    for (port, copy) in copies(replicas, queued) {
        core.enqueue(port, priority, copy);
    }
}

/// The last clone of a kind counts (v1model).
fn last_clone(effects: &Effects, kind: CloneKind) -> Option<CloneRequest> {
    effects.clones.iter().rev().find(|request| request.kind == kind).copied()
}
