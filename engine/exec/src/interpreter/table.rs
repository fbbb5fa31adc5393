//! Table lookups and the start of actions in the interpreter.

use p4cc_ir::{ActionId, CounterId, TableId};

use super::{Run, get};
use crate::env::{Trace, Values};
use crate::frame_layout::NO_SLOT;
use crate::state::Chosen;

impl<T: Trace> Run<'_, '_, '_, T> {
    /// Looks the key up, writes hit and action, sets the action's parameters; the address to go on at.
    pub(crate) fn apply(&mut self, table: u32, hit_slot: u32, action_slot: u32) -> Option<u32> {
        let code = self.code;
        let plan = &code.tables[table as usize];
        let key = self.code.layout.key as usize;
        let mut last = u32::MAX;
        for &(from, word, shift) in &plan.parts {
            let value = get(self.slots, from) << shift;
            let to = &mut self.slots[key + word as usize];
            // The first field of a packed word replaces what an earlier table left there.
            *to = if word == last { *to | value } else { value };
            last = word;
        }
        let key = key..key + plan.words as usize;
        let row = self.row(table, &self.slots[key]);
        let hash = self.selector_hash(table, row);
        let env = self.env.as_mut()?;
        let chosen = env.state.choose(TableId(table), row, hash, env.packet_length, env.now);
        let Chosen { head, args, color } = chosen;
        let metered = plan.color.is_some();
        if let Some(slot) = plan.color {
            self.slots[slot as usize] = color;
        }
        if let Some(slot) = plan.entry {
            self.slots[slot as usize] = row.into();
        }
        if hit_slot != NO_SLOT {
            self.slots[hit_slot as usize] = u64::from(head.is_hit());
        }
        if action_slot != NO_SLOT {
            self.slots[action_slot as usize] = u64::from(head.position());
        }
        if T::ENABLED {
            self.trace.table(TableId(table), head.is_hit().then_some(row), Values(self.slots));
            if metered && head.is_hit() {
                self.trace.direct_meter(TableId(table), color);
            }
        }
        let action = head.action()?;
        let plan = &self.code.actions[action.index()];
        for (&to, &from) in plan.param_words.iter().zip(args) {
            self.slots[to as usize] = from;
        }
        if T::ENABLED {
            self.trace.action(action, false, Values(self.slots));
        }
        Some(plan.entry)
    }

    /// The row of the entry that a packed key hits; 0 on a miss.
    #[inline]
    fn row(&self, table: u32, key: &[u64]) -> u32 {
        self.env.as_ref().map_or(0, |env| env.state.lookup(TableId(table), key))
    }

    /// The hash that chooses a group's member; 0 where the entry is no group.
    #[inline]
    pub(crate) fn selector_hash(&mut self, table: u32, row: u32) -> u64 {
        let code = self.code;
        let Some((algorithm, data)) = &code.tables[table as usize].selector else { return 0 };
        let grouped = self.env.as_ref().is_some_and(|env| env.state.is_list(TableId(table), row));
        if grouped { self.hash(*algorithm, data) } else { 0 }
    }

    pub(crate) fn enter_action(&mut self, action: u32) -> u32 {
        if T::ENABLED {
            // Its own return address stands there already.
            let within = self.calls.len() > 1;
            self.trace.action(ActionId(action), within, Values(self.slots));
        }
        self.code.actions[action as usize].entry
    }

    #[inline]
    pub(crate) fn count(&mut self, counter: u32, index: u32) {
        let index = get(self.slots, index);
        if let Some(env) = self.env.as_mut() {
            env.state.count(CounterId(counter), index, env.packet_length);
        }
    }
}
