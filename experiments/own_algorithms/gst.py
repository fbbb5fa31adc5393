"""GST, the gentle slow start (GST 2017, 3; docs/algorithms/slow-start.md#gst-sender)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p4cc import SlowStart, choice, maths, number

if TYPE_CHECKING:
    from p4cc._engine import WindowAck

K, K_DC = 1, 2
"""Marks of the two thresholds."""


class Gst(SlowStart):
    """Growth falls from doubling to linear as the queue goes from k to k_dc."""

    needs = "two_ecn_thresholds"
    source = "GST 2017, 3"

    k: float = number(min=0, max=1_000_000, unit="packets", summary="lower threshold, as at the switch")
    k_dc: float = number(65, min=0, max=1_000_000, unit="packets", summary="upper threshold, as at the switch")
    form: str = choice("text", options=["text", "literal"], summary="the exponent falls with the queue, or rises")
    entry: str = choice(
        "hold", options=["hold", "stop", "per_ack", "window_close"], summary="what the first mark of k does at once"
    )

    def start(self, snd_nxt: int) -> None:
        self.delta = 1.0
        self.smoothing = self.seen_k = False
        self.open_window(snd_nxt)

    def on_ack(self, ack: WindowAck) -> bool:
        if ack.mark == K_DC:
            self.grow(ack)
            return False
        if ack.mark == K and not self.smoothing:
            self.begin_smoothing(ack)
        self.seen += ack.new_segments
        if ack.mark == K:
            self.marked += ack.new_segments
            if not self.seen_k:
                self.seen_k = True
                self.publish_first_mark(K)
        self.grow(ack)
        if ack.ack > self.window_end:
            self.close_window(ack)
        return True

    def grow_after_cut(self, ack: WindowAck) -> None:
        self.grow(ack)

    def grow(self, ack: WindowAck) -> None:
        """`cwnd += n W0^(delta-1)`, over the threshold by one step at most."""
        if ack.new_segments > 0:
            grown = self.cwnd + ack.new_segments * self.growth
            self.cwnd = min(grown, max(self.ssthresh, self.cwnd + self.growth))

    def begin_smoothing(self, ack: WindowAck) -> None:
        """The first mark of k: the smooth phase begins, without an exponent yet."""
        self.smoothing = True
        if self.entry == "hold":
            self.open_window(ack.snd_nxt)
            self.growth = 0.0
        elif self.entry == "stop":
            self.growth = 0.0
        elif self.entry == "per_ack":
            self.growth = 1 / self.w0

    def close_window(self, ack: WindowAck) -> None:
        before, queue = self.delta, self.queue()
        self.delta = self.next_delta(queue)
        if self.delta != before or self.marked > 0:
            self.publish_delta(queue)
        self.smoothing = self.marked > 0
        self.open_window(ack.snd_nxt)

    def open_window(self, snd_nxt: int) -> None:
        self.seen = self.marked = 0
        self.window_end = snd_nxt
        self.w0 = self.cwnd
        self.growth = 1.0 if self.delta == 1.0 else maths.pow(self.w0, (self.delta or 0.0) - 1)

    def queue(self) -> float | None:
        """The queue that so many marks stand for: `q = w k / (w - marked)` (eq. 1)."""
        if 0 < self.marked < self.seen:
            return self.seen * self.k / (self.seen - self.marked)
        return None

    def next_delta(self, queue: float | None) -> float:
        """1 at k, 0 at k_dc (eq. 2)."""
        if self.marked == 0:
            return 1.0
        span = self.k_dc - self.k
        position = 1.0 if queue is None or span <= 0 else min(max((queue - self.k) / span, 0.0), 1.0)
        return position if self.form == "literal" else 1 - position
