//! Entry points of a program of the Portable Switch Architecture (PSA 1.2, sections 3 and 6).
//!
//! A packet is deparsed at the end of ingress and parsed again by egress;
//! what ingress knows of it goes along only as the metadata of a [`Bridge`].

use core::fmt;

use super::{EntryPoints, HalfPipeline, halves};
use crate::{FuncId, HeaderId, Role, VarId};

/// The port that leads from the end of egress back to ingress.
pub const PSA_PORT_RECIRCULATE: u32 = 0xffff_fffa;
/// The controller's port.
pub const PSA_PORT_CPU: u32 = 0xffff_fffd;

/// Metadata that a deparser writes and a parser reads: the packet carries it from one to the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bridge {
    /// Variables.
    pub vars: Vec<VarId>,
    /// Headers, whose fields are among the variables.
    pub headers: Vec<HeaderId>,
}

/// What a parser knows of the packet's way, the same for both pipelines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PsaParserInput {
    /// Port of the pipeline: that of arrival in ingress, that of departure in egress.
    pub port: VarId,
    /// How the packet came here (`PSA_PacketPath_t`).
    pub packet_path: VarId,
}

/// `psa_ingress_input_metadata_t`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PsaIngressInput {
    /// Port that the packet came in by.
    pub ingress_port: VarId,
    /// How the packet came here (`PSA_PacketPath_t`).
    pub packet_path: VarId,
    /// When the packet came in.
    pub ingress_timestamp: VarId,
    /// Error of the ingress parser.
    pub parser_error: VarId,
}

/// `psa_ingress_output_metadata_t`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PsaIngressOutput {
    /// Class that chooses the packet's queue.
    pub class_of_service: VarId,
    /// Whether to clone the packet.
    pub clone: VarId,
    /// Session of the clone, which names its ports.
    pub clone_session_id: VarId,
    /// Whether to drop the packet.
    pub drop: VarId,
    /// Whether the packet goes through ingress again.
    pub resubmit: VarId,
    /// Group that the packet goes to; 0 for none.
    pub multicast_group: VarId,
    /// Port that the packet goes to, unless it goes to a group.
    pub egress_port: VarId,
}

/// `psa_egress_input_metadata_t`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PsaEgressInput {
    /// Class that chose the packet's queue.
    pub class_of_service: VarId,
    /// Port that the packet leaves by.
    pub egress_port: VarId,
    /// How the packet came here (`PSA_PacketPath_t`).
    pub packet_path: VarId,
    /// Number of the replica within its group or session.
    pub instance: VarId,
    /// When egress began.
    pub egress_timestamp: VarId,
    /// Error of the egress parser.
    pub parser_error: VarId,
}

/// `psa_egress_output_metadata_t`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PsaEgressOutput {
    /// Whether to clone the packet.
    pub clone: VarId,
    /// Session of the clone, which names its ports.
    pub clone_session_id: VarId,
    /// Whether to drop the packet.
    pub drop: VarId,
}

/// A PSA program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Psa {
    /// Ingress.
    pub ingress: HalfPipeline,
    /// Egress.
    pub egress: HalfPipeline,
    /// Where parsers leave their error.
    pub parser_error: VarId,
    /// Input of the ingress parser.
    pub ingress_parser_input: PsaParserInput,
    /// Input of ingress.
    pub ingress_input: PsaIngressInput,
    /// What ingress decides.
    pub ingress_output: PsaIngressOutput,
    /// Input of the egress parser.
    pub egress_parser_input: PsaParserInput,
    /// Input of egress.
    pub egress_input: PsaEgressInput,
    /// What egress decides.
    pub egress_output: PsaEgressOutput,
    /// The egress deparser's `egress_port`.
    pub egress_deparser_port: VarId,
    /// `normal_meta`
    pub normal: Bridge,
    /// `resubmit_meta`
    pub resubmit: Bridge,
    /// `recirculate_meta`
    pub recirculate: Bridge,
    /// `clone_i2e_meta`
    pub clone_i2e: Bridge,
    /// `clone_e2e_meta`
    pub clone_e2e: Bridge,
}

impl Psa {
    /// The metadata that ingress hands to egress, by any way, and egress to itself: what waits in queues.
    pub fn queued(&self) -> [&Bridge; 3] {
        [&self.normal, &self.clone_i2e, &self.clone_e2e]
    }
}

impl EntryPoints for Psa {
    fn name(&self) -> &'static str {
        "psa"
    }

    fn entries(&self) -> Vec<(FuncId, Role)> {
        halves([self.ingress, self.egress])
    }

    fn dropping(&self) -> &'static str {
        "`drop` of its output metadata is true; send_to_port was not called"
    }

    fn first_parser(&self) -> FuncId {
        self.ingress.parser
    }

    fn last_deparser(&self) -> FuncId {
        self.egress.deparser
    }

    fn parser_error(&self) -> VarId {
        self.parser_error
    }

    fn bridges(&self) -> Vec<&Bridge> {
        vec![&self.normal, &self.resubmit, &self.recirculate, &self.clone_i2e, &self.clone_e2e]
    }

    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "psa ingress {}", self.ingress)?;
        writeln!(f, "psa egress {}", self.egress)
    }

    fn intrinsic(&self) -> Vec<VarId> {
        let (pi, ii, io) = (self.ingress_parser_input, self.ingress_input, self.ingress_output);
        let (pe, ei, eo) = (self.egress_parser_input, self.egress_input, self.egress_output);
        vec![
            self.parser_error,
            pi.port,
            pi.packet_path,
            ii.ingress_port,
            ii.packet_path,
            ii.ingress_timestamp,
            ii.parser_error,
            io.class_of_service,
            io.clone,
            io.clone_session_id,
            io.drop,
            io.resubmit,
            io.multicast_group,
            io.egress_port,
            pe.port,
            pe.packet_path,
            ei.class_of_service,
            ei.egress_port,
            ei.packet_path,
            ei.instance,
            ei.egress_timestamp,
            ei.parser_error,
            eo.clone,
            eo.clone_session_id,
            eo.drop,
            self.egress_deparser_port,
        ]
    }
}
