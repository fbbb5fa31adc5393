//! One direction of a link: packets on their way, in order, and what is lost.
//!
//! Packets cannot overtake each other, so only the first one's arrival is in the event queue.

use std::collections::VecDeque;

use p4cc_switch::{Packet, Stream};
use p4cc_units::{Bytes, Span, Time};

use crate::topology::ChannelPlan;

/// A channel.
#[derive(Clone, Debug)]
pub(crate) struct Channel {
    pub to: u32,
    pub to_port: u32,
    delay: Span,
    /// Share of packets lost in units of 2^-64, and its stream.
    loss: Option<(u64, Stream)>,
    /// Packets on the way with their arrival times.
    on_way: VecDeque<(Time, Packet)>,
    pub lost: u64,
}

/// What to do after a packet was sent into a channel.
pub(crate) enum Sent {
    /// Schedule the arrival of the first packet at this time.
    Schedule(Time),
    /// An earlier packet's arrival is scheduled already, or this one is lost.
    Nothing,
}

impl Channel {
    pub fn new(plan: &ChannelPlan, seed: u64) -> Self {
        // The largest share below one; a loss of 1 loses all but one packet in 2^53.
        let threshold = (plan.loss * 18_446_744_073_709_551_616.0) as u64;
        let loss =
            (plan.loss > 0.0).then(|| (threshold, Stream::named(seed, &format!("link.{}.loss", plan.name))));
        Self { to: plan.to, to_port: plan.to_port, delay: plan.delay, loss, on_way: VecDeque::new(), lost: 0 }
    }

    /// Takes a packet whose last bit enters the channel at `end`.
    pub fn send(&mut self, end: Time, packet: Packet) -> Sent {
        if let Some((threshold, stream)) = &mut self.loss
            && stream.next_u64() < *threshold
        {
            self.lost += 1;
            return Sent::Nothing;
        }
        let arrival = end + self.delay;
        self.on_way.push_back((arrival, packet));
        if self.on_way.len() == 1 { Sent::Schedule(arrival) } else { Sent::Nothing }
    }

    /// Gives the packet that arrives now, and when the next one will.
    pub fn arrive(&mut self) -> Option<(Packet, Option<Time>)> {
        let (_, packet) = self.on_way.pop_front()?;
        Some((packet, self.on_way.front().map(|&(arrival, _)| arrival)))
    }

    pub fn on_way(&self) -> usize {
        self.on_way.len()
    }
}

/// When a port is busy: one packet at a time, and at most one wake-up scheduled.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Line {
    busy_until: Time,
    wake_scheduled: bool,
}

impl Line {
    /// There is work: whether to start now, or when to schedule a wake-up. A line that is free at this very instant
    /// counts as free, as dequeues come first in ties.
    pub fn on_work(&mut self, now: Time) -> Work {
        if self.wake_scheduled {
            Work::Wait
        } else if now >= self.busy_until {
            Work::Start
        } else {
            self.wake_scheduled = true;
            Work::WakeAt(self.busy_until)
        }
    }

    /// The wake-up came.
    pub fn on_wake(&mut self) {
        self.wake_scheduled = false;
    }

    /// A transmission starts; returns its end.
    pub fn start(&mut self, now: Time, duration: Span) -> Time {
        self.busy_until = now + duration;
        self.busy_until
    }
}

/// What a line wants done when there is work.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Work {
    Start,
    WakeAt(Time),
    Wait,
}

/// Time that a frame takes on a link.
pub(crate) fn time_on_link(plan: &ChannelPlan, frame_bytes: u32) -> Span {
    let bytes = p4cc_switch::link_bytes(plan.framing_bytes, frame_bytes);
    plan.rate.time_to_send(Bytes(u64::from(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_woken_once_and_at_the_end_of_its_packet() {
        let mut line = Line::default();
        assert_eq!(line.on_work(Time::from_ns(3)), Work::Start);
        let end = line.start(Time::from_ns(3), Span::from_ns(10));
        assert_eq!(line.on_work(Time::from_ns(4)), Work::WakeAt(end));
        assert_eq!(line.on_work(Time::from_ns(5)), Work::Wait);
        line.on_wake();
        assert_eq!(line.on_work(end), Work::Start);
    }
}
