//! D3's rate requests as a host keeps them (docs/algorithms/d3-rcp.md#d3-header,
//! #d3-sender; docs/reference/wire-format.md, extension 3).
//!
//! Invariants: at most one request is on its way; a grant is brought back at most once, and nothing is
//! brought back of a request whose return was given up, so that no switch takes a rate back twice.

use p4cc_units::{Span, Time};
use smallvec::SmallVec;

use crate::wire::{Extension, ExtensionType};

/// Records that a request may have room for (docs/algorithms/d3-rcp.md#d3-header).
pub(crate) const MAX_RECORDS: u8 = 6;
const FIXED_BYTES: usize = 12;
const RECORD_BYTES: usize = 12;
const FLAG_OVERFLOW: u8 = 0x08;
const FLAG_BASE: u8 = 0x04;
const FLAG_FIN: u8 = 0x02;
const KBPS: f64 = 1e3;

/// An extension's bytes: four records fit in place.
pub(crate) type RequestBytes = SmallVec<[u8; 64]>;

/// What one hop gave.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Grant {
    kbps: u32,
    epoch: u16,
}

/// A request on its way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Sent {
    /// The packet's timestamp, by which its return is known.
    timestamp_ns: u64,
    desired_kbps: u32,
    give_up: Time,
}

/// Requests and grants of one flow.
#[derive(Clone, Debug)]
pub(crate) struct Requests {
    records: u8,
    /// What the next request brings back.
    desired_before_kbps: u32,
    granted: SmallVec<[Grant; MAX_RECORDS as usize]>,
    sent: Option<Sent>,
    /// The last return was heard, and not given back since.
    has_grant: bool,
    /// Since when the next one may leave.
    due: Time,
}

impl Requests {
    /// Of a flow whose requests have room for so many hops.
    pub fn new(records: u8) -> Self {
        Self {
            records: records.clamp(1, MAX_RECORDS),
            desired_before_kbps: 0,
            granted: SmallVec::new(),
            sent: None,
            has_grant: false,
            due: Time::ZERO,
        }
    }

    /// Bytes of the extension.
    pub fn len(&self) -> usize {
        FIXED_BYTES + RECORD_BYTES * usize::from(self.records)
    }

    /// Whether the flow may send at what it was granted last.
    pub fn has_grant(&self) -> bool {
        self.has_grant
    }

    /// Whether a switch counts the flow, so that a FIN has something to say.
    pub fn brings_back(&self) -> bool {
        self.granted.iter().any(|grant| grant.epoch != 0)
    }

    /// When the request on its way is given up.
    pub fn give_up_at(&self) -> Option<Time> {
        self.sent.map(|sent| sent.give_up)
    }

    /// Since when the next request may leave.
    pub fn due(&self) -> Time {
        self.due
    }

    /// A request that leaves now.
    pub fn request(&mut self, now: Time, desired_bps: f64, patience: Span) -> RequestBytes {
        // Rounded up: a rate below what the deadline needs misses it.
        let desired_kbps = u32::try_from((desired_bps as u64).div_ceil(1_000)).unwrap_or(u32::MAX);
        // Not at once, however short the round trip is said to
        // be: the next request would follow at the same instant.
        let give_up = now + patience.max(Span::from_ps(1));
        self.sent = Some(Sent { timestamp_ns: now.as_ns(), desired_kbps, give_up });
        self.encode(desired_kbps, 0)
    }

    /// The flow ends, or pauses, now: what it was granted is given back.
    pub fn fin(&mut self, now: Time) -> RequestBytes {
        let bytes = self.encode(0, FLAG_FIN);
        self.sent = None;
        self.forget(now);
        bytes
    }

    /// The return of the request on its way did not come: the
    /// flow falls to the base rate and brings back nothing.
    pub fn give_up(&mut self, now: Time) {
        self.sent = None;
        self.forget(now);
    }

    fn forget(&mut self, now: Time) {
        self.desired_before_kbps = 0;
        self.granted.clear();
        self.has_grant = false;
        self.due = now;
    }

    fn encode(&self, desired_kbps: u32, flags: u8) -> RequestBytes {
        let mut bytes = SmallVec::from_slice(&[flags, 0, 0, 0]);
        bytes.extend_from_slice(&desired_kbps.to_be_bytes());
        bytes.extend_from_slice(&self.desired_before_kbps.to_be_bytes());
        for hop in 0..usize::from(self.records) {
            let before = self.granted.get(hop).copied().unwrap_or_default();
            bytes.extend_from_slice(&before.kbps.to_be_bytes());
            bytes.extend_from_slice(&[0; 4]);
            bytes.extend_from_slice(&before.epoch.to_be_bytes());
            bytes.extend_from_slice(&[0; 2]);
        }
        bytes
    }

    /// Takes what came back with the ACK of a packet of this timestamp: the
    /// rate in bit/s that all hops grant, 0 for the base rate, infinite
    /// where no hop allots; none if it is not the return that is awaited.
    pub fn on_return(&mut self, now: Time, timestamp_ns: u64, extension: &Extension<'_>) -> Option<f64> {
        let sent = self.sent.filter(|sent| sent.timestamp_ns == timestamp_ns)?;
        if extension.kind != ExtensionType::RATE_REQUEST || extension.bytes.len() != self.len() {
            return None;
        }
        let (fixed, records) = extension.bytes.split_at_checked(FIXED_BYTES)?;
        let hops = usize::from(*fixed.get(1)?);
        let records = records.as_chunks::<RECORD_BYTES>().0;
        self.granted = records.iter().take(hops).map(read_grant).collect();
        self.desired_before_kbps = sent.desired_kbps;
        self.sent = None;
        self.has_grant = true;
        self.due = now;
        if fixed.first().is_some_and(|flags| flags & (FLAG_BASE | FLAG_OVERFLOW) != 0) {
            return Some(0.0);
        }
        let least = self.granted.iter().map(|grant| grant.kbps).min();
        Some(least.map_or(f64::INFINITY, |kbps| f64::from(kbps) * KBPS))
    }
}

/// Granted before, granted, epoch before, epoch.
fn read_grant(record: &[u8; RECORD_BYTES]) -> Grant {
    let [_, _, _, _, a, b, c, d, _, _, e, f] = *record;
    Grant { kbps: u32::from_be_bytes([a, b, c, d]), epoch: u16::from_be_bytes([e, f]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a path of switches with these grants makes of a request.
    fn answered(mut bytes: RequestBytes, grants: &[(u32, u16)]) -> RequestBytes {
        bytes[1] = grants.len() as u8;
        for (hop, (kbps, epoch)) in grants.iter().enumerate() {
            let at = FIXED_BYTES + RECORD_BYTES * hop;
            bytes[at + 4..at + 8].copy_from_slice(&kbps.to_be_bytes());
            bytes[at + 10..at + 12].copy_from_slice(&epoch.to_be_bytes());
            if *kbps == 0 {
                bytes[0] |= FLAG_BASE;
            }
        }
        bytes
    }

    fn back(bytes: &[u8]) -> Extension<'_> {
        Extension { kind: ExtensionType::RATE_REQUEST, bytes }
    }

    const PATIENCE: Span = Span::from_us(900);

    #[test]
    fn a_return_is_brought_back_once() {
        let mut requests = Requests::new(2);
        let first = requests.request(Time::from_us(1), 40e6, PATIENCE);
        assert_eq!(first.len(), 36);
        assert_eq!(first[4..12], [0, 0, 0x9c, 0x40, 0, 0, 0, 0], "40000 kbit/s, nothing before");
        assert!(first[12..].iter().all(|byte| *byte == 0));
        let answer = answered(first, &[(50_000, 0x8001), (45_000, 0x8002)]);
        assert_eq!(requests.on_return(Time::from_us(5), 999, &back(&answer)), None, "another packet's");
        assert_eq!(requests.on_return(Time::from_us(5), 1_000, &back(&answer)), Some(45e6));
        assert_eq!(requests.on_return(Time::from_us(6), 1_000, &back(&answer)), None, "heard already");
        assert!(requests.has_grant() && requests.brings_back());
        let second = requests.request(Time::from_us(7), 0.0, PATIENCE);
        assert_eq!(second[8..12], 40_000_u32.to_be_bytes());
        assert_eq!(second[12..16], 50_000_u32.to_be_bytes());
        assert_eq!(second[20..24], [0x80, 1, 0, 0]);
        assert_eq!(second[24..28], 45_000_u32.to_be_bytes());
        assert_eq!(second[32..36], [0x80, 2, 0, 0]);
    }

    #[test]
    fn after_a_lost_return_nothing_is_brought_back() {
        let mut requests = Requests::new(1);
        let first = requests.request(Time::from_us(1), 40e6, PATIENCE);
        requests.on_return(Time::from_us(2), 1_000, &back(&answered(first, &[(50_000, 0x8001)])));
        let lost = requests.request(Time::from_us(3), 40e6, PATIENCE);
        assert_eq!(requests.give_up_at(), Some(Time::from_us(903)));
        requests.give_up(Time::from_us(903));
        assert!(!requests.has_grant() && !requests.brings_back());
        let late = answered(lost, &[(60_000, 0x8001)]);
        assert_eq!(requests.on_return(Time::from_us(904), 3_000, &back(&late)), None, "it comes too late");
        let next = requests.request(Time::from_us(905), 40e6, PATIENCE);
        assert!(next[8..].iter().all(|byte| *byte == 0));
    }

    #[test]
    fn fin_gives_all_back_and_forgets() {
        let mut requests = Requests::new(1);
        let first = requests.request(Time::from_us(1), 1_500.0, PATIENCE);
        assert_eq!(first[4..8], 2_u32.to_be_bytes(), "rounded up");
        requests.on_return(Time::from_us(2), 1_000, &back(&answered(first, &[(7, 0x8001)])));
        let fin = requests.fin(Time::from_us(3));
        assert_eq!(fin[0], FLAG_FIN);
        assert_eq!(fin[4..12], [0, 0, 0, 0, 0, 0, 0, 2]);
        assert_eq!(fin[12..24], [0, 0, 0, 7, 0, 0, 0, 0, 0x80, 1, 0, 0]);
        assert!(!requests.has_grant() && !requests.brings_back() && requests.give_up_at().is_none());
    }

    #[test]
    fn a_full_switch_or_a_path_too_long_means_the_base_rate() {
        let mut requests = Requests::new(2);
        let bytes = requests.request(Time::from_us(1), 40e6, PATIENCE);
        let full = answered(bytes.clone(), &[(50_000, 0x8001), (0, 0x8002)]);
        assert_eq!(requests.clone().on_return(Time::from_us(2), 1_000, &back(&full)), Some(0.0));
        let mut long = answered(bytes.clone(), &[(50_000, 0x8001), (50_000, 0x8002)]);
        long[0] |= FLAG_OVERFLOW;
        assert_eq!(requests.clone().on_return(Time::from_us(2), 1_000, &back(&long)), Some(0.0));
        // No switch allots: the line's rate, and no FIN is needed.
        assert_eq!(requests.clone().on_return(Time::from_us(2), 1_000, &back(&bytes)), Some(f64::INFINITY));
        for damaged in [&bytes[..24], &bytes[..35], &[]] {
            assert_eq!(requests.clone().on_return(Time::from_us(2), 1_000, &back(damaged)), None);
        }
        let mut liar = bytes;
        liar[1] = 0xff;
        assert_eq!(requests.on_return(Time::from_us(2), 1_000, &back(&liar)), Some(0.0), "records of zero");
    }
}
