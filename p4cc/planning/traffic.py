"""A scenario's traffic on a topology, in the engine's description: flows, rounds, arrivals."""

from __future__ import annotations

from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal, TypedDict

from p4cc.errors import UserError
from p4cc.files import find_named
from p4cc.planning.cdf_file import read_cdf
from p4cc.planning.chakra import read_chakra, read_groups, trace_of, traces
from p4cc.planning.coflows import Factors, read_coflows, tree_graph
from p4cc.planning.flow_table import read_flow_table
from p4cc.planning.goal import read_goal
from p4cc.planning.hosts import Hosts, some
from p4cc.planning.htsim_flows import read_connection_matrix
from p4cc.planning.link_load import DirectedLink
from p4cc.planning.ns3_flows import Ns3Path, read_ns3_flows, read_ns3_paths
from p4cc.planning.operations import add_job, graph_of_scenario, hosts_by_rank
from p4cc.planning.pair_matrix import gap_description, matrix_description, size_description
from p4cc.planning.path_choice import PathChoice
from p4cc.planning.simai_workload import read_simai_workload
from p4cc.planning.user_packets import UserPackets
from p4cc.scenario.closed_loop import ClosedLoopTraffic
from p4cc.scenario.coflows import CoflowsTraffic, TreeTraffic
from p4cc.scenario.operations import ChakraTraffic, GoalTraffic, OperationsTraffic, SimaiTraffic
from p4cc.scenario.pairs import CdfGap, DrawnMatrix, ExponentialGap, FileMatrix, LognormalGap, PairGap
from p4cc.scenario.sizes import CdfSize, FixedSize, FlowSize, UniformSize
from p4cc.scenario.traffic import (
    MAX_GAP_NS,
    BulkTraffic,
    BurstsTraffic,
    CollectiveTraffic,
    FlowItem,
    HtsimTraffic,
    IncastTraffic,
    Ns3Traffic,
    PairsTraffic,
    PoissonTraffic,
    RoundsTraffic,
    RpcTraffic,
    TableTraffic,
)
from p4cc.scenario.traffic_base import Deadline, own_sender
from p4cc.scenario.user_packets import UserTraffic
from topos import shortest_routes
from topos.host_ways import HostWays
from topos.loaders.ns3 import host_name, switch_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from p4cc import spec
    from p4cc.planning.operation_graph import OperationGraph
    from p4cc.planning.programs import HeaderTypes
    from p4cc.scenario.base import Sender
    from p4cc.scenario.expand import Case
    from topos import Topology


@dataclass
class TrafficPlan:
    """The engine's lists, and the senders that take the variant's place, by the name they have there."""

    flows: list[spec.FlowSpec] = field(default_factory=list["spec.FlowSpec"])
    rounds: list[spec.RoundsSpec] = field(default_factory=list["spec.RoundsSpec"])
    collectives: list[spec.CollectiveSpec] = field(default_factory=list["spec.CollectiveSpec"])
    jobs: list[spec.JobSpec] = field(default_factory=list["spec.JobSpec"])
    arrivals: list[spec.ArrivalsSpec] = field(default_factory=list["spec.ArrivalsSpec"])
    pairs: list[spec.PairsSpec] = field(default_factory=list["spec.PairsSpec"])
    bursts: list[spec.BurstsSpec] = field(default_factory=list["spec.BurstsSpec"])
    closed_loops: list[spec.ClosedLoopSpec] = field(default_factory=list["spec.ClosedLoopSpec"])
    packets: list[spec.PacketsSpec] = field(default_factory=list["spec.PacketsSpec"])
    senders: dict[str, Sender] = field(default_factory=dict[str, "Sender"])


def plan_traffic(
    case: Case, topology: Topology, scenario: Path, headers_of: Callable[[str], HeaderTypes]
) -> TrafficPlan:
    """All traffic of a case; raises UserError for hosts or files that are not there.

    `headers_of` has the header types of a switch's program, which user packets may name.
    """
    plan, ways = TrafficPlan(), HostWays(topology)
    for position, item in enumerate(case.scenario.traffic_items):
        key = f"traffic[{position}]" if isinstance(case.scenario.traffic, list) else "traffic"
        hosts = Hosts(topology, f"{scenario} at {key}")
        if isinstance(item, UserTraffic):
            plan.packets += UserPackets(scenario, key, hosts, case.scenario.stop_ns, headers_of).sources(item)
        else:
            _Planner(case, topology, scenario, plan, key, item, hosts, ways).add()
    return plan


class _Common(TypedDict):
    """Fields that every kind has."""

    start_ns: int
    algorithm: str
    priority: int
    deadline: spec.DeadlineSpec | None


class _Gap(TypedDict, total=False):
    constant_gap: bool


class _Quantity(TypedDict, total=False):
    quantity: spec.QuantitySpec


class _Busiest(TypedDict, total=False):
    busiest_load: float


@dataclass(frozen=True)
class _Planner:
    """Adds one item of traffic to the plan."""

    case: Case
    topology: Topology
    scenario: Path
    plan: TrafficPlan
    key: str
    """Place of the item in the scenario."""
    item: FlowItem
    hosts: Hosts
    host_ways: HostWays

    def add(self) -> None:
        """Adds the item's flows."""
        if self.item.sender is not None:
            self.plan.senders[self._algorithm()] = self.item.sender
        match self.item:
            case IncastTraffic() as item:
                self._incast(item)
            case BulkTraffic() as item:
                self._bulk(item)
            case RoundsTraffic() as item:
                self._rounds(item)
            case PoissonTraffic() as item:
                self._poisson(item)
            case ClosedLoopTraffic() as item:
                self._closed_loop(item)
            case RpcTraffic() as item:
                self._rpc(item)
            case Ns3Traffic() as item:
                self._ns3(item)
            case HtsimTraffic() as item:
                self._htsim(item)
            case TableTraffic() as item:
                self._table(item)
            case PairsTraffic() as item:
                self._pairs(item)
            case BurstsTraffic() as item:
                self._bursts(item)
            case CollectiveTraffic() as item:
                self._collective(item)
            case OperationsTraffic() as item:
                graph, hosts = graph_of_scenario(item, self.hosts)
                self._job(graph, hosts)
            case GoalTraffic() as item:
                file = find_named(item.file, self.scenario, what="GOAL schedule", key=f"{self.key}.file")
                graph = read_goal(file)
                self._job(graph, hosts_by_rank(graph, item.ranks, self.hosts, "ranks"))
            case ChakraTraffic() as item:
                self._chakra(item)
            case SimaiTraffic() as item:
                file = find_named(item.file, self.scenario, what="workload", key=f"{self.key}.file")
                hosts = self.hosts.several("ranks", item.ranks, self.topology.host_names)
                graph = read_simai_workload(file, len(hosts), item.layers)
                self._job(graph, hosts_by_rank(graph, item.ranks, self.hosts, "ranks"))
            case CoflowsTraffic() as item:
                file = find_named(item.file, self.scenario, what="coflow trace", key=f"{self.key}.file")
                graph = read_coflows(file, Factors(item.coflows, item.size_factor, item.time_factor))
                self._job(graph, hosts_by_rank(graph, item.ranks, self.hosts, "ranks"))
            case TreeTraffic() as item:
                roles = self.topology.roles
                graph, hosts = tree_graph(item, self.hosts, list(roles.receivers), list(roles.senders))
                self._job(graph, hosts)

    def _incast(self, item: IncastTraffic) -> None:
        destination = self.hosts.one("destination", item.destination, self.topology.roles.receivers)
        sources = self.hosts.several("sources", item.sources, self.topology.roles.senders, apart=destination)
        for source, size in zip(sources, self._shares(item, len(sources)), strict=True):
            self._flow(source, destination, size, item.start_jitter_ns, via=item.via)

    def _bulk(self, item: BulkTraffic) -> None:
        destinations = self.hosts.several("destinations", item.destinations, self.topology.roles.receivers)
        apart = destinations[0] if len(destinations) == 1 else ""
        sources = self.hosts.several("sources", item.sources, self.topology.roles.senders, apart=apart)
        if len(destinations) == 1:
            destinations = destinations * len(sources)
        if len(sources) != len(destinations):
            raise self.hosts.error(
                "destinations",
                f"{len(sources)} sources cannot be paired with {len(destinations)} destinations",
                "give one destination, or as many as there are sources",
            )
        for source, destination in zip(sources, destinations, strict=True):
            if source == destination:
                raise self.hosts.error(
                    "destinations", f"{source!r} would send to itself", "change the order of the hosts"
                )
            for _ in range(item.flows_per_pair):
                self._flow(source, destination, item.size_bytes, item.start_jitter_ns, item.close_ns, item.via)

    def _rounds(self, item: RoundsTraffic) -> None:
        client = self.hosts.one("client", item.client, self.topology.roles.receivers)
        servers = self.hosts.several("servers", item.servers, self.topology.roles.senders, apart=client)
        gap: _Gap = {"constant_gap": True} if item.gap == "constant" else {}
        self.plan.rounds.append(
            {
                "name": item.label,
                "client": client,
                "servers": servers,
                "request_bytes": item.request_bytes,
                "response_bytes": self._shares(item, len(servers)),
                "rounds": item.rounds,
                "think_ns": item.think_ns,
                "service_jitter_ns": item.service_jitter_ns,
                "persistent": item.persistent,
                "mean_gap_ns": item.mean_gap_ns,
                **gap,
                "start_jitter_ns": item.start_jitter_ns,
                **self._common(),
            }
        )

    def _rpc(self, item: RpcTraffic) -> None:
        """A group of one server for each connection; their names tell them apart, their label is one."""
        clients = self.hosts.several("clients", item.clients, self.topology.roles.senders)
        servers = clients if item.servers is None else self.hosts.several("servers", item.servers, ())
        if len(servers) != len(clients):
            raise self.hosts.error(
                "servers",
                f"{len(servers)} servers for {len(clients)} clients",
                "give as many servers as clients, or no servers",
            )
        for shift in item.shifts:
            for place, client in enumerate(clients):
                server = servers[(place + shift) % len(servers)]
                if server == client:
                    raise self.hosts.error(
                        "shifts",
                        f"{client!r} would send requests to itself",
                        f"do not use shift {shift}, a multiple of the number of servers",
                    )
                self.plan.rounds.append(
                    {
                        "name": f"{item.label}/{shift}/{client}",
                        "label": item.label,
                        "client": client,
                        "servers": [server],
                        "request_bytes": item.request_bytes,
                        "response_bytes": [item.response_bytes],
                        "rounds": item.rpcs,
                        "think_ns": item.think_ns,
                        "service_jitter_ns": item.service_jitter_ns,
                        "persistent": True,
                        "mean_gap_ns": self._rpc_gap_ns(item, client),
                        "start_jitter_ns": item.start_jitter_ns,
                        **self._common(),
                    }
                )

    def _rpc_gap_ns(self, item: RpcTraffic, client: str) -> float | None:
        if item.load is None:
            return item.mean_gap_ns
        rate_bps = self._rate_bps(client) * item.load
        return self._within_an_hour(8e9 * item.request_bytes * len(item.shifts) / rate_bps, "load")

    def _poisson(self, item: PoissonTraffic) -> None:
        sources = self.hosts.several("sources", item.sources, self.topology.roles.senders)
        destinations = self.hosts.several("destinations", item.destinations, self.topology.roles.receivers)
        size, mean_bytes = self._size(item.size, "size"), self._mean_bytes(item.size, "size")
        # Sources whose links differ have gaps of their own when the load is given.
        groups: dict[float, list[str]] = {}
        if item.load_link is not None:
            groups[self._gap_for_link(item, sources, destinations, mean_bytes)] = sources
        else:
            for source in sources:
                groups.setdefault(self._mean_gap_ns(item, source, len(sources), mean_bytes), []).append(source)
        quantity: _Quantity = {}
        if (given := item.quantity) is not None:
            quantity = {"quantity": _quantity(given)}
            if len(groups) > 1:
                cause = "the sources' links have several rates, so they are several processes"
                remedy = "give flows_per_s, mean_gap_ns or load_link in place of load, or an item for each rate"
                raise self.hosts.error(given[0], cause, remedy)
        for number, (mean_gap_ns, members) in enumerate(groups.items()):
            self.plan.arrivals.append(
                {
                    **self._common(),
                    "name": item.label if number == 0 else f"{item.label}.{number}",
                    "sources": members,
                    "destinations": destinations,
                    "mean_gap_ns": mean_gap_ns,
                    "size": size,
                    "end_ns": self._end_ns(item),
                    **quantity,
                }
            )

    def _closed_loop(self, item: ClosedLoopTraffic) -> None:
        sources = self.hosts.several("sources", item.sources, self.topology.roles.senders)
        destinations = self.hosts.several("destinations", item.destinations, self.topology.roles.receivers)
        key, amount = item.quantity or ("total_flows", 0)
        if amount < len(sources):
            cause = f"{amount} divided by {len(sources)} sources leaves some with nothing to send"
            raise self.hosts.error(key, cause, f"give at least {len(sources)}")
        self.plan.closed_loops.append(
            {
                **self._common(),
                "name": item.label,
                "sources": sources,
                "destinations": destinations,
                "outstanding": item.outstanding,
                "size": self._size(item.size, "size"),
                "quantity": _quantity((key, amount)),
                "think_ns": item.think_ns,
                "constant_think": item.think == "constant",
                "start_jitter_ns": item.start_jitter_ns,
            }
        )

    def _gap_for_link(
        self, item: PoissonTraffic, sources: list[str], destinations: list[str], mean_bytes: float
    ) -> float:
        """The mean gap of each source with which a link has the load (docs/algorithms/traffic.md#link-load)."""
        start, end = item.load_link or ("", "")
        by_capacity = self.case.scenario.switch.ecmp_weights == "capacity"
        link = DirectedLink(self.topology, (start, end), by_capacity)
        if link.rate_bps == 0:
            raise self.hosts.error("load_link", f"no link goes from {start!r} to {end!r}", "name two connected nodes")
        for source in sources:
            if set(destinations) <= {source}:
                cause = f"{source!r} has no other host to send to"
                raise self.hosts.error("load_link", cause, "name another destination, or other sources")
        share = link.share(sources, destinations)
        if share == 0:
            cause = f"no flow of these hosts crosses the link from {start!r} to {end!r}"
            raise self.hosts.error("load_link", cause, "name a link on the way, or other hosts")
        gap_ns = 8e9 * mean_bytes * len(sources) * share / (link.rate_bps * (item.load or 1.0))
        return self._within_an_hour(gap_ns, "load")

    def _ns3(self, item: Ns3Traffic) -> None:
        file = find_named(item.file, self.scenario, what="flow file", key=f"{self.key}.file")
        flows = read_ns3_flows(file)
        paths: dict[int, Ns3Path] = {}
        if item.paths is not None:
            key = f"{self.key}.paths"
            paths = read_ns3_paths(find_named(item.paths, self.scenario, what="path map", key=key), len(flows))
            if self.case.packets == "tcp" or self.case.ip == 6:
                cause = "a path map chooses source ports of UDP over IPv4, but senders use TCP or IPv6"
                raise UserError(cause, place=key, remedy="remove the paths, or use packets: udp and ip: 4")
        switch = self.case.scenario.switch
        routes = shortest_routes(self.topology, by_capacity=switch.ecmp_weights == "capacity")
        choice = PathChoice(self.topology, switch.ecmp_seed, routes)
        known = set(self.topology.host_names)
        for place, flow in enumerate(flows):
            ends = (host_name(flow.source), host_name(flow.destination))
            for node, name in zip((flow.source, flow.destination), ends, strict=True):
                if name not in known:
                    remedy = f"hosts of the topology: {some(self.topology.host_names)}"
                    raise UserError(f"flow {place}: node {node} is not a host", place=str(file), remedy=remedy)
            if ends[0] == ends[1]:
                raise UserError(
                    f"flow {place} goes from {flow.source} to itself", place=str(file), remedy="correct the flow"
                )
            added: spec.FlowSpec = {
                **self._common(),
                "id": len(self.plan.flows) + 1,
                "src": ends[0],
                "dst": ends[1],
                "size_bytes": flow.size_bytes,
                "start_ns": item.start_ns + flow.start_ns,
                "class": item.label if flow.destination_port is None else f"{item.label}-{flow.destination_port}",
                "priority": flow.priority,
            }
            if (path := paths.get(place)) is not None:
                ways = (path.there, path.back)
                there, back = (None if way is None else tuple(map(switch_name, way)) for way in ways)
                added["src_port"] = choice.source_port(ends, there or (), back)
            self.plan.flows.append(added)

    def _htsim(self, item: HtsimTraffic) -> None:
        file = find_named(item.file, self.scenario, what="connection matrix", key=f"{self.key}.file")
        hosts = self.topology.host_names
        common = self._common()
        matrix = read_connection_matrix(file, leave_out_prio=item.prio == "leave_out")
        for flow in matrix.flows:
            if (most := max(flow.source, flow.destination)) >= len(hosts):
                remedy = f"give a topology of more hosts; this one has {len(hosts)}, numbered from 0"
                raise UserError(f"there is no host {most}", place=f"{file}:{flow.line}", remedy=remedy)
        graph = matrix.graph()
        if graph.operations:
            if item.deadline is not None:
                raise self.hosts.error("deadline", "flows with triggers have no deadline", "remove the deadline")
            self._job(graph, hosts)
        for flow in matrix.plain_flows:
            added: spec.FlowSpec = {
                **common,
                "id": len(self.plan.flows) + 1,
                "src": hosts[flow.source],
                "dst": hosts[flow.destination],
                "size_bytes": flow.size_bytes,
                "start_ns": item.start_ns + flow.start_ns,
                "class": item.label,
            }
            self.plan.flows.append(added)

    def _table(self, item: TableTraffic) -> None:
        file = find_named(item.file, self.scenario, what="flow table", key=f"{self.key}.file")
        table = read_flow_table(file, self.topology.host_names)
        for column, key in (("priority", "priority"), ("deadline_ns", "deadline")):
            if key in item.model_fields_set and table[column].is_not_null().any():
                raise self.hosts.error(key, f"the table has {column}", f"remove {key} here, or the column")
        common = self._common()
        for src, dst, size_bytes, start_ns, priority, named, deadline_ns in table.iter_rows():
            added: spec.FlowSpec = {
                **common,
                "id": len(self.plan.flows) + 1,
                "src": src,
                "dst": dst,
                "size_bytes": size_bytes,
                "start_ns": item.start_ns + start_ns,
                "class": item.label if named is None else f"{item.label}-{named}",
            }
            if priority is not None:
                added["priority"] = priority
            if deadline_ns is not None:
                added["deadline"] = {"offset_ns": deadline_ns}
            self.plan.flows.append(added)

    def _mean_gap_ns(self, item: PoissonTraffic, source: str, sources: int, mean_bytes: float) -> float:
        """Between two flows of one source (docs/algorithms/traffic.md#uniform: 8 m / (b rho))."""
        if item.mean_gap_ns is not None:
            return item.mean_gap_ns
        if item.flows_per_s is not None:
            return self._within_an_hour(sources * 1e9 / item.flows_per_s, "flows_per_s")
        return self._within_an_hour(8e9 * mean_bytes / (self._rate_bps(source) * (item.load or 1.0)), "load")

    def _within_an_hour(self, gap_ns: float, field: str) -> float:
        """A mean gap that follows from another field, within the bounds of a set one; raises UserError."""
        if gap_ns > MAX_GAP_NS:
            cause = f"a host starts one flow every {gap_ns / 1e9:.3g} s on average, but gaps are at most an hour"
            raise self.hosts.error(field, cause, "give a larger value")
        return gap_ns

    def _rate_bps(self, host: str) -> int:
        """Rate of a host's link, or of its links by which it reaches most others."""
        return self.host_ways.rate_bps(host)

    def _pairs(self, item: PairsTraffic) -> None:
        hosts = self.hosts.several("hosts", item.hosts, self.topology.roles.senders)
        chosen = frozenset(hosts)
        pods = [[host for host in pod if host in chosen] for pod in self.topology.pods]
        busiest: _Busiest = {} if item.busiest_load is None else {"busiest_load": item.busiest_load}
        self.plan.pairs.append(
            {
                **self._common(),
                "name": item.label,
                "pods": [pod for pod in pods if pod],
                "matrix": self._matrix(item.matrix, hosts),
                "pattern": item.pattern,
                "offered_bps": item.load * sum(self._rate_bps(host) for host in hosts),
                "knee": item.knee,
                "end_ns": self._end_ns(item),
                **busiest,
            }
        )

    def _matrix(self, matrix: DrawnMatrix | FileMatrix, hosts: list[str]) -> spec.MatrixSpec:
        """The engine's form of a matrix."""
        gap = self._gap(matrix.gap, "matrix.gap")
        if isinstance(matrix, FileMatrix):
            path = find_named(matrix.file, self.scenario, what="pair matrix", key=f"{self.key}.matrix.file")
            return matrix_description(path, hosts, self._size(matrix.size, "matrix.size"), gap)
        return {
            "kind": matrix.kind,
            "sigma": matrix.sigma,
            "host_sigma": matrix.host_sigma,
            "pod_sigma": matrix.pod_sigma,
            "empty_share": matrix.empty_share,
            "pairs": matrix.pairs or len(hosts),
            "gap": gap,
            "classes": [
                {"share": one.share, "size": self._size(one.size, f"matrix.classes[{place}].size")}
                for place, one in enumerate(matrix.classes)
            ],
        }

    def _gap(self, gap: PairGap, key: str) -> spec.GapSpec:
        match gap:
            case CdfGap():
                what = "gap distribution"
                return gap_description(find_named(gap.file, self.scenario, what=what, key=f"{self.key}.{key}.file"))
            case LognormalGap():
                return {"kind": gap.kind, "sigma": gap.sigma}
            case ExponentialGap():
                return {"kind": gap.kind}

    def _bursts(self, item: BurstsTraffic) -> None:
        hosts = self.hosts.several("hosts", item.hosts, self.topology.roles.senders)
        if item.senders >= len(hosts):
            cause = f"{item.senders} senders and a receiver exceed the {len(hosts)} hosts"
            raise self.hosts.error("senders", cause, "reduce senders")
        offered_bps = item.load * sum(self._rate_bps(host) for host in hosts)
        self.plan.bursts.append(
            {
                **self._common(),
                "name": item.label,
                "hosts": hosts,
                "senders": item.senders,
                "size_bytes": item.sru_bytes,
                "mean_gap_ns": self._within_an_hour(8e9 * item.senders * item.sru_bytes / offered_bps, "load"),
                "end_ns": self._end_ns(item),
            }
        )

    def _collective(self, item: CollectiveTraffic) -> None:
        hosts = self.hosts.several("ranks", item.ranks, self.topology.roles.senders)
        try:
            groups = item.groups(hosts)
        except ValueError as error:
            raise self.hosts.error("group_size", str(error), "select other ranks, or change the size") from None
        common = self._common()
        for number, ranks in enumerate(groups):
            self.plan.collectives.append(
                {
                    "start_ns": common["start_ns"],
                    "algorithm": common["algorithm"],
                    "priority": common["priority"],
                    "name": item.label if len(groups) == 1 else f"{item.label}/{number}",
                    "operation": item.operation,
                    "schedule": item.used_schedule,
                    "ranks": ranks,
                    "size_bytes": item.size_bytes,
                    "iterations": item.iterations,
                    "compute_ns": item.compute_ns,
                    "window": item.window,
                }
            )

    def _chakra(self, item: ChakraTraffic) -> None:
        key = f"{self.key}.file"
        first = find_named(item.file, self.scenario, what="execution trace", key=key)
        count = len(traces(first)) if item.ranks is None else len(self.hosts.several("ranks", item.ranks))
        paths = [first] + [
            find_named(trace_of(item.file, rank), self.scenario, what="execution trace", key=key)
            for rank in range(1, count)
        ]
        groups: dict[str, tuple[int, ...]] = {}
        if item.groups is not None:
            key = f"{self.key}.groups"
            groups = read_groups(find_named(item.groups, self.scenario, what="file of groups", key=key), len(paths))
        graph = read_chakra(paths, groups)
        self._job(graph, hosts_by_rank(graph, item.ranks, self.hosts, "ranks"))

    def _job(self, graph: OperationGraph, hosts: Sequence[str]) -> None:
        """Adds operations whose ranks are these hosts."""
        common = self._common()
        job: spec.JobSpec = {
            "name": self.item.label,
            "hosts": [],
            "operations": [],
            "start_ns": common["start_ns"],
            "algorithm": common["algorithm"],
            "priority": common["priority"],
        }
        add_job(graph, hosts, job, self.plan.collectives, self.plan.jobs)

    def _end_ns(self, item: PoissonTraffic | PairsTraffic | BurstsTraffic) -> int:
        return self.case.scenario.stop_ns if item.end_ns is None else item.end_ns

    def _size(self, size: FlowSize, key: str) -> spec.SizeSpec:
        """The engine's form of sizes; `key` is where the item has them."""
        match size:
            case FixedSize():
                return {"kind": size.kind, "bytes": size.bytes}
            case UniformSize():
                return {"kind": size.kind, "min_bytes": size.min_bytes, "max_bytes": size.max_bytes}
            case CdfSize():
                return size_description(self._size_file(size, key))

    def _mean_bytes(self, size: FlowSize, key: str) -> float:
        match size:
            case FixedSize():
                return float(size.bytes)
            case UniformSize():
                return (size.min_bytes + size.max_bytes) / 2
            case CdfSize():
                return read_cdf(self._size_file(size, key)).mean_bytes

    def _size_file(self, size: CdfSize, key: str) -> Path:
        return find_named(size.file, self.scenario, what="flow-size distribution", key=f"{self.key}.{key}.file")

    def _shares(self, item: IncastTraffic | RoundsTraffic, senders: int) -> list[int]:
        shares = item.shares(senders)
        if shares[-1] == 0:
            cause = f"{item.total_bytes} B divided by {senders} senders leaves some with nothing to send"
            raise self.hosts.error("total_bytes", cause, f"give at least {senders} B")
        return shares

    def _flow(
        self,
        source: str,
        destination: str,
        size_bytes: int | None,
        start_jitter_ns: int,
        close_ns: int | None = None,
        via: str | None = None,
    ) -> None:
        flow: spec.FlowSpec = {
            "id": len(self.plan.flows) + 1,
            "src": source,
            "dst": destination,
            "size_bytes": size_bytes,
            "start_jitter_ns": start_jitter_ns,
            "close_ns": close_ns,
            "class": self.item.label,
            **self._common(),
        }
        if via is not None:
            flow["interface"] = self._interface(source, destination, via)
        self.plan.flows.append(flow)

    def _interface(self, source: str, destination: str, via: str) -> int:
        """The first of a host's links that leads to a switch of this name and on; raises UserError."""
        switches = [switch for switch, _ in self.topology.interfaces[source]]
        leading = {place for group in self.host_ways.groups(source, destination) for place in group}
        for place, switch in enumerate(switches):
            if place in leading and fnmatchcase(switch, via):
                return place
        known = ", ".join(switches[place] for place in sorted(leading))
        cause = f"no link of {source!r} on the way to {destination!r} leads to {via!r}"
        raise self.hosts.error("via", cause, f"name one of {known}")

    def _common(self) -> _Common:
        deadline = self.item.deadline
        return {
            "start_ns": self.item.start_ns,
            "algorithm": self._algorithm(),
            "priority": self.case.priority_of(self.item),
            "deadline": None if deadline is None else _deadline(deadline),
        }

    def _algorithm(self) -> str:
        return self.case.variant.name if self.item.sender is None else own_sender(self.item)


def _quantity(given: tuple[Literal["total_flows", "total_bytes"], int]) -> spec.QuantitySpec:
    key, amount = given
    return {"kind": "flows", "flows": amount} if key == "total_flows" else {"kind": "bytes", "bytes": amount}


def _deadline(deadline: Deadline) -> spec.DeadlineSpec:
    change = deadline.change
    return {
        "offset_ns": deadline.offset_ns,
        "exp_mean_ns": deadline.exp_mean_ns,
        "min_ns": deadline.min_ns,
        "change": None if change is None else {"after_ns": change.after_ns, "offset_ns": change.offset_ns},
    }
