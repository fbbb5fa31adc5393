//! All switches of a run, and the scratch memory that they share.

use p4cc_switch::{ExecChoice, Packet, Switch, Workspace};

use crate::context::Context;
use crate::describe::Topology;
use crate::describe::spec::NetworkSpec;
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
            SwitchNode::new(switch, number, (switch_spec, &spec.record), channels)
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
        self.nodes.iter_mut().for_each(|node| node.switch.set_exec(choice));
    }

    /// Keeps so many steps of packets that switches expect.
    pub fn set_tracing_expected(&mut self, steps: usize) {
        self.nodes.iter_mut().for_each(|node| node.switch.set_tracing_expected(steps));
    }

    /// Swaps a switch with a partition of the network.
    pub fn swap_node(&mut self, partition: &mut Self, switch: usize) {
        core::mem::swap(&mut self.nodes[switch], &mut partition.nodes[switch]);
    }
}
