//! A host with several links: what moves to another of its interfaces when a link goes down or comes up.
//!
//! A host learns of its own link at once, as a network card does that loses its carrier. Flows under way then
//! leave by the interface that a flow would choose that starts now, and what waited at the old one moves with
//! them. What is on the way is not fetched back. A rate that a sender took from its link stays.

use std::sync::Arc;

use crate::context::Context;
use crate::describe::FlowPlan;
use crate::hosts::flow::Ends;
use crate::hosts::host::Host;
use crate::hosts::packets::{Answer, Outgoing};
use crate::hosts::state::Hosts;

impl Hosts {
    /// The link of an interface went down or came up.
    #[cold]
    pub fn on_link_change(&mut self, cx: &mut Context<'_>, interface: u32, up: bool) {
        let interfaces = cx.topology.interfaces.of(cx.topology.interfaces.host(interface));
        // Pauses end with the link, and what they held must not leave by it.
        if interfaces.len() > 1 {
            self.move_all(cx, &interfaces);
        }
        if up {
            self.on_link_up(cx, interface);
        } else {
            self.on_link_down(cx, interface);
        }
        if interfaces.len() > 1 {
            interfaces.iter().for_each(|&one| self.serve(cx, one));
        }
    }

    /// Moves flows, and what waits, to those interfaces of a host that flows choose now.
    fn move_all(&mut self, cx: &Context<'_>, interfaces: &[u32]) {
        let topology = cx.topology;
        let is_up = |one: u32| !interfaces.contains(&one) || !cx.is_down(topology.hosts[one as usize].uplink);
        let is_here = |one: u32| interfaces.contains(&one);
        let mut moved = Vec::new();
        for (flow, plan) in self.plans.iter().enumerate() {
            let (src, dst) = topology.interfaces.ends(plan, is_up);
            // The other host looks at its own links.
            let src = if is_here(plan.src) { src } else { plan.src };
            let dst = if is_here(plan.dst) { dst } else { plan.dst };
            if (src, dst) != (plan.src, plan.dst) {
                moved.push((flow, src, dst));
            }
        }
        for (flow, src, dst) in moved {
            self.move_ends(flow, src, dst);
        }
        self.move_waiting(interfaces);
    }

    /// Both ends of a flow are at these interfaces from now on.
    fn move_ends(&mut self, index: usize, src: u32, dst: u32) {
        let plan = &mut Arc::make_mut(&mut self.plans)[index];
        let old = (core::mem::replace(&mut plan.src, src), core::mem::replace(&mut plan.dst, dst));
        let (class, number) = (plan.priority, index as u32);
        let flow = &mut self.flows[index];
        let Ends::Rdma(ends) = &mut flow.ends else { return };
        if old.0 != src && flow.has_begun && !ends.sender.is_over() {
            self.hosts[old.0 as usize].paced.leave(class, number, &mut ends.position);
            let paced = &mut self.hosts[src as usize].paced;
            ends.position = paced.enter();
            paced.reschedule(class, number, &mut ends.position, ends.sender.ready_at());
        }
        if old.1 != dst
            && let Some(source) = &mut ends.read
            && let Some(position) = &mut source.position
        {
            self.hosts[old.1 as usize].paced.leave(class, number, position);
            let paced = &mut self.hosts[dst as usize].paced;
            *position = paced.enter();
            paced.reschedule(class, number, position, source.source.ready_at());
        }
    }

    /// Moves what waits at some interfaces to those of its flows.
    fn move_waiting(&mut self, interfaces: &[u32]) {
        let mut waiting: Vec<(u32, Outgoing)> = Vec::new();
        let mut answers: Vec<(u32, Answer)> = Vec::new();
        for &interface in interfaces {
            let Host { waiting: here, answers: here_too, .. } = &mut self.hosts[interface as usize];
            waiting.extend(here.drain(..).map(|out| (interface, out)));
            answers.extend(here_too.drain(..).map(|answer| (interface, answer)));
        }
        let plans = Arc::clone(&self.plans);
        for (at, out) in waiting {
            self.hosts[leaves_by(&plans, &out).unwrap_or(at) as usize].waiting.push_back(out);
        }
        for (_, answer) in answers {
            self.hosts[plans[answer.flow as usize].dst as usize].answers.push_back(answer);
        }
    }
}

/// The interface that a packet of a flow leaves by.
fn leaves_by(plans: &[FlowPlan], out: &Outgoing) -> Option<u32> {
    let plan = &plans[out.flow()? as usize];
    let is_of_sender = match out {
        Outgoing::Data(..) => true,
        Outgoing::Control(_, control) => control.is_from_client(),
        Outgoing::Ack(..) | Outgoing::User { .. } | Outgoing::Injected { .. } => false,
    };
    Some(if is_of_sender { plan.src } else { plan.dst })
}
