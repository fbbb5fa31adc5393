//! The sending end of an RDMA-like flow: pacing, window,
//! go-back-N (docs/algorithms/substrate.md#pacing, #go-back-n).
//!
//! Timers of the algorithm run when the sender is looked at: with an ACK, a notification, and when it may
//! send. Each fires for the instant at which it was due and shifts the waiting packet from that instant on,
//! so state does not depend on when that is; only a rate that rises while nobody looks does not bring the
//! packet that waits forward.

use p4cc_cc::{ConfigError, HeaderField, HopRecord, Phase, RateAck, RateControl, SwitchNeed, Window};
use p4cc_units::{Bytes, Rate, Span, Time};

use super::bolt;
use super::config::{Notification, RdmaConfig, Recovery};
use super::credits::Credits;
use super::entropy::{PathFeedback, Paths};
use super::pacer::{Pacer, time_at};
use super::pint::Pint;
use super::request::{RequestBytes, Requests};
use super::segments::Segments;
use super::selective::{Losses, Selective};
use super::telemetry::{self, IntReader, MAX_RECORDS, NO_FAIR_RATE};
use crate::wire::{Extension, ExtensionType, Flags, IP_HEADERS_LEN};
use crate::{AckFields, Codepoint, EcnProfile, Segment, Snapshot, seq};

/// Sequence numbers of 32 bits are told apart only within half their range.
const MAX_FLIGHT_BYTES: u64 = 1 << 30;

/// What an ACK, a NACK or a notification did.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct AckResult {
    /// The flow is complete with it.
    pub completed: bool,
    /// The round-trip time that the algorithm was told.
    pub rtt: Option<Span>,
}

/// What an ACK says once it was read.
struct Feedback {
    /// One past the last byte that it acknowledges.
    ack: u64,
    lost_bytes: u64,
    granted_bps: Option<f64>,
    /// Of the measurement, on top of the round-trip time.
    noise: Span,
    /// It answers a trimmed header, which waited in no queue of data.
    is_of_header: bool,
}

/// The sending end of one flow.
#[derive(Debug)]
pub struct RdmaSender {
    pub(super) control: Box<dyn RateControl>,
    needs: SwitchNeed,
    pub(super) mss_bytes: u32,
    /// The receiver answers every so many packets only.
    acks_rarely: bool,
    /// Of a reader: what a request asks for at most.
    request_bytes: Option<u32>,
    pub(super) flow_bytes: Option<u64>,
    /// What the application gave so far, where it gives piece by piece.
    pub(super) supplied: Option<u64>,
    pub(super) ecn: Codepoint,
    int: Option<IntReader>,
    /// Of an algorithm that reads the utilisation of its path.
    pint: Option<Box<Pint>>,
    /// Of a flow that asks for its rate.
    pub(super) requests: Option<Requests>,
    pub(super) patience_rounds: u32,
    /// The extension of the last packet that was taken.
    extension: RequestBytes,
    notification: Notification,
    /// Taken off each round-trip time.
    serialisation: Span,
    pub(super) rto: Option<Span>,
    snd_una: u64,
    pub(super) snd_nxt: u64,
    /// One past the last byte ever sent.
    snd_max: u64,
    pub(super) pacer: Pacer,
    /// Where round-trip times are those of segments.
    segments: Option<Segments>,
    /// With go-back-0, bytes of a message.
    message: Option<u64>,
    /// The highest that `snd_una` ever was before it went back.
    highest: u64,
    /// Where receivers keep what comes out of order.
    pub(super) selective: Option<Selective>,
    /// Where a receiver algorithm lets it send.
    pub(super) credits: Option<Credits>,
    /// Where the sender chooses the paths of its packets.
    paths: Option<Box<Paths>>,
    /// The configured bound of [`Self::reordering_bytes`], and the highest that a window sets.
    reordering: (Option<u32>, f64),
    pub(super) started: bool,
    complete: bool,
    /// The flow ended itself early (docs/algorithms/d3-rcp.md#d3-quench).
    pub(super) quenched: bool,
    /// When the flow should be complete.
    pub(super) flow_deadline: Option<Time>,
    /// Of the timeout.
    pub(super) deadline: Option<Time>,
    rtt: Option<Span>,
    /// Smoothed; the network's base before the first sample.
    smooth_rtt: Span,
    /// That of a full packet on the longest way.
    pub(super) base_rtt: Span,
    pub(super) timeouts: u64,
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
        let burst_bytes = config.burst_bytes.or(config.segment_bytes).unwrap_or(0);
        let burst_bps = config.burst_rate_bps.unwrap_or_else(|| line_rate.as_bps()).min(line_rate.as_bps());
        Ok(Self {
            pacer: Pacer::new(burst_bytes.into(), burst_bps as f64, control.rate_bps()),
            segments: config.segment_bytes.map(|bytes| Segments::new(bytes.into())),
            message: config.message(),
            highest: 0,
            selective: (config.recovery == Recovery::SelectiveRepeat).then(Selective::default),
            credits: None,
            paths: None,
            reordering: (
                config.reordering_bytes,
                1.5 * line_rate.as_bps() as f64 * config.base_rtt_ns as f64 / 8e9,
            ),
            control,
            needs,
            mss_bytes: config.mss_bytes,
            acks_rarely: config.acks_rarely(),
            request_bytes: config.segment_bytes.filter(|_| config.reads),
            flow_bytes,
            supplied: None,
            // RFC 3168's profile: what RED marks for (docs/algorithms/marking.md#red).
            ecn: if !config.ecn_capable.unwrap_or(needs.reads_marks()) {
                Codepoint::NOT_ECT
            } else if needs == SwitchNeed::L4sMarks {
                Codepoint::ECT_1
            } else {
                EcnProfile::Rfc3168.unmarked()
            },
            int: config.int.as_ref().filter(|_| needs == SwitchNeed::Telemetry).map(IntReader::new),
            pint: (config.pint.as_ref().filter(|_| needs == SwitchNeed::PathUtilisation))
                .map(|table| Box::new(Pint::new(table))),
            requests: (needs == SwitchNeed::RateAllocation).then(|| Requests::new(config.request_records)),
            patience_rounds: config.request_patience_rounds,
            extension: RequestBytes::new(),
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
            started: false,
            complete: false,
            quenched: false,
            flow_deadline: None,
            deadline: None,
            rtt: None,
            smooth_rtt: Span::from_ns(config.base_rtt_ns),
            base_rtt: Span::from_ns(config.base_rtt_ns),
            timeouts: 0,
            nacks: 0,
            retransmitted: 0,
        })
    }

    /// The sender chooses the paths of its packets, by random numbers from this seed.
    pub fn choose_paths(&mut self, config: &RdmaConfig, seed: u64) {
        self.paths = Some(Box::new(Paths::new(config.entropy, config.entropy_values, seed)));
    }

    /// Random numbers from this seed choose the packets that carry PINT.
    pub fn choose_pint(&mut self, seed: u64) {
        if let Some(pint) = &mut self.pint {
            pint.seed(seed);
        }
    }

    /// Whether it does, so that ACKs echo the source ports of its packets.
    #[inline]
    pub fn chooses_paths(&self) -> bool {
        self.paths.is_some()
    }

    /// The source port of the packet that left last, where the sender chooses it.
    #[inline]
    pub fn source_port(&self) -> Option<u16> {
        self.paths.as_ref().map(|paths| paths.port())
    }

    /// What came back about the path of a packet with this source port.
    pub fn on_path(&mut self, port: u16, feedback: PathFeedback) {
        if let Some(paths) = &mut self.paths {
            paths.hear(port, feedback);
        }
    }

    /// The application gives its bytes by [`Self::supply`].
    pub fn await_supply(&mut self) {
        self.supplied = Some(0);
    }

    /// The application gives so many bytes more.
    pub fn supply(&mut self, now: Time, bytes: u64) {
        self.pacer.supplied(now);
        self.supplied = self.supplied.map(|before| before.saturating_add(bytes));
        self.ask_if_untold();
        self.watch_credit(now);
    }

    /// One past the last byte that there is to send now.
    pub(super) fn end(&self) -> u64 {
        self.flow_bytes.unwrap_or(u64::MAX).min(self.supplied.unwrap_or(u64::MAX))
    }

    /// The flow begins: at the line rate, or by asking for one.
    pub fn start(&mut self, now: Time) {
        self.started = true;
        self.pacer.start(now, self.end() == 0);
        if let Some(credits) = &mut self.credits {
            credits.heard = now;
        }
        self.watch_credit(now);
    }

    /// The application closes the connection: a segment that has begun to leave leaves whole, as the
    /// interface has it already; nothing more is sent, and the flow is complete when what was sent is
    /// acknowledged. Where receivers acknowledge rarely and there are no segments, one more packet says that
    /// the flow ends, so that they answer. True if it is complete already.
    pub fn close(&mut self) -> bool {
        let begun = self.segments.as_ref().and_then(Segments::begun);
        let says_end = self.segments.is_none() && self.acks_rarely && self.snd_una < self.snd_max;
        let last = if says_end { u64::from(self.mss_bytes) } else { 0 };
        let end = begun.unwrap_or(self.snd_max).max(self.snd_max) + last;
        self.flow_bytes = Some(end.min(self.end()));
        let ends_now = !self.complete && self.flow_bytes == Some(self.snd_una);
        if ends_now {
            self.complete = true;
            self.deadline = None;
        }
        ends_now
    }

    /// Whether more of a burst is to leave at once: an
    /// interface that serves flows in turn stays with this one.
    #[inline]
    pub fn is_in_burst(&self) -> bool {
        self.pacer.is_in_burst()
    }

    /// By when the flow should be complete; it may change as often as the application likes.
    pub fn set_deadline(&mut self, deadline: Time) {
        self.flow_deadline = Some(deadline);
    }

    /// When the next packet may leave; none if there is nothing to send or the window is full. A flow that
    /// asks for its rate also names the time when it stops waiting for an answer.
    #[inline]
    pub fn ready_at(&self) -> Option<Time> {
        if self.requests.is_some() {
            return self.next_request_at();
        }
        let has_packet = self.has_data() && self.has_window() || self.is_request_due();
        let may_send = self.started && !self.complete && has_packet;
        may_send.then_some(self.pacer.next_send())
    }

    #[inline]
    pub(super) fn has_data(&self) -> bool {
        self.snd_nxt < self.end() || self.selective.as_ref().is_some_and(Selective::has_lost)
    }

    /// What is believed to be in the network.
    #[inline]
    pub(super) fn flight_bytes(&self) -> u64 {
        self.selective.as_ref().map_or(self.snd_nxt - self.snd_una, Selective::flight_bytes)
    }

    /// Bytes beyond a packet whose arrival shows that it is lost.
    fn reordering_bytes(&self) -> u64 {
        let (configured, most) = self.reordering;
        let least = 5.0 * f64::from(self.mss_bytes);
        // A window that shrank lets what left under the wider one overtake each other still.
        let flight = self.flight_bytes() as f64;
        let of_window = self.control.cwnd_bytes().map_or(most, |cwnd| (1.5 * cwnd.max(flight)).min(most));
        configured.map_or(of_window.max(least) as u64, u64::from)
    }

    /// docs/algorithms/substrate.md#pacing: "inflight < W (strict test before sending …)".
    #[inline]
    pub(super) fn has_window(&self) -> bool {
        let flight = self.flight_bytes();
        let has_window = self.control.flight_limit_bytes().is_none_or(|limit| (flight as f64) < limit);
        let has_span = self.snd_nxt - self.snd_una < MAX_FLIGHT_BYTES;
        let has_window = has_window && self.credits.as_ref().is_none_or(Credits::has_left);
        has_window && (has_span || self.selective.as_ref().is_some_and(Selective::has_lost))
    }

    /// Pacing rate; 0 where a rate has to be granted and is not.
    #[inline]
    pub(super) fn rate_bps(&self) -> f64 {
        let may_send = self.requests.as_ref().is_none_or(Requests::has_grant);
        if may_send { self.control.rate_bps() } else { 0.0 }
    }

    pub(super) const fn smooth_rtt(&self) -> Span {
        self.smooth_rtt
    }

    /// The next packet if it may leave at `now`, and the extension that it carries.
    #[inline]
    pub fn take(&mut self, now: Time) -> Option<(Segment, Extension<'_>)> {
        self.advance(now);
        self.ready_at().filter(|at| *at <= now)?;
        if self.is_request_due() {
            if self.deadline.is_none() {
                self.deadline = self.rto.map(|rto| now + rto);
            }
            return Some((self.request(), Extension::NONE));
        }
        if self.requests.is_some() {
            let (segment, bytes) = self.take_asked(now)?;
            self.extension = bytes;
            let is_plain = self.extension.is_empty();
            let kind = if is_plain { ExtensionType::NONE } else { ExtensionType::RATE_REQUEST };
            return Some((segment, Extension { kind, bytes: &self.extension }));
        }
        if self.needs == SwitchNeed::QueueNotices {
            self.extension = RequestBytes::from_slice(&bolt::extension(self.place()));
            let segment = self.data(now, bolt::BYTES);
            return Some((segment, Extension { kind: ExtensionType::BOLT, bytes: &self.extension }));
        }
        let extension = self.plain_extension();
        let segment = self.data(now, extension.bytes.len());
        Some((segment, extension))
    }

    /// The next data segment, which leaves now with so many bytes of extension.
    #[inline]
    pub(super) fn data(&mut self, now: Time, extension_bytes: usize) -> Segment {
        let end = self.end();
        let segment_end = match (&self.segments, self.message) {
            (Some(segments), _) => segments.end_of(self.snd_nxt, end),
            // A packet is of one message: the last one of each may be short.
            (None, Some(message)) => (self.snd_nxt / message + 1).saturating_mul(message).min(end),
            (None, None) => end,
        };
        let (seq, len) = self.next_bytes(now, segment_end);
        let mut segment = Segment {
            seq,
            len: len as u32,
            ecn: self.ecn,
            retransmit: seq < self.snd_max,
            fin: self.flow_bytes == Some(seq + len),
            ..Segment::default()
        };
        if let Some(credits) = &mut self.credits {
            credits.spend(len);
            let beyond = self.flow_bytes.map_or(u64::MAX, |end| end.saturating_sub(seq + len));
            segment.beyond = u32::try_from(beyond).unwrap_or(u32::MAX);
        }
        if let Some(paths) = &mut self.paths {
            paths.advance();
        }
        self.retransmitted += u64::from(segment.retransmit);
        self.snd_max = self.snd_max.max(self.snd_nxt);
        let wire_bytes = len + self.packets_of(len) * (IP_HEADERS_LEN + extension_bytes) as u64;
        self.control.on_sent(now, Bytes(wire_bytes));
        let rate_bps = self.rate_bps();
        if let Some(segments) = &mut self.segments {
            let burst_bps = self.pacer.burst_bps(rate_bps);
            let serialisation = |bytes| time_at(bytes, burst_bps);
            segment.ack_request = segments.sent(now, self.snd_nxt, segment_end, wire_bytes, serialisation);
        }
        let is_last = self.snd_nxt == end;
        self.pacer.sent(now, len, wire_bytes, segment.ack_request || is_last, rate_bps);
        if is_last {
            self.pacer.ran_dry();
        }
        if self.acks_rarely {
            // Behind what fills the window, or ends what there is, nothing comes that would bring an answer
            // (docs/algorithms/substrate.md#rare-acks).
            segment.ack_request |= is_last || !self.has_window();
        }
        if self.deadline.is_none() {
            self.deadline = self.rto.map(|rto| now + rto);
        }
        segment
    }

    /// First byte and length of the next packet: a lost one, or new bytes up to `segment_end`.
    #[inline]
    fn next_bytes(&mut self, now: Time, segment_end: u64) -> (u64, u64) {
        if let Some((seq, len)) = self.selective.as_mut().and_then(|selective| selective.take_lost(now)) {
            return (seq, u64::from(len));
        }
        let most = self.request_bytes.unwrap_or(self.mss_bytes);
        let (seq, len) = (self.snd_nxt, u64::from(most).min(segment_end - self.snd_nxt));
        self.snd_nxt += len;
        if let Some(selective) = &mut self.selective {
            selective.sent(now, seq, len as u32);
        }
        (seq, len)
    }

    /// Packets that bytes leave in: one, but for what a request asks for.
    #[inline]
    fn packets_of(&self, len: u64) -> u64 {
        if self.request_bytes.is_none() { 1 } else { len.div_ceil(u64::from(self.mss_bytes)) }
    }

    /// The place of the next packet among the flow's windows (docs/algorithms/bolt.md#bolt-header).
    fn place(&self) -> bolt::Place {
        let window = self.control.cwnd_bytes().unwrap_or(f64::INFINITY).max(f64::from(self.mss_bytes));
        // Of a flow whose size nobody knows no window is the last.
        let is_last = self.flow_bytes.is_some_and(|end| self.snd_nxt as f64 + window >= end as f64);
        bolt::Place { is_first: self.rtt.is_none(), is_last }
    }

    /// What packets of the flow carry for switches to fill.
    #[inline]
    fn plain_extension(&mut self) -> Extension<'static> {
        match (&self.int, self.needs) {
            (Some(reader), _) => reader.empty,
            (None, SwitchNeed::PathUtilisation) => {
                self.pint.as_mut().map_or(Extension::NONE, |pint| pint.extension())
            }
            (None, SwitchNeed::FairRate) => {
                Extension { kind: ExtensionType::FAIR_RATE, bytes: &NO_FAIR_RATE }
            }
            _ => Extension::NONE,
        }
    }

    /// Takes an ACK, NACK or notification. `noise` is the random part of a round-trip time that it gives
    /// (docs/algorithms/reproductions.md#timely, Y-noise, Y-rtt).
    pub fn on_ack(
        &mut self,
        now: Time,
        fields: &AckFields,
        flags: Flags,
        extension: &Extension<'_>,
        noise: Span,
    ) -> AckResult {
        let granted_bps = self.granted_bps(now, fields, extension);
        if !self.started || self.is_closed() {
            return AckResult::default();
        }
        let Some(ack) = seq::unwrap(fields.ack, self.snd_una).filter(|ack| *ack <= self.snd_max) else {
            return AckResult::default();
        };
        let mut lost_bytes = 0;
        let is_new = ack > self.snd_una;
        if is_new {
            self.snd_una = ack;
            // What was sent before a NACK may still be acknowledged after it.
            if ack > self.snd_nxt {
                self.go_on_at(ack);
            }
        }
        if flags.has(Flags::NACK) && self.selective.is_none() && self.goes_back_to(ack) {
            self.nacks += 1;
            lost_bytes = u64::from(self.mss_bytes).min(self.snd_max - ack);
            self.go_on_at(self.snd_una);
            self.control.on_loss(now);
        }
        let is_of_header = self.selective.is_some() && flags.has(Flags::NACK);
        if self.selective.is_some() {
            lost_bytes = self.find_lost(now, fields.answered, is_of_header);
        }
        if let Some(credits) = &mut self.credits {
            credits.heard = now;
            credits.stop_speculating();
            self.ask_if_untold();
            self.watch(now);
        } else if self.flight_bytes() == 0 {
            // RFC6298 5.2: nothing is in flight, nothing can time out; what leaves next starts the timer.
            self.deadline = None;
        } else if is_new {
            self.deadline = self.rto.map(|rto| now + rto);
        }
        self.advance(now);
        let feedback = Feedback { ack, lost_bytes, granted_bps, noise, is_of_header };
        let rtt = self.inform(now, fields, extension, feedback);
        self.repace(now);
        self.complete = self.flow_bytes == Some(self.snd_una);
        if self.complete {
            self.deadline = None;
        }
        AckResult { completed: self.complete, rtt }
    }

    /// Whether a NACK for this byte sends it back: for the next one, or with go-back-0 for the start of its
    /// message, of which nothing counts as acknowledged then.
    fn goes_back_to(&mut self, ack: u64) -> bool {
        let Some(message) = self.message else { return ack == self.snd_una };
        let is_start = ack == self.snd_una - self.snd_una % message;
        if is_start {
            self.highest = self.highest.max(self.snd_una);
            self.snd_una = ack;
        }
        is_start
    }

    /// Takes what a switch tells of its queue; `sent_ns` is when the packet left that found it.
    pub fn on_notice(&mut self, now: Time, sent_ns: u64, extension: &Extension<'_>) {
        if !self.started || self.is_closed() || self.needs != SwitchNeed::QueueNotices {
            return;
        }
        self.advance(now);
        if let (_, Some(notice)) = bolt::read(now, sent_ns, extension) {
            self.control.on_notice(&notice);
        }
        self.repace(now);
    }

    /// Where receivers keep what comes out of order: bytes that the answer to a packet, or to the header that
    /// a switch left of it, shows to be lost.
    fn find_lost(&mut self, now: Time, answered: Option<u32>, is_of_header: bool) -> u64 {
        let reordering_bytes = self.reordering_bytes();
        let Some(selective) = &mut self.selective else { return 0 };
        selective.advance(self.snd_una);
        let start = answered.and_then(|answered| seq::unwrap(answered, self.snd_una));
        let Losses { bytes, is_new } = if is_of_header {
            let losses = start.map(|start| selective.trimmed(start, self.snd_nxt)).unwrap_or_default();
            if let Some(credits) = &mut self.credits {
                credits.trimmed(losses.bytes);
            }
            losses
        } else {
            if let Some(start) = start {
                selective.arrived(start);
            }
            // Where a receiver lets it send, the receiver hears of each packet, or none does.
            if self.credits.is_none() {
                selective.find_lost(reordering_bytes, self.snd_nxt)
            } else {
                Losses::default()
            }
        };
        if is_new {
            self.nacks += 1;
            self.control.on_loss(now);
        }
        bytes
    }

    fn go_on_at(&mut self, byte: u64) {
        self.snd_nxt = byte;
        if let Some(segments) = &mut self.segments {
            segments.restart(byte);
        }
    }

    /// The round-trip time that this ACK gives: of a segment that is complete with it, or of its packet.
    #[inline]
    fn sample(&mut self, now: Time, ack: u64, fields: &AckFields) -> Option<Span> {
        if let Some(segments) = &mut self.segments {
            return segments.complete(now, ack);
        }
        let elapsed = Span::from_ns(now.as_ns().saturating_sub(fields.timestamp_echo_ns));
        Some(Span::from_ps(elapsed.as_ps().saturating_sub(self.serialisation.as_ps())))
    }

    /// The rate that switches grant, where this says so; a closed flow hears it too, to give it back.
    #[inline]
    fn granted_bps(&mut self, now: Time, fields: &AckFields, extension: &Extension<'_>) -> Option<f64> {
        match (&mut self.requests, self.needs) {
            (Some(requests), _) => requests.on_return(now, fields.timestamp_echo_ns, extension),
            (None, SwitchNeed::FairRate) => telemetry::fair_rate_bps(extension),
            _ => None,
        }
    }

    /// Tells the algorithm what came back.
    #[inline]
    fn inform(
        &mut self,
        now: Time,
        fields: &AckFields,
        extension: &Extension<'_>,
        feedback: Feedback,
    ) -> Option<Span> {
        let Feedback { ack, lost_bytes, granted_bps, noise, is_of_header } = feedback;
        if extension.kind == ExtensionType::CNP {
            self.control.on_cnp(now);
            return None;
        }
        let rtt = if is_of_header { None } else { self.sample(now, ack, fields) };
        let rtt = rtt.map(|rtt| rtt + noise);
        // docs/algorithms/window.md#reno-rules: srtt = 7/8 srtt + 1/8 R, from the first sample on.
        self.smooth_rtt = match (self.rtt, rtt) {
            (None, Some(rtt)) => rtt,
            (Some(_), Some(rtt)) => Span::from_ps((7 * self.smooth_rtt.as_ps() + rtt.as_ps()) / 8),
            (_, None) => self.smooth_rtt,
        };
        self.rtt = rtt.or(self.rtt);
        let used = rtt.and_then(|_| self.pacer.take_used_share(now));
        let sent_bps = used.map(|share| share * self.rate_bps());
        let mut room = [HopRecord::default(); MAX_RECORDS];
        let hops = self.int.as_ref().map_or(&[][..], |reader| telemetry::hops(extension, reader, &mut room));
        let is_marked = fields.ecn_echo == Codepoint::CE;
        let (mut is_offered, mut notice) = (false, None);
        if self.needs == SwitchNeed::QueueNotices {
            (is_offered, notice) = bolt::read(now, fields.timestamp_echo_ns, extension);
        }
        if let Some(notice) = &notice {
            self.control.on_notice(notice);
        }
        self.control.on_ack(&RateAck {
            now,
            ack,
            snd_nxt: self.snd_nxt,
            above_bytes: self.selective.as_ref().map_or(0, Selective::above_bytes),
            flight_bytes: self.flight_bytes(),
            lost_bytes,
            rtt,
            cnp: is_marked && self.notification == Notification::AckFlag,
            sent_bps,
            hops,
            path: telemetry::path(extension),
            utilisation: self.pint.as_ref().and_then(|pint| pint.utilisation(extension)),
            granted_bps,
            is_offered,
            hop_count: fields.hop_count,
        });
        rtt
    }

    /// Runs the algorithm's timers that are due.
    #[inline]
    fn advance(&mut self, now: Time) {
        while self.control.next_timer().is_some_and(|at| at <= now) {
            self.control.skip_timers(now);
            let Some(at) = self.control.next_timer().filter(|at| *at <= now) else { break };
            self.control.on_timer(at);
            self.repace(at);
        }
    }

    #[inline]
    pub(super) fn repace(&mut self, now: Time) {
        self.pacer.repace(now, self.rate_bps());
    }

    /// When [`Self::on_timer`] is to be called, if a timeout is configured.
    #[inline]
    pub fn deadline(&self) -> Option<Time> {
        self.deadline
    }

    /// The timeout, if it is due: everything unacknowledged is sent again.
    pub fn on_timer(&mut self, now: Time) {
        if self.deadline.is_some_and(|at| at <= now) && !self.is_closed() {
            if self.credits.is_some() {
                return self.time_out(now);
            }
            self.timeouts += 1;
            match &mut self.selective {
                Some(selective) => selective.on_timeout(),
                None => self.go_on_at(self.snd_una),
            }
            self.control.on_timeout(now);
            self.repace(now);
            // What is sent again starts it anew: at a low pace that may be long after a timeout.
            self.deadline = None;
        }
    }

    /// Whether every byte is acknowledged.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// Whether it has to send data that it never sent before
    /// it can end; never of one that may end itself early.
    pub fn has_unsent(&self) -> bool {
        self.requests.is_none() && self.flow_bytes.is_some_and(|bytes| self.snd_max < bytes)
    }

    /// Whether it ended itself early, by its algorithm (docs/algorithms/d3-rcp.md#d3-quench).
    #[inline]
    pub fn is_quenched(&self) -> bool {
        self.quenched
    }

    #[inline]
    pub(super) fn is_closed(&self) -> bool {
        self.complete || self.quenched
    }

    /// Whether it will never send again: complete or quenched, and what it was granted is given back.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.is_closed() && self.ready_at().is_none()
    }

    /// NACKs that sent it back; with selective repeat, round trips in which packets were found lost.
    pub fn nacks(&self) -> u64 {
        self.nacks
    }

    /// Hands on headers of the user's program that the next ACK echoes.
    pub fn on_headers(&mut self, fields: &[HeaderField<'_>]) {
        self.control.on_headers(fields);
    }

    /// Whether the algorithm takes such headers.
    pub fn reads_headers(&self) -> bool {
        self.control.reads_headers()
    }

    /// The value of an attribute that an algorithm of the user's keeps by this name.
    pub fn state(&self, name: &str) -> Option<f64> {
        self.control.state(name)
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
            flight_segments: self.flight_bytes().div_ceil(u64::from(self.mss_bytes)),
            phase: Phase::Avoidance,
            snd_una: self.snd_una.max(self.highest),
            snd_nxt: self.snd_nxt,
            timeouts: self.timeouts,
            fast_retransmits: self.nacks,
            retransmitted_segments: self.retransmitted,
            rate_bps: Some(self.rate_bps()),
        }
    }
}
