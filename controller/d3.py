"""What D3 ports are told (`d3.p4`): capacity, base rate, length of an epoch, and a table for the division."""

from dataclasses import dataclass

from controller.errors import PlannerError

RECIPROCAL_BITS = 32
MAX_FLOWS = 4095
"""Flows of a port that have a reciprocal; beyond it there is no fair share (p4src/include/sizes.p4)."""

MAX_CAPACITY_KBPS = (1 << 29) - 1
"""With it the demand of 65535 flows fits its register."""

ROUNDS_PER_EPOCH = 4
"""An epoch holds at least so many round trips, so that a flow that asks each round is never forgotten."""

MAX_EPOCH_SHIFT = 47
DEFAULT_EPOCH_NS = 100_000_000
HEADER_BYTES = 64


def reciprocals(flows: int = MAX_FLOWS) -> tuple[int, ...]:
    """The value for 1, 2, ... `flows` flows: floor((2^32 - 1) / n).

    `x * value >> 32` is at most x / n, and less than 2 below it for x < 2^32. Raises PlannerError for too many.
    """
    if not 1 <= flows <= MAX_FLOWS:
        raise PlannerError("flows", f"{flows} is not between 1 and {MAX_FLOWS}", "the table has that many entries")
    return tuple(((1 << RECIPROCAL_BITS) - 1) // n for n in range(1, flows + 1))


@dataclass(frozen=True)
class D3Port:
    """The arguments of `d3.p4`'s `set_port`, in its order."""

    capacity_kbps: int
    base_kbps: int
    epoch_shift: int


def d3_port(
    *,
    capacity_bps: int,
    rtt_ns: int,
    epoch_ns: int = DEFAULT_EPOCH_NS,
    time_unit_ns: int = 1,
    base_bytes: int = HEADER_BYTES,
) -> D3Port:
    """Plan one port: C_e, one header of `base_bytes` for each round trip, and an epoch of at least `epoch_ns`.

    The epoch is a power of two of the switch's time unit. Raises PlannerError for a value that does not fit.
    """
    for name, value in (("rtt_ns", rtt_ns), ("epoch_ns", epoch_ns), ("time_unit_ns", time_unit_ns)):
        if value < 1:
            raise PlannerError(name, f"{value} is not positive", "the unit is the end of the name")
    capacity_kbps = capacity_bps // 1000
    if not 1 <= capacity_kbps <= MAX_CAPACITY_KBPS:
        cause = f"{capacity_bps} is not between 1000 and {MAX_CAPACITY_KBPS * 1000}"
        raise PlannerError("capacity_bps", cause, "requests carry rates in kbit/s")
    if epoch_ns < ROUNDS_PER_EPOCH * rtt_ns:
        cause = f"{epoch_ns} ns hold fewer than {ROUNDS_PER_EPOCH} round trips of {rtt_ns} ns"
        raise PlannerError("epoch_ns", cause, "a flow has to ask several times in an epoch")
    # Rounded up: a share below one header a round is none.
    base_kbps = -(-base_bytes * 8 * 1_000_000 // rtt_ns)
    units = -(-epoch_ns // time_unit_ns)
    epoch_shift = (units - 1).bit_length()
    if epoch_shift > MAX_EPOCH_SHIFT:
        raise PlannerError("epoch_ns", f"{epoch_ns} ns are beyond 2^{MAX_EPOCH_SHIFT} units", "choose a shorter epoch")
    return D3Port(capacity_kbps, min(base_kbps, capacity_kbps), epoch_shift)
