"""Runs a study: its figures one after the other through the scenario runner, then the claims, then the report.

Finished runs are in the runner's cache, and results take their places only when they are whole: a call that was
interrupted or killed continues from there when it is run again, and ends with the same bytes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import polars as pl

from p4cc.errors import InterruptedRunError, UserError
from p4cc.reproduce.figure import Figure
from p4cc.reproduce.items import check
from p4cc.reproduce.league import League, check_leagues, leagues_of
from p4cc.reproduce.measure import FigureRuns, Measured, combine, in_order, measure_all
from p4cc.reproduce.readings import check_readings
from p4cc.reproduce.table import markdown
from p4cc.reproduce.verdict import NOT_MET, Record, record
from p4cc.running.cache_files import FOLDER
from p4cc.running.destination import of_file
from p4cc.running.prepared import prepare
from p4cc.running.result_folder import SETTINGS_AS_WRITTEN, Claim, results_into
from p4cc.running.runner import execute
from p4cc.running.shown_progress import progress
from p4cc.scenario.claims import CombineMeasure, check_citations, check_same_points
from p4cc.scenario.load import validate
from p4cc.scenario.yaml import read_document

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from p4cc.reproduce.items import ClaimsByFigure
    from p4cc.reproduce.study import StudyFile
    from p4cc.running.outcome import RunOutcome
    from p4cc.running.prepared import Prepared
    from p4cc.running.progress import Runs
    from p4cc.running.request import RunRequest
    from p4cc.scenario.claims import Reproduction
    from p4cc.scenario.schema import ScenarioModel

FULL_SEEDS = 20
"""docs/algorithms/reproductions.md#execution: 5 seeds by default and 20 with `--full`."""

RECORDS_FILE = "reproduce.json"
TABLE_FILE = "table.md"


@dataclass(frozen=True)
class ReproduceRequest:
    """The command line's request."""

    study: StudyFile
    run: RunRequest
    """How runs are made, each with the scenario of a figure in place of this one's."""
    only: tuple[str, ...] = ()
    every: bool = False
    """Figures that run on request, too."""
    full: bool = False

    @property
    def folder(self) -> Path:
        """Where results go."""
        return self.run.out or Path("results") / (self.study.study.name + ("-full" if self.full else ""))

    @property
    def claim(self) -> Claim:
        """Files there, in addition to the figures' folders."""
        settings = "full" if self.full else SETTINGS_AS_WRITTEN
        identity = {"kind": "reproduce", "study": self.study.study.name, "settings": settings}
        identity = of_file(identity, self.study.path, self.folder)
        return Claim(self.folder, identity, (RECORDS_FILE, TABLE_FILE), self.run.force)


@dataclass
class ReproduceOutcome:
    """Records in the study's order, and the files written."""

    records: list[Record] = field(default_factory=list[Record])
    leagues: list[League] = field(default_factory=list[League])
    pictures: list[Path] = field(default_factory=list[Path])
    folder: Path = Path()

    @property
    def not_met(self) -> int:
        """How many expectations are not met."""
        return sum(claim["verdict"] == NOT_MET for record in self.records for claim in record["claims"])


def figures_of(study: StudyFile) -> list[Figure]:
    """All figures of a study, checked; raises UserError for a scenario that claims nothing."""
    figures: list[Figure] = []
    for entry in study.study.figures:
        path = study.scenario(entry)
        document = read_document(path)
        scenario = validate(document, document.plain())
        if scenario.reproduces is None:
            cause = "the scenario does not say what it reproduces"
            raise UserError(cause, place=str(path), remedy="add `reproduces` to it, or take it out of the study")
        shared = study.study.with_history(scenario.reproduces)
        figures.append(Figure(entry, path, scenario, _of_variants(path, scenario, shared)))
    names = [figure.name for figure in figures] + [one.figure for one in study.study.over_all]
    if twice := {name for name in names if names.count(name) > 1}:
        raise UserError(f"figures with one name: {', '.join(sorted(twice))}", place=str(study.path))
    check(study.path, study.study.items, claims_of(study, figures))
    check_leagues(study, figures)
    _check_points(study, figures)
    check_readings(study.path, [*(of.reproduction for of in figures), *study.study.over_all])
    return figures


def _check_points(study: StudyFile, figures: Sequence[Figure]) -> None:
    """Raises UserError where a claim over several figures combines numbers of different points."""
    known = {f"{of.name}.{one.name}": one.measure for of in figures for one in of.reproduction.measured}
    for over_all in study.study.over_all:
        for claim in over_all.claims:
            how = claim.measure
            if not isinstance(how, CombineMeasure) or not {how.of, how.to} <= known.keys():
                continue
            try:
                check_citations(known[how.of], known[how.to])
                check_same_points(claim.name, known[how.of], known[how.to])
            except ValueError as error:
                raise UserError(str(error), place=str(study.path), remedy="measure both over all points") from error


def _of_variants(path: Path, scenario: ScenarioModel, reproduction: Reproduction) -> Reproduction:
    try:
        return reproduction.of([variant.name for variant in scenario.variants])
    except ValueError as error:
        remedy = "variants' names must differ in letters and digits"
        raise UserError(str(error), place=f"{path}: reproduces.each_variant", remedy=remedy) from error


def claims_of(study: StudyFile, figures: Iterable[Figure]) -> ClaimsByFigure:
    """Figures of a study to their claims, those over several figures last."""
    every = [*(figure.reproduction for figure in figures), *study.study.over_all]
    return {one.figure: [number.name for number in one.measured] for one in every}


class ListedFigure(TypedDict):
    """A figure as `--list` shows it."""

    figure: str
    title: str
    on_request: bool


class Listing(TypedDict):
    """A study as `--list` shows it."""

    study: str
    title: str
    source: str
    figures: list[ListedFigure]


def listing(study: StudyFile) -> Listing:
    """The figures of a study; raises UserError."""
    figures = [
        ListedFigure(figure=one.name, title=one.scenario.title, on_request=one.entry.on_request)
        for one in figures_of(study)
    ]
    figures += [ListedFigure(figure=one.figure, title=one.note, on_request=False) for one in study.study.over_all]
    return Listing(study=study.study.name, title=study.study.title, source=study.study.source, figures=figures)


def reproduce(request: ReproduceRequest) -> ReproduceOutcome:
    """Runs, measures and judges; raises UserError for the user's errors, and when a run fails."""
    try:
        with results_into(request.claim) as folder:
            return _reproduce(request, folder)
    except KeyboardInterrupt as error:
        remedy = "finished runs are kept: the same command continues from there" if request.run.use_cache else ""
        raise InterruptedRunError("interrupted", remedy=remedy) from error


def _reproduce(request: ReproduceRequest, folder: Path) -> ReproduceOutcome:
    figures = figures_of(request.study)
    wanted, over_all = _selected(request, figures)
    prepared = [(figure, _prepare(request, figure)) for figure in needed(figures, wanted, over_all)]
    outcome = ReproduceOutcome(folder=request.folder)
    measured: dict[str, Measured] = {}
    with progress(sum(one.runs for _, one in prepared), request.run.quiet) as shown:
        for figure, one in prepared:
            made = _run(figure, one, shown)
            found = measure_all(made[1], figure.reproduction.measured)
            measured.update({f"{figure.name}.{name}": value for name, value in found.items()})
            if figure.name in wanted:
                outcome.records.append(record(figure.scenario.title, figure.reproduction, found))
                outcome.pictures.extend(made[0].figures)
    for reproduction in over_all:
        outcome.records.append(record(request.study.study.title, reproduction, combined(reproduction, measured)))
    _write(folder / RECORDS_FILE, json.dumps(outcome.records, indent=1, allow_nan=False) + "\n")
    outcome.leagues = leagues_of(request.study.study, figures, {one["figure"]: one for one in outcome.records})
    _write(folder / TABLE_FILE, markdown(outcome.records, outcome.leagues))
    return outcome


def _selected(request: ReproduceRequest, figures: Sequence[Figure]) -> tuple[list[str], list[Reproduction]]:
    """Names of the figures wanted, and the claims over several figures that are."""
    over_all = request.study.study.over_all
    if not request.only:
        every = request.every or request.full
        return [figure.name for figure in figures if every or not figure.entry.on_request], list(over_all)
    known = [*(figure.name for figure in figures), *(one.figure for one in over_all)]
    for name in request.only:
        if name not in known:
            raise UserError(f"no figure {name!r}", place="--only", remedy=f"figures: {', '.join(known)}")
    return (
        [figure.name for figure in figures if figure.name in request.only],
        [one for one in over_all if one.figure in request.only],
    )


def needed(figures: Iterable[Figure], wanted: Iterable[str], over_all: Iterable[Reproduction]) -> list[Figure]:
    """Figures to run: those wanted, and those that claims over several figures name."""
    names = set(wanted)
    for reproduction in over_all:
        for claim in reproduction.measured:
            if isinstance(claim.measure, CombineMeasure):
                names.update(one.partition(".")[0] for one in (claim.measure.of, claim.measure.to))
    return [figure for figure in figures if figure.name in names]


def _prepare(request: ReproduceRequest, figure: Figure) -> Prepared:
    overrides: tuple[str, ...] = ()
    # One seed means that nothing is drawn, or that one run is looked at.
    if request.full and len(figure.scenario.seeds) > 1:
        overrides = (f"seeds={list(range(1, FULL_SEEDS + 1))}",)
    if request.full:
        overrides += tuple(f"{path}={json.dumps(value)}" for path, value in figure.entry.full.items())
    out, cache = request.folder / figure.path.stem, request.folder.parent / FOLDER
    return prepare(
        replace(request.run, scenario=figure.path, out=out, overrides=overrides, quiet=True, cache=cache),
    )


def _run(figure: Figure, prepared: Prepared, shown: Runs) -> tuple[RunOutcome, FigureRuns]:
    outcome = execute(prepared, shown, f"figure {figure.name}: ")
    runs = pl.DataFrame(outcome.summary["runs"], infer_schema_length=None)
    points = [key for key in outcome.row_keys if key != "variant"]
    return outcome, FigureRuns(prepared.scenario, runs, points, outcome.folder)


def combined(reproduction: Reproduction, measured: Mapping[str, Measured]) -> dict[str, Measured]:
    """The numbers of claims over several figures, of `FIGURE.NAME` to what was measured; raises UserError."""
    result: dict[str, Measured] = {}
    for claim in in_order(reproduction.measured):
        if not isinstance(claim.measure, CombineMeasure):
            cause = f"claim {claim.name}: {claim.measure.kind} needs the runs of one figure"
            raise UserError(cause, place=reproduction.figure, remedy="use ratio, difference or increase")
        result[claim.name] = combine(claim.measure, {**measured, **result})
    return result


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
