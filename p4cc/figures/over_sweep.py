"""Medians over the swept parameter, one line per variant, with the 5-95 % band of the seeds."""

# matplotlib's stubs leave **kwargs untyped.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from pathlib import Path

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from p4cc.figures.style import COLOURS, MARKERS, label_axes, legend, log_scale, need_columns, save, use_style
from p4cc.scenario.figures import Panel, SweepFigure


def draw(runs: pl.DataFrame, figure: SweepFigure, folder: Path) -> Path:
    """Draws `figure` from one row per run and returns the file written; raises UserError for an unknown column."""
    need_columns(figure.file, runs, figure.x, *(panel.y for panel in figure.panels))
    use_style()
    count = len(figure.panels)
    page = Figure(figsize=(4.2 * count, 3.2), layout="constrained")
    for position, panel in enumerate(figure.panels):
        axes = page.add_subplot(1, count, position + 1)
        _draw_panel(axes, runs, figure, panel)
        if position == 0:
            legend(axes)
    page.suptitle(figure.title)
    return save(page, folder / figure.file)


def spread(runs: pl.DataFrame, x: str, y: str, scale: float) -> pl.DataFrame:
    """Median, 5th and 95th percentile of `y * scale` by variant (in order of appearance) and `x`."""
    value = pl.col(y).cast(pl.Float64) * scale
    return (
        runs.group_by("variant", x, maintain_order=True)
        .agg(
            value.median().alias("median"),
            value.quantile(0.05, "linear").alias("low"),
            value.quantile(0.95, "linear").alias("high"),
        )
        .sort(x, maintain_order=True)
    )


def _draw_panel(axes: Axes, runs: pl.DataFrame, figure: SweepFigure, panel: Panel) -> None:
    points = spread(runs, figure.x, panel.y, panel.scale)
    for number, variant in enumerate(runs["variant"].unique(maintain_order=True)):
        line = points.filter(pl.col("variant") == variant)
        x = line[figure.x].to_list()
        colour = COLOURS[number % len(COLOURS)]
        axes.plot(
            x,
            line["median"].to_list(),
            color=colour,
            marker=MARKERS[number % len(MARKERS)],
            ms=4,
            label=variant,
        )
        axes.fill_between(x, line["low"].to_list(), line["high"].to_list(), color=colour, alpha=0.2, linewidth=0)
    if figure.x_log:
        log_scale(axes, x=True)
    label_axes(axes, panel, figure.x_label or figure.x)
