//! Typed events that controllers publish; a recorder turns them into rows, nobody parses text.

use crate::Mark;

/// Where a flow stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Phase {
    /// Slow start; GST's phase A.
    SlowStart,
    /// The slower part of a slow start: GST's phase B, after
    /// early marks; near the threshold in modules that know one.
    Smoothing,
    /// Congestion avoidance; GST's phase C.
    Avoidance,
    /// Fast recovery.
    Recovery,
}

impl Phase {
    /// Short name for tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SlowStart => "slow_start",
            Self::Smoothing => "smoothing",
            Self::Avoidance => "avoidance",
            Self::Recovery => "recovery",
        }
    }
}

/// Why a window was cut.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CutCause {
    /// Congestion marks.
    Mark,
    /// A loss found by duplicate ACKs.
    FastRetransmit,
    /// The retransmission timer.
    Timeout,
}

/// What happened inside a controller.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Event {
    /// A new estimate of the marked share, at the end of an observation window.
    AlphaUpdated {
        /// The estimate, from 0 to 1.
        alpha: f64,
        /// The share of marked packets in the window that ended.
        marked_fraction: f64,
    },
    /// A new growth exponent of a slow-start module.
    DeltaUpdated {
        /// The exponent, from 0 (linear) to 1 (doubling).
        delta: f64,
        /// Estimated queue in packets; none when every packet or no packet was marked.
        queue_pkts: Option<f64>,
    },
    /// The window was made smaller.
    WindowCut {
        /// Window before, in segments.
        from_segments: f64,
        /// Window after, in segments.
        to_segments: f64,
        /// Why.
        cause: CutCause,
    },
    /// The flow entered another phase.
    PhaseChanged {
        /// The phase it left.
        from: Phase,
        /// The phase it entered.
        to: Phase,
    },
    /// The first echo of this mark in a slow start.
    FirstMark {
        /// The mark.
        mark: Mark,
    },
}

/// Takes the events of a controller.
pub trait Publisher {
    /// Takes one event; events come in the order in which they happen.
    fn publish(&mut self, event: Event);
}

impl Publisher for Vec<Event> {
    fn publish(&mut self, event: Event) {
        self.push(event);
    }
}
