//! PFC (IEEE 802.1Qbb) at a host: which priorities its neighbour has paused, and for how long.

use p4cc_switch::PauseCounters;
use p4cc_switch::config::PRIORITIES;
use p4cc_transport::wire::TrafficClass;
use p4cc_units::Time;

use crate::links::PauseTimers;

/// What the neighbour of a host's interface has paused.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Pauses {
    mask: u8,
    /// None before the first pause.
    times: Option<Box<PauseTimes>>,
}

#[derive(Clone, PartialEq, Eq, Default, Debug)]
struct PauseTimes {
    since: [Time; PRIORITIES],
    timers: PauseTimers,
    counters: [PauseCounters; PRIORITIES],
}

impl Pauses {
    /// Bit `p` is set where class `p` may send.
    #[inline]
    pub fn free(&self) -> u8 {
        !self.mask
    }

    #[inline]
    pub fn is_paused(&self, class: TrafficClass) -> bool {
        self.mask & (1 << class.get()) != 0
    }

    #[inline]
    pub fn is_any_paused(&self) -> bool {
        self.mask != 0
    }

    pub fn set(&mut self, now: Time, priority: u8, pause: bool) {
        let (at, bit) = (usize::from(priority & 7), 1 << (priority & 7));
        if (self.mask & bit != 0) == pause {
            return;
        }
        self.mask ^= bit;
        let times = self.times.get_or_insert_default();
        if pause {
            times.since[at] = now;
            times.counters[at].begin(now);
        } else {
            times.counters[at].end(times.since[at], now);
        }
    }

    /// When pauses with a limited duration end.
    pub fn timers(&mut self) -> &mut PauseTimers {
        &mut self.times.get_or_insert_default().timers
    }

    /// What is counted of a priority's pauses up to now.
    pub fn counters(&self, priority: usize, now: Time) -> PauseCounters {
        let Some(times) = &self.times else { return PauseCounters::default() };
        let lasting = (self.mask & (1 << priority) != 0).then_some(times.since[priority]);
        times.counters[priority].up_to(lasting, now)
    }
}
