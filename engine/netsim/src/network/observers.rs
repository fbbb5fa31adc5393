//! What watches a run without changing what nodes do: recorder, detectors, counters of flows, a tap.

use p4cc_switch::Packet;
use p4cc_units::Time;

use crate::describe::spec::NetworkSpec;
use crate::links::DeadlockDetector;
use crate::output::{PacketTrace, Recorder, StallDetector};

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
    /// Flows under way, in the order of their start.
    pub active: Vec<u32>,
    /// Traversals of a link by a packet.
    pub packet_hops: u64,
    /// Counted flows that are not complete.
    pub open_flows: u64,
    /// Flows with a size, requests of rounds not counted.
    pub counted_flows: u64,
    /// When the first counted flow began, and how many bytes of all flows had been acknowledged then.
    pub first_begin: Option<(Time, u64)>,
}

impl Observers {
    /// The observers at the start of a run.
    pub fn new(spec: &NetworkSpec, flows: usize, counted_flows: u64, ports: usize) -> Self {
        Self {
            recorder: Recorder::new(&spec.record, flows, ports, &spec.switch_names()),
            stall: StallDetector::new(spec.stall_after_ns),
            deadlocks: DeadlockDetector::default(),
            tap: None,
            trace: None,
            active: Vec::new(),
            packet_hops: 0,
            open_flows: counted_flows,
            counted_flows,
            first_begin: None,
        }
    }

    /// A flow will send no more new data: it is complete, or ended itself early.
    pub fn on_flow_end(&mut self, now: Time, is_counted: bool, is_given_whole: bool) {
        self.open_flows -= u64::from(is_counted);
        if is_given_whole {
            self.stall.on_finish(now);
        }
    }

    /// Whether all counted flows are complete.
    #[inline]
    pub fn are_flows_complete(&self) -> bool {
        self.open_flows == 0 && self.counted_flows > 0
    }
}
