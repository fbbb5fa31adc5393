"""Completion times of coflows and of requests of trees: groups of operations (docs/algorithms/traffic.md#coflows)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMA = {
    "job": pl.String,
    "coflow": pl.String,
    "flows": pl.UInt64,
    "bytes": pl.UInt64,
    "start_ns": pl.UInt64,
    "finish_ns": pl.UInt64,
    "completion_ns": pl.UInt64,
    "deadline_ns": pl.UInt64,
    "deadline_met": pl.UInt64,
}


def coflows(
    operations: pl.DataFrame, flows: pl.DataFrame, grouped: Mapping[str, int | None], *, end_ns: int
) -> pl.DataFrame:
    """A row for each coflow that began, in the order of their starts; `grouped` has the deadline of each job's.

    The operations of a coflow are those whose names have the same beginning before a colon. One ends with its last
    arrival, whenever that is acknowledged.
    """
    if operations.is_empty():
        return pl.DataFrame(schema=SCHEMA)
    parts = operations.filter(pl.col("job").cast(pl.String).is_in(list(grouped))).with_columns(
        pl.col("job").cast(pl.String), coflow=pl.col("operation").cast(pl.String).str.split(":")
    )
    parts = parts.filter(pl.col("coflow").list.len() > 1).with_columns(pl.col("coflow").list.first())
    sizes = flows.select("flow_id", "size_bytes")
    is_send = pl.col("kind").cast(pl.String) == "send"
    done = pl.when(is_send).then(pl.col("arrival_ns")).otherwise(pl.col("end_ns"))
    rows = (
        parts.join(sizes, on="flow_id", how="left", maintain_order="left")
        .group_by("job", "coflow", maintain_order=True)
        .agg(
            flows=is_send.sum(),
            bytes=pl.col("size_bytes").sum(),
            start_ns=pl.col("start_ns").min(),
            finish_ns=pl.when(done.is_null().any() | ~_is_whole()).then(None).otherwise(done.max()),
        )
        .sort("start_ns", maintain_order=True)
    )
    deadlines = pl.col("job").replace_strict(dict(grouped), return_dtype=pl.UInt64)
    rows = rows.with_columns(completion_ns=pl.col("finish_ns") - pl.col("start_ns"), deadline_ns=deadlines)
    # One that is open is missed once its time is over.
    is_over = pl.col("start_ns") + pl.col("deadline_ns") <= end_ns
    met = (
        pl.when(pl.col("deadline_ns").is_null())
        .then(None)
        .when(pl.col("completion_ns").is_not_null())
        .then(pl.col("completion_ns") <= pl.col("deadline_ns"))
        .when(is_over)
        .then(pl.lit(False))
    )
    return rows.with_columns(deadline_met=met).select(
        pl.col(name).cast(kind, strict=True) for name, kind in SCHEMA.items()
    )


def _is_whole() -> pl.Expr:
    """Whether the request of a tree is done; what has not begun has no row."""
    name = pl.col("operation").cast(pl.String)
    begins = name.str.ends_with(":begin").any()
    return ~begins | name.str.ends_with(":done").any()
