"""NDP's receiver (SIGCOMM 2017; docs/algorithms/ndp.md#ndp-receiver)."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from p4cc import ReceiverAlgorithm, number

if TYPE_CHECKING:
    from p4cc._engine import Arrival


@dataclass
class Flow:
    """What the receiver knows of a flow, in bytes."""

    given: int
    end: float = inf
    again: int = 0
    pulls: int = 0


class Ndp(ReceiverAlgorithm):
    """Asks for a packet for each packet and each header that arrives, at the line rate, flow by flow."""

    source = "NDP 2017"

    first_window_packets: float = number(23, min=1, max=100_000, unit="packets", summary="sent without a pull")
    pull_rate: float = number(1, min=0.01, max=1, unit="ratio", summary="rate of pulled data over the line rate")

    def start(self) -> None:
        self.unasked_bytes = int(self.first_window_packets) * self.payload_bytes
        line_ps = -(-self.line_bytes * 8 * 10**12 // int(self.line_rate_bps))
        # Whole picoseconds: sums of fractions would miss each other by a last bit.
        self.spacing_ps = int(line_ps / self.pull_rate)
        self.flows: dict[int, Flow] = {}
        self.turns: deque[int] = deque()
        self.free_ps = 0

    def on_arrival(self, arrival: Arrival) -> None:
        self.acknowledge()
        flow = self.flows.setdefault(arrival.flow, Flow(self.unasked_bytes))
        if arrival.beyond_bytes is not None:
            flow.end = arrival.end + arrival.beyond_bytes
        flow.again += arrival.bytes if arrival.is_trimmed else 0
        flow.pulls += 1
        if flow.pulls == 1:
            self.turns.append(arrival.flow)
        self.serve(arrival.now_ns)

    def on_complete(self, now_ns: float, flow: int) -> None:
        if self.flows.pop(flow).pulls:
            self.turns.remove(flow)
        self.set_timer()

    def on_timer(self, now_ns: float) -> None:
        self.serve(now_ns)

    def serve(self, now_ns: float) -> None:
        """The next pull leaves, if one may."""
        now_ps = round(now_ns * 1_000)
        while self.turns and now_ps >= self.free_ps:
            number = self.turns.popleft()
            flow = self.flows[number]
            if flow.given >= flow.end + flow.again:
                flow.pulls = 0
                continue
            flow.pulls -= 1
            flow.given += self.payload_bytes
            if flow.pulls:
                self.turns.append(number)
            self.pull(number, self.payload_bytes)
            self.free_ps = now_ps + self.spacing_ps
        self.set_timer()

    def set_timer(self) -> None:
        """The next pull waits for the line."""
        self.timer_ns = self.free_ps / 1_000 if self.turns else None
