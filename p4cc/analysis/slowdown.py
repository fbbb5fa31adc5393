"""Slowdowns of flows: of each against itself alone in the network, and by bins of size.

Pure: frames in, frames and rows out.

Source: docs/algorithms/metrics.md#metrics.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import polars as pl

from p4cc.analysis.percentiles import PERCENTILES, percentile

if TYPE_CHECKING:
    from collections.abc import Mapping

    from topos import Alone, Paths

DEFINITION = """\
`slowdown` of a flow is `fct_ns / ideal_fct_ns` (slowdown B of docs/algorithms/metrics.md#slowdown): its completion
time over that of the same flow alone in the network. `ideal_fct_ns` is twice the propagation delay of the path, one
full packet's time on each of its links, and the flow with its headers at the rate of the slowest link. So an
undisturbed flow lies a little below 1, as its own first packet is counted twice; tables and figures by flow size
count what lies below 1 as 1, as the ns-3 simulator's analysis does, and say so. `slowdown_rate_only` (slowdown A)
divides by the payload's time at the slowest link's rate instead, without delay and headers: of short flows it says
little but the delay."""
"""The one definition; docs/reference/results.md has it from here."""

LABEL = "slowdown (FCT / FCT alone)"
"""What figures write on an axis of slowdowns."""

FLOOR = 1.0
"""What slowdowns below it count as by flow size (docs/algorithms/metrics.md#metrics)."""

SUMMARY_BINS = 10
TABLE_BINS = 20
"""As many as the ns-3 simulator's analysis makes (docs/algorithms/metrics.md#metrics)."""


BIN_SCHEMA: Mapping[str, type[pl.DataType]] = {
    "max_size_bytes": pl.Int64,
    "flows": pl.Int64,
    **{f"p{percent}": pl.Float64 for percent in PERCENTILES},
}


def with_slowdowns(flows: pl.DataFrame, paths: Paths, alone: Alone) -> pl.DataFrame:
    """Adds `ideal_fct_ns` and the slowdowns of `DEFINITION`; null where a flow has no size or is not complete."""
    ideals: dict[tuple[str, str, int], float] = {}
    rates: dict[tuple[str, str], int] = {}
    ideal: list[float | None] = []
    rate_only: list[float | None] = []
    columns = (flows["src"].to_list(), flows["dst"].to_list(), flows["size_bytes"].to_list())
    for src, dst, size in zip(*columns, strict=True):
        if size is None:
            ideal.append(None)
            rate_only.append(None)
            continue
        key = (src, dst, size)
        if key not in ideals:
            path = paths.between(src, dst)
            rates[src, dst] = path.rate_bps
            ideals[key] = path.ideal_fct_ns(size, alone)
        ideal.append(ideals[key])
        rate_only.append(8e9 * size / rates[src, dst])
    done = pl.col("fct_ns").is_not_null() & (pl.col("ideal_fct_ns") > 0)
    return (
        flows.with_columns(
            pl.Series("ideal_fct_ns", ideal, pl.Float64), pl.Series("_rate_only_ns", rate_only, pl.Float64)
        )
        .with_columns(
            slowdown=pl.when(done).then(pl.col("fct_ns") / pl.col("ideal_fct_ns")),
            slowdown_rate_only=pl.when(done).then(pl.col("fct_ns") / pl.col("_rate_only_ns")),
        )
        .drop("_rate_only_ns")
    )


def by_size(flows: pl.DataFrame, bins: int = SUMMARY_BINS) -> list[dict[str, Any]]:
    """Slowdowns by bins of flow size, the same number of complete flows in each; rows as `BIN_SCHEMA`.

    `flows` has `size_bytes` and `slowdown`; only complete flows count, what is below `FLOOR` counts as it.
    With fewer flows than bins there is a row for each flow.

    Source: docs/algorithms/metrics.md#metrics.
    """
    rows: list[dict[str, Any]] = []
    for one in size_bins(flows, bins):
        values = one["slowdown"].to_numpy()
        rows.append(
            {
                "max_size_bytes": int(one["size_bytes"][-1]),
                "flows": one.height,
                **{f"p{percent}": percentile(values, percent) for percent in PERCENTILES},
            }
        )
    return rows


def size_bins(flows: pl.DataFrame, bins: int) -> list[pl.DataFrame]:
    """Sizes and slowdowns of complete flows in `bins` frames by size, none empty; the rules of `by_size`."""
    done = (
        flows.filter(pl.col("slowdown").is_not_null())
        .select(pl.col("size_bytes").cast(pl.Int64), pl.col("slowdown").clip(lower_bound=FLOOR))
        .sort("size_bytes", "slowdown")
    )
    bounds = [done.height * number // bins for number in range(bins + 1)]
    return [done[start:end] for start, end in pairwise(bounds) if start < end]
