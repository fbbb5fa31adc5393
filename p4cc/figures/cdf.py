"""Cumulative distributions over all flows (or rounds) of a variant, all seeds together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
from matplotlib.figure import Figure

from p4cc.figures.counts import numbered
from p4cc.figures.style import COLOURS, axis_label, legends, log_scale, need_columns, save, say, use_style

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from p4cc.scenario.figures import CdfFigure

# A line through more points than this looks the same and takes seconds.
_MAX_POINTS = 2_000


def draw(table: pl.DataFrame, figure: CdfFigure, folder: Path) -> Path:
    """Draws a panel per column and a line per variant, or per variant and value of `split`; returns the file."""
    lines = ["variant"] if figure.split is None else ["variant", figure.split]
    need_columns(figure.file, table, *lines, *(panel.y for panel in figure.panels))
    chosen = of_classes(table, figure.classes)
    use_style()
    page = Figure(figsize=(4.2 * len(figure.panels), 3.2), layout="constrained")
    for position, panel in enumerate(figure.panels):
        axes = page.add_subplot(1, len(figure.panels), position + 1)
        for number, (line, rows) in enumerate(chosen.group_by(*lines, maintain_order=True)):
            values, shares = distribution(rows[panel.y], panel.scale)
            label = labelled(_name(line, figure.split), rows[panel.y])
            axes.step(values, shares, where="post", color=COLOURS[number % len(COLOURS)], label=label)
        if chosen[panel.y].drop_nulls().is_empty():
            say(axes, nothing(chosen))
        if figure.x_log:
            log_scale(axes, x=True)
        axes.set_ylim(0, 1)
        axes.set_title(panel.title)
        axes.set_xlabel(axis_label(panel.y, panel.label))
        axes.set_ylabel("share")
    legends(page)
    page.suptitle(figure.title)
    return save(page, folder / figure.file)


def _name(line: tuple[object, ...], split: str | None) -> str:
    """The label of a line: the variant and, if there is one, the value of the column that splits its rows."""
    return f"{line[0]}" if split is None else f"{line[0]}, {split} {line[1]}"


def of_classes(flows: pl.DataFrame, classes: Sequence[str] | None) -> pl.DataFrame:
    """Rows with these labels of traffic, all of them without labels; flows without end have nothing to finish."""
    sized = flows.filter(pl.col("size_bytes").is_not_null()) if "size_bytes" in flows.columns else flows
    return sized if classes is None else sized.filter(pl.col("class").is_in(classes))


def labelled(label: str, column: pl.Series) -> str:
    """A label with the number of values, and of rows that have none."""
    return numbered(label, [column.count()], column.null_count())


def nothing(rows: pl.DataFrame) -> str:
    """Why there is nothing to draw of the rows selected."""
    return "nothing finished" if rows.height else "no rows selected"


def distribution(column: pl.Series, scale: float, points: int = _MAX_POINTS) -> tuple[list[float], list[float]]:
    """Values in order with the share of all rows up to each: it ends below 1 where some have no value.

    About `points` of them where there are more.
    """
    ordered = (column.cast(pl.Float64).fill_nan(None).drop_nulls() * scale).sort()
    count, rows = len(ordered), len(column)
    if count == 0:
        return [], []
    step = -(-count // points)
    places = sorted({*range(step - 1, count, step), count - 1})
    return [ordered[0], *(ordered[place] for place in places)], [0.0, *((place + 1) / rows for place in places)]
