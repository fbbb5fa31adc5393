"""Round-trip times and RPCs of a run: tables in, numbers out."""

# numpy's stubs leave some overloads partly untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from p4cc.analysis.percentiles import PERCENTILES, percentile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from p4cc.analysis.percentiles import Values
    from p4cc.scenario.figures import Window


def with_labels(rtts: pl.DataFrame, flows: pl.DataFrame) -> pl.DataFrame:
    """Round-trip times with the label of their flow's traffic (`class`)."""
    labels = flows.select(pl.col("flow_id"), pl.col("class"))
    return rtts.join(labels, on="flow_id", how="left", maintain_order="left")


def with_latencies(rounds: pl.DataFrame) -> pl.DataFrame:
    """Rounds with the time from the first request to the last answer, null where it is not whole, and their label."""
    start, finish = pl.col("start_ns").cast(pl.Int64), pl.col("finish_ns")
    return rounds.with_columns(
        latency_ns=finish - start,
        label=pl.col("group").cast(pl.String).str.split("/").list.first(),
    )


def of_rtts(rtts: pl.DataFrame, windows: Sequence[Window]) -> dict[str, float]:
    """Number, mean and percentiles of all round-trip times, and of each span's; nothing where none were kept."""
    if rtts.is_empty():
        return {}
    values, times = _floats(rtts["rtt_ns"]), rtts["time_ns"].to_numpy()
    found = _statistics("rtt", "", values)
    for window in windows:
        inside = values[(times >= window.start_ns) & (times < window.end_ns)]
        found |= _statistics("rtt", f"_{window.name}", inside)
    return found


def of_rounds(rounds: pl.DataFrame) -> dict[str, float]:
    """Number, mean and percentiles of the rounds that are whole."""
    whole = _floats(rounds["latency_ns"].drop_nulls())
    return _statistics("latency", "", whole) if whole.size else {}


def of_collectives(collectives: pl.DataFrame) -> dict[str, float]:
    """Number, mean and percentiles of the iterations that are whole, and their median bus bandwidth."""
    whole = collectives.filter(pl.col("completion_ns").is_not_null())
    if whole.is_empty():
        return {}
    rate = percentile(_floats(whole["bus_bps"]), 50)
    return {**_statistics("collective", "", _floats(whole["completion_ns"])), "collective_bus_bps": rate}


def _statistics(name: str, suffix: str, values: Values) -> dict[str, float]:
    found: dict[str, float] = {f"{name}_count{suffix}": int(values.size)}
    found[f"{name}_mean_ns{suffix}"] = float(values.mean()) if values.size else float("nan")
    for percent in PERCENTILES:
        found[f"{name}_p{percent}_ns{suffix}"] = percentile(values, percent)
    return found


def _floats(column: pl.Series) -> Values:
    return column.cast(pl.Float64).to_numpy()
