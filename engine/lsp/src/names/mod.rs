//! What the names of a program stand for: declarations, scopes, uses and types as written.
//!
//! The checker stops at what it cannot type, and forgets names as written; an editor asks while half a line
//! is typed. So this is a walk of its own over the syntax tree, which the parser keeps whole around an
//! error: it reports nothing, and what it cannot tell is [`Ty::Unknown`].
//!
//! Invariants: a declaration comes after those that it names, so that following types ends; all work is
//! linear in the tree, since named types are never written out.

mod build;
mod expr;
mod types;
mod value;

pub use build::build;

use p4cc_syntax::Span;
use p4cc_syntax::ast::Direction;
use std::collections::BTreeMap;

/// Index of a declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DefId(u32);

/// What a declaration declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefKind {
    /// A header type.
    Header,
    /// A struct type.
    Struct,
    /// A header union type.
    Union,
    /// An enum.
    Enum,
    /// A member of an enum.
    EnumMember,
    /// A member of `error`.
    ErrorMember,
    /// A match kind.
    MatchKind,
    /// `typedef` or `type`.
    Typedef,
    /// A field.
    Field,
    /// A constant.
    Const,
    /// A variable.
    Variable,
    /// A parameter.
    Param(Direction),
    /// An instance.
    Instance,
    /// An action.
    Action,
    /// A table.
    Table,
    /// A control with or without a body.
    Control,
    /// A parser with or without a body.
    Parser,
    /// A parser state.
    State,
    /// An extern object type.
    Extern,
    /// A method of one.
    Method,
    /// A constructor of one.
    Constructor,
    /// A function.
    Function,
    /// A package type.
    Package,
    /// A type parameter.
    TypeParam,
    /// A parser value set.
    ValueSet,
}

impl DefKind {
    /// As a person calls it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Header => "header",
            Self::Struct => "struct",
            Self::Union => "header_union",
            Self::Enum => "enum",
            Self::EnumMember => "member",
            Self::ErrorMember => "error",
            Self::MatchKind => "match_kind",
            Self::Typedef => "typedef",
            Self::Field => "field",
            Self::Const => "const",
            Self::Variable => "variable",
            Self::Param(_) => "parameter",
            Self::Instance => "instance",
            Self::Action => "action",
            Self::Table => "table",
            Self::Control => "control",
            Self::Parser => "parser",
            Self::State => "state",
            Self::Extern => "extern",
            Self::Method => "method",
            Self::Constructor => "constructor",
            Self::Function => "function",
            Self::Package => "package",
            Self::TypeParam => "type parameter",
            Self::ValueSet => "value_set",
        }
    }

    /// Whether the name is one of a type.
    pub const fn is_type(self) -> bool {
        use DefKind::{Control, Enum, Extern, Header, Package, Parser, Struct, TypeParam, Typedef, Union};
        matches!(
            self,
            Header | Struct | Union | Enum | Typedef | Extern | Control | Parser | Package | TypeParam
        )
    }
}

/// A type, named types by their declaration.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Ty {
    /// Not known.
    #[default]
    Unknown,
    /// One without parameters, as written: `bool`, `int`, `string`, `void`, `match_kind`.
    Plain(&'static str),
    /// `error`
    Error,
    /// `bit<W>`
    Bit(Option<u32>),
    /// `int<W>`
    Int(Option<u32>),
    /// `varbit<W>`
    Varbit(Option<u32>),
    /// A name with type arguments.
    Named(DefId, Vec<Ty>),
    /// `T[n]`
    Stack(Box<Ty>, Option<u32>),
    /// `tuple<...>`
    Tuple(Vec<Ty>),
    /// `list<T>`
    List(Box<Ty>),
    /// The name of a type where a value could stand.
    TypeName(Box<Ty>),
    /// What `table.apply()` gives.
    Applied(DefId),
}

/// A declaration.
#[derive(Clone, Debug)]
pub struct Def {
    /// Name.
    pub name: String,
    /// What it is.
    pub kind: DefKind,
    /// Place of the name.
    pub span: Span,
    /// The whole declaration.
    pub whole: Span,
    /// Type of a value, result of a function, what a type name stands for.
    pub ty: Ty,
    /// Declaration that this is part of.
    pub parent: Option<DefId>,
    /// Parts: fields, members, parameters, methods, states, locals of a control.
    pub children: Vec<DefId>,
    /// Value of a constant or a member of an enum.
    pub value: Option<i128>,
    /// Width of a type or value, if it has one.
    pub width: Option<u64>,
    /// Keys of a table, as written.
    pub keys: Vec<(Span, String)>,
    /// Actions of a table.
    pub actions: Vec<DefId>,
}

/// A stretch of the program in which some names are known.
#[derive(Clone, Debug)]
pub struct Scope {
    /// From its beginning to its end.
    pub span: Span,
    /// The scope around it.
    pub parent: Option<usize>,
    /// Its names in order.
    pub defs: Vec<DefId>,
}

/// A place where a name is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    /// Place of the name.
    pub span: Span,
    /// What it stands for.
    pub def: DefId,
}

/// All that the names of a program stand for.
#[derive(Clone, Debug, Default)]
pub struct Names {
    defs: Vec<Def>,
    scopes: Vec<Scope>,
    /// In order of place; declarations are among them.
    uses: Vec<Use>,
    members: BTreeMap<DefId, BTreeMap<String, DefId>>,
    errors: BTreeMap<String, DefId>,
    match_kinds: BTreeMap<String, DefId>,
}

impl Names {
    /// A declaration.
    pub fn def(&self, id: DefId) -> &Def {
        &self.defs[id.0 as usize]
    }

    /// All declarations in order.
    pub fn defs(&self) -> impl Iterator<Item = (DefId, &Def)> {
        self.defs.iter().enumerate().map(|(at, def)| (DefId(at as u32), def))
    }

    /// All uses in order of place, declarations among them.
    pub fn uses(&self) -> &[Use] {
        &self.uses
    }

    /// The use that covers an offset, or ends there.
    pub fn use_at(&self, offset: u32) -> Option<Use> {
        let after = self.uses.partition_point(|one| one.span.start <= offset);
        self.uses[..after].iter().rev().take(2).find(|one| offset <= one.span.end).copied()
    }

    /// The innermost scope around an offset.
    pub fn scope_at(&self, offset: u32) -> usize {
        let around = |(_, scope): &(usize, &Scope)| scope.span.start < offset && offset <= scope.span.end;
        let inner = self.scopes.iter().enumerate().skip(1).filter(around);
        inner.min_by_key(|(_, scope)| scope.span.end - scope.span.start).map_or(0, |(at, _)| at)
    }

    /// Names in sight at an offset, the innermost first; a hidden one is left out.
    pub fn visible(&self, offset: u32) -> Vec<DefId> {
        let mut seen = std::collections::BTreeSet::new();
        let mut found = Vec::new();
        let mut at = Some(self.scope_at(offset));
        while let Some(scope) = at.and_then(|at| self.scopes.get(at)) {
            let mut here = Vec::new();
            for id in scope.defs.iter().rev() {
                let def = self.def(*id);
                // A state is known before it is declared.
                if (def.span.start < offset || def.kind == DefKind::State)
                    && !seen.contains(def.name.as_str())
                {
                    here.push(*id);
                }
            }
            seen.extend(here.iter().map(|id| self.def(*id).name.as_str()));
            found.extend(here);
            at = scope.parent;
        }
        found
    }

    /// What a name stands for at an offset: several functions of one name.
    pub fn look_up(&self, name: &str, offset: u32) -> Vec<DefId> {
        let mut at = Some(self.scope_at(offset));
        while let Some(scope) = at.and_then(|at| self.scopes.get(at)) {
            let known = |id: &&DefId| {
                let def = self.def(**id);
                def.name == name && (def.span.start < offset || def.kind == DefKind::State)
            };
            let found: Vec<DefId> = scope.defs.iter().filter(known).copied().collect();
            if !found.is_empty() {
                return found;
            }
            at = scope.parent;
        }
        Vec::new()
    }

    /// Names of the scope that a declaration is in.
    pub fn beside(&self, id: DefId) -> &[DefId] {
        self.home(id).map_or(&[], |scope| &scope.defs)
    }

    /// What another name stands for that is used in the scope of a declaration.
    pub fn used_around(&self, id: DefId, name: &str) -> Option<DefId> {
        let span = self.home(id)?.span;
        let first = self.uses.partition_point(|one| one.span.start < span.start);
        let inside = self.uses[first..].iter().take_while(|one| one.span.end <= span.end);
        let found = inside.map(|one| one.def).find(|other| self.def(*other).name == name);
        found.filter(|other| self.home(*other).is_some())
    }

    fn home(&self, id: DefId) -> Option<&Scope> {
        self.scopes.iter().find(|scope| scope.defs.contains(&id))
    }

    /// Members of `error`.
    pub fn errors(&self) -> impl Iterator<Item = DefId> {
        self.errors.values().copied()
    }

    /// Match kinds.
    pub fn match_kinds(&self) -> impl Iterator<Item = DefId> {
        self.match_kinds.values().copied()
    }

    /// A part of a declaration by its name: a field, a member, a method, a parameter.
    fn part(&self, of: DefId, name: &str) -> Option<DefId> {
        self.members.get(&of)?.get(name).copied()
    }

    /// Parameters of a function, an action, a control, a parser, a method.
    pub fn params(&self, id: DefId) -> impl Iterator<Item = &Def> {
        let params = self.def(id).children.iter().map(|child| self.def(*child));
        params.filter(|def| matches!(def.kind, DefKind::Param(_)))
    }
}
