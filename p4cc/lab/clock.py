"""Time 0 of a lab: when its flows begin. A file tells it to processes of the lab."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

FILE = "clock.json"
_POLL_S = 0.02
_READINGS = 8


@dataclass(frozen=True)
class LabClock:
    """Nanoseconds since time 0; negative before it."""

    start_ns: int
    """Time 0, since 1970."""
    offset_ns: int
    """From the monotonic clock to time 0: steps of the wall clock change nothing."""

    @classmethod
    def starting(cls, start_ns: int) -> LabClock:
        """Time 0 is at a wall time in ns since 1970."""
        return cls(start_ns, monotonic_at(start_ns))

    def now_ns(self) -> int:
        """The time."""
        return time.monotonic_ns() - self.offset_ns

    def write(self, folder: Path) -> None:
        """Tells it."""
        partial = folder / f"{FILE}.partial"
        partial.write_text(json.dumps({"start_ns": self.start_ns}), encoding="utf-8")
        partial.replace(folder / FILE)


def monotonic_at(wall_ns: int) -> int:
    """The monotonic clock at a time since 1970, in ns; of several readings the one that took least.

    A process that loses the processor between the readings of two clocks would take them for further apart.
    """
    readings: list[tuple[int, int]] = []
    for _ in range(_READINGS):
        before_ns, now_ns, after_ns = time.monotonic_ns(), time.time_ns(), time.monotonic_ns()
        readings.append((after_ns - before_ns, before_ns - now_ns))
    return wall_ns + min(readings)[1]


def read_clock(folder: Path) -> LabClock | None:
    """The lab's clock; None before its start."""
    try:
        return LabClock.starting(int(json.loads((folder / FILE).read_text(encoding="utf-8"))["start_ns"]))
    except FileNotFoundError:
        return None
