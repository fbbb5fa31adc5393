"""Results of a call of `p4cc run`, for its callers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from p4cc.running.packet_trace import PacketTrace


@dataclass(frozen=True)
class RunOutcome:
    """The summary, its location, and notes on it."""

    title: str
    summary: dict[str, Any]
    folder: Path
    figures: list[Path]
    row_keys: list[str]
    warnings: list[str]
    notes: list[str]
    """Notes that do not affect results."""
    traced: PacketTrace | None = None
    """Recorded packet traces."""
    report: Path | None = None
    aside: str = ""
    """Why the folder differs from the one named after the scenario; otherwise empty."""
    up_to_date: bool = False
    """Whether all of it was up to date, so that nothing was written."""
    aggregated: list[dict[str, Any]] | None = None
    """Rows of the table for people, if already computed."""

    def rows(self) -> list[dict[str, Any]]:
        """Rows of the table for people."""
        if self.aggregated is not None:
            return self.aggregated
        from p4cc.analysis.summary_table import aggregate

        return aggregate(self.summary["runs"], self.row_keys, self.summary.get("interval", "range"))
