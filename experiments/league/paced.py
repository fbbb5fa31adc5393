"""Window algorithms over the paced transport: the league's second columns compare algorithms, not transports.

Each keeps its own rule for the window and sends it as the other paced senders do: spread over a round trip, from a
window of one bandwidth-delay product at the line rate on. Slow starts have no part in that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from p4cc import RateAlgorithm, maths, number

if TYPE_CHECKING:
    from p4cc._engine import PacedAck

# Linux spreads 1.2 windows over a smoothed round trip in congestion avoidance (net.ipv4.tcp_pacing_ca_ratio),
# so that the window decides and not the pace.
PACE = 1.2


class _PacedWindow(RateAlgorithm):
    """A window in segments, and what all algorithms here do with it."""

    cwnd_min: float = number(1, min=0.01, max=1_000, unit="segments", summary="a cut never goes below this window")

    def start(self) -> None:
        self.cwnd: float = self.bdp_bytes / self.payload_bytes
        self.srtt_ns: float = self.base_rtt_ns
        self.delivered = 0
        self.round_end = self.cut_end = 0
        self.begin()
        self.apply()

    def begin(self) -> None:
        """Attributes of the algorithm's own."""

    def grow(self, segments: float, now_ns: float) -> None:
        """So many segments arrived, and none of them made the window smaller."""
        raise NotImplementedError

    def factor(self, *, lost: bool) -> float:
        """What a cut leaves of the window."""
        raise NotImplementedError

    def count(self, ack: PacedAck, segments: float) -> None:
        """Every ACK, before all else."""

    def on_ack(self, ack: PacedAck) -> None:
        if ack.rtt_ns is not None:
            # RFC 6298, 2.3: an eighth of each sample.
            self.srtt_ns += (ack.rtt_ns - self.srtt_ns) / 8
        arrived = ack.ack + ack.above_bytes
        segments = max(arrived - self.delivered, 0) / self.payload_bytes
        self.delivered = max(arrived, self.delivered)
        self.count(ack, segments)
        if ack.cnp and ack.ack > self.cut_end:
            self.cut(lost=False)
            self.cut_end = ack.snd_nxt
        elif ack.ack > self.cut_end:
            self.grow(segments, ack.now_ns)
        self.apply()

    def on_loss(self, now_ns: float) -> None:
        self.cut(lost=True)
        self.apply()

    def on_timeout(self, now_ns: float) -> None:
        self.cut(lost=True)
        self.apply()

    def cut(self, *, lost: bool) -> None:
        self.cwnd = max(self.cwnd * self.factor(lost=lost), self.cwnd_min)

    def apply(self) -> None:
        self.window_bytes = self.cwnd * self.payload_bytes
        self.rate_bps = PACE * self.cwnd * self.packet_bytes * 8e9 / self.srtt_ns


class PacedReno(_PacedWindow):
    """Reno's window (RFC 5681): one segment more in a round trip, half of it after a loss."""

    source = "RFC 5681, 3.1"

    def grow(self, segments: float, now_ns: float) -> None:
        self.cwnd += segments / self.cwnd

    def factor(self, *, lost: bool) -> float:
        return 0.5


class PacedRenoEcn(PacedReno):
    """The same, with marks that count as losses (RFC 3168)."""

    needs = "one_ecn_threshold"
    source = "RFC 3168, 6.1.2"


class PacedCubic(_PacedWindow):
    """CUBIC's window (RFC 9438): a cubic of the time since the cut, at least Reno's estimate."""

    source = "RFC 9438"

    c: float = number(0.4, min=0.0001, max=1e6, unit="segments/s^3", summary="how fast the cubic grows")
    beta: float = number(0.7, min=0.01, max=0.99, unit="ratio", summary="what a cut leaves of the window")

    def begin(self) -> None:
        self.w_max: float = self.cwnd
        self.estimate: float = self.cwnd
        self.k_s = 0.0
        self.epoch_ns: float | None = None

    def grow(self, segments: float, now_ns: float) -> None:
        if self.epoch_ns is None:
            # RFC 9438, 4.2: K is the time that the cubic takes back to W_max.
            self.epoch_ns, self.estimate = now_ns, self.cwnd
            self.k_s = maths.cbrt(max(self.w_max - self.cwnd, 0) / self.c)
        # RFC 9438, 4.3: alpha_cubic until W_max is reached, 1 above.
        alpha = 3 * (1 - self.beta) / (1 + self.beta) if self.estimate < self.w_max else 1.0
        self.estimate += alpha * segments / self.cwnd
        t_s = (now_ns - self.epoch_ns + self.srtt_ns) / 1e9 - self.k_s
        target = min(max(self.c * t_s * t_s * t_s + self.w_max, self.cwnd), 1.5 * self.cwnd)
        self.cwnd = max(self.cwnd + segments * (target - self.cwnd) / self.cwnd, self.estimate)

    def factor(self, *, lost: bool) -> float:
        # RFC 9438, 4.7: fast convergence gives room to new flows.
        self.w_max = self.cwnd if self.cwnd >= self.w_max else self.cwnd * (1 + self.beta) / 2
        self.epoch_ns = None
        return self.beta


class PacedCubicEcn(PacedCubic):
    """The same, with marks that count as losses (RFC 9438, 4.6)."""

    needs = "one_ecn_threshold"


class PacedDctcp(_PacedWindow):
    """DCTCP's window (RFC 8257): cuts by half the smoothed share of marked segments."""

    needs = "one_ecn_threshold"
    source = "RFC 8257, 3.3"

    g: float = number(1 / 16, min=0.0001, max=1, unit="ratio", summary="weight of the newest window in alpha")

    def begin(self) -> None:
        self.alpha = 1.0
        self.seen = self.marked = 0.0

    def count(self, ack: PacedAck, segments: float) -> None:
        self.seen += segments
        if ack.cnp:
            self.marked += segments
        if ack.ack > self.round_end:
            self.alpha += self.g * (self.marked / max(self.seen, 1) - self.alpha)
            self.seen = self.marked = 0.0
            self.round_end = ack.snd_nxt

    def grow(self, segments: float, now_ns: float) -> None:
        self.cwnd += segments / self.cwnd

    def factor(self, *, lost: bool) -> float:
        return 0.5 if lost else 1 - self.alpha / 2
