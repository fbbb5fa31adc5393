//! A sender and a receiver joined by a scripted channel, stepped in virtual time.
//!
//! Every packet crosses as bytes: encoded, perhaps remarked, decoded; of our transport header, or of TCP.
//! Timers are never cancelled, so each one that was ever asked for fires, stale or not: the sender must not
//! care.

use core::fmt::Write as _;
use core::net::Ipv4Addr;
use std::collections::{BTreeMap, VecDeque};

use p4cc_cc::Mark;
use p4cc_transport::tcp::{TcpClient, TcpServer};
use p4cc_transport::wire::{
    Endpoint, Header, Packet, Ports, TcpHeader, TcpPacket, TrafficClass, rewrite_ecn_bits,
};
use p4cc_transport::{
    AckFields, Action, Actions, Codepoint, DataFields, EcnProfile, Event, Receiver, Segment, SenderConfig,
    Snapshot, WindowSender,
};
use p4cc_units::{Span, Time};

const FLOW_ID: u32 = 7;
const CLASS: TrafficClass = TrafficClass::new(0).expect("a class");
const SENDER: Endpoint = Endpoint { mac: [2, 0, 0, 0, 0, 1], ip: Ipv4Addr::new(10, 0, 0, 1) };
const RECEIVER: Endpoint = Endpoint { mac: [2, 0, 0, 0, 0, 2], ip: Ipv4Addr::new(10, 0, 0, 2) };

/// What the channel does to one packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// It arrives after this delay, its queue having been at this level.
    Arrive(Span, Mark),
    /// It is lost.
    Drop,
}

/// Half of a round trip.
pub const HALF: Span = Span::from_us(50);

/// Arrives in time and unmarked.
pub const FINE: Fate = Fate::Arrive(HALF, Mark::None);

enum Arrival {
    Data(Vec<u8>, usize),
    Ack(Vec<u8>),
    Timer,
    ReceiverTimer,
}

/// Two ends and what lies between them.
pub struct Pair<F> {
    pub sender: WindowSender,
    pub receiver: Receiver,
    pub now: Time,
    /// Bytes that the receiver delivered in order.
    pub delivered_bytes: u64,
    /// How often the sender said that it was done, and when it last did.
    pub completions: u32,
    pub completed: Time,
    /// One line for each thing that happened.
    pub trace: String,
    profile: Option<EcnProfile>,
    /// Of a pair that speaks TCP.
    tcp: Option<(TcpClient, TcpServer)>,
    mss_bytes: u64,
    /// Decides about each data packet by its segment number,
    /// whether it is a repetition, and the count so far.
    fate: F,
    ack_fate: Box<dyn FnMut(u64) -> Fate>,
    sent: u64,
    pub acks_sent: u64,
    /// What the receiver reported and the sender has read,
    /// by position; a segment in it must not be sent again.
    pub sacked: Vec<(u64, u64)>,
    queue: BTreeMap<(Time, u64), Arrival>,
    next_event: u64,
    actions: Actions,
    last: Option<Snapshot>,
    /// What the application has still to give, and how many bytes it gave.
    pieces: VecDeque<u64>,
    pub given_bytes: u64,
}

impl<F: FnMut(u64, bool, u64) -> Fate> Pair<F> {
    pub fn new(config: &SenderConfig, flow_bytes: u64, fate: F) -> Self {
        Self {
            sender: WindowSender::new(config, Some(flow_bytes)).expect("a valid configuration"),
            receiver: Receiver::new(&config.receiver()),
            now: Time::ZERO,
            delivered_bytes: 0,
            completions: 0,
            completed: Time::ZERO,
            trace: String::new(),
            profile: config.ecn_profile,
            tcp: None,
            mss_bytes: u64::from(config.mss_bytes),
            fate,
            ack_fate: Box::new(|_| FINE),
            sent: 0,
            acks_sent: 0,
            sacked: Vec::new(),
            queue: BTreeMap::new(),
            next_event: 0,
            actions: Actions::new(),
            last: None,
            pieces: VecDeque::new(),
            given_bytes: 0,
        }
    }

    /// Puts the flow on the wire as TCP, its connection open already and close to where numbers wrap.
    pub fn over_tcp(mut self, config: &SenderConfig) -> Self {
        let (tcp, ports) = (config.tcp().expect("a window of TCP"), Ports { src: 50_000, dst: 5_001 });
        let mut client = TcpClient::new(&tcp, ports, u32::MAX - 5_000);
        let mut server = TcpServer::new(&tcp, ports, u32::MAX);
        let syn = client.open(self.now);
        let syn = crossed(client.control(syn, self.now));
        let answer = server.on_segment(self.now, &syn, Codepoint::NOT_ECT).reply.expect("an answer");
        let answer = crossed(server.control(answer, self.now));
        let step = client.on_segment(self.now, &answer);
        assert!(step.is_opened);
        let last = crossed(client.control(step.reply.expect("an ACK"), self.now));
        assert_eq!(server.on_segment(self.now, &last, Codepoint::NOT_ECT).reply, None);
        self.tcp = Some((client, server));
        self
    }

    /// Makes the application give the flow in pieces of these bytes, each when the one before has arrived.
    pub fn with_pieces(mut self, pieces: &[u64]) -> Self {
        self.sender.await_supply();
        self.pieces = pieces.iter().copied().collect();
        self
    }

    pub fn with_ack_fate(mut self, ack_fate: impl FnMut(u64) -> Fate + 'static) -> Self {
        self.ack_fate = Box::new(ack_fate);
        self
    }

    /// Steps until nothing is left to happen; false if `max_events` were not enough.
    pub fn run(&mut self, max_events: usize, mut check: impl FnMut(&Self)) -> bool {
        self.actions.clear();
        self.sender.start(self.now, &mut self.actions);
        self.carry_out();
        for _ in 0..max_events {
            self.give();
            check(self);
            let Some(((at, _), arrival)) = self.queue.pop_first() else { return true };
            self.now = at;
            self.actions.clear();
            match arrival {
                Arrival::Data(bytes, payload) => self.data_arrives(&bytes, payload),
                Arrival::Ack(bytes) => {
                    let fields = self.read_ack(&bytes);
                    // The flows of these tests are shorter than the wire's
                    // sequence numbers. An ACK that was overtaken is not read.
                    if u64::from(fields.ack) >= self.sender.snapshot().snd_una {
                        let blocks = fields.sack.as_slice().iter();
                        self.sacked.extend(blocks.map(|block| (u64::from(block.0), u64::from(block.1))));
                    }
                    self.sender.on_ack(at, &fields, &mut self.actions);
                }
                Arrival::Timer => self.sender.on_timer(at, &mut self.actions),
                Arrival::ReceiverTimer => {
                    if let Some(ack) = self.receiver.on_timer(at) {
                        self.send_ack(&ack);
                    }
                }
            }
            self.carry_out();
        }
        false
    }

    /// The application gives the next piece if all before has arrived.
    fn give(&mut self) {
        if self.delivered_bytes == self.given_bytes
            && let Some(piece) = self.pieces.pop_front()
        {
            self.given_bytes += piece;
            self.actions.clear();
            self.sender.supply(piece, self.now, &mut self.actions);
            self.carry_out();
        }
    }

    fn data_arrives(&mut self, bytes: &[u8], payload: usize) {
        let data = self.read_data(bytes, payload);
        let receipt = self.receiver.on_data(self.now, &data);
        self.delivered_bytes += receipt.delivered_bytes;
        for ack in receipt.acks() {
            self.send_ack(ack);
        }
        if let Some(deadline) = self.receiver.deadline() {
            self.schedule(deadline, Arrival::ReceiverTimer);
        }
    }

    fn send_ack(&mut self, ack: &AckFields) {
        let fate = (self.ack_fate)(self.acks_sent);
        self.acks_sent += 1;
        let bytes = match &mut self.tcp {
            None => {
                let (mut bytes, blocks) = (Vec::new(), ack.sack.to_wire());
                let header = Header::ack(FLOW_ID, CLASS, ack, self.now);
                let packet = Packet::new(RECEIVER, SENDER, Codepoint::NOT_ECT, header);
                packet.with_extension(blocks.extension()).encode(&mut bytes).expect("an ACK fits");
                bytes
            }
            Some((_, server)) => tcp_bytes(RECEIVER, SENDER, Codepoint::NOT_ECT, server.ack(ack, self.now)),
        };
        if let Fate::Arrive(delay, _) = fate {
            self.schedule(self.now + delay, Arrival::Ack(bytes));
        }
    }

    fn carry_out(&mut self) {
        let actions = core::mem::take(&mut self.actions);
        self.log(&actions);
        for action in actions.actions() {
            match *action {
                Action::Send(segment) => {
                    let range = (segment.seq, segment.seq + u64::from(segment.len));
                    let reported = self.sacked.iter().find(|block| block.0 <= range.0 && range.1 <= block.1);
                    assert_eq!(reported, None, "{range:?} is sent again though it was reported");
                    let mut bytes = self.data_bytes(&segment);
                    let fate = (self.fate)(segment.seq / self.mss_bytes, segment.retransmit, self.sent);
                    self.sent += 1;
                    if let Fate::Arrive(delay, mark) = fate {
                        if let Some(profile) = self.profile {
                            assert!(rewrite_ecn_bits(&mut bytes, profile.remark(segment.ecn, mark)));
                        }
                        self.schedule(self.now + delay, Arrival::Data(bytes, segment.len as usize));
                    }
                }
                Action::SetTimer(at) => self.schedule(at, Arrival::Timer),
                Action::CancelTimer => {}
                Action::Complete => {
                    self.completions += 1;
                    self.completed = self.now;
                }
            }
        }
        self.actions = actions;
    }

    fn data_bytes(&mut self, segment: &Segment) -> Vec<u8> {
        let Some((client, _)) = &mut self.tcp else {
            let mut bytes = Vec::new();
            let header = Header::data(FLOW_ID, CLASS, segment, self.now).expect("a short segment");
            let packet = Packet::new(SENDER, RECEIVER, segment.ecn, header);
            packet.encode(&mut bytes).expect("a segment fits");
            return bytes;
        };
        let header = client.data(segment, self.now);
        tcp_bytes(SENDER, RECEIVER, client.ecn(segment), header)
    }

    fn read_data(&mut self, bytes: &[u8], payload: usize) -> DataFields {
        let Some((_, server)) = &mut self.tcp else {
            let packet = Packet::decode(bytes, payload).expect("our own data");
            return packet.header.data_fields(packet.ecn);
        };
        let packet = TcpPacket::decode(bytes, payload).expect("our own data");
        let step = server.on_segment(self.now, &packet.header, packet.ecn);
        assert_eq!(step.reply, None);
        step.data.expect("data")
    }

    fn read_ack(&mut self, bytes: &[u8]) -> AckFields {
        let Some((client, _)) = &mut self.tcp else {
            return Packet::decode(bytes, 0).expect("our own ACK").ack_fields();
        };
        let packet = TcpPacket::decode(bytes, 0).expect("our own ACK");
        client.on_segment(self.now, &packet.header).ack.expect("an ACK")
    }

    fn schedule(&mut self, at: Time, arrival: Arrival) {
        self.queue.insert((at, self.next_event), arrival);
        self.next_event += 1;
    }

    /// One line when the window or its surroundings changed, with what was sent and reported.
    fn log(&mut self, actions: &Actions) {
        let state = self.sender.snapshot();
        if self.last == Some(state) && actions.events().is_empty() {
            return;
        }
        self.last = Some(state);
        let ssthresh = if state.ssthresh_segments > 1e6 {
            "inf".to_owned()
        } else {
            format!("{:.2}", state.ssthresh_segments)
        };
        let (una, mss) = (state.snd_una, self.mss_bytes);
        let _ = write!(
            self.trace,
            "{:>7} us  una {:>3}  flight {:>2}  cwnd {:>6.3}  ssthresh {ssthresh:>5}  {:<10}",
            self.now.as_us(),
            una.div_ceil(mss),
            state.flight_segments,
            state.cwnd_segments,
            state.phase.name(),
        );
        for action in actions.actions() {
            if let Action::Send(segment) = action {
                let sign = if segment.retransmit { "again " } else { "" };
                let _ = write!(self.trace, " {sign}{}", segment.seq / mss);
            }
        }
        for event in actions.events() {
            let _ = write!(self.trace, " | {}", describe(event));
        }
        self.trace.truncate(self.trace.trim_end().len());
        self.trace.push('\n');
    }
}

fn tcp_bytes(from: Endpoint, to: Endpoint, ecn: Codepoint, header: TcpHeader) -> Vec<u8> {
    let mut bytes = Vec::new();
    TcpPacket::new(from, to, CLASS, ecn, header).encode(&mut bytes).expect("a segment fits");
    bytes
}

/// A segment as it arrives at the other end.
pub fn crossed(header: TcpHeader) -> TcpHeader {
    let bytes = tcp_bytes(SENDER, RECEIVER, Codepoint::NOT_ECT, header);
    TcpPacket::decode(&bytes, usize::from(header.payload_len)).expect("our own segment").header
}

fn describe(event: &Event) -> String {
    use p4cc_cc::Event as Congestion;
    match event {
        Event::Congestion(Congestion::AlphaUpdated { alpha, marked_fraction }) => {
            format!("alpha {alpha:.4} F {marked_fraction:.3}")
        }
        Event::Congestion(Congestion::DeltaUpdated { delta, queue_pkts }) => match queue_pkts {
            Some(queue) => format!("delta {delta:.4} q {queue:.1}"),
            None => format!("delta {delta:.4}"),
        },
        Event::Congestion(Congestion::WindowCut { from_segments, to_segments, cause }) => {
            format!("cut {from_segments:.2} to {to_segments:.2} by {cause:?}")
        }
        Event::Congestion(Congestion::PhaseChanged { from, to }) => {
            format!("{} to {}", from.name(), to.name())
        }
        Event::Congestion(Congestion::FirstMark { mark }) => format!("first {mark:?} mark"),
        Event::Timeout { rto, .. } => format!("timeout after {} us", rto.as_us()),
        Event::FastRetransmit { .. } => "fast retransmit".to_owned(),
        Event::PartialAck { .. } => "partial ACK".to_owned(),
        Event::AckIgnored(why) => format!("ignored: {why:?}"),
    }
}

/// A configuration from JSON, as Python sends it.
pub fn config(json: &str) -> SenderConfig {
    serde_json::from_str(json).expect("a valid configuration")
}
