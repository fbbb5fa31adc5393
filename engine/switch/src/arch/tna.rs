//! TNA's ingress and egress pipeline (`tna.p4`; Tofino 1).
//!
//! Ingress is parser, control and deparser, then mirroring, resubmission, the copy to the CPU, multicast and
//! unicast. Egress runs when a packet leaves its queue, unless ingress asked to leave it out. Between them
//! the packet is bytes: what ingress tells egress the program writes in front. Before each parser runs, the
//! switch puts the chip's intrinsic metadata in front of the packet; in ingress port metadata follow, which
//! are zeros, or what a resubmission brought.
//!
//! Times are in nanoseconds whatever the switch's timestamp unit. Depths are in the port's unit.
//!
//! Invariants: resubmissions, recirculations and copies of a received packet are bounded, as in v1model. The
//! loop from egress to ingress holds at most [`MAX_CONTROLLER_QUEUE`] packets, in order. So every call ends.

use std::sync::Arc;

use p4cc_exec::ParseResult;
use p4cc_ir::{
    CloneKind, Program, TNA_EGRESS_METADATA_BYTES, TNA_INGRESS_METADATA_BYTES, TNA_NO_PORT,
    TNA_PORT_METADATA_BYTES, Tna, TnaFromParser, TnaPipe, core_errors,
};
use p4cc_units::Time;

use super::runtime::Runtime;
use super::{Arrival, LeftQueue, truncation};
use crate::config::PRIORITIES;
use crate::core::{Core, Instance, MAX_CONTROLLER_QUEUE, Queued, Unqueued};
use crate::counters::DropCause;
use crate::lineage::Lineage;
use crate::packet::Packet;
use crate::pre::{Target, targets};

/// Bits of `drop_ctl`.
const DROP_PACKET: u64 = 1;
const DROP_COPY_TO_CPU: u64 = 2;
const DROP_MIRROR: u64 = 4;
/// Of a port's number, those bits that count within its pipe, and the ports that lead back to ingress.
const PORT_OF_PIPE: u32 = 0x7f;
const RECIRCULATION_PORTS: core::ops::RangeInclusive<u32> = 68..=71;
/// Bits of the times that a header field holds.
const MAC_TIME_MASK: u64 = (1 << 48) - 1;
const QUEUE_TIME_MASK: u64 = (1 << 18) - 1;
/// Greatest depth that a header field holds.
const MAX_DEPTH: u32 = (1 << 19) - 1;

/// A TNA program in its pipeline.
#[derive(Clone)]
pub(crate) struct TnaSwitch {
    pub runtime: Runtime,
    tna: Arc<Tna>,
}

/// A packet at the entrance of ingress.
struct Entering {
    packet: Packet,
    ingress_port: u32,
    /// What a resubmission brought.
    resubmitted: Option<Vec<u8>>,
    lineage: Lineage,
}

/// What is to become of a packet after ingress.
struct Verdict {
    /// The packet with its intrinsic metadata in front, and how many bytes of it the parser took.
    whole: Packet,
    taken: u32,
    /// No row of the parser fits the packet, or it has another error that nobody looks at.
    rejected: bool,
    drop_ctl: u64,
    unicast_port: Option<u32>,
    groups: [u32; 2],
    priority: u8,
    copy_to_cpu: bool,
    bypass_egress: bool,
    /// Session and header of a mirrored copy.
    mirror: Option<(u32, Vec<u8>)>,
    resubmit: Option<Vec<u8>>,
}

impl TnaSwitch {
    pub fn new(runtime: Runtime, tna: &Tna) -> Self {
        Self { runtime, tna: Arc::new(tna.clone()) }
    }

    /// Takes a packet from outside through ingress into queues.
    pub fn receive(&mut self, core: &mut Core, now: Time, arrival: Arrival) {
        let Arrival { packet, ingress_port, lineage, .. } = arrival;
        self.ingress(core, now, Entering { packet, ingress_port, resubmitted: None, lineage });
        self.go_round(core, now);
    }

    /// Takes a packet from its queue through egress. Gives it back if it is to be sent.
    pub fn egress(&mut self, core: &mut Core, now: Time, left: LeftQueue) -> Option<Packet> {
        let sent = self.egress_once(core, now, left);
        self.go_round(core, now);
        sent
    }

    /// Takes what goes to a recirculation port through egress and ingress, until nothing does.
    fn go_round(&mut self, core: &mut Core, now: Time) {
        while let Some(Unqueued { port, priority, queued }) = core.loopback.pop_front() {
            let (counted_port, mut lineage) = (u32::from(queued.ingress_port), queued.lineage);
            let left = LeftQueue { item: queued, port, priority, enq_depth: 0, deq_depth: 0 };
            let Some(packet) = self.egress_once(core, now, left) else { continue };
            if core.allow(&mut lineage, 1, (counted_port, priority)) == 0 {
                continue;
            }
            core.counters.recirculated += 1;
            self.ingress(core, now, Entering { packet, ingress_port: port, resubmitted: None, lineage });
        }
    }

    /// Takes a packet through ingress into queues, resubmissions included.
    fn ingress(&mut self, core: &mut Core, now: Time, mut entering: Entering) {
        let tna = Arc::clone(&self.tna);
        let Some(pipe) = tna.pipe_of(entering.ingress_port) else { return };
        let port = entering.ingress_port;
        loop {
            let mut verdict = self.ingress_once(core, now, pipe, tna.parser_error, &entering);
            self.runtime.settle(core, now);
            let priority = verdict.priority;
            if verdict.rejected {
                core.drop_at(port, priority, DropCause::Ingress);
                return;
            }
            if let Some((session, header)) = verdict.mirror.take() {
                let mut copy = entering.packet.clone();
                copy.replace_front(0, &header);
                let from = (port, &mut entering.lineage);
                self.mirror(core, now, (session, Instance::INGRESS_CLONE), copy, from);
            }
            let dropped = verdict.drop_ctl & DROP_PACKET != 0;
            let Some(data) = verdict.resubmit.take().filter(|_| !dropped) else {
                self.forward(core, now, entering, verdict);
                return;
            };
            if core.allow(&mut entering.lineage, 1, (port, priority)) == 0 {
                return;
            }
            core.counters.resubmitted += 1;
            entering.resubmitted = Some(data);
        }
    }

    /// Parser, ingress and deparser, whose output is left in the runtime's front.
    fn ingress_once(
        &mut self,
        core: &mut Core,
        now: Time,
        pipe: &TnaPipe,
        parser_error: p4cc_ir::VarId,
        entering: &Entering,
    ) -> Verdict {
        let length = entering.packet.len();
        let mut whole = entering.packet.clone();
        whole.replace_front(0, &ingress_metadata(now, entering));
        let runtime = &mut self.runtime;
        runtime.frame.reset();
        runtime.effects.reset();
        let tm = pipe.for_tm;
        runtime.set(tm.ucast_egress_port, TNA_NO_PORT);
        let parsed = runtime.parse(core, now, pipe.ingress.parser, &whole);
        let front = (TNA_INGRESS_METADATA_BYTES + TNA_PORT_METADATA_BYTES) as u32;
        let taken = parsed.consumed_bytes().max(front);
        let flags = self.told_by_parser(now, pipe.ingress_from_parser, parser_error, parsed);
        let runtime = &mut self.runtime;
        runtime.run(core, now, pipe.ingress.control, &whole, taken, length);
        runtime.deparse(core, now, pipe.ingress.deparser, length);
        let session = last_session(runtime, CloneKind::I2E);
        let resubmit = runtime.effects.resubmit;
        let unicast_port = runtime.get(tm.ucast_egress_port);
        Verdict {
            whole,
            taken,
            rejected: flags & NO_MATCH != 0 || (flags != 0 && !pipe.ingress_reads_error),
            drop_ctl: runtime.get(pipe.for_deparser.drop_ctl),
            unicast_port: (unicast_port != TNA_NO_PORT).then_some(unicast_port as u32),
            groups: [tm.mcast_grp_a, tm.mcast_grp_b].map(|group| runtime.get(group) as u32),
            priority: (runtime.get(tm.qid) as usize % PRIORITIES) as u8,
            copy_to_cpu: runtime.get(tm.copy_to_cpu) != 0,
            bypass_egress: runtime.get(tm.bypass_egress) != 0,
            mirror: session.map(|(session, list)| (session, self.sent(list))),
            resubmit: resubmit.map(|list| self.sent(Some(list))),
        }
    }

    /// What the chip knows once a parser has run; gives the bits of `parser_err`.
    fn told_by_parser(
        &mut self,
        now: Time,
        into: TnaFromParser,
        parser_error: p4cc_ir::VarId,
        parsed: ParseResult,
    ) -> u64 {
        let code = self.runtime.get(parser_error) as u32;
        let flags = match parsed.error {
            None => 0,
            Some(_) => error_flags(self.runtime.pipeline.program(), code),
        };
        self.runtime.set(into.parser_err, flags);
        self.runtime.set(into.global_tstamp, now.as_ns() & MAC_TIME_MASK);
        flags
    }

    /// Bytes of the header that a deparser sends beside the packet.
    fn sent(&self, list: Option<u32>) -> Vec<u8> {
        let pipeline = &self.runtime.pipeline;
        let lists = &pipeline.program().field_lists;
        let vars = lists.iter().find(|known| Some(known.index) == list).map_or(&[][..], |known| &known.vars);
        vars.iter().flat_map(|&var| self.runtime.frame.get_bits(pipeline, var).to_be_bytes()).collect()
    }

    /// The copy to the CPU, multicast and unicast of the packet as the ingress deparser wrote it.
    fn forward(&mut self, core: &mut Core, now: Time, entering: Entering, verdict: Verdict) {
        let Verdict { mut whole, taken, drop_ctl, priority, .. } = verdict;
        let (port, mut lineage) = (entering.ingress_port, entering.lineage);
        whole.replace_front(taken, &self.runtime.front);
        let packet = whole;
        let mut queued = queued(now, packet, (Instance::NORMAL, u32::MAX), (port, lineage));
        let mut ways: Vec<(Target, Instance)> = Vec::new();
        if verdict.copy_to_cpu
            && drop_ctl & DROP_COPY_TO_CPU == 0
            && let Some(cpu) = core.config.cpu_port
        {
            ways.push((Target { port: cpu, instance: 0 }, Instance::NORMAL));
        }
        let stops = drop_ctl & DROP_PACKET != 0;
        for group in verdict.groups.into_iter().filter(|group| *group != 0 && !stops) {
            let replicas = core.pre.group(group).map(|group| targets(&group.replicas, &core.ports_down));
            let mut instance = Instance::FIRST_REPLICA;
            for target in replicas.unwrap_or_default() {
                ways.push((target, instance));
                instance = Instance::REPLICA;
            }
        }
        if let Some(unicast) = verdict.unicast_port.filter(|_| !stops) {
            let instance = if verdict.bypass_egress { Instance::NO_EGRESS } else { Instance::NORMAL };
            ways.push((Target { port: unicast, instance: 0 }, instance));
        }
        if ways.is_empty() {
            let grouped = !stops && verdict.groups.iter().any(|group| *group != 0);
            let cause = if grouped { DropCause::NoReplicas } else { DropCause::Ingress };
            core.drop_at(port, priority, cause);
            return;
        }
        let more = core.allow_copies(&mut lineage, ways.len() - 1, (port, priority));
        queued.lineage = lineage;
        ways.truncate(more + 1);
        for (target, instance) in ways {
            let copy = Queued { instance, rid: target.instance, ..queued.clone() };
            self.enqueue(core, target.port, priority, copy);
        }
    }

    /// Sends a copy to egress by a session. A session that is not there makes no copies.
    fn mirror(
        &mut self,
        core: &mut Core,
        now: Time,
        (session, instance): (u32, Instance),
        packet: Packet,
        (port, lineage): (u32, &mut Lineage),
    ) {
        let Some(session) = core.pre.session(session) else { return };
        let (replicas, priority) =
            (targets(&session.replicas, &core.ports_down), session.class_of_service as u8);
        let truncate = truncation(session.packet_length_bytes);
        let copies = core.allow_copies(lineage, replicas.len(), (port, priority));
        let mut packet = packet;
        packet.truncate(truncate);
        let queued = queued(now, packet, (instance, u32::MAX), (port, *lineage));
        for target in replicas.into_iter().take(copies) {
            let copy = Queued { rid: target.instance, ..queued.clone() };
            self.enqueue(core, target.port, priority, copy);
        }
    }

    /// Puts a packet into the queue of a port. A recirculation port that is none of the switch's has no
    /// queue.
    fn enqueue(&mut self, core: &mut Core, port: u32, priority: u8, queued: Queued) {
        let leads_back = RECIRCULATION_PORTS.contains(&(port & PORT_OF_PIPE));
        if !leads_back || core.tm.port(port).is_some() || core.config.cpu_port == Some(port) {
            core.enqueue(port, priority, queued);
        } else if core.loopback.len() < MAX_CONTROLLER_QUEUE {
            core.loopback.push_back(Unqueued { port, priority, queued });
        } else {
            core.drop_at(u32::from(queued.ingress_port), priority, DropCause::TailDrop);
        }
    }

    /// Parser, egress and deparser of a packet that left a queue; gives it back unless it is dropped.
    fn egress_once(&mut self, core: &mut Core, now: Time, left: LeftQueue) -> Option<Packet> {
        let mut queued = left.item;
        let mut packet = core::mem::take(&mut queued.packet);
        if queued.instance == Instance::NO_EGRESS {
            return Some(packet);
        }
        let (port, priority) = (left.port, left.priority);
        let tna = Arc::clone(&self.tna);
        let pipe = tna.pipe_of(port)?;
        let length = packet.len();
        let depths = (left.enq_depth, left.deq_depth);
        packet.replace_front(0, &egress_metadata(now, &queued, (port, priority), depths, length));
        let runtime = &mut self.runtime;
        runtime.frame.reset();
        runtime.effects.reset();
        let parsed = runtime.parse(core, now, pipe.egress.parser, &packet);
        let taken = parsed.consumed_bytes().max(TNA_EGRESS_METADATA_BYTES as u32);
        self.told_by_parser(now, pipe.egress_from_parser, tna.parser_error, parsed);
        let runtime = &mut self.runtime;
        runtime.run(core, now, pipe.egress.control, &packet, taken, length);
        runtime.deparse(core, now, pipe.egress.deparser, length);
        runtime.settle(core, now);
        let drop_ctl = runtime.get(pipe.for_egress_deparser.drop_ctl);
        let mirror = last_session(runtime, CloneKind::E2E).filter(|_| drop_ctl & DROP_MIRROR == 0);
        packet.replace_front(taken, &runtime.front);
        if let Some((session, list)) = mirror {
            let mut copy = packet.clone();
            copy.replace_front(0, &self.sent(list));
            let from = (u32::from(queued.ingress_port), &mut queued.lineage);
            self.mirror(core, now, (session, Instance::EGRESS_CLONE), copy, from);
        }
        if drop_ctl & DROP_PACKET != 0 {
            let against = if core.tm.port(port).is_some() { port } else { queued.ingress_port.into() };
            core.drop_from(against, priority, DropCause::Egress);
            return None;
        }
        Some(packet)
    }
}

/// A packet for a queue.
fn queued(
    now: Time,
    packet: Packet,
    (instance, truncate): (Instance, u32),
    (port, lineage): (u32, Lineage),
) -> Queued {
    Queued {
        enqueued_at: now,
        length: packet.len(),
        packet,
        saved_bytes: 0,
        truncate,
        rid: 0,
        length_delta: 0,
        ingress_port: u16::try_from(port).unwrap_or(u16::MAX),
        instance,
        lineage,
    }
}

/// The mirror session that the deparser of one half asked for last, and the list that names its header.
fn last_session(runtime: &Runtime, kind: CloneKind) -> Option<(u32, Option<u32>)> {
    let mut asked = runtime.effects.clones.iter().rev().filter(|asked| asked.kind == kind);
    asked.next().map(|asked| (asked.session, asked.field_list))
}

/// `ingress_intrinsic_metadata_t`, and what stands between it and the packet.
fn ingress_metadata(
    now: Time,
    entering: &Entering,
) -> [u8; TNA_INGRESS_METADATA_BYTES + TNA_PORT_METADATA_BYTES] {
    let resubmitted = u64::from(entering.resubmitted.is_some());
    let word =
        resubmitted << 63 | (u64::from(entering.ingress_port) & 0x1ff) << 48 | now.as_ns() & MAC_TIME_MASK;
    let mut front = [0; TNA_INGRESS_METADATA_BYTES + TNA_PORT_METADATA_BYTES];
    let (intrinsic, port) = front.split_at_mut(TNA_INGRESS_METADATA_BYTES);
    intrinsic.copy_from_slice(&word.to_be_bytes());
    for (to, from) in port.iter_mut().zip(entering.resubmitted.iter().flatten()) {
        *to = *from;
    }
    front
}

/// `egress_intrinsic_metadata_t`. Congestion states, which nothing here has, are zeros.
fn egress_metadata(
    now: Time,
    queued: &Queued,
    (port, priority): (u32, u8),
    (enq_depth, deq_depth): (u32, u32),
    length: u32,
) -> [u8; TNA_EGRESS_METADATA_BYTES] {
    let (enqueued_ns, now_ns) = (queued.enqueued_at.as_ns(), now.as_ns());
    let depth = |depth: u32| depth.min(MAX_DEPTH).to_be_bytes();
    let time = |time_ns: u64| ((time_ns & QUEUE_TIME_MASK) as u32).to_be_bytes();
    let mut front = [0; TNA_EGRESS_METADATA_BYTES];
    let mut put = |at: usize, bytes: &[u8]| {
        for (to, from) in front.iter_mut().skip(at).zip(bytes) {
            *to = *from;
        }
    };
    put(0, &(port as u16 & 0x1ff).to_be_bytes());
    put(2, &depth(enq_depth)[1..]);
    put(6, &time(enqueued_ns));
    put(10, &depth(deq_depth)[1..]);
    put(15, &time(now_ns - enqueued_ns));
    put(19, &queued.rid.to_be_bytes());
    put(21, &[u8::from(queued.instance == Instance::FIRST_REPLICA)]);
    put(22, &[priority]);
    put(25, &(length.min(u32::from(u16::MAX)) as u16).to_be_bytes());
    front
}

/// Bit of `parser_err`: no row of the parser fits. Ingress drops such a packet whatever the program reads.
const NO_MATCH: u64 = 0x0001;

/// Bits of `parser_err` for an error of the program; none for a plain `reject`, which the chip takes as an end.
fn error_flags(program: &Program, code: u32) -> u64 {
    const PARTIAL_HEADER: u64 = 0x0002;
    const COUNTER_RANGE: u64 = 0x0004;
    const TIMEOUT: u64 = 0x0010;
    const DESTINATION: u64 = 0x0040;
    match code {
        core_errors::NO_ERROR => 0,
        core_errors::PACKET_TOO_SHORT | core_errors::HEADER_TOO_SHORT => PARTIAL_HEADER,
        core_errors::STACK_OUT_OF_BOUNDS => DESTINATION,
        core_errors::PARSER_TIMEOUT => TIMEOUT,
        _ if program.errors.get(code as usize).is_some_and(|error| error == "CounterRange") => COUNTER_RANGE,
        _ => NO_MATCH,
    }
}
