//! Static storage of values, and values that are read from it.

use super::object::Object;
use p4cc_ir::{HeaderId, Operand, StackId, UnionId, VarId};
use p4cc_types::ty::Ty;
use p4cc_types::value::Value;
use std::rc::Rc;

/// Width of the next index of a stack (P4-16 8.18).
pub const INDEX_BITS: u32 = 32;

/// Static storage of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StaticStorage {
    /// One variable.
    Scalar(VarId),
    /// A header.
    Header(HeaderId),
    /// A header stack.
    Stack(StackId),
    /// A header union.
    Union(UnionId),
    /// A stack of header unions.
    UnionStack(Rc<UnionStack>),
    /// A struct or tuple, part by part.
    Struct(Rc<[StaticStorage]>),
}

/// A stack of header unions. The IR has none: code that chooses an element at run time asks for each in turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnionStack {
    /// Elements in order.
    pub unions: Vec<UnionId>,
    /// Number of elements extracted, as [`p4cc_ir::Inst::StackNextIndex`] of other stacks.
    pub next: VarId,
}

/// What can be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Static storage.
    StaticStorage(StaticStorage),
    /// Bits `lo ..` of a target that is one number.
    Slice {
        /// The number.
        base: Box<Target>,
        /// Width of the number.
        base_width: u32,
        /// Lowest bit.
        lo: u32,
        /// Bits written.
        width: u32,
    },
    /// Bits from `lo` on, known at run time only, of a target that is one number.
    RunSlice {
        /// The number.
        base: Box<Target>,
        /// Width of the number.
        base_width: u32,
        /// Lowest bit.
        lo: Operand,
        /// Bits written.
        width: u32,
    },
    /// A stack's element whose index is known at run time only.
    Element(StackId, Operand),
    /// A variable of such an element.
    ElementField(StackId, Operand, u32),
    /// One of several, chosen at run time; an index past the end writes nothing.
    Choice(Operand, Vec<Target>),
    /// A struct inside such a header, part by part.
    Parts(Vec<Target>),
}

/// What an expression gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rvalue {
    /// A number, flag, enum or error.
    Scalar(Operand),
    /// A header as it lies.
    Header(HeaderId),
    /// A header of a stack at an index known at run time only.
    Element(StackId, Operand),
    /// A header stack as it lies.
    Stack(StackId),
    /// A union as it lies.
    Union(UnionId),
    /// A stack of unions as it lies.
    UnionStack(Rc<UnionStack>),
    /// One of several, chosen at run time; an index past the end gives the default value.
    Choice(Operand, Vec<Rvalue>),
    /// A struct or tuple, part by part.
    Struct(Vec<Rvalue>),
    /// A valid header with these variables.
    NewHeader(Vec<Operand>),
    /// A stack of these headers.
    NewStack(Vec<Rvalue>),
    /// An invalid header, or a union or stack of such.
    Invalid,
}

/// A copy owed to the caller at the end of a call.
#[derive(Clone, Debug)]
pub struct CopyOut {
    /// The argument.
    pub target: Target,
    /// The parameter's storage.
    pub place: StaticStorage,
    /// Their type.
    pub ty: Ty,
}

/// What a name stands for while code is made.
#[derive(Clone, Debug)]
pub enum Binding {
    /// Storage.
    StaticStorage(StaticStorage),
    /// A value that stands for an `in` parameter that is never written.
    Value(Rvalue),
    /// A compile-time value.
    Const(Value),
    /// An object.
    Object(Object),
}

impl StaticStorage {
    /// As something to read.
    pub fn read(&self) -> Rvalue {
        match self {
            StaticStorage::Scalar(var) => Rvalue::Scalar(Operand::Var(*var)),
            StaticStorage::Header(header) => Rvalue::Header(*header),
            StaticStorage::Stack(stack) => Rvalue::Stack(*stack),
            StaticStorage::Union(union) => Rvalue::Union(*union),
            StaticStorage::UnionStack(stack) => Rvalue::UnionStack(stack.clone()),
            StaticStorage::Struct(parts) => Rvalue::Struct(parts.iter().map(StaticStorage::read).collect()),
        }
    }
}
