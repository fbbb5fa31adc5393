//! RDMA reads at their hosts: the reader paces requests and takes the data, the source sends what is asked
//! for (docs/algorithms/timely.md#reads).
//!
//! The plan of a read has the reader as `src`, since it begins the flow and its algorithm runs there; results
//! name the hosts by the way of the data.

use p4cc_switch::Packet;
use p4cc_transport::AckFields;
use p4cc_transport::rdma::ReadRequest;
use p4cc_transport::wire::{self, Extension, Flags, PacketKind};

use crate::hosts::flow::Ends;
use crate::hosts::packets;
use crate::network::Network;

impl Network {
    /// The next request of a reader, or the next packet of a source, whichever this host is in the flow.
    pub(crate) fn next_of_read(&mut self, host: u32, index: u32) -> Option<Packet> {
        let plan = &self.nodes.plans[index as usize];
        if host == plan.src { self.next_request(host, index) } else { self.next_asked_for(host, index) }
    }

    fn next_request(&mut self, host: u32, index: u32) -> Option<Packet> {
        let now = self.now();
        let plan = &self.nodes.plans[index as usize];
        let Ends::Rdma(ends) = &mut self.nodes.flows[index as usize].ends else { return None };
        let paced = &mut self.nodes.hosts[host as usize].paced;
        let wanted = ends.sender.take(now).map(|(segment, _)| segment);
        let packet = wanted.and_then(|wanted| {
            let class = ends.ack_class;
            packets::read_request(&mut self.nodes.pool, &self.topology.hosts, plan, (class, &wanted), now)
        });
        paced.reschedule(plan.priority, index, &mut ends.position, ends.sender.ready_at());
        if packet.is_some() {
            paced.on_served(&ends.position, false);
        }
        self.arm_rdma_timer(index);
        packet
    }

    fn next_asked_for(&mut self, host: u32, index: u32) -> Option<Packet> {
        let now = self.now();
        let plan = &self.nodes.plans[index as usize];
        let flow = &mut self.nodes.flows[index as usize];
        let Ends::Rdma(ends) = &mut flow.ends else { return None };
        let end = ends.read.as_mut()?;
        let position = end.position.as_mut()?;
        let paced = &mut self.nodes.hosts[host as usize].paced;
        let segment = end.source.take()?;
        flow.data_pkts += 1;
        paced.on_served(position, false);
        if end.source.ready_at().is_none() {
            paced.leave(plan.priority, index, position);
            end.position = None;
        }
        packets::read_data(&mut self.nodes.pool, &self.topology.hosts, plan, &segment, now)
    }

    /// A packet of a read reached one of its hosts.
    pub(crate) fn take_read(&mut self, host: u32, index: u32, packet: &wire::Packet<'_>) {
        match packet.header.kind {
            PacketKind::Data => self.take_asked_for(host, index, packet),
            PacketKind::Ack => self.take_request(host, index, packet),
            PacketKind::Notice => {}
        }
    }

    /// Data reached the reader: what is in order counts as acknowledged at once.
    fn take_asked_for(&mut self, host: u32, index: u32, packet: &wire::Packet<'_>) {
        let Some(receipt) = self.on_rdma_data(index, packet) else { return };
        let delivered = match &self.nodes.flows[index as usize].ends {
            Ends::Rdma(ends) => ends.receiver.delivered_bytes(),
            Ends::Window { .. } => return,
        };
        if receipt.delivered_bytes > 0 {
            self.on_delivered(index, delivered);
        }
        let Some(ack) = receipt.ack else { return };
        let fields = AckFields {
            ack: ack.ack,
            ecn_echo: ack.ecn_echo,
            timestamp_echo_ns: ack.timestamp_echo_ns,
            ..AckFields::default()
        };
        self.on_rdma_progress(host, index, &fields, (Flags::NACK.when(ack.nack), Extension::NONE));
    }

    /// A request reached the source.
    fn take_request(&mut self, host: u32, index: u32, packet: &wire::Packet<'_>) {
        let now = self.now();
        let priority = self.nodes.plans[index as usize].priority;
        let Ends::Rdma(ends) = &mut self.nodes.flows[index as usize].ends else { return };
        let Some(end) = ends.read.as_mut() else { return };
        let is_last = packet.header.flags.has(Flags::FIN);
        let Some(request) = ReadRequest::from_wire(packet.header.ack, is_last, &packet.extension) else {
            return;
        };
        end.source.on_request(now, &request);
        if let Some(at) = end.source.ready_at() {
            let paced = &mut self.nodes.hosts[host as usize].paced;
            let position = end.position.get_or_insert_with(|| paced.enter());
            paced.reschedule(priority, index, position, Some(at));
        }
        self.start_interface(host);
    }
}
