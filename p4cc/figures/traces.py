"""Windows and goodput of single flows over time, one seed: a line per flow, a column per variant."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from p4cc.analysis.metrics import goodput_bins
from p4cc.figures.chart import Axis, Chart, Line, Panel
from p4cc.figures.rows import need_columns
from p4cc.figures.series import bins, line_rate, lines, seed_of, time_axis, until, xy

if TYPE_CHECKING:
    from p4cc.figures.chart import Mark
    from p4cc.figures.series import Series
    from p4cc.scenario.figures import Panel as PanelSpec
    from p4cc.scenario.figures import TracesFigure

_MAX_FLOWS = 32
_MOST_LABELS = 9


def chart(series: Series, figure: TracesFigure, samples_ns: int | None) -> Chart:
    """The chart; raises UserError when the seed was not run or nothing was recorded.

    `samples_ns` is the time between two samples of a window.
    """
    seed = seed_of(series.windows, figure)
    others = {"rate_bps", *series.attributes()}
    need_columns(figure.file, series.windows, *(panel.y for panel in figure.panels if panel.y not in others))
    variants = series.windows["variant"].unique(maintain_order=True).to_list()
    notes: list[str] = []
    series = series.first_point(notes)
    if any(panel.y == "rate_bps" for panel in figure.panels):
        series = replace(series, bin_ns=bins(notes, figure.bin_ns, samples_ns))
    notes += until(figure.until_ns, series.windows["time_ns"])
    runs: list[tuple[str, Series, list[int]]] = []
    for variant in variants:
        run = series.of(variant, seed)
        known = run.windows["flow_id"].unique().sort().to_list()
        ids = figure.flows or known[:_MAX_FLOWS]
        if figure.flows is None and len(known) > len(ids):
            notes.append(f"{variant}: the first {len(ids)} of {len(known)} flows")
        runs.append((variant, run, ids))
    panels = [
        _panel(figure, (row, column), run, notes)
        for row in range(len(figure.panels))
        for column, run in enumerate(runs)
    ]
    size = (4.4 * len(variants), 2.1 * len(figure.panels) + 0.6)
    return Chart(figure.title, panels, size, len(variants), notes, variants)


def _panel(figure: TracesFigure, at: tuple[int, int], of: tuple[str, Series, list[int]], notes: list[str]) -> Panel:
    (row, column), (variant, run, ids), spec = at, of, figure.panels[at[0]]
    marks = [mark for number, flow in enumerate(ids) for mark in _flow(run, flow, spec, number, notes)]
    known = set(run.windows["flow_id"].unique().to_list())
    nothing = f"no sample has a value of {spec.y}" if known & set(ids) else "none of the flows began"
    return Panel(
        time_axis(figure, row),
        Axis((spec.label or spec.y) if column == 0 else "", log=spec.log),
        marks,
        variant if row == 0 else "",
        "" if marks else nothing,
        variant=variant,
        legend=row == column == 0 and len(ids) <= _MOST_LABELS,
    )


def _flow(run: Series, flow: int, spec: PanelSpec, number: int, notes: list[str]) -> list[Mark]:
    windows = run.windows.filter(pl.col("flow_id") == flow)
    is_rate = spec.y == "rate_bps"
    series = whole_bins(windows, run.bin_ns) if is_rate else _values(run, windows, flow, spec.y)
    name = series.columns[1]
    if series.is_empty() or series[name].is_null().all():
        return []
    level = line_rate(series[name], lines(run.links, run.flows).of_flow(flow), spec.scale, notes) if is_rate else []
    return [
        *level,
        Line(*xy(series, name, spec.scale), f"flow {flow}", shape="steps", colour=number, width=1.0),
    ]


def _values(run: Series, windows: pl.DataFrame, flow: int, name: str) -> pl.DataFrame:
    """A column of windows, or an attribute of the algorithm: `time_ns` and the values."""
    if name in windows.columns or run.state is None:
        return windows.select("time_ns", name)
    of_flow = run.state.filter((pl.col("flow_id") == flow) & (pl.col("name") == name))
    return of_flow.select("time_ns", pl.col("value").alias(name))


def whole_bins(windows: pl.DataFrame, bin_ns: int) -> pl.DataFrame:
    """Goodput of one flow in every bin from its first to its last, zeros included: `time_ns`, `rate_bps`."""
    return filled(goodput_bins(windows, bin_ns), bin_ns)


def filled(goodput: pl.DataFrame, bin_ns: int) -> pl.DataFrame:
    """Bins of one flow (`goodput_bins`) with those of no goodput between them: `time_ns`, `rate_bps`."""
    bins = goodput.select("time_ns", "rate_bps")
    if bins.is_empty():
        return bins
    first, last = int(bins["time_ns"][0]), int(bins["time_ns"][-1])
    every = pl.DataFrame({"time_ns": range(first, last + 2 * bin_ns, bin_ns)}, schema={"time_ns": pl.Int64})
    return every.join(bins, on="time_ns", how="left").with_columns(pl.col("rate_bps").fill_null(0.0)).sort("time_ns")
