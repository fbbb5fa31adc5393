//! RDMA reads: the reader paces requests and takes the data, the source sends what is requested
//! (docs/algorithms/timely.md#reads).
//!
//! The plan of a read has the reader as `src`, since it begins the flow and its algorithm runs there; results
//! name the hosts by the way of the data.

use p4cc_switch::Packet;
use p4cc_transport::AckFields;
use p4cc_transport::rdma::ReadRequest;
use p4cc_transport::wire::{self, Extension, Flags, PacketKind};

use crate::hosts::flow::Ends;
use crate::hosts::packets;
use crate::hosts::rdma::Rdma;
use crate::hosts::state::Hosts;

impl Rdma<'_, '_> {
    /// The next request of a reader, or the next packet of a source, whichever this host is in the flow.
    pub(super) fn poll_read(self, host: u32) -> Option<Packet> {
        let is_reader = host == self.hosts.plans[self.flow as usize].src;
        if is_reader { self.poll_reader(host) } else { self.poll_source(host) }
    }

    fn poll_reader(mut self, host: u32) -> Option<Packet> {
        let (index, now) = (self.flow, self.cx.now());
        let Hosts { hosts, plans, flows, .. } = &mut *self.hosts;
        let plan = &plans[index as usize];
        let Ends::Rdma(ends) = &mut flows[index as usize].ends else { return None };
        let paced = &mut hosts[host as usize].paced;
        let wanted = ends.sender.take(now).map(|(segment, _)| segment);
        let class = ends.ack_class;
        let packet = wanted.and_then(|wanted| packets::read_request(self.cx, plan, class, &wanted));
        paced.reschedule(plan.priority, index, &mut ends.position, ends.sender.ready_at());
        if packet.is_some() {
            paced.on_served(&ends.position, false);
        }
        self.arm_timer();
        packet
    }

    fn poll_source(self, host: u32) -> Option<Packet> {
        let index = self.flow;
        let Hosts { hosts, plans, flows, .. } = self.hosts;
        let plan = &plans[index as usize];
        let flow = &mut flows[index as usize];
        let Ends::Rdma(ends) = &mut flow.ends else { return None };
        let end = ends.read.as_mut()?;
        let position = end.position.as_mut()?;
        let paced = &mut hosts[host as usize].paced;
        let segment = end.source.take()?;
        flow.data_pkts += 1;
        paced.on_served(position, false);
        if end.source.ready_at().is_none() {
            paced.leave(plan.priority, index, position);
            end.position = None;
        }
        packets::read_data(self.cx, plan, &segment)
    }

    /// A packet of a read reaches one of its hosts.
    pub fn receive_read(mut self, packet: &wire::Packet<'_>) {
        match packet.header.kind {
            PacketKind::Data => self.receive_read_data(packet),
            PacketKind::Ack => self.receive_request(packet),
            PacketKind::Notice => {}
        }
    }

    /// Data reaches the reader: what is in order counts as acknowledged at once.
    fn receive_read_data(&mut self, packet: &wire::Packet<'_>) {
        let Some(receipt) = self.on_data(packet) else { return };
        let Some(delivered) = self.ends().map(|ends| ends.receiver.delivered_bytes()) else { return };
        if receipt.delivered_bytes > 0 {
            self.hosts.on_delivered(self.cx, self.flow, delivered);
        }
        let Some(ack) = receipt.ack else { return };
        let fields = AckFields {
            ack: ack.ack,
            ecn_echo: ack.ecn_echo,
            timestamp_echo_ns: ack.timestamp_echo_ns,
            ..AckFields::default()
        };
        self.on_ack(&fields, Flags::NACK.when(ack.nack), Extension::NONE);
    }

    /// A request reaches the source.
    fn receive_request(&mut self, packet: &wire::Packet<'_>) {
        let (index, now) = (self.flow, self.cx.now());
        let Hosts { hosts, plans, flows, .. } = &mut *self.hosts;
        let host = plans[index as usize].dst;
        let Ends::Rdma(ends) = &mut flows[index as usize].ends else { return };
        let Some(end) = ends.read.as_mut() else { return };
        let is_last = packet.header.flags.has(Flags::FIN);
        let Some(request) = ReadRequest::from_wire(packet.header.ack, is_last, &packet.extension) else {
            return;
        };
        end.source.on_request(now, &request);
        if let Some(at) = end.source.ready_at() {
            let paced = &mut hosts[host as usize].paced;
            let position = end.position.get_or_insert_with(|| paced.enter());
            paced.reschedule(plans[index as usize].priority, index, position, Some(at));
        }
        self.hosts.serve(self.cx, host);
    }
}
