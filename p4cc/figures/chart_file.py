"""A chart in a file: what a picture shows, in JSON, from which anyone draws it again."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from itertools import pairwise
from math import isnan, nan
from typing import TYPE_CHECKING, cast

from pydantic import TypeAdapter, ValidationError

from p4cc.errors import UserError
from p4cc.figures.chart import Bars, Chart, Line
from p4cc.files import read_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from p4cc.figures.chart import Mark, Panel
    from p4cc.json_data import JsonObject, JsonValue

SUFFIX = ".json"
"""Behind the name of the picture: `fig6.png.json`."""
FORMAT = "p4cc chart 1"
_DIGITS = 5
"""Of a number: more than a picture shows."""
_POINTS = 5_000
"""Roughly, of a panel: pictures have some 1,200 pixels."""
_LEAST_SPANS, _MOST_SPANS = 60, 250
"""Of a line, each with its first, least, largest and last value."""


def file_of(picture: Path) -> Path:
    """The chart's file beside its picture."""
    return picture.with_name(picture.name + SUFFIX)


def write_chart(chart: Chart, picture: Path) -> Chart:
    """Writes the chart of a picture; returns it as the file has it."""
    made: JsonObject = _adapter().dump_python(_small(chart), mode="json", exclude_defaults=True)
    held = {"format": FORMAT, "chart": _short(made)}
    file_of(picture).write_text(
        json.dumps(held, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n", encoding="utf-8"
    )
    return read_chart(file_of(picture))


def read_chart(path: Path) -> Chart:
    """The chart in a file; raises UserError."""
    try:
        held: JsonObject = json.loads(read_text(path, "chart"))
        return _adapter().validate_python({FORMAT: held["chart"]}[str(held["format"])])
    except (ValueError, TypeError, KeyError, RecursionError, ValidationError) as error:
        remedy = "write it again: p4cc reproduce STUDY --report-to FOLDER"
        raise UserError("this is not a chart of p4cc", place=str(path), remedy=remedy) from error


@cache
def _adapter() -> TypeAdapter[Chart]:
    return TypeAdapter(Chart)


def _small(chart: Chart) -> Chart:
    """What a picture shows and no more: no single runs, and long lines with the extremes of each span."""
    return replace(chart, panels=[_small_panel(panel) for panel in chart.panels])


def _small_panel(panel: Panel) -> Panel:
    lines = sum(isinstance(mark, Line) for mark in panel.marks)
    spans = min(_MOST_SPANS, max(_LEAST_SPANS, _POINTS // (4 * max(lines, 1))))
    return replace(panel, marks=[_small_mark(mark, panel.x.high, spans) for mark in panel.marks])


def _small_mark(mark: Mark, high: float | None, spans: int) -> Mark:
    """`high` is the end of the x axis."""
    if isinstance(mark, Bars):
        return replace(mark, samples=None)
    if not isinstance(mark, Line):
        return mark
    mark = replace(mark, samples=None, parts=())
    if len(mark.x) <= 4 * spans or isinstance(mark.x[0], str) or any((mark.band, mark.x_range, mark.y_range, mark.few)):
        return mark
    x = cast("Sequence[float]", mark.x)
    y = [nan if one is None else one for one in mark.y]
    # The line leaves the picture at the first value beyond it.
    shown = next((at + 1 for at, one in enumerate(x) if high is not None and one > high), len(x))
    end = x[shown - 1] if high is None else min(high, x[shown - 1])
    kept = list(_extremes(x[:shown], y[:shown], (end - x[0]) / spans))
    return replace(mark, x=[x[at] for at in kept], y=[mark.y[at] for at in kept])


def _extremes(x: Sequence[float], y: Sequence[float], width: float) -> Iterator[int]:
    """Indices of the first, least, largest and last value in each span of x that is so wide."""
    of = [int((one - x[0]) / width) if width > 0 else 0 for one in x]
    starts = [at for at in range(len(of)) if at == 0 or of[at] != of[at - 1]]
    for start, end in pairwise([*starts, len(of)]):
        there = [at for at in range(start, end) if not isnan(y[at])]
        ends = [min(there, key=y.__getitem__), max(there, key=y.__getitem__)] if there else []
        yield from sorted({start, *ends, end - 1})


def _short(value: JsonValue) -> JsonValue:
    """Numbers without the digits that no picture shows."""
    if isinstance(value, dict):
        return {key: _short(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_short(one) for one in value]
    if isinstance(value, float):
        if isnan(value):
            return None
        short = float(f"{value:.{_DIGITS}g}")
        return int(short) if short.is_integer() and abs(short) < 1e15 else short
    return value


def charts_below(folder: Path) -> Iterable[Path]:
    """Files of charts in the folders of a folder."""
    return sorted(path for path in folder.glob(f"*/*{SUFFIX}") if path.stem.endswith((".png", ".svg", ".pdf")))
