//! Types and what can be said of one without knowing the program.

use super::hir::{AggId, EnumId, ExternId, NewTypeId, Program, TabId, TypeVar};
use p4cc_syntax::ast::{AggregateKind, Direction};
use std::collections::BTreeMap;
use std::rc::Rc;

/// A type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ty {
    /// An error was reported; goes with everything.
    Unknown,
    /// `void`
    Void,
    /// `bool`
    Bool,
    /// `error`
    Error,
    /// `match_kind`
    MatchKind,
    /// `string`
    String,
    /// `int`: compile-time, of any size.
    Integer,
    /// `bit<W>`
    Bit(u32),
    /// `int<W>`
    Int(u32),
    /// `varbit<W>`
    Varbit(u32),
    /// An enum, serializable or not.
    Enum(EnumId),
    /// A struct, header or union.
    Aggregate(AggId),
    /// A generic struct, header or union whose type arguments
    /// hold type variables: position in the checker's list.
    Open(usize, Rc<[Ty]>),
    /// A `type`.
    NewType(NewTypeId),
    /// A header stack, or an array of other values.
    Stack(Rc<Ty>, u32),
    /// `tuple<...>`, and what a list expression is before its type is known.
    Tuple(Rc<[Ty]>),
    /// `list<T>`
    List(Rc<Ty>),
    /// What a structure expression is before its type is known.
    Record(Rc<[(String, Ty)]>),
    /// An extern object.
    Extern(ExternId, Rc<[Ty]>),
    /// A parser or control.
    Block(Rc<BlockType>),
    /// A package, by name.
    Package(Rc<str>),
    /// A type variable.
    Var(TypeVar),
    /// What `table.apply()` gives.
    ApplyResult(TabId),
    /// What `table.apply().action_run` gives.
    ActionRun(TabId),
    /// `{#}` before its type is known.
    InvalidHeader,
    /// `...` before its type is known.
    Dots,
    /// `_` as a type argument.
    DontCare,
}

/// Type of a parser or control, or of a package's parameter that takes one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BlockType {
    /// A parser, else a control.
    pub is_parser: bool,
    /// Name.
    pub name: String,
    /// Run-time parameters.
    pub params: Vec<(Direction, Ty)>,
    /// Their names.
    pub param_names: Vec<String>,
    /// Parameters, from the first on, that none may leave out: the others are `@optional`.
    pub least: usize,
}

impl BlockType {
    /// Whether a block of another type has as many parameters as this one asks for.
    pub fn takes_as_many(&self, found: &BlockType) -> bool {
        (self.least..=self.params.len()).contains(&found.params.len())
    }
}

/// What type variables stand for.
pub type Substitution = BTreeMap<TypeVar, Ty>;

impl Ty {
    /// `bit<W>` or `int<W>`.
    pub fn is_fixed(&self) -> bool {
        matches!(self, Ty::Bit(_) | Ty::Int(_))
    }

    /// An integer of any kind.
    pub fn is_integral(&self) -> bool {
        matches!(self, Ty::Bit(_) | Ty::Int(_) | Ty::Integer)
    }

    /// Width of `bit<W>` or `int<W>`.
    pub fn fixed_width(&self) -> Option<u32> {
        match self {
            Ty::Bit(width) | Ty::Int(width) => Some(*width),
            _ => None,
        }
    }

    /// Replaces type variables.
    pub fn subst(&self, with: &Substitution) -> Ty {
        match self {
            Ty::Var(var) => with.get(var).cloned().unwrap_or_else(|| self.clone()),
            Ty::Stack(elem, size) => Ty::Stack(Rc::new(elem.subst(with)), *size),
            Ty::Tuple(items) => Ty::Tuple(items.iter().map(|ty| ty.subst(with)).collect()),
            Ty::List(elem) => Ty::List(Rc::new(elem.subst(with))),
            Ty::Extern(id, args) => Ty::Extern(*id, args.iter().map(|ty| ty.subst(with)).collect()),
            Ty::Open(index, args) => Ty::Open(*index, args.iter().map(|ty| ty.subst(with)).collect()),
            Ty::Block(block) => Ty::Block(Rc::new(BlockType {
                is_parser: block.is_parser,
                name: block.name.clone(),
                params: block.params.iter().map(|(dir, ty)| (*dir, ty.subst(with))).collect(),
                param_names: block.param_names.clone(),
                least: block.least,
            })),
            _ => self.clone(),
        }
    }

    /// Whether a type variable occurs.
    pub fn has_vars(&self) -> bool {
        match self {
            Ty::Var(_) => true,
            Ty::Stack(elem, _) | Ty::List(elem) => elem.has_vars(),
            Ty::Tuple(items) | Ty::Extern(_, items) | Ty::Open(_, items) => items.iter().any(Ty::has_vars),
            Ty::Block(block) => block.params.iter().any(|(_, ty)| ty.has_vars()),
            _ => false,
        }
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
    pub fn fields(&self, ty: &Ty) -> &[super::hir::Field] {
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
}
