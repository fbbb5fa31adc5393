//! The JSON description of a network, as plain data.
//!
//! Every size, seed and limit is a field. Shared buffers and PFC (IEEE 802.1Qbb) are in [`BufferSpec`]. The
//! P4 program is absent: switches get it from the controller. Checks that need more than one value are made
//! when the description is resolved (`topology.rs`).

use std::collections::BTreeMap;
use std::sync::Arc;

use p4cc_cc::{ConfigError, OwnAlgorithm};
use p4cc_switch::{ArrayKind, QdepthUnit, RoundUnit, TimestampUnit, Watch};
use p4cc_transport::SenderConfig;
use p4cc_transport::rdma::RdmaConfig;
use p4cc_transport::wire::user_headers::UserHeadersConfig;
use p4cc_units::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::SpecError;
pub use crate::describe::host_spec::{HostSpec, HostWaySpec, InterfaceSpec, PairRttsSpec};
pub use crate::describe::limits::{MAX_FAULTS, MAX_FLOW_BYTES, MAX_FLOWS, MAX_NODES, MAX_TIME_NS};
use crate::traffic::{
    ArrivalsSpec, BurstsSpec, ClosedLoopSpec, CollectiveSpec, DeadlineSpec, JobSpec, PacketsSpec, PairsSpec,
    RoundsSpec,
};

/// A network and its traffic.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NetworkSpec {
    /// Switches; their order is the order of nodes in ties.
    pub switches: Vec<SwitchSpec>,
    /// Hosts; they come after the switches in ties.
    pub hosts: Vec<HostSpec>,
    /// A packet, unless paced, that finds its host's interface idle leaves after a random time below this,
    /// uniform, of the host's own stream; 0: at once (docs/algorithms/README.md#host-jitter).
    #[serde(default)]
    pub host_jitter_ns: u64,
    /// Links, each between two ends that no other link uses.
    pub links: Vec<LinkSpec>,
    /// Configurations of window senders by name.
    #[serde(default)]
    pub algorithms: BTreeMap<String, SenderConfig>,
    /// Configurations of RDMA-like flows by name; no name is in both maps.
    #[serde(default)]
    pub rdma: BTreeMap<String, RdmaConfig>,
    /// Flows in any order.
    #[serde(default)]
    pub flows: Vec<FlowSpec>,
    /// Clients that ask many servers, round by round; their flows are numbered after `flows`.
    #[serde(default)]
    pub rounds: Vec<RoundsSpec>,
    /// Collectives of groups of hosts; their flows are numbered after those of rounds.
    #[serde(default)]
    pub collectives: Vec<CollectiveSpec>,
    /// Operations that wait for each other; their flows are numbered after those of collectives.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<JobSpec>,
    /// Poisson arrivals, drawn anew for each seed; their flows are numbered after those of jobs.
    #[serde(default)]
    pub arrivals: Vec<ArrivalsSpec>,
    /// Traffic between pairs of hosts, drawn anew for each
    /// seed; its flows are numbered after those of arrivals.
    #[serde(default)]
    pub pairs: Vec<PairsSpec>,
    /// Incasts at random times, drawn anew for each seed; their flows are numbered after those of pairs.
    #[serde(default)]
    pub bursts: Vec<BurstsSpec>,
    /// Closed loops, drawn anew for each seed; their flows are numbered last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub closed_loops: Vec<ClosedLoopSpec>,
    /// The user's packets, which belong to no flow.
    #[serde(default)]
    pub packets: Vec<PacketsSpec>,
    /// Headers of the user's program that data packets of all flows carry.
    #[serde(default)]
    pub headers: Option<UserHeadersConfig>,
    /// What to record besides the flows.
    #[serde(default)]
    pub record: RecordSpec,
    /// A cycle of ports that wait for each other, all paused for
    /// so long, is a deadlock (docs/algorithms/pfc.md#deadlock).
    #[serde(default = "default_deadlock_after_ns")]
    pub deadlock_after_ns: u64,
    /// No byte delivered anywhere for so long, with flows under
    /// way, is a stall (docs/algorithms/pfc.md#deadlock).
    #[serde(default = "default_stall_after_ns")]
    pub stall_after_ns: u64,
    /// Links that go down, and come up again.
    #[serde(default)]
    pub faults: Vec<FaultSpec>,
    /// Varies how hosts with several interfaces spread their flows.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub interface_seed: u64,
    /// Base round-trip times of pairs, which RDMA-like senders take in place of `base_rtt_ns`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pair_rtts: Option<PairRttsSpec>,
    /// Hosts whose network cards pause their switch without need.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub storms: Vec<StormSpec>,
    /// Hosts that take packets from their network cards slowly.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slow_receivers: Vec<SlowReceiverSpec>,
    /// End of the run if it does not end by itself.
    pub stop_ns: u64,
    /// Whether the run ends when every flow with a size is complete.
    #[serde(default = "yes")]
    pub stop_when_complete: bool,
    /// Bounds of a run.
    pub limits: LimitsSpec,
}

// serde hands over a reference.
#[allow(clippy::trivially_copy_pass_by_ref)]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

const fn yes() -> bool {
    true
}

const fn default_deadlock_after_ns() -> u64 {
    10_000_000
}

const fn default_stall_after_ns() -> u64 {
    50_000_000
}

/// A switch.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SwitchSpec {
    /// Name, unique among all nodes.
    pub name: String,
    /// P4Runtime's device id, unique.
    pub device_id: u64,
    /// Ports; every port has a link.
    pub ports: Vec<SwitchPortSpec>,
    /// The buffer that its ports share; absent: each queue has its own capacity only.
    #[serde(default)]
    pub buffer: Option<BufferSpec>,
    /// Unit of v1model's timestamps.
    #[serde(default)]
    pub timestamp_unit: TimestampUnit,
    /// Port of the controller, if there is one.
    #[serde(default)]
    pub cpu_port: Option<u32>,
    /// Value of `egress_spec` that drops.
    #[serde(default = "default_drop_port")]
    pub drop_port: u32,
    /// Most copies and passes that one received packet may cause; more are dropped and counted.
    #[serde(default = "default_pass_limit")]
    pub pass_limit: u32,
    /// A packet of a v1model or T2NA program whose queue is full runs through ingress once more.
    #[serde(default)]
    pub deflect_on_drop: bool,
}

const fn default_pass_limit() -> u32 {
    p4cc_switch::DEFAULT_PASS_LIMIT
}

const fn default_drop_port() -> u32 {
    p4cc_switch::config::DEFAULT_DROP_PORT
}

/// A port of a switch; rate and framing are its link's.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SwitchPortSpec {
    /// Number that the program sees.
    pub port: u32,
    /// Packets that each of its queues holds.
    pub queue_capacity_pkts: u32,
    /// Bytes that each of its queues holds, if they are bounded too.
    #[serde(default)]
    pub queue_capacity_bytes: Option<u64>,
    /// With a shared buffer: bytes for what arrives here after a pause, for each lossless priority.
    #[serde(default)]
    pub headroom_bytes: u64,
    /// With a shared buffer: log2 of alpha.
    #[serde(default)]
    pub alpha_log2: i8,
    /// Unit of the depths that the program sees.
    #[serde(default)]
    pub qdepth_unit: QdepthUnit,
    /// In which order its queues send, and how fast; absent: by their numbers, as fast as the link.
    #[serde(default)]
    pub scheduler: Option<SchedulerSpec>,
}

/// In which order the queues of a port send, and how fast (docs/algorithms/queues.md).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SchedulerSpec {
    /// What a turn counts, where queues of one level take turns.
    #[serde(default)]
    pub unit: RoundUnit,
    /// With bytes: what a turn of weight 1 adds to a queue's deficit.
    #[serde(default = "default_quantum_bytes")]
    pub quantum_bytes: u32,
    /// Queues, each once; one that is absent is a level by its number, of weight 1 and without a rate.
    pub queues: Vec<QueueSpec>,
}

const fn default_quantum_bytes() -> u32 {
    p4cc_switch::config::DEFAULT_QUANTUM_BYTES
}

/// A queue of a port.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QueueSpec {
    /// Its number, 0 to 7.
    pub queue: u8,
    /// Higher levels go first, queues of one level take turns; absent: its number.
    #[serde(default)]
    pub level: Option<u8>,
    /// Its share among the queues of its level.
    #[serde(default = "default_weight")]
    pub weight: u16,
    /// Bits on the link that it sends at most in a second.
    #[serde(default)]
    pub rate_bps: Option<u64>,
    /// With a rate: bytes that may be ahead of it.
    #[serde(default)]
    pub burst_bytes: u32,
}

const fn default_weight() -> u16 {
    1
}

/// A buffer that all ports of a switch share, with PFC for its lossless priorities
/// (docs/algorithms/pfc.md#pfc).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BufferSpec {
    /// All of it.
    pub bytes: u64,
    /// Set aside for each port and lossless priority.
    #[serde(default = "default_reserve_bytes")]
    pub reserve_bytes: u64,
    /// How far below its threshold a paused port must be to continue.
    #[serde(default = "default_resume_offset_bytes")]
    pub resume_offset_bytes: u64,
    /// Priorities that are paused rather than dropped (PFC), 0 to 6.
    #[serde(default)]
    pub lossless_priorities: Vec<u8>,
    /// Duration of a pause in quanta of 512 bit times, as in IEEE 802.1Qbb; absent: it lasts
    /// until it is taken back, as in the ns-3 simulator (docs/algorithms/pfc.md#pfc-rules).
    #[serde(default)]
    pub pause_quanta: Option<u16>,
    /// What the switch does with a queue that its neighbour keeps paused; absent: it waits for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watchdog: Option<WatchdogSpec>,
}

/// The PFC watchdog of a switch (docs/algorithms/pfc.md#watchdog): it detects a queue that is paused for
/// long, and restores it when pauses have ended for long.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WatchdogSpec {
    /// A queue with packets that is paused for so long is in a storm.
    pub detection_ns: u64,
    /// A storm has ended when its queue was not paused for so long.
    pub restoration_ns: u64,
    /// What happens to the queue meanwhile.
    #[serde(default)]
    pub action: WatchdogAction,
}

/// What a PFC watchdog does with a queue in a storm.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WatchdogAction {
    /// What waits is dropped, and what comes too.
    #[default]
    Drop,
    /// Pauses are not obeyed.
    Forward,
    /// Nothing: the storm is counted.
    Alert,
}

const fn default_reserve_bytes() -> u64 {
    4_096
}

const fn default_resume_offset_bytes() -> u64 {
    3_072
}

/// One end of a link.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EndSpec {
    /// Name of a switch or host.
    pub node: String,
    /// Port of the switch; absent or 0 for a host.
    #[serde(default)]
    pub port: u32,
}

/// A link; both directions have the same rate, delay and loss.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    /// One end.
    pub a: EndSpec,
    /// The other end.
    pub b: EndSpec,
    /// Rate in bit/s.
    pub rate_bps: u64,
    /// Propagation delay.
    pub delay_ns: u64,
    /// Bytes added to the IP bytes of each packet: 0, or 24 or 38 for Ethernet's.
    #[serde(default)]
    pub framing_bytes: u32,
    /// Share of packets lost on the way, independently; 0 for none.
    #[serde(default)]
    pub loss: f64,
}

/// A link goes down for a time, in both directions: what its ends send meanwhile is lost, what is on the way
/// arrives. Or a switch does, with all its links: its program, tables and queues are lost, and it has no
/// program until a controller loads one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FaultSpec {
    /// The nodes at the two ends of a link, in any order; all links between them go down.
    #[serde(default)]
    pub between: Option<[String; 2]>,
    /// The switch; absent for a link.
    #[serde(default)]
    pub switch: Option<String>,
    /// When it goes down.
    pub down_ns: u64,
    /// When it comes up again; absent: it stays down.
    #[serde(default)]
    pub up_ns: Option<u64>,
}

/// The network card of a host pauses its neighbour for a time without need: a PFC storm
/// (docs/algorithms/pfc.md#storms).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StormSpec {
    /// Name of the host.
    pub host: String,
    /// Priority that it pauses, 0 to 7.
    pub priority: u8,
    /// When it begins.
    pub start_ns: u64,
    /// When a resume frame ends it; absent: it lasts.
    #[serde(default)]
    pub end_ns: Option<u64>,
    /// Duration of a pause in quanta of 512 bit times: it is sent again when half of it is over. Absent: one
    /// frame, which lasts.
    #[serde(default)]
    pub pause_quanta: Option<u16>,
}

/// A host that takes packets from its network card at a rate below its link's
/// (docs/algorithms/pfc.md#slow-receivers).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SlowReceiverSpec {
    /// Name of the host.
    pub host: String,
    /// At what rate it takes them, in bytes as on its link; 0 of one that takes nothing.
    pub rate_bps: u64,
    /// When it begins to be slow.
    #[serde(default)]
    pub start_ns: u64,
    /// When it takes all at once again; absent: it stays slow.
    #[serde(default)]
    pub end_ns: Option<u64>,
    /// What its card holds.
    pub buffer_bytes: u64,
    /// Priorities that the card pauses; packets of the others are dropped where they find no room.
    #[serde(default)]
    pub lossless_priorities: Vec<u8>,
    /// Bytes in the card above which it pauses, and other packets find no room.
    pub xoff_bytes: u64,
    /// Bytes in the card down to which it resumes.
    pub xon_bytes: u64,
}

/// A flow.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowSpec {
    /// Number on the wire, unique.
    pub id: u32,
    /// Name of the sending host.
    pub src: String,
    /// Name of the receiving host.
    pub dst: String,
    /// Payload bytes; absent or null for a flow without end.
    #[serde(default)]
    pub size_bytes: Option<u64>,
    /// Earliest start.
    #[serde(default)]
    pub start_ns: u64,
    /// The start is later by a random time from 0 to this, uniform, of the flow's own stream.
    #[serde(default)]
    pub start_jitter_ns: u64,
    /// When the application closes a flow without end: nothing new is sent then.
    #[serde(default)]
    pub close_ns: Option<u64>,
    /// Name in `algorithms`.
    pub algorithm: String,
    /// Traffic class on the wire, 0 (lowest) to 7.
    #[serde(default)]
    pub priority: u8,
    /// Label for results.
    #[serde(default)]
    pub class: String,
    /// Time from its start by which it should be complete; a random part is of the flow's own stream.
    #[serde(default)]
    pub deadline: Option<DeadlineSpec>,
    /// UDP source port of its packets and of their ACKs; absent: it follows from the id.
    #[serde(default)]
    pub src_port: Option<u16>,
    /// Port of the interface that its data leaves by, while that interface's link is up; absent: one of those
    /// that lead to the receiver, by a hash of the flow's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface: Option<u32>,
}

/// What to record over time; absent intervals record nothing.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RecordSpec {
    /// Sampling interval of the senders' state.
    pub windows_interval_ns: Option<u64>,
    /// Attributes of users' algorithms, sampled with the senders' state.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub state: Vec<String>,
    /// Sampling interval of queue depths.
    pub queues_interval_ns: Option<u64>,
    /// Sampling interval of the histogram of queue depths, over all switch ports.
    pub queue_histogram_interval_ns: Option<u64>,
    /// Times at which every flow's acknowledged bytes and every link's bytes are noted, rising.
    pub checkpoints_ns: Vec<u64>,
    /// Whether to keep the senders' events.
    pub events: bool,
    /// Whether to keep every round-trip time that a sender takes.
    pub rtts: bool,
    /// Whether to keep every pause frame that a switch sends.
    pub pauses: bool,
    /// What arrives at hosts that no flow takes.
    pub packets_received: Option<PacketsReceivedSpec>,
    /// The fields of the user's headers that arrive.
    pub headers: Option<HeadersRecordSpec>,
    /// Ends of links whose packets are captured.
    pub pcap: Option<PcapSpec>,
    /// Counters of the programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counters: Option<ArraysSpec>,
    /// Registers of the programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub registers: Option<ArraysSpec>,
    /// Packets whose steps are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceSpec>,
    /// What meters of the programs coloured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meters: Option<ArraysSpec>,
    /// Hits of the entries of the programs' tables.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tables: Option<ArraysSpec>,
    /// Drops by cause and place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drops: Option<DropsSpec>,
    /// Digests of the programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digests: Option<DigestsSpec>,
    /// Lines of `log_msg`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_msg: Option<LogSpec>,
    /// Most rows of each of the recorded tables; later ones are counted and left out.
    pub max_rows: u64,
}

impl Default for RecordSpec {
    fn default() -> Self {
        Self {
            windows_interval_ns: None,
            state: Vec::new(),
            queues_interval_ns: None,
            queue_histogram_interval_ns: None,
            checkpoints_ns: Vec::new(),
            events: false,
            rtts: false,
            pauses: false,
            packets_received: None,
            headers: None,
            pcap: None,
            counters: None,
            registers: None,
            trace: None,
            meters: None,
            tables: None,
            drops: None,
            digests: None,
            log_msg: None,
            max_rows: 5_000_000,
        }
    }
}

/// Arrays of the switches' programs that are sampled.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArraysSpec {
    /// Sampling interval.
    pub interval_ns: u64,
    /// Which ones.
    pub arrays: Vec<ArraySpec>,
}

/// One array of one switch.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArraySpec {
    /// Name of the switch.
    pub switch: String,
    /// Name of the array, as its program has it.
    pub name: String,
}

/// Drops of switches, added up.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DropsSpec {
    /// Over intervals of this length.
    pub interval_ns: u64,
    /// Names of switches.
    pub switches: Vec<String>,
}

/// Digests that are kept.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DigestsSpec {
    /// Messages of each switch that are kept; later ones are counted and left out.
    pub max_messages: u64,
    /// Which ones of which switches.
    pub arrays: Vec<ArraySpec>,
}

/// Lines of `log_msg` that are kept.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LogSpec {
    /// Lines of each switch that are kept; later ones are counted and left out.
    pub max_lines: u64,
    /// Names of switches.
    pub switches: Vec<String>,
}

/// What to keep of packets that arrive at hosts and that no flow takes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PacketsReceivedSpec {
    /// Names of hosts.
    pub hosts: Vec<String>,
    /// First bytes of each packet that are kept.
    pub snap_bytes: u32,
    /// Packets of each host that are kept; later ones are counted and left out.
    pub max_packets: u64,
}

/// Which fields of the user's headers to keep.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeadersRecordSpec {
    /// One of so many packets with headers that arrive at a host is kept.
    pub every: u64,
    /// Packets of each host that are kept; later ones are counted and left out.
    pub max_packets: u64,
}

/// Ends of links whose packets are captured, a pcapng file for each.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PcapSpec {
    /// Ports of switches, and hosts.
    pub ends: Vec<EndSpec>,
    /// First bytes of each packet that are kept.
    pub snap_bytes: u32,
    /// Bytes of each file; what does not fit is counted and left out.
    pub max_bytes: u64,
    /// Stands in the section header of each file.
    #[serde(default)]
    pub comment: String,
}

/// Packets that are followed through the network: what each switch does with them is kept, step by step.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceSpec {
    /// Which packets.
    pub packets: Vec<TracedSpec>,
    /// Packets that are followed at most; later ones are counted and left out.
    pub max_packets: u64,
    /// Steps that each switch keeps at most; later ones are counted and left out.
    pub max_steps: u64,
}

/// Packets of a flow or of a host, by their numbers as they leave the host.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TracedSpec {
    /// The flow; or `host`.
    #[serde(default)]
    pub flow: Option<u32>,
    /// Of a flow: its ACKs, in place of its data packets.
    #[serde(default)]
    pub acks: bool,
    /// The host, for all packets that it sends.
    #[serde(default)]
    pub host: Option<String>,
    /// Number of the first packet, from 1.
    pub first: u64,
    /// Number of the last packet.
    pub last: u64,
}

/// Bounds of a run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LimitsSpec {
    /// Most events; a run that needs more ends with an error.
    pub max_events: u64,
}

impl RecordSpec {
    /// What is sampled of each kind of arrays, with its name here.
    pub(crate) fn arrays(&self) -> [(ArrayKind, &'static str, Option<&ArraysSpec>); 4] {
        [
            (ArrayKind::Counter, "counters", self.counters.as_ref()),
            (ArrayKind::Register, "registers", self.registers.as_ref()),
            (ArrayKind::Meter, "meters", self.meters.as_ref()),
            (ArrayKind::Table, "tables", self.tables.as_ref()),
        ]
    }

    /// What is kept of a switch while a run lasts.
    pub(crate) fn watch(&self, switch: &str) -> Watch {
        let named = |names: &Vec<String>| names.iter().any(|name| name == switch);
        let holds = |arrays: &Vec<ArraySpec>| arrays.iter().any(|array| array.switch == switch);
        let rows = |most: u64| usize::try_from(most).unwrap_or(usize::MAX);
        let drops = self.drops.as_ref().filter(|drops| named(&drops.switches));
        let hits = self.tables.as_ref().is_some_and(|tables| holds(&tables.arrays));
        let digests = self.digests.as_ref().filter(|digests| holds(&digests.arrays));
        let logs = self.log_msg.as_ref().filter(|log| named(&log.switches));
        Watch {
            drops: drops.map(|drops| (Span::from_ns(drops.interval_ns), rows(self.max_rows))),
            hits,
            max_digests: digests.map_or(0, |digests| rows(digests.max_messages)),
            max_logs: logs.map_or(0, |log| rows(log.max_lines)),
        }
    }
}

impl NetworkSpec {
    /// Names of the switches, in order.
    pub(crate) fn switch_names(&self) -> Vec<&str> {
        self.switches.iter().map(|switch| switch.name.as_str()).collect()
    }

    /// Names of all senders, in the order of their indices: window senders first.
    pub(crate) fn sender_names(&self) -> impl Iterator<Item = &str> {
        self.algorithms.keys().chain(self.rdma.keys()).map(String::as_str)
    }

    /// Puts algorithms of the user's where senders name them by number.
    ///
    /// # Errors
    /// A number beyond the list, or an algorithm of another kind.
    pub fn bring(&mut self, own: &[Arc<dyn OwnAlgorithm>]) -> Result<(), SpecError> {
        let refused = |of: &str, name: &str, error: ConfigError| {
            SpecError::new(format!("{of}.{name}.cc.{}", error.place), error.cause, error.remedy)
        };
        for (name, sender) in &mut self.algorithms {
            sender.cc.bring(own).map_err(|error| refused("algorithms", name, error))?;
        }
        for (name, sender) in &mut self.rdma {
            sender.cc.bring_rate(own).map_err(|error| refused("rdma", name, error))?;
            let place = format!("rdma.{name}");
            let receiver = sender.receiver.as_mut().map_or(Ok(()), |receiver| receiver.bring_receiver(own));
            receiver.map_err(|error| {
                SpecError::new(format!("{place}.{}", error.place), error.cause, error.remedy)
            })?;
        }
        Ok(())
    }

    /// Whether a sender runs an algorithm of the user's.
    pub(crate) fn has_own_algorithms(&self) -> bool {
        self.algorithms.values().any(|sender| sender.cc.has_own())
            || self.rdma.values().any(|sender| sender.cc.own.is_some())
            || self.rdma.values().any(|sender| sender.receiver.as_ref().is_some_and(|one| one.own.is_some()))
    }

    /// Reads a description.
    ///
    /// # Errors
    /// The first thing that is wrong with its JSON, its keys or its types, with its path.
    pub fn from_json(text: &str) -> Result<Self, SpecError> {
        let mut json = serde_json::Deserializer::from_str(text);
        let spec = serde_path_to_error::deserialize(&mut json).map_err(|error| {
            let path = error.path().to_string();
            let path = if path == "." { "$".to_owned() } else { path };
            SpecError::new(path, error.inner().to_string(), "see the NetworkSpec schema for keys and types")
        })?;
        json.end().map_err(|error| {
            SpecError::new("$", error.to_string(), "give one JSON object and nothing after it")
        })?;
        Ok(spec)
    }

    /// The JSON Schema of a description, of which Python's types are made.
    pub fn json_schema() -> String {
        format!("{:#}", schemars::schema_for!(Self).as_value())
    }
}

/// Reads `aa:bb:cc:dd:ee:ff`.
pub(crate) fn parse_mac(text: &str) -> Option<[u8; 6]> {
    let mut mac = [0; 6];
    let mut parts = text.split(':');
    for byte in &mut mac {
        // `from_str_radix` alone would take a sign.
        let part =
            parts.next().filter(|part| part.len() == 2 && part.bytes().all(|b| b.is_ascii_hexdigit()))?;
        *byte = u8::from_str_radix(part, 16).ok()?;
    }
    parts.next().is_none().then_some(mac)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_key_names_its_path() {
        let error =
            NetworkSpec::from_json(r#"{"switches":[{"name":"s","device_id":1,"ports":[{"prt":1}]}]}"#)
                .expect_err("prt is no key");
        assert_eq!(error.path, "switches[0].ports[0].prt");
        assert!(error.cause.contains("unknown field `prt`"), "{error}");
        let error =
            NetworkSpec::from_json(r#"{"switches":[],"hosts":[],"links":[],"algorithms":{"a":{"rwnd":-1}}}"#)
                .expect_err("a window is not negative");
        assert_eq!(error.path, "algorithms.a.rwnd");
    }

    #[test]
    fn addresses_are_six_pairs_of_digits() {
        assert_eq!(parse_mac("02:00:00:aB:00:01"), Some([2, 0, 0, 0xab, 0, 1]));
        for bad in [
            "",
            "02:00:00:00:00",
            "02:00:00:00:00:00:00",
            "2:0:0:0:0:1",
            "02:00:00:00:00:0g",
            "+2:00:00:00:00:01",
        ] {
            assert_eq!(parse_mac(bad), None, "{bad}");
        }
    }
}
