"""The utilisation model of the GST paper over the window, and what runs with held windows reach.

Source: docs/algorithms/slow-start.md#gst-model.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from controller.model import utilisation, utilisation_printed
from p4cc.figures.chart import Axis, Chart, Level, Line, Panel
from p4cc.figures.counts import spread
from p4cc.figures.rows import need_columns
from p4cc.planning.bottleneck import bottleneck

if TYPE_CHECKING:
    from controller.model import Bottleneck
    from p4cc.figures.chart import Mark
    from p4cc.scenario.figures import UtilisationFigure
    from p4cc.scenario.schema import ScenarioModel

_POINTS = 400


def chart(runs: pl.DataFrame, figure: UtilisationFigure, scenario: ScenarioModel) -> Chart:
    """The curves and the medians of the runs with their 5-95 % range."""
    along = () if figure.by is None else (figure.by,)
    need_columns(figure.file, runs, figure.x, *along, "goodput_bps")
    at = bottleneck(scenario)
    numbers = [at.senders] if figure.by is None else runs[figure.by].unique().sort().to_list()
    marks: list[Mark] = []
    for colour, senders in enumerate(numbers):
        rows = runs if figure.by is None else runs.filter(pl.col(figure.by) == senders)
        marks += _of_senders(rows, figure.x, replace(at, senders=int(senders)), colour, many=len(numbers) > 1)
    panel = Panel(Axis("window w", "packets"), Axis("share of what can be used", low=0), marks)
    return Chart(figure.title, [panel], (6.8, 3.4), legend="beside")


def _of_senders(runs: pl.DataFrame, x: str, at: Bottleneck, colour: int, *, many: bool) -> list[Mark]:
    """The model's two curves and the runs for one number of senders."""
    points = spread(runs, x, "goodput_bps", 1.0 / at.rate_bps)
    last = max(float(one) for one in points[x].to_list())
    windows = [last * (step + 1) / _POINTS for step in range(_POINTS)]
    name = f", n = {at.senders}" if many else ""

    def extra(label: str) -> tuple[str, str]:
        """Label and name of what is in the legend only where there is one number of senders."""
        return "" if many else label, f"{label}{name}"

    return [
        Line(windows, [utilisation(at, one) for one in windows], f"model, corrected{name}", colour=colour),
        Line(
            windows,
            [utilisation_printed(at, one) for one in windows],
            *extra("model, as printed"),
            colour=colour,
            dash=2,
        ),
        Level(at.corner_window_pkts, *extra("(B + BDP)/n"), upright=True, colour=colour),
        Line(
            points[x].to_list(),
            points["median"].to_list(),
            f"runs{name}",
            colour=colour,
            dash=None,
            marker="o",
            y_range=(points["low"].to_list(), points["high"].to_list()),
        ),
    ]
