"""Windows and goodput of single flows over time, one seed: a line per flow, a column per variant."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl
from matplotlib.figure import Figure

from p4cc.analysis.metrics import goodput_bins
from p4cc.errors import UserError
from p4cc.figures.series import bins, lines, mark_line_rate, say_until
from p4cc.figures.style import COLOURS, legend, log_scale, need_columns, note, save, say, use_style

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

    from p4cc.figures.series import Series
    from p4cc.scenario.figures import Panel, TracesFigure

_MAX_FLOWS = 32


def draw(series: Series, figure: TracesFigure, folder: Path, samples_ns: int | None) -> Path:
    """Draws `figure`; returns the file written. Raises UserError when the seed was not run or nothing was recorded.

    `samples_ns` is the time between two samples of a window.
    """
    windows = series.windows
    seeds = windows["seed"].unique().sort().to_list()
    if not seeds:
        raise UserError(f"figure {figure.file}: no windows were recorded", remedy="set record.windows_interval_ns")
    seed = seeds[0] if figure.seed is None else figure.seed
    if seed not in seeds:
        raise UserError(f"figure {figure.file}: seed {seed} was not run", remedy=f"seeds run: {seeds}")
    others = {"rate_bps", *series.attributes()}
    need_columns(figure.file, windows, *(panel.y for panel in figure.panels if panel.y not in others))
    variants = windows["variant"].unique(maintain_order=True).to_list()
    use_style()
    rows, columns = len(figure.panels), len(variants)
    page = Figure(figsize=(4.4 * columns, 2.1 * rows + 0.6), layout="constrained")
    series = series.first_point(page)
    if any(panel.y == "rate_bps" for panel in figure.panels):
        series = replace(series, bin_ns=bins(page, figure.bin_ns, samples_ns))
    say_until(page, figure.until_ns, series.windows["time_ns"])
    for column, variant in enumerate(variants):
        run = series.of(variant, seed)
        known = run.windows["flow_id"].unique().sort().to_list()
        ids = figure.flows or known[:_MAX_FLOWS]
        if figure.flows is None and len(known) > len(ids):
            note(page, f"{variant}: the first {len(ids)} of {len(known)} flows")
        for row, panel in enumerate(figure.panels):
            axes = page.add_subplot(rows, columns, row * columns + column + 1)
            for number, flow in enumerate(ids):
                _draw_flow(page, axes, run, flow, panel, number)
            if not axes.get_lines():
                say(
                    axes,
                    "none of the flows began" if not set(ids) & set(known) else f"no sample has a value of {panel.y}",
                )
            if figure.until_ns is not None:
                axes.set_xlim(0, figure.until_ns / 1e6)
            if panel.log:
                log_scale(axes)
            axes.set_title(variant if row == 0 else "")
            axes.set_xlabel("time (ms)" if row == rows - 1 else "")
            axes.set_ylabel((panel.label or panel.y) if column == 0 else "")
            if row == column == 0 and len(ids) <= len(COLOURS):
                legend(axes)
    page.suptitle(figure.title)
    return save(page, folder / figure.file)


def _draw_flow(page: Figure, axes: Axes, run: Series, flow: int, panel: Panel, number: int) -> None:
    windows = run.windows.filter(pl.col("flow_id") == flow)
    is_rate = panel.y == "rate_bps"
    series = whole_bins(windows, run.bin_ns) if is_rate else _values(run, windows, flow, panel.y)
    if series.is_empty() or series[series.columns[1]].is_null().all():
        return
    if is_rate:
        line_bps = lines(run.links, run.flows).of_flow(flow)
        mark_line_rate(page, axes, series["rate_bps"], line_bps, panel.scale)
    name = series.columns[1]
    times = (series["time_ns"].cast(pl.Float64) / 1e6).to_list()
    values = (series[name].cast(pl.Float64) * panel.scale).to_list()
    label = f"flow {flow}"
    axes.step(times, values, where="post", color=COLOURS[number % len(COLOURS)], linewidth=1.0, label=label)


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
