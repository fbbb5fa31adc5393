"""Progress of runs, in numbers; `shown_progress` shows it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

from p4cc.digits import digits


@dataclass(frozen=True)
class Moment:
    """Progress of one run."""

    now_ns: int
    stop_ns: int
    packet_hops: int
    flows_completed: int
    flows_finite: int

    @property
    def share(self) -> float:
        """Fraction of the run: of virtual time, or of flows if these end it earlier."""
        of_flows = self.flows_completed / self.flows_finite if self.flows_finite else 0.0
        return min(1.0, max(self.now_ns / max(self.stop_ns, 1), of_flows))

    def __str__(self) -> str:
        """For people."""
        text = f"{digits(self.now_ns / 1e6)} of {digits(self.stop_ns / 1e6)} ms"
        return f"{text}, {self.flows_completed} of {self.flows_finite} flows" if self.flows_finite else text


@dataclass
class Runs:
    """Progress of all runs of a call, updated from several threads."""

    total: int
    shown: Callable[[Runs], object]
    """Redraws it."""
    done: int = 0
    last: str = ""
    """The run with the latest report."""
    remote: int = 0
    """Runs requested from other machines and not yet returned."""
    _done_hops: int = 0
    _under_way: dict[str, Moment] = field(default_factory=dict[str, Moment])
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def moved(self, label: str, moment: Moment) -> None:
        """Updates the progress of a run."""
        with self._lock:
            self._under_way[label] = moment
            self.last = f"{label}: {moment}"
        self.shown(self)

    @contextmanager
    def asked(self) -> Generator[None]:
        """Counts runs of other machines while its body runs."""
        with self._lock:
            self.remote += 1
        self.shown(self)
        try:
            yield
        finally:
            with self._lock:
                self.remote -= 1

    @property
    def counts(self) -> str:
        """Numbers of finished and remote runs, for people."""
        away = f", {self.remote} at the cluster" if self.remote else ""
        return f"{self.done}/{self.total} runs{away}"

    def ended(self, label: str, packet_hops: int) -> None:
        """Counts a finished run, or a cached one without packet-hops."""
        with self._lock:
            self._under_way.pop(label, None)
            self._done_hops += packet_hops
            self.done += 1
            self.last = label
        self.shown(self)

    @property
    def packet_hops(self) -> int:
        """Of all runs so far."""
        with self._lock:
            return self._done_hops + sum(moment.packet_hops for moment in self._under_way.values())

    @property
    def completed(self) -> float:
        """Number of runs, with fractions for those in progress."""
        with self._lock:
            return self.done + sum(moment.share for moment in self._under_way.values())
