//! The receiving end of an RDMA-like flow: in order or not at all, or whatever comes
//! (docs/algorithms/substrate.md#go-back-n, #selective-repeat, docs/algorithms/dcqcn.md#dcqcn-receiver).
//!
//! Invariant: a packet waits for its ACK only while [`RdmaReceiver::deadline`] says until when.

use p4cc_units::{Span, Time};
use smallvec::SmallVec;

use super::config::{CnpScope, Notification, RdmaConfig, Recovery};
use super::credits::{CREDIT_BYTES, Given};
use crate::reassembly::{Insert, Reassembly};
use crate::wire::{Extension, ExtensionType};
use crate::{Codepoint, seq};

/// What a receiver keeps out of order: as far as a sender goes, and in so many pieces.
const KEPT_BYTES: u64 = 1 << 30;
const KEPT_PIECES: usize = 1 << 14;

/// What a data packet says to the receiver.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct RdmaData<'a> {
    /// Low 32 bits of the position of the first payload byte.
    pub seq: u32,
    /// Payload bytes.
    pub len: u32,
    /// The packet ends the flow.
    pub fin: bool,
    /// It is to be answered at once.
    pub ack_request: bool,
    /// ECN bits with which the packet arrived.
    pub ecn: Codepoint,
    /// When it was sent, by the sender's clock.
    pub timestamp_ns: u64,
    /// Its UDP source port, which its ACK echoes where the sender chose it.
    pub src_port: u16,
    /// What switches wrote into it.
    pub extension: Extension<'a>,
}

/// What an answer to a data packet carries behind its header.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Carries {
    /// The data packet's own extension, as it arrived.
    #[default]
    Echo,
    /// A notification: the number of marked packets since the last one.
    Marked([u8; 4]),
    /// What the sender may send.
    Credit([u8; CREDIT_BYTES]),
}

/// An ACK, a NACK or a notification.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct RdmaAck {
    /// Low 32 bits of the next byte expected.
    pub ack: u32,
    /// That byte is missing: go back to it.
    pub nack: bool,
    /// CE if any packet that this answers came with it; else the newest packet's ECN bits.
    pub ecn_echo: Codepoint,
    /// What it carries.
    pub carries: Carries,
    /// The timestamp of the newest packet that this answers.
    pub timestamp_echo_ns: u64,
    /// With selective repeat, low 32 bits of the first byte of that packet.
    pub answered: Option<u32>,
}

impl RdmaAck {
    /// The extension as a packet holds it; `data` is that of the data packet that this answers.
    pub fn extension<'a>(&'a self, data: Extension<'a>) -> Extension<'a> {
        match &self.carries {
            Carries::Echo => data,
            Carries::Marked(bytes) => Extension { kind: ExtensionType::CNP, bytes },
            Carries::Credit(bytes) => Extension { kind: ExtensionType::CREDIT, bytes },
        }
    }
}

/// An ACK that a timer sends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RdmaDueAck {
    /// What it says.
    pub ack: RdmaAck,
    /// The UDP source port of the packet that it answers.
    pub src_port: u16,
    extension_kind: ExtensionType,
    extension: SmallVec<[u8; 64]>,
}

impl RdmaDueAck {
    /// The extension of the packet that it answers, which it echoes.
    pub fn extension(&self) -> Extension<'_> {
        Extension { kind: self.extension_kind, bytes: &self.extension }
    }
}

/// The answer to one data packet.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct RdmaReceipt {
    /// A notification to send back.
    pub notification: Option<RdmaAck>,
    /// An ACK or NACK to send back, behind the notification.
    pub ack: Option<RdmaAck>,
    /// Bytes that are now in order and were not before.
    pub delivered_bytes: u64,
    /// The flow is whole with this packet; true at most once.
    pub completed: bool,
}

impl RdmaReceipt {
    /// What to send back, in order.
    pub fn answers(&self) -> impl Iterator<Item = RdmaAck> + use<> {
        self.notification.into_iter().chain(self.ack)
    }
}

/// The newest of the packets that wait for their ACK: when it came, and what its ACK echoes.
#[derive(Clone, Debug)]
struct Waiting {
    arrived: Time,
    seq: u32,
    timestamp_ns: u64,
    ecn: Codepoint,
    src_port: u16,
    extension_kind: ExtensionType,
    extension: SmallVec<[u8; 64]>,
}

/// The receiving end of one flow.
#[derive(Clone, Debug)]
pub struct RdmaReceiver {
    /// Packets, or bytes, for which there is an ACK.
    ack_every: u32,
    ack_bytes: u64,
    ack_delay: Span,
    /// Until when packets wait for their ACK, if any do, and the newest that ever did.
    waits_until: Option<Time>,
    waiting: Option<Box<Waiting>>,
    nack_interval: Span,
    /// Shortest time between notifications, where they are packets.
    cnp_interval: Option<Span>,
    expected: u64,
    /// With go-back-0, bytes of a message.
    message: Option<u64>,
    /// The highest that `expected` ever was before it went back.
    highest: u64,
    /// With selective repeat.
    kept: Option<Reassembly>,
    flow_end: Option<u64>,
    complete: bool,
    /// Packets in order since the last ACK, their bytes, and whether one of them was marked.
    unanswered: u32,
    unanswered_bytes: u64,
    saw_ce: bool,
    /// The last NACK: for which byte, and when the next one may follow.
    nacked: Option<(u64, Time)>,
    /// When the next notification may follow, and marked packets since the last.
    cnp_after: Time,
    marked_pkts: u32,
    /// Where a receiver algorithm lets the sender send.
    given: Option<Given>,
}

impl RdmaReceiver {
    /// A receiver at the start of a flow.
    pub fn new(config: &RdmaConfig) -> Self {
        let is_packet = config.notification == Notification::Packet;
        Self {
            ack_every: if config.ack_bytes.is_some() && config.ack_every == 1 {
                u32::MAX
            } else {
                config.ack_every
            },
            ack_bytes: config.ack_bytes.map_or(u64::MAX, u64::from),
            ack_delay: config.ack_delay(),
            waits_until: None,
            waiting: None,
            nack_interval: Span::from_ns(config.nack_interval_ns),
            // An interval that flows share is kept by their network card.
            cnp_interval: is_packet.then(|| match config.cnp_scope {
                CnpScope::Flow => Span::from_ns(config.cnp_interval_ns),
                CnpScope::Destination | CnpScope::Port => Span::ZERO,
            }),
            expected: 0,
            message: config.message(),
            highest: 0,
            kept: (config.recovery == Recovery::SelectiveRepeat)
                .then(|| Reassembly::new(KEPT_BYTES, KEPT_PIECES)),
            flow_end: None,
            complete: false,
            unanswered: 0,
            unanswered_bytes: 0,
            saw_ce: false,
            nacked: None,
            cnp_after: Time::ZERO,
            marked_pkts: 0,
            given: None,
        }
    }

    /// A receiver algorithm lets the sender send; so many bytes leave unasked.
    pub fn give_credit(&mut self, unasked_bytes: u64) {
        self.given = Some(Given::new(unasked_bytes));
    }

    /// The position that the low 32 bits of a data packet's stand for.
    pub fn position(&self, seq: u32) -> Option<u64> {
        seq::unwrap(seq, self.expected)
    }

    /// Whether all of the flow is there.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// Takes a request for credit, which has no data: the answers say what is there, and what was given, as
    /// the last packet that said so may be lost.
    pub fn on_request(&mut self, data: &RdmaData<'_>) -> impl Iterator<Item = RdmaAck> + use<> {
        let credit = self.given.filter(|_| !self.complete).map(|given| self.credit(given.to_wire()));
        core::iter::once(self.ack(data)).chain(credit)
    }

    /// Lets the sender send so many bytes more.
    pub fn pull(&mut self, bytes: u32) -> Option<RdmaAck> {
        let given = self.given.as_mut().filter(|_| !self.complete)?;
        given.pull(self.expected, bytes.into());
        let credit = given.to_wire();
        Some(self.credit(credit))
    }

    /// Lets the sender send up to a byte, in a traffic class, but at most 2^30 bytes ahead of what has
    /// arrived; none where it may already.
    pub fn grant(&mut self, up_to: u64, class: Option<u8>) -> Option<RdmaAck> {
        let given = self.given.as_mut().filter(|_| !self.complete)?;
        let credit = given.grant(self.expected, up_to, class).then(|| given.to_wire())?;
        Some(self.credit(credit))
    }

    fn credit(&self, credit: [u8; CREDIT_BYTES]) -> RdmaAck {
        RdmaAck { ack: seq::wrap(self.expected), carries: Carries::Credit(credit), ..RdmaAck::default() }
    }

    /// Bytes in order so far; of what goes back, the most that ever were.
    pub fn delivered_bytes(&self) -> u64 {
        self.expected.max(self.highest)
    }

    /// Takes a data packet that arrives at `now` and answers it.
    pub fn on_data(&mut self, now: Time, data: &RdmaData<'_>) -> RdmaReceipt {
        let mut receipt = RdmaReceipt { notification: self.notify(now, data), ..RdmaReceipt::default() };
        let Some(start) = seq::unwrap(data.seq, self.expected) else { return receipt };
        self.saw_ce |= data.ecn == Codepoint::CE;
        if self.kept.is_some() {
            return self.keep(now, start, data, receipt);
        }
        // Its sender waits for the return of a rate request.
        let awaits = data.extension.kind == ExtensionType::RATE_REQUEST;
        if start > self.expected {
            let nack = self.nack(now, data);
            receipt.ack = nack.or_else(|| awaits.then(|| self.ack(data)));
            return receipt;
        }
        if start < self.expected || self.complete {
            // Sent again although it arrived: the ACK was lost, or the sender went back too far.
            receipt.ack = Some(self.ack(data));
            return receipt;
        }
        self.expected = start + u64::from(data.len);
        receipt.delivered_bytes = self.expected.saturating_sub(start.max(self.highest));
        if data.fin {
            self.flow_end = Some(self.expected);
        }
        self.complete = self.flow_end == Some(self.expected);
        receipt.completed = self.complete;
        self.count_unanswered(data);
        if self.owes_ack() || data.ack_request || self.complete || awaits {
            receipt.ack = Some(self.ack(data));
        } else {
            self.wait(now, data);
        }
        receipt
    }

    /// Takes the header of a data packet whose payload a switch cut off: asks for the packet again, or
    /// acknowledges what is there already (docs/algorithms/trimming.md#trimmed-data).
    pub fn on_trimmed(&mut self, now: Time, data: &RdmaData<'_>) -> Option<RdmaAck> {
        let start = seq::unwrap(data.seq, self.expected)?;
        if let Some(given) = &mut self.given {
            given.trimmed(data.len.into());
        }
        let Some(kept) = &self.kept else {
            return if start < self.expected { Some(self.ack(data)) } else { self.nack(now, data) };
        };
        let end = start + u64::from(data.len);
        let is_there = end <= self.expected || kept.piece_at(start).is_some_and(|(_, last)| end <= last);
        Some(RdmaAck { nack: !is_there, answered: Some(data.seq), ..self.ack(data) })
    }

    /// An ACK is owed for this packet and those before it.
    fn wait(&mut self, now: Time, data: &RdmaData<'_>) {
        self.waits_until.get_or_insert(now + self.ack_delay);
        let waiting = Waiting {
            arrived: now,
            seq: data.seq,
            timestamp_ns: data.timestamp_ns,
            ecn: data.ecn,
            src_port: data.src_port,
            extension_kind: data.extension.kind,
            extension: SmallVec::from_slice(data.extension.bytes),
        };
        match &mut self.waiting {
            Some(before) => **before = waiting,
            None => self.waiting = Some(Box::new(waiting)),
        }
    }

    /// When [`Self::on_timer`] is to be called; none if no packet waits for its ACK.
    #[inline]
    pub fn deadline(&self) -> Option<Time> {
        self.waits_until
    }

    /// The ACK that is due at `now`, and the extension of the packet that it answers; a call at another time
    /// gives none. Its timestamp is later by the time that the packet waited here, so that no round-trip time
    /// contains it.
    pub fn on_timer(&mut self, now: Time) -> Option<RdmaDueAck> {
        self.waits_until.take_if(|until| *until <= now)?;
        let waiting = self.waiting.as_deref()?;
        let Waiting { arrived, seq, ecn, src_port, extension_kind, .. } = *waiting;
        let extension = waiting.extension.clone();
        let timestamp_ns = waiting.timestamp_ns.saturating_add(now.since(arrived).as_ns());
        let answered = self.kept.is_some().then_some(seq);
        let data = RdmaData { seq, timestamp_ns, ecn, ..RdmaData::default() };
        let ack = RdmaAck { answered, ..self.ack(&data) };
        Some(RdmaDueAck { ack, src_port, extension_kind, extension })
    }

    /// Takes a packet wherever it belongs. One that lies out of order, fills a hole, was there already or is
    /// marked is answered at once; one beyond the end of the flow, or for which there is no room, is not.
    fn keep(&mut self, now: Time, start: u64, data: &RdmaData<'_>, mut receipt: RdmaReceipt) -> RdmaReceipt {
        let Some(kept) = &mut self.kept else { return receipt };
        let end = start + u64::from(data.len);
        let had_holes = kept.has_holes();
        if self.flow_end.is_some_and(|last| last < end || data.fin && last != end)
            || data.fin && end < kept.highest()
        {
            return receipt;
        }
        let insert = kept.insert(start, end);
        self.expected = kept.next();
        match insert {
            Insert::Refused => return receipt,
            Insert::Advanced(bytes) => receipt.delivered_bytes = bytes,
            Insert::Kept | Insert::Duplicate => {}
        }
        if data.fin {
            self.flow_end = Some(end);
        }
        receipt.completed = !self.complete && self.flow_end == Some(self.expected);
        self.complete |= receipt.completed;
        self.count_unanswered(data);
        let is_in_order = !had_holes && matches!(insert, Insert::Advanced(_));
        let waits = is_in_order && data.ecn != Codepoint::CE && !data.ack_request && !receipt.completed;
        if !waits || self.owes_ack() {
            receipt.ack = Some(RdmaAck { answered: Some(data.seq), ..self.ack(data) });
        } else {
            self.wait(now, data);
        }
        receipt
    }

    #[inline]
    fn count_unanswered(&mut self, data: &RdmaData<'_>) {
        self.unanswered += 1;
        self.unanswered_bytes += u64::from(data.len);
    }

    #[inline]
    fn owes_ack(&self) -> bool {
        self.unanswered >= self.ack_every || self.unanswered_bytes >= self.ack_bytes
    }

    fn ack(&mut self, data: &RdmaData<'_>) -> RdmaAck {
        self.unanswered = 0;
        self.unanswered_bytes = 0;
        self.waits_until = None;
        let saw_ce = core::mem::take(&mut self.saw_ce);
        RdmaAck {
            ack: seq::wrap(self.expected),
            nack: false,
            ecn_echo: if saw_ce { Codepoint::CE } else { data.ecn },
            carries: Carries::Echo,
            timestamp_echo_ns: data.timestamp_ns,
            answered: None,
        }
    }

    /// docs/algorithms/substrate.md#go-back-n: "on a gap it sends a NACK with the expected sequence, at most
    /// one per 500 us for the same expected value".
    fn nack(&mut self, now: Time, data: &RdmaData<'_>) -> Option<RdmaAck> {
        if self.nacked.is_some_and(|(byte, after)| byte == self.expected && now < after) {
            return None;
        }
        if let Some(message) = self.message {
            self.highest = self.highest.max(self.expected);
            self.expected -= self.expected % message;
        }
        self.nacked = Some((self.expected, now + self.nack_interval));
        Some(RdmaAck { nack: true, ..self.ack(data) })
    }

    /// A notification was not sent after all: its marked packets count for the next one.
    pub fn withhold(&mut self, notification: &RdmaAck) {
        if let Carries::Marked(bytes) = notification.carries {
            self.marked_pkts = self.marked_pkts.saturating_add(u32::from_be_bytes(bytes));
        }
    }

    /// docs/algorithms/dcqcn.md#dcqcn-receiver: "on a CE packet
    /// send a CNP for that flow unless one was sent within 50 us".
    fn notify(&mut self, now: Time, data: &RdmaData<'_>) -> Option<RdmaAck> {
        let interval = self.cnp_interval.filter(|_| data.ecn == Codepoint::CE)?;
        self.marked_pkts = self.marked_pkts.saturating_add(1);
        if now < self.cnp_after {
            return None;
        }
        self.cnp_after = now + interval;
        let marked_pkts = core::mem::take(&mut self.marked_pkts);
        Some(RdmaAck {
            ack: seq::wrap(self.expected),
            nack: false,
            ecn_echo: Codepoint::CE,
            carries: Carries::Marked(marked_pkts.to_be_bytes()),
            timestamp_echo_ns: data.timestamp_ns,
            answered: None,
        })
    }
}
