//! Configuration of a sender: defaults of docs/algorithms/window.md#reno-parameters,
//! checked as a whole before a sender is made.

use p4cc_cc::{
    AlgorithmConfig, ConfigError, Controller, Echo, InitialWindow, SwitchNeed, Window, WindowValidation,
    build,
};
use p4cc_units::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::rtt::RtoBounds;
use crate::{EcnProfile, ReceiverConfig};

/// What packets of a flow are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PacketFormat {
    /// p4cc's transport header over UDP.
    #[default]
    Udp,
    /// TCP.
    Tcp,
}

/// The IP version of a flow's packets, 4 or 6.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "u8", into = "u8")]
#[schemars(with = "u8", extend("enum" = [4, 6]))]
pub enum IpVersion {
    /// IPv4.
    #[default]
    V4,
    /// IPv6.
    V6,
}

impl TryFrom<u8> for IpVersion {
    type Error = String;

    fn try_from(version: u8) -> Result<Self, String> {
        match version {
            4 => Ok(Self::V4),
            6 => Ok(Self::V6),
            other => Err(format!("{other} is not an IP version: give 4 or 6")),
        }
    }
}

impl From<IpVersion> for u8 {
    fn from(version: IpVersion) -> Self {
        match version {
            IpVersion::V4 => 4,
            IpVersion::V6 => 6,
        }
    }
}

/// Loss recovery after duplicate ACKs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Recovery {
    /// Fast recovery ends with the first new ACK (RFC5681).
    Reno,
    /// Fast recovery ends when everything sent before it is acknowledged (RFC6582).
    NewReno,
    /// The receiver reports what it has, and only what is missing is sent again (RFC2018, RFC6675).
    Sack,
}

/// Parameters of a window sender; absent keys take the defaults of docs/algorithms/window.md#reno-parameters.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SenderConfig {
    /// What packets are on the wire.
    pub packets: PacketFormat,
    /// Over which IP.
    pub ip: IpVersion,
    /// Loss recovery.
    pub recovery: Recovery,
    /// Payload bytes of a full segment; with 64 B of headers 1436 make a packet of 1500 B.
    pub mss_bytes: u32,
    /// Initial window in segments.
    pub iw: u32,
    /// First slow-start threshold in segments.
    pub ssthresh0: f64,
    /// Receiver window in segments: the most that is ever in flight.
    pub rwnd: u32,
    /// Whether `cwnd` grows beyond `rwnd`, where no more may be in flight: RFC5681 sets no bound, RFC7661's
    /// validation one of twice what is in flight. A cut begins at the larger window.
    pub grow_beyond_rwnd: bool,
    /// What becomes of a window that the sender does not use
    /// (docs/algorithms/window.md#window-validation).
    pub window_validation: WindowValidation,
    /// Smallest retransmission timeout.
    pub rto_min_ns: u64,
    /// Timeout before the first round-trip sample; absent: the larger of `rto_min_ns` and one second.
    pub rto_init_ns: Option<u64>,
    /// Largest timeout, backoff included.
    pub rto_max_ns: u64,
    /// Duplicate ACKs that mean a loss.
    pub dupthresh: u32,
    /// Whether each duplicate ACK below `dupthresh` lets a new segment leave (RFC3042).
    pub limited_transmit: bool,
    /// The receiver sends an ACK for so many packets in order: 1 for each, 2 for delayed ACKs.
    pub ack_every: u32,
    /// Longest that a packet waits for its ACK, where `ack_every` is above 1; absent: 40 ms, or half of
    /// `rto_min_ns` where that is less.
    pub ack_delay_ns: Option<u64>,
    /// Payload that the sender hands to its interface at once, as with segmentation offload; absent: a
    /// segment (docs/algorithms/window.md#kernel-sender).
    pub tso_bytes: Option<u32>,
    /// Data and ACKs wait in the kernel of the host that they reach: the first for an exponential time of
    /// this mean, what comes meanwhile goes with it. Who runs the sender draws it; 0: none.
    pub host_delay_exp_ns: u64,
    /// Grain of the clock in the timeout formula (G of RFC6298).
    pub clock_granularity_ns: u64,
    /// ECN codepoints of the network; null sends packets that are not capable of ECN.
    ///
    /// A sender whose algorithms do not read marks sends such packets in every profile.
    pub ecn_profile: Option<EcnProfile>,
    /// Congestion control.
    pub cc: AlgorithmConfig,
}

impl Default for SenderConfig {
    fn default() -> Self {
        Self {
            packets: PacketFormat::Udp,
            ip: IpVersion::V4,
            recovery: Recovery::NewReno,
            mss_bytes: 1_436,
            iw: 1,
            ssthresh0: Window::MAX_SEGMENTS,
            rwnd: 32,
            grow_beyond_rwnd: true,
            window_validation: WindowValidation::default(),
            rto_min_ns: 200_000_000,
            rto_init_ns: None,
            rto_max_ns: 60_000_000_000,
            dupthresh: 3,
            // docs/algorithms/window.md#reno-rules: off, "it changes incast results strongly".
            limited_transmit: false,
            // docs/algorithms/substrate.md#packets: one ACK per
            // data packet; delayed ACKs have m = 2 and 40 ms.
            ack_every: 1,
            ack_delay_ns: None,
            tso_bytes: None,
            host_delay_exp_ns: 0,
            clock_granularity_ns: 1_000,
            ecn_profile: Some(EcnProfile::Gst),
            cc: AlgorithmConfig::default(),
        }
    }
}

/// Largest payload of a segment: leaves room in IPv4's 16-bit length for the headers and any extension.
const MAX_MSS_BYTES: u32 = 65_000;
/// Largest receiver window in segments; with the largest segment it could pass [`MAX_WINDOW_BYTES`].
const MAX_RWND_SEGMENTS: u32 = 1 << 20;
/// Sequence numbers of 32 bits are told apart only within half their range.
const MAX_WINDOW_BYTES: u64 = 1 << 30;
/// Most packets that one ACK answers.
const MAX_ACK_EVERY: u64 = 1_024;
/// Longest that a packet waits for its ACK by default (docs/algorithms/substrate.md#packets).
const ACK_DELAY_NS: u64 = 40_000_000;
/// Largest burst of segmentation offload; an IPv4 length bounds it to 64 KiB in kernels.
const MAX_TSO_BYTES: u64 = 1 << 20;
/// Longest time that a parameter may give: one hour.
const MAX_TIME_NS: u64 = 3_600_000_000_000;

impl SenderConfig {
    /// Checks ranges, algorithms, and that the ECN profile can carry what the algorithms need.
    ///
    /// # Errors
    /// The first value that cannot be used, by its path below this configuration.
    pub fn validate(&self) -> Result<(), ConfigError> {
        match self.packets {
            PacketFormat::Udp => self.controller().map(|_| ()),
            PacketFormat::Tcp => self.tcp().map(|_| ()),
        }
    }

    /// The window of a new flow.
    #[must_use]
    pub fn initial_window(&self) -> InitialWindow {
        let ceiling_segments =
            if self.grow_beyond_rwnd { Window::MAX_SEGMENTS } else { f64::from(self.rwnd) };
        InitialWindow {
            cwnd_segments: f64::from(self.iw),
            ssthresh_segments: self.ssthresh0,
            ceiling_segments,
            validation: self.window_validation,
        }
    }

    /// The controller of a new flow, after all checks.
    pub(crate) fn controller(&self) -> Result<Controller, ConfigError> {
        self.check_ranges()?;
        let controller = build(&self.cc, self.initial_window()).map_err(|error| error.within("cc"))?;
        let two_levels = self.ecn_profile.is_none_or(EcnProfile::has_two_levels);
        if controller.switch_needs() == SwitchNeed::TwoEcnThresholds && !two_levels {
            return Err(ConfigError::new(
                "ecn_profile",
                "rfc3168 has one congestion level, the slow start needs two",
                "choose gst or sce",
            ));
        }
        let is_classic = self.ecn_profile.is_none_or(|profile| profile == EcnProfile::Rfc3168);
        if controller.switch_needs() == SwitchNeed::L4sMarks && !is_classic {
            return Err(ConfigError::new(
                "ecn_profile",
                "packets of L4S are ECT(1), 01, which is a mark in this profile",
                "choose rfc3168",
            ));
        }
        let has_ce = self.ecn_profile.is_none_or(EcnProfile::marks_with_ce);
        if controller.echo() == Echo::UntilCwr && !has_ce {
            return Err(ConfigError::new(
                "ecn_profile",
                "gst has no CE codepoint, which the receiver of classic ECN is to repeat",
                "choose rfc3168 or sce",
            ));
        }
        Ok(controller)
    }

    fn check_ranges(&self) -> Result<(), ConfigError> {
        within("mss_bytes", u64::from(self.mss_bytes), 1, u64::from(MAX_MSS_BYTES))?;
        within("rwnd", u64::from(self.rwnd), 1, u64::from(MAX_RWND_SEGMENTS))?;
        within("iw", u64::from(self.iw), 1, u64::from(MAX_RWND_SEGMENTS))?;
        within("dupthresh", u64::from(self.dupthresh), 1, 1_000)?;
        within("ack_every", u64::from(self.ack_every), 1, MAX_ACK_EVERY)?;
        within("ack_delay_ns", self.ack_delay_ns.unwrap_or(0), 0, MAX_TIME_NS)?;
        within("tso_bytes", u64::from(self.tso_bytes.unwrap_or(1)), 1, MAX_TSO_BYTES)?;
        within("host_delay_exp_ns", self.host_delay_exp_ns, 0, MAX_TIME_NS / 100)?;
        within("clock_granularity_ns", self.clock_granularity_ns, 0, MAX_TIME_NS)?;
        within("rto_min_ns", self.rto_min_ns, 1, MAX_TIME_NS)?;
        within("rto_max_ns", self.rto_max_ns, self.rto_min_ns, MAX_TIME_NS)?;
        if let Some(rto_init_ns) = self.rto_init_ns {
            within("rto_init_ns", rto_init_ns, self.rto_min_ns, self.rto_max_ns)?;
        }
        if !(1.0..=Window::MAX_SEGMENTS).contains(&self.ssthresh0) {
            return Err(out_of_range("ssthresh0", self.ssthresh0, 1.0, Window::MAX_SEGMENTS));
        }
        let window_bytes = u64::from(self.rwnd) * u64::from(self.mss_bytes);
        if window_bytes > MAX_WINDOW_BYTES {
            return Err(ConfigError::new(
                "rwnd",
                format!("{} segments of {} B are {window_bytes} B", self.rwnd, self.mss_bytes),
                format!("32-bit sequence numbers allow {MAX_WINDOW_BYTES} B in flight: lower rwnd"),
            ));
        }
        Ok(())
    }

    /// What the receiver of this sender's flows is to be. By default it answers before the sender times out
    /// (docs/algorithms/window.md#delayed-acks).
    pub fn receiver(&self) -> ReceiverConfig {
        let ack_delay_ns = self.ack_delay_ns.unwrap_or(ACK_DELAY_NS.min(self.rto_min_ns / 2));
        ReceiverConfig {
            rwnd_segments: self.rwnd,
            mss_bytes: self.mss_bytes,
            ack_every: self.ack_every,
            ack_delay: Span::from_ns(ack_delay_ns),
        }
    }

    pub(crate) fn rto_bounds(&self) -> RtoBounds {
        // docs/algorithms/window.md#reno-parameters: rto_init = max(rto_min,
        // 1 s), and never above the maximum that was asked for.
        let default_ns = self.rto_min_ns.max(1_000_000_000).min(self.rto_max_ns);
        RtoBounds {
            min: Span::from_ns(self.rto_min_ns),
            initial: Span::from_ns(self.rto_init_ns.unwrap_or(default_ns)),
            max: Span::from_ns(self.rto_max_ns),
            granularity: Span::from_ns(self.clock_granularity_ns),
        }
    }
}

fn within(place: &str, value: u64, min: u64, max: u64) -> Result<(), ConfigError> {
    if (min..=max).contains(&value) { Ok(()) } else { Err(out_of_range(place, value, min, max)) }
}

fn out_of_range<T: core::fmt::Display>(place: &str, value: T, min: T, max: T) -> ConfigError {
    ConfigError::new(place, format!("{value} is out of range"), format!("give a number from {min} to {max}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(json: &str) -> String {
        match serde_json::from_str::<SenderConfig>(json) {
            Err(error) => error.to_string(),
            Ok(config) => match config.validate() {
                Err(error) => error.to_string(),
                Ok(()) => "no error".to_owned(),
            },
        }
    }

    #[test]
    fn defaults_are_the_spec_s() {
        let config: SenderConfig = serde_json::from_str("{}").expect("all keys are optional");
        assert_eq!(config, SenderConfig::default());
        assert_eq!(config.rto_bounds().initial, Span::from_ms(1_000));
        assert_eq!(message("{}"), "no error");
        let null: SenderConfig = serde_json::from_str(r#"{"ecn_profile":null}"#).expect("null is allowed");
        assert_eq!(null.ecn_profile, None);
    }

    #[test]
    fn errors_name_place_cause_and_remedy() {
        for (json, want) in [
            (r#"{"mss_bytes":0}"#, "mss_bytes: 0 is out of range; give a number from 1 to 65000"),
            (r#"{"rwnd":0}"#, "rwnd: 0 is out of range; give a number from 1 to 1048576"),
            (r#"{"ssthresh0":0.5}"#, "ssthresh0: 0.5 is out of range; give a number from 1 to 1073741824"),
            (
                r#"{"rto_min_ns":9000,"rto_max_ns":8000}"#,
                "rto_max_ns: 8000 is out of range; give a number from 9000 to 3600000000000",
            ),
            (
                r#"{"mss_bytes":60000,"rwnd":60000}"#,
                "rwnd: 60000 segments of 60000 B are 3600000000 B; \
                 32-bit sequence numbers allow 1073741824 B in flight: lower rwnd",
            ),
            (
                r#"{"cc":{"slow_start":{"name":"gst","k":8}},"ecn_profile":"rfc3168"}"#,
                "ecn_profile: rfc3168 has one congestion level, the slow start needs two; choose gst or sce",
            ),
            (
                r#"{"cc":{"congestion_avoidance":{"name":"reno_ecn"}}}"#,
                "ecn_profile: gst has no CE codepoint, which the receiver of classic ECN is to repeat; \
                 choose rfc3168 or sce",
            ),
            (r#"{"ack_every":0}"#, "ack_every: 0 is out of range; give a number from 1 to 1024"),
            (r#"{"tso_bytes":0}"#, "tso_bytes: 0 is out of range; give a number from 1 to 1048576"),
            (
                r#"{"host_delay_exp_ns":36000000001}"#,
                "host_delay_exp_ns: 36000000001 is out of range; give a number from 0 to 36000000000",
            ),
            (
                r#"{"cc":{"congestion_avoidance":{"name":"rneo"}}}"#,
                r#"cc.congestion_avoidance.name: unknown algorithm "rneo"; did you mean "reno"? known: reno, "#,
            ),
        ] {
            assert!(message(json).starts_with(want), "{}", message(json));
        }
        assert!(message(r#"{"rwind":1}"#).starts_with("unknown field `rwind`"));
        assert!(message(r#"{"recovery":"fack"}"#).contains("expected one of `reno`, `newreno`, `sack`"));
    }
}
