//! Snapshots: chosen variables and valid headers of a frame as bytes. A packet waits in this form between
//! ingress and egress.
//!
//! A frame has a word for every field, a kilobyte for a small program. Packed, headers take as many bytes as
//! on the wire. A snapshot holds one validity bit for each header, the metadata, then the fields of the valid
//! headers in order. Each group of fields starts on a byte. A varbit follows its group: its length in four
//! bytes, then as many whole words as hold it.
//!
//! Invariant: restoring into a frame that was reset gives every kept variable its saved value. Fields of
//! invalid headers read as zero (P4 leaves them undefined).

use std::collections::BTreeSet;

use p4cc_ir::{HeaderId, Program, VarId};

use crate::bitplan::{BitPlan, BitWriter};
use crate::env::PacketView;
use crate::frame_layout::{FrameLocation, Layout};
use crate::{Frame, Pipeline};

/// What is kept of a frame, and how. Usable only with frames of the pipeline it was made from.
#[derive(Debug)]
pub struct Snapshot {
    validity_bytes: usize,
    metadata: Group,
    headers: Vec<Header>,
}

#[derive(Debug)]
struct Header {
    /// Word that says whether it is valid.
    valid: u32,
    fields: Group,
}

/// The layout of a snapshot without varbits.
pub(crate) struct Packing<'a> {
    /// Bytes of validity bits, the first header's lowest.
    pub validity_bytes: u32,
    /// What follows them.
    pub metadata: &'a BitPlan,
    /// For each header its validity word, and its fields if it is valid.
    pub headers: Vec<(u32, &'a BitPlan)>,
}

/// Variables that are kept or left out together.
#[derive(Debug)]
struct Group {
    plan: BitPlan,
    varbits: Vec<FrameLocation>,
}

impl Snapshot {
    /// Keeps this metadata and these headers; fields of the
    /// headers that stand among the metadata are kept once.
    pub fn of(pipeline: &Pipeline, metadata: &[VarId], headers: &[HeaderId]) -> Self {
        Self::with(pipeline.program(), &pipeline.code().layout, metadata, headers)
    }

    /// The same before there is a pipeline.
    pub(crate) fn with(program: &Program, layout: &Layout, metadata: &[VarId], headers: &[HeaderId]) -> Self {
        let all = &program.headers;
        let fields = |header: HeaderId| all.get(header.index()).map_or(&[][..], |header| &header.fields);
        let in_headers: BTreeSet<VarId> =
            headers.iter().flat_map(|&header| fields(header)).copied().collect();
        let alone = metadata.iter().filter(|var| !in_headers.contains(var));
        let group = |&header: &HeaderId| Header {
            valid: layout.valid(header),
            fields: Group::new(fields(header).iter().map(|&var| layout.var(var))),
        };
        Self {
            validity_bytes: headers.len().div_ceil(8),
            metadata: Group::new(alone.map(|&var| layout.var(var))),
            headers: headers.iter().map(group).collect(),
        }
    }

    /// The layout for who packs by other means; none where a varbit is kept or a group needs the bit cursor.
    pub(crate) fn packing(&self) -> Option<Packing<'_>> {
        let plain =
            |group: &Group| group.varbits.is_empty() && (group.plan.is_chunked() || group.plan.bits == 0);
        if !plain(&self.metadata) || !self.headers.iter().all(|header| plain(&header.fields)) {
            return None;
        }
        Some(Packing {
            validity_bytes: self.validity_bytes as u32,
            metadata: &self.metadata.plan,
            headers: self.headers.iter().map(|header| (header.valid, &header.fields.plan)).collect(),
        })
    }

    /// Appends the kept part of a frame to `out`.
    pub fn save(&self, frame: &Frame, out: &mut Vec<u8>) {
        let slots = &frame.slots[..];
        let validity = out.len();
        out.resize(validity + self.validity_bytes, 0);
        self.metadata.save(slots, out);
        for (i, header) in self.headers.iter().enumerate() {
            if slots[header.valid as usize] != 0 {
                out[validity + i / 8] |= 1 << (i % 8);
                header.fields.save(slots, out);
            }
        }
    }

    /// Takes what [`Self::save`] appended into a frame that was reset. Bytes that are missing read as zero.
    pub fn restore(&self, saved: &[u8], frame: &mut Frame) {
        let slots = &mut frame.slots[..];
        let mut at = self.validity_bytes;
        self.metadata.restore(saved, &mut at, slots);
        for (i, header) in self.headers.iter().enumerate() {
            if saved.get(i / 8).is_some_and(|byte| byte >> (i % 8) & 1 == 1) {
                slots[header.valid as usize] = 1;
                header.fields.restore(saved, &mut at, slots);
            }
        }
    }
}

impl Group {
    fn new(places: impl Iterator<Item = FrameLocation>) -> Self {
        let (varbits, fixed): (Vec<FrameLocation>, Vec<FrameLocation>) =
            places.partition(|place| place.varbit);
        let plan = BitPlan::new(fixed.iter().copied(), true);
        if plan.is_chunked() {
            return Self { plan, varbits };
        }
        // Fields that cannot be cut into chunks get whole bytes each.
        let whole_bytes =
            |place: FrameLocation| FrameLocation { width: place.width.next_multiple_of(8), ..place };
        Self { plan: BitPlan::new(fixed.into_iter().map(whole_bytes), true), varbits }
    }

    #[inline]
    fn save(&self, slots: &[u64], out: &mut Vec<u8>) {
        self.plan.store(slots, &mut BitWriter::new(out));
        for varbit in &self.varbits {
            let bits = slots[varbit.slot as usize].min(u64::from(varbit.width)) as u32;
            out.extend_from_slice(&bits.to_be_bytes());
            let value = varbit.value() as usize;
            for word in &slots[value..value + bits.div_ceil(64) as usize] {
                out.extend_from_slice(&word.to_be_bytes());
            }
        }
    }

    #[inline]
    fn restore(&self, saved: &[u8], at: &mut usize, slots: &mut [u64]) {
        self.plan.load(PacketView::new(saved), *at as u64 * 8, slots);
        *at += self.plan.bytes as usize;
        for varbit in &self.varbits {
            let bits = u32::from_be_bytes(take(saved, at)).min(varbit.width);
            slots[varbit.slot as usize] = u64::from(bits);
            let value = varbit.value() as usize;
            for word in &mut slots[value..value + bits.div_ceil(64) as usize] {
                *word = u64::from_be_bytes(take(saved, at));
            }
        }
    }
}

/// The next bytes; zeros past the end.
fn take<const N: usize>(saved: &[u8], at: &mut usize) -> [u8; N] {
    let bytes = saved.get(*at..*at + N).and_then(|bytes| bytes.try_into().ok());
    *at += N;
    bytes.unwrap_or([0; N])
}

#[cfg(test)]
mod tests {
    use p4cc_ir::Bits;

    use super::*;

    fn narrow(slot: u32, width: u32) -> FrameLocation {
        FrameLocation { slot, width, varbit: false }
    }

    /// Saves some words by a group and gives back what comes out, with the number of bytes.
    fn round_trip(places: &[FrameLocation], slots: &[u64]) -> (Vec<u64>, usize) {
        let group = Group::new(places.iter().copied());
        let mut saved = vec![0xff];
        group.save(slots, &mut saved);
        let (mut at, mut restored) = (1, vec![0; slots.len()]);
        group.restore(&saved, &mut at, &mut restored);
        assert_eq!(at, saved.len());
        (restored, saved.len() - 1)
    }

    #[test]
    fn a_group_that_cuts_into_chunks_takes_its_bits() {
        let places = [narrow(0, 4), narrow(1, 4), narrow(2, 6), narrow(3, 2), narrow(4, 13), narrow(5, 48)];
        let slots = [15, 5, 63, 2, 0x1fff, 0xffff_ffff_ffff];
        assert_eq!(round_trip(&places, &slots), (slots.to_vec(), 10));
    }

    #[test]
    fn a_group_without_byte_boundaries_and_wide_values_come_out_again() {
        // 3 + 60 + 7 bits have no boundary within 64; 100 bits take two words.
        let places = [narrow(0, 3), narrow(1, 60), narrow(2, 7), narrow(3, 100), narrow(5, 64)];
        let slots = [5, (1 << 60) - 3, 0x55, u64::MAX, 0xf_1234_5678, u64::MAX - 1];
        let (restored, bytes) = round_trip(&places, &slots);
        assert_eq!((restored.as_slice(), bytes), (&slots[..], 1 + 8 + 1 + 13 + 8));
    }

    #[test]
    fn a_varbit_takes_as_many_words_as_it_has() {
        let varbit = FrameLocation { slot: 1, width: 320, varbit: true };
        let value = Bits::from_u128(72, 0xab_cdef_0123_4567_89ab);
        let mut slots = vec![7, 72, 0, 0, 0, 0, 0];
        slots[2..4].copy_from_slice(value.words());
        assert_eq!(round_trip(&[narrow(0, 8), varbit], &slots), (slots, 1 + 4 + 16));
        assert_eq!(round_trip(&[varbit], &[0; 7]), (vec![0; 7], 4));
    }

    #[test]
    fn bytes_that_are_missing_read_as_zero() {
        let group =
            Group::new([narrow(0, 32), FrameLocation { slot: 1, width: 64, varbit: true }].into_iter());
        let mut slots = [1, 1, 1];
        group.restore(&[], &mut 0, &mut slots);
        assert_eq!(slots[..2], [0, 0]);
    }
}
