"""The effective-utilisation model of the GST paper (docs/algorithms/slow-start.md#gst-model, its equations 2 to 6).

n senders with window w share one bottleneck: capacity C, base round-trip time RTT, buffer of B packets,
BDP = C * RTT in packets. A flow that loses its whole window waits for a timeout. All windows are real numbers of
packets; `n w` is n times w. Where the printed equations contradict themselves the corrected form is used and the
printed one kept next to it under the name `..._printed`, so that the difference can be shown.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import isfinite, log

from controller.errors import PlannerError
from topos.graph import MAX_RATE_BPS

# Beyond these a value is in the wrong unit; they also keep every power below finite.
MAX_BUFFER_PKTS = (1 << 19) - 1
MAX_TIME_NS = 3_600_000_000_000
MAX_PACKET_BYTES = 65_535
MAX_SENDERS = 100_000


@dataclass(frozen=True)
class Bottleneck:
    """The parameters of the model; raises PlannerError for a value outside its range."""

    buffer_pkts: int
    rate_bps: int
    rtt_ns: int
    packet_bytes: int
    senders: int
    rto_ns: int = 200_000_000

    def __post_init__(self) -> None:
        """Check every range, and that a timeout is longer than a round trip."""
        _in_range("buffer_pkts", self.buffer_pkts, MAX_BUFFER_PKTS)
        _in_range("rate_bps", self.rate_bps, MAX_RATE_BPS)
        _in_range("rtt_ns", self.rtt_ns, MAX_TIME_NS)
        _in_range("packet_bytes", self.packet_bytes, MAX_PACKET_BYTES)
        _in_range("senders", self.senders, MAX_SENDERS)
        _in_range("rto_ns", self.rto_ns, MAX_TIME_NS)
        if self.rto_ns <= self.rtt_ns:
            raise PlannerError(
                "rto_ns",
                f"the timeout of {self.rto_ns} ns is not greater than the round-trip time of {self.rtt_ns} ns",
                "the model requires RTO > RTT; the paper uses 200 ms and 100 us",
            )

    @property
    def bdp_pkts(self) -> float:
        """C * RTT in packets."""
        return float(self.bdp_ratio)

    @property
    def bdp_ratio(self) -> Fraction:
        """C * RTT in packets, exactly."""
        return Fraction(self.rate_bps * self.rtt_ns, 8_000_000_000 * self.packet_bytes)

    @property
    def corner_window_pkts(self) -> float:
        """The window (B + BDP) / n at which pipe and buffer are exactly full."""
        return (self.buffer_pkts + self.bdp_pkts) / self.senders

    @property
    def rtt_over_rto(self) -> float:
        """RTT / RTO, what remains of the throughput when every round ends in a timeout."""
        return self.rtt_ns / self.rto_ns


def packet_loss_fraction(at: Bottleneck, window_pkts: float) -> float:
    """S = 1 - B / (n w - BDP), the share of packets that overflow (base of equation 2); 0 where none does."""
    overflow = _beyond_pipe_pkts(at, window_pkts)
    return 1.0 - at.buffer_pkts / overflow if overflow > at.buffer_pkts else 0.0


def flow_timeout_probability(at: Bottleneck, window_pkts: float) -> float:
    """The p of equation 2, the chance that one flow loses its whole window; 0 up to the corner."""
    return packet_loss_fraction(at, window_pkts) ** window_pkts


def any_timeout_probability(at: Bottleneck, window_pkts: float) -> float:
    """P = 1 - (1 - p)^n of equation 3, the chance that at least one of n flows times out."""
    return 1.0 - (1.0 - flow_timeout_probability(at, window_pkts)) ** at.senders


def any_timeout_probability_printed(at: Bottleneck, window_pkts: float) -> float:
    """Equation 3 as printed: the exponent w applies to B / (n w - BDP) only, against equation 2."""
    overflow = _beyond_pipe_pkts(at, window_pkts)
    if overflow <= at.buffer_pkts:
        return 0.0
    lost = 1.0 - (at.buffer_pkts / overflow) ** window_pkts
    return 1.0 - (1.0 - lost) ** at.senders


def utilisation(at: Bottleneck, window_pkts: float) -> float:
    """G(w) of equation 4: linear up to the corner, then (1 - P) + P RTT / RTO."""
    return _utilisation(at, window_pkts, any_timeout_probability(at, window_pkts))


def utilisation_printed(at: Bottleneck, window_pkts: float) -> float:
    """G(w) with equation 3 as printed; it falls to RTT / RTO right behind the corner."""
    return _utilisation(at, window_pkts, any_timeout_probability_printed(at, window_pkts))


def utilisation_slope(at: Bottleneck, window_pkts: float) -> float:
    """dG/dw of equation 5, with the factor r = RTT / RTO - 1 that the printed form drops.

    Left of the corner the slope of the line; at the corner and right of it the falling branch, never positive.
    """
    if window_pkts < at.corner_window_pkts:
        return at.senders / (at.buffer_pkts + at.bdp_pkts)
    return (at.rtt_over_rto - 1.0) * utilisation_slope_printed(at, window_pkts)


def utilisation_slope_printed(at: Bottleneck, window_pkts: float) -> float:
    """Equation 5 as printed, without r: n (1 - S^w)^(n-1) (S^w ln S + T); its sign is wrong."""
    n, w = at.senders, window_pkts
    overflow = _beyond_pipe_pkts(at, w)
    loss = packet_loss_fraction(at, w)
    if loss <= 0.0:
        return 0.0
    p = loss**w
    t = at.buffer_pkts * n * w * loss ** (w - 1.0) / overflow**2
    return n * (1.0 - p) ** (n - 1) * (p * log(loss) + t)


def argmax_window_pkts(at: Bottleneck) -> float:
    """The smallest window at which G is greatest, searched on G alone (not taken from the formula of the corner).

    G rises strictly to its peak and never rises again, so comparing two inner points always tells on which side the
    peak lies. Values closer than rounding count as equal, and of equals the smaller window wins.
    """
    low, high = 0.0, 4.0 * at.corner_window_pkts
    while high - low > 1e-12 * high:
        third = (high - low) / 3.0
        left, right = low + third, high - third
        if utilisation(at, right) - utilisation(at, left) > 1e-14:
            low = left
        else:
            high = right
    return (low + high) / 2.0


def _beyond_pipe_pkts(at: Bottleneck, window_pkts: float) -> float:
    """Packets n w - BDP that are not in the pipe; raises PlannerError unless the window is a positive number."""
    if not isfinite(window_pkts) or window_pkts <= 0.0:
        raise PlannerError("window_pkts", f"{window_pkts} is not a positive number", "give a window above 0")
    return at.senders * window_pkts - at.bdp_pkts


def _utilisation(at: Bottleneck, window_pkts: float, timeout: float) -> float:
    """Equation 4 for a given chance of a timeout."""
    if window_pkts <= at.corner_window_pkts:
        return at.senders * window_pkts / (at.buffer_pkts + at.bdp_pkts)
    return (1.0 - timeout) + timeout * at.rtt_over_rto


def _in_range(name: str, value: int, limit: int) -> None:
    """Raise PlannerError unless 0 < value <= limit."""
    if not 0 < value <= limit:
        raise PlannerError(
            name,
            f"{value} is not between 1 and {limit}",
            "give a value in this range, in the unit that ends the field's name",
        )
