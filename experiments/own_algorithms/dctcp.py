"""DCTCP's sender (RFC 8257; docs/algorithms/window.md#dctcp-sender)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p4cc import WindowAlgorithm, number

if TYPE_CHECKING:
    from p4cc._engine import WindowAck


class Dctcp(WindowAlgorithm):
    """Cuts the window once per round by half the smoothed share of marked packets."""

    needs = "one_ecn_threshold"
    grows_after_cut = True
    source = "RFC 8257"

    g: float = number(1 / 16, min=0.0001, max=1, unit="ratio", summary="weight of the newest window in alpha")
    alpha0: float = number(1, min=0, max=1, unit="ratio", summary="alpha of a new flow")
    cwnd_min: float = number(2, min=1, max=1_000, unit="segments", summary="a cut never goes below this window")

    def start(self) -> None:
        self.alpha = self.alpha0
        self.acked = self.marked = 0
        self.cut_end = 0

    def observe(self, ack: WindowAck) -> None:
        self.acked += ack.counted_segments
        if ack.mark == 2:
            self.marked += ack.counted_segments

    def on_round(self, ack: WindowAck) -> None:
        share = self.marked / max(self.acked, 1)
        self.alpha = (1 - self.g) * (self.alpha or 0.0) + self.g * share
        self.acked = self.marked = 0
        self.publish_alpha(share)

    def on_mark(self, ack: WindowAck) -> None:
        if ack.ack > self.cut_end:
            self.cwnd = max(self.cwnd * (1 - (self.alpha or 0.0) / 2), self.cwnd_min)
            self.ssthresh = self.cwnd
            self.cut_end = ack.snd_nxt

    def on_ack(self, ack: WindowAck) -> None:
        self.cwnd += 1 / self.cwnd
