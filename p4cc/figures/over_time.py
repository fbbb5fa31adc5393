"""Time series of one seed: a column per variant, a row per panel."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from p4cc.errors import UserError
from p4cc.figures.chart import Axis, Chart, Line, Panel
from p4cc.figures.series import THROUGHPUT_BIN_NS, bins, goodput, line_rate, lines, seed_of, time_axis, until, xy

if TYPE_CHECKING:
    from p4cc.figures.chart import Mark
    from p4cc.figures.series import Series
    from p4cc.scenario.figures import Panel as PanelSpec
    from p4cc.scenario.figures import TimeFigure


def chart(series: Series, figure: TimeFigure, samples_ns: int | None) -> Chart:
    """The chart; raises UserError when the seed was not run or nothing recorded.

    `samples_ns` is the time between two samples of a window.
    """
    seed = seed_of(series.windows, figure)
    variants = series.windows["variant"].unique(maintain_order=True).to_list()
    notes: list[str] = []
    series = series.first_point(notes)
    if any(panel.y == "rate_bps" for panel in figure.panels):
        series = replace(series, bin_ns=bins(notes, THROUGHPUT_BIN_NS, samples_ns))
    notes += until(figure.until_ns, series.windows["time_ns"])
    runs = [(variant, series.of(variant, seed)) for variant in variants]
    panels: list[Panel] = []
    for row, spec in enumerate(figure.panels):
        for column, (variant, run) in enumerate(runs):
            marks, says = _marks(run, spec, notes)
            is_flow = spec.y != "rate_bps" and spec.y not in run.queues.columns
            panels.append(
                Panel(
                    time_axis(figure, row),
                    Axis((spec.label or spec.y) if column == 0 else "", log=spec.log, low=None if is_flow else 0),
                    marks,
                    variant if row == 0 else "",
                    says,
                    variant=variant,
                )
            )
    size = (4.4 * len(variants), 1.9 * len(figure.panels) + 0.6)
    return Chart(figure.title, panels, size, len(variants), notes, variants)


def _marks(series: Series, spec: PanelSpec, notes: list[str]) -> tuple[list[Mark], str]:
    """What a panel of a run shows, and what it says where that is nothing."""
    if spec.y == "rate_bps":
        rates = goodput(series.windows, series.bin_ns)
        line_bps = lines(series.links, series.flows).of_all(series.windows["flow_id"].unique().to_list())
        level = line_rate(rates["rate_bps"], line_bps, spec.scale, notes)
        return [Line(*xy(rates, "rate_bps", spec.scale), shape="steps", name="all flows", colour=0), *level], ""
    if spec.y in series.queues.columns:
        depth = series.queues.group_by("time_ns").agg(pl.col(spec.y).max()).sort("time_ns")
        return [Line(*xy(depth, spec.y, spec.scale), shape="steps", name="the largest of all ports", colour=0)], ""
    if spec.y not in series.windows.columns:
        known = sorted({*series.windows.columns, *series.queues.columns, "rate_bps"})
        raise UserError(f"no time series has a column {spec.y!r}", remedy=f"columns: {', '.join(known)}")
    says = f"no sample has a value of {spec.y}" if series.windows[spec.y].is_null().all() else ""
    # There is a row for each change, so a value holds until the next row.
    return [
        Line(*xy(rows, spec.y, spec.scale), shape="steps", name=f"flow {flow}", colour=at, opacity=0.5, width=0.8)
        for at, ((flow,), rows) in enumerate(series.windows.group_by("flow_id", maintain_order=True))
    ], says
