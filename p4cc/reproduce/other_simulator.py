"""Compares slowdowns with another simulator's: bins whose difference exceeds both the aim and that one's scatter."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

import polars as pl

from p4cc.analysis.percentiles import percentile
from p4cc.analysis.slowdown import size_bins
from p4cc.errors import UserError
from p4cc.reproduce.rows import need, of_variant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from p4cc.scenario.beside_claims import BesideMeasure


@dataclass(frozen=True)
class Bin:
    """A percentile of one bin in the runs of both simulators."""

    max_size_bytes: int
    theirs: Sequence[float]
    ours: Sequence[float]

    @property
    def difference(self) -> float:
        """Of the means, as a share of theirs."""
        return fmean(self.ours) / fmean(self.theirs) - 1

    @property
    def scatter(self) -> float:
        """Their largest run minus their smallest, as a share of their mean."""
        return (max(self.theirs) - min(self.theirs)) / fmean(self.theirs)

    def is_off(self, aim: float) -> bool:
        """Whether the difference is above the aim and above their scatter."""
        return abs(self.difference) > max(aim, self.scatter)

    def text(self) -> str:
        """`6612 B: 2.900 (2.560 to 3.160), ours 3.130 (3.130 to 3.130), +7.9 %`."""
        theirs, ours = (f"{fmean(runs):.3f} ({min(runs):.3f} to {max(runs):.3f})" for runs in (self.theirs, self.ours))
        return f"{self.max_size_bytes} B: {theirs}, ours {ours}, {100 * self.difference:+.1f} %"


def bins_beside(flows: pl.DataFrame, how: BesideMeasure) -> list[Bin]:
    """The bins of the measure; raises UserError where the flows do not make the same bins."""
    rows = of_variant(flows, how.variant, {})
    need(rows, "seed", "size_bytes", "slowdown")
    ours: list[list[float]] = [[] for _ in how.sizes_bytes]
    for (seed,), of_seed in rows.group_by("seed", maintain_order=True):
        found = size_bins(of_seed, len(how.sizes_bytes))
        sizes = [int(one["size_bytes"][-1]) for one in found]
        if sizes != how.sizes_bytes:
            cause = f"seed {seed}: bins end with flows of {', '.join(map(str, sizes)) or 'no'} bytes"
            remedy = "compare runs of one flow file in which all flows end, and give its sizes_bytes"
            raise UserError(cause, remedy=remedy)
        for runs, one in zip(ours, found, strict=True):
            runs.append(percentile(one["slowdown"].to_numpy(), how.percentile))
    return [Bin(*one) for one in zip(how.sizes_bytes, how.theirs, ours, strict=True)]


def count_off(flows: pl.DataFrame, how: BesideMeasure) -> tuple[float, str]:
    """Bins that are off, and a line with every bin's numbers."""
    bins = bins_beside(flows, how)
    return float(sum(one.is_off(how.aim) for one in bins)), "; ".join(one.text() for one in bins)
