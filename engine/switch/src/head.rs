//! The stored bytes of a packet, in a buffer that lets headers grow and shrink at its front.

use core::fmt;
use core::ops::{Deref, DerefMut};

/// Head bytes that need no memory of their own: headers of all our programs,
/// with five INT hops, fit. With them a packet takes three lines of the
/// processor's cache, and a head of up to 96 bytes touches two of them.
pub const HEAD_INLINE: usize = 160;

/// Bytes of a head that are taken over whether they are needed or not.
const TAIL: usize = 56;

/// Bytes behind the room that who packs headers may overwrite.
const OVERHANG: usize = 8;

/// Bytes at the head of a packet. They lie at the end of their room,
/// so that a front which grows or shrinks moves nothing behind it.
///
/// Invariant: while `longer` is none, the bytes are those of `room`
/// from `start` on, up to the overhang; else those of `longer`.
#[derive(Clone)]
// In the order of fields: `start` stands behind the last
// byte, so that a short head touches few lines of the cache.
#[repr(C)]
pub struct Head {
    room: [u8; HEAD_INLINE + OVERHANG],
    start: u8,
    longer: Option<Box<Longer>>,
}

/// More bytes than the room takes.
#[derive(Clone)]
struct Longer(Vec<u8>);

impl Longer {
    /// These bytes, with memory for a front that grows as long as a front may be without memory of its own:
    /// what waits in a queue has its frame in front, and would else be moved to twice the memory.
    fn new(bytes: &[u8]) -> Self {
        let mut all = Vec::with_capacity(bytes.len() + HEAD_INLINE);
        all.extend_from_slice(bytes);
        Self(all)
    }

    /// Puts `front` in place of the first `taken` bytes, of which there must be so many.
    fn splice(&mut self, taken: usize, front: &[u8]) {
        match front.len().checked_sub(taken) {
            Some(0) => {}
            Some(more) => {
                self.0.splice(..0, core::iter::repeat_n(0, more));
            }
            None => {
                self.0.drain(..taken - front.len());
            }
        }
        self.0[..front.len()].copy_from_slice(front);
    }
}

impl Head {
    /// These bytes.
    pub fn new(bytes: &[u8]) -> Self {
        let mut head = Self::default();
        head.set(bytes);
        head
    }

    /// So many zero bytes.
    #[inline]
    pub fn set_zeros(&mut self, len: usize) {
        match HEAD_INLINE.checked_sub(len) {
            Some(start) => {
                self.longer = None;
                self.start = start as u8;
                self.room[start..HEAD_INLINE].fill(0);
            }
            None => self.longer = Some(Box::new(Longer(vec![0; len]))),
        }
    }

    /// So many bytes, whatever they are: for who writes them all.
    #[inline]
    pub(crate) fn set_unwritten(&mut self, len: usize) {
        match HEAD_INLINE.checked_sub(len) {
            Some(start) => {
                self.longer = None;
                self.start = start as u8;
            }
            None => self.set_zeros(len),
        }
    }

    /// Keeps the first `len` bytes.
    #[inline]
    pub fn truncate(&mut self, len: usize) {
        if len < self.len() {
            self.cut(len);
        }
    }

    #[cold]
    fn cut(&mut self, len: usize) {
        *self = Self::new(&self[..len]);
    }

    /// Puts bytes between those that are there.
    pub fn insert(&mut self, at: usize, bytes: &[u8]) {
        let all = [&self[..at], bytes, &self[at..]].concat();
        *self = Self::new(&all);
    }

    /// Puts `front` in place of the first `taken` bytes, of which there must be so many.
    #[inline]
    pub(crate) fn splice(&mut self, taken: usize, front: &[u8]) {
        let rest = usize::from(self.start) + taken;
        match rest.checked_sub(front.len()) {
            Some(start) if self.longer.is_none() => {
                self.room[start..rest].copy_from_slice(front);
                self.start = start as u8;
            }
            _ => self.splice_longer(taken, front),
        }
    }

    #[cold]
    fn splice_longer(&mut self, taken: usize, front: &[u8]) {
        match &mut self.longer {
            Some(longer) if longer.0.len() - taken + front.len() > HEAD_INLINE => {
                longer.splice(taken, front);
            }
            _ => self.set(&[front, &self[taken..]].concat()),
        }
    }

    /// These bytes, in the memory that there is if it does.
    pub(crate) fn set(&mut self, bytes: &[u8]) {
        match (HEAD_INLINE.checked_sub(bytes.len()), &mut self.longer) {
            (Some(start), _) => {
                self.longer = None;
                self.start = start as u8;
                self.room[start..HEAD_INLINE].copy_from_slice(bytes);
            }
            (None, Some(longer)) => {
                longer.0.clear();
                longer.0.extend_from_slice(bytes);
            }
            (None, None) => self.longer = Some(Box::new(Longer::new(bytes))),
        }
    }

    /// The room for bytes, and what may be overwritten behind it.
    #[inline]
    pub(crate) fn room(&mut self) -> &mut [u8] {
        &mut self.room
    }

    /// Takes over the last bytes of another head, which stand where they
    /// will stand here, before others are written in front of them.
    #[inline]
    pub(crate) fn take_tail(&mut self, from: &Self) {
        // As arrays of a known length they move without a call.
        let (to, from) = (self.room.last_chunk_mut(), from.room.last_chunk::<{ TAIL + OVERHANG }>());
        if let (Some(to), Some(from)) = (to, from) {
            *to = *from;
        }
    }

    /// So many bytes that were written to the room behind
    /// [`Self::take_tail`], in place of so many of the other head.
    #[inline(always)]
    pub(crate) fn set_written(&mut self, written: usize, from: &Self, taken: usize) {
        if self.longer.is_some() {
            self.longer = None;
        }
        let rest = match &from.longer {
            None => HEAD_INLINE - usize::from(from.start) - taken,
            Some(longer) => longer.0.len() - taken,
        };
        let at = HEAD_INLINE - rest;
        if rest > TAIL || from.longer.is_some() {
            self.room[at..HEAD_INLINE].copy_from_slice(&from[taken..]);
        } else {
            // The last header that was written may have overwritten what begins here.
            self.room[at..at + OVERHANG].copy_from_slice(&from.room[at..at + OVERHANG]);
        }
        self.start = (HEAD_INLINE - rest - written) as u8;
    }

    /// Bytes of memory beside its own room.
    pub(crate) fn memory_beside(&self) -> usize {
        self.longer.as_ref().map_or(0, |longer| longer.0.capacity())
    }
}

impl Default for Head {
    fn default() -> Self {
        Self { room: [0; HEAD_INLINE + OVERHANG], start: HEAD_INLINE as u8, longer: None }
    }
}

impl Deref for Head {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match &self.longer {
            None => &self.room[usize::from(self.start)..HEAD_INLINE],
            Some(longer) => &longer.0,
        }
    }
}

impl DerefMut for Head {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        match &mut self.longer {
            None => &mut self.room[usize::from(self.start)..HEAD_INLINE],
            Some(longer) => &mut longer.0,
        }
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Head {}

impl fmt::Debug for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Headers are packed eight bytes at a time, so that one
    /// of seven bytes writes one byte of what follows it.
    #[test]
    fn what_follows_a_written_head_is_as_it_was() {
        for rest in [0_usize, 1, 4, 8, TAIL - 1, TAIL, TAIL + 1] {
            let bytes: Vec<u8> = (0..7 + rest as u8).map(|byte| byte + 1).collect();
            let from = Head::new(&bytes);
            let mut head = Head::new(&[9; 40]);
            head.take_tail(&from);
            let at = HEAD_INLINE - rest - 7;
            head.room()[at..at + OVERHANG].copy_from_slice(&[7, 7, 7, 7, 7, 7, 7, 0]);
            head.set_written(7, &from, 7);
            assert_eq!(&head[..], [&[7; 7], &bytes[7..]].concat(), "{rest} bytes behind");
        }
    }

    proptest! {
        /// Whatever fronts come and go, in the room and beyond it, the bytes are those of a vector.
        #[test]
        fn bytes_are_those_of_a_vector(
            first in prop::collection::vec(any::<u8>(), 0..200),
            steps in prop::collection::vec((any::<prop::sample::Index>(), prop::collection::vec(any::<u8>(), 0..200), 0_u8..6), 0..20),
        ) {
            let (mut head, mut model) = (Head::new(&first), first);
            for (at, bytes, action) in steps {
                let at = at.index(model.len() + 1);
                match action {
                    0 => {
                        head.truncate(at);
                        model.truncate(at);
                    }
                    1 => {
                        head.insert(at, &bytes);
                        model.splice(at..at, bytes);
                    }
                    2 if bytes.len() > 150 => {
                        head.set_zeros(bytes.len());
                        model = vec![0; bytes.len()];
                    }
                    2 => {
                        head.set(&bytes);
                        model = bytes;
                    }
                    _ => {
                        head.splice(at, &bytes);
                        model.splice(..at, bytes);
                    }
                }
                prop_assert_eq!(&head[..], &model[..]);
                prop_assert_eq!(&head, &Head::new(&model));
            }
        }
    }
}
