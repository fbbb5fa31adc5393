"""Drivers: ways to make the runs of a scenario, their interface, and what the runs of a call share.

A run that Python steps (`StepDriver`) and a lab (`p4cc.lab.run`) are controlled from outside and leave no results
folder: they start from the same `PlannedCase` or its plan, and have no driver.
"""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

from p4cc.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterable, Mapping
    from pathlib import Path

    from p4cc.running.cache import KeptRuns
    from p4cc.running.cached_run import SeedRun
    from p4cc.running.derived_run import DerivedRun
    from p4cc.running.packet_trace import PacketTrace
    from p4cc.running.planned_case import PlannedCase
    from p4cc.running.progress import Runs
    from p4cc.running.remote_runs import ProcessRunner, Study
    from p4cc.scenario.expand import Case
    from p4cc.scenario.schema import ScenarioModel

Read = TypeVar("Read", bound="ReadScenario")
Run_co = TypeVar("Run_co", bound="SeedRun | DerivedRun", covariant=True)
T = TypeVar("T")


@dataclass(frozen=True)
class ReadScenario:
    """The scenario of a call."""

    scenario: ScenarioModel
    cases: list[Case]
    data: dict[str, Any]
    """The scenario after `extends` and the changes from the command line."""
    inputs: dict[str, Path]
    """Files that determine the runs, by their names in the scenario; complete after planning."""


@dataclass(frozen=True)
class SharedByRuns:
    """Shared by all runs of one call."""

    study: Study
    cache: KeptRuns
    places: asyncio.Semaphore
    """Maximum number of concurrent runs."""
    progress: Runs
    """Reports each run's progress."""
    purpose: str = ""
    """Purpose of the runs, a prefix of their names."""
    streams: Path | None = None
    """Folder whose disk receives long tables during a run; if None, all rows stay in memory."""
    processes: ProcessRunner | None = None
    """Processes for runs that hold the interpreter's lock; if None, all runs share this one's."""


@dataclass(frozen=True)
class MadeRuns(Generic[Run_co]):
    """Runs of a case that a driver made."""

    by_seed: Mapping[int, Run_co]
    notes: list[str] = field(default_factory=list[str])
    """Notes on how they were made, for the user."""
    traced: PacketTrace | None = None
    """Recorded packet traces."""


class Driver(Protocol):
    """Makes the runs of a call."""

    keeps_runs: ClassVar[bool] = True
    """Whether runs are ordinary, so that other calls may load them from a cache."""
    takes_controller: ClassVar[bool] = True
    """Whether the user's controller runs."""

    @property
    def reads_cache(self) -> bool:
        """Whether cached runs replace new ones."""
        return self.keeps_runs

    def check(self, runs: int) -> None:
        """Raises UserError if it cannot make this number of runs."""

    def folder(self, results: Path, name: str) -> Path | None:
        """The folder of this scenario's results within the folder of all results; None for any."""
        del results, name

    def cases_ahead(self, seeds: int) -> int | None:
        """Limit on seeds of cases that have started but are not written; None for `jobs`."""
        del seeds

    def begin(self, read: ReadScenario, folder: Path) -> None:
        """Announces what will run and where its results go, before anything runs; raises UserError."""

    def as_run(self, read: Read) -> Read:
        """The scenario as run, including changes on the way; repeating it repeats the run."""
        return read

    def left_by_interrupt(self, *, uses_cache: bool) -> str:
        """The remainder of an interrupted call, for people; empty for none."""
        kept = "finished runs are kept: the same command continues from there"
        return kept if uses_cache and self.keeps_runs else ""

    @abstractmethod
    async def make(
        self, planned: PlannedCase, keys: Mapping[int, str], shared: SharedByRuns
    ) -> MadeRuns[SeedRun | DerivedRun]:
        """Makes the runs of these seeds, which have these cache keys; raises UserError, ControllerError."""


def check_one(runs: int, does: str, option: str) -> None:
    """Raises UserError unless there is exactly one run; `does` says what the option does with it."""
    if runs != 1:
        remedy = "choose one: --variant NAME, --set seeds=[1], and one value for what is swept"
        raise UserError(f"{does} one run, and there are {runs}", place=option, remedy=remedy)


async def side_by_side(calls: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Results of concurrent calls; if one fails, the others are cancelled."""
    tasks = [asyncio.create_task(call) for call in calls]
    try:
        return [await task for task in tasks]
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
