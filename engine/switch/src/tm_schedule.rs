//! Which queue of a port sends next: levels served strictly, and turns within a level.
//!
//! Queues of one level take turns in the order of their numbers. On its turn a queue sends until its deficit
//! does not cover its first packet: deficit round robin (docs/algorithms/queues.md#drr), which counts bytes
//! on the link. Counted in packets, the same turns are weighted round robin. An empty queue keeps no deficit,
//! and a port without packets no turn, so a packet that bypasses its queue leaves the state that it finds.

use crate::config::{PRIORITIES, RoundUnit, SchedulerConfig};

/// The turns of a port whose levels are shared by several queues.
#[derive(Clone, Debug)]
pub(crate) struct Turns {
    /// Queues of each level as a mask, the highest level first.
    levels: [u8; PRIORITIES],
    unit: RoundUnit,
    /// What a turn adds to a queue's deficit, in bytes or packets.
    quantum: [u32; PRIORITIES],
    /// What a queue may still send. Zero while it is empty.
    deficit: [u32; PRIORITIES],
    /// Queue of each level whose turn it is.
    turn: [u8; PRIORITIES],
    /// Bit `p` is set while the quantum of queue `p`'s turn is in its deficit: a queue that may not send for
    /// a while keeps the rest of its turn, and gets no second quantum for it.
    begun: u8,
}

impl Turns {
    /// None where each level has one queue and the order is that of the queues' numbers.
    pub fn new(config: &SchedulerConfig) -> Option<Box<Self>> {
        if config.is_strict_by_number() {
            return None;
        }
        let mut levels = [0_u8; PRIORITIES];
        for (at, level) in config.levels.iter().enumerate() {
            levels[PRIORITIES - 1 - usize::from(*level).min(PRIORITIES - 1)] |= 1 << at;
        }
        let unit_quantum = match config.unit {
            RoundUnit::Bytes => config.quantum_bytes,
            RoundUnit::Packets => 1,
        };
        let turns = Self {
            levels,
            unit: config.unit,
            quantum: config.weights.map(|weight| unit_quantum.saturating_mul(weight.into())),
            deficit: [0; PRIORITIES],
            turn: [0; PRIORITIES],
            begun: 0,
        };
        Some(Box::new(turns))
    }

    /// The queue that sends next, its packet charged; none if nothing may be sent. `first_bytes` are those of
    /// a queue's first packet on the link.
    pub fn take(&mut self, sendable: u8, first_bytes: impl Fn(usize) -> u32) -> Option<usize> {
        let level = self.levels.iter().position(|mask| mask & sendable != 0)?;
        let queues = self.levels[level] & sendable;
        if self.levels[level].is_power_of_two() {
            return Some(queues.trailing_zeros() as usize);
        }
        // Each round adds a quantum of at least one byte or packet, so the loop ends.
        loop {
            let at = usize::from(self.turn[level]);
            let bit = 1 << at;
            if queues & bit != 0 {
                if self.begun & bit == 0 {
                    self.deficit[at] = self.deficit[at].saturating_add(self.quantum[at]);
                    self.begun |= bit;
                }
                let cost = match self.unit {
                    RoundUnit::Bytes => first_bytes(at),
                    RoundUnit::Packets => 1,
                };
                if let Some(rest) = self.deficit[at].checked_sub(cost) {
                    self.deficit[at] = rest;
                    return Some(at);
                }
                self.begun &= !bit;
            }
            self.pass(level, queues);
        }
    }

    /// The turn goes to the next of these queues of a level.
    fn pass(&mut self, level: usize, queues: u8) {
        let turn = u32::from(self.turn[level]) + 1;
        let later = u8::MAX.checked_shl(turn).unwrap_or(0) & queues;
        let next = if later == 0 { queues } else { later };
        self.turn[level] = next.trailing_zeros() as u8;
    }

    /// A queue has sent its last packet; `occupied` are those that still have some.
    pub fn emptied(&mut self, at: usize, occupied: u8) {
        self.deficit[at] = 0;
        self.begun &= !(1 << at);
        if occupied == 0 {
            (self.turn, self.begun) = ([0; PRIORITIES], 0);
            return;
        }
        let holder = self.levels.iter().position(|mask| mask & (1 << at) != 0);
        if let Some(level) = holder.filter(|&level| usize::from(self.turn[level]) == at) {
            self.pass(level, self.levels[level]);
        }
    }

    /// Forgets all turns.
    pub fn clear(&mut self) {
        (self.deficit, self.turn, self.begun) = ([0; PRIORITIES], [0; PRIORITIES], 0);
    }
}

#[cfg(test)]
mod tests {
    use p4cc_units::Rate;
    use proptest::prelude::*;

    use super::*;
    use crate::config::PortConfig;
    use crate::tm::{PortIndex, TrafficManager};

    const ALL_EQUAL: [u8; PRIORITIES] = [0; PRIORITIES];
    /// Bytes of an Ethernet header, which the link does not count.
    const ETHERNET: u32 = 14;

    fn manager(scheduler: SchedulerConfig) -> (TrafficManager<u32>, PortIndex) {
        let config = PortConfig {
            port: 1,
            rate: Rate::from_bps(8),
            capacity_pkts: 10_000,
            scheduler,
            ..PortConfig::default()
        };
        let manager = TrafficManager::new(&[config], None);
        let port = manager.port(1).expect("the port above");
        (manager, port)
    }

    fn weights(of: &[(usize, u16)]) -> [u16; PRIORITIES] {
        let mut weights = [1; PRIORITIES];
        of.iter().for_each(|&(at, weight)| weights[at] = weight);
        weights
    }

    fn fill(manager: &mut TrafficManager<u32>, port: PortIndex, queue: u8, pkts: u32, bytes: u32) {
        for _ in 0..pkts {
            assert_eq!(manager.enqueue(port, queue, ETHERNET + bytes, None, bytes), Ok(()));
        }
    }

    fn order(manager: &mut TrafficManager<u32>, port: PortIndex, pkts: usize) -> Vec<u8> {
        core::iter::from_fn(|| manager.dequeue(port)).take(pkts).map(|left| left.priority).collect()
    }

    /// The example of the paper's figure 2 in its form: quantum 500, packets of 200, 750, 600 and 500 bytes.
    #[test]
    fn a_turn_ends_where_the_deficit_does_not_cover_the_next_packet() {
        let scheduler =
            SchedulerConfig { levels: ALL_EQUAL, quantum_bytes: 500, ..SchedulerConfig::default() };
        let (mut manager, port) = manager(scheduler);
        for (queue, bytes) in [(0, 200), (0, 750), (0, 20), (1, 500), (1, 500), (2, 200), (2, 600), (2, 100)]
        {
            fill(&mut manager, port, queue, 1, bytes);
        }
        // Queue 0 sends 200 of 500 and keeps 300, so 750 of 800 go in its second turn and 20 of the 50 left.
        // Queue 2 sends 200 and keeps 300, then 600 of 800 and 100 of 200.
        assert_eq!(order(&mut manager, port, 8), [0, 1, 2, 0, 0, 1, 2, 2]);
    }

    /// The order in which `DRRServer` of ns.py 0.4.3 (PyPI) sends the same packets.
    #[test]
    fn the_order_is_that_of_another_implementation() {
        const THEIRS: &str = "00011112222222222200111112222222222200111222222220011122222222200111112001111011\
            1011100011111100111100000000000000000000";
        let scheduler = SchedulerConfig {
            levels: ALL_EQUAL,
            weights: weights(&[(1, 2), (2, 5)]),
            quantum_bytes: 1_500,
            ..SchedulerConfig::default()
        };
        // From the start, and set on a port whose queues had another order and sent by it.
        for first in [scheduler, SchedulerConfig::default()] {
            let (mut manager, port) = manager(first);
            fill(&mut manager, port, 5, 3, 700);
            order(&mut manager, port, 3);
            manager.set_scheduler(port, &scheduler);
            for nth in 0..120 {
                fill(&mut manager, port, (nth % 3) as u8, 1, 64 + nth * 7_919 % 1_437);
            }
            let ours: String = order(&mut manager, port, 120).iter().map(u8::to_string).collect();
            assert_eq!(ours, THEIRS);
        }
    }

    /// Queues that waited while their order changed take turns from then on, and go by their numbers again.
    #[test]
    fn an_order_that_changes_counts_for_what_waits() {
        let (mut manager, port) = manager(SchedulerConfig::default());
        for queue in [0, 1] {
            fill(&mut manager, port, queue, 4, 1_500);
        }
        assert_eq!(order(&mut manager, port, 1), [1]);
        manager.set_scheduler(port, &SchedulerConfig { levels: ALL_EQUAL, ..SchedulerConfig::default() });
        assert_eq!(order(&mut manager, port, 4), [0, 1, 0, 1]);
        manager.set_scheduler(port, &SchedulerConfig::default());
        assert_eq!(order(&mut manager, port, 3), [1, 0, 0]);
    }

    #[test]
    fn packets_in_turn_by_weight() {
        let scheduler = SchedulerConfig {
            levels: ALL_EQUAL,
            weights: weights(&[(0, 1), (1, 3)]),
            unit: RoundUnit::Packets,
            ..SchedulerConfig::default()
        };
        let (mut manager, port) = manager(scheduler);
        fill(&mut manager, port, 0, 10, 1_500);
        fill(&mut manager, port, 1, 5, 40);
        assert_eq!(order(&mut manager, port, 9), [0, 1, 1, 1, 0, 1, 1, 0, 0]);
    }

    #[test]
    fn a_higher_level_goes_first_and_its_queues_in_turn() {
        let levels = [3, 0, 5, 5, 0, 0, 0, 0];
        let (mut manager, port) = manager(SchedulerConfig { levels, ..SchedulerConfig::default() });
        for queue in [0, 1, 2, 3] {
            fill(&mut manager, port, queue, 2, 1_500);
        }
        assert_eq!(order(&mut manager, port, 8), [2, 3, 2, 3, 0, 0, 1, 1]);
    }

    #[test]
    fn a_level_above_seven_is_seven() {
        let levels = [200, 7, 0, 0, 0, 0, 0, 0];
        let (mut manager, port) = manager(SchedulerConfig { levels, ..SchedulerConfig::default() });
        for queue in [2, 1, 0] {
            fill(&mut manager, port, queue, 1, 1_500);
        }
        assert_eq!(order(&mut manager, port, 3), [0, 1, 2]);
    }

    #[test]
    fn a_paused_queue_misses_its_turn() {
        let (mut manager, port) =
            manager(SchedulerConfig { levels: ALL_EQUAL, ..SchedulerConfig::default() });
        for queue in [0, 1, 2] {
            fill(&mut manager, port, queue, 3, 1_500);
        }
        manager.set_paused_by_program(port, 1, true);
        assert_eq!(order(&mut manager, port, 4), [0, 2, 0, 2]);
        manager.set_paused_by_program(port, 1, false);
        assert_eq!(order(&mut manager, port, 5), [0, 1, 2, 1, 1]);
    }

    /// Paused again and again within its turn, a queue of weight 2 sends two packets to one all the same.
    #[test]
    fn a_pause_within_a_turn_adds_no_quantum() {
        let scheduler = SchedulerConfig {
            levels: ALL_EQUAL,
            weights: weights(&[(1, 2)]),
            quantum_bytes: 1_500,
            ..SchedulerConfig::default()
        };
        let (mut manager, port) = manager(scheduler);
        for queue in [0, 1] {
            fill(&mut manager, port, queue, 200, 1_500);
        }
        let mut sent = [0_u32; 2];
        for _ in 0..60 {
            let queue = manager.dequeue(port).expect("both wait").priority;
            sent[usize::from(queue)] += 1;
            // Whoever sent may not send next.
            for other in 0..2 {
                manager.set_paused_by_program(port, other, other == queue);
            }
        }
        manager.set_paused_by_program(port, 0, false);
        manager.set_paused_by_program(port, 1, false);
        // Alternating, each sent 30: what queue 1 is owed it has at most a turn of, not thirty.
        assert_eq!(sent, [30, 30]);
        let first: Vec<u8> = order(&mut manager, port, 9);
        assert_eq!(first.iter().filter(|queue| **queue == 1).count(), 6, "{first:?}");
    }

    /// Queue 1 sends its only packet, and another comes before the next turn: queue 2 goes first, and then
    /// queue 1 has a whole quantum.
    #[test]
    fn a_queue_that_ran_empty_waits_for_its_next_turn() {
        let (mut manager, port) = manager(SchedulerConfig {
            levels: ALL_EQUAL,
            quantum_bytes: 1_500,
            ..SchedulerConfig::default()
        });
        fill(&mut manager, port, 1, 1, 1_500);
        fill(&mut manager, port, 2, 3, 1_500);
        assert_eq!(order(&mut manager, port, 1), [1]);
        fill(&mut manager, port, 1, 1, 1_500);
        assert_eq!(order(&mut manager, port, 4), [2, 1, 2, 2]);
    }

    proptest! {
        /// While both have packets, what two queues sent for each unit of weight differs by less than the
        /// paper's bound: a quantum, and for each queue a largest packet.
        #[test]
        fn shares_follow_weights_within_the_papers_bound(
            weight in proptest::array::uniform3(1_u16..20),
            sizes in proptest::collection::vec(40_u32..1_500, 30..60),
            quantum_bytes in 1_500_u32..9_000,
            skip in 0_usize..50,
        ) {
            let of: Vec<_> = weight.into_iter().enumerate().collect();
            let scheduler = SchedulerConfig {
                levels: ALL_EQUAL, weights: weights(&of), quantum_bytes, ..SchedulerConfig::default()
            };
            let (mut manager, port) = manager(scheduler);
            for _ in 0..60 {
                for (queue, bytes) in (0_u8..3).cycle().zip(&sizes) {
                    fill(&mut manager, port, queue, 1, *bytes);
                }
            }
            order(&mut manager, port, skip);
            let mut sent = [0_f64; 3];
            while (0..3).all(|queue| manager.depth_pkts(port, queue) > 0) {
                let got = manager.dequeue(port).expect("all three wait");
                let at = usize::from(got.priority);
                sent[at] += f64::from(got.item) / f64::from(weight[at]);
                for a in 0..3 {
                    for b in 0..3 {
                        let bound = f64::from(quantum_bytes)
                            + 1_500.0 / f64::from(weight[a]) + 1_500.0 / f64::from(weight[b]);
                        prop_assert!((sent[a] - sent[b]).abs() <= bound, "{sent:?} {weight:?} {bound}");
                    }
                }
            }
        }
    }
}
