//! Delivery: a packet that reaches a host goes to the sender or the receiver of its flow.

use p4cc_switch::Packet;
use p4cc_transport::wire::{self, PacketKind};

use crate::context::Context;
use crate::describe::{Topology, flow_index};
use crate::hosts::flow::Ends;
use crate::hosts::packets;
use crate::hosts::rdma::Rdma;
use crate::hosts::state::Hosts;
use crate::hosts::window::Window;
use crate::record::{Activity, NoFlow};
use crate::traffic::jobs::Event as JobEvent;

impl Hosts {
    /// A packet reaches a host.
    #[inline(never)]
    pub fn receive(&mut self, cx: &mut Context<'_>, host: u32, packet: Packet) {
        cx.show(host, &packet);
        let unused = if cx.topology.is_plain {
            self.receive_plain(cx, host, packet)
        } else {
            self.receive_special(cx, host, packet)
        };
        if let Some(packet) = unused {
            cx.pool.give(packet);
        }
    }

    /// Gives a packet of this transport alone to its sender or receiver, and back if its memory is free
    /// again.
    #[inline]
    pub(super) fn receive_plain(
        &mut self,
        cx: &mut Context<'_>,
        host: u32,
        packet: Packet,
    ) -> Option<Packet> {
        // By reference from here on: it is larger than a line of the cache.
        let read = packets::read(&packet);
        let read = match &read {
            Ok(read) => read,
            Err(error) => {
                let cause = NoFlow::of(error);
                return self.receive_trimmed(cx, host, cause, packet);
            }
        };
        let flow = match self.flow_at(cx.topology, host, read) {
            Ok(flow) => flow,
            Err(cause) => return self.refuse(cx, host, cause, packet),
        };
        self.hosts[host as usize].counters.delivered_pkts += 1;
        let (is_read, hosts, flow) = (self.plans[flow].is_read, self, flow as u32);
        match hosts.flows[flow as usize].ends {
            Ends::Window { .. } => Window { hosts, cx, flow }.receive(read),
            Ends::Rdma(_) if is_read => Rdma { hosts, cx, flow }.receive_read(read),
            Ends::Rdma(_) => {
                let mut ends = Rdma { hosts, cx, flow };
                if let Some(receipt) = ends.receive(read) {
                    let (kind, len) = (read.extension.kind, read.extension.bytes.len());
                    return ends.answer(receipt, packet, kind, len);
                }
            }
        }
        Some(packet)
    }

    /// Hands the header of trimmed data to a paced flow. Refuses anything else.
    #[cold]
    fn receive_trimmed(
        &mut self,
        cx: &mut Context<'_>,
        host: u32,
        cause: NoFlow,
        packet: Packet,
    ) -> Option<Packet> {
        let Some(read) = wire::decode_trimmed(&packet.head) else {
            return self.refuse(cx, host, cause, packet);
        };
        match self.flow_at(cx.topology, host, &read) {
            Err(cause) => self.refuse(cx, host, cause, packet),
            Ok(flow) if self.plans[flow].is_read || matches!(self.flows[flow].ends, Ends::Window { .. }) => {
                self.refuse(cx, host, cause, packet)
            }
            Ok(flow) => {
                self.hosts[host as usize].counters.delivered_pkts += 1;
                Rdma { hosts: self, cx, flow: flow as u32 }.on_trimmed(&read);
                Some(packet)
            }
        }
    }

    /// The flow that ends at a host and that a packet is of, or why there is none.
    #[inline]
    pub(super) fn flow_at(
        &self,
        topology: &Topology,
        host: u32,
        read: &wire::Packet<'_>,
    ) -> Result<usize, NoFlow> {
        if !packets::is_addressed(&topology.hosts[host as usize], read) {
            return Err(NoFlow::Address);
        }
        let flow = flow_index(&self.plans, read.header.flow_id).filter(|&flow| {
            let plan = &self.plans[flow];
            let is_for_dst = (read.header.kind == PacketKind::Data) != plan.is_read;
            let end = if is_for_dst { plan.dst } else { plan.src };
            host == end || topology.interfaces.share_host(host, end)
        });
        flow.ok_or(NoFlow::Flow)
    }

    /// No flow takes a packet: the host counts it, and keeps what is recorded of it.
    #[cold]
    pub(super) fn refuse(
        &mut self,
        cx: &mut Context<'_>,
        host: u32,
        cause: NoFlow,
        packet: Packet,
    ) -> Option<Packet> {
        let host = &mut self.hosts[host as usize];
        *match cause {
            NoFlow::Protocol | NoFlow::Damaged => &mut host.counters.refused_malformed,
            NoFlow::Address => &mut host.counters.refused_address,
            NoFlow::Flow => &mut host.counters.refused_flow,
        } += 1;
        if let Some(log) = host.user.as_mut().and_then(|user| user.received.as_mut()) {
            log.add(cx.now(), cause, &packet);
        }
        Some(packet)
    }

    /// A receiver took new bytes of a flow; `delivered` is their number so far.
    pub(super) fn on_delivered(&mut self, cx: &mut Context<'_>, flow: u32, delivered: u64) {
        cx.note(Activity::Delivered);
        let plan = &self.plans[flow as usize];
        if let Some(member) = plan.member {
            self.applications.on_round(cx, &self.plans, member, delivered);
        }
        if let Some(step) = plan.step {
            self.applications.on_step(cx, &self.plans, step, delivered);
            self.progress.operations = self.applications.jobs.open;
        }
        if let Some(operation) = plan.operation.filter(|_| plan.size_bytes == Some(delivered)) {
            self.on_operation(cx, operation, JobEvent::Arrival);
        }
    }
}
