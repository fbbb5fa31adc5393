//! Externs of core.p4 and v1model.

use super::Lowerer;
use super::object::Object;
use super::placed::{Gress, Method};
use super::storage::{INDEX_BITS, Rvalue, StaticStorage, Target};
use super::target::Array;
use p4cc_ir::limits::MAX_WIDTH;
use p4cc_ir::verify::MAX_DATA_FIELDS;
use p4cc_ir::{
    BinOp, Bits, CloneKind, Composite, ControlPlaneName, Digest, DigestId, ExternCall, FieldList,
    HashAlgorithm, Inst, Operand, RegisterId, VarId, VarKind, VarType,
};
use p4cc_syntax::{Diagnostic, Span};
use p4cc_types::hir::{Call, Expr, ExprKind};
use p4cc_types::ty::Ty;
use p4cc_types::value::Value;

/// How the names of digests begin whose type has none.
const UNNAMED_DIGEST: &str = "digest_";

/// What of its metadata a copy of a packet keeps.
enum Kept {
    Nothing,
    /// A field list by number.
    List,
    /// What an argument names.
    Data,
}

impl Lowerer<'_> {
    /// A call of an extern function.
    pub(super) fn extern_function(&mut self, name: &str, types: &[Ty], call: &Call) -> Option<()> {
        self.placed_function(name, call.span)?;
        match name {
            "verify" => {
                let cond = self.flag(call, 0)?;
                let error = self.arg(call, 1)?;
                self.emit(Inst::Verify { cond, error });
                Some(())
            }
            "mark_to_drop" => self.mark_to_drop(call),
            "hash" => self.hash(call),
            "random" => {
                let low = self.arg_before(call, 1)?;
                let high = self.arg(call, 2)?;
                let ty = self.arg_expr(call, 0)?.ty.clone();
                self.fits(call, 1, &low, &ty)?;
                self.fits(call, 2, &high, &ty)?;
                self.with_result(call, 0, |dst| ExternCall::Random { dst, low, high })
            }
            "verify_checksum" | "verify_checksum_with_payload" => {
                self.verify_checksum(call, name.ends_with("payload"))
            }
            "update_checksum" | "update_checksum_with_payload" => {
                self.update_checksum(call, name.ends_with("payload"))
            }
            "digest" => self.digest(types, call),
            "clone" => self.clone_packet(call, Kept::Nothing),
            "clone3" => self.clone_packet(call, Kept::Data),
            "clone_preserving_field_list" => self.clone_packet(call, Kept::List),
            "resubmit" | "resubmit_preserving_field_list" => {
                self.placed_request(&format!("`{name}`"), Gress::Ingress, call.span)?;
                let field_list = self.kept_list(name, call)?;
                self.emit_extern(ExternCall::Resubmit { field_list })
            }
            "recirculate" | "recirculate_preserving_field_list" => {
                self.placed_request(&format!("`{name}`"), Gress::Egress, call.span)?;
                let field_list = self.kept_list(name, call)?;
                self.emit_extern(ExternCall::Recirculate { field_list })
            }
            "truncate" => {
                let bytes = self.arg(call, 0)?;
                self.emit_extern(ExternCall::Truncate { bytes })
            }
            "log_msg" => self.log_msg(call),
            "assert" | "assume" => {
                let cond = self.flag(call, 0)?;
                let place = self.hir.reported.get(&call.span.start);
                let place = place.map_or_else(|| name.to_owned(), |place| format!("{name} at {place}"));
                self.emit_extern(ExternCall::Assert { cond, place })
            }
            _ => {
                self.push(
                    Diagnostic::error(
                        call.span,
                        format!("{} has no extern function `{name}`", self.architecture()),
                    )
                    .with_help("only the functions that the architecture file declares can be called"),
                );
                None
            }
        }
    }

    fn emit_extern(&mut self, call: ExternCall) -> Option<()> {
        self.emit(Inst::Extern(call));
        Some(())
    }

    /// `mark_to_drop(m)`, where `m` may be a copy of the standard metadata: then the copy gets the drop port,
    /// and the original keeps what it has until the copy is given back.
    fn mark_to_drop(&mut self, call: &Call) -> Option<()> {
        let original = self.standard.clone();
        let given = match call.args.first().and_then(Option::as_ref) {
            Some(arg) => self.static_place(arg),
            None => original.clone(),
        };
        let (Some(StaticStorage::Struct(given)), Some(StaticStorage::Struct(original))) = (given, original)
        else {
            return self.shape_error(call.span);
        };
        if given == original {
            return self.emit_extern(ExternCall::MarkToDrop);
        }
        let mut saved = Vec::new();
        for (copy, place) in given.iter().zip(original.iter()) {
            let (StaticStorage::Scalar(copy), StaticStorage::Scalar(var)) = (copy, place) else {
                return self.shape_error(call.span);
            };
            let name = self.out.vars.get(var.index())?.name.as_str();
            if name.ends_with(".egress_spec") || name.ends_with(".mcast_grp") {
                saved.push((*copy, *var, self.snapshot_operand(Operand::Var(*var))?));
            }
        }
        self.emit(Inst::Extern(ExternCall::MarkToDrop));
        for (copy, var, before) in saved {
            self.emit(Inst::Assign { dst: copy, src: Operand::Var(var) });
            self.emit(Inst::Assign { dst: var, src: before });
        }
        Some(())
    }

    pub(super) fn arg_expr<'c>(&mut self, call: &'c Call, at: usize) -> Option<&'c Expr> {
        match call.args.get(at).and_then(Option::as_ref) {
            Some(arg) => Some(arg),
            None => self.shape_error(call.span),
        }
    }

    pub(super) fn arg(&mut self, call: &Call, at: usize) -> Option<Operand> {
        let arg = self.arg_expr(call, at)?;
        let operand = self.operand(arg)?;
        self.plain(operand, arg.span)
    }

    /// An argument that keeps its value while the later ones are evaluated.
    pub(super) fn arg_before(&mut self, call: &Call, at: usize) -> Option<Operand> {
        let arg = self.arg_expr(call, at)?;
        let later: Vec<&Expr> = call.args.iter().skip(at + 1).flatten().collect();
        let operand = self.operand_before(arg, &later)?;
        self.plain(operand, arg.span)
    }

    /// Emits a call that writes argument `at`, straight into its variable if it is one. `_` gets a temporary.
    fn with_result(&mut self, call: &Call, at: usize, make: impl FnOnce(VarId) -> ExternCall) -> Option<()> {
        let Some(arg) = call.args.get(at).and_then(Option::as_ref) else {
            self.not_supported(call.span, "`_` for the result of this call");
            return None;
        };
        let target = self.target(arg)?;
        if matches!(arg.ty, Ty::Varbit(_)) {
            return self.no_varbit(arg.span);
        }
        if let Target::StaticStorage(StaticStorage::Scalar(dst)) = target {
            return self.emit_extern(make(dst));
        }
        let Some(ty) = self.var_type(&arg.ty) else {
            self.not_supported(arg.span, "results that are structs");
            return None;
        };
        let dst = self.temp(ty);
        self.emit(Inst::Extern(make(dst)));
        self.assign(target, Rvalue::Scalar(Operand::Var(dst)), &arg.ty, arg.span)
    }

    /// The scalars that a value is made of, in wire order.
    pub(super) fn flatten(
        &mut self,
        value: Rvalue,
        ty: &Ty,
        span: Span,
        out: &mut Vec<Operand>,
    ) -> Option<()> {
        match value {
            Rvalue::Scalar(operand) => out.push(operand),
            Rvalue::Header(header) => out.extend(self.field_vars(header).into_iter().map(Operand::Var)),
            Rvalue::NewHeader(fields) => out.extend(fields),
            Rvalue::Struct(parts) => {
                let types = self.parts(ty)?;
                for (part, (_, ty)) in parts.into_iter().zip(&types) {
                    self.flatten(part, ty, span, out)?;
                }
            }
            Rvalue::Choice(..) | Rvalue::Element(..) | Rvalue::Invalid if self.hir.is_header(ty) => {
                let header = self.header_of(value, ty, span)?;
                out.extend(self.field_vars(header).into_iter().map(Operand::Var));
            }
            _ => {
                self.not_supported(span, "header stacks and unions as data of an extern");
                return None;
            }
        }
        Some(())
    }

    pub(super) fn data(&mut self, call: &Call, at: usize) -> Option<Vec<Operand>> {
        let arg = self.arg_expr(call, at)?;
        let value = self.rvalue(arg)?;
        let mut out = Vec::new();
        self.flatten(value, &arg.ty, arg.span, &mut out)?;
        if out.len() > MAX_DATA_FIELDS {
            let message = format!("the data has {} fields, more than {MAX_DATA_FIELDS}", out.len());
            self.misplaced(arg.span, message, "pass fewer fields, or combine several into one")?;
        }
        Some(out)
    }

    /// The scalars of an argument that is data of a register or digest.
    pub(super) fn cell_arg(&mut self, call: &Call, at: usize) -> Option<Vec<Operand>> {
        let arg = self.arg_expr(call, at)?;
        let value = self.rvalue(arg)?;
        let mut out = Vec::new();
        self.cell_data(value, &arg.ty, arg.span, &mut out)?;
        Some(out)
    }

    fn hash(&mut self, call: &Call) -> Option<()> {
        let algorithm = self.arg_expr(call, 1)?;
        let algorithm = self.algorithm(algorithm)?;
        let base = self.arg_before(call, 2)?;
        let data = self.data(call, 3)?;
        let max = self.arg(call, 4)?;
        self.with_result(call, 0, |dst| ExternCall::Hash { dst, algorithm, base, data, max })
    }

    fn verify_checksum(&mut self, call: &Call, with_payload: bool) -> Option<()> {
        let cond = self.flag(call, 0)?;
        let data = self.data(call, 1)?;
        let checksum = self.arg(call, 2)?;
        let algorithm = self.arg_expr(call, 3)?;
        let algorithm = self.algorithm(algorithm)?;
        self.emit_extern(ExternCall::VerifyChecksum { cond, data, checksum, algorithm, with_payload })
    }

    fn update_checksum(&mut self, call: &Call, with_payload: bool) -> Option<()> {
        let cond = self.flag(call, 0)?;
        let data = self.data(call, 1)?;
        let algorithm = self.arg_expr(call, 3)?;
        let algorithm = self.algorithm(algorithm)?;
        let target = self.arg_expr(call, 2)?;
        if !matches!(self.static_place(target), Some(StaticStorage::Scalar(_))) {
            // Written only under the condition, so that a temporary would not do.
            self.not_supported(target.span, "a checksum that is not a field or variable");
            return None;
        }
        self.with_result(call, 2, |checksum| ExternCall::UpdateChecksum {
            cond,
            data,
            checksum,
            algorithm,
            with_payload,
        })
    }

    fn digest(&mut self, types: &[Ty], call: &Call) -> Option<()> {
        let Some(ty) = types.first() else { return self.shape_error(call.span) };
        let data = self.cell_arg(call, 1)?;
        let Composite { name: type_name, fields } = self.composite(ty, call.span)?;
        self.same_sizes(&data, &fields, call.span)?;
        let data_type = self.data_type(ty)?;
        let named = match ty {
            Ty::Aggregate(agg) => {
                let agg = self.hir.aggregates.get(agg.index())?;
                Some(Self::cp_name_in("", &agg.name, &agg.annotations))
            }
            Ty::Enum(_) | Ty::NewType(_) | Ty::Error => {
                Some(ControlPlaneName { name: self.hir.show(ty), ..ControlPlaneName::default() })
            }
            _ => None,
        };
        let numbered = |digest: &&Digest| digest.cp.name.starts_with(UNNAMED_DIGEST);
        let cp = named.clone().unwrap_or_else(|| {
            // A message without a type's name is numbered, as p4c does.
            let number = self.out.digests.iter().filter(numbered).count();
            ControlPlaneName { name: format!("{UNNAMED_DIGEST}{number}"), ..ControlPlaneName::default() }
        });
        let known = named.and_then(|cp| self.out.digests.iter().position(|digest| digest.cp.name == cp.name));
        let digest = known.unwrap_or_else(|| {
            self.out.digests.push(Digest { cp, type_name, fields, data_type });
            self.out.digests.len() - 1
        });
        self.emit_extern(ExternCall::Digest { digest: DigestId::from_index(digest), data })
    }

    /// A field list made of the metadata that an argument names, for the calls that came before
    /// `@field_list`. What is not metadata means nothing to the new packet: its headers are parsed anew.
    fn data_list(&mut self, call: &Call, at: usize) -> Option<Operand> {
        /// Numbers from here on are not those of `@field_list`, which are 8 bits wide.
        const FIRST: u32 = 1 << 8;
        let fields = self.data(call, at)?;
        let metadata = |operand: &Operand| match operand {
            Operand::Var(var) => {
                let kind = self.out.vars.get(var.index()).map(|var| var.kind);
                (kind == Some(VarKind::Metadata)).then_some(*var)
            }
            Operand::Const(_) => None,
        };
        let vars: Vec<VarId> = fields.iter().filter_map(metadata).collect();
        let known = self.out.field_lists.iter().find(|list| list.index >= FIRST && list.vars == vars);
        let index = match known {
            Some(list) => list.index,
            None => {
                let last = self.out.field_lists.iter().map(|list| list.index).max().unwrap_or(0);
                let index = last.saturating_add(1).max(FIRST);
                self.out.field_lists.push(FieldList { index, vars });
                index
            }
        };
        Some(Operand::Const(Bits::from_u128(32, index.into())))
    }

    /// The field list of a packet that comes again: by number, or made of what the call names.
    fn kept_list(&mut self, name: &str, call: &Call) -> Option<Operand> {
        if name.ends_with("_preserving_field_list") { self.arg(call, 0) } else { self.data_list(call, 0) }
    }

    fn clone_packet(&mut self, call: &Call, kept: Kept) -> Option<()> {
        let kind = self.arg_expr(call, 0)?;
        let kind = match self.enum_member(kind) {
            Some("I2E") => CloneKind::I2E,
            Some("E2E") => CloneKind::E2E,
            _ => {
                self.push(Diagnostic::error(
                    kind.span,
                    "the clone type must be `CloneType.I2E` or `CloneType.E2E`",
                ));
                return None;
            }
        };
        let gress = match kind {
            CloneKind::I2E => Gress::Ingress,
            CloneKind::E2E => Gress::Egress,
        };
        self.placed_request(&format!("a clone of type {kind:?}"), gress, call.span)?;
        let session = self.arg_before(call, 1)?;
        let field_list = match kept {
            Kept::Nothing => None,
            Kept::List => Some(self.arg(call, 2)?),
            Kept::Data => Some(self.data_list(call, 2)?),
        };
        self.emit_extern(ExternCall::Clone { kind, session, field_list })
    }

    fn log_msg(&mut self, call: &Call) -> Option<()> {
        let format = self.arg_expr(call, 0)?;
        let Value::String(format) = self.const_value(format)? else { return self.shape_error(call.span) };
        if call.args.len() < 2 {
            return self.emit_extern(ExternCall::LogMsg { format, args: Vec::new() });
        }
        let arguments = self.arg_expr(call, 1)?;
        let args = self.data(call, 1)?;
        let types: Vec<Ty> = match self.parts(&arguments.ty) {
            Some(parts) => parts.into_iter().map(|(_, ty)| ty).collect(),
            None => vec![arguments.ty.clone()],
        };
        let (places, values) = (format.matches("{}").count(), types.len());
        if places < values {
            let message =
                format!("the format has {places} `{{}}`, fewer than the {values} values of the call");
            self.push(
                Diagnostic::warning(arguments.span, message)
                    .with_help("write a `{}` for each value; the last ones are not logged"),
            );
        }
        let format = self.spelled_out(&format, types);
        self.emit_extern(ExternCall::LogMsg { format, args })
    }

    /// A format with a placeholder for each scalar of its arguments: `{}` for a structure becomes
    /// `(a:{},b:{})`, as p4c writes it.
    fn spelled_out(&self, format: &str, types: Vec<Ty>) -> String {
        let mut types = types.into_iter();
        let mut pieces = format.split("{}");
        let mut text = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            match types.next() {
                Some(ty) => self.placeholders(&ty, &mut text),
                None => text.push_str("{}"),
            }
            text.push_str(piece);
        }
        text
    }

    /// A placeholder for each scalar of the type, by the same parts as `flatten`.
    fn placeholders(&self, ty: &Ty, text: &mut String) {
        let Some(parts) = self.parts(ty) else { return text.push_str("{}") };
        text.push('(');
        for (at, (name, ty)) in parts.iter().enumerate() {
            if at > 0 {
                text.push(',');
            }
            text.push_str(name);
            text.push(':');
            self.placeholders(ty, text);
        }
        text.push(')');
    }

    /// A call of a method of an extern object.
    pub(super) fn extern_method(
        &mut self,
        object: Object,
        method: Method<'_>,
        types: &[Ty],
        call: &Call,
        ret: Option<&Ty>,
    ) -> Option<Rvalue> {
        self.placed_method(object, method, call.span)?;
        let name = method.name;
        if let Some(done) = self.lowering().method(self, object, name, call, ret) {
            return done;
        }
        let nothing = Rvalue::Struct(Vec::new());
        match (object, name) {
            (Object::PacketIn, _) => self.packet_in(name, types, call, ret),
            (Object::PacketOut, "emit") => {
                let arg = self.arg_expr(call, 0)?;
                let value = self.rvalue(arg)?;
                self.emit_value(value, &arg.ty, arg.span)?;
                Some(nothing)
            }
            (Object::Register(register), "read" | "write") => {
                self.register_method(register, name, call)?;
                Some(nothing)
            }
            (Object::Checksum16, "get") => {
                let data = self.data(call, 0)?;
                let dst = self.temp(VarType::Bit(16));
                let number = |value: u128| Operand::Const(Bits::from_u128(32, value));
                let (base, max) = (number(0), number(1 << 16));
                let algorithm = HashAlgorithm::Csum16;
                self.emit_extern(ExternCall::Hash { dst, algorithm, base, data, max })?;
                Some(Rvalue::Scalar(Operand::Var(dst)))
            }
            (Object::Counter(counter), "count") => {
                let index = self.arg(call, 0)?;
                self.emit_extern(ExternCall::CounterCount { counter, index })?;
                Some(nothing)
            }
            (Object::DirectCounter(counter), "count") => {
                self.emit_extern(ExternCall::DirectCounterCount { counter })?;
                Some(nothing)
            }
            (Object::Meter(meter), "execute_meter") => {
                let index = self.arg(call, 0)?;
                self.with_result(call, 1, |dst| ExternCall::MeterExecute { meter, index, color: None, dst })?;
                Some(nothing)
            }
            (Object::DirectMeter(meter), "read") => {
                self.with_result(call, 0, |dst| ExternCall::DirectMeterRead { meter, dst })?;
                Some(nothing)
            }
            _ => {
                self.not_supported(call.span, format!("method `{method}`"));
                None
            }
        }
    }

    /// `read` and `write` of a register.
    fn register_method(&mut self, register: RegisterId, name: &str, call: &Call) -> Option<()> {
        let found = self.out.registers.get(register.index())?;
        let cell = found.ty.width();
        if found.composite.is_some() {
            return self.packed_register(register, name, call);
        }
        if name == "read" {
            let index = self.arg(call, 1)?;
            let target = self.arg_expr(call, 0)?;
            let width = self.width(&target.ty);
            self.same_size(width, cell, target.span)?;
            return self.with_result(call, 0, |dst| ExternCall::RegisterRead { register, dst, index });
        }
        let index = self.arg_before(call, 0)?;
        let value = self.arg(call, 1)?;
        let width = self.operand_width(&value);
        self.same_size(width, cell, call.span)?;
        self.emit_extern(ExternCall::RegisterWrite { register, index, value })
    }

    /// A register whose cells are structs: each is one number, the first field in its highest bits.
    fn packed_register(&mut self, register: RegisterId, name: &str, call: &Call) -> Option<()> {
        let ty = self.out.registers.get(register.index())?.ty;
        if name == "read" {
            let index = self.arg(call, 1)?;
            let target = self.arg_expr(call, 0)?;
            let dst = self.temp(ty);
            self.emit_extern(ExternCall::RegisterRead { register, dst, index })?;
            let mut left = ty.width();
            let width = self.cell_bits(&target.ty);
            self.same_size(width, left, target.span)?;
            let value = self.cell_value(&target.ty, dst, &mut left, call.span)?;
            let place = self.target(target)?;
            return self.assign(place, value, &target.ty, call.span);
        }
        let index = self.arg_before(call, 0)?;
        let parts = self.cell_arg(call, 1)?;
        let bits = parts.iter().map(|part| self.operand_width(part)).sum();
        self.same_size(bits, ty.width(), call.span)?;
        let whole = self.packed(parts)?;
        self.emit_extern(ExternCall::RegisterWrite { register, index, value: whole })
    }

    pub(super) fn operand_width(&self, operand: &Operand) -> Option<u32> {
        match operand {
            Operand::Var(var) => self.out.vars.get(var.index()).map(|var| var.ty.width()),
            Operand::Const(bits) => Some(bits.width()),
        }
    }

    /// `emit`: headers in order; structs, stacks and unions part by part.
    fn emit_value(&mut self, value: Rvalue, ty: &Ty, span: Span) -> Option<()> {
        match value {
            Rvalue::Header(header) => self.emit(Inst::Emit { header }),
            Rvalue::Stack(stack) => {
                let elements = self.out.stacks.get(stack.index())?.elements.clone();
                elements.into_iter().for_each(|header| self.emit(Inst::Emit { header }));
            }
            Rvalue::Union(union) => {
                let members = self.out.unions.get(union.index())?.members.clone();
                members.into_iter().for_each(|header| self.emit(Inst::Emit { header }));
            }
            Rvalue::UnionStack(stack) => {
                for union in &stack.unions {
                    self.emit_value(Rvalue::Union(*union), ty, span)?;
                }
            }
            Rvalue::Choice(..) => {
                let value = self.settled(value, ty, span)?;
                self.emit_value(value, ty, span)?;
            }
            Rvalue::Struct(parts) => {
                let types = self.parts(ty)?;
                for (part, (_, ty)) in parts.into_iter().zip(&types) {
                    self.emit_value(part, ty, span)?;
                }
            }
            Rvalue::Scalar(_) => {
                let shown = self.hir.show(ty);
                self.push(
                    Diagnostic::error(span, format!("a value of type `{shown}` cannot be emitted"))
                        .with_help("only headers, and structs, stacks and unions of them, can be emitted"),
                );
                return None;
            }
            // Nothing of it is valid.
            Rvalue::Invalid => {}
            Rvalue::NewStack(values) => {
                let Ty::Stack(elem, _) = ty else { return self.shape_error(span) };
                for value in values {
                    self.emit_value(value, elem, span)?;
                }
            }
            Rvalue::Element(..) | Rvalue::NewHeader(_) => {
                let header = self.header_of(value, ty, span)?;
                self.emit(Inst::Emit { header });
            }
        }
        Some(())
    }

    fn packet_in(&mut self, name: &str, types: &[Ty], call: &Call, ret: Option<&Ty>) -> Option<Rvalue> {
        match name {
            "extract" => {
                self.extract(types, call)?;
                Some(Rvalue::Struct(Vec::new()))
            }
            "lookahead" => match types.first().or(ret) {
                Some(ty) => self.lookahead(ty, call.span),
                None => self.shape_error(call.span),
            },
            "advance" => {
                let bits = self.arg(call, 0)?;
                self.emit(Inst::Advance { bits });
                Some(Rvalue::Struct(Vec::new()))
            }
            "length" => {
                let dst = self.temp(VarType::Bit(32));
                self.emit(Inst::PacketLength { dst });
                Some(Rvalue::Scalar(Operand::Var(dst)))
            }
            _ => {
                self.not_supported(call.span, format!("method `packet_in.{name}`"));
                None
            }
        }
    }

    fn extract(&mut self, types: &[Ty], call: &Call) -> Option<()> {
        let target = call.args.first().and_then(Option::as_ref);
        let Some(ty) = target.map(|target| &target.ty).or(types.first()) else {
            return self.shape_error(call.span);
        };
        if !self.hir.is_header(ty) {
            let shown = self.hir.show(ty);
            self.push(
                Diagnostic::error(call.span, format!("a value of type `{shown}` cannot be extracted"))
                    .with_help("only headers can be extracted, one by one"),
            );
            return None;
        }
        let varbit_bits = if call.args.len() > 1 { Some(self.arg(call, 1)?) } else { None };
        let has_varbit = self.hir.fields(ty).iter().any(|field| matches!(field.ty, Ty::Varbit(_)));
        if has_varbit != varbit_bits.is_some() {
            let message = if has_varbit {
                "the header has a varbit field, so `extract` needs its size as second argument"
            } else {
                "the header has no varbit field, so `extract` takes one argument"
            };
            self.push(Diagnostic::error(call.span, message));
            return None;
        }
        let Some(target) = target else {
            // `_`: read and thrown away.
            let header = self.header_of(Rvalue::Invalid, ty, call.span)?;
            return self.extract_into(
                Target::StaticStorage(StaticStorage::Header(header)),
                varbit_bits,
                ty,
                call.span,
            );
        };
        if let ExprKind::StackNext(base) = &target.kind
            && let Array::Headers(stack) = self.array(base)?
        {
            self.emit(Inst::ExtractNext { stack, varbit_bits });
            return Some(());
        }
        let place = self.target(target)?;
        self.extract_into(place, varbit_bits, ty, target.span)?;
        // A member of the next union of a stack: the stack has one element more.
        if let ExprKind::Field(base, _) = &target.kind
            && let ExprKind::StackNext(base) = &base.kind
            && let Array::Unions(stack) = self.array(base)?
        {
            let one = Operand::Const(Bits::from_u128(INDEX_BITS, 1));
            let (dst, op, a) = (stack.next, BinOp::Add, Operand::Var(stack.next));
            self.emit(Inst::Binary { dst, op, a, b: one });
        }
        Some(())
    }

    fn extract_into(
        &mut self,
        target: Target,
        varbit_bits: Option<Operand>,
        ty: &Ty,
        span: Span,
    ) -> Option<()> {
        match target {
            Target::StaticStorage(StaticStorage::Header(header)) => {
                self.emit(match varbit_bits {
                    Some(varbit_bits) => Inst::ExtractVar { header, varbit_bits },
                    None => Inst::Extract { header },
                });
                Some(())
            }
            place => {
                let header = self.header_of(Rvalue::Invalid, ty, span)?;
                self.extract_into(
                    Target::StaticStorage(StaticStorage::Header(header)),
                    varbit_bits,
                    ty,
                    span,
                )?;
                self.assign(place, Rvalue::Header(header), ty, span)
            }
        }
    }

    pub(super) fn lookahead(&mut self, ty: &Ty, span: Span) -> Option<Rvalue> {
        let Some(width) = self.hir.width_bits(ty).filter(|width| (1..=MAX_WIDTH).contains(width)) else {
            let shown = self.hir.show(ty);
            self.not_supported(span, format!("lookahead of type `{shown}`"));
            return None;
        };
        if let Some(scalar) = self.var_type(ty) {
            let dst = self.temp(scalar);
            self.emit(Inst::Lookahead { dst });
            return Some(Rvalue::Scalar(Operand::Var(dst)));
        }
        let whole = self.temp(VarType::Bit(width));
        self.emit(Inst::Lookahead { dst: whole });
        let mut left = width;
        self.unpack(ty, whole, &mut left, span)
    }

    /// Takes a value apart from the high end of `whole`; `left` bits are not used yet.
    pub(super) fn unpack(&mut self, ty: &Ty, whole: VarId, left: &mut u32, span: Span) -> Option<Rvalue> {
        if let Some(scalar) = self.var_type(ty) {
            *left = left.checked_sub(scalar.width())?;
            let dst = self.temp(scalar);
            self.emit(Inst::Slice { dst, src: Operand::Var(whole), lo: *left });
            return Some(Rvalue::Scalar(Operand::Var(dst)));
        }
        if let Ty::Stack(elem, size) = ty
            && self.hir.is_stack(ty)
        {
            let values: Option<Vec<Rvalue>> =
                (0..*size).map(|_| self.unpack(elem, whole, left, span)).collect();
            return values.map(Rvalue::NewStack);
        }
        let Some(parts) = self.parts(ty).filter(|_| !self.hir.is_union(ty)) else {
            let shown = self.hir.show(ty);
            let message = format!("a value of type `{shown}` cannot be the result of lookahead");
            self.push(Diagnostic::error(span, message).with_help("use a member that is a header"));
            return None;
        };
        let mut values = Vec::with_capacity(parts.len());
        for (_, part) in &parts {
            values.push(self.unpack(part, whole, left, span)?);
        }
        if !self.hir.is_header(ty) {
            return Some(Rvalue::Struct(values));
        }
        let mut fields = Vec::new();
        for (value, (_, part)) in values.into_iter().zip(&parts) {
            self.flatten(value, part, span, &mut fields)?;
        }
        Some(Rvalue::NewHeader(fields))
    }
}
