//! Data that arrives as its header alone (docs/algorithms/trimming.md#trimmed-data).

use p4cc_transport::rdma::{RdmaAck, RdmaConfig, RdmaData, RdmaReceiver, RdmaSender};
use p4cc_transport::wire::{
    ETHERNET_LEN, Endpoint, Extension, Flags, Header, Packet, TrafficClass, decode_trimmed,
};
use p4cc_transport::{Codepoint, Segment};
use p4cc_units::{Span, Time};

use crate::rdma::{LINE, config};

const SELECTIVE: &str = r#"{"recovery":"selective_repeat","base_rtt_ns":10000,
    "cc":{"name":"fixed","rate_mbps":10000}}"#;
const GO_BACK_N: &str = r#"{"base_rtt_ns":10000,"cc":{"name":"fixed","rate_mbps":10000}}"#;

struct Pair {
    sender: RdmaSender,
    receiver: RdmaReceiver,
    now: Time,
}

impl Pair {
    fn new(config: &RdmaConfig, packets: u64) -> Self {
        let mut sender = RdmaSender::new(config, LINE, Some(1_000 * packets)).expect("it is valid");
        sender.start(Time::ZERO);
        Self { sender, receiver: RdmaReceiver::new(config), now: Time::ZERO }
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
        RdmaData {
            seq: segment.seq as u32,
            len: segment.len,
            fin: segment.fin,
            timestamp_ns: self.now.as_ns(),
            ..RdmaData::default()
        }
    }

    fn arrives(&mut self, segment: &Segment) -> RdmaAck {
        let receipt = self.receiver.on_data(self.now, &self.data(segment));
        receipt.ack.expect("each packet is answered")
    }

    /// The answer reaches the sender; the round-trip time that it gives.
    fn answer(&mut self, ack: &RdmaAck) -> Option<Span> {
        let header = Header::rdma_ack(1, TrafficClass::default(), ack, self.now);
        let fields = header.ack_fields(&Extension::NONE);
        self.now += Span::from_us(1);
        self.sender.on_ack(self.now, &fields, header.flags, &Extension::NONE, Span::ZERO).rtt
    }
}

#[test]
fn a_trimmed_packet_is_asked_for_and_sent_again_at_once() {
    let mut pair = Pair::new(&config(SELECTIVE), 5);
    let sent = pair.burst();
    assert_eq!(sent.len(), 5);
    for (at, segment) in sent.iter().enumerate() {
        let (is_trimmed, data) = (at == 1, pair.data(segment));
        let ack = if is_trimmed {
            pair.receiver.on_trimmed(pair.now, &data).expect("it is answered")
        } else {
            pair.arrives(segment)
        };
        assert_eq!((ack.nack, ack.answered), (is_trimmed, Some(segment.seq as u32)));
        // A header waits in no queue of data: its time tells nothing.
        assert_eq!(pair.answer(&ack).is_some(), !is_trimmed);
        if is_trimmed {
            let again = pair.burst();
            assert_eq!(again.len(), 1);
            assert_eq!((again[0].seq, again[0].retransmit), (1_000, true));
            assert_eq!(pair.sender.nacks(), 1);
        }
    }
    assert_eq!(pair.burst(), [], "three packets behind it show nothing new");
    let ack = pair.arrives(&sent[1]);
    pair.answer(&ack);
    assert!(pair.sender.is_complete());
    assert_eq!(pair.sender.snapshot().timeouts, 0);
}

#[test]
fn what_is_there_already_is_acknowledged() {
    for text in [SELECTIVE, GO_BACK_N] {
        let mut pair = Pair::new(&config(text), 5);
        let sent = pair.burst();
        pair.arrives(&sent[0]);
        let ack = pair.receiver.on_trimmed(pair.now, &pair.data(&sent[0])).expect("an ACK");
        assert_eq!((ack.nack, ack.ack), (false, 1_000));
    }
    let mut pair = Pair::new(&config(SELECTIVE), 5);
    let sent = pair.burst();
    pair.arrives(&sent[2]);
    let ack = pair.receiver.on_trimmed(pair.now, &pair.data(&sent[2])).expect("an ACK");
    assert_eq!((ack.nack, ack.ack, ack.answered), (false, 0, Some(2_000)));
}

#[test]
fn go_back_n_goes_back_to_it() {
    let mut pair = Pair::new(&config(GO_BACK_N), 3);
    let sent = pair.burst();
    let ack = pair.receiver.on_trimmed(pair.now, &pair.data(&sent[0])).expect("a NACK");
    assert_eq!((ack.nack, ack.ack, ack.answered), (true, 0, None));
    pair.answer(&ack);
    assert_eq!(pair.burst().iter().map(|segment| segment.seq).collect::<Vec<u64>>(), [0, 1_000, 2_000]);
}

#[test]
fn headers_alone_are_read_as_what_is_missing() {
    let end = |last| Endpoint { mac: [2, 0, 0, 0, 0, last], ip: [10, 0, 0, last].into() };
    let segment = Segment { seq: 7_000, len: 0, fin: true, ..Segment::default() };
    let header = Header::data(9, TrafficClass::default(), &segment, Time::from_us(3)).expect("it fits");
    let packet = Packet::new(end(1), end(2), Codepoint::CE, header);
    let mut frame = Vec::new();
    packet.encode(&mut frame).expect("a good packet");
    assert_eq!(decode_trimmed(&frame), None, "nothing is missing");
    // A switch leaves the payload's length.
    let at = ETHERNET_LEN + 20 + 8 + 16;
    frame[at..at + 2].copy_from_slice(&1_000_u16.to_be_bytes());
    assert!(Packet::decode(&frame, 0).is_err());
    let header = Header { payload_len: 1_000, ..header };
    assert_eq!(decode_trimmed(&frame), Some(Packet { header, ..packet }));
    assert!(header.flags.has(Flags::FIN));
    for cut in 0..frame.len() {
        assert_eq!(decode_trimmed(&frame[..cut]), None);
    }
    // An ACK has no payload.
    frame[ETHERNET_LEN + 28] |= 1;
    assert_eq!(decode_trimmed(&frame), None);
}
