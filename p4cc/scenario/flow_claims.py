"""Measures of claims that look at single flows: percentiles, ranks among variants, paired times, cells of pods."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from p4cc.scenario.base import KIND, Model, Pod
from p4cc.scenario.where import Factor, OfRuns, Where

PodNumber = Annotated[Pod, Field(description="Pods are counted from 0.")]
Percent = Annotated[float, Field(ge=0, le=100)]


class Sizes(Model):
    """Flows selected by size."""

    min_bytes: int = Field(default=0, ge=0)
    """Smaller flows are ignored."""
    max_bytes: int | None = Field(default=None, ge=0)
    """Larger flows are ignored; no upper limit if absent."""
    source: str = Field(
        default="",
        description="Who chooses these sizes. A source's number may leave out flows only as the source does.",
    )
    """The citation."""

    @property
    def leaves_out(self) -> bool:
        """Whether some sizes are ignored."""
        return self.min_bytes > 0 or self.max_bytes is not None


class FlowPercentileMeasure(OfRuns, Sizes):
    """A percentile of a column over completed flows of some sizes: computed per seed, then the median."""

    kind: Annotated[Literal["flow_percentile"], KIND]
    column: str = "slowdown"
    """Column of the flows table."""
    percent: Percent = 95
    """The percentile, from 0 to 100."""


class FlowRankMeasure(Sizes):
    """Rank of a variant among others by a percentile of a column; 1 is the smallest, and ties share the better rank.

    The percentile is that of `flow_percentile`; variants without matching flows are left out.
    """

    kind: Annotated[Literal["flow_rank"], KIND]
    variant: str
    """The variant whose rank is reported."""
    among: Annotated[list[str], Field(min_length=1, max_length=64)]
    """The variants to compare, including that one."""
    where: Where = Field(default={})
    column: str = "slowdown"
    """Column of the flows table."""
    percent: Percent = 95
    """The percentile, from 0 to 100."""


class PairedFctMeasure(Model):
    """Ratio of median completion times between two points of a sweep, within one section of the ranks.

    Flows are ranked by completion time; the sections are bounded by the ranks 0, 0.2, 0.4, 0.6, 0.8, 0.95 and 1. The
    ratio is computed per seed, then the median is taken.

    Source: docs/algorithms/metrics.md#metrics.
    """

    kind: Annotated[Literal["paired_fct"], KIND]
    variant: str
    """The variant whose flows are compared."""
    part: Annotated[int, Field(ge=1, le=6)]
    """Section of the ranks, from 1."""
    over: str = Field(description="Swept column that distinguishes the two runs.")
    of: str | int | float
    """Its value at the point in the numerator."""
    to: str | int | float
    """Its value at the point in the denominator."""


class PodCellsMeasure(OfRuns):
    """A column of the pod pairs over all cells of full pods that carry flows: computed per seed, then the median.

    A percentile is of the cells with as many flows as it needs (docs/algorithms/metrics.md#metrics).
    """

    kind: Annotated[Literal["pod_cells"], KIND]
    column: str = "slowdown_p95"
    """Column of `pod_pairs`."""
    give: Literal["min", "max", "median", "spread", "ratio"] = Field(
        description="`spread` is the largest minus the smallest value; `ratio` is the largest divided by the "
        "smallest positive one."
    )
    cells: Literal["all", "inside", "between"] = Field(
        default="all", description="Cells of flows that stay `inside` a pod, of flows `between` two pods, or all."
    )
    scale: Factor = 1.0
    """Factor applied to the value."""


class CellsAboveMeasure(Model):
    """Percentage of the cells of full pods whose column is larger at one point of a sweep than at another.

    Of the cells that carry enough flows for the column at both; computed per seed, then the median.
    """

    kind: Annotated[Literal["cells_above"], KIND]
    variant: str
    """The variant whose cells are compared."""
    column: str = "slowdown_p95"
    """Column of `pod_pairs`."""
    over: str = Field(description="Swept column that distinguishes the two runs.")
    of: str | int | float
    """Its value at the point whose cells should be the larger ones."""
    to: str | int | float
    """Its value at the other point."""


class CellsOrderedMeasure(OfRuns):
    """Percentage of the pairs of cells of full pods in which the one with more of `by` has the larger column too.

    Of cells with enough flows for the column; pairs that are equal by `by` do not count. Computed per seed, then the
    median. Without any connection it is about 50.
    """

    kind: Annotated[Literal["cells_ordered"], KIND]
    column: str = "fct_p50_ns"
    """Column of `pod_pairs`."""
    by: str = "bytes"
    """Column of `pod_pairs` that orders the cells."""


class PodPairMeasure(OfRuns):
    """A column of one pair of pods: the median over the seeds."""

    kind: Annotated[Literal["pod_pair"], KIND]
    src_pod: PodNumber
    dst_pod: PodNumber
    column: str
    """Column of `pod_pairs`."""
    scale: Factor = 1.0
    """Factor applied to the value."""


class LargestFlowMeasure(OfRuns):
    """A number that describes a pair of pods and its largest flow; the median over the seeds.

    Source: docs/algorithms/reproductions.md#u-cells.
    """

    kind: Annotated[Literal["largest_flow"], KIND]
    src_pod: PodNumber
    dst_pod: PodNumber
    column: str = "fct_ns"
    """Column of the flows table whose 95th percentile is taken."""
    give: Literal["flows", "largest_bytes", "p95", "p95_without"] = Field(
        description="What is reported: the number of flows, the size of the largest in bytes, the percentile, or "
        "the percentile without the largest flow."
    )
    scale: Factor = 1.0
    """Factor applied to the value."""


class DecidedCellsMeasure(OfRuns):
    """Number of pod pairs whose 95th percentile drops by a factor when their largest flow is removed.

    Source: docs/algorithms/reproductions.md#u-cells.
    """

    kind: Annotated[Literal["decided_cells"], KIND]
    column: str = "fct_ns"
    """Column of the flows table whose 95th percentile is taken."""
    at_least: Annotated[float, Field(ge=1, description="The factor.")] = 2.0


class OutcomeMeasure(OfRuns):
    """Fraction of the runs with this outcome (docs/algorithms/pfc.md#deadlock)."""

    kind: Annotated[Literal["outcome"], KIND]
    outcome: Literal["finished", "not finished", "stalled", "deadlock"] = "finished"
    """The outcome."""


FLOW_MEASURES = (
    FlowPercentileMeasure
    | FlowRankMeasure
    | PairedFctMeasure
    | PodCellsMeasure
    | CellsAboveMeasure
    | CellsOrderedMeasure
    | PodPairMeasure
    | LargestFlowMeasure
    | DecidedCellsMeasure
    | OutcomeMeasure
)
"""All measures, for the discriminated union."""
