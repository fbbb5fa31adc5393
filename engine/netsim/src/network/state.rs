//! A network in one run: its nodes, its schedule and its observers.
//!
//! The network owns no rule that marks, drops or routes: that is the P4 program's and the traffic manager's.
//! Handlers of events stand beside what they handle, in `hosts`, `links` and `network/dispatch.rs`.
//!
//! Invariants: events happen in the order of [`crate::events`]; nothing here reads a clock or draws a
//! random number but from a named stream of the run's seed; packets are conserved ([`crate::PacketBalance`]).

use std::sync::Arc;

use p4cc_switch::{Switch, SwitchConfig, Watch};
use p4cc_units::Time;

use crate::SpecError;
use crate::describe::Topology;
use crate::describe::spec::NetworkSpec;
use crate::events::Batching;
use crate::hosts::{Connections, HostCounters, new_flow};
use crate::links::usual_lead;
use crate::network::nodes::Nodes;
use crate::network::observers::{Observers, Tap};
use crate::network::schedule::Schedule;
use crate::output::TableSink;

/// What all runs of one network share; threads may share it too.
pub(crate) struct Blueprint<'a> {
    spec: &'a Arc<NetworkSpec>,
    topology: &'a Arc<Topology>,
    switches: Vec<&'a Switch>,
}

impl Blueprint<'_> {
    /// A run with this seed, from time zero.
    pub fn fork(&self, seed: u64) -> Result<Network, SpecError> {
        let switches = self.switches.iter().map(|switch| switch.fork(seed)).collect();
        Network::start(self.spec.clone(), self.topology.clone(), switches, seed)
    }
}

/// A network in one run.
pub struct Network {
    pub(crate) spec: Arc<NetworkSpec>,
    pub(crate) topology: Arc<Topology>,
    seed: u64,
    pub(crate) nodes: Nodes,
    pub(crate) schedule: Schedule,
    pub(crate) observers: Observers,
    pub(crate) batching: Batching,
    /// The run is over.
    pub(crate) ended: bool,
}

impl Network {
    /// A network at time zero, its switches without a program.
    ///
    /// # Errors
    /// The first value of the description that cannot be used.
    pub fn build(spec: NetworkSpec, seed: u64) -> Result<Self, SpecError> {
        let topology = Topology::new(&spec)?;
        let mut switches = Vec::with_capacity(topology.switches.len());
        for (i, config) in topology.switches.iter().enumerate() {
            let switch = Switch::new(SwitchConfig { seed, ..config.clone() }).map_err(|error| {
                SpecError::new(format!("switches[{i}].{}", error.place), error.cause, error.remedy)
            })?;
            switches.push(switch);
        }
        Self::start(Arc::new(spec), Arc::new(topology), switches, seed)
    }

    /// A run of this network with another seed, from time zero. Switches keep program, entries and cells as
    /// they are now; everything else is new.
    ///
    /// # Errors
    /// None for a network that was built.
    pub fn fork(&self, seed: u64) -> Result<Self, SpecError> {
        self.blueprint().fork(seed)
    }

    /// What all runs of the network share.
    pub(crate) fn blueprint(&self) -> Blueprint<'_> {
        Blueprint {
            spec: &self.spec,
            topology: &self.topology,
            switches: self.nodes.switches.iter().map(|node| &node.switch).collect(),
        }
    }

    /// A run of this network at its start, with switches that have no program.
    pub(crate) fn at_start_without_programs(&self) -> Result<Self, SpecError> {
        let configs = self.topology.switches.iter();
        let switches = configs.map(|config| Switch::new(config.clone())).collect::<Result<_, _>>();
        let switches = switches.map_err(|error| SpecError::new(error.place, error.cause, error.remedy))?;
        Self::start(self.spec.clone(), self.topology.clone(), switches, self.seed)
    }

    fn start(
        spec: Arc<NetworkSpec>,
        topology: Arc<Topology>,
        mut switches: Vec<Switch>,
        seed: u64,
    ) -> Result<Self, SpecError> {
        for (switch, description) in switches.iter_mut().zip(&spec.switches) {
            let watch = spec.record.watch(&description.name);
            if watch != Watch::default() {
                switch.watch(watch);
            }
        }
        let plans = topology.flows_of_run(seed)?;
        let mut flows = Vec::with_capacity(plans.len());
        let mut connections = Connections::default();
        for (index, plan) in (0..).zip(plans.iter()) {
            let mut flow = new_flow(&spec, &topology, plan, seed)?;
            flow.tcp = connections.connect(&spec, &topology, (index, plan), seed)?;
            flows.push(flow);
        }
        let counted_flows = plans.iter().filter(|plan| plan.is_counted()).count() as u64;
        let ports = topology.switches.iter().map(|switch| switch.ports.len()).sum();
        let node_count = switches.len() + topology.hosts.len();
        let mut network = Self {
            seed,
            observers: Observers::new(&spec, flows.len(), counted_flows, ports),
            nodes: Nodes::new(&topology, switches, (plans, flows, connections), &spec.record, seed),
            schedule: Schedule::new(node_count, usual_lead(&topology.channels), spec.ties),
            batching: Batching::default(),
            ended: false,
            spec,
            topology,
        };
        network.begin_trace()?;
        network.schedule_faults();
        network.schedule_applications();
        network.schedule_own_packets();
        Ok(network)
    }

    /// A run of another description with the switches of this network, as the control plane left them. The
    /// description must have the same switches, with the same ports and rates in the same order.
    ///
    /// # Errors
    /// The first value of the description that cannot be used, or a switch that differs.
    pub fn with_spec(&self, spec: NetworkSpec) -> Result<Self, SpecError> {
        let fresh = Self::build(spec, self.seed)?;
        if fresh.topology.switches != self.topology.switches {
            let remedy = "build a new network and install its switches again";
            return Err(SpecError::new("switches", "they differ from those of the network", remedy));
        }
        let switches = self.nodes.switches.iter().map(|node| node.switch.fork(self.seed)).collect();
        Self::start(fresh.spec, fresh.topology, switches, self.seed)
    }

    /// The description.
    pub fn spec(&self) -> &NetworkSpec {
        &self.spec
    }

    /// Seed of the run.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Virtual time reached.
    pub fn now(&self) -> Time {
        self.schedule.now
    }

    /// Whether the run is over: all flows with a size are complete, or the stop time was reached.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// Device ids of the switches, in their order.
    pub fn device_ids(&self) -> impl Iterator<Item = u64> + '_ {
        self.nodes.switches.iter().map(|node| node.switch.device_id())
    }

    /// A switch by device id.
    pub fn switch(&self, device_id: u64) -> Option<&Switch> {
        self.nodes.switches.iter().map(|node| &node.switch).find(|switch| switch.device_id() == device_id)
    }

    /// A switch by device id, for the control plane.
    pub fn switch_mut(&mut self, device_id: u64) -> Option<&mut Switch> {
        self.nodes
            .switches
            .iter_mut()
            .map(|node| &mut node.switch)
            .find(|switch| switch.device_id() == device_id)
    }

    /// Counters of a host, by its position in the description.
    pub fn host_counters(&self, host: usize) -> Option<&HostCounters> {
        self.nodes.hosts.get(host).map(|host| &host.counters)
    }

    /// Shows the packets that reach hosts to `tap` from now on. A tap can change nothing, and forks have
    /// none.
    pub fn set_tap(&mut self, tap: Tap) {
        self.observers.tap = Some(tap);
    }

    /// Hands full parts of long tables to `sink` from now on, and no longer keeps them; without one it keeps
    /// all rows. Forks have none.
    pub fn stream_tables(&mut self, sink: Option<Arc<dyn TableSink>>) {
        self.observers.recorder.stream.set(sink);
    }
}
