//! Pipes of the chip: which of them a request is for, by the scope of its table, and how what the pipes have
//! comes together in one answer.
//!
//! A table has the same entries in all pipes, or entries of its own for each pipe, or for sets of pipes that
//! a client chose. Clients name such a set by its lowest pipe, and all pipes together by 0xffff. Counters and
//! registers are each pipe's own in any case.

use p4cc_exec::control::TableEntry;
use p4cc_ir::{Bits, TableId};
use p4cc_p4runtime::errors::Failure;
use tonic::Code;

use crate::fields::{Row, Value};
use crate::proto::bfrt_proto as wire;
use crate::schema::{Field, Means, Object, Table};
use crate::tables::ageing::Change;
use crate::tables::matching::Identity;
use crate::tables::parts;
use crate::target::{ALL_PIPES, Entry, Target};
use wire::mode::{PredefinedMode, Scope as ModeScope};

/// Pipes of both chips in their largest form.
pub const PIPES: usize = 4;
/// Bits of a scope that a client chooses, for each set of pipes.
const BITS_OF_A_SET: u32 = 8;

/// Pipes that have the same entries of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// What clients call it.
    pub id: u32,
    /// Its pipes.
    pub pipes: Vec<usize>,
}

impl Instance {
    fn of(pipes: Vec<usize>) -> Self {
        Self { id: pipes.first().map_or(ALL_PIPES, |pipe| *pipe as u32), pipes }
    }
}

/// Which pipes a mode joins. Pipes that it leaves out have no entries.
pub fn instances(mode: Option<&wire::Mode>, pipes: usize) -> Vec<Instance> {
    match mode.and_then(|mode| mode.scope) {
        Some(ModeScope::Predef(mode)) if mode == PredefinedMode::Single as i32 => {
            (0..pipes).map(|pipe| Instance::of(vec![pipe])).collect()
        }
        Some(ModeScope::UserDefined(bits)) => {
            let sets = (0..u64::BITS / BITS_OF_A_SET).map(|set| bits >> (set * BITS_OF_A_SET) & 0xff);
            let set = |set: u64| (0..pipes).filter(|pipe| set >> pipe & 1 == 1).collect::<Vec<_>>();
            sets.map(set).filter(|set| !set.is_empty()).map(Instance::of).collect()
        }
        _ => vec![Instance { id: ALL_PIPES, pipes: (0..pipes).collect() }],
    }
}

/// How a table stands to the pipes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Entries, by the table's scope.
    Entries,
    /// Cells that are there at all times, each pipe's own.
    Cells,
    /// The chip has it once.
    Once,
}

fn kind(table: &Table) -> Kind {
    match table.object {
        Object::Match(_)
        | Object::Members(_)
        | Object::Groups(_)
        | Object::GetMember(_)
        | Object::ValueSet(_) => Kind::Entries,
        Object::Counter(_)
        | Object::Meter(_)
        | Object::Register(_)
        | Object::RegisterParam(_)
        | Object::Lpf(_)
        | Object::Wred(_)
        | Object::HashAlgorithm(_)
        | Object::HashConfigure(_)
        | Object::HashCompute(_) => Kind::Cells,
        Object::PortMetadata(_) | Object::Fixed => Kind::Once,
    }
}

/// The instances of a table. Members and groups go with the match tables that use them.
fn instances_of(target: &Target<'_>, table: &Table) -> Vec<Instance> {
    let scope_of = |id: u32| target.kept.attributes.pipe_scope(id);
    let mode = match table.object {
        Object::Members(profile) | Object::Groups(profile) | Object::GetMember(profile) => {
            let uses = |one: &&Table| match one.object {
                Object::Match(id) => target.program.tables[id.index()].profile == Some(profile),
                _ => false,
            };
            target.schema.tables.iter().filter(uses).find_map(|one| scope_of(one.id))
        }
        _ => scope_of(table.id),
    };
    instances(mode.as_ref(), target.switch.observation().pipes())
}

fn no_such_pipe(target: &Target<'_>, pipe: u32) -> Failure {
    Failure::invalid(format!(
        "there is no pipe {pipe}; this device has 0 to {}",
        target.switch.observation().pipes() - 1
    ))
}

fn not_here(table: &Table, pipe: u32) -> Failure {
    let place = if pipe == ALL_PIPES { "all pipes together".to_owned() } else { format!("pipe {pipe}") };
    Failure::not_found(format!(
        "table {}: by its scope it has no entries of {place}; name the lowest pipe of a set, or 0xffff for ALL",
        table.name
    ))
}

/// The pipe that a request names, none for all.
fn named(target: &Target<'_>) -> Result<Option<usize>, Failure> {
    match target.scope.pipe {
        ALL_PIPES => Ok(None),
        // A device without pipes of their own is one for all.
        pipe if target.switch.observation().pipes() == 1 && pipe < PIPES as u32 => Ok(None),
        pipe if (pipe as usize) < target.switch.observation().pipes() => Ok(Some(pipe as usize)),
        pipe => Err(no_such_pipe(target, pipe)),
    }
}

/// The pipes that a request of a whole table is for, whatever the table's scope.
///
/// # Errors
/// There is no such pipe.
pub fn named_or_all(target: &Target<'_>) -> Result<Vec<usize>, Failure> {
    Ok(named(target)?.map_or_else(|| (0..target.switch.observation().pipes()).collect(), |pipe| vec![pipe]))
}

/// The pipes that a write of entries is for.
///
/// # Errors
/// The table has no entries of what the request names.
pub fn to_write(target: &Target<'_>, table: &Table, empties: bool) -> Result<Vec<usize>, Failure> {
    let named = named(target)?;
    match kind(table) {
        Kind::Once => Ok(vec![0]),
        Kind::Cells => {
            let instances = instances_of(target, table);
            let is_shared = instances.len() == 1 && instances[0].id == ALL_PIPES;
            Ok(match named {
                None => (0..target.switch.observation().pipes()).collect(),
                Some(pipe) if is_shared => vec![pipe],
                Some(pipe) => {
                    let joined = instances.into_iter().find(|one| one.pipes.contains(&pipe));
                    joined.map_or_else(|| vec![pipe], |one| one.pipes)
                }
            })
        }
        Kind::Entries => {
            let instances = instances_of(target, table);
            let id = named.map_or(ALL_PIPES, |pipe| pipe as u32);
            if let Some(instance) = instances.into_iter().find(|one| one.id == id) {
                return Ok(instance.pipes);
            }
            // A table is emptied in all pipes whatever its scope.
            if named.is_none() && empties {
                return Ok((0..target.switch.observation().pipes()).collect());
            }
            Err(not_here(table, id))
        }
    }
}

/// What a read is of.
#[derive(Debug, PartialEq, Eq)]
pub struct ToRead {
    /// The pipes whose cells come together in the answer; entries are those of the first.
    pub pipes: Vec<usize>,
    /// What clients call these pipes.
    pub id: u32,
}

/// The pipes that a read is of. Reads of the hardware may name any pipe of a set, others the lowest.
///
/// # Errors
/// The table has no entries of what the request names.
pub fn to_read(target: &Target<'_>, entry: &Entry<'_>) -> Result<ToRead, Failure> {
    let (table, named) = (entry.table, named(target)?);
    let all = || (0..target.switch.observation().pipes()).collect::<Vec<_>>();
    match kind(table) {
        Kind::Once => Ok(ToRead { pipes: vec![0], id: ALL_PIPES }),
        Kind::Cells => Ok(match named {
            None => ToRead { pipes: all(), id: ALL_PIPES },
            Some(pipe) => ToRead { pipes: vec![pipe], id: pipe as u32 },
        }),
        Kind::Entries => {
            let instances = instances_of(target, table);
            let given = named.map_or(ALL_PIPES, |pipe| pipe as u32);
            let has = |one: &&Instance| match named {
                _ if one.id == given => true,
                Some(pipe) => entry.from_hw && one.pipes.contains(&pipe),
                None => false,
            };
            let found = instances.iter().find(has);
            let Some(one) = found else {
                let failure = not_here(table, given);
                return Err(match entry.is_default {
                    true => Failure::new(Code::InvalidArgument, failure.message),
                    false => failure,
                });
            };
            // Of a set that is named by another pipe than its own, cells are those of this pipe.
            let pipes = match named {
                Some(pipe) if one.id != given => vec![pipe],
                _ => one.pipes.clone(),
            };
            Ok(ToRead { pipes, id: one.id })
        }
    }
}

/// The pipes of an entry that is named by its number, which says whose it is.
///
/// # Errors
/// The request names a pipe that the entry is not of.
pub fn to_read_by_number(target: &Target<'_>, entry: &Entry<'_>, owner: u32) -> Result<ToRead, Failure> {
    let table = entry.table;
    if kind(table) != Kind::Entries {
        return to_read(target, entry);
    }
    let instances = instances_of(target, table);
    let Some(one) = instances.into_iter().find(|one| one.id == owner) else {
        return Err(not_here(table, owner));
    };
    match named(target)? {
        None => Ok(ToRead { pipes: one.pipes, id: one.id }),
        Some(pipe) if pipe as u32 == one.id => Ok(ToRead { pipes: one.pipes, id: one.id }),
        Some(pipe) if entry.from_hw && one.pipes.contains(&pipe) => {
            Ok(ToRead { pipes: vec![pipe], id: one.id })
        }
        Some(pipe) if entry.from_hw => {
            Err(Failure::new(Code::InvalidArgument, not_here(table, pipe as u32).message))
        }
        Some(pipe) => Err(not_here(table, pipe as u32)),
    }
}

/// Whose entries a request of a table speaks of, as numbers of entries tell it.
pub fn owner(target: &Target<'_>, table: &Table) -> u32 {
    match kind(table) {
        Kind::Entries if target.switch.observation().pipes() > 1 => target.scope.pipe,
        Kind::Entries | Kind::Cells | Kind::Once => ALL_PIPES,
    }
}

/// What of a write goes into a further pipe: counters are sums, so that what is given goes into the first.
fn into_further<'a>(entry: &Entry<'a>) -> Option<Entry<'a>> {
    let counts = |field: &Field| matches!(field.means, Means::CounterBytes | Means::CounterPackets);
    if !entry.data.iter().any(|one| counts(one.field)) {
        return None;
    }
    let mut further = entry.clone();
    for one in further.data.iter_mut().filter(|one| counts(one.field)) {
        one.value = Value::Number(Bits::zero(one.field.ty.width()));
    }
    Some(further)
}

/// Puts together what the pipes have, each row with those of the other pipes that have its key.
fn join(of: &Table, mut by_pipe: Vec<Vec<Row>>) -> Vec<Row> {
    if by_pipe.len() < 2 {
        return by_pipe.pop().unwrap_or_default();
    }
    let mut others = by_pipe.split_off(1);
    let mut rows = by_pipe.pop().unwrap_or_default();
    for (at, row) in rows.iter_mut().enumerate() {
        let same = others.iter_mut().filter_map(|rows| {
            // They are in the same order but where another client wrote to one pipe.
            let is_it = |other: &Row| other.key == row.key && other.action == row.action;
            let place = if rows.get(at).is_some_and(is_it) { at } else { rows.iter().position(is_it)? };
            rows.get_mut(place).map(|other| std::mem::take(&mut other.data))
        });
        let same: Vec<_> = same.collect();
        let action = of.action(row.action);
        for (at, (id, value)) in row.data.iter_mut().enumerate() {
            let further: Vec<&Value> = same
                .iter()
                .filter_map(|data| data.get(at).filter(|(other, _)| other == id))
                .map(|(_, v)| v)
                .collect();
            let fields = action.into_iter().flat_map(|action| &action.data).chain(&of.data);
            let field = fields.flat_map(|data| &data.fields).find(|field| field.id == *id);
            if let Some(field) = field {
                *value = joined(of, field, value, &further);
            }
        }
    }
    rows
}

fn joined(of: &Table, field: &Field, first: &Value, further: &[&Value]) -> Value {
    let numbers = || further.iter().filter_map(|value| number(value));
    match (field.means, first) {
        (Means::CounterBytes | Means::CounterPackets, Value::Number(first)) => {
            let sum = numbers().fold(first.low_u64(), |sum, more| sum.wrapping_add(more.low_u64()));
            Value::Number(Bits::from_u128(first.width(), sum.into()))
        }
        (Means::Cell(..), Value::Number(first)) if !matches!(of.object, Object::RegisterParam(_)) => {
            Value::PerPipe(std::iter::once(first.clone()).chain(numbers().cloned()).collect())
        }
        (Means::Ttl, Value::Number(first)) => {
            let most = numbers().fold(first.low_u64(), |most, more| most.max(more.low_u64()));
            Value::Number(Bits::from_u128(first.width(), most.into()))
        }
        // An entry is active where one pipe meets it.
        (Means::HitState, Value::Text(_)) => {
            let active = |value: &&&Value| matches!(value, Value::Text(text) if text == parts::ACTIVE);
            further.iter().find(active).map_or_else(|| first.clone(), |value| (*value).clone())
        }
        _ => first.clone(),
    }
}

fn number(value: &Value) -> Option<&Bits> {
    match value {
        Value::Number(bits) => Some(bits),
        _ => None,
    }
}

/// Applies a write to each pipe that it is for. They have the same entries, so that the first speaks for all.
///
/// # Errors
/// What the table refuses.
pub fn write<T>(
    target: &mut Target<'_>,
    pipes: &[usize],
    entry: &Entry<'_>,
    apply: impl Fn(&mut Target<'_>, &Entry<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let further = into_further(entry);
    let mut done = Err(Failure::invalid("the request names no pipe"));
    for (at, pipe) in pipes.iter().enumerate() {
        target.enter(*pipe);
        done = match &further {
            Some(further) if at > 0 => apply(target, further),
            _ => apply(target, entry),
        };
        if done.is_err() {
            break;
        }
    }
    target.enter(0);
    done
}

/// Reads rows of pipes, and puts them together.
///
/// # Errors
/// What the table refuses.
pub fn read(
    target: &mut Target<'_>,
    pipes: &[usize],
    entry: &Entry<'_>,
    read: impl Fn(&mut Target<'_>, &Entry<'_>) -> Result<Vec<Row>, Failure>,
) -> Result<Vec<Row>, Failure> {
    // Where no pipe has anything of its own the first says all.
    let pipes = if has_own(entry.table) && !entry.key_only { pipes } else { &pipes[..pipes.len().min(1)] };
    let mut by_pipe = Vec::with_capacity(pipes.len());
    let mut done = Ok(());
    for pipe in pipes {
        target.enter(*pipe);
        match read(target, entry) {
            Ok(rows) => by_pipe.push(rows),
            Err(failure) => {
                done = Err(failure);
                break;
            }
        }
    }
    target.enter(0);
    done.map(|()| join(entry.table, by_pipe))
}

/// Whether a table has fields whose values are each pipe's own.
fn has_own(table: &Table) -> bool {
    let data = table.actions.iter().flat_map(|action| &action.data).chain(&table.data);
    let is_own = |field: &Field| {
        matches!(
            field.means,
            Means::CounterBytes | Means::CounterPackets | Means::Cell(..) | Means::Ttl | Means::HitState
        )
    };
    data.flat_map(|data| &data.fields).any(is_own)
}

/// Sweeps the ages of all pipes: entries that are idle in all pipes of a set since this sweep, or are not any
/// more, and whose set it is.
pub fn sweep(target: &mut Target<'_>) -> Vec<(u32, TableId, TableEntry, Change)> {
    let now = target.now;
    let mut found: Vec<(usize, TableId, TableEntry, Change)> = Vec::new();
    for pipe in 0..target.switch.observation().pipes() {
        target.enter(pipe);
        let Some(state) = target.switch.observation().state_of(pipe) else { continue };
        let changes = target.kept.ageing.sweep(state, now);
        found.extend(changes.into_iter().map(|(table, entry, change)| (pipe, table, entry, change)));
    }
    target.enter(0);
    let mut told: Vec<(u32, TableId, TableEntry, Change)> = Vec::new();
    for (pipe, table, entry, _) in &found {
        let of = target.schema.tables.iter().find(|one| one.object == Object::Match(*table));
        let instances = of.map(|of| instances_of(target, of)).unwrap_or_default();
        let Some(instance) = instances.into_iter().find(|one| one.pipes.contains(pipe)) else { continue };
        let is_same = |(of, entry): (TableId, &TableEntry), to: &TableEntry| {
            of == *table && (&entry.matches, entry.priority) == (&to.matches, to.priority)
        };
        if told.iter().any(|(id, of, one, _)| *id == instance.id && is_same((*of, one), entry)) {
            continue;
        }
        let changed = |at: usize| {
            let one = found.iter().find(|(pipe, of, one, _)| *pipe == at && is_same((*of, one), entry));
            one.map(|(.., change)| *change)
        };
        let at = Identity { matches: entry.matches.clone(), priority: entry.priority };
        let (mut idle_now, mut idle_before) = (true, true);
        for pipe in instance.pipes {
            target.enter(pipe);
            let is_idle = target.kept.ageing.is_idle(*table, &at);
            idle_now &= is_idle;
            idle_before &= changed(pipe).map_or(is_idle, |change| change == Change::Active);
        }
        target.enter(0);
        match (idle_before, idle_now) {
            (false, true) => told.push((instance.id, *table, entry.clone(), Change::Idle)),
            (true, false) => told.push((instance.id, *table, entry.clone(), Change::Active)),
            _ => {}
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(scope: ModeScope) -> wire::Mode {
        wire::Mode { scope: Some(scope), args: 0 }
    }

    fn ids(mode: Option<&wire::Mode>, pipes: usize) -> Vec<(u32, Vec<usize>)> {
        instances(mode, pipes).into_iter().map(|one| (one.id, one.pipes)).collect()
    }

    #[test]
    fn a_scope_says_which_pipes_have_the_same_entries() {
        assert_eq!(ids(None, 4), [(ALL_PIPES, vec![0, 1, 2, 3])]);
        let single = mode(ModeScope::Predef(PredefinedMode::Single as i32));
        assert_eq!(ids(Some(&single), 2), [(0, vec![0]), (1, vec![1])]);
        let two = mode(ModeScope::UserDefined(0x0c03));
        assert_eq!(ids(Some(&two), 4), [(0, vec![0, 1]), (2, vec![2, 3])]);
        let crossed = mode(ModeScope::UserDefined(0x0a05));
        assert_eq!(ids(Some(&crossed), 4), [(0, vec![0, 2]), (1, vec![1, 3])]);
        let beyond = mode(ModeScope::UserDefined(0xff00_0000_0000_00f1));
        assert_eq!(ids(Some(&beyond), 1), [(0, vec![0]), (0, vec![0])]);
    }
}
