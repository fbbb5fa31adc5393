//! How a flow begins, gets data and is closed, by its application.

use p4cc_units::Span;

use crate::context::Context;
use crate::describe::RoundMember;
use crate::events::Timer;
use crate::hosts::applications::schedule;
use crate::hosts::flow::Verb;
use crate::hosts::state::Hosts;
use crate::record::Activity;
use crate::traffic::jobs::Event as JobEvent;

impl Hosts {
    /// Schedules what applications do by themselves, at the start of a run.
    pub fn schedule_applications(&mut self, cx: &mut Context<'_>) {
        for (flow, (plan, state)) in (0..).zip(self.planned_flows()) {
            if let Some(start) = state.start {
                schedule(cx, &self.plans, start, flow);
            }
            if let Some(close) = plan.close {
                cx.schedule.timer(close, cx.topology.host_node(plan.src), Timer::Close { flow });
            }
        }
        self.applications.start(cx, &self.plans);
        self.progress.operations = self.applications.jobs.open;
        self.schedule_user_packets(cx);
    }

    /// An event of a job's operation: others that wait for it act.
    pub(super) fn on_operation(&mut self, cx: &mut Context<'_>, operation: u32, event: JobEvent) {
        self.applications.on_operation(cx, &self.plans, operation, event);
        self.progress.operations = self.applications.jobs.open;
    }

    /// The time of a job's operation has come.
    pub fn on_operation_time(&mut self, cx: &mut Context<'_>, operation: u32) {
        self.applications.on_operation_time(cx, &self.plans, operation);
        self.progress.operations = self.applications.jobs.open;
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
            self.applications.ask_again(cx, &self.plans, group);
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
