//! All switches of a run, the scratch memory that they share, and which of their links wait for each other
//! where PFC (IEEE 802.1Qbb) has paused them.

use p4cc_switch::{ExecChoice, Packet, Switch, Workspace};
use p4cc_units::{Span, Time};

use crate::context::Context;
use crate::describe::Topology;
use crate::describe::spec::NetworkSpec;
use crate::record::WaitGraph;
use crate::switches::node::SwitchNode;

/// The switches of a network.
pub(crate) struct Switches {
    nodes: Vec<SwitchNode>,
    /// Scratch memory that switches use one after the other.
    workspace: Workspace,
    /// The switch that has the workspace.
    borrower: Option<usize>,
}

impl Switches {
    /// The switches at the start of a run.
    pub fn new(spec: &NetworkSpec, topology: &Topology, switches: Vec<Switch>) -> Self {
        let nodes = switches.into_iter().zip(&spec.switches).zip(&topology.switch_channels);
        let nodes = (0..).zip(nodes).map(|(number, ((switch, switch_spec), channels))| {
            SwitchNode::new(switch, number, switch_spec, &spec.record, channels)
        });
        Self { nodes: nodes.collect(), workspace: Workspace::default(), borrower: None }
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The switches, to read.
    pub fn nodes(&self) -> &[SwitchNode] {
        &self.nodes
    }

    /// The switches, to read.
    pub fn iter(&self) -> impl Iterator<Item = &Switch> {
        self.nodes.iter().map(|node| &node.switch)
    }

    /// The place of a switch by its device id.
    pub fn place(&self, device_id: u64) -> Option<usize> {
        self.iter().position(|switch| switch.device_id() == device_id)
    }

    /// A switch for the control plane. No switch may have the workspace then.
    pub fn switch_mut(&mut self, switch: usize) -> &mut Switch {
        &mut self.nodes[switch].switch
    }

    /// A switch for its handlers: it has the workspace until another switch needs it.
    #[inline(always)]
    pub fn node(&mut self, switch: usize) -> &mut SwitchNode {
        if self.borrower != Some(switch) {
            self.lend_workspace(switch);
        }
        &mut self.nodes[switch]
    }

    #[inline(never)]
    fn lend_workspace(&mut self, switch: usize) {
        self.take_workspace_back();
        self.nodes[switch].switch.exchange(&mut self.workspace);
        self.borrower = Some(switch);
    }

    /// Takes the workspace back, before anybody else sees the switches.
    pub fn take_workspace_back(&mut self) {
        if let Some(switch) = self.borrower.take() {
            self.nodes[switch].switch.exchange(&mut self.workspace);
        }
    }

    /// A run starts or continues after the control plane had its turn.
    pub fn resume(&mut self, cx: &mut Context<'_>) {
        for switch in 0..self.nodes.len() {
            self.node(switch).resume(cx);
        }
    }

    /// A packet reaches a switch that no link brought.
    pub fn inject(&mut self, cx: &mut Context<'_>, switch: usize, port: u32, packet: Packet) {
        let node = self.node(switch);
        node.injected_pkts += 1;
        node.receive(cx, port, packet);
        self.take_workspace_back();
    }

    /// A switch loses its program, its tables and its queues.
    pub fn on_power_off(&mut self, cx: &mut Context<'_>, switch: usize) {
        self.take_workspace_back();
        self.nodes[switch].on_power_off(cx);
    }

    /// Chooses what runs the programs; results do not depend on it.
    pub fn set_exec(&mut self, choice: ExecChoice) {
        self.nodes.iter_mut().for_each(|node| node.switch.control().set_exec(choice));
    }

    /// Keeps so many steps of packets that switches expect.
    pub fn set_tracing_expected(&mut self, steps: usize) {
        self.nodes.iter_mut().for_each(|node| node.switch.control().set_tracing_expected(steps));
    }

    /// Swaps a switch with a partition of the network.
    pub fn swap_node(&mut self, partition: &mut Self, switch: usize) {
        core::mem::swap(&mut self.nodes[switch], &mut partition.nodes[switch]);
    }

    /// The wait-for graph of a priority, and whether any port is paused. A link waits for another when a
    /// packet that came over the first, whose receiver has paused it, stands in a paused queue for the
    /// second. Only links that have been paused for at least `bound` count.
    pub fn waits(&self, topology: &Topology, now: Time, priority: u8, bound: Span) -> (WaitGraph, bool) {
        let mut waits = WaitGraph::new();
        let mut is_any_paused = false;
        for (switch, channels) in self.iter().zip(&topology.switch_channels) {
            let leaving = |port: u32| channels.get(port as usize).copied().flatten();
            let mut ports = switch.config().ports.iter();
            is_any_paused |=
                ports.any(|port| switch.observation().paused_since(port.port, priority).is_some());
            for (from, to) in switch.observation().waits(priority) {
                // The two directions of a link are neighbours in number.
                let (Some(arriving), Some(leaving)) = (leaving(from).map(|channel| channel ^ 1), leaving(to))
                else {
                    continue;
                };
                let is_long = |channel| {
                    let since = self.channel_paused_since(topology, channel, priority);
                    since.is_some_and(|since| now.since(since) >= bound)
                };
                if is_long(arriving) && is_long(leaving) {
                    waits.entry(arriving).or_default().insert(leaving);
                }
            }
        }
        (waits, is_any_paused)
    }

    /// Since when the switch at the start of a channel has been paused there.
    fn channel_paused_since(&self, topology: &Topology, channel: u32, priority: u8) -> Option<Time> {
        let switch = &self.nodes().get(topology.channels[channel as usize].from as usize)?.switch;
        switch.observation().paused_since(topology.near_port(channel), priority)
    }
}
