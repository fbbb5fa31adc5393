"""Hosts that take packets slowly, in the engine's description: what their network cards hold, and when they pause."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from p4cc.errors import UserError
from p4cc.planning.fabric import enough_headroom_bytes
from p4cc.planning.hosts import Hosts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from p4cc import spec
    from p4cc.scenario.fabric import BufferSettings
    from p4cc.scenario.faults import SlowReceiver
    from topos import Link, Topology

_RESUME_PACKETS = 2
"""How far the card empties below its threshold before it resumes the switch, in packets of the largest size."""


def slow_receivers(
    given: Sequence[SlowReceiver], topology: Topology, buffer: BufferSettings | None, most_bytes: int, scenario: str
) -> list[spec.SlowReceiverSpec]:
    """The hosts of all entries; raises UserError at an entry that names none, or whose numbers cannot be."""
    if not given:
        return []
    links = {name: link for link in topology.links for name in (link.a, link.b)}
    ends = Counter(name for link in topology.links for name in (link.a, link.b))
    lossless = [] if buffer is None else buffer.lossless_priorities
    found: dict[str, spec.SlowReceiverSpec] = {}
    for index, receiver in enumerate(given):
        place = f"{scenario} at slow_receivers[{index}]"
        for host in Hosts(topology, place).several("host", [receiver.host]):
            if host in found:
                raise UserError(
                    f"{host} is named twice", place=f"{place}.host", remedy="name each host in one of the entries"
                )
            if ends[host] > 1:
                raise UserError(
                    f"{host} has several links, and slow receivers have one",
                    place=f"{place}.host",
                    remedy="name a host with one link",
                )
            found[host] = _one(host, receiver, links[host], lossless, most_bytes, place)
    return list(found.values())


def _one(
    host: str, receiver: SlowReceiver, link: Link, lossless: Sequence[int], most_bytes: int, place: str
) -> spec.SlowReceiverSpec:
    if receiver.receive_rate_bps >= link.rate_bps:
        raise UserError(
            f"{receiver.receive_rate_bps:,} bit/s is not below the rate of {host}'s link, {link.rate_bps:,} bit/s",
            place=f"{place}.receive_rate_bps",
            remedy="give a lower rate, or remove the entry",
        )
    packet = most_bytes + link.framing_bytes
    headroom = len(lossless) * enough_headroom_bytes(link, most_bytes, len(lossless))
    least = headroom + (_RESUME_PACKETS + 1 if lossless else 1) * packet
    if receiver.buffer_bytes < least:
        raise UserError(
            f"{receiver.buffer_bytes:,} B cannot hold what arrives at {host} before a pause takes effect",
            place=f"{place}.buffer_bytes",
            remedy=f"give {least:,} B or more",
        )
    xoff = receiver.buffer_bytes - headroom
    made: spec.SlowReceiverSpec = {
        "host": host,
        "rate_bps": receiver.receive_rate_bps,
        "start_ns": receiver.start_ns,
        "buffer_bytes": receiver.buffer_bytes,
        "lossless_priorities": list(lossless),
        "xoff_bytes": xoff,
        "xon_bytes": xoff - _RESUME_PACKETS * packet if lossless else 0,
    }
    if receiver.end_ns is not None:
        made["end_ns"] = receiver.end_ns
    return made
