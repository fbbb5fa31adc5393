"""Weighted distributions: percentiles, distances, correlation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from p4cc.analysis.percentiles import Values


@dataclass(frozen=True)
class Sample:
    """Values with their weights."""

    values: Values
    weights: Values

    def percentile(self, percent: float) -> float:
        """The smallest value for which the weight up to it exceeds this share."""
        order = np.argsort(self.values, kind="stable")
        passed: Values = np.cumsum(self.weights[order])
        place = int(np.searchsorted(passed, float(passed[-1]) * percent / 100, side="right"))
        return float(self.values[order][min(place, self.values.size - 1)])

    def cumulative(self, points: Values) -> Values:
        """Cumulative share of weight at each point."""
        order = np.argsort(self.values, kind="stable")
        passed = np.concatenate([[0.0], np.cumsum(self.weights[order])])
        return passed[np.searchsorted(self.values[order], points, side="right")] / passed[-1]


def kolmogorov(first: Sample, second: Sample) -> float:
    """The largest difference of two cumulative distributions."""
    points = np.sort(np.concatenate([first.values, second.values]))
    return float(np.max(np.abs(first.cumulative(points) - second.cumulative(points))))


def largest_shift(first: Sample, second: Sample, percents: Iterable[float], *, relative: bool = False) -> float:
    """The largest distance between equal percentiles of two samples; NaN if one is empty.

    In the values' unit, or as a share of the second sample's percentile; nothing but 0 is a share of 0, so NaN then.
    """
    if first.values.size == 0 or second.values.size == 0:
        return float("nan")
    pairs = [(first.percentile(percent), second.percentile(percent)) for percent in percents]
    if relative:
        # Unlike `max`, NumPy's gives NaN wherever in the order one is.
        return float(np.max([_share(one, other) for one, other in pairs]))
    return max(abs(one - other) for one, other in pairs)


def _share(one: float, other: float) -> float:
    if one == other:
        return 0.0
    return abs(one - other) / abs(other) if other else float("nan")


def correlation(first: Values, second: Values) -> float:
    """Pearson's coefficient; NaN if either is constant."""
    if first.size < 2 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return float("nan")
    return float(np.corrcoef(first, second)[0, 1])
