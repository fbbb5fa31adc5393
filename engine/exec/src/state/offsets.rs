//! The memory layout of the state, as the code generator needs it: offsets of the fields that lookups,
//! counters and registers read.
//!
//! Invariant: these are facts about types, so they hold for every state. Generated code compares an index
//! with the vector's length before it reads an element.

use core::mem::{offset_of, size_of};

use super::hash::Hash;
use super::hashing::HashState;
use super::index::{Dense, Index};
use super::profile::ProfileState;
use super::row::Rows;
use super::table::{Path, TableState};
use super::tuples::{First, Tuples};
use super::{RegisterState, State};
use crate::control::CounterCell;

/// A vector within a structure that is an element of a vector of the state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VectorOffset {
    /// The vector of structures in the state.
    pub list: usize,
    /// Bytes of one structure.
    pub stride: usize,
    /// The vector in the structure.
    pub vector: usize,
}

/// Tag of the index of a table, as an offset in its structure.
pub(crate) const INDEX_TAG: usize = offset_of!(TableState, path) + offset_of!(Path, index);

/// The tag where rows stand by key.
pub(crate) const DENSE_TAG: u64 = Index::DENSE;

/// Rows by key, where the tag says so.
pub(crate) const DENSE: VectorOffset = table(offset_of!(Path, index) + Dense::IN_INDEX + Dense::ROWS);

/// Key of the first of these rows, as an offset in the table's structure.
pub(crate) const DENSE_FIRST: usize = INDEX_TAG + Dense::IN_INDEX + Dense::FIRST;

/// The tag where longest prefixes are searched by tuples.
pub(crate) const TUPLES_TAG: u64 = Index::TUPLES;

/// Pointer to the tuples, where the tag says so, as an offset in the table's structure.
pub(crate) const TUPLES: usize = INDEX_TAG + Index::TUPLES_POINTER;

/// What the search begins with: mask, seed of the hash and
/// number of the best tuple, of 64 bits each; within the tuples.
pub(crate) const FIRST_MASK: usize = Tuples::FIRST + First::MASK;
/// See [`FIRST_MASK`].
pub(crate) const FIRST_SEED: usize = Tuples::FIRST + First::SEED;
/// See [`FIRST_MASK`].
pub(crate) const FIRST_TUPLE: usize = Tuples::FIRST + First::TUPLE;
/// Two words for each place of the hash of keys of one word, a tag and the key: within the tuples.
pub(crate) const HASH_SLOTS: usize = Tuples::HASH + Hash::SLOTS;
/// The mask of its places.
pub(crate) const HASH_MASK: usize = Tuples::HASH + Hash::MASK;
pub(crate) use super::hash::{MULTIPLIER, SPACE_SHIFT};

/// Lists of a profile, each a vector of numbers of rows.
pub(crate) const LISTS: VectorOffset = VectorOffset {
    list: offset_of!(State, profiles),
    stride: size_of::<ProfileState>(),
    vector: ProfileState::LISTS,
};
/// Bytes of a vector.
pub(crate) const LIST_BYTES: usize = size_of::<Vec<u32>>();

/// Words of a table's rows.
pub(crate) const TABLE_ROWS: VectorOffset = table(offset_of!(Path, rows) + Rows::WORDS);

/// Words of a profile's rows.
pub(crate) const PROFILE_ROWS: VectorOffset = VectorOffset {
    list: offset_of!(State, profiles),
    stride: size_of::<ProfileState>(),
    vector: ProfileState::ROWS + Rows::WORDS,
};

/// Cells of a counter.
pub(crate) const COUNTER: VectorOffset =
    VectorOffset { list: offset_of!(State, counters), stride: size_of::<Vec<CounterCell>>(), vector: 0 };

/// Words of a register.
pub(crate) const REGISTER: VectorOffset = VectorOffset {
    list: offset_of!(State, registers),
    stride: size_of::<RegisterState>(),
    vector: offset_of!(RegisterState, words),
};

/// A word within a structure that is an element of a vector of the state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WordOffset {
    /// The vector of structures in the state.
    pub list: usize,
    /// Bytes of one structure.
    pub stride: usize,
    /// The word in the structure.
    pub word: usize,
}

/// Whether a hash function is no more what the program says.
pub(crate) const HASH_IS_CHANGED: WordOffset = WordOffset {
    list: offset_of!(State, hash_objects),
    stride: size_of::<HashState>(),
    word: offset_of!(HashState, is_changed),
};

const fn table(in_path: usize) -> VectorOffset {
    VectorOffset {
        list: offset_of!(State, tables),
        stride: size_of::<TableState>(),
        vector: offset_of!(TableState, path) + in_path,
    }
}

/// Visits the element type of each vector of the state that generated code reads.
pub(crate) trait VectorVisitor {
    /// Generated code reads a `Vec<T>`.
    fn visit<T>(&mut self);
}

/// Shows a visitor every element type whose vectors are named here.
pub(crate) fn visit_vectors(visitor: &mut impl VectorVisitor) {
    visitor.visit::<u32>();
    visitor.visit::<u64>();
    visitor.visit::<CounterCell>();
    visitor.visit::<Vec<CounterCell>>();
    visitor.visit::<RegisterState>();
    visitor.visit::<TableState>();
    visitor.visit::<ProfileState>();
    visitor.visit::<Vec<u32>>();
    visitor.visit::<HashState>();
}
