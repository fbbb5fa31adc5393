//! Looking ahead: has the processor fetch what the next events will touch.
//!
//! A network of hundreds of switches holds more packets and entries than the processor's near caches do, so most of
//! what an event touches first would be waited for. The queue knows the next events, and of each what it is going to
//! touch: its channel, the packet that arrives, the switch, the flow. One lies behind the other, so there are steps, each
//! some events nearer than the one before, and each reads only what the one before had fetched.
//!
//! Nothing here changes anything but time. A small network fits the caches; there it would only take time, and is not
//! done.

use p4cc_switch::prefetch::{prefetch, prefetch_start};
use p4cc_transport::wire::peek_flow_id;

use crate::event::{Event, Kind};
use crate::host::Ends;
use crate::network::{CLOSE_TIMER, Network, PACE_TIMER, position};
use crate::topology::Topology;
use p4cc_units::Time;

/// How many events before its turn each step is taken.
const STEPS: [usize; 5] = [12, 9, 6, 3, 1];
/// Networks of fewer switches fit.
const MIN_SWITCHES: usize = 32;

/// How many events a network of this kind wants to know ahead.
pub(crate) fn events_ahead(topology: &Topology) -> usize {
    if topology.switches.len() < MIN_SWITCHES { 0 } else { STEPS[0] + 1 }
}

impl Network {
    /// Takes a step for some of the next events; to be called before each event.
    #[inline]
    pub(crate) fn fetch_ahead(&self) {
        if self.queue.wheel().looks_ahead() {
            self.take_steps();
        }
    }

    fn take_steps(&self) {
        let steps =
            [Self::fetch_channel, Self::fetch_place, Self::fetch_packet, Self::fetch_flow, Self::fetch_ends];
        for (step, place) in steps.into_iter().zip(STEPS) {
            if let Some(event) = self.queue.wheel().upcoming(place) {
                step(self, event);
            }
        }
    }

    /// Has what the next districts are to touch in this window fetched.
    pub(crate) fn fetch_district(&self, district: usize, last: Time) {
        for event in self.queue.known(district + 3) {
            self.fetch_channel(event);
        }
        for event in self.queue.known(district + 2) {
            self.fetch_place(event);
        }
        for event in self.queue.known(district + 1) {
            if event.kind() == Kind::Arrival {
                self.channels[event.subject as usize].prefetch_until(last);
            }
        }
    }

    /// The channel and the node; the flow of a timer.
    #[inline]
    fn fetch_channel(&self, event: &Event) {
        match event.kind() {
            Kind::Arrival => {
                prefetch_start(&self.channels[event.subject as usize]);
                self.fetch_node(event.node());
            }
            Kind::Dequeue => self.fetch_node(event.node()),
            Kind::Timer if event.port() == PACE_TIMER => {
                self.hosts.get(event.subject as usize).into_iter().for_each(prefetch);
            }
            Kind::Timer if event.port() <= CLOSE_TIMER => {
                self.flows.get(event.subject as usize).into_iter().for_each(prefetch_start);
            }
            Kind::Timer | Kind::Start => {}
        }
    }

    #[inline]
    fn fetch_node(&self, node: u32) {
        match (node as usize).checked_sub(self.switches.len()) {
            None => self.switches[node as usize].switch.prefetch(),
            Some(host) => self.hosts.get(host).into_iter().for_each(prefetch),
        }
    }

    /// Where the channel tells of the packet; the port.
    #[inline]
    fn fetch_place(&self, event: &Event) {
        let node = self.switches.get(event.node() as usize);
        match (event.kind(), node) {
            (Kind::Arrival, node) => {
                self.channels[event.subject as usize].prefetch_first();
                node.into_iter().for_each(|node| node.switch.prefetch_port(event.port()));
            }
            (Kind::Dequeue, Some(node)) => {
                node.switch.prefetch_port(event.port());
                node.prefetch_line(event.port());
            }
            _ => {}
        }
    }

    /// The packet; the queue that a port sends from.
    #[inline]
    fn fetch_packet(&self, event: &Event) {
        match event.kind() {
            Kind::Arrival => {
                let packet = self.channels[event.subject as usize].first_packet();
                packet.into_iter().for_each(|packet| prefetch(&**packet));
            }
            Kind::Dequeue => {
                let node = self.switches.get(event.node() as usize);
                node.into_iter().for_each(|node| node.switch.prefetch_queue(event.port()));
            }
            Kind::Timer | Kind::Start => {}
        }
    }

    /// The flow of a packet that reaches a host.
    #[inline]
    fn fetch_flow(&self, event: &Event) {
        if let Some(flow) = self.flow_to_come(event) {
            prefetch_start(&self.flows[flow].ends);
            prefetch_start(&self.flows[flow].data_pkts);
            prefetch_start(&self.plans[flow]);
        }
    }

    /// Its ends.
    #[inline]
    fn fetch_ends(&self, event: &Event) {
        if let Some(flow) = self.flow_to_come(event)
            && let Ends::Rdma(ends) = &self.flows[flow].ends
        {
            prefetch(&**ends);
        }
    }

    /// The flow of a packet that reaches a host by this event.
    #[inline]
    fn flow_to_come(&self, event: &Event) -> Option<usize> {
        if event.kind() != Kind::Arrival || (event.node() as usize) < self.switches.len() {
            return None;
        }
        let packet = self.channels[event.subject as usize].first_packet()?;
        position(&self.plans, peek_flow_id(&packet.head)?)
    }
}
