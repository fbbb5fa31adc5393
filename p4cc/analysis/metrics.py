"""Derives metrics from a run's tables: slowdowns, queue percentiles, goodput in bins, metrics by traffic label.

Implements docs/algorithms/metrics.md#metrics; pure: tables in, tables and numbers out.
Sums follow the order of the rows, so that the same run gives the same bits.
"""

# pyarrow's and numpy's stubs leave some overloads partly untyped.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pyarrow as pa
from polars import selectors

from p4cc.analysis.coflows import coflows
from p4cc.analysis.latencies import of_coflows, of_collectives, of_rounds, of_rtts, with_labels, with_latencies
from p4cc.analysis.links import depths, outcome, utilisation, with_paused_share
from p4cc.analysis.long_tables import changed, parts_of, whole
from p4cc.analysis.percentiles import PERCENTILES, of_few, percentile
from p4cc.analysis.pods import busiest_drain_ns, pod_pairs, skew, with_pods
from p4cc.analysis.queues import queue_stats
from p4cc.analysis.slowdown import BIN_SCHEMA, SUMMARY_BINS, TABLE_BINS, by_size, with_slowdowns
from p4cc.analysis.tables import ALGORITHM
from topos import plan_addresses
from topos.host_ways import HostWays

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from p4cc.analysis.long_tables import AnyTable
    from p4cc.scenario.figures import Window
    from topos import Ideal, Paths, Topology

BY_PORT = ("queues", "ports", "port_queues")
"""Tables that number switches in the engine and name them in results."""

_KNOWS_SENDER = {"flow_id": "flow_id", "class": "class", "label": "class"}
"""Columns that identify a row's flow or traffic label, with the corresponding column of the flows."""

FLOW_PERCENTILES = (1, 5, *PERCENTILES)


@dataclass(frozen=True)
class Measures:
    """Which metrics to derive, and their inputs about the network."""

    topology: Topology
    paths: Paths
    ideals: Mapping[str, Ideal]
    """Formulas for ideal completion times, by the engine's names of senders."""
    windows: Sequence[Window]
    goodput_interval_ns: int | None
    by_label: bool
    """Whether the summary has metrics per traffic label."""
    slowdown_by_size: bool
    """Whether the summary (ten bins) and a table (twenty) have slowdowns by flow size."""
    algorithm: str
    """The variant's algorithms, by their names in the registry."""
    senders: Mapping[str, str]
    """Algorithms by the engine's names of senders."""
    coflows: Mapping[str, int | None]
    """Labels of traffic in coflows, or in requests of trees, with their deadline in ns."""


def derive(
    measures: Measures, summary: Mapping[str, float | None], tables: Mapping[str, AnyTable]
) -> tuple[dict[str, object], dict[str, AnyTable]]:
    """The summary and the tables with derived values; long tables stay out of memory."""
    flows = with_slowdowns(_frame(tables["flows"]), measures.paths, measures.ideals)
    flows = flows.with_columns(pl.col(ALGORITHM).replace_strict(dict(measures.senders), return_dtype=pl.String))
    found = {**tables, **{name: changed(tables[name], _named(measures.topology)) for name in BY_PORT}}
    pods = measures.topology.roles.pods
    if pods:
        flows = with_pods(flows, pods)
    end_ns = int(summary["end_ns"] or 0)
    more: dict[str, pl.DataFrame] = {
        "flows": flows,
        "queue_stats": queue_stats(map(_frame, parts_of(found["queues"])), end_ns),
        "traffic": by_label(flows, end_ns),
        "pauses": with_paused_share(_frame(tables["pauses"]), end_ns),
    }
    if measures.goodput_interval_ns is not None:
        more["goodput"] = goodput_of_parts(map(_frame, parts_of(tables["windows"])), measures.goodput_interval_ns)
    if measures.slowdown_by_size:
        more["slowdown"] = pl.DataFrame(by_size(flows, TABLE_BINS), schema=BIN_SCHEMA)
    numbers: dict[str, object] = {
        **summary,
        "outcome": outcome(summary),
        **_of_windows(measures.windows, _frame(tables["checkpoints"]), flows, end_ns),
        **utilisation(
            _frame(tables["links"]),
            _frame(tables["link_bytes"]),
            measures.topology.host_names,
            measures.windows,
            end_ns,
        ),
        **depths(_frame(tables["queue_histogram"])),
    }
    if pods:
        more["pod_pairs"] = pod_pairs(flows, pods)
        numbers.update(
            skew(flows, more["pod_pairs"]), busiest_drain_ns=busiest_drain_ns(flows, _rates(measures.topology))
        )
    rounds = with_latencies(_frame(tables["rounds"]))
    more["rounds"] = rounds
    if not (goodputs := rounds["goodput_bps"].drop_nans()).is_empty():
        numbers["round_goodput_bps"] = goodputs.median()
    found["rtts"] = changed(tables["rtts"], lambda part: with_labels(_frame(part), flows).to_arrow())
    rtts = of_rtts(map(_frame, parts_of(tables["rtts"])), measures.windows)
    numbers |= {**of_rounds(rounds), **rtts, **_of_flows(flows), **_of_flows_in(measures.windows, flows)}
    numbers |= of_collectives(_frame(tables["collectives"]))
    if measures.coflows:
        more["coflows"] = coflows(_frame(tables["operations"]), flows, measures.coflows, end_ns=end_ns)
        numbers |= of_coflows(more["coflows"])
    if measures.slowdown_by_size:
        numbers["slowdown"] = by_size(flows, SUMMARY_BINS)
    if measures.by_label:
        for row in more["traffic"].iter_rows(named=True):
            numbers.update({f"{row['class']}.{name}": value for name, value in row.items() if name != "class"})
    # JSON has no NaN.
    numbers = {name: None if isinstance(one, float) and np.isnan(one) else one for name, one in numbers.items()}
    numbers["few_values"] = of_few(numbers)
    found |= {name: frame.to_arrow() for name, frame in more.items()}
    return numbers, {name: _of_own_senders(table, flows, measures.algorithm) for name, table in found.items()}


def _of_own_senders(table: AnyTable, flows: pl.DataFrame, algorithm: str) -> AnyTable:
    """Adds each row's algorithm to a table of flows or labels, if traffic sets its senders.

    Otherwise all rows have the variant's algorithm, which `ResultWriter` adds.
    """
    by = next((name for name in _KNOWS_SENDER if name in table.column_names), None)
    if by is None or ALGORITHM in table.column_names or flows.filter(pl.col(ALGORITHM) != algorithm).is_empty():
        return table
    known = flows.select(pl.col(_KNOWS_SENDER[by]).alias(by), ALGORITHM).unique(by, keep="first", maintain_order=True)

    def joined(part: pa.Table) -> pa.Table:
        rows = _frame(part).join(known, on=by, how="left", maintain_order="left")
        return rows.with_columns(pl.col(ALGORITHM).fill_null(algorithm)).to_arrow()

    return changed(table, joined)


def _named(topology: Topology) -> Callable[[pa.Table], pa.Table]:
    """Replaces device id and port of a table by switch and neighbour."""
    ids = plan_addresses(topology).device_ids
    places = [
        (ids[name], port.number, name, topology.far_end(name, port))
        for name, ports in topology.ports.items()
        for port in ports
    ]
    schema = {"device_id": pl.UInt64, "port": pl.UInt64, "switch": pl.String, "peer": pl.String}
    names = pl.DataFrame(places, schema=schema, orient="row")

    def named(table: pa.Table) -> pa.Table:
        joined = _frame(table).join(names, on=["device_id", "port"], how="left", maintain_order="left")
        rest = [name for name in table.column_names if name not in ("device_id", "port", "time_ns")]
        leading = ["time_ns"] if "time_ns" in table.column_names else []
        return joined.select(*leading, "switch", "port", "peer", *rest).to_arrow()

    return named


def _rates(topology: Topology) -> dict[str, int]:
    """Rates of the hosts' links; together, where several lead to most others."""
    ways = HostWays(topology)
    return {host: ways.rate_bps(host) for host in topology.host_names}


def goodput_bins(windows: pl.DataFrame, interval_ns: int) -> pl.DataFrame:
    """Goodput of each flow in time bins, from its acknowledged bytes: `flow_id`, `time_ns` (start), `rate_bps`.

    Bins without acknowledged data have no row.
    """
    return goodput_of_parts([windows], interval_ns)


def goodput_of_parts(windows: Iterable[pl.DataFrame], interval_ns: int) -> pl.DataFrame:
    """`goodput_bins` for a table that comes in parts."""
    acked = pl.concat([_acked(part, interval_ns) for part in windows])
    return (
        acked.group_by("flow_id", "time_ns")
        .agg(pl.col("acked").max())
        .sort("flow_id", "time_ns")
        .with_columns(gain=pl.col("acked") - pl.col("acked").shift(1).over("flow_id").fill_null(0))
        .filter(pl.col("gain") > 0)
        .select("flow_id", "time_ns", rate_bps=pl.col("gain").cast(pl.Float64) * 8e9 / interval_ns)
    )


def _acked(windows: pl.DataFrame, interval_ns: int) -> pl.DataFrame:
    """Each flow's largest acknowledged position in each bin."""
    acked = windows.select(
        "flow_id",
        # A sample covers the time up to its instant, so one at a bin's end belongs to that bin.
        time_ns=((pl.col("time_ns").cast(pl.Int64) - 1).clip(0) // interval_ns) * interval_ns,
        acked=pl.col("acked_bytes").cast(pl.Int64),
    )
    return acked.group_by("flow_id", "time_ns").agg(pl.col("acked").max())


def by_label(flows: pl.DataFrame, end_ns: int) -> pl.DataFrame:
    """Metrics of each traffic label: goodput, fairness, completion, slowdown, deadlines; one row per label.

    `goodput_bps` is its flows' acknowledged payload from the first start to the last finish, or to the end of the run;
    null if no time passed between them.
    """
    rows: list[dict[str, object]] = []
    for (label,), group in flows.group_by("class", maintain_order=True):
        begun = group.filter(pl.col("start_ns").is_not_null())
        ended = pl.col("finish_ns").fill_null(end_ns)
        ends = begun.select(ended.alias("end_ns"))["end_ns"]
        starts, acked = begun["start_ns"], begun["acked_bytes"].cast(pl.Int64)
        span = 0 if begun.is_empty() else max(ends.to_list()) - min(starts.to_list())
        done = begun.filter(pl.col("fct_ns").is_not_null())
        with_deadline = begun.filter(pl.col("deadline_ns").is_not_null())
        in_time = with_deadline.filter(pl.col("deadline_met") == 1)
        row: dict[str, object] = {
            "class": label,
            "flows": group.height,
            "completed": done.height,
            "acked_bytes": int(acked.sum()),
            "goodput_bps": int(acked.sum()) * 8e9 / span if span > 0 else float("nan"),
            "jain_index": jain(_goodputs(acked.to_list(), starts.to_list(), ends.to_list())),
            "timeouts": int(begun["timeouts"].sum()),
            "deadline_flows": with_deadline.height,
            "deadlines_met": in_time.height,
            # Application throughput (docs/algorithms/metrics.md#metrics).
            "in_time_share": in_time.height / with_deadline.height if with_deadline.height else float("nan"),
            "quenched": int(begun["quenched"].sum()),
            "fct_mean_ns": _number(done["fct_ns"].mean()),
            "slowdown_mean": _number(done["slowdown"].mean()),
        }
        for name, column in (("fct", "fct_ns"), ("slowdown", "slowdown")):
            values = done[column].drop_nulls().cast(pl.Float64).to_numpy()
            suffix = "_ns" if name == "fct" else ""
            for percent in FLOW_PERCENTILES:
                row[f"{name}_p{percent}{suffix}"] = percentile(values, percent)
        rows.append(row)
    return pl.DataFrame(rows, infer_schema_length=None).with_columns(selectors.float().fill_nan(None))


def _of_flows_in(windows: Sequence[Window], flows: pl.DataFrame) -> dict[str, float]:
    """Metrics of the flows that began within each span, whenever they finished, and the number of unfinished ones."""
    result: dict[str, float] = {}
    for window in windows:
        begun = started_in(flows, window)
        result |= _of_flows(begun, f"_{window.name}")
        sized = begun.filter(pl.col("size_bytes").is_not_null())
        result[f"fct_unfinished_{window.name}"] = sized["fct_ns"].null_count()
    return result


def started_in(flows: pl.DataFrame, window: Window) -> pl.DataFrame:
    """The flows that began within a span, excluding its end."""
    return flows.filter((pl.col("start_ns") >= window.start_ns) & (pl.col("start_ns") < window.end_ns))


def _of_flows(flows: pl.DataFrame, span: str = "") -> dict[str, float]:
    """Number, mean and percentiles of completion times and slowdowns of the finished flows."""
    result: dict[str, float] = {}
    for name, column in (("fct", "fct_ns"), ("slowdown", "slowdown")):
        values = flows[column].drop_nulls().cast(pl.Float64).to_numpy()
        suffix = "_ns" if name == "fct" else ""
        result[f"{name}_count{span}"] = int(values.size)
        result[f"{name}_mean{suffix}{span}"] = float(values.mean()) if values.size else float("nan")
        for percent in PERCENTILES:
            result[f"{name}_p{percent}{suffix}{span}"] = percentile(values, percent)
    return result


def jain(rates: Iterable[float]) -> float:
    """Jain's index, `(sum x)^2 / (n sum x^2)`; NaN if all values are 0."""
    values = list(rates)
    squares = sum(value * value for value in values)
    return float("nan") if squares == 0 else sum(values) ** 2 / (len(values) * squares)


def supported(points: Iterable[tuple[float, bool]]) -> float | None:
    """The largest point up to which all points are good; None if the first is not.

    Source: docs/algorithms/metrics.md#metrics, supported concurrency.
    """
    best = None
    for point, fine in sorted(points):
        if not fine:
            break
        best = point
    return best


def _of_windows(
    windows: Sequence[Window], checkpoints: pl.DataFrame, of_flows: pl.DataFrame, end_ns: int
) -> dict[str, float]:
    """Goodput and fairness within each span of time, of all flows that began and did not end before it."""
    result: dict[str, float] = {}
    finishes = dict(zip(of_flows["flow_id"].to_list(), of_flows["finish_ns"].to_list(), strict=True))
    flows = checkpoints["flow_id"].unique(maintain_order=True).to_list()
    for window in windows:
        if window.end_ns > end_ns:
            # The run ended before the span did.
            result[f"goodput_bps_{window.name}"] = result[f"jain_{window.name}"] = float("nan")
            continue
        start, end = (
            dict(zip(*(at[name].to_list() for name in ("flow_id", "acked_bytes")), strict=True))
            for at in (checkpoints.filter(pl.col("time_ns") == time) for time in (window.start_ns, window.end_ns))
        )
        under_way = (
            flow for flow in flows if flow in end and (finishes[flow] is None or finishes[flow] > window.start_ns)
        )
        gains = [end[flow] - start.get(flow, 0) for flow in under_way]
        seconds = (window.end_ns - window.start_ns) / 1e9
        result[f"goodput_bps_{window.name}"] = sum(gains) * 8 / seconds
        result[f"jain_{window.name}"] = jain(float(gain) for gain in gains)
    return result


def _goodputs(acked: list[int], starts: list[int], ends: list[int]) -> list[float]:
    return [
        bytes_ / (end - start) if end > start else 0.0 for bytes_, start, end in zip(acked, starts, ends, strict=True)
    ]


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else float("nan")


def _frame(table: AnyTable) -> pl.DataFrame:
    frame = pl.from_arrow(whole(table))
    assert isinstance(frame, pl.DataFrame)  # noqa: S101 - a table gives a frame, an array a series
    return frame
