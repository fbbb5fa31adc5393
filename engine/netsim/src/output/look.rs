//! A look at a run on its way: bounded by ports, links and the flows that are asked for, whatever the run has
//! recorded so far; pauses of PFC (IEEE 802.1Qbb) among it. For whoever watches; nothing changes by it.

use p4cc_cc::Window;
use p4cc_switch::config::PRIORITIES;

use crate::describe::flow_index;
use crate::output::balance::Progress;
use crate::output::view::View;

/// A run at an instant.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Look {
    /// Traversals of a link by a packet.
    pub packet_hops: u64,
    /// Flows with a size.
    pub flows_finite: u64,
    /// Of these, complete.
    pub flows_completed: u64,
    /// Flows that began and did not end.
    pub flows_active: u64,
    /// The first of them by their numbers, as many as were asked for.
    pub first_active: Vec<u32>,
    /// Retransmission timeouts of all flows.
    pub timeouts: u64,
    /// Data packets that arrived marked at level 1 (K) and level 2 (K_dc).
    pub marks: [u64; 2],
    /// Packets that switches dropped, for any cause.
    pub drops: u64,
    /// Pause frames that switches sent.
    pub pauses: u64,
    /// Digest messages of programs.
    pub digests: u64,
    /// By port, switch by switch: packets that wait.
    pub depth_pkts: Vec<u32>,
    /// By port: packets dropped at its queues.
    pub dropped_pkts: Vec<u64>,
    /// By port: whether its neighbour holds one of its priorities (PFC, IEEE 802.1Qbb).
    pub is_paused: Vec<bool>,
    /// By channel, the two ways of a link one after the other: IP bytes that it carried.
    pub link_bytes: Vec<u64>,
    /// The flows that were asked for and are in this run.
    pub flows: Vec<FlowLook>,
}

/// A flow at an instant.
#[derive(Clone, PartialEq, Debug)]
pub struct FlowLook {
    /// Its number.
    pub id: u32,
    /// Whether its application acted.
    pub has_begun: bool,
    /// Whether it is complete, or ended itself early.
    pub has_ended: bool,
    /// Congestion window of senders that have one.
    pub cwnd_segments: Option<f64>,
    /// Pacing rate of senders that have one.
    pub rate_bps: Option<f64>,
    /// Payload acknowledged.
    pub acked_bytes: u64,
}

impl View<'_> {
    /// What there is to see now: the flows of these numbers, and the first active ones up to a count.
    pub fn look(&self, flows: &[u32], first_active: usize, progress: Progress) -> Look {
        let mut look = Look {
            packet_hops: progress.packet_hops,
            flows_finite: progress.flows_finite,
            flows_completed: progress.flows_completed,
            link_bytes: self.links.channels().iter().map(|channel| channel.bytes).collect(),
            flows: flows.iter().filter_map(|&id| self.look_at_flow(id)).collect(),
            ..Look::default()
        };
        for (plan, flow) in self.hosts.planned_flows() {
            look.marks[0] += flow.marks[0];
            look.marks[1] += flow.marks[1];
            if !flow.has_begun {
                continue;
            }
            look.timeouts += flow.snapshot().timeouts;
            if !flow.has_ended() {
                look.flows_active += 1;
                if look.first_active.len() < first_active {
                    look.first_active.push(plan.id);
                }
            }
        }
        self.look_at_switches(&mut look);
        look
    }

    fn look_at_switches(&self, look: &mut Look) {
        for switch in self.switches.iter() {
            look.drops += switch.observation().counters().drops.total();
            look.digests += switch.observation().counters().digests;
            for port in switch.config().ports.iter().map(|port| port.port) {
                let counters = switch.observation().port_counters(port).unwrap_or_default();
                let is_paused = (0..PRIORITIES as u8)
                    .any(|priority| switch.observation().paused_since(port, priority).is_some());
                look.pauses += counters.pauses.iter().map(|pauses| pauses.sent).sum::<u64>();
                look.depth_pkts.push(switch.observation().port_depth_pkts(port));
                look.dropped_pkts.push(counters.dropped());
                look.is_paused.push(is_paused);
            }
        }
    }

    fn look_at_flow(&self, id: u32) -> Option<FlowLook> {
        let flow = &self.hosts.flows()[flow_index(self.hosts.plans(), id)?];
        let snapshot = flow.snapshot();
        // Snapshots have the largest window for a sender that has a rate alone.
        let has_window = snapshot.rate_bps.is_none() || snapshot.cwnd_segments < Window::MAX_SEGMENTS;
        Some(FlowLook {
            id,
            has_begun: flow.has_begun,
            has_ended: flow.has_ended(),
            cwnd_segments: has_window.then_some(snapshot.cwnd_segments),
            rate_bps: snapshot.rate_bps,
            acked_bytes: snapshot.snd_una,
        })
    }
}
