//! Receiver algorithms in hosts: one for each host, which lets the senders of its flows send
//! (docs/algorithms/receivers.md).
//!
//! What lets them send leaves with the answers of paced flows, in front of everything else.

use p4cc_cc::{Arrival, ReceiverAction};
use p4cc_switch::Packet;
use p4cc_transport::Codepoint;
use p4cc_transport::wire::{self, ExtensionType, PacketKind};

use crate::context::Context;
use crate::describe::flow_index;
use crate::events::Timer;
use crate::hosts::flow::Ends;
use crate::hosts::packets::{self, Answer};
use crate::hosts::rdma::Rdma;
use crate::hosts::state::Hosts;

impl Hosts {
    /// Gives a packet to its flow as [`Self::receive_plain`] does, and to the host's receiver if it has one
    /// for the flow.
    pub(super) fn receive_driven(
        &mut self,
        cx: &mut Context<'_>,
        host: u32,
        packet: Packet,
    ) -> Option<Packet> {
        let whole = packets::read(&packet).ok();
        let is_trimmed = whole.is_none();
        let Some(read) = whole.or_else(|| wire::decode_trimmed(&packet.head)) else {
            return self.receive_plain(cx, host, packet);
        };
        let flow = match self.flow_at(cx.topology, host, &read) {
            Ok(flow) if cx.topology.driven[self.plans[flow].algorithm as usize] => flow as u32,
            _ => return self.receive_plain(cx, host, packet),
        };
        self.hosts[host as usize].counters.delivered_pkts += 1;
        if read.header.kind != PacketKind::Data {
            let mut ends = Rdma { hosts: self, cx, flow };
            if read.extension.kind == ExtensionType::CREDIT {
                ends.on_credit(&read.extension);
            } else {
                ends.receive(&read);
            }
            Rdma { hosts: self, cx, flow }.arm_timer();
            return Some(packet);
        }
        let is_asked = self.tell_receiver(cx, (host, flow), &read, is_trimmed);
        if read.header.payload_len == 0 {
            Rdma { hosts: self, cx, flow }.on_request(&read);
            self.carry_out(cx, host);
            return Some(packet);
        }
        if is_trimmed {
            Rdma { hosts: self, cx, flow }.on_trimmed(&read);
            self.carry_out(cx, host);
            return Some(packet);
        }
        let (kind, len) = (read.extension.kind, read.extension.bytes.len());
        let receipt = Rdma { hosts: self, cx, flow }.take_data(&read, is_asked);
        let unused = match receipt {
            Some(receipt) => Rdma { hosts: self, cx, flow }.answer(receipt, packet, kind, len),
            None => Some(packet),
        };
        if receipt.is_some_and(|receipt| receipt.completed) {
            let id = self.plans[flow as usize].id;
            if let Some(receiver) = &mut self.hosts[host as usize].receiver {
                receiver.algorithm.on_complete(cx.now(), id, &mut receiver.actions);
            }
        }
        self.carry_out(cx, host);
        unused
    }

    /// Tells a receiver what arrived; whether it wants that answered at once.
    fn tell_receiver(
        &mut self,
        cx: &Context<'_>,
        (host, flow): (u32, u32),
        read: &wire::Packet<'_>,
        is_trimmed: bool,
    ) -> bool {
        let Ends::Rdma(ends) = &self.flows[flow as usize].ends else { return false };
        let Some(receiver) = &mut self.hosts[host as usize].receiver else { return false };
        let Some(start) = ends.receiver.position(read.header.seq).filter(|_| !ends.receiver.is_complete())
        else {
            return true;
        };
        let beyond = Some(u64::from(read.header.ack)).filter(|_| read.header.ack != u32::MAX);
        let arrival = Arrival {
            now: cx.now(),
            flow: self.plans[flow as usize].id,
            start,
            bytes: read.header.payload_len.into(),
            is_trimmed,
            beyond_bytes: beyond,
            wanted: Some(read.header.timestamp_echo_ns).filter(|wanted| *wanted > 0),
            is_marked: read.ecn == Codepoint::CE,
            class: read.header.class.get(),
        };
        receiver.algorithm.on_arrival(&arrival, &mut receiver.actions);
        receiver.actions.contains(&ReceiverAction::Acknowledge)
    }

    /// Does what the receiver of a host wants done.
    fn carry_out(&mut self, cx: &mut Context<'_>, host: u32) {
        let Self { hosts, plans, flows, .. } = &mut *self;
        let state = &mut hosts[host as usize];
        let Some(receiver) = &mut state.receiver else { return };
        for action in receiver.actions.drain(..) {
            let (number, bytes, grant) = match action {
                ReceiverAction::Acknowledge => continue,
                ReceiverAction::Pull { flow, bytes } => (flow, bytes, None),
                ReceiverAction::Grant { flow, up_to, class } => (flow, 0, Some((up_to, class))),
            };
            let Some(flow) = flow_index(plans, number).filter(|&flow| plans[flow].dst == host) else {
                continue;
            };
            let Ends::Rdma(ends) = &mut flows[flow].ends else { continue };
            let credit = match grant {
                None => ends.receiver.pull(bytes),
                Some((up_to, class)) => ends.receiver.grant(up_to, class),
            };
            if let Some(credit) = credit {
                state.answers.push_back(Answer::notification(cx.pool, flow as u32, ends.ack_class, credit));
            }
        }
        let next = receiver.algorithm.next_timer();
        if let Some(at) = next.filter(|at| receiver.wake.is_none_or(|wake| *at < wake)) {
            receiver.wake = Some(at);
            cx.schedule.timer(at, cx.topology.host_node(host), Timer::Receiver { host });
        }
        self.serve(cx, host);
    }

    /// The timer of a host's receiver is due, unless it was set anew meanwhile.
    pub fn on_receiver_timer(&mut self, cx: &mut Context<'_>, host: u32) {
        let now = cx.now();
        let Some(receiver) = &mut self.hosts[host as usize].receiver else { return };
        if receiver.wake.take_if(|at| *at == now).is_some() {
            receiver.algorithm.on_timer(now, &mut receiver.actions);
            self.carry_out(cx, host);
        }
    }
}
