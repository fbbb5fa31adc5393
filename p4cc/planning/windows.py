"""The default receiver window: the packets that the longest path and its longest queue hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from p4cc.digits import digits
from p4cc.scenario.schema import LEAST_RWND, MAX_RWND
from topos.units import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from topos import Paths, Topology

MAX_WINDOW_BYTES = 65_535 << 14
"""The largest window of TCP (RFC 7323), just below what sequence numbers of 32 bits allow
(docs/reference/wire-format.md)."""


@dataclass(frozen=True)
class UsualWindow:
    """A window in segments, and the packets that fill the network's slowest link."""

    segments: int
    slowest_pkts: int
    slowest_bps: int
    rtt_ns: int

    def warnings(self, place: str) -> Iterator[str]:
        """A warning where the window ends before the slowest link is full."""
        if self.segments < self.slowest_pkts:
            share = 100 * self.segments / self.slowest_pkts
            yield (
                f"{place}: {shown('rate_bps', self.slowest_bps)} and a round trip of {shown('rtt_ns', self.rtt_ns)} "
                f"hold {self.slowest_pkts} packets, but a window has at most {self.segments} segments (1 GiB, by "
                f"32-bit sequence numbers): one flow reaches {digits(share, 2)} % of the line; use several flows or a "
                "shorter path, or set transport.rwnd if this is meant"
            )


def usual_window(topology: Topology, paths: Paths, packet_bytes: int, mss_bytes: int) -> UsualWindow:
    """The window of a network for packets of this size, with segments of this size at most."""
    links = topology.links
    rate_bps = max(links[port.link_index].rate_bps for ends in topology.interfaces.values() for _, port in ends)
    rtt_ns = paths.longest_rtt_ns(packet_bytes)
    slowest_bps = min(link.rate_bps for link in links)
    in_flight_pkts, slowest_pkts = (
        rate * rtt_ns // (8_000_000_000 * packet_bytes) + 1 for rate in (rate_bps, slowest_bps)
    )
    queued_pkts = max(link.queue_capacity_pkts for link in links)
    segments = max(LEAST_RWND, min(in_flight_pkts + queued_pkts, MAX_WINDOW_BYTES // mss_bytes, MAX_RWND))
    return UsualWindow(segments, slowest_pkts, slowest_bps, rtt_ns)
