//! The schedule of a run: virtual time, the event queue, and the numbers of simultaneous events.

use p4cc_units::{Span, Time};

use super::calendar::Calendar;
use super::event::{Event, Kind};
use super::timer::Timer;

/// Virtual time and the events to come.
pub(crate) struct Schedule {
    pub calendar: Calendar,
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
    pub fn new(nodes: usize, usual_lead: Span) -> Self {
        Self {
            calendar: Calendar::new(usual_lead),
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
    }

    /// The sequence number of the next arrival.
    #[inline]
    pub fn next_arrival_seq(&mut self) -> u64 {
        self.arrivals += 1;
        self.arrivals
    }

    /// Swaps the sequence numbers of a node with another schedule.
    pub fn swap_node(&mut self, other: &mut Self, node: usize) {
        core::mem::swap(&mut self.seqs[node], &mut other.seqs[node]);
    }

    /// Schedules a timer of a node.
    pub fn timer(&mut self, time: Time, node: u32, timer: Timer) {
        let (number, subject) = timer.encode();
        self.push(time, Kind::Timer, node, number, subject);
    }

    /// Schedules that the application of a flow acts at its host.
    pub fn start(&mut self, time: Time, node: u32, flow: u32) {
        self.push(time, Kind::Start, node, 0, flow);
    }

    /// Schedules that a port of a node is free again.
    pub fn dequeue(&mut self, time: Time, node: u32, port: u32) {
        self.push(time, Kind::Dequeue, node, port, 0);
    }

    /// Schedules the next arrival of a channel that a frame arrives from.
    pub fn next_arrival(&mut self, time: Time, arrival: &Event) {
        self.push(time, Kind::Arrival, arrival.node(), arrival.port(), arrival.subject);
    }

    fn push(&mut self, time: Time, kind: Kind, node: u32, port: u32, subject: u32) {
        let seq = &mut self.seqs[node as usize];
        *seq += 1;
        self.calendar.push(Event::new(time, kind, node, port, *seq, subject));
    }
}
