"""The classes that a user's algorithm derives from: methods that the engine calls, in virtual time or in a lab.

An object of the class is the algorithm of one flow. What it sets is checked and takes effect when the method returns;
an exception ends the run, with the flow and the virtual time. docs/how-to/write-an-algorithm.md begins with an example.
"""

from __future__ import annotations

import random
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal

from p4cc import _engine

if TYPE_CHECKING:
    from p4cc._engine import PacedAck, WindowAck

SwitchNeed = Literal[
    "none",
    "one_ecn_threshold",
    "two_ecn_thresholds",
    "random_ecn",
    "telemetry",
    "rate_allocation",
    "fair_rate",
    "queue_notices",
]
"""What an algorithm needs from switches, in the registry's words (`p4cc algorithms`)."""


def _stream(of: _engine.WindowBase | _engine.RateBase) -> random.Random:
    """Random numbers of one flow, from the run's seed."""
    return random.Random(f"{of.seed}/{type(of).__name__}/{of.flow_id}")  # noqa: S311 - no secret


class WindowAlgorithm(_engine.WindowBase):
    """Congestion avoidance of a window sender: how `cwnd` grows above `ssthresh`, and what marks and losses do to it.

    For each ACK the engine calls, in this order: `observe` and, once in a round trip, `on_round`; then, outside fast
    recovery, `on_mark` for a marked ACK, and `on_ack` where the window may grow. A window that `on_mark`, `observe` or
    `on_round` made smaller is a cut: slow start ends. Below `ssthresh` a slow start grows the window.

    `cwnd` and `ssthresh` are in segments, real numbers; the engine keeps `cwnd` at 1 or above. What is set in fast
    recovery has no effect: its window is the transport's.
    """

    needs: ClassVar[SwitchNeed] = "none"
    """What switches must do. Packets of an algorithm that needs no marks are not capable of ECN."""
    echo: ClassVar[Literal["per_packet", "until_cwr"]] = "per_packet"
    """How receivers return marks: each ACK those of its packets (DCTCP), or until CWR arrives (RFC 3168)."""
    grows_after_cut: ClassVar[bool] = False
    """Whether `on_ack` is called for the ACK that made the window smaller, too."""
    source: ClassVar[str] = ""
    """Where the algorithm is defined, for people."""

    def start(self) -> None:
        """The flow begins: the place to set attributes."""

    def observe(self, ack: WindowAck) -> None:
        """Every valid ACK, duplicates and those of fast recovery included: the place of estimates."""

    def on_round(self, ack: WindowAck) -> None:
        """The first ACK beyond what had been sent when the round began: a round-trip time is over."""

    def on_mark(self, ack: WindowAck) -> None:
        """An ACK that returns a mark of the upper threshold, the one of DCTCP; the lower one is `ack.mark == 1`."""

    def on_ack(self, ack: WindowAck) -> None:
        """An ACK of new data in congestion avoidance, unless it made the window smaller: the window may grow."""

    def on_loss(self, flight_segments: int) -> float:
        """The threshold after a loss with so many segments in flight; Reno's `max(flight/2, 2)` if not overridden.

        `cwnd` is as the loss finds it; the engine sets the window by the transport's recovery (RFC 5681, RFC 6675).
        """
        return max(flight_segments / 2, 2.0)

    def on_timeout(self, flight_segments: int) -> float:
        """The threshold after a timeout, as `on_loss`, whose answer it is if not overridden; `cwnd` becomes 1."""
        return self.on_loss(flight_segments)

    @cached_property
    def random(self) -> random.Random:
        """Random numbers of this flow, from the run's seed: the only ones that leave a run repeatable."""
        return _stream(self)


class SlowStart(_engine.WindowBase):
    """A slow start: how `cwnd` grows below `ssthresh`. It composes with any congestion avoidance.

    It ends when `cwnd` reaches `ssthresh`, when congestion avoidance cuts the window, or when `on_ack` says so.
    `delta` and `smoothing` are shown in the column `delta` and as the phase of the table `windows`.
    """

    needs: ClassVar[SwitchNeed] = "none"
    """As in WindowAlgorithm."""
    source: ClassVar[str] = ""
    """Where the algorithm is defined, for people."""

    def start(self, snd_nxt: int) -> None:
        """A slow start begins at byte `snd_nxt`: with the flow, and after each timeout; `cwnd` is set already."""

    def on_ack(self, ack: WindowAck) -> bool | None:
        """An ACK in slow start that did not make the window smaller. False ends slow start; nothing goes on."""
        raise NotImplementedError

    def grow_after_cut(self, ack: WindowAck) -> None:
        """The ACK that ended this slow start by a cut may grow the window; congestion avoidance does it if absent."""

    @cached_property
    def random(self) -> random.Random:
        """Random numbers of this flow, from the run's seed: the only ones that leave a run repeatable."""
        return _stream(self)


class RateAlgorithm(_engine.RateBase):
    """Congestion control of a paced sender (`transport.kind: rdma`): sets `rate_bps`, and `window_bytes` if it likes.

    `rate_bps` begins at `line_rate_bps`, never goes above it, and at 0 nothing leaves. `window_bytes` None is no
    window. `timer_ns` is the virtual time at which `on_timer` is called once. `base_rtt_ns` is the largest round-trip
    time without queues of all pairs of hosts, `bdp_bytes` what fits it at the line rate; a full packet carries
    `payload_bytes` and has `packet_bytes` from IP on.
    """

    needs: ClassVar[SwitchNeed] = "none"
    """What switches must do: `telemetry` for hop records, `random_ecn` for congestion notifications, ..."""
    source: ClassVar[str] = ""
    """Where the algorithm is defined, for people."""

    def start(self) -> None:
        """The flow is made: the place to set attributes and the first rate."""

    def on_ack(self, ack: PacedAck) -> None:
        """An ACK, with a round-trip time, a congestion mark, hop records, what the receiver and switches said."""

    def on_cnp(self, now_ns: float) -> None:
        """A congestion notification that came as a packet of its own (`transport.notification: packet`)."""

    def on_notice(self, now_ns: float, elapsed_ns: float, queue_bytes: int, link_rate_bps: float) -> None:
        """A switch tells of its queue, which a packet found that left `elapsed_ns` ago (`needs = "queue_notices"`)."""

    def on_loss(self, now_ns: float) -> None:
        """The receiver asked for an earlier byte: packets were lost, and are sent again."""

    def on_timeout(self, now_ns: float) -> None:
        """The retransmission timer ran out: what is not acknowledged is sent again."""

    def on_sent(self, now_ns: float, size_bytes: int) -> None:
        """A packet left, with so many bytes."""

    def on_timer(self, now_ns: float) -> None:
        """The time that `timer_ns` named; it is None now."""

    def request_rate(
        self, now_ns: float, left_bytes: int | None, deadline_ns: float | None, srtt_ns: float
    ) -> float | None:
        """The rate in bit/s that the flow asks of switches (`needs = "rate_allocation"`); None gives the flow up.

        `left_bytes` is None for a flow without end, `deadline_ns` for one without a deadline.
        """
        del now_ns, left_bytes, deadline_ns, srtt_ns
        return 0.0

    @cached_property
    def random(self) -> random.Random:
        """Random numbers of this flow, from the run's seed: the only ones that leave a run repeatable."""
        return _stream(self)


AlgorithmClass = type[WindowAlgorithm] | type[SlowStart] | type[RateAlgorithm]

KINDS: dict[str, AlgorithmClass] = {
    "congestion_avoidance": WindowAlgorithm,
    "slow_start": SlowStart,
    "rate_control": RateAlgorithm,
}
"""The base of each part of a sender."""

HOOKS: dict[str, tuple[str, ...]] = {
    "congestion_avoidance": ("start", "observe", "on_round", "on_mark", "on_ack", "on_loss", "on_timeout"),
    "slow_start": ("start", "on_ack", "grow_after_cut"),
    "rate_control": (
        *("start", "on_ack", "on_cnp", "on_notice", "on_loss", "on_timeout"),
        *("on_sent", "on_timer", "request_rate"),
    ),
}
"""Methods that the engine calls, where a class overrides them."""
