"""Names of the network in values that users write: addresses of hosts, ports of switches and their addresses.

`h2.ipv4`, `h2.ipv6`, `h2.mac` and `h2.gateway_mac` are of a host; `port(s1, h2)` and `mac(s1, h2)` are of the port of
s1 that leads to h2; `self` is whom the value is for.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from p4cc.errors import UserError
from topos import TopologyError

if TYPE_CHECKING:
    from topos import AddressPlan, Topology

ADDRESSES = ("ipv4", "ipv6", "mac", "gateway_mac")
"""The properties of hosts that entries may name."""
NAMES = "names are HOST.ipv4, HOST.ipv6, HOST.mac, HOST.gateway_mac, port(SWITCH, NEIGHBOUR) and mac(SWITCH, NEIGHBOUR)"
_OF_HOST = re.compile(rf"^([A-Za-z][\w.-]*)\.({'|'.join(ADDRESSES)})$")
_OF_PORT = re.compile(r"^(port|mac)\(\s*([\w.-]+)\s*,\s*([\w.-]+)\s*\)$")


@dataclass(frozen=True)
class Names:
    """Meaning of names in values of one node."""

    topology: Topology
    addresses: AddressPlan
    itself: str
    """The switch or host that `self` is."""

    def value(self, value: int | str, place: str) -> int | str:
        """A value with a name of the network's replaced by its number; raises UserError for a name it lacks."""
        if isinstance(value, int):
            return value
        if (of_host := _OF_HOST.match(value)) is not None:
            return self.host(of_host[1], of_host[2], place)
        if (of_port := _OF_PORT.match(value)) is not None:
            return self.of_port(of_port[1], of_port[2], of_port[3], place)
        return value

    def port(self, value: int | str, place: str) -> int:
        """A port by number or name; raises UserError."""
        found = self.value(value, place)
        if isinstance(found, int):
            return found
        if not found.isdecimal():
            raise UserError(
                f"{found[:60]!r} is not a port", place=place, remedy="give a port number or port(SWITCH, PEER)"
            )
        return int(found)

    def host(self, name: str, field: str, place: str) -> int:
        """An address of a host; raises UserError."""
        host = self.addresses.hosts.get(self.itself if name == "self" else name)
        if host is None:
            raise UserError(f"there is no host {name!r}", place=place, remedy=NAMES)
        return int(getattr(host, field))

    def of_port(self, kind: str, switch: str, peer: str, place: str) -> int:
        """The number (`port`) or the address (`mac`) of a switch's port that leads to a neighbour; raises UserError."""
        switch, peer = (self.itself if name == "self" else name for name in (switch, peer))
        try:
            number = self.topology.port_to(switch, peer).number
        except TopologyError as error:
            raise UserError(str(error), place=place, remedy=NAMES) from None
        return number if kind == "port" else self.addresses.port_mac(switch, number)
