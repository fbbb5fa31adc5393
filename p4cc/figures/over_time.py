"""Time series of one seed: a column per variant, a row per panel."""

# matplotlib's stubs leave **kwargs untyped.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from p4cc.errors import UserError
from p4cc.figures.style import COLOURS, save, use_style
from p4cc.scenario.figures import Panel, TimeFigure

THROUGHPUT_BIN_NS = 100_000
"""Bin of instantaneous throughput (spec 17)."""


@dataclass(frozen=True)
class Series:
    """The tables a run leaves, as frames with the run's keys in front."""

    windows: pl.DataFrame
    queues: pl.DataFrame


def draw(series: Series, figure: TimeFigure, folder: Path) -> Path:
    """Draws `figure` and returns the file written; raises UserError when the seed was not run or nothing recorded."""
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
    for column, variant in enumerate(variants):
        chosen = Series(_of(series.windows, variant, seed), _of(series.queues, variant, seed))
        for row, panel in enumerate(figure.panels):
            axes = page.add_subplot(rows, columns, row * columns + column + 1)
            _draw_panel(axes, chosen, panel)
            if figure.until_ns is not None:
                axes.set_xlim(0, figure.until_ns / 1e6)
            if row == 0:
                axes.set_title(variant)
            if row == rows - 1:
                axes.set_xlabel("time (ms)")
            if column == 0:
                axes.set_ylabel(panel.label or panel.y)
    page.suptitle(figure.title)
    return save(page, folder / figure.file)


def throughput(windows: pl.DataFrame) -> pl.DataFrame:
    """Rate of acknowledged payload in bins of 100 us: columns `time_ns` (start of bin) and `rate_bps`."""
    if windows.is_empty():
        return pl.DataFrame({"time_ns": [], "rate_bps": []}, schema={"time_ns": pl.Int64, "rate_bps": pl.Float64})
    last = windows.with_columns(bin=pl.col("time_ns").cast(pl.Int64) // THROUGHPUT_BIN_NS)
    gained = (
        last.group_by("flow_id", "bin")
        .agg(pl.col("acked_bytes").max())
        .sort("flow_id", "bin")
        .with_columns(gain=pl.col("acked_bytes").cast(pl.Int64).diff().over("flow_id"))
        .with_columns(pl.col("gain").fill_null(pl.col("acked_bytes").cast(pl.Int64)))
    )
    bins = pl.DataFrame({"bin": range(int(last["bin"].max()) + 1)}, schema={"bin": pl.Int64})  # pyright: ignore[reportArgumentType]
    sums = bins.join(gained.group_by("bin").agg(pl.col("gain").sum()), on="bin", how="left").sort("bin")
    return sums.select(
        time_ns=pl.col("bin") * THROUGHPUT_BIN_NS,
        rate_bps=pl.col("gain").fill_null(0).cast(pl.Float64) * 8e9 / THROUGHPUT_BIN_NS,
    )


def _of(frame: pl.DataFrame, variant: str, seed: int) -> pl.DataFrame:
    return frame if frame.is_empty() else frame.filter((pl.col("variant") == variant) & (pl.col("seed") == seed))


def _draw_panel(axes: Axes, series: Series, panel: Panel) -> None:
    if panel.y == "rate_bps":
        rates = throughput(series.windows)
        axes.step(*_xy(rates, "rate_bps", panel.scale), where="post", color=COLOURS[0])
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
    for number, (_, flow) in enumerate(series.windows.group_by("flow_id", maintain_order=True)):
        # A row stands where something changed, so a value holds until the next row.
        colour = COLOURS[number % len(COLOURS)]
        axes.step(*_xy(flow, panel.y, panel.scale), where="post", color=colour, alpha=0.5, linewidth=0.8)


def _xy(frame: pl.DataFrame, column: str, scale: float) -> tuple[list[float], list[float]]:
    times = (frame["time_ns"].cast(pl.Float64) / 1e6).to_list()
    return times, (frame[column].cast(pl.Float64) * scale).to_list()
