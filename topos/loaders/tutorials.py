"""Topologies of the P4 tutorials: hosts with addresses and commands, switches with a runtime file, links `h1 - s1-p2`.

What a link may carry: a latency (text with a unit, or a number of milliseconds) and a bandwidth in Mb/s. Switches get
device ids from 0, gRPC ports from 50051 and Thrift ports from 9090 in the order of the file, as controllers written
for these labs expect.
"""

import re
from collections.abc import Mapping, Sequence

from topos.errors import fail
from topos.lab import LabEnd, LabHost, LabLink, LabNetwork, LabSwitch
from topos.loaders.reading import as_int, as_list, as_number, as_object, as_text, duration_ns

GRPC_BASE = 50_051
THRIFT_BASE = 9_090

_PORT = re.compile(r"^(?P<switch>.+)-p(?P<port>[0-9]{1,3})$")
_KNOWN = {
    "hosts": {"ip", "mac", "commands"},
    "switches": {"runtime_json", "cli_input", "program", "cpu_port", "priority_queues"},
}


def network(data: Mapping[str, object]) -> tuple[LabNetwork, tuple[str, ...]]:
    """The lab of a topology file, and warnings about fields that are left out; raises TopologyError."""
    warnings: list[str] = []
    parts = {
        kind: {name: as_object(node, f"{kind}.{name}") for name, node in as_object(data.get(kind), kind).items()}
        for kind in ("hosts", "switches")
    }
    for kind, nodes in parts.items():
        for name, node in nodes.items():
            strange = node.keys() - _KNOWN[kind]
            warnings += [f"{kind}.{name}.{key} is not supported and is ignored" for key in sorted(strange)]
    hosts = tuple(_host(name, node) for name, node in parts["hosts"].items())
    switches = tuple(_switch(index, name, node) for index, (name, node) in enumerate(parts["switches"].items()))
    known = frozenset(parts["hosts"])
    links = tuple(
        _link(as_list(link, f"links[{index}]"), known, f"links[{index}]")
        for index, link in enumerate(as_list(data.get("links"), "links"))
    )
    return LabNetwork(hosts, switches, links), tuple(warnings)


def _host(name: str, node: Mapping[str, object]) -> LabHost:
    place = f"hosts.{name}"
    commands = as_list(node.get("commands", []), f"{place}.commands")
    return LabHost(
        name=name,
        ipv4=as_text(node.get("ip"), f"{place}.ip"),
        mac=as_text(node.get("mac"), f"{place}.mac"),
        commands=tuple(as_text(command, f"{place}.commands[{index}]") for index, command in enumerate(commands)),
    )


def _switch(index: int, name: str, node: Mapping[str, object]) -> LabSwitch:
    def text(key: str) -> str | None:
        return as_text(node[key], f"switches.{name}.{key}") if key in node else None

    def number(key: str) -> int | None:
        return as_int(node[key], f"switches.{name}.{key}") if key in node else None

    return LabSwitch(
        name=name,
        device_id=index,
        grpc_port=GRPC_BASE + index,
        thrift_port=THRIFT_BASE + index,
        program=text("program"),
        runtime=text("runtime_json"),
        commands=text("cli_input"),
        cpu_port=number("cpu_port"),
        priority_queues=number("priority_queues"),
    )


def _link(link: Sequence[object], hosts: frozenset[str], place: str) -> LabLink:
    if not 2 <= len(link) <= 4:
        raise fail(place, f"has {len(link)} parts", "write two ends, optionally followed by latency and bandwidth")
    first, second = (_end(as_text(end, place), hosts, place) for end in link[:2])
    rate = link[3] if len(link) > 3 else None
    return LabLink(
        first,
        second,
        rate_bps=None if rate is None else round(as_number(rate, f"{place}[3]") * 1_000_000),
        delay_ns=duration_ns(link[2], f"{place}[2]") if len(link) > 2 and link[2] is not None else 0,
    )


def _end(text: str, hosts: frozenset[str], place: str) -> LabEnd:
    if text in hosts:
        return LabEnd(text)
    match = _PORT.match(text)
    if match is None:
        raise fail(place, f"{text[:60]!r} is not a host or a port of a switch", "write h1, or s1-p2 for port 2 of s1")
    return LabEnd(match["switch"], int(match["port"]))
