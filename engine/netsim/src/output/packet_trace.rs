//! Packets that are followed: which were chosen as they left their hosts, and where links took them.
//!
//! Frames of a link cannot overtake each other, so a packet is known at the far end by its number on the
//! link.

use std::collections::BTreeMap;

use p4cc_units::Time;

use crate::describe::{TracePlan, TracedSender};

/// A packet that is followed.
#[derive(Clone, Debug)]
pub(crate) struct FollowedPacket {
    pub at: Time,
    pub host: u32,
    /// Flow, and whether it is an ACK of it.
    pub flow: Option<(u32, bool)>,
    /// Its number among the packets of this kind of its flow, or of its host.
    pub number: u64,
    pub bytes: u32,
}

/// What a link did with a packet that is followed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LinkStep {
    /// It lost it.
    Lost,
    /// It brought it to a host.
    Delivered,
}

/// Packets that are followed in one run.
#[derive(Clone, Debug)]
pub(crate) struct PacketTrace {
    plan: TracePlan,
    /// Packets that left, by sender; of flows only those that are asked for.
    sent: BTreeMap<(bool, u32, bool), u64>,
    /// Packets that each channel carried and did not lose.
    carried: Vec<u64>,
    /// Number `n` is the packet `n + 1`.
    pub packets: Vec<FollowedPacket>,
    /// Packet, channel and time.
    pub link_steps: Vec<(u64, u32, Time, LinkStep)>,
    /// Packets that were asked for and are too many.
    pub left_out: u64,
}

impl PacketTrace {
    pub fn new(plan: TracePlan, channels: usize) -> Self {
        Self {
            plan,
            sent: BTreeMap::new(),
            carried: vec![0; channels],
            packets: Vec::new(),
            link_steps: Vec::new(),
            left_out: 0,
        }
    }

    /// A packet leaves its host; its number if it is followed.
    pub fn on_leave(&mut self, at: Time, host: u32, flow: Option<(u32, bool)>, bytes: u32) -> Option<u64> {
        let of_host = self.count(TracedSender::Host(host));
        let of_flow = flow.map(|(flow, is_ack)| self.count(TracedSender::Flow(flow, is_ack)));
        let is_asked_for = self.plan.packets.iter().any(|one| match one.sender {
            TracedSender::Host(other) => other == host && one.has(of_host),
            TracedSender::Flow(other, acks) => {
                flow == Some((other, acks)) && of_flow.is_some_and(|number| one.has(number))
            }
        });
        if !is_asked_for {
            return None;
        }
        if self.packets.len() as u64 >= self.plan.max_packets {
            self.left_out += 1;
            return None;
        }
        let number = of_flow.unwrap_or(of_host);
        self.packets.push(FollowedPacket { at, host, flow, number, bytes });
        Some(self.packets.len() as u64)
    }

    fn count(&mut self, sender: TracedSender) -> u64 {
        let count = self.sent.entry(key(sender)).or_default();
        *count += 1;
        *count
    }

    /// Counts a packet on a channel; its number there.
    pub fn on_carry(&mut self, channel: u32) -> u64 {
        let carried = &mut self.carried[channel as usize];
        *carried += 1;
        *carried
    }

    /// For each part of what is asked for, how many packets its sender sent.
    pub fn sent(&self) -> Vec<u64> {
        let sent = |sender| self.sent.get(&key(sender)).copied().unwrap_or(0);
        self.plan.packets.iter().map(|one| sent(one.sender)).collect()
    }
}

/// A sender as a key of an ordered map.
fn key(sender: TracedSender) -> (bool, u32, bool) {
    match sender {
        TracedSender::Flow(flow, is_ack) => (true, flow, is_ack),
        TracedSender::Host(host) => (false, host, false),
    }
}
