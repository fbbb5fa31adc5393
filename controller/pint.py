"""Settings of PINT ports (`pint.p4`), and the logarithm that its byte is written by.

A port's U moves by dt/T towards q/(B T) with each packet that leaves, and gains bytes/(B T). The byte is the power of
a base that 512 U is, between two of which a switch draws.

Source: docs/algorithms/hpcc.md#pint.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from controller.errors import PlannerError, check_ranges
from controller.roles import TICKS, Row

PINT_PORTS, PINT_LOGARITHM = "pint.ports", "pint.logarithm"
PINT_UNITS = {"interval": TICKS}
LOG_BASE = 1.05
"""docs/algorithms/hpcc.md#pint-parameters."""
MIN_LOG_BASE, MAX_LOG_BASE = 1.05, 2.0
"""Powers up to 512 times 512 fit eight bits from the first of these on."""
NUMBER_BITS = 18
CELL_BITS = 7
"""A cell of the logarithm is the numbers with the same first bits."""
GAIN_BITS = 39
INTERVAL_BITS = 32
SHARE_BITS = 48
POWER_BITS = 16
SLOPE_BITS = 26


@dataclass(frozen=True)
class PintPort:
    """The arguments of `pint.p4`'s `set_port`, in its order."""

    interval: int
    interval_share: int
    gain: int
    bytes_per_depth: int
    framing_bytes: int


def pint_port(
    *, rate_bps: int, interval_ns: int, depth_bytes: int, framing_bytes: int = 0, time_unit_ns: int = 1
) -> PintPort:
    """Plan one port with T = `interval_ns`; `depth_bytes` is the unit of queue depths.

    Raises PlannerError for a value that does not fit.
    """
    for name, value in (("rate_bps", rate_bps), ("interval_ns", interval_ns)):
        if value < 1:
            raise PlannerError(name, f"{value} is not positive", "give a positive value")
    interval = interval_ns // time_unit_ns
    # The switch counts whole ticks, so the gain is that of the interval it keeps.
    kept_ns = max(interval, 1) * time_unit_ns
    gain = round(Fraction(8_000_000_000 << GAIN_BITS, rate_bps * kept_ns))
    check_ranges(
        (
            "interval",
            interval,
            2,
            (1 << INTERVAL_BITS) - 1,
            "choose an interval of 2 to 2^32 - 1 clock ticks, or set timestamp_unit: ns",
        ),
        ("gain of a byte", gain, 100, (1 << 32) - 1, "choose an interval that holds 128 B to 5 GB of the link"),
        ("depth_bytes", depth_bytes, 1, 4095, "give 80 for cells, or the size of a packet"),
        ("framing_bytes", framing_bytes, 0, 255, "bytes that the link adds to an IP packet"),
    )
    return PintPort(interval, (1 << SHARE_BITS) // interval, gain, depth_bytes, framing_bytes)


@dataclass(frozen=True)
class PintLogarithm:
    """The table by which `pint.p4` finds the power of a number from 1 to 2^18 - 1."""

    log_base: float = LOG_BASE
    roles: tuple[str, ...] = (PINT_LOGARITHM,)

    def __post_init__(self) -> None:
        """Raises PlannerError for a base that eight bits or the senders cannot hold."""
        if not MIN_LOG_BASE <= self.log_base <= MAX_LOG_BASE:
            raise PlannerError(
                "log_base",
                f"{self.log_base} is not between {MIN_LOG_BASE} and {MAX_LOG_BASE:g}",
                "give 1.05, whose powers fit the byte, or a larger one",
            )

    def rows(self, switch: str, ports: Mapping[int, str]) -> Iterator[Row]:
        """One row for each cell: the power of its first number (2^-16), and how much more the next one has (2^-26)."""
        del switch, ports
        return iter(_cells(self.log_base))


@lru_cache(maxsize=8)
def _cells(log_base: float) -> tuple[Row, ...]:
    """The rows of a base, which all switches share."""
    bounds = _bounds(log_base)
    rows: list[Row] = []
    for shift in range(NUMBER_BITS - CELL_BITS + 1):
        least = 1 if shift == 0 else 1 << (CELL_BITS - 1)
        for high in range(least, 1 << CELL_BITS):
            power, next_power = (_power(number << shift, bounds) for number in (high, high + 1))
            key = {"cell": (shift << (CELL_BITS - 1)) + high}
            slope = ((next_power - power) << (SLOPE_BITS - POWER_BITS)) >> shift
            rows.append(Row(PINT_LOGARITHM, key, "set_cell", {"power": power, "slope": slope}))
    return tuple(rows)


def _bounds(log_base: float) -> list[float]:
    """The whole powers of the base, by products alone: a logarithm may differ from one machine to another."""
    bounds = [1.0]
    while bounds[-1] <= 1 << NUMBER_BITS:
        bounds.append(bounds[-1] * log_base)
    return bounds


def _power(number: int, bounds: list[float]) -> int:
    """The power of a number, in units of 2^-16, along the chord between two whole powers.

    A switch draws the upper one with the fraction as probability, so the mean of what senders decode is the number.
    """
    whole = bisect_right(bounds, number) - 1
    share = (number - bounds[whole]) / (bounds[whole + 1] - bounds[whole])
    return (whole << POWER_BITS) + int(share * (1 << POWER_BITS))
