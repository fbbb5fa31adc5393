//! The schedule of a run: virtual time, the event queue, and the order of simultaneous events.

use p4cc_units::{Span, Time};

use super::calendar::Calendar;
use super::event::{Event, Kind};
use super::tie_break::{Moment, Order, Ties};
use super::timer::Timer;

/// Virtual time and the events to come.
pub(crate) struct Schedule {
    pub calendar: Calendar,
    /// The order of simultaneous events.
    pub order: Order,
    /// For each node, the number of events that it scheduled for itself.
    seqs: Vec<u64>,
    /// Number of arrivals scheduled: of the arrivals of one channel at one instant, the first scheduled is
    /// first.
    arrivals: u64,
    /// Virtual time reached.
    pub now: Time,
    /// Events handled.
    pub events: u64,
    /// Epochs that were run on several threads, or in batches.
    pub epochs: u64,
}

impl Schedule {
    /// A schedule at time zero, for events that are mostly scheduled `usual_lead` ahead.
    pub fn new(nodes: usize, usual_lead: Span, ties: Ties) -> Self {
        Self {
            calendar: Calendar::new(usual_lead),
            order: Order::new(ties),
            seqs: vec![0; nodes],
            arrivals: 0,
            now: Time::ZERO,
            events: 0,
            epochs: 0,
        }
    }

    /// Whether packets on links wait in the calendar, each with its arrival; else they wait in their
    /// channels.
    #[inline]
    pub fn holds_packets(&self) -> bool {
        self.calendar.processes() > 0
    }

    /// An event begins.
    #[inline]
    pub fn begin(&mut self, event: &Event) {
        self.now = event.time();
        self.order.advance(event);
    }

    /// The moment of the current event.
    #[inline]
    pub fn current(&self) -> Moment {
        self.order.current(self.now)
    }

    /// The sequence number of the next arrival.
    #[inline]
    pub fn next_arrival_seq(&mut self) -> u64 {
        self.arrivals += 1;
        self.arrivals
    }

    /// Schedules the arrival of a frame without its packet.
    #[inline]
    pub fn arrival(&mut self, event: Event, arrival: Moment) {
        self.calendar.push(self.order.place(event, arrival));
    }

    /// Swaps the sequence numbers of a node with another schedule.
    pub fn swap_node(&mut self, other: &mut Self, node: usize) {
        core::mem::swap(&mut self.seqs[node], &mut other.seqs[node]);
    }

    /// Schedules a timer of a node.
    pub fn timer(&mut self, time: Time, node: u32, timer: Timer) {
        let (number, subject) = timer.encode();
        let moment = self.order.moment(time);
        self.push(moment, Kind::Timer, node, number, subject);
    }

    /// Schedules that the application of a flow acts at its host.
    pub fn start(&mut self, time: Time, node: u32, flow: u32) {
        let moment = self.order.moment(time);
        self.push(moment, Kind::Start, node, 0, flow);
    }

    /// Schedules that a port of a node is free again, at a moment that was given before.
    pub fn dequeue(&mut self, moment: Moment, node: u32, port: u32) {
        self.push(moment, Kind::Dequeue, node, port, 0);
    }

    /// Schedules the next arrival of a channel that a frame arrives from, at the moment it was given.
    pub fn next_arrival(&mut self, moment: Moment, arrival: &Event) {
        self.push(moment, Kind::Arrival, arrival.node(), arrival.port(), arrival.subject);
    }

    fn push(&mut self, moment: Moment, kind: Kind, node: u32, port: u32, subject: u32) {
        let seq = &mut self.seqs[node as usize];
        *seq += 1;
        let event = Event::new(moment.time, kind, node, port, *seq, subject);
        self.calendar.push(self.order.place(event, moment));
    }
}
