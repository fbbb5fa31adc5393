"""What is due at which instant of a run: faults, requests that take effect, and calls of handlers.

Of things due at one instant faults come first, then requests, then calls, each in the order in which they were noted.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

FAULT, REQUEST, CALL = 0, 1, 2
"""Which comes first at one instant."""


@dataclass(order=True)
class Due:
    """Something due at an instant, in picoseconds."""

    at_ps: int
    rank: int
    number: int
    do: Callable[[], Awaitable[None]] = field(compare=False)
    is_cancelled: bool = field(default=False, compare=False)


class Agenda:
    """Everything that is due, by time."""

    def __init__(self) -> None:
        self._heap: list[Due] = []
        self._noted = 0

    def add(self, at_ps: int, rank: int, do: Callable[[], Awaitable[None]]) -> Due:
        """Notes what is due at an instant."""
        self._noted += 1
        due = Due(at_ps, rank, self._noted, do)
        heapq.heappush(self._heap, due)
        return due

    def cancel_calls(self) -> None:
        """Nothing more is called of what was noted until now."""
        for due in self._heap:
            due.is_cancelled = due.is_cancelled or due.rank == CALL

    def next_ps(self) -> int | None:
        """When the next thing is due; None if nothing is."""
        while self._heap and self._heap[0].is_cancelled:
            heapq.heappop(self._heap)
        return self._heap[0].at_ps if self._heap else None

    def take(self, now_ps: int) -> Due | None:
        """The next thing that is due now or was; None if nothing is."""
        next_ps = self.next_ps()
        return heapq.heappop(self._heap) if next_ps is not None and next_ps <= now_ps else None
