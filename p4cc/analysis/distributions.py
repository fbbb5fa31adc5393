"""Distributions of values with weights: percentiles, the distance of two, a correlation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from p4cc.analysis.percentiles import Values


def weighted_percentile(values: Values, weights: Values, percent: float) -> float:
    """A percentile of values with weights: the smallest value with more than the share of weight up to it."""
    order = np.argsort(values, kind="stable")
    passed: Values = np.cumsum(weights[order])
    place = int(np.searchsorted(passed, float(passed[-1]) * percent / 100, side="right"))
    return float(values[order][min(place, values.size - 1)])


def kolmogorov(first: tuple[Values, Values], second: tuple[Values, Values]) -> float:
    """The largest difference of two cumulative distributions, each values with their weights."""
    points = np.sort(np.concatenate([first[0], second[0]]))
    return float(np.max(np.abs(_cumulative(*first, points) - _cumulative(*second, points))))


def largest_shift(first: tuple[Values, Values], second: tuple[Values, Values], percents: Iterable[float]) -> float:
    """The largest distance of equal percentiles of two samples, in the values' unit; NaN where one has no values."""
    if first[0].size == 0 or second[0].size == 0:
        return float("nan")
    return max(
        abs(weighted_percentile(*first, percent) - weighted_percentile(*second, percent)) for percent in percents
    )


def _cumulative(values: Values, weights: Values, points: Values) -> Values:
    order = np.argsort(values, kind="stable")
    passed = np.concatenate([[0.0], np.cumsum(weights[order])])
    return passed[np.searchsorted(values[order], points, side="right")] / passed[-1]


def correlation(first: Values, second: Values) -> float:
    """Pearson's coefficient; NaN where one of both never changes."""
    if first.size < 2 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return float("nan")
    return float(np.corrcoef(first, second)[0, 1])
