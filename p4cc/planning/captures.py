"""Ends of links whose packets are captured, as the engine's description has them."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from p4cc.errors import UserError
from p4cc.planning.hosts import some

if TYPE_CHECKING:
    from p4cc import spec
    from p4cc.scenario.expand import Case
    from topos import Topology

End = tuple[str, int]
"""A node and its port; a host's are numbered from 0 in the order of its links."""
MAX_TITLE = 500
"""Characters of the title and of the case's name that a file's comment takes."""


def plan_captures(case: Case, topology: Topology) -> spec.RecordSpec:
    """`record` of the engine's description, as far as captures go: empty without any; raises UserError."""
    record = case.scenario.record
    if not record.pcap:
        return {}
    ends = captured_ends(record.pcap, topology, f"case {case.label()}: record.pcap")
    return {
        "pcap": {
            "ends": [{"node": node, "port": port} for node, port in ends],
            "snap_bytes": record.pcap_snap_bytes,
            "max_bytes": record.pcap_max_bytes,
            "comment": _comment(case),
        }
    }


def captured_ends(patterns: list[str], topology: Topology, place: str) -> list[End]:
    """Ends that patterns name, each once: those of switches, then hosts, in the topology's order; raises UserError."""
    ports = [(switch, port.number) for switch in topology.switch_names for port in topology.ports[switch]]
    of_hosts = [(host, number) for host, links in topology.interfaces.items() for number in range(len(links))]
    ends: list[End] = [*ports, *of_hosts]
    chosen: set[End] = set()
    for pattern in patterns:
        found = [end for end in ends if _fits(end, pattern)]
        if not found:
            nodes = some([*topology.switch_names, *topology.host_names])
            remedy = f"name a switch, SWITCH:PORT or a host; nodes: {nodes}; a switch's ports are numbered from 1"
            raise UserError(f"no link end matches {pattern!r}", place=place, remedy=remedy)
        chosen.update(found)
    return [end for end in ends if end in chosen]


def _fits(end: End, pattern: str) -> bool:
    node, colon, port = pattern.partition(":")
    return fnmatchcase(end[0], node) and (not colon or fnmatchcase(str(end[1]), port))


def _comment(case: Case) -> str:
    """Stands in the section header of each file; the engine adds the seed."""
    title = case.scenario.title[:MAX_TITLE]
    of = f"{case.scenario.name} ({title})" if title else case.scenario.name
    return (
        f"p4cc run; virtual time; packets that a queue or a program drops appear on no link; scenario {of}, case "
        f"{case.label()[:MAX_TITLE]}"
    )
