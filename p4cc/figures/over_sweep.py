"""Medians over the swept parameter, one line per variant, with the 5-95 % band of the seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from p4cc.analysis.human import swept
from p4cc.figures.chart import Axis, Chart, Line, Panel, axis_label
from p4cc.figures.counts import left_out, meanings, named_interval, numbered, samples, spread
from p4cc.figures.rows import need_columns

if TYPE_CHECKING:
    from p4cc.analysis.intervals import Interval
    from p4cc.figures.chart import Mark
    from p4cc.scenario.figures import Panel as PanelSpec
    from p4cc.scenario.figures import SweepFigure

_NAMED_POINTS = 8


def chart(runs: pl.DataFrame, figure: SweepFigure, interval: Interval = "range") -> Chart:
    """A panel per column, from one row per run; raises UserError for an unknown column."""
    need_columns(figure.file, runs, figure.x, *(panel.y for panel in figure.panels))
    variants = runs["variant"].unique(maintain_order=True).to_list()
    notes: list[str] = []
    panels: list[Panel] = []
    for panel in figure.panels:
        points = spread(runs, figure.x, panel.y, panel.scale, interval)
        lines = _lines(runs, points, panel, variants, interval)
        notes += meanings(points, panel.y, "hollow")
        panels.append(_panel(points, figure, panel, lines))
    notes += named_interval("band", interval)
    return Chart(figure.title, panels, (4.2 * len(panels), 3.2), notes=notes, variants=variants, legend="each")


def _lines(
    runs: pl.DataFrame, points: pl.DataFrame, spec: PanelSpec, variants: list[str], interval: Interval
) -> list[Mark]:
    """A line of each variant through its points of `spread`, whose second column is the swept one."""
    swept_column = points.columns[1]
    marks: list[Mark] = []
    for number, variant in enumerate(variants):
        line = points.filter(pl.col("variant") == variant)
        x = line[swept_column].to_list()
        few = line.with_row_index().filter(pl.col("few") & pl.col("median").is_not_null())
        marks.append(
            Line(
                x,
                line["median"].to_list(),
                numbered(variant, [*line["least"], *line["most"]]),
                variant=variant,
                marker="own",
                band=(line["low"].to_list(), line["high"].to_list()),
                few=few["index"].to_list(),
                samples=samples(runs, variant, line[swept_column], spec.y, spec.scale, interval),
            )
        )
        marks += left_out(line, x, "median", variant, number)
    return marks


def _panel(points: pl.DataFrame, figure: SweepFigure, spec: PanelSpec, marks: list[Mark]) -> Panel:
    ticks = _named(figure.x, points[figure.x].unique().to_list()) if figure.x_log else None
    return Panel(
        Axis(figure.x_label or figure.x, log=figure.x_log, ticks=ticks, tick_size=7),
        Axis(axis_label(spec.y, spec.label), log=spec.log, low=0),
        marks,
        spec.title,
        f"no run has a value of {spec.y}" if points["median"].is_null().all() else "",
    )


def _named(name: str, values: list[float | str]) -> list[tuple[float, str]] | None:
    """The swept values themselves at a logarithmic axis, in their unit, where there is room for each."""
    numbers = sorted(value for value in values if isinstance(value, int | float) and value > 0)
    if len(values) == len(numbers) <= _NAMED_POINTS:
        return [(value, swept(name, value)) for value in numbers]
    return None
