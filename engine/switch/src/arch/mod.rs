//! A loaded program in the pipeline of its architecture: from the port to the queues, and from a queue to the
//! port. Here a packet that causes a PFC (IEEE 802.1Qbb) pause is kept apart from one that bypasses its
//! queue.

mod psa;
mod runtime;
mod tna;
mod v1model;

use std::sync::Arc;

use p4cc_exec::Pipeline;
use p4cc_ir::Architecture;
use p4cc_units::Time;

use crate::config::{ExecChoice, QdepthUnit};
use crate::core::{Core, Instance, Queued};
use crate::lineage::Lineage;
use crate::packet::Packet;
use crate::pre::Target;
use crate::tm::{Admitted, Dequeued, PortIndex};
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

/// A packet behind ingress that goes to one port, and has nothing else done with it.
pub(crate) struct UnicastPacket {
    pub packet: Packet,
    /// Where it goes, and with which priority.
    pub port: u32,
    pub priority: u8,
    pub ingress_port: u32,
    /// In bytes.
    pub length: u32,
    /// Bytes that the parser took.
    payload_at: u32,
    lineage: Lineage,
}

/// What became of a packet that may bypass its queue.
pub(crate) enum IngressResult {
    /// It bypassed its queue and leaves the port.
    Leaves(PortIndex, Packet),
    /// Egress dropped it at the port.
    Dropped(PortIndex),
    /// It goes into its queue.
    Waits(UnicastPacket),
    /// It goes into its queue. The shared buffer has admitted it, and its sender is to pause.
    Pauses(Admitted, UnicastPacket),
    /// Something else was done with it.
    Done,
}

/// A packet that just left a queue.
pub(crate) type LeftQueue = Dequeued<Queued>;

/// A program by its architecture.
#[derive(Clone)]
pub(crate) enum Program {
    V1Model(v1model::V1Switch),
    Psa(psa::PsaSwitch),
    Tna(Box<tna::TnaSwitch>),
}

impl Program {
    pub fn new(pipeline: Arc<Pipeline>, drop_port: u32, choice: ExecChoice, counts_hits: bool) -> Self {
        let program = Arc::clone(pipeline.program());
        let runtime = Runtime::new(pipeline, drop_port, choice, counts_hits);
        match &program.architecture {
            Architecture::V1Model(v1) => Self::V1Model(v1model::V1Switch::new(runtime, *v1)),
            Architecture::Psa(psa) => Self::Psa(psa::PsaSwitch::new(runtime, psa)),
            Architecture::Tna(tna) => Self::Tna(Box::new(tna::TnaSwitch::new(runtime, tna))),
        }
    }

    #[inline]
    pub fn runtime(&self) -> &Runtime {
        match self {
            Self::V1Model(v1) => &v1.runtime,
            Self::Psa(psa) => &psa.runtime,
            Self::Tna(tna) => &tna.runtime,
        }
    }

    #[inline]
    pub fn runtime_mut(&mut self) -> &mut Runtime {
        match self {
            Self::V1Model(v1) => &mut v1.runtime,
            Self::Psa(psa) => &mut psa.runtime,
            Self::Tna(tna) => &mut tna.runtime,
        }
    }

    /// Gives each pipe of the chip a state of its own, where the architecture has pipes.
    pub fn split(&mut self, pipes: u8) {
        if let Self::Tna(tna) = self {
            tna.runtime.split(pipes.into());
        }
    }

    /// Takes a packet from outside through ingress and into queues. A packet that is given back goes into one
    /// queue, by [`v1model::V1Switch::wait`], before anything else happens.
    #[inline(always)]
    pub fn receive(&mut self, core: &mut Core, now: Time, arrival: Arrival) -> Option<UnicastPacket> {
        match self {
            Self::V1Model(v1) => v1.receive(core, now, arrival),
            Self::Psa(psa) => {
                psa.receive(core, now, arrival);
                None
            }
            Self::Tna(tna) => {
                tna.receive(core, now, arrival);
                None
            }
        }
    }

    /// Takes a packet from outside through ingress, and through egress too if it bypasses its queue.
    /// `is_free` says whether a port is idle.
    #[inline(always)]
    pub fn receive_with_bypass(
        &mut self,
        core: &mut Core,
        now: Time,
        arrival: Arrival,
        ingress: PortIndex,
        is_free: impl Fn(u32) -> bool,
    ) -> IngressResult {
        match self {
            Self::V1Model(v1) => v1.receive_with_bypass(core, now, arrival, ingress, is_free),
            Self::Psa(psa) => {
                psa.receive(core, now, arrival);
                IngressResult::Done
            }
            Self::Tna(tna) => tna.receive_with_bypass(core, now, arrival, ingress, is_free),
        }
    }

    /// Takes a packet from its queue through egress. Gives it back if it is to be sent.
    #[inline(always)]
    pub fn egress(&mut self, core: &mut Core, now: Time, left: LeftQueue) -> Option<Packet> {
        match self {
            Self::V1Model(v1) => v1.egress(core, now, left),
            Self::Psa(psa) => psa.egress(core, now, left),
            Self::Tna(tna) => tna.egress(core, now, left),
        }
    }

    /// The unit of depths where ports name none.
    pub fn qdepth_unit(&self) -> QdepthUnit {
        match self {
            Self::Tna(tna) => tna.qdepth_unit(),
            Self::V1Model(_) | Self::Psa(_) => QdepthUnit::Packets,
        }
    }

    /// Lets the packet generator send what is due by now; others than Tofino have none.
    pub fn generate(&mut self, core: &mut Core, now: Time) {
        if let Self::Tna(tna) = self {
            tna.generate(core, now);
        }
    }

    /// Whether the text of `log_msg` is kept.
    pub fn set_logging(&mut self, on: bool) {
        self.runtime_mut().effects.keep_logs = on;
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
