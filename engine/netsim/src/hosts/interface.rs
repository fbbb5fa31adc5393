//! The interface of a host: which packet leaves next, and when the interface looks again.
//!
//! Answers of RDMA-like receivers leave first, then what waits in the order of handing over: segments, ACKs
//! and users' packets; then paced flows in round robin. A priority that PFC (IEEE 802.1Qbb) has paused is
//! left out; pause frames end here. At a host with [jitter](super::jitter) a packet that finds the line free
//! waits.

use p4cc_switch::Packet;
use p4cc_switch::config::PRIORITIES;
use p4cc_units::Time;

use crate::context::Context;
use crate::describe::HostPlan;
use crate::events::Timer;
use crate::hosts::flow::Ends;
use crate::hosts::packets::{self, Outgoing};
use crate::hosts::rdma::Rdma;
use crate::hosts::state::Hosts;
use crate::hosts::user_headers::{add_echo, add_headers};
use crate::links::{PauseWord, Work, frame_time};

impl Hosts {
    /// A packet waits behind the others of an interface.
    pub(super) fn push(&mut self, host: u32, out: Outgoing) {
        self.hosts[host as usize].waiting.push_back(out);
    }

    /// A segment or ACK is handed to an interface. If nothing waits in front of it and the line is free, it
    /// leaves without entering the queue.
    pub(super) fn enqueue(&mut self, cx: &mut Context<'_>, host: u32, out: Outgoing) {
        let state = &mut self.hosts[host as usize];
        if !state.lets_pass(cx.now()) {
            state.waiting.push_back(out);
            return self.serve(cx, host);
        }
        if let Some(packet) = self.packet(cx, &out) {
            self.send(cx, host, packet);
        }
        self.arm_interface(cx, host);
    }

    /// The interface of a host has work.
    pub(super) fn serve(&mut self, cx: &mut Context<'_>, host: u32) {
        match self.hosts[host as usize].line.on_work(cx.now()) {
            Work::Wait => {}
            Work::WakeAt(end) => cx.schedule.dequeue(end, cx.topology.host_node(host), 0),
            Work::Start if self.hosts[host as usize].jitter.is_some() => self.process(cx, host),
            Work::Start => self.send_next(cx, host),
        }
    }

    /// The next packet leaves a free interface, if there is one.
    fn send_next(&mut self, cx: &mut Context<'_>, host: u32) {
        if let Some(packet) = self.next_packet(cx, host) {
            self.send(cx, host, packet);
        }
        self.arm_interface(cx, host);
    }

    /// A host with jitter processes an answer, a segment or an ACK that found the interface idle: the line
    /// counts as busy meanwhile. A paced packet leaves when its flow says so.
    fn process(&mut self, cx: &mut Context<'_>, host: u32) {
        let now = cx.now();
        let state = &mut self.hosts[host as usize];
        if state.has_waiting(&self.plans)
            && let Some(jitter) = &mut state.jitter
        {
            state.line.start(now + jitter.draw());
        }
        match state.line.on_work(now) {
            Work::WakeAt(end) => cx.schedule.dequeue(end, cx.topology.host_node(host), 0),
            Work::Start | Work::Wait => self.send_next(cx, host),
        }
    }

    /// The bytes of what leaves a host now.
    #[inline]
    fn packet(&mut self, cx: &mut Context<'_>, out: &Outgoing) -> Option<Packet> {
        if cx.topology.is_plain {
            packets::to_packet(cx, &self.plans, out)
        } else {
            self.special_packet(cx, out)
        }
    }

    /// A packet leaves an interface that is free.
    #[inline]
    fn send(&mut self, cx: &mut Context<'_>, host: u32, packet: Packet) {
        if cx.trace().is_some() {
            let flow = self.flow_of_sent(cx.topology, &packet);
            let (now, bytes, sender) = (cx.now(), packet.len(), cx.topology.interfaces.host(host));
            cx.trace().into_iter().for_each(|trace| trace.on_host_send(now, sender, flow, bytes));
        }
        let state = &mut self.hosts[host as usize];
        state.counters.sent_pkts += 1;
        let HostPlan { uplink, rate, framing_bytes, .. } = cx.topology.hosts[host as usize];
        let bytes = packet.len();
        let end = cx.now() + frame_time(rate, framing_bytes, bytes);
        state.line.start(end);
        cx.send(uplink, end, packet, bytes);
    }

    /// The packet that an interface sends now.
    fn next_packet(&mut self, cx: &mut Context<'_>, host: u32) -> Option<Packet> {
        let state = &mut self.hosts[host as usize];
        if let Some(answer) = state.next_answer() {
            let flow = answer.flow;
            let mut packet = packets::answer_packet(cx, &self.plans[flow as usize], answer)?;
            if cx.topology.headers.is_some() {
                packet = add_echo(cx.pool, self.flows[flow as usize].echo.as_deref(), packet)?;
            }
            return Some(packet);
        }
        if let Some(out) = state.next_waiting(&self.plans) {
            let packet = match out {
                Outgoing::Injected { place, .. } => state.user.as_mut()?.injected.take(place)?,
                _ => self.packet(cx, &out)?,
            };
            if let Outgoing::User { source, .. } = out {
                self.on_user_packet_left(cx, source, packet.len());
            }
            return Some(packet);
        }
        let mut packet = self.next_paced(cx, host)?;
        if let Some(headers) = &cx.topology.headers {
            packet = add_headers(cx.pool, headers, packet)?;
        }
        Some(packet)
    }

    /// A packet of the next flow in round robin that may send now.
    fn next_paced(&mut self, cx: &mut Context<'_>, host: u32) -> Option<Packet> {
        loop {
            let state = &mut self.hosts[host as usize];
            if !state.paced.has_any() {
                return None;
            }
            let alone = state.paced.next_alone(cx.now(), state.pauses.free());
            let flow = alone.or_else(|| self.next_in_turn(cx.now(), host))?;
            if let Some(packet) = (Rdma { hosts: self, cx, flow }).poll(host) {
                return Some(packet);
            }
        }
    }

    /// The paced flow whose turn it is, of those whose time has come.
    #[inline(never)]
    fn next_in_turn(&mut self, now: Time, host: u32) -> Option<u32> {
        let state = &mut self.hosts[host as usize];
        while let Some(flow) = state.paced.pop_due(now) {
            if let Ends::Rdma(ends) = &mut self.flows[flow as usize].ends {
                ends.set_ready(self.plans[flow as usize].dst == host);
            }
        }
        state.paced.next(state.pauses.free())
    }

    /// Schedules when the interface looks again, at the next time at which a packet may leave.
    fn arm_interface(&mut self, cx: &mut Context<'_>, host: u32) {
        let state = &mut self.hosts[host as usize];
        let busy_until = state.line.busy_until();
        let next = if state.has_waiting(&self.plans) {
            Some(busy_until)
        } else {
            state.paced.next_time(state.pauses.free())
        };
        let Some(at) = next else { return };
        if at <= busy_until {
            if let Work::WakeAt(end) = state.line.on_work(cx.now()) {
                cx.schedule.dequeue(end, cx.topology.host_node(host), 0);
            }
        } else if state.paced.wake.is_none_or(|wake| wake > at) {
            state.paced.wake = Some(at);
            cx.schedule.timer(at, cx.topology.host_node(host), Timer::Pacing { host });
        }
    }

    /// The interface is free again.
    pub fn on_dequeue(&mut self, cx: &mut Context<'_>, host: u32) {
        self.hosts[host as usize].line.on_wake();
        self.send_next(cx, host);
    }

    /// A paced flow may send.
    pub fn on_pacing_timer(&mut self, cx: &mut Context<'_>, host: u32) {
        let wake = &mut self.hosts[host as usize].paced.wake;
        if *wake == Some(cx.now()) {
            *wake = None;
            self.serve(cx, host);
        }
    }

    /// A pause or resume frame reaches a host; a pause may end at `until`.
    pub fn on_pause(&mut self, cx: &mut Context<'_>, host: u32, word: PauseWord, until: Option<Time>) {
        if let Some(until) = until {
            let priority = word.priority & 7;
            self.hosts[host as usize].pauses.timers().set(0, priority, until);
            let node = cx.topology.host_node(host);
            cx.schedule.timer(until, node, Timer::PauseExpiry { port: 0, priority });
        }
        self.set_paused(cx, host, word.priority, word.pause);
    }

    /// A pause may expire; a later one of the same priority lasts longer.
    pub fn on_pause_expiry(&mut self, cx: &mut Context<'_>, host: u32, priority: u8) {
        if self.hosts[host as usize].pauses.timers().expires(0, priority, cx.now()) {
            self.set_paused(cx, host, priority, false);
        }
    }

    /// The link of a host went down: pauses end with it, as the resume frame would be lost.
    pub fn on_link_down(&mut self, cx: &mut Context<'_>, host: u32) {
        self.hosts[host as usize].slow.iter_mut().for_each(|card| card.forget_pauses(cx.now()));
        (0..PRIORITIES as u8).for_each(|priority| self.set_paused(cx, host, priority, false));
    }

    fn set_paused(&mut self, cx: &mut Context<'_>, host: u32, priority: u8, pause: bool) {
        self.hosts[host as usize].pauses.set(cx.now(), priority, pause);
        self.serve(cx, host);
    }
}
