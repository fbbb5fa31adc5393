//! The two ends of flows, of either transport, as the agent runs them.

use std::net::Ipv4Addr;

use p4cc_cc::{ConfigError, FlowIdentity, Mark};
use p4cc_transport::rdma::{RdmaAck, RdmaReceiver, RdmaSender};
use p4cc_transport::wire::{Extension, ExtensionType, TrafficClass};
use p4cc_transport::{AckFields, Codepoint, EcnProfile, Receiver, Segment, Snapshot, WindowSender};
use p4cc_units::{Rate, Span, Time};

use crate::plan::{Flow, Transport};

/// Line rate of a host that was given none: what paced senders start with.
const DEFAULT_LINE_RATE: Rate = Rate::from_bps(10_000_000_000);

/// What a sender adds for switches, as bytes of its own.
#[derive(Clone, Default, Debug)]
pub struct Extra {
    kind: ExtensionType,
    bytes: Vec<u8>,
}

impl From<Extension<'_>> for Extra {
    fn from(extension: Extension<'_>) -> Self {
        Self { kind: extension.kind, bytes: extension.bytes.to_vec() }
    }
}

impl Extra {
    /// The extension of the packet.
    pub fn extension(&self) -> Extension<'_> {
        Extension { kind: self.kind, bytes: &self.bytes }
    }
}

/// A packet that waits for the interface; its bytes are made when it leaves.
#[derive(Clone, Debug)]
pub enum Outgoing {
    /// Of the sending flow at this place, with what the sender adds for switches.
    Data(usize, Segment, Extra),
    /// Of the receiving flow of this number.
    Ack(u32, AckFields),
    /// Of the paced receiving flow of this number, with its extension.
    RdmaAck(u32, RdmaAck, Extra),
}

/// The algorithm's end of a sending flow.
#[derive(Debug)]
pub enum SendEnd {
    /// By a window.
    Window(Box<WindowSender>),
    /// Paced.
    Rdma(Box<RdmaSender>),
}

/// A flow that starts here.
#[derive(Debug)]
pub struct Sending {
    /// Number on the wire.
    pub id: u32,
    /// Where it goes.
    pub peer: Ipv4Addr,
    /// Traffic class.
    pub class: TrafficClass,
    /// Payload bytes, if it ends.
    pub size_bytes: Option<u64>,
    /// When it is to start.
    pub start: Time,
    /// Time from its start by which it should be complete.
    pub deadline: Option<Span>,
    /// When its timer is due; what was due before is void.
    pub timer: Option<Time>,
    /// It has started.
    pub started: bool,
    /// When its last byte was acknowledged.
    pub finish: Option<Time>,
    /// Data packets that left.
    pub data_pkts: u64,
    /// The algorithm's end.
    pub end: SendEnd,
}

impl Sending {
    /// A flow that waits for its start.
    ///
    /// # Errors
    /// A configuration that its algorithm refuses.
    pub fn new(flow: &Flow, line_rate: Option<Rate>) -> Result<Self, ConfigError> {
        let of = FlowIdentity { flow_id: flow.id, seed: flow.seed };
        let end = match flow.transport.clone() {
            Transport::Window(mut config) => {
                config.cc.for_flow(of);
                SendEnd::Window(Box::new(WindowSender::new(&config, flow.size_bytes)?))
            }
            Transport::Rdma(mut config) => {
                config.cc.for_flow(of);
                let line_rate = line_rate.unwrap_or(DEFAULT_LINE_RATE);
                SendEnd::Rdma(Box::new(RdmaSender::new(&config, line_rate, flow.size_bytes)?))
            }
        };
        Ok(Self {
            id: flow.id,
            peer: flow.peer,
            class: flow.class,
            size_bytes: flow.size_bytes,
            start: flow.start,
            deadline: flow.deadline,
            timer: None,
            started: false,
            finish: None,
            data_pkts: 0,
            end,
        })
    }

    /// State of the sender.
    pub fn snapshot(&self) -> Snapshot {
        match &self.end {
            SendEnd::Window(sender) => sender.snapshot(),
            SendEnd::Rdma(sender) => sender.snapshot(),
        }
    }

    /// Whether all bytes were acknowledged in time; none without a deadline, or while it is open.
    pub fn deadline_met(&self) -> Option<bool> {
        let deadline = self.deadline?;
        self.finish.map(|finish| finish.since(self.start) <= deadline)
    }

    /// It is complete, or its sender gave it up.
    pub fn is_over(&self) -> bool {
        self.finish.is_some() || matches!(&self.end, SendEnd::Rdma(sender) if sender.is_over())
    }

    /// When a paced flow may send next; none for the others.
    pub fn ready_at(&self) -> Option<Time> {
        match &self.end {
            SendEnd::Rdma(sender) => sender.ready_at(),
            SendEnd::Window(_) => None,
        }
    }
}

/// The algorithm's end of a receiving flow.
#[derive(Debug)]
pub enum ReceiveEnd {
    /// Of a window.
    Window(Box<Receiver>),
    /// Of a paced flow, with the class of its answers.
    Rdma(Box<RdmaReceiver>, TrafficClass),
}

/// A flow that ends here.
#[derive(Debug)]
pub struct Receiving {
    /// Number on the wire.
    pub id: u32,
    /// Where its ACKs go.
    pub peer: Ipv4Addr,
    /// Traffic class of its ACKs, where the transport has no other.
    pub class: TrafficClass,
    /// How to read marks.
    pub profile: Option<EcnProfile>,
    /// When the first data packet came.
    pub first: Option<Time>,
    /// When the stream was whole.
    pub finish: Option<Time>,
    /// Payload bytes that came in order.
    pub bytes: u64,
    /// Data packets that came, and those with a mark of level 1 (K) and 2 (K_dc).
    pub data_pkts: u64,
    /// See `data_pkts`.
    pub marks: [u64; 2],
    /// A delayed ACK is due then.
    pub timer: Option<Time>,
    /// The algorithm's end.
    pub end: ReceiveEnd,
}

impl Receiving {
    /// A flow of which nothing came yet.
    ///
    /// # Errors
    /// A configuration that its algorithm refuses.
    pub fn new(flow: &Flow, line_rate: Option<Rate>) -> Result<Self, ConfigError> {
        let (profile, end) = match &flow.transport {
            Transport::Window(config) => {
                config.validate()?;
                (config.ecn_profile, ReceiveEnd::Window(Box::new(Receiver::new(&config.receiver()))))
            }
            Transport::Rdma(config) => {
                config.validate(line_rate.unwrap_or(DEFAULT_LINE_RATE))?;
                let class = TrafficClass::new(config.ack_class).unwrap_or(flow.class);
                (Some(EcnProfile::Rfc3168), ReceiveEnd::Rdma(Box::new(RdmaReceiver::new(config)), class))
            }
        };
        Ok(Self {
            id: flow.id,
            peer: flow.peer,
            class: flow.class,
            profile,
            first: None,
            finish: None,
            bytes: 0,
            data_pkts: 0,
            marks: [0; 2],
            timer: None,
            end,
        })
    }

    /// Counts a data packet that came now.
    pub fn count(&mut self, now: Time, ecn: Codepoint) {
        self.first.get_or_insert(now);
        self.data_pkts += 1;
        match self.profile.map_or(Mark::None, |profile| profile.mark(ecn)) {
            Mark::None => {}
            Mark::K => self.marks[0] += 1,
            Mark::Kdc => self.marks[1] += 1,
        }
    }
}
