//! How large types are, counted before anything walks through them.
//!
//! Types share their parts, so a few lines of source describe one that nobody could write out: a tuple of ten
//! of the tuple before. Invariant: every type that the checker hands out is within the bounds of
//! [`p4cc_ir::limits`], so that code may walk through it part by part. The same holds for constants, whose
//! value takes the place of their name.

use super::hir::{Expr, ExprKind, Field};
use super::ty::Ty;
use super::{Checker, MAX_DEPTH};
use p4cc_budget::Resource;
use p4cc_ir::limits::{MAX_TYPE_DEPTH, MAX_TYPE_LEAVES, MAX_TYPE_NODES};
use p4cc_syntax::{Diagnostic, Span};

/// Size of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TypeSize {
    /// Variables that a value takes.
    leaves: u64,
    /// Types that it is written with; the fields of a struct do not count.
    nodes: u64,
    /// Longest way to a leaf, through fields and `type` declarations.
    depth: u32,
}

impl TypeSize {
    const LEAF: Self = Self { leaves: 1, nodes: 1, depth: 1 };
    const EMPTY: Self = Self { leaves: 0, nodes: 1, depth: 1 };

    /// With one more part.
    fn and(self, part: Self) -> Self {
        Self {
            leaves: self.leaves.saturating_add(part.leaves),
            nodes: self.nodes.saturating_add(part.nodes),
            depth: self.depth.max(part.depth.saturating_add(1)),
        }
    }

    /// With type arguments, of which no value is made.
    fn with_arguments(self, size: Self) -> Self {
        Self { nodes: self.nodes.saturating_add(size.nodes), depth: self.depth.max(size.depth), ..self }
    }

    fn excess(self) -> Option<Excess> {
        [
            (Excess::Leaves(self.leaves), self.leaves > MAX_TYPE_LEAVES),
            (Excess::Nodes(self.nodes), self.nodes > MAX_TYPE_NODES),
            (Excess::Depth(self.depth), self.depth > MAX_TYPE_DEPTH),
        ]
        .into_iter()
        .find_map(|(excess, exceeded)| exceeded.then_some(excess))
    }
}

/// The bound that a type exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Excess {
    Leaves(u64),
    Nodes(u64),
    Depth(u32),
}

impl Excess {
    fn diagnostic(self, what: &str, span: Span) -> Diagnostic {
        let (message, remedy) = match self {
            Self::Leaves(leaves) => (
                format!("{what} takes {leaves} variables; at most {MAX_TYPE_LEAVES} are allowed"),
                "reduce its stacks, or nest fewer structs and tuples",
            ),
            Self::Nodes(nodes) => (
                format!("{what} consists of {nodes} types; at most {MAX_TYPE_NODES} are allowed"),
                "declare structs for its parts",
            ),
            Self::Depth(depth) => (
                format!("{what} is nested {depth} types deep; at most {MAX_TYPE_DEPTH} are allowed"),
                "nest fewer types",
            ),
        };
        Diagnostic::error(span, message).with_help(remedy)
    }
}

impl Checker {
    /// A type that was just made of others, or no type if it exceeds a bound.
    pub(super) fn sized(&mut self, ty: Ty, span: Span) -> Ty {
        let size = self.size_of(&ty);
        if self.charge(Resource::Steps, size.nodes, span).is_none() {
            return Ty::Unknown;
        }
        match size.excess() {
            None => ty,
            Some(excess) => {
                self.push(excess.diagnostic("the type", span));
                Ty::Unknown
            }
        }
    }

    /// Size of an aggregate; with `None` it exceeds a bound, which is reported.
    pub(super) fn aggregate_size(
        &mut self,
        name: &str,
        type_args: &[Ty],
        fields: &[Field],
        span: Span,
    ) -> Option<TypeSize> {
        let parts = fields.iter().map(|field| self.size_of(&field.ty));
        let size = parts.fold(TypeSize::EMPTY, TypeSize::and);
        // A struct without fields still is something that is passed about.
        let size = TypeSize { leaves: size.leaves.max(1), nodes: 1, ..size };
        let size = type_args.iter().map(|arg| self.size_of(arg)).fold(size, TypeSize::with_arguments);
        self.within_bounds(name, size, span)?;
        self.charge(Resource::Steps, size.leaves, span)?;
        Some(size)
    }

    /// Size of a `type`; with `None` it is nested too deep, which is reported.
    pub(super) fn newtype_size(&mut self, name: &str, inner: &Ty, span: Span) -> Option<TypeSize> {
        let size = TypeSize { nodes: 1, ..TypeSize::EMPTY.and(self.size_of(inner)) };
        self.within_bounds(name, size, span)?;
        Some(size)
    }

    /// The value of a constant, where its name stands.
    pub(super) fn constant(&mut self, value: &Expr, span: Span) -> Expr {
        let (nodes, depth) = extent(value);
        if depth > MAX_DEPTH {
            return self.poison_error(span, format!("constants are nested deeper than {MAX_DEPTH} levels"));
        }
        match self.charge(Resource::TreeNodes, nodes, span) {
            Some(()) => Expr { span, ..value.clone() },
            None => Self::poison(span),
        }
    }

    fn within_bounds(&mut self, name: &str, size: TypeSize, span: Span) -> Option<()> {
        let Some(excess) = size.excess() else { return Some(()) };
        self.push(excess.diagnostic(&format!("`{name}`"), span));
        None
    }

    /// Size of a type whose parts are within the bounds.
    fn size_of(&self, ty: &Ty) -> TypeSize {
        match ty {
            Ty::Aggregate(id) => self.aggregate_sizes.get(id.index()).copied().unwrap_or(TypeSize::LEAF),
            Ty::NewType(id) => self.newtype_sizes.get(id.index()).copied().unwrap_or(TypeSize::LEAF),
            Ty::Stack(elem, count) => {
                let elem = self.size_of(elem);
                let leaves = elem.leaves.saturating_mul(u64::from(*count));
                TypeSize::EMPTY.and(TypeSize { leaves, ..elem })
            }
            Ty::List(elem) => TypeSize::LEAF.with_arguments(self.size_of(elem)),
            Ty::Tuple(items) => {
                items.iter().map(|item| self.size_of(item)).fold(TypeSize::EMPTY, TypeSize::and)
            }
            Ty::Open(_, args) | Ty::Extern(_, args) => {
                args.iter().map(|arg| self.size_of(arg)).fold(TypeSize::LEAF, TypeSize::with_arguments)
            }
            Ty::Block(block) => {
                let params = block.params.iter().map(|(_, ty)| self.size_of(ty));
                params.fold(TypeSize::LEAF, TypeSize::with_arguments)
            }
            _ => TypeSize::LEAF,
        }
    }
}

/// Number of nodes of an expression and its height.
fn extent(expr: &Expr) -> (u64, u32) {
    let mut children: Vec<&Expr> = Vec::new();
    match &expr.kind {
        ExprKind::Field(a, _)
        | ExprKind::StackNext(a)
        | ExprKind::StackLast(a)
        | ExprKind::StackLastIndex(a)
        | ExprKind::Slice(a, _, _)
        | ExprKind::Unary(_, a)
        | ExprKind::Cast(a) => children.push(a),
        ExprKind::Index(a, b)
        | ExprKind::PlusSlice(a, b, _)
        | ExprKind::Binary(_, a, b)
        | ExprKind::Mask(a, b)
        | ExprKind::Range(a, b) => children.extend([&**a, &**b]),
        ExprKind::Conditional(a, b, c) => children.extend([&**a, &**b, &**c]),
        ExprKind::Aggregate(items) | ExprKind::AggregateInOrder(items, _) => children.extend(items),
        ExprKind::Call(call) => children.extend(call.args.iter().flatten()),
        ExprKind::Construct(made) => children.extend(made.args.iter().flatten()),
        ExprKind::Poison
        | ExprKind::Const(_)
        | ExprKind::Local(_)
        | ExprKind::Instance(_)
        | ExprKind::InvalidHeader
        | ExprKind::Default
        | ExprKind::This
        | ExprKind::Hit { .. }
        | ExprKind::ActionRun(_)
        | ExprKind::Any
        | ExprKind::ValueSet(_) => {}
    }
    let parts = children.into_iter().map(extent);
    parts.fold((1, 1), |(nodes, depth), (more, below)| (nodes + more, depth.max(below + 1)))
}
