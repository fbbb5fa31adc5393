//! Idle timeouts. In notify mode a table is swept at intervals: each sweep takes the interval from the time
//! that an entry has left, or gives it its whole time to live where it was hit since; clients hear of entries
//! whose time is over, and of those that are hit again. In poll mode clients ask which entries were hit.

use std::collections::BTreeMap;

use p4cc_exec::State;
use p4cc_exec::control::TableEntry;
use p4cc_ir::{MatchValue, TableId};
use p4cc_units::{Span, Time};

use super::matching::Identity;

/// What became of an entry between two sweeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Its time is over.
    Idle,
    /// It is hit again.
    Active,
}

/// Ages of all entries that have some.
#[derive(Clone, Debug, Default)]
pub struct Ageing {
    tables: BTreeMap<TableId, Ages>,
}

#[derive(Clone, Debug, Default)]
struct Ages {
    sweeps: Option<Sweeps>,
    entries: BTreeMap<(Vec<MatchValue>, u32), Age>,
}

#[derive(Clone, Copy, Debug)]
struct Sweeps {
    interval: Span,
    next: Time,
    last: Time,
}

#[derive(Clone, Copy, Debug, Default)]
struct Age {
    /// 0 for no end.
    ttl_ns: u64,
    left_ns: u64,
    is_idle: bool,
    /// What polls answer.
    was_hit: bool,
    polled: Time,
}

impl Age {
    fn new(ttl_ns: u64) -> Self {
        Self { ttl_ns, left_ns: ttl_ns, ..Self::default() }
    }

    /// The sweeps up to a time.
    fn pass(&mut self, sweeps: Sweeps, until: Time, last_hit: Time) -> Option<Change> {
        let interval_ns = sweeps.interval.as_ns().max(1);
        // A packet of the very instant of the last sweep may have come behind it.
        let was_hit = last_hit >= sweeps.last && last_hit != Time::ZERO;
        let from = if was_hit { self.ttl_ns } else { self.left_ns };
        let count = match was_hit {
            true => until.since(last_hit).as_ns() / interval_ns,
            false => until.since(sweeps.last).as_ns() / interval_ns,
        };
        self.left_ns = from.saturating_sub(count.saturating_mul(interval_ns));
        let was_idle = std::mem::replace(&mut self.is_idle, self.left_ns == 0);
        match (was_idle, self.is_idle) {
            (false, true) => Some(Change::Idle),
            (true, false) => Some(Change::Active),
            _ => None,
        }
    }
}

/// Ages of one table's entries.
#[derive(Clone, Debug)]
pub struct AgesOf(Ages);

impl Ageing {
    /// Ages of a table's entries, if it has some.
    pub fn of(&self, table: TableId) -> Option<AgesOf> {
        self.tables.get(&table).cloned().map(AgesOf)
    }

    /// Ages as they were.
    pub fn put_back(&mut self, table: TableId, ages: Option<AgesOf>) {
        match ages {
            Some(AgesOf(ages)) => drop(self.tables.insert(table, ages)),
            None => drop(self.tables.remove(&table)),
        }
    }

    /// Whether some table is swept.
    pub fn is_on(&self) -> bool {
        self.tables.values().any(|ages| ages.sweeps.is_some())
    }

    /// An entry was written: its time to live, where the request says it, begins.
    pub fn set(&mut self, table: TableId, at: &Identity, ttl_ns: Option<u64>, starts_anew: bool) {
        let entries = &mut self.tables.entry(table).or_default().entries;
        let age = entries.entry((at.matches.clone(), at.priority)).or_insert_with(|| Age::new(0));
        match ttl_ns {
            Some(ttl_ns) => *age = Age { was_hit: age.was_hit, polled: age.polled, ..Age::new(ttl_ns) },
            None if starts_anew => (age.left_ns, age.is_idle) = (age.ttl_ns, false),
            None => {}
        }
    }

    /// An entry is gone.
    pub fn forget(&mut self, table: TableId, at: &Identity) {
        if let Some(ages) = self.tables.get_mut(&table) {
            ages.entries.remove(&(at.matches.clone(), at.priority));
        }
    }

    /// All entries of a table are gone.
    pub fn clear(&mut self, table: TableId) {
        if let Some(ages) = self.tables.get_mut(&table) {
            ages.entries.clear();
        }
    }

    /// Sweeps a table at an interval from now on, or no more.
    pub fn configure(&mut self, table: TableId, interval: Option<Span>, now: Time) {
        let ages = self.tables.entry(table).or_default();
        ages.sweeps = interval.map(|interval| Sweeps { interval, next: now + interval, last: now });
    }

    /// Milliseconds that an entry has left.
    pub fn left_ms(&self, table: TableId, at: &Identity) -> u64 {
        self.age(table, at).map_or(0, |age| age.left_ns.div_ceil(1_000_000))
    }

    /// Whether an entry's time is over.
    pub fn is_idle(&self, table: TableId, at: &Identity) -> bool {
        self.age(table, at).is_some_and(|age| age.is_idle)
    }

    fn age(&self, table: TableId, at: &Identity) -> Option<&Age> {
        self.tables.get(&table)?.entries.get(&(at.matches.clone(), at.priority))
    }

    /// Whether an entry was hit before the last poll; `looks` counts hits since then too.
    pub fn was_hit(&self, state: &State, table: TableId, at: &Identity, looks: bool) -> bool {
        let Some(age) = self.age(table, at) else { return false };
        let hit_since = || {
            let hit = state.last_hit(table, &at.matches, at.priority).unwrap_or(Time::ZERO);
            hit > age.polled
        };
        age.was_hit || (looks && hit_since())
    }

    /// Sets what polls answer for an entry.
    pub fn set_hit(&mut self, table: TableId, at: &Identity, was_hit: bool) {
        let entries = &mut self.tables.entry(table).or_default().entries;
        let key = (at.matches.clone(), at.priority);
        entries.entry(key).or_insert_with(|| Age::new(0)).was_hit = was_hit;
    }

    /// Polls a table: what was hit since the last time counts as hit until the next.
    pub fn poll(&mut self, state: &State, table: TableId, now: Time) {
        let Some(ages) = self.tables.get_mut(&table) else { return };
        ages.entries.retain(|(matches, priority), age| {
            let Ok(hit) = state.last_hit(table, matches, *priority) else { return false };
            age.was_hit = hit > age.polled;
            age.polled = now;
            true
        });
    }

    /// The sweeps that are due: entries whose time is over, and those that are hit again.
    pub fn sweep(&mut self, state: &State, now: Time) -> Vec<(TableId, TableEntry, Change)> {
        let mut changes = Vec::new();
        for (table, ages) in &mut self.tables {
            let Some(sweeps) = ages.sweeps.filter(|sweeps| sweeps.next <= now) else { continue };
            let interval_ns = sweeps.interval.as_ns().max(1);
            let count = now.since(sweeps.next).as_ns() / interval_ns;
            let until = sweeps.next + Span::from_ns(count.saturating_mul(interval_ns));
            ages.entries.retain(|(matches, priority), age| {
                let Ok(entry) = state.table_entry(*table, matches, *priority) else { return false };
                let hit = state.last_hit(*table, matches, *priority).unwrap_or(Time::ZERO);
                if age.ttl_ns > 0
                    && let Some(change) = age.pass(sweeps, until, hit)
                {
                    changes.push((*table, entry.clone(), change));
                }
                true
            });
            ages.sweeps = Some(Sweeps { next: until + sweeps.interval, last: until, ..sweeps });
        }
        changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ns(ms * MS)
    }

    #[test]
    fn an_entry_loses_its_time_sweep_by_sweep_and_gets_it_back_when_it_is_hit() {
        let mut age = Age::new(2_500 * MS);
        let sweeps = |last: u64| Sweeps {
            interval: Span::from_ns(1_000 * MS),
            next: at(last + 1_000),
            last: at(last),
        };
        assert_eq!(age.pass(sweeps(0), at(1_000), Time::ZERO), None);
        assert_eq!(age.left_ns, 1_500 * MS);
        assert_eq!(age.pass(sweeps(1_000), at(2_000), at(1_700)), None, "hit");
        assert_eq!(age.left_ns, 2_500 * MS);
        assert_eq!(age.pass(sweeps(2_000), at(5_000), at(1_700)), Some(Change::Idle), "three at once");
        assert_eq!(age.pass(sweeps(5_000), at(6_000), at(1_700)), None, "told once");
        assert_eq!(age.pass(sweeps(6_000), at(7_000), at(6_100)), Some(Change::Active));
        assert_eq!(age.left_ns, 2_500 * MS);
    }
}
