"""Percentiles and the number of values behind them: one definition and one rule for tables, summaries and figures."""

from __future__ import annotations

import re
from math import ceil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy as np
    import numpy.typing as npt

    Values = npt.NDArray[np.float64]

PERCENTILES = (50, 95, 99)
"""Percentiles in tables and summaries."""

DEFINITION = "a percentile p is the value at index `int(n p)` of the n sorted ones (docs/algorithms/metrics.md#metrics)"
FEW = (
    "of fewer than 1/(1-p) values (p99: 100, p95: 20; below the median 1/p) a percentile is the largest (the least) of "
    "them and says nothing about the share beyond it"
)
"""Why a percentile is marked."""

_NAME = re.compile(r"(?P<of>.*?)_?p(?P<percent>\d+(?:\.\d+)?)(?P<unit>_ns|_pkts)?(?P<span>_.*)?")


def percentile(values: Values, percent: float) -> float:
    """The value at index `int(n p)` of the sorted ones (docs/algorithms/metrics.md#metrics); NaN if there is none."""
    if values.size == 0:
        return float("nan")
    in_order = values.copy()
    in_order.sort()
    return float(in_order[min(int(values.size * percent / 100), values.size - 1)])


def fewest(percent: float) -> int:
    """How many values a percentile needs so that one of them is expected beyond it; the extremes need one."""
    share = min(percent, 100 - percent) / 100
    # Rounded so that 1 / 0.01 is 100, whatever the binary value of 1 - 0.99.
    return 1 if share <= 0 else ceil(round(1 / share, 6))


def is_few(count: int, percent: float) -> bool:
    """Whether a percentile is marked because it has few values; never without values."""
    return 0 < count < fewest(percent)


def percent_of(column: str) -> float | None:
    """The percentile that a column's name states: 99 for `incast.fct_p99_ns`; None for other columns."""
    match = _NAME.fullmatch(column)
    return None if match is None else float(match["percent"])


def count_column(column: str) -> str | None:
    """The column with the number of values behind a percentile; None for other columns."""
    match = _NAME.fullmatch(column)
    if match is None:
        return None
    label, dot, _ = column.rpartition(".")
    return f"{label}{dot}completed" if dot else f"{match['of']}_count{match['span'] or ''}"


def of_few(numbers: Mapping[str, object]) -> list[str]:
    """Names of the percentiles among a run's numbers that have few values."""
    return [name for name, value in numbers.items() if value is not None and _is_of_few(name, numbers)]


def _is_of_few(name: str, numbers: Mapping[str, object]) -> bool:
    percent, column = percent_of(name), count_column(name)
    count = None if column is None else numbers.get(column)
    return percent is not None and isinstance(count, int) and is_few(count, percent)


def of_few_text(percents: Iterable[float]) -> str:
    """An explanation of the mark: `fewer values than 100 (p99)`."""
    needs = ", ".join(f"{fewest(percent)} (p{percent:g})" for percent in sorted(set(percents)))
    return f"fewer values than {needs}"
