"""A topology file of another tool, recognised by its keys: loaded into a lab, or into a graph for virtual time."""

import re
from dataclasses import dataclass
from ipaddress import IPv4Interface
from pathlib import Path

from topos.errors import fail
from topos.graph import Host, Link, Roles, Switch, Topology
from topos.lab import LabHost, LabLink, LabNetwork
from topos.loaders import p4utils, tutorials
from topos.loaders.reading import as_object, read_json


@dataclass(frozen=True)
class Imported:
    """A lab from a file: the network, the folder of its paths, and warnings."""

    network: LabNetwork
    folder: Path
    program: str | None
    """The program of every switch that names none, where the file has one."""
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class LinkDefaults:
    """What links have that the file leaves without: a lab's are as fast as the machine, virtual time wants numbers."""

    rate_bps: int
    delay_ns: int
    """Of links that the file gives none, or 0."""
    queue_capacity_pkts: int


# Hosts of the tutorials say `arp -i eth0 -s 10.0.1.10 08:00:00:00:01:00`; others use `ip`.
_ARP = re.compile(
    r"^(?:arp (?:-i [\w-]+ )?-s|ip neigh (?:add|replace)) (?P<ipv4>[0-9.]+) (?:lladdr )?(?P<mac>[0-9A-Fa-f:]{17})\b"
)
_GATEWAY = re.compile(r"^(?:route add default gw|ip route (?:add|replace) default via) (?P<ipv4>[0-9.]+)\b")


def graph_of(lab: LabNetwork, defaults: LinkDefaults) -> Topology:
    """The lab for virtual time: its names, port numbers and addresses; raises TopologyError.

    Every host may send and receive. Commands of hosts are not run; of the tutorials' `route add` and `arp -s` the
    gateway's MAC address is taken.
    """
    hosts = tuple(
        Host(name=host.name, ipv4=str(IPv4Interface(host.ipv4)), mac=host.mac, gateway_mac=_gateway_mac(host))
        for host in lab.hosts
    )
    switches = tuple(Switch(name=switch.name) for switch in lab.switches)
    everyone = tuple(host.name for host in hosts)
    links = tuple(_link(index, link, defaults) for index, link in enumerate(lab.links))
    return Topology(hosts, switches, links, Roles(everyone, everyone))


def _gateway_mac(host: LabHost) -> str | None:
    """The MAC address of the host's gateway, where something says it."""
    known = dict(host.neighbours)
    gateway = host.gateway
    for command in host.commands:
        if arp := _ARP.match(command.strip()):
            known[arp["ipv4"]] = arp["mac"]
        elif route := _GATEWAY.match(command.strip()):
            gateway = route["ipv4"]
    return None if gateway is None else known.get(gateway)


def _link(index: int, link: LabLink, defaults: LinkDefaults) -> Link:
    for end in (link.a, link.b):
        if end.port == 0:
            raise fail(f"links[{index}]", f"{end} has port 0", "ports are numbered from 1 in virtual time")
    return Link(
        a=link.a.node,
        b=link.b.node,
        a_port=link.a.port,
        b_port=link.b.port,
        rate_bps=defaults.rate_bps if link.rate_bps is None else link.rate_bps,
        delay_ns=link.delay_ns or defaults.delay_ns,
        queue_capacity_pkts=link.queue_capacity_pkts or defaults.queue_capacity_pkts,
        loss=link.loss,
        framing_bytes=link.framing_bytes,
    )


def load_lab(path: Path) -> Imported:
    """Read `topology.json` of the P4 tutorials or `p4app.json` of p4-utils; raises TopologyError.

    Their makefiles run in the exercise's folder, which may be the one above the file: paths start from the first of the
    file's folder and its parent that holds what the switches name.
    """
    data = as_object(read_json(path), str(path))
    if "topology" in data:
        network, program, warnings = p4utils.network(data)
    elif {"hosts", "switches", "links"} <= set(data):
        network, warnings = tutorials.network(data)
        program = None
    else:
        remedy = (
            "give a topology.json of the P4 tutorials (hosts, switches, links) or a p4app.json of p4-utils (topology)"
        )
        raise fail(str(path), "has neither topology format", remedy)
    named = [name for switch in network.switches for name in (switch.runtime, switch.commands) if name]
    parent = path.resolve().parent
    folder = next((base for base in (parent, parent.parent) if all((base / name).is_file() for name in named)), parent)
    return Imported(network, folder, program, warnings)


def inside(folder: Path, name: str) -> Path:
    """The file `name` of an import, which must lie in its folder; raises TopologyError.

    A topology file is often somebody else's, and labs run as root: it may not point elsewhere.
    """
    try:
        path = (folder / name).resolve()
    except (OSError, ValueError, RuntimeError):
        raise fail(repr(name), "is not a path", "give the path of a file") from None
    if not path.is_relative_to(folder.resolve()):
        raise fail(name, f"is outside of {folder}", "copy the file into the lab's folder")
    return path
