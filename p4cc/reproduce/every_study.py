"""All studies at once: their sums, and the file of verdicts (`p4cc reproduce --all --json`)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from p4cc.reproduce.results import read_results
from p4cc.reproduce.run import figures_of, reproduce
from p4cc.reproduce.study import known_studies
from p4cc.reproduce.verdict_file import FILE, Made, Results, write_verdicts

if TYPE_CHECKING:
    from p4cc.json_data import JsonObject
    from p4cc.reproduce.results import StudyResults
    from p4cc.reproduce.run import ReproduceRequest
    from p4cc.reproduce.verdict_file import Verdicts

ALL_DIGITS = 17
"""Of a number from a run."""


def reproduce_all(request: ReproduceRequest) -> JsonObject:
    """Runs every study, writes the verdicts into the file, and returns the sums by study; raises UserError.

    A change without history prevents the writing, after all has run.
    """
    made: list[Results] = []
    for study in known_studies().values():
        outcome = reproduce(replace(request, study=study))
        made.append(from_results(read_results(study, outcome.folder)))
    return sums_as_json(write_verdicts(verdicts_file(), made))


def verdicts_file() -> Path:
    """The repository's file in a checkout under development; else one among the results."""
    ours = Path.cwd() / "experiments" / FILE.name
    return FILE if ours.resolve() == FILE.resolve() else Path("results") / FILE.name


def from_results(results: StudyResults) -> Results:
    """A study's results as the file takes them."""
    cost = results.cost
    made = Made(
        version=", ".join(cost.versions), commit=", ".join(cost.commits), day=", ".join(cost.days), digits=ALL_DIGITS
    )
    return Results(results.study, figures_of(results.study), results.records, made)


def sums_as_json(verdicts: Verdicts) -> JsonObject:
    """The sums of each study and of all."""
    studies: JsonObject = {name: dict(one["sums"]) for name, one in verdicts["studies"].items()}
    return {"studies": studies, "all": dict(verdicts["sums"])}
