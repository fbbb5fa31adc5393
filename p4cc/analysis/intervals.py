"""Confidence intervals over the seeds: of a number of runs, and of a percentile of flows. Pure.

Each seed is one independent sample; flows of one run are not, because they share queues. A percentile of flows is
therefore resampled by whole runs (a cluster bootstrap), never by flows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from p4cc.analysis.percentiles import percentile

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from p4cc.analysis.percentiles import Values

Interval = Literal["range", "t", "bootstrap"]
"""The shown spread over seeds; `range` is not a confidence interval."""

LEVEL_PERCENT = 95
RESAMPLES = 2_000
# Of Student's t for 1 to 30 degrees of freedom: Abramowitz and Stegun 1964, table 26.10, two-sided 95 %.
_T = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
    *(2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042),
)
_NORMAL = 1.959964


@dataclass(frozen=True)
class Estimate:
    """A mean (or a percentile of all flows) over seeds with its interval, whose ends are None for one seed."""

    middle: float
    low: float | None
    high: float | None
    seeds: int


def text(interval: Interval) -> str:
    """Name of an interval, as in figures and tables."""
    if interval == "t":
        return f"{LEVEL_PERCENT} % confidence interval of the mean over the seeds (Student's t)"
    if interval == "bootstrap":
        return (
            f"{LEVEL_PERCENT} % confidence interval over the seeds (bootstrap, {RESAMPLES:,} resamples of whole runs)"
        )
    return "range over the seeds"


def t_quantile(freedom: int) -> float:
    """Student's t with 97.5 % below it."""
    if freedom <= len(_T):
        return _T[freedom - 1]
    z = _NORMAL
    # Abramowitz and Stegun 1964, 26.7.5, first three terms: three correct digits beyond the table.
    return (
        z
        + (z**3 + z) / (4 * freedom)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
    )


def of_values(values: Sequence[float], interval: Interval) -> Estimate | None:
    """The mean of a number over the seeds with its interval (`range`: smallest and largest); None without values."""
    if not values:
        return None
    of = np.asarray(values, dtype=np.float64)
    mean = float(of.mean())
    if of.size == 1:
        return Estimate(mean, None, None, 1)
    if interval == "t":
        half = t_quantile(of.size - 1) * float(of.std(ddof=1)) / float(np.sqrt(of.size))
        return Estimate(mean, mean - half, mean + half, of.size)
    if interval == "bootstrap":
        return Estimate(mean, *_resampled(of.size, lambda places: float(of[places].mean())), of.size)
    return Estimate(mean, float(of.min()), float(of.max()), of.size)


def of_percentile(runs: Sequence[Values], percent: float) -> Estimate | None:
    """A percentile of the flows of several runs together, with its bootstrap interval; None without flows."""
    full = [one for one in runs if one.size]
    if not full:
        return None
    middle = percentile(np.concatenate(full), percent)
    if len(full) == 1:
        return Estimate(middle, None, None, 1)
    ends = _resampled(len(full), lambda places: percentile(np.concatenate([full[one] for one in places]), percent))
    return Estimate(middle, *ends, len(full))


def _resampled(count: int, statistic: Callable[[list[int]], float]) -> tuple[float, float]:
    """The middle 95 % of a statistic over resamples of `count` runs; the same draws in every call."""
    draws = np.random.default_rng(0).integers(count, size=(RESAMPLES, count))
    # Few runs have few different resamples, so each is computed once.
    different, times = np.unique(np.sort(draws, axis=1), axis=0, return_counts=True)
    found = np.repeat([statistic([int(place) for place in one]) for one in different], times)
    low, high = np.quantile(found, [(100 - LEVEL_PERCENT) / 200, (100 + LEVEL_PERCENT) / 200])
    return float(low), float(high)
