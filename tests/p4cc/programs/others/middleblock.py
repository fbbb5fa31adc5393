"""SONiC's middleblock.p4 as a router: an interface, a neighbour and a next hop for each port, and routes of hosts."""

from __future__ import annotations

import finsy as fy
from paths import mac_behind, ports_towards

import p4cc


class Router(p4cc.Controller):
    """Writes shortest paths; several of them as a WCMP group, or one of them for each host in turn."""

    def __init__(self, groups: bool) -> None:
        self.groups = groups

    async def start(self) -> None:
        for name, switch in self.switches.items():
            for port in self.topology.ports[name]:
                await switch.insert(self.next_hop(name, port.number, port.peer))
            known: dict[tuple[int, ...], int] = {}
            for number, (host, given) in enumerate(self.addresses.hosts.items()):
                ports = ports_towards(self.topology, name, host)
                if self.groups and len(ports) > 1:
                    if ports not in known:
                        known[ports] = len(known) + 1
                        members = [(1, fy.P4TableAction("set_nexthop_id", nexthop_id=port)) for port in ports]
                        group = fy.P4TableMatch(wcmp_group_id=known[ports])
                        members_of = fy.P4IndirectAction(members)
                        await switch.insert([fy.P4TableEntry("wcmp_group_table", match=group, action=members_of)])
                    action = fy.P4TableAction("set_wcmp_group_id", wcmp_group_id=known[ports])
                else:
                    action = fy.P4TableAction("set_nexthop_id", nexthop_id=ports[number % len(ports)])
                key = fy.P4TableMatch(vrf_id=0, ipv4_dst=given.ipv4)
                await switch.insert([fy.P4TableEntry("ipv4_table", match=key, action=action)])

    def next_hop(self, switch: str, port: int, peer: str) -> list[fy.P4TableEntry]:
        """Interface, neighbour and next hop of a port, all under the port's number."""
        mac = mac_behind(self.topology, self.addresses, switch, peer)
        own = self.addresses.port_mac(switch, port)
        interface = fy.P4TableAction("unicast_set_port_and_src_mac", port=port, src_mac=own)
        to_peer = fy.P4TableAction("set_ip_nexthop", router_interface_id=port, neighbor_id=port)
        return [
            fy.P4TableEntry(
                "router_interface_table", match=fy.P4TableMatch(router_interface_id=port), action=interface
            ),
            fy.P4TableEntry(
                "neighbor_table",
                match=fy.P4TableMatch(router_interface_id=port, neighbor_id=port),
                action=fy.P4TableAction("set_dst_mac", dst_mac=mac),
            ),
            fy.P4TableEntry("nexthop_table", match=fy.P4TableMatch(nexthop_id=port), action=to_peer),
        ]
