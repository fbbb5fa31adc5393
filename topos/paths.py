"""What a path between two hosts is like: delays and rates of its links, for ideal completion times and thresholds.

Where there are several shortest paths, the one by the lowest ports stands for all.
"""

from dataclasses import dataclass
from functools import cached_property

from topos.graph import Link, Topology
from topos.longest import longest_cost
from topos.routes import Routes, shortest_routes


@dataclass(frozen=True)
class Alone:
    """What counts for a flow alone in the network: its packets, and the packet of the base round trip."""

    mss_bytes: int
    header_bytes: int
    packet_bytes: int
    """Whose time on each link of one way belongs to the base round trip."""


@dataclass(frozen=True)
class Path:
    """Links from one host to another, in order."""

    links: tuple[Link, ...]

    @property
    def delay_ns(self) -> int:
        """Propagation of one way."""
        return sum(link.delay_ns for link in self.links)

    def rtt_ns(self, packet_bytes: int) -> int:
        """Both ways' propagation, and a packet's time on every link of one way."""
        return sum(_rtt_ns(link, packet_bytes) for link in self.links)

    @property
    def rate_bps(self) -> int:
        """The slowest link's rate."""
        return min(link.rate_bps for link in self.links)

    def ideal_fct_ns(self, size_bytes: int, alone: Alone) -> float:
        """Completion time of a flow alone in the network, by which `p4cc/analysis/slowdown.py` divides.

        Twice the propagation, one full packet's time on every link, and the flow with its headers at the slowest link's
        rate.

        Source: docs/algorithms/metrics.md#metrics.
        """
        packet_bits = 8 * alone.packet_bytes
        store_ns = sum(packet_bits * 1e9 / link.rate_bps for link in self.links)
        wire_bits = 8 * (size_bytes + alone.header_bytes * -(-size_bytes // alone.mss_bytes))
        return 2 * self.delay_ns + store_ns + wire_bits * 1e9 / self.rate_bps


class Paths:
    """Paths of one topology; each is searched once."""

    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        self._found: dict[tuple[str, str], Path] = {}

    @cached_property
    def routes(self) -> Routes:
        """All shortest paths, found once."""
        return shortest_routes(self._topology)

    def between(self, src: str, dst: str) -> Path:
        """The path from one host to another; both must be hosts of the topology."""
        found = self._found.get((src, dst))
        if found is None:
            found = self._found[src, dst] = self._search(src, dst)
        return found

    def _search(self, src: str, dst: str) -> Path:
        here, port = self._topology.attachments[src]
        links = [self._topology.links[port.link_index]]
        while here != dst:
            step = self._topology.port(here, self.routes[here][dst][0])
            links.append(self._topology.links[step.link_index])
            here = step.peer
        return Path(tuple(links))

    def longest_rtt_ns(self, packet_bytes: int = 0) -> int:
        """The longest base round-trip time between a host that sends and one that receives.

        With the time that a packet of so many bytes takes on each link of one way, rounded down.
        """
        costs = [_rtt_ns(link, packet_bytes) for link in self._topology.links]
        return longest_cost(self._topology, self.routes, costs)

    def most_switches(self) -> int:
        """Most switches between a host that sends and one that receives; 0 where no two hosts talk."""
        return max(0, longest_cost(self._topology, self.routes, [1] * len(self._topology.links)) - 1)


def _rtt_ns(link: Link, packet_bytes: int) -> int:
    """What a link adds to a round-trip time."""
    return 2 * link.delay_ns + 8_000_000_000 * packet_bytes // link.rate_bps
