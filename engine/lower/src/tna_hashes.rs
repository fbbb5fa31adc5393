//! TNA's hash functions: polynomials, objects, calls, and fields that are symmetric.

use super::Lowerer;
use super::object::Object;
use super::object::TnaObject;
use super::storage::Rvalue;
use num_traits::ToPrimitive;
use p4cc_ir::{
    Bits, ControlPlaneName, CrcFunction, ExternCall, HashAlgorithm, HashField, HashFunction, HashId,
    HashKind, HashObject, Inst, MatchKind, Operand, VarType,
};
use p4cc_syntax::{Diagnostic, Span};
use p4cc_types::hir::{Annotations, Call, Construct, Expr, ExprKind};
use p4cc_types::ty::Ty;
use p4cc_types::value::Value;

/// Widest check, and widest hash that is more than the data themselves.
const MAX_HASH_BITS: u32 = 64;

fn constant(width: u32, value: u128) -> Operand {
    Operand::Const(Bits::from_u128(width, value))
}

impl Lowerer<'_> {
    /// `CRCPolynomial`
    pub(super) fn polynomial(
        &mut self,
        types: &[Ty],
        construct: &Construct,
        span: Span,
    ) -> Option<TnaObject> {
        let width = types.first().and_then(|ty| self.width(ty));
        let [Some(coeff), Some(reversed), Some(msb), Some(extended), Some(init), Some(xor)] =
            construct.args.as_slice()
        else {
            return self.shape_error(span);
        };
        let Some(width) = width.filter(|width| (1..=MAX_HASH_BITS).contains(width)) else {
            return self.refused(span, "a CRC polynomial has 1 to 64 bits", "use a type of that many bits");
        };
        let flag = |this: &mut Self, expr: &Expr| Some(this.const_value(expr)? == Value::Bool(true));
        let (reversed, msb, extend) = (flag(self, reversed)?, flag(self, msb)?, flag(self, extended)?);
        let number = |this: &mut Self, expr: &Expr| Some(this.const_value(expr)?.to_bits(width).low_u64());
        let (polynomial, initial) = (number(self, coeff)?, number(self, init)?);
        let final_xor = number(self, xor)?;
        if polynomial & 1 == 0 {
            self.push(
                Diagnostic::warning(coeff.span, "this CRC polynomial is even")
                    .with_label("it detects fewer errors than a polynomial whose lowest bit is 1")
                    .with_help("write the polynomial without its highest term"),
            );
        }
        let kind = HashKind::Crc(CrcFunction { width, polynomial, initial, final_xor, reversed });
        self.tna.polynomials.push(HashFunction { kind, msb, extend });
        Some(TnaObject::Polynomial(self.tna.polynomials.len() - 1))
    }

    /// `Hash`
    pub(super) fn tna_hash_object(
        &mut self,
        types: &[Ty],
        algorithm: Option<&Expr>,
        polynomial: Option<&Expr>,
        cp: &ControlPlaneName,
        annotations: &Annotations,
        span: Span,
    ) -> Option<TnaObject> {
        let Some(width) = types.first().and_then(|ty| self.width(ty)) else { return self.shape_error(span) };
        let given = match polynomial {
            None => None,
            Some(expr) => match self.object(expr)? {
                Object::Tna(TnaObject::Polynomial(at)) => self.tna.polynomials.get(at).copied(),
                _ => return self.shape_error(expr.span),
            },
        };
        let name = self.enum_member(algorithm?).map(str::to_owned);
        let function = match (name.as_deref(), given) {
            (Some("CUSTOM"), Some(given)) => given,
            (Some("CUSTOM"), None) => {
                let help = "pass a `CRCPolynomial` as second argument";
                return self.refused(span, "a custom hash needs a polynomial", help);
            }
            (Some("IDENTITY"), _) if width > MAX_HASH_BITS => return Some(TnaObject::WideIdentity(width)),
            (Some("IDENTITY"), _) => HashFunction::IDENTITY,
            (Some("RANDOM"), _) => HashFunction::RANDOM,
            (Some("XOR8"), _) => HashFunction::xor(8),
            (Some("XOR16"), _) => HashFunction::xor(16),
            (Some("XOR32"), _) => HashFunction::xor(32),
            // What is wider than one of these repeats it.
            (Some("CRC8"), _) => HashFunction { extend: true, ..HashFunction::CRC8 },
            (Some("CRC16"), _) => HashFunction { extend: true, ..HashFunction::CRC16 },
            (Some("CRC32"), _) => HashFunction { extend: true, ..HashFunction::CRC32 },
            (Some("CRC64"), _) => HashFunction { extend: true, ..HashFunction::CRC64 },
            _ => return self.shape_error(span),
        };
        if width > MAX_HASH_BITS {
            let message = format!("a hash of {width} bits; all algorithms but IDENTITY have at most 64");
            return self.refused(span, message, "compute two hashes, and concatenate them");
        }
        let id = HashId::from_index(self.out.hashes.len());
        let (fields, symmetric) = (Vec::new(), Vec::new());
        self.out.hashes.push(HashObject { cp: cp.clone(), function, width, used: 0, fields, symmetric });
        for text in &annotations.texts {
            let Some(rest) = text.strip_prefix("@symmetric") else { continue };
            let mut names = rest.split('"').skip(1).step_by(2);
            let (Some(one), Some(other), None) = (names.next(), names.next(), names.next()) else {
                let help = "write two field names, each in quotes: `@symmetric(\"hdr.a\", \"hdr.b\")`";
                return self.refused(span, "`@symmetric` takes two fields", help);
            };
            self.tna.symmetric.push((id, one.to_owned(), other.to_owned(), span));
        }
        Some(TnaObject::Hash(id))
    }

    /// `hash.get(data)`
    pub(super) fn tna_hash(&mut self, id: HashId, call: &Call) -> Option<Rvalue> {
        let (hi, lo) = self.tna.sliced.take().unwrap_or((MAX_HASH_BITS - 1, 0));
        let data = self.data(call, 0)?;
        let hash = self.out.hashes.get_mut(id.index())?;
        hash.used |= u64::MAX >> (MAX_HASH_BITS - 1 - hi.min(MAX_HASH_BITS - 1))
            & u64::MAX << lo.min(MAX_HASH_BITS - 1);
        let width = hash.width;
        self.note_hash(width, call);
        if self.tna.hashed.insert(id) {
            let expr = self.arg_expr(call, 0)?;
            let mut names = Vec::new();
            self.field_names(expr, &mut names);
            let mut fields = Vec::new();
            for (at, value) in data.iter().enumerate() {
                let is_variable = matches!(value, Operand::Var(_));
                let name = names.get(at).filter(|_| is_variable && names.len() == data.len());
                let width = self.operand_width(value)?;
                fields.push(HashField { name: name.cloned().unwrap_or_default(), width });
            }
            self.out.hashes.get_mut(id.index())?.fields = fields;
        }
        let dst = self.temp(VarType::Bit(width));
        let max = if width < MAX_HASH_BITS { constant(64, 1 << width) } else { constant(65, 1 << 64) };
        let (algorithm, base) = (HashAlgorithm::Object(id), constant(width, 0));
        self.emit(Inst::Extern(ExternCall::Hash { dst, algorithm, base, data, max }));
        Some(Rvalue::Scalar(Operand::Var(dst)))
    }

    /// An identity of more than 64 bits.
    pub(super) fn wide_identity(&mut self, width: u32, call: &Call) -> Option<Rvalue> {
        self.note_hash(width, call);
        let data = self.data(call, 0)?;
        let src = self.one_number(data, call.span)?;
        let dst = self.temp(VarType::Bit(width));
        self.emit(Inst::Resize { dst, src, signed: false });
        Some(Rvalue::Scalar(Operand::Var(dst)))
    }

    /// Names of the scalars that an expression consists of, as P4Info names keys.
    fn field_names(&self, expr: &Expr, names: &mut Vec<String>) {
        if let ExprKind::Aggregate(parts) | ExprKind::AggregateInOrder(parts, _) = &expr.kind {
            return parts.iter().for_each(|part| self.field_names(part, names));
        }
        self.leaf_names(&expr.ty, self.expr_name(expr), names);
    }

    fn leaf_names(&self, ty: &Ty, name: String, names: &mut Vec<String>) {
        match self.parts(ty) {
            Some(parts) if self.var_type(ty).is_none() => {
                for (part, ty) in parts {
                    self.leaf_names(&ty, format!("{name}.{part}"), names);
                }
            }
            _ => names.push(name),
        }
    }

    fn expr_name(&self, expr: &Expr) -> String {
        match &expr.kind {
            ExprKind::Local(id) => {
                self.hir.locals.get(id.index()).map(|local| local.name.clone()).unwrap_or_default()
            }
            ExprKind::Field(base, at) => {
                let own = self.hir.fields(&base.ty).get(*at).map(|field| field.name.as_str());
                format!("{}.{}", self.expr_name(base), own.unwrap_or_default())
            }
            ExprKind::Index(base, at) => {
                let at = self.try_const(at).ok().flatten();
                let at = at.and_then(|at| at.as_int().and_then(ToPrimitive::to_u32));
                at.map_or_else(String::new, |at| format!("{}[{at}]", self.expr_name(base)))
            }
            ExprKind::Slice(base, hi, lo) => format!("{}[{hi}:{lo}]", self.expr_name(base)),
            ExprKind::Cast(base) => self.expr_name(base),
            _ => String::new(),
        }
    }

    /// Settles the messages of hash functions, when all calls are known: a selector's are the keys of its
    /// table; symmetric fields are found by their names.
    pub(super) fn settle_hashes(&mut self) -> Option<()> {
        for at in 0..self.out.hashes.len() {
            let id = HashId::from_index(at);
            if !self.tna.hashed.contains(&id) {
                let fields = self.selector_fields(id);
                let hash = self.out.hashes.get_mut(at)?;
                (hash.fields, hash.used) = (fields, u64::MAX);
            }
        }
        for (id, one, other, span) in std::mem::take(&mut self.tna.symmetric) {
            let hash = self.out.hashes.get_mut(id.index())?;
            let place = |name: &str| hash.fields.iter().position(|field| is_named(&field.name, name));
            let (Some(a), Some(b)) = (place(&one), place(&other)) else {
                let missing = if place(&one).is_none() { one } else { other };
                let known: Vec<&str> = hash.fields.iter().map(|field| field.name.as_str()).collect();
                let help = format!("its fields are {}", known.join(", "));
                let message = format!("`{missing}` is not a field of this hash");
                self.push(Diagnostic::error(span, message).with_help(help));
                return None;
            };
            let taken = hash.symmetric.iter().any(|&(c, d)| [a, b].iter().any(|x| *x == c || *x == d));
            let same = hash.fields.get(a).map(|f| f.width) == hash.fields.get(b).map(|f| f.width);
            if a == b || taken || !same {
                let message = format!("`{one}` and `{other}` cannot be symmetric");
                let help = "both fields must have the same width, and each can be named only once";
                return self.refused(span, message, help);
            }
            hash.symmetric.push((a, b));
        }
        Some(())
    }

    fn selector_fields(&self, id: HashId) -> Vec<HashField> {
        let of_hash = |profile: &p4cc_ir::Profile| matches!(profile.selector, Some((HashAlgorithm::Object(other), _)) if other == id);
        let table = self.out.tables.iter().find(|table| {
            table.profile.and_then(|id| self.out.profiles.get(id.index())).is_some_and(of_hash)
        });
        let keys = table.into_iter().flat_map(|table| &table.keys);
        let keys = keys.filter(|key| key.kind == MatchKind::Selector);
        keys.filter_map(|key| {
            let width = self.out.vars.get(key.var.index())?.ty.width();
            Some(HashField { name: key.cp.name.clone(), width })
        })
        .collect()
    }
}

/// Whether a name, as written, is that of a field; the front of either may be left out.
fn is_named(field: &str, name: &str) -> bool {
    let ends = |long: &str, short: &str| {
        long.strip_suffix(short).is_some_and(|front| front.is_empty() || front.ends_with('.'))
    };
    !field.is_empty() && (ends(field, name) || ends(name, field))
}
