"""A host's flows and their receiver, without a network: senders that spend credit, a queue, the host's line.

Senders behave as docs/algorithms/receivers.md#sender says; a network adds what this leaves out (its own losses, pauses,
other hosts). Times are picoseconds.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Literal, NamedTuple

from p4cc import _engine

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

LINE_RATE_BPS = 10_000_000_000
BASE_RTT_NS = 10_000
PAYLOAD_BYTES = 1_000
_PACKET_PS = 870_400
"""What a full packet (1,088 B) takes of the line."""
_TRIM_ABOVE_PS = 8 * _PACKET_PS
"""Waiting time in the queue from which a switch trims packets."""
_PATIENCE_PS = 5_000_000_000
"""A sender's `rto_ns`: it sends without credit after so long."""
MAX_IDLE_TIMERS = 1_000
"""Timers in a row with nothing on the way, after which nothing is expected to happen any more."""

_What = Literal["credit", "lost", "patience", "queue", "reach", "timer"]
_WAITING = ("patience", "timer")
"""Events of nothing on its way."""
Did = tuple[int, str, int, int, "int | None"]
"""Time, action, flow, bytes or the byte up to which it may send, traffic class."""


class Disturbances(NamedTuple):
    """What happens to packets on the way."""

    trims: bool = False
    """A full queue leaves the headers of packets."""
    loss: float = 0.0
    """Share of packets that are lost."""
    twice: float = 0.0
    """Share of packets that arrive twice, as after a timeout that was not needed."""
    marks: float = 0.0
    """Share of packets with a congestion mark."""


@dataclass
class Flow:
    """A flow's sender, and what its receiver has of it, in bytes."""

    number: int
    size: int
    delay_ps: int
    given: int
    """Credit by the receiver's actions."""
    usable: int
    """Credit that has reached the sender."""
    spent: int = 0
    sent: int = 0
    again: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """Lost packets: first byte and bytes."""
    trimmed: int = 0
    arrived: set[int] = field(default_factory=set[int])
    """First bytes of the packets that are there."""
    received: int = 0

    @property
    def is_complete(self) -> bool:
        """Whether all data is there."""
        return self.received == self.size


class Host:
    """One host with a receiver, and the senders of the flows that end there."""

    def __init__(self, config_json: str, own: Sequence[_engine.OwnAlgorithm], draw: random.Random) -> None:
        """Raises AlgorithmError for an exception of the user's."""
        self._receiver = _engine.ScriptedReceiver(config_json, LINE_RATE_BPS, BASE_RTT_NS, own, draw.randrange(1 << 32))
        self._draw = draw
        self._events: list[tuple[int, int, _What, int, tuple[int, int]]] = []
        self._numbers = count()
        self._line_free_ps = 0
        self._wake_ps: int | None = None
        self._under_way = 0
        """Packets and credit on their way."""
        self._idle_timers = 0
        self._disturbed = Disturbances()
        self.unasked_bytes = self._receiver.unasked_bytes
        self.flows: dict[int, Flow] = {}
        self.done: list[Did] = []
        """What the receiver did."""

    def run(self, sizes: Sequence[int], disturbed: Disturbances, most_events: int) -> str:
        """Sends flows of these sizes until all are complete; otherwise, why nothing more is expected to happen."""
        self._disturbed = disturbed
        for number, size in enumerate(sizes, 1):
            delay_ps = self._draw.randrange(BASE_RTT_NS * 1_000 // 2) + 1
            self.flows[number] = Flow(number, size, delay_ps, self.unasked_bytes, self.unasked_bytes)
            self._at(self._draw.randrange(2 * BASE_RTT_NS * 1_000), "credit", number)
        self._set_timer()
        for _ in range(most_events):
            if all(flow.is_complete for flow in self.flows.values()):
                return ""
            if not self._events:
                return "nothing is on the way, and no timer is set"
            if self._idle_timers > MAX_IDLE_TIMERS:
                return f"nothing is on the way, and {MAX_IDLE_TIMERS} timers in a row let nothing be sent"
            self._step()
        return f"{most_events} events were not enough"

    def _at(self, time_ps: int, what: _What, flow: int, detail: tuple[int, int] = (0, 0)) -> None:
        heapq.heappush(self._events, (time_ps, next(self._numbers), what, flow, detail))
        self._under_way += what not in _WAITING

    def _step(self) -> None:
        now, _, what, number, detail = heapq.heappop(self._events)
        self._under_way -= what not in _WAITING
        if what == "timer":
            self._on_timer(now)
            return
        flow = self.flows[number]
        match what:
            case "credit":
                flow.usable = max(flow.usable, detail[0])
                self._send(now, flow)
            case "lost":
                flow.again.append(detail)
                self._send(now, flow)
            case "patience":
                # Without an answer a packet leaves without credit.
                flow.again.append(detail)
                self._leave(now, flow)
            case "queue":
                self._queue(now, flow, detail)
            case _:
                self._show(now, flow, detail, is_trimmed=False)
                if self._draw.random() < self._disturbed.twice:
                    self._show(now, flow, detail, is_trimmed=False)

    def _send(self, now: int, flow: Flow) -> None:
        while flow.spent < flow.usable and (flow.again or flow.sent < flow.size):
            self._leave(now, flow)

    def _leave(self, now: int, flow: Flow) -> None:
        """A lost packet leaves again, or a new one for the first time."""
        if flow.again:
            packet = flow.again.pop(0)
        else:
            packet = (flow.sent, min(PAYLOAD_BYTES, flow.size - flow.sent))
            flow.sent += packet[1]
        flow.spent += packet[1]
        if self._draw.random() < self._disturbed.loss:
            self._at(now + _PATIENCE_PS, "patience", flow.number, packet)
        else:
            self._at(now + flow.delay_ps, "queue", flow.number, packet)

    def _queue(self, now: int, flow: Flow, packet: tuple[int, int]) -> None:
        """A packet reaches the queue in front of the host's line; headers overtake what waits there."""
        starts = max(now, self._line_free_ps)
        if self._disturbed.trims and starts - now > _TRIM_ABOVE_PS:
            self._show(now, flow, packet, is_trimmed=True)
            # The NACK of the header: it leaves again if there is credit.
            self._at(now + flow.delay_ps, "lost", flow.number, packet)
            return
        self._line_free_ps = starts + _PACKET_PS
        self._at(self._line_free_ps, "reach", flow.number, packet)

    def _show(self, now: int, flow: Flow, packet: tuple[int, int], *, is_trimmed: bool) -> None:
        start, size = packet
        if flow.is_complete:
            return
        self._idle_timers = 0
        if is_trimmed:
            flow.trimmed += size
        elif start not in flow.arrived:
            flow.arrived.add(start)
            flow.received += size
        is_marked = self._draw.random() < self._disturbed.marks
        data = (flow.number, start, size, is_trimmed, flow.size - start - size, is_marked, 0)
        self._take(now, self._receiver.on_arrival(now, data))
        if flow.is_complete:
            self._take(now, self._receiver.on_complete(now, flow.number))

    def _on_timer(self, now: int) -> None:
        if self._wake_ps != now:
            return
        self._wake_ps = None
        if self._under_way == 0:
            self._idle_timers += 1
        self._take(now, self._receiver.on_timer(now))

    def _take(self, now: int, actions: Sequence[tuple[str, int, int, int | None]]) -> None:
        """Carries out what the receiver wants done (docs/algorithms/receivers.md#credit)."""
        for name, number, amount, priority in actions:
            self.done.append((now, name, number, amount, priority))
            if name == "acknowledge":
                continue
            flow = self.flows[number]
            flow.given = flow.given + amount if name == "pull" else max(flow.given, amount + flow.trimmed)
            self._at(now + flow.delay_ps, "credit", number, (flow.given, 0))
        self._set_timer()

    def _set_timer(self) -> None:
        due = self._receiver.next_timer_ps
        if due is not None and (self._wake_ps is None or due < self._wake_ps):
            self._wake_ps = due
            self._at(due, "timer", 0)
