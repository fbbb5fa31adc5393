"""A line of the table of budgets, and where the programs are that measure it."""

import shutil
import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """A line of the table; a budget of None is a figure for information."""

    what: str
    figure: float
    unit: str
    budget: float | None
    more_is_better: bool = False

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
