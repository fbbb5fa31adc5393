"""Measures of claims that look at single flows or at pairs of pods. Pure: tables in, numbers out."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

import polars as pl

from p4cc.analysis.cells import without_largest
from p4cc.analysis.paired import ratio_of_medians
from p4cc.analysis.percentiles import fewest, percent_of, percentile
from p4cc.errors import UserError
from p4cc.reproduce.rows import need, of_variant
from p4cc.scenario.flow_claims import (
    FLOW_MEASURES,
    CellsAboveMeasure,
    CellsOrderedMeasure,
    DecidedCellsMeasure,
    FlowPercentileMeasure,
    FlowRankMeasure,
    LargestFlowMeasure,
    OutcomeMeasure,
    PairedFctMeasure,
    PodCellsMeasure,
    PodPairMeasure,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Table = Callable[[str], pl.DataFrame]


def measure_flows(runs: pl.DataFrame, table: Table, how: FLOW_MEASURES) -> float | None:
    """One measure; `table` reads a table of the results. None where the runs have no such flows."""
    match how:
        case FlowPercentileMeasure():
            return _percentile(table("flows"), how.variant, how)
        case FlowRankMeasure():
            return _rank(table("flows"), how)
        case PairedFctMeasure():
            return _paired(table("flows"), how)
        case PodCellsMeasure():
            return _cells(of_variant(table("pod_pairs"), how.variant, how.where), how)
        case CellsAboveMeasure():
            return _cells_above(table("pod_pairs").filter(pl.col("variant") == how.variant), how)
        case CellsOrderedMeasure():
            return _cells_ordered(of_variant(table("pod_pairs"), how.variant, how.where), how)
        case PodPairMeasure():
            rows = of_variant(table("pod_pairs"), how.variant, how.where)
            need(rows, how.column)
            cell = rows.filter((pl.col("src_pod") == how.src_pod) & (pl.col("dst_pod") == how.dst_pod))
            if cell.is_empty():
                raise UserError(f"no pods {how.src_pod} and {how.dst_pod}", remedy="pods are counted from 0")
            found = median(float(value) for value in cell[how.column].drop_nulls().to_list())
            return None if found is None else found * how.scale
        case LargestFlowMeasure():
            return _largest_flow(of_variant(table("flows"), how.variant, how.where), how)
        case DecidedCellsMeasure():
            return _decided_cells(of_variant(table("flows"), how.variant, how.where), how)
        case OutcomeMeasure():
            rows = of_variant(runs, how.variant, how.where)
            return rows.filter(pl.col("outcome") == how.outcome).height / rows.height


def median(values: Iterable[float]) -> float | None:
    """The median; None without values."""
    result = list(values)
    return statistics.median(result) if result else None


def _percentile(flows: pl.DataFrame, variant: str, how: FlowPercentileMeasure | FlowRankMeasure) -> float | None:
    seeds = chosen_flows(flows, variant, how).group_by("seed", maintain_order=True)
    return median(percentile(one[how.column].cast(pl.Float64).to_numpy(), how.percent) for _, one in seeds)


def chosen_flows(flows: pl.DataFrame, variant: str, how: FlowPercentileMeasure | FlowRankMeasure) -> pl.DataFrame:
    """The complete flows of the wanted sizes."""
    rows = of_variant(flows, variant, how.where)
    need(rows, how.column, "size_bytes")
    size = pl.col("size_bytes")
    chosen = rows.filter(pl.col(how.column).is_not_null() & (size >= how.min_bytes))
    return chosen if how.max_bytes is None else chosen.filter(size <= how.max_bytes)


def _rank(flows: pl.DataFrame, how: FlowRankMeasure) -> float | None:
    values = {
        name: value
        for name in dict.fromkeys([how.variant, *how.among])
        if (value := _percentile(flows, name, how)) is not None
    }
    own = values.get(how.variant)
    return None if own is None else 1.0 + sum(value < own for value in values.values())


def _paired(flows: pl.DataFrame, how: PairedFctMeasure) -> float | None:
    need(flows, how.over, "fct_ns", "seed")
    rows = flows.filter(pl.col("variant") == how.variant)
    ratios: list[float] = []
    for _, one in rows.group_by("seed", maintain_order=True):
        of, to = (one.filter(pl.col(how.over) == value)["fct_ns"] for value in (how.of, how.to))
        ratio = ratio_of_medians(of, to, how.part)
        if ratio is not None:
            ratios.append(ratio)
    return median(ratios)


def _cells(rows: pl.DataFrame, how: PodCellsMeasure) -> float | None:
    need(rows, how.column)
    used = _cells_with_flows(rows, how.column)
    if how.cells != "all":
        need(rows, "src_pod", "dst_pod")
        used = used.filter((pl.col("src_pod") == pl.col("dst_pod")) == (how.cells == "inside"))
    result: list[float] = []
    for _, one in used.group_by("seed", maintain_order=True):
        values = sorted(float(value) for value in one[how.column].to_list())
        positive = [value for value in values if value > 0]
        match how.give:
            case "min":
                result.append(values[0])
            case "max":
                result.append(values[-1])
            case "median":
                result.append(values[len(values) // 2])
            case "spread":
                result.append(values[-1] - values[0])
            case "ratio":
                if positive:
                    result.append(positive[-1] / positive[0])
    found = median(result)
    return None if found is None else found * how.scale


def _cells_above(pairs: pl.DataFrame, how: CellsAboveMeasure) -> float | None:
    need(pairs, how.over, how.column, "src_pod", "dst_pod", "seed")
    of, to = (_cells_with_flows(_point(pairs, how, value), how.column) for value in (how.of, how.to))
    both = of.join(to, on=["seed", "src_pod", "dst_pod"])
    above = both.group_by("seed").agg((pl.col(how.column) > pl.col(f"{how.column}_right")).mean().alias("share"))
    return median(100 * float(share) for share in above["share"].to_list())


def _cells_ordered(rows: pl.DataFrame, how: CellsOrderedMeasure) -> float | None:
    need(rows, how.column, how.by, "seed")
    shares: list[float] = []
    for _, one in _cells_with_flows(rows, how.column).group_by("seed", maintain_order=True):
        value, by = (one[name].cast(pl.Float64).to_numpy() for name in (how.column, how.by))
        # Each pair of cells once, where the larger one by `by` comes first.
        larger = by[:, None] > by[None, :]
        if larger.any():
            shares.append(100 * float((value[:, None] > value[None, :])[larger].mean()))
    return median(shares)


def _point(pairs: pl.DataFrame, how: CellsAboveMeasure, value: str | float) -> pl.DataFrame:
    """The cells of one point of a sweep; raises UserError unless each seed has one run there."""
    known = pairs[how.over].unique(maintain_order=True).drop_nulls().to_list()
    if value not in known:
        raise UserError(
            f"no run of {how.variant!r} has {how.over} = {value!r}",
            remedy=f"values: {', '.join(repr(one) for one in known) or 'none'}",
        )
    # Of the column's own type: polars does not compare a truth value with a number.
    rows = pairs.filter(pl.col(how.over) == known[known.index(value)])
    if rows.select("seed", "src_pod", "dst_pod").is_duplicated().any():
        raise UserError(
            f"more than one run of a seed has {how.over} = {value!r}",
            remedy=f"compare the cells of a scenario that sweeps {how.over} only",
        )
    return rows


def _cells_with_flows(cells: pl.DataFrame, column: str) -> pl.DataFrame:
    """Cells of full pods with a value; a percentile of fewer flows than it needs is none."""
    percent = percent_of(column)
    least = 1 if percent is None else fewest(percent)
    return cells.filter(pl.col("is_full") & (pl.col("flows_completed") >= least)).drop_nulls(column)


def _largest_flow(flows: pl.DataFrame, how: LargestFlowMeasure) -> float | None:
    need(flows, how.column, "src_pod", "dst_pod")
    result: list[float] = []
    for _, one in flows.group_by("seed", maintain_order=True):
        cell = one.filter((pl.col("src_pod") == how.src_pod) & (pl.col("dst_pod") == how.dst_pod))
        result += [float(value) for value in without_largest(cell, how.column)[how.give].drop_nulls().to_list()]
    middle = median(result)
    return None if middle is None else middle * how.scale


def _decided_cells(flows: pl.DataFrame, how: DecidedCellsMeasure) -> float | None:
    need(flows, how.column, "src_pod", "dst_pod")
    seeds = flows.group_by("seed", maintain_order=True)
    return median(
        float(without_largest(one, how.column).filter(pl.col("ratio") >= how.at_least).height) for _, one in seeds
    )
