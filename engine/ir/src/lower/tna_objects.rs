//! Instances of TNA's externs.
//!
//! Counters, meters and registers are those of PSA. What is not run is refused by name.

use super::Lowerer;
use super::env::{EnvId, Object};
use crate::limits::MAX_TABLE_SIZE;
use crate::types::hir::{Annotations, Construct, Expr, FnId};
use crate::types::ty::Ty;
use crate::types::value::Value;
use crate::{
    ControlPlaneName, CrcStart, CustomCrc, CustomCrcId, DataType, Digest, DigestId, HashAlgorithm, Profile,
    ProfileId, Register, RegisterId, SelectorView, TofinoChip, VarId, VarKind, VarType,
};
use p4cc_syntax::{Diagnostic, Span};

/// Members of a group and groups of a selector that says neither, as p4c has them.
const DEFAULT_SELECTOR: (u32, u32) = (120, 4);
/// Widest hash of an action selector.
const MAX_SELECTOR_BITS: u32 = 64;

/// An object of TNA; its data stand in [`TnaObjects`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TnaObject {
    /// `RegisterAction`, by position.
    RegisterAction(usize),
    /// `RegisterParam`: a register of one cell.
    RegisterParam(RegisterId),
    /// `Checksum`: its running sum.
    Checksum(VarId),
    /// `ParserCounter`
    ParserCounter(VarId),
    /// `ParserPriority`
    ParserPriority,
    /// `Hash`
    Hash(TnaHash, u32),
    /// `CRCPolynomial`, by position.
    Polynomial(usize),
    /// `Random`
    Random,
    /// `Mirror`, with the `mirror_type` that it is for.
    Mirror(Option<u32>),
    /// `Resubmit`, with the `resubmit_type` that it is for.
    Resubmit(Option<u32>),
    /// `Digest`, with the `digest_type` that it is for.
    Digest(DigestId, Option<u32>),
    /// `Pktgen`
    Pktgen,
    /// `Atcam` and `Alpm`, which say how the chip stores a table, not what it does.
    Storage,
}

/// A hash function of the chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TnaHash {
    /// The lowest bits of the data.
    Identity,
    /// One of those that v1model has, too.
    Algorithm(HashAlgorithm),
}

/// A register action: what it works on, and what it does.
#[derive(Clone, Debug)]
pub struct RegisterAction {
    /// The register.
    pub register: RegisterId,
    /// Type of its cells.
    pub cell: Ty,
    /// Type of the result.
    pub result: Ty,
    /// Its `apply`.
    pub apply: FnId,
    /// Where it was declared.
    pub env: EnvId,
}

/// Variables by which a deparser chooses among its objects.
#[derive(Clone, Copy, Debug)]
pub struct HalfTypes {
    /// Egress, not ingress.
    pub is_egress: bool,
    /// `mirror_type`
    pub mirror: VarId,
    /// `resubmit_type`
    pub resubmit: Option<VarId>,
    /// `digest_type`
    pub digest: Option<VarId>,
    /// `ucast_egress_port`
    pub unicast_port: Option<VarId>,
}

/// What was made of TNA's externs.
#[derive(Debug, Default)]
pub struct TnaObjects {
    /// Abstract methods that the instance being made implements.
    pub methods: Vec<FnId>,
    /// Register actions so far.
    pub actions: Vec<RegisterAction>,
    /// Types of registers' cells.
    pub cells: Vec<(RegisterId, Ty)>,
    /// CRC polynomials so far: width and parameters.
    pub polynomials: Vec<(u32, CrcStart)>,
    /// A register action is being made into code.
    pub running: bool,
    /// The half of a pipe that is being made.
    pub half: Option<HalfTypes>,
    /// The chip that the program is for.
    pub chip: TofinoChip,
    /// Fields of the port metadata that the ingress parser of the pipe reads.
    pub port_metadata: Option<Vec<(String, u32)>>,
}

/// Externs that are declared but not run.
const REFUSED: [(&str, &str); 8] = [
    ("Lpf", "use a register, or a meter"),
    ("DirectLpf", "use a register, or a direct meter"),
    ("Wred", "compare a depth with `Random`, in a range table"),
    ("DirectWred", "compare a depth with `Random`, in a range table"),
    ("DirectRegister", "use a `Register`, with an index from the table's action"),
    ("DirectRegisterAction", "use a `RegisterAction`, with an index from the table's action"),
    ("MathUnit", "shift by a constant, or look the result up in a table"),
    ("SelectorAction", "use an `ActionSelector` without a register"),
];

impl Lowerer<'_> {
    /// An instance of an extern that TNA has otherwise than PSA; `None` in the outer option if PSA's reading
    /// is the same.
    pub(super) fn make_tna_extern(
        &mut self,
        (name, types): (&str, &[Ty]),
        construct: &Construct,
        cp: &ControlPlaneName,
        annotations: &Annotations,
        span: Span,
    ) -> Option<Option<Object>> {
        let methods = std::mem::take(&mut self.tna.methods);
        if let Some((name, instead)) = REFUSED.into_iter().find(|(refused, _)| *refused == name) {
            self.push(Diagnostic::not_supported(span, format!("extern `{name}` of TNA")).with_help(instead));
            return Some(None);
        }
        let arg = |at: usize| construct.args.get(at).and_then(Option::as_ref);
        let made = match name {
            "Register" => {
                // PSA's reading makes it; an action must know its cells later.
                let next = RegisterId::from_index(self.out.registers.len());
                self.tna.cells.push((next, types.first()?.clone()));
                return None;
            }
            "Counter" | "DirectCounter" | "ActionProfile" => return None,
            "Meter" | "DirectMeter" => {
                let numbers = usize::from(name == "Meter") + 1;
                if construct.args.len() <= numbers {
                    return None;
                }
                self.not_supported(span, "meters with values of their own for the colours");
                return Some(None);
            }
            "RegisterAction" => self.register_action(types, arg(0), &methods, span),
            "RegisterParam" => self.register_param(types, arg(0), cp, span),
            "Checksum" => Some(TnaObject::Checksum(self.object_var(cp, "sum", 16))),
            "ParserCounter" => Some(TnaObject::ParserCounter(self.object_var(cp, "counter", 8))),
            "ParserPriority" => Some(TnaObject::ParserPriority),
            "Pktgen" => Some(TnaObject::Pktgen),
            "Atcam" | "Alpm" => Some(TnaObject::Storage),
            "Random" => self.random(types, span),
            "CRCPolynomial" => self.polynomial(types, construct, span),
            "Hash" => self.tna_hash_object(types, (arg(0), arg(1)), cp, span),
            "ActionSelector" => return Some(self.action_selector(construct, cp, annotations, span)),
            "Mirror" => self.type_number(arg(0)).map(TnaObject::Mirror),
            "Resubmit" => self.type_number(arg(0)).map(TnaObject::Resubmit),
            "Digest" => self.tna_digest(types, arg(0), cp, span),
            _ => {
                self.push(
                    Diagnostic::error(span, format!("TNA has no extern `{name}`"))
                        .with_help("only the externs that tna.p4 declares can be instantiated"),
                );
                None
            }
        };
        Some(made.map(Object::Tna))
    }

    fn object_var(&mut self, cp: &ControlPlaneName, what: &str, width: u32) -> VarId {
        self.new_var(&format!("{}.{what}", cp.name), VarType::Bit(width), VarKind::Local)
    }

    /// The number of a `mirror_type` and the like, if the constructor has one.
    fn type_number(&mut self, arg: Option<&Expr>) -> Option<Option<u32>> {
        match arg {
            None => Some(None),
            Some(arg) => self.bounded_number(arg, "type", 0, u32::from(u8::MAX), arg.span).map(Some),
        }
    }

    fn register_action(
        &mut self,
        types: &[Ty],
        register: Option<&Expr>,
        methods: &[FnId],
        span: Span,
    ) -> Option<TnaObject> {
        let Object::Register(register) = self.object(register?)? else { return self.shape_error(span) };
        let known = self.tna.cells.iter().find(|(known, _)| *known == register);
        let cell = known.map(|(_, cell)| cell.clone())?;
        let [written, _, result] = types else { return self.shape_error(span) };
        if *written != cell && *written != Ty::DontCare {
            let (has, wants) = (self.hir.show(written), self.hir.show(&cell));
            let message =
                format!("this works on cells of type `{has}`, the register has cells of type `{wants}`");
            return self.refused(span, message, "give the register's type");
        }
        let Some(apply) = methods.first().copied() else { return self.shape_error(span) };
        let (result, env) = (result.clone(), self.env);
        self.tna.actions.push(RegisterAction { register, cell, result, apply, env });
        Some(TnaObject::RegisterAction(self.tna.actions.len() - 1))
    }

    /// A parameter that the control plane sets, for register actions: a register of one cell.
    fn register_param(
        &mut self,
        types: &[Ty],
        initial: Option<&Expr>,
        cp: &ControlPlaneName,
        span: Span,
    ) -> Option<TnaObject> {
        let Some(ty) = types.first().and_then(|ty| self.var_type(ty)) else { return self.shape_error(span) };
        if matches!(ty, VarType::Varbit(_)) {
            return self.no_varbit(span);
        }
        let initial = Some(self.const_value(initial?)?.to_bits(ty.width()));
        let data_type = DataType::Scalar(ty);
        let register = Register { cp: cp.clone(), ty, composite: None, data_type, size: 1, initial };
        self.out.registers.push(register);
        let param = RegisterId::from_index(self.out.registers.len() - 1);
        self.note_param(param);
        Some(TnaObject::RegisterParam(param))
    }

    fn random(&mut self, types: &[Ty], span: Span) -> Option<TnaObject> {
        match types.first().and_then(|ty| self.var_type(ty)) {
            Some(VarType::Bit(width)) if width <= 64 => Some(TnaObject::Random),
            _ => {
                self.not_supported(span, "random numbers that are not of 1 to 64 bits");
                None
            }
        }
    }

    fn polynomial(&mut self, types: &[Ty], construct: &Construct, span: Span) -> Option<TnaObject> {
        let width = types.first().and_then(|ty| self.width(ty));
        let [Some(coeff), Some(reversed), Some(msb), Some(extended), Some(init), Some(xor)] =
            construct.args.as_slice()
        else {
            return self.shape_error(span);
        };
        let Some(width) = width.filter(|width| matches!(width, 16 | 32)) else {
            self.not_supported(span, "CRC polynomials that are not of 16 or 32 bits");
            return None;
        };
        for (flag, name) in [(msb, "msb"), (extended, "extended")] {
            if self.const_value(flag)? != Value::Bool(false) {
                self.not_supported(flag.span, format!("CRC polynomials with `{name}`"));
                return None;
            }
        }
        let reversed = self.const_value(reversed)? == Value::Bool(true);
        let number = |this: &mut Self, expr: &Expr| {
            this.const_value(expr).map(|value| value.to_bits(width).low_u64() as u32)
        };
        let (polynomial, initial) = (number(self, coeff)?, number(self, init)?);
        let final_xor = number(self, xor)?;
        self.tna.polynomials.push((width, CrcStart { polynomial, initial, final_xor, reversed }));
        Some(TnaObject::Polynomial(self.tna.polynomials.len() - 1))
    }

    fn tna_hash_object(
        &mut self,
        types: &[Ty],
        (algorithm, polynomial): (Option<&Expr>, Option<&Expr>),
        cp: &ControlPlaneName,
        span: Span,
    ) -> Option<TnaObject> {
        let Some(width) = types.first().and_then(|ty| self.width(ty)) else { return self.shape_error(span) };
        let given = match polynomial {
            None => None,
            Some(expr) => match self.object(expr)? {
                Object::Tna(TnaObject::Polynomial(at)) => self.tna.polynomials.get(at).cloned(),
                _ => return self.shape_error(expr.span),
            },
        };
        let name = self.enum_member(algorithm?).map(str::to_owned);
        let (bits, hash) = match (name.as_deref(), given) {
            (Some("CUSTOM"), Some((bits, start))) => {
                self.out.custom_crcs.push(CustomCrc {
                    name: cp.name.clone(),
                    width: bits,
                    start: Some(start),
                });
                let id = CustomCrcId::from_index(self.out.custom_crcs.len() - 1);
                let algorithm =
                    if bits == 16 { HashAlgorithm::Crc16Custom(id) } else { HashAlgorithm::Crc32Custom(id) };
                (bits, TnaHash::Algorithm(algorithm))
            }
            (Some("IDENTITY"), _) => (u32::MAX, TnaHash::Identity),
            (Some("CRC16"), _) => (16, TnaHash::Algorithm(HashAlgorithm::Crc16)),
            (Some("CRC32"), _) => (32, TnaHash::Algorithm(HashAlgorithm::Crc32)),
            (Some("XOR16"), _) => (16, TnaHash::Algorithm(HashAlgorithm::Xor16)),
            (name, _) => {
                let what = format!("hash algorithm `{}`", name.unwrap_or("of unknown name"));
                self.push(Diagnostic::not_supported(span, what).with_help(
                    "use IDENTITY, XOR16, CRC16, CRC32, or CUSTOM with a polynomial of 16 or 32 bits",
                ));
                return None;
            }
        };
        if width > bits {
            self.not_supported(span, format!("a hash of {width} bits by an algorithm of {bits}"));
            return None;
        }
        Some(TnaObject::Hash(hash, width))
    }

    fn action_selector(
        &mut self,
        construct: &Construct,
        cp: &ControlPlaneName,
        annotations: &Annotations,
        span: Span,
    ) -> Option<Object> {
        let args: Vec<&Expr> = construct.args.iter().flatten().collect();
        let (first, hash) = (args.first()?, args.get(1)?);
        let sized = !matches!(first.ty, Ty::Extern(..));
        if args.len() == if sized { 4 } else { 6 } {
            self.not_supported(span, "action selectors with a register");
            return None;
        }
        let Object::Tna(TnaObject::Hash(hash, width)) = self.object(hash)? else {
            return self.shape_error(span);
        };
        let algorithm = match hash {
            TnaHash::Algorithm(algorithm) => algorithm,
            TnaHash::Identity => HashAlgorithm::Identity,
        };
        let selector = Some((algorithm, width.min(MAX_SELECTOR_BITS)));
        if sized {
            let size = self.bounded_number(first, "size", 1, MAX_TABLE_SIZE, span)?;
            let max_group_size = annotations.max_group_size.unwrap_or(0);
            self.out.profiles.push(Profile { cp: cp.clone(), size, selector, max_group_size });
            let id = ProfileId::from_index(self.out.profiles.len() - 1);
            // p4c makes a profile and a selector of its own sizes of it.
            let cp = ControlPlaneName { name: format!("{}_sel", cp.name), explicit_id: None, ..cp.clone() };
            let (max_group_size, groups) = DEFAULT_SELECTOR;
            self.notes.view.selectors.push(SelectorView { cp, profile: id, max_group_size, groups });
            return Some(Object::Profile(id));
        }
        let Object::Profile(id) = self.object(first)? else { return self.shape_error(span) };
        let most = self.bounded_number(args.get(3)?, "group size", 1, MAX_TABLE_SIZE, span)?;
        let profile = self.out.profiles.get_mut(id.index())?;
        if profile.selector.is_some() {
            self.not_supported(span, "a second action selector of one action profile");
            return None;
        }
        (profile.selector, profile.max_group_size) = (selector, most);
        let groups = self.bounded_number(args.get(4)?, "number of groups", 1, MAX_TABLE_SIZE, span)?;
        let view = SelectorView { cp: cp.clone(), profile: id, max_group_size: most, groups };
        self.notes.view.selectors.push(view);
        Some(Object::Profile(id))
    }

    fn tna_digest(
        &mut self,
        types: &[Ty],
        number: Option<&Expr>,
        cp: &ControlPlaneName,
        span: Span,
    ) -> Option<TnaObject> {
        let number = self.type_number(number)?;
        let ty = types.first()?;
        let composite = self.composite(ty, span)?;
        let data_type = self.data_type(ty)?;
        self.out.digests.push(Digest {
            cp: cp.clone(),
            type_name: composite.name,
            fields: composite.fields,
            data_type,
        });
        Some(TnaObject::Digest(DigestId::from_index(self.out.digests.len() - 1), number))
    }
}
