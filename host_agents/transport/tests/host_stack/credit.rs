//! Senders that their receivers let send (docs/algorithms/receivers.md#sender).

use p4cc_transport::Segment;
use p4cc_transport::rdma::{RdmaAck, RdmaConfig, RdmaData, RdmaReceiver, RdmaSender};
use p4cc_transport::wire::{Extension, Header, TrafficClass};
use p4cc_units::{Span, Time};
use proptest::prelude::*;

use crate::rdma::{LINE, config};

const CONFIG: &str = r#"{"recovery":"selective_repeat","base_rtt_ns":10000,"rto_ns":1000000,
    "cc":{"name":"fixed"},"receiver":{"name":"ndp"}}"#;
const RTO: Span = Span::from_ms(1);

struct Pair {
    sender: RdmaSender,
    receiver: RdmaReceiver,
    now: Time,
}

impl Pair {
    fn new(packets: u64, unasked: u64) -> Self {
        let config: RdmaConfig = config(CONFIG);
        let mut sender = RdmaSender::new(&config, LINE, Some(1_000 * packets)).expect("it is valid");
        let mut receiver = RdmaReceiver::new(&config);
        sender.await_credit(1_000 * unasked);
        receiver.give_credit(1_000 * unasked);
        sender.start(Time::ZERO);
        Self { sender, receiver, now: Time::ZERO }
    }

    /// All segments that leave before the next answer.
    fn burst(&mut self) -> Vec<Segment> {
        let mut sent = Vec::new();
        while let Some(at) = self.sender.ready_at() {
            self.now = self.now.max(at);
            sent.extend(self.sender.take(self.now).map(|(segment, _)| segment));
        }
        sent
    }

    fn data(&self, segment: &Segment) -> RdmaData<'static> {
        let Segment { seq, len, fin, .. } = *segment;
        RdmaData { seq: seq as u32, len, fin, timestamp_ns: self.now.as_ns(), ..RdmaData::default() }
    }

    /// A segment arrives, whole or as its header, and its answer reaches the sender.
    fn arrives(&mut self, segment: &Segment, is_trimmed: bool) {
        let data = self.data(segment);
        let ack = if is_trimmed {
            self.receiver.on_trimmed(self.now, &data)
        } else {
            self.receiver.on_data(self.now, &data).ack
        };
        if let Some(ack) = ack {
            let header = Header::rdma_ack(1, TrafficClass::default(), &ack, self.now);
            let fields = header.ack_fields(&Extension::NONE);
            self.sender.on_ack(self.now, &fields, header.flags, &Extension::NONE, Span::ZERO);
        }
    }

    fn hear(&mut self, credit: &RdmaAck) {
        self.sender.on_credit(self.now, &credit.extension(Extension::NONE));
    }

    fn pull(&mut self, packets: u32) {
        let credit = self.receiver.pull(1_000 * packets).expect("the flow is not complete");
        self.hear(&credit);
    }
}

fn starts(sent: &[Segment]) -> Vec<u64> {
    sent.iter().map(|segment| segment.seq / 1_000).collect()
}

#[test]
fn nothing_leaves_behind_the_first_window_unasked() {
    let mut pair = Pair::new(6, 2);
    let sent = pair.burst();
    assert_eq!(starts(&sent), [0, 1]);
    assert_eq!(sent.iter().map(|segment| segment.beyond).collect::<Vec<_>>(), [5_000, 4_000]);
    sent.iter().for_each(|segment| pair.arrives(segment, false));
    assert_eq!(pair.burst(), [], "all of it has arrived, and nobody asks for more");
    pair.pull(1);
    assert_eq!(starts(&pair.burst()), [2]);
    // Of two pulls the first is lost.
    pair.receiver.pull(1_000);
    pair.pull(1);
    assert_eq!(starts(&pair.burst()), [3, 4]);
}

#[test]
fn a_trimmed_packet_leaves_first_when_it_is_pulled() {
    let mut pair = Pair::new(4, 3);
    let sent = pair.burst();
    pair.arrives(&sent[0], false);
    pair.arrives(&sent[1], true);
    pair.arrives(&sent[2], false);
    assert_eq!(pair.burst(), []);
    pair.pull(1);
    let again = pair.burst();
    assert_eq!((starts(&again), again[0].retransmit), (vec![1], true));
    pair.arrives(&again[0], false);
    pair.pull(1);
    let last = pair.burst();
    assert_eq!(starts(&last), [3]);
    pair.arrives(&last[0], false);
    assert!(pair.sender.is_complete());
    assert_eq!(pair.sender.snapshot().timeouts, 0);
    assert_eq!(pair.receiver.pull(1_000), None, "it is complete");
}

#[test]
fn what_nobody_heard_of_leaves_again_unasked() {
    let mut pair = Pair::new(4, 3);
    let sent = pair.burst();
    pair.arrives(&sent[0], false);
    pair.arrives(&sent[2], false);
    let due = pair.sender.deadline().expect("packets are in the network");
    assert_eq!(due, Time::ZERO + RTO);
    pair.now = due;
    pair.sender.on_timer(due);
    assert_eq!(pair.burst(), [], "it left a little later than the first");
    pair.now = pair.sender.deadline().expect("it is in the network");
    pair.sender.on_timer(pair.now);
    assert_eq!(starts(&pair.burst()), [1]);
    assert_eq!(pair.sender.snapshot().timeouts, 1);
}

#[test]
fn a_lost_pull_is_made_good() {
    let mut pair = Pair::new(3, 1);
    let sent = pair.burst();
    pair.now = Time::from_us(5);
    pair.arrives(&sent[0], false);
    assert_eq!(pair.burst(), []);
    // The timer of the packet that left finds that its receiver was heard of since.
    for due in [Time::ZERO + RTO, Time::from_us(5) + RTO] {
        assert_eq!((pair.burst(), pair.sender.deadline()), (vec![], Some(due)));
        pair.now = due;
        pair.sender.on_timer(due);
    }
    assert_eq!(starts(&pair.burst()), [1], "one packet");
}

#[test]
fn grants_name_a_byte_and_a_class() {
    let mut pair = Pair::new(5, 1);
    let sent = pair.burst();
    pair.arrives(&sent[0], true);
    let grant = pair.receiver.grant(3_000, Some(2)).expect("more than before");
    pair.hear(&grant);
    assert_eq!(pair.sender.data_class(), TrafficClass::new(2));
    assert_eq!(starts(&pair.burst()), [0, 1, 2], "the first again, and up to the byte");
    assert_eq!(pair.receiver.grant(3_000, Some(2)), None, "nothing new");
}

/// All that was sent is acknowledged and nothing is left: the last pull is lost, and later there is data.
#[test]
fn data_that_comes_after_a_lost_pull_leaves() {
    let mut pair = Pair::new(3, 1);
    pair.sender.await_supply();
    assert_eq!((pair.burst(), pair.sender.deadline()), (vec![], None), "there is nothing to send yet");
    pair.sender.supply(Time::ZERO, 1_000);
    let sent = pair.burst();
    assert_eq!(starts(&sent), [0]);
    pair.now = Time::from_us(5);
    pair.arrives(&sent[0], false);
    assert_eq!(pair.sender.deadline(), None, "nothing to wait for");
    pair.receiver.pull(1_000).expect("it is lost");
    pair.now = Time::from_ms(3);
    pair.sender.supply(pair.now, 2_000);
    assert_eq!(pair.burst(), []);
    let due = pair.sender.deadline().expect("a pull may be lost");
    assert_eq!(due, pair.now + RTO);
    pair.now = due;
    pair.sender.on_timer(due);
    assert_eq!(starts(&pair.burst()), [1], "one packet");
}

/// Credit is 32 bits on the wire: what would be read as less than before is cut to what can be told apart.
#[test]
fn a_grant_far_ahead_is_cut_to_what_a_sender_can_read() {
    let mut pair = Pair::new(3, 1);
    let grant = pair.receiver.grant(u64::MAX, None).expect("more than before");
    pair.hear(&grant);
    assert_eq!(starts(&pair.burst()), [0, 1, 2]);
    assert_eq!(pair.receiver.grant(u64::MAX - 1, None), None, "it has all that it can be given");
    let mut pair = Pair::new(3, 1);
    for _ in 0..3 {
        pair.receiver.pull(1 << 30).expect("it is lost");
    }
    pair.pull(1);
    assert_eq!(starts(&pair.burst()), [0, 1, 2]);
}

#[test]
fn a_receiver_needs_the_sender_to_have_a_timeout() {
    let without: RdmaConfig = config(&CONFIG.replace(r#""rto_ns":1000000,"#, ""));
    assert_eq!(
        without.validate(LINE).expect_err("refused").to_string(),
        "receiver: packets and pulls may be lost, and senders have no timeout; give rto_ns"
    );
}

/// Go-back-N is what algorithms that ask for their rate need, and segments, and what a receiver cannot have.
#[test]
fn a_receiver_and_what_goes_back_exclude_each_other() {
    for recovery in ["selective_repeat", "go_back_n"] {
        let segments = CONFIG.replace(r#""base_rtt"#, r#""segment_bytes":4000,"base_rtt"#);
        assert_eq!(
            config(&segments.replace("selective_repeat", recovery))
                .validate(LINE)
                .expect_err("refused")
                .to_string(),
            "receiver: segments count on packets in order, and a receiver asks for single ones; \
             leave out receiver or segment_bytes"
        );
        let asking = CONFIG.replace("fixed", "d3").replace("selective_repeat", recovery);
        assert_eq!(
            config(&asking).validate(LINE).expect_err("refused").to_string(),
            "receiver: d3 asks switches for its rate, and a receiver lets senders send; \
             leave out receiver, or take another algorithm"
        );
    }
}

/// A sender that asks, and what its packets said: their first bytes in packets, none of a request, and the
/// credit that the flow wants.
struct Asking {
    pair: Pair,
    /// The most that the receiver heard, and what it gave; headers add to what it may give.
    wanted: u64,
    given: u64,
    headers: u64,
}

impl Asking {
    fn new(packets: u64, window: u64) -> Self {
        let mut pair = Pair::new(packets, window);
        pair.sender.ask_up_to(1_000 * window);
        Self { pair, wanted: 0, given: 1_000 * window, headers: 0 }
    }

    fn burst(&mut self) -> Vec<(Segment, u64)> {
        let mut sent = Vec::new();
        while let Some(at) = self.pair.sender.ready_at() {
            self.pair.now = self.pair.now.max(at);
            let segment = self.pair.sender.take(self.pair.now).map(|(segment, _)| segment);
            let wanted = self.pair.sender.say_wanted().expect("it asks");
            sent.extend(segment.map(|segment| (segment, wanted)));
        }
        sent
    }

    fn said(&mut self) -> Vec<(Option<u64>, u64)> {
        let start = |segment: &Segment| (segment.len > 0).then_some(segment.seq / 1_000);
        self.burst().iter().map(|(segment, wanted)| (start(segment), wanted / 1_000)).collect()
    }

    /// It arrives, whole or as its header; a request is answered.
    fn arrives(&mut self, (segment, wanted): &(Segment, u64), is_trimmed: bool) {
        self.wanted = self.wanted.max(*wanted);
        if segment.len == 0 {
            let mut answers = self.pair.receiver.on_request(&self.pair.data(segment));
            let ack = answers.next().expect("what is there");
            answers.for_each(|credit| self.pair.hear(&credit));
            let header = Header::rdma_ack(1, TrafficClass::default(), &ack, self.pair.now);
            let fields = header.ack_fields(&Extension::NONE);
            self.pair.sender.on_ack(self.pair.now, &fields, header.flags, &Extension::NONE, Span::ZERO);
            return;
        }
        self.headers += if is_trimmed { 1_000 } else { 0 };
        self.pair.arrives(segment, is_trimmed);
    }

    /// The credit for a packet, if some is wanted.
    fn give(&mut self) -> Option<RdmaAck> {
        if self.given >= self.wanted + self.headers {
            return None;
        }
        self.given += 1_000;
        self.pair.receiver.pull(1_000)
    }
}

#[test]
fn a_sender_says_what_it_wants_and_nothing_leaves_unasked_once_it_hears() {
    let mut asking = Asking::new(9, 3);
    let at = asking.pair.sender.ready_at().expect("it begins");
    let first = asking.pair.sender.take(at).map(|(segment, _)| segment).expect("it leaves");
    let wanted = asking.pair.sender.say_wanted().expect("it asks");
    assert_eq!((first.seq, wanted), (0, 4_000), "a window behind what was sent");
    // Two packets of the first window are left when it hears: they are void, and wanted anew.
    asking.arrives(&(first, wanted), false);
    assert_eq!(asking.said(), []);
    let credit = asking.give().expect("a packet is wanted");
    assert!(asking.give().is_none());
    asking.pair.hear(&credit);
    let next = asking.burst();
    assert_eq!((next.len(), next[0].0.seq, next[0].1), (1, 1_000, 7_000));
    asking.arrives(&next[0], false);
    let credits: Vec<RdmaAck> = core::iter::from_fn(|| asking.give()).collect();
    credits.iter().for_each(|credit| asking.pair.hear(credit));
    assert_eq!(asking.said(), [(Some(2), 8), (Some(3), 9), (Some(4), 10)], "and three more are wanted");
}

#[test]
fn a_sender_whose_packets_are_all_lost_asks_again() {
    let mut asking = Asking::new(4, 2);
    assert_eq!(asking.said(), [(Some(0), 3), (Some(1), 4)]);
    asking.pair.now = asking.pair.sender.deadline().expect("packets are in the network") + Span::from_us(5);
    asking.pair.sender.on_timer(asking.pair.now);
    // Two new packets and two lost ones, of which a window is wanted.
    let request = asking.burst();
    assert_eq!(request.len(), 1);
    assert_eq!(
        (request[0].0.len, request[0].0.seq, request[0].0.beyond, request[0].1),
        (0, 2_000, 2_000, 4_000)
    );
    asking.arrives(&request[0], false);
    while let Some(credit) = asking.give() {
        asking.pair.hear(&credit);
    }
    assert_eq!(asking.said(), [(Some(0), 5), (Some(1), 6)]);
}

/// The receiver gave all that is wanted, and the sender does not know: its request brings the credit again.
#[test]
fn a_request_brings_lost_credit_again() {
    let mut asking = Asking::new(3, 1);
    let sent = asking.burst();
    asking.arrives(&sent[0], false);
    asking.give().expect("a packet is wanted, and the credit is lost");
    assert!(asking.give().is_none());
    while asking.pair.sender.ready_at().is_none() {
        asking.pair.now = asking.pair.sender.deadline().expect("it waits for the receiver");
        asking.pair.sender.on_timer(asking.pair.now);
    }
    let request = asking.burst();
    assert_eq!((request.len(), request[0].0.len), (1, 0));
    asking.arrives(&request[0], false);
    assert_eq!(asking.said(), [(Some(1), 3)]);
}

#[test]
fn data_that_comes_later_is_asked_for_at_once() {
    let mut asking = Asking::new(3, 1);
    asking.pair.sender.await_supply();
    asking.pair.sender.supply(Time::ZERO, 1_000);
    let sent = asking.burst();
    assert_eq!((sent.len(), sent[0].1), (1, 1_000));
    asking.arrives(&sent[0], false);
    assert_eq!(asking.said(), []);
    asking.pair.sender.supply(Time::from_us(7), 2_000);
    assert_eq!(asking.said(), [(None, 2)], "a packet's worth: the window");
    assert_eq!(asking.said(), []);
}

proptest! {
    /// Whatever is trimmed and lost, requests among it: the flow ends, though nothing leaves unasked behind
    /// the first window, and the receiver gives no more than is wanted.
    #[test]
    fn every_flow_that_asks_ends(
        packets in 1_u64..60,
        window in 1_u64..12,
        fates in prop::collection::vec(0_u8..10, 400),
    ) {
        let mut asking = Asking::new(packets, window);
        let mut fates = fates.into_iter().chain(core::iter::repeat(9));
        for _ in 0..4_000 {
            if asking.pair.sender.is_complete() {
                break;
            }
            let sent = asking.burst();
            if sent.is_empty() {
                if let Some(credit) = asking.give() {
                    asking.pair.hear(&credit);
                    continue;
                }
                let due = asking.pair.sender.deadline();
                prop_assert!(due.is_some(), "it waits for nothing");
                asking.pair.now = asking.pair.now.max(due.unwrap_or(asking.pair.now));
                asking.pair.sender.on_timer(asking.pair.now);
                continue;
            }
            for one in sent {
                let fate = fates.next().unwrap_or(9);
                if fate == 0 {
                    continue;
                }
                asking.pair.now += Span::from_us(1);
                asking.arrives(&one, fate < 4 && one.0.len > 0);
                if let Some(credit) = asking.give().filter(|_| fate != 5) {
                    asking.pair.hear(&credit);
                }
            }
        }
        prop_assert!(asking.pair.sender.is_complete());
        prop_assert_eq!(asking.pair.receiver.delivered_bytes(), 1_000 * packets);
    }
}

proptest! {
    /// Whatever is trimmed and lost, data, headers and pulls alike: the flow ends, as the receiver pulls once
    /// for each arrival, and the sender never has more in the network than the first window and what its
    /// timeouts sent.
    #[test]
    fn every_flow_ends(
        packets in 1_u64..60,
        unasked in 1_u64..12,
        fates in prop::collection::vec(0_u8..10, 400),
    ) {
        let mut pair = Pair::new(packets, unasked);
        let mut fates = fates.into_iter().chain(core::iter::repeat(9));
        for _ in 0..2_000 {
            if pair.sender.is_complete() {
                break;
            }
            let sent = pair.burst();
            if sent.is_empty() {
                let due = pair.sender.deadline();
                prop_assert!(due.is_some(), "it waits for nothing");
                pair.now = pair.now.max(due.unwrap_or(pair.now));
                pair.sender.on_timer(pair.now);
                continue;
            }
            for segment in sent {
                let fate = fates.next().unwrap_or(9);
                if fate == 0 {
                    continue;
                }
                pair.now += Span::from_us(1);
                pair.arrives(&segment, fate < 4);
                if let Some(credit) = pair.receiver.pull(1_000).filter(|_| fate != 5) {
                    pair.hear(&credit);
                }
            }
        }
        prop_assert!(pair.sender.is_complete());
        prop_assert_eq!(pair.receiver.delivered_bytes(), 1_000 * packets);
    }
}
