//! Changes of a running switch's ports: links that come and go, rates, capacities. A port of a switch with
//! PFC (IEEE 802.1Qbb) cannot be added, since the shared buffer is laid out for its ports.

use p4cc_units::{Bytes, Rate, Span, Time};

use crate::DropCause;
use crate::config::{
    MAX_PORTS, MAX_QUEUE_PKTS, PRIORITIES, PortConfig, QdepthUnit, SchedulerConfig, ShaperConfig,
};
use crate::tm::{PortIndex, TrafficManager, queue_of};
use crate::tm_schedule::Turns;
use crate::tm_state::{QueueRate, link_bytes};

/// Most time that a queue with a rate makes up for when its port was looked at late.
const MAX_CATCH_UP: Span = Span::from_ms(5);

/// Which queues of a port a change is for.
fn queues(priority: Option<u8>) -> std::ops::Range<usize> {
    priority.map_or(0..PRIORITIES, |priority| {
        let at = queue_of(priority);
        at..at + 1
    })
}

impl<T> TrafficManager<T> {
    /// Adds a port in the place of one that is gone, if there is such a place; false if the port is there
    /// already, does not fit, or a shared buffer is laid out for the ports that there are.
    pub(crate) fn add_port(&mut self, config: PortConfig) -> bool {
        if self.has_buffer() || !self.has_no_port(config.port) {
            return false;
        }
        let used = |at: &usize| self.index_of.iter().any(|index| index.at() == *at);
        let at = (0..self.ports.len()).find(|at| !used(at)).unwrap_or(self.ports.len());
        if at >= MAX_PORTS as usize {
            return false;
        }
        self.set_port(at, &config);
        true
    }

    /// Removes a port and what waits for it; how many packets that was.
    pub(crate) fn remove_port(&mut self, port: PortIndex) -> u64 {
        let mut dropped = 0;
        while self.dequeue_paused(port).is_some() {
            dropped += 1;
        }
        self.ready.retain(|ready| *ready != port);
        self.in_order = 0;
        for place in &mut self.index_of {
            if *place == port {
                *place = PortIndex::NOWHERE;
            }
        }
        dropped
    }

    /// Sets the rate of a port's link, from the next packet on.
    pub(crate) fn set_rate(&mut self, port: PortIndex, rate: Rate) {
        self.ports[port.at()].set_rate(rate);
    }

    /// Sets the unit of a port's depths. What waits is counted in the old one: queues must be empty.
    pub(crate) fn set_qdepth_unit(&mut self, port: PortIndex, unit: QdepthUnit) {
        self.ports[port.at()].qdepth_unit = unit;
    }

    /// Sets the packets a second that a queue of a port, or
    /// each, sends at most; none for as many as the link takes.
    pub(crate) fn set_rate_pps(&mut self, port: PortIndex, priority: Option<u8>, rate_pps: Option<u64>) {
        /// Picoseconds of a second.
        const SECOND_PS: u64 = 1_000_000_000_000;
        let gap = |rate_pps: u64| QueueRate::Packets { gap: Span::from_ps(SECOND_PS / rate_pps.max(1)) };
        self.set_queue_rate(port, priority, rate_pps.map_or(QueueRate::Link, gap));
    }

    /// Sets the bits a second that a queue of a port, or each,
    /// sends at most; none for as many as the link takes.
    pub(crate) fn set_shaper(&mut self, port: PortIndex, priority: Option<u8>, shaper: Option<ShaperConfig>) {
        self.set_queue_rate(port, priority, shaper.map_or(QueueRate::Link, |shaper| QueueRate::of(&shaper)));
    }

    /// Sets in which order a port's queues send; turns begin anew.
    pub(crate) fn set_scheduler(&mut self, port: PortIndex, scheduler: &SchedulerConfig) {
        let turns = Turns::new(scheduler);
        self.ports[port.at()].takes_turns = turns.is_some();
        self.rest[port.at()].turns = turns;
    }

    fn set_queue_rate(&mut self, port: PortIndex, priority: Option<u8>, rate: QueueRate) {
        let (state, rest) = (&mut self.ports[port.at()], &mut self.rest[port.at()]);
        for at in queues(priority) {
            let bit = 1 << at;
            rest.rates[at] = rate;
            // What it sent at the old rate is no debt at the new one.
            (rest.full_at[at], rest.held_until[at]) = (Time::ZERO, Time::ZERO);
            state.rated = state.rated & !bit | if rate == QueueRate::Link { 0 } else { bit };
            state.held &= !bit;
            state.backlogged &= !bit;
        }
        if state.sendable() != 0 {
            self.ready.push(port);
        }
    }

    /// Lets queues go on whose rate allows another packet by now.
    #[inline]
    pub(crate) fn release(&mut self, port: PortIndex, now: Time) {
        if self.ports[port.at()].held != 0 {
            self.release_held(port, now);
        }
    }

    #[cold]
    fn release_held(&mut self, port: PortIndex, now: Time) {
        let state = &mut self.ports[port.at()];
        for (at, until) in self.rest[port.at()].held_until.iter().enumerate() {
            if *until <= now {
                state.held &= !(1 << at);
            }
        }
    }

    /// A packet of so many bytes left a queue; with a rate of its own, the queue's next one may have to wait.
    #[inline]
    pub(crate) fn hold(&mut self, port: PortIndex, priority: u8, frame_bytes: u32, now: Time) {
        if self.ports[port.at()].rated != 0 {
            self.hold_rated(port, queue_of(priority), frame_bytes, now);
        }
    }

    #[cold]
    fn hold_rated(&mut self, port: PortIndex, at: usize, frame_bytes: u32, now: Time) {
        let (state, rest, bit) = (&mut self.ports[port.at()], &mut self.rest[port.at()], 1 << at);
        match rest.rates[at] {
            QueueRate::Link => return,
            QueueRate::Packets { gap } => {
                // While packets wait, a port that is looked at late does not lower the rate.
                let due = rest.held_until[at];
                let kept_up = state.backlogged & bit != 0 && now.since(due) <= MAX_CATCH_UP;
                rest.held_until[at] = if kept_up { due } else { now } + gap;
            }
            QueueRate::Bits { rate, burst } => {
                let bytes = Bytes(link_bytes(state.framing_bytes, frame_bytes).into());
                let full_at = rest.full_at[at].max(now) + rate.time_to_send(bytes);
                rest.full_at[at] = full_at;
                rest.held_until[at] = Time::from_ps(full_at.as_ps().saturating_sub(burst.as_ps()));
            }
        }
        if rest.held_until[at] > now {
            state.held |= bit;
        }
        state.backlogged = state.backlogged & !bit | state.occupied & bit;
    }

    /// When a queue that has something and waits for its rate may send next.
    pub(crate) fn next_allowed(&self, port: PortIndex) -> Option<Time> {
        let waiting = self.at(port).waits_for_rate();
        if waiting == 0 {
            return None;
        }
        let rest = &self.rest[port.at()];
        (0..PRIORITIES).filter(|at| waiting & (1 << at) != 0).map(|at| rest.held_until[at]).min()
    }

    /// Sets the capacity of a queue of a port, or of each. What waits already stays.
    pub(crate) fn set_capacity(&mut self, port: PortIndex, priority: Option<u8>, capacity_pkts: u32) {
        let capacity_pkts = capacity_pkts.min(MAX_QUEUE_PKTS);
        for at in queues(priority) {
            let closed = self.rest[port.at()].closed.as_deref_mut().and_then(|closed| closed[at].as_mut());
            *closed.unwrap_or(&mut self.queues[port.queue(at)].capacity_pkts) = capacity_pkts;
        }
    }

    /// Empties a queue, paused or not, and lets nothing in until it is opened: how many packets were dropped.
    pub(crate) fn close_queue(&mut self, port: PortIndex, priority: u8) -> u64 {
        let at = queue_of(priority);
        let mut dropped = 0;
        while self.at(port).occupied & (1 << at) != 0 && self.dequeue_of(port, at).is_some() {
            dropped += 1;
        }
        self.count_drops(port, at as u8, DropCause::TailDrop, dropped);
        let (occupied, rest) = (self.at(port).occupied, &mut self.rest[port.at()]);
        if let Some(turns) = &mut rest.turns {
            turns.emptied(at, occupied);
        }
        let capacity_pkts = &mut self.queues[port.queue(at)].capacity_pkts;
        rest.closed.get_or_insert_default()[at].get_or_insert(core::mem::take(capacity_pkts));
        dropped
    }

    /// Opens a queue that was closed.
    pub(crate) fn open_queue(&mut self, port: PortIndex, priority: u8) {
        let at = queue_of(priority);
        let closed = self.rest[port.at()].closed.as_deref_mut().and_then(|closed| closed[at].take());
        if let Some(capacity_pkts) = closed {
            self.queues[port.queue(at)].capacity_pkts = capacity_pkts;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manager() -> TrafficManager<u32> {
        let config = |port| PortConfig {
            port,
            rate: Rate::from_bps(8_000),
            capacity_pkts: 3,
            ..PortConfig::default()
        };
        TrafficManager::new(&[config(1), config(2)], None)
    }

    fn accepted(manager: &mut TrafficManager<u32>, port: u32, priority: u8) -> u32 {
        let port = manager.port(port).expect("a port");
        (0..10).map(|item| u32::from(manager.enqueue(port, priority, 114, None, item).is_ok())).sum()
    }

    #[test]
    fn capacities_are_each_queues_own() {
        let mut manager = manager();
        let port = manager.port(1).expect("a port");
        manager.set_capacity(port, Some(2), 5);
        assert_eq!((accepted(&mut manager, 1, 2), accepted(&mut manager, 1, 0)), (5, 3));
        manager.set_capacity(port, None, 7);
        assert_eq!((accepted(&mut manager, 1, 2), accepted(&mut manager, 1, 0)), (2, 4));
    }

    #[test]
    fn a_closed_queue_drops_what_waits_and_takes_nothing_until_it_is_opened() {
        let mut manager = manager();
        let port = manager.port(1).expect("a port");
        assert_eq!((accepted(&mut manager, 1, 2), accepted(&mut manager, 1, 0)), (3, 3));
        manager.set_paused(Time::ZERO, port, 2, true);
        assert_eq!(manager.close_queue(port, 2), 3);
        assert_eq!(manager.close_queue(port, 2), 0, "closed already");
        assert_eq!((accepted(&mut manager, 1, 2), manager.depth_pkts(port, 0)), (0, 3));
        manager.set_capacity(port, Some(2), 5);
        assert_eq!(accepted(&mut manager, 1, 2), 0, "a capacity does not open it");
        manager.open_queue(port, 2);
        assert_eq!(accepted(&mut manager, 1, 2), 5);
        // Beyond the capacities 7, 7 and 5, the 3 that waited, and 20 while it was closed.
        let dropped = |queue: usize| manager.counters(port).queues[queue].dropped.of(DropCause::TailDrop);
        assert_eq!((dropped(0), dropped(2)), (7, 35));
    }

    #[test]
    fn a_links_rate_is_that_of_its_bytes() {
        let mut manager = manager();
        let port = manager.port(1).expect("a port");
        assert_eq!(manager.at(port).time_on_link(114), Span::from_ms(100));
        manager.set_rate(port, Rate::from_bps(800));
        assert_eq!(manager.at(port).time_on_link(114), Span::from_ms(1_000));
    }

    /// What a port sends when it is asked at this time.
    fn sent(manager: &mut TrafficManager<u32>, ms: u64) -> Vec<(u8, u32)> {
        let (port, now) = (manager.port(1).expect("a port"), Time::from_ms(ms));
        let mut sent = Vec::new();
        manager.release(port, now);
        while let Some(left) = manager.dequeue(port) {
            manager.hold(port, left.priority, 114, now);
            sent.push((left.priority, left.item));
        }
        sent
    }

    #[test]
    fn a_rate_of_one_queue_leaves_the_others_alone() {
        let mut manager = manager();
        let port = manager.port(1).expect("a port");
        manager.set_rate_pps(port, Some(7), Some(100));
        accepted(&mut manager, 1, 7);
        accepted(&mut manager, 1, 0);
        // The slow queue is of the higher priority, and yet the other does not wait for it.
        assert_eq!(sent(&mut manager, 0), [(7, 0), (0, 0), (0, 1), (0, 2)]);
        assert_eq!(manager.next_allowed(port), Some(Time::from_ms(10)));
        assert_eq!(sent(&mut manager, 9), []);
        // A late look is made up for.
        assert_eq!(sent(&mut manager, 12), [(7, 1)]);
        assert_eq!(manager.next_allowed(port), Some(Time::from_ms(20)));
        assert_eq!(sent(&mut manager, 20), [(7, 2)]);
        assert_eq!(manager.next_allowed(port), None, "nothing waits");
        while manager.next_ready().is_some() {}
        accepted(&mut manager, 1, 7);
        assert_eq!(manager.next_ready(), Some(1), "the port is ready, to learn until when it waits");
        assert_eq!(
            (sent(&mut manager, 21), manager.next_allowed(port)),
            (Vec::new(), Some(Time::from_ms(30)))
        );
        manager.set_rate_pps(port, None, None);
        assert_eq!(manager.next_ready(), Some(1));
        assert_eq!(sent(&mut manager, 21).len(), 3);
    }

    #[test]
    fn the_rate_of_a_queue_outlives_that_of_another() {
        let mut manager = manager();
        let port = manager.port(1).expect("a port");
        manager.set_rate_pps(port, Some(7), Some(100));
        manager.set_rate_pps(port, Some(6), Some(100));
        manager.set_rate_pps(port, Some(7), None);
        accepted(&mut manager, 1, 7);
        accepted(&mut manager, 1, 6);
        assert_eq!(sent(&mut manager, 0), [(7, 0), (7, 1), (7, 2), (6, 0)]);
    }

    /// A port that is looked at up to 5 ms late makes up for it, if packets waited all the time.
    #[test]
    fn a_rate_is_made_up_for_while_packets_wait() {
        // When the second packet left, and when the third may.
        for (ms, next) in [(12, 20), (15, 20), (16, 26)] {
            let mut manager = manager();
            let port = manager.port(1).expect("a port");
            manager.set_rate_pps(port, Some(7), Some(100));
            accepted(&mut manager, 1, 7);
            assert_eq!((sent(&mut manager, 0).len(), sent(&mut manager, ms).len()), (1, 1));
            assert_eq!(manager.next_allowed(port), Some(Time::from_ms(next)), "looked at after {ms} ms");
        }
        let mut manager = manager();
        let port = manager.port(1).expect("a port");
        manager.set_rate_pps(port, Some(7), Some(100));
        manager.set_capacity(port, None, 1);
        for ms in [0, 12] {
            accepted(&mut manager, 1, 7);
            assert_eq!(sent(&mut manager, ms).len(), 1);
        }
        accepted(&mut manager, 1, 7);
        assert_eq!(manager.next_allowed(port), Some(Time::from_ms(22)), "nothing waited at 10 ms");
    }

    /// The second packet leaves an empty queue behind it, so the third is not late at 22 ms.
    #[test]
    fn a_rate_is_not_made_up_for_once_the_queue_was_empty() {
        let mut manager = manager();
        let port = manager.port(1).expect("a port");
        manager.set_rate_pps(port, Some(7), Some(100));
        manager.set_capacity(port, None, 2);
        accepted(&mut manager, 1, 7);
        assert_eq!((sent(&mut manager, 0).len(), sent(&mut manager, 10).len()), (1, 1));
        accepted(&mut manager, 1, 7);
        assert_eq!(sent(&mut manager, 22).len(), 1);
        assert_eq!(manager.next_allowed(port), Some(Time::from_ms(32)));
    }

    #[test]
    fn a_queue_that_loses_its_rate_may_send_at_once() {
        let mut manager = manager();
        let port = manager.port(1).expect("a port");
        manager.set_rate_pps(port, Some(7), Some(100));
        accepted(&mut manager, 1, 7);
        assert_eq!(sent(&mut manager, 0).len(), 1);
        while manager.next_ready().is_some() {}
        manager.set_rate_pps(port, Some(7), None);
        assert_eq!((manager.next_ready(), manager.dequeue(port).is_some()), (Some(1), true));
    }

    #[test]
    fn a_port_is_asked_again_when_the_first_of_its_queues_may_send() {
        let mut manager = manager();
        let port = manager.port(1).expect("a port");
        manager.set_rate_pps(port, Some(7), Some(100));
        manager.set_rate_pps(port, Some(6), Some(200));
        accepted(&mut manager, 1, 7);
        accepted(&mut manager, 1, 6);
        assert_eq!(sent(&mut manager, 0), [(7, 0), (6, 0)]);
        assert_eq!(manager.next_allowed(port), Some(Time::from_ms(5)));
    }

    /// Sent at 0 at the old rate, at 2 ms at the new one: the next may go 10 ms after that.
    #[test]
    fn a_new_rate_counts_from_its_first_packet() {
        let mut manager = manager();
        let port = manager.port(1).expect("a port");
        manager.set_rate_pps(port, Some(7), Some(100));
        accepted(&mut manager, 1, 7);
        assert_eq!(sent(&mut manager, 0).len(), 1);
        manager.set_rate_pps(port, Some(7), Some(100));
        assert_eq!(sent(&mut manager, 2).len(), 1);
        assert_eq!(manager.next_allowed(port), Some(Time::from_ms(12)));
    }

    /// 800 bit/s and packets of 100 bytes on the link: one a second, after a burst of 150 bytes.
    #[test]
    fn a_bucket_lets_its_burst_pass_and_then_its_rate() {
        let mut manager = manager();
        let port = manager.port(1).expect("a port");
        let shaper = ShaperConfig { rate: Rate::from_bps(800), burst_bytes: 150 };
        manager.set_shaper(port, Some(3), Some(shaper));
        manager.set_capacity(port, None, 9);
        accepted(&mut manager, 1, 3);
        // A packet starts while the debt is at most the burst: 100 bytes, then 200 are 50 too many.
        assert_eq!(sent(&mut manager, 0), [(3, 0), (3, 1)]);
        assert_eq!(manager.next_allowed(port), Some(Time::from_ms(500)));
        assert_eq!(sent(&mut manager, 499), []);
        assert_eq!(sent(&mut manager, 500), [(3, 2)]);
        assert_eq!(sent(&mut manager, 2_500), [(3, 3), (3, 4)]);
        assert_eq!(manager.next_allowed(port), Some(Time::from_ms(3_500)));
        // A new rate begins without the debt of the old one.
        let fast = ShaperConfig { rate: Rate::from_bps(8_000), burst_bytes: 0 };
        manager.set_shaper(port, Some(3), Some(fast));
        assert_eq!(sent(&mut manager, 2_500), [(3, 5)]);
        assert_eq!(manager.next_allowed(port), Some(Time::from_ms(2_600)));
        manager.set_shaper(port, None, None);
        assert_eq!(sent(&mut manager, 2_500).len(), 3);
    }

    /// A pause that ends while the queue waits for its rate: the port is ready, to learn until when.
    #[test]
    fn a_pause_ends_while_a_queue_waits_for_its_rate() {
        let mut manager = manager();
        let port = manager.port(1).expect("a port");
        manager.set_shaper(port, Some(3), Some(ShaperConfig { rate: Rate::from_bps(800), burst_bytes: 0 }));
        accepted(&mut manager, 1, 3);
        assert_eq!(sent(&mut manager, 0).len(), 1);
        manager.set_paused(Time::ZERO, port, 3, true);
        while manager.next_ready().is_some() {}
        assert_eq!((sent(&mut manager, 0), manager.next_allowed(port)), (Vec::new(), None));
        manager.set_paused(Time::from_ms(10), port, 3, false);
        assert_eq!(manager.next_ready(), Some(1));
        assert_eq!(
            (sent(&mut manager, 10), manager.next_allowed(port)),
            (Vec::new(), Some(Time::from_ms(1_000)))
        );
    }

    #[test]
    fn a_queue_waits_for_its_neighbour_and_for_the_program() {
        let mut manager = manager();
        let port = manager.port(1).expect("a port");
        manager.set_paused_by_program(port, 2, true);
        assert!(!manager.can_bypass(port, 2) && manager.can_bypass(port, 3));
        accepted(&mut manager, 1, 2);
        while manager.next_ready().is_some() {}
        assert_eq!((sent(&mut manager, 0), manager.paused_since(port, 2)), (Vec::new(), None));
        manager.set_paused(Time::ZERO, port, 2, true);
        manager.set_paused_by_program(port, 2, false);
        assert_eq!((sent(&mut manager, 0), manager.next_ready()), (Vec::new(), None));
        manager.set_paused(Time::from_ms(1), port, 2, false);
        assert_eq!((manager.next_ready(), sent(&mut manager, 1).len()), (Some(1), 3));
        // What the program paused goes on without it.
        manager.set_paused_by_program(port, 2, true);
        manager.clear();
        accepted(&mut manager, 1, 2);
        assert_eq!(sent(&mut manager, 1).len(), 3);
    }

    #[test]
    fn ports_come_and_go_in_bounded_room() {
        let mut manager = manager();
        for _ in 0..2_000 {
            let port = manager.port(2).expect("a port");
            let waited = u64::from(accepted(&mut manager, 2, 0));
            assert_eq!((waited, manager.remove_port(port)), (3, 3));
            assert_eq!(manager.port(2), None);
            assert_eq!(manager.next_ready(), None);
            assert!(manager.add_port(PortConfig { port: 2, capacity_pkts: 3, ..PortConfig::default() }));
        }
        assert_eq!(manager.ports.len(), 2);
        assert!(!manager.add_port(PortConfig { port: 2, ..PortConfig::default() }), "it is there");
        assert!(!manager.add_port(PortConfig { port: 512, ..PortConfig::default() }), "it does not fit");
    }
}
