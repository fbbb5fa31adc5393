//! Incasts at random times: a few hosts, drawn anew each time, each send one unit to another host
//! (docs/algorithms/traffic.md#workloads, HPCC's class).
//!
//! Times come from one stream and hosts from another, so the number of senders does not change the times.

use p4cc_switch::Stream;
use p4cc_units::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::DeadlineSpec;
use super::model::{Model, check_within, model_spec};
use crate::describe::{FlowPlan, MAX_FLOW_BYTES, MAX_FLOWS, MAX_TIME_NS, Resolver, in_range};
use crate::error::{SpecError, refuse};
use crate::random::exponential;

/// A Poisson process of incasts.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BurstsSpec {
    /// Label for results and name of the random streams, unique among bursts.
    pub name: String,
    /// Hosts that senders and receivers are drawn from.
    pub hosts: Vec<String>,
    /// Senders of each burst, all different.
    pub senders: u32,
    /// What each of them sends.
    pub size_bytes: u64,
    /// Mean time between two bursts.
    pub mean_gap_ns: f64,
    /// When the process begins.
    #[serde(default)]
    pub start_ns: u64,
    /// No burst starts at this time or later.
    pub end_ns: u64,
    /// Name in `algorithms`.
    pub algorithm: String,
    /// Traffic class on the wire, 0 (lowest) to 7.
    #[serde(default)]
    pub priority: u8,
    /// Deadlines.
    #[serde(default)]
    pub deadline: Option<DeadlineSpec>,
}

/// The description of one process, resolved.
#[derive(Clone, Debug)]
pub(crate) struct BurstsPlan {
    model: Model,
    hosts: Vec<u32>,
    senders: usize,
    mean_gap: Span,
}

impl BurstsPlan {
    pub fn new(index: usize, spec: &BurstsSpec, resolver: &Resolver<'_>) -> Result<Self, SpecError> {
        let path = format!("bursts[{index}]");
        let at = |key: &str| format!("{path}.{key}");
        let names = spec.hosts.iter().enumerate();
        let hosts: Result<Vec<u32>, _> =
            names.map(|(i, name)| resolver.host(&at(&format!("hosts[{i}]")), name)).collect();
        let hosts = hosts?;
        let mut distinct = hosts.clone();
        distinct.sort_unstable();
        distinct.dedup();
        if distinct.len() < 2 || distinct.len() != hosts.len() {
            let cause = format!("{} hosts, or one twice", hosts.len());
            return refuse(at("hosts"), cause, "name at least two hosts, each once");
        }
        in_range(&at("senders"), spec.senders.into(), 1, hosts.len() as u64 - 1)?;
        in_range(&at("size_bytes"), spec.size_bytes, 1, MAX_FLOW_BYTES)?;
        check_within(&at("mean_gap_ns"), spec.mean_gap_ns, 0.001, MAX_TIME_NS as f64)?;
        let mut model = Model::new(&path, &model_spec!(spec), 0, resolver)?;
        model.template.size_bytes = Some(spec.size_bytes);
        Ok(Self {
            hosts,
            senders: spec.senders as usize,
            mean_gap: Span::from_ps((spec.mean_gap_ns * 1e3) as u64),
            model,
        })
    }

    /// This run's flows in order of their start, numbered from `first_id`.
    pub fn draw(&self, seed: u64, first_id: u32) -> Result<Vec<FlowPlan>, SpecError> {
        let stream = |what: &str| Stream::named(seed, &format!("bursts.{}.{what}", self.model.name));
        let (mut gaps, mut choices) = (stream("gaps"), stream("hosts"));
        let mut hosts = self.hosts.clone();
        let mut flows = Vec::new();
        let mut now = self.model.start;
        loop {
            now += exponential(&mut gaps, self.mean_gap);
            if now >= self.model.end {
                return Ok(flows);
            }
            if flows.len() + self.senders > MAX_FLOWS {
                let cause = format!("more than {MAX_FLOWS} flows arrive until {} ns", self.model.end.as_ns());
                return refuse(&self.model.path, cause, "end earlier, or let fewer bursts come");
            }
            // The first places of a shuffle are a draw without replacement: the receiver, then the senders.
            for place in 0..=self.senders {
                let other = place + choices.below((hosts.len() - place) as u64) as usize;
                hosts.swap(place, other);
            }
            for &src in &hosts[1..=self.senders] {
                let id = first_id + flows.len() as u32;
                flows.push(FlowPlan { id, src, dst: hosts[0], start: now, ..self.model.template.clone() });
            }
        }
    }
}
