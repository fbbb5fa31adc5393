//! RDMA-like flows at their hosts: paced senders, receivers that answer, timeouts
//! (docs/algorithms/substrate.md#pacing).

use p4cc_switch::Packet;
use p4cc_transport::rdma::{RdmaData, RdmaReceipt};
use p4cc_transport::wire::{self, Extension, ExtensionType, Flags};
use p4cc_transport::{AckFields, Codepoint};
use p4cc_units::Span;

use crate::events::Timer;
use crate::hosts::flow::{Ends, RdmaEnds};
use crate::hosts::packets::{self, Answer};
use crate::hosts::rtt_noise::RttNoise;
use crate::network::Network;

impl Network {
    fn rdma(&mut self, flow: u32) -> Option<&mut RdmaEnds> {
        match &mut self.nodes.flows[flow as usize].ends {
            Ends::Rdma(ends) => Some(ends),
            Ends::Window { .. } => None,
        }
    }

    pub(crate) fn start_rdma(&mut self, flow: u32) {
        let (now, host) = (self.now(), self.nodes.plans[flow as usize].src);
        let Ends::Rdma(ends) = &mut self.nodes.flows[flow as usize].ends else { return };
        ends.sender.start(now);
        ends.position = self.nodes.hosts[host as usize].paced.enter();
        self.update_pacing(flow);
        self.start_interface(host);
    }

    pub(crate) fn supply_rdma(&mut self, flow: u32, bytes: u64) {
        let (now, host) = (self.now(), self.nodes.plans[flow as usize].src);
        let Some(ends) = self.rdma(flow) else { return };
        ends.sender.supply(now, bytes);
        self.update_pacing(flow);
        self.start_interface(host);
    }

    /// A packet of the next flow in round robin that may send now.
    pub(crate) fn next_paced(&mut self, host: u32) -> Option<Packet> {
        let now = self.now();
        loop {
            let state = &mut self.nodes.hosts[host as usize];
            while let Some(index) = state.paced.pop_due(now) {
                if let Ends::Rdma(ends) = &mut self.nodes.flows[index as usize].ends {
                    ends.set_ready(self.nodes.plans[index as usize].dst == host);
                }
            }
            let index = state.paced.next(state.pauses.free())?;
            let plan = &self.nodes.plans[index as usize];
            if plan.is_read {
                let Some(packet) = self.next_of_read(host, index) else { continue };
                return Some(packet);
            }
            let flow = &mut self.nodes.flows[index as usize];
            let Ends::Rdma(ends) = &mut flow.ends else { return None };
            let sent = ends.sender.take(now);
            let packet = sent.map(|sent| {
                packets::paced_packet(&mut self.nodes.pool, &self.topology.hosts, plan, &sent, now)
            });
            state.paced.reschedule(plan.priority, index, &mut ends.position, ends.sender.ready_at());
            // A rate that fell meanwhile may have delayed the departure, or the sender gave a request up.
            let Some(packet) = packet else { continue };
            // A burst is one request to the interface, so its packets leave together.
            state.paced.on_served(&ends.position, ends.sender.is_in_burst());
            flow.data_pkts += 1;
            if ends.sender.is_quenched() && flow.quenched.is_none() {
                flow.quenched = Some(now);
                self.observers.on_flow_end(now, plan.is_counted(), plan.is_given_whole());
            }
            if ends.sender.is_over() {
                state.paced.leave(plan.priority, index, &mut ends.position);
            }
            self.arm_rdma_timer(index);
            return packet;
        }
    }

    /// Updates when a flow may send. A flow that will never send again leaves the round robin; a complete
    /// flow that has a rate to give back stays until it has done so.
    fn update_pacing(&mut self, index: u32) {
        let plan = &self.nodes.plans[index as usize];
        if let Ends::Rdma(ends) = &mut self.nodes.flows[index as usize].ends {
            let paced = &mut self.nodes.hosts[plan.src as usize].paced;
            if ends.sender.is_over() {
                paced.leave(plan.priority, index, &mut ends.position);
            } else {
                paced.reschedule(plan.priority, index, &mut ends.position, ends.sender.ready_at());
            }
        }
    }

    /// Data reached the receiving end of an RDMA-like flow.
    pub(crate) fn on_rdma_data(&mut self, index: u32, packet: &wire::Packet<'_>) -> Option<RdmaReceipt> {
        let now = self.now();
        let flow = &mut self.nodes.flows[index as usize];
        flow.count_mark(packet.ecn);
        let Ends::Rdma(ends) = &mut flow.ends else { return None };
        let waited_until = ends.receiver.deadline();
        let receipt = ends.receiver.on_data(
            now,
            &RdmaData {
                seq: packet.header.seq,
                len: u32::from(packet.header.payload_len),
                fin: packet.header.flags.has(Flags::FIN),
                ack_request: packet.header.flags.has(Flags::ACK_REQUEST),
                ecn: packet.ecn,
                timestamp_ns: packet.header.timestamp_ns,
                extension: packet.extension,
            },
        );
        if receipt.completed {
            flow.received = Some(now);
        }
        if let Some(until) = ends.receiver.deadline().filter(|until| waited_until != Some(*until)) {
            let host = self.nodes.plans[index as usize].dst;
            self.schedule.timer(until, self.nodes.host_node(host), Timer::DelayedAck { flow: index });
        }
        Some(receipt)
    }

    /// An ACK of an RDMA-like receiver may be due; it is not if another one was sent meanwhile.
    pub(crate) fn on_rdma_ack_timer(&mut self, index: u32) {
        let (now, host) = (self.now(), self.nodes.plans[index as usize].dst);
        let Ends::Rdma(ends) = &mut self.nodes.flows[index as usize].ends else { return };
        let Some(due) = ends.receiver.on_timer(now) else { return };
        let answer = Answer::due(&mut self.nodes.pool, (index, ends.ack_class), &due);
        self.nodes.hosts[host as usize].answers.push_back(answer);
        self.start_interface(host);
    }

    /// Hands the answers to a data packet, which had an extension of this kind and length, to the interface.
    /// Gives the packet back if no answer leaves in it.
    pub(crate) fn answer_rdma(
        &mut self,
        host: u32,
        index: u32,
        receipt: RdmaReceipt,
        (packet, kind, len): (Packet, ExtensionType, usize),
    ) -> Option<Packet> {
        let Ends::Rdma(ends) = &self.nodes.flows[index as usize].ends else { return Some(packet) };
        let (class, delivered) = (ends.ack_class, ends.receiver.delivered_bytes());
        let answers = &mut self.nodes.hosts[host as usize].answers;
        if let Some(ack) = receipt.notification {
            answers.push_back(Answer::notification(&mut self.nodes.pool, index, class, ack));
        }
        let mut left = Some(packet);
        if let Some(ack) = receipt.ack
            && let Some(packet) = left.take()
        {
            answers.push_back(Answer::echo(packet, (index, class), ack, (kind, len)));
        }
        self.start_interface(host);
        if receipt.delivered_bytes > 0 {
            self.on_delivered(index, delivered);
        }
        left
    }

    /// An answer reached the sending end of an RDMA-like flow.
    pub(crate) fn on_rdma_ack(&mut self, host: u32, index: u32, packet: &wire::Packet<'_>) {
        self.on_rdma_progress(host, index, &packet.ack_fields(), (packet.header.flags, packet.extension));
    }

    /// A switch tells the sending end of an RDMA-like flow of its queue.
    pub(crate) fn on_rdma_notice(&mut self, host: u32, index: u32, packet: &wire::Packet<'_>) {
        let now = self.now();
        let Some(ends) = self.rdma(index) else { return };
        ends.sender.on_notice(now, packet.header.timestamp_echo_ns, &packet.extension);
        self.update_pacing(index);
        self.start_interface(host);
    }

    /// The sending end of an RDMA-like flow hears what arrived.
    pub(crate) fn on_rdma_progress(
        &mut self,
        host: u32,
        index: u32,
        fields: &AckFields,
        (flags, extension): (Flags, Extension<'_>),
    ) {
        let now = self.now();
        let Some(ends) = self.rdma(index) else { return };
        let noise = ends.noise.as_mut().map_or(Span::ZERO, RttNoise::draw);
        let ack = ends.sender.on_ack(now, fields, flags, &extension, noise);
        if let Some(rtt) = ack.rtt {
            let is_marked = fields.ecn_echo == Codepoint::CE;
            self.observers.recorder.rtt(now, self.nodes.plans[index as usize].id, rtt, is_marked);
        }
        if ack.completed {
            self.on_complete(index);
        }
        self.update_pacing(index);
        self.start_interface(host);
    }

    /// The application closes a connection.
    pub(crate) fn close_rdma(&mut self, index: u32) {
        let host = self.nodes.plans[index as usize].src;
        if self.rdma(index).is_some_and(|ends| ends.sender.close()) {
            self.on_complete(index);
        }
        self.update_pacing(index);
        self.start_interface(host);
    }

    /// Schedules the timeout of a flow, unless a timer is set; a timeout that moved meanwhile is scheduled
    /// again then.
    pub(crate) fn arm_rdma_timer(&mut self, index: u32) {
        let host = self.nodes.plans[index as usize].src;
        let flow = &mut self.nodes.flows[index as usize];
        let Ends::Rdma(ends) = &flow.ends else { return };
        if let (Some(deadline), None) = (ends.sender.deadline(), flow.timer) {
            flow.timer = Some(deadline);
            self.schedule.timer(deadline, self.nodes.host_node(host), Timer::Sender { flow: index });
        }
    }

    pub(crate) fn on_rdma_timer(&mut self, index: u32) {
        let (now, host) = (self.now(), self.nodes.plans[index as usize].src);
        let Some(ends) = self.rdma(index) else { return };
        ends.sender.on_timer(now);
        self.update_pacing(index);
        self.arm_rdma_timer(index);
        self.start_interface(host);
    }
}
