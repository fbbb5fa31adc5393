"""PINT ports: values computed by hand, and a logarithm that is unbiased and never off by a whole power."""

from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller import PlannerError
from controller.pint import PintLogarithm, PintPort, pint_port
from p4cc.planning.programs import compile_program
from tests.p4cc.scenarios import ROOT

NUMBERS = st.integers(1, (1 << 18) - 1)


def cells(base: float) -> dict[int, tuple[int, int]]:
    rows = PintLogarithm(base).rows("s1", {})
    return {int(str(row.key["cell"])): (row.args["power"], row.args["slope"]) for row in rows}


CELLS = {base: cells(base) for base in (1.05, 1.1, 2.0)}


def written(base: float, number: int) -> float:
    """The power that `pint.p4` finds for a number: its first seven bits choose the cell, the others interpolate."""
    shift = max(number.bit_length() - 7, 0)
    power, slope = CELLS[base][(shift << 6) + (number >> shift)]
    return (power + ((number & (1 << shift) - 1) * slope >> 10)) / 65536


@given(NUMBERS, st.sampled_from(sorted(CELLS)))
def test_the_mean_of_what_senders_decode_is_the_number(number: int, base: float) -> None:
    power = written(base, number)
    whole = int(power)
    assert whole < 256
    mean = base**whole * (1 + (base - 1) * (power - whole))
    # A whole power within a cell (of 1.6 % at most) is a corner that interpolation cuts off; else rounding.
    assert mean == pytest.approx(number, rel=1e-3)
    assert abs(power - log(number) / log(base)) < 0.1


def test_cells_have_no_gap_and_are_all_there() -> None:
    assert sorted(CELLS[1.05]) == list(range(1, 832))
    assert CELLS[1.05][1][0] == 0
    # 512 is 1.05^127.86: between 1.05^127 = 490.9 and 515.4.
    assert written(1.05, 512) == pytest.approx(127 + (512 - 490.954) / (515.502 - 490.954), abs=1e-3)
    assert written(2.0, 1 << 17) == 17


def test_ports_by_hand() -> None:
    # 100 Gb/s for 13 us are 162,500 B; 2^39 / 162,500 = 3,383,112.7 and 2^48 / 13,000 = 21,651,921,285.4.
    assert pint_port(rate_bps=10**11, interval_ns=13_000, depth_bytes=80, framing_bytes=24) == PintPort(
        13_000, 21_651_921_285, 3_383_113, 80, 24
    )
    # A clock of microseconds counts 13 of them.
    assert pint_port(rate_bps=10**11, interval_ns=13_000, depth_bytes=1500, time_unit_ns=1000) == PintPort(
        13, 21_651_921_285_435, 3_383_113, 1500, 0
    )


@pytest.mark.parametrize(
    ("changed", "name"),
    [
        ({"rate_bps": 0}, "rate_bps"),
        ({"interval_ns": -1}, "interval_ns"),
        ({"interval_ns": 1}, "interval"),
        ({"interval_ns": 1000, "time_unit_ns": 1000}, "interval"),
        ({"rate_bps": 10**6}, "gain of a byte"),
        ({"rate_bps": 10**13, "interval_ns": 4_000_000_000}, "gain of a byte"),
        ({"depth_bytes": 4096}, "depth_bytes"),
        ({"framing_bytes": 256}, "framing_bytes"),
    ],
)
def test_values_that_a_port_cannot_hold(changed: dict[str, int], name: str) -> None:
    with pytest.raises(PlannerError) as refused:
        pint_port(**{"rate_bps": 10**11, "interval_ns": 13_000, "depth_bytes": 80, **changed})
    assert refused.value.place == name


@pytest.mark.parametrize("base", [1.0, 1.049, 2.1, float("nan")])
def test_bases_that_a_byte_cannot_hold(base: float) -> None:
    with pytest.raises(PlannerError, match="log_base"):
        PintLogarithm(base)


def test_the_program_has_room_for_all_cells() -> None:
    compiled = compile_program(ROOT / "p4src" / "v1model" / "pint.p4")
    assert compiled.ok
    assert "size: 1024" in compiled.p4info_text()


def test_an_interval_of_no_whole_number_of_ticks_gains_as_the_one_that_is_kept() -> None:
    """Else a port that is never idle would settle below a utilisation of 1."""
    ports = [
        pint_port(rate_bps=10**11, interval_ns=interval_ns, depth_bytes=80, time_unit_ns=1_000)
        for interval_ns in (13_000, 13_999)
    ]
    assert ports[0] == ports[1]


@given(st.integers(2, (1 << 32) - 1))
def test_all_ticks_of_an_interval_are_the_whole_of_it(interval: int) -> None:
    """Else U forgets more slowly than packets add to it: at 100 ms a share of 2^-32 made it 2.2 % too large."""
    share = pint_port(rate_bps=1 + 10**15 // interval, interval_ns=interval, depth_bytes=80).interval_share
    assert share * interval == pytest.approx(1 << 48, rel=2e-5)
    assert share * (interval - 1) < 1 << 48
