//! The interface of a host: which packet leaves next, and when the interface looks again.
//!
//! Answers of RDMA-like receivers leave first, then what waits in the order of handing over: segments, ACKs
//! and packets of the user's own; then paced flows in round robin. A priority that PFC (IEEE 802.1Qbb) has
//! paused is left out.

use p4cc_switch::Packet;

use crate::describe::HostPlan;
use crate::events::{Ticket, Timer};
use crate::hosts::packets::{self, Outgoing};
use crate::links::{Work, frame_time};
use crate::network::Network;

impl Network {
    /// The interface of a host has work, or became free.
    pub(crate) fn start_interface(&mut self, host: u32) {
        match self.nodes.hosts[host as usize].line.on_work(self.schedule.order.current(self.schedule.now)) {
            Work::Wait => {}
            Work::WakeAt(end) => self.schedule.dequeue(end, self.nodes.host_node(host), 0),
            Work::Start => {
                if let Some((ticket, packet)) = self.next_packet(host) {
                    self.leave(host, ticket, packet);
                }
                self.arm_interface(host);
            }
        }
    }

    /// A segment or ACK is handed to an interface. If nothing waits in front of it and the line is free, it
    /// leaves without entering the queue.
    pub(crate) fn start_with(&mut self, host: u32, (ticket, out): (Ticket, Outgoing)) {
        let current = self.schedule.order.current(self.schedule.now);
        let state = &mut self.nodes.hosts[host as usize];
        if !state.has_none_in_front() || !state.line.is_free(current) {
            state.waiting.push_back((ticket, out));
            return self.start_interface(host);
        }
        let packet = if self.topology.is_plain { self.plain_packet(&out) } else { self.special_packet(&out) };
        if let Some(packet) = packet {
            self.leave(host, ticket, packet);
        }
        self.arm_interface(host);
    }

    /// The bytes of what leaves now, in a packet of p4cc's without more.
    #[inline]
    pub(crate) fn plain_packet(&mut self, out: &Outgoing) -> Option<Packet> {
        packets::to_packet(&mut self.nodes.pool, &self.topology, &self.nodes.plans, out, self.schedule.now)
    }

    /// A packet leaves an interface that is free.
    #[inline]
    fn leave(&mut self, host: u32, ticket: Ticket, packet: Packet) {
        let state = &mut self.nodes.hosts[host as usize];
        state.counters.sent_pkts += 1;
        let HostPlan { uplink, rate, framing_bytes, .. } = self.topology.hosts[host as usize];
        let bytes = packet.len();
        let end = self.schedule.now + frame_time(rate, framing_bytes, bytes);
        state.line.start(self.schedule.order.moment(end));
        self.send(uplink, end, ticket, (packet, bytes));
    }

    /// The packet that an interface sends now: answers first, then segments, ACKs and own packets that wait,
    /// then paced flows in round robin.
    pub(crate) fn next_packet(&mut self, host: u32) -> Option<(Ticket, Packet)> {
        let now = self.now();
        let hosts = &self.topology.hosts;
        let state = &mut self.nodes.hosts[host as usize];
        if let Some(answer) = state.next_answer() {
            let flow = answer.flow;
            let plan = &self.nodes.plans[flow as usize];
            let mut packet = packets::answer_packet(hosts, plan, answer, now)?;
            if self.topology.headers.is_some() {
                packet = self.dress_ack(flow, packet)?;
            }
            return Some((0, packet));
        }
        match state.next_waiting(&self.nodes.plans) {
            Some((ticket, Outgoing::Injected { place, .. })) => {
                Some((ticket, state.own.as_mut()?.injected.take(place)?))
            }
            Some((ticket, out)) => {
                let packet = if self.topology.is_plain {
                    self.plain_packet(&out)?
                } else {
                    self.special_packet(&out)?
                };
                if let Outgoing::Own { source, .. } = out {
                    self.on_own_packet_left(source, packet.len());
                }
                Some((ticket, packet))
            }
            None => {
                let mut packet = self.next_paced(host)?;
                if self.topology.headers.is_some() {
                    packet = self.dress_data(packet)?;
                }
                Some((0, packet))
            }
        }
    }

    /// Schedules when the interface looks again, at the next time at which a packet may leave.
    pub(crate) fn arm_interface(&mut self, host: u32) {
        let state = &self.nodes.hosts[host as usize];
        let busy_until = state.line.busy_until();
        let next = if state.has_waiting(&self.nodes.plans) {
            Some(busy_until)
        } else {
            state.paced.next_time(state.pauses.free())
        };
        let Some(at) = next else { return };
        let now = self.now();
        let state = &mut self.nodes.hosts[host as usize];
        if at <= busy_until {
            if let Work::WakeAt(moment) = state.line.on_work(self.schedule.order.current(now)) {
                self.schedule.dequeue(moment, self.nodes.host_node(host), 0);
            }
        } else if state.paced.wake.is_none_or(|wake| wake > at) {
            state.paced.wake = Some(at);
            self.schedule.timer(at, self.nodes.host_node(host), Timer::Pacing { host });
        }
    }

    pub(crate) fn on_pacing_timer(&mut self, host: u32) {
        let now = self.now();
        let wake = &mut self.nodes.hosts[host as usize].paced.wake;
        if *wake == Some(now) {
            *wake = None;
            self.start_interface(host);
        }
    }
}
