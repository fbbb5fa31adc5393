"""Figures of a result as matplotlib axes, drawn like scenarios' figures."""

# matplotlib's stubs leave **kwargs untyped.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
from matplotlib import pyplot as plt

from p4cc.analysis.percentiles import is_few, of_few_text
from p4cc.analysis.slowdown import LABEL, by_size
from p4cc.errors import UserError
from p4cc.figures.cdf import distribution, labelled, nothing
from p4cc.figures.rows import of_seed
from p4cc.figures.style import COLOURS, MARKERS, legend, log_scale, say, use_style

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes

_NAMES = {"fct": "fct_ns", "rtt": "rtt_ns"}
_TABLES = {"rtt_ns": "rtts"}


class Plot:
    """Draws from the tables of a result; every method takes `ax` to draw into, and returns the axes.

    Lines drawn into axes that already have lines get new colours.
    """

    def __init__(self, table: Callable[[str], pl.DataFrame]) -> None:
        """`table` returns a table of the result by name."""
        self._table = table

    def cdf(self, column: str = "fct_ns", table: str | None = None, *, ax: Axes | None = None) -> Axes:
        """The distribution of a column over all seeds, a line for each variant; `fct` and `rtt` are short names.

        `table` defaults to `flows`, or `rtts` for round-trip times. Times are in us. Raises UserError for a column that
        the table lacks.
        """
        name = _NAMES.get(column, column)
        frame = self._table(table or _TABLES.get(name, "flows"))
        _need(frame, name)
        axes = _axes(ax)
        scale, unit = (1e-3, " (us)") if name.endswith("_ns") else (1.0, "")
        for number, (variant, rows) in enumerate(frame.group_by("variant", maintain_order=True), len(axes.get_lines())):
            values, shares = distribution(rows[name], scale)
            colour = COLOURS[number % len(COLOURS)]
            axes.step(values, shares, where="post", color=colour, label=labelled(str(variant[0]), rows[name]))
        if frame[name].drop_nulls().is_empty():
            say(axes, nothing(frame))
        axes.set_ylim(0, 1)
        axes.set_xlabel(name.removesuffix("_ns") + unit)
        axes.set_ylabel("share")
        legend(axes)
        return axes

    def queue(self, switch: str, peer: str, *, seed: int | None = None, ax: Axes | None = None) -> Axes:
        """Packets in the queue of the port from `switch` to `peer` over time, a line for each variant, for one seed.

        Raises UserError for a port without samples; the message lists those with samples.
        """
        queues = self._table("queues")
        rows = queues.filter((pl.col("switch") == switch) & (pl.col("peer") == peer))
        if rows.is_empty():
            ports = [
                f"{one[0]} to {one[1]}" for one in queues.select("switch", "peer").unique(maintain_order=True).rows()
            ]
            remedy = f"ports with samples: {', '.join(ports[:12])}" if ports else "set record.queues_interval_ns"
            raise UserError(f"no samples of a port from {switch} to {peer}", place="plot.queue", remedy=remedy)
        axes = _axes(ax)
        self._over_time(axes, rows, "depth_pkts", seed)
        axes.set_ylabel(f"queue from {switch} to {peer} (packets)")
        axes.set_ylim(bottom=0)
        return axes

    def windows(
        self, flow_id: int, *, column: str = "cwnd_segments", seed: int | None = None, ax: Axes | None = None
    ) -> Axes:
        """A sender's window or rate over time (a column of `windows`), a line for each variant, for one seed.

        Raises UserError for a flow without samples or an unknown column.
        """
        windows = self._table("windows")
        _need(windows, column)
        rows = windows.filter(pl.col("flow_id") == flow_id)
        if rows.is_empty():
            known = ", ".join(str(one) for one in windows["flow_id"].unique().sort().to_list()[:12])
            remedy = f"flows with samples: {known}" if known else "set record.windows_interval_ns"
            raise UserError(f"no samples of flow {flow_id}", place="plot.windows", remedy=remedy)
        axes = _axes(ax)
        self._over_time(axes, rows, column, seed)
        axes.set_ylabel(f"{column} of flow {flow_id}")
        axes.set_ylim(bottom=0)
        return axes

    def slowdown(self, percentile: int = 95, *, bins: int = 10, ax: Axes | None = None) -> Axes:
        """A percentile (50, 95 or 99) of the slowdown over bins of flow size, a line for each variant.

        Bins with so few flows that the percentile is their largest value have hollow marks.
        """
        if percentile not in (50, 95, 99):
            raise UserError(f"percentile {percentile}", place="plot.slowdown", remedy="give 50, 95 or 99")
        axes = _axes(ax)
        lines, any_few = len(axes.get_lines()), False
        for number, (variant, rows) in enumerate(self._table("flows").group_by("variant", maintain_order=True), lines):
            found = by_size(rows, bins)
            sizes, values = [one["max_size_bytes"] for one in found], [one[f"p{percentile}"] for one in found]
            colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
            label = labelled(str(variant[0]), rows["slowdown"])
            axes.plot(sizes, values, color=colour, marker=marker, ms=4, label=label)
            points = zip(sizes, values, (int(one["flows"]) for one in found), strict=True)
            few = [(size, value) for size, value, count in points if is_few(count, percentile)]
            if few:
                axes.plot(*zip(*few, strict=True), ls="", marker=marker, ms=5, mfc="white", mec=colour, zorder=3)
            any_few = any_few or bool(few)
        if any_few:
            axes.set_title(f"hollow: of {of_few_text([percentile])}", fontsize="small", loc="left")
        log_scale(axes, x=True)
        log_scale(axes)
        axes.set_xlabel(f"flow size (B), {bins} bins")
        axes.set_ylabel(f"{LABEL}, p{percentile}")
        legend(axes)
        return axes

    def _over_time(self, axes: Axes, rows: pl.DataFrame, column: str, seed: int | None) -> None:
        chosen = of_seed(rows, seed)
        if chosen.is_empty():
            seeds = rows["seed"].unique(maintain_order=True).to_list()
            raise UserError(f"seed {seed} was not run", place="plot", remedy=f"seeds: {seeds}")
        for number, (variant, line) in enumerate(
            chosen.group_by("variant", maintain_order=True), len(axes.get_lines())
        ):
            times = (line["time_ns"] / 1e3).to_numpy()
            colour = COLOURS[number % len(COLOURS)]
            axes.step(times, line[column].to_numpy(), where="post", color=colour, lw=0.8, label=str(variant[0]))
        axes.set_xlabel("time (us)")
        legend(axes)


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    use_style()
    # By pyplot: a notebook shows what pyplot made.
    return plt.subplots(figsize=(5.6, 3.4), layout="constrained")[1]


def _need(frame: pl.DataFrame, column: str) -> None:
    if column not in frame.columns:
        raise UserError(f"there is no column {column!r}", place="plot", remedy=f"columns: {', '.join(frame.columns)}")
