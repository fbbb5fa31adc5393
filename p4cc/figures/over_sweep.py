"""Medians over the swept parameter, one line per variant, with the 5-95 % band of the seeds."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from p4cc.analysis.human import swept
from p4cc.analysis.intervals import Interval
from p4cc.figures.counts import mark_few, mark_left_out, numbered, say_interval, say_marks, spread
from p4cc.figures.style import COLOURS, MARKERS, label_axes, legends, log_scale, need_columns, save, say, use_style
from p4cc.scenario.figures import Panel, SweepFigure

_NAMED_POINTS = 8


def draw(runs: pl.DataFrame, figure: SweepFigure, folder: Path, interval: Interval = "range") -> Path:
    """Draws `figure` from one row per run and returns the file written; raises UserError for an unknown column."""
    need_columns(figure.file, runs, figure.x, *(panel.y for panel in figure.panels))
    use_style()
    count = len(figure.panels)
    page = Figure(figsize=(4.2 * count, 3.2), layout="constrained")
    for position, panel in enumerate(figure.panels):
        axes = page.add_subplot(1, count, position + 1)
        _draw_panel(page, axes, spread(runs, figure.x, panel.y, panel.scale, interval), figure, panel)
    say_interval(page, "band", interval)
    legends(page)
    page.suptitle(figure.title)
    return save(page, folder / figure.file)


def _draw_panel(page: Figure, axes: Axes, points: pl.DataFrame, figure: SweepFigure, panel: Panel) -> None:
    for number, variant in enumerate(points["variant"].unique(maintain_order=True)):
        line = points.filter(pl.col("variant") == variant)
        x = line[figure.x].to_list()
        colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
        label = numbered(variant, [*line["least"], *line["most"]])
        axes.plot(x, line["median"].to_numpy(), color=colour, marker=marker, ms=4, label=label)
        few = line.filter(pl.col("few") & pl.col("median").is_not_null())
        mark_few(axes, list(few.select(figure.x, "median").iter_rows()), colour, marker)
        for row in line.filter(pl.col("valued") < pl.col("runs")).iter_rows(named=True):
            mark_left_out(axes, row[figure.x], row["median"], f"{row['valued']}/{row['runs']}", number, colour)
        axes.fill_between(x, line["low"].to_numpy(), line["high"].to_numpy(), color=colour, alpha=0.2, linewidth=0)
    say_marks(page, points, panel.y, "hollow")
    if points["median"].is_null().all():
        say(axes, f"no run has a value of {panel.y}")
    if figure.x_log:
        log_scale(axes, x=True)
        _name_points(axes, figure.x, points[figure.x].unique().to_list())
    label_axes(axes, panel, figure.x_label or figure.x)


def _name_points(axes: Axes, name: str, values: list[float | str]) -> None:
    """The swept values themselves at a logarithmic axis, in their unit, where there is room for each."""
    numbers = sorted(value for value in values if isinstance(value, int | float) and value > 0)
    if len(values) == len(numbers) <= _NAMED_POINTS:
        axes.set_xticks(numbers, [swept(name, value) for value in numbers], fontsize=7)
        axes.xaxis.set_minor_locator(NullLocator())
