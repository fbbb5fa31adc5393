"""Changes over time: depths of queues, windows and rates of flows.

A page holds a limited number of samples: time bins keep their extremes (`reduce.envelope`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from p4cc.analysis.metrics import goodput_bins
from p4cc.figures.chart import Axis, Line, Panel
from p4cc.figures.traces import filled
from p4cc.json_data import mapping
from p4cc.report.document import HeatMap, Map, Text
from p4cc.report.interactive import MAX_SPANS, block, spans_for
from p4cc.report.reduce import envelope, largest_in_bins, numbers, spread_over
from topos.units import shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from p4cc.figures.chart import Number, Place
    from p4cc.report.document import Block, Figure
    from p4cc.report.runs import Key, Runs

MAX_PORTS = 40
"""Limit of rows in a map of queues."""
MAX_LINES = 10
"""Number of ports, or flows, of a run with a line over time."""
_CELLS = 400_000
"""Limit of cells in the maps of a page."""
_BINS = 160
BIN_NS = 100_000
"""Bins of goodput for short runs."""
_WHAT = {
    "queues_interval_ns": ("Depths of queues", "no packet waited in a queue"),
    "windows_interval_ns": ("Windows and rates", "no flow was under way"),
}
"""By field of a record: its subject, and the condition without samples."""


@dataclass(frozen=True)
class Steps:
    """A value over time that holds until the next sample."""

    times_ns: npt.NDArray[np.int64]
    values: npt.NDArray[np.float64]

    def since(self, begin_ns: int) -> Steps:
        """From an instant on, starting with the value at that time."""
        first = max(int(np.searchsorted(self.times_ns, begin_ns, side="right")) - 1, 0)
        return Steps(np.maximum(self.times_ns[first:], begin_ns), self.values[first:])

    def reduced(self, spans: int, scale: float = 1.0) -> tuple[list[float], list[Number]]:
        """Times in ms and values, as used in a page."""
        places = envelope(self.times_ns, self.values, spans)
        return (self.times_ns[places] / 1e6).tolist(), numbers((self.values[places] * scale).tolist())


def steps(frame: pl.DataFrame, column: str) -> Steps:
    """A column of a table with `time_ns`."""
    return Steps(frame["time_ns"].cast(pl.Int64).to_numpy(), frame[column].cast(pl.Float64).to_numpy())


def _no_samples(runs: Runs, field: str) -> str:
    """Why a table of samples is empty: not recorded, or nothing to sample."""
    what, nothing = _WHAT[field]
    records = (mapping(folder.results.run.scenario.model_dump().get("record")) for folder in runs.folders)
    intervals = {interval for record in records if isinstance(interval := record.get(field), int | str)}
    if not intervals:
        return f"{what} were not recorded. Set record.{field}, such as --set record.{field}=10000."
    texts = sorted(
        f"every {shown('ns', interval)}" if isinstance(interval, int) else "every round trip, 100 us at most"
        for interval in intervals
    )
    begins, ends = zip(*runs.spans.values(), strict=True)
    lasted = shown("ns", max(ends) - min(begins))
    return (
        f"{what} were sampled {' and '.join(texts)}, and {nothing} at any of these instants: the runs took {lasted}. "
        f"Sample more often, such as --set record.{field}=1000."
    )


def queue_blocks(runs: Runs) -> list[Block]:
    """The map of all ports over time, and the depths of selected ports."""
    samples = dict(runs.frames("queues", detailed=True))
    if not samples:
        return [Text(_no_samples(runs, "queues_interval_ns"), "why")]
    ports = {key: _deepest(rows) for key, rows in samples.items()}
    if not any(ports.values()):
        return [Text("No packet waited in any queue when it was sampled.", "why")]
    return [_map(runs, ports), _depths(runs, ports)]


def _deepest(rows: pl.DataFrame) -> list[tuple[str, Steps]]:
    """Ports whose queues held packets, the deepest first."""
    result: list[tuple[int, str, Steps]] = []
    for (switch, peer), of in rows.group_by("switch", "peer", maintain_order=True):
        depth = of["depth_pkts"].max()
        if isinstance(depth, int) and depth > 0:
            result.append((depth, f"{switch} to {peer}", steps(of, "depth_pkts")))
    return [(name, one) for _, name, one in sorted(result, key=lambda port: -port[0])]


def _map(runs: Runs, ports: Mapping[Key, list[tuple[str, Steps]]]) -> HeatMap:
    most = min(MAX_PORTS, max(map(len, ports.values())))
    bins = max(40, min(_BINS, _CELLS // max(most * len(ports), 1)))
    maps: list[Map] = []
    for key, of in ports.items():
        begin_ns, end_ns = runs.spans[key]
        last = max((int(one.times_ns[-1]) for _, one in of), default=end_ns)
        # If everything ended long before the run did, the remaining time is empty.
        end_ns = max(begin_ns + 1, min(end_ns, last + (last - begin_ns) // 50 + 1))
        shown = of[:most]
        z = [numbers(largest_in_bins(one.times_ns, one.values, begin_ns, end_ns, bins).tolist()) for _, one in shown]
        x = numbers([(begin_ns + (end_ns - begin_ns) * place / bins) / 1e6 for place in range(bins)])
        maps.append(Map(key.series, x, [name for name, _ in shown], z, key.point, key.seed))
    hidden = max(len(of) for of in ports.values()) - most
    notes = [f"The {most} deepest ports; up to {hidden} more had queued packets."] if hidden > 0 else []
    notes += filter(None, ["Ports whose queues were always empty are not shown.", runs.left_out])
    return HeatMap(
        "Queues over time",
        f"The largest number of packets queued at each port in each of {bins} spans of time.",
        "time (ms)",
        "port",
        "packets",
        maps,
        notes,
    )


def _depths(runs: Runs, ports: Mapping[Key, list[tuple[str, Steps]]]) -> Figure:
    thresholds = dict(runs.frames("counters", detailed=True))
    spans = spans_for(sum(min(len(of), MAX_LINES) for of in ports.values()))
    lines: list[Line] = []
    for key, of in ports.items():
        for name, one in of[:MAX_LINES]:
            x, y = one.since(runs.spans[key][0]).reduced(spans)
            lines.append(_line(runs, key, name, x, y))
            for role, value in _thresholds(thresholds.get(key), name):
                lines.append(_line(runs, key, name, [x[0], x[-1]], [value, value], role))
    notes = [f"Of the {MAX_LINES} deepest ports of a run; a line keeps the extremes of each of up to {spans} spans."]
    return block(
        "Depth of a port's queue",
        "Queued packets, and the installed thresholds K and K_dc if the program has them. A depth holds until the next "
        "sample.",
        [Panel(Axis("time", "ms"), Axis("packets", low=0), lines)],
        [*notes, *filter(None, [runs.left_out])],
        pick="port",
    )


def _line(runs: Runs, key: Key, name: str, x: Sequence[Place], y: Sequence[Number], role: str = "") -> Line:
    """A line of a run that the reader selects by name."""
    variant = runs.series[key.series].label
    label = ", ".join(filter(None, (variant, name, role)))
    dash = 0 if not role else 2 if role == "K" else 3
    width = 0.6 if role else 1.2
    return Line(x, y, label, name, variant, None, "steps", dash, width=width, point=key.point, seed=key.seed, role=role)


def _thresholds(counters: pl.DataFrame | None, port: str) -> list[tuple[str, int]]:
    if counters is None:
        return []
    named = pl.format("{} to {}", "switch", "peer") == port
    rows = counters.filter(named).select("k_pkts", "k_dc_pkts").to_dicts()
    found = [("K", rows[0]["k_pkts"]), ("K_dc", rows[0]["k_dc_pkts"])] if rows else []
    return [(role, int(value)) for role, value in found if value is not None]


def window_blocks(runs: Runs) -> list[Block]:
    """Windows, or rates, of flows that the reader selects."""
    samples = dict(runs.frames("windows", detailed=True))
    if not samples:
        return [Text(_no_samples(runs, "windows_interval_ns"), "why")]
    flows = dict(runs.frames("flows", detailed=True))
    chosen = _chosen_of(runs, samples, flows)
    spans = spans_for(2 * sum(map(len, chosen.values())))
    cwnd: list[Line] = []
    rate: list[Line] = []
    goodput: list[Line] = []
    for key, rows in samples.items():
        bin_ns = bin_of(runs.spans[key][1] - runs.spans[key][0])
        ours = rows.filter(pl.col("flow_id").is_in(list(chosen[key])))
        rates = goodput_bins(ours, bin_ns).partition_by("flow_id", as_dict=True, maintain_order=True)
        for (flow,), of in ours.partition_by("flow_id", as_dict=True, maintain_order=True).items():
            name = chosen[key][flow]
            for column, scale, into in (("cwnd_segments", 1.0, cwnd), ("rate_bps", 1e-9, rate)):
                defined_rows = of.drop_nulls(column)
                if defined_rows.height:
                    into.append(_line(runs, key, name, *steps(defined_rows, column).reduced(spans, scale)))
            if (flow,) in rates:
                series = steps(filled(rates[flow,], bin_ns), "rate_bps").reduced(spans, 1e-9)
                goodput.append(_line(runs, key, name, *series))
    panels = [
        Panel(Axis("time", "ms"), Axis(label, low=0), lines, title)
        for lines, label, title in (
            (cwnd, "segments", "Congestion window"),
            (rate, "Gb/s", "Sending rate"),
            (goodput, "Gb/s", "Goodput"),
        )
        if lines
    ]
    if not panels:
        return [Text("The samples of senders hold no window and no rate.", "why")]
    notes = [
        f"Of up to {MAX_LINES} flows of a run, evenly from the slowest to the fastest; goodput in bins of "
        f"{BIN_NS / 1e3:g} us or a 200th of the run; a line keeps the extremes of each of up to {spans} spans."
    ]
    notes += filter(None, [runs.left_out])
    return [block("Chosen flows", "A value holds until the next sample.", panels, notes, pick="flows", picked=3)]


def bin_of(span_ns: int) -> int:
    """The bin of goodput for a run of this length: few enough to distinguish."""
    return max(BIN_NS, span_ns // MAX_SPANS)


def _chosen_of(
    runs: Runs, samples: Mapping[Key, pl.DataFrame], flows: Mapping[Key, pl.DataFrame]
) -> dict[Key, dict[int, str]]:
    """Flows of each run: the same ones for all variants at a point and seed, so that variants can be compared."""
    first: dict[tuple[int, int, int], dict[int, str]] = {}
    result: dict[Key, dict[int, str]] = {}
    for key, rows in samples.items():
        at = (runs.series[key.series].folder, key.point, key.seed)
        own = _chosen(rows, flows.get(key))
        known = set(rows["flow_id"].unique().to_list())
        both = {flow: name for flow, name in first.setdefault(at, own).items() if flow in known}
        result[key] = both or own
    return result


def _chosen(windows: pl.DataFrame, flows: pl.DataFrame | None) -> dict[int, str]:
    """Flows with samples, evenly from the slowest to the fastest, with unfinished flows first."""
    known = windows["flow_id"].unique(maintain_order=True).to_list()
    if flows is None:
        return {flow: f"flow {flow}" for flow in known[:MAX_LINES]}
    sampled = flows.filter(pl.col("flow_id").is_in(known))
    ordered = sampled.sort("fct_ns", descending=True, nulls_last=False, maintain_order=True)
    rows = ordered.select("flow_id", "src", "dst").rows()
    flow_ends = sorted(rows[place] for place in spread_over(len(rows), MAX_LINES))
    return {flow: f"flow {flow}: {src} to {dst}" for flow, src, dst in flow_ends}
