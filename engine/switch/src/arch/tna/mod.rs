//! TNA's and T2NA's ingress and egress pipeline (`tna.p4`, `t2na.p4`; Tofino 1 and 2).
//!
//! Ingress is parser, control and deparser, then mirroring, resubmission, the copy to the CPU, multicast and
//! unicast. Egress runs when a packet leaves its queue, unless ingress asked to leave it out. Between them
//! the packet is bytes: what ingress tells egress the program writes in front. Before each parser runs, the
//! switch puts the chip's intrinsic metadata in front of the packet; in ingress port metadata follow, as the
//! control plane set them, or what a resubmission brought.
//!
//! Times are in nanoseconds whatever the switch's timestamp unit. Depths are in the port's unit, which is the
//! chip's cell unless the port says otherwise.
//!
//! Invariants: resubmissions, recirculations and copies of a received packet are bounded, as in v1model. The
//! loop from egress to ingress holds at most [`MAX_CONTROLLER_QUEUE`](crate::MAX_CONTROLLER_QUEUE) packets,
//! in order. So every call ends.

mod copies;
mod metadata;
mod pipes;

use std::sync::Arc;

use p4cc_exec::ParseResult;
use p4cc_ir::{CloneKind, T2naForDeparser, T2naMirror, TNA_NO_PORT, Tna, TnaFromParser, WrittenVar};
use p4cc_units::Time;

use super::runtime::Runtime;
use super::{Architecture, Arrival, IngressResult, Left, LeftQueue};
use crate::chip::PacketOfGroup;
use crate::chip::flow_control::FlowControl;
use crate::chip::mirror::MirrorOverride;
use crate::chip::pktgen::CONTEXT_BYTES;
use crate::config::PRIORITIES;
use crate::core::{Core, Instance, Origin, QueueId, Queued, Unqueued};
use crate::counters::DropCause;
use crate::lineage::Lineage;
use crate::packet::Packet;
use crate::tm::PortIndex;
use metadata::{
    DROP_MIRROR, DROP_PACKET, IngressFront, MAC_TIME_MASK, NO_MATCH, egress_metadata, error_flags,
    front_bytes,
};
use pipes::{Half, IngressPipe, Pipes, pipe_of_chip};

/// Bytes of a frame's check sequence, which the chip counts: packets here have none.
const FCS_BYTES: u32 = 4;

/// A TNA program in its pipeline.
#[derive(Clone)]
pub(crate) struct TnaSwitch {
    pub runtime: Runtime,
    tna: Arc<Tna>,
    pipes: Pipes,
    has_ghost: bool,
}

/// A mirrored copy that a packet asks for.
#[derive(Clone, Copy)]
struct MirrorRequest {
    session: u32,
    instance: Instance,
    /// What the packet says itself.
    says: MirrorOverride,
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
    /// How many bytes the parser took of the packet with its intrinsic metadata.
    taken: u32,
    /// No row of the parser fits the packet, or it has another error that nobody looks at.
    rejected: bool,
    drop_ctl: u64,
    unicast_port: Option<u32>,
    groups: [u32; 2],
    /// What it tells the replication engine, if it has a group.
    of_group: PacketOfGroup,
    priority: u8,
    copy_to_cpu: bool,
    bypass_egress: bool,
    /// It may go elsewhere if its queue is full.
    deflects: bool,
    /// What deparsers asked for, if anything; apart, as most packets carry none of it about.
    asked: Option<Box<Asked>>,
}

/// What the ingress deparser asks for beside the packet.
struct Asked {
    mirror: Option<AskedMirror>,
    resubmit: Option<Vec<u8>>,
    /// Bytes for the packet generator.
    generate: Option<Vec<u8>>,
}

/// A mirrored copy that a deparser asks for.
struct AskedMirror {
    session: u32,
    header: Vec<u8>,
    /// It is of the packet as it leaves.
    is_outgoing: bool,
    says: MirrorOverride,
}

impl Verdict {
    /// The packet goes to one port through egress, and nowhere else; a full queue is no matter of its.
    fn is_plain(&self) -> bool {
        let stays = self.drop_ctl & DROP_PACKET == 0;
        stays && self.groups == [0, 0] && !self.copy_to_cpu && !self.bypass_egress && !self.deflects
    }
}

impl Architecture for TnaSwitch {
    fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    fn runtime_mut(&mut self) -> &mut Runtime {
        &mut self.runtime
    }

    fn receive(&mut self, core: &mut Core, now: Time, arrival: Arrival) {
        let Arrival { packet, ingress_port, lineage, .. } = arrival;
        self.ingress(core, now, Entering { packet, ingress_port, resubmitted: None, lineage });
        self.go_round(core, now);
    }

    fn receive_with_bypass(
        &mut self,
        core: &mut Core,
        now: Time,
        arrival: Arrival,
        from: PortIndex,
        is_free: impl Fn(u32) -> bool,
    ) -> IngressResult {
        let Arrival { packet, ingress_port, lineage, .. } = arrival;
        let entering = Entering { packet, ingress_port, resubmitted: None, lineage };
        if let Some((packet, lineage, verdict)) = self.through_ingress(core, now, entering) {
            let bytes = packet.len();
            if let Some((index, port)) = self.bypass(core, &verdict, bytes, from, is_free) {
                let item = Queued::new(now, packet, Origin { port: ingress_port, lineage });
                let priority = verdict.priority;
                let left = LeftQueue { item, port, priority, enq_depth: 0, deq_depth: 0 };
                let sent = self.egress_once(core, now, left);
                return sent.map_or(IngressResult::Dropped(index), |sent| IngressResult::Leaves(index, sent));
            }
            self.forward(core, now, packet, Origin { port: ingress_port, lineage }, &verdict);
        }
        self.go_round(core, now);
        IngressResult::Done
    }

    fn egress(&mut self, core: &mut Core, now: Time, packet: Packet, left: Left) -> Option<Packet> {
        let left = left.left_queue(packet);
        if self.has_ghost {
            self.tell_ghost(core, now, QueueId { port: left.port, priority: left.priority });
        }
        let sent = self.egress_once(core, now, left);
        self.go_round(core, now);
        sent
    }
}

impl TnaSwitch {
    pub fn new(runtime: Runtime, tna: &Tna) -> Self {
        let has_ghost = tna.pipes.iter().any(|pipe| pipe.ghost.is_some());
        let pipes = Pipes::new(&runtime.pipeline, tna);
        Self { runtime, tna: Arc::new(tna.clone()), pipes, has_ghost }
    }

    /// Counts a packet in and out of its queue where that is empty and nothing else is to be done with it;
    /// gives the port.
    ///
    /// Ports without a queue are served behind a packet that does not bypass. One whose mirrored copies wait
    /// for such a port, the controller's or one that leads back, therefore never bypasses.
    #[inline]
    fn bypass(
        &self,
        core: &mut Core,
        verdict: &Verdict,
        bytes: u32,
        from: PortIndex,
        is_free: impl Fn(u32) -> bool,
    ) -> Option<(PortIndex, u32)> {
        // Most ports of a busy switch send: that is asked first.
        let port = verdict.unicast_port.filter(|&port| is_free(port))?;
        let is_plain = verdict.is_plain() && !self.has_ghost && !core.trace.is_on() && !core.has_unqueued();
        let index = core.tm.port(port).filter(|_| is_plain && !core.chip.loops_back(port))?;
        let open = core.tm.can_bypass(index, verdict.priority) && !self.pipes.egress(port)?.makes_requests;
        (open && core.tm.try_bypass(index, verdict.priority, bytes, from)).then_some((index, port))
    }

    /// Takes what goes to a port that leads back through egress and ingress, until nothing does.
    #[inline]
    fn go_round(&mut self, core: &mut Core, now: Time) {
        if !core.loopback.is_empty() {
            self.go_all_round(core, now);
        }
    }

    #[cold]
    fn go_all_round(&mut self, core: &mut Core, now: Time) {
        while let Some(Unqueued { port, priority, queued }) = core.loopback.pop_front() {
            let (counted_port, mut lineage) = (u32::from(queued.ingress_port), queued.lineage);
            let left = LeftQueue { item: queued, port, priority, enq_depth: 0, deq_depth: 0 };
            let Some(packet) = self.egress_once(core, now, left) else { continue };
            if core.allow(&mut lineage, 1, QueueId { port: counted_port, priority }) == 0 {
                continue;
            }
            core.counters.recirculated += 1;
            let bytes = first_bytes(&packet);
            core.chip.generator.compare(now, self.tna.chip, port, &bytes, false);
            self.ingress(core, now, Entering { packet, ingress_port: port, resubmitted: None, lineage });
        }
    }

    /// Takes a packet through ingress into queues, resubmissions included.
    fn ingress(&mut self, core: &mut Core, now: Time, entering: Entering) {
        let port = entering.ingress_port;
        if let Some((packet, lineage, verdict)) = self.through_ingress(core, now, entering) {
            self.forward(core, now, packet, Origin { port, lineage }, &verdict);
        }
    }

    /// Takes a packet through ingress, resubmissions included, up to the traffic manager.
    #[inline]
    fn through_ingress(
        &mut self,
        core: &mut Core,
        now: Time,
        mut entering: Entering,
    ) -> Option<(Packet, Lineage, Verdict)> {
        let port = entering.ingress_port;
        let pipe = self.pipes.ingress(port)?;
        self.runtime.enter(pipe_of_chip(port));
        loop {
            let mut verdict = self.ingress_once(core, now, &pipe, &mut entering);
            self.runtime.settle(core, now);
            let priority = verdict.priority;
            if verdict.rejected {
                core.drop_at(port, priority, DropCause::Ingress);
                return None;
            }
            self.control_flow(core, pipe.for_deparser.t2na);
            let again = verdict.asked.take().and_then(|asked| {
                let stays = verdict.drop_ctl & DROP_PACKET == 0;
                self.serve(core, now, *asked, verdict.taken, &mut entering).filter(|_| stays)
            });
            let Some(data) = again else {
                let Entering { mut packet, lineage, .. } = entering;
                packet.replace_front(verdict.taken, self.runtime.front());
                self.cut_to_length(pipe.for_deparser.t2na, &mut packet);
                return Some((packet, lineage, verdict));
            };
            if core.allow(&mut entering.lineage, 1, QueueId { port, priority }) == 0 {
                return None;
            }
            core.counters.resubmitted += 1;
            entering.packet.replace_front(front_bytes(self.tna.chip) as u32, &[]);
            entering.resubmitted = Some(data);
        }
    }

    /// Makes the mirrored copy and starts the packet generator; gives what a resubmission brings.
    #[cold]
    fn serve(
        &mut self,
        core: &mut Core,
        now: Time,
        asked: Asked,
        taken: u32,
        entering: &mut Entering,
    ) -> Option<Vec<u8>> {
        let port = entering.ingress_port;
        let chip = self.tna.chip;
        if let Some(AskedMirror { session, header, is_outgoing, says }) = asked.mirror {
            let mut copy = entering.packet.clone();
            if is_outgoing {
                copy.replace_front(taken, self.runtime.front());
                if let Some(pipe) = self.pipes.ingress(port) {
                    self.cut_to_length(pipe.for_deparser.t2na, &mut copy);
                }
                copy.replace_front(0, &header);
            } else {
                copy.replace_front(front_bytes(chip) as u32, &header);
            }
            let request = MirrorRequest { session, instance: Instance::INGRESS_CLONE, says };
            let mut origin = Origin { port, lineage: entering.lineage };
            self.mirror(core, now, request, copy, &mut origin);
            entering.lineage = origin.lineage;
        }
        if let Some(context) = asked.generate {
            let mut bytes = [0; CONTEXT_BYTES];
            for (to, from) in bytes.iter_mut().zip(context) {
                *to = from;
            }
            core.chip.generator.compare(now, chip, port, &bytes, true);
        }
        asked.resubmit
    }

    /// Parser, ingress and deparser, whose output is left in the runtime's front. The packet keeps its
    /// intrinsic metadata in front.
    fn ingress_once(
        &mut self,
        core: &mut Core,
        now: Time,
        pipe: &IngressPipe,
        entering: &mut Entering,
    ) -> Verdict {
        let chip = self.tna.chip;
        let length = entering.packet.len().saturating_add(FCS_BYTES);
        let port = entering.ingress_port;
        let front = match &entering.resubmitted {
            None => IngressFront::new(chip, now, port, false, core.chip.port_metadata(port)),
            Some(data) => IngressFront::new(chip, now, port, true, data),
        };
        entering.packet.replace_front(0, front.bytes());
        self.runtime.effects.reset();
        let (id, timestamp) = (pipe.half.id, now.as_ns() & MAC_TIME_MASK);
        let ended = self.runtime.half(core, now, id, timestamp, &entering.packet, length);
        let (taken, flags) = match ended {
            Some(end) => (end.taken.max(front_bytes(chip) as u32), 0),
            None => {
                self.runtime.frame.reset();
                self.runtime.set(pipe.for_tm.ucast_egress_port, TNA_NO_PORT);
                self.by_blocks(core, now, pipe.half, &entering.packet, length, front_bytes(chip))
            }
        };
        let (tm, runtime) = (pipe.for_tm, &self.runtime);
        let unicast_port = runtime.get(tm.ucast_egress_port);
        let groups = [tm.mcast_grp_a, tm.mcast_grp_b].map(|group| runtime.get(group) as u32);
        let of_group = if groups == [0, 0] { PacketOfGroup::default() } else { self.packet_of_group(tm) };
        Verdict {
            taken,
            rejected: flags & NO_MATCH != 0 || (flags != 0 && !pipe.reads_error),
            drop_ctl: runtime.get(pipe.for_deparser.drop_ctl),
            unicast_port: (unicast_port != TNA_NO_PORT).then_some(unicast_port as u32),
            groups,
            of_group,
            priority: (runtime.get(tm.qid) as usize % PRIORITIES) as u8,
            copy_to_cpu: runtime.get(tm.copy_to_cpu) != 0,
            bypass_egress: runtime.get(tm.bypass_egress) != 0,
            deflects: runtime.get(tm.deflect_on_drop) != 0,
            asked: (!runtime.effects.is_empty()).then(|| self.asked(pipe)),
        }
    }

    /// Parser, control and deparser of a half one after the other, on a frame that was reset; gives the bytes
    /// that the parser took, at least those in front of the packet, and its errors.
    #[cold]
    fn by_blocks(
        &mut self,
        core: &mut Core,
        now: Time,
        half: Half,
        packet: &Packet,
        length: u32,
        front_bytes: usize,
    ) -> (u32, u64) {
        let Half { blocks, from_parser, .. } = half;
        let parsed = self.runtime.parse(core, now, blocks.parser, packet);
        let taken = parsed.consumed_bytes().max(front_bytes as u32);
        let flags = self.told_by_parser(now, from_parser, parsed);
        self.runtime.run(core, now, blocks.control, packet, taken, length);
        if core.chip.snapshots.is_armed() {
            let of_program = half.pipe % self.tna.pipes.len().max(1) as u8;
            self.runtime.capture(core, of_program, half.is_egress, half.pipe);
        }
        self.runtime.deparse(core, now, blocks.deparser, length);
        (taken, flags)
    }

    /// What the ingress deparser asked for.
    #[cold]
    fn asked(&self, pipe: &IngressPipe) -> Box<Asked> {
        let runtime = &self.runtime;
        let t2na = pipe.for_deparser.t2na;
        let session = last_session(runtime, CloneKind::I2E);
        let is_outgoing = self.mirrors_outgoing(t2na, false);
        let starts = t2na.and_then(|t2na| t2na.pktgen).is_some_and(|var| runtime.get(var) != 0);
        Box::new(Asked {
            mirror: session.map(|(session, list)| AskedMirror {
                session,
                header: self.sent(list),
                is_outgoing,
                says: self.mirror_override(t2na),
            }),
            resubmit: runtime.effects.resubmit.map(|list| self.sent(Some(list))),
            generate: runtime.effects.recirculate.filter(|_| starts).map(|list| self.sent(Some(list))),
        })
    }

    /// Whether a mirrored copy is of the packet as it leaves a half of the pipe. Tofino 1 has no choice.
    fn mirrors_outgoing(&self, t2na: Option<T2naForDeparser>, is_egress: bool) -> bool {
        t2na.map_or(is_egress, |t2na| self.runtime.get(t2na.mirror_io_select) != 0)
    }

    /// What the packet of the frame says of its mirrored copies itself.
    fn mirror_override(&self, t2na: Option<T2naForDeparser>) -> MirrorOverride {
        let T2naMirror { hash, deflect_on_drop, multicast_ctrl, egress_port, qid } =
            t2na.map(|t2na| t2na.mirror).unwrap_or_default();
        let get = |field: Option<WrittenVar>| {
            let field = field.filter(|field| self.runtime.get(field.written) != 0)?;
            Some(self.runtime.get(field.value))
        };
        MirrorOverride {
            hash: get(hash).map(|hash| hash as u16),
            port: get(egress_port).map(|port| port as u32),
            queue: get(qid).map(|queue| queue as u32),
            multicast: get(multicast_ctrl).map(|ctrl| ctrl != 0),
            deflects: get(deflect_on_drop).is_some_and(|deflects| deflects != 0),
        }
    }

    /// Pauses or resumes the queue that the packet of the frame names, as its deparser ends (Tofino 2). A
    /// queue of no port of the switch is left out.
    #[inline]
    fn control_flow(&self, core: &mut Core, t2na: Option<T2naForDeparser>) {
        let Some(var) = t2na.and_then(|t2na| t2na.adv_flow_ctl) else { return };
        let Some(asked) = FlowControl::read(self.runtime.get(var) as u32) else { return };
        if let Some(index) = core.tm.port(asked.port) {
            core.tm.set_paused_by_program(index, asked.priority, asked.pauses);
        }
    }

    /// Cuts a packet that leaves a half to the length that its deparser was given (Tofino 2).
    #[inline]
    fn cut_to_length(&self, t2na: Option<T2naForDeparser>, packet: &mut Packet) {
        let Some(var) = t2na.and_then(|t2na| t2na.mtu_trunc_len) else { return };
        let length = self.runtime.get(var) as u32;
        if length > 0 {
            packet.truncate(length.saturating_sub(FCS_BYTES));
        }
    }

    /// What the chip knows once a parser has run; gives the bits of `parser_err`.
    fn told_by_parser(&mut self, now: Time, into: TnaFromParser, parsed: ParseResult) -> u64 {
        let error = self.tna.parser_error;
        let flags = match parsed.error {
            None => 0,
            Some(_) => error_flags(self.runtime.pipeline.program(), self.runtime.get(error) as u32),
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

    /// Parser, egress and deparser of a packet that left a queue; gives it back unless it is dropped.
    fn egress_once(&mut self, core: &mut Core, now: Time, left: LeftQueue) -> Option<Packet> {
        let (port, priority) = (left.port, left.priority);
        let from = QueueId { port, priority };
        if left.item.instance == Instance::NO_EGRESS {
            return Some(left.item.packet);
        }
        let pipe = self.pipes.egress(port)?;
        self.runtime.enter(pipe_of_chip(port));
        let length = left.item.packet.len().saturating_add(FCS_BYTES);
        let chip = self.tna.chip;
        let front_bytes = chip.egress_metadata_bytes();
        let front = egress_metadata(chip, now, &left, length);
        let Queued { mut packet, ingress_port, lineage, .. } = left.item;
        packet.replace_front(0, front.get(..front_bytes)?);
        self.runtime.effects.reset();
        let (id, timestamp) = (pipe.half.id, now.as_ns() & MAC_TIME_MASK);
        let taken = match self.runtime.half(core, now, id, timestamp, &packet, length) {
            Some(end) => end.taken.max(front_bytes as u32),
            None => {
                self.runtime.frame.reset();
                self.by_blocks(core, now, pipe.half, &packet, length, front_bytes).0
            }
        };
        self.runtime.settle(core, now);
        self.control_flow(core, pipe.for_deparser.t2na);
        let runtime = &self.runtime;
        let drop_ctl = runtime.get(pipe.for_deparser.drop_ctl);
        let mirror = last_session(runtime, CloneKind::E2E).filter(|_| drop_ctl & DROP_MIRROR == 0);
        let Some((session, list)) = mirror else {
            packet.replace_front(taken, runtime.front());
            self.cut_to_length(pipe.for_deparser.t2na, &mut packet);
            return self.leave(core, from, ingress_port, drop_ctl, packet);
        };
        let mut copy = packet.clone();
        packet.replace_front(taken, self.runtime.front());
        self.cut_to_length(pipe.for_deparser.t2na, &mut packet);
        let (header, says) = (self.sent(list), self.mirror_override(pipe.for_deparser.t2na));
        if self.mirrors_outgoing(pipe.for_deparser.t2na, true) {
            copy = packet.clone();
            copy.replace_front(0, &header);
        } else {
            copy.replace_front(front_bytes as u32, &header);
        }
        let request = MirrorRequest { session, instance: Instance::EGRESS_CLONE, says };
        let mut origin = Origin { port: ingress_port.into(), lineage };
        self.mirror(core, now, request, copy, &mut origin);
        self.leave(core, from, ingress_port, drop_ctl, packet)
    }

    /// Gives a packet back behind egress, unless egress dropped it.
    fn leave(
        &self,
        core: &mut Core,
        from: QueueId,
        ingress_port: u16,
        drop_ctl: u64,
        packet: Packet,
    ) -> Option<Packet> {
        if drop_ctl & DROP_PACKET == 0 {
            return Some(packet);
        }
        let against = if core.tm.port(from.port).is_some() { from.port } else { ingress_port.into() };
        core.drop_from(against, from.priority, DropCause::Egress);
        None
    }
}

/// The first bytes of a packet, as many as a pattern has; zeros of its payload count.
fn first_bytes(packet: &Packet) -> Vec<u8> {
    let zeros = core::iter::repeat_n(0, packet.zeros as usize);
    packet.head.iter().copied().chain(zeros).take(CONTEXT_BYTES).collect()
}

/// The mirror session that the deparser of one half asked for last, and the list that names its header.
fn last_session(runtime: &Runtime, kind: CloneKind) -> Option<(u32, Option<u32>)> {
    let mut asked = runtime.effects.clones.iter().rev().filter(|asked| asked.kind == kind);
    asked.next().map(|asked| (asked.session, asked.field_list))
}
