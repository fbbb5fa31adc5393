"""Counters and registers of the programs over time: a line for each cell, a panel for each variant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
from matplotlib.figure import Figure

from p4cc.figures.style import COLOURS, legend, log_scale, need_columns, note, of_seed, save, say, split, use_style
from p4cc.planning.state_records import matches

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from matplotlib.axes import Axes

    from p4cc.scenario.state_records import StateFigure

_LINES = ("-", "--", ":", "-.")


def table_of(figure: StateFigure) -> str:
    """The table that a figure draws."""
    return "program_registers" if figure.y == "value" else "program_counters"


def draw(samples: pl.DataFrame, figure: StateFigure, folder: Path, interval_ns: int) -> Path:
    """Draws the figure of samples taken at this interval; returns the file written."""
    array = "register" if figure.y == "value" else "counter"
    need_columns(figure.file, samples, "time_ns", "switch", array, "index", figure.y)
    chosen = of_seed(samples, figure.seed).rename({array: "array"})
    until_ns = int(str(chosen["time_ns"].max() or 0))
    names = {name for name in chosen["array"].unique().to_list() if matches(name, figure.names)}
    switches = {name for name in chosen["switch"].unique().to_list() if matches(name, figure.switches)}
    rows = chosen.filter(pl.col("array").is_in(names) & pl.col("switch").is_in(switches))
    if figure.indices is not None:
        rows = rows.filter(pl.col("index").is_in(figure.indices))
    use_style()
    groups = split(rows, None)
    page = Figure(figsize=(4.6 * max(len(groups), 1), 3.2), layout="constrained")
    for number, (variant, _, rows) in enumerate(groups):
        axes = page.add_subplot(1, len(groups), number + 1)
        left_out = _draw_panel(axes, rows, figure, until_ns, interval_ns)
        axes.set_title(variant)
        axes.set_xlabel("time (ms)")
        if number == 0:
            axes.set_ylabel(figure.label or (f"{figure.y} per second" if figure.per_second else figure.y))
        if left_out:
            note(page, f"{figure.lines} cells, those with the largest last values, of up to {left_out + figure.lines}")
    if not groups:
        say(page.add_subplot(), "no cell of these changed")
    page.suptitle(figure.title)
    return save(page, folder / figure.file)


def _draw_panel(axes: Axes, rows: pl.DataFrame, figure: StateFigure, until_ns: int, interval_ns: int) -> int:
    """Draws the cells of a variant; how many there are beyond the lines that it may have."""
    cells = [(key, group) for key, group in rows.group_by("switch", "array", "index", maintain_order=True)]
    largest = sorted(cells, key=lambda cell: -float(cell[1][figure.y][-1]))[: figure.lines]
    keys = {key for key, _ in largest}
    for number, (key, group) in enumerate((key, group) for key, group in cells if key in keys):
        switch, array, index = key
        name = str(array).rsplit(".", 1)[-1]
        times, values = zip(*_steps(group, figure, until_ns, interval_ns), strict=True)
        axes.step(
            times,
            values,
            where="post",
            label=f"{switch} {name}[{index}]",
            color=COLOURS[number % len(COLOURS)],
            linestyle=_LINES[number // len(COLOURS) % len(_LINES)],
        )
    if figure.log:
        log_scale(axes)
    else:
        axes.set_ylim(bottom=0)
    legend(axes)
    return max(0, len(cells) - figure.lines)


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
