//! What the chip's control plane sees of a program, noted while the program is lowered: values of the
//! controls for snapshots, port metadata, action selectors, and the fields that hashes are computed of.

use super::Lowerer;
use super::object::EnvId;
use super::storage::StaticStorage;
use p4cc_ir::{
    ControlView, HashDatum, HashView, ParamView, PipeView, PortMetadataView, RegisterId, TnaView, VarId,
    ViewPlace,
};
use p4cc_syntax::ast::{AggregateKind, BinaryOp};
use p4cc_types::hir::{Call, Callee, Expr, ExprKind, Instance};
use p4cc_types::ty::Ty;
use p4cc_types::value::Value;

/// Most fields that a snapshot shows of one control; further ones are left out.
const MAX_SNAPSHOT_FIELDS: usize = 16_384;
/// Bound of the nesting of types.
const MAX_DEPTH: usize = 64;

/// Names of values, in the order of their declaration.
struct Values {
    with_valid: bool,
    fields: Vec<(String, u32)>,
    places: Vec<ViewPlace>,
    vars: Vec<(VarId, String)>,
}

impl Values {
    fn push(&mut self, name: &str, width: u32, place: ViewPlace) {
        if self.fields.len() < MAX_SNAPSHOT_FIELDS && width > 0 {
            self.fields.push((name.to_owned(), width));
            self.places.push(place);
        }
    }
}

impl Lowerer<'_> {
    /// A pipe by the name of its instance; one that is not named is called after its place.
    pub(super) fn pipe_view(&self, instance: Option<&Instance>, at: usize, named: bool) -> PipeView {
        let name = instance.map(|pipe| pipe.annotations.name.clone().unwrap_or_else(|| pipe.name.clone()));
        let name = name.unwrap_or_else(|| format!("pipe{at}"));
        PipeView { name, named, ..PipeView::default() }
    }

    /// Notes the values that a control of ingress or egress sees.
    pub(super) fn view_control(
        &mut self,
        env: EnvId,
        places: &[StaticStorage],
        is_egress: bool,
    ) -> Option<ControlView> {
        let mut values =
            Values { with_valid: true, fields: Vec::new(), places: Vec::new(), vars: Vec::new() };
        let mut rest = places.iter();
        for param in self.params(env)? {
            let local = self.hir.locals.get(param.index())?;
            if matches!(local.ty, Ty::Extern(..)) {
                continue;
            }
            self.view_values(&local.ty, rest.next(), &local.name, &mut values, 0);
            // Only what the program declares as headers has bits that say whether it is valid.
            values.with_valid = false;
        }
        self.notes.names = values.vars.into_iter().collect();
        let name = match self.envs.get(env.0)?.owner {
            super::env::Owner::Control(id) => {
                let control = self.hir.controls.get(id.index())?;
                control.annotations.name.clone().unwrap_or_else(|| control.name.clone())
            }
            _ => String::new(),
        };
        Some(ControlView { name, is_egress, fields: values.fields, places: values.places })
    }

    /// Notes what the ingress parser, which was just lowered, does with port metadata.
    pub(super) fn view_parser(&mut self, env: EnvId) -> Option<()> {
        let super::env::Owner::Parser(id) = self.envs.get(env.0)?.owner else { return None };
        let parser = self.hir.parsers.get(id.index())?;
        let intrinsic = parser.params.iter().filter_map(|param| self.hir.locals.get(param.index()));
        let intrinsic = intrinsic
            .filter(|local| self.hir.show(&local.ty) == "ingress_intrinsic_metadata_t")
            .map(|local| local.name.clone())
            .next();
        let data_type = self.notes.port_metadata.take();
        let parser = parser.annotations.name.clone().unwrap_or_else(|| parser.name.clone());
        self.notes.view.pipes.last_mut()?.port_metadata = PortMetadataView { parser, intrinsic, data_type };
        Some(())
    }

    fn view_values(
        &self,
        ty: &Ty,
        place: Option<&StaticStorage>,
        name: &str,
        values: &mut Values,
        depth: usize,
    ) {
        if depth > MAX_DEPTH || values.fields.len() >= MAX_SNAPSHOT_FIELDS {
            return;
        }
        let part = |at: usize| match place {
            Some(StaticStorage::Struct(parts)) => parts.get(at).cloned(),
            Some(StaticStorage::Stack(stack)) => {
                let stack = self.out.stacks.get(stack.index());
                stack.and_then(|stack| stack.elements.get(at)).copied().map(StaticStorage::Header)
            }
            Some(StaticStorage::Union(union)) => {
                let union = self.out.unions.get(union.index());
                union.and_then(|union| union.members.get(at)).copied().map(StaticStorage::Header)
            }
            _ => None,
        };
        match ty {
            Ty::Aggregate(_) if self.hir.aggregate_kind(ty) == Some(AggregateKind::Header) => {
                if values.with_valid {
                    let valid = match place {
                        Some(StaticStorage::Header(header)) => ViewPlace::Valid(*header),
                        _ => ViewPlace::Nowhere,
                    };
                    values.push(&format!("{name}.$valid"), 1, valid);
                }
                let vars = match place {
                    Some(StaticStorage::Header(header)) => self.field_vars(*header),
                    _ => Vec::new(),
                };
                let mut vars = vars.into_iter();
                self.view_header(ty, name, &mut vars, values, depth + 1);
            }
            Ty::Aggregate(_) => {
                for (at, field) in self.hir.fields(ty).iter().enumerate() {
                    let own = field.annotations.name.as_deref().unwrap_or(&field.name);
                    let name = format!("{name}.{}", own.trim_start_matches('.'));
                    self.view_values(&field.ty, part(at).as_ref(), &name, values, depth + 1);
                }
            }
            Ty::Stack(element, size) => {
                for at in 0..*size as usize {
                    let name = format!("{name}${at}");
                    self.view_values(element, part(at).as_ref(), &name, values, depth + 1);
                }
            }
            _ => {
                let var = match place {
                    Some(StaticStorage::Scalar(var)) => Some(*var),
                    _ => None,
                };
                self.view_scalar(ty, var, name, values);
            }
        }
    }

    /// The fields of a header, those of structs in it among them.
    fn view_header(
        &self,
        ty: &Ty,
        name: &str,
        vars: &mut impl Iterator<Item = VarId>,
        values: &mut Values,
        depth: usize,
    ) {
        if depth > MAX_DEPTH {
            return;
        }
        for field in self.hir.fields(ty) {
            let own = field.annotations.name.as_deref().unwrap_or(&field.name);
            let name = format!("{name}.{}", own.trim_start_matches('.'));
            match self.var_type(&field.ty) {
                Some(_) => self.view_scalar(&field.ty, vars.next(), &name, values),
                None => self.view_header(&field.ty, &name, vars, values, depth + 1),
            }
        }
    }

    /// Flags, errors and varbits are not shown, as p4c has it.
    fn view_scalar(&self, ty: &Ty, var: Option<VarId>, name: &str, values: &mut Values) {
        if let Ty::Bit(width) | Ty::Int(width) = self.hir.underlying(ty) {
            values.push(name, *width, var.map_or(ViewPlace::Nowhere, ViewPlace::Var));
        }
        values.vars.extend(var.map(|var| (var, name.to_owned())));
    }

    /// Notes a call of a hash with the fields that it is given.
    pub(super) fn note_hash(&mut self, width: u32, call: &Call) {
        let Callee::Method { object, .. } = &call.callee else { return };
        let ExprKind::Instance(id) = object.kind else { return };
        let Some(instance) = self.hir.instances.get(id.index()) else { return };
        let cp = self.cp_name(&instance.name, &instance.annotations);
        let mut fields = Vec::new();
        if let Some(Some(arg)) = call.args.first()
            && let ExprKind::Aggregate(items) | ExprKind::AggregateInOrder(items, _) = &uncast(arg).kind
        {
            items.iter().for_each(|item| self.hash_fields(item, &mut fields, 0));
        }
        let action = self.flow.in_action.then(|| self.name.clone());
        self.notes.calls.push((HashView { cp, width, fields, calls: 1 }, action));
    }

    fn hash_fields(&mut self, item: &Expr, fields: &mut Vec<HashDatum>, depth: usize) {
        if depth > MAX_DEPTH || fields.len() >= p4cc_ir::verify::MAX_DATA_FIELDS {
            return;
        }
        match &item.kind {
            ExprKind::Binary(BinaryOp::Concat, high, low) => {
                self.hash_fields(high, fields, depth + 1);
                self.hash_fields(low, fields, depth + 1);
            }
            _ => {
                let constant = matches!(item.kind, ExprKind::Const(_));
                let Some(width) = self.hir.width_bits(&item.ty) else { return };
                let name = self.source_name(item, 0);
                fields.push(HashDatum { name, width, constant });
            }
        }
    }

    /// An expression as the program writes it, parameters by the names of the outermost control.
    fn source_name(&mut self, expr: &Expr, depth: usize) -> String {
        if depth > MAX_DEPTH {
            return String::new();
        }
        if let Some(StaticStorage::Scalar(var)) = self.static_place(expr)
            && let Some(name) = self.notes.names.get(&var)
        {
            return name.clone();
        }
        match &expr.kind {
            ExprKind::Const(Value::Int(number)) => match self.hir.underlying(&expr.ty) {
                Ty::Bit(width) => format!("{width}w{number}"),
                Ty::Int(width) => format!("{width}s{number}"),
                _ => number.to_string(),
            },
            ExprKind::Const(Value::Bool(flag)) => flag.to_string(),
            ExprKind::Local(id) => {
                self.hir.locals.get(id.index()).map_or_else(String::new, |local| local.name.clone())
            }
            ExprKind::Field(base, at) => {
                let field = self.hir.fields(&base.ty).get(*at).map(|field| field.name.clone());
                format!("{}.{}", self.source_name(base, depth + 1), field.unwrap_or_else(|| format!("f{at}")))
            }
            ExprKind::Index(base, at) => {
                let at = self.source_name(at, depth + 1);
                format!("{}[{at}]", self.source_name(base, depth + 1))
            }
            ExprKind::Slice(base, hi, lo) => format!("{}[{hi}:{lo}]", self.source_name(base, depth + 1)),
            ExprKind::Cast(inner) => {
                let ty = self.hir.show(&expr.ty);
                format!("({ty}){}", self.source_name(inner, depth + 1))
            }
            _ => "expression".to_owned(),
        }
    }

    /// Notes a register parameter, and the register whose action reads it.
    pub(super) fn note_param(&mut self, param: RegisterId) {
        let register = self.notes.register;
        match self.notes.view.params.iter_mut().find(|known| known.param == param) {
            Some(known) => known.register = known.register.or(register),
            None => self.notes.view.params.push(ParamView { param, register }),
        }
    }

    /// What is known in the end: p4c makes a copy of an action for each table that lists it, so that a call
    /// in it counts as often.
    pub(super) fn finish_view(&mut self) -> TnaView {
        let mut view = std::mem::take(&mut self.notes.view);
        for (mut call, action) in std::mem::take(&mut self.notes.calls) {
            if let Some(action) = action {
                let lists = |table: &&p4cc_ir::Table| {
                    let mut listed = table.actions.iter();
                    listed.any(|of| {
                        let made = self.out.actions.get(of.action.index());
                        made.is_some_and(|made| made.cp.name == action)
                    })
                };
                call.calls = u32::try_from(self.out.tables.iter().filter(lists).count()).unwrap_or(1).max(1);
            }
            match view.hashes.iter_mut().find(|known| known.cp.name == call.cp.name) {
                Some(known) => known.calls = known.calls.saturating_add(call.calls),
                None => view.hashes.push(call),
            }
        }
        view
    }
}

fn uncast(expr: &Expr) -> &Expr {
    match &expr.kind {
        ExprKind::Cast(inner) => uncast(inner),
        _ => expr,
    }
}
