"""TIMELY (SIGCOMM 2015, algorithm 1; docs/algorithms/timely.md#timely-update)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p4cc import RateAlgorithm, number

if TYPE_CHECKING:
    from p4cc._engine import PacedAck


class Timely(RateAlgorithm):
    """Raises or lowers the rate by the gradient of the round-trip time, between two thresholds."""

    source = "TIMELY 2015, 4"

    ewma: float = number(0.02, min=0.0001, max=1, unit="ratio", summary="weight of the newest difference of RTTs")
    beta: float = number(0.8, min=0, max=1, unit="ratio", summary="weight of a decrease")
    t_low_ns: float = number(50_000, min=0, max=3.6e12, unit="ns", summary="below it the rate rises")
    t_high_ns: float = number(500_000, min=1, max=3.6e12, unit="ns", summary="above it the rate falls")
    min_rtt_ns: float = number(20_000, min=1, max=3.6e12, unit="ns", summary="makes a gradient of a difference")
    delta_mbps: float = number(10, min=0.001, max=1e6, unit="Mbit/s", summary="step for each 10 Gbit/s of line rate")
    hai_factor: float = number(5, min=1, max=1_000, summary="steps of a hyperactive increase")
    hai_trigger: float = number(5, min=1, max=1e6, summary="increases by gradient in a row that start it")
    app_limit: float = number(0.8, min=0, max=1, unit="ratio", summary="no increase below this share of the rate used")
    r_min_mbps: float = number(1_000, min=0.001, max=1e9, unit="Mbit/s", summary="the rate never falls below")

    def start(self) -> None:
        self.step_bps = self.delta_mbps * 1e6 * self.line_rate_bps / 10e9
        self.prev_rtt_ns: float | None = None
        self.rtt_diff_ns = 0.0
        self.in_a_row = 0

    def on_ack(self, ack: PacedAck) -> None:
        rtt_ns = ack.rtt_ns
        if rtt_ns is None:
            return
        prev_rtt_ns, self.prev_rtt_ns = self.prev_rtt_ns, rtt_ns
        if prev_rtt_ns is None:
            return
        self.rtt_diff_ns = (1 - self.ewma) * self.rtt_diff_ns + self.ewma * (rtt_ns - prev_rtt_ns)
        gradient = self.rtt_diff_ns / self.min_rtt_ns
        if rtt_ns < self.t_low_ns:
            self.increase(ack, by_gradient=False)
        elif rtt_ns > self.t_high_ns:
            self.decrease(1 - self.beta * (1 - self.t_high_ns / rtt_ns))
        elif gradient <= 0:
            self.increase(ack, by_gradient=True)
        else:
            self.decrease(max(1 - self.beta * gradient, 0.0))

    def increase(self, ack: PacedAck, *, by_gradient: bool) -> None:
        self.in_a_row = self.in_a_row + 1 if by_gradient else 0
        if ack.sent_bps is not None and ack.sent_bps <= self.app_limit * self.rate_bps:
            return
        steps = self.hai_factor if by_gradient and self.in_a_row >= self.hai_trigger else 1.0
        self.rate_bps += steps * self.step_bps

    def decrease(self, factor: float) -> None:
        self.in_a_row = 0
        self.rate_bps = max(self.rate_bps * factor, self.r_min_mbps * 1e6)
