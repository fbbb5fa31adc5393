"""`p4cc run --again FOLDER`: repeats the run recorded in a folder, and compares the bytes of the tables."""

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
    """Comparison of the second run's tables and captures with those of the folder."""

    equal: tuple[str, ...]
    differing: tuple[str, ...]
    """Tables and captures with different bytes, or present on one side only."""
    changed: tuple[str, ...]
    """Differences between the two versions of p4cc: version, commit, engine."""


def rerun(folder: Path, request: RunRequest) -> Rerun:
    """Repeats the run of `folder` with the request's jobs, threads and back end; raises UserError."""
    recorded = read_run(folder)
    with (
        tempfile.TemporaryDirectory(prefix="p4cc-again-") as place,
        left_until_done(Path(place), lambda: rmtree(place)),
    ):
        again = replace(
            request,
            scenario=folder / provenance.SCENARIO_FILE,
            out=Path(place) / "out",
            variants=tuple(recorded.variants_chosen),
            figures=False,
            use_cache=False,
            store=None,
        )
        new = _tables(run_scenario(again).folder)
    old = _tables(folder)
    equal = [name for name in new if old.get(name) == new[name]]
    differing = sorted(name for name in {*old, *new} if name not in equal)
    return Rerun(tuple(equal), tuple(differing), tuple(_changes(recorded)))


def _tables(folder: Path) -> Mapping[str, str]:
    files = (*sorted(folder.glob("*.parquet")), *sorted(folder.glob(FILES)))
    return {str(path.relative_to(folder)): digest(path) for path in files}


def _changes(recorded: RecordedRun) -> list[str]:
    then, now = recorded.p4cc, provenance.this_p4cc()
    return [f"{name}: {then.get(name)} then, {now[name]} now" for name in now if then.get(name) != now[name]]
