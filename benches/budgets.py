"""Measures every performance budget once and prints one table: `make bench`, and `make bench-large` for long runs.

Nothing is asserted, since the machine may be busy; a missed budget is a word in the table. The engine's figures come
from `cargo bench -p p4cc-netsim`, the others from the installed package. Beside each figure stands its ratio to the one
that `benches/figures.json` holds for a machine of the same kind; `--keep` writes that file anew, and `--page` (`make
bench-table`) the table of docs/reference/performance.md from all rows, the long runs among them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benches.architectures import architecture_rows
from benches.large import WHOLE_NS, large_rows
from benches.live import live_row
from benches.own_algorithms import own_algorithm_row
from benches.page import PAGE, build_of_today, page_with
from benches.row import Row, program_on_path
from benches.set_up import help_row, set_up_rows
from benches.table_writes import BATCH, ROOT, insertions_per_second
from p4cc.start import VARIABLE, with_large_pages

FIGURES = ROOT / "benches" / "figures.json"
"""The figures kept: kind of machine, then what was measured."""


def main() -> int:
    """Measures and prints."""
    to_page = "--page" in sys.argv
    # Before anything is measured: a dirty checkout or a busy machine ends it.
    build = build_of_today(_machine()) if to_page else None
    rows = large_rows() if "--large" in sys.argv else _rows()
    if to_page:
        rows += large_rows(WHOLE_NS)
    kept: dict[str, dict[str, float]] = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
    before = kept.get(_machine(), {})
    table = Table()
    names = (
        ("what", False),
        ("figure", True),
        ("unit", False),
        ("budget", True),
        ("verdict", False),
        ("to last", True),
    )
    for name, right in names:
        table.add_column(name, justify="right" if right else "left")
    for row in rows:
        budget = "" if row.budget is None else _number(row.budget)
        ratio = f"{row.figure / before[row.what]:.2f}" if before.get(row.what) else ""
        table.add_row(row.what, _figure(row), row.unit, budget, row.verdict, ratio)
    Console(width=None if sys.stdout.isatty() else 120).print(table)
    if build is not None:
        PAGE.write_text(page_with(PAGE.read_text(encoding="utf-8"), rows, build, _figure), encoding="utf-8")
    if "--keep" in sys.argv or to_page:
        kept[_machine()] = {**before, **{row.what: float(f"{row.figure:.4g}") for row in rows}}
        FIGURES.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")
    return 0


def _rows() -> list[Row]:
    return [
        *_engine_rows(),
        *architecture_rows(),
        own_algorithm_row(),
        live_row(),
        _write_row(),
        help_row(),
        *set_up_rows(),
        _run_row(),
    ]


def _machine() -> str:
    """Kind of processor and number of processors: figures of other machines say nothing about this one."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")
    return f"{model}, {os.cpu_count()} processors"


def _figure(row: Row) -> str:
    """The figure, with the range of the rounds that it is the median of."""
    if row.span is None:
        return _number(row.figure)
    return f"{_number(row.figure)} ({_number(row.span[0])} to {_number(row.span[1])})"


def _number(figure: float) -> str:
    """Three digits and no more than is known."""
    return f"{figure:,.0f}" if figure >= 100 else f"{figure:.3g}"


def _engine_rows() -> list[Row]:
    """The engine by itself, on one core, with the memory that `p4cc run` has."""
    environment = {**os.environ, VARIABLE: with_large_pages(os.environ.get(VARIABLE, ""))}
    cargo = program_on_path("cargo")
    command = [cargo, "bench", "--locked", "--quiet", "--package", "p4cc-netsim", "--bench", "incast"]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    figures: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    return [
        Row("P4 pipeline, ecn_dual.p4, per packet", figures["pipeline_ns"], "ns", 100),
        Row("the same on the register machine", figures["pipeline_interp_ns"], "ns", None),
        Row("switch, queue included, per packet", figures["switch_ns"], "ns", None),
        Row("incast of 16 hosts, P4 at each hop", figures["hops_per_s"], "packet-hops/s", 5_000_000, True),
        Row("the same over TCP", figures["tcp_hops_per_s"], "packet-hops/s", None, more_is_better=True),
        Row("allocations", figures["allocations_per_hop"], "per packet-hop", None),
        _permutation(figures, 128, 3_000_000),
        _permutation(figures, 432, 2_000_000),
        Row("packet in a queue", figures["queued_bytes"], "B", 256),
        Row("packet on a link", figures["link_bytes"], "B", 256),
        Row("flow that has not begun", figures["idle_flow_bytes"], "B", None),
    ]


def _permutation(figures: dict[str, float], hosts: int, budget: float) -> Row:
    figure = figures[f"permutation_{hosts}_hops_per_s"]
    return Row(f"permutation of {hosts} hosts, HPCC, 2 MB each", figure, "packet-hops/s", budget, more_is_better=True)


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


if __name__ == "__main__":
    sys.exit(main())
