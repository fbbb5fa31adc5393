"""Results of a lab's agents: flows, windows and queues as in virtual time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl


@dataclass(frozen=True)
class AgentRun:
    """Tables as those of `p4cc run`; times count from the plan's start."""

    flows: pl.DataFrame
    windows: pl.DataFrame
    queues: pl.DataFrame
    """Depth of the bottleneck where packets were captured."""
    summary: Mapping[str, float | None]
    remarks: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    tables: dict[str, pl.DataFrame] = field(default_factory=dict[str, "pl.DataFrame"])
    """For the user's packets: `packets_sent`, `packets_received`, `hosts`."""
