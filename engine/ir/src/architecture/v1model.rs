//! Entry points of a v1model program.

use core::fmt;

use super::EntryPoints;
use crate::{ExternCall, FuncId, Role, VarId};

/// Variables of `standard_metadata`; names and widths are v1model's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StandardMetadata {
    /// Port that the packet came in by.
    pub ingress_port: VarId,
    /// Port that ingress sends the packet to; the drop port to drop it.
    pub egress_spec: VarId,
    /// Port that the packet leaves by; set for egress.
    pub egress_port: VarId,
    /// How the packet came to be: 0 for a normal one, else a clone, replica, resubmission or recirculation.
    pub instance_type: VarId,
    /// Length of the packet in bytes.
    pub packet_length: VarId,
    /// When the packet entered its queue, in the switch's timestamp unit.
    pub enq_timestamp: VarId,
    /// Depth of the queue when the packet entered it, in the port's unit.
    pub enq_qdepth: VarId,
    /// Time that the packet waited in its queue, in the switch's timestamp unit.
    pub deq_timedelta: VarId,
    /// Depth of the queue when the packet left it, in the port's unit.
    pub deq_qdepth: VarId,
    /// When the packet came in, in the switch's timestamp unit.
    pub ingress_global_timestamp: VarId,
    /// When egress began, in the switch's timestamp unit.
    pub egress_global_timestamp: VarId,
    /// Multicast group that ingress sends the packet to; 0 for none.
    pub mcast_grp: VarId,
    /// Number of the replica within its group or session.
    pub egress_rid: VarId,
    /// 1 if a checksum was wrong.
    pub checksum_error: VarId,
    /// Error of the parser.
    pub parser_error: VarId,
    /// Priority of the packet's queue.
    pub priority: VarId,
}

/// Entry points of a v1model program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct V1Model {
    /// Parser.
    pub parser: FuncId,
    /// Control that verifies checksums, before ingress.
    pub verify_checksum: FuncId,
    /// Ingress control.
    pub ingress: FuncId,
    /// Egress control.
    pub egress: FuncId,
    /// Control that computes checksums, after egress.
    pub compute_checksum: FuncId,
    /// Deparser.
    pub deparser: FuncId,
    /// Variables that the architecture sets and reads.
    pub metadata: StandardMetadata,
}

impl StandardMetadata {
    /// All of them.
    fn vars(&self) -> Vec<VarId> {
        vec![
            self.ingress_port,
            self.egress_spec,
            self.egress_port,
            self.instance_type,
            self.packet_length,
            self.enq_timestamp,
            self.enq_qdepth,
            self.deq_timedelta,
            self.deq_qdepth,
            self.ingress_global_timestamp,
            self.egress_global_timestamp,
            self.mcast_grp,
            self.egress_rid,
            self.checksum_error,
            self.parser_error,
            self.priority,
        ]
    }
}

impl EntryPoints for V1Model {
    fn name(&self) -> &'static str {
        "v1model"
    }

    fn entries(&self) -> Vec<(FuncId, Role)> {
        vec![
            (self.parser, Role::Parser),
            (self.verify_checksum, Role::Control),
            (self.ingress, Role::Control),
            (self.egress, Role::Control),
            (self.compute_checksum, Role::Control),
            (self.deparser, Role::Deparser),
        ]
    }

    fn may_call(&self, _call: &ExternCall) -> bool {
        true
    }

    fn dropping(&self) -> &'static str {
        "egress_spec is the drop port"
    }

    fn first_parser(&self) -> FuncId {
        self.parser
    }

    fn last_deparser(&self) -> FuncId {
        self.deparser
    }

    fn parser_error(&self) -> VarId {
        self.metadata.parser_error
    }

    fn intrinsic(&self) -> Vec<VarId> {
        self.metadata.vars()
    }

    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v1model parser={} verify={} ingress={}", self.parser, self.verify_checksum, self.ingress)?;
        writeln!(f, " egress={} compute={} deparser={}", self.egress, self.compute_checksum, self.deparser)
    }
}
