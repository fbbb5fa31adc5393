"""`p4cc run --again FOLDER`: runs once more what a folder says was run, and compares the bytes of the tables."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING

from p4cc.analysis.recorded import read_run
from p4cc.leftovers import left_until_done
from p4cc.running import provenance
from p4cc.running.captures import FILES
from p4cc.running.result_folder import digest
from p4cc.running.runner import run_scenario

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p4cc.analysis.recorded import RecordedRun
    from p4cc.running.request import RunRequest


@dataclass(frozen=True)
class Rerun:
    """How the tables and captures of the second run compare to those of the folder."""

    equal: tuple[str, ...]
    differing: tuple[str, ...]
    """Tables and captures whose bytes differ, or that only one of both has."""
    changed: tuple[str, ...]
    """What differs between the two p4cc: version, commit, engine."""


def rerun(folder: Path, request: RunRequest) -> Rerun:
    """Runs what is in `folder` with the request's way to run (jobs, threads, exec); raises UserError."""
    told = read_run(folder)
    with (
        tempfile.TemporaryDirectory(prefix="p4cc-again-") as place,
        left_until_done(Path(place), lambda: rmtree(place)),
    ):
        again = replace(
            request,
            scenario=folder / provenance.SCENARIO_FILE,
            out=Path(place) / "out",
            variants=tuple(told.variants_chosen),
            figures=False,
            use_cache=False,
            store=None,
        )
        new = _tables(run_scenario(again).folder)
    old = _tables(folder)
    equal = [name for name in new if old.get(name) == new[name]]
    differing = sorted(name for name in {*old, *new} if name not in equal)
    return Rerun(tuple(equal), tuple(differing), tuple(_changes(told)))


def _tables(folder: Path) -> Mapping[str, str]:
    files = (*sorted(folder.glob("*.parquet")), *sorted(folder.glob(FILES)))
    return {str(path.relative_to(folder)): digest(path) for path in files}


def _changes(told: RecordedRun) -> list[str]:
    then, now = told.p4cc, provenance.this_p4cc()
    return [f"{name}: {then.get(name)} then, {now[name]} now" for name in now if then.get(name) != now[name]]
