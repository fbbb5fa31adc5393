"""The ways to run the networks of a scenario: what each of them tells and does, and what the runs of a call share.

A run that Python leads (`StepDriver`) and a lab (`p4cc.lab.run`) are led from outside and leave no folder of results:
they begin with the same `PlannedCase` or its plan, and have no driver.
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
    from p4cc.running.remote_runs import Study
    from p4cc.scenario.expand import Case
    from p4cc.scenario.schema import ScenarioModel

Read = TypeVar("Read", bound="ReadScenario")
Run_co = TypeVar("Run_co", bound="SeedRun | DerivedRun", covariant=True)
T = TypeVar("T")


@dataclass(frozen=True)
class ReadScenario:
    """What a call runs."""

    scenario: ScenarioModel
    cases: list[Case]
    data: dict[str, Any]
    """The scenario after `extends` and what the command line changes."""
    inputs: dict[str, Path]
    """Files that decide the runs, by the names that the scenario gives them; complete when the cases are planned."""


@dataclass(frozen=True)
class SharedByRuns:
    """What all runs of one call share."""

    study: Study
    cache: KeptRuns
    places: asyncio.Semaphore
    """How many runs may be under way."""
    progress: Runs
    """Reports how far each run is."""
    purpose: str = ""
    """What the runs are for, in front of their names."""
    streams: Path | None = None
    """Folder on whose disk long tables of runs are written while they go on; all rows stay in memory if not given."""


@dataclass(frozen=True)
class MadeRuns(Generic[Run_co]):
    """Runs of a case that a driver made."""

    by_seed: Mapping[int, Run_co]
    notes: list[str] = field(default_factory=list[str])
    """What the user should know of how they were made."""
    traced: PacketTrace | None = None
    """What was kept of packets that are followed."""


class Driver(Protocol):
    """A way to make the runs of a call."""

    keeps_runs: ClassVar[bool] = True
    """Whether runs are as any other's, so that a cache has them for other calls."""
    takes_controller: ClassVar[bool] = True
    """Whether the user's controller runs."""

    @property
    def reads_cache(self) -> bool:
        """Whether runs that were made before take the place of new ones."""
        return self.keeps_runs

    def check(self, runs: int) -> None:
        """Raises UserError where so many runs cannot be made."""

    def folder(self, results: Path, name: str) -> Path | None:
        """Where the results of this scenario go, in the folder of all results; None for where any go."""
        del results, name

    def cases_ahead(self, seeds: int) -> int | None:
        """Cases of at most so many seeds that are begun and not written; None for as many as `jobs`."""
        del seeds

    def begin(self, read: ReadScenario, folder: Path) -> None:
        """Is told what will run and where its results go, before anything runs; raises UserError."""

    def as_run(self, read: Read) -> Read:
        """What was run in the end, with what was changed on the way: it repeats the run."""
        return read

    def left_by_interrupt(self, *, uses_cache: bool) -> str:
        """What a call leaves that was interrupted, for people; empty for nothing."""
        kept = "finished runs are kept: the same command continues from there"
        return kept if uses_cache and self.keeps_runs else ""

    @abstractmethod
    async def make(
        self, planned: PlannedCase, keys: Mapping[int, str], shared: SharedByRuns
    ) -> MadeRuns[SeedRun | DerivedRun]:
        """Makes the runs of these seeds, which have these names in a cache; raises UserError, ControllerError."""


def check_one(runs: int, does: str, option: str) -> None:
    """Raises UserError where there is not one run; `does` says what the option does with it."""
    if runs != 1:
        remedy = "choose one: --variant NAME, --set seeds=[1], and one value for what is swept"
        raise UserError(f"{does} one run, and there are {runs}", place=option, remedy=remedy)


async def side_by_side(calls: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """What calls give that go side by side; the others are cancelled when one fails."""
    tasks = [asyncio.create_task(call) for call in calls]
    try:
        return [await task for task in tasks]
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
