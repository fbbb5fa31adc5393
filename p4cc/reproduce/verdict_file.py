"""`experiments/verdicts.json`: the verdict of every number of every source, and who made them.

Pages and tests are held against it. A number whose question changed - the source's number, its reading, the measure, a
filter, the grid, the base or a default, or whether a bound is the source's - is written only with a new entry in its
history, and one that went only with a line in its study's `withdrawn`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

from p4cc.bundled import EXPERIMENTS
from p4cc.errors import UserError
from p4cc.files import read_text
from p4cc.reproduce.settings import digest_of, settings_of
from p4cc.reproduce.sums import sums_of, total
from p4cc.reproduce.verdict import Judged

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from p4cc.json_data import JsonValue
    from p4cc.reproduce.figure import Figure
    from p4cc.reproduce.settings import Defaults
    from p4cc.reproduce.study import StudyFile
    from p4cc.reproduce.verdict import ClaimRecord, Record
    from p4cc.scenario.claims import Measure

FILE = EXPERIMENTS / "verdicts.json"
FORMAT = "p4cc verdicts 1"


class Made(TypedDict):
    """The origin of a study's numbers."""

    version: str
    commit: str
    day: str
    digits: int
    """Of the numbers: those of a page have four, those of a run all."""


class Entry(Judged):
    """One number."""

    reading: str
    band: list[float | None]
    deviation_percent: float | None
    reason: str
    history: int
    """Entries of its history."""
    asked: str
    """A digest of the question (p4cc/reproduce/settings.py)."""


class OfStudy(TypedDict):
    """One study."""

    source: str
    made: Made
    sums: dict[str, int]
    records: dict[str, Entry]


class Verdicts(TypedDict):
    """The file."""

    format: str
    defaults: Defaults
    sums: dict[str, int]
    studies: dict[str, OfStudy]


@dataclass(frozen=True)
class Results:
    """A study's records, and their origin."""

    study: StudyFile
    figures: Sequence[Figure]
    records: Mapping[str, Record]
    made: Made


def read_verdicts(path: Path) -> Verdicts:
    """The file, empty where there is none; raises UserError."""
    if not path.is_file():
        return Verdicts(format=FORMAT, defaults={}, sums={}, studies={})
    try:
        held: Verdicts = json.loads(read_text(path, "verdicts"))
        ours = held["format"] == FORMAT
    except (ValueError, TypeError, KeyError, RecursionError):
        ours = False
        held = Verdicts(format="", defaults={}, sums={}, studies={})
    if not ours:
        raise UserError("this is not a file of verdicts", place=str(path), remedy="take it from the repository")
    return held


def of_study(results: Results, defaults: Defaults, before: Mapping[str, Entry]) -> OfStudy:
    """A study's part of the file; defaults that were not known are added to them.

    Records of figures that did not run stay as they were before.
    """
    records = {name: entry for name, entry in before.items() if name.partition(".")[0] not in results.records}
    asked = questions(results.study, results.figures, defaults)
    for figure, record in results.records.items():
        for claim in record["claims"]:
            name = f"{figure}.{claim['name']}"
            if claim["verdict"] is not None:
                records[name] = _entry(claim, asked[name])
    study = results.study.study
    sums = sums_of(records.values(), study.items).facts()
    return OfStudy(source=study.source, made=results.made, sums=sums, records=records)


def questions(study: StudyFile, figures: Sequence[Figure], defaults: Defaults) -> dict[str, str]:
    """`FIGURE.NUMBER` to the digest of its question, of all that a study measures."""
    result: dict[str, str] = {}
    every: dict[str, tuple[Measure, JsonValue]] = {}
    for figure in figures:
        settings = settings_of(figure.scenario, defaults)
        own = {one.name: (one.measure, settings) for one in figure.reproduction.measured}
        every |= {f"{figure.name}.{name}": one for name, one in own.items()}
        for number in figure.reproduction.measured:
            result[f"{figure.name}.{number.name}"] = digest_of(number, settings, own)
    for over_all in study.study.over_all:
        own = {one.name: (one.measure, None) for one in over_all.measured}
        for number in over_all.measured:
            result[f"{over_all.figure}.{number.name}"] = digest_of(number, None, {**every, **own})
    return result


def write_verdicts(path: Path, made: Sequence[Results]) -> Verdicts:
    """Puts studies into the file; raises UserError for changes without history."""
    held = read_verdicts(path)
    for results in made:
        name = results.study.study.name
        before = held["studies"][name]["records"] if name in held["studies"] else {}
        new = of_study(results, held["defaults"], before)
        _changed_with_history(results.study, before, new["records"])
        held["studies"][name] = new
    held["studies"] = dict(sorted(held["studies"].items()))
    held["defaults"] = dict(sorted(held["defaults"].items()))
    held["sums"] = total([one["sums"] for one in held["studies"].values()])
    path.write_text(json.dumps(held, indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")
    return held


def _changed_with_history(study: StudyFile, before: Mapping[str, Entry], after: Mapping[str, Entry]) -> None:
    gone = {one.number for one in study.study.withdrawn}
    for name, old in before.items():
        new = after.get(name)
        if new is None:
            if name not in gone:
                cause = f"{name} was judged before and is missing now"
                raise UserError(cause, place=str(study.path), remedy="name it in `withdrawn`, with date and why")
        elif (new["asked"], bool(new["at"])) != (old["asked"], bool(old["at"])) and new["history"] <= old["history"]:
            cause = f"{name} asks for something else than when it was judged, and its history does not say so"
            raise UserError(cause, place=str(study.path), remedy="add date, before, after and why to its `history`")


def _entry(claim: ClaimRecord, asked: str) -> Entry:
    band = claim["band"]
    deviation = claim["deviation"]
    return Entry(
        paper=claim["paper"],
        measured=claim["measured"],
        deviation_percent=None if deviation is None else round(100 * deviation, 2),
        verdict=claim["verdict"],
        counts_as=claim["counts_as"],
        at=claim["at"],
        reading=claim["reading"],
        band=[None, None] if band is None else [band["min"], band["max"]],
        reason=claim["reason"],
        history=len(claim["history"]),
        asked=asked,
    )
