"""The headroom of lossless ports in one run: configured, by the formula, and the most that was used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from p4cc.json_data import items, mapping, number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from p4cc.analysis.recorded import RecordedCase
    from p4cc.explain.network import Graph


@dataclass(frozen=True)
class Headroom:
    """The ports of switches at links of one rate."""

    rate_bps: int
    ports: int
    configured_bytes: int
    """The least of a port and priority."""
    formula_bytes: int
    """What IEEE 802.1Qbb asks for; the most of a port and priority."""
    used_bytes: int
    """The most that a port and priority used."""
    where: str
    """The port, where any was used."""

    def __str__(self) -> str:
        """For people."""
        used = f"most used {self.used_bytes:,} B ({self.where})" if self.where else "none used"
        said = (
            f"headroom of {self.ports:,} ports at {self.rate_bps / 1e9:g} Gb/s: "
            f"configured {self.configured_bytes:,} B, by the formula {self.formula_bytes:,} B, {used}"
        )
        if self.used_bytes and self.configured_bytes < self.formula_bytes:
            return f"{said}; less than the formula's: this run shows what it needed, not what another may"
        return said


def headroom_of(case: RecordedCase, pauses: pl.DataFrame | None, graph: Graph) -> Iterator[Headroom]:
    """The headroom by rate; nothing for runs without lossless priorities."""
    rates = {(way.start, way.start_port): way.rate_bps for way in graph.ways}
    used: dict[int, tuple[int, str]] = {}
    if pauses is not None:
        for node, port, peak in pauses.select("node", "port", "peak_headroom_bytes").iter_rows():
            rate = rates.get((node, port))
            if rate is not None and peak > used.get(rate, (0, ""))[0]:
                used[rate] = (peak, f"{node} port {port}")
    for one in items((case.model_extra or {}).get("headroom") or []):
        planned = {key: int(number(value) or 0) for key, value in mapping(one).items()}
        most, where = used.get(planned["rate_bps"], (0, ""))
        yield Headroom(**planned, used_bytes=most, where=where)


def losses_of(headroom: Sequence[Headroom], queues: pl.DataFrame | None) -> Iterator[str]:
    """What packets say that found the headroom full."""
    dropped = 0 if queues is None else int(queues["dropped_headroom"].sum() or 0)
    if headroom and dropped:
        enough = ", ".join(f"{one.formula_bytes:,} B at {one.rate_bps / 1e9:g} Gb/s" for one in headroom)
        yield f"{dropped:,} packets found the headroom full; sufficient by the formula: {enough}"
