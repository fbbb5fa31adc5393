//! Numbers that clients may use in the place of keys, and the order in which entries were added.

use std::collections::{BTreeMap, BTreeSet};

use crate::fields::Match;

/// Largest number: what stands above it on the wire says whose the entry is.
const MAX_HANDLE: u32 = (1 << 28) - 1;

/// The number of a table's default entry, which no other entry has.
pub const DEFAULT_ENTRY: u32 = 1;

/// The key of an entry as reads give it.
pub type KeyValues = Vec<(u32, Match)>;

/// Numbers of the entries of one table.
#[derive(Clone, Debug, Default)]
pub struct Handles {
    by_key: BTreeMap<KeyValues, u32>,
    by_handle: BTreeMap<u32, KeyValues>,
    last: u32,
}

impl Handles {
    /// The number of an entry, which it keeps; given now if it had none.
    pub fn of(&mut self, key: &KeyValues) -> u32 {
        if let Some(handle) = self.by_key.get(key) {
            return *handle;
        }
        self.last = self.last.wrapping_add(1) & MAX_HANDLE;
        // After 2^28 numbers those of old entries are passed over.
        while self.last <= DEFAULT_ENTRY || self.by_handle.contains_key(&self.last) {
            self.last = self.last.wrapping_add(1) & MAX_HANDLE;
        }
        self.by_key.insert(key.clone(), self.last);
        self.by_handle.insert(self.last, key.clone());
        self.last
    }

    /// The entry with a number.
    pub fn key(&self, handle: u32) -> Option<&KeyValues> {
        self.by_handle.get(&handle)
    }

    /// An entry is gone.
    pub fn forget(&mut self, key: &KeyValues) {
        if let Some(handle) = self.by_key.remove(key) {
            self.by_handle.remove(&handle);
        }
    }

    /// Forgets all numbers but these, of which each is an entry's that is there.
    pub fn keep(&mut self, there: &BTreeSet<u32>) {
        if self.by_key.len() > there.len() {
            self.by_handle.retain(|handle, _| there.contains(handle));
            self.by_key.retain(|_, handle| there.contains(handle));
        }
    }
}

#[cfg(test)]
mod tests {
    use p4cc_ir::Bits;

    use super::*;

    fn key(value: u128) -> KeyValues {
        vec![(1, Match::Exact(Bits::from_u128(16, value)))]
    }

    #[test]
    fn entries_have_numbers_in_the_order_in_which_they_were_added() {
        let mut handles = Handles::default();
        let first = handles.of(&key(9));
        assert_eq!((handles.of(&key(9)), handles.of(&key(3))), (first, first + 1));
        assert_eq!(handles.of(&key(5)), first + 2);
        handles.forget(&key(9));
        assert_eq!(handles.key(first), None);
        handles.keep(&BTreeSet::from([first + 2]));
        assert_eq!(handles.key(first + 1), None, "an entry that another client deleted is forgotten");
        assert_eq!(handles.of(&key(5)), first + 2);
    }
}
