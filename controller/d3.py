"""Settings of D3 ports (`d3.p4`): capacity, base rate, length of an epoch, and a table for the division."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from controller.errors import PlannerError, check_ranges
from controller.features import PortName
from controller.roles import TICKS, Row

D3_PORTS, D3_ESTIMATES, D3_RECIPROCALS = "d3.ports", "d3.estimates", "d3.reciprocals"
D3_STAMPED = "d3_stamp.ports"

RECIPROCAL_BITS = 32
MAX_FLOWS = 4095
"""Flows of a port that have a reciprocal; with more there is no fair share (p4src/include/sizes.p4)."""

MAX_CAPACITY_KBPS = (1 << 29) - 1
"""With it the demand of 65535 flows fits its register."""

ROUNDS_PER_EPOCH = 4
"""An epoch holds at least so many round trips, so that a flow that asks each round is never forgotten."""

DEFAULT_ROUNDS_PER_EPOCH = 64
"""Few enough that a port's counters forget lost requests before these take all of the port: of one
flow that loses a tenth of its requests six grants."""

MAX_EPOCH_SHIFT = 47
MAX_DEFAULT_EPOCH_NS = 100_000_000
HEADER_BYTES = 64

ALPHA = Fraction(1, 10)
BETA = Fraction(1)
"""Gains of the capacity estimate as recalled, not verified (docs/algorithms/d3-rcp.md#choice-d3-capacity)."""

FLOOR_SHARE = Fraction(1, 10)
GAIN_BITS = 16
MAX_GAIN = (1 << 31) - 1
SPEED_BITS = 20
MAX_INTERVAL = 1 << 31
MAX_SENT_BYTES = (1 << 32) - 1
LONGEST_INTERVALS = 16


def reciprocals(flows: int = MAX_FLOWS) -> tuple[int, ...]:
    """The value for 1, 2, ... `flows` flows: floor((2^32 - 1) / n).

    `x * value >> 32` is at most x / n, and less than 2 below it for x < 2^32. Raises PlannerError for too many.
    """
    if not 1 <= flows <= MAX_FLOWS:
        raise PlannerError(
            "flows",
            f"{flows} is not between 1 and {MAX_FLOWS}",
            "give a number in this range; the table has one entry per flow",
        )
    return tuple(((1 << RECIPROCAL_BITS) - 1) // n for n in range(1, flows + 1))


@dataclass(frozen=True)
class D3Port:
    """The arguments of `d3.p4`'s `set_port`, in its order."""

    capacity_kbps: int
    base_kbps: int
    epoch_shift: int


def default_epoch_ns(rtt_ns: int, queue_ns: int) -> int:
    """The default epoch; `queue_ns` is how long a request may wait in queues.

    `DEFAULT_ROUNDS_PER_EPOCH` round trips, or as many with full queues as it holds at least, up to 100 ms.
    """
    wanted_ns = max(DEFAULT_ROUNDS_PER_EPOCH * rtt_ns, ROUNDS_PER_EPOCH * (rtt_ns + queue_ns))
    return max(ROUNDS_PER_EPOCH * rtt_ns, min(wanted_ns, MAX_DEFAULT_EPOCH_NS))


def d3_port(
    *,
    capacity_bps: int,
    rtt_ns: int,
    epoch_ns: int = MAX_DEFAULT_EPOCH_NS,
    time_unit_ns: int = 1,
    base_bytes: int = HEADER_BYTES,
) -> D3Port:
    """Plan one port: C_e, one header of `base_bytes` for each round trip, and an epoch of at least `epoch_ns`.

    The epoch is a power of two of the switch's time unit. Raises PlannerError for a value that does not fit.
    """
    for name, value in (("rtt_ns", rtt_ns), ("epoch_ns", epoch_ns), ("time_unit_ns", time_unit_ns)):
        if value < 1:
            raise PlannerError(
                name, f"{value} is not positive", "give a positive value, in the unit that ends the field's name"
            )
    capacity_kbps = capacity_bps // 1000
    if not 1 <= capacity_kbps <= MAX_CAPACITY_KBPS:
        cause = f"{capacity_bps} is not between 1000 and {MAX_CAPACITY_KBPS * 1000}"
        raise PlannerError("capacity_bps", cause, "requests carry rates in kbit/s, so choose a rate in this range")
    if epoch_ns < ROUNDS_PER_EPOCH * rtt_ns:
        cause = f"{epoch_ns} ns is less than {ROUNDS_PER_EPOCH} round trips of {rtt_ns} ns"
        raise PlannerError("epoch_ns", cause, "choose a longer epoch: a flow must send several requests in each")
    # Rounded up: a share below one header a round is none.
    base_kbps = -(-base_bytes * 8 * 1_000_000 // rtt_ns)
    units = -(-epoch_ns // time_unit_ns)
    epoch_shift = (units - 1).bit_length()
    if epoch_shift > MAX_EPOCH_SHIFT:
        raise PlannerError(
            "epoch_ns", f"{epoch_ns} ns exceeds 2^{MAX_EPOCH_SHIFT} clock ticks", "choose a shorter epoch"
        )
    return D3Port(capacity_kbps, min(base_kbps, capacity_kbps), epoch_shift)


def useful_flows(port: D3Port) -> int:
    """Flows up to which a fair share of the whole capacity is not below the base rate; more need no reciprocal."""
    return max(1, min(port.capacity_kbps // max(port.base_kbps, 1), MAX_FLOWS))


@dataclass(frozen=True)
class CapacityEstimate:
    """The arguments of `capacity_estimate.p4`'s `set_estimate`, in its order."""

    floor_kbps: int
    interval: int
    bytes_per_time: int
    load_gain: int
    queue_gain: int
    bytes_per_depth: int
    framing_bytes: int

    def next_capacity_kbps(
        self, estimate_kbps: int, capacity_kbps: int, elapsed: int, sent_bytes: int, depth_before: int, depth: int
    ) -> int:
        """C_e after an interval: the P4 program's own arithmetic, bit for bit."""
        elapsed = min(elapsed, LONGEST_INTERVALS * self.interval)
        queued = depth * self.bytes_per_depth
        offered = max(sent_bytes + queued - depth_before * self.bytes_per_depth, 0)
        carried = (elapsed * self.bytes_per_time) >> SPEED_BITS
        up = self.load_gain * carried
        down = min(self.load_gain * offered + self.queue_gain * queued, (1 << 64) - 1)
        rise, fall = max(up - down, 0) >> GAIN_BITS, max(down - up, 0) >> GAIN_BITS
        return max(min(max(estimate_kbps + rise - fall, 0), capacity_kbps), self.floor_kbps)


def capacity_estimate(
    *,
    rate_bps: int,
    interval_ns: int,
    depth_bytes: int,
    alpha: Fraction = ALPHA,
    beta: Fraction = BETA,
    floor_share: Fraction = FLOOR_SHARE,
    framing_bytes: int = 0,
    time_unit_ns: int = 1,
) -> CapacityEstimate:
    """Plan C_e of one port (docs/algorithms/d3-rcp.md#d3-switch); `depth_bytes` is the unit of queue depths.

    Once each interval C_e changes by alpha (C - y/T) - beta q/T. Raises PlannerError for a value that does not fit.
    """
    for name, value in (("rate_bps", rate_bps), ("interval_ns", interval_ns), ("time_unit_ns", time_unit_ns)):
        if value < 1:
            raise PlannerError(
                name, f"{value} is not positive", "give a positive value, in the unit that ends the field's name"
            )
    # One byte in an interval is so many kbit/s.
    kbps_per_byte = Fraction(8_000_000, interval_ns)
    plan = CapacityEstimate(
        floor_kbps=int(rate_bps // 1000 * floor_share),
        interval=interval_ns // time_unit_ns,
        bytes_per_time=round(Fraction(rate_bps * time_unit_ns, 8_000_000_000) * (1 << SPEED_BITS)),
        load_gain=round(alpha * kbps_per_byte * (1 << GAIN_BITS)),
        queue_gain=round(beta * kbps_per_byte * (1 << GAIN_BITS)),
        bytes_per_depth=depth_bytes,
        framing_bytes=framing_bytes,
    )
    check_ranges(
        ("load gain", plan.load_gain, 100, MAX_GAIN, "choose another interval or alpha"),
        ("queue gain", plan.queue_gain, 0, MAX_GAIN, "choose another interval or beta"),
        ("interval", plan.interval, 1, MAX_INTERVAL, "choose an interval of at most 2^31 clock ticks"),
        (
            "bytes for one unit of time",
            plan.bytes_per_time,
            100,
            MAX_SENT_BYTES,
            "choose a rate that the fixed point can hold",
        ),
        ("depth_bytes", depth_bytes, 1, 4095, "give 80 for cells, or the size of a packet"),
        ("framing_bytes", framing_bytes, 0, 255, "bytes that the link adds to an IP packet"),
        ("floor_share", plan.floor_kbps, 1, rate_bps // 1000, "give a fraction of the capacity of at most 1"),
    )
    return plan


@dataclass(frozen=True)
class D3PortPlan:
    """A port that allots rates; without an estimate its capacity does not follow load and queue."""

    port: D3Port
    estimate: CapacityEstimate | None = None
    is_clamped: bool = False
    """Whether a grant is never more than is left, which the published rule allows."""


@dataclass(frozen=True)
class D3Settings:
    """Ports of `d3.p4`; a port that is not named allots nothing."""

    ports: Mapping[PortName, D3PortPlan]
    roles: tuple[str, ...] = (D3_PORTS, D3_ESTIMATES, D3_RECIPROCALS)

    def rows(self, switch: str, ports: Mapping[int, str]) -> Iterator[Row]:
        """A row for each port, one for each estimate, and the reciprocals."""
        plans = {number: self.ports[switch, peer] for number, peer in ports.items() if (switch, peer) in self.ports}
        for number, plan in plans.items():
            action = "set_port" if plan.is_clamped else "set_port_as_published"
            yield Row(D3_PORTS, {"egress_port": number}, action, vars(plan.port))
            if plan.estimate is not None:
                args = vars(plan.estimate)
                yield Row(D3_ESTIMATES, {"egress_port": number}, "set_estimate", args, units={"interval": TICKS})
        shares = max((useful_flows(plan.port) for plan in plans.values()), default=0)
        for flows, value in enumerate(reciprocals(shares) if shares else (), start=1):
            yield Row(D3_RECIPROCALS, {"flows": flows}, "set_reciprocal", {"value": value})


@dataclass(frozen=True)
class D3Share:
    """A port of `d3_stamp.p4` before a controller's first reading: desires up to the capacity, and the base rate."""

    rate_kbps: int
    most_kbps: int
    fair_kbps: int
    number: int = 0
