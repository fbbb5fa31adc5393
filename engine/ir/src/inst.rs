//! Instructions, terminators and what they work on.

use crate::{
    ActionId, Bits, BlockId, CounterId, CustomCrcId, DigestId, FilterId, HashId, HeaderId, MathUnit, MeterId,
    RegisterId, StackId, TableId, UnionId, ValueSetId, VarId,
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
    AddSat {
        /// The operands are two's complement.
        signed: bool,
    },
    /// Saturating difference.
    SubSat {
        /// The operands are two's complement.
        signed: bool,
    },
    /// Bitwise and; on `bool`, logical and (both sides evaluated).
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Left shift; the amount is unsigned of any width and may exceed the width (result zero).
    Shl,
    /// Right shift, arithmetic if signed; the amount as in `Shl`.
    Shr {
        /// The value is two's complement.
        signed: bool,
    },
    /// Equal; result is one bit, as for all comparisons.
    Eq,
    /// Not equal.
    Ne,
    /// Less.
    Lt {
        /// The operands are two's complement.
        signed: bool,
    },
    /// Less or equal.
    Le {
        /// The operands are two's complement.
        signed: bool,
    },
}

/// A parser keyset of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Keyset {
    /// Anything.
    Any,
    /// `key & mask == value & mask`
    Mask {
        /// Bits wanted.
        value: Bits,
        /// Bits compared.
        mask: Bits,
    },
    /// `low <= key <= high`, unsigned unless `signed`.
    Range {
        /// Lowest key that matches.
        low: Bits,
        /// Highest key that matches.
        high: Bits,
        /// Key and ends are two's complement.
        signed: bool,
    },
}

/// Checksum and hash algorithms of v1model, and the hash functions of a TNA program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HashAlgorithm {
    /// CRC-32 of Ethernet.
    Crc32,
    /// CRC with 32 bits, and parameters that the control plane sets.
    Crc32Custom(CustomCrcId),
    /// CRC-16/ARC.
    Crc16,
    /// CRC with 16 bits, and parameters that the control plane sets.
    Crc16Custom(CustomCrcId),
    /// A random number, whatever the data.
    Random,
    /// The data's first eight bytes, as a number.
    Identity,
    /// The Internet checksum (RFC 1071).
    Csum16,
    /// Exclusive or of the data's 16-bit words.
    Xor16,
    /// A hash function of TNA. The data are one message: fields of invalid headers are part of it.
    Object(HashId),
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inst {
    /// `dst = src`
    Assign {
        /// Where the result goes.
        dst: VarId,
        /// Value copied.
        src: Operand,
    },
    /// `dst = op src`
    Unary {
        /// Where the result goes.
        dst: VarId,
        /// Operator.
        op: UnOp,
        /// Operand.
        src: Operand,
    },
    /// `dst = a op b`
    Binary {
        /// Where the result goes.
        dst: VarId,
        /// Operator.
        op: BinOp,
        /// Left operand.
        a: Operand,
        /// Right operand.
        b: Operand,
    },
    /// `dst = src` resized: truncated, zero-extended, or sign-extended if `signed`.
    Resize {
        /// Where the result goes.
        dst: VarId,
        /// Value of another width.
        src: Operand,
        /// A wider result repeats the sign bit.
        signed: bool,
    },
    /// `dst = hi ++ lo`; the widths add up.
    Concat {
        /// Where the result goes.
        dst: VarId,
        /// High bits.
        hi: Operand,
        /// Low bits.
        lo: Operand,
    },
    /// `dst = src[lo + width(dst) - 1 : lo]`
    Slice {
        /// Where the result goes.
        dst: VarId,
        /// Value that the bits are taken from.
        src: Operand,
        /// Lowest bit taken.
        lo: u32,
    },
    /// `dst[lo + width(src) - 1 : lo] = src`
    SetSlice {
        /// Variable of which some bits change.
        dst: VarId,
        /// Lowest bit that changes.
        lo: u32,
        /// The new bits.
        src: Operand,
    },

    /// Makes the header valid, with fields of zero if it was
    /// not. In a union, makes the other members invalid.
    SetValid {
        /// Header that becomes valid.
        header: HeaderId,
    },
    /// Makes the header invalid.
    SetInvalid {
        /// Header that becomes invalid.
        header: HeaderId,
    },
    /// `dst = header.isValid()`
    IsValid {
        /// Where the result goes.
        dst: VarId,
        /// Header asked about.
        header: HeaderId,
    },
    /// `dst = union.isValid()`: some member is valid.
    UnionIsValid {
        /// Where the result goes.
        dst: VarId,
        /// Union asked about.
        union: UnionId,
    },
    /// `dst = src`, same header type: validity, and the fields if `src` is valid; otherwise `dst` keeps its
    /// own, as in BMv2. In a union, a member that becomes valid makes the others invalid.
    CopyHeader {
        /// Header that changes.
        dst: HeaderId,
        /// Header that is copied.
        src: HeaderId,
    },
    /// `dst = (a == b)`: both invalid, or both valid with equal fields.
    HeaderEq {
        /// Where the result goes.
        dst: VarId,
        /// One header.
        a: HeaderId,
        /// The other header, of the type of `a`.
        b: HeaderId,
    },

    /// `dst = stack[index].field`; an index past the end reads zero.
    StackLoad {
        /// Where the result goes.
        dst: VarId,
        /// Stack that is read.
        stack: StackId,
        /// Position of the element.
        index: Operand,
        /// Position of the field in its header type.
        field: u32,
    },
    /// `stack[index].field = src`; an index past the end writes nothing.
    StackStore {
        /// Stack that changes.
        stack: StackId,
        /// Position of the element.
        index: Operand,
        /// Position of the field in its header type.
        field: u32,
        /// The field's new value.
        src: Operand,
    },
    /// `dst = stack[index].isValid()`
    StackIsValid {
        /// Where the result goes.
        dst: VarId,
        /// Stack asked about.
        stack: StackId,
        /// Position of the element.
        index: Operand,
    },
    /// `stack[index].setValid()` or `setInvalid()`
    StackSetValid {
        /// Stack that changes.
        stack: StackId,
        /// Position of the element.
        index: Operand,
        /// The element's new validity.
        valid: bool,
    },
    /// `stack.push_front(count)`
    StackPush {
        /// Stack whose elements move up.
        stack: StackId,
        /// Positions that they move.
        count: u32,
    },
    /// `stack.pop_front(count)`
    StackPop {
        /// Stack whose elements move down.
        stack: StackId,
        /// Positions that they move.
        count: u32,
    },
    /// `dst = stack.nextIndex` (number of elements extracted so far); `lastIndex` is this minus one.
    StackNextIndex {
        /// Where the result goes.
        dst: VarId,
        /// Stack asked about.
        stack: StackId,
    },
    /// `stack.nextIndex = next`: a new stack begins at 0, a copied one goes on where its source was.
    StackSetNextIndex {
        /// Stack that changes.
        stack: StackId,
        /// Position of the element that is extracted next.
        next: Operand,
    },

    /// `packet.extract(header)`; `PacketTooShort` on failure.
    Extract {
        /// Header that is filled.
        header: HeaderId,
    },
    /// `packet.extract(header, varbit_bits)` for a header with one varbit field.
    ExtractVar {
        /// Header that is filled.
        header: HeaderId,
        /// Length of its varbit field in bits.
        varbit_bits: Operand,
    },
    /// `packet.extract(stack.next)`; `StackOutOfBounds` past the end.
    ExtractNext {
        /// Stack whose next element is filled.
        stack: StackId,
        /// Length of the element's varbit field in bits, if it has one.
        varbit_bits: Option<Operand>,
    },
    /// `dst = packet.lookahead<bit<W>>()`, the next `width(dst)` bits, not consumed.
    Lookahead {
        /// Where the result goes.
        dst: VarId,
    },
    /// `packet.advance(bits)`
    Advance {
        /// Bits of the packet that are skipped.
        bits: Operand,
    },
    /// `dst = packet.length()` in bytes.
    PacketLength {
        /// Where the result goes.
        dst: VarId,
    },
    /// `verify(cond, error)`: when false, sets the parser error and rejects.
    Verify {
        /// What must hold.
        cond: Operand,
        /// Error code otherwise.
        error: Operand,
    },
    /// `dst = (keys match one entry of the value set)`
    ValueSetMatch {
        /// Where the result goes.
        dst: VarId,
        /// Value set that is searched.
        set: ValueSetId,
        /// Values looked for, one per key of the set.
        keys: Vec<Operand>,
    },

    /// `packet.emit(header)` if valid.
    Emit {
        /// Header that is appended.
        header: HeaderId,
    },

    /// `table.apply()`. `hit` gets one bit; `action` gets the
    /// position of the action run in [`crate::Table::actions`].
    Apply {
        /// Table that is looked up.
        table: TableId,
        /// Where to put whether an entry matched.
        hit: Option<VarId>,
        /// Where to put the position of the action.
        action: Option<VarId>,
    },
    /// Runs an action with its parameters set to `args`.
    CallAction {
        /// Action that runs.
        action: ActionId,
        /// One value per parameter.
        args: Vec<Operand>,
    },

    /// A call of the architecture.
    Extern(ExternCall),
}

/// Calls of externs: v1model's, and those of PSA as far as they are alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExternCall {
    /// `counter.count(index)`; an index past the end counts nothing.
    CounterCount {
        /// Counter array.
        counter: CounterId,
        /// Position of the cell.
        index: Operand,
    },
    /// `direct_counter.count()` of the entry that was hit.
    DirectCounterCount {
        /// Direct counter of the table.
        counter: CounterId,
    },
    /// `meter.execute_meter(index, dst)`; colours are 0 green, 1 yellow, 2 red.
    /// `color` is that of the packet before (RFC 2698's colour-aware mode).
    MeterExecute {
        /// Meter array.
        meter: MeterId,
        /// Position of the cell.
        index: Operand,
        /// Colour of the packet before, if the meter takes it into account.
        color: Option<Operand>,
        /// Where the colour goes.
        dst: VarId,
    },
    /// `direct_meter.read(dst)`
    DirectMeterRead {
        /// Direct meter of the table.
        meter: MeterId,
        /// Where the colour goes.
        dst: VarId,
    },
    /// `count` of TNA, of an array or of a direct counter.
    CounterAdd {
        /// Counter.
        counter: CounterId,
        /// Position of the cell; none for that of the entry that was hit.
        index: Option<Operand>,
        /// Bytes that are not counted.
        adjust: Option<Operand>,
    },
    /// `execute` of TNA's meters; colours as above.
    MeterMeasure {
        /// Meter.
        meter: MeterId,
        /// Position of the cell; none for that of the entry that was hit.
        index: Option<Operand>,
        /// Colour of the packet before, if the meter takes it into account.
        color: Option<Operand>,
        /// Bytes that are not metered.
        adjust: Option<Operand>,
        /// Where the colour goes.
        dst: VarId,
    },
    /// `execute` of TNA's filters.
    FilterExecute {
        /// Filter.
        filter: FilterId,
        /// Position of the cell; none for that of the entry that was hit.
        index: Option<Operand>,
        /// What it is given.
        value: Operand,
        /// Where the result goes.
        dst: VarId,
    },
    /// `direct_register.read()`: the cell of the entry that was hit.
    DirectRegisterRead {
        /// Direct register.
        register: RegisterId,
        /// Where the result goes.
        dst: VarId,
    },
    /// `direct_register.write(value)`
    DirectRegisterWrite {
        /// Direct register.
        register: RegisterId,
        /// The cell's new value.
        value: Operand,
    },
    /// `math_unit.execute(src)`
    Math {
        /// What it computes.
        unit: MathUnit,
        /// Operand, as wide as `dst`, 64 bits at most.
        src: Operand,
        /// Where the result goes.
        dst: VarId,
    },
    /// `register.read(dst, index)`; an index past the end reads zero.
    RegisterRead {
        /// Register array.
        register: RegisterId,
        /// Where the result goes.
        dst: VarId,
        /// Position of the cell.
        index: Operand,
    },
    /// `register.write(index, value)`; an index past the end writes nothing.
    RegisterWrite {
        /// Register array.
        register: RegisterId,
        /// Position of the cell.
        index: Operand,
        /// The cell's new value.
        value: Operand,
    },
    /// `register.clear(value)` of T2NA: all cells, those of entries if it is a direct register.
    RegisterClear {
        /// Register.
        register: RegisterId,
        /// The cells' new value.
        value: Operand,
    },
    /// `hash(dst, algorithm, base, data, max)`: `base + h mod max`, `base` when `max` is zero.
    Hash {
        /// Where the result goes.
        dst: VarId,
        /// How `data` is hashed.
        algorithm: HashAlgorithm,
        /// Least result.
        base: Operand,
        /// Values hashed, in order.
        data: Vec<Operand>,
        /// Number of results.
        max: Operand,
    },
    /// `random(dst, low, high)`, both included.
    Random {
        /// Where the result goes.
        dst: VarId,
        /// Least number.
        low: Operand,
        /// Greatest number.
        high: Operand,
    },
    /// `verify_checksum[_with_payload]`: a mismatch under `cond` sets `checksum_error`.
    VerifyChecksum {
        /// The checksum is verified if this holds.
        cond: Operand,
        /// Values that it covers, in order.
        data: Vec<Operand>,
        /// Value that the packet states.
        checksum: Operand,
        /// How it is computed.
        algorithm: HashAlgorithm,
        /// It covers the payload, too.
        with_payload: bool,
    },
    /// `update_checksum[_with_payload]`
    UpdateChecksum {
        /// The checksum is computed if this holds.
        cond: Operand,
        /// Values that it covers, in order.
        data: Vec<Operand>,
        /// Where it goes.
        checksum: VarId,
        /// How it is computed.
        algorithm: HashAlgorithm,
        /// It covers the payload, too.
        with_payload: bool,
    },
    /// `mark_to_drop(standard_metadata)`: `egress_spec` = drop port, `mcast_grp` = 0.
    MarkToDrop,
    /// `digest(receiver, data)`
    Digest {
        /// Kind of message.
        digest: DigestId,
        /// Values that the controller gets, in order.
        data: Vec<Operand>,
    },
    /// `clone[_preserving_field_list]`
    Clone {
        /// Packet that is copied.
        kind: CloneKind,
        /// Clone session, which names the copy's ports.
        session: Operand,
        /// Number of the list of metadata that the copy keeps, if it keeps any.
        field_list: Option<Operand>,
    },
    /// `resubmit_preserving_field_list(list)`
    Resubmit {
        /// Number of the list of metadata that is kept.
        field_list: Operand,
    },
    /// `recirculate_preserving_field_list(list)`
    Recirculate {
        /// Number of the list of metadata that is kept.
        field_list: Operand,
    },
    /// `truncate(bytes)`
    Truncate {
        /// Most bytes that the packet keeps.
        bytes: Operand,
    },
    /// `log_msg(format, args)`
    LogMsg {
        /// Text, with `{}` for each argument.
        format: String,
        /// Values put into the text, in order.
        args: Vec<Operand>,
    },
    /// `assert(cond)` or `assume(cond)`, with the source place for the message.
    Assert {
        /// What must hold.
        cond: Operand,
        /// Name of the call, and the byte of the source where it stands.
        place: String,
    },
}

/// How a block ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Terminator {
    /// Go on at a block.
    Jump(BlockId),
    /// Two ways.
    Branch {
        /// One bit, which decides.
        cond: Operand,
        /// Block for one.
        then: BlockId,
        /// Block for zero.
        otherwise: BlockId,
    },
    /// By value; the values are distinct and have the operand's width.
    Switch {
        /// Value that decides.
        value: Operand,
        /// Values and their blocks.
        cases: Vec<(Bits, BlockId)>,
        /// Block for every other value.
        default: BlockId,
    },
    /// Parser select: the first case that matches; `None` as default rejects with `NoMatch`.
    Select {
        /// Values matched.
        keys: Vec<Operand>,
        /// One keyset per key, and the block for a match; in order.
        cases: Vec<(Vec<Keyset>, BlockId)>,
        /// Block for no match.
        default: Option<BlockId>,
    },
    /// End of this function (control or action); the caller goes on.
    Return,
    /// `exit`: end of the whole top-level control, through all callers.
    Exit,
    /// Parser: accept.
    Accept,
    /// Parser: reject with the error already set.
    Reject,
}
