//! Instructions, terminators and what they work on.

use crate::{
    ActionId, Bits, BlockId, CounterId, CustomCrcId, DigestId, HeaderId, MeterId, RegisterId, StackId,
    TableId, UnionId, ValueSetId, VarId,
};

/// What an instruction reads: a variable or a constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A variable.
    Var(VarId),
    /// A constant.
    Const(Bits),
}

/// Unary operators. The operand has the width of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UnOp {
    /// Bitwise complement; on `bool`, logical not.
    Not,
    /// Two's complement negation.
    Neg,
}

/// Binary operators on operands of one width, unless said. `signed` reads them as two's complement.
#[allow(missing_docs, reason = "each variant's comment explains its parts")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BinOp {
    /// Wrapping sum.
    Add,
    /// Wrapping difference.
    Sub,
    /// Wrapping product.
    Mul,
    /// Unsigned quotient; zero divisor gives zero.
    Div,
    /// Unsigned remainder; zero divisor gives zero.
    Mod,
    /// Saturating sum.
    AddSat { signed: bool },
    /// Saturating difference.
    SubSat { signed: bool },
    /// Bitwise and; on `bool`, logical and (both sides evaluated).
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Left shift; the amount is unsigned of any width and may exceed the width (result zero).
    Shl,
    /// Right shift, arithmetic if signed; the amount as in `Shl`.
    Shr { signed: bool },
    /// Equal; result is one bit, as for all comparisons.
    Eq,
    /// Not equal.
    Ne,
    /// Less.
    Lt { signed: bool },
    /// Less or equal.
    Le { signed: bool },
}

/// A parser keyset of one key.
#[allow(missing_docs, reason = "each variant's comment explains its parts")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Keyset {
    /// Anything.
    Any,
    /// `key & mask == value & mask`
    Mask { value: Bits, mask: Bits },
    /// `low <= key <= high`, unsigned unless `signed`.
    Range { low: Bits, high: Bits, signed: bool },
}

/// Checksum and hash algorithms of v1model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "each is the v1model constant of that name")]
pub enum HashAlgorithm {
    Crc32,
    Crc32Custom(CustomCrcId),
    Crc16,
    Crc16Custom(CustomCrcId),
    Random,
    Identity,
    Csum16,
    Xor16,
}

/// What to clone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloneKind {
    /// Ingress to egress: the packet as it came in.
    I2E,
    /// Egress to egress: the packet as it leaves egress.
    E2E,
}

/// An instruction. Widths: unless said, operands have the width of `dst`.
#[allow(missing_docs, reason = "each variant's comment explains its parts")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inst {
    /// `dst = src`
    Assign { dst: VarId, src: Operand },
    /// `dst = op src`
    Unary { dst: VarId, op: UnOp, src: Operand },
    /// `dst = a op b`
    Binary { dst: VarId, op: BinOp, a: Operand, b: Operand },
    /// `dst = src` resized: truncated, zero-extended, or sign-extended if `signed`.
    Resize { dst: VarId, src: Operand, signed: bool },
    /// `dst = hi ++ lo`; the widths add up.
    Concat { dst: VarId, hi: Operand, lo: Operand },
    /// `dst = src[lo + width(dst) - 1 : lo]`
    Slice { dst: VarId, src: Operand, lo: u32 },
    /// `dst[lo + width(src) - 1 : lo] = src`
    SetSlice { dst: VarId, lo: u32, src: Operand },

    /// Makes the header valid, with fields of zero if it was
    /// not. In a union, makes the other members invalid.
    SetValid { header: HeaderId },
    /// Makes the header invalid.
    SetInvalid { header: HeaderId },
    /// `dst = header.isValid()`
    IsValid { dst: VarId, header: HeaderId },
    /// `dst = union.isValid()`: some member is valid.
    UnionIsValid { dst: VarId, union: UnionId },
    /// `dst = src`, same header type: validity, and the fields if `src` is valid; otherwise `dst` keeps its
    /// own, as in BMv2. In a union, a member that becomes valid makes the others invalid.
    CopyHeader { dst: HeaderId, src: HeaderId },
    /// `dst = (a == b)`: both invalid, or both valid with equal fields.
    HeaderEq { dst: VarId, a: HeaderId, b: HeaderId },

    /// `dst = stack[index].field`; an index past the end reads zero.
    StackLoad { dst: VarId, stack: StackId, index: Operand, field: u32 },
    /// `stack[index].field = src`; an index past the end writes nothing.
    StackStore { stack: StackId, index: Operand, field: u32, src: Operand },
    /// `dst = stack[index].isValid()`
    StackIsValid { dst: VarId, stack: StackId, index: Operand },
    /// `stack[index].setValid()` or `setInvalid()`
    StackSetValid { stack: StackId, index: Operand, valid: bool },
    /// `stack.push_front(count)`
    StackPush { stack: StackId, count: u32 },
    /// `stack.pop_front(count)`
    StackPop { stack: StackId, count: u32 },
    /// `dst = stack.nextIndex` (number of elements extracted so far); `lastIndex` is this minus one.
    StackNextIndex { dst: VarId, stack: StackId },
    /// `stack.nextIndex = next`: a new stack begins at 0, a copied one goes on where its source was.
    StackSetNextIndex { stack: StackId, next: Operand },

    /// `packet.extract(header)`; `PacketTooShort` on failure.
    Extract { header: HeaderId },
    /// `packet.extract(header, varbit_bits)` for a header with one varbit field.
    ExtractVar { header: HeaderId, varbit_bits: Operand },
    /// `packet.extract(stack.next)`; `StackOutOfBounds` past the end.
    ExtractNext { stack: StackId, varbit_bits: Option<Operand> },
    /// `dst = packet.lookahead<bit<W>>()`, the next `width(dst)` bits, not consumed.
    Lookahead { dst: VarId },
    /// `packet.advance(bits)`
    Advance { bits: Operand },
    /// `dst = packet.length()` in bytes.
    PacketLength { dst: VarId },
    /// `verify(cond, error)`: when false, sets the parser error and rejects.
    Verify { cond: Operand, error: Operand },
    /// `dst = (keys match one entry of the value set)`
    ValueSetMatch { dst: VarId, set: ValueSetId, keys: Vec<Operand> },

    /// `packet.emit(header)` if valid.
    Emit { header: HeaderId },

    /// `table.apply()`. `hit` gets one bit; `action` gets the
    /// position of the action run in [`crate::Table::actions`].
    Apply { table: TableId, hit: Option<VarId>, action: Option<VarId> },
    /// Runs an action with its parameters set to `args`.
    CallAction { action: ActionId, args: Vec<Operand> },

    /// A call of the architecture.
    Extern(ExternCall),
}

/// Calls of externs: v1model's, and those of PSA as far as they are alike.
#[allow(missing_docs, reason = "each variant's comment explains its parts")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExternCall {
    /// `counter.count(index)`; an index past the end counts nothing.
    CounterCount { counter: CounterId, index: Operand },
    /// `direct_counter.count()` of the entry that was hit.
    DirectCounterCount { counter: CounterId },
    /// `meter.execute_meter(index, dst)`; colours are 0 green, 1 yellow, 2 red.
    /// `color` is that of the packet before (RFC 2698's colour-aware mode).
    MeterExecute { meter: MeterId, index: Operand, color: Option<Operand>, dst: VarId },
    /// `direct_meter.read(dst)`
    DirectMeterRead { meter: MeterId, dst: VarId },
    /// `register.read(dst, index)`; an index past the end reads zero.
    RegisterRead { register: RegisterId, dst: VarId, index: Operand },
    /// `register.write(index, value)`; an index past the end writes nothing.
    RegisterWrite { register: RegisterId, index: Operand, value: Operand },
    /// `hash(dst, algorithm, base, data, max)`: `base + h mod max`, `base` when `max` is zero.
    Hash { dst: VarId, algorithm: HashAlgorithm, base: Operand, data: Vec<Operand>, max: Operand },
    /// `random(dst, low, high)`, both included.
    Random { dst: VarId, low: Operand, high: Operand },
    /// `verify_checksum[_with_payload]`: a mismatch under `cond` sets `checksum_error`.
    VerifyChecksum {
        cond: Operand,
        data: Vec<Operand>,
        checksum: Operand,
        algorithm: HashAlgorithm,
        with_payload: bool,
    },
    /// `update_checksum[_with_payload]`
    UpdateChecksum {
        cond: Operand,
        data: Vec<Operand>,
        checksum: VarId,
        algorithm: HashAlgorithm,
        with_payload: bool,
    },
    /// `mark_to_drop(standard_metadata)`: `egress_spec` = drop port, `mcast_grp` = 0.
    MarkToDrop,
    /// `digest(receiver, data)`
    Digest { digest: DigestId, data: Vec<Operand> },
    /// `clone[_preserving_field_list]`
    Clone { kind: CloneKind, session: Operand, field_list: Option<Operand> },
    /// `resubmit_preserving_field_list(list)`
    Resubmit { field_list: Operand },
    /// `recirculate_preserving_field_list(list)`
    Recirculate { field_list: Operand },
    /// `truncate(bytes)`
    Truncate { bytes: Operand },
    /// `log_msg(format, args)`
    LogMsg { format: String, args: Vec<Operand> },
    /// `assert(cond)` or `assume(cond)`, with the source place for the message.
    Assert { cond: Operand, place: String },
}

/// How a block ends.
#[allow(missing_docs, reason = "each variant's comment explains its parts")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Terminator {
    /// Go on at a block.
    Jump(BlockId),
    /// Two ways.
    Branch { cond: Operand, then: BlockId, otherwise: BlockId },
    /// By value; the values are distinct and have the operand's width.
    Switch { value: Operand, cases: Vec<(Bits, BlockId)>, default: BlockId },
    /// Parser select: the first case that matches; `None` as default rejects with `NoMatch`.
    Select { keys: Vec<Operand>, cases: Vec<(Vec<Keyset>, BlockId)>, default: Option<BlockId> },
    /// End of this function (control or action); the caller goes on.
    Return,
    /// `exit`: end of the whole top-level control, through all callers.
    Exit,
    /// Parser: accept.
    Accept,
    /// Parser: reject with the error already set.
    Reject,
}
