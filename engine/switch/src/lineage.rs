//! Lineages: a bound on the copies and passes that one received packet causes. A pass is a run through
//! ingress or egress. All descendants of a received packet share one budget.
//!
//! Most packets cause nothing and have no lineage. The first copy, resubmission, recirculation or deflection
//! of a packet gives it one, and every descendant carries it. A packet that leaves need not report so. When
//! the list of lineages has grown enough, those of waiting packets are collected, and the others are reused.
//!
//! Invariant: copies and passes of any received packet never exceed the limit, so the work of each packet
//! ends.

/// The budget that a packet shares with its kin.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub(crate) struct Lineage(u32);

impl Lineage {
    /// The received packet has caused nothing so far.
    pub const NONE: Self = Self(0);

    fn at(self) -> Option<usize> {
        (self.0 as usize).checked_sub(1)
    }
}

/// Lineages under way.
#[derive(Clone, Debug)]
pub(crate) struct Lineages {
    /// What each may still cause.
    left: Vec<u32>,
    free: Vec<u32>,
    /// Length at which those that are over are looked for.
    sweep_at: usize,
}

/// Shortest list that is looked through.
const MIN_SWEEP: usize = 1_024;

impl Default for Lineages {
    fn default() -> Self {
        Self { left: Vec::new(), free: Vec::new(), sweep_at: MIN_SWEEP }
    }
}

impl Lineages {
    /// Takes from the budget of a packet, which starts with `limit`; how much there was, `wanted` at most.
    /// `waiting` are the lineages of all packets but this one.
    pub fn take<I: Iterator<Item = Lineage>>(
        &mut self,
        lineage: &mut Lineage,
        wanted: u32,
        limit: u32,
        waiting: impl FnOnce() -> I,
    ) -> u32 {
        if *lineage == Lineage::NONE {
            *lineage = self.begin(limit, waiting);
        }
        let Some(left) = lineage.at().and_then(|at| self.left.get_mut(at)) else { return 0 };
        let taken = wanted.min(*left);
        *left -= taken;
        taken
    }

    /// A lineage for a packet that has caused nothing so far. `waiting` are those of all packets but it.
    pub fn begin<I: Iterator<Item = Lineage>>(&mut self, limit: u32, waiting: impl FnOnce() -> I) -> Lineage {
        if self.free.is_empty() && self.left.len() >= self.sweep_at {
            self.sweep(waiting());
        }
        let at = match self.free.pop() {
            Some(at) => {
                self.left[at as usize] = limit;
                at
            }
            None => {
                self.left.push(limit);
                self.left.len() as u32 - 1
            }
        };
        Lineage(at + 1)
    }

    /// Frees every lineage that no packet has.
    fn sweep(&mut self, waiting: impl Iterator<Item = Lineage>) {
        let mut lives = vec![false; self.left.len()];
        let mut living = 0;
        for at in waiting.filter_map(Lineage::at) {
            living += usize::from(!core::mem::replace(&mut lives[at], true));
        }
        // The lowest is used first.
        self.free.extend((0..self.left.len() as u32).rev().filter(|at| !lives[*at as usize]));
        self.sweep_at = MIN_SWEEP.max(2 * living);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(lineages: &mut Lineages, lineage: &mut Lineage, wanted: u32, waiting: &[Lineage]) -> u32 {
        lineages.take(lineage, wanted, 10, || waiting.iter().copied())
    }

    #[test]
    fn kin_share_a_budget_and_strangers_do_not() {
        let mut lineages = Lineages::default();
        let (mut first, mut second) = (Lineage::NONE, Lineage::NONE);
        assert_eq!(take(&mut lineages, &mut first, 4, &[]), 4);
        let mut copy = first;
        assert_eq!(take(&mut lineages, &mut second, 9, &[first]), 9);
        assert_eq!(take(&mut lineages, &mut copy, 7, &[first, second]), 6);
        assert_eq!(take(&mut lineages, &mut first, 1, &[copy, second]), 0);
        assert_eq!(take(&mut lineages, &mut second, 1, &[copy, first]), 1);
    }

    #[test]
    fn the_list_follows_the_packets_that_wait_not_those_that_came() {
        let mut lineages = Lineages::default();
        let mut waiting = Vec::new();
        for packet in 0..100_000 {
            let mut lineage = Lineage::NONE;
            assert_eq!(take(&mut lineages, &mut lineage, 3, &waiting), 3);
            if packet % 100 == 0 && waiting.len() < 700 {
                waiting.push(lineage);
            }
        }
        assert!(lineages.left.len() <= 2 * MIN_SWEEP, "{}", lineages.left.len());
        // Those that waited all the time have what they had left.
        for lineage in &mut waiting.clone() {
            assert_eq!(take(&mut lineages, lineage, 10, &waiting), 7);
        }
    }
}
