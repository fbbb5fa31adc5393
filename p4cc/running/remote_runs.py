"""Runs in other processes and on other machines: what a run loop requests, instead of running networks itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from p4cc.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from p4cc.planning.execution import Exec
    from p4cc.planning.programs import HeaderTypes
    from p4cc.running.cached_run import SeedRun
    from p4cc.running.derived_run import DerivedRun
    from p4cc.running.progress import Runs


class LostClusterError(UserError):
    """The machines are unreachable; finished runs are cached."""

    finished = 0
    """Number of runs that are cached but were not returned."""


@dataclass(frozen=True)
class ProgramContent:
    """A compiled program in the form that other machines need to push it."""

    config: bytes
    p4info: bytes | str
    header_types: HeaderTypes
    filters: frozenset[str] = frozenset()
    """Its WRED filters (`Wred`), which BF Runtime configures."""


@dataclass(frozen=True)
class Study:
    """Shared by all runs of one call."""

    scenario: Path
    data: dict[str, Any]
    """The scenario after `extends` and the changes from the command line."""
    inputs: Mapping[str, Path]
    """Files read before planning, by their names in the scenario."""
    programs: Mapping[str, ProgramContent]
    """By their names in the scenario."""
    threads: int
    back_end: Exec | None


@dataclass(frozen=True)
class RunOrder:
    """One run and its expected cache key: the process that makes it checks that it is the same run."""

    study: Study
    inputs: Mapping[str, Path]
    """Files that its case reads, including those shared by all cases."""
    variant: str
    point: dict[str, Any]
    seed: int
    key: str
    label: str
    """For people."""
    memory_bytes: int = 0
    """Estimated memory, as far as the network's description shows."""


@dataclass(frozen=True)
class RemoteResult:
    """A run made by another machine."""

    run: SeedRun | None
    """Its cached form; None if it is already in the cache."""
    notes: tuple[str, ...]
    is_kept: bool
    """Whether it is already in the cache."""
    derived: DerivedRun | None = None
    """With derived tables, unless the worker returned the whole run."""

    @property
    def result(self) -> SeedRun | DerivedRun:
        """Input of result files."""
        found = self.derived or self.run
        if found is None:
            raise ValueError("a run that is not there")
        return found


class RemoteRunner(Protocol):
    """The other machines."""

    @property
    def runs_ahead(self) -> int:
        """Limit of runs requested before their results are written: it keeps all machines busy and bounds memory."""
        ...

    async def make(self, asked: RunOrder) -> RemoteResult:
        """Makes a run; raises UserError, and LostClusterError if the machines are unreachable."""
        ...


class ProcessRunner(Protocol):
    """Processes of this machine."""

    async def make(self, order: RunOrder, progress: Runs) -> tuple[SeedRun, tuple[str, ...]]:
        """Makes a run, and returns it with its notes; raises UserError."""
        ...
