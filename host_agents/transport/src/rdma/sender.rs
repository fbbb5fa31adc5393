//! The sending end of an RDMA-like flow: pacing, window, go-back-N (spec 1.3, 1.4).
//!
//! Timers of the algorithm run when the sender is looked at: with an ACK, a notification, and when it may send. Each fires
//! for the instant at which it was due, so state does not depend on when that is; a rate that rose meanwhile shortens the
//! wait of the packet after the one that was waiting.

use p4cc_cc::{ConfigError, Phase, RateAck, RateControl, SwitchNeed, Window};
use p4cc_units::{Bytes, Rate, Span, Time};

use super::config::{IntTable, Notification, RdmaConfig};
use super::telemetry::{self, EMPTY_SHIM};
use crate::wire::{Extension, ExtensionType, Flags, IP_HEADERS_LEN};
use crate::{AckFields, Codepoint, EcnProfile, Segment, Snapshot, seq};

/// Sequence numbers of 32 bits are told apart only within half their range.
const MAX_FLIGHT_BYTES: u64 = 1 << 30;

/// The sending end of one flow.
#[derive(Debug)]
pub struct RdmaSender {
    control: Box<dyn RateControl>,
    mss_bytes: u32,
    flow_bytes: Option<u64>,
    /// What the application gave so far, where it gives piece by piece.
    supplied: Option<u64>,
    ecn: Codepoint,
    int: Option<IntTable>,
    notification: Notification,
    /// Taken off each round-trip time.
    serialisation: Span,
    rto: Option<Span>,
    snd_una: u64,
    snd_nxt: u64,
    /// One past the last byte ever sent.
    snd_max: u64,
    /// Earliest departure of the next packet.
    next_send: Time,
    /// Length of the last packet, and the rate that `next_send` counts with.
    last_bytes: u64,
    paced_bps: f64,
    started: bool,
    complete: bool,
    deadline: Option<Time>,
    rtt: Option<Span>,
    timeouts: u64,
    nacks: u64,
    retransmitted: u64,
}

impl RdmaSender {
    /// A sender for a flow of so many bytes, or without end, on a host whose interface has this rate.
    ///
    /// # Errors
    /// As [`RdmaConfig::validate`].
    pub fn new(config: &RdmaConfig, line_rate: Rate, flow_bytes: Option<u64>) -> Result<Self, ConfigError> {
        let control = config.control(line_rate)?;
        let needs = config.needs();
        let wire_bytes = u64::from(config.mss_bytes) + IP_HEADERS_LEN as u64;
        Ok(Self {
            paced_bps: control.rate_bps(),
            control,
            mss_bytes: config.mss_bytes,
            flow_bytes,
            supplied: None,
            // RFC 3168's profile: what RED marks for (spec 10.1).
            ecn: if needs.reads_marks() { EcnProfile::Rfc3168.unmarked() } else { Codepoint::NOT_ECT },
            int: config.int.clone().filter(|_| needs == SwitchNeed::Telemetry),
            notification: config.notification,
            serialisation: if config.rtt_without_serialisation {
                line_rate.time_to_send(Bytes(wire_bytes))
            } else {
                Span::ZERO
            },
            rto: config.rto_ns.map(Span::from_ns),
            snd_una: 0,
            snd_nxt: 0,
            snd_max: 0,
            next_send: Time::ZERO,
            last_bytes: 0,
            started: false,
            complete: false,
            deadline: None,
            rtt: None,
            timeouts: 0,
            nacks: 0,
            retransmitted: 0,
        })
    }

    /// The application gives its bytes by [`Self::supply`].
    pub fn await_supply(&mut self) {
        self.supplied = Some(0);
    }

    /// The application gives so many bytes more.
    pub fn supply(&mut self, bytes: u64) {
        self.supplied = self.supplied.map(|before| before.saturating_add(bytes));
    }

    /// One past the last byte that there is to send now.
    fn end(&self) -> u64 {
        self.flow_bytes.unwrap_or(u64::MAX).min(self.supplied.unwrap_or(u64::MAX))
    }

    /// The flow begins, at the line rate.
    pub fn start(&mut self, now: Time) {
        self.started = true;
        self.next_send = now;
    }

    /// When the next packet may leave; none if there is nothing to send or the window is full.
    pub fn ready_at(&self) -> Option<Time> {
        let has_data = self.started && !self.complete && self.snd_nxt < self.end();
        let flight = self.snd_nxt - self.snd_una;
        // Spec 1.3: "inflight < W (strict test before sending …)".
        let has_window = self.control.cwnd_bytes().is_none_or(|window| (flight as f64) < window);
        (has_data && has_window && flight < MAX_FLIGHT_BYTES).then_some(self.next_send)
    }

    /// The next packet if it may leave at `now`, and the extension that it carries.
    pub fn take(&mut self, now: Time) -> Option<(Segment, Extension<'static>)> {
        self.advance(now);
        self.ready_at().filter(|at| *at <= now)?;
        let len = u64::from(self.mss_bytes).min(self.end() - self.snd_nxt);
        let segment = Segment {
            seq: self.snd_nxt,
            len: len as u32,
            ecn: self.ecn,
            retransmit: self.snd_nxt < self.snd_max,
            fin: self.flow_bytes == Some(self.snd_nxt + len),
            ..Segment::default()
        };
        let extension = self.extension();
        self.retransmitted += u64::from(segment.retransmit);
        self.snd_nxt += len;
        self.snd_max = self.snd_max.max(self.snd_nxt);
        self.last_bytes = len + (IP_HEADERS_LEN + extension.bytes.len()) as u64;
        self.control.on_sent(now, Bytes(self.last_bytes));
        self.paced_bps = self.control.rate_bps();
        self.next_send = now + time_at(self.last_bytes, self.paced_bps);
        if self.deadline.is_none() {
            self.deadline = self.rto.map(|rto| now + rto);
        }
        Some((segment, extension))
    }

    fn extension(&self) -> Extension<'static> {
        if self.int.is_none() {
            return Extension::NONE;
        }
        Extension { kind: ExtensionType::INT_HPCC, bytes: &EMPTY_SHIM }
    }

    /// Takes an ACK, NACK or notification; true if the flow is complete with it.
    pub fn on_ack(&mut self, now: Time, fields: &AckFields, flags: Flags, extension: &Extension<'_>) -> bool {
        if !self.started || self.complete {
            return false;
        }
        let Some(ack) = seq::unwrap(fields.ack, self.snd_una).filter(|ack| *ack <= self.snd_max) else {
            return false;
        };
        if ack > self.snd_una {
            self.snd_una = ack;
            // What was sent before a NACK may still be acknowledged after it.
            self.snd_nxt = self.snd_nxt.max(ack);
            let is_open = self.snd_una < self.snd_max;
            self.deadline = self.rto.filter(|_| is_open).map(|rto| now + rto);
        }
        if flags.nack && ack == self.snd_una {
            self.nacks += 1;
            self.snd_nxt = self.snd_una;
        }
        self.advance(now);
        self.inform(now, ack, fields, extension);
        self.repace(now);
        self.complete = self.flow_bytes == Some(self.snd_una);
        if self.complete {
            self.deadline = None;
        }
        self.complete
    }

    /// Tells the algorithm what came back.
    fn inform(&mut self, now: Time, ack: u64, fields: &AckFields, extension: &Extension<'_>) {
        if extension.kind == ExtensionType::CNP {
            self.control.on_cnp(now);
            return;
        }
        let elapsed = Span::from_ns(now.as_ns().saturating_sub(fields.timestamp_echo_ns));
        let rtt = Span::from_ps(elapsed.as_ps().saturating_sub(self.serialisation.as_ps()));
        self.rtt = Some(rtt);
        let hops = self.int.as_ref().map(|table| telemetry::hops(extension, table)).unwrap_or_default();
        let is_marked = fields.ecn_echo == Codepoint::CE;
        self.control.on_ack(&RateAck {
            now,
            ack,
            snd_nxt: self.snd_nxt,
            rtt: Some(rtt),
            cnp: is_marked && self.notification == Notification::AckFlag,
            sent_bps: None,
            hops: &hops,
        });
    }

    /// Runs the algorithm's timers that are due.
    fn advance(&mut self, now: Time) {
        if self.control.next_timer().is_some_and(|at| at <= now) {
            self.control.on_timer(now);
            self.repace(now);
        }
    }

    /// Spec 1.3: a rate that changes while a packet waits shifts its departure by the difference of the last packet's times.
    fn repace(&mut self, now: Time) {
        let rate_bps = self.control.rate_bps();
        if rate_bps == self.paced_bps {
            return;
        }
        if self.next_send > now {
            let (before, after) =
                (time_at(self.last_bytes, self.paced_bps), time_at(self.last_bytes, rate_bps));
            let ps = (self.next_send.as_ps() + after.as_ps()).saturating_sub(before.as_ps());
            self.next_send = Time::from_ps(ps).max(now);
        }
        self.paced_bps = rate_bps;
    }

    /// When [`Self::on_timer`] is to be called, if a timeout is configured.
    pub fn deadline(&self) -> Option<Time> {
        self.deadline
    }

    /// The timeout, if it is due: everything unacknowledged is sent again.
    pub fn on_timer(&mut self, now: Time) {
        if self.deadline.is_some_and(|at| at <= now) {
            self.timeouts += 1;
            self.snd_nxt = self.snd_una;
            self.deadline = self.rto.map(|rto| now + rto);
        }
    }

    /// Whether every byte is acknowledged.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// NACKs that sent it back.
    pub fn nacks(&self) -> u64 {
        self.nacks
    }

    /// State for records. Without a window `cwnd_segments` is the largest window; there is no slow start.
    pub fn snapshot(&self) -> Snapshot {
        let mss = f64::from(self.mss_bytes);
        Snapshot {
            cwnd_segments: self.control.cwnd_bytes().map_or(Window::MAX_SEGMENTS, |bytes| bytes / mss),
            ssthresh_segments: Window::MAX_SEGMENTS,
            alpha: None,
            delta: None,
            srtt: self.rtt,
            rto: self.rto.unwrap_or(Span::ZERO),
            flight_segments: (self.snd_nxt - self.snd_una).div_ceil(u64::from(self.mss_bytes)),
            phase: Phase::Avoidance,
            snd_una: self.snd_una,
            snd_nxt: self.snd_nxt,
            timeouts: self.timeouts,
            fast_retransmits: self.nacks,
            retransmitted_segments: self.retransmitted,
            rate_bps: Some(self.control.rate_bps()),
        }
    }
}

/// How long so many bytes take at a rate; rates of the family are at least 1000 bit/s.
fn time_at(bytes: u64, rate_bps: f64) -> Span {
    Span::from_ps((bytes as f64 * 8e12 / rate_bps) as u64)
}
