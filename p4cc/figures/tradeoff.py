"""The trade-off between two metrics: every setting with its range over the seeds, the Pareto front drawn."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from p4cc.analysis import human
from p4cc.analysis.tradeoff import ON_FRONT, SEEDS
from p4cc.analysis.tradeoff_table import value_of
from p4cc.figures.chart import Axis, Chart, Line, Panel, Word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from p4cc.analysis.tradeoff_table import Group
    from p4cc.figures.chart import Mark
    from p4cc.json_data import JsonObject

_MAX_LABELS = 8
"""Settings on a front that are named; more would cover each other."""
_MAX_COLUMNS = 3


def chart(groups: Sequence[Group], objectives: tuple[str, str]) -> Chart:
    """A panel for each variant and point of the sweep."""
    columns = min(len(groups), _MAX_COLUMNS)
    scales = [human.scale(name, _largest(groups, name)) for name in objectives]
    x, y = (Axis(human.heading(name, unit)) for name, (_, unit) in zip(objectives, scales, strict=True))
    panels: list[Panel] = []
    for group in groups:
        whole = [row for row in group.rows if all(row[f"{name}_seeds"] == row[SEEDS] for name in objectives)]
        marks = _marks(group, whole, objectives, (scales[0][0], scales[1][0]))
        left = len(group.rows) - len(whole) if whole else 0
        says = "" if whole else "no setting has a value of both in every seed"
        corner = f"{left} of {len(group.rows)} without a value" if left else ""
        panels.append(Panel(x, y, marks, group.title, says, corner, legend=not panels, margin=0.15 if whole else None))
    title = "settings: medians over the seeds, bars from the smallest to the largest value"
    return Chart(title, panels, (4.8 * columns, 3.8 * -(-len(groups) // columns)), columns)


def _marks(
    group: Group, whole: Sequence[JsonObject], objectives: tuple[str, str], factors: tuple[float, float]
) -> list[Mark]:
    front = sorted((row for row in whole if row[ON_FRONT]), key=lambda row: value_of(row, objectives[0]))
    others = [row for row in whole if not row[ON_FRONT]]
    marks: list[Mark] = []
    if others:
        marks.append(_settings(others, objectives, factors, Line([], [], "other settings", colour="grey", dash=None)))
    if front:
        marks.append(_settings(front, objectives, factors, Line([], [], "Pareto front", colour=1)))
    if len(front) <= _MAX_LABELS:
        named: dict[tuple[float, float], list[str]] = {}
        for row in front:
            at = (value_of(row, objectives[0]) / factors[0], value_of(row, objectives[1]) / factors[1])
            named.setdefault(at, []).append(group.label(row))
        marks += [Word(*at, "\n".join(labels), colour="black", beside=True) for at, labels in named.items()]
    return marks


def _settings(
    rows: Sequence[JsonObject], objectives: tuple[str, str], factors: tuple[float, float], look: Line
) -> Line:
    """Medians with bars to the least and the largest value."""
    of_x, of_y = (
        [[value_of(row, f"{name}{end}") / factor for row in rows] for end in ("", "_low", "_high")]
        for name, factor in zip(objectives, factors, strict=True)
    )
    x, y = of_x[0], of_y[0]
    ranges = {"x_range": (of_x[1], of_x[2]), "y_range": (of_y[1], of_y[2])}
    return replace(look, x=x, y=y, marker="o", width=1.0, **ranges)


def _largest(groups: Sequence[Group], name: str) -> float:
    values = [abs(value_of(row, f"{name}_high")) for group in groups for row in group.rows if row[name] is not None]
    return max(values, default=0.0)
