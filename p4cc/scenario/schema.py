"""The scenario: one description of an experiment, as YAML writes it and pydantic checks it.

Every field that is a quantity ends in its unit. A field's reference in the sources is an anchor
of docs/algorithms ("docs/algorithms/reproductions.md#gst-base"). `p4cc schema` prints this as JSON Schema.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, cast

from pydantic import BeforeValidator, ConfigDict, Discriminator, Field, PrivateAttr, Tag, model_validator

from controller import KRule, ThresholdRule
from p4cc.errors import UserError
from p4cc.scenario.base import (
    MAX_TIME_NS,
    USUAL_KIND,
    Anything,
    Location,
    Model,
    Parameter,
    Sender,
    listed,
)
from p4cc.scenario.changes import MAX_CHANGES, TimedRow
from p4cc.scenario.claims import Reproduction
from p4cc.scenario.control import ControlSettings
from p4cc.scenario.fabric import BufferSettings, RdmaTransport, RedCurveSettings, SchedulerSettings
from p4cc.scenario.faults import MAX_FAULTS, Fault, SlowReceiver, Storm
from p4cc.scenario.figures import Figure, Window
from p4cc.scenario.plain import plain
from p4cc.scenario.port_controls import PortControlChanges, PortControls
from p4cc.scenario.programs import FileName, Name, RouteSettings, Rows, SwitchProgram
from p4cc.scenario.state_records import DigestsRecord, DropsRecord, LogRecord, StateRecord
from p4cc.scenario.timeouts import BY_PATH, ByPath, PathTimes
from p4cc.scenario.topology import Topology
from p4cc.scenario.traffic import TrafficItem, TrafficItems
from p4cc.scenario.traffic_base import FlowTraffic, JitterNs
from p4cc.scenario.user_headers import HeadersRecord, UserHeaders
from p4cc.scenario.user_headers import problems as header_problems
from p4cc.scenario.user_packets import MAX_PACKET_BYTES, PacketsReceived
from p4cc.scenario.without_effect import options_without_effect
from p4cc.scenario.yaml import yaml_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from p4cc import spec
    from p4cc.json_data import JsonValue

MAX_RUNS = 100_000
LinkEnds = Annotated[
    list[Annotated[str, Field(pattern=r"^[^\s:]{1,64}(:[0-9*?]{1,5})?$")]],
    BeforeValidator(listed),
    Field(max_length=1_000),
]
"""Ends of links by pattern: `NODE`, or `SWITCH:PORT`."""


@dataclass(frozen=True)
class Problem:
    """A problem at a place in the scenario."""

    location: Location
    cause: str
    remedy: str


class ThresholdSettings(Model):
    """The two marking thresholds of every egress port (docs/algorithms/slow-start.md#gst-model)."""

    k_rule: Annotated[
        Literal["halve_once", "quarter_buffer", "proportional", "fixed", "never"],
        Field(
            description="How the planner chooses K: `proportional` is a fraction of K_dc, `fixed` uses `k_pkts`, "
            "`never` disables marking. `p4cc controller plan` shows all thresholds."
        ),
    ] = "proportional"
    k_pkts: Annotated[int, Field(ge=0, le=524_287)] | None = None
    """Lower threshold K, with `k_rule: fixed`: packets are marked at this queue length and above."""
    k_dc_pkts: Annotated[int, Field(ge=0, le=524_287)] | None = Field(
        default=None,
        description="Upper threshold K_dc, at which DCTCP and similar algorithms reduce their windows. Default: "
        "computed from each port's rate and queue (65 at 10 Gb/s), above a seventh of the "
        "bandwidth-delay product.",
    )
    rtt_ns: Annotated[int, Field(ge=1, le=60_000_000_000)] | None = Field(
        default=None,
        description="Round-trip time for the rule. Default: the network's longest, including a packet's "
        "serialisation time on each link in one direction.",
    )

    @model_validator(mode="after")
    def _fixed_needs_k(self) -> Self:
        if (self.k_rule == "fixed") != (self.k_pkts is not None):
            raise ValueError("k_pkts is required with k_rule: fixed and not allowed otherwise")
        return self

    def rule(self) -> ThresholdRule | None:
        """For the planner; None where a port never marks."""
        if self.k_rule == "never":
            return None
        return ThresholdRule(KRule(self.k_rule), self.k_pkts, self.k_dc_pkts, self.rtt_ns)


class PortThresholds(ThresholdSettings):
    """Thresholds of the ports of some switches towards some neighbours."""

    switch: Annotated[str, Field(min_length=1, max_length=64, description="Switch name; * and ? are wildcards.")] = "*"
    to: Annotated[str, Field(min_length=1, max_length=64, description="Neighbour name; * and ? are wildcards.")]


EcnProfile = Literal["gst", "rfc3168", "sce"]


class AnyProgramSettings(Model):
    """Settings of switches with any program."""

    program: Annotated[str, Field(min_length=1)] = Field(
        default="p4src/v1model/ecn_dual.p4",
        description="P4-16 source of any v1model, PSA, TNA or T2NA program, or BMv2 JSON: a path relative to the "
        "scenario or the project, or a bundled program.",
    )
    include: list[FileName] = Field(default=[], max_length=64, description="Include directories for `#include`.")
    defines: list[Name] = Field(default=[], max_length=256, description="Preprocessor macros: NAME or NAME=VALUE.")
    p4info: FileName | None = None
    """P4Info for BMv2 JSON, with the ids that a controller uses; p4cc generates one if absent."""
    strict: Literal["course", "tofino"] | None = None
    """Rules whose violations are errors: what a chip rejects, or every warning (docs/reference/p4-support.md)."""
    programs: list[SwitchProgram] = Field(
        default=[], max_length=1_024, description="Programs of individual switches; the last match wins."
    )
    routes: Literal["auto", "hosts", "none"] | RouteSettings = Field(
        default="auto",
        description="Which table receives routes. auto: p4cc's table, or the program's only table that matches on "
        "a destination address and has an action with a port; with a longest-prefix match, consecutive "
        "hosts with the same next hop share an entry. hosts: one entry per host. none: no routes; your "
        "entries or controller must provide them.",
    )
    controller: Annotated[str, Field(pattern=r"^.+\.py:[A-Za-z_][A-Za-z0-9_]*$", max_length=4_096)] | None = Field(
        default=None,
        description="A user's controller that runs in virtual time, or in a lab, alongside p4cc's: FILE.py:CLASS, "
        "relative to the scenario or the working directory (docs/how-to/write-a-controller.md).",
    )
    cpu_port: Annotated[int, Field(ge=1, le=510)] | None = Field(
        default=None, description="CPU port for packet-ins and packet-outs; if absent, there is none."
    )
    entries: Rows = Field(
        default=[], description="User-defined entries, groups and clone sessions: rows, or files of them."
    )
    layer2: bool | None = Field(
        default=None,
        description="Whether hosts address frames to each other's MAC addresses, as on one Ethernet segment, "
        "instead of to their gateway. Default: true if the route table matches MAC addresses, and "
        "within a host's subnet if the topology defines one.",
    )
    ecn_profile: EcnProfile | None = Field(
        default=None,
        description="Which ECN codepoints encode the two marking levels (docs/reference/wire-format.md); `rfc3168` "
        "has only one level. Default: `gst`, or `rfc3168` for a user's program without p4cc's "
        "codepoint table.",
    )
    thresholds: ThresholdSettings = ThresholdSettings()
    """Marking thresholds K and K_dc of every port."""
    ports: list[PortThresholds] = Field(default=[], description="Ports with other thresholds; the last match wins.")
    timestamp_unit: Literal["us", "ns"] = "us"
    """Unit of the timestamps that the program sees. v1model specifies microseconds; programs with telemetry need ns.
    Tofino programs always see ns."""
    qdepth_unit: Literal["packets", "cells_80B", "bytes_80B"] = Field(
        default="packets",
        description="Unit of the queue depths that the program sees: packets, 80-byte cells (each packet occupies "
        "whole cells), or queued bytes divided by 80. Tofino programs always see cells; with "
        "`packets`, their thresholds are converted at the size of a full packet.",
    )
    buffer: BufferSettings | None = Field(
        default=None,
        description="Buffer shared by the ports of a switch; if absent, each queue is limited only by its capacity.",
    )
    schedulers: list[SchedulerSettings] = Field(
        default=[],
        max_length=1_024,
        description="Order and rates of queues; the last match for a port wins. A port without a match serves its "
        "queues by strict priority, 7 first.",
    )
    red: RedCurveSettings = RedCurveSettings()
    """RED curve of every port."""
    ecmp_seed: Annotated[int, Field(ge=0, lt=1 << 63)] = Field(
        default=0, description="Seed from which each switch derives its choice among equal-cost paths."
    )
    ecmp_weights: Annotated[
        Literal["equal", "capacity"],
        Field(
            description="Shares of equal-cost paths: equal, or by the capacity that leads to the destination's switch "
            "through each port (weighted ECMP), for links of different rates."
        ),
    ] = "equal"
    pass_limit: Annotated[int, Field(ge=1, le=1_000_000)] = Field(
        default=4_096,
        description="Maximum number of clones, resubmissions, recirculations and deflections that one received "
        "packet may cause, including those of its copies; further ones are dropped (dropped_pass_limit).",
    )
    deflect_on_drop: bool = Field(
        default=False,
        description="A packet whose queue is full runs through ingress once more, where the program may truncate it "
        "and choose another queue (`trim.p4`). v1model: with instance_type 9. T2NA: packets for which the program "
        "sets deflect_on_drop go through port 0 of their pipe, which leads back to ingress.",
    )
    queue_capacity_bytes: Annotated[int, Field(ge=1, le=2**40)] | None = Field(
        default=None,
        description="IP bytes, with the link's framing, that each queue holds besides its capacity in packets: short "
        "queues of data that leave room for many headers or ACKs. If absent, only packets count.",
    )


class SwitchSettings(PortControls, AnyProgramSettings):
    """The program that switches run, and what the controller installs."""

    flowlet_gap_ns: Annotated[int, Field(ge=1, le=MAX_TIME_NS)] | None = Field(
        default=None,
        description="For programs that spray packets (`spray.p4`): a flow may change its path after a gap of this "
        "length (flowlets); if absent, each packet takes a path at random.",
    )


_HEADER_BYTES = {"udp": 64, "tcp": 52}
_MORE_OF_IPV6 = 20
_MTU_BYTES = 1_500
LEAST_RWND = 32
"""Lower bound of the default receiver window, in segments."""
MAX_RWND = 1 << 20


def header_bytes(packets: object, ip: object) -> int:
    """Bytes of a data packet from IP to its payload (docs/reference/wire-format.md); of the default for any other."""
    return _HEADER_BYTES.get(str(packets), _HEADER_BYTES["udp"]) + (_MORE_OF_IPV6 if ip == 6 else 0)


@dataclass(frozen=True)
class UsualPath:
    """Values for senders that follow from a network's longest path by default."""

    rwnd: int
    """Receiver window in segments."""
    times: PathTimes


class Transport(Model):
    """The window transport that all variants share.

    The defaults are those of a data centre's Linux (docs/algorithms/window.md#reno-parameters); a paper's scenario
    states its own.

    Source: docs/algorithms/window.md#reno; the base reading of the source: docs/algorithms/reproductions.md#gst-base.
    """

    kind: Annotated[Literal["window"], USUAL_KIND] = "window"
    recovery: Literal["reno", "newreno", "sack"] = "sack"
    """What is retransmitted after duplicate ACKs: as in RFC 5681, RFC 6582, or RFC 6675 with selective
    acknowledgements."""
    packets: Literal["udp", "tcp"] = Field(
        default="udp",
        description="Packet format: p4cc's header over UDP, or TCP with its handshake, sequence numbers, options "
        "and flags (docs/reference/wire-format.md); in a lab, `tcp` is the kernel's TCP.",
    )
    ip: Literal[4, 6] = Field(
        default=4, description="IP version of packets; IPv6 addresses of hosts embed their IPv4 addresses in fd00::/96."
    )
    mss_bytes: Annotated[int, Field(ge=1, le=9_000)] = Field(
        default=1_436,
        description="Payload of a full segment; 64 bytes of headers are added, 52 with `packets: tcp`, and 20 more "
        "with `ip: 6`. The default fills packets of 1500 bytes, so it is 1448, 1416 or 1428 with those "
        "settings.",
    )
    headers: UserHeaders = Field(
        default=[], description="User-defined headers, in order, that data packets of all flows carry."
    )
    iw: Annotated[int, Field(ge=1, le=1_000, description="Initial window in segments.")] = 10
    rwnd: Annotated[int, Field(ge=1, le=MAX_RWND)] | None = Field(
        default=None,
        description="Receiver window in segments, which bounds the data in flight. Default: the capacity of the "
        "longest path and its longest queue, at least 32, and at most what 32-bit sequence numbers allow.",
    )
    grow_beyond_rwnd: bool | None = None
    """Whether the congestion window may exceed `rwnd` (RFC 5681; up to twice `rwnd` with `rfc7661`); true if absent."""
    window_validation: Literal["rfc7661", "rfc5681", "none"] | None = Field(
        default=None,
        description="How a window that the sender does not use up evolves: it does not grow (RFC 7661), it "
        "restarts after an idle period (RFC 5681, 4.1), or it grows regardless, as in ns-2 "
        "(docs/algorithms/window.md#window-validation); rfc7661 if absent.",
    )
    rto_min_ns: Annotated[int, Field(ge=1)] | ByPath = Field(
        default=BY_PATH,
        description="Minimum retransmission timeout. `rtt`: twice the network's longest round-trip time through its "
        "longest full queue, from 1 to 200 ms, but at least two round-trip times of the empty network. A "
        "smaller one retransmits queued segments spuriously.",
    )
    rto_init_ns: Annotated[int, Field(ge=1)] | ByPath | None = Field(
        default=BY_PATH,
        description="Timeout before the first RTT measurement. `rtt`: three round-trip times of the empty network, as "
        "after a handshake (RFC 6298, 2.2), but at least `rto_min_ns`; null: the larger of `rto_min_ns` and 1 s "
        "(RFC 6298, 2.1).",
    )
    rto_max_ns: Annotated[int, Field(ge=1)] = 60_000_000_000
    """Maximum timeout, including backoff."""
    dupthresh: Annotated[int, Field(ge=1, le=1_000)] = 3
    """Number of duplicate ACKs that indicate a loss."""
    ssthresh0: Annotated[float, Field(ge=1)] | None = None
    """Initial slow-start threshold in segments; unlimited if absent."""
    limited_transmit: bool | None = None
    """Whether each of the first duplicate ACKs triggers a new segment (RFC 3042); false if absent."""
    ack_every: Annotated[int, Field(ge=1, le=1_024)] | None = None
    """In-order segments per ACK: 1 if absent, 2 for delayed ACKs."""
    ack_delay_ns: Annotated[int, Field(ge=0)] | None = None
    """Maximum delay of an ACK with `ack_every` above 1; 40 ms or half of `rto_min_ns`, whichever is less, if absent."""
    tso_bytes: Annotated[int, Field(ge=1, le=1 << 20)] | None = Field(
        default=None,
        description="Segmentation offload: payload sent back to back, limited to a third of the window; one "
        "segment if absent.",
    )
    host_delay_exp_ns: Annotated[int, Field(ge=0, le=MAX_TIME_NS // 100)] | None = Field(
        default=None,
        description="Mean of an exponential delay after which the kernel processes received data and ACKs, "
        "together with all others that arrived meanwhile; 0 if absent.",
    )

    @model_validator(mode="before")
    @classmethod
    def _full_packet(cls, data: JsonValue) -> JsonValue:
        """The default by which a full segment is a packet of 1500 bytes, whatever its headers."""
        if not isinstance(data, dict):
            return data
        if "entropy" in data:
            raise ValueError(
                "entropy: window senders take packets out of order for losses, so each flow keeps one path; remove "
                "entropy, or give paced senders a transport of kind rdma"
            )
        return {"mss_bytes": _MTU_BYTES - header_bytes(data.get("packets"), data.get("ip")), **data}

    def config(
        self,
        changes: Mapping[str, Parameter],
        ecn_profile: EcnProfile | None,
        cc: spec.AlgorithmConfig,
        path: UsualPath,
    ) -> spec.SenderConfig:
        """The engine's form with a sender's `changes`; defaults follow from the path. A profile may be unknown yet."""
        shared = self.model_dump(exclude={"kind", "headers"}, exclude_none=True)
        shared.setdefault("rwnd", path.rwnd)
        made: dict[str, Any] = {**shared, **changes, "ecn_profile": ecn_profile, "cc": cc}
        times = path.times
        if made["rto_min_ns"] == BY_PATH:
            # A first timeout that somebody gives is not below the least one.
            first_ns = made.get("rto_init_ns", BY_PATH)
            most_ns = made["rto_max_ns"] if first_ns == BY_PATH else min(first_ns, made["rto_max_ns"])
            made["rto_min_ns"] = min(times.rto_min_ns(), most_ns)
        if made.get("rto_init_ns") == BY_PATH:
            made["rto_init_ns"] = min(times.rto_init_ns(made["rto_min_ns"]), made["rto_max_ns"])
        # Senders name what they change; the engine checks it.
        return cast("spec.SenderConfig", made)


def _transport_kind(node: JsonValue | Transport | RdmaTransport) -> str:
    return str(node.get("kind", "window") if isinstance(node, dict) else getattr(node, "kind", ""))


AnyTransport = Annotated[
    Annotated[Transport, Tag("window")] | Annotated[RdmaTransport, Tag("rdma")], Discriminator(_transport_kind)
]


class NamedSender(Sender):
    """A sender with its name, and its changes to switches of any program."""

    name: Annotated[str, Field(min_length=1, max_length=64)]
    """Name in tables and figures."""
    program: Annotated[str, Field(min_length=1)] | None = Field(
        default=None, description="Replaces the switches' P4 program."
    )
    thresholds: ThresholdSettings | None = Field(default=None, description="Replaces the switches' thresholds.")
    red: RedCurveSettings | None = Field(default=None, description="Replaces the switches' RED curve.")
    ecn_profile: EcnProfile | None = Field(default=None, description="Replaces the switches' ECN codepoints.")
    priority: Annotated[int, Field(ge=0, le=7)] | None = Field(
        default=None, description="Traffic class of this variant's flows, in place of the traffic's."
    )


class Variant(PortControlChanges, NamedSender):
    """One kind of sender to compare."""

    flowlet_gap_ns: Annotated[int, Field(ge=1, le=MAX_TIME_NS)] | None = Field(
        default=None, description="Replaces the switches' flowlet gap."
    )


LEAST_INTERVAL_NS = 100
USUAL_INTERVAL_NS = 100_000
"""Upper bound of the default sampling interval."""
Interval = Annotated[int, Field(ge=LEAST_INTERVAL_NS, le=1_000_000_000)]


def sampling_ns(interval: int | Literal["rtt"] | None, rtt_ns: int) -> int | None:
    """The time between samples in a network with this round trip; None without samples."""
    return min(max(rtt_ns, LEAST_INTERVAL_NS), USUAL_INTERVAL_NS) if interval == "rtt" else interval


class Record(Model):
    """Time series sampled in each run; null disables one and rows are written only on change."""

    windows_interval_ns: Interval | Literal["rtt"] | None = "rtt"
    """Sampling interval of every flow's window or rate (table `windows`); `rtt` is the longest round-trip time of the
    empty network, at most 100 us."""
    state: Annotated[
        list[Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=64)]], Field(max_length=16)
    ] = Field(
        default=[],
        description="Attributes of Python algorithms, sampled together with the windows (table `algorithm_state`).",
    )
    queues_interval_ns: Interval | Literal["rtt"] | None = "rtt"
    """Sampling interval of every non-empty queue (table `queues`); `rtt` as for windows."""
    queue_histogram_interval_ns: Interval | None = Field(
        default=None,
        description="Sampling interval of the histogram of all switch ports' depths in bytes (table "
        "`queue_histogram`).",
    )
    events: bool = False
    """Whether timeouts, retransmissions and window reductions are recorded one by one (table `events`)."""
    rtts: bool = Field(default=False, description="Whether every RTT sample of a sender is recorded (table `rtts`).")
    pauses: bool = Field(
        default=False,
        description="Whether every pause and resume frame that a switch sends is recorded (table `pause_frames`).",
    )
    packets_received: PacketsReceived | None = Field(
        default=None,
        description="Packets that arrive at hosts and belong to no flow, one by one (table `packets_received`).",
    )
    pcap: LinkEnds = Field(
        default=[],
        description="Link ends at which packets are captured, each into a pcapng file: a host, a switch (all its "
        "ports) or `SWITCH:PORT`, one or a list; * and ? are wildcards.",
    )
    pcap_snap_bytes: Annotated[int, Field(ge=1, le=MAX_PACKET_BYTES)] = 256
    """Leading bytes of each packet that a capture stores; the payload of flows is all zeros."""
    pcap_max_bytes: Annotated[int, Field(ge=100_000, le=4 << 30)] = 16_000_000
    """Maximum size of each capture file: it ends before the first packet that does not fit, and the run reports how
    many more there were."""
    headers: HeadersRecord | None = Field(
        default=None, description="Fields of the headers in `transport.headers` at arrival (table `headers`)."
    )
    counters: StateRecord | None = Field(
        default=None, description="Counters of the switches' programs (table `program_counters`)."
    )
    registers: StateRecord | None = Field(
        default=None,
        description="Registers of the switches' programs, of at most 64 bits (table `program_registers`).",
    )
    meters: StateRecord | None = Field(
        default=None,
        description="Packets and bytes by colour from meters of the switches' programs, except direct meters "
        "(table `program_meters`).",
    )
    tables: StateRecord | None = Field(
        default=None,
        description="Hits of each entry and misses of the programs' tables, with or without direct counters (table "
        "`program_tables`); slows the program down.",
    )
    drops: DropsRecord | None = Field(
        default=None,
        description="Drops of switches by cause, and by the program's table and action (table `drops`).",
    )
    digests: DigestsRecord | None = Field(
        default=None, description="Digests of the switches' programs (table `program_digests`)."
    )
    log_msg: LogRecord | None = Field(
        default=None, description="Output of `log_msg` in the switches' programs (table `program_log`)."
    )
    max_rows: Annotated[int, Field(ge=0, le=10**10)] = 5_000_000
    """Maximum number of rows in each table of samples or events; a run's `rows_left_out` counts the rest."""
    goodput_interval_ns: Interval | None = Field(
        default=None, description="Bin width of each flow's goodput (table `goodput`); needs window senders."
    )
    ideal_fct: Literal["alone", "hpcc_ns3"] = Field(
        default="alone",
        description="Denominator of `slowdown`: `alone` is the flow's completion time in an otherwise idle "
        "network; `hpcc_ns3` is the formula of HPCC's ns-3 scripts, which count a short flow as a full "
        "packet (docs/algorithms/metrics.md#ideal-fct).",
    )
    slowdown_by_size: bool = Field(
        default=False,
        description="Whether slowdowns are reported by flow-size bin: ten bins in the summary, twenty in table "
        "`slowdown` (docs/algorithms/metrics.md#metrics).",
    )


class Limits(Model):
    """Limits of one run."""

    max_events: Annotated[int, Field(ge=1, le=1 << 40)] = 1_000_000_000
    """Number of events after which a run is aborted with an error."""


class ScenarioModel(Model):
    """One experiment: what to build, send, compare and draw."""

    model_config = ConfigDict(title="Scenario")

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")] = "scenario"
    """Name of the results folder; the scenario's file name without suffix if absent."""
    title: str = ""
    """Title of tables and figures; the name if absent."""
    source: Annotated[str, Field(description="Origin of the numbers: paper, figure, section of the specification.")] = (
        ""
    )
    topology: Topology
    """The network: hosts, switches and links."""
    switch: SwitchSettings = SwitchSettings()
    """The program that switches run, and what is installed in them."""
    control: ControlSettings = ControlSettings()
    """The channel between the switches and the controller in `switch.controller`."""
    traffic: TrafficItems = Field(description="One item of traffic or a list of items.")
    transport: AnyTransport = Transport()
    """The transport that all variants share: windows (`kind: window`) or paced packets (`kind: rdma`)."""
    paced: RdmaTransport | None = Field(
        default=None, description="Transport of senders with rate_control if `transport` has kind window."
    )
    own_transports: bool = False
    """Whether variants differ in transport (pacing, recovery, ...) on purpose; p4cc warns of it if not."""
    variants: Annotated[list[Variant], Field(min_length=1, max_length=64)]
    """The senders to compare; each runs with the same traffic."""
    sweep: dict[str, Annotated[list[Anything], Field(min_length=1, max_length=1_000)]] = Field(
        default={}, description="Dotted paths of fields, each with the values it takes."
    )
    seeds: Annotated[list[Annotated[int, Field(ge=0, lt=1 << 63)]], Field(min_length=1, max_length=10_000)] = Field(
        default=[1]
    )
    """Random seeds: each one draws new traffic, and tables show medians over all seeds."""
    interval: Literal["range", "t", "bootstrap"] = Field(
        default="range",
        description="What tables and figures show of the seeds. range: medians, and in figures the 5-95 % range. t: "
        "means with their 95 % confidence interval by Student's t. bootstrap: means with an interval from 2,000 "
        "resamples of whole runs (docs/algorithms/metrics.md#intervals).",
    )
    stop_ns: Annotated[int, Field(ge=1, le=MAX_TIME_NS)] = 1_000_000_000
    """Time at which a run ends, unless all data has been sent and acknowledged earlier."""
    host_jitter_ns: JitterNs = Field(
        default=0,
        description="Upper bound of a random processing time, uniform, for which a packet waits that finds its host's "
        "interface idle; paced packets do not wait. It ends phase effects of drop-tail queues: give the time that a "
        "packet takes at the bottleneck (docs/algorithms/README.md#host-jitter).",
    )
    faults: list[Fault] = Field(
        default=[], max_length=MAX_FAULTS, description="Links and switches that go down, and when they come up again."
    )
    storms: list[Storm] = Field(
        default=[], max_length=MAX_FAULTS, description="Hosts that pause their switch for a time without need (PFC)."
    )
    slow_receivers: list[SlowReceiver] = Field(
        default=[],
        max_length=MAX_FAULTS,
        description="Hosts that take packets more slowly than their link brings them.",
    )
    changes: list[TimedRow] = Field(
        default=[], max_length=MAX_CHANGES, description="Table entries that are written during a run."
    )
    record: Record = Record()
    """What is sampled during a run."""
    measure: list[Window] = Field(
        default=[],
        description="Time spans over which goodput and fairness are reported, and completion times of the flows that "
        "begin in them; flows that begin earlier, while queues fill, are left out.",
    )
    limits: Limits = Limits()
    """Limits that abort a run."""
    figures: list[Figure] = Field(default=[])
    """Figures to draw."""
    reproduces: Reproduction | None = Field(
        default=None, description="The figure of a paper against which `p4cc reproduce` compares the results."
    )
    extends: str | None = Field(
        default=None,
        description="Scenario file on which this one is based, relative to this file; it is merged before anything "
        "is validated.",
    )

    _place: Path = PrivateAttr(default=Path("scenario of Python"))

    def to_mapping(self) -> dict[str, Any]:
        """The content of a scenario file: plain data, without fields that have their default values."""
        return cast("dict[str, Any]", plain(self))

    def to_yaml(self) -> str:
        """The text of a scenario file."""
        return yaml_of(self.to_mapping())

    def write(self, file: str | Path) -> Path:
        """Writes a scenario file and returns its path; file names in the scenario are relative to it from then on.

        Raises UserError if the file cannot be written.
        """
        path = Path(file)
        try:
            path.write_text(self.to_yaml(), encoding="utf-8")
        except OSError as error:
            cause = f"cannot be written: {error.strerror or error}"
            raise UserError(cause, place=str(path), remedy="give a path in a folder that you can write to") from error
        return path

    @property
    def place(self) -> Path:
        """The path to whose folder the scenario's file names are relative; the working directory is searched, too."""
        return self._place

    def keep_place(self, place: Path) -> None:
        """Sets `place`."""
        self._place = place

    def __repr__(self) -> str:
        """Its subject, in a line."""
        kinds = ", ".join(item.kind for item in self.traffic_items)
        senders = ", ".join(variant.name for variant in self.variants)
        return f"Scenario({self.name}: {self.topology.kind}, {kinds}; {senders}; seeds {self.seeds})"

    @property
    def traffic_items(self) -> list[TrafficItem]:
        """All items of traffic, in order."""
        return self.traffic if isinstance(self.traffic, list) else [self.traffic]

    @property
    def flow_items(self) -> dict[int, FlowTraffic]:
        """Items of traffic that consist of flows, by their index among all items."""
        return {place: item for place, item in enumerate(self.traffic_items) if isinstance(item, FlowTraffic)}

    def _limits_of_python(self) -> ControlSettings:
        """The fields of `control` that apply without a controller: algorithms in Python have limits, too."""
        in_python = any(one.entry is None or one.own for _, sender in self.senders() for _, one in sender.algorithms())
        return ControlSettings(handler_limit_s=self.control.handler_limit_s) if in_python else ControlSettings()

    def problems(self) -> Iterator[Problem]:
        """Inconsistencies between fields that are valid by themselves; `load.validate` checks for them."""
        names = [variant.name for variant in self.variants]
        for number, name in enumerate(names):
            if name in names[:number]:
                place = ("variants", number, "name")
                yield Problem(place, f"two variants are named {name}", "give each variant a unique name")
        if len(set(self.seeds)) != len(self.seeds):
            yield Problem(("seeds",), "a seed is listed twice, but each seed is one run", "remove one of the two")
        yield from self._sender_problems()
        yield from self._header_problems()
        if (paced := self.rdma_transport) is not None:
            place = "transport" if self.paced is None else "paced"
            usual: dict[str, object] = paced.model_dump(exclude={"headers"})
            for where, cause, remedy in options_without_effect(usual, place, [*self.senders()]):
                yield Problem(where, cause, remedy)
        if self.switch.controller is None and self.control != self._limits_of_python():
            cause = "the scenario has control settings but no controller"
            yield Problem(("control",), cause, "name a controller in switch.controller: FILE.py:CLASS")
        labels = [item.label for item in self.traffic_items]
        if len(set(labels)) != len(labels):
            yield Problem(("traffic",), "two items of traffic have the same name", "give each item a unique name")
        for number, window in enumerate(self.measure):
            if not window.start_ns < window.end_ns <= self.stop_ns:
                cause = (
                    f"measure {window.name!r} covers {window.start_ns} to {window.end_ns} ns, but the run ends "
                    f"at {self.stop_ns} ns"
                )
                yield Problem(("measure", number), cause, "make sure that start_ns < end_ns <= stop_ns")
        yield from self._figure_problems()
        runs = len(names) * len(self.seeds)
        for values in self.sweep.values():
            runs *= len(values)
        if runs > MAX_RUNS:
            yield Problem((), f"{runs} runs exceed the limit of {MAX_RUNS}", "shorten the sweep or the seeds")

    def _figure_problems(self) -> Iterator[Problem]:
        """Figures of flows that begin in a span which `measure` does not have."""
        known = [window.name for window in self.measure]
        for number, figure in enumerate(self.figures):
            if (window := getattr(figure, "window", None)) is not None and window not in known:
                remedy = f"name one of measure: {', '.join(known)}" if known else "give measure one of this name"
                yield Problem(("figures", number, "window"), f"there is no span of time {window!r}", remedy)

    @property
    def rdma_transport(self) -> RdmaTransport | None:
        """The transport of senders with rate_control."""
        return self.transport if isinstance(self.transport, RdmaTransport) else self.paced

    @property
    def window_transport(self) -> Transport:
        """The transport of senders with congestion_avoidance; raises ValueError if there is none."""
        if isinstance(self.transport, Transport):
            return self.transport
        raise ValueError("`problems` reports every window sender that has no transport")

    def _sender_problems(self) -> Iterator[Problem]:
        """Senders whose kind of algorithm no transport of the scenario runs."""
        paced = isinstance(self.transport, RdmaTransport)
        if self.paced is not None:
            # Both transports are there: each sender runs on its algorithm's.
            if paced:
                yield Problem(("paced",), "transport already has kind rdma", "remove paced")
            return
        wanted = "rate_control" if paced else "congestion_avoidance"
        for place, sender in self.senders():
            if getattr(sender, wanted) is not None:
                continue
            if paced:
                cause = "the sender has a window (congestion_avoidance), but transport is for paced senders (rdma)"
                remedy = (
                    "give transport the fields of the window transport, and move the rdma fields to `paced: "
                    "{kind: rdma}`"
                )
            else:
                cause = "the sender is paced (rate_control), but transport is for window senders"
                remedy = (
                    "add `paced: {kind: rdma}` next to transport, or use `transport: {kind: rdma}` if all "
                    "senders are paced"
                )
            yield Problem(place, cause, remedy)

    def _header_problems(self) -> Iterator[Problem]:
        """User-defined headers that are inconsistent."""
        for number, field, cause, remedy in header_problems(self.transport.headers):
            yield Problem(("transport", "headers", number, field), cause, remedy)
        windows = self.transport if isinstance(self.transport, Transport) else None
        if windows is not None and windows.headers and (windows.packets == "tcp" or windows.ip == 6):
            cause = "TCP and IPv6 packets cannot carry user-defined headers"
            yield Problem(("transport", "headers"), cause, "remove the headers, or use packets: udp and ip: 4")
        if self.paced is not None and self.paced.headers:
            yield Problem(("paced", "headers"), "all flows carry the same headers", "move the headers to transport")
        if self.record.headers is not None and not self.transport.headers:
            yield Problem(
                ("record", "headers"),
                "the scenario records headers, but packets carry none",
                "define them in transport.headers",
            )

    def senders(self) -> Iterator[tuple[Location, Sender]]:
        """All senders with their locations: the variants, and senders defined by traffic items."""
        for number, variant in enumerate(self.variants):
            yield ("variants", number), variant
        several = isinstance(self.traffic, list)
        for number, item in self.flow_items.items():
            if item.sender is not None:
                yield ("traffic", number, "sender") if several else ("traffic", "sender"), item.sender
