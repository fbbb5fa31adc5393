"""Figures of flows by pod, by rank and by size, and of what waited in queues (docs/algorithms/metrics.md#metrics)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from p4cc.scenario.base import KIND, Model, Pod

FIGURE_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,123}\.(png|pdf|svg)$"
FileName = Annotated[str, Field(pattern=FIGURE_NAME)]


class FlowFigure(Model):
    """What these figures have."""

    file: FileName
    """Name of the file within the results; its ending (.png, .pdf, .svg) decides the format."""
    title: str = ""
    """Above the figure."""
    width_mm: Annotated[float, Field(ge=40, le=400)] | None = Field(
        default=None,
        description="For LaTeX: the width of a column, 84.7 of ACM's and IEEE's; fonts are then 8 pt STIX, embedded.",
    )


class SweptFigure(FlowFigure):
    """Those that may set the points of a sweep side by side."""

    over: str | None = Field(default=None, description="A swept column; its values stand side by side.")


class PodMatrixFigure(SweptFigure):
    """A column of `pod_pairs` as a map of full pods by full pods, a row of maps for each variant; of one seed."""

    kind: Annotated[Literal["pod_matrix"], KIND] = "pod_matrix"
    column: str
    """A column of `pod_pairs`."""
    label: str = ""
    """Beside the scale of colours; the column if empty."""
    scale: float = 1.0
    """Factor on the values."""
    seed: int | None = Field(default=None, description="The first if absent.")


class PairedFigure(FlowFigure):
    """Completion times of two points of a sweep by rank, a panel for each of the six parts, with the medians' ratio."""

    kind: Annotated[Literal["paired_fct"], KIND] = "paired_fct"
    over: str
    """The swept column that tells the two points apart."""
    of: str | int | float
    """Its value at the first point."""
    to: str | int | float
    """Its value at the point that the first is compared with."""
    variant: str
    """Whose flows are drawn."""
    seed: int | None = None
    """Which run is drawn; the first seed's if absent."""


class PodPairFigure(SweptFigure):
    """The flows from one pod to another: bytes over time as they complete, and the distribution of slowdowns."""

    kind: Annotated[Literal["pod_pair"], KIND] = "pod_pair"
    src_pod: Pod
    """The pod that sends, counted from 0."""
    dst_pod: Pod
    """The pod that receives, counted from 0."""
    seed: int | None = None
    """Which run is drawn; the first seed's if absent."""


class BySizeFigure(SweptFigure):
    """A percentile of the slowdown over bins of flow size with as many flows each, a line for each variant."""

    kind: Annotated[Literal["by_size"], KIND] = "by_size"
    percentile: Literal[50, 95, 99] = 95
    """Which percentile of the slowdown."""
    bins: Annotated[int, Field(ge=2, le=100)] = 10
    """How many bins of flow size."""
    window: str | None = Field(default=None, description="A span of `measure`: only flows that begin in it.")


class DepthsFigure(SweptFigure):
    """How much of the time ports held more than so much: from `queue_histogram`, a line for each variant."""

    kind: Annotated[Literal["depths"], KIND] = "depths"


class DecidedCellsFigure(FlowFigure):
    """Pairs of pods whose 95th percentile hangs on their largest flow: the percentile with and without that flow.

    Source: docs/algorithms/reproductions.md#u-cells.
    """

    kind: Annotated[Literal["decided_cells"], KIND] = "decided_cells"
    variant: str
    """Whose flows."""
    column: Literal["fct_ns", "slowdown"] = "fct_ns"
    """The column of the flows."""
    over: str | None = Field(default=None, description="A swept column.")
    at: str | int | float | None = Field(default=None, description="Its value at the point that is drawn.")
    cells: Annotated[int, Field(ge=1, le=64, description="How many, those that change most.")] = 16
    seed: int | None = Field(default=None, description="Which run is drawn; the first seed's if absent.")


class PausesFigure(FlowFigure):
    """Pause frames by port over time, and who waits for whom, a row for each variant; of one seed.

    Needs `record.pauses`.
    """

    kind: Annotated[Literal["pauses"], KIND] = "pauses"
    ports: Annotated[int, Field(ge=1, le=64, description="How many, those that sent most.")] = 24
    bins: Annotated[int, Field(ge=2, le=1_000, description="Of time, up to the last frame.")] = 100
    over: str | None = Field(default=None, description="A swept column.")
    at: str | int | float | None = Field(default=None, description="Its value at the point that is drawn.")
    seed: int | None = Field(default=None, description="Which run is drawn; the first seed's if absent.")


class CollectiveStepsFigure(SweptFigure):
    """Pieces of one iteration of a collective as bars over time, a line for each rank that sends; of one seed.

    The colour says the step (docs/algorithms/traffic.md#collectives).
    """

    kind: Annotated[Literal["collective_steps"], KIND] = "collective_steps"
    job: str | None = Field(default=None, description="A job of `collectives`; the first if absent.")
    iteration: Annotated[int, Field(ge=0, description="Which iteration, from 0.")] = 0
    seed: int | None = Field(default=None, description="Which run is drawn; the first seed's if absent.")


FLOW_FIGURES = (
    PodMatrixFigure
    | PairedFigure
    | PodPairFigure
    | BySizeFigure
    | DepthsFigure
    | DecidedCellsFigure
    | PausesFigure
    | CollectiveStepsFigure
)
