//! Users' packets: when a source hands them to the interface of its host, and those that are injected.
//!
//! A packet is handed over when it is due, and takes its turn behind segments, ACKs and users' packets that
//! wait already.

use p4cc_switch::Packet;
use p4cc_transport::wire::TrafficClass;

use crate::context::Context;
use crate::events::Timer;
use crate::hosts::packets::Outgoing;
use crate::hosts::state::Hosts;

impl Hosts {
    /// Schedules the first packet of every source, at the start of a run.
    pub(super) fn schedule_user_packets(&mut self, cx: &mut Context<'_>) {
        for (source, plan) in (0_u32..).zip(&cx.topology.packets) {
            if plan.start < plan.end {
                let node = cx.topology.host_node(plan.host);
                cx.schedule.timer(plan.start, node, Timer::UserPacket { source });
            }
        }
    }

    /// Packets of a source are due.
    pub fn on_user_packet_due(&mut self, cx: &mut Context<'_>, source: u32) {
        self.enqueue_user_packets(cx, source);
        self.serve(cx, cx.topology.packets[source as usize].host);
    }

    /// Adds the packets of a source that are due to those that wait at the interface, as many as it takes.
    fn enqueue_user_packets(&mut self, cx: &mut Context<'_>, source: u32) {
        let plan = &cx.topology.packets[source as usize];
        let host = &mut self.hosts[plan.host as usize];
        let Some(state) = host.user.as_mut().and_then(|user| user.sources.get_mut(plan.slot as usize)) else {
            return;
        };
        while let Some(due) = state.next_due(plan) {
            if due > cx.now() {
                let node = cx.topology.host_node(plan.host);
                return cx.schedule.timer(due, node, Timer::UserPacket { source });
            }
            if state.blocks() {
                return;
            }
            let out = Outgoing::User { source, frame: state.hand_over(plan), class: plan.class };
            host.waiting.push_back(out);
        }
    }

    /// A packet of a source leaves its interface; one that was blocked may be handed over.
    #[cold]
    pub(super) fn on_user_packet_left(&mut self, cx: &mut Context<'_>, source: u32, bytes: u32) {
        let plan = &cx.topology.packets[source as usize];
        let host = &mut self.hosts[plan.host as usize];
        let Some(state) = host.user.as_mut().and_then(|user| user.sources.get_mut(plan.slot as usize)) else {
            return;
        };
        if state.on_left(cx.now(), bytes) {
            self.enqueue_user_packets(cx, source);
        }
    }

    /// Hands a packet to an interface, now; false if too many wait there.
    pub fn inject(&mut self, cx: &mut Context<'_>, host: u32, packet: Packet, class: TrafficClass) -> bool {
        let state = &mut self.hosts[host as usize];
        let Some(place) = state.user.get_or_insert_default().injected.put(packet) else { return false };
        self.push(host, Outgoing::Injected { place, class });
        self.serve(cx, host);
        true
    }
}
