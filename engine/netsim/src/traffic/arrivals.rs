//! Poisson arrivals: each source starts flows after exponential gaps, to destinations drawn uniformly
//! (docs/algorithms/traffic.md#uniform).
//!
//! All flows of a run are drawn before it begins. Each source has three streams: gaps, sizes, destinations.
//! So neither another size distribution nor another set of hosts changes when a source starts its flows.

use p4cc_switch::Stream;
use p4cc_units::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::model::{Model, check_within, model_spec};
use super::{DeadlineSpec, SizeSpec};
use crate::describe::{FlowPlan, MAX_FLOWS, MAX_TIME_NS, Resolver};
use crate::error::{SpecError, refuse};
use crate::random::exponential;

/// A Poisson process at each source.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArrivalsSpec {
    /// Label for results and name of the random streams, unique among arrivals.
    pub name: String,
    /// Hosts that send.
    pub sources: Vec<String>,
    /// Hosts that each flow's destination is drawn from, evenly; a source never sends to itself.
    pub destinations: Vec<String>,
    /// Mean time between two flows of one source.
    pub mean_gap_ns: f64,
    /// Flow sizes.
    pub size: SizeSpec,
    /// When the processes begin.
    #[serde(default)]
    pub start_ns: u64,
    /// No flow starts at this time or later.
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
pub(crate) struct ArrivalsPlan {
    model: Model,
    /// Host indices, with names for the streams.
    sources: Vec<(u32, String)>,
    destinations: Vec<u32>,
    mean_gap: Span,
    size: SizeSpec,
}

impl ArrivalsPlan {
    pub fn new(index: usize, spec: &ArrivalsSpec, resolver: &Resolver<'_>) -> Result<Self, SpecError> {
        let path = format!("arrivals[{index}]");
        let at = |key: &str| format!("{path}.{key}");
        let hosts = |key: &str, names: &[String]| {
            let found =
                names.iter().enumerate().map(|(i, name)| resolver.host(&format!("{}[{i}]", at(key)), name));
            found.collect::<Result<Vec<u32>, _>>()
        };
        let (sources, destinations) =
            (hosts("sources", &spec.sources)?, hosts("destinations", &spec.destinations)?);
        if sources.is_empty() {
            return refuse(at("sources"), "there is none", "name at least one host");
        }
        for (i, &source) in sources.iter().enumerate() {
            if destinations.iter().all(|&destination| destination == source) {
                let cause = format!("{:?} has no other host to send to", spec.sources[i]);
                return refuse(at("destinations"), cause, "name another host");
            }
        }
        check_within(&at("mean_gap_ns"), spec.mean_gap_ns, 0.001, MAX_TIME_NS as f64)?;
        spec.size.check(&at("size"))?;
        Ok(Self {
            sources: sources.into_iter().zip(spec.sources.iter().cloned()).collect(),
            destinations,
            mean_gap: Span::from_ps((spec.mean_gap_ns * 1e3) as u64),
            size: spec.size.clone(),
            model: Model::new(&path, &model_spec!(spec), 0, resolver)?,
        })
    }

    /// This run's flows in order of their start, numbered from `first_id`.
    pub fn draw(&self, seed: u64, first_id: u32) -> Result<Vec<FlowPlan>, SpecError> {
        let mut flows = Vec::new();
        for (source, name) in &self.sources {
            self.draw_source(seed, *source, name, &mut flows)?;
        }
        // Sources stand in the order of the description, so flows of one instant keep it.
        flows.sort_by_key(|flow| flow.start);
        for (flow, id) in flows.iter_mut().zip(first_id..) {
            flow.id = id;
        }
        Ok(flows)
    }

    fn draw_source(
        &self,
        seed: u64,
        source: u32,
        name: &str,
        flows: &mut Vec<FlowPlan>,
    ) -> Result<(), SpecError> {
        let stream = |what: &str| Stream::named(seed, &format!("arrivals.{}.{name}.{what}", self.model.name));
        let (mut gaps, mut sizes, mut choices) = (stream("gaps"), stream("sizes"), stream("destinations"));
        let others: Vec<u32> =
            self.destinations.iter().copied().filter(|&destination| destination != source).collect();
        let mut now = self.model.start;
        loop {
            now += exponential(&mut gaps, self.mean_gap);
            if now >= self.model.end {
                return Ok(());
            }
            if flows.len() >= MAX_FLOWS {
                let cause = format!("more than {MAX_FLOWS} flows arrive until {} ns", self.model.end.as_ns());
                return refuse(&self.model.path, cause, "end earlier, or let fewer flows arrive");
            }
            flows.push(FlowPlan {
                src: source,
                dst: others[choices.below(others.len() as u64) as usize],
                size_bytes: Some(self.size.draw(&mut sizes)),
                start: now,
                ..self.model.template.clone()
            });
        }
    }
}
