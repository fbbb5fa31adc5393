//! Which part of a sender or of a receiver an algorithm is, and what it needs from the switches.

use serde::{Deserialize, Serialize};

/// Which part of a controller an algorithm is, or a receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Growth below the threshold.
    SlowStart,
    /// Growth above the threshold and the answer to marks.
    CongestionAvoidance,
    /// A pacing rate, and for some a window.
    RateControl,
    /// What a host lets the senders of its flows send.
    Receiver,
}

impl Kind {
    /// The configuration key that holds an algorithm of this kind.
    pub const fn key(self) -> &'static str {
        match self {
            Self::SlowStart => "slow_start",
            Self::CongestionAvoidance => "congestion_avoidance",
            Self::RateControl => "rate_control",
            Self::Receiver => "receiver",
        }
    }
}

/// What an algorithm needs from the switches on its path; in the window family from least to most.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SwitchNeed {
    /// Nothing but forwarding.
    None,
    /// Marks above one queue threshold.
    OneEcnThreshold,
    /// Marks at two levels above two queue thresholds.
    TwoEcnThresholds,
    /// Marks with a probability that rises with the queue (RED).
    RandomEcn,
    /// A record of every hop in each packet (INT).
    Telemetry,
    /// Rates allotted on request (D3's allocator).
    RateAllocation,
    /// One fair rate stamped into packets (RCP).
    FairRate,
    /// Queues told to senders at once, and places and room offered to them (Bolt).
    QueueNotices,
    /// The utilisation of the path's busiest port in each packet (PINT).
    PathUtilisation,
    /// A queue of its own for packets with ECT(1), whose marks come at once (RFC9331).
    L4sMarks,
}

impl SwitchNeed {
    /// Whether the algorithm reads congestion marks, so that its data packets are to be capable of ECN.
    pub const fn reads_marks(self) -> bool {
        matches!(self, Self::OneEcnThreshold | Self::TwoEcnThresholds | Self::RandomEcn | Self::L4sMarks)
    }

    /// Whether switches say at which rate a flow may send.
    pub const fn grants_rates(self) -> bool {
        matches!(self, Self::RateAllocation | Self::FairRate)
    }
}
