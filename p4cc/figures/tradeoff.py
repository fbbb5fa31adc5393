"""The trade-off between two metrics: every setting with its range over the seeds, the Pareto front drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from p4cc.analysis import human
from p4cc.analysis.tradeoff import ON_FRONT, SEEDS
from p4cc.analysis.tradeoff_table import value_of
from p4cc.figures.style import COLOURS, legend, save, say, use_style

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

    from p4cc.analysis.tradeoff_table import Group
    from p4cc.json_data import JsonObject

_MAX_LABELS = 8
"""Settings on a front that are named; more would cover each other."""
_MAX_COLUMNS = 3


def draw(groups: Sequence[Group], objectives: tuple[str, str], path: Path) -> Path:
    """Draws a panel for each variant and point of the sweep; returns the file written."""
    use_style()
    columns = min(len(groups), _MAX_COLUMNS)
    lines = -(-len(groups) // columns)
    page = Figure(figsize=(4.8 * columns, 3.8 * lines), layout="constrained")
    scales = [human.scale(name, _largest(groups, name)) for name in objectives]
    for place, group in enumerate(groups):
        axes = page.add_subplot(lines, columns, place + 1)
        _panel(axes, group, objectives, (scales[0][0], scales[1][0]))
        axes.set_title(group.title)
        axes.set_xlabel(human.heading(objectives[0], scales[0][1]))
        axes.set_ylabel(human.heading(objectives[1], scales[1][1]))
        if place == 0:
            legend(axes)
    page.suptitle("settings: medians over the seeds, bars from the smallest to the largest value")
    return save(page, path)


def _panel(axes: Axes, group: Group, objectives: tuple[str, str], factors: tuple[float, float]) -> None:
    whole = [row for row in group.rows if all(row[f"{name}_seeds"] == row[SEEDS] for name in objectives)]
    if not whole:
        say(axes, "no setting has a value of both in every seed")
        return
    front = sorted((row for row in whole if row[ON_FRONT]), key=lambda row: value_of(row, objectives[0]))
    others = [row for row in whole if not row[ON_FRONT]]
    for rows, colour, line, label in ((others, "0.6", "", "other settings"), (front, COLOURS[1], "-", "Pareto front")):
        if not rows:
            continue
        (x, across), (y, up) = (_bars(rows, *one) for one in zip(objectives, factors, strict=True))
        axes.errorbar(x, y, xerr=across, yerr=up, fmt="o", ls=line, ms=4, lw=1.0, capsize=2, color=colour, label=label)
    if len(front) <= _MAX_LABELS:
        named: dict[tuple[float, float], list[str]] = {}
        for row in front:
            at = (value_of(row, objectives[0]) / factors[0], value_of(row, objectives[1]) / factors[1])
            named.setdefault(at, []).append(group.label(row))
        for at, labels in named.items():
            axes.annotate("\n".join(labels), at, xytext=(5, 5), textcoords="offset points", fontsize=7)
    if len(whole) < len(group.rows):
        left = len(group.rows) - len(whole)
        axes.text(0.02, 0.02, f"{left} of {len(group.rows)} without a value", transform=axes.transAxes, fontsize=7)
    axes.margins(0.15)


def _bars(rows: Sequence[JsonObject], name: str, factor: float) -> tuple[list[float], list[list[float]]]:
    middle = [value_of(row, name) / factor for row in rows]
    below = [(value_of(row, name) - value_of(row, f"{name}_low")) / factor for row in rows]
    above = [(value_of(row, f"{name}_high") - value_of(row, name)) / factor for row in rows]
    return middle, [below, above]


def _largest(groups: Sequence[Group], name: str) -> float:
    values = [abs(value_of(row, f"{name}_high")) for group in groups for row in group.rows if row[name] is not None]
    return max(values, default=0.0)
