//! Entries that fall idle and wake up.
//!
//! P4Runtime's notification comes again after every timeout ([`State::take_idle`]). BF Runtime tells each
//! change once, in both directions ([`State::take_idle_changes`]), or is asked ([`State::take_hit`]). Each
//! keeps marks of its own, so that they do not disturb one another.

use p4cc_ir::{MatchValue, TableId};
use p4cc_units::{Span, Time};

use super::State;
use crate::control::{ControlError, TableEntry};

/// How an entry changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleChange {
    /// Nobody hit it for as long as its timeout.
    Idle,
    /// It was hit after that.
    Active,
}

impl State {
    /// Takes the entries that fell idle or were hit again since the last call; each change comes once.
    pub fn take_idle_changes(&mut self, now: Time) -> Vec<(TableId, TableEntry, IdleChange)> {
        let mut changes = Vec::new();
        for (index, table) in self.tables.iter_mut().enumerate() {
            if !self.program.tables[index].idle_timeout {
                continue;
            }
            let id = TableId::from_index(index);
            for (stored, last_hit) in table.timers() {
                let timeout_ns = stored.entry.idle_timeout_ns;
                if stored.idle_since.is_some_and(|since| last_hit > since) {
                    stored.idle_since = None;
                    changes.push((id, stored.entry.clone(), IdleChange::Active));
                }
                let quiet = now.since(last_hit.max(stored.written)).as_ns() >= timeout_ns;
                if timeout_ns > 0 && stored.idle_since.is_none() && quiet {
                    stored.idle_since = Some(now);
                    changes.push((id, stored.entry.clone(), IdleChange::Idle));
                }
            }
        }
        changes
    }

    /// When the next entry falls idle, if no packet hits it until then.
    pub fn next_idle_change(&self) -> Option<Time> {
        let timed = self.program.tables.iter().zip(&self.tables).filter(|(table, _)| table.idle_timeout);
        let entries = timed.flat_map(|(_, table)| table.last_hits());
        let awake = entries
            .filter(|(stored, _)| stored.entry.idle_timeout_ns > 0 && stored.idle_since.is_none())
            .map(|(stored, hit)| hit.max(stored.written) + Span::from_ns(stored.entry.idle_timeout_ns));
        awake.min()
    }

    /// Whether an entry was hit since this was asked the last time.
    pub fn take_hit(
        &mut self,
        id: TableId,
        matches: &[MatchValue],
        priority: u32,
    ) -> Result<bool, ControlError> {
        let number = self.place(id, matches, priority)?;
        let last_hit = self.tables[id.index()].cells(number).map_or(Time::ZERO, |cells| cells.last_hit);
        let stored = self.tables[id.index()].get_mut(number).ok_or_else(|| Self::gone(id))?;
        let is_new = last_hit > stored.asked;
        stored.asked = last_hit;
        Ok(is_new)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use p4cc_ir::{Bits, Inst, MatchKind};

    use super::*;
    use crate::control::EntryAction;
    use crate::testing::ProgramBuilder;

    fn at(ns: u64) -> Time {
        Time::ZERO + Span::from_ns(ns)
    }

    #[test]
    fn each_change_is_told_once_in_both_directions() {
        let mut builder = ProgramBuilder::new();
        let key = builder.bits("k", 8);
        let action = builder.action("a", &[], |_| Vec::new());
        let id = builder.table("t", &[(key, MatchKind::Exact)], &[action]);
        builder.program.tables[id.index()].idle_timeout = true;
        builder.ingress(vec![Inst::Apply { table: id, hit: None, action: None }]);
        let mut state = State::new(&Arc::new(builder.compile()));
        let call = state.program().tables[id.index()].default_action.clone();
        let matches = vec![MatchValue::Exact(Bits::from_u128(8, 5))];
        let entry = TableEntry {
            matches: matches.clone(),
            priority: 0,
            action: EntryAction::Direct(call),
            metadata: Vec::new(),
            controller_metadata: 0,
            idle_timeout_ns: 100,
            is_const: false,
        };
        state.table_insert(id, entry).unwrap();
        state.start_timer(id, &matches, 0, at(50)).unwrap();
        let changes = |state: &mut State, now| -> Vec<IdleChange> {
            state.take_idle_changes(at(now)).into_iter().map(|(_, _, change)| change).collect()
        };
        let hit = |state: &mut State, now| {
            let row = state.lookup(id, &[5]);
            state.choose(id, row, 0, 60, at(now));
        };
        assert_eq!(state.next_idle_change(), Some(at(150)));
        assert_eq!(changes(&mut state, 149), []);
        assert_eq!(changes(&mut state, 150), [IdleChange::Idle]);
        assert_eq!(changes(&mut state, 400), [], "it is told once");
        assert_eq!(state.next_idle_change(), None);
        assert_eq!(state.take_hit(id, &matches, 0), Ok(false));
        hit(&mut state, 410);
        assert_eq!(state.take_hit(id, &matches, 0), Ok(true));
        assert_eq!(state.take_hit(id, &matches, 0), Ok(false));
        assert_eq!(changes(&mut state, 420), [IdleChange::Active]);
        assert_eq!(state.next_idle_change(), Some(at(510)));
        assert_eq!(changes(&mut state, 520), [IdleChange::Idle]);
        hit(&mut state, 530);
        assert_eq!(changes(&mut state, 700), [IdleChange::Active, IdleChange::Idle], "both since then");
    }
}
