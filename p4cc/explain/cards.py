"""Network cards of hosts that take packets slowly (table `slow_receivers`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt
    import polars as pl

    from p4cc.explain.timeline import Flags


@dataclass(frozen=True)
class Card:
    """How a host takes packets from its card."""

    rate_bps: int
    """0 if it takes nothing."""
    start_ns: int
    end_ns: int | None

    def is_slow(self, edges: npt.NDArray[np.int64]) -> Flags:
        """Bins between edges in which the host is slow."""
        until = np.inf if self.end_ns is None else self.end_ns
        return (edges[1:] > self.start_ns) & (edges[:-1] < until)


def cards_of(rows: pl.DataFrame | None) -> Mapping[str, Card]:
    """The cards of a run by host; none without the table."""
    if rows is None:
        return {}
    columns = rows.select("host", "rate_bps", "start_ns", "end_ns")
    return {host: Card(rate_bps, start_ns, end_ns) for host, rate_bps, start_ns, end_ns in columns.iter_rows()}
