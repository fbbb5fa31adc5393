"""Maps of pods by pods, and one pair of pods looked at closely."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from p4cc.analysis.percentiles import is_few, percent_of
from p4cc.analysis.slowdown import LABEL
from p4cc.digits import digits
from p4cc.figures.cdf import distribution, labelled, nothing
from p4cc.figures.chart import Axis, Chart, Grid, Line, Panel, axis_label, saying
from p4cc.figures.counts import of_few
from p4cc.figures.rows import need_columns, of_seed, split

if TYPE_CHECKING:
    from p4cc.scenario.flow_figures import PodMatrixFigure, PodPairFigure


def matrix(cells: pl.DataFrame, figure: PodMatrixFigure) -> Chart:
    """A map per variant and point of the sweep."""
    need_columns(figure.file, cells, figure.column, *([figure.over] if figure.over else []))
    full = of_seed(cells, figure.seed).filter(pl.col("is_full"))
    groups = split(full, figure.over)
    if not groups:
        return saying(figure.title, "no rows selected", (3.6, 0.0))
    pods = full["src_pod"].unique().sort().to_list()
    columns = len({point for _, point, _ in groups})
    notes: list[str] = []
    panels = [_map(group, figure, pods, (variant, point), notes) for variant, point, group in groups]
    size = (3.6 * columns, 3.2 * -(-len(groups) // columns))
    return Chart(figure.title, panels, size, columns, notes)


def _map(
    cells: pl.DataFrame, figure: PodMatrixFigure, pods: list[int], name: tuple[str, str], notes: list[str]
) -> Panel:
    percent = percent_of(figure.column)
    values: dict[tuple[int, int], float] = {}
    few: set[tuple[int, int]] = set()
    for row in cells.iter_rows(named=True):
        if row["flows"] and row[figure.column] is not None:
            pair = int(row["src_pod"]), int(row["dst_pod"])
            values[pair] = float(row[figure.column]) * figure.scale
            if percent is not None and is_few(row["flows_completed"], percent):
                few.add(pair)
    if few and percent is not None:
        notes.append(of_few("*", [percent]))
    ticks = [(place, str(pod)) for place, pod in enumerate(pods)]
    # Each map has its own colours: the numbers in the cells compare maps.
    grid = Grid(
        [[values.get((src, dst)) for dst in pods] for src in pods],
        axis_label(figure.column, figure.label),
        [
            [f"{digits(values.get((src, dst), 0.0), 2)}{'*' if (src, dst) in few else ''}" for dst in pods]
            for src in pods
        ],
        text_size=6,
        square=True,
    )
    return Panel(
        Axis("to pod", ticks=ticks),
        Axis("from pod", ticks=ticks),
        [grid] if values else [],
        " ".join(name).strip(),
        "" if values else "nothing finished",
        variant=name[0],
        bare=not values,
        ruled=False,
    )


def pair(flows: pl.DataFrame, figure: PodPairFigure) -> Chart:
    """Bytes over time and the slowdowns of one pair of pods."""
    need_columns(figure.file, flows, "src_pod", "dst_pod", *([figure.over] if figure.over else []))
    chosen = of_seed(flows, figure.seed).filter(
        (pl.col("src_pod") == figure.src_pod) & (pl.col("dst_pod") == figure.dst_pod)
    )
    over_time: list[Line] = []
    slowdowns: list[Line] = []
    for number, (variant, point, group) in enumerate(split(chosen, figure.over)):
        name = f"{variant} {point}".strip()
        for column, dash in (("start_ns", 2), ("finish_ns", 0)):
            ordered = group.drop_nulls(column).sort(column)
            times = (ordered[column].cast(pl.Float64) / 1e6).to_list()
            sums = (ordered["size_bytes"].cum_sum().cast(pl.Float64) / 1e6).to_list()
            over_time.append(
                Line(
                    times,
                    sums,
                    name if column == "finish_ns" else "",
                    f"{name}, begun",
                    variant=variant,
                    colour=number,
                    shape="steps",
                    dash=dash,
                )
            )
        values, shares = distribution(group["slowdown"], 1.0)
        label = labelled(name, group["slowdown"])
        slowdowns.append(Line(values, shares, label, variant=variant, colour=number, shape="steps"))
    why = nothing(chosen)
    panels = [
        Panel(
            Axis("time", "ms"),
            Axis("MB: begun (dotted), complete"),
            over_time,
            says=why if chosen["start_ns"].drop_nulls().is_empty() else "",
            legend=True,
        ),
        Panel(
            Axis(LABEL, log=True),
            Axis("share of flows"),
            slowdowns,
            says=why if chosen["slowdown"].drop_nulls().is_empty() else "",
            legend=True,
        ),
    ]
    return Chart(figure.title, panels, (8.8, 3.3))
