"""A line of the table of budgets."""

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
