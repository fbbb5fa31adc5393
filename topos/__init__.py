"""What the network is: graph model, addresses, routes and generators. Plain data, no I/O."""

from topos.addresses import AddressPlan, HostAddress, format_ipv4, format_ipv6, format_mac, plan_addresses
from topos.errors import Problem, TopologyError
from topos.generators import GENERATORS, LinkChange, change_links, generate
from topos.graph import Host, Link, Port, Roles, Switch, Topology, topology_from_plain
from topos.paths import Alone, Path, Paths
from topos.routes import Routes, SwitchRoutes, shortest_routes
from topos.shapes.clos import FatTreeParams, LeafSpineParams
from topos.shapes.dragonfly import DragonflyParams
from topos.shapes.dumbbell import DumbbellParams
from topos.shapes.parking_lot import ParkingLotParams
from topos.shapes.rail import RailParams
from topos.shapes.star import StarParams

__all__ = [
    "GENERATORS",
    "AddressPlan",
    "Alone",
    "DragonflyParams",
    "DumbbellParams",
    "FatTreeParams",
    "Host",
    "HostAddress",
    "LeafSpineParams",
    "Link",
    "LinkChange",
    "ParkingLotParams",
    "Path",
    "Paths",
    "Port",
    "Problem",
    "RailParams",
    "Roles",
    "Routes",
    "StarParams",
    "Switch",
    "SwitchRoutes",
    "Topology",
    "TopologyError",
    "change_links",
    "format_ipv4",
    "format_ipv6",
    "format_mac",
    "generate",
    "plan_addresses",
    "shortest_routes",
    "topology_from_plain",
]
