//! PSA: from `main` to the entry points.
//!
//! Ingress and egress have headers and metadata of their own, since the packet is parsed twice. Metadata that
//! a deparser hands to a parser is one place for both; the switch carries its values along with the packet.

use super::Lowerer;
use super::arch::BlockShape;
use super::object::EnvId;
use super::storage::StaticStorage;
use p4cc_ir::{
    Architecture, Bridge, HalfPipeline, Psa, PsaEgressInput, PsaEgressOutput, PsaIngressInput,
    PsaIngressOutput, PsaParserInput, VarId, VarKind, VarType,
};
use p4cc_syntax::{Diagnostic, Span};
use p4cc_types::hir::{Construct, Constructed, Expr, ExprKind, Instance};
use std::collections::BTreeSet;

const INGRESS_BLOCKS: [BlockShape; 3] = [
    BlockShape { what: "ingress parser", is_parser: true, params: 6..=6 },
    BlockShape { what: "ingress", is_parser: false, params: 4..=4 },
    BlockShape { what: "ingress deparser", is_parser: false, params: 7..=7 },
];

const EGRESS_BLOCKS: [BlockShape; 3] = [
    BlockShape { what: "egress parser", is_parser: true, params: 7..=7 },
    BlockShape { what: "egress", is_parser: false, params: 4..=4 },
    BlockShape { what: "egress deparser", is_parser: false, params: 7..=7 },
];

/// Number of parts of `PSA_Switch`.
pub(super) const PARTS: usize = 4;

/// A pipeline's blocks with their places in the source: parser, control, deparser.
type Blocks = [(EnvId, Span); 3];

/// A struct that the architecture declares, taken apart.
struct Metadata {
    place: StaticStorage,
    fields: Vec<(String, VarId)>,
    span: Span,
}

impl Lowerer<'_> {
    /// The entry points of `PSA_Switch(ingress, pre, egress, bqe) main`, and its blocks in order.
    pub(super) fn psa(&mut self, main: &Instance) -> Option<(Architecture, Vec<EnvId>)> {
        let args = &main.construct.args;
        let [Some(ingress), Some(_), Some(egress), Some(_)] = args.as_slice() else {
            self.push(
                Diagnostic::error(
                    main.span,
                    format!("`PSA_Switch` has {} arguments here, but PSA has {PARTS}", args.iter().flatten().count()),
                )
                .with_help("use `PSA_Switch` as psa.p4 declares it: ingress pipeline, PacketReplicationEngine, egress pipeline, BufferingQueueingEngine"),
            );
            return None;
        };
        let ingress = self.psa_blocks(ingress, "IngressPipeline", &INGRESS_BLOCKS)?;
        let egress = self.psa_blocks(egress, "EgressPipeline", &EGRESS_BLOCKS)?;
        let psa = self.psa_pipelines(&ingress, &egress)?;
        let blocks = ingress.iter().chain(&egress).map(|(env, _)| *env).collect();
        Some((Architecture::Psa(Box::new(psa)), blocks))
    }

    /// The blocks of one of the packages that `main` is made of.
    fn psa_blocks(&mut self, arg: &Expr, package: &str, shapes: &[BlockShape; 3]) -> Option<Blocks> {
        let construct = self.construct_of(arg);
        let of_package =
            |construct: &&Construct| matches!(&construct.what, Constructed::Package(name) if name == package);
        let Some(construct) = construct.filter(of_package) else {
            self.push(
                Diagnostic::error(arg.span, format!("this is not an instance of `{package}`"))
                    .with_help("instantiate the package of psa.p4: parser, control and deparser"),
            );
            return None;
        };
        self.blocks(package, &construct.args, shapes, arg.span)?.try_into().ok()
    }
}

impl<'h> Lowerer<'h> {
    /// What an instance was made by.
    pub(super) fn construct_of<'e>(&self, arg: &'e Expr) -> Option<&'e Construct>
    where
        'h: 'e,
    {
        let hir = self.hir;
        match &arg.kind {
            ExprKind::Instance(id) => hir.instances.get(id.index()).map(|instance| &instance.construct),
            ExprKind::Construct(construct) => Some(construct),
            _ => None,
        }
    }
}

impl Lowerer<'_> {
    fn psa_pipelines(&mut self, ingress: &Blocks, egress: &Blocks) -> Option<Psa> {
        let [ip, ig, id] = ingress;
        let [ep, eg, ed] = egress;
        // Positions are those of the blocks' parameters in psa.p4, the packet's included.
        let (ih, im) = (self.param_place(ip, 1)?, self.param_place(ip, 2)?);
        let (eh, em) = (self.param_place(ep, 1)?, self.param_place(ep, 2)?);
        let (ipi, igi, igo) = (self.metadata(ip, 3)?, self.metadata(ig, 2)?, self.metadata(ig, 3)?);
        let (epi, egi, ego) = (self.metadata(ep, 3)?, self.metadata(eg, 2)?, self.metadata(eg, 3)?);
        let edi = self.metadata(ed, 6)?;
        let (resubmit, recirculate) = (self.param_place(ip, 4)?, self.param_place(ip, 5)?);
        let normal = self.param_place(ep, 4)?;
        let (clone_i2e, clone_e2e) = (self.param_place(ep, 5)?, self.param_place(ep, 6)?);
        let error = self.new_var("parser_error", VarType::Bit(32), VarKind::Metadata);
        let ingress = HalfPipeline {
            parser: self.entry(ip.0, &[&ih, &im, &ipi.place, &resubmit, &recirculate], ip.1)?,
            control: self.entry(ig.0, &[&ih, &im, &igi.place, &igo.place], ig.1)?,
            deparser: self.deparser(id.0, &[&clone_i2e, &resubmit, &normal, &ih, &im, &igo.place], id.1)?,
        };
        let egress = HalfPipeline {
            parser: self.entry(ep.0, &[&eh, &em, &epi.place, &normal, &clone_i2e, &clone_e2e], ep.1)?,
            control: self.entry(eg.0, &[&eh, &em, &egi.place, &ego.place], eg.1)?,
            deparser: self.deparser(
                ed.0,
                &[&clone_e2e, &recirculate, &eh, &em, &ego.place, &edi.place],
                ed.1,
            )?,
        };
        Some(Psa {
            ingress,
            egress,
            parser_error: error,
            ingress_parser_input: PsaParserInput {
                port: self.field(&ipi, "ingress_port")?,
                packet_path: self.field(&ipi, "packet_path")?,
            },
            ingress_input: self.ingress_input(&igi)?,
            ingress_output: self.ingress_output(&igo)?,
            egress_parser_input: PsaParserInput {
                port: self.field(&epi, "egress_port")?,
                packet_path: self.field(&epi, "packet_path")?,
            },
            egress_input: self.egress_input(&egi)?,
            egress_output: PsaEgressOutput {
                clone: self.field(&ego, "clone")?,
                clone_session_id: self.field(&ego, "clone_session_id")?,
                drop: self.field(&ego, "drop")?,
            },
            egress_deparser_port: self.field(&edi, "egress_port")?,
            normal: self.bridge(&normal),
            resubmit: self.bridge(&resubmit),
            recirculate: self.bridge(&recirculate),
            clone_i2e: self.bridge(&clone_i2e),
            clone_e2e: self.bridge(&clone_e2e),
        })
    }

    fn ingress_input(&mut self, of: &Metadata) -> Option<PsaIngressInput> {
        Some(PsaIngressInput {
            ingress_port: self.field(of, "ingress_port")?,
            packet_path: self.field(of, "packet_path")?,
            ingress_timestamp: self.field(of, "ingress_timestamp")?,
            parser_error: self.field(of, "parser_error")?,
        })
    }

    fn ingress_output(&mut self, of: &Metadata) -> Option<PsaIngressOutput> {
        Some(PsaIngressOutput {
            class_of_service: self.field(of, "class_of_service")?,
            clone: self.field(of, "clone")?,
            clone_session_id: self.field(of, "clone_session_id")?,
            drop: self.field(of, "drop")?,
            resubmit: self.field(of, "resubmit")?,
            multicast_group: self.field(of, "multicast_group")?,
            egress_port: self.field(of, "egress_port")?,
        })
    }

    fn egress_input(&mut self, of: &Metadata) -> Option<PsaEgressInput> {
        Some(PsaEgressInput {
            class_of_service: self.field(of, "class_of_service")?,
            egress_port: self.field(of, "egress_port")?,
            packet_path: self.field(of, "packet_path")?,
            instance: self.field(of, "instance")?,
            egress_timestamp: self.field(of, "egress_timestamp")?,
            parser_error: self.field(of, "parser_error")?,
        })
    }

    /// Storage for a parameter of a block.
    pub(super) fn param_place(&mut self, block: &(EnvId, Span), at: usize) -> Option<StaticStorage> {
        let id = self.params(block.0)?.get(at).copied()?;
        let local = self.hir.locals.get(id.index())?;
        self.alloc(&local.ty, &local.name, VarKind::Metadata, local.span)
    }

    /// Storage for a parameter of a block that is a struct of the architecture.
    fn metadata(&mut self, block: &(EnvId, Span), at: usize) -> Option<Metadata> {
        let place = self.param_place(block, at)?;
        let id = self.params(block.0)?.get(at).copied()?;
        let local = self.hir.locals.get(id.index())?;
        let names = self.hir.fields(&local.ty).iter().map(|field| field.name.clone());
        let parts: &[StaticStorage] = match &place {
            StaticStorage::Struct(parts) => parts,
            _ => &[],
        };
        let scalar = |(name, part): (String, &StaticStorage)| match part {
            StaticStorage::Scalar(var) => Some((name, *var)),
            _ => None,
        };
        let fields = names.zip(parts).filter_map(scalar).collect();
        Some(Metadata { place, fields, span: local.span })
    }

    fn field(&mut self, of: &Metadata, name: &str) -> Option<VarId> {
        let found = of.fields.iter().find(|(field, _)| field == name).map(|(_, var)| *var);
        if found.is_none() {
            self.push(
                Diagnostic::error(of.span, format!("this metadata has no field `{name}`"))
                    .with_help("include the bundled psa.p4"),
            );
        }
        let found = found?;
        self.switch_sets(found, 1, name, of.span)?;
        Some(found)
    }

    fn bridge(&self, place: &StaticStorage) -> Bridge {
        let (mut vars, mut headers) = (BTreeSet::new(), BTreeSet::new());
        self.footprint(place, &mut vars, &mut headers);
        Bridge { vars: vars.into_iter().collect(), headers: headers.into_iter().collect() }
    }
}
