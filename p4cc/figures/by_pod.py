"""Maps of pods by pods, and one pair of pods looked at closely."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
from matplotlib.figure import Figure

from p4cc.analysis.percentiles import is_few, percent_of
from p4cc.analysis.slowdown import LABEL
from p4cc.digits import digits
from p4cc.figures.cdf import distribution, labelled, nothing
from p4cc.figures.counts import say_few
from p4cc.figures.style import (
    COLOURS,
    axis_label,
    legend,
    log_scale,
    need_columns,
    of_seed,
    save,
    say,
    split,
    use_style,
)

if TYPE_CHECKING:
    from pathlib import Path

    from p4cc.scenario.flow_figures import PodMatrixFigure, PodPairFigure


def draw_matrix(cells: pl.DataFrame, figure: PodMatrixFigure, folder: Path) -> Path:
    """Draws a map per variant and point of the sweep; returns the file written."""
    need_columns(figure.file, cells, figure.column, *([figure.over] if figure.over else []))
    full = of_seed(cells, figure.seed).filter(pl.col("is_full"))
    groups = split(full, figure.over)
    pods = full["src_pod"].unique().sort().to_list()
    columns = len({point for _, point, _ in groups}) or 1
    rows = -(-len(groups) // columns)
    use_style()
    page = Figure(figsize=(3.6 * columns, 3.2 * rows), layout="constrained")
    for position, (variant, point, group) in enumerate(groups):
        axes = page.add_subplot(rows, columns, position + 1)
        shown = [row for row in group.iter_rows(named=True) if row["flows"] and row[figure.column] is not None]
        values: dict[tuple[int, int], float] = {
            (int(row["src_pod"]), int(row["dst_pod"])): float(row[figure.column]) * figure.scale for row in shown
        }
        percent = percent_of(figure.column)
        few = {
            (int(row["src_pod"]), int(row["dst_pod"]))
            for row in shown
            if percent is not None and is_few(row["flows_completed"], percent)
        }
        if few and percent is not None:
            say_few(page, "*", [percent])
        grid = [[values.get((src, dst), float("nan")) for dst in pods] for src in pods]
        axes.set_title(f"{variant} {point}".strip())
        axes.grid(visible=False)
        if not values:
            axes.set_axis_off()
            say(axes, "nothing finished")
            continue
        # Each map has its own colours: the numbers in the cells compare maps.
        image = axes.imshow(grid, cmap="viridis")
        middle = (min(values.values(), default=0.0) + max(values.values(), default=0.0)) / 2
        for row, line in enumerate(grid):
            for column, value in enumerate(line):
                if value == value:
                    colour = "white" if value < middle else "black"
                    mark = "*" if (pods[row], pods[column]) in few else ""
                    axes.text(
                        column, row, f"{digits(value, 2)}{mark}", ha="center", va="center", fontsize=6, color=colour
                    )
        axes.set_xticks(range(len(pods)), [str(pod) for pod in pods])
        axes.set_yticks(range(len(pods)), [str(pod) for pod in pods])
        axes.set_xlabel("to pod")
        axes.set_ylabel("from pod")
        page.colorbar(image, ax=axes, label=axis_label(figure.column, figure.label), shrink=0.8)
    if not groups:
        say(page.add_subplot(), "no rows selected")
    page.suptitle(figure.title)
    return save(page, folder / figure.file)


def draw_pair(flows: pl.DataFrame, figure: PodPairFigure, folder: Path) -> Path:
    """Draws bytes over time and the slowdowns of one pair of pods; returns the file written."""
    need_columns(figure.file, flows, "src_pod", "dst_pod", *([figure.over] if figure.over else []))
    chosen = of_seed(flows, figure.seed).filter(
        (pl.col("src_pod") == figure.src_pod) & (pl.col("dst_pod") == figure.dst_pod)
    )
    use_style()
    page = Figure(figsize=(8.8, 3.3), layout="constrained")
    over_time, slowdowns = page.add_subplot(1, 2, 1), page.add_subplot(1, 2, 2)
    for number, (variant, point, group) in enumerate(split(chosen, figure.over)):
        colour, label = COLOURS[number % len(COLOURS)], f"{variant} {point}".strip()
        for column, style in (("start_ns", ":"), ("finish_ns", "-")):
            ordered = group.drop_nulls(column).sort(column)
            times = (ordered[column].cast(pl.Float64) / 1e6).to_list()
            sums = (ordered["size_bytes"].cum_sum().cast(pl.Float64) / 1e6).to_list()
            shown = label if column == "finish_ns" else None
            over_time.step(times, sums, where="post", color=colour, ls=style, label=shown)
        values, shares = distribution(group["slowdown"], 1.0)
        slowdowns.step(values, shares, where="post", color=colour, label=labelled(label, group["slowdown"]))
    over_time.set_xlabel("time (ms)")
    over_time.set_ylabel("MB: begun (dotted), complete")
    legend(over_time)
    legend(slowdowns)
    if chosen["slowdown"].drop_nulls().is_empty():
        say(slowdowns, nothing(chosen))
    if chosen["start_ns"].drop_nulls().is_empty():
        say(over_time, nothing(chosen))
    slowdowns.set_xlabel(LABEL)
    log_scale(slowdowns, x=True)
    slowdowns.set_ylabel("share of flows")
    page.suptitle(figure.title)
    return save(page, folder / figure.file)
