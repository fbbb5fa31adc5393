"""Progress on a terminal, silence in a pipe; always on standard error, so that results can be piped."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


class Advance(Protocol):
    """Reports that a run ended, with the packet-hops it took."""

    def __call__(self, label: str, packet_hops: int) -> None:
        """Moves the bar on by one run."""
        ...


@contextmanager
def counted(label: str, total: int, quiet: bool) -> Generator[Callable[[str], None]]:
    """A bar of `total` steps with the time left; what is yielded moves it on and names the step done."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as bar:
        task = bar.add_task(label, total=total)
        yield lambda step: bar.update(task, advance=1, description=step)


@contextmanager
def progress(total: int, quiet: bool) -> Generator[Advance]:
    """A bar of `total` runs with the rate in packet-hops per second and the time left."""
    console = Console(stderr=True)
    shown = console.is_terminal and not quiet
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not shown,
    )
    hops = 0
    with bar:
        task = bar.add_task("running", total=total, rate="")

        def advance(label: str, packet_hops: int) -> None:
            nonlocal hops
            hops += packet_hops
            elapsed = bar.tasks[0].elapsed or 0.0
            rate = f"{hops / elapsed / 1e6:.2f} M packet-hops/s" if elapsed > 0 else ""
            bar.update(task, advance=1, description=label, rate=rate)

        yield advance
