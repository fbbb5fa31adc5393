//! Dispatch: each event goes to the handler of the node that it concerns.

use p4cc_switch::Packet;

use crate::context::Context;
use crate::events::{Event, Kind, Timer};
use crate::hosts::{Hosts, Verb};
use crate::links::{Frame, PauseWord};
use crate::network::state::Network;
use crate::switches::Switches;

/// A node by its place among switches, or among hosts.
#[derive(Clone, Copy)]
enum Node {
    Switch(usize),
    Host(u32),
}

impl Network {
    /// Those that handle events, and what they may touch meanwhile.
    #[inline(always)]
    pub(super) fn components(&mut self) -> (&mut Hosts, &mut Switches, Context<'_>) {
        let Self { schedule, pool, topology, links, observers, .. } = self;
        let cx = Context::new(schedule, pool, topology, links, observers);
        (&mut self.hosts, &mut self.switches, cx)
    }

    #[inline]
    fn node(&self, node: u32) -> Node {
        let switches = self.switches.len() as u32;
        if node < switches { Node::Switch(node as usize) } else { Node::Host(node - switches) }
    }

    /// Calls the handler of an event. The frame of an arrival is in its channel.
    pub(crate) fn dispatch(&mut self, event: &Event) {
        let (node, port) = (event.node(), event.port());
        match event.kind() {
            Kind::Arrival => match self.links.take_arrival(&mut self.schedule, event) {
                Some(Frame::Packet(packet)) => self.receive(node, port, packet),
                Some(Frame::Pause(word)) => self.on_pause(event, word),
                None => {}
            },
            Kind::Dequeue => self.on_dequeue(node, port),
            Kind::Timer => self.on_timer(node, event.timer()),
            Kind::Start => {
                let (hosts, _, mut cx) = self.components();
                hosts.on_start(&mut cx, event.subject);
            }
        }
    }

    /// A port of a node is free again.
    #[inline(always)]
    pub(crate) fn on_dequeue(&mut self, node: u32, port: u32) {
        let node = self.node(node);
        let (hosts, switches, mut cx) = self.components();
        match node {
            Node::Switch(switch) => switches.node(switch).on_dequeue(&mut cx, port),
            Node::Host(host) => hosts.on_dequeue(&mut cx, host),
        }
    }

    /// A packet reaches a node.
    // Always inlined: most packets reach a switch, whose handler is a call of its own.
    #[inline(always)]
    pub(crate) fn receive(&mut self, node: u32, port: u32, packet: Packet) {
        self.packet_hops += 1;
        let node = self.node(node);
        let (hosts, switches, mut cx) = self.components();
        match node {
            Node::Switch(switch) => switches.node(switch).receive(&mut cx, port, packet),
            Node::Host(host) => hosts.receive(&mut cx, host, packet),
        }
    }

    /// A pause frame of PFC (IEEE 802.1Qbb) reaches a node. One that was on its way when the link went down
    /// is not obeyed, since its resume frame would be lost.
    fn on_pause(&mut self, event: &Event, word: PauseWord) {
        // The two directions of a link are neighbours in number. This end has the state of the one that
        // leaves it.
        if self.links.channels()[(event.subject ^ 1) as usize].is_down() {
            return;
        }
        let lasts = word.lasts(self.topology.channels[event.subject as usize].rate);
        let until = lasts.map(|lasts| self.schedule.now + lasts);
        let node = self.node(event.node());
        let (hosts, switches, mut cx) = self.components();
        match node {
            Node::Switch(switch) => switches.node(switch).on_pause(&mut cx, event.port(), word, until),
            Node::Host(host) => hosts.on_pause(&mut cx, host, word, until),
        }
    }

    fn on_timer(&mut self, node: u32, timer: Timer) {
        let node = self.node(node);
        let (hosts, switches, mut cx) = self.components();
        let cx = &mut cx;
        match (timer, node) {
            (Timer::Sender { flow }, _) => hosts.on_sender_timer(cx, flow),
            (Timer::DelayedAck { flow }, _) => hosts.act(cx, flow, Verb::ReceiverTimer),
            (Timer::Kernel { flow, at_receiver }, _) => hosts.on_kernel_timer(cx, flow, at_receiver),
            (Timer::Pacing { host }, _) => hosts.on_pacing_timer(cx, host),
            (Timer::Receiver { host }, _) => hosts.on_receiver_timer(cx, host),
            (Timer::Card { host }, _) => hosts.on_card_timer(cx, host),
            (Timer::Taken { host }, _) => hosts.on_taken(cx, host),
            (Timer::Close { flow }, _) => hosts.on_close(cx, flow),
            (Timer::DeadlineChange { flow }, _) => hosts.on_deadline_change(flow),
            (Timer::UserPacket { source }, _) => hosts.on_user_packet_due(cx, source),
            (Timer::Operation { operation }, _) => hosts.on_operation_time(cx, operation),
            (Timer::PauseExpiry { priority, .. }, Node::Host(host)) => {
                hosts.on_pause_expiry(cx, host, priority);
            }
            (Timer::PauseExpiry { port, priority }, Node::Switch(switch)) => {
                switches.node(switch).on_pause_expiry(cx, port, priority);
            }
            (Timer::LinkChange { channel, up }, node) => self.on_link_change(node, channel, up),
            (Timer::PowerOff, Node::Switch(switch)) => switches.on_power_off(cx, switch),
            (Timer::Wake, Node::Switch(switch)) => switches.node(switch).on_wake(cx),
            (Timer::DeadlockCheck, _) => self.check_deadlocks(),
            (Timer::Storm { storm }, _) => hosts.on_storm(cx, storm),
            (Timer::Watchdog { port, priority }, Node::Switch(switch)) => {
                switches.node(switch).on_watchdog(cx, port, priority);
            }
            (Timer::PowerOff | Timer::Wake | Timer::Watchdog { .. }, Node::Host(_)) => {
                debug_assert!(false, "a timer of switches");
            }
        }
    }

    /// The link of a channel that leaves a node goes down or comes up. Each end learns of it by its own
    /// timer, at the same instant. From then on what the end sends is lost; frames on the way arrive.
    fn on_link_change(&mut self, node: Node, channel: u32, up: bool) {
        self.links.set_up(channel, up);
        let port = self.topology.near_port(channel);
        let (hosts, switches, mut cx) = self.components();
        match node {
            Node::Switch(switch) => switches.node(switch).on_link_change(&mut cx, port, up),
            Node::Host(host) => hosts.on_link_change(&mut cx, host, up),
        }
    }

    fn check_deadlocks(&mut self) {
        let Self { switches, topology, schedule, observers, .. } = self;
        let now = schedule.now;
        observers
            .deadlocks
            .on_check(schedule, |priority, bound| switches.waits(topology, now, priority, bound));
    }
}
