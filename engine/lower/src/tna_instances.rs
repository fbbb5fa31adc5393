//! Instances of TNA's externs.
//!
//! Counters, meters and registers are those of PSA. What is not run is refused by name.

use super::Lowerer;
use super::object::{Object, TnaObject};
use p4cc_ir::limits::MAX_TABLE_SIZE;
use p4cc_ir::{
    ControlPlaneName, Digest, DigestId, HashAlgorithm, MeterId, Profile, ProfileId, RegisterId,
    SELECTOR_LINE_MEMBERS, SelectorView, VarId, VarKind, VarType,
};
use p4cc_syntax::{Diagnostic, Span};
use p4cc_types::hir::{Annotations, Construct, Expr};
use p4cc_types::ty::Ty;

/// Members of a group and groups of a selector that says neither, as p4c has them.
const DEFAULT_SELECTOR: (u32, u32) = (120, 4);
/// Widest hash of an action selector.
const MAX_SELECTOR_BITS: u32 = 64;

impl Lowerer<'_> {
    /// An instance of an extern that TNA has otherwise than PSA; `None` in the outer option if PSA's reading
    /// is the same.
    pub(super) fn make_tna_extern(
        &mut self,
        name: &str,
        types: &[Ty],
        construct: &Construct,
        cp: &ControlPlaneName,
        annotations: &Annotations,
        span: Span,
    ) -> Option<Option<Object>> {
        let methods = std::mem::take(&mut self.tna.methods);
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
                let next = MeterId::from_index(self.out.meters.len());
                return match self.meter_colors(name, construct, next) {
                    Some(()) => None,
                    None => Some(None),
                };
            }
            "DirectRegister" => self.make_direct_register(types, construct, cp, span),
            "RegisterAction"
            | "RegisterAction2"
            | "RegisterAction3"
            | "RegisterAction4"
            | "DirectRegisterAction"
            | "DirectRegisterAction2"
            | "DirectRegisterAction3"
            | "DirectRegisterAction4" => self.register_action(types, arg(0), &methods, span),
            "MinMaxAction" | "MinMaxAction2" | "MinMaxAction3" | "MinMaxAction4" => {
                self.word_action(types, arg(0), &methods, span)
            }
            "LearnAction" => {
                self.not_supported(
                    span,
                    "extern `LearnAction`, whose digest and flag the chip's driver makes",
                );
                None
            }
            "SelectorAction" => self.selector_action(arg(0), &methods, span),
            "MathUnit" => self.math_unit(types, construct, span),
            "Lpf" | "DirectLpf" | "Wred" | "DirectWred" => self.filter((name, types), construct, cp, span),
            "RegisterParam" => self.register_param(types, arg(0), cp, span),
            "Checksum" => Some(TnaObject::Checksum(self.object_var(cp, "sum", 16))),
            "ParserCounter" => Some(TnaObject::ParserCounter(self.new_parser_counter(&cp.name))),
            "ParserPriority" => Some(TnaObject::ParserPriority),
            "Pktgen" => Some(TnaObject::Pktgen),
            "Atcam" | "Alpm" => Some(TnaObject::Storage),
            "Random" => self.random(types, span),
            "CRCPolynomial" => self.polynomial(types, construct, span),
            "Hash" => self.tna_hash_object(types, arg(0), arg(1), cp, annotations, span),
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

    fn random(&mut self, types: &[Ty], span: Span) -> Option<TnaObject> {
        match types.first().and_then(|ty| self.var_type(ty)) {
            Some(VarType::Bit(width)) if width <= 64 => Some(TnaObject::Random),
            _ => {
                self.not_supported(span, "random numbers that are not of 1 to 64 bits");
                None
            }
        }
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
        let selector = match self.object(hash)? {
            Object::Tna(TnaObject::Hash(hash)) => {
                let width = self.out.hashes.get(hash.index())?.width;
                Some((HashAlgorithm::Object(hash), width))
            }
            Object::Tna(TnaObject::WideIdentity(_)) => Some((HashAlgorithm::Identity, MAX_SELECTOR_BITS)),
            _ => return self.shape_error(span),
        };
        let resilient = self.enum_member(args.get(2)?) == Some("RESILIENT");
        // Behind the mode may stand the register of the selector's bits.
        let register = args.get(3).filter(|arg| matches!(arg.ty, Ty::Extern(..)));
        let bits = match register {
            Some(register) => Some(self.selector_register(register)?),
            None => None,
        };
        let (id, view) = if sized {
            let size = self.bounded_number(first, "size", 1, MAX_TABLE_SIZE, span)?;
            let max_group_size = annotations.max_group_size.unwrap_or(0);
            self.out.profiles.push(Profile { max_group_size, ..Profile::plain(cp.clone(), size) });
            let profile = ProfileId::from_index(self.out.profiles.len() - 1);
            // p4c makes a profile and a selector of its own sizes of it.
            let cp = ControlPlaneName { name: format!("{}_sel", cp.name), explicit_id: None, ..cp.clone() };
            let (max_group_size, groups) = DEFAULT_SELECTOR;
            (profile, SelectorView { cp, profile, max_group_size, groups })
        } else {
            let Object::Profile(profile) = self.object(first)? else { return self.shape_error(span) };
            let sizes = if register.is_some() { 4 } else { 3 };
            let max_group_size =
                self.bounded_number(args.get(sizes)?, "group size", 1, MAX_TABLE_SIZE, span)?;
            let of = self.out.profiles.get_mut(profile.index())?;
            if of.selector.is_some() {
                self.not_supported(span, "a second action selector of one action profile");
                return None;
            }
            of.max_group_size = max_group_size;
            let groups =
                self.bounded_number(args.get(sizes + 1)?, "number of groups", 1, MAX_TABLE_SIZE, span)?;
            (profile, SelectorView { cp: cp.clone(), profile, max_group_size, groups })
        };
        let profile = self.out.profiles.get_mut(id.index())?;
        (profile.selector, profile.resilient, profile.bits) = (selector, resilient, bits);
        profile.group_lines = view.max_group_size.div_ceil(SELECTOR_LINE_MEMBERS);
        self.notes.view.selectors.push(view);
        Some(Object::Profile(id))
    }

    /// The register whose cells are the bits of a selector.
    fn selector_register(&mut self, arg: &Expr) -> Option<RegisterId> {
        let Object::Register(register) = self.object(arg)? else { return self.shape_error(arg.span) };
        if self.out.profiles.iter().any(|profile| profile.bits == Some(register)) {
            let help = "use a separate register for each selector";
            return self.refused(arg.span, "this register belongs to another selector", help);
        }
        Some(register)
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
