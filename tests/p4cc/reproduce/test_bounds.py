"""Limits below the first point of their sweep, and what is combined of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from pydantic import TypeAdapter

from p4cc.errors import UserError
from p4cc.reproduce.measure import End, FigureRuns, Measured, combine, measure
from p4cc.reproduce.verdict import judge
from p4cc.scenario.claims import CombineMeasure, Expectation, Measure
from tests.p4cc.reproduce import test_reproduce as made
from tests.p4cc.reproduce.test_reproduce import limits

made_up = made.made_up
CLAIM = made.Claim.model_validate(made.STATED)
LIMIT = made.MEASURE


def _how(text: dict[str, Any]) -> Measure:
    return TypeAdapter[Measure](Measure).validate_python(text)


BELOW_10 = Measured(0, "less than the first point, 10", end="most", below=10)


@pytest.mark.parametrize(
    ("kind", "of", "to", "value", "end", "below"),
    [
        # Less than 10 over 8 is less than 1.25; over at least 8, too.
        ("ratio", BELOW_10, Measured(8), 1.25, "most", 1.25),
        ("ratio", BELOW_10, Measured(8, end="least"), 1.25, "most", 1.25),
        ("difference", BELOW_10, Measured(8), 2, "most", 2),
        ("increase", BELOW_10, Measured(8), 0.25, "most", 0.25),
        # 8 over less than 10 is more than 0.8.
        ("ratio", Measured(8), BELOW_10, 0.8, "least", None),
        ("difference", Measured(8), BELOW_10, -2, "least", None),
        ("increase", Measured(8), BELOW_10, -0.2, "least", None),
        # Nothing is known of two that are both less, or of less over at most.
        ("ratio", BELOW_10, BELOW_10, 1, "either", None),
        ("ratio", BELOW_10, Measured(8, end="most"), 1.25, "either", None),
        # A bound turns with the sign of what it is divided by.
        ("ratio", BELOW_10, Measured(-8), -1.25, "either", None),
        # A bound of a bound: 1.25 over 2.5.
        ("ratio", Measured(1.25, end="most", below=1.25), Measured(2.5), 0.5, "most", 0.5),
    ],
)
def test_a_combination_with_a_limit_below_its_first_point_is_bounded(
    kind: str, of: Measured, to: Measured, value: float, end: End, below: float | None
) -> None:
    how = TypeAdapter[Any](CombineMeasure).validate_python({"kind": kind, "of": "of", "to": "to"})
    found = combine(how, {"of": of, "to": to})
    assert (found.value, found.end, found.below) == (pytest.approx(value), end, below)
    assert found.detail == (f"less than {below:g}" if below is not None else "")


def test_a_combined_bound_decides_only_beyond_the_band() -> None:
    how = TypeAdapter[Any](CombineMeasure).validate_python({"kind": "ratio", "of": "of", "to": "to"})
    # Of 16, band 14.4 to 17.6: less than 20 says nothing, less than 10 is outside.
    for over, verdict in ((0.5, "not comparable"), (1.0, "outside")):
        assert judge(CLAIM, combine(how, {"of": BELOW_10, "to": Measured(over)}), "9")["verdict"] == verdict


def test_the_farthest_ratio_can_be_a_bound(made_up: FigureRuns) -> None:
    to = limits(made_up, 16).runs.with_columns(variant=pl.lit("B"))
    both = replace(made_up, runs=pl.concat([limits(made_up, 10).runs, to]))
    parts = {"of": LIMIT | {"variant": "A"}, "to": LIMIT | {"variant": "B"}, "by": ["iw"]}
    found = measure(both, _how({"kind": "farthest", **parts, "combined": "ratio", "from_number": 1}), {})
    # Less than 10, over 14.
    assert (found.value, found.end, found.below) == (pytest.approx(10 / 14), "most", pytest.approx(10 / 14))
    assert found.detail.endswith("iw=0; less than 0.714286")


def test_a_first_point_of_0_that_fails_is_no_limit_of_0(made_up: FigureRuns) -> None:
    rows = [{"variant": "A", "senders": senders, "seed": 1, "timeouts": 1} for senders in (0, 2)]
    found = measure(replace(made_up, runs=pl.DataFrame(rows)), _how({"kind": "limit", "variant": "A"}), {})
    assert found == Measured(0, "less than the first point, 0", end="most", below=0)
    rows[0]["timeouts"] = 0
    found = measure(replace(made_up, runs=pl.DataFrame(rows)), _how({"kind": "limit", "variant": "A"}), {})
    assert found == Measured(0)


@pytest.mark.parametrize(
    ("found", "band", "lies"),
    [
        (Measured(8), {"min": 8}, True),
        (Measured(8), {"max": 7}, False),
        (Measured(8, end="least"), {"min": 8}, True),
        (Measured(8, end="least"), {"max": 7}, False),
        (Measured(8, end="least"), {"min": 9}, None),
        (Measured(8, end="least"), {"max": 8}, None),
        (Measured(8, end="least"), {"min": 1, "max": 8}, None),
        (Measured(8, end="most"), {"max": 8}, True),
        (Measured(8, end="most"), {"min": 9}, False),
        (Measured(8, end="most"), {"min": 8}, None),
        (BELOW_10, {"max": 10}, True),
        (BELOW_10, {"max": 9}, None),
        (BELOW_10, {"min": 10}, False),
        (BELOW_10, {"min": 1}, None),
        (BELOW_10, {"min": 0, "max": 16}, None),
        (Measured(1, end="either"), {"min": 0}, None),
        (Measured(None), {"min": 0}, None),
    ],
)
def test_a_statement_is_judged_where_a_bound_decides_it(
    found: Measured, band: dict[str, float], lies: bool | None
) -> None:
    stated = Expectation.model_validate(
        {"name": "one", "text": "one", "band": {**band, "source": "the source"}, "measure": LIMIT}
    )
    assert found.lies_in(stated.band) is lies
    told = judge(stated, found, "9")
    assert told["verdict"] == (None if found.end and lies is None else "met" if lies else "not met")
    assert bool(told["reason"]) == (told["verdict"] is None)


def test_rows_may_have_one_of_several_values(made_up: FigureRuns) -> None:
    four = limits(made_up, 12, 14, 16, 18)
    how = {"kind": "value", "variant": "A", "column": "senders", "points": "max"}
    both = measure(four, _how(how | {"where": {"iw": [0, 3], "senders": [10, 12]}}), {})
    assert both == Measured(12)
    with pytest.raises(UserError, match="no run of 'A' is left by"):
        measure(four, _how(how | {"where": {"iw": [4, 5]}}), {})
