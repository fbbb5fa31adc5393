"""The effective-utilisation model against numbers checked by hand and its own properties.

Source: docs/algorithms/slow-start.md#number-gst-bdp to docs/algorithms/slow-start.md#number-gst-peak.
"""

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from controller.errors import PlannerError
from controller.model import (
    Bottleneck,
    any_timeout_probability,
    any_timeout_probability_printed,
    argmax_window_pkts,
    flow_timeout_probability,
    utilisation,
    utilisation_printed,
    utilisation_slope,
    utilisation_slope_printed,
)

PAPER = Bottleneck(buffer_pkts=100, rate_bps=10_000_000_000, rtt_ns=100_000, packet_bytes=1500, senders=25)


def central_difference(at: Bottleneck, window_pkts: float, step: float = 1e-4) -> float:
    ahead, behind = utilisation(at, window_pkts + step), utilisation(at, window_pkts - step)
    return (ahead - behind) / (2 * step)


def test_v1_bandwidth_delay_product_and_corner() -> None:
    assert PAPER.bdp_pkts == pytest.approx(83.3333, abs=1e-4)
    assert PAPER.corner_window_pkts == pytest.approx(7.3333, abs=1e-4)


@pytest.mark.parametrize(
    ("window_pkts", "slope"), [(8.0, -3.615e-5), (10.0, -3.486e-3), (16.0, -1.110e-2), (32.0, -5.146e-3)]
)
def test_v2_equation_5_with_its_factor_agrees_with_differences(window_pkts: float, slope: float) -> None:
    assert utilisation_slope(PAPER, window_pkts) == pytest.approx(slope, rel=5e-4)
    assert utilisation_slope(PAPER, window_pkts) == pytest.approx(central_difference(PAPER, window_pkts), rel=1e-4)
    assert utilisation_slope_printed(PAPER, window_pkts) > 0.0, "without the factor r the sign is wrong"


@pytest.mark.parametrize(("senders", "window_pkts"), [(4, 45.83), (10, 18.33), (25, 7.33)])
def test_v3_the_peak_is_the_corner(senders: int, window_pkts: float) -> None:
    at = replace(PAPER, senders=senders)
    assert argmax_window_pkts(at) == pytest.approx(window_pkts, abs=5e-3)
    assert utilisation(at, argmax_window_pkts(at)) == pytest.approx(1.0)
    assert utilisation(at, argmax_window_pkts(at) / 2) == pytest.approx(0.5)


def test_v3_equation_3_as_printed_collapses_behind_the_corner() -> None:
    assert utilisation_printed(PAPER, 8.0) == pytest.approx(0.0005, abs=1e-6)
    assert utilisation(PAPER, 8.0) > 0.99
    assert utilisation_printed(PAPER, 7.0) == utilisation(PAPER, 7.0)


def test_a_probability_by_hand() -> None:
    # n w - BDP = 25 * 8 - 83.33 = 116.67; S = 1 - 100/116.67 = 1/7; p = 7^-8; P = 1 - (1 - p)^25.
    p = 7.0**-8
    assert flow_timeout_probability(PAPER, 8.0) == pytest.approx(p)
    assert any_timeout_probability(PAPER, 8.0) == pytest.approx(1 - (1 - p) ** 25)
    assert flow_timeout_probability(PAPER, 7.0) == 0.0


def test_the_printed_probability_by_hand() -> None:
    # n w - BDP = 3 * 2 - 2 = 4, twice the buffer: 1 - (1/2)^2 of a flow's packets; P = 1 - (1/4)^3.
    at = Bottleneck(buffer_pkts=2, rate_bps=12_000_000_000, rtt_ns=2_000, packet_bytes=1500, senders=3, rto_ns=8_000)
    assert at.bdp_pkts == 2.0
    assert any_timeout_probability_printed(at, 2.0) == 63 / 64
    assert utilisation_printed(at, 2.0) == 1 / 64 + 63 / 64 / 4
    # The corner is 4/3: where nothing overflows nobody times out.
    assert any_timeout_probability_printed(at, 1.0) == 0.0


@st.composite
def bottlenecks(draw: st.DrawFn) -> Bottleneck:
    rtt_ns = draw(st.integers(1_000, 10_000_000))
    return Bottleneck(
        buffer_pkts=draw(st.integers(1, 5_000)),
        rate_bps=draw(st.integers(10**6, 4 * 10**11)),
        rtt_ns=rtt_ns,
        packet_bytes=draw(st.integers(64, 9_000)),
        senders=draw(st.integers(1, 500)),
        rto_ns=draw(st.integers(rtt_ns + 1, 10**9)),
    )


@given(bottlenecks(), st.floats(0.01, 20.0))
def test_utilisation_is_a_share_and_never_rises_behind_the_corner(at: Bottleneck, factor: float) -> None:
    window = at.corner_window_pkts * factor
    here, ahead = utilisation(at, window), utilisation(at, window * 1.05)
    assert 0.0 < here <= 1.0 + 1e-12
    if factor > 1.0:
        assert ahead <= here + 1e-12
        assert utilisation_slope(at, window) <= 0.0


@given(bottlenecks())
def test_the_numeric_peak_is_the_corner_everywhere(at: Bottleneck) -> None:
    assert argmax_window_pkts(at) == pytest.approx(at.corner_window_pkts, rel=1e-6)


@given(bottlenecks(), st.floats(0.05, 8.0))
def test_the_slope_is_the_derivative(at: Bottleneck, factor: float) -> None:
    window = at.corner_window_pkts * factor
    step = window * 1e-5
    # Not across the corner, where G has two slopes.
    assume(abs(factor - 1.0) > 1e-3)
    slope, difference = utilisation_slope(at, window), central_difference(at, window, step)
    assert slope == pytest.approx(difference, rel=2e-3, abs=1e-12 / step)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("buffer_pkts", 0),
        ("buffer_pkts", 1 << 19),
        ("rate_bps", -1),
        ("rtt_ns", 0),
        ("packet_bytes", 70_000),
        ("senders", 0),
        ("rto_ns", 100_000),
        ("rate_bps", 10**15),
    ],
)
def test_a_value_out_of_range_is_named(field: str, value: int) -> None:
    with pytest.raises(PlannerError) as caught:
        replace(PAPER, **{field: value})
    assert caught.value.place == field
    assert str(value) in caught.value.cause


def test_the_largest_values_fit() -> None:
    assert replace(PAPER, buffer_pkts=(1 << 19) - 1, packet_bytes=65_535, senders=100_000, rto_ns=100_001)


@pytest.mark.parametrize("window_pkts", [0.0, -1.0, float("nan"), float("inf")])
def test_a_window_must_be_positive(window_pkts: float) -> None:
    with pytest.raises(PlannerError, match="not a positive number"):
        utilisation(PAPER, window_pkts)
