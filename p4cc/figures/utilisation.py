"""The utilisation model of the GST paper over the window, and what runs with held windows reach.

Source: docs/algorithms/slow-start.md#gst-model.
"""

# matplotlib's stubs leave **kwargs untyped.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from controller.model import utilisation, utilisation_printed
from p4cc.figures.counts import spread
from p4cc.figures.style import COLOURS, legend, need_columns, save, use_style
from p4cc.planning.bottleneck import bottleneck

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from p4cc.scenario.figures import UtilisationFigure
    from p4cc.scenario.schema import Scenario

_POINTS = 400


def draw(runs: pl.DataFrame, figure: UtilisationFigure, folder: Path, scenario: Scenario) -> Path:
    """Draws the curves and the medians of the runs with their 5-95 % range; returns the file written."""
    need_columns(figure.file, runs, figure.x, "goodput_bps")
    at = bottleneck(scenario)
    points = spread(runs, figure.x, "goodput_bps", 1.0 / at.rate_bps)
    last = max(float(one) for one in points[figure.x].to_list())
    windows = [last * (step + 1) / _POINTS for step in range(_POINTS)]
    use_style()
    page = Figure(figsize=(5.2, 3.4), layout="constrained")
    axes = page.add_subplot(1, 1, 1)
    axes.plot(windows, [utilisation(at, one) for one in windows], color=COLOURS[0], label="model, corrected")
    printed = [utilisation_printed(at, one) for one in windows]
    axes.plot(windows, printed, color=COLOURS[0], ls=":", label="model, as printed")
    axes.axvline(at.corner_window_pkts, color=COLOURS[6], lw=0.8, ls="--", label="(B + BDP)/n")
    middle = points["median"].to_list()
    below = [max(0.0, one - low) for one, low in zip(middle, points["low"].to_list(), strict=True)]
    above = [max(0.0, high - one) for one, high in zip(middle, points["high"].to_list(), strict=True)]
    axes.errorbar(
        points[figure.x].to_list(),
        middle,
        yerr=[below, above],
        fmt="o",
        ms=4,
        capsize=2,
        color=COLOURS[1],
        label="runs",
    )
    axes.set_ylim(bottom=0)
    axes.set_xlabel("window w (packets)")
    axes.set_ylabel("share of what can be used")
    legend(axes)
    page.suptitle(figure.title)
    return save(page, folder / figure.file)
