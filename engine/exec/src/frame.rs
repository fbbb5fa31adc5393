//! The frame: variables and header validity of one packet.

use p4cc_ir::{Bits, HeaderId, VarId};

use crate::Pipeline;

/// One packet's variables and header validity; reusable. Usable only with the pipeline it was made from.
#[derive(Clone, Debug)]
pub struct Frame {
    pub(crate) slots: Vec<u64>,
    /// Words zeroed by a reset; constants lie behind them.
    zeroed: usize,
    /// Where callers go on.
    pub(crate) calls: Vec<u32>,
    /// Serialised input of a hash or checksum.
    pub(crate) bytes: Vec<u8>,
    /// Where native code packs bytes, and what an ingress or egress pipeline leaves stands at its start.
    pub(crate) emit: Vec<u8>,
    /// Bytes of it that were left.
    pub(crate) front: usize,
}

/// Deepest call chain that needs no allocation.
const CALL_CAPACITY: usize = 64;
/// Longest hash input that needs no allocation, in bytes.
const HASH_CAPACITY: usize = 512;

impl Frame {
    /// A zero frame.
    pub fn new(pipeline: &Pipeline) -> Frame {
        Frame {
            slots: pipeline.code().layout.initial(),
            zeroed: pipeline.code().layout.zeroed as usize,
            calls: Vec::with_capacity(CALL_CAPACITY),
            bytes: Vec::with_capacity(HASH_CAPACITY),
            emit: Vec::new(),
            front: 0,
        }
    }

    /// All zero, all headers invalid.
    #[inline]
    pub fn reset(&mut self) {
        self.slots[..self.zeroed].fill(0);
    }

    /// What the last ingress or egress pipeline left to stand in front of the packet: what lives on through
    /// the queues after ingress, what the deparser emitted after egress.
    #[inline]
    pub fn front(&self) -> &[u8] {
        self.emit.get(..self.front).unwrap_or_default()
    }

    /// Writes the front anew.
    pub(crate) fn fill_front(&mut self, f: impl FnOnce(&mut Frame, &mut Vec<u8>)) {
        let mut front = core::mem::take(&mut self.emit);
        front.clear();
        f(self, &mut front);
        (self.front, self.emit) = (front.len(), front);
    }

    /// The low 64 bits of a variable.
    #[inline]
    pub fn get(&self, pipeline: &Pipeline, var: VarId) -> u64 {
        self.slots[pipeline.code().layout.var(var).value() as usize]
    }

    /// Sets a variable to `value`, masked to its width. A varbit becomes its full width.
    #[inline]
    pub fn set(&mut self, pipeline: &Pipeline, var: VarId, value: u64) {
        let place = pipeline.code().layout.var(var);
        if place.is_narrow() {
            self.slots[place.slot as usize] = value & (u64::MAX >> (64 - place.width));
        } else {
            self.set_bits(pipeline, var, &Bits::from_words(place.width, &[value]));
        }
    }

    /// The whole value; of a varbit, as wide as it is long.
    pub fn get_bits(&self, pipeline: &Pipeline, var: VarId) -> Bits {
        bits_of(&self.slots, pipeline, var)
    }

    /// Sets the whole value, truncated or zero-extended to the
    /// width. A varbit takes the value's width as its length.
    pub fn set_bits(&mut self, pipeline: &Pipeline, var: VarId, value: &Bits) {
        let place = pipeline.code().layout.var(var);
        let width = if place.varbit { value.width().min(place.width) } else { place.width };
        let fitted = Bits::from_words(width, value.words());
        if place.varbit {
            self.slots[place.slot as usize] = u64::from(width);
        }
        let words = &mut self.slots[place.value() as usize..(place.slot + place.words()) as usize];
        words.fill(0);
        for (to, from) in words.iter_mut().zip(fitted.words()) {
            *to = *from;
        }
    }

    /// Whether a header is valid.
    pub fn is_valid(&self, pipeline: &Pipeline, header: HeaderId) -> bool {
        self.slots[pipeline.code().layout.valid(header) as usize] != 0
    }

    /// Bytes of the headers that `setValid` added since the reset, less those that `setInvalid` took away. As
    /// in BMv2, neither extraction nor copies of headers count.
    #[inline]
    pub fn length_delta(&self, pipeline: &Pipeline) -> i64 {
        self.slots[pipeline.code().layout.length_delta as usize] as i64
    }

    /// Makes a header valid or invalid; its union, if any, is the caller's care.
    pub fn set_valid(&mut self, pipeline: &Pipeline, header: HeaderId, valid: bool) {
        self.slots[pipeline.code().layout.valid(header) as usize] = u64::from(valid);
    }

    /// Copies variables from another frame of the same pipeline: what a clone or resubmit preserves.
    pub fn copy_vars(&mut self, pipeline: &Pipeline, from: &Frame, vars: &[VarId]) {
        for &var in vars {
            let place = pipeline.code().layout.var(var);
            let range = place.slot as usize..(place.slot + place.words()) as usize;
            self.slots[range.clone()].copy_from_slice(&from.slots[range]);
        }
    }
}

/// The whole value of a variable in a frame's words.
pub(crate) fn bits_of(slots: &[u64], pipeline: &Pipeline, var: VarId) -> Bits {
    let place = pipeline.code().layout.var(var);
    let words = &slots[place.value() as usize..(place.slot + place.words()) as usize];
    let width = if place.varbit { slots[place.slot as usize] as u32 } else { place.width };
    Bits::from_words(width, words)
}
