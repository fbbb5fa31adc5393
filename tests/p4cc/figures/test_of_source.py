"""The source's numbers in our pictures: where a picture draws what a number measures, and nowhere else."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from pydantic import TypeAdapter, ValidationError

from p4cc.figures import bar, over_sweep
from p4cc.figures.chart import Level, Line
from p4cc.figures.of_source import with_source
from p4cc.scenario.claims import Reproduction
from p4cc.scenario.figures import BarFigure, SweepFigure

RUNS = pl.DataFrame(
    [
        {"variant": variant, "senders": senders, "seed": 1, "timeouts": senders // 8, "goodput_bps": 1e9 * senders}
        for variant in ("A", "B")
        for senders in (2, 4, 8)
    ]
)
VALUE = {"kind": "value", "variant": "B", "column": "goodput_bps", "scale": 1e-6}
LIMIT = {"kind": "limit", "variant": "B"}


def reproduction(measure: dict[str, Any], **keys: Any) -> Reproduction:
    """A figure with one number, of 4,000."""
    claim = {"name": "n", "text": "a number", "paper": 4_000, "at": "table 1", "reading": "table", "measure": measure}
    return TypeAdapter(Reproduction).validate_python({"figure": "1", "claims": [{**claim, **keys}]})


def sweep(measure: dict[str, Any], y: str = "goodput_bps", **keys: Any) -> list[Line | Level]:
    """What a figure over the senders has of the source."""
    panel = {"y": y, "scale": 1e-9}
    figure = SweepFigure.model_validate({"kind": "over_sweep", "file": "a.png", "x": "senders", "panels": [panel]})
    chart = over_sweep.chart(RUNS, figure)
    made = with_source(chart, figure, reproduction(measure, **keys))
    assert len(made.notes) == (len(made.panels[0].marks) > len(chart.panels[0].marks))
    return [mark for mark in made.panels[0].marks[len(chart.panels[0].marks) :] if isinstance(mark, Line | Level)]


def test_a_number_at_a_point_is_a_point_with_its_band() -> None:
    (point,) = sweep({**VALUE, "where": {"senders": 4}})
    assert isinstance(point, Line)
    assert (point.x, point.y, point.colour) == ([4], [pytest.approx(4.0)], 1)
    assert point.y_range == ([pytest.approx(3.6)], [pytest.approx(4.4)])


def test_a_number_is_in_the_unit_of_the_panel() -> None:
    (point,) = sweep({**VALUE, "scale": -1e-6, "offset": 10_000, "where": {"senders": 4}})
    assert isinstance(point, Line)
    assert point.y == [pytest.approx(6.0)]
    assert point.y_range == ([pytest.approx(5.6)], [pytest.approx(6.4)])


def test_a_factor_of_0_is_refused() -> None:
    with pytest.raises(ValidationError, match="the factor is 0"):
        reproduction({**VALUE, "scale": 0})


def test_a_number_over_all_points_is_a_level_and_a_limit_an_upright_one() -> None:
    (level,) = sweep(VALUE)
    assert isinstance(level, Level)
    assert (level.at, level.upright, level.colour) == (pytest.approx(4.0), False, 1)
    (limit,) = sweep(LIMIT, y="timeouts", paper=6)
    assert isinstance(limit, Level)
    assert (limit.at, limit.upright, limit.colour) == (6, True, 1)


@pytest.mark.parametrize(
    ("measure", "keys"),
    [
        ({**VALUE, "column": "timeouts"}, {}),
        ({**VALUE, "variant": "C"}, {}),
        ({**VALUE, "seeds": "max"}, {}),
        ({**VALUE, "where": {"other": 4}}, {}),
        ({**VALUE, "where": {"senders": {"min": 4, "source": "its figure begins there"}}}, {}),
        ({**VALUE, "where": {"senders": 4}}, {"not_comparable": "it is another number"}),
        (LIMIT, {}),
        ({**LIMIT, "column": "goodput_bps", "over": "load"}, {}),
    ],
)
def test_what_the_picture_does_not_draw_is_not_in_it(measure: dict[str, Any], keys: dict[str, Any]) -> None:
    assert sweep(measure, **keys) == []


@pytest.mark.parametrize(
    ("figure", "measure", "at"),
    [
        ({"x": "senders", "panels": [{"y": "goodput_bps"}]}, {**VALUE, "where": {"senders": 8}}, 2.2),
        ({"panels": [{"y": "goodput_bps"}]}, VALUE, 0.2),
        ({"limit_over": "senders", "panels": [{"y": "timeouts"}]}, LIMIT, 0.2),
        ({"limit_over": "senders", "panels": [{"y": "timeouts"}]}, {**LIMIT, "over": "load"}, None),
        ({"x": "senders", "panels": [{"y": "goodput_bps"}]}, VALUE, None),
    ],
)
def test_a_number_of_a_bar_is_a_point_over_it(
    figure: dict[str, Any], measure: dict[str, Any], at: float | None
) -> None:
    made = BarFigure.model_validate({"kind": "bar", "file": "a.png", **figure})
    marks = with_source(bar.chart(RUNS, made), made, reproduction(measure)).panels[0].marks
    points = [mark for mark in marks if isinstance(mark, Line)]
    assert [point.x for point in points] == ([] if at is None else [[pytest.approx(at)]])
