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
    from p4cc._engine import Arrival, PacedAck, WindowAck

SwitchNeed = Literal[
    "none",
    "one_ecn_threshold",
    "two_ecn_thresholds",
    "random_ecn",
    "telemetry",
    "rate_allocation",
    "fair_rate",
    "queue_notices",
    "path_utilisation",
]
"""What an algorithm needs from switches, in the registry's words (`p4cc algorithms`)."""


def _stream(of: _engine.WindowBase | _engine.RateBase) -> random.Random:
    """Random numbers of one flow, from the run's seed."""
    return random.Random(f"{of.seed}/{type(of).__name__}/{of.flow_id}")  # noqa: S311 - no secret


class WindowAlgorithm(_engine.WindowBase):
    """Congestion avoidance of a window sender: growth of `cwnd` above `ssthresh`, reaction to marks and losses.

    For each ACK, the engine calls `observe` and, once per round trip, `on_round`; then, outside fast recovery,
    `on_mark` for a marked ACK, and `on_ack` if the window may grow. A reduction of the window by `on_mark`, `observe`
    or `on_round` counts as a cut, which ends slow start. Below `ssthresh`, a slow start grows the window.

    `cwnd` and `ssthresh` are real numbers in segments; the engine keeps `cwnd` at 1 or above. During fast recovery,
    assignments have no effect, because the transport controls the window.
    """

    needs: ClassVar[SwitchNeed] = "none"
    """What the algorithm requires from switches. Packets of an algorithm that needs no marks are not ECN-capable."""
    echo: ClassVar[Literal["per_packet", "until_cwr"]] = "per_packet"
    """How receivers echo marks: each ACK carries those of its packets (DCTCP), or until CWR arrives (RFC 3168)."""
    grows_after_cut: ClassVar[bool] = False
    """Whether `on_ack` is also called for the ACK that reduced the window."""
    source: ClassVar[str] = ""
    """Where the algorithm is published, for the reader."""

    def start(self) -> None:
        """Called when the flow begins; set attributes here."""

    def observe(self, ack: WindowAck) -> None:
        """Called for every valid ACK, including duplicates and those in fast recovery; update estimates here."""

    def on_round(self, ack: WindowAck) -> None:
        """Called for the first ACK beyond the data in flight at the start of the round: a round trip has passed."""

    def on_mark(self, ack: WindowAck) -> None:
        """Called for an ACK that echoes a mark of the upper threshold (DCTCP's); the lower one is `ack.mark == 1`."""

    def on_ack(self, ack: WindowAck) -> None:
        """Called for an ACK of new data in congestion avoidance that did not reduce the window, which may now grow."""

    def on_loss(self, flight_segments: int) -> float:
        """The threshold after a loss with `flight_segments` in flight; by default Reno's `max(flight/2, 2)`.

        `cwnd` is the window before the loss; the engine then sets it by the transport's recovery (RFC 5681, RFC 6675).
        """
        return max(flight_segments / 2, 2.0)

    def on_timeout(self, flight_segments: int) -> float:
        """The threshold after a timeout; by default that of `on_loss`. `cwnd` becomes 1."""
        return self.on_loss(flight_segments)

    @cached_property
    def random(self) -> random.Random:
        """Random numbers of this flow, derived from the run's seed; use no other source, for reproducible runs."""
        return _stream(self)


class SlowStart(_engine.WindowBase):
    """A slow start: how `cwnd` grows below `ssthresh`. It can be combined with any congestion avoidance.

    It ends when `cwnd` reaches `ssthresh`, when congestion avoidance cuts the window, or when `on_ack` returns False.
    `delta` and `smoothing` appear in table `windows`, as the column `delta` and the phase.
    """

    needs: ClassVar[SwitchNeed] = "none"
    """As in WindowAlgorithm."""
    source: ClassVar[str] = ""
    """Where the algorithm is published, for the reader."""

    def start(self, snd_nxt: int) -> None:
        """Called when slow start begins, at the flow's start and after each timeout; `cwnd` is already set."""

    def on_ack(self, ack: WindowAck) -> bool | None:
        """Called for an ACK in slow start that did not reduce the window. Return False to end slow start."""
        raise NotImplementedError

    def grow_after_cut(self, ack: WindowAck) -> None:
        """Called for the ACK whose cut ended slow start, to grow the window; by default, congestion avoidance does."""

    @cached_property
    def random(self) -> random.Random:
        """Random numbers of this flow, derived from the run's seed; use no other source, for reproducible runs."""
        return _stream(self)


class RateAlgorithm(_engine.RateBase):
    """Congestion control of a paced sender (`transport.kind: rdma`): sets `rate_bps`, optionally `window_bytes`.

    `rate_bps` starts at `line_rate_bps`, which it cannot exceed; at 0 nothing is sent. If `window_bytes` is None, there
    is no window. `on_timer` is called once at the virtual time `timer_ns`. `base_rtt_ns` is the largest round-trip time
    without queueing over all host pairs, and `bdp_bytes` the bandwidth-delay product at the line rate. A full packet
    carries `payload_bytes`; its IP length is `packet_bytes`.
    """

    needs: ClassVar[SwitchNeed] = "none"
    """What the algorithm requires from switches: `telemetry` for INT, `random_ecn` for congestion notifications, ..."""
    source: ClassVar[str] = ""
    """Where the algorithm is published, for the reader."""

    def start(self) -> None:
        """Called when the flow is created; set attributes and the initial rate here."""

    def on_ack(self, ack: PacedAck) -> None:
        """Called for an ACK, with RTT, congestion mark, telemetry, and feedback from receiver and switches."""

    def on_cnp(self, now_ns: float) -> None:
        """Called for a congestion notification packet (`transport.notification: packet`)."""

    def on_notice(self, now_ns: float, elapsed_ns: float, queue_bytes: int, link_rate_bps: float) -> None:
        """Called for a switch's queue report, caused by a packet sent `elapsed_ns` ago (`needs = "queue_notices"`)."""

    def on_loss(self, now_ns: float) -> None:
        """Called when the receiver requests an earlier byte: packets were lost and are retransmitted."""

    def on_timeout(self, now_ns: float) -> None:
        """Called when the retransmission timer expires; unacknowledged data is retransmitted."""

    def on_sent(self, now_ns: float, size_bytes: int) -> None:
        """Called when a packet of `size_bytes` is sent."""

    def on_timer(self, now_ns: float) -> None:
        """Called at the time `timer_ns`, which is None from then on."""

    def request_rate(
        self, now_ns: float, left_bytes: int | None, deadline_ns: float | None, srtt_ns: float
    ) -> float | None:
        """The rate in bit/s to request from switches (`needs = "rate_allocation"`); None aborts the flow.

        `left_bytes` is None for an endless flow, `deadline_ns` for a flow without a deadline.
        """
        del now_ns, left_bytes, deadline_ns, srtt_ns
        return 0.0

    @cached_property
    def random(self) -> random.Random:
        """Random numbers of this flow, derived from the run's seed; use no other source, for reproducible runs."""
        return _stream(self)


class ReceiverAlgorithm(_engine.ReceiverBase):
    """What a host lets the senders of its flows send, in place of their own decision (docs/algorithms/receivers.md).

    An object of the class is the receiver of one host, since its flows share the host's line. `pull(flow, bytes)` lets
    a flow send so many bytes more, `grant(flow, up_to, priority)` everything up to a byte, in a traffic class;
    `acknowledge()` answers the data that just arrived at once. `unasked_bytes` is what a flow sends before it hears of
    its receiver: one bandwidth-delay product unless `start` sets it. `on_timer` is called once at the time `timer_ns`.
    """

    needs: ClassVar[SwitchNeed] = "none"
    """As in RateAlgorithm."""
    source: ClassVar[str] = ""
    """Where the algorithm is published, for the reader."""

    def start(self) -> None:
        """Called when the run begins; set attributes here."""

    def on_arrival(self, arrival: Arrival) -> None:
        """Called for data of any flow that ends at the host, whole or as its header (`arrival.is_trimmed`)."""
        raise NotImplementedError

    def on_complete(self, now_ns: float, flow: int) -> None:
        """Called when all data of a flow is there."""

    def on_timer(self, now_ns: float) -> None:
        """Called at the time `timer_ns`, which is None from then on."""

    @cached_property
    def random(self) -> random.Random:
        """Random numbers of this host, derived from the run's seed; use no other source, for reproducible runs."""
        return random.Random(f"{self.seed}/{type(self).__name__}/host {self.host}")  # noqa: S311 - no secret


AlgorithmClass = type[WindowAlgorithm] | type[SlowStart] | type[RateAlgorithm] | type[ReceiverAlgorithm]

KINDS: dict[str, AlgorithmClass] = {
    "congestion_avoidance": WindowAlgorithm,
    "slow_start": SlowStart,
    "rate_control": RateAlgorithm,
    "receiver": ReceiverAlgorithm,
}
"""The base of each part of a sender, and of receivers."""

HOOKS: dict[str, tuple[str, ...]] = {
    "congestion_avoidance": ("start", "observe", "on_round", "on_mark", "on_ack", "on_loss", "on_timeout"),
    "slow_start": ("start", "on_ack", "grow_after_cut"),
    "rate_control": (
        *("start", "on_ack", "on_cnp", "on_notice", "on_loss", "on_timeout"),
        *("on_sent", "on_timer", "request_rate"),
    ),
    "receiver": ("start", "on_arrival", "on_complete", "on_timer"),
}
"""Methods that the engine calls, where a class overrides them."""
