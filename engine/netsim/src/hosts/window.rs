//! Flows with a congestion window at their hosts: data and ACKs, timers, what a sender asks for.

use p4cc_transport::{AckFields, Action, Actions, DataFields, WindowSender};
use p4cc_units::{Span, Time};

use crate::events::Timer;
use crate::hosts::flow::Ends;
use crate::hosts::packets::Outgoing;
use crate::network::Network;

impl Network {
    /// Data reached the host of a receiver.
    pub(crate) fn take_data(&mut self, host: u32, flow: u32, data: &DataFields) {
        match &mut self.nodes.flows[flow as usize].data_in_kernel {
            None => self.on_data(host, flow, data),
            Some(kernel) => {
                let wait = kernel.arrived(data);
                self.arm_kernel(host, wait, Timer::Kernel { flow, at_receiver: true });
            }
        }
    }

    /// An ACK reached the host of a sender.
    pub(crate) fn take_ack(&mut self, host: u32, flow: u32, fields: &AckFields) {
        match &mut self.nodes.flows[flow as usize].acks_in_kernel {
            None => self.with_sender(flow, |sender, now, out| sender.on_ack(now, fields, out)),
            Some(kernel) => {
                let wait = kernel.arrived(fields);
                self.arm_kernel(host, wait, Timer::Kernel { flow, at_receiver: false });
            }
        }
    }

    fn arm_kernel(&mut self, host: u32, wait: Option<Span>, timer: Timer) {
        if let Some(wait) = wait {
            self.schedule.timer(self.now() + wait, self.nodes.host_node(host), timer);
        }
    }

    /// The kernel of a host takes up what waits at this end of a flow.
    pub(crate) fn on_kernel_timer(&mut self, flow: u32, at_receiver: bool) {
        let host = self.nodes.plans[flow as usize].dst;
        let state = &mut self.nodes.flows[flow as usize];
        if at_receiver {
            let Some(kernel) = &mut state.data_in_kernel else { return };
            for data in kernel.take() {
                self.on_data(host, flow, &data);
            }
        } else {
            let Some(kernel) = &mut state.acks_in_kernel else { return };
            for fields in kernel.take() {
                self.with_sender(flow, |sender, now, out| sender.on_ack(now, &fields, out));
            }
        }
    }

    /// Data reached the receiver of a flow.
    pub(crate) fn on_data(&mut self, host: u32, index: u32, data: &DataFields) {
        let flow = &mut self.nodes.flows[index as usize];
        flow.count_mark(data.ecn);
        let Ends::Window { receiver, .. } = &mut flow.ends else { return };
        let waited_until = receiver.deadline();
        let receipt = receiver.on_data(self.schedule.now, data);
        let waits_until = receiver.deadline().filter(|until| waited_until != Some(*until));
        let delivered = receiver.delivered_bytes();
        if receipt.completed {
            flow.received = Some(self.schedule.now);
        }
        if let Some(fields) = receipt.earlier {
            self.hand_over(host, Outgoing::Ack(index, fields));
        }
        match receipt.ack {
            Some(fields) => {
                let ticket = self.schedule.order.ticket();
                self.start_with(host, (ticket, Outgoing::Ack(index, fields)));
            }
            None => self.start_interface(host),
        }
        if let Some(until) = waits_until {
            self.schedule.timer(until, self.nodes.host_node(host), Timer::DelayedAck { flow: index });
        }
        if receipt.delivered_bytes > 0 {
            self.on_delivered(index, delivered);
        }
        if receipt.completed {
            self.close_tcp_server(index);
        }
    }

    /// The timer of a sender is due, unless it was set anew meanwhile.
    pub(crate) fn on_sender_timer(&mut self, flow: u32) {
        let timer = &mut self.nodes.flows[flow as usize].timer;
        if *timer == Some(self.schedule.now) {
            *timer = None;
            self.with_sender(flow, |sender, now, out| sender.on_timer(now, out));
            self.on_rdma_timer(flow);
            self.on_tcp_client_timer(flow);
        }
    }

    /// Adds a packet to those that wait for a host's interface.
    fn hand_over(&mut self, host: u32, out: Outgoing) {
        let ticket = self.schedule.order.ticket();
        self.nodes.hosts[host as usize].waiting.push_back((ticket, out));
    }

    /// A delayed ACK may be due; it is not if another ACK was sent meanwhile.
    pub(crate) fn on_ack_timer(&mut self, index: u32) {
        let Ends::Window { receiver, .. } = &mut self.nodes.flows[index as usize].ends else {
            return self.on_rdma_ack_timer(index);
        };
        if let Some(fields) = receiver.on_timer(self.schedule.now) {
            let host = self.nodes.plans[index as usize].dst;
            self.hand_over(host, Outgoing::Ack(index, fields));
            self.start_interface(host);
        }
        self.on_tcp_server_timer(index);
    }

    /// Calls a window sender and does what it asks for.
    pub(crate) fn with_sender(&mut self, flow: u32, act: impl FnOnce(&mut WindowSender, Time, &mut Actions)) {
        let Ends::Window { sender, .. } = &mut self.nodes.flows[flow as usize].ends else { return };
        self.nodes.actions.clear();
        act(sender, self.schedule.now, &mut self.nodes.actions);
        let plan = &self.nodes.plans[flow as usize];
        let (flow_id, host) = (plan.id, plan.src);
        self.observers.recorder.events(self.schedule.now, flow_id, self.nodes.actions.events());
        if let Some((rtt, marked)) = self.nodes.actions.rtt() {
            self.observers.recorder.rtt(self.schedule.now, flow_id, rtt, marked);
        }
        // Mostly there is one segment; further ones wait behind each other.
        let (mut first, mut segments) = (None, 0);
        let mut next = 0;
        while let Some(&action) = self.nodes.actions.actions().get(next) {
            next += 1;
            let state = &mut self.nodes.flows[flow as usize];
            match action {
                Action::Send(segment) => {
                    state.data_pkts += 1;
                    segments += 1;
                    let out = (self.schedule.order.ticket(), Outgoing::Data(flow, segment));
                    if segments == 1 {
                        first = Some(out);
                    } else {
                        self.nodes.hosts[host as usize].waiting.extend(first.take().into_iter().chain([out]));
                    }
                }
                Action::SetTimer(time) => {
                    state.timer = Some(time);
                    self.schedule.timer(time, self.nodes.host_node(host), Timer::Sender { flow });
                }
                Action::CancelTimer => state.timer = None,
                Action::Complete => self.on_complete(flow),
            }
        }
        match first {
            Some(out) => self.start_with(host, out),
            None if !self.nodes.hosts[host as usize].waiting.is_empty() => self.start_interface(host),
            None => {}
        }
    }
}
