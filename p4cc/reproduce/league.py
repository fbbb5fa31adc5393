"""League tables of a study: a row for each variant, a column for each number that scenarios give of every one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from p4cc.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from p4cc.reproduce.figure import Figure
    from p4cc.reproduce.study import LeagueTable, Study, StudyFile
    from p4cc.reproduce.verdict import ClaimRecord, Record


@dataclass(frozen=True)
class Column:
    """A number that every variant of a figure has."""

    figure: str
    heading: str
    leaders: frozenset[str]
    """Variants with the best value; none where no value is better than another."""


@dataclass(frozen=True)
class League:
    """A table: `cells[row][column]` is the claim's record, or None where the figure has no such variant."""

    title: str
    note: str
    columns: list[Column]
    variants: list[str]
    cells: list[list[ClaimRecord | None]]

    @property
    def holds(self) -> set[tuple[str, str]]:
        """Figures and names of the claims that the table shows."""
        return {
            (column.figure, cell["name"])
            for row in self.cells
            for column, cell in zip(self.columns, row, strict=True)
            if cell is not None
        }


def check_leagues(study: StudyFile, figures: Sequence[Figure]) -> None:
    """Raises UserError for a league table of unknown figures, or of figures without `each_variant`."""
    known = {figure.name: figure for figure in figures}
    for league in study.study.leagues:
        for name in league.figures:
            if name not in known:
                cause, remedy = f"no figure {name!r}", f"figures: {', '.join(known)}"
            elif not known[name].reproduction.each_variant:
                cause, remedy = f"figure {name} has no number of every variant", "give it reproduces.each_variant"
            else:
                continue
            raise UserError(cause, place=f"{study.path}: league table {league.title!r}", remedy=remedy)


def leagues_of(study: Study, figures: Sequence[Figure], records: Mapping[str, Record]) -> list[League]:
    """The study's league tables with the measured values; a figure that did not run has no columns."""
    result = [_league(league, figures, records) for league in study.leagues]
    return [league for league in result if league.columns]


def _league(league: LeagueTable, figures: Sequence[Figure], records: Mapping[str, Record]) -> League:
    chosen = [one for name in league.figures for one in figures if one.name == name and name in records]
    variants = list(dict.fromkeys(variant.name for figure in chosen for variant in figure.scenario.variants))
    columns: list[Column] = []
    cells: list[list[ClaimRecord | None]] = [[] for _ in variants]
    for figure in chosen:
        claims = {claim["name"]: claim for claim in records[figure.name]["claims"]}
        for each in figure.reproduction.each_variant:
            of = {variant: claims.get(each.name_of(variant)) for variant in variants}
            unit = f" ({each.unit})" if each.unit else ""
            columns.append(Column(figure.name, f"{each.text}{unit}", _leaders(of, each.better)))
            for row, variant in zip(cells, variants, strict=True):
                row.append(of[variant])
    return League(league.title, league.note, columns, variants, cells)


def _leaders(of: Mapping[str, ClaimRecord | None], better: str | None) -> frozenset[str]:
    values = {variant: claim["measured"] for variant, claim in of.items() if claim and claim["measured"] is not None}
    if better is None or not values:
        return frozenset()
    best = min(values.values()) if better == "less" else max(values.values())
    return frozenset(variant for variant, value in values.items() if value == best)
