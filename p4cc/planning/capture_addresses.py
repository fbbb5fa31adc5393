"""Addresses of a capture replaced by those of the network's hosts, with the checksums that cover them.

IPv4 over Ethernet, with VLAN tags or without; checksums of IPv4, TCP and UDP change by the difference (RFC 1624), so a
wrong one stays wrong. A packet that is cut before a field keeps what it has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from topos import HostAddress

_IPV4, _VLANS = 0x0800, (0x8100, 0x88A8)
_CHECKSUMS = {6: 16, 17: 6}
"""Where TCP and UDP have their checksum, by protocol number."""
_UDP = 17


@dataclass(frozen=True)
class Replacement:
    """The replacements of a capture's addresses."""

    hosts: Mapping[int, HostAddress]
    """Hosts by the capture's IPv4 addresses."""
    sender: HostAddress
    """The host that sends the packets."""

    def apply(self, packet: bytes) -> bytes:
        """The packet with its addresses replaced; a packet of other addresses stays as it is."""
        at = 12
        while (kind := int.from_bytes(packet[at : at + 2], "big")) in _VLANS:
            at += 4
        ip = at + 2
        if kind != _IPV4 or len(packet) < ip + 20 or packet[ip] >> 4 != 4:
            return packet
        made = bytearray(packet)
        for place, mac_at in ((ip + 12, 6), (ip + 16, 0)):
            host = self.hosts.get(int.from_bytes(packet[place : place + 4], "big"))
            if host is None:
                continue
            is_source = mac_at == 6
            made[mac_at : mac_at + 6] = (host.mac if is_source else self.sender.gateway_mac).to_bytes(6, "big")
            made[place : place + 4] = host.ipv4.to_bytes(4, "big")
            self._mend(made, ip, bytes(packet[place : place + 4]), host.ipv4.to_bytes(4, "big"))
        return bytes(made)

    def _mend(self, made: bytearray, ip: int, old: bytes, new: bytes) -> None:
        """Changes the checksums that cover an address."""
        _update(made, ip + 10, old, new)
        header = (made[ip] & 15) * 4
        protocol, is_first = made[ip + 9], int.from_bytes(made[ip + 6 : ip + 8], "big") & 0x1FFF == 0
        if protocol not in _CHECKSUMS or not is_first:
            return
        place = ip + header + _CHECKSUMS[protocol]
        # A UDP checksum of zero is none.
        if len(made) >= place + 2 and not (protocol == _UDP and not any(made[place : place + 2])):
            _update(made, place, old, new)
            if protocol == _UDP and not any(made[place : place + 2]):
                made[place : place + 2] = b"\xff\xff"


def _update(made: bytearray, place: int, old: bytes, new: bytes) -> None:
    """RFC 1624: HC' = ~(~HC + ~m + m')."""
    total = ~int.from_bytes(made[place : place + 2], "big") & 0xFFFF
    for at in range(0, len(old), 2):
        total += (~int.from_bytes(old[at : at + 2], "big") & 0xFFFF) + int.from_bytes(new[at : at + 2], "big")
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    made[place : place + 2] = (~total & 0xFFFF).to_bytes(2, "big")
