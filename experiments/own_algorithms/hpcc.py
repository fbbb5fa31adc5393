"""HPCC (SIGCOMM 2019, algorithm 1; docs/algorithms/hpcc.md#hpcc-sender)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p4cc import RateAlgorithm, number

if TYPE_CHECKING:
    from p4cc._engine import Hop, PacedAck


class Hpcc(RateAlgorithm):
    """Sets the window by the busiest link's bytes in flight, which switches record in each packet."""

    needs = "telemetry"
    source = "HPCC 2019, 3"

    eta: float = number(0.95, min=0.01, max=1, unit="ratio", summary="utilisation that it aims at")
    max_stage: float = number(0, min=0, max=1e6, unit="rounds", summary="rounds of additive increase at most")
    ai_mbps: float = number(10, min=0, max=1e6, unit="Mbit/s", summary="step for each 25 Gbit/s of line rate")
    u0: float = number(1, min=0.01, max=10, unit="ratio", summary="first estimate of the utilisation")
    r_min_mbps: float = number(1_000, min=0.001, max=1e9, unit="Mbit/s", summary="the rate never falls below")

    def start(self) -> None:
        self.w_ai = self.ai_mbps * 1e6 * self.line_rate_bps / 25e9 * self.base_rtt_ns / 8e9
        self.w_min = self.r_min_mbps * 1e6 * self.base_rtt_ns / 8e9
        self.w_init = self.bdp_bytes
        self.reference = self.window = self.w_init
        self.utilisation, self.stage = self.u0, 0
        self.round_end = 0
        self.last: tuple[Hop, ...] = ()
        self.last_path = 0
        self.set_window()

    def on_ack(self, ack: PacedAck) -> None:
        hops = ack.hops
        if not hops:
            return
        if len(hops) != len(self.last) or ack.path != self.last_path:
            self.round_end = ack.snd_nxt
        else:
            self.measure(hops)
            ends_round = ack.ack > self.round_end
            self.compute(commit=ends_round)
            if ends_round:
                self.round_end = ack.snd_nxt
        self.last, self.last_path = hops, ack.path

    def measure(self, hops: tuple[Hop, ...]) -> None:
        """MeasureInflight: the busiest hop moves the estimate by the share of a round that passed."""
        busiest: tuple[float, float] | None = None
        for now, last in zip(hops, self.last, strict=True):
            dt_ns = now.elapsed_ns(last)
            if dt_ns <= 0:
                continue
            tx_bps = 8e9 * now.sent_bytes(last) / dt_ns
            queue_bits = 8 * min(now, last, key=lambda hop: hop.queue).queue_bytes
            u = queue_bits / (now.line_rate_bps * self.base_rtt_ns / 1e9) + tx_bps / now.line_rate_bps
            if busiest is None or u > busiest[0]:
                busiest = u, dt_ns
        if busiest is not None:
            u, dt_ns = busiest
            share = min(dt_ns / self.base_rtt_ns, 1.0)
            self.utilisation = (1 - share) * self.utilisation + share * u

    def compute(self, *, commit: bool) -> None:
        """ComputeWind: multiplicative towards eta, or one step; the reference moves once in a round."""
        multiplies = self.utilisation >= self.eta or self.stage >= self.max_stage
        if multiplies and self.utilisation > 0:
            window = self.reference * self.eta / self.utilisation + self.w_ai
        else:
            window = self.w_init if multiplies else self.reference + self.w_ai
        window = min(max(window, self.w_min), self.w_init)
        if commit:
            self.stage = 0 if multiplies else self.stage + 1
            self.reference = window
        self.window = window
        self.set_window()

    def set_window(self) -> None:
        """`R = W/T`."""
        self.window_bytes = self.window
        self.rate_bps = self.window * 8e9 / self.base_rtt_ns
