//! Tie break: which of two simultaneous events comes first.
//!
//! The default order (`lower_port`) needs nothing but the event. The others are those of simulators whose
//! clock is a number of seconds in a double, such as ns-2, which GST 2017 used. There, rounding separates
//! some events that are simultaneous on paper, and the others happen in the order in which they were
//! scheduled. The orders `ns2` and `hand_over` differ in when an arrival is scheduled: when the transmission
//! starts, where the interface is a queue of its own (ns-2); or when the packet is handed to the interface,
//! where the interface is only a time at which it becomes free. p4cc's clock stays whole picoseconds; the
//! rounding only orders events of one picosecond.

use p4cc_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::event::{Event, Stamp};

/// Order of simultaneous events.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ties {
    /// Kind (dequeue, arrival, timer, start), node, port, sequence number
    /// of the node that scheduled it (docs/algorithms/README.md#units).
    #[default]
    LowerPort,
    /// As ns-2's scheduler: by a clock in seconds in a double, then in the order of scheduling.
    Ns2,
    /// As `ns2`, but a packet of a host is scheduled when it is handed to the interface.
    HandOver,
}

/// The number that a packet got when it was handed to an interface, counted with all events; zero: the packet
/// is scheduled when it leaves.
type Ticket = u64;

/// A packet, or what one will be made of, with its place among simultaneous events. Only [`Ties::HandOver`]
/// needs the place, so all that the rest of the simulator does with it is to carry it along.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticketed<T> {
    pub item: T,
    ticket: Ticket,
}

impl<T> Ticketed<T> {
    /// Scheduled when it leaves.
    #[inline]
    pub const fn at_departure(item: T) -> Self {
        Self { item, ticket: 0 }
    }

    /// Another thing at the same place.
    #[inline]
    pub fn with<U>(&self, item: U) -> Ticketed<U> {
        Ticketed { item, ticket: self.ticket }
    }
}

/// An instant and, but under [`Ties::LowerPort`], a place within it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct Moment {
    pub time: Time,
    pub stamp: Stamp,
}

/// Bits of a stamp that count events; the count wraps after 10^12 events.
const COUNT_BITS: u32 = 40;

/// The upper bits of a stamp where rounding adds nothing; they count in units of the last place of the exact
/// time.
const NO_ERROR: i64 = 1 << (63 - COUNT_BITS);

/// The order of simultaneous events of a run.
#[derive(Clone, Debug)]
pub(crate) struct Order(Option<SecondsClock>);

impl Order {
    pub fn new(ties: Ties) -> Self {
        let clock = SecondsClock { gives_tickets: ties == Ties::HandOver, ..SecondsClock::default() };
        Self((ties != Ties::LowerPort).then_some(clock))
    }

    /// The moment of an event at a time, decided now. An event that is scheduled later than it was decided,
    /// such as the arrival of a packet behind others, keeps this moment.
    #[inline]
    pub fn moment(&mut self, time: Time) -> Moment {
        self.moment_of(time, 0)
    }

    /// The moment at which a packet arrives.
    #[inline]
    pub fn arrival<T>(&mut self, time: Time, packet: &Ticketed<T>) -> Moment {
        self.moment_of(time, packet.ticket)
    }

    #[inline]
    fn moment_of(&mut self, time: Time, ticket: Ticket) -> Moment {
        Moment { time, stamp: self.0.as_mut().map_or(0, |clock| clock.stamp(time, ticket)) }
    }

    /// What is handed to an interface now.
    #[inline]
    pub fn ticketed<T>(&mut self, item: T) -> Ticketed<T> {
        Ticketed { item, ticket: self.0.as_mut().map_or(0, SecondsClock::ticket) }
    }

    /// The moment of the current event.
    #[inline]
    pub fn current(&self, now: Time) -> Moment {
        Moment { time: now, stamp: self.0.as_ref().map_or(0, |clock| clock.current) }
    }

    /// An event at the place of its moment.
    #[inline]
    pub fn place(&self, event: Event, moment: Moment) -> Event {
        debug_assert_eq!(event.time(), moment.time);
        if self.0.is_some() { event.stamped(moment.stamp) } else { event }
    }

    /// An event begins.
    #[inline]
    pub fn advance(&mut self, event: &Event) {
        if let Some(clock) = &mut self.0 {
            clock.advance(event.time(), event.stamp());
        }
    }
}

/// A clock in seconds, beside the clock of the run.
#[derive(Clone, Debug, Default)]
struct SecondsClock {
    gives_tickets: bool,
    /// Time of the current event.
    at: Time,
    /// That time in seconds, rounded at each step.
    seconds: f64,
    /// Stamp of the event that runs.
    current: Stamp,
    scheduled: u64,
}

impl SecondsClock {
    /// The ticket of a packet that is handed to an interface now.
    fn ticket(&mut self) -> Ticket {
        if self.gives_tickets { self.count() } else { 0 }
    }

    fn count(&mut self) -> u64 {
        self.scheduled += 1;
        self.scheduled & ((1 << COUNT_BITS) - 1)
    }

    /// The stamp of an event that is scheduled now, or was with a ticket.
    fn stamp(&mut self, time: Time, ticket: Ticket) -> Stamp {
        let seconds = self.seconds + in_seconds(time.since(self.at).as_ps());
        let exact = in_seconds(time.as_ps());
        // Doubles above zero are ordered as their bits are.
        let error = (seconds.to_bits() as i64).wrapping_sub(exact.to_bits() as i64);
        let error = error.clamp(-NO_ERROR, NO_ERROR - 1) + NO_ERROR;
        let count = if ticket == 0 { self.count() } else { ticket };
        (error as u64) << COUNT_BITS | count
    }

    /// An event begins.
    fn advance(&mut self, time: Time, stamp: Stamp) {
        let error = (stamp >> COUNT_BITS) as i64 - NO_ERROR;
        let exact = in_seconds(time.as_ps()).to_bits() as i64;
        self.seconds = f64::from_bits(exact.wrapping_add(error) as u64);
        (self.at, self.current) = (time, stamp);
    }
}

fn in_seconds(ps: u64) -> f64 {
    ps as f64 / 1e12
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::event::Kind;

    #[test]
    fn what_was_scheduled_first_comes_first() {
        for (ties, expected) in [(Ties::Ns2, [1, 2, 0]), (Ties::HandOver, [0, 1, 2])] {
            let (mut order, time) = (Order::new(ties), Time::from_ns(1_200));
            let packet = order.ticketed(());
            let (second, third) = (order.moment(time), order.moment(time));
            let first = order.arrival(time, &packet);
            let event = |port, moment| order.place(Event::new(time, Kind::Arrival, 0, port, 0, 0), moment);
            let mut sorted = [event(0, first), event(1, second), event(2, third)];
            sorted.sort_unstable();
            assert_eq!(sorted.map(|event| event.port()), expected, "{ties:?}");
        }
    }

    #[test]
    fn the_clock_runs_as_doubles_do() {
        // Ten steps of 0.1 s add up to less than one of 1 s.
        let mut clock = SecondsClock::default();
        let whole = clock.stamp(Time::from_ns(1_000_000_000), 0);
        let mut sum = 0.0;
        for step in 1..=10 {
            let time = Time::from_ns(step * 100_000_000);
            let stamp = clock.stamp(time, 0);
            clock.advance(time, stamp);
            sum += 0.1;
            assert_eq!(clock.seconds, sum);
        }
        assert!(clock.current < whole);
    }
}
