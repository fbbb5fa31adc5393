"""Homa's receiver (SIGCOMM 2018; docs/algorithms/receivers.md#homa)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from p4cc import ReceiverAlgorithm, number

if TYPE_CHECKING:
    from p4cc._engine import Arrival


@dataclass
class Message:
    """A message that has not arrived in full, in bytes."""

    size: int
    granted: int
    received: int = 0


class Homa(ReceiverAlgorithm):
    """Grants the messages with the least left, a few at a time, each a round trip ahead, in traffic classes by rank."""

    source = "Homa 2018"

    overcommitment: float = number(6, min=1, max=6, summary="messages with grants at a time")
    from_top: float = number(0, min=0, max=1, summary="1: the shortest has the highest of these classes even if alone")

    def start(self) -> None:
        self.ahead = max(int(self.bdp_bytes), self.payload_bytes)
        self.unasked_bytes = self.ahead
        self.messages: dict[int, Message] = {}

    def on_arrival(self, arrival: Arrival) -> None:
        if arrival.beyond_bytes is None:
            raise ValueError("Homa's messages have a size below 4 GiB; give the flow one")
        new = Message(arrival.end + arrival.beyond_bytes, self.unasked_bytes)
        message = self.messages.setdefault(arrival.flow, new)
        if not arrival.is_trimmed:
            message.received += arrival.bytes
        self.grant_some()

    def on_complete(self, now_ns: float, flow: int) -> None:
        self.messages.pop(flow, None)
        self.grant_some()

    def grant_some(self) -> None:
        """The messages with the least left get grants; the shortest has the highest of as many classes as needed."""
        waiting = [
            (one.size - one.received, flow, one) for flow, one in self.messages.items() if one.granted < one.size
        ]
        chosen = sorted(waiting, key=lambda one: one[:2])[: int(self.overcommitment)]
        classes = int(self.overcommitment) if self.from_top else len(chosen)
        for rank, (_, flow, message) in enumerate(chosen):
            up_to = min(message.size, message.received + self.ahead)
            if up_to > message.granted:
                message.granted = up_to
                self.grant(flow, up_to, priority=classes - 1 - rank)
