//! A loaded program and the two halves of v1model's pipeline around the queues.
//!
//! Ingress: parser, checksum verification, ingress, then in BMv2's order clone, digests, resubmit, multicast, drop,
//! unicast. Egress, when a packet leaves its queue: egress, clone, drop, checksum update, deparser, recirculation.
//!
//! Invariant: at most [`MAX_PASSES`] resubmissions, recirculations and clones lead to any packet, so every call ends.

use std::sync::Arc;

use p4cc_exec::{CloneRequest, Effects, Env, Executor, Frame, PacketView, Pipeline, State};
use p4cc_ir::{Architecture, CloneKind, FuncId, V1Model, VarId};
use p4cc_units::Time;

use crate::core::{Core, Instance, Queued};
use crate::counters::DropCause;
use crate::live::{LiveSet, copy_headers, set_at_egress};
use crate::packet::Packet;
use crate::pre::Replica;

/// Most resubmissions, recirculations and clones that may lead to one packet.
pub const MAX_PASSES: u8 = 64;

/// A program with its state and its working memory.
#[derive(Clone)]
pub(crate) struct Program {
    pub pipeline: Arc<Pipeline>,
    pub state: State,
    v1: V1Model,
    live: Arc<LiveSet>,
    frame: Frame,
    /// Second frame: what a clone or the next pass starts from.
    spare: Frame,
    effects: Effects,
    /// What goes in front of a packet: the live part of its frame, or the headers as the deparser wrote them.
    front: Vec<u8>,
}

/// A packet at the entrance of the parser.
pub(crate) struct Arrival {
    pub packet: Packet,
    pub ingress_port: u32,
    pub instance: Instance,
    pub passes: u8,
}

/// How ingress left a packet, taken from its metadata and effects.
struct Verdict {
    payload_at: u32,
    truncate: u32,
    priority: u8,
    multicast: u32,
    egress_spec: u32,
}

impl Program {
    pub fn new(pipeline: Arc<Pipeline>, drop_port: u32) -> Self {
        let Architecture::V1Model(v1) = pipeline.program().architecture;
        let mut state = State::new(&pipeline);
        state.set_drop_port(drop_port);
        Self {
            state,
            v1,
            live: Arc::new(LiveSet::new(&pipeline)),
            frame: Frame::new(&pipeline),
            spare: Frame::new(&pipeline),
            effects: Effects::default(),
            front: Vec::new(),
            pipeline,
        }
    }

    /// Takes a packet from outside through ingress into queues.
    pub fn receive(&mut self, core: &mut Core, now: Time, arrival: Arrival) {
        self.frame.reset();
        let (port, stamp) = (u64::from(arrival.ingress_port), core.timestamp(now));
        self.set(self.v1.metadata.ingress_port, port);
        self.set(self.v1.metadata.ingress_global_timestamp, stamp);
        self.ingress(core, now, arrival);
    }

    /// Whether the text of `log_msg` is kept.
    pub fn set_logging(&mut self, on: bool) {
        self.effects.keep_logs = on;
    }

    fn set(&mut self, var: VarId, value: u64) {
        self.frame.set(&self.pipeline, var, value);
    }

    fn get(&self, var: VarId) -> u64 {
        self.frame.get(&self.pipeline, var)
    }

    /// What the headers that the program added and removed so far add to the packet's length as egress sees it.
    fn length_delta(&self, before: i16) -> i16 {
        let delta = self.frame.length_delta(&self.pipeline).saturating_add(before.into());
        delta.clamp(i16::MIN.into(), i16::MAX.into()) as i16
    }

    /// Takes a packet through ingress into queues, resubmissions included. The frame holds nothing but the metadata
    /// that the packet brings along.
    fn ingress(&mut self, core: &mut Core, now: Time, mut arrival: Arrival) {
        loop {
            let verdict = self.ingress_once(core, now, &arrival);
            if let Some(request) = last_clone(&self.effects, CloneKind::I2E) {
                self.clone_to_egress(core, now, &arrival, request);
            }
            core.keep_digests(&mut self.effects.digests);
            core.keep_logs(now, &mut self.effects.logs);
            core.counters.assertions_failed += self.effects.assertion_failures.len() as u64;
            let Some(list) = self.effects.resubmit else {
                self.forward(core, now, arrival, &verdict);
                return;
            };
            if arrival.passes >= MAX_PASSES {
                core.drop_at(arrival.ingress_port, verdict.priority, DropCause::LoopLimit);
                return;
            }
            core.counters.resubmitted += 1;
            self.start_spare(list);
            core::mem::swap(&mut self.frame, &mut self.spare);
            arrival.instance = Instance::Resubmitted;
            arrival.passes += 1;
        }
    }

    /// Parser, checksum verification and ingress.
    fn ingress_once(&mut self, core: &mut Core, now: Time, arrival: &Arrival) -> Verdict {
        let meta = self.v1.metadata;
        let length = arrival.packet.len();
        self.set(meta.packet_length, u64::from(length));
        self.set(meta.instance_type, arrival.instance as u64);
        self.effects.reset();
        let payload_at = self.parse(core, now, &arrival.packet);
        for func in [self.v1.verify_checksum, self.v1.ingress] {
            self.run(core, now, func, &arrival.packet, payload_at, length);
        }
        Verdict {
            payload_at,
            truncate: self.effects.truncate.unwrap_or(u32::MAX),
            priority: self.get(meta.priority) as u8,
            multicast: self.get(meta.mcast_grp) as u32,
            egress_spec: self.get(meta.egress_spec) as u32,
        }
    }

    /// Parses into the frame; returns the number of bytes taken.
    fn parse(&mut self, core: &mut Core, now: Time, packet: &Packet) -> u32 {
        let view = PacketView { bytes: &packet.head, zeros: packet.zeros };
        let mut env = Env {
            state: &mut self.state,
            effects: &mut self.effects,
            random: &mut core.random,
            packet_length: packet.len(),
            payload: PacketView::default(),
            now,
        };
        let outcome = self.pipeline.parse(&mut self.frame, view, &mut env);
        core.counters.parser_errors += u64::from(outcome.error.is_some());
        // A byte that was taken in part is gone for the deparser, as in BMv2.
        outcome.consumed_bits.div_ceil(8)
    }

    fn run(
        &mut self,
        core: &mut Core,
        now: Time,
        func: FuncId,
        packet: &Packet,
        payload_at: u32,
        length: u32,
    ) {
        let in_head = packet.head.len().min(payload_at as usize);
        let zeros = packet.zeros - packet.zeros.min(payload_at - in_head as u32);
        let mut env = Env {
            state: &mut self.state,
            effects: &mut self.effects,
            random: &mut core.random,
            packet_length: length,
            payload: PacketView { bytes: &packet.head[in_head..], zeros },
            now,
        };
        self.pipeline.run(func, &mut self.frame, &mut env);
    }

    /// Makes the spare frame start a new life with the metadata of a field list.
    fn start_spare(&mut self, list: u32) {
        self.spare.reset();
        let lists = &self.pipeline.program().field_lists;
        if let Some(list) = lists.iter().find(|candidate| candidate.index == list) {
            self.spare.copy_vars(&self.pipeline, &self.frame, &list.vars);
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
        self.live.save(&self.frame, &mut self.front);
        packet.replace_front(verdict.payload_at, &self.front);
        let queued = Queued {
            packet,
            enqueued_at: now,
            length,
            saved_bytes: self.front.len() as u32,
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
        let effects = core::mem::take(&mut self.effects);
        core::mem::swap(&mut self.frame, &mut self.spare);
        self.frame.reset();
        let ingress_port = u64::from(arrival.ingress_port);
        self.set(self.v1.metadata.ingress_port, ingress_port);
        let payload_at = self.parse(core, now, &arrival.packet);
        core::mem::swap(&mut self.frame, &mut self.spare);
        self.effects = effects;
        let parsed = self.spare.clone();
        self.start_spare_or_reset(request.field_list);
        copy_headers(&self.pipeline, &parsed, &mut self.spare);
        let mut packet = arrival.packet.clone();
        self.live.save(&self.spare, &mut self.front);
        packet.replace_front(payload_at, &self.front);
        let queued = Queued {
            packet,
            enqueued_at: now,
            saved_bytes: self.front.len() as u32,
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
            None => self.spare.reset(),
        }
    }

    /// Takes a packet from its queue through egress. Gives it back if it is to be sent.
    pub fn egress(&mut self, core: &mut Core, now: Time, left: LeftQueue) -> Option<Packet> {
        let LeftQueue { mut queued, port, priority, enq_depth, deq_depth } = left;
        self.frame.reset();
        let saved = queued.packet.head.get(..queued.saved_bytes as usize).unwrap_or_default();
        self.live.restore(saved, &mut self.frame);
        self.set_egress_metadata(core, now, &queued, port, enq_depth, deq_depth);
        self.effects.reset();
        self.run(core, now, self.v1.egress, &queued.packet, queued.saved_bytes, queued.length);
        queued.truncate = queued.truncate.min(self.effects.truncate.unwrap_or(u32::MAX));
        if let Some(request) = last_clone(&self.effects, CloneKind::E2E) {
            self.clone_from_egress(core, now, &queued, request);
        }
        core.keep_digests(&mut self.effects.digests);
        core.keep_logs(now, &mut self.effects.logs);
        core.counters.assertions_failed += self.effects.assertion_failures.len() as u64;
        if self.get(self.v1.metadata.egress_spec) as u32 == core.config.drop_port {
            core.drop_from(port, priority, DropCause::Egress);
            return None;
        }
        let recirculate = self.effects.recirculate;
        self.run(core, now, self.v1.compute_checksum, &queued.packet, queued.saved_bytes, queued.length);
        self.front.clear();
        self.pipeline.deparse(&mut self.frame, &mut self.front);
        let mut packet = queued.packet;
        packet.replace_front(queued.saved_bytes, &self.front);
        packet.truncate(queued.truncate);
        let Some(list) = recirculate else { return Some(packet) };
        if queued.passes >= MAX_PASSES {
            core.drop_from(port, priority, DropCause::LoopLimit);
            return None;
        }
        core.counters.recirculated += 1;
        self.start_spare(list);
        core::mem::swap(&mut self.frame, &mut self.spare);
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
                self.frame.set(&self.pipeline, var, value);
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
        copy_headers(&self.pipeline, &self.frame, &mut self.spare);
        let mut packet = queued.packet.clone();
        self.live.save(&self.spare, &mut self.front);
        packet.replace_front(queued.saved_bytes, &self.front);
        let copy = Queued {
            packet,
            saved_bytes: self.front.len() as u32,
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

/// A packet that just left a queue.
pub(crate) struct LeftQueue {
    pub queued: Queued,
    pub port: u32,
    pub priority: u8,
    pub enq_depth: u32,
    pub deq_depth: u32,
}

/// Puts one copy for each replica into its queue.
fn replicate(core: &mut Core, replicas: &[Replica], priority: u8, queued: &Queued) {
    for replica in replicas {
        core.enqueue(replica.port, priority, Queued { rid: replica.instance, ..queued.clone() });
    }
}

/// The last clone of a kind counts (v1model).
fn last_clone(effects: &Effects, kind: CloneKind) -> Option<CloneRequest> {
    effects.clones.iter().rev().find(|request| request.kind == kind).copied()
}

/// Length that a session cuts to; 0 means whole packets.
fn truncation(packet_length_bytes: u32) -> u32 {
    if packet_length_bytes == 0 { u32::MAX } else { packet_length_bytes }
}
