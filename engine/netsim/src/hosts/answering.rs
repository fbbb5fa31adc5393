//! Answers of paced flows that go through the receiver's network card.
//!
//! An answer joins those that wait at the interface of its flow when the card is done with it. The card works
//! on any number of them at once, so each takes its time and no more. A host has one card for all its links,
//! kept with its first interface.

use p4cc_switch::Packet;
use p4cc_transport::rdma::RdmaReceipt;
use p4cc_transport::wire::{self, ExtensionType};
use p4cc_units::Span;

use crate::context::Context;
use crate::events::Timer;
use crate::hosts::nic::AnswerTimes;
use crate::hosts::packets::Answer;
use crate::hosts::rdma::Rdma;
use crate::hosts::state::Hosts;

impl Rdma<'_, '_> {
    /// As [`Rdma::answer`], through the receiver's card.
    pub(super) fn answer_in_time(
        mut self,
        receipt: RdmaReceipt,
        packet: Packet,
        kind: ExtensionType,
        len: usize,
    ) -> Option<Packet> {
        let (flow, now) = (self.flow, self.cx.now());
        let (src, host) = {
            let plan = &self.hosts.plans[flow as usize];
            (self.cx.topology.interfaces.host(plan.src), plan.dst)
        };
        let Some(times) = self.ends().and_then(|ends| ends.nic) else { return Some(packet) };
        let mut notification = receipt.notification;
        if let Some(withheld) = notification {
            let of_host = self.cx.topology.interfaces.host(host);
            let card = self.hosts.hosts[of_host as usize].card.get_or_insert_default();
            if !card.lets_notify(now, &times, src) {
                notification = None;
                self.ends().into_iter().for_each(|ends| ends.receiver.withhold(&withheld));
            }
        }
        let Some(ends) = self.ends() else { return Some(packet) };
        let (class, delivered) = (ends.ack_class, ends.receiver.delivered_bytes());
        let echoes = ends.sender.chooses_paths();
        if let Some(ack) = notification {
            let answer = Answer::notification(self.cx.pool, flow, class, ack);
            self.hosts.work_on(self.cx, host, answer, times.cnp_processing);
        }
        let mut unused = Some(packet);
        if let Some(ack) = receipt.ack
            && let Some(packet) = unused.take()
        {
            let port = if echoes { wire::peek_source_port(&packet.head) } else { None };
            let answer = Answer::echo(packet, flow, class, ack, kind, len).by_port(port);
            self.hosts.work_on(self.cx, host, answer, times.ack_processing);
        }
        self.hosts.serve(self.cx, host);
        if receipt.delivered_bytes > 0 {
            self.hosts.on_delivered(self.cx, flow, delivered);
        }
        unused
    }
}

impl Hosts {
    /// An ACK or NACK that no packet of data brings about at once goes to the interface, through the card
    /// where that takes time.
    pub(super) fn send_answer(
        &mut self,
        cx: &mut Context<'_>,
        host: u32,
        answer: Answer,
        times: Option<AnswerTimes>,
    ) {
        self.work_on(cx, host, answer, times.map_or(Span::ZERO, |times| times.ack_processing));
        self.serve(cx, host);
    }

    /// The card works on an answer for a time, before that waits at the interface.
    fn work_on(&mut self, cx: &mut Context<'_>, interface: u32, answer: Answer, takes: Span) {
        if takes == Span::ZERO {
            return self.hosts[interface as usize].answers.push_back(answer);
        }
        let done = cx.now() + takes;
        let host = cx.topology.interfaces.host(interface);
        let card = self.hosts[host as usize].card.get_or_insert_default();
        card.under_way.insert((done, card.arrived), answer);
        card.arrived += 1;
        cx.schedule.timer(done, cx.topology.host_node(host), Timer::Card { host });
    }

    /// The card of a host is done with answers, which leave where their flows are by now.
    pub fn on_card_timer(&mut self, cx: &mut Context<'_>, host: u32) {
        while let Some(card) = &mut self.hosts[host as usize].card
            && let Some(first) = card.under_way.first_entry()
            && first.key().0 <= cx.now()
        {
            let answer = first.remove();
            let interface = self.plans[answer.flow as usize].dst;
            self.hosts[interface as usize].answers.push_back(answer);
            self.serve(cx, interface);
        }
    }
}
