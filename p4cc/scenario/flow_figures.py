"""Figures of flows by pod, by rank and by size, and of packets in queues (docs/algorithms/metrics.md#metrics)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from p4cc.scenario.base import KIND, Model, Pod

FIGURE_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,123}\.(png|pdf|svg)$"
FileName = Annotated[str, Field(pattern=FIGURE_NAME)]


class FlowFigure(Model):
    """Fields that these figures share."""

    file: FileName
    """File name within the results folder; its suffix (.png, .pdf, .svg) decides the format."""
    title: str = ""
    """Title above the figure."""
    width_mm: Annotated[float, Field(ge=40, le=400)] | None = Field(
        default=None,
        description="Width of a LaTeX column, e.g. 84.7 for ACM and IEEE; fonts are then 8 pt STIX, embedded.",
    )


class SweptFigure(FlowFigure):
    """Figures that can place the points of a sweep next to each other."""

    over: str | None = Field(default=None, description="Swept column whose values are placed next to each other.")


class PodMatrixFigure(SweptFigure):
    """Heat map of a column of `pod_pairs`, full pods by full pods: a row of maps per variant, for one seed."""

    kind: Annotated[Literal["pod_matrix"], KIND] = "pod_matrix"
    column: str
    """Column of `pod_pairs`."""
    label: str = ""
    """Label of the colour scale; the column's name if empty."""
    scale: float = 1.0
    """Factor applied to the values."""
    seed: int | None = Field(default=None, description="Seed of the run to draw; the first seed if absent.")


class PairedFigure(FlowFigure):
    """Completion times at two points of a sweep by rank: a panel per section, with the ratio of the medians."""

    kind: Annotated[Literal["paired_fct"], KIND] = "paired_fct"
    over: str
    """Swept column that distinguishes the two points."""
    of: str | int | float
    """Its value at the first point."""
    to: str | int | float
    """Its value at the point to compare with."""
    variant: str
    """The variant whose flows are drawn."""
    seed: int | None = None
    """Seed of the run to draw; the first seed if absent."""


class PodPairFigure(SweptFigure):
    """Flows from one pod to another: bytes over time as they complete, and the distribution of their slowdowns."""

    kind: Annotated[Literal["pod_pair"], KIND] = "pod_pair"
    src_pod: Pod
    """Number of the sending pod, counted from 0."""
    dst_pod: Pod
    """Number of the receiving pod, counted from 0."""
    seed: int | None = None
    """Seed of the run to draw; the first seed if absent."""


class BySizeFigure(SweptFigure):
    """A percentile of the slowdown over flow-size bins with equal numbers of flows: one line per variant."""

    kind: Annotated[Literal["by_size"], KIND] = "by_size"
    percentile: Literal[50, 95, 99] = 95
    """Percentile of the slowdown, from 0 to 100."""
    bins: Annotated[int, Field(ge=2, le=100)] = 10
    """Number of flow-size bins."""
    window: str | None = Field(default=None, description="Only flows that begin in this span of `measure`.")


class DepthsFigure(SweptFigure):
    """Fraction of time for which ports held more than a given depth, from `queue_histogram`: one line per variant."""

    kind: Annotated[Literal["depths"], KIND] = "depths"


class DecidedCellsFigure(FlowFigure):
    """Pod pairs whose 95th percentile depends on their largest flow: the percentile with and without that flow.

    Source: docs/algorithms/reproductions.md#u-cells.
    """

    kind: Annotated[Literal["decided_cells"], KIND] = "decided_cells"
    variant: str
    """The variant whose flows are drawn."""
    column: Literal["fct_ns", "slowdown"] = "fct_ns"
    """Column of the flows table."""
    over: str | None = Field(default=None, description="A swept column.")
    at: str | int | float | None = Field(default=None, description="Value of that column at the point to draw.")
    cells: Annotated[int, Field(ge=1, le=64, description="Number of pairs to draw, those that change most.")] = 16
    seed: int | None = Field(default=None, description="Seed of the run to draw; the first seed if absent.")


class PausesFigure(FlowFigure):
    """Pause frames per port over time, and which port waits for which: one row per variant, for one seed.

    Needs `record.pauses`.
    """

    kind: Annotated[Literal["pauses"], KIND] = "pauses"
    ports: Annotated[
        int, Field(ge=1, le=64, description="Number of ports to draw, those that sent most pause frames.")
    ] = 24
    bins: Annotated[int, Field(ge=2, le=1_000, description="Number of time bins up to the last frame.")] = 100
    over: str | None = Field(default=None, description="A swept column.")
    at: str | int | float | None = Field(default=None, description="Value of that column at the point to draw.")
    seed: int | None = Field(default=None, description="Seed of the run to draw; the first seed if absent.")


class CollectiveStepsFigure(SweptFigure):
    """Pieces of one iteration of a collective as bars over time: one line per sending rank, for one seed.

    The colour shows the step (docs/algorithms/traffic.md#collectives).
    """

    kind: Annotated[Literal["collective_steps"], KIND] = "collective_steps"
    job: str | None = Field(default=None, description="Job number in `collectives`; the first job if absent.")
    iteration: Annotated[int, Field(ge=0, description="Iteration, counted from 0.")] = 0
    seed: int | None = Field(default=None, description="Seed of the run to draw; the first seed if absent.")


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
