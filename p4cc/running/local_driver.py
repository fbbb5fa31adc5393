"""Runs on this machine at full speed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from p4cc.running.controller_run import ControlOutcome, run_with_stops
from p4cc.running.driver import check_one
from p4cc.running.network_driver import NetworkDriver

if TYPE_CHECKING:
    from p4cc.running.network_thread import InstalledRun
    from p4cc.running.packet_trace import TraceRequest


@dataclass(frozen=True)
class LocalDriver(NetworkDriver):
    """Makes each run to its end, with the user's controller, and faults and changes of entries at their instants."""

    tracing: TraceRequest | None = None
    """Traces packets of the only run."""

    @property
    def reads_cache(self) -> bool:
        """A cached run has no packet traces."""
        return self.tracing is None

    def check(self, runs: int) -> None:
        """Refuses to trace packets of several runs."""
        if self.tracing is not None:
            check_one(runs, "follows packets of", "--trace")

    async def lead(self, run: InstalledRun) -> ControlOutcome | None:
        """Runs to the end."""
        if self.stops(run.planned) is not None:
            return await run_with_stops(run, run)
        await run.to_end(run.threads)
        return None
