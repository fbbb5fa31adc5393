"""Figures: one class per kind."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from p4cc.scenario.base import KIND, Model, TimeNs, kinds
from p4cc.scenario.flow_figures import FLOW_FIGURES, FileName
from p4cc.scenario.state_records import Patterns, StateFigure


class Panel(Model):
    """One pair of axes."""

    y: Annotated[str, Field(description="Column of the runs table or of a time series.")]
    title: str = ""
    """Title above the axes."""
    label: str = ""
    """Label of the y axis; the column's name if empty."""
    scale: float = 1.0
    """Factor applied to the values, such as 1.0e-9 to convert bit/s to Gbit/s."""
    log: bool = False
    """Whether the y axis is logarithmic."""


Panels = Annotated[list[Panel], Field(min_length=1, max_length=6)]
Columns = Annotated[list[str], Field(min_length=1, max_length=4)]


class FigureBase(Model):
    """Fields of every figure."""

    file: FileName
    """File name within the results folder; its suffix (.png, .pdf, .svg) decides the format."""
    title: str = ""
    """Title above the figure."""
    width_mm: Annotated[float, Field(ge=40, le=400)] | None = Field(
        default=None,
        description="Width of a LaTeX column, e.g. 84.7 for ACM and IEEE; fonts are then 8 pt STIX, embedded.",
    )


class SweepFigure(FigureBase):
    """Medians against the swept parameter, with a band from the 5th to the 95th percentile over the seeds."""

    kind: Annotated[Literal["over_sweep"], KIND] = "over_sweep"
    x: str
    """A swept column."""
    x_label: str = ""
    """Label of the x axis; the column's name if empty."""
    x_log: bool = False
    """Whether the x axis is logarithmic."""
    panels: Panels
    """Columns of the runs table, one panel above the other."""


class TimeFigure(FigureBase):
    """Time series of one seed, with one column of panels per variant."""

    kind: Annotated[Literal["over_time"], KIND] = "over_time"
    seed: int | None = None
    """Seed of the run to draw; the first seed if absent."""
    until_ns: Annotated[int, Field(ge=1)] | None = None
    """End of the time axis; the end of the run if absent."""
    panels: Panels
    """Columns of time series, one panel above the other."""


class TracesFigure(FigureBase):
    """One line per flow of one seed: columns of `windows`, goodput in bins, or attributes of algorithms."""

    kind: Annotated[Literal["traces"], KIND] = "traces"
    seed: int | None = None
    """Seed of the run to draw; the first seed if absent."""
    flows: Annotated[list[int], Field(min_length=1, max_length=32)] | None = Field(
        default=None, description="Flow ids; all flows, up to 32, if absent."
    )
    until_ns: Annotated[int, Field(ge=1)] | None = None
    """End of the time axis; the end of the run if absent."""
    bin_ns: Annotated[int, Field(ge=1_000)] = 100_000
    """Width of the goodput bins."""
    panels: Panels
    """Columns of `windows`, `rate_bps`, or attributes listed in `record.state`."""


class CdfFigure(FigureBase):
    """Cumulative distribution of a column of the flows over all seeds, one line per variant (and swept point)."""

    kind: Annotated[Literal["cdf"], KIND] = "cdf"
    table: Literal["flows", "rounds", "rtts"] = "flows"
    """The table that holds the columns."""
    split: str | None = Field(
        default=None, description="A column of the table, such as a swept one; each of its values gets a line."
    )
    classes: list[str] | None = Field(default=None, description="Only flows with these traffic labels.")
    window: str | None = Field(default=None, description="Only flows that begin in this span of `measure`.")
    x_log: bool = False
    """Whether the x axis is logarithmic."""
    panels: Panels
    """Columns of the table, drawn along the x axis."""


class BarFigure(FigureBase):
    """Medians as bars with the 5-95 % range over the seeds: one bar per variant in each group along the x axis.

    With `limit_over`: the largest value of that swept column up to which the panel's column is 0 in the median run
    (with `y: timeouts`, the supported concurrency of docs/algorithms/metrics.md#supported-concurrency).
    """

    kind: Annotated[Literal["bar"], KIND] = "bar"
    x: str | None = Field(default=None, description="A swept column; one group if absent.")
    limit_over: str | None = None
    """A swept column; the largest of its values for which the panel's column is still 0 is drawn instead."""
    x_label: str = ""
    """Label of the x axis; the column's name if empty."""
    panels: Panels
    """Columns of the runs table."""


class PercentilesFigure(FigureBase):
    """Percentiles of a column of the flows, pooled over all seeds, against a swept parameter such as the load."""

    kind: Annotated[Literal["percentiles"], KIND] = "percentiles"
    x: str
    """A swept column."""
    x_label: str = ""
    """Label of the x axis; the column's name if empty."""
    percentiles: Annotated[list[Annotated[float, Field(ge=0, le=100)]], Field(min_length=1, max_length=6)] = Field(
        default=[50, 99]
    )
    """The percentiles, from 0 to 100."""
    panel_per_percentile: bool = False
    """Whether each percentile gets its own panel, three per row, which stays readable with many variants."""
    classes: list[str] | None = Field(default=None, description="Only flows with these traffic labels.")
    window: str | None = Field(default=None, description="Only flows that begin in this span of `measure`.")
    panels: Panels
    """Columns of the flows table."""


class HeatMapFigure(FigureBase):
    """Heat map of a value over two swept parameters, or groups of them: one map per variant.

    The value is the median of a column over the seeds or, with `limit_over`, the largest value of that swept column up
    to which `value` is 0 in the median run (with `value: timeouts`, the supported concurrency of
    docs/algorithms/metrics.md#metrics).
    """

    kind: Annotated[Literal["heatmap"], KIND] = "heatmap"
    x: Columns
    """Swept columns along the x axis."""
    y: Columns
    """Swept columns along the y axis."""
    x_label: str = ""
    """Label of the x axis; the columns' names if empty."""
    y_label: str = ""
    """Label of the y axis; the columns' names if empty."""
    value: str
    """Column that decides the colour."""
    limit_over: str | None = None
    """A swept column; the largest of its values for which `value` is still 0 is drawn instead."""
    at_least: float | None = None
    """With `limit_over`: the minimum of `value` in the median run, in place of 0."""
    label: str = ""
    """Label of the colour scale."""
    scale: float = 1.0
    """Factor applied to the values."""


class UtilisationFigure(FigureBase):
    """Utilisation against a swept window of an incast, with the model of docs/algorithms/slow-start.md#gst-model."""

    kind: Annotated[Literal["utilisation"], KIND] = "utilisation"
    x: str
    """Swept column that holds the window."""
    by: str | None = None
    """Swept column that holds the number of senders, each with its own colour; the topology's number if absent."""


class PortSharesFigure(FigureBase):
    """Distribution of a switch's packets or bytes over its ports: one bar per variant, for one seed."""

    kind: Annotated[Literal["port_shares"], KIND] = "port_shares"
    y: Literal["tx_bytes", "tx_pkts", "rx_bytes", "rx_pkts"] = "tx_bytes"
    """Column of `ports`."""
    switches: Patterns = Field(default=["*"], description="Switches whose ports are drawn; * and ? are wildcards.")
    peers: Patterns = Field(
        default=["*"], description="Only ports that lead to these hosts and switches; * and ? are wildcards."
    )
    over: str | None = Field(default=None, description="Swept column; each of its values gets a bar.")
    seed: int | None = None
    """Seed of the run to draw; the first seed if absent."""


Figure = Annotated[
    SweepFigure
    | TimeFigure
    | TracesFigure
    | CdfFigure
    | BarFigure
    | PercentilesFigure
    | HeatMapFigure
    | UtilisationFigure
    | PortSharesFigure
    | StateFigure
    | FLOW_FIGURES,
    Field(discriminator="kind"),
]
FIGURE_KINDS = kinds(Figure)


class Window(Model):
    """A span of virtual time for which goodput, fairness and completion times are reported."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,31}$")]
    """Suffix of the columns' names, as in `goodput_bps_NAME`."""
    start_ns: TimeNs = 0
    """Start of the span."""
    end_ns: Annotated[int, Field(ge=1)]
    """End of the span, no later than `stop_ns`."""
