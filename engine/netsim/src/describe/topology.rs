//! The topology: the description resolved. Names become indices, and a description that contradicts itself is
//! refused.
//!
//! Nodes are numbered: switches first, then hosts, each in the order of the description. That order decides
//! between simultaneous events. A channel is one direction of a link: channel `2 i` leads from end `a` of
//! link `i`, channel `2 i + 1` from end `b`.

use std::collections::BTreeMap;
use std::sync::Arc;

use p4cc_switch::config::{MAX_FRAMING_BYTES, MAX_PORTS, PRIORITIES};
use p4cc_switch::{BufferConfig, MAX_PACKET_BYTES, PortConfig, SchedulerConfig, ShaperConfig, SwitchConfig};
use p4cc_transport::rdma::Entropy;
use p4cc_transport::wire::user_headers::UserHeaders;
use p4cc_transport::{IpVersion, PacketFormat};
use p4cc_units::{Rate, Span, Time};

use crate::describe::captures::{self, CaptureLimits, CapturePlan};
use crate::describe::faults::{self, Faults};
use crate::describe::flow_plan::FlowPlan;
use crate::describe::interfaces::{Interfaces, PairRtts};
use crate::describe::limits::{
    MAX_FLOW_BYTES, MAX_FLOWS, MAX_NODES, MAX_RECEIVED_BYTES, MAX_ROWS, MAX_STATE_NAMES, MAX_TIME_NS,
    RECEIVED_ROW_BYTES, in_range,
};
use crate::describe::names::{Node, Resolver, node};
use crate::describe::slow_receivers::{self, SlowReceiverPlan};
use crate::describe::spec::{
    ArraySpec, BufferSpec, EndSpec, FlowSpec, LinkSpec, NetworkSpec, SchedulerSpec, SwitchSpec, parse_mac,
};
use crate::describe::storms::{self, StormPlan};
use crate::describe::traced::TracePlan;
use crate::error::{SpecError, refuse};
use crate::traffic::arrivals::ArrivalsPlan;
use crate::traffic::bursts::BurstsPlan;
use crate::traffic::closed_loop::ClosedLoopPlan;
use crate::traffic::collective::CollectivePlan;
use crate::traffic::jobs::JobsPlan;
use crate::traffic::packets::PacketsPlan;
use crate::traffic::pairs::PairsPlan;
use crate::traffic::rounds::RoundsPlan;

/// One direction of a link.
#[derive(Clone, Debug)]
pub(crate) struct ChannelPlan {
    pub from: u32,
    pub to: u32,
    pub to_port: u32,
    pub rate: Rate,
    pub delay: Span,
    pub framing_bytes: u32,
    pub loss: f64,
    /// Whether it goes down in a run.
    pub has_faults: bool,
    /// Bounds of the capture at its start, and of the one at its end, where they are captured.
    pub captures: [Option<CaptureLimits>; 2],
    /// Whether packets on it are followed.
    pub is_traced: bool,
    /// `name:port->name:port`, the name of its random stream too.
    pub name: String,
}

/// An interface of a host.
#[derive(Clone, Debug)]
pub(crate) struct HostPlan {
    pub mac: [u8; 6],
    pub gateway_mac: [u8; 6],
    pub ipv4: core::net::Ipv4Addr,
    /// Mask of its network.
    pub netmask: u32,
    /// Channel that leaves by it.
    pub uplink: u32,
    /// Of that channel.
    pub framing_bytes: u32,
    pub rate: Rate,
}

impl HostPlan {
    /// The MAC address that a packet for another host goes to: its own within this host's network, else the
    /// gateway's.
    #[inline]
    pub(crate) fn next_hop_mac(&self, to: &Self) -> [u8; 6] {
        let differ = self.ipv4.to_bits() ^ to.ipv4.to_bits();
        if differ & self.netmask == 0 { to.mac } else { self.gateway_mac }
    }
}

/// The description, resolved.
#[derive(Clone, Default, Debug)]
pub(crate) struct Topology {
    /// Configurations; the seed is set for each run.
    pub switches: Vec<SwitchConfig>,
    /// For each switch the outgoing channel of each port number.
    pub switch_channels: Vec<Vec<Option<u32>>>,
    /// By interface: those of port 0 in the order of hosts, then further ones.
    pub hosts: Vec<HostPlan>,
    pub interfaces: Interfaces,
    pub pair_rtts: Option<PairRtts>,
    pub channels: Vec<ChannelPlan>,
    /// Whether the flows of each sender are reads, in the order of `sender_names`.
    pub reads: Vec<bool>,
    /// Whether a receiver lets the flows of each sender send, in the same order.
    pub driven: Vec<bool>,
    /// By rising flow id; those drawn for a run are not among them.
    pub flows: Arc<Vec<FlowPlan>>,
    pub rounds: Vec<RoundsPlan>,
    pub collectives: Vec<CollectivePlan>,
    pub jobs: JobsPlan,
    pub arrivals: Vec<ArrivalsPlan>,
    pub pairs: Vec<PairsPlan>,
    pub bursts: Vec<BurstsPlan>,
    pub closed_loops: Vec<ClosedLoopPlan>,
    pub packets: Vec<PacketsPlan>,
    /// Hosts that keep what arrives and no flow takes.
    pub recording: Vec<u32>,
    /// Headers of the user's program in data packets.
    pub headers: Option<UserHeaders>,
    /// Some senders speak TCP.
    pub has_tcp: bool,
    /// Some senders send over IPv6.
    pub has_ipv6: bool,
    /// Receivers let some flows send.
    pub has_receivers: bool,
    /// Every packet of a flow is a plain one of p4cc's: no TCP, no IPv6, no headers of the user's, no
    /// receiver is to hear of it, and every host takes it at once.
    pub is_plain: bool,
    pub faults: Faults,
    pub storms: Vec<StormPlan>,
    pub slow_receivers: Vec<SlowReceiverPlan>,
    pub captures: Vec<CapturePlan>,
    pub trace: Option<TracePlan>,
}

impl Topology {
    /// The port of the node at the start of a channel.
    pub fn near_port(&self, channel: u32) -> u32 {
        // The two directions of a link are neighbours in number.
        self.channels[(channel ^ 1) as usize].to_port
    }

    /// The node at the far end of port 0 of an interface's host, which the host goes with.
    pub fn home(&self, interface: u32) -> usize {
        let host = self.interfaces.host(interface);
        self.channels[self.hosts[host as usize].uplink as usize].to as usize
    }

    /// The node number of an interface of a host.
    #[inline]
    pub fn host_node(&self, host: u32) -> u32 {
        self.switches.len() as u32 + host
    }

    pub fn new(spec: &NetworkSpec) -> Result<Self, SpecError> {
        let names = names(spec)?;
        check_times(spec)?;
        let switch_channels = vec![vec![None; MAX_PORTS as usize]; spec.switches.len()];
        let interfaces = Interfaces::new(spec, &names)?;
        let mut uplinks = vec![None; interfaces.count()];
        let mut topology = Self { switch_channels, interfaces, ..Self::default() };
        for (i, link) in spec.links.iter().enumerate() {
            topology.add_link(spec, i, link, &names, &mut uplinks)?;
        }
        for (i, switch) in spec.switches.iter().enumerate() {
            let config = topology.switch_config(i, switch)?;
            topology.switches.push(config);
        }
        topology.add_faults(spec)?;
        topology.add_captures(spec)?;
        topology.add_trace(spec, &names)?;
        check_device_ids(spec)?;
        for (interface, uplink) in (0..).zip(uplinks) {
            let place = (topology.interfaces.host(interface), topology.interfaces.port(interface));
            topology.hosts.push(host_plan(place, spec, uplink, &topology.channels)?);
        }
        check_addresses(spec)?;
        let pairs = spec.pair_rtts.as_ref().map(|pairs| PairRtts::new(pairs, &names, spec.hosts.len()));
        topology.pair_rtts = pairs.transpose()?;
        in_range("host_jitter_ns", spec.host_jitter_ns, 0, MAX_TIME_NS)?;
        topology.interfaces.check_flows(&spec.flows, &names)?;
        topology.add_traffic(spec, &names)?;
        Ok(topology)
    }

    fn add_link(
        &mut self,
        spec: &NetworkSpec,
        index: usize,
        link: &LinkSpec,
        names: &BTreeMap<&str, Node>,
        uplinks: &mut [Option<u32>],
    ) -> Result<(), SpecError> {
        check_link(index, link)?;
        let first = self.channels.len() as u32;
        let mut ends = [0; 2];
        for (side, (key, end)) in [("a", &link.a), ("b", &link.b)].into_iter().enumerate() {
            let path = format!("links[{index}].{key}");
            let is_used = match node(names, &format!("{path}.node"), &end.node)? {
                Node::Switch(switch) => {
                    ends[side] = switch as u32;
                    self.take_port(spec, switch, &path, end, first + side as u32)?
                }
                Node::Host(host) => {
                    let Some(interface) = self.interfaces.at_port(host as u32, end.port) else {
                        let most = spec.hosts[host].interfaces.len();
                        let cause = format!("the last interface of host {:?} is port {most}", end.node);
                        return refuse(
                            format!("{path}.port"),
                            cause,
                            "give one that it has, or leave it out",
                        );
                    };
                    ends[side] = spec.switches.len() as u32 + interface;
                    uplinks[interface as usize].replace(first + side as u32).is_some()
                }
            };
            if is_used {
                let cause = format!("another link uses {}:{}", end.node, end.port);
                return refuse(path, cause, "give every link two ends that no other link uses");
            }
        }
        for (from, to, near, far) in [(0, 1, &link.a, &link.b), (1, 0, &link.b, &link.a)] {
            self.channels.push(ChannelPlan {
                from: ends[from],
                to: ends[to],
                to_port: far.port,
                rate: Rate::from_bps(link.rate_bps),
                delay: Span::from_ns(link.delay_ns),
                framing_bytes: link.framing_bytes,
                loss: link.loss,
                has_faults: false,
                captures: [None; 2],
                is_traced: false,
                name: format!("{}:{}->{}:{}", near.node, near.port, far.node, far.port),
            });
        }
        Ok(())
    }

    fn add_faults(&mut self, spec: &NetworkSpec) -> Result<(), SpecError> {
        self.faults = faults::plans(spec)?;
        self.storms = storms::plans(spec, &self.interfaces)?;
        self.slow_receivers = slow_receivers::plans(spec)?;
        storms::check_watchdogs(spec)?;
        for fault in &self.faults.links {
            self.channels[fault.channel as usize].has_faults = true;
        }
        Ok(())
    }

    fn add_captures(&mut self, spec: &NetworkSpec) -> Result<(), SpecError> {
        let Some(pcap) = &spec.record.pcap else { return Ok(()) };
        self.captures = captures::plans(pcap, &spec.links)?;
        let limits = CaptureLimits { snap_bytes: pcap.snap_bytes, max_bytes: pcap.max_bytes };
        for capture in &self.captures {
            self.channels[capture.leaving as usize].captures[0] = Some(limits);
            self.channels[capture.arriving as usize].captures[1] = Some(limits);
        }
        Ok(())
    }

    fn add_trace(&mut self, spec: &NetworkSpec, names: &BTreeMap<&str, Node>) -> Result<(), SpecError> {
        let Some(trace) = &spec.record.trace else { return Ok(()) };
        self.trace = Some(TracePlan::new(trace, names)?);
        self.channels.iter_mut().for_each(|channel| channel.is_traced = true);
        Ok(())
    }

    /// Gives a switch's port its channel; returns whether it had one.
    fn take_port(
        &mut self,
        spec: &NetworkSpec,
        switch: usize,
        path: &str,
        end: &EndSpec,
        channel: u32,
    ) -> Result<bool, SpecError> {
        if !spec.switches[switch].ports.iter().any(|port| port.port == end.port) {
            let cause = format!("switch {:?} has no port {}", end.node, end.port);
            return refuse(
                format!("{path}.port"),
                cause,
                format!("add the port to switches[{switch}].ports"),
            );
        }
        let ports = &mut self.switch_channels[switch];
        Ok(ports.get_mut(end.port as usize).is_some_and(|place| place.replace(channel).is_some()))
    }

    fn switch_config(&self, index: usize, switch: &SwitchSpec) -> Result<SwitchConfig, SpecError> {
        let mut ports = Vec::with_capacity(switch.ports.len());
        for (i, port) in switch.ports.iter().enumerate() {
            let channel = self.switch_channels[index].get(port.port as usize).copied().flatten();
            // A number out of range is reported by the switch's own check below.
            let channel = channel.map(|channel| &self.channels[channel as usize]);
            if channel.is_none() && port.port < MAX_PORTS {
                let cause = format!("port {} of switch {:?} has no link", port.port, switch.name);
                let path = format!("switches[{index}].ports[{i}]");
                return refuse(path, cause, "add a link, or leave the port out");
            }
            let path = format!("switches[{index}].ports[{i}].scheduler");
            let (scheduler, shapers) = scheduler_config(&path, port.scheduler.as_ref())?;
            ports.push(PortConfig {
                port: port.port,
                rate: channel.map_or(Rate::from_bps(1), |channel| channel.rate),
                capacity_pkts: port.queue_capacity_pkts,
                capacity_bytes: port.queue_capacity_bytes,
                headroom_bytes: port.headroom_bytes,
                alpha_log2: port.alpha_log2,
                framing_bytes: channel.map_or(0, |channel| channel.framing_bytes),
                qdepth_unit: port.qdepth_unit,
                scheduler,
                shapers,
            });
        }
        let config = SwitchConfig {
            device_id: switch.device_id,
            ports,
            buffer: switch.buffer.as_ref().map(|buffer| buffer_config(index, buffer)).transpose()?,
            timestamp_unit: switch.timestamp_unit,
            cpu_port: switch.cpu_port,
            drop_port: switch.drop_port,
            seed: 0,
            pass_limit: switch.pass_limit,
            deflect_on_drop: switch.deflect_on_drop,
        };
        config.check().map_err(|error| {
            let place = error.place.replace("capacity_pkts", "queue_capacity_pkts");
            SpecError::new(format!("switches[{index}].{place}"), error.cause, error.remedy)
        })?;
        Ok(config)
    }

    fn add_traffic(&mut self, spec: &NetworkSpec, names: &BTreeMap<&str, Node>) -> Result<(), SpecError> {
        for (name, config) in &spec.algorithms {
            config.validate().map_err(|error| {
                SpecError::new(format!("algorithms.{name}.{}", error.place), error.cause, error.remedy)
            })?;
        }
        if let Some(name) = spec.rdma.keys().find(|name| spec.algorithms.contains_key(*name)) {
            let cause = format!("the name {name:?} is also in algorithms");
            return refuse(format!("rdma.{name}"), cause, "give every sender its own name");
        }
        self.reads = spec
            .algorithms
            .keys()
            .map(|_| false)
            .chain(spec.rdma.values().map(|sender| sender.reads))
            .collect();
        check_reads(spec)?;
        check_ports(spec)?;
        let receivers = spec.rdma.values().map(|sender| sender.receiver.is_some());
        self.driven = spec.algorithms.keys().map(|_| false).chain(receivers).collect();
        self.has_receivers = self.driven.contains(&true);
        check_labels("rounds", spec.rounds.iter().map(|spec| spec.name.as_str()))?;
        check_labels("collectives", spec.collectives.iter().map(|spec| spec.name.as_str()))?;
        check_labels("jobs", spec.jobs.iter().map(|spec| spec.name.as_str()))?;
        check_labels("arrivals", spec.arrivals.iter().map(|spec| spec.name.as_str()))?;
        check_labels("pairs", spec.pairs.iter().map(|spec| spec.name.as_str()))?;
        check_labels("bursts", spec.bursts.iter().map(|spec| spec.name.as_str()))?;
        check_labels("closed_loops", spec.closed_loops.iter().map(|spec| spec.name.as_str()))?;
        let resolver = Resolver { names, algorithms: spec.sender_names().collect() };
        let mut flows = plans(&spec.flows, |i, flow| flow_plan(i, flow, &resolver))?;
        flows.sort_by_key(|flow| flow.id);
        if let Some(twice) = flows.windows(2).find(|pair| pair[0].id == pair[1].id) {
            let cause = format!("flow id {} is used twice", twice[0].id);
            return refuse("flows", cause, "give every flow a unique id");
        }
        self.rounds = plans(&spec.rounds, |i, rounds| {
            RoundsPlan::new(i, rounds, &resolver, next_id(&flows)?, &mut flows)
        })?;
        self.collectives = plans(&spec.collectives, |i, job| {
            CollectivePlan::new(i, job, &resolver, next_id(&flows)?, &mut flows)
        })?;
        let first_id = next_id(&flows)?;
        self.jobs = JobsPlan::new(&spec.jobs, &self.collectives, &resolver, first_id, &mut flows)?;
        self.arrivals = plans(&spec.arrivals, |i, arrivals| ArrivalsPlan::new(i, arrivals, &resolver))?;
        let of_interface = |one: u32| self.hosts[one as usize].rate.as_bps();
        let of_host = |host| self.interfaces.usual(host).into_iter().map(of_interface).sum();
        let rates: Vec<Rate> = (0..spec.hosts.len() as u32).map(of_host).map(Rate::from_bps).collect();
        self.pairs = plans(&spec.pairs, |i, pairs| PairsPlan::new(i, pairs, &rates, &resolver))?;
        self.bursts = plans(&spec.bursts, |i, bursts| BurstsPlan::new(i, bursts, &resolver))?;
        self.closed_loops = ClosedLoopPlan::all(&spec.closed_loops, &resolver)?;
        self.packets = PacketsPlan::all(&spec.packets, &resolver)?;
        self.recording = recording(spec, &resolver)?;
        self.headers = user_headers(spec)?;
        self.has_tcp = spec.algorithms.values().any(|config| config.packets == PacketFormat::Tcp);
        self.has_ipv6 = spec.algorithms.values().any(|config| config.ip == IpVersion::V6);
        self.is_plain = self.headers.is_none()
            && !self.has_tcp
            && !self.has_ipv6
            && !self.has_receivers
            && self.slow_receivers.is_empty();
        let driven = spec.rdma.iter().find(|(_, sender)| sender.receiver.is_some());
        if let (Some((name, _)), true) = (driven, self.headers.is_some()) {
            let cause = "data with headers of the program's is not shown to receivers";
            return refuse(format!("rdma.{name}.receiver"), cause, "leave out headers or receiver");
        }
        if let (Some((name, _)), false) = (driven, self.interfaces.is_plain()) {
            let cause = "receivers know one link of their host, and some host has several";
            return refuse(format!("rdma.{name}.receiver"), cause, "give each host one link");
        }
        if self.headers.is_some() && (self.has_tcp || self.has_ipv6) {
            let cause = "flows over TCP or IPv6 carry no headers of the program's";
            return refuse("headers", cause, "leave them out, or give the senders packets: udp and ip: 4");
        }
        self.flows = Arc::new(flows);
        Ok(())
    }

    /// All flows of one run, by rising id.
    pub fn flows_of_run(&self, seed: u64) -> Result<Arc<Vec<FlowPlan>>, SpecError> {
        let is_any_read = self.reads.contains(&true);
        let is_none_drawn = self.arrivals.is_empty()
            && self.pairs.is_empty()
            && self.bursts.is_empty()
            && self.closed_loops.is_empty();
        if is_none_drawn && !is_any_read && self.interfaces.is_plain() {
            return Ok(self.flows.clone());
        }
        let mut flows = self.flows.to_vec();
        for arrivals in &self.arrivals {
            flows.extend(arrivals.draw(seed, next_id(&flows)?)?);
        }
        for pairs in &self.pairs {
            flows.extend(pairs.draw(seed, next_id(&flows)?)?);
        }
        for bursts in &self.bursts {
            flows.extend(bursts.draw(seed, next_id(&flows)?)?);
        }
        for closed_loop in &self.closed_loops {
            flows.extend(closed_loop.draw(seed, next_id(&flows)?)?);
        }
        next_id(&flows)?;
        for flow in flows.iter_mut().filter(|flow| self.reads[flow.algorithm as usize]) {
            (flow.src, flow.dst, flow.is_read) = (flow.dst, flow.src, true);
        }
        if !self.interfaces.is_plain() {
            flows.iter_mut().for_each(|flow| self.interfaces.connect(flow));
        }
        Ok(Arc::new(flows))
    }
}

/// Plans of a list of the description.
fn plans<S, P>(
    specs: &[S],
    mut plan: impl FnMut(usize, &S) -> Result<P, SpecError>,
) -> Result<Vec<P>, SpecError> {
    specs.iter().enumerate().map(|(i, spec)| plan(i, spec)).collect()
}

/// The id after the last, with room for as many flows as a network may have.
fn next_id(flows: &[FlowPlan]) -> Result<u32, SpecError> {
    let next = flows.last().map_or(1, |flow| u64::from(flow.id) + 1);
    if flows.len() > MAX_FLOWS {
        return refuse("flows", format!("{} flows", flows.len()), format!("use at most {MAX_FLOWS}"));
    }
    in_range("flows", next, 1, u64::from(u32::MAX) - MAX_FLOWS as u64)
        .map_err(|error| SpecError { cause: format!("flow id {} is too large", next - 1), ..error })?;
    Ok(next as u32)
}

/// Reads go with flows of plain packets that an application starts.
fn check_reads(spec: &NetworkSpec) -> Result<(), SpecError> {
    let reads = |name: &str| spec.rdma.get(name).is_some_and(|sender| sender.reads);
    if let Some(i) = spec.rounds.iter().position(|spec| reads(&spec.algorithm)) {
        let cause = "answers to requests are written, not read";
        return refuse(format!("rounds[{i}].algorithm"), cause, "name a sender without reads");
    }
    if let Some(i) = spec.collectives.iter().position(|spec| reads(&spec.algorithm)) {
        let cause = "pieces of a collective are written, not read";
        return refuse(format!("collectives[{i}].algorithm"), cause, "name a sender without reads");
    }
    if let Some(i) = spec.jobs.iter().position(|spec| reads(&spec.algorithm)) {
        let cause = "sends of a job are written, not read";
        return refuse(format!("jobs[{i}].algorithm"), cause, "name a sender without reads");
    }
    let name = spec.rdma.iter().find(|(_, sender)| sender.reads).map(|(name, _)| name);
    match name.filter(|_| spec.headers.is_some()) {
        Some(name) => {
            let cause = "hosts put headers of the program's into what they write, not into reads";
            refuse(format!("rdma.{name}.reads"), cause, "leave out headers or reads")
        }
        None => Ok(()),
    }
}

/// A flow has its port from the description, or its packets have theirs from the sender.
fn check_ports(spec: &NetworkSpec) -> Result<(), SpecError> {
    let chooses = |name: &str| spec.rdma.get(name).is_some_and(|sender| sender.entropy != Entropy::Flow);
    match spec.flows.iter().position(|flow| flow.src_port.is_some() && chooses(&flow.algorithm)) {
        Some(i) => {
            let cause = "its sender chooses the source port of each packet (entropy)";
            refuse(format!("flows[{i}].src_port"), cause, "leave out src_port, or entropy of the sender")
        }
        None => Ok(()),
    }
}

fn check_labels<'a>(list: &str, labels: impl Iterator<Item = &'a str>) -> Result<(), SpecError> {
    let mut seen = std::collections::BTreeSet::new();
    for (i, label) in labels.enumerate() {
        if !seen.insert(label) {
            let cause = format!("the name {label:?} is used twice");
            return refuse(format!("{list}[{i}].name"), cause, "give each its own name");
        }
    }
    Ok(())
}

fn names(spec: &NetworkSpec) -> Result<BTreeMap<&str, Node>, SpecError> {
    let (nodes, flows) = (spec.switches.len() + spec.hosts.len(), spec.flows.len());
    if nodes > MAX_NODES {
        return refuse("hosts", format!("{nodes} nodes"), format!("use at most {MAX_NODES}"));
    }
    if flows > MAX_FLOWS {
        return refuse("flows", format!("{flows} flows"), format!("use at most {MAX_FLOWS}"));
    }
    let switches = spec.switches.iter().enumerate().map(|(i, s)| (&s.name, Node::Switch(i), "switches", i));
    let hosts = spec.hosts.iter().enumerate().map(|(i, h)| (&h.name, Node::Host(i), "hosts", i));
    let mut names = BTreeMap::new();
    for (name, node, list, i) in switches.chain(hosts) {
        if names.insert(name.as_str(), node).is_some() {
            let cause = format!("the name {name:?} is used twice");
            return refuse(format!("{list}[{i}].name"), cause, "give every node its own name");
        }
    }
    Ok(names)
}

fn check_switch(spec: &NetworkSpec, name: &str, path: impl Fn() -> String) -> Result<(), SpecError> {
    if spec.switches.iter().any(|switch| switch.name == name) {
        return Ok(());
    }
    refuse(path(), format!("no switch is named {name:?}"), "name a switch of the network")
}

fn check_arrays(spec: &NetworkSpec, key: &str, arrays: &[ArraySpec]) -> Result<(), SpecError> {
    arrays.iter().enumerate().try_for_each(|(i, array)| {
        check_switch(spec, &array.switch, || format!("record.{key}.arrays[{i}].switch"))
    })
}

fn check_times(spec: &NetworkSpec) -> Result<(), SpecError> {
    in_range("stop_ns", spec.stop_ns, 1, MAX_TIME_NS)?;
    in_range("deadlock_after_ns", spec.deadlock_after_ns, 1, MAX_TIME_NS)?;
    in_range("stall_after_ns", spec.stall_after_ns, 1, MAX_TIME_NS)?;
    in_range("limits.max_events", spec.limits.max_events, 1, u64::MAX)?;
    for (key, interval) in [
        ("record.windows_interval_ns", spec.record.windows_interval_ns),
        ("record.queues_interval_ns", spec.record.queues_interval_ns),
        ("record.queue_histogram_interval_ns", spec.record.queue_histogram_interval_ns),
        ("record.drops.interval_ns", spec.record.drops.as_ref().map(|spec| spec.interval_ns)),
    ] {
        if let Some(interval) = interval {
            in_range(key, interval, 1, MAX_TIME_NS)?;
        }
    }
    in_range("record.state", spec.record.state.len() as u64, 0, MAX_STATE_NAMES)?;
    for (_, key, arrays) in spec.record.arrays() {
        if let Some(arrays) = arrays {
            in_range(&format!("record.{key}.interval_ns"), arrays.interval_ns, 1, MAX_TIME_NS)?;
            check_arrays(spec, key, &arrays.arrays)?;
        }
    }
    if let Some(digests) = &spec.record.digests {
        check_arrays(spec, "digests", &digests.arrays)?;
    }
    let drops = spec.record.drops.iter().map(|spec| ("drops", &spec.switches));
    for (key, switches) in drops.chain(spec.record.log_msg.iter().map(|spec| ("log_msg", &spec.switches))) {
        for (i, switch) in switches.iter().enumerate() {
            check_switch(spec, switch, || format!("record.{key}.switches[{i}]"))?;
        }
    }
    let checkpoints = &spec.record.checkpoints_ns;
    for (i, &at) in checkpoints.iter().enumerate() {
        let after = i.checked_sub(1).map_or(0, |before| checkpoints[before].saturating_add(1));
        in_range(&format!("record.checkpoints_ns[{i}]"), at, after, MAX_TIME_NS)?;
    }
    in_range("record.max_rows", spec.record.max_rows, 0, MAX_ROWS)
}

/// Headers of the user's program, and bounds of what is kept of them.
fn user_headers(spec: &NetworkSpec) -> Result<Option<UserHeaders>, SpecError> {
    if let Some(record) = &spec.record.headers {
        in_range("record.headers.every", record.every, 1, u64::MAX)?;
        in_range("record.headers.max_packets", record.max_packets, 1, 100_000_000)?;
        if spec.headers.is_none() {
            return refuse("record.headers", "packets carry no headers", "give headers");
        }
    }
    let headers = spec.headers.as_ref().map(UserHeaders::new).transpose();
    headers.map_err(|error| SpecError::new(format!("headers.{}", error.place), error.cause, error.remedy))
}

/// Hosts that keep what arrives and no flow takes.
fn recording(spec: &NetworkSpec, resolver: &Resolver<'_>) -> Result<Vec<u32>, SpecError> {
    let Some(record) = &spec.record.packets_received else { return Ok(Vec::new()) };
    let path = |key: &str| format!("record.packets_received.{key}");
    in_range(&path("snap_bytes"), record.snap_bytes.into(), 0, MAX_PACKET_BYTES.into())?;
    in_range(&path("max_packets"), record.max_packets, 1, MAX_RECEIVED_BYTES)?;
    let of_host = record.max_packets * (u64::from(record.snap_bytes) + RECEIVED_ROW_BYTES);
    let bytes = of_host.saturating_mul(record.hosts.len() as u64);
    in_range(&path("max_packets"), bytes, 0, MAX_RECEIVED_BYTES).map_err(|error| {
        let cause = format!("{} hosts may keep {bytes} bytes", record.hosts.len());
        let remedy = format!("keep fewer packets, bytes or hosts: at most {MAX_RECEIVED_BYTES} bytes");
        SpecError { cause, remedy, ..error }
    })?;
    let names = record.hosts.iter().enumerate();
    names.map(|(i, name)| resolver.host(&path(&format!("hosts[{i}]")), name)).collect()
}

fn check_link(index: usize, link: &LinkSpec) -> Result<(), SpecError> {
    let path = |key| format!("links[{index}].{key}");
    in_range(&path("rate_bps"), link.rate_bps, 1, 10_000_000_000_000)?;
    in_range(&path("delay_ns"), link.delay_ns, 0, MAX_TIME_NS)?;
    in_range(&path("framing_bytes"), u64::from(link.framing_bytes), 0, u64::from(MAX_FRAMING_BYTES))?;
    if !(0.0..=1.0).contains(&link.loss) {
        let cause = format!("{} is not a share of packets", link.loss);
        return refuse(path("loss"), cause, "give a number from 0 to 1");
    }
    Ok(())
}

fn check_device_ids(spec: &NetworkSpec) -> Result<(), SpecError> {
    let mut seen = BTreeMap::new();
    for (i, switch) in spec.switches.iter().enumerate() {
        let path = format!("switches[{i}].device_id");
        if switch.device_id == 0 {
            return refuse(path, "0 is not a P4Runtime device id", "give 1 or more");
        }
        if let Some(other) = seen.insert(switch.device_id, &switch.name) {
            let cause = format!("device id {} is that of {other:?} too", switch.device_id);
            return refuse(path, cause, "give every switch a unique id");
        }
    }
    Ok(())
}

fn check_addresses(spec: &NetworkSpec) -> Result<(), SpecError> {
    let mut seen = BTreeMap::new();
    for (i, host) in spec.hosts.iter().enumerate() {
        if let Some(other) = seen.insert(host.ipv4, &host.name) {
            let cause = format!("{} is the address of {other:?} too", host.ipv4);
            return refuse(format!("hosts[{i}].ipv4"), cause, "give every host its own address");
        }
    }
    Ok(())
}

/// The order and the rates of a port's queues.
fn scheduler_config(
    path: &str,
    spec: Option<&SchedulerSpec>,
) -> Result<(SchedulerConfig, [Option<ShaperConfig>; PRIORITIES]), SpecError> {
    let (mut scheduler, mut shapers) = (SchedulerConfig::default(), [None; PRIORITIES]);
    let Some(spec) = spec else { return Ok((scheduler, shapers)) };
    (scheduler.unit, scheduler.quantum_bytes) = (spec.unit, spec.quantum_bytes);
    let mut named = [false; PRIORITIES];
    for (i, queue) in spec.queues.iter().enumerate() {
        let path = format!("{path}.queues[{i}].queue");
        in_range(&path, queue.queue.into(), 0, PRIORITIES as u64 - 1)?;
        let at = usize::from(queue.queue);
        if std::mem::replace(&mut named[at], true) {
            return refuse(path, format!("queue {at} comes twice"), "name each queue once");
        }
        scheduler.levels[at] = queue.level.unwrap_or(queue.queue);
        scheduler.weights[at] = queue.weight;
        let shaper = |bps| ShaperConfig { rate: Rate::from_bps(bps), burst_bytes: queue.burst_bytes };
        shapers[at] = queue.rate_bps.map(shaper);
    }
    Ok((scheduler, shapers))
}

fn buffer_config(index: usize, buffer: &BufferSpec) -> Result<BufferConfig, SpecError> {
    let mut lossless = 0;
    for (i, &priority) in buffer.lossless_priorities.iter().enumerate() {
        let path = format!("switches[{index}].buffer.lossless_priorities[{i}]");
        in_range(&path, priority.into(), 0, 6)?;
        lossless |= 1 << priority;
    }
    Ok(BufferConfig {
        bytes: buffer.bytes,
        reserve_bytes: buffer.reserve_bytes,
        resume_offset_bytes: buffer.resume_offset_bytes,
        lossless,
    })
}

fn host_plan(
    (index, port): (u32, u32),
    spec: &NetworkSpec,
    uplink: Option<u32>,
    channels: &[ChannelPlan],
) -> Result<HostPlan, SpecError> {
    let host = &spec.hosts[index as usize];
    let further = (port as usize).checked_sub(1).map(|place| &host.interfaces[place]);
    let mac = |key: &str, text: &str| {
        parse_mac(text).ok_or_else(|| {
            let cause = format!("{text:?} is not a MAC address");
            SpecError::new(
                format!("hosts[{index}].{key}"),
                cause,
                "write six pairs of digits: 02:00:00:00:00:01",
            )
        })
    };
    let uplink = uplink.ok_or_else(|| {
        let at_port = if port == 0 { String::new() } else { format!(" at port {port}") };
        let cause = format!("host {:?} has no link{at_port}", host.name);
        SpecError::new(format!("hosts[{index}]"), cause, "add a link to a switch or another host")
    })?;
    in_range(&format!("hosts[{index}].prefix_len"), u64::from(host.prefix_len), 0, 32)?;
    Ok(HostPlan {
        mac: mac("mac", &host.mac)?,
        gateway_mac: mac("gateway_mac", further.map_or(&host.gateway_mac, |one| &one.gateway_mac))?,
        ipv4: host.ipv4,
        netmask: u32::MAX.checked_shl(32 - u32::from(host.prefix_len)).unwrap_or(0),
        uplink,
        framing_bytes: channels[uplink as usize].framing_bytes,
        rate: channels[uplink as usize].rate,
    })
}

fn flow_plan(index: usize, flow: &FlowSpec, resolver: &Resolver<'_>) -> Result<FlowPlan, SpecError> {
    let path = |key: &str| format!("flows[{index}].{key}");
    let src = resolver.host(&path("src"), &flow.src)?;
    let dst = resolver.host(&path("dst"), &flow.dst)?;
    if src == dst {
        return refuse(path("dst"), format!("{:?} would send to itself", flow.src), "name another host");
    }
    in_range(&path("start_ns"), flow.start_ns, 0, MAX_TIME_NS)?;
    in_range(&path("start_jitter_ns"), flow.start_jitter_ns, 0, MAX_TIME_NS)?;
    in_range(&path("size_bytes"), flow.size_bytes.unwrap_or(1), 1, MAX_FLOW_BYTES)?;
    if let Some(deadline) = &flow.deadline {
        deadline.check(&path("deadline"))?;
    }
    if let Some(close_ns) = flow.close_ns {
        in_range(&path("close_ns"), close_ns, flow.start_ns, MAX_TIME_NS)?;
        if flow.size_bytes.is_some() {
            let cause = "a flow with a size ends by itself";
            return refuse(path("close_ns"), cause, "leave out close_ns or size_bytes");
        }
    }
    Ok(FlowPlan {
        id: flow.id,
        src,
        dst,
        size_bytes: flow.size_bytes,
        start: Time::from_ns(flow.start_ns),
        start_jitter: Span::from_ns(flow.start_jitter_ns),
        close: flow.close_ns.map(Time::from_ns),
        algorithm: resolver.algorithm(&path("algorithm"), &flow.algorithm)?,
        priority: resolver.priority(&path("priority"), flow.priority)?,
        class: Arc::from(flow.class.as_str()),
        deadline: flow.deadline,
        src_port: flow.src_port,
        interface: flow.interface.map(|port| port as u8),
        ..FlowPlan::default()
    })
}
