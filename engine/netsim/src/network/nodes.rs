//! The nodes of a network and what connects them: switches, hosts, channels, flows, pauses of PFC (IEEE
//! 802.1Qbb).

use std::sync::Arc;

use p4cc_switch::{PacketPool, Switch, Workspace};
use p4cc_transport::Actions;

use crate::describe::spec::RecordSpec;
use crate::describe::{FlowPlan, Topology};
use crate::hosts::{Connections, Flow, Host, OwnPackets, Source};
use crate::links::{Channel, Message, PauseTimers};
use crate::network::switch_node::SwitchNode;
use crate::output::{HeadersLog, ReceivedLog};
use crate::traffic::collective::Collective;
use crate::traffic::rounds::Rounds;

/// The nodes of a network in one run.
pub(crate) struct Nodes {
    pub switches: Vec<SwitchNode>,
    pub hosts: Vec<Host>,
    pub channels: Vec<Channel>,
    /// Flows of this run by rising id: those of the description, and those that traffic models drew.
    pub plans: Arc<Vec<FlowPlan>>,
    pub flows: Vec<Flow>,
    /// Of flows that speak TCP.
    pub connections: Connections,
    pub rounds: Vec<Rounds>,
    pub collectives: Vec<Collective>,
    /// Pauses (PFC) that expire.
    pub pause_timers: PauseTimers,
    /// Frames that left this partition of a network and wait to be handed over.
    pub outbox: Vec<Message>,
    /// Memory of packets that hosts took.
    pub pool: PacketPool,
    /// What window senders ask for; kept for its memory.
    pub actions: Actions,
    /// Scratch memory that switches use one after the other.
    pub workspace: Workspace,
    /// The switch that has the workspace.
    borrower: Option<usize>,
}

/// The hosts at the start of a run.
fn new_hosts(topology: &Topology, record: &RecordSpec) -> Vec<Host> {
    let mut hosts = vec![Host::default(); topology.hosts.len()];
    fn own(host: &mut Host) -> &mut OwnPackets {
        host.own.get_or_insert_default()
    }
    for plan in &topology.packets {
        own(&mut hosts[plan.host as usize]).sources.push(Source::new(plan));
    }
    if let Some(record) = &record.packets_received {
        for &host in &topology.recording {
            let log = ReceivedLog::new(record.snap_bytes, record.max_packets);
            own(&mut hosts[host as usize]).received = Some(log);
        }
    }
    if let Some(record) = &record.headers {
        hosts.iter_mut().for_each(|host| own(host).headers = Some(HeadersLog::new(record)));
    }
    hosts
}

impl Nodes {
    /// The nodes at the start of a run.
    pub fn new(
        topology: &Topology,
        switches: Vec<Switch>,
        (plans, flows, connections): (Arc<Vec<FlowPlan>>, Vec<Flow>, Connections),
        record: &RecordSpec,
        seed: u64,
    ) -> Self {
        Self {
            switches: switches
                .into_iter()
                .zip(&topology.switch_channels)
                .map(|(switch, channels)| SwitchNode::new(switch, channels))
                .collect(),
            hosts: new_hosts(topology, record),
            channels: topology.channels.iter().map(|plan| Channel::new(plan, seed)).collect(),
            plans,
            flows,
            connections,
            rounds: topology.rounds.iter().map(|plan| Rounds::new(plan, seed)).collect(),
            collectives: topology.collectives.iter().map(Collective::new).collect(),
            pause_timers: PauseTimers::default(),
            outbox: Vec::new(),
            pool: PacketPool::default(),
            actions: Actions::new(),
            workspace: Workspace::default(),
            borrower: None,
        }
    }

    /// The node number of a host: hosts come after all switches.
    #[inline]
    pub fn host_node(&self, host: u32) -> u32 {
        self.switches.len() as u32 + host
    }

    /// Lends a switch the workspace, before a packet passes its program: it has it until another needs it.
    #[inline(always)]
    pub(crate) fn lend_workspace(&mut self, switch: usize) {
        if self.borrower != Some(switch) {
            self.lend_workspace_anew(switch);
        }
    }

    #[inline(never)]
    fn lend_workspace_anew(&mut self, switch: usize) {
        self.take_workspace_back();
        self.switches[switch].switch.exchange(&mut self.workspace);
        self.borrower = Some(switch);
    }

    /// Takes the workspace back, before anybody else sees the switches.
    pub(crate) fn take_workspace_back(&mut self) {
        if let Some(switch) = self.borrower.take() {
            self.switches[switch].switch.exchange(&mut self.workspace);
        }
    }

    /// Payload bytes acknowledged, over all flows but requests.
    pub(crate) fn acked_bytes(&self) -> u64 {
        let flows = self.plans.iter().zip(&self.flows).filter(|(plan, _)| !plan.is_request());
        flows.map(|(_, flow)| flow.snapshot().snd_una).sum()
    }
}
