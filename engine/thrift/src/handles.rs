//! Handles: numbers by which BMv2's calls name entries.
//!
//! The switch knows an entry by its key and priority. A handle is given when an entry is first seen here,
//! whoever added it, and never again to another entry of the same program.

use std::collections::BTreeMap;

use p4cc_ir::{MatchValue, TableId};

/// What the switch knows an entry by.
pub(crate) type Identity = (Vec<MatchValue>, u32);

#[derive(Default)]
struct OfTable {
    by_handle: BTreeMap<i32, Identity>,
    by_identity: BTreeMap<Identity, i32>,
    next: i32,
}

/// Handles of a program's entries.
#[derive(Default)]
pub(crate) struct Handles {
    tables: BTreeMap<TableId, OfTable>,
}

impl Handles {
    /// The handle of an entry that is there.
    pub fn of(&mut self, table: TableId, identity: &Identity) -> i32 {
        let of = self.tables.entry(table).or_default();
        if let Some(&handle) = of.by_identity.get(identity) {
            return handle;
        }
        let handle = of.next;
        of.next = of.next.saturating_add(1);
        of.by_handle.insert(handle, identity.clone());
        of.by_identity.insert(identity.clone(), handle);
        handle
    }

    /// The entry of a handle, which may be gone.
    pub fn identity(&self, table: TableId, handle: i32) -> Option<Identity> {
        self.tables.get(&table)?.by_handle.get(&handle).cloned()
    }

    /// Forgets entries that are gone: keeps memory in proportion to the table.
    pub fn retain(&mut self, table: TableId, is_there: impl Fn(&Identity) -> bool) {
        let Some(of) = self.tables.get_mut(&table) else { return };
        of.by_handle.retain(|_, identity| is_there(identity));
        of.by_identity.retain(|identity, _| is_there(identity));
    }

    /// Forgets an entry.
    pub fn forget(&mut self, table: TableId, handle: i32) {
        let Some(of) = self.tables.get_mut(&table) else { return };
        if let Some(identity) = of.by_handle.remove(&handle) {
            of.by_identity.remove(&identity);
        }
    }
}
