"""Jobs of operations in the engine's description (docs/algorithms/traffic.md#operations)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p4cc.planning.hosts import some
from p4cc.planning.operation_graph import OperationGraph

if TYPE_CHECKING:
    from collections.abc import Sequence

    from p4cc import spec
    from p4cc.planning.hosts import Hosts
    from p4cc.scenario.operations import OperationsTraffic


def graph_of_scenario(item: OperationsTraffic, hosts: Hosts) -> tuple[OperationGraph, list[str]]:
    """The operations of an item of traffic, and the hosts that its ranks are; raises UserError."""
    names = list(dict.fromkeys(name for one in item.operations for name in (one.host, one.to) if name is not None))
    for place, one in enumerate(item.operations):
        hosts.one(f"operations[{place}].host", one.host)
        if one.to is not None:
            hosts.one(f"operations[{place}].to", one.to)
    rank = {name: number for number, name in enumerate(names)}
    number = {one.name: place for place, one in enumerate(item.operations)}
    units: dict[str, int] = {}
    graph = OperationGraph(len(names))
    for place, one in enumerate(item.operations):
        work: spec.Work
        if one.to is not None and one.size_bytes is not None:
            work = {"kind": "send", "src": rank[one.host], "dst": rank[one.to], "size_bytes": one.size_bytes}
        else:
            work = {"kind": "compute", "host": rank[one.host], "duration_ns": one.compute_ns or 0}
        operation: spec.OperationSpec = {
            "name": one.name,
            "work": work,
            "after": [number[name] for name in one.after],
            "after_arrival": [number[name] for name in one.after_arrival],
            "after_start": [number[name] for name in one.after_start],
            "start_ns": one.start_ns,
        }
        if one.unit is not None:
            operation["unit"] = units.setdefault(one.unit, len(units))
        graph.add(operation, f"{hosts.place}.operations[{place}]")
    return graph.check(), names


def hosts_by_rank(graph: OperationGraph, named: Sequence[str] | None, hosts: Hosts, key: str) -> list[str]:
    """The host of each rank: those that the field `key` names, else the first of the topology; raises UserError."""
    chosen = hosts.several(key, named, hosts.topology.host_names)
    if len(chosen) < graph.ranks:
        cause = f"the file has {graph.ranks} ranks, and there are {len(chosen)} hosts ({some(chosen, 4)})"
        raise hosts.error(key, cause, "name more hosts, or give a larger topology")
    return chosen[: graph.ranks]


def add_job(
    graph: OperationGraph,
    hosts: Sequence[str],
    common: spec.JobSpec,
    collectives: list[spec.CollectiveSpec],
    jobs: list[spec.JobSpec],
) -> None:
    """Appends a graph as a job with the fields of `common`, and the collectives that its ranks take part in."""
    first = len(collectives)
    for number, group in enumerate(graph.groups):
        collectives.append(
            {
                "name": f"{common['name']}/{number}",
                "operation": group.operation,
                "schedule": "pairwise" if group.operation == "all_to_all" else "ring",
                "ranks": [hosts[rank] for rank in group.ranks],
                "size_bytes": group.size_bytes,
                "waits": True,
                "algorithm": common["algorithm"],
                "priority": common.get("priority", 0),
            }
        )
    for one in graph.operations if first else ():
        if one["work"]["kind"] == "collective":
            one["work"]["collective"] += first
    jobs.append({**common, "hosts": list(hosts), "operations": graph.operations})
