//! What expressions and places of a document stand for.

use p4cc_ir::{HeaderId, Operand, StackId, UnionId, VarId, VarType};

/// A header.
#[derive(Clone, Debug)]
pub(super) enum HeaderRef<'j> {
    /// A header instance or metadata, by name.
    Named(&'j str),
    /// A header of the IR.
    Fixed(HeaderId),
    /// An element of a stack.
    Element { stack: StackId, index: Operand },
    /// One of several headers of a type, chosen by an index of
    /// [`INDEX_WIDTH`](super::shape::INDEX_WIDTH) bits.
    Chosen { among: Vec<HeaderId>, index: Operand },
}

/// A header union.
#[derive(Clone, Debug)]
pub(super) enum UnionRef<'j> {
    Fixed(UnionId),
    /// An element of a union stack, chosen by an index of [`INDEX_WIDTH`](super::shape::INDEX_WIDTH) bits.
    Element {
        stack: &'j str,
        index: Operand,
    },
}

/// A field of a header, or its validity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldRef {
    At(usize),
    Valid,
}

/// A place that can be written.
#[derive(Clone, Debug)]
pub(super) enum Lvalue {
    Var(VarId),
    StackField {
        stack: StackId,
        index: Operand,
        field: u32,
        ty: VarType,
    },
    /// The same field of several headers, chosen by an index.
    Chosen {
        among: Vec<VarId>,
        index: Operand,
        ty: VarType,
    },
}

/// What is wanted of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Want {
    /// The value itself.
    Exact,
    /// At least the low bits, this many.
    Low(u32),
}

/// An integer: an operand of `width` bits, two's complement if `signed`.
#[derive(Clone, Debug)]
pub(super) struct Data {
    pub operand: Operand,
    pub width: u32,
    pub signed: bool,
}

/// What an expression stands for.
#[derive(Debug)]
pub(super) enum Term<'j> {
    Data(Data),
    Bool(Operand),
    Varbit(VarId),
    Header(HeaderRef<'j>),
    Union(UnionRef<'j>),
    Stack(StackId),
    UnionStack(&'j str),
}

impl Term<'_> {
    /// An integer; a boolean counts as one bit.
    pub fn into_data(self) -> Option<Data> {
        match self {
            Term::Data(data) => Some(data),
            Term::Bool(operand) => Some(Data { operand, width: 1, signed: false }),
            _ => None,
        }
    }
}
