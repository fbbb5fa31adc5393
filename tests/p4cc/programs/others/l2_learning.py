"""p4-learning, 04-L2_Learning: the controller's side, for the program with digests and the one with packet-ins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import finsy as fy

import p4cc

if TYPE_CHECKING:
    from collections.abc import Iterable

_CLONE_SESSION = 100


class Learning(p4cc.Controller):
    """Floods what no entry knows, by a multicast group for each ingress port, and learns where a source hangs."""

    def __init__(self, cpu_port: int | None = None) -> None:
        self.cpu_port = cpu_port
        self.known: set[tuple[str, int]] = set()

    async def start(self) -> None:
        for name, switch in self.switches.items():
            ports = [port.number for port in self.topology.ports[name]]
            for ingress in ports:
                others = [port for port in ports if port != ingress]
                await switch.insert([fy.P4MulticastGroupEntry(ingress, replicas=others)])
                await switch.insert(
                    [_entry("broadcast", {"ingress_port": ingress}, "set_mcast_grp", mcast_grp=ingress)]
                )
            if self.cpu_port is None:
                await switch.insert([fy.P4DigestEntry("learn_t", max_list_size=1)])
            else:
                await switch.insert([fy.P4CloneSessionEntry(_CLONE_SESSION, replicas=[self.cpu_port])])

    async def on_digest(self, switch: fy.Switch, digest: fy.P4DigestList) -> None:
        await self.learn(switch, [(int(message["srcAddr"]), int(message["ingress_port"])) for message in digest])

    async def on_packet_in(self, switch: fy.Switch, packet: fy.P4PacketIn) -> None:
        # Behind Ethernet's header the program puts the source's address and the port.
        learnt = packet.payload[14:22]
        await self.learn(switch, [(int.from_bytes(learnt[:6], "big"), int.from_bytes(learnt[6:], "big"))])

    async def learn(self, switch: fy.Switch, sources: Iterable[tuple[int, int]]) -> None:
        """Adds each source that is new at this switch to both tables."""
        for source, port in sources:
            self.record("told", port, switch)
            if (switch.name, source) in self.known:
                continue
            self.known.add((switch.name, source))
            self.record("learnt", port, switch)
            await switch.insert(
                [
                    _entry("smac", {"srcAddr": source}, "NoAction"),
                    _entry("dmac", {"dstAddr": source}, "forward", egress_port=port),
                ]
            )


def _entry(table: str, match: dict[str, int], action: str, **params: int) -> fy.P4TableEntry:
    return fy.P4TableEntry(table, match=fy.P4TableMatch(match), action=fy.P4TableAction(action, **params))
