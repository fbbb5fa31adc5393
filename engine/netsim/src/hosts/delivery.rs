//! Delivery: a packet that reaches a host goes to the sender or the receiver of its flow.

use p4cc_switch::Packet;
use p4cc_transport::wire::{self, PacketKind};

use crate::describe::flow_index;
use crate::hosts::flow::Ends;
use crate::hosts::packets;
use crate::network::Network;
use crate::output::NoFlow;

impl Network {
    /// Gives a packet to its sender or receiver. Returns the packet if its memory is free again.
    pub(crate) fn deliver(&mut self, host: u32, packet: Packet) -> Option<Packet> {
        if let Some(tap) = &mut self.observers.tap {
            tap(self.schedule.now, host as usize, &packet);
        }
        if self.topology.is_plain { self.take_in(host, packet) } else { self.take_in_special(host, packet) }
    }

    /// The flow that ends at a host and that a packet is of, or why there is none.
    #[inline]
    pub(crate) fn flow_at(&self, host: u32, read: &wire::Packet<'_>) -> Result<usize, NoFlow> {
        if !packets::is_addressed(&self.topology.hosts[host as usize], read) {
            return Err(NoFlow::Address);
        }
        let plans = &self.nodes.plans;
        let flow = flow_index(plans, read.header.flow_id).filter(|&flow| {
            let plan = &plans[flow];
            let is_for_dst = (read.header.kind == PacketKind::Data) != plan.is_read;
            host == if is_for_dst { plan.dst } else { plan.src }
        });
        flow.ok_or(NoFlow::Flow)
    }

    /// Gives a packet of this transport alone to its sender or receiver.
    #[inline]
    pub(crate) fn take_in(&mut self, host: u32, packet: Packet) -> Option<Packet> {
        // By reference from here on: it is larger than a line of the cache.
        let read = packets::read(&packet);
        let read = match &read {
            Ok(read) => read,
            Err(error) => {
                let cause = NoFlow::of(error);
                return self.refuse(host, cause, packet);
            }
        };
        let flow = match self.flow_at(host, read) {
            Ok(flow) => flow,
            Err(cause) => return self.refuse(host, cause, packet),
        };
        self.nodes.hosts[host as usize].counters.delivered_pkts += 1;
        if self.nodes.plans[flow].is_read {
            self.take_read(host, flow as u32, read);
            return Some(packet);
        }
        let is_rdma = matches!(self.nodes.flows[flow].ends, Ends::Rdma(_));
        match (read.header.kind, is_rdma) {
            (PacketKind::Data, true) => {
                let (receipt, extension) = (self.on_rdma_data(flow as u32, read), read.extension);
                let (kind, len) = (extension.kind, extension.bytes.len());
                return self.answer_rdma(host, flow as u32, receipt?, (packet, kind, len));
            }
            (PacketKind::Ack, true) => self.on_rdma_ack(host, flow as u32, read),
            (PacketKind::Notice, true) => self.on_rdma_notice(host, flow as u32, read),
            (PacketKind::Data, false) => {
                self.take_data(host, flow as u32, &read.header.data_fields(read.ecn));
            }
            (PacketKind::Ack, false) => {
                let fields = read.ack_fields();
                self.take_ack(host, flow as u32, &fields);
            }
            // No window flow needs what switches tell.
            (PacketKind::Notice, false) => {}
        }
        Some(packet)
    }

    /// No flow takes a packet: the host counts it, and keeps what is recorded of it.
    #[cold]
    pub(crate) fn refuse(&mut self, host: u32, cause: NoFlow, packet: Packet) -> Option<Packet> {
        let now = self.now();
        let host = &mut self.nodes.hosts[host as usize];
        *match cause {
            NoFlow::Protocol | NoFlow::Damaged => &mut host.counters.refused_malformed,
            NoFlow::Address => &mut host.counters.refused_address,
            NoFlow::Flow => &mut host.counters.refused_flow,
        } += 1;
        if let Some(log) = host.own.as_mut().and_then(|own| own.received.as_mut()) {
            log.add(now, cause, &packet);
        }
        Some(packet)
    }

    /// A receiver took new bytes of a flow; `delivered` is their number so far.
    pub(crate) fn on_delivered(&mut self, index: u32, delivered: u64) {
        self.observers.stall.on_delivered(self.schedule.now);
        if let Some(member) = self.nodes.plans[index as usize].member {
            self.on_member_delivered(member, delivered);
        }
        if let Some(member) = self.nodes.plans[index as usize].step {
            self.on_step_delivered(member, delivered);
        }
    }

    /// A flow is complete.
    pub(crate) fn on_complete(&mut self, index: u32) {
        self.nodes.flows[index as usize].finish = Some(self.schedule.now);
        let plan = &self.nodes.plans[index as usize];
        self.observers.on_flow_end(self.schedule.now, plan.is_counted(), plan.is_given_whole());
        self.close_tcp_client(index);
    }
}
