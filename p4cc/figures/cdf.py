"""Cumulative distributions over all flows (or rounds) of a variant, all seeds together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from p4cc.figures.chart import Axis, Chart, Line, Panel, Part, axis_label
from p4cc.figures.counts import numbered
from p4cc.figures.rows import need_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from p4cc.scenario.figures import CdfFigure
    from p4cc.scenario.figures import Panel as PanelSpec

# A line through more points than this looks the same and takes seconds.
_MAX_POINTS = 2_000
_PART_POINTS = 200


def chart(table: pl.DataFrame, figure: CdfFigure) -> Chart:
    """A panel per column and a line per variant, or per variant and value of `split`."""
    keys = ["variant"] if figure.split is None else ["variant", figure.split]
    need_columns(figure.file, table, *keys, *(panel.y for panel in figure.panels))
    chosen = of_classes(table, figure.classes)
    lines = list(chosen.group_by(*keys, maintain_order=True))
    panels = [
        Panel(
            Axis(axis_label(panel.y, panel.label), log=figure.x_log),
            Axis("share", low=0, high=1),
            [
                Line(
                    *distribution(rows[panel.y], panel.scale),
                    labelled(_name(key, figure.split), rows[panel.y]),
                    variant=str(key[0]),
                    colour=None if figure.split is None else number,
                    shape="steps",
                    parts=_parts(rows, panel),
                )
                for number, (key, rows) in enumerate(lines)
            ],
            panel.title,
            nothing(chosen) if chosen[panel.y].drop_nulls().is_empty() else "",
        )
        for panel in figure.panels
    ]
    variants = chosen["variant"].unique(maintain_order=True).to_list()
    return Chart(figure.title, panels, (4.2 * len(panels), 3.2), variants=variants, legend="each")


def _parts(rows: pl.DataFrame, panel: PanelSpec) -> list[Part]:
    """The distributions of single seeds."""
    return [
        Part(int(str(seed)), of.height, *distribution(of[panel.y], panel.scale, _PART_POINTS))
        for (seed,), of in rows.group_by("seed", maintain_order=True)
    ]


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
