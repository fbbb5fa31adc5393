//! Applications that tie flows together: rounds of requests and answers, and steps of collectives.

use p4cc_units::Time;

use crate::context::Context;
use crate::describe::{FlowPlan, RoundMember, StepMember, Topology};
use crate::traffic::collective::Collective;
use crate::traffic::rounds::{Next, Rounds, RoundsPlan};

/// What ties flows together: rounds of requests and answers, and steps of collectives.
pub(crate) struct Applications {
    pub rounds: Vec<Rounds>,
    pub collectives: Vec<Collective>,
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
    pub fn new(topology: &Topology, seed: u64) -> Self {
        Self {
            rounds: topology.rounds.iter().map(|plan| Rounds::new(plan, seed)).collect(),
            collectives: topology.collectives.iter().map(Collective::new).collect(),
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
    }

    /// A connection of a collective brought bytes to its rank, which may send its next pieces.
    pub fn on_step(&mut self, cx: &mut Context<'_>, plans: &[FlowPlan], member: StepMember, delivered: u64) {
        let job = member.job as usize;
        let (plan, now) = (&cx.topology.collectives[job], cx.now());
        for (flow, at) in self.collectives[job].on_delivered(plan, member.connection, delivered, now) {
            schedule(cx, plans, at, flow);
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
