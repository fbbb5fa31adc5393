//! Code generation: modules of compiled functions.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use core::fmt;

use cranelift_codegen::ir::{AbiParam, Function, Signature, UserFuncName, types};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Linkage, Module, ModuleError, default_libcall_names};
use p4cc_ir::{ActionId, FuncId, Program, V1Model};

use super::context::{Address, Memory, Translated};
use super::storage::{Locals, StoragePlan, Validity};
use super::translate::{Callees, Shared, Translator, is_plain, is_plain_half};
use super::{NativeError, helpers, summary};
use crate::Pipeline;
use crate::tna_pipelines::{Half, HalfId};
use crate::v1_pipelines::V1Pipelines;

/// Most work of one native function, by [`work`]. Measured at opt-level 3: the worst shapes take 0.4 s with
/// 53,000, 1.9 s with 92,000 and 2.5 s with 205,000; the largest of 1,350 programs of others, p4c's
/// `switch_p4_16.p4`, takes 0.13 s with 19,000 (docs/explanation/executor.md#bounds-of-native-code).
pub(super) const MAX_FUNCTION_WORK: usize = 60_000;

/// Values that branches hand on which take Cranelift as long as an instruction.
const HANDED_ON_PER_INSTRUCTION: usize = 5;

/// Instructions of a function, and a part of the values that its branches hand on to other blocks: where
/// headers are stored in registers, a branch hands on every one that is alive behind it.
fn work(func: &Function) -> usize {
    let dfg = &func.dfg;
    let branches = func.layout.blocks().filter_map(|block| func.layout.last_inst(block));
    let targets = branches
        .flat_map(|branch| dfg.insts[branch].branch_destination(&dfg.jump_tables, &dfg.exception_tables));
    let handed_on: usize = targets.map(|target| target.len(&dfg.value_lists)).sum();
    dfg.num_insts() + handed_on / HANDED_ON_PER_INSTRUCTION
}

/// None for code of which a function is too large: smaller ones do the same.
fn unless_too_large<T>(made: Result<T, NativeError>) -> Result<Option<T>, NativeError> {
    match made {
        Err(NativeError::TooManyInstructions { .. }) => Ok(None),
        made => made.map(Some),
    }
}

/// Native code of a v1model program's ingress and egress pipeline.
pub(super) struct NativePipelines {
    pub ingress: Translated,
    pub egress: Translated,
    _memory: Memory,
}

/// Native code of a TNA program's halves.
pub(super) struct NativeHalves {
    /// By [`HalfId`]; none where a half is to run block by block.
    entries: Vec<Option<Translated>>,
    _memory: Memory,
}

impl NativeHalves {
    /// A half.
    pub fn get(&self, id: HalfId) -> Option<&Translated> {
        self.entries.get(id.index())?.as_ref()
    }
}

/// The functions of a program that the architecture runs, each by itself.
pub(super) struct NativeBlocks {
    /// By function; actions and unused functions have none.
    entries: Vec<Option<Translated>>,
    _memory: Memory,
}

impl NativeBlocks {
    /// A function, if it is one that the architecture runs.
    pub fn get(&self, func: FuncId) -> Option<&Translated> {
        self.entries.get(func.index())?.as_ref()
    }
}

/// What a native function is made of.
#[derive(Clone, Copy)]
enum Body<'a> {
    Function {
        action: bool,
    },
    Ingress(&'a V1Pipelines),
    Half(&'a Half),
    /// With the headers that packets have as a rule.
    Egress(&'a V1Pipelines, &'a [u64]),
}

/// A module that knows the helpers.
fn module(locals: Locals) -> Result<JITModule, NativeError> {
    let host = |cause: String| NativeError::Host(cause);
    // Tests that look at locals make thousands of programs and run each for a moment.
    let opt_level = match locals {
        Locals::InRegisters => "speed",
        #[cfg(feature = "testing")]
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

/// A module in the making, with what its functions refer to.
struct Codegen<'a> {
    shared: Shared<'a>,
    module: JITModule,
    helpers: Vec<cranelift_module::FuncId>,
    actions: BTreeMap<ActionId, cranelift_module::FuncId>,
    /// Asked before each function.
    is_cancelled: &'a dyn Fn() -> bool,
}

impl Codegen<'_> {
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

    /// Translates and compiles one native function; the bytes that it may
    /// pack by itself, and the headers that packets have behind it as a rule.
    fn define(
        &mut self,
        id: cranelift_module::FuncId,
        func: usize,
        body: Body<'_>,
    ) -> Result<(usize, Vec<u64>), NativeError> {
        if (self.is_cancelled)() {
            return Err(NativeError::Cancelled);
        }
        if !self.shared.plan.fits(&[func]) {
            let (ops, words) = (self.shared.plan.size(func), self.shared.plan.moved_words(func));
            return Err(NativeError::TooLarge { place: self.place(func), ops, words });
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
        let shared = &self.shared;
        let bound = match body {
            Body::Function { action } => {
                let summary = summary::of(shared, func, action);
                Translator::function(shared, summary, builder, callees, func).map(|bound| (bound, Vec::new()))
            }
            Body::Ingress(pipelines) => Translator::ingress_pipeline(shared, pipelines, builder, callees),
            Body::Half(half) => {
                Translator::half(shared, half, builder, callees).map(|bound| (bound, Vec::new()))
            }
            Body::Egress(pipelines, usual) => {
                Translator::egress_pipeline(shared, pipelines, usual, builder, callees)
                    .map(|bound| (bound, Vec::new()))
            }
        };
        let (bound, usual) =
            bound.map_err(|_| self.refused(func, "an operation names a word outside of the frame"))?;
        let work = work(&context.func);
        if work > MAX_FUNCTION_WORK {
            return Err(NativeError::TooManyInstructions { place: self.place(func), work });
        }
        self.module.define_function(id, &mut context).map_err(|error| match error {
            ModuleError::Compilation(error) => self.refused(func, error),
            error => self.refused(func, error),
        })?;
        Ok((bound as usize + 8, usual))
    }
}

impl<'a> Codegen<'a> {
    /// A module with the actions that are functions of their own.
    fn new(
        shared: Shared<'a>,
        locals: Locals,
        is_cancelled: &'a dyn Fn() -> bool,
    ) -> Result<Self, NativeError> {
        let mut module = module(locals)?;
        let mut declared = Vec::new();
        for helper in helpers::all() {
            let signature = signature(&module, helper.args + 1);
            let id = module.declare_function(helper.name, Linkage::Import, &signature);
            declared.push(id.map_err(|error| NativeError::Host(error.to_string()))?);
        }
        let mut codegen = Self { shared, module, helpers: declared, actions: BTreeMap::new(), is_cancelled };
        let body = |action: ActionId| shared.program.actions[action.index()].body.index();
        for &action in &shared.plan.outlined {
            let id = codegen.declare(&format!("action.{action}"), body(action))?;
            codegen.actions.insert(action, id);
        }
        for (action, id) in codegen.actions.clone() {
            codegen.define(id, body(action), Body::Function { action: true })?;
        }
        Ok(codegen)
    }

    /// Declares and defines one native function.
    fn make(&mut self, name: &str, func: usize, body: Body<'_>) -> Result<PendingFunction, NativeError> {
        let id = self.declare(name, func)?;
        let (emit_bound, usual) = self.define(id, func, body)?;
        Ok(PendingFunction { id, emit_bound, usual })
    }

    fn finish(self) -> Result<JITModule, NativeError> {
        let mut module = self.module;
        module.finalize_definitions().map_err(|error| NativeError::Host(error.to_string()))?;
        Ok(module)
    }
}

/// A function before its module is final.
struct PendingFunction {
    id: cranelift_module::FuncId,
    emit_bound: usize,
    /// Bits of validity of the headers that packets have behind it as a rule.
    usual: Vec<u64>,
}

impl PendingFunction {
    fn finished(&self, module: &JITModule, pipeline: &Pipeline, input_words: usize) -> Translated {
        Translated {
            entry: Address::new(module.get_finalized_function(self.id)),
            frame_words: pipeline.code().layout.size() as usize,
            emit_bound: self.emit_bound,
            input_words,
        }
    }
}

/// Makes the functions that the architecture runs, each by itself.
pub(super) fn blocks(
    pipeline: &Pipeline,
    locals: Locals,
    is_cancelled: &dyn Fn() -> bool,
) -> Result<NativeBlocks, NativeError> {
    let (program, code): (&Program, _) = (pipeline.program(), pipeline.code());
    let funcs: Vec<usize> =
        program.architecture.entries().into_iter().map(|(func, _)| func.index()).collect();
    let alone: Vec<Vec<usize>> = funcs.iter().map(|&func| vec![func]).collect();
    let plan = StoragePlan::new(program, code, &alone, locals, Validity::InFrame);
    let mut codegen = Codegen::new(Shared { program, code, plan: &plan }, locals, is_cancelled)?;
    let mut made: BTreeMap<usize, PendingFunction> = BTreeMap::new();
    for func in funcs {
        if let Entry::Vacant(place) = made.entry(func) {
            place.insert(codegen.make(
                &format!("function.{func}"),
                func,
                Body::Function { action: false },
            )?);
        }
    }
    let module = codegen.finish()?;
    let function = |func: usize| made.get(&func).map(|made| made.finished(&module, pipeline, 0));
    Ok(NativeBlocks {
        entries: (0..program.funcs.len()).map(function).collect(),
        _memory: Memory::new(module),
    })
}

/// Makes the ingress and egress pipeline of a v1model program; none where a pipeline has something
/// that inline code does not do, or is too large for one function.
pub(super) fn v1_pipelines(
    pipeline: &Pipeline,
    pipelines: &V1Pipelines,
    is_cancelled: &dyn Fn() -> bool,
) -> Result<Option<NativePipelines>, NativeError> {
    let (program, code): (&Program, _) = (pipeline.program(), pipeline.code());
    let V1Model { parser, verify_checksum, ingress, egress, compute_checksum, deparser, .. } =
        *pipelines.v1model();
    // Checksums and deparser may run alone, where egress makes a request.
    let natives = [&[parser, verify_checksum, ingress][..], &[egress], &[compute_checksum, deparser]];
    let natives = natives.map(|funcs| funcs.iter().map(|func| func.index()).collect::<Vec<_>>());
    let plan = StoragePlan::new(program, code, &natives, Locals::InRegisters, Validity::InRegisters);
    let shared = Shared { program, code, plan: &plan };
    if !is_plain(&shared, pipelines) || !natives.iter().all(|native| plan.fits(native)) {
        return Ok(None);
    }
    let make = || {
        let mut codegen = Codegen::new(shared, Locals::InRegisters, is_cancelled)?;
        let ingress = codegen.make("ingress", ingress.index(), Body::Ingress(pipelines))?;
        let egress = codegen.make("egress", egress.index(), Body::Egress(pipelines, &ingress.usual))?;
        Ok((codegen.finish()?, ingress, egress))
    };
    let Some((module, ingress, egress)) = unless_too_large(make())? else { return Ok(None) };
    let inputs = pipelines.input_words();
    Ok(Some(NativePipelines {
        ingress: ingress.finished(&module, pipeline, inputs[0]),
        egress: egress.finished(&module, pipeline, inputs[1]),
        _memory: Memory::new(module),
    }))
}

/// Makes the halves of a TNA program; none where no half can be one function.
pub(super) fn halves(
    pipeline: &Pipeline,
    is_cancelled: &dyn Fn() -> bool,
) -> Result<Option<NativeHalves>, NativeError> {
    let (program, code): (&Program, _) = (pipeline.program(), pipeline.code());
    let halves = pipeline.halves();
    let natives: Vec<Vec<usize>> = halves
        .iter()
        .map(|half| {
            [half.funcs.parser, half.funcs.control, half.funcs.deparser].map(|func| func.index()).into()
        })
        .collect();
    let plan = StoragePlan::new(program, code, &natives, Locals::InRegisters, Validity::InRegisters);
    let shared = Shared { program, code, plan: &plan };
    let is_made = |(half, native): (&Half, &Vec<usize>)| plan.fits(native) && is_plain_half(&shared, half);
    let made: Vec<bool> = halves.iter().zip(&natives).map(is_made).collect();
    if !made.contains(&true) {
        return Ok(None);
    }
    let codegen = unless_too_large(Codegen::new(shared, Locals::InRegisters, is_cancelled))?;
    let Some(mut codegen) = codegen else { return Ok(None) };
    let mut functions = Vec::with_capacity(halves.len());
    for (at, (half, made)) in halves.iter().zip(made).enumerate() {
        let func = half.funcs.control.index();
        let name = format!("half.{at}");
        let function =
            if made { unless_too_large(codegen.make(&name, func, Body::Half(half)))? } else { None };
        functions.push(function);
    }
    if functions.iter().all(Option::is_none) {
        return Ok(None);
    }
    let module = codegen.finish()?;
    let finished =
        |function: &PendingFunction| function.finished(&module, pipeline, Translator::HALF_INPUT_WORDS);
    let entries = functions.iter().map(|function| function.as_ref().map(finished)).collect();
    Ok(Some(NativeHalves { entries, _memory: Memory::new(module) }))
}
