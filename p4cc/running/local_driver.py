"""Runs on this machine at full speed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from p4cc.running.controller_run import ControlOutcome, run_with_stops
from p4cc.running.driver import check_one
from p4cc.running.network_driver import NetworkDriver
from p4cc.running.process_runs import make_in_processes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p4cc.running.cached_run import SeedRun
    from p4cc.running.driver import MadeRuns, SharedByRuns
    from p4cc.running.network_thread import InstalledRun
    from p4cc.running.packet_trace import TraceRequest
    from p4cc.running.planned_case import PlannedCase


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

    async def make(self, planned: PlannedCase, keys: Mapping[int, str], shared: SharedByRuns) -> MadeRuns[SeedRun]:
        """Runs with algorithms in Python execute in separate processes, where the call has several runs."""
        if shared.processes is not None and planned.plan.user_algorithms:
            return await make_in_processes(shared.processes, planned, keys, shared)
        return await super().make(planned, keys, shared)

    async def lead(self, run: InstalledRun) -> ControlOutcome | None:
        """Runs to the end."""
        if self.stops(run.planned) is not None:
            return await run_with_stops(run, run)
        await run.to_end(run.threads)
        return None
