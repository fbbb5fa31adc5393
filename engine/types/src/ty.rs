//! Types and what can be said of one without knowing the program.

use super::ids::{AggId, EnumId, ExternId, NewTypeId, TabId, TypeVar};
use p4cc_syntax::ast::Direction;
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
