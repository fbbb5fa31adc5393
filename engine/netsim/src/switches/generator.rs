//! The next wake-up of a switch: when its chip's packet generator has something to send (Tofino).
//!
//! Applications are set by the control plane, so only between two runs. What starts a burst (a timer, a port
//! that goes down, a packet that is recirculated, the program itself) is an event of the switch, after which
//! the generator says when it is due.

use crate::context::Context;
use crate::events::Timer;
use crate::switches::node::SwitchNode;

impl SwitchNode {
    /// The control plane had its turn: it may have sent packets, or loaded a program.
    pub(super) fn resume(&mut self, cx: &mut Context<'_>) {
        self.send_pause_frames(cx);
        self.serve_ports(cx);
        self.generator.is_set = self.switch.observation().chip().generator.has_apps();
        self.schedule_wake(cx);
    }

    /// Schedules the next wake-up, if the switch wants one earlier than what is scheduled.
    #[inline]
    pub(super) fn schedule_wake(&mut self, cx: &mut Context<'_>) {
        if self.generator.is_set {
            self.schedule_generator(cx);
        }
    }

    #[cold]
    fn schedule_generator(&mut self, cx: &mut Context<'_>) {
        let Some(due) = self.switch.next_generated().map(|due| due.max(cx.now())) else { return };
        if self.generator.wake_at.is_none_or(|at| due < at) {
            self.generator.wake_at = Some(due);
            cx.schedule.timer(due, self.number, Timer::Wake);
        }
    }

    /// A wake-up is due. One that an earlier one replaced does nothing.
    pub fn on_wake(&mut self, cx: &mut Context<'_>) {
        if self.generator.wake_at != Some(cx.now()) {
            return;
        }
        self.generator.wake_at = None;
        self.switch.generate(cx.now());
        self.send_pause_frames(cx);
        self.serve_ports(cx);
        self.schedule_wake(cx);
    }
}
