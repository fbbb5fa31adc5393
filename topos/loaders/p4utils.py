"""`p4app.json` of p4-utils: switches, hosts and links; addresses by its strategies l2, mixed, l3, or one after another.

Facts of that format: names are taken in natural order (s2 before s10); device ids count from 1, gRPC ports from 9559,
Thrift ports from 9090; a switch numbers its ports from 1 in the order of the links; a host `h7` takes the 7 into its
address; the MAC of a host is 00:00 and its address, that of the switch's end 00:01 and the host's address. Bandwidth is
in Mb/s, delay in ms, loss in per cent.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Interface

from topos.errors import fail
from topos.lab import LabEnd, LabHost, LabLink, LabNetwork, LabSwitch
from topos.loaders.reading import as_bool, as_int, as_list, as_number, as_object, as_text, duration_ns

GRPC_BASE = 9_559
THRIFT_BASE = 9_090
CPU_PORT = 510

_HOST_NUMBER = re.compile(r"^h([0-9]{1,5})$")
_STRATEGIES = ("l2", "mixed", "l3")
_KNOWN_SWITCH = {"p4_src", "cpu_port", "cli_input", "thrift_port", "grpc_port", "device_id", "priority_queues_num"}
_KNOWN_HOST = {"defaultRoute"}
_KNOWN_LINK = {"weight", "bw", "delay", "loss", "max_queue_size"} | {
    f"{key}{side}" for key in ("port", "params", "addr") for side in (1, 2)
}
# Warnings about keys that have no effect.
_NOT_RUN = {
    "tasks_file": "tasks are not executed",
    "exec_scripts": "scripts are not executed",
    "host_node": "user-defined node classes are not loaded",
    "switch_node": "user-defined node classes are not loaded",
    "router_node": "user-defined node classes are not loaded",
    "mininet_module": "user-defined modules are not loaded",
    "compiler_module": "user-defined modules are not loaded",
    "client_module": "user-defined modules are not loaded",
}


@dataclass(frozen=True)
class _Ends:
    """A link of the file: its two nodes and its settings, defaults included."""

    place: str
    nodes: tuple[str, str]
    settings: Mapping[str, object]


@dataclass(frozen=True)
class _Addresses:
    """Addresses of a host."""

    ipv4: str
    mac: str
    gateway: str | None
    gateway_mac: str


def network(data: Mapping[str, object]) -> tuple[LabNetwork, str | None, tuple[str, ...]]:
    """The lab of a p4app.json, the program of all its switches, and warnings; raises TopologyError."""
    warnings = [f"{key}: {meaning}" for key, meaning in _NOT_RUN.items() if key in data]
    topology = as_object(data.get("topology"), "topology")
    if topology.get("routers"):
        raise fail("topology.routers", "routers are not P4 switches", "remove them, or run them outside of the lab")
    default = dict(as_object(topology.get("default", {}), "topology.default"))
    arp = as_bool(default.pop("auto_arp_tables", True), "topology.default.auto_arp_tables")
    gateway_arp = as_bool(default.pop("auto_gw_arp", True), "topology.default.auto_gw_arp")
    parts = {kind: as_object(topology.get(kind, {}), f"topology.{kind}") for kind in ("switches", "hosts")}
    switches = _switches(parts["switches"], warnings)
    links = [_ends(link, index, default) for index, link in enumerate(as_list(topology.get("links", []), "links"))]
    hosts = {name: as_object(parts["hosts"][name], f"hosts.{name}") for name in _natural(parts["hosts"])}
    for name, host in hosts.items():
        warnings += [f"hosts.{name}.{key} is ignored" for key in host if key not in _KNOWN_HOST]
    for link in links:
        warnings += [f"{link.place}.{key} is ignored" for key in link.settings if key not in _KNOWN_LINK]
    strategy = topology.get("assignment_strategy")
    if strategy is not None and strategy not in _STRATEGIES:
        raise fail(
            "topology.assignment_strategy",
            f"{strategy!r} is not an assignment strategy",
            f"give one of {', '.join(_STRATEGIES)}",
        )
    addresses = _assign(strategy, switches, hosts, links)
    lab_hosts = tuple(_host(name, host, addresses, arp=arp, gateway_arp=gateway_arp) for name, host in hosts.items())
    program = as_text(data["p4_src"], "p4_src") if "p4_src" in data else None
    lab = LabNetwork(lab_hosts, tuple(switches.values()), tuple(_lab_links(links, frozenset(hosts))))
    return lab, program, tuple(warnings)


def _natural(names: Iterable[str]) -> list[str]:
    """Names in natural order: digits count as numbers."""
    return sorted(names, key=_key)


def _key(name: str) -> list[tuple[bool, str]]:
    return [(part.isdigit(), part.zfill(20)) for part in re.split(r"([0-9]+)", name)]


def _switches(nodes: Mapping[str, object], warnings: list[str]) -> dict[str, LabSwitch]:
    switches: dict[str, LabSwitch] = {}
    for index, name in enumerate(_natural(nodes)):
        node = as_object(nodes[name], f"switches.{name}")
        place = f"switches.{name}"
        warnings += [f"{place}.{key} is ignored" for key in node if key not in _KNOWN_SWITCH]
        cpu = as_bool(node.get("cpu_port", False), f"{place}.cpu_port")
        switches[name] = LabSwitch(
            name=name,
            device_id=as_int(node.get("device_id", index + 1), f"{place}.device_id"),
            grpc_port=as_int(node.get("grpc_port", GRPC_BASE + index), f"{place}.grpc_port"),
            thrift_port=as_int(node.get("thrift_port", THRIFT_BASE + index), f"{place}.thrift_port"),
            program=as_text(node["p4_src"], f"{place}.p4_src") if "p4_src" in node else None,
            commands=as_text(node["cli_input"], f"{place}.cli_input") if "cli_input" in node else None,
            cpu_port=CPU_PORT if cpu else None,
            priority_queues=(
                as_int(node["priority_queues_num"], f"{place}.priority_queues_num")
                if "priority_queues_num" in node
                else None
            ),
        )
    return switches


def _ends(link: object, index: int, default: Mapping[str, object]) -> _Ends:
    place = f"topology.links[{index}]"
    parts = as_list(link, place)
    if not 2 <= len(parts) <= 3:
        raise fail(place, f"has {len(parts)} parts", "write two nodes, optionally followed by an object")
    settings = as_object(parts[2], f"{place}[2]") if len(parts) > 2 else {}
    return _Ends(place, (as_text(parts[0], place), as_text(parts[1], place)), {**default, **settings})


def _lab_links(links: list[_Ends], hosts: frozenset[str]) -> Iterator[LabLink]:
    """Links with ports: those given, and for the others the lowest number that is free at their switch."""
    taken: dict[str, set[int]] = {}
    for link in links:
        for side, node in enumerate(link.nodes, start=1):
            if node not in hosts and f"port{side}" in link.settings:
                taken.setdefault(node, set()).add(as_int(link.settings[f"port{side}"], f"{link.place}.port{side}"))
    for link in links:
        ends: list[LabEnd] = []
        for side, node in enumerate(link.nodes, start=1):
            if node in hosts:
                ends.append(LabEnd(node))
                continue
            port = link.settings.get(f"port{side}")
            if port is None:
                used = taken.setdefault(node, set())
                port = next(number for number in range(1, len(used) + 2) if number not in used)
                used.add(port)
            ends.append(LabEnd(node, as_int(port, link.place)))
        settings, place = link.settings, link.place
        yield LabLink(
            *ends,
            rate_bps=round(as_number(settings["bw"], f"{place}.bw") * 1_000_000)
            if settings.get("bw") is not None
            else None,
            delay_ns=duration_ns(settings["delay"], f"{place}.delay") if settings.get("delay") is not None else 0,
            queue_capacity_pkts=(
                as_int(settings["max_queue_size"], f"{place}.max_queue_size")
                if settings.get("max_queue_size") is not None
                else None
            ),
            loss=as_number(settings["loss"], f"{place}.loss") / 100 if settings.get("loss") is not None else 0.0,
        )


def _assign(
    strategy: str | None, switches: dict[str, LabSwitch], hosts: Mapping[str, object], links: list[_Ends]
) -> dict[str, _Addresses]:
    """Addresses of every host that has a link to a switch."""
    result: dict[str, _Addresses] = {}
    numbers = _host_numbers(hosts)
    used: set[str] = set()
    for link in sorted(links, key=lambda link: [_key(name) for name in link.nodes]):
        for side, (host, switch) in enumerate((link.nodes, link.nodes[::-1]), start=1):
            if host not in hosts or switch not in switches:
                continue
            given = as_object(link.settings.get(f"params{side}", {}), f"{link.place}.params{side}").get("ip")
            number = numbers[host]
            if given is not None:
                ipv4, gateway = as_text(given, f"{link.place}.params{side}.ip"), None
            else:
                ipv4, gateway = _address(strategy, switches[switch].device_id, number, link.place)
            ip = _ip(ipv4, f"{link.place}.params{side}.ip")
            if str(ip) in used:
                raise fail(
                    link.place,
                    f"{host} would get {ip}, which is already in use",
                    "name the hosts h1, h2, ... or give them addresses",
                )
            used.add(str(ip))
            tail = ":".join(f"{byte:02x}" for byte in ip.packed)
            mac = as_text(link.settings.get(f"addr{side}", f"00:00:{tail}"), f"{link.place}.addr{side}")
            other = as_text(link.settings.get(f"addr{3 - side}", f"00:01:{tail}"), f"{link.place}.addr{3 - side}")
            result[host] = _Addresses(ipv4, mac, gateway, other)
    return result


def _host_numbers(hosts: Mapping[str, object]) -> dict[str, int]:
    """The number of every host: the one in its name, else the lowest that no name has."""
    named = {host: int(match[1]) for host in hosts if (match := _HOST_NUMBER.match(host))}
    free = (number for number in range(1, 65_536) if number not in set(named.values()))
    return {host: named[host] if host in named else next(free) for host in hosts}


def _address(strategy: str | None, device_id: int, number: int, place: str) -> tuple[str, str | None]:
    """Address and gateway by the strategy; raises TopologyError where it has none left."""
    limit = 65_534 if strategy in (None, "l2") else 253
    if not 0 < number <= limit or device_id > 0xFFFF:
        raise fail(place, f"strategy {strategy} has no address for host number {number}", "give the address in params")
    if strategy in (None, "l2"):
        return f"10.0.{number >> 8}.{number & 255}/16", None
    if strategy == "mixed":
        net = f"10.{device_id >> 8}.{device_id & 255}"
        return f"{net}.{number}/24", f"{net}.254"
    if device_id > 253:
        raise fail(place, f"strategy l3 has no address for device {device_id}", "use mixed")
    return f"10.{device_id}.{number}.2/24", f"10.{device_id}.{number}.1"


def _ip(text: str, place: str) -> IPv4Address:
    try:
        return IPv4Interface(text).ip
    except ValueError:
        raise fail(place, f"{text[:60]!r} is not an IPv4 address", "write 10.0.1.1/24") from None


def _host(
    name: str, node: Mapping[str, object], addresses: dict[str, _Addresses], *, arp: bool, gateway_arp: bool
) -> LabHost:
    own = addresses.get(name)
    if own is None:
        raise fail(f"hosts.{name}", "has no link to a switch", "add a link, or remove the host")
    gateway = own.gateway
    if (route := node.get("defaultRoute")) is not None:
        gateway = as_text(route, f"hosts.{name}.defaultRoute").removeprefix("via ").strip()
    neighbours: list[tuple[str, str]] = []
    # A user-defined gateway is some other node, which answers for itself.
    if gateway is not None and gateway == own.gateway and gateway_arp:
        neighbours.append((gateway, own.gateway_mac))
    if arp:
        subnet = IPv4Interface(own.ipv4).network
        for other, theirs in addresses.items():
            if other != name and IPv4Interface(theirs.ipv4).network == subnet:
                neighbours.append((str(IPv4Interface(theirs.ipv4).ip), theirs.mac))
    # An interface's name has 15 characters at most.
    interface = f"{name}-eth0" if len(name) <= 10 else "eth0"
    return LabHost(name, own.ipv4, own.mac, interface=interface, gateway=gateway, neighbours=tuple(neighbours))
