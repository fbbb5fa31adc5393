"""The scenario: one description of an experiment, as YAML writes it and pydantic checks it.

Every field that is a quantity ends in its unit. What a field refers to in the sources is named by an anchor
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
from p4cc.scenario.fabric import BufferSettings, RdmaTransport, RedCurveSettings
from p4cc.scenario.faults import MAX_FAULTS, Fault
from p4cc.scenario.figures import Figure, Window
from p4cc.scenario.plain import plain
from p4cc.scenario.programs import FileName, Name, RouteSettings, Rows, SwitchProgram
from p4cc.scenario.rate_switches import BoltSwitchSettings, D3SwitchSettings, DualPi2SwitchSettings, RcpSwitchSettings
from p4cc.scenario.state_records import DigestsRecord, DropsRecord, LogRecord, StateRecord
from p4cc.scenario.topology import Topology
from p4cc.scenario.traffic import TrafficItem, TrafficItems
from p4cc.scenario.traffic_base import FlowTraffic
from p4cc.scenario.user_headers import HeadersRecord, UserHeaders
from p4cc.scenario.user_headers import problems as header_problems
from p4cc.scenario.user_packets import MAX_PACKET_BYTES, PacketsReceived
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
    """What is wrong at a place of the scenario."""

    location: Location
    cause: str
    remedy: str


class ThresholdSettings(Model):
    """The two marking thresholds of every egress port (docs/algorithms/slow-start.md#gst-model)."""

    k_rule: Annotated[
        Literal["halve_once", "quarter_buffer", "proportional", "fixed", "never"],
        Field(
            description="How the planner chooses K: `proportional` is a share of K_dc, `fixed` takes `k_pkts`, with "
            "`never` a port does not mark. `p4cc controller plan` shows all."
        ),
    ] = "proportional"
    k_pkts: Annotated[int, Field(ge=0, le=524_287)] | None = None
    """Lower threshold K, with `k_rule: fixed`: from this depth on packets carry its mark."""
    k_dc_pkts: Annotated[int, Field(ge=0, le=524_287)] | None = Field(
        default=None,
        description="Upper threshold K_dc, at which DCTCP and its relatives cut their windows; by each port's rate and "
        "queue if absent, 65 at 10 Gb/s, and above a seventh of what is in flight.",
    )
    rtt_ns: Annotated[int, Field(ge=1, le=60_000_000_000)] | None = Field(
        default=None,
        description="Round-trip time for the rule; the network's longest, with a packet's time on each link of one "
        "way, if absent.",
    )

    @model_validator(mode="after")
    def _fixed_needs_k(self) -> Self:
        if (self.k_rule == "fixed") != (self.k_pkts is not None):
            raise ValueError("k_pkts is given exactly when k_rule is fixed")
        return self

    def rule(self) -> ThresholdRule | None:
        """For the planner; None where a port never marks."""
        if self.k_rule == "never":
            return None
        return ThresholdRule(KRule(self.k_rule), self.k_pkts, self.k_dc_pkts, self.rtt_ns)


class PortThresholds(ThresholdSettings):
    """Thresholds of the ports of some switches towards some neighbours."""

    switch: Annotated[str, Field(min_length=1, max_length=64, description="A switch; * and ? are wildcards.")] = "*"
    to: Annotated[str, Field(min_length=1, max_length=64, description="The neighbour; * and ? are wildcards.")]


EcnProfile = Literal["gst", "rfc3168", "sce"]


class SwitchSettings(Model):
    """What the switches run and what the controller installs."""

    program: Annotated[str, Field(min_length=1)] = Field(
        default="p4src/v1model/ecn_dual.p4",
        description="P4-16 source of any v1model, PSA, TNA or T2NA program, or BMv2 JSON; relative to the scenario "
        "or the project, or one of p4cc's own.",
    )
    include: list[FileName] = Field(default=[], max_length=64, description="Folders that `#include` looks in.")
    defines: list[Name] = Field(default=[], max_length=256, description="Macros: NAME or NAME=VALUE.")
    p4info: FileName | None = None
    """P4Info that belongs to BMv2 JSON, with the ids that a controller knows; p4cc makes its own if absent."""
    strict: Literal["tofino"] | None = None
    """A chip: what it forbids is an error (docs/reference/p4-support.md)."""
    programs: list[SwitchProgram] = Field(
        default=[], max_length=1_024, description="Programs of some switches; the last that fits decides."
    )
    routes: Literal["auto", "hosts", "none"] | RouteSettings = Field(
        default="auto",
        description="Where routes go. auto: p4cc's own table, or the one table of the program whose key is a "
        "destination's address and whose action takes a port; where it matches by prefix, hosts that lie one after "
        "another and have one way share an entry. hosts: an entry for each host. none: entries or a controller see "
        "to them.",
    )
    controller: Annotated[str, Field(pattern=r"^.+\.py:[A-Za-z_][A-Za-z0-9_]*$", max_length=4_096)] | None = Field(
        default=None,
        description="A controller of the user's that runs in virtual time, or in a lab, beside p4cc's own: "
        "FILE.py:CLASS, relative to the scenario or the working folder (docs/how-to/write-a-controller.md).",
    )
    cpu_port: Annotated[int, Field(ge=1, le=510)] | None = Field(
        default=None, description="Port of the controller for packet-ins and packet-outs; absent: there is none."
    )
    entries: Rows = Field(
        default=[], description="Entries, groups and clone sessions of the user's: rows, or files of them."
    )
    layer2: bool | None = Field(
        default=None,
        description="Whether hosts send frames to each other's MAC addresses, as on one Ethernet, and not to their "
        "gateway. Absent: where the routes' table matches MAC addresses, and within a host's own network where the "
        "topology gives hosts one.",
    )
    ecn_profile: EcnProfile | None = Field(
        default=None,
        description="Which codepoints stand for the two levels (docs/reference/wire-format.md); `rfc3168` knows one "
        "level. Absent: `gst`, but `rfc3168` for a program of the user's without p4cc's codepoint table.",
    )
    thresholds: ThresholdSettings = ThresholdSettings()
    """K and K_dc of every port."""
    ports: list[PortThresholds] = Field(default=[], description="Ports that differ; the last that fits decides.")
    timestamp_unit: Literal["us", "ns"] = "us"
    """Unit of the times that the program sees; v1model says microseconds, programs with telemetry ask for ns. Programs
    for Tofino see ns in any case."""
    qdepth_unit: Literal["packets", "cells_80B", "bytes_80B"] = Field(
        default="packets",
        description="Unit of the depths that the program sees: packets, cells of 80 bytes of which a packet takes "
        "whole ones, or bytes of the queue divided by 80. Programs for Tofino see cells in any case; where this says "
        "packets, thresholds are so many full packets.",
    )
    buffer: BufferSettings | None = Field(
        default=None, description="Shared by a switch's ports; absent: each queue has its own capacity only."
    )
    red: RedCurveSettings = RedCurveSettings()
    """RED curve of every port."""
    ecmp_seed: Annotated[int, Field(ge=0, lt=1 << 63)] = Field(
        default=0, description="Each switch's choice among equal paths follows from it and from the switch."
    )
    pass_limit: Annotated[int, Field(ge=1, le=1_000_000)] = Field(
        default=4_096,
        description="Most copies, resubmissions and recirculations that one received packet may cause, those of its "
        "copies included; more are dropped (dropped_pass_limit).",
    )
    d3: D3SwitchSettings = D3SwitchSettings()
    """For programs that allot rates on request (`d3.p4`)."""
    rcp: RcpSwitchSettings = RcpSwitchSettings()
    """For programs with one fair rate (`rcp.p4`)."""
    dualpi2: DualPi2SwitchSettings = DualPi2SwitchSettings()
    """For programs with a dual queue (`dualpi2.p4`)."""
    bolt: BoltSwitchSettings = BoltSwitchSettings()
    """For programs that tell senders of queues (`bolt.p4`)."""
    flowlet_gap_ns: Annotated[int, Field(ge=1, le=MAX_TIME_NS)] | None = Field(
        default=None,
        description="For programs that spray packets (`spray.p4`): packets of a flow between two pauses of this keep "
        "to one path (flowlets); each packet takes its own if absent.",
    )


_HEADER_BYTES = {"udp": 64, "tcp": 52}
_MORE_OF_IPV6 = 20
_MTU_BYTES = 1_500
LEAST_RWND = 32
"""Segments of a receiver window that nobody gives, at least."""
MAX_RWND = 65_536


def header_bytes(packets: object, ip: object) -> int:
    """What a data packet has from IP to its payload (docs/reference/wire-format.md); of the default for any other."""
    return _HEADER_BYTES.get(str(packets), _HEADER_BYTES["udp"]) + (_MORE_OF_IPV6 if ip == 6 else 0)


class Transport(Model):
    """The window transport all variants share.

    Defaults are those of docs/algorithms/window.md#reno-parameters, which the engine has too.

    Source: docs/algorithms/window.md#reno; the base reading of the source: docs/algorithms/reproductions.md#gst-base.
    """

    kind: Annotated[Literal["window"], USUAL_KIND] = "window"
    recovery: Literal["reno", "newreno", "sack"] = "newreno"
    """What is sent again after duplicate ACKs: as RFC 5681, RFC 6582, or RFC 6675 with reports of what arrived."""
    packets: Literal["udp", "tcp"] = Field(
        default="udp",
        description="What packets are on the wire: p4cc's own header over UDP, or TCP with its handshake, numbers, "
        "options and flags (docs/reference/wire-format.md); in a lab the kernel's own TCP.",
    )
    ip: Literal[4, 6] = Field(
        default=4, description="IP version of packets; hosts have IPv6 addresses that hold their IPv4 ones, fd00::/96."
    )
    mss_bytes: Annotated[int, Field(ge=1, le=9_000)] = Field(
        default=1_436,
        description="Payload of a full segment; 64 bytes of headers come on top, 52 with `packets: tcp`, and 20 more "
        "with `ip: 6`. The default makes packets of 1500 bytes: 1448, 1416 and 1428 then.",
    )
    headers: UserHeaders = Field(
        default=[], description="Headers of the program's that data packets of all flows carry, in order."
    )
    iw: Annotated[int, Field(ge=1, le=1_000, description="Initial window in segments.")] = 1
    rwnd: Annotated[int, Field(ge=1, le=MAX_RWND)] | None = Field(
        default=None,
        description="Receiver window in segments: the most in flight. Absent: what the longest path and the longest of "
        "its queues hold, at least 32.",
    )
    grow_beyond_rwnd: bool | None = None
    """Whether the congestion window grows beyond `rwnd` (RFC 5681; to twice of it with `rfc7661`); true if absent."""
    window_validation: Literal["rfc7661", "rfc5681", "none"] | None = Field(
        default=None,
        description="What becomes of a window that the sender does not use: it does not grow (RFC 7661), it restarts "
        "after a pause (RFC 5681, 4.1), or it grows all the same, as in ns-2 "
        "(docs/algorithms/window.md#window-validation); rfc7661 if absent.",
    )
    rto_min_ns: Annotated[int, Field(ge=1)] = 200_000_000
    """Least retransmission timeout; well above the round-trip time, or segments that wait in a queue are sent twice."""
    rto_init_ns: Annotated[int, Field(ge=1)] | None = None
    """Timeout before the first round-trip time is known; the larger of `rto_min_ns` and 1 s if absent."""
    rto_max_ns: Annotated[int, Field(ge=1)] = 60_000_000_000
    """Largest timeout, doubled ones included."""
    dupthresh: Annotated[int, Field(ge=1, le=1_000)] = 3
    """Duplicate ACKs that stand for a loss."""
    ssthresh0: Annotated[float, Field(ge=1)] | None = None
    """First slow-start threshold in segments; none if absent."""
    limited_transmit: bool | None = None
    """Whether each of the first duplicate ACKs lets a new segment leave (RFC 3042); false if absent."""
    ack_every: Annotated[int, Field(ge=1, le=1_024)] | None = None
    """Segments in order for each ACK: 1 if absent, 2 for delayed ACKs."""
    ack_delay_ns: Annotated[int, Field(ge=0)] | None = None
    """Longest that a segment waits for its ACK with `ack_every` above 1; 40 ms, or half of `rto_min_ns`, if absent."""
    tso_bytes: Annotated[int, Field(ge=1, le=1 << 20)] | None = Field(
        default=None,
        description="Segmentation offload: payload that leaves back to back, or a third of the window where that is "
        "less; a segment if absent.",
    )
    host_delay_exp_ns: Annotated[int, Field(ge=0, le=MAX_TIME_NS // 100)] | None = Field(
        default=None,
        description="Kernels take up data and ACKs after an exponential time of this mean, all that came until then "
        "at once; 0 if absent.",
    )

    @model_validator(mode="before")
    @classmethod
    def _full_packet(cls, data: JsonValue) -> JsonValue:
        """The default by which a full segment is a packet of 1500 bytes, whatever its headers."""
        if not isinstance(data, dict):
            return data
        return {"mss_bytes": _MTU_BYTES - header_bytes(data.get("packets"), data.get("ip")), **data}

    def config(
        self, changes: Mapping[str, Parameter], ecn_profile: EcnProfile, cc: spec.AlgorithmConfig, rwnd: int
    ) -> spec.SenderConfig:
        """The engine's form with a sender's `changes`; `rwnd` holds where nobody says it."""
        shared = self.model_dump(exclude={"kind", "headers"}, exclude_none=True)
        shared.setdefault("rwnd", rwnd)
        # Senders name what they change; the engine checks it.
        return cast("spec.SenderConfig", {**shared, **changes, "ecn_profile": ecn_profile, "cc": cc})


def _transport_kind(node: JsonValue | Transport | RdmaTransport) -> str:
    return str(node.get("kind", "window") if isinstance(node, dict) else getattr(node, "kind", ""))


AnyTransport = Annotated[
    Annotated[Transport, Tag("window")] | Annotated[RdmaTransport, Tag("rdma")], Discriminator(_transport_kind)
]


class Variant(Sender):
    """One kind of sender to compare."""

    name: Annotated[str, Field(min_length=1, max_length=64)]
    """What tables and figures call it."""
    program: Annotated[str, Field(min_length=1)] | None = Field(
        default=None, description="In place of the switches' P4 program."
    )
    thresholds: ThresholdSettings | None = Field(default=None, description="In place of the switches' thresholds.")
    red: RedCurveSettings | None = Field(default=None, description="In place of the switches' RED curve.")
    d3: D3SwitchSettings | None = Field(default=None, description="In place of the switches' D3 settings.")
    ecn_profile: EcnProfile | None = Field(default=None, description="In place of the switches' codepoints.")
    priority: Annotated[int, Field(ge=0, le=7)] | None = Field(
        default=None, description="Traffic class of its flows, in place of the traffic's."
    )
    dualpi2: DualPi2SwitchSettings | None = Field(default=None, description="In place of the switches' dual queue.")
    bolt: BoltSwitchSettings | None = Field(default=None, description="In place of the switches' Bolt settings.")
    flowlet_gap_ns: Annotated[int, Field(ge=1, le=MAX_TIME_NS)] | None = Field(
        default=None, description="In place of the switches' pause between flowlets."
    )


LEAST_INTERVAL_NS = 100
USUAL_INTERVAL_NS = 100_000
"""The longest time between samples where nobody gives one."""
Interval = Annotated[int, Field(ge=LEAST_INTERVAL_NS, le=1_000_000_000)]


def sampling_ns(interval: int | Literal["rtt"] | None, rtt_ns: int) -> int | None:
    """The time between samples in a network with this round trip; None where there are none."""
    return min(max(rtt_ns, LEAST_INTERVAL_NS), USUAL_INTERVAL_NS) if interval == "rtt" else interval


class Record(Model):
    """Sampling of each run beside its flows; null records nothing, a row is kept where something changed."""

    windows_interval_ns: Interval | Literal["rtt"] | None = "rtt"
    """Time between samples of every flow's window or rate (table `windows`); `rtt` is the longest round trip of the
    empty network, 100 us at most."""
    state: Annotated[
        list[Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=64)]], Field(max_length=16)
    ] = Field(
        default=[],
        description="Attributes of algorithms in Python, sampled with the windows (table `algorithm_state`).",
    )
    queues_interval_ns: Interval | Literal["rtt"] | None = "rtt"
    """Time between samples of every queue that holds something (table `queues`); `rtt` as for windows."""
    queue_histogram_interval_ns: Interval | None = Field(
        default=None, description="Histogram of all switch ports' depths in bytes (table `queue_histogram`)."
    )
    events: bool = False
    """Timeouts, retransmissions and cuts of windows, one by one (table `events`)."""
    rtts: bool = Field(default=False, description="Every round-trip time that a sender takes (table `rtts`).")
    pauses: bool = Field(
        default=False, description="Every pause and resume frame that a switch sends (table `pause_frames`)."
    )
    packets_received: PacketsReceived | None = Field(
        default=None,
        description="What arrives at hosts that no flow takes, packet by packet (table `packets_received`).",
    )
    pcap: LinkEnds = Field(
        default=[],
        description="Ends of links whose packets are captured, a pcapng file for each: a host, a switch (all its "
        "ports), `SWITCH:PORT`; with * and ?. One, or a list.",
    )
    pcap_snap_bytes: Annotated[int, Field(ge=1, le=MAX_PACKET_BYTES)] = 256
    """First bytes of each packet that a capture keeps; what flows carry is zeros."""
    pcap_max_bytes: Annotated[int, Field(ge=100_000, le=4 << 30)] = 16_000_000
    """Of each capture's file: it ends with the first packet that does not fit, and the run says how many followed."""
    headers: HeadersRecord | None = Field(
        default=None, description="Fields of `transport.headers` as they arrive (table `headers`)."
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
        description="What meters of the switches' programs coloured, direct meters left out (table `program_meters`).",
    )
    tables: StateRecord | None = Field(
        default=None,
        description="Hits of each entry and misses of the programs' tables, whether they have direct counters or not "
        "(table `program_tables`); the program runs slower.",
    )
    drops: DropsRecord | None = Field(
        default=None,
        description="Drops of switches by cause, and by table and action of the program (table `drops`).",
    )
    digests: DigestsRecord | None = Field(
        default=None, description="Digests of the switches' programs (table `program_digests`)."
    )
    log_msg: LogRecord | None = Field(
        default=None, description="What `log_msg` of the switches' programs writes (table `program_log`)."
    )
    max_rows: Annotated[int, Field(ge=0, le=10**10)] = 5_000_000
    """Rows that each table of samples or events may have; `rows_left_out` of a run counts later ones."""
    goodput_interval_ns: Interval | None = Field(
        default=None, description="Bins of each flow's goodput (table `goodput`); needs windows."
    )
    ideal_fct: Literal["alone", "hpcc_ns3"] = Field(
        default="alone",
        description="What `slowdown` divides by: `alone` is the completion time of the flow alone in the network, "
        "`hpcc_ns3` the formula of HPCC's ns-3 scripts, in which a short flow counts as a full packet "
        "(docs/algorithms/metrics.md#ideal-fct).",
    )
    slowdown_by_size: bool = Field(
        default=False,
        description="Slowdowns by bins of flow size: ten in the summary, twenty in table `slowdown` "
        "(docs/algorithms/metrics.md#metrics).",
    )


class Limits(Model):
    """Bounds of one run."""

    max_events: Annotated[int, Field(ge=1, le=1 << 40)] = 1_000_000_000
    """Events after which a run is ended with an error."""


class ScenarioModel(Model):
    """One experiment: what is built, what is sent, what is compared, what is drawn."""

    model_config = ConfigDict(title="Scenario")

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")] = "scenario"
    """Names the folder of results; that of the file, without its ending, if absent."""
    title: str = ""
    """Stands above tables and figures; the name if absent."""
    source: Annotated[str, Field(description="Where the numbers come from: paper, figure, section of the spec.")] = ""
    topology: Topology
    """The network: hosts, switches, links."""
    switch: SwitchSettings = SwitchSettings()
    """What the switches run and what is installed in them."""
    control: ControlSettings = ControlSettings()
    """The way between the switches and the controller that `switch.controller` names."""
    traffic: TrafficItems = Field(description="One kind of traffic, or a list of kinds.")
    transport: AnyTransport = Transport()
    """How senders send, alike for all variants: windows (`kind: window`), or paced packets (`kind: rdma`)."""
    paced: RdmaTransport | None = Field(
        default=None, description="The transport of senders with rate_control, where `transport` is for windows."
    )
    own_transports: bool = False
    """Whether variants differ in transport (pacing, recovery, ...) on purpose; p4cc warns of it if not."""
    variants: Annotated[list[Variant], Field(min_length=1, max_length=64)]
    """The senders to compare; each meets the same traffic."""
    sweep: dict[str, Annotated[list[Anything], Field(min_length=1, max_length=1_000)]] = Field(
        default={}, description="Dotted path of a field to the values it takes."
    )
    seeds: Annotated[list[Annotated[int, Field(ge=0, lt=1 << 63)]], Field(min_length=1, max_length=10_000)] = Field(
        default=[1]
    )
    """Each seed draws the traffic anew; tables show medians over them."""
    interval: Literal["range", "t", "bootstrap"] = Field(
        default="range",
        description="What tables and figures show of the seeds. range: medians, in figures with the 5-95 % range. t: "
        "means with their 95 % confidence interval by Student's t. bootstrap: the same by 2,000 resamples of whole "
        "runs (docs/algorithms/metrics.md#intervals).",
    )
    stop_ns: Annotated[int, Field(ge=1, le=MAX_TIME_NS)] = 1_000_000_000
    """A run ends here, or when all has been sent and acknowledged."""
    ties: Literal["lower_port", "ns2", "hand_over"] = Field(
        default="lower_port",
        description="Which of two simultaneous events comes first. lower_port: by kind, node and port "
        "(docs/algorithms/README.md#simultaneous-events). ns2: by a clock in seconds in a double, then "
        "in the order of scheduling, as in ns-2. hand_over: the same, but that "
        "a packet counts as scheduled when it is handed to its host's interface, not when its transmission starts.",
    )
    faults: list[Fault] = Field(
        default=[], max_length=MAX_FAULTS, description="Links and switches that go down, and when they come up again."
    )
    changes: list[TimedRow] = Field(
        default=[], max_length=MAX_CHANGES, description="Entries of tables that are written on a run's way."
    )
    record: Record = Record()
    """What is sampled during a run."""
    measure: list[Window] = Field(
        default=[],
        description="Spans of time to report goodput and fairness for, and completion times of the flows that begin "
        "in them: what begins before, while queues fill, is left out.",
    )
    limits: Limits = Limits()
    """Bounds that end a run."""
    figures: list[Figure] = Field(default=[])
    """What is drawn."""
    reproduces: Reproduction | None = Field(default=None, description="What `p4cc reproduce` judges it by.")
    extends: str | None = Field(
        default=None,
        description="A scenario that this one is laid over, relative to it; resolved before all else is checked.",
    )

    _place: Path = PrivateAttr(default=Path("scenario of Python"))

    def to_mapping(self) -> dict[str, Any]:
        """What a scenario's file says: plain data, without fields that have their defaults."""
        return cast("dict[str, Any]", plain(self))

    def to_yaml(self) -> str:
        """The text of a scenario's file."""
        return yaml_of(self.to_mapping())

    def write(self, file: str | Path) -> Path:
        """Writes the scenario's file and returns its path; files that it names are looked for beside it then.

        Raises UserError where it cannot be written.
        """
        path = Path(file)
        try:
            path.write_text(self.to_yaml(), encoding="utf-8")
        except OSError as error:
            cause = f"cannot be written: {error.strerror or error}"
            raise UserError(cause, place=str(path), remedy="give a path in a folder of yours") from error
        return path

    @property
    def place(self) -> Path:
        """Beside it are the files that the scenario names; the working folder's are found too."""
        return self._place

    def keep_place(self, place: Path) -> None:
        """Says where the scenario's files are."""
        self._place = place

    def __repr__(self) -> str:
        """What it is about, in a line."""
        kinds = ", ".join(item.kind for item in self.traffic_items)
        senders = ", ".join(variant.name for variant in self.variants)
        return f"Scenario({self.name}: {self.topology.kind}, {kinds}; {senders}; seeds {self.seeds})"

    @property
    def traffic_items(self) -> list[TrafficItem]:
        """All kinds of traffic, in order."""
        return self.traffic if isinstance(self.traffic, list) else [self.traffic]

    @property
    def flow_items(self) -> dict[int, FlowTraffic]:
        """Kinds of traffic that are flows, by their places among all."""
        return {place: item for place, item in enumerate(self.traffic_items) if isinstance(item, FlowTraffic)}

    def _limits_of_python(self) -> ControlSettings:
        """What `control` may hold without a controller: algorithms in Python have limits, too."""
        in_python = any(one.entry is None or one.own for _, sender in self.senders() for _, one in sender.algorithms())
        return ControlSettings(handler_limit_s=self.control.handler_limit_s) if in_python else ControlSettings()

    def problems(self) -> Iterator[Problem]:
        """What is wrong though each field alone is right; `load.validate` asks for it."""
        names = [variant.name for variant in self.variants]
        for number, name in enumerate(names):
            if name in names[:number]:
                place = ("variants", number, "name")
                yield Problem(place, f"two variants have one name, {name}", "give each its own")
        if len(set(self.seeds)) != len(self.seeds):
            yield Problem(("seeds",), "a seed is listed twice; each seed is one run", "leave one of the two out")
        yield from self._sender_problems()
        yield from self._header_problems()
        if self.switch.controller is None and self.control != self._limits_of_python():
            cause = "there is no controller that this is for"
            yield Problem(("control",), cause, "name one in switch.controller: FILE.py:CLASS")
        labels = [item.label for item in self.traffic_items]
        if len(set(labels)) != len(labels):
            yield Problem(("traffic",), "two items of traffic have one name", "give each a name of its own")
        for number, window in enumerate(self.measure):
            if not window.start_ns < window.end_ns <= self.stop_ns:
                cause = f"measure {window.name!r}: from {window.start_ns} to {window.end_ns} of {self.stop_ns} ns"
                yield Problem(("measure", number), cause, "start_ns, end_ns and stop_ns must rise in this order")
        yield from self._figure_problems()
        runs = len(names) * len(self.seeds)
        for values in self.sweep.values():
            runs *= len(values)
        if runs > MAX_RUNS:
            yield Problem((), f"{runs} runs are more than {MAX_RUNS}", "shorten the sweep or the seeds")

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
        """The transport of senders with congestion_avoidance; raises ValueError where there is none."""
        if isinstance(self.transport, Transport):
            return self.transport
        raise ValueError("`problems` finds every sender with a window that has no transport")

    def _sender_problems(self) -> Iterator[Problem]:
        """Senders whose kind of algorithm no transport of the scenario runs."""
        paced = isinstance(self.transport, RdmaTransport)
        if self.paced is not None:
            # Both transports are there: each sender runs on its algorithm's.
            if paced:
                yield Problem(("paced",), "transport is an rdma one already", "leave paced out")
            return
        wanted = "rate_control" if paced else "congestion_avoidance"
        for place, sender in self.senders():
            if getattr(sender, wanted) is not None:
                continue
            if paced:
                cause = "it has a window (congestion_avoidance), and transport is for paced senders (rdma)"
                remedy = "give transport the fields of windows, and the paced senders theirs: `paced: {kind: rdma}`"
            else:
                cause = "it is paced (rate_control), and transport is for windows"
                remedy = "add `paced: {kind: rdma}` beside transport, or `transport: {kind: rdma}` if all are paced"
            yield Problem(place, cause, remedy)

    def _header_problems(self) -> Iterator[Problem]:
        """Headers of the user's that do not fit together."""
        for number, field, cause, remedy in header_problems(self.transport.headers):
            yield Problem(("transport", "headers", number, field), cause, remedy)
        windows = self.transport if isinstance(self.transport, Transport) else None
        if windows is not None and windows.headers and (windows.packets == "tcp" or windows.ip == 6):
            cause = "packets of TCP or IPv6 carry no headers of the program's"
            yield Problem(("transport", "headers"), cause, "leave them out, or give packets: udp and ip: 4")
        if self.paced is not None and self.paced.headers:
            yield Problem(("paced", "headers"), "all flows carry the same headers", "give them to transport")
        if self.record.headers is not None and not self.transport.headers:
            yield Problem(("record", "headers"), "packets carry no headers of a program", "give transport.headers")

    def senders(self) -> Iterator[tuple[Location, Sender]]:
        """Everything that sends, with its place: the variants, and senders that traffic brings."""
        for number, variant in enumerate(self.variants):
            yield ("variants", number), variant
        several = isinstance(self.traffic, list)
        for number, item in self.flow_items.items():
            if item.sender is not None:
                yield ("traffic", number, "sender") if several else ("traffic", "sender"), item.sender
