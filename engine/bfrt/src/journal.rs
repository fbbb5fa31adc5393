//! What a batch changes, as it was, so that a batch which fails leaves everything as it found it.
//!
//! Before an update touches entries, members, groups or cells, their table is copied, once for a batch: a batch of
//! one table does not pay for the others. What is rarely written in such batches (the chip's own tables, hashes,
//! attributes) takes a copy of everything. Copies are put back the last one first.

use std::collections::BTreeSet;

use p4cc_exec::{Part, State};

use crate::schema::{Object, Table};
use crate::tables::ageing::AgesOf;
use crate::tables::handles::Handles;
use crate::tables::profiles::GroupsOf;
use crate::tables::shadow::ShadowOf;
use crate::target::{Before, Target};

/// One copy.
enum Step {
    Table(Box<TableStep>),
    Everything(Box<Before>),
}

/// A table of the program in one pipe.
struct TableStep {
    pipe: usize,
    table: u32,
    object: Object,
    part: Part,
    handles: Option<Handles>,
    shadow: ShadowOf,
    ages: Option<AgesOf>,
    groups: Option<GroupsOf>,
}

/// Copies so far.
#[derive(Default)]
pub struct Journal {
    steps: Vec<Step>,
    /// Tables that were copied, by pipe.
    copied: BTreeSet<(usize, u32)>,
    is_whole: bool,
    /// Changes of groups that clients had yet to be told of.
    changes: usize,
}

impl Journal {
    /// Of a batch that begins now.
    pub fn new(target: &Target<'_>) -> Self {
        Self { changes: target.kept.changes.len(), ..Self::default() }
    }

    /// An update is to change a table in these pipes.
    pub fn keep(&mut self, target: &mut Target<'_>, table: &Table, pipes: &[usize]) {
        let home = target.pipe();
        for &pipe in pipes {
            if self.is_whole || !self.copied.insert((pipe, table.id)) {
                continue;
            }
            target.enter(pipe);
            match copy(target, table) {
                Some(step) => self.steps.push(Step::Table(Box::new(step))),
                None => self.keep_all(target),
            }
            target.enter(home);
        }
    }

    /// An update is to change what has no copy of its own.
    pub fn keep_all(&mut self, target: &Target<'_>) {
        if !self.is_whole {
            self.is_whole = true;
            self.steps.push(Step::Everything(Box::new(target.before())));
        }
    }

    /// Goes back to how the batch began.
    pub fn undo(self, target: &mut Target<'_>) {
        let home = target.pipe();
        for step in self.steps.into_iter().rev() {
            match step {
                Step::Everything(before) => target.restore(*before),
                Step::Table(step) => put_back(target, *step),
            }
        }
        target.enter(home);
        target.kept.changes.truncate(self.changes);
    }
}

/// What writes to a table change in the pipe that is written; none if that is anything.
fn copy(target: &Target<'_>, table: &Table) -> Option<TableStep> {
    let state = target.state().ok()?;
    let part = part_of(state, table.object)?;
    let kept = &*target.kept;
    let ages = match table.object {
        Object::Match(id) => kept.ageing.of(id),
        _ => None,
    };
    let groups = match table.object {
        Object::Groups(profile) => Some(kept.groups.of_profile(profile)),
        _ => None,
    };
    Some(TableStep {
        pipe: target.pipe(),
        table: table.id,
        object: table.object,
        part,
        handles: kept.handles.get(&table.id).cloned(),
        shadow: kept.shadow.of(table.id),
        ages,
        groups,
    })
}

fn part_of(state: &State, object: Object) -> Option<Part> {
    match object {
        Object::Match(table) => Some(state.part_of_table(table)),
        Object::Members(profile) | Object::Groups(profile) => Some(state.part_of_profile(profile)),
        Object::Register(register) | Object::RegisterParam(register) => {
            Some(state.part_of_register(register))
        }
        Object::Counter(counter) => Some(state.part_of_counter(counter)),
        Object::Meter(meter) => Some(state.part_of_meter(meter)),
        _ => None,
    }
}

fn put_back(target: &mut Target<'_>, step: TableStep) {
    target.enter(step.pipe);
    if let Ok(state) = target.state_mut() {
        state.put_back(step.part);
    }
    let kept = &mut *target.kept;
    match step.handles {
        Some(handles) => drop(kept.handles.insert(step.table, handles)),
        None => drop(kept.handles.remove(&step.table)),
    }
    kept.shadow.put_back(step.table, step.shadow);
    if let Object::Match(table) = step.object {
        kept.ageing.put_back(table, step.ages);
    }
    if let (Object::Groups(profile), Some(groups)) = (step.object, step.groups) {
        kept.groups.put_back(profile, groups);
    }
}
