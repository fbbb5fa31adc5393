"""The measure of a comparison with another simulator, run by run and bin by bin."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from p4cc.scenario.base import KIND, Model

Runs = Annotated[list[Annotated[float, Field(ge=1)]], Field(min_length=2, max_length=64)]


class BesideMeasure(Model):
    """Number of flow-size bins in which a slowdown percentile deviates from another simulator's.

    Every bin holds the same number of flows. In each bin, the mean over our seeds is compared with the mean over the
    other simulator's random runs. A bin deviates if the two means differ by more than `aim` of the other simulator's
    mean and by more than that simulator's own spread (its largest run minus its smallest). A tighter comparison would
    demand more precision than the other simulator provides.

    Source: docs/algorithms/metrics.md#metrics, slowdown B.
    """

    kind: Annotated[Literal["beside"], KIND]
    variant: str
    """The variant whose flows are compared."""
    percentile: Annotated[float, Field(gt=0, lt=100)]
    """Percentile of the slowdowns in a bin, from 0 to 100."""
    aim: Annotated[float, Field(gt=0, le=1)]
    """Tolerated difference, as a fraction of the other simulator's mean."""
    sizes_bytes: Annotated[list[Annotated[int, Field(ge=1)]], Field(min_length=1, max_length=100)]
    """Largest flow size in each bin, in ascending order."""
    theirs: Annotated[list[Runs], Field(min_length=1, max_length=100)]
    """The other simulator's percentile in each bin, one value per random run."""

    @model_validator(mode="after")
    def _one_row_a_bin(self) -> Self:
        if len(self.theirs) != len(self.sizes_bytes):
            raise ValueError(
                f"theirs has {len(self.theirs)} bins but sizes_bytes has {len(self.sizes_bytes)}: give "
                "one value of each per bin"
            )
        if self.sizes_bytes != sorted(set(self.sizes_bytes)):
            raise ValueError("sizes_bytes must be in ascending order")
        return self
