//! Collectives of a group of ranks: all-reduce, all-gather, reduce-scatter and all-to-all, whose steps wait
//! for the data that they send on (docs/algorithms/traffic.md#collectives).
//!
//! All schedules have one form. In an iteration each of the `n` ranks sends one piece and receives one piece
//! in each step. A rank sends in step `s` once it has received in all steps up to `s - window`; the window is
//! 1 where a step passes on what the one before it brought. So a rank waits for what reached itself only, and
//! it cannot outrun its neighbours. An iteration of a rank begins a computing time after its last piece came
//! in.
//!
//! | schedule | step `s` of rank `r` sends to | piece |
//! |---|---|---|
//! | ring | `r + 1` | `size / n` |
//! | halving, `s` from 0 | `r xor 2^s` | `size / 2^(s + 1)` |
//! | doubling | the same peers, backwards | the same pieces, backwards |
//! | all-to-all | `r + s + 1` | `size / n` |
//!
//! Ranks count round. A connection of two ranks is kept over all steps and iterations. Two ranks send each
//! other pieces of one size only, in the order of the steps: the k-th piece on a connection is that of a
//! known step.

use std::collections::BTreeSet;
use std::sync::Arc;

use p4cc_units::{Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::describe::{FlowPlan, MAX_FLOW_BYTES, MAX_FLOWS, MAX_TIME_NS, Resolver, StepMember, in_range};
use crate::error::{SpecError, refuse};

/// Most steps of all ranks and iterations of a job: each is a row of results.
const MAX_STEPS: u64 = 2_000_000;

/// What the ranks want.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Everybody has the sum of what all had.
    AllReduce,
    /// Everybody has what each had.
    AllGather,
    /// Everybody has its share of the sum.
    ReduceScatter,
    /// Everybody has a share of what each had.
    AllToAll,
}

/// In which steps they get it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Schedule {
    /// From each rank to the next one.
    Ring,
    /// Recursive halving, and doubling of the distance; ranks are a power of two.
    HalvingDoubling,
    /// Each rank to every other, with a window of steps.
    Pairwise,
}

/// One group of ranks and what it does.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CollectiveSpec {
    /// Name of the job and label of its flows.
    pub name: String,
    /// What the ranks want.
    pub operation: Operation,
    /// In which steps they get it.
    pub schedule: Schedule,
    /// Hosts by rank.
    pub ranks: Vec<String>,
    /// Size of the whole buffer, as NCCL's tests count it.
    pub size_bytes: u64,
    /// How often the job does it.
    #[serde(default = "one")]
    pub iterations: u32,
    /// Time that a rank computes between two iterations.
    #[serde(default)]
    pub compute_ns: u64,
    /// Steps that a rank may be ahead of what it received; more than 1 in all-to-all only.
    #[serde(default = "one")]
    pub window: u32,
    /// When the first iteration begins; 0 with `waits`.
    #[serde(default)]
    pub start_ns: u64,
    /// Each rank begins when an operation of a job says so.
    #[serde(default)]
    pub waits: bool,
    /// Name in `algorithms` or `rdma`.
    pub algorithm: String,
    /// Traffic class on the wire, 0 (lowest) to 7.
    #[serde(default)]
    pub priority: u8,
}

const fn one() -> u32 {
    1
}

/// Two ranks of which one sends to the other.
#[derive(Clone, Debug)]
struct Connection {
    to: u32,
    piece_bytes: u64,
    /// Steps of an iteration that use it, by rising number.
    steps: Vec<u32>,
}

/// The description of a job, resolved.
#[derive(Clone, Debug)]
pub(crate) struct CollectivePlan {
    pub spec: CollectiveSpec,
    /// Steps of an iteration.
    pub steps: u32,
    /// Index of its first flow; flows stand in the order of connections.
    first: u32,
    connections: Vec<Connection>,
    /// The connection that rank `r` sends on in step `s`, at `r * steps + s`.
    sends: Vec<u32>,
}

impl CollectivePlan {
    /// Appends the job's flows, numbered from `first_id`.
    pub fn new(
        job: usize,
        spec: &CollectiveSpec,
        resolver: &Resolver<'_>,
        first_id: u32,
        flows: &mut Vec<FlowPlan>,
    ) -> Result<Self, SpecError> {
        let path = format!("collectives[{job}]");
        let at = |key: &str| format!("{path}.{key}");
        check(&path, spec)?;
        let mut hosts = Vec::with_capacity(spec.ranks.len());
        let mut seen = BTreeSet::new();
        for (i, name) in spec.ranks.iter().enumerate() {
            let host = resolver.host(&format!("{path}.ranks[{i}]"), name)?;
            if !seen.insert(host) {
                let cause = format!("{name:?} is listed twice");
                return refuse(format!("{path}.ranks[{i}]"), cause, "name each host once");
            }
            hosts.push(host);
        }
        let template = FlowPlan {
            algorithm: resolver.algorithm(&at("algorithm"), &spec.algorithm)?,
            priority: resolver.priority(&at("priority"), spec.priority)?,
            start: Time::from_ns(spec.start_ns),
            class: Arc::from(spec.name.as_str()),
            is_triggered: true,
            ..FlowPlan::default()
        };
        let mut plan = Self {
            spec: spec.clone(),
            steps: steps(spec),
            first: flows.len() as u32,
            connections: Vec::new(),
            sends: Vec::new(),
        };
        for rank in 0..plan.ranks() {
            plan.connect(rank);
        }
        let iterations = u64::from(spec.iterations);
        let senders = plan.senders();
        for (number, (connection, from)) in plan.connections.iter().zip(senders).enumerate() {
            let pieces = iterations * connection.steps.len() as u64;
            let size_bytes = connection.piece_bytes.saturating_mul(pieces);
            in_range(&at("size_bytes"), size_bytes, 1, MAX_FLOW_BYTES).map_err(|error| SpecError {
                cause: format!("{size_bytes} B go from one rank to another in all iterations"),
                ..error
            })?;
            flows.push(FlowPlan {
                id: first_id.saturating_add(number as u32),
                src: hosts[from as usize],
                dst: hosts[connection.to as usize],
                size_bytes: Some(size_bytes),
                piece_bytes: connection.piece_bytes,
                step: Some(StepMember { job: job as u32, connection: number as u32 }),
                ..template.clone()
            });
        }
        Ok(plan)
    }

    fn ranks(&self) -> u32 {
        self.spec.ranks.len() as u32
    }

    /// Adds the connections that a rank sends on.
    fn connect(&mut self, rank: u32) {
        let begin = self.connections.len();
        for step in 0..self.steps {
            let (to, piece_bytes) = send(&self.spec, rank, step);
            let known = self.connections[begin..].iter().position(|one| one.to == to);
            let number = known.map_or(self.connections.len(), |place| begin + place);
            if known.is_none() {
                self.connections.push(Connection { to, piece_bytes, steps: Vec::new() });
            }
            self.connections[number].steps.push(step);
            self.sends.push(number as u32);
        }
    }

    /// The rank that sends on each connection.
    fn senders(&self) -> Vec<u32> {
        let mut senders = vec![0; self.connections.len()];
        for (place, &connection) in self.sends.iter().enumerate() {
            senders[connection as usize] = place as u32 / self.steps;
        }
        senders
    }

    /// The flow that a rank sends on in a step, and the piece's bytes.
    fn flow(&self, rank: u32, step: u32) -> u32 {
        self.first + self.sends[(rank * self.steps + step) as usize]
    }

    /// Steps of all iterations.
    fn all_steps(&self) -> u64 {
        u64::from(self.steps) * u64::from(self.spec.iterations)
    }

    /// The rank that a connection leads to.
    pub fn receiver(&self, connection: u32) -> u32 {
        self.connections[connection as usize].to
    }

    /// Rank and bytes of what a rank sends in a step.
    pub fn send(&self, rank: u32, step: u32) -> (u32, u64) {
        send(&self.spec, rank, step)
    }

    /// Bus bandwidth over algorithm bandwidth, as NCCL's tests define it.
    pub fn bus_factor(&self) -> f64 {
        let ranks = f64::from(self.ranks());
        let share = (ranks - 1.0) / ranks;
        if self.spec.operation == Operation::AllReduce { 2.0 * share } else { share }
    }
}

/// Where a rank sends in a step, and how much. A part of a step rounds up, so that all pieces are alike.
fn send(spec: &CollectiveSpec, rank: u32, step: u32) -> (u32, u64) {
    let ranks = spec.ranks.len() as u32;
    let share = spec.size_bytes.div_ceil(u64::from(ranks));
    match spec.schedule {
        Schedule::Ring => ((rank + 1) % ranks, share),
        Schedule::Pairwise => ((rank + 1 + step) % ranks, share),
        Schedule::HalvingDoubling => {
            let halvings = ranks.trailing_zeros();
            let level = match spec.operation {
                Operation::AllGather => halvings - 1 - step,
                _ if step >= halvings => 2 * halvings - 1 - step,
                _ => step,
            };
            (rank ^ (1 << level), share * u64::from(ranks >> (level + 1)))
        }
    }
}

/// Steps of an iteration.
fn steps(spec: &CollectiveSpec) -> u32 {
    let ranks = spec.ranks.len() as u32;
    let phase = if spec.schedule == Schedule::HalvingDoubling { ranks.trailing_zeros() } else { ranks - 1 };
    if spec.operation == Operation::AllReduce { 2 * phase } else { phase }
}

fn check(path: &str, spec: &CollectiveSpec) -> Result<(), SpecError> {
    let at = |key: &str| format!("{path}.{key}");
    let ranks = spec.ranks.len() as u64;
    in_range(&at("ranks"), ranks, 2, MAX_FLOWS as u64)
        .map_err(|error| SpecError { cause: format!("{ranks} ranks"), ..error })?;
    if (spec.operation == Operation::AllToAll) != (spec.schedule == Schedule::Pairwise) {
        let cause = "pairwise goes with all_to_all, and all_to_all with nothing else";
        return refuse(at("schedule"), cause, "give ring or halving_doubling for the others");
    }
    if spec.schedule == Schedule::HalvingDoubling && !ranks.is_power_of_two() {
        let cause = format!("{ranks} ranks are not a power of two");
        return refuse(at("ranks"), cause, "name 2, 4, 8, ... hosts, or use the ring");
    }
    in_range(&at("size_bytes"), spec.size_bytes, 1, MAX_FLOW_BYTES)?;
    in_range(&at("iterations"), spec.iterations.into(), 1, MAX_STEPS)?;
    let most = if spec.schedule == Schedule::Pairwise { ranks - 1 } else { 1 };
    in_range(&at("window"), spec.window.into(), 1, most)?;
    in_range(&at("start_ns"), spec.start_ns, 0, MAX_TIME_NS)?;
    if spec.waits && spec.start_ns > 0 {
        let cause = "each rank of a collective that waits begins with its operation";
        return refuse(at("start_ns"), cause, "give it to the operations, or leave out waits");
    }
    in_range(&at("compute_ns"), spec.compute_ns, 0, MAX_TIME_NS)?;
    let rows = ranks.saturating_mul(steps(spec).into()).saturating_mul(spec.iterations.into());
    in_range(&at("iterations"), rows, 1, MAX_STEPS)
        .map_err(|error| SpecError { cause: format!("{rows} steps of all ranks and iterations"), ..error })?;
    let flows =
        if spec.schedule == Schedule::Ring { ranks } else { ranks.saturating_mul(steps(spec).into()) };
    in_range(&at("ranks"), flows, 1, MAX_FLOWS as u64)
        .map_err(|error| SpecError { cause: format!("{flows} flows are needed"), ..error })
}

/// One step of a rank as it went; times in the rank's own iteration.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct StepTimes {
    /// When its piece left the application.
    pub sent: Option<Time>,
    /// When the piece that it receives was whole.
    pub received: Option<Time>,
}

/// A rank in one run.
#[derive(Clone, Default, Debug)]
struct Rank {
    /// Steps of all iterations that were sent; those before `whole` have been received.
    sent: u64,
    whole: u64,
    /// Since when it may send in its iteration.
    begin: Time,
    /// Whether it has begun.
    is_open: bool,
}

/// A job in one run.
#[derive(Clone, Debug)]
pub(crate) struct Collective {
    /// Steps by rank, iteration and step.
    pub steps: Vec<StepTimes>,
    ranks: Vec<Rank>,
    /// Pieces that arrived on each connection.
    pieces: Vec<u64>,
}

impl Collective {
    pub fn new(plan: &CollectivePlan) -> Self {
        let begin = Time::from_ns(plan.spec.start_ns);
        let rank = Rank { begin, is_open: !plan.spec.waits, ..Rank::default() };
        let all = plan.sends.len() * plan.spec.iterations as usize;
        Self {
            steps: vec![StepTimes::default(); all],
            ranks: vec![rank; plan.spec.ranks.len()],
            pieces: vec![0; plan.connections.len()],
        }
    }

    /// The steps of a rank in all iterations.
    pub fn of_rank<'a>(&'a self, plan: &CollectivePlan, rank: u32) -> &'a [StepTimes] {
        let all = plan.steps as usize * plan.spec.iterations as usize;
        &self.steps[rank as usize * all..][..all]
    }

    /// What ranks send without waiting: the flows that act, and when.
    pub fn first_sends(&mut self, plan: &CollectivePlan) -> Vec<(u32, Time)> {
        (0..plan.ranks()).flat_map(|rank| self.sends(plan, rank, Time::ZERO)).collect()
    }

    /// A rank that waited begins: the flows that act, and when.
    pub fn open(&mut self, plan: &CollectivePlan, rank: u32, now: Time) -> Vec<(u32, Time)> {
        let one = &mut self.ranks[rank as usize];
        (one.is_open, one.begin) = (true, now);
        self.sends(plan, rank, now)
    }

    /// Whether a rank has begun, sent all and received all.
    pub fn has_ended(&self, plan: &CollectivePlan, rank: u32) -> bool {
        let (rank, all) = (&self.ranks[rank as usize], plan.all_steps());
        rank.is_open && rank.sent == all && rank.whole == all
    }

    /// Bytes of a connection reached their rank, `delivered` in all: the flows that act then, and when.
    pub fn on_delivered(
        &mut self,
        plan: &CollectivePlan,
        connection: u32,
        delivered: u64,
        now: Time,
    ) -> Vec<(u32, Time)> {
        let number = connection as usize;
        let Connection { to, piece_bytes, steps } = &plan.connections[number];
        let all = u64::from(plan.steps) * u64::from(plan.spec.iterations);
        let whole = delivered / piece_bytes;
        if whole == self.pieces[number] {
            return Vec::new();
        }
        let uses = steps.len() as u64;
        let place = u64::from(*to) * all;
        for piece in self.pieces[number]..whole.min(uses * u64::from(plan.spec.iterations)) {
            let step = piece / uses * u64::from(plan.steps) + u64::from(steps[(piece % uses) as usize]);
            self.steps[(place + step) as usize].received = Some(now);
        }
        self.pieces[number] = whole;
        let rank = &mut self.ranks[*to as usize];
        let before = rank.whole;
        while rank.whole < all && self.steps[(place + rank.whole) as usize].received.is_some() {
            rank.whole += 1;
        }
        let per_iteration = u64::from(plan.steps);
        if before / per_iteration != rank.whole / per_iteration {
            rank.begin = now + Span::from_ns(plan.spec.compute_ns);
        }
        self.sends(plan, *to, now)
    }

    /// All that a rank may send by now, in order.
    fn sends(&mut self, plan: &CollectivePlan, number: u32, now: Time) -> Vec<(u32, Time)> {
        let rank = &mut self.ranks[number as usize];
        let per_iteration = u64::from(plan.steps);
        let all = per_iteration * u64::from(plan.spec.iterations);
        let at = now.max(rank.begin);
        let mut sends = Vec::new();
        while rank.is_open && rank.sent < all {
            let (iteration, step) = (rank.sent / per_iteration, rank.sent % per_iteration);
            let needed = iteration * per_iteration + (step + 1).saturating_sub(u64::from(plan.spec.window));
            if rank.whole < needed {
                break;
            }
            self.steps[(u64::from(number) * all + rank.sent) as usize].sent = Some(at);
            sends.push((plan.flow(number, step as u32), at));
            rank.sent += 1;
        }
        sends
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(operation: Operation, schedule: Schedule, ranks: u32, window: u32) -> CollectivePlan {
        let spec = CollectiveSpec {
            name: "job".to_owned(),
            operation,
            schedule,
            ranks: (0..ranks).map(|rank| rank.to_string()).collect(),
            size_bytes: 1_000,
            iterations: 3,
            compute_ns: 7,
            window,
            start_ns: 5,
            waits: false,
            algorithm: "sender".to_owned(),
            priority: 0,
        };
        check("job", &spec).expect("a job that may be");
        let (steps, sends, connections) = (steps(&spec), Vec::new(), Vec::new());
        let mut plan = CollectivePlan { spec, steps, first: 0, connections, sends };
        (0..ranks).for_each(|rank| plan.connect(rank));
        plan
    }

    fn all_plans() -> Vec<CollectivePlan> {
        let reductions = [Operation::AllReduce, Operation::AllGather, Operation::ReduceScatter];
        let mut plans = Vec::new();
        for ranks in [2, 3, 4, 7, 8, 16] {
            for operation in reductions {
                plans.push(plan(operation, Schedule::Ring, ranks, 1));
                if ranks.is_power_of_two() {
                    plans.push(plan(operation, Schedule::HalvingDoubling, ranks, 1));
                }
            }
            for window in 1..ranks {
                plans.push(plan(Operation::AllToAll, Schedule::Pairwise, ranks, window));
            }
        }
        plans
    }

    /// In each step each rank sends to one other and receives from one; a connection has pieces of one size.
    #[test]
    fn every_step_is_a_permutation() {
        for plan in all_plans() {
            for step in 0..plan.steps {
                let mut to: Vec<u32> = (0..plan.ranks()).map(|rank| plan.send(rank, step).0).collect();
                assert!(to.iter().enumerate().all(|(rank, &to)| rank as u32 != to), "{plan:?}");
                to.sort_unstable();
                assert!(to.into_iter().eq(0..plan.ranks()), "{plan:?}");
                for rank in 0..plan.ranks() {
                    let connection = &plan.connections[plan.flow(rank, step) as usize];
                    assert_eq!(plan.send(rank, step), (connection.to, connection.piece_bytes), "{plan:?}");
                }
            }
        }
    }

    /// Rabenseifner's and the ring's cost: 2 (n - 1) / n of the buffer for an all-reduce, half of it for
    /// others.
    #[test]
    fn a_rank_sends_what_the_bus_factor_says() {
        for plan in all_plans() {
            let ranks = u64::from(plan.ranks());
            for rank in 0..plan.ranks() {
                let bytes: u64 = (0..plan.steps).map(|step| plan.send(rank, step).1).sum();
                let share = plan.spec.size_bytes.div_ceil(ranks);
                let expected = plan.bus_factor() * (share * ranks) as f64;
                assert!((bytes as f64 - expected).abs() < 1e-6, "{bytes} {expected} {plan:?}");
            }
        }
    }

    /// Parts of the buffer by rank, as bits: which of them are wanted where, and who has a share in them.
    #[test]
    fn all_reduce_brings_every_part_of_every_rank_to_all() {
        for ranks in [2_usize, 4, 8, 16] {
            // held[rank][part]: whose numbers are in it. A step of halving gives the peer its half away.
            let plan = plan(Operation::AllReduce, Schedule::HalvingDoubling, ranks as u32, 1);
            let mut held = vec![(0..ranks).map(|_| 0_u32).collect::<Vec<_>>(); ranks];
            (0..ranks).for_each(|rank| held[rank].fill(1 << rank));
            let halvings = plan.steps / 2;
            for step in 0..plan.steps {
                let before = held.clone();
                for (rank, parts) in before.iter().enumerate() {
                    let (to, bytes) = plan.send(rank as u32, step);
                    let level = if step < halvings { step } else { plan.steps - 1 - step };
                    // Parts that agree with the keeper in the bits of the levels so far.
                    let keeper = if step < halvings { to as usize } else { rank };
                    let bits = (2 << level) - 1;
                    let sent: Vec<usize> = (0..ranks).filter(|part| part & bits == keeper & bits).collect();
                    assert_eq!(sent.len() as u64 * 1_000_u64.div_ceil(ranks as u64), bytes);
                    for part in sent {
                        let mine = &mut held[to as usize][part];
                        *mine = if step < halvings { *mine | parts[part] } else { parts[part] };
                    }
                }
            }
            let everybody = ((1_u64 << ranks) - 1) as u32;
            assert!(held.iter().flatten().all(|&who| who == everybody), "{ranks}: {held:?}");
        }
    }

    /// Deliveries in any order of connections (each in its own order) bring every job to its end; no rank
    /// sends in a step before what the step needs is in, and nothing is sent or received twice.
    #[test]
    fn no_order_of_deliveries_stops_a_job() {
        for (number, plan) in all_plans().into_iter().enumerate() {
            let mut run = Collective::new(&plan);
            let mut ways: Vec<(u64, u64)> = vec![(0, 0); plan.connections.len()];
            let mut draw = number as u64 + 1;
            let mut now = Time::from_ns(5);
            for (flow, at) in run.first_sends(&plan) {
                assert_eq!(at, now);
                ways[flow as usize].0 += 1;
            }
            let all = plan.sends.len() * plan.spec.iterations as usize;
            for delivered in 0..all {
                now += Span::from_ns(1);
                draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let open: Vec<usize> = (0..ways.len()).filter(|&way| ways[way].0 > ways[way].1).collect();
                assert!(!open.is_empty(), "stopped after {delivered} of {all}: {plan:?}");
                let way = open[(draw >> 33) as usize % open.len()];
                ways[way].1 += 1;
                let bytes = ways[way].1 * plan.connections[way].piece_bytes;
                assert_eq!(run.on_delivered(&plan, way as u32, bytes - 1, now), []);
                for (flow, at) in run.on_delivered(&plan, way as u32, bytes, now) {
                    assert!(at >= now);
                    ways[flow as usize].0 += 1;
                }
            }
            let per_connection = |one: &Connection| one.steps.len() as u64 * u64::from(plan.spec.iterations);
            let sent = plan.connections.iter().map(per_connection);
            assert!(ways.into_iter().eq(sent.map(|pieces| (pieces, pieces))), "{plan:?}");
            for rank in 0..plan.ranks() {
                follows_its_window(&plan, run.of_rank(&plan, rank));
            }
        }
    }

    fn follows_its_window(plan: &CollectivePlan, steps: &[StepTimes]) {
        let compute = Span::from_ns(plan.spec.compute_ns);
        for (number, one) in steps.iter().enumerate() {
            let (sent, step) = (one.sent.expect("sent"), number % plan.steps as usize);
            let begin = number - step;
            let needed = begin + (step + 1).saturating_sub(plan.spec.window as usize);
            assert!(steps[begin..needed].iter().all(|before| before.received.is_some_and(|at| at <= sent)));
            let iteration_before = steps[..begin].iter().filter_map(|before| before.received).max();
            assert!(iteration_before.is_none_or(|at| at + compute <= sent));
            assert!(number == 0 || steps[number - 1].sent.is_some_and(|before| before <= sent));
        }
    }

    /// A change that makes a job wrong, and what is said of it.
    type Case = (fn(&mut CollectiveSpec), &'static str);

    #[test]
    fn what_is_wrong_with_a_job_is_said_with_its_place() {
        let cases: [Case; 9] = [
            (|spec| spec.ranks.truncate(1), "job.ranks: 1 ranks"),
            (|spec| spec.ranks.truncate(3), "job.ranks: 3 ranks are not a power of two"),
            (|spec| spec.schedule = Schedule::Pairwise, "job.schedule: pairwise goes with all_to_all"),
            (|spec| spec.operation = Operation::AllToAll, "job.schedule: pairwise goes with all_to_all"),
            (|spec| spec.size_bytes = 0, "job.size_bytes: 0 is out of range"),
            (|spec| spec.iterations = 1_000_000, "job.iterations: 16000000 steps of all ranks"),
            (|spec| spec.waits = true, "job.start_ns: each rank of a collective that waits"),
            (|spec| spec.window = 2, "job.window: 2 is out of range"),
            (|spec| spec.compute_ns = u64::MAX, "job.compute_ns: 18446744073709551615 is out of range"),
        ];
        for (change, said) in cases {
            let mut spec = plan(Operation::AllReduce, Schedule::HalvingDoubling, 4, 1).spec;
            change(&mut spec);
            let error = check("job", &spec).expect_err(said).to_string();
            assert!(error.starts_with(said), "{error}");
        }
    }
}
