//! Tables of collectives: their iterations, and the pieces of their steps
//! (docs/algorithms/traffic.md#collectives).

use p4cc_units::Time;

use crate::output::results::rate_bps;
use crate::output::view::View;
use crate::record::{Column, Table};
use crate::traffic::collective::{Collective, CollectivePlan, Operation, Schedule};

/// A piece that left its application.
struct Transfer<'a> {
    plan: &'a CollectivePlan,
    iteration: u32,
    step: u32,
    src: u32,
    dst: u32,
    bytes: u64,
    sent: Time,
    received: Option<Time>,
}

impl Transfer<'_> {
    fn host(&self, rank: u32) -> &str {
        &self.plan.spec.ranks[rank as usize]
    }
}

/// One iteration of a job, of which a piece has left.
struct Iteration<'a> {
    first: Transfer<'a>,
    /// Of what is complete; the straggler is the host whose last piece came in last.
    finish: Option<(Time, u32)>,
    /// The step with the piece that was longest under way, and that time.
    slowest: Option<(u32, u64)>,
}

impl View<'_> {
    /// One table of iterations, one of pieces.
    pub(crate) fn collectives_tables(&self) -> [Table; 2] {
        let jobs: Vec<Vec<Vec<Transfer<'_>>>> = self
            .topology
            .collectives
            .iter()
            .zip(&self.hosts.applications().collectives)
            .map(|(plan, run)| {
                (0..plan.spec.iterations).map(|iteration| pieces(plan, run, iteration, self.now)).collect()
            })
            .collect();
        let all: Vec<&Transfer<'_>> = jobs.iter().flatten().flatten().collect();
        let steps = pieces_table(&all);
        [iterations_table(&jobs.into_iter().flatten().filter_map(iteration).collect::<Vec<_>>()), steps]
    }
}

/// The pieces of an iteration that have left by now, by step and rank.
fn pieces<'a>(plan: &'a CollectivePlan, run: &Collective, iteration: u32, now: Time) -> Vec<Transfer<'a>> {
    let ranks = plan.spec.ranks.len() as u32;
    let mut pieces = Vec::new();
    for step in 0..plan.steps {
        let place = (iteration * plan.steps + step) as usize;
        for src in 0..ranks {
            let Some(sent) = run.of_rank(plan, src)[place].sent.filter(|&sent| sent <= now) else { continue };
            let (dst, bytes) = plan.send(src, step);
            let received = run.of_rank(plan, dst)[place].received;
            pieces.push(Transfer { plan, iteration, step, src, dst, bytes, sent, received });
        }
    }
    pieces
}

fn iteration(pieces: Vec<Transfer<'_>>) -> Option<Iteration<'_>> {
    let plan = pieces.first()?.plan;
    let slowest = pieces
        .iter()
        .filter_map(|piece| Some((piece.step, piece.received?.since(piece.sent).as_ns())))
        .reduce(|most, next| if next.1 > most.1 { next } else { most });
    let is_whole = pieces.len() == plan.spec.ranks.len() * plan.steps as usize;
    let last = pieces
        .iter()
        .map(|piece| piece.received.map(|at| (at, piece.dst)))
        .collect::<Option<Vec<_>>>()
        .filter(|_| is_whole)
        .and_then(|times| times.into_iter().max_by_key(|&(at, dst)| (at, core::cmp::Reverse(dst))));
    let first = pieces.into_iter().min_by_key(|piece| piece.sent)?;
    Some(Iteration { first, finish: last, slowest })
}

fn pieces_table(pieces: &[&Transfer<'_>]) -> Table {
    let u64s =
        |get: &dyn Fn(&Transfer<'_>) -> u64| Column::U64(pieces.iter().map(|piece| get(piece)).collect());
    let received = pieces.iter().map(|piece| piece.received.map_or(-1, |at| at.as_ns() as i64));
    Table {
        name: "collective_steps",
        columns: vec![
            ("job", Column::text(pieces.iter().map(|piece| piece.plan.spec.name.as_str()))),
            ("iteration", u64s(&|piece| piece.iteration.into())),
            ("step", u64s(&|piece| piece.step.into())),
            ("src", Column::text(pieces.iter().map(|piece| piece.host(piece.src)))),
            ("dst", Column::text(pieces.iter().map(|piece| piece.host(piece.dst)))),
            ("bytes", u64s(&|piece| piece.bytes)),
            ("sent_ns", u64s(&|piece| piece.sent.as_ns())),
            ("received_ns", Column::I64(received.collect())),
        ],
    }
}

fn iterations_table(rows: &[Iteration<'_>]) -> Table {
    let u64s = |get: &dyn Fn(&Iteration<'_>) -> u64| Column::U64(rows.iter().map(get).collect());
    let i64s = |get: &dyn Fn(&Iteration<'_>) -> Option<u64>| {
        Column::I64(rows.iter().map(|row| get(row).map_or(-1, |value| value as i64)).collect())
    };
    let bandwidth = |row: &Iteration<'_>| {
        row.finish.map_or(f64::NAN, |(at, _)| rate_bps(row.first.plan.spec.size_bytes, row.first.sent, at))
    };
    let texts = |get: &dyn Fn(&Iteration<'_>) -> &'static str| Column::text(rows.iter().map(get));
    Table {
        name: "collectives",
        columns: vec![
            ("job", Column::text(rows.iter().map(|row| row.first.plan.spec.name.as_str()))),
            ("operation", texts(&|row| operation_name(row.first.plan.spec.operation))),
            ("schedule", texts(&|row| schedule_name(row.first.plan.spec.schedule))),
            ("iteration", u64s(&|row| row.first.iteration.into())),
            ("ranks", u64s(&|row| row.first.plan.spec.ranks.len() as u64)),
            ("size_bytes", u64s(&|row| row.first.plan.spec.size_bytes)),
            ("start_ns", u64s(&|row| row.first.sent.as_ns())),
            ("finish_ns", i64s(&|row| row.finish.map(|(at, _)| at.as_ns()))),
            ("completion_ns", i64s(&|row| row.finish.map(|(at, _)| at.since(row.first.sent).as_ns()))),
            ("algorithm_bps", Column::F64(rows.iter().map(bandwidth).collect())),
            (
                "bus_bps",
                Column::F64(rows.iter().map(|row| bandwidth(row) * row.first.plan.bus_factor()).collect()),
            ),
            ("slowest_step", i64s(&|row| row.slowest.map(|(step, _)| step.into()))),
            ("slowest_step_ns", i64s(&|row| row.slowest.map(|(_, time_ns)| time_ns))),
            (
                "straggler",
                Column::text(rows.iter().map(|row| row.finish.map_or("", |(_, rank)| row.first.host(rank)))),
            ),
        ],
    }
}

const fn operation_name(operation: Operation) -> &'static str {
    match operation {
        Operation::AllReduce => "all_reduce",
        Operation::AllGather => "all_gather",
        Operation::ReduceScatter => "reduce_scatter",
        Operation::AllToAll => "all_to_all",
    }
}

const fn schedule_name(schedule: Schedule) -> &'static str {
    match schedule {
        Schedule::Ring => "ring",
        Schedule::HalvingDoubling => "halving_doubling",
        Schedule::Pairwise => "pairwise",
    }
}
