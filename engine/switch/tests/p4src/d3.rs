//! `d3.p4`: the allocator's rules one by one
//! (docs/algorithms/d3-rcp.md#d3-switch), and the bounds of its registers.

use p4cc_switch::QdepthUnit;

use super::bench::{Bench, OUT};
use super::frame::{EXTENSION, Frame, extension, forwarded, number};

/// What the port may give, kbit/s.
pub const CAPACITY: u32 = 1_000_000;
/// Below this a share is the base rate.
pub const BASE: u32 = 500;
/// An epoch is 2^20 ns.
pub const EPOCH_SHIFT: u32 = 20;
pub const EPOCH_NS: u64 = 1 << EPOCH_SHIFT;
/// Flows that have a reciprocal.
pub const RECIPROCALS: u32 = 4095;

const OVERFLOW: u8 = 0x08;
const BASE_RATE: u8 = 0x04;
const FIN: u8 = 0x02;
const HOPS: usize = 6;

/// What a flow sends to one hop, or gets back from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Request {
    pub desired: u32,
    pub desired_before: u32,
    pub granted_before: u32,
    pub epoch_before: u16,
    pub fin: bool,
}

/// What a hop answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grant {
    pub granted: u32,
    pub epoch: u16,
    pub base_rate: bool,
}

/// A switch that allocates on [`OUT`] and grants at most what is left.
pub fn bench(capacity: u32, base: u32, shift: u32) -> Bench {
    bench_of("set_port", capacity, base, shift)
}

/// A switch that allocates on [`OUT`] by the rule of this action.
fn bench_of(action: &str, capacity: u32, base: u32, shift: u32) -> Bench {
    let mut bench = Bench::new("d3", QdepthUnit::Packets);
    let args = [capacity.into(), base.into(), shift.into()];
    bench.add("egress.allocator.ports", &[OUT.into()], &format!("egress.allocator.{action}"), &args);
    reciprocals(&mut bench, RECIPROCALS);
    bench
}

/// Entries for up to so many flows.
pub fn reciprocals(bench: &mut Bench, most: u32) {
    for flows in 1..=most {
        let value = (u32::MAX / flows).into();
        bench.add(
            "egress.allocator.rule.reciprocals",
            &[flows.into()],
            "egress.allocator.rule.set_reciprocal",
            &[value],
        );
    }
}

/// A request with room for all hops that went through `hop` switches before.
fn frame(hop: usize, request: Request) -> Frame {
    frame_with(HOPS, hop, request)
}

/// A request with room for `records` hops.
fn frame_with(records: usize, hop: usize, request: Request) -> Frame {
    let mut bytes = vec![if request.fin { FIN } else { 0 }, hop as u8, 0, 0];
    bytes.extend(request.desired.to_be_bytes());
    bytes.extend(request.desired_before.to_be_bytes());
    for at in 0..records {
        let ours = at == hop;
        bytes.extend(if ours { request.granted_before } else { 0x1111 * at as u32 }.to_be_bytes());
        bytes.extend([0; 4]);
        bytes.extend(if ours { request.epoch_before } else { 0x8001 }.to_be_bytes());
        bytes.extend([0; 2]);
    }
    Frame { payload: 0, ..Frame::data(3, bytes) }
}

/// Sends a request through the switch as hop `hop` and reads the answer; everything else has to stay.
fn ask_as_hop(bench: &mut Bench, now_ns: u64, hop: usize, request: Request) -> Grant {
    ask_with(bench, now_ns, HOPS, hop, request).expect("there is a record left")
}

/// The same for a request with room for `records` hops; none if the switch says that there is too little.
pub fn ask_with(
    bench: &mut Bench,
    now_ns: u64,
    records: usize,
    hop: usize,
    request: Request,
) -> Option<Grant> {
    let sent = frame_with(records, hop, request);
    let left = bench.forward(now_ns, sent.packet()).expect("it is forwarded");
    let bytes = extension(&left, &sent);
    if bytes[0] & OVERFLOW != 0 {
        let mut expected = sent.extension.clone();
        expected[0] |= OVERFLOW;
        assert_eq!(bytes, expected);
        return None;
    }
    let at = 12 + 12 * hop;
    let grant = Grant {
        granted: number(&bytes[at + 4..at + 8]) as u32,
        epoch: number(&bytes[at + 10..at + 12]) as u16,
        base_rate: bytes[0] & BASE_RATE != 0,
    };
    let mut expected = sent.extension.clone();
    expected[0] |= if grant.base_rate { BASE_RATE } else { 0 };
    expected[1] += 1;
    expected[at + 4..at + 8].copy_from_slice(&grant.granted.to_be_bytes());
    expected[at + 10..at + 12].copy_from_slice(&grant.epoch.to_be_bytes());
    assert_eq!(bytes, expected);
    Some(grant)
}

/// Sends a request as the first hop's.
pub fn ask(bench: &mut Bench, now_ns: u64, request: Request) -> Grant {
    ask_as_hop(bench, now_ns, 0, request)
}

/// The next request of a flow that heard `grant`.
pub fn again(desired: u32, last: Request, grant: Grant) -> Request {
    Request {
        desired,
        desired_before: last.desired,
        granted_before: grant.granted,
        epoch_before: grant.epoch,
        fin: false,
    }
}

/// Allocated, demand, flows in use.
pub fn counters(bench: &Bench) -> (u64, u64, u64) {
    let read = |name: &str| bench.register(&format!("egress.allocator.{name}"), OUT);
    (read("allocated"), read("demand"), read("flows"))
}

fn wants(desired: u32) -> Request {
    Request { desired, ..Request::default() }
}

#[test]
fn deadlines_come_first_and_the_rest_is_shared() {
    let mut bench = bench(CAPACITY, BASE, EPOCH_SHIFT);
    // Alone: what it desires and all that nobody desires; the reciprocal of 1 loses a kbit/s.
    let first = ask(&mut bench, 0, wants(200_000));
    assert_eq!(first, Grant { granted: 999_999, epoch: 0x8000, base_rate: false });
    // Nothing is left but the kbit/s: below the base rate.
    let second = ask(&mut bench, 1, wants(300_000));
    assert_eq!(second, Grant { granted: 0, epoch: 0x8000, base_rate: true });
    assert_eq!(counters(&bench), (999_999, 500_000, 2));
    // The first comes back: 200000 and half of the 500000 that nobody desires.
    let round = again(200_000, wants(200_000), first);
    let first = ask(&mut bench, 2, round);
    assert!((449_998..=450_000).contains(&first.granted), "{first:?}");
    let second = ask(&mut bench, 3, again(300_000, wants(300_000), second));
    assert!((549_998..=550_000).contains(&second.granted), "{second:?}");
    let (allocated, demand, flows) = counters(&bench);
    assert!(allocated <= u64::from(CAPACITY) && allocated >= 999_996);
    assert_eq!((demand, flows), (500_000, 2));
}

#[test]
fn a_desire_that_does_not_fit_gets_what_is_left() {
    let mut bench = bench(CAPACITY, BASE, EPOCH_SHIFT);
    ask(&mut bench, 0, Request { desired: 900_000, ..Request::default() });
    // The first took 100000 as its share; a second round returns it.
    let (allocated, ..) = counters(&bench);
    assert_eq!(allocated, 999_999);
    let again_first = Request {
        desired: 900_000,
        desired_before: 900_000,
        granted_before: 999_999,
        epoch_before: 0x8000,
        fin: false,
    };
    let blocked = ask(&mut bench, 1, wants(400_000));
    assert!(blocked.base_rate);
    let first = ask(&mut bench, 2, again_first);
    assert_eq!(first.granted, 900_000, "demand is above the capacity: no fair share");
    let second = ask(&mut bench, 3, again(400_000, wants(400_000), blocked));
    assert_eq!(second.granted, 100_000, "greedy, in order of arrival");
    assert_eq!(counters(&bench), (1_000_000, 1_300_000, 2));
}

/// docs/algorithms/d3-rcp.md#d3-switch as printed: more is left than nothing, so the second flow gets its
/// half of the capacity at once; the port has then given more than it has until the first comes back.
#[test]
fn by_the_published_rule_a_fair_share_may_exceed_what_is_left() {
    let grants = |action| {
        let mut bench = bench_of(action, CAPACITY, BASE, EPOCH_SHIFT);
        let granted = [0, 1].map(|now_ns| ask(&mut bench, now_ns, wants(0)).granted);
        let third = ask(&mut bench, 2, wants(2)).granted;
        (granted, third, counters(&bench).0)
    };
    assert_eq!(
        grants("set_port_as_published"),
        ([999_999, 499_999], 0, 1_499_998),
        "nothing is left for a third"
    );
    assert_eq!(grants("set_port"), ([999_999, 0], 0, 999_999));
}

#[test]
fn fin_gives_everything_back() {
    let mut bench = bench(CAPACITY, BASE, EPOCH_SHIFT);
    let grant = ask(&mut bench, 0, wants(200_000));
    let fin = Request { fin: true, ..again(0, wants(200_000), grant) };
    assert_eq!(ask(&mut bench, 1, fin), Grant::default());
    assert_eq!(counters(&bench), (0, 0, 0));
    // A second FIN, and one of a flow that was never there: subtraction stops at 0.
    ask(&mut bench, 2, fin);
    ask(&mut bench, 3, Request { fin: true, ..Request::default() });
    assert_eq!(counters(&bench), (0, 0, 0));
}

#[test]
fn a_lost_fin_leaks_nothing_past_the_next_epoch() {
    let mut bench = bench(CAPACITY, BASE, EPOCH_SHIFT);
    let dead = ask(&mut bench, 5, wants(700_000));
    assert!(dead.granted > 0);
    let mut last = wants(600_000);
    let mut grant = ask(&mut bench, 6, last);
    for round in 1..20 {
        let now = round * EPOCH_NS / 4;
        last = again(600_000, last, grant);
        grant = ask(&mut bench, now, last);
        // Its epoch is 0; in epoch 1 it is in use still, from epoch 2 on it is gone.
        let gone = now / EPOCH_NS >= 2;
        assert_eq!(counters(&bench).2, if gone { 1 } else { 2 }, "at {now}");
    }
    assert_eq!(grant.granted, 999_999);
}

#[test]
fn a_quiet_port_forgets_everything() {
    let mut bench = bench(CAPACITY, BASE, EPOCH_SHIFT);
    let grant = ask(&mut bench, 5, wants(700_000));
    // Two epochs later the old grant is not given back: it is not there any more.
    let late = ask(&mut bench, 2 * EPOCH_NS, again(100_000, wants(700_000), grant));
    assert_eq!(late.granted, 999_999);
    assert_eq!(counters(&bench), (999_999, 100_000, 1));
}

#[test]
fn epochs_wrap_without_a_seam() {
    for start in [0x7ffe_u64, 0xfffe, 0x1_7ffe] {
        let mut bench = bench(CAPACITY, BASE, EPOCH_SHIFT);
        let mut last = wants(600_000);
        let mut grant = ask(&mut bench, start * EPOCH_NS, last);
        for epoch in start..start + 6 {
            for part in 1..4 {
                last = again(600_000, last, grant);
                grant = ask(&mut bench, epoch * EPOCH_NS + part * EPOCH_NS / 4, last);
                assert_eq!(counters(&bench), (999_999, 600_000, 1), "epoch {epoch:x}");
                assert_eq!(u64::from(grant.epoch), 0x8000 | epoch & 0x7fff);
            }
        }
    }
}

#[test]
fn registers_stop_at_their_bounds() {
    let mut bench = bench(u32::MAX, BASE, EPOCH_SHIFT);
    let mut granted = 0_u64;
    for _ in 0..20 {
        granted += u64::from(ask(&mut bench, 1, wants(u32::MAX)).granted);
    }
    assert_eq!(granted, u64::from(u32::MAX), "the capacity, once");
    assert_eq!(
        counters(&bench),
        (u32::MAX.into(), 20 * u64::from(u32::MAX), 20),
        "demand has room for 65535 flows"
    );
    bench.set_register("egress.allocator.flows", OUT, 0xffff);
    bench.set_register("egress.allocator.demand", OUT, 65_535 * u64::from(u32::MAX) - 1);
    ask(&mut bench, 2, Request { desired: 1, ..Request::default() });
    assert_eq!(counters(&bench), (u32::MAX.into(), 65_535 * u64::from(u32::MAX), 0xffff));
    // Whoever gives back more than there is, takes it from nobody below 0.
    let lie =
        Request { desired_before: u32::MAX, granted_before: u32::MAX, epoch_before: 0x8000, ..wants(0) };
    for _ in 0..3 {
        ask(&mut bench, 3, Request { fin: true, ..lie });
    }
    assert_eq!(counters(&bench).0, 0);
}

#[test]
fn what_liars_give_back_never_wraps_the_counter_of_the_epoch() {
    let mut bench = bench(u32::MAX, BASE, EPOCH_SHIFT);
    let lie = Request { granted_before: u32::MAX, epoch_before: 0x8000, ..wants(u32::MAX) };
    for round in 1..4 {
        assert_eq!(ask(&mut bench, EPOCH_NS + round, lie).granted, u32::MAX);
        assert_eq!(
            bench.register("egress.allocator.epoch_allocated", OUT),
            u64::from(u32::MAX),
            "it stops there"
        );
    }
    // So the next epoch starts with a full port instead of one that has wrapped to nearly empty.
    assert!(ask(&mut bench, 2 * EPOCH_NS, wants(5_000)).base_rate);
}

#[test]
fn grants_never_exceed_the_capacity_when_the_controller_lowers_it() {
    let mut bench = bench(CAPACITY, BASE, EPOCH_SHIFT);
    bench.set_register("egress.allocator.allocated", OUT, 2 * u64::from(CAPACITY));
    let grant = ask(&mut bench, 1, wants(10));
    // The epoch register was 0: the port starts anew.
    assert_eq!(grant.granted, 999_999);
    bench.set_register("egress.allocator.allocated", OUT, 2 * u64::from(CAPACITY));
    assert_eq!(ask(&mut bench, 2, wants(10)), Grant { granted: 0, epoch: 0x8000, base_rate: true });
}

#[test]
fn more_flows_than_reciprocals_get_no_fair_share_but_their_desire() {
    let mut bench = bench(CAPACITY, BASE, EPOCH_SHIFT);
    ask(&mut bench, 0, wants(0));
    bench.set_register("egress.allocator.allocated", OUT, 0);
    bench.set_register("egress.allocator.flows", OUT, u64::from(RECIPROCALS) - 1);
    let last = ask(&mut bench, 1, wants(5_000));
    assert_eq!(last.granted, 5_000 + (CAPACITY - 5_000) / RECIPROCALS);
    assert_eq!(ask(&mut bench, 2, wants(5_000)).granted, 5_000);
}

#[test]
fn every_hop_answers_in_its_own_record() {
    let mut bench = bench(CAPACITY, BASE, EPOCH_SHIFT);
    for hop in 0..HOPS {
        let grant = ask_as_hop(&mut bench, 1, hop, wants(1_000 * hop as u32));
        assert_eq!(grant.base_rate, hop > 0);
        ask_as_hop(&mut bench, 1, hop, Request { fin: true, ..again(0, wants(1_000 * hop as u32), grant) });
        ask_as_hop(&mut bench, 1, hop, wants(1));
    }
    let counted = counters(&bench);
    for index in [6, 7, 255] {
        let mut full = frame(0, wants(5));
        full.extension[1] = index;
        let mut expected = forwarded(&full.packet());
        expected.head[EXTENSION] |= OVERFLOW;
        assert_eq!(bench.forward(2, full.packet()), Some(expected), "index {index}");
    }
    assert_eq!(counters(&bench), counted, "nothing is granted beyond");
}

#[test]
fn what_is_no_request_passes_as_it_came() {
    let mut bench = bench(CAPACITY, BASE, EPOCH_SHIFT);
    let good = frame(0, wants(9));
    let short = Frame { extension: good.extension[..70].to_vec(), ..good.clone() };
    let ack = Frame { packet_type: 1, ..good.clone() };
    let other = Frame { extension_type: 1, ..good.clone() };
    for frame in [short, ack, other] {
        assert_eq!(bench.forward(1, frame.packet()), Some(forwarded(&frame.packet())));
    }
    assert_eq!(counters(&bench), (0, 0, 0));
    let mut silent = Bench::new("d3", QdepthUnit::Packets);
    assert_eq!(silent.forward(1, good.packet()), Some(forwarded(&good.packet())));
}
