"""What is drawn: one class per kind of figure."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from p4cc.scenario.base import Model, TimeNs
from p4cc.scenario.flow_figures import FLOW_FIGURE_KINDS, FLOW_FIGURES, FileName


class Panel(Model):
    """One pair of axes."""

    y: Annotated[str, Field(description="A column of the runs or of a time series.")]
    title: str = ""
    label: str = ""
    scale: float = 1.0
    log: bool = False


Panels = Annotated[list[Panel], Field(min_length=1, max_length=6)]
Columns = Annotated[list[str], Field(min_length=1, max_length=4)]


class FigureBase(Model):
    """What every figure has."""

    file: FileName
    title: str = ""


class SweepFigure(FigureBase):
    """Medians over the swept parameter, a band from the 5th to the 95th percentile over the seeds."""

    kind: Literal["over_sweep"]
    x: str
    x_label: str = ""
    x_log: bool = False
    panels: Panels


class TimeFigure(FigureBase):
    """Time series of one seed, variants side by side in columns."""

    kind: Literal["over_time"]
    seed: int | None = None
    until_ns: Annotated[int, Field(ge=1)] | None = None
    panels: Panels


class TracesFigure(FigureBase):
    """One flow per line: window columns, or goodput in bins (`rate_bps`), of one seed; variants side by side."""

    kind: Literal["traces"]
    seed: int | None = None
    flows: Annotated[list[int], Field(min_length=1, max_length=32)] | None = Field(
        default=None, description="Flow ids; all if absent, at most 32."
    )
    until_ns: Annotated[int, Field(ge=1)] | None = None
    bin_ns: Annotated[int, Field(ge=1_000)] = 100_000
    panels: Panels


class CdfFigure(FigureBase):
    """Cumulative distribution of a column of the flows over all seeds, one line per variant (and swept point)."""

    kind: Literal["cdf"]
    table: Literal["flows", "rounds", "rtts"] = "flows"
    classes: list[str] | None = Field(default=None, description="Only flows with these labels of traffic.")
    x_log: bool = False
    panels: Panels


class BarFigure(FigureBase):
    """Medians as bars with the 5-95 % range of the seeds; groups along x, a bar per variant."""

    kind: Literal["bar"]
    x: str | None = Field(default=None, description="A swept column; one group if absent.")
    x_label: str = ""
    panels: Panels


class PercentilesFigure(FigureBase):
    """Percentiles of a column of the flows, all seeds together, over a swept parameter such as the load."""

    kind: Literal["percentiles"]
    x: str
    x_label: str = ""
    percentiles: Annotated[list[Annotated[float, Field(ge=0, le=100)]], Field(min_length=1, max_length=6)] = Field(
        default=[50, 99]
    )
    classes: list[str] | None = Field(default=None, description="Only flows with these labels of traffic.")
    panels: Panels


class HeatMapFigure(FigureBase):
    """A value over two (groups of) swept parameters, one map per variant.

    The value is the median of a column over the seeds or, with `limit_over`, the largest value of that swept column up
    to which the median run has none of `value` (the supported concurrency of spec 17 with `value: timeouts`).
    """

    kind: Literal["heatmap"]
    x: Columns
    y: Columns
    value: str
    limit_over: str | None = None
    label: str = ""
    scale: float = 1.0


class UtilisationFigure(FigureBase):
    """Utilisation over a swept window of an incast, beside the model of spec 6.5."""

    kind: Literal["utilisation"]
    x: str


Figure = Annotated[
    SweepFigure
    | TimeFigure
    | TracesFigure
    | CdfFigure
    | BarFigure
    | PercentilesFigure
    | HeatMapFigure
    | UtilisationFigure
    | FLOW_FIGURES,
    Field(discriminator="kind"),
]
FIGURE_KINDS = (
    "over_sweep",
    "over_time",
    "traces",
    "cdf",
    "bar",
    "percentiles",
    "heatmap",
    "utilisation",
    *FLOW_FIGURE_KINDS,
)


class Window(Model):
    """A span of virtual time over which goodput and fairness are reported."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,31}$")]
    start_ns: TimeNs = 0
    end_ns: Annotated[int, Field(ge=1)]
