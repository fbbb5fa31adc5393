"""Percentiles of the flows over a swept parameter, such as the load; one line per variant and percentile."""

# matplotlib's stubs leave **kwargs untyped.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from p4cc.figures.cdf import of_classes
from p4cc.figures.style import COLOURS, MARKERS, label_axes, need_columns, save, use_style

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from p4cc.scenario.figures import PercentilesFigure

_LINES = ("-", "--", ":", "-.", (0, (5, 1, 1, 1, 1, 1)))
# Room beside the panels for the legend, in inches.
_LEGEND_WIDTH = 1.5


def draw(flows: pl.DataFrame, figure: PercentilesFigure, folder: Path) -> Path:
    """Draws a panel per column; returns the file written."""
    need_columns(figure.file, flows, figure.x, *(panel.y for panel in figure.panels))
    chosen = of_classes(flows, figure.classes)
    use_style()
    variants = chosen["variant"].unique(maintain_order=True).to_list()
    page = Figure(figsize=(4.4 * len(figure.panels) + _LEGEND_WIDTH, 3.4), layout="constrained")
    for position, panel in enumerate(figure.panels):
        axes = page.add_subplot(1, len(figure.panels), position + 1)
        for number, variant in enumerate(variants):
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
                )
        label_axes(axes, panel, figure.x_label or figure.x)
    page.legend(handles=_legend(variants, figure.percentiles), loc="outside right center")
    page.suptitle(figure.title)
    return save(page, folder / figure.file)


def _legend(variants: Sequence[str], percentiles: Sequence[float]) -> list[Line2D]:
    """Colour and marker say the variant, the line the percentile: an entry for each, not for each pair."""
    by_variant = [
        Line2D([], [], color=COLOURS[at % len(COLOURS)], marker=MARKERS[at % len(MARKERS)], ms=4, label=variant)
        for at, variant in enumerate(variants)
    ]
    by_percentile = [
        Line2D([], [], color="black", linestyle=_LINES[at % len(_LINES)], label=f"p{percent:g}")
        for at, percent in enumerate(percentiles)
    ]
    return [*by_variant, *by_percentile]


def percentile_by(flows: pl.DataFrame, x: str, y: str, percent: float) -> pl.DataFrame:
    """The value at index `int(n p)` of the sorted ones (spec 17) for each `x`: columns `x` and `value`."""
    values = flows.select(x, value=pl.col(y).cast(pl.Float64)).drop_nulls("value")
    place = (pl.len() * percent / 100).cast(pl.Int64).clip(0, pl.len().cast(pl.Int64) - 1)
    return values.group_by(x).agg(pl.col("value").sort().get(place)).sort(x)
