//! PFC (IEEE 802.1Qbb) between nodes: pause frames on links, and the nodes that obey them
//! (docs/algorithms/pfc.md#pfc-rules). docs/explanation/pfc.md follows one frame through the code.
//!
//! The traffic manager of a switch decides when to pause a neighbour and when to resume. This file puts its
//! pause frames on links and stops or resumes the priority at the receiver. A pause frame goes behind the
//! packet that its port is sending, takes the link as long as any frame of its size, and arrives after the
//! link's delay. It is in no queue and is never lost. A pause holds until a resume frame, or expires where
//! the description gives it a duration.

use p4cc_switch::PauseFrame;
use p4cc_units::{Bytes, Span};

use crate::events::Timer;
use crate::links::channel::{Frame, time_on_link};
use crate::links::pause::PauseWord;
use crate::network::Network;

/// Bytes of a pause frame (IEEE 802.1Qbb: a smallest Ethernet frame).
const PAUSE_FRAME_BYTES: u32 = 64;
/// IEEE 802.1Qbb counts pauses in quanta of 512 bits on the link.
const QUANTUM_BYTES: u64 = 64;

impl Network {
    /// Sends the pause and resume frames that a switch asks for.
    #[inline]
    pub(crate) fn send_pause_frames(&mut self, switch: usize) {
        while let Some(frame) = self.nodes.switches[switch].switch.next_pause_frame() {
            self.send_pause_frame(switch, frame);
        }
    }

    #[cold]
    fn send_pause_frame(&mut self, switch: usize, frame: PauseFrame) {
        let channel = self.topology.switch_channels[switch].get(frame.port as usize).copied().flatten();
        let Some(channel) = channel else { return };
        if self.nodes.channels[channel as usize].is_down() {
            // The frame would be lost; the pause ends with the link.
            return self.nodes.switches[switch].switch.lapse_pause(frame.port, frame.priority);
        }
        self.note_pause_frame(switch, frame);
        let duration = time_on_link(&self.topology.channels[channel as usize], PAUSE_FRAME_BYTES);
        let now = self.now();
        let line = &mut self.nodes.switches[switch].port(frame.port).line;
        let start = line.busy_until().max(now);
        let end = start + duration;
        line.start(self.schedule.order.moment(end));
        let state = &mut self.nodes.channels[channel as usize];
        let arrival = self.schedule.order.moment(end + state.delay);
        let word = PauseWord { priority: frame.priority, pause: frame.pause };
        let quanta = self.spec.switches[switch].buffer.as_ref().and_then(|buffer| buffer.pause_quanta);
        state.capture_pause([now, start, arrival.time], &word.to_bytes(quanta.unwrap_or(u16::MAX)));
        self.carry(channel, arrival, Frame::Pause(word));
        if frame.pause
            && let Some(lasts) = self.pause_lasts(switch, channel)
        {
            let (node, port, priority) = (switch as u32, frame.port, frame.priority & 7);
            self.nodes.pause_timers.asked.insert((node, port, priority), end + lasts);
            self.schedule.timer(end + lasts, node, Timer::PauseExpiry { port, priority });
        }
        self.schedule_deadlock_check();
    }

    /// How long a pause lasts that a switch sends into a channel; none if it lasts until a resume frame.
    fn pause_lasts(&self, switch: usize, channel: u32) -> Option<Span> {
        let quanta = self.spec.switches[switch].buffer.as_ref()?.pause_quanta?;
        let rate = self.topology.channels[channel as usize].rate;
        Some(rate.time_to_send(Bytes(u64::from(quanta) * QUANTUM_BYTES)))
    }

    /// A pause or resume frame reached a node.
    pub(crate) fn on_pause(&mut self, node: u32, port: u32, channel: u32, (priority, pause): (u8, bool)) {
        let from = self.topology.channels[channel as usize].from as usize;
        if pause && let Some(lasts) = self.pause_lasts(from, channel) {
            let (priority, until) = (priority & 7, self.now() + lasts);
            self.nodes.pause_timers.obeyed.insert((node, port, priority), until);
            self.schedule.timer(until, node, Timer::PauseExpiry { port, priority });
        }
        self.obey(node, port, priority, pause);
    }

    /// A pause may expire; a later one of the same port and priority lasts longer.
    pub(crate) fn on_pause_expiry(&mut self, node: u32, port: u32, priority: u8) {
        let (now, point) = (self.now(), (node, port, priority));
        let timers = &mut self.nodes.pause_timers;
        let is_asked_over = timers.asked.get(&point) == Some(&now);
        let is_obeyed_over = timers.obeyed.get(&point) == Some(&now);
        if is_asked_over {
            timers.asked.remove(&point);
            self.nodes.switches[node as usize].switch.lapse_pause(port, priority);
        }
        if is_obeyed_over {
            self.nodes.pause_timers.obeyed.remove(&point);
            self.obey(node, port, priority, false);
        }
    }

    /// Stops or resumes a priority at a node.
    pub(crate) fn obey(&mut self, node: u32, port: u32, priority: u8, pause: bool) {
        let (now, switches) = (self.now(), self.nodes.switches.len() as u32);
        if node < switches {
            self.nodes.switches[node as usize].switch.set_paused(now, port, priority, pause);
            self.nodes.lend_workspace(node as usize);
            self.start_ready_ports(node as usize);
        } else {
            let host = node - switches;
            self.nodes.hosts[host as usize].pauses.set(now, priority, pause);
            self.start_interface(host);
        }
    }
}
