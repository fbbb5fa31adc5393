//! The network in virtual time: the loop that carries packets from sender to switch to receiver and back.
//!
//! Virtual time moves only inside [`Network::run_until`] and [`Network::run_to_end`]; between two calls the
//! control plane may change any switch, so results do not depend on how long it takes.
//!
//! Invariants: events happen in the order of [`crate::events::event`]; nothing here reads a clock or draws a
//! random number but from a named stream of the run's seed; packets are conserved ([`PacketBalance`]).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use p4cc_switch::{Packet, PacketPool, Switch, SwitchConfig, Workspace};
use p4cc_transport::wire::PacketKind;
use p4cc_transport::{Action, Actions, WindowSender};
use p4cc_units::{Span, Time};

use crate::describe::spec::NetworkSpec;
use crate::describe::topology::{FlowPlan, Topology};
use crate::events::calendar::Agenda;
use crate::events::event::{Event, Kind};
use crate::events::tie_break::{Moment, Order};
use crate::hosts::host::{self, Ends, Flow, Host, HostCounters, Outgoing};
use crate::hosts::new_flow::new_flow;
use crate::links::channel::{Channel, Frame, Mail, usual_lead};
use crate::links::pfc::Fabric;
use crate::network::switch_node::SwitchNode;
use crate::output::record::Recorder;
use crate::output::stall::Stall;
use crate::parallel::logical_processes::Turns;
use crate::traffic::rounds::Rounds;
use crate::{RunError, SpecError};

/// In the place of a timer's port: the receiver's timer for a delayed ACK, beside 0 for the sender's.
const ACK_TIMER: u32 = 1;
/// An interface looks at its paced flows again; the subject is the host.
pub(crate) const PACE_TIMER: u32 = 2;
/// The look for deadlocks; the node has no meaning.
pub(crate) const FABRIC_TIMER: u32 = 3;
/// The application of a flow closes it.
pub(crate) const CLOSE_TIMER: u32 = 4;
/// A pause may have lasted its time; the subject is port and priority,
/// of a switch that asked for it or of the node that it stopped.
pub(crate) const PAUSE_TIMER: u32 = 5;
/// A link went down or came up; the subject is the channel that leaves the node, and which of the two.
pub(crate) const LINK_TIMER: u32 = 6;

/// Events between two looks at the cancel flag.
const EVENTS_PER_LOOK: u64 = 1 << 16;

/// How far a run is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// Virtual time reached.
    pub now_ns: u64,
    /// End of the run if it does not end by itself.
    pub stop_ns: u64,
    /// Events so far.
    pub events: u64,
    /// Flows complete.
    pub flows_completed: u64,
    /// Flows with a size, requests of rounds not counted.
    pub flows_finite: u64,
    /// Traversals of a link by a packet so far.
    pub packet_hops: u64,
}

/// Where every packet went. Conserved:
/// `sent + copies + packet_outs = delivered + refused + dropped + lost + on_way + waiting + packet_ins`.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct PacketBalance {
    /// Left a host.
    pub sent: u64,
    /// Made by switches.
    pub copies: u64,
    /// Given by controllers.
    pub packet_outs: u64,
    /// Taken by an end of a flow.
    pub delivered: u64,
    /// Arrived at a host that refused them.
    pub refused: u64,
    /// Dropped by switches.
    pub dropped: u64,
    /// Lost on links.
    pub lost: u64,
    /// On links.
    pub on_way: u64,
    /// In queues of switches.
    pub waiting: u64,
    /// Given to controllers.
    pub packet_ins: u64,
}

impl PacketBalance {
    /// Whether no packet appeared or went away without being counted.
    pub const fn is_even(&self) -> bool {
        self.sent + self.copies + self.packet_outs
            == self.delivered
                + self.refused
                + self.dropped
                + self.lost
                + self.on_way
                + self.waiting
                + self.packet_ins
    }
}

/// What all runs of one network share; unlike a run, threads may share it.
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
    pub(crate) switches: Vec<SwitchNode>,
    pub(crate) hosts: Vec<Host>,
    pub(crate) channels: Vec<Channel>,
    /// What left this part of a network in this window.
    pub(crate) left: Vec<Mail>,
    /// Flows of this run by rising id; what the description gives, and arrivals.
    pub(crate) plans: Arc<Vec<FlowPlan>>,
    pub(crate) flows: Vec<Flow>,
    pub(crate) rounds: Vec<Rounds>,
    /// Flows under way, in order of their start.
    pub(crate) active: Vec<u32>,
    pub(crate) recorder: Recorder,
    pub(crate) fabric: Fabric,
    pub(crate) stall: Stall,
    pub(crate) queue: Agenda,
    /// Of simultaneous events.
    pub(crate) order: Order,
    /// Memory of packets that hosts took.
    pub(crate) pool: PacketPool,
    /// What switches work in, one after the other.
    pub(crate) workspace: Workspace,
    /// The switch that has it.
    borrower: Option<usize>,
    /// Sequence number of each node, for what it schedules for itself.
    pub(crate) seqs: Vec<u64>,
    /// Arrivals scheduled: of those of one channel at one instant, the first is first.
    pub(crate) arrivals: u64,
    actions: Actions,
    seed: u64,
    pub(crate) now: Time,
    pub(crate) events: u64,
    pub(crate) packet_hops: u64,
    /// Counted flows that are not complete.
    pub(crate) open_flows: u64,
    pub(crate) counted_flows: u64,
    /// When the first counted flow began, and what all flows had had acknowledged then.
    pub(crate) first_begin: Option<(Time, u64)>,
    ended: bool,
    /// Windows in which parts ran side by side, or districts one after the other.
    pub(crate) windows: u64,
    pub(crate) turns: Turns,
    pub(crate) tap: Option<Tap>,
}

/// Sees every packet that reaches a host: when, which host, and the packet as it came.
pub type Tap = Box<dyn FnMut(Time, usize, &Packet) + Send>;

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

    /// A run of the same network with another seed, from time zero: switches
    /// keep program, entries and cells as they are now, all else is new.
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
            switches: self.switches.iter().map(|node| &node.switch).collect(),
        }
    }

    /// A run of the same network at its start, its switches without programs.
    pub(crate) fn at_start_without_programs(&self) -> Result<Self, SpecError> {
        let configs = self.topology.switches.iter();
        let switches = configs.map(|config| Switch::new(config.clone())).collect::<Result<_, _>>();
        let switches = switches.map_err(|error| SpecError::new(error.place, error.cause, error.remedy))?;
        Self::start(self.spec.clone(), self.topology.clone(), switches, self.seed)
    }

    fn start(
        spec: Arc<NetworkSpec>,
        topology: Arc<Topology>,
        switches: Vec<Switch>,
        seed: u64,
    ) -> Result<Self, SpecError> {
        let plans = topology.flows_of_run(seed)?;
        let mut flows = Vec::with_capacity(plans.len());
        for plan in plans.iter() {
            flows.push(new_flow(&spec, &topology, plan, seed)?);
        }
        let counted_flows = plans.iter().filter(|plan| plan.is_counted()).count() as u64;
        let ports = topology.switches.iter().map(|switch| switch.ports.len()).sum();
        let mut network = Self {
            hosts: vec![Host::default(); topology.hosts.len()],
            channels: topology.channels.iter().map(|plan| Channel::new(plan, seed)).collect(),
            left: Vec::new(),
            recorder: Recorder::new(&spec.record, flows.len(), ports),
            fabric: Fabric::default(),
            stall: Stall::new(spec.stall_after_ns),
            seqs: vec![0; switches.len() + topology.hosts.len()],
            arrivals: 0,
            switches: switches
                .into_iter()
                .zip(&topology.switch_channels)
                .map(|(switch, channels)| SwitchNode::new(switch, channels))
                .collect(),
            rounds: topology.rounds.iter().map(|plan| Rounds::new(plan, seed)).collect(),
            plans,
            flows,
            active: Vec::new(),
            queue: Agenda::new(usual_lead(&topology.channels)),
            order: Order::new(spec.ties),
            pool: PacketPool::default(),
            workspace: Workspace::default(),
            borrower: None,
            actions: Actions::new(),
            seed,
            now: Time::ZERO,
            events: 0,
            packet_hops: 0,
            open_flows: counted_flows,
            counted_flows,
            first_begin: None,
            ended: false,
            windows: 0,
            turns: Turns::default(),
            tap: None,
            spec,
            topology,
        };
        network.schedule_faults();
        network.schedule_applications();
        Ok(network)
    }

    /// The same switches, as the control plane left them, at the start of a run of another description. It
    /// must have the same switches with the same ports and rates in the same order; all else may differ.
    ///
    /// # Errors
    /// The first value of the description that cannot be used, or a switch that differs.
    pub fn with_spec(&self, spec: NetworkSpec) -> Result<Self, SpecError> {
        let fresh = Self::build(spec, self.seed)?;
        if fresh.topology.switches != self.topology.switches {
            let remedy = "build a new network and install its switches again";
            return Err(SpecError::new("switches", "they differ from those of the network", remedy));
        }
        let switches = self.switches.iter().map(|node| node.switch.fork(self.seed)).collect();
        Self::start(fresh.spec, fresh.topology, switches, self.seed)
    }

    /// The description.
    pub fn spec(&self) -> &NetworkSpec {
        &self.spec
    }

    pub(crate) fn host_node(&self, host: u32) -> u32 {
        self.switches.len() as u32 + host
    }

    /// Schedules an event for a node by itself.
    pub(crate) fn schedule(&mut self, time: Time, kind: Kind, node: u32, port: u32, subject: u32) {
        let moment = self.order.moment(time);
        self.schedule_at(moment, kind, node, port, subject);
    }

    /// The same at a moment that was given before.
    pub(crate) fn schedule_at(&mut self, moment: Moment, kind: Kind, node: u32, port: u32, subject: u32) {
        let seq = &mut self.seqs[node as usize];
        *seq += 1;
        let event = Event::new(moment.time, kind, node, port, *seq, subject);
        self.queue.push(self.order.place(event, moment));
    }

    /// Seed of the run.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Virtual time reached.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Whether the run is over: all flows with a size are complete, or the stop time was reached.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// Device ids of the switches, in their order.
    pub fn device_ids(&self) -> impl Iterator<Item = u64> + '_ {
        self.switches.iter().map(|node| node.switch.device_id())
    }

    /// A switch by device id.
    pub fn switch(&self, device_id: u64) -> Option<&Switch> {
        self.switches.iter().map(|node| &node.switch).find(|switch| switch.device_id() == device_id)
    }

    /// A switch by device id, for the control plane.
    pub fn switch_mut(&mut self, device_id: u64) -> Option<&mut Switch> {
        self.switches.iter_mut().map(|node| &mut node.switch).find(|switch| switch.device_id() == device_id)
    }

    /// Counters of a host, by its position in the description.
    pub fn host_counters(&self, host: usize) -> Option<&HostCounters> {
        self.hosts.get(host).map(|host| &host.counters)
    }

    /// Has `tap` see the packets that reach hosts from now on; it can change nothing, and forks have none.
    pub fn set_tap(&mut self, tap: Tap) {
        self.tap = Some(tap);
    }

    /// How far the run is.
    pub fn progress(&self) -> Progress {
        Progress {
            now_ns: self.now.as_ns(),
            stop_ns: self.spec.stop_ns,
            events: self.events,
            flows_completed: self.counted_flows - self.open_flows,
            flows_finite: self.counted_flows,
            packet_hops: self.packet_hops,
        }
    }

    /// Where every packet went so far.
    pub fn packet_balance(&self) -> PacketBalance {
        let mut balance = PacketBalance::default();
        for host in &self.hosts {
            balance.sent += host.counters.sent_pkts;
            balance.delivered += host.counters.delivered_pkts;
            balance.refused += host.counters.refused_pkts();
        }
        for node in &self.switches {
            let counters = node.switch.counters();
            balance.copies += counters.copies;
            balance.packet_outs += counters.packet_outs;
            balance.dropped += counters.drops.total();
            balance.waiting += node.switch.waiting();
            balance.packet_ins += counters.packet_ins;
        }
        for channel in &self.channels {
            balance.lost += channel.lost();
            balance.on_way += channel.on_way() as u64;
        }
        balance
    }

    /// Runs all events up to and including `until`, or to the end of the run if that comes first.
    ///
    /// # Errors
    /// The limit of events.
    pub fn run_until(&mut self, until: Time) -> Result<(), RunError> {
        self.run(until, 1, &AtomicBool::new(false), &mut |_| {})
    }

    /// As [`Self::run_until`]; ends soon after `cancel` is set.
    ///
    /// # Errors
    /// The limit of events, or the cancellation.
    pub fn run_until_or_cancelled(&mut self, until: Time, cancel: &AtomicBool) -> Result<(), RunError> {
        self.run(until, 1, cancel, &mut |_| {})
    }

    /// Runs to the end: all flows with a size complete (unless the description says otherwise), or the stop
    /// time. `progress` is called now and then; the run ends soon after `cancel` is set.
    ///
    /// # Errors
    /// The limit of events, or the cancellation.
    pub fn run_to_end(
        &mut self,
        cancel: &AtomicBool,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), RunError> {
        self.run(Time::MAX, 1, cancel, progress)
    }

    /// As [`Self::run_to_end`] on so many threads; what it finds is the same. Where
    /// [`Self::one_thread_reason`] gives a reason, it runs on one.
    ///
    /// # Errors
    /// The limit of events, or the cancellation.
    pub fn run_to_end_on(
        &mut self,
        threads: usize,
        cancel: &AtomicBool,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), RunError> {
        self.run(Time::MAX, threads, cancel, progress)
    }

    fn run(
        &mut self,
        until: Time,
        threads: usize,
        cancel: &AtomicBool,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), RunError> {
        if self.ended {
            return Ok(());
        }
        let done = self.run_events(until, threads, cancel, progress);
        self.take_workspace_back();
        done
    }

    fn run_events(
        &mut self,
        until: Time,
        threads: usize,
        cancel: &AtomicBool,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), RunError> {
        let stop = Time::from_ns(self.spec.stop_ns);
        let until = until.min(stop);
        for switch in 0..self.switches.len() {
            // The control plane may have sent packets meanwhile, or loaded a program.
            self.send_pause_frames(switch);
            self.lend_workspace(switch);
            self.start_ready_ports(switch);
        }
        let mut parts = self.parts(threads);
        let mut districts = if parts.is_none() { self.districts() } else { None };
        let max_events = self.spec.limits.max_events;
        loop {
            if let Some(parts) = &mut parts {
                self.run_parts(parts, until, cancel, progress);
            }
            if let Some(districts) = &mut districts {
                self.run_districts(districts, until, cancel, progress);
            }
            if (parts.is_some() || districts.is_some()) && cancel.load(Ordering::Relaxed) {
                return Err(RunError::Cancelled { at_ns: self.now.as_ns() });
            }
            let Some(event) = self.queue.pop_until(until) else { break };
            if self.recorder.is_due_before(event.time()) {
                self.sample_before(event.time());
            }
            self.now = event.time();
            self.order.advance(&event);
            self.dispatch(&event);
            self.events += 1;
            if self.is_complete() {
                self.ended = true;
                self.sample_before(self.now + Span::from_ps(1));
                return Ok(());
            }
            if self.events >= max_events {
                return Err(RunError::EventLimit { limit: max_events, at_ns: self.now.as_ns() });
            }
            if self.events.is_multiple_of(EVENTS_PER_LOOK) {
                progress(self.progress());
                if cancel.load(Ordering::Relaxed) {
                    return Err(RunError::Cancelled { at_ns: self.now.as_ns() });
                }
            }
        }
        self.now = until;
        self.sample_before(until + Span::from_ps(1));
        self.ended = until == stop;
        Ok(())
    }

    #[inline]
    fn is_complete(&self) -> bool {
        self.open_flows == 0 && self.counted_flows > 0 && self.spec.stop_when_complete
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

    /// Does what an event asks for; an arrival's frame is in its channel.
    pub(crate) fn dispatch(&mut self, event: &Event) {
        let (node, port) = (event.node(), event.port());
        match event.kind() {
            Kind::Dequeue => self.on_dequeue(node, port),
            Kind::Arrival => self.on_arrival(node, port, event.subject),
            Kind::Timer => match port {
                ACK_TIMER => self.on_ack_timer(event.subject),
                PACE_TIMER => self.on_pace_timer(event.subject),
                FABRIC_TIMER => self.on_fabric_timer(),
                CLOSE_TIMER => self.on_close(event.subject),
                PAUSE_TIMER => self.on_pause_timer(node, event.subject),
                LINK_TIMER => self.on_link_timer(node, event.subject),
                _ => self.on_timer(event.subject),
            },
            Kind::Start => self.on_start(event.subject),
        }
    }

    fn on_dequeue(&mut self, node: u32, port: u32) {
        let switches = self.switches.len() as u32;
        if node < switches {
            self.lend_workspace(node as usize);
            self.wake_port(node as usize, port);
        } else {
            let host = node - switches;
            self.hosts[host as usize].line.on_wake();
            self.start_interface(host);
        }
    }

    fn on_arrival(&mut self, node: u32, port: u32, channel: u32) {
        match self.next_frame(node, port, channel) {
            Some(Frame::Packet(packet)) => self.take_in(node, port, packet),
            Some(Frame::Pause(word)) => self.on_pause(node, port, channel, (word.priority, word.pause)),
            None => {}
        }
    }

    /// A packet reaches a node.
    #[inline]
    pub(crate) fn take_in(&mut self, node: u32, port: u32, packet: Packet) {
        self.packet_hops += 1;
        let switches = self.switches.len() as u32;
        if node < switches {
            self.lend_workspace(node as usize);
            self.pass_switch(node as usize, port, packet);
        } else if let Some(packet) = self.deliver(node - switches, packet) {
            self.pool.give(packet);
        }
    }

    /// The frame that arrives from a channel; schedules the one behind it, unless each has its event.
    #[inline]
    fn next_frame(&mut self, node: u32, port: u32, channel: u32) -> Option<Frame> {
        let (frame, next) = self.channels[channel as usize].arrive()?;
        if let Some(next) = next
            && self.queue.districts() == 0
        {
            self.schedule_at(next, Kind::Arrival, node, port, channel);
        }
        Some(frame)
    }

    /// Gives the packet to the end of a flow that it is for; gives it back if nobody has use for its memory.
    fn deliver(&mut self, host: u32, packet: Packet) -> Option<Packet> {
        if let Some(tap) = &mut self.tap {
            tap(self.now, host as usize, &packet);
        }
        let counters = &mut self.hosts[host as usize].counters;
        // By reference from here on: it is larger than a line of the cache.
        let Ok(read) = &host::read(&packet) else {
            counters.refused_malformed += 1;
            return Some(packet);
        };
        if !host::is_addressed(&self.topology.hosts[host as usize], read) {
            counters.refused_address += 1;
            return Some(packet);
        }
        let plans = &self.plans;
        let flow = position(plans, read.header.flow_id).filter(|&flow| {
            let plan = &plans[flow];
            host == if read.header.kind == PacketKind::Data { plan.dst } else { plan.src }
        });
        let Some(flow) = flow else {
            counters.refused_flow += 1;
            return Some(packet);
        };
        counters.delivered_pkts += 1;
        let is_rdma = matches!(self.flows[flow].ends, Ends::Rdma(_));
        match (read.header.kind, is_rdma) {
            (PacketKind::Data, true) => {
                let (receipt, extension) = (self.on_rdma_data(flow as u32, read), read.extension);
                let (kind, len) = (extension.kind, extension.bytes.len());
                return self.answer_rdma(host, flow as u32, receipt?, (packet, kind, len));
            }
            (PacketKind::Ack, true) => self.on_rdma_ack(host, flow as u32, read),
            (PacketKind::Data, false) => {
                self.on_data(host, flow as u32, &read.header.data_fields(read.ecn));
            }
            (PacketKind::Ack, false) => {
                let fields = read.ack_fields();
                self.with_sender(flow as u32, |sender, now, out| sender.on_ack(now, &fields, out));
            }
        }
        Some(packet)
    }

    fn on_data(&mut self, host: u32, index: u32, data: &p4cc_transport::DataFields) {
        let flow = &mut self.flows[index as usize];
        flow.count_mark(data.ecn);
        let Ends::Window { receiver, .. } = &mut flow.ends else { return };
        let waited_until = receiver.deadline();
        let receipt = receiver.on_data(self.now, data);
        let waits_until = receiver.deadline().filter(|until| waited_until != Some(*until));
        let delivered = receiver.delivered_bytes();
        if receipt.completed {
            flow.received = Some(self.now);
        }
        if let Some(fields) = receipt.earlier {
            self.hand_over(host, Outgoing::Ack(index, fields));
        }
        match receipt.ack {
            Some(fields) => {
                let ticket = self.order.ticket();
                self.start_with(host, (ticket, Outgoing::Ack(index, fields)));
            }
            None => self.start_interface(host),
        }
        if let Some(until) = waits_until {
            self.schedule(until, Kind::Timer, self.host_node(host), ACK_TIMER, index);
        }
        if receipt.delivered_bytes > 0 {
            self.on_delivered(index, delivered);
        }
    }

    /// A receiver took new bytes of a flow, so many by now.
    pub(crate) fn on_delivered(&mut self, index: u32, delivered: u64) {
        self.stall.on_delivered(self.now);
        if let Some(member) = self.plans[index as usize].member {
            self.on_member_delivered(member, delivered);
        }
    }

    /// A flow is complete.
    pub(crate) fn on_complete(&mut self, index: u32) {
        self.flows[index as usize].finish = Some(self.now);
        let plan = &self.plans[index as usize];
        self.open_flows -= u64::from(plan.is_counted());
        if plan.is_given_whole() {
            self.stall.on_finish(self.now);
        }
    }

    /// Payload bytes acknowledged, over all flows but requests.
    pub(crate) fn acked_bytes(&self) -> u64 {
        let flows = self.plans.iter().zip(&self.flows).filter(|(plan, _)| !plan.is_request());
        flows.map(|(_, flow)| flow.snapshot().snd_una).sum()
    }

    fn on_timer(&mut self, flow: u32) {
        let timer = &mut self.flows[flow as usize].timer;
        if *timer == Some(self.now) {
            *timer = None;
            self.with_sender(flow, |sender, now, out| sender.on_timer(now, out));
            self.on_rdma_timer(flow);
        }
    }

    /// Puts a packet behind those that wait for a host's interface.
    fn hand_over(&mut self, host: u32, out: Outgoing) {
        let ticket = self.order.ticket();
        self.hosts[host as usize].waiting.push_back((ticket, out));
    }

    /// A delayed ACK may be due; a timer that another ACK has overtaken gives none.
    fn on_ack_timer(&mut self, index: u32) {
        let Ends::Window { receiver, .. } = &mut self.flows[index as usize].ends else { return };
        if let Some(fields) = receiver.on_timer(self.now) {
            let host = self.plans[index as usize].dst;
            self.hand_over(host, Outgoing::Ack(index, fields));
            self.start_interface(host);
        }
    }

    /// Lets a window sender act, and does what it asks for.
    pub(crate) fn with_sender(&mut self, flow: u32, act: impl FnOnce(&mut WindowSender, Time, &mut Actions)) {
        let Ends::Window { sender, .. } = &mut self.flows[flow as usize].ends else { return };
        self.actions.clear();
        act(sender, self.now, &mut self.actions);
        let plan = &self.plans[flow as usize];
        let (flow_id, host) = (plan.id, plan.src);
        self.recorder.events(self.now, flow_id, self.actions.events());
        if let Some((rtt, marked)) = self.actions.rtt() {
            self.recorder.rtt(self.now, flow_id, rtt, marked);
        }
        // The only segment, as a rule; others stand behind each other.
        let (mut first, mut segments) = (None, 0);
        let mut next = 0;
        while let Some(&action) = self.actions.actions().get(next) {
            next += 1;
            let state = &mut self.flows[flow as usize];
            match action {
                Action::Send(segment) => {
                    state.data_pkts += 1;
                    segments += 1;
                    let out = (self.order.ticket(), Outgoing::Data(flow, segment));
                    if segments == 1 {
                        first = Some(out);
                    } else {
                        self.hosts[host as usize].waiting.extend(first.take().into_iter().chain([out]));
                    }
                }
                Action::SetTimer(time) => {
                    state.timer = Some(time);
                    self.schedule(time, Kind::Timer, self.host_node(host), 0, flow);
                }
                Action::CancelTimer => state.timer = None,
                Action::Complete => self.on_complete(flow),
            }
        }
        match first {
            Some(out) => self.start_with(host, out),
            None if !self.hosts[host as usize].waiting.is_empty() => self.start_interface(host),
            None => {}
        }
    }
}

/// Place of a flow among flows by rising id.
pub(crate) fn position(plans: &[FlowPlan], id: u32) -> Option<usize> {
    let first = plans.first()?.id;
    // Ids without gaps, as a description has as a rule, need no search.
    let guess = id.checked_sub(first)? as usize;
    if plans.get(guess).is_some_and(|plan| plan.id == id) {
        return Some(guess);
    }
    plans.binary_search_by_key(&id, |plan| plan.id).ok()
}
