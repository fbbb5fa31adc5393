//! The call into native code: what native code and its helpers work on, and the memory that holds the code.
//!
//! Apart from [`crate::prefetch`] this is the only module of the executor with `unsafe`. Its interface is
//! safe. Native code touches memory in eight ways:
//!
//! - words of the frame, below [`Layout::size`](crate::frame_layout::Layout::size);
//! - stored bytes of the packet, after a comparison with their number;
//! - bytes of the emit buffer, below the bound that the translation computed;
//! - arguments of an action, after a comparison with their number;
//! - inputs of an ingress or egress pipeline, whose number is fixed at translation;
//! - the room for a packet's new head, after a comparison with its length;
//! - fields of [`Context`] itself;
//! - in an ingress or egress pipeline, the state of the pipeline's own program: tables, profiles, counters
//!   and registers by their numbers, and elements of their vectors after a comparison with the length.

#![allow(
    unsafe_code,
    reason = "a call into generated code and what that code hands back; each use states its proof"
)]

use core::marker::PhantomData;
use core::ptr;
use std::sync::Arc;

use cranelift_jit::JITModule;
use p4cc_ir::Program;

use crate::bitplan::BitWriter;
use crate::env::{Env, NoTrace, PacketView, QueueBypass};
use crate::interpreter::Run;
use crate::op::Code;
use crate::state::offsets::{VectorVisitor, visit_vectors};
use crate::v1_pipelines::{EGRESS_METADATA, EgressMetadata};
use crate::{Frame, State};

/// How a native function ended, as it returns it.
pub(super) const DONE: u64 = 0;
/// The parser refuses the packet; the frame holds the error.
pub(super) const REJECT: u64 = 1;
/// Too many jumps.
pub(super) const STEP_LIMIT: u64 = 2;

/// Egress dropped the packet.
pub(super) const DROPPED: u64 = 4;
/// Egress made a request that checksums and deparser wait for.
pub(super) const REQUESTED: u64 = 5;
/// The packet bypassed its queue and passed egress; what the deparser emitted stands in the frame's buffer.
pub(super) const DEPARSED: u64 = 7;
/// The same, but it stands in the room for it.
pub(super) const WRITTEN: u64 = 8;
/// What was kept of a packet is shorter than it says, or a header of
/// a packet is not stored as a whole: nothing ran that anybody sees.
pub(super) const UNREADABLE: u64 = 6;

/// One call of native code. The fields that are visible to this folder
/// are those that native code reads and writes, by their offsets.
// What starts as zero stands together.
#[repr(C)]
pub(super) struct Context<'a> {
    slots: *mut u64,
    pub(super) packet: *const u8,
    /// Bits of the packet that are stored.
    pub(super) stored_bits: u64,
    /// Bytes behind them, all zero.
    pub(super) zeros: u64,
    /// Where headers are emitted.
    pub(super) emit: *mut u8,
    /// What the switch sets before an ingress or egress pipeline.
    pub(super) inputs: *const u64,
    pub(super) drop_port: u64,
    /// The end of the room for a packet's new head; a few bytes more may be overwritten.
    pub(super) room_end: *mut u8,
    /// Bytes of it.
    pub(super) room_bytes: u64,
    frame: *mut Frame,
    code: *const Code,
    /// Present where an ingress or egress pipeline runs.
    pub(super) env: *mut Env<'static>,
    /// Absent where a pipeline runs, which emits by itself.
    out: *mut Vec<u8>,
    /// Jumps left.
    pub(super) steps: u64,
    /// Bits taken so far.
    pub(super) at: u64,
    /// Bytes emitted.
    pub(super) emitted: u64,
    /// How the ingress pipeline's parser refused the packet: its error plus one.
    pub(super) error: u64,
    /// Arguments of the action that a table chose.
    pub(super) args: *const u64,
    /// How many there are.
    pub(super) arg_count: u64,
    /// Rows that a hash chooses among.
    pub(super) choices: *const u32,
    /// How many there are.
    pub(super) choice_count: u64,
    /// Row of the entry that was hit, while a list's member is chosen.
    pub(super) row: u64,
    /// Colour of the table's direct meter.
    pub(super) color: u64,
    /// Number of the entry that was hit, where the table keeps it.
    pub(super) entry: u64,
    spare: u64,
    /// Absent where packets do not bypass their queue.
    queue_bypass: Option<&'a mut dyn QueueBypass>,
    lent: PhantomData<&'a mut ()>,
}

impl Context<'_> {
    /// Calls a function with the interpreter at this point of the run.
    pub(super) fn with_interpreter<R>(&mut self, f: impl FnOnce(&mut Run<'_, '_, '_, NoTrace>) -> R) -> R {
        let (mut trace, mut none) = (NoTrace, Vec::new());
        // SAFETY: `enter` made these pointers from references that it holds while native code runs, and this
        // context is not seen outside of that call; native code keeps none of its own references to what they
        // point to, and the references made here end with this function, of which only one runs at a time.
        let mut run = unsafe {
            let Frame { slots, calls, bytes, .. } = &mut *self.frame;
            Run {
                code: &*self.code,
                slots,
                calls,
                bytes,
                env: self.env.as_mut(),
                packet: PacketView {
                    bytes: core::slice::from_raw_parts(self.packet, (self.stored_bits / 8) as usize),
                    zeros: self.zeros as u32,
                },
                at: self.at,
                out: BitWriter { bytes: self.out.as_mut().unwrap_or(&mut none), spare: self.spare as u32 },
                trace: &mut trace,
            }
        };
        let result = f(&mut run);
        (self.at, self.spare) = (run.at, run.out.spare.into());
        result
    }

    /// What the architecture lends, and the code.
    #[inline]
    pub(super) fn env(&mut self) -> Option<(&mut Env<'static>, &Code)> {
        // SAFETY: as in `with_interpreter`.
        unsafe { self.env.as_mut().map(|env| (env, &*self.code)) }
    }

    /// Asks the switch whether a packet bypasses its queue.
    pub(super) fn may_bypass(&mut self, port: u32, priority: u8) -> bool {
        let no_requests = self.env().is_some_and(|(env, _)| env.effects.is_empty());
        no_requests
            && self.queue_bypass.as_mut().is_some_and(|queue_bypass| queue_bypass.may_bypass(port, priority))
    }

    /// What is left behind the bytes that the parser took is the payload from now on.
    pub(super) fn set_payload(&mut self) {
        let taken = u32::try_from(self.at.div_ceil(8)).unwrap_or(u32::MAX);
        // SAFETY: as in `with_interpreter`. Only an ingress pipeline calls this, and
        // `Executor::ingress` is given a packet that lives as long as what the
        // environment lends, so it may stay there when native code has ended.
        unsafe {
            let bytes = core::slice::from_raw_parts(self.packet, (self.stored_bits / 8) as usize);
            if let Some(env) = self.env.as_mut() {
                env.payload = PacketView { bytes, zeros: self.zeros as u32 }.skip(taken);
            }
        }
    }

    /// Words of the frame.
    #[inline]
    pub(super) fn words(&self, range: core::ops::Range<usize>) -> &[u64] {
        // SAFETY: as in `with_interpreter`; nothing writes to the frame while a helper only reads it.
        let frame = unsafe { &*self.frame };
        frame.slots.get(range).unwrap_or_default()
    }

    /// The state, and the first bytes of the emit buffer, where native code packs the input of a hash.
    #[inline]
    pub(super) fn state_and_packed(&self, len: usize) -> Option<(&State, &[u8])> {
        // SAFETY: as in `with_interpreter`; native code does not write to the buffer while a helper runs.
        unsafe {
            let packed = (&*self.frame).emit.get(..len)?;
            self.env.as_ref().map(|env| (&*env.state, packed))
        }
    }

    /// Hands the arguments of an action to native code, which looks
    /// at their number and reads them before the state changes again.
    #[inline]
    pub(super) fn set_args(&mut self, args: *const [u64]) {
        (self.args, self.arg_count) = (args.cast(), args.len() as u64);
    }

    /// The same for the rows that a hash is to choose among.
    #[inline]
    pub(super) fn set_choices(&mut self, choices: *const [u32]) {
        (self.choices, self.choice_count) = (choices.cast(), choices.len() as u64);
    }
}

/// Where a vector keeps its pointer and its length, in bytes from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct VectorLayout {
    pub pointer: usize,
    pub len: usize,
}

impl VectorLayout {
    /// Those of vectors of one type, found by what a vector
    /// of known values holds; none where that is not plain.
    pub fn of<T>() -> Option<Self> {
        const CAPACITY: usize = 5;
        const WORD: usize = size_of::<usize>();
        if size_of::<Vec<T>>() != 3 * WORD {
            return None;
        }
        let vector: Vec<T> = Vec::with_capacity(CAPACITY);
        // SAFETY: a vector is a pointer, a capacity and a length; it has the size of three words, so it has
        // no padding, and the copy is looked at as numbers only.
        let words: [usize; 3] = unsafe { core::mem::transmute_copy(&vector) };
        let wanted = [vector.as_ptr().addr(), vector.len()];
        if wanted.contains(&vector.capacity()) || wanted[0] == wanted[1] {
            return None;
        }
        let [pointer, len] = wanted.map(|value| words.iter().position(|&word| word == value));
        Some(Self { pointer: pointer? * WORD, len: len? * WORD })
    }
}

/// The layouts of the vectors that a visitor was shown.
#[derive(Default)]
struct VectorLayouts(Vec<Option<VectorLayout>>);

impl VectorVisitor for VectorLayouts {
    fn visit<T>(&mut self) {
        self.0.push(VectorLayout::of::<T>());
    }
}

/// Where vectors of the state keep their pointer and their length; none unless all of them agree.
pub(super) fn state_vectors() -> Option<VectorLayout> {
    let mut layouts = VectorLayouts::default();
    visit_vectors(&mut layouts);
    let first = *layouts.0.first()?;
    first.filter(|_| layouts.0.iter().all(|other| *other == first))
}

/// A function of generated code.
#[derive(Clone, Copy, Debug)]
pub(super) struct Address(*const u8);

/// Generated code; its memory goes when this goes.
pub(super) struct Memory(Option<JITModule>);

// SAFETY: after `finalize_definitions` the module is only read until it is dropped, its code keeps no state
// of its own, and the pointers are to memory that belongs to it.
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
            // SAFETY: entries are called only through the `Native` that owns this memory, which is being
            // dropped, so no generated code runs or will run.
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
pub(super) struct Call<'a, 'e, 'g> {
    pub code: &'a Code,
    pub frame: &'a mut Frame,
    pub packet: PacketView<'a>,
    /// Given to an ingress or egress pipeline.
    pub env: Option<&'a mut Env<'e>>,
    pub out: Option<&'a mut Vec<u8>>,
    pub steps: u32,
    /// Of an ingress or egress pipeline.
    pub start: Start<'a>,
    pub function: &'a Translated,
    pub bypass_args: BypassArgs<'g>,
}

/// What the ingress pipeline needs for a packet that may bypass its queue.
#[derive(Default)]
pub(super) struct BypassArgs<'a> {
    pub queue_bypass: Option<&'a mut dyn QueueBypass>,
    /// For its new head, with [`OVERHANG`] bytes more.
    pub room: &'a mut [u8],
}

/// Bytes behind what native code packs that it may overwrite.
const OVERHANG: usize = 8;

/// A finished function and what it takes for granted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Translated {
    pub entry: Address,
    /// Words that a frame of the code has at least.
    pub frame_words: usize,
    /// Most bytes that it packs by itself.
    pub emit_bound: usize,
    /// Inputs that it reads.
    pub input_words: usize,
}

/// How an ingress or egress pipeline starts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Start<'a> {
    /// What the switch sets.
    pub inputs: &'a [u64],
    pub drop_port: u32,
}

/// The words of what the switch sets when a packet leaves its queue, where they stand.
#[inline]
pub(super) fn egress_words(metadata: &EgressMetadata) -> &[u64; EGRESS_METADATA] {
    const { assert!(size_of::<EgressMetadata>() == size_of::<[u64; EGRESS_METADATA]>()) }
    // SAFETY: fields of `repr(C)` stand in their order; all are words, and they fill the structure.
    unsafe { &*ptr::from_ref(metadata).cast() }
}

/// How a call ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ended {
    /// What the function returned.
    pub how: u64,
    /// Bits of the packet that it took.
    pub at: u64,
    /// Bytes that it emitted to the start of the frame's buffer.
    pub emitted: usize,
    /// The parser's error plus one, where the ingress pipeline's parser refused the packet.
    pub error: u64,
}

/// Whether a pipeline can run at once: nothing has to be compared at length or made first.
#[inline(always)]
pub(super) fn is_ready(frame: &Frame, env: &Env<'_>, function: &Translated, program: &Arc<Program>) -> bool {
    env.state.is_of(program) && frame.emit.len() >= function.emit_bound
}

/// Makes a pipeline able to run.
pub(super) fn make_ready(frame: &mut Frame, env: &Env<'_>, function: &Translated, program: &Arc<Program>) {
    assert!(env.state.serves(program), "a state of another program");
    if frame.emit.len() < function.emit_bound {
        grow(&mut frame.emit, function.emit_bound);
    }
}

/// Runs a pipeline with a state that was compared before.
#[inline(always)]
pub(super) fn enter_pipeline(call: Call<'_, '_, '_>, program: &Arc<Program>) -> Ended {
    let serves = match &call.env {
        Some(env) => env.state.serves(program),
        None => false,
    };
    assert!(serves, "a state of another program");
    enter_ready(call)
}

/// Runs a function.
#[inline(always)]
pub(super) fn enter(call: Call<'_, '_, '_>) -> Ended {
    if call.frame.emit.len() < call.function.emit_bound {
        grow(&mut call.frame.emit, call.function.emit_bound);
    }
    enter_ready(call)
}

/// The same where the frame's buffer is as long as it has to be.
#[inline(always)]
fn enter_ready(call: Call<'_, '_, '_>) -> Ended {
    let Call { code, frame, packet, env, out, steps, start, function, bypass_args } = call;
    let BypassArgs { queue_bypass, room } = bypass_args;
    let room_bytes = room.len().saturating_sub(OVERHANG);
    let Translated { entry: Address(entry), frame_words, emit_bound, input_words } = *function;
    assert!(frame.slots.len() >= frame_words, "a frame of another pipeline");
    assert!(start.inputs.len() >= input_words, "a pipeline without its inputs");
    assert!(frame.emit.len() >= emit_bound, "a buffer that is too short");
    let mut context = Context {
        slots: frame.slots.as_mut_ptr(),
        packet: packet.bytes.as_ptr(),
        stored_bits: packet.bytes.len() as u64 * 8,
        zeros: packet.zeros.into(),
        emit: frame.emit.as_mut_ptr(),
        inputs: start.inputs.as_ptr(),
        choices: ptr::null(),
        choice_count: 0,
        drop_port: start.drop_port.into(),
        room_end: room.as_mut_ptr().wrapping_add(room_bytes),
        room_bytes: room_bytes as u64,
        steps: steps.into(),
        at: 0,
        emitted: 0,
        args: ptr::null(),
        arg_count: 0,
        row: 0,
        color: 0,
        entry: 0,
        error: 0,
        spare: 0,
        queue_bypass,
        frame,
        code,
        env: env.map_or(ptr::null_mut(), |env| ptr::from_mut(env).cast()),
        out: out.map_or(ptr::null_mut(), ptr::from_mut),
        lent: PhantomData,
    };
    let slots = context.slots;
    // SAFETY: the address is that of a finished function with this signature, and its memory lives as long as
    // the `Native` that this is called through; the frame is as large as the code that was translated takes
    // it to be, the emit buffer as large as what it emits, the room as large as `room_bytes`, the inputs as
    // many as it reads, and all pointers are to what this call borrows; a pipeline is entered by
    // `enter_pipeline` only, with the state of its program.
    let how = unsafe {
        let function: unsafe extern "C" fn(*mut Context<'_>, *mut u64) -> u64 = core::mem::transmute(entry);
        function(&raw mut context, slots)
    };
    Ended { how, at: context.at, emitted: context.emitted as usize, error: context.error }
}

/// Once for a frame.
#[cold]
fn grow(emit: &mut Vec<u8>, bound: usize) {
    emit.resize(bound, 0);
}
