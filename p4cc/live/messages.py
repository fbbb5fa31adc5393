"""The server's messages to a page, as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, NotRequired, TypedDict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from p4cc.json_data import JsonObject
    from p4cc.live.requests import JumpTarget


class Status(TypedDict):
    """How virtual time passes."""

    state: str
    why: str | None
    """Why it is paused or has ended, for people."""
    speed: float | None


class FlowCounts(TypedDict):
    """Flows of the whole run; `finite` counts those with a size."""

    active: int
    completed: int
    finite: int
    timeouts: int


class Totals(TypedDict):
    """Packets and messages since the start; None where this kind of run does not count them."""

    marks_level1: int | None
    marks_level2: int | None
    drops: int | None
    pauses: int | None
    digests: int | None


class PortSeries(TypedDict):
    """A port's queue over time."""

    port: int
    times_ns: Sequence[int]
    depth_pkts: Sequence[int | None]


class FlowSeries(TypedDict):
    """A flow's window and rate over time."""

    flow_id: int
    src: str
    dst: str
    label: str | None
    times_ns: Sequence[int]
    cwnd_segments: Sequence[float | None]
    rate_bps: Sequence[float | None]
    done: bool


class Watched(TypedDict):
    """Samples of the ports and flows that are watched."""

    ports: list[PortSeries]
    flows: list[FlowSeries]


class LookMessage(Status):
    """The run at an instant."""

    number: int
    time_ns: int
    reached_speed: float
    packet_hops: int
    hops_per_s: float
    flows: FlowCounts | None
    totals: Totals
    load: Sequence[int]
    """Per link and direction, percent of the line rate."""
    depth_pkts: Sequence[int | None] | None
    drops: Sequence[tuple[int, int]] | None
    """Ports that dropped, with their counts."""
    paused: Sequence[int]
    watched: Watched


class Abilities(TypedDict):
    """The page's actions for this kind of run."""

    pause: bool
    step: bool
    speed: bool
    finish: bool
    jump: Sequence[JumpTarget]
    change: bool
    trace: bool


class RunHead(TypedDict):
    """The page's data besides the network."""

    case: str
    kind: str
    stop_ns: int | None
    can: Abilities


class Thresholds(TypedDict):
    """Of a port; None where it never marks."""

    k_pkts: int | None
    k_dc_pkts: int | None


class NodeView(TypedDict):
    """A host or a switch at its place in the drawing."""

    name: str
    kind: str
    x: float
    y: float


class LinkView(TypedDict):
    """A link; its number is its place. A host's end has no port number. Way 0 leads from `a` to `b`."""

    a: str
    a_port: int | None
    b: str
    b_port: int | None
    rate_bps: int
    delay_ns: int


class PortView(Thresholds):
    """A port of a switch."""

    switch: str
    port: int
    peer: str
    link: int
    way: int
    rate_bps: int


class NetworkView(TypedDict):
    """Nodes, links and ports; a link or a port is known by its place."""

    nodes: list[NodeView]
    links: list[LinkView]
    ports: list[PortView]


class NetworkMessage(RunHead, NetworkView):
    """The answer to `network`."""

    title: str
    scenario_file: str


class ChangeRow(TypedDict):
    """A row of a scenario's `changes`, without its time."""

    switch: str
    table: str
    default: NotRequired[bool]
    match: NotRequired[JsonObject]
    priority: NotRequired[int]
    action: str
    params: JsonObject


class TimedChange(ChangeRow):
    """A row of a scenario's `changes`."""

    at_ns: int
