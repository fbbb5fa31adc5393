//! The interface of receivers: what one knows of its host, what arrives, and what it may do.

use core::fmt;

use p4cc_units::{Bytes, Rate, Span, Time};

use crate::rate::PacketSize;

/// Where a receiver runs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ReceiverEnvironment {
    /// Rate of the host's line.
    pub line_rate: Rate,
    /// Largest base round-trip time over host pairs.
    pub base_rtt: Span,
    /// A full packet.
    pub packet: PacketSize,
    /// What a full packet takes of the line: its IP length and the framing.
    pub line_bytes: Bytes,
}

impl ReceiverEnvironment {
    /// Full packets that a base round trip at the line rate holds, at least one.
    pub(crate) fn bdp_packets(&self) -> u64 {
        let bits =
            u128::from(self.line_rate.as_bps()) * u128::from(self.base_rtt.as_ps()) / 1_000_000_000_000;
        (bits.div_ceil(8 * u128::from(self.packet.ip.0.max(1))) as u64).max(1)
    }
}

/// Data that reaches a host, whole or as its header alone.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Arrival {
    /// When.
    pub now: Time,
    /// The flow's number on the wire.
    pub flow: u32,
    /// Position of its first byte in the flow.
    pub start: u64,
    /// Payload bytes, with which it left.
    pub bytes: u32,
    /// A switch cut the payload off.
    pub is_trimmed: bool,
    /// What the flow has beyond this packet, as the sender says; none of a flow without a known end.
    pub beyond_bytes: Option<u64>,
    /// Credit that the flow wants since it began, what arrived as headers not counted; none where senders do
    /// not ask.
    pub wanted: Option<u64>,
    /// It has a congestion mark.
    pub is_marked: bool,
    /// Its traffic class.
    pub class: u8,
}

impl Arrival {
    /// One past its last byte.
    pub const fn end(&self) -> u64 {
        self.start + self.bytes as u64
    }
}

/// What a receiver does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReceiverAction {
    /// Answers the data that just arrived at once, however rarely the transport acknowledges.
    Acknowledge,
    /// Lets a flow send so many bytes more, new ones or lost ones.
    Pull {
        /// The flow.
        flow: u32,
        /// The bytes.
        bytes: u32,
    },
    /// Lets a flow send up to a byte, lost ones before it included.
    Grant {
        /// The flow.
        flow: u32,
        /// One past the last byte.
        up_to: u64,
        /// Traffic class of its data from now on; none for the flow's own.
        class: Option<u8>,
    },
}

/// The receiver of a host. Actions are appended to `actions`, in the order in which packets are to leave.
pub trait ReceiverAlgorithm: fmt::Debug + Send {
    /// What a flow may send before it hears of this receiver.
    fn unasked_bytes(&self) -> u64;

    /// The most that a sender asks for at once, in each of its packets; none where senders do not ask. One
    /// that asks sends nothing unasked from what it first hears on.
    fn asks_up_to(&self) -> Option<u64> {
        None
    }

    /// Takes data that arrives, or a request for credit, which has no bytes.
    fn on_arrival(&mut self, arrival: &Arrival, actions: &mut Vec<ReceiverAction>);

    /// A flow is whole.
    fn on_complete(&mut self, _now: Time, _flow: u32, _actions: &mut Vec<ReceiverAction>) {}

    /// When [`Self::on_timer`] is to be called.
    fn next_timer(&self) -> Option<Time> {
        None
    }

    /// Does what is due at `now`; a call at another time does no harm.
    fn on_timer(&mut self, _now: Time, _actions: &mut Vec<ReceiverAction>) {}
}
