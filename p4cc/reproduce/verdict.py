"""Verdicts from measured numbers: one record per figure, as `--json` prints it."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p4cc.reproduce.measure import Measured
    from p4cc.scenario.claims import Claim, Reproduction


class BandRecord(TypedDict):
    """A claim's band and its source."""

    min: float | None
    max: float | None
    source: str


class ClaimRecord(TypedDict):
    """One claim of a figure: the paper's number, the band with its source, and our number."""

    name: str
    text: str
    unit: str
    paper: float | None
    band: BandRecord | None
    measured: float | None
    deviation: float | None
    """(measured - paper) / paper; null without both, or where the paper has 0."""
    within_band: bool | None
    note: str
    few: float | None
    """The percentile that the number is, if it is of few values in a run."""


class Record(TypedDict):
    """One figure; `paper` and `measured` by the name of the claim."""

    figure: str
    title: str
    paper: dict[str, float | None]
    measured: dict[str, float | None]
    within_band: bool | None
    """All claims with a band lie in it; null when no claim has one."""
    note: str
    claims: list[ClaimRecord]


def judge(claim: Claim, measured: Measured) -> ClaimRecord:
    """A claim's record. What could not be measured is outside its band."""
    value, paper, band = measured.value, claim.paper, claim.band
    within = None if band is None else value is not None and band.holds(value)
    notes = [claim.cause] if within is False and claim.cause else []
    if measured.detail:
        notes.insert(0, measured.detail)
    return ClaimRecord(
        name=claim.name,
        text=claim.text,
        unit=claim.unit,
        paper=paper,
        band=None if band is None else BandRecord(min=band.min, max=band.max, source=band.source),
        measured=value,
        deviation=(value - paper) / paper if value is not None and paper else None,
        within_band=within,
        note="; ".join(notes),
        few=measured.few,
    )


def record(title: str, reproduction: Reproduction, measured: Mapping[str, Measured]) -> Record:
    """A figure's record."""
    claims = [judge(claim, measured[claim.name]) for claim in reproduction.claims]
    judged = [claim["within_band"] for claim in claims if claim["within_band"] is not None]
    outside = [claim for claim in claims if claim["within_band"] is False]
    notes = [f"outside its band: {claim['name']}: {claim['note'] or 'no cause is known'}" for claim in outside]
    notes += [f"{claim['name']}: {claim['note']}" for claim in claims if claim["note"] and claim not in outside]
    return Record(
        figure=reproduction.figure,
        title=title,
        paper={claim["name"]: claim["paper"] for claim in claims},
        measured={claim["name"]: claim["measured"] for claim in claims},
        within_band=all(judged) if judged else None,
        note=" | ".join(part for part in (reproduction.note, *notes) if part),
        claims=claims,
    )
