"""Settings of DualPI2 ports (`dualpi2.p4`): the PI controller's gains in fixed point, times in the switch's unit.

Source: docs/algorithms/prague.md#dualpi2-parameters, RFC9332.
"""

from dataclasses import dataclass
from fractions import Fraction

from controller.errors import PlannerError, check_ranges
from controller.roles import TICKS

DUALPI2_PORTS = "dualpi2.ports"
DUALPI2_UNITS = {"target": TICKS, "interval": TICKS, "l4s_step": TICKS}
GAIN_BITS = 48
TARGET_NS = 15_000_000
INTERVAL_NS = 16_000_000
ALPHA_HZ = Fraction(16, 100)
BETA_HZ = Fraction(32, 10)
COUPLING_SHIFT = 1
STEP_NS = 1_000_000
STEP_PKTS = 2
"""The shortest step in packet times of the link: a packet always waits for the one before it."""
_MAX_32 = (1 << 32) - 1


@dataclass(frozen=True)
class DualPi2Port:
    """The arguments of `dualpi2.p4`'s `set_port`, in its order."""

    target: int
    interval: int
    alpha: int
    beta: int
    decay: int
    l4s_step: int
    coupling_shift: int

    def next_base(self, base: int, delay: int, before: int, idle: int = 0) -> int:
        """The base probability after a step, in units of 2^-32: the P4 program's own arithmetic, bit for bit."""
        up = min((self.alpha + self.beta) * delay, (1 << 64) - 1)
        down = min(self.alpha * self.target + self.beta * before + self.decay * idle, (1 << 64) - 1)
        moved = base + (max(up - down, 0) >> 16) - (max(down - up, 0) >> 16)
        return min(max(moved, 0), _MAX_32 >> self.coupling_shift)


def dualpi2_port(
    *,
    rate_bps: int,
    packet_bytes: int,
    target_ns: int = TARGET_NS,
    interval_ns: int = INTERVAL_NS,
    alpha_hz: Fraction = ALPHA_HZ,
    beta_hz: Fraction = BETA_HZ,
    step_ns: int = STEP_NS,
    coupling_shift: int = COUPLING_SHIFT,
    time_unit_ns: int = 1,
) -> DualPi2Port:
    """Plan one port; `packet_bytes` are those of a full packet. Raises PlannerError for a value that does not fit."""
    for name, value in (("rate_bps", rate_bps), ("target_ns", target_ns), ("interval_ns", interval_ns)):
        if value < 1:
            raise PlannerError(
                name, f"{value} is not positive", "give a positive value, in the unit that ends the field's name"
            )
    unit_s = Fraction(time_unit_ns, 10**9)
    alpha, beta = (round(gain * unit_s * (1 << GAIN_BITS)) for gain in (alpha_hz, beta_hz))
    target, interval = target_ns // time_unit_ns, interval_ns // time_unit_ns
    least_step_ns = STEP_PKTS * packet_bytes * 8 * 10**9 // rate_bps
    step = max(step_ns, least_step_ns) // time_unit_ns
    check_ranges(
        ("target", target, 1, _MAX_32, "choose a target of at most 4 s"),
        ("interval", interval, 1, _MAX_32, "choose an interval of at most 4 s"),
        ("alpha", alpha, 1, _MAX_32, "choose a gain that the fixed point can hold"),
        ("beta", beta, 1, _MAX_32, "choose a gain that the fixed point can hold"),
        ("step", step, 1, _MAX_32, "choose a step of at most 4 s"),
        ("coupling_shift", coupling_shift, 0, 8, "log2 of the coupling factor k"),
    )
    decay = round(Fraction(alpha * target, interval))
    return DualPi2Port(target, interval, alpha, beta, min(decay, _MAX_32), step, coupling_shift)
