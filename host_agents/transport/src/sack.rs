//! The blocks of a selective acknowledgement (RFC2018): what arrived above the next byte expected.

use crate::wire::{Extension, ExtensionType};

/// Most blocks in one ACK: what TCP's option space has room for (RFC2018).
pub const MAX_SACK_BLOCKS: usize = 4;
/// Two 32-bit positions.
const BLOCK_BYTES: usize = 8;

/// Up to four ranges of bytes, each by the low 32 bits of its first position and of the one past its last;
/// the range that the newest packet lies in comes first.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct SackBlocks {
    blocks: [(u32, u32); MAX_SACK_BLOCKS],
    len: u8,
}

impl SackBlocks {
    /// No block.
    pub const NONE: Self = Self { blocks: [(0, 0); MAX_SACK_BLOCKS], len: 0 };

    /// Whether there is no block.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The blocks, newest first.
    #[inline]
    pub const fn as_slice(&self) -> &[(u32, u32)] {
        self.blocks.split_at(self.len as usize).0
    }

    /// The first `most` blocks, `offset` added to their positions.
    #[inline]
    pub(crate) fn shifted(&self, offset: u32, most: usize) -> Self {
        let mut blocks = Self::NONE;
        for (start, end) in self.as_slice().iter().take(most) {
            blocks.push(start.wrapping_add(offset), end.wrapping_add(offset));
        }
        blocks
    }

    /// Adds a block; false if there is no room.
    pub fn push(&mut self, start: u32, end: u32) -> bool {
        let Some(place) = self.blocks.get_mut(usize::from(self.len)) else { return false };
        *place = (start, end);
        self.len += 1;
        true
    }

    /// The bytes of the extension that carries the blocks.
    pub fn to_wire(&self) -> SackBytes {
        let mut bytes = [0; MAX_SACK_BLOCKS * BLOCK_BYTES];
        for (place, (start, end)) in bytes.chunks_exact_mut(BLOCK_BYTES).zip(self.as_slice()) {
            place[..4].copy_from_slice(&start.to_be_bytes());
            place[4..].copy_from_slice(&end.to_be_bytes());
        }
        SackBytes { bytes, len: usize::from(self.len) * BLOCK_BYTES }
    }

    /// The blocks in an extension; none if it holds something else.
    #[inline]
    pub(crate) fn from_wire(extension: &Extension<'_>) -> Self {
        if extension.kind == ExtensionType::SACK { Self::read(extension.bytes) } else { Self::NONE }
    }

    #[cold]
    fn read(bytes: &[u8]) -> Self {
        let mut blocks = Self::NONE;
        for block in bytes.chunks_exact(BLOCK_BYTES) {
            let number = |at: usize| block[at..at + 4].iter().fold(0, |n, byte| n << 8 | u32::from(*byte));
            blocks.push(number(0), number(4));
        }
        blocks
    }

    /// Whether an extension of this type can have this length.
    #[inline]
    pub(crate) const fn is_length_valid(len: usize) -> bool {
        len.is_multiple_of(BLOCK_BYTES) && len > 0 && len <= MAX_SACK_BLOCKS * BLOCK_BYTES
    }
}

/// SACK blocks as bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SackBytes {
    bytes: [u8; MAX_SACK_BLOCKS * BLOCK_BYTES],
    len: usize,
}

impl SackBytes {
    /// The extension; none for no block.
    pub fn extension(&self) -> Extension<'_> {
        match &self.bytes[..self.len] {
            [] => Extension::NONE,
            bytes => Extension { kind: ExtensionType::SACK, bytes },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_survive_the_wire() {
        let mut blocks = SackBlocks::NONE;
        assert_eq!(blocks.to_wire().extension(), Extension::NONE);
        for i in 0..4 {
            assert!(blocks.push(i * 100, u32::MAX - i));
            assert_eq!(SackBlocks::from_wire(&blocks.to_wire().extension()), blocks);
        }
        assert!(!blocks.push(1, 2));
        assert_eq!(blocks.as_slice().len(), 4);
        assert_eq!([0, 4, 8, 32, 40].map(SackBlocks::is_length_valid), [false, false, true, true, false]);
    }
}
