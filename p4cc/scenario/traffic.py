"""What is sent: kinds of traffic, of which a scenario may mix several (docs/algorithms/traffic.md#traffic).

Hosts that a kind does not name are those that the topology means for it: senders send, receivers receive.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Discriminator, Field, Tag, model_validator

from p4cc.scenario.base import KIND, FlowBytes, Hosts, Model, TimeNs, kinds
from p4cc.scenario.closed_loop import ClosedLoopTraffic
from p4cc.scenario.coflows import CoflowsTraffic, TreeTraffic
from p4cc.scenario.collective import CollectiveTraffic
from p4cc.scenario.operations import ChakraTraffic, GoalTraffic, OperationsTraffic, SimaiTraffic
from p4cc.scenario.pairs import DrawnMatrix, Matrix
from p4cc.scenario.rpc import RpcTraffic
from p4cc.scenario.sizes import FlowSize
from p4cc.scenario.traffic_base import EndingTraffic, FlowTraffic, JitterNs, Quantity
from p4cc.scenario.user_packets import PacketsTraffic, ReplayTraffic

Via = Annotated[
    Annotated[str, Field(min_length=1, max_length=64)] | None,
    Field(
        description="Switch whose link sources send over, where they have several; * and ? are wildcards. Default: the "
        "links on a shortest path, by a hash of each flow's number."
    ),
]

NodeName = Annotated[str, Field(min_length=1, max_length=64)]

MAX_GAP_NS = 3.6e12
"""Upper bound of the mean time between two flows: one hour."""


class Shares(Model):
    """How much each sender sends: a fixed amount each, or a total divided among them.

    Source: docs/algorithms/traffic.md#workloads.
    """

    sru_bytes: FlowBytes | None = Field(default=None, description="Data that each sender sends (server request unit).")
    total_bytes: FlowBytes | None = Field(default=None, description="Data that all senders send together.")

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.sru_bytes is None) == (self.total_bytes is None):
            raise ValueError("give exactly one of sru_bytes (per sender) and total_bytes (divided among the senders)")
        return self

    def shares(self, senders: int) -> list[int]:
        """Bytes of each sender; the remainder goes to the first ones, a byte each."""
        if self.sru_bytes is not None:
            return [self.sru_bytes] * senders
        each, rest = divmod(self.total_bytes or 0, senders)
        return [each + (number < rest) for number in range(senders)]


class IncastTraffic(FlowTraffic, Shares):
    """Every source sends one unit to the same destination at about the same time."""

    kind: Annotated[Literal["incast"], KIND] = "incast"  # pyright: ignore[reportIncompatibleVariableOverride]
    sources: Hosts | None = None
    """Sending hosts, by name; * and ? are wildcards; the topology's senders if absent."""
    destination: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    """Destination host; the topology's first receiver if absent."""
    via: Via = None
    start_jitter_ns: JitterNs = 10_000
    """Each sender starts at a uniformly random time within this interval."""


class RoundsTraffic(FlowTraffic, Shares):
    """A client sends requests to all servers, and the next ones once all have answered.

    Requests cross the network like any packet. `persistent` connections keep their window between rounds; otherwise
    each answer is a separate flow.
    """

    kind: Annotated[Literal["rounds"], KIND] = "rounds"  # pyright: ignore[reportIncompatibleVariableOverride]
    servers: Hosts | None = None
    """Hosts that answer, by name; * and ? are wildcards; the topology's senders if absent."""
    client: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    """Host that sends the requests; the topology's first receiver if absent."""
    rounds: Annotated[int, Field(ge=1, le=100_000)]
    """Number of request rounds."""
    request_bytes: FlowBytes = 100
    """Request size."""
    think_ns: TimeNs = 0
    """Time between the last answer of a round and the next request."""
    service_jitter_ns: JitterNs = 10_000
    """Each answer is delayed by a uniformly random time up to this."""
    persistent: bool = True
    """Whether connections keep their windows between rounds; otherwise each answer is a new flow."""
    mean_gap_ns: Annotated[float, Field(gt=0, le=MAX_GAP_NS)] | None = None
    """Open loop: mean time between requests."""
    gap: Literal["exponential", "constant"] = Field(
        default="exponential",
        description="Open loop: requests form a Poisson process, or are exactly `mean_gap_ns` apart.",
    )
    start_jitter_ns: JitterNs = Field(
        default=0, description="Upper bound of a uniformly random delay of the first requests."
    )

    @model_validator(mode="after")
    def _deadlines_are_flows(self) -> Self:
        if self.persistent and self.deadline is not None:
            raise ValueError("persistent connections cannot have a deadline; set persistent to false")
        if self.mean_gap_ns is not None and not self.persistent:
            raise ValueError(
                "an open loop (mean_gap_ns) needs persistent connections; set persistent: true, or "
                "use traffic of kind poisson"
            )
        if self.gap == "constant" and self.mean_gap_ns is None:
            raise ValueError("a closed loop has no gap between requests; give mean_gap_ns for an open loop")
        return self


class BulkTraffic(FlowTraffic):
    """Flows of one size, or endless ones, from each source to a common destination or to one destination each."""

    kind: Annotated[Literal["bulk"], KIND] = "bulk"  # pyright: ignore[reportIncompatibleVariableOverride]
    sources: Hosts | None = None
    """Sending hosts, by name; * and ? are wildcards; the topology's senders if absent."""
    destinations: Hosts | None = None
    """One host for all sources, or one for each; the topology's receivers if absent."""
    size_bytes: FlowBytes | None = Field(default=None, description="Flow size; null for endless flows.")
    flows_per_pair: Annotated[int, Field(ge=1, le=10_000)] = 1
    """Number of flows per source."""
    via: Via = None
    start_jitter_ns: JitterNs = 0
    """Each flow starts at a uniformly random time within this interval."""
    close_ns: TimeNs | None = Field(default=None, description="Time at which the application closes endless flows.")

    @model_validator(mode="after")
    def _only_endless_flows_are_closed(self) -> Self:
        if self.close_ns is not None and (self.size_bytes is not None or self.close_ns < self.start_ns):
            raise ValueError("close_ns requires flows without size_bytes, and must be no earlier than start_ns")
        return self


class PoissonTraffic(EndingTraffic, Quantity):
    """Each source starts flows with exponential gaps, to uniformly drawn destinations: an open loop.

    It ends at `end_ns`, or once `total_flows` or `total_bytes` have been offered. Source:
    docs/algorithms/traffic.md#uniform, #quantity.
    """

    kind: Annotated[Literal["poisson"], KIND] = "poisson"  # pyright: ignore[reportIncompatibleVariableOverride]
    sources: Hosts | None = None
    """Sending hosts, by name; * and ? are wildcards; the topology's senders if absent."""
    destinations: Hosts | None = None
    """Receiving hosts, all equally likely; the topology's receivers if absent."""
    size: FlowSize
    """Flow-size distribution."""
    load: Annotated[float, Field(gt=0, le=10)] | None = None
    """Mean load on each source's link, or on `load_link`, as a fraction of its rate, payload only; give this,
    `flows_per_s` or `mean_gap_ns`."""
    load_link: Annotated[list[NodeName], Field(min_length=2, max_length=2)] | None = Field(
        default=None,
        description="Link that `load` refers to, by the names of the nodes from which and to which its packets go.",
    )
    flows_per_s: Annotated[float, Field(gt=0, le=1e9)] | None = None
    """Flow arrivals per second over all sources."""
    mean_gap_ns: Annotated[float, Field(gt=0, le=MAX_GAP_NS)] | None = None
    """Mean time between two flows of a source."""

    @model_validator(mode="after")
    def _one_rate(self) -> Self:
        given = [one for one in (self.load, self.flows_per_s, self.mean_gap_ns) if one is not None]
        if len(given) != 1:
            raise ValueError("give exactly one of load, flows_per_s and mean_gap_ns")
        if self.load_link is not None and self.load is None:
            raise ValueError("load_link is the link that load refers to; give load, or remove load_link")
        return self


class Ns3Traffic(FlowTraffic):
    """The flows of a trace file of HPCC's or ConWeave's ns-3 simulator, with ends, priorities, sizes and start times.

    Node i is the host `h<i>`, as in a topology of kind `ns3`. `start_ns` is added to the times in the file. A flow's
    label is the item's label plus the destination port, which denotes a flow class in HPCC's simulator; ConWeave's
    files have no such port.
    """

    kind: Annotated[Literal["ns3"], KIND] = "ns3"  # pyright: ignore[reportIncompatibleVariableOverride]
    file: Annotated[str, Field(min_length=1, description="Path relative to the scenario or the project.")]
    paths: Annotated[str, Field(min_length=1)] | None = Field(
        default=None, description="A path map, whose flows follow the path given there instead of their hash."
    )

    @model_validator(mode="after")
    def _priorities_stand_in_the_file(self) -> Self:
        if "priority" in self.model_fields_set:
            raise ValueError("the file gives each flow its priority; remove priority here")
        return self


class HtsimTraffic(FlowTraffic):
    """The flows of a connection matrix of htsim (`.cm`), with ends, sizes, start times and triggers.

    Node i is the topology's host number i, counted from 0: `h<i>` in a topology of kind `htsim`. `start_ns` is added to
    the times in the file. The flows of a file with triggers are operations of a job. Source:
    docs/algorithms/traffic.md#connection-matrix.
    """

    kind: Annotated[Literal["htsim"], KIND] = "htsim"  # pyright: ignore[reportIncompatibleVariableOverride]
    file: Annotated[str, Field(min_length=1, description="Path relative to the scenario or the project.")]
    prio: Literal["refuse", "leave_out"] = "refuse"
    """Treatment of `prio`, the order of an NDP receiver's pulls, which take turns here; other senders ignore it."""


class TableTraffic(FlowTraffic):
    """Flows from a table in CSV or Parquet: columns `src`, `dst`, `size_bytes`, `start_ns`.

    `priority`, `class` and `deadline_ns` (after the flow's start) are optional columns, and so are their values.
    `start_ns` is added to the times in the table. A flow's label is the item's label plus its class. Source:
    docs/algorithms/traffic.md#flow-table.
    """

    kind: Annotated[Literal["flows"], KIND] = "flows"  # pyright: ignore[reportIncompatibleVariableOverride]
    file: Annotated[str, Field(min_length=1, description="Path relative to the scenario or the project.")]


class PairsTraffic(EndingTraffic):
    """Flows between pairs of hosts with highly skewed intensities, or spread uniformly with the same bytes.

    Source: docs/algorithms/traffic.md#skewed, #gap-scaling.
    """

    kind: Annotated[Literal["pairs"], KIND] = "pairs"  # pyright: ignore[reportIncompatibleVariableOverride]
    pattern: Literal["uniform", "skewed"] = Field(
        description="By the matrix, or from each host to all others uniformly, with the same sizes and load."
    )
    hosts: Hosts | None = Field(default=None, description="Participating hosts; chosen by the topology if absent.")
    matrix: Matrix = DrawnMatrix()
    """Which pairs communicate, and how much."""
    load: Annotated[
        float, Field(gt=0, le=10, description="Mean load, as a fraction of the hosts' link rates, payload only.")
    ]
    busiest_load: Annotated[float, Field(gt=0, le=10)] | None = Field(
        default=None,
        description="Upper bound on the load offered to any host's link in either direction until `end_ns`, as a "
        "fraction of its rate, payload only (docs/algorithms/traffic.md#choice-busiest-load); "
        "unlimited if absent.",
    )
    knee: Annotated[
        float,
        Field(
            ge=0,
            le=1e6,
            description="Gap length, in medians, above which gaps are scaled linearly "
            "(docs/algorithms/traffic.md#gap-scaling).",
        ),
    ] = 1.0

    @model_validator(mode="after")
    def _busiest_carries_the_load(self) -> Self:
        if self.busiest_load is not None and self.busiest_load < self.load:
            raise ValueError(f"busiest_load {self.busiest_load} is less than load {self.load}, the mean over all hosts")
        return self


class BurstsTraffic(EndingTraffic):
    """At random times, a few newly drawn hosts each send one unit to another host.

    Source: HPCC's incasts, docs/algorithms/traffic.md#workloads.
    """

    kind: Annotated[Literal["bursts"], KIND] = "bursts"  # pyright: ignore[reportIncompatibleVariableOverride]
    hosts: Hosts | None = Field(default=None, description="Hosts to draw from; chosen by the topology if absent.")
    senders: Annotated[int, Field(ge=1, le=4_095, description="Number of distinct senders in each burst.")] = 60
    sru_bytes: Annotated[FlowBytes, Field(description="Data that each sender sends.")] = 500_000
    load: Annotated[
        float, Field(gt=0, le=10, description="Mean load, as a fraction of the hosts' link rates, payload only.")
    ] = 0.02


FlowItem = (
    IncastTraffic
    | RoundsTraffic
    | BulkTraffic
    | PoissonTraffic
    | ClosedLoopTraffic
    | RpcTraffic
    | Ns3Traffic
    | HtsimTraffic
    | TableTraffic
    | PairsTraffic
    | BurstsTraffic
    | CollectiveTraffic
    | OperationsTraffic
    | GoalTraffic
    | ChakraTraffic
    | SimaiTraffic
    | CoflowsTraffic
    | TreeTraffic
)
"""Kinds whose packets belong to flows."""
TrafficItem = Annotated[FlowItem | PacketsTraffic | ReplayTraffic, Field(discriminator="kind")]
TRAFFIC_KINDS = kinds(TrafficItem)


def _one_or_several(value: object) -> str:
    return "several" if isinstance(value, list) else "one"


TrafficItems = Annotated[
    Annotated[TrafficItem, Tag("one")]
    | Annotated[list[TrafficItem], Tag("several"), Field(min_length=1, max_length=64)],
    Discriminator(_one_or_several),
]
