//! From `main` to the program: what all architectures share.

use super::env::Owner;
use super::object::{EnvId, Object};
use super::storage::{Binding, StaticStorage};
use super::{Flow, Lowerer};
use p4cc_ir::limits::MAX_FRAME_BITS;
use p4cc_ir::{
    Action, ActionParam, Architecture, ControlPlaneName, ControllerHeader, FuncId, Program, Terminator,
    VarId, VarType,
};
use p4cc_syntax::{Diagnostic, Span};
use p4cc_types::hir::{Constructed, Expr};
use p4cc_types::ids::{ActId, LocalId};
use p4cc_types::ty::Ty;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

/// What a package wants of a block.
pub(super) struct BlockShape {
    /// For messages.
    pub what: &'static str,
    /// A parser, not a control.
    pub is_parser: bool,
    /// Number of parameters.
    pub params: RangeInclusive<usize>,
}

/// A block that a package is made of, and where it is given.
#[derive(Clone, Copy)]
pub(super) struct PackageBlock {
    pub env: EnvId,
    pub span: Span,
}

impl Lowerer<'_> {
    /// Lowers the program from its `main`.
    pub(super) fn program(&mut self, name: &str) -> Option<Program> {
        let hir = self.hir;
        let main = hir.main.and_then(|id| hir.instances.get(id.index()))?;
        let package =
            match &main.construct.what {
                Constructed::Package(package) => package.as_str(),
                _ => {
                    self.push(Diagnostic::error(main.span, "`main` is not a package").with_help(
                        "make it an instance of the architecture's package: `V1Switch(...) main;`",
                    ));
                    return None;
                }
            };
        package.clone_into(&mut self.package);
        self.tna.chip = self.tofino_chip();
        self.core_errors(main.span)?;
        for id in &hir.global_instances {
            let instance = hir.instances.get(id.index())?;
            if !matches!(instance.construct.what, Constructed::Package(_)) {
                self.elaborate(*id)?;
            }
        }
        let (architecture, blocks) = self.lowering().entry_points(self, main)?;
        self.declare_inlined()?;
        self.controller_headers()?;
        self.rank_objects(&blocks);
        self.unique_names(main.span)?;
        let package_annotations = main.annotations.texts.clone();
        let program = self.assemble(name, architecture, package_annotations);
        self.frame_fits(&program, main.span)?;
        Some(program)
    }

    /// A packet's variables have a bound, whatever their widths and numbers.
    fn frame_fits(&mut self, program: &Program, span: Span) -> Option<()> {
        let bits = program.frame_bits();
        if bits <= MAX_FRAME_BITS {
            return Some(());
        }
        let widest = program.vars.iter().max_by_key(|var| var.ty.width())?;
        let message = format!(
            "the program's variables have {bits} bits; at most {MAX_FRAME_BITS} are allowed (the widest is `{}`)",
            widest.name
        );
        self.push(
            Diagnostic::error(span, message)
                .with_help("reduce header stacks and varbits, or copy fewer large structs"),
        );
        None
    }

    /// The blocks of a package, their number and kinds checked:
    /// a program may declare its own package of that name.
    pub(super) fn blocks(
        &mut self,
        package: &str,
        args: &[Option<Expr>],
        shapes: &[BlockShape],
        span: Span,
    ) -> Option<Vec<PackageBlock>> {
        let wanted = shapes.iter().map(|shape| shape.what).collect::<Vec<_>>().join(", ");
        let file = format!("{}.p4", self.architecture().to_lowercase());
        let help = format!("instantiate `{package}` as {file} declares it: {wanted}");
        let has = args.iter().flatten().count();
        if has != shapes.len() {
            let message = format!(
                "`{package}` has {has} block{} here, but {} has {}",
                if has == 1 { "" } else { "s" },
                self.architecture(),
                shapes.len()
            );
            self.push(Diagnostic::error(span, message).with_help(help));
            return None;
        }
        let mut blocks = Vec::with_capacity(shapes.len());
        for (arg, shape) in args.iter().flatten().zip(shapes) {
            let fault = match self.object(arg)? {
                Object::Block(env) => {
                    blocks.push(PackageBlock { env, span: arg.span });
                    self.misfit(env, shape)?
                }
                _ => Some("it is neither a parser nor a control".to_owned()),
            };
            if let Some(fault) = fault {
                let message = format!("this cannot be the {} of `{package}`: {fault}", shape.what);
                self.push(Diagnostic::error(arg.span, message).with_help(help));
                return None;
            }
        }
        Some(blocks)
    }

    /// What keeps a block from being of a shape.
    fn misfit(&self, env: EnvId, shape: &BlockShape) -> Option<Option<String>> {
        let is_parser = matches!(self.envs.get(env.0)?.owner, Owner::Parser(_));
        let kind = |parser: bool| if parser { "a parser" } else { "a control" };
        if is_parser != shape.is_parser {
            return Some(Some(format!("it is {}, not {}", kind(is_parser), kind(shape.is_parser))));
        }
        let params = self.params(env)?.len();
        let fits = shape.params.contains(&params);
        Some((!fits).then(|| format!("it has {params} parameters, not {}", shape.params.end())))
    }

    /// The control plane finds objects by name, so that no two of a kind may share one.
    fn unique_names(&mut self, span: Span) -> Option<()> {
        self.unique_actions()?;
        let out = &self.out;
        let others = [
            ("tables", twice(out.tables.iter().map(|table| &table.cp))),
            ("counters", twice(out.counters.iter().map(|counter| &counter.cp))),
            ("meters", twice(out.meters.iter().map(|meter| &meter.cp))),
            ("registers", twice(out.registers.iter().map(|register| &register.cp))),
            ("action profiles", twice(out.profiles.iter().map(|profile| &profile.cp))),
            ("value sets", twice(out.value_sets.iter().map(|set| &set.cp))),
        ];
        let shared = others.into_iter().find_map(|(kind, name)| Some((kind, name?)));
        if let Some((kind, name)) = shared {
            self.push(
                Diagnostic::error(span, format!("two {kind} have the control-plane name `{name}`"))
                    .with_help("rename one, with `@name` or where it is declared"),
            );
            return None;
        }
        Some(())
    }

    /// Actions that the program uses and whose names are one. P4Runtime names an action apart from its table,
    /// so that it could not tell them apart. BF Runtime names a table with each action: there they are one
    /// action to the control plane, as p4c's back end for the chip makes them, if they take the same data.
    fn unique_actions(&mut self) -> Option<()> {
        let made = self.out.actions.iter().zip(&self.action_sources);
        let mut used: Vec<_> = made.collect();
        // An action bound to different arguments is several here and one in the source.
        used.sort_by_key(|(_, (id, env))| (self.hir.actions.get(id.index()).map(|one| one.span), *env));
        let mut firsts: BTreeMap<&str, (&Action, (ActId, usize))> = BTreeMap::new();
        let mut found = Vec::new();
        for (action, source) in used {
            let (first, of) = *firsts.entry(&action.cp.name).or_insert((action, *source));
            let shares = self.is_tofino() && self.same_data(first, action);
            // A block that is used twice declares its actions once.
            if of.0 != source.0 && !shares {
                found.push((action.cp.name.clone(), *source, of));
            }
        }
        if found.is_empty() {
            return Some(());
        }
        let help = if self.is_tofino() {
            "give one of them a different `@name`, or give both the same parameters"
        } else {
            "give one of them a different `@name`"
        };
        for (name, (second, _), (first, _)) in found {
            let span = |id: ActId| self.hir.actions.get(id.index()).map(|one| one.span).unwrap_or_default();
            let message = format!("two actions have the control-plane name `{name}`");
            let (second, first) = (span(second), span(first));
            let found = Diagnostic::error(second, message).with_help(help);
            self.push(found.with_related(first, "the other is declared here"));
        }
        None
    }

    /// Whether the control plane gives two actions the same data.
    fn same_data(&self, a: &Action, b: &Action) -> bool {
        let data = |action: &Action| -> Vec<(String, Option<VarType>)> {
            let ty = |param: &ActionParam| self.out.vars.get(param.var.index()).map(|var| var.ty);
            action.params.iter().map(|param| (param.cp.name.clone(), ty(param))).collect()
        };
        data(a) == data(b)
    }

    /// The engine sets core.p4's errors by their positions.
    fn core_errors(&mut self, span: Span) -> Option<()> {
        const NAMES: [&str; 7] = [
            "NoError",
            "PacketTooShort",
            "NoMatch",
            "StackOutOfBounds",
            "HeaderTooShort",
            "ParserTimeout",
            "ParserInvalidArgument",
        ];
        if self.hir.errors.iter().map(String::as_str).take(NAMES.len()).eq(NAMES) {
            return Some(());
        }
        self.push(
            Diagnostic::error(span, "the program's first errors are not those of core.p4 in the same order")
                .with_help("include the bundled core.p4 before declaring errors"),
        );
        None
    }

    fn assemble(
        &mut self,
        name: &str,
        architecture: Architecture,
        package_annotations: Vec<String>,
    ) -> Program {
        let out = std::mem::take(&mut self.out);
        Program {
            name: name.to_owned(),
            architecture,
            vars: out.vars,
            header_types: out.header_types,
            headers: out.headers,
            stacks: out.stacks,
            unions: out.unions,
            funcs: out.funcs,
            actions: out.actions,
            tables: out.tables,
            counters: out.counters,
            meters: out.meters,
            registers: out.registers,
            profiles: out.profiles,
            digests: out.digests,
            value_sets: out.value_sets,
            custom_crcs: out.custom_crcs,
            filters: out.filters,
            hashes: out.hashes,
            controller_headers: out.controller_headers,
            field_lists: out.field_lists,
            data_types: out.data_types,
            errors: self.hir.errors.clone(),
            package_annotations,
        }
    }

    pub(super) fn params(&self, env: EnvId) -> Option<Vec<LocalId>> {
        match self.envs.get(env.0)?.owner {
            Owner::Control(id) => self.hir.controls.get(id.index()).map(|control| control.params.clone()),
            Owner::Parser(id) => self.hir.parsers.get(id.index()).map(|parser| parser.params.clone()),
            Owner::None => None,
        }
    }

    /// Whether the switch can set a variable: as one word.
    pub(super) fn switch_sets(&mut self, var: VarId, least: u32, name: &str, span: Span) -> Option<()> {
        let ty = self.out.vars.get(var.index())?.ty;
        if !matches!(ty, VarType::Varbit(_)) && (least..=64).contains(&ty.width()) {
            return Some(());
        }
        let message = format!("the switch cannot set field `{name}`, which has {} bits", ty.width());
        self.push(
            Diagnostic::error(span, message)
                .with_help("include the bundled declarations of the architecture"),
        );
        None
    }

    /// As [`Self::entry`], for a block that emits.
    pub(super) fn deparser(&mut self, block: &PackageBlock, places: &[&StaticStorage]) -> Option<FuncId> {
        self.in_deparser = true;
        let made = self.entry(block, places);
        self.in_deparser = false;
        made
    }

    /// Binds a block's parameters, but for the packet, to places in their order, and makes its function.
    pub(super) fn entry(&mut self, block: &PackageBlock, places: &[&StaticStorage]) -> Option<FuncId> {
        let &PackageBlock { env, span } = block;
        let params = self.params(env)?;
        let owner = self.envs.get(env.0)?.owner;
        if self.envs.get(env.0)?.bound {
            self.not_supported(span, "one instance as two blocks of the pipeline");
            return None;
        }
        let mut rest = places.iter().copied();
        for param in params {
            let binding = match &self.hir.locals.get(param.index())?.ty {
                Ty::Extern(id, _) => match self.hir.externs.get(id.index())?.name.as_str() {
                    "packet_in" => Binding::Object(Object::PacketIn),
                    "packet_out" => Binding::Object(Object::PacketOut),
                    _ => return self.shape_error(span),
                },
                _ => Binding::StaticStorage(rest.next()?.clone()),
            };
            let env = self.envs.get_mut(env.0)?;
            env.locals.insert(param, binding);
            env.bound = true;
        }
        let name = self.envs.get(env.0)?.prefix.clone();
        let outer = std::mem::replace(&mut self.env, env);
        let flow = Flow { in_parser: matches!(owner, Owner::Parser(_)), ..Flow::default() };
        let made = match owner {
            Owner::Parser(id) => self
                .function(name, flow, &Terminator::Reject, |this| this.parser_body(id, &Terminator::Accept)),
            Owner::Control(id) => {
                let control = self.hir.controls.get(id.index())?;
                self.function(name, flow, &Terminator::Return, |this| this.stmts(&control.body))
            }
            Owner::None => self.shape_error(span),
        };
        self.env = outer;
        made
    }

    pub(super) fn controller_headers(&mut self) -> Option<()> {
        for (at, agg) in self.hir.aggregates.iter().enumerate() {
            let Some(name) = &agg.annotations.controller_header else { continue };
            let ty = self.header_type(p4cc_types::ids::AggId::from_index(at))?;
            let mut annotations = agg.annotations.clone();
            annotations.name = None;
            let cp = Self::cp_name_in("", name, &annotations);
            let mut fields = Vec::with_capacity(agg.fields.len());
            for field in &agg.fields {
                let cp = Self::cp_name_in("", &field.name, &field.annotations);
                if let Some(ty) = self.var_type(&field.ty) {
                    let cp = if cp.hidden { cp } else { self.typed(cp, &field.ty) };
                    fields.push((cp, ty));
                    continue;
                }
                // A struct inside: its parts stand in for it.
                let mut leaves = Vec::new();
                self.leaves(&field.ty, &cp.name, &mut leaves)?;
                let named = leaves.into_iter().map(|leaf| {
                    (ControlPlaneName { name: leaf.name, ..ControlPlaneName::default() }, leaf.ty)
                });
                fields.extend(named);
            }
            self.out.controller_headers.push(ControllerHeader { cp, ty, fields });
        }
        Some(())
    }
}

/// A name that occurs twice among visible objects.
fn twice<'n>(names: impl Iterator<Item = &'n ControlPlaneName>) -> Option<String> {
    let mut seen = BTreeSet::new();
    names.filter(|cp| !seen.insert(cp.name.as_str())).map(|cp| cp.name.clone()).next()
}
