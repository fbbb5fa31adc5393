//! Whether a network stands still: flows are under way and no
//! byte is delivered anywhere (docs/algorithms/pfc.md#deadlock).

use p4cc_units::{Span, Time};

/// What a network tells of itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Move {
    Begin,
    Delivered,
    Finish,
}

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
    /// Of a part of a network, for the whole to replay; none where this is the whole.
    moves: Option<Vec<(Time, Move)>>,
}

impl Stall {
    pub fn new(after_ns: u64) -> Self {
        Self {
            after: Span::from_ns(after_ns),
            under_way: 0,
            last_move: Time::ZERO,
            found: None,
            longest: Span::ZERO,
            moves: None,
        }
    }

    /// Keeps moves in place of counting silence.
    pub fn keep_moves(&mut self) {
        self.moves = Some(Vec::new());
    }

    /// Counts the silence between the moves that were kept.
    pub fn replay_own(&mut self) {
        let Some(mut moves) = self.moves.take() else { return };
        self.replay(&mut moves);
        self.moves = Some(moves);
    }

    /// Counts silence again in place of keeping moves.
    pub fn count_again(&mut self) {
        self.replay_own();
        self.moves = None;
    }

    /// Appends the moves that were kept, in their order.
    pub fn take_moves(&mut self, out: &mut Vec<(Time, Move)>) {
        out.extend(self.moves.iter_mut().flat_map(|moves| moves.drain(..)));
    }

    /// Counts the silence between moves of several parts, and forgets them. The order of simultaneous moves
    /// makes no difference: the first of them ends the silence.
    pub fn replay(&mut self, moves: &mut Vec<(Time, Move)>) {
        self.leave_ends(moves);
        moves.sort_by_key(|(at, _)| *at);
        for (at, one) in moves.drain(..) {
            self.count(at, one);
        }
    }

    /// Leaves the first and the last of the deliveries, where no silence
    /// between moves can count for more than what was found before.
    fn leave_ends(&self, moves: &mut Vec<(Time, Move)>) {
        let ends = |times: &mut dyn Iterator<Item = Time>| {
            times.fold(None, |ends, at| {
                let (first, last) = ends.unwrap_or((at, at));
                Some((at.min(first), at.max(last)))
            })
        };
        let Some((first, last)) = ends(&mut moves.iter().map(|(at, _)| *at)) else { return };
        let span = last.since(first);
        if span > self.longest || span >= self.after {
            return;
        }
        let is_delivery = |(_, one): &(Time, Move)| *one == Move::Delivered;
        let deliveries = ends(&mut moves.iter().filter(|one| is_delivery(one)).map(|(at, _)| *at));
        moves.retain(|one| !is_delivery(one));
        let (first, last) = deliveries.unzip();
        moves.extend([first, last].into_iter().flatten().map(|at| (at, Move::Delivered)));
    }

    fn tell(&mut self, now: Time, one: Move) {
        match &mut self.moves {
            Some(moves) => moves.push((now, one)),
            None => self.count(now, one),
        }
    }

    fn count(&mut self, now: Time, one: Move) {
        if one == Move::Begin {
            if self.under_way == 0 {
                self.last_move = now;
            }
            self.under_way += 1;
            return;
        }
        self.look(now);
        self.last_move = now;
        self.under_way -= u64::from(one == Move::Finish);
    }

    /// A flow gave all its data to its sender.
    pub fn on_begin(&mut self, now: Time) {
        self.tell(now, Move::Begin);
    }

    /// A receiver took new bytes.
    pub fn on_delivered(&mut self, now: Time) {
        self.tell(now, Move::Delivered);
    }

    /// A flow that began is complete.
    pub fn on_finish(&mut self, now: Time) {
        self.tell(now, Move::Finish);
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
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Told in windows, by several parts, or one by one: the silence is the same.
        #[test]
        fn silence_of_windows_is_that_of_moves(
            windows in prop::collection::vec(prop::collection::vec((0_u64..100, 0_u8..12), 0..6), 1..30),
        ) {
            let (mut whole, mut part) = (Stall::new(150), Stall::new(150));
            part.keep_moves();
            let mut under_way = 0;
            for (number, moves) in (0_u64..).zip(windows) {
                let mut told = Vec::new();
                let mut at: Vec<_> = moves.iter().map(|(at, _)| Time::from_ns(100 * number + at)).collect();
                at.sort_unstable();
                for (at, (_, kind)) in at.into_iter().zip(moves) {
                    let one = match kind {
                        0 => Move::Begin,
                        1 if under_way > 0 => Move::Finish,
                        _ => Move::Delivered,
                    };
                    under_way += u64::from(one == Move::Begin);
                    under_way -= u64::from(one == Move::Finish);
                    whole.tell(at, one);
                    told.push((at, one));
                }
                // Of simultaneous moves the order makes no difference, but a flow begins before it ends.
                let turn = told.len() / 2;
                if told.iter().all(|(_, one)| *one == Move::Delivered) {
                    told.rotate_left(turn);
                }
                told.into_iter().for_each(|(at, one)| part.tell(at, one));
                part.replay_own();
            }
            prop_assert_eq!((whole.found, whole.longest), (part.found, part.longest));
        }
    }

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
