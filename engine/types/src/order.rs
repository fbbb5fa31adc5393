//! The order in which arguments and parts of values were written, which is that of their evaluation (P4-16
//! 6.8, 8.1), and the directions of parameters that go with it.

/// In which order parts that stand by position were written, where names changed it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order(Vec<usize>);

impl Order {
    /// Of positions as they were written.
    pub fn new(written: Vec<usize>) -> Self {
        if written.is_sorted() { Self::default() } else { Self(written) }
    }

    /// Whether it is that of the positions.
    pub fn is_plain(&self) -> bool {
        self.0.is_empty()
    }

    /// All positions below `count`: those written in their order, then those left out.
    pub fn positions(&self, count: usize) -> Vec<usize> {
        let mut is_written = vec![false; count];
        for at in &self.0 {
            if let Some(seen) = is_written.get_mut(*at) {
                *seen = true;
            }
        }
        let left_out = is_written.iter().enumerate().filter(|(_, written)| !**written).map(|(at, _)| at);
        self.0.iter().copied().chain(left_out).collect()
    }
}
