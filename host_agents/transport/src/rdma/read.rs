//! RDMA reads: who wants the data asks for it, segment by segment (docs/algorithms/timely.md#reads).
//!
//! The reader is an [`super::RdmaSender`] whose packets are requests, each for a segment: its algorithm paces
//! them, and a segment that is whole gives one round-trip time, counted from its request. [`ReadSource`] is
//! the host that has the data: it sends what it is asked for as fast as its interface takes it.
//!
//! Invariants: a source sends nothing that it was not asked for; it keeps at most `MAX_RANGES` ranges.

use std::collections::VecDeque;

use p4cc_units::Time;

use super::config::RdmaConfig;
use crate::wire::{Extension, ExtensionType};
use crate::{Codepoint, EcnProfile, Segment, seq};

/// Ranges that a source keeps; requests for what follows the last one lengthen it.
const MAX_RANGES: usize = 1_024;
/// Bytes of the extension of a request: how many bytes of the flow it asks for.
const REQUEST_BYTES: usize = 4;

/// What a request says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReadRequest {
    /// Low 32 bits of the first byte wanted.
    pub seq: u32,
    /// Bytes wanted.
    pub len: u32,
    /// The last of them is the last of the flow.
    pub fin: bool,
}

impl ReadRequest {
    /// The bytes of a request's extension.
    pub const fn extension_bytes(len: u32) -> [u8; REQUEST_BYTES] {
        len.to_be_bytes()
    }

    /// What a packet with this extension asks for; none if it is no request.
    pub fn from_wire(seq: u32, fin: bool, extension: &Extension<'_>) -> Option<Self> {
        let bytes =
            extension.bytes.try_into().ok().filter(|_| extension.kind == ExtensionType::READ_REQUEST)?;
        Some(Self { seq, len: u32::from_be_bytes(bytes), fin })
    }
}

/// The end of a flow that has the data, and sends what a reader asks for.
#[derive(Clone, Debug)]
pub struct ReadSource {
    mss_bytes: u32,
    ecn: Codepoint,
    /// What was asked for and has not left, in the order of asking: first byte, and one past the last.
    ranges: VecDeque<(u64, u64)>,
    /// One past the last byte that was asked for.
    asked: u64,
    /// One past the last byte ever sent.
    sent: u64,
    flow_end: Option<u64>,
    /// Since when there is something to send.
    since: Option<Time>,
}

impl ReadSource {
    /// A source at the start of a flow.
    pub fn new(config: &RdmaConfig) -> Self {
        let is_capable = config.ecn_capable.unwrap_or(false);
        Self {
            mss_bytes: config.mss_bytes,
            ecn: if is_capable { EcnProfile::Rfc3168.unmarked() } else { Codepoint::NOT_ECT },
            ranges: VecDeque::new(),
            asked: 0,
            sent: 0,
            flow_end: None,
            since: None,
        }
    }

    /// Takes a request. One for what was asked for before says that it was lost on its way: what waits behind
    /// it is dropped, as the reader asks for that again too.
    pub fn on_request(&mut self, now: Time, request: &ReadRequest) {
        let Some(first) = seq::unwrap(request.seq, self.asked).filter(|_| request.len > 0) else { return };
        let end = first.saturating_add(u64::from(request.len));
        if first < self.asked {
            self.ranges.clear();
        }
        let is_full = self.ranges.len() >= MAX_RANGES;
        match self.ranges.back_mut() {
            Some((_, last)) if *last == first => *last = end,
            _ if is_full => return,
            _ => self.ranges.push_back((first, end)),
        }
        self.asked = end;
        if request.fin {
            self.flow_end = Some(end);
        }
        self.since.get_or_insert(now);
    }

    /// Since when a packet may leave; none if nothing is asked for.
    #[inline]
    pub fn ready_at(&self) -> Option<Time> {
        self.since
    }

    /// The next packet.
    #[inline]
    pub fn take(&mut self) -> Option<Segment> {
        let (next, end) = self.ranges.front_mut()?;
        let len = u64::from(self.mss_bytes).min(*end - *next);
        let segment = Segment {
            seq: *next,
            len: len as u32,
            ecn: self.ecn,
            retransmit: *next < self.sent,
            fin: self.flow_end == Some(*next + len),
            ..Segment::default()
        };
        *next += len;
        self.sent = self.sent.max(*next);
        if *next == *end {
            self.ranges.pop_front();
        }
        if self.ranges.is_empty() {
            self.since = None;
        }
        Some(segment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source() -> ReadSource {
        let config = r#"{"mss_bytes": 1000, "base_rtt_ns": 1, "cc": {"name": "fixed"}}"#;
        ReadSource::new(&serde_json::from_str(config).expect("a configuration"))
    }

    fn ask(source: &mut ReadSource, seq: u32, len: u32, fin: bool) {
        source.on_request(Time::from_us(1), &ReadRequest { seq, len, fin });
    }

    fn sent(source: &mut ReadSource) -> Vec<(u64, u32, bool, bool)> {
        core::iter::from_fn(|| source.take()).map(|one| (one.seq, one.len, one.retransmit, one.fin)).collect()
    }

    #[test]
    fn what_is_asked_for_leaves_in_packets() {
        let mut source = source();
        assert_eq!((source.ready_at(), source.take()), (None, None));
        ask(&mut source, 0, 2_500, false);
        ask(&mut source, 2_500, 500, true);
        assert_eq!(source.ready_at(), Some(Time::from_us(1)));
        let whole = [(0, 1_000, false, false), (1_000, 1_000, false, false), (2_000, 1_000, false, true)];
        assert_eq!(sent(&mut source), whole);
        assert_eq!(source.ready_at(), None);
    }

    #[test]
    fn a_reader_that_goes_back_is_sent_that_first() {
        let mut source = source();
        ask(&mut source, 0, 3_000, false);
        source.take();
        ask(&mut source, 1_000, 2_000, true);
        assert_eq!(sent(&mut source), [(1_000, 1_000, false, false), (2_000, 1_000, false, true)]);
        ask(&mut source, 2_000, 1_000, true);
        assert_eq!(sent(&mut source), [(2_000, 1_000, true, true)]);
    }

    #[test]
    fn requests_of_nothing_and_far_too_many_do_no_harm() {
        let mut source = source();
        ask(&mut source, 0, 0, false);
        assert_eq!(source.ready_at(), None);
        // Each leaves a gap behind the one before it.
        (1..=5_000).for_each(|at| ask(&mut source, at * 10, 5, false));
        assert_eq!(sent(&mut source).len(), MAX_RANGES);
        let other = Extension { kind: ExtensionType::CNP, bytes: &[0; 4] };
        assert_eq!(ReadRequest::from_wire(0, false, &other), None);
        let short = Extension { kind: ExtensionType::READ_REQUEST, bytes: &[0; 3] };
        assert_eq!(ReadRequest::from_wire(0, false, &short), None);
    }
}
