"""Verdicts from measured numbers: one record per figure, as `--json` prints it.

A source's number is within its band, outside it, or not comparable; a statement or a bound of the source is met or not,
and so is what p4cc expects of itself; a number of ours has no verdict. What a source has and no run measures is absent:
the study lists it with its item.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal, TypedDict, TypeVar

from p4cc.scenario.claims import Claim, Expectation

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from p4cc.reproduce.measure import Measured
    from p4cc.scenario.claims import Number, Reproduction
    from p4cc.scenario.stated import Change, Stated

JudgedT = TypeVar("JudgedT", bound="Judged")
Verdict = Literal["within", "outside", "not comparable", "met", "not met"]
WITHIN, OUTSIDE, NOT_COMPARABLE, MET, NOT_MET = "within", "outside", "not comparable", "met", "not met"
NEAR = 0.1
"""Of the source's number: the sums of all pages say how many of ours are this close, whatever the band."""
NO_DATA = "no data"
SWEEP_ENDS = "a sweep ends there: the number itself was not reached"


class BandRecord(TypedDict):
    """A band, and who says so."""

    min: float | None
    max: float | None
    source: str


class ChangeRecord(TypedDict):
    """One entry of a history."""

    date: str
    before: str
    after: str
    why: str


class Judged(TypedDict):
    """A number with its verdict."""

    paper: float | None
    """The source's number; null for numbers of no source."""
    measured: float | None
    verdict: Verdict | None
    """Null for a number of ours that nobody claims, and for what too few values or the end of a sweep leave open."""
    counts_as: str
    """The number of the source, as FIGURE.NAME of the claim that has it; empty for what does not count as one.

    Of a statement: the line that counts in its place; empty if it counts itself.
    """
    at: str
    """Where the source states it; empty for what p4cc expects of itself."""


class ClaimRecord(Judged):
    """One number of a figure: the source's with its place and band, what p4cc expects, or one of ours alone."""

    name: str
    text: str
    unit: str
    reading: str
    """How it is known, which decides the band."""
    band: BandRecord | None
    deviation: float | None
    """(measured - paper) / |paper|; null without both, or where the paper has 0."""
    derived: str
    """How it follows from other numbers of the source, which does not state it."""
    reason: str
    """Why it is not comparable, or of too few values."""
    note: str
    apart: str
    """Of a number of ours: why it is no reading of the source's number that is measured so."""
    history: list[ChangeRecord]


class Record(TypedDict):
    """One figure; `paper`, `measured` and `verdicts` by the name of the number."""

    figure: str
    title: str
    paper: dict[str, float | None]
    measured: dict[str, float | None]
    verdicts: dict[str, Verdict | None]
    note: str
    claims: list[ClaimRecord]


def judge(number: Number, measured: Measured, figure: str, shared: Sequence[Change] = ()) -> ClaimRecord:
    """A number's record; `shared` are changes of its figure."""
    notes = [text for text in (measured.detail, _bound(measured)) if text]
    made = ClaimRecord(
        name=number.name,
        text=number.text,
        unit=number.unit,
        paper=None,
        at="",
        reading="",
        band=None,
        measured=measured.value,
        deviation=None,
        verdict=None,
        counts_as="",
        derived="",
        reason="",
        note="",
        apart="",
        history=[],
    )
    if isinstance(number, Claim):
        _of_source(made, number)
        made["counts_as"], made["derived"] = number.counts_as(figure), number.derived
        made["reason"] = number.not_comparable or measured.few or _no_data(measured, number)
        made["verdict"] = NOT_COMPARABLE if made["reason"] else WITHIN if measured.lies_in(number.range) else OUTSIDE
    elif isinstance(number, Expectation):
        met = measured.lies_in(number.band)
        made["at"], made["reason"] = number.at, measured.few
        made["counts_as"] = number.counts_as(figure)
        if measured.end and met is None:
            made["reason"] = made["reason"] or SWEEP_ENDS
        made["band"] = BandRecord(min=number.band.min, max=number.band.max, source=number.band.source)
        made["verdict"] = None if made["reason"] else MET if met else NOT_MET
    else:
        made["reason"] = measured.few
    if isinstance(number, Claim | Expectation):
        made["history"] = [_change(one) for one in (*number.history, *shared)]
        if made["verdict"] in (OUTSIDE, NOT_MET) and number.cause:
            notes.append(number.cause)
    made["note"] = "; ".join(notes)
    return made


def _bound(measured: Measured) -> str:
    """What is known of a number that a sweep's end bounds; its detail says what lies below a first point."""
    if measured.value is None or measured.below is not None:
        return ""
    match measured.end:
        case "":
            return ""
        case "least" | "most":
            return f"at {measured.end} {measured.value:.4g}: a sweep ends there"
        case "either":
            return "sweeps end in both of its parts, which bound nothing"


def _no_data(measured: Measured, claim: Claim) -> str:
    """Why a measured number cannot be judged: there is none, or the sweep ends before the band does."""
    if measured.value is None:
        return NO_DATA
    return SWEEP_ENDS if measured.lies_in(claim.range) is None else ""


def _of_source(made: ClaimRecord, claim: Claim) -> None:
    """Puts the source's number and our deviation into a record."""
    value, low, high = made["measured"], *claim.range
    made["paper"], made["at"], made["reading"] = claim.paper, claim.at, claim.reading
    made["band"] = BandRecord(min=low, max=high, source=rule_of(claim))
    if value is not None and claim.paper:
        made["deviation"] = (value - claim.paper) / abs(claim.paper)


def rule_of(stated: Stated) -> str:
    """The rule that made a band, in words."""
    lacks = "" if stated.scale == abs(stated.paper) else f" of what it lacks to {stated.whole:g}"
    digit = "" if stated.last_digit is None else " or half its last digit"
    match stated.reading:
        case "error_bars":
            return "the source's error bars"
        case "tail":
            return "tail of few samples: a factor of two"
        case "figure":
            grid = "" if stated.grid_step is None else " or half a grid step"
            return f"off a figure: 20 %{lacks}{grid}{digit}"
        case "text" | "table":
            return f"{stated.reading}: 10 %{lacks}{digit}"


def record(title: str, reproduction: Reproduction, measured: Mapping[str, Measured]) -> Record:
    """A figure's record."""
    figure, shared = reproduction.figure, reproduction.history
    claims = [judge(one, measured[one.name], figure, shared) for one in reproduction.measured]
    for claim in claims:
        claim["apart"] = "" if claim["verdict"] else reproduction.why_apart(claim["name"]) or claim["reason"]
    notes = [
        f"{claim['verdict']}: {claim['name']}: {why_of(claim)}"
        for claim in claims
        if claim["verdict"] in (OUTSIDE, NOT_COMPARABLE, NOT_MET)
    ]
    notes += [
        f"{one['name']}: {one['note']}" for one in claims if one["note"] and one["verdict"] in (WITHIN, MET, None)
    ]
    return Record(
        figure=figure,
        title=title,
        paper={claim["name"]: claim["paper"] for claim in claims},
        measured={claim["name"]: claim["measured"] for claim in claims},
        verdicts={claim["name"]: claim["verdict"] for claim in claims},
        note=" | ".join(part for part in (reproduction.note, *notes) if part),
        claims=claims,
    )


def why_of(claim: ClaimRecord) -> str:
    """Why a number has the verdict that it has, as far as it is known."""
    return "; ".join(part for part in (claim["reason"], claim["note"]) if part) or "no cause is known"


def by_number(claims: Iterable[JudgedT]) -> dict[str, list[JudgedT]]:
    """The readings of each number of a source that counts."""
    found: dict[str, list[JudgedT]] = {}
    for claim in claims:
        if claim["counts_as"] and claim["paper"] is not None:
            found.setdefault(claim["counts_as"], []).append(claim)
    return found


def of_readings(claims: Iterable[Judged]) -> Verdict:
    """A number's verdict: within only if each reading that can be compared is, so that none is chosen by fit."""
    found = {claim["verdict"] for claim in claims}
    return OUTSIDE if OUTSIDE in found else WITHIN if WITHIN in found else NOT_COMPARABLE


def counts(claims: Iterable[Judged]) -> Counter[str]:
    """How many numbers of the source have each verdict."""
    return Counter[str](of_readings(readings) for readings in by_number(claims).values())


def expected(claims: Iterable[Judged], *, of_source: bool) -> Counter[str]:
    """How many statements and bounds of the source are met and are not; or how many of p4cc's own expectations."""
    of_kind = (claim for claim in claims if bool(claim["at"]) == of_source and not claim["counts_as"])
    return Counter[str](claim["verdict"] for claim in of_kind if claim["verdict"] in (MET, NOT_MET))


def is_near(readings: Iterable[Judged]) -> bool:
    """Whether all comparable readings of a number are within 10 % of the source's; of a 0, equal to it."""
    compared = [one for one in readings if one["verdict"] != NOT_COMPARABLE]
    return bool(compared) and all(map(_is_near, compared))


def _is_near(claim: Judged) -> bool:
    if claim["paper"] is None or claim["measured"] is None:
        return False
    # Of the number itself, also where a share's band is of what it lacks to its whole.
    return abs(claim["measured"] - claim["paper"]) <= (NEAR + 1e-9) * abs(claim["paper"])


def _change(one: Change) -> ChangeRecord:
    return ChangeRecord(date=one.date, before=one.before, after=one.after, why=one.why)
