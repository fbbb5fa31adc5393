//! The base reading of docs/algorithms/reproductions.md#gst-base on the
//! smallest network that shows it: N senders, one marking bottleneck.
//!
//! The queue here is a reference of a few lines; the same experiment with the P4 program at the switch is the
//! simulator's. What this proves is the host stack: the collapse of DCTCP and its absence with GST need every
//! rule. Where exactly the collapse begins is a matter of ties, which the last test shows.

use std::collections::{BTreeMap, VecDeque};

use p4cc_cc::Mark;
use p4cc_transport::wire::{Extension, Header, TrafficClass};
use p4cc_transport::{Action, Actions, EcnProfile, Receiver, Segment, SenderConfig, WindowSender};
use p4cc_units::{Bytes, Rate, Span, Time};

use crate::pair::config;

const LINK: Rate = Rate::from_bps(10_000_000_000);
/// Four crossings of a link make the round trip of 100 us.
const PROPAGATION: Span = Span::from_us(25);
const PACKET_BYTES: u64 = 1_500;
const ACK_BYTES: u64 = 64;
/// docs/algorithms/reproductions.md#gst: 512 KiB from every sender.
const SRU_BYTES: u64 = 524_288;
const K_DC: usize = 65;
const PROFILE: EcnProfile = EcnProfile::Gst;

#[derive(Debug)]
enum Happening {
    /// The bottleneck has sent a packet.
    Sent,
    AtQueue(usize, Header),
    AtReceiver(usize, Header),
    AtSender(usize, Header),
    Timer(usize),
    Start(usize),
}

impl Happening {
    /// Order of what happens at one instant (docs/algorithms/README.md#units).
    fn rank(&self) -> u8 {
        match self {
            Self::Sent => 0,
            Self::AtQueue(..) | Self::AtReceiver(..) | Self::AtSender(..) => 1,
            Self::Timer(_) => 2,
            Self::Start(_) => 3,
        }
    }

    /// Port of the sender that it concerns; the bottleneck's own happenings have a rank to themselves.
    fn port(&self) -> usize {
        match *self {
            Self::Sent => 0,
            Self::AtQueue(flow, _) | Self::AtReceiver(flow, _) | Self::AtSender(flow, _) => flow,
            Self::Timer(flow) | Self::Start(flow) => flow,
        }
    }
}

/// Which of two packets comes first that reach the queue at the same instant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ties {
    /// The one whose sender decided first to send it.
    SentFirst,
    /// The one from the lower port: the order of docs/algorithms/README.md#units, and the simulator's.
    LowerPort,
}

struct Host {
    sender: WindowSender,
    receiver: Receiver,
    nic_free: Time,
}

/// What is run.
#[derive(Clone, Copy, Debug)]
struct Case {
    senders: usize,
    buffer_pkts: usize,
    k: usize,
    ties: Ties,
}

/// What one run came to.
struct IncastResult {
    timeouts: u64,
    finish: Time,
}

struct Incast {
    hosts: Vec<Host>,
    now: Time,
    /// By time, rank, port where ports decide ties, and order of insertion.
    events: BTreeMap<(Time, u8, usize, u64), Happening>,
    next_event: u64,
    ties: Ties,
    /// Packets waiting, with the flow and the mark that they carry; the one being sent is not among them.
    waiting: VecDeque<(usize, Header, Mark)>,
    sending: Option<(usize, Header, Mark)>,
    buffer_pkts: usize,
    k: usize,
    open: usize,
    /// When the last flow so far completed.
    finish: Time,
}

impl Incast {
    fn new(config: &SenderConfig, case: Case, seed: u64) -> Self {
        let Case { senders, buffer_pkts, k, ties } = case;
        let host = || Host {
            sender: WindowSender::new(config, Some(SRU_BYTES)).expect("a valid configuration"),
            receiver: Receiver::new(&config.receiver()),
            nic_free: Time::ZERO,
        };
        let mut incast = Self {
            hosts: (0..senders).map(|_| host()).collect(),
            now: Time::ZERO,
            events: BTreeMap::new(),
            next_event: 0,
            ties,
            waiting: VecDeque::new(),
            sending: None,
            buffer_pkts,
            k,
            open: senders,
            finish: Time::ZERO,
        };
        // Starts spread over 10 us (docs/algorithms/reproductions.md#gst-base) by splitmix64.
        let mut state = seed;
        for flow in 0..senders {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            mixed ^= mixed >> 31;
            incast.at(Time::from_ps(mixed % 10_000_000), Happening::Start(flow));
        }
        incast
    }

    fn at(&mut self, time: Time, happening: Happening) {
        let port = if self.ties == Ties::LowerPort { happening.port() } else { 0 };
        self.events.insert((time, happening.rank(), port, self.next_event), happening);
        self.next_event += 1;
    }

    fn run(mut self) -> IncastResult {
        let mut actions = Actions::new();
        while self.open > 0 {
            let ((now, ..), happening) = self.events.pop_first().expect("open flows have a timer at least");
            self.now = now;
            actions.clear();
            match happening {
                Happening::Start(flow) => self.hosts[flow].sender.start(now, &mut actions),
                Happening::Timer(flow) => self.hosts[flow].sender.on_timer(now, &mut actions),
                Happening::AtSender(flow, header) => {
                    let fields = header.ack_fields(&Extension::NONE);
                    self.hosts[flow].sender.on_ack(now, &fields, &mut actions);
                }
                Happening::AtQueue(flow, header) => self.enqueue(flow, header),
                Happening::Sent => self.sent(),
                Happening::AtReceiver(flow, header) => self.acknowledge(flow, &header),
            }
            if let Happening::Start(flow) | Happening::Timer(flow) | Happening::AtSender(flow, _) = happening
            {
                self.carry_out(flow, &actions);
            }
        }
        let timeouts = self.hosts.iter().map(|host| host.sender.snapshot().timeouts).sum();
        IncastResult { timeouts, finish: self.finish }
    }

    fn carry_out(&mut self, flow: usize, actions: &Actions) {
        for action in actions.actions() {
            match action {
                Action::Send(segment) => self.transmit(flow, segment),
                Action::SetTimer(time) => self.at(*time, Happening::Timer(flow)),
                Action::CancelTimer => {}
                Action::Complete => {
                    self.open -= 1;
                    self.finish = self.now;
                }
            }
        }
    }

    fn transmit(&mut self, flow: usize, segment: &Segment) {
        let header = Header::data(flow as u32, TrafficClass::default(), segment, self.now).expect("short");
        let bytes = u64::from(segment.len) + ACK_BYTES;
        let free = self.hosts[flow].nic_free.max(self.now) + LINK.time_to_send(Bytes(bytes));
        self.hosts[flow].nic_free = free;
        self.at(free + PROPAGATION, Happening::AtQueue(flow, header));
    }

    fn enqueue(&mut self, flow: usize, header: Header) {
        let depth = self.waiting.len();
        let mark = match depth {
            _ if depth >= K_DC => Mark::Kdc,
            _ if depth >= self.k => Mark::K,
            _ => Mark::None,
        };
        if self.sending.is_none() {
            self.send((flow, header, mark));
        } else if depth < self.buffer_pkts {
            self.waiting.push_back((flow, header, mark));
        }
    }

    fn send(&mut self, packet: (usize, Header, Mark)) {
        let bytes = (u64::from(packet.1.payload_len) + ACK_BYTES).min(PACKET_BYTES);
        self.sending = Some(packet);
        self.at(self.now + LINK.time_to_send(Bytes(bytes)), Happening::Sent);
    }

    fn sent(&mut self) {
        let (flow, mut header, mark) = self.sending.take().expect("a packet was being sent");
        // Data carries no echo, so the field can carry the codepoint to the receiver in this model.
        header.ecn_echo = PROFILE.codepoint(mark);
        self.at(self.now + PROPAGATION, Happening::AtReceiver(flow, header));
        if let Some(next) = self.waiting.pop_front() {
            self.send(next);
        }
    }

    fn acknowledge(&mut self, flow: usize, header: &Header) {
        let receipt = self.hosts[flow].receiver.on_data(self.now, &header.data_fields(header.ecn_echo));
        for ack in receipt.acks() {
            let ack = Header::ack(flow as u32, TrafficClass::default(), ack, self.now);
            let crossing = LINK.time_to_send(Bytes(ACK_BYTES)) + PROPAGATION;
            self.at(self.now + crossing + crossing, Happening::AtSender(flow, ack));
        }
    }
}

/// The base of docs/algorithms/reproductions.md#gst-base, for every variant.
fn base(slow_start: &str) -> SenderConfig {
    config(&format!(
        r#"{{"recovery":"newreno","iw":1,"rwnd":32,"rto_min_ns":200000000,"rto_init_ns":200000000,
            "cc":{{"congestion_avoidance":{{"name":"dctcp","g":0.0625,"alpha0":1,"cwnd_min":1}},
                   "slow_start":{slow_start}}}}}"#
    ))
}

fn dctcp() -> SenderConfig {
    base(r#"{"name":"standard"}"#)
}

fn gst(k: usize, delta: &str) -> SenderConfig {
    base(&format!(r#"{{"name":"gst","k":{k},"k_dc":65,"delta":"{delta}","entry":"window_close"}}"#))
}

/// How many of five seeds saw a timeout, and the latest end among them in nanoseconds.
fn seeds_with_timeouts(config: &SenderConfig, senders: usize, buffer_pkts: usize, k: usize) -> (usize, u64) {
    outcomes_of(config, Case { senders, buffer_pkts, k, ties: Ties::SentFirst })
}

fn outcomes_of(config: &SenderConfig, case: Case) -> (usize, u64) {
    let outcomes: Vec<_> = (1..=5).map(|seed| Incast::new(config, case, seed).run()).collect();
    let latest = outcomes.iter().map(|outcome| outcome.finish.as_ns()).max();
    (outcomes.iter().filter(|outcome| outcome.timeouts > 0).count(), latest.unwrap_or(0))
}

/// docs/algorithms/reproductions.md#gst-base, figure 9: from 30 senders
/// on DCTCP times out in every seed, and GST's text form in none.
#[test]
fn gst_avoids_the_collapse_of_dctcp() {
    for senders in [30, 50, 60] {
        assert_eq!(seeds_with_timeouts(&dctcp(), senders, 150, K_DC).0, 5, "DCTCP, {senders} senders");
    }
    for (k, senders) in [(33, 4), (33, 20), (33, 40), (33, 70), (25, 40), (25, 70)] {
        let (timeouts, finish_ns) = seeds_with_timeouts(&gst(k, "text"), senders, 150, k);
        assert_eq!(timeouts, 0, "GST, K {k}, {senders} senders");
        let goodput_bps = senders as u64 * SRU_BYTES * 8 * 1_000_000_000 / finish_ns;
        assert!(senders < 20 || goodput_bps > 8_900_000_000, "K {k}, {senders} senders: {goodput_bps} bit/s");
    }
}

/// docs/algorithms/reproductions.md#gst-hold: with K = 25 for both buffers
/// nothing waits for a timer, at the senders where `window_close` fails.
#[test]
fn gst_that_holds_the_window_at_the_first_mark() {
    let hold = base(r#"{"name":"gst","k":25,"k_dc":65,"entry":"hold"}"#);
    for (senders, buffer_pkts) in [(4, 150), (40, 150), (72, 150), (20, 100), (25, 100)] {
        let (timeouts, finish_ns) = seeds_with_timeouts(&hold, senders, buffer_pkts, 25);
        assert_eq!(timeouts, 0, "{senders} senders, buffer {buffer_pkts}");
        let goodput_bps = senders as u64 * SRU_BYTES * 8 * 1_000_000_000 / finish_ns;
        assert!(senders < 20 || goodput_bps > 8_900_000_000, "{senders} senders: {goodput_bps} bit/s");
    }
}

/// docs/algorithms/reproductions.md#gst-base: the printed exponent times out where the text's does not.
#[test]
fn the_literal_exponent_collapses() {
    for senders in [40, 60, 70] {
        assert_eq!(seeds_with_timeouts(&gst(33, "literal"), senders, 150, 33).0, 5, "{senders} senders");
    }
}

/// docs/algorithms/reproductions.md#gst-base, figures 3, 6 and 8: buffer 100, 25 senders.
#[test]
fn k_decides_at_the_small_buffer() {
    assert_eq!(seeds_with_timeouts(&dctcp(), 4, 100, K_DC).0, 0);
    let (timeouts, finish_ns) = seeds_with_timeouts(&gst(8, "text"), 25, 100, 8);
    assert_eq!(timeouts, 0);
    // 25 times 524,288 B with their headers take 11.0 ms; figure 8 shows 10.7 ms for the payload.
    assert!((10_900_000..11_600_000).contains(&finish_ns), "{finish_ns} ns");
    assert_eq!(seeds_with_timeouts(&gst(45, "text"), 25, 100, 45).0, 5);
    let (timeouts, finish_ns) = seeds_with_timeouts(&dctcp(), 25, 100, K_DC);
    assert!(timeouts == 5 && finish_ns > 200_000_000, "{timeouts} seeds, {finish_ns} ns");
}

/// `experiments/gst/README.md`, "The order in ties": every interface has the rate of the bottleneck, so
/// trains of two senders reach the full queue in step, and the order in ties says whether a sender loses half
/// a window or all of it. With the order of sending nothing waits for a timer up to 16 senders (but at 9 and
/// 10), with the order of ports everything does from 11 on.
#[test]
fn the_order_of_simultaneous_arrivals_moves_the_collapse() {
    let counts = |config: &SenderConfig, senders, k| {
        [Ties::SentFirst, Ties::LowerPort]
            .map(|ties| outcomes_of(config, Case { senders, buffer_pkts: 150, k, ties }).0)
    };
    for (senders, want) in [(6, [0, 0]), (12, [0, 5]), (14, [0, 5]), (18, [5, 5]), (50, [5, 5])] {
        assert_eq!(counts(&dctcp(), senders, K_DC), want, "DCTCP, {senders} senders");
    }
    for (senders, want) in [(40, [0, 5]), (60, [0, 0])] {
        assert_eq!(counts(&gst(33, "text"), senders, 33), want, "GST, {senders} senders");
    }
}
