"""The graph model: hosts, switches and links, checked once and immutable afterwards.

Invariants (kept by `check_graph`, which `Topology` runs on construction):
every link joins two different known nodes, at least one of the two a switch; links between the same two switches are
alike in all but their ports; a host has at least one link; names are unique over hosts and switches; all counts stay
within the limits below.

A link may say which ports it takes; a switch numbers its other links with the lowest numbers left, from 1 on, in the
order of `Topology.links`, so that the same description gives the same port numbers everywhere. Delays are one-way
propagation, rates are per direction.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv4Interface
from itertools import count as counting
from itertools import filterfalse
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from topos.errors import Problem, TopologyError, fail

# Host addresses are handed out from one /8, MAC addresses likewise; two bytes of a port's tell its switch.
MAX_HOSTS = 16_384
MAX_SWITCHES = 4_096
MAX_LINKS = 65_536
# v1model ports are nine bits; 511 drops and 510 is by custom the controller's port, so 1..509 carry links.
MAX_PORTS_PER_SWITCH = 509
# Ten times the fastest Ethernet of today; catches a rate given in the wrong unit.
MAX_RATE_BPS = 16_000_000_000_000
# A geostationary hop is 140 ms; ten seconds is a mistake.
MAX_DELAY_NS = 10_000_000_000
MAX_INTERFACES = 64
# `enq_qdepth` is 19 bits wide.
MAX_QUEUE_PKTS = (1 << 19) - 1
MAX_FRAMING_BYTES = 256

IPV4_PATTERN = r"^([0-9]{1,3}\.){3}[0-9]{1,3}(/[0-9]{1,2})?$"
MAC_PATTERN = r"^([0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}$"
Addressing = Literal["in_order", "by_rack"]
NAME_PATTERN = r"^[A-Za-z][A-Za-z0-9_.-]{0,62}$"
Name = Annotated[str, Field(pattern=NAME_PATTERN)]


class Node(BaseModel):
    """A host or a switch: a name, unique in its topology."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Name


class Host(Node):
    """An end system, with a network interface for each of its links; it forwards nothing.

    All interfaces have the same addresses. They are numbered from 0 in the order of the links.

    Addresses are planned (`topos.addresses`) where the description has none. `ipv4` has the form `10.0.1.1/24`; what
    lies in that network is sent to its own MAC address, anything else, and all where there is no length, to
    `gateway_mac`: that of the switch's port if not given.
    """

    ipv4: Annotated[str, Field(pattern=IPV4_PATTERN)] | None = None
    mac: Annotated[str, Field(pattern=MAC_PATTERN)] | None = None
    gateway_mac: Annotated[str, Field(pattern=MAC_PATTERN)] | None = None


class Switch(Node):
    """A P4 switch; its ports are numbered by the order of its links."""


class Link(BaseModel):
    """A full-duplex link; every field holds for both directions.

    `queue_capacity_pkts` bounds the queue of a switch port that sends into this link, the packet on the wire not
    counted; a host's own interface is not bounded by it. `framing_bytes` is what each packet costs on the wire above
    its IP length (0 by default, 24 or 38 for Ethernet). `loss` is the chance that a packet is lost on the wire. Routes
    use a `one_way` link from `a` to `b` only; what is on the wire (pauses) goes both ways all the same.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    a: Name
    b: Name
    rate_bps: Annotated[int, Field(gt=0, le=MAX_RATE_BPS)]
    delay_ns: Annotated[int, Field(ge=0, le=MAX_DELAY_NS)]
    queue_capacity_pkts: Annotated[int, Field(gt=0, le=MAX_QUEUE_PKTS)]
    framing_bytes: Annotated[int, Field(ge=0, le=MAX_FRAMING_BYTES)] = 0
    loss: Annotated[float, Field(ge=0.0, lt=1.0)] = 0.0
    one_way: bool = False
    a_port: Annotated[int, Field(ge=1, le=MAX_PORTS_PER_SWITCH)] | None = None
    b_port: Annotated[int, Field(ge=1, le=MAX_PORTS_PER_SWITCH)] | None = None

    def carries_from(self, node: str) -> bool:
        """Whether routes may use it from this one of its ends to the other."""
        return not self.one_way or self.a == node


class _Description(BaseModel):
    """The outer shape of a description, before the graph is checked."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    hosts: tuple[Host, ...]
    switches: tuple[Switch, ...]
    links: tuple[Link, ...]


@dataclass(frozen=True)
class Port:
    """One end of a link at a switch: the port's number there, the link, and the node at the far end."""

    number: int
    link_index: int
    peer: str


@dataclass(frozen=True)
class Roles:
    """What a shape means its nodes for.

    Hosts that send and receive if nothing else is said, the port that is expected to be the bottleneck (a switch
    and its neighbour), and the hosts by pod where the shape has pods.
    """

    senders: tuple[str, ...] = ()
    receivers: tuple[str, ...] = ()
    bottleneck: tuple[str, str] | None = None
    pods: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Topology:
    """A checked network: hosts, switches and links in the order they were described."""

    hosts: tuple[Host, ...]
    switches: tuple[Switch, ...]
    links: tuple[Link, ...]
    roles: Roles = Roles()
    addresses: Addressing = "in_order"
    """How hosts without addresses get them (`topos.addresses`)."""

    def __post_init__(self) -> None:
        """Raise TopologyError with every fault of the graph."""
        check_graph(self.hosts, self.switches, self.links)

    @cached_property
    def host_names(self) -> tuple[str, ...]:
        """Names of the hosts in order."""
        return tuple(host.name for host in self.hosts)

    @cached_property
    def switch_names(self) -> tuple[str, ...]:
        """Names of the switches in order."""
        return tuple(switch.name for switch in self.switches)

    @cached_property
    def port_numbers(self) -> tuple[tuple[int | None, int | None], ...]:
        """For each link the numbers of its ports at `a` and at `b`; None at a host."""
        given: dict[str, set[int]] = {name: set() for name in self.switch_names}
        for link in self.links:
            for node, number in ((link.a, link.a_port), (link.b, link.b_port)):
                if number is not None:
                    given[node].add(number)
        free = {name: filterfalse(taken.__contains__, counting(1)) for name, taken in given.items()}

        def numbered(node: str, own: int | None) -> int | None:
            return next(free[node]) if own is None and node in free else own

        return tuple((numbered(link.a, link.a_port), numbered(link.b, link.b_port)) for link in self.links)

    @cached_property
    def ports(self) -> Mapping[str, tuple[Port, ...]]:
        """Ports of each switch, by switch in order and by number."""
        found: dict[str, list[Port]] = {name: [] for name in self.switch_names}
        for index, (link, (at_a, at_b)) in enumerate(zip(self.links, self.port_numbers, strict=True)):
            for here, there, number in ((link.a, link.b, at_a), (link.b, link.a, at_b)):
                if number is not None:
                    found[here].append(Port(number, index, there))
        return {name: tuple(sorted(ports, key=lambda port: port.number)) for name, ports in found.items()}

    def far_number(self, switch: str, port: Port) -> int | None:
        """The number of the port at the other end of a switch's link; None at a host."""
        at_a, at_b = self.port_numbers[port.link_index]
        return at_b if self.links[port.link_index].a == switch else at_a

    def far_end(self, switch: str, port: Port) -> str:
        """What tells a switch's port from its others: the neighbour, and behind parallel links its port, `s2:4`."""
        if self._links_to[switch, port.peer] == 1:
            return port.peer
        return f"{port.peer}:{self.far_number(switch, port)}"

    @cached_property
    def _links_to(self) -> Mapping[tuple[str, str], int]:
        return Counter((switch, port.peer) for switch, ports in self.ports.items() for port in ports)

    @cached_property
    def attachments(self) -> Mapping[str, tuple[str, Port]]:
        """For each host in order: the switch that its first link leads to and that switch's port towards it."""
        return {host: found[0] for host, found in self.interfaces.items()}

    @cached_property
    def interfaces(self) -> Mapping[str, tuple[tuple[str, Port], ...]]:
        """For each host in order, and for each of its links in order: the switch there and its port towards it."""
        found: dict[str, list[tuple[str, Port]]] = {name: [] for name in self.host_names}
        for switch, ports in self.ports.items():
            for port in ports:
                if port.peer in found:
                    found[port.peer].append((switch, port))
        return {host: tuple(sorted(ends, key=lambda end: end[1].link_index)) for host, ends in found.items()}

    @cached_property
    def has_several_links(self) -> bool:
        """Whether some host has more than one link."""
        return any(len(ends) > 1 for ends in self.interfaces.values())

    @cached_property
    def pods(self) -> tuple[tuple[str, ...], ...]:
        """Hosts by pod, in order; those of one switch are a pod where the shape says nothing."""
        if self.roles.pods:
            return self.roles.pods
        found: dict[str, list[str]] = {}
        for host, (switch, _) in self.attachments.items():
            found.setdefault(switch, []).append(host)
        return tuple(tuple(hosts) for hosts in found.values())

    @cached_property
    def _by_number(self) -> Mapping[tuple[str, int], Port]:
        return {(switch, port.number): port for switch, ports in self.ports.items() for port in ports}

    @cached_property
    def _by_peer(self) -> Mapping[tuple[str, str], Port]:
        """The port of the lowest number towards each neighbour."""
        return {(switch, port.peer): port for switch, ports in self.ports.items() for port in reversed(ports)}

    def port(self, switch: str, number: int) -> Port:
        """The port of a switch that has this number; it must be there."""
        return self._by_number[switch, number]

    def port_to(self, switch: str, peer: str) -> Port:
        """The port of `switch` whose link leads to `peer`; raises TopologyError if there is none."""
        if (port := self._by_peer.get((switch, peer))) is not None:
            return port
        raise fail(f"switch {switch!r}", f"no link leads to {peer!r}", "name two connected nodes")

    def to_plain(self) -> dict[str, list[dict[str, object]]]:
        """The description as plain data, in the form that `topology_from_plain` reads."""
        return {
            "hosts": [host.model_dump(exclude_none=True) for host in self.hosts],
            "switches": [{"name": switch.name} for switch in self.switches],
            "links": [link.model_dump(exclude_none=True) for link in self.links],
        }


def topology_from_plain(data: object) -> Topology:
    """Build a topology from plain data (`hosts`, `switches`, `links`); raises TopologyError with every fault."""
    try:
        description = _Description.model_validate(data)
    except ValidationError as error:
        raise TopologyError(problems_of(error)) from None
    return Topology(description.hosts, description.switches, description.links)


def problems_of(error: ValidationError, prefix: str = "") -> tuple[Problem, ...]:
    """Turn a pydantic error into problems with a place such as `links[2].rate_bps`."""
    problems: list[Problem] = []
    for detail in error.errors():
        place = prefix
        for step in detail["loc"]:
            place += f"[{step}]" if isinstance(step, int) else (f".{step}" if place else step)
        cause = detail["msg"][:1].lower() + detail["msg"][1:]
        if detail["type"] not in ("missing", "extra_forbidden"):
            cause += f", got {_short(detail['input'])}"
        problems.append(Problem(place or "topology", cause, _remedy(detail["type"])))
    return tuple(problems)


def check_graph(hosts: tuple[Host, ...], switches: tuple[Switch, ...], links: tuple[Link, ...]) -> None:
    """Raise TopologyError with every breach of the invariants of this file."""
    problems = [
        *_check_counts(len(hosts), len(switches), len(links)),
        *_check_names(hosts, switches),
        *_check_links(hosts, switches, links),
        *_check_ports(hosts, links),
        *_check_addresses(hosts),
    ]
    if not problems:
        problems = [*_check_degrees(hosts, switches, links)]
    if problems:
        raise TopologyError(tuple(problems))


def _check_counts(hosts: int, switches: int, links: int) -> Iterable[Problem]:
    """At least one switch, and no count above its limit."""
    if switches == 0:
        yield Problem("switches", "the list is empty", "a network needs at least one switch")
    limits = (("hosts", hosts, MAX_HOSTS), ("switches", switches, MAX_SWITCHES), ("links", links, MAX_LINKS))
    for place, count, limit in limits:
        if count > limit:
            yield Problem(place, f"{count} {place} exceed the limit of {limit}", "describe a smaller network")


def _check_names(hosts: tuple[Host, ...], switches: tuple[Switch, ...]) -> Iterable[Problem]:
    """No name twice, over hosts and switches together."""
    seen: dict[str, str] = {}
    for kind, nodes in (("hosts", hosts), ("switches", switches)):
        for index, node in enumerate(nodes):
            place = f"{kind}[{index}].name"
            if node.name in seen:
                yield Problem(place, f"{node.name!r} is already the name of {seen[node.name]}", "rename one of them")
            else:
                seen[node.name] = f"{kind}[{index}]"


def _check_links(hosts: tuple[Host, ...], switches: tuple[Switch, ...], links: tuple[Link, ...]) -> Iterable[Problem]:
    """Ends known and different, one of them a switch; parallel links of one kind."""
    host_names = {host.name for host in hosts}
    switch_names = {switch.name for switch in switches}
    known = host_names | switch_names
    pairs: dict[tuple[str, str], int] = {}
    for index, link in enumerate(links):
        place = f"links[{index}]"
        unknown = [(end, name) for end, name in (("a", link.a), ("b", link.b)) if name not in known]
        for end, name in unknown:
            yield Problem(f"{place}.{end}", f"there is no host or switch {name!r}", "add the node or correct the name")
        if unknown:
            continue
        if link.a == link.b:
            yield Problem(place, f"connects {link.a!r} to itself", "name two different nodes")
        elif link.a in host_names and link.b in host_names:
            yield Problem(place, f"connects the hosts {link.a!r} and {link.b!r} directly", "put a switch between them")
        pair = (min(link.a, link.b), max(link.a, link.b))
        first = pairs.setdefault(pair, index)
        if first != index and _kind(links[first]) != _kind(link):
            differs = _differs(links[first], link)
            cause = f"links[{first}] already connects {link.a!r} and {link.b!r}, with another {differs}"
            yield Problem(place, cause, "give parallel links the same values: thresholds are planned by neighbour")


def _kind(link: Link) -> dict[str, object]:
    """What parallel links have in common."""
    return {
        "rate_bps": link.rate_bps,
        "delay_ns": link.delay_ns,
        "queue_capacity_pkts": link.queue_capacity_pkts,
        "framing_bytes": link.framing_bytes,
        "loss": link.loss,
        "direction": link.a if link.one_way else None,
    }


def _differs(one: Link, other: Link) -> str:
    """The first field in which two links between the same nodes differ."""
    theirs = _kind(other)
    return next(name for name, value in _kind(one).items() if theirs[name] != value)


def _check_ports(hosts: tuple[Host, ...], links: tuple[Link, ...]) -> Iterable[Problem]:
    """Ports are of switches, and none carries two links."""
    host_names = {host.name for host in hosts}
    used: dict[tuple[str, int], int] = {}
    for index, link in enumerate(links):
        for key, node, port in (("a_port", link.a, link.a_port), ("b_port", link.b, link.b_port)):
            if port is None:
                continue
            place = f"links[{index}].{key}"
            if node in host_names:
                yield Problem(place, f"{node!r} is a host", "only switches have numbered ports; remove the number")
            elif (node, port) in used:
                cause = f"port {port} of {node!r} is already used by links[{used[node, port]}]"
                yield Problem(place, cause, "choose another port")
            used.setdefault((node, port), index)


def _check_addresses(hosts: tuple[Host, ...]) -> Iterable[Problem]:
    """Each address is one, and of one host."""
    taken: dict[str, str] = {}
    for index, host in enumerate(hosts):
        place = f"hosts[{index}]"
        if host.ipv4 is not None:
            try:
                address = str(IPv4Interface(host.ipv4).ip)
            except ValueError:
                yield Problem(f"{place}.ipv4", f"{host.ipv4!r} is not an IPv4 address", "write 10.0.1.1/24")
                continue
            if address in taken:
                yield Problem(
                    f"{place}.ipv4",
                    f"{address} is also the address of {taken[address]!r}",
                    "give each host a unique address",
                )
            taken.setdefault(address, host.name)
        if host.mac is not None:
            mac = host.mac.lower()
            if mac in taken:
                yield Problem(
                    f"{place}.mac",
                    f"{mac} is also the MAC address of {taken[mac]!r}",
                    "give each host a unique address",
                )
            taken.setdefault(mac, host.name)


def _check_degrees(hosts: tuple[Host, ...], switches: tuple[Switch, ...], links: tuple[Link, ...]) -> Iterable[Problem]:
    """A link for each host, no more links at a node than it may have."""
    degree = {node.name: 0 for node in (*hosts, *switches)}
    for link in links:
        degree[link.a] += 1
        degree[link.b] += 1
    for index, host in enumerate(hosts):
        if not 1 <= degree[host.name] <= MAX_INTERFACES:
            cause = f"{host.name!r} has {degree[host.name]} links"
            yield Problem(f"hosts[{index}]", cause, f"a host has 1 to {MAX_INTERFACES} links, to switches")
    for index, switch in enumerate(switches):
        if degree[switch.name] > MAX_PORTS_PER_SWITCH:
            cause = f"{switch.name!r} has {degree[switch.name]} links"
            yield Problem(f"switches[{index}]", cause, f"a switch has at most {MAX_PORTS_PER_SWITCH} ports")


_REMEDIES = {
    "missing": "add the field",
    "extra_forbidden": "remove the field, or correct its spelling",
    "string_pattern_mismatch": "a name has up to 63 letters, digits, '_', '.' and '-', and starts with a letter",
    "int_type": "give a whole number",
    "int_from_float": "give a whole number",
    "float_type": "give a number",
}


def _remedy(kind: str) -> str:
    """What to do about a pydantic error of this type."""
    if re.match(r"(greater|less)_than", kind):
        return "give a value in this range, in the unit that ends the field's name"
    return _REMEDIES.get(kind, "see the topology's schema")


def _short(value: object, limit: int = 60) -> str:
    """A value's repr, cut so that a message stays one line."""
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."
