"""DualPI2's ports: gains in fixed point, and steps that agree with RFC 9332's formula."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from controller.dualpi2 import DUALPI2_PORTS, DUALPI2_UNITS, dualpi2_port
from controller.entities import ActionCall, Entry, EntryKey, Exact
from controller.errors import PlannerError
from controller.features import PortTable
from tests.controller import own_program as program
from tests.controller.planned import roles

MS = 1_000_000


def test_the_defaults_of_the_rfc() -> None:
    port = dualpi2_port(rate_bps=100_000_000, packet_bytes=1514)
    assert (port.target, port.interval, port.l4s_step, port.coupling_shift) == (15 * MS, 16 * MS, MS, 1)
    # RFC 9332, A.1: alpha 0.16 Hz, beta 3.2 Hz.
    assert port.alpha / 2**48 * 1e9 == pytest.approx(0.16, rel=1e-4)
    assert port.beta / 2**48 * 1e9 == pytest.approx(3.2, rel=1e-4)


@pytest.mark.parametrize(("rate_bps", "step_ns"), [(4_000_000, 6_056_000), (24_224_000, MS), (10**9, MS)])
def test_the_step_is_at_least_two_packets(rate_bps: int, step_ns: int) -> None:
    assert dualpi2_port(rate_bps=rate_bps, packet_bytes=1514).l4s_step == step_ns


@pytest.mark.parametrize("unit_ns", [1, 1_000])
def test_a_step_by_the_formula(unit_ns: int) -> None:
    port = dualpi2_port(rate_bps=10**9, packet_bytes=1514, time_unit_ns=unit_ns)
    base = 0.1
    for delay_ms, before_ms in ((20, 10), (5, 20), (15, 15)):
        want = base + 0.16 * (delay_ms - 15) / 1e3 + 3.2 * (delay_ms - before_ms) / 1e3
        found = port.next_base(int(base * 2**32), delay_ms * MS // unit_ns, before_ms * MS // unit_ns)
        assert found / 2**32 == pytest.approx(want, abs=1e-6)


def test_the_probability_has_bounds() -> None:
    port = dualpi2_port(rate_bps=10**9, packet_bytes=1514)
    assert port.next_base(2**30, 10**9, 0) == (2**32 - 1) >> 1
    assert port.next_base(1_000, 0, 10**9) == 0
    # An interval without a packet takes off what one with an empty queue does.
    assert port.next_base(2**30, 0, 0, port.interval) == pytest.approx(2**30 - 2 * 0.16 * 0.015 * 2**32, rel=1e-4)


@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        ({"target_ns": 0}, "target_ns"),
        ({"target_ns": 5 * 10**9, "time_unit_ns": 1}, "target"),
        ({"interval_ns": 10}, "interval"),
        ({"alpha_hz": Fraction(0)}, "alpha"),
        ({"coupling_shift": 9}, "coupling_shift"),
        ({"rate_bps": 1}, "step"),
    ],
)
def test_what_a_port_cannot_hold(changes: dict[str, int | Fraction], cause: str) -> None:
    given: dict[str, int | Fraction] = {"rate_bps": 10**9, "packet_bytes": 1514, "time_unit_ns": 1_000, **changes}
    with pytest.raises(PlannerError, match=cause):
        dualpi2_port(**given)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def gain(fixed_point: int) -> Fraction:
    """The gain in Hz that a tick of a nanosecond holds as this number."""
    return Fraction(fixed_point * 10**9, 1 << 48)


MOST = (1 << 32) - 1


@pytest.mark.parametrize(
    ("most", "beyond", "place"),
    [
        ({"target_ns": MOST}, {"target_ns": MOST + 1}, "target"),
        ({"interval_ns": MOST}, {"interval_ns": MOST + 1}, "interval"),
        ({"alpha_hz": gain(MOST)}, {"alpha_hz": gain(MOST + 1)}, "alpha"),
        ({"beta_hz": gain(MOST)}, {"beta_hz": gain(MOST + 1)}, "beta"),
        ({"step_ns": MOST}, {"step_ns": MOST + 1}, "step"),
        ({"coupling_shift": 8}, {"coupling_shift": 9}, "coupling_shift"),
    ],
)
def test_the_largest_values_fit_and_the_next_do_not(
    most: dict[str, int | Fraction], beyond: dict[str, int | Fraction], place: str
) -> None:
    given: dict[str, int | Fraction] = {"rate_bps": 10**9, "packet_bytes": 1514}
    assert dualpi2_port(**{**given, **most})  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    with pytest.raises(PlannerError) as refused:
        dualpi2_port(**{**given, **beyond})  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    assert refused.value.place == place


def test_the_smallest_values_fit() -> None:
    port = dualpi2_port(rate_bps=1_000_000_000, packet_bytes=1, target_ns=1, interval_ns=1, alpha_hz=gain(1), step_ns=0)
    assert (port.target, port.interval, port.alpha, port.l4s_step) == (1, 1, 1, 16)


def test_sums_of_a_step_end_at_64_bits() -> None:
    port = dualpi2_port(
        rate_bps=10**9, packet_bytes=1514, interval_ns=MS, alpha_hz=gain(MOST), beta_hz=gain(MOST), coupling_shift=0
    )
    assert port.decay == MOST, "a decay ends at 32"
    assert port.next_base(0, (1 << 40), 0) == MOST
    # Both sides are at their end: nothing moves.
    assert port.next_base(5, 1 << 40, 1 << 40) == 5
    # One side at its end, 2^64 - 1, and the other 2^16 - 1 below it: less than a unit of the probability.
    even = replace(port, alpha=1 << 15, beta=1 << 15)
    assert even.next_base(5, (1 << 48) - 1, 1 << 50) == 5
    assert even.next_base(5, (1 << 48) - 2, 1 << 50) == 4
    other = replace(port, alpha=0, beta=1 << 16, target=0)
    assert other.next_base(5, 1 << 50, (1 << 48) - 1) == 5
    assert other.next_base(5, 1 << 50, (1 << 48) - 2) == 6


def test_times_are_in_the_unit_of_the_clock() -> None:
    port = dualpi2_port(rate_bps=10**9, packet_bytes=1514, time_unit_ns=1_000)
    assert (port.target, port.interval, port.l4s_step) == (15_000, 16_000, 1_000)


def test_entries_of_the_ports_that_are_named() -> None:
    port = dualpi2_port(rate_bps=10**9, packet_bytes=1514)
    feature = PortTable(DUALPI2_PORTS, {("s1", "h1"): port}, units=DUALPI2_UNITS)
    (row,) = feature.rows("s1", {1: "h1", 2: "h2"})
    entry = roles("dualpi2").table(DUALPI2_PORTS).entry(row)
    args = (
        ("alpha", port.alpha),
        ("beta", port.beta),
        ("coupling", 1),
        ("decay", port.decay),
        ("l4s_step", MS),
        ("t", 16 * MS),
        ("target", 15 * MS),
    )
    key = EntryKey(program.DUALPI2_PORTS, (Exact("egress_port", 1),))
    assert entry == Entry(key, ActionCall(program.SET_DUALPI2_PORT, args))
