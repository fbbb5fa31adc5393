"""A line of the table of budgets, and where the programs are that measure it."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Row:
    """A line of the table; a budget of None is a figure for information."""

    what: str
    figure: float
    unit: str
    budget: float | None
    more_is_better: bool = False
    span: tuple[float, float] | None = None
    """Least and largest of several measurements, of which the figure is the median."""

    @classmethod
    def of_rounds(cls, what: str, figures: Sequence[float], unit: str, budget: float | None = None) -> Self:
        """The median of an odd number of rounds, and their range."""
        rising = sorted(figures)
        return cls(what, rising[len(rising) // 2], unit, budget, span=(rising[0], rising[-1]))

    @property
    def verdict(self) -> str:
        """How the figure stands to its budget."""
        if self.budget is None:
            return ""
        met = self.figure >= self.budget if self.more_is_better else self.figure <= self.budget
        return "met" if met else "MISSED"


def program_on_path(name: str) -> str:
    """Path of a program; ends with a message if it is missing."""
    path = shutil.which(name)
    if path is None:
        sys.exit(f"bench: {name} is not on PATH; install it (make setup names what is missing)")
    return path
