"""Slowdowns of flows (spec 17): of each against itself alone in the network, and by bins of size.

Pure: frames in, frames and rows out.
"""

# numpy's stubs leave some overloads partly untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Mapping

    from topos import Alone, Paths

SUMMARY_BINS = 10
TABLE_BINS = 20
"""As many as the ns-3 simulator's analysis makes (spec 17)."""

BIN_PERCENTILES = (50, 95, 99)

BIN_SCHEMA: Mapping[str, type[pl.DataType]] = {
    "max_size_bytes": pl.Int64,
    "flows": pl.Int64,
    **{f"p{percent}": pl.Float64 for percent in BIN_PERCENTILES},
}


def with_slowdowns(flows: pl.DataFrame, paths: Paths, alone: Alone) -> pl.DataFrame:
    """Adds the completion time of a flow alone in the network and the slowdowns against it (spec 17).

    `slowdown` divides by `ideal_fct_ns` (slowdown B), `slowdown_rate_only` by the payload's time at the slowest link's
    rate (slowdown A); null where a flow has no size or is not complete.
    Slowdown B counts a whole packet on every link and the flow behind it, so an undisturbed flow lies a little below 1.
    """
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
    """Slowdown B by bins of flow size, the same number of complete flows in each (spec 17); rows as `BIN_SCHEMA`.

    `flows` has `size_bytes` and `slowdown`; flows that are not complete do not count, a slowdown below 1 counts as 1.
    With fewer flows than bins there is a row for each flow.
    """
    done = (
        flows.filter(pl.col("slowdown").is_not_null())
        .select(pl.col("size_bytes").cast(pl.Int64), pl.col("slowdown").clip(lower_bound=1.0))
        .sort("size_bytes", "slowdown")
    )
    rows: list[dict[str, Any]] = []
    for number in range(bins):
        start, end = done.height * number // bins, done.height * (number + 1) // bins
        if start == end:
            continue
        values = done["slowdown"][start:end].to_numpy()
        rows.append(
            {
                "max_size_bytes": int(done["size_bytes"][end - 1]),
                "flows": end - start,
                **{f"p{percent}": percentile(values, percent) for percent in BIN_PERCENTILES},
            }
        )
    return rows


def percentile(values: np.ndarray[Any, np.dtype[np.float64]], percent: float) -> float:
    """The value at index `int(n p)` of the sorted ones (spec 17); NaN if there is none."""
    if values.size == 0:
        return float("nan")
    ordered = np.sort(values)
    return float(ordered[min(int(values.size * percent / 100), values.size - 1)])
