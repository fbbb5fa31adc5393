//! What a host or a switch may touch while it handles an event, besides its own state: the schedule, memory
//! of packets, the topology, a way to send, and what is noted for the observers.
//!
//! Links and observers are private here, so no handler reads a channel or a table of results.

use p4cc_switch::{Packet, PacketPool};
use p4cc_transport::Actions;
use p4cc_units::{Span, Time};

use crate::describe::Topology;
use crate::events::Schedule;
use crate::links::{Links, PauseWord};
use crate::record::{Activity, Observers, PacketTrace};

/// The surroundings of a handler.
pub(crate) struct Context<'a> {
    pub schedule: &'a mut Schedule,
    pub pool: &'a mut PacketPool,
    pub topology: &'a Topology,
    links: &'a mut Links,
    observers: &'a mut Observers,
}

impl<'a> Context<'a> {
    #[inline(always)]
    pub fn new(
        schedule: &'a mut Schedule,
        pool: &'a mut PacketPool,
        topology: &'a Topology,
        links: &'a mut Links,
        observers: &'a mut Observers,
    ) -> Self {
        Self { schedule, pool, topology, links, observers }
    }

    #[inline]
    pub fn now(&self) -> Time {
        self.schedule.now
    }

    /// Sends a packet of a number of bytes into a channel; its last bit leaves at `end`.
    #[inline(always)]
    pub fn send(&mut self, channel: u32, end: Time, packet: Packet, bytes: u32) {
        let trace = self.observers.trace.as_deref_mut();
        self.links.send(self.schedule, trace, channel, end, packet, bytes);
    }

    /// Sends a pause frame into a channel, from `start` to `end`.
    pub fn send_pause(&mut self, channel: u32, times: [Time; 2], word: PauseWord) {
        self.links.send_pause(self.schedule, channel, times, word);
    }

    /// Whether the link of a channel is down.
    pub fn is_down(&self, channel: u32) -> bool {
        self.links.channels()[channel as usize].is_down()
    }

    /// Packets that are followed, if there are any.
    #[inline]
    pub fn trace(&mut self) -> Option<&mut PacketTrace> {
        self.observers.trace.as_deref_mut()
    }

    /// A link is paused, which may close a cycle.
    pub fn request_deadlock_check(&mut self) {
        self.observers.deadlocks.request(self.schedule);
    }

    /// A packet reaches a host.
    #[inline]
    pub fn show(&mut self, host: u32, packet: &Packet) {
        if let Some(tap) = &mut self.observers.tap {
            tap(self.schedule.now, self.topology.interfaces.host(host) as usize, packet);
        }
    }

    /// What a window sender did, if it is recorded.
    #[inline]
    pub fn record_actions(&mut self, flow_id: u32, actions: &Actions) {
        self.observers.recorder.events(self.schedule.now, flow_id, actions.events());
        if let Some((rtt, marked)) = actions.rtt() {
            self.record_rtt(flow_id, rtt, marked);
        }
    }

    /// A round-trip time that a sender took, if they are recorded, and whether its ACK echoed a mark.
    #[inline]
    pub fn record_rtt(&mut self, flow_id: u32, rtt: Span, marked: bool) {
        self.observers.recorder.rtt(self.schedule.now, flow_id, rtt, marked);
    }

    /// What ends a silence, or makes one count.
    #[inline]
    pub fn note(&mut self, activity: Activity) {
        self.observers.stall.note(self.schedule.now, activity);
    }
}
