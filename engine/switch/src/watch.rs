//! What observers of a whole run keep of a switch: drops by cause and place, digests, lines of `log_msg`.
//!
//! Nothing is kept by default. Drops by place and hits of entries without direct counters are seen by the
//! interpreter alone, which then runs the program; results do not depend on what runs it.

use std::collections::BTreeMap;
use std::sync::Arc;

use p4cc_exec::DigestMessage;
use p4cc_exec::control::CounterCell;
use p4cc_ir::{ActionId, Program, TableId};
use p4cc_units::{Span, Time};

use crate::counters::DropCause;

/// What is kept of a switch.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Watch {
    /// Drops, added up over intervals of this length, and the most rows of them; what is dropped later is
    /// counted and left out.
    pub drops: Option<(Span, usize)>,
    /// Whether programs that are loaded from here on count hits of all entries.
    pub hits: bool,
    /// Digests that are kept; later ones are counted and left out.
    pub max_digests: usize,
    /// Lines of `log_msg` that are kept; later ones are counted and left out.
    pub max_logs: usize,
}

/// Where the program dropped a packet, by names; empty where it was not the program, or not there.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub struct DropPlace {
    /// The control.
    pub control: String,
    /// The table whose action it was.
    pub table: String,
    /// The action that called `mark_to_drop`.
    pub action: String,
    /// The error that the packet's parser ended with.
    pub parser_error: String,
    /// `mark_to_drop` ran; else the program chose no port, or the one that drops.
    pub marked: bool,
}

/// Drops of one interval, cause, place and port.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DropRow<'a> {
    /// Start of the interval.
    pub at: Time,
    /// Why.
    pub cause: DropCause,
    /// Port that they came in on, or of their queue; none if neither is known.
    pub port: Option<u32>,
    /// Where in the program.
    pub place: &'a DropPlace,
    /// How many, and their bytes as they came in.
    pub dropped: CounterCell,
}

/// Drops by time, cause, place and port.
#[derive(Clone, Debug, Default)]
pub(crate) struct DropLog {
    interval: Span,
    max_rows: usize,
    /// Of the packet at work.
    bytes: u32,
    control: String,
    pub table: Option<TableId>,
    /// The action that runs, and its table.
    running: Option<(ActionId, Option<TableId>)>,
    marked: Option<DropPlace>,
    pub parser_error: String,
    /// By place its number.
    numbers: BTreeMap<DropPlace, usize>,
    places: Vec<DropPlace>,
    rows: BTreeMap<(Time, DropCause, Option<u32>, usize), CounterCell>,
    pub left_out: u64,
}

impl DropLog {
    pub fn new(interval: Span, max_rows: usize) -> Self {
        Self { interval, max_rows, ..Self::default() }
    }

    /// A packet of this length starts its way through a pipeline.
    pub fn begin(&mut self, bytes: u32) {
        self.bytes = bytes;
        self.control.clear();
        self.marked = None;
        self.parser_error.clear();
    }

    /// A control starts.
    pub fn enter(&mut self, control: &str) {
        self.control.clear();
        self.control.push_str(control);
        (self.table, self.running, self.marked) = (None, None, None);
    }

    /// An action runs, of the table that was applied last unless another action or the control calls it.
    pub fn run(&mut self, action: ActionId, within: bool) {
        let table = self.table.take();
        let of = if within { self.running.and_then(|running| running.1) } else { table };
        self.running = Some((action, of));
    }

    /// `mark_to_drop` runs.
    pub fn mark(&mut self, program: &Program, in_action: bool) {
        let (action, table) = match self.running.filter(|_| in_action) {
            Some((action, table)) => (Some(action), table),
            None => (None, None),
        };
        self.marked = Some(DropPlace {
            control: self.control.clone(),
            table: table.map(|table| program.tables[table.index()].cp.name.clone()).unwrap_or_default(),
            action: action.map(|action| program.actions[action.index()].cp.name.clone()).unwrap_or_default(),
            parser_error: String::new(),
            marked: true,
        });
    }

    /// Packets were dropped.
    pub fn add(&mut self, now: Time, port: Option<u32>, cause: DropCause, pkts: u64) {
        let place = match cause {
            DropCause::Ingress | DropCause::Egress => {
                let unmarked = || DropPlace { control: self.control.clone(), ..DropPlace::default() };
                let place = self.marked.clone().unwrap_or_else(unmarked);
                DropPlace { parser_error: self.parser_error.clone(), ..place }
            }
            _ => DropPlace::default(),
        };
        let next = self.places.len();
        let number = *self.numbers.entry(place).or_insert_with_key(|place| {
            self.places.push(place.clone());
            next
        });
        let start = now.as_ps() / self.interval.as_ps().max(1) * self.interval.as_ps();
        let key = (Time::from_ps(start), cause, port, number);
        if self.rows.len() >= self.max_rows && !self.rows.contains_key(&key) {
            self.left_out += pkts;
            return;
        }
        let row = self.rows.entry(key).or_default();
        row.packets += pkts;
        row.bytes += pkts * u64::from(self.bytes);
    }

    pub fn rows(&self) -> impl Iterator<Item = DropRow<'_>> {
        self.rows.iter().map(|(&(at, cause, port, place), &dropped)| DropRow {
            at,
            cause,
            port,
            place: &self.places[place],
            dropped,
        })
    }
}

/// A digest message as it was sent.
#[derive(Clone, Debug)]
pub struct KeptDigest {
    /// When the program sent it.
    pub at: Time,
    program: Arc<Program>,
    message: DigestMessage,
}

impl KeptDigest {
    /// The digest's name; in v1model that of its struct type.
    pub fn name(&self) -> &str {
        &self.program.digests[self.message.digest.index()].cp.name
    }

    /// Names and values of the fields, of a wider one than 64 bits the lower ones; those of a tuple are named
    /// by their places.
    pub fn fields(&self) -> impl Iterator<Item = (String, u64)> {
        let fields = &self.program.digests[self.message.digest.index()].fields;
        self.message.values.iter().enumerate().map(|(at, value)| {
            let name = fields.get(at).map_or("", |field| field.name.as_str());
            (if name.is_empty() { at.to_string() } else { name.to_owned() }, value.low_u64())
        })
    }
}

/// A line of `log_msg`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// When the program wrote it.
    pub at: Time,
    /// The text, values filled in.
    pub text: String,
}

/// What programs told, if anybody keeps it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept {
    pub watch: Watch,
    pub digests: Vec<KeptDigest>,
    pub logs: Vec<LogLine>,
    pub left_out: u64,
}

impl Kept {
    pub fn new(watch: Watch) -> Self {
        Self { watch, ..Self::default() }
    }

    #[cold]
    pub fn digests(&mut self, at: Time, program: &Arc<Program>, messages: &[DigestMessage]) {
        for message in messages.iter().filter(|_| self.watch.max_digests > 0) {
            if self.digests.len() < self.watch.max_digests {
                let program = Arc::clone(program);
                self.digests.push(KeptDigest { at, program, message: message.clone() });
            } else {
                self.left_out += 1;
            }
        }
    }

    #[cold]
    pub fn log(&mut self, at: Time, text: &str) {
        if self.watch.max_logs == 0 {
            return;
        }
        if self.logs.len() < self.watch.max_logs {
            self.logs.push(LogLine { at, text: text.to_owned() });
        } else {
            self.left_out += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dropped(log: &DropLog) -> Vec<(u64, DropCause, Option<u32>, u64, u64)> {
        let row = |row: DropRow<'_>| (row.at.as_ns(), row.cause, row.port, row.dropped);
        log.rows()
            .map(row)
            .map(|(at, cause, port, cell)| (at, cause, port, cell.packets, cell.bytes))
            .collect()
    }

    #[test]
    fn drops_of_an_interval_are_one_row_until_there_are_enough() {
        let mut log = DropLog::new(Span::from_ns(100), 2);
        for (ns, port, bytes) in [(0, 1, 60), (99, 1, 40), (100, 1, 50), (101, 2, 70), (150, 1, 50)] {
            log.begin(bytes);
            log.add(Time::from_ns(ns), Some(port), DropCause::TailDrop, 1);
        }
        let want = [(0, DropCause::TailDrop, Some(1), 2, 100), (100, DropCause::TailDrop, Some(1), 2, 100)];
        assert_eq!((dropped(&log), log.left_out), (want.to_vec(), 1));
    }

    #[test]
    fn a_place_is_that_of_the_packet_at_work() {
        let mut log = DropLog::new(Span::from_ns(1), 10);
        log.begin(60);
        log.enter("ingress");
        log.parser_error = "PacketTooShort".to_owned();
        log.add(Time::ZERO, None, DropCause::Ingress, 1);
        log.begin(60);
        log.add(Time::ZERO, Some(3), DropCause::TailDrop, 1);
        let places: Vec<_> = log.rows().map(|row| row.place.clone()).collect();
        assert_eq!(places[0], DropPlace::default());
        assert_eq!((&*places[1].control, &*places[1].parser_error), ("ingress", "PacketTooShort"));
    }
}
