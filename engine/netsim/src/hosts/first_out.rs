//! An ordered set with its first element at hand. A host paces one flow as a rule, for which the round robin
//! takes less than half of the instructions that it takes with trees alone.

use std::collections::BTreeSet;

/// A set in order.
///
/// Invariant: all elements of `rest` are greater than `first`, and there are none while `first` is none.
#[derive(Clone, Debug)]
pub(super) struct FirstOut<T> {
    first: Option<T>,
    rest: BTreeSet<T>,
}

impl<T> Default for FirstOut<T> {
    fn default() -> Self {
        Self { first: None, rest: BTreeSet::new() }
    }
}

impl<T: Ord + Copy> FirstOut<T> {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    #[inline]
    pub fn first(&self) -> Option<T> {
        self.first
    }

    /// The element, if there is one only.
    #[inline]
    pub fn only(&self) -> Option<T> {
        self.first.filter(|_| self.rest.is_empty())
    }

    /// The first element that is not less than `least`.
    #[inline]
    pub fn first_from(&self, least: T) -> Option<T> {
        let first = self.first.filter(|first| *first >= least);
        first.or_else(|| if self.rest.is_empty() { None } else { self.rest.range(least..).next().copied() })
    }

    /// Adds an element that is not there.
    #[inline]
    pub fn insert(&mut self, element: T) {
        let Some(first) = &mut self.first else {
            self.first = Some(element);
            return;
        };
        let (least, other) = if element < *first { (element, *first) } else { (*first, element) };
        *first = least;
        self.rest.insert(other);
    }

    /// Takes out an element.
    #[inline]
    pub fn remove(&mut self, element: T) {
        if self.first == Some(element) {
            self.pop_first();
        } else {
            self.rest.remove(&element);
        }
    }

    /// Takes out the first element.
    #[inline]
    pub fn pop_first(&mut self) -> Option<T> {
        let next = if self.rest.is_empty() { None } else { self.rest.pop_first() };
        core::mem::replace(&mut self.first, next)
    }
}
