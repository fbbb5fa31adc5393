//! All links of a run: what is sent into a channel, on its way, and out at its end.
//!
//! Only this folder changes a channel. Hosts and switches send by a [`crate::context::Context`]; frames that
//! arrive are taken by the dispatch of the network.

use p4cc_switch::Packet;
use p4cc_units::Time;

use crate::describe::Topology;
use crate::events::{Entry, Event, Kind, Schedule};
use crate::links::channel::{Channel, Frame, Message};
use crate::links::pause::PauseWord;
use crate::record::PacketTrace;

/// The channels of a network.
pub(crate) struct Links {
    channels: Vec<Channel>,
    /// Frames that left this partition of a network and wait to be handed over.
    outbox: Vec<Message>,
}

impl Links {
    pub fn new(topology: &Topology, seed: u64) -> Self {
        let channels = topology.channels.iter().map(|plan| Channel::new(plan, seed)).collect();
        Self { channels, outbox: Vec::new() }
    }

    /// The channels, to read.
    pub fn channels(&self) -> &[Channel] {
        &self.channels
    }

    /// Sends a packet into a channel; its last bit leaves at `end`.
    #[inline(always)]
    pub fn send(
        &mut self,
        schedule: &mut Schedule,
        trace: Option<&mut PacketTrace>,
        channel: u32,
        end: Time,
        packet: Packet,
        bytes: u32,
    ) {
        let state = &mut self.channels[channel as usize];
        let arrival = end + state.delay;
        state.count(bytes);
        if schedule.holds_packets() && state.is_plain() {
            // The common case, with the same effect as below.
            let event = state.arrival(arrival, schedule.next_arrival_seq(), channel);
            schedule.calendar.push_arrival(event, packet);
        } else if state.is_plain() {
            self.carry(schedule, (channel, arrival, Frame::Packet(packet)));
        } else {
            self.send_specially(schedule, trace, channel, arrival, packet);
        }
    }

    /// The same for a channel that does more than carry.
    fn send_specially(
        &mut self,
        schedule: &mut Schedule,
        trace: Option<&mut PacketTrace>,
        channel: u32,
        arrival: Time,
        packet: Packet,
    ) {
        let state = &mut self.channels[channel as usize];
        let is_lost = state.loses(schedule.now, arrival, &packet);
        if let Some(trace) = trace {
            trace.on_channel([schedule.now, arrival], channel, is_lost);
        }
        if !is_lost {
            self.carry(schedule, (channel, arrival, Frame::Packet(packet)));
        }
    }

    /// Sends a pause frame, which is in no queue and is never lost, from `start` to `end`.
    pub fn send_pause(
        &mut self,
        schedule: &mut Schedule,
        channel: u32,
        [start, end]: [Time; 2],
        word: PauseWord,
    ) {
        let state = &mut self.channels[channel as usize];
        let arrival = end + state.delay;
        state.capture_pause([schedule.now, start, arrival], word);
        self.carry(schedule, (channel, arrival, Frame::Pause(word)));
    }

    /// A frame is on its way. Frames of a link cannot overtake each other, so only the arrival of the first
    /// one is scheduled. Where the calendar holds packets, each arrival is scheduled, with its packet. A
    /// frame for another partition waits in the outbox.
    pub fn carry(&mut self, schedule: &mut Schedule, message: Message) {
        let state = &mut self.channels[message.0 as usize];
        if state.crosses() {
            return self.outbox.push(message);
        }
        let (channel, arrival, frame) = message;
        let holds_packets = schedule.holds_packets();
        match frame {
            Frame::Packet(packet) if holds_packets => {
                let event = state.arrival(arrival, schedule.next_arrival_seq(), channel);
                schedule.calendar.push_arrival(event, packet);
            }
            frame => {
                if state.carry(arrival, frame) || holds_packets {
                    let event = state.arrival(arrival, schedule.next_arrival_seq(), channel);
                    schedule.calendar.push(event);
                }
            }
        }
    }

    /// The frame that arrives from a channel. Schedules the arrival of the next one, unless each has its own
    /// event.
    #[inline]
    pub fn take_arrival(&mut self, schedule: &mut Schedule, arrival: &Event) -> Option<Frame> {
        let (frame, next) = self.channels[arrival.subject as usize].arrive()?;
        if let Some(next) = next
            && !schedule.holds_packets()
        {
            schedule.next_arrival(next, arrival);
        }
        Some(frame)
    }

    /// The link of a channel goes down or comes up: what is sent from then on is lost, what is on its way
    /// arrives.
    pub fn set_up(&mut self, channel: u32, up: bool) {
        self.channels[channel as usize].set_down(!up);
    }

    /// Moves each frame on its way into the calendar, as an event with its packet.
    pub fn move_frames_to_calendar(&mut self, schedule: &mut Schedule) {
        for channel in 0..self.channels.len() {
            let frames: Vec<_> = self.channels[channel].take_frames().collect();
            for (arrival, frame) in frames {
                self.carry(schedule, (channel as u32, arrival, frame));
            }
        }
    }

    /// Takes frames back out of the events of a calendar, each channel with its first arrival scheduled; the
    /// other events stay.
    pub fn take_frames_back(&mut self, schedule: &mut Schedule, entries: Vec<Entry>) {
        for Entry { event, packet } in entries {
            match (event.kind(), packet) {
                (Kind::Arrival, Some(packet)) => {
                    self.channels[event.subject as usize].put_back(event.time(), packet);
                }
                // A pause frame is still in its channel.
                (Kind::Arrival, None) => {}
                _ => schedule.calendar.push(event),
            }
        }
        for (channel, state) in (0..).zip(&mut self.channels) {
            if let Some(first) = state.sort() {
                let event = state.arrival(first, schedule.next_arrival_seq(), channel);
                schedule.calendar.push(event);
            }
        }
    }

    /// Takes the frames that leave this partition, each with the node that it goes to.
    pub fn take_outbox(&mut self) -> impl Iterator<Item = (u32, Message)> {
        let channels = &self.channels;
        self.outbox.drain(..).map(|message| (channels[message.0 as usize].to(), message))
    }

    /// Swaps a channel with a partition that has both of its ends.
    pub fn swap_channel(&mut self, partition: &mut Self, channel: usize) {
        core::mem::swap(&mut self.channels[channel], &mut partition.channels[channel]);
    }

    /// Swaps the two ends of a channel with the partitions that have them.
    pub fn swap_ends(&mut self, [from, to]: [&mut Self; 2], channel: usize) {
        self.channels[channel].swap_sending(&mut from.channels[channel]);
        self.channels[channel].swap_arriving(&mut to.channels[channel]);
    }
}
