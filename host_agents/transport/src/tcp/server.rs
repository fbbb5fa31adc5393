//! The end that takes a connection and receives data.

use p4cc_cc::Mark;
use p4cc_units::Time;

use super::{Control, Repetition, TcpConfig, tick};
use crate::wire::{MAX_TCP_SACK_BLOCKS, Ports, TcpFlags, TcpHeader, TcpOptions};
use crate::{AckFields, Codepoint, DataFields};

/// Where a connection stands at the server (RFC9293 3.3.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Listen,
    SynReceived,
    Established,
    /// FIN was sent in both directions, and the server's is not acknowledged yet.
    LastAck,
    Closed,
}

/// The server of one connection.
#[derive(Clone, Debug)]
pub struct TcpServer {
    config: TcpConfig,
    /// As the server sends them.
    ports: Ports,
    /// Sequence number behind SYN, where the server's FIN stands.
    fin: u32,
    /// Sequence number of the client's first byte of data.
    first: u32,
    state: State,
    speaks_ecn: bool,
    has_sack: bool,
    /// Position of the client's FIN, once it arrived.
    client_fin: Option<u32>,
    /// Acknowledgement number of the last segment sent.
    last_ack: u32,
    /// TSval of the segment that advanced it (RFC7323 4.3, TS.Recent).
    ts_recent: u32,
    window: u16,
    repetition: Option<Repetition>,
}

/// What a segment of the client asks of the server's surroundings.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ServerStep {
    /// To be sent now.
    pub reply: Option<Control>,
    /// What the segment says to the receiver.
    pub data: Option<DataFields>,
}

impl TcpServer {
    /// A server that waits for the client, whose `ports` are given as the client sends them.
    pub fn new(config: &TcpConfig, ports: Ports, initial_seq: u32) -> Self {
        Self {
            config: *config,
            ports: ports.reversed(),
            fin: initial_seq.wrapping_add(1),
            first: 0,
            state: State::Listen,
            speaks_ecn: false,
            has_sack: false,
            client_fin: None,
            last_ack: 0,
            ts_recent: 0,
            window: config.window(config.window_scale()),
            repetition: None,
        }
    }

    /// The receiver has the whole flow: what is to be sent now.
    pub fn close(&mut self, now: Time) -> Option<Control> {
        if self.state != State::Established {
            return None;
        }
        self.state = State::LastAck;
        self.repetition = Some(Repetition::new(Control::ServerFin, now, &self.config));
        Some(Control::ServerFin)
    }

    /// When [`Self::on_timer`] is to be called.
    pub fn deadline(&self) -> Option<Time> {
        self.repetition.map(|repetition| repetition.due)
    }

    /// What is to be sent again at `now`; a call at another time gives none.
    pub fn on_timer(&mut self, now: Time) -> Option<Control> {
        self.repetition.as_mut()?.on_timer(now, &self.config)
    }

    /// The header of an ACK that leaves at `now`.
    #[inline]
    pub fn ack(&mut self, fields: &AckFields, now: Time) -> TcpHeader {
        // FIN takes a sequence number and no position.
        let covers_fin = self.client_fin == Some(fields.ack);
        let ack = self.first.wrapping_add(fields.ack).wrapping_add(u32::from(covers_fin));
        if ack != self.last_ack {
            self.last_ack = ack;
            // RFC7323 4.3: what acknowledges nothing new echoes what the ACK before it did. The low 32 bits
            // are the client's TSval.
            self.ts_recent = fields.timestamp_echo_ns as u32;
        }
        let level = self.config.profile.filter(|_| self.speaks_ecn);
        let level = level.map_or(Mark::None, |profile| profile.mark(fields.ecn_echo));
        let mut options = TcpOptions::timestamps(tick(now), self.ts_recent);
        if !fields.sack.is_empty() {
            options.sack = fields.sack.shifted(self.first, MAX_TCP_SACK_BLOCKS);
        }
        TcpHeader {
            ports: self.ports,
            seq: self.snd_nxt(),
            ack,
            flags: TcpFlags::ACK
                | TcpFlags::ECE.when(level == Mark::Kdc)
                | TcpFlags::ESCE.when(level == Mark::K),
            window: self.window,
            options,
            payload_len: 0,
        }
    }

    /// The header of a control segment that leaves at `now`.
    pub fn control(&mut self, what: Control, now: Time) -> TcpHeader {
        let header = TcpHeader {
            ports: self.ports,
            seq: self.snd_nxt(),
            ack: self.last_ack,
            flags: TcpFlags::ACK,
            window: self.window,
            options: TcpOptions::timestamps(tick(now), self.ts_recent),
            payload_len: 0,
        };
        match what {
            Control::SynAck => TcpHeader {
                seq: self.fin.wrapping_sub(1),
                flags: TcpFlags::SYN | TcpFlags::ACK | TcpFlags::ECE.when(self.speaks_ecn),
                window: self.config.window(0),
                options: TcpOptions {
                    mss: Some(self.config.mss_bytes),
                    window_scale: Some(self.config.window_scale()),
                    sack_permitted: self.has_sack,
                    ..header.options
                },
                ..header
            },
            Control::ServerFin => TcpHeader { seq: self.fin, flags: TcpFlags::FIN | TcpFlags::ACK, ..header },
            _ => header,
        }
    }

    /// Next sequence number of the server, which sends SYN and FIN alone.
    const fn snd_nxt(&self) -> u32 {
        self.fin.wrapping_add(matches!(self.state, State::LastAck | State::Closed) as u32)
    }

    /// Takes a segment of the client that arrives at `now` with these ECN bits.
    #[inline]
    pub fn on_segment(&mut self, now: Time, segment: &TcpHeader, ecn: Codepoint) -> ServerStep {
        if segment.flags.has(TcpFlags::SYN | TcpFlags::RST) {
            return self.on_syn(now, segment);
        }
        if self.state != State::Established {
            self.on_answer(segment);
        }
        let is_open = !matches!(self.state, State::Listen | State::SynReceived);
        let fin = segment.flags.has(TcpFlags::FIN);
        if !is_open || (segment.payload_len == 0 && !fin) {
            return ServerStep::default();
        }
        let (seq, len) = (segment.seq.wrapping_sub(self.first), u32::from(segment.payload_len));
        if fin {
            self.client_fin = Some(seq.wrapping_add(len));
        }
        let data = DataFields {
            seq,
            len,
            fin,
            cwr: segment.flags.has(TcpFlags::CWR),
            sack_permitted: self.has_sack,
            echo_until_cwr: self.config.echo_until_cwr,
            ecn,
            timestamp_ns: segment.options.timestamps.map_or(0, |stamps| u64::from(stamps.value)),
        };
        ServerStep { reply: None, data: Some(data) }
    }

    /// An ACK may complete the handshake, or the end of the connection.
    fn on_answer(&mut self, segment: &TcpHeader) {
        let acks = |seq: u32| segment.flags.has(TcpFlags::ACK) && segment.ack == seq;
        match self.state {
            State::SynReceived if acks(self.fin) => self.state = State::Established,
            State::LastAck if acks(self.fin.wrapping_add(1)) => self.state = State::Closed,
            _ => return,
        }
        self.repetition = None;
    }

    /// A SYN: the first one, or one that was sent again.
    #[cold]
    fn on_syn(&mut self, now: Time, segment: &TcpHeader) -> ServerStep {
        let flags = segment.flags;
        if flags.has(TcpFlags::RST | TcpFlags::ACK) {
            return ServerStep::default();
        }
        let first = segment.seq.wrapping_add(1);
        let reply = match self.state {
            State::Listen => {
                (self.state, self.first, self.last_ack) = (State::SynReceived, first, first);
                self.ts_recent = segment.options.timestamps.map_or(0, |stamps| stamps.value);
                self.has_sack = self.config.has_sack && segment.options.sack_permitted;
                let asks_for_ecn = flags.has_all(TcpFlags::ECE | TcpFlags::CWR);
                self.speaks_ecn = self.config.profile.is_some() && asks_for_ecn;
                self.repetition = Some(Repetition::new(Control::SynAck, now, &self.config));
                Control::SynAck
            }
            State::SynReceived if first == self.first => Control::SynAck,
            // RFC9293 3.10.7.4: a SYN within a connection is answered by an ACK.
            _ => Control::ServerAck,
        };
        ServerStep { reply: Some(reply), data: None }
    }
}
