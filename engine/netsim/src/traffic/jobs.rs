//! Jobs of operations that wait for others: sends, computing times and parts in collectives
//! (docs/algorithms/traffic.md#operations).
//!
//! An operation is ready once as many events as it needs have happened: the start or the end of another, or
//! the arrival of what another sends. Operations of one unit (a processor, a stream of a GPU) run one at a
//! time, in the order in which they became ready. Each send is a flow of its own.
//!
//! ```text
//! waiting ──► ready, not before its time ──► its unit is free: it starts ──► it ends
//! ```
//!
//! What a send ends with is the last acknowledgement; its data arrived earlier.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use p4cc_units::{Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::collective::CollectivePlan;
use crate::describe::{FlowPlan, MAX_FLOW_BYTES, MAX_FLOWS, MAX_TIME_NS, Resolver, in_range};
use crate::error::{SpecError, refuse};

pub(crate) mod run;
mod starts;

/// Most operations of all jobs: each is a row of results.
const MAX_OPERATIONS: usize = 2_000_000;
/// Most events that operations of all jobs wait for.
const MAX_DEPENDENCIES: u64 = u32::MAX as u64;

/// What an operation does.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Work {
    /// Data goes from one host to another.
    #[schemars(title = "SendWork")]
    Send {
        /// Place of the sending host in `hosts`.
        src: u32,
        /// Place of the receiving host in `hosts`.
        dst: u32,
        /// Payload.
        size_bytes: u64,
    },
    /// A host computes.
    #[schemars(title = "ComputeWork")]
    Compute {
        /// Its place in `hosts`.
        host: u32,
        /// How long.
        duration_ns: u64,
    },
    /// A rank takes part in a collective that waits for operations, until all of its pieces came in.
    #[schemars(title = "CollectiveWork")]
    Collective {
        /// Place in `collectives`.
        collective: u32,
        /// The rank.
        rank: u32,
    },
}

/// An operation; it waits for operations of its job by their places.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OperationSpec {
    /// Name in results; absent: its place.
    #[serde(default)]
    pub name: Option<String>,
    /// What it does.
    pub work: Work,
    /// Operations whose end it waits for.
    #[serde(default)]
    pub after: Vec<u32>,
    /// Sends whose arrival it waits for.
    #[serde(default)]
    pub after_arrival: Vec<u32>,
    /// Operations whose start it waits for.
    #[serde(default)]
    pub after_start: Vec<u32>,
    /// How many of these it waits for; absent: all.
    #[serde(default)]
    pub needs: Option<u32>,
    /// It starts no earlier than so long after the job.
    #[serde(default)]
    pub start_ns: u64,
    /// Operations of a job with the same number run one at a time.
    #[serde(default)]
    pub unit: Option<u32>,
}

/// Operations that wait for each other.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobSpec {
    /// Name of the job and label of its flows.
    pub name: String,
    /// Hosts of its operations.
    pub hosts: Vec<String>,
    /// What they do.
    pub operations: Vec<OperationSpec>,
    /// When the first operations are ready.
    #[serde(default)]
    pub start_ns: u64,
    /// Name in `algorithms` or `rdma`, of all sends.
    pub algorithm: String,
    /// Traffic class on the wire, 0 (lowest) to 7.
    #[serde(default)]
    pub priority: u8,
}

/// What happens to an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Event {
    Start = 0,
    End = 1,
    Arrival = 2,
}

const EVENTS: usize = 3;

/// What an operation does, resolved.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Task {
    Send { flow: u32 },
    Compute { duration: Span },
    Collective { collective: u32, rank: u32 },
}

/// An operation, resolved.
#[derive(Clone, Debug)]
pub(crate) struct OperationPlan {
    pub name: Option<Box<str>>,
    pub task: Task,
    /// The host that does it.
    pub host: u32,
    needs: u32,
    earliest: Time,
    unit: Option<u32>,
}

/// The operations of a job among all.
#[derive(Clone, Debug)]
pub(crate) struct JobPlan {
    pub name: String,
    pub operations: core::ops::Range<u32>,
}

/// All jobs, resolved.
#[derive(Clone, Default, Debug)]
pub(crate) struct JobsPlan {
    pub jobs: Vec<JobPlan>,
    pub operations: Vec<OperationPlan>,
    /// Where the operations begin that wait for an event, at `3 * operation + event`, and one end.
    offsets: Vec<u32>,
    waiting: Vec<u32>,
    units: u32,
    /// The operation of each rank, by collective; empty for one that waits for none.
    parts: Vec<Vec<u32>>,
}

/// An operation waits for an event of another.
struct Edge {
    of: u32,
    event: Event,
    waits: u32,
}

impl JobsPlan {
    /// Appends the flows of all jobs, numbered from `first_id`.
    pub fn new(
        specs: &[JobSpec],
        collectives: &[CollectivePlan],
        resolver: &Resolver<'_>,
        first_id: u32,
        flows: &mut Vec<FlowPlan>,
    ) -> Result<Self, SpecError> {
        let all: usize = specs.iter().map(|spec| spec.operations.len()).sum();
        if all > MAX_OPERATIONS {
            let remedy = format!("give at most {MAX_OPERATIONS}");
            return refuse("jobs", format!("{all} operations of all jobs"), remedy);
        }
        let parts = |plan: &CollectivePlan| {
            let ranks = if plan.spec.waits { plan.spec.ranks.len() } else { 0 };
            vec![u32::MAX; ranks]
        };
        let mut plan = Self { parts: collectives.iter().map(parts).collect(), ..Self::default() };
        let mut edges = Vec::new();
        let mut ids = first_id..;
        for (number, spec) in specs.iter().enumerate() {
            plan.add_job(number, spec, (resolver, collectives), &mut ids, flows, &mut edges)?;
        }
        if let Some((collective, rank)) = plan.missing_part() {
            let path = format!("collectives[{collective}].waits");
            let cause = format!("no operation is the part of rank {rank}");
            return refuse(path, cause, "add one to a job, or leave out waits");
        }
        plan.connect(&edges);
        plan.check_starts(&edges)?;
        Ok(plan)
    }

    fn missing_part(&self) -> Option<(usize, usize)> {
        let missing = |parts: &Vec<u32>| parts.iter().position(|&part| part == u32::MAX);
        self.parts.iter().enumerate().find_map(|(number, parts)| Some((number, missing(parts)?)))
    }

    fn add_job(
        &mut self,
        number: usize,
        spec: &JobSpec,
        (resolver, collectives): (&Resolver<'_>, &[CollectivePlan]),
        ids: &mut core::ops::RangeFrom<u32>,
        flows: &mut Vec<FlowPlan>,
        edges: &mut Vec<Edge>,
    ) -> Result<(), SpecError> {
        let path = format!("jobs[{number}]");
        let at = |key: &str| format!("{path}.{key}");
        in_range(&at("start_ns"), spec.start_ns, 0, MAX_TIME_NS)?;
        check_names(&path, spec)?;
        let mut hosts = Vec::with_capacity(spec.hosts.len());
        for (i, name) in spec.hosts.iter().enumerate() {
            hosts.push(resolver.host(&format!("{path}.hosts[{i}]"), name)?);
        }
        let template = FlowPlan {
            algorithm: resolver.algorithm(&at("algorithm"), &spec.algorithm)?,
            priority: resolver.priority(&at("priority"), spec.priority)?,
            start: Time::from_ns(spec.start_ns),
            class: Arc::from(spec.name.as_str()),
            is_triggered: true,
            ..FlowPlan::default()
        };
        let first = self.operations.len() as u32;
        let mut sends = Sends { path: &path, spec, hosts: &hosts, template: &template, ids, flows };
        // Numbers are the description's choice: only the units in use have a place in memory.
        let mut units = BTreeMap::new();
        for (i, one) in spec.operations.iter().enumerate() {
            let path = format!("{path}.operations[{i}]");
            let operation = first + i as u32;
            let (host, task) = match one.work {
                Work::Send { src, dst, size_bytes } => sends.add(i, operation, (src, dst), size_bytes)?,
                Work::Compute { host: place, duration_ns } => {
                    in_range(&format!("{path}.work.duration_ns"), duration_ns, 0, MAX_TIME_NS)?;
                    let duration = Span::from_ns(duration_ns);
                    (host(&path, "host", &hosts, place)?, Task::Compute { duration })
                }
                Work::Collective { collective, rank } => {
                    self.take_part(&path, collective, rank, operation)?;
                    let name = &collectives[collective as usize].spec.ranks[rank as usize];
                    (resolver.host(&path, name)?, Task::Collective { collective, rank })
                }
            };
            let next = self.units + units.len() as u32;
            let unit = one.unit.map(|unit| *units.entry(unit).or_insert(next));
            in_range(&format!("{path}.start_ns"), one.start_ns, 0, MAX_TIME_NS)?;
            self.operations.push(OperationPlan {
                name: one.name.as_deref().map(Box::from),
                task,
                host,
                needs: needs(&path, one)?,
                earliest: Time::from_ns(spec.start_ns + one.start_ns),
                unit,
            });
        }
        self.units += units.len() as u32;
        add_edges(&path, spec, first, edges)?;
        let operations = first..self.operations.len() as u32;
        self.jobs.push(JobPlan { name: spec.name.clone(), operations });
        Ok(())
    }

    /// Notes the operation that is a rank's part in a collective.
    fn take_part(&mut self, path: &str, collective: u32, rank: u32, operation: u32) -> Result<(), SpecError> {
        let Some(parts) = self.parts.get_mut(collective as usize).filter(|parts| !parts.is_empty()) else {
            let cause = format!("no collective {collective} waits for operations");
            return refuse(format!("{path}.work.collective"), cause, "name one with waits");
        };
        let most = parts.len() - 1;
        match parts.get_mut(rank as usize) {
            Some(part) if *part == u32::MAX => *part = operation,
            Some(_) => {
                let cause = format!("rank {rank} takes part in collective {collective} twice");
                return refuse(format!("{path}.work.rank"), cause, "give each rank one operation");
            }
            None => return in_range(&format!("{path}.work.rank"), rank.into(), 0, most as u64),
        }
        Ok(())
    }

    fn connect(&mut self, edges: &[Edge]) {
        let place = |edge: &Edge| edge.of as usize * EVENTS + edge.event as usize;
        self.offsets = vec![0; self.operations.len() * EVENTS + 1];
        edges.iter().for_each(|edge| self.offsets[place(edge) + 1] += 1);
        for i in 1..self.offsets.len() {
            self.offsets[i] += self.offsets[i - 1];
        }
        let mut next = self.offsets.clone();
        self.waiting = vec![0; edges.len()];
        for edge in edges {
            let free = &mut next[place(edge)];
            self.waiting[*free as usize] = edge.waits;
            *free += 1;
        }
    }

    fn waiting(&self, operation: u32, event: Event) -> &[u32] {
        let place = operation as usize * EVENTS + event as usize;
        &self.waiting[self.offsets[place] as usize..self.offsets[place + 1] as usize]
    }

    /// The operation of a rank in a collective that waits for it.
    pub fn part(&self, collective: u32, rank: u32) -> Option<u32> {
        self.parts.get(collective as usize)?.get(rank as usize).copied()
    }
}

/// What makes flows of a job's sends.
struct Sends<'a> {
    path: &'a str,
    spec: &'a JobSpec,
    hosts: &'a [u32],
    template: &'a FlowPlan,
    ids: &'a mut core::ops::RangeFrom<u32>,
    flows: &'a mut Vec<FlowPlan>,
}

impl Sends<'_> {
    /// The flow of the send at a place, and the host that sends.
    fn add(
        &mut self,
        place: usize,
        operation: u32,
        (src, dst): (u32, u32),
        size_bytes: u64,
    ) -> Result<(u32, Task), SpecError> {
        let path = format!("{}.operations[{place}]", self.path);
        let ends = (host(&path, "src", self.hosts, src)?, host(&path, "dst", self.hosts, dst)?);
        in_range(&format!("{path}.work.size_bytes"), size_bytes, 1, MAX_FLOW_BYTES)?;
        if ends.0 == ends.1 {
            let cause = format!("host {:?} sends to itself", self.spec.hosts[src as usize]);
            return refuse(format!("{path}.work.dst"), cause, "name two hosts");
        }
        let flow = self.flows.len();
        in_range(&path, flow as u64 + 1, 1, MAX_FLOWS as u64)
            .map_err(|error| SpecError { cause: format!("more than {MAX_FLOWS} flows"), ..error })?;
        self.flows.push(FlowPlan {
            id: self.ids.next().unwrap_or(u32::MAX),
            src: ends.0,
            dst: ends.1,
            size_bytes: Some(size_bytes),
            operation: Some(operation),
            ..self.template.clone()
        });
        Ok((ends.0, Task::Send { flow: flow as u32 }))
    }
}

fn host(path: &str, key: &str, hosts: &[u32], place: u32) -> Result<u32, SpecError> {
    hosts.get(place as usize).copied().ok_or_else(|| {
        let cause = format!("there is no host {place}");
        SpecError::new(format!("{path}.work.{key}"), cause, format!("there are {} hosts", hosts.len()))
    })
}

/// A job and its operations have names that tell them apart.
fn check_names(path: &str, spec: &JobSpec) -> Result<(), SpecError> {
    if spec.name.is_empty() {
        return refuse(format!("{path}.name"), "the name is empty", "name the job");
    }
    if spec.operations.is_empty() {
        return refuse(
            format!("{path}.operations"),
            "the job has no operation",
            "add one, or leave out the job",
        );
    }
    let mut seen = BTreeSet::new();
    for (i, one) in spec.operations.iter().enumerate() {
        let Some(name) = one.name.as_deref() else { continue };
        let at = || format!("{path}.operations[{i}].name");
        if name.is_empty() {
            return refuse(at(), "the name is empty", "name the operation, or leave the name out");
        }
        if !seen.insert(name) {
            return refuse(at(), format!("two operations are named {name:?}"), "give each its own name");
        }
    }
    Ok(())
}

fn check_dependencies(path: &str, count: u64) -> Result<(), SpecError> {
    if count <= MAX_DEPENDENCIES {
        return Ok(());
    }
    let cause = format!("more than {MAX_DEPENDENCIES} dependencies in all jobs");
    refuse(path, cause, "let operations wait for fewer others, such as one that waits for many")
}

/// Events that an operation needs.
fn needs(path: &str, spec: &OperationSpec) -> Result<u32, SpecError> {
    let listed = spec.after.len() + spec.after_arrival.len() + spec.after_start.len();
    let Some(needs) = spec.needs else { return Ok(listed as u32) };
    in_range(&format!("{path}.needs"), needs.into(), 1, listed as u64)?;
    Ok(needs)
}

fn add_edges(path: &str, spec: &JobSpec, first: u32, edges: &mut Vec<Edge>) -> Result<(), SpecError> {
    let most = spec.operations.len().saturating_sub(1) as u64;
    for (i, one) in spec.operations.iter().enumerate() {
        let lists = [
            ("after", Event::End, &one.after),
            ("after_arrival", Event::Arrival, &one.after_arrival),
            ("after_start", Event::Start, &one.after_start),
        ];
        let listed: usize = lists.iter().map(|(_, _, list)| list.len()).sum();
        check_dependencies(&format!("{path}.operations[{i}]"), (edges.len() + listed) as u64)?;
        for (key, event, list) in lists {
            for &of in list {
                in_range(&format!("{path}.operations[{i}].{key}"), of.into(), 0, most)?;
                let is_send = matches!(spec.operations[of as usize].work, Work::Send { .. });
                if event == Event::Arrival && !is_send {
                    let cause = format!("operation {of} is not a send");
                    return refuse(format!("{path}.operations[{i}].{key}"), cause, "use after");
                }
                edges.push(Edge { of: first + of, event, waits: first + i as u32 });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::run::{Jobs, Step};
    use super::*;

    /// A job at the host 0: operations by what they take (none: a send) and what they wait for.
    fn planned(operations: &[(Option<u64>, OperationSpec)]) -> Result<JobsPlan, SpecError> {
        let mut plan = JobsPlan::default();
        let mut edges = Vec::new();
        let mut spec = job(Vec::new());
        for (number, (compute_ns, one)) in operations.iter().enumerate() {
            let (duration, flow) = (Span::from_ns(compute_ns.unwrap_or(0)), number as u32);
            let work = match compute_ns {
                Some(duration_ns) => Work::Compute { host: 0, duration_ns: *duration_ns },
                None => Work::Send { src: 0, dst: 1, size_bytes: 1 },
            };
            spec.operations.push(OperationSpec { work, ..one.clone() });
            plan.units = plan.units.max(one.unit.map_or(0, |unit| unit + 1));
            plan.operations.push(OperationPlan {
                name: None,
                task: if compute_ns.is_some() { Task::Compute { duration } } else { Task::Send { flow } },
                host: 0,
                needs: needs("", one).expect("needs"),
                earliest: Time::from_ns(one.start_ns),
                unit: one.unit,
            });
        }
        add_edges("job", &spec, 0, &mut edges).expect("edges");
        plan.jobs.push(JobPlan { name: "job".to_owned(), operations: 0..operations.len() as u32 });
        plan.connect(&edges);
        plan.check_starts(&edges).map(|()| plan)
    }

    fn plan(operations: &[(Option<u64>, OperationSpec)]) -> JobsPlan {
        planned(operations).expect("all start")
    }

    fn job(operations: Vec<OperationSpec>) -> JobSpec {
        JobSpec {
            name: "job".to_owned(),
            hosts: vec!["a".to_owned(), "b".to_owned()],
            operations,
            start_ns: 0,
            algorithm: "sender".to_owned(),
            priority: 0,
        }
    }

    fn spec() -> OperationSpec {
        OperationSpec {
            name: None,
            work: Work::Compute { host: 0, duration_ns: 0 },
            after: Vec::new(),
            after_arrival: Vec::new(),
            after_start: Vec::new(),
            needs: None,
            start_ns: 0,
            unit: None,
        }
    }

    fn after(of: &[u32]) -> OperationSpec {
        OperationSpec { after: of.to_vec(), ..spec() }
    }

    /// Runs a job whose sends arrive after 10 ns and end after 20: start and end of each operation.
    fn run(plan: &JobsPlan) -> (Jobs, Vec<(u64, u64)>) {
        let mut jobs = Jobs::new(plan);
        let mut due: std::collections::BTreeMap<(Time, u64), (u32, Option<Event>)> = Default::default();
        let (mut now, mut count) = (Time::ZERO, 0);
        let mut steps = jobs.first_steps(plan);
        loop {
            for step in steps.drain(..) {
                let mut at = |at: Time, what| {
                    count += 1;
                    due.insert((at, count), what);
                };
                match step {
                    Step::Send(flow) => {
                        at(now + Span::from_ns(10), (flow, Some(Event::Arrival)));
                        at(now + Span::from_ns(20), (flow, Some(Event::End)));
                    }
                    Step::Wait(operation, time) => at(time, (operation, None)),
                    Step::TakePart { .. } => unreachable!("no collective"),
                }
            }
            let Some(((at, _), (operation, event))) = due.pop_first() else { break };
            now = at;
            steps = match event {
                Some(event) => jobs.on_event(plan, operation, event, now),
                None => jobs.on_time(plan, operation, now),
            };
        }
        let ns = |time: Option<Time>| time.expect("it happened").as_ns();
        let times = jobs.operations.iter().map(|one| (ns(one.start), ns(one.end))).collect();
        (jobs, times)
    }

    #[test]
    fn operations_wait_for_ends_arrivals_and_starts() {
        let operations = [
            (Some(5), spec()),
            (None, after(&[0])),
            (Some(3), OperationSpec { after_arrival: vec![1], ..spec() }),
            (Some(0), OperationSpec { after_start: vec![1], ..spec() }),
            (Some(7), after(&[1, 2])),
            (Some(1), OperationSpec { start_ns: 40, ..after(&[4]) }),
        ];
        let (jobs, times) = run(&plan(&operations));
        assert_eq!(times, [(0, 5), (5, 25), (15, 18), (5, 5), (25, 32), (40, 41)]);
        assert_eq!(jobs.open, 0);
        assert_eq!(jobs.operations[1].arrival, Some(Time::from_ns(15)));
    }

    #[test]
    fn operations_of_a_unit_run_one_at_a_time_in_the_order_of_their_readiness() {
        let unit = |one: OperationSpec| OperationSpec { unit: Some(0), ..one };
        let operations = [
            (Some(10), unit(spec())),
            (Some(1), OperationSpec { start_ns: 3, ..unit(spec()) }),
            (Some(1), OperationSpec { start_ns: 2, ..unit(spec()) }),
            (Some(4), spec()),
        ];
        assert_eq!(run(&plan(&operations)).1, [(0, 10), (11, 12), (10, 11), (0, 4)]);
    }

    /// A trigger of htsim that starts one flow after another, each time a flow ends: its own targets too.
    #[test]
    fn some_operations_need_only_some_of_their_events() {
        let some = |needs: u32| OperationSpec { needs: Some(needs), ..after(&[0, 1, 2, 3]) };
        let operations = [(Some(5), spec()), (Some(9), spec()), (Some(1), some(1)), (Some(1), some(2))];
        assert_eq!(run(&plan(&operations)).1, [(0, 5), (0, 9), (5, 6), (6, 7)]);
    }

    #[test]
    fn what_never_starts_is_refused_with_the_circle() {
        let error = |operations: &[(Option<u64>, OperationSpec)]| {
            planned(operations).expect_err("a circle").to_string()
        };
        let said = error(&[(Some(1), spec()), (Some(1), after(&[2])), (Some(1), after(&[0, 1]))]);
        let begin = "jobs[0].operations[1]: it never starts, as each of 1 -> 2 -> 1 waits for the next";
        assert!(said.starts_with(begin), "{said}");
        // What waits for a circle is not in it.
        let said = error(&[(Some(1), after(&[1])), (Some(1), after(&[2])), (Some(1), after(&[1]))]);
        assert!(said.starts_with("jobs[0].operations[1]: it never starts, as each of 1 -> 2 -> 1"), "{said}");
        let long: Vec<_> = (0..100).map(|number| (Some(1), after(&[(number + 1) % 100]))).collect();
        assert!(
            error(&long).contains("0 -> 1 -> 2 -> 3 -> 4 -> 5 -> 6 -> ... -> 0 waits"),
            "{}",
            error(&long)
        );
    }

    #[test]
    fn too_many_dependencies_are_those_of_all_jobs() {
        check_dependencies("job", MAX_DEPENDENCIES).expect("as many as may be");
        let said = check_dependencies("job", MAX_DEPENDENCIES + 1).expect_err("one more").to_string();
        assert!(said.starts_with("job: more than 4294967295 dependencies in all jobs"), "{said}");
    }

    #[test]
    fn places_that_are_not_there_are_refused() {
        let wrong = |one: OperationSpec| {
            add_edges("job", &job(vec![one]), 0, &mut Vec::new()).expect_err("refused").to_string()
        };
        assert!(wrong(after(&[1])).starts_with("job.operations[0].after: 1 is out of range"));
        let arrival = OperationSpec { after_arrival: vec![0], ..spec() };
        assert!(wrong(arrival).starts_with("job.operations[0].after_arrival: operation 0 is not a send"));
        let none = OperationSpec { needs: Some(0), ..after(&[0]) };
        assert!(needs("job", &none).is_err());
    }

    /// Random jobs: every operation runs, after what it waits for; those of a unit do not overlap.
    #[test]
    fn random_jobs_end() {
        let mut draw = 7_u64;
        let mut random = |below: u64| {
            draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (draw >> 33) % below
        };
        for _ in 0..200 {
            let mut operations: Vec<(Option<u64>, OperationSpec)> = Vec::new();
            for number in 0..random(30) + 1 {
                let mut one = spec();
                for _ in 0..random(4).min(number) {
                    let of = random(number) as u32;
                    match random(3) {
                        0 if operations[of as usize].0.is_none() => one.after_arrival.push(of),
                        1 => one.after_start.push(of),
                        _ => one.after.push(of),
                    }
                }
                one.start_ns = random(50);
                one.unit = (random(2) == 0).then(|| random(3) as u32);
                operations.push(((random(3) > 0).then(|| random(20)), one));
            }
            let plan = plan(&operations);
            let (jobs, times) = run(&plan);
            assert_eq!(jobs.open, 0);
            for (number, (_, one)) in operations.iter().enumerate() {
                let start = times[number].0;
                assert!(start >= one.start_ns);
                assert!(one.after.iter().all(|&of| times[of as usize].1 <= start));
                assert!(one.after_start.iter().all(|&of| times[of as usize].0 <= start));
                let arrived = |of: u32| jobs.operations[of as usize].arrival.map(Time::as_ns);
                assert!(one.after_arrival.iter().all(|&of| arrived(of).is_some_and(|at| at <= start)));
                let same = |(_, other): &&(Option<u64>, OperationSpec)| {
                    other.unit.is_some() && other.unit == one.unit
                };
                for (other, _) in
                    operations.iter().enumerate().filter(|(other, pair)| *other != number && same(pair))
                {
                    assert!(times[other].1 <= start || times[other].0 >= times[number].1, "a unit is shared");
                }
            }
        }
    }
}
