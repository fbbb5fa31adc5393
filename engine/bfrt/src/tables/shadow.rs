//! The copies of counters and registers that the chip's driver keeps: reads that do not ask for the hardware
//! get them. A write changes both; what packets change comes with a sync.

use std::collections::BTreeMap;

use p4cc_exec::control::CounterCell;
use p4cc_ir::Bits;

use super::matching::Identity;

/// Where a cell of a table stands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// In an array.
    Index(u32),
    /// With an entry, or with the default entry.
    Entry(Identity),
}

/// Copies of the cells that differ from how the program begins, by table.
#[derive(Clone, Debug, Default)]
pub struct Shadow {
    counters: BTreeMap<u32, BTreeMap<Place, CounterCell>>,
    registers: BTreeMap<u32, BTreeMap<Place, Bits>>,
}

/// Copies of the cells of one table.
#[derive(Clone, Debug, Default)]
pub struct ShadowOf {
    counters: Option<BTreeMap<Place, CounterCell>>,
    registers: Option<BTreeMap<Place, Bits>>,
}

impl Shadow {
    /// All copies of a table's cells.
    pub fn of(&self, table: u32) -> ShadowOf {
        let counters = self.counters.get(&table).cloned();
        ShadowOf { counters, registers: self.registers.get(&table).cloned() }
    }

    /// Copies as they were.
    pub fn put_back(&mut self, table: u32, of: ShadowOf) {
        match of.counters {
            Some(cells) => drop(self.counters.insert(table, cells)),
            None => drop(self.counters.remove(&table)),
        }
        match of.registers {
            Some(cells) => drop(self.registers.insert(table, cells)),
            None => drop(self.registers.remove(&table)),
        }
    }

    /// The copy of a counter.
    pub fn counter(&self, table: u32, place: &Place) -> CounterCell {
        self.counters.get(&table).and_then(|cells| cells.get(place)).copied().unwrap_or_default()
    }

    /// Sets it.
    pub fn set_counter(&mut self, table: u32, place: Place, cell: CounterCell) {
        let cells = self.counters.entry(table).or_default();
        if cell == CounterCell::default() {
            cells.remove(&place);
        } else {
            cells.insert(place, cell);
        }
    }

    /// The copy of a register's cell; none if it is as the program begins.
    pub fn register(&self, table: u32, place: &Place) -> Option<&Bits> {
        self.registers.get(&table).and_then(|cells| cells.get(place))
    }

    /// Sets it.
    pub fn set_register(&mut self, table: u32, place: Place, cell: Bits) {
        self.registers.entry(table).or_default().insert(place, cell);
    }

    /// Forgets one cell.
    pub fn forget(&mut self, table: u32, place: &Place) {
        self.counters.get_mut(&table).map(|cells| cells.remove(place));
        self.registers.get_mut(&table).map(|cells| cells.remove(place));
    }

    /// Forgets the counters of a table, or all of it.
    pub fn clear_counters(&mut self, table: u32) {
        self.counters.remove(&table);
    }

    /// Forgets the registers of a table.
    pub fn clear_registers(&mut self, table: u32) {
        self.registers.remove(&table);
    }
}
