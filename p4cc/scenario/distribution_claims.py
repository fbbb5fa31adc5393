"""Measures of distributions: a statistic, the distance of two, a correlation, when a mean reaches a level."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from p4cc.scenario.base import KIND, Model, TimeNs
from p4cc.scenario.where import Where

Table = Literal["rtts", "rounds", "collectives", "flows", "windows", "queues", "goodput"]


class Rows(Model):
    """A column of the rows of one variant in a table of the results; values below 0 stand for what did not happen."""

    variant: str
    """Whose rows."""
    table: Table
    """The table of the results."""
    column: str
    """Its column."""
    where: Where = Field(default={})
    scale: float = 1.0
    """Factor on the values."""
    offset: float = Field(default=0.0, description="Added after scaling.")


class SampleMeasure(Rows):
    """A statistic of the values of a seed; of the seeds the median. A row of `queues` counts as long as its depth held.

    `cv` is the deviation as a share of the mean. With `each`: the mean of the statistics of all groups.
    """

    kind: Annotated[Literal["sample"], KIND]
    statistic: Annotated[str, Field(pattern=r"^(mean|min|max|std|cv|count|p[0-9]{1,2}(\.[0-9]+)?)$")]
    """Which one: mean, min, max, std, cv, count, or a percentile such as p99 or p99.9."""
    each: list[str] = Field(default=[], max_length=4)
    """Columns that split the rows into groups."""


class AfterPeakMeasure(Rows):
    """What is left of a port's first and highest depth some time after it; of the seeds the median.

    With `after_ns` the share that is left then; with `share` the microseconds until no more than that is left for the
    first time, nothing where that never happens. With `drained_per_us` both for a port that sends so much in each
    microsecond after the same peak while nothing arrives: the least that any sender can leave.
    """

    kind: Annotated[Literal["after_peak"], KIND]
    after_ns: TimeNs | None = None
    """The time after the peak."""
    share: Annotated[float, Field(gt=0, lt=1)] | None = None
    """What is left of the peak, from 0 to 1."""
    drained_per_us: Annotated[float, Field(gt=0)] | None = None
    """What the port sends in a microsecond while nothing arrives."""

    @model_validator(mode="after")
    def _one_question(self) -> Self:
        if (self.after_ns is None) == (self.share is None):
            raise ValueError("give after_ns or share")
        return self


class KolmogorovMeasure(Model):
    """The largest difference between the cumulative distributions of two samples; of the seeds the median.

    A row of `queues` counts as long as its depth held.
    """

    kind: Annotated[Literal["kolmogorov"], KIND]
    of: Rows
    """The first sample."""
    to: Rows
    """The second sample."""


class ShiftMeasure(Model):
    """The largest distance between equal percentiles of two samples, in the values' unit; of the seeds the median.

    For curves that a source draws on each other: a shift below what its axis resolves leaves the number small.
    A row of `queues` counts as long as its depth held.
    """

    kind: Annotated[Literal["shift"], KIND]
    of: Rows
    """The first sample."""
    to: Rows
    """The second sample."""
    percentiles: Annotated[list[Annotated[float, Field(ge=0, lt=100)]], Field(min_length=1, max_length=32)] = Field(
        default=[10, 25, 50, 75, 90, 99], description="The percentiles that are compared."
    )


class CorrelationMeasure(Rows):
    """Pearson's coefficient of two columns of the same rows; of the seeds the median."""

    kind: Annotated[Literal["correlation"], KIND]
    with_column: str
    """The second column."""


class ReachMeasure(Rows):
    """Milliseconds from `from_ns` until the mean over the flows of a column of `windows` is at least `level`.

    Of the seeds the median; nothing where a seed never reaches it.
    """

    kind: Annotated[Literal["reach"], KIND]
    level: float
    """The mean to be reached."""
    from_ns: TimeNs = 0
    """Where the time begins."""
