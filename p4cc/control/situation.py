"""A controller's view of its run: time, switches, network, timers, and records."""

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
"""Limit of rows of the table `control` in one run."""
_PS = 1_000
"""Picoseconds per nanosecond."""


class Timer:
    """A single or repeated call in the future."""

    def __init__(self) -> None:
        self._due: Due | None = None
        self._is_cancelled = False

    def cancel(self) -> None:
        """Cancels it; without effect if it is over."""
        self._is_cancelled = True
        if self._due is not None:
            self._due.is_cancelled = True

    def wait_for(self, due: Due) -> None:
        """Waits for the next call."""
        self._due = due
        due.is_cancelled = self._is_cancelled


@dataclass
class Situation:
    """Everything that one run provides to its controller."""

    switches: Mapping[str, Switch]
    topology: Topology
    addresses: AddressPlan
    seed: int
    agenda: Agenda
    call: Callable[[str, Callable[[], Awaitable[None]]], Awaitable[None]]
    """Schedules a call of a handler, with a name for messages."""
    now_ps: int = 0
    rows: list[tuple[int, str | None, str, float]] = field(default_factory=list[tuple[int, str | None, str, float]])
    """Rows of the table `control`."""
    calls_left_out: int = 0
    """Calls of `every` that were late by an interval or more; in a lab only."""
    random: random.Random = field(init=False)

    def __post_init__(self) -> None:
        # All versions of Python hash a text in the same way; the name separates the stream from others.
        self.random = random.Random(f"{self.seed} control.random")  # noqa: S311 (repeatable is what is wanted)

    def every(self, interval_ns: int, handler: Callable[[], Awaitable[None]], first_ns: int | None) -> Timer:
        """See Controller.every."""
        if interval_ns < 1:
            raise ValueError(f"every: the interval of {interval_ns} ns is too short; give at least 1 ns")
        first_ns = interval_ns if first_ns is None else first_ns
        if first_ns < 0:
            raise ValueError(f"every: the first call would be after {first_ns} ns; give at least 0 ns")
        timer = Timer()
        name = _name(handler)

        def note(at_ps: int) -> None:
            async def again() -> None:
                # Virtual time is never late. A lab skips missed calls; otherwise it would stay late.
                missed = (self.now_ps - at_ps) // (interval_ns * _PS)
                self.calls_left_out += missed
                note(at_ps + (missed + 1) * interval_ns * _PS)
                await self.call(name, handler)

            timer.wait_for(self.agenda.add(at_ps, CALL, again))

        note(self.now_ps + first_ns * _PS)
        return timer

    def after(self, delay_ns: int, handler: Callable[[], Awaitable[None]]) -> Timer:
        """See Controller.after."""
        if delay_ns < 0:
            raise ValueError(f"after: the delay of {delay_ns} ns is negative; give at least 0 ns")
        timer, name = Timer(), _name(handler)
        timer.wait_for(self.agenda.add(self.now_ps + delay_ns * _PS, CALL, lambda: self.call(name, handler)))
        return timer

    def record(self, name: str, value: float, switch: str | None) -> None:
        """See Controller.record."""
        if len(self.rows) >= MAX_ROWS:
            raise ValueError(f"record: the table control already has {MAX_ROWS} rows; record less often")
        self.rows.append((self.now_ps // _PS, switch, str(name), float(value)))


def _name(handler: Callable[[], Awaitable[None]]) -> str:
    return getattr(handler, "__qualname__", None) or type(handler).__qualname__
