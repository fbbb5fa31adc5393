//! Closed loops: each source keeps a number of flows outstanding, and one that ends lets the next one begin
//! after a think time (docs/algorithms/traffic.md#closed-loop).
//!
//! Sizes and destinations of all flows are drawn before the run, from two streams of each source; think times
//! come from a third one in the run.

use p4cc_switch::Stream;
use p4cc_units::{Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::model::{Ends, Model, ModelSpec};
use super::{DeadlineSpec, QuantitySpec, SizeSpec};
use crate::describe::{FlowPlan, MAX_FLOWS, MAX_TIME_NS, Resolver, in_range};
use crate::error::{SpecError, refuse};
use crate::random::{exponential, uniform};

/// Sources that keep flows outstanding.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClosedLoopSpec {
    /// Label for results and name of the random streams, unique among closed loops.
    pub name: String,
    /// Hosts that send.
    pub sources: Vec<String>,
    /// Hosts that each flow's destination is drawn from, evenly; a source never sends to itself.
    pub destinations: Vec<String>,
    /// Flows that each source has under way or thinks about.
    pub outstanding: u32,
    /// Flow sizes.
    pub size: SizeSpec,
    /// What all sources offer, in even shares.
    pub quantity: QuantitySpec,
    /// Mean time between the end of a flow and the start of the next one.
    #[serde(default)]
    pub think_ns: u64,
    /// Whether that time is always the mean, and not exponential.
    #[serde(default)]
    pub constant_think: bool,
    /// When the first flows start.
    #[serde(default)]
    pub start_ns: u64,
    /// Each of them starts a random time from 0 to this later, uniform.
    #[serde(default)]
    pub start_jitter_ns: u64,
    /// Name in `algorithms`.
    pub algorithm: String,
    /// Traffic class on the wire, 0 (lowest) to 7.
    #[serde(default)]
    pub priority: u8,
    /// Deadlines.
    #[serde(default)]
    pub deadline: Option<DeadlineSpec>,
}

/// The description of a loop, resolved.
#[derive(Clone, Debug)]
pub(crate) struct ClosedLoopPlan {
    model: Model,
    ends: Ends,
    /// Number of its first source among those of all loops.
    first_source: u32,
    outstanding: u32,
    size: SizeSpec,
    quantity: QuantitySpec,
    think: Think,
    start_jitter: Span,
}

#[derive(Clone, Copy, Debug)]
struct Think {
    mean: Span,
    is_constant: bool,
}

impl Think {
    fn draw(self, stream: &mut Stream) -> Span {
        if self.is_constant { self.mean } else { exponential(stream, self.mean) }
    }
}

impl ClosedLoopPlan {
    /// All loops of a description.
    pub fn all(specs: &[ClosedLoopSpec], resolver: &Resolver<'_>) -> Result<Vec<Self>, SpecError> {
        let (mut plans, mut sources) = (Vec::with_capacity(specs.len()), 0);
        for (index, spec) in specs.iter().enumerate() {
            plans.push(Self::new(index, spec, sources, resolver)?);
            sources += spec.sources.len() as u32;
        }
        Ok(plans)
    }

    fn new(
        index: usize,
        spec: &ClosedLoopSpec,
        first_source: u32,
        resolver: &Resolver<'_>,
    ) -> Result<Self, SpecError> {
        let path = format!("closed_loops[{index}]");
        let at = |key: &str| format!("{path}.{key}");
        let ends = Ends::new(&path, &spec.sources, &spec.destinations, resolver)?;
        in_range(&at("outstanding"), spec.outstanding.into(), 1, MAX_FLOWS as u64)?;
        in_range(&at("think_ns"), spec.think_ns, 0, MAX_TIME_NS)?;
        in_range(&at("start_jitter_ns"), spec.start_jitter_ns, 0, MAX_TIME_NS)?;
        spec.size.check(&at("size"))?;
        spec.quantity.check(&at("quantity"))?;
        let model = ModelSpec {
            name: &spec.name,
            start_ns: spec.start_ns,
            end_ns: MAX_TIME_NS,
            algorithm: &spec.algorithm,
            priority: spec.priority,
            deadline: spec.deadline,
        };
        Ok(Self {
            model: Model::new(&path, &model, 0, resolver)?,
            ends,
            first_source,
            outstanding: spec.outstanding,
            size: spec.size.clone(),
            quantity: spec.quantity,
            think: Think { mean: Span::from_ns(spec.think_ns), is_constant: spec.constant_think },
            start_jitter: Span::from_ns(spec.start_jitter_ns),
        })
    }

    fn stream(&self, seed: u64, source: &str, what: &str) -> Stream {
        Stream::named(seed, &format!("closed_loops.{}.{source}.{what}", self.model.name))
    }

    /// This run's flows, source by source in the order of their starts, numbered from `first_id`.
    pub fn draw(&self, seed: u64, first_id: u32) -> Result<Vec<FlowPlan>, SpecError> {
        let mut flows: Vec<FlowPlan> = Vec::new();
        let sources = self.ends.sources.len() as u64;
        for (place, (source, name)) in (0..).zip(&self.ends.sources) {
            let mut sizes = self.stream(seed, name, "sizes");
            let mut choices = self.stream(seed, name, "destinations");
            let others = self.ends.others(*source);
            let mut left = self.quantity.share(place, sources);
            while !left.is_used_up() {
                if flows.len() >= MAX_FLOWS {
                    let cause = format!("more than {MAX_FLOWS} flows make up the quantity");
                    return refuse(&self.model.path, cause, "offer less, or larger flows");
                }
                flows.push(FlowPlan {
                    id: first_id + flows.len() as u32,
                    src: *source,
                    dst: others[choices.below(others.len() as u64) as usize],
                    size_bytes: Some(left.take(self.size.draw(&mut sizes))),
                    is_triggered: true,
                    loop_source: Some(self.first_source + place as u32),
                    ..self.model.template.clone()
                });
            }
        }
        Ok(flows)
    }
}

/// A source in one run.
#[derive(Clone, Debug)]
struct Source {
    /// Flows that have not been started, by index.
    waiting: core::ops::Range<u32>,
    think: Think,
    times: Stream,
}

/// All closed loops in one run.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClosedLoops {
    sources: Vec<Source>,
}

impl ClosedLoops {
    /// `flows` are those of the run.
    pub fn new(plans: &[ClosedLoopPlan], flows: &[FlowPlan], seed: u64) -> Self {
        let mut sources = Vec::new();
        for plan in plans {
            sources.extend(plan.ends.sources.iter().map(|(_, name)| Source {
                waiting: 0..0,
                think: plan.think,
                times: plan.stream(seed, name, "times"),
            }));
        }
        // Flows of one source follow each other.
        for (index, flow) in (0..).zip(flows) {
            let Some(source) = flow.loop_source else { continue };
            let waiting = &mut sources[source as usize].waiting;
            if waiting.end == 0 {
                waiting.start = index;
            }
            waiting.end = index + 1;
        }
        Self { sources }
    }

    /// The flows that each source starts with, and when.
    pub fn first_flows(&mut self, plans: &[ClosedLoopPlan]) -> Vec<(u32, Time)> {
        let mut first = Vec::new();
        for plan in plans {
            let from = plan.first_source as usize;
            for source in &mut self.sources[from..from + plan.ends.sources.len()] {
                for _ in 0..plan.outstanding {
                    let Some(flow) = source.waiting.next() else { break };
                    first.push((flow, plan.model.start + uniform(&mut source.times, plan.start_jitter)));
                }
            }
        }
        first
    }

    /// A flow of this source has ended: the next one, if there is one, and when it starts.
    pub fn on_end(&mut self, source: u32, now: Time) -> Option<(u32, Time)> {
        let source = &mut self.sources[source as usize];
        let flow = source.waiting.next()?;
        Some((flow, now + source.think.draw(&mut source.times)))
    }
}
