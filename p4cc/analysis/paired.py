"""Compares completion times of two runs with different flows by rank. Pure.

Source: docs/algorithms/metrics.md#metrics.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import polars as pl

    from p4cc.analysis.percentiles import Values

CUTS = (0.0, 0.2, 0.4, 0.6, 0.8, 0.95, 1.0)
"""docs/algorithms/metrics.md#metrics, #choice-paired-ranks: ranks that bound the six parts."""


def parts(column: pl.Series) -> list[Values]:
    """The column's values in order, cut into the six parts; flows without a value are ignored."""
    ordered = np.sort(column.drop_nulls().to_numpy().astype(np.float64))
    places = [int(ordered.size * cut) for cut in CUTS]
    return [ordered[start:end] for start, end in pairwise(places)]


def ratio_of_medians(of: pl.Series, to: pl.Series, part: int) -> float | None:
    """The first run's median within a part (1 to 6) divided by the second's; None if either part is empty."""
    above, below = parts(of)[part - 1], parts(to)[part - 1]
    if above.size == 0 or below.size == 0 or not np.median(below):
        return None
    return float(np.median(above) / np.median(below))
