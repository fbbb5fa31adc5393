//! Interfaces of hosts, and which of them leads to which host.
//!
//! Interfaces are numbered as hosts are: number `i` is port 0 of host `i`, and the further ports of all hosts
//! follow. The number of a host is that of its port 0, so one number says both where each host has one link.
//!
//! A flow's data leaves by one interface of its sender, and what its receiver sends by one of the receiver's:
//! each is chosen by a hash of the flow's id among the interfaces that lead to the other host.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use p4cc_units::Span;

use crate::describe::flow_plan::FlowPlan;
use crate::describe::limits::{MAX_TIME_NS, in_range};
use crate::describe::names::{Node, node};
use crate::describe::spec::{FlowSpec, HostSpec, NetworkSpec, PairRttsSpec};
use crate::error::{SpecError, refuse};

/// Most interfaces of a host.
const MAX_INTERFACES: usize = 64;

/// The interfaces that lead to a host: groups, of which the first with a link that is up is used.
type Groups = Vec<Vec<u32>>;

/// A host with several interfaces.
#[derive(Clone, Debug)]
struct Several {
    /// Its interfaces by port.
    all: Vec<u32>,
    /// Those that lead to hosts that are not in `to`.
    usual: Arc<Groups>,
    /// The hosts of one way share its groups.
    to: BTreeMap<u32, Arc<Groups>>,
}

/// The interfaces of all hosts.
#[derive(Clone, Default, Debug)]
pub(crate) struct Interfaces {
    hosts: u32,
    /// Of the interfaces from number `hosts` on: the host and the port.
    further: Vec<(u32, u32)>,
    several: BTreeMap<u32, Several>,
    seed: u64,
}

impl Interfaces {
    /// The interfaces of a description.
    ///
    /// # Errors
    /// A way to an interface or host that is not there.
    pub fn new(spec: &NetworkSpec, names: &BTreeMap<&str, Node>) -> Result<Self, SpecError> {
        let hosts = spec.hosts.len() as u32;
        let mut made = Self { hosts, seed: spec.interface_seed, ..Self::default() };
        for (index, host) in spec.hosts.iter().enumerate() {
            in_range(
                &format!("hosts[{index}].interfaces"),
                host.interfaces.len() as u64,
                0,
                MAX_INTERFACES as u64 - 1,
            )?;
            if host.interfaces.is_empty() && host.ways.is_empty() {
                continue;
            }
            let first = hosts + made.further.len() as u32;
            let ports = host.interfaces.len() as u32;
            made.further.extend((1..=ports).map(|port| (index as u32, port)));
            let all: Vec<u32> = [index as u32].into_iter().chain(first..first + ports).collect();
            let several = several(index, host, all, names)?;
            made.several.insert(index as u32, several);
        }
        Ok(made)
    }

    /// Whether every host has one interface.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.several.is_empty()
    }

    /// Number of interfaces.
    pub fn count(&self) -> usize {
        self.hosts as usize + self.further.len()
    }

    /// The host of an interface.
    #[inline]
    pub fn host(&self, interface: u32) -> u32 {
        self.place(interface).0
    }

    /// The port of an interface at its host.
    pub fn port(&self, interface: u32) -> u32 {
        self.place(interface).1
    }

    #[inline]
    fn place(&self, interface: u32) -> (u32, u32) {
        let further = interface.checked_sub(self.hosts);
        further.map_or((interface, 0), |further| self.further[further as usize])
    }

    /// Whether two interfaces are of one host.
    #[inline]
    pub fn share_host(&self, one: u32, other: u32) -> bool {
        self.host(one) == self.host(other)
    }

    /// The interface at a port of a host, if it has one.
    pub fn at_port(&self, host: u32, port: u32) -> Option<u32> {
        match self.several.get(&host) {
            Some(several) => several.all.get(port as usize).copied(),
            None => (port == 0).then_some(host),
        }
    }

    /// All interfaces of a host by port.
    pub fn of(&self, host: u32) -> Vec<u32> {
        self.several.get(&host).map_or_else(|| vec![host], |several| several.all.clone())
    }

    /// The interfaces that lead from a host to most others.
    pub fn usual(&self, host: u32) -> Vec<u32> {
        let usual = self.several.get(&host).and_then(|several| several.usual.first());
        usual.cloned().unwrap_or_else(|| vec![host])
    }

    /// Refuses flows of a description whose interface their sender does not have.
    pub fn check_flows(&self, flows: &[FlowSpec], names: &BTreeMap<&str, Node>) -> Result<(), SpecError> {
        for (index, flow) in flows.iter().enumerate() {
            let Some(port) = flow.interface else { continue };
            // A name that is none is refused with the flow.
            if let Some(Node::Host(host)) = names.get(flow.src.as_str())
                && self.at_port(*host as u32, port).is_none()
            {
                let cause = format!("host {:?} has no port {port}", flow.src);
                let remedy = "name a port of the sending host, from 0";
                return refuse(format!("flows[{index}].interface"), cause, remedy);
            }
        }
        Ok(())
    }

    /// Gives a flow, whose ends are hosts, the interfaces of both ends.
    pub fn connect(&self, flow: &mut FlowPlan) {
        (flow.src, flow.dst) = self.ends(flow, |_| true);
    }

    /// The interfaces of both ends of a flow while only some are up.
    pub fn ends(&self, flow: &FlowPlan, is_up: impl Fn(u32) -> bool) -> (u32, u32) {
        let (src, dst) = (self.host(flow.src), self.host(flow.dst));
        let (of_src, of_dst) = if flow.is_read { (None, flow.interface) } else { (flow.interface, None) };
        (self.choose(flow.id, (src, dst), of_src, &is_up), self.choose(flow.id, (dst, src), of_dst, &is_up))
    }

    fn choose(
        &self,
        flow: u32,
        (from, to): (u32, u32),
        named: Option<u8>,
        is_up: &impl Fn(u32) -> bool,
    ) -> u32 {
        let Some(several) = self.several.get(&from) else { return from };
        if let Some(&named) = named.and_then(|port| several.all.get(usize::from(port)))
            && is_up(named)
        {
            return named;
        }
        let groups = several.to.get(&to).unwrap_or(&several.usual);
        let up = groups.iter().map(|group| group.iter().copied().filter(|&one| is_up(one)).collect());
        let first = up.into_iter().find(|group: &Vec<u32>| !group.is_empty());
        // With all links down it stays where it would be with all of them up.
        let group = first.unwrap_or_else(|| groups.first().cloned().unwrap_or_default());
        let hash = mixed(self.seed ^ u64::from(from) << 32 ^ u64::from(flow));
        let place = (hash % group.len().max(1) as u64) as usize;
        group.get(place).copied().unwrap_or(from)
    }
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood 2014): each bit of the result depends on all bits.
const fn mixed(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

fn several(
    index: usize,
    host: &HostSpec,
    all: Vec<u32>,
    names: &BTreeMap<&str, Node>,
) -> Result<Several, SpecError> {
    let mut made = Several { usual: Arc::new(vec![all.clone()]), to: BTreeMap::new(), all };
    let mut has_usual = false;
    for (place, way) in host.ways.iter().enumerate() {
        let path = |key: &str| format!("hosts[{index}].ways[{place}].{key}");
        let groups = Arc::new(groups(&path("interfaces"), &host.name, &way.interfaces, &made.all)?);
        if way.to.is_empty() {
            if core::mem::replace(&mut has_usual, true) {
                return refuse(
                    path("to"),
                    "an earlier way is without it too",
                    "name the hosts of one of them",
                );
            }
            made.usual = groups;
            continue;
        }
        for name in &way.to {
            let Node::Host(to) = node(names, &path("to"), name)? else {
                return refuse(path("to"), format!("{name:?} is a switch"), "name hosts");
            };
            if made.to.insert(to as u32, Arc::clone(&groups)).is_some() {
                return refuse(path("to"), format!("{name:?} comes twice"), "name each host once");
            }
        }
    }
    Ok(made)
}

/// The interfaces of a way, each at one place: so there are no more than the host has.
fn groups(path: &str, host: &str, ports: &[Vec<u32>], all: &[u32]) -> Result<Groups, SpecError> {
    if ports.is_empty() || ports.iter().any(Vec::is_empty) {
        let cause = if ports.is_empty() { "the list is empty" } else { "a group is empty" };
        return refuse(path, cause, "name at least one port in each group");
    }
    let mut seen = BTreeSet::new();
    for &port in ports.iter().flatten() {
        if port as usize >= all.len() {
            let cause = format!("host {host:?} has the ports 0 to {}", all.len() - 1);
            return refuse(path, cause, "name ports of this host in each group");
        }
        if !seen.insert(port) {
            return refuse(path, format!("port {port} comes twice"), "name each port once");
        }
    }
    let group = |group: &Vec<u32>| group.iter().map(|&port| all[port as usize]).collect();
    Ok(ports.iter().map(group).collect())
}

/// Base round-trip times of pairs of hosts.
#[derive(Clone, Debug)]
pub(crate) struct PairRtts {
    group_of: Vec<usize>,
    rtts: Vec<Vec<Span>>,
}

impl PairRtts {
    /// Those of a description.
    ///
    /// # Errors
    /// A host that is in no group or in two, or a time that is missing or out of range.
    pub fn new(spec: &PairRttsSpec, names: &BTreeMap<&str, Node>, hosts: usize) -> Result<Self, SpecError> {
        let mut group_of = vec![None; hosts];
        for (number, group) in spec.groups.iter().enumerate() {
            for name in group {
                let path = format!("pair_rtts.groups[{number}]");
                let Node::Host(host) = node(names, &path, name)? else {
                    return refuse(path, format!("{name:?} is a switch"), "name hosts");
                };
                if group_of[host].replace(number).is_some() {
                    return refuse(path, format!("{name:?} comes twice"), "name each host once");
                }
            }
        }
        let group_of: Option<Vec<usize>> = group_of.into_iter().collect();
        let Some(group_of) = group_of else {
            return refuse("pair_rtts.groups", "a host is in no group", "name each host once");
        };
        let groups = spec.groups.len();
        if spec.rtt_ns.len() != groups || spec.rtt_ns.iter().any(|row| row.len() != groups) {
            let cause = format!("there are {groups} groups, and not as many rows and columns");
            return refuse("pair_rtts.rtt_ns", cause, "give a time for each pair of groups");
        }
        for &rtt_ns in spec.rtt_ns.iter().flatten() {
            in_range("pair_rtts.rtt_ns", rtt_ns, 1, MAX_TIME_NS)?;
        }
        let row = |row: &Vec<u64>| row.iter().copied().map(Span::from_ns).collect();
        Ok(Self { group_of, rtts: spec.rtt_ns.iter().map(row).collect() })
    }

    /// That of a sender's and a receiver's host.
    pub fn between(&self, src: u32, dst: u32) -> Span {
        self.rtts[self.group_of[src as usize]][self.group_of[dst as usize]]
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::describe::Topology;

    /// Host `h0` at both of two switches, `h1` at the second alone, with changes to `h0`.
    fn topology(more: &Value) -> Result<Topology, SpecError> {
        let host = |number: u32| json!({"name": format!("h{number}"), "mac": format!("02:00:00:00:00:{number:02x}"), "ipv4": format!("10.0.0.{}", number + 1)});
        let mut first = host(0);
        first.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        let link = |a: Value, b: Value| json!({"a": a, "b": b, "rate_bps": 1_000_000_000, "delay_ns": 1_000});
        let at = |node: &str, port: u32| json!({"node": node, "port": port});
        let port = |port: u32| json!({"port": port, "queue_capacity_pkts": 10});
        let spec = json!({
            "switches": [
                {"name": "s0", "device_id": 1, "ports": [port(1)]},
                {"name": "s1", "device_id": 2, "ports": [port(1), port(2)]},
            ],
            "hosts": [first, host(1)],
            "links": [link(at("h0", 0), at("s0", 1)), link(at("h0", 1), at("s1", 1)), link(at("h1", 0), at("s1", 2))],
            "stop_ns": 1, "limits": {"max_events": 1},
        });
        Topology::new(&NetworkSpec::from_json(&spec.to_string()).expect("it has all fields"))
    }

    fn flow(id: u32) -> FlowPlan {
        FlowPlan { id, src: 0, dst: 1, ..FlowPlan::default() }
    }

    #[test]
    fn further_interfaces_follow_the_hosts() {
        let topology = topology(&json!({"interfaces": [{}]})).expect("it is right");
        let interfaces = &topology.interfaces;
        assert_eq!((interfaces.count(), interfaces.of(0), interfaces.of(1)), (3, vec![0, 2], vec![1]));
        assert_eq!((interfaces.host(2), interfaces.port(2)), (0, 1));
        assert_eq!(topology.channels[topology.hosts[2].uplink as usize].name, "h0:1->s1:1");
        // The host goes with the switch of its first link, wherever the others lead.
        assert_eq!((topology.home(0), topology.home(2)), (0, 0));
    }

    #[test]
    fn flows_are_spread_over_the_first_group_with_a_link_that_is_up() {
        let ways = json!({"interfaces": [{}], "ways": [{"interfaces": [[0, 1]]}]});
        let interfaces = topology(&ways).expect("it is right").interfaces;
        let at_second = (0..1_000).filter(|&id| interfaces.ends(&flow(id), |_| true) == (2, 1)).count();
        assert!((450..550).contains(&at_second), "{at_second}");
        assert!((0..99).all(|id| interfaces.ends(&flow(id), |one| one != 2) == (0, 1)));
        let ways = json!({"interfaces": [{}], "ways": [{"to": ["h1"], "interfaces": [[1], [0]]}]});
        let interfaces = topology(&ways).expect("it is right").interfaces;
        assert!((0..99).all(|id| interfaces.ends(&flow(id), |_| true) == (2, 1)));
        assert!((0..99).all(|id| interfaces.ends(&flow(id), |one| one != 2) == (0, 1)));
        // With no link up a flow stays.
        assert!((0..99).all(|id| interfaces.ends(&flow(id), |_| false) == (2, 1)));
    }

    #[test]
    fn a_named_interface_is_taken_while_it_is_up() {
        let interfaces = topology(&json!({"interfaces": [{}]})).expect("it is right").interfaces;
        let named = FlowPlan { interface: Some(1), ..flow(1) };
        assert!((0..99).all(|id| interfaces.ends(&FlowPlan { id, ..named.clone() }, |_| true).0 == 2));
        assert_eq!(interfaces.ends(&named, |one| one != 2).0, 0);
    }

    #[test]
    fn what_a_host_does_not_have_is_refused() {
        for (more, path) in [
            (json!({}), "links[1].a.port"),
            (json!({"interfaces": [{}, {}]}), "hosts[0]"),
            (json!({"interfaces": [{}], "ways": [{"interfaces": [[2]]}]}), "hosts[0].ways[0].interfaces"),
            (json!({"interfaces": [{}], "ways": [{"interfaces": [[]]}]}), "hosts[0].ways[0].interfaces"),
            (json!({"interfaces": [{}], "ways": [{"interfaces": []}]}), "hosts[0].ways[0].interfaces"),
            (json!({"interfaces": [{}], "ways": [{"interfaces": [[0, 0]]}]}), "hosts[0].ways[0].interfaces"),
            (
                json!({"interfaces": [{}], "ways": [{"interfaces": [[1], [0, 1]]}]}),
                "hosts[0].ways[0].interfaces",
            ),
            (
                json!({"interfaces": [{}], "ways": [{"interfaces": [[0]]}, {"interfaces": [[1]]}]}),
                "hosts[0].ways[1].to",
            ),
            (
                json!({"interfaces": [{}], "ways": [
                    {"to": ["h1"], "interfaces": [[0]]}, {"to": ["h1"], "interfaces": [[1]]},
                ]}),
                "hosts[0].ways[1].to",
            ),
            (
                json!({"interfaces": [{}], "ways": [{"to": ["s1"], "interfaces": [[1]]}]}),
                "hosts[0].ways[0].to",
            ),
        ] {
            assert_eq!(topology(&more).expect_err("it is wrong").path, path, "{more}");
        }
    }

    #[test]
    fn base_round_trips_are_by_groups() {
        let names = BTreeMap::from([("a", Node::Host(0)), ("b", Node::Host(1)), ("s", Node::Switch(0))]);
        let pairs = |groups: Value, rtt_ns: Value| {
            let spec = json!({"groups": groups, "rtt_ns": rtt_ns});
            PairRtts::new(&serde_json::from_value(spec).expect("it has all fields"), &names, 2)
        };
        let two = pairs(json!([["b"], ["a"]]), json!([[1, 2], [3, 4]])).expect("it is right");
        assert_eq!((two.between(0, 1), two.between(1, 0)), (Span::from_ns(3), Span::from_ns(2)));
        for (groups, rtt_ns) in [
            (json!([["a"]]), json!([[1]])),
            (json!([["a", "b", "a"]]), json!([[1]])),
            (json!([["a", "b", "s"]]), json!([[1]])),
            (json!([["a"], ["b"]]), json!([[1, 2]])),
            (json!([["a", "b"]]), json!([[0]])),
        ] {
            assert!(pairs(groups.clone(), rtt_ns).is_err(), "{groups}");
        }
    }
}
