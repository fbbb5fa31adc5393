"""Progress: a bar in a terminal or notebook, otherwise a line per minute; to standard error except in notebooks."""

from __future__ import annotations

import html
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from p4cc.running.notebook import cell, in_notebook
from p4cc.running.progress import Runs

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

CELL_S = 0.25
"""Interval between updates of a notebook's bar."""
LINE_S = 60.0
"""Interval between lines without a terminal."""


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
