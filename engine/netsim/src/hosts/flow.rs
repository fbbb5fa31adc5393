//! A flow in a run: the state of its sender and its receiver, and what results tell about it.

use p4cc_cc::{HeaderField, Mark};
use p4cc_transport::rdma::{RdmaReceiver, RdmaSender, ReadSource};
use p4cc_transport::wire::TrafficClass;
use p4cc_transport::{AckFields, DataFields, EcnProfile, Receiver, Snapshot, WindowSender};
use p4cc_units::{Span, Time};

use crate::hosts::connections::TcpEnds;
use crate::hosts::kernel::Kernel;
use crate::hosts::nic::AnswerTimes;
use crate::hosts::round_robin::Position;
use crate::hosts::rtt_noise::RttNoise;

/// Both ends of a flow.
#[expect(clippy::large_enum_variant, reason = "window flows stay in place, without a step through a pointer")]
#[derive(Debug)]
pub(crate) enum Ends {
    Window { sender: WindowSender, receiver: Receiver },
    Rdma(Box<RdmaEnds>),
}

/// Both ends of an RDMA-like flow.
#[derive(Debug)]
pub(crate) struct RdmaEnds {
    pub sender: RdmaSender,
    pub receiver: RdmaReceiver,
    pub ack_class: TrafficClass,
    pub noise: Option<RttNoise>,
    /// Its position in the round robin of its host.
    pub position: Position,
    /// Of a read: the end that has the data; sender and receiver are both the reader's.
    pub read: Option<ReadEnd>,
    /// Where the receiver's network card takes time for answers, or bounds notifications of several flows.
    pub nic: Option<AnswerTimes>,
}

/// The end of a read that has the data.
#[derive(Debug)]
pub(crate) struct ReadEnd {
    pub source: ReadSource,
    /// Its position in the round robin of its host, while it has something to send.
    pub position: Option<Position>,
}

impl RdmaEnds {
    /// The host's receiver lets the sender send; so many bytes leave unasked, and so many does it ask for at
    /// once, if it asks.
    pub fn await_credit(&mut self, unasked_bytes: u64, asks_up_to: Option<u64>) {
        self.sender.await_credit(unasked_bytes);
        if let Some(most_bytes) = asks_up_to {
            self.sender.ask_up_to(most_bytes);
        }
        self.receiver.give_credit(unasked_bytes);
    }

    /// Its time in a round robin has come: in that of the end which has the data, or of its sender.
    #[inline]
    pub fn set_ready(&mut self, has_data: bool) {
        match self.read.as_mut().filter(|_| has_data) {
            None => self.position.is_ready = true,
            Some(end) => {
                if let Some(position) = &mut end.position {
                    position.is_ready = true;
                }
            }
        }
    }
}

/// What the ends of a flow have to do.
#[derive(Clone, Copy)]
pub(crate) enum Verb {
    /// The application opens the flow.
    Open,
    /// The application has more data to send.
    Supply(u64),
    /// The application has no new data any more.
    Close,
    /// The timer of the sender is due.
    SenderTimer,
    /// The receiver may owe a delayed ACK; it does not if another one was sent meanwhile.
    ReceiverTimer,
}

/// A flow: both ends, and what results show about it.
#[derive(Debug)]
pub(crate) struct Flow {
    pub ends: Ends,
    /// What waits for the kernel of the sending host, where it takes time.
    pub acks_in_kernel: Option<Box<Kernel<AckFields>>>,
    /// What waits for the kernel of the receiving host, where it takes time.
    pub data_in_kernel: Option<Box<Kernel<DataFields>>>,
    /// How to read the marks that the receiver sees.
    pub profile: Option<EcnProfile>,
    /// Earliest start, random part included; of a flow that waits for another, when that let it start.
    pub start: Option<Time>,
    /// Its application acted for the first time.
    pub has_begun: bool,
    /// Time from its start by which it should be complete; its application may change it once.
    pub deadline: Option<Span>,
    /// When its timer is due; events for other times are void.
    pub timer: Option<Time>,
    pub finish: Option<Time>,
    /// When it ended itself early, by its algorithm.
    pub quenched: Option<Time>,
    /// When the receiver had everything.
    pub received: Option<Time>,
    /// The user's headers that came last to the receiver, where it echoes them.
    pub echo: Option<Box<[u8]>>,
    pub data_pkts: u64,
    /// Data packets that arrived with a mark of level 1 (K) and level 2 (K_dc).
    pub marks: [u64; 2],
    /// Its packets are of IPv6.
    pub is_ipv6: bool,
    /// Both ends of its connection, if it speaks TCP.
    pub tcp: Option<Box<TcpEnds>>,
}

impl Flow {
    /// Whether the receiver asks for the data.
    pub fn is_read(&self) -> bool {
        matches!(&self.ends, Ends::Rdma(ends) if ends.read.is_some())
    }

    /// State of the sender.
    pub fn snapshot(&self) -> Snapshot {
        match &self.ends {
            Ends::Window { sender, .. } => {
                let opening = self.tcp.as_ref().map_or(0, |ends| ends.client.timeouts());
                let snapshot = sender.snapshot();
                Snapshot { timeouts: snapshot.timeouts + opening, ..snapshot }
            }
            Ends::Rdma(ends) => ends.sender.snapshot(),
        }
    }

    /// Whether the sender's algorithm takes headers of the user's program.
    pub fn reads_headers(&self) -> bool {
        match &self.ends {
            Ends::Window { sender, .. } => sender.reads_headers(),
            Ends::Rdma(ends) => ends.sender.reads_headers(),
        }
    }

    /// Takes headers of the user's program that the next ACK echoes.
    pub fn on_headers(&mut self, fields: &[HeaderField<'_>]) {
        match &mut self.ends {
            Ends::Window { sender, .. } => sender.on_headers(fields),
            Ends::Rdma(ends) => ends.sender.on_headers(fields),
        }
    }

    /// The value of an attribute of a user's algorithm.
    pub fn state(&self, name: &str) -> Option<f64> {
        match &self.ends {
            Ends::Window { sender, .. } => sender.state(name),
            Ends::Rdma(ends) => ends.sender.state(name),
        }
    }

    /// Whether it has to send data that it never sent before it can be complete.
    pub fn has_unsent(&self) -> bool {
        match &self.ends {
            Ends::Window { sender, .. } => sender.has_unsent(),
            Ends::Rdma(ends) => ends.sender.has_unsent(),
        }
    }

    /// Whether it sends no data any more.
    pub const fn has_ended(&self) -> bool {
        self.finish.is_some() || self.quenched.is_some()
    }

    /// Tells the sender by when the flow should be complete.
    pub fn tell_deadline(&mut self) {
        let deadline = self.start.zip(self.deadline).map(|(start, span)| start + span);
        match (deadline, &mut self.ends) {
            (Some(deadline), Ends::Window { sender, .. }) => sender.set_deadline(deadline),
            (Some(deadline), Ends::Rdma(ends)) => ends.sender.set_deadline(deadline),
            (None, _) => {}
        }
    }

    /// Whether all bytes were at the receiver in time; none without a deadline.
    pub fn deadline_met(&self) -> Option<bool> {
        let deadline = self.deadline?;
        Some(self.start.zip(self.received).is_some_and(|(start, received)| received.since(start) <= deadline))
    }

    /// Counts the mark of a data packet that arrived.
    pub fn count_mark(&mut self, ecn: p4cc_transport::Codepoint) {
        match self.profile.map_or(Mark::None, |profile| profile.mark(ecn)) {
            Mark::None => {}
            Mark::K => self.marks[0] += 1,
            Mark::Kdc => self.marks[1] += 1,
        }
    }
}
