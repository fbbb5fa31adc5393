"""The network of a run as its table of links has it: directed links, and those on shortest paths between hosts."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Way:
    """One direction of a link."""

    start: str
    start_port: int
    end: str
    end_port: int
    rate_bps: int
    bytes: int

    def __str__(self) -> str:
        """Its ends."""
        return f"{self.start} -> {self.end}"


@dataclass(frozen=True)
class Crossing:
    """Directed links that packets between two hosts may take."""

    first: Way
    last: Way
    inner: tuple[Way, ...]
    """Between switches, on any shortest path."""
    siblings: dict[Way, tuple[Way, ...]]
    """For an inner link, all equal choices of its switch, itself included."""

    @property
    def rate_bps(self) -> int:
        """Upper bound of the flow's rate: the slower access link, and the best inner links."""
        rates = [self.first.rate_bps, self.last.rate_bps]
        if self.inner:
            rates.append(max(way.rate_bps for way in self.inner))
        return min(rates)


class Graph:
    """Links of one run."""

    def __init__(self, links: pl.DataFrame) -> None:
        self.ways = [_way(*row) for row in links.select("link", "rate_bps", "bytes").iter_rows()]
        self._out: dict[str, list[Way]] = {}
        self._into: dict[str, list[Way]] = {}
        for way in self.ways:
            self._out.setdefault(way.start, []).append(way)
            self._into.setdefault(way.end, []).append(way)
        self._far: dict[str, dict[str, int]] = {}

    @cached_property
    def first_of(self) -> dict[str, Way]:
        """The link that a host sends on."""
        return {name: ways[0] for name, ways in self._out.items() if len(ways) == 1}

    @cached_property
    def last_of(self) -> dict[str, Way]:
        """The link that a host receives on."""
        return {name: ways[0] for name, ways in self._into.items() if len(ways) == 1}

    def crossing(self, src: str, dst: str) -> Crossing | None:
        """Links between two hosts; None where either has not one link, or no path leads there."""
        first, last = self.first_of.get(src), self.last_of.get(dst)
        if first is None or last is None:
            return None
        far = self._distances(last.start)
        if first.end not in far:
            return None
        inner: dict[Way, tuple[Way, ...]] = {}
        level = {first.end}
        while level and last.start not in level:
            further: set[str] = set()
            for node in sorted(level):
                ways = tuple(way for way in self._out[node] if far.get(way.end, -1) == far[node] - 1)
                inner.update(dict.fromkeys(ways, ways))
                further |= {way.end for way in ways}
            level = further
        return Crossing(first, last, tuple(inner), inner)

    def _distances(self, home: str) -> dict[str, int]:
        """Links from each switch to one."""
        found = self._far.get(home)
        if found is None:
            found = {home: 0}
            waiting = deque([home])
            while waiting:
                node = waiting.popleft()
                for way in self._into.get(node, ()):
                    if way.start not in found and way.start not in self.first_of:
                        found[way.start] = found[node] + 1
                        waiting.append(way.start)
            self._far[home] = found
        return found


def _way(link: str, rate_bps: int, count: int) -> Way:
    ends = [(name, int(port)) for name, _, port in (end.rpartition(":") for end in link.split("->"))]
    return Way(*ends[0], *ends[1], rate_bps, count)
