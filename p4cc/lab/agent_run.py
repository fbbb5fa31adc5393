"""What the agents of a lab left: flows, windows and queues as a run of virtual time has them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class AgentRun:
    """What the agents of a lab left: rows as `p4cc run` has them, times from the plan's start."""

    flows: pl.DataFrame
    windows: pl.DataFrame
    queues: pl.DataFrame
    """Depth of the bottleneck where packets were captured."""
    summary: dict[str, Any]
    remarks: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    tables: dict[str, pl.DataFrame] = field(default_factory=dict[str, "pl.DataFrame"])
    """Of packets of the user's own: `packets_sent`, `packets_received`, `hosts`."""
