"""Activity of links and queues: utilisation, time paused, distribution of depths. Pure: frames in, numbers out.

A link's two directions are two channels, named `node:port->node:port`.

Source: docs/algorithms/metrics.md#metrics.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from p4cc.scenario.figures import Window

DEPTH_PERCENTILES = (50, 99)


def utilisation(
    links: pl.DataFrame, link_bytes: pl.DataFrame, hosts: Collection[str], windows: Sequence[Window], end_ns: int
) -> dict[str, float]:
    """Mean share of link capacity in use: U1 over the hosts' uplinks, U2 over all links that switches send to.

    For each window (`u1_NAME`, `u2_NAME`; NaN if the run ended before) and for the whole run (`u1_run`, `u2_run`).
    """
    rates = dict(zip(links["link"].to_list(), links["rate_bps"].to_list(), strict=True))
    whole = {link: int(bytes_) for link, bytes_ in links.select("link", "bytes").iter_rows()}
    found: dict[str, float] = {}
    for window in windows:
        if window.end_ns > end_ns:
            found[f"u1_{window.name}"] = found[f"u2_{window.name}"] = float("nan")
            continue
        start, end = (_at(link_bytes, time) for time in (window.start_ns, window.end_ns))
        gains = {link: bytes_ - start.get(link, 0) for link, bytes_ in end.items()}
        found.update(_shares(window.name, gains, rates, hosts, window.end_ns - window.start_ns))
    return {**found, **_shares("run", whole, rates, hosts, end_ns)}


def _at(link_bytes: pl.DataFrame, time_ns: int) -> dict[str, int]:
    rows = link_bytes.filter(pl.col("time_ns") == time_ns).select("link", "bytes")
    return {link: int(bytes_) for link, bytes_ in rows.iter_rows()}


def _shares(
    name: str, gains: dict[str, int], rates: dict[str, int], hosts: Collection[str], span_ns: int
) -> dict[str, float]:
    """Both means over one span; NaN without time or without such links."""
    known = frozenset(hosts)
    of: dict[str, list[float]] = {"u1": [], "u2": []}
    for link, bytes_ in gains.items():
        kind = "u1" if link.split(":", 1)[0] in known else "u2"
        of[kind].append(8e9 * bytes_ / (rates[link] * span_ns) if span_ns else float("nan"))
    return {f"{kind}_{name}": sum(values) / len(values) if values else float("nan") for kind, values in of.items()}


def with_paused_share(pauses: pl.DataFrame, end_ns: int) -> pl.DataFrame:
    """Adds the share of the run that a port and priority was paused."""
    return pauses.with_columns(paused_share=pl.col("paused_ns").cast(pl.Float64) / max(end_ns, 1))


def depths(histogram: pl.DataFrame) -> dict[str, float]:
    """Mean and percentiles of switch ports' depths, over all ports and samples; a percentile has its bin's value."""
    samples = [int(one) for one in histogram["samples"].to_list()]
    bins = [int(one) for one in histogram["depth_bytes"].to_list()]
    whole = sum(samples)
    if whole == 0:
        return {}
    result: dict[str, float] = {"queue_mean_bytes": int(histogram["sum_bytes"].sum()) / whole}
    for percent in DEPTH_PERCENTILES:
        place = min(int(whole * percent / 100), whole - 1)
        passed = 0
        for depth, count in zip(bins, samples, strict=True):
            passed += count
            if passed > place:
                result[f"queue_p{percent}_bytes"] = float(depth)
                break
    return result


def outcome(summary: Mapping[str, float | None]) -> str:
    """How a run ended: `finished`, `deadlock`, `stalled`, or `not finished` although bytes were moving.

    Source: docs/algorithms/pfc.md#deadlock.
    """
    if summary["flows_completed"] == summary["flows_finite"]:
        return "finished"
    if summary["deadlocks"]:
        return "deadlock"
    return "stalled" if summary["stalled_ns"] is not None else "not finished"
