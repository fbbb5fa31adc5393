"""Pause frames by port over time, and who waits for whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from p4cc.analysis.pause_frames import pause_times, waits
from p4cc.digits import digits
from p4cc.figures.chart import Axis, Bars, Chart, Grid, Panel, saying
from p4cc.figures.rows import at_point, need_columns, of_seed, split

if TYPE_CHECKING:
    from p4cc.scenario.flow_figures import PausesFigure

_WAITS = 12
"""Lines of who waits for whom."""


def chart(frames: pl.DataFrame, figure: PausesFigure) -> Chart:
    """A row for each variant: frames by port and time, and the waits that took longest."""
    need_columns(figure.file, frames, "time_ns", "node", "peer", "pause", "towards")
    chosen = of_seed(at_point(figure.file, frames, figure.over, figure.at), figure.seed)
    groups = split(chosen, None)
    size = (12.0, max(3.2, 1.0 + 0.16 * figure.ports) * max(len(groups), 1))
    if not groups:
        return saying(figure.title, "no pause frame", size)
    until_ms = max(float(str(group["time_ns"].max())) for _, _, group in groups) / 1e6 or 1.0
    notes: list[str] = []
    panels: list[Panel] = []
    for variant, _, group in groups:
        pauses = pause_times(group)
        panels += [_ports(pauses, figure, until_ms, variant, notes), _waits(pauses, variant)]
    return Chart(figure.title, panels, size, 2, notes)


def _ports(pauses: pl.DataFrame, figure: PausesFigure, until_ms: float, variant: str, notes: list[str]) -> Panel:
    """A map of ports by time, coloured by pause frames."""
    port = pauses["node"] + " stops " + pauses["peer"]
    counts = port.value_counts(sort=True, name="pauses").sort(["pauses", "node"], descending=[True, False])
    names = counts["node"].head(figure.ports).to_list()
    times = pauses["time_ns"].cast(pl.Float64).to_numpy() / 1e6
    edges = np.linspace(0.0, until_ms, figure.bins + 1)
    frames = [np.histogram(times[(port == name).to_numpy()], bins=edges)[0].tolist() for name in names]
    if counts.height > len(names):
        notes.append(f"ports: those {len(names)} that sent most, of up to {counts.height}")
    longest = pauses["lasted_ns"].max()
    lasted = "" if longest is None else f", the longest {digits(int(str(longest)) / 1e6)} ms"
    grid = Grid(
        [[count or None for count in line] for line in frames],
        f"pause frames in {digits(until_ms / figure.bins * 1e3)} us",
        low=0,
        span=(0.0, until_ms),
    )
    return Panel(
        Axis("time", "ms"),
        Axis(ticks=list(enumerate(names)), tick_size=6),
        [grid],
        f"{variant}: {pauses.height} pauses{lasted}",
        variant=variant,
        ruled=False,
    )


def _waits(pauses: pl.DataFrame, variant: str) -> Panel:
    """The waits that took longest, each a bar."""
    rows = waits(pauses).head(_WAITS)
    names = [f"{peer} waits for {node}, it for {towards}" for peer, node, towards, *_ in rows.iter_rows()]
    bars = Bars(
        list(range(rows.height)),
        (rows["paused_ns"].cast(pl.Float64) / 1e6).to_list(),
        names=names,
        colour=0,
        lying=True,
        texts=[str(count) for count in rows["pauses"]],
        text_at="beside",
    )
    return Panel(
        Axis("stopped for (ms in all); next to bars: pauses"),
        Axis(ticks=list(enumerate(names)), tick_size=6, reversed=True),
        [bars],
        variant=variant,
        ruled=False,
    )
