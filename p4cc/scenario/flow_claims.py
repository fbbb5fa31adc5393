"""Measures of claims that look at single flows: percentiles, ranks among variants, paired times, cells of pods."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from p4cc.scenario.base import Model
from p4cc.scenario.where import OfRuns, Where

Pod = Annotated[int, Field(ge=0, le=4_095, description="Pods are counted from 0.")]
Percent = Annotated[float, Field(ge=0, le=100)]


class Sizes(Model):
    """Flows by their size."""

    min_bytes: int = Field(default=0, ge=0)
    max_bytes: int | None = Field(default=None, ge=0)


class FlowPercentileMeasure(OfRuns, Sizes):
    """A percentile of a column over complete flows of some sizes: of each seed, then their median."""

    kind: Literal["flow_percentile"]
    column: str = "slowdown"
    percent: Percent = 95


class FlowRankMeasure(Sizes):
    """Place of a variant among others by a percentile of a column, 1 for the smallest; ties share the better place.

    The percentile is that of `flow_percentile`; variants without such flows are left out.
    """

    kind: Literal["flow_rank"]
    variant: str
    among: Annotated[list[str], Field(min_length=1, max_length=64)]
    where: Where = Field(default={})
    column: str = "slowdown"
    percent: Percent = 95


class PairedFctMeasure(Model):
    """Ratio of medians of completion times within a part of the ranks, between two points of a sweep (spec 17).

    Parts are cut at ranks 0, 0.2, 0.4, 0.6, 0.8, 0.95, 1; of each seed, then the seeds' median.
    """

    kind: Literal["paired_fct"]
    variant: str
    part: Annotated[int, Field(ge=1, le=6)]
    over: str = Field(description="The swept column that tells the two runs apart.")
    of: str | int | float
    to: str | int | float


class PodCellsMeasure(OfRuns):
    """A column of the pod pairs over the cells of full pods that carry flows: of each seed, then their median."""

    kind: Literal["pod_cells"]
    column: str = "slowdown_p95"
    give: Literal["min", "max", "median", "spread", "ratio"] = Field(
        description="`spread` is the largest less the smallest, `ratio` the largest by the smallest above 0."
    )


class PodPairMeasure(OfRuns):
    """A column of one pair of pods: the median over the seeds."""

    kind: Literal["pod_pair"]
    src_pod: Pod
    dst_pod: Pod
    column: str
    scale: float = 1.0


class OutcomeMeasure(OfRuns):
    """Share of the runs that ended so (spec 13.3)."""

    kind: Literal["outcome"]
    outcome: Literal["finished", "not finished", "stalled", "deadlock"] = "finished"


FLOW_MEASURES = (
    FlowPercentileMeasure | FlowRankMeasure | PairedFctMeasure | PodCellsMeasure | PodPairMeasure | OutcomeMeasure
)
"""All of them, for the union of measures."""
