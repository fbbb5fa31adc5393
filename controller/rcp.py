"""Settings of RCP ports (`rcp.p4`), and its step for switches that cannot multiply.

R <- R (1 + (T/d) (alpha (C - y/T) - beta q/d) / C), with y what arrived in the interval T, q the queue, d the mean
round-trip time. The gains are multipliers in units of 2^-40 for each byte.

Source: docs/algorithms/d3-rcp.md#rcp, classic.
"""

from dataclasses import dataclass
from fractions import Fraction

from controller.errors import PlannerError, check_ranges
from controller.roles import TICKS

RCP_PORTS, RCP_STAMPED = "rcp.ports", "rcp_stamp.ports"
RCP_UNITS = {"interval": TICKS}
ALPHA = Fraction(2, 5)
BETA = Fraction(2, 5)
GAIN_BITS = 40
MAX_GAIN = (1 << 31) - 1
SPEED_BITS = 20
MAX_INTERVAL = 1 << 31
MAX_SENT_BYTES = (1 << 32) - 1
RATE_BITS = 16
MOST_RISE = 1 << 16
MOST_FALL = 1 << 15


@dataclass(frozen=True)
class RcpPort:
    """The arguments of `rcp.p4`'s `set_port`, in its order."""

    capacity_kbps: int
    initial_kbps: int
    least_kbps: int
    interval: int
    bytes_per_time: int
    load_gain: int
    queue_gain: int
    bytes_per_depth: int
    framing_bytes: int

    def next_rate_kbps(self, rate_kbps: int, elapsed: int, sent_bytes: int, depth_before: int, depth: int) -> int:
        """The rate after an interval: the P4 program's own arithmetic, bit for bit.

        For a switch that cannot multiply: the controller reads `sent_bytes` and the depths and installs the result
        with `set_fixed_rate`. `elapsed` is in the switch's unit of time, depths in the traffic manager's.
        """
        elapsed = min(elapsed, 2 * self.interval)
        queued = depth * self.bytes_per_depth
        offered = max(sent_bytes + queued - depth_before * self.bytes_per_depth, 0)
        carried = (elapsed * self.bytes_per_time) >> SPEED_BITS
        up = self.load_gain * carried
        down = min(self.load_gain * offered + self.queue_gain * queued, (1 << 64) - 1)
        shift = GAIN_BITS - RATE_BITS
        rise = min(max(up - down, 0) >> shift, MOST_RISE)
        fall = min(max(down - up, 0) >> shift, MOST_FALL)
        rate = rate_kbps + ((rate_kbps * rise) >> RATE_BITS) - ((rate_kbps * fall) >> RATE_BITS)
        return max(min(rate, self.capacity_kbps), self.least_kbps)


def rcp_port(
    *,
    rate_bps: int,
    interval_ns: int,
    rtt_ns: int,
    depth_bytes: int,
    initial_share: Fraction = Fraction(1, 20),
    least_kbps: int = 1,
    alpha: Fraction = ALPHA,
    beta: Fraction = BETA,
    framing_bytes: int = 0,
    time_unit_ns: int = 1,
) -> RcpPort:
    """Plan one port; `depth_bytes` is the unit of queue depths. Raises PlannerError for a value that does not fit."""
    for name, value in (("rate_bps", rate_bps), ("interval_ns", interval_ns), ("rtt_ns", rtt_ns)):
        if value < 1:
            raise PlannerError(
                name, f"{value} is not positive", "give a positive value, in the unit that ends the field's name"
            )
    interval_bytes = Fraction(rate_bps * interval_ns, 8_000_000_000)
    ratio = Fraction(interval_ns, rtt_ns)
    interval = interval_ns // time_unit_ns
    load_gain = round(alpha * ratio / interval_bytes * (1 << GAIN_BITS))
    queue_gain = round(beta * ratio * ratio / interval_bytes * (1 << GAIN_BITS))
    speed = round(Fraction(rate_bps * time_unit_ns, 8_000_000_000) * (1 << SPEED_BITS))
    capacity_kbps = rate_bps // 1000
    initial_kbps = max(int(capacity_kbps * initial_share), least_kbps)
    check_ranges(
        ("load gain", load_gain, 100, MAX_GAIN, "choose another interval: it contains too few or too many bytes"),
        ("queue gain", queue_gain, 1, MAX_GAIN, "choose an interval closer to the round-trip time"),
        ("interval", interval, 1, MAX_INTERVAL, "choose an interval of at most 2^31 clock ticks"),
        ("bytes of an interval", int(interval_bytes), 1, MAX_SENT_BYTES // 2, "choose a shorter interval"),
        (
            "bytes for one unit of time",
            speed,
            100,
            MAX_SENT_BYTES,
            "choose a rate that the fixed point can hold",
        ),
        ("depth_bytes", depth_bytes, 1, 4095, "give 80 for cells, or the size of a packet"),
        ("framing_bytes", framing_bytes, 0, 255, "bytes that the link adds to an IP packet"),
        ("initial_share", initial_kbps, 1, capacity_kbps, "give a fraction of the capacity of at most 1"),
    )
    return RcpPort(
        capacity_kbps, initial_kbps, least_kbps, interval, speed, load_gain, queue_gain, depth_bytes, framing_bytes
    )


@dataclass(frozen=True)
class RcpStamp:
    """A port of `rcp_stamp.p4`, with the first rate."""

    fair_kbps: int
    framing_bytes: int
