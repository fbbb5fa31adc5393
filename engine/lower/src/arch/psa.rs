//! PSA: from `main` to the entry points.
//!
//! Ingress and egress have headers and metadata of their own, since the packet is parsed twice. Metadata that
//! a deparser hands to a parser is one place for both; the switch carries its values along with the packet.

use super::Lowering;
use crate::Lowerer;
use crate::object::{EnvId, Object};
use crate::params::Metadata;
use crate::program::{BlockShape, PackageBlock};
use crate::storage::Rvalue;
use p4cc_ir::{
    Architecture, HalfPipeline, Psa, PsaEgressInput, PsaEgressOutput, PsaIngressInput, PsaIngressOutput,
    PsaParserInput, VarKind, VarType,
};
use p4cc_syntax::Diagnostic;
use p4cc_types::hir::{Call, Construct, Constructed, Expr, Instance, Program};
use p4cc_types::ty::Ty;

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
const PARTS: usize = 4;

/// A pipeline's blocks with their places in the source: parser, control, deparser.
type Blocks = [PackageBlock; 3];

/// `PSA_Switch`
pub(super) struct PsaSwitch;

impl Lowering for PsaSwitch {
    fn package(&self) -> &'static str {
        "PSA_Switch"
    }

    fn architectures(&self) -> &'static [&'static str] {
        &["PSA"]
    }

    fn has_parts(&self, _hir: &Program, main: &Instance) -> bool {
        main.construct.args.iter().flatten().count() == PARTS
    }

    fn entry_points(&self, lowerer: &mut Lowerer<'_>, main: &Instance) -> Option<(Architecture, Vec<EnvId>)> {
        lowerer.psa(main)
    }

    fn method(
        &self,
        lowerer: &mut Lowerer<'_>,
        object: Object,
        name: &str,
        call: &Call,
        ret: Option<&Ty>,
    ) -> Option<Option<Rvalue>> {
        lowerer.psa_method(object, name, call, ret)
    }

    fn function(
        &self,
        lowerer: &mut Lowerer<'_>,
        name: &str,
        _type_args: &[Ty],
        call: &Call,
        _ret: Option<&Ty>,
    ) -> Option<Option<Rvalue>> {
        lowerer.psa_function(name, call)
    }
}

impl Lowerer<'_> {
    /// The entry points of `PSA_Switch(ingress, pre, egress, bqe) main`, and its blocks in order.
    fn psa(&mut self, main: &Instance) -> Option<(Architecture, Vec<EnvId>)> {
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
        let blocks = ingress.iter().chain(&egress).map(|block| block.env).collect();
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
            parser: self.entry(ip, &[&ih, &im, &ipi.place, &resubmit, &recirculate])?,
            control: self.entry(ig, &[&ih, &im, &igi.place, &igo.place])?,
            deparser: self.deparser(id, &[&clone_i2e, &resubmit, &normal, &ih, &im, &igo.place])?,
        };
        let egress = HalfPipeline {
            parser: self.entry(ep, &[&eh, &em, &epi.place, &normal, &clone_i2e, &clone_e2e])?,
            control: self.entry(eg, &[&eh, &em, &egi.place, &ego.place])?,
            deparser: self.deparser(ed, &[&clone_e2e, &recirculate, &eh, &em, &ego.place, &edi.place])?,
        };
        Some(Psa {
            ingress,
            egress,
            parser_error: error,
            ingress_parser_input: PsaParserInput {
                port: self.param_field(&ipi, "ingress_port")?,
                packet_path: self.param_field(&ipi, "packet_path")?,
            },
            ingress_input: self.ingress_input(&igi)?,
            ingress_output: self.ingress_output(&igo)?,
            egress_parser_input: PsaParserInput {
                port: self.param_field(&epi, "egress_port")?,
                packet_path: self.param_field(&epi, "packet_path")?,
            },
            egress_input: self.egress_input(&egi)?,
            egress_output: PsaEgressOutput {
                clone: self.param_field(&ego, "clone")?,
                clone_session_id: self.param_field(&ego, "clone_session_id")?,
                drop: self.param_field(&ego, "drop")?,
            },
            egress_deparser_port: self.param_field(&edi, "egress_port")?,
            normal: self.bridge(&normal),
            resubmit: self.bridge(&resubmit),
            recirculate: self.bridge(&recirculate),
            clone_i2e: self.bridge(&clone_i2e),
            clone_e2e: self.bridge(&clone_e2e),
        })
    }

    fn ingress_input(&mut self, of: &Metadata) -> Option<PsaIngressInput> {
        Some(PsaIngressInput {
            ingress_port: self.param_field(of, "ingress_port")?,
            packet_path: self.param_field(of, "packet_path")?,
            ingress_timestamp: self.param_field(of, "ingress_timestamp")?,
            parser_error: self.param_field(of, "parser_error")?,
        })
    }

    fn ingress_output(&mut self, of: &Metadata) -> Option<PsaIngressOutput> {
        Some(PsaIngressOutput {
            class_of_service: self.param_field(of, "class_of_service")?,
            clone: self.param_field(of, "clone")?,
            clone_session_id: self.param_field(of, "clone_session_id")?,
            drop: self.param_field(of, "drop")?,
            resubmit: self.param_field(of, "resubmit")?,
            multicast_group: self.param_field(of, "multicast_group")?,
            egress_port: self.param_field(of, "egress_port")?,
        })
    }

    fn egress_input(&mut self, of: &Metadata) -> Option<PsaEgressInput> {
        Some(PsaEgressInput {
            class_of_service: self.param_field(of, "class_of_service")?,
            egress_port: self.param_field(of, "egress_port")?,
            packet_path: self.param_field(of, "packet_path")?,
            instance: self.param_field(of, "instance")?,
            egress_timestamp: self.param_field(of, "egress_timestamp")?,
            parser_error: self.param_field(of, "parser_error")?,
        })
    }
}
