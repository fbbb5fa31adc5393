"""Settings of INT ports (`int_hpcc.p4`, `int_md.p4`): line-rate codes, units, bounds.

Source: docs/algorithms/int.md#hpcc-int.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from controller.errors import PlannerError
from controller.units import CELL_BYTES

INT_PORTS = "int_hpcc.ports"

RATE_CODES: Mapping[int, int] = {
    0: 25_000_000_000,
    1: 50_000_000_000,
    2: 100_000_000_000,
    3: 200_000_000_000,
    4: 400_000_000_000,
    5: 1_000_000_000,
    6: 10_000_000_000,
    7: 40_000_000_000,
    8: 800_000_000_000,
}
"""Line rate in bit/s of each code; the first five are those of HPCC's simulator. Codes 9 to 15 are a network's own."""

FIRST_OWN_CODE = 9
LAST_CODE = 15
REFERENCE_RATE_BPS = 25_000_000_000
MAX_UNIT_SHIFT = 5
"""Beyond it the wrap of the switch's 32-bit byte counter would show in records."""

DEFAULT_HOPS = 5
MAX_HOPS = 8
MAX_SWITCH_ID = (1 << 12) - 1


def rate_codes(rates_bps: Iterable[int]) -> dict[int, int]:
    """The network's table, code to bit/s: the common codes, and codes from 9 for other rates in ascending order.

    Raises PlannerError when more than seven rates have no common code.
    """
    table = dict(RATE_CODES)
    own = sorted(set(rates_bps) - set(table.values()))
    if len(own) > LAST_CODE - FIRST_OWN_CODE + 1:
        raise PlannerError(
            "rates_bps",
            f"{len(own)} link rates have no predefined code, but only 7 codes are free",
            "use fewer different link rates",
        )
    table.update(enumerate(own, FIRST_OWN_CODE))
    return table


def unit_shift(rates_bps: Iterable[int]) -> int:
    """Log2 of the multiplier m of a network: fastest of the rates over 25 Gb/s, rounded up to a power of two, 1 to 32.

    HPCC's simulator takes the hosts' rate (docs/algorithms/int.md#hpcc-int):
    coarser units hide what a packet more or less means.
    """
    fastest = max(rates_bps, default=REFERENCE_RATE_BPS)
    shift = 0
    while (REFERENCE_RATE_BPS << shift) < fastest and shift < MAX_UNIT_SHIFT:
        shift += 1
    return shift


def scattered_id(number: int) -> int:
    """The id of the network's switch `number` (1 to 4095), a bijection of 12 bits.

    Ids in a row have equal exclusive ors on 1 to 2 % of the pairs of ways through a fat-tree; scattered ids have them
    on one pair in 4,096. Raises PlannerError for a number that 12 bits cannot hold.

    Source: docs/algorithms/int.md#path-id.
    """
    if not 1 <= number <= MAX_SWITCH_ID:
        raise PlannerError(
            "switches",
            f"switch number {number} does not fit in an id of 12 bits",
            f"use at most {MAX_SWITCH_ID} switches",
        )
    scattered = number
    for factor, shift in ((0x9E5, 6), (0x6D3, 5)):
        scattered = scattered * factor & MAX_SWITCH_ID
        scattered ^= scattered >> shift
    return scattered * 0xB2D & MAX_SWITCH_ID


@dataclass(frozen=True)
class IntPort:
    """The arguments of `int_hpcc.p4`'s `set_port`, in its order."""

    switch_id: int
    rate_code: int
    unit_shift: int
    cells_per_depth: int
    framing_bytes: int
    max_hops: int


def int_port(
    *,
    switch_id: int,
    rate_bps: int,
    network_rates_bps: Iterable[int],
    depth_bytes: int = CELL_BYTES,
    framing_bytes: int = 0,
    max_hops: int = DEFAULT_HOPS,
    host_rates_bps: Iterable[int] = (),
) -> IntPort:
    """Plan one port of a network whose links have `network_rates_bps`; `depth_bytes` is the unit of queue depths.

    The units of the records follow from `host_rates_bps`, and without them from all rates.

    A queue that is counted in packets gets the cells of a packet of `depth_bytes`: an estimate. Raises PlannerError
    for a value that its field cannot hold.
    """
    rates = set(network_rates_bps) | {rate_bps}
    codes = {rate: code for code, rate in rate_codes(rates).items()}
    cells = -(-depth_bytes // CELL_BYTES)
    for name, value, least, most in (
        ("switch_id", switch_id, 0, MAX_SWITCH_ID),
        ("depth_bytes", depth_bytes, 1, 255 * CELL_BYTES),
        ("framing_bytes", framing_bytes, 0, 255),
        ("max_hops", max_hops, 0, MAX_HOPS),
    ):
        if not least <= value <= most:
            raise PlannerError(name, f"{value} is not between {least} and {most}", "see docs/reference/wire-format.md")
    return IntPort(switch_id, codes[rate_bps], unit_shift(set(host_rates_bps) or rates), cells, framing_bytes, max_hops)
