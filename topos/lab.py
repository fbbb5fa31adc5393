"""The network of a lab: the graph, and what real hosts and switches on one machine need in addition.

`topos.graph` numbers ports by the order of links and plans every address; a lab that was written for other tools comes
with its own port numbers, addresses, TCP ports and files. Plain data, checked once on construction and immutable.

Invariants: names are unique; a host has exactly one link; a port of a switch carries one link; no two switches share a
device id or a TCP port; all counts stay within the limits of `topos.graph`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from ipaddress import AddressValueError, IPv4Address, IPv4Interface, NetmaskValueError

from topos.addresses import format_ipv4, format_mac, plan_addresses
from topos.errors import Problem, TopologyError
from topos.graph import (
    MAX_DELAY_NS,
    MAX_HOSTS,
    MAX_LINKS,
    MAX_PORTS_PER_SWITCH,
    MAX_QUEUE_PKTS,
    MAX_RATE_BPS,
    MAX_SWITCHES,
    NAME_PATTERN,
    Topology,
)

GRPC_BASE = 9559
THRIFT_BASE = 9090
# The prefix of a scenario's hosts: `topos.addresses` hands out 10.0.0.0/8.
SCENARIO_PREFIX_LEN = 8
MAX_TCP_PORT = 65_535
# A shell command of a topology file; longer ones do not pass a terminal's line.
MAX_COMMAND_CHARS = 4_000
MAX_COMMANDS = 100
MAX_NEIGHBOURS = MAX_HOSTS

_NAME = re.compile(NAME_PATTERN)
_MAC = re.compile(r"^([0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}$")


@dataclass(frozen=True)
class LabHost:
    """A host: one interface with its addresses, and its initial routes and neighbours.

    `ipv4` has the form `10.0.1.1/24`; `neighbours` are permanent ARP entries (address, MAC); `commands` run in the
    host's own network namespace, as root, when the lab has started.
    """

    name: str
    ipv4: str
    mac: str
    interface: str = "eth0"
    gateway: str | None = None
    neighbours: tuple[tuple[str, str], ...] = ()
    commands: tuple[str, ...] = ()


@dataclass(frozen=True)
class LabSwitch:
    """A switch: where it listens, and the files that say what it runs (as the topology file names them)."""

    name: str
    device_id: int
    grpc_port: int
    thrift_port: int
    program: str | None = None
    runtime: str | None = None
    commands: str | None = None
    cpu_port: int | None = None
    priority_queues: int | None = None


@dataclass(frozen=True)
class LabEnd:
    """One end of a link: a switch and its port, or a host (port None)."""

    node: str
    port: int | None = None

    def __str__(self) -> str:
        return self.node if self.port is None else f"{self.node}:{self.port}"


@dataclass(frozen=True)
class LabLink:
    """A full-duplex link; None means that nothing limits it. `delay_ns` is one-way."""

    a: LabEnd
    b: LabEnd
    rate_bps: int | None = None
    delay_ns: int = 0
    queue_capacity_pkts: int | None = None
    loss: float = 0.0
    framing_bytes: int = 0


@dataclass(frozen=True)
class LabPort:
    """A port of a switch, its link and the far end."""

    number: int
    link: LabLink
    peer: LabEnd


@dataclass(frozen=True)
class LabNetwork:
    """A checked lab; raises TopologyError with every fault."""

    hosts: tuple[LabHost, ...]
    switches: tuple[LabSwitch, ...]
    links: tuple[LabLink, ...]

    def __post_init__(self) -> None:
        """Check every invariant of this file."""
        problems = [*_counts(self), *_names(self), *_hosts(self), *_switches(self)]
        if not problems:
            problems = [*_links(self)]
        if problems:
            raise TopologyError(tuple(problems))

    @cached_property
    def host_names(self) -> frozenset[str]:
        """Names of the hosts."""
        return frozenset(host.name for host in self.hosts)

    @cached_property
    def ports(self) -> dict[str, tuple[LabPort, ...]]:
        """Ports of each switch that have a link, by number."""
        found: dict[str, list[LabPort]] = {switch.name: [] for switch in self.switches}
        for link in self.links:
            for here, there in ((link.a, link.b), (link.b, link.a)):
                if here.port is not None:
                    found[here.node].append(LabPort(here.port, link, there))
        return {name: tuple(sorted(ports, key=lambda port: port.number)) for name, ports in found.items()}


def lab_of(topology: Topology, *, grpc_base: int = GRPC_BASE, thrift_base: int = THRIFT_BASE) -> LabNetwork:
    """The lab of a planned topology: its own port numbers and addresses; hosts know each other, so nobody asks by ARP.

    Every host has every other in its neighbour table with the MAC of its own gateway port: the network routes.
    """
    addresses = plan_addresses(topology)
    hosts: list[LabHost] = []
    for name, address in addresses.hosts.items():
        gateway = format_mac(address.gateway_mac)
        others = tuple((format_ipv4(other.ipv4), gateway) for far, other in addresses.hosts.items() if far != name)
        hosts.append(
            LabHost(
                name, f"{format_ipv4(address.ipv4)}/{SCENARIO_PREFIX_LEN}", format_mac(address.mac), neighbours=others
            )
        )
    switches = tuple(
        LabSwitch(name, device_id, grpc_base + index, thrift_base + index)
        for index, (name, device_id) in enumerate(addresses.device_ids.items())
    )
    links = tuple(
        LabLink(
            LabEnd(link.a, at_a),
            LabEnd(link.b, at_b),
            link.rate_bps,
            link.delay_ns,
            link.queue_capacity_pkts,
            link.loss,
            link.framing_bytes,
        )
        for link, (at_a, at_b) in zip(topology.links, topology.port_numbers, strict=True)
    )
    return LabNetwork(tuple(hosts), switches, links)


def _counts(lab: LabNetwork) -> Iterator[Problem]:
    if not lab.switches:
        yield Problem("switches", "the list is empty", "a lab needs at least one switch")
    limits = (
        ("hosts", len(lab.hosts), MAX_HOSTS),
        ("switches", len(lab.switches), MAX_SWITCHES),
        ("links", len(lab.links), MAX_LINKS),
    )
    for place, count, limit in limits:
        if count > limit:
            yield Problem(place, f"{count} {place} exceed the limit of {limit}", "describe a smaller network")


def _names(lab: LabNetwork) -> Iterator[Problem]:
    seen: set[str] = set()
    for kind, nodes in (("hosts", lab.hosts), ("switches", lab.switches)):
        for node in nodes:
            place = f"{kind}.{_shown(node.name)}"
            if not _NAME.match(node.name):
                remedy = "a name has up to 63 letters, digits, '_', '.' and '-', and starts with a letter"
                yield Problem(place, "is not a name", remedy)
            if node.name in seen:
                yield Problem(place, "is the name of two nodes", "rename one of them")
            seen.add(node.name)


def _hosts(lab: LabNetwork) -> Iterator[Problem]:
    owners: dict[IPv4Address, str] = {}
    for host in lab.hosts:
        place = f"hosts.{_shown(host.name)}"
        try:
            address = IPv4Interface(host.ipv4).ip
        except (AddressValueError, NetmaskValueError, ValueError):
            yield Problem(f"{place}.ip", f"{_shown(host.ipv4)} is not an IPv4 address", "write 10.0.1.1/24")
        else:
            if address in owners:
                yield Problem(
                    f"{place}.ip",
                    f"{address} is also the address of {owners[address]}",
                    "give each host a unique address",
                )
            owners.setdefault(address, host.name)
        if not _MAC.match(host.mac):
            yield Problem(f"{place}.mac", f"{_shown(host.mac)} is not a MAC address", "write 08:00:00:00:01:11")
        if host.gateway is not None and not _is_ipv4(host.gateway):
            yield Problem(f"{place}.gateway", f"{_shown(host.gateway)} is not an IPv4 address", "write 10.0.1.10")
        if len(host.neighbours) > MAX_NEIGHBOURS:
            yield Problem(place, "has too many neighbours", f"give at most {MAX_NEIGHBOURS}")
        if not all(_is_ipv4(address) and _MAC.match(mac) for address, mac in host.neighbours):
            yield Problem(f"{place}.neighbours", "must contain only addresses", "write an IPv4 and a MAC address")
        yield from _commands(place, host.commands)


def _commands(place: str, commands: tuple[str, ...]) -> Iterator[Problem]:
    if len(commands) > MAX_COMMANDS:
        yield Problem(f"{place}.commands", f"the list has {len(commands)} commands", f"give at most {MAX_COMMANDS}")
    for index, command in enumerate(commands):
        if len(command) > MAX_COMMAND_CHARS or not command.isprintable():
            cause = "is too long, or contains control characters"
            yield Problem(f"{place}.commands[{index}]", cause, "move it into a script, and give the script's name")


def _switches(lab: LabNetwork) -> Iterator[Problem]:
    ids: dict[int, str] = {}
    taken: dict[int, str] = {}
    for switch in lab.switches:
        place = f"switches.{_shown(switch.name)}"
        if not 0 <= switch.device_id < 1 << 63:
            yield Problem(place, f"device id {switch.device_id} is out of range", "give a small number")
        if switch.device_id in ids:
            yield Problem(place, f"has the same device id as {ids[switch.device_id]}", "give each switch a unique id")
        ids.setdefault(switch.device_id, switch.name)
        for kind, port in (("grpc_port", switch.grpc_port), ("thrift_port", switch.thrift_port)):
            if not 0 < port <= MAX_TCP_PORT:
                yield Problem(f"{place}.{kind}", f"{port} is not a TCP port", f"give 1 to {MAX_TCP_PORT}")
            if port in taken:
                yield Problem(
                    f"{place}.{kind}", f"{port} is also a port of {taken[port]}", "give each switch unique ports"
                )
            taken.setdefault(port, switch.name)
        if switch.cpu_port is not None and not 0 < switch.cpu_port < 511:
            yield Problem(
                f"{place}.cpu_port", f"{switch.cpu_port} is not a port", "give 1 to 510; packets to 511 are dropped"
            )
        if switch.priority_queues is not None and not 1 <= switch.priority_queues <= 8:
            cause = f"{switch.priority_queues} is out of range"
            yield Problem(f"{place}.priority_queues", cause, "a port has 1 to 8 queues")


def _links(lab: LabNetwork) -> Iterator[Problem]:
    switches = {switch.name for switch in lab.switches}
    degree = dict.fromkeys(lab.host_names, 0)
    used: dict[tuple[str, int], int] = {}
    for index, link in enumerate(lab.links):
        place = f"links[{index}]"
        for end in (link.a, link.b):
            if end.node not in switches and end.node not in degree:
                yield Problem(
                    place, f"there is no host or switch {_shown(end.node)}", "add the node, or correct the name"
                )
            elif end.node in degree:
                degree[end.node] += 1
                if end.port is not None:
                    yield Problem(place, f"gives host {end.node} a port number", "only switches have numbered ports")
            elif end.port is None:
                yield Problem(place, f"gives no port of switch {end.node}", "give a port number")
            else:
                if not 0 <= end.port <= MAX_PORTS_PER_SWITCH:
                    yield Problem(place, f"{end} is out of range", f"ports are 0 to {MAX_PORTS_PER_SWITCH}")
                if (end.node, end.port) in used:
                    yield Problem(place, f"links[{used[end.node, end.port]}] also uses {end}", "choose another port")
                used.setdefault((end.node, end.port), index)
        if link.a.port is None and link.b.port is None:
            yield Problem(place, "connects no switch", "put a switch between two hosts")
        yield from _measures(place, link)
    for name, count in degree.items():
        if count != 1:
            yield Problem(f"hosts.{name}", f"has {count} links", "in a lab, a host has exactly one link, to its switch")


def _measures(place: str, link: LabLink) -> Iterator[Problem]:
    if link.rate_bps is not None and not 0 < link.rate_bps <= MAX_RATE_BPS:
        yield Problem(place, f"a rate of {link.rate_bps} bit/s is out of range", f"give at most {MAX_RATE_BPS}")
    if not 0 <= link.delay_ns <= MAX_DELAY_NS:
        yield Problem(place, f"a delay of {link.delay_ns} ns is out of range", f"give at most {MAX_DELAY_NS}")
    if link.queue_capacity_pkts is not None and not 0 < link.queue_capacity_pkts <= MAX_QUEUE_PKTS:
        yield Problem(
            place,
            f"a queue capacity of {link.queue_capacity_pkts} packets is out of range",
            f"give at most {MAX_QUEUE_PKTS}",
        )
    if not 0.0 <= link.loss < 1.0:
        yield Problem(place, f"a loss of {link.loss} is out of range", "give a probability from 0 to below 1")


def _is_ipv4(text: str) -> bool:
    try:
        IPv4Address(text)
    except ValueError:
        return False
    return True


def _shown(text: str, limit: int = 60) -> str:
    """A value for a message: printable and short."""
    clean = text if text.isprintable() else repr(text)
    return clean if len(clean) <= limit else clean[: limit - 3] + "..."
