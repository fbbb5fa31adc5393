"""Runs that other machines make: what a run loop asks of them, in place of running networks in this process."""

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


class LostClusterError(UserError):
    """The machines are gone; what was finished is kept."""

    finished = 0
    """Runs that are kept and were not handed over."""


@dataclass(frozen=True)
class ProgramContent:
    """A compiled program as others need it to push it."""

    config: bytes
    p4info: bytes | str
    header_types: HeaderTypes
    filters: frozenset[str] = frozenset()
    """Its filters of the chip (`Wred`), which BF Runtime sets."""


@dataclass(frozen=True)
class Study:
    """What all runs of one call share."""

    scenario: Path
    data: dict[str, Any]
    """The scenario after `extends` and what the command line changes."""
    inputs: Mapping[str, Path]
    """Files that were read before cases were planned, by the names that the scenario gives them."""
    programs: Mapping[str, ProgramContent]
    """By their names in the scenario."""
    threads: int
    back_end: Exec | None


@dataclass(frozen=True)
class RunOrder:
    """One run, and the name that it must have in a cache: whoever makes it checks that it is the same run."""

    study: Study
    inputs: Mapping[str, Path]
    """Files that its case reads, those of the study among them."""
    variant: str
    point: dict[str, Any]
    seed: int
    key: str
    label: str
    """For people."""
    memory_bytes: int = 0
    """What it may take, as far as its network tells."""


@dataclass(frozen=True)
class RemoteResult:
    """A run that others made."""

    run: SeedRun | None
    """As it is kept; None where it is in the cache already."""
    notes: tuple[str, ...]
    is_kept: bool
    """Whether it is in the cache already."""
    derived: DerivedRun | None = None
    """With its tables ready; whoever gives none gives the run."""

    @property
    def result(self) -> SeedRun | DerivedRun:
        """What results are made of."""
        found = self.derived or self.run
        if found is None:
            raise ValueError("a run that is not there")
        return found


class RemoteRunner(Protocol):
    """Other machines."""

    @property
    def runs_ahead(self) -> int:
        """Runs that are asked for before their results are written: work for all machines, and a bound of memory."""
        ...

    async def make(self, asked: RunOrder) -> RemoteResult:
        """Makes a run; raises UserError, and LostClusterError where the machines are gone."""
        ...
