//! Traffic between pairs of hosts, each pair with its own intensity, sizes and gaps
//! (docs/algorithms/traffic.md#skewed).
//!
//! A model describes two traces of the same number of bytes. In the skewed trace each pair of the matrix is a
//! renewal process. In the uniform trace every host sends to every other one
//! (docs/algorithms/traffic.md#uniform), with the mixture of sizes that the skewed trace has. Both are drawn
//! for a seed whichever is used, as the uniform trace sets the bytes of the skewed one: the gaps of all pairs
//! are scaled by one factor until the bytes agree (docs/algorithms/traffic.md#gap-scaling).
//!
//! Every draw has a stream of its own, named after the model, the try, and the pair or host.

use p4cc_switch::Stream;
use p4cc_units::{Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::DeadlineSpec;
use super::bounds::{Booked, LinkBounds};
use super::matrix::{Matrix, MatrixSpec, Pair, pick};
use super::model::{Model, check_within, model_spec};
use super::size::SizeSpec;
use crate::describe::{FlowPlan, MAX_FLOWS, Resolver};
use crate::error::{SpecError, refuse};

/// docs/algorithms/traffic.md#gap-scaling: "offered bytes of both traces must agree within 5 %".
const MAX_DIFFERENCE: f64 = 0.05;
/// Matrices that are drawn at most for one seed.
const MAX_TRIES: u32 = 200;
/// How often the time that pairs are drawn for is doubled, at most.
const MAX_DOUBLINGS: u32 = 24;
/// With bounds on links, which may leave too little room for the flows of a matrix however long they come.
const MAX_BOUNDED_DOUBLINGS: u32 = 8;
/// Range of `busiest_load`.
const MIN_BUSIEST_LOAD: f64 = 1e-6;
const MAX_BUSIEST_LOAD: f64 = 1e6;

/// Traffic between pairs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PairsSpec {
    /// Label for results and name of the random streams, unique among pairs.
    pub name: String,
    /// Hosts by pod: those that the uniform trace and a drawn matrix are made of.
    pub pods: Vec<Vec<String>>,
    /// Who talks to whom.
    pub matrix: MatrixSpec,
    /// Which of the two traces is sent.
    pub pattern: Pattern,
    /// Payload that all hosts offer together.
    pub offered_bps: f64,
    /// Most payload that a host may send, or may be sent, until the end: a share of what its link carries
    /// (docs/algorithms/traffic.md#choice-busiest-load). Absent: no bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busiest_load: Option<f64>,
    /// Where gaps begin to be scaled linearly, in medians of their
    /// distribution (docs/algorithms/traffic.md#gap-scaling).
    pub knee: f64,
    /// When flows begin.
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

/// One of the two traces.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// Each host to all others alike.
    Uniform,
    /// By the matrix.
    Skewed,
}

/// The description of one model, resolved.
#[derive(Clone, Debug)]
pub(crate) struct PairsPlan {
    model: Model,
    pods: Vec<Vec<u32>>,
    /// By host index.
    host_names: Vec<(u32, String)>,
    matrix: Matrix,
    pattern: Pattern,
    offered_bps: f64,
    span_ns: f64,
    bounds: Option<LinkBounds>,
}

/// A flow before it is one: its start after the model's, its hosts and size.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Drawn {
    at_ns: f64,
    src: u32,
    dst: u32,
    bytes: u64,
}

/// Both traces of a matrix, in order of the starts.
struct Traces {
    uniform: Vec<Drawn>,
    skewed: Vec<Drawn>,
}

/// The process of one pair.
struct Process {
    pair: Pair,
    mean_gap_ns: f64,
    gaps: Stream,
    sizes: Stream,
    next_ns: f64,
}

impl PairsPlan {
    /// `rates` are those of all hosts' links.
    pub fn new(
        index: usize,
        spec: &PairsSpec,
        rates: &[Rate],
        resolver: &Resolver<'_>,
    ) -> Result<Self, SpecError> {
        let path = format!("pairs[{index}]");
        let at = |key: &str| format!("{path}.{key}");
        let mut pods = Vec::with_capacity(spec.pods.len());
        let mut host_names = Vec::new();
        for (i, pod) in spec.pods.iter().enumerate() {
            let mut hosts = Vec::with_capacity(pod.len());
            for (j, name) in pod.iter().enumerate() {
                let host = resolver.host(&at(&format!("pods[{i}][{j}]")), name)?;
                hosts.push(host);
                host_names.push((host, name.clone()));
            }
            pods.push(hosts);
        }
        host_names.sort();
        if host_names.len() < 2 || host_names.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            let cause = format!("{} hosts, or one twice", host_names.len());
            return refuse(at("pods"), cause, "name at least two hosts, each once");
        }
        check_within(&at("offered_bps"), spec.offered_bps, 1.0, 1e18)?;
        if let Some(share) = spec.busiest_load {
            check_within(&at("busiest_load"), share, MIN_BUSIEST_LOAD, MAX_BUSIEST_LOAD)?;
        }
        let span_ns = (spec.end_ns - spec.start_ns) as f64;
        let rated = || host_names.iter().map(|&(host, _)| (host, rates[host as usize]));
        let bounds = spec.busiest_load.map(|share| LinkBounds::new(rated(), share, span_ns));
        Ok(Self {
            matrix: Matrix::new(&at("matrix"), &spec.matrix, spec.knee, host_names.len(), resolver)?,
            pods,
            host_names,
            pattern: spec.pattern,
            offered_bps: spec.offered_bps,
            span_ns,
            bounds,
            model: Model::new(&path, &model_spec!(spec), 1, resolver)?,
        })
    }

    /// This run's flows in order of their start, numbered from `first_id`.
    pub fn draw(&self, seed: u64, first_id: u32) -> Result<Vec<FlowPlan>, SpecError> {
        let tries = if self.matrix.is_drawn() { MAX_TRIES } else { 1 };
        for number in 0..tries {
            let Some(traces) = self.traces(seed, number)? else { continue };
            let drawn = match self.pattern {
                Pattern::Uniform => traces.uniform,
                Pattern::Skewed => traces.skewed,
            };
            return Ok(self.flows(&drawn, first_id));
        }
        let cause = format!(
            "no matrix of {tries} leaves the wanted share of pod pairs empty and offers as many bytes as the even trace"
        );
        refuse(
            &self.model.path,
            cause,
            "let it last longer, offer more, widen empty_share, or raise busiest_load",
        )
    }

    /// The two traces of one try; none if they do not fit each other or the description.
    fn traces(&self, seed: u64, number: u32) -> Result<Option<Traces>, SpecError> {
        let stream = |what: &str| Stream::named(seed, &format!("pairs.{}.{number}.{what}", self.model.name));
        let Some(mut pairs) = self.matrix.draw(&self.pods, &stream) else { return Ok(None) };
        let (empty, all) = self.empty_pod_pairs(&pairs);
        if !self.matrix.accepts(empty, all) {
            return Ok(None);
        }
        if let Some(bounds) = &self.bounds {
            let mean_bytes: Vec<f64> = self.matrix.sizes.iter().map(SizeSpec::mean_bytes).collect();
            if !bounds.limit(&mut pairs, &mean_bytes, self.offered_bps * self.span_ns / 8e9) {
                return Ok(None);
            }
        }
        // The mean size over flows: "the flow-weighted mixture of these CDFs".
        let mut shares = vec![0.0; self.matrix.sizes.len()];
        pairs.iter().for_each(|pair| shares[pair.size] += pair.intensity / pairs.len() as f64);
        let sizes = self.matrix.sizes.iter().zip(&shares);
        let mean_bytes: f64 = sizes.map(|(size, share)| size.mean_bytes() * share).sum();
        // docs/algorithms/traffic.md#uniform, docs/algorithms/timely.md#timely
        // m / (b rho), for one pair of as many as there are.
        let flow_gap_ns = 8e9 * mean_bytes / self.offered_bps;
        let uniform = self.uniform(&shares, flow_gap_ns * self.host_names.len() as f64, &stream)?;
        let bytes: u64 = uniform.iter().map(|flow| flow.bytes).sum();
        let skewed = self.skewed(&pairs, flow_gap_ns * pairs.len() as f64, bytes, &stream)?;
        Ok(skewed.map(|skewed| Traces { uniform, skewed }))
    }

    /// Ordered pairs of pods between which no pair talks, and all; a pod that is not full is not looked at
    /// (docs/algorithms/metrics.md#metrics: 64 cells of nine pods, the last of which has three hosts).
    fn empty_pod_pairs(&self, pairs: &[Pair]) -> (usize, usize) {
        let full = self.pods.iter().map(Vec::len).max().unwrap_or(0);
        let places: Vec<usize> = (0..self.pods.len()).filter(|&pod| self.pods[pod].len() == full).collect();
        let pod_of = |host: u32| places.iter().position(|&pod| self.pods[pod].contains(&host));
        let used: std::collections::BTreeSet<(usize, usize)> =
            pairs.iter().filter_map(|pair| pod_of(pair.src).zip(pod_of(pair.dst))).collect();
        let all = places.len() * places.len();
        (all - used.len(), all)
    }

    /// docs/algorithms/traffic.md#uniform: exponential gaps at each source, any other host as destination.
    fn uniform(
        &self,
        shares: &[f64],
        mean_gap_ns: f64,
        stream: &dyn Fn(&str) -> Stream,
    ) -> Result<Vec<Drawn>, SpecError> {
        let mut sums = shares.to_vec();
        (1..sums.len()).for_each(|place| sums[place] += sums[place - 1]);
        let mut flows = Vec::new();
        for (place, (src, name)) in self.host_names.iter().enumerate() {
            let of = |what: &str| stream(&format!("uniform.{name}.{what}"));
            let (mut gaps, mut sizes, mut ends) = (of("gaps"), of("sizes"), of("destinations"));
            let mut at_ns = 0.0;
            loop {
                at_ns += -libm::log(1.0 - gaps.unit()) * mean_gap_ns;
                if at_ns >= self.span_ns {
                    break;
                }
                self.check_count(flows.len())?;
                let other = ends.below(self.host_names.len() as u64 - 1) as usize;
                let (dst, _) = self.host_names[other + usize::from(other >= place)];
                let size = &self.matrix.sizes[pick(&sums, &mut sizes)];
                flows.push(Drawn { at_ns, src: *src, dst, bytes: size.draw(&mut sizes) });
            }
        }
        sort(&mut flows);
        self.keep_what_fits(&mut self.book(), &mut flows, 0);
        Ok(flows)
    }

    /// A book of the flows kept; none without a bound.
    fn book(&self) -> Option<Booked<'_>> {
        self.bounds.as_ref().map(LinkBounds::book)
    }

    /// Leaves out flows from a place on that their hosts' links have no room for, in the order of the starts.
    fn keep_what_fits(&self, book: &mut Option<Booked<'_>>, flows: &mut Vec<Drawn>, from: usize) {
        if let Some(book) = book {
            let mut place = 0;
            flows.retain(|flow| {
                place += 1;
                place <= from || book.admits(flow.src, flow.dst, flow.bytes)
            });
        }
    }

    /// The pairs' flows, gaps scaled so that they offer `bytes`
    /// until the end; none if flows are too large for that.
    fn skewed(
        &self,
        pairs: &[Pair],
        mean_gap_ns: f64,
        bytes: u64,
        stream: &dyn Fn(&str) -> Stream,
    ) -> Result<Option<Vec<Drawn>>, SpecError> {
        let name = |host: u32| {
            let place = self.host_names.binary_search_by_key(&host, |(host, _)| *host);
            place.map_or("", |place| self.host_names[place].1.as_str())
        };
        let mut processes: Vec<Process> = pairs
            .iter()
            .map(|&pair| {
                let of = |what: &str| stream(&format!("{}->{}.{what}", name(pair.src), name(pair.dst)));
                let mean_gap_ns = mean_gap_ns / pair.intensity;
                let mut gaps = of("gaps");
                let next_ns = mean_gap_ns * self.matrix.gaps[pair.gap].draw(&mut gaps);
                Process { pair, mean_gap_ns, gaps, sizes: of("sizes"), next_ns }
            })
            .collect();
        let mut flows = Vec::new();
        let mut book = self.book();
        let mut until_ns = self.span_ns;
        let doublings = if book.is_some() { MAX_BOUNDED_DOUBLINGS } else { MAX_DOUBLINGS };
        for _ in 0..doublings {
            let kept = flows.len();
            for process in &mut processes {
                self.draw_until(process, until_ns, &mut flows)?;
            }
            // Later than all before: each round draws the next span of time.
            sort(&mut flows[kept..]);
            self.keep_what_fits(&mut book, &mut flows, kept);
            if flows.iter().map(|flow| flow.bytes).sum::<u64>() >= bytes {
                return Ok(self.scale_gaps(flows, until_ns, bytes));
            }
            until_ns *= 2.0;
        }
        Ok(None)
    }

    fn draw_until(
        &self,
        process: &mut Process,
        until_ns: f64,
        flows: &mut Vec<Drawn>,
    ) -> Result<(), SpecError> {
        let Pair { src, dst, size, gap, .. } = process.pair;
        while process.next_ns < until_ns {
            self.check_count(flows.len())?;
            let bytes = self.matrix.sizes[size].draw(&mut process.sizes);
            flows.push(Drawn { at_ns: process.next_ns, src, dst, bytes });
            process.next_ns += process.mean_gap_ns * self.matrix.gaps[gap].draw(&mut process.gaps);
        }
        Ok(())
    }

    /// The first flows whose bytes add up to about `bytes`, their starts spread over the model's time.
    fn scale_gaps(&self, mut flows: Vec<Drawn>, until_ns: f64, bytes: u64) -> Option<Vec<Drawn>> {
        let (mut kept, mut sum) = (0, 0_u64);
        while kept < flows.len() {
            let with = sum + flows[kept].bytes;
            if with.abs_diff(bytes) > sum.abs_diff(bytes) {
                break;
            }
            (kept, sum) = (kept + 1, with);
        }
        if sum.abs_diff(bytes) as f64 > MAX_DIFFERENCE * bytes as f64 {
            return None;
        }
        // With gaps scaled by this the next flow would start at the end.
        let next_ns = flows.get(kept).map_or(until_ns, |flow| flow.at_ns);
        let factor = if next_ns > 0.0 { self.span_ns / next_ns } else { return None };
        flows.truncate(kept);
        flows.iter_mut().for_each(|flow| flow.at_ns *= factor);
        Some(flows)
    }

    fn check_count(&self, count: usize) -> Result<(), SpecError> {
        if count < MAX_FLOWS {
            return Ok(());
        }
        let cause = format!("more than {MAX_FLOWS} flows");
        refuse(&self.model.path, cause, "end earlier, offer less, or give larger flows")
    }

    fn flows(&self, drawn: &[Drawn], first_id: u32) -> Vec<FlowPlan> {
        // Rounding must not move a start to the end.
        let last = Span::from_ps((self.span_ns * 1e3) as u64 - 1);
        drawn
            .iter()
            .zip(first_id..)
            .map(|(flow, id)| FlowPlan {
                id,
                src: flow.src,
                dst: flow.dst,
                size_bytes: Some(flow.bytes),
                start: self.model.start + Span::from_ps((flow.at_ns * 1e3) as u64).min(last),
                ..self.model.template.clone()
            })
            .collect()
    }
}

/// In order of their start; flows of one instant keep the order of hosts or pairs.
fn sort(flows: &mut [Drawn]) {
    flows.sort_by(|a, b| a.at_ns.total_cmp(&b.at_ns));
}
