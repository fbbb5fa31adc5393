//! What DCTCP and the algorithms built on it share: the
//! smoothed share of marked packets, and a cut once per window.
//!
//! Invariants: `0 <= alpha <= 1`; at most one cut per window of data; a cut never goes below `cwnd_min`; a
//! loss leaves alpha alone. Only [`Mark::Kdc`] counts as a mark: the lower level belongs to slow-start
//! modules (docs/algorithms/slow-start.md#gst-sender).

use crate::error::ConfigError;
use crate::params::{Domain, ParamInfo, Params};
use crate::{AckSample, CutCause, Event, Mark, Publisher, Window};

pub(crate) const G: ParamInfo = ParamInfo {
    name: "g",
    unit: "ratio",
    summary: "weight of the newest window in alpha",
    domain: Domain::Number { default: Some(1.0 / 16.0), min: 0.000_1, max: 1.0 },
    source: "docs/algorithms/window.md#dctcp-sender, RFC8257",
};

pub(crate) const ALPHA0: ParamInfo = ParamInfo {
    name: "alpha0",
    unit: "ratio",
    summary: "alpha of a new flow",
    domain: Domain::Number { default: Some(1.0), min: 0.0, max: 1.0 },
    source: "docs/algorithms/window.md#dctcp-sender, RFC8257",
};

pub(crate) const CWND_MIN: ParamInfo = ParamInfo {
    name: "cwnd_min",
    unit: "segments",
    summary: "lower bound of the window after a cut; 1 in the base of \
        docs/algorithms/reproductions.md#gst-base",
    domain: Domain::Number { default: Some(2.0), min: 1.0, max: 1_000.0 },
    source: "docs/algorithms/window.md#dctcp-sender",
};

pub(crate) const ALPHA_BY: ParamInfo = ParamInfo {
    name: "alpha_by",
    unit: "",
    summary: "unit of the marked fraction: 'packets', including duplicates, or 'bytes' newly acknowledged",
    domain: Domain::Choice { default: "packets", options: &["packets", "bytes"] },
    source: "docs/algorithms/window.md#dctcp-alpha-by; 'bytes' is RFC8257, 3.3",
};

pub(crate) const CWR_FREEZE: ParamInfo = ParamInfo {
    name: "cwr_freeze",
    unit: "",
    summary: "hold the window until the data sent before the cut is acknowledged, as Linux does; \
        'first_mark': only on the first of a run of marked ACKs, as public ns-2 code does",
    domain: Domain::Choice { default: "off", options: &["off", "first_mark", "on"] },
    source: "docs/algorithms/window.md#dctcp-sender",
};

/// When marks keep the window from growing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Freeze {
    Never,
    FirstMark,
    UntilCutAcknowledged,
}

/// What the marked share counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum CountedBy {
    Packets,
    Bytes,
}

/// The estimate of the marked share, and the gate that lets one cut through per window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MarkedShare {
    g: f64,
    alpha0: f64,
    cwnd_min: f64,
    cwr_freeze: Freeze,
    counted_by: CountedBy,
    alpha: f64,
    /// Packets or bytes counted in this observation window, and those of them that were marked.
    acked: u64,
    marked: u64,
    /// The last cumulative ACK: `SND.UNA` before the next one.
    snd_una: u64,
    /// The observation window ends with the first ACK above this byte.
    win_end: u64,
    /// No further cut until an ACK above this byte.
    cwr_end: u64,
    /// Whether the last ACK was marked, and whether it was the first such one of a run.
    in_run: bool,
    run_begins: bool,
}

impl MarkedShare {
    /// From the parameters above, which the algorithm's registry row must list.
    pub(crate) fn new(params: &Params<'_>) -> Result<Self, ConfigError> {
        let alpha0 = params.number("alpha0")?;
        Ok(Self {
            g: params.number("g")?,
            alpha0,
            cwnd_min: params.number("cwnd_min")?,
            cwr_freeze: match params.choice("cwr_freeze")? {
                "on" => Freeze::UntilCutAcknowledged,
                "first_mark" => Freeze::FirstMark,
                _ => Freeze::Never,
            },
            counted_by: match params.choice("alpha_by")? {
                "bytes" => CountedBy::Bytes,
                _ => CountedBy::Packets,
            },
            alpha: alpha0,
            acked: 0,
            marked: 0,
            snd_una: 0,
            win_end: 0,
            cwr_end: 0,
            in_run: false,
            run_begins: false,
        })
    }

    pub(crate) fn start(&mut self, snd_nxt: u64) {
        self.alpha = self.alpha0;
        (self.acked, self.marked) = (0, 0);
        (self.win_end, self.cwr_end, self.snd_una) = (snd_nxt, snd_nxt, snd_nxt);
        (self.in_run, self.run_begins) = (false, false);
    }

    pub(crate) fn observe(&mut self, ack: &AckSample, publisher: &mut dyn Publisher) {
        let marked = ack.mark == Mark::Kdc;
        (self.run_begins, self.in_run) = (marked && !self.in_run, marked);
        let counted = self.counted(ack);
        self.acked += counted;
        if marked {
            self.marked += counted;
        }
        // docs/algorithms/window.md#dctcp-sender: at window end (ack
        // > win_end) "F = marked/acked; alpha = (1-g) alpha + g F".
        if ack.ack > self.win_end {
            let marked_fraction = self.marked as f64 / self.acked.max(1) as f64;
            self.alpha = ((1.0 - self.g) * self.alpha + self.g * marked_fraction).clamp(0.0, 1.0);
            (self.acked, self.marked) = (0, 0);
            self.win_end = ack.snd_nxt;
            publisher.publish(Event::AlphaUpdated { alpha: self.alpha, marked_fraction });
        }
    }

    /// What an ACK adds to the counters.
    fn counted(&mut self, ack: &AckSample) -> u64 {
        let moved_on_bytes = ack.ack.saturating_sub(self.snd_una);
        self.snd_una = self.snd_una.max(ack.ack);
        match self.counted_by {
            // docs/algorithms/window.md#dctcp-sender:
            // "acked += max(n_new, 1); if ECE marked += max(n_new, 1)".
            CountedBy::Packets => ack.counted_segments(),
            // RFC8257, 3.3: "BytesAcked = SEG.ACK - SND.UNA"; a duplicate adds nothing.
            CountedBy::Bytes => moved_on_bytes,
        }
    }

    /// Whether this ACK calls for a cut: it is marked, and the last cut's window of data is acknowledged.
    pub(crate) const fn cut_is_due(&self, ack: &AckSample) -> bool {
        matches!(ack.mark, Mark::Kdc) && ack.ack > self.cwr_end
    }

    /// Cuts the window by half of `penalty`, which lies between 0 and 1.
    pub(crate) fn cut(
        &mut self,
        penalty: f64,
        ack: &AckSample,
        window: &mut Window,
        publisher: &mut dyn Publisher,
    ) {
        // docs/algorithms/window.md#dctcp-sender: "cwnd = max(cwnd (1
        // - alpha/2), cwnd_min), ssthresh = cwnd, cwr_end = snd_nxt".
        let from_segments = window.cwnd();
        window.set_cwnd((from_segments * (1.0 - penalty / 2.0)).max(self.cwnd_min));
        window.set_ssthresh(window.cwnd());
        self.cwr_end = ack.snd_nxt;
        let to_segments = window.cwnd();
        publisher.publish(Event::WindowCut { from_segments, to_segments, cause: CutCause::Mark });
    }

    /// Whether this ACK grows nothing because of marks.
    pub(crate) const fn is_frozen(&self, ack: &AckSample) -> bool {
        match self.cwr_freeze {
            Freeze::Never => false,
            Freeze::FirstMark => self.run_begins,
            Freeze::UntilCutAcknowledged => ack.ack <= self.cwr_end,
        }
    }

    /// Whether the ACK of a cut grows the window behind it.
    /// docs/algorithms/window.md#dctcp-sender: "while `ack <= cwr_end` … ns-2 style code keeps the
    /// additive increase"; the cut has set `cwr_end` beyond its own ACK, so this begins with it.
    pub(crate) const fn grows_after_cut(&self, ack: &AckSample) -> bool {
        !self.is_frozen(ack)
    }

    pub(crate) const fn alpha(&self) -> f64 {
        self.alpha
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dctcp;
    use crate::testing::{ack, params_of};

    fn share(json: &str) -> MarkedShare {
        MarkedShare::new(&params_of(&dctcp::INFO, json).params()).expect("valid parameters")
    }

    #[test]
    fn alpha_follows_the_marked_fraction_of_each_window() {
        let mut share = share(r#"{"name":"dctcp","g":0.25,"alpha0":0.5}"#);
        let mut events = Vec::new();
        share.start(0);
        // The first ACK lies above win_end = 0 and closes the empty first window: F = 0.
        share.observe(&ack(1, 10, 50, Mark::None), &mut events);
        assert_eq!(share.alpha, 0.375);
        // Four packets, one marked by K_dc and one by K only: F = 1/4.
        for (at, mark) in [(20, Mark::Kdc), (30, Mark::K), (40, Mark::None), (60, Mark::None)] {
            share.observe(&ack(1, at, 90, mark), &mut events);
        }
        assert_eq!(share.alpha, 0.75 * 0.375 + 0.25 * 0.25);
        assert_eq!(
            events,
            [
                Event::AlphaUpdated { alpha: 0.375, marked_fraction: 0.0 },
                Event::AlphaUpdated { alpha: 0.343_75, marked_fraction: 0.25 }
            ]
        );
    }

    /// RFC8257, 3.3: "If the sequence number of the ACK is less than or equal to DCTCP.WindowEnd, stop
    /// processing"; the first ACK beyond it closes the window.
    #[test]
    fn a_window_ends_beyond_its_last_byte() {
        let mut share = share(r#"{"name":"dctcp","g":1.0,"alpha0":0.5}"#);
        share.start(100);
        share.observe(&ack(1, 100, 300, Mark::Kdc), &mut Vec::new());
        assert_eq!((share.alpha, share.acked, share.marked), (0.5, 1, 1));
        share.observe(&ack(1, 101, 300, Mark::None), &mut Vec::new());
        assert_eq!((share.alpha, share.acked, share.marked), (0.5, 0, 0));
        share.observe(&ack(1, 300, 400, Mark::Kdc), &mut Vec::new());
        assert_eq!((share.alpha, share.acked), (0.5, 1));
        share.observe(&ack(1, 301, 400, Mark::Kdc), &mut Vec::new());
        assert_eq!((share.alpha, share.acked), (1.0, 0));
    }

    /// RFC8257, 3.3: the last segment of a flow is short, and a
    /// duplicate adds no byte; by packets both count whole.
    #[test]
    fn the_share_may_count_bytes() {
        for (json, fraction) in [
            (r#"{"name":"dctcp","g":1.0,"alpha0":0.0,"alpha_by":"bytes"}"#, 100.0 / 3_000.0),
            (r#"{"name":"dctcp","g":1.0,"alpha0":0.0}"#, 2.0 / 4.0),
        ] {
            let mut share = share(json);
            share.start(1_000);
            let samples = [
                (1, 2_900, Mark::None),
                (0, 2_900, Mark::Kdc),
                (1, 3_000, Mark::Kdc),
                (1, 4_000, Mark::None),
            ];
            // The first ACK above win_end = 1000 closes a window of its own.
            share.observe(&ack(1, 1_001, 3_999, Mark::Kdc), &mut Vec::new());
            assert_eq!(share.alpha, 1.0, "{json}");
            for (new_segments, at, mark) in samples {
                share.observe(&ack(new_segments, at, 5_000, mark), &mut Vec::new());
            }
            assert!((share.alpha - fraction).abs() < 1e-4, "{json}: {}", share.alpha);
        }
    }

    #[test]
    fn a_duplicate_counts_as_one_packet() {
        let mut share = share(r#"{"name":"dctcp","g":1.0,"alpha0":0.0}"#);
        share.start(0);
        share.observe(&ack(1, 10, 40, Mark::None), &mut Vec::new());
        share.observe(&ack(0, 10, 40, Mark::Kdc), &mut Vec::new());
        share.observe(&ack(4, 50, 60, Mark::Kdc), &mut Vec::new());
        assert_eq!(share.alpha, 1.0);
    }
}
