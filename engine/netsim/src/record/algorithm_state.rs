//! Attributes that algorithms of the user's keep, sampled with the senders' state: a row for each change.

use p4cc_units::Time;

use crate::record::stream::Stream;
use crate::record::table::{Column, Table};

/// Samples of attributes, by flow and name.
#[derive(Clone, Default, Debug)]
pub(crate) struct AlgorithmState {
    names: Vec<String>,
    max_rows: usize,
    /// The last value of each flow and name; not-a-number before the first.
    last: Vec<f64>,
    time_ns: Vec<u64>,
    flow_id: Vec<u64>,
    name: Vec<u32>,
    value: Vec<f64>,
    /// Rows that have left.
    left: usize,
    /// Rows left out because of `max_rows`.
    pub rows_left_out: u64,
}

impl AlgorithmState {
    pub fn new(names: &[String], flows: usize, max_rows: usize) -> Self {
        Self { names: names.to_vec(), max_rows, last: vec![f64::NAN; flows * names.len()], ..Self::default() }
    }

    /// Whether there is anything to sample.
    pub const fn is_wanted(&self) -> bool {
        !self.names.is_empty()
    }

    /// Samples one flow; `value_of` gives the value of an attribute.
    pub fn sample(
        &mut self,
        at: Time,
        (flow, flow_id): (usize, u32),
        value_of: impl Fn(&str) -> Option<f64>,
    ) {
        for (number, name) in self.names.iter().enumerate() {
            let Some(value) = value_of(name) else { continue };
            let last = &mut self.last[flow * self.names.len() + number];
            if last.to_bits() == value.to_bits() {
                continue;
            }
            *last = value;
            if self.left + self.time_ns.len() >= self.max_rows {
                self.rows_left_out += 1;
                continue;
            }
            self.time_ns.push(at.as_ns());
            self.flow_id.push(u64::from(flow_id));
            self.name.push(number as u32);
            self.value.push(value);
        }
    }

    /// Hands the rows over, if there are enough of them.
    pub fn hand_over(&mut self, stream: &mut Stream) {
        if stream.wants(self.time_ns.len()) {
            stream.take(self.table());
            self.left += self.time_ns.len();
            self.time_ns.clear();
            self.flow_id.clear();
            self.name.clear();
            self.value.clear();
        }
    }

    pub fn table(&self) -> Table {
        let names = self.name.iter().map(|&number| self.names[number as usize].as_str());
        Table {
            name: "algorithm_state",
            columns: vec![
                ("time_ns", Column::U64(self.time_ns.clone())),
                ("flow_id", Column::U64(self.flow_id.clone())),
                ("name", Column::text(names.collect::<Vec<_>>())),
                ("value", Column::F64(self.value.clone())),
            ],
        }
    }
}
