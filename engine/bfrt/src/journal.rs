//! What a batch changes, as it was, so that a batch which fails leaves everything as it found it.
//!
//! A member that is written by its number is noted by itself, however many there are. Before any other
//! update of entries, groups or cells their table is copied, once for a batch: a batch of one table does not
//! pay for the others. What is rarely written in such batches (the chip's own tables, hashes, attributes)
//! takes a copy of everything. Copies are put back the last one first.

use std::collections::BTreeSet;

use p4cc_exec::control::Member;
use p4cc_exec::{Part, State};
use p4cc_ir::ProfileId;

use crate::fields::Match;
use crate::schema::{Means, Object, Table};
use crate::tables::ageing::AgesOf;
use crate::tables::handles::Handles;
use crate::tables::profiles::GroupsOf;
use crate::tables::shadow::ShadowOf;
use crate::target::{Before, Entry, Target};

/// One copy.
enum Undo {
    Member(MemberBefore),
    Table(Box<TableBefore>),
    Everything(Box<Before>),
}

/// A member of a profile in one pipe.
struct MemberBefore {
    pipe: usize,
    profile: ProfileId,
    id: u32,
    old: Option<Member>,
}

/// A table of the program in one pipe.
struct TableBefore {
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
    undos: Vec<Undo>,
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

    /// An update is to change an entry in these pipes, or its table.
    pub fn keep(&mut self, target: &mut Target<'_>, entry: &Entry<'_>, pipes: &[usize]) {
        let (home, table) = (target.pipe(), entry.table);
        let member = match table.object {
            Object::Members(profile) => member_of(entry).map(|id| (profile, id)),
            _ => None,
        };
        for &pipe in pipes {
            if self.is_whole || self.copied.contains(&(pipe, table.id)) {
                continue;
            }
            target.enter(pipe);
            if let (Some((profile, id)), Ok(state)) = (member, target.state()) {
                let old = state.member(profile, id).cloned();
                self.undos.push(Undo::Member(MemberBefore { pipe, profile, id, old }));
                target.enter(home);
                continue;
            }
            self.copied.insert((pipe, table.id));
            match copy(target, table) {
                Some(before) => self.undos.push(Undo::Table(Box::new(before))),
                None => self.keep_all(target),
            }
            target.enter(home);
        }
    }

    /// An update is to change what has no copy of its own.
    pub fn keep_all(&mut self, target: &Target<'_>) {
        if !self.is_whole {
            self.is_whole = true;
            self.undos.push(Undo::Everything(Box::new(target.before())));
        }
    }

    /// Goes back to how the batch began.
    pub fn undo(self, target: &mut Target<'_>) {
        let home = target.pipe();
        for undo in self.undos.into_iter().rev() {
            match undo {
                Undo::Everything(before) => target.restore(*before),
                Undo::Member(before) => put_member_back(target, before),
                Undo::Table(before) => put_back(target, *before),
            }
        }
        target.enter(home);
        target.kept.changes.truncate(self.changes);
    }
}

/// The member that a write names by its number.
fn member_of(entry: &Entry<'_>) -> Option<u32> {
    let key = entry.key.as_ref()?.iter().find(|one| one.key.means == Means::Member)?;
    match &key.value {
        Match::Exact(id) => u32::try_from(id.low_u64()).ok(),
        _ => None,
    }
}

/// What used the member later is back as it was, so that nothing stands in the way.
fn put_member_back(target: &mut Target<'_>, before: MemberBefore) {
    target.enter(before.pipe);
    let Ok(state) = target.state_mut() else { return };
    let is_there = state.member(before.profile, before.id).is_some();
    let done = match before.old {
        Some(old) if is_there => state.member_modify(before.profile, old),
        Some(old) => state.member_insert(before.profile, old),
        None if is_there => state.member_delete(before.profile, before.id),
        None => Ok(()),
    };
    debug_assert!(done.is_ok(), "{done:?}");
}

/// What writes to a table change in the pipe that is written; none if that is anything.
fn copy(target: &Target<'_>, table: &Table) -> Option<TableBefore> {
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
    Some(TableBefore {
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

fn put_back(target: &mut Target<'_>, before: TableBefore) {
    target.enter(before.pipe);
    if let Ok(state) = target.state_mut() {
        state.put_back(before.part);
    }
    let kept = &mut *target.kept;
    match before.handles {
        Some(handles) => drop(kept.handles.insert(before.table, handles)),
        None => drop(kept.handles.remove(&before.table)),
    }
    kept.shadow.put_back(before.table, before.shadow);
    if let Object::Match(table) = before.object {
        kept.ageing.put_back(table, before.ages);
    }
    if let (Object::Groups(profile), Some(groups)) = (before.object, before.groups) {
        kept.groups.put_back(profile, groups);
    }
}
