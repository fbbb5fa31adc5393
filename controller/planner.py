"""Chooses the thresholds: all readings of the paper's bound on K side by side, and the one that a rule picks.

The printed equation 6 halves the window twice and comes out negative for the paper's own numbers (spec 6.5), so a
rule decides: `halve_once` (half of the peak window, one round earlier), `quarter_buffer`, or `fixed`. Warnings are
data: thresholds at which marks vanish are allowed, but never silently.
"""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from math import floor
from typing import Any

from controller.errors import PlannerError
from controller.model import Bottleneck, argmax_window_pkts, utilisation

# The paper's K_dc, DCTCP's own threshold at 10 Gb/s (spec 6.1).
DEFAULT_K_DC_PKTS = 65
# Width of `queue_depth_t` in the P4 programs.
MAX_THRESHOLD_PKTS = (1 << 19) - 1


class KRule(StrEnum):
    """How K is chosen."""

    HALVE_ONCE = "halve_once"
    FIXED = "fixed"
    QUARTER_BUFFER = "quarter_buffer"


@dataclass(frozen=True)
class Reading:
    """One reading of the bound on K: its name, formula, value in packets, and whether K can be taken from it."""

    name: str
    formula: str
    k_pkts: float
    usable: bool


@dataclass(frozen=True)
class Thresholds:
    """What a port is told: level 1 above `k_pkts`, level 2 above `k_dc_pkts`, in packets, the arriving one counted."""

    k_pkts: int
    k_dc_pkts: int

    def __post_init__(self) -> None:
        """Raise PlannerError for a threshold that the switch's 19-bit depth cannot hold."""
        for name, value in (("k_pkts", self.k_pkts), ("k_dc_pkts", self.k_dc_pkts)):
            if not 0 <= value <= MAX_THRESHOLD_PKTS:
                cause = f"{value} is not between 0 and {MAX_THRESHOLD_PKTS}"
                raise PlannerError(name, cause, "give a queue length in packets")


@dataclass(frozen=True)
class ThresholdPlan:
    """The planner's answer: the model's figures, every reading, the thresholds chosen and what to beware of."""

    bottleneck: Bottleneck
    peak_window_pkts: float
    peak_utilisation: float
    readings: tuple[Reading, ...]
    rule: KRule
    thresholds: Thresholds
    warnings: tuple[str, ...]

    def to_plain(self) -> dict[str, Any]:
        """Plain data for JSON; units end the names."""
        at = self.bottleneck
        return {
            "buffer_pkts": at.buffer_pkts,
            "rate_bps": at.rate_bps,
            "rtt_ns": at.rtt_ns,
            "rto_ns": at.rto_ns,
            "packet_bytes": at.packet_bytes,
            "senders": at.senders,
            "bdp_pkts": at.bdp_pkts,
            "corner_window_pkts": at.corner_window_pkts,
            "peak_window_pkts": self.peak_window_pkts,
            "peak_utilisation": self.peak_utilisation,
            "readings": [
                {"name": r.name, "formula": r.formula, "k_pkts": r.k_pkts, "usable": r.usable} for r in self.readings
            ],
            "k_rule": self.rule.value,
            "k_pkts": self.thresholds.k_pkts,
            "k_dc_pkts": self.thresholds.k_dc_pkts,
            "warnings": list(self.warnings),
        }


def plan_thresholds(
    at: Bottleneck,
    *,
    rule: KRule = KRule.HALVE_ONCE,
    fixed_k_pkts: int | None = None,
    k_dc_pkts: int = DEFAULT_K_DC_PKTS,
) -> ThresholdPlan:
    """Compute all readings and choose K by `rule`; `fixed_k_pkts` goes with `fixed` and only with it.

    Raises PlannerError where the rule gives no threshold.
    """
    peak = argmax_window_pkts(at)
    readings = k_readings(at, peak)
    thresholds = Thresholds(choose_k(at, rule, fixed_k_pkts), k_dc_pkts)
    warnings = threshold_warnings(thresholds, at.buffer_pkts)
    return ThresholdPlan(at, peak, utilisation(at, peak), readings, rule, thresholds, warnings)


def choose_k(at: Bottleneck, rule: KRule, fixed_k_pkts: int | None) -> int:
    """K by the rule, rounded down because equation 6 is an upper bound; raises PlannerError where it gives none."""
    if (rule is KRule.FIXED) != (fixed_k_pkts is not None):
        cause = "k_rule fixed needs a value" if rule is KRule.FIXED else f"k_rule {rule.value} takes no value"
        raise PlannerError("k_pkts", cause, "give k_pkts together with k_rule fixed, or neither")
    if fixed_k_pkts is not None:
        return fixed_k_pkts
    free = at.buffer_pkts - at.bdp_ratio
    k = free / 2 if rule is KRule.HALVE_ONCE else Fraction(at.buffer_pkts, 4)
    if k < 1:
        raise PlannerError(
            "buffer_pkts",
            f"k_rule {rule.value} gives K = {float(k):.1f} for a buffer of {at.buffer_pkts} packets "
            f"and a bandwidth-delay product of {at.bdp_pkts:.1f}",
            "use a larger buffer, or k_rule fixed with a K of your own",
        )
    return floor(k)


def k_readings(at: Bottleneck, peak_window_pkts: float) -> tuple[Reading, ...]:
    """The readings of equation 6 (spec 6.5), the last from the numeric peak instead of a formula."""
    b, bdp = at.buffer_pkts, at.bdp_ratio
    values = (
        ("printed", "(B + BDP)/4 - BDP", (b + bdp) / 4 - bdp),
        ("halve_once", "(B - BDP)/2", (b - bdp) / 2),
        ("no_bdp", "(B + BDP)/4", (b + bdp) / 4),
        ("quarter_buffer", "B/4", Fraction(b, 4)),
        ("argmax", "n w*/2 - BDP, w* = argmax G", at.senders * peak_window_pkts / 2 - bdp),
    )
    return tuple(Reading(name, formula, float(k), k >= 1) for name, formula, k in values)


def threshold_warnings(thresholds: Thresholds, buffer_pkts: int) -> tuple[str, ...]:
    """What thresholds mean for marks where it is not what one expects; the buffer is that of the port.

    A packet is enqueued behind at most `buffer_pkts - 1` others, so a threshold at or above the buffer is never met.
    """
    k, k_dc = thresholds.k_pkts, thresholds.k_dc_pkts
    found: list[str] = []
    if k >= buffer_pkts and k_dc >= buffer_pkts:
        cause = f"K {k} and K_dc {k_dc} are not below the buffer of {buffer_pkts} packets"
        found.append(f"{cause}: no packet is ever marked")
    elif k_dc >= buffer_pkts:
        found.append(f"K_dc {k_dc} is not below the buffer of {buffer_pkts} packets: level 2 never occurs")
    if k_dc <= k and k_dc < buffer_pkts:
        found.append(f"K_dc {k_dc} is not above K {k}: level 1 never occurs")
    if k == 0 or k_dc == 0:
        found.append("a threshold of 0 marks every packet")
    return tuple(found)
