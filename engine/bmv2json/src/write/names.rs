//! Names of the document: of headers, of standard metadata, and of the fields of `scalars`.

use std::collections::{BTreeMap, BTreeSet};

use p4cc_ir::{HeaderId, Program, StackId, UnionId, VarId, VarKind, VarType};
use serde_json::{Value, json};

use super::builtin::{self, Builtin, STANDARD};
use super::json::typed;

/// The instance that holds every variable that is neither a header's nor standard metadata.
pub(super) const SCALARS: &str = "scalars";
/// The only field of an instance that holds a local varbit.
pub(super) const VARBIT: &str = "bits";
/// Names under which simple_switch looks for fields of standard metadata.
pub(super) fn aliases() -> Value {
    let queueing = ["enq_timestamp", "enq_qdepth", "deq_timedelta", "deq_qdepth"];
    let intrinsic =
        ["ingress_global_timestamp", "egress_global_timestamp", "mcast_grp", "egress_rid", "priority"];
    let alias = |set: &str, field: &str| json!([format!("{set}.{field}"), [STANDARD, field]]);
    let queueing = queueing.map(|field| alias("queueing_metadata", field));
    let intrinsic = intrinsic.map(|field| alias("intrinsic_metadata", field));
    queueing.into_iter().chain(intrinsic).collect()
}

pub(super) struct Names<'p> {
    program: &'p Program,
    headers: Vec<String>,
    stacks: Vec<String>,
    unions: Vec<String>,
    /// The instances that the switch itself reads and writes, and the places of their variables.
    pub(super) builtins: Vec<Builtin>,
    builtin_places: BTreeMap<VarId, (&'static str, &'static str)>,
    /// Places of other variables, made when one is first named.
    scalars: BTreeMap<VarId, Value>,
    /// Fields of `scalars`, with those that stand for no variable of the IR.
    pub(super) scalar_fields: Vec<(String, VarType)>,
    /// Instances that hold a varbit.
    pub(super) varbits: Vec<(String, VarType)>,
    /// Names of fields of `scalars`, and of instances.
    taken: BTreeSet<String>,
    instances: BTreeSet<String>,
}

impl<'p> Names<'p> {
    pub(super) fn new(program: &'p Program) -> Self {
        let architecture = &program.architecture;
        let of_psa = architecture.psa().map(builtin::of_psa).unwrap_or_default();
        let builtins: Vec<_> =
            architecture.v1model().map(builtin::standard).into_iter().chain(of_psa).collect();
        let mut instances: BTreeSet<String> = builtins.iter().map(|one| one.name.to_owned()).collect();
        instances.insert(SCALARS.to_owned());
        let mut named = |name: &str| unique(&mut instances, instance(name));
        let headers = program.headers.iter().map(|header| named(&header.name)).collect();
        let stacks = program.stacks.iter().map(|stack| named(&stack.name)).collect();
        let unions = program.unions.iter().map(|union| named(&union.name)).collect();
        let places =
            builtins.iter().flat_map(|one| one.fields.iter().map(|field| (field.1, (one.name, field.0))));
        let builtin_places = places.collect();
        Self {
            program,
            headers,
            stacks,
            unions,
            builtins,
            builtin_places,
            scalars: BTreeMap::new(),
            scalar_fields: Vec::new(),
            varbits: Vec::new(),
            taken: BTreeSet::new(),
            instances,
        }
    }

    pub(super) fn header(&self, header: HeaderId) -> &str {
        &self.headers[header.index()]
    }

    pub(super) fn stack(&self, stack: StackId) -> &str {
        &self.stacks[stack.index()]
    }

    pub(super) fn union(&self, union: UnionId) -> &str {
        &self.unions[union.index()]
    }

    /// `[header, field]`
    pub(super) fn pair(&mut self, var: VarId) -> Value {
        if let Some((instance, field)) = self.builtin_places.get(&var) {
            return json!([instance, field]);
        }
        let of = &self.program.vars[var.index()];
        if let VarKind::Field { header, field } = of.kind {
            let ty = &self.program.header_types[self.program.headers[header.index()].ty.index()];
            return json!([self.header(header), ty.fields[field as usize].name]);
        }
        if let Some(pair) = self.scalars.get(&var) {
            return pair.clone();
        }
        let (name, ty) = (of.name.clone(), of.ty);
        let pair = self.scalar(&name, ty);
        self.scalars.insert(var, pair.clone());
        pair
    }

    pub(super) fn field(&mut self, var: VarId) -> Value {
        typed("field", self.pair(var))
    }

    /// A new field of `scalars`, or of an instance of its own: a header has at most one varbit.
    pub(super) fn scalar(&mut self, name: &str, ty: VarType) -> Value {
        let name = unique(&mut self.taken, name);
        if matches!(ty, VarType::Varbit(_)) {
            let name = unique(&mut self.instances, &name);
            self.varbits.push((name.clone(), ty));
            return json!([name, VARBIT]);
        }
        self.scalar_fields.push((name.clone(), ty));
        json!([SCALARS, name])
    }
}

/// The name of an instance within the struct of headers: `ipv4` of `hdr.ipv4`.
fn instance(name: &str) -> &str {
    name.split_once('.').map_or(name, |(_, rest)| rest)
}

/// The name, with a number behind it where it is taken.
pub(super) fn unique(taken: &mut BTreeSet<String>, name: &str) -> String {
    let numbered = (1_u64..).map(|number| format!("{name}_{number}"));
    let mut names = core::iter::once(name.to_owned()).chain(numbered);
    // As many names as are taken, and one more, hold one that is free.
    let free = names.find(|name| !taken.contains(name)).unwrap_or_default();
    taken.insert(free.clone());
    free
}
