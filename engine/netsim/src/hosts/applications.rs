//! Applications of hosts: when flows start, get more data and are closed; rounds of requests and answers;
//! steps of collectives.

use std::sync::Arc;

use p4cc_units::{Span, Time};

use crate::describe::{RoundMember, StepMember};
use crate::events::Timer;
use crate::network::Network;
use crate::traffic::rounds::{Next, RoundsPlan};

impl Network {
    /// Schedules what applications do by themselves, at the start of a run.
    pub(crate) fn schedule_applications(&mut self) {
        for flow in 0..self.nodes.flows.len() {
            if let Some(start) = self.nodes.flows[flow].start {
                self.schedule_application(start, flow as u32);
            }
            if let Some(close) = self.nodes.plans[flow].close {
                let node = self.nodes.host_node(self.nodes.plans[flow].src);
                self.schedule.timer(close, node, Timer::Close { flow: flow as u32 });
            }
        }
        let topology = Arc::clone(&self.topology);
        for (group, plan) in topology.rounds.iter().enumerate() {
            if let Some(at) = self.nodes.rounds[group].first_ask(plan) {
                self.schedule_requests(plan, at);
            }
        }
        for (job, plan) in topology.collectives.iter().enumerate() {
            for (flow, at) in self.nodes.collectives[job].first_sends(plan) {
                self.schedule_application(at, flow);
            }
        }
    }

    /// A connection of a collective brought bytes to its rank, which may send its next pieces.
    pub(crate) fn on_step_delivered(&mut self, member: StepMember, delivered: u64) {
        let (topology, now) = (Arc::clone(&self.topology), self.now());
        let job = member.job as usize;
        let plan = &topology.collectives[job];
        for (flow, at) in self.nodes.collectives[job].on_delivered(plan, member.connection, delivered, now) {
            self.schedule_application(at, flow);
        }
    }

    /// Schedules that a flow's application acts.
    fn schedule_application(&mut self, time: Time, flow: u32) {
        let node = self.nodes.host_node(self.nodes.plans[flow as usize].src);
        self.schedule.start(time, node, flow);
    }

    fn schedule_requests(&mut self, plan: &RoundsPlan, at: Time) {
        for flow in plan.requests() {
            self.schedule_application(at, flow);
        }
    }

    /// A flow of rounds brought bytes to its receiver.
    pub(crate) fn on_member_delivered(&mut self, member: RoundMember, delivered: u64) {
        let (topology, now) = (Arc::clone(&self.topology), self.now());
        let plan = &topology.rounds[member.group as usize];
        for next in self.nodes.rounds[member.group as usize].on_delivered(plan, member, delivered, now) {
            match next {
                Next::Answer(flow, after) => self.schedule_application(now + after, flow),
                Next::Ask(after) => self.schedule_requests(plan, now + after),
            }
        }
    }

    /// A group's requests leave; in an open loop the next ones do not wait for the answers.
    fn ask_again(&mut self, group: u32) {
        let (topology, now) = (Arc::clone(&self.topology), self.now());
        let plan = &topology.rounds[group as usize];
        if let Some(gap) = self.nodes.rounds[group as usize].on_asked(plan, now) {
            self.schedule_requests(plan, now + gap);
        }
    }

    /// The application of a flow acts. The first time it opens the connection; a flow that does not get all
    /// data at once gets its next piece. A connection that was closed before it was opened stays closed.
    pub(crate) fn on_start(&mut self, flow: u32) {
        let now = self.now();
        let (is_member, piece_bytes, close) = {
            let plan = &self.nodes.plans[flow as usize];
            (plan.member, plan.piece_bytes, plan.close)
        };
        if !self.nodes.flows[flow as usize].has_begun {
            if close.is_some_and(|close| close <= now) {
                return;
            }
            self.open(flow);
        }
        if let Some(group) = is_member.and_then(RoundMember::asks_first) {
            self.ask_again(group);
        }
        if piece_bytes > 0 {
            self.with_sender(flow, |sender, now, out| sender.supply(piece_bytes, now, out));
            self.supply_rdma(flow, piece_bytes);
        }
    }

    fn open(&mut self, flow: u32) {
        let now = self.now();
        let is_counted = self.nodes.plans[flow as usize].is_counted();
        let state = &mut self.nodes.flows[flow as usize];
        state.has_begun = true;
        state.start.get_or_insert(now);
        if self.nodes.plans[flow as usize].is_given_whole() {
            self.observers.stall.on_begin(now);
        }
        if is_counted && self.observers.first_begin.is_none() {
            self.observers.first_begin = Some((now, self.nodes.acked_bytes()));
        }
        let state = &mut self.nodes.flows[flow as usize];
        state.tell_deadline();
        let change = self.nodes.plans[flow as usize].deadline.and_then(|deadline| deadline.change);
        if let (Some(start), Some(change)) = (state.start, change) {
            let node = self.nodes.host_node(self.nodes.plans[flow as usize].src);
            self.schedule.timer(start + Span::from_ns(change.after_ns), node, Timer::DeadlineChange { flow });
        }
        self.observers.active.push(flow);
        self.start_sender(flow);
        self.start_rdma(flow);
    }

    /// The application moves a flow's deadline; what is complete keeps the one that it had.
    pub(crate) fn on_deadline_change(&mut self, flow: u32) {
        let change = self.nodes.plans[flow as usize].deadline.and_then(|deadline| deadline.change);
        let state = &mut self.nodes.flows[flow as usize];
        if let (Some(change), None, false) = (change, state.received, state.has_ended()) {
            state.deadline = Some(Span::from_ns(change.offset_ns));
            state.tell_deadline();
        }
    }

    /// The application closes a flow: no new data is sent. A flow that has not begun never begins.
    pub(crate) fn on_close(&mut self, flow: u32) {
        let state = &mut self.nodes.flows[flow as usize];
        if !state.has_begun {
            state.start = None;
            return;
        }
        self.with_sender(flow, |sender, _, out| sender.close(out));
        self.close_rdma(flow);
    }
}
