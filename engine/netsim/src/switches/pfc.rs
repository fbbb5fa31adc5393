//! PFC (IEEE 802.1Qbb) at switches: pause frames that they send, and pauses that they obey
//! (docs/algorithms/pfc.md#pfc-rules). docs/explanation/pfc.md follows one frame through the code.
//!
//! The traffic manager of a switch decides when to pause a neighbour and when to resume. A pause frame goes
//! behind the packet that its port is sending, takes the link as long as any frame of its size, and arrives
//! after the link's delay. A pause holds until a resume frame, or expires where the description gives it a
//! duration.

use p4cc_switch::PauseFrame;
use p4cc_switch::config::PRIORITIES;
use p4cc_units::Time;

use crate::context::Context;
use crate::events::Timer;
use crate::links::{PAUSE_FRAME_BYTES, PauseWord, time_on_link};
use crate::switches::node::SwitchNode;

impl SwitchNode {
    /// Sends the pause and resume frames that the switch asks for.
    #[inline]
    pub(super) fn send_pause_frames(&mut self, cx: &mut Context<'_>) {
        while let Some(frame) = self.switch.next_pause_frame() {
            self.send_pause_frame(cx, frame);
        }
    }

    #[cold]
    fn send_pause_frame(&mut self, cx: &mut Context<'_>, frame: PauseFrame) {
        let (line, channel) = self.line(frame.port);
        let Some(channel) = channel else { return };
        if cx.is_down(channel) {
            // The frame would be lost; the pause ends with the link.
            return self.switch.lapse_pause(frame.port, frame.priority);
        }
        let plan = &cx.topology.channels[channel as usize];
        let start = line.busy_until().max(cx.now());
        let end = start + time_on_link(plan, PAUSE_FRAME_BYTES);
        line.start(end);
        self.pause_log.iter_mut().for_each(|log| log.add(|| (cx.now(), frame)));
        let word = PauseWord { priority: frame.priority, pause: frame.pause, quanta: self.pause_quanta };
        let lasts = word.lasts(plan.rate);
        cx.send_pause(channel, [start, end], word);
        if let Some(lasts) = lasts {
            let (port, priority) = (frame.port, frame.priority & 7);
            self.asked_pauses.set(port, priority, end + lasts);
            cx.schedule.timer(end + lasts, self.number, Timer::PauseExpiry { port, priority });
        }
        cx.request_deadlock_check();
    }

    /// A pause or resume frame arrives; a pause may end at `until`.
    pub fn on_pause(&mut self, cx: &mut Context<'_>, port: u32, word: PauseWord, until: Option<Time>) {
        if let Some(until) = until {
            let priority = word.priority & 7;
            self.obeyed_pauses.set(port, priority, until);
            cx.schedule.timer(until, self.number, Timer::PauseExpiry { port, priority });
        }
        self.set_paused(cx, port, word.priority, word.pause);
    }

    /// A pause may expire; a later one of the same port and priority lasts longer.
    pub fn on_pause_expiry(&mut self, cx: &mut Context<'_>, port: u32, priority: u8) {
        if self.asked_pauses.expires(port, priority, cx.now()) {
            self.switch.lapse_pause(port, priority);
        }
        if self.obeyed_pauses.expires(port, priority, cx.now()) {
            self.set_paused(cx, port, priority, false);
        }
    }

    /// The link of a port went down or came up. Pauses end with a link that goes down, those that the switch
    /// asked for and those that it obeys, as the resume frame would be lost.
    pub fn on_link_change(&mut self, cx: &mut Context<'_>, port: u32, up: bool) {
        self.switch.control().set_port_up(port, up);
        if !up {
            for priority in 0..PRIORITIES as u8 {
                self.switch.lapse_pause(port, priority);
                self.set_paused(cx, port, priority, false);
            }
        }
        self.schedule_wake(cx);
    }

    pub(super) fn set_paused(&mut self, cx: &mut Context<'_>, port: u32, priority: u8, pause: bool) {
        if self.watchdog.is_some() && self.absorb_pause(cx, port, priority, pause) {
            return;
        }
        self.switch.set_paused(cx.now(), port, priority, pause);
        self.serve_ports(cx);
    }
}
