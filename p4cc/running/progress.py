"""Progress: a bar in a terminal or notebook, otherwise a line per minute; to standard error except in notebooks."""

from __future__ import annotations

import html
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

from p4cc.digits import digits
from p4cc.running.notebook import cell, in_notebook

CELL_S = 0.25
"""Interval between updates of a notebook's bar."""
LINE_S = 60.0
"""Interval between lines without a terminal."""


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


@contextmanager
def progress(total: int, quiet: bool) -> Generator[Runs]:
    """Shows the progress of `total` runs, the rate in packet-hops per second, and the time left."""
    if quiet:
        yield Runs(total, lambda _: None)
        return
    if in_notebook():
        bar = _CellBar(total, cell())
        try:
            yield Runs(total, bar)
        finally:
            bar.end()
        return
    # Bars take a while to import; quiet runs need not wait for them.
    from p4cc.running.bars import runs_bar, terminal

    if (console := terminal()) is None:
        yield Runs(total, _Lines())
        return
    with runs_bar(console, total) as show:
        yield Runs(total, show)


class _CellBar:
    """A bar in a notebook's cell."""

    def __init__(self, total: int, show: Callable[[str], None]) -> None:
        self._total = total
        self._show = show
        self._said = 0.0
        self._started = time.monotonic()

    def __call__(self, runs: Runs) -> None:
        now = time.monotonic()
        if now - self._said < CELL_S:
            return
        self._said = now
        elapsed = now - self._started
        rate = f"{runs.packet_hops / elapsed / 1e6:.2f} M packet-hops/s" if elapsed > 0 and runs.packet_hops else ""
        text = html.escape(" ".join((runs.counts, rate, runs.last)).strip())
        label = html.escape(f"{runs.done} of {self._total} runs")
        bar = f'<progress value="{runs.completed:.4f}" max="{self._total}" aria-label="{label}"></progress>'
        self._show(f"{bar} <span>{text}</span>")

    def end(self) -> None:
        """Removes the bar, so that the cell shows only its result."""
        self._show("")


class _Lines:
    """Prints progress once per minute."""

    def __init__(self) -> None:
        self._started = self._said = time.monotonic()

    def __call__(self, runs: Runs) -> None:
        now = time.monotonic()
        if now - self._said < LINE_S:
            return
        self._said = now
        elapsed, completed = now - self._started, runs.completed
        left = f", {elapsed * (runs.total - completed) / completed / 60:.0f} min left" if completed else ""
        rate = f"{runs.packet_hops / elapsed / 1e6:.2f} M packet-hops/s"
        away = f", {runs.remote} at the cluster" if runs.remote else ""
        print(f"{runs.done} of {runs.total} runs{away}, {rate}{left}; {runs.last}", file=sys.stderr, flush=True)
