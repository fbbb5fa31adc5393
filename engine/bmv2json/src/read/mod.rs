//! The reader: BMv2 JSON, as p4c's back ends for v1model and PSA write it, becomes a program of the IR.
//!
//! [`read`] takes the text of a document and gives a program that the verifier accepts, or errors with the
//! path in the document, the cause and a remedy. Where the format's meaning is BMv2's own, the program does
//! what BMv2 does: integers without bounds, fields of invalid headers left out of checksums, `exit` at the
//! end of its action.
//!
//! Not in the format, and so not in the program: annotations, ids chosen in
//! the source, scopes of actions, the width of a selector's hash (all of it
//! counts), units of counters (both), `optional` keys (they are ternary).
//!
//! Invariants: no document makes it panic, loop or recurse without bound; what it does not know is an error.

mod action;
mod build;
mod checksum;
mod expr;
mod faults;
mod json;
mod lvalue;
mod names;
mod number;
mod objects;
mod parser;
mod pipeline;
mod primitive;
mod psa;
mod shape;
mod table;
mod term;

use std::collections::BTreeMap;

use p4cc_budget::{Budget, Resource};
use serde_json::Value;

use build::Builder;
use faults::Faults;
pub use faults::{MAX_ERRORS, ReadError};
use json::{Res, Unread, items, opt, tuple};
use names::{Actions, Objects, Shapes, TableInfo};

use p4cc_ir::verify::verify;
use p4cc_ir::{
    Architecture, DataTypes, FuncId, Program, StandardMetadata, V1Model, VarId, VarKind, VarType, limits,
};

/// Whether a text is meant as a document of this format:
/// it starts with a brace, which P4-16 source never does.
pub fn is_document(text: &str) -> bool {
    text.strip_prefix('\u{feff}').unwrap_or(text).trim_start().starts_with('{')
}

/// Reads a document: a program that passes the verifier, or the reasons why there is none.
pub fn read(json: &str) -> (Option<Program>, Vec<ReadError>) {
    read_within(json, &Budget::default())
}

/// As [`read`], as a compilation with this budget: its limits are errors, and so is [`Budget::cancel`], which
/// any thread may call on a clone.
pub fn read_within(json: &str, budget: &Budget) -> (Option<Program>, Vec<ReadError>) {
    let json = json.strip_prefix('\u{feff}').unwrap_or(json);
    let path = || "document".to_owned();
    let root = match json::parse(json, budget) {
        Ok(root) => root,
        Err(Unread::Wrong(cause)) => {
            return (None, vec![ReadError { path: path(), cause, remedy: json::NOT_P4C.to_owned() }]);
        }
        Err(Unread::Over(overrun)) => return (None, vec![ReadError::over(path(), overrun)]),
    };
    let mut reader = Reader::new(&root, budget);
    reader.program();
    reader.finish()
}

/// What is known while a document is read.
struct Reader<'j> {
    root: &'j Value,
    faults: Faults<'j>,
    /// In the making; its variables are the builder's until the end.
    program: Program,
    b: Builder,
    shapes: Shapes<'j>,
    objects: Objects<'j>,
    actions: Actions<'j>,
    tables: BTreeMap<&'j str, TableInfo<'j>>,
    /// Variables that take whether a table with a direct meter was hit.
    meter_hits: BTreeMap<&'j str, VarId>,
    /// Variables for what a table did, by width.
    outcomes: BTreeMap<u32, VarId>,
    /// Varbits without length, by largest width.
    empty_varbits: BTreeMap<u32, VarId>,
    /// Parameters of the action at hand.
    params: Vec<VarId>,
    in_parser: bool,
    in_deparser: bool,
    /// The document is for psa_switch.
    is_psa: bool,
}

impl<'j> Reader<'j> {
    fn new(root: &'j Value, budget: &Budget) -> Self {
        Self {
            root,
            faults: Faults::new(budget),
            program: empty_program(),
            b: Builder::new(budget),
            shapes: Shapes::default(),
            objects: Objects::default(),
            actions: Actions::default(),
            tables: BTreeMap::new(),
            meter_hits: BTreeMap::new(),
            outcomes: BTreeMap::new(),
            empty_varbits: BTreeMap::new(),
            params: Vec::new(),
            in_parser: false,
            in_deparser: false,
            is_psa: psa::is_for_psa_switch(root),
        }
    }

    /// Reads every item of a list of the document, and reports those that are wrong.
    fn each(&mut self, key: &str, read: impl FnMut(&mut Self, &'j Value) -> Res<'j, ()>) {
        self.each_of(self.root, key, read);
    }

    fn each_of(
        &mut self,
        object: &'j Value,
        key: &str,
        mut read: impl FnMut(&mut Self, &'j Value) -> Res<'j, ()>,
    ) {
        match items(object, key) {
            Ok(all) => {
                for item in all {
                    self.b.charge(Resource::Steps, 1);
                    if let Err(fault) = read(self, item) {
                        self.faults.report(fault);
                    }
                    if self.faults.is_over(item) {
                        return;
                    }
                }
            }
            Err(fault) => self.faults.report(fault),
        }
    }

    fn program(&mut self) {
        if let Err(fault) = self.version() {
            return self.faults.report(fault);
        }
        if let Some(name) = opt(self.root, "program").and_then(Value::as_str) {
            self.program.name = name.to_owned();
        }
        self.shapes();
        self.objects();
        let metadata = if self.is_psa { None } else { Some(self.standard_metadata()) };
        let pipelines = self.pipelines();
        for pipeline in pipelines.into_iter().flatten() {
            self.each_of(pipeline, "action_profiles", Self::profile);
            self.each_of(pipeline, "tables", Self::table_meter);
        }
        self.each("actions", Self::action);
        for pipeline in pipelines.into_iter().flatten() {
            self.each_of(pipeline, "tables", Self::table);
        }
        self.hide_actions();
        match metadata {
            Some(metadata) => self.v1model(pipelines, metadata),
            None => self.psa(pipelines),
        }
        self.unused_sets();
    }

    /// The entry points of a program of v1model.
    fn v1model(&mut self, [ingress, egress]: [Option<&'j Value>; 2], metadata: StandardMetadata) {
        let funcs = [
            self.parser(),
            self.checksums(true),
            self.pipeline(ingress, "ingress", None),
            self.pipeline(egress, "egress", None),
            self.checksums(false),
            self.deparser(),
        ];
        let first = self.program.funcs.len();
        self.program.funcs.extend(funcs);
        let func = |number: usize| FuncId::from_index(first + number);
        self.program.architecture = Architecture::V1Model(V1Model {
            parser: func(0),
            verify_checksum: func(1),
            ingress: func(2),
            egress: func(3),
            compute_checksum: func(4),
            deparser: func(5),
            metadata,
        });
    }

    /// The format's version: a major number other than 2 is another format.
    fn version(&self) -> Res<'j, ()> {
        json::get(self.root, "pipelines")?;
        let Some(version) = opt(self.root, "__meta__").and_then(|meta| opt(meta, "version")) else {
            return Ok(());
        };
        let [major, _] = tuple::<2>(version)?;
        if json::number(major)? == 2 {
            return Ok(());
        }
        json::fault(version, format!("version {version:.40} of the format"), "give version 2")
    }

    /// The format's minor version, if the document gives one.
    fn minor_version(&self) -> Option<u32> {
        let version = opt(opt(self.root, "__meta__")?, "version")?;
        version.get(1).and_then(|minor| json::number(minor).ok())
    }

    /// The variable of a metadata field under one of the names that BMv2 knows it by.
    fn metadata_var(&self, names: &[&str]) -> Option<VarId> {
        let aliases = items(self.root, "field_aliases").unwrap_or_default();
        let alias = |name: &str| {
            let found = aliases.iter().find(|alias| alias.get(0).and_then(Value::as_str) == Some(name))?;
            let target = found.get(1)?;
            self.shapes.find_field(target.get(0)?.as_str()?, target.get(1)?.as_str()?)
        };
        let plain = |name: &str| {
            let (header, field) = name.split_once('.')?;
            self.shapes.find_field(header, field)
        };
        names.iter().find_map(|name| alias(name).or_else(|| plain(name)))
    }

    /// Standard metadata; fields that an older program does not have are variables that it cannot see.
    fn standard_metadata(&mut self) -> StandardMetadata {
        let mut var = |field: &str, set: &str, width: u32| {
            let own = format!("standard_metadata.{field}");
            let found = self.metadata_var(&[&own, &format!("{set}.{field}")]);
            let found = found.unwrap_or_else(|| self.b.var(own, VarType::Bit(width), VarKind::Metadata));
            let has = self.b.ty(found);
            if matches!(has, VarType::Varbit(_))
                || has.width() > 64
                || (width == 32 && has.width() < least(field))
            {
                let cause = format!("`{field}` of standard metadata is {has:?}, which v1model's is not");
                self.faults.complain(self.root, cause, json::NOT_P4C);
            }
            found
        };
        let (standard, queueing, intrinsic) =
            ("standard_metadata", "queueing_metadata", "intrinsic_metadata");
        StandardMetadata {
            ingress_port: var("ingress_port", standard, 9),
            egress_spec: var("egress_spec", standard, 9),
            egress_port: var("egress_port", standard, 9),
            instance_type: var("instance_type", standard, 32),
            packet_length: var("packet_length", standard, 32),
            enq_timestamp: var("enq_timestamp", queueing, 32),
            enq_qdepth: var("enq_qdepth", queueing, 19),
            deq_timedelta: var("deq_timedelta", queueing, 32),
            deq_qdepth: var("deq_qdepth", queueing, 19),
            ingress_global_timestamp: var("ingress_global_timestamp", intrinsic, 48),
            egress_global_timestamp: var("egress_global_timestamp", intrinsic, 48),
            mcast_grp: var("mcast_grp", intrinsic, 16),
            egress_rid: var("egress_rid", intrinsic, 16),
            checksum_error: var("checksum_error", standard, 1),
            parser_error: var("parser_error", standard, 32),
            priority: var("priority", intrinsic, 3),
        }
    }

    /// Verifies; the program is whole only if nothing was reported.
    fn finish(mut self) -> (Option<Program>, Vec<ReadError>) {
        let errors = self.faults.errors(self.root);
        if !errors.is_empty() {
            return (None, errors);
        }
        self.program.vars = self.b.vars;
        let bits = self.program.frame_bits();
        if bits > limits::MAX_FRAME_BITS {
            let cause = format!("variables of {bits} bits, more than {}", limits::MAX_FRAME_BITS);
            let remedy = "make varbits and header stacks smaller".to_owned();
            return (None, vec![ReadError { path: "header_types".to_owned(), cause, remedy }]);
        }
        let violations = verify(&self.program);
        if violations.is_empty() {
            return (Some(self.program), Vec::new());
        }
        let error = |violation: &p4cc_ir::verify::Violation| ReadError {
            path: "document".to_owned(),
            cause: format!("the program breaks a rule of P4: {violation}"),
            remedy: json::NOT_P4C.to_owned(),
        };
        (None, violations.iter().take(MAX_ERRORS).map(error).collect())
    }
}

/// Least width of a field: error codes need all of theirs.
fn least(field: &str) -> u32 {
    if field == "parser_error" { 32 } else { 1 }
}

/// A program without anything in it.
fn empty_program() -> Program {
    let (func, var) = (FuncId(0), VarId(0));
    Program {
        name: String::new(),
        architecture: Architecture::V1Model(V1Model {
            parser: func,
            verify_checksum: func,
            ingress: func,
            egress: func,
            compute_checksum: func,
            deparser: func,
            metadata: StandardMetadata {
                ingress_port: var,
                egress_spec: var,
                egress_port: var,
                instance_type: var,
                packet_length: var,
                enq_timestamp: var,
                enq_qdepth: var,
                deq_timedelta: var,
                deq_qdepth: var,
                ingress_global_timestamp: var,
                egress_global_timestamp: var,
                mcast_grp: var,
                egress_rid: var,
                checksum_error: var,
                parser_error: var,
                priority: var,
            },
        }),
        vars: Vec::new(),
        header_types: Vec::new(),
        headers: Vec::new(),
        stacks: Vec::new(),
        unions: Vec::new(),
        funcs: Vec::new(),
        actions: Vec::new(),
        tables: Vec::new(),
        counters: Vec::new(),
        meters: Vec::new(),
        registers: Vec::new(),
        profiles: Vec::new(),
        digests: Vec::new(),
        value_sets: Vec::new(),
        custom_crcs: Vec::new(),
        filters: Vec::new(),
        hashes: Vec::new(),
        controller_headers: Vec::new(),
        field_lists: Vec::new(),
        data_types: DataTypes::default(),
        errors: Vec::new(),
        package_annotations: Vec::new(),
    }
}
