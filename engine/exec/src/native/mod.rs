//! Native code: the second execution back end. The interpreter is the first and defines the result.
//!
//! Each operation is translated to Cranelift's IR, over the same frame, state and effects. Rare or wide
//! operations call the interpreter's own functions ([`helpers`]), so each operation has one implementation.
//! Entries, cells and default actions are data: a change of them needs no translation.
//!
//! A v1model program becomes two native functions, the ingress and the egress pipeline
//! ([`crate::V1Pipelines`]), a TNA program two for each pipe. Its programmable blocks are translated one by
//! one when somebody first runs one alone.
//!
//! Invariants: outputs, state and effects are those of the interpreter, for any packet and any entries.
//! `unsafe` is in [`context`] only.

mod codegen;
mod context;
mod helpers;
mod storage;
mod summary;
mod translate;
mod zero_init;

use core::fmt;
use std::sync::OnceLock;

use p4cc_ir::{FuncId, core_errors, limits};

use self::codegen::MAX_FUNCTION_WORK;
use self::codegen::{NativeBlocks, NativeHalves, NativePipelines};
use self::context::{
    BypassArgs, Call, DEPARSED, DONE, DROPPED, Ended, REJECT, REQUESTED, STEP_LIMIT, Start, Translated,
    UNREADABLE, WRITTEN, egress_words, enter, enter_pipeline, is_ready, make_ready,
};
pub(crate) use self::storage::Locals;
use self::storage::{MAX_FUNCTION_OPS, MAX_FUNCTION_WORDS};
use crate::env::{Env, Executor, PacketView, ParseResult, QueueBypass};
use crate::tna_pipelines::{HalfEnd, HalfId};
use crate::v1_pipelines::{self, BlockRunner, BypassEnd, BypassResult, EgressEnd, EgressStart, IngressStart};
use crate::{Frame, MAX_CONTROL_STEPS, Pipeline};

/// What runs a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Exec {
    /// The interpreter.
    Interp,
    /// Native code; the interpreter where there is none for the program or the processor.
    #[default]
    Native,
}

impl Exec {
    /// Both, in the order of messages.
    pub const ALL: [Exec; 2] = [Exec::Interp, Exec::Native];

    /// Its name in options and descriptions.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Interp => "interp",
            Self::Native => "native",
        }
    }
}

impl core::str::FromStr for Exec {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|exec| exec.name() == name);
        found.ok_or_else(|| format!("`{name}` is not an execution back end; there are interp and native"))
    }
}

/// Why a program has no native code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NativeError {
    /// Cranelift makes no code for this machine.
    #[error("no native code for this processor: {0}")]
    Host(String),
    /// A function is too large to translate in a moment.
    #[error(
        "{place} takes {ops} operations that move {words} words with its actions; \
         at most {MAX_FUNCTION_OPS} and {MAX_FUNCTION_WORDS} are translated"
    )]
    TooLarge {
        /// What it is.
        place: String,
        /// Operations of the interpreter.
        ops: usize,
        /// Words of the frame that they move.
        words: usize,
    },
    /// A function would take Cranelift long.
    #[error("{place} takes {work} instructions; at most {MAX_FUNCTION_WORK} are compiled")]
    TooManyInstructions {
        /// What it is.
        place: String,
        /// Its instructions and a part of the values that branches hand on.
        work: usize,
    },
    /// Whoever asked for the code no longer wants it.
    #[error("the translation was cancelled")]
    Cancelled,
    /// Cranelift refused a function: a fault of the translation.
    #[error("{place}: {cause}")]
    Refused {
        /// What it is.
        place: String,
        /// Cranelift's message.
        cause: String,
    },
}

/// Native code of one program.
pub struct Native {
    pipeline: Pipeline,
    locals: Locals,
    v1_pipelines: Option<NativePipelines>,
    halves: Option<NativeHalves>,
    /// Parsers and controls by themselves.
    blocks: OnceLock<Result<NativeBlocks, NativeError>>,
    /// Whether the first packet that needs `blocks` makes them; otherwise the interpreter runs such blocks
    /// until another thread has.
    makes_blocks: bool,
}

impl fmt::Debug for Native {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Native").field("v1_pipelines", &self.v1_pipelines.is_some()).finish_non_exhaustive()
    }
}

impl Native {
    /// Translates a program.
    pub(crate) fn compile(pipeline: &Pipeline, locals: Locals) -> Result<Native, NativeError> {
        let native = Self::compile_unless(pipeline, locals, &|| false)?;
        Ok(Native { makes_blocks: true, ..native })
    }

    /// The same, given up between two functions once the work is cancelled.
    pub(crate) fn compile_unless(
        pipeline: &Pipeline,
        locals: Locals,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<Native, NativeError> {
        let v1_pipelines = match (pipeline.v1_pipelines(), locals) {
            (Some(v1_pipelines), Locals::InRegisters) => {
                codegen::v1_pipelines(pipeline, v1_pipelines, is_cancelled)?
            }
            _ => None,
        };
        let halves = match locals {
            Locals::InRegisters if !pipeline.halves().is_empty() => codegen::halves(pipeline, is_cancelled)?,
            _ => None,
        };
        let (pipeline, blocks, makes_blocks) = (pipeline.bare(), OnceLock::new(), false);
        let native = Native { pipeline, locals, v1_pipelines, halves, blocks, makes_blocks };
        if native.v1_pipelines.is_none() && native.halves.is_none() {
            native.make_blocks(is_cancelled)?;
        }
        Ok(native)
    }

    /// Translates parsers and controls by themselves, unless that is done.
    pub(crate) fn make_blocks(&self, is_cancelled: &dyn Fn() -> bool) -> Result<(), NativeError> {
        if self.blocks.get().is_none() {
            let made = codegen::blocks(&self.pipeline, self.locals, is_cancelled);
            if matches!(made, Err(NativeError::Cancelled)) {
                return Err(NativeError::Cancelled);
            }
            // Another thread may have been faster; its code is the same.
            let _ = self.blocks.set(made);
        }
        self.blocks.get().map_or(Ok(()), |made| made.as_ref().map(|_| ()).map_err(Clone::clone))
    }

    fn blocks(&self) -> Option<&NativeBlocks> {
        let made = if self.makes_blocks {
            Some(self.blocks.get_or_init(|| codegen::blocks(&self.pipeline, self.locals, &|| false)))
        } else {
            self.blocks.get()
        };
        made?.as_ref().ok()
    }

    /// Runs a function; `None` where there is no code for it.
    fn enter(
        &self,
        func: FuncId,
        frame: &mut Frame,
        packet: PacketView<'_>,
        env: Option<&mut Env<'_>>,
        steps: u32,
        out: &mut Vec<u8>,
    ) -> Option<Ended> {
        let function = self.blocks()?.get(func)?;
        let call = Call {
            code: self.pipeline.code(),
            frame,
            packet,
            env,
            out: Some(&mut *out),
            steps,
            start: Start::default(),
            function,
            bypass_args: BypassArgs::default(),
        };
        let ended = enter(call);
        if ended.emitted > 0 {
            out.extend_from_slice(&frame.emit[..ended.emitted]);
        }
        Some(ended)
    }

    /// Runs an ingress or egress pipeline.
    #[inline(always)]
    fn enter_pipeline(
        &self,
        function: &Translated,
        frame: &mut Frame,
        packet: PacketView<'_>,
        env: &mut Env<'_>,
        start: Start<'_>,
        bypass_args: BypassArgs<'_>,
    ) -> Ended {
        let code = self.pipeline.code();
        let call =
            Call { code, frame, packet, env: Some(env), out: None, steps: 0, start, function, bypass_args };
        let ended = enter_pipeline(call, self.pipeline.program());
        frame.front = ended.emitted;
        ended
    }
}

impl Native {
    /// Whether a half of a TNA program is one function.
    pub fn has_half(&self, id: HalfId) -> bool {
        self.halves.as_ref().is_some_and(|halves| halves.get(id).is_some())
    }

    /// Runs a half of a TNA program as one function: parser, control and deparser, whose output is
    /// [`Frame::front`]. `timestamp` is what the program reads as its parser's. None where the half is to run
    /// block by block: it has no such function, a header is not stored as a whole, or the parser has an
    /// error. Nothing happened then but to the frame.
    #[inline]
    pub fn half<'e>(
        &self,
        id: HalfId,
        frame: &mut Frame,
        packet: PacketView<'e>,
        timestamp: u64,
        env: &mut Env<'e>,
    ) -> Option<HalfEnd> {
        let function = self.halves.as_ref()?.get(id)?;
        let program = self.pipeline.program();
        if !is_ready(frame, env, function, program) {
            make_ready(frame, env, function, program);
        }
        let given = Start { inputs: &[timestamp], drop_port: 0 };
        let ended = self.enter_pipeline(function, frame, packet, env, given, BypassArgs::default());
        let taken = u32::try_from(ended.at.div_ceil(8)).unwrap_or(u32::MAX);
        (ended.how == DONE).then_some(HalfEnd { taken })
    }
}

/// Each pipeline has three ways to run: usually the code runs at once, and the others are separate, so
/// that a packet as a rule calls nothing but the code.
impl Native {
    #[inline(always)]
    fn run_ingress<'e>(
        &self,
        made: &NativePipelines,
        frame: &mut Frame,
        start: IngressStart<'e>,
        env: &mut Env<'e>,
        bypass_args: BypassArgs<'_>,
    ) -> BypassResult {
        let inputs = start.words();
        let given = Start { inputs: &inputs, drop_port: start.drop_port };
        let ended = self.enter_pipeline(&made.ingress, frame, start.packet, env, given, bypass_args);
        if ended.how == WRITTEN {
            return BypassResult::Written { bytes: ended.emitted as u32, taken: ended.at.div_ceil(8) as u32 };
        }
        self.ingress_result(frame, start, env, &ended)
    }

    #[inline(never)]
    fn ingress_result<'e>(
        &self,
        frame: &mut Frame,
        start: IngressStart<'e>,
        env: &mut Env<'e>,
        ended: &Ended,
    ) -> BypassResult {
        let outcome = Self::outcome(ended);
        let end = match ended.how {
            UNREADABLE => {
                let outcome = self.ingress_by_blocks(frame, start, env);
                return BypassResult::Other(outcome, BypassEnd::Waits);
            }
            DEPARSED => BypassEnd::Deparsed,
            DROPPED => BypassEnd::Dropped,
            _ => BypassEnd::Waits,
        };
        BypassResult::Other(outcome, end)
    }

    /// How a parser ended.
    #[inline(always)]
    fn outcome(ended: &Ended) -> ParseResult {
        ParseResult {
            consumed_bits: u32::try_from(ended.at).unwrap_or(u32::MAX),
            error: ended.error.checked_sub(1).map(|error| error as u32),
        }
    }

    /// Ingress alone.
    #[inline(always)]
    fn run_ingress_alone<'e>(
        &self,
        made: &NativePipelines,
        frame: &mut Frame,
        start: IngressStart<'e>,
        env: &mut Env<'e>,
    ) -> ParseResult {
        let inputs = start.words();
        let given = Start { inputs: &inputs, drop_port: start.drop_port };
        let ended =
            self.enter_pipeline(&made.ingress, frame, start.packet, env, given, BypassArgs::default());
        match ended.how {
            UNREADABLE => self.ingress_by_blocks(frame, start, env),
            _ => Self::outcome(&ended),
        }
    }

    /// Runs the ingress pipeline of a v1model program for a packet from outside. Where ingress sends the
    /// packet to one port, makes no other request, and `queue_bypass` agrees, the egress pipeline follows in
    /// the same call. The packet's new head may then be in `room`, at its end less eight bytes, which may be
    /// overwritten.
    #[inline(always)]
    pub fn ingress_with_bypass<'e>(
        &self,
        frame: &mut Frame,
        start: IngressStart<'e>,
        env: &mut Env<'e>,
        queue_bypass: &mut dyn QueueBypass,
        room: &mut [u8],
    ) -> BypassResult {
        match &self.v1_pipelines {
            Some(made)
                if start.outside.is_some()
                    && is_ready(frame, env, &made.ingress, self.pipeline.program()) =>
            {
                self.run_ingress(
                    made,
                    frame,
                    start,
                    env,
                    BypassArgs { queue_bypass: Some(queue_bypass), room },
                )
            }
            _ => BypassResult::Other(self.ingress_otherwise(frame, start, env), BypassEnd::Waits),
        }
    }

    /// Where a header is not stored as a whole: the pipeline ran without effect.
    #[cold]
    #[inline(never)]
    fn ingress_by_blocks<'e>(
        &self,
        frame: &mut Frame,
        start: IngressStart<'e>,
        env: &mut Env<'e>,
    ) -> ParseResult {
        v1_pipelines::ingress(&self.pipeline, &mut &*self, frame, start, env)
    }

    #[cold]
    #[inline(never)]
    fn ingress_otherwise<'e>(
        &self,
        frame: &mut Frame,
        start: IngressStart<'e>,
        env: &mut Env<'e>,
    ) -> ParseResult {
        match &self.v1_pipelines {
            // The native pipeline is made for packets from outside; another brings metadata along in its
            // frame.
            Some(made) if start.outside.is_some() => {
                make_ready(frame, env, &made.ingress, self.pipeline.program());
                self.run_ingress_alone(made, frame, start, env)
            }
            _ => self.ingress_by_blocks(frame, start, env),
        }
    }

    /// None where the pipeline cannot read the packet's snapshot.
    #[inline(always)]
    fn run_egress<'e>(
        &self,
        made: &NativePipelines,
        frame: &mut Frame,
        start: &EgressStart<'e>,
        env: &mut Env<'e>,
    ) -> Option<EgressEnd> {
        let inputs = egress_words(&start.metadata);
        let given = Start { inputs, drop_port: start.drop_port };
        let (packet, none) = (PacketView::new(start.saved), BypassArgs::default());
        match self.enter_pipeline(&made.egress, frame, packet, env, given, none).how {
            DROPPED => Some(EgressEnd::Dropped),
            REQUESTED => Some(EgressEnd::Requested),
            UNREADABLE => None,
            _ => Some(EgressEnd::Deparsed),
        }
    }

    #[cold]
    #[inline(never)]
    fn egress_otherwise<'e>(
        &self,
        frame: &mut Frame,
        start: &EgressStart<'e>,
        env: &mut Env<'e>,
    ) -> EgressEnd {
        let ran = self.v1_pipelines.as_ref().and_then(|made| {
            make_ready(frame, env, &made.egress, self.pipeline.program());
            self.run_egress(made, frame, start, env)
        });
        ran.unwrap_or_else(|| v1_pipelines::egress(&self.pipeline, &mut &*self, frame, start, env))
    }
}

impl Executor for Native {
    fn parse(&self, frame: &mut Frame, packet: PacketView<'_>, env: &mut Env<'_>) -> ParseResult {
        self.parse_by(self.pipeline.program().architecture.first_parser(), frame, packet, env)
    }

    fn parse_by(
        &self,
        func: FuncId,
        frame: &mut Frame,
        packet: PacketView<'_>,
        env: &mut Env<'_>,
    ) -> ParseResult {
        let ran = self.enter(func, frame, packet, Some(env), limits::MAX_PARSER_STEPS, &mut Vec::new());
        let Some(Ended { how, at, .. }) = ran else {
            return self.pipeline.parse_by(func, frame, packet, env);
        };
        let parser_error = self.pipeline.code().parser_error as usize;
        let error = match how {
            REJECT => Some(frame.slots[parser_error] as u32),
            STEP_LIMIT => {
                frame.slots[parser_error] = core_errors::PARSER_TIMEOUT.into();
                Some(core_errors::PARSER_TIMEOUT)
            }
            _ => None,
        };
        ParseResult { consumed_bits: u32::try_from(at).unwrap_or(u32::MAX), error }
    }

    fn run(&self, func: FuncId, frame: &mut Frame, env: &mut Env<'_>) {
        let mut none = Vec::new();
        let packet = PacketView::default();
        match self.enter(func, frame, packet, Some(&mut *env), MAX_CONTROL_STEPS, &mut none) {
            Some(Ended { how: STEP_LIMIT, .. }) => env.effects.request().loop_limits_hit += 1,
            Some(_) => {}
            None => self.pipeline.run(func, frame, env),
        }
    }

    fn deparse(&self, frame: &mut Frame, out: &mut Vec<u8>) {
        let func = self.pipeline.program().architecture.last_deparser();
        let ran = self.enter(func, frame, PacketView::default(), None, MAX_CONTROL_STEPS, out);
        if ran.is_none() {
            self.pipeline.deparse(frame, out);
        }
    }

    fn deparse_by(&self, func: FuncId, frame: &mut Frame, env: &mut Env<'_>, out: &mut Vec<u8>) {
        let packet = PacketView::default();
        if self.enter(func, frame, packet, Some(&mut *env), MAX_CONTROL_STEPS, out).is_none() {
            self.pipeline.deparse_by(func, frame, env, out);
        }
    }

    #[inline]
    fn ingress<'e>(&self, frame: &mut Frame, start: IngressStart<'e>, env: &mut Env<'e>) -> ParseResult {
        match &self.v1_pipelines {
            Some(made)
                if start.outside.is_some()
                    && is_ready(frame, env, &made.ingress, self.pipeline.program()) =>
            {
                self.run_ingress_alone(made, frame, start, env)
            }
            _ => self.ingress_otherwise(frame, start, env),
        }
    }

    #[inline]
    fn egress<'e>(&self, frame: &mut Frame, start: EgressStart<'e>, env: &mut Env<'e>) -> EgressEnd {
        match &self.v1_pipelines {
            Some(made) if is_ready(frame, env, &made.egress, self.pipeline.program()) => {
                let ran = self.run_egress(made, frame, &start, env);
                // Once more, without effect, and then block by block.
                ran.unwrap_or_else(|| self.egress_otherwise(frame, &start, env))
            }
            _ => self.egress_otherwise(frame, &start, env),
        }
    }

    fn finish(&self, frame: &mut Frame, env: &mut Env<'_>) {
        v1_pipelines::finish(&self.pipeline, &mut &*self, frame, env);
    }
}

impl BlockRunner for &Native {
    fn parse(
        &mut self,
        func: FuncId,
        frame: &mut Frame,
        packet: PacketView<'_>,
        env: &mut Env<'_>,
    ) -> ParseResult {
        self.parse_by(func, frame, packet, env)
    }

    fn control(&mut self, func: FuncId, frame: &mut Frame, env: &mut Env<'_>) {
        self.run(func, frame, env);
    }

    fn deparse(&mut self, func: FuncId, frame: &mut Frame, env: &mut Env<'_>, out: &mut Vec<u8>) {
        self.deparse_by(func, frame, env, out);
    }
}
