//! A packet: stored bytes at its head, then a number of zero bytes.
//!
//! Payload is zeros by definition, so a 1,500 byte packet takes about 80 bytes. A packet moves about a dozen
//! times per switch between links and queues, so a packet is a pointer. [`PacketPool`] reuses the memory of
//! packets that are gone.
//!
//! Invariant: the packet on the wire is `head` followed by `zeros` zero bytes, and never longer than
//! [`MAX_PACKET_BYTES`].

use core::ops::{Deref, DerefMut};

pub use crate::head::{HEAD_INLINE, Head};

/// Longest packet that a switch takes, in bytes; longer ones are dropped and counted.
pub const MAX_PACKET_BYTES: u32 = 65_535;

/// A packet: a pointer to its [`Content`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packet(Box<Content>);

/// What a packet is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
// In the order of fields: the head ends in the last line, beside what says where it starts.
#[repr(C, align(64))]
pub struct Content {
    /// Real bytes, from the first.
    pub head: Head,
    /// Zero bytes that follow.
    pub zeros: u32,
}

impl Packet {
    /// A packet of `head` followed by `zeros` zero bytes.
    pub fn new(head: &[u8], zeros: u32) -> Self {
        Self(Box::new(Content { head: Head::new(head), zeros }))
    }
}

impl Deref for Packet {
    type Target = Content;

    #[inline]
    fn deref(&self) -> &Content {
        &self.0
    }
}

impl DerefMut for Packet {
    #[inline]
    fn deref_mut(&mut self) -> &mut Content {
        &mut self.0
    }
}

/// Packets that are gone, for their memory: a run in a steady state asks the allocator for none.
#[derive(Debug)]
pub struct PacketPool {
    spare: Vec<Packet>,
    most: usize,
}

/// Most packets that a pool keeps unless it says otherwise; more are freed.
const MAX_SPARE_PACKETS: usize = 1 << 16;
/// Most bytes beside its own room that a packet keeps: an Ethernet frame.
const MAX_SPARE_BYTES: usize = 2_048;

impl Default for PacketPool {
    fn default() -> Self {
        Self::keeping(MAX_SPARE_PACKETS)
    }
}

impl PacketPool {
    /// A pool that keeps so many packets at most.
    pub const fn keeping(most: usize) -> Self {
        Self { spare: Vec::new(), most }
    }

    /// A packet of these bytes.
    #[inline]
    pub fn take_with(&mut self, bytes: &[u8]) -> Packet {
        let mut packet = self.spare.pop().unwrap_or_default();
        packet.head.set(bytes);
        packet.zeros = 0;
        packet
    }

    /// A packet of `head_bytes` zero bytes in its head and `zeros` behind it.
    #[inline]
    pub fn take(&mut self, head_bytes: usize, zeros: u32) -> Packet {
        let mut packet = self.spare.pop().unwrap_or_default();
        packet.head.set_zeros(head_bytes);
        packet.zeros = zeros;
        packet
    }

    /// The same with whatever its head held before: for who writes all of it.
    #[inline]
    pub fn take_unwritten(&mut self, head_bytes: usize, zeros: u32) -> Packet {
        let mut packet = self.spare.pop().unwrap_or_default();
        packet.head.set_unwritten(head_bytes);
        packet.zeros = zeros;
        packet
    }

    /// Keeps the memory of a packet that is gone.
    #[inline]
    pub fn give(&mut self, packet: Packet) {
        if self.spare.len() < self.most && packet.head.memory_beside() <= MAX_SPARE_BYTES {
            self.spare.push(packet);
        }
    }
}

impl Content {
    /// Length in bytes.
    #[inline]
    pub fn len(&self) -> u32 {
        u32::try_from(self.head.len()).unwrap_or(u32::MAX).saturating_add(self.zeros)
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Cuts it to at most `len` bytes.
    #[inline]
    pub fn truncate(&mut self, len: u32) {
        let head = self.head.len();
        if (len as usize) < head {
            self.head.truncate(len as usize);
            self.zeros = 0;
        } else {
            self.zeros = self.zeros.min(len - head as u32);
        }
    }

    /// All bytes, the zeros written out.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut bytes = self.head.to_vec();
        bytes.resize(self.len() as usize, 0);
        bytes
    }

    /// Puts `front` in place of the first `taken` bytes. `taken` may reach into the zeros.
    #[inline]
    pub(crate) fn replace_front(&mut self, taken: u32, front: &[u8]) {
        let from_head = self.head.len().min(taken as usize);
        self.zeros = self.zeros.saturating_sub(taken - from_head as u32);
        self.head.splice(from_head, front);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_three_lines_of_the_cache() {
        assert_eq!((size_of::<Content>(), align_of::<Content>()), (192, 64));
    }

    #[test]
    fn truncation_takes_zeros_first() {
        let mut packet = Packet::new(&[1, 2, 3, 4], 10);
        packet.truncate(20);
        assert_eq!(packet.len(), 14);
        packet.truncate(6);
        assert_eq!((packet.head.len(), packet.zeros), (4, 2));
        packet.truncate(3);
        assert_eq!(packet.to_vec(), [1, 2, 3]);
    }

    #[test]
    fn a_pool_gives_packets_of_zeros_whatever_they_held() {
        let mut pool = PacketPool::default();
        for (held, asked) in [(7, 3), (3, 7), (HEAD_INLINE + 9, HEAD_INLINE + 5)] {
            pool.give(Packet::new(&vec![0xff; held], 9));
            let packet = pool.take(asked, 2);
            assert_eq!((packet.head.to_vec(), packet.zeros), (vec![0; asked], 2));
            assert!(pool.spare.is_empty());
            pool.give(Packet::new(&vec![0xff; held], 9));
            let bytes: Vec<u8> = (0..asked).map(|at| at as u8).collect();
            assert_eq!(pool.take_with(&bytes).to_vec(), bytes);
        }
    }

    #[test]
    fn a_pool_keeps_so_many_packets_and_so_much_memory() {
        let mut pool = PacketPool::keeping(2);
        for bytes in [MAX_SPARE_BYTES + 1, 1_500, 60, 60] {
            pool.give(Packet::new(&vec![1; bytes], 0));
        }
        assert_eq!(pool.spare.len(), 2);
    }

    #[test]
    fn a_new_front_may_be_shorter_equal_or_longer() {
        for front in [&[9u8][..], &[9, 8], &[9, 8, 7]] {
            let mut packet = Packet::new(&[1, 2, 3], 2);
            packet.replace_front(2, front);
            let mut want = front.to_vec();
            want.extend([3, 0, 0]);
            assert_eq!(packet.to_vec(), want);
        }
    }

    #[test]
    fn a_front_taken_out_of_the_zeros_shortens_them() {
        let mut packet = Packet::new(&[1, 2], 5);
        packet.replace_front(4, &[7]);
        assert_eq!(packet.to_vec(), [7, 0, 0, 0]);
    }
}
