"""Cumulative distributions over all flows (or rounds) of a variant, all seeds together."""

# matplotlib's stubs leave **kwargs untyped.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
from matplotlib.figure import Figure

from p4cc.figures.style import COLOURS, need_columns, save, use_style

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from p4cc.scenario.figures import CdfFigure

# A line through more points than this looks the same and takes seconds.
_MAX_POINTS = 2_000


def draw(table: pl.DataFrame, figure: CdfFigure, folder: Path) -> Path:
    """Draws a panel per column and a line per variant; returns the file written."""
    need_columns(figure.file, table, *(panel.y for panel in figure.panels))
    chosen = of_classes(table, figure.classes)
    use_style()
    page = Figure(figsize=(4.2 * len(figure.panels), 3.2), layout="constrained")
    for position, panel in enumerate(figure.panels):
        axes = page.add_subplot(1, len(figure.panels), position + 1)
        for number, (variant,) in enumerate(chosen.select("variant").unique(maintain_order=True).iter_rows()):
            values, shares = distribution(chosen.filter(pl.col("variant") == variant)[panel.y], panel.scale)
            axes.step(values, shares, where="post", color=COLOURS[number % len(COLOURS)], label=variant)
        if figure.x_log:
            axes.set_xscale("log")
        axes.set_ylim(0, 1)
        axes.set_title(panel.title)
        axes.set_xlabel(panel.label or panel.y)
        axes.set_ylabel("share")
        if position == 0:
            axes.legend()
    page.suptitle(figure.title)
    return save(page, folder / figure.file)


def of_classes(flows: pl.DataFrame, classes: Sequence[str] | None) -> pl.DataFrame:
    """Rows with these labels of traffic; all of them without labels."""
    return flows if classes is None else flows.filter(pl.col("class").is_in(classes))


def distribution(column: pl.Series, scale: float) -> tuple[list[float], list[float]]:
    """Values in order with the share of values up to each; what is missing (-1, NaN) is left out."""
    values = column.cast(pl.Float64).fill_nan(None).drop_nulls()
    ordered = (values.filter(values >= 0) * scale).sort()
    count = len(ordered)
    if count == 0:
        return [], []
    step = -(-count // _MAX_POINTS)
    places = sorted({*range(step - 1, count, step), count - 1})
    return [ordered[0], *(ordered[place] for place in places)], [0.0, *((place + 1) / count for place in places)]
