"""RED curves: the P4 program's threshold is the curve's probability, at every depth."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller import PlannerError
from controller.port_settings import red_curves
from controller.red import (
    MAX_DEPTH,
    SCRIPT,
    STEPS_SIZE,
    RedStep,
    RedStepsSettings,
    WredSettings,
    hpcc_script_curve,
    red_curve,
    red_steps,
)
from topos import generate


@given(st.integers(0, MAX_DEPTH - 1), st.integers(1, MAX_DEPTH), st.fractions(Fraction(1, 1000), 1), st.floats(0, 1))
def test_the_threshold_is_the_curve_rounded_down(k_min: int, width: int, p_max: Fraction, place: float) -> None:
    k_max = min(k_min + width, MAX_DEPTH)
    curve = red_curve(k_min, k_max, p_max, depth_bytes=1)
    depth = k_min + round((k_max - k_min) * place)
    exact = p_max * (depth - k_min) / (k_max - k_min) * (1 << 16)
    # One for the slope over at most 2^19 depths (2^19 * 2^-16 = 8 of 65536), one for the threshold.
    assert exact - 9 <= curve.threshold(depth) <= exact
    assert curve.threshold(k_min) == 0
    assert curve.threshold(k_max + 1) == 1 << 16


@given(st.integers(1, 4095), st.fractions(Fraction(1, 1000), 1))
def test_on_narrow_curves_the_error_is_two_of_65536(width: int, p_max: Fraction) -> None:
    curve = red_curve(0, width, p_max, depth_bytes=1)
    assert p_max * (1 << 16) - 2 <= curve.threshold(width) <= p_max * (1 << 16)


def test_the_curve_of_hpccs_experiments() -> None:
    curve = hpcc_script_curve(100_000_000_000)
    assert (curve.k_min, curve.k_max) == (400_000 // 80, 1_600_000 // 80)
    assert curve.threshold(curve.k_max) == pytest.approx(0.2 * 65536, abs=2)


@given(
    st.integers(0, MAX_DEPTH - 2), st.integers(1, MAX_DEPTH), st.fractions(Fraction(1, 1000), 1), st.integers(1, 512)
)
def test_steps_cover_the_curve_without_a_gap(k_min: int, width: int, p_max: Fraction, ports: int) -> None:
    curve = red_curve(k_min, min(k_min + width, MAX_DEPTH - 1), p_max, depth_bytes=1)
    steps = red_steps(curve, ports)
    assert len(steps) * ports <= STEPS_SIZE
    assert [step.low for step in steps] == [k_min + 1, *(step.high + 1 for step in steps[:-1])]
    assert (steps[-1].high, steps[-1].probability) == (MAX_DEPTH, None)
    for step in steps[:-1]:
        assert step.probability is not None
        assert curve.threshold(step.low) <= step.probability <= curve.threshold(step.high)


def test_too_many_ports_have_no_room_for_steps() -> None:
    with pytest.raises(PlannerError, match="513 ports need two entries each"):
        red_steps(red_curve(10, 20, Fraction(1), 1), 513)


@pytest.mark.parametrize(
    ("low", "high", "p_max", "unit", "words"),
    [
        (200, 100, Fraction(1), 1, "not greater than K_min"),
        (80, 100, Fraction(1), 80, "not greater than K_min"),
        (0, 100, Fraction(0), 1, "p_max"),
        (0, 100, Fraction(2), 1, "p_max"),
        (0, 1 << 19, Fraction(1), 1, "not between 0 and"),
        (-1, 10, Fraction(1), 1, "not between 0 and"),
        (0, 10, Fraction(1), 0, "depth_bytes"),
    ],
)
def test_what_is_no_curve_is_refused(low: int, high: int, p_max: Fraction, unit: int, words: str) -> None:
    with pytest.raises(PlannerError, match=words):
        red_curve(low, high, p_max, unit)


@pytest.mark.parametrize("rate_bps", [10**7, 10**9, 10**10, 25 * 10**9, 10**11, 4 * 10**11, 16 * 10**11])
@pytest.mark.parametrize("depth_bytes", [80, 1_500, 9_064])
def test_the_published_curve_fits_every_line_rate(rate_bps: int, depth_bytes: int) -> None:
    """It grows with the rate and never falls below two packets."""
    curves = red_curves(generate("star", {"senders": 1, "rate_bps": rate_bps}), SCRIPT, lambda _: depth_bytes)
    (curve,) = set(curves.values())
    assert depth_bytes * curve.k_min >= min(3_000, SCRIPT.k_min_bytes) - depth_bytes
    assert curve.k_max > curve.k_min >= 1
    if rate_bps == 25 * 10**9:
        assert curve.k_min == SCRIPT.k_min_bytes // depth_bytes


def test_ends_of_curves_and_of_their_steps() -> None:
    whole = red_curve(0, MAX_DEPTH, Fraction(1), 1)
    assert (MAX_DEPTH, whole.k_min, whole.k_max) == ((1 << 19) - 1, 0, MAX_DEPTH)
    # Nothing is above it: no step marks all.
    steps = red_steps(whole, 1)
    assert (len(steps), steps[-1].high) == (32, MAX_DEPTH)
    assert steps[-1].probability is not None
    # The slope of one unit's width is a certain mark, less one of 2^32.
    narrow = red_curve(7, 8, Fraction(1), 1)
    assert (narrow.slope, narrow.threshold(8), narrow.threshold(9)) == ((1 << 32) - 1, 65_535, 65_536)
    assert red_steps(narrow, 1) == (RedStep(8, 8, 65_535), RedStep(9, MAX_DEPTH, None))
    # 512 ports have two entries each: one step, with the mean of its ends, and what is above.
    curve = red_curve(10, 20, Fraction(1, 2), 1)
    assert red_steps(curve, 512) == (RedStep(11, 20, (3_276 + 32_767) // 2), RedStep(21, MAX_DEPTH, None))


def test_rows_are_of_ports_with_a_curve() -> None:
    curve = red_curve(10, 20, Fraction(1, 2), 1)
    rows = list(RedStepsSettings({("s1", "h1"): curve, ("s2", "h2"): curve}).rows("s1", {1: "h1", 2: "h2"}))
    steps = red_steps(curve, 1)
    assert [row.key for row in rows] == [{"egress_port": 1, "queue_depth": (step.low, step.high)} for step in steps]
    assert [row.action for row in rows] == ["set_probability"] * 10 + ["set_always"]
    assert [row.args for row in rows[:-1]] == [{"p": step.probability} for step in steps[:-1]]
    (row,) = WredSettings({("s1", "h1"): curve}).rows("s1", {1: "h1", 2: "h2"})
    assert (row.key, row.args) == ({"egress_port": 1}, {"k_min": 10, "k_max": 20, "p_max": 500_000})
