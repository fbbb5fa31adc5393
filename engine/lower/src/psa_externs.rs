//! Externs of PSA.
//!
//! They are those of v1model in other clothes, so that they become the same
//! calls: methods that give their result back, hashes and digests as objects,
//! colours numbered otherwise. An `InternetChecksum` is a variable of its own.

use super::Lowerer;
use super::object::TnaObject;
use super::object::{EnvId, Object};
use super::storage::Rvalue;
use p4cc_ir::{
    BinOp, Bits, ControlPlaneName, Digest, DigestId, ExternCall, HashAlgorithm, Inst, Operand, RegisterId,
    UnOp, VarId, VarKind, VarType,
};
use p4cc_syntax::{Diagnostic, Span};
use p4cc_types::hir::{Call, Construct, Expr};
use p4cc_types::ty::Ty;

/// Colours of both architectures are numbered 0 to 2, one
/// apart in a circle: v1model begins with green, PSA with red.
const COLORS: u128 = 3;
/// Width of the ones' complement sum.
const SUM_BITS: u32 = 16;

fn constant(width: u32, value: u128) -> Operand {
    Operand::Const(Bits::from_u128(width, value))
}

impl Lowerer<'_> {
    /// An instance of an extern that v1model has nothing like.
    pub(super) fn make_psa_extern(
        &mut self,
        name: &str,
        types: &[Ty],
        construct: &Construct,
        cp: &ControlPlaneName,
        span: Span,
    ) -> Option<Object> {
        let arg = |at: usize| construct.args.get(at).and_then(Option::as_ref);
        match name {
            "Hash" => {
                let algorithm = self.algorithm(arg(0)?)?;
                Some(Object::Hash(algorithm))
            }
            "Checksum" => {
                let algorithm = self.algorithm(arg(0)?)?;
                if algorithm != HashAlgorithm::Csum16 {
                    let what = "checksums of data added piece by piece, other than ONES_COMPLEMENT16";
                    self.not_supported(span, what);
                    return None;
                }
                Some(Object::InternetChecksum(self.new_sum(&cp.name)))
            }
            "InternetChecksum" => Some(Object::InternetChecksum(self.new_sum(&cp.name))),
            "Random" => {
                let width = self.width(types.first()?)?;
                let low = self.const_value(arg(0)?)?.to_bits(width);
                let high = self.const_value(arg(1)?)?.to_bits(width);
                self.randoms.push((low, high));
                Some(Object::Random(self.randoms.len() - 1))
            }
            "Digest" => {
                let ty = types.first()?;
                let composite = self.composite(ty, span)?;
                let data_type = self.data_type(ty)?;
                self.out.digests.push(Digest {
                    cp: cp.clone(),
                    type_name: composite.name,
                    fields: composite.fields,
                    data_type,
                });
                Some(Object::Digest(DigestId::from_index(self.out.digests.len() - 1)))
            }
            "PacketReplicationEngine" | "BufferingQueueingEngine" => Some(Object::Fixed),
            _ => {
                self.push(
                    Diagnostic::error(span, format!("PSA has no extern `{name}`"))
                        .with_help("only the externs that psa.p4 declares can be instantiated"),
                );
                None
            }
        }
    }

    /// The running sum of an `InternetChecksum`. All variables are
    /// zero when a packet enters a parser, so that it begins empty.
    fn new_sum(&mut self, name: &str) -> VarId {
        self.new_var(&format!("{name}.sum"), VarType::Bit(SUM_BITS), VarKind::Local)
    }

    /// Empties the checksums that a parser or control holds, when it is applied.
    pub(super) fn clear_sums(&mut self, env: EnvId) {
        let objects = self.envs.get(env.0).map(|env| env.instances.values().copied().collect::<Vec<_>>());
        for object in objects.unwrap_or_default() {
            let vars = match object {
                Object::InternetChecksum(sum) | Object::Tna(TnaObject::Checksum(sum)) => vec![sum],
                Object::Tna(TnaObject::ParserCounter(counter)) => counter.vars().collect(),
                _ => continue,
            };
            for dst in vars {
                let Some(width) = self.out.vars.get(dst.index()).map(|var| var.ty.width()) else { continue };
                self.emit(Inst::Assign { dst, src: constant(width, 0) });
            }
        }
    }

    /// An extern function of PSA with a result; `None` in the outer option if PSA has none of that name.
    pub(super) fn psa_function(&mut self, name: &str, call: &Call) -> Option<Option<Rvalue>> {
        let field = |this: &mut Self, at: usize, field: &str, width: u32| {
            let value = this.metadata_field(call.args.get(at), field)?;
            let given = this.operand_width(&value);
            this.same_size(given, width, call.span)?;
            Some(value)
        };
        let flag = |this: &mut Self, at: usize, name: &str| field(this, at, name, 1);
        let result = match name {
            "psa_clone_i2e" | "psa_clone_e2e" => flag(self, 0, "clone"),
            "psa_resubmit" | "psa_normal" => {
                let kept = flag(self, 0, "drop").map(|drop| self.not(drop));
                let resubmit = flag(self, 0, "resubmit");
                let wanted =
                    if name == "psa_normal" { resubmit.map(|other| self.not(other)) } else { resubmit };
                kept.zip(wanted).map(|(kept, wanted)| self.binary_flag(BinOp::And, kept, wanted))
            }
            "psa_recirculate" => {
                let kept = flag(self, 0, "drop").map(|drop| self.not(drop));
                let port = field(self, 1, "egress_port", 32);
                kept.zip(port).map(|(kept, port)| {
                    let recirculate = constant(32, u128::from(p4cc_ir::PSA_PORT_RECIRCULATE));
                    let same = self.binary_flag(BinOp::Eq, port, recirculate);
                    self.binary_flag(BinOp::And, kept, same)
                })
            }
            _ => return None,
        };
        Some(result.map(Rvalue::Scalar))
    }

    fn metadata_field(&mut self, arg: Option<&Option<Expr>>, name: &str) -> Option<Operand> {
        let arg = arg?.as_ref()?;
        let at = self.hir.fields(&arg.ty).iter().position(|field| field.name == name)?;
        let Rvalue::Struct(parts) = self.rvalue(arg)? else { return self.shape_error(arg.span) };
        match parts.into_iter().nth(at)? {
            Rvalue::Scalar(operand) => Some(operand),
            _ => self.shape_error(arg.span),
        }
    }

    fn not(&mut self, src: Operand) -> Operand {
        let dst = self.temp(VarType::Bool);
        self.emit(Inst::Unary { dst, op: UnOp::Not, src });
        Operand::Var(dst)
    }

    fn binary_flag(&mut self, op: BinOp, a: Operand, b: Operand) -> Operand {
        let dst = self.temp(VarType::Bool);
        self.emit(Inst::Binary { dst, op, a, b });
        Operand::Var(dst)
    }

    /// A method of an object as PSA has it; `None` in the outer option if v1model's reading is the same.
    pub(super) fn psa_method(
        &mut self,
        object: Object,
        name: &str,
        call: &Call,
        ret: Option<&Ty>,
    ) -> Option<Option<Rvalue>> {
        let nothing = || Rvalue::Struct(Vec::new());
        Some(match (object, name) {
            (Object::Register(register), "read") => self.psa_register_read(register, call, ret),
            (Object::Meter(_) | Object::DirectMeter(_), "execute") => self.psa_meter(object, call),
            (Object::Hash(algorithm), "get_hash") => self.psa_hash(algorithm, call, ret),
            (Object::Random(at), "read") => self.psa_random(at, ret),
            (Object::Digest(digest), "pack") => self.digest_data(digest, call).map(|data| {
                self.emit(Inst::Extern(ExternCall::Digest { digest, data }));
                nothing()
            }),
            (Object::InternetChecksum(sum), _) => self.psa_checksum(sum, name, call),
            _ => return None,
        })
    }

    /// What a digest message holds, field by field.
    pub(super) fn digest_data(&mut self, digest: DigestId, call: &Call) -> Option<Vec<Operand>> {
        let data = self.cell_arg(call, 0)?;
        let fields = self.out.digests.get(digest.index())?.fields.clone();
        self.same_sizes(&data, &fields, call.span)?;
        Some(data)
    }

    fn psa_register_read(&mut self, register: RegisterId, call: &Call, ret: Option<&Ty>) -> Option<Rvalue> {
        let index = self.arg(call, 0)?;
        let ty = self.out.registers.get(register.index())?.ty;
        let dst = self.temp(ty);
        self.emit(Inst::Extern(ExternCall::RegisterRead { register, dst, index }));
        match ret {
            Some(ret) if self.var_type(ret).is_none() => {
                let mut left = ty.width();
                self.cell_value(ret, dst, &mut left, call.span)
            }
            _ => Some(Rvalue::Scalar(Operand::Var(dst))),
        }
    }

    /// `Meter.execute(index[, color])` and `DirectMeter.execute([color])`.
    fn psa_meter(&mut self, object: Object, call: &Call) -> Option<Rvalue> {
        let ours = self.temp(VarType::Bit(32));
        match object {
            Object::Meter(meter) => {
                let aware = call.args.len() > 1;
                let index = if aware { self.arg_before(call, 0)? } else { self.arg(call, 0)? };
                let color = if aware {
                    let given = self.arg(call, 1)?;
                    self.fits(call, 1, &given, &Ty::Bit(32))?;
                    Some(self.turned(given, COLORS - 1))
                } else {
                    None
                };
                self.emit(Inst::Extern(ExternCall::MeterExecute { meter, index, color, dst: ours }));
            }
            Object::DirectMeter(meter) => {
                if !call.args.is_empty() {
                    self.not_supported(call.span, "a colour passed to a direct meter");
                    return None;
                }
                self.emit(Inst::Extern(ExternCall::DirectMeterRead { meter, dst: ours }));
            }
            _ => return self.shape_error(call.span),
        }
        Some(Rvalue::Scalar(self.turned(Operand::Var(ours), 1)))
    }

    /// A colour so many steps on in the circle.
    fn turned(&mut self, color: Operand, steps: u128) -> Operand {
        let (moved, dst) = (self.temp(VarType::Bit(32)), self.temp(VarType::Bit(32)));
        self.emit(Inst::Binary { dst: moved, op: BinOp::Add, a: color, b: constant(32, steps) });
        self.emit(Inst::Binary { dst, op: BinOp::Mod, a: Operand::Var(moved), b: constant(32, COLORS) });
        Operand::Var(dst)
    }

    fn psa_hash(&mut self, algorithm: HashAlgorithm, call: &Call, ret: Option<&Ty>) -> Option<Rvalue> {
        let Some(ty) = ret.and_then(|ret| self.var_type(ret)) else { return self.shape_error(call.span) };
        if matches!(ty, VarType::Varbit(_)) {
            return self.no_varbit(call.span);
        }
        let dst = self.temp(ty);
        let (base, at) =
            if call.args.len() > 1 { (self.arg_before(call, 0)?, 1) } else { (constant(ty.width(), 0), 0) };
        let data = self.data(call, at)?;
        // The whole hash, which has at most 64 bits, as far as the result holds it.
        let max = if at == 1 { self.arg(call, 2)? } else { constant(65, 1 << 64) };
        let data = self.padded(data)?;
        self.emit(Inst::Extern(ExternCall::Hash { dst, algorithm, base, data, max }));
        Some(Rvalue::Scalar(Operand::Var(dst)))
    }

    /// Data in whole bytes: zero bits in front, as in BMv2's psa_switch (v1model has them behind).
    pub(super) fn padded(&mut self, mut data: Vec<Operand>) -> Option<Vec<Operand>> {
        let bits = self.data_bits(&data)?;
        if let missing @ 1.. = bits.next_multiple_of(8) - bits {
            data.insert(0, constant(missing, 0));
        }
        Some(data)
    }

    pub(super) fn data_bits(&self, data: &[Operand]) -> Option<u32> {
        data.iter().map(|operand| self.operand_width(operand)).sum()
    }

    fn psa_random(&mut self, at: usize, ret: Option<&Ty>) -> Option<Rvalue> {
        let (low, high) = self.randoms.get(at)?.clone();
        let ty = ret.and_then(|ret| self.var_type(ret)).unwrap_or(VarType::Bit(low.width()));
        let dst = self.temp(ty);
        let (low, high) = (Operand::Const(low), Operand::Const(high));
        self.emit(Inst::Extern(ExternCall::Random { dst, low, high }));
        Some(Rvalue::Scalar(Operand::Var(dst)))
    }

    /// `InternetChecksum`, and `Checksum` of the same algorithm.
    fn psa_checksum(&mut self, sum: VarId, name: &str, call: &Call) -> Option<Rvalue> {
        match name {
            "clear" => self.emit(Inst::Assign { dst: sum, src: constant(SUM_BITS, 0) }),
            "set_state" => {
                let src = self.arg(call, 0)?;
                self.fits(call, 0, &src, &Ty::Bit(SUM_BITS))?;
                self.emit(Inst::Assign { dst: sum, src });
            }
            "get_state" => {
                let dst = self.temp(VarType::Bit(SUM_BITS));
                self.emit(Inst::Assign { dst, src: Operand::Var(sum) });
                return Some(Rvalue::Scalar(Operand::Var(dst)));
            }
            "get" => {
                let dst = self.temp(VarType::Bit(SUM_BITS));
                self.emit(Inst::Unary { dst, op: UnOp::Not, src: Operand::Var(sum) });
                return Some(Rvalue::Scalar(Operand::Var(dst)));
            }
            "add" | "update" | "subtract" => self.add_to_sum(sum, name == "subtract", call)?,
            _ => return self.shape_error(call.span),
        }
        Some(Rvalue::Struct(Vec::new()))
    }

    /// Adds 16-bit words, or their complements to take them out again (RFC 1624).
    pub(super) fn add_to_sum(&mut self, sum: VarId, complement: bool, call: &Call) -> Option<()> {
        let mut data = self.data(call, 0)?;
        if self.is_tofino() {
            self.place_in_sum(sum, &mut data, call.span)?;
        }
        let bits = self.data_bits(&data)?;
        if bits % SUM_BITS != 0 {
            self.push(
                Diagnostic::error(
                    call.span,
                    format!("the data has {bits} bits; a checksum takes whole 16-bit words"),
                )
                .with_help("add zero fields to fill the last word"),
            );
            return None;
        }
        let mut words = vec![Operand::Var(sum)];
        for src in data {
            if !complement {
                words.push(src);
                continue;
            }
            let dst = self.temp(VarType::Bit(self.operand_width(&src)?));
            self.emit(Inst::Unary { dst, op: UnOp::Not, src });
            words.push(Operand::Var(dst));
        }
        let dst = self.temp(VarType::Bit(SUM_BITS));
        let (base, max) = (constant(SUM_BITS, 0), constant(32, 1 << SUM_BITS));
        let algorithm = HashAlgorithm::Csum16;
        self.emit(Inst::Extern(ExternCall::Hash { dst, algorithm, base, data: words, max }));
        self.emit(Inst::Unary { dst: sum, op: UnOp::Not, src: Operand::Var(dst) });
        Some(())
    }
}
