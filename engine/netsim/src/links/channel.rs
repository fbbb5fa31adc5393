//! A channel: one direction of a link, with the frames on their way and those that it loses.
//!
//! Frames cannot overtake each other, so only the arrival of the first one is an event. A frame is a packet
//! or a pause frame of PFC (IEEE 802.1Qbb).

use std::collections::VecDeque;

use p4cc_switch::{Packet, Stream};
use p4cc_units::{Bytes, Rate, Span, Time};

use crate::describe::ChannelPlan;
use crate::events::{Event, arrival_place};
use crate::links::pause::PauseWord;
use crate::record::LinkLog;

/// A channel. What every packet touches fills one line of the processor's cache.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct Channel {
    /// Frames on the way with their arrival times.
    on_way: VecDeque<(Time, Frame)>,
    pub delay: Span,
    /// Bytes of packets on the wire, with framing; those of pauses are not counted.
    pub bytes: u64,
    /// Node and port that it leads to, as its events have them.
    to: u32,
    framing_bytes: u32,
    /// Of a channel that loses packets, goes down, is captured or traced, or leads into another partition;
    /// most do none of it.
    rest: Option<Box<Rest>>,
}

/// State that few channels have.
#[derive(Clone, Debug, Default)]
struct Rest {
    /// Share of packets lost in units of 2^-64, and its stream.
    loss: Option<(u64, Stream)>,
    lost: u64,
    /// Its link is down: frames sent now are lost.
    is_down: bool,
    /// It leads into another partition: frames wait in the outbox to be handed over.
    crosses: bool,
    /// What leaves at its start, and what arrives at its end, where these are captured. Both are of the
    /// sending side.
    captures: [Option<Box<LinkLog>>; 2],
}

/// A frame that crosses from one partition to another: its channel, when it arrives, and the frame.
pub(crate) type Message = (u32, Time, Frame);

/// What a channel carries.
#[derive(Clone, Debug)]
pub(crate) enum Frame {
    Packet(Packet),
    Pause(PauseWord),
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
            rest: Rest::new(loss, plan),
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

    /// Counts the bytes of a packet that is sent.
    #[inline]
    pub fn count(&mut self, bytes: u32) {
        self.bytes += u64::from(p4cc_switch::link_bytes(self.framing_bytes, bytes));
    }

    /// Whether it loses no packets, is not captured or traced and stays in its partition.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.rest.is_none()
    }

    /// Whether it loses the packet that is sent now, to arrive then.
    #[inline]
    pub fn loses(&mut self, now: Time, arrival: Time, packet: &Packet) -> bool {
        self.rest.as_mut().is_some_and(|rest| {
            let is_lost = rest.loses();
            rest.capture([now, now, arrival], &packet.head, packet.len(), is_lost);
            is_lost
        })
    }

    /// Captures a pause frame, which is sent now, leaves after what its port sends, and arrives then.
    pub fn capture_pause(&mut self, times: [Time; 3], word: PauseWord) {
        if let Some(rest) = &mut self.rest {
            let frame = word.to_bytes();
            rest.capture(times, &frame, frame.len() as u32, false);
        }
    }

    /// What left at its start, if that is captured.
    pub fn leaving_log(&self) -> Option<&LinkLog> {
        self.rest.as_ref()?.captures[0].as_deref()
    }

    /// What arrived at its end, or is on its way there, if that is captured.
    pub fn arrivals_log(&self) -> Option<&LinkLog> {
        self.rest.as_ref()?.captures[1].as_deref()
    }

    /// Its link goes down, or comes up.
    pub fn set_down(&mut self, is_down: bool) {
        self.rest.get_or_insert_default().is_down = is_down;
    }

    /// Whether its link is down.
    pub fn is_down(&self) -> bool {
        self.rest.as_ref().is_some_and(|rest| rest.is_down)
    }

    /// Whether it leads into another partition.
    #[inline]
    pub fn crosses(&self) -> bool {
        self.rest.as_ref().is_some_and(|rest| rest.crosses)
    }

    /// Takes a frame whose last bit comes out at `arrival`; whether none is in front of it.
    #[inline]
    pub fn carry(&mut self, arrival: Time, frame: Frame) -> bool {
        self.on_way.push_back((arrival, frame));
        self.on_way.len() == 1
    }

    /// Puts back a packet in any order; [`Self::sort`] puts them in their own.
    pub fn put_back(&mut self, arrival: Time, packet: Packet) {
        self.on_way.push_back((arrival, Frame::Packet(packet)));
    }

    /// Puts the frames on the way in the order of their arrivals; gives the first one's.
    pub fn sort(&mut self) -> Option<Time> {
        self.on_way.make_contiguous().sort_by_key(|(arrival, _)| *arrival);
        self.on_way.front().map(|&(arrival, _)| arrival)
    }

    /// Takes out all frames on the way.
    pub fn take_frames(&mut self) -> impl Iterator<Item = (Time, Frame)> {
        self.on_way.drain(..)
    }

    /// Swaps the state of the sending side with the same channel of the partition that it leaves.
    pub fn swap_sending(&mut self, partition: &mut Self) {
        core::mem::swap(&mut self.bytes, &mut partition.bytes);
        let there = partition.rest.get_or_insert_default();
        if let Some(here) = &mut self.rest {
            core::mem::swap(&mut here.loss, &mut there.loss);
            core::mem::swap(&mut here.lost, &mut there.lost);
            core::mem::swap(&mut here.is_down, &mut there.is_down);
            core::mem::swap(&mut here.captures, &mut there.captures);
        }
        there.crosses = true;
    }

    /// Swaps the frames on the way with the same channel of the partition that it leads into.
    pub fn swap_arriving(&mut self, partition: &mut Self) {
        if let Some(rest) = &mut partition.rest {
            rest.crosses = false;
        }
        core::mem::swap(&mut self.on_way, &mut partition.on_way);
    }

    /// Gives the frame that arrives now, and when the next one will.
    #[inline]
    pub fn arrive(&mut self) -> Option<(Frame, Option<Time>)> {
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
    /// The state of a channel that needs any.
    fn new(loss: Option<(u64, Stream)>, plan: &ChannelPlan) -> Option<Box<Self>> {
        let captures = plan.captures.map(|limits| limits.map(|limits| Box::new(LinkLog::new(limits))));
        let is_captured = captures.iter().any(Option::is_some);
        let is_needed = loss.is_some() || plan.has_faults || is_captured || plan.is_traced;
        is_needed.then(|| Box::new(Self { loss, captures, ..Self::default() }))
    }

    /// Captures a frame, sent now, that leaves and arrives at these times.
    fn capture(&mut self, [now, leaves, arrives]: [Time; 3], head: &[u8], length: u32, is_lost: bool) {
        let [leaving, arriving] = &mut self.captures;
        if let Some(log) = leaving {
            log.add(now, leaves, head, length, is_lost);
        }
        if let Some(log) = arriving
            && !is_lost
        {
            log.add(now, arrives, head, length, false);
        }
    }

    /// Whether the next packet is lost; counts it then.
    fn loses(&mut self) -> bool {
        let by_chance = self.loss.as_mut().is_some_and(|(threshold, stream)| stream.next_u64() < *threshold);
        let lost = by_chance || self.is_down;
        self.lost += u64::from(lost);
        lost
    }
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
}
