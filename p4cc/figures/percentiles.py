"""Percentiles of the flows over a swept parameter, such as the load; one line per variant and percentile."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from p4cc.analysis.percentiles import fewest, percentile
from p4cc.figures.cdf import nothing, of_classes
from p4cc.figures.counts import mark_few, numbered, say_few
from p4cc.figures.style import COLOURS, MARKERS, label_axes, need_columns, save, say, use_style

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

    from p4cc.scenario.figures import Panel, PercentilesFigure

_LINES = ("-", "--", ":", "-.", (0, (5, 1, 1, 1, 1, 1)))
# Room of a panel, and for the legend beside them, in inches.
_PANEL_WIDTH, _LEGEND_WIDTH = 4.4, 2.2
# Panels beside each other where there are many, and what room each has.
_IN_A_ROW, _SMALL_WIDTH, _SMALL_HEIGHT = 3, 3.2, 2.8


def draw(flows: pl.DataFrame, figure: PercentilesFigure, folder: Path) -> Path:
    """Draws a panel per column, or per column and percentile; returns the file written."""
    need_columns(figure.file, flows, figure.x, *(panel.y for panel in figure.panels))
    chosen = of_classes(flows, figure.classes)
    use_style()
    variants = chosen["variant"].unique(maintain_order=True).to_list()
    few_percents: set[float] = set()
    panels = list(_panels(figure))
    rows, columns = 1, len(panels)
    size = (_PANEL_WIDTH * columns + _LEGEND_WIDTH, 3.4)
    if figure.panel_per_percentile:
        # The legend takes a place behind the last panel.
        columns = min(_IN_A_ROW, len(panels) + 1)
        rows = -(-(len(panels) + 1) // columns)
        size = (_SMALL_WIDTH * columns, _SMALL_HEIGHT * rows + 0.4)
    page = Figure(figsize=size, layout="constrained")
    for position, (panel, percents) in enumerate(panels):
        axes = page.add_subplot(rows, columns, position + 1)
        few_percents |= _draw_panel(axes, chosen, figure, panel, percents)
        if chosen[panel.y].drop_nulls().is_empty():
            say(axes, nothing(chosen))
        label_axes(axes, panel, figure.x_label or figure.x)
        if figure.panel_per_percentile:
            axes.set_title(", ".join(filter(None, (panel.title, f"p{percents[0]:g}"))))
    if few_percents:
        say_few(page, "hollow", few_percents)
    labels = [_labelled(chosen.filter(pl.col("variant") == name), figure, name) for name in variants]
    if figure.panel_per_percentile:
        beside = page.add_subplot(rows, columns, len(panels) + 1)
        beside.set_axis_off()
        beside.legend(handles=_legend(labels, []), loc="center", fontsize="small")
    else:
        page.legend(handles=_legend(labels, figure.percentiles), loc="outside right center")
    page.suptitle(figure.title)
    return save(page, folder / figure.file)


def _panels(figure: PercentilesFigure) -> Iterator[tuple[Panel, Sequence[float]]]:
    for panel in figure.panels:
        if figure.panel_per_percentile:
            yield from ((panel, [percent]) for percent in figure.percentiles)
        else:
            yield panel, figure.percentiles


def _draw_panel(
    axes: Axes, flows: pl.DataFrame, figure: PercentilesFigure, panel: Panel, percents: Sequence[float]
) -> set[float]:
    """A line per variant and percentile; the percentiles that are of few values somewhere."""
    few_percents: set[float] = set()
    for number, variant in enumerate(flows["variant"].unique(maintain_order=True)):
        of_variant = flows.filter(pl.col("variant") == variant)
        colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
        for line, percent in enumerate(percents):
            points = percentile_by(of_variant, figure.x, panel.y, percent)
            values = points.with_columns(pl.col("value") * panel.scale)
            axes.plot(
                values[figure.x].to_list(),
                values["value"].to_list(),
                color=colour,
                linestyle=_LINES[line % len(_LINES)],
                marker=marker,
                ms=4,
            )
            few = values.filter(pl.col("count") < fewest(percent))
            if few.height:
                mark_few(axes, list(few.select(figure.x, "value").iter_rows()), colour, marker)
                few_percents.add(percent)
    return few_percents


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


def _labelled(rows: pl.DataFrame, figure: PercentilesFigure, variant: str) -> str:
    """A variant with the number of values behind each of its points, of the first panel's column."""
    column = figure.panels[0].y
    return numbered(variant, percentile_by(rows, figure.x, column, 50)["count"], rows[column].null_count())


def percentile_by(flows: pl.DataFrame, x: str, y: str, percent: float) -> pl.DataFrame:
    """A percentile for each `x` of the rows that have a value, with their number: columns `x`, `value`, `count`."""
    values = flows.select(x, value=pl.col(y).cast(pl.Float64)).drop_nulls("value")
    rows = [
        (key, percentile(group["value"].to_numpy(), percent), group.height)
        for (key,), group in values.group_by(x, maintain_order=True)
    ]
    schema = {x: flows.schema[x], "value": pl.Float64, "count": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row").sort(x)
