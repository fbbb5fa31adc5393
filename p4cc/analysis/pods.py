"""Traffic by pods: who sent how much to whom, how uneven that is, and how flows fared.

Pure: frames in, frames and numbers out. Pods are numbered from 0. Cells and shares of empty cells cover only full
pods, those with as many hosts as the largest: the last pod of a fat-tree may have few hosts.

Source: docs/algorithms/traffic.md#skewed, docs/algorithms/metrics.md#metrics.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from p4cc.analysis.percentiles import percentile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TOP_SHARE = 0.1
"""docs/algorithms/traffic.md#skewed: "share of top 10 % pairs"."""

CELL_PERCENTILES = (50, 95)

CELL_SCHEMA: Mapping[str, type[pl.DataType]] = {
    "src_pod": pl.Int64,
    "dst_pod": pl.Int64,
    "is_full": pl.Boolean,
    "flows": pl.Int64,
    "flows_completed": pl.Int64,
    "bytes": pl.Int64,
    "uplink_share": pl.Float64,
    **{
        f"{name}_p{percent}{unit}": pl.Float64
        for name, unit in (("fct", "_ns"), ("slowdown", ""), ("slowdown_rate_only", ""))
        for percent in CELL_PERCENTILES
    },
}


def with_pods(flows: pl.DataFrame, pods: Sequence[Sequence[str]]) -> pl.DataFrame:
    """Adds the pods of both ends, `src_pod` and `dst_pod`."""
    pod_of = {host: number for number, pod in enumerate(pods) for host in pod}
    ends = {f"{end}_pod": flows[end].replace_strict(pod_of, return_dtype=pl.Int64) for end in ("src", "dst")}
    return flows.with_columns(**ends)


def pod_pairs(flows: pl.DataFrame, pods: Sequence[Sequence[str]]) -> pl.DataFrame:
    """One row per ordered pair of pods: flows, bytes, percentiles; null if no flow is complete.

    `uplink_share` is the part of the first pod's outgoing traffic that goes to the second; null within a pod.
    Percentiles cover complete flows.

    Source: docs/algorithms/metrics.md#metrics.
    """
    full = max((len(pod) for pod in pods), default=0)
    leaving = flows.filter(pl.col("src_pod") != pl.col("dst_pod")).group_by("src_pod").agg(pl.col("size_bytes").sum())
    leaves = {int(pod): int(sum_) for pod, sum_ in leaving.iter_rows()}
    cells = dict(flows.group_by("src_pod", "dst_pod"))
    none = flows.clear()
    rows: list[dict[str, object]] = []
    for src in range(len(pods)):
        for dst in range(len(pods)):
            cell = cells.get((src, dst), none)
            done = cell.filter(pl.col("fct_ns").is_not_null())
            sent = int(cell["size_bytes"].sum())
            away = leaves.get(src, 0) if src != dst else 0
            row: dict[str, object] = {
                "src_pod": src,
                "dst_pod": dst,
                "is_full": len(pods[src]) == len(pods[dst]) == full,
                "flows": cell.height,
                "flows_completed": done.height,
                "bytes": sent,
                "uplink_share": sent / away if away else None,
            }
            for name, unit in (("fct", "_ns"), ("slowdown", ""), ("slowdown_rate_only", "")):
                values = done[f"{name}{unit}"].cast(pl.Float64).to_numpy()
                for percent in CELL_PERCENTILES:
                    row[f"{name}_p{percent}{unit}"] = percentile(values, percent) if done.height else None
            rows.append(row)
    return pl.DataFrame(rows, schema=CELL_SCHEMA)


def skew(flows: pl.DataFrame, cells: pl.DataFrame) -> dict[str, float | None]:
    """How uneven the offered traffic is: over pairs of hosts with traffic, and over cells of full pods.

    Shares of 0 are None.
    """
    sized = flows.filter(pl.col("size_bytes").is_not_null())
    pairs = sized.group_by("src", "dst", maintain_order=True).agg(pl.col("size_bytes").sum())
    amounts = sorted((int(one) for one in pairs["size_bytes"].to_list()), reverse=True)
    top = -(-len(amounts) * TOP_SHARE // 1)
    full = cells.filter(pl.col("is_full"))
    whole = sum(amounts)
    return {
        "offered_bytes": whole,
        "active_pairs": len(amounts),
        "gini_pair_bytes": gini(amounts) if whole else None,
        "top_pairs_share": sum(amounts[: int(top)]) / whole if whole else None,
        "empty_pod_pairs": full.filter(pl.col("flows") == 0).height,
        "empty_pod_share": full.filter(pl.col("flows") == 0).height / full.height if full.height else None,
    }


def gini(amounts: Sequence[int]) -> float:
    """Gini's index: 0 if all amounts are equal, towards 1 if one has everything; 0 without amounts."""
    ordered = sorted(amounts)
    whole = sum(ordered)
    if whole == 0:
        return 0.0
    ranked = sum(rank * amount for rank, amount in enumerate(ordered, start=1))
    return 2 * ranked / (len(ordered) * whole) - (len(ordered) + 1) / len(ordered)


def busiest_drain_ns(flows: pl.DataFrame, rates_bps: Mapping[str, int]) -> float:
    """Lower bound of the time that any network needs for the flows: the busiest host's payload at its link's rate."""
    sized = flows.filter(pl.col("size_bytes").is_not_null())
    longest = 0.0
    for end in ("src", "dst"):
        of_host = sized.group_by(end).agg(pl.col("size_bytes").sum())
        longest = max(longest, *(8e9 * int(sum_) / rates_bps[host] for host, sum_ in of_host.iter_rows()), 0.0)
    return longest
