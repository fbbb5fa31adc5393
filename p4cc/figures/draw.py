"""A scenario's figure to the file that draws its kind; tables are read from the folder of results."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import polars as pl
from matplotlib.figure import Figure as Page

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
from p4cc.figures.series import Series
from p4cc.figures.style import column_width, save, say
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
    from pathlib import Path

    from p4cc.scenario.schema import Scenario


def draw(figure: Figure, runs: pl.DataFrame, folder: Path, scenario: Scenario) -> Path:
    """Draws one figure from the runs and the tables beside them; raises UserError for columns that are not there.

    A figure of a table without rows says so.
    """
    try:
        with warnings.catch_warnings():
            # What libraries say of a figure is not for a terminal;
            # what a reader must know stands in the figure.
            warnings.simplefilter("ignore")
            with column_width(figure.width_mm):
                return _draw(figure, runs, folder, scenario)
    except _NoRowsError as error:
        name = error.args[0]
        page = Page(figsize=(5.0, 2.4), layout="constrained")
        axes = page.add_subplot()
        axes.set_axis_off()
        say(axes, f"table {name} has no rows (it needs: {table(name).when})")
        page.suptitle(figure.title)
        return save(page, folder / figure.file)


class _NoRowsError(Exception):
    """A table that a figure needs has no rows."""


def _draw(figure: Figure, runs: pl.DataFrame, folder: Path, scenario: Scenario) -> Path:
    match figure:
        case SweepFigure():
            return over_sweep.draw(runs, figure, folder, scenario.interval)
        case BarFigure():
            return bar.draw(runs, figure, folder, scenario.interval)
        case HeatMapFigure():
            return heatmap.draw(runs, figure, folder)
        case TimeFigure():
            return over_time.draw(
                _series(folder), figure, folder, sampling_ns(scenario.record.windows_interval_ns, USUAL_INTERVAL_NS)
            )
        case TracesFigure():
            return traces.draw(
                _series(folder), figure, folder, sampling_ns(scenario.record.windows_interval_ns, USUAL_INTERVAL_NS)
            )
        case CdfFigure():
            return cdf.draw(_begun(_table(folder, figure.table), figure.window, scenario), figure, folder)
        case PercentilesFigure():
            return percentiles.draw(_begun(_table(folder, "flows"), figure.window, scenario), figure, folder)
        case UtilisationFigure():
            return utilisation.draw(runs, figure, folder, scenario)
        case PortSharesFigure():
            return shares.draw(_table(folder, "ports"), figure, folder)
        case PodMatrixFigure():
            return by_pod.draw_matrix(_table(folder, "pod_pairs"), figure, folder)
        case PodPairFigure():
            return by_pod.draw_pair(_table(folder, "flows"), figure, folder)
        case PairedFigure():
            return by_rank.draw_paired(_table(folder, "flows"), figure, folder)
        case BySizeFigure():
            return by_rank.draw_by_size(
                _begun(_table(folder, "flows"), figure.window, scenario), figure, folder, scenario.interval
            )
        case DepthsFigure():
            return by_rank.draw_depths(_table(folder, "queue_histogram"), figure, folder)
        case DecidedCellsFigure():
            return cells.draw(_table(folder, "flows"), figure, folder)
        case StateFigure():
            record = scenario.record.registers if figure.y == "value" else scenario.record.counters
            samples = _table(folder, state.table_of(figure))
            return state.draw(samples, figure, folder, (record or StateRecord()).interval_ns)
        case CollectiveStepsFigure():
            return collective_steps.draw(_table(folder, "collective_steps"), figure, folder)
        case PausesFigure():
            return pauses.draw(_table(folder, "pause_frames"), figure, folder)


def _series(folder: Path) -> Series:
    queues = read_table(folder, "queues")
    return Series(
        _table(folder, "windows"),
        pl.DataFrame() if queues is None else queues,
        read_table(folder, "links"),
        read_table(folder, "flows"),
        state=read_table(folder, "algorithm_state"),
    )


def _begun(flows: pl.DataFrame, window: str | None, scenario: Scenario) -> pl.DataFrame:
    """Rows of flows that began in a span of `measure`; all where none is named."""
    spans = {one.name: one for one in scenario.measure}
    return flows if window is None else started_in(flows, spans[window])


def _table(folder: Path, name: str) -> pl.DataFrame:
    result = read_table(folder, name)
    if result is None:
        raise _NoRowsError(name)
    return result
