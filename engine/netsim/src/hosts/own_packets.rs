//! Packets of the user's own at their host: when they are handed to the interface, and what left it.
//!
//! A source hands a packet over when it is due, and the packet takes its turn behind segments, ACKs and own
//! packets that wait already. As a socket's buffer does, the interface takes so many packets of a source; the
//! source holds the next ones back until one has left, and then catches up. So a source faster than its link
//! takes what the link has left, and needs no memory for what waits.

use std::collections::VecDeque;
use std::sync::Arc;

use p4cc_units::{Span, Time};

use crate::events::Timer;
use crate::hosts::packets::Outgoing;
use crate::network::Network;
use crate::output::ReceivedLog;
use crate::traffic::packets::PacketsPlan;

/// Most packets of one source that wait at its interface.
const MOST_WAITING: usize = 64;

/// What a host has to do with packets of no flow; most hosts have nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct OwnPackets {
    pub sources: Vec<Source>,
    /// What arrives that no flow takes, where it is recorded.
    pub received: Option<ReceivedLog>,
}

/// A source in a run.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// When the next packet is due.
    due: Time,
    /// Packets handed to the interface.
    handed: u64,
    /// When those that wait there were due.
    waiting: VecDeque<Time>,
    /// The next packet waits for one of them to leave.
    is_held: bool,
    pub sent_pkts: u64,
    pub sent_bytes: u64,
    /// The longest time that a packet left after it was due.
    pub most_late: Span,
}

impl Source {
    pub fn new(plan: &PacketsPlan) -> Self {
        Self {
            due: plan.start,
            handed: 0,
            waiting: VecDeque::new(),
            is_held: false,
            sent_pkts: 0,
            sent_bytes: 0,
            most_late: Span::ZERO,
        }
    }

    /// When the next packet is due, if there is one.
    fn next_due(&self, plan: &PacketsPlan) -> Option<Time> {
        (self.handed < plan.count && self.due < plan.end).then_some(self.due)
    }

    /// The place of the frame that is handed over now.
    fn hand_over(&mut self, plan: &PacketsPlan) -> u32 {
        let frame = self.handed % plan.frames.len() as u64;
        self.handed += 1;
        self.waiting.push_back(self.due);
        self.due += plan.frames[frame as usize].gap;
        frame as u32
    }

    /// A packet left the interface.
    fn on_left(&mut self, now: Time, bytes: u32) {
        self.sent_pkts += 1;
        self.sent_bytes += u64::from(bytes);
        if let Some(due) = self.waiting.pop_front() {
            self.most_late = self.most_late.max(now.since(due));
        }
    }
}

impl Network {
    /// Schedules the first packet of every source, at the start of a run.
    pub(crate) fn schedule_own_packets(&mut self) {
        let topology = Arc::clone(&self.topology);
        for (source, plan) in (0_u32..).zip(&topology.packets) {
            if plan.start < plan.end {
                let node = self.nodes.host_node(plan.host);
                self.schedule.timer(plan.start, node, Timer::OwnPacket { source });
            }
        }
    }

    /// Packets of a source are due.
    pub(crate) fn on_own_packet_due(&mut self, source: u32) {
        self.hand_over_own(source);
        self.start_interface(self.topology.packets[source as usize].host);
    }

    /// Adds the packets of a source that are due to those that wait at the interface, as many as it takes.
    fn hand_over_own(&mut self, source: u32) {
        let topology = Arc::clone(&self.topology);
        let plan = &topology.packets[source as usize];
        let (now, node) = (self.now(), self.nodes.host_node(plan.host));
        let host = &mut self.nodes.hosts[plan.host as usize];
        let Some(state) = host.own.as_mut().and_then(|own| own.sources.get_mut(plan.slot as usize)) else {
            return;
        };
        while let Some(due) = state.next_due(plan) {
            if due > now {
                return self.schedule.timer(due, node, Timer::OwnPacket { source });
            }
            state.is_held = state.waiting.len() == MOST_WAITING;
            if state.is_held {
                return;
            }
            let out = Outgoing::Own { source, frame: state.hand_over(plan), class: plan.class };
            host.waiting.push_back((self.schedule.order.ticket(), out));
        }
    }

    /// A packet of a source leaves its interface; one that was held back may be handed over.
    #[cold]
    pub(crate) fn on_own_packet_left(&mut self, source: u32, bytes: u32) {
        let (now, plan) = (self.now(), &self.topology.packets[source as usize]);
        let host = &mut self.nodes.hosts[plan.host as usize];
        let Some(state) = host.own.as_mut().and_then(|own| own.sources.get_mut(plan.slot as usize)) else {
            return;
        };
        state.on_left(now, bytes);
        if core::mem::take(&mut state.is_held) {
            self.hand_over_own(source);
        }
    }
}
