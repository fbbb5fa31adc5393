//! Where packets of TNA go behind ingress: unicast, multicast of two levels, the CPU, mirrors, loops, and
//! another port if their queue is full. The ghost thread hears of queues' depths.

use p4cc_ir::{TnaForTm, TofinoChip};
use p4cc_units::Time;

use super::metadata::{DROP_COPY_TO_CPU, DROP_PACKET};
use super::{MirrorRequest, TnaSwitch, Verdict};
use crate::arch::truncation;
use crate::chip::{MirrorSession, PacketOfGroup};
use crate::config::PRIORITIES;
use crate::core::{Core, Instance, MAX_CONTROLLER_QUEUE, Origin, QueueId, Queued, Unqueued};
use crate::counters::DropCause;
use crate::packet::Packet;
use crate::pre::{Target, targets};
use crate::trace::Step;

/// Of a port's number, those bits that count within its pipe.
const PORT_OF_PIPE: u32 = 0x7f;
/// Bits of a queue's number that a ghost thread hears beside its port.
const QUEUE_BITS: u32 = 4;
/// Greatest depth that it hears.
const MAX_GHOST_DEPTH: u32 = (1 << 18) - 1;

/// Where copies go, each with what it is.
type Ways = Vec<(Target, Instance)>;

/// The copies that a session makes.
struct MirrorCopies {
    ways: Ways,
    priority: u8,
    /// They are cut to so many bytes.
    length: u32,
    deflects: bool,
}

/// Where `copy_to_cpu` leads: to the port of the chip's own tables, else to that of the switch.
fn cpu_port(core: &Core) -> Option<u32> {
    core.chip.multicast.cpu_port().or(core.config.cpu_port)
}

impl TnaSwitch {
    /// The copy to the CPU, multicast and unicast of the packet as the ingress deparser wrote it.
    pub(super) fn forward(
        &mut self,
        core: &mut Core,
        now: Time,
        packet: Packet,
        origin: Origin,
        verdict: &Verdict,
    ) {
        let queued = Queued::new(now, packet, origin);
        let stops = verdict.drop_ctl & DROP_PACKET != 0;
        let unicast = verdict.unicast_port.filter(|_| !stops);
        let instance = if verdict.bypass_egress { Instance::NO_EGRESS } else { Instance::NORMAL };
        match unicast {
            Some(port) if verdict.groups == [0, 0] && !verdict.copy_to_cpu => {
                let only = Queued { instance, ..queued };
                let to = QueueId { port, priority: verdict.priority };
                self.enqueue(core, now, to, only, verdict.deflects);
            }
            _ => self.forward_many(core, now, queued, unicast.map(|port| (port, instance)), verdict),
        }
    }

    /// The same where there may be several copies, or none.
    #[cold]
    fn forward_many(
        &mut self,
        core: &mut Core,
        now: Time,
        mut queued: Queued,
        unicast: Option<(u32, Instance)>,
        verdict: &Verdict,
    ) {
        let (port, priority) = (u32::from(queued.ingress_port), verdict.priority);
        let stops = verdict.drop_ctl & DROP_PACKET != 0;
        let mut ways: Ways = Vec::new();
        if verdict.copy_to_cpu && verdict.drop_ctl & DROP_COPY_TO_CPU == 0 {
            ways.extend(cpu_port(core).map(|port| (Target { port, instance: 0 }, Instance::NORMAL)));
        }
        let groups = if stops { [0, 0] } else { verdict.groups };
        if groups != [0, 0] {
            for group in groups.into_iter().filter(|group| *group != 0) {
                replicas(core, group, &verdict.of_group, &mut ways);
            }
        }
        ways.extend(unicast.map(|(port, instance)| (Target { port, instance: 0 }, instance)));
        if ways.is_empty() {
            let cause = if groups == [0, 0] { DropCause::Ingress } else { DropCause::NoReplicas };
            core.drop_at(port, priority, cause);
            return;
        }
        let more = core.allow_copies(&mut queued.lineage, ways.len() - 1, QueueId { port, priority });
        ways.truncate(more + 1);
        self.send(core, now, queued, &ways, priority, verdict.deflects);
    }

    /// Puts a packet into queues, one copy a way.
    fn send(
        &mut self,
        core: &mut Core,
        now: Time,
        queued: Queued,
        ways: &[(Target, Instance)],
        priority: u8,
        deflects: bool,
    ) {
        let Some(((last, instance), others)) = ways.split_last() else { return };
        for (target, instance) in others {
            let copy = Queued { instance: *instance, rid: target.instance, ..queued.clone() };
            self.enqueue(core, now, QueueId { port: target.port, priority }, copy, deflects);
        }
        let copy = Queued { instance: *instance, rid: last.instance, ..queued };
        self.enqueue(core, now, QueueId { port: last.port, priority }, copy, deflects);
    }

    /// What the packet of the frame tells the replication engine.
    pub(super) fn packet_of_group(&self, tm: TnaForTm) -> PacketOfGroup {
        let get = |var| self.runtime.get(var) as u16;
        PacketOfGroup {
            rid: get(tm.rid),
            l1_xid: get(tm.level1_exclusion_id),
            l2_xid: get(tm.level2_exclusion_id),
            hash1: get(tm.level1_mcast_hash),
            hash2: get(tm.level2_mcast_hash),
            mixes_rid: self.tna.chip == TofinoChip::Tofino2,
        }
    }

    /// Sends a copy to egress by a session: the chip's, or else P4Runtime's. A session that is not there, or
    /// is for the other half, makes no copies.
    pub(super) fn mirror(
        &mut self,
        core: &mut Core,
        now: Time,
        request: MirrorRequest,
        packet: Packet,
        origin: &mut Origin,
    ) {
        let MirrorRequest { session, instance, says } = request;
        let known = u16::try_from(session).ok().and_then(|id| core.chip.mirrors.get(id)).cloned();
        if let Some(known) = known {
            return self.mirror_by(core, now, &known.with(says), request, packet, origin);
        }
        let Some(session) = core.pre.session(session) else { return };
        let queue = says.queue.map(|queue| (queue as usize % PRIORITIES) as u8);
        let priority = queue.unwrap_or(session.class_of_service as u8);
        let targets = match says.port {
            Some(port) => vec![Target { port, instance: 0 }],
            None => targets(&session.replicas, &core.ports_down),
        };
        let length = truncation(session.packet_length_bytes);
        let ways: Ways = targets.into_iter().map(|target| (target, instance)).collect();
        let copies = MirrorCopies { ways, priority, length, deflects: says.deflects };
        self.send_mirrored(core, now, packet, copies, origin);
    }

    fn mirror_by(
        &mut self,
        core: &mut Core,
        now: Time,
        session: &MirrorSession,
        request: MirrorRequest,
        packet: Packet,
        origin: &mut Origin,
    ) {
        let instance = request.instance;
        if !session.serves(instance == Instance::EGRESS_CLONE) {
            return;
        }
        let of_group = PacketOfGroup {
            rid: session.rid,
            l1_xid: session.l1_xid,
            l2_xid: session.l2_xid,
            hash1: session.level1_hash,
            hash2: session.level2_hash,
            mixes_rid: self.tna.chip == TofinoChip::Tofino2,
        };
        let mut ways: Ways = Vec::new();
        for (group, _) in session.groups.iter().filter(|(_, valid)| *valid) {
            replicas(core, u32::from(*group), &of_group, &mut ways);
        }
        let cpu = cpu_port(core).filter(|_| session.copy_to_cpu);
        let unicast = session.unicast_valid.then_some(session.unicast_port);
        ways.extend(cpu.into_iter().chain(unicast).map(|port| (Target { port, instance: 0 }, instance)));
        for way in &mut ways {
            way.1 = instance;
        }
        let priority = (session.queue as usize % PRIORITIES) as u8;
        let length = truncation(session.max_length_bytes.into());
        let copies = MirrorCopies { ways, priority, length, deflects: request.says.deflects };
        self.send_mirrored(core, now, packet, copies, origin);
    }

    fn send_mirrored(
        &mut self,
        core: &mut Core,
        now: Time,
        mut packet: Packet,
        copies: MirrorCopies,
        origin: &mut Origin,
    ) {
        let MirrorCopies { mut ways, priority, length, deflects } = copies;
        let against = QueueId { port: origin.port, priority };
        let allowed = core.allow_copies(&mut origin.lineage, ways.len(), against);
        packet.truncate(length);
        let queued = Queued::new(now, packet, *origin);
        ways.truncate(allowed);
        self.send(core, now, queued, &ways, priority, deflects);
    }

    /// Puts a packet into the queue of a port. A port that leads back has none: so does a recirculation port
    /// that is none of the switch's, and one that is looped.
    fn enqueue(&mut self, core: &mut Core, now: Time, to: QueueId, queued: Queued, deflects: bool) {
        let QueueId { port, priority } = to;
        if deflects && !core.has_room(port, priority, queued.length.min(queued.truncate)) {
            return self.deflect(core, now, to, queued);
        }
        if !self.leads_back(core, port) {
            core.enqueue(port, priority, queued);
            if self.has_ghost {
                self.tell_ghost(core, now, to);
            }
        } else if core.loopback.len() < MAX_CONTROLLER_QUEUE {
            core.loopback.push_back(Unqueued { port, priority, queued });
        } else {
            core.drop_at(u32::from(queued.ingress_port), priority, DropCause::TailDrop);
        }
    }

    #[inline]
    fn leads_back(&self, core: &Core, port: u32) -> bool {
        if core.chip.loops_back(port) {
            return true;
        }
        let ports = match self.tna.chip {
            TofinoChip::Tofino1 => 68..=71,
            TofinoChip::Tofino2 => 0..=7,
        };
        ports.contains(&(port & PORT_OF_PIPE))
            && core.tm.port(port).is_none()
            && core.config.cpu_port != Some(port)
    }

    /// A packet whose queue is full goes where the control plane wants to see such packets, or is dropped.
    #[cold]
    fn deflect(&mut self, core: &mut Core, now: Time, full: QueueId, queued: Queued) {
        let pipe = (queued.ingress_port >> 7 & 3) as u8;
        let to = core.chip.deflection(pipe);
        if !to.enabled {
            return core.enqueue(full.port, full.priority, queued);
        }
        core.counters.deflected += 1;
        core.trace.keep(|| Step::Deflected { port: full.port, priority: full.priority });
        let queued = Queued { instance: Instance::DEFLECTED, ..queued };
        let priority = (to.queue as usize % PRIORITIES) as u8;
        self.enqueue(core, now, QueueId { port: to.port, priority }, queued, false);
    }

    /// Runs the ghost thread of each pipe for a queue whose depth changed.
    pub(super) fn tell_ghost(&mut self, core: &mut Core, now: Time, changed: QueueId) {
        let QueueId { port, priority } = changed;
        let Some(index) = core.tm.port(port) else { return };
        let depth = core.tm.depth(index, priority).min(MAX_GHOST_DEPTH);
        let tna = std::sync::Arc::clone(&self.tna);
        let ghosts = || tna.pipes.iter().filter_map(|pipe| pipe.ghost);
        // Every pipe hears of every queue.
        for (pipe, ghost) in
            (0..self.runtime.pipes()).flat_map(|pipe| ghosts().map(move |ghost| (pipe, ghost)))
        {
            let runtime = &mut self.runtime;
            runtime.enter(pipe);
            runtime.frame.reset();
            runtime.effects.reset();
            runtime.set(ghost.told.ping_pong, 0);
            runtime.set(ghost.told.qlength, depth.into());
            let of_pipe = (port & PORT_OF_PIPE) << QUEUE_BITS | u32::from(priority);
            runtime.set(ghost.told.qid, of_pipe.into());
            runtime.set(ghost.told.pipe_id, u64::from(port >> 7 & 3));
            runtime.run(core, now, ghost.control, &Packet::default(), 0, 0);
            runtime.settle(core, now);
        }
    }
}

/// Where the copies of a group go: P4Runtime's replicas, then those of the tree.
fn replicas(core: &Core, group: u32, packet: &PacketOfGroup, ways: &mut Ways) {
    let tree = &core.chip.multicast;
    let flat = core.pre.group(group).map(|group| targets(&group.replicas, &core.ports_down));
    let stays = |target: &Target| !tree.pruned(packet, target.instance).contains(&target.port);
    let flat = flat.unwrap_or_default().into_iter().filter(stays);
    let nested = u16::try_from(group).map(|group| tree.targets(group, packet, &core.ports_down));
    let mut instance = Instance::FIRST_REPLICA;
    for target in flat.chain(nested.unwrap_or_default()) {
        ways.push((target, instance));
        instance = Instance::REPLICA;
    }
}
