//! Timers of nodes: what a timer event is for, a pause of PFC (IEEE 802.1Qbb) that expires among others.
//!
//! The kind of a timer stands in the port field of its event, so it orders simultaneous timers of one node.
//! The order of the variants below is that order, and must not change.

/// A timer, with what it concerns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Timer {
    /// The timer of a flow's sender: retransmission and what else the transport waits for.
    Sender { flow: u32 },
    /// The receiver of a flow owes a delayed ACK.
    DelayedAck { flow: u32 },
    /// A paced flow of a host may send.
    Pacing { host: u32 },
    /// Deadlock detection of the whole network; the node has no meaning.
    DeadlockCheck,
    /// The application of a flow closes it.
    Close { flow: u32 },
    /// A pause (PFC) of a priority may expire at a port: of the switch that asked for it, or of the node that
    /// obeys it.
    PauseExpiry { port: u32, priority: u8 },
    /// The link of a channel that leaves the node goes down or comes up.
    LinkChange { channel: u32, up: bool },
    /// The kernel of a host takes up what arrived for a flow, at its receiver or at its sender.
    Kernel { flow: u32, at_receiver: bool },
    /// The application of a flow changes its deadline.
    DeadlineChange { flow: u32 },
    /// Packets of a user's source are due.
    UserPacket { source: u32 },
    /// The switch loses all that it has.
    PowerOff,
    /// The switch asked to be woken.
    Wake,
    /// A network card sends needless pause frames, or stops.
    Storm { storm: u32 },
    /// The watchdog of a switch checks a port and priority.
    Watchdog { port: u32, priority: u8 },
    /// The time of a job's operation has come: of its start, or of its end.
    Operation { operation: u32 },
    /// The receiver of a host has something to do.
    Receiver { host: u32 },
    /// The network card of a host is done with an answer.
    Card { host: u32 },
    /// The host has taken a packet from its network card.
    Taken { host: u32 },
}

impl Timer {
    /// The number of its kind, which stands in the port field of the event, and the event's subject.
    #[inline]
    pub fn encode(self) -> (u32, u32) {
        match self {
            Self::Sender { flow } => (0, flow),
            Self::DelayedAck { flow } => (1, flow),
            Self::Pacing { host } => (2, host),
            Self::DeadlockCheck => (3, 0),
            Self::Close { flow } => (4, flow),
            Self::PauseExpiry { port, priority } => (5, port << 3 | u32::from(priority & 7)),
            Self::LinkChange { channel, up } => (6, channel << 1 | u32::from(up)),
            Self::Kernel { flow, at_receiver } => (7, flow << 1 | u32::from(at_receiver)),
            Self::DeadlineChange { flow } => (8, flow),
            Self::UserPacket { source } => (9, source),
            Self::PowerOff => (10, 0),
            Self::Wake => (11, 0),
            Self::Storm { storm } => (12, storm),
            Self::Watchdog { port, priority } => (13, port << 3 | u32::from(priority & 7)),
            Self::Operation { operation } => (14, operation),
            Self::Receiver { host } => (15, host),
            Self::Card { host } => (16, host),
            Self::Taken { host } => (17, host),
        }
    }

    /// The timer that [`Self::encode`] gave these numbers for.
    #[inline]
    pub fn decode(number: u32, subject: u32) -> Self {
        match number {
            1 => Self::DelayedAck { flow: subject },
            2 => Self::Pacing { host: subject },
            3 => Self::DeadlockCheck,
            4 => Self::Close { flow: subject },
            5 => Self::PauseExpiry { port: subject >> 3, priority: (subject & 7) as u8 },
            6 => Self::LinkChange { channel: subject >> 1, up: subject & 1 == 1 },
            7 => Self::Kernel { flow: subject >> 1, at_receiver: subject & 1 == 1 },
            8 => Self::DeadlineChange { flow: subject },
            9 => Self::UserPacket { source: subject },
            10 => Self::PowerOff,
            11 => Self::Wake,
            12 => Self::Storm { storm: subject },
            13 => Self::Watchdog { port: subject >> 3, priority: (subject & 7) as u8 },
            14 => Self::Operation { operation: subject },
            15 => Self::Receiver { host: subject },
            16 => Self::Card { host: subject },
            17 => Self::Taken { host: subject },
            _ => Self::Sender { flow: subject },
        }
    }

    /// The flow whose ends it concerns.
    #[inline]
    pub fn flow(self) -> Option<u32> {
        match self {
            Self::Sender { flow } | Self::DelayedAck { flow } | Self::Kernel { flow, .. } => Some(flow),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_come_back_from_their_numbers_in_order() {
        let timers = [
            Timer::Sender { flow: 7 },
            Timer::DelayedAck { flow: u32::MAX },
            Timer::Pacing { host: 3 },
            Timer::DeadlockCheck,
            Timer::Close { flow: 0 },
            Timer::PauseExpiry { port: 511, priority: 6 },
            Timer::LinkChange { channel: 9, up: true },
            Timer::LinkChange { channel: 9, up: false },
            Timer::Kernel { flow: 5, at_receiver: true },
            Timer::Kernel { flow: 5, at_receiver: false },
            Timer::DeadlineChange { flow: 5 },
            Timer::UserPacket { source: 6 },
            Timer::PowerOff,
            Timer::Wake,
            Timer::Storm { storm: 8 },
            Timer::Watchdog { port: 511, priority: 6 },
            Timer::Operation { operation: u32::MAX },
            Timer::Receiver { host: 4 },
            Timer::Card { host: 5 },
            Timer::Taken { host: 6 },
        ];
        for timer in timers {
            let (number, subject) = timer.encode();
            assert_eq!(Timer::decode(number, subject), timer);
        }
        assert!(timers.map(|timer| timer.encode().0).is_sorted(), "the order of simultaneous timers");
    }
}
