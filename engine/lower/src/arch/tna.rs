//! TNA and T2NA: from `main` to the entry points of one to four pipes.
//!
//! Ingress and egress have headers and metadata of their own, since the packet is parsed twice. A block may
//! leave out intrinsic metadata that it does not need: parameters are told apart by their types.

use super::Lowering;
use crate::Lowerer;
use crate::object::{EnvId, GLOBAL, Object};
use crate::program::{BlockShape, PackageBlock};
use crate::storage::{Rvalue, StaticStorage};
use p4cc_ir::{
    Architecture, FuncId, Ghost, HalfPipeline, Inst, Operand, T2naForDeparser, T2naMirror, Terminator, Tna,
    TnaForDeparser, TnaForEgressDeparser, TnaForTm, TnaFromParser, TnaGhost, TnaPipe, TnaPortMetadata,
    TofinoChip, VarId, VarKind, VarType, WrittenVar,
};
use p4cc_syntax::{Diagnostic, Span};
use p4cc_types::hir::{Call, Construct, Constructed, Expr, ExprKind, Instance, Program};
use p4cc_types::ids::AggId;
use p4cc_types::ty::Ty;
use std::collections::BTreeMap;

const BLOCKS: [BlockShape; 7] = [
    BlockShape { what: "ingress parser", is_parser: true, params: 3..=6 },
    BlockShape { what: "ingress", is_parser: false, params: 2..=7 },
    BlockShape { what: "ingress deparser", is_parser: false, params: 3..=5 },
    BlockShape { what: "egress parser", is_parser: true, params: 3..=6 },
    BlockShape { what: "egress", is_parser: false, params: 2..=6 },
    BlockShape { what: "egress deparser", is_parser: false, params: 3..=6 },
    BlockShape { what: "ghost control", is_parser: false, params: 1..=1 },
];

/// Blocks of a pipe without the ghost control, which Tofino 2 may have.
const PIPE_BLOCKS: usize = 6;

/// How many pipes the chip has at most.
const MAX_PIPES: usize = 4;

/// Storage of one half of a pipe: headers, metadata, and the architecture's structs by name.
struct Half {
    headers: StaticStorage,
    metadata: StaticStorage,
    intrinsic: BTreeMap<&'static str, StaticStorage>,
}

/// What only Tofino 2 has.
const GHOST_HEADER: &str = "ghost_intrinsic_metadata_t";

/// Fields of T2NA that ask for what is not modelled; zeros ask for nothing.
const T2NA_REFUSED: [&str; 2] = ["mirror_coalesce_length", "mtu_trunc_err_f"];

const INGRESS_STRUCTS: [&str; 4] = [
    "ingress_intrinsic_metadata_t",
    "ingress_intrinsic_metadata_for_tm_t",
    "ingress_intrinsic_metadata_from_parser_t",
    "ingress_intrinsic_metadata_for_deparser_t",
];

const EGRESS_STRUCTS: [&str; 4] = [
    "egress_intrinsic_metadata_t",
    "egress_intrinsic_metadata_from_parser_t",
    "egress_intrinsic_metadata_for_deparser_t",
    "egress_intrinsic_metadata_for_output_port_t",
];

/// `Switch`
pub(super) struct TofinoSwitch;

impl Lowering for TofinoSwitch {
    fn package(&self) -> &'static str {
        "Switch"
    }

    fn architectures(&self) -> &'static [&'static str] {
        &["TNA", "T2NA"]
    }

    fn architecture(&self, lowerer: &Lowerer<'_>) -> &'static str {
        lowerer.tna.chip.architecture()
    }

    fn has_parts(&self, hir: &Program, main: &Instance) -> bool {
        let mut parts = main.construct.args.iter().flatten();
        !main.construct.args.is_empty() && parts.all(|part| is_pipeline(hir, part))
    }

    fn entry_points(&self, lowerer: &mut Lowerer<'_>, main: &Instance) -> Option<(Architecture, Vec<EnvId>)> {
        lowerer.tna(main)
    }

    fn method(
        &self,
        lowerer: &mut Lowerer<'_>,
        object: Object,
        name: &str,
        call: &Call,
        ret: Option<&Ty>,
    ) -> Option<Option<Rvalue>> {
        lowerer.tna_method(object, name, call, ret)
    }

    fn function(
        &self,
        lowerer: &mut Lowerer<'_>,
        name: &str,
        type_args: &[Ty],
        call: &Call,
        ret: Option<&Ty>,
    ) -> Option<Option<Rvalue>> {
        lowerer.tna_function(name, type_args, call, ret)
    }
}

/// Whether this is a pipeline of the chip.
fn is_pipeline(hir: &Program, part: &Expr) -> bool {
    let construct: Option<&Construct> = match &part.kind {
        ExprKind::Instance(id) => hir.instances.get(id.index()).map(|instance| &instance.construct),
        ExprKind::Construct(construct) => Some(construct),
        _ => None,
    };
    construct.is_some_and(|made| {
        let named = matches!(&made.what, Constructed::Package(name) if name == "Pipeline");
        named && made.args.iter().flatten().count() >= PIPE_BLOCKS
    })
}

impl Lowerer<'_> {
    /// The entry points of `Switch(pipe, ...) main`, and its blocks in order.
    fn tna(&mut self, main: &Instance) -> Option<(Architecture, Vec<EnvId>)> {
        let chip = self.tna.chip;
        let file = chip.architecture().to_lowercase();
        let pipes: Vec<&Expr> = main.construct.args.iter().flatten().collect();
        if pipes.is_empty() || pipes.len() > MAX_PIPES {
            self.push(
                Diagnostic::error(main.span, format!("`Switch` has {} pipes here", pipes.len())).with_help(
                    format!(
                        "instantiate `Switch` as {file}.p4 declares it: with one to four instances of \
                        `Pipeline`"
                    ),
                ),
            );
            return None;
        }
        let parser_error = self.new_var("parser_error", VarType::Bit(32), VarKind::Metadata);
        let many = pipes.len() > 1;
        let (mut made, mut envs) = (Vec::new(), Vec::new());
        for (at, pipe) in pipes.into_iter().enumerate() {
            let view = self.pipe_view(self.pipe_instance(pipe), at, many);
            let blocks = self.pipe_blocks(pipe, if many { &view.name } else { "" })?;
            envs.extend(blocks.iter().map(|block| block.env));
            let name = view.name.clone();
            self.notes.view.pipes.push(view);
            made.push(self.pipe(name, &blocks)?);
        }
        self.settle_hashes()?;
        let view = self.finish_view();
        Some((Architecture::Tna(Box::new(Tna { chip, pipes: made, parser_error, view })), envs))
    }

    /// The chip of a program: Tofino 2 where the architecture declares what only it has.
    pub(crate) fn tofino_chip(&self) -> TofinoChip {
        let has_ghost = self.hir.aggregates.iter().any(|agg| agg.name == GHOST_HEADER);
        if has_ghost { TofinoChip::Tofino2 } else { TofinoChip::Tofino1 }
    }

    /// The blocks of a pipe. With several pipes, the pipe's name stands in front of what the control plane
    /// sees.
    fn pipe_blocks(&mut self, arg: &Expr, prefix: &str) -> Option<Vec<PackageBlock>> {
        let file = self.tna.chip.architecture().to_lowercase();
        let construct = self.construct_of(arg).cloned();
        let construct =
            construct.filter(|made| matches!(&made.what, Constructed::Package(name) if name == "Pipeline"));
        let Some(construct) = construct else {
            self.push(Diagnostic::error(arg.span, "this is not an instance of `Pipeline`").with_help(
                format!(
                    "instantiate the package of {file}.p4: parser, control and deparser of ingress, then of \
                    egress"
                ),
            ));
            return None;
        };
        let has_ghost =
            self.tna.chip == TofinoChip::Tofino2 && construct.args.iter().flatten().count() == BLOCKS.len();
        let shapes = if has_ghost { &BLOCKS[..] } else { &BLOCKS[..PIPE_BLOCKS] };
        let prefix = prefix.to_owned();
        let outer = self.envs.get_mut(GLOBAL.0).map(|env| std::mem::replace(&mut env.prefix, prefix));
        let blocks = self.blocks("Pipeline", &construct.args, shapes, arg.span);
        if let (Some(env), Some(outer)) = (self.envs.get_mut(GLOBAL.0), outer) {
            env.prefix = outer;
        }
        blocks
    }

    fn pipe_instance(&self, arg: &Expr) -> Option<&Instance> {
        match &arg.kind {
            ExprKind::Instance(id) => self.hir.instances.get(id.index()),
            _ => None,
        }
    }

    fn pipe(&mut self, name: String, blocks: &[PackageBlock]) -> Option<TnaPipe> {
        let [ip, ig, id, ep, eg, ed, ghost @ ..] = blocks else {
            return self.shape_error(blocks.first()?.span);
        };
        self.tna.port_metadata = None;
        let half = self.half(ip, &INGRESS_STRUCTS)?;
        let ingress_from_parser = self.told_by_parser(&half, INGRESS_STRUCTS[2], ip.span)?;
        let mut for_deparser = self.for_deparser(&half, ip.span)?;
        let for_tm = self.for_tm(&half, ip.span)?;
        let unmodelled = self.unmodelled(&half, INGRESS_STRUCTS[3], ip.span)?;
        self.tna.half = Some(crate::tna_objects::HalfTypes {
            is_egress: false,
            mirror: for_deparser.mirror_type,
            resubmit: Some(for_deparser.resubmit_type),
            digest: Some(for_deparser.digest_type),
            unicast_port: Some(for_tm.ucast_egress_port),
            written: [None; 3],
        });
        let first = self.out.funcs.len();
        let first_table = self.out.tables.len();
        let parser = self.tna_entry(ip, &half)?;
        self.view_parser(ip.env)?;
        let control = self.viewed_entry(ig, &half, false)?;
        let ingress_reads_error = self.reads_var(first, first_table, ingress_from_parser.parser_err);
        self.note_types(first);
        self.settle_t2na(first, &half, INGRESS_STRUCTS[3], &mut for_deparser.t2na, ig.span)?;
        let ingress = HalfPipeline { parser, control, deparser: self.tna_deparser(id, &half)? };
        self.refuse_writes(first, &unmodelled, ig.span)?;
        let ghost = match ghost.first() {
            Some(block) => Some(self.ghost(block, &half)?),
            None => None,
        };
        let parser_name = self.envs.get(ip.env.0)?.prefix.clone();
        let fields = self.tna.port_metadata.take().unwrap_or_default();
        let port_metadata = TnaPortMetadata { parser: parser_name, fields };

        let half = self.half(ep, &EGRESS_STRUCTS)?;
        let egress_from_parser = self.told_by_parser(&half, EGRESS_STRUCTS[1], ep.span)?;
        let mut var = |field: &str| self.intrinsic_field(&half, EGRESS_STRUCTS[2], field, ep.span);
        let (drop_ctl, mirror_type) = (var("drop_ctl")?, var("mirror_type")?);
        let mut unmodelled = vec![("coalesce_flush", var("coalesce_flush")?)];
        unmodelled.push(("coalesce_length", var("coalesce_length")?));
        unmodelled.extend(self.unmodelled(&half, EGRESS_STRUCTS[2], ep.span)?);
        let t2na = self.t2na_for_deparser(&half, EGRESS_STRUCTS[2], ep.span)?;
        let mut for_egress_deparser = TnaForEgressDeparser { drop_ctl, mirror_type, t2na };
        self.tna.half = Some(crate::tna_objects::HalfTypes {
            is_egress: true,
            mirror: for_egress_deparser.mirror_type,
            resubmit: None,
            digest: None,
            unicast_port: None,
            written: [None; 3],
        });
        let first = self.out.funcs.len();
        let parser = self.tna_entry(ep, &half)?;
        let control = self.viewed_entry(eg, &half, true)?;
        self.note_types(first);
        self.settle_t2na(first, &half, EGRESS_STRUCTS[2], &mut for_egress_deparser.t2na, eg.span)?;
        let egress = HalfPipeline { parser, control, deparser: self.tna_deparser(ed, &half)? };
        self.refuse_writes(first, &unmodelled, eg.span)?;
        self.tna.half = None;
        Some(TnaPipe {
            name,
            ingress,
            ingress_reads_error,
            ingress_from_parser,
            for_deparser,
            for_tm,
            egress,
            egress_from_parser,
            for_egress_deparser,
            ghost,
            port_metadata,
        })
    }

    fn for_deparser(&mut self, half: &Half, span: Span) -> Option<TnaForDeparser> {
        let t2na = self.t2na_for_deparser(half, INGRESS_STRUCTS[3], span)?;
        let mut var = |field: &str| self.intrinsic_field(half, INGRESS_STRUCTS[3], field, span);
        Some(TnaForDeparser {
            drop_ctl: var("drop_ctl")?,
            digest_type: var("digest_type")?,
            resubmit_type: var("resubmit_type")?,
            mirror_type: var("mirror_type")?,
            t2na,
        })
    }

    /// What Tofino 2's deparsers know besides; none for Tofino 1.
    fn t2na_for_deparser(
        &mut self,
        half: &Half,
        name: &'static str,
        span: Span,
    ) -> Option<Option<T2naForDeparser>> {
        if self.tna.chip == TofinoChip::Tofino1 {
            return Some(None);
        }
        let mirror_io_select = self.intrinsic_field(half, name, "mirror_io_select", span)?;
        let is_ingress = name == INGRESS_STRUCTS[3];
        let pktgen = if is_ingress { Some(self.intrinsic_field(half, name, "pktgen", span)?) } else { None };
        let (mtu_trunc_len, adv_flow_ctl, mirror) = (None, None, T2naMirror::default());
        Some(Some(T2naForDeparser { mirror_io_select, pktgen, mtu_trunc_len, adv_flow_ctl, mirror }))
    }

    /// Adds what functions made from one on ask for: no packet is asked for what its program never writes.
    fn settle_t2na(
        &mut self,
        first: usize,
        half: &Half,
        name: &'static str,
        t2na: &mut Option<T2naForDeparser>,
        span: Span,
    ) -> Option<()> {
        let Some(t2na) = t2na else { return Some(()) };
        let mut var = |field: &str| self.intrinsic_field(half, name, field, span);
        let (length, flow_control) = (var("mtu_trunc_len")?, var("adv_flow_ctl")?);
        let fields = ["hash", "deflect_on_drop", "multicast_ctrl", "egress_port", "qid"];
        let values = fields.map(|field| var(&format!("mirror_{field}")));
        t2na.mtu_trunc_len = Some(length).filter(|var| self.writes_var(first, *var));
        t2na.adv_flow_ctl = Some(flow_control).filter(|var| self.writes_var(first, *var));
        let mut written = values.into_iter().map(|value| {
            let noted = self.note_writes(first, value?);
            Some(noted.map(|(value, written)| WrittenVar { value, written }))
        });
        let mut next = || written.next().flatten();
        t2na.mirror = T2naMirror {
            hash: next()?,
            deflect_on_drop: next()?,
            multicast_ctrl: next()?,
            egress_port: next()?,
            qid: next()?,
        };
        Some(())
    }

    fn for_tm(&mut self, half: &Half, span: Span) -> Option<TnaForTm> {
        let mut var = |field: &str| self.intrinsic_field(half, INGRESS_STRUCTS[1], field, span);
        Some(TnaForTm {
            ucast_egress_port: var("ucast_egress_port")?,
            bypass_egress: var("bypass_egress")?,
            deflect_on_drop: var("deflect_on_drop")?,
            qid: var("qid")?,
            copy_to_cpu: var("copy_to_cpu")?,
            mcast_grp_a: var("mcast_grp_a")?,
            mcast_grp_b: var("mcast_grp_b")?,
            level1_mcast_hash: var("level1_mcast_hash")?,
            level2_mcast_hash: var("level2_mcast_hash")?,
            level1_exclusion_id: var("level1_exclusion_id")?,
            level2_exclusion_id: var("level2_exclusion_id")?,
            rid: var("rid")?,
        })
    }

    /// Variables of fields that ask for what is not modelled.
    fn unmodelled(
        &mut self,
        half: &Half,
        name: &'static str,
        span: Span,
    ) -> Option<Vec<(&'static str, VarId)>> {
        if self.tna.chip == TofinoChip::Tofino1 {
            return Some(Vec::new());
        }
        let vars = T2NA_REFUSED.map(|field| Some((field, self.intrinsic_field(half, name, field, span)?)));
        vars.into_iter().collect()
    }

    /// The control that hears of queues' depths; it sees the same metadata as ingress.
    fn ghost(&mut self, block: &PackageBlock, half: &Half) -> Option<Ghost> {
        let Some(StaticStorage::Header(header)) = half.intrinsic.get(GHOST_HEADER) else {
            return self.shape_error(block.span);
        };
        let vars = self.out.headers.get(header.index())?.fields.clone();
        let [ping_pong, qlength, qid, pipe_id] = vars.as_slice() else { return self.shape_error(block.span) };
        let told = TnaGhost { ping_pong: *ping_pong, qlength: *qlength, qid: *qid, pipe_id: *pipe_id };
        Some(Ghost { control: self.tna_entry(block, half)?, told })
    }

    /// Storage of a half: that of headers and metadata by the parser's parameters.
    fn half(&mut self, parser: &PackageBlock, structs: &[&'static str; 4]) -> Option<Half> {
        let mut intrinsic = BTreeMap::new();
        for name in structs {
            let at = self.hir.aggregates.iter().position(|agg| agg.name == *name);
            let Some(at) = at else {
                self.push(
                    Diagnostic::error(parser.span, format!("the program declares no `{name}`"))
                        .with_help("include the bundled declarations of the architecture"),
                );
                return None;
            };
            let ty = Ty::Aggregate(AggId::from_index(at));
            intrinsic.insert(*name, self.alloc(&ty, name, VarKind::Metadata, parser.span)?);
        }
        let ghost = self.hir.aggregates.iter().position(|agg| agg.name == GHOST_HEADER);
        if let Some(at) = ghost.filter(|_| structs == &INGRESS_STRUCTS) {
            let ty = Ty::Aggregate(AggId::from_index(at));
            intrinsic.insert(GHOST_HEADER, self.alloc(&ty, GHOST_HEADER, VarKind::Metadata, parser.span)?);
        }
        Some(Half {
            headers: self.param_place(parser, 1)?,
            metadata: self.param_place(parser, 2)?,
            intrinsic,
        })
    }

    fn told_by_parser(&mut self, half: &Half, name: &'static str, span: Span) -> Option<TnaFromParser> {
        Some(TnaFromParser {
            global_tstamp: self.intrinsic_field(half, name, "global_tstamp", span)?,
            parser_err: self.intrinsic_field(half, name, "parser_err", span)?,
        })
    }

    /// The variable of a field of one of the architecture's structs.
    fn intrinsic_field(&mut self, half: &Half, name: &'static str, field: &str, span: Span) -> Option<VarId> {
        let agg = self.hir.aggregates.iter().find(|agg| agg.name == name)?;
        let at = agg.fields.iter().position(|known| known.name == field);
        let var = match half.intrinsic.get(name) {
            Some(StaticStorage::Struct(parts)) => at.and_then(|at| parts.get(at)),
            _ => None,
        };
        let Some(StaticStorage::Scalar(var)) = var else {
            self.push(
                Diagnostic::error(agg.span, format!("`{name}` has no field `{field}`"))
                    .with_help("include the bundled declarations of the architecture"),
            );
            return None;
        };
        let var = *var;
        self.switch_sets(var, 1, field, span)?;
        Some(var)
    }

    /// Binds a block's parameters by their types, and makes its function.
    fn tna_entry(&mut self, block: &PackageBlock, half: &Half) -> Option<FuncId> {
        let places = self.places(block, half)?;
        let places: Vec<&StaticStorage> = places.iter().collect();
        let func = self.entry(block, &places)?;
        self.subtract_extracted(func)?;
        Some(func)
    }

    /// As [`Self::tna_entry`], for a control whose values a snapshot shows.
    fn viewed_entry(&mut self, block: &PackageBlock, half: &Half, is_egress: bool) -> Option<FuncId> {
        let places = self.places(block, half)?;
        let view = self.view_control(block.env, &places, is_egress)?;
        if let Some(pipe) = self.notes.view.pipes.last_mut() {
            pipe.controls.push(view);
        }
        self.tna_entry(block, half)
    }

    fn tna_deparser(&mut self, block: &PackageBlock, half: &Half) -> Option<FuncId> {
        self.in_deparser = true;
        let made = self.tna_entry(block, half);
        self.in_deparser = false;
        made
    }

    fn places(&mut self, block: &PackageBlock, half: &Half) -> Option<Vec<StaticStorage>> {
        let mut of_program = [&half.headers, &half.metadata].into_iter();
        let mut places = Vec::new();
        for param in self.params(block.env)? {
            let local = self.hir.locals.get(param.index())?;
            let name = match &local.ty {
                Ty::Extern(..) => continue,
                Ty::Aggregate(agg) => self.hir.aggregates.get(agg.index())?.name.as_str(),
                _ => "",
            };
            let place = match half.intrinsic.get(name) {
                Some(place) => Some(place),
                None => of_program.next(),
            };
            match place {
                Some(place) => places.push(place.clone()),
                None => return self.shape_error(local.span),
            }
        }
        Some(places)
    }

    /// Whether functions made from one on, or keys of tables, read a variable.
    fn reads_var(&self, first: usize, first_table: usize, var: VarId) -> bool {
        let is = |operand: &Operand| *operand == Operand::Var(var);
        let reads = |inst: &Inst| match inst {
            Inst::Assign { src, .. }
            | Inst::Unary { src, .. }
            | Inst::Resize { src, .. }
            | Inst::Slice { src, .. }
            | Inst::SetSlice { src, .. } => is(src),
            Inst::Binary { a, b, .. } => is(a) || is(b),
            Inst::Concat { hi, lo, .. } => is(hi) || is(lo),
            Inst::CallAction { args, .. } => args.iter().any(is),
            _ => false,
        };
        let ends = |end: &Terminator| match end {
            Terminator::Branch { cond, .. } => is(cond),
            Terminator::Switch { value, .. } => is(value),
            Terminator::Select { keys, .. } => keys.iter().any(is),
            _ => false,
        };
        let blocks = self.out.funcs.iter().skip(first).flat_map(|func| &func.blocks);
        let mut keys = self.out.tables.iter().skip(first_table).flat_map(|table| &table.keys);
        keys.any(|key| key.var == var)
            || blocks.into_iter().any(|block| block.insts.iter().any(reads) || ends(&block.terminator))
    }
}
