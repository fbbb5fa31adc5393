//! Packets that are followed: which were chosen as they left their hosts, and where links took them.
//!
//! Frames of a link cannot overtake each other, so a packet is known at the far end by its number on the
//! link.

use std::collections::BTreeMap;

use p4cc_units::Time;

use crate::describe::{ChannelPlan, Topology, TracePlan, TracedSender};

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
    /// Packets that left, by sender; by flow or host.
    sent: BTreeMap<(bool, u32, bool), u64>,
    /// Packets that each channel carried and did not lose.
    carried: Vec<u64>,
    /// Switch and port that each channel leads to, if it leads to a switch.
    switch_ends: Vec<Option<(u32, u32)>>,
    /// Number `n` is the packet `n + 1`.
    pub packets: Vec<FollowedPacket>,
    /// The followed packet that is sent now, if it is one.
    sending: Option<u64>,
    /// Packets on their way to switches: switch, port, number on the link, and number of the packet.
    expected: Vec<(u32, u32, u64, u64)>,
    /// Packet, channel and time.
    pub link_steps: Vec<(u64, u32, Time, LinkStep)>,
    /// Packets that were to be followed and are too many.
    pub left_out: u64,
}

impl PacketTrace {
    pub fn new(plan: TracePlan, topology: &Topology) -> Self {
        let switches = topology.switches.len() as u32;
        let end = |channel: &ChannelPlan| (channel.to < switches).then_some((channel.to, channel.to_port));
        Self {
            plan,
            sent: BTreeMap::new(),
            carried: vec![0; topology.channels.len()],
            switch_ends: topology.channels.iter().map(end).collect(),
            sending: None,
            expected: Vec::new(),
            packets: Vec::new(),
            link_steps: Vec::new(),
            left_out: 0,
        }
    }

    /// A switch sends a packet, which is followed if it has a number.
    pub fn on_switch_send(&mut self, number: Option<u64>) {
        self.sending = number;
    }

    /// A host sends a packet, by whichever of its interfaces.
    pub fn on_host_send(&mut self, at: Time, host: u32, flow: Option<(u32, bool)>, bytes: u32) {
        self.sending = self.number(at, host, flow, bytes);
    }

    /// The number of a packet that leaves its host, if it is followed.
    fn number(&mut self, at: Time, host: u32, flow: Option<(u32, bool)>, bytes: u32) -> Option<u64> {
        let of_host = self.count(TracedSender::Host(host));
        let of_flow = flow.map(|(flow, is_ack)| self.count(TracedSender::Flow(flow, is_ack)));
        let is_followed = self.plan.packets.iter().any(|traced| match traced.sender {
            TracedSender::Host(other) => other == host && traced.has(of_host),
            TracedSender::Flow(other, acks) => {
                flow == Some((other, acks)) && of_flow.is_some_and(|number| traced.has(number))
            }
        });
        if !is_followed {
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

    /// The packet that is being sent passes a channel, or is lost there.
    pub fn on_channel(&mut self, [now, arrival]: [Time; 2], channel: u32, is_lost: bool) {
        let number = self.sending.take();
        let carried = &mut self.carried[channel as usize];
        *carried += u64::from(!is_lost);
        let Some(number) = number else { return };
        match (is_lost, self.switch_ends[channel as usize]) {
            (true, _) => self.link_steps.push((number, channel, now, LinkStep::Lost)),
            (false, Some((switch, port))) => self.expected.push((switch, port, *carried, number)),
            (false, None) => self.link_steps.push((number, channel, arrival, LinkStep::Delivered)),
        }
    }

    /// Takes the followed packets that are on their way to a switch: port, number on the link, number of the
    /// packet.
    pub fn take_expected(&mut self, switch: u32) -> impl Iterator<Item = (u32, u64, u64)> {
        let expected = self.expected.extract_if(.., move |expected| expected.0 == switch);
        expected.map(|(_, port, nth, number)| (port, nth, number))
    }

    /// For each part of the plan, how many packets its sender sent.
    pub fn sent(&self) -> Vec<u64> {
        let sent = |sender| self.sent.get(&key(sender)).copied().unwrap_or(0);
        self.plan.packets.iter().map(|traced| sent(traced.sender)).collect()
    }
}

/// A sender as a key of an ordered map.
fn key(sender: TracedSender) -> (bool, u32, bool) {
    match sender {
        TracedSender::Flow(flow, is_ack) => (true, flow, is_ack),
        TracedSender::Host(host) => (false, host, false),
    }
}
