"""What a call of `p4cc run` made, for whoever shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from p4cc.running.packet_trace import PacketTrace


@dataclass(frozen=True)
class RunOutcome:
    """What was made: the summary, where it is, and what to say about it."""

    title: str
    summary: dict[str, Any]
    folder: Path
    figures: list[Path]
    row_keys: list[str]
    warnings: list[str]
    notes: list[str]
    """What this call did that changes no result."""
    traced: PacketTrace | None = None
    """What was kept of packets that are followed."""
    report: Path | None = None
    aside: str = ""
    """Why the folder is not the one of the scenario's name; empty where it is."""
    stands: bool = False
    """Whether all of it was there, so that nothing was written."""
    aggregated: list[dict[str, Any]] | None = None
    """Rows of the table for people, where they are known already."""

    def rows(self) -> list[dict[str, Any]]:
        """Rows of the table for people."""
        if self.aggregated is not None:
            return self.aggregated
        from p4cc.analysis.summary_table import aggregate

        return aggregate(self.summary["runs"], self.row_keys, self.summary.get("interval", "range"))
