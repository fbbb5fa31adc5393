//! Entries of the chip's tables as clients wrote them: what is read back, and what the switch is told of.
//!
//! A table either has its cells at all times, as the queues of a port, or entries that come and go. Each
//! change is told to the switch by the table's own rule; a change that the switch refuses is undone.

use std::collections::BTreeMap;

use p4cc_ir::Bits;
use p4cc_p4runtime::errors::Failure;
use tonic::Code;

use crate::fields::{Match, Row, Value};
use crate::schema::{Action, Key, Table, Type};
use crate::tables::{Done, needs_key};
use crate::target::{Entry, Target, Verb};

/// Most entries of one table, however many the chip has.
const MAX_ROWS: usize = 65_536;
/// Most members in a list of one entry.
const MAX_MEMBERS: usize = 4_096;

/// A key, all its fields in the order of the table.
pub type RowKey = Vec<Match>;

/// An entry.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FixedEntry {
    /// The action's number; 0 for none.
    pub action: u32,
    /// Data fields by their numbers.
    pub data: BTreeMap<u32, Value>,
}

/// Entries by table and key. A table without key fields has one, under the empty key.
#[derive(Clone, Debug, Default)]
pub struct Rows(BTreeMap<u32, BTreeMap<RowKey, FixedEntry>>);

impl Rows {
    /// An entry that was written.
    pub fn get(&self, table: u32, key: &RowKey) -> Option<&FixedEntry> {
        self.0.get(&table)?.get(key)
    }

    /// All entries that were written, by key.
    pub fn of(&self, table: u32) -> impl Iterator<Item = (&RowKey, &FixedEntry)> {
        self.0.get(&table).into_iter().flatten()
    }

    /// How many entries were written.
    pub fn len(&self, table: u32) -> usize {
        self.0.get(&table).map_or(0, BTreeMap::len)
    }

    /// Takes a member out of the lists of all entries of a table.
    pub fn drop_member(&mut self, table: u32, lists: &[u32], member: u32) {
        let Some(&first) = lists.first() else { return };
        for row in self.0.get_mut(&table).into_iter().flat_map(BTreeMap::values_mut) {
            let keep: Vec<bool> = row.numbers(first).iter().map(|one| *one != member).collect();
            retain_in(row, lists, &keep);
        }
    }

    fn set(&mut self, table: u32, key: RowKey, row: Option<FixedEntry>) {
        let rows = self.0.entry(table).or_default();
        match row {
            Some(row) => drop(rows.insert(key, row)),
            None => drop(rows.remove(&key)),
        }
    }
}

/// A change as the switch is told of it.
pub struct Change<'a> {
    /// The table.
    pub table: &'a Table,
    /// Which entry.
    pub key: &'a RowKey,
    /// What it was; none if it was not there.
    pub old: Option<&'a FixedEntry>,
    /// What it becomes; none if it goes, or a cell begins anew.
    pub new: Option<&'a FixedEntry>,
    /// What the request gives, where it writes.
    pub given: &'a [u32],
}

/// How a table is kept.
#[derive(Clone, Copy)]
pub struct Rule {
    /// All its cells are there at all times.
    pub cells: bool,
    /// An entry may be added that is there already.
    pub adds_again: bool,
    /// An entry that is not there may be deleted.
    pub forgives: bool,
    /// A read of all gives so many cells, from 0 on; 0 gives those that were written.
    pub count: u32,
    /// Lists that go together, the first of them with the members' numbers.
    pub lists: &'static [&'static [u32]],
    /// What the switch does with a change.
    pub effect: fn(&mut Target<'_>, &Change<'_>) -> Result<(), Failure>,
    /// What is read of the switch itself, over what was written.
    pub live: fn(&Target<'_>, &Table, &RowKey, &mut FixedEntry),
}

impl Change<'_> {
    /// The number in a key field, by its position.
    pub fn number(&self, at: usize) -> u64 {
        key_number(self.key, at)
    }
}

/// The number in a key field, by its position.
pub fn key_number(key: &RowKey, at: usize) -> u64 {
    match key.get(at) {
        Some(Match::Exact(value)) => value.low_u64(),
        _ => 0,
    }
}

impl FixedEntry {
    /// A number, by the field's number; 0 if there is none.
    pub fn number(&self, id: u32) -> u64 {
        match self.data.get(&id) {
            Some(Value::Number(value)) => value.low_u64(),
            _ => 0,
        }
    }

    /// Truth, by the field's number.
    pub fn flag(&self, id: u32) -> bool {
        matches!(self.data.get(&id), Some(Value::Bool(true)))
    }

    /// Text, by the field's number.
    pub fn text(&self, id: u32) -> &str {
        match self.data.get(&id) {
            Some(Value::Text(text)) => text,
            _ => "",
        }
    }

    /// An array, by the field's number.
    pub fn numbers(&self, id: u32) -> &[u32] {
        match self.data.get(&id) {
            Some(Value::Numbers(values)) => values,
            _ => &[],
        }
    }

    /// An array of truths, by the field's number.
    pub fn flags(&self, id: u32) -> &[bool] {
        match self.data.get(&id) {
            Some(Value::Bools(values)) => values,
            _ => &[],
        }
    }

    /// Sets a number of the field's width.
    pub fn set_number(&mut self, table: &Table, id: u32, value: u64) {
        let action = table.action(self.action);
        if let Some((_, field)) = table.field(action, id) {
            let width = field.ty.width();
            let most = if width >= 64 { u64::MAX } else { (1 << width) - 1 };
            self.data.insert(id, Value::Number(Bits::from_u128(width, value.min(most).into())));
        }
    }
}

/// The number of a data field by its name; 0 where the chip's table has none of that name.
pub fn id_of(table: &Table, name: &str) -> u32 {
    let all = table.actions.iter().flat_map(|action| &action.data).chain(&table.data);
    all.flat_map(|data| &data.fields).find(|field| field.name == name).map_or(0, |field| field.id)
}

/// The value of a field that nobody set.
fn unset(ty: &Type, repeated: bool) -> Value {
    match ty {
        Type::Container(_) => Value::Rows(Vec::new()),
        Type::Bool(_) if repeated => Value::Bools(Vec::new()),
        Type::Text(..) if repeated => Value::Texts(Vec::new()),
        _ if repeated => Value::Numbers(Vec::new()),
        Type::Int(_, default) | Type::Bytes(_, default) => {
            Value::Number(Bits::from_u128(ty.width(), default.unwrap_or(0).into()))
        }
        Type::Bool(default) => Value::Bool(default.unwrap_or(false)),
        Type::Float(default) => Value::Float(default.unwrap_or(0.0)),
        Type::Text(choices, default) => {
            Value::Text(default.clone().or_else(|| choices.first().cloned()).unwrap_or_default())
        }
    }
}

/// An entry of which nothing is set.
pub fn unset_row(table: &Table, action: Option<&Action>) -> FixedEntry {
    let fields = action.into_iter().flat_map(|action| &action.data).chain(&table.data);
    let fields = fields.flat_map(|data| &data.fields);
    let data = fields.map(|field| (field.id, unset(&field.ty, field.repeated))).collect();
    FixedEntry { action: action.map_or(0, |action| action.id), data }
}

/// The key of a request, fields that are left out at their default, 0 or no text.
pub fn key_of(entry: &Entry<'_>) -> Result<RowKey, Failure> {
    if entry.table.key.is_empty() {
        return Ok(Vec::new());
    }
    let given = entry.key.as_ref().ok_or_else(|| needs_key(entry))?;
    let value = |key: &Key| match given.iter().find(|one| one.key.id == key.id) {
        Some(one) => one.value.clone(),
        None => match key.ty {
            Type::Text(..) => Match::Text(String::new()),
            Type::Int(_, Some(default)) => Match::Exact(Bits::from_u128(key.ty.width(), default.into())),
            _ => Match::Exact(Bits::zero(key.ty.width())),
        },
    };
    Ok(entry.table.key.iter().map(value).collect())
}

/// Whether a request is for all entries of a table.
fn is_for_all(entry: &Entry<'_>) -> bool {
    entry.key.is_none() && !entry.table.key.is_empty()
}

/// Applies a write.
///
/// # Errors
/// An entry that is there or not, a table that is full, or what the switch refuses.
pub fn write(target: &mut Target<'_>, verb: Verb, entry: &Entry<'_>, rule: Rule) -> Result<Done, Failure> {
    let table = entry.table;
    if matches!(verb, Verb::Delete | Verb::Reset) && is_for_all(entry) {
        let keys: Vec<RowKey> = target.kept.fixed.rows.of(table.id).map(|(key, _)| key.clone()).collect();
        keys.iter().try_for_each(|key| change(target, table, key, None, &[], rule))?;
        return Ok(Done::Applied);
    }
    let key = key_of(entry)?;
    let old = target.kept.fixed.rows.get(table.id, &key).cloned();
    let is_there = rule.cells || table.key.is_empty() || old.is_some();
    match verb {
        Verb::Delete | Verb::Reset => {
            if !is_there {
                return if rule.forgives { Ok(Done::Applied) } else { Err(absent(table)) };
            }
            change(target, table, &key, None, &[], rule)?;
            return Ok(Done::Applied);
        }
        Verb::Insert if old.is_some() && !rule.adds_again && !rule.cells => {
            return Err(Failure::new(
                Code::AlreadyExists,
                format!("table {}: the entry is there already", table.name),
            ));
        }
        Verb::Modify | Verb::Add | Verb::Remove if !is_there => return Err(absent(table)),
        _ => {}
    }
    if old.is_none() && target.kept.fixed.rows.len(table.id) >= MAX_ROWS.min(most(table)) {
        return Err(Failure::exhausted(format!("table {}: it is full", table.name)));
    }
    // A new entry has what nobody set at its default, and so has one that gets another action.
    let action = entry.action.or_else(|| old.as_ref().and_then(|old| table.action(old.action)));
    let start = unset_row(table, action);
    let mut new = match &old {
        Some(old) if verb != Verb::Insert && old.action == start.action => old.clone(),
        Some(old) if verb != Verb::Insert => {
            let common = old.data.iter().filter(|(id, _)| table.field(None, **id).is_some());
            let mut new = start;
            new.data.extend(common.map(|(id, value)| (*id, value.clone())));
            new
        }
        _ => start,
    };
    for given in &entry.data {
        if matches!(verb, Verb::Add | Verb::Remove)
            && rule.lists.iter().any(|list| list.contains(&given.field.id))
        {
            continue;
        }
        apply(table, verb, &mut new, given.field.id, &given.value)?;
    }
    for list in rule.lists {
        let given = |id: u32| entry.data.iter().find(|given| given.field.id == id).map(|given| &given.value);
        apply_lists(table, verb, &mut new, list, &given)?;
    }
    let given: Vec<u32> = entry.data.iter().map(|given| given.field.id).collect();
    let was_there = old.is_some();
    change(target, table, &key, Some(new), &given, rule)?;
    Ok(if verb == Verb::InsertOrModify && was_there { Done::Modified } else { Done::Applied })
}

fn most(table: &Table) -> usize {
    usize::try_from(table.size).unwrap_or(usize::MAX)
}

fn absent(table: &Table) -> Failure {
    Failure::not_found(format!("table {}: there is no such entry", table.name))
}

/// Sets a field, or adds to its list and takes from it.
fn apply(table: &Table, verb: Verb, row: &mut FixedEntry, id: u32, given: &Value) -> Result<(), Failure> {
    let value = match (verb, row.data.get(&id), given) {
        (Verb::Add, Some(Value::Numbers(old)), Value::Numbers(more)) => {
            let fresh = more.iter().filter(|one| !old.contains(one));
            Value::Numbers(old.iter().chain(fresh).copied().collect())
        }
        (Verb::Remove, Some(Value::Numbers(old)), Value::Numbers(less)) => {
            Value::Numbers(old.iter().filter(|one| !less.contains(one)).copied().collect())
        }
        (Verb::Add | Verb::Remove, ..) => {
            return Err(Failure::unimplemented(format!(
                "table {}: only lists of numbers are added to; write the whole entry by MODIFY",
                table.name
            )));
        }
        (_, _, given) => given.clone(),
    };
    row.data.insert(id, value);
    Ok(())
}

/// Adds members to lists that go together, or takes them out; checks that the lists are of one length.
fn apply_lists<'a>(
    table: &Table,
    verb: Verb,
    row: &mut FixedEntry,
    list: &[u32],
    given: &dyn Fn(u32) -> Option<&'a Value>,
) -> Result<(), Failure> {
    let Some(&first) = list.first() else { return Ok(()) };
    let members = row.numbers(first).to_vec();
    let named: &[u32] = match given(first) {
        Some(Value::Numbers(named)) => named,
        _ => &[],
    };
    match verb {
        Verb::Add => {
            for &id in list {
                let more = given(id).cloned().unwrap_or_else(|| filler(row.data.get(&id), named.len()));
                let joined = match (row.data.get(&id), more) {
                    (Some(Value::Numbers(old)), Value::Numbers(more)) => {
                        Value::Numbers([old.as_slice(), &more].concat())
                    }
                    (Some(Value::Bools(old)), Value::Bools(more)) => {
                        Value::Bools([old.as_slice(), &more].concat())
                    }
                    (_, more) => more,
                };
                row.data.insert(id, joined);
            }
        }
        Verb::Remove => {
            let keep: Vec<bool> = members.iter().map(|member| !named.contains(member)).collect();
            retain_in(row, list, &keep);
        }
        _ => {}
    }
    let length = |value: Option<&Value>| match value {
        Some(Value::Numbers(values)) => values.len(),
        Some(Value::Bools(values)) => values.len(),
        _ => 0,
    };
    let wanted = list.first().map_or(0, |id| length(row.data.get(id)));
    if wanted > MAX_MEMBERS {
        return Err(Failure::exhausted(format!("table {}: more than {MAX_MEMBERS} members", table.name)));
    }
    for id in list {
        if length(row.data.get(id)) == 0 {
            let filled = filler(row.data.get(id), wanted);
            row.data.insert(*id, filled);
        } else if length(row.data.get(id)) != wanted {
            let name = table.field(None, *id).map_or("", |(_, field)| field.name.as_str());
            return Err(Failure::invalid(format!(
                "table {}: {name} has {} values for {wanted} members; give one for each",
                table.name,
                length(row.data.get(id))
            )));
        }
    }
    Ok(())
}

/// So many values of a list's kind.
fn filler(like: Option<&Value>, count: usize) -> Value {
    match like {
        Some(Value::Bools(_)) => Value::Bools(vec![false; count]),
        _ => Value::Numbers(vec![0; count]),
    }
}

fn retain_in(row: &mut FixedEntry, lists: &[u32], keep: &[bool]) {
    for id in lists {
        match row.data.get_mut(id) {
            Some(Value::Numbers(values)) => retain(values, keep),
            Some(Value::Bools(values)) => retain(values, keep),
            _ => {}
        }
    }
}

fn retain<T>(values: &mut Vec<T>, keep: &[bool]) {
    let mut at = 0;
    values.retain(|_| {
        at += 1;
        keep.get(at - 1).copied().unwrap_or(true)
    });
}

/// Makes a change, unless the switch refuses it.
fn change(
    target: &mut Target<'_>,
    table: &Table,
    key: &RowKey,
    new: Option<FixedEntry>,
    given: &[u32],
    rule: Rule,
) -> Result<(), Failure> {
    let old = target.kept.fixed.rows.get(table.id, key).cloned();
    (rule.effect)(target, &Change { table, key, old: old.as_ref(), new: new.as_ref(), given })?;
    target.kept.fixed.rows.set(table.id, key.clone(), new);
    Ok(())
}

/// Reads an entry, or all that were written.
///
/// # Errors
/// An entry that is not there.
pub fn read(target: &Target<'_>, entry: &Entry<'_>, rule: Rule) -> Result<Vec<Row>, Failure> {
    let table = entry.table;
    let shown = |key: &RowKey, row: &FixedEntry| {
        let mut row = row.clone();
        (rule.live)(target, table, key, &mut row);
        let fields = table.key.iter().map(|field| field.id).zip(key.iter().cloned()).collect();
        let key = (!table.key.is_empty()).then_some(fields);
        Row { key, action: row.action, data: row.data.into_iter().collect() }
    };
    if is_for_all(entry) && rule.count > 0 {
        let width = table.key.first().map_or(0, |key| key.ty.width());
        let unset = unset_row(table, table.actions.first());
        let cell = |at: u32| {
            let key = vec![Match::Exact(Bits::from_u128(width, at.into()))];
            shown(&key, target.kept.fixed.rows.get(table.id, &key).unwrap_or(&unset))
        };
        return Ok((0..rule.count).map(cell).collect());
    }
    if is_for_all(entry) {
        return Ok(target.kept.fixed.rows.of(table.id).map(|(key, row)| shown(key, row)).collect());
    }
    let key = key_of(entry)?;
    match target.kept.fixed.rows.get(table.id, &key) {
        Some(row) => Ok(vec![shown(&key, row)]),
        None if rule.cells || table.key.is_empty() => {
            Ok(vec![shown(&key, &unset_row(table, table.actions.first()))])
        }
        None => Err(absent(table)),
    }
}

/// A change that the switch knows nothing of.
pub fn no_effect(_: &mut Target<'_>, _: &Change<'_>) -> Result<(), Failure> {
    Ok(())
}

/// Nothing is read but what was written.
pub fn as_written(_: &Target<'_>, _: &Table, _: &RowKey, _: &mut FixedEntry) {}

/// Keeps what is written, to be read back; the switch does nothing with it.
pub const KEPT: Rule = Rule {
    cells: true,
    adds_again: true,
    forgives: false,
    count: 0,
    lists: &[],
    effect: no_effect,
    live: as_written,
};
/// The same with entries that come and go.
pub const ENTRIES: Rule = Rule { cells: false, adds_again: false, ..KEPT };
