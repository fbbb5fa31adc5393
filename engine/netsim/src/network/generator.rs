//! The packet generator of a Tofino chip in virtual time: a timer of its switch, at the instant that it says.
//!
//! Applications are set by the control plane, so only between two stretches of a run. What starts a burst
//! (a timer, a port that goes down, a packet that goes round, the program itself) is an event of the switch,
//! after which the generator is asked when it is due.

use p4cc_units::Time;

use crate::events::Timer;
use crate::network::Network;

impl Network {
    /// Sees whether a switch generates packets, as a run begins or goes on.
    pub(crate) fn look_at_generator(&mut self, switch: usize) {
        let node = &mut self.nodes.switches[switch];
        node.generator.is_set = node.switch.chip().generator.has_apps();
        self.schedule_generator(switch);
    }

    /// Schedules the next packets of a switch's generator, if it has one and they are not scheduled.
    #[inline]
    pub(crate) fn schedule_generator(&mut self, switch: usize) {
        if self.nodes.switches[switch].generator.is_set {
            self.schedule_generated(switch);
        }
    }

    #[cold]
    fn schedule_generated(&mut self, switch: usize) {
        let node = &mut self.nodes.switches[switch];
        let Some(due) = node.switch.next_generated().map(|due| due.max(self.schedule.now)) else { return };
        if node.generator.timer_at.is_none_or(|at| due < at) {
            node.generator.timer_at = Some(due);
            self.schedule.timer(due, switch as u32, Timer::Generate);
        }
    }

    /// The timer of a switch's generator. One that an earlier timer took the place of does nothing.
    pub(crate) fn on_generate(&mut self, switch: u32) {
        let (switch, now): (usize, Time) = (switch as usize, self.schedule.now);
        if self.nodes.switches[switch].generator.timer_at != Some(now) {
            return;
        }
        self.nodes.switches[switch].generator.timer_at = None;
        self.nodes.lend_workspace(switch);
        self.nodes.switches[switch].switch.generate(now);
        self.send_pause_frames(switch);
        self.start_ready_ports(switch);
        self.schedule_generator(switch);
    }
}
