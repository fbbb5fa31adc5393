//! The next wake-up of a switch: when its chip's packet generator has something to send (Tofino), or a queue
//! that waits for its rate may send.
//!
//! Applications of the generator are set by the control plane, so only between two runs. What starts a burst
//! (a timer, a port that goes down, a packet that is recirculated, the program itself) is an event of the
//! switch, after which the generator says when it is due.

use p4cc_units::Time;

use crate::context::Context;
use crate::events::Timer;
use crate::switches::node::SwitchNode;

impl SwitchNode {
    /// The control plane had its turn: it may have sent packets, or loaded a program.
    pub(super) fn resume(&mut self, cx: &mut Context<'_>) {
        self.send_pause_frames(cx);
        self.serve_ports(cx);
        self.wakes.generates = self.switch.observation().chip().generator.has_apps();
        self.schedule_wake(cx);
    }

    /// Schedules the generator's next wake-up, if it wants one earlier than what is scheduled.
    #[inline]
    pub(super) fn schedule_wake(&mut self, cx: &mut Context<'_>) {
        if self.wakes.generates {
            self.schedule_generator(cx);
        }
    }

    #[cold]
    fn schedule_generator(&mut self, cx: &mut Context<'_>) {
        if let Some(due) = self.switch.next_generated() {
            self.wake_by(cx, due);
        }
    }

    /// A free port sent nothing: the switch wakes up when a queue's rate allows its next packet.
    #[inline]
    pub(super) fn wait_for_rate(&mut self, cx: &mut Context<'_>, port: u32) {
        if let Some(due) = self.switch.next_allowed(port) {
            self.wakes.held.insert((due, port));
            self.wake_by(cx, due);
        }
    }

    fn wake_by(&mut self, cx: &mut Context<'_>, due: Time) {
        let due = due.max(cx.now());
        if self.wakes.at.is_none_or(|at| due < at) {
            self.wakes.at = Some(due);
            cx.schedule.timer(due, self.number, Timer::Wake);
        }
    }

    /// A wake-up is due. One that an earlier one replaced does nothing.
    pub fn on_wake(&mut self, cx: &mut Context<'_>) {
        let now = cx.now();
        if self.wakes.at != Some(now) {
            return;
        }
        self.wakes.at = None;
        if self.wakes.generates {
            self.switch.generate(now);
        }
        self.send_pause_frames(cx);
        while let Some((due, port)) = self.wakes.held.first().copied().filter(|(due, _)| *due <= now) {
            self.wakes.held.remove(&(due, port));
            self.serve_port(cx, port);
        }
        self.serve_ports(cx);
        if let Some((due, _)) = self.wakes.held.first().copied() {
            self.wake_by(cx, due);
        }
        self.schedule_wake(cx);
    }
}
