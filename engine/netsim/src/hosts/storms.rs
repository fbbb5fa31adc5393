//! Storms of PFC (IEEE 802.1Qbb): a network card pauses its neighbour without need, as a broken one does, or
//! one whose host takes nothing (docs/algorithms/pfc.md#storms).

use p4cc_units::Span;

use crate::context::Context;
use crate::describe::StormPlan;
use crate::events::Timer;
use crate::hosts::Hosts;
use crate::links::{PAUSE_FRAME_BYTES, PauseWord, time_on_link};

impl Hosts {
    /// A storm begins, goes on or ends. A frame goes behind the packet that the interface is sending, as a
    /// switch's does.
    pub fn on_storm(&mut self, cx: &mut Context<'_>, storm: u32) {
        let StormPlan { host, priority, end, quanta, .. } = cx.topology.storms[storm as usize];
        let now = cx.now();
        let pause = end.is_none_or(|end| now < end);
        let word = PauseWord { priority, pause, quanta };
        let channel = cx.topology.hosts[host as usize].uplink;
        let plan = &cx.topology.channels[channel as usize];
        let lasts = word.lasts(plan.rate);
        if !cx.is_down(channel) {
            let line = &mut self.hosts[host as usize].line;
            let start = line.busy_until().max(now);
            let sent = start + time_on_link(plan, PAUSE_FRAME_BYTES);
            line.start(sent);
            cx.send_pause(channel, [start, sent], word);
            cx.request_deadlock_check();
        }
        let again = lasts.map(|lasts| now + Span::from_ps(lasts.as_ps() / 2));
        let due = match (again, end) {
            (Some(again), Some(end)) => Some(again.min(end)),
            (again, end) => again.or(end),
        };
        if let Some(due) = due.filter(|_| pause) {
            cx.schedule.timer(due, cx.topology.host_node(host), Timer::Storm { storm });
        }
    }
}
