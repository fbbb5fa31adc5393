"""What paths between two hosts are like: delays and rates of their links, for ideal completion times and thresholds.

Where there are several shortest paths, `between` and `longest_rtt_ns` take the one by the lowest ports, and the first
of a sender's links that leads there.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from topos.graph import Link, Topology
from topos.host_ways import HostWays
from topos.longest_paths import longest_cost
from topos.routes import Routes, shortest_routes

MAX_WAYS = 64
"""Kinds of paths that are kept between two switches."""

Kind = tuple[int, int, int]


@dataclass(frozen=True)
class Path:
    """Links from one host to another, in order."""

    links: tuple[Link, ...]

    @property
    def kind(self) -> tuple[Kind, ...]:
        """Rate, delay and framing of each link: paths of one kind take the same time."""
        return tuple((link.rate_bps, link.delay_ns, link.framing_bytes) for link in self.links)

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


class Paths:
    """Paths of one topology; each is searched once."""

    def __init__(self, topology: Topology, *, by_capacity: bool = False) -> None:
        """By capacity, sets of ports are weighted (`shortest_routes`)."""
        self._topology = topology
        self._by_capacity = by_capacity
        self._found: dict[tuple[str, str], Path] = {}
        self._ways: dict[tuple[str, str], tuple[Path, ...]] = {}
        self._onward: dict[tuple[str, tuple[str, ...]], tuple[tuple[str, Path], ...]] = {}
        self._longest_rtt_ns: dict[int, int] = {}
        self.host_ways = HostWays(topology)

    @cached_property
    def routes(self) -> Routes:
        """All shortest paths, found once."""
        return shortest_routes(self._topology, by_capacity=self._by_capacity)

    def between(self, src: str, dst: str) -> Path:
        """The path from one host to another; both must be hosts of the topology."""
        result = self._found.get((src, dst))
        if result is None:
            result = self._found[src, dst] = self._search(src, dst)
        return result

    def _search(self, src: str, dst: str) -> Path:
        here, port = self._topology.interfaces[src][self.host_ways.groups(src, dst)[0][0]]
        links = [self._topology.links[port.link_index]]
        while here != dst:
            step = self._topology.port(here, self.routes[here][dst][0])
            links.append(self._topology.links[step.link_index])
            here = step.peer
        return Path(tuple(links))

    def ways(self, src: str, dst: str) -> tuple[Path, ...]:
        """The shortest paths from one host to another, one of each kind: those that no other beats on every link.

        In a network of many different links, the first `MAX_WAYS` kinds by the delay of one way.
        """
        result = self._ways.get((src, dst))
        if result is None:
            own, links = self._topology.interfaces[src], self._topology.links
            into = {switch: links[port.link_index] for switch, port in reversed(self._topology.interfaces[dst])}
            home = tuple(reversed(into))
            found = {
                path.kind: path
                for here, out in (own[place] for place in self.host_ways.groups(src, dst)[0])
                for end, way in self._between_switches(here, home, dst)
                for path in (Path((links[out.link_index], *way.links, into[end])),)
            }
            result = self._ways[src, dst] = tuple(found.values())
        return result

    def _between_switches(self, here: str, home: tuple[str, ...], dst: str) -> tuple[tuple[str, Path], ...]:
        """Ways from a switch to those of a home, each with the one it ends at; all hosts there are reached so."""
        if here in home:
            return ((here, Path(())),)
        result = self._onward.get((here, home))
        if result is None:
            kinds: dict[str, dict[tuple[Kind, ...], Path]] = {}
            for number in self.routes[here][dst]:
                step = self._topology.port(here, number)
                link = self._topology.links[step.link_index]
                for end, way in self._between_switches(step.peer, home, dst):
                    longer = Path((link, *way.links))
                    kinds.setdefault(end, {}).setdefault(longer.kind, longer)
            unbeaten = ((end, way) for end, ways in kinds.items() for way in _unbeaten(ways))
            best = sorted(unbeaten, key=lambda way: way[1].delay_ns)[:MAX_WAYS]
            result = self._onward[here, home] = tuple(best)
        return result

    def longest_rtt_ns(self, packet_bytes: int = 0) -> int:
        """The longest base round-trip time between a host that sends and one that receives.

        With the time that a packet of so many bytes takes on each link of one way, rounded down.
        """
        if packet_bytes not in self._longest_rtt_ns:
            costs = [_rtt_ns(link, packet_bytes) for link in self._topology.links]
            self._longest_rtt_ns[packet_bytes] = longest_cost(self._topology, self.routes, costs)
        return self._longest_rtt_ns[packet_bytes]

    @cached_property
    def _most_links(self) -> int:
        return longest_cost(self._topology, self.routes, [1] * len(self._topology.links))

    def most_links(self) -> int:
        """Most links between a host that sends and one that receives; 0 where no two hosts talk."""
        return self._most_links

    def most_switches(self) -> int:
        """Most switches between a host that sends and one that receives; 0 where no two hosts talk."""
        return max(0, self.most_links() - 1)


def _rtt_ns(link: Link, packet_bytes: int) -> int:
    """A link's part of a round-trip time."""
    return 2 * link.delay_ns + 8_000_000_000 * packet_bytes // link.rate_bps


def _unbeaten(kinds: Mapping[tuple[Kind, ...], Path]) -> Iterator[Path]:
    """Paths of one length that no other one equals or beats on each link."""
    for kind, path in kinds.items():
        others = (other for other in kinds if other != kind)
        if not any(all(map(_beats, other, kind)) for other in others):
            yield path


def _beats(one: Kind, other: Kind) -> bool:
    """Whether a link is nowhere slower than another."""
    return one[0] >= other[0] and one[1] <= other[1] and one[2] <= other[2]
