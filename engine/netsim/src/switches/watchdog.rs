//! The watchdog of a switch for PFC (IEEE 802.1Qbb): it detects queues that their neighbour keeps paused,
//! drops or forwards what they have, and restores them when the pauses have ended
//! (docs/algorithms/pfc.md#watchdog).
//!
//! A timer looks at a queue when the time of detection has passed since it was paused, and again after each
//! such time while it is paused without a packet. A queue in a storm is looked at when the time of
//! restoration has passed since its last pause ended.

use p4cc_units::Time;

use crate::context::Context;
use crate::describe::spec::WatchdogAction;
use crate::events::Timer;
use crate::switches::node::SwitchNode;
use crate::switches::storms::{Storm, WatchdogEvent};

impl SwitchNode {
    /// The neighbour pauses or resumes a queue: true if the queue is in a storm, which goes by the watchdog.
    #[cold]
    pub(super) fn is_paused_in_storm(
        &mut self,
        cx: &mut Context<'_>,
        port: u32,
        priority: u8,
        pause: bool,
    ) -> bool {
        let Some(watchdog) = &mut self.watchdog else { return false };
        let now = cx.now();
        let timer = Timer::Watchdog { port, priority };
        if let Some(storm) = watchdog.storms.get_mut(&(port, priority)) {
            // A pause that was taken back expires too.
            if pause || storm.paused {
                (storm.paused, storm.changed) = (pause, now);
            }
            if !pause {
                cx.schedule.timer(now + watchdog.restoration, self.number, timer);
            }
            return watchdog.action != WatchdogAction::Alert;
        }
        if pause && self.switch.observation().paused_since(port, priority).is_none() {
            cx.schedule.timer(now + watchdog.detection, self.number, timer);
        }
        false
    }

    /// It is time to look at a queue. A timer of a pause that has ended since finds nothing.
    pub fn on_watchdog(&mut self, cx: &mut Context<'_>, port: u32, priority: u8) {
        let Some(watchdog) = &self.watchdog else { return };
        let now = cx.now();
        if let Some(storm) = watchdog.storms.get(&(port, priority)) {
            if !storm.paused && storm.changed + watchdog.restoration == now {
                self.restore(now, port, priority);
            }
            return;
        }
        let Some(since) = self.switch.observation().paused_since(port, priority) else { return };
        if now.since(since) < watchdog.detection {
            return;
        }
        if self.switch.observation().depth_pkts(port, priority) > 0 {
            return self.detect(cx, port, priority);
        }
        let due = now + watchdog.detection;
        cx.schedule.timer(due, self.number, Timer::Watchdog { port, priority });
    }

    fn detect(&mut self, cx: &mut Context<'_>, port: u32, priority: u8) {
        let Some(action) = self.watchdog.as_ref().map(|watchdog| watchdog.action) else { return };
        let now = cx.now();
        let dropped_before = self.dropped(port, priority);
        let closed = match action {
            WatchdogAction::Drop => self.switch.control().close_queue(port, priority),
            WatchdogAction::Forward | WatchdogAction::Alert => None,
        };
        let (capacity_pkts, dropped_pkts) = closed.unzip();
        if action != WatchdogAction::Alert {
            // The queue is as if nobody paused it until it is restored.
            self.switch.set_paused(now, port, priority, false);
        }
        let storm = Storm { paused: true, changed: now, capacity_pkts, dropped_before };
        if let Some(watchdog) = &mut self.watchdog {
            watchdog.storms.insert((port, priority), storm);
            let dropped_pkts = dropped_pkts.unwrap_or(0);
            watchdog.log.add(|| WatchdogEvent { at: now, port, priority, detected: true, dropped_pkts });
        }
        self.send_pause_frames(cx);
        self.serve_ports(cx);
    }

    fn restore(&mut self, now: Time, port: u32, priority: u8) {
        let dropped = self.dropped(port, priority);
        let Some(watchdog) = &mut self.watchdog else { return };
        let Some(storm) = watchdog.storms.remove(&(port, priority)) else { return };
        if let Some(capacity_pkts) = storm.capacity_pkts {
            self.switch.control().set_queue_capacity(port, Some(priority), capacity_pkts);
        }
        let dropped_pkts = dropped - storm.dropped_before;
        watchdog.log.add(|| WatchdogEvent { at: now, port, priority, detected: false, dropped_pkts });
    }

    /// Packets that a queue has dropped.
    fn dropped(&self, port: u32, priority: u8) -> u64 {
        let counters = self.switch.observation().port_counters(port);
        counters.map_or(0, |counters| counters.queues[usize::from(priority & 7)].dropped.total())
    }
}
