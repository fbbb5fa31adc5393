//! What the sender knows of selective acknowledgements, and
//! what it sends next by it (RFC6675), in byte positions.
//!
//! Invariants: no reported byte is ever chosen again; `high_rxt` never falls within one recovery.

use crate::ranges::{Inserted, RangeSet};

/// Reports and repetitions of one flow.
#[derive(Clone, Debug)]
pub(crate) struct Scoreboard {
    dupthresh: u64,
    mss_bytes: u64,
    /// Reported bytes above the first unacknowledged one.
    sacked: RangeSet,
    /// HighRxt: what lies below it and was not reported has been sent again in this recovery.
    high_rxt: u64,
    /// All below it that was not reported counts as lost: what was outstanding at the last timeout.
    timed_out: u64,
    /// The rescue retransmission of this recovery was spent.
    rescued: bool,
}

impl Scoreboard {
    pub(crate) const fn new(dupthresh: u32, mss_bytes: u32, max_ranges: usize) -> Self {
        Self {
            dupthresh: dupthresh as u64,
            mss_bytes: mss_bytes as u64,
            sacked: RangeSet::new(max_ranges),
            high_rxt: 0,
            timed_out: 0,
            rescued: false,
        }
    }

    /// Takes a report of `start..end`; tells whether it says anything new.
    pub(crate) fn report(&mut self, start: u64, end: u64) -> bool {
        self.sacked.insert(start, end) == Inserted::New
    }

    /// The first unacknowledged byte is `una` now.
    pub(crate) fn advance(&mut self, una: u64) {
        self.sacked.remove_below(una);
        self.high_rxt = self.high_rxt.max(una);
    }

    /// A recovery begins at `una`; gives the first stretch to send again, whatever is in the network.
    pub(crate) fn start_recovery(&mut self, una: u64, nxt: u64) -> Option<(u64, u64)> {
        self.high_rxt = una;
        self.rescued = false;
        self.repeat(self.next_below(nxt, nxt))
    }

    /// The timer expired with `una..nxt` outstanding: what was
    /// not reported is lost, once more if it was sent again.
    pub(crate) fn on_timeout(&mut self, una: u64, nxt: u64) {
        if self.sacked.containing(una).is_some() {
            // The receiver reported this byte and still waits
            // for it: its reports are worth nothing (RFC2018 8).
            self.sacked.clear();
        }
        self.high_rxt = una;
        self.timed_out = nxt;
        self.rescued = false;
    }

    /// Whether what a timeout took for lost is still being repaired.
    pub(crate) const fn repairs_timeout(&self, una: u64) -> bool {
        una < self.timed_out
    }

    /// Where sending stands: above it, what a timeout took for lost was not sent again yet.
    pub(crate) fn send_point(&self, una: u64, nxt: u64) -> u64 {
        if self.repairs_timeout(una) && self.high_rxt < self.timed_out { self.high_rxt.max(una) } else { nxt }
    }

    /// IsLost: whether enough was reported above this byte, which was not reported itself.
    pub(crate) fn is_lost(&self, position: u64) -> bool {
        position < self.lost_below()
    }

    /// What lies below it and was not reported is lost.
    fn lost_below(&self) -> u64 {
        let (mut ranges, mut bytes) = (0, 0);
        for (start, end) in self.sacked.iter().rev() {
            ranges += 1;
            bytes += end - start;
            // RFC6675 4: "either DupThresh discontiguous SACKed sequences have arrived above SeqNum or more
            // than (DupThresh - 1) * SMSS bytes".
            if ranges >= self.dupthresh || bytes > (self.dupthresh - 1) * self.mss_bytes {
                return start.max(self.timed_out);
            }
        }
        self.timed_out
    }

    /// SetPipe: bytes of `una..nxt` that are believed to be in the network, those of repetitions included.
    pub(crate) fn pipe(&self, una: u64, nxt: u64) -> u64 {
        let lost_below = self.lost_below();
        let in_network = |start: u64, end: u64| {
            let original = end.saturating_sub(start.max(lost_below));
            let repeated = end.min(self.high_rxt).saturating_sub(start);
            original + repeated
        };
        let (mut from, mut pipe) = (una, 0);
        for (start, end) in self.sacked.iter() {
            pipe += in_network(from, start.max(from));
            from = end;
        }
        pipe + in_network(from, nxt.max(from))
    }

    /// The lowest stretch from `high_rxt` on that was not reported, at most a segment long, below `bound`.
    fn next_below(&self, bound: u64, nxt: u64) -> Option<(u64, u64)> {
        let start = self.sacked.containing(self.high_rxt).map_or(self.high_rxt, |range| range.1);
        let end = self.sacked.iter().map(|range| range.0).find(|above| *above > start).unwrap_or(nxt);
        (start < bound && start < nxt).then(|| (start, end.min(nxt).min(start + self.mss_bytes)))
    }

    /// NextSeg rule 1: the lowest lost stretch of `..nxt` that was not sent again yet; it counts as sent.
    pub(crate) fn take_lost(&mut self, nxt: u64) -> Option<(u64, u64)> {
        self.repeat(self.next_below(self.lost_below(), nxt))
    }

    /// NextSeg rule 3: without lost bytes and new data, the lowest hole below a report; it counts as sent.
    pub(crate) fn take_hole(&mut self, nxt: u64) -> Option<(u64, u64)> {
        self.repeat(self.next_below(self.sacked.end()?, nxt))
    }

    fn repeat(&mut self, stretch: Option<(u64, u64)>) -> Option<(u64, u64)> {
        if let Some((_, end)) = stretch {
            self.high_rxt = self.high_rxt.max(end);
        }
        stretch
    }

    /// NextSeg rule 4: once in a recovery, the last outstanding
    /// segment, so that its ACK tells of the end of the window.
    pub(crate) fn take_rescue(&mut self, nxt: u64) -> Option<(u64, u64)> {
        let above_reports = self.sacked.end().unwrap_or(0);
        let start = above_reports.max(nxt.saturating_sub(self.mss_bytes));
        if self.rescued || start < self.high_rxt || start >= nxt {
            return None;
        }
        self.rescued = true;
        Some((start, nxt))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Segments of ten bytes.
    fn board(reports: &[(u64, u64)]) -> Scoreboard {
        let mut board = Scoreboard::new(3, 10, 100);
        for (start, end) in reports {
            assert!(board.report(start * 10, end * 10));
        }
        board
    }

    #[test]
    fn a_segment_is_lost_once_three_above_it_were_reported() {
        let mut by_ranges = board(&[(5, 6), (7, 8)]);
        assert!(!by_ranges.report(50, 60) && !by_ranges.is_lost(0));
        by_ranges.report(90, 100);
        assert!(by_ranges.is_lost(40) && !by_ranges.is_lost(60));
        let mut by_bytes = board(&[(7, 9)]);
        assert!(!by_bytes.is_lost(60));
        // One byte more than two segments.
        by_bytes.report(90, 91);
        assert!(by_bytes.is_lost(60));
    }

    /// RFC6675, "pipe": lost segments are out of the network until they are sent again.
    #[test]
    fn pipe_counts_what_is_in_the_network() {
        assert_eq!(board(&[]).pipe(0, 100), 100);
        // 0 and 5 are missing of ten; four and four reported.
        let mut board = board(&[(1, 5), (6, 10)]);
        assert_eq!(board.pipe(0, 100), 0);
        assert_eq!(board.start_recovery(0, 100), Some((0, 10)));
        assert_eq!((board.pipe(0, 100), board.take_lost(100)), (10, Some((50, 60))));
        assert_eq!((board.pipe(0, 100), board.take_lost(100), board.take_hole(100)), (20, None, None));
        board.advance(50);
        assert_eq!(board.pipe(50, 120), 30);
    }

    #[test]
    fn a_timeout_takes_all_that_was_not_reported_for_lost() {
        let mut board = board(&[(2, 4)]);
        board.on_timeout(0, 60);
        assert_eq!((board.pipe(0, 60), board.send_point(0, 60)), (0, 0));
        assert_eq!((board.take_lost(60), board.take_lost(60)), (Some((0, 10)), Some((10, 20))));
        assert_eq!(
            (board.pipe(0, 60), board.send_point(0, 60), board.take_lost(60)),
            (20, 20, Some((40, 50)))
        );
        // The receiver waits for what it had reported: it is not believed any more.
        board.advance(20);
        board.report(20, 40);
        board.on_timeout(20, 60);
        assert_eq!(board.take_lost(60), Some((20, 30)));
    }

    #[test]
    fn the_rescue_comes_once() {
        let mut board = board(&[(1, 4)]);
        board.start_recovery(0, 65);
        assert_eq!((board.take_rescue(65), board.take_rescue(65)), (Some((55, 65)), None));
        board.start_recovery(0, 65);
        board.report(50, 65);
        assert_eq!(board.take_rescue(65), None);
    }

    proptest! {
        /// Whatever is reported, the rules give unreported bytes only,
        /// each once, and `pipe` agrees with the RFC's count byte by byte.
        #[test]
        fn no_reported_byte_is_chosen(
            reports in prop::collection::vec((1_u64..60, 1_u64..9), 0..20),
            timeout in any::<bool>(),
            dupthresh in 1_u32..5,
        ) {
            let (una, nxt, mss) = (0, 60, 5);
            let mut board = Scoreboard::new(dupthresh, mss as u32, 1_000);
            let mut reported = [false; 61];
            for (start, len) in reports {
                let end = (start + len).min(nxt);
                board.report(start, end);
                (start..end).for_each(|byte| reported[byte as usize] = true);
            }
            let mut next = None;
            if timeout { board.on_timeout(una, nxt) } else { next = board.start_recovery(una, nxt) }
            let above = |byte: u64| &reported[byte as usize..];
            let is_lost = |byte: u64| {
                let bytes = above(byte).iter().filter(|reported| **reported).count() as u64;
                let ranges = above(byte).windows(2).filter(|pair| pair[0] && !pair[1]).count();
                timeout || ranges >= dupthresh as usize || bytes > u64::from(dupthresh - 1) * mss
            };
            let mut last = 0;
            while let Some((start, end)) =
                next.take().or_else(|| board.take_lost(nxt)).or_else(|| board.take_hole(nxt))
            {
                prop_assert!(last <= start && start < end && end <= nxt && end - start <= mss);
                prop_assert!(!reported[start as usize..end as usize].contains(&true));
                let pipe: u64 = (una..nxt)
                    .filter(|byte| !reported[*byte as usize])
                    .map(|byte| u64::from(!is_lost(byte)) + u64::from(byte < board.high_rxt))
                    .sum();
                prop_assert_eq!(board.pipe(una, nxt), pipe);
                last = end;
            }
        }
    }
}
