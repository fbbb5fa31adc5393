//! The state of hosts that send users' packets, or keep something of what arrives.
//!
//! As a socket's buffer does, the interface takes so many packets of a source; the source holds the next ones
//! back until one has left, and then catches up. So a source faster than its link takes what the link has
//! left, and needs no memory for what waits.

use std::collections::VecDeque;

use p4cc_switch::Packet;
use p4cc_units::{Span, Time};

use crate::record::{HeadersLog, ReceivedLog};
use crate::traffic::packets::PacketsPlan;

/// Most packets of one source that wait at its interface.
const MOST_WAITING: usize = 64;

/// What a host has to do with users' packets and headers; most hosts have nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct UserPackets {
    pub sources: Vec<Source>,
    /// Injected packets that wait.
    pub injected: Injected,
    /// What arrives that no flow takes, where it is recorded.
    pub received: Option<ReceivedLog>,
    /// Fields of the user's headers, where they are recorded.
    pub headers: Option<HeadersLog>,
}

/// A source in a run.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// When the next packet is due.
    due: Time,
    /// Packets handed to the interface.
    handed_over: u64,
    /// When those that wait there were due.
    waiting: VecDeque<Time>,
    /// The next packet waits for one of them to leave.
    is_blocked: bool,
    pub sent_pkts: u64,
    pub sent_bytes: u64,
    /// The longest time that a packet left after it was due.
    pub most_late: Span,
}

impl Source {
    pub fn new(plan: &PacketsPlan) -> Self {
        Self {
            due: plan.start,
            handed_over: 0,
            waiting: VecDeque::new(),
            is_blocked: false,
            sent_pkts: 0,
            sent_bytes: 0,
            most_late: Span::ZERO,
        }
    }

    /// When the next packet is due, if there is one.
    pub fn next_due(&self, plan: &PacketsPlan) -> Option<Time> {
        (self.handed_over < plan.count && self.due < plan.end).then_some(self.due)
    }

    /// Whether the interface takes no packet of it now; one that leaves ends that.
    pub fn blocks(&mut self) -> bool {
        self.is_blocked = self.waiting.len() == MOST_WAITING;
        self.is_blocked
    }

    /// The place of the frame that is handed over now.
    pub fn hand_over(&mut self, plan: &PacketsPlan) -> u32 {
        let frame = self.handed_over % plan.frames.len() as u64;
        self.handed_over += 1;
        self.waiting.push_back(self.due);
        self.due += plan.frames[frame as usize].gap;
        frame as u32
    }

    /// A packet left the interface; returns whether others were held back for it.
    pub fn on_left(&mut self, now: Time, bytes: u32) -> bool {
        self.sent_pkts += 1;
        self.sent_bytes += u64::from(bytes);
        if let Some(due) = self.waiting.pop_front() {
            self.most_late = self.most_late.max(now.since(due));
        }
        core::mem::take(&mut self.is_blocked)
    }
}

/// Most injected packets that wait at one interface.
pub const MAX_WAITING_INJECTED: usize = 4_096;

/// Injected packets that wait at an interface. Those of a paused priority are overtaken, so each has its own
/// place.
#[derive(Clone, Debug, Default)]
pub(crate) struct Injected {
    places: Vec<Option<Packet>>,
    free: Vec<u32>,
}

impl Injected {
    /// Keeps a packet until it leaves, at the place that is returned; none if too many wait.
    pub fn put(&mut self, packet: Packet) -> Option<u32> {
        if let Some(place) = self.free.pop() {
            self.places[place as usize] = Some(packet);
            return Some(place);
        }
        if self.places.len() == MAX_WAITING_INJECTED {
            return None;
        }
        self.places.push(Some(packet));
        Some(self.places.len() as u32 - 1)
    }

    /// The packet at a place, which leaves now.
    pub fn take(&mut self, place: u32) -> Option<Packet> {
        let packet = self.places.get_mut(place as usize)?.take()?;
        self.free.push(place);
        Some(packet)
    }
}
