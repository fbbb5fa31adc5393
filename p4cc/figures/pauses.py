"""Pause frames by port over time, and who waits for whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from p4cc.analysis.pause_frames import pause_times, waits
from p4cc.digits import digits
from p4cc.figures.style import COLOURS, at_point, need_columns, note, of_seed, save, say, split, use_style

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

    from p4cc.scenario.flow_figures import PausesFigure

_WAITS = 12
"""Lines of who waits for whom."""


def draw(frames: pl.DataFrame, figure: PausesFigure, folder: Path) -> Path:
    """Draws a row for each variant: frames by port and time, and the waits that took longest; returns the file."""
    need_columns(figure.file, frames, "time_ns", "node", "peer", "pause", "towards")
    chosen = of_seed(at_point(figure.file, frames, figure.over, figure.at), figure.seed)
    groups = split(chosen, None)
    use_style()
    height = 1.0 + 0.16 * figure.ports
    page = Figure(figsize=(12.0, max(3.2, height) * max(len(groups), 1)), layout="constrained")
    until_ms = max((float(str(group["time_ns"].max())) for _, _, group in groups), default=0.0) / 1e6 or 1.0
    for row, (variant, _, group) in enumerate(groups):
        pauses = pause_times(group)
        over_time = page.add_subplot(len(groups), 2, 2 * row + 1)
        _draw_ports(page, over_time, pauses, figure, until_ms)
        longest = pauses["lasted_ns"].max()
        lasted = "" if longest is None else f", the longest {digits(int(str(longest)) / 1e6)} ms"
        over_time.set_title(f"{variant}: {pauses.height} pauses{lasted}")
        _draw_waits(page.add_subplot(len(groups), 2, 2 * row + 2), pauses)
    if not groups:
        say(page.add_subplot(), "no pause frame")
    page.suptitle(figure.title)
    return save(page, folder / figure.file)


def _draw_ports(page: Figure, axes: Axes, pauses: pl.DataFrame, figure: PausesFigure, until_ms: float) -> None:
    """A map of ports by time, coloured by pause frames."""
    port = pauses["node"] + " stops " + pauses["peer"]
    counts = port.value_counts(sort=True, name="pauses").sort(["pauses", "node"], descending=[True, False])
    names = counts["node"].head(figure.ports).to_list()
    times = pauses["time_ns"].cast(pl.Float64).to_numpy() / 1e6
    edges = np.linspace(0.0, until_ms, figure.bins + 1)
    grid = np.array([np.histogram(times[(port == name).to_numpy()], bins=edges)[0] for name in names], dtype=float)
    grid[grid == 0] = np.nan
    image = axes.imshow(
        grid,
        aspect="auto",
        cmap="viridis",
        vmin=0,
        extent=(0.0, until_ms, len(names) - 0.5, -0.5),
        interpolation="none",
    )
    axes.grid(visible=False)
    axes.set_yticks(range(len(names)), names, fontsize=6)
    axes.set_xlabel("time (ms)")
    page.colorbar(image, ax=axes, label=f"pause frames in {digits(until_ms / figure.bins * 1e3)} us", shrink=0.8)
    if counts.height > len(names):
        note(page, f"ports: those {len(names)} that sent most, of up to {counts.height}")


def _draw_waits(axes: Axes, pauses: pl.DataFrame) -> None:
    """The waits that took longest, each a bar."""
    rows = waits(pauses).head(_WAITS)
    names = [f"{peer} waits for {node}, it for {towards}" for peer, node, towards, *_ in rows.iter_rows()]
    axes.barh(range(rows.height), (rows["paused_ns"].cast(pl.Float64) / 1e6).to_list(), color=COLOURS[0])
    for place, (count, paused_ns) in enumerate(rows.select("pauses", "paused_ns").iter_rows()):
        axes.text(paused_ns / 1e6, place, f" {count}", va="center", fontsize=6)
    axes.set_yticks(range(rows.height), names, fontsize=6)
    axes.invert_yaxis()
    axes.grid(visible=False)
    axes.set_xlabel("stopped for (ms in all); beside bars: pauses")
