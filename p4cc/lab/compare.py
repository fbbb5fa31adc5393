"""A scenario's variants in a lab and in virtual time, side by side: one table, one figure.

The same scenario file, P4 program, controller and sender code; what differs is the clock, the hosts' scheduling and
what the kernel does with packets.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import polars as pl

from p4cc.analysis.recorded import read_table
from p4cc.errors import UserError
from p4cc.figures.chart import Axis, Chart, Line, Panel
from p4cc.figures.series import xy
from p4cc.lab.plan import LabRequest, plan_lab
from p4cc.lab.run import COMPARISON, LabOptions, LabReport, run_lab
from p4cc.running.destination import of_file
from p4cc.running.request import RunRequest
from p4cc.running.result_folder import Claim, results_into
from p4cc.running.runner import run_scenario

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p4cc.lab.kernel_tcp import Hosts

SHOWN = ("goodput_bps", "finish_ns", "timeouts", "drops", "marks_level1", "marks_level2", "peak_queue_pkts")
_DEADLINES = ("deadline_flows", "deadlines_met")
FIGURE = "lab.png"
TABLE_FILE = "comparison.json"
_PANELS = (("depth_pkts", "queue (packets)"), ("cwnd_segments", "windows (segments)"))
_SHARED = (("alpha", "alpha", 1.0), ("srtt_ns", "round-trip time\n(ms)", 1e-6))
"""Panels with the lines of all clocks, where there are any."""
_COLOURS = {"virtual": 0, "linux": 2}
_CLOCKS = {"virtual": "virtual time", "lab": "lab", "agents": "agents in the lab", "linux": "Linux in the lab"}
"""Clocks in the order of the figure's rows, with their titles."""


@dataclass(frozen=True)
class Side:
    """One variant on one clock; in labs with several kinds of hosts, their kind stands for it."""

    variant: str
    clock: str
    numbers: Mapping[str, float | None]
    windows: pl.DataFrame
    queues: pl.DataFrame


def compare(
    request: LabRequest, options: LabOptions, variants: tuple[str, ...], hosts: tuple[Hosts, ...] = ()
) -> tuple[list[Side], LabReport, Path]:
    """Runs every variant in virtual time and in a lab; returns the sides, the labs' reports and the figure's path.

    With several kinds of `hosts`, each variant has a lab for each of them.
    """
    if request.is_import:
        raise UserError("an import has no virtual time", place="--compare", remedy="give a scenario")
    requests = {one: replace(request, hosts=one) for one in hosts} if len(hosts) > 1 else {"lab": request}
    asked = request.identity(COMPARISON) | ({"hosts": " ".join(hosts)} if len(hosts) > 1 else {})
    identity = of_file(asked, Path(request.file), options.folder)
    with results_into(Claim(options.folder, identity, (FIGURE, TABLE_FILE), options.force)) as partial:
        sides, report = _all(request, requests, options, variants)
        draw(sides, partial / FIGURE)
        plain = [{"variant": side.variant, "clock": side.clock, **side.numbers} for side in sides]
        (partial / TABLE_FILE).write_text(json.dumps(plain, indent=1), encoding="utf-8")
    return sides, report, options.folder / FIGURE


def columns(sides: list[Side]) -> tuple[str, ...]:
    """Numbers to show; those of deadlines where flows have some."""
    return (*SHOWN, *(_DEADLINES if any(side.numbers.get("deadline_flows") for side in sides) else ()))


def _all(
    request: LabRequest, labs: Mapping[str, LabRequest], options: LabOptions, variants: tuple[str, ...]
) -> tuple[list[Side], LabReport]:
    # What this machine cannot do is said before anything runs.
    for lab in labs.values():
        for variant in variants:
            plan_lab(replace(lab, variant=variant))
    sides = _virtual(request, options, variants)
    report = LabReport()
    for variant in variants:
        for clock, lab in labs.items():
            folder = options.folder / _folder(variant if clock == "lab" else f"{variant}-{clock}")
            one = run_lab(replace(lab, variant=variant), replace(options, folder=folder, cli=False))
            report.switches += one.switches
            report.failed += [f"{variant}: {failure}" for failure in one.failed]
            report.restarts += one.restarts
            # Each lab repeats the warnings that do not depend on its variant.
            report.warnings = list(dict.fromkeys([*report.warnings, *one.warnings]))
            if one.agents is not None:
                sides.append(Side(variant, clock, one.agents.summary, one.agents.windows, one.agents.queues))
    return sides, report


def _folder(variant: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "-_+" else "_" for letter in variant)


def _virtual(request: LabRequest, options: LabOptions, variants: tuple[str, ...]) -> list[Side]:
    """The first seed of every variant, run by `p4cc run`."""
    folder = options.folder / "virtual"
    outcome = run_scenario(
        RunRequest(
            Path(request.file),
            out=folder,
            overrides=request.overrides,
            variants=variants,
            figures=False,
            quiet=True,
            force=options.force,
        )
    )
    runs = {run["variant"]: run for run in reversed(outcome.summary["runs"])}
    windows, queues = (read_table(folder, table) for table in ("windows", "queues"))
    return [
        Side(
            variant,
            "virtual",
            {name: runs[variant].get(name) for name in (*SHOWN, *_DEADLINES)},
            _of(windows, variant, runs[variant]["seed"]),
            _bottleneck(_of(queues, variant, runs[variant]["seed"])),
        )
        for variant in variants
    ]


def _of(frame: pl.DataFrame | None, variant: str, seed: int) -> pl.DataFrame:
    if frame is None:
        return pl.DataFrame()
    return frame.filter((pl.col("variant") == variant) & (pl.col("seed") == seed))


def _bottleneck(queues: pl.DataFrame) -> pl.DataFrame:
    """The queue that was longest, in a star the one that fills."""
    if queues.is_empty():
        return queues
    return queues.group_by("time_ns").agg(pl.col("depth_pkts").max()).sort("time_ns")


def draw(sides: list[Side], path: Path) -> Path:
    """A column per variant, rows for queue and windows of each clock, on one time axis."""
    # Plotting takes half a second to import.
    from p4cc.figures.picture import write

    return write(chart(sides), path)


def chart(sides: list[Side]) -> Chart:
    """The data of `draw`."""
    variants = list(dict.fromkeys(side.variant for side in sides))
    clocks = [clock for clock in _CLOCKS if any(side.clock == clock for side in sides)]
    rows = [(column, label, clock) for column, label in _PANELS for clock in clocks]
    shared = [one for one in _SHARED if any(_values(side.windows, one[0]) for side in sides)]
    end_ms = max((_last_ms(side) for side in sides), default=1.0)
    panels: list[Panel] = []
    for row, (column, label, clock) in enumerate(rows):
        for at, variant in enumerate(variants):
            shown = [side for side in sides if (side.variant, side.clock) == (variant, clock)]
            lines = [line for side in shown for line in _lines(side, column)]
            name = f"{label}\n{_CLOCKS[clock]}"
            panels.append(
                Panel(
                    Axis(*_time(last=not shared and row == len(rows) - 1), low=0, high=end_ms),
                    Axis("" if at else name, low=0),
                    lines,
                    "" if row else variant,
                    "not recorded" if shown and not lines else "",
                )
            )
    named = _legend_at(sides, [column for column, _, _ in shared], variants)
    for row, (column, label, scale) in enumerate(shared):
        for at, variant in enumerate(variants):
            has_legend = (column, variant) == named
            lines = [
                line
                for side in _having(sides, column, variant)
                for line in _flow_lines(side, column, scale, _CLOCKS[side.clock] if has_legend else "")
            ]
            panels.append(
                Panel(
                    Axis(*_time(last=row == len(shared) - 1), low=0, high=end_ms),
                    Axis("" if at else label, low=0),
                    lines,
                    "",
                    _missing(lines),
                    legend=has_legend,
                )
            )
    height = 1.7 * (len(rows) + len(shared)) + 0.6
    return Chart("", panels, (4.4 * len(variants), height), len(variants))


def _having(sides: list[Side], column: str, variant: str) -> list[Side]:
    return [side for side in sides if side.variant == variant and _values(side.windows, column)]


def _legend_at(sides: list[Side], shared: list[str], variants: list[str]) -> tuple[str, str] | None:
    """The first shared panel with lines of as many clocks as any."""
    panels = [(column, variant) for column in shared for variant in variants]
    return max(panels, key=lambda panel: len(_having(sides, *panel)), default=None)


def _time(*, last: bool) -> tuple[str, str]:
    """Name and unit of the time axis, which only the last row has."""
    return ("time", "ms") if last else ("", "")


def _missing(lines: list[Line]) -> str:
    return "" if lines else "this sender has none"


def _values(frame: pl.DataFrame, column: str) -> bool:
    return column in frame.columns and frame[column].drop_nulls().len() > 0


def _flow_lines(side: Side, column: str, scale: float, label: str) -> list[Line]:
    """A line for each flow; the first one bears the label."""
    colour = _COLOURS.get(side.clock, 1)
    flows = side.windows.drop_nulls(column).sort("time_ns").group_by("flow_id", maintain_order=True)
    return [
        Line(*xy(flow, column, scale), label="" if nth else label, shape="steps", colour=colour, width=0.8, opacity=0.5)
        for nth, (_, flow) in enumerate(flows)
    ]


def _last_ms(side: Side) -> float:
    """When the last flow ended; the last sample where flows have no end."""
    finish_ns = side.numbers.get("finish_ns")
    if finish_ns:
        return finish_ns / 1e6
    times = [frame["time_ns"].max() for frame in (side.windows, side.queues) if "time_ns" in frame.columns]
    return max([cast("int", time) / 1e6 for time in times if time is not None], default=1.0)


def _lines(side: Side, column: str) -> list[Line]:
    frame = side.queues if column == "depth_pkts" else side.windows
    if frame.is_empty() or column not in frame.columns:
        return []
    if column == "depth_pkts":
        return [Line(*xy(frame, column, 1.0), shape="steps", colour=_COLOURS.get(side.clock, 1), width=0.8)]
    return _flow_lines(side, column, 1.0, "")
