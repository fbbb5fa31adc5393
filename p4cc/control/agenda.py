"""Agenda of a run: faults, requests that take effect, and calls of handlers, each at its instant.

At one instant, faults come first, then requests, then calls, each in the order of scheduling.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

FAULT, REQUEST, CALL = 0, 1, 2
"""The order of kinds at one instant."""


@dataclass(order=True)
class Due:
    """A scheduled item, with its instant in picoseconds."""

    at_ps: int
    rank: int
    number: int
    do: Callable[[], Awaitable[None]] = field(compare=False)
    is_cancelled: bool = field(default=False, compare=False)


class Agenda:
    """All scheduled items, by time."""

    def __init__(self) -> None:
        self._heap: list[Due] = []
        self._noted = 0

    def add(self, at_ps: int, rank: int, do: Callable[[], Awaitable[None]]) -> Due:
        """Schedules an item."""
        self._noted += 1
        due = Due(at_ps, rank, self._noted, do)
        heapq.heappush(self._heap, due)
        return due

    def cancel_calls(self) -> None:
        """Cancels all calls scheduled so far."""
        for due in self._heap:
            due.is_cancelled = due.is_cancelled or due.rank == CALL

    def next_ps(self) -> int | None:
        """The instant of the next item; None if there is none."""
        while self._heap and self._heap[0].is_cancelled:
            heapq.heappop(self._heap)
        return self._heap[0].at_ps if self._heap else None

    def take(self, now_ps: int) -> Due | None:
        """The next item that is due by now; None if there is none."""
        next_ps = self.next_ps()
        return heapq.heappop(self._heap) if next_ps is not None and next_ps <= now_ps else None
