//! `bolt.p4` (docs/algorithms/bolt.md#bolt-switch): notifications byte by byte, the register of the queue
//! against the traffic manager, places and room against the paper's rules.

use p4cc_switch::{CloneSession, Packet, QdepthUnit, Replica};
use proptest::prelude::*;

use super::bench::{Bench, IN, OUT, RATE_BPS};
use super::frame::{EXTENSION, Frame, extension, forwarded, ip_bytes, number};

const FIRST: u8 = 0x80;
const LAST: u8 = 0x40;
const INC: u8 = 0x20;
const DEC: u8 = 0x10;
const BOLT: u8 = 9;
const NOTICE: u8 = 2;
const CELL_BYTES: u64 = 80;
/// IP bytes of the full packets here: 20 + 8 + 36 + 12 + 1424.
const PACKET_BYTES: u64 = 1_500;
const PAYLOAD: u16 = 1_424;
const RATE_KBPS: u64 = RATE_BPS / 1_000;
/// 1.25 B in a nanosecond.
const SPEED: u64 = (RATE_BPS << 20) / 8_000_000_000;
const FIRST_SESSION: u32 = 1_024;

/// What a port is told beside its rate.
#[derive(Clone, Copy)]
struct Port {
    threshold: u64,
    places: u64,
    room: bool,
    early: bool,
}

const PLAIN: Port = Port { threshold: 2 * PACKET_BYTES, places: 256, room: true, early: true };

fn bench(port: Port) -> Bench {
    let mut bench = Bench::new("bolt", QdepthUnit::Cells80);
    let args = [
        RATE_KBPS,
        SPEED,
        port.threshold,
        PACKET_BYTES,
        CELL_BYTES,
        0,
        port.places,
        port.room.into(),
        port.early.into(),
    ];
    bench.add("ingress.bolt.ports", &[OUT.into()], "ingress.bolt.set_port", &args.map(u128::from));
    let session = CloneSession {
        id: FIRST_SESSION + IN,
        replicas: vec![Replica::new(IN, 1)],
        class_of_service: 7,
        packet_length_bytes: 0,
    };
    bench.switch.control().pre_mut().insert_session(session).expect("the first session");
    bench
}

fn data(flags: u8) -> Frame {
    let extension = [&[flags][..], &[0; 11]].concat();
    Frame { payload: PAYLOAD, ..Frame::data(BOLT, extension) }
}

/// Flags, queue and rate of an extension.
fn read(extension: &[u8]) -> (u8, u64, u64) {
    (extension[0], number(&extension[4..8]), number(&extension[8..12]))
}

/// Flags with which a packet leaves an empty switch.
fn flags(bench: &mut Bench, now_ns: u64, sent: u8) -> u8 {
    let frame = data(sent);
    let packet = bench.forward(now_ns, frame.packet()).expect("it is forwarded");
    read(&extension(&packet, &frame)).0
}

/// What waits at the port that packets come from.
fn notice(bench: &mut Bench, now_ns: u64) -> Option<Packet> {
    bench.switch.transmit(p4cc_units::Time::from_ns(now_ns), IN).map(|sent| sent.packet)
}

#[test]
fn a_packet_that_finds_the_threshold_is_told_of() {
    let mut bench = bench(PLAIN);
    // The first goes to the link; two wait behind it, and the next finds them.
    bench.receive(0, data(INC).packet());
    bench.transmit(0).expect("it leaves");
    for _ in 0..2 {
        bench.receive(0, data(INC).packet());
        assert_eq!(notice(&mut bench, 0), None);
    }
    let frame = Frame { flow: 77, ecn: 2, class: 3, ..data(INC) };
    // Its own queue is empty: what waits at another priority is not its queue.
    bench.receive(0, frame.packet());
    assert_eq!(notice(&mut bench, 0), None);
    let frame = Frame { class: 0, ..frame };
    bench.receive(0, frame.packet());
    let told = notice(&mut bench, 0).expect("the switch tells");
    assert_eq!(notice(&mut bench, 0), None, "once");
    let (bytes, sent) = (told.to_vec(), frame.packet().to_vec());
    assert_eq!((bytes.len(), told.zeros), (EXTENSION + 12, 0), "headers only");
    assert_eq!([&bytes[..6], &bytes[6..12]], [&sent[6..12], &sent[..6]], "back to where it came from");
    assert_eq!(ip_bytes(&told), 76);
    assert_eq!(bytes[15] & 3, 0, "not capable of ECN");
    assert_eq!(bytes[22], 64, "a fresh time to live");
    assert_eq!([&bytes[26..30], &bytes[30..34]], [&sent[30..34], &sent[26..30]], "in the receiver's name");
    let sum: u32 = bytes[14..34].chunks(2).map(|pair| number(pair) as u32).sum();
    assert_eq!((sum & 0xffff) + (sum >> 16), 0xffff, "IPv4 checksum");
    assert_eq!(bytes[34..38], sent[34..38], "the flow's ports");
    assert_eq!(number(&bytes[38..40]), 56, "UDP length");
    let transport = &bytes[42..EXTENSION];
    assert_eq!((transport[0], transport[1], transport[3]), (1 << 4 | NOTICE, 0, BOLT));
    assert_eq!(number(&transport[4..8]), 77);
    assert_eq!(number(&transport[16..18]), 0, "no payload");
    assert_eq!((transport[18], number(&transport[20..28])), (12, 0));
    assert_eq!(transport[28..36], sent[42 + 20..42 + 28], "when the packet left its sender");
    assert_eq!(read(&bytes[EXTENSION..]), (DEC, 2 * PACKET_BYTES, RATE_KBPS));
    // The packet itself goes on, and no other switch tells again.
    let left: Vec<_> = std::iter::from_fn(|| bench.transmit(0)).map(|(packet, _)| packet).collect();
    assert_eq!(read(&extension(&left[3], &frame)), (DEC, 0, 0));
}

#[test]
fn the_switch_behind_tells_no_more_and_takes_the_offer_back() {
    let mut bench = bench(Port { threshold: 1, ..PLAIN });
    bench.receive(0, data(INC).packet());
    for sent in [DEC, DEC | INC, LAST | DEC] {
        bench.receive(0, data(sent).packet());
    }
    assert_eq!(notice(&mut bench, 0), None);
    bench.receive(0, data(LAST).packet());
    assert!(notice(&mut bench, 0).is_some());
    bench.transmit(0);
    for left in [DEC, DEC, LAST | DEC, LAST | DEC] {
        let (packet, _) = bench.transmit(0).expect("it waits");
        assert_eq!(read(&extension(&packet, &data(0))).0, left);
    }
    assert_eq!(bench.register("ingress.bolt.free_places", OUT), 0, "no places while there is a queue");
}

#[test]
fn without_src_the_packet_carries_the_queue() {
    let mut bench = bench(Port { early: false, ..PLAIN });
    for _ in 0..4 {
        bench.receive(0, data(INC).packet());
    }
    assert_eq!(notice(&mut bench, 0), None);
    let left: Vec<_> = std::iter::from_fn(|| bench.transmit(0)).map(|(packet, _)| packet).collect();
    let told: Vec<_> = left.iter().map(|packet| read(&extension(packet, &data(0)))).collect();
    let queue = |packets| (DEC, packets * PACKET_BYTES, RATE_KBPS);
    assert_eq!(told[2..], [queue(2), queue(3)]);
    assert!(told[..2].iter().all(|(flags, queue, _)| (flags & DEC, *queue) == (0, 0)), "{told:?}");
}

#[test]
fn what_is_not_bolts_passes() {
    let mut bench = bench(Port { threshold: 1, ..PLAIN });
    let whole = data(INC);
    let ack = Frame { packet_type: 1, ..whole.clone() };
    let cut = Frame { extension: vec![INC; 8], ..whole.clone() };
    let other = Frame { extension_type: 6, ..whole.clone() };
    let tcp = Frame { protocol: 6, ..whole };
    bench.receive(0, data(0).packet());
    for frame in [ack, cut, other, tcp] {
        bench.receive(0, frame.packet());
        assert_eq!(notice(&mut bench, 0), None);
    }
    // All of them wait all the same; the ACK in a queue of its own.
    bench.receive(0, data(0).packet());
    let told = notice(&mut bench, 0).expect("the queue is told");
    let waiting = 2 * PACKET_BYTES + (PACKET_BYTES - 4) + PACKET_BYTES;
    assert_eq!(read(&told.to_vec()[EXTENSION..]).1, waiting);
    let mut unplanned = Bench::new("bolt", QdepthUnit::Cells80);
    for _ in 0..5 {
        unplanned.receive(0, data(INC).packet());
        assert_eq!(notice(&mut unplanned, 0), None);
    }
    let (packet, _) = unplanned.transmit(0).expect("it waits");
    assert_eq!(packet, forwarded(&data(INC).packet()), "a port without an entry leaves everything as it is");
}

/// PRU by the paper: a packet of a last window that is no first one leaves a place, INC takes one.
#[test]
fn ended_flows_leave_places() {
    let mut bench = bench(Port { room: false, places: 3, ..PLAIN });
    let mut now = 0;
    let mut sent = |bench: &mut Bench, sent| {
        now += 10_000;
        (flags(bench, now, sent), bench.register("ingress.bolt.free_places", OUT))
    };
    assert_eq!(sent(&mut bench, INC), (0, 0), "no place");
    assert_eq!(sent(&mut bench, FIRST | LAST), (FIRST | LAST, 0), "a flow of one window had none");
    assert_eq!(sent(&mut bench, FIRST), (FIRST, 0));
    for places in [1, 2, 3, 3] {
        assert_eq!(sent(&mut bench, LAST), (LAST, places), "three at most");
    }
    for places in [2, 1, 0] {
        assert_eq!(sent(&mut bench, INC), (INC, places));
    }
    assert_eq!(sent(&mut bench, INC), (0, 0));
    assert_eq!(sent(&mut bench, 0), (0, 0));
}

/// SM by hand, at 1.25 B in a nanosecond: after a long silence one packet gets room, and then one for each
/// packet's time that the link is idle.
#[test]
fn room_is_what_nobody_uses() {
    let mut bench = bench(Port { places: 0, ..PLAIN });
    let arrears = "ingress.bolt.supply.arrears_bytes";
    assert_eq!(flags(&mut bench, 1_000_000, INC), INC, "the link was idle");
    assert_eq!(bench.register(arrears, OUT), PACKET_BYTES, "no tokens are left");
    // 1200 ns carry one packet, which this one uses up.
    assert_eq!(flags(&mut bench, 1_001_200, INC), 0);
    assert_eq!(bench.register(arrears, OUT), PACKET_BYTES);
    // 2400 ns carry two.
    assert_eq!(flags(&mut bench, 1_003_599, INC), 0, "a nanosecond too early");
    assert_eq!(flags(&mut bench, 1_004_801, INC), INC);
    // Who does not ask leaves it to others.
    assert_eq!(flags(&mut bench, 1_010_000, 0), 0);
    assert_eq!(bench.register(arrears, OUT), 0);
    // A time that wraps, and one that is longer than any arrears.
    bench.set_register(arrears, OUT, u64::from(u32::MAX));
    assert_eq!(flags(&mut bench, 1 << 40, INC), INC);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// The register of a queue is what the traffic manager has of it, but for what cells round up. What was
    /// refused counts until the next packet leaves.
    #[test]
    fn the_register_is_the_queue(
        steps in prop::collection::vec((any::<bool>(), 0_u16..1_425), 1..200),
        capacity in prop_oneof![Just(4_096_u32), 1_u32..20],
    ) {
        let mut bench = bench(Port { threshold: 1 << 30, ..PLAIN });
        bench.switch.control().set_queue_capacity(OUT, None, capacity);
        let mut refused = 0;
        for (arrives, payload) in steps {
            if arrives {
                let before = bench.switch.observation().counters().drops.total();
                bench.receive(0, Frame { payload, ..data(0) }.packet());
                refused += u64::from(payload) * (bench.switch.observation().counters().drops.total() - before);
                refused += 76 * (bench.switch.observation().counters().drops.total() - before);
            } else if bench.transmit(0).is_some() {
                refused = 0;
            }
            let told = bench.register("bolt_queued_bytes", OUT << 3);
            let waits = bench.switch.observation().port_depth_bytes(OUT);
            let rounded = u64::from(bench.switch.observation().port_depth_pkts(OUT)) * (CELL_BYTES - 1);
            prop_assert!((waits..=waits + rounded).contains(&(told - refused)), "{told}, {refused}, {waits}");
        }
    }

    /// Tokens by the paper: `tokens = min(tokens + elapsed * rate - size, size of a packet)`,
    /// and one packet's worth is taken with each offer.
    #[test]
    fn room_follows_the_papers_tokens(
        arrivals in prop::collection::vec((0_u64..4_000, 0_u16..1_425, any::<bool>()), 1..100),
    ) {
        let mut bench = bench(Port { threshold: 1 << 30, places: 0, ..PLAIN });
        let mut now = 1_000_000;
        let mut tokens = PACKET_BYTES as i64;
        let mut elapsed = now;
        for (gap, payload, asks) in arrivals {
            now += gap;
            elapsed += gap;
            let frame = Frame { payload, ..data(if asks { INC } else { 0 }) };
            let size = 76 + i64::from(payload);
            let supply = ((elapsed * SPEED) >> 20).min(u64::from(u32::MAX)) as i64;
            elapsed = 0;
            tokens = (tokens + supply - size).min(PACKET_BYTES as i64);
            let gets = asks && tokens >= PACKET_BYTES as i64;
            tokens -= if gets { PACKET_BYTES as i64 } else { 0 };
            let packet = bench.forward(now, frame.packet()).expect("it is forwarded");
            prop_assert_eq!(read(&extension(&packet, &frame)).0, if gets { INC } else { 0 });
            let arrears = bench.register("ingress.bolt.supply.arrears_bytes", OUT) as i64;
            prop_assert_eq!(PACKET_BYTES as i64 - arrears, tokens);
        }
    }
}
