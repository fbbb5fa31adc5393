//! Which operations can start at all, whatever the times are: what never starts is an error before the run.
//!
//! A rank's part in a collective ends once the parts of all its ranks have started, as each rank waits, over
//! others or at once, for what every other sends.

use std::collections::BTreeMap;

use super::{Edge, Event, JobsPlan, Task};
use crate::error::{SpecError, refuse};

/// Most operations of a circle that an error names.
const MAX_NAMED: usize = 8;

/// What happens once all that can start has started.
struct Reached {
    started: Vec<bool>,
    ended: Vec<bool>,
}

impl JobsPlan {
    /// Refuses an operation that waits for what never happens, even if all others do.
    pub(super) fn check_starts(&self, edges: &[Edge]) -> Result<(), SpecError> {
        self.check_units()?;
        let reached = self.reach();
        let Some(stuck) = reached.started.iter().position(|started| !started) else { return Ok(()) };
        let circle = self.circle(&reached, edges, stuck as u32);
        let mut names: Vec<String> = circle.iter().map(|&one| self.label(one)).collect();
        if names.len() > MAX_NAMED {
            names.truncate(MAX_NAMED - 1);
            names.push("...".to_owned());
        }
        names.push(self.label(circle[0]));
        let name = &self.operations[circle[0] as usize].name;
        let subject = name.as_ref().map_or_else(|| "it".to_owned(), |name| format!("{name:?}"));
        let cause = format!("{subject} never starts, as each of {} waits for the next", names.join(" -> "));
        let is_part = |&one: &u32| matches!(self.operations[one as usize].task, Task::Collective { .. });
        let remedy = if circle.iter().any(is_part) {
            "let one of them not wait: a collective ends for no rank before all of its ranks have started"
        } else {
            "let one of them not wait for the next"
        };
        refuse(self.path(circle[0]), cause, remedy)
    }

    /// Two ranks of a collective need each other at the same time.
    fn check_units(&self) -> Result<(), SpecError> {
        for parts in &self.parts {
            let mut users = BTreeMap::new();
            for &part in parts {
                let Some(unit) = self.operations[part as usize].unit else { continue };
                if let Some(other) = users.insert(unit, part) {
                    let (one, other) = (self.label(part), self.label(other));
                    let cause = format!("{one} and {other} are ranks of one collective and share a unit");
                    let remedy = "give each rank a unit of its own: none ends before all have started";
                    return refuse(format!("{}.unit", self.path(part)), cause, remedy);
                }
            }
        }
        Ok(())
    }

    fn reach(&self) -> Reached {
        let all = self.operations.len();
        let mut reached = Reached { started: vec![false; all], ended: vec![false; all] };
        let mut missing: Vec<u32> = self.operations.iter().map(|one| one.needs).collect();
        let mut absent: Vec<usize> = self.parts.iter().map(Vec::len).collect();
        let mut starts: Vec<u32> =
            (0..).zip(&missing).filter(|(_, needs)| **needs == 0).map(|(i, _)| i).collect();
        while let Some(operation) = starts.pop() {
            reached.started[operation as usize] = true;
            let ends = match self.operations[operation as usize].task {
                Task::Collective { collective, .. } => {
                    let place = collective as usize;
                    absent[place] -= 1;
                    if absent[place] == 0 { self.parts[place].as_slice() } else { &[] }
                }
                _ => core::slice::from_ref(&operation),
            };
            ends.iter().for_each(|&one| reached.ended[one as usize] = true);
            let ends = ends.iter().flat_map(|&one| [(one, Event::End), (one, Event::Arrival)]);
            for (of, event) in core::iter::once((operation, Event::Start)).chain(ends) {
                for &next in self.waiting(of, event) {
                    let missing = &mut missing[next as usize];
                    if *missing > 0 {
                        *missing -= 1;
                        starts.extend((*missing == 0).then_some(next));
                    }
                }
            }
        }
        reached
    }

    /// Operations each of which waits for the next, and the last for the first, from one that never starts.
    fn circle(&self, reached: &Reached, edges: &[Edge], stuck: u32) -> Vec<u32> {
        let mut blocked_by = vec![None; self.operations.len()];
        for edge in edges {
            let happened = if edge.event == Event::Start { &reached.started } else { &reached.ended };
            if !happened[edge.of as usize] {
                blocked_by[edge.waits as usize].get_or_insert(edge.of);
            }
        }
        let mut place = vec![None; self.operations.len()];
        let (mut chain, mut at) = (Vec::new(), stuck);
        while place[at as usize].is_none() {
            place[at as usize] = Some(chain.len());
            chain.push(at);
            let Some(of) = blocked_by[at as usize] else { break };
            at = of;
            // A part that started does not end, as another rank's has not started.
            if let Task::Collective { collective, .. } = self.operations[of as usize].task
                && reached.started[of as usize]
            {
                chain.push(of);
                let absent = |part: &&u32| !reached.started[**part as usize];
                at = self.parts[collective as usize].iter().find(absent).copied().unwrap_or(of);
            }
        }
        chain.split_off(place[at as usize].unwrap_or(0))
    }

    /// The number of an operation's job, and its place in it.
    fn place(&self, operation: u32) -> (usize, u32) {
        let job = self.jobs.partition_point(|job| job.operations.end <= operation);
        (job, operation - self.jobs[job].operations.start)
    }

    fn path(&self, operation: u32) -> String {
        let (job, place) = self.place(operation);
        format!("jobs[{job}].operations[{place}]")
    }

    /// How an error calls an operation: as results do, after its job where there are several.
    fn label(&self, operation: u32) -> String {
        let (job, place) = self.place(operation);
        let name = self.operations[operation as usize].name.as_deref();
        let name = name.map_or_else(|| place.to_string(), str::to_owned);
        if self.jobs.len() > 1 { format!("{}/{name}", self.jobs[job].name) } else { name }
    }
}
