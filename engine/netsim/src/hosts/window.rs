//! The ends of a flow with a congestion window: data and ACKs, timers, what a sender asks for.
//!
//! Over TCP the ends of a connection stand between packets and these ([`super::tcp`]).

use p4cc_transport::wire::{self, PacketKind};
use p4cc_transport::{AckFields, Action, Actions, DataFields, WindowSender};
use p4cc_units::{Span, Time};

use crate::context::Context;
use crate::events::Timer;
use crate::hosts::flow::{Ends, Flow, Verb};
use crate::hosts::packets::Outgoing;
use crate::hosts::state::Hosts;

/// A window flow with what its handlers need.
pub(super) struct Window<'a, 'c> {
    pub hosts: &'a mut Hosts,
    pub cx: &'a mut Context<'c>,
    pub flow: u32,
}

impl Window<'_, '_> {
    #[inline]
    pub(super) fn state(&mut self) -> &mut Flow {
        &mut self.hosts.flows[self.flow as usize]
    }

    /// The hosts of the sender and of the receiver.
    #[inline]
    pub(super) fn end_hosts(&self) -> (u32, u32) {
        let plan = &self.hosts.plans[self.flow as usize];
        (plan.src, plan.dst)
    }

    pub fn act(mut self, verb: Verb) {
        match verb {
            Verb::Open => {
                if !self.control(|tcp, now| Some(tcp.client.open(now))) {
                    self.run_sender(|sender, now, out| sender.start(now, out));
                }
            }
            Verb::Supply(bytes) => self.run_sender(|sender, now, out| sender.supply(bytes, now, out)),
            Verb::Close => self.run_sender(|sender, _, out| sender.close(out)),
            Verb::SenderTimer => {
                self.run_sender(|sender, now, out| sender.on_timer(now, out));
                self.control(|tcp, now| tcp.client.on_timer(now));
            }
            Verb::ReceiverTimer => {
                let (now, host) = (self.cx.now(), self.end_hosts().1);
                let Ends::Window { receiver, .. } = &mut self.state().ends else { return };
                if let Some(fields) = receiver.on_timer(now) {
                    self.hosts.push(host, Outgoing::Ack(self.flow, fields));
                    self.hosts.serve(self.cx, host);
                }
                self.control(|tcp, now| tcp.server.on_timer(now));
            }
        }
    }

    /// A packet reaches its end of the flow.
    #[inline]
    pub fn receive(mut self, packet: &wire::Packet<'_>) {
        match packet.header.kind {
            PacketKind::Data => self.receive_data(&packet.header.data_fields(packet.ecn)),
            PacketKind::Ack => self.receive_ack(&packet.ack_fields()),
            // No window sender needs what switches report.
            PacketKind::Notice => {}
        }
    }

    /// Data reaches the host of the receiver.
    pub(super) fn receive_data(&mut self, data: &DataFields) {
        match &mut self.state().data_in_kernel {
            None => self.on_data(data),
            Some(kernel) => {
                let wait = kernel.arrived(data);
                self.arm_kernel(wait, true);
            }
        }
    }

    /// An ACK reaches the host of the sender.
    pub(super) fn receive_ack(&mut self, fields: &AckFields) {
        match &mut self.state().acks_in_kernel {
            None => self.run_sender(|sender, now, out| sender.on_ack(now, fields, out)),
            Some(kernel) => {
                let wait = kernel.arrived(fields);
                self.arm_kernel(wait, false);
            }
        }
    }

    fn arm_kernel(&mut self, wait: Option<Span>, at_receiver: bool) {
        let Some(wait) = wait else { return };
        let (src, dst) = self.end_hosts();
        let node = self.cx.topology.host_node(if at_receiver { dst } else { src });
        self.cx.schedule.timer(self.cx.now() + wait, node, Timer::Kernel { flow: self.flow, at_receiver });
    }

    /// The kernel of a host takes up what waits at this end of the flow.
    pub fn on_kernel_timer(mut self, at_receiver: bool) {
        let state = self.state();
        if at_receiver {
            let waiting = state.data_in_kernel.as_mut().map(|kernel| kernel.take());
            waiting.iter().flatten().for_each(|data| self.on_data(data));
        } else {
            let waiting = state.acks_in_kernel.as_mut().map(|kernel| kernel.take());
            for fields in waiting.iter().flatten() {
                self.run_sender(|sender, now, out| sender.on_ack(now, fields, out));
            }
        }
    }

    /// Data reaches the receiver.
    fn on_data(&mut self, data: &DataFields) {
        let (index, now, host) = (self.flow, self.cx.now(), self.end_hosts().1);
        let flow = &mut self.hosts.flows[index as usize];
        flow.count_mark(data.ecn);
        let Ends::Window { receiver, .. } = &mut flow.ends else { return };
        let waited_until = receiver.deadline();
        let receipt = receiver.on_data(now, data);
        let waits_until = receiver.deadline().filter(|until| waited_until != Some(*until));
        let delivered = receiver.delivered_bytes();
        if receipt.completed {
            flow.received = Some(now);
        }
        if let Some(fields) = receipt.earlier {
            self.hosts.push(host, Outgoing::Ack(index, fields));
        }
        match receipt.ack {
            Some(fields) => self.hosts.enqueue(self.cx, host, Outgoing::Ack(index, fields)),
            None => self.hosts.serve(self.cx, host),
        }
        if let Some(until) = waits_until {
            let node = self.cx.topology.host_node(host);
            self.cx.schedule.timer(until, node, Timer::DelayedAck { flow: index });
        }
        if receipt.delivered_bytes > 0 {
            self.hosts.on_delivered(self.cx, index, delivered);
        }
        if receipt.completed {
            self.control(|tcp, now| tcp.server.close(now));
        }
    }

    /// Calls the sender and does what it asks for.
    pub(super) fn run_sender(&mut self, act: impl FnOnce(&mut WindowSender, Time, &mut Actions)) {
        let (index, now, hosts) = (self.flow, self.cx.now(), &mut *self.hosts);
        let Ends::Window { sender, .. } = &mut hosts.flows[index as usize].ends else { return };
        hosts.actions.clear();
        act(sender, now, &mut hosts.actions);
        let plan = &hosts.plans[index as usize];
        let host = plan.src;
        self.cx.record_actions(plan.id, &hosts.actions);
        // Mostly there is one segment; further ones wait behind each other.
        let (mut first, mut segments): (Option<Outgoing>, u32) = (None, 0);
        let mut next = 0;
        while let Some(&action) = self.hosts.actions.actions().get(next) {
            next += 1;
            let flow = &mut self.hosts.flows[index as usize];
            match action {
                Action::Send(segment) => {
                    flow.data_pkts += 1;
                    segments += 1;
                    let out = Outgoing::Data(index, segment);
                    if segments == 1 {
                        first = Some(out);
                    } else {
                        self.hosts.hosts[host as usize].waiting.extend(first.take().into_iter().chain([out]));
                    }
                }
                Action::SetTimer(time) => {
                    flow.timer = Some(time);
                    let node = self.cx.topology.host_node(host);
                    self.cx.schedule.timer(time, node, Timer::Sender { flow: index });
                }
                Action::CancelTimer => flow.timer = None,
                Action::Complete => {
                    self.hosts.on_complete(self.cx, index);
                    self.control(|tcp, now| tcp.client.close(now));
                }
            }
        }
        match first {
            Some(out) => self.hosts.enqueue(self.cx, host, out),
            None if !self.hosts.hosts[host as usize].waiting.is_empty() => self.hosts.serve(self.cx, host),
            None => {}
        }
    }
}
