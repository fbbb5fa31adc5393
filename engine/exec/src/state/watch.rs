//! Arrays that an observer reads whole, by the names that the source gives them.

use super::State;

/// Kinds of arrays.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ArrayKind {
    /// A counter: a cell holds packets and bytes.
    Counter,
    /// A register of at most 64 bits a cell: a cell holds its value, and 0.
    Register,
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
        };
        Some(Array { kind, index })
    }

    /// The array's cells in order; an array of another program may have others, or none.
    pub fn array_cells(&self, array: Array) -> impl Iterator<Item = (u64, u64)> + '_ {
        let (counters, words) = match array.kind {
            ArrayKind::Counter => (self.counters.get(array.index).map(Vec::as_slice), None),
            ArrayKind::Register => (None, self.registers.get(array.index).map(|one| one.words.as_slice())),
        };
        let counted = counters.unwrap_or_default().iter().map(|cell| (cell.packets, cell.bytes));
        counted.chain(words.unwrap_or_default().iter().map(|&word| (word, 0)))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use p4cc_ir::Bits;

    use super::*;
    use crate::control::CounterCell;
    use crate::testing::ProgramBuilder;

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
