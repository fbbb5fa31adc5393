//! Arrays that an observer reads whole, by the names that the source gives them.

use p4cc_ir::{Bits, MatchValue, Table};

use super::{State, validate};
use crate::control::EntryAction;

/// Kinds of arrays.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ArrayKind {
    /// A counter: a cell holds packets and bytes.
    Counter,
    /// A register of at most 64 bits a cell: a cell holds its value, and 0.
    Register,
    /// A meter: three cells for each of its own, what it coloured green, yellow and red.
    Meter,
    /// A table: the first cell holds misses, the others hits of entries, by their numbers. Of a table without
    /// a direct counter only where the state counts hits ([`State::counting_hits`]).
    Table,
}

impl ArrayKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Counter, Self::Register, Self::Meter, Self::Table];
}

/// An array of one program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Array {
    kind: ArrayKind,
    index: usize,
}

impl State {
    /// The array of this name; `None` where there is none, a counter is a table's own, or a register's cells
    /// have more than 64 bits.
    pub fn array(&self, kind: ArrayKind, name: &str) -> Option<Array> {
        let index = match kind {
            ArrayKind::Counter => {
                self.program.counters.iter().position(|one| one.cp.name == name && one.size.is_some())?
            }
            ArrayKind::Register => {
                let at = self.program.registers.iter().position(|one| one.cp.name == name)?;
                (self.registers.get(at)?.words_per_cell == 1).then_some(at)?
            }
            ArrayKind::Meter => {
                self.program.meters.iter().position(|one| one.cp.name == name && one.size.is_some())?
            }
            ArrayKind::Table => self.program.tables.iter().position(|one| one.cp.name == name)?,
        };
        Some(Array { kind, index })
    }

    /// The array's cells in order; an array of another program may have others, or none.
    pub fn array_cells(&self, array: Array) -> impl Iterator<Item = (u64, u64)> + '_ {
        let Array { kind, index } = array;
        let of = move |wanted| (kind == wanted).then_some(index);
        let counters = of(ArrayKind::Counter).and_then(|at| self.counters.get(at)).into_iter().flatten();
        let words = of(ArrayKind::Register).and_then(|at| self.registers.get(at));
        let words = words.into_iter().flat_map(|register| &register.words);
        let meters = of(ArrayKind::Meter).and_then(|at| self.meters.get(at)).into_iter().flatten();
        let tables = of(ArrayKind::Table).and_then(|at| self.tables.get(at));
        let cells = counters.copied().chain(meters.flat_map(|meter| meter.counts()));
        let cells = cells.chain(tables.into_iter().flat_map(|table| table.hit_cells()));
        cells.map(|cell| (cell.packets, cell.bytes)).chain(words.map(|&word| (word, 0)))
    }

    /// Key and action of a table's cell, for people: `hdr.ipv4.dst=0xa000001/32`, `ingress.forward`; no key
    /// of the cell of misses, and nothing where there is no entry.
    pub fn entry_text(&self, array: Array, cell: usize) -> (String, String) {
        let table = self.tables.get(array.index).filter(|_| array.kind == ArrayKind::Table);
        let (Some(state), Some(table)) = (table, self.program.tables.get(array.index)) else {
            return Default::default();
        };
        let name = |action: p4cc_ir::ActionId| self.program.actions[action.index()].cp.name.clone();
        if cell == 0 {
            return (String::new(), name(state.default.call.action));
        }
        let Some(stored) = u32::try_from(cell).ok().and_then(|number| state.get(number)) else {
            return Default::default();
        };
        let action = match &stored.entry.action {
            EntryAction::Direct(call) => name(call.action),
            EntryAction::Member(id) => format!("member {id}"),
            EntryAction::Group(id) => format!("group {id}"),
            EntryAction::Set(_) => "action set".to_owned(),
        };
        (key_text(table, &stored.entry.matches, stored.entry.priority), action)
    }
}

fn value_text(value: &MatchValue) -> String {
    let hex = |bits: &Bits| {
        let text = bits.to_string();
        text.split_once('w').map_or_else(|| text.clone(), |(_, value)| value.to_owned())
    };
    match value {
        MatchValue::Any => "*".to_owned(),
        MatchValue::Exact(value) => hex(value),
        MatchValue::Lpm { value, len } => format!("{}/{len}", hex(value)),
        MatchValue::Ternary { value, mask } => format!("{}&&&{}", hex(value), hex(mask)),
        MatchValue::Range { low, high } => format!("{}..{}", hex(low), hex(high)),
    }
}

fn key_text(table: &Table, matches: &[MatchValue], priority: u32) -> String {
    let keys = validate::match_keys(table).zip(matches);
    let keys = keys.map(|(key, value)| format!("{}={}", key.cp.name, value_text(value)));
    let rank = (priority > 0).then(|| format!("priority={priority}"));
    keys.chain(rank).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use p4cc_ir::Bits;

    use super::*;
    use crate::control::CounterCell;
    use crate::testing::ProgramBuilder;

    #[test]
    fn keys_are_text() {
        let bits = |value| Bits::from_u128(16, value);
        let texts = [
            (MatchValue::Any, "*"),
            (MatchValue::Exact(bits(10)), "0xa"),
            (MatchValue::Lpm { value: bits(0xa00), len: 8 }, "0xa00/8"),
            (MatchValue::Ternary { value: bits(1), mask: bits(3) }, "0x1&&&0x3"),
            (MatchValue::Range { low: bits(2), high: bits(9) }, "0x2..0x9"),
        ];
        for (value, text) in texts {
            assert_eq!(value_text(&value), text);
        }
    }

    #[test]
    fn cells_come_in_order_and_what_is_not_there_is_no_array() {
        let mut builder = ProgramBuilder::new();
        let seen = builder.counter("seen", Some(3));
        builder.counter("direct", None);
        let last = builder.register("last", 48, 2);
        builder.register("wide", 80, 2);
        let mut state = State::new(&Arc::new(builder.compile()));
        state.counter_write(seen, 2, CounterCell { packets: 4, bytes: 400 }).unwrap();
        state.register_write(last, 1, &Bits::from_u128(48, 9)).unwrap();
        let cells =
            |kind, name| state.array(kind, name).map(|array| state.array_cells(array).collect::<Vec<_>>());
        assert_eq!(cells(ArrayKind::Counter, "seen"), Some(vec![(0, 0), (0, 0), (4, 400)]));
        assert_eq!(cells(ArrayKind::Register, "last"), Some(vec![(0, 0), (9, 0)]));
        for (kind, name) in
            [(ArrayKind::Counter, "direct"), (ArrayKind::Register, "wide"), (ArrayKind::Register, "seen")]
        {
            assert_eq!(cells(kind, name), None, "{name}");
        }
    }
}
