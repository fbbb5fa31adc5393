//! v1model: from `main` to the entry points.

use super::Lowering;
use crate::Lowerer;
use crate::object::EnvId;
use crate::placed::Gress;
use crate::program::{BlockShape, PackageBlock};
use crate::storage::StaticStorage;
use p4cc_ir::{Architecture, FieldList, FuncId, StandardMetadata, V1Model, VarId, VarKind};
use p4cc_syntax::{Diagnostic, Span};
use p4cc_types::hir::{Field, Instance, Program};
use p4cc_types::ids::LocalId;
use p4cc_types::ty::Ty;
use std::collections::{BTreeMap, BTreeSet};

const BLOCKS: [BlockShape; 6] = [
    BlockShape { what: "parser", is_parser: true, params: 4..=4 },
    BlockShape { what: "checksum verification", is_parser: false, params: 2..=2 },
    BlockShape { what: "ingress", is_parser: false, params: 3..=3 },
    BlockShape { what: "egress", is_parser: false, params: 3..=3 },
    BlockShape { what: "checksum computation", is_parser: false, params: 2..=2 },
    BlockShape { what: "deparser", is_parser: false, params: 2..=2 },
];

/// State that the blocks of the pipeline share.
struct Shared {
    headers: StaticStorage,
    metadata: StaticStorage,
    standard: StaticStorage,
}

/// `V1Switch`
pub(super) struct V1Switch;

impl Lowering for V1Switch {
    fn package(&self) -> &'static str {
        "V1Switch"
    }

    fn architectures(&self) -> &'static [&'static str] {
        &["v1model"]
    }

    fn has_parts(&self, _hir: &Program, main: &Instance) -> bool {
        main.construct.args.iter().flatten().count() == BLOCKS.len()
    }

    fn entry_points(&self, lowerer: &mut Lowerer<'_>, main: &Instance) -> Option<(Architecture, Vec<EnvId>)> {
        lowerer.v1model(main)
    }
}

impl Lowerer<'_> {
    /// The entry points of `V1Switch(...) main`, and its blocks in order.
    fn v1model(&mut self, main: &Instance) -> Option<(Architecture, Vec<EnvId>)> {
        let blocks = self.blocks("V1Switch", &main.construct.args, &BLOCKS, main.span)?;
        let [parser, verify, ingress, egress, compute, deparser] = blocks.as_slice() else {
            return self.shape_error(main.span);
        };
        let shared = self.shared(parser.env, parser.span)?;
        let metadata = self.standard_metadata(&shared, parser.span)?;
        let places = [&shared.headers, &shared.metadata, &shared.standard];
        let v1model = V1Model {
            parser: self.entry(parser, &places)?,
            verify_checksum: self.entry(verify, &places)?,
            ingress: self.gress_entry(Gress::Ingress, ingress, &places)?,
            egress: self.gress_entry(Gress::Egress, egress, &places)?,
            compute_checksum: self.entry(compute, &places)?,
            deparser: self.deparser(deparser, &places)?,
            metadata,
        };
        let envs = blocks.iter().map(|block| block.env).collect();
        Some((Architecture::V1Model(v1model), envs))
    }

    /// As [`Self::entry`], for ingress or egress.
    fn gress_entry(
        &mut self,
        gress: Gress,
        block: &PackageBlock,
        places: &[&StaticStorage],
    ) -> Option<FuncId> {
        self.gress = Some(gress);
        let made = self.entry(block, places);
        self.gress = None;
        made
    }

    /// Storage of headers, user metadata and standard metadata, by the parser's parameters.
    fn shared(&mut self, parser: EnvId, span: Span) -> Option<Shared> {
        let params = self.params(parser)?;
        let [_, headers, metadata, standard] = params.as_slice() else { return self.shape_error(span) };
        let place = |this: &mut Self, id: LocalId| {
            let local = this.hir.locals.get(id.index())?;
            this.alloc(&local.ty, &local.name, VarKind::Metadata, local.span)
        };
        let headers_place = place(self, *headers)?;
        let metadata_place = place(self, *metadata)?;
        let standard_place = place(self, *standard)?;
        self.standard = Some(standard_place.clone());
        let ty = self.hir.locals.get(metadata.index())?.ty.clone();
        let mut lists = BTreeMap::new();
        self.field_lists(&ty, &metadata_place, &mut lists);
        self.out.field_lists = lists
            .into_iter()
            .map(|(index, vars)| FieldList { index, vars: vars.into_iter().collect() })
            .collect();
        Some(Shared { headers: headers_place, metadata: metadata_place, standard: standard_place })
    }

    /// Collects `@field_list` annotations on fields of the user metadata, nested structs included.
    fn field_lists(&self, ty: &Ty, place: &StaticStorage, lists: &mut BTreeMap<u32, BTreeSet<VarId>>) {
        let StaticStorage::Struct(parts) = place else { return };
        let fields: &[Field] = self.hir.fields(ty);
        for (field, part) in fields.iter().zip(parts.iter()) {
            for index in &field.annotations.field_lists {
                let (mut vars, mut headers) = (BTreeSet::new(), BTreeSet::new());
                self.footprint(part, &mut vars, &mut headers);
                lists.entry(*index).or_default().extend(vars);
            }
            self.field_lists(&field.ty, part, lists);
        }
    }

    fn standard_metadata(&mut self, shared: &Shared, span: Span) -> Option<StandardMetadata> {
        let StaticStorage::Struct(parts) = &shared.standard else { return self.shape_error(span) };
        let ty = self.hir.aggregates.iter().find(|agg| agg.name == "standard_metadata_t")?;
        let names: Vec<&str> = ty.fields.iter().map(|field| field.name.as_str()).collect();
        let mut missing = None;
        let mut field = |name: &'static str| {
            let at = names.iter().position(|other| *other == name);
            match at.and_then(|at| parts.get(at)) {
                Some(StaticStorage::Scalar(var)) => *var,
                _ => {
                    missing = Some(name);
                    VarId(0)
                }
            }
        };
        let metadata = StandardMetadata {
            ingress_port: field("ingress_port"),
            egress_spec: field("egress_spec"),
            egress_port: field("egress_port"),
            instance_type: field("instance_type"),
            packet_length: field("packet_length"),
            enq_timestamp: field("enq_timestamp"),
            enq_qdepth: field("enq_qdepth"),
            deq_timedelta: field("deq_timedelta"),
            deq_qdepth: field("deq_qdepth"),
            ingress_global_timestamp: field("ingress_global_timestamp"),
            egress_global_timestamp: field("egress_global_timestamp"),
            mcast_grp: field("mcast_grp"),
            egress_rid: field("egress_rid"),
            checksum_error: field("checksum_error"),
            parser_error: field("parser_error"),
            priority: field("priority"),
        };
        if let Some(name) = missing {
            self.push(
                Diagnostic::error(ty.span, format!("`standard_metadata_t` has no field `{name}`"))
                    .with_help("include the bundled v1model.p4"),
            );
            return None;
        }
        for (field, part) in ty.fields.iter().zip(parts.iter()) {
            let least = if field.name == "parser_error" { 32 } else { 1 };
            if let StaticStorage::Scalar(var) = part {
                self.switch_sets(*var, least, &field.name, ty.span)?;
            }
        }
        Some(metadata)
    }
}
