"""The network: graph model, addresses, routes and generators. Plain data, no I/O.

Names load when they are first used: who asks for one of them does not wait for numpy and all shapes.
"""

from typing import TYPE_CHECKING

from topos.late_names import late_names

if TYPE_CHECKING:
    from topos.addresses import AddressPlan, HostAddress, format_ipv4, format_ipv6, format_mac, plan_addresses
    from topos.errors import Problem, TopologyError
    from topos.generators import GENERATORS, LinkChange, change_links, generate
    from topos.graph import Host, Link, Port, Roles, Switch, Topology, topology_from_plain
    from topos.ideal import AloneIdeal, HpccIdeal, Ideal
    from topos.paths import Path, Paths
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
    "AloneIdeal",
    "DragonflyParams",
    "DumbbellParams",
    "FatTreeParams",
    "Host",
    "HostAddress",
    "HpccIdeal",
    "Ideal",
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

_HOMES = {
    "GENERATORS": "topos.generators",
    "AddressPlan": "topos.addresses",
    "AloneIdeal": "topos.ideal",
    "DragonflyParams": "topos.shapes.dragonfly",
    "DumbbellParams": "topos.shapes.dumbbell",
    "FatTreeParams": "topos.shapes.clos",
    "Host": "topos.graph",
    "HostAddress": "topos.addresses",
    "HpccIdeal": "topos.ideal",
    "Ideal": "topos.ideal",
    "LeafSpineParams": "topos.shapes.clos",
    "Link": "topos.graph",
    "LinkChange": "topos.generators",
    "ParkingLotParams": "topos.shapes.parking_lot",
    "Path": "topos.paths",
    "Paths": "topos.paths",
    "Port": "topos.graph",
    "Problem": "topos.errors",
    "RailParams": "topos.shapes.rail",
    "Roles": "topos.graph",
    "Routes": "topos.routes",
    "StarParams": "topos.shapes.star",
    "Switch": "topos.graph",
    "SwitchRoutes": "topos.routes",
    "Topology": "topos.graph",
    "TopologyError": "topos.errors",
    "change_links": "topos.generators",
    "format_ipv4": "topos.addresses",
    "format_ipv6": "topos.addresses",
    "format_mac": "topos.addresses",
    "generate": "topos.generators",
    "plan_addresses": "topos.addresses",
    "shortest_routes": "topos.routes",
    "topology_from_plain": "topos.graph",
}

__getattr__ = late_names("topos", _HOMES)
