//! `struct p4cc_record` of `bpf/p4cc_record.h` as a line of JSON, with the names of the table `windows`
//! (docs/reference/results.md#windows) where that has them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde_json::{Value, json};

/// The bytes of one record.
pub const BYTES: usize = 12 * 8 + 6 * 4 + 2 * 16 + 2 * 2 + 4 + 16;
const EVENTS: [&str; 5] = ["ack", "recovery", "timeout", "exit", "undo"];
const PHASES: [&str; 4] = ["slow_start", "smoothing", "avoidance", "recovery"];
const AF_INET: u32 = 2;
/// A window of so many segments has no bound.
const UNBOUNDED: u64 = 1 << 62;

/// Reads one field after the other.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (first, rest) = self.0.split_first_chunk().unwrap_or((&[0; N], &[]));
        self.0 = rest;
        *first
    }

    fn u64(&mut self) -> u64 {
        u64::from_ne_bytes(self.take())
    }

    fn u32(&mut self) -> u32 {
        u32::from_ne_bytes(self.take())
    }

    fn u16(&mut self) -> u16 {
        u16::from_ne_bytes(self.take())
    }
}

fn address(bytes: [u8; 16], family: u32) -> IpAddr {
    if family == AF_INET {
        return Ipv4Addr::new(bytes[0], bytes[1], bytes[2], bytes[3]).into();
    }
    IpAddr::V6(Ipv6Addr::from(bytes)).to_canonical()
}

fn named<'a>(words: &[&'a str], number: u32) -> &'a str {
    words.get(number as usize).copied().unwrap_or("unknown")
}

/// The control group of a record, and its line; none for bytes that are no record.
pub fn line(bytes: &[u8]) -> Option<(u64, Value)> {
    if bytes.len() != BYTES {
        return None;
    }
    let mut at = Fields(bytes);
    let [time_ns, started_ns, netns, cgroup, acked_bytes, cwnd, ssthresh, alpha, delta, srtt_ns, k, kdc] =
        std::array::from_fn(|_| at.u64());
    let [new_segments, flight_segments, event, phase, sender, slow_start] = std::array::from_fn(|_| at.u32());
    let (local, remote) = (at.take::<16>(), at.take::<16>());
    let (local_port, remote_port, family) = (at.u16(), at.u16(), at.u32());
    let name = at.take::<16>();
    let segments = |word: u64| word as f64 / (1_u64 << 32) as f64;
    let fraction = |word: u64| word as f64 / (1_u64 << 62) as f64;
    let (avoidance, slow) =
        (named(&p4cc_linux::SENDERS, sender), named(&p4cc_linux::SLOW_STARTS, slow_start));
    let line = json!({
        "time_ns": time_ns,
        "event": named(&EVENTS, event),
        "name": String::from_utf8_lossy(&name).trim_end_matches('\0'),
        "local": format!("{}:{local_port}", address(local, family)),
        "remote": format!("{}:{remote_port}", address(remote, family)),
        "netns": netns,
        "cgroup": cgroup,
        "started_ns": started_ns,
        "acked_bytes": acked_bytes,
        "new_segments": new_segments,
        "flight_segments": flight_segments,
        "cwnd_segments": segments(cwnd),
        "ssthresh_segments": (ssthresh < UNBOUNDED).then(|| segments(ssthresh)),
        "alpha": (avoidance != "reno_ecn").then(|| fraction(alpha)),
        "delta": (slow == "gst").then(|| fraction(delta)),
        "srtt_ns": (srtt_ns > 0).then_some(srtt_ns),
        "k_marks": k,
        "kdc_marks": kdc,
        "phase": named(&PHASES, phase),
    });
    Some((cgroup, line))
}
