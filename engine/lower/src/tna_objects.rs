//! What is made of TNA's externs, and what is noted for the chip's control plane.

use super::object::EnvId;
use p4cc_ir::{HashFunction, HashId, HashView, MathUnit, MeterId, RegisterId, TnaView, TofinoChip, VarId};
use p4cc_syntax::Span;
use p4cc_types::ids::FnId;
use p4cc_types::ty::Ty;
use std::collections::{BTreeMap, BTreeSet};

/// Variables by which a deparser chooses among its objects.
#[derive(Clone, Copy, Debug)]
pub struct HalfTypes {
    /// Egress, not ingress.
    pub is_egress: bool,
    /// `mirror_type`
    pub mirror: VarId,
    /// `resubmit_type`
    pub resubmit: Option<VarId>,
    /// `digest_type`
    pub digest: Option<VarId>,
    /// `ucast_egress_port`
    pub unicast_port: Option<VarId>,
    /// Of the types that the half writes, each with the variable that says whether it has.
    pub written: [Option<(VarId, VarId)>; 3],
}

impl HalfTypes {
    /// Says whether a type was written, if the half writes it at all.
    pub fn is_written(&self, var: VarId) -> Option<VarId> {
        self.written.iter().flatten().find(|known| known.0 == var).map(|known| known.1)
    }
}

/// What was made of TNA's externs.
#[derive(Debug, Default)]
pub struct TnaObjects {
    /// Abstract methods that the instance being made implements.
    pub methods: Vec<FnId>,
    /// Register actions so far.
    pub actions: Vec<RegisterAction>,
    /// Types of registers' cells.
    pub cells: Vec<(RegisterId, Ty)>,
    /// CRC polynomials so far.
    pub polynomials: Vec<HashFunction>,
    /// Checksums that the parser being made deposits.
    pub deposits: Vec<Deposit>,
    /// Bits that the parser's state being made has given to each checksum so far, and where last.
    pub summed: Vec<(VarId, u32, Span)>,
    /// Math units so far.
    pub math_units: Vec<MathUnit>,
    /// Hash functions whose message is known from a `get`.
    pub hashed: BTreeSet<HashId>,
    /// Highest and lowest bit of the result of the call that is being lowered, if no others are used.
    pub sliced: Option<(u32, u32)>,
    /// Fields of hash functions that are symmetric, by their names.
    pub symmetric: Vec<(HashId, String, String, Span)>,
    /// What meters give for green, yellow and red, where their constructor says it.
    pub colors: Vec<(MeterId, [u8; 3])>,
    /// The register action that is being made into code.
    pub running: Option<usize>,
    /// The half of a pipe that is being made.
    pub half: Option<HalfTypes>,
    /// The chip that the program is for.
    pub chip: TofinoChip,
    /// Fields of the port metadata that the ingress parser of the pipe reads.
    pub port_metadata: Option<Vec<(String, u32)>>,
}

/// A register action: what it works on, and what it does.
#[derive(Clone, Debug)]
pub struct RegisterAction {
    /// The register.
    pub register: RegisterId,
    /// Type of its cells.
    pub cell: Ty,
    /// Type of the result.
    pub result: Ty,
    /// Its `apply`.
    pub apply: FnId,
    /// Where it was declared.
    pub env: EnvId,
}

/// A checksum whose sum goes to a field.
#[derive(Clone, Copy, Debug)]
pub struct Deposit {
    /// The running sum.
    pub sum: VarId,
    /// One bit: the call was made.
    pub active: VarId,
    /// The field.
    pub residual: VarId,
}

/// What is noted while the program is lowered.
#[derive(Debug, Default)]
pub struct Notes {
    /// What is known already.
    pub view: TnaView,
    /// Names of the variables of the control that is being lowered.
    pub names: BTreeMap<VarId, String>,
    /// Calls of hashes, each with the action that it stands in.
    pub calls: Vec<(HashView, Option<String>)>,
    /// The register whose action is being lowered.
    pub register: Option<RegisterId>,
    /// What the parser that is being lowered unpacks as port metadata.
    pub port_metadata: Option<p4cc_ir::DataType>,
}
