"""Bars in groups along x, one per variant: medians with the 5-95 % range of the seeds, or limits of a swept column."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import polars as pl

from p4cc.analysis.metrics import supported
from p4cc.figures.chart import Axis, Bars, Chart, Panel, axis_label
from p4cc.figures.counts import left_out, meanings, named_interval, numbered, samples, spread
from p4cc.figures.rows import need_columns

if TYPE_CHECKING:
    from p4cc.analysis.intervals import Interval
    from p4cc.figures.chart import Mark
    from p4cc.scenario.figures import BarFigure
    from p4cc.scenario.figures import Panel as PanelSpec

# Of a bar with its name, and of a page, in inches.
_BAR_WIDTH, _PAGE_WIDTH = 0.95, 12.8
_NAME_LETTERS = 12
"""Letters of a line below a bar."""


def chart(runs: pl.DataFrame, figure: BarFigure, interval: Interval = "range") -> Chart:
    """A panel per column."""
    along = [name for name in (figure.x, figure.limit_over) if name is not None]
    need_columns(figure.file, runs, *along, *(panel.y for panel in figure.panels))
    variants = runs["variant"].unique(maintain_order=True).to_list()
    # Names below bars need room side by side, and panels stay as wide as a page.
    width = max(4.2, _BAR_WIDTH * (0 if figure.x is not None else len(variants)))
    across = max(1, min(len(figure.panels), int(_PAGE_WIDTH / width)))
    size = (width * across, 3.2 * -(-len(figure.panels) // across))
    notes: list[str] = []
    panels = [_panel(runs, figure, panel, notes, interval) for panel in figure.panels]
    notes += named_interval("bars' ends", interval)
    return Chart(figure.title, panels, size, across, notes, variants, "" if figure.x is None else "each")


def _panel(runs: pl.DataFrame, figure: BarFigure, spec: PanelSpec, notes: list[str], interval: Interval) -> Panel:
    # Without a swept column, the variants are along x.
    frame, x = (runs, figure.x) if figure.x is not None else (runs.with_columns(pl.lit("").alias("_one")), "_one")
    if figure.limit_over is not None:
        frame = limits(frame, x, figure.limit_over, spec.y)
    points = spread(frame, x, spec.y, spec.scale, interval)
    groups = points[x].unique(maintain_order=True).to_list()
    variants = points["variant"].unique(maintain_order=True).to_list()
    width = 0.8 / len(variants)
    shifts = [(number - (len(variants) - 1) / 2) * width for number in range(len(variants))]
    marks: list[Mark] = []
    for variant, shift in zip(variants, shifts, strict=True):
        line = points.filter(pl.col("variant") == variant)
        shown = line.drop_nulls("median")
        marks.append(
            Bars(
                [groups.index(at) + shift for at in shown[x]],
                shown["median"].to_list(),
                numbered(variant, [*line["least"], *line["most"]]),
                [f"{variant}, {figure.x} {at}" for at in shown[x]] if figure.x is not None else [variant],
                variant,
                width=width * 0.95,
                range=(shown["low"].to_list(), shown["high"].to_list()),
                few=shown["few"].to_list(),
                texts=[] if figure.limit_over is None else [f"{one:g}" for one in shown["median"]],
                samples=None
                if figure.limit_over is not None
                else samples(frame, variant, shown[x], spec.y, spec.scale, interval),
            )
        )
        marks += left_out(line, [groups.index(at) + shift for at in line[x]], "high", variant, 0)
    notes += meanings(points, spec.y, "hatched")
    ticks = [(at, str(group)) for at, group in enumerate(groups)]
    if figure.x is None:
        ticks = list(zip(shifts, _below(points, variants), strict=True))
    return Panel(
        Axis(figure.x_label or figure.x or "", ticks=ticks, tick_size=7 if figure.x is None else None),
        Axis(axis_label(spec.y, spec.label), log=spec.log, low=0),
        marks,
        spec.title,
        f"no run has a value of {spec.y}" if points["median"].is_null().all() else "",
    )


def limits(runs: pl.DataFrame, x: str, over: str, column: str) -> pl.DataFrame:
    """For each variant and `x` the largest `over` up to which the median run has none of `column`, in its place."""
    medians = runs.group_by("variant", x, over, maintain_order=True).agg(pl.col(column).cast(pl.Float64).median())
    rows = [
        {
            "variant": variant,
            x: at,
            # Where no run has a value, the point is not fine; a bar of 0 where not even the first point is.
            column: supported((float(row[over]), row[column] == 0) for row in of_bar.iter_rows(named=True)) or 0.0,
        }
        for (variant, at), of_bar in medians.group_by("variant", x, maintain_order=True)
    ]
    return pl.DataFrame(rows)


def _below(points: pl.DataFrame, variants: list[str]) -> list[str]:
    """Names along x, with the number of values behind percentiles."""
    of = [points.filter(pl.col("variant") == variant) for variant in variants]
    texts: list[str] = []
    for name, line in zip(variants, of, strict=True):
        count = numbered(name, [*line["least"], *line["most"]]).removeprefix(name).strip()
        lines = textwrap.wrap(name, _NAME_LETTERS, break_long_words=False)
        texts.append("\n".join([*lines, *filter(None, [count])]))
    return texts
