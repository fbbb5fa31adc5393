"""Charts in files: the same picture comes from them, and no more of them is kept than a picture shows."""

from __future__ import annotations

import json
from math import nan, pi, sin
from typing import TYPE_CHECKING

import pytest

from p4cc.errors import UserError
from p4cc.figures.chart import Axis, Bars, Chart, Grid, Level, Line, Panel, Word
from p4cc.figures.chart_file import file_of, read_chart, write_chart
from p4cc.figures.picture import write

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from p4cc.figures.chart import Mark


def chart(*marks: Mark, high: float | None = None) -> Chart:
    """A chart with one panel."""
    return Chart("title", [Panel(Axis("x", high=high), Axis("y"), marks)], (4.0, 3.0), variants=["A"], legend="each")


EVERY = [
    Line([1, 2], [3.0, None], "line", variant="A", marker="own", band=([2.0, None], [4.0, None]), few=[0]),
    Line([1.5], [2.0], colour="black", dash=None, marker="x", y_range=([1.0], [3.0])),
    Bars([0.0, 1.0], [2.0, 3.0], "bars", ["A", "B"], range=([1.0, 2.0], [3.0, 4.0]), few=[True, False]),
    Level(2.5, "level", upright=True, colour=1),
    Word(1, None, "1/2", row=1),
]


def test_the_same_picture_comes_from_a_file(tmp_path: Path) -> None:
    made = chart(*EVERY)
    held = write_chart(made, tmp_path / "one.png")
    assert write(held, tmp_path / "held.png").read_bytes() == write(made, tmp_path / "made.png").read_bytes()
    grid = chart(Grid([[1.0, nan], [3.0, 4.0]], "cells", [["1", ""], ["3", "4"]], span=(0.0, 2.0)))
    held = write_chart(grid, tmp_path / "two.png")
    assert write(held, tmp_path / "held.png").read_bytes() == write(grid, tmp_path / "made.png").read_bytes()


def written(x: Sequence[float], y: Sequence[float | None], path: Path, high: float | None = None) -> Line:
    """A long line, as its file has it."""
    line = write_chart(chart(Line(x, y), high=high), path).panels[0].marks[0]
    assert isinstance(line, Line)
    return line


def test_a_long_line_keeps_its_extremes_and_its_ends(tmp_path: Path) -> None:
    x = [at / 1_000 for at in range(100_000)]
    y: list[float | None] = [sin(2 * pi * at) for at in x]
    y[40_123], y[60_456], y[70_000] = 7.0, -7.0, None
    line = written(x, y, tmp_path / "long.png")
    assert len(line.x) < 2_000
    assert {(40.123, 7), (60.456, -7)} <= set(zip(line.x, line.y, strict=True))
    assert (line.x[0], line.x[-1]) == (0, pytest.approx(99.999, rel=1e-4))


def test_of_a_line_beyond_its_axis_no_more_is_kept_than_what_leads_there(tmp_path: Path) -> None:
    x = [*(at / 1_000 for at in range(10_000)), 500.0, 501.0]
    y = [float(at % 10) for at in range(len(x))]
    line = written(x, y, tmp_path / "beyond.png", high=8.0)
    inside = [at for at in line.x if isinstance(at, float | int) and at <= 8]
    assert len(inside) > 500
    assert list(line.x)[len(inside) :] == [8.001]


def test_a_file_of_others_is_refused(tmp_path: Path) -> None:
    path = file_of(tmp_path / "one.png")
    assert path.name == "one.png.json"
    for text in ("", "[]", "{}", json.dumps({"format": "p4cc chart 9", "chart": {}}), '{"format": "p4cc chart 1"}'):
        path.write_text(text)
        with pytest.raises(UserError, match="not a chart of p4cc"):
            read_chart(path)
