"""Bars in groups along x, one per variant: medians with the 5-95 % range of the seeds, or limits of a swept column."""

from __future__ import annotations

import textwrap
from math import ceil
from typing import TYPE_CHECKING

import polars as pl
from matplotlib.figure import Figure

from p4cc.analysis.metrics import supported
from p4cc.figures.counts import mark_left_out, numbered, say_interval, say_marks, spread
from p4cc.figures.style import COLOURS, label_axes, legends, need_columns, save, say, use_style

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

    from p4cc.analysis.intervals import Interval
    from p4cc.scenario.figures import BarFigure, Panel

# Of a bar with its name, and of a page, in inches.
_BAR_WIDTH, _PAGE_WIDTH = 0.95, 12.8
_NAME_LETTERS = 12
"""Letters of a line below a bar."""


def draw(runs: pl.DataFrame, figure: BarFigure, folder: Path, interval: Interval = "range") -> Path:
    """Draws a panel per column; returns the file written."""
    along = [name for name in (figure.x, figure.limit_over) if name is not None]
    need_columns(figure.file, runs, *along, *(panel.y for panel in figure.panels))
    use_style()
    # Names below bars need room side by side, and panels stay as wide as a page.
    names = 0 if figure.x is not None else runs["variant"].n_unique()
    width = max(4.2, _BAR_WIDTH * names)
    across = max(1, min(len(figure.panels), int(_PAGE_WIDTH / width)))
    down = ceil(len(figure.panels) / across)
    page = Figure(figsize=(width * across, 3.2 * down), layout="constrained")
    for position, panel in enumerate(figure.panels):
        axes = page.add_subplot(down, across, position + 1)
        # Without a swept column the variants themselves stand along x.
        frame = runs if figure.x is not None else runs.with_columns(pl.lit("").alias("_one"))
        if figure.limit_over is not None:
            frame = limits(frame, figure.x or "_one", figure.limit_over, panel.y)
        _draw_panel(page, axes, spread(frame, figure.x or "_one", panel.y, panel.scale, interval), figure, panel)
    say_interval(page, "bars' ends", interval)
    if figure.x is not None:
        legends(page)
    page.suptitle(figure.title)
    return save(page, folder / figure.file)


def _draw_panel(page: Figure, axes: Axes, points: pl.DataFrame, figure: BarFigure, panel: Panel) -> None:
    groups = points[figure.x or "_one"].unique(maintain_order=True).to_list()
    variants = points["variant"].unique(maintain_order=True).to_list()
    width = 0.8 / len(variants)
    for number, variant in enumerate(variants):
        line = points.filter(pl.col("variant") == variant)
        colour = COLOURS[number % len(COLOURS)]
        shift = (number - (len(variants) - 1) / 2) * width
        label = numbered(variant, [*line["least"], *line["most"]])
        for row in line.iter_rows(named=True):
            place, middle = groups.index(row[figure.x or "_one"]) + shift, row["median"]
            if middle is not None:
                spans = [[max(middle - row["low"], 0.0)], [max(row["high"] - middle, 0.0)]]
                hatch = "////" if row["few"] else None
                bar = axes.bar([place], [middle], width * 0.95, yerr=spans, capsize=2, color=colour, hatch=hatch)
                bar.patches[0].set_edgecolor("white")
                if figure.limit_over is not None:
                    axes.annotate(f"{middle:g}", (place, middle), ha="center", va="bottom", fontsize=7)
            if row["valued"] < row["runs"]:
                mark_left_out(axes, place, row["high"], f"{row['valued']}/{row['runs']}", 0, colour)
        axes.plot([], [], ls="", marker="s", ms=7, color=colour, label=label)
    say_marks(page, points, panel.y, "hatched")
    if points["median"].is_null().all():
        say(axes, f"no run has a value of {panel.y}")
    if figure.x is None:
        places = [(number - (len(variants) - 1) / 2) * width for number in range(len(variants))]
        axes.set_xticks(places, _below(points, variants), fontsize=7)
    else:
        axes.set_xticks(range(len(groups)), [str(group) for group in groups])
    label_axes(axes, panel, figure.x_label or figure.x or "")


def limits(runs: pl.DataFrame, x: str, over: str, column: str) -> pl.DataFrame:
    """For each variant and `x` the largest `over` up to which the median run has none of `column`, in its place."""
    medians = runs.group_by("variant", x, over, maintain_order=True).agg(pl.col(column).cast(pl.Float64).median())
    rows = [
        {
            "variant": variant,
            x: at,
            # Where no run has a value, the point is not fine.
            column: supported((float(row[over]), row[column] == 0) for row in of_bar.iter_rows(named=True)),
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
