"""Counters and registers of the programs over time: a line for each cell, a panel for each variant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from p4cc.figures.chart import Axis, Chart, Line, Panel, saying
from p4cc.figures.rows import need_columns, of_seed, split
from p4cc.planning.state_records import matches

if TYPE_CHECKING:
    from collections.abc import Iterator

    from p4cc.scenario.state_records import StateFigure

_COLOURS = 9
"""Lines beyond so many have a dash."""


def table_of(figure: StateFigure) -> str:
    """The table that a figure draws."""
    return "program_registers" if figure.y == "value" else "program_counters"


def chart(samples: pl.DataFrame, figure: StateFigure, interval_ns: int) -> Chart:
    """The figure of samples taken at this interval."""
    array = "register" if figure.y == "value" else "counter"
    need_columns(figure.file, samples, "time_ns", "switch", array, "index", figure.y)
    chosen = of_seed(samples, figure.seed).rename({array: "array"})
    until_ns = int(str(chosen["time_ns"].max() or 0))
    names = {name for name in chosen["array"].unique().to_list() if matches(name, figure.names)}
    switches = {name for name in chosen["switch"].unique().to_list() if matches(name, figure.switches)}
    rows = chosen.filter(pl.col("array").is_in(names) & pl.col("switch").is_in(switches))
    if figure.indices is not None:
        rows = rows.filter(pl.col("index").is_in(figure.indices))
    groups = split(rows, None)
    if not groups:
        return saying(figure.title, "no cell of these changed", (4.6, 3.2))
    notes: list[str] = []
    panels: list[Panel] = []
    for number, (variant, _, of) in enumerate(groups):
        label = figure.label or (f"{figure.y} per second" if figure.per_second else figure.y)
        y = Axis("" if number else label, log=figure.log, low=0)
        lines = _cells(of, figure, until_ns, interval_ns, notes)
        panels.append(Panel(Axis("time", "ms"), y, lines, variant, variant=variant, legend=True))
    return Chart(figure.title, panels, (4.6 * len(groups), 3.2), notes=notes)


def _cells(rows: pl.DataFrame, figure: StateFigure, until_ns: int, interval_ns: int, notes: list[str]) -> list[Line]:
    """Lines of a variant's cells; a note says how many there are beyond the lines that it may have."""
    cells = [(key, group) for key, group in rows.group_by("switch", "array", "index", maintain_order=True)]
    largest = sorted(cells, key=lambda cell: -float(cell[1][figure.y][-1]))[: figure.lines]
    keys = {key for key, _ in largest}
    lines: list[Line] = []
    for number, (key, group) in enumerate((key, group) for key, group in cells if key in keys):
        switch, array, index = key
        times, values = zip(*_steps(group, figure, until_ns, interval_ns), strict=True)
        label = f"{switch} {str(array).rsplit('.', 1)[-1]}[{index}]"
        lines.append(Line(times, values, label, colour=number, shape="steps", dash=number // _COLOURS))
    if len(cells) > figure.lines:
        notes.append(f"{figure.lines} cells, those with the largest last values, of up to {len(cells)}")
    return lines


def _steps(cell: pl.DataFrame, figure: StateFigure, until_ns: int, interval_ns: int) -> Iterator[tuple[float, float]]:
    """Times in ms and values: 0 before the first row, the last one to the end.

    Rates are changes over the time since the sample before.
    """
    times = cell["time_ns"].cast(pl.Float64).to_list()
    values = (cell[figure.y].cast(pl.Float64) * figure.scale).to_list()
    if not figure.per_second:
        yield 0.0, 0.0
        yield from ((time / 1e6, value) for time, value in zip(times, values, strict=True))
        yield until_ns / 1e6, values[-1]
        return
    # No row, no change: what a row adds came since the sample before it, and nothing came until then.
    last, ended = 0.0, 0.0
    for time, value in zip(times, values, strict=True):
        began = max((time - 1) // interval_ns * interval_ns, 0.0)
        if began > ended:
            yield ended / 1e6, 0.0
        if time > began:
            yield began / 1e6, (value - last) / (time - began) * 1e9
        last, ended = value, time
    yield ended / 1e6, 0.0
    yield until_ns / 1e6, 0.0
