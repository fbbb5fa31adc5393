"""Runs on other machines, each with the files and memory that it needs."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from p4cc.running.driver import Driver, MadeRuns, SharedByRuns, side_by_side
from p4cc.running.run_orders import run_orders

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p4cc.running.cached_run import SeedRun
    from p4cc.running.derived_run import DerivedRun
    from p4cc.running.planned_case import PlannedCase
    from p4cc.running.remote_runs import RemoteRunner, RunOrder


@dataclass(frozen=True)
class ClusterDriver(Driver):
    """Lets other machines make the runs, and caches those that they did not cache."""

    machines: RemoteRunner

    def cases_ahead(self, seeds: int) -> int | None:
        """Enough to keep all machines busy: results that wait for an earlier case stay in memory."""
        return max(1, self.machines.runs_ahead // seeds)

    async def make(
        self, planned: PlannedCase, keys: Mapping[int, str], shared: SharedByRuns
    ) -> MadeRuns[SeedRun | DerivedRun]:
        """Requests all runs at once."""
        made = await side_by_side(self._make(order, shared) for order in run_orders(planned, keys, shared))
        by_seed = {seed: run for seed, (run, _) in zip(keys, made, strict=True)}
        return MadeRuns(by_seed, [note for _, notes in made for note in notes])

    async def _make(self, order: RunOrder, shared: SharedByRuns) -> tuple[SeedRun | DerivedRun, tuple[str, ...]]:
        """One run without cache-only data, and its notes."""
        with shared.progress.asked():
            made = await self.machines.make(order)
            if made.run is not None and not made.is_kept:
                loop = asyncio.get_running_loop()
                await loop.run_in_executor(shared.cache.threads, shared.cache.store, order.key, made.run)
        shared.progress.ended(order.label, made.result.summary["packet_hops"])
        return made.result, made.notes
