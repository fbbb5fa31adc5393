"""The items of a source, in its order, with our figures and claims for each."""

from __future__ import annotations

from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated, Self

from pydantic import Field, model_validator

from p4cc.errors import UserError
from p4cc.reproduce.markup import slug
from p4cc.scenario.base import Model
from p4cc.scenario.yaml import read_document

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

ClaimsByFigure = dict[str, list[str]]
"""Names of figures to names of their claims, both in order."""


class Absent(Model):
    """A number, a curve or a statement of the source that no run of ours is compared with."""

    text: Annotated[str, Field(min_length=1, description="What the source states.")]
    paper: float | None = Field(default=None, description="The number, if it is one: only these are counted.")
    unit: str = ""
    why: Annotated[str, Field(min_length=1, description="Why there is no run of it.")]


class SourceItem(Model):
    """A figure, a table, a formula or a number that a source states."""

    item: Annotated[str, Field(min_length=1, max_length=64, description="What the source calls it, such as figure 9a.")]
    shows: Annotated[str, Field(min_length=1, description="What the source shows there, with the numbers it states.")]
    by: list[Annotated[str, Field(min_length=1, max_length=96)]] = Field(
        default=[],
        max_length=32,
        description="Our figures that reproduce it; FIGURE.CLAIM for some of its claims (* is a wildcard).",
    )
    pictures: list[Annotated[str, Field(min_length=1)]] | None = Field(
        default=None, description="Files of these figures' pictures that belong here; those not shown yet if absent."
    )
    not_reproduced: str = Field(default="", description="Why it, or a part of it, is not reproduced.")
    kept_by: str = Field(default="", description="Of a formula or a definition: what implements it, and what tests it.")
    absent: list[Absent] = Field(
        default=[], max_length=32, description="Each number, curve or statement of it that no run measures."
    )

    @model_validator(mode="after")
    def _served_or_explained(self) -> Self:
        if not self.by and not self.not_reproduced.strip() and not self.kept_by.strip():
            raise ValueError(
                "no figure serves this item: name one in `by`, or say why not in `not_reproduced`; "
                "of a formula say in `kept_by` what implements it"
            )
        return self

    @property
    def absences(self) -> int:
        """Numbers of the source without a run; curves, tables and statements without a number are listed apart."""
        return sum(one.paper is not None for one in self.absent)


@dataclass
class Placed:
    """An item with its figures and claims; `item` is None for claims without an item."""

    item: SourceItem | None
    claims: ClaimsByFigure = field(default_factory=ClaimsByFigure)


def check(path: Path, items: Sequence[SourceItem], known: Mapping[str, Sequence[str]]) -> None:
    """Raises UserError, with its place in the study's file, for a name that no figure or claim has."""
    anchors = [slug(item.item) for item in items]
    for number, item in enumerate(items):
        if anchors[number] in anchors[:number]:
            cause = f"{item.item!r} has the anchor of an item before it, {anchors[number]!r}"
            raise UserError(cause, place=_place(path, number, "item"), remedy="give each its own name")
        for at, wanted in enumerate(item.by):
            if _chosen(wanted, known):
                continue
            figure, _, claim = wanted.partition(".")
            if claim and figure in known:
                cause, remedy = f"figure {figure} has no claim {claim!r}", f"claims: {', '.join(known[figure])}"
            else:
                cause, remedy = f"no figure {figure!r}", f"figures: {', '.join(known)}"
            raise UserError(cause, place=_place(path, number, "by", at), remedy=remedy)


def place(items: Iterable[SourceItem], known: Mapping[str, Sequence[str]]) -> tuple[list[Placed], ClaimsByFigure]:
    """The items with their figures and claims, and our claims without an item."""
    placed = [Placed(item, _all_chosen(item.by, known)) for item in items]
    named = {(figure, claim) for one in placed for figure, claims in one.claims.items() for claim in claims}
    rest = {figure: [claim for claim in claims if (figure, claim) not in named] for figure, claims in known.items()}
    return placed, {figure: claims for figure, claims in rest.items() if claims}


def _all_chosen(by: Iterable[str], known: Mapping[str, Sequence[str]]) -> ClaimsByFigure:
    result: ClaimsByFigure = {}
    for wanted in by:
        figure, claims = wanted.partition(".")[0], _chosen(wanted, known)
        before = result.setdefault(figure, [])
        before += [claim for claim in claims if claim not in before]
    return result


def _chosen(wanted: str, known: Mapping[str, Sequence[str]]) -> list[str]:
    """Claims that `FIGURE` or `FIGURE.CLAIM` means."""
    figure, _, pattern = wanted.partition(".")
    return [claim for claim in known.get(figure, []) if fnmatchcase(claim, pattern or "*")]


def _place(path: Path, *steps: int | str) -> str:
    return read_document(path).place(("items", *steps))
