//! What the chip's control plane sees of a TNA program beside P4Info's objects: the pipes by their names,
//! the values that a snapshot shows, what stands in front of packets, hashes that can be changed.

use crate::{ControlPlaneName, DataType, HeaderId, ProfileId, RegisterId, VarId};

/// What BF Runtime's schema needs beside the program itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TnaView {
    /// In the order of the program's pipes.
    pub pipes: Vec<PipeView>,
    /// Action selectors in the order of their declarations.
    pub selectors: Vec<SelectorView>,
    /// Register parameters in the order of their declarations.
    pub params: Vec<ParamView>,
    /// Hashes whose value the program takes, in the order of their first calls.
    pub hashes: Vec<HashView>,
    /// Keys that match in the chip's own ways.
    pub match_kinds: Vec<(crate::TableId, usize, ChipMatch)>,
}

/// One of the chip's pipes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PipeView {
    /// Name of the instance of `Pipeline`.
    pub name: String,
    /// The objects' names begin with the pipe's name already.
    pub named: bool,
    /// Port metadata of the ingress parser.
    pub port_metadata: PortMetadataView,
    /// Controls of ingress and egress.
    pub controls: Vec<ControlView>,
}

/// Port metadata as an ingress parser reads them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PortMetadataView {
    /// Name of the parser.
    pub parser: String,
    /// What the parser calls the intrinsic metadata, if it has them.
    pub intrinsic: Option<String>,
    /// The type that it unpacks, if it does.
    pub data_type: Option<DataType>,
}

/// A control whose values a snapshot shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ControlView {
    /// Name of the control.
    pub name: String,
    /// Runs behind the traffic manager.
    pub is_egress: bool,
    /// Values by their names, with their widths; `$valid` of a header is one.
    pub fields: Vec<(String, u32)>,
    /// Where they stand, in the same order.
    pub places: Vec<ViewPlace>,
}

/// Where a value of a control stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewPlace {
    /// In a variable.
    Var(VarId),
    /// Whether a header is valid.
    Valid(HeaderId),
    /// Nowhere: it reads zero.
    Nowhere,
}

/// An action selector: groups over the members of a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectorView {
    /// For the control plane.
    pub cp: ControlPlaneName,
    /// Where its members are.
    pub profile: ProfileId,
    /// Most members of a group.
    pub max_group_size: u32,
    /// Most groups.
    pub groups: u32,
}

/// A register parameter and the register whose action reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParamView {
    /// The parameter.
    pub param: RegisterId,
    /// The register, if an action of one reads it.
    pub register: Option<RegisterId>,
}

/// A hash with the fields that it is computed of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HashView {
    /// For the control plane.
    pub cp: ControlPlaneName,
    /// Bits of the result.
    pub width: u32,
    /// Fields in order; empty where the data are no list.
    pub fields: Vec<HashDatum>,
    /// Calls of it; the control plane sees a hash with one.
    pub calls: u32,
}

/// A field that a hash is computed of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HashDatum {
    /// As the program writes it.
    pub name: String,
    /// Bits.
    pub width: u32,
    /// A number, not a field of the packet.
    pub constant: bool,
}

/// A way to match that P4Info has no name for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChipMatch {
    /// `atcam_partition_index`
    AtcamPartition,
    /// `dleft_hash`
    DleftHash,
}

impl ChipMatch {
    /// As programs and P4Info name it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AtcamPartition => "atcam_partition_index",
            Self::DleftHash => "dleft_hash",
        }
    }

    /// The match kind of a name.
    pub fn by_name(name: &str) -> Option<Self> {
        [Self::AtcamPartition, Self::DleftHash].into_iter().find(|kind| kind.name() == name)
    }
}
