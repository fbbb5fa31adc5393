"""Percentiles of the flows over a swept parameter, such as the load; one line per variant and percentile."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from p4cc.analysis.percentiles import fewest, percentile
from p4cc.figures.cdf import nothing, of_classes
from p4cc.figures.chart import Axis, Chart, Line, Panel, axis_label
from p4cc.figures.counts import numbered, of_few
from p4cc.figures.rows import need_columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from p4cc.scenario.figures import Panel as PanelSpec
    from p4cc.scenario.figures import PercentilesFigure

# Size of a panel, and of the legend next to them, in inches.
_PANEL_WIDTH, _LEGEND_WIDTH = 4.4, 2.2
# Panels per row if there are many, and the size of each.
_IN_A_ROW, _SMALL_WIDTH, _SMALL_HEIGHT = 3, 3.2, 2.8


def chart(flows: pl.DataFrame, figure: PercentilesFigure) -> Chart:
    """A panel per column, or per column and percentile."""
    need_columns(figure.file, flows, figure.x, *(panel.y for panel in figure.panels))
    chosen = of_classes(flows, figure.classes)
    variants = chosen["variant"].unique(maintain_order=True).to_list()
    few: set[float] = set()
    panels = [_panel(chosen, figure, panel, percents, few) for panel, percents in _panels(figure)]
    notes = [of_few("hollow", few)] if few else []
    labels = [_labelled(chosen.filter(pl.col("variant") == name), figure, name) for name in variants]
    # Colour and marker say the variant, the line the percentile: an entry for each, not for each pair.
    keys = [Line([], [], label, colour=at, marker="own") for at, label in enumerate(labels)]
    if figure.panel_per_percentile:
        # The legend takes a place behind the last panel.
        columns = min(_IN_A_ROW, len(panels) + 1)
        size = (_SMALL_WIDTH * columns, _SMALL_HEIGHT * -(-(len(panels) + 1) // columns) + 0.4)
        return Chart(figure.title, panels, size, columns, notes, variants, "last", keys)
    keys += [Line([], [], f"p{percent:g}", colour="black", dash=at) for at, percent in enumerate(figure.percentiles)]
    size = (_PANEL_WIDTH * len(panels) + _LEGEND_WIDTH, 3.4)
    return Chart(figure.title, panels, size, None, notes, variants, "beside", keys)


def _panels(figure: PercentilesFigure) -> Iterator[tuple[PanelSpec, Sequence[float]]]:
    for panel in figure.panels:
        if figure.panel_per_percentile:
            yield from ((panel, [percent]) for percent in figure.percentiles)
        else:
            yield panel, figure.percentiles


def _panel(
    flows: pl.DataFrame, figure: PercentilesFigure, spec: PanelSpec, percents: Sequence[float], few: set[float]
) -> Panel:
    """A line per variant and percentile; adds the percentiles that are of few values somewhere."""
    lines: list[Line] = []
    for variant in flows["variant"].unique(maintain_order=True):
        of_variant = flows.filter(pl.col("variant") == variant)
        for dash, percent in enumerate(percents):
            points = percentile_by(of_variant, figure.x, spec.y, percent)
            hollow = [place for place, count in enumerate(points["count"]) if count < fewest(percent)]
            few |= {percent} if hollow else set()
            lines.append(
                Line(
                    points[figure.x].to_list(),
                    (points["value"] * spec.scale).to_list(),
                    name=f"{variant}, p{percent:g}",
                    variant=variant,
                    dash=dash,
                    marker="own",
                    few=hollow,
                )
            )
    title = spec.title
    if figure.panel_per_percentile:
        title = ", ".join(filter(None, (spec.title, f"p{percents[0]:g}")))
    return Panel(
        Axis(figure.x_label or figure.x),
        Axis(axis_label(spec.y, spec.label), log=spec.log, low=0),
        lines,
        title,
        nothing(flows) if flows[spec.y].drop_nulls().is_empty() else "",
    )


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
