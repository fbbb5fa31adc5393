//! Architectures: what a switch does with a packet around the blocks of a program, from a port to the queues
//! and from a queue to a port.
//!
//! An architecture is one module with an implementation of [`Architecture`], and its lines in the registry:
//! [`Program`], [`Program::new`] and `dispatch`. The switch knows none by name.

mod psa;
mod runtime;
mod tna;
mod v1model;

use std::sync::Arc;

use p4cc_exec::Pipeline;
use p4cc_ir::TofinoChip;
use p4cc_units::Time;

use crate::config::{ExecChoice, QdepthUnit};
use crate::core::{Core, Instance, Queued};
use crate::lineage::Lineage;
use crate::packet::Packet;
use crate::pre::Target;
use crate::tm::{Dequeued, PortIndex};
use runtime::Runtime;
pub use runtime::Workspace;

/// A packet at the entrance of the parser.
pub(crate) struct Arrival {
    pub packet: Packet,
    /// In bytes.
    pub length: u32,
    pub ingress_port: u32,
    pub instance: Instance,
    pub lineage: Lineage,
}

/// What became of a packet that may bypass its queue.
pub(crate) enum IngressResult {
    /// It bypassed its queue and leaves the port.
    Leaves(PortIndex, Packet),
    /// Egress dropped it at the port.
    Dropped(PortIndex),
    /// It waits in queues, or was dropped.
    Done,
}

/// A packet that just left a queue.
pub(crate) type LeftQueue = Dequeued<Queued>;

/// What is known of a packet that just left a queue, without its bytes. Nothing of it has to be dropped, so
/// it stays in the processor's registers on the way through egress.
#[derive(Clone, Copy)]
pub(crate) struct Left {
    pub port: u32,
    pub priority: u8,
    pub enq_depth: u32,
    pub deq_depth: u32,
    pub enqueued_at: Time,
    pub length: u32,
    pub truncate: u32,
    pub saved_bytes: u32,
    pub rid: u16,
    pub length_delta: i16,
    pub ingress_port: u16,
    pub instance: Instance,
    pub lineage: Lineage,
}

impl LeftQueue {
    /// The packet, and what is known of it.
    #[inline(always)]
    pub fn split(self) -> (Packet, Left) {
        let Self { item, port, priority, enq_depth, deq_depth } = self;
        let Queued { packet, enqueued_at, length, truncate, saved_bytes, .. } = item;
        let Queued { rid, length_delta, ingress_port, instance, lineage, .. } = item;
        let left = Left {
            port,
            priority,
            enq_depth,
            deq_depth,
            enqueued_at,
            length,
            truncate,
            saved_bytes,
            rid,
            length_delta,
            ingress_port,
            instance,
            lineage,
        };
        (packet, left)
    }
}

impl Left {
    /// The packet as it waited.
    // Always inlined, as the next: by a call, all of it would be in memory before it is needed there.
    #[inline(always)]
    pub fn queued(self, packet: Packet) -> Queued {
        let Self { enqueued_at, length, truncate, saved_bytes, rid, length_delta, .. } = self;
        let Self { ingress_port, instance, lineage, .. } = self;
        Queued {
            packet,
            enqueued_at,
            length,
            truncate,
            saved_bytes,
            rid,
            length_delta,
            ingress_port,
            instance,
            lineage,
        }
    }

    /// The same with its queue.
    #[inline(always)]
    pub fn left_queue(self, packet: Packet) -> LeftQueue {
        let Self { port, priority, enq_depth, deq_depth, .. } = self;
        LeftQueue { item: self.queued(packet), port, priority, enq_depth, deq_depth }
    }
}

/// What a switch asks of an architecture. Packets that lead back to ingress are served before a call returns;
/// those for ports without a queue are left to the switch.
trait Architecture {
    /// Code and memory of the program.
    fn runtime(&self) -> &Runtime;

    /// Code and memory of the program, to change.
    fn runtime_mut(&mut self) -> &mut Runtime;

    /// Takes a packet from outside through ingress into queues.
    fn receive(&mut self, core: &mut Core, now: Time, arrival: Arrival);

    /// Takes a packet from outside through ingress, and through egress too if it bypasses its queue.
    /// `ingress` is the port that it came in on; `is_free` says whether a port is idle.
    fn receive_with_bypass(
        &mut self,
        core: &mut Core,
        now: Time,
        arrival: Arrival,
        ingress: PortIndex,
        is_free: impl Fn(u32) -> bool,
    ) -> IngressResult;

    /// Takes a packet from its queue through egress. Returns it if it is to be sent.
    fn egress(&mut self, core: &mut Core, now: Time, packet: Packet, left: Left) -> Option<Packet>;
}

/// A program by its architecture.
#[derive(Clone)]
pub(crate) enum Program {
    V1Model(v1model::V1Switch),
    Psa(psa::PsaSwitch),
    Tna(Box<tna::TnaSwitch>),
}

/// Evaluates an expression with the program's architecture by its own type, so that calls are inlined.
macro_rules! dispatch {
    ($program:expr, $architecture:ident => $call:expr) => {
        match $program {
            Program::V1Model($architecture) => $call,
            Program::Psa($architecture) => $call,
            Program::Tna($architecture) => $call,
        }
    };
}

impl Program {
    pub fn new(pipeline: Arc<Pipeline>, drop_port: u32, choice: ExecChoice, counts_hits: bool) -> Self {
        let program = Arc::clone(pipeline.program());
        let runtime = Runtime::new(pipeline, drop_port, choice, counts_hits);
        match &program.architecture {
            p4cc_ir::Architecture::V1Model(v1) => Self::V1Model(v1model::V1Switch::new(runtime, *v1)),
            p4cc_ir::Architecture::Psa(psa) => Self::Psa(psa::PsaSwitch::new(runtime, psa)),
            p4cc_ir::Architecture::Tna(tna) => Self::Tna(Box::new(tna::TnaSwitch::new(runtime, tna))),
        }
    }

    #[inline]
    pub fn runtime(&self) -> &Runtime {
        dispatch!(self, architecture => architecture.runtime())
    }

    #[inline]
    pub fn runtime_mut(&mut self) -> &mut Runtime {
        dispatch!(self, architecture => architecture.runtime_mut())
    }

    /// The Tofino chip that the program is for.
    pub fn chip(&self) -> Option<TofinoChip> {
        self.runtime().pipeline.program().architecture.chip()
    }

    /// Gives each of so many pipes of a chip a state of its own; a program for none has one state.
    pub fn split(&mut self, pipes: u8) {
        if self.chip().is_some() {
            self.runtime_mut().split(pipes.into());
        }
    }

    /// The unit of depths at ports that name none.
    pub fn qdepth_unit(&self) -> QdepthUnit {
        match self.chip() {
            Some(TofinoChip::Tofino1) => QdepthUnit::Cells80,
            Some(TofinoChip::Tofino2) => QdepthUnit::Cells176,
            None => QdepthUnit::Packets,
        }
    }

    /// [`Architecture::receive`].
    #[inline(always)]
    pub fn receive(&mut self, core: &mut Core, now: Time, arrival: Arrival) {
        dispatch!(self, architecture => architecture.receive(core, now, arrival));
    }

    /// [`Architecture::receive_with_bypass`].
    #[inline(always)]
    pub fn receive_with_bypass(
        &mut self,
        core: &mut Core,
        now: Time,
        arrival: Arrival,
        ingress: PortIndex,
        is_free: impl Fn(u32) -> bool,
    ) -> IngressResult {
        dispatch!(self, architecture => architecture.receive_with_bypass(core, now, arrival, ingress, is_free))
    }

    /// [`Architecture::egress`].
    #[inline(always)]
    pub fn egress(&mut self, core: &mut Core, now: Time, packet: Packet, left: Left) -> Option<Packet> {
        dispatch!(self, architecture => architecture.egress(core, now, packet, left))
    }
}

/// Length that a session cuts to; 0 means whole packets.
fn truncation(packet_length_bytes: u32) -> u32 {
    if packet_length_bytes == 0 { u32::MAX } else { packet_length_bytes }
}

/// The copies of a packet, one for each replica.
fn copies<'q>(replicas: &'q [Target], queued: &'q Queued) -> impl Iterator<Item = (u32, Queued)> + 'q {
    replicas.iter().map(|replica| (replica.port, Queued { rid: replica.instance, ..queued.clone() }))
}
