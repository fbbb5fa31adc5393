//! What an ACK tells a congestion controller.

use p4cc_units::{Span, Time};

/// The congestion level that one packet met, the highest along
/// its path (docs/algorithms/marking.md#dual-thresholds).
///
/// A network with one threshold (plain DCTCP) uses `None` and `Kdc` only.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub enum Mark {
    /// Not marked.
    #[default]
    None,
    /// The queue was above the lower threshold K.
    K,
    /// The queue was above K_dc, the threshold that DCTCP knows.
    Kdc,
}

/// A field of a header of the user's program, read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeaderField<'a> {
    /// Name of the header's type.
    pub header: &'a str,
    /// Its place in a stack of them, from 0.
    pub index: usize,
    /// Name of the field.
    pub name: &'a str,
    /// Its value; of a wider field the lower 128 bits.
    pub value: u128,
}

/// How far a flow is: what deadlines and attained service are reckoned from.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct FlowProgress {
    /// Segments sent so far, first transmissions only.
    pub sent_segments: u64,
    /// Segments that were never sent yet, the last one as the fraction it is; none for a flow without end.
    pub segments_left: Option<f64>,
    /// When the flow ought to be complete, if it has a deadline.
    pub deadline: Option<Time>,
}

/// One cumulative ACK as the algorithms see it; sequence numbers are 64-bit byte positions.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct AckSample {
    /// When the ACK arrived.
    pub now: Time,
    /// Segments that this ACK acknowledges for the first time; zero for a duplicate.
    pub new_segments: u64,
    /// The cumulative ACK: the next byte that the receiver expects.
    pub ack: u64,
    /// The next byte to send, before anything is sent in answer to this ACK.
    pub snd_nxt: u64,
    /// The mark that the receiver echoes for the packet that caused this ACK.
    pub mark: Mark,
    /// A round-trip time, if this ACK gives a valid one.
    pub rtt: Option<Span>,
    /// The smoothed round-trip time, this ACK's sample included; none before the first sample.
    pub srtt: Option<Span>,
    /// The sender uses too little of its window to say whether the network would carry more
    /// (docs/algorithms/window.md#window-validation): no growth by this ACK.
    pub is_unvalidated: bool,
    /// How far the flow is; empty where the algorithm does not read it.
    pub flow: FlowProgress,
}

impl AckSample {
    /// How many packets this ACK counts for where duplicates count
    /// too: `max(n_new, 1)` (docs/algorithms/window.md#dctcp-sender).
    pub const fn counted_segments(&self) -> u64 {
        if self.new_segments == 0 { 1 } else { self.new_segments }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_ordered_by_congestion() {
        assert!(Mark::None < Mark::K && Mark::K < Mark::Kdc);
    }
}
