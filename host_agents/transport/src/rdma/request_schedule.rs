//! The schedule of a D3 sender's rate requests (docs/algorithms/d3-rcp.md#d3-sender): which packet leaves
//! next, and what it carries.
//!
//! A round begins when the last request's return arrives. Its first packet carries the next request. Where
//! the rate lets no data leave within the round, a header without payload carries the request, also at the
//! base rate. A flow whose rest leaves within the round makes no further request, but returns its rate with
//! its last packet (our own: a grant for a round without data would serve nobody). A FIN waits for the return
//! of the outstanding request, which says how much there is to give back.

use p4cc_cc::{FlowRemainder, RateRequest};
use p4cc_units::{Span, Time};

use super::request::RequestBytes;
use super::sender::RdmaSender;
use crate::Segment;
use crate::wire::IP_HEADERS_LEN;

/// What leaves next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum NextSend {
    /// Nothing: the return of the request on its way will not come.
    GiveUp,
    /// A request alone.
    Request,
    /// Data, the round's first packet.
    DataAndRequest,
    /// Data.
    Data,
    /// A FIN alone.
    Fin,
}

impl RdmaSender {
    /// When the next packet may leave, or a request is to be given up.
    pub(super) fn next_request_at(&self) -> Option<Time> {
        self.next_send().map(|(at, _)| at)
    }

    fn next_send(&self) -> Option<(Time, NextSend)> {
        let requests = self.requests.as_ref().filter(|_| self.started)?;
        let give_up = requests.give_up_at();
        if !self.is_closed() && self.has_data() {
            let data_at = (self.rate_bps() > 0.0 && self.has_window()).then_some(self.pacer.next_send());
            let due = requests.due();
            return match (give_up, data_at) {
                (None, Some(at)) if self.is_last_round(due) => Some((at, NextSend::Data)),
                (None, Some(at)) if at <= due + self.smooth_rtt() => {
                    Some((at.max(due), NextSend::DataAndRequest))
                }
                (None, _) => Some((due, NextSend::Request)),
                (Some(until), Some(at)) if at < until => Some((at, NextSend::Data)),
                (Some(until), _) => Some((until, NextSend::GiveUp)),
            };
        }
        match give_up {
            Some(until) => Some((until, NextSend::GiveUp)),
            None => requests.brings_back().then(|| (requests.due(), NextSend::Fin)),
        }
    }

    /// Whether the last packet leaves within a round trip at the present rate.
    fn is_last_round(&self, due: Time) -> bool {
        let left = self.end().saturating_sub(self.snd_nxt);
        let Some(before_last) = self.wire_bytes(left.saturating_sub(u64::from(self.mss_bytes))) else {
            return false;
        };
        let wait_ps = self.pacer.next_send().max(due).since(due).as_ps() as f64;
        let paced_ps = before_last as f64 * 8e12 / self.rate_bps();
        wait_ps + paced_ps <= self.smooth_rtt().as_ps() as f64
    }

    /// Payload with the headers of its packets; none for what has no end.
    fn wire_bytes(&self, payload: u64) -> Option<u64> {
        let packets = payload.div_ceil(u64::from(self.mss_bytes));
        (self.end() != u64::MAX).then(|| payload + packets * IP_HEADERS_LEN as u64)
    }

    /// The packet that may leave at `now`; its extension, empty for none.
    pub(super) fn take_asked(&mut self, now: Time) -> Option<(Segment, RequestBytes)> {
        // A request that is given up makes room for another step, and there is no third.
        for _ in 0..2 {
            let (_, step) = self.next_send().filter(|(at, _)| *at <= now)?;
            match step {
                NextSend::GiveUp => {
                    if let Some(requests) = &mut self.requests {
                        requests.give_up(now);
                    }
                    self.repace(now);
                }
                NextSend::Request => {
                    let bytes = self.request_bytes(now);
                    return Some((self.bare(), bytes));
                }
                NextSend::DataAndRequest => {
                    let bytes = self.request_bytes(now);
                    let segment = if self.quenched { self.bare() } else { self.data(now, bytes.len()) };
                    return Some((segment, bytes));
                }
                NextSend::Data => return Some(self.data_or_last(now)),
                NextSend::Fin => {
                    let bytes = self.fin_bytes(now);
                    return Some((self.bare(), bytes));
                }
            }
        }
        None
    }

    /// Data; the flow's last packet gives its rate back, unless a request is on its way.
    fn data_or_last(&mut self, now: Time) -> (Segment, RequestBytes) {
        let left = self.end() - self.snd_nxt;
        let closes = self
            .requests
            .as_ref()
            .is_some_and(|requests| requests.give_up_at().is_none() && requests.brings_back());
        if left > u64::from(self.mss_bytes) || !closes {
            return (self.data(now, 0), RequestBytes::new());
        }
        let extra = self.requests.as_ref().map_or(0, |requests| requests.len());
        let segment = self.data(now, extra);
        (segment, self.fin_bytes(now))
    }

    /// The next request, or the FIN of a flow that quenches itself.
    fn request_bytes(&mut self, now: Time) -> RequestBytes {
        let remainder = FlowRemainder {
            now,
            left_bytes: self.wire_bytes(self.end().saturating_sub(self.snd_nxt)),
            deadline: self.flow_deadline,
            rtt: self.smooth_rtt(),
        };
        match self.control.request_rate(&remainder) {
            RateRequest::Rate(bps) => {
                let rounds = u64::from(self.patience_rounds);
                // Samples of requests alone are no measure of one that a full packet carries.
                let rtt = self.smooth_rtt().max(self.base_rtt);
                let patience = Span::from_ps(rtt.as_ps().saturating_mul(rounds));
                self.requests
                    .as_mut()
                    .map(|requests| requests.request(now, bps, patience))
                    .unwrap_or_default()
            }
            RateRequest::Quench => {
                self.quenched = true;
                self.deadline = None;
                self.fin_bytes(now)
            }
        }
    }

    fn fin_bytes(&mut self, now: Time) -> RequestBytes {
        let bytes = self.requests.as_mut().map(|requests| requests.fin(now)).unwrap_or_default();
        self.repace(now);
        bytes
    }

    /// A packet without payload.
    fn bare(&self) -> Segment {
        Segment { seq: self.snd_nxt, ecn: self.ecn, ..Segment::default() }
    }
}
