//! Round robin among the paced flows of a host's interface (docs/algorithms/substrate.md#pacing).
//!
//! A flow that has nothing to send is in no set. A flow that waits for its time is in a set ordered by time.
//! A flow whose time has come is in a set ordered by start, which the interface serves in round robin. A
//! class of traffic that PFC (IEEE 802.1Qbb) has paused is left out. All steps take logarithmic time.
//!
//! Invariant: a flow is in at most one set, and its [`Position`] says in which.

use std::collections::BTreeSet;

use p4cc_transport::wire::TrafficClass;
use p4cc_units::Time;

use super::first_out::FirstOut;

/// The position of a flow in the round robin; kept with the flow.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Position {
    /// Its place in the order of starts at its host, from 1; 0 before its start.
    rank: u64,
    /// When it may send, as far as the queue knows; none while it has nothing to send.
    at: Option<Time>,
    /// Its time has come; [`RoundRobin::pop_due`] says when to set it.
    pub is_ready: bool,
}

/// The flows of one traffic class that have something to send, each with its rank and index.
#[derive(Clone, Default, Debug)]
struct ClassQueue {
    waiting: FirstOut<(Time, u64, u32)>,
    ready: FirstOut<(u64, u32)>,
}

impl ClassQueue {
    /// Moves a flow whose time has come by `now` to the flows that are ready; returns its index.
    #[inline]
    fn pop_due(&mut self, now: Time) -> Option<u32> {
        let (_, rank, index) = self.waiting.first().filter(|(at, ..)| *at <= now)?;
        self.waiting.pop_first();
        self.ready.insert((rank, index));
        Some(index)
    }

    /// The first flow that is ready, from a rank on.
    #[inline]
    fn first_ready(&self, rank: u64) -> Option<(u64, u32)> {
        self.ready.first_from((rank, 0))
    }

    /// When the next flow may send; a time in the past where one is ready.
    #[inline]
    fn next_time(&self) -> Option<Time> {
        if self.ready.is_empty() { self.waiting.first().map(|(at, ..)| at) } else { Some(Time::ZERO) }
    }
}

/// The paced flows of one host.
#[derive(Clone, Default, Debug)]
pub(crate) struct RoundRobin {
    /// By class, up to the highest that ever had a flow.
    classes: Vec<ClassQueue>,
    /// Bit `c` is set while a flow of class `c` is in a set.
    occupied: u8,
    /// Ranks of all flows under way.
    under_way: BTreeSet<u64>,
    last_rank: u64,
    /// The highest rank under way.
    highest: u64,
    /// The first flow that is ready from this rank on is served next.
    next_rank: u64,
    /// When the pacing timer is due; timer events of other times are ignored.
    pub wake: Option<Time>,
}

impl RoundRobin {
    /// A flow starts; it is in no set until [`Self::reschedule`].
    pub fn enter(&mut self) -> Position {
        self.last_rank += 1;
        self.under_way.insert(self.last_rank);
        self.highest = self.last_rank;
        Position { rank: self.last_rank, at: None, is_ready: false }
    }

    /// A flow is complete; the order of service of the others does not change.
    pub fn leave(&mut self, class: TrafficClass, index: u32, position: &mut Position) {
        self.reschedule(class, index, position, None);
        self.under_way.remove(&position.rank);
        self.highest = self.under_way.last().copied().unwrap_or(0);
    }

    /// A flow may send at another time than before, or has nothing to send.
    #[inline]
    pub fn reschedule(&mut self, class: TrafficClass, index: u32, position: &mut Position, at: Option<Time>) {
        if position.at != at {
            self.move_to(class, index, position, at);
        }
    }

    fn move_to(&mut self, class: TrafficClass, index: u32, position: &mut Position, at: Option<Time>) {
        let class_at = usize::from(class.get());
        if self.classes.len() <= class_at {
            self.classes.resize_with(class_at + 1, ClassQueue::default);
        }
        let queue = &mut self.classes[class_at];
        if let Some(before) = position.at {
            if position.is_ready {
                queue.ready.remove((position.rank, index));
            } else {
                queue.waiting.remove((before, position.rank, index));
            }
        }
        if let Some(at) = at {
            queue.waiting.insert((at, position.rank, index));
        }
        (position.at, position.is_ready) = (at, false);
        let bit = 1 << class.get();
        let is_empty = queue.waiting.is_empty() && queue.ready.is_empty();
        self.occupied = if is_empty { self.occupied & !bit } else { self.occupied | bit };
    }

    /// The queue that has a flow, of the classes whose bit is set, where it is the only one, as nearly
    /// always.
    #[inline]
    fn only(&self, classes: u8) -> Option<&ClassQueue> {
        if classes.is_power_of_two() { self.classes.get(classes.trailing_zeros() as usize) } else { None }
    }

    /// Queues that have a flow, of the classes whose bit is set.
    fn all(&self, classes: u8) -> impl Iterator<Item = &ClassQueue> {
        set_bits(classes).map(|class| &self.classes[class])
    }

    /// A flow whose time has come by `now`: the caller marks its position ready, and asks again until there
    /// is none.
    #[inline]
    pub fn pop_due(&mut self, now: Time) -> Option<u32> {
        if self.occupied.is_power_of_two() {
            return self.classes.get_mut(self.occupied.trailing_zeros() as usize)?.pop_due(now);
        }
        set_bits(self.occupied).find_map(|class| self.classes[class].pop_due(now))
    }

    /// Whether a flow has something to send, now or later.
    #[inline]
    pub fn has_any(&self) -> bool {
        self.occupied != 0
    }

    /// The flow that is served by `now` where no other one has anything to send, as nearly always: it need
    /// not pass through the flows that are ready.
    #[inline]
    pub fn next_alone(&self, now: Time, free: u8) -> Option<u32> {
        let queue = if self.occupied & !free == 0 { self.only(self.occupied)? } else { return None };
        let (at, _, index) = queue.waiting.only().filter(|_| queue.ready.is_empty())?;
        (at <= now).then_some(index)
    }

    /// The flow to serve next, of the classes whose bit is set in `free`.
    #[inline]
    pub fn next(&self, free: u8) -> Option<u32> {
        let classes = self.occupied & free;
        let next = match self.only(classes) {
            Some(queue) => queue.first_ready(self.next_rank).or_else(|| queue.ready.first()),
            None => self.next_of(classes),
        };
        next.map(|(_, index)| index)
    }

    /// [`Self::next`] among several classes.
    fn next_of(&self, classes: u8) -> Option<(u64, u32)> {
        let first = |from: u64| self.all(classes).filter_map(|queue| queue.first_ready(from)).min();
        first(self.next_rank).or_else(|| first(0))
    }

    /// A flow has sent. The next one by start is served next, after the last one the first; a flow that
    /// `keeps` its turn is served again.
    pub fn on_served(&mut self, position: &Position, keeps: bool) {
        let is_last = self.highest == position.rank;
        self.next_rank = match (keeps, is_last) {
            (true, _) => position.rank,
            (false, true) => 0,
            (false, false) => position.rank + 1,
        };
    }

    /// When the next flow of a class whose bit is set in `free` may send; a time in the past where one is
    /// ready.
    #[inline]
    pub fn next_time(&self, free: u8) -> Option<Time> {
        let classes = self.occupied & free;
        if classes == 0 {
            return None;
        }
        match self.only(classes) {
            Some(queue) => queue.next_time(),
            None => self.all(classes).filter_map(ClassQueue::next_time).min(),
        }
    }
}

/// The numbers of the bits that are set, from the lowest on.
#[inline]
fn set_bits(mut bits: u8) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let first = bits.trailing_zeros();
        bits &= bits.wrapping_sub(1);
        // A byte of zeros has eight.
        (first < u8::BITS).then_some(first as usize)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A flow as the model has it: index, class, when it may send.
    type Modelled = (u32, TrafficClass, Option<Time>);

    /// Round robin by looking at all flows in order of their starts, from number `next` on.
    fn by_scan(flows: &[Modelled], next: usize, now: Time, paused: u8) -> Option<usize> {
        let mut places = (0..flows.len()).map(|step| (next + step) % flows.len());
        places.find(|&place| {
            let (_, class, at) = flows[place];
            at.is_some_and(|at| at <= now) && paused & (1 << class.get()) == 0
        })
    }

    proptest! {
        /// Whatever flows start, wait, end and send, the next
        /// one is the one that a scan of all of them finds.
        #[test]
        fn flows_are_served_in_the_order_of_a_scan(
            steps in prop::collection::vec((0_u8..4, 0_usize..8, prop::option::of(0_u64..50), 0_u8..8, any::<u8>()), 1..200),
        ) {
            let mut round_robin = RoundRobin::default();
            let (mut flows, mut next) = (Vec::<Modelled>::new(), 0_usize);
            let mut positions = Vec::<Position>::new();
            for (now, (action, which, later, class, paused)) in (0_u64..).zip(steps) {
                let now = Time::from_ns(now);
                let at = later.map(|later| now + p4cc_units::Span::from_ns(later));
                match (action, flows.is_empty()) {
                    (0, _) | (_, true) => {
                        let class = TrafficClass::new(class).expect("below 8");
                        let index = positions.len() as u32;
                        positions.push(round_robin.enter());
                        round_robin.reschedule(class, index, &mut positions[index as usize], at);
                        flows.push((index, class, at));
                    }
                    (1, _) => {
                        let place = which % flows.len();
                        let (index, class, _) = flows.remove(place);
                        round_robin.leave(class, index, &mut positions[index as usize]);
                        next -= usize::from(place < next);
                    }
                    _ => {
                        let place = which % flows.len();
                        let (index, class, _) = flows[place];
                        round_robin.reschedule(class, index, &mut positions[index as usize], at);
                        flows[place].2 = at;
                    }
                }
                let alone = round_robin.next_alone(now, !paused);
                while let Some(index) = round_robin.pop_due(now) {
                    positions[index as usize].is_ready = true;
                }
                let is_free = |class: TrafficClass| paused & (1 << class.get()) == 0;
                let expected = by_scan(&flows, next, now, paused);
                prop_assert_eq!(round_robin.next(!paused), expected.map(|place| flows[place].0));
                prop_assert!(alone.is_none_or(|index| round_robin.next(!paused) == Some(index)));
                let free = flows.iter().filter(|(_, class, _)| is_free(*class));
                let soonest = free.filter_map(|(.., at)| *at).min();
                prop_assert_eq!(round_robin.next_time(!paused).map(|at| at.max(now)), soonest.map(|at| at.max(now)));
                if let Some(place) = expected {
                    // It sends, and has nothing more for now.
                    let (index, class, _) = flows[place];
                    round_robin.reschedule(class, index, &mut positions[index as usize], None);
                    flows[place].2 = None;
                    let keeps = which % 3 == 0;
                    round_robin.on_served(&positions[index as usize], keeps);
                    next = if keeps { place } else { (place + 1) % flows.len() };
                }
            }
        }
    }
}
