"""Two- and three-tier Clos networks: leaf-spine and fat-tree."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from topos.errors import fail
from topos.graph import Host, Link, Roles, Switch, Topology
from topos.shapes.common import (
    DelayNs,
    FramingBytes,
    HostAddresses,
    Loss,
    Params,
    RateBps,
    UsualQueuePkts,
    Wire,
    numbered,
)


class LeafSpineParams(Params):
    """Hosts h1.. on leaf1.., every leaf joined to every spine; hosts are numbered leaf by leaf."""

    leaves: Annotated[int, Field(ge=1, le=256)]
    """Leaf switches, to which hosts connect."""
    spines: Annotated[int, Field(ge=1, le=256)]
    """Spine switches, which connect the leaves."""
    hosts_per_leaf: Annotated[int, Field(ge=1, le=256)]
    """Hosts per leaf; with `dual_tor`, per pair of leaves."""
    dual_tor: bool = False
    """Whether each host has a second link: leaves 1 and 2 have the same hosts, then 3 and 4, and so on."""
    host_rate_bps: RateBps = 10_000_000_000
    """Rate of links between hosts and leaves."""
    fabric_rate_bps: RateBps = 40_000_000_000
    """Rate of links between leaves and spines."""
    host_delay_ns: DelayNs = 1_000
    """One-way propagation delay between host and leaf."""
    fabric_delay_ns: DelayNs = 1_000
    """One-way propagation delay between leaf and spine."""
    queue_capacity_pkts: UsualQueuePkts = None
    framing_bytes: FramingBytes = 0
    """Link-layer overhead per packet beyond its IP length; 24 or 38 for Ethernet."""
    loss: Loss = 0.0
    """Packet loss probability on each link."""
    addresses: HostAddresses = "in_order"

    @model_validator(mode="after")
    def _even_pairs(self) -> Self:
        if self.dual_tor and self.leaves % 2:
            raise ValueError(f"{self.leaves} leaves are no pairs; with dual_tor give an even number")
        return self


class FatTreeParams(Params):
    """A fat-tree of K-port switches (docs/algorithms/topologies.md#topologies, #t-fat10 with k = 10).

    K pods of K/2 edge and K/2 aggregation switches, (K/2)^2 core switches, K/2 hosts at each edge switch. Hosts h1..
    are placed pod by pod and edge by edge; with `hosts` below K^3/4 the last places stay empty. Every link has the same
    rate and delay.
    """

    k: Annotated[int, Field(ge=2, le=32)]
    """Ports per switch, an even number."""
    hosts: Annotated[int, Field(ge=1)] | None = None
    """Number of hosts; the maximum, k^3/4, if absent."""
    rate_bps: RateBps = 100_000_000_000
    """Rate of every link."""
    delay_ns: DelayNs = 1_000
    """One-way propagation delay of each link."""
    queue_capacity_pkts: UsualQueuePkts = None
    framing_bytes: FramingBytes = 0
    """Link-layer overhead per packet beyond its IP length; 24 or 38 for Ethernet."""
    loss: Loss = 0.0
    """Packet loss probability on each link."""
    addresses: HostAddresses = "in_order"

    @model_validator(mode="after")
    def _even_and_not_too_many(self) -> Self:
        if self.k % 2:
            raise ValueError(f"k is {self.k}, but a fat-tree needs an even number of ports, half of them uplinks")
        most = self.k**3 // 4
        if self.hosts is not None and self.hosts > most:
            raise ValueError(f"{self.hosts} hosts exceed the {most} of a fat-tree with k = {self.k}")
        return self


def leaf_spine(params: LeafSpineParams) -> Topology:
    """Build the two tiers; ports of a leaf are its hosts, then the spines in order."""
    racks = params.leaves // 2 if params.dual_tor else params.leaves
    hosts = tuple(numbered("h", racks * params.hosts_per_leaf))
    leaves = tuple(Switch(name=f"leaf{number}") for number in range(1, params.leaves + 1))
    spines = tuple(Switch(name=f"spine{number}") for number in range(1, params.spines + 1))
    rtt_ns = 4 * (params.host_delay_ns + params.fabric_delay_ns)
    rest = (params.queue_capacity_pkts, params.framing_bytes, params.loss, rtt_ns)
    down = Wire(params.host_rate_bps, params.host_delay_ns, *rest)
    up = Wire(params.fabric_rate_bps, params.fabric_delay_ns, *rest)
    if params.dual_tor:
        pairs = [(2 * (index // params.hosts_per_leaf), host.name) for index, host in enumerate(hosts)]
        links = [down.link(name, leaves[first + second].name) for second in (0, 1) for first, name in pairs]
    else:
        links = [down.link(host.name, leaves[index // params.hosts_per_leaf].name) for index, host in enumerate(hosts)]
    links.extend(up.link(leaf.name, spine.name) for leaf in leaves for spine in spines)
    return Topology(hosts, (*leaves, *spines), tuple(links), _everyone(hosts, params.hosts_per_leaf), params.addresses)


def fat_tree(params: FatTreeParams) -> Topology:
    """Build the three tiers: pod p has edges `p1e1`.. and aggregations `p1a1`..; aggregation j meets cores of row j."""
    half = params.k // 2
    rest = (params.queue_capacity_pkts, params.framing_bytes, params.loss, 12 * params.delay_ns)
    wire = Wire(params.rate_bps, params.delay_ns, *rest)
    hosts = tuple(numbered("h", params.hosts or params.k**3 // 4))
    edges = [f"p{pod}e{number}" for pod in range(1, params.k + 1) for number in range(1, half + 1)]
    aggregations = [name.replace("e", "a") for name in edges]
    cores = [f"c{row}-{column}" for row in range(1, half + 1) for column in range(1, half + 1)]
    links: list[Link] = [wire.link(host.name, edges[index // half]) for index, host in enumerate(hosts)]
    for pod in range(params.k):
        row = slice(pod * half, (pod + 1) * half)
        links.extend(wire.link(edge, aggregation) for edge in edges[row] for aggregation in aggregations[row])
    for index, aggregation in enumerate(aggregations):
        first = index % half * half
        links.extend(wire.link(aggregation, core) for core in cores[first : first + half])
    switches = tuple(Switch(name=name) for name in (*edges, *aggregations, *cores))
    return Topology(hosts, switches, tuple(links), _everyone(hosts, half * half), params.addresses)


def _everyone(hosts: tuple[Host, ...], pod_hosts: int) -> Roles:
    """Every host sends and receives; pods are filled one after the other."""
    if len(hosts) < 2:
        raise fail("hosts", "the network has only one host", "traffic needs at least two hosts")
    names = tuple(host.name for host in hosts)
    pods = tuple(names[first : first + pod_hosts] for first in range(0, len(names), pod_hosts))
    return Roles(names, names, None, pods)
