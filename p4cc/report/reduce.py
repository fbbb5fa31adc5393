"""Reduces series of samples to what a page can show, and keeps the extremes; a value holds until the next one. Pure."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from p4cc.analysis.intervals import of_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    import polars as pl

    from p4cc.analysis.intervals import Interval
    from p4cc.figures.chart import Number

Array: TypeAlias = "npt.NDArray[np.float64] | npt.NDArray[np.int64]"
_DIGITS = 8
"""Digits of a number in a page: more than a reader can see, in little text."""


def short(value: Number) -> Number:
    """A number rounded to `_DIGITS` digits; None for NaN and infinity. Whole numbers stay whole."""
    if value is None or (isinstance(value, float) and not isfinite(value)):
        return None
    if isinstance(value, int):
        return value
    rounded = float(f"{float(value):.{_DIGITS}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 2**53 else rounded


def numbers(values: Sequence[Number] | pl.Series) -> list[Number]:
    """`short` of each value."""
    return [short(one) for one in values]


def spread_of(runs: Sequence[tuple[int, Number]], interval: Interval = "range") -> tuple[Number, Number, Number]:
    """Median, 5th and 95th percentile of the values that runs have; None if no run has one.

    With a confidence interval the mean and the interval's ends.
    """
    known = [value for _, value in runs if value is not None]
    if not known:
        return None, None, None
    if interval != "range" and (found := of_values(known, interval)) is not None:
        middle = found.middle
        return middle, middle if found.low is None else found.low, middle if found.high is None else found.high
    middle, low, high = np.quantile(known, [0.5, 0.05, 0.95]).tolist()
    return middle, low, high


def envelope(times: Array, values: Array, bins: int) -> npt.NDArray[np.int64]:
    """Indices of the samples to keep: the first, last, least and largest in each of `bins` equal time bins.

    All indices if there are at most four per bin. NaN counts as no value: it is kept at the beginning or end of a bin.
    """
    count = len(times)
    if count <= 4 * bins:
        return np.arange(count)
    span = max(int(times[-1]) - int(times[0]), 1)
    bin_of = np.minimum((times.astype(np.int64) - int(times[0])) * bins // span, bins - 1)
    starts = np.flatnonzero(np.r_[True, bin_of[1:] != bin_of[:-1]])
    ends = np.r_[starts[1:], count]
    places = {0, count - 1}
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        span = values[start:end]
        places.update((start, end - 1))
        if not np.isnan(span).all():
            places.update((start + int(np.nanargmin(span)), start + int(np.nanargmax(span))))
    return np.array(sorted(places))


def largest_in_bins(times: Array, values: Array, begin: int, end: int, bins: int) -> Array:
    """The largest value in each of `bins` equal parts of a span; a value holds until the next sample.

    0 before the first sample.
    """
    result = np.zeros(bins)
    if not len(times):
        return result
    width = max(end - begin, 1) / bins
    inside = times >= begin
    bin_of = np.minimum(((times[inside] - begin) / width).astype(np.int64), bins - 1)
    np.maximum.at(result, bin_of, values[inside])
    # The value at the start of a part: the last sample before it.
    before = np.searchsorted(times, begin + np.arange(bins) * width, side="right") - 1
    at_begin = np.where(before >= 0, values[np.maximum(before, 0)], 0)
    return np.maximum(result, at_begin)


def spread_over(count: int, most: int) -> list[int]:
    """At most `most` of `count` indices, evenly spaced, including the first and the last."""
    if count <= most:
        return list(range(count))
    return sorted({round(place * (count - 1) / (most - 1)) for place in range(most)}) if most > 1 else [0]
