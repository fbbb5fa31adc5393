//! Applications that tie flows together: rounds of requests and answers, steps of collectives, operations of
//! jobs, closed loops.

use std::collections::VecDeque;

use p4cc_units::Time;

use crate::context::Context;
use crate::describe::{FlowPlan, RoundMember, StepMember, Topology};
use crate::events::Timer;
use crate::traffic::closed_loop::ClosedLoops;
use crate::traffic::collective::Collective;
use crate::traffic::jobs::Event;
use crate::traffic::jobs::run::{Jobs, Step};
use crate::traffic::rounds::{Next, Rounds, RoundsPlan};

/// What ties flows together.
pub(crate) struct Applications {
    pub rounds: Vec<Rounds>,
    pub collectives: Vec<Collective>,
    pub jobs: Jobs,
    closed_loops: ClosedLoops,
}

/// Schedules that a flow's application acts.
pub(super) fn schedule(cx: &mut Context<'_>, plans: &[FlowPlan], time: Time, flow: u32) {
    let node = cx.topology.host_node(plans[flow as usize].src);
    cx.schedule.start(time, node, flow);
}

fn schedule_requests(cx: &mut Context<'_>, plans: &[FlowPlan], group: &RoundsPlan, at: Time) {
    group.requests().for_each(|flow| schedule(cx, plans, at, flow));
}

impl Applications {
    pub fn new(topology: &Topology, plans: &[FlowPlan], seed: u64) -> Self {
        Self {
            rounds: topology.rounds.iter().map(|plan| Rounds::new(plan, seed)).collect(),
            collectives: topology.collectives.iter().map(Collective::new).collect(),
            jobs: Jobs::new(&topology.jobs),
            closed_loops: ClosedLoops::new(&topology.closed_loops, plans, seed),
        }
    }

    /// Schedules what they do by themselves, at the start of a run.
    pub(super) fn start(&mut self, cx: &mut Context<'_>, plans: &[FlowPlan]) {
        for (run, group) in self.rounds.iter_mut().zip(&cx.topology.rounds) {
            if let Some(at) = run.first_ask(group) {
                schedule_requests(cx, plans, group, at);
            }
        }
        for (run, job) in self.collectives.iter_mut().zip(&cx.topology.collectives) {
            run.first_sends(job).into_iter().for_each(|(flow, at)| schedule(cx, plans, at, flow));
        }
        for (flow, at) in self.closed_loops.first_flows(&cx.topology.closed_loops) {
            schedule(cx, plans, at, flow);
        }
        let steps = self.jobs.first_steps(&cx.topology.jobs);
        self.take_steps(cx, plans, steps);
    }

    /// A flow of a closed loop has ended: its source may start the next one.
    pub fn on_loop(&mut self, cx: &mut Context<'_>, plans: &[FlowPlan], source: u32) {
        if let Some((flow, at)) = self.closed_loops.on_end(source, cx.now()) {
            schedule(cx, plans, at, flow);
        }
    }

    /// A connection of a collective brought bytes to its rank, which may send its next pieces.
    pub fn on_step(&mut self, cx: &mut Context<'_>, plans: &[FlowPlan], member: StepMember, delivered: u64) {
        let job = member.job as usize;
        let (plan, now) = (&cx.topology.collectives[job], cx.now());
        let (run, rank) = (&mut self.collectives[job], plan.receiver(member.connection));
        let had_ended = run.has_ended(plan, rank);
        for (flow, at) in run.on_delivered(plan, member.connection, delivered, now) {
            schedule(cx, plans, at, flow);
        }
        let ends = !had_ended && run.has_ended(plan, rank);
        if let Some(operation) = cx.topology.jobs.part(member.job, rank).filter(|_| ends) {
            self.on_operation(cx, plans, operation, Event::End);
        }
    }

    /// An event of an operation: those that wait for it act.
    pub fn on_operation(&mut self, cx: &mut Context<'_>, plans: &[FlowPlan], operation: u32, event: Event) {
        let steps = self.jobs.on_event(&cx.topology.jobs, operation, event, cx.now());
        self.take_steps(cx, plans, steps);
    }

    /// The time of an operation has come.
    pub fn on_operation_time(&mut self, cx: &mut Context<'_>, plans: &[FlowPlan], operation: u32) {
        let steps = self.jobs.on_time(&cx.topology.jobs, operation, cx.now());
        self.take_steps(cx, plans, steps);
    }

    fn take_steps(&mut self, cx: &mut Context<'_>, plans: &[FlowPlan], steps: Vec<Step>) {
        let (topology, now) = (cx.topology, cx.now());
        let mut steps = VecDeque::from(steps);
        while let Some(step) = steps.pop_front() {
            match step {
                Step::Send(flow) => schedule(cx, plans, now, flow),
                Step::Wait(operation, at) => {
                    let node = topology.host_node(topology.jobs.operations[operation as usize].host);
                    cx.schedule.timer(at, node, Timer::Operation { operation });
                }
                Step::TakePart { operation, collective, rank } => {
                    let place = collective as usize;
                    let (plan, run) = (&topology.collectives[place], &mut self.collectives[place]);
                    for (flow, at) in run.open(plan, rank, now) {
                        schedule(cx, plans, at, flow);
                    }
                    // Its last piece may have come before it begins.
                    if run.has_ended(plan, rank) {
                        steps.extend(self.jobs.on_event(&topology.jobs, operation, Event::End, now));
                    }
                }
            }
        }
    }

    /// A flow of rounds brought bytes to its receiver.
    pub fn on_round(
        &mut self,
        cx: &mut Context<'_>,
        plans: &[FlowPlan],
        member: RoundMember,
        delivered: u64,
    ) {
        let (group, now) = (member.group as usize, cx.now());
        let plan = &cx.topology.rounds[group];
        for next in self.rounds[group].on_delivered(plan, member, delivered, now) {
            match next {
                Next::Answer(flow, after) => schedule(cx, plans, now + after, flow),
                Next::Ask(after) => schedule_requests(cx, plans, plan, now + after),
            }
        }
    }

    /// A group's requests leave; in an open loop the next ones do not wait for the answers.
    pub(super) fn ask_again(&mut self, cx: &mut Context<'_>, plans: &[FlowPlan], group: u32) {
        let plan = &cx.topology.rounds[group as usize];
        if let Some(gap) = self.rounds[group as usize].on_asked(plan, cx.now()) {
            schedule_requests(cx, plans, plan, cx.now() + gap);
        }
    }
}
