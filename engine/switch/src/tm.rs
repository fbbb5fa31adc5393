//! The traffic manager: eight queues for each port, strict priority, tail drop or a shared buffer, pauses.
//!
//! Waiting items lie in one pool and queues are lists through it, so memory follows the packets that wait, not the
//! capacities, and a packet is moved once in and once out. What a queue's own capacity lets in, the shared buffer may
//! still refuse ([`crate::tm_buffer`]). A priority that the neighbour paused keeps its packets.
//!
//! Invariants: a depth never exceeds the queue's capacity; the item on the wire is in no depth; a slot is in exactly
//! one list, a queue's or the free one; nothing leaves a paused queue.

use p4cc_units::{Span, Time};

use crate::config::{BufferConfig, CELL_BYTES, MAX_PORTS, PRIORITIES, PortConfig, QdepthUnit};
use crate::counters::{DropCause, PauseCounters, PortCounters};
use crate::tm_buffer::{Charged, PauseFrame, SharedBuffer};

/// Position of a port in the traffic manager.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PortIndex(pub(crate) u16);

/// End of a list.
const NONE: u32 = u32::MAX;

/// The link adds no Ethernet header by itself (design: a link serialises IP bytes).
const ETHERNET_HEADER_BYTES: u32 = 14;

/// Queues, their counters and the pool behind them.
#[derive(Clone, Debug)]
pub struct TrafficManager<T> {
    slots: Vec<Slot<T>>,
    free: u32,
    pub(crate) ports: Vec<Port>,
    /// By port number.
    pub(crate) index_of: Vec<Option<PortIndex>>,
    /// Ports that got work while they had none, in the order in which they got it.
    pub(crate) ready: Vec<PortIndex>,
    buffer: Option<SharedBuffer>,
    /// Pause and resume frames to send, in order.
    frames: std::collections::VecDeque<PauseFrame>,
}

#[derive(Clone, Debug)]
struct Slot<T> {
    next: u32,
    link_bytes: u32,
    enq_depth: u32,
    /// Port that the item came in on.
    ingress: Option<PortIndex>,
    item: Option<T>,
}

#[derive(Clone, Debug)]
pub(crate) struct Port {
    pub(crate) config: PortConfig,
    queues: [Queue; PRIORITIES],
    /// Bit `p` is set while queue `p` has something.
    occupied: u8,
    /// Bit `p` is set while the neighbour does not want priority `p`.
    paused: u8,
    paused_since: [Time; PRIORITIES],
    counters: PortCounters,
    /// Packets that each queue holds.
    pub(crate) capacity_pkts: [u32; PRIORITIES],
    /// Time between two packets of each queue, or zero: BMv2's rates in packets.
    pub(crate) gaps: [Span; PRIORITIES],
    /// Bit `p` is set while queue `p` may not send because of its rate.
    pub(crate) held: u8,
    /// Until when.
    pub(crate) held_until: [Time; PRIORITIES],
    /// Bit `p` is set while queue `p` has had something since its last packet.
    pub(crate) backlogged: u8,
}

impl Port {
    pub(crate) fn new(config: PortConfig) -> Self {
        Self {
            config,
            queues: [Queue::EMPTY; PRIORITIES],
            occupied: 0,
            paused: 0,
            paused_since: [Time::ZERO; PRIORITIES],
            counters: PortCounters::default(),
            capacity_pkts: [config.capacity_pkts; PRIORITIES],
            gaps: [Span::ZERO; PRIORITIES],
            held: 0,
            held_until: [Time::ZERO; PRIORITIES],
            backlogged: 0,
        }
    }

    /// Queues that have something to send and may.
    pub(crate) fn sendable(&self) -> u8 {
        self.occupied & !self.paused & !self.held
    }

    /// Queues that have something to send and wait for nothing but their rate.
    pub(crate) fn waits_for_rate(&self) -> u8 {
        self.occupied & !self.paused & self.held
    }

    /// Whether a queue has something.
    pub(crate) fn is_occupied(&self, at: usize) -> bool {
        self.occupied & (1 << at) != 0
    }
}

#[derive(Clone, Copy, Debug)]
struct Queue {
    head: u32,
    tail: u32,
    pkts: u32,
    cells: u32,
    bytes: u64,
}

impl Queue {
    const EMPTY: Self = Self { head: NONE, tail: NONE, pkts: 0, cells: 0, bytes: 0 };

    fn depth(&self, unit: QdepthUnit) -> u32 {
        match unit {
            QdepthUnit::Packets => self.pkts,
            QdepthUnit::Cells80 => self.cells,
            QdepthUnit::Bytes80 => u32::try_from(self.bytes / u64::from(CELL_BYTES)).unwrap_or(u32::MAX),
        }
    }
}

/// An item taken out of a queue.
#[derive(Debug)]
pub struct Dequeued<T> {
    /// The item.
    pub item: T,
    /// Its queue.
    pub priority: u8,
    /// Depth of the queue before the item was added, in the port's unit.
    pub enq_depth: u32,
    /// Depth of the queue after the item was taken out, in the port's unit.
    pub deq_depth: u32,
}

impl<T> TrafficManager<T> {
    /// Empty queues for these ports; a port number that does not fit, or comes again, gets no queues.
    pub fn new(ports: &[PortConfig], buffer: Option<&BufferConfig>) -> Self {
        let mut index_of = vec![None; MAX_PORTS as usize];
        let mut states = Vec::with_capacity(ports.len());
        for config in ports {
            let Some(place @ None) = index_of.get_mut(config.port as usize) else { continue };
            *place = Some(PortIndex(states.len() as u16));
            states.push(Port::new(*config));
        }
        let buffer = buffer.map(|buffer| {
            let configs: Vec<PortConfig> = states.iter().map(|port| port.config).collect();
            SharedBuffer::new(buffer, &configs)
        });
        Self {
            slots: Vec::new(),
            free: NONE,
            ports: states,
            index_of,
            ready: Vec::new(),
            buffer,
            frames: std::collections::VecDeque::new(),
        }
    }

    /// The port of this number.
    pub fn port(&self, number: u32) -> Option<PortIndex> {
        self.index_of.get(number as usize).copied().flatten()
    }

    /// Configuration of a port.
    pub fn config(&self, port: PortIndex) -> &PortConfig {
        &self.ports[usize::from(port.0)].config
    }

    /// Counters of a port.
    pub fn counters(&self, port: PortIndex) -> &PortCounters {
        &self.ports[usize::from(port.0)].counters
    }

    /// Counters of a port, to count into.
    pub fn counters_mut(&mut self, port: PortIndex) -> &mut PortCounters {
        &mut self.ports[usize::from(port.0)].counters
    }

    /// Packets waiting in one queue.
    pub fn depth_pkts(&self, port: PortIndex, priority: u8) -> u32 {
        self.ports[usize::from(port.0)].queues[queue_of(priority)].pkts
    }

    /// Packets waiting in all queues of a port.
    pub fn port_depth_pkts(&self, port: PortIndex) -> u32 {
        self.ports[usize::from(port.0)].queues.iter().map(|queue| queue.pkts).sum()
    }

    /// Bytes waiting in all queues of a port.
    pub fn port_depth_bytes(&self, port: PortIndex) -> u64 {
        let state = &self.ports[usize::from(port.0)];
        if state.occupied == 0 { 0 } else { state.queues.iter().map(|queue| queue.bytes).sum() }
    }

    /// Packets waiting in all queues of all ports.
    pub fn waiting(&self) -> u64 {
        let queues = self.ports.iter().flat_map(|port| &port.queues);
        queues.map(|queue| u64::from(queue.pkts)).sum()
    }

    /// Whether a port has something that it may send.
    pub fn has_sendable(&self, port: PortIndex) -> bool {
        self.ports[usize::from(port.0)].sendable() != 0
    }

    /// Adds an item of `frame_bytes` that came in on `ingress` to a queue, or drops and counts it. Priorities above 7
    /// count as 7.
    ///
    /// # Errors
    /// Why the item was dropped.
    pub fn enqueue(
        &mut self,
        port: PortIndex,
        priority: u8,
        frame_bytes: u32,
        ingress: Option<PortIndex>,
        item: T,
    ) -> Result<(), DropCause> {
        let state = &mut self.ports[usize::from(port.0)];
        let at = queue_of(priority);
        let link_bytes = link_bytes(state.config.framing_bytes, frame_bytes);
        let packet = charged(ingress, at, link_bytes);
        let admitted =
            admit(&state.config, state.capacity_pkts[at], &state.queues[at], link_bytes).and_then(|()| {
                match &mut self.buffer {
                    Some(buffer) => buffer.admit(&packet, usize::from(port.0), state.queues[at].bytes),
                    None => Ok(()),
                }
            });
        if let Err(cause) = admitted {
            state.counters.queues[at].dropped.add(cause);
            return Err(cause);
        }
        let enq_depth = state.queues[at].depth(state.config.qdepth_unit);
        let slot = take_slot(
            &mut self.slots,
            &mut self.free,
            Slot { next: NONE, link_bytes, enq_depth, ingress, item: Some(item) },
        );
        let (could, waited) = (state.sendable(), state.waits_for_rate());
        state.occupied |= 1 << at;
        // A port is also told of the first packet that waits for its queue's rate only: it must know until when.
        if could == 0 && (state.sendable() != 0 || state.waits_for_rate() != waited) {
            self.ready.push(port);
        }
        let queue = &mut state.queues[at];
        match queue.tail {
            NONE => queue.head = slot,
            tail => self.slots[tail as usize].next = slot,
        }
        queue.tail = slot;
        queue.pkts += 1;
        queue.cells += link_bytes.div_ceil(CELL_BYTES);
        queue.bytes += u64::from(link_bytes);
        let counters = &mut state.counters.queues[at];
        counters.enqueued_pkts += 1;
        counters.enqueued_bytes += u64::from(link_bytes);
        counters.peak_depth_pkts = counters.peak_depth_pkts.max(queue.pkts);
        counters.peak_depth_bytes = counters.peak_depth_bytes.max(queue.bytes);
        if self.buffer.is_some() {
            self.after_enqueue(&packet);
        }
        Ok(())
    }

    /// Counts what the packet's ingress holds, and pauses it where that is too much.
    fn after_enqueue(&mut self, packet: &Charged) {
        let (Some(buffer), Some(ingress)) = (&mut self.buffer, packet.ingress) else { return };
        let charge = buffer.charge(ingress, packet.priority);
        let counters = &mut self.ports[ingress].counters.pauses[usize::from(packet.priority)];
        let held = charge.ingress_bytes + charge.headroom_bytes;
        counters.peak_ingress_bytes = counters.peak_ingress_bytes.max(held);
        counters.peak_headroom_bytes = counters.peak_headroom_bytes.max(charge.headroom_bytes);
        if buffer.pause_due(packet).is_some() {
            counters.sent += 1;
            self.ask(ingress, packet.priority, true);
        }
    }

    fn ask(&mut self, ingress: usize, priority: u8, pause: bool) {
        let port = self.ports[ingress].config.port;
        self.frames.push_back(PauseFrame { port, priority, pause });
    }

    /// The next pause or resume frame to send; there may be one after each enqueue and dequeue.
    pub fn next_pause_frame(&mut self) -> Option<PauseFrame> {
        self.frames.pop_front()
    }

    /// The neighbour at a port pauses a priority, or lets it go on. Ask [`Self::next_ready`] afterwards.
    pub fn set_paused(&mut self, now: Time, port: PortIndex, priority: u8, pause: bool) {
        let state = &mut self.ports[usize::from(port.0)];
        let at = queue_of(priority);
        let bit = 1 << at;
        if (state.paused & bit != 0) == pause {
            return;
        }
        let counters = &mut state.counters.pauses[at];
        if pause {
            counters.begin(now);
            state.paused_since[at] = now;
            state.paused |= bit;
            return;
        }
        counters.end(state.paused_since[at], now);
        let had_work = state.sendable() != 0;
        state.paused &= !bit;
        if !had_work && state.sendable() != 0 {
            self.ready.push(port);
        }
    }

    /// Since when the neighbour has kept a priority paused; none if it may send.
    pub fn paused_since(&self, port: PortIndex, priority: u8) -> Option<Time> {
        let state = &self.ports[usize::from(port.0)];
        let at = queue_of(priority);
        (state.paused & (1 << at) != 0).then_some(state.paused_since[at])
    }

    /// What is counted of the pauses of a priority, a pause that lasts included.
    pub fn pauses(&self, port: PortIndex, priority: u8, now: Time) -> PauseCounters {
        let past = self.ports[usize::from(port.0)].counters.pauses[queue_of(priority)];
        past.up_to(self.paused_since(port, priority), now)
    }

    /// The pause that this switch asked for at a port and priority has lapsed: the next packet may bring another.
    pub fn lapse(&mut self, port: PortIndex, priority: u8) {
        if let Some(buffer) = &mut self.buffer {
            buffer.lapse(usize::from(port.0), priority);
        }
    }

    /// Whether a paused queue holds a packet that is charged to an ingress port and priority which this switch has
    /// paused: a step of a cyclic wait. Gives the pairs of ingress and egress port numbers, in order.
    pub fn waits(&self, priority: u8) -> Vec<(u32, u32)> {
        let Some(buffer) = &self.buffer else { return Vec::new() };
        let at = queue_of(priority);
        let mut found = std::collections::BTreeSet::new();
        for port in self.ports.iter().filter(|port| port.paused & port.occupied & (1 << at) != 0) {
            let mut place = port.queues[at].head;
            while let Some(slot) = self.slots.get(place as usize) {
                let ingress = slot.ingress.map(|ingress| usize::from(ingress.0));
                if let Some(ingress) = ingress.filter(|&ingress| buffer.charge(ingress, priority).paused) {
                    found.insert((self.ports[ingress].config.port, port.config.port));
                }
                place = slot.next;
            }
        }
        found.into_iter().collect()
    }

    /// Takes the first item of the highest occupied queue that is not paused.
    pub fn dequeue(&mut self, port: PortIndex) -> Option<Dequeued<T>> {
        let sendable = self.ports[usize::from(port.0)].sendable();
        self.dequeue_of(port, sendable)
    }

    /// Takes the first item of the highest occupied queue, paused or not.
    pub(crate) fn dequeue_paused(&mut self, port: PortIndex) -> Option<Dequeued<T>> {
        let occupied = self.ports[usize::from(port.0)].occupied;
        self.dequeue_of(port, occupied)
    }

    /// Whether ports share a buffer.
    pub(crate) fn has_buffer(&self) -> bool {
        self.buffer.is_some()
    }

    fn dequeue_of(&mut self, port: PortIndex, queues: u8) -> Option<Dequeued<T>> {
        let at = queues.checked_ilog2()? as usize;
        let state = &mut self.ports[usize::from(port.0)];
        let queue = &mut state.queues[at];
        let taken = queue.head;
        let slot = &mut self.slots[taken as usize];
        let item = slot.item.take()?;
        queue.head = slot.next;
        queue.pkts -= 1;
        queue.cells -= slot.link_bytes.div_ceil(CELL_BYTES);
        queue.bytes -= u64::from(slot.link_bytes);
        if queue.head == NONE {
            queue.tail = NONE;
            state.occupied &= !(1 << at);
        }
        let dequeued = Dequeued {
            item,
            priority: at as u8,
            enq_depth: slot.enq_depth,
            deq_depth: queue.depth(state.config.qdepth_unit),
        };
        let packet = charged(slot.ingress, at, slot.link_bytes);
        slot.next = self.free;
        self.free = taken;
        if self.buffer.is_some() {
            self.after_dequeue(&packet);
        }
        Some(dequeued)
    }

    fn after_dequeue(&mut self, packet: &Charged) {
        let Some(buffer) = &mut self.buffer else { return };
        buffer.release(packet);
        if let Some(ingress) = buffer.resume_due(packet) {
            self.ports[ingress].counters.pauses[usize::from(packet.priority)].resumes_sent += 1;
            self.ask(ingress, packet.priority, false);
        }
    }

    /// A port that got work while its queues were empty, once for each time that happened. The caller starts it if
    /// it is idle; a busy port is asked again when its transmission ends.
    pub fn next_ready(&mut self) -> Option<u32> {
        let port = self.ready.pop()?;
        Some(self.ports[usize::from(port.0)].config.port)
    }

    /// Drops everything that waits; returns how many.
    pub fn clear(&mut self) -> u64 {
        let dropped = self.waiting();
        self.slots.clear();
        self.free = NONE;
        self.ready.clear();
        for port in &mut self.ports {
            port.queues = [Queue::EMPTY; PRIORITIES];
            port.occupied = 0;
        }
        for (ingress, priority) in self.buffer.as_mut().map(SharedBuffer::clear).unwrap_or_default() {
            self.ask(ingress, priority, false);
        }
        dropped
    }
}

fn charged(ingress: Option<PortIndex>, queue: usize, link_bytes: u32) -> Charged {
    let ingress = ingress.map(|ingress| usize::from(ingress.0));
    Charged { ingress, priority: queue as u8, bytes: u64::from(link_bytes) }
}

/// Which queue a priority goes to.
fn queue_of(priority: u8) -> usize {
    usize::from(priority).min(PRIORITIES - 1)
}

/// Whether a queue's own capacity takes one packet more (spec 1.2: drop if `q + 1 > B`, or `q_bytes + len > B_bytes`).
fn admit(config: &PortConfig, capacity_pkts: u32, queue: &Queue, link_bytes: u32) -> Result<(), DropCause> {
    let fits_bytes =
        config.capacity_bytes.is_none_or(|capacity| queue.bytes + u64::from(link_bytes) <= capacity);
    if queue.pkts >= capacity_pkts || !fits_bytes {
        return Err(DropCause::TailDrop);
    }
    Ok(())
}

/// Bytes that a frame takes on a link: its IP bytes and the link's framing.
pub fn link_bytes(framing_bytes: u32, frame_bytes: u32) -> u32 {
    frame_bytes.saturating_sub(ETHERNET_HEADER_BYTES) + framing_bytes
}

/// Puts a slot into the pool.
fn take_slot<T>(slots: &mut Vec<Slot<T>>, free: &mut u32, slot: Slot<T>) -> u32 {
    if *free == NONE {
        slots.push(slot);
        return (slots.len() - 1) as u32;
    }
    let at = *free;
    *free = slots[at as usize].next;
    slots[at as usize] = slot;
    at
}

#[cfg(test)]
mod tests {
    use p4cc_units::Rate;

    use super::*;

    fn manager(capacity_pkts: u32, qdepth_unit: QdepthUnit) -> (TrafficManager<u32>, PortIndex) {
        let config = PortConfig {
            port: 9,
            rate: Rate::from_bps(8),
            capacity_pkts,
            qdepth_unit,
            ..PortConfig::default()
        };
        let manager = TrafficManager::new(&[config], None);
        let port = manager.port(9).expect("the port above");
        (manager, port)
    }

    #[test]
    fn the_capacity_is_exact_and_drops_are_counted() {
        let (mut manager, port) = manager(3, QdepthUnit::Packets);
        for item in 0..5 {
            let result = manager.enqueue(port, 0, 114, None, item);
            assert_eq!(result, if item < 3 { Ok(()) } else { Err(DropCause::TailDrop) });
        }
        // Another queue of the port has a capacity of its own.
        assert_eq!(manager.enqueue(port, 5, 114, None, 9), Ok(()));
        let counters = manager.counters(port);
        assert_eq!(counters.queues[0].enqueued_pkts, 3);
        assert_eq!(counters.queues[0].enqueued_bytes, 300);
        assert_eq!(counters.queues[0].peak_depth_pkts, 3);
        assert_eq!(counters.queues[0].dropped.of(DropCause::TailDrop), 2);
        assert_eq!((counters.dropped(), counters.peak_depth_pkts()), (2, 3));
        assert_eq!(manager.waiting(), 4);
    }

    #[test]
    fn depths_count_what_waits_and_not_the_item_itself() {
        let (mut manager, port) = manager(10, QdepthUnit::Packets);
        for item in 0..3 {
            assert_eq!(manager.enqueue(port, 0, 100, None, item), Ok(()));
        }
        for (enq_depth, deq_depth) in [(0, 2), (1, 1), (2, 0)] {
            let got = manager.dequeue(port).expect("three wait");
            assert_eq!((got.enq_depth, got.deq_depth, got.item), (enq_depth, deq_depth, enq_depth));
        }
        assert!(manager.dequeue(port).is_none());
    }

    #[test]
    fn cells_round_up_for_each_packet_and_bytes_down_for_the_queue() {
        let expected = [
            (QdepthUnit::Cells80, [(0, 2), (2, 1), (3, 0), (4, 0)]),
            (QdepthUnit::Bytes80, [(0, 1), (1, 0), (2, 0), (3, 0)]),
        ];
        for (unit, depths) in expected {
            let (mut manager, port) = manager(10, unit);
            for (item, frame_bytes) in [(0, 14 + 81), (1, 14 + 80), (2, 14 + 79), (3, 14)] {
                assert_eq!(manager.enqueue(port, 0, frame_bytes, None, item), Ok(()));
            }
            for depths in depths {
                let got = manager.dequeue(port).expect("four wait");
                assert_eq!((got.enq_depth, got.deq_depth), depths, "{unit:?}");
            }
        }
    }

    #[test]
    fn higher_priorities_go_first_and_each_queue_is_in_order() {
        let (mut manager, port) = manager(10, QdepthUnit::Packets);
        for (priority, item) in [(0, 1), (7, 2), (3, 3), (7, 4), (200, 5), (0, 6)] {
            assert_eq!(manager.enqueue(port, priority, 100, None, item), Ok(()));
        }
        let order: Vec<u32> = core::iter::from_fn(|| manager.dequeue(port)).map(|got| got.item).collect();
        assert_eq!(order, [2, 4, 5, 3, 1, 6]);
    }

    #[test]
    fn a_port_is_ready_once_for_each_time_it_was_empty() {
        let (mut manager, port) = manager(10, QdepthUnit::Packets);
        assert_eq!(manager.next_ready(), None);
        for item in 0..2 {
            assert_eq!(manager.enqueue(port, 0, 100, None, item), Ok(()));
        }
        assert_eq!((manager.next_ready(), manager.next_ready()), (Some(9), None));
        while manager.dequeue(port).is_some() {}
        assert_eq!(manager.enqueue(port, 0, 100, None, 3), Ok(()));
        assert_eq!(manager.next_ready(), Some(9));
    }

    #[test]
    fn slots_are_used_again() {
        let (mut manager, port) = manager(100, QdepthUnit::Packets);
        for item in 0..1_000 {
            assert_eq!(manager.enqueue(port, (item % 8) as u8, 100, None, item), Ok(()));
            if item % 4 != 0 || item > 20 {
                assert!(manager.dequeue(port).is_some());
            }
        }
        assert!(manager.slots.len() <= 8, "{} slots", manager.slots.len());
        // Items 0, 4, 8, 12, 16 and 20 were not matched by a dequeue.
        assert_eq!(manager.clear(), 6);
        assert_eq!(manager.waiting(), 0);
    }
}
