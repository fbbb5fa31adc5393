//! PSA's ingress and egress pipeline (PSA 1.2, section 6).
//!
//! Ingress is parser, control and deparser, then clone, drop, resubmit, multicast or unicast, in BMv2's
//! order. Egress runs when a packet leaves its queue: parser, control and deparser, then clone, drop,
//! recirculation. The deparsed packet waits in its queue. In front of it is the metadata that the ingress
//! deparser, or the origin of a clone, gives to the egress parser.
//!
//! Where BMv2's psa_switch departs from PSA, this follows PSA: metadata accompanies every kind of packet, a
//! resubmitted packet keeps its port, and deparsers run for dropped packets too, since they write the
//! metadata of clones.
//!
//! Invariants: resubmissions, recirculations and copies of a received packet are bounded, as in v1model. The
//! loop from egress to ingress holds at most [`MAX_CONTROLLER_QUEUE`] packets, in order. So every call ends.

use std::sync::Arc;

use p4cc_exec::Snapshot;
use p4cc_ir::{Bridge, PSA_PORT_CPU, PSA_PORT_RECIRCULATE, Psa, VarId};
use p4cc_units::Time;

use super::runtime::Runtime;
use super::{Architecture, Arrival, IngressResult, Left, copies, truncation};
use crate::core::{Core, Instance, MAX_CONTROLLER_QUEUE, Origin, QueueId, Queued, Unqueued};
use crate::counters::DropCause;
use crate::packet::Packet;
use crate::pre::{Target, targets};
use crate::tm::PortIndex;

/// `PSA_PacketPath_t`, by position.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Path {
    Normal = 0,
    NormalUnicast = 1,
    NormalMulticast = 2,
    CloneI2E = 3,
    CloneE2E = 4,
    Resubmit = 5,
    Recirculate = 6,
}

/// A PSA program in its pipeline.
#[derive(Clone)]
pub(crate) struct PsaSwitch {
    pub runtime: Runtime,
    psa: Arc<Psa>,
    /// Packs what egress gets along with a packet.
    bridged: Arc<Snapshot>,
}

/// A packet at the entrance of ingress; what its parser gets along with it stands in the frame.
struct Entering {
    packet: Packet,
    /// As the program sees it.
    ingress_port: u32,
    origin: Origin,
    path: Path,
}

/// What is to become of a packet after ingress.
struct Verdict {
    class_of_service: u8,
    clone_session: Option<u32>,
    drop: bool,
    resubmit: bool,
    multicast_group: u32,
    egress_port: u32,
}

impl Architecture for PsaSwitch {
    fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    fn runtime_mut(&mut self) -> &mut Runtime {
        &mut self.runtime
    }

    fn receive(&mut self, core: &mut Core, now: Time, arrival: Arrival) {
        let from_cpu = core.config.cpu_port == Some(arrival.ingress_port);
        self.runtime.frame.reset();
        let entering = Entering {
            packet: arrival.packet,
            ingress_port: if from_cpu { PSA_PORT_CPU } else { arrival.ingress_port },
            origin: Origin { port: arrival.ingress_port, lineage: arrival.lineage },
            path: Path::Normal,
        };
        self.ingress(core, now, entering);
        self.go_round(core, now);
    }

    /// Ingress and egress are apart here: every packet waits.
    fn receive_with_bypass(
        &mut self,
        core: &mut Core,
        now: Time,
        arrival: Arrival,
        _ingress: PortIndex,
        _is_free: impl Fn(u32) -> bool,
    ) -> IngressResult {
        self.receive(core, now, arrival);
        IngressResult::Done
    }

    fn egress(&mut self, core: &mut Core, now: Time, packet: Packet, left: Left) -> Option<Packet> {
        let left = left.left_queue(packet);
        let mut queued = left.item;
        let sent =
            self.egress_once(core, now, &mut queued, QueueId { port: left.port, priority: left.priority });
        self.go_round(core, now);
        sent
    }
}

impl PsaSwitch {
    pub fn new(runtime: Runtime, psa: &Psa) -> Self {
        let vars: Vec<VarId> = psa.queued().into_iter().flat_map(|bridge| &bridge.vars).copied().collect();
        let headers =
            psa.queued().into_iter().flat_map(|bridge| &bridge.headers).copied().collect::<Vec<_>>();
        let bridged = Arc::new(Snapshot::of(&runtime.pipeline, &vars, &headers));
        Self { runtime, psa: Arc::new(psa.clone()), bridged }
    }

    /// Takes what goes to the recirculation port through egress and ingress, until nothing does.
    fn go_round(&mut self, core: &mut Core, now: Time) {
        while let Some(Unqueued { port, priority, mut queued }) = core.loopback.pop_front() {
            let counted_port = u32::from(queued.ingress_port);
            let left = QueueId { port, priority };
            let Some(packet) = self.egress_once(core, now, &mut queued, left) else { continue };
            let mut origin = Origin { port: counted_port, lineage: queued.lineage };
            if core.allow(&mut origin.lineage, 1, QueueId { port: counted_port, priority }) == 0 {
                continue;
            }
            core.counters.recirculated += 1;
            let psa = Arc::clone(&self.psa);
            self.start_spare(&psa.recirculate);
            core::mem::swap(&mut self.runtime.frame, &mut self.runtime.spare);
            let entering =
                Entering { packet, ingress_port: PSA_PORT_RECIRCULATE, origin, path: Path::Recirculate };
            self.ingress(core, now, entering);
        }
    }

    /// Takes a packet through ingress into queues, resubmissions included.
    fn ingress(&mut self, core: &mut Core, now: Time, mut entering: Entering) {
        let psa = Arc::clone(&self.psa);
        loop {
            let (verdict, payload_at) = self.ingress_once(core, now, &entering);
            self.runtime.settle(core, now);
            if let Some(session) = verdict.clone_session {
                let Entering { packet, origin, .. } = &mut entering;
                self.clone_packet(core, now, session, Instance::INGRESS_CLONE, packet, origin);
            }
            let against = QueueId { port: entering.origin.port, priority: verdict.class_of_service };
            if verdict.drop {
                core.drop_at(against.port, against.priority, DropCause::Ingress);
                return;
            }
            if !verdict.resubmit {
                self.forward(core, now, entering, &verdict, payload_at);
                return;
            }
            if core.allow(&mut entering.origin.lineage, 1, against) == 0 {
                return;
            }
            core.counters.resubmitted += 1;
            self.start_spare(&psa.resubmit);
            core::mem::swap(&mut self.runtime.frame, &mut self.runtime.spare);
            entering.path = Path::Resubmit;
        }
    }

    /// Parser, ingress and deparser, whose output is left in the runtime's front.
    fn ingress_once(&mut self, core: &mut Core, now: Time, entering: &Entering) -> (Verdict, u32) {
        let psa = Arc::clone(&self.psa);
        let (packet, length) = (&entering.packet, entering.packet.len());
        let runtime = &mut self.runtime;
        let (port, path) = (u64::from(entering.ingress_port), entering.path as u64);
        runtime.set(psa.ingress_parser_input.port, port);
        runtime.set(psa.ingress_parser_input.packet_path, path);
        runtime.effects.reset();
        let payload_at = runtime.parse(core, now, psa.ingress.parser, packet).consumed_bytes();
        let input = psa.ingress_input;
        runtime.set(input.ingress_port, port);
        runtime.set(input.packet_path, path);
        runtime.set(input.ingress_timestamp, core.timestamp(now));
        runtime.set(input.parser_error, runtime.get(psa.parser_error));
        let output = psa.ingress_output;
        for (var, value) in [
            (output.class_of_service, 0),
            (output.clone, 0),
            (output.clone_session_id, 0),
            (output.drop, 1),
            (output.resubmit, 0),
            (output.multicast_group, 0),
            (output.egress_port, 0),
        ] {
            runtime.set(var, value);
        }
        runtime.run(core, now, psa.ingress.control, packet, payload_at, length);
        // Read before the deparser, which cannot change it.
        let verdict = Verdict {
            class_of_service: runtime.get(output.class_of_service) as u8,
            clone_session: (runtime.get(output.clone) != 0)
                .then(|| runtime.get(output.clone_session_id) as u32),
            drop: runtime.get(output.drop) != 0,
            resubmit: runtime.get(output.resubmit) != 0,
            multicast_group: runtime.get(output.multicast_group) as u32,
            egress_port: runtime.get(output.egress_port) as u32,
        };
        runtime.deparse(core, now, psa.ingress.deparser, length);
        (verdict, payload_at)
    }

    /// Multicast or unicast of the packet as the ingress deparser wrote it.
    fn forward(
        &mut self,
        core: &mut Core,
        now: Time,
        entering: Entering,
        verdict: &Verdict,
        payload_at: u32,
    ) {
        let psa = Arc::clone(&self.psa);
        let mut packet = entering.packet;
        packet.replace_front(payload_at, self.runtime.front());
        let multicast = verdict.multicast_group != 0;
        let instance = if multicast { Instance::REPLICA } else { Instance::NORMAL };
        let mut queued = self.queued(now, packet, &psa.normal, instance, u32::MAX, entering.origin);
        if !multicast {
            self.enqueue(core, verdict.egress_port, verdict.class_of_service, queued);
            return;
        }
        let group = core.pre.group(verdict.multicast_group);
        let replicas = group.map(|group| targets(&group.replicas, &core.ports_down)).unwrap_or_default();
        if replicas.is_empty() {
            core.drop_at(entering.origin.port, verdict.class_of_service, DropCause::NoReplicas);
            return;
        }
        let against = QueueId { port: entering.origin.port, priority: verdict.class_of_service };
        let copies = core.allow_copies(&mut queued.lineage, replicas.len() - 1, against);
        self.replicate(core, &replicas[..=copies], verdict.class_of_service, &queued);
    }

    /// Copies a packet to egress by a session, from ingress as it came in, from egress as it leaves. Whatever
    /// deparser ran last filled in the clone's metadata. A session that is not there makes no copies.
    fn clone_packet(
        &mut self,
        core: &mut Core,
        now: Time,
        session: u32,
        instance: Instance,
        packet: &Packet,
        origin: &mut Origin,
    ) {
        let Some(session) = core.pre.session(session) else { return };
        let (replicas, priority) =
            (targets(&session.replicas, &core.ports_down), session.class_of_service as u8);
        let truncate = truncation(session.packet_length_bytes);
        let against = QueueId { port: origin.port, priority };
        let copies = core.allow_copies(&mut origin.lineage, replicas.len(), against);
        if copies == 0 {
            return;
        }
        let psa = Arc::clone(&self.psa);
        let bridge = if instance == Instance::INGRESS_CLONE { &psa.clone_i2e } else { &psa.clone_e2e };
        let mut packet = packet.clone();
        packet.truncate(truncate);
        let queued = self.queued(now, packet, bridge, instance, truncate, *origin);
        self.replicate(core, &replicas[..copies], priority, &queued);
    }

    /// Makes the spare frame start a new life with the metadata of a bridge.
    fn start_spare(&mut self, bridge: &Bridge) {
        let Runtime { pipeline, frame, spare, .. } = &mut self.runtime;
        spare.reset();
        for &header in &bridge.headers {
            spare.set_valid(pipeline, header, frame.is_valid(pipeline, header));
        }
        spare.copy_vars(pipeline, frame, &bridge.vars);
    }

    /// A packet for a queue, with the metadata of a bridge in front.
    fn queued(
        &mut self,
        now: Time,
        mut packet: Packet,
        bridge: &Bridge,
        instance: Instance,
        truncate: u32,
        origin: Origin,
    ) -> Queued {
        let length = packet.len();
        self.start_spare(bridge);
        let mut saved = Vec::new();
        self.bridged.save(&self.runtime.spare, &mut saved);
        packet.replace_front(0, &saved);
        Queued {
            packet,
            enqueued_at: now,
            length,
            saved_bytes: saved.len() as u32,
            truncate,
            rid: 0,
            length_delta: 0,
            ingress_port: u16::try_from(origin.port).unwrap_or(u16::MAX),
            instance,
            lineage: origin.lineage,
        }
    }

    fn replicate(&mut self, core: &mut Core, replicas: &[Target], priority: u8, queued: &Queued) {
        for (port, copy) in copies(replicas, queued) {
            self.enqueue(core, port, priority, copy);
        }
    }

    /// Puts a packet into the queue of a port, one of PSA's own ports included.
    fn enqueue(&mut self, core: &mut Core, port: u32, priority: u8, queued: Queued) {
        match port {
            PSA_PORT_RECIRCULATE if core.loopback.len() < MAX_CONTROLLER_QUEUE => {
                core.loopback.push_back(Unqueued { port, priority, queued });
            }
            PSA_PORT_RECIRCULATE => {
                core.drop_at(u32::from(queued.ingress_port), priority, DropCause::TailDrop);
            }
            PSA_PORT_CPU => core.enqueue(core.config.cpu_port.unwrap_or(port), priority, queued),
            _ => core.enqueue(port, priority, queued),
        }
    }

    /// Parser, egress and deparser of a packet that left a queue; gives it back unless it is dropped.
    fn egress_once(
        &mut self,
        core: &mut Core,
        now: Time,
        queued: &mut Queued,
        left: QueueId,
    ) -> Option<Packet> {
        let QueueId { port, priority } = left;
        let psa = Arc::clone(&self.psa);
        let seen_port = if core.config.cpu_port == Some(port) { PSA_PORT_CPU } else { port };
        let counted_port = u32::from(queued.ingress_port);
        let mut packet = self.enter_egress(&psa, queued, seen_port);
        let path = path_to_egress(queued.instance) as u64;
        let length = packet.len();
        let runtime = &mut self.runtime;
        runtime.effects.reset();
        let payload_at = runtime.parse(core, now, psa.egress.parser, &packet).consumed_bytes();
        let (input, output) = (psa.egress_input, psa.egress_output);
        for (var, value) in [
            (input.class_of_service, u64::from(priority)),
            (input.egress_port, u64::from(seen_port)),
            (input.packet_path, path),
            (input.instance, u64::from(queued.rid)),
            (input.egress_timestamp, core.timestamp(now)),
            (input.parser_error, runtime.get(psa.parser_error)),
            (output.clone, 0),
            (output.clone_session_id, 0),
            (output.drop, 0),
            (psa.egress_deparser_port, u64::from(seen_port)),
        ] {
            runtime.set(var, value);
        }
        runtime.run(core, now, psa.egress.control, &packet, payload_at, length);
        let clone = runtime.get(output.clone) != 0;
        let session = runtime.get(output.clone_session_id) as u32;
        let drop = runtime.get(output.drop) != 0;
        runtime.deparse(core, now, psa.egress.deparser, length);
        runtime.settle(core, now);
        packet.replace_front(payload_at, self.runtime.front());
        packet.truncate(queued.truncate);
        if clone {
            let mut origin = Origin { port: counted_port, lineage: queued.lineage };
            self.clone_packet(core, now, session, Instance::EGRESS_CLONE, &packet, &mut origin);
            queued.lineage = origin.lineage;
        }
        if drop {
            core.drop_from(
                if port == PSA_PORT_RECIRCULATE { counted_port } else { port },
                priority,
                DropCause::Egress,
            );
            return None;
        }
        Some(packet)
    }

    /// Makes the frame that the egress parser starts from.
    /// Gives the packet without what stood in front of it.
    fn enter_egress(&mut self, psa: &Psa, queued: &mut Queued, port: u32) -> Packet {
        let mut packet = core::mem::take(&mut queued.packet);
        self.runtime.frame.reset();
        let saved = packet.head.get(..queued.saved_bytes as usize).unwrap_or_default();
        self.bridged.restore(saved, &mut self.runtime.frame);
        packet.replace_front(queued.saved_bytes, &[]);
        self.runtime.set(psa.egress_parser_input.port, u64::from(port));
        self.runtime.set(psa.egress_parser_input.packet_path, path_to_egress(queued.instance) as u64);
        packet
    }
}

/// How a packet came to egress.
fn path_to_egress(instance: Instance) -> Path {
    match instance {
        Instance::INGRESS_CLONE => Path::CloneI2E,
        Instance::EGRESS_CLONE => Path::CloneE2E,
        Instance::REPLICA => Path::NormalMulticast,
        _ => Path::NormalUnicast,
    }
}
