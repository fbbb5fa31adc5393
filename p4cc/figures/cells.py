"""Cells of pods by pods that one flow decides: the 95th percentile with and without it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from p4cc.analysis.cells import PERCENT, without_largest
from p4cc.digits import digits
from p4cc.figures.chart import Axis, Chart, Line, Panel
from p4cc.figures.rows import at_point, need_columns, of_seed

if TYPE_CHECKING:
    from p4cc.scenario.flow_figures import DecidedCellsFigure

_SHOWN = {"fct_ns": ("completion (ms)", 1e-6), "slowdown": ("slowdown", 1.0)}
"""Label and factor of a column."""


def chart(flows: pl.DataFrame, figure: DecidedCellsFigure) -> Chart:
    """A line for each cell, from the percentile without its largest flow to that with it."""
    need_columns(figure.file, flows, "src_pod", "dst_pod", figure.column)
    of_variant = flows.filter(pl.col("variant") == figure.variant)
    chosen = of_seed(at_point(figure.file, of_variant, figure.over, figure.at), figure.seed)
    rows = without_largest(chosen, figure.column).drop_nulls("ratio").head(figure.cells)
    label, scale = _SHOWN[figure.column]
    places = list(range(rows.height))
    without, whole = ([float(one) * scale for one in rows[name]] for name in ("p95_without", "p95"))
    ends = (("without the largest flow", without), ("with the largest flow", whole))
    marks = [
        Line(values, places, name, colour=colour, dash=None, marker="o") for colour, (name, values) in enumerate(ends)
    ]
    names = [
        f"({row['src_pod']},{row['dst_pod']}): {row['flows']} flows, {digits(row['largest_bytes'] / 1e6, 2)} MB"
        for row in rows.iter_rows(named=True)
    ]
    marks += [
        Line([low, high], [place, place], name=name, colour="grey")
        for place, name, low, high in zip(places, names, without, whole, strict=True)
    ]
    panel = Panel(
        Axis(f"{label}, p{PERCENT} of a cell", log=not rows.is_empty()),
        Axis(ticks=list(zip(places, names, strict=True)), reversed=True),
        marks,
        says="no cell has two complete flows" if rows.is_empty() else "",
        legend=not rows.is_empty(),
    )
    return Chart(figure.title, [panel], (7.0, 1.2 + 0.24 * max(rows.height, 4)))
