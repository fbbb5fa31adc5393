"""p4-learning, 10-Congestion_Aware_Load_Balancing: routes, groups and kinds of ports, as the exercise sets them."""

from __future__ import annotations

from ipaddress import IPv4Address

import finsy as fy
from paths import mac_behind, ports_towards

import p4cc

_HOST, _SWITCH = 1, 2
_CLONE_SESSION = 100


class Balancer(p4cc.Controller):
    """ECMP over all shortest paths; with `feedback`, switches know which ports lead to hosts and tell of queues."""

    def __init__(self, feedback: bool) -> None:
        self.feedback = feedback

    async def start(self) -> None:
        for name, switch in self.switches.items():
            peers = {port.number: port.peer for port in self.topology.ports[name]}
            groups: dict[tuple[int, ...], int] = {}
            entries: list[fy.P4TableEntry] = []
            for host, given in self.addresses.hosts.items():
                ports = ports_towards(self.topology, name, host)
                key = {"dstAddr": f"{IPv4Address(given.ipv4)}/32"}
                hops = [{"dstAddr": self.mac(name, peers[port]), "port": port} for port in ports]
                if len(ports) == 1:
                    entries.append(_entry("ipv4_lpm", key, "set_nhop", **hops[0]))
                    continue
                if ports not in groups:
                    groups[ports] = len(groups) + 1
                    members = [{"ecmp_group_id": groups[ports], "ecmp_hash": number} for number in range(len(ports))]
                    entries += [
                        _entry("ecmp_group_to_nhop", member, "set_nhop", **hop)
                        for member, hop in zip(members, hops, strict=True)
                    ]
                entries.append(_entry("ipv4_lpm", key, "ecmp_group", ecmp_group_id=groups[ports], num_nhops=len(ports)))
            if self.feedback:
                entries += [
                    _entry("egress_type", {"egress_spec": port}, "set_egress_type", egress_type=self.kind(peer))
                    for port, peer in peers.items()
                ]
                await switch.insert([fy.P4CloneSessionEntry(_CLONE_SESSION, replicas=[1])])
            await switch.insert(entries)

    def mac(self, switch: str, peer: str) -> int:
        """The address behind a port."""
        return mac_behind(self.topology, self.addresses, switch, peer)

    def kind(self, peer: str) -> int:
        """What the program calls a port to this node."""
        return _HOST if peer in self.addresses.hosts else _SWITCH


def _entry(table: str, match: dict[str, int] | dict[str, str], action: str, **params: int) -> fy.P4TableEntry:
    return fy.P4TableEntry(table, match=fy.P4TableMatch(match), action=fy.P4TableAction(action, **params))
