"""Reads the folder of a study's run: pictures, cost, and its numbers, which are measured and judged as of today.

What a study claims may change after a run; what ran may not.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from p4cc.errors import UserError
from p4cc.files import read_text
from p4cc.json_data import items, mapping, number
from p4cc.reproduce.measure import FigureRuns, measure_all
from p4cc.reproduce.run import RECORDS_FILE, combined, figures_of, needed
from p4cc.reproduce.verdict import record
from p4cc.running.provenance import RUN_FILE

if TYPE_CHECKING:
    from pathlib import Path

    from p4cc.json_data import JsonObject, JsonValue
    from p4cc.reproduce.figure import Figure
    from p4cc.reproduce.measure import Measured
    from p4cc.reproduce.study import StudyFile
    from p4cc.reproduce.verdict import Record
    from p4cc.scenario.schema import ScenarioModel

# What of a scenario is for readers only, titles of figures too: results stay good when it changes.
_TITLE = "title"
_TEXTS = {"name", _TITLE, "source", "reproduces"}
_OF_CASES = {"case", "variant", "algorithm", "program", "algorithms", "installed"}
"""What run.json says of a case besides its point of the sweep."""


@dataclass
class Cost:
    """The cost of a study's runs; runs that several figures share count once."""

    runs: dict[str, Run] = field(default_factory=dict[str, "Run"])
    seeds: dict[int, int] = field(default_factory=dict[int, int])
    """Number of seeds, to the number of scenarios with that many."""
    commits: list[str] = field(default_factory=list[str])
    versions: list[str] = field(default_factory=list[str])
    days: list[str] = field(default_factory=list[str])


@dataclass(frozen=True)
class Run:
    """One run."""

    events: int
    wall_s: float
    """Of its first time, on one processor or more: the cache keeps it."""


@dataclass(frozen=True)
class StudyResults:
    """The figures of a study with the results of their runs."""

    study: StudyFile
    folder: Path
    full: bool
    figures: dict[str, Figure]
    records: dict[str, Record]
    pictures: dict[str, list[Path]]
    """Files that were drawn, by the name of the figure."""
    cost: Cost


def read_results(study: StudyFile, folder: Path) -> StudyResults:
    """Reads the results of a study.

    Raises UserError if there are none, if they are of other scenarios than the study's, or if a part is missing.
    """
    again = f"run them again: p4cc reproduce {study.study.name}"
    path = folder / RECORDS_FILE
    if not path.is_file():
        raise UserError("no results of this study", place=str(folder), remedy=again)
    ran = _names(path, again)
    figures = {figure.name: figure for figure in figures_of(study)}
    over_all = [one for one in study.study.over_all if one.figure in ran]
    if unknown := set(ran) - {*figures, *(one.figure for one in over_all)}:
        raise UserError(f"figure {min(unknown)} is none of the study's", place=str(path), remedy=again)
    cost, full = Cost(), False
    pictures: dict[str, list[Path]] = {}
    measured: dict[str, Measured] = {}
    records: dict[str, Record] = {}
    for figure in needed(figures.values(), ran, over_all):
        of_figure = folder / figure.path.stem
        runs, other = _account(cost, of_figure, figure, again)
        full = full or other
        found = measure_all(runs, figure.reproduction.measured)
        measured.update({f"{figure.name}.{name}": value for name, value in found.items()})
        if figure.name in ran:
            records[figure.name] = record(figure.scenario.title, figure.reproduction, found)
            pictures[figure.name] = _drawn(of_figure, figure, again)
    for one in over_all:
        records[one.figure] = record(study.study.title, one, combined(one, measured))
    return StudyResults(study, folder, full, figures, records, pictures, cost)


def _names(path: Path, again: str) -> list[str]:
    """Of the figures that ran, claims over several among them."""
    try:
        records: list[Record] = json.loads(read_text(path, "records"))
        return [record["figure"] for record in records]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise UserError("these are not records of a study", place=str(path), remedy=again) from error


def _account(cost: Cost, folder: Path, figure: Figure, again: str) -> tuple[FigureRuns, bool]:
    """Adds the cost of a figure's runs; returns these, and whether `--full` gave them other settings."""
    made, summary = _json(folder / RUN_FILE, again), _json(folder / "summary.json", again)
    try:
        changed, p4cc = bool(made["set"]), mapping(made["p4cc"])
        if not changed and not _is_of_today(mapping(made["scenario"]), figure.scenario):
            cause = "these runs are of other settings than the scenario's"
            raise UserError(cause, place=str(folder), remedy=again)
        for run in map(mapping, items(summary["runs"])):
            one = Run(int(number(run.get("events")) or 0), float(str(run["wall_s"])))
            # Two runs do not take the same microseconds.
            cost.runs[f"{run['variant']} {run['seed']} {one.events} {one.wall_s}"] = one
        count = len(items(made["seeds"]))
        cost.seeds[count] = cost.seeds.get(count, 0) + 1
        for values, value in (
            (cost.versions, p4cc["version"]),
            (cost.commits, p4cc["commit"] or "unknown"),
            (cost.days, str(made["started"])[:10]),
        ):
            if str(value) not in values:
                values.append(str(value))
        ran = pl.DataFrame(items(summary["runs"]), infer_schema_length=None)
        points = [name for name in mapping(items(made["cases"])[0]) if name in ran.columns and name not in _OF_CASES]
        runs = FigureRuns(figure.scenario, ran, points, folder)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise UserError("run.json and summary.json are not p4cc's", place=str(folder), remedy=again) from error
    return runs, changed


def _is_of_today(run: JsonObject, scenario: ScenarioModel) -> bool:
    """Whether a run had the scenario's settings; fields that are newer must have their defaults."""
    whole, given = (scenario.model_dump(mode="json", exclude=_TEXTS, exclude_defaults=only) for only in (False, True))
    return _agree({key: value for key, value in run.items() if key not in _TEXTS}, whole, given)


def _agree(then: JsonValue, now: JsonValue, without_defaults: JsonValue) -> bool:
    """Whether a run's settings are today's; a key may be new if it has its default."""
    if isinstance(then, dict) and isinstance(now, dict):
        changed = mapping(without_defaults)
        return all(
            _agree(then[key], now[key], changed.get(key))
            if key in then and key in now
            else key in now and key not in changed
            for key in {*then, *now} - {_TITLE}
        )
    if isinstance(then, list) and isinstance(now, list):
        changed = without_defaults if isinstance(without_defaults, list) else [None] * len(now)
        return len(then) == len(now) and all(map(_agree, then, now, changed))
    return then == now


def _drawn(folder: Path, figure: Figure, again: str) -> list[Path]:
    result = [folder / one.file for one in figure.scenario.figures]
    for path in result:
        if not path.is_file():
            raise UserError("a picture is missing", place=str(path), remedy=again)
    return result


def _json(path: Path, again: str) -> JsonObject:
    try:
        value: JsonValue = json.loads(read_text(path, "results"))
    except (ValueError, RecursionError) as error:
        raise UserError("this is not JSON", place=str(path), remedy=again) from error
    if not isinstance(value, dict):
        raise UserError("these are not results of p4cc", place=str(path), remedy=again)
    return value
