"""A source's numbers in our pictures: points with their bands, and levels across a panel."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from p4cc.figures.chart import Bars, Level, Line
from p4cc.scenario.claims import LimitMeasure, ValueMeasure
from p4cc.scenario.figures import BarFigure, SweepFigure
from p4cc.scenario.where import Equal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from p4cc.figures.chart import Chart, Colour, Mark, Panel, Place
    from p4cc.scenario.claims import Claim, Measure, Reproduction
    from p4cc.scenario.figures import Figure
    from p4cc.scenario.figures import Panel as PanelSpec
    from p4cc.scenario.where import Where

_POINTS = "x: the source's number, with its band"
_LEVELS = "dashed across the panel: the source's number"


def with_source(chart: Chart, figure: Figure, reproduction: Reproduction | None) -> Chart:
    """The chart with the numbers of the source that have a place in it, in the colours of their variants."""
    if reproduction is None or not isinstance(figure, SweepFigure | BarFigure) or not chart.variants:
        return chart
    panels: list[Panel] = []
    notes: list[str] = []
    for panel, spec in zip(chart.panels, figure.panels, strict=True):
        marks = [mark for claim in reproduction.claims for mark in _marks(claim, figure, spec, panel, chart)]
        notes += [_LEVELS if isinstance(mark, Level) else _POINTS for mark in marks]
        panels.append(replace(panel, marks=[*panel.marks, *marks]))
    return replace(chart, panels=panels, notes=list(dict.fromkeys([*chart.notes, *notes])))


def _marks(
    claim: Claim, figure: SweepFigure | BarFigure, spec: PanelSpec, panel: Panel, chart: Chart
) -> Iterator[Mark]:
    """A number's mark in a panel, if it has one there."""
    how = claim.measure
    variant = getattr(how, "variant", "")
    # A report of several folders has other names of variants.
    if claim.not_comparable or variant not in chart.variants or not _is_drawn(how, spec.y, figure):
        return
    colour = list(chart.variants).index(variant)
    if isinstance(how, LimitMeasure) and isinstance(figure, SweepFigure):
        yield Level(claim.paper, name=f"{variant}, the source", upright=True, colour=colour)
        return
    shown = _shown(claim, spec.scale)
    exact = _exact(how.where, figure.x) if isinstance(how, ValueMeasure) else None
    if isinstance(figure, BarFigure):
        name = variant if figure.x is None else f"{variant}, {figure.x} {exact}"
        yield from (_point(claim, at, shown, "black") for at in _bars(panel, name))
    elif exact is not None:
        yield _point(claim, exact, shown, colour)
    else:
        yield Level(shown[0], name=f"{variant}, the source", colour=colour)


def _shown(claim: Claim, scale: float) -> tuple[float, float, float]:
    """The number and its band in the unit of a panel."""
    how = claim.measure
    per, offset = (how.scale, how.offset) if isinstance(how, ValueMeasure) else (1.0, 0.0)
    value, *ends = ((one - offset) / per * scale for one in (claim.paper, *claim.range))
    return value, min(ends), max(ends)


def _is_drawn(how: Measure, column: str, figure: SweepFigure | BarFigure) -> bool:
    """Whether a panel of this column draws what the measure gives, over the same runs."""
    if isinstance(how, LimitMeasure):
        if isinstance(figure, BarFigure):
            is_limit = figure.x is None and how.over == figure.limit_over and how.at_least is None
        else:
            is_limit = how.over == figure.x
        return is_limit and how.column == column and not how.where
    if not isinstance(how, ValueMeasure) or how.column != column or how.seeds != "median":
        return False
    if isinstance(figure, BarFigure):
        return figure.limit_over is None and set(how.where) == ({figure.x} if figure.x is not None else set())
    return not how.where or (how.where.keys() == {figure.x} and _exact(how.where, figure.x) is not None)


def _exact(where: Where, column: str | None) -> str | int | float | None:
    """The value that rows must have in a column, if it is one."""
    chosen = where.get(column or "")
    return chosen.value if isinstance(chosen, Equal) else None


def _bars(panel: Panel, name: str) -> Iterator[float]:
    """Where the bar of this name is."""
    for mark in panel.marks:
        if isinstance(mark, Bars):
            yield from (at for at, of_bar in zip(mark.at, mark.names, strict=True) if of_bar == name)


def _point(claim: Claim, x: Place, shown: tuple[float, float, float], colour: Colour) -> Line:
    value, low, high = shown
    name = f"{claim.text}, the source"
    return Line([x], [value], name=name, colour=colour, dash=None, marker="x", size=7, y_range=([low], [high]))
