"""Time series of one seed: a column per variant, a row per panel."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from p4cc.errors import UserError
from p4cc.figures.series import THROUGHPUT_BIN_NS, Series, bins, goodput, lines, mark_line_rate, say_until
from p4cc.figures.style import COLOURS, log_scale, save, say, use_style
from p4cc.scenario.figures import Panel, TimeFigure


def draw(series: Series, figure: TimeFigure, folder: Path, samples_ns: int | None) -> Path:
    """Draws `figure` and returns the file written; raises UserError when the seed was not run or nothing recorded.

    `samples_ns` is the time between two samples of a window.
    """
    seeds = series.windows["seed"].unique().sort()
    if seeds.is_empty():
        raise UserError(f"figure {figure.file}: no windows were recorded", remedy="set record.windows_interval_ns")
    seed = int(seeds[0]) if figure.seed is None else figure.seed
    if seed not in seeds.to_list():
        raise UserError(f"figure {figure.file}: seed {seed} was not run", remedy=f"seeds run: {seeds.to_list()}")
    variants = series.windows["variant"].unique(maintain_order=True).to_list()
    use_style()
    rows, columns = len(figure.panels), len(variants)
    page = Figure(figsize=(4.4 * columns, 1.9 * rows + 0.6), layout="constrained")
    series = series.first_point(page)
    if any(panel.y == "rate_bps" for panel in figure.panels):
        series = replace(series, bin_ns=bins(page, THROUGHPUT_BIN_NS, samples_ns))
    say_until(page, figure.until_ns, series.windows["time_ns"])
    for column, variant in enumerate(variants):
        chosen = series.of(variant, seed)
        for row, panel in enumerate(figure.panels):
            axes = page.add_subplot(rows, columns, row * columns + column + 1)
            _draw_panel(page, axes, chosen, panel)
            if figure.until_ns is not None:
                axes.set_xlim(0, figure.until_ns / 1e6)
            if panel.log:
                log_scale(axes)
            if row == 0:
                axes.set_title(variant)
            if row == rows - 1:
                axes.set_xlabel("time (ms)")
            if column == 0:
                axes.set_ylabel(panel.label or panel.y)
    page.suptitle(figure.title)
    return save(page, folder / figure.file)


def _draw_panel(page: Figure, axes: Axes, series: Series, panel: Panel) -> None:
    if panel.y == "rate_bps":
        rates = goodput(series.windows, series.bin_ns)
        axes.step(*_xy(rates, "rate_bps", panel.scale), where="post", color=COLOURS[0])
        line_bps = lines(series.links, series.flows).of_all(series.windows["flow_id"].unique().to_list())
        mark_line_rate(page, axes, rates["rate_bps"], line_bps, panel.scale)
        axes.set_ylim(bottom=0)
        return
    if panel.y in series.queues.columns:
        depth = series.queues.group_by("time_ns").agg(pl.col(panel.y).max()).sort("time_ns")
        axes.step(*_xy(depth, panel.y, panel.scale), where="post", color=COLOURS[0])
        axes.set_ylim(bottom=0)
        return
    if panel.y not in series.windows.columns:
        known = sorted({*series.windows.columns, *series.queues.columns, "rate_bps"})
        raise UserError(f"no time series has a column {panel.y!r}", remedy=f"columns: {', '.join(known)}")
    if series.windows[panel.y].is_null().all():
        say(axes, f"no sample has a value of {panel.y}")
    for number, (_, flow) in enumerate(series.windows.group_by("flow_id", maintain_order=True)):
        # A row stands where something changed, so a value holds until the next row.
        colour = COLOURS[number % len(COLOURS)]
        axes.step(*_xy(flow, panel.y, panel.scale), where="post", color=colour, alpha=0.5, linewidth=0.8)


def _xy(frame: pl.DataFrame, column: str, scale: float) -> tuple[list[float], list[float]]:
    times = (frame["time_ns"].cast(pl.Float64) / 1e6).to_list()
    return times, (frame[column].cast(pl.Float64) * scale).to_list()
