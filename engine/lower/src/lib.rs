//! Lowering: typed tree to IR.
//!
//! What the language composes is taken apart here: instances are elaborated with
//! their constructor arguments, structs and headers flattened into variables,
//! controls, sub-parsers and functions inlined. Each file has one subject.
//!
//! Invariants: a construct without lowering is reported as "not supported
//! yet", never dropped; code made after an error is never handed out; all
//! growth (variables, instructions, inlined calls) is bounded by `limits`.

mod action;
mod arch;
mod argument_order;
mod assign;
mod block;
mod build;
mod call;
mod cells;
mod consteval;
mod data_type;
mod effects;
mod env;
mod expr;
mod externs;
mod flatten;
mod inline;
mod instances;
mod object;
mod order;
mod params;
mod parser;
mod placed;
mod program;
mod psa_externs;
mod stmt;
mod storage;
mod table;
mod target;
mod tna_counters;
mod tna_deposits;
mod tna_externs;
mod tna_hashes;
mod tna_instances;
mod tna_meters;
mod tna_minmax;
mod tna_objects;
mod tna_registers;
mod tna_view;
mod tna_writes;

pub use arch::{is_known_name, is_known_package, known_architectures, known_packages};

use build::FuncBuilder;
use env::{Env, Owner};
use object::{EnvId, GLOBAL};
use p4cc_budget::{Budget, Resource};
use p4cc_ir::limits::MAX_CODE_DEPTH;
use p4cc_ir::{
    Action, ActionId, Bits, ControlPlaneName, ControllerHeader, Counter, CustomCrc, DataTypes, Digest,
    FieldList, Filter, Func, FuncId, HashObject, Header, HeaderType, HeaderTypeId, Inst, Meter, Profile,
    Register, Stack, Table, Terminator, Union, ValueSet, Var, VarId,
};
use p4cc_syntax::{Diagnostic, Severity, Span};
use p4cc_types::hir::Program;
use p4cc_types::ids::{ActId, AggId};
use std::collections::{BTreeMap, BTreeSet};
use storage::{CopyOut, StaticStorage};

/// Lowers a program that was checked without errors.
pub fn lower(hir: &Program, name: &str, budget: &Budget) -> (Option<p4cc_ir::Program>, Vec<Diagnostic>) {
    let mut lowerer = Lowerer::new(hir, budget);
    let program = lowerer.program(name);
    let failed = lowerer.failed();
    if program.is_none() && !failed {
        // A way out that reported nothing would be a silent failure.
        let (what, span) =
            lowerer.lost.unwrap_or(("construct of the package at the end of the program", hir_main(hir)));
        lowerer.push(no_code(what, span));
    }
    (program.filter(|_| !failed), lowerer.diagnostics)
}

/// Makes what the control plane sees of a source without `main`, checked without errors.
pub fn library(hir: &Program, budget: &Budget) -> (Option<p4cc_ir::Library>, Vec<Diagnostic>) {
    let mut lowerer = Lowerer::new(hir, budget);
    let made = lowerer.controller_headers();
    let failed = lowerer.failed();
    if made.is_none() && !failed {
        let (what, span) = lowerer.lost.unwrap_or(("controller header", Span::default()));
        lowerer.push(no_code(what, span));
    }
    let Out { controller_headers, header_types, data_types, .. } = lowerer.out;
    let library =
        p4cc_ir::Library { controller_headers, header_types, data_types, errors: hir.errors.clone() };
    (made.filter(|()| !failed).map(|()| library), lowerer.diagnostics)
}

fn no_code(what: &str, span: Span) -> Diagnostic {
    Diagnostic::not_supported(span, format!("this {what}"))
        .with_label("the checker accepts it, but code generation does not support it")
        .with_help("rewrite it; docs/reference/p4-support.md lists unsupported features")
}

fn hir_main(hir: &Program) -> Span {
    hir.main.and_then(|id| hir.instances.get(id.index())).map_or_else(Span::default, |main| main.span)
}

/// Parts of the program made so far.
#[derive(Default)]
struct Out {
    vars: Vec<Var>,
    header_types: Vec<HeaderType>,
    headers: Vec<Header>,
    stacks: Vec<Stack>,
    unions: Vec<Union>,
    funcs: Vec<Func>,
    actions: Vec<Action>,
    tables: Vec<Table>,
    counters: Vec<Counter>,
    meters: Vec<Meter>,
    registers: Vec<Register>,
    profiles: Vec<Profile>,
    digests: Vec<Digest>,
    value_sets: Vec<ValueSet>,
    custom_crcs: Vec<CustomCrc>,
    filters: Vec<Filter>,
    hashes: Vec<HashObject>,
    /// Hashes and checksums so far, which are named in their order as p4c names them.
    calculations: u32,
    controller_headers: Vec<ControllerHeader>,
    field_lists: Vec<FieldList>,
    data_types: DataTypes,
}

/// Where control goes from the statements being lowered.
#[derive(Default)]
struct Flow {
    /// End of the inlined body that `return` leaves; without one `return` leaves the function.
    end: Option<p4cc_ir::BlockId>,
    /// Where `return e` puts the value.
    result: Option<StaticStorage>,
    /// `break` and `continue` of the loops around.
    loops: Vec<(p4cc_ir::BlockId, p4cc_ir::BlockId)>,
    /// Copies that `exit` owes the callers inlined around.
    pending: Vec<Vec<CopyOut>>,
    /// An action's body: copies may be owed outside of this function.
    in_action: bool,
    /// An action's body that holds an `exit`, or calls an action that does.
    exits: bool,
    /// A parser is being made.
    in_parser: bool,
    /// The statements of an action are being lowered, be it inlined.
    within_action: bool,
}

/// A bound action: which, in which environment, to which places.
type Binding = (ActId, usize, Vec<StaticStorage>);

struct Lowerer<'h> {
    hir: &'h Program,
    out: Out,
    diagnostics: Vec<Diagnostic>,
    envs: Vec<Env>,
    env: EnvId,
    func: FuncBuilder,
    flow: Flow,
    /// Name of what is being lowered, for the names of variables.
    name: String,
    header_types: BTreeMap<AggId, HeaderTypeId>,
    /// Standard metadata.
    standard: Option<StaticStorage>,
    /// The name of `main`'s package.
    package: String,
    /// What is made of TNA's externs.
    tna: tna_objects::TnaObjects,
    /// What the chip's control plane sees.
    notes: tna_objects::Notes,
    /// A deparser is being made.
    in_deparser: bool,
    /// The control of v1model's pipeline that is being made, if packets may be requested there.
    gress: Option<placed::Gress>,
    /// Ends of the ranges of PSA's `Random` objects.
    randoms: Vec<(Bits, Bits)>,
    /// Actions made for tables that bind directional arguments: which, in which environment, to which places.
    wrappers: Vec<(Binding, ActionId)>,
    /// Of each action that was made, what it was made of and in which environment.
    action_sources: Vec<(ActId, usize)>,
    /// Actions called with arguments for directional parameters, likewise.
    inlined_actions: Vec<((ActId, usize), ControlPlaneName)>,
    /// Actions that may end by `exit`.
    exiting: BTreeSet<ActionId>,
    exit_flag: Option<VarId>,
    budget: Budget,
    /// The budget is used up or the compilation cancelled, which was reported: nothing more is.
    stopped: bool,
    /// Place of the statement or declaration being lowered.
    place: Span,
    /// Statements, expressions and calls around, those of the callers of inlined code among them.
    depth: u32,
    /// Names given to arguments of externs.
    named_args: usize,
    /// Actions called where no table runs them.
    called: Vec<env::DirectCall>,
    /// The innermost construct that could not be lowered, for a failure that nobody reported.
    lost: Option<(&'static str, Span)>,
}

impl<'h> Lowerer<'h> {
    fn new(hir: &'h Program, budget: &Budget) -> Self {
        Self {
            hir,
            out: Out::default(),
            diagnostics: Vec::new(),
            envs: vec![Env::new(Owner::None, String::new())],
            env: GLOBAL,
            func: FuncBuilder::new(""),
            flow: Flow::default(),
            name: String::new(),
            header_types: BTreeMap::new(),
            standard: None,
            package: String::new(),
            tna: tna_objects::TnaObjects::default(),
            notes: tna_objects::Notes::default(),
            in_deparser: false,
            gress: None,
            randoms: Vec::new(),
            wrappers: Vec::new(),
            action_sources: Vec::new(),
            inlined_actions: Vec::new(),
            exiting: BTreeSet::new(),
            exit_flag: None,
            budget: budget.clone(),
            stopped: false,
            place: Span::default(),
            depth: 0,
            called: Vec::new(),
            named_args: 0,
            lost: None,
        }
    }
}

impl Lowerer<'_> {
    fn failed(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// Takes of the budget before something is made at `span`; `None` ends the lowering, reported once.
    fn charge(&mut self, resource: Resource, amount: u64, span: Span) -> Option<()> {
        let overrun = self.budget.charge(resource, amount).err();
        if let Some(overrun) = overrun {
            self.push(Diagnostic::over_budget(span, overrun));
            self.stopped = true;
        }
        if self.stopped { None } else { Some(()) }
    }

    fn push(&mut self, diagnostic: Diagnostic) {
        if self.stopped {
            return;
        }
        let told = |old: &Diagnostic| old.span == diagnostic.span && old.message == diagnostic.message;
        if !self.diagnostics.iter().rev().take(64).any(told) {
            self.diagnostics.push(diagnostic);
        }
    }

    fn not_supported(&mut self, span: Span, what: impl core::fmt::Display) {
        self.push(Diagnostic::not_supported(span, what));
    }

    /// Makes a construct, one level deeper. Notes which it was that gave nothing.
    fn within<T>(
        &mut self,
        what: &'static str,
        span: Span,
        make: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Option<T> {
        if self.depth >= MAX_CODE_DEPTH {
            let message = format!("the code is nested more than {MAX_CODE_DEPTH} levels deep with its calls");
            self.push(Diagnostic::error(span, message).with_help("nest fewer calls"));
            return None;
        }
        self.depth += 1;
        let made = make(self);
        self.depth -= 1;
        if made.is_none() && self.lost.is_none() {
            self.lost = Some((what, span));
        }
        made
    }

    fn emit(&mut self, inst: Inst) {
        if self.charge(Resource::Instructions, 1, self.place).is_some() {
            self.func.push(inst);
        }
    }

    /// Counts an inlined call; past the bound it reports and gives `None`.
    fn count_inlined(&mut self, span: Span) -> Option<()> {
        self.charge(Resource::InlinedCalls, 1, span)
    }

    /// Makes a function of its own by `body`, then goes on with the one before.
    fn function(
        &mut self,
        name: String,
        flow: Flow,
        fallback: &Terminator,
        body: impl FnOnce(&mut Self) -> Option<()>,
    ) -> Option<FuncId> {
        let outer_func = std::mem::replace(&mut self.func, FuncBuilder::new(name.clone()));
        let outer_flow = std::mem::replace(&mut self.flow, flow);
        let outer_name = std::mem::replace(&mut self.name, name);
        let made = body(self);
        self.name = outer_name;
        self.flow = outer_flow;
        let func = std::mem::replace(&mut self.func, outer_func);
        made?;
        self.out.funcs.push(func.finish(fallback));
        Some(FuncId::from_index(self.out.funcs.len() - 1))
    }

    fn field_vars(&self, header: p4cc_ir::HeaderId) -> Vec<VarId> {
        self.out.headers.get(header.index()).map_or_else(Vec::new, |header| header.fields.clone())
    }
}
