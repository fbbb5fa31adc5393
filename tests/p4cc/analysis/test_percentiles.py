"""The rule of percentiles and of the number of values that they need."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from p4cc.analysis.percentiles import count_column, fewest, is_few, of_few, percent_of, percentile


@pytest.mark.parametrize(
    ("percent", "values"),
    [(50, 2), (95, 20), (99, 100), (99.9, 1_000), (99.99, 10_000), (5, 20), (1, 100), (0, 1), (100, 1)],
)
def test_a_percentile_needs_one_value_beyond_it(percent: float, values: int) -> None:
    assert fewest(percent) == values
    assert is_few(values - 1, percent) == (values > 1)
    assert not is_few(values, percent)
    assert not is_few(0, percent)


@given(st.sampled_from((90.0, 95.0, 99.0)), st.integers(1, 300))
def test_of_few_values_a_percentile_is_the_largest(percent: float, count: int) -> None:
    found = percentile(np.arange(count, dtype=np.float64), percent)
    assert found == min(int(count * percent / 100), count - 1)
    if is_few(count, percent):
        assert found == count - 1


def test_names_say_percentile_and_count() -> None:
    names = {
        "fct_p99_ns": "fct_count",
        "slowdown_p95": "slowdown_count",
        "rtt_p50_ns_ramp": "rtt_count_ramp",
        "incast.fct_p5_ns": "incast.completed",
    }
    assert {name: count_column(name) for name in names} == names
    assert [percent_of(name) for name in names] == [99, 95, 50, 5]
    for name in ("goodput_bps", "pauses", "drops", "u1_run", "fct_mean_ns"):
        assert percent_of(name) is count_column(name) is None


def test_percentiles_without_a_value_or_a_count_are_not_marked() -> None:
    numbers = {
        "fct_count": 30,
        "fct_p95_ns": 1.0,
        "fct_p99_ns": 2.0,
        "rtt_count": 0,
        "rtt_p99_ns": None,
        "queue_p99_pkts": 9,
    }
    assert of_few(numbers) == ["fct_p99_ns"]
