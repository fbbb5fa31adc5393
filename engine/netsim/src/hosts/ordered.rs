//! A set in order, for few members as a rule.
//!
//! The first members stand in a short vector, where adding and taking costs a few instructions; a tree behind
//! it takes what is more, so that no step takes more than logarithmic time however many there are.
//!
//! Invariants: each member of `few` comes before each of `more`; `few` is empty only where `more` is.

use std::collections::BTreeSet;

/// Most members of the vector.
const FEW: usize = 32;

#[derive(Clone, Debug)]
pub(crate) struct Ordered<T> {
    /// The first one last.
    few: Vec<T>,
    more: BTreeSet<T>,
}

impl<T> Default for Ordered<T> {
    fn default() -> Self {
        Self { few: Vec::new(), more: BTreeSet::new() }
    }
}

impl<T: Ord + Copy> Ordered<T> {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.few.is_empty()
    }

    #[inline]
    pub fn first(&self) -> Option<T> {
        self.few.last().copied()
    }

    /// Adds a member that is not there.
    #[inline]
    pub fn insert(&mut self, member: T) {
        if !self.more.is_empty() && self.few.first().is_none_or(|last| *last < member) {
            self.more.insert(member);
            return;
        }
        if self.few.last().is_none_or(|first| member < *first) {
            self.few.push(member);
        } else {
            let place = self.few.partition_point(|other| *other > member);
            self.few.insert(place, member);
        }
        if self.few.len() > FEW {
            self.more.insert(self.few.remove(0));
        }
    }

    /// Takes a member out, if it is there.
    #[inline]
    pub fn remove(&mut self, member: T) {
        if self.first() == Some(member) {
            self.pop_first();
            return;
        }
        match self.few.binary_search_by(|other| member.cmp(other)) {
            Ok(place) => {
                self.few.remove(place);
                self.refill();
            }
            Err(_) => {
                self.more.remove(&member);
            }
        }
    }

    #[inline]
    pub fn pop_first(&mut self) -> Option<T> {
        let first = self.few.pop();
        self.refill();
        first
    }

    /// The first member from `from` on.
    #[inline]
    pub fn first_from(&self, from: T) -> Option<T> {
        if let Some(first) = self.first().filter(|first| *first >= from) {
            return Some(first);
        }
        match self.few.partition_point(|member| *member >= from) {
            0 => self.more.range(from..).next().copied(),
            behind => Some(self.few[behind - 1]),
        }
    }

    #[inline]
    fn refill(&mut self) {
        if self.few.is_empty() && !self.more.is_empty() {
            self.few.extend(core::iter::from_fn(|| self.more.pop_first()).take(FEW / 2));
            self.few.reverse();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Whatever comes and goes, few or many, it is a set in order.
        #[test]
        fn it_is_a_set_in_order(steps in prop::collection::vec((0_u8..6, 0_u32..120), 0..600)) {
            let (mut ordered, mut model) = (Ordered::default(), BTreeSet::new());
            for (action, member) in steps {
                match action {
                    0 => prop_assert_eq!(ordered.pop_first(), model.pop_first()),
                    1 => {
                        ordered.remove(member);
                        model.remove(&member);
                    }
                    _ => {
                        if model.insert(member) {
                            ordered.insert(member);
                        }
                    }
                }
                prop_assert_eq!(ordered.first(), model.first().copied());
                prop_assert_eq!(ordered.is_empty(), model.is_empty());
                prop_assert_eq!(ordered.first_from(member), model.range(member..).next().copied());
            }
        }
    }
}
