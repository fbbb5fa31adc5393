//! Numbers that clients may use in the place of keys, and the order in which entries were added.

use std::collections::BTreeMap;

use crate::fields::{Match, Row};

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

    /// Puts all entries of a table into the order in which they were added. What is not among them is gone.
    pub fn sort(&mut self, rows: &mut [Row]) {
        if self.by_key.len() > rows.len() {
            let there: std::collections::BTreeSet<&KeyValues> =
                rows.iter().filter_map(|row| row.key.as_ref()).collect();
            self.by_key.retain(|key, _| there.contains(key));
            let by_key = &self.by_key;
            self.by_handle.retain(|_, key| by_key.contains_key(key));
        }
        rows.sort_by_cached_key(|row| row.key.as_ref().map_or(u32::MAX, |key| self.of(key)));
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
    fn entries_come_in_the_order_in_which_they_were_added() {
        let mut handles = Handles::default();
        let first = handles.of(&key(9));
        assert_eq!((handles.of(&key(9)), handles.of(&key(3))), (first, first + 1));
        let row = |value| Row { key: Some(key(value)), ..Row::default() };
        let mut rows = [row(3), row(5), row(9)];
        handles.sort(&mut rows);
        assert_eq!(rows, [row(9), row(3), row(5)]);
        handles.forget(&key(9));
        assert_eq!(handles.key(first), None);
        let mut rows = [row(5)];
        handles.sort(&mut rows);
        assert_eq!(handles.key(first + 1), None, "an entry that another client deleted is forgotten");
    }
}
