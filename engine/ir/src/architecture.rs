//! What differs between architectures: the entry points, and what a program of each may do.
//!
//! Other code asks here for a property rather than for an architecture by its name.

use core::fmt;

use crate::{ExternCall, FuncId, HalfPipeline, Psa, Role, Tna, TofinoChip, V1Model, VarId};

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

impl Architecture {
    /// Entry points and metadata of a v1model program.
    pub const fn v1model(&self) -> Option<&V1Model> {
        if let Self::V1Model(v1) = self { Some(v1) } else { None }
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
    pub const fn name(&self) -> &'static str {
        match self {
            Self::V1Model(_) => "v1model",
            Self::Psa(_) => "psa",
            Self::Tna(tna) => match tna.chip {
                TofinoChip::Tofino1 => "tna",
                TofinoChip::Tofino2 => "t2na",
            },
        }
    }

    /// Entry points in the order in which a packet meets them.
    pub fn entries(&self) -> Vec<(FuncId, Role)> {
        match self {
            Self::V1Model(v1) => vec![
                (v1.parser, Role::Parser),
                (v1.verify_checksum, Role::Control),
                (v1.ingress, Role::Control),
                (v1.egress, Role::Control),
                (v1.compute_checksum, Role::Control),
                (v1.deparser, Role::Deparser),
            ],
            Self::Psa(psa) => halves([psa.ingress, psa.egress]),
            Self::Tna(tna) => {
                let mut all = halves(tna.pipes.iter().flat_map(|pipe| [pipe.ingress, pipe.egress]));
                let ghosts = tna.pipes.iter().filter_map(|pipe| pipe.ghost);
                all.extend(ghosts.map(|ghost| (ghost.control, Role::Control)));
                all
            }
        }
    }

    /// Whether its controls and deparsers may make a call: some write v1model's standard metadata or speak
    /// of its field lists, and TNA's deparsers mirror, resubmit, and start the packet generator, too.
    pub const fn may_call(&self, call: &ExternCall) -> bool {
        match call {
            ExternCall::MarkToDrop | ExternCall::VerifyChecksum { .. } => matches!(self, Self::V1Model(_)),
            ExternCall::Clone { .. } | ExternCall::Resubmit { .. } | ExternCall::Recirculate { .. } => {
                matches!(self, Self::V1Model(_) | Self::Tna(_))
            }
            _ => true,
        }
    }

    /// How a program of it says that a packet goes nowhere, other than by `mark_to_drop`; for messages.
    pub const fn dropping(&self) -> &'static str {
        match self {
            Self::V1Model(_) => "egress_spec is the drop port",
            Self::Psa(_) => "`drop` of its output metadata is true; send_to_port was not called",
            Self::Tna(_) => "it chose no egress port, or drop_ctl drops",
        }
    }

    /// The parser that a packet meets first.
    pub fn first_parser(&self) -> FuncId {
        match self {
            Self::V1Model(v1) => v1.parser,
            Self::Psa(psa) => psa.ingress.parser,
            Self::Tna(tna) => tna.pipes.first().map_or(FuncId(0), |pipe| pipe.ingress.parser),
        }
    }

    /// The deparser that a packet meets last.
    pub fn last_deparser(&self) -> FuncId {
        match self {
            Self::V1Model(v1) => v1.deparser,
            Self::Psa(psa) => psa.egress.deparser,
            Self::Tna(tna) => tna.pipes.last().map_or(FuncId(0), |pipe| pipe.egress.deparser),
        }
    }

    /// Where parsers leave their error.
    pub const fn parser_error(&self) -> VarId {
        match self {
            Self::V1Model(v1) => v1.metadata.parser_error,
            Self::Psa(psa) => psa.parser_error,
            Self::Tna(tna) => tna.parser_error,
        }
    }
}

impl fmt::Display for Architecture {
    /// The entry points, a line each.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::V1Model(v1) => {
                write!(
                    f,
                    "v1model parser={} verify={} ingress={}",
                    v1.parser, v1.verify_checksum, v1.ingress
                )?;
                writeln!(f, " egress={} compute={} deparser={}", v1.egress, v1.compute_checksum, v1.deparser)
            }
            Self::Psa(psa) => {
                writeln!(f, "psa ingress {}", psa.ingress)?;
                writeln!(f, "psa egress {}", psa.egress)
            }
            Self::Tna(tna) => tna.pipes.iter().enumerate().try_for_each(|(index, pipe)| {
                writeln!(f, "tna pipe {index} ingress {}", pipe.ingress)?;
                writeln!(f, "tna pipe {index} egress {}", pipe.egress)?;
                let mut ghosts = pipe.ghost.iter();
                ghosts.try_for_each(|ghost| writeln!(f, "tna pipe {index} ghost control={}", ghost.control))
            }),
        }
    }
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
