//! TNA: from `main` to the entry points of one to four pipes.
//!
//! Ingress and egress have headers and metadata of their own, since the packet is parsed twice. A block may
//! leave out intrinsic metadata that it does not need: parameters are told apart by their types.

use super::Lowerer;
use super::arch::BlockShape;
use super::env::{EnvId, GLOBAL};
use super::storage::StaticStorage;
use crate::types::hir::{AggId, Constructed, Expr, Instance};
use crate::types::ty::Ty;
use crate::{
    Architecture, FuncId, HalfPipeline, Inst, Operand, Terminator, Tna, TnaForDeparser, TnaForEgressDeparser,
    TnaForTm, TnaFromParser, TnaPipe, VarId, VarKind, VarType,
};
use p4cc_syntax::{Diagnostic, Span};
use std::collections::BTreeMap;

const BLOCKS: [BlockShape; 6] = [
    BlockShape { what: "ingress parser", is_parser: true, params: 3..=6 },
    BlockShape { what: "ingress", is_parser: false, params: 2..=6 },
    BlockShape { what: "ingress deparser", is_parser: false, params: 3..=5 },
    BlockShape { what: "egress parser", is_parser: true, params: 3..=6 },
    BlockShape { what: "egress", is_parser: false, params: 2..=6 },
    BlockShape { what: "egress deparser", is_parser: false, params: 3..=6 },
];

/// How many pipes the chip has at most.
const MAX_PIPES: usize = 4;

/// A block with its place in the source.
type Block = (EnvId, Span);

/// Storage of one half of a pipe: headers, metadata, and the architecture's structs by name.
struct Half {
    headers: StaticStorage,
    metadata: StaticStorage,
    intrinsic: BTreeMap<&'static str, StaticStorage>,
}

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

impl Lowerer<'_> {
    /// The entry points of `Switch(pipe, ...) main`, and its blocks in order.
    pub(super) fn tna(&mut self, main: &Instance) -> Option<(Architecture, Vec<EnvId>)> {
        let pipes: Vec<&Expr> = main.construct.args.iter().flatten().collect();
        if pipes.is_empty() || pipes.len() > MAX_PIPES {
            self.push(
                Diagnostic::error(main.span, format!("`Switch` has {} pipes here", pipes.len()))
                    .with_help("use `Switch` as tna.p4 declares it: one to four instances of `Pipeline`"),
            );
            return None;
        }
        let parser_error = self.new_var("parser_error", VarType::Bit(32), VarKind::Metadata);
        let many = pipes.len() > 1;
        let (mut made, mut envs) = (Vec::new(), Vec::new());
        for (at, pipe) in pipes.into_iter().enumerate() {
            let view = self.pipe_view(self.pipe_instance(pipe), at, many);
            let blocks = self.pipe_blocks(pipe, if many { &view.name } else { "" })?;
            envs.extend(blocks.iter().map(|(env, _)| *env));
            self.notes.view.pipes.push(view);
            made.push(self.pipe(&blocks)?);
        }
        let view = self.finish_view();
        Some((Architecture::Tna(Box::new(Tna { pipes: made, parser_error, view })), envs))
    }

    /// The blocks of a pipe. With several pipes, the pipe's name stands in front of what the control plane
    /// sees.
    fn pipe_blocks(&mut self, arg: &Expr, prefix: &str) -> Option<[Block; 6]> {
        let construct = self.construct_of(arg).cloned();
        let construct =
            construct.filter(|made| matches!(&made.what, Constructed::Package(name) if name == "Pipeline"));
        let Some(construct) = construct else {
            self.push(Diagnostic::error(arg.span, "this is not an instance of `Pipeline`").with_help(
                "make one of the package of tna.p4: parser, control and deparser of ingress, then of egress",
            ));
            return None;
        };
        let prefix = prefix.to_owned();
        let outer = self.envs.get_mut(GLOBAL.0).map(|env| std::mem::replace(&mut env.prefix, prefix));
        let blocks = self.blocks("Pipeline", &construct.args, &BLOCKS, arg.span);
        if let (Some(env), Some(outer)) = (self.envs.get_mut(GLOBAL.0), outer) {
            env.prefix = outer;
        }
        blocks?.try_into().ok()
    }

    fn pipe_instance(&self, arg: &Expr) -> Option<&Instance> {
        match &arg.kind {
            crate::types::hir::ExprKind::Instance(id) => self.hir.instances.get(id.index()),
            _ => None,
        }
    }

    fn pipe(&mut self, [ip, ig, id, ep, eg, ed]: &[Block; 6]) -> Option<TnaPipe> {
        let half = self.half(ip, &INGRESS_STRUCTS)?;
        let ingress_from_parser = self.told_by_parser(&half, INGRESS_STRUCTS[2], ip.1)?;
        let mut var = |name: &'static str, field: &str| self.intrinsic_field(&half, name, field, ip.1);
        let for_deparser = TnaForDeparser {
            drop_ctl: var(INGRESS_STRUCTS[3], "drop_ctl")?,
            digest_type: var(INGRESS_STRUCTS[3], "digest_type")?,
            resubmit_type: var(INGRESS_STRUCTS[3], "resubmit_type")?,
            mirror_type: var(INGRESS_STRUCTS[3], "mirror_type")?,
        };
        let for_tm = TnaForTm {
            ucast_egress_port: var(INGRESS_STRUCTS[1], "ucast_egress_port")?,
            bypass_egress: var(INGRESS_STRUCTS[1], "bypass_egress")?,
            qid: var(INGRESS_STRUCTS[1], "qid")?,
            copy_to_cpu: var(INGRESS_STRUCTS[1], "copy_to_cpu")?,
            mcast_grp_a: var(INGRESS_STRUCTS[1], "mcast_grp_a")?,
            mcast_grp_b: var(INGRESS_STRUCTS[1], "mcast_grp_b")?,
        };
        let deflect = var(INGRESS_STRUCTS[1], "deflect_on_drop")?;
        self.tna.half = Some(super::tna_objects::HalfTypes {
            is_egress: false,
            mirror: for_deparser.mirror_type,
            resubmit: Some(for_deparser.resubmit_type),
            digest: Some(for_deparser.digest_type),
            unicast_port: Some(for_tm.ucast_egress_port),
        });
        let first = self.out.funcs.len();
        let first_table = self.out.tables.len();
        let parser = self.tna_entry(ip, &half)?;
        self.view_parser(ip.0)?;
        let control = self.viewed_entry(ig, &half, false)?;
        let ingress_reads_error = self.reads_var(first, first_table, ingress_from_parser.parser_err);
        let ingress = HalfPipeline { parser, control, deparser: self.tna_deparser(id, &half)? };
        self.refuse_write(first, deflect, "`deflect_on_drop`", ig.1)?;

        let half = self.half(ep, &EGRESS_STRUCTS)?;
        let egress_from_parser = self.told_by_parser(&half, EGRESS_STRUCTS[1], ep.1)?;
        let mut var = |field: &str| self.intrinsic_field(&half, EGRESS_STRUCTS[2], field, ep.1);
        let for_egress_deparser =
            TnaForEgressDeparser { drop_ctl: var("drop_ctl")?, mirror_type: var("mirror_type")? };
        let refused = ["coalesce_flush", "coalesce_length"].map(|field| (field, var(field)));
        self.tna.half = Some(super::tna_objects::HalfTypes {
            is_egress: true,
            mirror: for_egress_deparser.mirror_type,
            resubmit: None,
            digest: None,
            unicast_port: None,
        });
        let first = self.out.funcs.len();
        let egress = HalfPipeline {
            parser: self.tna_entry(ep, &half)?,
            control: self.viewed_entry(eg, &half, true)?,
            deparser: self.tna_deparser(ed, &half)?,
        };
        for (field, var) in refused {
            self.refuse_write(first, var?, &format!("`{field}`"), eg.1)?;
        }
        self.tna.half = None;
        Some(TnaPipe {
            ingress,
            ingress_reads_error,
            ingress_from_parser,
            for_deparser,
            for_tm,
            egress,
            egress_from_parser,
            for_egress_deparser,
        })
    }

    /// Storage of a half: that of headers and metadata by the parser's parameters.
    fn half(&mut self, parser: &Block, structs: &[&'static str; 4]) -> Option<Half> {
        let mut intrinsic = BTreeMap::new();
        for name in structs {
            let at = self.hir.aggregates.iter().position(|agg| agg.name == *name);
            let Some(at) = at else {
                self.push(
                    Diagnostic::error(parser.1, format!("the program declares no `{name}`"))
                        .with_help("include the tna.p4 that comes with the engine"),
                );
                return None;
            };
            let ty = Ty::Aggregate(AggId::from_index(at));
            intrinsic.insert(*name, self.alloc(&ty, name, VarKind::Metadata, parser.1)?);
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
                    .with_help("include the tna.p4 that comes with the engine"),
            );
            return None;
        };
        let var = *var;
        self.switch_sets(var, 1, field, span)?;
        Some(var)
    }

    /// Binds a block's parameters by their types, and makes its function.
    fn tna_entry(&mut self, block: &Block, half: &Half) -> Option<FuncId> {
        let places = self.places(block, half)?;
        let places: Vec<&StaticStorage> = places.iter().collect();
        self.entry(block.0, &places, block.1)
    }

    /// As [`Self::tna_entry`], for a control whose values a snapshot shows.
    fn viewed_entry(&mut self, block: &Block, half: &Half, is_egress: bool) -> Option<FuncId> {
        let places = self.places(block, half)?;
        let view = self.view_control(block.0, &places, is_egress)?;
        if let Some(pipe) = self.notes.view.pipes.last_mut() {
            pipe.controls.push(view);
        }
        self.tna_entry(block, half)
    }

    fn tna_deparser(&mut self, block: &Block, half: &Half) -> Option<FuncId> {
        self.in_deparser = true;
        let made = self.tna_entry(block, half);
        self.in_deparser = false;
        made
    }

    fn places(&mut self, block: &Block, half: &Half) -> Option<Vec<StaticStorage>> {
        let mut of_program = [&half.headers, &half.metadata].into_iter();
        let mut places = Vec::new();
        for param in self.params(block.0)? {
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

    /// Reports a program that writes something that the switch does not act on.
    fn refuse_write(&mut self, first: usize, var: VarId, what: &str, span: Span) -> Option<()> {
        let zero = |src: &Operand| matches!(src, Operand::Const(bits) if bits.is_zero());
        let writes = |inst: &Inst| match inst {
            Inst::Assign { dst, src } => *dst == var && !zero(src),
            Inst::Unary { dst, .. }
            | Inst::Binary { dst, .. }
            | Inst::Resize { dst, .. }
            | Inst::Concat { dst, .. }
            | Inst::Slice { dst, .. }
            | Inst::SetSlice { dst, .. } => *dst == var,
            _ => false,
        };
        let mut blocks = self.out.funcs.iter().skip(first).flat_map(|func| &func.blocks);
        if !blocks.any(|block| block.insts.iter().any(writes)) {
            return Some(());
        }
        self.not_supported(span, format!("{what} of TNA, which this block sets"));
        None
    }
}
