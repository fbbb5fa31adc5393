//! PFC (IEEE 802.1Qbb) at hosts: pause frames that reach them.

use p4cc_switch::config::PRIORITIES;
use p4cc_units::Time;

use crate::context::Context;
use crate::events::Timer;
use crate::hosts::state::Hosts;
use crate::links::PauseWord;

impl Hosts {
    /// A pause or resume frame reaches a host; a pause may end at `until`.
    pub fn on_pause(&mut self, cx: &mut Context<'_>, host: u32, word: PauseWord, until: Option<Time>) {
        if let Some(until) = until {
            let priority = word.priority & 7;
            self.hosts[host as usize].pauses.timers().set((0, priority), until);
            let node = cx.topology.host_node(host);
            cx.schedule.timer(until, node, Timer::PauseExpiry { port: 0, priority });
        }
        self.set_paused(cx, host, word.priority, word.pause);
    }

    /// A pause may expire; a later one of the same priority lasts longer.
    pub fn on_pause_expiry(&mut self, cx: &mut Context<'_>, host: u32, priority: u8) {
        if self.hosts[host as usize].pauses.timers().expires((0, priority), cx.now()) {
            self.set_paused(cx, host, priority, false);
        }
    }

    /// The link of a host went down: pauses end with it, as the resume frame would be lost.
    pub fn on_link_down(&mut self, cx: &mut Context<'_>, host: u32) {
        (0..PRIORITIES as u8).for_each(|priority| self.set_paused(cx, host, priority, false));
    }

    fn set_paused(&mut self, cx: &mut Context<'_>, host: u32, priority: u8, pause: bool) {
        self.hosts[host as usize].pauses.set(cx.now(), priority, pause);
        self.serve(cx, host);
    }
}
