//! Attributes of users' algorithms, sampled with the senders' state: a row for each change.

use p4cc_units::Time;

use crate::record::schema::StateRow;
use crate::record::stream::Stream;
use crate::record::table::Table;

/// Samples of attributes, by flow and name.
#[derive(Clone, Default, Debug)]
pub(crate) struct AlgorithmState {
    names: Vec<String>,
    max_rows: usize,
    /// The last value of each flow and name; not-a-number before the first.
    last: Vec<f64>,
    /// Time, flow, name and value.
    rows: Vec<(u64, u32, u32, f64)>,
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
    pub fn sample(&mut self, at: Time, flow: usize, flow_id: u32, value_of: impl Fn(&str) -> Option<f64>) {
        for (number, name) in self.names.iter().enumerate() {
            let Some(value) = value_of(name) else { continue };
            let last = &mut self.last[flow * self.names.len() + number];
            if last.to_bits() == value.to_bits() {
                continue;
            }
            *last = value;
            if self.left + self.rows.len() >= self.max_rows {
                self.rows_left_out += 1;
                continue;
            }
            self.rows.push((at.as_ns(), flow_id, number as u32, value));
        }
    }

    /// Hands the rows over, if there are enough of them.
    pub fn hand_over(&mut self, stream: &mut Stream) {
        if stream.wants(self.rows.len()) {
            stream.take(self.table());
            self.left += self.rows.len();
            self.rows.clear();
        }
    }

    pub fn table(&self) -> Table {
        Table::of(self.rows.iter().map(|&(time_ns, flow_id, name, value)| StateRow {
            time_ns,
            flow_id: flow_id.into(),
            name: &self.names[name as usize],
            value,
        }))
    }
}
