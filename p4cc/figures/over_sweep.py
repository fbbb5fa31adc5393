"""Medians over the swept parameter, one line per variant, with the 5-95 % band of the seeds."""

# matplotlib's stubs leave **kwargs untyped.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from pathlib import Path

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from p4cc.errors import UserError
from p4cc.figures.style import COLOURS, MARKERS, save, use_style
from p4cc.scenario.schema import Panel, SweepFigure


def draw(runs: pl.DataFrame, figure: SweepFigure, folder: Path) -> Path:
    """Draws `figure` from one row per run and returns the file written; raises UserError for an unknown column."""
    for column in (figure.x, *(panel.y for panel in figure.panels)):
        if column not in runs.columns:
            raise UserError(
                f"figure {figure.file}: the runs have no column {column!r}",
                remedy=f"columns: {', '.join(runs.columns)}",
            )
    use_style()
    count = len(figure.panels)
    page = Figure(figsize=(4.2 * count, 3.2), layout="constrained")
    for position, panel in enumerate(figure.panels):
        axes = page.add_subplot(1, count, position + 1)
        _draw_panel(axes, runs, figure, panel)
        if position == 0:
            axes.legend()
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
    if panel.log:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    axes.set_title(panel.title)
    axes.set_xlabel(figure.x_label or figure.x)
    axes.set_ylabel(panel.label or panel.y)
