//! What names of instances stand for.

use p4cc_ir::{CounterId, DigestId, FilterId, HashAlgorithm, HashId, MeterId, ProfileId, RegisterId, VarId};

/// Position of an environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EnvId(pub usize);

/// The outermost environment.
pub const GLOBAL: EnvId = EnvId(0);

/// What an instance name or parameter stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Object {
    /// `packet_in`
    PacketIn,
    /// `packet_out`
    PacketOut,
    /// `register`
    Register(RegisterId),
    /// `counter`
    Counter(CounterId),
    /// `direct_counter`
    DirectCounter(CounterId),
    /// `meter`
    Meter(MeterId),
    /// `direct_meter`
    DirectMeter(MeterId),
    /// `Checksum16`
    Checksum16,
    /// `action_profile` or `action_selector`
    Profile(ProfileId),
    /// PSA's `Hash`
    Hash(HashAlgorithm),
    /// PSA's `Random`, by position.
    Random(usize),
    /// PSA's `InternetChecksum`: its running sum.
    InternetChecksum(VarId),
    /// PSA's `Digest`
    Digest(DigestId),
    /// A fixed part of PSA's pipeline.
    Fixed,
    /// TNA's objects that are not as PSA has them.
    Tna(TnaObject),
    /// A parser or control.
    Block(EnvId),
}

/// An object of TNA; its data stand in [`TnaObjects`](super::tna_objects::TnaObjects).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TnaObject {
    /// `RegisterAction`, by position.
    RegisterAction(usize),
    /// `RegisterParam`: a register of one cell.
    RegisterParam(RegisterId),
    /// `Checksum`: its running sum.
    Checksum(VarId),
    /// `ParserCounter`
    ParserCounter(ParserCounter),
    /// `ParserPriority`
    ParserPriority,
    /// `Hash`
    Hash(HashId),
    /// `Hash` of more than 64 bits: the lowest bits of the data, so many.
    WideIdentity(u32),
    /// `DirectRegister`
    DirectRegister(RegisterId),
    /// `MathUnit`, by position.
    MathUnit(usize),
    /// `Lpf`, `Wred` and their direct forms.
    Filter(FilterId),
    /// `CRCPolynomial`, by position.
    Polynomial(usize),
    /// `Random`
    Random,
    /// `Mirror`, with the `mirror_type` that it is for.
    Mirror(Option<u32>),
    /// `Resubmit`, with the `resubmit_type` that it is for.
    Resubmit(Option<u32>),
    /// `Digest`, with the `digest_type` that it is for.
    Digest(DigestId, Option<u32>),
    /// `Pktgen`
    Pktgen,
    /// `Atcam` and `Alpm`, which say how the chip stores a table, not what it does.
    Storage,
}

/// Values that the stack of a parser's counter keeps.
pub const STACK: usize = 4;

/// A parser's counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParserCounter {
    /// Its value.
    pub value: VarId,
    /// Kept values, the newest first, and for each all ones if it follows the counter, else zero; none on
    /// Tofino 1.
    pub kept: Option<[(VarId, VarId); STACK]>,
}

impl ParserCounter {
    /// All its variables; they are zero when a packet enters the parser.
    pub fn vars(self) -> impl Iterator<Item = VarId> {
        let kept = self.kept.into_iter().flatten().flat_map(|(value, follows)| [value, follows]);
        core::iter::once(self.value).chain(kept)
    }
}
