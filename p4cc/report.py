"""The result table people read: one row per variant and point, medians over the seeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl
from rich.table import Table


def aggregate(runs: Sequence[dict[str, Any]], keys: Sequence[str]) -> pl.DataFrame:
    """Medians and counts over seeds; `keys` (variant and swept values) identify a row, in order of appearance.

    `finish_ms` is the median over the seeds in which every flow finished, `finished` their number.
    """
    frame = pl.DataFrame(list(runs), infer_schema_length=None)
    return frame.group_by(*keys, maintain_order=True).agg(
        seeds=pl.len(),
        goodput_gbps=pl.col("goodput_bps").cast(pl.Float64).median() / 1e9,
        finish_ms=pl.col("finish_ns").cast(pl.Float64).median() / 1e6,
        finished=pl.col("finish_ns").count(),
        seeds_with_timeout=(pl.col("timeouts") > 0).sum(),
        timeouts=pl.col("timeouts").cast(pl.Float64).median(),
        drops=pl.col("drops").cast(pl.Float64).median(),
        marks_k=pl.col("marks_level1").cast(pl.Float64).median(),
        marks_k_dc=pl.col("marks_level2").cast(pl.Float64).median(),
        peak_queue_pkts=pl.col("peak_queue_pkts").cast(pl.Float64).median(),
    )


def table(title: str, rows: pl.DataFrame, keys: Sequence[str]) -> Table:
    """A rich table of `aggregate`'s rows; seeds with a timeout stand out."""
    out = Table(title=title, title_justify="left", caption="medians over the seeds", caption_justify="left")
    for key in keys:
        out.add_column(key, justify="left" if key == "variant" else "right")
    for heading in (
        "goodput Gb/s", "finish ms", "seeds timed out", "timeouts", "drops", "marks K", "marks K_dc", "peak queue",
    ):  # fmt: skip
        out.add_column(heading, justify="right")
    for row in rows.iter_rows(named=True):
        timed_out = f"{row['seeds_with_timeout']}/{row['seeds']}"
        out.add_row(
            *(str(row[key]) for key in keys),
            f"{row['goodput_gbps']:.2f}",
            _finish(row),
            f"[red]{timed_out}[/red]" if row["seeds_with_timeout"] else timed_out,
            *(f"{row[name]:.0f}" for name in ("timeouts", "drops", "marks_k", "marks_k_dc", "peak_queue_pkts")),
        )
    return out


def _finish(row: dict[str, Any]) -> str:
    """The median, and of how many seeds it is where some did not finish."""
    if row["finished"] == row["seeds"]:
        return f"{row['finish_ms']:.2f}"
    of = f"{row['finished']} of {row['seeds']} finished"
    return f"{row['finish_ms']:.2f}, {of}" if row["finished"] else of
