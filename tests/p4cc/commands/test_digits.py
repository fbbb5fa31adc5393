"""Numbers in texts: never as a power of ten, and 100 % is all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from p4cc.digits import digits, percent


@pytest.mark.parametrize(
    ("value", "count", "text"),
    [
        (100, 2, "100"),
        (99.96, 3, "100"),
        (12_345.6, 3, "12346"),
        (0.000_123_45, 3, "0.000123"),
        (0, 3, "0"),
        (-1_500.4, 3, "-1500"),
        (1.5, 6, "1.5"),
        (1e7, 3, "10000000"),
    ],
)
def test_digits_that_count(value: float, count: int, text: str) -> None:
    assert digits(value, count) == text


@given(st.floats(-1e15, 1e15), st.integers(1, 9))
def test_a_number_is_close_to_its_text(value: float, count: int) -> None:
    text = digits(value, count)
    assert "e" not in text
    assert float(text) == pytest.approx(value, rel=0.6 * 10 ** (1 - count), abs=0.5 if abs(value) >= 10**count else 0)


@pytest.mark.parametrize(
    ("part", "whole", "text"), [(2, 2, "100 %"), (999, 1_000, "over 99 %"), (1, 3, "33 %"), (1, 10**6, "0.0001 %")]
)
def test_only_all_is_a_hundred_per_cent(part: int, whole: int, text: str) -> None:
    assert percent(part, whole) == text
