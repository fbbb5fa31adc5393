//! The receiving end of a flow: cumulative and selective ACKs, and the echo of what each packet met
//! (docs/algorithms/window.md#reno, #dctcp-receiver, docs/algorithms/marking.md#echo).
//!
//! By default one ACK per data packet, at once, with that packet's ECN bits and timestamp. Delayed ACKs wait
//! for a second packet, but not where waiting would hide something: a hole, the end of the flow, a change of
//! the ECN bits (docs/algorithms/window.md#dctcp-receiver: then one ACK for the old state and one for the
//! new). The echo is the raw codepoint: what it means is the sender's knowledge, so one receiver serves every
//! profile.
//!
//! Invariants: what is kept out of order never exceeds the receiver window, and what was reported as kept is
//! never given up; a packet waits for its ACK only while [`Receiver::deadline`] says until when.

use p4cc_units::{Span, Time};
use smallvec::SmallVec;

use crate::reassembly::{Insert, Reassembly};
use crate::{Codepoint, MAX_SACK_BLOCKS, SackBlocks, seq};

/// What a data packet says to the receiver.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct DataFields {
    /// Low 32 bits of the position of the first payload byte.
    pub seq: u32,
    /// Payload bytes.
    pub len: u32,
    /// The packet ends the flow.
    pub fin: bool,
    /// The sender has cut its window for marks.
    pub cwr: bool,
    /// The sender reads SACK blocks.
    pub sack_permitted: bool,
    /// The sender wants a mark repeated until its CWR arrives (RFC3168).
    pub echo_until_cwr: bool,
    /// ECN bits with which the packet arrived.
    pub ecn: Codepoint,
    /// When it was sent, by the sender's clock.
    pub timestamp_ns: u64,
}

/// What an ACK says to the sender.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct AckFields {
    /// Low 32 bits of the next byte expected.
    pub ack: u32,
    /// ECN bits of the packets that this ACK answers.
    pub ecn_echo: Codepoint,
    /// The timestamp of the first of them, unchanged.
    pub timestamp_echo_ns: u64,
    /// What arrived above the next byte expected.
    pub sack: SackBlocks,
    /// Switches that this ACK passed, by its TTL; 0 where that is not known.
    pub hop_count: u8,
    /// Low 32 bits of the first byte of the packet that this ACK answers, where the receiver keeps what comes
    /// out of order.
    pub answered: Option<u32>,
}

/// What became of a data packet.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DataVerdict {
    /// It advanced the stream.
    InOrder,
    /// It is kept until the bytes before it come.
    OutOfOrder,
    /// It brought nothing new.
    Duplicate,
    /// It lies outside the receiver window, or contradicts the end of the flow.
    Refused,
}

/// The answer to one data packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Receipt {
    /// An ACK for what came before, to be sent first: the packet's ECN bits differ.
    pub earlier: Option<AckFields>,
    /// An ACK for all up to the packet; none while it waits for the next.
    pub ack: Option<AckFields>,
    /// What became of the packet.
    pub outcome: DataVerdict,
    /// Bytes that are now in order and were not before.
    pub delivered_bytes: u64,
    /// The stream is whole with this packet; true at most once.
    pub completed: bool,
}

impl Receipt {
    /// ACKs to send, in order.
    #[inline]
    pub fn acks(&self) -> impl Iterator<Item = &AckFields> {
        self.earlier.iter().chain(&self.ack)
    }
}

/// How a receiver behaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReceiverConfig {
    /// Receiver window in segments.
    pub rwnd_segments: u32,
    /// Payload bytes of a full segment.
    pub mss_bytes: u32,
    /// An ACK for so many packets; 1 for each.
    pub ack_every: u32,
    /// Longest that a packet waits for its ACK.
    pub ack_delay: Span,
}

/// Packets that wait for their ACK.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Waiting {
    packets: u32,
    /// Of the first of them (RFC7323 4.3: so that the round-trip time contains the waiting).
    timestamp_ns: u64,
    until: Time,
}

/// The receiving end of one flow.
#[derive(Clone, Debug)]
pub struct Receiver {
    ack_every: u32,
    ack_delay: Span,
    stream: Reassembly,
    /// One past the last byte, once a packet with FIN told.
    flow_end: Option<u64>,
    complete: bool,
    /// A byte in each piece to report, the newest first.
    newest: SmallVec<[u64; MAX_SACK_BLOCKS]>,
    /// What the last packet's ACK echoes, or would.
    echo: Codepoint,
    /// A mark is to be repeated.
    holds_ce: bool,
    waiting: Option<Waiting>,
}

impl Receiver {
    /// A receiver at the start of a flow.
    pub fn new(config: &ReceiverConfig) -> Self {
        let window_bytes = u64::from(config.rwnd_segments) * u64::from(config.mss_bytes);
        Self {
            ack_every: config.ack_every,
            ack_delay: config.ack_delay,
            stream: Reassembly::new(window_bytes, config.rwnd_segments as usize),
            flow_end: None,
            complete: false,
            newest: SmallVec::new(),
            echo: Codepoint::NOT_ECT,
            holds_ce: false,
            waiting: None,
        }
    }

    /// Takes a data packet that arrives at `now` and answers it; [`Self::deadline`] may have changed.
    pub fn on_data(&mut self, now: Time, data: &DataFields) -> Receipt {
        let before = self.stream.next();
        let had_holes = self.stream.has_holes();
        let outcome = self.insert(data);
        let completed = !self.complete && self.flow_end == Some(self.stream.next());
        self.complete |= completed;

        let echo = self.next_echo(data);
        let echo_changed = echo != self.echo;
        // docs/algorithms/window.md#dctcp-receiver: "first send at once an
        // ACK for everything up to the previous packet" with the old state.
        let earlier = if echo_changed { self.waiting.take() } else { None };
        let earlier = earlier.map(|waiting| self.ack(before, waiting.timestamp_ns, SackBlocks::NONE));
        self.echo = echo;
        // RFC5681 4.2: at once out of order and where a hole is
        // filled; the end of a flow has nothing to wait for.
        let at_once =
            outcome != DataVerdict::InOrder || had_holes || data.fin || self.complete || echo_changed;
        let waiting = self.waiting.take();
        let packets = waiting.map_or(0, |waiting| waiting.packets) + 1;
        let timestamp_ns = waiting.map_or(data.timestamp_ns, |waiting| waiting.timestamp_ns);
        let ack = if at_once || packets >= self.ack_every {
            let blocks = if data.sack_permitted { self.blocks() } else { SackBlocks::NONE };
            Some(self.ack(self.stream.next(), timestamp_ns, blocks))
        } else {
            let until = waiting.map_or(now + self.ack_delay, |waiting| waiting.until);
            self.waiting = Some(Waiting { packets, timestamp_ns, until });
            None
        };
        Receipt { earlier, ack, outcome, delivered_bytes: self.stream.next() - before, completed }
    }

    /// When [`Self::on_timer`] is to be called; none if no packet waits for its ACK.
    pub fn deadline(&self) -> Option<Time> {
        self.waiting.map(|waiting| waiting.until)
    }

    /// The ACK that is due at `now`; a call at another time gives none.
    pub fn on_timer(&mut self, now: Time) -> Option<AckFields> {
        let due = self.waiting.take_if(|waiting| waiting.until <= now)?;
        // Packets wait in order only, so there is no hole to report.
        Some(self.ack(self.stream.next(), due.timestamp_ns, SackBlocks::NONE))
    }

    fn ack(&self, next: u64, timestamp_echo_ns: u64, sack: SackBlocks) -> AckFields {
        AckFields {
            ack: seq::wrap(next),
            ecn_echo: self.echo,
            timestamp_echo_ns,
            sack,
            ..AckFields::default()
        }
    }

    /// What the ACK of this packet echoes (docs/algorithms/window.md#dctcp-receiver,
    /// or 2.4 where the sender asks for it).
    fn next_echo(&mut self, data: &DataFields) -> Codepoint {
        if !data.echo_until_cwr {
            return data.ecn;
        }
        // docs/algorithms/window.md#reno-ecn: "once a CE packet arrives,
        // every ACK carries ECE until a data packet with CWR arrives".
        self.holds_ce = (self.holds_ce && !data.cwr) || data.ecn == Codepoint::CE;
        if self.holds_ce { Codepoint::CE } else { data.ecn }
    }

    fn insert(&mut self, data: &DataFields) -> DataVerdict {
        let Some(start) = seq::unwrap(data.seq, self.stream.next()) else { return DataVerdict::Refused };
        let Some(end) = start.checked_add(u64::from(data.len)) else { return DataVerdict::Refused };
        let contradicts = match self.flow_end {
            Some(flow_end) => end > flow_end || (data.fin && end != flow_end),
            None => data.fin && end < self.stream.highest(),
        };
        if contradicts {
            return DataVerdict::Refused;
        }
        let outcome = match self.stream.insert(start, end) {
            Insert::Advanced(_) => DataVerdict::InOrder,
            Insert::Kept => DataVerdict::OutOfOrder,
            Insert::Duplicate => DataVerdict::Duplicate,
            Insert::Refused => return DataVerdict::Refused,
        };
        if data.fin {
            self.flow_end = Some(end);
        }
        self.note_newest(start);
        outcome
    }

    /// RFC2018 4: the block with the newest packet first, then those that were newest before.
    fn note_newest(&mut self, start: u64) {
        let Some(piece) = self.stream.piece_at(start) else { return };
        self.newest.retain(|byte| !(piece.0..piece.1).contains(byte));
        self.newest.truncate(MAX_SACK_BLOCKS - 1);
        self.newest.insert(0, start);
    }

    fn blocks(&mut self) -> SackBlocks {
        let mut blocks = SackBlocks::NONE;
        // A piece that is in order by now, or was merged into a newer one, is reported no more.
        let (stream, mut last) = (&self.stream, SmallVec::<[u64; MAX_SACK_BLOCKS]>::new());
        self.newest.retain(|byte| match stream.piece_at(*byte) {
            Some((start, end)) if !last.contains(&start) => {
                last.push(start);
                blocks.push(seq::wrap(start), seq::wrap(end))
            }
            _ => false,
        });
        blocks
    }

    /// Bytes received in order.
    pub const fn delivered_bytes(&self) -> u64 {
        self.stream.next()
    }

    /// Bytes kept out of order.
    pub fn kept_bytes(&self) -> u64 {
        self.stream.kept_bytes()
    }

    /// Whether the stream is whole.
    pub const fn is_complete(&self) -> bool {
        self.complete
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CONFIG: ReceiverConfig =
        ReceiverConfig { rwnd_segments: 8, mss_bytes: 100, ack_every: 1, ack_delay: Span::from_ms(40) };
    const DELAYED: ReceiverConfig = ReceiverConfig { ack_every: 2, ..CONFIG };
    const ECT: Codepoint = Codepoint::from_bits(2);

    fn data(seq: u32, len: u32, fin: bool) -> DataFields {
        DataFields { seq, len, fin, ecn: ECT, timestamp_ns: 7, ..DataFields::default() }
    }

    fn take(receiver: &mut Receiver, data: DataFields) -> Vec<(u32, u8)> {
        let receipt = receiver.on_data(Time::ZERO, &data);
        receipt.acks().map(|ack| (ack.ack, ack.ecn_echo.bits())).collect()
    }

    #[test]
    fn every_packet_is_acknowledged_with_its_own_echo() {
        let mut receiver = Receiver::new(&CONFIG);
        let receipt = receiver.on_data(Time::ZERO, &data(100, 100, false));
        let ack = AckFields { ecn_echo: ECT, timestamp_echo_ns: 7, ..AckFields::default() };
        assert_eq!((receipt.ack, receipt.outcome), (Some(ack), DataVerdict::OutOfOrder));
        let receipt = receiver.on_data(Time::ZERO, &data(0, 100, false));
        assert_eq!((receipt.ack.map(|ack| ack.ack), receipt.delivered_bytes), (Some(200), 200));
        assert_eq!(receiver.on_data(Time::ZERO, &data(0, 100, false)).outcome, DataVerdict::Duplicate);
        assert_eq!(receiver.on_data(Time::ZERO, &data(1_000, 100, false)).outcome, DataVerdict::Refused);
    }

    #[test]
    fn the_end_comes_once_and_cannot_be_moved() {
        let mut receiver = Receiver::new(&CONFIG);
        let mut take = |data| receiver.on_data(Time::ZERO, &data);
        assert!(!take(data(100, 50, true)).completed);
        assert_eq!(take(data(150, 10, false)).outcome, DataVerdict::Refused);
        assert_eq!(take(data(0, 50, true)).outcome, DataVerdict::Refused);
        assert!(take(data(0, 100, false)).completed);
        assert!(!take(data(100, 50, true)).completed);
        assert!(receiver.is_complete());
    }

    #[test]
    fn a_delayed_ack_waits_for_the_second_packet_or_the_timer() {
        let mut receiver = Receiver::new(&DELAYED);
        let plain = |seq| DataFields { ecn: Codepoint::NOT_ECT, ..data(seq, 100, false) };
        assert_eq!(take(&mut receiver, plain(0)), []);
        assert_eq!(take(&mut receiver, plain(100)), [(200, 0)]);
        assert_eq!(receiver.deadline(), None);
        assert_eq!(take(&mut receiver, DataFields { timestamp_ns: 3, ..plain(200) }), []);
        assert_eq!(receiver.deadline(), Some(Time::from_us(40_000)));
        assert_eq!(receiver.on_timer(Time::from_us(39_999)), None);
        let ack = receiver.on_timer(Time::from_us(40_000)).expect("due");
        assert_eq!((ack.ack, ack.timestamp_echo_ns), (300, 3));
        assert_eq!((receiver.deadline(), receiver.on_timer(Time::MAX)), (None, None));
    }

    /// RFC5681 4.2: a packet out of order, and one that fills
    /// a hole, are acknowledged at once; so is the end.
    #[test]
    fn a_delayed_ack_does_not_hide_a_hole_or_the_end() {
        let mut receiver = Receiver::new(&DELAYED);
        assert_eq!(take(&mut receiver, data(0, 100, false)), [(100, 2)], "the first packet sets the state");
        assert_eq!(take(&mut receiver, data(200, 100, false)), [(100, 2)]);
        assert_eq!(take(&mut receiver, data(100, 50, false)), [(150, 2)]);
        assert_eq!(take(&mut receiver, data(150, 50, false)), [(300, 2)]);
        assert_eq!(take(&mut receiver, data(300, 100, true)), [(400, 2)]);
    }

    /// docs/algorithms/window.md#dctcp-receiver: an ACK for the old state, then one for the new; without
    /// packets waiting the old state is told already.
    #[test]
    fn a_change_of_the_mark_is_told_at_once() {
        let mut receiver = Receiver::new(&DELAYED);
        let marked = |seq| DataFields { ecn: Codepoint::CE, ..data(seq, 100, false) };
        assert_eq!(take(&mut receiver, data(0, 100, false)), [(100, 2)], "the first packet sets the state");
        assert_eq!(take(&mut receiver, data(100, 100, false)), []);
        assert_eq!(take(&mut receiver, marked(200)), [(200, 2), (300, 3)]);
        assert_eq!(take(&mut receiver, marked(300)), []);
        assert_eq!(take(&mut receiver, marked(400)), [(500, 3)]);
        assert_eq!(take(&mut receiver, data(500, 100, false)), [(600, 2)]);
    }

    /// docs/algorithms/window.md#reno-ecn: the echo stays until
    /// CWR, which does not hide a mark of its own packet.
    #[test]
    fn a_mark_is_repeated_until_cwr_if_the_sender_asks() {
        let mut receiver = Receiver::new(&CONFIG);
        let packet = |seq, ecn, cwr| DataFields {
            echo_until_cwr: true,
            cwr,
            ecn: Codepoint::from_bits(ecn),
            ..data(seq, 100, false)
        };
        let echoes: Vec<u8> =
            [(2, false), (3, false), (2, false), (0, false), (2, true), (2, false), (3, true), (2, false)]
                .iter()
                .zip(0..)
                .map(|((ecn, cwr), i)| take(&mut receiver, packet(i * 100, *ecn, *cwr))[0].1)
                .collect();
        assert_eq!(echoes, [2, 3, 3, 3, 2, 2, 3, 3]);
    }

    /// RFC2018 4: the newest first, at most four, and only where the sender reads them.
    #[test]
    fn blocks_report_what_is_kept_newest_first() {
        let mut receiver = Receiver::new(&ReceiverConfig { rwnd_segments: 20, ..CONFIG });
        let mut blocks = |seq: u32| {
            let data = DataFields { sack_permitted: true, ..data(seq, 100, false) };
            receiver.on_data(Time::ZERO, &data).ack.expect("at once").sack.as_slice().to_vec()
        };
        assert_eq!(blocks(200), [(200, 300)]);
        assert_eq!(blocks(400), [(400, 500), (200, 300)]);
        assert_eq!(blocks(300), [(200, 500)]);
        assert_eq!(blocks(700), [(700, 800), (200, 500)]);
        assert_eq!(blocks(900), [(900, 1_000), (700, 800), (200, 500)]);
        assert_eq!(blocks(1_100), [(1_100, 1_200), (900, 1_000), (700, 800), (200, 500)]);
        assert_eq!(blocks(1_300), [(1_300, 1_400), (1_100, 1_200), (900, 1_000), (700, 800)]);
        assert_eq!(blocks(700), [(700, 800), (1_300, 1_400), (1_100, 1_200), (900, 1_000)]);
        assert_eq!(blocks(0), [(700, 800), (1_300, 1_400), (1_100, 1_200), (900, 1_000)]);
        assert_eq!(blocks(100), [(700, 800), (1_300, 1_400), (1_100, 1_200), (900, 1_000)]);
        let silent = receiver.on_data(Time::ZERO, &data(1_500, 100, false));
        assert_eq!(silent.ack.map(|ack| ack.sack), Some(SackBlocks::NONE));
    }

    proptest! {
        /// docs/algorithms/window.md#dctcp-receiver, RFC8257 3.2: however ACKs are delayed, the bytes that
        /// they acknowledge with a mark are those of the marked packets.
        #[test]
        fn the_marked_share_is_exact(marks in prop::collection::vec(0_u8..4, 1..60), ack_every in 1_u32..6) {
            let mut receiver = Receiver::new(&ReceiverConfig { ack_every, ..CONFIG });
            let (mut told, mut acknowledged) = ([0; 4], 0);
            for (i, mark) in (0..).zip(&marks) {
                let fin = i + 1 == marks.len() as u32;
                let packet = DataFields { ecn: Codepoint::from_bits(*mark), ..data(i * 100, 100, fin) };
                for (ack, echo) in take(&mut receiver, packet) {
                    told[usize::from(echo)] += ack - acknowledged;
                    acknowledged = ack;
                }
            }
            for (mark, bytes) in told.iter().enumerate() {
                let met = marks.iter().filter(|met| usize::from(**met) == mark).count() as u32;
                prop_assert_eq!(*bytes, met * 100);
            }
        }
    }
}
