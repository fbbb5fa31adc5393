"""Flows by rank and by size: paired completion times, slowdowns over bins of size, depths of queues."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import polars as pl

from p4cc.analysis.paired import CUTS, parts, ratio_of_medians
from p4cc.analysis.percentiles import is_few
from p4cc.analysis.slowdown import FLOOR, LABEL, intervals_by_size
from p4cc.analysis.slowdown import by_size as bins_by_size
from p4cc.digits import digits
from p4cc.errors import UserError
from p4cc.figures.cdf import labelled
from p4cc.figures.chart import Axis, Chart, Line, Panel
from p4cc.figures.counts import named_interval, numbered, of_few
from p4cc.figures.rows import need_columns, of_seed, split

if TYPE_CHECKING:
    from p4cc.analysis.intervals import Interval
    from p4cc.scenario.flow_figures import BySizeFigure, DepthsFigure, PairedFigure


def paired(flows: pl.DataFrame, figure: PairedFigure) -> Chart:
    """The six parts, both runs in each, with the ratio of their medians."""
    need_columns(figure.file, flows, figure.over, "fct_ns")
    rows = of_seed(flows, figure.seed).filter(pl.col("variant") == figure.variant)
    runs = {str(value): rows.filter(pl.col(figure.over) == value)["fct_ns"] for value in (figure.of, figure.to)}
    for value, column in runs.items():
        if column.is_empty():
            raise UserError(
                f"figure {figure.file}: {figure.variant} has no flows with {figure.over} {value}",
                remedy=f"values of {figure.over}: {flows[figure.over].unique(maintain_order=True).to_list()}",
            )
    panels: list[Panel] = []
    for part, (low, high) in enumerate(pairwise(CUTS)):
        lines: list[Line] = []
        for number, (value, column) in enumerate(runs.items()):
            times = (parts(column)[part] / 1e3).tolist()
            places = [low + (high - low) * (place + 0.5) / len(times) for place in range(len(times))]
            lines.append(Line(places, times, labelled(value, column), colour=number, dash=None, marker=".", size=3))
        ratio = ratio_of_medians(runs[str(figure.of)], runs[str(figure.to)], part + 1)
        medians = "no flow" if ratio is None else f"medians {digits(ratio, 2)} : 1"
        title = f"ranks {low:g} to {high:g}: {medians}"
        panels.append(Panel(Axis(), Axis("completion", "us", log=True), lines, title, legend=part == 0))
    return Chart(figure.title, panels, (9.6, 5.2), 3)


def by_size(flows: pl.DataFrame, figure: BySizeFigure, interval: Interval = "range") -> Chart:
    """A panel per point of the sweep and a line per variant, with a band where an interval is asked for."""
    need_columns(figure.file, flows, "slowdown", *([figure.over] if figure.over else []))
    groups = split(flows, figure.over)
    points = list(dict.fromkeys(point for _, point, _ in groups))
    notes: list[str] = []
    panels: list[Panel] = []
    for point in points:
        here = [(variant, of) for variant, at, of in groups if at == point]
        lines = [line for variant, of in here for line in _bins(figure, variant, of, notes)]
        if interval != "range":
            lines += [line for variant, of in here for line in _bands(figure, variant, of)]
        x = Axis("flow size (B), bins of n flows", log=True)
        y = Axis(f"{LABEL}, p{figure.percentile}", log=True)
        panels.append(Panel(x, y, lines, point, "" if lines else "nothing finished"))
    variants = list(dict.fromkeys(variant for variant, _, _ in groups))
    size = (4.6 * max(len(points), 1), 3.6)
    # The flows of all seeds together have no mean over the seeds.
    notes += named_interval("band", "range" if interval == "range" else "bootstrap")
    return Chart(figure.title, panels, size, notes=notes, variants=variants, legend="each")


def _bins(figure: BySizeFigure, variant: str, flows: pl.DataFrame, notes: list[str]) -> list[Line]:
    """A variant's line, its bins of few flows hollow; says how many slowdowns count as more than they are."""
    bins = bins_by_size(flows, figure.bins)
    if not bins:
        return []
    counts = [int(row["flows"]) for row in bins]
    few = [place for place, count in enumerate(counts) if is_few(count, figure.percentile)]
    if few:
        notes.append(of_few("hollow", [figure.percentile]))
    if (flows["slowdown"] < FLOOR).any():
        notes.append(f"slowdowns below {FLOOR:g} count as {FLOOR:g}")
    unfinished = flows.filter(pl.col("size_bytes").is_not_null())["slowdown"].null_count()
    return [
        Line(
            [row["max_size_bytes"] for row in bins],
            [row[f"p{figure.percentile}"] for row in bins],
            numbered(variant, counts, unfinished),
            variant=variant,
            marker="own",
            size=3,
            few=few,
        )
    ]


def _bands(figure: BySizeFigure, variant: str, flows: pl.DataFrame) -> list[Line]:
    """The interval of a variant's percentile in each bin; none where one seed has flows."""
    found = intervals_by_size(flows, figure.percentile, figure.bins)
    ends = [(size, one.low, one.high) for size, one in found if one.low is not None and one.high is not None]
    if not ends:
        return []
    sizes, low, high = ([*column] for column in zip(*ends, strict=True))
    return [Line(sizes, [None] * len(sizes), "", variant=variant, dash=None, band=(low, high))]


def depths(histogram: pl.DataFrame, figure: DepthsFigure) -> Chart:
    """A panel per point of the sweep and a line per variant."""
    need_columns(figure.file, histogram, "depth_bytes", *([figure.over] if figure.over else []))
    groups = split(histogram, figure.over)
    points = list(dict.fromkeys(point for _, point, _ in groups))
    x, y = Axis("waiting at a port", "kB", log=True), Axis("share of ports and times with more", log=True)
    panels = [
        Panel(x, y, [_depth(variant, of) for variant, at, of in groups if at == point], point) for point in points
    ]
    variants = list(dict.fromkeys(variant for variant, _, _ in groups))
    return Chart(figure.title, panels, (4.6 * max(len(points), 1), 3.4), variants=variants, legend="each")


def _depth(variant: str, histogram: pl.DataFrame) -> Line:
    """The share of samples above each depth."""
    depths = histogram.group_by("depth_bytes").agg(pl.col("samples").sum()).sort("depth_bytes")
    whole = int(depths["samples"].sum())
    above = [1 - passed / whole for passed in depths["samples"].cum_sum().to_list()]
    shown = [(depth, share) for depth, share in zip(depths["depth_bytes"], above, strict=True) if share > 0]
    return Line(
        [(depth + 1_000) / 1e3 for depth, _ in shown],
        [share for _, share in shown],
        variant,
        variant=variant,
        shape="steps",
    )
