"""Measures of distributions: a statistic, the distance of two, a correlation, when a mean reaches a level."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from p4cc.scenario.base import KIND, Model, TimeNs
from p4cc.scenario.where import Factor, Where

Table = Literal["rtts", "rounds", "collectives", "flows", "windows", "queues", "goodput"]


class Rows(Model):
    """A column of one variant's rows in a result table; negative values mark events that did not happen."""

    variant: str
    """The variant whose rows are taken."""
    table: Table
    """The result table."""
    column: str
    """Column of that table."""
    where: Where = Field(default={})
    scale: Factor = 1.0
    """Factor applied to the values."""
    offset: float = Field(default=0.0, description="Offset added after scaling.")


class SampleMeasure(Rows):
    """A statistic of the values of each seed, then the median over the seeds.

    A row of `queues` is weighted by the time its depth lasted. `cv` is the standard deviation divided by the mean. With
    `each`: the mean of the statistic over all groups.
    """

    kind: Annotated[Literal["sample"], KIND]
    statistic: Annotated[str, Field(pattern=r"^(mean|min|max|std|cv|count|p[0-9]{1,2}(\.[0-9]+)?)$")]
    """The statistic: mean, min, max, std, cv, count, or a percentile such as p99 or p99.9."""
    each: list[str] = Field(default=[], max_length=4)
    """Columns that split the rows into groups."""


class AfterPeakMeasure(Rows):
    """How much of a port's first and highest queue peak remains after some time; the median over the seeds.

    With `after_ns`: the fraction that remains at that time. With `share`: the microseconds until no more than that
    fraction remains, or nothing if that never happens. With `drained_per_us`, both are computed for a port that drains
    that much per microsecond after the same peak with no arrivals, which is a lower bound for any sender.
    """

    kind: Annotated[Literal["after_peak"], KIND]
    after_ns: TimeNs | None = None
    """Time after the peak."""
    share: Annotated[float, Field(gt=0, lt=1)] | None = None
    """Fraction of the peak that remains, from 0 to 1."""
    drained_per_us: Annotated[float, Field(gt=0)] | None = None
    """Amount that the port sends per microsecond when nothing arrives."""

    @model_validator(mode="after")
    def _one_question(self) -> Self:
        if (self.after_ns is None) == (self.share is None):
            raise ValueError("give either after_ns or share")
        return self


class KolmogorovMeasure(Model):
    """Largest difference between the cumulative distributions of two samples; the median over the seeds.

    A row of `queues` is weighted by the time its depth lasted.
    """

    kind: Annotated[Literal["kolmogorov"], KIND]
    of: Rows
    """The first sample."""
    to: Rows
    """The second sample."""


class ShiftMeasure(Model):
    """Largest distance between equal percentiles of two samples, in the unit of the values; the median over the seeds.

    With `relative`, as a share of the second sample's percentile. It suits curves that overlap in the paper's figure.
    A row of `queues` is weighted by the time its depth lasted.
    """

    kind: Annotated[Literal["shift"], KIND]
    of: Rows
    """The first sample."""
    to: Rows
    """The second sample."""
    percentiles: Annotated[list[Annotated[float, Field(ge=0, lt=100)]], Field(min_length=1, max_length=32)] = Field(
        default=[10, 25, 50, 75, 90, 99], description="Percentiles to compare."
    )
    relative: bool = Field(default=False, description="Take the distance as a share of the second sample's percentile.")


class CorrelationMeasure(Rows):
    """Pearson's correlation coefficient of two columns of the same rows; the median over the seeds."""

    kind: Annotated[Literal["correlation"], KIND]
    with_column: str
    """The second column."""


class ReachMeasure(Rows):
    """Milliseconds from `from_ns` until a column of `windows`, averaged over the flows, reaches `level`.

    The value is the median over the seeds, or nothing if a seed never reaches it.
    """

    kind: Annotated[Literal["reach"], KIND]
    level: float
    """The mean to reach."""
    from_ns: TimeNs = 0
    """Time from which the duration counts."""
