"""The measure of a comparison with another simulator, run by run and bin by bin."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from p4cc.scenario.base import KIND, Model

Runs = Annotated[list[Annotated[float, Field(ge=1)]], Field(min_length=2, max_length=64)]


class BesideMeasure(Model):
    """Bins of flow size in which a slowdown's percentile is off another simulator's: how many.

    Bins hold the same number of flows each. In each the means over our seeds and over the other simulator's random runs
    are compared: a bin is off when they differ by more than `aim` of the other's mean and by more than the other's own
    scatter, its largest run minus its smallest. A narrower comparison asks for what the other does not give itself.

    Source: docs/algorithms/metrics.md#metrics, slowdown B.
    """

    kind: Annotated[Literal["beside"], KIND]
    variant: str
    """Whose flows."""
    percentile: Annotated[float, Field(gt=0, lt=100)]
    """Of the slowdowns of a bin, in per cent."""
    aim: Annotated[float, Field(gt=0, le=1)]
    """Allowed difference as a share of the other simulator's mean."""
    sizes_bytes: Annotated[list[Annotated[int, Field(ge=1)]], Field(min_length=1, max_length=100)]
    """The largest flow of each bin, ascending."""
    theirs: Annotated[list[Runs], Field(min_length=1, max_length=100)]
    """The other simulator's percentile in each bin, one number for each random run."""

    @model_validator(mode="after")
    def _one_row_a_bin(self) -> Self:
        if len(self.theirs) != len(self.sizes_bytes):
            raise ValueError(f"theirs has {len(self.theirs)} bins and sizes_bytes {len(self.sizes_bytes)}: give both")
        if self.sizes_bytes != sorted(set(self.sizes_bytes)):
            raise ValueError("sizes_bytes are to ascend")
        return self
