"""The trade-off between settings: every metric with its spread over the seeds, the best setting, the Pareto front.

Pure: frames of runs and flows in, frames and rows out.
"""

from __future__ import annotations

from itertools import groupby
from math import inf
from typing import TYPE_CHECKING

import polars as pl

from p4cc.analysis.percentiles import percentile

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from p4cc.json_data import JsonValue

METRICS: Mapping[str, bool] = {
    "slowdown_mean": False,
    "slowdown_p50": False,
    "slowdown_p95": False,
    "slowdown_p99": False,
    "fct_mean_ns": False,
    "fct_p99_ns": False,
    "goodput_bps": True,
    "finish_ns": False,
    "pauses": False,
    "queue_p99_bytes": False,
    "jain_index": True,
}
"""Metrics by name, and whether more is better."""

UNFINISHED = "unfinished"
ON_FRONT = "on_front"
SEEDS = "seeds"
FLOWS = "flows"
"""The number of values behind percentiles: the fewest finished flows in a run."""
SPREAD = ("low", "high", "seeds")
"""Suffixes of a metric's other columns: smallest and largest value, number of seeds with a value."""


def measured(runs: pl.DataFrame, flows: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """One row per combination of `keys`, in order: every metric's median and spread over the seeds.

    `runs` has one row per run, `flows` one per flow of these runs, both with the keys and the seed in front. A metric
    that no run has is null.
    """
    keyed = [*keys, "seed"]
    ends = [_of_flows(dict(zip(keyed, key, strict=True)), one) for key, one in _runs_of(flows, keyed)]
    whole = runs.join(pl.DataFrame(ends, infer_schema_length=None), on=keyed)
    absent = [pl.lit(None, pl.Float64).alias(name) for name in METRICS if name not in whole.columns]
    whole = whole.with_columns(absent).with_columns(pl.col(*METRICS).cast(pl.Float64).fill_nan(None))
    spread = [
        expression
        for name in METRICS
        for expression in (
            pl.col(name).median(),
            pl.col(name).min().alias(f"{name}_low"),
            pl.col(name).max().alias(f"{name}_high"),
            pl.col(name).count().alias(f"{name}_seeds"),
        )
    ]
    unfinished = pl.col(UNFINISHED).cast(pl.Float64).median()
    counts = (pl.len().alias(SEEDS), pl.col(FLOWS).min(), unfinished)
    return whole.group_by(*keys, maintain_order=True).agg(*counts, *spread)


def _runs_of(flows: pl.DataFrame, keyed: Sequence[str]) -> Iterator[tuple[tuple[object, ...], pl.DataFrame]]:
    wanted = flows.select(*keyed, "size_bytes", "fct_ns", "slowdown")
    yield from wanted.group_by(*keyed, maintain_order=True)


def _of_flows(row: Mapping[str, object], flows: pl.DataFrame) -> dict[str, object]:
    """Metrics of one run's flows, after the columns of `row`."""
    sized = flows.filter(pl.col("size_bytes").is_not_null())
    done = sized.filter(pl.col("fct_ns").is_not_null())
    slowdowns, times = (done[name].cast(pl.Float64).to_numpy() for name in ("slowdown", "fct_ns"))
    return {
        **row,
        UNFINISHED: sized.height - done.height,
        FLOWS: done.height,
        "slowdown_mean": float(slowdowns.mean()) if slowdowns.size else None,
        "fct_mean_ns": float(times.mean()) if times.size else None,
        **{f"slowdown_p{percent}": percentile(slowdowns, percent) for percent in (50, 95, 99)},
        "fct_p99_ns": percentile(times, 99),
    }


def with_front(rows: pl.DataFrame, points: Sequence[str], objectives: tuple[str, str]) -> pl.DataFrame:
    """Adds whether a setting is on the Pareto front of the two objectives, within each point of the sweep.

    Only comparable settings can be on it: every seed has a value of both objectives, and no other setting of the point
    leaves fewer flows unfinished.
    """
    result: list[pl.DataFrame] = []
    for _, group in by_point(rows, points):
        fewest = group[UNFINISHED].min()
        compared = [
            row[UNFINISHED] == fewest and all(row[f"{name}_seeds"] == row[SEEDS] for name in objectives)
            for row in group.to_dicts()
        ]
        pairs = list(group.select(*objectives).iter_rows())
        signs = [-1.0 if METRICS[name] else 1.0 for name in objectives]
        costs = [(signs[0] * pair[0], signs[1] * pair[1]) for pair, fits in zip(pairs, compared, strict=True) if fits]
        best = iter(pareto_front(costs))
        result.append(group.with_columns(pl.Series(ON_FRONT, [fits and next(best) for fits in compared], pl.Boolean)))
    return pl.concat(result) if result else rows.with_columns(pl.lit(False).alias(ON_FRONT))


def pareto_front(costs: Sequence[tuple[float, float]]) -> list[bool]:
    """The non-dominated pairs of costs: no other pair is better in one without being worse in the other."""
    on = [False] * len(costs)
    least = inf
    order = sorted(range(len(costs)), key=costs.__getitem__)
    for _, same in groupby(order, key=lambda place: costs[place][0]):
        places = list(same)
        lowest = costs[places[0]][1]
        if lowest < least:
            least = lowest
            for place in places:
                on[place] = costs[place][1] == lowest
    return on


def best_settings(
    rows: pl.DataFrame, variant: str, points: Sequence[str], settings: Sequence[str], metrics: Sequence[str]
) -> list[dict[str, object]]:
    """The best and the worst setting of a variant for each point and metric.

    Settings that leave more flows unfinished than others are not compared, which would flatter them; nor are settings
    without a value in some seed. None if no setting remains.
    """
    rows_of_best: list[dict[str, object]] = []
    for key, group in by_point(rows, points):
        whole = group.filter(pl.col(UNFINISHED) == pl.col(UNFINISHED).min())
        for metric in metrics:
            values = whole.filter(pl.col(f"{metric}_seeds") == pl.col(SEEDS)).sort(
                metric, descending=METRICS[metric], maintain_order=True
            )
            ends = [values.row(place, named=True) for place in (0, -1)] if values.height else [None, None]
            best, worst = ({name: one[name] for name in settings} if one else None for one in ends)
            value, worst_value = (one[metric] if one else None for one in ends)
            rows_of_best.append(
                {
                    "variant": variant,
                    **dict(zip(points, key, strict=True)),
                    "metric": metric,
                    "best": best,
                    "value": value,
                    "worst": worst,
                    "worst_value": worst_value,
                    "settings": group.height,
                    "left_out": group.height - values.height,
                }
            )
    return rows_of_best


def by_point(rows: pl.DataFrame, points: Sequence[str]) -> Iterator[tuple[tuple[JsonValue, ...], pl.DataFrame]]:
    """The rows of each point of the scenario's sweep; all rows if it has none."""
    if points:
        yield from rows.group_by(*points, maintain_order=True)
    elif not rows.is_empty():
        yield (), rows
