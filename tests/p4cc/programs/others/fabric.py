"""ONOS's fabric.p4 as a router: its filters let IPv4 in on all ports, and next hops are groups of shortest paths."""

from __future__ import annotations

from ipaddress import IPv4Address

import finsy as fy
from paths import mac_behind, ports_towards

import p4cc

_VLAN = 10
_EDGE, _INFRA = 1, 2
_IPV4_UNICAST = 2
_ETHERTYPE_IPV4 = 0x0800


class Fabric(p4cc.Controller):
    """Fills filtering, forwarding, next and egress of each switch once."""

    async def start(self) -> None:
        for name, switch in self.switches.items():
            entries = [entry for port in self.topology.ports[name] for entry in self.port(port.number, port.peer)]
            groups: dict[tuple[int, ...], int] = {}
            for host, given in self.addresses.hosts.items():
                ports = ports_towards(self.topology, name, host)
                if ports not in groups:
                    groups[ports] = len(groups) + 1
                    entries.append(self.next_hops(name, groups[ports], ports))
                route = {"ipv4_dst": f"{IPv4Address(given.ipv4)}/32"}
                entries.append(_entry("routing_v4", route, "set_next_id_routing_v4", next_id=groups[ports]))
            await switch.insert(entries)

    def port(self, number: int, peer: str) -> list[fy.P4TableEntry]:
        """What lets packets without a VLAN in at a port, routes those of IPv4, and lets them out without one."""
        kind = _EDGE if peer in self.addresses.hosts else _INFRA
        vlan = {"vlan_id": _VLAN, "port_type": kind}
        ingress = {"ig_port": number, "vlan_is_valid": 0}
        routed = {"ig_port": number, "ip_eth_type": _ETHERTYPE_IPV4}
        return [
            _entry("ingress_port_vlan", ingress, "permit_with_internal_vlan", priority=1, **vlan),
            _entry("fwd_classifier", routed, "set_forwarding_type", priority=1, fwd_type=_IPV4_UNICAST),
            _entry("egress_vlan", {"vlan_id": _VLAN, "eg_port": number}, "pop_vlan"),
        ]

    def next_hops(self, switch: str, next_id: int, ports: tuple[int, ...]) -> fy.P4TableEntry:
        """A group of next hops, a member for each port."""
        peers = {port.number: port.peer for port in self.topology.ports[switch]}
        members = [
            (
                1,
                fy.P4TableAction(
                    "routing_hashed",
                    port_num=port,
                    smac=self.addresses.port_mac(switch, port),
                    dmac=mac_behind(self.topology, self.addresses, switch, peers[port]),
                ),
            )
            for port in ports
        ]
        return fy.P4TableEntry("hashed", match=fy.P4TableMatch(next_id=next_id), action=fy.P4IndirectAction(members))


def _entry(
    table: str, match: dict[str, int] | dict[str, str], action: str, priority: int = 0, **params: int
) -> fy.P4TableEntry:
    call = fy.P4TableAction(action, **params)
    return fy.P4TableEntry(table, match=fy.P4TableMatch(match), action=call, priority=priority)
