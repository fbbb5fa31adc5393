"""RCP ports: the integer step is the formula's, over all rates and loads."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller import PlannerError
from controller.rcp import RcpPort, rcp_port

T_NS, D_NS, CELL = 50_000, 100_000, 80


def port(rate_bps: int) -> RcpPort:
    return rcp_port(rate_bps=rate_bps, interval_ns=T_NS, rtt_ns=D_NS, depth_bytes=CELL)


@given(
    st.sampled_from([10**9, 10**10, 10**11, 4 * 10**11]),
    st.floats(0.001, 1),
    st.floats(1, 3),
    st.floats(0, 3),
    st.integers(0, 10_000),
    st.integers(0, 10_000),
)
def test_the_step_is_the_formulas(
    rate_bps: int, share: float, intervals: float, load: float, depth_before: int, depth: int
) -> None:
    plan = port(rate_bps)
    interval_bytes = Fraction(rate_bps * T_NS, 8 * 10**9)
    old = max(int(plan.capacity_kbps * share), plan.least_kbps)
    elapsed, sent = int(T_NS * intervals), int(interval_bytes * Fraction(load))
    queue = depth * CELL
    arrived = max(sent + queue - depth_before * CELL, 0)
    spare = interval_bytes * Fraction(min(elapsed, 2 * T_NS), T_NS) - arrived
    ratio = Fraction(T_NS, D_NS)
    change = ratio * (Fraction(2, 5) * spare - Fraction(2, 5) * ratio * queue) / interval_bytes
    change = min(max(change, Fraction(-1, 2)), Fraction(1))
    expected = min(max(old * (1 + change), Fraction(plan.least_kbps)), Fraction(plan.capacity_kbps))
    assert plan.next_rate_kbps(old, elapsed, sent, depth_before, depth) == pytest.approx(
        float(expected), rel=2e-3, abs=3
    )


def test_an_idle_port_rises_and_a_full_one_falls() -> None:
    plan = port(10**10)
    assert plan.initial_kbps == 500_000
    assert plan.next_rate_kbps(10**6, T_NS, 0, 0, 0) == pytest.approx(1.2 * 10**6, rel=1e-3)
    assert plan.next_rate_kbps(10**6, T_NS, 62_500, 0, 0) == pytest.approx(10**6, rel=1e-3)
    assert plan.next_rate_kbps(10**6, T_NS, 62_500, 5000, 5000) < 10**6
    assert plan.next_rate_kbps(10**7, 10 * T_NS, 0, 0, 0) == 10**7
    assert plan.next_rate_kbps(1, T_NS, (1 << 32) - 1, 0, (1 << 19) - 1) == 1
    assert replace(plan, least_kbps=9).next_rate_kbps(1, T_NS, 62_500, 0, 0) == 9


@pytest.mark.parametrize(
    ("rate_bps", "interval_ns", "rtt_ns", "name"),
    [
        (10_000_000, 1_000, 100_000, "gain|bytes"),
        (10**11, 1_000_000_000, 100_000, "gain|bytes"),
        (10**10, 50_000, 10**12, "gain"),
        (0, 1, 1, "rate_bps"),
    ],
)
def test_what_does_not_fit_is_refused(rate_bps: int, interval_ns: int, rtt_ns: int, name: str) -> None:
    with pytest.raises(PlannerError, match=name):
        rcp_port(rate_bps=rate_bps, interval_ns=interval_ns, rtt_ns=rtt_ns, depth_bytes=CELL)


def test_the_initial_rate_is_a_share() -> None:
    with pytest.raises(PlannerError, match="initial_share"):
        rcp_port(rate_bps=10**10, interval_ns=T_NS, rtt_ns=D_NS, depth_bytes=80, initial_share=Fraction(2))


def changed(**changes: Any) -> RcpPort:
    plain: dict[str, Any] = {"rate_bps": 10**10, "interval_ns": T_NS, "rtt_ns": D_NS, "depth_bytes": CELL}
    return rcp_port(**{**plain, **changes})


LOAD_UNIT = Fraction(62_500 * 2, 1 << 40)
"""The alpha that 62,500 B in half a round trip hold as 1; of beta it is twice that."""


@pytest.mark.parametrize(
    ("fits", "does_not", "name"),
    [
        ({"alpha": LOAD_UNIT * ((1 << 31) - 1)}, {"alpha": LOAD_UNIT * (1 << 31)}, "load gain"),
        ({"alpha": LOAD_UNIT * 100}, {"alpha": LOAD_UNIT * 99}, "load gain"),
        ({"beta": LOAD_UNIT * 2 * ((1 << 31) - 1)}, {"beta": LOAD_UNIT * 2 * (1 << 31)}, "queue gain"),
        ({"beta": LOAD_UNIT * 2}, {"beta": Fraction(0)}, "queue gain"),
        # An interval's bytes are at most half of what 32 bits hold.
        (
            {"rate_bps": 10**7, "interval_ns": 1 << 31, "rtt_ns": 1 << 31, "time_unit_ns": 8},
            {"rate_bps": 10**10, "interval_ns": 1_717_986_920, "rtt_ns": 1_717_986_920, "time_unit_ns": 1},
            "bytes of an interval",
        ),
        (
            {"rate_bps": 10**7, "interval_ns": 1 << 31, "rtt_ns": 1 << 31, "alpha": Fraction(1)},
            {"rate_bps": 10**7, "interval_ns": (1 << 31) + 1, "rtt_ns": 1 << 31, "alpha": Fraction(1)},
            "interval",
        ),
        # A byte for each nanosecond.
        (
            {"rate_bps": 8 * 10**9, "interval_ns": (1 << 31) - 1, "rtt_ns": 1 << 31},
            {"rate_bps": 8 * 10**9, "interval_ns": 1 << 31, "rtt_ns": 1 << 31},
            "bytes of an interval",
        ),
        # 4,096 B in a microsecond, in units of 2^-20.
        (
            {"rate_bps": 32_768_000_000 - 7, "time_unit_ns": 1_000},
            {"rate_bps": 32_768_000_000, "time_unit_ns": 1_000},
            "bytes for one unit",
        ),
        ({"depth_bytes": 4_095}, {"depth_bytes": 4_096}, "depth_bytes"),
        ({"framing_bytes": 255}, {"framing_bytes": 256}, "framing_bytes"),
        ({"initial_share": Fraction(1)}, {"initial_share": Fraction(1), "least_kbps": 10**7 + 1}, "initial_share"),
        (
            {"rtt_ns": 1, "interval_ns": 1, "alpha": Fraction(1, 10**6), "beta": Fraction(1, 10**6)},
            {"rtt_ns": 0},
            "rtt_ns",
        ),
    ],
)
def test_ends_of_the_values(fits: dict[str, Any], does_not: dict[str, Any], name: str) -> None:
    assert changed(**fits)
    with pytest.raises(PlannerError, match=name):
        changed(**does_not)


def test_a_port_by_hand() -> None:
    # 62,500 B in half a round trip: 0.4 / 2 / 62,500 and 0.4 / 4 / 62,500, times 2^40; 1.25 B/ns.
    assert changed() == RcpPort(10**7, 500_000, 1, 50_000, 1_310_720, 3_518_437, 1_759_219, 80, 0)
    port = changed(time_unit_ns=1_000, initial_share=Fraction(1, 10**9), least_kbps=7)
    assert (port.interval, port.bytes_per_time, port.initial_kbps) == (50, 1_310_720_000, 7)


def test_a_step_s_sums_end() -> None:
    plan = port(10**10)
    # A queue that drained had not arrived in the interval.
    assert plan.next_rate_kbps(10**6, T_NS, 80, 1, 0) == plan.next_rate_kbps(10**6, T_NS, 0, 0, 0)
    # Nothing moves where both sides are at their end, and a fall is at most a half.
    full = replace(plan, load_gain=(1 << 31) - 1, queue_gain=(1 << 31) - 1)
    assert full.next_rate_kbps(10**6, 0, (1 << 32) - 1, 0, (1 << 19) - 1) == 500_000
    assert full.next_rate_kbps(10**6, 2 * T_NS, 0, 0, 0) == 2 * 10**6
