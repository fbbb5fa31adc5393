"""The work of a worker: it writes the inputs, plans the case again, checks that it is the same run, and makes it."""

from __future__ import annotations

import asyncio
import resource
import tempfile
from collections import OrderedDict
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from p4cc.cluster.bundle import Bundle, laid_out
from p4cc.errors import UserError
from p4cc.running.derived_run import derive_run
from p4cc.running.ordered_run import only_inputs, planned_again, run_planned
from p4cc.running.provenance import this_p4cc

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from p4cc.json_data import JsonValue
    from p4cc.running.cached_run import SeedRun
    from p4cc.running.derived_run import DerivedRun
    from p4cc.running.remote_runs import Study

KEPT_STUDIES = 4
"""Inputs that a worker keeps for later runs."""


class TaskFields(TypedDict):
    """A task as plain values."""

    variant: str
    point: dict[str, JsonValue]
    seed: int
    key: str
    label: str
    sender: dict[str, str | None]


@dataclass(frozen=True)
class Task:
    """One run."""

    variant: str
    point: dict[str, JsonValue]
    seed: int
    key: str
    label: str
    sender: dict[str, str | None]
    """Identifies the caller's p4cc."""


@dataclass(frozen=True)
class Done:
    """A finished run."""

    run: SeedRun
    derived: DerivedRun
    notes: tuple[str, ...]


class Studies:
    """Inputs that are laid out, those longest not used removed; `end` removes them all."""

    def __init__(self, most: int = KEPT_STUDIES) -> None:
        self._most = most
        self._held: OrderedDict[str, tuple[tempfile.TemporaryDirectory[str], Study]] = OrderedDict()

    def get(self, name: str, fetch: Callable[[], Bundle]) -> Study:
        """The study of this name, fetched if it is not here; raises UserError."""
        if name in self._held:
            self._held.move_to_end(name)
            return self._held[name][1]
        bundle = fetch()
        if bundle.name != name:
            cause = "the inputs have other bytes than were sent (their SHA-256 differs)"
            raise UserError(cause, place="the cluster", remedy="run the same command again")
        folder = tempfile.TemporaryDirectory(prefix="p4cc-inputs-")
        self._held[name] = (folder, laid_out(bundle, Path(folder.name)))
        while len(self._held) > self._most:
            _, (oldest, _) = self._held.popitem(last=False)
            oldest.cleanup()
        return self._held[name][1]

    def end(self) -> None:
        """Removes all files."""
        for folder, _ in self._held.values():
            folder.cleanup()
        self._held.clear()


def made(study: Study, tasks: Sequence[Task], keep: Callable[[str, SeedRun], None] | None = None) -> list[Done]:
    """Makes runs; consecutive runs of one case share a network; raises UserError.

    `keep` gets each run with its key as soon as it is complete.
    """
    with only_inputs(study.inputs):
        return [
            done
            for _, of_case in groupby(tasks, key=lambda task: (task.variant, repr(task.point)))
            for done in asyncio.run(_made(study, list(of_case), keep))
        ]


def peak_bytes() -> int:
    """Memory that this process had at most so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


async def _made(study: Study, tasks: list[Task], keep: Callable[[str, SeedRun], None] | None) -> list[Done]:
    planned, keys = planned_again(study, tasks[0].variant, tasks[0].point)
    for task in tasks:
        _check_key(keys, task)
    found = await run_planned(study, planned, {task.seed: task.key for task in tasks}, keep)
    runs = [found.by_seed[task.seed] for task in tasks]
    return [Done(run, derive_run(planned.case, planned.plan, run), tuple(found.notes)) for run in runs]


def _check_key(keys: Mapping[int, str], task: Task) -> None:
    """Raises UserError where this worker would make another run than was asked for."""
    if keys.get(task.seed) == task.key:
        return
    if differs := ", ".join(_differences(task.sender)):
        cause = f"a worker has another p4cc, whose runs may differ: {differs}"
        remedy = "give the workers this p4cc: --wheel FILE installs a wheel there; run that same wheel here"
    else:
        cause = "a worker planned another run than was asked for"
        remedy = "run it without --on, and report it with the scenario"
    raise UserError(cause, place=f"case {task.label}", remedy=remedy)


def _differences(sender: dict[str, str | None]) -> Iterator[str]:
    here = this_p4cc()
    for name, value in sender.items():
        if here.get(name) != value:
            yield f"{name} {str(here.get(name))[:16]} there, {str(value)[:16]} here"
