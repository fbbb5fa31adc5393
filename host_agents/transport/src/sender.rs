//! The window sender: sliding window, loss recovery and timer of one
//! flow (docs/algorithms/window.md#reno; RFC5681, RFC6582, RFC6298).
//!
//! The congestion controller decides how large the window is, this file when data leaves and when it is lost.
//! SACK and limited transmit are off by default (docs/algorithms/window.md#reno-rules): they change incast
//! results strongly. With SACK nothing is taken back after a timeout: `snd_nxt` stays, and [`Scoreboard`]
//! says which segments to send again.
//!
//! Invariants:
//! - `snd_una <= snd_nxt <= snd_max <= flow_end`, and `snd_nxt - snd_una` is at most the receiver window;
//! - a segment that the receiver reported is not sent again,
//!   unless the receiver turns out to have given it up;
//! - the timer runs exactly while data is outstanding; a timer call at a wrong time changes nothing.

use p4cc_cc::{
    AckSample, ConfigError, Controller, Echo, FlowProgress, HeaderField, Mark, Phase, Reaction, SwitchNeed,
};
use p4cc_units::{Span, Time};

use crate::actions::{Action, Actions, Event, IgnoredAck, Segment};
use crate::config::{Recovery, SenderConfig};
use crate::rtt::RttEstimator;
use crate::scoreboard::Scoreboard;
use crate::{AckFields, Codepoint, EcnProfile, SackBlocks, seq};

/// Share of the window that leaves as a burst where a whole burst is more: Linux's `tcp_tso_win_divisor`.
const BURST_WINDOW_DIVISOR: u64 = 3;

/// Life of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Idle,
    Active,
    Complete,
}

/// Fast recovery under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct FastRecovery {
    /// The timer is restarted on the first partial ACK only (RFC6582, docs/algorithms/window.md#reno-rules).
    partial_seen: bool,
}

/// State worth recording, at one instant.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Snapshot {
    /// Congestion window in segments.
    pub cwnd_segments: f64,
    /// Slow-start threshold in segments.
    pub ssthresh_segments: f64,
    /// Smoothed share of marked packets, if the algorithm keeps it.
    pub alpha: Option<f64>,
    /// Growth exponent, if the slow start keeps it.
    pub delta: Option<f64>,
    /// Smoothed round-trip time, after the first sample.
    pub srtt: Option<Span>,
    /// Retransmission timeout in force, backoff included.
    pub rto: Span,
    /// Segments sent and not acknowledged.
    pub flight_segments: u64,
    /// Where the flow stands.
    pub phase: Phase,
    /// First byte not acknowledged.
    pub snd_una: u64,
    /// Next byte to send.
    pub snd_nxt: u64,
    /// Timeouts so far.
    pub timeouts: u64,
    /// Fast retransmits so far.
    pub fast_retransmits: u64,
    /// Segments sent more than once so far, counting each repetition.
    pub retransmitted_segments: u64,
    /// Pacing rate in bit/s, of senders that have one.
    pub rate_bps: Option<f64>,
}

/// The sending end of one flow.
#[derive(Debug)]
pub struct WindowSender {
    mss_bytes: u64,
    rwnd_segments: u64,
    dupthresh: u32,
    recovery: Recovery,
    limited_transmit: bool,
    /// Segments that leave at once; 1 without segmentation offload.
    burst_segments: u64,
    profile: Option<EcnProfile>,
    data_codepoint: Codepoint,
    /// The receiver is to repeat marks, and repetitions are not capable (RFC3168).
    echo_until_cwr: bool,
    controller: Controller,
    rtt: RttEstimator,
    state: State,
    /// One past the last byte of the flow; `u64::MAX` without a limit.
    flow_end: u64,
    /// One past the last byte that the application has given
    /// so far; `u64::MAX` when it gave all at the start.
    supplied: u64,
    /// When the flow ought to be complete.
    flow_deadline: Option<Time>,
    snd_una: u64,
    snd_nxt: u64,
    snd_max: u64,
    /// [`Self::segments`] of `snd_una` and of `snd_nxt`, which every ACK asks for several times.
    una_segments: u64,
    nxt_segments: u64,
    dupacks: u32,
    /// With SACK only.
    scoreboard: Option<Scoreboard>,
    fast_recovery: Option<FastRecovery>,
    /// No second fast retransmit until an ACK above this byte (RFC6582); none before the first loss.
    recover: Option<u64>,
    /// Bytes below this may have been sent twice: their ACKs give no round-trip sample (Karn).
    resent_below: u64,
    /// The next new segment carries CWR.
    cwr_pending: bool,
    /// When the retransmission timer expires.
    deadline: Option<Time>,
    /// When `on_timer` will be called as far as we have asked. It may lie before the deadline: moving it on
    /// every ACK would cost the caller an event per ACK, so it is asked for again only when it fires early.
    wakeup: Option<Time>,
    /// When data last left.
    last_sent: Time,
    timeouts: u64,
    fast_retransmits: u64,
    retransmitted_segments: u64,
}

impl WindowSender {
    /// A sender of `flow_bytes` bytes, or of a flow without end.
    ///
    /// # Errors
    /// What [`SenderConfig::validate`] finds.
    pub fn new(config: &SenderConfig, flow_bytes: Option<u64>) -> Result<Self, ConfigError> {
        let controller = config.controller()?;
        // A sender that does not read marks is not capable of ECN, whatever the network speaks.
        let profile = config.ecn_profile.filter(|_| controller.switch_needs().reads_marks());
        let has_sack = config.recovery == Recovery::Sack;
        Ok(Self {
            mss_bytes: u64::from(config.mss_bytes),
            rwnd_segments: u64::from(config.rwnd),
            dupthresh: config.dupthresh,
            recovery: config.recovery,
            limited_transmit: config.limited_transmit,
            burst_segments: config.tso_bytes.map_or(1, |bytes| u64::from(bytes / config.mss_bytes).max(1)),
            profile,
            data_codepoint: profile.map_or(Codepoint::NOT_ECT, |profile| {
                if controller.switch_needs() == SwitchNeed::L4sMarks {
                    Codepoint::ECT_1
                } else {
                    profile.unmarked()
                }
            }),
            echo_until_cwr: profile.is_some() && controller.echo() == Echo::UntilCwr,
            controller,
            rtt: RttEstimator::new(config.rto_bounds()),
            state: State::Idle,
            flow_end: flow_bytes.unwrap_or(u64::MAX),
            supplied: u64::MAX,
            flow_deadline: None,
            snd_una: 0,
            snd_nxt: 0,
            snd_max: 0,
            una_segments: 0,
            nxt_segments: 0,
            dupacks: 0,
            scoreboard: has_sack
                .then(|| Scoreboard::new(config.dupthresh, config.mss_bytes, config.rwnd as usize)),
            fast_recovery: None,
            recover: None,
            resent_below: 0,
            cwr_pending: false,
            deadline: None,
            wakeup: None,
            last_sent: Time::ZERO,
            timeouts: 0,
            fast_retransmits: 0,
            retransmitted_segments: 0,
        })
    }

    /// Makes the application hand out the flow's bytes piece by piece ([`Self::supply`]): a connection that
    /// is kept over several answers (docs/algorithms/traffic.md#workloads, barrier rounds). Nothing leaves
    /// before the first piece. To be called before the start.
    pub fn await_supply(&mut self) {
        self.supplied = 0;
    }

    /// The application gives `bytes` more; what is beyond the end of the
    /// flow is not sent. Changes nothing for a flow that was given whole.
    ///
    /// A piece ends with a short segment as a flow does, and without FIN unless it is the last.
    pub fn supply(&mut self, bytes: u64, now: Time, out: &mut Actions) {
        self.supplied = self.supplied.saturating_add(bytes);
        if self.state == State::Active {
            if self.snd_max > 0 && self.snd_una == self.snd_max {
                let idle = now.since(self.last_sent);
                self.controller.on_idle_end(idle, self.rtt.rto(), self.snd_nxt, out);
            }
            self.send_allowed(now, out);
        }
    }

    /// The application closes the connection: nothing that was not sent yet
    /// is sent, and the flow is complete when what was sent is acknowledged.
    pub fn close(&mut self, out: &mut Actions) {
        self.flow_end = self.flow_end.min(self.snd_max);
        if self.state == State::Active && self.snd_una == self.flow_end {
            self.complete(out);
        }
    }

    /// Says when the flow ought to be complete; algorithms that know of deadlines take it into account.
    pub fn set_deadline(&mut self, deadline: Time) {
        self.flow_deadline = Some(deadline);
    }

    /// Starts the flow; a second call changes nothing.
    pub fn start(&mut self, now: Time, out: &mut Actions) {
        if self.state != State::Idle {
            return;
        }
        self.state = State::Active;
        if self.flow_end == 0 {
            self.complete(out);
        } else {
            self.send_allowed(now, out);
        }
    }

    /// Takes an ACK from the wire.
    pub fn on_ack(&mut self, now: Time, fields: &AckFields, out: &mut Actions) {
        let ack = match self.accept(fields) {
            Ok(ack) => ack,
            Err(why) => return out.report(Event::AckIgnored(why)),
        };
        let is_new = ack > self.snd_una;
        let flight_segments = self.flight_segments();
        let sample = self.sample(now, ack, fields);
        if let Some(rtt) = sample.rtt {
            self.rtt.sample(rtt);
            out.sampled(rtt, sample.mark != Mark::None);
        }
        self.snd_una = ack;
        self.una_segments += sample.new_segments;
        if ack > self.snd_nxt {
            // After a timeout an ACK may jump over data that is still to be sent again.
            (self.snd_nxt, self.nxt_segments) = (ack, self.una_segments);
        }
        let is_news = self.take_reports(&fields.sack);
        if is_new {
            self.rtt.reset_backoff();
        }
        let srtt = self.rtt.srtt();
        let is_unvalidated = self.controller.is_unvalidated(now, srtt, flight_segments);
        let sample = AckSample { snd_nxt: self.send_point(), srtt, is_unvalidated, ..sample };
        if self.controller.on_ack(&sample, out) == Reaction::Cut {
            self.cwr_pending = true;
        }
        if is_new {
            self.on_new_ack(now, sample.new_segments, out);
        } else if is_news {
            self.on_duplicate(now, out);
        }
        if self.state == State::Active {
            self.send_allowed(now, out);
        }
    }

    /// Notes what the receiver reports; tells whether a duplicate with these blocks counts as one: with SACK
    /// it must say something new (RFC6675 2, "duplicate acknowledgment").
    fn take_reports(&mut self, blocks: &SackBlocks) -> bool {
        let (una, nxt) = (self.snd_una, self.snd_nxt);
        let Some(board) = &mut self.scoreboard else { return true };
        board.advance(una);
        let mut is_news = false;
        for (start, end) in blocks.as_slice() {
            if let (Some(start), Some(end)) = (seq::unwrap(*start, una), seq::unwrap(*end, una))
                && una < start
                && start < end
                && end <= nxt
            {
                is_news |= board.report(start, end);
            }
        }
        is_news
    }

    /// The 64-bit position of an ACK that may change something.
    fn accept(&self, fields: &AckFields) -> Result<u64, IgnoredAck> {
        if self.state != State::Active {
            return Err(IgnoredAck::NotActive);
        }
        match seq::unwrap(fields.ack, self.snd_una) {
            Some(ack) if ack > self.snd_max => Err(IgnoredAck::NeverSent),
            Some(ack) if ack >= self.snd_una => Ok(ack),
            _ => Err(IgnoredAck::Old),
        }
    }

    fn sample(&self, now: Time, ack: u64, fields: &AckFields) -> AckSample {
        // Karn's rule: all that this ACK covers must have been sent once only. A time echo from the future is
        // not ours.
        let valid = ack > self.snd_una && self.snd_una >= self.resent_below;
        let rtt_ns = now.as_ns().checked_sub(fields.timestamp_echo_ns).filter(|_| valid);
        AckSample {
            now,
            new_segments: self.segments(ack) - self.una_segments,
            ack,
            snd_nxt: self.snd_nxt,
            mark: self.profile.map_or(Mark::None, |profile| profile.mark(fields.ecn_echo)),
            rtt: rtt_ns.map(Span::from_ns),
            srtt: None,
            is_unvalidated: false,
            flow: if self.controller.reads_progress() { self.progress() } else { FlowProgress::default() },
        }
    }

    fn progress(&self) -> FlowProgress {
        let left_bytes = (self.flow_end != u64::MAX).then(|| self.flow_end - self.snd_max);
        FlowProgress {
            sent_segments: self.segments(self.snd_max),
            segments_left: left_bytes.map(|bytes| bytes as f64 / self.mss_bytes as f64),
            deadline: self.flow_deadline,
        }
    }

    fn on_new_ack(&mut self, now: Time, new_segments: u64, out: &mut Actions) {
        self.dupacks = 0;
        let restart_timer = match self.fast_recovery {
            None => true,
            Some(recovery) => self.on_new_ack_in_recovery(recovery, new_segments, now, out),
        };
        if self.snd_una == self.flow_end {
            self.complete(out);
        } else if self.snd_una == self.snd_nxt {
            // RFC6298 5.2: nothing outstanding, the timer stops; sending starts it again.
            self.deadline = None;
        } else if restart_timer {
            // RFC6298 5.3: an ACK of new data restarts the timer.
            self.restart_timer(now, out);
        }
    }

    /// Returns whether the timer is to be restarted.
    fn on_new_ack_in_recovery(
        &mut self,
        recovery: FastRecovery,
        new_segments: u64,
        now: Time,
        out: &mut Actions,
    ) -> bool {
        let covers_all = self.recover.is_none_or(|recover| self.snd_una >= recover);
        match self.recovery {
            // With SACK the window needs no care and the timer follows RFC6298 throughout.
            Recovery::Sack if !covers_all => true,
            Recovery::Reno | Recovery::Sack => {
                self.fast_recovery = None;
                self.controller.on_recovery_exit(out);
                true
            }
            Recovery::NewReno if covers_all => {
                self.fast_recovery = None;
                self.controller.on_recovery_exit_newreno(self.flight_segments(), out);
                true
            }
            Recovery::NewReno => {
                // RFC6582: a partial ACK shows the next hole; it is sent again at once.
                out.report(Event::PartialAck { seq: self.snd_una });
                self.controller.on_partial_ack(new_segments);
                self.fast_recovery = Some(FastRecovery { partial_seen: true });
                self.send_segment(self.snd_una, now, out);
                !recovery.partial_seen
            }
        }
    }

    fn on_duplicate(&mut self, now: Time, out: &mut Actions) {
        self.dupacks = self.dupacks.saturating_add(1);
        if self.fast_recovery.is_some() {
            if self.scoreboard.is_none() {
                self.controller.on_recovery_duplicate();
            }
            return;
        }
        let (is_lost, guard) = match &self.scoreboard {
            // docs/algorithms/window.md#reno-rules: "third duplicate ACK, and ack > recover (RFC6582 guard)".
            None => {
                (self.dupacks == self.dupthresh, self.recover.is_none_or(|recover| self.snd_una > recover))
            }
            // RFC6675 5 (1) and (2), and 5.1: not before what was outstanding at a timeout is acknowledged.
            Some(board) => (
                self.dupacks >= self.dupthresh || board.is_lost(self.snd_una),
                self.recover.is_none_or(|recover| self.snd_una >= recover),
            ),
        };
        if is_lost && guard {
            self.start_fast_recovery(now, out);
        }
    }

    fn start_fast_recovery(&mut self, now: Time, out: &mut Actions) {
        self.fast_retransmits += 1;
        out.report(Event::FastRetransmit { seq: self.snd_una });
        // With SACK the scoreboard knows what has left the network; otherwise the duplicates do.
        let left = if self.scoreboard.is_some() { 0 } else { self.dupthresh };
        self.controller.on_fast_retransmit(self.flight_segments(), left, out);
        self.fast_recovery = Some(FastRecovery { partial_seen: false });
        self.recover = Some(self.snd_max);
        let whole = (self.snd_una, self.snd_una + self.segment_len(self.snd_una));
        let first = match &mut self.scoreboard {
            Some(board) => board.start_recovery(self.snd_una, self.snd_nxt),
            None => Some(whole),
        };
        if let Some((start, end)) = first {
            self.send_bytes(start, end - start, now, out);
        }
    }

    /// Takes a timer call; one that comes early or late or without need is harmless.
    pub fn on_timer(&mut self, now: Time, out: &mut Actions) {
        if self.wakeup.is_some_and(|wakeup| now >= wakeup) {
            self.wakeup = None;
        }
        match self.deadline {
            Some(deadline) if now >= deadline => self.on_timeout(now, out),
            Some(deadline) => self.ask_wakeup(deadline, out),
            None => {}
        }
    }

    /// docs/algorithms/window.md#reno-rules, "Timeout": everything
    /// outstanding is sent again from `snd_una`, one segment first.
    fn on_timeout(&mut self, now: Time, out: &mut Actions) {
        self.timeouts += 1;
        out.report(Event::Timeout { seq: self.snd_una, rto: self.rtt.rto() });
        self.controller.on_timeout(self.flight_segments(), self.snd_una, out);
        self.recover = Some(self.snd_max);
        self.fast_recovery = None;
        self.dupacks = 0;
        match &mut self.scoreboard {
            Some(board) => board.on_timeout(self.snd_una, self.snd_nxt),
            None => (self.snd_nxt, self.nxt_segments) = (self.snd_una, self.una_segments),
        }
        self.rtt.back_off();
        self.deadline = None;
        self.send_allowed(now, out);
    }

    /// Sends what the windows allow: a segment may leave while `flight + 1 <= min(floor(cwnd), rwnd)`.
    ///
    /// The window is counted in whole segments, as ns-2 does (it sends while the segment's number is at most
    /// the last acknowledged one plus the integer part of the window); RFC5681 3.1 bounds the same flight by
    /// min(cwnd, rwnd). A window grows to the next segment only when its real value reaches it.
    fn send_allowed(&mut self, now: Time, out: &mut Actions) {
        let repairs = self.fast_recovery.is_some()
            || self.scoreboard.as_ref().is_some_and(|board| board.repairs_timeout(self.snd_una));
        if repairs && self.scoreboard.is_some() {
            return self.send_by_scoreboard(now, out);
        }
        let window = self.controller.window().whole_segments() + self.limited_segments();
        let mut left_of_burst = 0;
        while self.may_send_next() && self.flight_segments() < window {
            if left_of_burst == 0 {
                left_of_burst = self.next_burst(window.min(self.rwnd_segments));
                if left_of_burst == 0 {
                    return;
                }
            }
            self.send_next(now, out);
            left_of_burst -= 1;
        }
    }

    /// Segments that leave at once now; 0 while more are awaited (docs/algorithms/window.md#kernel-sender).
    ///
    /// A burst leaves when it is whole, or a third of the window, or all that there is to send. Nothing is
    /// awaited while nothing is in flight, as no ACK would come, nor while duplicates tell of a loss.
    fn next_burst(&self, window: u64) -> u64 {
        let available = window.saturating_sub(self.flight_segments()).max(1);
        let is_open = self.fast_recovery.is_none() && self.dupacks == 0 && self.snd_nxt == self.snd_max;
        let awaited = self.burst_segments.min(window.div_ceil(BURST_WINDOW_DIVISOR));
        let has_all = self.sendable_end() - self.snd_nxt <= available * self.mss_bytes;
        let waits = is_open && self.snd_una < self.snd_nxt && available < awaited && !has_all;
        if waits { 0 } else { available.min(self.burst_segments) }
    }

    /// Segments that may leave beyond the window for duplicates that are not
    /// enough for a loss (RFC3042, docs/algorithms/window.md#reno-rules).
    fn limited_segments(&self) -> u64 {
        if self.limited_transmit && self.fast_recovery.is_none() && self.snd_nxt == self.snd_max {
            u64::from(self.dupacks.min(self.dupthresh - 1))
        } else {
            0
        }
    }

    /// RFC6675: while fewer segments are in the network than
    /// the window allows, sends by the order of NextSeg.
    fn send_by_scoreboard(&mut self, now: Time, out: &mut Actions) {
        let window = self.controller.window().whole_segments().min(self.rwnd_segments);
        let Some(board) = &self.scoreboard else { return };
        let mut pipe = board.pipe(self.snd_una, self.snd_nxt).div_ceil(self.mss_bytes);
        while pipe < window {
            let (nxt, may_send_next, is_fast) =
                (self.snd_nxt, self.may_send_next(), self.fast_recovery.is_some());
            let Some(board) = &mut self.scoreboard else { return };
            let again = match board.take_lost(nxt) {
                None if may_send_next => {
                    self.send_next(now, out);
                    pipe += 1;
                    continue;
                }
                None if is_fast => board.take_hole(nxt).or_else(|| board.take_rescue(nxt)),
                lost => lost,
            };
            let Some((start, end)) = again else { return };
            self.send_bytes(start, end - start, now, out);
            pipe += 1;
        }
    }

    /// Whether there is a segment to send at `snd_nxt` and the receiver has room for it.
    fn may_send_next(&self) -> bool {
        let in_window = self.nxt_segments - self.una_segments < self.rwnd_segments;
        self.snd_nxt < self.sendable_end() && in_window && self.fits_bytes()
    }

    /// Sends the segment at `snd_nxt`.
    fn send_next(&mut self, now: Time, out: &mut Actions) {
        self.snd_nxt += self.send_segment(self.snd_nxt, now, out);
        self.nxt_segments = self.segments(self.snd_nxt);
        self.snd_max = self.snd_max.max(self.snd_nxt);
    }

    /// Puts the segment that starts at `seq` on the wire and returns its length; moves no pointer.
    fn send_segment(&mut self, seq: u64, now: Time, out: &mut Actions) -> u64 {
        let len = self.segment_len(seq);
        self.send_bytes(seq, len, now, out);
        len
    }

    /// Puts `len` bytes from `seq`, at most a segment, on the wire; moves no pointer.
    fn send_bytes(&mut self, seq: u64, len: u64, now: Time, out: &mut Actions) {
        let retransmit = seq < self.snd_max;
        self.last_sent = now;
        // Retransmissions are capable too, as in DCTCP: their
        // marks count like any other. RFC3168 has them not.
        let is_capable = !(retransmit && self.echo_until_cwr);
        if retransmit {
            self.retransmitted_segments += 1;
            self.resent_below = self.resent_below.max(seq + len);
        }
        out.push(Action::Send(Segment {
            seq,
            // A segment is at most the largest payload, far below 2^32.
            len: len as u32,
            beyond: 0,
            ecn: if is_capable { self.data_codepoint } else { Codepoint::NOT_ECT },
            retransmit,
            cwr: !retransmit && core::mem::take(&mut self.cwr_pending),
            fin: seq + len == self.flow_end,
            sack_permitted: self.scoreboard.is_some(),
            echo_until_cwr: self.echo_until_cwr,
            ack_request: false,
        }));
        if self.deadline.is_none() {
            // RFC6298 5.1: sending starts the timer if it is not running.
            self.restart_timer(now, out);
        }
    }

    fn restart_timer(&mut self, now: Time, out: &mut Actions) {
        let deadline = now + self.rtt.rto();
        self.deadline = Some(deadline);
        self.ask_wakeup(deadline, out);
    }

    /// Asks for a call at `deadline`, unless one comes before it anyway.
    fn ask_wakeup(&mut self, deadline: Time, out: &mut Actions) {
        if self.wakeup.is_none_or(|wakeup| deadline < wakeup) {
            self.wakeup = Some(deadline);
            out.push(Action::SetTimer(deadline));
        }
    }

    fn complete(&mut self, out: &mut Actions) {
        self.state = State::Complete;
        self.deadline = None;
        if self.wakeup.take().is_some() {
            out.push(Action::CancelTimer);
        }
        out.push(Action::Complete);
    }

    /// Number of the segment that ends at or covers `position`; only the last one of a flow is short.
    #[inline]
    const fn segments(&self, position: u64) -> u64 {
        position.div_ceil(self.mss_bytes)
    }

    /// Whether the next segment fits the receiver window in bytes. Short segments inside a flow that is given
    /// piece by piece can make the count of segments one too low; in a whole flow the count alone is exact.
    fn fits_bytes(&self) -> bool {
        self.supplied == u64::MAX
            || self.snd_nxt + self.segment_len(self.snd_nxt) - self.snd_una
                <= self.rwnd_segments * self.mss_bytes
    }

    /// Length of the segment that starts at `seq`, which lies before the end of what may leave.
    fn segment_len(&self, seq: u64) -> u64 {
        self.mss_bytes.min(self.sendable_end() - seq)
    }

    /// One past the last byte that may leave.
    fn sendable_end(&self) -> u64 {
        self.flow_end.min(self.supplied)
    }

    /// Segments sent, and after a timeout sent again, that are
    /// not acknowledged; with SACK the reported ones included.
    fn flight_segments(&self) -> u64 {
        let nxt_segments = match &self.scoreboard {
            None => self.nxt_segments,
            Some(_) => self.segments(self.send_point()),
        };
        nxt_segments - self.una_segments
    }

    /// The next byte to send in the order of the flow: after a timeout the first that was not sent again yet.
    fn send_point(&self) -> u64 {
        self.scoreboard.as_ref().map_or(self.snd_nxt, |board| board.send_point(self.snd_una, self.snd_nxt))
    }

    /// Whether it has to send data that it never sent before it can be complete.
    pub fn has_unsent(&self) -> bool {
        self.flow_end != u64::MAX && self.snd_max < self.flow_end
    }

    /// Whether every byte is acknowledged.
    pub fn is_complete(&self) -> bool {
        self.state == State::Complete
    }

    /// Hands on headers of the user's program that the next ACK echoes.
    pub fn on_headers(&mut self, fields: &[HeaderField<'_>]) {
        self.controller.on_headers(fields);
    }

    /// Whether the algorithm takes such headers.
    pub fn reads_headers(&self) -> bool {
        self.controller.reads_headers()
    }

    /// The value of an attribute that an algorithm of the user's keeps by this name.
    pub fn state(&self, name: &str) -> Option<f64> {
        self.controller.state(name)
    }

    /// State worth recording.
    pub fn snapshot(&self) -> Snapshot {
        let window = self.controller.window();
        Snapshot {
            cwnd_segments: window.cwnd(),
            ssthresh_segments: window.ssthresh(),
            alpha: self.controller.alpha(),
            delta: self.controller.delta(),
            srtt: self.rtt.srtt(),
            rto: self.rtt.rto(),
            flight_segments: self.flight_segments(),
            phase: self.controller.phase(),
            snd_una: self.snd_una,
            snd_nxt: self.snd_nxt,
            timeouts: self.timeouts,
            fast_retransmits: self.fast_retransmits,
            retransmitted_segments: self.retransmitted_segments,
            rate_bps: None,
        }
    }
}
