"""Readings of a source's number: every one that ran is judged, or says why it is none.

Two numbers are alike if they are measured the same way, whatever the variant, the point of the sweep or the
statistic over points.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from p4cc.errors import UserError
from p4cc.scenario.claims import CombineMeasure, FarthestMeasure, LimitMeasure, ReadingsMeasure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from p4cc.json_data import JsonValue
    from p4cc.scenario.claims import Claim, Measure, Reproduction

_OF_ONE = {"variant", "source", "scale", "offset", "points", "beside", "where"}
"""What two measures of one kind of number may differ in."""


def check_readings(path: Path, every: Sequence[Reproduction]) -> None:
    """Raises UserError where a reading is of no or of another claim, or is shown without a verdict and a reason."""
    known = {f"{of.figure}.{one.name}": one for of in every for one in of.claims}
    for of in every:
        for claim in of.claims:
            if claim.same_as and not _is_head(known.get(claim.counts_as(of.figure)), claim):
                cause = f"claim {of.figure}.{claim.name}: {claim.same_as!r} is no claim of the same number that counts"
                remedy = "same_as names FIGURE.NAME of the claim that is the first of its readings"
                raise UserError(cause, place=str(path), remedy=remedy)
    _check_statements(path, every)
    measures = {f"{of.figure}.{one.name}": one.measure for of in every for one in of.measured}
    claimed: dict[str, str] = {}
    for of in every:
        for claim in of.claims:
            claimed.setdefault(_kind_of(claim.measure, of.figure, measures), f"{of.figure}.{claim.name}")
    for of in every:
        for one in of.numbers:
            like = claimed.get(_kind_of(one.measure, of.figure, measures))
            if like is not None and not of.why_apart(one.name):
                cause = f"number {of.figure}.{one.name} is measured as the source's {like} is, and has no verdict"
                remedy = "make it a claim with `same_as`, or say in `apart` why it is no reading of a source's number"
                raise UserError(cause, place=str(path), remedy=remedy)


def _check_statements(path: Path, every: Sequence[Reproduction]) -> None:
    """Raises UserError where a statement is counted by a line that does not count."""
    counting = {f"{of.figure}.{one.name}" for of in every for one in of.expectations if one.at and not one.counted_by}
    for of in every:
        for one in of.expectations:
            if one.counted_by and one.counts_as(of.figure) not in counting:
                cause = f"{of.figure}.{one.name}: {one.counted_by!r} is not a line of a statement that counts"
                remedy = "counted_by names NAME or FIGURE.NAME of an expectation with `at` and without `counted_by`"
                raise UserError(cause, place=str(path), remedy=remedy)


def _is_head(head: Claim | None, claim: Claim) -> bool:
    return head is not None and not head.same_as and not head.derived and head.paper == claim.paper


def _kind_of(how: Measure, figure: str, measures: Mapping[str, Measure]) -> str:
    return json.dumps(_alike(how, figure, measures), sort_keys=True)


def _alike(how: Measure, figure: str, measures: Mapping[str, Measure]) -> JsonValue:
    """What is equal for measures that are alike. One that is combined of itself is refused where it is measured."""
    match how:
        case CombineMeasure():
            names = [name if "." in name else f"{figure}.{name}" for name in (how.of, how.to)]
            others = {name: other for name, other in measures.items() if name not in names}
            found = [measures.get(name) for name in names]
            return [how.kind, *(None if part is None else _alike(part, figure, others) for part in found)]
        case FarthestMeasure():
            of = _alike(how.of, figure, measures)
            return of if how.to is None else [how.combined, of, _alike(how.to, figure, measures)]
        case LimitMeasure() | ReadingsMeasure():
            return ["limit", how.over, how.column, how.at_least]
        case _:
            where: list[JsonValue] = sorted(getattr(how, "where", {}))
            return [how.model_dump(mode="json", exclude=_OF_ONE, exclude_defaults=True), where]
