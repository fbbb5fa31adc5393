"""Cells of pods by pods whose 95th percentile depends on one flow. Pure: frames in, frames out.

Source: docs/algorithms/reproductions.md#u-cells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from p4cc.analysis.percentiles import percentile

if TYPE_CHECKING:
    from collections.abc import Mapping

PERCENT = 95

SCHEMA: Mapping[str, type[pl.DataType]] = {
    "src_pod": pl.Int64,
    "dst_pod": pl.Int64,
    "flows": pl.Int64,
    "bytes": pl.Int64,
    "largest_bytes": pl.Int64,
    "p95": pl.Float64,
    "p95_without": pl.Float64,
    "ratio": pl.Float64,
}


def without_largest(flows: pl.DataFrame, column: str) -> pl.DataFrame:
    """One row per cell of a run with complete flows: the 95th percentile of `column`, with and without one flow.

    That flow is the cell's largest (the first to start, of several). `p95_without` and `ratio`, the first by the
    second, are null in a cell of one flow. Rows are sorted by descending ratio.
    """
    done = flows.filter(pl.col(column).is_not_null() & pl.col("size_bytes").is_not_null())
    rows: list[dict[str, object]] = []
    for (src, dst), cell in done.group_by("src_pod", "dst_pod", maintain_order=True):
        ordered = cell.sort(["size_bytes", "start_ns"], descending=[True, False])
        values = ordered[column].cast(pl.Float64).to_numpy()
        whole = percentile(values, PERCENT)
        rest = percentile(values[1:], PERCENT) if len(values) > 1 else None
        rows.append(
            {
                "src_pod": src,
                "dst_pod": dst,
                "flows": cell.height,
                "bytes": int(ordered["size_bytes"].sum()),
                "largest_bytes": int(ordered["size_bytes"][0]),
                "p95": whole,
                "p95_without": rest,
                "ratio": whole / rest if rest else None,
            }
        )
    order = ["ratio", "src_pod", "dst_pod"]
    return pl.DataFrame(rows, schema=SCHEMA).sort(order, descending=[True, False, False], nulls_last=True)
