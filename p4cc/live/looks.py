"""Turns looks at a run into messages for the page: link loads, depths, watched samples; all bounded."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from p4cc.errors import UserError
from p4cc.live.messages import FlowCounts, FlowSeries, LookMessage, PortSeries, Totals, Watched

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from p4cc.live.messages import Status
    from p4cc.live.network import DrawnNetwork
    from p4cc.live.requests import WatchRequest

MAX_SAMPLES = 2_000
"""Kept of each port or flow that is watched."""
AUTOMATIC = 4
"""Ports, and flows, that are watched by default."""
_PS_PER_S = 1e12


class Look(Protocol):
    """A network at an instant; None is what its kind of run does not report.

    Ports and links are in the order of the drawn network.
    """

    @property
    def now_ps(self) -> int:
        """The run's time, in picoseconds."""
        ...

    @property
    def packet_hops(self) -> int:
        """Traversals of a link by a packet."""
        ...

    @property
    def flow_counts(self) -> tuple[int, int, int, int] | None:
        """Flows with a size, of these complete; flows under way; retransmission timeouts of all."""
        ...

    @property
    def first_active(self) -> Sequence[int]:
        """The first flows under way, by their numbers."""
        ...

    @property
    def marks(self) -> tuple[int, int] | None:
        """Packets with a mark of level 1 (K) and of level 2 (K_dc)."""
        ...

    @property
    def drops(self) -> int | None:
        """Packets that switches dropped."""
        ...

    @property
    def digests(self) -> int | None:
        """Digest messages of programs."""
        ...

    @property
    def pauses(self) -> int | None:
        """Pause frames that switches sent."""
        ...

    @property
    def depth_pkts(self) -> Sequence[int | None]:
        """By port: packets that wait."""
        ...

    @property
    def dropped_pkts(self) -> Sequence[int | None]:
        """By port: packets that were dropped at its queues."""
        ...

    @property
    def paused_ports(self) -> Sequence[int]:
        """Places of the ports that PFC holds."""
        ...

    @property
    def link_bytes(self) -> Sequence[int]:
        """By link, first one direction, then the other: IP bytes carried."""
        ...

    @property
    def flows(self) -> Sequence[tuple[int, bool, bool, float | None, float | None, int]]:
        """Chosen flows: number, begun, ended, window in segments, rate in bit/s, payload bytes acknowledged."""
        ...


@dataclass(frozen=True)
class FlowName:
    """A flow, for people."""

    flow_id: int
    src: str
    dst: str
    label: str | None
    size_bytes: int | None


V = TypeVar("V")


@dataclass
class _Series(Generic[V]):
    """Samples over time."""

    history: deque[tuple[int, V]] = field(default_factory=lambda: deque(maxlen=MAX_SAMPLES))
    fresh: list[tuple[int, V]] = field(default_factory=list[tuple[int, V]])
    """Samples that no message has had yet."""
    done: bool = False

    def add(self, time_ns: int, value: V) -> None:
        """Adds a sample; it replaces the last one of the same instant, or where the last two had this value too."""
        for samples in (self.history, self.fresh):
            is_same_time = len(samples) >= 1 and samples[-1][0] == time_ns
            if is_same_time or (len(samples) >= 2 and samples[-1][1] == value and samples[-2][1] == value):
                samples[-1] = (time_ns, value)
            else:
                samples.append((time_ns, value))


class Looks:
    """A run over time; `message` is what the page gets."""

    def __init__(self, network: DrawnNetwork, flows: Mapping[int, FlowName]) -> None:
        self._network = network
        self.flows = dict(flows)
        self._chosen_ports: list[int] = []
        self._chosen_flows: list[int] = []
        self._ports: dict[int, _Series[int | None]] = {}
        self._flows: dict[int, _Series[tuple[float | None, float | None]]] = {}
        self._peak: list[int] = [0] * len(network.ports)
        self._last: Look | None = None
        self._sent: Look | None = None
        self._sent_at = time.monotonic()
        self._load = [0] * (2 * len(network.links))
        self._reached = 0.0
        self._hops_per_s = 0.0
        self._number = 0

    @property
    def flows_to_look_at(self) -> list[int]:
        """Flows that the next look should have."""
        return self._chosen_flows or list(self._flows)

    def watch(self, request: WatchRequest) -> dict[str, list[int]]:
        """Chooses what is watched, by default the deepest queues and the first active flows; raises UserError."""
        self._chosen_ports = _numbers(request.ports, range(len(self._network.ports)), "ports")
        self._chosen_flows = _numbers(request.flows, self.flows, "flows")
        self._choose()
        return {"ports": list(self._ports), "flows": list(self._flows)}

    def see(self, look: Look) -> None:
        """Takes a look."""
        self._last = look
        depths = look.depth_pkts
        self._peak = [max(peak, depth or 0) for peak, depth in zip(self._peak, depths, strict=True)]
        if not self._ports or not self._flows:
            self._choose()
        time_ns = look.now_ps // 1_000
        for port, series in self._ports.items():
            series.add(time_ns, depths[port])
        for flow_id, begun, ended, cwnd, rate, _ in look.flows:
            series = self._flows.get(flow_id)
            if series is None or series.done or not begun:
                continue
            series.add(time_ns, (cwnd, rate))
            series.done = ended

    def _choose(self) -> None:
        """Drops the series of what is not watched any more."""
        ports, flows = self._chosen_ports, self._chosen_flows
        if not ports:
            deepest = sorted(range(len(self._peak)), key=lambda port: -self._peak[port])[:AUTOMATIC]
            ports = sorted(port for port in deepest if self._peak[port] > 0)
        if not flows and self._last is not None:
            under_way = [flow for flow, series in self._flows.items() if not series.done]
            flows = (under_way + [one for one in self._last.first_active if one not in under_way])[:AUTOMATIC]
        self._ports = {port: self._ports.get(port, _Series()) for port in ports}
        self._flows = {flow: self._flows.get(flow, _Series()) for flow in flows}

    def message(self, status: Status) -> LookMessage:
        """The next message."""
        look = self._last
        if look is None:
            raise RuntimeError("a run is observed before it is reported")
        self._rates(look)
        self._number += 1
        level1, level2 = look.marks or (None, None)
        message = LookMessage(
            **status,
            number=self._number,
            time_ns=look.now_ps // 1_000,
            reached_speed=self._reached,
            packet_hops=look.packet_hops,
            hops_per_s=self._hops_per_s,
            flows=_flow_counts(look),
            totals=Totals(
                marks_level1=level1,
                marks_level2=level2,
                drops=look.drops,
                pauses=look.pauses,
                digests=look.digests,
            ),
            load=self._load,
            depth_pkts=_known(look.depth_pkts),
            drops=_drops(look.dropped_pkts),
            paused=list(look.paused_ports),
            watched=self._watched(fresh=True),
        )
        self._refresh()
        return message

    def with_history(self, message: LookMessage) -> LookMessage:
        """The message for a page that has seen nothing yet."""
        return {**message, "watched": self._watched(fresh=False)}

    def _watched(self, *, fresh: bool) -> Watched:
        def of(series: _Series[V]) -> list[tuple[int, V]]:
            return series.fresh if fresh else list(series.history)

        ports = [
            PortSeries(port=port, times_ns=[at for at, _ in of(series)], depth_pkts=[depth for _, depth in of(series)])
            for port, series in self._ports.items()
        ]
        flows = [
            FlowSeries(
                flow_id=flow_id,
                src=self.flows[flow_id].src,
                dst=self.flows[flow_id].dst,
                label=self.flows[flow_id].label,
                times_ns=[at for at, _ in of(series)],
                cwnd_segments=[cwnd for _, (cwnd, _) in of(series)],
                rate_bps=[rate for _, (_, rate) in of(series)],
                done=series.done,
            )
            for flow_id, series in self._flows.items()
            if flow_id in self.flows
        ]
        return Watched(ports=ports, flows=flows)

    def _refresh(self) -> None:
        for series in (*self._ports.values(), *self._flows.values()):
            series.fresh = []
        if not self._chosen_ports or not self._chosen_flows:
            self._choose()

    def _rates(self, look: Look) -> None:
        """Loads since the last message; the last ones while time is stopped."""
        now, before = time.monotonic(), self._sent
        real_s = max(now - self._sent_at, 1e-6)
        if before is not None:
            virtual_s = (look.now_ps - before.now_ps) / _PS_PER_S
            self._reached = virtual_s / real_s
            self._hops_per_s = (look.packet_hops - before.packet_hops) / real_s
            if virtual_s > 0:
                self._load = list(_loads(self._network, before, look))
        self._sent, self._sent_at = look, now


def _known(values: Sequence[int | None]) -> list[int | None] | None:
    """Values by port; None where no port has any."""
    return list(values) if any(value is not None for value in values) else None


def _drops(counts: Sequence[int | None]) -> list[tuple[int, int]] | None:
    """Ports that dropped, with their counts; None where no port reports any."""
    if all(count is None for count in counts):
        return None
    return [(port, count) for port, count in enumerate(counts) if count]


def _flow_counts(look: Look) -> FlowCounts | None:
    if look.flow_counts is None:
        return None
    finite, completed, active, timeouts = look.flow_counts
    return FlowCounts(active=active, completed=completed, finite=finite, timeouts=timeouts)


def _loads(network: DrawnNetwork, before: Look, after: Look) -> Iterable[int]:
    """By link and direction: percent of the line rate, in IP bytes."""
    span_s = (after.now_ps - before.now_ps) / _PS_PER_S
    for place, link in enumerate(network.links):
        for way in (2 * place, 2 * place + 1):
            yield min(
                100, round(100 * (after.link_bytes[way] - before.link_bytes[way]) * 8 / (link["rate_bps"] * span_s))
            )


def _numbers(chosen: Sequence[int], known: Iterable[int], what: str) -> list[int]:
    """Each number once; raises UserError for one that is not known."""
    unknown = set(chosen).difference(known)
    if unknown:
        cause = f"there is none of number {min(unknown)}"
        raise UserError(cause, place=f"watch.{what}", remedy="choose one that is shown")
    return list(dict.fromkeys(chosen))
