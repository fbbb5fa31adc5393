//! Storms of PFC (IEEE 802.1Qbb): a network card pauses its neighbour without need, as a broken one does, or
//! one whose host takes nothing (docs/algorithms/pfc.md#storms).

use p4cc_units::Span;

use crate::context::Context;
use crate::describe::StormPlan;
use crate::events::Timer;
use crate::hosts::Hosts;
use crate::links::{PAUSE_FRAME_BYTES, PauseWord, time_on_link};

impl Hosts {
    /// A storm begins, goes on or ends.
    pub fn on_storm(&mut self, cx: &mut Context<'_>, storm: u32) {
        let plan = cx.topology.storms[storm as usize];
        let now = cx.now();
        let pause = plan.end.is_none_or(|end| now < end);
        let lasts = self.send_storm_frame(cx, &plan, pause);
        let again = lasts.map(|lasts| now + Span::from_ps(lasts.as_ps() / 2));
        let due = match (again, plan.end) {
            (Some(again), Some(end)) => Some(again.min(end)),
            (again, end) => again.or(end),
        };
        if let Some(due) = due.filter(|_| pause) {
            cx.schedule.timer(due, cx.topology.host_node(plan.host), Timer::Storm { storm });
        }
    }

    /// The link of a host came up: a storm of one frame, which was lost or whose pause ended with the link,
    /// sends it again.
    pub fn on_link_up(&mut self, cx: &mut Context<'_>, host: u32) {
        let now = cx.now();
        let topology = cx.topology;
        for plan in topology.storms.iter().filter(|plan| plan.host == host && plan.quanta.is_none()) {
            // A storm that begins now has a timer of its own.
            if plan.start < now && plan.end.is_none_or(|end| now < end) {
                self.send_storm_frame(cx, plan, true);
            }
        }
    }

    /// Sends a frame behind the packet that the interface is sending, as a switch does, unless the link is
    /// down. How long its pause lasts, if it expires.
    fn send_storm_frame(&mut self, cx: &mut Context<'_>, storm: &StormPlan, pause: bool) -> Option<Span> {
        let word = PauseWord { priority: storm.priority, pause, quanta: storm.quanta };
        self.send_pause_frame(cx, storm.host, word)
    }

    /// As [`Self::send_storm_frame`], whatever the frame is sent for.
    pub(super) fn send_pause_frame(
        &mut self,
        cx: &mut Context<'_>,
        host: u32,
        word: PauseWord,
    ) -> Option<Span> {
        let channel = cx.topology.hosts[host as usize].uplink;
        let plan = &cx.topology.channels[channel as usize];
        let lasts = word.lasts(plan.rate);
        if !cx.is_down(channel) {
            let line = &mut self.hosts[host as usize].line;
            let start = line.busy_until().max(cx.now());
            let end = start + time_on_link(plan, PAUSE_FRAME_BYTES);
            line.start(end);
            cx.send_pause(channel, [start, end], word);
            cx.request_deadlock_check();
        }
        lasts
    }
}
