//! Stall detection: flows are under way and no byte is delivered anywhere (docs/algorithms/pfc.md#deadlock).
//!
//! A partition of a network only keeps what happened there. The network counts the silence between the events
//! of all partitions.

use p4cc_units::{Span, Time};

/// What ends a silence, or makes one count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Activity {
    /// A flow gave all its data to its sender.
    Begin,
    /// A receiver took new bytes.
    Delivered,
    /// A flow that began is complete.
    Finish,
}

/// Flows under way, and the time of the last activity.
#[derive(Clone, Debug)]
pub(crate) struct StallDetector {
    after: Span,
    under_way: u64,
    last_activity: Time,
    /// When the first silence was as long as a stall.
    pub found: Option<Time>,
    /// The longest silence.
    pub longest: Span,
    /// Activity that a partition keeps for the network to replay; none in the network itself.
    activity: Option<Vec<(Time, Activity)>>,
}

impl StallDetector {
    pub fn new(after_ns: u64) -> Self {
        Self {
            after: Span::from_ns(after_ns),
            under_way: 0,
            last_activity: Time::ZERO,
            found: None,
            longest: Span::ZERO,
            activity: None,
        }
    }

    /// Keeps activity from now on, in place of counting silence.
    pub fn keep_activity(&mut self) {
        self.activity = Some(Vec::new());
    }

    /// Counts the silence of the activity that was kept here.
    pub fn replay_log(&mut self) {
        let Some(mut activity) = self.activity.take() else { return };
        self.replay(&mut activity);
        self.activity = Some(activity);
    }

    /// Counts silence from now on, in place of keeping activity.
    pub fn count_silence_again(&mut self) {
        self.replay_log();
        self.activity = None;
    }

    /// Moves the activity that was kept to `out`, in its order.
    pub fn take_activity(&mut self, out: &mut Vec<(Time, Activity)>) {
        out.extend(self.activity.iter_mut().flat_map(|activity| activity.drain(..)));
    }

    /// Counts the silence of the activity of several partitions, and empties it. The order of simultaneous
    /// activity makes no difference: the first one ends the silence.
    pub fn replay(&mut self, activity: &mut Vec<(Time, Activity)>) {
        self.keep_first_and_last_delivery(activity);
        activity.sort_by_key(|(at, _)| *at);
        for (at, what) in activity.drain(..) {
            self.count(at, what);
        }
    }

    /// Drops all deliveries but the first and the last, where no silence between them can be longer than what
    /// was found before. It saves sorting.
    fn keep_first_and_last_delivery(&self, activity: &mut Vec<(Time, Activity)>) {
        let ends = |times: &mut dyn Iterator<Item = Time>| {
            times.fold(None, |ends, at| {
                let (first, last) = ends.unwrap_or((at, at));
                Some((at.min(first), at.max(last)))
            })
        };
        let Some((first, last)) = ends(&mut activity.iter().map(|(at, _)| *at)) else { return };
        let span = last.since(first);
        if span > self.longest || span >= self.after {
            return;
        }
        let is_delivery = |(_, what): &(Time, Activity)| *what == Activity::Delivered;
        let deliveries = ends(&mut activity.iter().filter(|entry| is_delivery(entry)).map(|(at, _)| *at));
        activity.retain(|entry| !is_delivery(entry));
        let (first, last) = deliveries.unzip();
        activity.extend([first, last].into_iter().flatten().map(|at| (at, Activity::Delivered)));
    }

    /// Notes what ends a silence, or makes one count.
    pub fn note(&mut self, now: Time, what: Activity) {
        match &mut self.activity {
            Some(activity) => activity.push((now, what)),
            None => self.count(now, what),
        }
    }

    fn count(&mut self, now: Time, what: Activity) {
        if what == Activity::Begin {
            if self.under_way == 0 {
                self.last_activity = now;
            }
            self.under_way += 1;
            return;
        }
        self.look(now);
        self.last_activity = now;
        self.under_way -= u64::from(what == Activity::Finish);
    }

    /// Counts the silence up to now; the run may end with it.
    pub fn look(&mut self, now: Time) {
        if self.under_way == 0 {
            return;
        }
        let silence = now.since(self.last_activity);
        self.longest = self.longest.max(silence);
        if silence >= self.after {
            self.found.get_or_insert(self.last_activity + self.after);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Kept in epochs and by several partitions, or counted one by one: the silence is the same.
        #[test]
        fn silence_of_epochs_is_that_of_single_events(
            epochs in prop::collection::vec(prop::collection::vec((0_u64..100, 0_u8..12), 0..6), 1..30),
        ) {
            let (mut network, mut partition) = (StallDetector::new(150), StallDetector::new(150));
            partition.keep_activity();
            let mut under_way = 0;
            for (number, activity) in (0_u64..).zip(epochs) {
                let mut log = Vec::new();
                let mut at: Vec<_> = activity.iter().map(|(at, _)| Time::from_ns(100 * number + at)).collect();
                at.sort_unstable();
                for (at, (_, kind)) in at.into_iter().zip(activity) {
                    let what = match kind {
                        0 => Activity::Begin,
                        1 if under_way > 0 => Activity::Finish,
                        _ => Activity::Delivered,
                    };
                    under_way += u64::from(what == Activity::Begin);
                    under_way -= u64::from(what == Activity::Finish);
                    network.note(at, what);
                    log.push((at, what));
                }
                // The order of simultaneous deliveries makes no difference.
                let middle = log.len() / 2;
                if log.iter().all(|(_, what)| *what == Activity::Delivered) {
                    log.rotate_left(middle);
                }
                log.into_iter().for_each(|(at, what)| partition.note(at, what));
                partition.replay_log();
            }
            prop_assert_eq!((network.found, network.longest), (partition.found, partition.longest));
        }
    }

    #[test]
    fn silence_counts_with_flows_under_way_only() {
        let mut stall = StallDetector::new(50);
        let at = Time::from_ns;
        stall.note(at(100), Activity::Begin);
        stall.note(at(149), Activity::Delivered);
        stall.note(at(150), Activity::Finish);
        stall.note(at(900), Activity::Begin);
        stall.look(at(940));
        assert_eq!((stall.found, stall.longest), (None, Span::from_ns(49)));
        stall.note(at(960), Activity::Delivered);
        stall.look(at(1_200));
        assert_eq!((stall.found, stall.longest), (Some(at(950)), Span::from_ns(240)));
    }
}
