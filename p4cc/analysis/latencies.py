"""Round-trip times and RPCs of a run: tables in, numbers out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from p4cc.analysis.percentiles import PERCENTILES, percentile

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from p4cc.analysis.percentiles import Values
    from p4cc.scenario.figures import Window


def with_labels(rtts: pl.DataFrame, flows: pl.DataFrame) -> pl.DataFrame:
    """Round-trip times with their flow's traffic label (`class`)."""
    labels = flows.select(pl.col("flow_id"), pl.col("class"))
    return rtts.join(labels, on="flow_id", how="left", maintain_order="left")


def with_latencies(rounds: pl.DataFrame) -> pl.DataFrame:
    """Rounds with their time from first request to last answer (null if incomplete) and label."""
    start, finish = pl.col("start_ns").cast(pl.Int64), pl.col("finish_ns")
    return rounds.with_columns(
        latency_ns=finish - start,
        label=pl.col("group").cast(pl.String).str.split("/").list.first(),
    )


def of_rtts(rtts: Iterable[pl.DataFrame], windows: Sequence[Window]) -> dict[str, float]:
    """Number, mean and percentiles of all round-trip times, and of each span's; empty if none were recorded.

    The table comes in parts, and only counts of equal times are kept.
    """
    spans = {"": (0, None), **{f"_{window.name}": (window.start_ns, window.end_ns) for window in windows}}
    counts: dict[str, list[pl.DataFrame]] = {suffix: [] for suffix in spans}
    for part in rtts:
        for suffix, (start_ns, end_ns) in spans.items():
            inside = pl.col("time_ns") >= start_ns
            inside = inside if end_ns is None else inside & (pl.col("time_ns") < end_ns)
            of_part = part.filter(inside).group_by("rtt_ns").agg(count=pl.len().cast(pl.Int64))
            counts[suffix] = [pl.concat([*counts[suffix], of_part]).group_by("rtt_ns").agg(pl.col("count").sum())]
    whole = {suffix: result[0].sort("rtt_ns") for suffix, result in counts.items() if result}
    if not whole or whole[""].is_empty():
        return {}
    result: dict[str, float] = {}
    for suffix, of_span in whole.items():
        result |= _statistics_of_counts("rtt", suffix, of_span["rtt_ns"].to_list(), of_span["count"].to_list())
    return result


def of_rounds(rounds: pl.DataFrame) -> dict[str, float]:
    """Number, mean and percentiles of the complete rounds."""
    whole = _floats(rounds["latency_ns"].drop_nulls())
    return _statistics("latency", "", whole) if whole.size else {}


def of_collectives(collectives: pl.DataFrame) -> dict[str, float]:
    """Number, mean and percentiles of the complete iterations, and their median bus bandwidth."""
    whole = collectives.filter(pl.col("completion_ns").is_not_null())
    if whole.is_empty():
        return {}
    rate = percentile(_floats(whole["bus_bps"]), 50)
    return {**_statistics("collective", "", _floats(whole["completion_ns"])), "collective_bus_bps": rate}


def of_coflows(coflows: pl.DataFrame) -> dict[str, float]:
    """Number, mean and percentiles of complete coflows, how many are open, and the share that met its deadline."""
    if coflows.is_empty():
        return {}
    whole = coflows["completion_ns"].drop_nulls()
    found = {**_statistics("coflow", "", _floats(whole)), "coflows_open": coflows.height - len(whole)}
    met = coflows["deadline_met"].drop_nulls()
    return found if met.is_empty() else {**found, "coflow_deadlines_met": float(_floats(met).mean())}


def _statistics(name: str, suffix: str, values: Values) -> dict[str, float]:
    statistics: dict[str, float] = {f"{name}_count{suffix}": int(values.size)}
    statistics[f"{name}_mean_ns{suffix}"] = float(values.mean()) if values.size else float("nan")
    for percent in PERCENTILES:
        statistics[f"{name}_p{percent}_ns{suffix}"] = percentile(values, percent)
    return statistics


def _statistics_of_counts(name: str, suffix: str, values: list[int], counts: list[int]) -> dict[str, float]:
    """`_statistics` of ascending values with their counts; integer sums give the same mean."""
    passed = np.cumsum(np.array(counts, dtype=np.int64))
    number = int(passed[-1]) if counts else 0
    total = sum(value * count for value, count in zip(values, counts, strict=True))
    result = {f"{name}_count{suffix}": number, f"{name}_mean_ns{suffix}": total / number if number else float("nan")}
    for percent in PERCENTILES:
        place = min(int(number * percent / 100), number - 1)
        at = int(np.searchsorted(passed, place, side="right"))
        result[f"{name}_p{percent}_ns{suffix}"] = float(values[at]) if number else float("nan")
    return result


def _floats(column: pl.Series) -> Values:
    return column.cast(pl.Float64).to_numpy()
