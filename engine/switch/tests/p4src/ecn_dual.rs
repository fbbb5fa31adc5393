//! `ecn_dual.p4` of both architectures: the codepoint that each packet leaves with, by profile, queue depth
//! and the codepoint it came with (docs/algorithms/marking.md#dual-thresholds), and which packets are
//! dropped.

use p4cc_switch::QdepthUnit;

use super::bench::{Bench, OUT};
use super::frame::{self, Frame, ecn};

const K_PKTS: u64 = 3;
const K_DC_PKTS: u64 = 6;
const DEPTHS: u64 = 9;

/// Levels of a queue and of a mark: none, above K, above K_dc.
type Level = usize;

/// What the three capable codepoints mean, as `(codepoint, level)`, and which codepoint marks each level.
struct Profile {
    name: &'static str,
    states: [(u8, Level); 3],
    marks: [Option<u8>; 3],
}

const PROFILES: [Profile; 3] = [
    Profile { name: "gst", states: [(3, 0), (2, 1), (1, 2)], marks: [Some(3), Some(2), Some(1)] },
    Profile { name: "rfc3168", states: [(1, 0), (2, 0), (3, 2)], marks: [None, None, Some(3)] },
    Profile { name: "sce", states: [(2, 0), (1, 1), (3, 2)], marks: [Some(2), Some(1), Some(3)] },
];

impl Profile {
    /// The codepoint after a queue at `level`: the higher of the two marks.
    fn outgoing(&self, level: Level, incoming: u8) -> u8 {
        let state = self.states.iter().find(|(codepoint, _)| *codepoint == incoming);
        match (state, self.marks[level]) {
            (Some((_, state)), Some(mark)) if level > *state => mark,
            _ => incoming,
        }
    }

    fn bench(&self) -> Bench {
        let mut bench = Bench::new(super::program!("ecn_dual"), QdepthUnit::Packets);
        for level in 0..3 {
            for (incoming, _) in self.states {
                let keys = [level as u128, incoming.into()];
                let outgoing = self.outgoing(level, incoming).into();
                bench.add("egress.ecn.codepoint_map", &keys, "egress.ecn.set_codepoint", &[outgoing]);
            }
        }
        bench
    }
}

fn set_thresholds(bench: &mut Bench) {
    let args = [K_PKTS.into(), K_DC_PKTS.into()];
    bench.add("egress.ecn.thresholds", &[OUT.into()], "egress.ecn.set_thresholds", &args);
}

/// The level that a packet meets which finds `depth` others
/// waiting: with itself they are more than K from K on.
fn level_at(depth: u64) -> Level {
    usize::from(depth >= K_PKTS) + usize::from(depth >= K_DC_PKTS)
}

/// The packet that came last of `depth + 1`.
fn behind(bench: &mut Bench, depth: u64, sent: &Frame) -> u8 {
    for _ in 0..depth {
        bench.receive(0, Frame::default().packet());
    }
    bench.receive(0, sent.packet());
    let left: Vec<_> = std::iter::from_fn(|| bench.transmit(0)).map(|(packet, _)| packet).collect();
    assert_eq!(left.len() as u64, depth + 1);
    let last = left.last().expect("one came in");
    // Addresses, TTL, lengths and the checksum over the changed codepoint.
    frame::extension(last, sent);
    ecn(last)
}

#[test]
fn each_profile_marks_by_depth_and_never_lowers_a_mark() {
    for profile in PROFILES {
        let mut bench = profile.bench();
        set_thresholds(&mut bench);
        for depth in 0..DEPTHS {
            for incoming in 0..=3 {
                let sent = Frame { ecn: incoming, ..Frame::default() };
                let wanted = profile.outgoing(level_at(depth), incoming);
                let got = behind(&mut bench, depth, &sent);
                assert_eq!(got, wanted, "{}: codepoint {incoming} behind {depth}", profile.name);
                assert!(incoming != 0 || got == 0, "not capable");
            }
        }
    }
}

#[test]
fn packets_are_counted_by_the_level_of_their_queue() {
    let mut bench = PROFILES[0].bench();
    set_thresholds(&mut bench);
    behind(&mut bench, DEPTHS - 1, &Frame::default());
    let counted = [0, 1, 2].map(|level| bench.counter("egress.ecn.level_packets", OUT * 4 + level));
    let wanted = [0, 1, 2].map(|level| (0..DEPTHS).filter(|depth| level_at(*depth) == level).count() as u64);
    assert_eq!(counted, wanted);
}

#[test]
fn a_port_without_thresholds_never_marks() {
    for profile in PROFILES {
        let mut bench = profile.bench();
        for incoming in 0..=3 {
            let sent = Frame { ecn: incoming, ..Frame::default() };
            assert_eq!(behind(&mut bench, 100, &sent), incoming, "{}", profile.name);
        }
    }
}

#[test]
fn what_cannot_be_forwarded_is_dropped() {
    let mut bench = PROFILES[0].bench();
    for ttl in [0, 1] {
        assert!(bench.forward(0, Frame { ttl, ..Frame::default() }.packet()).is_none(), "TTL {ttl}");
    }
    assert!(bench.forward(0, Frame { ttl: 2, ..Frame::default() }.packet()).is_some());
    // Each bit of the IPv4 header is under the checksum; the first byte also tells version and length.
    let right = Frame::default().packet();
    for bit in 0..20 * 8 {
        let mut wrong = right.clone();
        wrong.head[14 + bit / 8] ^= 0x80 >> (bit % 8);
        assert!(bench.forward(0, wrong).is_none(), "bit {bit} of the IPv4 header");
    }
    let mut elsewhere = right.clone();
    elsewhere.head[12..14].copy_from_slice(&[0x86, 0xdd]);
    assert!(bench.forward(0, elsewhere).is_none(), "no IPv4");
    let mut short = right;
    short.head.truncate(14 + 19);
    short = p4cc_switch::Packet::new(&short.head, 0);
    assert!(bench.forward(0, short).is_none(), "cut off within the IPv4 header");
}
