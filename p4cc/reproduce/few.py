"""Whether a measured percentile has enough values: an empty or tiny cell is not data. Pure: tables in, text out.

The rule is that of all tables (p4cc/analysis/percentiles.py): a percentile p needs 1/(1-p) values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from p4cc.analysis.percentiles import count_column, fewest, percent_of
from p4cc.reproduce.flows import chosen_flows
from p4cc.reproduce.rows import of_variant
from p4cc.scenario.claims import FarthestMeasure, ValueMeasure
from p4cc.scenario.distribution_claims import SampleMeasure
from p4cc.scenario.flow_claims import (
    FlowPercentileMeasure,
    FlowRankMeasure,
    LargestFlowMeasure,
    PodPairMeasure,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from p4cc.scenario.claims import Measure

_OF_FLOWS = 95.0
"""The percentile of `largest_flow`."""


def few_values(runs: pl.DataFrame, table: Callable[[str], pl.DataFrame], how: Measure) -> str:
    """Why a percentile is not data: its number of values; empty if there are enough, or for other measures."""
    found = _count(runs, table, how)
    if found is None:
        return ""
    percent, count = found
    return "" if count >= fewest(percent) else f"no data: {count} values, and a p{percent:g} needs {fewest(percent)}"


def _count(runs: pl.DataFrame, table: Callable[[str], pl.DataFrame], how: Measure) -> tuple[float, int] | None:
    """The percentile and the fewest values behind it in a seed or point; None for other measures."""
    match how:
        case FlowPercentileMeasure() | FlowRankMeasure():
            rows = chosen_flows(table("flows"), how.variant, how)
            return how.percent, _least(one.height for _, one in rows.group_by("seed"))
        case SampleMeasure() if how.statistic[0] == "p" and how.table != "queues":
            rows = of_variant(table(how.table), how.variant, how.where).drop_nulls(how.column)
            return float(how.statistic[1:]), _least(one.height for _, one in rows.group_by("seed", *how.each))
        case LargestFlowMeasure(give="p95" | "p95_without"):
            rows = of_variant(table("flows"), how.variant, how.where).drop_nulls(how.column)
            cell = rows.filter((pl.col("src_pod") == how.src_pod) & (pl.col("dst_pod") == how.dst_pod))
            return _OF_FLOWS, _least(one.height for _, one in cell.group_by("seed"))
        case PodPairMeasure() if (percent := percent_of(how.column)) is not None:
            rows = of_variant(table("pod_pairs"), how.variant, how.where)
            cell = rows.filter((pl.col("src_pod") == how.src_pod) & (pl.col("dst_pod") == how.dst_pod))
            return percent, _least(cell["flows_completed"].to_list())
        case ValueMeasure():
            return _of_column(runs, how)
        case FarthestMeasure():
            return _count(runs, table, how.of)
        case _:
            return None


def _of_column(runs: pl.DataFrame, how: ValueMeasure) -> tuple[float, int] | None:
    percent, counted = percent_of(how.column), count_column(how.column)
    if percent is None or counted not in runs.columns:
        return None
    return percent, _least(of_variant(runs, how.variant, how.where)[counted].drop_nulls().to_list())


def _least(counts: Iterable[int]) -> int:
    return min(counts, default=0)
