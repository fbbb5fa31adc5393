"""Makes a run that another process requested: plans its case again, checks that it is the same run, and runs it.

The check is the run's key, which hashes the plan, the programs, the engine and the code around it: a process that has
another p4cc, or that reads another file, finds it before it runs anything.
"""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING

from p4cc.files import files_read, inputs_given
from p4cc.running.cache import RunCache
from p4cc.running.driver import SharedByRuns
from p4cc.running.local_driver import LocalDriver
from p4cc.running.planned_case import Programs, PushedProgram
from p4cc.running.progress import Runs
from p4cc.scenario.expand import Case, cases_at
from p4cc.scenario.load import validate
from p4cc.scenario.yaml import document_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping
    from pathlib import Path

    from p4cc.json_data import JsonValue
    from p4cc.running.cached_run import SeedRun
    from p4cc.running.driver import MadeRuns
    from p4cc.running.planned_case import PlannedCase
    from p4cc.running.remote_runs import Study
    from p4cc.scenario.overrides import Origins
    from p4cc.scenario.schema import ScenarioModel


@contextmanager
def only_inputs(inputs: Mapping[str, Path]) -> Generator[None]:
    """Within, names of scenarios resolve to these files and p4cc's own, and to no others."""
    token = inputs_given.set(inputs)
    try:
        with files_read():
            yield
    finally:
        inputs_given.reset(token)


def planned_again(study: Study, variant: str, point: dict[str, JsonValue]) -> tuple[PlannedCase, dict[int, str]]:
    """A case of the study with the keys of its runs; raises UserError."""
    pushed = {name: PushedProgram.of_content(content) for name, content in study.programs.items()}
    programs = Programs(study.scenario, pushed)
    planned = programs.plan(_case(study, variant, point))
    return planned, programs.run_keys(planned)


async def run_planned(
    study: Study,
    planned: PlannedCase,
    keys: Mapping[int, str],
    keep: Callable[[str, SeedRun], None] | None = None,
    *,
    progress: Runs | None = None,
    purpose: str = "",
    streams: Path | None = None,
) -> MadeRuns[SeedRun]:
    """Makes the runs with these keys by seed; raises UserError.

    `keep` gets each run with its key as soon as it is complete.
    """
    shared = SharedByRuns(
        study=study,
        cache=RunCache(None) if keep is None else _Keeping(keep),
        places=asyncio.Semaphore(1),
        progress=progress or Runs(1, lambda _: None),
        purpose=purpose,
        streams=streams,
    )
    return await LocalDriver().make(planned, keys, shared)


class _Keeping(RunCache):
    """Passes each finished run on and keeps none."""

    def __init__(self, keep: Callable[[str, SeedRun], None]) -> None:
        super().__init__(None)
        self._keep = keep

    def store(self, key: str, run: SeedRun) -> None:
        """Passes the run on."""
        self._keep(key, run)


def _case(study: Study, variant: str, point: dict[str, JsonValue]) -> Case:
    """The case, checked again, because the user's classes are loaded here."""
    document = document_of("{}", study.scenario)

    def check(data: dict[str, JsonValue], origins: Origins) -> ScenarioModel:
        return validate(document, data, origins)

    return next(one for one in cases_at(study.data, point, check) if one.variant.name == variant)
