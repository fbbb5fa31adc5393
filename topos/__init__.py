"""What the network is: graph model, addresses, routes and generators. Plain data, no I/O."""

from topos.addresses import AddressPlan, HostAddress, format_ipv4, format_mac, plan_addresses
from topos.errors import Problem, TopologyError
from topos.generators import GENERATORS, DumbbellParams, StarParams, generate
from topos.graph import Host, Link, Port, Switch, Topology, topology_from_plain
from topos.routes import Routes, shortest_routes

__all__ = [
    "GENERATORS",
    "AddressPlan",
    "DumbbellParams",
    "Host",
    "HostAddress",
    "Link",
    "Port",
    "Problem",
    "Routes",
    "StarParams",
    "Switch",
    "Topology",
    "TopologyError",
    "format_ipv4",
    "format_mac",
    "generate",
    "plan_addresses",
    "shortest_routes",
    "topology_from_plain",
]
