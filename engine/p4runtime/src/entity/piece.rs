//! Reads in pieces: a read of any size is answered by messages that each hold little, and remembers in
//! between how far it is.

use prost::Message;

use crate::proto::p4::v1 as p4;
use p4::entity::Entity as Of;

/// Encoded bytes of a message after which a read goes to the next; one entity may be longer.
const PIECE_BYTES: usize = 128 << 10;
/// Most entities of one message.
const PIECE_ENTITIES: usize = 2_048;
/// Entries and cells that are looked at for one message, whether they are wanted or not.
const PIECE_LOOKS: usize = 1 << 16;
/// Most entities for one who takes all at once.
pub(crate) const MAX_WHOLE_ENTITIES: usize = 1 << 20;
/// What an entity costs within a message beside its own bytes: the tag and the length.
const FIELD_BYTES: usize = 4;

/// One message of a read in the making.
#[derive(Debug, Default)]
pub(crate) struct Piece {
    pub(crate) entities: Vec<p4::Entity>,
    bytes: usize,
    looks: usize,
    /// It is for one who takes all at once.
    is_whole: bool,
}

impl Piece {
    /// A piece for one who takes all at once.
    pub(crate) fn whole() -> Self {
        Self { is_whole: true, ..Self::default() }
    }

    /// Whether the next entity belongs into another message.
    pub(crate) fn is_full(&self) -> bool {
        if self.is_whole {
            return self.entities.len() >= MAX_WHOLE_ENTITIES;
        }
        self.bytes >= PIECE_BYTES || self.entities.len() >= PIECE_ENTITIES || self.looks >= PIECE_LOOKS
    }

    /// Counts something that was looked at.
    pub(crate) fn look(&mut self) {
        self.looks += 1;
    }

    /// Adds an entity.
    pub(crate) fn push(&mut self, entity: Of) {
        let entity = p4::Entity { entity: Some(entity) };
        self.bytes += entity.encoded_len() + FIELD_BYTES;
        self.entities.push(entity);
    }
}

/// How far the read of one entity of a request is.
#[derive(Debug, Default)]
pub(crate) struct Cursor {
    /// Place among the tables, arrays or profiles that are read.
    object: usize,
    /// Place within it: a cell, or the place of a row, member or group in their order.
    at: usize,
    /// Numbers of the table's rows in the order in which they are read; none before its first.
    rows: Option<Vec<u32>>,
}

impl Cursor {
    /// Place among the objects that are read.
    pub(crate) fn object(&self) -> usize {
        self.object
    }

    /// Place within the object.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Goes past one cell or row.
    pub(crate) fn advance(&mut self) {
        self.at += 1;
    }

    /// Goes to the next table, array or profile.
    pub(crate) fn next_object(&mut self) {
        *self = Self { object: self.object + 1, at: 0, rows: None };
    }

    /// The next row of the table that is read, whose rows `all` numbers in order.
    pub(crate) fn row(&mut self, all: impl FnOnce() -> Vec<u32>) -> Option<u32> {
        self.rows.get_or_insert_with(all).get(self.at).copied()
    }

    /// What it takes of memory.
    pub(crate) fn bytes(&self) -> usize {
        self.rows.as_ref().map_or(0, |rows| rows.len() * size_of::<u32>())
    }
}

/// Whether a read of one entity is through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    Done,
    /// The piece is full.
    More,
}
