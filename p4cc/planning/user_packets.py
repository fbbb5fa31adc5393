"""User packets in the engine's description: bytes, and when each is due."""

from __future__ import annotations

import ipaddress
import itertools
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from p4cc.errors import UserError
from p4cc.files import find_named
from p4cc.planning.capture import Captured, read_capture
from p4cc.planning.capture_addresses import Replacement
from p4cc.planning.hosts import Hosts, some
from p4cc.planning.names import Names
from p4cc.planning.packet_expression import Scope, packets_of
from p4cc.scenario.user_packets import MAX_PACKET_BYTES, MAX_PACKETS, PacketsTraffic, ReplayTraffic
from topos import plan_addresses

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from p4cc import spec
    from p4cc.planning.programs import HeaderTypes
    from p4cc.scenario.user_packets import PacketsReceived, UserTraffic
    from topos import AddressPlan, HostAddress, Topology

MAX_COUNT = 1 << 40
"""As many packets as there is time for."""
MAX_BYTES = 64 << 20
"""Bytes of all packets of an item, zeros at their ends not counted."""


@dataclass(frozen=True)
class UserPackets:
    """Plans the packets of one item of traffic."""

    scenario: Path
    key: str
    """Place of the item in the scenario."""
    hosts: Hosts
    stop_ns: int
    headers_of: Callable[[str], HeaderTypes]
    """Header types of a switch's program."""

    def sources(self, item: UserTraffic) -> list[spec.PacketsSpec]:
        """The packets of each sender; raises UserError."""
        if isinstance(item, PacketsTraffic):
            return self._packets(item)
        return self._replay(item) if isinstance(item, ReplayTraffic) else []

    @cached_property
    def _addresses(self) -> AddressPlan:
        return plan_addresses(self.hosts.topology)

    def _packets(self, item: PacketsTraffic) -> list[spec.PacketsSpec]:
        """A source for each host that sends the item's packets."""
        shared = self._given(item)
        senders = self.hosts.several("sources", item.sources)
        return [self._source(item, host, shared or self._scapy(item, host)) for host in senders]

    def _replay(self, item: ReplayTraffic) -> list[spec.PacketsSpec]:
        """The source of a capture's packets."""
        self.hosts.one("source", item.source)
        captured = self._capture(item.pcap)
        times = [packet.time_ps for packet in captured if packet.time_ps is not None]
        if len(times) < len(captured):
            cause = f"{len(captured) - len(times)} of its packets have no timestamp"
            raise self.hosts.error("pcap", cause, "repeat the capture, or send the packets with kind packets")
        if (replaced := self._replacement(item)) is not None:
            captured = [Captured(one.time_ps, replaced.apply(one.data), one.length) for one in captured]
        begin, end_ns = min(times), self._end_ns(item)
        last_ps = (end_ns - item.start_ns) * 1_000
        due = sorted(
            ((round((time - begin) / item.speed), place) for place, time in enumerate(times)), key=lambda one: one
        )
        kept = [(at, captured[place]) for at, place in due if at < last_ps]
        if not kept:
            raise self.hosts.error("start_ns", "no packet of the item is sent before the end", "start earlier")
        offsets = [at for at, _ in kept]
        gaps = [after - before for before, after in itertools.pairwise(offsets)]
        frames = [self._frame(one.data, gap, one.length) for (_, one), gap in zip(kept, [*gaps, 0], strict=True)]
        return [self._described(item, item.source, self._bounded(frames), len(frames))]

    def _given(self, item: PacketsTraffic) -> list[Captured] | None:
        """Packets that are the same whoever sends them."""
        if item.pcap is not None:
            return self._capture(item.pcap)
        if item.hex is not None:
            return [self._hex(place, text) for place, text in enumerate(item.hex)]
        return None

    def _hex(self, place: int, text: str) -> Captured:
        try:
            data = bytes.fromhex(text)
        except ValueError as error:
            raise self.hosts.error(f"hex[{place}]", str(error), "write two hexadecimal digits per byte") from None
        if not 0 < len(data) <= MAX_PACKET_BYTES:
            raise self.hosts.error(f"hex[{place}]", f"a packet has {len(data)} bytes", f"give 1 to {MAX_PACKET_BYTES}")
        return Captured(None, data, len(data))

    def _scapy(self, item: PacketsTraffic, host: str) -> list[Captured]:
        switch = self.hosts.topology.attachments[host][0]
        found: list[Captured] = []
        for place, text in enumerate(item.scapy or ()):
            scope = Scope(
                Names(self.hosts.topology, self._addresses, host),
                lambda: self.headers_of(switch),
                f"{self.hosts.place}.scapy[{place}]",
            )
            made = packets_of(text, scope, MAX_PACKETS - len(found))
            found += [Captured(None, data, len(data)) for data in made]
        return found

    def _capture(self, name: str) -> list[Captured]:
        return read_capture(find_named(name, self.scenario, what="capture", key=f"{self.key}.pcap"))

    def _source(self, item: PacketsTraffic, host: str, packets: Sequence[Captured]) -> spec.PacketsSpec:
        if item.period_ns is None and item.rate_bps is None:
            gaps, count = [0] * len(packets), item.count or len(packets)
            if count > len(packets):
                cause = f"{count} packets from {len(packets)} would all be sent at once"
                raise self.hosts.error("count", cause, "give period_ns or rate_bps")
        else:
            gaps = [self._gap_ps(item, packet) for packet in packets]
            count = item.count or MAX_COUNT
        frames = [self._frame(one.data, gap, one.length) for one, gap in zip(packets, gaps, strict=True)]
        return self._described(item, host, self._bounded(frames), count)

    def _gap_ps(self, item: PacketsTraffic, packet: Captured) -> int:
        """From one packet to the next."""
        if item.period_ns is not None:
            return item.period_ns * 1_000
        return max(1, round(packet.length * 8 * 10**12 / (item.rate_bps or 1)))

    def _frame(self, data: bytes, gap_ps: int, length: int) -> spec.FrameSpec:
        head = data.rstrip(b"\0")
        return {"hex": head.hex(), "zeros": length - len(head), "gap_ps": gap_ps}

    def _bounded(self, frames: list[spec.FrameSpec]) -> list[spec.FrameSpec]:
        if sum(len(frame["hex"]) for frame in frames) > 2 * MAX_BYTES:
            raise UserError(
                f"the packets exceed {MAX_BYTES} bytes in total", place=self.hosts.place, remedy="send fewer packets"
            )
        return frames

    def _described(
        self, item: PacketsTraffic | ReplayTraffic, host: str, frames: list[spec.FrameSpec], count: int
    ) -> spec.PacketsSpec:
        return {
            "name": item.label,
            "host": host,
            "frames": frames,
            "count": count,
            "start_ns": item.start_ns,
            "end_ns": max(item.start_ns, self._end_ns(item)),
            "priority": item.priority,
        }

    def _end_ns(self, item: PacketsTraffic | ReplayTraffic) -> int:
        return self.stop_ns if item.end_ns is None else item.end_ns

    def _replacement(self, item: ReplayTraffic) -> Replacement | None:
        if not item.addresses:
            return None
        hosts: dict[int, HostAddress] = {}
        known = self._addresses.hosts
        for text, name in item.addresses.items():
            try:
                address = int(ipaddress.IPv4Address(text))
            except ValueError:
                raise self.hosts.error(f"addresses.{text}", "is not an IPv4 address", "write it as 10.0.0.1") from None
            if name not in known:
                raise self.hosts.error(f"addresses.{text}", f"there is no host {name!r}", f"hosts: {some(known)}")
            hosts[address] = known[name]
        return Replacement(hosts, known[item.source])


def plan_received(
    received: PacketsReceived | None, topology: Topology, scenario: Path
) -> spec.PacketsReceivedSpec | None:
    """The engine's record of packets that belong to no flow; raises UserError for a pattern that fits no host."""
    if received is None:
        return None
    hosts = Hosts(topology, f"{scenario} at record.packets_received").several("hosts", received.hosts)
    return {"snap_bytes": received.snap_bytes, "max_packets": received.max_packets, "hosts": hosts}
