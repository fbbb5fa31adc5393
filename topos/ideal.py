"""Completion time of a flow that is alone in the network, by which slowdowns are counted.

Times are whole picoseconds, rounded up for each packet and link, as the engine counts them
(`Rate::time_to_send` of engine/units).

Source: docs/algorithms/metrics.md#ideal-fct.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topos.graph import Link
    from topos.paths import Paths

_PS_PER_S = 10**12
_PS_PER_NS = 1_000


class Ideal(Protocol):
    """A formula for the completion time of a flow that meets no other."""

    def fct_ns(self, paths: Paths, src: str, dst: str, size_bytes: int) -> float:
        """Completion time of a flow of this size between two hosts of the network."""
        ...


@dataclass(frozen=True)
class AloneIdeal:
    """What the links need: each packet its own time on each link, store and forward, then the last ACK's way back.

    Exact for a flow that sends at the rate of its host's link from its start on, and a lower bound for any other. Of
    several shortest paths the fastest counts.
    """

    mss_bytes: int
    """Payload of a full packet."""
    header_bytes: int
    """From IP to the payload, in each data packet."""
    ack_bytes: int
    """IP bytes of an ACK."""
    sprayed: bool = False
    """Packets may take several paths at the same time: links between switches then add up and bound no flow."""
    segment_bytes: int | None = None
    """Payload of a segment, where flows are made of those: its packets are full but for its last."""

    def fct_ns(self, paths: Paths, src: str, dst: str, size_bytes: int) -> float:
        """Completion time of a flow of this size between two hosts of the network."""
        there = min(self._data_ps(way.links, size_bytes) for way in paths.ways(src, dst))
        back = min(_trip_ps(way.links, self.ack_bytes) for way in paths.ways(dst, src))
        return (there + back) / _PS_PER_NS

    def _data_ps(self, links: Sequence[Link], size_bytes: int) -> int:
        """From the start to the arrival of the last byte."""
        delays_ps = sum(link.delay_ns for link in links) * _PS_PER_NS
        if self.segment_bytes is not None and self.segment_bytes < size_bytes and self.segment_bytes % self._full_bytes:
            return delays_ps + self._segments_ps(links, size_bytes, self.segment_bytes)
        full_pkts, rest_bytes = divmod(size_bytes - 1, self._full_bytes)
        last = self._times_ps(links, rest_bytes + 1)
        if full_pkts == 0:
            return delays_ps + sum(last)
        full = self._times_ps(links, self._full_bytes)
        # The last packet catches up with the one before it at some link `at`: until there the full
        # packets need their time on each link, and all but one of them that of the slowest link so far;
        # from there on only the last one.
        before, slowest = list(accumulate(full)), list(accumulate(full, max))
        if self.sprayed:
            slowest[-1] = max(full[0], full[-1])
        return delays_ps + max(
            (full_pkts - 1) * slowest[at] + before[at] + sum(last[at:]) for at in self._places(links)
        )

    def _segments_ps(self, links: Sequence[Link], size_bytes: int, segment_bytes: int) -> int:
        """Of segments that end in a short packet: at one link all packets follow each other, or it takes longer."""
        segments, rest_bytes = divmod(size_bytes, segment_bytes)
        of_segment, of_rest = divmod(segment_bytes, self._full_bytes), divmod(rest_bytes, self._full_bytes)
        full = self._times_ps(links, self._full_bytes)
        short = self._times_ps(links, of_segment[1])
        end = self._times_ps(links, of_rest[1]) if of_rest[1] else [0] * len(links)
        last = end if of_rest[1] else full if rest_bytes else short
        full_pkts = segments * of_segment[0] + of_rest[0]
        return max(
            sum(full[:at]) + full_pkts * full[at] + segments * short[at] + end[at] + sum(last[at + 1 :])
            for at in self._places(links)
        )

    @property
    def _full_bytes(self) -> int:
        """Payload of the largest packet."""
        return self.mss_bytes if self.segment_bytes is None else min(self.mss_bytes, self.segment_bytes)

    def _times_ps(self, links: Sequence[Link], payload_bytes: int) -> list[int]:
        return [_time_ps(link, self.header_bytes + payload_bytes) for link in links]

    def _places(self, links: Sequence[Link]) -> Sequence[int]:
        """Links that may bound a flow."""
        return (0, len(links) - 1) if self.sprayed else range(len(links))


@dataclass(frozen=True)
class HpccIdeal:
    """The formula of HPCC's ns-3 scripts: a base round trip, then the flow with its headers at the slowest rate.

    It counts the first packet twice, and a short flow as a full packet: an undisturbed flow lies below 1.
    """

    mss_bytes: int
    header_bytes: int
    packet_bytes: int
    """Whose time on each link of one way belongs to the base round trip."""

    def fct_ns(self, paths: Paths, src: str, dst: str, size_bytes: int) -> float:
        """Completion time of a flow of this size between two hosts of the network."""
        path = paths.between(src, dst)
        packet_bits = 8 * self.packet_bytes
        store_ns = sum(packet_bits * 1e9 / link.rate_bps for link in path.links)
        wire_bits = 8 * (size_bytes + self.header_bytes * -(-size_bytes // self.mss_bytes))
        return 2 * path.delay_ns + store_ns + wire_bits * 1e9 / path.rate_bps


def _trip_ps(links: Sequence[Link], ip_bytes: int) -> int:
    """A single packet's way."""
    return sum(link.delay_ns * _PS_PER_NS + _time_ps(link, ip_bytes) for link in links)


def _time_ps(link: Link, ip_bytes: int) -> int:
    """A packet's time on a link."""
    return -(-8 * (ip_bytes + link.framing_bytes) * _PS_PER_S // link.rate_bps)
