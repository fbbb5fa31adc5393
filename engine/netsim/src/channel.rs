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
    pub from: u32,
    pub to: u32,
    pub to_port: u32,
    delay: Span,
    framing_bytes: u32,
    /// Share of packets lost in units of 2^-64, and its stream.
    loss: Option<Box<(u64, Stream)>>,
    /// Frames on the way with their arrival times.
    on_way: VecDeque<(Time, Frame)>,
    /// Pause frames among them.
    pauses_on_way: usize,
    pub lost: u64,
    /// Bytes of packets on the wire, with framing; those of pauses are not counted.
    pub bytes: u64,
}

/// What a channel carries.
#[derive(Clone, Debug)]
pub(crate) enum Frame {
    Packet(Packet),
    /// The receiver is to stop a priority, or to let it go on.
    Pause {
        priority: u8,
        pause: bool,
    },
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
        let stream = || Stream::named(seed, &format!("link.{}.loss", plan.name));
        let loss = (plan.loss > 0.0).then(|| Box::new((threshold, stream())));
        Self {
            from: plan.from,
            to: plan.to,
            to_port: plan.to_port,
            delay: plan.delay,
            framing_bytes: plan.framing_bytes,
            loss,
            on_way: VecDeque::new(),
            pauses_on_way: 0,
            lost: 0,
            bytes: 0,
        }
    }

    /// Takes a packet whose last bit enters the channel at `end`.
    pub fn send(&mut self, end: Time, packet: Packet) -> Sent {
        self.bytes += u64::from(p4cc_switch::link_bytes(self.framing_bytes, packet.len()));
        if let Some(loss) = &mut self.loss
            && loss.1.next_u64() < loss.0
        {
            self.lost += 1;
            return Sent::Nothing;
        }
        self.carry(end, Frame::Packet(packet))
    }

    /// Takes a pause frame whose last bit enters the channel at `end`; it is never lost.
    pub fn send_pause(&mut self, end: Time, priority: u8, pause: bool) -> Sent {
        self.pauses_on_way += 1;
        self.carry(end, Frame::Pause { priority, pause })
    }

    fn carry(&mut self, end: Time, frame: Frame) -> Sent {
        let arrival = end + self.delay;
        self.on_way.push_back((arrival, frame));
        if self.on_way.len() == 1 { Sent::Schedule(arrival) } else { Sent::Nothing }
    }

    /// Gives the frame that arrives now, and when the next one will.
    pub fn arrive(&mut self) -> Option<(Frame, Option<Time>)> {
        let (_, frame) = self.on_way.pop_front()?;
        self.pauses_on_way -= usize::from(matches!(frame, Frame::Pause { .. }));
        Some((frame, self.on_way.front().map(|&(arrival, _)| arrival)))
    }

    /// Packets on the way.
    pub fn on_way(&self) -> usize {
        self.on_way.len() - self.pauses_on_way
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

    /// A frame goes in between, behind what is being sent; returns its end.
    pub fn insert(&mut self, now: Time, duration: Span) -> Time {
        self.start(self.busy_until.max(now), duration)
    }

    /// When what is being sent ends.
    pub fn busy_until(&self) -> Time {
        self.busy_until
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
