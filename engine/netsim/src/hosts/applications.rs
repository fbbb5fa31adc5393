//! Applications of hosts: when flows start, get more data and are closed; rounds of requests and answers;
//! steps of collectives.

use p4cc_units::{Span, Time};

use crate::context::Context;
use crate::describe::{RoundMember, StepMember};
use crate::events::Timer;
use crate::hosts::flow::Verb;
use crate::hosts::state::Hosts;
use crate::record::Activity;
use crate::traffic::rounds::{Next, RoundsPlan};

impl Hosts {
    /// Schedules what applications do by themselves, at the start of a run.
    pub fn schedule_applications(&mut self, cx: &mut Context<'_>) {
        for (flow, (plan, state)) in (0..).zip(self.planned_flows()) {
            if let Some(start) = state.start {
                self.schedule_application(cx, start, flow);
            }
            if let Some(close) = plan.close {
                cx.schedule.timer(close, cx.topology.host_node(plan.src), Timer::Close { flow });
            }
        }
        for (group, plan) in cx.topology.rounds.iter().enumerate() {
            if let Some(at) = self.rounds[group].first_ask(plan) {
                self.schedule_requests(cx, plan, at);
            }
        }
        for (job, plan) in cx.topology.collectives.iter().enumerate() {
            for (flow, at) in self.collectives[job].first_sends(plan) {
                self.schedule_application(cx, at, flow);
            }
        }
        self.schedule_user_packets(cx);
    }

    /// Schedules that a flow's application acts.
    fn schedule_application(&self, cx: &mut Context<'_>, time: Time, flow: u32) {
        let node = cx.topology.host_node(self.plans[flow as usize].src);
        cx.schedule.start(time, node, flow);
    }

    fn schedule_requests(&self, cx: &mut Context<'_>, plan: &RoundsPlan, at: Time) {
        for flow in plan.requests() {
            self.schedule_application(cx, at, flow);
        }
    }

    /// A connection of a collective brought bytes to its rank, which may send its next pieces.
    pub(super) fn on_step_delivered(&mut self, cx: &mut Context<'_>, member: StepMember, delivered: u64) {
        let job = member.job as usize;
        let plan = &cx.topology.collectives[job];
        for (flow, at) in self.collectives[job].on_delivered(plan, member.connection, delivered, cx.now()) {
            self.schedule_application(cx, at, flow);
        }
    }

    /// A flow of rounds brought bytes to its receiver.
    pub(super) fn on_member_delivered(&mut self, cx: &mut Context<'_>, member: RoundMember, delivered: u64) {
        let (group, now) = (member.group as usize, cx.now());
        let plan = &cx.topology.rounds[group];
        for next in self.rounds[group].on_delivered(plan, member, delivered, now) {
            match next {
                Next::Answer(flow, after) => self.schedule_application(cx, now + after, flow),
                Next::Ask(after) => self.schedule_requests(cx, plan, now + after),
            }
        }
    }

    /// A group's requests leave; in an open loop the next ones do not wait for the answers.
    fn ask_again(&mut self, cx: &mut Context<'_>, group: u32) {
        let plan = &cx.topology.rounds[group as usize];
        if let Some(gap) = self.rounds[group as usize].on_asked(plan, cx.now()) {
            self.schedule_requests(cx, plan, cx.now() + gap);
        }
    }

    /// The application of a flow acts. The first time it opens the connection; a flow that does not get all
    /// data at once gets its next piece. A connection that was closed before it was opened stays closed.
    pub fn on_start(&mut self, cx: &mut Context<'_>, flow: u32) {
        let plan = &self.plans[flow as usize];
        let (member, piece_bytes, close) = (plan.member, plan.piece_bytes, plan.close);
        if !self.flows[flow as usize].has_begun {
            if close.is_some_and(|close| close <= cx.now()) {
                return;
            }
            self.open(cx, flow);
        }
        if let Some(group) = member.and_then(RoundMember::asks_first) {
            self.ask_again(cx, group);
        }
        if piece_bytes > 0 {
            self.act(cx, flow, Verb::Supply(piece_bytes));
        }
    }

    fn open(&mut self, cx: &mut Context<'_>, flow: u32) {
        let now = cx.now();
        let plan = &self.plans[flow as usize];
        let state = &mut self.flows[flow as usize];
        state.has_begun = true;
        state.start.get_or_insert(now);
        if plan.is_given_whole() {
            cx.note(Activity::Begin);
        }
        state.tell_deadline();
        let change = plan.deadline.and_then(|deadline| deadline.change);
        if let (Some(start), Some(change)) = (state.start, change) {
            let at = start + Span::from_ns(change.after_ns);
            cx.schedule.timer(at, cx.topology.host_node(plan.src), Timer::DeadlineChange { flow });
        }
        if plan.is_counted() && self.progress.first_begin.is_none() {
            self.progress.first_begin = Some((now, self.acked_bytes()));
        }
        self.progress.active.push(flow);
        self.act(cx, flow, Verb::Open);
    }

    /// The application moves a flow's deadline; what is complete keeps the one that it had.
    pub fn on_deadline_change(&mut self, flow: u32) {
        let change = self.plans[flow as usize].deadline.and_then(|deadline| deadline.change);
        let state = &mut self.flows[flow as usize];
        if let (Some(change), None, false) = (change, state.received, state.has_ended()) {
            state.deadline = Some(Span::from_ns(change.offset_ns));
            state.tell_deadline();
        }
    }

    /// The application closes a flow: no new data is sent. A flow that has not begun never begins.
    pub fn on_close(&mut self, cx: &mut Context<'_>, flow: u32) {
        let state = &mut self.flows[flow as usize];
        if state.has_begun {
            self.act(cx, flow, Verb::Close);
        } else {
            state.start = None;
        }
    }
}
