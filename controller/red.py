"""RED curves for `ecn_red.p4`: K_min, K_max and the slope that its one multiplication needs.

Source: docs/algorithms/marking.md#red.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from controller.errors import PlannerError
from controller.features import PortName
from controller.roles import DEPTH, Row
from controller.units import CELL_BYTES

CURVES = "ecn_red.curves"
CURVE_UNITS = {"k_min": DEPTH, "k_max": DEPTH}
RED_STEPS = "ecn_red_steps.steps"
WRED_FILTER = "ecn_wred.filter"
"""The chip's own filter in `ecn_wred.p4`, which only BF Runtime sets."""
WRED_P_UNIT = 1_000_000
"""The value of `p_max` for a certain mark."""

SLOPE_BITS = 32
"""The slope is in units of 2^-32 for one unit of the queue's depth."""

MAX_DEPTH = (1 << 19) - 1
"""Largest depth of the P4 programs' `queue_depth_t`."""

REFERENCE_RATE_BPS = 25_000_000_000
"""The thresholds of HPCC's set-ups are given for this rate and grow with it."""

DEPLOYMENT_RATE_BPS = 40_000_000_000
"""The rate for which DCQCN's paper gives its thresholds."""


@dataclass(frozen=True)
class PublishedCurve:
    """A curve as its source gives it."""

    k_min_bytes: int
    k_max_bytes: int
    p_max: Fraction


SCRIPT = PublishedCurve(100_000, 400_000, Fraction(1, 5))
"""DCQCN's curve in HPCC's experiments, for each 25 Gb/s (Li et al., SIGCOMM 2019; docs/algorithms/marking.md#red)."""

DEPLOYMENT = PublishedCurve(5_000, 200_000, Fraction(1, 100))
"""DCQCN's published curve for 40 Gb/s (Zhu et al., SIGCOMM 2015; docs/algorithms/marking.md#red, recalled)."""


@dataclass(frozen=True)
class RedCurve:
    """A port's curve, depths in the traffic manager's unit: the arguments of `set_curve`.

    `slope` is P_max / (K_max - K_min) in units of 2^-32, rounded down.
    """

    k_min: int
    k_max: int
    slope: int

    def threshold(self, depth: int) -> int:
        """How many of 65536 packets that leave `depth` behind them are marked: the P4 program's arithmetic."""
        if depth <= self.k_min:
            return 0
        if depth > self.k_max:
            return 1 << 16
        return ((depth - self.k_min) * self.slope) >> 16


MAX_STEPS = 32
"""Steps of a curve if there is room for them."""

STEPS_SIZE = 1024
"""Entries of the table of steps, over all ports of a switch (p4src/include/sizes.p4)."""


@dataclass(frozen=True)
class RedStep:
    """Depths from `low` to `high` and how many of 65536 packets are marked there; None marks all."""

    low: int
    high: int
    probability: int | None


def red_steps(curve: RedCurve, ports: int) -> tuple[RedStep, ...]:
    """A curve in steps of about equal width, as many as those of other ports leave room for, and what is above it.

    Each has the probability of its middle. Raises PlannerError for a switch with too many ports.
    """
    room = STEPS_SIZE // ports - 1
    if room < 1:
        cause = f"{ports} ports need two entries each, but the table has only {STEPS_SIZE}"
        raise PlannerError("ports", cause, "increase RED_STEPS_SIZE in p4src/include/sizes.p4")
    width = curve.k_max - curve.k_min
    count = min(MAX_STEPS, room, width)
    ends = [curve.k_min + width * at // count for at in range(count + 1)]
    steps = [
        RedStep(below + 1, end, (curve.threshold(below + 1) + curve.threshold(end)) // 2)
        for below, end in pairwise(ends)
    ]
    return (*steps, RedStep(curve.k_max + 1, MAX_DEPTH, None)) if curve.k_max < MAX_DEPTH else tuple(steps)


def red_curve(k_min_bytes: int, k_max_bytes: int, p_max: Fraction, depth_bytes: int = CELL_BYTES) -> RedCurve:
    """Turn thresholds in bytes into the traffic manager's unit of `depth_bytes`; both are rounded down.

    Raises PlannerError for a curve that falls, has no width in that unit, or does not fit the switch.
    """
    if depth_bytes < 1:
        raise PlannerError(
            "depth_bytes", f"{depth_bytes} is not positive", "give 80 for cells, or the size of a packet"
        )
    if not 0 < p_max <= 1:
        raise PlannerError("p_max", f"{p_max} is not between 0 and 1", "give the marking probability at K_max")
    k_min, k_max = k_min_bytes // depth_bytes, k_max_bytes // depth_bytes
    if not 0 <= k_min <= MAX_DEPTH or not 0 <= k_max <= MAX_DEPTH:
        cause = f"{k_min_bytes} and {k_max_bytes} B are not between 0 and {MAX_DEPTH * depth_bytes}"
        raise PlannerError("k_min_bytes, k_max_bytes", cause, "give queue lengths that the switch can represent")
    if k_min >= k_max:
        cause = f"{k_max_bytes} B is not greater than K_min {k_min_bytes} B in units of {depth_bytes} B"
        raise PlannerError("k_max_bytes", cause, "for a single threshold, use ecn_dual.p4")
    slope = int(p_max * (1 << SLOPE_BITS) / (k_max - k_min))
    return RedCurve(k_min, k_max, min(slope, (1 << SLOPE_BITS) - 1))


def hpcc_script_curve(rate_bps: int, depth_bytes: int = CELL_BYTES) -> RedCurve:
    """DCQCN's curve in HPCC's experiments for a link of this rate."""
    scale = Fraction(rate_bps, REFERENCE_RATE_BPS)
    return red_curve(int(SCRIPT.k_min_bytes * scale), int(SCRIPT.k_max_bytes * scale), SCRIPT.p_max, depth_bytes)


@dataclass(frozen=True)
class RedStepsSettings:
    """Curves of `ecn_red_steps.p4`, in steps; a port that is not named never marks."""

    curves: Mapping[PortName, RedCurve]
    roles: tuple[str, ...] = (RED_STEPS,)

    def rows(self, switch: str, ports: Mapping[int, str]) -> Iterator[Row]:
        """One row for each step of each port with a curve."""
        found = {number: self.curves.get((switch, peer)) for number, peer in ports.items()}
        curves = {number: curve for number, curve in found.items() if curve is not None}
        for number, curve in curves.items():
            for step in red_steps(curve, len(curves)):
                key = {"egress_port": number, "queue_depth": (step.low, step.high)}
                # No two steps of a port overlap: one priority does for all.
                if step.probability is None:
                    yield Row(RED_STEPS, key, "set_always", priority=1)
                else:
                    yield Row(RED_STEPS, key, "set_probability", {"p": step.probability}, priority=1)


@dataclass(frozen=True)
class WredSettings:
    """Curves of `ecn_wred.p4`, whose filter marks every packet from `k_max` on; only BF Runtime can write them."""

    curves: Mapping[PortName, RedCurve]
    roles: tuple[str, ...] = (WRED_FILTER,)

    def rows(self, switch: str, ports: Mapping[int, str]) -> Iterator[Row]:
        """One cell for each port with a curve."""
        for number, peer in ports.items():
            if (curve := self.curves.get((switch, peer))) is not None:
                p_max = round(curve.slope * (curve.k_max - curve.k_min) * WRED_P_UNIT / (1 << SLOPE_BITS))
                args = {"k_min": curve.k_min, "k_max": curve.k_max, "p_max": p_max}
                yield Row(WRED_FILTER, {"egress_port": number}, "set_curve", args)
