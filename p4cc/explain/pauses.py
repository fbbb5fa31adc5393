"""How long flows were held by pauses (PFC): frame by frame where those were recorded, else by totals of ports."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    import numpy.typing as npt

    from p4cc.explain.network import Crossing, Way
    from p4cc.explain.timeline import Floats

_Spans = list[tuple[int, int]]


class Pauses:
    """The pauses of one run."""

    def __init__(self, totals: pl.DataFrame | None, frames: pl.DataFrame | None, end_ns: int) -> None:
        self.is_exact = frames is not None
        self._spans: dict[tuple[str, int], _Spans] = {}
        """By the node that paused its neighbour, and its port there."""
        self._totals: dict[tuple[str, int], tuple[float, int, int]] = {}
        """By node and port: paused time, and the first and last instants of it."""
        if totals is not None:
            self._read_totals(totals)
        if frames is not None:
            self._read_frames(frames, end_ns)

    @property
    def were_any(self) -> bool:
        """Whether anything was paused."""
        return bool(self._totals)

    def _read_totals(self, totals: pl.DataFrame) -> None:
        rows = totals.filter(pl.col("paused_ns") > 0)
        for row in rows.iter_rows(named=True):
            key = (row["node"], row["port"])
            # The priority that was paused longest: tables do not say which one a flow had.
            if key not in self._totals or self._totals[key][0] < row["paused_ns"]:
                self._totals[key] = (row["paused_ns"], row["first_pause_ns"], row["last_change_ns"])

    def _read_frames(self, frames: pl.DataFrame, end_ns: int) -> None:
        held: dict[tuple[str, int, int], int] = {}
        for row in frames.sort("time_ns", maintain_order=True).iter_rows(named=True):
            key = (row["node"], row["port"], row["priority"])
            if row["pause"]:
                held.setdefault(key, row["time_ns"])
            elif key in held:
                self._spans.setdefault(key[:2], []).append((held.pop(key), row["time_ns"]))
        for key, start in held.items():
            self._spans.setdefault(key[:2], []).append((start, end_ns))

    def share(self, crossing: Crossing | None, edges: npt.NDArray[np.int64]) -> Floats:
        """Share of each bin in which the flow was certainly held: the longest pause on its way.

        Of links of which it takes one, the least paused counts.
        """
        most = np.zeros(edges.size - 1)
        for stage in () if crossing is None else crossing.stages:
            most = np.maximum(most, np.min([self._of_way(way, edges) for way in stage], axis=0))
        return most

    def _of_way(self, way: Way, edges: npt.NDArray[np.int64]) -> Floats:
        starts, ends = edges[:-1].astype(np.float64), edges[1:].astype(np.float64)
        if not self.is_exact:
            found = self._totals.get((way.start, way.start_port))
            if found is None:
                return np.zeros(starts.size)
            paused, first, last = found
            within = np.clip(np.minimum(ends, last) - np.maximum(starts, first), 0, None) / (ends - starts)
            return np.clip(within * paused / max(last - first, 1), 0, 1)
        total = np.zeros(starts.size)
        for first, last in self._spans.get((way.end, way.end_port), ()):
            total += np.clip(np.minimum(ends, last) - np.maximum(starts, first), 0, None)
        return np.clip(total / (ends - starts), 0, 1)
