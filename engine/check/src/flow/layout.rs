//! Which leaves and which headers a variable is made of, counted from its start.

use num_traits::ToPrimitive;
use p4cc_types::hir::{Expr, ExprKind, Program};
use p4cc_types::ids::{AggId, LocalId};
use p4cc_types::ty::Ty;
use p4cc_types::value::Value;
use std::ops::Range;

/// Leaves of a variable that are told apart; a larger variable is not followed.
const MAX_LEAVES: usize = 4096;

/// How many leaves and headers a type has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Size {
    /// Values without parts.
    pub leaves: usize,
    /// Headers, each with a validity of its own.
    pub headers: usize,
}

/// A part of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Region {
    /// Which variable.
    pub local: LocalId,
    /// Its leaves in this part.
    pub leaves: Range<usize>,
    /// Its headers in this part.
    pub headers: Range<usize>,
}

impl Region {
    fn part(&self, at: Size, size: Size) -> Region {
        let leaf = self.leaves.start + at.leaves;
        let header = self.headers.start + at.headers;
        Region { local: self.local, leaves: leaf..leaf + size.leaves, headers: header..header + size.headers }
    }
}

/// Sizes of types, each aggregate's found once.
pub(super) struct Layouts<'a> {
    program: &'a Program,
    aggregates: Vec<Size>,
    /// Of each aggregate, where its fields begin.
    starts: Vec<Vec<Size>>,
}

impl<'a> Layouts<'a> {
    /// For a program; aggregates name only those before them.
    pub fn new(program: &'a Program) -> Self {
        let count = program.aggregates.len();
        let mut made =
            Self { program, aggregates: Vec::with_capacity(count), starts: Vec::with_capacity(count) };
        for index in 0..program.aggregates.len() {
            let ty = Ty::Aggregate(AggId::from_index(index));
            // A header comes before the headers inside it.
            let mut size = Size { leaves: 0, headers: usize::from(program.is_header(&ty)) };
            let mut starts = Vec::new();
            for field in program.fields(&ty) {
                starts.push(size);
                let part = made.size(&field.ty);
                size.leaves = size.leaves.saturating_add(part.leaves).min(MAX_LEAVES + 1);
                size.headers = size.headers.saturating_add(part.headers).min(MAX_LEAVES + 1);
            }
            if program.is_union(&ty) {
                // Its members share their place: followed as one value that is always there.
                size = Size { leaves: 1, headers: 0 };
            }
            made.starts.push(starts);
            made.aggregates.push(size);
        }
        made
    }

    /// Leaves and headers of a type.
    pub fn size(&self, ty: &Ty) -> Size {
        match ty {
            Ty::Aggregate(id) => {
                self.aggregates.get(id.index()).copied().unwrap_or(Size { leaves: 1, headers: 0 })
            }
            Ty::Stack(elem, count) => {
                let elem = self.size(elem);
                let times = |n: usize| n.saturating_mul(*count as usize).min(MAX_LEAVES + 1);
                Size { leaves: times(elem.leaves), headers: times(elem.headers) }
            }
            Ty::Tuple(items) => items.iter().fold(Size::default(), |sum, item| {
                let part = self.size(item);
                Size {
                    leaves: (sum.leaves + part.leaves).min(MAX_LEAVES + 1),
                    headers: (sum.headers + part.headers).min(MAX_LEAVES + 1),
                }
            }),
            _ => Size { leaves: 1, headers: 0 },
        }
    }

    /// All of a variable; `None` for one that is too large to follow.
    pub fn whole(&self, local: LocalId) -> Option<Region> {
        let size = self.size(&self.program.locals.get(local.index())?.ty);
        let small = size.leaves <= MAX_LEAVES && size.headers <= MAX_LEAVES;
        small.then_some(Region { local, leaves: 0..size.leaves, headers: 0..size.headers })
    }

    /// The part of a variable that an expression names, if it is known which.
    pub fn place(&self, expr: &Expr) -> Option<Region> {
        match &expr.kind {
            ExprKind::Local(id) => self.whole(*id),
            ExprKind::Field(base, at) => {
                let region = self.place(base)?;
                if self.program.is_union(&base.ty) {
                    return Some(region);
                }
                let (start, size) = self.field(&base.ty, *at)?;
                Some(region.part(start, size))
            }
            ExprKind::Index(base, index) => {
                let (Ty::Stack(elem, count), ExprKind::Const(Value::Int(number))) = (&base.ty, &index.kind)
                else {
                    return None;
                };
                let at = number.to_u32().filter(|at| at < count)? as usize;
                let size = self.size(elem);
                let start = Size { leaves: size.leaves * at, headers: size.headers * at };
                Some(self.place(base)?.part(start, size))
            }
            _ => None,
        }
    }

    /// The part of a variable that holds what an expression names, which may be more than that.
    pub fn holder(&self, expr: &Expr) -> Option<Region> {
        self.place(expr).or_else(|| match &expr.kind {
            ExprKind::Field(base, _)
            | ExprKind::Index(base, _)
            | ExprKind::Slice(base, _, _)
            | ExprKind::PlusSlice(base, _, _)
            | ExprKind::StackNext(base)
            | ExprKind::StackLast(base)
            | ExprKind::StackLastIndex(base) => self.holder(base),
            _ => None,
        })
    }

    /// Where a field or item begins, and its size; beyond [`MAX_LEAVES`] places are no longer told apart.
    pub fn field(&self, ty: &Ty, at: usize) -> Option<(Size, Size)> {
        match ty {
            Ty::Aggregate(id) => {
                let start = self.starts.get(id.index())?.get(at)?;
                Some((*start, self.size(&self.program.fields(ty).get(at)?.ty)))
            }
            Ty::Tuple(items) => {
                let size = self.size(items.get(at)?);
                let parts = items.iter().take(at).map(|item| self.size(item));
                let start = parts.fold(Size::default(), |sum, part| Size {
                    leaves: sum.leaves + part.leaves,
                    headers: sum.headers + part.headers,
                });
                Some((start, size))
            }
            _ => None,
        }
    }
}
