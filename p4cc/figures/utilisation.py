"""The utilisation model of the GST paper over the window, and what runs with held windows reach.

Source: docs/algorithms/slow-start.md#gst-model.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl
from matplotlib.figure import Figure

from controller.model import utilisation, utilisation_printed
from p4cc.figures.counts import spread
from p4cc.figures.style import COLOURS, need_columns, save, use_style
from p4cc.planning.bottleneck import bottleneck

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

    from controller.model import Bottleneck
    from p4cc.scenario.figures import UtilisationFigure
    from p4cc.scenario.schema import ScenarioModel

_POINTS = 400


def draw(runs: pl.DataFrame, figure: UtilisationFigure, folder: Path, scenario: ScenarioModel) -> Path:
    """Draws the curves and the medians of the runs with their 5-95 % range; returns the file written."""
    along = () if figure.by is None else (figure.by,)
    need_columns(figure.file, runs, figure.x, *along, "goodput_bps")
    at = bottleneck(scenario)
    use_style()
    page = Figure(figsize=(6.8, 3.4), layout="constrained")
    axes = page.add_subplot(1, 1, 1)
    numbers = [at.senders] if figure.by is None else runs[figure.by].unique().sort().to_list()
    for number, senders in enumerate(numbers):
        rows = runs if figure.by is None else runs.filter(pl.col(figure.by) == senders)
        colour = COLOURS[number % len(COLOURS)]
        _draw_senders(axes, rows, figure.x, replace(at, senders=int(senders)), colour, many=len(numbers) > 1)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("window w (packets)")
    axes.set_ylabel("share of what can be used")
    page.legend(loc="outside right center")
    page.suptitle(figure.title)
    return save(page, folder / figure.file)


def _draw_senders(axes: Axes, runs: pl.DataFrame, x: str, at: Bottleneck, colour: str, *, many: bool) -> None:
    """The model's two curves and the runs for one number of senders."""
    points = spread(runs, x, "goodput_bps", 1.0 / at.rate_bps)
    last = max(float(one) for one in points[x].to_list())
    windows = [last * (step + 1) / _POINTS for step in range(_POINTS)]
    name = f", n = {at.senders}" if many else ""
    axes.plot(windows, [utilisation(at, one) for one in windows], color=colour, label=f"model, corrected{name}")
    printed = [utilisation_printed(at, one) for one in windows]
    axes.plot(windows, printed, color=colour, ls=":", label=None if many else "model, as printed")
    axes.axvline(at.corner_window_pkts, color=colour, lw=0.8, ls="--", label=None if many else "(B + BDP)/n")
    middle = points["median"].to_list()
    below = [max(0.0, one - low) for one, low in zip(middle, points["low"].to_list(), strict=True)]
    above = [max(0.0, high - one) for one, high in zip(middle, points["high"].to_list(), strict=True)]
    label = f"runs{name}"
    axes.errorbar(points[x].to_list(), middle, yerr=[below, above], fmt="o", ms=4, capsize=2, color=colour, label=label)
