"""Figures of flows by pod, by rank and by size, and of what waited in queues (spec 17)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from p4cc.scenario.base import Model

FIGURE_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,123}\.(png|pdf|svg)$"
FileName = Annotated[str, Field(pattern=FIGURE_NAME)]
Pod = Annotated[int, Field(ge=0, le=4_095)]


class FlowFigure(Model):
    """What these figures have."""

    file: FileName
    title: str = ""


class SweptFigure(FlowFigure):
    """Those that may set the points of a sweep side by side."""

    over: str | None = Field(default=None, description="A swept column; its values stand side by side.")


class PodMatrixFigure(SweptFigure):
    """A column of `pod_pairs` as a map of full pods by full pods, a row of maps for each variant; of one seed."""

    kind: Literal["pod_matrix"]
    column: str
    label: str = ""
    scale: float = 1.0
    seed: int | None = Field(default=None, description="The first if absent.")


class PairedFigure(FlowFigure):
    """Completion times of two points of a sweep by rank, a panel for each of the six parts, with the medians' ratio."""

    kind: Literal["paired_fct"]
    over: str
    of: str | int | float
    to: str | int | float
    variant: str
    seed: int | None = None


class PodPairFigure(SweptFigure):
    """The flows from one pod to another: bytes over time as they complete, and the distribution of slowdowns."""

    kind: Literal["pod_pair"]
    src_pod: Pod
    dst_pod: Pod
    seed: int | None = None


class BySizeFigure(SweptFigure):
    """A percentile of the slowdown over bins of flow size with as many flows each, a line for each variant."""

    kind: Literal["by_size"]
    percentile: Literal[50, 95, 99] = 95
    bins: Annotated[int, Field(ge=2, le=100)] = 10


class DepthsFigure(SweptFigure):
    """How much of the time ports held more than so much: from `queue_histogram`, a line for each variant."""

    kind: Literal["depths"]


FLOW_FIGURES = PodMatrixFigure | PairedFigure | PodPairFigure | BySizeFigure | DepthsFigure
FLOW_FIGURE_KINDS = ("pod_matrix", "paired_fct", "pod_pair", "by_size", "depths")
