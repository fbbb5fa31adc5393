//! The ends of an RDMA-like flow: a paced sender, a receiver that answers, timeouts
//! (docs/algorithms/substrate.md#pacing).

use p4cc_switch::Packet;
use p4cc_transport::rdma::{PathFeedback, RdmaData, RdmaReceipt};
use p4cc_transport::wire::{self, Extension, ExtensionType, Flags, PacketKind};
use p4cc_transport::{AckFields, Codepoint};
use p4cc_units::Span;

use crate::context::Context;
use crate::events::Timer;
use crate::hosts::flow::{Ends, RdmaEnds, Verb};
use crate::hosts::packets::{self, Answer};
use crate::hosts::rtt_noise::RttNoise;
use crate::hosts::state::Hosts;

/// An RDMA-like flow with what its handlers need.
pub(super) struct Rdma<'a, 'c> {
    pub hosts: &'a mut Hosts,
    pub cx: &'a mut Context<'c>,
    pub flow: u32,
}

impl Rdma<'_, '_> {
    #[inline]
    pub(super) fn ends(&mut self) -> Option<&mut RdmaEnds> {
        match &mut self.hosts.flows[self.flow as usize].ends {
            Ends::Rdma(ends) => Some(ends),
            Ends::Window { .. } => None,
        }
    }

    #[inline]
    fn sending_host(&self) -> u32 {
        self.hosts.plans[self.flow as usize].src
    }

    pub fn act(mut self, verb: Verb) {
        let (now, flow) = (self.cx.now(), self.flow);
        let Hosts { hosts, plans, flows, .. } = &mut *self.hosts;
        let (src, dst) = (plans[flow as usize].src as usize, plans[flow as usize].dst);
        let Ends::Rdma(ends) = &mut flows[flow as usize].ends else { return };
        match verb {
            Verb::Open => {
                ends.sender.start(now);
                ends.position = hosts[src].paced.enter();
            }
            Verb::Supply(bytes) => ends.sender.supply(now, bytes),
            Verb::Close => {
                if ends.sender.close() {
                    self.hosts.on_complete(self.cx, flow);
                }
            }
            Verb::SenderTimer => {
                ends.sender.on_timer(now);
                self.arm_timer();
            }
            Verb::ReceiverTimer => {
                let Some(due) = ends.receiver.on_timer(now) else { return };
                let port = ends.sender.chooses_paths().then_some(due.src_port);
                let answer = Answer::due(self.cx.pool, flow, ends.ack_class, &due).by_port(port);
                let nic = ends.nic;
                return self.hosts.send_answer(self.cx, dst, answer, nic);
            }
        }
        self.pace();
    }

    /// A packet reaches its end of the flow. Data gives what [`Self::answer`] needs.
    pub fn receive(&mut self, packet: &wire::Packet<'_>) -> Option<RdmaReceipt> {
        match packet.header.kind {
            PacketKind::Data => return self.on_data(packet),
            PacketKind::Ack => {
                self.hear_of_path(packet);
                self.on_ack(&packet.ack_fields(), packet.header.flags, packet.extension);
            }
            PacketKind::Notice => self.on_notice(packet),
        }
        None
    }

    /// What an ACK says about the path of the packet that it answers, to a sender that chose it.
    #[inline]
    fn hear_of_path(&mut self, packet: &wire::Packet<'_>) {
        let Some(ends) = self.ends().filter(|ends| ends.sender.chooses_paths()) else { return };
        if packet.extension.kind == ExtensionType::CNP {
            return;
        }
        let feedback = if packet.header.flags.has(Flags::NACK) {
            PathFeedback::Trimmed
        } else if packet.header.ecn_echo == Codepoint::CE {
            PathFeedback::Marked
        } else {
            PathFeedback::Good
        };
        ends.sender.on_path(packet.src_port, feedback);
    }

    /// Data reaches the receiver.
    pub(super) fn on_data(&mut self, packet: &wire::Packet<'_>) -> Option<RdmaReceipt> {
        self.take_data(packet, false)
    }

    /// Data reaches the receiver, which answers at once if that `is_asked`, however rarely it does else.
    #[inline(always)]
    pub(super) fn take_data(&mut self, packet: &wire::Packet<'_>, is_asked: bool) -> Option<RdmaReceipt> {
        let (index, now) = (self.flow, self.cx.now());
        let flow = &mut self.hosts.flows[index as usize];
        flow.count_mark(packet.ecn);
        let Ends::Rdma(ends) = &mut flow.ends else { return None };
        let waited_until = ends.receiver.deadline();
        let mut data = data_of(packet);
        data.ack_request |= is_asked;
        let receipt = ends.receiver.on_data(now, &data);
        if receipt.completed {
            flow.received = Some(now);
        }
        if let Some(until) = ends.receiver.deadline().filter(|until| waited_until != Some(*until)) {
            let node = self.cx.topology.host_node(self.hosts.plans[index as usize].dst);
            self.cx.schedule.timer(until, node, Timer::DelayedAck { flow: index });
        }
        Some(receipt)
    }

    /// A request for credit reaches the receiver, which says what is there and what it gave.
    pub fn on_request(self, packet: &wire::Packet<'_>) {
        let index = self.flow;
        let Ends::Rdma(ends) = &mut self.hosts.flows[index as usize].ends else { return };
        let port = ends.sender.chooses_paths().then_some(packet.src_port);
        let host = self.hosts.plans[index as usize].dst;
        for ack in ends.receiver.on_request(&data_of(packet)) {
            let answer = Answer::notification(self.cx.pool, index, ends.ack_class, ack).by_port(port);
            self.hosts.hosts[host as usize].answers.push_back(answer);
        }
        self.hosts.serve(self.cx, host);
    }

    /// The header of data whose payload a switch cut off reaches the receiver.
    pub fn on_trimmed(self, packet: &wire::Packet<'_>) {
        let (index, now) = (self.flow, self.cx.now());
        let flow = &mut self.hosts.flows[index as usize];
        flow.count_mark(packet.ecn);
        let Ends::Rdma(ends) = &mut flow.ends else { return };
        let Some(ack) = ends.receiver.on_trimmed(now, &data_of(packet)) else { return };
        let port = ends.sender.chooses_paths().then_some(packet.src_port);
        let answer = Answer::notification(self.cx.pool, index, ends.ack_class, ack).by_port(port);
        let nic = ends.nic;
        let host = self.hosts.plans[index as usize].dst;
        self.hosts.send_answer(self.cx, host, answer, nic);
    }

    /// Hands the answers to a data packet, which had an extension of this kind and length, to the interface.
    /// Gives the packet back if no answer leaves in it.
    pub fn answer(
        mut self,
        receipt: RdmaReceipt,
        packet: Packet,
        kind: ExtensionType,
        len: usize,
    ) -> Option<Packet> {
        let flow = self.flow;
        let Some(ends) = self.ends() else { return Some(packet) };
        if ends.nic.is_some() {
            return self.answer_in_time(receipt, packet, kind, len);
        }
        let (class, delivered) = (ends.ack_class, ends.receiver.delivered_bytes());
        let echoes = ends.sender.chooses_paths();
        let host = self.hosts.plans[flow as usize].dst;
        let answers = &mut self.hosts.hosts[host as usize].answers;
        if let Some(ack) = receipt.notification {
            answers.push_back(Answer::notification(self.cx.pool, flow, class, ack));
        }
        let mut unused = Some(packet);
        if let Some(ack) = receipt.ack
            && let Some(packet) = unused.take()
        {
            let port = if echoes { wire::peek_source_port(&packet.head) } else { None };
            answers.push_back(Answer::echo(packet, flow, class, ack, kind, len).by_port(port));
        }
        self.hosts.serve(self.cx, host);
        if receipt.delivered_bytes > 0 {
            self.hosts.on_delivered(self.cx, flow, delivered);
        }
        unused
    }

    /// A switch reports its queue to the sender.
    fn on_notice(&mut self, packet: &wire::Packet<'_>) {
        let now = self.cx.now();
        let Some(ends) = self.ends() else { return };
        ends.sender.on_notice(now, packet.header.timestamp_echo_ns, &packet.extension);
        self.pace();
    }

    /// The receiver lets the sender send.
    pub(super) fn on_credit(&mut self, extension: &Extension<'_>) {
        let now = self.cx.now();
        let Some(ends) = self.ends() else { return };
        ends.sender.on_credit(now, extension);
        self.pace();
    }

    /// The sender hears what arrived.
    pub(super) fn on_ack(&mut self, fields: &AckFields, flags: Flags, extension: Extension<'_>) {
        let (now, flow) = (self.cx.now(), self.flow);
        let Some(ends) = self.ends() else { return };
        let noise = ends.noise.as_mut().map_or(Span::ZERO, RttNoise::draw);
        let ack = ends.sender.on_ack(now, fields, flags, &extension, noise);
        if let Some(rtt) = ack.rtt {
            let is_marked = fields.ecn_echo == Codepoint::CE;
            self.cx.record_rtt(self.hosts.plans[flow as usize].id, rtt, is_marked);
        }
        if ack.completed {
            self.hosts.on_complete(self.cx, flow);
        }
        self.pace();
    }

    /// The sender may send at another time than before.
    fn pace(&mut self) {
        self.update_pacing();
        let host = self.sending_host();
        self.hosts.serve(self.cx, host);
    }

    /// Updates when the flow may send. A flow that will never send again leaves the round robin; a complete
    /// flow that has a rate to give back stays until it has done so.
    fn update_pacing(&mut self) {
        let Hosts { hosts, plans, flows, .. } = &mut *self.hosts;
        let plan = &plans[self.flow as usize];
        if let Ends::Rdma(ends) = &mut flows[self.flow as usize].ends {
            let paced = &mut hosts[plan.src as usize].paced;
            if ends.sender.is_over() {
                paced.leave(plan.priority, self.flow, &mut ends.position);
            } else {
                paced.reschedule(plan.priority, self.flow, &mut ends.position, ends.sender.ready_at());
            }
        }
    }

    /// The next packet of the flow at its turn in the round robin of a host; none if it has none after all,
    /// since a rate that fell meanwhile delayed the departure, or the sender gave a request up.
    pub fn poll(mut self, host: u32) -> Option<Packet> {
        let (index, now) = (self.flow, self.cx.now());
        let Hosts { hosts, plans, flows, .. } = &mut *self.hosts;
        let plan = &plans[index as usize];
        if plan.is_read {
            return self.poll_read(host);
        }
        let flow = &mut flows[index as usize];
        let Ends::Rdma(ends) = &mut flow.ends else { return None };
        let class = ends.sender.data_class().unwrap_or(plan.priority);
        // Requests for credit leave as answers do.
        let is_request = ends.sender.is_request_due();
        let class = if is_request { ends.ack_class } else { class };
        let sent = ends.sender.take(now);
        let packet =
            sent.map(|(segment, extension)| packets::paced_packet(self.cx, plan, class, &segment, extension));
        let paced = &mut hosts[host as usize].paced;
        paced.reschedule(plan.priority, index, &mut ends.position, ends.sender.ready_at());
        let mut packet = packet?;
        if let Some(packet) = &mut packet {
            if let Some(port) = ends.sender.source_port() {
                wire::set_source_port(&mut packet.head, port);
            }
            if let Some(credit) = ends.sender.say_wanted() {
                wire::set_wanted(&mut packet.head, credit);
            }
        }
        // A burst is one request to the interface, so its packets leave together.
        paced.on_served(&ends.position, ends.sender.is_in_burst());
        flow.data_pkts += u64::from(!is_request);
        let is_quenched = ends.sender.is_quenched() && flow.quenched.is_none();
        if ends.sender.is_over() {
            paced.leave(plan.priority, index, &mut ends.position);
        }
        if is_quenched {
            flow.quenched = Some(now);
            self.hosts.on_end(self.cx, index);
        }
        self.arm_timer();
        packet
    }

    /// Schedules the timeout of the sender, unless a timer is set; a timeout that moved meanwhile is
    /// scheduled again then.
    pub(super) fn arm_timer(&mut self) {
        let (index, host) = (self.flow, self.sending_host());
        let flow = &mut self.hosts.flows[index as usize];
        let Ends::Rdma(ends) = &flow.ends else { return };
        if let (Some(deadline), None) = (ends.sender.deadline(), flow.timer) {
            flow.timer = Some(deadline);
            let node = self.cx.topology.host_node(host);
            self.cx.schedule.timer(deadline, node, Timer::Sender { flow: index });
        }
    }
}

/// What a data packet says to the receiver.
#[inline]
fn data_of<'a>(packet: &wire::Packet<'a>) -> RdmaData<'a> {
    RdmaData {
        seq: packet.header.seq,
        len: u32::from(packet.header.payload_len),
        fin: packet.header.flags.has(Flags::FIN),
        ack_request: packet.header.flags.has(Flags::ACK_REQUEST),
        ecn: packet.ecn,
        timestamp_ns: packet.header.timestamp_ns,
        src_port: packet.src_port,
        extension: packet.extension,
    }
}
