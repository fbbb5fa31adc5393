"""The address plan: every address follows from the order of the description, none is configured.

host number i (from 0):    IPv4 10.0.0.0 + i + 1 and MAC 02:00:00:00:00:00 + i + 1
switch number s (from 0):  device id s + 1; MAC of its port p is 02:01:ss:ss:pp:pp with ss:ss = s + 1

All MAC addresses are locally administered unicast. Addresses are plain integers; the text forms are for people.
"""

from dataclasses import dataclass

from topos.errors import fail
from topos.graph import Topology

_HOST_IPV4_BASE = 10 << 24
_HOST_MAC_BASE = 0x02 << 40
_PORT_MAC_BASE = 0x0201 << 32


@dataclass(frozen=True)
class HostAddress:
    """What a host needs to send: its own addresses, and the MAC of the switch port it hangs on."""

    ipv4: int
    mac: int
    gateway_mac: int


@dataclass(frozen=True)
class AddressPlan:
    """Addresses of one topology: hosts by name, P4Runtime device ids by switch name, both in order."""

    hosts: dict[str, HostAddress]
    device_ids: dict[str, int]

    def port_mac(self, switch: str, port: int) -> int:
        """MAC address of a switch port; raises TopologyError for an unknown switch."""
        if switch not in self.device_ids:
            raise fail(f"switch {switch!r}", "not part of this address plan", "name a switch of the topology")
        return _PORT_MAC_BASE | (self.device_ids[switch] << 16) | port

    def host_of_ipv4(self, address: int) -> str | None:
        """Name of the host with this address, or None."""
        return next((name for name, host in self.hosts.items() if host.ipv4 == address), None)


def plan_addresses(topology: Topology) -> AddressPlan:
    """Give every host and switch of the topology its addresses."""
    device_ids = {name: index + 1 for index, name in enumerate(topology.switch_names)}
    plan = AddressPlan(hosts={}, device_ids=device_ids)
    for index, (name, (switch, port)) in enumerate(topology.attachments.items()):
        plan.hosts[name] = HostAddress(
            ipv4=_HOST_IPV4_BASE + index + 1,
            mac=_HOST_MAC_BASE + index + 1,
            gateway_mac=plan.port_mac(switch, port.number),
        )
    return plan


def format_ipv4(address: int) -> str:
    """Dotted form of an IPv4 address."""
    return ".".join(str(byte) for byte in address.to_bytes(4, "big"))


def format_mac(address: int) -> str:
    """Colon form of a MAC address."""
    return ":".join(f"{byte:02x}" for byte in address.to_bytes(6, "big"))
