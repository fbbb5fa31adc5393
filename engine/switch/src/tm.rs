//! The traffic manager: eight queues for each port, strict priority or turns ([`crate::tm_schedule`]), tail
//! drop or a shared buffer, PFC (IEEE 802.1Qbb).
//!
//! Waiting items are in one pool, and queues are lists through the pool. So memory follows the number of
//! waiting packets, not the capacities, and a packet is moved once in and once out. A packet that its queue's
//! capacity admits may still be refused by the shared buffer ([`crate::tm_buffer`]). A priority that the
//! neighbour paused keeps its packets.
//!
//! Invariants: a depth never exceeds the queue's capacity. The item on the wire is in no depth. A slot is in
//! exactly one list, a queue's or the free list. No packet leaves a paused queue.

use p4cc_units::Time;

use crate::config::{BufferConfig, MAX_PORTS, PRIORITIES, PortConfig};
use crate::counters::{DropCause, PauseCounters, PortCounters, QueueCounters};
use crate::tm_buffer::{Charged, PauseFrame, SharedBuffer};
use crate::tm_state::{NONE, Port, PortRest, Queue, link_bytes};

/// Position of a port in the traffic manager.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PortIndex(pub(crate) u16);

impl PortIndex {
    /// In the place of an index where there is none.
    pub(crate) const NOWHERE: Self = Self(u16::MAX);

    #[inline]
    pub(crate) fn at(self) -> usize {
        usize::from(self.0)
    }

    /// Place of one of the port's queues.
    #[inline]
    pub(crate) fn queue(self, at: usize) -> usize {
        self.at() * PRIORITIES + at
    }

    /// Places of all its queues.
    pub(crate) fn queues(self) -> core::ops::Range<usize> {
        self.queue(0)..self.queue(PRIORITIES)
    }
}

/// Queues, their counters and the pool behind them.
#[derive(Clone, Debug)]
// In the order of fields: what every packet touches first, then what few do.
#[repr(C, align(64))]
pub struct TrafficManager<T> {
    pub(crate) ports: Vec<Port>,
    /// Eight for each port.
    pub(crate) queues: Vec<Queue>,
    /// Ports are numbered from `first_port` on in the order of their positions, so many of them: as a rule
    /// all, and then `index_of` is not looked at. None as soon as numbers come and go.
    first_port: u32,
    pub(crate) in_order: u32,
    free: u32,
    /// Ports that got work while they had none, in the order in which they got it.
    pub(crate) ready: Vec<PortIndex>,
    /// Pause and resume frames to send, in order.
    frames: std::collections::VecDeque<PauseFrame>,
    pub(crate) buffer: Option<SharedBuffer>,
    pub(crate) slots: Vec<Slot<T>>,
    pub(crate) rest: Vec<PortRest>,
    /// By port number, as far as there are ports; [`PortIndex::NOWHERE`] where there is none.
    pub(crate) index_of: Vec<PortIndex>,
}

/// A place in the pool.
#[derive(Clone, Debug)]
pub(crate) struct Slot<T> {
    next: u32,
    link_bytes: u32,
    enq_depth: u32,
    /// Port that the item came in on.
    ingress: PortIndex,
    item: Option<T>,
}

/// A frame that the shared buffer has taken in.
pub(crate) struct Admitted {
    port: PortIndex,
    /// Port that it came in on.
    ingress: PortIndex,
    link_bytes: u32,
    /// Its queue.
    at: u8,
    /// The neighbour that sent it is to pause.
    pub pauses: bool,
}

/// An item taken out of a queue.
#[derive(Debug)]
pub struct Dequeued<T> {
    /// The item.
    pub item: T,
    /// Number of its port.
    pub port: u32,
    /// Its queue.
    pub priority: u8,
    /// Depth of the queue before the item was added, in the port's unit.
    pub enq_depth: u32,
    /// Depth of the queue after the item was taken out, in the port's unit.
    pub deq_depth: u32,
}

impl Dequeued<()> {
    #[inline(always)]
    fn with<T>(self, item: T) -> Dequeued<T> {
        let Self { port, priority, enq_depth, deq_depth, .. } = self;
        Dequeued { item, port, priority, enq_depth, deq_depth }
    }
}

impl<T> TrafficManager<T> {
    /// Empty queues for these ports; a port number that does not fit, or comes again, gets no queues.
    pub fn new(ports: &[PortConfig], buffer: Option<&BufferConfig>) -> Self {
        let mut manager = Self {
            ports: Vec::with_capacity(ports.len()),
            queues: Vec::with_capacity(ports.len() * PRIORITIES),
            slots: Vec::new(),
            index_of: Vec::new(),
            first_port: 0,
            in_order: 0,
            ready: Vec::new(),
            free: NONE,
            buffer: None,
            frames: std::collections::VecDeque::new(),
            rest: Vec::with_capacity(ports.len()),
        };
        let mut configs = Vec::with_capacity(ports.len());
        for config in ports {
            if manager.has_no_port(config.port) {
                manager.set_port(manager.ports.len(), config);
                configs.push(*config);
            }
        }
        manager.buffer = buffer.map(|buffer| SharedBuffer::new(buffer, &configs));
        manager.first_port = manager.ports.first().map_or(0, Port::number);
        if (manager.first_port..).zip(&manager.ports).all(|(number, port)| port.number() == number) {
            manager.in_order = manager.ports.len() as u32;
        }
        manager
    }

    /// Whether a number is free for a port.
    pub(crate) fn has_no_port(&self, number: u32) -> bool {
        number < MAX_PORTS && self.port(number).is_none()
    }

    /// Lays out a port, whose number is free, at a position: one that there is, or the next one.
    pub(crate) fn set_port(&mut self, at: usize, config: &PortConfig) {
        let index = PortIndex(at as u16);
        if at == self.ports.len() {
            self.ports.push(Port::new(config));
            self.rest.push(PortRest::new(config));
            self.queues.extend(core::iter::repeat_n(Queue::new(config), PRIORITIES));
        } else {
            self.ports[at] = Port::new(config);
            self.rest[at] = PortRest::new(config);
            self.queues[index.queues()].fill(Queue::new(config));
        }
        let number = config.port as usize;
        if self.index_of.len() <= number {
            self.index_of.resize(number + 1, PortIndex::NOWHERE);
        }
        self.index_of[number] = index;
    }

    /// The port of this number.
    #[inline]
    pub fn port(&self, number: u32) -> Option<PortIndex> {
        let at = number.wrapping_sub(self.first_port);
        if at < self.in_order { Some(PortIndex(at as u16)) } else { self.find_port(number) }
    }

    #[cold]
    fn find_port(&self, number: u32) -> Option<PortIndex> {
        self.index_of.get(number as usize).copied().filter(|index| *index != PortIndex::NOWHERE)
    }

    /// What every packet touches of a port.
    #[inline]
    pub(crate) fn at(&self, port: PortIndex) -> &Port {
        &self.ports[port.at()]
    }

    /// The same, to count into.
    #[inline]
    pub(crate) fn at_mut(&mut self, port: PortIndex) -> &mut Port {
        &mut self.ports[port.at()]
    }

    /// Counters of a port.
    pub fn counters(&self, port: PortIndex) -> PortCounters {
        let (state, rest) = (self.at(port), &self.rest[port.at()]);
        let queue = |at: usize| {
            let queue = &self.queues[port.queue(at)];
            QueueCounters {
                enqueued_pkts: queue.enqueued_pkts,
                enqueued_bytes: queue.enqueued_bytes,
                peak_depth_pkts: queue.peak_depth_pkts,
                peak_depth_bytes: queue.peak_depth_bytes,
                dropped: rest.dropped[at],
            }
        };
        PortCounters {
            rx_pkts: state.received.pkts,
            rx_bytes: state.received.bytes,
            tx_pkts: state.sent.pkts,
            tx_bytes: state.sent.bytes,
            queues: core::array::from_fn(queue),
            pauses: core::array::from_fn(|at| self.pauses_past(port, at)),
        }
    }

    /// Counts a drop against a port and priority.
    #[cold]
    pub(crate) fn count_drop(&mut self, port: PortIndex, priority: u8, cause: DropCause) {
        self.count_drops(port, priority, cause, 1);
    }

    /// Counts drops against a port and priority.
    #[cold]
    pub(crate) fn count_drops(&mut self, port: PortIndex, priority: u8, cause: DropCause, pkts: u64) {
        self.rest[port.at()].dropped[usize::from(priority & 7)].add_many(cause, pkts);
    }

    /// Everything that waits, in no order that means anything.
    pub(crate) fn items(&self) -> impl Iterator<Item = &T> {
        self.slots.iter().filter_map(|slot| slot.item.as_ref())
    }

    /// Puts a port that has something to send into the list of ready ports again.
    pub(crate) fn mark_ready(&mut self, port: PortIndex) {
        if self.has_sendable(port) {
            self.ready.push(port);
        }
    }

    /// Packets waiting in one queue.
    pub fn depth_pkts(&self, port: PortIndex, priority: u8) -> u32 {
        self.queues[port.queue(queue_of(priority))].pkts
    }

    /// Depth of a queue as the program sees it.
    pub(crate) fn depth(&self, port: PortIndex, priority: u8) -> u32 {
        self.queues[port.queue(queue_of(priority))].depth(self.at(port).qdepth_unit)
    }

    /// Whether a queue's own capacity takes a frame.
    pub(crate) fn has_room(&self, port: PortIndex, priority: u8, frame_bytes: u32) -> bool {
        let link_bytes = link_bytes(self.at(port).framing_bytes, frame_bytes);
        self.queues[port.queue(queue_of(priority))].has_room(link_bytes)
    }

    /// Packets waiting in all queues of a port.
    pub fn port_depth_pkts(&self, port: PortIndex) -> u32 {
        if self.at(port).occupied == 0 {
            return 0;
        }
        self.queues[port.queues()].iter().map(|queue| queue.pkts).sum()
    }

    /// Bytes waiting in all queues of a port.
    pub fn port_depth_bytes(&self, port: PortIndex) -> u64 {
        if self.at(port).occupied == 0 {
            return 0;
        }
        self.queues[port.queues()].iter().map(|queue| queue.bytes).sum()
    }

    /// Packets waiting in all queues of all ports.
    pub fn waiting(&self) -> u64 {
        self.queues.iter().map(|queue| u64::from(queue.pkts)).sum()
    }

    /// Whether a port has something that it may send.
    #[inline]
    pub fn has_sendable(&self, port: PortIndex) -> bool {
        self.at(port).sendable() != 0
    }

    /// Adds an item of `frame_bytes` that came in on `ingress` to a
    /// queue, or drops and counts it. Priorities above 7 count as 7.
    ///
    /// # Errors
    /// Why the item was dropped.
    #[inline(always)]
    pub fn enqueue(
        &mut self,
        port: PortIndex,
        priority: u8,
        frame_bytes: u32,
        ingress: Option<PortIndex>,
        item: T,
    ) -> Result<(), DropCause> {
        let (refusal, admitted) = self.charge(port, priority, frame_bytes, ingress);
        match refusal {
            Some(cause) => Err(cause),
            None => {
                self.put(admitted, item);
                Ok(())
            }
        }
    }

    /// Takes a frame into the shared buffer that comes in on `ingress` for a queue, which must have room for
    /// it; else counts it as dropped. The caller puts it into the queue, or counts its bypass, at once.
    ///
    /// # Errors
    /// Why it is dropped.
    #[inline(always)]
    pub(crate) fn admit(
        &mut self,
        port: PortIndex,
        priority: u8,
        frame_bytes: u32,
        ingress: Option<PortIndex>,
    ) -> Result<Admitted, DropCause> {
        let (refusal, admitted) = self.charge(port, priority, frame_bytes, ingress);
        refusal.map_or(Ok(admitted), Err)
    }

    /// The same; what is admitted counts where nothing is refused.
    #[inline(always)]
    fn charge(
        &mut self,
        port: PortIndex,
        priority: u8,
        frame_bytes: u32,
        ingress: Option<PortIndex>,
    ) -> (Option<DropCause>, Admitted) {
        let at = queue_of(priority);
        let queue = &self.queues[port.queue(at)];
        let link_bytes = link_bytes(self.ports[port.at()].framing_bytes, frame_bytes);
        let ingress = ingress.unwrap_or(PortIndex::NOWHERE);
        let mut pauses = false;
        let refusal = if queue.has_room(link_bytes) {
            let admitted = self
                .buffer
                .as_mut()
                .map(|buffer| buffer.admit(&charged(ingress, at, link_bytes), port.at(), queue.bytes));
            admitted.and_then(|admitted| admitted.map(|due| pauses = due).err())
        } else {
            Some(DropCause::TailDrop)
        };
        if let Some(cause) = refusal {
            self.count_drop(port, at as u8, cause);
        }
        (refusal, Admitted { port, ingress, link_bytes, at: at as u8, pauses })
    }

    /// Whether what is enqueued for a port and priority would be the next to
    /// leave, and nothing else is to be done first: such a frame may bypass its queue.
    #[inline]
    pub(crate) fn can_bypass(&self, port: PortIndex, priority: u8) -> bool {
        let state = self.at(port);
        let is_idle =
            state.occupied == 0 && state.rated == 0 && state.paused & (1 << queue_of(priority)) == 0;
        is_idle && self.ready.is_empty() && self.frames.is_empty()
    }

    /// Counts a frame in and out of a queue that is empty,
    /// where that is all there is to do: whether it is so.
    #[inline]
    pub(crate) fn try_bypass(
        &mut self,
        port: PortIndex,
        priority: u8,
        frame_bytes: u32,
        ingress: PortIndex,
    ) -> bool {
        let at = queue_of(priority);
        let link_bytes = link_bytes(self.ports[port.at()].framing_bytes, frame_bytes);
        let queue = &mut self.queues[port.queue(at)];
        let packet = charged(ingress, at, link_bytes);
        let is_plain = queue.has_room(link_bytes)
            && self.buffer.as_mut().is_none_or(|buffer| buffer.try_bypass(&packet, port.at()));
        if is_plain {
            queue.count(link_bytes, 1, link_bytes.into());
        }
        is_plain
    }

    /// Counts a frame in and out of a queue that is empty, as if it had been put there and taken out.
    #[inline]
    pub(crate) fn bypass(&mut self, admitted: &Admitted) {
        let Admitted { port, ingress, link_bytes, at, .. } = *admitted;
        self.queues[port.queue(at.into())].count(link_bytes, 1, link_bytes.into());
        self.give_back(ingress, at, link_bytes);
    }

    /// Puts an item into its queue.
    #[inline(always)]
    pub(crate) fn put(&mut self, admitted: Admitted, item: T) {
        let Admitted { port, ingress, link_bytes, at, pauses } = admitted;
        let state = &mut self.ports[port.at()];
        let queue = &mut self.queues[port.queue(at.into())];
        let enq_depth = queue.depth(state.qdepth_unit);
        if self.free == NONE {
            add_free_slot(&mut self.slots, &mut self.free);
        }
        let place = self.free;
        let slot = &mut self.slots[place as usize];
        self.free = slot.next;
        (slot.next, slot.link_bytes, slot.enq_depth, slot.ingress) = (NONE, link_bytes, enq_depth, ingress);
        // A free slot has no item: nothing is dropped here.
        slot.item.get_or_insert(item);
        let (could, waited) = (state.sendable(), state.waits_for_rate());
        state.occupied |= 1 << at;
        // A port is also ready with the first packet that waits
        // for its queue's rate only: it must know until when.
        if could == 0 && (state.sendable() != 0 || state.waits_for_rate() != waited) {
            self.ready.push(port);
        }
        match queue.tail {
            NONE => queue.head = place,
            tail => self.slots[tail as usize].next = place,
        }
        queue.tail = place;
        queue.add(link_bytes, state.qdepth_unit);
        if pauses {
            self.rest[ingress.at()].pauses[usize::from(at)].sent += 1;
            let towards = self.ports[port.at()].number();
            self.queue_pause_frame(ingress.at(), at, Some(towards));
        }
    }

    /// Gives back to the shared buffer what a frame took of it.
    #[inline(always)]
    fn give_back(&mut self, ingress: PortIndex, at: u8, link_bytes: u32) {
        if let Some(buffer) = &mut self.buffer
            && buffer.release(&charged(ingress, at.into(), link_bytes))
        {
            self.rest[ingress.at()].pauses[usize::from(at)].resumes_sent += 1;
            self.queue_pause_frame(ingress.at(), at, None);
        }
    }

    /// A pause for what waits towards a port, or a resume.
    #[cold]
    fn queue_pause_frame(&mut self, ingress: usize, priority: u8, towards: Option<u32>) {
        let port = self.ports[ingress].number();
        self.frames.push_back(PauseFrame { port, priority, pause: towards.is_some(), towards });
    }

    /// Whether there is a pause or resume frame to send.
    #[inline]
    pub fn has_pause_frames(&self) -> bool {
        !self.frames.is_empty()
    }

    /// The next pause or resume frame to send; there may be one after each enqueue and dequeue.
    #[inline]
    pub fn next_pause_frame(&mut self) -> Option<PauseFrame> {
        if self.has_pause_frames() { self.frames.pop_front() } else { None }
    }

    /// The neighbour at a port pauses a priority, or lets it go on. Ask [`Self::next_ready`] afterwards.
    pub fn set_paused(&mut self, now: Time, port: PortIndex, priority: u8, pause: bool) {
        let (state, rest) = (&mut self.ports[port.at()], &mut self.rest[port.at()]);
        let at = queue_of(priority);
        let bit = 1 << at;
        if (rest.paused_by_neighbour & bit != 0) == pause {
            return;
        }
        if pause {
            rest.pauses[at].begin(now);
            rest.paused_since[at] = now;
            rest.paused_by_neighbour |= bit;
            state.paused |= bit;
            return;
        }
        rest.pauses[at].end(rest.paused_since[at], now);
        rest.paused_by_neighbour &= !bit;
        self.settle_pauses(port);
    }

    /// The program keeps a queue from sending, or lets it send. Ask [`Self::next_ready`] afterwards.
    pub(crate) fn set_paused_by_program(&mut self, port: PortIndex, priority: u8, pause: bool) {
        let (rest, bit) = (&mut self.rest[port.at()], 1 << queue_of(priority));
        rest.paused_by_program = rest.paused_by_program & !bit | if pause { bit } else { 0 };
        self.settle_pauses(port);
    }

    /// Adds up who pauses the queues of a port; one that has work again is ready.
    fn settle_pauses(&mut self, port: PortIndex) {
        let (state, rest) = (&mut self.ports[port.at()], &self.rest[port.at()]);
        let (could, waited) = (state.sendable(), state.waits_for_rate());
        state.paused = rest.paused_by_neighbour | rest.paused_by_program;
        // A queue that waits for its rate alone must know until when, as in `put`.
        if could == 0 && (state.sendable() != 0 || state.waits_for_rate() & !waited != 0) {
            self.ready.push(port);
        }
    }

    /// Since when the neighbour has kept a priority paused; none if it may send.
    pub fn paused_since(&self, port: PortIndex, priority: u8) -> Option<Time> {
        let (rest, at) = (&self.rest[port.at()], queue_of(priority));
        (rest.paused_by_neighbour & (1 << at) != 0).then_some(rest.paused_since[at])
    }

    /// What is counted of the pauses of a priority, without one that lasts.
    fn pauses_past(&self, port: PortIndex, at: usize) -> PauseCounters {
        let charge = self.buffer.as_ref().map(|buffer| buffer.charge(port.at(), at as u8));
        PauseCounters {
            peak_ingress_bytes: charge.map_or(0, |charge| charge.peak_ingress_bytes),
            peak_headroom_bytes: charge.map_or(0, |charge| charge.peak_headroom_bytes),
            ..self.rest[port.at()].pauses[at]
        }
    }

    /// What is counted of the pauses of a priority, a pause that lasts included.
    pub fn pauses(&self, port: PortIndex, priority: u8, now: Time) -> PauseCounters {
        self.pauses_past(port, queue_of(priority)).up_to(self.paused_since(port, priority), now)
    }

    /// The pause that this switch sent at a port and
    /// priority has lapsed: the next packet may bring another.
    pub fn lapse(&mut self, port: PortIndex, priority: u8) {
        if let Some(buffer) = &mut self.buffer {
            buffer.lapse(port.at(), priority);
        }
    }

    /// Whether a paused queue holds a packet that is charged to an ingress
    /// port and priority which this switch has paused: a step of a cyclic
    /// wait. Gives the pairs of ingress and egress port numbers, in order.
    pub fn waits(&self, priority: u8) -> Vec<(u32, u32)> {
        let Some(buffer) = &self.buffer else { return Vec::new() };
        let at = queue_of(priority);
        let mut found = std::collections::BTreeSet::new();
        for (index, (port, rest)) in (0..).zip(self.ports.iter().zip(&self.rest)) {
            if rest.paused_by_neighbour & port.occupied & (1 << at) == 0 {
                continue;
            }
            let mut place = self.queues[PortIndex(index).queue(at)].head;
            while let Some(slot) = self.slots.get(place as usize) {
                if let Some(ingress) = self.ports.get(slot.ingress.at())
                    && buffer.charge(slot.ingress.at(), priority).paused
                {
                    found.insert((ingress.number(), port.number()));
                }
                place = slot.next;
            }
        }
        found.into_iter().collect()
    }

    /// Takes the first item of the queue that sends next: of those that are not paused the highest, or by
    /// turns.
    // The item is taken last: behind all that could panic, it moves from its slot to where it is used.
    #[inline(always)]
    pub fn dequeue(&mut self, port: PortIndex) -> Option<Dequeued<T>> {
        let state = self.at(port);
        let (sendable, takes_turns) = (state.sendable(), state.takes_turns);
        let at =
            if takes_turns { self.take_turn(port, sendable)? } else { sendable.checked_ilog2()? as usize };
        let (place, left) = self.unlink(port, at);
        if takes_turns {
            self.end_turn(port, at);
        }
        let item = self.slots[place as usize].item.take()?;
        Some(left.with(item))
    }

    /// The queue whose turn it is.
    #[inline(never)]
    fn take_turn(&mut self, port: PortIndex, sendable: u8) -> Option<usize> {
        let Self { rest, queues, slots, .. } = self;
        let turns = rest[port.at()].turns.as_mut()?;
        turns.take(sendable, |at| slots[queues[port.queue(at)].head as usize].link_bytes)
    }

    /// A queue has sent; its turn ends if it is empty.
    #[inline(never)]
    fn end_turn(&mut self, port: PortIndex, at: usize) {
        let occupied = self.at(port).occupied;
        if occupied & (1 << at) == 0
            && let Some(turns) = &mut self.rest[port.at()].turns
        {
            turns.emptied(at, occupied);
        }
    }

    /// Takes the first item of the highest occupied queue, paused or not.
    pub(crate) fn dequeue_paused(&mut self, port: PortIndex) -> Option<Dequeued<T>> {
        let at = self.at(port).occupied.checked_ilog2()?;
        self.dequeue_of(port, at as usize)
    }

    /// Whether ports share a buffer.
    pub(crate) fn has_buffer(&self) -> bool {
        self.buffer.is_some()
    }

    /// Takes the first item of a queue.
    pub(crate) fn dequeue_of(&mut self, port: PortIndex, at: usize) -> Option<Dequeued<T>> {
        let (place, left) = self.unlink(port, at);
        let item = self.slots[place as usize].item.take()?;
        Some(left.with(item))
    }

    /// Takes the first place out of a queue that has one. Its item, still there, is to be taken at once.
    #[inline(always)]
    fn unlink(&mut self, port: PortIndex, at: usize) -> (u32, Dequeued<()>) {
        let state = &mut self.ports[port.at()];
        let queue = &mut self.queues[port.queue(at)];
        let place = queue.head;
        let slot = &mut self.slots[place as usize];
        let Slot { next, link_bytes, enq_depth, ingress, .. } = *slot;
        slot.next = self.free;
        self.free = place;
        queue.head = next;
        queue.remove(link_bytes, state.qdepth_unit);
        if next == NONE {
            queue.tail = NONE;
            state.occupied &= !(1 << at);
        }
        let (deq_depth, port) = (queue.depth(state.qdepth_unit), state.number());
        self.give_back(ingress, at as u8, link_bytes);
        (place, Dequeued { item: (), port, priority: at as u8, enq_depth, deq_depth })
    }

    /// A port that got work while its queues were empty, once for each time that happened. The caller starts
    /// it if it is idle; a busy port is asked again when its transmission ends.
    #[inline]
    pub fn next_ready(&mut self) -> Option<u32> {
        let port = self.ready.pop()?;
        Some(self.at(port).number())
    }

    /// Drops everything that waits; returns how many.
    pub fn clear(&mut self) -> u64 {
        let dropped = self.waiting();
        self.slots.clear();
        self.free = NONE;
        self.ready.clear();
        self.queues.iter_mut().for_each(Queue::clear);
        for (port, rest) in self.ports.iter_mut().zip(&mut self.rest) {
            // The program that paused queues is gone, too.
            rest.paused_by_program = 0;
            if let Some(turns) = &mut rest.turns {
                turns.clear();
            }
            (port.occupied, port.paused) = (0, rest.paused_by_neighbour);
        }
        for (ingress, priority) in self.buffer.as_mut().map(SharedBuffer::clear).unwrap_or_default() {
            self.queue_pause_frame(ingress, priority, None);
        }
        dropped
    }
}

/// Makes room for one more item, where all slots are taken.
#[cold]
fn add_free_slot<T>(slots: &mut Vec<Slot<T>>, free: &mut u32) {
    slots.push(Slot { next: *free, link_bytes: 0, enq_depth: 0, ingress: PortIndex::NOWHERE, item: None });
    *free = (slots.len() - 1) as u32;
}

#[inline]
fn charged(ingress: PortIndex, queue: usize, link_bytes: u32) -> Charged {
    let ingress = (ingress != PortIndex::NOWHERE).then_some(ingress.at());
    Charged { ingress, priority: queue as u8, bytes: u64::from(link_bytes) }
}

/// Which queue a priority goes to.
#[inline]
pub(crate) fn queue_of(priority: u8) -> usize {
    usize::from(priority).min(PRIORITIES - 1)
}

#[cfg(test)]
mod tests {
    use p4cc_units::Rate;

    use super::*;
    use crate::config::QdepthUnit;

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
