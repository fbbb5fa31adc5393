//! The interpreter's operations: small and of fixed size, with words of the frame as operands.
//!
//! Invariants: word indices lie in the frame, code addresses in the code, side-table indices in their tables.
//! Narrow values are masked to their width before and after each operation.

use p4cc_ir::{
    CloneKind, CounterId, DigestId, FilterId, FuncId, HashAlgorithm, MathUnit, MeterId, ProfileId,
    RegisterId, TableId, ValueSetId,
};

use crate::bitplan::BitPlan;
use crate::checksum::HashCrc;
use crate::frame_layout::{FrameLocation, Layout};

/// Destination and operands of a two-operand operation on words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Args {
    pub dst: u32,
    pub a: u32,
    pub b: u32,
}

/// Hashes that depend on packed bytes alone, in the order in which native code names them; checks with
/// parameters of their own are left to the interpreter.
pub(crate) const PACKED_HASHES: [HashAlgorithm; 5] = [
    HashAlgorithm::Crc32,
    HashAlgorithm::Crc16,
    HashAlgorithm::Identity,
    HashAlgorithm::Csum16,
    HashAlgorithm::Xor16,
];

/// One operation. The `u8` is 64 minus the width of the result (of
/// the operands for signed comparisons), so that a mask is one shift.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    Move {
        dst: u32,
        src: u32,
    },
    CopyWords {
        dst: u32,
        src: u32,
        words: u32,
    },
    Not(u8, Args),
    Neg(u8, Args),
    Add(u8, Args),
    Sub(u8, Args),
    Mul(u8, Args),
    Div(Args),
    Mod(Args),
    AddSat(u8, Args),
    SubSat(Args),
    AddSatSigned(u8, Args),
    SubSatSigned(u8, Args),
    And(Args),
    Or(Args),
    Xor(Args),
    Shl(u8, Args),
    Shr(Args),
    ShrSigned(u8, Args),
    Eq(Args),
    Ne(Args),
    Lt(Args),
    LtSigned(u8, Args),
    Le(Args),
    LeSigned(u8, Args),
    /// `dst = src` cut to the result's width.
    Truncate {
        shift: u8,
        dst: u32,
        src: u32,
    },
    /// `dst = src`, sign-extended from `from` (64 minus the source's width).
    SignExtend {
        shift: u8,
        from: u8,
        dst: u32,
        src: u32,
    },
    /// `dst = a << low | b`
    Concat {
        low: u8,
        args: Args,
    },
    /// `dst = src >> low`, cut.
    Slice {
        shift: u8,
        low: u8,
        dst: u32,
        src: u32,
    },
    /// Bits of `dst` from `low` on become `src`, whose width the shift gives.
    SetSlice {
        shift: u8,
        low: u8,
        dst: u32,
        src: u32,
    },
    /// Makes a header that is invalid valid, its fields zero.
    SetValid {
        header: u32,
    },
    SetInvalid {
        header: u32,
    },
    /// Wider than a word, or on stacks: see [`SlowOp`].
    Slow(u32),

    Extract {
        header: u32,
    },
    Advance {
        bits: u32,
    },
    Lookahead {
        width: u32,
        dst: u32,
    },
    PacketLength {
        dst: u32,
        shift: u8,
    },
    Verify {
        cond: u32,
        error: u32,
    },
    Emit {
        header: u32,
    },

    Apply {
        table: u32,
        hit: u32,
        action: u32,
    },
    Call {
        action: u32,
    },
    Count {
        counter: u32,
        index: u32,
    },
    VerifyChecksum(u32),
    UpdateChecksum(u32),
    Extern(u32),

    Jump {
        to: u32,
    },
    Branch {
        cond: u32,
        then: u32,
        otherwise: u32,
    },
    Select(u32),
    SelectSlow(u32),
    Return,
    Exit,
    Accept,
    Reject,
}

/// An operation whose operands live in a side table.
#[derive(Debug)]
pub(crate) enum SlowOp {
    Wide {
        kind: WideKind,
        dst: FrameLocation,
        a: FrameLocation,
        b: FrameLocation,
    },
    /// Equality of word ranges (varbits, headers without validity rules).
    EqWords {
        dst: u32,
        a: u32,
        b: u32,
        words: u32,
        negate: bool,
    },
    /// Words of a header, its validity first; an invalid one gives no more than that.
    CopyHeader {
        dst: u32,
        src: u32,
        words: u32,
    },
    /// Makes the other members of a union member invalid, if it is valid itself.
    ClearRivals {
        header: u32,
    },
    /// Any of the words non-zero.
    AnyWord {
        dst: u32,
        of: Box<[u32]>,
    },
    /// Equality of headers: word ranges, validity first.
    HeaderEq {
        dst: u32,
        a: u32,
        b: u32,
        words: u32,
    },
    /// Copy of a stack's element field.
    StackLoad {
        dst: u32,
        index: u32,
        words: u32,
        elements: Box<[u32]>,
    },
    StackStore {
        src: u32,
        index: u32,
        words: u32,
        elements: Box<[u32]>,
    },
    StackIsValid {
        dst: u32,
        index: u32,
        elements: Box<[u32]>,
    },
    /// The elements are headers, not words.
    StackSetValid {
        index: u32,
        valid: bool,
        elements: Box<[u32]>,
    },
    StackShift {
        next: u32,
        words: u32,
        elements: Box<[u32]>,
        count: u32,
        push: bool,
    },
    ExtractVar {
        header: u32,
        varbit_bits: u32,
    },
    ExtractNext {
        next: u32,
        elements: Box<[u32]>,
        varbit_bits: Option<u32>,
    },
    LookaheadWide {
        dst: FrameLocation,
    },
    ValueSetMatch {
        dst: u32,
        set: ValueSetId,
        keys: Box<[FrameLocation]>,
    },
}

/// Operators of the wide path; signedness as in the IR.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WideKind {
    Not,
    Neg,
    Binary(p4cc_ir::BinOp),
    Resize {
        signed: bool,
    },
    Concat,
    Slice {
        lo: u32,
    },
    SetSlice {
        lo: u32,
    },
    /// A wide amount or index as one word, `u64::MAX` if it does not fit.
    Narrow,
}

/// A call of the architecture, operands resolved. Amounts and indices are narrow.
#[derive(Debug)]
pub(crate) enum ExternOp {
    MeterExecute {
        meter: MeterId,
        index: u32,
        color: Option<u32>,
        dst: FrameLocation,
    },
    /// The table whose entry's cell it is, if it is not the array's at the index.
    CounterAdd {
        counter: CounterId,
        table: Option<TableId>,
        index: u32,
        adjust: Option<u32>,
    },
    MeterMeasure {
        meter: MeterId,
        table: Option<TableId>,
        index: u32,
        color: Option<u32>,
        adjust: Option<u32>,
        dst: FrameLocation,
    },
    FilterExecute {
        filter: FilterId,
        index: u32,
        value: u32,
        dst: u32,
    },
    Math {
        unit: Box<MathUnit>,
        src: u32,
        dst: FrameLocation,
    },
    RegisterRead {
        register: RegisterId,
        index: u32,
        dst: FrameLocation,
    },
    RegisterWrite {
        register: RegisterId,
        index: u32,
        src: FrameLocation,
    },
    RegisterClear {
        register: RegisterId,
        src: FrameLocation,
    },
    /// A write of a bit of a selector's memory, which may change what its groups choose among.
    PlaceWrite {
        profile: ProfileId,
        index: u32,
        src: FrameLocation,
    },
    Hash {
        dst: FrameLocation,
        algorithm: HashAlgorithm,
        base: FrameLocation,
        data: Data,
        max: FrameLocation,
    },
    Random {
        dst: FrameLocation,
        low: FrameLocation,
        high: FrameLocation,
    },
    MarkToDrop,
    Digest {
        digest: DigestId,
        fields: Box<[FrameLocation]>,
    },
    Clone {
        kind: CloneKind,
        session: u32,
        field_list: Option<u32>,
    },
    Resubmit {
        field_list: u32,
    },
    Recirculate {
        field_list: u32,
    },
    Truncate {
        bytes: u32,
    },
    LogMsg {
        format: Box<str>,
        args: Box<[FrameLocation]>,
    },
    Assert {
        cond: u32,
        place: Box<str>,
    },
}

impl ExternOp {
    /// Whether it changes nothing but the frame, and gives the same whenever it runs again.
    pub fn is_hash_of_bytes(&self) -> bool {
        let is_fixed = |algorithm: &HashAlgorithm| {
            PACKED_HASHES.contains(algorithm) || matches!(algorithm, HashAlgorithm::Object(_))
        };
        matches!(self, Self::Hash { algorithm, .. } if is_fixed(algorithm))
    }

    /// Whether it asks something of the architecture.
    pub fn is_request(&self) -> bool {
        matches!(
            self,
            Self::Clone { .. }
                | Self::Resubmit { .. }
                | Self::Recirculate { .. }
                | Self::Digest { .. }
                | Self::LogMsg { .. }
                | Self::Truncate { .. }
                | Self::Assert { .. }
        )
    }

    /// Whether it draws a number of one word.
    pub fn is_narrow_random(&self) -> bool {
        match self {
            Self::Random { dst, low, high } => {
                [dst, low, high].into_iter().all(|place| place.is_narrow() && place.width > 0)
            }
            _ => false,
        }
    }
}

/// A `verify_checksum` or `update_checksum`.
#[derive(Debug)]
pub(crate) struct ChecksumOp {
    pub cond: u32,
    pub checksum: FrameLocation,
    pub algorithm: HashAlgorithm,
    pub with_payload: bool,
    pub data: Data,
}

impl ChecksumOp {
    /// Whether it is an Internet checksum that inline code computes.
    pub fn is_columns(&self) -> bool {
        self.algorithm == HashAlgorithm::Csum16
            && !self.with_payload
            && self.data.plan.is_some()
            && self.checksum.is_narrow()
    }
}

/// Fields that a hash or checksum reads, as one bit string padded with zeros at its end.
#[derive(Debug)]
pub(crate) struct Data {
    /// Fields in order.
    pub fields: Box<[FrameLocation]>,
    /// For each field, the validity word of its header, or [`NO_SLOT`](crate::frame_layout::NO_SLOT).
    pub owners: Box<[u32]>,
    /// The validity words among them, each once: where one
    /// is zero the fields of its header are left out (BMv2).
    pub guards: Box<[u32]>,
    /// How to pack them, unless one is a varbit.
    pub plan: Option<BitPlan>,
    /// Zero bits that stand in front of a message, which is whole bytes then.
    pub front: u32,
    /// For the Internet checksum: words and the shift that puts each on its 16-bit column.
    pub columns: Box<[(u32, u8)]>,
}

/// A select or switch whose keys fit one word together.
#[derive(Debug)]
pub(crate) struct SelectOp {
    /// Words and how far each shifts left.
    pub keys: Box<[(u32, u8)]>,
    /// Value, mask, target.
    pub cases: Box<[(u64, u64, u32)]>,
    /// Target when none matches; `None` rejects with `NoMatch`.
    pub default: Option<u32>,
}

impl SelectOp {
    /// Words of the keys, each with the bits that it has in all of them together.
    pub fn key_masks(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        let above = core::iter::once(64).chain(self.keys.iter().map(|key| key.1));
        let bits = |above: u8, shift: u8| (u64::MAX >> (64 - (above - shift))) << shift;
        self.keys.iter().zip(above).map(move |(&(slot, shift), above)| (slot, bits(above, shift)))
    }
}

/// A select or switch of any width.
#[derive(Debug)]
pub(crate) struct SelectSlowOp {
    pub keys: Box<[FrameLocation]>,
    pub cases: Vec<(Box<[SlowKeyset]>, u32)>,
    pub default: Option<u32>,
}

/// Keyset of the slow select: places of constants.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SlowKeyset {
    Any,
    Mask { value: FrameLocation, mask: FrameLocation },
    Range { low: FrameLocation, high: FrameLocation, signed: bool },
}

/// How a header moves between packet and frame.
#[derive(Debug)]
pub(crate) struct HeaderPlan {
    pub valid: u32,
    /// Words, validity included.
    pub words: u32,
    /// Validity words of the other members of its union.
    pub rivals: Box<[u32]>,
    /// All fields when none is a varbit, else those before the varbit.
    pub plan: BitPlan,
    /// The varbit and what follows it.
    pub tail: Option<(FrameLocation, BitPlan)>,
}

/// Longest header, in words, that becomes valid in inline code.
const MAX_ZEROED_WORDS: u32 = 32;

impl HeaderPlan {
    /// Whether inline code makes it valid and invalid.
    pub fn is_short(&self) -> bool {
        self.tail.is_none() && self.words <= MAX_ZEROED_WORDS
    }
}

/// How an action starts.
#[derive(Debug)]
pub(crate) struct ActionPlan {
    pub entry: u32,
    /// Words of the parameters, in the order of the words of the arguments.
    pub param_words: Box<[u32]>,
}

/// How a table reads its key.
#[derive(Debug)]
pub(crate) struct TablePlan {
    /// `(word read, word of the packed key, left shift)`, packed words in ascending order.
    pub parts: Box<[(u32, u32, u8)]>,
    /// Words of the packed key.
    pub words: u32,
    /// Selector algorithm and fields.
    pub selector: Option<(HashAlgorithm, Data)>,
    /// Word that keeps the direct meter's colour.
    pub color: Option<u32>,
    /// Word that keeps the number of the entry that was hit, 0 for none.
    pub entry: Option<u32>,
}

/// Standard metadata that v1model's externs write.
#[derive(Debug)]
pub(crate) struct V1ModelLocations {
    pub checksum_error: u32,
    pub egress_spec: FrameLocation,
    pub mcast_grp: u32,
}

/// A compiled program.
#[derive(Debug)]
pub(crate) struct Code {
    pub layout: Layout,
    pub ops: Vec<Op>,
    /// Entry address of each function.
    pub entries: Vec<u32>,
    /// `(address, function, block)` in ascending order of addresses, for traces.
    pub blocks: Vec<(u32, FuncId, u32)>,
    pub slow: Vec<SlowOp>,
    pub externs: Vec<ExternOp>,
    pub checksums: Vec<ChecksumOp>,
    pub selects: Vec<SelectOp>,
    pub slow_selects: Vec<SelectSlowOp>,
    pub headers: Vec<HeaderPlan>,
    pub actions: Vec<ActionPlan>,
    pub tables: Vec<TablePlan>,
    /// By [`p4cc_ir::HashId`]: the check that it starts with, where inline code works it out.
    pub hash_crcs: Vec<Option<HashCrc>>,
    /// Words of the standard metadata that the interpreter itself writes.
    pub parser_error: u32,
    /// Absent in programs of other architectures.
    pub v1model: Option<V1ModelLocations>,
}

impl Code {
    /// First and one past the last address of a function.
    pub fn addresses_of(&self, func: usize) -> core::ops::Range<usize> {
        let end = self.entries.get(func + 1).map_or(self.ops.len(), |&end| end as usize);
        self.entries[func] as usize..end
    }

    /// The operations of a function.
    pub fn ops_of(&self, func: usize) -> &[Op] {
        &self.ops[self.addresses_of(func)]
    }
}
