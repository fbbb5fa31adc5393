//! Entry points of a program of the Tofino Native Architecture (TNA 2.0.1, Tofino 1).
//!
//! As in PSA a packet is deparsed at the end of ingress and parsed again by egress. What ingress knows of it
//! goes along as bytes that the program writes in front of the packet and reads again. Before each parser the
//! switch puts intrinsic metadata in front, which the program extracts like a header.

use crate::{HalfPipeline, TnaView, VarId};

/// Bytes of `ingress_intrinsic_metadata_t`.
pub const TNA_INGRESS_METADATA_BYTES: usize = 8;
/// Bytes between it and the packet: port metadata, or what a resubmission brought (`PORT_METADATA_SIZE`).
pub const TNA_PORT_METADATA_BYTES: usize = 8;
/// Bytes of `egress_intrinsic_metadata_t`.
pub const TNA_EGRESS_METADATA_BYTES: usize = 27;
/// What `ucast_egress_port` holds while nobody has written it: no port of the chip has this number.
pub const TNA_NO_PORT: u64 = 0x1ff;

/// What a parser leaves beside the headers (`..._intrinsic_metadata_from_parser_t`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TnaFromParser {
    /// When the packet came to the pipeline, in nanoseconds.
    pub global_tstamp: VarId,
    /// Errors of the parser, one bit each.
    pub parser_err: VarId,
}

/// What ingress asks of its deparser (`ingress_intrinsic_metadata_for_deparser_t`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TnaForDeparser {
    /// Bit 0 stops unicast, multicast and resubmission, bit 1 the copy to the CPU.
    pub drop_ctl: VarId,
    /// Which digest is sent.
    pub digest_type: VarId,
    /// Which resubmission is made.
    pub resubmit_type: VarId,
    /// Which mirror header is written.
    pub mirror_type: VarId,
}

/// What ingress asks of the traffic manager (`ingress_intrinsic_metadata_for_tm_t`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TnaForTm {
    /// Port that the packet goes to.
    pub ucast_egress_port: VarId,
    /// Egress is left out.
    pub bypass_egress: VarId,
    /// Queue of the port.
    pub qid: VarId,
    /// The packet goes to the CPU's port, too.
    pub copy_to_cpu: VarId,
    /// First multicast group; 0 for none.
    pub mcast_grp_a: VarId,
    /// Second multicast group; 0 for none.
    pub mcast_grp_b: VarId,
}

/// What egress asks of its deparser (`egress_intrinsic_metadata_for_deparser_t`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TnaForEgressDeparser {
    /// Bit 0 stops the packet, bit 2 mirroring.
    pub drop_ctl: VarId,
    /// Which mirror header is written.
    pub mirror_type: VarId,
}

/// Ingress and egress of one of the chip's pipes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TnaPipe {
    /// Ingress.
    pub ingress: HalfPipeline,
    /// Ingress looks at `parser_err` itself: packets with an error are not dropped.
    pub ingress_reads_error: bool,
    /// What the ingress parser leaves.
    pub ingress_from_parser: TnaFromParser,
    /// What ingress asks of its deparser.
    pub for_deparser: TnaForDeparser,
    /// What ingress asks of the traffic manager.
    pub for_tm: TnaForTm,
    /// Egress.
    pub egress: HalfPipeline,
    /// What the egress parser leaves.
    pub egress_from_parser: TnaFromParser,
    /// What egress asks of its deparser.
    pub for_egress_deparser: TnaForEgressDeparser,
}

/// A TNA program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tna {
    /// One to four pipes. A port belongs to the pipe that bits 8 and 7 of its number say, modulo how many
    /// there are.
    pub pipes: Vec<TnaPipe>,
    /// Where parsers leave their error.
    pub parser_error: VarId,
    /// What the chip's control plane sees beside the program's objects.
    pub view: TnaView,
}

impl Tna {
    /// The pipe of a port.
    pub fn pipe_of(&self, port: u32) -> Option<&TnaPipe> {
        let at = (port >> 7 & 3) as usize;
        self.pipes.get(at % self.pipes.len().max(1))
    }

    /// All variables that the switch itself reads or writes, each at most 64 bits wide.
    pub fn intrinsic(&self) -> Vec<VarId> {
        let mut all = vec![self.parser_error];
        for pipe in &self.pipes {
            let (ip, id, tm) = (pipe.ingress_from_parser, pipe.for_deparser, pipe.for_tm);
            let (ep, ed) = (pipe.egress_from_parser, pipe.for_egress_deparser);
            all.extend([ip.global_tstamp, ip.parser_err, ep.global_tstamp, ep.parser_err]);
            all.extend([id.drop_ctl, id.digest_type, id.resubmit_type, id.mirror_type]);
            all.extend([tm.ucast_egress_port, tm.bypass_egress, tm.qid, tm.copy_to_cpu]);
            all.extend([tm.mcast_grp_a, tm.mcast_grp_b, ed.drop_ctl, ed.mirror_type]);
        }
        all
    }
}
