//! Rows: the action of an entry or member, as words. A head names the action, the words of its arguments
//! follow.
//!
//! Invariant: every row of a table is as long as its longest action needs. A head and its arguments are
//! adjacent, so a lookup reads one place in memory.

use hashbrown::HashTable;
use p4cc_ir::{ActionCall, ActionId, Bits, Program, TableId, bits::words_for};

use super::hash::fold;

use crate::control::{EntryAction, TableEntry};

/// First word of a row, which is also what applying a table gives to native code.
///
/// | bits | meaning |
/// |---|---|
/// | 0-31 | action, [`Head::NO_ACTION`], row of a member or number of a list |
/// | 32 | an entry was hit |
/// | 33 | a list of members, of which a hash chooses one |
/// | 34 | a member |
/// | 35-63 | place of the action in the table's list; the length of the list where there is no action |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head(pub u64);

impl Head {
    /// No action to run.
    pub const NO_ACTION: u64 = u32::MAX as u64;
    /// Set when an entry was hit.
    pub const HIT_BIT: u8 = 32;
    /// Set when the member of a list is still to be chosen.
    pub const LIST_BIT: u8 = 33;
    /// Set for a member.
    pub const MEMBER_BIT: u8 = 34;
    /// Where the place in the table's list starts.
    pub const POSITION_SHIFT: u8 = 35;
    /// Nothing was hit, nothing runs.
    pub const NOTHING: Self = Self(Self::NO_ACTION);

    /// An action of an entry or of a member.
    pub fn hit(action: ActionId, position: u32) -> Self {
        Self::miss(action, position).or(1 << Self::HIT_BIT)
    }

    /// A default action.
    pub fn miss(action: ActionId, position: u32) -> Self {
        Self(u64::from(action.0)).at(position)
    }

    /// A hit that runs nothing: none of a list's members can be used.
    pub fn idle(position: u32) -> Self {
        Self::NOTHING.or(1 << Self::HIT_BIT).at(position)
    }

    /// A member of the table's profile, by its row.
    pub fn member(row: u32) -> Self {
        Self(row.into()).or(1 << Self::HIT_BIT | 1 << Self::MEMBER_BIT)
    }

    /// A group, or an entry's own set, by the number of its list.
    pub fn list(list: u32) -> Self {
        Self(list.into()).or(1 << Self::HIT_BIT | 1 << Self::LIST_BIT)
    }

    /// The same where no entry was hit.
    pub fn missed(self) -> Self {
        Self(self.0 & !(1 << Self::HIT_BIT))
    }

    fn or(self, bits: u64) -> Self {
        Self(self.0 | bits)
    }

    /// The same at another place in a table's list.
    #[inline]
    pub fn at(self, position: u32) -> Self {
        Self(self.0 & ((1 << Self::POSITION_SHIFT) - 1) | u64::from(position) << Self::POSITION_SHIFT)
    }

    /// Whether it names an action, or none, and not something of a profile.
    #[inline]
    pub fn is_final(self) -> bool {
        self.0 & (1 << Self::MEMBER_BIT | 1 << Self::LIST_BIT) == 0
    }

    #[inline]
    pub fn is_list(self) -> bool {
        self.0 >> Self::LIST_BIT & 1 == 1
    }

    #[inline]
    pub fn is_hit(self) -> bool {
        self.0 >> Self::HIT_BIT & 1 == 1
    }

    /// Row of a member, number of a list.
    #[inline]
    pub fn place(self) -> u32 {
        self.0 as u32
    }

    #[inline]
    pub fn action(self) -> Option<ActionId> {
        (self.place() != u32::MAX).then_some(ActionId(self.place()))
    }

    /// Place in the table's list of actions.
    #[inline]
    pub fn position(self) -> u32 {
        (self.0 >> Self::POSITION_SHIFT) as u32
    }
}

/// Rows of one table or profile. Row 0 is there from the start and stays: it is what no entry gives.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    words: Vec<u64>,
    stride: u32,
    free: Vec<u32>,
    /// Where entries share rows.
    sharing: Option<Box<Sharing>>,
}

/// Rows that entries share.
#[derive(Clone, Debug, Default)]
struct Sharing {
    /// By what they hold.
    rows: HashTable<u32>,
    /// By row: entries that share it.
    uses: Vec<u32>,
}

impl Rows {
    /// Place of the words.
    pub const WORDS: usize = core::mem::offset_of!(Self, words);

    /// Words of a row for the arguments of any of these actions.
    pub fn stride(program: &Program, actions: impl Iterator<Item = ActionId>) -> usize {
        let width = |param: &p4cc_ir::ActionParam| words_for(program.vars[param.var.index()].ty.width());
        let words =
            |action: ActionId| program.actions[action.index()].params.iter().map(width).sum::<usize>();
        1 + actions.map(words).max().unwrap_or(0)
    }

    /// Only row 0, in rows for the arguments of any of these actions.
    pub fn new(program: &Program, actions: impl Iterator<Item = ActionId>, first: Head) -> Self {
        let stride = Self::stride(program, actions);
        let mut rows =
            Self { words: vec![0; stride], stride: stride as u32, free: Vec::new(), sharing: None };
        rows.set(0, first, None);
        rows
    }

    /// A row and the words behind its head; where there is none, nothing runs.
    #[inline]
    pub fn get(&self, row: u32) -> (Head, &[u64]) {
        let (at, stride) = (row as usize * self.stride as usize, self.stride as usize);
        match self.words.get(at..at + stride) {
            Some([head, args @ ..]) => (Head(*head), args),
            _ => (Head::NOTHING, &[]),
        }
    }

    /// Writes a row with the arguments of its action.
    pub fn set(&mut self, row: u32, head: Head, call: Option<&ActionCall>) {
        let (at, stride) = (row as usize * self.stride as usize, self.stride as usize);
        let Some(row) = self.words.get_mut(at..at + stride) else { return };
        let args = call.into_iter().flat_map(|call| call.args.iter().flat_map(Bits::words)).copied();
        debug_assert!(args.clone().count() < stride, "an action that the table does not list");
        let all = core::iter::once(head.0).chain(args).chain(core::iter::repeat(0));
        row.iter_mut().zip(all).for_each(|(word, value)| *word = value);
    }

    /// Copies a row to one of its own that says that nothing was hit.
    pub fn copy_missed(&mut self, row: u32) -> u32 {
        let copy = self.take();
        let stride = self.stride as usize;
        let (from, to) = (row as usize * stride, copy as usize * stride);
        self.words.copy_within(from..from + stride, to);
        self.words[to] = Head(self.words[to]).missed().0;
        copy
    }

    /// A row that nobody uses.
    pub fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            let row = self.words.len() / self.stride as usize;
            self.words.resize(self.words.len() + self.stride as usize, 0);
            row as u32
        })
    }

    /// A row that holds this, which all that want the same share: hundreds of routes have a dozen next hops,
    /// whose rows stay in the processor's near caches.
    pub fn share(&mut self, head: Head, call: Option<&ActionCall>) -> u32 {
        let row = self.take();
        self.set(row, head, call);
        let (words, stride) = (&self.words, self.stride as usize);
        let Sharing { rows, uses } = &mut **self.sharing.get_or_insert_default();
        let hash = content_hash(words, stride, row);
        let same = |&other: &u32| content(words, stride, other) == content(words, stride, row);
        if let Some(&other) = rows.find(hash, same) {
            uses[other as usize] += 1;
            self.release(row);
            return other;
        }
        rows.insert_unique(hash, row, |&row| content_hash(words, stride, row));
        uses.resize(uses.len().max(row as usize + 1), 0);
        uses[row as usize] = 1;
        row
    }

    /// Lets go of a shared row.
    pub fn unshare(&mut self, row: u32) {
        let Some(Sharing { rows, uses }) = self.sharing.as_deref_mut() else { return };
        let Some(uses) = uses.get_mut(row as usize) else { return };
        *uses = uses.saturating_sub(1);
        if *uses == 0 {
            let hash = content_hash(&self.words, self.stride as usize, row);
            if let Ok(place) = rows.find_entry(hash, |&other| other == row) {
                place.remove();
            }
            self.release(row);
        }
    }

    /// Gives a row back.
    pub fn release(&mut self, row: u32) {
        self.set(row, Head::NOTHING, None);
        self.free.push(row);
    }
}

fn content(words: &[u64], stride: usize, row: u32) -> &[u64] {
    words.get(row as usize * stride..(row as usize + 1) * stride).unwrap_or_default()
}

fn content_hash(words: &[u64], stride: usize, row: u32) -> u64 {
    content(words, stride, row)
        .iter()
        .fold(0x243f_6a88_85a3_08d3, |hash, word| fold(hash ^ word, 0x9e37_79b9_7f4a_7c15))
}

/// Place of an action in a table's list; the length of the list if it is not there.
pub(crate) fn position(program: &Program, table: TableId, action: ActionId) -> u32 {
    let actions = &program.tables[table.index()].actions;
    actions.iter().position(|other| other.action == action).unwrap_or(actions.len()) as u32
}

/// The action that an entry brings along.
pub(crate) fn direct_call(entry: &TableEntry) -> Option<&ActionCall> {
    match &entry.action {
        EntryAction::Direct(call) => Some(call),
        EntryAction::Member(_) | EntryAction::Group(_) | EntryAction::Set(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Rows {
        Rows { words: vec![0; 2], stride: 2, free: Vec::new(), sharing: None }
    }

    fn call(value: u128) -> ActionCall {
        ActionCall { action: ActionId(3), args: vec![Bits::from_u128(32, value)] }
    }

    #[test]
    fn what_is_the_same_shares_a_row_until_nobody_uses_it() {
        let (mut rows, head) = (rows(), Head::hit(ActionId(3), 1));
        let one = rows.share(head, Some(&call(1)));
        let two = rows.share(head, Some(&call(2)));
        assert_eq!(rows.share(head, Some(&call(1))), one);
        assert_ne!(one, two);
        assert_ne!(rows.share(Head::hit(ActionId(4), 1), Some(&call(1))), one, "another action");
        rows.unshare(one);
        assert_eq!(rows.get(one), (head, &[1][..]), "one user is left");
        rows.unshare(one);
        assert_eq!(rows.get(one), (Head::NOTHING, &[0][..]));
        assert_eq!(rows.share(head, Some(&call(7))), one, "its place is free again");
        assert_eq!((rows.get(one), rows.get(two)), ((head, &[7][..]), (head, &[2][..])));
    }
}
