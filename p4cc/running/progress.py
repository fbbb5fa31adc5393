"""Progress: a bar on a terminal or in a notebook, a line a minute elsewhere.

Outside of notebooks it stands on standard error, so that results can be piped.
"""

from __future__ import annotations

import html
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn

from p4cc.digits import digits
from p4cc.running.notebook import cell, in_notebook

CELL_S = 0.25
"""Time between two looks of a bar in a notebook."""
LINE_S = 60.0
"""Time between two lines where there is no terminal."""


@dataclass(frozen=True)
class Moment:
    """How far one run is."""

    now_ns: int
    stop_ns: int
    packet_hops: int
    flows_completed: int
    flows_finite: int

    @property
    def share(self) -> float:
        """Of the run: virtual time, or flows where they end it before its time is over."""
        of_flows = self.flows_completed / self.flows_finite if self.flows_finite else 0.0
        return min(1.0, max(self.now_ns / max(self.stop_ns, 1), of_flows))

    def __str__(self) -> str:
        """For people."""
        text = f"{digits(self.now_ns / 1e6)} of {digits(self.stop_ns / 1e6)} ms"
        return f"{text}, {self.flows_completed} of {self.flows_finite} flows" if self.flows_finite else text


@dataclass
class Runs:
    """What is known of all runs of a call; runs tell it from several threads."""

    total: int
    shown: Callable[[Runs], object]
    """Shows it anew."""
    done: int = 0
    last: str = ""
    """The run that was heard of last."""
    remote: int = 0
    """Runs that other machines were asked for and that have not come back."""
    _done_hops: int = 0
    _under_way: dict[str, Moment] = field(default_factory=dict[str, Moment])
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def moved(self, label: str, moment: Moment) -> None:
        """A run is so far."""
        with self._lock:
            self._under_way[label] = moment
            self.last = f"{label}: {moment}"
        self.shown(self)

    @contextmanager
    def asked(self) -> Generator[None]:
        """While others make a run."""
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
        """How many runs have ended, and how many others are at, for people."""
        away = f", {self.remote} at the cluster" if self.remote else ""
        return f"{self.done}/{self.total} runs{away}"

    def ended(self, label: str, packet_hops: int) -> None:
        """A run has ended, or was there before: then without packet-hops."""
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
        """Runs, those under way in parts."""
        with self._lock:
            return self.done + sum(moment.share for moment in self._under_way.values())


class _Rate(ProgressColumn):
    """Packet-hops per second since the start."""

    def render(self, task: Task) -> str:
        """The rate, once there is one."""
        elapsed, hops = task.elapsed or 0.0, int(task.fields.get("hops", 0))
        return f"{hops / elapsed / 1e6:.2f} M packet-hops/s" if elapsed > 0 and hops else ""


@contextmanager
def counted(label: str, total: int, quiet: bool) -> Generator[Callable[[str], None]]:
    """A bar of `total` steps with the time left; what is yielded moves it on and names the step done."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as bar:
        task = bar.add_task(label, total=total)
        yield lambda step: bar.update(task, advance=1, description=step)


@contextmanager
def progress(total: int, quiet: bool) -> Generator[Runs]:
    """Shows `total` runs: what each is at, the rate in packet-hops per second and the time left."""
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
    console = Console(stderr=True)
    if not console.is_terminal:
        yield Runs(total, _Lines())
        return
    columns = (
        TextColumn("{task.fields[runs]}"), BarColumn(), _Rate(), TimeRemainingColumn(), TextColumn("{task.description}")
    )  # fmt: skip
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=total, runs=f"0/{total} runs")

        def show(runs: Runs) -> None:
            bar.update(
                task,
                completed=runs.completed,
                description=runs.last,
                runs=runs.counts,
                hops=runs.packet_hops,
            )

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
        told = html.escape(" ".join((runs.counts, rate, runs.last)).strip())
        label = html.escape(f"{runs.done} of {self._total} runs")
        bar = f'<progress value="{runs.completed:.4f}" max="{self._total}" aria-label="{label}"></progress>'
        self._show(f"{bar} <span>{told}</span>")

    def end(self) -> None:
        """Takes the bar away: what a cell shows is its result."""
        self._show("")


class _Lines:
    """Says once a minute how far it is."""

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
