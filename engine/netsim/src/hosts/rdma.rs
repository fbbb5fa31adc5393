//! RDMA-like flows in a host: the interface asks them in turn for
//! packets, answers go first (docs/algorithms/substrate.md#pacing).

use p4cc_switch::Packet;
use p4cc_transport::Codepoint;
use p4cc_transport::rdma::{RdmaConfig, RdmaData, RdmaReceipt, RdmaReceiver, RdmaSender};
use p4cc_transport::wire::{self, ExtensionType, Flags, TrafficClass};
use p4cc_units::Span;

use crate::SpecError;
use crate::describe::topology::{FlowPlan, Topology};
use crate::events::event::Kind;
use crate::events::tie_break::Ticket;
use crate::hosts::host::{self, Answer, Ends, RdmaEnds};
use crate::hosts::round_robin::Seat;
use crate::hosts::rtt_noise::RttNoise;
use crate::links::channel::Work;
use crate::network::state::{Network, PACE_TIMER};

/// Both ends of an RDMA-like flow on the host's link.
pub(crate) fn rdma_ends(
    name: &str,
    config: &RdmaConfig,
    topology: &Topology,
    plan: &FlowPlan,
    seed: u64,
) -> Result<Ends, SpecError> {
    let uplink = topology.hosts[plan.src as usize].uplink;
    let line_rate = topology.channels[uplink as usize].rate;
    let refused = |place: &str, cause: String, remedy: String| {
        SpecError::new(format!("rdma.{name}.{place}"), cause, remedy)
    };
    let mut sender = RdmaSender::new(config, line_rate, plan.size_bytes)
        .map_err(|error| refused(&error.place, error.cause, error.remedy))?;
    if plan.piece_bytes > 0 {
        sender.await_supply();
    }
    let ack_class = TrafficClass::new(config.ack_class)
        .ok_or_else(|| refused("ack_class", "there is no such class".to_owned(), "give 0 to 7".to_owned()))?;
    let noise = RttNoise::new(config, seed, plan.id);
    let (receiver, seat) = (RdmaReceiver::new(config), Seat::default());
    Ok(Ends::Rdma(Box::new(RdmaEnds { sender, receiver, ack_class, noise, seat })))
}

impl Network {
    fn rdma(&mut self, flow: u32) -> Option<&mut RdmaEnds> {
        match &mut self.flows[flow as usize].ends {
            Ends::Rdma(ends) => Some(ends),
            Ends::Window { .. } => None,
        }
    }

    pub(crate) fn start_rdma(&mut self, flow: u32) {
        let (now, host) = (self.now(), self.plans[flow as usize].src);
        let Ends::Rdma(ends) = &mut self.flows[flow as usize].ends else { return };
        ends.sender.start(now);
        ends.seat = self.hosts[host as usize].paced.enter();
        self.place(flow);
        self.start_interface(host);
    }

    pub(crate) fn supply_rdma(&mut self, flow: u32, bytes: u64) {
        let (now, host) = (self.now(), self.plans[flow as usize].src);
        let Some(ends) = self.rdma(flow) else { return };
        ends.sender.supply(now, bytes);
        self.place(flow);
        self.start_interface(host);
    }

    /// The packet that an interface sends now: answers, then
    /// segments that were given to it, then paced flows in turn.
    pub(crate) fn next_packet(&mut self, host: u32) -> Option<(Ticket, Packet)> {
        let now = self.now();
        let hosts = &self.topology.hosts;
        let state = &mut self.hosts[host as usize];
        if let Some(answer) = state.next_answer() {
            let plan = &self.plans[answer.flow as usize];
            return host::answer_packet(hosts, plan, answer, now).map(|packet| (0, packet));
        }
        match state.next_waiting(&self.plans) {
            Some((ticket, out)) => {
                let packet = host::to_packet(&mut self.pool, hosts, &self.plans, &out, now);
                packet.map(|packet| (ticket, packet))
            }
            None => self.next_paced(host).map(|packet| (0, packet)),
        }
    }

    /// A packet of the first flow, from the one whose turn it is, that may send now.
    fn next_paced(&mut self, host: u32) -> Option<Packet> {
        let now = self.now();
        let state = &mut self.hosts[host as usize];
        loop {
            while let Some(index) = state.paced.pop_due(now) {
                if let Ends::Rdma(ends) = &mut self.flows[index as usize].ends {
                    ends.seat.is_ready = true;
                }
            }
            let index = state.paced.next(state.pauses.free())?;
            let plan = &self.plans[index as usize];
            let flow = &mut self.flows[index as usize];
            let Ends::Rdma(ends) = &mut flow.ends else { return None };
            let sent = ends.sender.take(now);
            let packet =
                sent.map(|sent| host::paced_packet(&mut self.pool, &self.topology.hosts, plan, &sent, now));
            state.paced.place(plan.priority, index, &mut ends.seat, ends.sender.ready_at());
            // A rate that fell meanwhile may have put the departure off, or a request was given up.
            let Some(packet) = packet else { continue };
            // A burst is one request to the interface, so its packets leave together.
            state.paced.took_turn(&ends.seat, ends.sender.is_in_burst());
            flow.data_pkts += 1;
            if ends.sender.is_quenched() && flow.quenched.is_none() {
                flow.quenched = Some(now);
                self.open_flows -= u64::from(plan.is_counted());
                if plan.is_given_whole() {
                    self.stall.on_finish(now);
                }
            }
            if ends.sender.is_over() {
                state.paced.leave(plan.priority, index, &mut ends.seat);
            }
            self.arm_rdma_timer(index);
            return packet;
        }
    }

    /// Has the interface know when a flow under way may send; one that will never send again leaves. A flow
    /// that is complete and has a rate to give back stays until it did.
    fn place(&mut self, index: u32) {
        let plan = &self.plans[index as usize];
        if let Ends::Rdma(ends) = &mut self.flows[index as usize].ends {
            let paced = &mut self.hosts[plan.src as usize].paced;
            if ends.sender.is_over() {
                paced.leave(plan.priority, index, &mut ends.seat);
            } else {
                paced.place(plan.priority, index, &mut ends.seat, ends.sender.ready_at());
            }
        }
    }

    /// Sees to it that an interface looks again when something may leave.
    pub(crate) fn await_turn(&mut self, host: u32) {
        let state = &self.hosts[host as usize];
        let busy_until = state.line.busy_until();
        let next = if state.has_waiting(&self.plans) {
            Some(busy_until)
        } else {
            state.paced.next_time(state.pauses.free())
        };
        let Some(at) = next else { return };
        let now = self.now();
        let state = &mut self.hosts[host as usize];
        if at <= busy_until {
            if let Work::WakeAt(moment) = state.line.on_work(self.order.current(now)) {
                self.schedule_at(moment, Kind::Dequeue, self.host_node(host), 0, 0);
            }
        } else if state.paced.wake.is_none_or(|wake| wake > at) {
            state.paced.wake = Some(at);
            self.schedule(at, Kind::Timer, self.host_node(host), PACE_TIMER, host);
        }
    }

    pub(crate) fn on_pace_timer(&mut self, host: u32) {
        let now = self.now();
        let wake = &mut self.hosts[host as usize].paced.wake;
        if *wake == Some(now) {
            *wake = None;
            self.start_interface(host);
        }
    }

    /// Data reached the receiving end of an RDMA-like flow.
    pub(crate) fn on_rdma_data(&mut self, index: u32, packet: &wire::Packet<'_>) -> Option<RdmaReceipt> {
        let now = self.now();
        let flow = &mut self.flows[index as usize];
        flow.count_mark(packet.ecn);
        let Ends::Rdma(ends) = &mut flow.ends else { return None };
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
        Some(receipt)
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
        let Ends::Rdma(ends) = &self.flows[index as usize].ends else { return Some(packet) };
        let (class, delivered) = (ends.ack_class, ends.receiver.delivered_bytes());
        let answers = &mut self.hosts[host as usize].answers;
        if let Some(ack) = receipt.notification {
            answers.push_back(Answer::notification(&mut self.pool, index, class, ack));
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
        let now = self.now();
        let Some(ends) = self.rdma(index) else { return };
        let fields = packet.ack_fields();
        let noise = ends.noise.as_mut().map_or(Span::ZERO, RttNoise::draw);
        let outcome = ends.sender.on_ack(now, &fields, packet.header.flags, &packet.extension, noise);
        if let Some(rtt) = outcome.rtt {
            let is_marked = fields.ecn_echo == Codepoint::CE;
            self.recorder.rtt(now, self.plans[index as usize].id, rtt, is_marked);
        }
        if outcome.completed {
            self.on_complete(index);
        }
        self.place(index);
        self.start_interface(host);
    }

    /// The application closes a connection.
    pub(crate) fn close_rdma(&mut self, index: u32) {
        let host = self.plans[index as usize].src;
        if self.rdma(index).is_some_and(|ends| ends.sender.close()) {
            self.on_complete(index);
        }
        self.place(index);
        self.start_interface(host);
    }

    /// Has the timeout of a flow looked at when it may be due; a deadline that moves is looked at again then.
    fn arm_rdma_timer(&mut self, index: u32) {
        let host = self.plans[index as usize].src;
        let flow = &mut self.flows[index as usize];
        let Ends::Rdma(ends) = &flow.ends else { return };
        if let (Some(deadline), None) = (ends.sender.deadline(), flow.timer) {
            flow.timer = Some(deadline);
            self.schedule(deadline, Kind::Timer, self.host_node(host), 0, index);
        }
    }

    pub(crate) fn on_rdma_timer(&mut self, index: u32) {
        let (now, host) = (self.now(), self.plans[index as usize].src);
        let Some(ends) = self.rdma(index) else { return };
        ends.sender.on_timer(now);
        self.place(index);
        self.arm_rdma_timer(index);
        self.start_interface(host);
    }
}
