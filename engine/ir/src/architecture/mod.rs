//! Architectures: their entry points, and what a program of each may do.
//!
//! An architecture is one module with an implementation of [`EntryPoints`], and its lines in the registry:
//! its module, its variant of [`Architecture`], and `Architecture::entry_points`. Other code asks here for a
//! property rather than for an architecture by its name.

mod psa;
mod tna;
mod v1model;

use core::fmt;

use crate::{ExternCall, FuncId, Role, VarId};
pub use psa::*;
pub use tna::*;
pub use v1model::*;

/// Entry points by architecture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Architecture {
    /// `V1Switch`
    V1Model(V1Model),
    /// `PSA_Switch`
    Psa(Box<Psa>),
    /// `Switch` of TNA or T2NA
    Tna(Box<Tna>),
}

/// What an architecture says of a program.
trait EntryPoints {
    /// [`Architecture::name`].
    fn name(&self) -> &'static str;

    /// [`Architecture::entries`].
    fn entries(&self) -> Vec<(FuncId, Role)>;

    /// [`Architecture::may_call`]. Only v1model has calls that write its standard metadata or speak of its
    /// field lists.
    fn may_call(&self, call: &ExternCall) -> bool {
        !matches!(
            call,
            ExternCall::MarkToDrop
                | ExternCall::VerifyChecksum { .. }
                | ExternCall::Clone { .. }
                | ExternCall::Resubmit { .. }
                | ExternCall::Recirculate { .. }
        )
    }

    /// [`Architecture::dropping`].
    fn dropping(&self) -> &'static str;

    /// [`Architecture::first_parser`].
    fn first_parser(&self) -> FuncId;

    /// [`Architecture::last_deparser`].
    fn last_deparser(&self) -> FuncId;

    /// [`Architecture::parser_error`].
    fn parser_error(&self) -> VarId;

    /// [`Architecture::intrinsic`].
    fn intrinsic(&self) -> Vec<VarId>;

    /// [`Architecture::bridges`].
    fn bridges(&self) -> Vec<&Bridge> {
        Vec::new()
    }

    /// [`Architecture::fault`].
    fn fault(&self) -> Option<String> {
        None
    }

    /// Writes the entry points, a line each.
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

impl Architecture {
    fn entry_points(&self) -> &dyn EntryPoints {
        match self {
            Self::V1Model(v1) => v1,
            Self::Psa(psa) => &**psa,
            Self::Tna(tna) => &**tna,
        }
    }

    /// Entry points and metadata of a v1model program.
    pub const fn v1model(&self) -> Option<&V1Model> {
        if let Self::V1Model(v1) = self { Some(v1) } else { None }
    }

    /// Entry points and metadata of a PSA program.
    pub fn psa(&self) -> Option<&Psa> {
        if let Self::Psa(psa) = self { Some(psa) } else { None }
    }

    /// The pipes of a program of TNA or T2NA.
    pub fn tna(&self) -> Option<&Tna> {
        if let Self::Tna(tna) = self { Some(tna) } else { None }
    }

    /// The Tofino chip that a program is for.
    pub fn chip(&self) -> Option<TofinoChip> {
        self.tna().map(|tna| tna.chip)
    }

    /// Its name in P4Info.
    pub fn name(&self) -> &'static str {
        self.entry_points().name()
    }

    /// Entry points in the order in which a packet meets them.
    pub fn entries(&self) -> Vec<(FuncId, Role)> {
        self.entry_points().entries()
    }

    /// Whether its controls and deparsers may make a call.
    pub fn may_call(&self, call: &ExternCall) -> bool {
        self.entry_points().may_call(call)
    }

    /// How a program of it says that a packet goes nowhere, other than by `mark_to_drop`; for messages.
    pub fn dropping(&self) -> &'static str {
        self.entry_points().dropping()
    }

    /// The parser that a packet meets first.
    pub fn first_parser(&self) -> FuncId {
        self.entry_points().first_parser()
    }

    /// The deparser that a packet meets last.
    pub fn last_deparser(&self) -> FuncId {
        self.entry_points().last_deparser()
    }

    /// Where parsers leave their error.
    pub fn parser_error(&self) -> VarId {
        self.entry_points().parser_error()
    }

    /// All variables that the switch itself reads or writes, each at most 64 bits wide.
    pub fn intrinsic(&self) -> Vec<VarId> {
        self.entry_points().intrinsic()
    }

    /// What packets carry from a deparser to a parser.
    pub fn bridges(&self) -> Vec<&Bridge> {
        self.entry_points().bridges()
    }

    /// What is wrong with the entry points, other than a reference to nothing.
    pub fn fault(&self) -> Option<String> {
        self.entry_points().fault()
    }
}

impl From<Psa> for Architecture {
    fn from(psa: Psa) -> Self {
        Self::Psa(Box::new(psa))
    }
}

impl fmt::Display for Architecture {
    /// The entry points, a line each.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.entry_points().write(f)
    }
}

/// Parser, control and deparser of a pipeline, such as the two of PSA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HalfPipeline {
    /// Parser.
    pub parser: FuncId,
    /// Control.
    pub control: FuncId,
    /// Deparser.
    pub deparser: FuncId,
}

impl fmt::Display for HalfPipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { parser, control, deparser } = self;
        write!(f, "parser={parser} control={control} deparser={deparser}")
    }
}

/// The entry points of pipelines that are parsed and deparsed twice.
fn halves(of: impl IntoIterator<Item = HalfPipeline>) -> Vec<(FuncId, Role)> {
    let entries = |half: HalfPipeline| {
        [(half.parser, Role::Parser), (half.control, Role::Control), (half.deparser, Role::CallingDeparser)]
    };
    of.into_iter().flat_map(entries).collect()
}
