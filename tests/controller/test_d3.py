"""D3 ports: the reciprocal stands for a division and never gives more; epochs hold several rounds."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller import PlannerError
from controller.d3 import MAX_CAPACITY_KBPS, MAX_FLOWS, D3Port, d3_port, reciprocals

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


@pytest.mark.parametrize("flows", [0, MAX_FLOWS + 1])
def test_the_table_has_a_size(flows: int) -> None:
    with pytest.raises(PlannerError, match="flows"):
        reciprocals(flows)
