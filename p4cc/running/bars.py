"""Bars of progress in a terminal, on standard error."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from p4cc.running.progress import Runs


class _Rate(ProgressColumn):
    """Packet-hops per second since the start."""

    def render(self, task: Task) -> str:
        """The rate, if known."""
        elapsed, hops = task.elapsed or 0.0, int(task.fields.get("hops", 0))
        return f"{hops / elapsed / 1e6:.2f} M packet-hops/s" if elapsed > 0 and hops else ""


def terminal() -> Console | None:
    """Standard error, if it is a terminal."""
    console = Console(stderr=True)
    return console if console.is_terminal else None


@contextmanager
def counted(label: str, total: int, quiet: bool) -> Generator[Callable[[str], None]]:
    """Shows a bar of `total` steps with the time left; the yielded function advances it and names the finished step."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as bar:
        task = bar.add_task(label, total=total)
        yield lambda step: bar.update(task, advance=1, description=step)


@contextmanager
def runs_bar(console: Console, total: int) -> Generator[Callable[[Runs], None]]:
    """Shows a bar of `total` runs with their rate and the time left; the yielded function redraws it."""
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

        yield show
