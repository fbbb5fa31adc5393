//! The recorder: samples of senders and queues, senders' events, and what flows had acknowledged at chosen
//! times.
//!
//! A sample writes a row only where something differs from the last row of the same flow or port. So a table
//! is a step function: a value holds until the next row. A sample at `t` shows the state after all events up
//! to `t`.

use std::collections::BTreeMap;

use p4cc_cc::{CutCause, Mark};
use p4cc_switch::ArrayKind;
use p4cc_transport::{Event, Snapshot};
use p4cc_units::{Span, Time};

use crate::describe::spec::RecordSpec;
use crate::record::algorithm_state::AlgorithmState;
use crate::record::arrays::Arrays;
use crate::record::stream::{Rows, Series, Stream, rows};
use crate::record::table::{Column, Table};

/// docs/algorithms/metrics.md#metrics: "histogram in 1 KB bins".
const BIN_BYTES: u64 = 1_000;

/// One series of samples at a fixed interval.
#[derive(Clone, Copy, Debug)]
struct Clock {
    interval: Span,
    next: Time,
}

impl Clock {
    fn new(interval_ns: Option<u64>) -> Option<Self> {
        interval_ns.map(|ns| Self { interval: Span::from_ns(ns), next: Time::ZERO })
    }
}

/// The recorder of one run.
#[derive(Clone, Debug)]
pub(crate) struct Recorder {
    windows_clock: Option<Clock>,
    queues_clock: Option<Clock>,
    histogram_clock: Option<Clock>,
    /// As [`Recorder::arrays`].
    arrays_clocks: [Option<Clock>; ArrayKind::ALL.len()],
    /// Times of checkpoints to come, the next one last.
    checkpoints_due: Vec<Time>,
    events_wanted: bool,
    rtts_wanted: bool,
    max_rows: usize,
    /// Earliest sample due, so that a run without samples pays one comparison for each event.
    next: Time,
    windows: Series<Windows>,
    queues: Series<Queues>,
    events: Series<Events>,
    checkpoints: Checkpoints,
    rtts: Series<Rtts>,
    links: Links,
    /// Samples and the sum of their bytes, by depth in kB.
    histogram: BTreeMap<u64, (u64, u64)>,
    /// Last row of each flow and of each port.
    last_windows: Vec<Option<Snapshot>>,
    last_depths: Vec<Option<u32>>,
    /// Attributes of algorithms of the user's.
    pub state: AlgorithmState,
    /// State of the programs, by kind.
    pub arrays: [Arrays; ArrayKind::ALL.len()],
    /// Where full parts of tables go.
    pub stream: Stream,
    /// Rows of the other tables left out because of `max_rows`.
    rows_left_out: u64,
}

rows!("windows", Windows {
    time_ns: u64,
    flow_id: u64,
    cwnd_segments: f64,
    ssthresh_segments: f64,
    alpha: f64,
    delta: f64,
    srtt_ns: i64,
    rto_ns: u64,
    flight_segments: u64,
    acked_bytes: u64,
    next_byte: u64,
    rate_bps: f64,
    phase: &'static str,
});
rows!("queues", Queues { time_ns: u64, device_id: u64, port: u64, depth_pkts: u64 });
rows!("events", Events {
    time_ns: u64,
    flow_id: u64,
    event: &'static str,
    value: f64,
    second_value: f64,
});
rows!("rtts", Rtts { time_ns: u64, flow_id: u64, rtt_ns: u64, marked: u64 });
rows!("checkpoints", Checkpoints { time_ns: u64, flow_id: u64, acked_bytes: u64 });

/// Bytes that channels had carried.
#[derive(Clone, Debug, Default)]
struct Links {
    time_ns: Vec<u64>,
    link: Vec<u32>,
    bytes: Vec<u64>,
}

/// Which samples are due.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Due {
    pub at: Time,
    pub windows: bool,
    pub queues: bool,
    pub queue_histogram: bool,
    pub checkpoint: bool,
    /// By kind.
    pub arrays: [bool; ArrayKind::ALL.len()],
}

impl Recorder {
    /// `switch_names` in the order of the switches' indices.
    pub fn new(spec: &RecordSpec, flows: usize, ports: usize, switch_names: &[&str]) -> Self {
        let max_rows = usize::try_from(spec.max_rows).unwrap_or(usize::MAX);
        let arrays = spec.arrays();
        let mut recorder = Self {
            windows_clock: Clock::new(spec.windows_interval_ns),
            queues_clock: Clock::new(spec.queues_interval_ns),
            histogram_clock: Clock::new(spec.queue_histogram_interval_ns),
            arrays_clocks: arrays.map(|(_, _, spec)| Clock::new(spec.map(|spec| spec.interval_ns))),
            checkpoints_due: spec.checkpoints_ns.iter().rev().map(|&ns| Time::from_ns(ns)).collect(),
            events_wanted: spec.events,
            rtts_wanted: spec.rtts,
            max_rows,
            next: Time::MAX,
            windows: Series::default(),
            queues: Series::default(),
            events: Series::default(),
            checkpoints: Checkpoints::default(),
            rtts: Series::default(),
            links: Links::default(),
            histogram: BTreeMap::new(),
            last_windows: Vec::new(),
            last_depths: Vec::new(),
            state: AlgorithmState::new(&spec.state, flows, max_rows),
            arrays: arrays.map(|(kind, _, spec)| Arrays::new(kind, spec, switch_names, max_rows)),
            stream: Stream::default(),
            rows_left_out: 0,
        };
        if recorder.windows_clock.is_some() {
            recorder.last_windows = vec![None; flows];
        }
        if recorder.queues_clock.is_some() {
            recorder.last_depths = vec![None; ports];
        }
        recorder.set_next();
        recorder
    }

    fn set_next(&mut self) {
        let clocks = [self.windows_clock, self.queues_clock, self.histogram_clock];
        let next = clocks.into_iter().chain(self.arrays_clocks).flatten().map(|clock| clock.next);
        self.next = next.chain(self.checkpoints_due.last().copied()).min().unwrap_or(Time::MAX);
    }

    /// When the next sample is due.
    pub fn next_due(&self) -> Time {
        self.next
    }

    /// Whether a sample is due before `time`.
    #[inline]
    pub fn is_due_before(&self, time: Time) -> bool {
        self.next < time
    }

    /// The earliest samples due before `time`, once; the caller asks again until there are none.
    pub fn due_before(&mut self, time: Time) -> Option<Due> {
        let at = self.next;
        if at >= time {
            return None;
        }
        let take = |clock: &mut Option<Clock>| match clock {
            Some(clock) if clock.next == at => {
                clock.next += clock.interval;
                true
            }
            _ => false,
        };
        let due = Due {
            at,
            windows: take(&mut self.windows_clock),
            queues: take(&mut self.queues_clock),
            queue_histogram: take(&mut self.histogram_clock),
            checkpoint: self.checkpoints_due.pop_if(|due| *due == at).is_some(),
            arrays: self.arrays_clocks.each_mut().map(take),
        };
        self.set_next();
        Some(due)
    }

    /// Rows left out because of `max_rows`, of all tables.
    pub fn rows_left_out(&self) -> u64 {
        self.rows_left_out
            + self.state.rows_left_out
            + self.arrays.iter().map(|arrays| arrays.rows_left_out).sum::<u64>()
    }

    pub fn window(&mut self, at: Time, flow: usize, flow_id: u32, now: &Snapshot) {
        let last = &mut self.last_windows[flow];
        if last.as_ref() == Some(now) {
            return;
        }
        *last = Some(*now);
        if self.windows.len() >= self.max_rows {
            self.rows_left_out += 1;
            return;
        }
        let rows = &mut self.windows.rows;
        rows.time_ns.push(at.as_ns());
        rows.flow_id.push(u64::from(flow_id));
        rows.cwnd_segments.push(now.cwnd_segments);
        rows.ssthresh_segments.push(now.ssthresh_segments);
        rows.alpha.push(now.alpha.unwrap_or(f64::NAN));
        rows.delta.push(now.delta.unwrap_or(f64::NAN));
        rows.srtt_ns.push(now.srtt.map_or(-1, |srtt| srtt.as_ns() as i64));
        rows.rto_ns.push(now.rto.as_ns());
        rows.flight_segments.push(now.flight_segments);
        rows.acked_bytes.push(now.snd_una);
        rows.next_byte.push(now.snd_nxt);
        rows.rate_bps.push(now.rate_bps.unwrap_or(f64::NAN));
        rows.phase.push(now.phase.name());
        self.windows.hand_over(&mut self.stream);
    }

    pub fn depth(&mut self, at: Time, place: usize, device_id: u64, port: u32, depth_pkts: u32) {
        let last = &mut self.last_depths[place];
        if *last == Some(depth_pkts) {
            return;
        }
        *last = Some(depth_pkts);
        if self.queues.len() >= self.max_rows {
            self.rows_left_out += 1;
            return;
        }
        let rows = &mut self.queues.rows;
        rows.time_ns.push(at.as_ns());
        rows.device_id.push(device_id);
        rows.port.push(u64::from(port));
        rows.depth_pkts.push(u64::from(depth_pkts));
        self.queues.hand_over(&mut self.stream);
    }

    pub fn checkpoint(&mut self, at: Time, flow_id: u32, acked_bytes: u64) {
        let rows = &mut self.checkpoints;
        if rows.time_ns.len() >= self.max_rows {
            self.rows_left_out += 1;
            return;
        }
        rows.time_ns.push(at.as_ns());
        rows.flow_id.push(u64::from(flow_id));
        rows.acked_bytes.push(acked_bytes);
    }

    /// A round-trip time that a sender took, and whether the ACK that gave it echoed a mark.
    #[inline]
    pub fn rtt(&mut self, at: Time, flow_id: u32, rtt: Span, marked: bool) {
        if self.rtts_wanted {
            self.add_rtt(at, flow_id, rtt, marked);
        }
    }

    fn add_rtt(&mut self, at: Time, flow_id: u32, rtt: Span, marked: bool) {
        if self.rtts.len() >= self.max_rows {
            self.rows_left_out += 1;
            return;
        }
        let rows = &mut self.rtts.rows;
        rows.time_ns.push(at.as_ns());
        rows.flow_id.push(u64::from(flow_id));
        rows.rtt_ns.push(rtt.as_ns());
        rows.marked.push(u64::from(marked));
        self.rtts.hand_over(&mut self.stream);
    }

    /// Bytes that a channel had carried at a checkpoint.
    pub fn link(&mut self, at: Time, channel: usize, bytes: u64) {
        let rows = &mut self.links;
        if rows.time_ns.len() >= self.max_rows {
            self.rows_left_out += 1;
            return;
        }
        rows.time_ns.push(at.as_ns());
        rows.link.push(channel as u32);
        rows.bytes.push(bytes);
    }

    /// Bytes that wait at a port at a sample of the histogram.
    pub fn depth_bytes(&mut self, bytes: u64) {
        let bin = self.histogram.entry(bytes / BIN_BYTES).or_default();
        *bin = (bin.0 + 1, bin.1 + bytes);
    }

    /// Bytes that links had carried at the checkpoints; `names` are the names of the channels.
    pub fn links_table(&self, names: &[&str]) -> Table {
        let rows = &self.links;
        Table {
            name: "link_bytes",
            columns: vec![
                ("time_ns", Column::U64(rows.time_ns.clone())),
                ("link", Column::text(rows.link.iter().map(|&link| names[link as usize]))),
                ("bytes", Column::U64(rows.bytes.clone())),
            ],
        }
    }

    /// Depths of all ports at all samples, in bins of 1 kB (docs/algorithms/metrics.md#metrics).
    pub fn histogram_table(&self) -> Table {
        let u64s = |values: &mut dyn Iterator<Item = u64>| Column::U64(values.collect());
        Table {
            name: "queue_histogram",
            columns: vec![
                ("depth_bytes", u64s(&mut self.histogram.keys().map(|bin| bin * BIN_BYTES))),
                ("samples", u64s(&mut self.histogram.values().map(|bin| bin.0))),
                ("sum_bytes", u64s(&mut self.histogram.values().map(|bin| bin.1))),
            ],
        }
    }

    /// Events of a sender, in their order.
    #[inline]
    pub fn events(&mut self, at: Time, flow_id: u32, events: &[Event]) {
        if self.events_wanted {
            events.iter().for_each(|event| self.add_event(at, flow_id, event));
        }
    }

    fn add_event(&mut self, at: Time, flow_id: u32, event: &Event) {
        let Some((name, value, second)) = row_of(event) else { return };
        if self.events.len() >= self.max_rows {
            self.rows_left_out += 1;
            return;
        }
        let rows = &mut self.events.rows;
        rows.time_ns.push(at.as_ns());
        rows.flow_id.push(u64::from(flow_id));
        rows.event.push(name);
        rows.value.push(value);
        rows.second_value.push(second);
        self.events.hand_over(&mut self.stream);
    }

    /// The tables of samples and events, without the rows that have left.
    pub fn tables(&self) -> [Table; 5] {
        [
            self.windows.rows.clone().into_table(),
            self.queues.rows.clone().into_table(),
            self.events.rows.clone().into_table(),
            self.checkpoints.clone().into_table(),
            self.rtts.rows.clone().into_table(),
        ]
    }
}

/// Name and values of an event's row: positions in bytes, windows in segments before and after, estimates.
fn row_of(event: &Event) -> Option<(&'static str, f64, f64)> {
    use p4cc_cc::Event as Congestion;
    let none = f64::NAN;
    Some(match *event {
        Event::Timeout { seq, rto } => ("timeout", seq as f64, rto.as_ns() as f64),
        Event::FastRetransmit { seq } => ("fast_retransmit", seq as f64, none),
        Event::PartialAck { seq } => ("partial_ack", seq as f64, none),
        Event::AckIgnored(_) => return None,
        Event::Congestion(Congestion::AlphaUpdated { alpha, marked_fraction }) => {
            ("alpha", alpha, marked_fraction)
        }
        Event::Congestion(Congestion::DeltaUpdated { delta, queue_pkts }) => {
            ("delta", delta, queue_pkts.unwrap_or(none))
        }
        Event::Congestion(Congestion::WindowCut { from_segments, to_segments, cause }) => {
            let name = match cause {
                CutCause::Mark => "cut_mark",
                CutCause::FastRetransmit => "cut_fast_retransmit",
                CutCause::Timeout => "cut_timeout",
            };
            (name, from_segments, to_segments)
        }
        Event::Congestion(Congestion::PhaseChanged { to, .. }) => (to.name(), none, none),
        Event::Congestion(Congestion::FirstMark { mark }) => {
            let name = if mark == Mark::K { "first_mark_k" } else { "first_mark_k_dc" };
            (name, none, none)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_come_in_order_and_strictly_before_the_event() {
        let spec =
            RecordSpec { windows_interval_ns: Some(2), queues_interval_ns: Some(3), ..RecordSpec::default() };
        let mut recorder = Recorder::new(&spec, 0, 0, &[]);
        let mut due = Vec::new();
        while let Some(next) = recorder.due_before(Time::from_ns(6)) {
            due.push((next.at.as_ns(), next.windows, next.queues));
        }
        assert_eq!(due, [(0, true, true), (2, true, false), (3, false, true), (4, true, false)]);
    }

    #[test]
    fn checkpoints_come_once_beside_the_samples() {
        let spec =
            RecordSpec { queues_interval_ns: Some(4), checkpoints_ns: vec![3, 4], ..RecordSpec::default() };
        let mut recorder = Recorder::new(&spec, 0, 0, &[]);
        let mut due = Vec::new();
        while let Some(next) = recorder.due_before(Time::from_ns(9)) {
            due.push((next.at.as_ns(), next.queues, next.checkpoint));
        }
        assert_eq!(due, [(0, true, false), (3, false, true), (4, true, true), (8, true, false)]);
    }

    #[test]
    fn an_unchanged_depth_is_no_row_and_rows_are_bounded() {
        let spec = RecordSpec { queues_interval_ns: Some(1), max_rows: 2, ..RecordSpec::default() };
        let mut recorder = Recorder::new(&spec, 0, 1, &[]);
        for (at, depth) in [(0, 0), (1, 0), (2, 5), (3, 5), (4, 6)] {
            recorder.depth(Time::from_ns(at), 0, 1, 1, depth);
        }
        let [_, queues, ..] = recorder.tables();
        assert_eq!(queues.column("time_ns"), Some(&Column::U64(vec![0, 2])));
        assert_eq!(recorder.rows_left_out(), 1);
    }
}
