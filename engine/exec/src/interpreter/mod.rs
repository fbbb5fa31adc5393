//! The interpreter: a register machine, one loop over the operations. It does not recurse, and the common
//! path allocates nothing.
//!
//! Invariants: calls keep their return addresses in the frame. Every jump is counted, so no program runs
//! forever. A verified program never leaves its code, its frame or its side tables.

mod externs;
mod packet;
mod slow;
mod table;

use p4cc_ir::{BlockId, FuncId, core_errors, limits};

use crate::bitplan::BitWriter;
use crate::env::{Env, Executor, NoTrace, PacketView, ParseResult, Trace, Values};
use crate::op::{Args, Code, Op};
use crate::v1_pipelines::{self, BlockRunner};
use crate::{EgressEnd, EgressStart, Frame, IngressStart, Pipeline};

/// Most jumps of one control run. A control that loops on is cut off as by `exit`.
pub const MAX_CONTROL_STEPS: u32 = 1 << 20;

/// Does something and goes on with the next operation; with `self`, an error rejects the packet.
macro_rules! next {
    ($self:ident, $result:expr) => {{
        if let Err(error) = $result {
            return $self.reject(error);
        }
        continue;
    }};
    ($action:expr) => {{
        $action;
        continue;
    }};
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// Return of the entry function, `exit`, or accept.
    Done,
    /// The parser refuses the packet.
    Reject(u32),
    /// Too many jumps.
    StepLimit,
}

/// One run: the code and everything it works on.
pub(crate) struct Run<'a, 'e, 'o, T> {
    pub(crate) code: &'a Code,
    pub(crate) slots: &'a mut [u64],
    pub(crate) calls: &'a mut Vec<u32>,
    pub(crate) bytes: &'a mut Vec<u8>,
    /// Absent where a deparser runs by itself, which then calls nothing.
    pub(crate) env: Option<&'a mut Env<'e>>,
    pub(crate) packet: PacketView<'a>,
    /// Bits of the packet taken so far.
    pub(crate) at: u64,
    pub(crate) out: BitWriter<'o>,
    pub(crate) trace: &'a mut T,
}

/// Reads a word.
#[inline(always)]
fn get(slots: &[u64], slot: u32) -> u64 {
    slots[slot as usize]
}

/// Two words in, one word out.
#[inline(always)]
fn alu(slots: &mut [u64], args: Args, f: impl Fn(u64, u64) -> u64) {
    slots[args.dst as usize] = f(slots[args.a as usize], slots[args.b as usize]);
}

/// Keeps 64 minus `shift` bits.
#[inline(always)]
fn cut(shift: u8, value: u64) -> u64 {
    value & (u64::MAX >> shift)
}

/// Two's complement value of a word with 64 minus `shift` bits.
#[inline(always)]
fn signed(shift: u8, value: u64) -> i64 {
    (value << shift) as i64 >> shift
}

/// Clamps to the two's complement range of 64 minus `shift` bits.
#[inline(always)]
fn clamp(shift: u8, value: i128) -> u64 {
    let max = i128::from(i64::MAX >> shift);
    cut(shift, value.clamp(-max - 1, max) as u64)
}

#[inline(always)]
fn copy_words(slots: &mut [u64], dst: u32, src: u32, words: u32) {
    slots.copy_within(src as usize..(src + words) as usize, dst as usize);
}

#[inline(always)]
fn shift_left(value: u64, amount: u64) -> u64 {
    if amount < 64 { value << amount } else { 0 }
}

#[inline(always)]
fn shift_right(value: u64, amount: u64) -> u64 {
    if amount < 64 { value >> amount } else { 0 }
}

impl<T: Trace> Run<'_, '_, '_, T> {
    /// Runs the first operation, which is the only one; whether it did all that it does.
    #[cfg(feature = "testing")]
    pub(crate) fn run_one(&mut self) -> bool {
        self.run(0, 1) == End::Done
    }

    /// Runs from an address. The frequent operations stand in one match: a second one costs a jump each.
    fn run(&mut self, entry: u32, step_limit: u32) -> End {
        let code = self.code;
        let ops = &code.ops[..];
        let mut steps = step_limit;
        let mut pc = entry as usize;
        self.calls.clear();
        if T::ENABLED {
            self.trace_block(pc);
        }
        loop {
            let Some(op) = ops.get(pc) else { return End::Done };
            pc += 1;
            let s = &mut *self.slots;
            let to = match *op {
                Op::Move { dst, src } => next!(s[dst as usize] = s[src as usize]),
                Op::CopyWords { dst, src, words } => next!(copy_words(s, dst, src, words)),
                Op::Not(shift, args) => next!(alu(s, args, |a, _| cut(shift, !a))),
                Op::Add(shift, args) => next!(alu(s, args, |a, b| cut(shift, a.wrapping_add(b)))),
                Op::Sub(shift, args) => next!(alu(s, args, |a, b| cut(shift, a.wrapping_sub(b)))),
                Op::And(args) => next!(alu(s, args, |a, b| a & b)),
                Op::Or(args) => next!(alu(s, args, |a, b| a | b)),
                Op::Xor(args) => next!(alu(s, args, |a, b| a ^ b)),
                Op::Shl(shift, args) => next!(alu(s, args, |a, b| cut(shift, shift_left(a, b)))),
                Op::Shr(args) => next!(alu(s, args, shift_right)),
                Op::Eq(args) => next!(alu(s, args, |a, b| u64::from(a == b))),
                Op::Ne(args) => next!(alu(s, args, |a, b| u64::from(a != b))),
                Op::Lt(args) => next!(alu(s, args, |a, b| u64::from(a < b))),
                Op::Le(args) => next!(alu(s, args, |a, b| u64::from(a <= b))),
                Op::Concat { low, args } => next!(alu(s, args, |a, b| a << low | b)),
                Op::Truncate { shift, dst, src } => next!(s[dst as usize] = cut(shift, s[src as usize])),
                Op::Slice { shift, low, dst, src } => {
                    next!(s[dst as usize] = cut(shift, s[src as usize] >> low))
                }
                Op::Extract { header } => next!(self, self.extract(header)),
                Op::Verify { cond, error } => next!(self, self.verify(cond, error)),
                Op::Emit { header } => next!(self.emit(header)),
                Op::Count { counter, index } => next!(self.count(counter, index)),
                Op::VerifyChecksum(index) => next!(self.verify_checksum(index)),
                Op::UpdateChecksum(index) => next!(self.update_checksum(index)),
                Op::Jump { to } => Some(to),
                Op::Branch { cond, then, otherwise } => {
                    Some(if get(s, cond) != 0 { then } else { otherwise })
                }
                Op::Select(index) => self.select(index),
                Op::SelectSlow(index) => self.select_slow(index),
                Op::Apply { table, hit, action } => {
                    if let Some(entry) = self.apply(table, hit, action) {
                        self.calls.push(pc as u32);
                        pc = entry as usize;
                    }
                    continue;
                }
                Op::Call { action } => {
                    self.calls.push(pc as u32);
                    pc = self.enter_action(action) as usize;
                    continue;
                }
                Op::Return => match self.calls.pop() {
                    Some(back) => next!(pc = back as usize),
                    None => return End::Done,
                },
                Op::Exit | Op::Accept => return End::Done,
                Op::Reject => return End::Reject(get(s, code.parser_error) as u32),
                _ => next!(self, self.rare(op)),
            };
            let Some(to) = to else { return self.reject(core_errors::NO_MATCH) };
            pc = to as usize;
            if T::ENABLED {
                self.trace_block(pc);
            }
            let Some(left) = steps.checked_sub(1) else { return End::StepLimit };
            steps = left;
        }
    }

    /// The less frequent operations; an error rejects the packet.
    fn rare(&mut self, op: &Op) -> Result<(), u32> {
        let s = &mut *self.slots;
        match *op {
            Op::Neg(shift, args) => alu(s, args, |a, _| cut(shift, a.wrapping_neg())),
            Op::Mul(shift, args) => alu(s, args, |a, b| cut(shift, a.wrapping_mul(b))),
            Op::Div(args) => alu(s, args, |a, b| a.checked_div(b).unwrap_or(0)),
            Op::Mod(args) => alu(s, args, |a, b| a.checked_rem(b).unwrap_or(0)),
            Op::AddSat(shift, args) => alu(s, args, |a, b| a.saturating_add(b).min(u64::MAX >> shift)),
            Op::SubSat(args) => alu(s, args, u64::saturating_sub),
            Op::AddSatSigned(shift, args) => {
                alu(s, args, |a, b| clamp(shift, i128::from(signed(shift, a)) + i128::from(signed(shift, b))))
            }
            Op::SubSatSigned(shift, args) => {
                alu(s, args, |a, b| clamp(shift, i128::from(signed(shift, a)) - i128::from(signed(shift, b))))
            }
            Op::ShrSigned(shift, args) => {
                alu(s, args, |a, b| cut(shift, (signed(shift, a) >> b.min(63)) as u64));
            }
            Op::LtSigned(shift, args) => {
                alu(s, args, |a, b| u64::from(signed(shift, a) < signed(shift, b)));
            }
            Op::LeSigned(shift, args) => {
                alu(s, args, |a, b| u64::from(signed(shift, a) <= signed(shift, b)));
            }
            Op::SignExtend { shift, from, dst, src } => {
                s[dst as usize] = cut(shift, signed(from, s[src as usize]) as u64);
            }
            Op::SetSlice { shift, low, dst, src } => {
                let hole = (u64::MAX >> shift) << low;
                s[dst as usize] = s[dst as usize] & !hole | s[src as usize] << low;
            }
            Op::SetValid { header } => self.set_valid(header),
            Op::SetInvalid { header } => self.set_invalid(header),
            Op::Advance { bits } => return self.advance(get(self.slots, bits)),
            Op::Lookahead { width, dst } => return self.lookahead(width, dst),
            Op::PacketLength { dst, shift } => s[dst as usize] = cut(shift, self.packet.len()),
            Op::Slow(index) => return self.slow(index),
            Op::Extern(index) => self.call_extern(index),
            _ => {}
        }
        Ok(())
    }

    /// `verify(cond, error)`
    #[inline(always)]
    fn verify(&self, cond: u32, error: u32) -> Result<(), u32> {
        if get(self.slots, cond) != 0 { Ok(()) } else { Err(get(self.slots, error) as u32) }
    }

    #[inline]
    fn select(&self, index: u32) -> Option<u32> {
        let select = &self.code.selects[index as usize];
        let key = select.keys.iter().fold(0, |key, &(slot, shift)| key | get(self.slots, slot) << shift);
        let hit = select.cases.iter().find(|&&(value, mask, _)| key & mask == value);
        hit.map(|case| case.2).or(select.default)
    }

    /// Rejects with an error, which the metadata keeps.
    #[cold]
    fn reject(&mut self, error: u32) -> End {
        self.slots[self.code.parser_error as usize] = u64::from(error);
        End::Reject(error)
    }

    #[cold]
    fn trace_block(&mut self, pc: usize) {
        // Blocks without code share an address; the last of them is the one that runs.
        let after = self.code.blocks.partition_point(|block| block.0 as usize <= pc);
        if let Some(&(address, func, block)) = after.checked_sub(1).and_then(|i| self.code.blocks.get(i))
            && address as usize == pc
        {
            self.trace.block(func, BlockId(block), Values(self.slots));
        }
    }
}

impl Pipeline {
    fn start<'a, 'e, 'o, T: Trace>(
        &'a self,
        frame: &'a mut Frame,
        packet: PacketView<'a>,
        env: Option<&'a mut Env<'e>>,
        out: &'o mut Vec<u8>,
        trace: &'a mut T,
    ) -> Run<'a, 'e, 'o, T> {
        let Frame { slots, calls, bytes, .. } = frame;
        Run { code: self.code(), slots, calls, bytes, env, packet, at: 0, out: BitWriter::new(out), trace }
    }

    /// As [`Executor::parse_by`], with a trace.
    pub fn parse_traced<T: Trace>(
        &self,
        func: FuncId,
        frame: &mut Frame,
        packet: PacketView<'_>,
        env: &mut Env<'_>,
        trace: &mut T,
    ) -> ParseResult {
        let mut none = Vec::new();
        let entry = self.entry(func);
        let mut run = self.start(frame, packet, Some(env), &mut none, trace);
        let error = match run.run(entry, limits::MAX_PARSER_STEPS) {
            End::Done => None,
            End::Reject(error) => Some(error),
            End::StepLimit => {
                run.reject(core_errors::PARSER_TIMEOUT);
                Some(core_errors::PARSER_TIMEOUT)
            }
        };
        run.trace.left(Values(run.slots));
        ParseResult { consumed_bits: u32::try_from(run.at).unwrap_or(u32::MAX), error }
    }

    /// As [`Executor::run`], with a trace.
    pub fn run_traced<T: Trace>(&self, func: FuncId, frame: &mut Frame, env: &mut Env<'_>, trace: &mut T) {
        let mut none = Vec::new();
        let entry = self.entry(func);
        let mut run = self.start(frame, PacketView::default(), Some(&mut *env), &mut none, trace);
        let end = run.run(entry, MAX_CONTROL_STEPS);
        run.trace.left(Values(run.slots));
        if end == End::StepLimit {
            env.effects.request().loop_limits_hit += 1;
        }
    }
}

/// The interpreter, watched by a trace.
struct Watched<'a, T> {
    pipeline: &'a Pipeline,
    trace: &'a mut T,
}

impl<T: Trace> BlockRunner for Watched<'_, T> {
    fn parse(
        &mut self,
        func: FuncId,
        frame: &mut Frame,
        packet: PacketView<'_>,
        env: &mut Env<'_>,
    ) -> ParseResult {
        self.pipeline.parse_traced(func, frame, packet, env, self.trace)
    }

    fn control(&mut self, func: FuncId, frame: &mut Frame, env: &mut Env<'_>) {
        self.pipeline.run_traced(func, frame, env, self.trace);
    }

    fn deparse(&mut self, func: FuncId, frame: &mut Frame, env: &mut Env<'_>, out: &mut Vec<u8>) {
        self.pipeline.deparse_by(func, frame, env, out);
    }
}

impl Pipeline {
    /// As [`Executor::ingress`], with a trace.
    pub fn ingress_traced<'e, T: Trace>(
        &self,
        frame: &mut Frame,
        start: IngressStart<'e>,
        env: &mut Env<'e>,
        trace: &mut T,
    ) -> ParseResult {
        v1_pipelines::ingress(self, &mut Watched { pipeline: self, trace }, frame, start, env)
    }

    /// As [`Executor::egress`], with a trace.
    pub fn egress_traced<'e, T: Trace>(
        &self,
        frame: &mut Frame,
        start: EgressStart<'e>,
        env: &mut Env<'e>,
        trace: &mut T,
    ) -> EgressEnd {
        v1_pipelines::egress(self, &mut Watched { pipeline: self, trace }, frame, &start, env)
    }

    /// As [`Executor::finish`], with a trace.
    pub fn finish_traced<T: Trace>(&self, frame: &mut Frame, env: &mut Env<'_>, trace: &mut T) {
        v1_pipelines::finish(self, &mut Watched { pipeline: self, trace }, frame, env);
    }
}

impl Executor for Pipeline {
    fn parse(&self, frame: &mut Frame, packet: PacketView<'_>, env: &mut Env<'_>) -> ParseResult {
        self.parse_by(self.program().architecture.first_parser(), frame, packet, env)
    }

    fn parse_by(
        &self,
        func: FuncId,
        frame: &mut Frame,
        packet: PacketView<'_>,
        env: &mut Env<'_>,
    ) -> ParseResult {
        self.parse_traced(func, frame, packet, env, &mut NoTrace)
    }

    fn run(&self, func: FuncId, frame: &mut Frame, env: &mut Env<'_>) {
        self.run_traced(func, frame, env, &mut NoTrace);
    }

    fn deparse(&self, frame: &mut Frame, out: &mut Vec<u8>) {
        let entry = self.entry(self.program().architecture.last_deparser());
        self.start(frame, PacketView::default(), None, out, &mut NoTrace).run(entry, MAX_CONTROL_STEPS);
    }

    fn deparse_by(&self, func: FuncId, frame: &mut Frame, env: &mut Env<'_>, out: &mut Vec<u8>) {
        let entry = self.entry(func);
        self.start(frame, PacketView::default(), Some(env), out, &mut NoTrace).run(entry, MAX_CONTROL_STEPS);
    }

    fn ingress<'e>(&self, frame: &mut Frame, start: IngressStart<'e>, env: &mut Env<'e>) -> ParseResult {
        self.ingress_traced(frame, start, env, &mut NoTrace)
    }

    fn egress<'e>(&self, frame: &mut Frame, start: EgressStart<'e>, env: &mut Env<'e>) -> EgressEnd {
        self.egress_traced(frame, start, env, &mut NoTrace)
    }

    fn finish(&self, frame: &mut Frame, env: &mut Env<'_>) {
        self.finish_traced(frame, env, &mut NoTrace);
    }
}
