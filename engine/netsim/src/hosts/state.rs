//! All hosts of a run with the flows between them, and how far those are.

use std::sync::Arc;

use p4cc_transport::Actions;
use p4cc_units::{Span, Time};

use crate::SpecError;
use crate::context::Context;
use crate::describe::spec::NetworkSpec;
use crate::describe::{FlowPlan, Topology};
use crate::hosts::applications::Applications;
use crate::hosts::connections::Connections;
use crate::hosts::flow::{Ends, Flow};
use crate::hosts::host::Host;
use crate::hosts::host_receiver::receivers;
use crate::hosts::jitter::Jitter;
use crate::hosts::new_flow::new_flow;
use crate::hosts::slow_card::SlowCard;
use crate::hosts::source::{Source, UserPackets};
use crate::record::{Activity, HeadersLog, ReceivedLog};
use crate::traffic::jobs::Event as JobEvent;

/// The hosts of a network.
pub(crate) struct Hosts {
    /// By interface, which is all that there is of a host with one link.
    pub(super) hosts: Vec<Host>,
    /// Flows of this run by rising id: those of the description, and those that traffic models drew.
    pub(super) plans: Arc<Vec<FlowPlan>>,
    pub(super) flows: Vec<Flow>,
    /// Of flows that speak TCP.
    pub(super) connections: Connections,
    pub(super) applications: Applications,
    /// What window senders ask for; kept for its memory.
    pub(super) actions: Actions,
    pub(super) progress: FlowProgress,
}

/// How far the flows of a run are.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlowProgress {
    /// Flows under way, in the order of their start.
    pub active: Vec<u32>,
    /// Counted flows that are not complete.
    pub open: u64,
    /// Flows with a size, requests of rounds not counted.
    pub counted: u64,
    /// When the first counted flow began, and how many bytes of all flows had been acknowledged then.
    pub first_begin: Option<(Time, u64)>,
    /// Operations of jobs that have not ended.
    pub operations: u64,
    /// Whether there are such operations at all.
    pub has_operations: bool,
}

impl FlowProgress {
    /// Whether all counted flows are complete, and all operations.
    #[inline]
    pub fn is_complete(&self) -> bool {
        self.open == 0 && self.operations == 0 && (self.counted > 0 || self.has_operations)
    }
}

/// The hosts at the start of a run.
fn new_hosts(spec: &NetworkSpec, topology: &Topology, seed: u64) -> Vec<Host> {
    let (record, below) = (&spec.record, Span::from_ns(spec.host_jitter_ns));
    let host = |name: &str| Host { jitter: Jitter::new(below, seed, name), ..Host::default() };
    let interfaces = &topology.interfaces;
    let name = |interface: u32| {
        let name = &spec.hosts[interfaces.host(interface) as usize].name;
        match interfaces.port(interface) {
            0 => name.clone(),
            port => format!("{name}:{port}"),
        }
    };
    let mut hosts: Vec<Host> = (0..interfaces.count() as u32).map(|one| host(&name(one))).collect();
    fn user(host: &mut Host) -> &mut UserPackets {
        host.user.get_or_insert_default()
    }
    for plan in &topology.packets {
        user(&mut hosts[plan.host as usize]).sources.push(Source::new(plan));
    }
    for plan in &topology.slow_receivers {
        hosts[plan.host as usize].slow =
            Some(Box::new(SlowCard::new(*plan, topology.hosts[plan.host as usize].framing_bytes)));
    }
    if let Some(record) = &record.packets_received {
        for host in topology.recording.iter().flat_map(|&host| interfaces.of(host)) {
            let log = ReceivedLog::new(record.snap_bytes, record.max_packets);
            user(&mut hosts[host as usize]).received = Some(log);
        }
    }
    if let Some(record) = &record.headers {
        hosts.iter_mut().for_each(|host| user(host).headers = Some(HeadersLog::new(record)));
    }
    hosts
}

impl Hosts {
    /// The hosts at the start of a run.
    pub fn new(spec: &NetworkSpec, topology: &Topology, seed: u64) -> Result<Self, SpecError> {
        let plans = topology.flows_of_run(seed)?;
        let mut hosts = new_hosts(spec, topology, seed);
        if topology.has_receivers {
            let receivers = receivers(spec, topology, &plans, seed)?;
            hosts.iter_mut().zip(receivers).for_each(|(host, receiver)| host.receiver = receiver);
        }
        let mut flows = Vec::with_capacity(plans.len());
        let mut connections = Connections::default();
        for (index, plan) in (0..).zip(plans.iter()) {
            let mut flow = new_flow(spec, topology, plan, seed)?;
            if topology.driven[plan.algorithm as usize]
                && let (Ends::Rdma(ends), Some(receiver)) =
                    (&mut flow.ends, &hosts[plan.dst as usize].receiver)
            {
                ends.await_credit(receiver.unasked_bytes, receiver.algorithm.asks_up_to());
            }
            flow.tcp = connections.connect(spec, topology, index, plan, seed)?;
            flows.push(flow);
        }
        let counted = plans.iter().filter(|plan| plan.is_counted()).count() as u64;
        let operations = topology.jobs.operations.len() as u64;
        let applications = Applications::new(topology, &plans, seed);
        Ok(Self {
            hosts,
            plans,
            flows,
            connections,
            applications,
            actions: Actions::new(),
            progress: FlowProgress {
                open: counted,
                counted,
                operations,
                has_operations: operations > 0,
                ..FlowProgress::default()
            },
        })
    }

    /// Interfaces of hosts, to read.
    pub fn hosts(&self) -> &[Host] {
        &self.hosts
    }

    /// The plans of all flows, to read.
    pub fn plans(&self) -> &[FlowPlan] {
        &self.plans
    }

    /// All flows, to read.
    pub fn flows(&self) -> &[Flow] {
        &self.flows
    }

    /// All flows with their plans, to read.
    pub fn planned_flows(&self) -> impl Iterator<Item = (&FlowPlan, &Flow)> {
        self.plans.iter().zip(&self.flows)
    }

    /// Rounds, collectives and jobs, to read.
    pub fn applications(&self) -> &Applications {
        &self.applications
    }

    /// How far the flows are.
    #[inline]
    pub fn progress(&self) -> &FlowProgress {
        &self.progress
    }

    /// Takes the flows that have ended out of those under way.
    pub fn forget_ended(&mut self) {
        let flows = &self.flows;
        self.progress.active.retain(|&flow| !flows[flow as usize].has_ended());
    }

    /// Payload bytes acknowledged, over all flows but requests.
    pub fn acked_bytes(&self) -> u64 {
        let flows = self.planned_flows().filter(|(plan, _)| !plan.is_request());
        flows.map(|(_, flow)| flow.snapshot().snd_una).sum()
    }

    /// A flow is complete.
    pub(super) fn on_complete(&mut self, cx: &mut Context<'_>, flow: u32) {
        self.flows[flow as usize].finish = Some(cx.now());
        self.on_end(cx, flow);
        if let Some(operation) = self.plans[flow as usize].operation {
            self.on_operation(cx, operation, JobEvent::End);
        }
    }

    /// A flow will send no more new data: it is complete, or ended itself early.
    pub(super) fn on_end(&mut self, cx: &mut Context<'_>, flow: u32) {
        let plan = &self.plans[flow as usize];
        self.progress.open -= u64::from(plan.is_counted());
        if plan.is_given_whole() {
            cx.note(Activity::Finish);
        }
        if let Some(source) = plan.loop_source {
            self.applications.on_loop(cx, &self.plans, source);
        }
    }
}
