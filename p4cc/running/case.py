"""One case: its plan, the runs of its seeds, cached or made by a driver, and the notes on all of them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from p4cc.running.derived_run import DerivedRun, Facts, facts_of
from p4cc.running.losses import drop_notes, lossless_warnings, refusal_warnings
from p4cc.running.run_end import cut_off, ending_warnings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from p4cc.planning.network import NetworkPlan
    from p4cc.running.cached_run import SeedRun
    from p4cc.running.driver import Driver, SharedByRuns
    from p4cc.running.packet_trace import PacketTrace
    from p4cc.running.planned_case import PlannedCase, Programs
    from p4cc.scenario.expand import Case


PLANNED_AT_ONCE = 64


@dataclass(frozen=True)
class CaseRun:
    """Results of a case; seeds are in the scenario's order."""

    plan: NetworkPlan
    seeds: list[SeedRun | DerivedRun]
    facts: list[Facts]
    """One per seed."""
    warnings: list[str]
    """Notes for readers of the results."""
    notes: list[str]
    """Notes on how it ran, for the user; they do not affect results."""
    keys: tuple[str, ...]
    """Cache keys of the seeds' runs."""
    passing: tuple[str, ...] = ()
    """The notes on runs made by this call."""
    traced: PacketTrace | None = None
    """Recorded packet traces."""


@dataclass(frozen=True)
class CaseRunner:
    """Runs the cases of one call."""

    driver: Driver
    programs: Programs
    shared: SharedByRuns
    before_runs: Callable[[], object] = lambda: None
    """Called when runs are about to be made."""
    planning: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(PLANNED_AT_ONCE))
    """Number of cases planned or looked up concurrently, while runs proceed."""

    async def run(self, case: Case) -> CaseRun:
        """Plans a case and returns its runs, cached or new; raises UserError."""
        async with self.planning:
            planned = self.programs.plan(case, with_controller=self.driver.takes_controller)
            keys = self.programs.run_keys(planned)
            found: dict[int, SeedRun | DerivedRun] = {**await self._kept(planned, keys)}
        notes: list[str] = []
        traced: PacketTrace | None = None
        if missing := {seed: key for seed, key in keys.items() if seed not in found}:
            self.before_runs()
            made = await self.driver.make(planned, missing, self.shared)
            found, notes, traced = {**found, **made.by_seed}, made.notes, made.traced
        runs = [found[seed] for seed in case.scenario.seeds]
        facts = [run.facts if isinstance(run, DerivedRun) else facts_of(case, planned.plan, run) for run in runs]
        return CaseRun(
            plan=planned.plan,
            seeds=runs,
            facts=facts,
            warnings=[*planned.plan.warnings, *_warnings(planned, runs, facts)],
            notes=[*planned.plan.notes, *notes, *drop_notes(case.label(), [one.drops for one in facts])],
            keys=tuple(keys.values()),
            passing=tuple(notes),
            traced=traced,
        )

    async def _kept(self, planned: PlannedCase, keys: Mapping[int, str]) -> dict[int, SeedRun]:
        """Loads the cached runs."""
        if not self.driver.reads_cache:
            return {}
        loop, cache = asyncio.get_running_loop(), self.shared.cache
        # Concurrently and outside the event loop: a store may be slow.
        loads = {seed: loop.run_in_executor(cache.threads, cache.load, key) for seed, key in keys.items()}
        found: dict[int, SeedRun] = {}
        for seed, load in loads.items():
            if (held := await load) is not None and held.seed == seed:
                found[seed] = held
                self.shared.progress.ended(self.shared.purpose + planned.label(seed), 0)
        return found


def _warnings(planned: PlannedCase, runs: list[SeedRun | DerivedRun], facts: list[Facts]) -> list[str]:
    """Notes on the runs of a case together."""
    label = planned.case.label()
    warnings = [warning for one in facts for warning in one.warnings]
    warnings += [warning for one in facts for warning in one.captures]
    warnings += refusal_warnings(label, [one.refused for one in facts])
    warnings += lossless_warnings(planned.case, planned.plan, [one.lossless for one in facts])
    endings = [(run.seed, one.ending) for run, one in zip(runs, facts, strict=True) if one.ending is not None]
    warnings += ending_warnings(label, endings)
    warnings += cut_off(label, [run.summary for run in runs])
    return warnings
