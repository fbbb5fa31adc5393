"""Slowdowns of flows: of each relative to the same flow alone in the network, and by bins of size.

Pure: frames in, frames and rows out.

Source: docs/algorithms/metrics.md#metrics.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import polars as pl

from p4cc.analysis.intervals import Estimate, of_percentile
from p4cc.analysis.percentiles import PERCENTILES, percentile

if TYPE_CHECKING:
    from collections.abc import Mapping

    from topos import Ideal, Paths

DEFINITION = """\
`slowdown` of a flow is `fct_ns / ideal_fct_ns`: its completion time over that of the same flow alone in the network
(docs/algorithms/metrics.md#ideal-fct). `ideal_fct_ns` is the time that the links need: every packet with its headers
takes its transmission time on each link of the path, and the last ACK returns. A flow that sends at its link's rate
from the start and meets no other therefore has a slowdown of 1, and no flow has less. Time for telemetry, handshakes,
requests and the rounds of a slow start counts as slowdown, so that all senders have the same measure.
`record.ideal_fct: hpcc_ns3` selects the formula of HPCC's ns-3 scripts (slowdown B of
docs/algorithms/metrics.md#slowdown): twice the delay of the path, a full packet's time on each link, and the flow with
its headers at the slowest link's rate. It counts the first packet twice, so an undisturbed flow is below 1, and one of
a few bytes far below; tables and figures by flow size count values below 1 as 1, as those scripts do.
`slowdown_rate_only` (slowdown A) divides by the payload's time at the slowest link's rate instead, without delay and
headers: for short flows it mostly shows the delay. Where shortest paths have different rates, the fastest counts."""
"""The only definition, also the source of docs/reference/results.md."""

LABEL = "slowdown (FCT / FCT alone)"
"""Axis label of slowdowns."""

FLOOR = 1.0
"""Lower bound of slowdowns by flow size (docs/algorithms/metrics.md#metrics)."""

SUMMARY_BINS = 10
TABLE_BINS = 20
"""Same number as in the ns-3 simulator's analysis (docs/algorithms/metrics.md#metrics)."""


BIN_SCHEMA: Mapping[str, type[pl.DataType]] = {
    "max_size_bytes": pl.Int64,
    "flows": pl.Int64,
    **{f"p{percent}": pl.Float64 for percent in PERCENTILES},
}


def with_slowdowns(flows: pl.DataFrame, paths: Paths, formulas: Mapping[str, Ideal]) -> pl.DataFrame:
    """Adds `ideal_fct_ns` and the slowdowns of `DEFINITION`; null if a flow has no size or is not complete.

    `formulas` has the formula for the flows of each sender, by the engine's name in column `algorithm`.
    """
    ideals: dict[tuple[str, str, str, int], float] = {}
    rates: dict[tuple[str, str], int] = {}
    ideal: list[float | None] = []
    rate_only: list[float | None] = []
    columns = (flows[name].to_list() for name in ("algorithm", "src", "dst", "size_bytes"))
    for sender, src, dst, size in zip(*columns, strict=True):
        if size is None:
            ideal.append(None)
            rate_only.append(None)
            continue
        key = (sender, src, dst, size)
        if key not in ideals:
            # As for the ideal: the fastest way counts where shortest paths have different rates.
            rates[src, dst] = max(way.rate_bps for way in paths.ways(src, dst))
            ideals[key] = formulas[sender].fct_ns(paths, src, dst, size)
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


def by_size(flows: pl.DataFrame, bins: int = SUMMARY_BINS) -> list[dict[str, float]]:
    """Slowdowns by bins of flow size, with equal numbers of complete flows; rows as in `BIN_SCHEMA`.

    `flows` has `size_bytes` and `slowdown`; only complete flows count, and smaller slowdowns count as `FLOOR`.
    With fewer flows than bins there is one row per flow.

    Source: docs/algorithms/metrics.md#metrics.
    """
    rows: list[dict[str, float]] = []
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
    """Sizes, slowdowns and seeds of complete flows in `bins` non-empty frames by size; rules as in `by_size`."""
    seed = [pl.col("seed")] if "seed" in flows.columns else []
    done = (
        flows.filter(pl.col("slowdown").is_not_null())
        .select(pl.col("size_bytes").cast(pl.Int64), pl.col("slowdown").clip(lower_bound=FLOOR), *seed)
        .sort("size_bytes", "slowdown")
    )
    bounds = [done.height * number // bins for number in range(bins + 1)]
    return [done[start:end] for start, end in pairwise(bounds) if start < end]


def intervals_by_size(flows: pl.DataFrame, percent: float, bins: int) -> list[tuple[int, Estimate]]:
    """A percentile of the slowdown with its bootstrap interval over the seeds: upper ends of `by_size`, estimates."""
    pooled = size_bins(flows, bins)
    found: list[tuple[int, Estimate]] = []
    for one in pooled:
        runs = [rows["slowdown"].to_numpy() for _, rows in one.group_by("seed", maintain_order=True)]
        if (estimate := of_percentile(runs, percent)) is not None:
            found.append((int(one["size_bytes"][-1]), estimate))
    return found
