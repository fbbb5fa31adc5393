"""Retransmission timeouts of window senders where nobody gives them: they follow from the path.

Source: RFC 6298 and docs/algorithms/window.md#choice-rto-min.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ByPath = Literal["rtt"]
"""In place of a time: the one that follows from the path."""
BY_PATH: ByPath = "rtt"

# Finer timers are not to be had in kernels: a tick of Linux, and the granularity that RFC 9002 recommends.
_LEAST_NS = 1_000_000
# TCP_RTO_MIN of Linux, for queues that are deeper than anybody fills.
_MOST_NS = 200_000_000


@dataclass(frozen=True)
class PathTimes:
    """The time of a packet on the longest path of a network."""

    rtt_ns: int
    """Round-trip time of the empty network, a full packet's serialisation included."""
    queue_ns: int
    """Time that the longest full queue takes to drain."""

    def rto_min_ns(self) -> int:
        """Twice the round trip through a full queue, 1 to 200 ms, but at least two round trips."""
        return min(max(2 * (self.rtt_ns + self.queue_ns), _LEAST_NS), max(2 * self.rtt_ns, _MOST_NS))

    def rto_init_ns(self, rto_min_ns: int) -> int:
        """As after a handshake through the empty network: a first sample R gives 3 R (RFC 6298, 2.2)."""
        return max(rto_min_ns, 3 * self.rtt_ns)
