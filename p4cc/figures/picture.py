"""Charts into files, by matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator

from p4cc.figures.chart import Bars, Grid, Level, Line, Word
from p4cc.figures.style import (
    COLOURS,
    DASHES,
    HATCHES,
    MARKERS,
    corner,
    legend,
    legends,
    log_scale,
    note,
    save,
    say,
    use_style,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy.typing as npt
    from matplotlib.axes import Axes

    from p4cc.figures.chart import Axis, Chart, Mark, Panel

    Values = npt.NDArray[np.float64]

_GREY = "0.7"
_COLOURS = "viridis"


def write(chart: Chart, path: Path) -> Path:
    """Draws a chart into a file; returns it."""
    return save(drawn(chart), path)


def drawn(chart: Chart) -> Figure:
    """A chart as a matplotlib figure."""
    use_style()
    page = Figure(figsize=chart.size, layout="constrained")
    places = len(chart.panels) + (chart.legend == "last")
    columns = chart.columns or places
    rows = -(-places // columns)
    drawn: list[Axes] = []
    for position, panel in enumerate(chart.panels):
        first = drawn[0] if drawn and chart.same_x else None
        drawn.append(page.add_subplot(rows, columns, position + 1, sharex=first))
        _panel(page, drawn[-1], panel, chart)
    if chart.scale is not None and drawn:
        colours = ScalarMappable(Normalize(chart.scale.low, chart.scale.high), mpl.colormaps[_COLOURS])
        page.colorbar(colours, ax=drawn, label=chart.scale.label)
    for text in dict.fromkeys(chart.notes):
        note(page, text)
    _legend(page, chart, (rows, columns, places))
    page.suptitle(chart.title)
    return page


def _legend(page: Figure, chart: Chart, last: tuple[int, int, int]) -> None:
    keys = [Line2D([], [], ms=one.size, **_look(one, chart), label=one.label) for one in chart.keys]
    match chart.legend:
        case "each":
            legends(page)
        case "beside" | "small":
            more = {"handles": keys} if keys else {}
            page.legend(loc="outside right center", fontsize="small" if chart.legend == "small" else None, **more)
        case "last":
            beside = page.add_subplot(*last)
            beside.set_axis_off()
            beside.legend(handles=keys, loc="center", fontsize="small")
        case "":
            pass


def _panel(page: Figure, axes: Axes, panel: Panel, chart: Chart) -> None:
    if not panel.ruled:
        axes.grid(visible=False)
    for mark in panel.marks:
        _mark(page, axes, mark, chart)
    if panel.bare:
        axes.set_axis_off()
    if panel.says:
        say(axes, panel.says)
    if panel.margin is not None:
        axes.margins(panel.margin)
    _axis(axes, panel.x, panel.left_out("x"), is_x=True)
    _axis(axes, panel.y, panel.left_out("y"), is_x=False)
    axes.set_title(panel.title)
    if panel.corner:
        corner(axes, panel.corner)
    if panel.legend:
        legend(axes)


def _axis(axes: Axes, axis: Axis, left_out: int | None, *, is_x: bool) -> None:
    if axis.log:
        log_scale(axes, x=is_x, left_out=left_out)
    elif axis.low is not None or axis.high is not None:
        (axes.set_xlim if is_x else axes.set_ylim)(axis.low, axis.high)
    if axis.ticks is not None:
        look: dict[str, Any] = {"rotation": 45, "ha": "right"} if axis.slanted else {}
        look |= {} if axis.tick_size is None else {"fontsize": axis.tick_size}
        places, names = [place for place, _ in axis.ticks], [name for _, name in axis.ticks]
        (axes.set_xticks if is_x else axes.set_yticks)(places, names, **look)
        if axis.log:
            (axes.xaxis if is_x else axes.yaxis).set_minor_locator(NullLocator())
    if axis.reversed:
        (axes.invert_xaxis if is_x else axes.invert_yaxis)()
    (axes.set_xlabel if is_x else axes.set_ylabel)(axis.text)


def _mark(page: Figure, axes: Axes, mark: Mark, chart: Chart) -> None:
    match mark:
        case Line():
            _line(axes, mark, chart)
        case Bars():
            _bars(axes, mark, chart)
        case Grid():
            _grid(page, axes, mark, chart)
        case Word():
            _word(axes, mark, chart)
        case Level():
            look: dict[str, Any] = {"color": _named(mark.colour), "lw": mark.width, "alpha": mark.opacity, "ls": "--"}
            (axes.axvline if mark.upright else axes.axhline)(mark.at, label=mark.label, **look)


def _named(colour: int | str | None) -> str:
    if isinstance(colour, int):
        return COLOURS[colour % len(COLOURS)]
    return _GREY if colour == "grey" else "black"


def _look(line: Line, chart: Chart) -> dict[str, Any]:
    """Colour, dash and marker."""
    place = chart.place(line)
    own = MARKERS[place % len(MARKERS)] if isinstance(place, int) else MARKERS[0]
    return {
        "color": _named(place),
        "linestyle": "" if line.dash is None else DASHES[line.dash % len(DASHES)],
        "marker": own if line.marker == "own" else line.marker,
    }


def _line(axes: Axes, line: Line, chart: Chart) -> None:
    look = _look(line, chart)
    colour, y = look["color"], np.asarray(line.y, dtype=float)
    look |= {"label": line.label, "lw": line.width, "alpha": line.opacity, "ms": line.size}
    # What connects points lies below them.
    look |= {"zorder": 0} if line.colour == "grey" and not line.marker else {}
    if line.x_range or line.y_range:
        x = np.asarray(line.x, dtype=float)
        axes.errorbar(x, y, xerr=_around(x, line.x_range), yerr=_around(y, line.y_range), capsize=2, **look)
    elif line.shape == "steps":
        axes.step(line.x, y, where="post", **look)
    else:
        axes.plot(line.x, y, **look)
    if line.few:
        few = [(line.x[at], line.y[at]) for at in line.few]
        axes.plot(*zip(*few, strict=True), ls="", marker=look["marker"], ms=5, mfc="white", mec=colour, zorder=3)
    if line.band:
        low, high = ([float("nan") if one is None else one for one in edge] for edge in line.band)
        axes.fill_between(line.x, low, high, color=colour, alpha=0.2, linewidth=0)


def _around(values: Values, ends: tuple[Sequence[float], Sequence[float]] | None) -> Values | None:
    """How far the ends of ranges lie below and above values."""
    if ends is None:
        return None
    return np.maximum(0.0, [values - np.asarray(ends[0]), np.asarray(ends[1]) - values])


def _bars(axes: Axes, bars: Bars, chart: Chart) -> None:
    colour = _named(chart.place(bars))
    look: dict[str, Any] = {"color": colour}
    if bars.steps is not None and chart.scale is not None:
        share = Normalize(chart.scale.low, chart.scale.high)(np.asarray(bars.steps))
        look = {"color": mpl.colormaps[_COLOURS](share), "alpha": 0.75}
    elif bars.few is not None:
        look |= {"hatch": ["////" if few else "" for few in bars.few], "edgecolor": "white"}
    elif bars.label:
        look |= {"hatch": HATCHES[bars.pattern % len(HATCHES)], "edgecolor": "white"}
    if bars.lying:
        axes.barh(bars.at, bars.values, bars.width, left=bars.base, label=bars.label, **look)
    else:
        axes.bar(
            bars.at,
            bars.values,
            bars.width,
            yerr=_around(np.asarray(bars.values, dtype=float), bars.range),
            capsize=2,
            **look,
        )
        axes.plot([], [], ls="", marker="s", ms=7, color=colour, label=bars.label)
    base = bars.base or [0.0] * len(bars.at)
    for at, start, length, text in zip(bars.at, base, bars.values, bars.texts, strict=False):
        if bars.text_at == "above":
            axes.annotate(text, (at, start + length), ha="center", va="bottom", fontsize=7)
        elif bars.text_at == "inside":
            axes.text(start + length / 2, at, text, ha="center", va="center", color="white", fontsize=8)
        else:
            axes.text(start + length, at, f" {text}", va="center", fontsize=6)


def _grid(page: Figure, axes: Axes, grid: Grid, chart: Chart) -> None:
    values = np.array([[np.nan if one is None else one for one in line] for line in grid.values], dtype=float)
    low, high = (grid.low, grid.high) if chart.scale is None else (chart.scale.low, chart.scale.high)
    look: dict[str, Any] = {"cmap": _COLOURS, "vmin": low, "vmax": high, "aspect": "equal" if grid.square else "auto"}
    if grid.span is not None:
        look |= {"extent": (*grid.span, len(values) - 0.5, -0.5), "interpolation": "none"}
    image = axes.imshow(values, **look)
    if chart.scale is None:
        page.colorbar(image, ax=axes, label=grid.label, shrink=0.8)
    if grid.texts is None or np.isnan(values).all():
        return
    middle = (np.nanmin(values) + np.nanmax(values)) / 2 if low is None or high is None else (low + high) / 2
    for row, column in np.argwhere(~np.isnan(values)).tolist():
        colour = "white" if values[row, column] < middle else "black"
        text = grid.texts[row][column]
        axes.text(column, row, text, ha="center", va="center", fontsize=grid.text_size, color=colour)


def _word(axes: Axes, word: Word, chart: Chart) -> None:
    look: dict[str, Any] = {"fontsize": 7, "color": _named(chart.place(word))}
    if word.y is None:
        at, look = (word.x, 0.02 + 0.07 * word.row), look | {"xycoords": axes.get_xaxis_transform(), "ha": "center"}
    else:
        at, look = (word.x, word.y), look | {"textcoords": "offset points"}
        look |= {"xytext": (5, 5)} if word.beside else {"xytext": (0, 5), "ha": "center"}
    axes.annotate(word.text, at, **look)
