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
use crate::record::schema::{
    CheckpointRow, Checkpoints, DepthRow, EventRow, Events, HistogramRow, LinkBytesRow, Queues, RttRow, Rtts,
    WindowRow, Windows,
};
use crate::record::stream::{Room, Series};
use crate::record::table::{Columns, Table};

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
    /// Earliest sample due, so that a run without samples pays one comparison for each event.
    next: Time,
    windows: Series<Windows>,
    queues: Series<Queues>,
    events: Series<Events>,
    checkpoints: Series<Checkpoints>,
    rtts: Series<Rtts>,
    /// Time, channel, and the bytes that it had carried.
    links: Vec<(Time, u32, u64)>,
    /// Samples and the sum of their bytes, by depth in kB.
    histogram: BTreeMap<u64, (u64, u64)>,
    /// Last row of each flow and of each port.
    last_windows: Vec<Option<Snapshot>>,
    last_depths: Vec<Option<u32>>,
    /// Attributes of users' algorithms.
    pub state: AlgorithmState,
    /// State of the programs, by kind.
    pub arrays: [Arrays; ArrayKind::ALL.len()],
    pub room: Room,
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
            next: Time::MAX,
            windows: Series::default(),
            queues: Series::default(),
            events: Series::default(),
            checkpoints: Series::default(),
            rtts: Series::default(),
            links: Vec::new(),
            histogram: BTreeMap::new(),
            last_windows: Vec::new(),
            last_depths: Vec::new(),
            state: AlgorithmState::new(&spec.state, flows, max_rows),
            arrays: arrays.map(|(kind, _, spec)| Arrays::new(kind, spec, switch_names, max_rows)),
            room: Room::new(max_rows),
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
    #[inline]
    pub fn next_due(&self) -> Time {
        self.next
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
        self.room.left_out
            + self.state.rows_left_out
            + self.arrays.iter().map(|arrays| arrays.rows_left_out).sum::<u64>()
    }

    pub fn window(&mut self, at: Time, flow: usize, flow_id: u32, now: &Snapshot) {
        if self.last_windows[flow].replace(*now).as_ref() == Some(now) {
            return;
        }
        let row = WindowRow {
            time_ns: at.as_ns(),
            flow_id: flow_id.into(),
            cwnd_segments: Some(now.cwnd_segments),
            ssthresh_segments: Some(now.ssthresh_segments),
            alpha: now.alpha,
            delta: now.delta,
            srtt_ns: now.srtt.map(Span::as_ns),
            rto_ns: now.rto.as_ns(),
            flight_segments: now.flight_segments,
            acked_bytes: now.snd_una,
            next_byte: now.snd_nxt,
            rate_bps: now.rate_bps,
            phase: now.phase.name(),
        };
        self.windows.stream(&mut self.room, row);
    }

    pub fn depth(&mut self, at: Time, place: usize, device_id: u64, port: u32, depth_pkts: u32) {
        if self.last_depths[place].replace(depth_pkts) != Some(depth_pkts) {
            let (time_ns, port, depth_pkts) = (at.as_ns(), port.into(), depth_pkts.into());
            let row = DepthRow { time_ns, device_id, port, depth_pkts };
            self.queues.stream(&mut self.room, row);
        }
    }

    pub fn checkpoint(&mut self, at: Time, flow_id: u32, acked_bytes: u64) {
        let row = CheckpointRow { time_ns: at.as_ns(), flow_id: flow_id.into(), acked_bytes };
        self.checkpoints.add(&mut self.room, row);
    }

    /// A round-trip time that a sender took, and whether the ACK that gave it echoed a mark.
    #[inline]
    pub fn rtt(&mut self, at: Time, flow_id: u32, rtt: Span, marked: bool) {
        if self.rtts_wanted {
            let (time_ns, rtt_ns) = (at.as_ns(), rtt.as_ns());
            let row = RttRow { time_ns, flow_id: flow_id.into(), rtt_ns, marked: marked.into() };
            self.rtts.stream(&mut self.room, row);
        }
    }

    /// Bytes that a channel had carried at a checkpoint.
    pub fn link(&mut self, at: Time, channel: usize, bytes: u64) {
        if self.room.has_any(self.links.len()) {
            self.links.push((at, channel as u32, bytes));
        }
    }

    /// Bytes that wait at a port at a sample of the histogram.
    pub fn depth_bytes(&mut self, bytes: u64) {
        let bin = self.histogram.entry(bytes / BIN_BYTES).or_default();
        *bin = (bin.0 + 1, bin.1 + bytes);
    }

    /// Bytes that links had carried at the checkpoints; `names` are the names of the channels.
    pub fn links_table(&self, names: &[&str]) -> Table {
        Table::of(self.links.iter().map(|(at, channel, bytes)| LinkBytesRow {
            time_ns: at.as_ns(),
            link: names[*channel as usize],
            bytes: *bytes,
        }))
    }

    /// Depths of all ports at all samples, in bins of 1 kB (docs/algorithms/metrics.md#metrics).
    pub fn histogram_table(&self) -> Table {
        Table::of(self.histogram.iter().map(|(bin, (samples, bytes))| HistogramRow {
            depth_bytes: bin * BIN_BYTES,
            samples: *samples,
            sum_bytes: *bytes,
        }))
    }

    /// Events of a sender, in their order.
    #[inline]
    pub fn events(&mut self, at: Time, flow_id: u32, events: &[Event]) {
        if self.events_wanted {
            for (event, value, second_value) in events.iter().filter_map(row_of) {
                let (time_ns, flow_id) = (at.as_ns(), flow_id.into());
                let row = EventRow { time_ns, flow_id, event, value, second_value };
                self.events.stream(&mut self.room, row);
            }
        }
    }

    /// The tables of samples and events, without the rows that have left.
    pub fn tables(&self) -> [Table; 5] {
        [
            self.windows.rows.clone().into_table(),
            self.queues.rows.clone().into_table(),
            self.events.rows.clone().into_table(),
            self.checkpoints.rows.clone().into_table(),
            self.rtts.rows.clone().into_table(),
        ]
    }
}

/// Name and values of an event's row: positions in bytes, windows in segments before and after, estimates.
fn row_of(event: &Event) -> Option<(&'static str, Option<f64>, Option<f64>)> {
    use p4cc_cc::Event as Congestion;
    Some(match *event {
        Event::Timeout { seq, rto } => ("timeout", Some(seq as f64), Some(rto.as_ns() as f64)),
        Event::FastRetransmit { seq } => ("fast_retransmit", Some(seq as f64), None),
        Event::PartialAck { seq } => ("partial_ack", Some(seq as f64), None),
        Event::AckIgnored(_) => return None,
        Event::Congestion(Congestion::AlphaUpdated { alpha, marked_fraction }) => {
            ("alpha", Some(alpha), Some(marked_fraction))
        }
        Event::Congestion(Congestion::DeltaUpdated { delta, queue_pkts }) => {
            ("delta", Some(delta), queue_pkts)
        }
        Event::Congestion(Congestion::WindowCut { from_segments, to_segments, cause }) => {
            let name = match cause {
                CutCause::Mark => "cut_mark",
                CutCause::FastRetransmit => "cut_fast_retransmit",
                CutCause::Timeout => "cut_timeout",
            };
            (name, Some(from_segments), Some(to_segments))
        }
        Event::Congestion(Congestion::PhaseChanged { to, .. }) => (to.name(), None, None),
        Event::Congestion(Congestion::FirstMark { mark }) => {
            let name = if mark == Mark::K { "first_mark_k" } else { "first_mark_k_dc" };
            (name, None, None)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::table::Column;

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
        let Some(Column::U64(times)) = queues.column("time_ns") else { unreachable!() };
        assert_eq!(&*times.values, [0, 2]);
        assert_eq!(recorder.rows_left_out(), 1);
    }
}
