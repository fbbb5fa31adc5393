//! The sending side of a link: when a port or an interface is busy, and when it is woken.
//!
//! A pause frame of PFC (IEEE 802.1Qbb) makes a line busy for longer without waiting for it.

use p4cc_units::Time;

/// The line of a port or an interface: one packet at a time, and at most one wake-up scheduled.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Line {
    busy_until: Time,
    wake_scheduled: bool,
}

impl Line {
    /// There is work: whether to start now, or when to schedule a wake-up. A line that becomes free at this
    /// very instant counts as free, as dequeues are the first events of an instant.
    #[inline]
    pub fn on_work(&mut self, now: Time) -> Work {
        if self.wake_scheduled {
            Work::Wait
        } else if now >= self.busy_until {
            Work::Start
        } else {
            self.wake_scheduled = true;
            Work::WakeAt(self.busy_until)
        }
    }

    /// Whether there is nothing to wait for: [`Self::on_work`] would start.
    #[inline]
    pub fn is_free(&self, now: Time) -> bool {
        !self.wake_scheduled && now >= self.busy_until
    }

    /// The wake-up came.
    #[inline]
    pub fn on_wake(&mut self) {
        self.wake_scheduled = false;
    }

    /// When the current transmission ends.
    #[inline]
    pub fn busy_until(&self) -> Time {
        self.busy_until
    }

    /// Sets when the line is free again: a transmission starts, or a pause frame goes behind the current one.
    #[inline]
    pub fn start(&mut self, end: Time) {
        self.busy_until = end;
    }
}

/// What a line wants done when there is work.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Work {
    Start,
    WakeAt(Time),
    Wait,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_woken_once_and_at_the_end_of_its_packet() {
        let mut line = Line::default();
        assert_eq!(line.on_work(Time::from_ns(3)), Work::Start);
        let end = Time::from_ns(13);
        line.start(end);
        assert_eq!(line.on_work(Time::from_ns(4)), Work::WakeAt(end));
        assert_eq!(line.on_work(end), Work::Wait);
        line.on_wake();
        assert_eq!(line.on_work(end), Work::Start);
    }
}
