"""The address plan: an address that the description does not give follows from its order.

host number i (from 0):    IPv4 10.0.0.0 + i + 1, IPv6 fd00:: + the IPv4 address, and MAC 02:00:00:00:00:00 + i + 1
  by rack:                 IPv4 10.pod.rack.host, pods and racks of a pod from 0, hosts of a rack from 1
switch number s (from 0):  device id s + 1; MAC of its port p is 02:01:ss:ss:pp:pp with ss:ss = s + 1

Racks are the switches that hosts hang on. By rack, a rack is one prefix and a pod another, so route tables grow with
racks and not with hosts. Parts that do not fit in a byte take as many bits as they need.

All MAC addresses are locally administered unicast. Addresses of hosts in a description have precedence.
Addresses are plain integers; the text forms are for people.
"""

from collections import Counter
from dataclasses import dataclass
from ipaddress import IPv4Interface, IPv6Address
from weakref import ReferenceType, ref

from topos.errors import fail
from topos.graph import Topology

_HOST_IPV4_BASE = 10 << 24
_HOST_IPV6_PREFIX = 0xFD << 120
_HOST_MAC_BASE = 0x02 << 40
_PORT_MAC_BASE = 0x0201 << 32
_BYTE_BITS = 8


@dataclass(frozen=True)
class HostAddress:
    """The addresses of a host, and the MAC of its switch port."""

    ipv4: int
    mac: int
    gateway_mac: int
    further_macs: tuple[int, ...] = ()
    """Gateways of its links beyond the first, in order."""
    prefix_len: int = 32
    """Of its network: a host in it is sent to by its own MAC address, and not by the gateway's."""

    @property
    def ipv6(self) -> int:
        """The IPv4 address behind the prefix fd00::/96."""
        return self.ipv6_of(self.ipv4)

    @staticmethod
    def ipv6_of(ipv4: int) -> int:
        """The IPv6 address that goes with an IPv4 address."""
        return _HOST_IPV6_PREFIX | ipv4


@dataclass(frozen=True)
class AddressPlan:
    """Addresses of one topology: hosts by name, P4Runtime device ids by switch name, both in order."""

    hosts: dict[str, HostAddress]
    device_ids: dict[str, int]

    def port_mac(self, switch: str, port: int) -> int:
        """MAC address of a switch port; raises TopologyError for an unknown switch."""
        if switch not in self.device_ids:
            raise fail(f"switch {switch!r}", "is not part of this address plan", "name a switch of the topology")
        return _PORT_MAC_BASE | (self.device_ids[switch] << 16) | port


_last: list[tuple[ReferenceType[Topology], AddressPlan]] = []
"""The last topology and its plan, which callers share and leave as it is: planning needs it several times."""


def plan_addresses(topology: Topology) -> AddressPlan:
    """Give every host and switch of the topology its addresses."""
    for known, plan in _last:
        if known() is topology:
            return plan
    plan = _plan(topology)
    _last[:] = [(ref(topology), plan)]
    return plan


def _plan(topology: Topology) -> AddressPlan:
    device_ids = {name: index + 1 for index, name in enumerate(topology.switch_names)}
    plan = AddressPlan(hosts={}, device_ids=device_ids)
    numbers = _by_rack(topology) if topology.addresses == "by_rack" else range(1, len(topology.hosts) + 1)
    ends = zip(topology.hosts, topology.attachments.values(), numbers, strict=True)
    for index, (host, (switch, port), number) in enumerate(ends):
        own = None if host.ipv4 is None else IPv4Interface(host.ipv4)
        plan.hosts[host.name] = HostAddress(
            ipv4=_HOST_IPV4_BASE + number if own is None else int(own.ip),
            mac=_HOST_MAC_BASE + index + 1 if host.mac is None else _mac(host.mac),
            further_macs=tuple(plan.port_mac(there, its.number) for there, its in topology.interfaces[host.name][1:])
            if host.gateway_mac is None
            else (_mac(host.gateway_mac),) * (len(topology.interfaces[host.name]) - 1),
            gateway_mac=plan.port_mac(switch, port.number) if host.gateway_mac is None else _mac(host.gateway_mac),
            prefix_len=32 if own is None else own.network.prefixlen,
        )
    _check_planned(topology, plan)
    return plan


def _by_rack(topology: Topology) -> list[int]:
    """For each host in order: its pod, rack and place in the rack, as one number; raises TopologyError for too many."""
    pod_of = {host: number for number, hosts in enumerate(topology.pods) for host in hosts}
    racks: dict[tuple[int, str], int] = {}
    racks_of, hosts_of = Counter[int](), Counter[tuple[int, str]]()
    places: list[tuple[int, int, int]] = []
    for host, (switch, _) in topology.attachments.items():
        rack = (pod_of[host], switch)
        if rack not in racks:
            racks[rack] = racks_of[rack[0]]
            racks_of[rack[0]] += 1
        hosts_of[rack] += 1
        places.append((rack[0], racks[rack], hosts_of[rack]))
    # The last address of a rack stays free, as its first does.
    most = (len(topology.pods) - 1, max(racks_of.values()) - 1, max(hosts_of.values()) + 1)
    widths = tuple(number.bit_length() for number in most)
    if max(widths) <= _BYTE_BITS:
        widths = (_BYTE_BITS,) * 3
    if sum(widths) > 3 * _BYTE_BITS:
        shape = f"{len(topology.pods)} pods of up to {most[1] + 1} racks of up to {most[2] - 1} hosts"
        cause = f"{shape} need addresses of more than 24 bits"
        raise fail("topology.addresses", cause, "use in_order")
    _, rack_bits, host_bits = widths
    return [(pod << rack_bits | rack) << host_bits | host for pod, rack, host in places]


def _check_planned(topology: Topology, plan: AddressPlan) -> None:
    """Raise TopologyError where an address that a host was given is also one that another host got by its place."""
    if all(host.ipv4 is None and host.mac is None for host in topology.hosts):
        return
    taken: dict[tuple[str, int], str] = {}
    for name, address in plan.hosts.items():
        for kind, value, text in (
            ("ipv4", address.ipv4, format_ipv4(address.ipv4)),
            ("mac", address.mac, format_mac(address.mac)),
        ):
            if (kind, value) in taken:
                cause = f"{text} is assigned automatically to {name!r} or {taken[kind, value]!r}, which has none"
                raise fail(f"host {name!r}", cause, f"give every host its {kind}")
            taken[kind, value] = name


def _mac(text: str) -> int:
    return int(text.replace(":", ""), 16)


def format_ipv4(address: int) -> str:
    """Dotted form of an IPv4 address."""
    return ".".join(str(byte) for byte in address.to_bytes(4, "big"))


def format_ipv6(address: int) -> str:
    """Short form of an IPv6 address (RFC 5952)."""
    return str(IPv6Address(address))


def format_mac(address: int) -> str:
    """Colon form of a MAC address."""
    return ":".join(f"{byte:02x}" for byte in address.to_bytes(6, "big"))
