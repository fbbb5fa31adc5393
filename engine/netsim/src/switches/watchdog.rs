//! The watchdog of a switch for PFC (IEEE 802.1Qbb): it detects queues that their neighbour keeps paused,
//! drops or forwards what they have, and restores them when the pauses have ended
//! (docs/algorithms/pfc.md#watchdog).
//!
//! A timer checks a queue when the time of detection has passed since it was paused, and again after each
//! such time while it is paused without a packet. A queue in a storm is checked when the time of
//! restoration has passed since its last pause ended.

use p4cc_units::Time;

use crate::context::Context;
use crate::describe::spec::WatchdogAction;
use crate::events::Timer;
use crate::switches::node::SwitchNode;
use crate::switches::watchdog_state::{StormedQueue, WatchdogEvent};

impl SwitchNode {
    /// Takes note of a pause or resume: true if the queue is in a storm that the watchdog handles, so that
    /// the queue itself does not obey.
    #[cold]
    pub(super) fn absorb_pause(
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

    /// It is time to check a queue. A timer of a pause that has ended since finds nothing.
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
        let closed = action == WatchdogAction::Drop;
        let dropped_pkts = if closed { self.switch.control().close_queue(port, priority) } else { 0 };
        if action != WatchdogAction::Alert {
            // The queue is as if nobody paused it until it is restored.
            self.switch.set_paused(now, port, priority, false);
        }
        let storm = StormedQueue { paused: true, changed: now, closed, dropped_before };
        if let Some(watchdog) = &mut self.watchdog {
            watchdog.storms.insert((port, priority), storm);
            watchdog.log.add(|| WatchdogEvent { at: now, port, priority, detected: true, dropped_pkts });
        }
        self.send_pause_frames(cx);
        self.serve_ports(cx);
    }

    fn restore(&mut self, now: Time, port: u32, priority: u8) {
        let dropped = self.dropped(port, priority);
        let Some(watchdog) = &mut self.watchdog else { return };
        let Some(storm) = watchdog.storms.remove(&(port, priority)) else { return };
        if storm.closed {
            self.switch.control().open_queue(port, priority);
        }
        let dropped_pkts = dropped.saturating_sub(storm.dropped_before);
        watchdog.log.add(|| WatchdogEvent { at: now, port, priority, detected: false, dropped_pkts });
    }

    /// Packets that a queue has dropped.
    fn dropped(&self, port: u32, priority: u8) -> u64 {
        let counters = self.switch.observation().port_counters(port);
        counters.map_or(0, |counters| counters.queues[usize::from(priority & 7)].dropped.total())
    }
}
