//! v1model's ingress and egress pipeline.
//!
//! Ingress is parser, checksum verification and ingress control, then in BMv2's order clone, digests,
//! resubmit, multicast, drop, unicast. Egress runs when a packet leaves its queue: egress control, clone,
//! drop, checksum computation, deparser, recirculation.
//!
//! A packet whose queue is full may run through ingress once more (p4cc's extension, off by default).
//!
//! Native code may take a packet past its empty queue. The decision is [`BypassCheck`]'s. A packet that
//! causes a PFC (IEEE 802.1Qbb) pause does not bypass its queue.
//!
//! Invariant: resubmissions, recirculations, deflections and copies of a received packet are bounded
//! ([`crate::lineage`]), so every call ends. Resubmissions and deflections take no stack.

use p4cc_exec::{
    BypassEnd, BypassResult, CloneRequest, Effects, EgressEnd, EgressMetadata, EgressStart, Frame,
    IngressStart, PacketView, ParseResult, Pipeline, QueueBypass, Verdict,
};
use p4cc_ir::{CloneKind, HeaderId, V1Model};
use p4cc_units::Time;

use super::runtime::{Runtime, view};
use super::{Architecture, Arrival, IngressResult, Left, copies, truncation};
use crate::core::{Core, Instance, QueueId, Queued};
use crate::counters::DropCause;
use crate::lineage::Lineage;
use crate::packet::Packet;
use crate::pre::{Target, targets};
use crate::tm::{Admitted, PortIndex, TrafficManager};
use crate::trace::Step;

/// A v1model program in its pipeline.
#[derive(Clone)]
pub(crate) struct V1Switch {
    pub runtime: Runtime,
    v1: V1Model,
}

/// Decides whether a packet bypasses its queue, and counts it in and out of the queue if it does.
struct BypassCheck<'t, F> {
    tm: &'t mut TrafficManager<Queued>,
    length: u32,
    ingress: PortIndex,
    is_free: F,
    decision: BypassDecision,
}

/// The decision, with the packet's queue.
enum BypassDecision {
    NotChecked,
    /// The port is [`PortIndex::NOWHERE`] if it has no queues.
    Waits(PortIndex, QueueId),
    Refused(DropCause),
    /// The neighbour that sent it is to pause, and the pause leaves before the packet does.
    Pauses(Admitted),
    Bypasses(PortIndex, QueueId),
}

impl<F: Fn(u32) -> bool> QueueBypass for BypassCheck<'_, F> {
    #[inline]
    fn may_bypass(&mut self, port: u32, priority: u8) -> bool {
        let Self { tm, length, ingress, is_free, decision } = self;
        let to = QueueId { port, priority };
        let index = tm.port(port).unwrap_or(PortIndex::NOWHERE);
        if index == PortIndex::NOWHERE || !tm.can_bypass(index, priority) || !is_free(port) {
            *decision = BypassDecision::Waits(index, to);
            return false;
        }
        if tm.try_bypass(index, priority, *length, *ingress) {
            *decision = BypassDecision::Bypasses(index, to);
            return true;
        }
        self.admit_bypass(index, to)
    }
}

impl<F> BypassCheck<'_, F> {
    /// The same where the shared buffer refuses the packet, or has more to do.
    #[cold]
    fn admit_bypass(&mut self, index: PortIndex, to: QueueId) -> bool {
        if !self.tm.has_room(index, to.priority, self.length) {
            // Where packets wait, what finds no room is dropped or deflected.
            self.decision = BypassDecision::Waits(index, to);
            return false;
        }
        self.decision = match self.tm.admit(index, to.priority, self.length, Some(self.ingress)) {
            Ok(admitted) if admitted.pauses => BypassDecision::Pauses(admitted),
            Ok(admitted) => {
                self.tm.bypass(&admitted);
                BypassDecision::Bypasses(index, to)
            }
            Err(cause) => BypassDecision::Refused(cause),
        };
        matches!(self.decision, BypassDecision::Bypasses(..))
    }
}

/// A packet behind ingress that goes to one port, and has nothing else done with it. Its headers are in the
/// frame: it is enqueued before another packet is parsed.
struct UnicastPacket {
    packet: Packet,
    /// In bytes.
    length: u32,
    /// Bytes that the parser took.
    payload_at: u32,
    ingress_port: u32,
    lineage: Lineage,
}

impl UnicastPacket {
    #[inline(always)]
    fn new(arrival: Arrival, payload_at: u32) -> Self {
        let Arrival { packet, length, ingress_port, lineage, .. } = arrival;
        Self { packet, length, payload_at, ingress_port, lineage }
    }
}

/// How ingress left a packet.
struct AfterIngress {
    payload_at: u32,
    verdict: Verdict,
}

impl Architecture for V1Switch {
    fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    fn runtime_mut(&mut self) -> &mut Runtime {
        &mut self.runtime
    }

    #[inline(always)]
    fn receive(&mut self, core: &mut Core, now: Time, arrival: Arrival) {
        let outside = (arrival.ingress_port, core.timestamp(now));
        let after = self.ingress_once(core, now, &arrival, Some(outside));
        self.queue_or_serve(core, now, arrival, after);
    }

    #[inline(always)]
    fn receive_with_bypass(
        &mut self,
        core: &mut Core,
        now: Time,
        arrival: Arrival,
        ingress: PortIndex,
        is_free: impl Fn(u32) -> bool,
    ) -> IngressResult {
        if core.trace.is_on() {
            self.receive(core, now, arrival);
            return IngressResult::Done;
        }
        self.runtime.effects.reset();
        let start = IngressStart {
            packet: view(&arrival.packet),
            outside: Some((arrival.ingress_port, core.timestamp(now))),
            instance_type: Instance::NORMAL.code().into(),
            drop_port: core.drop_port,
        };
        let length = arrival.length;
        let mut check =
            BypassCheck { tm: &mut core.tm, length, ingress, is_free, decision: BypassDecision::NotChecked };
        let Some(passage) = self.runtime.ingress_with_bypass(
            &mut core.random,
            now,
            &arrival.packet,
            start,
            length,
            &mut check,
        ) else {
            self.receive(core, now, arrival);
            return IngressResult::Done;
        };
        match (passage, check.decision) {
            (BypassResult::Written { bytes, taken }, BypassDecision::Bypasses(index, _)) => {
                if !self.runtime.effects.is_empty() {
                    self.runtime.settle(core, now);
                }
                IngressResult::Leaves(index, self.runtime.written(arrival.packet, bytes, taken))
            }
            // As `after_native_ingress` does it, without a step between.
            (BypassResult::Other(outcome, BypassEnd::Waits), BypassDecision::Waits(index, to))
                if index != PortIndex::NOWHERE && outcome.error.is_none() && !core.deflect_on_drop =>
            {
                let unicast = UnicastPacket::new(arrival, outcome.consumed_bytes());
                self.enqueue_at(core, now, unicast, [index, ingress], to.priority);
                IngressResult::Done
            }
            (BypassResult::Other(outcome, end), decision) => {
                self.after_native_ingress(core, now, arrival, outcome, end, decision)
            }
            // Unreachable: `Written` implies that `may_bypass` returned true.
            (BypassResult::Written { .. }, _) => IngressResult::Done,
        }
    }

    #[inline(always)]
    fn egress(&mut self, core: &mut Core, now: Time, mut packet: Packet, left: Left) -> Option<Packet> {
        let metadata = egress_metadata(core, now, &left);
        let (saved, bytes) = packet.head.split_at_checked(left.saved_bytes as usize).unwrap_or_default();
        let payload = PacketView { bytes, zeros: packet.zeros };
        self.runtime.effects.reset();
        let start = EgressStart { saved, metadata, drop_port: core.drop_port };
        let end = self.runtime.egress(core, now, start, payload, left.length);
        if end != EgressEnd::Deparsed || !self.runtime.effects.is_empty() {
            let from = QueueId { port: left.port, priority: left.priority };
            return self.after_egress(core, now, left.queued(packet), from, end);
        }
        packet.head.splice(left.saved_bytes as usize, self.runtime.frame.front());
        if left.truncate != u32::MAX {
            packet.truncate(left.truncate);
        }
        Some(packet)
    }
}

impl V1Switch {
    pub fn new(runtime: Runtime, v1: V1Model) -> Self {
        Self { runtime, v1 }
    }

    /// Enqueues a packet behind ingress that goes to one port and asks for nothing else; otherwise does what
    /// it asks for.
    #[inline(always)]
    fn queue_or_serve(&mut self, core: &mut Core, now: Time, arrival: Arrival, after: AfterIngress) {
        let Verdict { priority, mcast_grp, egress_spec } = after.verdict;
        if mcast_grp != 0 || egress_spec == core.drop_port || !self.runtime.effects.is_empty() {
            self.after_ingress(core, now, arrival, after);
            return;
        }
        let unicast = UnicastPacket::new(arrival, after.payload_at);
        self.enqueue(core, now, QueueId { port: egress_spec, priority }, unicast);
    }

    #[inline(never)]
    fn enqueue(&mut self, core: &mut Core, now: Time, to: QueueId, unicast: UnicastPacket) {
        if core.deflect_on_drop && !core.has_room(to.port, to.priority, unicast.length) {
            return self.deflect_unicast(core, now, to, unicast);
        }
        core.enqueue_in_line(to.port, to.priority, self.queued(now, unicast));
    }

    /// Enqueues a packet of native code at a port that has queues; of the two ports, the second is the one
    /// that it came in on. Nobody traces it, and it is not deflected.
    #[inline(never)]
    fn enqueue_at(
        &mut self,
        core: &mut Core,
        now: Time,
        unicast: UnicastPacket,
        [port, ingress]: [PortIndex; 2],
        priority: u8,
    ) {
        match core.tm.admit(port, priority, unicast.length, Some(ingress)) {
            Ok(admitted) => core.tm.put(admitted, self.queued(now, unicast)),
            Err(cause) => core.counters.drops.add(cause),
        }
    }

    #[cold]
    fn deflect_unicast(&mut self, core: &mut Core, now: Time, full: QueueId, unicast: UnicastPacket) {
        let UnicastPacket { packet, length, ingress_port, lineage, .. } = unicast;
        let mut arrival = Arrival { packet, length, ingress_port, instance: Instance::NORMAL, lineage };
        if let Some(after) = self.deflect(core, now, full, &mut arrival) {
            self.serve(core, now, arrival, after, false);
        }
    }

    /// Takes a packet whose queue is full through ingress once more, as it came in.
    /// None if its lineage allows no further pass: it is dropped.
    #[cold]
    fn deflect(
        &mut self,
        core: &mut Core,
        now: Time,
        full: QueueId,
        arrival: &mut Arrival,
    ) -> Option<AfterIngress> {
        if core.allow(&mut arrival.lineage, 1, full) == 0 {
            return None;
        }
        let QueueId { port, priority } = full;
        core.counters.deflected += 1;
        core.trace.keep(|| Step::Deflected { port, priority });
        arrival.instance = Instance::DEFLECTED;
        let outside = (arrival.ingress_port, core.timestamp(now));
        Some(self.ingress_once(core, now, arrival, Some(outside)))
    }

    /// Continues with a packet that waits, or whose new headers do not fit in front of its payload.
    #[inline(never)]
    fn after_native_ingress(
        &mut self,
        core: &mut Core,
        now: Time,
        arrival: Arrival,
        outcome: ParseResult,
        end: BypassEnd,
        decision: BypassDecision,
    ) -> IngressResult {
        if outcome.error.is_some() {
            core.counters.parser_errors += 1;
        }
        let payload_at = outcome.consumed_bytes();
        match (end, decision) {
            (BypassEnd::Waits, BypassDecision::Waits(_, to)) => {
                self.enqueue(core, now, to, UnicastPacket::new(arrival, payload_at));
                IngressResult::Done
            }
            (BypassEnd::Deparsed, BypassDecision::Bypasses(index, _)) => {
                self.runtime.settle(core, now);
                let mut packet = arrival.packet;
                packet.replace_front(payload_at, self.runtime.frame.front());
                IngressResult::Leaves(index, packet)
            }
            (BypassEnd::Waits, BypassDecision::Refused(cause)) => {
                core.counters.drops.add(cause);
                IngressResult::Done
            }
            (BypassEnd::Waits, BypassDecision::Pauses(admitted)) => {
                let unicast = UnicastPacket::new(arrival, payload_at);
                core.tm.put(admitted, self.queued(now, unicast));
                IngressResult::Done
            }
            (BypassEnd::Dropped, BypassDecision::Bypasses(index, from)) => {
                self.runtime.settle(core, now);
                core.drop_from(from.port, from.priority, DropCause::Egress);
                IngressResult::Dropped(index)
            }
            // Native code did not reach the decision.
            (_, _) => {
                let after = AfterIngress { payload_at, verdict: self.runtime.verdict() };
                self.queue_or_serve(core, now, arrival, after);
                IngressResult::Done
            }
        }
    }

    /// A packet as it waits in a queue: the live part of the frame in place of what was parsed.
    #[inline(always)]
    fn queued(&self, now: Time, unicast: UnicastPacket) -> Queued {
        let UnicastPacket { mut packet, length, payload_at, ingress_port, lineage } = unicast;
        let front = self.runtime.frame.front();
        packet.replace_front(payload_at, front);
        Queued {
            packet,
            enqueued_at: now,
            length,
            saved_bytes: front.len() as u32,
            truncate: u32::MAX,
            rid: 0,
            length_delta: self.length_delta(0),
            ingress_port: ingress_port as u16,
            instance: Instance::NORMAL,
            lineage,
        }
    }

    /// What the headers that the program added and removed
    /// so far add to the packet's length as egress sees it.
    #[inline]
    fn length_delta(&self, before: i16) -> i16 {
        match self.runtime.frame.length_delta(&self.runtime.pipeline) {
            0 => before,
            delta => delta.saturating_add(before.into()).clamp(i16::MIN.into(), i16::MAX.into()) as i16,
        }
    }

    /// Takes a packet that is not from outside through ingress into queues, resubmissions included. The frame
    /// holds nothing but the metadata that it brings along.
    fn ingress(&mut self, core: &mut Core, now: Time, arrival: Arrival) {
        let after = self.ingress_again(core, now, &arrival);
        self.after_ingress(core, now, arrival, after);
    }

    /// Takes a packet behind ingress into queues, resubmissions and a deflection included.
    #[inline(never)]
    fn after_ingress(&mut self, core: &mut Core, now: Time, arrival: Arrival, after: AfterIngress) {
        let may_deflect = core.deflect_on_drop;
        self.serve(core, now, arrival, after, may_deflect);
    }

    /// The same. A packet that was deflected may not be again, even if it was resubmitted since.
    fn serve(
        &mut self,
        core: &mut Core,
        now: Time,
        mut arrival: Arrival,
        mut after: AfterIngress,
        mut may_deflect: bool,
    ) {
        loop {
            if let Some(request) = last_clone(&self.runtime.effects, CloneKind::I2E) {
                self.clone_to_egress(core, now, &mut arrival, request);
            }
            self.runtime.settle(core, now);
            let next = if let Some(list) = self.runtime.effects.resubmit {
                self.resubmit(core, now, &mut arrival, after.verdict.priority, list)
            } else if may_deflect && let Some(full) = self.full_queue(core, &arrival, &after.verdict) {
                may_deflect = false;
                self.deflect(core, now, full, &mut arrival)
            } else {
                return self.forward(core, now, arrival, &after);
            };
            let Some(next) = next else { return };
            after = next;
        }
    }

    /// Runs ingress again. None if the packet's lineage allows no further pass: it is dropped.
    fn resubmit(
        &mut self,
        core: &mut Core,
        now: Time,
        arrival: &mut Arrival,
        priority: u8,
        list: u32,
    ) -> Option<AfterIngress> {
        let against = QueueId { port: arrival.ingress_port, priority };
        if core.allow(&mut arrival.lineage, 1, against) == 0 {
            return None;
        }
        core.counters.resubmitted += 1;
        self.start_spare(list);
        core::mem::swap(&mut self.runtime.frame, &mut self.runtime.spare);
        arrival.instance = Instance::RESUBMITTED;
        Some(self.ingress_again(core, now, arrival))
    }

    /// The queue of a packet for one port, if it has no room for it.
    fn full_queue(&self, core: &Core, arrival: &Arrival, verdict: &Verdict) -> Option<QueueId> {
        let Verdict { priority, mcast_grp, egress_spec: port } = *verdict;
        if mcast_grp != 0 || port == core.drop_port {
            return None;
        }
        let length = arrival.length.min(self.runtime.effects.truncate.unwrap_or(u32::MAX));
        (!core.has_room(port, priority, length)).then_some(QueueId { port, priority })
    }

    /// The same for a packet that is not from outside.
    #[inline(never)]
    fn ingress_again(&mut self, core: &mut Core, now: Time, arrival: &Arrival) -> AfterIngress {
        self.ingress_once(core, now, arrival, None)
    }

    /// Parser, checksum verification and ingress.
    #[inline(always)]
    fn ingress_once(
        &mut self,
        core: &mut Core,
        now: Time,
        arrival: &Arrival,
        outside: Option<(u32, u64)>,
    ) -> AfterIngress {
        self.runtime.effects.reset();
        let start = IngressStart {
            packet: view(&arrival.packet),
            outside,
            instance_type: arrival.instance.code().into(),
            drop_port: core.drop_port,
        };
        let payload_at = self.runtime.ingress(core, now, start, arrival.length);
        AfterIngress { payload_at, verdict: self.runtime.verdict() }
    }

    /// Makes the spare frame start a new life with the metadata of a field list.
    fn start_spare(&mut self, list: u32) {
        self.runtime.spare.reset();
        let lists = &self.runtime.pipeline.program().field_lists;
        if let Some(list) = lists.iter().find(|candidate| candidate.index == list) {
            self.runtime.spare.copy_vars(&self.runtime.pipeline, &self.runtime.frame, &list.vars);
        }
    }

    /// Multicast, drop or unicast.
    fn forward(&mut self, core: &mut Core, now: Time, arrival: Arrival, after: &AfterIngress) {
        let AfterIngress { payload_at, ref verdict } = *after;
        let truncate = self.runtime.effects.truncate.unwrap_or(u32::MAX);
        let instance = match verdict.mcast_grp {
            0 if arrival.instance == Instance::DEFLECTED => Instance::DEFLECTED,
            0 => Instance::NORMAL,
            _ => Instance::REPLICA,
        };
        if verdict.mcast_grp == 0 && verdict.egress_spec == core.drop_port {
            core.drop_at(arrival.ingress_port, verdict.priority, DropCause::Ingress);
            return;
        }
        let ingress_port = arrival.ingress_port;
        let unicast = UnicastPacket::new(arrival, payload_at);
        let mut queued = Queued { truncate, instance, ..self.queued(now, unicast) };
        if verdict.mcast_grp == 0 {
            core.enqueue(verdict.egress_spec, verdict.priority, queued);
            return;
        }
        let group = core.pre.group(verdict.mcast_grp);
        let replicas = group.map(|group| targets(&group.replicas, &core.ports_down)).unwrap_or_default();
        if replicas.is_empty() {
            core.drop_at(ingress_port, verdict.priority, DropCause::NoReplicas);
            return;
        }
        let against = QueueId { port: ingress_port, priority: verdict.priority };
        let copies = core.allow_copies(&mut queued.lineage, replicas.len() - 1, against);
        replicate(core, &replicas[..=copies], verdict.priority, &queued);
    }

    /// Copies the packet as it came in, parsed anew, to egress.
    fn clone_to_egress(&mut self, core: &mut Core, now: Time, arrival: &mut Arrival, request: CloneRequest) {
        let Some(session) = core.pre.session(request.session) else { return };
        let (replicas, priority) =
            (targets(&session.replicas, &core.ports_down), session.class_of_service as u8);
        let truncate = truncation(session.packet_length_bytes);
        let against = QueueId { port: arrival.ingress_port, priority };
        let copies = core.allow_copies(&mut arrival.lineage, replicas.len(), against);
        if copies == 0 {
            return;
        }
        // The original's frame is set aside while the spare one parses the packet again. Effects of this
        // parse do not count, nor does the metadata that it writes (BMv2 resets it).
        let effects = core::mem::take(&mut self.runtime.effects);
        core::mem::swap(&mut self.runtime.frame, &mut self.runtime.spare);
        self.runtime.frame.reset();
        let ingress_port = u64::from(arrival.ingress_port);
        self.runtime.set(self.v1.metadata.ingress_port, ingress_port);
        let payload_at = self.runtime.parse(core, now, self.v1.parser, &arrival.packet).consumed_bytes();
        core::mem::swap(&mut self.runtime.frame, &mut self.runtime.spare);
        self.runtime.effects = effects;
        let parsed = self.runtime.spare.clone();
        self.start_spare_or_reset(request.field_list);
        copy_headers(&self.runtime.pipeline, &parsed, &mut self.runtime.spare);
        let mut packet = arrival.packet.clone();
        let saved = self.runtime.saved_spare();
        packet.replace_front(payload_at, &saved);
        let queued = Queued {
            packet,
            enqueued_at: now,
            saved_bytes: saved.len() as u32,
            length: arrival.length,
            truncate,
            rid: 0,
            length_delta: 0,
            ingress_port: arrival.ingress_port as u16,
            instance: Instance::INGRESS_CLONE,
            lineage: arrival.lineage,
        };
        replicate(core, &replicas[..copies], priority, &queued);
    }

    fn start_spare_or_reset(&mut self, list: Option<u32>) {
        match list {
            Some(list) => self.start_spare(list),
            None => self.runtime.spare.reset(),
        }
    }

    /// Continues with a packet that egress dropped or made a request for.
    #[cold]
    fn after_egress(
        &mut self,
        core: &mut Core,
        now: Time,
        mut queued: Queued,
        from: QueueId,
        end: EgressEnd,
    ) -> Option<Packet> {
        let (saved_bytes, length) = (queued.saved_bytes, queued.length);
        queued.truncate = queued.truncate.min(self.runtime.effects.truncate.unwrap_or(u32::MAX));
        if let Some(request) = last_clone(&self.runtime.effects, CloneKind::E2E) {
            self.clone_from_egress(core, now, &mut queued, request);
        }
        self.runtime.settle(core, now);
        if end == EgressEnd::Dropped || end == EgressEnd::Requested && self.runtime.drops(core) {
            core.drop_from(from.port, from.priority, DropCause::Egress);
            return None;
        }
        let recirculate = self.runtime.effects.recirculate;
        if end == EgressEnd::Requested {
            let payload = view(&queued.packet).skip(saved_bytes);
            self.runtime.effects.reset();
            self.runtime.finish(core, now, payload, length);
            self.runtime.settle(core, now);
        }
        let mut packet = queued.packet;
        packet.replace_front(saved_bytes, self.runtime.frame.front());
        let Some(list) = recirculate else {
            packet.truncate(queued.truncate);
            return Some(packet);
        };
        // As in BMv2, a packet is cut when it is sent, so the next pass sees all of it.
        let mut lineage = queued.lineage;
        if core.allow(&mut lineage, 1, from) == 0 {
            return None;
        }
        core.counters.recirculated += 1;
        self.start_spare(list);
        core::mem::swap(&mut self.runtime.frame, &mut self.runtime.spare);
        let (ingress_port, length) = (u32::from(queued.ingress_port), packet.len());
        let arrival = Arrival { packet, length, ingress_port, instance: Instance::RECIRCULATED, lineage };
        self.ingress(core, now, arrival);
        None
    }

    /// Copies the packet, with its headers as egress left them, to egress again.
    fn clone_from_egress(&mut self, core: &mut Core, now: Time, queued: &mut Queued, request: CloneRequest) {
        let Some(session) = core.pre.session(request.session) else { return };
        let (replicas, priority) =
            (targets(&session.replicas, &core.ports_down), session.class_of_service as u8);
        let truncate = truncation(session.packet_length_bytes).min(queued.truncate);
        let against = QueueId { port: queued.ingress_port.into(), priority };
        let copies = core.allow_copies(&mut queued.lineage, replicas.len(), against);
        if copies == 0 {
            return;
        }
        let length_delta = self.length_delta(queued.length_delta);
        self.start_spare_or_reset(request.field_list);
        copy_headers(&self.runtime.pipeline, &self.runtime.frame, &mut self.runtime.spare);
        let mut packet = queued.packet.clone();
        let saved = self.runtime.saved_spare();
        packet.replace_front(queued.saved_bytes, &saved);
        let copy = Queued {
            packet,
            saved_bytes: saved.len() as u32,
            enqueued_at: now,
            truncate,
            rid: 0,
            length_delta,
            instance: Instance::EGRESS_CLONE,
            ..*queued
        };
        replicate(core, &replicas[..copies], priority, &copy);
    }
}

/// Egress metadata of a packet that left its queue.
#[inline(always)]
fn egress_metadata(core: &Core, now: Time, left: &Left) -> EgressMetadata {
    let (enqueued, left_at) = (core.timestamp(left.enqueued_at), core.timestamp(now));
    EgressMetadata {
        // BMv2 starts egress with a value that is not the drop port; most programs never look at it.
        egress_spec: u64::from(core.drop_port) + 1,
        egress_port: left.port.into(),
        instance_type: left.instance.code().into(),
        packet_length: left.length.saturating_add_signed(left.length_delta.into()).into(),
        enq_timestamp: enqueued,
        enq_qdepth: left.enq_depth.into(),
        deq_timedelta: left_at - enqueued,
        deq_qdepth: left.deq_depth.into(),
        egress_global_timestamp: left_at,
        egress_rid: left.rid.into(),
    }
}

/// Copies the headers of one frame into another that was reset: what a clone starts from.
fn copy_headers(pipeline: &Pipeline, from: &Frame, to: &mut Frame) {
    for (i, header) in pipeline.program().headers.iter().enumerate() {
        let id = HeaderId::from_index(i);
        if from.is_valid(pipeline, id) {
            to.set_valid(pipeline, id, true);
            to.copy_vars(pipeline, from, &header.fields);
        }
    }
}

/// Puts one copy for each replica into its queue.
fn replicate(core: &mut Core, replicas: &[Target], priority: u8, queued: &Queued) {
    for (port, copy) in copies(replicas, queued) {
        core.enqueue(port, priority, copy);
    }
}

/// The last clone of a kind counts (v1model).
fn last_clone(effects: &Effects, kind: CloneKind) -> Option<CloneRequest> {
    effects.clones.iter().rev().find(|request| request.kind == kind).copied()
}
