//! The paced flows of a host's interface: whose turn it is, and when one may send next
//! (docs/algorithms/substrate.md#pacing, round robin).
//!
//! A flow that has nothing to send stands nowhere; one that waits for its
//! time stands in order of times; one whose time has come stands in order of
//! starts, where the interface takes turns. All steps take logarithmic time.
//!
//! Invariant: a flow stands in at most one place, and its [`Seat`] says in which.

use std::collections::BTreeSet;

use p4cc_transport::wire::TrafficClass;
use p4cc_units::Time;

use crate::hosts::ordered::Ordered;

/// Where a flow stands; kept with the flow.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Seat {
    /// Its place in the order of starts at its host, from 1; 0 before its start.
    rank: u64,
    /// When it may send, as far as the queue knows; none while it has nothing to send.
    at: Option<Time>,
    /// Its time has come; [`Turns::pop_due`] says when to set it.
    pub is_ready: bool,
}

/// The flows of one traffic class that have something to send, each with its rank and index.
#[derive(Clone, Default, Debug)]
struct ClassQueue {
    waiting: Ordered<(Time, u64, u32)>,
    ready: Ordered<(u64, u32)>,
}

impl ClassQueue {
    /// A flow whose time came by `now`, which takes turns from here on.
    #[inline]
    fn pop_due(&mut self, now: Time) -> Option<u32> {
        self.waiting.first().filter(|(at, ..)| *at <= now)?;
        let (_, rank, index) = self.waiting.pop_first()?;
        self.ready.insert((rank, index));
        Some(index)
    }

    /// When the next flow may send; a time that has come is a past one.
    #[inline]
    fn next_time(&self) -> Option<Time> {
        if self.ready.is_empty() { self.waiting.first().map(|(at, ..)| at) } else { Some(Time::ZERO) }
    }
}

/// The paced flows of one host.
#[derive(Clone, Default, Debug)]
pub(crate) struct Turns {
    /// By class, up to the highest that ever had a flow.
    classes: Vec<ClassQueue>,
    /// Bit `c` is set while a flow of class `c` stands somewhere.
    occupied: u8,
    /// Ranks of all flows under way.
    under_way: BTreeSet<u64>,
    last_rank: u64,
    /// The highest rank under way.
    highest: u64,
    /// The turn is that of the first flow from this rank on.
    turn: u64,
    /// When the interface looks again; events for other times are void.
    pub wake: Option<Time>,
}

impl Turns {
    /// A flow starts; it stands nowhere until [`Self::place`].
    pub fn enter(&mut self) -> Seat {
        self.last_rank += 1;
        self.under_way.insert(self.last_rank);
        self.highest = self.last_rank;
        Seat { rank: self.last_rank, at: None, is_ready: false }
    }

    /// A flow is complete; the turn stays with the flow that had it.
    pub fn leave(&mut self, class: TrafficClass, index: u32, seat: &mut Seat) {
        self.place(class, index, seat, None);
        self.under_way.remove(&seat.rank);
        self.highest = self.under_way.last().copied().unwrap_or(0);
    }

    /// A flow may send at another time than before, or has nothing to send.
    #[inline]
    pub fn place(&mut self, class: TrafficClass, index: u32, seat: &mut Seat, at: Option<Time>) {
        if seat.at != at {
            self.move_to(class, index, seat, at);
        }
    }

    fn move_to(&mut self, class: TrafficClass, index: u32, seat: &mut Seat, at: Option<Time>) {
        let class_at = usize::from(class.get());
        if self.classes.len() <= class_at {
            self.classes.resize_with(class_at + 1, ClassQueue::default);
        }
        let queue = &mut self.classes[class_at];
        if let Some(before) = seat.at {
            if seat.is_ready {
                queue.ready.remove((seat.rank, index));
            } else {
                queue.waiting.remove((before, seat.rank, index));
            }
        }
        if let Some(at) = at {
            queue.waiting.insert((at, seat.rank, index));
        }
        (seat.at, seat.is_ready) = (at, false);
        let bit = 1 << class.get();
        let is_empty = queue.waiting.is_empty() && queue.ready.is_empty();
        self.occupied = if is_empty { self.occupied & !bit } else { self.occupied | bit };
    }

    /// The queue that has a flow, of the classes whose bit is set, where it is the only one: as a rule.
    #[inline]
    fn only(&self, classes: u8) -> Option<&ClassQueue> {
        if classes.is_power_of_two() { self.classes.get(classes.trailing_zeros() as usize) } else { None }
    }

    /// Queues that have a flow, of the classes whose bit is set.
    fn all(&self, classes: u8) -> impl Iterator<Item = &ClassQueue> {
        places(classes).map(|place| &self.classes[place])
    }

    /// A flow whose time came by `now`, which takes turns from here on: its seat is to be marked ready.
    #[inline]
    pub fn pop_due(&mut self, now: Time) -> Option<u32> {
        if self.occupied.is_power_of_two() {
            return self.classes.get_mut(self.occupied.trailing_zeros() as usize)?.pop_due(now);
        }
        places(self.occupied).find_map(|place| self.classes[place].pop_due(now))
    }

    /// The flow whose turn it is among those whose time has come, of the classes whose bit is set in `free`.
    #[inline]
    pub fn next(&self, free: u8) -> Option<u32> {
        let classes = self.occupied & free;
        let next = match self.only(classes) {
            Some(queue) => queue.ready.first_from((self.turn, 0)).or_else(|| queue.ready.first()),
            None => self.next_of(classes),
        };
        next.map(|(_, index)| index)
    }

    /// The same among several classes.
    fn next_of(&self, classes: u8) -> Option<(u64, u32)> {
        let first = |from: u64| self.all(classes).filter_map(|queue| queue.ready.first_from((from, 0))).min();
        first(self.turn).or_else(|| first(0))
    }

    /// The flow has sent: the turn goes to the next one by
    /// start, behind the last to the first, unless it keeps it.
    pub fn took_turn(&mut self, seat: &Seat, keeps: bool) {
        let is_last = self.highest == seat.rank;
        self.turn = match (keeps, is_last) {
            (true, _) => seat.rank,
            (false, true) => 0,
            (false, false) => seat.rank + 1,
        };
    }

    /// When the next flow of a class whose bit is set in `free` may send; a time that has come is a past one.
    #[inline]
    pub fn next_time(&self, free: u8) -> Option<Time> {
        let classes = self.occupied & free;
        match self.only(classes) {
            Some(queue) => queue.next_time(),
            None => self.all(classes).filter_map(ClassQueue::next_time).min(),
        }
    }
}

/// The places of the bits that are set, from the lowest on.
#[inline]
fn places(mut bits: u8) -> impl Iterator<Item = usize> {
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

    /// Round robin by looking at all flows in order of their starts, from the one whose turn it is.
    fn by_scan(flows: &[Modelled], turn: usize, now: Time, paused: u8) -> Option<usize> {
        let mut places = (0..flows.len()).map(|step| (turn + step) % flows.len());
        places.find(|&place| {
            let (_, class, at) = flows[place];
            at.is_some_and(|at| at <= now) && paused & (1 << class.get()) == 0
        })
    }

    proptest! {
        /// Whatever flows start, wait, end and send, the next
        /// one is the one that a scan of all of them finds.
        #[test]
        fn turns_are_those_of_a_scan(
            steps in prop::collection::vec((0_u8..4, 0_usize..8, prop::option::of(0_u64..50), 0_u8..8, any::<u8>()), 1..200),
        ) {
            let mut turns = Turns::default();
            let (mut flows, mut turn) = (Vec::<Modelled>::new(), 0_usize);
            let mut seats = Vec::<Seat>::new();
            for (now, (action, which, later, class, paused)) in (0_u64..).zip(steps) {
                let now = Time::from_ns(now);
                let at = later.map(|later| now + p4cc_units::Span::from_ns(later));
                match (action, flows.is_empty()) {
                    (0, _) | (_, true) => {
                        let class = TrafficClass::new(class).expect("below 8");
                        let index = seats.len() as u32;
                        seats.push(turns.enter());
                        turns.place(class, index, &mut seats[index as usize], at);
                        flows.push((index, class, at));
                    }
                    (1, _) => {
                        let place = which % flows.len();
                        let (index, class, _) = flows.remove(place);
                        turns.leave(class, index, &mut seats[index as usize]);
                        turn -= usize::from(place < turn);
                    }
                    _ => {
                        let place = which % flows.len();
                        let (index, class, _) = flows[place];
                        turns.place(class, index, &mut seats[index as usize], at);
                        flows[place].2 = at;
                    }
                }
                while let Some(index) = turns.pop_due(now) {
                    seats[index as usize].is_ready = true;
                }
                let is_free = |class: TrafficClass| paused & (1 << class.get()) == 0;
                let expected = by_scan(&flows, turn, now, paused);
                prop_assert_eq!(turns.next(!paused), expected.map(|place| flows[place].0));
                let free = flows.iter().filter(|(_, class, _)| is_free(*class));
                let soonest = free.filter_map(|(.., at)| *at).min();
                prop_assert_eq!(turns.next_time(!paused).map(|at| at.max(now)), soonest.map(|at| at.max(now)));
                if let Some(place) = expected {
                    // It sends, and has nothing more for now.
                    let (index, class, _) = flows[place];
                    turns.place(class, index, &mut seats[index as usize], None);
                    flows[place].2 = None;
                    let keeps = which % 3 == 0;
                    turns.took_turn(&seats[index as usize], keeps);
                    turn = if keeps { place } else { (place + 1) % flows.len() };
                }
            }
        }
    }
}
