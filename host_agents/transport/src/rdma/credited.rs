//! A sender that its receiver lets send: credit, what it asks for, its timeout
//! (docs/algorithms/receivers.md#sender).

use p4cc_units::{Span, Time};

use super::credits::Credits;
use super::selective::Selective;
use super::sender::RdmaSender;
use crate::wire::{Extension, TrafficClass};
use crate::{Codepoint, Segment};

impl RdmaSender {
    /// A receiver algorithm lets it send; so many bytes leave unasked.
    pub fn await_credit(&mut self, unasked_bytes: u64) {
        self.credits = Some(Credits::new(unasked_bytes));
    }

    /// The sender asks its receiver for what it wants, at most so many bytes at once.
    pub fn ask_up_to(&mut self, most_bytes: u64) {
        if let Some(credits) = &mut self.credits {
            credits.ask_up_to(most_bytes);
        }
    }

    /// What the packet that left last says of the credit that the flow wants, where the sender asks for it.
    #[inline]
    pub fn say_wanted(&mut self) -> Option<u64> {
        if !self.credits.as_ref().is_some_and(Credits::asks) {
            return None;
        }
        let (backlog, window) = (self.backlog_bytes(), self.control.cwnd_bytes());
        let window = window.map_or(u64::MAX, |window| window as u64 + u64::from(self.mss_bytes));
        self.credits.as_mut().and_then(|credits| credits.say(backlog, window))
    }

    /// What there is to send: new bytes, and those of lost packets.
    fn backlog_bytes(&self) -> u64 {
        let lost_bytes = self.selective.as_ref().map_or(0, Selective::lost_bytes);
        (self.end() - self.snd_nxt).saturating_add(lost_bytes)
    }

    /// A request for credit: a packet without data.
    pub(super) fn request(&self) -> Segment {
        let beyond = self.flow_bytes.map_or(u64::MAX, |end| end.saturating_sub(self.snd_nxt));
        let beyond = u32::try_from(beyond).unwrap_or(u32::MAX);
        Segment { seq: self.snd_nxt, ecn: Codepoint::NOT_ECT, beyond, ..Segment::default() }
    }

    /// Whether the next packet is a request for credit.
    #[inline]
    pub fn is_request_due(&self) -> bool {
        self.credits.as_ref().is_some_and(Credits::is_request_due)
    }

    /// The class that the receiver chose for the flow's data.
    #[inline]
    pub fn data_class(&self) -> Option<TrafficClass> {
        self.credits.as_ref().and_then(Credits::class).and_then(TrafficClass::new)
    }

    /// Takes what the receiver lets it send.
    pub fn on_credit(&mut self, now: Time, extension: &Extension<'_>) {
        if !self.started || self.is_closed() {
            return;
        }
        let Some(credits) = &mut self.credits else { return };
        credits.stop_speculating();
        credits.hear(extension);
        credits.heard = now;
        self.ask_if_untold();
        self.watch(now);
    }

    /// A request leaves if there is data, no credit, and the receiver knows of neither.
    pub(super) fn ask_if_untold(&mut self) {
        if self.started
            && self.has_data()
            && !self.is_closed()
            && let Some(credits) = &mut self.credits
        {
            credits.ask_if_untold();
        }
    }

    /// With credit there is a timeout while packets are in the network, or while the receiver is to let more
    /// be sent: the last packet that says so may be lost.
    pub(super) fn watch(&mut self, now: Time) {
        if self.flight_bytes() == 0 && !self.has_data() {
            self.deadline = None;
        } else if self.deadline.is_none() {
            self.deadline = self.rto.map(|rto| now + rto);
        }
    }

    /// There is data where there was none. Without credit nothing leaves that would start the timeout, and
    /// the last packet that gave some may be lost.
    pub(super) fn watch_credit(&mut self, now: Time) {
        if self.started && !self.is_closed() && self.credits.as_ref().is_some_and(|one| !one.has_left()) {
            self.watch(now);
        }
    }

    /// The timeout of a sender that is let send. Packets that left so long ago leave again, unasked, as the
    /// receiver never heard of them; where none is in the network and nothing was heard for so long, one
    /// packet does. A sender that asks sends a request in both cases, the next one after twice the time.
    pub(super) fn time_out(&mut self, now: Time) {
        let mss_bytes = u64::from(self.mss_bytes);
        let Some(rto) = self.rto else { return };
        let (Some(selective), Some(credits)) = (&mut self.selective, &mut self.credits) else { return };
        let before = Time::from_ps(now.as_ps().saturating_sub(rto.as_ps()));
        let lost_bytes = selective.time_out(before);
        if !credits.asks() {
            credits.refund(lost_bytes);
        }
        let has_data = selective.has_lost()
            || self.snd_nxt < self.flow_bytes.unwrap_or(u64::MAX).min(self.supplied.unwrap_or(u64::MAX));
        let waits = has_data && selective.flight_bytes() == 0 && !credits.has_left();
        let is_silent = waits && credits.heard + credits.patience(rto) <= now;
        if credits.asks() {
            if lost_bytes > 0 || is_silent {
                credits.ask_again();
            }
        } else if is_silent {
            credits.probe(mss_bytes);
        }
        let patience = credits.heard + credits.patience(rto);
        let due = selective.oldest().map_or(patience, |oldest| oldest + rto);
        self.deadline = Some(due.max(now + Span::from_ns(1)));
        if lost_bytes > 0 || is_silent {
            self.timeouts += 1;
            self.control.on_timeout(now);
            self.repace(now);
        }
        if self.flight_bytes() == 0 && (!self.has_data() || self.has_window() || self.is_request_due()) {
            // What leaves next starts it.
            self.deadline = None;
        }
    }
}
