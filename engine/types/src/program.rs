//! What a typed program says of its types, parameters and calls.

use super::hir::{Call, Expr, Field, LocalKind, Program, Sig, SigParam};
use super::ids::LocalId;
use super::ty::Ty;
use p4cc_syntax::ast::{AggregateKind, Direction};

impl Call {
    /// The arguments given with their positions, in the order of their evaluation.
    pub fn in_evaluation_order(&self) -> impl Iterator<Item = (usize, &Expr)> {
        let positions = self.order.positions(self.args.len()).into_iter();
        positions.filter_map(|at| Some((at, self.args.get(at)?.as_ref()?)))
    }
}

impl Program {
    /// Kind of an aggregate type.
    pub fn aggregate_kind(&self, ty: &Ty) -> Option<AggregateKind> {
        match ty {
            Ty::Aggregate(id) => self.aggregates.get(id.index()).map(|agg| agg.kind),
            _ => None,
        }
    }

    /// Whether a value of the type is a header.
    pub fn is_header(&self, ty: &Ty) -> bool {
        self.aggregate_kind(ty) == Some(AggregateKind::Header)
    }

    /// Whether a value of the type is a header union.
    pub fn is_union(&self, ty: &Ty) -> bool {
        self.aggregate_kind(ty) == Some(AggregateKind::HeaderUnion)
    }

    /// Whether a value of the type is a header stack, of headers or of unions.
    pub fn is_stack(&self, ty: &Ty) -> bool {
        matches!(ty, Ty::Stack(elem, _) if self.is_header(elem) || self.is_union(elem))
    }

    /// Whether a value of the type is an array of other values than headers.
    pub fn is_array(&self, ty: &Ty) -> bool {
        matches!(ty, Ty::Stack(..)) && !self.is_stack(ty)
    }

    /// Whether a value of the type is a struct.
    pub fn is_struct(&self, ty: &Ty) -> bool {
        self.aggregate_kind(ty) == Some(AggregateKind::Struct)
    }

    /// The type that a `type` or serializable enum stands for; other types themselves.
    pub fn underlying<'a>(&'a self, ty: &'a Ty) -> &'a Ty {
        match ty {
            Ty::NewType(id) => self.newtypes.get(id.index()).map_or(ty, |new| self.underlying(&new.ty)),
            Ty::Enum(id) => self.enums.get(id.index()).and_then(|e| e.underlying.as_ref()).unwrap_or(ty),
            _ => ty,
        }
    }

    /// What a `type` stands for, and another type itself: an enum stays an enum.
    pub fn behind_type<'a>(&'a self, ty: &'a Ty) -> &'a Ty {
        match ty {
            Ty::NewType(id) => self.newtypes.get(id.index()).map_or(ty, |new| self.behind_type(&new.ty)),
            _ => ty,
        }
    }

    /// Underlying type of a serializable enum.
    pub fn enum_underlying(&self, ty: &Ty) -> Option<&Ty> {
        match ty {
            Ty::Enum(id) => self.enums.get(id.index()).and_then(|e| e.underlying.as_ref()),
            _ => None,
        }
    }

    /// Fields of a struct, header or union.
    pub fn fields(&self, ty: &Ty) -> &[Field] {
        match ty {
            Ty::Aggregate(id) => self.aggregates.get(id.index()).map_or(&[], |agg| &agg.fields),
            _ => &[],
        }
    }

    /// Bits that a value takes on the wire, if it has a fixed number.
    pub fn width_bits(&self, ty: &Ty) -> Option<u32> {
        match ty {
            Ty::Bool => Some(1),
            Ty::Bit(width) | Ty::Int(width) => Some(*width),
            Ty::Enum(_) | Ty::NewType(_) => {
                let under = self.underlying(ty);
                if under == ty { None } else { self.width_bits(under) }
            }
            Ty::Aggregate(_) => self
                .fields(ty)
                .iter()
                .try_fold(0u32, |sum, field| sum.checked_add(self.width_bits(&field.ty)?)),
            Ty::Tuple(items) => {
                items.iter().try_fold(0u32, |sum, item| sum.checked_add(self.width_bits(item)?))
            }
            Ty::Stack(elem, size) => self.width_bits(elem)?.checked_mul(*size),
            _ => None,
        }
    }

    /// A type as the user writes it.
    pub fn show(&self, ty: &Ty) -> String {
        let list = |items: &[Ty]| items.iter().map(|item| self.show(item)).collect::<Vec<_>>().join(", ");
        let name = |name: Option<&String>| name.cloned().unwrap_or_else(|| "?".to_owned());
        match ty {
            Ty::Unknown => "?".to_owned(),
            Ty::Void => "void".to_owned(),
            Ty::Bool => "bool".to_owned(),
            Ty::Error => "error".to_owned(),
            Ty::MatchKind => "match_kind".to_owned(),
            Ty::String => "string".to_owned(),
            Ty::Integer => "int".to_owned(),
            Ty::Bit(width) => format!("bit<{width}>"),
            Ty::Int(width) => format!("int<{width}>"),
            Ty::Varbit(width) => format!("varbit<{width}>"),
            Ty::Enum(id) => name(self.enums.get(id.index()).map(|e| &e.name)),
            Ty::Aggregate(id) => name(self.aggregates.get(id.index()).map(|agg| &agg.name)),
            Ty::NewType(id) => name(self.newtypes.get(id.index()).map(|new| &new.name)),
            Ty::Stack(elem, size) => format!("{}[{size}]", self.show(elem)),
            Ty::Tuple(items) => format!("tuple<{}>", list(items)),
            Ty::List(elem) => format!("list<{}>", self.show(elem)),
            Ty::Record(fields) => {
                let fields: Vec<_> =
                    fields.iter().map(|(name, ty)| format!("{name}: {}", self.show(ty))).collect();
                format!("{{{}}}", fields.join(", "))
            }
            Ty::Extern(id, args) => {
                let base = name(self.externs.get(id.index()).map(|ext| &ext.name));
                if args.is_empty() { base } else { format!("{base}<{}>", list(args)) }
            }
            Ty::Open(_, args) => format!("?<{}>", list(args)),
            Ty::Block(block) => block.name.clone(),
            Ty::Package(name) => name.to_string(),
            Ty::Var(var) => format!("T{}", var.0),
            Ty::ApplyResult(_) => "result of apply()".to_owned(),
            Ty::ActionRun(_) => "action_run".to_owned(),
            Ty::InvalidHeader => "{#}".to_owned(),
            Ty::Dots => "...".to_owned(),
            Ty::DontCare => "_".to_owned(),
        }
    }

    /// Parameters of the method of an extern object that takes so many arguments.
    pub fn method_params(&self, object: &Expr, name: &str, count: usize) -> &[SigParam] {
        let Ty::Extern(id, _) = &object.ty else { return &[] };
        let methods = self.externs.get(id.index()).map_or(&[][..], |ext| &ext.methods);
        let fits = |method: &&Sig| method.name == name && method.params.len() == count;
        methods.iter().find(fits).map_or(&[], |method| &method.params)
    }

    /// Direction of a parameter; none for other locals.
    pub fn direction(&self, param: LocalId) -> Direction {
        match self.locals.get(param.index()).map(|local| local.kind) {
            Some(LocalKind::Param(direction)) => direction,
            _ => Direction::None,
        }
    }
}
