"""Charts for pages: Plotly's input, without the colours and fonts of the page's theme.

Texts are escaped, because Plotly interprets some HTML in them. `meta` of a trace identifies its values, so that the
page can switch them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from p4cc.figures.chart import Bars, Chart, Grid, Level, Line, Word
from p4cc.report.document import Figure, View
from p4cc.report.reduce import envelope, numbers, short

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from p4cc.figures.chart import Axis, Panel, Place, Samples

Plain: TypeAlias = dict[str, Any]
_DASHES = ("solid", "dash", "dot", "dashdot", "longdashdot")
_HATCHES = ("", "/", ".", "x")
_MARKERS = (
    "circle",
    "square",
    "triangle-up",
    "diamond",
    "triangle-down",
    "cross",
    "x",
    "triangle-left",
    "star",
    "hexagon",
)
"""Same as in files."""
_IN_NS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
MAX_SPANS = 200
"""Number of time bins of a line, each with up to four samples."""
_NAME_LETTERS = 10
_PANEL_PX, _ROW_PX = 320, 18
"""Height of a panel, and of a named row in it."""
_SAMPLES = 480_000
"""Limit of samples in one figure, over all its lines."""


def figure(chart: Chart) -> Plain:
    """`data` and `layout` for Plotly (with the height of one row of panels), and `notes`."""
    # Names between panels need more space than a page has.
    named = any(len(name) > _NAME_LETTERS for panel in chart.panels for _, name in panel.y.ticks or ())
    shared = 1 if named else chart.columns or len(chart.panels)
    rows = max((len(panel.y.ticks or ()) for panel in chart.panels), default=0)
    layout: Plain = {
        "height": max(_PANEL_PX, _ROW_PX * rows + 110),
        "grid": {"rows": -(-len(chart.panels) // max(shared, 1)), "columns": shared, "pattern": "independent"},
        "barmode": "overlay",
        "annotations": [],
        "shapes": [],
    }
    if chart.scale is not None:
        layout["coloraxis"] = {
            "cmin": short(chart.scale.low),
            "cmax": short(chart.scale.high),
            "colorscale": "Viridis",
            "colorbar": _bar_of(chart.scale.label),
        }
    data: list[Plain] = []
    notes = list(dict.fromkeys(chart.notes))
    lines = sum(isinstance(mark, Line) for panel in chart.panels for mark in panel.marks)
    grids = [mark for panel in chart.panels for mark in panel.marks if isinstance(mark, Grid)]
    if len(grids) > 1 and chart.scale is None:
        notes.append(f"colours, of each map its own: {grids[0].label}")
    for number, panel in enumerate(chart.panels):
        at = "" if number == 0 else str(number + 1)
        drawing = Drawing(chart, panel, at, spans_for(lines), len(grids) == 1)
        data += drawing.traces()
        layout |= {
            f"xaxis{at}": _axis(panel.x, panel.left_out("x"), f"y{at}", is_free=panel.x.label != "time"),
            f"yaxis{at}": _axis(panel.y, panel.left_out("y"), f"x{at}", is_free=True),
        }
        if any(isinstance(mark, Grid) for mark in panel.marks):
            layout[f"yaxis{at}"]["autorange"] = "reversed"
        if number and chart.same_x:
            layout[f"xaxis{at}"]["matches"] = "x"
        layout["annotations"] += _words(panel, at)
        layout["shapes"] += [_level(mark, at) for mark in panel.marks if isinstance(mark, Level)]
        notes += _said(panel)
    for key in chart.keys:
        label = {"name": _safe(key.label), "legendgroup": key.label, "showlegend": True}
        data.append({**Drawing(chart, chart.panels[0], "", 1, False).line(key), **label, "x": [None], "y": [None]})
    return {"data": data, "layout": layout, "notes": notes}


def block(title: str, caption: str, panels: list[Panel], notes: Sequence[str] = (), **pick: Any) -> Figure:
    """A figure of the report; `pick` and `picked` as in `Figure`."""
    found = figure(Chart(title, panels, (0, 0)))
    return Figure(title, caption, [View(None, None, found["data"], found["layout"])], [*notes, *found["notes"]], **pick)


def spans_for(lines: int) -> int:
    """Number of time bins of each line, for so many lines."""
    return max(20, min(MAX_SPANS, _SAMPLES // (8 * max(lines, 1))))


def _axis(axis: Axis, left_out: int | None, anchor: str, *, is_free: bool) -> Plain:
    """An axis; one with a type can be switched between logarithmic and linear."""
    log = axis.log and left_out is not None
    result: Plain = {"title": {"text": _safe(axis.text)}, "anchor": anchor}
    if axis.ticks is not None:
        names = [_safe(name.replace("\n", " ")) for _, name in axis.ticks]
        result |= {"tickvals": [place for place, _ in axis.ticks], "ticktext": names}
    if is_free and (axis.log or axis.ticks is None):
        result["type"] = "log" if log else "-"
    if axis.low is not None and axis.high is not None:
        result["range"] = [axis.low, axis.high]
    elif axis.low == 0 and not log:
        result["rangemode"] = "tozero"
    if axis.reversed:
        result["autorange"] = "reversed"
    return result


def _bar_of(label: str) -> Plain:
    return {"title": {"text": _safe(label), "side": "right"}, "thickness": 12, "outlinewidth": 0}


def _words(panel: Panel, at: str) -> Iterator[Plain]:
    common: Plain = {"xref": f"x{at} domain", "yref": f"y{at} domain", "showarrow": False}
    if panel.title:
        title = f"<b>{_safe(panel.title)}</b>"
        yield {**common, "text": title, "x": 0.5, "y": 1, "yanchor": "bottom", "yshift": 4}
    if panel.says:
        yield {**common, "text": _safe(panel.says), "x": 0.5, "y": 0.5}


def _said(panel: Panel) -> Iterator[str]:
    """Omissions of a panel, and marks without a position in it."""
    name = f"{panel.title}: " if panel.title else ""
    if panel.corner:
        yield f"{name}{panel.corner}"
    for of, axis in (("x", panel.x), ("y", panel.y)):
        left_out = panel.left_out("x" if of == "x" else "y")
        if axis.log and left_out:
            yield f"{name}values of 0, not on the logarithmic axis: {left_out}"
    for mark in panel.marks:
        if isinstance(mark, Word) and mark.y is None:
            yield f"{name}{mark.name or mark.variant} at {mark.x}: {mark.text}"


def _level(level: Level, at: str) -> Plain:
    along, across = ("y", "x") if level.upright else ("x", "y")
    return {
        "type": "line",
        f"{along}ref": f"{along}{at} domain",
        f"{across}ref": f"{across}{at}",
        f"{along}0": 0,
        f"{along}1": 1,
        f"{across}0": short(level.at),
        f"{across}1": short(level.at),
        "line": {"dash": "dash", "width": 1},
        "label": {"text": _safe(level.label or level.name), "textposition": "end", "font": {"size": 10}},
    }


class Drawing:
    """The traces of one panel."""

    def __init__(self, chart: Chart, panel: Panel, at: str, spans: int, with_scale: bool) -> None:
        """`at` is the suffix of its axes; `spans` limits the samples of a line."""
        self._chart, self._panel, self._at, self._spans, self._with_scale = chart, panel, at, spans, with_scale
        self._x, self._y = (_safe(axis.text) for axis in (panel.x, panel.y))

    def traces(self) -> Iterator[Plain]:
        """Traces of all its marks; an empty panel still gets axes."""
        some = False
        for mark in self._panel.marks:
            for trace in self._of(mark):
                some = True
                yield {**trace, "xaxis": f"x{self._at}", "yaxis": f"y{self._at}"}
        if not some:
            yield {"type": "scatter", "x": [None], "y": [None], "showlegend": False, "hoverinfo": "skip",
                   "xaxis": f"x{self._at}", "yaxis": f"y{self._at}", "meta": {"role": "empty"}}  # fmt: skip

    def _of(self, mark: object) -> Iterator[Plain]:
        match mark:
            case Line():
                if mark.band is not None:
                    yield self._band(mark)
                yield self.line(mark)
            case Bars():
                yield self._bars(mark)
            case Grid():
                yield self._grid(mark)
            case Word() if mark.y is not None:
                yield {**self._common(mark, "", ""), "type": "scatter", "mode": "text", "x": [mark.x], "y": [mark.y],
                       "text": [_safe(mark.text)], "textposition": "top center", "hoverinfo": "skip"}  # fmt: skip
            case _:
                pass

    def _common(self, mark: Line | Bars | Word, label: str, name: str) -> Plain:
        variant = mark.variant or self._panel.variant
        shown = label or name or variant
        colour = mark.colour if mark.colour is not None or not mark.variant else "variant"
        meta: Plain = {"variant": variant, "colour": 0 if colour is None else colour, "name": name}
        if not isinstance(mark, Word):
            places = {"point": mark.point, "seed": mark.seed, "role": mark.role}
            meta |= {key: place for key, place in places.items() if place not in (None, "")}
        return {
            "name": _safe(shown),
            "legendgroup": shown,
            "showlegend": bool(label),
            "hovertemplate": f"<b>%{{fullData.name}}</b><br>{self._x or 'x'}: %{{x}}<br>{self._y or 'y'}: "
            "%{y:.8~g}<extra></extra>",
            "meta": meta,
        }

    def line(self, line: Line) -> Plain:
        """A line, its points, or both."""
        x, y = self._thinned(line)
        trace = self._common(line, line.label, line.name)
        trace |= {"type": "scatter", "x": x, "y": y, "mode": "lines", "opacity": line.opacity}
        dash = _DASHES[(line.dash or 0) % len(_DASHES)]
        trace["line"] = {"shape": "hv" if line.shape == "steps" else "linear", "dash": dash, "width": line.width + 0.4}
        if line.marker:
            place = self._chart.place(line)
            symbol = _MARKERS[place % len(_MARKERS)] if line.marker == "own" and isinstance(place, int) else "circle"
            few = set(line.few)
            symbols = [f"{symbol}-open" if at in few else symbol for at in range(len(x))] if few else symbol
            trace["marker"] = {"symbol": symbols, "size": line.size + 3}
            trace["mode"] = "markers" if line.dash is None else "lines+markers"
        for of, values, ends in (("error_x", line.x, line.x_range), ("error_y", line.y, line.y_range)):
            if ends is not None:
                trace[of] = _around(values, ends)
        if line.samples is not None:
            trace["meta"]["samples"] = _samples(line.samples)
            trace["text"] = list(_spreads(line.samples, line.band))
            trace["hovertemplate"] = trace["hovertemplate"].replace("<extra>", "%{text}<extra>")
        if line.parts:
            trace["meta"]["parts"] = [
                {"seed": one.seed, "rows": one.rows, "x": numbers(one.x), "y": numbers(one.y)} for one in line.parts
            ]
        return trace

    def _band(self, line: Line) -> Plain:
        low, high = line.band or ((), ())
        kept = [at for at, (one, other) in enumerate(zip(low, high, strict=True)) if None not in (one, other)]
        there = [*kept, *reversed(kept)]
        trace = self._common(line, line.label, line.name)
        trace["meta"] |= {"role": "band"} | ({} if line.samples is None else {"samples": _samples(line.samples)})
        trace["meta"]["along"] = [_place(one) for one in line.x]
        return {
            **trace,
            "type": "scatter",
            "mode": "lines",
            "x": [_place(line.x[at]) for at in there],
            "y": numbers([*(high[at] for at in kept), *(low[at] for at in reversed(kept))]),
            "fill": "toself",
            "line": {"width": 0},
            "hoverinfo": "skip",
            "showlegend": False,
        }

    def _bars(self, bars: Bars) -> Plain:
        trace = self._common(bars, bars.label, "")
        values, places = numbers(bars.values), numbers(bars.at)
        trace |= {"type": "bar", "orientation": "h" if bars.lying else "v", "width": bars.width}
        trace |= {"x": values, "y": places} if bars.lying else {"x": places, "y": values}
        if bars.base is not None:
            trace["base"] = numbers(bars.base)
        ticks = dict((self._panel.y if self._panel.y.ticks else self._panel.x).ticks or ())
        names = bars.names or [ticks.get(at, "") for at in bars.at]
        trace["customdata"] = [_safe(name) for name in names]
        of, value = (self._x, "x") if bars.lying else (self._y, "y")
        begun = "<br>from: %{base:.8~g}" if bars.base is not None and bars.steps is not None else ""
        label = "<b>%{fullData.name}</b><br>" if bars.label and bars.label not in names else ""
        trace["hovertemplate"] = f"{label}%{{customdata}}{begun}<br>{of or 'y'}: %{{{value}:.8~g}}<extra></extra>"
        hatches = ["/" if few else "" for few in bars.few] if bars.few and any(bars.few) else _HATCHES[bars.pattern % 4]
        trace["marker"] = {"pattern": {"shape": hatches, "solidity": 0.4}, "line": {"width": 0}}
        if bars.steps is not None:
            trace["marker"] |= {"color": list(bars.steps), "coloraxis": "coloraxis"}
            trace["opacity"] = 0.75
        if bars.texts:
            trace["text"] = list(bars.texts)
            trace["textposition"] = "inside" if bars.text_at == "inside" else "outside"
        if bars.range is not None:
            trace["error_y"] = _around(bars.values, bars.range)
        if bars.samples is not None:
            trace["meta"]["samples"] = _samples(bars.samples)
            trace["hovertext"] = list(_spreads(bars.samples, bars.range))
            trace["hovertemplate"] = trace["hovertemplate"].replace("<extra>", "%{hovertext}<extra>")
        return trace

    def _grid(self, grid: Grid) -> Plain:
        rows, columns = len(grid.values), len(grid.values[0]) if grid.values else 0
        x, y = (dict(axis.ticks or ()) for axis in (self._panel.x, self._panel.y))
        along: list[float] = list(range(columns))
        if grid.span is not None:
            low, high = grid.span
            along = [low + (high - low) * (place + 0.5) / columns for place in range(columns)]
        names = [
            [f"{y.get(row, row)}" + (f", {x[column]}" if column in x else "") for column in range(columns)]
            for row in range(rows)
        ]
        trace: Plain = {
            "type": "heatmap",
            "x": numbers(along),
            "y": list(range(rows)),
            "z": [numbers(line) for line in grid.values],
            "hovertext": [[_safe(name.replace("\n", " ")) for name in line] for line in names],
            "hoverongaps": False,
            "hovertemplate": f"<b>%{{hovertext}}</b>{'' if x else f'<br>{self._x}: %{{x}}'}<br>"
            f"{_safe(grid.label)}: %{{z:.8~g}}<extra></extra>",
            "name": _safe(self._panel.title),
            "meta": {"variant": self._panel.variant},
        }
        if grid.texts is not None:
            trace |= {
                "text": [[one.replace("\n", "<br>") for one in line] for line in grid.texts],
                "texttemplate": "%{text}",
                "xgap": 2,
                "ygap": 2,
            }
        if self._chart.scale is not None:
            return trace | {"coloraxis": "coloraxis"}
        ends = {key: end for key, end in (("zmin", grid.low), ("zmax", grid.high)) if end is not None}
        return trace | ends | {"colorscale": "Viridis", "showscale": self._with_scale, "colorbar": _bar_of(grid.label)}

    def _thinned(self, line: Line) -> tuple[list[Any], list[Any]]:
        """Values of a line; if there are many, the extremes of each time bin."""
        unit, y = self._panel.x.unit, np.asarray(line.y, dtype=float)
        if len(line.x) <= 4 * self._spans:
            return [_place(one) for one in line.x], numbers(y.tolist())
        x = np.asarray(line.x, dtype=float)
        places = envelope(np.round(x * _IN_NS[unit]), y, self._spans) if unit in _IN_NS else np.arange(len(x))
        return numbers(x[places].tolist()), numbers(y[places].tolist())


def _safe(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _place(value: Place) -> Place | None:
    return _safe(value) if isinstance(value, str) else short(value)


def _samples(samples: Samples) -> list[list[list[Any]]]:
    return [[[seed, short(value)] for seed, value in runs] for runs in samples]


def _around(values: Sequence[Any], ends: tuple[Sequence[Any], Sequence[Any]]) -> Plain:
    low, high = ends
    return {
        "type": "data",
        "symmetric": False,
        "thickness": 1.2,
        "width": 3,
        "array": numbers([end - value for value, end in zip(values, high, strict=True)]),
        "arrayminus": numbers([value - end for value, end in zip(values, low, strict=True)]),
    }


def _spreads(samples: Samples, ends: tuple[Sequence[Any], Sequence[Any]] | None) -> Iterator[str]:
    """Hover text: the range of the runs behind a median, and their number."""
    for runs, low, high in zip(samples, *(ends or ()), strict=True):
        count = sum(value is not None for _, value in runs)
        yield f"<br>5 to 95 %: {low:.5g} to {high:.5g}<br>runs: {count}" if count else ""
