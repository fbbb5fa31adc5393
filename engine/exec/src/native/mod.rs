//! Native code for a compiled program: the second execution back end. The register machine is the first, and says what
//! is right.
//!
//! The machine's operations are translated one by one into Cranelift's form, over the same frame, state and effects;
//! what is wide or rare calls the machine's own functions ([`helpers`]), so there is one implementation of each. Entries,
//! cells and default actions are data: they change without translating anew.
//!
//! Invariants: outputs, state and effects are those of the register machine for any packet and any entries; `unsafe` is
//! in [`context`] only.

mod context;
mod helpers;
mod plan;
mod shape;
mod translate;

use core::fmt;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use cranelift_codegen::ir::{AbiParam, Function, Signature, UserFuncName, types};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Linkage, Module, ModuleError, default_libcall_names};
use p4cc_ir::{ActionId, FuncId, Program, core_errors, limits};

use self::context::{Address, Call, Memory, REJECT, STEP_LIMIT, enter};
pub(crate) use self::plan::Locals;
use self::plan::{MAX_FUNCTION_OPS, Plan};
use self::translate::{Callees, Shared, Translator};
use crate::env::{Env, Executor, PacketView, ParseOutcome};
use crate::op::Code;
use crate::{Frame, MAX_CONTROL_STEPS, Pipeline};

/// What runs a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Exec {
    /// The register machine.
    Interp,
    /// Native code; the register machine where there is none for the program or the processor.
    #[default]
    Native,
}

impl Exec {
    /// Both, in the order in which they are told to people.
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
        found.ok_or_else(|| format!("`{name}` is no execution back end; there are interp and native"))
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
        "{place} takes {ops} operations with its actions, more than the {MAX_FUNCTION_OPS} that are translated"
    )]
    TooLarge {
        /// What it is.
        place: String,
        /// Operations of the register machine.
        ops: usize,
    },
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
    /// By function; actions and unused functions have none.
    entries: Vec<Option<Translated>>,
    frame_words: usize,
    _memory: Memory,
}

/// A translated function.
#[derive(Clone, Copy, Debug)]
struct Translated {
    entry: Address,
    emit_bound: usize,
}

impl fmt::Debug for Native {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let functions = self.entries.iter().flatten().count();
        f.debug_struct("Native").field("functions", &functions).finish_non_exhaustive()
    }
}

/// A module that knows the helpers.
fn module(locals: Locals) -> Result<JITModule, NativeError> {
    let host = |cause: String| NativeError::Host(cause);
    // Tests that look at locals make thousands of programs and run each for a moment.
    let opt_level = match locals {
        Locals::InRegisters => "speed",
        Locals::InFrame => "none",
    };
    let mut flags = settings::builder();
    let options = [
        ("opt_level", opt_level),
        ("is_pic", "false"),
        ("use_colocated_libcalls", "false"),
        ("enable_probestack", "false"),
        ("unwind_info", "false"),
        ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
    ];
    for (name, value) in options {
        flags.set(name, value).map_err(|error| host(error.to_string()))?;
    }
    let isa = cranelift_native::builder().map_err(|cause| host(cause.to_owned()))?;
    let isa = isa.finish(settings::Flags::new(flags)).map_err(|error| host(error.to_string()))?;
    let mut builder = JITBuilder::with_isa(isa, default_libcall_names());
    for helper in helpers::all() {
        builder.symbol(helper.name, helper.address);
    }
    Ok(JITModule::new(builder))
}

fn signature(module: &JITModule, words: usize) -> Signature {
    let mut signature = module.make_signature();
    signature.params = vec![AbiParam::new(types::I64); words];
    signature.returns.push(AbiParam::new(types::I64));
    signature
}

/// The name of a function as the source gives it.
fn place(program: &Program, func: usize) -> String {
    let named = program.funcs[func].name.as_str();
    format!("`{named}` of `{}`", program.name)
}

/// Everything that making native code needs at hand.
struct Maker<'a> {
    shared: Shared<'a>,
    module: JITModule,
    helpers: Vec<cranelift_module::FuncId>,
    actions: BTreeMap<ActionId, cranelift_module::FuncId>,
}

impl Maker<'_> {
    fn place(&self, func: usize) -> String {
        place(self.shared.program, func)
    }

    fn refused(&self, func: usize, cause: impl fmt::Display) -> NativeError {
        NativeError::Refused { place: self.place(func), cause: cause.to_string() }
    }

    fn declare(&mut self, name: &str, func: usize) -> Result<cranelift_module::FuncId, NativeError> {
        let signature = signature(&self.module, 2);
        let declared = self.module.declare_function(name, Linkage::Local, &signature);
        declared.map_err(|error| self.refused(func, error))
    }

    /// Translates and compiles one function; the bytes that it may emit by itself.
    fn define(
        &mut self,
        id: cranelift_module::FuncId,
        func: usize,
        action: bool,
    ) -> Result<usize, NativeError> {
        let ops = self.shared.plan.size(func);
        if ops > MAX_FUNCTION_OPS {
            return Err(NativeError::TooLarge { place: self.place(func), ops });
        }
        let mut context = self.module.make_context();
        context.func =
            Function::with_name_signature(UserFuncName::user(0, id.as_u32()), signature(&self.module, 2));
        let helpers = self.helpers.iter().map(|&id| self.module.declare_func_in_func(id, &mut context.func));
        let helpers = helpers.collect();
        let actions = self.actions.iter();
        let actions =
            actions.map(|(&action, &id)| (action, self.module.declare_func_in_func(id, &mut context.func)));
        let callees = Callees { helpers, actions: actions.collect() };
        let mut builder_context = FunctionBuilderContext::new();
        let builder = FunctionBuilder::new(&mut context.func, &mut builder_context);
        let shape = shape::of(&self.shared, func, action);
        let bound = Translator::function(&self.shared, shape, builder, callees, func)
            .map_err(|_| self.refused(func, "an operation names a word outside of the frame"))?;
        self.module.define_function(id, &mut context).map_err(|error| match error {
            ModuleError::Compilation(error) => self.refused(func, error),
            error => self.refused(func, error),
        })?;
        Ok(bound as usize + 8)
    }
}

impl Native {
    /// Translates a program.
    pub(crate) fn compile(pipeline: &Pipeline, locals: Locals) -> Result<Native, NativeError> {
        let (program, code): (&Program, &Code) = (pipeline.program(), pipeline.code());
        let entries: Vec<usize> =
            program.architecture.entries().into_iter().map(|(func, _)| func.index()).collect();
        let plan = Plan::new(program, code, &entries, locals);
        let mut module = module(locals)?;
        let mut declared = Vec::new();
        for helper in helpers::all() {
            let signature = signature(&module, helper.args + 1);
            let id = module.declare_function(helper.name, Linkage::Import, &signature);
            declared.push(id.map_err(|error| NativeError::Host(error.to_string()))?);
        }
        let shared = Shared { program, code, plan: &plan };
        let mut maker = Maker { shared, module, helpers: declared, actions: BTreeMap::new() };
        for &action in &plan.outlined {
            let id =
                maker.declare(&format!("action.{action}"), program.actions[action.index()].body.index())?;
            maker.actions.insert(action, id);
        }
        for (action, id) in maker.actions.clone() {
            maker.define(id, program.actions[action.index()].body.index(), true)?;
        }
        let mut made: BTreeMap<usize, (cranelift_module::FuncId, usize)> = BTreeMap::new();
        for func in entries {
            if let Entry::Vacant(place) = made.entry(func) {
                let id = maker.declare(&format!("function.{func}"), func)?;
                place.insert((id, maker.define(id, func, false)?));
            }
        }
        let mut module = maker.module;
        module.finalize_definitions().map_err(|error| NativeError::Host(error.to_string()))?;
        let function = |func: usize| {
            made.get(&func).map(|&(id, emit_bound)| Translated {
                entry: Address::new(module.get_finalized_function(id)),
                emit_bound,
            })
        };
        let entries = (0..program.funcs.len()).map(function).collect();
        Ok(Native {
            pipeline: pipeline.bare(),
            entries,
            frame_words: code.layout.size() as usize,
            _memory: Memory::new(module),
        })
    }

    /// Runs a function: how it ended and the bits it took; `None` where it is no entry point.
    #[inline]
    fn enter(
        &self,
        func: FuncId,
        frame: &mut Frame,
        packet: PacketView<'_>,
        env: Option<&mut Env<'_>>,
        steps: u32,
        out: &mut Vec<u8>,
    ) -> Option<(u64, u64)> {
        let Translated { entry, emit_bound } = (*self.entries.get(func.index())?)?;
        let (code, frame_words) = (self.pipeline.code(), self.frame_words);
        Some(enter(entry, Call { code, frame, packet, env, out, steps, frame_words, emit_bound }))
    }
}

impl Executor for Native {
    fn parse(&self, frame: &mut Frame, packet: PacketView<'_>, env: &mut Env<'_>) -> ParseOutcome {
        self.parse_by(self.pipeline.program().architecture.first_parser(), frame, packet, env)
    }

    fn parse_by(
        &self,
        func: FuncId,
        frame: &mut Frame,
        packet: PacketView<'_>,
        env: &mut Env<'_>,
    ) -> ParseOutcome {
        let ran = self.enter(func, frame, packet, Some(env), limits::MAX_PARSER_STEPS, &mut Vec::new());
        let Some((end, at)) = ran else { return self.pipeline.parse_by(func, frame, packet, env) };
        let parser_error = self.pipeline.code().parser_error as usize;
        let error = match end {
            REJECT => Some(frame.slots[parser_error] as u32),
            STEP_LIMIT => {
                frame.slots[parser_error] = core_errors::PARSER_TIMEOUT.into();
                Some(core_errors::PARSER_TIMEOUT)
            }
            _ => None,
        };
        ParseOutcome { consumed_bits: u32::try_from(at).unwrap_or(u32::MAX), error }
    }

    fn run(&self, func: FuncId, frame: &mut Frame, env: &mut Env<'_>) {
        let mut none = Vec::new();
        let packet = PacketView::default();
        match self.enter(func, frame, packet, Some(&mut *env), MAX_CONTROL_STEPS, &mut none) {
            Some((STEP_LIMIT, _)) => env.effects.loop_limits_hit += 1,
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
}
