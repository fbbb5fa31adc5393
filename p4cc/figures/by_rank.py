"""Flows by rank and by size: paired completion times, slowdowns over bins of size, depths of queues."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import polars as pl
from matplotlib.figure import Figure

from p4cc.analysis.paired import CUTS, parts, ratio_of_medians
from p4cc.analysis.percentiles import is_few
from p4cc.analysis.slowdown import FLOOR, LABEL, by_size, intervals_by_size
from p4cc.digits import digits
from p4cc.errors import UserError
from p4cc.figures.cdf import labelled
from p4cc.figures.counts import mark_few, numbered, say_few, say_interval
from p4cc.figures.style import (
    COLOURS,
    MARKERS,
    legend,
    legends,
    log_scale,
    need_columns,
    note,
    of_seed,
    save,
    say,
    split,
    use_style,
)

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

    from p4cc.analysis.intervals import Interval
    from p4cc.scenario.flow_figures import BySizeFigure, DepthsFigure, PairedFigure


def draw_paired(flows: pl.DataFrame, figure: PairedFigure, folder: Path) -> Path:
    """Draws the six parts, both runs in each, with the ratio of their medians; returns the file written."""
    need_columns(figure.file, flows, figure.over, "fct_ns")
    rows = of_seed(flows, figure.seed).filter(pl.col("variant") == figure.variant)
    runs = {str(value): rows.filter(pl.col(figure.over) == value)["fct_ns"] for value in (figure.of, figure.to)}
    for value, column in runs.items():
        if column.is_empty():
            raise UserError(
                f"figure {figure.file}: {figure.variant} has no flows with {figure.over} {value}",
                remedy=f"values of {figure.over}: {flows[figure.over].unique(maintain_order=True).to_list()}",
            )
    use_style()
    page = Figure(figsize=(9.6, 5.2), layout="constrained")
    for part, (low, high) in enumerate(pairwise(CUTS)):
        axes = page.add_subplot(2, 3, part + 1)
        for number, (value, column) in enumerate(runs.items()):
            times = parts(column)[part] / 1e3
            places = [low + (high - low) * (place + 0.5) / max(times.size, 1) for place in range(times.size)]
            axes.plot(
                places, times.tolist(), color=COLOURS[number], marker=".", ls="", ms=3, label=labelled(value, column)
            )
        ratio = ratio_of_medians(runs[str(figure.of)], runs[str(figure.to)], part + 1)
        axes.set_title(
            f"ranks {low:g} to {high:g}: " + ("no flow" if ratio is None else f"medians {digits(ratio, 2)} : 1")
        )
        log_scale(axes)
        axes.set_ylabel("completion (us)")
        if part == 0:
            legend(axes)
    page.suptitle(figure.title)
    return save(page, folder / figure.file)


def draw_by_size(flows: pl.DataFrame, figure: BySizeFigure, folder: Path, interval: Interval = "range") -> Path:
    """Draws a panel per point of the sweep and a line per variant, with a band where an interval is asked for."""
    need_columns(figure.file, flows, "slowdown", *([figure.over] if figure.over else []))
    groups = split(flows, figure.over)
    points = list(dict.fromkeys(point for _, point, _ in groups))
    variants = list(dict.fromkeys(variant for variant, _, _ in groups))
    use_style()
    page = Figure(figsize=(4.6 * max(len(points), 1), 3.6), layout="constrained")
    for position, point in enumerate(points):
        axes = page.add_subplot(1, len(points), position + 1)
        for variant, at, group in groups:
            if at == point:
                _draw_bins(page, axes, figure, group, variants.index(variant))
                if interval != "range":
                    _draw_band(axes, figure, group, variants.index(variant))
        if not axes.get_lines():
            say(axes, "nothing finished")
        log_scale(axes, x=True)
        log_scale(axes)
        axes.set_title(point)
        axes.set_xlabel("flow size (B), bins of n flows")
        axes.set_ylabel(f"{LABEL}, p{figure.percentile}")
    legends(page)
    # Of flows of all seeds together there is no mean over the seeds.
    say_interval(page, "band", "range" if interval == "range" else "bootstrap")
    page.suptitle(figure.title)
    return save(page, folder / figure.file)


def _draw_band(axes: Axes, figure: BySizeFigure, flows: pl.DataFrame, number: int) -> None:
    """The interval of a variant's percentile in each bin; none where one seed has flows."""
    found = intervals_by_size(flows, figure.percentile, figure.bins)
    ends = [(size, one.low, one.high) for size, one in found if one.low is not None and one.high is not None]
    if ends:
        sizes, low, high = zip(*ends, strict=True)
        axes.fill_between(sizes, low, high, color=COLOURS[number % len(COLOURS)], alpha=0.2, linewidth=0)


def _draw_bins(page: Figure, axes: Axes, figure: BySizeFigure, flows: pl.DataFrame, number: int) -> None:
    """A variant's line, its bins of few flows hollow; says how many slowdowns count as more than they are."""
    colour, marker, name = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)], f"p{figure.percentile}"
    bins = by_size(flows, figure.bins)
    if not bins:
        return
    counts = [int(row["flows"]) for row in bins]
    label = numbered(
        flows["variant"][0], counts, flows.filter(pl.col("size_bytes").is_not_null())["slowdown"].null_count()
    )
    points = [(row["max_size_bytes"], row[name]) for row in bins]
    axes.plot(*zip(*points, strict=True), color=colour, marker=marker, ms=3, label=label)
    few = [point for point, count in zip(points, counts, strict=True) if is_few(count, figure.percentile)]
    if few:
        mark_few(axes, few, colour, marker)
        say_few(page, "hollow", [figure.percentile])
    if (flows["slowdown"] < FLOOR).any():
        note(page, f"slowdowns below {FLOOR:g} count as {FLOOR:g}")


def draw_depths(histogram: pl.DataFrame, figure: DepthsFigure, folder: Path) -> Path:
    """Draws a panel per point of the sweep and a line per variant; returns the file written."""
    need_columns(figure.file, histogram, "depth_bytes", *([figure.over] if figure.over else []))
    groups = split(histogram, figure.over)
    points = list(dict.fromkeys(point for _, point, _ in groups))
    use_style()
    page = Figure(figsize=(4.6 * max(len(points), 1), 3.4), layout="constrained")
    for position, point in enumerate(points):
        axes = page.add_subplot(1, len(points), position + 1)
        for number, (variant, _, group) in enumerate(one for one in groups if one[1] == point):
            depths = group.group_by("depth_bytes").agg(pl.col("samples").sum()).sort("depth_bytes")
            whole = int(depths["samples"].sum())
            above = [1 - passed / whole for passed in depths["samples"].cum_sum().to_list()]
            shown = [(depth, share) for depth, share in zip(depths["depth_bytes"], above, strict=True) if share > 0]
            axes.step(
                [(depth + 1_000) / 1e3 for depth, _ in shown],
                [share for _, share in shown],
                where="post",
                color=COLOURS[number % len(COLOURS)],
                label=variant,
            )
        log_scale(axes, x=True)
        log_scale(axes)
        axes.set_title(point)
        axes.set_xlabel("waiting at a port (kB)")
        axes.set_ylabel("share of ports and times with more")
    legends(page)
    page.suptitle(figure.title)
    return save(page, folder / figure.file)
