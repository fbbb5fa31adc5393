//! What an agent is to do: hosts, algorithms and flows, in the terms of the simulator's description.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::sync::Arc;

use p4cc_cc::{ConfigError, OwnAlgorithm};
use p4cc_transport::rdma::{Entropy, RdmaConfig};
use p4cc_transport::wire::TrafficClass;
use p4cc_transport::{IpVersion, PacketFormat, SenderConfig};
use p4cc_units::{Rate, Span, Time};
use serde::Deserialize;

/// Most flows of a plan.
pub const MAX_FLOWS: usize = 4_096;
/// Most hosts of a plan.
pub const MAX_HOSTS: usize = 4_096;
/// Largest plan in bytes.
pub const MAX_PLAN_BYTES: u64 = 16 << 20;
/// Latest start and longest deadline: one day.
const MAX_TIME_NS: u64 = 86_400_000_000_000;
const MAX_RATE_BPS: u64 = 16_000_000_000_000;
/// Priorities on the wire.
const MAX_CLASS: u8 = 7;

/// What is wrong with a plan: where, and what to do.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{place}: {cause} ({remedy})")]
pub struct PlanError {
    /// Path in the plan.
    pub place: String,
    /// What is wrong.
    pub cause: String,
    /// What to do.
    pub remedy: String,
}

fn wrong(place: impl Into<String>, cause: impl Into<String>, remedy: impl Into<String>) -> PlanError {
    PlanError { place: place.into(), cause: cause.into(), remedy: remedy.into() }
}

/// A plan for all hosts of a network; each agent takes what is its host's.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Addresses by host name.
    pub hosts: BTreeMap<String, Ipv4Addr>,
    /// Window senders by name.
    #[serde(default)]
    pub algorithms: BTreeMap<String, SenderConfig>,
    /// Paced senders by name; no name stands in both maps.
    #[serde(default)]
    pub rdma: BTreeMap<String, RdmaConfig>,
    /// Flows, each with one sender and one receiver.
    pub flows: Vec<FlowEntry>,
    /// Seed of random streams of algorithms of the user's.
    #[serde(default)]
    pub seed: u64,
    /// Rate of every host's interface: packets leave no closer
    /// than it would send them. Absent: the kernel's pace.
    #[serde(default)]
    pub line_rate_bps: Option<u64>,
}

/// A flow, as the plan has it.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowEntry {
    /// Number on the wire, unique.
    pub id: u32,
    /// Name of the sending host.
    pub src: String,
    /// Name of the receiving host.
    pub dst: String,
    /// Payload bytes; absent or null for a flow without end.
    #[serde(default)]
    pub size_bytes: Option<u64>,
    /// Start, from the plan's own.
    #[serde(default)]
    pub start_ns: u64,
    /// Name in `algorithms` or `rdma`.
    pub algorithm: String,
    /// Traffic class on the wire, 0 (lowest) to 7.
    #[serde(default)]
    pub priority: u8,
    /// Time from its start by which it should be complete.
    #[serde(default)]
    pub deadline_ns: Option<u64>,
}

/// How a flow is sent and received.
#[derive(Clone, PartialEq, Debug)]
pub enum Transport {
    /// By a window.
    Window(Box<SenderConfig>),
    /// Paced at a rate.
    Rdma(Box<RdmaConfig>),
}

/// A checked flow.
#[derive(Clone, PartialEq, Debug)]
pub struct Flow {
    /// Number on the wire.
    pub id: u32,
    /// Address of the other end.
    pub peer: Ipv4Addr,
    /// Payload bytes; none for a flow without end.
    pub size_bytes: Option<u64>,
    /// Start.
    pub start: Time,
    /// Traffic class.
    pub class: TrafficClass,
    /// Time from its start by which it should be complete.
    pub deadline: Option<Span>,
    /// How.
    pub transport: Transport,
    /// Seed of random streams.
    pub seed: u64,
}

/// What one host does.
#[derive(Clone, PartialEq, Debug)]
pub struct HostPlan {
    /// Its address.
    pub address: Ipv4Addr,
    /// Rate of its interface.
    pub line_rate: Option<Rate>,
    /// Flows that start here.
    pub sends: Vec<Flow>,
    /// Flows that end here.
    pub receives: Vec<Flow>,
}

impl Plan {
    /// Reads a plan.
    ///
    /// # Errors
    /// The first place that is not as a plan is.
    pub fn read(text: &str) -> Result<Self, PlanError> {
        let mut reader = serde_json::Deserializer::from_str(text);
        let plan: Self = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
            wrong(error.path().to_string(), error.inner().to_string(), "correct the plan")
        })?;
        reader.end().map_err(|error| wrong("the end", error.to_string(), "give one JSON value"))?;
        Ok(plan)
    }

    /// Puts algorithms of the user's where senders name them by number.
    ///
    /// # Errors
    /// A number beyond the list, or an algorithm of another kind.
    pub fn bring(&mut self, own: &[Arc<dyn OwnAlgorithm>]) -> Result<(), PlanError> {
        let refused = |of: &str, name: &str, error: ConfigError| {
            wrong(format!("{of}.{name}.cc.{}", error.place), error.cause, error.remedy)
        };
        for (name, sender) in &mut self.algorithms {
            sender.cc.bring(own).map_err(|error| refused("algorithms", name, error))?;
        }
        for (name, sender) in &mut self.rdma {
            sender.cc.bring_rate(own).map_err(|error| refused("rdma", name, error))?;
        }
        Ok(())
    }

    /// What the host of this name does.
    ///
    /// # Errors
    /// An unknown name, a value out of range, or a configuration that its algorithm refuses.
    pub fn host(&self, name: &str) -> Result<HostPlan, PlanError> {
        self.check_counts()?;
        let address = self.address("--host", name)?;
        let line_rate = match self.line_rate_bps {
            Some(bps @ 1..=MAX_RATE_BPS) => Some(Rate::from_bps(bps)),
            Some(bps) => {
                let cause = format!("{bps} is not between 1 and {MAX_RATE_BPS}");
                return Err(wrong("line_rate_bps", cause, "give the rate of the link in bit/s"));
            }
            None => None,
        };
        let mut plan = HostPlan { address, line_rate, sends: Vec::new(), receives: Vec::new() };
        for (index, flow) in self.flows.iter().enumerate() {
            let place = format!("flows[{index}]");
            if flow.src == flow.dst {
                return Err(wrong(place, "sends to itself", "name two hosts"));
            }
            if flow.src == name {
                plan.sends.push(self.flow(
                    &place,
                    flow,
                    self.address(&format!("{place}.dst"), &flow.dst)?,
                )?);
            }
            if flow.dst == name {
                plan.receives.push(self.flow(
                    &place,
                    flow,
                    self.address(&format!("{place}.src"), &flow.src)?,
                )?);
            }
        }
        Ok(plan)
    }

    fn check_counts(&self) -> Result<(), PlanError> {
        for (place, count, most) in
            [("flows", self.flows.len(), MAX_FLOWS), ("hosts", self.hosts.len(), MAX_HOSTS)]
        {
            if count > most {
                return Err(wrong(place, format!("{count} are more than {most}"), "give fewer"));
            }
        }
        if let Some(both) = self.algorithms.keys().find(|name| self.rdma.contains_key(*name)) {
            return Err(wrong(format!("rdma.{both}"), "is also in algorithms", "rename one of the two"));
        }
        let mut ids = BTreeSet::new();
        match self.flows.iter().position(|flow| !ids.insert(flow.id)) {
            Some(at) => Err(wrong(format!("flows[{at}].id"), "another flow has it", "number flows apart")),
            None => Ok(()),
        }
    }

    fn address(&self, place: &str, name: &str) -> Result<Ipv4Addr, PlanError> {
        self.hosts
            .get(name)
            .copied()
            .ok_or_else(|| wrong(place, format!("no host is named {name:?}"), "name one of `hosts`"))
    }

    fn flow(&self, place: &str, spec: &FlowEntry, peer: Ipv4Addr) -> Result<Flow, PlanError> {
        let class = TrafficClass::new(spec.priority).ok_or_else(|| {
            let cause = format!("{} is not between 0 and {MAX_CLASS}", spec.priority);
            wrong(format!("{place}.priority"), cause, "give a traffic class")
        })?;
        for (key, time) in [("start_ns", spec.start_ns), ("deadline_ns", spec.deadline_ns.unwrap_or(0))] {
            if time > MAX_TIME_NS {
                return Err(wrong(
                    format!("{place}.{key}"),
                    format!("{time} is beyond a day"),
                    "give nanoseconds",
                ));
            }
        }
        let transport = match (self.algorithms.get(&spec.algorithm), self.rdma.get(&spec.algorithm)) {
            (Some(window), _) if window.ip != IpVersion::V4 => {
                let place = format!("algorithms.{}.ip", spec.algorithm);
                let cause = "agents send over IPv4";
                return Err(wrong(place, cause, "leave ip out, or run the scenario in virtual time"));
            }
            (Some(window), _) if window.packets != PacketFormat::Udp => {
                let place = format!("algorithms.{}.packets", spec.algorithm);
                let cause = "agents send p4cc's own packets over UDP";
                return Err(wrong(place, cause, "leave packets out, or run the scenario in virtual time"));
            }
            (Some(window), _) => Transport::Window(Box::new(window.clone())),
            (None, Some(rdma)) if rdma.receiver.is_some() => {
                let place = format!("rdma.{}.receiver", spec.algorithm);
                let cause = "agents have no receivers that let senders send";
                return Err(wrong(place, cause, "leave receiver out, or run the scenario in virtual time"));
            }
            (None, Some(rdma)) if rdma.entropy != Entropy::Flow => {
                let place = format!("rdma.{}.entropy", spec.algorithm);
                let cause = "the packets of an agent leave by one port";
                return Err(wrong(place, cause, "leave entropy out, or run the scenario in virtual time"));
            }
            (None, Some(rdma)) => Transport::Rdma(Box::new(rdma.clone())),
            (None, None) => {
                let cause = format!("no algorithm is named {:?}", spec.algorithm);
                return Err(wrong(format!("{place}.algorithm"), cause, "name one of `algorithms` or `rdma`"));
            }
        };
        Ok(Flow {
            id: spec.id,
            peer,
            size_bytes: spec.size_bytes,
            start: Time::from_ns(spec.start_ns),
            class,
            deadline: spec.deadline_ns.map(Span::from_ns),
            transport,
            seed: self.seed,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PLAN: &str = r#"{
        "hosts": {"h1": "10.0.0.1", "h2": "10.0.0.2", "h3": "10.0.0.3"},
        "algorithms": {"dctcp": {"cc": {"congestion_avoidance": {"name": "dctcp"}}}},
        "flows": [
            {"id": 1, "src": "h1", "dst": "h2", "algorithm": "dctcp", "size_bytes": 1000, "start_ns": 5},
            {"id": 2, "src": "h3", "dst": "h2", "algorithm": "dctcp"}
        ],
        "line_rate_bps": 50000000
    }"#;

    fn plan() -> Plan {
        Plan::read(PLAN).expect("a good plan")
    }

    #[test]
    fn a_host_takes_what_is_its_own() {
        let sender = plan().host("h1").expect("a host");
        assert_eq!((sender.sends.len(), sender.receives.len()), (1, 0));
        assert_eq!(sender.sends[0].peer, Ipv4Addr::new(10, 0, 0, 2));
        assert_eq!(sender.sends[0].start, Time::from_ns(5));
        let receiver = plan().host("h2").expect("a host");
        assert_eq!((receiver.sends.len(), receiver.receives.len()), (0, 2));
        assert_eq!(receiver.line_rate, Some(Rate::from_bps(50_000_000)));
    }

    #[test]
    fn what_is_wrong_is_named_by_its_place() {
        let places = [
            (
                r#""dst": "h2", "algorithm": "dctcp", "size"#,
                r#""dst": "h9", "algorithm": "dctcp", "size"#,
                "flows[0].dst",
            ),
            (r#""id": 2"#, r#""id": 1"#, "flows[1].id"),
            (r#""start_ns": 5"#, r#""start_ns": 86400000000001"#, "flows[0].start_ns"),
            (r#""start_ns": 5"#, r#""priority": 8"#, "flows[0].priority"),
            (r#"{"dctcp": {"#, r#"{"dctcp": {"packets": "tcp", "#, "algorithms.dctcp.packets"),
            (r#"{"dctcp": {"#, r#"{"dctcp": {"ip": 6, "#, "algorithms.dctcp.ip"),
            (
                r#""algorithms": {"dctcp": {"cc": {"congestion_avoidance": {"name": "dctcp"}}}}"#,
                r#""rdma": {"dctcp": {"base_rtt_ns": 9, "cc": {"name": "fixed"}, "receiver": {"name": "ndp"}}}"#,
                "rdma.dctcp.receiver",
            ),
            (r#""line_rate_bps": 50000000"#, r#""line_rate_bps": 0"#, "line_rate_bps"),
            (r#"{"id": 1, "src": "h1", "dst": "h2""#, r#"{"id": 1, "src": "h1", "dst": "h1""#, "flows[0]"),
        ];
        for (from, to, place) in places {
            assert!(PLAN.contains(from), "{from}");
            let error = Plan::read(&PLAN.replace(from, to)).and_then(|plan| plan.host("h1"));
            assert_eq!(error.expect_err(to).place, place, "{to}");
        }
        assert_eq!(plan().host("h4").expect_err("there is none").place, "--host");
        let unknown = PLAN.replace(r#""line_rate_bps""#, r#""line_rate""#);
        assert!(Plan::read(&unknown).is_err());
        assert!(Plan::read(&format!("{PLAN} 1")).is_err());
    }

    proptest! {
        #[test]
        fn any_text_is_a_plan_or_an_error(text in ".{0,200}") {
            let _ = Plan::read(&text);
        }
    }
}
