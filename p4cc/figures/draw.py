"""A scenario's figure to the file that draws its kind; tables are read from the folder of results."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import polars as pl

from p4cc.analysis.metrics import started_in
from p4cc.analysis.recorded import read_table
from p4cc.analysis.tables import table
from p4cc.figures import (
    bar,
    by_pod,
    by_rank,
    cdf,
    cells,
    collective_steps,
    heatmap,
    over_sweep,
    over_time,
    pauses,
    percentiles,
    shares,
    state,
    traces,
    utilisation,
)
from p4cc.figures.chart import saying
from p4cc.figures.of_source import with_source
from p4cc.figures.series import Series
from p4cc.scenario.figures import (
    BarFigure,
    CdfFigure,
    Figure,
    HeatMapFigure,
    PercentilesFigure,
    PortSharesFigure,
    SweepFigure,
    TimeFigure,
    TracesFigure,
    UtilisationFigure,
)
from p4cc.scenario.flow_figures import (
    BySizeFigure,
    CollectiveStepsFigure,
    DecidedCellsFigure,
    DepthsFigure,
    PairedFigure,
    PausesFigure,
    PodMatrixFigure,
    PodPairFigure,
)
from p4cc.scenario.schema import USUAL_INTERVAL_NS, sampling_ns
from p4cc.scenario.state_records import StateFigure, StateRecord

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import TypeAlias

    from p4cc.figures.chart import Chart
    from p4cc.scenario.schema import ScenarioModel

    Read: TypeAlias = Callable[[str], pl.DataFrame | None]
    """Gives a table by its name; None where it has no rows."""


def draw(figure: Figure, runs: pl.DataFrame, folder: Path, scenario: ScenarioModel) -> Path:
    """Draws one figure from the runs and the tables next to them; raises UserError for missing columns."""
    # Plotting takes half a second to import.
    from p4cc.figures.picture import write
    from p4cc.figures.style import column_width

    with warnings.catch_warnings():
        # Libraries' remarks on a figure are not for a terminal;
        # the figure contains what a reader must know.
        warnings.simplefilter("ignore")
        chart = chart_of(figure, runs, lambda name: read_table(folder, name), scenario)
        with column_width(figure.width_mm):
            return write(chart, folder / figure.file)


def chart_of(figure: Figure, runs: pl.DataFrame, read: Read, scenario: ScenarioModel) -> Chart:
    """What a figure shows of the runs and of the tables that `read` gives; raises UserError for unknown columns.

    A figure of a table without rows says so.
    """
    try:
        return with_source(_chart_of(figure, runs, read, scenario), figure, scenario.reproduces)
    except _NoRowsError as error:
        name = error.args[0]
        text = f"table {name} has no rows (it needs: {table(name).when})"
        return saying(figure.title, text, (5.0, 2.4), bare=True)


class _NoRowsError(Exception):
    """A table that a figure needs has no rows."""


def _chart_of(figure: Figure, runs: pl.DataFrame, read: Read, scenario: ScenarioModel) -> Chart:
    def rows(name: str) -> pl.DataFrame:
        if (result := read(name)) is None:
            raise _NoRowsError(name)
        return result

    def begun(flows: pl.DataFrame, window: str | None) -> pl.DataFrame:
        """Rows of flows that began in a span of `measure`; all where none is named."""
        spans = {one.name: one for one in scenario.measure}
        return flows if window is None else started_in(flows, spans[window])

    def series() -> Series:
        queues, links, flows, of = (read(name) for name in ("queues", "links", "flows", "algorithm_state"))
        return Series(rows("windows"), pl.DataFrame() if queues is None else queues, links, flows, state=of)

    record = scenario.record
    match figure:
        case SweepFigure():
            return over_sweep.chart(runs, figure, scenario.interval)
        case BarFigure():
            return bar.chart(runs, figure, scenario.interval)
        case HeatMapFigure():
            return heatmap.chart(runs, figure)
        case TimeFigure():
            return over_time.chart(series(), figure, sampling_ns(record.windows_interval_ns, USUAL_INTERVAL_NS))
        case TracesFigure():
            return traces.chart(series(), figure, sampling_ns(record.windows_interval_ns, USUAL_INTERVAL_NS))
        case CdfFigure():
            return cdf.chart(begun(rows(figure.table), figure.window), figure)
        case PercentilesFigure():
            return percentiles.chart(begun(rows("flows"), figure.window), figure)
        case UtilisationFigure():
            return utilisation.chart(runs, figure, scenario)
        case PortSharesFigure():
            return shares.chart(rows("ports"), figure)
        case PodMatrixFigure():
            return by_pod.matrix(rows("pod_pairs"), figure)
        case PodPairFigure():
            return by_pod.pair(rows("flows"), figure)
        case PairedFigure():
            return by_rank.paired(rows("flows"), figure)
        case BySizeFigure():
            return by_rank.by_size(begun(rows("flows"), figure.window), figure, scenario.interval)
        case DepthsFigure():
            return by_rank.depths(rows("queue_histogram"), figure)
        case DecidedCellsFigure():
            return cells.chart(rows("flows"), figure)
        case StateFigure():
            of = (record.registers if figure.y == "value" else record.counters) or StateRecord()
            return state.chart(rows(state.table_of(figure)), figure, of.interval_ns)
        case CollectiveStepsFigure():
            return collective_steps.chart(rows("collective_steps"), figure)
        case PausesFigure():
            return pauses.chart(rows("pause_frames"), figure)
