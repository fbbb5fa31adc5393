//! Counters, registers, meters and tables of the switches' programs, sampled: a row for each cell that
//! differs from the sample before. A value holds until the next row; cells are 0 before their first.

use p4cc_switch::{ArrayKind, Switch};
use p4cc_units::Time;

use crate::describe::spec::ArraysSpec;
use crate::record::schema::{CounterRow, MeterRow, RegisterRow, TableRow};
use crate::record::stream::Stream;
use crate::record::table::Table;

/// In the order of a meter's cells.
const COLORS: [&str; 3] = ["green", "yellow", "red"];

/// The samples of one kind of arrays.
#[derive(Clone, Debug)]
pub(crate) struct Arrays {
    kind: ArrayKind,
    watched: Vec<Watched>,
    rows: Vec<Row>,
    max_rows: usize,
    /// Rows that have left.
    left: usize,
    /// Rows left out because of `max_rows`.
    pub rows_left_out: u64,
}

/// One array and its cells as they were at the last sample.
#[derive(Clone, Debug)]
struct Watched {
    /// Index of the switch.
    switch: usize,
    name: String,
    last: Vec<(u64, u64)>,
}

#[derive(Clone, Debug)]
struct Row {
    time_ns: u64,
    /// Index into `watched`.
    array: u32,
    index: u32,
    value: (u64, u64),
    /// Of tables: key and action.
    entry: Option<Box<(String, String)>>,
}

impl Arrays {
    /// `switch_names` in the order of their indices; names were checked.
    pub fn new(kind: ArrayKind, spec: Option<&ArraysSpec>, switch_names: &[&str], max_rows: usize) -> Self {
        let arrays = spec.into_iter().flat_map(|spec| &spec.arrays);
        let watched = arrays.filter_map(|array| {
            let switch = switch_names.iter().position(|name| *name == array.switch)?;
            Some(Watched { switch, name: array.name.clone(), last: Vec::new() })
        });
        Self { kind, watched: watched.collect(), rows: Vec::new(), max_rows, left: 0, rows_left_out: 0 }
    }

    /// Takes a sample.
    pub fn sample<'a>(&mut self, at: Time, switch: impl Fn(usize) -> &'a Switch) {
        for number in 0..self.watched.len() {
            let watched = &mut self.watched[number];
            let Some(state) = switch(watched.switch).observation().state() else { continue };
            // Looked up anew: a controller may have loaded another program.
            let Some(array) = state.array(self.kind, &watched.name) else { continue };
            for (index, cell) in state.array_cells(array).enumerate() {
                if watched.last.len() <= index {
                    watched.last.push((0, 0));
                }
                if watched.last[index] == cell {
                    continue;
                }
                watched.last[index] = cell;
                if self.left + self.rows.len() >= self.max_rows {
                    self.rows_left_out += 1;
                    continue;
                }
                let entry = self.kind == ArrayKind::Table;
                self.rows.push(Row {
                    time_ns: at.as_ns(),
                    array: number as u32,
                    index: index as u32,
                    value: cell,
                    entry: entry.then(|| Box::new(state.entry_text(array, index))),
                });
            }
        }
    }

    /// Hands the rows over, if there are enough of them; `switch_names` gives those of `new`.
    pub fn hand_over<'a>(&mut self, stream: &mut Stream, switch_names: impl Fn() -> Vec<&'a str>) {
        if stream.wants(self.rows.len()) {
            stream.take(self.table(&switch_names()));
            self.left += self.rows.len();
            self.rows = Vec::new();
        }
    }

    /// The table of the kind; `switch_names` as in `new`.
    pub fn table(&self, switch_names: &[&str]) -> Table {
        let rows = self.rows.iter().map(|row| {
            let watched = &self.watched[row.array as usize];
            (row, switch_names[watched.switch], watched.name.as_str())
        });
        match self.kind {
            ArrayKind::Counter => Table::of(rows.map(|(row, switch, counter)| CounterRow {
                time_ns: row.time_ns,
                switch,
                counter,
                index: row.index.into(),
                packets: row.value.0,
                bytes: row.value.1,
            })),
            ArrayKind::Register => Table::of(rows.map(|(row, switch, register)| RegisterRow {
                time_ns: row.time_ns,
                switch,
                register,
                index: row.index.into(),
                value: row.value.0,
            })),
            ArrayKind::Meter => Table::of(rows.map(|(row, switch, meter)| MeterRow {
                time_ns: row.time_ns,
                switch,
                meter,
                index: (row.index / 3).into(),
                color: COLORS[(row.index % 3) as usize],
                packets: row.value.0,
                bytes: row.value.1,
            })),
            ArrayKind::Table => Table::of(rows.map(|(row, switch, table)| TableRow {
                time_ns: row.time_ns,
                switch,
                table,
                result: if row.index == 0 { "miss" } else { "hit" },
                entry: row.entry.as_ref().map_or("", |entry| &entry.0),
                action: row.entry.as_ref().map_or("", |entry| &entry.1),
                packets: row.value.0,
                bytes: row.value.1,
            })),
        }
    }
}
