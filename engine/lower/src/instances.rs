//! Instances: environments of parsers and controls, extern objects, names for the control plane.

use super::Lowerer;
use super::env::{Env, Owner};
use super::object::TnaObject;
use super::object::{EnvId, Object};
use super::storage::Binding;
use num_traits::ToPrimitive;
use p4cc_budget::Resource;
use p4cc_ir::limits::{MAX_ARRAY_CELLS, MAX_TABLE_SIZE, MAX_WIDTH};
use p4cc_ir::state_bytes::of_all;
use p4cc_ir::{
    Composite, ControlPlaneName, CountUnit, Counter, CounterId, CustomCrc, CustomCrcId, HashAlgorithm, Meter,
    MeterId, Profile, ProfileId, Register, RegisterId, RegisterKind,
};
use p4cc_syntax::{Diagnostic, Span};
use p4cc_types::hir::{Annotations, Construct, Constructed, Expr};
use p4cc_types::ids::{InstId, LocalId};
use p4cc_types::ty::Ty;
use p4cc_types::value::Value;

impl Lowerer<'_> {
    /// What a name stands for in the current environment, or globally.
    pub(super) fn binding(&self, id: LocalId) -> Option<&Binding> {
        let here = self.envs.get(self.env.0).and_then(|env| env.locals.get(&id));
        here.or_else(|| self.envs.first().and_then(|env| env.locals.get(&id)))
    }

    /// Gives a name a meaning in the current environment.
    pub(super) fn bind(&mut self, id: LocalId, binding: Binding) {
        if let Some(env) = self.envs.get_mut(self.env.0) {
            env.locals.insert(id, binding);
        }
    }

    /// The object of a named instance.
    pub(super) fn instance(&self, id: InstId) -> Option<Object> {
        let here = self.envs.get(self.env.0).and_then(|env| env.instances.get(&id));
        here.or_else(|| self.envs.first().and_then(|env| env.instances.get(&id))).copied()
    }

    /// Name for the control plane of something declared in the current environment.
    pub(super) fn cp_name(&self, name: &str, annotations: &Annotations) -> ControlPlaneName {
        let prefix = self.envs.get(self.env.0).map_or("", |env| env.prefix.as_str());
        Self::cp_name_in(prefix, name, annotations)
    }

    /// Name for the control plane below a prefix.
    pub(super) fn cp_name_in(prefix: &str, name: &str, annotations: &Annotations) -> ControlPlaneName {
        let own = annotations.name.as_deref().unwrap_or(name);
        let name = match own.strip_prefix('.') {
            Some(absolute) => absolute.to_owned(),
            None if prefix.is_empty() => own.to_owned(),
            None => format!("{prefix}.{own}"),
        };
        ControlPlaneName {
            name,
            explicit_id: annotations.id,
            annotations: annotations.texts.clone(),
            hidden: annotations.hidden,
            data_type: None,
            rank: 0,
        }
    }

    /// Makes a named instance of the current environment.
    pub(super) fn elaborate(&mut self, id: InstId) -> Option<()> {
        let instance = self.hir.instances.get(id.index())?;
        let cp = self.cp_name(&instance.name, &instance.annotations);
        let (sites, span) = (instance.apply_sites, instance.span);
        if !instance.sizes.is_empty() {
            self.not_supported(span, "arrays of extern objects");
            return None;
        }
        self.tna.methods.clone_from(&instance.methods);
        let object = self.within("instance", span, |this| {
            this.make(&instance.construct, cp, &instance.annotations, sites, span)
        })?;
        if let Some(env) = self.envs.get_mut(self.env.0) {
            env.instances.insert(id, object);
        }
        Some(())
    }

    /// Numbers of counters, meters, registers and filters.
    fn with_cells(&self) -> [usize; 4] {
        let out = &self.out;
        [out.counters.len(), out.meters.len(), out.registers.len(), out.filters.len()]
    }

    /// Takes what those that were made since take of memory.
    fn charge_cells(&mut self, from: [usize; 4], span: Span) -> Option<()> {
        let ([counters, meters, registers, filters], out) = (from, &self.out);
        let bytes = of_all(&out.counters[counters..])
            + of_all(&out.meters[meters..])
            + of_all(&out.registers[registers..])
            + of_all(&out.filters[filters..]);
        self.charge(Resource::StateBytes, bytes, span)
    }

    /// Makes what a constructor call says.
    pub(super) fn make(
        &mut self,
        construct: &Construct,
        cp: ControlPlaneName,
        annotations: &Annotations,
        sites: u32,
        span: Span,
    ) -> Option<Object> {
        match &construct.what {
            Constructed::Extern(id, types) => {
                let name = self.hir.externs.get(id.index())?.name.as_str();
                let from = self.with_cells();
                let made = self.make_extern(name, types, construct, cp, annotations, span)?;
                self.charge_cells(from, span)?;
                Some(made)
            }
            Constructed::Control(id) => {
                let control = self.hir.controls.get(id.index())?;
                let (params, instances) = (&control.constructor_params, &control.instances);
                self.make_block(Owner::Control(*id), params, instances, &construct.args, cp.name, sites)
            }
            Constructed::Parser(id) => {
                let parser = self.hir.parsers.get(id.index())?;
                let (params, instances) = (&parser.constructor_params, &parser.instances);
                self.make_block(Owner::Parser(*id), params, instances, &construct.args, cp.name, sites)
            }
            Constructed::Package(name) => {
                self.push(Diagnostic::not_supported(span, format!("package `{name}` inside another")));
                None
            }
            Constructed::Poison => None,
        }
    }

    fn make_block(
        &mut self,
        owner: Owner,
        params: &[LocalId],
        instances: &[InstId],
        args: &[Option<Expr>],
        prefix: String,
        sites: u32,
    ) -> Option<Object> {
        self.count_inlined(Span::default())?;
        let mut env = Env::new(owner, prefix);
        env.single_site = sites <= 1;
        for (param, arg) in params.iter().zip(args) {
            let Some(arg) = arg else { continue };
            let binding = self.constructor_argument(arg)?;
            env.locals.insert(*param, binding);
        }
        let id = EnvId(self.envs.len());
        self.envs.push(env);
        let outer = std::mem::replace(&mut self.env, id);
        let made: Option<Vec<()>> = instances.iter().map(|instance| self.elaborate(*instance)).collect();
        self.env = outer;
        made.map(|_| Object::Block(id))
    }

    fn constructor_argument(&mut self, arg: &Expr) -> Option<Binding> {
        match &arg.ty {
            Ty::Extern(..) | Ty::Block(_) => self.object(arg).map(Binding::Object),
            ty if self.var_type(ty).is_some() || matches!(ty, Ty::Integer | Ty::String) => {
                self.const_value(arg).map(Binding::Const)
            }
            _ => self.rvalue(arg).map(Binding::Value),
        }
    }

    /// The object that an expression names.
    pub(super) fn object(&mut self, expr: &Expr) -> Option<Object> {
        use p4cc_types::hir::ExprKind;
        let found = match &expr.kind {
            ExprKind::Instance(id) => self.instance(*id),
            ExprKind::Local(id) => match self.binding(*id) {
                Some(Binding::Object(object)) => Some(*object),
                _ => None,
            },
            ExprKind::This => self.tna.running.map(|at| Object::Tna(TnaObject::RegisterAction(at))),
            ExprKind::Construct(construct) => {
                let name = match &construct.what {
                    Constructed::Control(id) => {
                        self.hir.controls.get(id.index()).map(|control| control.name.clone())
                    }
                    Constructed::Parser(id) => {
                        self.hir.parsers.get(id.index()).map(|parser| parser.name.clone())
                    }
                    _ => None,
                };
                let annotations = Annotations::default();
                let cp = self.cp_name(name.as_deref().unwrap_or("anonymous"), &annotations);
                // What takes it may apply it at any number of places.
                return self.make(construct, cp, &annotations, 2, expr.span);
            }
            _ => None,
        };
        if found.is_none() {
            self.push(Diagnostic::not_supported(expr.span, "this use of an extern object"));
        }
        found
    }

    fn make_extern(
        &mut self,
        name: &str,
        types: &[Ty],
        construct: &Construct,
        cp: ControlPlaneName,
        annotations: &Annotations,
        span: Span,
    ) -> Option<Object> {
        if self.is_tofino()
            && let Some(made) = self.make_tna_extern(name, types, construct, &cp, annotations, span)
        {
            return made;
        }
        match name {
            "register" | "Register" => {
                let size = self.size_arg(construct, 0, MAX_ARRAY_CELLS, span)?;
                let cell = types.first()?;
                let (ty, composite) = self.register_cell(cell, span)?;
                let initial = construct.args.get(1).and_then(Option::as_ref);
                let initial = self.register_initial(initial, cell, ty)?;
                let kind = RegisterKind::Array;
                let cp = self.indexed(cp, types.get(1));
                let data_type = self.data_type(cell)?;
                self.out.registers.push(Register { cp, ty, composite, data_type, size, kind, initial });
                Some(Object::Register(RegisterId::from_index(self.out.registers.len() - 1)))
            }
            "counter" | "direct_counter" | "Counter" | "DirectCounter" => {
                let direct = matches!(name, "direct_counter" | "DirectCounter");
                let size =
                    if direct { None } else { Some(self.size_arg(construct, 0, MAX_ARRAY_CELLS, span)?) };
                let unit = self.unit_arg(construct, usize::from(!direct), span)?;
                let cp = self.indexed(cp, types.get(1));
                self.out.counters.push(Counter { cp, unit, size });
                let id = CounterId::from_index(self.out.counters.len() - 1);
                Some(if direct { Object::DirectCounter(id) } else { Object::Counter(id) })
            }
            "meter" | "direct_meter" | "Meter" | "DirectMeter" => {
                let direct = matches!(name, "direct_meter" | "DirectMeter");
                let size =
                    if direct { None } else { Some(self.size_arg(construct, 0, MAX_ARRAY_CELLS, span)?) };
                let unit = self.unit_arg(construct, usize::from(!direct), span)?;
                let cp = self.indexed(cp, types.first());
                self.out.meters.push(Meter { cp, unit, size });
                let id = MeterId::from_index(self.out.meters.len() - 1);
                Some(if direct { Object::DirectMeter(id) } else { Object::Meter(id) })
            }
            "Checksum16" => Some(Object::Checksum16),
            "action_profile" | "action_selector" | "ActionProfile" | "ActionSelector" => {
                self.make_profile(name, construct, cp, annotations, span)
            }
            _ if self.is_psa() => self.make_psa_extern(name, types, construct, &cp, span),
            _ => {
                self.push(
                    Diagnostic::error(span, format!("v1model has no extern `{name}`"))
                        .with_help("only the externs that v1model.p4 declares can be instantiated"),
                );
                None
            }
        }
    }

    /// What a register's cell or a digest message holds: its scalars, which pack into one number.
    pub(super) fn composite(&mut self, ty: &Ty, span: Span) -> Option<Composite> {
        let mut fields = Vec::new();
        let bits = match self.cell_leaves(ty, "", &mut fields) {
            Some(()) => fields.iter().map(|field| u64::from(field.ty.width())).sum(),
            None => 0,
        };
        if (1..=u64::from(MAX_WIDTH)).contains(&bits) {
            let name = match ty {
                Ty::Aggregate(_) => self.hir.show(ty),
                _ => String::new(),
            };
            return Some(Composite { name, fields });
        }
        let shown = self.hir.show(ty);
        let why = match bits {
            0 => "it has no bits, or contains a varbit".to_owned(),
            bits => format!("it has {bits} bits; at most {MAX_WIDTH} are allowed"),
        };
        self.push(
            Diagnostic::not_supported(span, format!("registers and digests of type `{shown}`"))
                .with_help(format!("{why}: store less, or split it")),
        );
        None
    }

    fn make_profile(
        &mut self,
        name: &str,
        construct: &Construct,
        cp: ControlPlaneName,
        annotations: &Annotations,
        span: Span,
    ) -> Option<Object> {
        let mut profile = Profile::plain(cp, 0);
        if matches!(name, "action_selector" | "ActionSelector") {
            let algorithm = self.algorithm_of(construct.args.first()?.as_ref()?, &profile.cp.name)?;
            profile.size = self.size_arg(construct, 1, MAX_TABLE_SIZE, span)?;
            let bits = self.size_arg(construct, 2, 64, span)?;
            profile.selector = Some((algorithm, bits));
            profile.max_group_size = annotations.max_group_size.unwrap_or(0);
        } else {
            profile.size = self.size_arg(construct, 0, MAX_TABLE_SIZE, span)?;
        }
        self.out.profiles.push(profile);
        Some(Object::Profile(ProfileId::from_index(self.out.profiles.len() - 1)))
    }

    pub(super) fn size_arg(
        &mut self,
        construct: &Construct,
        at: usize,
        most: u32,
        span: Span,
    ) -> Option<u32> {
        let arg = construct.args.get(at)?.as_ref()?;
        self.bounded_number(arg, "size", 1, most, span)
    }

    /// A compile-time number in a range.
    pub(super) fn bounded_number(
        &mut self,
        expr: &Expr,
        what: &str,
        least: u32,
        most: u32,
        _: Span,
    ) -> Option<u32> {
        let value = self.const_value(expr)?;
        let number = value.as_int().and_then(ToPrimitive::to_u32).filter(|n| (least..=most).contains(n));
        if number.is_none() {
            let shown = value.as_int().map_or_else(|| "not a number".to_owned(), ToString::to_string);
            self.push(Diagnostic::error(
                expr.span,
                format!("the {what} is {shown}; it must lie in {least} to {most}"),
            ));
        }
        number
    }

    /// Name of the member that an enum constant stands for.
    pub(super) fn enum_member(&mut self, expr: &Expr) -> Option<&str> {
        let Value::Enum(at) = self.const_value(expr)? else { return None };
        let Ty::Enum(id) = &expr.ty else { return None };
        let def = self.hir.enums.get(id.index())?;
        def.members.get(at as usize).map(|(name, _)| name.as_str())
    }

    fn unit_arg(&mut self, construct: &Construct, at: usize, span: Span) -> Option<CountUnit> {
        let arg = construct.args.get(at)?.as_ref()?;
        match self.enum_member(arg)? {
            "packets" | "PACKETS" => Some(CountUnit::Packets),
            "bytes" | "BYTES" => Some(CountUnit::Bytes),
            "packets_and_bytes" | "PACKETS_AND_BYTES" => Some(CountUnit::Both),
            other => {
                let message = format!("counters of kind `{other}`");
                self.push(Diagnostic::not_supported(span, message));
                None
            }
        }
    }

    /// The hash algorithm that an expression names, for the next calculation.
    pub(super) fn algorithm(&mut self, expr: &Expr) -> Option<HashAlgorithm> {
        let name = match self.out.calculations {
            0 => "calc".to_owned(),
            earlier => format!("calc_{}", earlier - 1),
        };
        self.out.calculations += 1;
        self.algorithm_of(expr, &name)
    }

    /// A check of its own, whose parameters the control plane sets under this name.
    pub(super) fn custom_crc(&mut self, name: &str, width: u32) -> CustomCrcId {
        self.out.custom_crcs.push(CustomCrc { name: name.to_owned(), width, start: None });
        CustomCrcId::from_index(self.out.custom_crcs.len() - 1)
    }

    fn algorithm_of(&mut self, expr: &Expr, name: &str) -> Option<HashAlgorithm> {
        let algorithm = match self.enum_member(expr) {
            Some("crc32" | "CRC32" | "TARGET_DEFAULT") => HashAlgorithm::Crc32,
            Some("crc32_custom" | "CRC32_CUSTOM") => HashAlgorithm::Crc32Custom(self.custom_crc(name, 32)),
            Some("crc16" | "CRC16") => HashAlgorithm::Crc16,
            Some("crc16_custom" | "CRC16_CUSTOM") => HashAlgorithm::Crc16Custom(self.custom_crc(name, 16)),
            Some("random") => HashAlgorithm::Random,
            Some("identity" | "IDENTITY") => HashAlgorithm::Identity,
            Some("csum16" | "ONES_COMPLEMENT16") => HashAlgorithm::Csum16,
            Some("xor16") => HashAlgorithm::Xor16,
            _ => {
                self.push(Diagnostic::error(
                    expr.span,
                    "the hash algorithm must be a member of the architecture's enum, known at compile time",
                ));
                return None;
            }
        };
        Some(algorithm)
    }
}
