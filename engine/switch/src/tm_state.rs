//! Memory layout of ports and queues in the traffic manager, by frequency of access, with the PFC (IEEE
//! 802.1Qbb) state of each priority.
//!
//! The state of hundreds of switches exceeds the processor's near caches. So the cost of a packet is the
//! number of cache lines that it touches: one of its ingress port, one of its egress port, one of its queue.
//! State that few packets need (pause times, drops, rates of queues) is apart, in [`PortRest`].

use p4cc_units::{Bytes, Rate, Span, Time};

use crate::config::{CELL_BYTES, PRIORITIES, PortConfig, QdepthUnit, ShaperConfig};
use crate::counters::{Drops, PauseCounters};
use crate::tm_schedule::Turns;

/// End of a list.
pub(crate) const NONE: u32 = u32::MAX;

/// The link adds no Ethernet header by itself (a link serialises IP bytes: docs/reference/wire-format.md).
const ETHERNET_HEADER_BYTES: u32 = 14;

/// Bytes that a frame takes on a link: its IP bytes and the link's framing.
#[inline]
pub fn link_bytes(framing_bytes: u32, frame_bytes: u32) -> u32 {
    frame_bytes.saturating_sub(ETHERNET_HEADER_BYTES) + framing_bytes
}

/// Packets and their bytes, Ethernet header included.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Traffic {
    pub pkts: u64,
    pub bytes: u64,
}

impl Traffic {
    #[inline]
    pub fn add(&mut self, bytes: u32) {
        self.pkts += 1;
        self.bytes += u64::from(bytes);
    }
}

/// What every packet touches of a port.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct Port {
    rate: Rate,
    pub received: Traffic,
    pub sent: Traffic,
    pub framing_bytes: u32,
    /// Picoseconds of a byte at the rate, where they are whole; else zero.
    byte_ps: u32,
    /// Its number, which has nine bits.
    number: u16,
    pub qdepth_unit: QdepthUnit,
    /// Bit `p` is set while queue `p` has something.
    pub occupied: u8,
    /// Bit `p` is set while queue `p` may not send: its neighbour or the program paused it.
    pub paused: u8,
    /// Bit `p` is set while queue `p` may not send because of its rate.
    pub held: u8,
    /// Bit `p` is set where queue `p` has a rate of its own.
    pub rated: u8,
    /// Bit `p` is set while queue `p`, which has a rate, has had something since its last packet.
    pub backlogged: u8,
    /// Whether queues take turns ([`PortRest::turns`]) instead of going by their numbers.
    pub takes_turns: bool,
}

impl Port {
    pub fn new(config: &PortConfig) -> Self {
        Self {
            rate: config.rate,
            byte_ps: whole_byte_ps(config.rate),
            received: Traffic::default(),
            sent: Traffic::default(),
            framing_bytes: config.framing_bytes,
            number: config.port as u16,
            qdepth_unit: config.qdepth_unit,
            occupied: 0,
            paused: 0,
            held: 0,
            rated: config.shapers.iter().rev().fold(0, |mask, shaper| mask << 1 | u8::from(shaper.is_some())),
            backlogged: 0,
            takes_turns: !config.scheduler.is_strict_by_number(),
        }
    }

    #[inline]
    pub fn number(&self) -> u32 {
        u32::from(self.number)
    }

    /// Queues that have something to send and may.
    #[inline]
    pub fn sendable(&self) -> u8 {
        self.occupied & !self.paused & !self.held
    }

    /// Queues that have something to send and wait for nothing but their rate.
    #[inline]
    pub fn waits_for_rate(&self) -> u8 {
        self.occupied & !self.paused & self.held
    }

    /// Whether there is something to send, now or as soon as a queue's rate allows.
    #[inline]
    pub fn has_more(&self) -> bool {
        self.occupied & !self.paused != 0
    }

    /// Changes the rate.
    pub fn set_rate(&mut self, rate: Rate) {
        (self.rate, self.byte_ps) = (rate, whole_byte_ps(rate));
    }

    /// How long a frame keeps the port's link busy.
    #[inline]
    pub fn time_on_link(&self, frame_bytes: u32) -> Span {
        let bytes = u64::from(link_bytes(self.framing_bytes, frame_bytes));
        match self.byte_ps {
            0 => self.rate.time_to_send(Bytes(bytes)),
            byte_ps => Span::from_ps(bytes * u64::from(byte_ps)),
        }
    }
}

/// Picoseconds that a byte takes, where every number of bytes takes a whole number of them; else zero.
fn whole_byte_ps(rate: Rate) -> u32 {
    /// Of the bits of a byte, at one bit/s.
    const BYTE_PS: u64 = 8_000_000_000_000;
    let bps = rate.as_bps();
    if bps != 0 && BYTE_PS.is_multiple_of(bps) { u32::try_from(BYTE_PS / bps).unwrap_or(0) } else { 0 }
}

/// What few packets touch of a port. Arrays are by priority.
#[derive(Clone, Default, Debug)]
pub(crate) struct PortRest {
    /// Bit `p` is set while the neighbour does not want priority `p`.
    pub paused_by_neighbour: u8,
    /// Bit `p` is set while the program keeps queue `p` from sending.
    pub paused_by_program: u8,
    /// Queues that are closed, with the capacities that they have when they are opened; none before the
    /// first.
    pub closed: Option<Box<[Option<u32>; PRIORITIES]>>,
    pub paused_since: [Time; PRIORITIES],
    pub rates: [QueueRate; PRIORITIES],
    /// Until when a queue may not send because of its rate.
    pub held_until: [Time; PRIORITIES],
    /// When the bucket of a queue with a rate in bits is full again.
    pub full_at: [Time; PRIORITIES],
    pub dropped: [Drops; PRIORITIES],
    /// But for peaks, which the shared buffer counts.
    pub pauses: [PauseCounters; PRIORITIES],
    /// Whose turn it is, where queues take turns.
    pub turns: Option<Box<Turns>>,
}

impl PortRest {
    pub fn new(config: &PortConfig) -> Self {
        let rates =
            config.shapers.map(|shaper| shaper.map_or(QueueRate::Link, |shaper| QueueRate::of(&shaper)));
        Self { turns: Turns::new(&config.scheduler), rates, ..Self::default() }
    }
}

/// What a queue sends at most.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) enum QueueRate {
    /// As much as the link takes.
    #[default]
    Link,
    /// A packet after each gap: BMv2's rates in packets.
    Packets { gap: Span },
    /// A token bucket in bits on the link; it fills within `burst`.
    Bits { rate: Rate, burst: Span },
}

impl QueueRate {
    pub fn of(shaper: &ShaperConfig) -> Self {
        let burst = shaper.rate.time_to_send(Bytes(shaper.burst_bytes.into()));
        Self::Bits { rate: shaper.rate, burst }
    }
}

/// A queue: its list, its bounds, its counters.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct Queue {
    pub head: u32,
    pub tail: u32,
    pub pkts: u32,
    /// Where the port counts in cells.
    pub cells: u32,
    pub bytes: u64,
    pub capacity_bytes: u64,
    pub capacity_pkts: u32,
    pub peak_depth_pkts: u32,
    pub peak_depth_bytes: u64,
    pub enqueued_pkts: u64,
    pub enqueued_bytes: u64,
}

impl Queue {
    pub fn new(config: &PortConfig) -> Self {
        Self {
            head: NONE,
            tail: NONE,
            pkts: 0,
            cells: 0,
            bytes: 0,
            capacity_bytes: config.capacity_bytes.unwrap_or(u64::MAX),
            capacity_pkts: config.capacity_pkts,
            peak_depth_pkts: 0,
            peak_depth_bytes: 0,
            enqueued_pkts: 0,
            enqueued_bytes: 0,
        }
    }

    /// Depth as the program sees it.
    #[inline]
    pub fn depth(&self, unit: QdepthUnit) -> u32 {
        match unit {
            QdepthUnit::Auto | QdepthUnit::Packets => self.pkts,
            QdepthUnit::Cells80 | QdepthUnit::Cells176 => self.cells,
            QdepthUnit::Bytes80 => u32::try_from(self.bytes / u64::from(CELL_BYTES)).unwrap_or(u32::MAX),
        }
    }

    /// Whether its own capacity takes one packet more (docs/algorithms/substrate.md#tail-drop:
    /// drop if `q + 1 > B`, or `q_bytes + len > B_bytes`).
    #[inline]
    pub fn has_room(&self, link_bytes: u32) -> bool {
        self.pkts < self.capacity_pkts && self.bytes + u64::from(link_bytes) <= self.capacity_bytes
    }

    /// Counts a packet in.
    #[inline]
    pub fn add(&mut self, link_bytes: u32, unit: QdepthUnit) {
        self.pkts += 1;
        self.cells += unit.cells(link_bytes);
        self.bytes += u64::from(link_bytes);
        self.count(link_bytes, self.pkts, self.bytes);
    }

    /// Counts a packet with which the queue is so deep.
    #[inline]
    pub fn count(&mut self, link_bytes: u32, pkts: u32, bytes: u64) {
        self.enqueued_pkts += 1;
        self.enqueued_bytes += u64::from(link_bytes);
        self.peak_depth_pkts = self.peak_depth_pkts.max(pkts);
        self.peak_depth_bytes = self.peak_depth_bytes.max(bytes);
    }

    /// Counts a packet out.
    #[inline]
    pub fn remove(&mut self, link_bytes: u32, unit: QdepthUnit) {
        self.pkts -= 1;
        self.cells -= unit.cells(link_bytes);
        self.bytes -= u64::from(link_bytes);
    }

    /// Forgets what waits; counters stay.
    pub fn clear(&mut self) {
        (self.head, self.tail, self.pkts, self.cells, self.bytes) = (NONE, NONE, 0, 0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rates that make whole picoseconds of a byte, that do not, and that make more than fit.
    #[test]
    fn times_on_the_link_are_those_of_the_rate() {
        for bps in
            [1, 7, 1_000, 8_000, 9_999_999_999, 10_000_000_000, 25_000_000_000, 100_000_000_000, u64::MAX]
        {
            let rate = Rate::from_bps(bps);
            let config = PortConfig { rate, framing_bytes: 24, ..PortConfig::default() };
            for bytes in [0, 14, 60, 1_514, 65_535] {
                let want = rate.time_to_send(Bytes(u64::from(link_bytes(24, bytes))));
                assert_eq!(Port::new(&config).time_on_link(bytes), want, "{rate}, {bytes} B");
            }
        }
    }

    #[test]
    fn what_every_packet_touches_is_a_line_of_the_cache() {
        assert_eq!((size_of::<Port>(), size_of::<Queue>()), (64, 64));
    }
}
