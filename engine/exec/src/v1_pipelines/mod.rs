//! A v1model program as two pipelines: ingress, which runs before a packet's queue, and egress, which runs
//! after it.
//!
//! In v1model a packet keeps its headers and metadata while it waits. It is not deparsed and parsed again. A
//! whole frame for each waiting packet would take kilobytes, so a [`Snapshot`] keeps what is live: the valid
//! headers, and the metadata that egress, checksum computation or the deparser reads.
//!
//! A pipeline runs in one of two ways. A [`BlockRunner`] runs its programmable blocks (parser, controls,
//! deparser) one after the other, as this module does. Native code runs a whole pipeline as one function.
//! Both leave the same frame, state and effects.

pub(crate) mod liveness;

use p4cc_ir::{FuncId, HeaderId, Program, StandardMetadata, V1Model, VarId};

use self::liveness::LiveVars;
use crate::env::{Env, PacketView, ParseResult};
use crate::op::Code;
use crate::snapshot::Snapshot;
use crate::{Frame, Pipeline};

/// How much metadata the architecture sets before the parser starts.
const INGRESS_METADATA: usize = 4;
/// How much it sets when a packet leaves its queue.
pub(crate) const EGRESS_METADATA: usize = 10;

/// A packet at the entrance of the parser.
#[derive(Clone, Copy, Debug)]
pub struct IngressStart<'a> {
    /// The packet.
    pub packet: PacketView<'a>,
    /// Port and time of arrival of a packet from outside, whose frame starts empty. Absent where the frame
    /// holds what the packet brings along from its previous run.
    pub outside: Option<(u32, u64)>,
    /// v1model's `instance_type`.
    pub instance_type: u32,
    /// Port that stands for a drop.
    pub drop_port: u32,
}

/// Metadata that the architecture sets when a packet leaves its queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
// Native code reads the words where they stand, in the order of `set_at_egress`.
#[repr(C)]
pub struct EgressMetadata {
    /// Port chosen so far; not the drop port.
    pub egress_spec: u64,
    /// Port that the packet leaves by.
    pub egress_port: u64,
    /// How the packet came to be: 0 for a normal one, else a clone, replica or recirculation.
    pub instance_type: u64,
    /// Length in bytes.
    pub packet_length: u64,
    /// When the packet entered its queue, in the switch's timestamp unit.
    pub enq_timestamp: u64,
    /// Depth of the queue when the packet entered it, in the port's unit.
    pub enq_qdepth: u64,
    /// Time in the queue, in the switch's timestamp unit.
    pub deq_timedelta: u64,
    /// Depth of the queue when the packet left it, in the port's unit.
    pub deq_qdepth: u64,
    /// When egress starts, in the switch's timestamp unit.
    pub egress_global_timestamp: u64,
    /// Number of the replica within its group or session.
    pub egress_rid: u64,
}

impl IngressStart<'_> {
    /// In the order of [`V1Pipelines::set_at_ingress`].
    #[inline]
    pub(crate) fn words(&self) -> [u64; INGRESS_METADATA] {
        let (port, stamp) = self.outside.unwrap_or((0, 0));
        [port.into(), stamp, self.packet.len(), self.instance_type.into()]
    }
}

impl EgressMetadata {
    /// In the order of [`set_at_egress`].
    #[inline]
    pub(crate) fn words(&self) -> [u64; EGRESS_METADATA] {
        [
            self.egress_spec,
            self.egress_port,
            self.instance_type,
            self.packet_length,
            self.enq_timestamp,
            self.enq_qdepth,
            self.deq_timedelta,
            self.deq_qdepth,
            self.egress_global_timestamp,
            self.egress_rid,
        ]
    }
}

/// Metadata that the architecture sets when a packet leaves its queue.
fn set_at_egress(metadata: &StandardMetadata) -> [VarId; EGRESS_METADATA] {
    let StandardMetadata {
        egress_spec,
        egress_port,
        instance_type,
        packet_length,
        enq_timestamp,
        enq_qdepth,
        deq_timedelta,
        deq_qdepth,
        egress_global_timestamp,
        egress_rid,
        ..
    } = *metadata;
    [
        egress_spec,
        egress_port,
        instance_type,
        packet_length,
        enq_timestamp,
        enq_qdepth,
        deq_timedelta,
        deq_qdepth,
        egress_global_timestamp,
        egress_rid,
    ]
}

/// A packet that left its queue.
#[derive(Clone, Copy, Debug)]
pub struct EgressStart<'a> {
    /// What ingress, or [`V1Pipelines::save`], left of it.
    pub saved: &'a [u8],
    /// What the architecture sets.
    pub metadata: EgressMetadata,
    /// Port that stands for a drop.
    pub drop_port: u32,
}

/// How the egress pipeline ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EgressEnd {
    /// Egress dropped the packet; nothing ran after it.
    Dropped,
    /// Checksums are computed, and [`Frame::front`] is what the deparser emitted.
    Deparsed,
    /// Egress made a request that the architecture answers from the frame. Checksums and deparser are still
    /// to run.
    Requested,
}

/// How far a packet came that may bypass its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BypassEnd {
    /// Behind ingress, as [`crate::Executor::ingress`] leaves it.
    Waits,
    /// Egress dropped it.
    Dropped,
    /// Through; [`Frame::front`] is what the deparser emitted.
    Deparsed,
}

/// What became of a packet that may bypass its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BypassResult {
    /// It is through; what the deparser emitted stands in the room that it was given, with as many bytes
    /// behind it as the parser left of those that are stored.
    Written {
        /// Bytes that were emitted.
        bytes: u32,
        /// Bytes that the parser took.
        taken: u32,
    },
    /// Something else.
    Other(ParseResult, BypassEnd),
}

/// Where a metadata field of a packet that bypasses its queue comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MetadataSource {
    Zero,
    /// The port that it leaves by.
    Port,
    /// A number that is not the drop port: the next one.
    NoDrop,
    /// Some of what [`IngressStart::words`] gives.
    Input(usize),
}

/// The source of each field of [`EgressMetadata`] when a packet bypasses its queue: the packet is
/// of the normal kind, its queue is empty, no time passes.
pub(crate) const BYPASS_METADATA: [MetadataSource; EGRESS_METADATA] = [
    MetadataSource::NoDrop,
    MetadataSource::Port,
    MetadataSource::Zero,
    MetadataSource::Input(2),
    MetadataSource::Input(1),
    MetadataSource::Zero,
    MetadataSource::Zero,
    MetadataSource::Zero,
    MetadataSource::Input(1),
    MetadataSource::Zero,
];

/// How ingress left a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Queue that the packet goes to.
    pub priority: u8,
    /// Multicast group; 0 for none.
    pub mcast_grp: u32,
    /// Port that the packet goes to, or the drop port.
    pub egress_spec: u32,
}

/// The ingress and egress pipeline of a v1model program. Usable only with the pipeline it was made from.
#[derive(Debug)]
pub struct V1Pipelines {
    v1: V1Model,
    /// Slots of priority, multicast group, egress specification.
    verdict: [u32; 3],
    /// For each of [`set_at_egress`] whether it is set: what nothing reads
    /// is left out, but the drop decision reads the egress specification.
    sets: [bool; EGRESS_METADATA],
    kept: Vec<VarId>,
    snapshot: Snapshot,
    /// Checksum computation or the deparser makes requests to the architecture.
    finish_makes_requests: bool,
    /// The egress pipeline makes requests, its checksums and deparser included.
    makes_requests: bool,
}

impl V1Pipelines {
    pub(crate) fn new(program: &Program, code: &Code, v1: &V1Model) -> Self {
        let mut live = LiveVars::new(program, code);
        for func in [v1.egress, v1.compute_checksum, v1.deparser] {
            live.func(func);
        }
        let mut finish = LiveVars::new(program, code);
        finish.func(v1.compute_checksum);
        finish.func(v1.deparser);
        let at_egress = set_at_egress(&v1.metadata);
        let kept = live.kept(&at_egress);
        let meta = &v1.metadata;
        let headers: Vec<HeaderId> = (0..program.headers.len()).map(HeaderId::from_index).collect();
        Self {
            verdict: [meta.priority, meta.mcast_grp, meta.egress_spec]
                .map(|var| code.layout.var(var).value()),
            sets: at_egress.map(|var| live.contains(var) || var == meta.egress_spec),
            snapshot: Snapshot::with(program, &code.layout, &kept, &headers),
            kept,
            finish_makes_requests: finish.makes_requests,
            makes_requests: live.makes_requests,
            v1: *v1,
        }
    }

    /// Entry points and metadata.
    pub(crate) fn v1model(&self) -> &V1Model {
        &self.v1
    }

    pub(crate) fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Metadata that is kept.
    pub(crate) fn kept(&self) -> &[VarId] {
        &self.kept
    }

    /// How many words [`IngressStart::words`] and [`EgressMetadata::words`] give.
    pub(crate) const fn input_words(&self) -> [usize; 2] {
        [INGRESS_METADATA, EGRESS_METADATA]
    }

    /// Slots of priority, multicast group, egress specification.
    pub(crate) fn verdict_slots(&self) -> [u32; 3] {
        self.verdict
    }

    /// Metadata that is set before the parser starts: the first two for a packet from outside only.
    pub(crate) fn set_at_ingress(&self) -> [VarId; INGRESS_METADATA] {
        let StandardMetadata { ingress_port, ingress_global_timestamp, packet_length, instance_type, .. } =
            self.v1.metadata;
        [ingress_port, ingress_global_timestamp, packet_length, instance_type]
    }

    /// Metadata that is set when a packet leaves its queue, by its place among [`EgressMetadata`].
    pub(crate) fn set_at_egress(&self) -> impl Iterator<Item = (usize, VarId)> + '_ {
        let all = set_at_egress(&self.v1.metadata).into_iter().enumerate();
        all.filter(|&(place, _)| self.sets[place])
    }

    /// Requests of checksum computation and the deparser are discarded. So where these make any
    /// for something they run after egress's own requests are met.
    pub(crate) fn finish_makes_requests(&self) -> bool {
        self.finish_makes_requests
    }

    /// Whether the egress pipeline may make a request to the architecture.
    pub(crate) fn makes_requests(&self) -> bool {
        self.makes_requests
    }

    /// How ingress left a packet.
    #[inline]
    pub fn verdict(&self, frame: &Frame) -> Verdict {
        let [priority, mcast_grp, egress_spec] = self.verdict;
        let word = |slot: u32| frame.slots[slot as usize];
        Verdict {
            priority: word(priority) as u8,
            mcast_grp: word(mcast_grp) as u32,
            egress_spec: word(egress_spec) as u32,
        }
    }

    /// Port that egress left a packet for.
    #[inline]
    pub fn egress_spec(&self, frame: &Frame) -> u32 {
        frame.slots[self.verdict[2] as usize] as u32
    }

    /// Appends what lives on of a frame at the end of ingress.
    pub fn save(&self, frame: &Frame, out: &mut Vec<u8>) {
        self.snapshot.save(frame, out);
    }
}

/// Runs a program's programmable blocks one by one.
pub(crate) trait BlockRunner {
    fn parse(
        &mut self,
        func: FuncId,
        frame: &mut Frame,
        packet: PacketView<'_>,
        env: &mut Env<'_>,
    ) -> ParseResult;
    fn control(&mut self, func: FuncId, frame: &mut Frame, env: &mut Env<'_>);
    fn deparse(&mut self, func: FuncId, frame: &mut Frame, env: &mut Env<'_>, out: &mut Vec<u8>);
}

/// Parser, checksum verification, ingress; then what lives on is packed, unless the packet is dropped.
pub(crate) fn ingress<'e>(
    pipeline: &Pipeline,
    blocks: &mut impl BlockRunner,
    frame: &mut Frame,
    start: IngressStart<'e>,
    env: &mut Env<'e>,
) -> ParseResult {
    let Some(v1_pipelines) = pipeline.v1_pipelines() else {
        return ParseResult { consumed_bits: 0, error: None };
    };
    let V1Model { parser, verify_checksum, ingress, .. } = v1_pipelines.v1;
    let mut set = v1_pipelines.set_at_ingress().into_iter().zip(start.words());
    let from_outside = set.by_ref().take(2);
    if start.outside.is_some() {
        frame.reset();
        from_outside.for_each(|(var, value)| frame.set(pipeline, var, value));
    } else {
        from_outside.for_each(drop);
    }
    set.for_each(|(var, value)| frame.set(pipeline, var, value));
    let outcome = blocks.parse(parser, frame, start.packet, env);
    env.payload = start.packet.skip(outcome.consumed_bytes());
    blocks.control(verify_checksum, frame, env);
    blocks.control(ingress, frame, env);
    let verdict = v1_pipelines.verdict(frame);
    if verdict.mcast_grp != 0 || verdict.egress_spec != start.drop_port {
        frame.fill_front(|frame, front| v1_pipelines.save(frame, front));
    }
    outcome
}

/// Egress, then checksum computation and the deparser unless the packet is dropped or a request was made.
pub(crate) fn egress<'e>(
    pipeline: &Pipeline,
    blocks: &mut impl BlockRunner,
    frame: &mut Frame,
    start: &EgressStart<'e>,
    env: &mut Env<'e>,
) -> EgressEnd {
    let Some(v1_pipelines) = pipeline.v1_pipelines() else { return EgressEnd::Dropped };
    frame.reset();
    v1_pipelines.snapshot.restore(start.saved, frame);
    let values = start.metadata.words();
    for (place, var) in v1_pipelines.set_at_egress() {
        frame.set(pipeline, var, values[place]);
    }
    blocks.control(v1_pipelines.v1.egress, frame, env);
    if !env.effects.clones.is_empty() {
        return EgressEnd::Requested;
    }
    if v1_pipelines.egress_spec(frame) == start.drop_port {
        return EgressEnd::Dropped;
    }
    if v1_pipelines.finish_makes_requests {
        return EgressEnd::Requested;
    }
    finish(pipeline, blocks, frame, env);
    EgressEnd::Deparsed
}

/// Checksum computation and the deparser.
pub(crate) fn finish(
    pipeline: &Pipeline,
    blocks: &mut impl BlockRunner,
    frame: &mut Frame,
    env: &mut Env<'_>,
) {
    let Some(v1_pipelines) = pipeline.v1_pipelines() else { return };
    blocks.control(v1_pipelines.v1.compute_checksum, frame, env);
    frame.fill_front(|frame, front| blocks.deparse(v1_pipelines.v1.deparser, frame, env, front));
}
