"""A run's tables over time: what each flow had done at the edges of equal bins, and how full links were within them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p4cc.explain.network import Way

MOST_BINS = 2_000
MOST_ROUND = 20
"""Bins on each side that a mean over round trips takes in at most."""
_CELLS = 20_000_000
"""Bins times flows that are worked out at most; longer bins are taken where that is not enough."""
SATURATED = 0.85
"""Of a link's rate: senders with a target below it (HPCC's 95 %) fill a link, too."""
Floats: TypeAlias = "npt.NDArray[np.float64]"
Flags: TypeAlias = "npt.NDArray[np.bool_]"


@dataclass(frozen=True)
class Flow:
    """A flow that began, from the table of flows."""

    flow_id: int
    src: str
    dst: str
    label: str
    size_bytes: int | None
    start_ns: int
    end_ns: int
    """When it finished, or the run ended."""
    has_finished: bool
    acked_bytes: int
    timeouts: int
    fast_retransmits: int
    marks: int
    retransmitted_pkts: int
    slowdown: float | None


@dataclass(frozen=True)
class Samples:
    """Rows of the table of windows of one flow."""

    time_ns: npt.NDArray[np.int64]
    columns: Mapping[str, Floats]
    phases: npt.NDArray[np.str_]

    def at(self, times: npt.NDArray[np.int64], until: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Places of the rows that hold at some times: the last one, or the first within its bin; -1 for none."""
        places = np.searchsorted(self.time_ns, times, side="right") - 1
        first_is_within = (places < 0) & (self.time_ns[0] <= until)
        return np.where(first_is_within, 0, places)


class Timeline:
    """Bins of one run."""

    def __init__(self, flows: list[Flow], windows: pl.DataFrame | None, queues: pl.DataFrame | None) -> None:
        self.flows = flows
        self.start_ns = min(flow.start_ns for flow in flows)
        self.end_ns = max(*(flow.end_ns for flow in flows), self.start_ns + 1)
        self.samples = {} if windows is None else _samples(windows)
        self.edges = self._edges()
        self._round = self._bins_of_a_round()
        self._queues = queues
        self._sent: dict[str, Floats] = {}
        self._received: dict[str, Floats] = {}
        self._active: dict[tuple[str, bool], Floats] = {}
        for flow in flows:
            done = np.diff(self.acked(flow))
            is_active = ((self.edges[1:] > flow.start_ns) & (self.edges[:-1] < flow.end_ns)).astype(np.float64)
            for sums, host in ((self._sent, flow.src), (self._received, flow.dst)):
                sums[host] = sums[host] + done if host in sums else done
                key = (host, sums is self._received)
                self._active[key] = self._active[key] + is_active if key in self._active else is_active

    def _edges(self) -> npt.NDArray[np.int64]:
        times = [one.time_ns for one in self.samples.values()]
        span = self.end_ns - self.start_ns
        step = span / min(MOST_BINS, 200)
        if times:
            steps = np.diff(np.unique(np.concatenate(times)))
            step = float(steps.min()) if steps.size else step
        most = max(50, min(MOST_BINS, _CELLS // len(self.flows)))
        step = max(step, 1.0) * max(1.0, np.ceil(span / max(step, 1.0) / most))
        # Samples are at multiples of their interval.
        first = np.floor(self.start_ns / step) * step
        return np.arange(first, self.end_ns + step, step).astype(np.int64)

    def _bins_of_a_round(self) -> int:
        """Bins over which rates are averaged: ACKs of one flow come in bursts within a round trip."""
        srtts = [float(np.nanmedian(srtt)) for srtt in self._round_trips()]
        span = np.median(srtts) / max(self.edges[1] - self.edges[0], 1) if srtts else 1.0
        return int(min(max(2 * span, 1), MOST_ROUND))

    def _round_trips(self) -> list[Floats]:
        found = (one.columns["srtt_ns"] for one in self.samples.values())
        return [srtt for srtt in found if not np.isnan(srtt).all()]

    def smoothed(self, values: Floats) -> Floats:
        """Means over a few round trips."""
        width = min(2 * self._round + 1, values.size)
        counts = np.convolve(np.ones(values.size), np.ones(width), mode="same")
        return np.convolve(values, np.ones(width), mode="same") / counts

    def acked(self, flow: Flow) -> Floats:
        """Payload acknowledged at the edges."""
        samples = self.samples.get(flow.flow_id)
        if samples is None:
            ends = np.array([flow.start_ns, max(flow.end_ns, flow.start_ns + 1)], dtype=np.float64)
            return np.interp(self.edges, ends, [0.0, float(flow.acked_bytes)])
        places = np.searchsorted(samples.time_ns, self.edges, side="right") - 1
        found = np.where(places < 0, 0.0, samples.columns["acked_bytes"][np.maximum(places, 0)])
        return np.where(self.edges >= flow.end_ns, float(flow.acked_bytes), found)

    def load(self, way: Way, *, is_last: bool, payload_share: float) -> Floats:
        """Share of a host's link that acknowledged payload took in each bin."""
        sums = self._received if is_last else self._sent
        done = sums.get(way.end if is_last else way.start)
        if done is None:
            return np.zeros(self.edges.size - 1)
        spans_s = np.diff(self.edges) / 1e9
        return self.smoothed(8 * done / (spans_s * way.rate_bps * payload_share))

    def active(self, way: Way, *, is_last: bool) -> Floats:
        """Flows that were active in each bin over a host's link."""
        return self._active.get((way.end if is_last else way.start, is_last), np.zeros(self.edges.size - 1))

    def waits(self, way: Way) -> Flags | None:
        """Whether packets waited for a link in each bin; None where depths were not recorded."""
        if self._queues is None:
            return None
        rows = self._queues.filter((pl.col("switch") == way.start) & (pl.col("port") == way.start_port))
        times, depths = rows["time_ns"].to_numpy(), rows["depth_pkts"].to_numpy()
        if not times.size:
            return np.zeros(self.edges.size - 1, dtype=np.bool_)
        places = np.searchsorted(times, self.edges[:-1], side="right") - 1
        return (places >= 0) & (depths[np.maximum(places, 0)] > 0)

    def util(self, way: Way) -> float:
        """Mean load of a link while flows were active."""
        return 8e9 * way.bytes / (way.rate_bps * (self.end_ns - self.start_ns))


def _samples(windows: pl.DataFrame) -> dict[int, Samples]:
    columns = ["cwnd_segments", "flight_segments", "acked_bytes", "next_byte", "rate_bps", "srtt_ns", "rto_ns"]
    found: dict[int, Samples] = {}
    for (flow_id,), rows in windows.group_by("flow_id", maintain_order=True):
        values = {name: rows[name].cast(pl.Float64).fill_null(np.nan).to_numpy() for name in columns}
        phases = rows["phase"].fill_null("").to_numpy().astype(np.str_)
        found[int(str(flow_id))] = Samples(rows["time_ns"].cast(pl.Int64).to_numpy(), values, phases)
    return found


def flows_of(rows: pl.DataFrame, end_ns: int) -> list[Flow]:
    """Flows that began."""
    found: list[Flow] = []
    for row in rows.filter(pl.col("start_ns").is_not_null()).iter_rows(named=True):
        finish = row["finish_ns"]
        found.append(
            Flow(
                flow_id=row["flow_id"],
                src=row["src"],
                dst=row["dst"],
                label=row["class"] or "",
                size_bytes=row["size_bytes"],
                start_ns=row["start_ns"],
                end_ns=end_ns if finish is None else finish,
                has_finished=finish is not None,
                acked_bytes=row["acked_bytes"],
                timeouts=row["timeouts"],
                fast_retransmits=row["fast_retransmits"],
                marks=row["marks_level1"] + row["marks_level2"],
                retransmitted_pkts=row["retransmitted_pkts"],
                slowdown=row["slowdown"],
            )
        )
    return found
