//! Counters, registers, meters and tables of the switches' programs, sampled: a row for each cell that
//! differs from the sample before. A value holds until the next row; cells are 0 before their first.

use p4cc_switch::{ArrayKind, Switch};
use p4cc_units::Time;

use crate::describe::spec::ArraysSpec;
use crate::record::stream::Stream;
use crate::record::table::{Column, Table};

/// In the order of a meter's cells.
const COLORS: [&str; 3] = ["green", "yellow", "red"];

/// The samples of one kind of arrays.
#[derive(Clone, Debug)]
pub(crate) struct Arrays {
    kind: ArrayKind,
    watched: Vec<Watched>,
    rows: Rows,
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

#[derive(Clone, Debug, Default)]
struct Rows {
    time_ns: Vec<u64>,
    /// Index into `watched`.
    array: Vec<u32>,
    index: Vec<u64>,
    value: Vec<(u64, u64)>,
    /// Of tables: key and action.
    entry: Vec<(String, String)>,
}

impl Arrays {
    /// `switch_names` in the order of their indices; names were checked.
    pub fn new(kind: ArrayKind, spec: Option<&ArraysSpec>, switch_names: &[&str], max_rows: usize) -> Self {
        let arrays = spec.into_iter().flat_map(|spec| &spec.arrays);
        let watched = arrays.filter_map(|array| {
            let switch = switch_names.iter().position(|name| *name == array.switch)?;
            Some(Watched { switch, name: array.name.clone(), last: Vec::new() })
        });
        Self { kind, watched: watched.collect(), rows: Rows::default(), max_rows, left: 0, rows_left_out: 0 }
    }

    /// Takes a sample.
    pub fn sample<'a>(&mut self, at: Time, switch: impl Fn(usize) -> &'a Switch) {
        for number in 0..self.watched.len() {
            let watched = &mut self.watched[number];
            let Some(state) = switch(watched.switch).state() else { continue };
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
                if self.left + self.rows.time_ns.len() >= self.max_rows {
                    self.rows_left_out += 1;
                    continue;
                }
                self.rows.time_ns.push(at.as_ns());
                self.rows.array.push(number as u32);
                self.rows.index.push(index as u64);
                self.rows.value.push(cell);
                if self.kind == ArrayKind::Table {
                    self.rows.entry.push(state.entry_text(array, index));
                }
            }
        }
    }

    /// Hands the rows over, if there are enough of them; `switch_names` gives those of `new`.
    pub fn hand_over<'a>(&mut self, stream: &mut Stream, switch_names: impl Fn() -> Vec<&'a str>) {
        if stream.wants(self.rows.time_ns.len()) {
            stream.take(self.table(&switch_names()));
            self.left += self.rows.time_ns.len();
            self.rows = Rows::default();
        }
    }

    /// The table of the kind; `switch_names` as in `new`.
    pub fn table(&self, switch_names: &[&str]) -> Table {
        let rows = &self.rows;
        let watched = |array: &u32| &self.watched[*array as usize];
        let of_array = |text: &dyn Fn(&Watched) -> String| {
            let texts: Vec<String> = rows.array.iter().map(|array| text(watched(array))).collect();
            Column::text(texts.iter().map(String::as_str))
        };
        let (name, array) = match self.kind {
            ArrayKind::Counter => ("program_counters", "counter"),
            ArrayKind::Register => ("program_registers", "register"),
            ArrayKind::Meter => ("program_meters", "meter"),
            ArrayKind::Table => ("program_tables", "table"),
        };
        let mut columns = vec![
            ("time_ns", Column::U64(rows.time_ns.clone())),
            ("switch", of_array(&|watched| switch_names[watched.switch].to_owned())),
            (array, of_array(&|watched| watched.name.clone())),
        ];
        columns.extend(self.cell_columns());
        let first = Column::U64(rows.value.iter().map(|value| value.0).collect());
        let second = Column::U64(rows.value.iter().map(|value| value.1).collect());
        match self.kind {
            ArrayKind::Register => columns.push(("value", first)),
            _ => columns.extend([("packets", first), ("bytes", second)]),
        }
        Table { name, columns }
    }

    /// Which cell a row is of.
    fn cell_columns(&self) -> Vec<(&'static str, Column)> {
        let rows = &self.rows;
        match self.kind {
            ArrayKind::Counter | ArrayKind::Register => vec![("index", Column::U64(rows.index.clone()))],
            ArrayKind::Meter => {
                let color = |cell: &u64| COLORS[(cell % 3) as usize];
                vec![
                    ("index", Column::U64(rows.index.iter().map(|cell| cell / 3).collect())),
                    ("color", Column::text(rows.index.iter().map(color))),
                ]
            }
            ArrayKind::Table => {
                let result = rows.index.iter().map(|cell| if *cell == 0 { "miss" } else { "hit" });
                vec![
                    ("result", Column::text(result)),
                    ("entry", Column::text(rows.entry.iter().map(|entry| entry.0.as_str()))),
                    ("action", Column::text(rows.entry.iter().map(|entry| entry.1.as_str()))),
                ]
            }
        }
    }
}
