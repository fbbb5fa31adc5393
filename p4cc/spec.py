"""The engine's description of a network, as types: made from its schema by `make spec`, not by hand."""

from __future__ import annotations

from typing import Literal, NotRequired, TypeAlias, TypedDict

After: TypeAlias = Literal["ethernet", "ipv4", "udp"]
"""The layer that the headers follow."""


class AlgorithmSpec(TypedDict):
    """One algorithm by name, with the parameters that differ from the defaults."""

    name: str
    """Name in the registry, or for people where the algorithm is the user's own."""
    own: NotRequired[int | None]
    """Number of a user's algorithm ([`AlgorithmConfig::bring`]), which has its parameters already."""


class Announcement(TypedDict):
    """How the layers in front say that the headers follow."""

    ethertype: NotRequired[int | None]
    """The EtherType."""
    ihl: NotRequired[bool]
    """IPv4's header length counts them: they are options."""
    protocol: NotRequired[int | None]
    """IPv4's protocol number."""
    udp_port: NotRequired[int | None]
    """The UDP destination port."""


class ArraySpec(TypedDict):
    """One array of one switch."""

    name: str
    """Name of the array, as its program has it."""
    switch: str
    """Name of the switch."""


class ArraysSpec(TypedDict):
    """Arrays of the switches' programs that are sampled."""

    arrays: list[ArraySpec]
    """Which ones."""
    interval_ns: int
    """Sampling interval."""


class CdfPoint(TypedDict):
    """A point of a cumulative distribution: `share` of the flows have at most `bytes`."""

    bytes: int
    """Size."""
    share: float
    """Share of flows up to it, 0 to 1."""


CnpScope: TypeAlias = Literal["flow", "destination", "port"]
"""Who shares the interval between two notifications (docs/algorithms/dcqcn.md#cnp-scope)."""


class CountField(TypedDict):
    """A field that counts the repetitions of a later header."""

    field: int
    """Place of the field there."""
    header: int
    """Place of its header in the list."""


class DeadlineChangeSpec(TypedDict):
    """Another deadline for a flow that is under way (D3 2011: an application may change its mind)."""

    after_ns: int
    """When, from the start of the flow."""
    offset_ns: int
    """The deadline from then on, from the start of the flow."""


class DeadlineSpec(TypedDict):
    """
    The larger of `min_ns` and `offset_ns` plus an exponential time of mean `exp_mean_ns`. It covers a fixed
    deadline (offset alone), the stand-in for the GST paper's D2TCP runs (exponential of 20 ms, at least 3 ms;
    docs/algorithms/window.md#d2tcp, #choice-d2tcp-deadlines) and the D3 benchmark (3 ms plus exponential;
    docs/algorithms/traffic.md#workloads).
    """

    change: NotRequired[DeadlineChangeSpec | None]
    """What it becomes while the flow is under way; none if absent."""
    exp_mean_ns: NotRequired[int]
    """Mean of the random part; 0 for none."""
    min_ns: NotRequired[int]
    """Least deadline."""
    offset_ns: NotRequired[int]
    """Fixed part."""


class DigestsSpec(TypedDict):
    """Digests that are kept."""

    arrays: list[ArraySpec]
    """Which ones of which switches."""
    max_messages: int
    """Messages of each switch that are kept; later ones are counted and left out."""


class DropsSpec(TypedDict):
    """Drops of switches, added up."""

    interval_ns: int
    """Over intervals of this length."""
    switches: list[str]
    """Names of switches."""


EcnProfile: TypeAlias = Literal["gst", "rfc3168", "sce"]
"""How congestion levels are written into the two bits."""


class EndSpec(TypedDict):
    """One end of a link."""

    node: str
    """Name of a switch or host."""
    port: NotRequired[int]
    """Port of the switch; absent or 0 for a host."""


Entropy: TypeAlias = Literal["flow", "oblivious", "bitmap", "reps"]
"""How a sender chooses the value of each packet that switches choose its path by."""


class FaultSpec(TypedDict):
    """
    A link goes down for a time, in both directions: what its ends send meanwhile is lost, what is on the way
    arrives. Or a switch does, with all its links: its program, tables and queues are lost, and it has no
    program until a controller loads one.
    """

    between: NotRequired[list[str] | None]
    """The nodes at the two ends of a link, in any order; all links between them go down."""
    down_ns: int
    """When it goes down."""
    switch: NotRequired[str | None]
    """The switch; absent for a link."""
    up_ns: NotRequired[int | None]
    """When it comes up again; absent: it stays down."""


FlowSpec = TypedDict(
    "FlowSpec",
    {
        "algorithm": str,
        "class": NotRequired[str],
        "close_ns": NotRequired[int | None],
        "deadline": NotRequired[DeadlineSpec | None],
        "dst": str,
        "id": int,
        "interface": NotRequired[int | None],
        "priority": NotRequired[int],
        "size_bytes": NotRequired[int | None],
        "src": str,
        "src_port": NotRequired[int | None],
        "start_jitter_ns": NotRequired[int],
        "start_ns": NotRequired[int],
    },
)


class FrameSpec(TypedDict):
    """One packet from its first byte on, and when the next one is due."""

    gap_ps: NotRequired[int]
    """From the time this one is due to the time the next one is."""
    hex: str
    """Two hexadecimal digits a byte."""
    zeros: NotRequired[int]
    """Zero bytes behind them."""


class GapPoint(TypedDict):
    """A point of a cumulative distribution: `share` of the gaps have at most `gap_ns`."""

    gap_ns: float
    """Gap; its unit does not matter, as gaps are scaled."""
    share: float
    """Share of gaps up to it, 0 to 1."""


class ExponentialGap(TypedDict):
    """Exponential (docs/algorithms/traffic.md#uniform); it is scaled linearly, which leaves it exponential."""

    kind: Literal["exponential"]


class LognormalGap(TypedDict):
    """Log-normal with median 1: bursts and long silences."""

    kind: Literal["lognormal"]
    sigma: float
    """Standard deviation of the logarithm."""


class CdfGap(TypedDict):
    """Linear between the points of a cumulative distribution."""

    kind: Literal["cdf"]
    points: list[GapPoint]
    """Rising in both, from share 0 to share 1."""


GapSpec: TypeAlias = ExponentialGap | LognormalGap | CdfGap
"""The distribution of gaps before they are scaled."""


class HeadersRecordSpec(TypedDict):
    """Which fields of the user's headers to keep."""

    every: int
    """One of so many packets with headers that arrive at a host is kept."""
    max_packets: int
    """Packets of each host that are kept; later ones are counted and left out."""


class HostWaySpec(TypedDict):
    """The interfaces that lead from one host to others."""

    interfaces: list[list[int]]
    """
    Ports of interfaces in groups: flows are spread over the first group that has an interface whose link
    is up.
    """
    to: NotRequired[list[str]]
    """Names of the hosts."""


IntRoom: TypeAlias = Literal["push", "hs_fixed"]
"""How packets make room for hop records (docs/algorithms/int.md#hpcc-int)."""


class IntTable(TypedDict):
    """What a sender must know to read hop records (docs/reference/wire-format.md, extension 1)."""

    rates_bps: dict[str, int]
    """Line rate in bit/s of each code."""
    room: NotRequired[IntRoom]
    """Where records find room."""
    tick_ns: int
    """Nanoseconds of one tick of the switches' timestamps."""
    unit_shift: int
    """Log2 of the multiplier of both units."""


class InterfaceSpec(TypedDict):
    """A further interface of a host, which has the host's addresses."""

    gateway_mac: NotRequired[str]
    """Address that it sends to, as the host's."""


IpVersion: TypeAlias = Literal[4, 6]
"""The IP version of a flow's packets, 4 or 6."""


class LimitsSpec(TypedDict):
    """Bounds of a run."""

    max_events: int
    """Most events; a run that needs more ends with an error."""


class LinkSpec(TypedDict):
    """A link; both directions have the same rate, delay and loss."""

    a: EndSpec
    """One end."""
    b: EndSpec
    """The other end."""
    delay_ns: int
    """Propagation delay."""
    framing_bytes: NotRequired[int]
    """Bytes added to the IP bytes of each packet: 0, or 24 or 38 for Ethernet's."""
    loss: NotRequired[float]
    """Share of packets lost on the way, independently; 0 for none."""
    rate_bps: int
    """Rate in bit/s."""


class LogSpec(TypedDict):
    """Lines of `log_msg` that are kept."""

    max_lines: int
    """Lines of each switch that are kept; later ones are counted and left out."""
    switches: list[str]
    """Names of switches."""


Notification: TypeAlias = Literal["ack_flag", "packet"]
"""How a receiver tells the sender of a marked packet (docs/algorithms/dcqcn.md#dcqcn-receiver, `np`)."""


Operation: TypeAlias = Literal["all_reduce", "all_gather", "reduce_scatter", "all_to_all"]
"""What the ranks want."""


PacketFormat: TypeAlias = Literal["udp", "tcp"]
"""What packets of a flow are."""


class PacketsReceivedSpec(TypedDict):
    """What to keep of packets that arrive at hosts and that no flow takes."""

    hosts: list[str]
    """Names of hosts."""
    max_packets: int
    """Packets of each host that are kept; later ones are counted and left out."""
    snap_bytes: int
    """First bytes of each packet that are kept."""


class PacketsSpec(TypedDict):
    """One host that sends the user's packets."""

    count: int
    """Packets in all; after the last frame comes the first again."""
    end_ns: int
    """None is due at this time or later."""
    frames: list[FrameSpec]
    """What it sends, in turn."""
    host: str
    """Name of the host."""
    name: str
    """Label for results."""
    priority: NotRequired[int]
    """Class that PFC (IEEE 802.1Qbb) pauses it by, 0 to 7."""
    start_ns: NotRequired[int]
    """When the first one is due."""


class PairRttsSpec(TypedDict):
    """The base round-trip time of each pair of hosts, in groups of hosts that have the same ones."""

    groups: list[list[str]]
    """Names of the hosts; each is in one group."""
    rtt_ns: list[list[int]]
    """By the group of the sender and that of the receiver."""


class PairSpec(TypedDict):
    """A pair of hosts."""

    dst: str
    """Receiving host."""
    gap: int
    """Place in `gaps`."""
    intensity: float
    """Flows in a time, relative to the other pairs'."""
    size: int
    """Place in `sizes`."""
    src: str
    """Sending host."""


ParamValue: TypeAlias = float | str
"""The value of one parameter."""


Pattern: TypeAlias = Literal["uniform", "skewed"]
"""One of the two traces."""


class PcapSpec(TypedDict):
    """Ends of links whose packets are captured, a pcapng file for each."""

    comment: NotRequired[str]
    """Stands in the section header of each file."""
    ends: list[EndSpec]
    """Ports of switches, and hosts."""
    max_bytes: int
    """Bytes of each file; what does not fit is counted and left out."""
    snap_bytes: int
    """First bytes of each packet that are kept."""


class PintTable(TypedDict):
    """How a sender uses PINT (docs/algorithms/hpcc.md#pint)."""

    log_base: float
    """Base of the logarithm in which packets carry utilisation."""
    share: NotRequired[float]
    """Share of packets that carry it."""


QdepthUnit: TypeAlias = Literal["auto", "packets", "cells_80B", "cells_176B", "bytes_80B"]
"""Unit of `enq_qdepth` and `deq_qdepth`."""


class FlowsQuantity(TypedDict):
    """Flows, whatever their sizes."""

    flows: int
    """Their number."""
    kind: Literal["flows"]


class BytesQuantity(TypedDict):
    """Payload; the last flow gets what is left of it."""

    bytes: int
    """Sum of the sizes of all flows."""
    kind: Literal["bytes"]


QuantitySpec: TypeAlias = FlowsQuantity | BytesQuantity
"""What ends a model once it has been offered."""


class QueueSpec(TypedDict):
    """A queue of a port."""

    burst_bytes: NotRequired[int]
    """With a rate: bytes that may be ahead of it."""
    level: NotRequired[int | None]
    """Higher levels go first, queues of one level take turns; absent: its number."""
    queue: int
    """Its number, 0 to 7."""
    rate_bps: NotRequired[int | None]
    """Bits on the link that it sends at most in a second."""
    weight: NotRequired[int]
    """Its share among the queues of its level."""


RdmaRecovery: TypeAlias = Literal["go_back_n", "go_back_0", "selective_repeat"]
"""How a flow recovers from losses."""


Recovery: TypeAlias = Literal["reno", "newreno", "sack"]
"""Loss recovery after duplicate ACKs."""


RoundUnit: TypeAlias = Literal["bytes", "packets"]
"""What a turn of a queue counts."""


class RoundsSpec(TypedDict):
    """A client and its servers."""

    algorithm: str
    """Name in `algorithms`, of requests and answers."""
    client: str
    """Host that asks."""
    constant_gap: NotRequired[bool]
    """Whether that time is always the mean: an application that limits itself to a constant rate."""
    deadline: NotRequired[DeadlineSpec | None]
    """Deadlines of answers; for fresh connections only, as a deadline is a flow's."""
    label: NotRequired[str | None]
    """Label of its flows in results; absent: the name."""
    mean_gap_ns: NotRequired[float | None]
    """
    Open loop: the mean of the exponential time between
    two requests; absent: a request waits for the answers.
    """
    name: str
    """Name of the group and of its random streams, unique among rounds."""
    persistent: NotRequired[bool]
    """Whether answers of one server share a connection and with it window and estimates."""
    priority: NotRequired[int]
    """Traffic class on the wire, 0 (lowest) to 7."""
    request_bytes: int
    """Payload of a request."""
    response_bytes: list[int]
    """Payload of an answer, for each server."""
    rounds: int
    """Number of rounds."""
    servers: list[str]
    """Hosts that answer."""
    service_jitter_ns: NotRequired[int]
    """A server answers after a random time from 0 to this, uniform, of a stream of its own."""
    start_jitter_ns: NotRequired[int]
    """The first requests leave after a random time from 0 to this, uniform, of a stream of the group."""
    start_ns: NotRequired[int]
    """When the first requests leave."""
    think_ns: NotRequired[int]
    """Pause of the client between the last answer and the next requests."""


Schedule: TypeAlias = Literal["ring", "halving_doubling", "pairwise"]
"""In which steps they get it."""


class SchedulerSpec(TypedDict):
    """In which order the queues of a port send, and how fast (docs/algorithms/queues.md)."""

    quantum_bytes: NotRequired[int]
    """With bytes: what a turn of weight 1 adds to a queue's deficit."""
    queues: list[QueueSpec]
    """Queues, each once; one that is absent is a level by its number, of weight 1 and without a rate."""
    unit: NotRequired[RoundUnit]
    """What a turn counts, where queues of one level take turns."""


class FixedSize(TypedDict):
    """Every flow alike."""

    bytes: int
    """Size."""
    kind: Literal["fixed"]


class UniformSize(TypedDict):
    """Every size between two, both included, equally likely."""

    kind: Literal["uniform"]
    max_bytes: int
    """Largest."""
    min_bytes: int
    """Smallest."""


class CdfSize(TypedDict):
    """Linear between the points of a cumulative distribution."""

    kind: Literal["cdf"]
    points: list[CdfPoint]
    """Rising in both, from share 0 to share 1."""


SizeSpec: TypeAlias = FixedSize | UniformSize | CdfSize
"""Where flow sizes come from."""


class SlowReceiverSpec(TypedDict):
    """
    A host that takes packets from its network card at a rate below its link's
    (docs/algorithms/pfc.md#slow-receivers).
    """

    buffer_bytes: int
    """What its card holds."""
    end_ns: NotRequired[int | None]
    """When it takes all at once again; absent: it stays slow."""
    host: str
    """Name of the host."""
    lossless_priorities: NotRequired[list[int]]
    """Priorities that the card pauses; packets of the others are dropped where they find no room."""
    rate_bps: int
    """At what rate it takes them, in bytes as on its link; 0 of one that takes nothing."""
    start_ns: NotRequired[int]
    """When it begins to be slow."""
    xoff_bytes: int
    """Bytes in the card above which it pauses, and other packets find no room."""
    xon_bytes: int
    """Bytes in the card down to which it resumes."""


class StormSpec(TypedDict):
    """
    The network card of a host pauses its neighbour for a time without need: a PFC storm
    (docs/algorithms/pfc.md#storms).
    """

    end_ns: NotRequired[int | None]
    """When a resume frame ends it; absent: it lasts."""
    host: str
    """Name of the host."""
    pause_quanta: NotRequired[int | None]
    """
    Duration of a pause in quanta of 512 bit times: it is sent again when half of it is over. Absent: one
    frame, which lasts.
    """
    priority: int
    """Priority that it pauses, 0 to 7."""
    start_ns: int
    """When it begins."""


class SwitchPortSpec(TypedDict):
    """A port of a switch; rate and framing are its link's."""

    alpha_log2: NotRequired[int]
    """With a shared buffer: log2 of alpha."""
    headroom_bytes: NotRequired[int]
    """With a shared buffer: bytes for what arrives here after a pause, for each lossless priority."""
    port: int
    """Number that the program sees."""
    qdepth_unit: NotRequired[QdepthUnit]
    """Unit of the depths that the program sees."""
    queue_capacity_bytes: NotRequired[int | None]
    """Bytes that each of its queues holds, if they are bounded too."""
    queue_capacity_pkts: int
    """Packets that each of its queues holds."""
    scheduler: NotRequired[SchedulerSpec | None]
    """In which order its queues send, and how fast; absent: by their numbers, as fast as the link."""


TimestampUnit: TypeAlias = Literal["us", "ns"]
"""Unit of v1model's timestamps."""


class TracedSpec(TypedDict):
    """Packets of a flow or of a host, by their numbers as they leave the host."""

    acks: NotRequired[bool]
    """Of a flow: its ACKs, in place of its data packets."""
    first: int
    """Number of the first packet, from 1."""
    flow: NotRequired[int | None]
    """The flow; or `host`."""
    host: NotRequired[str | None]
    """The host, for all packets that it sends."""
    last: int
    """Number of the last packet."""


Field: TypeAlias = int


class UserHeaderConfig(TypedDict):
    """One header, or a stack of it."""

    bytes: list[int]
    """Its bytes as senders write them, of each of its elements."""
    count: NotRequired[CountField | None]
    """The field that counts its repetitions; absent: once."""
    fields: list[tuple[str, Field]]
    """Names and widths of its fields in bits, in the order of the wire."""
    name: str
    """Name of its type."""


class UserHeadersConfig(TypedDict):
    """The headers of a run."""

    after: After
    """Where they are."""
    announce: NotRequired[Announcement]
    """What announces them."""
    echo: NotRequired[bool]
    """Whether receivers echo them."""
    headers: list[UserHeaderConfig]
    """In the order of the wire."""


WatchdogAction: TypeAlias = Literal["drop", "forward", "alert"]
"""What a PFC watchdog does with a queue in a storm."""


class WatchdogSpec(TypedDict):
    """
    The PFC watchdog of a switch (docs/algorithms/pfc.md#watchdog): it detects a queue that is paused for
    long, and restores it when pauses have ended for long.
    """

    action: NotRequired[WatchdogAction]
    """What happens to the queue meanwhile."""
    detection_ns: int
    """A queue with packets that is paused for so long is in a storm."""
    restoration_ns: int
    """A storm has ended when its queue was not paused for so long."""


WindowValidation: TypeAlias = Literal["rfc7661", "rfc5681", "none"]
"""What becomes of a window that the sender does not use."""


class SendWork(TypedDict):
    """Data goes from one host to another."""

    dst: int
    """Place of the receiving host in `hosts`."""
    kind: Literal["send"]
    size_bytes: int
    """Payload."""
    src: int
    """Place of the sending host in `hosts`."""


class ComputeWork(TypedDict):
    """A host computes."""

    duration_ns: int
    """How long."""
    host: int
    """Its place in `hosts`."""
    kind: Literal["compute"]


class CollectiveWork(TypedDict):
    """A rank takes part in a collective that waits for operations, until all of its pieces came in."""

    collective: int
    """Place in `collectives`."""
    kind: Literal["collective"]
    rank: int
    """The rank."""


Work: TypeAlias = SendWork | ComputeWork | CollectiveWork
"""What an operation does."""


class AlgorithmConfig(TypedDict):
    """The algorithms of one sender."""

    congestion_avoidance: NotRequired[AlgorithmSpec]
    """Congestion avoidance; Reno by default."""
    slow_start: NotRequired[AlgorithmSpec]
    """Slow start; the standard one by default."""


class ArrivalsSpec(TypedDict):
    """A Poisson process at each source."""

    algorithm: str
    """Name in `algorithms`."""
    deadline: NotRequired[DeadlineSpec | None]
    """Deadlines."""
    destinations: list[str]
    """Hosts that each flow's destination is drawn from, evenly; a source never sends to itself."""
    end_ns: int
    """No flow starts at this time or later."""
    mean_gap_ns: float
    """Mean time between two flows of one source."""
    name: str
    """Label for results and name of the random streams, unique among arrivals."""
    priority: NotRequired[int]
    """Traffic class on the wire, 0 (lowest) to 7."""
    quantity: NotRequired[QuantitySpec | None]
    """No flow starts once all sources together have offered this, either."""
    size: SizeSpec
    """Flow sizes."""
    sources: list[str]
    """Hosts that send."""
    start_ns: NotRequired[int]
    """When the processes begin."""


class BufferSpec(TypedDict):
    """
    A buffer that all ports of a switch share, with PFC for its lossless priorities
    (docs/algorithms/pfc.md#pfc).
    """

    bytes: int
    """All of it."""
    lossless_priorities: NotRequired[list[int]]
    """Priorities that are paused rather than dropped (PFC), 0 to 6."""
    pause_quanta: NotRequired[int | None]
    """
    Duration of a pause in quanta of 512 bit times, as in IEEE 802.1Qbb; absent: it lasts
    until it is taken back, as in the ns-3 simulator (docs/algorithms/pfc.md#pfc-rules).
    """
    reserve_bytes: NotRequired[int]
    """Set aside for each port and lossless priority."""
    resume_offset_bytes: NotRequired[int]
    """How far below its threshold a paused port must be to continue."""
    watchdog: NotRequired[WatchdogSpec | None]
    """What the switch does with a queue that its neighbour keeps paused; absent: it waits for ever."""


class BurstsSpec(TypedDict):
    """A Poisson process of incasts."""

    algorithm: str
    """Name in `algorithms`."""
    deadline: NotRequired[DeadlineSpec | None]
    """Deadlines."""
    end_ns: int
    """No burst starts at this time or later."""
    hosts: list[str]
    """Hosts that senders and receivers are drawn from."""
    mean_gap_ns: float
    """Mean time between two bursts."""
    name: str
    """Label for results and name of the random streams, unique among bursts."""
    priority: NotRequired[int]
    """Traffic class on the wire, 0 (lowest) to 7."""
    senders: int
    """Senders of each burst, all different."""
    size_bytes: int
    """What each of them sends."""
    start_ns: NotRequired[int]
    """When the process begins."""


class ClosedLoopSpec(TypedDict):
    """Sources that keep flows outstanding."""

    algorithm: str
    """Name in `algorithms`."""
    constant_think: NotRequired[bool]
    """Whether that time is always the mean, and not exponential."""
    deadline: NotRequired[DeadlineSpec | None]
    """Deadlines."""
    destinations: list[str]
    """Hosts that each flow's destination is drawn from, evenly; a source never sends to itself."""
    name: str
    """Label for results and name of the random streams, unique among closed loops."""
    outstanding: int
    """Flows that each source has under way or thinks about."""
    priority: NotRequired[int]
    """Traffic class on the wire, 0 (lowest) to 7."""
    quantity: QuantitySpec
    """What all sources offer, in even shares."""
    size: SizeSpec
    """Flow sizes."""
    sources: list[str]
    """Hosts that send."""
    start_jitter_ns: NotRequired[int]
    """Each of them starts a random time from 0 to this later, uniform."""
    start_ns: NotRequired[int]
    """When the first flows start."""
    think_ns: NotRequired[int]
    """Mean time between the end of a flow and the start of the next one."""


class CollectiveSpec(TypedDict):
    """One group of ranks and what it does."""

    algorithm: str
    """Name in `algorithms` or `rdma`."""
    compute_ns: NotRequired[int]
    """Time that a rank computes between two iterations."""
    iterations: NotRequired[int]
    """How often the job does it."""
    name: str
    """Name of the job and label of its flows."""
    operation: Operation
    """What the ranks want."""
    priority: NotRequired[int]
    """Traffic class on the wire, 0 (lowest) to 7."""
    ranks: list[str]
    """Hosts by rank."""
    schedule: Schedule
    """In which steps they get it."""
    size_bytes: int
    """Size of the whole buffer, as NCCL's tests count it."""
    start_ns: NotRequired[int]
    """When the first iteration begins; 0 with `waits`."""
    waits: NotRequired[bool]
    """Each rank begins when an operation of a job says so."""
    window: NotRequired[int]
    """Steps that a rank may be ahead of what it received; more than 1 in all-to-all only."""


class HostSpec(TypedDict):
    """A host, with one network interface unless `interfaces` has more."""

    gateway_mac: NotRequired[str]
    """Address that it sends to: what a first-hop switch expects, known without ARP."""
    interfaces: NotRequired[list[InterfaceSpec]]
    """Interfaces beyond port 0, in the order of their ports from 1 on."""
    ipv4: str
    """Its address, unique."""
    mac: str
    """Its address, `aa:bb:cc:dd:ee:ff`."""
    name: str
    """Name, unique among all nodes."""
    prefix_len: NotRequired[int]
    """
    Length of its network's prefix, 0 to 32: hosts in it are sent to by their own address in place of the
    gateway's. With 32 there are none.
    """
    ways: NotRequired[list[HostWaySpec]]
    """
    Which interfaces lead to which hosts; one without `to` is for all that no other names. Without any,
    all interfaces lead to every host.
    """


class GivenMatrix(TypedDict):
    """Given: one matrix for every seed."""

    gaps: list[GapSpec]
    """Gaps that pairs name by their place."""
    kind: Literal["given"]
    pairs: list[PairSpec]
    """Who talks to whom."""
    sizes: list[SizeSpec]
    """Sizes that pairs name by their place."""


class OperationSpec(TypedDict):
    """An operation; it waits for operations of its job by their places."""

    after: NotRequired[list[int]]
    """Operations whose end it waits for."""
    after_arrival: NotRequired[list[int]]
    """Sends whose arrival it waits for."""
    after_start: NotRequired[list[int]]
    """Operations whose start it waits for."""
    name: NotRequired[str | None]
    """Name in results; absent: its place."""
    needs: NotRequired[int | None]
    """How many of these it waits for; absent: all."""
    start_ns: NotRequired[int]
    """It starts no earlier than so long after the job."""
    unit: NotRequired[int | None]
    """Operations of a job with the same number run one at a time."""
    work: Work
    """What it does."""


class RdmaConfig(TypedDict):
    """Parameters of an RDMA-like flow."""

    ack_bytes: NotRequired[int | None]
    """
    An ACK for so many bytes in order; with `ack_every` above 1, for whichever comes first; absent: only
    packets count.
    """
    ack_class: NotRequired[int]
    """
    Traffic class of ACKs, NACKs and notifications: the queue of the sending host that
    they share, and what switches may go by (docs/algorithms/pfc.md#pfc-parameters: 7
    with `ack_high_prio`, else that of data).
    """
    ack_delay_ns: NotRequired[int | None]
    """
    Longest that a packet waits for its ACK, where receivers acknowledge rarely; absent: a base round-trip
    time (docs/algorithms/substrate.md#rare-acks).
    """
    ack_every: NotRequired[int]
    """An ACK for so many packets in order (docs/algorithms/substrate.md#packets: 1)."""
    ack_processing_ns: NotRequired[int]
    """Time that the receiver's network card takes for each ACK and NACK."""
    base_rtt_ns: int
    """Largest base round-trip time over host pairs (docs/algorithms/hpcc.md#hpcc-parameters, T)."""
    burst_bytes: NotRequired[int | None]
    """
    Payload that leaves back to back before the pace is kept;
    absent: a segment, or a packet where there are none.
    """
    burst_rate_bps: NotRequired[int | None]
    """Rate within a burst; absent: the interface's (docs/algorithms/reproductions.md#y-pace)."""
    cc: AlgorithmSpec
    """The algorithm of the rate family."""
    cnp_interval_ns: NotRequired[int]
    """Shortest time between two notifications that are packets of their own."""
    cnp_processing_ns: NotRequired[int]
    """Time that the receiver's network card takes for each notification."""
    cnp_scope: NotRequired[CnpScope]
    """Who shares that interval."""
    ecn_capable: NotRequired[bool | None]
    """
    Whether switches may mark its data; absent: if the algorithm reads marks
    (docs/algorithms/reproductions.md#y-corr looks at marks that TIMELY does not).
    """
    entropy: NotRequired[Entropy]
    """
    Who chooses the value of each packet that switches choose its path by, and how
    (docs/algorithms/entropy.md).
    """
    entropy_values: NotRequired[int]
    """Number of such values, a power of two."""
    int: NotRequired[IntTable | None]
    """How to read hop records; needed by algorithms that read telemetry."""
    message_bytes: NotRequired[int | None]
    """
    With go-back-0: bytes of a message, counted from the flow's start; absent: 2^30, so that a shorter
    flow is one message.
    """
    mss_bytes: NotRequired[int]
    """Payload bytes of a full packet (docs/algorithms/substrate.md#packets: 1000)."""
    nack_interval_ns: NotRequired[int]
    """Shortest time between two NACKs for the same byte (docs/algorithms/substrate.md#go-back-n: 500 us)."""
    notification: NotRequired[Notification]
    """How marks come back."""
    pint: NotRequired[PintTable | None]
    """How to use PINT; needed by algorithms that read the utilisation of their path."""
    reads: NotRequired[bool]
    """
    Who wants the data asks for it, a request for each segment, which the algorithm paces
    (docs/algorithms/timely.md#reads).
    """
    receiver: NotRequired[AlgorithmSpec | None]
    """
    The receiver of the host where flows end, which then lets them send; absent: senders decide
    (docs/algorithms/receivers.md).
    """
    recovery: NotRequired[RdmaRecovery]
    """How losses are recovered."""
    reordering_bytes: NotRequired[int | None]
    """
    With selective repeat: a packet is lost when so many bytes arrived that left after it; absent: one and
    a half windows, from five packets to one and a half times what a round trip holds.
    """
    request_patience_rounds: NotRequired[int]
    """
    Round-trip times, smoothed or the base's if that is longer, after which the return of a rate request
    is given up (our own).
    """
    request_records: NotRequired[int]
    """
    Hops that rate requests have room for; a path with more gets the base rate
    (docs/algorithms/d3-rcp.md#d3-header: at most 6).
    """
    rto_ns: NotRequired[int | None]
    """
    Retransmission timeout; absent: none, as in the ns-3
    simulator, so what is lost at the end of a flow stays lost.
    """
    rtt_noise_exp_ns: NotRequired[int]
    """
    And by an exponential one of this mean: timestamps of
    a kernel (docs/algorithms/reproductions.md#y-rtt).
    """
    rtt_noise_uniform_ns: NotRequired[int]
    """
    Round-trip times are longer by a uniform random time from 0 to this
    (docs/algorithms/reproductions.md#y-noise). Who runs the sender draws it.
    """
    rtt_without_serialisation: NotRequired[bool]
    """
    Whether the time of the packet on the sender's link is taken
    off round-trip times (docs/algorithms/timely.md#rtt-sample).
    """
    segment_bytes: NotRequired[int | None]
    """
    Payload of a segment, which gives one round-trip time when all of it is
    acknowledged, serialisation taken off, and whose last packet asks for an ACK
    (docs/algorithms/timely.md#rtt-sample); absent: a round-trip time with every ACK.
    """


class SenderConfig(TypedDict):
    """Parameters of a window sender; absent keys take the defaults of docs/algorithms/window.md#reno-parameters."""

    ack_delay_ns: NotRequired[int | None]
    """
    Longest that a packet waits for its ACK, where `ack_every` is above 1; absent: 40 ms, or half of
    `rto_min_ns` where that is less.
    """
    ack_every: NotRequired[int]
    """The receiver sends an ACK for so many packets in order: 1 for each, 2 for delayed ACKs."""
    cc: NotRequired[AlgorithmConfig]
    """Congestion control."""
    clock_granularity_ns: NotRequired[int]
    """Grain of the clock in the timeout formula (G of RFC6298)."""
    dupthresh: NotRequired[int]
    """Duplicate ACKs that mean a loss."""
    ecn_profile: NotRequired[EcnProfile | None]
    """
    ECN codepoints of the network; null sends packets that are not capable of ECN.

    A sender whose algorithms do not read marks sends such packets in every profile.
    """
    grow_beyond_rwnd: NotRequired[bool]
    """
    Whether `cwnd` grows beyond `rwnd`, where no more may be in flight: RFC5681 sets no bound, RFC7661's
    validation one of twice what is in flight. A cut begins at the larger window.
    """
    host_delay_exp_ns: NotRequired[int]
    """
    Data and ACKs wait in the kernel of the host that they reach: the first for an exponential time of
    this mean, what comes meanwhile goes with it. Who runs the sender draws it; 0: none.
    """
    ip: NotRequired[IpVersion]
    """Over which IP."""
    iw: NotRequired[int]
    """Initial window in segments."""
    limited_transmit: NotRequired[bool]
    """Whether each duplicate ACK below `dupthresh` lets a new segment leave (RFC3042)."""
    mss_bytes: NotRequired[int]
    """Payload bytes of a full segment; with 64 B of headers 1436 make a packet of 1500 B."""
    packets: NotRequired[PacketFormat]
    """What packets are on the wire."""
    recovery: NotRequired[Recovery]
    """Loss recovery."""
    rto_init_ns: NotRequired[int | None]
    """Timeout before the first round-trip sample; absent: the larger of `rto_min_ns` and one second."""
    rto_max_ns: NotRequired[int]
    """Largest timeout, backoff included."""
    rto_min_ns: NotRequired[int]
    """Smallest retransmission timeout."""
    rwnd: NotRequired[int]
    """Receiver window in segments: the most that is ever in flight."""
    ssthresh0: NotRequired[float]
    """First slow-start threshold in segments."""
    tso_bytes: NotRequired[int | None]
    """
    Payload that the sender hands to its interface at once, as with segmentation offload; absent: a
    segment (docs/algorithms/window.md#kernel-sender).
    """
    window_validation: NotRequired[WindowValidation]
    """
    What becomes of a window that the sender does not use
    (docs/algorithms/window.md#window-validation).
    """


class SizeClass(TypedDict):
    """Flow sizes of a part of the pairs."""

    share: float
    """Chance that a pair has these sizes; relative to the other classes'."""
    size: SizeSpec
    """Sizes."""


class SwitchSpec(TypedDict):
    """A switch."""

    buffer: NotRequired[BufferSpec | None]
    """The buffer that its ports share; absent: each queue has its own capacity only."""
    cpu_port: NotRequired[int | None]
    """Port of the controller, if there is one."""
    deflect_on_drop: NotRequired[bool]
    """A packet of a v1model or T2NA program whose queue is full runs through ingress once more."""
    device_id: int
    """P4Runtime's device id, unique."""
    drop_port: NotRequired[int]
    """Value of `egress_spec` that drops."""
    name: str
    """Name, unique among all nodes."""
    pass_limit: NotRequired[int]
    """Most copies and passes that one received packet may cause; more are dropped and counted."""
    ports: list[SwitchPortSpec]
    """Ports; every port has a link."""
    timestamp_unit: NotRequired[TimestampUnit]
    """Unit of v1model's timestamps."""


class TraceSpec(TypedDict):
    """Packets that are followed through the network: what each switch does with them is kept, step by step."""

    max_packets: int
    """Packets that are followed at most; later ones are counted and left out."""
    max_steps: int
    """Steps that each switch keeps at most; later ones are counted and left out."""
    packets: list[TracedSpec]
    """Which packets."""


class JobSpec(TypedDict):
    """Operations that wait for each other."""

    algorithm: str
    """Name in `algorithms` or `rdma`, of all sends."""
    hosts: list[str]
    """Hosts of its operations."""
    name: str
    """Name of the job and label of its flows."""
    operations: list[OperationSpec]
    """What they do."""
    priority: NotRequired[int]
    """Traffic class on the wire, 0 (lowest) to 7."""
    start_ns: NotRequired[int]
    """When the first operations are ready."""


class DrawnMatrix(TypedDict):
    """Drawn anew for each seed (docs/algorithms/traffic.md#skewed, steps 1 to 4)."""

    classes: list[SizeClass]
    """Sizes of a pair's flows, drawn for each pair."""
    empty_share: list[float]
    """Share of pod pairs that may carry nothing: another matrix is drawn until it lies within."""
    gap: GapSpec
    """Gaps of every pair."""
    host_sigma: float
    """Sigma of a host's weight as a sender and as a receiver."""
    kind: Literal["drawn"]
    pairs: int
    """Ordered pairs that talk."""
    pod_sigma: float
    """Sigma of the factor that the hosts of a pod share."""
    sigma: float
    """Sigma of the pairs' intensities: the skew."""


MatrixSpec: TypeAlias = DrawnMatrix | GivenMatrix
"""The pairs of a traffic model."""


class PairsSpec(TypedDict):
    """Traffic between pairs."""

    algorithm: str
    """Name in `algorithms`."""
    busiest_load: NotRequired[float | None]
    """
    Most payload that a host may send, or may be sent, until the end: a share of what its link carries
    (docs/algorithms/traffic.md#choice-busiest-load). Absent: no bound.
    """
    deadline: NotRequired[DeadlineSpec | None]
    """Deadlines."""
    end_ns: int
    """No flow starts at this time or later."""
    knee: float
    """
    Where gaps begin to be scaled linearly, in medians of their
    distribution (docs/algorithms/traffic.md#gap-scaling).
    """
    matrix: MatrixSpec
    """Who talks to whom."""
    name: str
    """Label for results and name of the random streams, unique among pairs."""
    offered_bps: float
    """Payload that all hosts offer together."""
    pattern: Pattern
    """Which of the two traces is sent."""
    pods: list[list[str]]
    """Hosts by pod: those that the uniform trace and a drawn matrix are made of."""
    priority: NotRequired[int]
    """Traffic class on the wire, 0 (lowest) to 7."""
    start_ns: NotRequired[int]
    """When flows begin."""


class RecordSpec(TypedDict):
    """What to record over time; absent intervals record nothing."""

    checkpoints_ns: NotRequired[list[int]]
    """Times at which every flow's acknowledged bytes and every link's bytes are noted, rising."""
    counters: NotRequired[ArraysSpec | None]
    """Counters of the programs."""
    digests: NotRequired[DigestsSpec | None]
    """Digests of the programs."""
    drops: NotRequired[DropsSpec | None]
    """Drops by cause and place."""
    events: NotRequired[bool]
    """Whether to keep the senders' events."""
    headers: NotRequired[HeadersRecordSpec | None]
    """The fields of the user's headers that arrive."""
    log_msg: NotRequired[LogSpec | None]
    """Lines of `log_msg`."""
    max_rows: NotRequired[int]
    """Most rows of each of the recorded tables; later ones are counted and left out."""
    meters: NotRequired[ArraysSpec | None]
    """What meters of the programs coloured."""
    packets_received: NotRequired[PacketsReceivedSpec | None]
    """What arrives at hosts that no flow takes."""
    pauses: NotRequired[bool]
    """Whether to keep every pause frame that a switch sends."""
    pcap: NotRequired[PcapSpec | None]
    """Ends of links whose packets are captured."""
    queue_histogram_interval_ns: NotRequired[int | None]
    """Sampling interval of the histogram of queue depths, over all switch ports."""
    queues_interval_ns: NotRequired[int | None]
    """Sampling interval of queue depths."""
    registers: NotRequired[ArraysSpec | None]
    """Registers of the programs."""
    rtts: NotRequired[bool]
    """Whether to keep every round-trip time that a sender takes."""
    state: NotRequired[list[str]]
    """Attributes of users' algorithms, sampled with the senders' state."""
    tables: NotRequired[ArraysSpec | None]
    """Hits of the entries of the programs' tables."""
    trace: NotRequired[TraceSpec | None]
    """Packets whose steps are kept."""
    windows_interval_ns: NotRequired[int | None]
    """Sampling interval of the senders' state."""


class NetworkSpec(TypedDict):
    """A network and its traffic."""

    algorithms: NotRequired[dict[str, SenderConfig]]
    """Configurations of window senders by name."""
    arrivals: NotRequired[list[ArrivalsSpec]]
    """Poisson arrivals, drawn anew for each seed; their flows are numbered after those of jobs."""
    bursts: NotRequired[list[BurstsSpec]]
    """Incasts at random times, drawn anew for each seed; their flows are numbered after those of pairs."""
    closed_loops: NotRequired[list[ClosedLoopSpec]]
    """Closed loops, drawn anew for each seed; their flows are numbered last."""
    collectives: NotRequired[list[CollectiveSpec]]
    """Collectives of groups of hosts; their flows are numbered after those of rounds."""
    deadlock_after_ns: NotRequired[int]
    """
    A cycle of ports that wait for each other, all paused for
    so long, is a deadlock (docs/algorithms/pfc.md#deadlock).
    """
    faults: NotRequired[list[FaultSpec]]
    """Links that go down, and come up again."""
    flows: NotRequired[list[FlowSpec]]
    """Flows in any order."""
    headers: NotRequired[UserHeadersConfig | None]
    """Headers of the user's program that data packets of all flows carry."""
    host_jitter_ns: NotRequired[int]
    """
    A packet, unless paced, that finds its host's interface idle leaves after a random time below this,
    uniform, of the host's own stream; 0: at once (docs/algorithms/README.md#host-jitter).
    """
    hosts: list[HostSpec]
    """Hosts; they come after the switches in ties."""
    interface_seed: NotRequired[int]
    """Varies how hosts with several interfaces spread their flows."""
    jobs: NotRequired[list[JobSpec]]
    """Operations that wait for each other; their flows are numbered after those of collectives."""
    limits: LimitsSpec
    """Bounds of a run."""
    links: list[LinkSpec]
    """Links, each between two ends that no other link uses."""
    packets: NotRequired[list[PacketsSpec]]
    """The user's packets, which belong to no flow."""
    pair_rtts: NotRequired[PairRttsSpec | None]
    """Base round-trip times of pairs, which RDMA-like senders take in place of `base_rtt_ns`."""
    pairs: NotRequired[list[PairsSpec]]
    """
    Traffic between pairs of hosts, drawn anew for each
    seed; its flows are numbered after those of arrivals.
    """
    rdma: NotRequired[dict[str, RdmaConfig]]
    """Configurations of RDMA-like flows by name; no name is in both maps."""
    record: NotRequired[RecordSpec]
    """What to record besides the flows."""
    rounds: NotRequired[list[RoundsSpec]]
    """Clients that ask many servers, round by round; their flows are numbered after `flows`."""
    slow_receivers: NotRequired[list[SlowReceiverSpec]]
    """Hosts that take packets from their network cards slowly."""
    stall_after_ns: NotRequired[int]
    """
    No byte delivered anywhere for so long, with flows under
    way, is a stall (docs/algorithms/pfc.md#deadlock).
    """
    stop_ns: int
    """End of the run if it does not end by itself."""
    stop_when_complete: NotRequired[bool]
    """Whether the run ends when every flow with a size is complete."""
    storms: NotRequired[list[StormSpec]]
    """Hosts whose network cards pause their switch without need."""
    switches: list[SwitchSpec]
    """Switches; their order is the order of nodes in ties."""
