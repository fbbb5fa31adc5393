"""Sums of verdicts: how many numbers a source has, by verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from p4cc.reproduce.verdict import MET, NOT_COMPARABLE, NOT_MET, OUTSIDE, WITHIN, by_number, counts, expected, is_near

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from p4cc.reproduce.items import SourceItem
    from p4cc.reproduce.verdict import Judged

COLUMNS = {
    "numbers": "numbers of the source",
    "near": "within 10 %",
    "within": "within the band",
    "outside": "outside",
    "not_comparable": "not comparable",
    "absent": "absent",
}
"""Of the source's numbers: keys in a page's facts and in the file of verdicts, to headings."""
STATED = {"stated_met": "statements met", "stated_not_met": "not met"}
"""The same for what the source states with a bound or without a number."""
EXPECTED = {"met": "own expectations met", "not_met": "not met"}
"""The same for p4cc's expectations of itself, which no other sum includes."""
SUMS = (*COLUMNS, *STATED, *EXPECTED)
"""All keys."""


@dataclass(frozen=True)
class Sums:
    """The sums of a source, or of several."""

    near: int = 0
    within: int = 0
    outside: int = 0
    not_comparable: int = 0
    absent: int = 0
    stated_met: int = 0
    stated_not_met: int = 0
    met: int = 0
    not_met: int = 0

    @property
    def numbers(self) -> int:
        """All numbers of the source, those that no run measures among them."""
        return self.within + self.outside + self.not_comparable + self.absent

    def facts(self) -> dict[str, int]:
        """By key, in the order of the headings."""
        return {name: int(getattr(self, name)) for name in SUMS}


def sums_of(claims: Iterable[Judged], items: Iterable[SourceItem]) -> Sums:
    """The sums of a source's records and of its items without runs."""
    every = list(claims)
    found = counts(every)
    stated, own = expected(every, of_source=True), expected(every, of_source=False)
    return Sums(
        near=sum(map(is_near, by_number(every).values())),
        within=found[WITHIN],
        outside=found[OUTSIDE],
        not_comparable=found[NOT_COMPARABLE],
        absent=sum(item.absences for item in items),
        stated_met=stated[MET],
        stated_not_met=stated[NOT_MET],
        met=own[MET],
        not_met=own[NOT_MET],
    )


def total(facts: Iterable[Mapping[str, object]]) -> dict[str, int]:
    """Sums over several sources, of their facts."""
    every = list(facts)
    return {name: sum(int(str(one.get(name, 0))) for one in every) for name in SUMS}
