//! A switch in the network: packets reach it, its ports send.
//!
//! A port that is free takes the next packet of its queue; a port that is busy is woken at the end of its
//! packet. Behind a packet go the pause frames of PFC (IEEE 802.1Qbb) that the switch asks for
//! ([`super::pfc`]). A packet that finds its queue empty and its port free passes the switch without entering
//! the queue.
//!
//! Handlers that let a packet pass the program need the workspace ([`super::Switches::node`]).

use std::collections::BTreeSet;

use p4cc_switch::prefetch::prefetch_start;
use p4cc_switch::{Packet, PauseFrame, Switch, Transmission};
use p4cc_units::Time;

use crate::context::Context;
use crate::describe::spec::{RecordSpec, SwitchSpec};
use crate::links::{Line, PauseTimers, Work};
use crate::record::Log;
use crate::switches::watchdog_state::Watchdog;

/// A switch with the lines of its ports.
// In the order of fields: the ports stand behind what the switch ends with, its program.
#[repr(C)]
pub(crate) struct SwitchNode {
    pub switch: Switch,
    /// By port number, up to the highest one that has a channel.
    ports: Vec<Port>,
    pub(super) number: u32,
    /// How long its pauses last.
    pub(super) pause_quanta: Option<u16>,
    /// Pauses that it asked for, and those that it obeys.
    pub(super) asked_pauses: PauseTimers,
    pub(super) obeyed_pauses: PauseTimers,
    /// Pause frames that it sent, where they are recorded.
    pub pause_log: Option<Log<(Time, PauseFrame)>>,
    /// Packets that the caller of the run injected.
    pub injected_pkts: u64,
    pub(super) wakes: Wakes,
    /// The watchdog for PFC, if the description has one.
    pub watchdog: Option<Box<Watchdog>>,
}

/// What a run knows of the wake-ups of a switch ([`super::wakes`]).
#[derive(Clone, Default, Debug)]
pub(super) struct Wakes {
    /// Whether the control plane had set an application of the generator when the run continued.
    pub generates: bool,
    /// Ports whose queues wait for their rates, by the time at which one of them may send.
    pub held: BTreeSet<(Time, u32)>,
    /// When the next wake-up is scheduled.
    pub at: Option<Time>,
}

/// The line of a port, and the channel that it leads into.
#[derive(Clone, Copy, Default, Debug)]
struct Port {
    line: Line,
    channel: Option<u32>,
}

impl SwitchNode {
    /// A switch whose ports of these numbers lead into these channels.
    pub fn new(
        switch: Switch,
        number: u32,
        spec: &SwitchSpec,
        record: &RecordSpec,
        channels: &[Option<u32>],
    ) -> Self {
        let last = channels.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        let port = |&channel: &Option<u32>| Port { channel, line: Line::default() };
        Self {
            switch,
            ports: channels[..last].iter().map(port).collect(),
            number,
            pause_quanta: spec.buffer.as_ref().and_then(|buffer| buffer.pause_quanta),
            asked_pauses: PauseTimers::default(),
            obeyed_pauses: PauseTimers::default(),
            pause_log: record.pauses.then(|| Log::new(record.max_rows)),
            injected_pkts: 0,
            wakes: Wakes::default(),
            watchdog: Watchdog::of(spec, record.max_rows),
        }
    }

    /// A packet arrives at a port. One that finds its way out free leaves at once.
    #[inline(never)]
    pub fn receive(&mut self, cx: &mut Context<'_>, port: u32, packet: Packet) {
        if let Some(trace) = cx.trace() {
            for (port, nth, number) in trace.take_expected(self.number) {
                self.switch.control().expect_traced(port, nth, number);
            }
        }
        let now = cx.now();
        let ports = &self.ports;
        let sent = self.switch.receive_with_bypass(now, port, packet, |way_out| {
            ports.get(way_out as usize).is_some_and(|port| port.line.is_free(now))
        });
        match sent {
            Some(sent) => self.send(cx, sent),
            None => self.send_pause_frames(cx),
        }
        self.serve_ports(cx);
        self.schedule_wake(cx);
    }

    /// A port is free again.
    #[inline]
    pub fn on_dequeue(&mut self, cx: &mut Context<'_>, port: u32) {
        let line = &mut self.port(port).line;
        line.on_wake();
        // Mostly it is; a pause frame may have made it busy for longer.
        if line.is_free(cx.now()) {
            self.dequeue(cx, port)
        } else {
            self.serve_port(cx, port)
        }
        // Egress may have sent copies or the packet itself to other ports.
        self.serve_ports(cx);
        self.schedule_wake(cx);
    }

    /// Serves the ports that have new work.
    #[inline]
    pub(super) fn serve_ports(&mut self, cx: &mut Context<'_>) {
        while let Some(port) = self.switch.next_ready() {
            self.serve_port(cx, port);
        }
    }

    /// A port has work.
    pub(super) fn serve_port(&mut self, cx: &mut Context<'_>, port: u32) {
        match self.port(port).line.on_work(cx.now()) {
            Work::Wait => {}
            Work::WakeAt(end) => cx.schedule.dequeue(end, self.number, port),
            Work::Start => self.dequeue(cx, port),
        }
    }

    /// A free port takes the next packet of its queues.
    #[inline]
    fn dequeue(&mut self, cx: &mut Context<'_>, port: u32) {
        match self.switch.transmit(cx.now(), port) {
            Some(sent) => self.send(cx, sent),
            None => {
                self.wait_for_rate(cx, port);
                self.send_pause_frames(cx)
            }
        }
    }

    /// A port sends a packet that is through egress.
    #[inline(always)]
    fn send(&mut self, cx: &mut Context<'_>, sent: Transmission) {
        let Transmission { port, packet, bytes, duration, has_more } = sent;
        let end = cx.now() + duration;
        let pauses = self.switch.has_pause_frames();
        let number = self.number;
        let Port { line, channel } = self.port(port);
        let channel = *channel;
        line.start(end);
        if has_more && let Work::WakeAt(end) = line.on_work(cx.now()) {
            cx.schedule.dequeue(end, number, port);
        }
        if let Some(channel) = channel {
            if let Some(trace) = cx.trace() {
                trace.on_switch_send(self.switch.last_traced());
            }
            cx.send(channel, end, packet, bytes);
        }
        if pauses {
            self.send_pause_frames(cx);
        }
    }

    /// The line of a port, and the channel that it leads into.
    #[inline]
    pub(super) fn line(&mut self, port: u32) -> (&mut Line, Option<u32>) {
        let port = self.port(port);
        (&mut port.line, port.channel)
    }

    /// A port.
    #[inline]
    fn port(&mut self, port: u32) -> &mut Port {
        let at = port as usize;
        if at >= self.ports.len() {
            self.add_ports(at + 1);
        }
        &mut self.ports[at]
    }

    /// Ports that were added to a running switch have no channel yet.
    #[cold]
    fn add_ports(&mut self, ports: usize) {
        self.ports.resize(ports, Port::default());
    }

    /// The switch loses all that it has.
    pub(super) fn on_power_off(&mut self, cx: &mut Context<'_>) {
        self.switch.control().power_off();
        self.send_pause_frames(cx);
    }

    /// The channels that its ports lead into.
    #[inline]
    pub fn channels(&self) -> impl Iterator<Item = usize> {
        self.ports.iter().filter_map(|port| port.channel).map(|channel| channel as usize)
    }

    /// Prefetches the lines of the ports.
    pub fn prefetch_lines(&self) {
        for pair in self.ports.chunks(2) {
            prefetch_start(pair);
        }
    }
}
