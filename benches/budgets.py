"""Measures every performance budget once and prints one table: `make bench`.

Nothing is asserted, since the machine may be busy; a missed budget is a word in the table. The engine's figures come
from `cargo bench -p p4cc-netsim`, the others from the installed package.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benches.table_writes import BATCH, ROOT, insertions_per_second


@dataclass(frozen=True)
class Row:
    """A line of the table; a budget of None is a figure for information."""

    what: str
    figure: float
    unit: str
    budget: float | None
    more_is_better: bool = False

    @property
    def verdict(self) -> str:
        """How the figure stands to its budget."""
        if self.budget is None:
            return ""
        met = self.figure >= self.budget if self.more_is_better else self.figure <= self.budget
        return "met" if met else "MISSED"


def main() -> int:
    """Measures and prints."""
    rows = [*_engine_rows(), _write_row(), _run_row()]
    table = Table()
    for name, right in (("what", False), ("figure", True), ("unit", False), ("budget", True), ("verdict", False)):
        table.add_column(name, justify="right" if right else "left")
    for row in rows:
        budget = "" if row.budget is None else _number(row.budget)
        table.add_row(row.what, _number(row.figure), row.unit, budget, row.verdict)
    Console(width=None if sys.stdout.isatty() else 120).print(table)
    return 0


def _number(figure: float) -> str:
    """Three digits and no more than is known."""
    return f"{figure:,.0f}" if figure >= 100 else f"{figure:.3g}"


def _engine_rows() -> list[Row]:
    """The engine by itself, on one core."""
    cargo = _program("cargo")
    command = [cargo, "bench", "--locked", "--quiet", "--package", "p4cc-netsim", "--bench", "incast"]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    figures: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    return [
        Row("P4 pipeline, ecn_dual.p4, per packet", figures["pipeline_ns"], "ns", 1000),
        Row("switch, queue included, per packet", figures["switch_ns"], "ns", None),
        Row("incast of 16 hosts, P4 at each hop", figures["hops_per_s"], "packet-hops/s", 500_000, more_is_better=True),
        Row("allocations", figures["allocations_per_hop"], "per packet-hop", None),
        Row("packet in a queue", figures["queued_bytes"], "B", 256),
        Row("packet on a link", figures["link_bytes"], "B", 256),
    ]


def _write_row() -> Row:
    """The control plane."""
    figure = insertions_per_second()
    return Row(f"table insertions, P4Runtime, batches of {BATCH}", figure, "entries/s", 20_000, more_is_better=True)


def _run_row() -> Row:
    """The main job after set-up, from process start to files on disk."""
    with tempfile.TemporaryDirectory() as out:
        scenario = str(ROOT / "experiments" / "gst" / "incast.yaml")
        command = [str(Path(sys.executable).with_name("p4cc")), "run", scenario, "--out", out]
        started = time.perf_counter()
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        return Row("make run after set-up", time.perf_counter() - started, "s", 60)


def _program(name: str) -> str:
    """Path of a program; ends with a message if it is missing."""
    path = shutil.which(name)
    if path is None:
        sys.exit(f"bench: {name} is not on PATH; install it (make setup names what is missing)")
    return path


if __name__ == "__main__":
    sys.exit(main())
