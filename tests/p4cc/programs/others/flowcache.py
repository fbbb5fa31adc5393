"""Tutorials, flowcache: a flow's entry is made when its first packet comes, and goes when none came for a while."""

from __future__ import annotations

from typing import TYPE_CHECKING

import finsy as fy
from paths import mac_behind, ports_towards

import p4cc

if TYPE_CHECKING:
    from finsy.p4entity import P4IdleTimeoutNotification

_CLONE_SESSION = 57
_SEND_TO_PORT = 1
_DSCP = 5


class FlowCache(p4cc.Controller):
    """Answers packet-ins with an entry and a packet-out, and idle notifications with a deletion."""

    def __init__(self, idle_timeout_ns: int) -> None:
        self.idle_timeout_ns = idle_timeout_ns
        self.cached: set[tuple[str, int, int, int]] = set()

    async def start(self) -> None:
        self.hosts = {host.ipv4: name for name, host in self.addresses.hosts.items()}
        for switch in self.switches.values():
            await switch.insert([fy.P4CloneSessionEntry(_CLONE_SESSION, replicas=[510])])

    async def on_packet_in(self, switch: fy.Switch, packet: fy.P4PacketIn) -> None:
        protocol = packet.payload[23]
        src, dst = (int.from_bytes(packet.payload[at : at + 4], "big") for at in (26, 30))
        host = self.hosts[dst]
        port = ports_towards(self.topology, switch.name, host)[0]
        self.record("packet_in", packet["input_port"], switch)
        await switch.write([fy.P4PacketOut(packet.payload, opcode=_SEND_TO_PORT, reserved1=0, operand0=port)])
        if (switch.name, protocol, src, dst) in self.cached:
            return
        self.cached.add((switch.name, protocol, src, dst))
        self.record("cached", port, switch)
        peer = next(one.peer for one in self.topology.ports[switch.name] if one.number == port)
        mac = mac_behind(self.topology, self.addresses, switch.name, peer)
        entry = fy.P4TableEntry(
            "flow_cache",
            match=fy.P4TableMatch(protocol=protocol, srcAddr=src, dstAddr=dst),
            action=fy.P4TableAction("cached_action", port=port, decrement_ttl=1, new_dscp=_DSCP, dst_eth_addr=mac),
            idle_timeout_ns=self.idle_timeout_ns,
        )
        await switch.insert([entry])

    async def on_idle(self, switch: fy.Switch, notification: P4IdleTimeoutNotification) -> None:
        for entry in notification:
            if entry.match is None:
                continue
            protocol, src, dst = (int(entry.match[key]) for key in ("protocol", "srcAddr", "dstAddr"))
            self.cached.discard((switch.name, protocol, src, dst))
            self.record("idle", dst & 0xFF, switch)
            await switch.delete([fy.P4TableEntry("flow_cache", match=entry.match)])
