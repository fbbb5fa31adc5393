//! A network in one run: its components, and how a run begins.
//!
//! The network owns no rule that marks, drops or routes: that is the P4 program's and the traffic manager's.
//! Events are handled by [`Hosts`] and [`Switches`], which reach [`Links`] and [`Observers`] only through a
//! [`crate::context::Context`].
//!
//! Invariants: events happen in the order of [`crate::events`]; nothing here reads a clock or draws a
//! random number but from a named stream of the run's seed; packets are conserved ([`crate::PacketBalance`]).

use std::sync::Arc;

use p4cc_switch::{ExecChoice, PacketPool, Switch, SwitchConfig, Watch};
use p4cc_units::Time;

use crate::describe::spec::NetworkSpec;
use crate::describe::{FaultPlan, Topology, flow_index};
use crate::error::{SpecError, refuse};
use crate::events::{Batching, Schedule, Timer};
use crate::hosts::{HostCounters, Hosts};
use crate::links::{Links, usual_lead};
use crate::output::View;
use crate::record::{Observers, PacketTrace, TableSink, Tap};
use crate::switches::Switches;

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
    pub(crate) seed: u64,
    pub(crate) hosts: Hosts,
    pub(crate) switches: Switches,
    pub(crate) links: Links,
    pub(crate) schedule: Schedule,
    /// Memory of packets that hosts took.
    pub(crate) pool: PacketPool,
    pub(crate) observers: Observers,
    pub(crate) batching: Batching,
    /// Traversals of a link by a packet.
    pub(crate) packet_hops: u64,
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
        Blueprint { spec: &self.spec, topology: &self.topology, switches: self.switches.iter().collect() }
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
                switch.control().watch(watch);
            }
        }
        let hosts = Hosts::new(&spec, &topology, seed)?;
        let ports = topology.switches.iter().map(|switch| switch.ports.len()).sum();
        let nodes = switches.len() + topology.hosts.len();
        let mut network = Self {
            seed,
            observers: Observers::new(&spec, hosts.flows().len(), ports),
            hosts,
            switches: Switches::new(&spec, &topology, switches),
            links: Links::new(&topology, seed),
            schedule: Schedule::new(nodes, usual_lead(&topology.channels)),
            pool: PacketPool::default(),
            batching: Batching::default(),
            packet_hops: 0,
            ended: false,
            spec,
            topology,
        };
        network.begin_trace()?;
        network.schedule_faults();
        let (hosts, _, mut cx) = network.components();
        hosts.schedule_applications(&mut cx);
        Ok(network)
    }

    /// Begins to follow packets, if any are to be followed.
    fn begin_trace(&mut self) -> Result<(), SpecError> {
        let Some(plan) = &self.topology.trace else { return Ok(()) };
        plan.check_flows(|flow| flow_index(self.hosts.plans(), flow).is_some())?;
        self.switches.set_tracing_expected(plan.max_steps);
        self.observers.trace = Some(Box::new(PacketTrace::new(plan.clone(), &self.topology)));
        Ok(())
    }

    /// Schedules links and switches that go down or come up.
    fn schedule_faults(&mut self) {
        for &FaultPlan { at, channel, up } in &self.topology.faults.links {
            let node = self.topology.channels[channel as usize].from;
            self.schedule.timer(at, node, Timer::LinkChange { channel, up });
        }
        for &(at, switch) in &self.topology.faults.power_offs {
            self.schedule.timer(at, switch, Timer::PowerOff);
        }
        for (storm, plan) in (0..).zip(&self.topology.storms) {
            self.schedule.timer(plan.start, self.topology.host_node(plan.host), Timer::Storm { storm });
        }
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
            return refuse("switches", "they differ from those of the network", remedy);
        }
        let switches = self.switches.iter().map(|switch| switch.fork(self.seed)).collect();
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
        self.switches.iter().map(Switch::device_id)
    }

    /// The place of a switch among switches, by its device id.
    pub fn switch_place(&self, device_id: u64) -> Option<usize> {
        self.switches.place(device_id)
    }

    /// A switch by device id.
    pub fn switch(&self, device_id: u64) -> Option<&Switch> {
        self.switches.iter().find(|switch| switch.device_id() == device_id)
    }

    /// A switch by device id, for the control plane.
    pub fn switch_mut(&mut self, device_id: u64) -> Option<&mut Switch> {
        let place = self.switches.place(device_id)?;
        Some(self.switches.switch_mut(place))
    }

    /// Chooses the executor of all switches; results do not depend on it. Forks keep the choice.
    pub fn set_exec(&mut self, choice: ExecChoice) {
        self.switches.set_exec(choice);
    }

    /// Why the program of some switch has no native code, if native code was asked for. Forks of a network
    /// share it.
    pub fn native_error(&self) -> Option<String> {
        self.switches.iter().find_map(|switch| switch.observation().native_error().map(ToString::to_string))
    }

    /// Sets whether epochs are handled in batches; results do not depend on it.
    pub fn set_batching(&mut self, batching: Batching) {
        self.batching = batching;
    }

    /// Counters of a host, by its position in the description.
    pub fn host_counters(&self, host: usize) -> Option<HostCounters> {
        (host < self.spec.hosts.len()).then(|| self.view().counters_of(host as u32))
    }

    /// When each flow is to start, as the description says it or a model drew it, begun or not; none for
    /// one that waits for another.
    pub fn planned_starts(&self) -> impl Iterator<Item = Option<Time>> + '_ {
        self.hosts.flows().iter().map(|flow| flow.start)
    }

    /// Shows the packets that reach hosts to `tap` from now on. A tap can change nothing, and forks have
    /// none.
    pub fn set_tap(&mut self, tap: Tap) {
        self.observers.tap = Some(tap);
    }

    /// Hands full parts of long tables to `sink` from now on, and no longer keeps them; without one it keeps
    /// all rows. Forks have none.
    pub fn stream_tables(&mut self, sink: Option<Arc<dyn TableSink>>) {
        self.observers.recorder.room.stream.set(sink);
    }

    /// The components, to read.
    pub(crate) fn view(&self) -> View<'_> {
        View {
            spec: &self.spec,
            topology: &self.topology,
            seed: self.seed,
            now: self.schedule.now,
            hosts: &self.hosts,
            switches: &self.switches,
            links: &self.links,
        }
    }
}
