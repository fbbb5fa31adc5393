//! Configuration of an RDMA-like flow, checked as a whole before a sender is made.

use std::collections::BTreeMap;

use p4cc_cc::{
    AlgorithmSpec, ConfigError, IntEncoding, PacketSize, RateControl, RateEnvironment, ReceiverAlgorithm,
    ReceiverEnvironment, SwitchNeed, build_rate, build_receiver, rate_needs,
};
use p4cc_units::{Bytes, Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bolt;
use super::decoded::Decoded;
use super::entropy::Entropy;
use super::request::MAX_RECORDS;
use crate::wire::IP_HEADERS_LEN;

/// How a receiver tells the sender of a marked packet (docs/algorithms/dcqcn.md#dcqcn-receiver, `np`).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Notification {
    /// The ECN bits echoed in each ACK are the notification.
    #[default]
    AckFlag,
    /// A packet of its own, at most one in `cnp_interval_ns`.
    Packet,
}

/// How a flow recovers from losses.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "RdmaRecovery")]
pub enum Recovery {
    /// The receiver takes what is in order; the sender goes back to what is missing
    /// (docs/algorithms/substrate.md#go-back-n).
    #[default]
    GoBackN,
    /// The receiver takes what is in order; both go back to the start of the message that misses a packet
    /// (docs/algorithms/substrate.md#go-back-0).
    #[serde(rename = "go_back_0")]
    GoBack0,
    /// The receiver keeps what comes; the sender sends again what is missing
    /// (docs/algorithms/substrate.md#selective-repeat).
    SelectiveRepeat,
}

/// Who shares the interval between two notifications (docs/algorithms/dcqcn.md#cnp-scope).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CnpScope {
    /// Each flow has its own.
    #[default]
    Flow,
    /// All flows from one host to the receiver's.
    Destination,
    /// All flows that end at the receiver's network card.
    Port,
}

/// What a sender must know to read hop records (docs/reference/wire-format.md, extension 1).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IntTable {
    /// Log2 of the multiplier of both units.
    pub unit_shift: u32,
    /// Nanoseconds of one tick of the switches' timestamps.
    pub tick_ns: u32,
    /// Line rate in bit/s of each code.
    pub rates_bps: BTreeMap<u8, u64>,
    /// Where records find room.
    #[serde(default)]
    pub room: IntRoom,
}

/// How packets make room for hop records (docs/algorithms/int.md#hpcc-int).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IntRoom {
    /// The packet grows by eight bytes a hop.
    #[default]
    Push,
    /// The sender reserves 42 bytes, as the ns-3 simulator does.
    HsFixed,
}

/// How a sender uses PINT (docs/algorithms/hpcc.md#pint).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PintTable {
    /// Base of the logarithm in which packets carry utilisation.
    pub log_base: f64,
    /// Share of packets that carry it.
    #[serde(default = "all")]
    pub share: f64,
    /// What each byte says, for all flows of this configuration.
    #[serde(skip)]
    pub(super) decoded: Decoded,
}

const fn all() -> f64 {
    1.0
}

impl IntTable {
    /// Units and widths of the records.
    pub(crate) fn encoding(&self) -> IntEncoding {
        IntEncoding {
            tick_ns: self.tick_ns,
            ..IntEncoding::hs_fixed(1 << self.unit_shift.min(MAX_UNIT_SHIFT))
        }
    }
}

/// Parameters of an RDMA-like flow.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RdmaConfig {
    /// Payload bytes of a full packet (docs/algorithms/substrate.md#packets: 1000).
    #[serde(default = "default_mss_bytes")]
    pub mss_bytes: u32,
    /// An ACK for so many packets in order (docs/algorithms/substrate.md#packets: 1).
    #[serde(default = "one")]
    pub ack_every: u32,
    /// An ACK for so many bytes in order; with `ack_every` above 1, for whichever comes first; absent: only
    /// packets count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ack_bytes: Option<u32>,
    /// Longest that a packet waits for its ACK, where receivers acknowledge rarely; absent: a base round-trip
    /// time (docs/algorithms/substrate.md#rare-acks).
    #[serde(default)]
    pub ack_delay_ns: Option<u64>,
    /// Shortest time between two NACKs for the same byte (docs/algorithms/substrate.md#go-back-n: 500 us).
    #[serde(default = "default_nack_interval_ns")]
    pub nack_interval_ns: u64,
    /// Retransmission timeout; absent: none, as in the ns-3
    /// simulator, so what is lost at the end of a flow stays lost.
    #[serde(default)]
    pub rto_ns: Option<u64>,
    /// How losses are recovered.
    #[serde(default)]
    pub recovery: Recovery,
    /// With go-back-0: bytes of a message, counted from the flow's start; absent: 2^30, so that a shorter
    /// flow is one message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_bytes: Option<u32>,
    /// With selective repeat: a packet is lost when so many bytes arrived that left after it; absent: one and
    /// a half windows, from five packets to one and a half times what a round trip holds.
    #[serde(default)]
    pub reordering_bytes: Option<u32>,
    /// Who chooses the value of each packet that switches choose its path by, and how
    /// (docs/algorithms/entropy.md).
    #[serde(default)]
    pub entropy: Entropy,
    /// Number of such values, a power of two.
    #[serde(default = "default_entropy_values")]
    pub entropy_values: u16,
    /// How marks come back.
    #[serde(default)]
    pub notification: Notification,
    /// Shortest time between two notifications that are packets of their own.
    #[serde(default = "default_cnp_interval_ns")]
    pub cnp_interval_ns: u64,
    /// Who shares that interval.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cnp_scope: CnpScope,
    /// Time that the receiver's network card takes for each notification.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cnp_processing_ns: u64,
    /// Time that the receiver's network card takes for each ACK and NACK.
    #[serde(default, skip_serializing_if = "is_default")]
    pub ack_processing_ns: u64,
    /// Traffic class of ACKs, NACKs and notifications: the queue of the sending host that
    /// they share, and what switches may go by (docs/algorithms/pfc.md#pfc-parameters: 7
    /// with `ack_high_prio`, else that of data).
    #[serde(default = "default_ack_class")]
    pub ack_class: u8,
    /// Whether the time of the packet on the sender's link is taken
    /// off round-trip times (docs/algorithms/timely.md#rtt-sample).
    #[serde(default)]
    pub rtt_without_serialisation: bool,
    /// Payload of a segment, which gives one round-trip time when all of it is
    /// acknowledged, serialisation taken off, and whose last packet asks for an ACK
    /// (docs/algorithms/timely.md#rtt-sample); absent: a round-trip time with every ACK.
    #[serde(default)]
    pub segment_bytes: Option<u32>,
    /// Who wants the data asks for it, a request for each segment, which the algorithm paces
    /// (docs/algorithms/timely.md#reads).
    #[serde(default)]
    pub reads: bool,
    /// Payload that leaves back to back before the pace is kept;
    /// absent: a segment, or a packet where there are none.
    #[serde(default)]
    pub burst_bytes: Option<u32>,
    /// Rate within a burst; absent: the interface's (docs/algorithms/reproductions.md#y-pace).
    #[serde(default)]
    pub burst_rate_bps: Option<u64>,
    /// Whether switches may mark its data; absent: if the algorithm reads marks
    /// (docs/algorithms/reproductions.md#y-corr looks at marks that TIMELY does not).
    #[serde(default)]
    pub ecn_capable: Option<bool>,
    /// Round-trip times are longer by a uniform random time from 0 to this
    /// (docs/algorithms/reproductions.md#y-noise). Who runs the sender draws it.
    #[serde(default)]
    pub rtt_noise_uniform_ns: u64,
    /// And by an exponential one of this mean: timestamps of
    /// a kernel (docs/algorithms/reproductions.md#y-rtt).
    #[serde(default)]
    pub rtt_noise_exp_ns: u64,
    /// Largest base round-trip time over host pairs (docs/algorithms/hpcc.md#hpcc-parameters, T).
    pub base_rtt_ns: u64,
    /// How to read hop records; needed by algorithms that read telemetry.
    #[serde(default)]
    pub int: Option<IntTable>,
    /// How to use PINT; needed by algorithms that read the utilisation of their path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pint: Option<PintTable>,
    /// Hops that rate requests have room for; a path with more gets the base rate
    /// (docs/algorithms/d3-rcp.md#d3-header: at most 6).
    #[serde(default = "default_request_records")]
    pub request_records: u8,
    /// Round-trip times, smoothed or the base's if that is longer, after which the return of a rate request
    /// is given up (our own).
    #[serde(default = "default_request_patience_rounds")]
    pub request_patience_rounds: u32,
    /// The algorithm of the rate family.
    pub cc: AlgorithmSpec,
    /// The receiver of the host where flows end, which then lets them send; absent: senders decide
    /// (docs/algorithms/receivers.md).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receiver: Option<AlgorithmSpec>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

const fn default_mss_bytes() -> u32 {
    1_000
}

const fn one() -> u32 {
    1
}

const fn default_nack_interval_ns() -> u64 {
    500_000
}

const fn default_cnp_interval_ns() -> u64 {
    50_000
}

const fn default_request_records() -> u8 {
    MAX_RECORDS
}

const fn default_request_patience_rounds() -> u32 {
    4
}

/// docs/algorithms/entropy.md#entropy-parameters.
const fn default_entropy_values() -> u16 {
    1_024
}

const fn default_ack_class() -> u8 {
    7
}

/// As of the window transport: leaves room for headers and any extension.
const MAX_MSS_BYTES: u64 = 65_000;
/// As of the window transport.
const MAX_ACK_EVERY: u64 = 1_024;
const MAX_TIME_NS: u64 = 3_600_000_000_000;
const MAX_UNIT_SHIFT: u32 = 5;
/// Powers up to 512 times 512 fit a byte from the first of these on
/// (docs/algorithms/hpcc.md#pint-parameters).
const LEAST_LOG_BASE: f64 = 1.05;
const MOST_LOG_BASE: f64 = 2.0;
/// A packet in a million.
const LEAST_PINT_SHARE: f64 = 1e-6;
/// The dynamic ports.
const MAX_ENTROPY_VALUES: u64 = 1 << 14;
const MAX_SEGMENT_BYTES: u64 = 1 << 24;
const MAX_REORDERING_BYTES: u64 = 1 << 30;
/// As of what may arrive out of order.
const MAX_MESSAGE_BYTES: u64 = 1 << 30;

impl RdmaConfig {
    /// Checks everything for a host whose interface has this rate.
    ///
    /// # Errors
    /// The first value that cannot be used, by its path below this configuration.
    pub fn validate(&self, line_rate: Rate) -> Result<(), ConfigError> {
        self.control(line_rate).map(|_| ())
    }

    /// The algorithm of a new flow, after all checks.
    pub(crate) fn control(&self, line_rate: Rate) -> Result<Box<dyn RateControl>, ConfigError> {
        self.check_ranges()?;
        let environment = RateEnvironment {
            line_rate,
            base_rtt: Span::from_ns(self.base_rtt_ns),
            int: self.int.as_ref().map_or(IntEncoding::hs_fixed(1), IntTable::encoding),
            packet: self.packet(),
        };
        let control = build_rate(&self.cc, &environment).map_err(|error| error.within("cc"))?;
        if self.needs() == SwitchNeed::Telemetry && self.int.is_none() {
            let cause =
                format!("{} reads telemetry and does not know the units of its records", self.cc.name);
            return Err(ConfigError::new("int", cause, "give unit_shift, tick_ns and rates_bps"));
        }
        self.check_pint()?;
        if self.segment_bytes.is_some() && control.paces_by_rtt() {
            let cause = format!(
                "{} sets its pace by round-trip times, and those of segments hold the pauses within them",
                self.cc.name
            );
            return Err(ConfigError::new("segment_bytes", cause, "leave it out: each packet gives one"));
        }
        if control.cuts_with_each_notification() && self.notification == Notification::AckFlag {
            let cause = format!(
                "{} in this form cuts with every notification, and each marked ACK is one",
                self.cc.name
            );
            let remedy = "give packet: at most one comes in cnp_interval_ns";
            return Err(ConfigError::new("notification", cause, remedy));
        }
        self.check_reads()?;
        self.check_notifications()?;
        self.check_receiver(line_rate)?;
        self.check_recovery()?;
        self.check_entropy()?;
        Ok(control)
    }

    /// The receiver of a host whose line has this rate and this framing; none where senders decide.
    ///
    /// # Errors
    /// An unknown algorithm or parameter, or a value out of range.
    pub fn receiver(
        &self,
        line_rate: Rate,
        framing_bytes: u32,
    ) -> Result<Option<Box<dyn ReceiverAlgorithm>>, ConfigError> {
        let Some(spec) = &self.receiver else { return Ok(None) };
        build_receiver(spec, &self.receiver_environment(line_rate, framing_bytes)).map(Some)
    }

    /// What the receiver of such a host is told.
    pub fn receiver_environment(&self, line_rate: Rate, framing_bytes: u32) -> ReceiverEnvironment {
        let packet = self.packet();
        let line_bytes = Bytes(packet.ip.0 + u64::from(framing_bytes));
        ReceiverEnvironment { line_rate, base_rtt: Span::from_ns(self.base_rtt_ns), packet, line_bytes }
    }

    fn check_receiver(&self, line_rate: Rate) -> Result<(), ConfigError> {
        if self.receiver.is_none() {
            return Ok(());
        }
        self.receiver(line_rate, 0)?;
        let refuse = |cause: &str, remedy: &str| Err(ConfigError::new("receiver", cause, remedy));
        if self.reads {
            return refuse("a reader asks for its data itself", "leave out receiver or reads");
        }
        // Both need go-back-N, which a receiver cannot have: their refusals would name each other as the way.
        if self.needs() == SwitchNeed::RateAllocation {
            let cause =
                format!("{} asks switches for its rate, and a receiver lets senders send", self.cc.name);
            return refuse(&cause, "leave out receiver, or take another algorithm");
        }
        if self.segment_bytes.is_some() {
            return refuse(
                "segments count on packets in order, and a receiver asks for single ones",
                "leave out receiver or segment_bytes",
            );
        }
        if self.recovery != Recovery::SelectiveRepeat {
            return refuse(
                "a receiver lets lost packets be sent again one by one",
                "give recovery: selective_repeat",
            );
        }
        if self.rto_ns.is_none() {
            return refuse("packets and pulls may be lost, and senders have no timeout", "give rto_ns");
        }
        Ok(())
    }

    /// Bytes of a message, where the ends go back to its start. Sequence numbers of 32 bits tell the bytes of
    /// half of their range apart, which holds the longest message and what is on the way behind it.
    pub(super) fn message(&self) -> Option<u64> {
        (self.recovery == Recovery::GoBack0).then(|| self.message_bytes.map_or(MAX_MESSAGE_BYTES, u64::from))
    }

    /// Whether receivers answer several packets at once.
    pub(super) const fn acks_rarely(&self) -> bool {
        self.ack_every > 1 || self.ack_bytes.is_some()
    }

    /// Longest that a packet waits for its ACK.
    pub(super) fn ack_delay(&self) -> Span {
        Span::from_ns(self.ack_delay_ns.unwrap_or(self.base_rtt_ns))
    }

    /// A full packet; what telemetry adds on its way does not count.
    fn packet(&self) -> PacketSize {
        let payload = u64::from(self.mss_bytes);
        let extension = if self.needs() == SwitchNeed::QueueNotices { bolt::BYTES } else { 0 };
        PacketSize { payload: Bytes(payload), ip: Bytes(payload + (IP_HEADERS_LEN + extension) as u64) }
    }

    /// What the algorithm needs from switches.
    pub(crate) fn needs(&self) -> SwitchNeed {
        rate_needs(&self.cc)
    }

    /// What a reader paces is requests: it has to know their size, and no switch writes into them.
    fn check_reads(&self) -> Result<(), ConfigError> {
        if !self.reads {
            return Ok(());
        }
        if self.segment_bytes.is_none() {
            let cause = "a reader asks for segments, and their size is not said";
            return Err(ConfigError::new("reads", cause, "give segment_bytes"));
        }
        if self.needs() != SwitchNeed::None || self.notification == Notification::Packet {
            let cause =
                format!("{} goes by what switches say about its data, and a reader sends none", self.cc.name);
            return Err(ConfigError::new("reads", cause, "take timely or fixed, or leave reads out"));
        }
        // The answers of a reader are its requests.
        let unused = [
            ("ack_bytes", self.ack_bytes.is_some()),
            ("ack_processing_ns", self.ack_processing_ns > 0),
            ("cnp_processing_ns", self.cnp_processing_ns > 0),
        ];
        if let Some((place, _)) = unused.into_iter().find(|(_, is_given)| *is_given) {
            return Err(ConfigError::new(place, "a reader sends no ACKs", "leave it out, or reads"));
        }
        Ok(())
    }

    /// What a byte of PINT can say, and whether there is one.
    fn check_pint(&self) -> Result<(), ConfigError> {
        let Some(pint) = &self.pint else {
            if self.needs() != SwitchNeed::PathUtilisation {
                return Ok(());
            }
            let cause = format!("{} reads PINT and does not know the base of its logarithm", self.cc.name);
            return Err(ConfigError::new("pint", cause, "give log_base"));
        };
        for (place, value, least, most) in [
            ("pint.log_base", pint.log_base, LEAST_LOG_BASE, MOST_LOG_BASE),
            ("pint.share", pint.share, LEAST_PINT_SHARE, 1.0),
        ] {
            if !(least..=most).contains(&value) {
                let remedy = format!("give a number from {least} to {most}");
                return Err(ConfigError::new(place, format!("{value} is out of range"), remedy));
            }
        }
        Ok(())
    }

    /// An interval that flows share, and a time of the card, are those of packets of their own.
    fn check_notifications(&self) -> Result<(), ConfigError> {
        if self.notification == Notification::Packet {
            return Ok(());
        }
        if self.cnp_scope != CnpScope::Flow {
            let cause = "marks come back in ACKs, which no interval bounds";
            return Err(ConfigError::new("cnp_scope", cause, "give notification: packet"));
        }
        if self.cnp_processing_ns > 0 {
            let cause = "marks come back in ACKs, which take ack_processing_ns";
            return Err(ConfigError::new("cnp_processing_ns", cause, "give notification: packet"));
        }
        Ok(())
    }

    /// Segments and rate requests go back to a byte: they count on what comes in order, once.
    fn check_recovery(&self) -> Result<(), ConfigError> {
        if self.recovery != Recovery::SelectiveRepeat && self.reordering_bytes.is_some() {
            let cause = "the receiver takes nothing out of order";
            return Err(ConfigError::new("reordering_bytes", cause, "give recovery: selective_repeat"));
        }
        if self.recovery != Recovery::GoBack0 && self.message_bytes.is_some() {
            let cause = "nothing goes back to the start of a message";
            return Err(ConfigError::new("message_bytes", cause, "give recovery: go_back_0"));
        }
        if self.recovery == Recovery::GoBackN {
            return Ok(());
        }
        let other = if self.segment_bytes.is_some() {
            "segments"
        } else if self.needs() == SwitchNeed::RateAllocation {
            "rate requests"
        } else {
            return Ok(());
        };
        let cause = format!("{other} count on packets in order");
        Err(ConfigError::new("recovery", cause, "take go_back_n"))
    }

    /// Packets of one flow take several paths: what counts on their order, or on records of one path, cannot.
    fn check_entropy(&self) -> Result<(), ConfigError> {
        let refuse = |cause: String, remedy: &str| Err(ConfigError::new("entropy", cause, remedy));
        if self.entropy == Entropy::Flow {
            if self.entropy_values == default_entropy_values() {
                return Ok(());
            }
            let cause = "all packets of a flow have one value";
            return Err(ConfigError::new("entropy_values", cause, "leave it out, or give entropy"));
        }
        if !self.needs().reads_marks() && self.needs() != SwitchNeed::None {
            let cause = format!("{} goes by what the switches of one path say", self.cc.name);
            return refuse(cause, "leave out entropy, or take an algorithm that reads marks or delays");
        }
        if self.reads {
            return refuse("the sender of a read is its source".to_owned(), "leave out entropy or reads");
        }
        if self.recovery != Recovery::SelectiveRepeat {
            let cause = "packets on several paths arrive out of order, which go-back-N takes for losses";
            return refuse(cause.to_owned(), "give recovery: selective_repeat, or leave out entropy");
        }
        if !self.entropy_values.is_power_of_two() {
            let cause = format!("{} is not a power of two", self.entropy_values);
            let remedy = "give a power of two up to 16384";
            return Err(ConfigError::new("entropy_values", cause, remedy));
        }
        Ok(())
    }

    fn check_ranges(&self) -> Result<(), ConfigError> {
        let shift = self.int.as_ref().map_or(0, |int| int.unit_shift);
        let tick_ns = self.int.as_ref().map_or(1, |int| int.tick_ns);
        for (place, value, min, max) in [
            ("mss_bytes", u64::from(self.mss_bytes), 1, MAX_MSS_BYTES),
            ("ack_every", u64::from(self.ack_every), 1, MAX_ACK_EVERY),
            ("ack_bytes", u64::from(self.ack_bytes.unwrap_or(1)), 1, MAX_REORDERING_BYTES),
            ("message_bytes", u64::from(self.message_bytes.unwrap_or(1)), 1, MAX_MESSAGE_BYTES),
            ("cnp_processing_ns", self.cnp_processing_ns, 0, MAX_TIME_NS),
            ("ack_processing_ns", self.ack_processing_ns, 0, MAX_TIME_NS),
            ("ack_delay_ns", self.ack_delay_ns.unwrap_or(1), 1, MAX_TIME_NS),
            ("ack_class", u64::from(self.ack_class), 0, 7),
            ("nack_interval_ns", self.nack_interval_ns, 0, MAX_TIME_NS),
            ("cnp_interval_ns", self.cnp_interval_ns, 0, MAX_TIME_NS),
            ("rto_ns", self.rto_ns.unwrap_or(1), 1, MAX_TIME_NS),
            ("base_rtt_ns", self.base_rtt_ns, 1, MAX_TIME_NS),
            ("segment_bytes", u64::from(self.segment_bytes.unwrap_or(1)), 1, MAX_SEGMENT_BYTES),
            ("burst_bytes", u64::from(self.burst_bytes.unwrap_or(1)), 1, MAX_SEGMENT_BYTES),
            ("reordering_bytes", u64::from(self.reordering_bytes.unwrap_or(1)), 1, MAX_REORDERING_BYTES),
            ("entropy_values", u64::from(self.entropy_values), 1, MAX_ENTROPY_VALUES),
            ("burst_rate_bps", self.burst_rate_bps.unwrap_or(1_000), 1_000, 10_000_000_000_000),
            ("rtt_noise_uniform_ns", self.rtt_noise_uniform_ns, 0, MAX_TIME_NS),
            ("rtt_noise_exp_ns", self.rtt_noise_exp_ns, 0, MAX_TIME_NS / 100),
            ("request_records", u64::from(self.request_records), 1, u64::from(MAX_RECORDS)),
            ("request_patience_rounds", u64::from(self.request_patience_rounds), 2, 1_000),
            ("int.unit_shift", u64::from(shift), 0, u64::from(MAX_UNIT_SHIFT)),
            ("int.tick_ns", u64::from(tick_ns), 1, 1_000_000),
        ] {
            if !(min..=max).contains(&value) {
                let cause = format!("{value} is out of range");
                return Err(ConfigError::new(place, cause, format!("give a number from {min} to {max}")));
            }
        }
        Ok(())
    }
}
