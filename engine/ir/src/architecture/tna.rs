//! Entry points of a program of the Tofino Native Architectures: TNA 2.0.1 of Tofino 1, T2NA 1.0.1 of
//! Tofino 2.
//!
//! As in PSA a packet is deparsed at the end of ingress and parsed again by egress. What ingress knows of it
//! goes along as bytes that the program writes in front of the packet and reads again. Before each parser the
//! switch puts intrinsic metadata in front, which the program extracts like a header.

use core::fmt;

use super::{EntryPoints, HalfPipeline, halves};
use crate::{ExternCall, FuncId, Role, TnaView, VarId};

/// Bytes of `ingress_intrinsic_metadata_t`.
pub const TNA_INGRESS_METADATA_BYTES: usize = 8;
/// Bytes between it and the packet at most ([`TofinoChip::port_metadata_bytes`]).
pub const TNA_MAX_PORT_METADATA_BYTES: usize = 24;
/// Bytes of `egress_intrinsic_metadata_t` at most ([`TofinoChip::egress_metadata_bytes`]).
pub const TNA_MAX_EGRESS_METADATA_BYTES: usize = 28;
/// What `ucast_egress_port` holds while nobody has written it: no port of the chip has this number.
pub const TNA_NO_PORT: u64 = 0x1ff;

/// Which chip a program is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TofinoChip {
    /// Tofino 1, by TNA.
    #[default]
    Tofino1,
    /// Tofino 2, by T2NA.
    Tofino2,
}

impl TofinoChip {
    /// The architecture's name.
    pub const fn architecture(self) -> &'static str {
        match self {
            Self::Tofino1 => "TNA",
            Self::Tofino2 => "T2NA",
        }
    }

    /// Bytes between the intrinsic metadata of ingress and the packet: port metadata, or what a resubmission
    /// brought (`PORT_METADATA_SIZE`).
    pub const fn port_metadata_bytes(self) -> usize {
        match self {
            Self::Tofino1 => 8,
            Self::Tofino2 => 24,
        }
    }

    /// Bytes of `egress_intrinsic_metadata_t`.
    pub const fn egress_metadata_bytes(self) -> usize {
        match self {
            Self::Tofino1 => 27,
            Self::Tofino2 => 28,
        }
    }

    /// Bits of a time that a packet spends in a queue, and of when it came there.
    pub const fn queue_time_bits(self) -> u32 {
        match self {
            Self::Tofino1 => 18,
            Self::Tofino2 => 32,
        }
    }

    /// Bytes of a cell of the traffic manager's memory, the unit of depths.
    pub const fn cell_bytes(self) -> u32 {
        match self {
            Self::Tofino1 => 80,
            Self::Tofino2 => 176,
        }
    }
}

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
    /// Of Tofino 2.
    pub t2na: Option<T2naForDeparser>,
}

/// What ingress asks of the traffic manager (`ingress_intrinsic_metadata_for_tm_t`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TnaForTm {
    /// Port that the packet goes to.
    pub ucast_egress_port: VarId,
    /// Egress is left out.
    pub bypass_egress: VarId,
    /// What the traffic manager's full queue would drop goes to another port instead.
    pub deflect_on_drop: VarId,
    /// Queue of the port.
    pub qid: VarId,
    /// The packet goes to the CPU's port, too.
    pub copy_to_cpu: VarId,
    /// First multicast group; 0 for none.
    pub mcast_grp_a: VarId,
    /// Second multicast group; 0 for none.
    pub mcast_grp_b: VarId,
    /// Chooses among nodes of level 1.
    pub level1_mcast_hash: VarId,
    /// Chooses among ports of level 2.
    pub level2_mcast_hash: VarId,
    /// Members of groups with this number get no copy.
    pub level1_exclusion_id: VarId,
    /// Says which ports of level 2 get no copy.
    pub level2_exclusion_id: VarId,
    /// Nodes with this number leave out such ports.
    pub rid: VarId,
}

/// What either deparser is asked for on Tofino 2 only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct T2naForDeparser {
    /// Mirror the packet as it leaves the half, not as it came in.
    pub mirror_io_select: VarId,
    /// Ingress starts the packet generator.
    pub pktgen: Option<VarId>,
    /// Bytes that the packet is cut to as it leaves the half, with its check sequence, 0 for all; where the
    /// half asks for it at all.
    pub mtu_trunc_len: Option<VarId>,
    /// Which queue to pause or to resume, where the half asks for it at all.
    pub adv_flow_ctl: Option<VarId>,
    /// What the half says of its mirrored copies in place of the session.
    pub mirror: T2naMirror,
}

/// A field that counts only where the program wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrittenVar {
    /// The field.
    pub value: VarId,
    /// Whether it was written.
    pub written: VarId,
}

/// Fields of a half of Tofino 2 that stand in for those of its mirror session, where it writes them at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct T2naMirror {
    /// Both hashes of the replication engine.
    pub hash: Option<WrittenVar>,
    /// A copy whose queue is full goes elsewhere.
    pub deflect_on_drop: Option<WrittenVar>,
    /// Whether copies go to the session's groups.
    pub multicast_ctrl: Option<WrittenVar>,
    /// Port of the copy.
    pub egress_port: Option<WrittenVar>,
    /// Queue of the copies.
    pub qid: Option<WrittenVar>,
}

impl T2naMirror {
    fn vars(self) -> impl Iterator<Item = VarId> {
        let Self { hash, deflect_on_drop, multicast_ctrl, egress_port, qid } = self;
        let fields = [hash, deflect_on_drop, multicast_ctrl, egress_port, qid];
        fields.into_iter().flatten().flat_map(|field| [field.value, field.written])
    }
}

/// What egress asks of its deparser (`egress_intrinsic_metadata_for_deparser_t`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TnaForEgressDeparser {
    /// Bit 0 stops the packet, bit 2 mirroring.
    pub drop_ctl: VarId,
    /// Which mirror header is written.
    pub mirror_type: VarId,
    /// Of Tofino 2.
    pub t2na: Option<T2naForDeparser>,
}

/// The ghost thread of a pipe (Tofino 2): a control that runs when the depth of a queue changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ghost {
    /// The control.
    pub control: FuncId,
    /// What it is told.
    pub told: TnaGhost,
}

/// The fields of `ghost_intrinsic_metadata_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TnaGhost {
    /// Which of two copies of the depths is written.
    pub ping_pong: VarId,
    /// Depth in cells.
    pub qlength: VarId,
    /// Queue, with its port within the pipe.
    pub qid: VarId,
    /// Pipe of the port.
    pub pipe_id: VarId,
}

/// Port metadata as the parser reads them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TnaPortMetadata {
    /// Control-plane name of the ingress parser.
    pub parser: String,
    /// Name and bits of the fields, the first in the first bits; none where the program reads the bits as it
    /// likes.
    pub fields: Vec<(String, u32)>,
}

/// Ingress and egress of one of the chip's pipes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TnaPipe {
    /// Name of its instance.
    pub name: String,
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
    /// The ghost thread.
    pub ghost: Option<Ghost>,
    /// What the control plane may set for each port.
    pub port_metadata: TnaPortMetadata,
}

impl TnaForTm {
    /// All of them.
    pub const fn vars(self) -> [VarId; 12] {
        let Self {
            ucast_egress_port,
            bypass_egress,
            deflect_on_drop,
            qid,
            copy_to_cpu,
            mcast_grp_a,
            mcast_grp_b,
            level1_mcast_hash,
            level2_mcast_hash,
            level1_exclusion_id,
            level2_exclusion_id,
            rid,
        } = self;
        [
            ucast_egress_port,
            bypass_egress,
            deflect_on_drop,
            qid,
            copy_to_cpu,
            mcast_grp_a,
            mcast_grp_b,
            level1_mcast_hash,
            level2_mcast_hash,
            level1_exclusion_id,
            level2_exclusion_id,
            rid,
        ]
    }
}

impl TnaGhost {
    fn vars(self) -> [VarId; 4] {
        [self.ping_pong, self.qlength, self.qid, self.pipe_id]
    }
}

impl T2naForDeparser {
    /// All that there are.
    pub fn vars(self) -> impl Iterator<Item = VarId> {
        let Self { mirror_io_select, pktgen, mtu_trunc_len, adv_flow_ctl, mirror } = self;
        let single = [Some(mirror_io_select), pktgen, mtu_trunc_len, adv_flow_ctl];
        single.into_iter().flatten().chain(mirror.vars())
    }
}

/// A TNA or T2NA program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tna {
    /// The chip that it is for.
    pub chip: TofinoChip,
    /// One to four pipes. A port belongs to the pipe that bits 8 and 7 of its number say, modulo how many
    /// there are.
    pub pipes: Vec<TnaPipe>,
    /// Where parsers leave their error.
    pub parser_error: VarId,
    /// What the chip's control plane sees beside the program's objects.
    pub view: TnaView,
}

impl EntryPoints for Tna {
    fn name(&self) -> &'static str {
        match self.chip {
            TofinoChip::Tofino1 => "tna",
            TofinoChip::Tofino2 => "t2na",
        }
    }

    fn entries(&self) -> Vec<(FuncId, Role)> {
        let mut all = halves(self.pipes.iter().flat_map(|pipe| [pipe.ingress, pipe.egress]));
        let ghosts = self.pipes.iter().filter_map(|pipe| pipe.ghost);
        all.extend(ghosts.map(|ghost| (ghost.control, Role::Control)));
        all
    }

    /// Its deparsers mirror, resubmit, and start the packet generator, too.
    fn may_call(&self, call: &ExternCall) -> bool {
        !matches!(call, ExternCall::MarkToDrop | ExternCall::VerifyChecksum { .. })
    }

    fn dropping(&self) -> &'static str {
        "it chose no egress port, or drop_ctl drops"
    }

    fn first_parser(&self) -> FuncId {
        self.pipes.first().map_or(FuncId(0), |pipe| pipe.ingress.parser)
    }

    fn last_deparser(&self) -> FuncId {
        self.pipes.last().map_or(FuncId(0), |pipe| pipe.egress.deparser)
    }

    fn parser_error(&self) -> VarId {
        self.parser_error
    }

    fn fault(&self) -> Option<String> {
        let pipes = self.pipes.len();
        (!(1..=4).contains(&pipes)).then(|| format!("{pipes} pipes, not 1 to 4"))
    }

    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pipes.iter().enumerate().try_for_each(|(index, pipe)| {
            writeln!(f, "tna pipe {index} ingress {}", pipe.ingress)?;
            writeln!(f, "tna pipe {index} egress {}", pipe.egress)?;
            let mut ghosts = pipe.ghost.iter();
            ghosts.try_for_each(|ghost| writeln!(f, "tna pipe {index} ghost control={}", ghost.control))
        })
    }

    fn intrinsic(&self) -> Vec<VarId> {
        let mut all = vec![self.parser_error];
        for pipe in &self.pipes {
            all.extend(pipe.ghost.into_iter().flat_map(|ghost| ghost.told.vars()));
            let of_t2na = [pipe.for_deparser.t2na, pipe.for_egress_deparser.t2na];
            all.extend(of_t2na.into_iter().flatten().flat_map(T2naForDeparser::vars));
            let (ip, id, tm) = (pipe.ingress_from_parser, pipe.for_deparser, pipe.for_tm);
            let (ep, ed) = (pipe.egress_from_parser, pipe.for_egress_deparser);
            all.extend([ip.global_tstamp, ip.parser_err, ep.global_tstamp, ep.parser_err]);
            all.extend([id.drop_ctl, id.digest_type, id.resubmit_type, id.mirror_type]);
            all.extend([ed.drop_ctl, ed.mirror_type]);
            all.extend(tm.vars());
        }
        all
    }
}
