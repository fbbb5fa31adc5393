"""The properties of receivers, tested on a user's class with the data of random flows (receiver_model.py)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from p4cc.user_algorithms.findings import BrokenError, Finding, same, tried
from p4cc.user_algorithms.receiver_model import PAYLOAD_BYTES, Disturbances, Host

if TYPE_CHECKING:
    import random

    from p4cc.user_algorithms.load import UserSender

_MOST_FLOWS = 12
_MOST_EVENTS = 20_000
"""A run takes some five for each packet, of which there are at most 1,320."""
_OF = "data of random flows"


class Receivers:
    """Properties of receivers."""

    def __init__(self, sender: UserSender) -> None:
        self._own = [sender.for_engine()]
        self._config = json.dumps({"name": sender.algorithm.entry.name, "own": 0})
        # A receiver that does not look for headers is not meant for switches that trim.
        self._trims = "is_trimmed" in sender.algorithm.attributes.read

    def findings(self) -> list[Finding]:
        """All of them."""
        return [
            tried("survives", "no data, headers, losses or timers raise an exception", self._survives, _OF),
            tried("finishes", "every flow may send all of its data", self._finishes, _OF),
            tried("credit", "no flow may send more than it has and its first window", self._credit, _OF),
            tried("repeatable", "equal data gives equal pulls and grants", self._repeats, _OF),
        ]

    def _run(self, draw: random.Random, disturbed: Disturbances) -> tuple[Host, str]:
        host = Host(self._config, self._own, draw)
        return host, host.run(_sizes(draw), disturbed, _MOST_EVENTS)

    def _survives(self, draw: random.Random) -> None:
        self._run(draw, Disturbances(trims=True, loss=0.02, twice=0.02, marks=0.2))

    def _finishes(self, draw: random.Random) -> None:
        host, why = self._run(draw, Disturbances(trims=self._trims))
        for flow in host.flows.values():
            if not flow.is_complete:
                of = f"flow {flow.number} has {flow.received} of {flow.size} B after {len(host.done)} actions"
                credit = (
                    f"its credit is {flow.given} B, of which {flow.spent} B are spent ({flow.trimmed} B as headers)"
                )
                raise BrokenError(f"{of}; {credit}; {why}")

    def _credit(self, draw: random.Random) -> None:
        host, _ = self._run(draw, Disturbances(trims=self._trims, marks=0.2))
        for flow in host.flows.values():
            most = flow.size + flow.trimmed + host.unasked_bytes + PAYLOAD_BYTES
            if flow.given > most:
                own = f"{flow.size} B, {flow.trimmed} B as headers and a first window of {host.unasked_bytes} B"
                raise BrokenError(f"flow {flow.number} has a credit of {flow.given} B, and {own}")

    def _repeats(self, draw: random.Random) -> None:
        state = draw.getstate()

        def run() -> list[object]:
            draw.setstate(state)
            host, _ = self._run(draw, Disturbances(trims=True, loss=0.02, marks=0.2))
            return list(host.done)

        same(run)


def _sizes(draw: random.Random) -> list[int]:
    """Payload of some flows, most of them short."""
    return [
        draw.choice((1, PAYLOAD_BYTES, draw.randrange(1, 20 * PAYLOAD_BYTES), draw.randrange(1, 120 * PAYLOAD_BYTES)))
        for _ in range(draw.randrange(1, _MOST_FLOWS))
    ]
