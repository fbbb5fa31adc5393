//! Translates the interpreter's operations to Cranelift's IR: one native function for each entry point,
//! actions inlined where they run.
//!
//! Invariants: every word that is used lies in the frame ([`Translator::offset`]). Every jump of a function
//! that may loop is counted as the interpreter counts it. An operation without a translation becomes a call
//! of the interpreter's own function.

mod alu;
mod basic_blocks;
mod bypass;
mod externs;
mod flow;
mod hash;
mod known_bits;
mod packet;
mod pipelines;
mod state;
mod table;
mod tna_pipelines;

use std::collections::BTreeMap;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{AliasRegion, Block, FuncRef, InstBuilder, MemFlags, Type, Value, types};
use cranelift_frontend::{FunctionBuilder, Variable};
use p4cc_ir::{ActionId, Program};

pub(super) use self::flow::targets;
use self::known_bits::{Known, KnownBits};
use self::packet::Loaded;
pub(super) use self::pipelines::is_plain;
pub(super) use self::tna_pipelines::is_plain_half;
use super::context::{DONE, REJECT, STEP_LIMIT, VectorLayout};
use super::helpers::Name;
use super::storage::{PackedBits, Storage, StoragePlan};
use crate::op::{Code, Op};

/// What an action that is a function of its own returns where it does not end the whole run.
const RETURN: u64 = 3;

/// What all functions of a program share.
#[derive(Clone, Copy)]
pub(super) struct Shared<'a> {
    pub program: &'a Program,
    pub code: &'a Code,
    pub plan: &'a StoragePlan,
}

/// The functions that one function may call.
pub(super) struct Callees {
    /// By [`Name`].
    pub helpers: Vec<FuncRef>,
    pub actions: BTreeMap<ActionId, FuncRef>,
}

/// What a function as a whole does.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FunctionSummary {
    /// It may jump backward, or further than the step limit: jumps are counted.
    pub counted: bool,
    /// It takes bits from the packet.
    pub takes: bool,
    /// All headers that it emits move in whole bytes, each emit runs at most once.
    pub emits: bool,
    /// It emits headers that the interpreter has to emit.
    pub emits_by_interpreter: bool,
    /// Everything that it takes from the packet is whole bytes.
    pub aligned: bool,
    /// An action that is a function of its own: its result tells its caller a return from an exit.
    pub action: bool,
}

/// Translates one function.
pub(super) struct Translator<'a, 'f> {
    shared: &'a Shared<'a>,
    callees: Callees,
    summary: FunctionSummary,
    b: FunctionBuilder<'f>,
    context: Value,
    slots: Value,
    vars: BTreeMap<u32, Variable>,
    /// Bits taken from the packet so far.
    at: Variable,
    /// Bytes emitted so far.
    emitted: Variable,
    done: Block,
    /// Where a return of the function itself goes.
    returned: Block,
    no_match: Option<Block>,
    /// Takes the error.
    reject: Block,
    reject_known: Block,
    limit: Block,
    /// Most bytes that this function emits by itself.
    emit_bound: u32,
    /// Where it emits to, if that is not the frame's buffer.
    emit_base: Option<Value>,
    /// Where vectors of the state keep what they are made of, if code looks for it itself.
    vectors: Option<VectorLayout>,
    known: Known,
    /// Chunks that stand in registers as they stand in memory.
    loaded: BTreeMap<Value, Loaded>,
    /// Where a parser goes that may run again from its start, if a header is not stored as a whole.
    unreadable: Option<Block>,
    /// Blocks in which a programmable block ends, where they are kept apart.
    ends: Option<Vec<Block>>,
    /// What is translated is the function itself, not an action inlined into it.
    is_outermost: bool,
    /// Jumps of the function that is being translated all go forward.
    is_acyclic: bool,
    /// Blocks that count a jump and go on, still to be filled.
    edges: Vec<(Block, Block)>,
}

/// What comes after a table is applied.
#[derive(Clone, Copy)]
pub(super) struct Behind<'a> {
    /// Blocks of the function, by address.
    pub blocks: &'a BTreeMap<u32, Block>,
    pub address: u32,
}

/// An operation names a word outside of the frame: a fault of the compiler that made it.
#[derive(Clone, Copy, Debug)]
pub(super) struct OutOfFrame;

type TranslateResult<T = ()> = Result<T, OutOfFrame>;

/// Offsets in [`Context`] fit.
macro_rules! field {
    ($name:ident) => {
        core::mem::offset_of!($crate::native::context::Context<'static>, $name) as i32
    };
}
use field;

impl<'a, 'f> Translator<'a, 'f> {
    /// Translates a function; the number of bytes that it may emit by itself.
    pub fn function(
        shared: &'a Shared<'a>,
        summary: FunctionSummary,
        b: FunctionBuilder<'f>,
        callees: Callees,
        func: usize,
    ) -> TranslateResult<u32> {
        let mut translator = Self::start(shared, b, callees);
        translator.open(summary);
        if summary.action {
            translator.returned = translator.b.create_block();
        }
        translator.body(func, None)?;
        translator.exits()?;
        Ok(translator.close())
    }

    /// A translator at the start of a native function, with no part begun.
    fn start(shared: &'a Shared<'a>, mut b: FunctionBuilder<'f>, callees: Callees) -> Self {
        let entry = b.create_block();
        b.append_block_params_for_function_params(entry);
        b.switch_to_block(entry);
        b.seal_block(entry);
        let (context, slots) = (b.block_params(entry)[0], b.block_params(entry)[1]);
        let [at, emitted] = core::array::from_fn(|_| b.declare_var(types::I64));
        Self {
            shared,
            callees,
            summary: FunctionSummary::default(),
            b,
            context,
            slots,
            vars: BTreeMap::new(),
            at,
            emitted,
            done: entry,
            returned: entry,
            no_match: None,
            reject: entry,
            reject_known: entry,
            limit: entry,
            emit_bound: 0,
            emit_base: None,
            vectors: None,
            known: Known::default(),
            loaded: BTreeMap::new(),
            unreadable: None,
            ends: None,
            is_outermost: true,
            is_acyclic: false,
            edges: Vec::new(),
        }
    }

    /// Begins a part: nothing is taken or emitted yet, and its ends are blocks of its own.
    fn open(&mut self, summary: FunctionSummary) {
        let [done, reject, reject_known, limit] = core::array::from_fn(|_| self.b.create_block());
        self.b.append_block_param(reject, types::I64);
        [reject, reject_known, limit].into_iter().for_each(|block| self.b.set_cold_block(block));
        (self.done, self.returned, self.limit) = (done, done, limit);
        (self.reject, self.reject_known, self.no_match) = (reject, reject_known, None);
        self.summary = summary;
        let zero = self.iconst(0);
        self.b.def_var(self.at, zero);
        self.b.def_var(self.emitted, zero);
    }

    /// Ends the native function; the number of bytes that it may emit by itself.
    fn close(self) -> u32 {
        let Self { mut b, emit_bound, .. } = self;
        b.seal_all_blocks();
        b.finalize();
        emit_bound
    }

    /// Writes the blocks in which a refusal ends, up to the one where the error is known to the frame.
    fn rejects(&mut self) -> TranslateResult {
        self.fill_no_match();
        self.switch_to(self.reject);
        let error = self.b.block_params(self.reject)[0];
        self.write(self.shared.code.parser_error, error)?;
        self.jump(self.reject_known, &[]);
        Ok(())
    }

    fn exits(&mut self) -> TranslateResult {
        self.rejects()?;
        let mut ends = vec![(self.reject_known, REJECT), (self.limit, STEP_LIMIT), (self.done, DONE)];
        ends.extend(self.summary.action.then_some((self.returned, RETURN)));
        for (block, end) in ends {
            self.switch_to(block);
            self.flush();
            self.end_with(end);
        }
        Ok(())
    }

    /// Returns from the native function.
    fn end_with(&mut self, end: u64) {
        let end = self.iconst(end);
        self.b.ins().return_(&[end]);
    }

    /// Writes what stands in registers for the caller.
    fn flush(&mut self) {
        if self.summary.takes {
            self.flush_at();
        }
        if self.summary.emits {
            let emitted = self.b.use_var(self.emitted);
            self.store_field(field!(emitted), emitted);
        }
    }

    fn flush_at(&mut self) {
        let at = self.b.use_var(self.at);
        self.store_field(field!(at), at);
    }

    /// The place of a word of the frame.
    fn offset(&self, slot: u32) -> TranslateResult<i32> {
        let bytes = i32::try_from(u64::from(slot) * 8).map_err(|_| OutOfFrame)?;
        if slot < self.shared.code.layout.size() { Ok(bytes) } else { Err(OutOfFrame) }
    }

    fn read(&mut self, slot: u32) -> TranslateResult<Value> {
        let offset = self.offset(slot)?;
        Ok(match self.shared.plan.storage_of(slot) {
            Storage::Memory => self.b.ins().load(types::I64, frame_flags(), self.slots, offset),
            Storage::Constant(value) => self.iconst(value),
            Storage::Register => match self.known.get(slot) {
                Some(value) => self.iconst(value),
                None => {
                    let var = self.var(slot);
                    self.b.use_var(var)
                }
            },
            Storage::PackedBits(part) => self.read_packed(part),
        })
    }

    /// Bits of a chunk.
    pub(super) fn read_packed(&mut self, part: PackedBits) -> Value {
        let PackedBits { chunk, low, width, unit } = part;
        if let Some(value) = self.known_packed(part) {
            return self.iconst(value);
        }
        let var = self.var(chunk);
        let word = self.b.use_var(var);
        if low + width == unit {
            return if low == 0 { word } else { self.b.ins().ushr_imm(word, i64::from(low)) };
        }
        if width <= 32 {
            let word = if low == 0 { word } else { self.b.ins().ushr_imm(word, i64::from(low)) };
            return self.cut(64 - width, word);
        }
        // A mask of so many bits would be a constant of its own.
        let word = self.b.ins().ishl_imm(word, i64::from(64 - low - width));
        self.b.ins().ushr_imm(word, i64::from(64 - width))
    }

    /// Bits of a chunk, from a value that has no others.
    fn write_packed(&mut self, part: PackedBits, value: Value) {
        let PackedBits { chunk, low, width, unit } = part;
        let value = match (low, self.constant(value)) {
            (0, _) => value,
            (_, Some(value)) => self.iconst(value << low),
            (_, None) => self.b.ins().ishl_imm(value, i64::from(low)),
        };
        if width == unit {
            self.set_chunk(chunk, value);
            return;
        }
        let KnownBits { value: before, mask } = self.known.bits(chunk);
        let (hole, constant) = (part.bits(), self.constant(value));
        let known = KnownBits {
            value: before & !hole | constant.unwrap_or(0),
            mask: mask & !hole | constant.map_or(0, |_| hole),
        };
        if known.mask == u64::MAX {
            let word = self.iconst(known.value);
            self.set_chunk(chunk, word);
            return;
        }
        let var = self.var(chunk);
        let word = self.b.use_var(var);
        let word = self.b.ins().band_imm(word, !hole as i64);
        let word = self.b.ins().bor(word, value);
        self.set_chunk(chunk, word);
        self.known.set_bits(chunk, known);
    }

    /// A chunk has another value now.
    fn set_chunk(&mut self, chunk: u32, value: Value) {
        let var = self.var(chunk);
        self.b.def_var(var, value);
        self.known.set(chunk, self.constant(value));
    }

    fn write(&mut self, slot: u32, value: Value) -> TranslateResult {
        let offset = self.offset(slot)?;
        match self.shared.plan.storage_of(slot) {
            Storage::Memory => {
                self.b.ins().store(frame_flags(), value, self.slots, offset);
            }
            Storage::Register => {
                let var = self.var(slot);
                self.b.def_var(var, value);
                self.known.set(slot, self.constant(value));
            }
            Storage::PackedBits(part) => self.write_packed(part, value),
            Storage::Constant(_) => return Err(OutOfFrame),
        }
        Ok(())
    }

    /// Puts words that live in registers to their places in the frame, for who looks at them there.
    fn spill(&mut self, slots: impl IntoIterator<Item = u32>) -> TranslateResult {
        for slot in slots {
            if matches!(self.shared.plan.storage_of(slot), Storage::Register | Storage::PackedBits(_)) {
                let (offset, value) = (self.offset(slot)?, self.read(slot)?);
                self.b.ins().store(frame_flags(), value, self.slots, offset);
            }
        }
        Ok(())
    }

    /// Takes words that live in registers from their places
    /// in the frame, where a helper may have written them.
    fn reload(&mut self, slots: impl IntoIterator<Item = u32>) -> TranslateResult {
        for slot in slots {
            if matches!(self.shared.plan.storage_of(slot), Storage::Register | Storage::PackedBits(_)) {
                let offset = self.offset(slot)?;
                let value = self.b.ins().load(types::I64, frame_flags(), self.slots, offset);
                self.write(slot, value)?;
            }
        }
        Ok(())
    }

    /// The value of a word, if it is known now.
    fn known(&self, slot: u32) -> Option<u64> {
        match self.shared.plan.storage_of(slot) {
            Storage::Constant(value) => Some(value),
            Storage::Register => self.known.get(slot),
            Storage::PackedBits(part) => self.known_packed(part),
            Storage::Memory => None,
        }
    }

    fn known_packed(&self, part: PackedBits) -> Option<u64> {
        let KnownBits { value, mask } = self.known.bits(part.chunk);
        (mask & part.bits() == part.bits()).then_some((value & part.bits()) >> part.low)
    }

    fn var(&mut self, slot: u32) -> Variable {
        let b = &mut self.b;
        *self.vars.entry(slot).or_insert_with(|| b.declare_var(types::I64))
    }

    fn iconst(&mut self, value: u64) -> Value {
        self.b.ins().iconst(types::I64, value as i64)
    }

    fn load_field(&mut self, offset: i32) -> Value {
        self.b.ins().load(types::I64, context_flags(), self.context, offset)
    }

    /// A field that stays as it is while native code runs.
    fn load_given(&mut self, offset: i32) -> Value {
        self.b.ins().load(types::I64, state::given_flags(), self.context, offset)
    }

    fn store_field(&mut self, offset: i32, value: Value) {
        self.b.ins().store(context_flags(), value, self.context, offset);
    }

    /// Calls a helper.
    fn call(&mut self, name: Name, args: &[Value]) -> Value {
        let helper = self.callees.helpers[name as usize];
        let args: Vec<Value> = [self.context].iter().chain(args).copied().collect();
        let call = self.b.ins().call(helper, &args);
        self.b.inst_results(call)[0]
    }

    /// Calls a helper that takes an index.
    fn call_index(&mut self, name: Name, index: u32) -> Value {
        let index = self.iconst(index.into());
        self.call(name, &[index])
    }

    /// Rejects when a helper's result is an error.
    fn check(&mut self, result: Value) {
        self.reject_unless(result, true, |t| t.b.ins().iadd_imm(result, -1));
    }

    /// Rejects with an error unless a condition holds.
    fn require(&mut self, cond: Value, error: u32) {
        self.reject_unless(cond, false, |t| t.iconst(error.into()));
    }

    /// Rejects unless a value is zero, or unless it is not; the error is worked out then only.
    fn reject_unless(&mut self, cond: Value, zero: bool, error: impl FnOnce(&mut Self) -> Value) {
        let [next, wrong] = core::array::from_fn(|_| self.b.create_block());
        self.b.set_cold_block(wrong);
        let [then, otherwise] = if zero { [wrong, next] } else { [next, wrong] };
        self.brif(cond, then, &[], otherwise, &[]);
        if self.known.is_entered(wrong) {
            self.switch_to(wrong);
            let error = error(self);
            self.jump(self.reject, &[error.into()]);
        }
        self.switch_to(next);
    }

    fn icmp(&mut self, code: IntCC, a: Value, b: Value) -> Value {
        if let (IntCC::Equal | IntCC::NotEqual, Some(x), Some(y)) = (code, self.constant(a), self.constant(b))
        {
            return self.iconst(u64::from((x == y) == (code == IntCC::Equal)));
        }
        let bit = self.b.ins().icmp(code, a, b);
        self.b.ins().uextend(types::I64, bit)
    }

    /// Keeps 64 minus `shift` bits.
    fn cut(&mut self, shift: u8, value: Value) -> Value {
        if shift == 0 { value } else { self.b.ins().band_imm(value, (u64::MAX >> shift) as i64) }
    }

    /// Loads `ty` in network byte order, zero-extended.
    fn load_be(&mut self, ty: Type, base: Value, offset: i32) -> Value {
        let flags = self.taken_flags();
        let raw = self.b.ins().load(ty, flags, base, offset);
        if ty == types::I8 {
            return self.b.ins().uextend(types::I64, raw);
        }
        let value = self.swap(raw);
        if ty == types::I64 { value } else { self.b.ins().uextend(types::I64, value) }
    }

    /// Bytes of what a run is given: nothing writes to them, so they may be loaded
    /// where their values are used. Where an operation may run again they are loaded
    /// at once: what comes before it need not have been compared with the length.
    fn taken_flags(&self) -> MemFlags {
        let flags = MemFlags::new().with_notrap().with_readonly();
        if self.summary.counted { flags } else { flags.with_can_move() }
    }

    fn swap(&mut self, value: Value) -> Value {
        if cfg!(target_endian = "little") { self.b.ins().bswap(value) } else { value }
    }

    /// Translates the operation at an address; whether the next one follows.
    fn op(
        &mut self,
        address: u32,
        blocks: &BTreeMap<u32, Block>,
        back: Option<Block>,
    ) -> TranslateResult<bool> {
        let op = self.shared.code.ops[address as usize];
        if self.alu(op)? {
            return Ok(true);
        }
        match op {
            Op::Extract { .. }
            | Op::Advance { .. }
            | Op::Lookahead { .. }
            | Op::PacketLength { .. }
            | Op::Verify { .. }
            | Op::Emit { .. }
            | Op::SetValid { .. }
            | Op::SetInvalid { .. } => self.packet_op(op)?,
            Op::Apply { table, hit, action } => {
                let next = self.b.create_block();
                let behind = Behind { blocks, address: address + 1 };
                self.apply(table, [hit, action], behind, next)?;
                self.switch_to(next);
            }
            Op::Call { action } => {
                let next = self.b.create_block();
                self.run_action(ActionId(action), next)?;
                self.switch_to(next);
            }
            Op::Count { counter, index } => {
                let index = self.read(index)?;
                self.count(counter, index);
            }
            Op::VerifyChecksum(index) => self.verify_checksum(index)?,
            Op::UpdateChecksum(index) => self.update_checksum(index)?,
            Op::Extern(index) => self.extern_op(index)?,
            Op::Slow(index) => self.slow(index),
            _ => {
                self.end(op, blocks, back)?;
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Begins a block of the program; false if nothing goes there.
    fn begin(&mut self, block: Block, is_looped: bool) -> bool {
        if is_looped {
            self.switch_to_loop(block);
        } else if self.known.is_entered(block) {
            self.switch_to(block);
        } else {
            return false;
        }
        true
    }

    /// Translates a function, or an action inlined into one; a return goes `back`, or ends the function.
    fn body(&mut self, func: usize, back: Option<Block>) -> TranslateResult {
        let code = self.shared.code;
        let sequence = basic_blocks::reverse_postorder(code, func);
        let order: BTreeMap<u32, usize> =
            sequence.iter().enumerate().map(|(i, block)| (block.start, i)).collect();
        let blocks: BTreeMap<u32, Block> =
            order.keys().map(|&start| (start, self.b.create_block())).collect();
        let loop_headers = basic_blocks::loop_headers(code, &sequence, &order);
        let around = (self.is_acyclic, self.is_outermost);
        (self.is_acyclic, self.is_outermost) = (loop_headers.is_empty(), back.is_none());
        if let Some(first) = sequence.first() {
            let to = self.place(&blocks, first.start)?;
            self.jump(to, &[]);
        }
        for block in sequence {
            let mut open = self.begin(blocks[&block.start], loop_headers.contains(&block.start));
            for address in block.clone() {
                if !open {
                    break;
                }
                open = self.op(address, &blocks, back)? && self.is_left();
                self.fill_edges();
            }
            if open {
                self.go_on(&blocks, block.end)?;
            }
        }
        (self.is_acyclic, self.is_outermost) = around;
        Ok(())
    }

    /// Goes on at the next address, if the function has one.
    fn go_on(&mut self, blocks: &BTreeMap<u32, Block>, next: u32) -> TranslateResult {
        let to = if blocks.contains_key(&next) { self.place(blocks, next)? } else { self.done };
        self.jump(to, &[]);
        Ok(())
    }
}

/// Whether sixteen bytes move at once.
const HAS_PAIRS: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

/// Words of the frame.
fn frame_flags() -> MemFlags {
    MemFlags::trusted().with_alias_region(Some(AliasRegion::Heap))
}

/// Two words of the frame: as a pair they are not aligned.
fn pair_flags() -> MemFlags {
    MemFlags::new().with_notrap().with_alias_region(Some(AliasRegion::Heap))
}

/// Fields of the context.
fn context_flags() -> MemFlags {
    MemFlags::trusted().with_alias_region(Some(AliasRegion::Vmctx))
}

/// Bytes of the packet, of what is emitted, and arguments: nothing else is written through these.
fn bytes_flags() -> MemFlags {
    MemFlags::new().with_notrap().with_alias_region(Some(AliasRegion::Table))
}
