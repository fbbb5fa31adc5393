"""Cells of pods by pods that one flow decides: the 95th percentile with and without it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
from matplotlib.figure import Figure

from p4cc.analysis.cells import PERCENT, without_largest
from p4cc.digits import digits
from p4cc.figures.style import COLOURS, at_point, legend, log_scale, need_columns, of_seed, save, say, use_style

if TYPE_CHECKING:
    from pathlib import Path

    from p4cc.scenario.flow_figures import DecidedCellsFigure

_SHOWN = {"fct_ns": ("completion (ms)", 1e-6), "slowdown": ("slowdown", 1.0)}
"""Label and factor of a column."""


def draw(flows: pl.DataFrame, figure: DecidedCellsFigure, folder: Path) -> Path:
    """Draws a line for each cell, from the percentile without its largest flow to that with it; returns the file."""
    need_columns(figure.file, flows, "src_pod", "dst_pod", figure.column)
    of_variant = flows.filter(pl.col("variant") == figure.variant)
    chosen = of_seed(at_point(figure.file, of_variant, figure.over, figure.at), figure.seed)
    rows = without_largest(chosen, figure.column).drop_nulls("ratio").head(figure.cells)
    label, scale = _SHOWN[figure.column]
    use_style()
    page = Figure(figsize=(7.0, 1.2 + 0.24 * max(rows.height, 4)), layout="constrained")
    axes = page.add_subplot()
    places = range(rows.height)
    for column, colour, name in (("p95_without", COLOURS[0], "without"), ("p95", COLOURS[1], "with")):
        values = [float(value) * scale for value in rows[column].to_list()]
        axes.plot(values, places, ls="", marker="o", ms=4, color=colour, label=f"{name} the largest flow")
    for place, row in zip(places, rows.iter_rows(named=True), strict=True):
        axes.plot([row["p95_without"] * scale, row["p95"] * scale], [place, place], color="0.7", zorder=0)
    names = [
        f"({row['src_pod']},{row['dst_pod']}): {row['flows']} flows, {digits(row['largest_bytes'] / 1e6, 2)} MB"
        for row in rows.iter_rows(named=True)
    ]
    axes.set_yticks(list(places), names)
    axes.invert_yaxis()
    if rows.is_empty():
        say(axes, "no cell has two complete flows")
    else:
        log_scale(axes, x=True)
        legend(axes)
    axes.set_xlabel(f"{label}, p{PERCENT} of a cell")
    page.suptitle(figure.title)
    return save(page, folder / figure.file)
