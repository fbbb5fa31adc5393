//! The end that opens a connection and sends data.

use p4cc_cc::Mark;
use p4cc_units::Time;

use super::{Control, Repetition, TcpConfig, tick, time_of_echo};
use crate::wire::{Ports, TcpFlags, TcpHeader, TcpOptions};
use crate::{AckFields, Codepoint, Segment, seq};

/// The client of one connection.
#[derive(Clone, Debug)]
pub struct TcpClient {
    config: TcpConfig,
    ports: Ports,
    /// Sequence number of the first byte of data: the initial one and 1 for SYN.
    first: u32,
    /// Next sequence number expected of the server, once it has answered.
    rcv_nxt: Option<u32>,
    /// One past the highest sequence number sent.
    snd_nxt: u32,
    /// Highest sequence number that the server acknowledged.
    snd_una: u32,
    /// The last byte of the flow and FIN, once sent: the sequence number of FIN.
    fin: Option<u32>,
    speaks_ecn: bool,
    /// TSval of the server's last segment (RFC7323 4.3, TS.Recent).
    ts_recent: u32,
    window: u16,
    repetition: Option<Repetition>,
    timeouts: u64,
}

/// What a segment of the server asks of the client's surroundings.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ClientStep {
    /// To be sent now.
    pub reply: Option<Control>,
    /// The connection is open from now on: the sender starts.
    pub is_opened: bool,
    /// What the segment says to the sender.
    pub ack: Option<AckFields>,
}

impl TcpClient {
    /// A client that has not opened its connection.
    pub fn new(config: &TcpConfig, ports: Ports, initial_seq: u32) -> Self {
        Self {
            config: *config,
            ports,
            first: initial_seq.wrapping_add(1),
            rcv_nxt: None,
            snd_nxt: initial_seq,
            snd_una: initial_seq,
            fin: None,
            speaks_ecn: config.profile.is_some(),
            ts_recent: 0,
            window: config.window(config.window_scale()),
            repetition: None,
            timeouts: 0,
        }
    }

    /// Opens the connection: what is to be sent now.
    pub fn open(&mut self, now: Time) -> Control {
        self.repetition = Some(Repetition::new(Control::Syn, now, &self.config));
        Control::Syn
    }

    /// All data is acknowledged: what is to be sent where no segment carried FIN.
    pub fn close(&mut self, now: Time) -> Option<Control> {
        if self.fin.is_some() || self.rcv_nxt.is_none() {
            return None;
        }
        self.repetition = Some(Repetition::new(Control::ClientFin, now, &self.config));
        Some(Control::ClientFin)
    }

    /// When [`Self::on_timer`] is to be called.
    pub fn deadline(&self) -> Option<Time> {
        self.repetition.map(|repetition| repetition.due)
    }

    /// What is to be sent again at `now`; a call at another time gives none.
    pub fn on_timer(&mut self, now: Time) -> Option<Control> {
        let again = self.repetition.as_mut()?.on_timer(now, &self.config);
        self.timeouts += u64::from(again.is_some());
        again
    }

    /// How often a SYN or FIN was sent again.
    pub const fn timeouts(&self) -> u64 {
        self.timeouts
    }

    /// ECN bits of a data segment: those that the sender chose, unless the server does not speak ECN.
    #[inline]
    pub const fn ecn(&self, segment: &Segment) -> Codepoint {
        if self.speaks_ecn { segment.ecn } else { Codepoint::NOT_ECT }
    }

    /// The header of a data segment that leaves at `now`, the connection being open. One that is too long has
    /// no bytes ([`crate::wire::encode_tcp`]).
    #[inline]
    pub fn data(&mut self, segment: &Segment, now: Time) -> TcpHeader {
        let start = self.first.wrapping_add(seq::wrap(segment.seq));
        let end = start.wrapping_add(segment.len);
        if segment.fin {
            self.fin = Some(end);
        }
        let next = end.wrapping_add(u32::from(segment.fin));
        self.snd_nxt = later(self.snd_nxt, next);
        let flags = TcpFlags::ACK
            | (TcpFlags::FIN | TcpFlags::PSH).when(segment.fin)
            | TcpFlags::CWR.when(segment.cwr && self.speaks_ecn);
        TcpHeader {
            ports: self.ports,
            seq: start,
            ack: self.rcv_nxt.unwrap_or_default(),
            flags,
            window: self.window,
            options: TcpOptions::timestamps(tick(now), self.ts_recent),
            payload_len: u16::try_from(segment.len).unwrap_or(u16::MAX),
        }
    }

    /// The header of a control segment that leaves at `now`.
    pub fn control(&mut self, what: Control, now: Time) -> TcpHeader {
        let (value, echo) = (tick(now), self.ts_recent);
        let header = TcpHeader {
            ports: self.ports,
            ack: self.rcv_nxt.unwrap_or_default(),
            flags: TcpFlags::ACK,
            window: self.window,
            options: TcpOptions::timestamps(value, echo),
            ..TcpHeader::default()
        };
        match what {
            Control::Syn => {
                self.snd_nxt = later(self.snd_nxt, self.first);
                let options = TcpOptions {
                    mss: Some(self.config.mss_bytes),
                    window_scale: Some(self.config.window_scale()),
                    sack_permitted: self.config.has_sack,
                    ..TcpOptions::timestamps(value, 0)
                };
                // RFC3168 6.1.1: "an ECN-setup SYN packet" has both bits.
                let flags =
                    TcpFlags::SYN | (TcpFlags::ECE | TcpFlags::CWR).when(self.config.profile.is_some());
                let seq = self.first.wrapping_sub(1);
                TcpHeader { seq, ack: 0, flags, window: self.config.window(0), options, ..header }
            }
            Control::ClientFin => {
                let fin = *self.fin.get_or_insert(self.snd_nxt);
                self.snd_nxt = later(self.snd_nxt, fin.wrapping_add(1));
                TcpHeader { seq: fin, flags: TcpFlags::FIN | TcpFlags::ACK, ..header }
            }
            _ => TcpHeader { seq: self.snd_nxt, ..header },
        }
    }

    /// Takes a segment of the server that arrives at `now`.
    #[inline]
    pub fn on_segment(&mut self, now: Time, segment: &TcpHeader) -> ClientStep {
        let flags = segment.flags;
        if !flags.has(TcpFlags::ACK) || flags.has(TcpFlags::RST) {
            return ClientStep::default();
        }
        if flags.has(TcpFlags::SYN) {
            return self.on_syn_ack(segment);
        }
        // More than one past what was expected: the server's FIN came without its SYN.
        let Some(rcv_nxt) = self.rcv_nxt else { return ClientStep::default() };
        let is_fin = flags.has(TcpFlags::FIN);
        if let Some(stamps) = segment.options.timestamps {
            self.ts_recent = stamps.value;
        }
        let advances = is_after(segment.ack, self.snd_una);
        if advances && !is_after(segment.ack, self.snd_nxt) {
            self.snd_una = segment.ack;
        }
        if self.fin.is_some_and(|fin| self.snd_una == fin.wrapping_add(1)) {
            self.repetition = None;
        }
        if is_fin && segment.seq == rcv_nxt {
            self.rcv_nxt = Some(rcv_nxt.wrapping_add(1));
        }
        // A FIN is no duplicate ACK (RFC5681 2), though it may acknowledge something new.
        let ack = (!is_fin || advances).then(|| self.ack_fields(now, segment));
        ClientStep { reply: is_fin.then_some(Control::ClientAck), is_opened: false, ack }
    }

    /// The server has answered, for the first time or again.
    #[cold]
    fn on_syn_ack(&mut self, segment: &TcpHeader) -> ClientStep {
        if segment.ack != self.first && self.rcv_nxt.is_none() {
            return ClientStep::default();
        }
        let is_opened = self.rcv_nxt.is_none();
        if is_opened {
            self.rcv_nxt = Some(segment.seq.wrapping_add(1));
            self.snd_una = self.first;
            self.repetition = None;
            if let Some(stamps) = segment.options.timestamps {
                self.ts_recent = stamps.value;
            }
            // RFC3168 6.1.1: "an ECN-setup SYN-ACK packet" has ECE and not CWR.
            let agrees = segment.flags.has(TcpFlags::ECE) && !segment.flags.has(TcpFlags::CWR);
            self.speaks_ecn &= agrees;
        }
        ClientStep { reply: Some(Control::ClientAck), is_opened, ack: None }
    }

    /// What an ACK says in positions of the flow.
    #[inline]
    fn ack_fields(&self, now: Time, segment: &TcpHeader) -> AckFields {
        // FIN takes a sequence number and no position.
        let covers_fin = self.fin.is_some_and(|fin| segment.ack == fin.wrapping_add(1));
        let level = if segment.flags.has(TcpFlags::ECE) {
            Mark::Kdc
        } else if segment.flags.has(TcpFlags::ESCE) {
            Mark::K
        } else {
            Mark::None
        };
        let profile = self.config.profile.filter(|_| self.speaks_ecn);
        AckFields {
            ack: segment.ack.wrapping_sub(self.first).wrapping_sub(u32::from(covers_fin)),
            ecn_echo: profile.map_or(Codepoint::NOT_ECT, |profile| profile.codepoint(level)),
            timestamp_echo_ns: time_of_echo(now, segment.options.timestamps),
            sack: segment.options.sack.shifted(self.first.wrapping_neg(), usize::MAX),
            ..AckFields::default()
        }
    }
}

/// Whether a sequence number lies behind another (RFC9293 3.4).
#[inline]
const fn is_after(one: u32, other: u32) -> bool {
    (one.wrapping_sub(other) as i32) > 0
}

#[inline]
const fn later(one: u32, other: u32) -> u32 {
    if is_after(other, one) { other } else { one }
}
