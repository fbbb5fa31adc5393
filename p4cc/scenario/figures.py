"""What is drawn: one class per kind of figure."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from p4cc.scenario.base import KIND, Model, TimeNs, kinds
from p4cc.scenario.flow_figures import FLOW_FIGURES, FileName
from p4cc.scenario.state_records import Patterns, StateFigure


class Panel(Model):
    """One pair of axes."""

    y: Annotated[str, Field(description="A column of the runs or of a time series.")]
    title: str = ""
    """Above the axes."""
    label: str = ""
    """Beside the y axis; the column if empty."""
    scale: float = 1.0
    """Factor on the values, such as 1.0e-9 from bit/s to Gbit/s."""
    log: bool = False
    """Whether the y axis is logarithmic."""


Panels = Annotated[list[Panel], Field(min_length=1, max_length=6)]
Columns = Annotated[list[str], Field(min_length=1, max_length=4)]


class FigureBase(Model):
    """What every figure has."""

    file: FileName
    """Name of the file within the results; its ending (.png, .pdf, .svg) decides the format."""
    title: str = ""
    """Above the figure."""
    width_mm: Annotated[float, Field(ge=40, le=400)] | None = Field(
        default=None,
        description="For LaTeX: the width of a column, 84.7 of ACM's and IEEE's; fonts are then 8 pt STIX, embedded.",
    )


class SweepFigure(FigureBase):
    """Medians over the swept parameter, a band from the 5th to the 95th percentile over the seeds."""

    kind: Annotated[Literal["over_sweep"], KIND] = "over_sweep"
    x: str
    """A swept column."""
    x_label: str = ""
    """Below the x axis; the column if empty."""
    x_log: bool = False
    """Whether the x axis is logarithmic."""
    panels: Panels
    """Columns of the runs, one above the other."""


class TimeFigure(FigureBase):
    """Time series of one seed, variants side by side in columns."""

    kind: Annotated[Literal["over_time"], KIND] = "over_time"
    seed: int | None = None
    """Which run is drawn; the first seed's if absent."""
    until_ns: Annotated[int, Field(ge=1)] | None = None
    """Where the time axis ends; the run's end if absent."""
    panels: Panels
    """Columns of time series, one above the other."""


class TracesFigure(FigureBase):
    """One flow per line, of one seed: columns of windows, goodput in bins, attributes of algorithms."""

    kind: Annotated[Literal["traces"], KIND] = "traces"
    seed: int | None = None
    """Which run is drawn; the first seed's if absent."""
    flows: Annotated[list[int], Field(min_length=1, max_length=32)] | None = Field(
        default=None, description="Flow ids; all if absent, at most 32."
    )
    until_ns: Annotated[int, Field(ge=1)] | None = None
    """Where the time axis ends; the run's end if absent."""
    bin_ns: Annotated[int, Field(ge=1_000)] = 100_000
    """Width of the bins of goodput."""
    panels: Panels
    """Columns of windows, `rate_bps`, or attributes of `record.state`."""


class CdfFigure(FigureBase):
    """Cumulative distribution of a column of the flows over all seeds, one line per variant (and swept point)."""

    kind: Annotated[Literal["cdf"], KIND] = "cdf"
    table: Literal["flows", "rounds", "rtts"] = "flows"
    """The table that the columns are of."""
    split: str | None = Field(
        default=None, description="A column of the table: a line for each of its values, such as a swept one's."
    )
    classes: list[str] | None = Field(default=None, description="Only flows with these labels of traffic.")
    window: str | None = Field(default=None, description="A span of `measure`: only flows that begin in it.")
    x_log: bool = False
    """Whether the x axis is logarithmic."""
    panels: Panels
    """Columns of the table, whose values are along x."""


class BarFigure(FigureBase):
    """Medians as bars with the 5-95 % range of the seeds; groups along x, a bar per variant.

    With `limit_over`, the largest value of that swept column up to which the median run has none of the panel's column
    (the supported concurrency of docs/algorithms/metrics.md#supported-concurrency with `y: timeouts`).
    """

    kind: Annotated[Literal["bar"], KIND] = "bar"
    x: str | None = Field(default=None, description="A swept column; one group if absent.")
    limit_over: str | None = None
    """A swept column whose largest value without any of the panel's column is drawn instead."""
    x_label: str = ""
    """Below the x axis; the column if empty."""
    panels: Panels
    """Columns of the runs."""


class PercentilesFigure(FigureBase):
    """Percentiles of a column of the flows, all seeds together, over a swept parameter such as the load."""

    kind: Annotated[Literal["percentiles"], KIND] = "percentiles"
    x: str
    """A swept column."""
    x_label: str = ""
    """Below the x axis; the column if empty."""
    percentiles: Annotated[list[Annotated[float, Field(ge=0, le=100)]], Field(min_length=1, max_length=6)] = Field(
        default=[50, 99]
    )
    """Which ones, from 0 to 100."""
    panel_per_percentile: bool = False
    """A panel for each percentile, three beside each other: readable where many variants are compared."""
    classes: list[str] | None = Field(default=None, description="Only flows with these labels of traffic.")
    window: str | None = Field(default=None, description="A span of `measure`: only flows that begin in it.")
    panels: Panels
    """Columns of the flows."""


class HeatMapFigure(FigureBase):
    """A value over two (groups of) swept parameters, one map per variant.

    The value is the median of a column over the seeds or, with `limit_over`, the largest
    value of that swept column up to which the median run has none of `value` (the
    supported concurrency of docs/algorithms/metrics.md#metrics with `value: timeouts`).
    """

    kind: Annotated[Literal["heatmap"], KIND] = "heatmap"
    x: Columns
    """Swept columns along x."""
    y: Columns
    """Swept columns along y."""
    x_label: str = ""
    """Below the x axis; the columns if empty."""
    y_label: str = ""
    """Beside the y axis; the columns if empty."""
    value: str
    """The column that decides the colour."""
    limit_over: str | None = None
    """A swept column whose largest value without any `value` is drawn instead."""
    at_least: float | None = None
    """With `limit_over`: how much of `value` the median run must have, in place of none."""
    label: str = ""
    """Beside the scale of colours."""
    scale: float = 1.0
    """Factor on the values."""


class UtilisationFigure(FigureBase):
    """Utilisation over a swept window of an incast, beside the model of docs/algorithms/slow-start.md#gst-model."""

    kind: Annotated[Literal["utilisation"], KIND] = "utilisation"
    x: str
    """The swept column that holds the window."""
    by: str | None = None
    """A swept column that holds the number of senders: a colour for each; the topology's number if absent."""


class PortSharesFigure(FigureBase):
    """How packets or bytes of switches are shared among their ports: a bar for each variant; of one seed."""

    kind: Annotated[Literal["port_shares"], KIND] = "port_shares"
    y: Literal["tx_bytes", "tx_pkts", "rx_bytes", "rx_pkts"] = "tx_bytes"
    """The column of `ports`."""
    switches: Patterns = Field(default=["*"], description="Switches whose ports are taken, with * and ?.")
    peers: Patterns = Field(default=["*"], description="Only ports to these hosts and switches, with * and ?.")
    over: str | None = Field(default=None, description="A swept column: a bar for each of its values.")
    seed: int | None = None
    """Which run is drawn; the first seed's if absent."""


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
    """Ends the names of its columns, as in `goodput_bps_NAME`."""
    start_ns: TimeNs = 0
    """Where it begins."""
    end_ns: Annotated[int, Field(ge=1)]
    """Where it ends, at the latest at `stop_ns`."""
