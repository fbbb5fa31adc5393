"""What a controller sees of its run: the time, its switches, the network, its timers, and where its notes go."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from p4cc.control.agenda import CALL

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from finsy import Switch

    from p4cc.control.agenda import Agenda, Due
    from topos import AddressPlan, Topology

MAX_ROWS = 5_000_000
"""Of the table `control`, in one run."""
_PS = 1_000
"""Picoseconds in a nanosecond."""


class Timer:
    """A call to come, or one that comes again and again."""

    def __init__(self) -> None:
        self._due: Due | None = None
        self._is_cancelled = False

    def cancel(self) -> None:
        """Stops it; without effect on one that is over."""
        self._is_cancelled = True
        if self._due is not None:
            self._due.is_cancelled = True

    def wait_for(self, due: Due) -> None:
        """What it waits for now."""
        self._due = due
        due.is_cancelled = self._is_cancelled


@dataclass
class Situation:
    """What one run gives its controller."""

    switches: Mapping[str, Switch]
    topology: Topology
    addresses: AddressPlan
    seed: int
    agenda: Agenda
    call: Callable[[str, Callable[[], Awaitable[None]]], Awaitable[None]]
    """Calls a handler under a name for messages."""
    now_ps: int = 0
    rows: list[tuple[int, str | None, str, float]] = field(default_factory=list[tuple[int, str | None, str, float]])
    """Of the table `control`."""
    calls_left_out: int = 0
    """Calls of `every` that were late by an interval or more; in a lab only."""
    random: random.Random = field(init=False)

    def __post_init__(self) -> None:
        # Every version of Python hashes a text in one way; the name keeps the stream apart.
        self.random = random.Random(f"{self.seed} control.random")  # noqa: S311 (repeatable is what is wanted)

    def every(self, interval_ns: int, handler: Callable[[], Awaitable[None]], first_ns: int | None) -> Timer:
        """As Controller.every."""
        if interval_ns < 1:
            raise ValueError(f"every: the interval of {interval_ns} ns is too short; give at least 1 ns")
        first_ns = interval_ns if first_ns is None else first_ns
        if first_ns < 0:
            raise ValueError(f"every: the first call would be after {first_ns} ns; give at least 0 ns")
        timer = Timer()
        name = _name(handler)

        def note(at_ps: int) -> None:
            async def again() -> None:
                # Virtual time is never late. A lab leaves out what it missed, or it would be late for ever.
                missed = (self.now_ps - at_ps) // (interval_ns * _PS)
                self.calls_left_out += missed
                note(at_ps + (missed + 1) * interval_ns * _PS)
                await self.call(name, handler)

            timer.wait_for(self.agenda.add(at_ps, CALL, again))

        note(self.now_ps + first_ns * _PS)
        return timer

    def after(self, delay_ns: int, handler: Callable[[], Awaitable[None]]) -> Timer:
        """As Controller.after."""
        if delay_ns < 0:
            raise ValueError(f"after: the delay of {delay_ns} ns is negative; give at least 0 ns")
        timer, name = Timer(), _name(handler)
        timer.wait_for(self.agenda.add(self.now_ps + delay_ns * _PS, CALL, lambda: self.call(name, handler)))
        return timer

    def record(self, name: str, value: float, switch: str | None) -> None:
        """As Controller.record."""
        if len(self.rows) >= MAX_ROWS:
            raise ValueError(f"record: the table control already has {MAX_ROWS} rows; record less often")
        self.rows.append((self.now_ps // _PS, switch, str(name), float(value)))


def _name(handler: Callable[[], Awaitable[None]]) -> str:
    return getattr(handler, "__qualname__", None) or type(handler).__qualname__
