"""Networks and flows in the text formats of HPCC's ns-3 simulator, which `topos.loaders.ns3` and `ns3_flows` read.

Hosts are nodes 0 to n - 1 in the topology's order, switches follow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from p4cc.errors import UserError

if TYPE_CHECKING:
    import polars as pl

    from topos import Topology

FIRST_START_S = 2
"""That simulator's scripts begin flows at 2 s, when its routes and monitors are ready."""
_DESTINATION_PORT = 100
"""The one class of flows of that simulator's own files."""


def topology_text(topology: Topology) -> str:
    """A topology file; raises UserError for a link of one direction."""
    nodes = _nodes(topology)
    if one_way := [f"{link.a} to {link.b}" for link in topology.links if link.one_way]:
        cause, remedy = f"link {one_way[0]} has one direction, which the format has not", "name another network"
        raise UserError(cause, place="p4cc export-ns3", remedy=remedy)
    lines = [
        f"{len(nodes)} {len(topology.switch_names)} {len(topology.links)}",
        " ".join(str(nodes[name]) for name in topology.switch_names),
    ]
    lines += [
        f"{nodes[link.a]} {nodes[link.b]} {link.rate_bps}bps {link.delay_ns}ns {link.loss:g}" for link in topology.links
    ]
    return "\n".join(lines) + "\n"


def flows_text(flows: pl.DataFrame, topology: Topology, priority: int) -> str:
    """A flow file of the flows that have a size, in the order of their starts; raises UserError without any."""
    nodes = _nodes(topology)
    sized = flows.filter(flows["size_bytes"].is_not_null() & flows["start_ns"].is_not_null()).sort("start_ns")
    if sized.is_empty():
        raise UserError("no flow has a size and a start", place="p4cc export-ns3", remedy="name other results")
    rows = sized.select("src", "dst", "size_bytes", "start_ns").iter_rows()
    lines = [
        f"{nodes[src]} {nodes[dst]} {priority} {_DESTINATION_PORT} {size} {FIRST_START_S + int(start) // 10**9}."
        f"{int(start) % 10**9:09d}"
        for src, dst, size, start in rows
    ]
    return "\n".join([str(len(lines)), *lines]) + "\n"


def _nodes(topology: Topology) -> dict[str, int]:
    return {name: number for number, name in enumerate((*topology.host_names, *topology.switch_names))}
