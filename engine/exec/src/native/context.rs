//! What native code and the functions that it calls work on, the memory that the code lives in, and the call into it.
//!
//! The only module of the executor with `unsafe`; what it gives out is safe. Native code touches memory in five ways:
//! words of the frame at places below [`Layout::size`](crate::layout::Layout::size), stored bytes of the packet behind a
//! comparison with their number, bytes of the emit buffer below the bound that the translation worked out, arguments behind a
//! comparison with their number, and fields of [`Context`] itself.

#![allow(
    unsafe_code,
    reason = "a call into generated code and what that code hands back; each use states its proof"
)]

use core::marker::PhantomData;
use core::ptr;

use cranelift_jit::JITModule;

use crate::bitplan::BitWriter;
use crate::env::{Env, NoTrace, PacketView};
use crate::machine::Run;
use crate::op::Code;
use crate::{Frame, State};

/// How a native function ended, as it returns it.
pub(super) const DONE: u64 = 0;
/// The parser refuses the packet; the frame holds the error.
pub(super) const REJECT: u64 = 1;
/// Too many jumps.
pub(super) const STEP_LIMIT: u64 = 2;

/// One call of native code. The fields that are visible to this folder are those that native code reads and writes, by
/// their offsets.
#[repr(C)]
pub(super) struct Context<'a> {
    slots: *mut u64,
    pub(super) packet: *const u8,
    /// Bits of the packet that are stored.
    pub(super) stored_bits: u64,
    /// Bits of the packet, zeros that are not stored included.
    pub(super) total_bits: u64,
    /// Bits taken so far.
    pub(super) at: u64,
    /// Where headers are emitted.
    pub(super) emit: *mut u8,
    /// Bytes emitted there.
    pub(super) emitted: u64,
    /// Arguments of the action that a table chose.
    pub(super) args: *const u64,
    /// How many there are.
    pub(super) arg_count: u64,
    /// The entry that was hit, plus one, while a group's member is chosen.
    pub(super) entry: u64,
    /// Place of that action in the table's list.
    pub(super) position: u64,
    /// Colour of the table's direct meter.
    pub(super) color: u64,
    /// Jumps left.
    pub(super) steps: u64,
    words: usize,
    emit_len: usize,
    stored_bytes: usize,
    zeros: u32,
    spare: u32,
    code: *const Code,
    calls: *mut Vec<u32>,
    bytes: *mut Vec<u8>,
    env: *mut Env<'static>,
    out: *mut Vec<u8>,
    lent: PhantomData<&'a mut ()>,
}

impl Context<'_> {
    /// Gives the register machine, where this run stands, to a function.
    pub(super) fn machine<R>(&mut self, f: impl FnOnce(&mut Run<'_, '_, '_, NoTrace>) -> R) -> R {
        let mut trace = NoTrace;
        // SAFETY: `enter` made these pointers from references that it holds while native code runs, and this context is
        // not seen outside of that call; native code keeps none of its own references to what they point to, and the
        // references made here end with this function, of which only one runs at a time.
        let mut run = unsafe {
            Run {
                code: &*self.code,
                slots: core::slice::from_raw_parts_mut(self.slots, self.words),
                calls: &mut *self.calls,
                bytes: &mut *self.bytes,
                env: self.env.as_mut(),
                packet: PacketView {
                    bytes: core::slice::from_raw_parts(self.packet, self.stored_bytes),
                    zeros: self.zeros,
                },
                at: self.at,
                out: BitWriter { bytes: &mut *self.out, spare: self.spare },
                trace: &mut trace,
            }
        };
        let result = f(&mut run);
        (self.at, self.spare) = (run.at, run.out.spare);
        result
    }

    /// What the architecture lends, and the code.
    #[inline]
    pub(super) fn env(&mut self) -> Option<(&mut Env<'static>, &Code)> {
        // SAFETY: as in `machine`.
        unsafe { self.env.as_mut().map(|env| (env, &*self.code)) }
    }

    /// Words of the frame.
    #[inline]
    pub(super) fn words(&self, range: core::ops::Range<usize>) -> &[u64] {
        // SAFETY: as in `machine`; nothing writes to the frame while a helper only reads it.
        let words = unsafe { core::slice::from_raw_parts(self.slots, self.words) };
        words.get(range).unwrap_or_default()
    }

    /// The state, and the first bytes of the emit buffer, where native code packs the input of a hash.
    #[inline]
    pub(super) fn state_and_packed(&self, len: usize) -> Option<(&State, &[u8])> {
        // SAFETY: as in `machine`; `enter` made the buffer this long, all of it initialised, and native code does not
        // write to it while a helper runs.
        unsafe {
            let packed = core::slice::from_raw_parts(self.emit, len.min(self.emit_len));
            self.env.as_ref().map(|env| (&*env.state, packed))
        }
    }

    /// Hands the arguments of an action to native code, which looks at their number and reads them before the state
    /// changes again.
    #[inline]
    pub(super) fn set_args(&mut self, args: *const [u64]) {
        (self.args, self.arg_count) = (args.cast(), args.len() as u64);
    }
}

/// A function of generated code.
#[derive(Clone, Copy, Debug)]
pub(super) struct Address(*const u8);

/// Generated code; its memory goes when this goes.
pub(super) struct Memory(Option<JITModule>);

// SAFETY: after `finalize_definitions` the module is only read until it is dropped, its code keeps no state of its own,
// and the pointers are to memory that belongs to it.
unsafe impl Send for Memory {}
// SAFETY: as above; a shared reference gives no access to the module at all.
unsafe impl Sync for Memory {}
// SAFETY: an address of code that lives as long as the `Memory` beside it and does not change.
unsafe impl Send for Address {}
// SAFETY: as above.
unsafe impl Sync for Address {}

impl Memory {
    /// Keeps a module whose definitions are final.
    pub(super) fn new(module: JITModule) -> Self {
        Self(Some(module))
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Some(module) = self.0.take() {
            // SAFETY: entries are called only through the `Native` that owns this memory, which is being dropped, so no
            // generated code runs or will run.
            unsafe { module.free_memory() }
        }
    }
}

impl Address {
    /// An address that a final module gave for a function `fn(&mut Context, *mut u64) -> u64`.
    pub(super) fn new(address: *const u8) -> Self {
        Self(address)
    }
}

/// What one call works on.
pub(super) struct Call<'a, 'e> {
    pub code: &'a Code,
    pub frame: &'a mut Frame,
    pub packet: PacketView<'a>,
    pub env: Option<&'a mut Env<'e>>,
    pub out: &'a mut Vec<u8>,
    pub steps: u32,
    /// Words that a frame of the code has at least.
    pub frame_words: usize,
    /// Most bytes that the function packs by itself.
    pub emit_bound: usize,
}

/// Runs a function; how it ended and how many bits of the packet it took.
#[inline]
pub(super) fn enter(address: Address, call: Call<'_, '_>) -> (u64, u64) {
    let Call { code, frame, packet, env, out, steps, frame_words, emit_bound } = call;
    let Frame { slots, calls, bytes, emit, .. } = frame;
    assert!(slots.len() >= frame_words, "a frame of another pipeline");
    if emit.len() < emit_bound {
        grow(emit, emit_bound);
    }
    let mut context = Context {
        words: slots.len(),
        emit_len: emit.len(),
        slots: slots.as_mut_ptr(),
        packet: packet.bytes.as_ptr(),
        stored_bits: packet.bytes.len() as u64 * 8,
        total_bits: packet.len() * 8,
        at: 0,
        emit: emit.as_mut_ptr(),
        emitted: 0,
        args: ptr::null(),
        arg_count: 0,
        entry: 0,
        position: 0,
        color: 0,
        steps: steps.into(),
        stored_bytes: packet.bytes.len(),
        zeros: packet.zeros,
        spare: 0,
        code,
        calls,
        bytes,
        env: env.map_or(ptr::null_mut(), |env| ptr::from_mut(env).cast()),
        out: &raw mut *out,
        lent: PhantomData,
    };
    let frame = context.slots;
    // SAFETY: the address is that of a finished function with this signature, and its memory lives as long as the
    // `Native` that this is called through; the frame is as large as the code that was translated takes it to be, the
    // emit buffer as large as what it emits, and all pointers are to what this call borrows.
    let end = unsafe {
        let function: unsafe extern "C" fn(*mut Context<'_>, *mut u64) -> u64 =
            core::mem::transmute(address.0);
        function(&raw mut context, frame)
    };
    let (emitted, at) = (context.emitted as usize, context.at);
    if emitted > 0 {
        out.extend_from_slice(&emit[..emitted]);
    }
    (end, at)
}

/// Once for a frame.
#[cold]
fn grow(emit: &mut Vec<u8>, bound: usize) {
    emit.resize(bound, 0);
}
