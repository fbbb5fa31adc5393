"""Percentiles of the flows over a swept parameter, such as the load; one line per variant and percentile."""

# matplotlib's stubs leave **kwargs untyped.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
from matplotlib.figure import Figure

from p4cc.figures.cdf import of_classes
from p4cc.figures.style import COLOURS, MARKERS, label_axes, need_columns, save, use_style

if TYPE_CHECKING:
    from pathlib import Path

    from p4cc.scenario.figures import PercentilesFigure

_LINES = ("-", "--", ":", "-.")


def draw(flows: pl.DataFrame, figure: PercentilesFigure, folder: Path) -> Path:
    """Draws a panel per column; returns the file written."""
    need_columns(figure.file, flows, figure.x, *(panel.y for panel in figure.panels))
    chosen = of_classes(flows, figure.classes)
    use_style()
    page = Figure(figsize=(4.4 * len(figure.panels), 3.4), layout="constrained")
    for position, panel in enumerate(figure.panels):
        axes = page.add_subplot(1, len(figure.panels), position + 1)
        for number, (variant,) in enumerate(chosen.select("variant").unique(maintain_order=True).iter_rows()):
            of_variant = chosen.filter(pl.col("variant") == variant)
            for line, percent in enumerate(figure.percentiles):
                points = percentile_by(of_variant, figure.x, panel.y, percent)
                axes.plot(
                    points[figure.x].to_list(),
                    (points["value"] * panel.scale).to_list(),
                    color=COLOURS[number % len(COLOURS)],
                    linestyle=_LINES[line % len(_LINES)],
                    marker=MARKERS[number % len(MARKERS)],
                    ms=4,
                    label=f"{variant} p{percent:g}",
                )
        label_axes(axes, panel, figure.x_label or figure.x)
        if position == 0:
            axes.legend()
    page.suptitle(figure.title)
    return save(page, folder / figure.file)


def percentile_by(flows: pl.DataFrame, x: str, y: str, percent: float) -> pl.DataFrame:
    """The value at index `int(n p)` of the sorted ones (spec 17) for each `x`: columns `x` and `value`."""
    values = flows.select(x, value=pl.col(y).cast(pl.Float64)).filter(pl.col("value") >= 0)
    place = (pl.len() * percent / 100).cast(pl.Int64).clip(0, pl.len().cast(pl.Int64) - 1)
    return values.group_by(x).agg(pl.col("value").sort().get(place)).sort(x)
