//! The writer: a program of the IR becomes BMv2 JSON, as p4c's back ends for v1model and PSA write it.
//!
//! Headers, stacks and unions keep their instances; every other variable is a field of `scalars`. A block of
//! a control becomes hidden tables that run its code, nodes for its tables, and a condition at its end, since
//! a node of the format is one table or one condition; the code of an action becomes one list with jumps. A
//! block of a parser becomes a state.
//!
//! What the control plane sees (tables, actions, arrays, profiles, digests, value sets) has the names of the
//! P4Info. What the format cannot say is refused with its place, never left out.

mod builtin;
mod checksum;
mod code;
mod control;
mod expr;
mod inst;
mod json;
mod names;
mod objects;
mod parser;
mod psa;
mod shapes;
mod table;

use core::fmt;

use serde_json::{Value, json};

use names::Names;
use p4cc_ir::{Program, V1Model};

/// The version of the format that documents follow: p4c's of 2026.
const VERSION: [u32; 2] = [2, 23];

/// Something of a program that the format, or BMv2, cannot express.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteError {
    /// What it is part of: a parser, control, action or table.
    pub place: String,
    /// What cannot be written.
    pub cause: String,
    /// What to do about it.
    pub remedy: &'static str,
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.place, self.cause, self.remedy)
    }
}

impl core::error::Error for WriteError {}

type Res<T> = Result<T, WriteError>;

fn refuse<T>(place: &str, cause: impl Into<String>, remedy: &'static str) -> Res<T> {
    Err(WriteError { place: place.to_owned(), cause: cause.into(), remedy })
}

/// Writes a verified program as a document of the format.
///
/// # Errors
/// The first part of the program that the format cannot express.
pub fn write(program: &Program) -> Result<Value, WriteError> {
    let mut writer = Writer { program, names: Names::new(program), made: Made::default() };
    writer.actions()?;
    let architecture = &program.architecture;
    let blocks = match (architecture.v1model(), architecture.psa()) {
        (Some(v1), _) => writer.v1model(v1)?,
        (None, Some(psa)) => writer.psa(psa)?,
        (None, None) => {
            let name = architecture.name();
            return refuse("main", format!("a program for {name}"), "write it for v1model or PSA");
        }
    };
    writer.document(blocks)
}

/// What an architecture's entry points become.
struct Blocks {
    parsers: Vec<Value>,
    /// Ingress and egress.
    pipelines: [Value; 2],
    deparsers: Vec<Value>,
    checksums: Vec<Value>,
    /// Names under which the switch looks for fields.
    aliases: Value,
}

/// What code adds to the lists of a document.
#[derive(Default)]
struct Made {
    /// Actions of the program, copies of them, and actions for code between tables, by their ids.
    actions: Vec<Value>,
    calculations: Vec<Value>,
    /// Instances of externs, and those of hashes by their algorithms.
    instances: Vec<Value>,
    hashes: std::collections::BTreeMap<&'static str, Value>,
    learn_lists: Vec<Value>,
    /// Tables and conditions, whose ids are counted over both pipelines.
    tables: usize,
    conditions: usize,
    /// Fields of `scalars` that take the colours of direct meters.
    colors: std::collections::BTreeMap<p4cc_ir::MeterId, Value>,
    /// Operators and operands of expressions that checksums carry along.
    nodes: usize,
    /// Ids of field lists that code names.
    lists: std::collections::BTreeSet<u32>,
    /// The stack whose next index a variable took.
    next_of: std::collections::BTreeMap<p4cc_ir::VarId, p4cc_ir::StackId>,
}

struct Writer<'p> {
    program: &'p Program,
    names: Names<'p>,
    made: Made,
}

impl Writer<'_> {
    fn v1model(&mut self, v1: &V1Model) -> Res<Blocks> {
        let parsers = vec![self.parser("parser", 0, v1.parser)?];
        let pipelines =
            [self.pipeline("ingress", v1.ingress, None)?, self.pipeline("egress", v1.egress, None)?];
        let mut checksums = self.checksums(v1.verify_checksum, true)?;
        checksums.extend(self.checksums(v1.compute_checksum, false)?);
        for (id, checksum) in checksums.iter_mut().enumerate() {
            checksum["name"] = json!(format!("checksum_{id}"));
            checksum["id"] = json!(id);
        }
        let deparsers = vec![self.deparser(v1.deparser)?];
        Ok(Blocks { parsers, pipelines, deparsers, checksums, aliases: names::aliases() })
    }

    fn document(mut self, blocks: Blocks) -> Res<Value> {
        let Blocks { parsers, pipelines: [mut ingress, egress], deparsers, checksums, aliases } = blocks;
        ingress["action_profiles"] = self.profiles();
        let direct = self.direct_resources();
        // Everything that names a variable is made: the list of scalars is whole.
        let field_lists = self.field_lists();
        let meters = self.meter_arrays(&direct);
        let (header_types, headers) = self.headers();
        Ok(json!({
            "program": self.program.name,
            "__meta__": {
                "version": VERSION,
                "compiler": concat!("p4cc ", env!("CARGO_PKG_VERSION")),
            },
            "header_types": header_types,
            "headers": headers,
            "header_stacks": self.header_stacks(),
            "header_union_types": self.union_types(),
            "header_unions": self.unions(),
            "header_union_stacks": [],
            "field_lists": field_lists,
            "errors": self.errors(),
            "enums": [],
            "parsers": parsers,
            "parse_vsets": self.value_sets(),
            "deparsers": deparsers,
            "meter_arrays": meters,
            "counter_arrays": self.counter_arrays(&direct),
            "register_arrays": self.register_arrays()?,
            "calculations": self.made.calculations,
            "learn_lists": self.made.learn_lists,
            "actions": self.made.actions,
            "pipelines": [ingress, egress],
            "checksums": checksums,
            "force_arith": [],
            "extern_instances": self.made.instances,
            "field_aliases": aliases,
        }))
    }
}
