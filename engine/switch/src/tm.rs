//! The traffic manager: eight queues for each port, strict priority, tail drop.
//!
//! Waiting items lie in one pool and queues are lists through it, so memory follows the packets that wait, not the
//! capacities, and a packet is moved once in and once out. Admission is one function of the pool's, the port's and
//! the queue's state: a shared buffer, byte limits and PFC thresholds belong there.
//!
//! Invariants: a depth never exceeds the queue's capacity; the item on the wire is in no depth; a slot is in exactly
//! one list, a queue's or the free one.

use p4cc_units::Bytes;

use crate::config::{CELL_BYTES, MAX_PORTS, PRIORITIES, PortConfig, QdepthUnit};
use crate::counters::{DropCause, PortCounters};

/// Position of a port in the traffic manager.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PortIndex(u16);

/// End of a list.
const NONE: u32 = u32::MAX;

/// The link adds no Ethernet header by itself (design: a link serialises IP bytes).
const ETHERNET_HEADER_BYTES: u32 = 14;

/// Queues, their counters and the pool behind them.
#[derive(Clone, Debug)]
pub struct TrafficManager<T> {
    slots: Vec<Slot<T>>,
    free: u32,
    ports: Vec<Port>,
    /// By port number.
    index_of: Vec<Option<PortIndex>>,
    /// Ports that got work while they had none, in the order in which they got it.
    ready: Vec<PortIndex>,
}

#[derive(Clone, Debug)]
struct Slot<T> {
    next: u32,
    link_bytes: u32,
    enq_depth: u32,
    item: Option<T>,
}

#[derive(Clone, Debug)]
struct Port {
    config: PortConfig,
    queues: [Queue; PRIORITIES],
    /// Bit `p` is set while queue `p` has something.
    occupied: u8,
    counters: PortCounters,
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
    pub fn new(ports: &[PortConfig]) -> Self {
        let mut index_of = vec![None; MAX_PORTS as usize];
        let mut states = Vec::with_capacity(ports.len());
        for config in ports {
            let Some(place @ None) = index_of.get_mut(config.port as usize) else { continue };
            *place = Some(PortIndex(states.len() as u16));
            states.push(Port {
                config: *config,
                queues: [Queue::EMPTY; PRIORITIES],
                occupied: 0,
                counters: PortCounters::default(),
            });
        }
        Self { slots: Vec::new(), free: NONE, ports: states, index_of, ready: Vec::new() }
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

    /// Packets waiting in all queues of all ports.
    pub fn waiting(&self) -> u64 {
        let queues = self.ports.iter().flat_map(|port| &port.queues);
        queues.map(|queue| u64::from(queue.pkts)).sum()
    }

    /// Adds an item of `frame_bytes` to a queue, or drops and counts it. Priorities above 7 count as 7.
    ///
    /// # Errors
    /// Why the item was dropped.
    pub fn enqueue(
        &mut self,
        port: PortIndex,
        priority: u8,
        frame_bytes: u32,
        item: T,
    ) -> Result<(), DropCause> {
        let state = &mut self.ports[usize::from(port.0)];
        let at = queue_of(priority);
        if let Err(cause) = admit(&state.config, &state.queues[at]) {
            state.counters.queues[at].dropped.add(cause);
            return Err(cause);
        }
        let link_bytes = link_bytes(state.config.framing_bytes, frame_bytes);
        let enq_depth = state.queues[at].depth(state.config.qdepth_unit);
        let slot = take_slot(
            &mut self.slots,
            &mut self.free,
            Slot { next: NONE, link_bytes, enq_depth, item: Some(item) },
        );
        if state.occupied == 0 {
            self.ready.push(port);
        }
        state.occupied |= 1 << at;
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
        Ok(())
    }

    /// Takes the first item of the highest occupied queue.
    pub fn dequeue(&mut self, port: PortIndex) -> Option<Dequeued<T>> {
        let state = &mut self.ports[usize::from(port.0)];
        let at = state.occupied.checked_ilog2()? as usize;
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
        slot.next = self.free;
        self.free = taken;
        Some(dequeued)
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
        dropped
    }
}

/// Which queue a priority goes to.
fn queue_of(priority: u8) -> usize {
    usize::from(priority).min(PRIORITIES - 1)
}

/// Whether a queue takes one packet more (spec 1.2: drop if `q + 1 > B`).
fn admit(config: &PortConfig, queue: &Queue) -> Result<(), DropCause> {
    if queue.pkts >= config.capacity_pkts {
        return Err(DropCause::TailDrop);
    }
    Ok(())
}

/// Bytes that a frame takes on a link: its IP bytes and the link's framing.
pub fn link_bytes(framing_bytes: u32, frame_bytes: u32) -> u32 {
    frame_bytes.saturating_sub(ETHERNET_HEADER_BYTES) + framing_bytes
}

/// How long a frame takes on the link of a port.
pub(crate) fn time_on_link(config: &PortConfig, frame_bytes: u32) -> p4cc_units::Span {
    config.rate.time_to_send(Bytes(u64::from(link_bytes(config.framing_bytes, frame_bytes))))
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
        let config =
            PortConfig { port: 9, rate: Rate::from_bps(8), capacity_pkts, framing_bytes: 0, qdepth_unit };
        let manager = TrafficManager::new(&[config]);
        let port = manager.port(9).expect("the port above");
        (manager, port)
    }

    #[test]
    fn the_capacity_is_exact_and_drops_are_counted() {
        let (mut manager, port) = manager(3, QdepthUnit::Packets);
        for item in 0..5 {
            let result = manager.enqueue(port, 0, 114, item);
            assert_eq!(result, if item < 3 { Ok(()) } else { Err(DropCause::TailDrop) });
        }
        // Another queue of the port has a capacity of its own.
        assert_eq!(manager.enqueue(port, 5, 114, 9), Ok(()));
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
            assert_eq!(manager.enqueue(port, 0, 100, item), Ok(()));
        }
        for (enq_depth, deq_depth) in [(0, 2), (1, 1), (2, 0)] {
            let got = manager.dequeue(port).expect("three wait");
            assert_eq!((got.enq_depth, got.deq_depth, got.item), (enq_depth, deq_depth, enq_depth));
        }
        assert!(manager.dequeue(port).is_none());
    }

    #[test]
    fn cells_round_up_for_each_packet() {
        let (mut manager, port) = manager(10, QdepthUnit::Cells80);
        for (item, frame_bytes) in [(0, 14 + 81), (1, 14 + 80), (2, 14)] {
            assert_eq!(manager.enqueue(port, 0, frame_bytes, item), Ok(()));
        }
        for (enq_depth, deq_depth) in [(0, 1), (2, 0), (3, 0)] {
            let got = manager.dequeue(port).expect("three wait");
            assert_eq!((got.enq_depth, got.deq_depth), (enq_depth, deq_depth));
        }
    }

    #[test]
    fn higher_priorities_go_first_and_each_queue_is_in_order() {
        let (mut manager, port) = manager(10, QdepthUnit::Packets);
        for (priority, item) in [(0, 1), (7, 2), (3, 3), (7, 4), (200, 5), (0, 6)] {
            assert_eq!(manager.enqueue(port, priority, 100, item), Ok(()));
        }
        let order: Vec<u32> = core::iter::from_fn(|| manager.dequeue(port)).map(|got| got.item).collect();
        assert_eq!(order, [2, 4, 5, 3, 1, 6]);
    }

    #[test]
    fn a_port_is_ready_once_for_each_time_it_was_empty() {
        let (mut manager, port) = manager(10, QdepthUnit::Packets);
        assert_eq!(manager.next_ready(), None);
        for item in 0..2 {
            assert_eq!(manager.enqueue(port, 0, 100, item), Ok(()));
        }
        assert_eq!((manager.next_ready(), manager.next_ready()), (Some(9), None));
        while manager.dequeue(port).is_some() {}
        assert_eq!(manager.enqueue(port, 0, 100, 3), Ok(()));
        assert_eq!(manager.next_ready(), Some(9));
    }

    #[test]
    fn slots_are_used_again() {
        let (mut manager, port) = manager(100, QdepthUnit::Packets);
        for item in 0..1_000 {
            assert_eq!(manager.enqueue(port, (item % 8) as u8, 100, item), Ok(()));
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
