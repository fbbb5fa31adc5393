//! What watches a run without changing what nodes do: recorder, detectors, packets that are followed, a tap.

use p4cc_switch::Packet;
use p4cc_units::Time;

use crate::describe::spec::NetworkSpec;
use crate::record::deadlocks::DeadlockDetector;
use crate::record::packet_trace::PacketTrace;
use crate::record::recorder::Recorder;
use crate::record::stall::StallDetector;

/// Sees every packet that reaches a host: when, which host, and the packet as it came.
pub type Tap = Box<dyn FnMut(Time, usize, &Packet) + Send>;

/// The observers of a run.
pub(crate) struct Observers {
    pub recorder: Recorder,
    pub stall: StallDetector,
    pub deadlocks: DeadlockDetector,
    pub tap: Option<Tap>,
    /// Packets that are followed, if there are any.
    pub trace: Option<Box<PacketTrace>>,
}

impl Observers {
    /// The observers at the start of a run.
    pub fn new(spec: &NetworkSpec, flows: usize, ports: usize) -> Self {
        Self {
            recorder: Recorder::new(&spec.record, flows, ports, &spec.switch_names()),
            stall: StallDetector::new(spec.stall_after_ns),
            deadlocks: DeadlockDetector::new(spec.deadlock_after_ns),
            tap: None,
            trace: None,
        }
    }
}
