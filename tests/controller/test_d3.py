"""D3 ports: the reciprocal stands for a division and never gives more; epochs hold several rounds."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller import PlannerError
from controller.d3 import (
    D3_ESTIMATES,
    D3_PORTS,
    D3_RECIPROCALS,
    MAX_CAPACITY_KBPS,
    MAX_FLOWS,
    CapacityEstimate,
    D3Port,
    D3PortPlan,
    D3Settings,
    capacity_estimate,
    d3_port,
    default_epoch_ns,
    reciprocals,
    useful_flows,
)

TABLE = reciprocals()


@given(st.integers(0, MAX_CAPACITY_KBPS), st.integers(1, MAX_FLOWS))
def test_the_product_is_the_quotient_or_barely_less(free_kbps: int, flows: int) -> None:
    share = (free_kbps * TABLE[flows - 1]) >> 32
    assert Fraction(free_kbps, flows) - 2 < share <= free_kbps // flows


def test_a_port() -> None:
    # 64 B for each 300 us are 1707 kbit/s; 100 ms are less than 2^27 ns.
    assert d3_port(capacity_bps=1_000_000_000, rtt_ns=300_000) == D3Port(1_000_000, 1707, 27)
    assert d3_port(capacity_bps=10**9, rtt_ns=300_000, time_unit_ns=1000).epoch_shift == 17
    assert d3_port(capacity_bps=10**9, rtt_ns=300_000, epoch_ns=1 << 21).epoch_shift == 21
    assert d3_port(capacity_bps=1_000, rtt_ns=300_000).base_kbps == 1


@pytest.mark.parametrize(
    ("capacity_bps", "rtt_ns", "epoch_ns", "name"),
    [
        (999, 1000, 10**8, "capacity_bps"),
        (MAX_CAPACITY_KBPS * 1000 + 1000, 1000, 10**8, "capacity_bps"),
        (10**9, 10**8, 10**8, "epoch_ns"),
        (10**9, 1, 1 << 60, "epoch_ns"),
        (10**9, 0, 10**8, "rtt_ns"),
    ],
)
def test_what_does_not_fit_is_refused(capacity_bps: int, rtt_ns: int, epoch_ns: int, name: str) -> None:
    with pytest.raises(PlannerError, match=name):
        d3_port(capacity_bps=capacity_bps, rtt_ns=rtt_ns, epoch_ns=epoch_ns)


def test_an_epoch_follows_the_round_trip_and_full_queues() -> None:
    assert default_epoch_ns(8_000, 4_000) == 512_000
    assert default_epoch_ns(8_000, 1_000_000) == 4_032_000, "a request behind a full queue is in time"
    assert default_epoch_ns(300_000, 10**9) == 100_000_000, "no longer for a queue's sake"
    assert default_epoch_ns(30_000_000, 0) == 120_000_000, "four round trips in any case"


@pytest.mark.parametrize("flows", [0, MAX_FLOWS + 1])
def test_the_table_has_a_size(flows: int) -> None:
    with pytest.raises(PlannerError, match="flows"):
        reciprocals(flows)


def test_reciprocals_end_where_a_share_is_the_base_rate() -> None:
    assert useful_flows(D3Port(1_000_000, 1707, 27)) == 585
    assert useful_flows(D3Port(MAX_CAPACITY_KBPS, 1, 27)) == MAX_FLOWS
    assert useful_flows(D3Port(5, 5, 27)) == 1


def test_an_estimate() -> None:
    # One byte in 500 us is 16 kbit/s; alpha a tenth, beta one; 0.125 B/ns.
    plan = capacity_estimate(rate_bps=10**9, interval_ns=500_000, depth_bytes=80)
    assert plan == CapacityEstimate(100_000, 500_000, 131_072, 104_858, 1_048_576, 80, 0)
    # A full interval and no queue: nothing changes. 6250 B of queue take a tenth of the capacity off.
    assert plan.next_capacity_kbps(900_000, 10**6, 500_000, 62_500, 0, 0) == 900_000
    assert plan.next_capacity_kbps(900_000, 10**6, 500_000, 62_500 - 80 * 78, 0, 78) == 900_000 - 99_840
    # Idle for one interval: a tenth of the capacity more, at most all of it.
    assert plan.next_capacity_kbps(500_000, 10**6, 500_000, 0, 0, 0) == 600_000
    assert plan.next_capacity_kbps(500_000, 10**6, 10**9, 0, 0, 0) == 10**6
    assert plan.next_capacity_kbps(500_000, 10**6, 500_000, 1 << 32, 0, 0) == 100_000


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"interval_ns": 0}, "interval_ns"),
        ({"interval_ns": 1 << 40}, "gain"),
        ({"alpha": Fraction(0)}, "load gain"),
        ({"beta": Fraction(10**9)}, "queue gain"),
        ({"depth_bytes": 0}, "depth_bytes"),
        ({"framing_bytes": 256}, "framing_bytes"),
        ({"floor_share": Fraction(2)}, "floor_share"),
        ({"rate_bps": 500_000}, "bytes for one unit"),
    ],
)
def test_an_estimate_that_does_not_fit_is_refused(changes: dict[str, Any], name: str) -> None:
    plain: dict[str, Any] = {"rate_bps": 10**9, "interval_ns": 500_000, "depth_bytes": 80}
    with pytest.raises(PlannerError, match=name):
        capacity_estimate(**{**plain, **changes})


def test_the_largest_values_fit_and_the_next_do_not() -> None:
    most_bps = MAX_CAPACITY_KBPS * 1_000
    assert (MAX_CAPACITY_KBPS, len(TABLE), TABLE[0]) == ((1 << 29) - 1, 4_095, (1 << 32) - 1)
    assert d3_port(capacity_bps=most_bps + 999, rtt_ns=1_000).capacity_kbps == MAX_CAPACITY_KBPS
    # An epoch of four round trips, and one of 2^47 ticks.
    assert d3_port(capacity_bps=10**9, rtt_ns=1_000, epoch_ns=4_000).epoch_shift == 12
    assert d3_port(capacity_bps=10**9, rtt_ns=1_000, epoch_ns=1 << 47).epoch_shift == 47
    with pytest.raises(PlannerError, match="epoch_ns"):
        d3_port(capacity_bps=10**9, rtt_ns=1_000, epoch_ns=(1 << 47) + 1)
    with pytest.raises(PlannerError, match="epoch_ns"):
        d3_port(capacity_bps=10**9, rtt_ns=1_000, epoch_ns=3_999)
    assert d3_port(capacity_bps=10**9, rtt_ns=1, epoch_ns=4, time_unit_ns=1).epoch_shift == 2
    assert d3_port(capacity_bps=1_000, rtt_ns=1_000).capacity_kbps == 1
    assert reciprocals(1) == ((1 << 32) - 1,)
    assert useful_flows(D3Port(10, 0, 27)) == 10


def estimate(**changes: Any) -> CapacityEstimate:
    plain: dict[str, Any] = {"rate_bps": 10**9, "interval_ns": 500_000, "depth_bytes": 80}
    return capacity_estimate(**{**plain, **changes})


GAIN_UNIT = Fraction(500_000, 8_000_000 << 16)
"""The gain that an interval of 500 us holds as 1."""


@pytest.mark.parametrize(
    ("fits", "does_not", "name"),
    [
        ({"alpha": GAIN_UNIT * ((1 << 31) - 1)}, {"alpha": GAIN_UNIT * (1 << 31)}, "load gain"),
        ({"alpha": GAIN_UNIT * 100}, {"alpha": GAIN_UNIT * 99}, "load gain"),
        ({"beta": GAIN_UNIT * ((1 << 31) - 1)}, {"beta": GAIN_UNIT * (1 << 31)}, "queue gain"),
        (
            {"interval_ns": 1 << 31, "alpha": Fraction(1)},
            {"interval_ns": (1 << 31) + 1, "alpha": Fraction(1)},
            "interval",
        ),
        (
            {"rate_bps": 4_095_999_999_046, "time_unit_ns": 8},
            {"rate_bps": 4_096_000_000_000, "time_unit_ns": 8},
            "bytes for one unit",
        ),
        ({"depth_bytes": 4_095}, {"depth_bytes": 4_096}, "depth_bytes"),
        ({"framing_bytes": 255}, {"framing_bytes": 256}, "framing_bytes"),
        ({"floor_share": Fraction(1)}, {"floor_share": Fraction(0)}, "floor_share"),
    ],
)
def test_ends_of_an_estimate_s_values(fits: dict[str, Any], does_not: dict[str, Any], name: str) -> None:
    assert estimate(**fits)
    with pytest.raises(PlannerError, match=name):
        estimate(**does_not)


def test_an_estimate_in_other_ticks() -> None:
    plan = estimate(time_unit_ns=1_000)
    assert (plan.interval, plan.bytes_per_time) == (500, 131_072_000)
    # Idle for more than sixteen intervals: the capacity of sixteen.
    slow = estimate(alpha=Fraction(1, 1_000))
    rise = slow.next_capacity_kbps(200_000, 10**6, 16 * 500_000, 0, 0, 0) - 200_000
    assert slow.next_capacity_kbps(200_000, 10**6, 17 * 500_000, 0, 0, 0) - 200_000 == rise
    assert slow.next_capacity_kbps(200_000, 10**6, 15 * 500_000, 0, 0, 0) - 200_000 < rise
    # A queue that drained had not arrived in the interval.
    assert slow.next_capacity_kbps(200_000, 10**6, 500_000, 100, 10, 0) == slow.next_capacity_kbps(
        200_000, 10**6, 500_000, 0, 0, 0
    )


def test_the_rows_of_a_switch() -> None:
    port, few = D3Port(1_000_000, 250_000, 27), D3Port(9, 3, 27)
    plans = {
        ("s1", "h1"): D3PortPlan(port),
        ("s1", "h2"): D3PortPlan(few, estimate(), is_clamped=True),
        ("s2", "h1"): D3PortPlan(few, estimate()),
    }
    rows = list(D3Settings(plans).rows("s1", {1: "h1", 2: "h2", 3: "h3"}))
    assert [(row.role, dict(row.key), row.action) for row in rows[:3]] == [
        (D3_PORTS, {"egress_port": 1}, "set_port_as_published"),
        (D3_PORTS, {"egress_port": 2}, "set_port"),
        (D3_ESTIMATES, {"egress_port": 2}, "set_estimate"),
    ]
    assert dict(rows[1].args) == {"capacity_kbps": 9, "base_kbps": 3, "epoch_shift": 27}
    # As many reciprocals as the port with the most flows can use.
    assert [(row.role, dict(row.key), row.args["value"]) for row in rows[3:]] == [
        (D3_RECIPROCALS, {"flows": flows}, TABLE[flows - 1]) for flows in (1, 2, 3, 4)
    ]
    assert list(D3Settings(plans).rows("s3", {1: "h1"})) == []
