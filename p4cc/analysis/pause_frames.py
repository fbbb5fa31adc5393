"""Single pause frames: how long each pause lasted, and who waited for whom. Pure: frames in, frames out.

Source: docs/algorithms/pfc.md#pfc-rules.
"""

from __future__ import annotations

import polars as pl

_PAUSED = ["node", "port", "priority"]
"""Key of a run's pauses: a switch stops a priority of the neighbour at a port."""


def pause_times(frames: pl.DataFrame) -> pl.DataFrame:
    """One row per pause of a run's frames (table `pause_frames`): with `lasted_ns`, null without a resume."""
    ordered = frames.sort("time_ns", maintain_order=True)
    resumed = pl.col("time_ns").shift(-1).over(_PAUSED).cast(pl.Int64) - pl.col("time_ns").cast(pl.Int64)
    return ordered.with_columns(lasted_ns=resumed).filter(pl.col("pause") == 1)


def waits(pauses: pl.DataFrame) -> pl.DataFrame:
    """Who waits for whom: `node` stops `peer` because of packets queued towards `towards`.

    Columns `peer`, `node`, `towards`, `pauses`, `paused_ns`, sorted by descending time. A pause without a resume
    counts with no time.
    """
    return (
        pauses.group_by("peer", "node", "towards", maintain_order=True)
        .agg(pauses=pl.len(), paused_ns=pl.col("lasted_ns").sum())
        .sort(["paused_ns", "peer", "node", "towards"], descending=[True, False, False, False])
    )
