"""Measures of claims that look at single flows: percentiles, ranks among variants, paired times, cells of pods."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from p4cc.scenario.base import KIND, Model, Pod
from p4cc.scenario.where import OfRuns, Where

PodNumber = Annotated[Pod, Field(description="Pods are counted from 0.")]
Percent = Annotated[float, Field(ge=0, le=100)]


class Sizes(Model):
    """Flows by their size."""

    min_bytes: int = Field(default=0, ge=0)
    """Smaller flows do not count."""
    max_bytes: int | None = Field(default=None, ge=0)
    """Larger flows do not count; no limit if absent."""


class FlowPercentileMeasure(OfRuns, Sizes):
    """A percentile of a column over complete flows of some sizes: of each seed, then their median."""

    kind: Annotated[Literal["flow_percentile"], KIND]
    column: str = "slowdown"
    """The column of the flows."""
    percent: Percent = 95
    """The percentile, from 0 to 100."""


class FlowRankMeasure(Sizes):
    """Place of a variant among others by a percentile of a column, 1 for the smallest; ties share the better place.

    The percentile is that of `flow_percentile`; variants without such flows are left out.
    """

    kind: Annotated[Literal["flow_rank"], KIND]
    variant: str
    """The variant whose place is given."""
    among: Annotated[list[str], Field(min_length=1, max_length=64)]
    """The variants that are compared, that one among them."""
    where: Where = Field(default={})
    column: str = "slowdown"
    """The column of the flows."""
    percent: Percent = 95
    """The percentile, from 0 to 100."""


class PairedFctMeasure(Model):
    """Ratio of medians of completion times within a part of the ranks, between two points of a sweep.

    Parts are cut at ranks 0, 0.2, 0.4, 0.6, 0.8, 0.95, 1; of each seed, then the seeds' median.

    Source: docs/algorithms/metrics.md#metrics.
    """

    kind: Annotated[Literal["paired_fct"], KIND]
    variant: str
    """Whose flows."""
    part: Annotated[int, Field(ge=1, le=6)]
    """Which part of the ranks, from 1."""
    over: str = Field(description="The swept column that tells the two runs apart.")
    of: str | int | float
    """The column's value at the first point."""
    to: str | int | float
    """Its value at the point that the first is divided by."""


class PodCellsMeasure(OfRuns):
    """A column of the pod pairs over the cells of full pods that carry flows: of each seed, then their median."""

    kind: Annotated[Literal["pod_cells"], KIND]
    column: str = "slowdown_p95"
    """The column of `pod_pairs`."""
    give: Literal["min", "max", "median", "spread", "ratio"] = Field(
        description="`spread` is the largest less the smallest, `ratio` the largest by the smallest above 0."
    )


class PodPairMeasure(OfRuns):
    """A column of one pair of pods: the median over the seeds."""

    kind: Annotated[Literal["pod_pair"], KIND]
    src_pod: PodNumber
    dst_pod: PodNumber
    column: str
    """The column of `pod_pairs`."""
    scale: float = 1.0
    """Factor on the value."""


class LargestFlowMeasure(OfRuns):
    """One pair of pods and its largest flow: a number of the pair, the median over the seeds.

    Source: docs/algorithms/reproductions.md#u-cells.
    """

    kind: Annotated[Literal["largest_flow"], KIND]
    src_pod: PodNumber
    dst_pod: PodNumber
    column: str = "fct_ns"
    """The column of the flows whose 95th percentile is taken."""
    give: Literal["flows", "largest_bytes", "p95", "p95_without"] = Field(
        description="How many flows, the bytes of the largest, the percentile, or the percentile without the largest."
    )
    scale: float = 1.0
    """Factor on the value."""


class DecidedCellsMeasure(OfRuns):
    """How many pairs of pods have a 95th percentile that falls by a factor without their largest flow.

    Source: docs/algorithms/reproductions.md#u-cells.
    """

    kind: Annotated[Literal["decided_cells"], KIND]
    column: str = "fct_ns"
    """The column of the flows whose 95th percentile is taken."""
    at_least: Annotated[float, Field(ge=1, description="The factor.")] = 2.0


class OutcomeMeasure(OfRuns):
    """Share of the runs that ended so (docs/algorithms/pfc.md#deadlock)."""

    kind: Annotated[Literal["outcome"], KIND]
    outcome: Literal["finished", "not finished", "stalled", "deadlock"] = "finished"
    """How the runs ended."""


FLOW_MEASURES = (
    FlowPercentileMeasure
    | FlowRankMeasure
    | PairedFctMeasure
    | PodCellsMeasure
    | PodPairMeasure
    | LargestFlowMeasure
    | DecidedCellsMeasure
    | OutcomeMeasure
)
"""All of them, for the union of measures."""
