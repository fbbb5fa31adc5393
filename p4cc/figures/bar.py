"""Medians as bars with the 5-95 % range of the seeds: groups along x, a bar per variant."""

# matplotlib's stubs leave **kwargs untyped.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
from matplotlib.figure import Figure

from p4cc.figures.over_sweep import spread
from p4cc.figures.style import COLOURS, label_axes, legend, need_columns, save, use_style

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

    from p4cc.scenario.figures import BarFigure, Panel


def draw(runs: pl.DataFrame, figure: BarFigure, folder: Path) -> Path:
    """Draws a panel per column; returns the file written."""
    need_columns(figure.file, runs, *(() if figure.x is None else (figure.x,)), *(panel.y for panel in figure.panels))
    use_style()
    page = Figure(figsize=(4.2 * len(figure.panels), 3.2), layout="constrained")
    for position, panel in enumerate(figure.panels):
        axes = page.add_subplot(1, len(figure.panels), position + 1)
        _draw_panel(axes, runs, figure, panel)
        if position == 0 and figure.x is not None:
            legend(axes)
    page.suptitle(figure.title)
    return save(page, folder / figure.file)


def _draw_panel(axes: Axes, runs: pl.DataFrame, figure: BarFigure, panel: Panel) -> None:
    # Without a swept column the variants themselves stand along x.
    frame = runs if figure.x is not None else runs.with_columns(pl.lit("").alias("_one"))
    points = spread(frame, figure.x or "_one", panel.y, panel.scale)
    groups = points[figure.x or "_one"].unique(maintain_order=True).to_list()
    variants = points["variant"].unique(maintain_order=True).to_list()
    width = 0.8 / len(variants)
    for number, variant in enumerate(variants):
        line = points.filter(pl.col("variant") == variant)
        places = [
            groups.index(group) + (number - (len(variants) - 1) / 2) * width
            for group in line[figure.x or "_one"].to_list()
        ]
        middle = line["median"].fill_null(0.0)
        below = (middle - line["low"].fill_null(0.0)).clip(0.0).to_list()
        above = (line["high"].fill_null(0.0) - middle).clip(0.0).to_list()
        axes.bar(
            places,
            middle.to_list(),
            width * 0.95,
            yerr=[below, above],
            capsize=2,
            color=COLOURS[number % len(COLOURS)],
            label=variant,
        )
    if figure.x is None:
        axes.set_xticks([(number - (len(variants) - 1) / 2) * width for number in range(len(variants))], variants)
    else:
        axes.set_xticks(range(len(groups)), [str(group) for group in groups])
    label_axes(axes, panel, figure.x_label or figure.x or "")
