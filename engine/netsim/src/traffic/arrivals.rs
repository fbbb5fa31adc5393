//! Poisson arrivals: each source starts flows after exponential gaps, to destinations drawn uniformly
//! (docs/algorithms/traffic.md#uniform).
//!
//! All flows of a run are drawn before it begins. Each source has three streams: gaps, sizes, destinations.
//! So neither another size distribution nor another set of hosts changes when a source starts its flows.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use p4cc_switch::Stream;
use p4cc_units::{Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::model::{Ends, Model, check_within, model_spec};
use super::{DeadlineSpec, QuantitySpec, SizeSpec};
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
    /// No flow starts once all sources together have offered this, either.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantity: Option<QuantitySpec>,
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
    ends: Ends,
    mean_gap: Span,
    size: SizeSpec,
    quantity: Option<QuantitySpec>,
}

/// A source while its flows are drawn.
struct Source {
    host: u32,
    others: Vec<u32>,
    gaps: Stream,
    sizes: Stream,
    choices: Stream,
}

impl ArrivalsPlan {
    pub fn new(index: usize, spec: &ArrivalsSpec, resolver: &Resolver<'_>) -> Result<Self, SpecError> {
        let path = format!("arrivals[{index}]");
        let at = |key: &str| format!("{path}.{key}");
        let ends = Ends::new(&path, &spec.sources, &spec.destinations, resolver)?;
        check_within(&at("mean_gap_ns"), spec.mean_gap_ns, 0.001, MAX_TIME_NS as f64)?;
        spec.size.check(&at("size"))?;
        if let Some(quantity) = &spec.quantity {
            quantity.check(&at("quantity"))?;
        }
        Ok(Self {
            ends,
            mean_gap: Span::from_ps((spec.mean_gap_ns * 1e3) as u64),
            size: spec.size.clone(),
            quantity: spec.quantity,
            model: Model::new(&path, &model_spec!(spec), 0, resolver)?,
        })
    }

    fn source(&self, seed: u64, host: u32, name: &str) -> Source {
        let stream = |what: &str| Stream::named(seed, &format!("arrivals.{}.{name}.{what}", self.model.name));
        Source {
            host,
            others: self.ends.others(host),
            gaps: stream("gaps"),
            sizes: stream("sizes"),
            choices: stream("destinations"),
        }
    }

    /// This run's flows in order of their start, numbered from `first_id`: those of one instant in the order
    /// of their sources.
    pub fn draw(&self, seed: u64, first_id: u32) -> Result<Vec<FlowPlan>, SpecError> {
        let mut sources: Vec<Source> =
            self.ends.sources.iter().map(|(host, name)| self.source(seed, *host, name)).collect();
        let mut due = BinaryHeap::with_capacity(sources.len());
        let wait = |due: &mut BinaryHeap<_>, source: &mut Source, place: usize, now: Time| {
            let next = now + exponential(&mut source.gaps, self.mean_gap);
            if next < self.model.end {
                due.push(Reverse((next, place)));
            }
        };
        for (place, source) in sources.iter_mut().enumerate() {
            wait(&mut due, source, place, self.model.start);
        }
        let (mut flows, mut left) = (Vec::new(), self.quantity);
        while let Some(Reverse((now, place))) = due.pop() {
            if left.is_some_and(QuantitySpec::is_used_up) {
                break;
            }
            if flows.len() >= MAX_FLOWS {
                let cause = format!("more than {MAX_FLOWS} flows arrive until {} ns", self.model.end.as_ns());
                return refuse(&self.model.path, cause, "end earlier, or let fewer flows arrive");
            }
            let source = &mut sources[place];
            let size = self.size.draw(&mut source.sizes);
            flows.push(FlowPlan {
                id: first_id + flows.len() as u32,
                src: source.host,
                dst: source.others[source.choices.below(source.others.len() as u64) as usize],
                size_bytes: Some(left.as_mut().map_or(size, |left| left.take(size))),
                start: now,
                ..self.model.template.clone()
            });
            wait(&mut due, source, place, now);
        }
        Ok(flows)
    }
}
