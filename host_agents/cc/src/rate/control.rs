//! The interface of rate control: what an algorithm knows of its network, hears in an ACK, and answers.

use core::fmt;

use p4cc_units::{Bytes, Rate, Span, Time};

use super::int::IntEncoding;
use crate::HeaderField;

/// What a flow that requests its rate has left to send.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FlowRemainder {
    /// Now.
    pub now: Time,
    /// Bytes to send with their headers; none without end.
    pub left_bytes: Option<u64>,
    /// By when; none for no deadline.
    pub deadline: Option<Time>,
    /// Smoothed round-trip time.
    pub rtt: Span,
}

/// What it requests.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum RateRequest {
    /// This rate in bit/s; 0 for a fair share.
    Rate(f64),
    /// Nothing any more: the flow ends early (docs/algorithms/d3-rcp.md#d3-quench).
    Quench,
}

/// Where a rate-controlled sender runs: what its algorithm must know of the network.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RateEnvironment {
    /// Rate of the host's interface, the first rate and the highest
    /// (docs/algorithms/timely.md#timely-parameters,
    /// docs/algorithms/dcqcn.md#dcqcn-sender, docs/algorithms/hpcc.md#hpcc-sender).
    pub line_rate: Rate,
    /// Largest base round-trip time over host pairs (docs/algorithms/hpcc.md#hpcc-parameters, T;
    /// docs/algorithms/timely.md#timely-variants, for the window).
    pub base_rtt: Span,
    /// How switches write telemetry.
    pub int: IntEncoding,
    /// Payload of a full packet, and its length with IP and all behind it.
    pub packet: PacketSize,
}

/// A full packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacketSize {
    /// Its payload.
    pub payload: Bytes,
    /// Its IP length.
    pub ip: Bytes,
}

impl RateEnvironment {
    /// Line rate in bit/s.
    pub(crate) const fn line_bps(&self) -> f64 {
        self.line_rate.as_bps() as f64
    }

    /// Bytes that fit a base round trip at the line rate: `W_max` of
    /// docs/algorithms/timely.md#timely-variants, `W_init` of docs/algorithms/hpcc.md#hpcc-sender.
    pub(crate) fn bdp_bytes(&self) -> f64 {
        self.line_bps() * self.base_rtt.as_ps() as f64 / 8e12
    }
}

/// What one hop wrote into a packet, as it stands in the header:
/// wrapping counters in units (docs/algorithms/int.md#hpcc-int).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct HopRecord {
    /// Rate of the link.
    pub line_rate: Rate,
    /// When the packet left.
    pub timestamp: u32,
    /// What the port had sent before.
    pub tx: u32,
    /// What it had left to send.
    pub queue: u32,
}

/// What an ACK says to a rate-controlled sender.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct RateAck<'a> {
    /// When it arrived.
    pub now: Time,
    /// The next byte that the receiver expects.
    pub ack: u64,
    /// The next byte to send.
    pub snd_nxt: u64,
    /// Bytes known to have arrived above `ack`; 0 where receivers keep nothing out of order.
    pub above_bytes: u64,
    /// Bytes believed to be in the network.
    pub flight_bytes: u64,
    /// Bytes that this ACK showed to be lost: a packet where the receiver asks for an earlier byte.
    pub lost_bytes: u64,
    /// Round-trip time by the timestamp that came back, serialisation taken off where the transport does so.
    pub rtt: Option<Span>,
    /// The receiver saw a congestion mark (docs/algorithms/dcqcn.md#dcqcn-receiver, `ack_flag`).
    pub cnp: bool,
    /// Rate at which the flow really sent lately, in bit/s; none if it always had data.
    pub sent_bps: Option<f64>,
    /// Telemetry in the order of hops.
    pub hops: &'a [HopRecord],
    /// What tells the path of the telemetry from others (docs/algorithms/int.md#path-id).
    pub path: u16,
    /// Utilisation of the busiest port of the path, where the ACK tells it (docs/algorithms/hpcc.md#pint).
    pub utilisation: Option<f64>,
    /// Rate in bit/s that the switches of the path grant; 0 for
    /// the base rate, none where the ACK says nothing of it.
    pub granted_bps: Option<f64>,
    /// Every switch of the path lets one packet more in (docs/algorithms/bolt.md#bolt-header, INC).
    pub is_offered: bool,
    /// Switches that the ACK passed, by its TTL; 0 where that is not known.
    pub hop_count: u8,
}

impl RateAck<'_> {
    /// Bytes known to have arrived since the flow began.
    pub const fn arrived_bytes(&self) -> u64 {
        self.ack + self.above_bytes
    }
}

/// A queue of which a switch told, in a packet of its own or through the receiver
/// (docs/algorithms/bolt.md#bolt-header).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QueueNotice {
    /// When it arrived.
    pub now: Time,
    /// Since the packet that found the queue left the sender.
    pub elapsed: Span,
    /// What waited in the queue.
    pub queue: Bytes,
    /// The rate of its link.
    pub link_rate: Rate,
}

/// Congestion control by rate.
pub trait RateControl: fmt::Debug + Send {
    /// Takes an ACK.
    fn on_ack(&mut self, ack: &RateAck<'_>);

    /// Takes a congestion notification that came as a packet of its own
    /// (docs/algorithms/dcqcn.md#dcqcn-receiver).
    fn on_cnp(&mut self, _now: Time) {}

    /// Takes what a switch tells of its queue. The transport calls it only for algorithms that need
    /// [`crate::SwitchNeed::QueueNotices`].
    fn on_notice(&mut self, _notice: &QueueNotice) {}

    /// Packets were lost: the receiver asked for an earlier byte (docs/algorithms/substrate.md#go-back-n), or
    /// others arrived that left well after them, at most once in a round trip (#selective-repeat).
    fn on_loss(&mut self, _now: Time) {}

    /// The retransmission timer ran out.
    fn on_timeout(&mut self, _now: Time) {}

    /// Counts bytes that left.
    fn on_sent(&mut self, _now: Time, _size: Bytes) {}

    /// When [`Self::on_timer`] is to be called.
    fn next_timer(&self) -> Option<Time> {
        None
    }

    /// Does what is due at `now`; a call at another time does no harm.
    fn on_timer(&mut self, _now: Time) {}

    /// Lets timers pass that are due by `now` and change no rate, so that a long silence costs few calls. The
    /// state is that of a call of [`Self::on_timer`] for each of them.
    fn skip_timers(&mut self, _now: Time) {}

    /// What the flow requests of the switches. The transport calls it only for algorithms that need
    /// [`crate::SwitchNeed::RateAllocation`].
    fn request_rate(&mut self, _remainder: &FlowRemainder) -> RateRequest {
        RateRequest::Rate(0.0)
    }

    /// Pacing rate in bit/s; 0 says that no data may leave now.
    fn rate_bps(&self) -> f64;

    /// Window in bytes; none where the rate alone decides.
    fn cwnd_bytes(&self) -> Option<f64>;

    /// A packet may leave while less than this is in flight: the window, but for algorithms that send what
    /// fits it whole.
    fn flight_limit_bytes(&self) -> Option<f64> {
        self.cwnd_bytes()
    }

    /// Whether its pace follows from the round-trip times that it is told, so that each has to be of one
    /// packet: that of a segment holds the pauses within it, and would make them longer.
    fn paces_by_rtt(&self) -> bool {
        false
    }

    /// Whether each notification cuts its rate, so that receivers have to send few: a mark in every ACK would
    /// be as many cuts (docs/algorithms/dcqcn.md#dcqcn-published-form).
    fn cuts_with_each_notification(&self) -> bool {
        false
    }

    /// Takes the headers of the user's program that the next ACK echoes, for algorithms of the user's. It is
    /// called only where [`Self::reads_headers`] says so.
    fn on_headers(&mut self, _fields: &[HeaderField<'_>]) {}

    /// Whether it takes such headers.
    fn reads_headers(&self) -> bool {
        false
    }

    /// The value of an attribute by its name, for algorithms of the user's.
    fn state(&self, _name: &str) -> Option<f64> {
        None
    }
}
