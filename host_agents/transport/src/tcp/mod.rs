//! TCP around the window transport: the two ends of a connection (RFC9293, RFC7323, RFC2018, RFC3168,
//! RFC8257).
//!
//! [`TcpClient`] opens a connection for a [`crate::WindowSender`], [`TcpServer`] takes it for a
//! [`crate::Receiver`]. They turn segments and ACKs of the transport into TCP headers and back, and own what
//! TCP has beside them: the handshake, initial sequence numbers, negotiation, FIN. Loss recovery, windows and
//! marks stay with the transport, which does not know what is on the wire.
//!
//! | our header | TCP |
//! |---|---|
//! | position of a byte | sequence number: initial one, 1 for SYN, position |
//! | ECN echo | ECE for CE, ESCE for the lower of two levels |
//! | SACK extension | SACK option, three blocks beside timestamps |
//! | timestamp, echo | timestamp option in ticks of a nanosecond, 32 bits |
//! | flags SACK-PERMITTED, ECHO-UNTIL-CWR | negotiated or configured at both ends |
//!
//! Invariants: no end sends data before the handshake is complete; a segment that is not of the connection
//! changes nothing.

mod client;
mod config;
mod server;

pub use client::{ClientStep, TcpClient};
pub use config::TcpConfig;
pub use server::{ServerStep, TcpServer};

use p4cc_units::{Span, Time};

use crate::wire::Timestamps;

/// A segment without data that opens or closes a connection.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Control {
    /// The client opens.
    Syn,
    /// The client's ACK of the server's SYN or FIN.
    ClientAck,
    /// The client closes without data.
    ClientFin,
    /// The server answers a SYN.
    SynAck,
    /// The server's ACK of what is no data.
    ServerAck,
    /// The server closes.
    ServerFin,
}

impl Control {
    /// Whether the client sends it.
    #[inline]
    pub const fn is_from_client(self) -> bool {
        matches!(self, Self::Syn | Self::ClientAck | Self::ClientFin)
    }
}

/// The repetition of one control segment until it is answered (RFC6298 5.5, 5.7).
#[derive(Clone, Copy, Debug)]
struct Repetition {
    what: Control,
    due: Time,
    rto: Span,
}

impl Repetition {
    fn new(what: Control, now: Time, config: &TcpConfig) -> Self {
        Self { what, due: now + config.rto_initial, rto: config.rto_initial }
    }

    /// What is to be sent again at `now`, if it is due.
    fn on_timer(&mut self, now: Time, config: &TcpConfig) -> Option<Control> {
        if now < self.due {
            return None;
        }
        self.rto = (self.rto * 2).min(config.rto_max);
        self.due = now + self.rto;
        Some(self.what)
    }
}

/// The clock of timestamps: nanoseconds, 32 bits.
#[inline]
const fn tick(now: Time) -> u32 {
    // Truncation is the definition: it wraps after 4.3 s.
    now.as_ns() as u32
}

/// When an echoed timestamp was sent: the last time with these ticks up to `now`. Without one, a time from
/// the future, which no sender takes for its own.
#[inline]
fn time_of_echo(now: Time, stamps: Option<Timestamps>) -> u64 {
    stamps.map_or(u64::MAX, |stamps| {
        let age = tick(now).wrapping_sub(stamps.echo);
        now.as_ns().checked_sub(u64::from(age)).unwrap_or(u64::MAX)
    })
}
