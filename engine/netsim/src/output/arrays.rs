//! Counters and registers of the switches' programs, sampled: a row for each cell that differs from the
//! sample before. A value holds until the next row; cells are 0 before their first.

use p4cc_switch::{ArrayKind, Switch};
use p4cc_units::Time;

use crate::describe::spec::ArraysSpec;
use crate::output::table::{Column, Table};

/// The samples of one kind of arrays.
#[derive(Clone, Debug)]
pub(crate) struct Arrays {
    kind: ArrayKind,
    watched: Vec<Watched>,
    rows: Rows,
    max_rows: usize,
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
}

impl Arrays {
    /// `switch_names` in the order of their indices; names were checked.
    pub fn new(kind: ArrayKind, spec: Option<&ArraysSpec>, switch_names: &[&str], max_rows: usize) -> Self {
        let arrays = spec.into_iter().flat_map(|spec| &spec.arrays);
        let watched = arrays.filter_map(|array| {
            let switch = switch_names.iter().position(|name| *name == array.switch)?;
            Some(Watched { switch, name: array.name.clone(), last: Vec::new() })
        });
        Self { kind, watched: watched.collect(), rows: Rows::default(), max_rows, rows_left_out: 0 }
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
                if self.rows.time_ns.len() >= self.max_rows {
                    self.rows_left_out += 1;
                    continue;
                }
                self.rows.time_ns.push(at.as_ns());
                self.rows.array.push(number as u32);
                self.rows.index.push(index as u64);
                self.rows.value.push(cell);
            }
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
        };
        let mut columns = vec![
            ("time_ns", Column::U64(rows.time_ns.clone())),
            ("switch", of_array(&|watched| switch_names[watched.switch].to_owned())),
            (array, of_array(&|watched| watched.name.clone())),
            ("index", Column::U64(rows.index.clone())),
        ];
        let first = Column::U64(rows.value.iter().map(|value| value.0).collect());
        match self.kind {
            ArrayKind::Counter => {
                let bytes = Column::U64(rows.value.iter().map(|value| value.1).collect());
                columns.extend([("packets", first), ("bytes", bytes)]);
            }
            ArrayKind::Register => columns.push(("value", first)),
        }
        Table { name, columns }
    }
}
