//! Tables of collectives: their iterations, and the pieces of their steps
//! (docs/algorithms/traffic.md#collectives).

use p4cc_units::Time;

use crate::output::results::rate_bps;
use crate::output::view::View;
use crate::record::Table;
use crate::record::schema::{CollectiveRow, StepRow};
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
    Table::of(pieces.iter().map(|piece| StepRow {
        job: &piece.plan.spec.name,
        iteration: piece.iteration.into(),
        step: piece.step.into(),
        src: piece.host(piece.src),
        dst: piece.host(piece.dst),
        bytes: piece.bytes,
        sent_ns: piece.sent.as_ns(),
        received_ns: piece.received.map(Time::as_ns),
    }))
}

fn iterations_table(rows: &[Iteration<'_>]) -> Table {
    Table::of(rows.iter().map(|row| {
        let (plan, sent) = (row.first.plan, row.first.sent);
        let algorithm_bps = row.finish.map(|(at, _)| rate_bps(plan.spec.size_bytes, sent, at));
        CollectiveRow {
            job: &plan.spec.name,
            operation: operation_name(plan.spec.operation),
            schedule: schedule_name(plan.spec.schedule),
            iteration: row.first.iteration.into(),
            ranks: plan.spec.ranks.len() as u64,
            size_bytes: plan.spec.size_bytes,
            start_ns: sent.as_ns(),
            finish_ns: row.finish.map(|(at, _)| at.as_ns()),
            completion_ns: row.finish.map(|(at, _)| at.since(sent).as_ns()),
            algorithm_bps,
            bus_bps: algorithm_bps.map(|bps| bps * plan.bus_factor()),
            slowest_step: row.slowest.map(|(step, _)| step.into()),
            slowest_step_ns: row.slowest.map(|(_, time_ns)| time_ns),
            straggler: row.finish.map_or("", |(_, rank)| row.first.host(rank)),
        }
    }))
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
