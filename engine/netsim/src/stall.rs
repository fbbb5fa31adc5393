//! Whether a network stands still: flows are under way and no byte is delivered anywhere (spec 13.3).

use p4cc_units::{Span, Time};

/// Flows under way, and when something last moved.
#[derive(Clone, Debug)]
pub(crate) struct Stall {
    after: Span,
    under_way: u64,
    last_move: Time,
    /// When the first silence was as long as a stall.
    pub found: Option<Time>,
    /// The longest silence.
    pub longest: Span,
}

impl Stall {
    pub fn new(after_ns: u64) -> Self {
        Self {
            after: Span::from_ns(after_ns),
            under_way: 0,
            last_move: Time::ZERO,
            found: None,
            longest: Span::ZERO,
        }
    }

    /// A flow gave all its data to its sender.
    pub fn on_begin(&mut self, now: Time) {
        if self.under_way == 0 {
            self.last_move = now;
        }
        self.under_way += 1;
    }

    /// A receiver took new bytes.
    pub fn on_delivered(&mut self, now: Time) {
        self.look(now);
        self.last_move = now;
    }

    /// A flow that began is complete.
    pub fn on_finish(&mut self, now: Time) {
        self.look(now);
        self.last_move = now;
        self.under_way -= 1;
    }

    /// Counts the silence up to now; the run may end with it.
    pub fn look(&mut self, now: Time) {
        if self.under_way == 0 {
            return;
        }
        let silence = now.since(self.last_move);
        self.longest = self.longest.max(silence);
        if silence >= self.after {
            self.found.get_or_insert(self.last_move + self.after);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_counts_with_flows_under_way_only() {
        let mut stall = Stall::new(50);
        let at = Time::from_ns;
        stall.on_begin(at(100));
        stall.on_delivered(at(149));
        stall.on_finish(at(150));
        stall.on_begin(at(900));
        stall.look(at(940));
        assert_eq!((stall.found, stall.longest), (None, Span::from_ns(49)));
        stall.on_delivered(at(960));
        stall.look(at(1_200));
        assert_eq!((stall.found, stall.longest), (Some(at(950)), Span::from_ns(240)));
    }
}
