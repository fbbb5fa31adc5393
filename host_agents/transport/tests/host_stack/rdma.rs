//! Two ends of an RDMA-like flow with a channel between them:
//! exactly once under any loss, pacing, NACKs, notifications.

use std::collections::BTreeMap;

use p4cc_transport::rdma::{
    Carries, PathFeedback, RdmaAck, RdmaConfig, RdmaData, RdmaReceipt, RdmaReceiver, RdmaSender,
};
use p4cc_transport::wire::{Extension, ExtensionType, Flags, Header, TrafficClass};
use p4cc_transport::{AckFields, Codepoint, Segment};
use p4cc_units::{Rate, Span, Time};
use proptest::prelude::*;

pub const LINE: Rate = Rate::from_bps(10_000_000_000);
const HALF_RTT: Span = Span::from_us(5);

pub fn config(json: &str) -> RdmaConfig {
    serde_json::from_str(json).expect("valid JSON")
}

fn sender(config: &RdmaConfig, flow_bytes: u64) -> RdmaSender {
    RdmaSender::new(config, LINE, Some(flow_bytes)).expect("a valid configuration")
}

enum Packet {
    /// With its extension, and the time at which it left.
    Data(Segment, ExtensionType, Vec<u8>, Time),
    /// With the extension of the data packet that it answers.
    Answer(RdmaAck, ExtensionType, Vec<u8>),
}

/// What the only switch of the channel makes of a rate request: it grants 1 Gbit/s.
fn answer_request(kind: ExtensionType, bytes: &mut [u8]) {
    const FIN: u8 = 0x02;
    if kind == ExtensionType::RATE_REQUEST {
        bytes[1] += 1;
        if bytes[0] & FIN == 0 {
            bytes[16..20].copy_from_slice(&1_000_000_u32.to_be_bytes());
            bytes[22..24].copy_from_slice(&0x8001_u16.to_be_bytes());
        }
    }
}

/// What the channel does with the n-th packet of each direction.
pub struct Fates<'a> {
    pub lost_data: &'a [bool],
    /// Data takes longer by so much.
    pub late_us: &'a [u64],
    pub lost_answers: &'a [bool],
    pub marked: &'a [bool],
}

/// What happened.
#[derive(Default)]
pub struct Log {
    pub sent: Vec<(Time, Segment)>,
    pub answers: Vec<RdmaAck>,
    pub delivered_bytes: u64,
    pub completions: u64,
    pub rtts: Vec<Span>,
    pub end: Option<Time>,
    pub timeouts: u64,
}

/// What the header of an answer says.
fn header_of(answer: &RdmaAck) -> (AckFields, Flags) {
    let header = Header::rdma_ack(1, TrafficClass::default(), answer, Time::ZERO);
    (header.ack_fields(&Extension::NONE), header.flags)
}

/// Gives a data packet to the receiver, marked where the channel marks, and accounts for what it delivers.
fn receive(
    receiver: &mut RdmaReceiver,
    log: &mut Log,
    now: Time,
    fates: &Fates<'_>,
    (segment, kind, bytes, left): (Segment, ExtensionType, &[u8], Time),
) -> RdmaReceipt {
    let is_marked = fates.marked.get(log.answers.len()).is_some_and(|marked| *marked);
    let before = receiver.delivered_bytes();
    let receipt = receiver.on_data(
        now,
        &RdmaData {
            seq: segment.seq as u32,
            len: segment.len,
            fin: segment.fin,
            ack_request: segment.ack_request,
            ecn: if is_marked { Codepoint::CE } else { segment.ecn },
            timestamp_ns: left.as_ns(),
            src_port: 0,
            extension: Extension { kind, bytes },
        },
    );
    assert_eq!(receiver.delivered_bytes() - before, receipt.delivered_bytes);
    log.delivered_bytes += receipt.delivered_bytes;
    log.completions += u64::from(receipt.completed);
    receipt
}

/// Runs a flow to its end, or for `limit` of virtual time.
pub fn run(config: &RdmaConfig, flow_bytes: u64, fates: &Fates<'_>, limit: Time) -> Log {
    let (mut sender, mut receiver) = (sender(config, flow_bytes), RdmaReceiver::new(config));
    let mut wire: BTreeMap<(Time, u64), Packet> = BTreeMap::new();
    let (mut log, mut now, mut number) = (Log::default(), Time::ZERO, 0);
    sender.start(now);
    while now <= limit {
        while let Some((segment, extension)) = sender.take(now) {
            let (kind, mut bytes) = (extension.kind, extension.bytes.to_vec());
            answer_request(kind, &mut bytes);
            let sent = log.sent.len();
            log.sent.push((now, segment));
            number += 1;
            if !fates.lost_data.get(sent).is_some_and(|lost| *lost) {
                let late = Span::from_us(fates.late_us.get(sent).copied().unwrap_or(0));
                wire.insert((now + HALF_RTT + late, number), Packet::Data(segment, kind, bytes, now));
            }
        }
        let next = wire.first_key_value().map(|((time, _), _)| *time);
        let Some(time) =
            [next, sender.ready_at(), sender.deadline(), receiver.deadline()].into_iter().flatten().min()
        else {
            break;
        };
        now = time.max(now);
        sender.on_timer(now);
        if let Some(due) = receiver.on_timer(now) {
            let extension = due.extension();
            number += 1;
            wire.insert(
                (now + HALF_RTT, number),
                Packet::Answer(due.ack, extension.kind, extension.bytes.to_vec()),
            );
            log.answers.push(due.ack);
        }
        if next != Some(now) {
            continue;
        }
        match wire.pop_first().map(|(_, packet)| packet) {
            Some(Packet::Data(segment, kind, bytes, left)) => {
                let receipt = receive(&mut receiver, &mut log, now, fates, (segment, kind, &bytes, left));
                for answer in receipt.answers() {
                    number += 1;
                    if !fates.lost_answers.get(log.answers.len()).is_some_and(|lost| *lost) {
                        let packet = Packet::Answer(answer, kind, bytes.clone());
                        wire.insert((now + HALF_RTT, number), packet);
                    }
                    log.answers.push(answer);
                }
            }
            Some(Packet::Answer(answer, kind, bytes)) => {
                let (fields, flags) = header_of(&answer);
                let extension = answer.extension(Extension { kind, bytes: &bytes });
                let outcome = sender.on_ack(now, &fields, flags, &extension, Span::ZERO);
                log.rtts.extend(outcome.rtt);
                if outcome.completed {
                    log.end = Some(now);
                }
            }
            None => {}
        }
        assert!(
            sender.snapshot().snd_una <= receiver.delivered_bytes(),
            "only what was delivered is acknowledged"
        );
    }
    log.timeouts = sender.snapshot().timeouts;
    log
}

pub const CLEAN: Fates<'static> = Fates { lost_data: &[], late_us: &[], lost_answers: &[], marked: &[] };

/// docs/algorithms/substrate.md#pacing: a packet leaves when the one
/// before has passed at the rate, which is the line's at the start.
#[test]
fn packets_are_paced_at_the_line_rate_from_the_start() {
    let config = config(r#"{"base_rtt_ns":10000,"cc":{"name":"timely"}}"#);
    let log = run(&config, 10_000, &CLEAN, Time::from_ms(10));
    // 1064 B of IP at 10 Gbit/s.
    let times: Vec<u64> = log.sent.iter().map(|(time, _)| time.as_ps()).collect();
    assert_eq!(times, (0..10).map(|i| i * 851_200).collect::<Vec<_>>());
    assert!(log.sent.iter().all(|(_, segment)| segment.ecn == Codepoint::NOT_ECT && !segment.retransmit));
    assert_eq!((log.delivered_bytes, log.completions), (10_000, 1));
    assert_eq!(log.end, Some(Time::from_ps(9 * 851_200) + HALF_RTT + HALF_RTT));
}

/// docs/algorithms/substrate.md#pacing, docs/algorithms/timely.md#timely-variants: with a window of one BDP
/// (12,500 B) the thirteenth packet still passes `inflight < W`, the next waits.
#[test]
fn a_window_bounds_what_is_in_flight_by_one_packet_more() {
    let config = config(r#"{"base_rtt_ns":10000,"cc":{"name":"dcqcn","window":"vwin"}}"#);
    let mut sender = sender(&config, 1_000_000);
    sender.start(Time::ZERO);
    let mut now = Time::ZERO;
    let mut sent = 0;
    while let Some(at) = sender.ready_at() {
        now = at;
        sent += u64::from(sender.take(now).is_some());
    }
    assert_eq!((sent, sender.snapshot().flight_segments), (13, 13));
    assert_eq!(sender.take(now + Span::from_ms(1)), None);
}

/// docs/algorithms/timely.md#rtt-sample: one round-trip time for each segment, when all of it is
/// acknowledged, freed of the segment's own time; its last packet is answered though the receiver
/// acknowledges rarely. The next segment leaves when the pace allows.
#[test]
fn segments_give_a_sample_each_and_leave_as_bursts() {
    let config = config(
        r#"{"segment_bytes":4000,"ack_every":1000,"base_rtt_ns":10000,
            "cc":{"name":"fixed","rate_mbps":1000,"r_min_mbps":1}}"#,
    );
    let log = run(&config, 10_000, &CLEAN, Time::from_ms(10));
    let times: Vec<u64> = log.sent.iter().map(|(time, _)| time.as_ps()).collect();
    // Packets of 851.2 ns at the line rate, segments of four at a tenth of it; the last is short.
    let burst = |from: u64, count: u64| (0..count).map(move |i| from + i * 851_200);
    let want: Vec<u64> = burst(0, 4).chain(burst(34_048_000, 4)).chain(burst(68_096_000, 2)).collect();
    assert_eq!(times, want);
    let requests: Vec<bool> = log.sent.iter().map(|(_, segment)| segment.ack_request).collect();
    assert_eq!(
        requests,
        [3, 7, 9].iter().fold(vec![false; 10], |mut flags, &at| {
            flags[at] = true;
            flags
        })
    );
    // The channel has no time of its own for a packet, so the
    // last leaves one packet's time before the segment's is over.
    assert_eq!(log.answers.len(), 3);
    assert_eq!(log.rtts, vec![Span::from_ps(10_000_000 - 851_200); 3]);
}

/// docs/algorithms/timely.md#timely-update: a connection whose application gives half of what the rate allows
/// does not raise its rate, one that always has data does.
#[test]
fn an_application_limit_is_told_to_the_algorithm() {
    let config = config(
        r#"{"mss_bytes":1186,"base_rtt_ns":10000,
            "cc":{"name":"timely","r_min_mbps":10,"start_share":0.1}}"#,
    );
    for (gap_us, rises) in [(10, true), (11, true), (20, false)] {
        let mut sender = RdmaSender::new(&config, LINE, None).expect("a valid configuration");
        sender.await_supply();
        sender.start(Time::ZERO);
        let mut receiver = RdmaReceiver::new(&config);
        // A packet of 1250 B of IP each 10 us is 1 Gbit/s, the rate at the start.
        for turn in 0..50 {
            let now = Time::from_us(turn * gap_us);
            sender.supply(now, 1_186);
            let at = sender.ready_at().expect("data is there").max(now);
            let (segment, _) = sender.take(at).expect("a packet");
            let data = RdmaData { seq: segment.seq as u32, len: segment.len, ..RdmaData::default() };
            let receipt = receiver.on_data(at + HALF_RTT, &data);
            let answer = receipt.ack.expect("an ACK");
            let fields = AckFields { ack: answer.ack, timestamp_echo_ns: at.as_ns(), ..AckFields::default() };
            let later = at + Span::from_ns(9_000);
            sender.on_ack(later, &fields, Flags::NONE, &Extension::NONE, Span::ZERO);
        }
        let rate_bps = sender.snapshot().rate_bps.expect("a paced sender");
        assert_eq!(rate_bps > 1e9, rises, "a packet each {gap_us} us: {rate_bps}");
    }
}

/// A connection that its application closes sends nothing
/// new, and is complete when what was sent is acknowledged.
#[test]
fn a_closed_connection_ends_with_what_was_sent() {
    let config = config(r#"{"base_rtt_ns":10000,"cc":{"name":"fixed"}}"#);
    let mut sender = RdmaSender::new(&config, LINE, None).expect("a valid configuration");
    sender.start(Time::ZERO);
    sender.take(Time::ZERO).expect("a packet");
    assert!(!sender.close());
    assert_eq!(sender.ready_at(), None);
    let fields = AckFields { ack: 1_000, ..AckFields::default() };
    let outcome = sender.on_ack(Time::from_us(10), &fields, Flags::NONE, &Extension::NONE, Span::ZERO);
    assert!(outcome.completed && sender.is_complete());
    assert!(!sender.close(), "once only");
}

/// docs/algorithms/substrate.md#go-back-n: one NACK for a hole however
/// many packets follow it within its interval, then the flow goes back.
#[test]
fn a_hole_is_named_once_and_the_sender_goes_back() {
    let config = config(r#"{"base_rtt_ns":10000,"cc":{"name":"timely"}}"#);
    let fates = Fates { lost_data: &[false, false, true], ..CLEAN };
    let log = run(&config, 30_000, &fates, Time::from_ms(10));
    let nacks: Vec<u32> = log.answers.iter().filter(|answer| answer.nack).map(|answer| answer.ack).collect();
    assert_eq!(nacks, [2_000]);
    assert_eq!((log.delivered_bytes, log.completions), (30_000, 1));
    let again = log.sent.iter().find(|(_, segment)| segment.retransmit).expect("sent again");
    assert_eq!(again.1.seq, 2_000);
    assert!(log.end.is_some());
}

/// docs/algorithms/substrate.md#go-back-n: without a timeout a lost tail never recovers, with one it does.
#[test]
fn a_lost_tail_needs_a_timeout() {
    for (rto, done) in [("", false), (r#""rto_ns":100000,"#, true)] {
        let config = config(&format!(r#"{{{rto}"base_rtt_ns":10000,"cc":{{"name":"timely"}}}}"#));
        let fates = Fates { lost_data: &[false, false, true], ..CLEAN };
        let log = run(&config, 3_000, &fates, Time::from_ms(10));
        assert_eq!(log.end.is_some(), done, "{rto}");
    }
}

/// A packet each 8.5 ms and a timeout of 1 ms: the timer runs while something is in flight, not while what is
/// to be sent again waits for its turn.
#[test]
fn what_waits_for_the_pace_does_not_time_out() {
    for recovery in ["go_back_n", "selective_repeat"] {
        let config = config(&format!(
            r#"{{"rto_ns":1000000,"recovery":"{recovery}","base_rtt_ns":10000,
                "cc":{{"name":"fixed","rate_mbps":1,"r_min_mbps":1}}}}"#
        ));
        for (lost, timeouts) in
            [(&[false, true][..], 1), (&[false, true, true], 2), (&[true, false, true], 2)]
        {
            let log = run(&config, 3_000, &Fates { lost_data: lost, ..CLEAN }, Time::from_ms(1_000));
            assert_eq!((log.timeouts, log.end.is_some()), (timeouts, true), "{recovery} {lost:?}");
            assert_eq!(log.sent.len() as u64, 3 + timeouts);
        }
    }
}

/// docs/algorithms/dcqcn.md#dcqcn-receiver: marked packets within 50 us are
/// one notification, which counts them; each ACK echoes in the other mode.
#[test]
fn notifications_come_at_most_once_in_their_interval() {
    let json = |mode| {
        format!(
            r#"{{"notification":"{mode}","base_rtt_ns":10000,"cc":{{"name":"dcqcn","r_min_mbps":1000}}}}"#
        )
    };
    let marked = vec![true; 1_000];
    let fates = Fates { marked: &marked, ..CLEAN };
    let cnps = |log: &Log| {
        let marked = log.answers.iter().filter_map(|answer| match answer.carries {
            Carries::Marked(pkts) => Some(u32::from_be_bytes(pkts)),
            Carries::Echo | Carries::Credit(_) => None,
        });
        marked.collect::<Vec<_>>()
    };
    let log = run(&config(&json("packet")), 100_000, &fates, Time::from_ms(10));
    // 100 packets at 851.2 ns take 84 us at the line rate and more after the cut of the first notification.
    assert_eq!(cnps(&log)[0], 1);
    assert!((2..=10).contains(&cnps(&log).len()), "{:?}", cnps(&log));
    let log = run(&config(&json("ack_flag")), 100_000, &fates, Time::from_ms(10));
    assert!(cnps(&log).is_empty() && log.answers.iter().all(|answer| answer.ecn_echo == Codepoint::CE));
    // Data of an algorithm that reads marks is capable.
    assert!(log.sent.iter().all(|(_, segment)| segment.ecn == Codepoint::from_bits(0b10)));
    assert!(log.end.is_some());
}

/// docs/algorithms/bolt.md#bolt-header: FIRST until an ACK came, LAST where the window reaches the
/// end, INC in between; and what a switch tells makes the window smaller before any ACK.
#[test]
fn packets_say_where_in_the_flow_they_are() {
    const FIRST: u8 = 0x80;
    const LAST: u8 = 0x40;
    const INC: u8 = 0x20;
    // A window of ten packets, of twenty-five.
    let config = config(r#"{"base_rtt_ns":8000,"cc":{"name":"bolt","ai_pkts":0}}"#);
    let mut sender = sender(&config, 25_000);
    let flags = |sender: &mut RdmaSender, now| {
        let mut left = Vec::new();
        while let Some((_, extension)) = sender.take(now) {
            assert_eq!((extension.kind, extension.bytes.len()), (ExtensionType::BOLT, 12));
            assert_eq!(extension.bytes[1..], [0; 11]);
            left.push(extension.bytes[0]);
        }
        left
    };
    sender.start(Time::ZERO);
    let mut now = Time::ZERO;
    let mut first = Vec::new();
    while let Some(at) = sender.ready_at() {
        now = at;
        first.extend(flags(&mut sender, now));
    }
    assert_eq!(first, [FIRST; 10]);
    let acknowledge = |sender: &mut RdmaSender, now, ack| {
        let fields = AckFields { ack, timestamp_echo_ns: Time::as_ns(now) - 8_000, ..AckFields::default() };
        sender.on_ack(now, &fields, Flags::NONE, &Extension::NONE, Span::ZERO);
    };
    let mut left = Vec::new();
    for packet in 1..=15 {
        now += Span::from_us(10);
        acknowledge(&mut sender, now, 1_000 * packet);
        left.extend(flags(&mut sender, now));
    }
    assert_eq!(left, [[INC; 5].as_slice(), &[LAST; 10]].concat());
    // A queue of three packets at 10 Gbit/s, told 2 us after the packet left.
    let before = sender.snapshot().cwnd_segments;
    let notice = [0x10, 0, 0, 0, 0, 0, 0x0c, 0x78, 0, 0x98, 0x96, 0x80];
    sender.on_notice(now, now.as_ns() - 2_000, &Extension { kind: ExtensionType::BOLT, bytes: &notice });
    assert_eq!(sender.snapshot().cwnd_segments, before - 1.0);
}

/// Two pieces of a connection with a deadline each (docs/algorithms/d3-rcp.md#d3-sender): each is asked for
/// by its own, between them the rate is given back, and the second starts anew.
#[test]
fn a_connection_asks_by_the_deadline_of_its_present_piece() {
    let config = config(r#"{"base_rtt_ns":10000,"cc":{"name":"d3","slack_rounds":0},"request_records":1}"#);
    let mut sender = RdmaSender::new(&config, LINE, None).expect("a valid configuration");
    sender.await_supply();
    sender.start(Time::ZERO);
    assert!(sender.ready_at().is_none(), "nothing to send, nothing to ask for");
    let mut now = Time::ZERO;
    for (bytes, kbps) in [(10_000_u64, 851_200_u32), (5_000, 425_600)] {
        // 10640 B in 100 us, then 5320 B.
        sender.supply(now, bytes);
        sender.set_deadline(now + Span::from_us(100));
        let asked = now;
        let (segment, extension) = sender.take(now).expect("a request");
        let mut request = extension.bytes.to_vec();
        assert_eq!((segment.len, &request[4..8]), (0, &kbps.to_be_bytes()[..]));
        assert!(request[8..].iter().all(|byte| *byte == 0), "nothing to bring back");
        answer_request(ExtensionType::RATE_REQUEST, &mut request);
        let back = |ack: u64, left: Time| AckFields {
            ack: ack as u32,
            timestamp_echo_ns: left.as_ns(),
            ..AckFields::default()
        };
        let done = sender.snapshot().snd_nxt;
        now += Span::from_us(10);
        let answer = Extension { kind: ExtensionType::RATE_REQUEST, bytes: &request };
        sender.on_ack(now, &back(done, asked), Flags::NONE, &answer, Span::ZERO);
        // At 1 Gbit/s a packet takes 8.5 us: more than a round is left, so the first asks again.
        let mut fins = 0;
        let mut sent = 0;
        while let Some(at) = sender.ready_at().filter(|_| sent < bytes) {
            now = at;
            let (segment, extension) = sender.take(now).expect("data");
            sent += u64::from(segment.len);
            let mut bytes = extension.bytes.to_vec();
            fins += u32::from(bytes.first().is_some_and(|flags| flags & 0x02 != 0));
            if extension.kind == ExtensionType::RATE_REQUEST {
                answer_request(ExtensionType::RATE_REQUEST, &mut bytes);
                let answer = Extension { kind: ExtensionType::RATE_REQUEST, bytes: &bytes };
                let (ack, left) = (sender.snapshot().snd_nxt, now);
                sender.on_ack(now + Span::from_us(5), &back(ack, left), Flags::NONE, &answer, Span::ZERO);
            }
        }
        assert_eq!((sent, fins), (bytes, 1), "the last packet gives the rate back");
        assert_eq!(sender.snapshot().rate_bps, Some(0.0));
        assert!(sender.ready_at().is_none());
    }
}

/// An echo of a time to come makes the round trip nothing: a
/// request is not given up at the instant at which it leaves.
#[test]
fn a_request_is_under_way_for_longer_than_an_instant() {
    let config = config(r#"{"base_rtt_ns":10000,"cc":{"name":"d3"}}"#);
    let mut sender = sender(&config, 5_000_000);
    sender.start(Time::ZERO);
    sender.take(Time::ZERO).expect("a request");
    let fields = AckFields { timestamp_echo_ns: u64::MAX, ..AckFields::default() };
    sender.on_ack(Time::from_us(1), &fields, Flags::NONE, &Extension::NONE, Span::ZERO);
    let gives_up = sender.ready_at().expect("the request is on its way");
    assert_eq!((0..10).take_while(|_| sender.take(gives_up).is_some()).count(), 1, "the next request");
}

/// Requests alone are back sooner than one in a full packet, which the next may be
/// in: it is waited for as long as full packets take.
#[test]
fn short_requests_do_not_shorten_the_patience_with_long_ones() {
    let config = config(r#"{"base_rtt_ns":10000,"cc":{"name":"d3"},"request_records":1}"#);
    let mut sender = sender(&config, 5_000_000);
    sender.start(Time::ZERO);
    let mut now = Time::ZERO;
    for _ in 0..50 {
        let (segment, extension) = sender.take(now).expect("a request");
        assert_eq!(segment.len, 0);
        let mut at_base_rate = extension.bytes.to_vec();
        at_base_rate[0] |= 0x04;
        let fields = AckFields { timestamp_echo_ns: now.as_ns(), ..AckFields::default() };
        now += Span::from_us(1);
        let answer = Extension { kind: ExtensionType::RATE_REQUEST, bytes: &at_base_rate };
        sender.on_ack(now, &fields, Flags::NONE, &answer, Span::ZERO);
    }
    sender.take(now).expect("a request");
    assert_eq!(sender.ready_at(), Some(now + Span::from_us(40)), "four round trips of the network");
}

fn selective(more: &str) -> RdmaConfig {
    config(&format!(
        r#"{{{more}"recovery":"selective_repeat","base_rtt_ns":10000,"rto_ns":500000,"cc":{{"name":"fixed"}}}}"#
    ))
}

/// What comes late is not sent again; what is lost is, alone, when enough has overtaken it.
#[test]
fn a_receiver_that_keeps_what_comes() {
    let config = selective("");
    let late = run(&config, 40_000, &Fates { late_us: &[0, 5, 3, 0, 9], ..CLEAN }, Time::from_ms(10));
    assert_eq!((late.sent.len(), late.delivered_bytes, late.completions), (40, 40_000, 1));
    assert!(late.answers.iter().all(|answer| !answer.nack && answer.answered.is_some()));
    // One and a half times 12.5 kB: lost is what 19 packets overtook.
    let lost_data = [false, true, false, true];
    let log = run(&config, 40_000, &Fates { lost_data: &lost_data, ..CLEAN }, Time::from_ms(10));
    let again: Vec<u64> = log.sent.iter().filter(|sent| sent.1.retransmit).map(|sent| sent.1.seq).collect();
    assert_eq!((again, log.completions), (vec![1_000, 3_000], 1));
    let sooner = selective(r#""reordering_bytes":4000,"#);
    let fates = Fates { lost_data: &lost_data, late_us: &[9], ..CLEAN };
    let early = run(&sooner, 40_000, &fates, Time::from_ms(10));
    let again = early.sent.iter().filter(|sent| sent.1.retransmit).count();
    assert_eq!((again, early.completions), (3, 1), "the late one with them");
}

/// Without an answer nothing shows a loss at the end but the timeout.
#[test]
fn a_lost_end_takes_a_timeout() {
    let lost_data: Vec<bool> = (0..40).map(|n| n == 39).collect();
    let fates = Fates { lost_data: &lost_data, ..CLEAN };
    let log = run(&selective(""), 40_000, &fates, Time::from_ms(10));
    assert_eq!((log.sent.len(), log.completions), (41, 1));
    assert!(log.end.expect("it ends") > Time::from_us(500));
}

/// What is lost leaves again however far new bytes have gone: the bound of what is under way is theirs.
#[test]
fn a_full_span_lets_lost_packets_leave() {
    let config = selective(r#""mss_bytes":60000,"#);
    let mut sender = sender(&config, 1 << 32);
    sender.start(Time::ZERO);
    let (mut now, mut packets) = (Time::ZERO, 0_u64);
    while let Some(at) = sender.ready_at() {
        now = at;
        packets += u64::from(sender.take(now).is_some());
    }
    assert!(packets * 60_000 >= 1 << 30, "{packets}");
    sender.on_timer(now.max(sender.deadline().expect("a timeout")));
    let at = sender.ready_at().expect("the first packet is lost");
    let (segment, _) = sender.take(at.max(now)).expect("it leaves");
    assert_eq!((segment.seq, segment.retransmit), (0, true));
}

#[test]
fn paths_are_chosen_where_order_and_records_do_not_count() {
    for (more, place) in [
        (r#""cc":{"name":"nscc"}"#, "entropy"),
        (r#""recovery":"selective_repeat","cc":{"name":"rcp"}"#, "entropy"),
        (r#""recovery":"selective_repeat","entropy_values":48,"cc":{"name":"nscc"}"#, "entropy_values"),
        (r#""recovery":"selective_repeat","entropy_values":32768,"cc":{"name":"nscc"}"#, "entropy_values"),
    ] {
        let error = config(&format!(r#"{{"entropy":"reps","base_rtt_ns":10000,{more}}}"#));
        let error = error.validate(LINE).expect_err(more);
        assert_eq!(error.place, place, "{error}");
    }
}

/// Whoever runs the sender gives packets its port and ACKs back; a value that came back unmarked leaves next.
#[test]
fn values_that_came_back_leave_again() {
    let more = r#""recovery":"selective_repeat","entropy":"reps","cc":{"name":"fixed"}"#;
    let config = config(&format!(r#"{{"base_rtt_ns":10000,{more}}}"#));
    let mut sender = RdmaSender::new(&config, LINE, Some(4_000)).expect("it is valid");
    assert_eq!(sender.source_port(), None, "the flow's");
    sender.choose_paths(&config, 9);
    sender.start(Time::ZERO);
    let mut leaves = || {
        let at = sender.ready_at().expect("it has data");
        sender.take(at).expect("it leaves");
        sender.source_port().expect("it chooses")
    };
    let (first, second) = (leaves(), leaves());
    assert_ne!(first, second);
    sender.on_path(first, PathFeedback::Marked);
    sender.on_path(second, PathFeedback::Good);
    let at = sender.ready_at().expect("it has data");
    sender.take(at).expect("it leaves");
    assert_eq!(sender.source_port(), Some(second));
}

#[test]
fn what_counts_on_order_refuses_to_keep() {
    let repeat = r#""recovery":"selective_repeat","base_rtt_ns":10000"#;
    for (more, place) in [
        (r#""segment_bytes":4000,"cc":{"name":"timely"}"#, "recovery"),
        (r#""cc":{"name":"d3"}"#, "recovery"),
        (r#""reordering_bytes":0,"cc":{"name":"fixed"}"#, "reordering_bytes"),
    ] {
        let error = config(&format!("{{{repeat},{more}}}")).validate(LINE).expect_err(more);
        assert_eq!(error.place, place, "{error}");
    }
    let unused = config(r#"{"reordering_bytes":4000,"base_rtt_ns":10000,"cc":{"name":"fixed"}}"#);
    let error = unused.validate(LINE).expect_err("nothing is out of order").to_string();
    assert!(error.contains("selective_repeat"), "{error}");
}

/// Senders whose pace follows from their round-trip times.
const PACED_BY_RTT: [&str; 2] = [r#"{"name":"swift"}"#, r#"{"name":"prague_paced"}"#];

/// The time of a segment holds the pauses between its packets; a pace by it would make them longer
/// and longer.
#[test]
fn a_pace_by_round_trips_refuses_those_of_segments() {
    for algorithm in PACED_BY_RTT {
        let json = |more: &str| format!(r#"{{{more}"base_rtt_ns":10000,"cc":{algorithm}}}"#);
        assert!(config(&json("")).validate(LINE).is_ok());
        let error =
            config(&json(r#""segment_bytes":4000,"#)).validate(LINE).expect_err("refused").to_string();
        assert!(error.contains("segment_bytes") && error.contains("each packet gives one"), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever is lost in either direction, each byte is delivered once and in order, and the flow ends.
    #[test]
    fn every_byte_arrives_exactly_once(
        algorithm in prop::sample::select(vec![
            r#"{"name":"timely"}"#, r#"{"name":"timely","window":"vwin"}"#, r#"{"name":"fast_like"}"#,
            r#"{"name":"dcqcn"}"#, r#"{"name":"dcqcn","window":"vwin"}"#,
            r#"{"name":"d3"}"#, r#"{"name":"rcp_dc"}"#, r#"{"name":"rcp"}"#, r#"{"name":"bolt"}"#,
            PACED_BY_RTT[0], PACED_BY_RTT[1],
        ]),
        mode in prop::sample::select(vec!["ack_flag", "packet"]),
        segments in prop::sample::select(vec!["", r#""segment_bytes":4000,"#, r#""burst_bytes":5000,"#]),
        ack_every in 1_u32..6,
        mss_bytes in 100_u32..2_000,
        flow_bytes in 1_u64..60_000,
        lost_data in prop::collection::vec(prop::bool::weighted(0.3), 0..200),
        late_us in prop::collection::vec(0_u64..12, 0..200),
        recovery in prop::sample::select(vec!["go_back_n", "selective_repeat"]),
        lost_answers in prop::collection::vec(prop::bool::weighted(0.3), 0..200),
        marked in prop::collection::vec(any::<bool>(), 0..200),
    ) {
        // Segments need packets in order, and a pace that does not follow from their times.
        let keeps = recovery == "selective_repeat" && !algorithm.contains("d3") && !algorithm.contains("rcp_dc");
        let recovery = if keeps { recovery } else { "go_back_n" };
        let in_bursts = keeps || PACED_BY_RTT.contains(&algorithm);
        let segments = if in_bursts { segments.replace("segment", "burst") } else { segments.to_owned() };
        let config = config(&format!(
            r#"{{{segments}"recovery":"{recovery}","mss_bytes":{mss_bytes},"ack_every":{ack_every},"rto_ns":50000,"nack_interval_ns":20000,
                "notification":"{mode}","base_rtt_ns":10000,"cc":{algorithm}}}"#
        ));
        let fates =
            Fates { lost_data: &lost_data, late_us: &late_us, lost_answers: &lost_answers, marked: &marked };
        let log = run(&config, flow_bytes, &fates, Time::from_ms(1_000));
        prop_assert_eq!(log.delivered_bytes, flow_bytes);
        prop_assert_eq!(log.completions, 1);
        prop_assert!(log.end.is_some());
    }

    /// No answer, however wrong, makes a sender panic or leave its bounds.
    #[test]
    fn any_answer_is_survived(
        algorithm in prop::sample::select(vec!["hpcc", "hpcc_pint", "d3", "rcp_dc", "rcp", "bolt", "nscc", "swift"]),
        keeps in any::<bool>(),
        answers in prop::collection::vec(
            (any::<u32>(), any::<bool>(), 0_u8..4, any::<u64>(), prop::collection::vec(any::<u8>(), 0..90), 0_u8..12),
            0..100,
        ),
    ) {
        let recovery = if keeps && !["d3", "rcp_dc"].contains(&algorithm) { "selective_repeat" } else { "go_back_n" };
        let config = config(&format!(
            r#"{{"base_rtt_ns":10000,"recovery":"{recovery}","cc":{{"name":"{algorithm}"}},
                "pint":{{"log_base":1.05,"share":0.5}},
                "int":{{"unit_shift":0,"tick_ns":1,"rates_bps":{{"2":100000000000,"6":10000000000}}}}}}"#,
        ));
        let least = match algorithm {
            "hpcc" => 1e9,
            "hpcc_pint" => 10e6,
            "bolt" => 15e6,
            _ => 0.0,
        };
        let mut sender = sender(&config, 5_000_000);
        sender.start(Time::ZERO);
        let mut now = Time::ZERO;
        for (ack, nack, ecn, timestamp_echo_ns, bytes, kind) in answers {
            now += Span::from_us(1);
            while sender.take(now).is_some() {}
            let snapshot = sender.snapshot();
            // Half of the positions are near what is in flight.
            let ack = if ack % 2 == 0 { (snapshot.snd_una as u32).wrapping_add(ack % 20_000) } else { ack };
            let answered = keeps.then(|| (snapshot.snd_una as u32).wrapping_add(timestamp_echo_ns as u32 % 30 * 1_000));
            let fields = AckFields {
                ack,
                ecn_echo: Codepoint::from_bits(ecn),
                timestamp_echo_ns,
                answered,
                ..AckFields::default()
            };
            let flags = Flags::NACK.when(nack);
            let extension = Extension { kind: ExtensionType(kind), bytes: &bytes };
            sender.on_notice(now, timestamp_echo_ns, &extension);
            sender.on_ack(now, &fields, flags, &extension, Span::ZERO);
            let snapshot = sender.snapshot();
            prop_assert!(snapshot.snd_una <= snapshot.snd_nxt && snapshot.snd_nxt <= 5_000_000);
            prop_assert!(snapshot.rate_bps.is_some_and(|rate| (least..=10e9).contains(&rate)));
        }
    }
}
