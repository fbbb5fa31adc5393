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
        return cls(start_ns, time.monotonic_ns() + start_ns - time.time_ns())

    def now_ns(self) -> int:
        """The time."""
        return time.monotonic_ns() - self.offset_ns

    def write(self, folder: Path) -> None:
        """Tells it."""
        partial = folder / f"{FILE}.partial"
        partial.write_text(json.dumps({"start_ns": self.start_ns}), encoding="utf-8")
        partial.replace(folder / FILE)


def read_clock(folder: Path) -> LabClock | None:
    """The lab's clock; None before its start."""
    try:
        return LabClock.starting(int(json.loads((folder / FILE).read_text(encoding="utf-8"))["start_ns"]))
    except FileNotFoundError:
        return None
