"""Depths of queues over time, from samples that may exceed memory. Pure: frames in, a frame out.

Source: docs/algorithms/metrics.md#metrics.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl

from p4cc.analysis.percentiles import PERCENTILES

if TYPE_CHECKING:
    from collections.abc import Iterable

_Integers = npt.NDArray[np.int64]


@dataclass
class _Port:
    """Duration of each depth of a port, up to its last sample."""

    held_ns: dict[int, int] = field(default_factory=dict[int, int])
    last: tuple[int, int] | None = None
    """Time and depth of the last sample."""

    def add(self, times: _Integers, depths: _Integers) -> None:
        """Adds samples: a depth holds until the next sample."""
        if self.last is not None:
            times, depths = np.append(self.last[0], times), np.append(self.last[1], depths)
        self._hold(depths[:-1], np.diff(times))
        self.last = int(times[-1]), int(depths[-1])

    def end(self, end_ns: int) -> tuple[_Integers, _Integers]:
        """Ascending depths with their durations, until the end of the run."""
        if self.last is not None:
            (time, depth), self.last = self.last, None
            self._hold(np.array([depth]), np.array([max(end_ns, time + 1) - time]))
        rising = sorted(self.held_ns.items())
        return np.array([depth for depth, _ in rising]), np.array([held for _, held in rising])

    def _hold(self, depths: _Integers, held_ns: _Integers) -> None:
        values, places = np.unique(depths, return_inverse=True)
        sums = np.zeros(len(values), dtype=np.int64)
        np.add.at(sums, places, held_ns)
        for depth, held in zip(values.tolist(), sums.tolist(), strict=True):
            self.held_ns[depth] = self.held_ns.get(depth, 0) + held


def queue_stats(queues: Iterable[pl.DataFrame], end_ns: int) -> pl.DataFrame:
    """Mean and percentiles of each port's depth over time, from parts of samples; a depth holds until the next."""
    schema = {
        "switch": pl.String,
        "port": pl.UInt64,
        "peer": pl.String,
        "mean_pkts": pl.Float64,
        **{f"p{percent}_pkts": pl.UInt64 for percent in PERCENTILES},
        "max_pkts": pl.UInt64,
    }
    ports: dict[tuple[object, ...], _Port] = {}
    for part in queues:
        for key, group in part.group_by("switch", "port", "peer", maintain_order=True):
            times, depths = (group[name].to_numpy().astype(np.int64) for name in ("time_ns", "depth_pkts"))
            ports.setdefault(key, _Port()).add(times, depths)
    rows: list[dict[str, object]] = []
    for (switch, port, peer), of_port in ports.items():
        depths, held_ns = of_port.end(end_ns)
        passed = np.cumsum(held_ns)
        whole = int(passed[-1])
        row: dict[str, object] = {
            "switch": switch,
            "port": port,
            "peer": peer,
            "mean_pkts": float(np.dot(depths, held_ns)) / whole,
            "max_pkts": int(depths[-1]),
        }
        for percent in PERCENTILES:
            # The smallest depth whose duration, with that of all smaller depths, reaches the share of time.
            place = int(np.searchsorted(passed, whole * percent / 100))
            row[f"p{percent}_pkts"] = int(depths[min(place, len(depths) - 1)])
        rows.append(row)
    return pl.DataFrame(rows, schema=schema)
