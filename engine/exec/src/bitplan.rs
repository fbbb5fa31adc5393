//! Packing plans, made at load: they move fields between the frame and packed big-endian bytes.
//!
//! A plan divides the packed form into chunks of at most eight bytes. A chunk begins and ends on a byte
//! boundary. It moves with one load or store, and a shift and a mask for each field. A plan without such a
//! division uses a bit cursor.

use crate::PacketView;
use crate::frame_layout::FrameLocation;

/// A slice of a field: up to 64 bits of one word of the frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FieldSlice {
    /// Word of the frame.
    pub slot: u32,
    /// Bits of it, from the low end.
    pub width: u8,
    /// Place in the loaded word, from the low end.
    pub load_shift: u8,
    /// Place in the stored chunk, from the low end of eight bytes.
    pub store_shift: u8,
}

/// Bytes that move together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunk {
    /// First byte of the eight loaded, or of the short whole.
    pub load_from: u32,
    /// First byte of the chunk.
    pub store_from: u32,
    /// Slices before this index and not in earlier chunks.
    end: u32,
}

/// How a list of fields is packed.
#[derive(Debug)]
pub(crate) struct BitPlan {
    /// Bits in all, without padding.
    pub bits: u32,
    /// Bytes in all, rounded up.
    pub bytes: u32,
    slices: Vec<FieldSlice>,
    /// Empty when the bit cursor is needed.
    chunks: Vec<Chunk>,
}

/// Splits a value into slices of one word each, highest first.
pub(crate) fn slices_of(place: FrameLocation) -> impl Iterator<Item = (u32, u8)> {
    let words = place.width.div_ceil(64);
    (0..words).rev().map(move |word| {
        let width = (place.width - word * 64).min(64);
        (place.value() + word, width as u8)
    })
}

impl BitPlan {
    /// A plan for fields in order; `pad` fills the last byte with zeros, as
    /// hash inputs want, else bits past a whole byte force the bit cursor.
    pub fn new(fields: impl Iterator<Item = FrameLocation>, pad: bool) -> Self {
        let mut slices: Vec<FieldSlice> = fields
            .flat_map(slices_of)
            .map(|(slot, width)| FieldSlice { slot, width, load_shift: 0, store_shift: 0 })
            .collect();
        let bits = slices.iter().map(|slice| u32::from(slice.width)).sum::<u32>();
        let bytes = bits.div_ceil(8);
        let whole = bits.is_multiple_of(8) || pad;
        let chunks = if whole { chunks_of(&mut slices, bytes).unwrap_or_default() } else { Vec::new() };
        Self { bits, bytes, slices, chunks }
    }

    /// Whether chunks cover the plan.
    pub fn is_chunked(&self) -> bool {
        !self.chunks.is_empty()
    }

    /// Words of the frame and their widths, in order.
    pub fn words(&self) -> impl Iterator<Item = (u32, u8)> + '_ {
        self.slices.iter().map(|slice| (slice.slot, slice.width))
    }

    /// The chunks with their slices.
    pub fn chunks(&self) -> impl Iterator<Item = (&Chunk, &[FieldSlice])> {
        let starts = core::iter::once(0).chain(self.chunks.iter().map(|chunk| chunk.end as usize));
        self.chunks.iter().zip(starts).map(|(chunk, start)| (chunk, &self.slices[start..chunk.end as usize]))
    }

    /// Reads the fields from `packet` at bit `at`; the caller has checked the length.
    #[inline]
    pub fn load(&self, packet: PacketView<'_>, at: u64, slots: &mut [u64]) {
        let from = (at / 8) as usize;
        match packet.bytes.get(from..from + self.bytes as usize) {
            Some(bytes) if at.is_multiple_of(8) && self.is_chunked() => self.load_chunks(bytes, slots),
            _ => self.load_bits(packet, at, slots),
        }
    }

    #[inline]
    fn load_chunks(&self, bytes: &[u8], slots: &mut [u64]) {
        let mut first = 0;
        for chunk in &self.chunks {
            let from = chunk.load_from as usize;
            let word = match bytes.get(from..from + 8).and_then(|eight| eight.try_into().ok()) {
                Some(eight) => u64::from_be_bytes(eight),
                None => bytes.iter().fold(0, |word, &byte| word << 8 | u64::from(byte)),
            };
            let end = chunk.end as usize;
            for slice in &self.slices[first..end] {
                slots[slice.slot as usize] = (word >> slice.load_shift) & (u64::MAX >> (64 - slice.width));
            }
            first = end;
        }
    }

    fn load_bits(&self, packet: PacketView<'_>, mut at: u64, slots: &mut [u64]) {
        for slice in &self.slices {
            slots[slice.slot as usize] = read_bits(packet, at, u32::from(slice.width));
            at += u64::from(slice.width);
        }
    }

    /// Appends the packed fields to `out`.
    #[inline]
    pub fn store(&self, slots: &[u64], out: &mut BitWriter<'_>) {
        if self.is_chunked() && out.spare == 0 {
            self.store_chunks(slots, out.bytes);
        } else {
            for slice in &self.slices {
                out.put(slots[slice.slot as usize], u32::from(slice.width));
            }
        }
    }

    #[inline]
    fn store_chunks(&self, slots: &[u64], out: &mut Vec<u8>) {
        let base = out.len();
        let len = self.bytes as usize;
        // Each chunk writes eight bytes; what hangs over is
        // overwritten by the next one or cut off at the end.
        out.resize(base + len + 8, 0);
        let mut first = 0;
        for chunk in &self.chunks {
            let end = chunk.end as usize;
            let word = self.slices[first..end]
                .iter()
                .fold(0, |word, slice| word | slots[slice.slot as usize] << slice.store_shift);
            let from = base + chunk.store_from as usize;
            if let Some(to) = out.get_mut(from..from + 8) {
                to.copy_from_slice(&u64::to_be_bytes(word));
            }
            first = end;
        }
        out.truncate(base + len);
    }
}

/// Divides slices into chunks; `None` if 64 consecutive bits have no byte boundary between slices.
fn chunks_of(slices: &mut [FieldSlice], bytes: u32) -> Option<Vec<Chunk>> {
    let mut chunks = Vec::new();
    let (mut first, mut from) = (0, 0);
    while first < slices.len() {
        let mut bits = 0;
        let mut best = None;
        for (i, slice) in slices.iter().enumerate().skip(first) {
            bits += u32::from(slice.width);
            if bits > 64 {
                break;
            }
            if bits.is_multiple_of(8) || i + 1 == slices.len() {
                best = Some((i + 1, bits));
            }
        }
        let (end, bits) = best?;
        // A chunk near the end is loaded by the last eight bytes, so that a load never leaves the fields.
        let load_from = from.min(bytes.saturating_sub(8));
        let loaded_end = (load_from + 8).min(bytes) * 8;
        let mut position = from * 8;
        for slice in &mut slices[first..end] {
            position += u32::from(slice.width);
            slice.load_shift = (loaded_end - position) as u8;
            slice.store_shift = (64 - (position - from * 8)) as u8;
        }
        chunks.push(Chunk { load_from, store_from: from, end: end as u32 });
        from += bits.div_ceil(8);
        first = end;
    }
    Some(chunks)
}

/// Up to 64 bits of a packet at bit `at`; bits past the stored bytes are zero.
pub(crate) fn read_bits(packet: PacketView<'_>, at: u64, width: u32) -> u64 {
    let byte = |i: u64| packet.bytes.get(i as usize).map_or(0, |&byte| u128::from(byte));
    let first = at / 8;
    let last = (at + u64::from(width)).div_ceil(8);
    let word = (first..last).fold(0u128, |word, i| word << 8 | byte(i));
    let below = last * 8 - (at + u64::from(width));
    if width == 0 { 0 } else { ((word >> below) as u64) & (u64::MAX >> (64 - width)) }
}

/// Appends bits, highest first.
pub(crate) struct BitWriter<'a> {
    /// Whole bytes and, at the end, a byte with `spare` free low bits.
    pub bytes: &'a mut Vec<u8>,
    /// Free bits of the last byte.
    pub spare: u32,
}

impl<'a> BitWriter<'a> {
    pub fn new(bytes: &'a mut Vec<u8>) -> Self {
        Self { bytes, spare: 0 }
    }

    /// Appends the low `width` bits of `value`.
    pub fn put(&mut self, value: u64, width: u32) {
        let mut left = width;
        while left > 0 {
            if self.spare == 0 {
                self.bytes.push(0);
                self.spare = 8;
            }
            let take = left.min(self.spare);
            left -= take;
            let part = (value >> left) & ((1 << take) - 1);
            self.spare -= take;
            if let Some(last) = self.bytes.last_mut() {
                *last |= (part << self.spare) as u8;
            }
        }
    }
}
