"""A value over two groups of swept parameters as a map, one per variant."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import polars as pl

from p4cc.analysis.human import swept
from p4cc.analysis.metrics import supported
from p4cc.analysis.percentiles import percent_of
from p4cc.digits import digits
from p4cc.errors import UserError
from p4cc.figures.chart import Axis, Chart, Grid, Panel, Scale, axis_label
from p4cc.figures.counts import LEFT_OUT, of_few, runs_behind
from p4cc.figures.rows import need_columns

_LABEL_LETTERS = 28
"""Letters of a line next to a map."""
_IN_A_ROW = 4
"""Maps in a row: more would be small on a page."""

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from p4cc.scenario.figures import HeatMapFigure


def chart(runs: pl.DataFrame, figure: HeatMapFigure) -> Chart:
    """A map per variant, each cell with its number."""
    limit = () if figure.limit_over is None else (figure.limit_over,)
    need_columns(figure.file, runs, *figure.x, *figure.y, figure.value, *limit)
    if both := [name for name in figure.x if name in figure.y]:
        cause = f"figure {figure.file}: {both[0]!r} is on both axes"
        raise UserError(cause, place="figures", remedy="give x and y columns of their own")
    columns, rows = points_of(runs, figure.x), points_of(runs, figure.y)
    variants = runs["variant"].unique(maintain_order=True).to_list()
    maps = [cells(runs.filter(pl.col("variant") == variant), figure) for variant in variants]
    marks = {variant: _marks(runs.filter(pl.col("variant") == variant), figure) for variant in variants}
    drawn = [value * figure.scale for one in maps for value in one.values()]
    scale = Scale(axis_label(figure.value, figure.label), min(drawn, default=0.0), max(drawn, default=1.0))
    lines = [line for row in rows for line in label_of(figure.y, row).splitlines()]
    across = min(_IN_A_ROW, len(variants))
    down = -(-len(variants) // across)
    width = max(2.2, 0.55 * len(columns) + 0.8) * across + 0.07 * max(map(len, lines), default=0) + 1.5
    panels: list[Panel] = []
    for position, (variant, values) in enumerate(zip(variants, maps, strict=True)):
        # All maps have the same rows: the first of each line of maps names them.
        first = position % across == 0
        shown = {cell: value * figure.scale for cell, value in values.items()}
        texts = {cell: f"{_value(value)}{marks[variant].get(cell, '')}" for cell, value in shown.items()}
        grid = Grid(
            [[shown.get((x, y)) for x in columns] for y in rows],
            scale.label,
            [[texts.get((x, y), "") for x in columns] for y in rows],
        )
        x = [(place, label_of(figure.x, point)) for place, point in enumerate(columns)]
        y = [(place, label_of(figure.y, point) if first else "") for place, point in enumerate(rows)]
        panels.append(
            Panel(
                Axis(figure.x_label or ", ".join(figure.x), ticks=x, slanted=True),
                Axis((figure.y_label or ", ".join(figure.y)) if first else "", ticks=y),
                [grid],
                variant,
                "" if values else f"no run has a value of {figure.value}",
                variant=variant,
                ruled=False,
            )
        )
    size = (width, max(2.0, 0.35 * len(lines) + 1.3) * down + 0.4)
    notes = _meanings(figure, {mark for one in marks.values() for mark in one.values()})
    return Chart(figure.title, panels, size, across, list(notes), variants, scale=scale)


Point = tuple[float | str, ...]


def cells(runs: pl.DataFrame, figure: HeatMapFigure) -> dict[tuple[Point, Point], float]:
    """The value of each cell: the median over the seeds, or how far along `limit_over` the median is nothing."""
    along = [] if figure.limit_over is None else [figure.limit_over]
    medians = runs.group_by(*figure.x, *figure.y, *along, maintain_order=True).agg(
        pl.col(figure.value).cast(pl.Float64).median()
    )
    result: dict[tuple[Point, Point], float] = {}
    reached: dict[tuple[Point, Point], list[tuple[float, bool]]] = {}
    for row in medians.iter_rows(named=True):
        cell = (tuple(row[name] for name in figure.x), tuple(row[name] for name in figure.y))
        value = row[figure.value]
        if figure.limit_over is None:
            if value is not None:
                result[cell] = value
        else:
            # Where no run has a value, the point is not fine.
            fine = value == 0 if figure.at_least is None else value is not None and value >= figure.at_least
            reached.setdefault(cell, []).append((float(row[figure.limit_over]), fine))
    # 0 where not even the first point is reached.
    result.update({cell: supported(points) or 0.0 for cell, points in reached.items()})
    return result


def _marks(runs: pl.DataFrame, figure: HeatMapFigure) -> dict[tuple[Point, Point], str]:
    """Cells whose median leaves runs out, or is of percentiles of few values."""
    if figure.limit_over is not None:
        return {}
    marks: dict[tuple[Point, Point], str] = {}
    cell = runs.group_by(*figure.x, *figure.y, maintain_order=True).agg(runs_behind(runs, figure.value))
    for row in cell.iter_rows(named=True):
        at = (tuple(row[name] for name in figure.x), tuple(row[name] for name in figure.y))
        left_out = f"\n{row['valued']}/{row['runs']}" if row["valued"] < row["runs"] else ""
        if mark := ("*" if row["few"] else "") + left_out:
            marks[at] = mark
    return marks


def _meanings(figure: HeatMapFigure, marks: set[str]) -> Iterator[str]:
    percent = percent_of(figure.value)
    if percent is not None and any("*" in mark for mark in marks):
        yield of_few("*", [percent], "in a run")
    if any("/" in mark for mark in marks):
        yield LEFT_OUT


def points_of(runs: pl.DataFrame, columns: Sequence[str]) -> list[Point]:
    """Values of swept columns, in order of appearance, for an axis."""
    return [tuple(row) for row in runs.select(columns).unique(maintain_order=True).iter_rows()]


def label_of(columns: Sequence[str], point: Point) -> str:
    """The values of a row or column of cells, in words of a narrow column."""
    text = " ".join(swept(name, value) for name, value in zip(columns, point, strict=True))
    return textwrap.fill(text, _LABEL_LETTERS)


def _value(value: float) -> str:
    """Three digits that count, all of a whole number's."""
    return f"{value:.0f}" if abs(value) >= 1000 else digits(value)
