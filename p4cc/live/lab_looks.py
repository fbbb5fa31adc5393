"""Looks at a lab: its links by the kernel's counters, its queues as the switches report them."""

from __future__ import annotations

import asyncio
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from p4cc.errors import UserError
from topos.lab import LabEnd

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from controller.install import PortState
    from p4cc.lab.lab import Lab
    from p4cc.live.messages import LinkView
    from p4cc.live.network import DrawnNetwork

ETHERNET_BYTES = 14
"""Bytes of a frame that the kernel counts in addition to its IP bytes."""
_COUNTERS = Path("/proc/net/dev")
_ANSWER_S = 1.0
_MAX_ANSWER_BYTES = 1 << 20
FOLLOW_S = 3.0
"""How long a switch waits for packets to follow."""
_POLL_S = 0.02
_RX, _TX = 0, 8
"""Positions of a direction's bytes, followed by its packets, in a line of the kernel."""


@dataclass(frozen=True)
class LabLook:
    """A lab at an instant (`p4cc.live.looks.Look`)."""

    now_ps: int
    packet_hops: int
    link_bytes: Sequence[int]
    depth_pkts: Sequence[int | None]
    dropped_pkts: Sequence[int | None]
    paused_ports: Sequence[int]
    marks: tuple[int, int] | None
    drops: int | None
    digests: int | None
    pauses: None = None
    """Switches of a lab send no pause frames."""
    flow_counts: None = None
    """Only the hosts know their flows."""
    first_active: tuple[int, ...] = ()
    flows: tuple[tuple[int, bool, bool, float | None, float | None, int], ...] = ()


class Count:
    """A switch's counter, continued across restarts of the switch."""

    def __init__(self) -> None:
        self._before = 0
        self._last = 0

    @property
    def total(self) -> int:
        """The sum over all starts of the switch."""
        return self._before + self._last

    def add(self, value: int) -> None:
        """Takes the present value of the switch's counter."""
        if value < self._last:
            self._before += self._last
        self._last = value


class _PortLook(TypedDict):
    """A port in a switch's answer."""

    port: int
    depth_pkts: int
    dropped_pkts: int
    paused: bool


class _SwitchLook(TypedDict):
    """A switch's answer."""

    digests: int
    ports: list[_PortLook]


@dataclass
class PortSocket:
    """Asks a p4cc-switch for its ports (`--looks`); connects again after the switch restarted."""

    path: Path
    _stream: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self) -> _SwitchLook | None:
        """The switch's answer; None while it does not answer."""
        answer: _SwitchLook | None = await self._answer("look")
        return answer

    async def follow(self, packets: int) -> list[dict[str, Any]]:
        """What the switch does with its next packets, step by step; raises UserError."""
        await self._followed(f"follow {packets}")
        for _ in range(int(FOLLOW_S / _POLL_S)):
            if (await self._followed("ended"))["ended"] >= packets:
                break
            await asyncio.sleep(_POLL_S)
        steps: list[dict[str, Any]] = []
        while True:
            part = await self._followed("steps")
            steps += part["steps"]
            if part["is_all"]:
                return steps

    async def _followed(self, request: str) -> Any:
        answer = await self._answer(request)
        if answer is None:
            raise UserError("the switch does not answer", place="trace", remedy="see the log of the switch")
        if "refused" in answer:
            remedy = "wait until another page has its packets; a lab with --trace has all packets in its switches' logs"
            raise UserError(answer["refused"], place="trace", remedy=remedy)
        return answer

    async def _answer(self, request: str) -> Any:
        """An answer as JSON; None where there is none."""
        try:
            async with asyncio.timeout(_ANSWER_S):
                reader, writer = self._stream or await self._connect()
                self._stream = (reader, writer)
                writer.write(request.encode() + b"\n")
                return json.loads(await reader.readuntil())
        except (OSError, TimeoutError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            self.close()
            return None

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        # An address has 107 bytes at most, and folders have longer names.
        folder = os.open(self.path.parent, os.O_PATH | os.O_DIRECTORY)
        try:
            short = f"/proc/self/fd/{folder}/{self.path.name}"
            return await asyncio.open_unix_connection(short, limit=_MAX_ANSWER_BYTES)
        finally:
            os.close(folder)

    def close(self) -> None:
        """Closes the connection; the next question opens another."""
        if self._stream is not None:
            self._stream[1].close()
            self._stream = None


@dataclass
class LabLooker:
    """Looks at one lab."""

    lab: Lab
    shape: DrawnNetwork
    sockets: dict[str, PortSocket] = field(init=False)
    _marks: tuple[int, int] | None = None
    _levels: dict[tuple[str, int], tuple[Count, Count]] = field(
        default_factory=dict[tuple[str, int], tuple[Count, Count]]
    )
    _drops: dict[int, Count] = field(default_factory=dict[int, Count])
    """By place of a port."""
    _digests: dict[str, Count] = field(default_factory=dict[str, Count])

    def __post_init__(self) -> None:
        self.sockets = {name: PortSocket(path) for name, path in self.lab.looks.items()}
        interfaces = self.lab.built.interfaces
        self._carriers = [carrier for link in self.shape.links for carrier in _carriers(link, interfaces)]

    def now_ns(self) -> int:
        """Time since the lab's start; 0 before it."""
        clock = self.lab.clock
        return 0 if clock is None else max(0, clock.now_ns())

    def add_levels(self, states: Sequence[PortState]) -> None:
        """Takes the switches' counts of packets by level."""
        total = [0, 0]
        for state in states:
            counts = self._levels.setdefault((state.switch, state.port), (Count(), Count()))
            for level, count in enumerate((state.level1_pkts, state.level2_pkts)):
                counts[level].add(count)
                total[level] += counts[level].total
        self._marks = (total[0], total[1]) if states else None

    async def look(self) -> LabLook:
        """The lab now."""
        ports = await self._ports()
        counters = _counters()
        carried = [counters.get(interface, _NOTHING)[way : way + 2] for interface, way in self._carriers]
        return LabLook(
            now_ps=self.now_ns() * 1_000,
            packet_hops=sum(packets for _, packets in carried),
            link_bytes=[max(0, total - ETHERNET_BYTES * packets) for total, packets in carried],
            depth_pkts=[None if port is None else port["depth_pkts"] for port in ports],
            dropped_pkts=[self._drops[place].total if place in self._drops else None for place in range(len(ports))],
            paused_ports=[place for place, port in enumerate(ports) if port is not None and port["paused"]],
            marks=self._marks,
            drops=_sum(self._drops.values()),
            digests=_sum(self._digests.values()),
        )

    async def follow(self, switch: str, packets: int) -> list[dict[str, Any]]:
        """What a switch does with its next packets, in the lab's time; raises UserError."""
        # A connection of its own: the switch ends a trace with it.
        port_socket = PortSocket(self.sockets[switch].path)
        try:
            steps = await port_socket.follow(packets)
        finally:
            port_socket.close()
        clock = self.lab.clock
        start_ns = min((step["time_ns"] for step in steps), default=0) if clock is None else clock.start_ns
        return [{**step, "time_ns": step["time_ns"] - start_ns} for step in steps]

    async def _ports(self) -> list[_PortLook | None]:
        """Ports in the drawn order; None where the switch does not answer."""
        names = list(self.sockets)
        answers = await asyncio.gather(*(self.sockets[name].ask() for name in names))
        looks: dict[tuple[str, int], _PortLook] = {}
        for name, answer in zip(names, answers, strict=True):
            if answer is not None:
                looks.update({(name, port["port"]): port for port in answer["ports"]})
                self._digests.setdefault(name, Count()).add(answer["digests"])
        ports = [looks.get((port.switch, port.port)) for port in self.shape.ports]
        for place, port in enumerate(ports):
            if port is not None:
                self._drops.setdefault(place, Count()).add(port["dropped_pkts"])
        return ports

    def close(self) -> None:
        """Closes the connections."""
        for port_socket in self.sockets.values():
            port_socket.close()


_NOTHING = (0,) * 16


def _sum(counts: Collection[Count]) -> int | None:
    """The sum; None where no switch reports any."""
    return sum(count.total for count in counts) if counts else None


def _counters() -> dict[str, tuple[int, ...]]:
    """By interface: 8 counters of received and 8 of sent traffic, each beginning with bytes and packets."""
    lines = (line.partition(":") for line in _COUNTERS.read_text(encoding="ascii").splitlines())
    return {name.strip(): tuple(map(int, numbers.split())) for name, colon, numbers in lines if colon}


def _carriers(link: LinkView, interfaces: Mapping[LabEnd, str]) -> tuple[tuple[str, int], tuple[str, int]]:
    """Interface and direction that count what goes from `a` to `b`, and back: those of a switch's end."""
    ends = ((link["a"], link["a_port"]), (link["b"], link["b_port"]))
    a, b = (interfaces.get(LabEnd(node, port)) if port is not None else None for node, port in ends)
    if a is not None:
        return (a, _TX), (a, _RX)
    if b is not None:
        return (b, _RX), (b, _TX)
    raise ValueError(f"no switch is at the link of {link['a']} and {link['b']}")
