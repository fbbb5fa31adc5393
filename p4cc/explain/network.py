"""The network of a run as its table of links has it: directed links, and those on shortest paths between hosts."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

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

    stages: tuple[tuple[Way, ...], ...]
    """From host to host; a packet takes one link of each."""
    ends: tuple[tuple[Way, bool], ...]
    """The first link of a sender, and the last one of a receiver (True), that has no other."""
    siblings: Mapping[Way, tuple[Way, ...]]
    """For all other links the equal choices, itself included: those of its switch, or of a host with several links."""

    @property
    def rate_bps(self) -> int:
        """Upper bound of the flow's rate: the slower access link, and the best inner links."""
        first, *inner, last = (max(way.rate_bps for way in stage) for stage in self.stages)
        return min(first, last, max(inner, default=first))

    @property
    def is_open(self) -> bool:
        """Whether one of the hosts has several links that lead there equally well."""
        return len(self.stages[0]) > 1 or len(self.stages[-1]) > 1


class Graph:
    """Links of one run."""

    def __init__(self, links: pl.DataFrame) -> None:
        self.ways = [_way(*row) for row in links.select("link", "rate_bps", "bytes").iter_rows()]
        self._out: dict[str, list[Way]] = {}
        self._into: dict[str, list[Way]] = {}
        for way in self.ways:
            self._out.setdefault(way.start, []).append(way)
            self._into.setdefault(way.end, []).append(way)
        self._far: dict[frozenset[str], dict[str, int]] = {}

    @cached_property
    def hosts(self) -> frozenset[str]:
        """Its hosts, whose ports are numbered from 0; those of switches are from 1."""
        return frozenset(way.start for way in self.ways if way.start_port == 0)

    def crossing(self, src: str, dst: str) -> Crossing | None:
        """Links between two hosts; None where no path leads there."""
        firsts, lasts = self._out.get(src, ()), self._into.get(dst, ())
        far = self._distances(frozenset(way.start for way in lasts))
        nearest = min((far[way.end] for way in firsts if way.end in far), default=None)
        if nearest is None:
            return None
        stages = [tuple(way for way in firsts if far.get(way.end) == nearest)]
        siblings: dict[Way, tuple[Way, ...]] = {}
        for distance in range(nearest, 0, -1):
            found: list[Way] = []
            for node in sorted({way.end for way in stages[-1]}):
                ways = tuple(way for way in self._out[node] if far.get(way.end) == distance - 1)
                siblings.update(dict.fromkeys(ways, ways))
                found += ways
            stages.append(tuple(found))
        before = {way.end for way in stages[-1]}
        stages.append(tuple(way for way in lasts if way.start in before))
        ends: list[tuple[Way, bool]] = []
        for stage, links, is_last in ((stages[0], firsts, False), (stages[-1], lasts, True)):
            if len(links) == 1:
                ends.append((stage[0], is_last))
            else:
                siblings.update(dict.fromkeys(stage, stage))
        return Crossing(tuple(stages), tuple(ends), siblings)

    def _distances(self, homes: frozenset[str]) -> dict[str, int]:
        """Links from each switch to the nearest of some."""
        found = self._far.get(homes)
        if found is None:
            found = dict.fromkeys(homes, 0)
            waiting = deque(sorted(homes))
            while waiting:
                node = waiting.popleft()
                for way in self._into.get(node, ()):
                    if way.start not in found and way.start not in self.hosts:
                        found[way.start] = found[node] + 1
                        waiting.append(way.start)
            self._far[homes] = found
        return found


def _way(link: str, rate_bps: int, count: int) -> Way:
    ends = [(name, int(port)) for name, _, port in (end.rpartition(":") for end in link.split("->"))]
    return Way(*ends[0], *ends[1], rate_bps, count)
