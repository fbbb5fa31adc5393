//! One direction of a link: packets on their way, in order, and what is lost.
//!
//! Packets cannot overtake each other, so only the first one's arrival is in the event queue.

use std::collections::VecDeque;

use p4cc_switch::{Packet, Stream};
use p4cc_units::{Bytes, Rate, Span, Time};

use crate::describe::topology::ChannelPlan;
use crate::events::event::{Event, arrival_place};
use crate::events::tie_break::Moment;

/// A channel: what every packet touches is a line of the processor's cache.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct Channel {
    /// Frames on the way with their arrival times.
    on_way: VecDeque<(Moment, Frame)>,
    pub delay: Span,
    /// Bytes of packets on the wire, with framing; those of pauses are not counted.
    pub bytes: u64,
    /// Node and port that it leads to, as its events have them.
    to: u32,
    framing_bytes: u32,
    /// Of a channel that loses packets, goes down or leads out of this part of a network; most do none of it.
    rest: Option<Box<Rest>>,
}

/// What few channels have.
#[derive(Clone, Debug, Default)]
struct Rest {
    /// Share of packets lost in units of 2^-64, and its stream.
    loss: Option<(u64, Stream)>,
    lost: u64,
    /// Nothing that is sent now arrives.
    is_down: bool,
    /// It leads out of this part of a network: what is sent waits with the part to be handed over.
    leaves: bool,
}

/// A frame that goes from one part of a network to another: its channel, when it arrives, and what it is.
pub(crate) type Mail = (u32, Moment, Frame);

/// What a channel carries.
#[derive(Clone, Debug)]
pub(crate) enum Frame {
    Packet(Packet),
    Pause(PauseWord),
}

/// The receiver is to stop a priority, or to let it go on.
/// As wide as a pointer, so that a frame is moved in words.
#[derive(Clone, Copy, Debug)]
#[repr(align(8))]
pub(crate) struct PauseWord {
    pub priority: u8,
    pub pause: bool,
}

impl Channel {
    pub fn new(plan: &ChannelPlan, seed: u64) -> Self {
        // The largest share below one; a loss of 1 loses all but one packet in 2^53.
        let threshold = (plan.loss * 18_446_744_073_709_551_616.0) as u64;
        let stream = || Stream::named(seed, &format!("link.{}.loss", plan.name));
        let loss = (plan.loss > 0.0).then(|| (threshold, stream()));
        Self {
            on_way: VecDeque::new(),
            delay: plan.delay,
            bytes: 0,
            to: arrival_place(plan.to, plan.to_port),
            framing_bytes: plan.framing_bytes,
            rest: (loss.is_some() || plan.has_faults).then(|| Box::new(Rest { loss, ..Rest::default() })),
        }
    }

    /// Node that it leads to.
    #[inline]
    pub fn to(&self) -> u32 {
        self.arrival(Time::ZERO, 0, 0).node()
    }

    /// The arrival of a frame, the `seq`th of all that are scheduled.
    #[inline(always)]
    pub fn arrival(&self, time: Time, seq: u64, channel: u32) -> Event {
        Event::arrival(time, self.to, seq, channel)
    }

    /// Counts a packet of so many bytes that is sent.
    #[inline]
    pub fn count(&mut self, bytes: u32) {
        self.bytes += u64::from(p4cc_switch::link_bytes(self.framing_bytes, bytes));
    }

    /// Whether it neither loses packets nor leads out of this part of a network.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.rest.is_none()
    }

    /// Whether it loses the packet that is sent now.
    #[inline]
    pub fn loses(&mut self) -> bool {
        self.rest.as_mut().is_some_and(|rest| rest.loses())
    }

    /// Its link goes down, or comes up.
    pub fn set_down(&mut self, is_down: bool) {
        self.rest.get_or_insert_default().is_down = is_down;
    }

    /// Whether its link is down.
    pub fn is_down(&self) -> bool {
        self.rest.as_ref().is_some_and(|rest| rest.is_down)
    }

    /// Whether it leads out of this part of a network.
    #[inline]
    pub fn leaves(&self) -> bool {
        self.rest.as_ref().is_some_and(|rest| rest.leaves)
    }

    /// Takes a frame whose last bit comes out at `arrival`; whether none is in front of it.
    #[inline]
    pub fn carry(&mut self, arrival: Moment, frame: Frame) -> bool {
        self.on_way.push_back((arrival, frame));
        self.on_way.len() == 1
    }

    /// Puts back a packet in any order; [`Self::sort`] puts them in their own.
    pub fn put_back(&mut self, arrival: Moment, packet: Packet) {
        self.on_way.push_back((arrival, Frame::Packet(packet)));
    }

    /// Puts the frames on the way in the order of their arrivals; gives the first one's.
    pub fn sort(&mut self) -> Option<Moment> {
        self.on_way.make_contiguous().sort_by_key(|(arrival, _)| *arrival);
        self.on_way.front().map(|&(arrival, _)| arrival)
    }

    /// Takes out all frames on the way.
    pub fn take_frames(&mut self) -> impl Iterator<Item = (Moment, Frame)> {
        self.on_way.drain(..)
    }

    /// Exchanges what the sending side changes with the same channel of a part that it leaves.
    pub fn exchange_sending(&mut self, part: &mut Self) {
        core::mem::swap(&mut self.bytes, &mut part.bytes);
        let there = part.rest.get_or_insert_default();
        if let Some(here) = &mut self.rest {
            core::mem::swap(&mut here.loss, &mut there.loss);
            core::mem::swap(&mut here.lost, &mut there.lost);
            core::mem::swap(&mut here.is_down, &mut there.is_down);
        }
        there.leaves = true;
    }

    /// Exchanges what is on the way with the same channel of the part that it leads to.
    pub fn exchange_arriving(&mut self, part: &mut Self) {
        if let Some(rest) = &mut part.rest {
            rest.leaves = false;
        }
        core::mem::swap(&mut self.on_way, &mut part.on_way);
    }

    /// Gives the frame that arrives now, and when the next one will.
    #[inline]
    pub fn arrive(&mut self) -> Option<(Frame, Option<Moment>)> {
        let (_, frame) = self.on_way.pop_front()?;
        Some((frame, self.on_way.front().map(|&(arrival, _)| arrival)))
    }

    /// Packets on the way.
    pub fn on_way(&self) -> usize {
        self.on_way.iter().filter(|(_, frame)| matches!(frame, Frame::Packet(_))).count()
    }

    /// Packets lost so far.
    pub fn lost(&self) -> u64 {
        self.rest.as_ref().map_or(0, |rest| rest.lost)
    }
}

impl Rest {
    /// Whether the next packet is lost; counts it then.
    fn loses(&mut self) -> bool {
        let by_chance = self.loss.as_mut().is_some_and(|(threshold, stream)| stream.next_u64() < *threshold);
        let lost = by_chance || self.is_down;
        self.lost += u64::from(lost);
        lost
    }
}

/// When a port is busy: one packet at a time, and at most one wake-up scheduled.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Line {
    busy_until: Moment,
    wake_scheduled: bool,
}

impl Line {
    /// There is work: whether to start now, or when to schedule a wake-up. A
    /// line that is free at this very instant counts as free, as dequeues
    /// come first in ties, but where the moment of its end is still to come.
    #[inline]
    pub fn on_work(&mut self, now: Moment) -> Work {
        if self.wake_scheduled {
            Work::Wait
        } else if now >= self.busy_until {
            Work::Start
        } else {
            self.wake_scheduled = true;
            Work::WakeAt(self.busy_until)
        }
    }

    /// Whether there is nothing to wait for: [`Self::on_work`] would start.
    #[inline]
    pub fn is_free(&self, now: Moment) -> bool {
        !self.wake_scheduled && now >= self.busy_until
    }

    /// The wake-up came.
    #[inline]
    pub fn on_wake(&mut self) {
        self.wake_scheduled = false;
    }

    /// When what is being sent ends.
    #[inline]
    pub fn busy_until(&self) -> Time {
        self.busy_until.time
    }

    /// A transmission starts, or a frame goes in between behind what is being sent: it ends then.
    #[inline]
    pub fn start(&mut self, end: Moment) {
        self.busy_until = end;
    }
}

/// What a line wants done when there is work.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Work {
    Start,
    WakeAt(Moment),
    Wait,
}

/// Time that a frame takes on a link.
pub(crate) fn time_on_link(plan: &ChannelPlan, frame_bytes: u32) -> Span {
    frame_time(plan.rate, plan.framing_bytes, frame_bytes)
}

/// Time that a frame takes on a link of this rate and framing.
#[inline]
pub(crate) fn frame_time(rate: Rate, framing_bytes: u32, frame_bytes: u32) -> Span {
    rate.time_to_send(Bytes(u64::from(p4cc_switch::link_bytes(framing_bytes, frame_bytes))))
}

/// How far ahead of now most events are scheduled: what half of the links need for a full packet.
pub(crate) fn usual_lead(plans: &[ChannelPlan]) -> Span {
    /// The packet that a time is taken for.
    const FULL_PACKET_BYTES: u32 = 1_514;
    let lead = |plan: &ChannelPlan| time_on_link(plan, FULL_PACKET_BYTES) + plan.delay;
    let mut leads: Vec<Span> = plans.iter().map(lead).collect();
    leads.sort_unstable();
    leads.get(leads.len() / 2).copied().unwrap_or(Span::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_every_packet_touches_is_a_line_of_the_cache() {
        assert_eq!(size_of::<Channel>(), 64);
    }

    #[test]
    fn a_line_is_woken_once_and_at_the_end_of_its_packet() {
        let mut line = Line::default();
        let at = |ns, stamp| Moment { time: Time::from_ns(ns), stamp };
        assert_eq!(line.on_work(at(3, 0)), Work::Start);
        let end = at(13, 1);
        line.start(end);
        assert_eq!(line.on_work(at(4, 9)), Work::WakeAt(end));
        assert_eq!(line.on_work(at(13, 0)), Work::Wait);
        line.on_wake();
        assert_eq!(line.on_work(end), Work::Start);
    }
}
