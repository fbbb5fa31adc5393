"""What is sent: kinds of traffic, of which a scenario may mix several (docs/algorithms/traffic.md#traffic).

Hosts that a kind does not name are those that the topology means for it: senders send, receivers receive.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Discriminator, Field, Tag, model_validator

from p4cc.scenario.base import KIND, FlowBytes, Hosts, Model, TimeNs, kinds
from p4cc.scenario.collective import CollectiveTraffic
from p4cc.scenario.pairs import DrawnMatrix, Matrix
from p4cc.scenario.rpc import RpcTraffic
from p4cc.scenario.sizes import FlowSize
from p4cc.scenario.traffic_base import EndingTraffic, FlowTraffic, JitterNs
from p4cc.scenario.user_packets import PacketsTraffic, ReplayTraffic

MAX_GAP_NS = 3.6e12
"""Mean time between two flows: an hour."""


class Shares(Model):
    """How much each sender sends: the same each, or a total divided by their number.

    Source: docs/algorithms/traffic.md#workloads.
    """

    sru_bytes: FlowBytes | None = Field(default=None, description="Each sender's unit.")
    total_bytes: FlowBytes | None = Field(default=None, description="What all senders send together.")

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.sru_bytes is None) == (self.total_bytes is None):
            raise ValueError("give exactly one of sru_bytes (for each sender) and total_bytes (divided by the senders)")
        return self

    def shares(self, senders: int) -> list[int]:
        """Bytes of each sender; what does not divide evenly goes to the first ones, a byte each."""
        if self.sru_bytes is not None:
            return [self.sru_bytes] * senders
        each, rest = divmod(self.total_bytes or 0, senders)
        return [each + (number < rest) for number in range(senders)]


class IncastTraffic(FlowTraffic, Shares):
    """Every source sends one unit to one destination, all at about the same time."""

    kind: Annotated[Literal["incast"], KIND] = "incast"  # pyright: ignore[reportIncompatibleVariableOverride]
    sources: Hosts | None = None
    """Hosts that send, by name, with * and ?; the topology's senders if absent."""
    destination: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    """The host they send to; the topology's first receiver if absent."""
    start_jitter_ns: JitterNs = 10_000
    """Senders start within this time, each at a random one."""


class RoundsTraffic(FlowTraffic, Shares):
    """A client asks all servers, each sends its unit, the next request leaves when all answers are in.

    Requests cross the network like any packet. `persistent` connections keep their window over rounds; otherwise each
    answer is a flow of its own.
    """

    kind: Annotated[Literal["rounds"], KIND] = "rounds"  # pyright: ignore[reportIncompatibleVariableOverride]
    servers: Hosts | None = None
    """Hosts that answer, by name, with * and ?; the topology's senders if absent."""
    client: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    """The host that asks; the topology's first receiver if absent."""
    rounds: Annotated[int, Field(ge=1, le=100_000)]
    """How many requests are made."""
    request_bytes: FlowBytes = 100
    """Size of a request."""
    think_ns: TimeNs = 0
    """Between the last answer of a round and the next request."""
    service_jitter_ns: JitterNs = 10_000
    """A server answers within this time, at a random one."""
    persistent: bool = True
    """Whether connections keep their windows over the rounds; otherwise each answer is a new flow."""
    mean_gap_ns: Annotated[float, Field(gt=0, le=MAX_GAP_NS)] | None = None
    """Open loop: mean time between requests."""
    gap: Literal["exponential", "constant"] = Field(
        default="exponential",
        description="Open loop: requests leave by a Poisson process, or each `mean_gap_ns` after the one before.",
    )
    start_jitter_ns: JitterNs = Field(default=0, description="The first requests leave by so much later, at random.")

    @model_validator(mode="after")
    def _deadlines_are_flows(self) -> Self:
        if self.persistent and self.deadline is not None:
            raise ValueError("a connection kept over all rounds has no deadline; set persistent to false")
        if self.mean_gap_ns is not None and not self.persistent:
            raise ValueError("in an open loop answers share a connection; leave persistent true, or use poisson")
        if self.gap == "constant" and self.mean_gap_ns is None:
            raise ValueError("a closed loop has no gap between requests; give mean_gap_ns")
        return self


class BulkTraffic(FlowTraffic):
    """Flows of one size, or without end: from each source to the one destination, or to its own one by one."""

    kind: Annotated[Literal["bulk"], KIND] = "bulk"  # pyright: ignore[reportIncompatibleVariableOverride]
    sources: Hosts | None = None
    """Hosts that send, by name, with * and ?; the topology's senders if absent."""
    destinations: Hosts | None = None
    """One host for all, or one for each source; the topology's receivers if absent."""
    size_bytes: FlowBytes | None = Field(default=None, description="null for flows without end.")
    flows_per_pair: Annotated[int, Field(ge=1, le=10_000)] = 1
    """Flows from each source."""
    start_jitter_ns: JitterNs = 0
    """Flows start within this time, each at a random one."""
    close_ns: TimeNs | None = Field(default=None, description="When flows without end are closed by their application.")

    @model_validator(mode="after")
    def _only_endless_flows_are_closed(self) -> Self:
        if self.close_ns is not None and (self.size_bytes is not None or self.close_ns < self.start_ns):
            raise ValueError("close_ns is for flows without size_bytes, and not before start_ns")
        return self


class PoissonTraffic(EndingTraffic):
    """Each source starts flows after exponential gaps, to destinations drawn evenly.

    Source: docs/algorithms/traffic.md#uniform.
    """

    kind: Annotated[Literal["poisson"], KIND] = "poisson"  # pyright: ignore[reportIncompatibleVariableOverride]
    sources: Hosts | None = None
    """Hosts that send, by name, with * and ?; the topology's senders if absent."""
    destinations: Hosts | None = None
    """Hosts that receive, each as likely as the others; the topology's receivers if absent."""
    size: FlowSize
    """How large flows are."""
    load: Annotated[float, Field(gt=0, le=10)] | None = None
    """Share of each source's link that payload takes on average (give this, `flows_per_s` or `mean_gap_ns`)."""
    flows_per_s: Annotated[float, Field(gt=0, le=1e9)] | None = None
    """Flows that start in a second, of all sources together."""
    mean_gap_ns: Annotated[float, Field(gt=0, le=MAX_GAP_NS)] | None = None
    """Mean time between two flows of one source."""

    @model_validator(mode="after")
    def _one_rate(self) -> Self:
        given = [one for one in (self.load, self.flows_per_s, self.mean_gap_ns) if one is not None]
        if len(given) != 1:
            raise ValueError("give exactly one of load, flows_per_s and mean_gap_ns")
        return self


class Ns3Traffic(FlowTraffic):
    """The flows of a file of HPCC's ns-3 simulator: ends, priorities, sizes and starts stand there.

    Node i is the host `h<i>`, as a topology of kind `ns3` names it. `start_ns` is added to the file's times. A flow's
    label is the item's with the destination port behind it, which is a class of flows in that simulator.
    """

    kind: Annotated[Literal["ns3"], KIND] = "ns3"  # pyright: ignore[reportIncompatibleVariableOverride]
    file: Annotated[str, Field(min_length=1, description="Relative to the scenario or the project.")]
    paths: Annotated[str, Field(min_length=1)] | None = Field(
        default=None, description="A path map: flows that take the way given there, not the one by hash."
    )

    @model_validator(mode="after")
    def _priorities_stand_in_the_file(self) -> Self:
        if "priority" in self.model_fields_set:
            raise ValueError("the file gives each flow its priority; leave it away here")
        return self


class PairsTraffic(EndingTraffic):
    """Flows between pairs of hosts of very different intensity, or evenly with the same bytes.

    Source: docs/algorithms/traffic.md#skewed, #gap-scaling.
    """

    kind: Annotated[Literal["pairs"], KIND] = "pairs"  # pyright: ignore[reportIncompatibleVariableOverride]
    pattern: Literal["uniform", "skewed"] = Field(
        description="By the matrix, or each host to all others alike with the same sizes and load."
    )
    hosts: Hosts | None = Field(default=None, description="All hosts that talk; those the topology means if absent.")
    matrix: Matrix = DrawnMatrix()
    """Who talks to whom, and how much."""
    load: Annotated[float, Field(gt=0, le=10, description="Share of the hosts' link rates, payload only.")]
    busiest_load: Annotated[float, Field(gt=0, le=10)] | None = Field(
        default=None,
        description="Most that any host's link is offered in one direction until `end_ns`, as a share of what it "
        "carries, payload only (docs/algorithms/traffic.md#choice-busiest-load); no bound if absent.",
    )
    knee: Annotated[
        float,
        Field(
            ge=0,
            le=1e6,
            description="Where gaps begin to be scaled linearly, in medians (docs/algorithms/traffic.md#gap-scaling).",
        ),
    ] = 1.0

    @model_validator(mode="after")
    def _busiest_carries_the_load(self) -> Self:
        if self.busiest_load is not None and self.busiest_load < self.load:
            raise ValueError(f"busiest_load {self.busiest_load} is less than load {self.load}, the mean of all hosts")
        return self


class BurstsTraffic(EndingTraffic):
    """At random times a few hosts, drawn anew each time, send one unit each to another.

    Source: HPCC's incasts, docs/algorithms/traffic.md#workloads.
    """

    kind: Annotated[Literal["bursts"], KIND] = "bursts"  # pyright: ignore[reportIncompatibleVariableOverride]
    hosts: Hosts | None = Field(default=None, description="Hosts to draw from; those the topology means if absent.")
    senders: Annotated[int, Field(ge=1, le=4_095, description="Of each burst, all different.")] = 60
    sru_bytes: Annotated[FlowBytes, Field(description="Each sender's unit.")] = 500_000
    load: Annotated[float, Field(gt=0, le=10, description="Share of the hosts' link rates, payload only.")] = 0.02


FlowItem = (
    IncastTraffic
    | RoundsTraffic
    | BulkTraffic
    | PoissonTraffic
    | RpcTraffic
    | Ns3Traffic
    | PairsTraffic
    | BurstsTraffic
    | CollectiveTraffic
)
"""Kinds whose packets are of flows."""
TrafficItem = Annotated[FlowItem | PacketsTraffic | ReplayTraffic, Field(discriminator="kind")]
TRAFFIC_KINDS = kinds(TrafficItem)


def _one_or_several(value: object) -> str:
    return "several" if isinstance(value, list) else "one"


TrafficItems = Annotated[
    Annotated[TrafficItem, Tag("one")]
    | Annotated[list[TrafficItem], Tag("several"), Field(min_length=1, max_length=64)],
    Discriminator(_one_or_several),
]
