"""The base of all packet tests: a program on a fresh switch, and what every test does with it.

A test class is one behaviour. It names its program; `setUp` pushes that program, so no test sees another's state.
Where the switch is, and what it can do, stands in PTF's test parameters, which `ptf_tests.run` writes.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from copy import copy
from pathlib import Path
from typing import ClassVar

import ptf.testutils
from finsy import Action, IndirectAction, Match, P4CloneSessionEntry, P4MulticastGroupEntry, P4TableEntry
from ptf.base_tests import BaseTest
from scapy.layers.inet import IP
from scapy.layers.l2 import Ether
from scapy.packet import Packet

from controller.units import CELL_BYTES
from p4cc.wire import data_packet
from ptf_tests.control import ControlPlane
from ptf_tests.queues import Queues

PORTS = (1, 2, 3, 4)
CPU_PORT = 510
IN, OUT = 1, 2
DESTINATION = "10.0.0.2"
NEXT_HOP = "02:00:00:00:00:09"
SET_NEXT_HOP = "ingress.forward.set_next_hop"

# A queue that keeps what comes within 100 ms, and one that drains at once. BMv2 counts rates in packets only,
# and what it has queued keeps the rate at which it came.
STOPPED_PPS = 10
OPEN_PPS = 1_000_000

ARRIVES_S = 5.0
SETTLES_S = 0.2


def parameter(name: str) -> str:
    """One of PTF's test parameters."""
    return ptf.testutils.test_params_get()[name]


class SwitchTest(BaseTest):
    """One program on the switch under test."""

    program: ClassVar[str]

    def setUp(self) -> None:
        super().setUp()
        self.dataplane = ptf.dataplane_instance
        self.dataplane.flush()
        build = Path(parameter("build"))
        self.arch = parameter("arch")
        if not (build / f"{self.program}.config").is_file():
            self.skipTest(f"{self.program} has no program for {self.arch}")
        self.control = ControlPlane(
            parameter("grpc_addr"),
            int(parameter("device_id")),
            build / f"{self.program}.p4info.txtpb",
            build / f"{self.program}.config",
        )
        self.addCleanup(self.control.close)
        self.queues = Queues(tuple(parameter("queue_cli").split("|")))
        self.prepare()

    def prepare(self) -> None:
        """Fill tables; for test classes."""

    def depth(self, pkts: int, packet: Packet | None = None) -> int:
        """What so many packets like this one are in the switch's unit: packets, or cells on the chip."""
        if self.arch != "tna":
            return pkts
        return pkts * -(-len((packet or self.packet())[IP]) // CELL_BYTES)

    def limit_queue(self, port: int, *, pkts_per_s: int = STOPPED_PPS, depth_pkts: int = 4096) -> None:
        """Slow a port down; it is opened and drained again at the end of the test."""
        self.queues.set_depth(depth_pkts, port)
        self.queues.set_rate(pkts_per_s, port)
        self.addCleanup(self.open_queue, port)

    def open_queue(self, port: int) -> None:
        """Let a port send what it has."""
        self.queues.set_rate(OPEN_PPS, port)

    def create(self, entity: P4MulticastGroupEntry | P4CloneSessionEntry) -> None:
        """Add an entity that outlives its program on some switches; it is taken away at the end of the test."""
        self.control.write(+copy(entity))
        self.addCleanup(self.control.write, -copy(entity))

    def insert(self, table: str, keys: dict[str, object], action: str, **arguments: object) -> None:
        """Add a table entry."""
        self.control.write(+P4TableEntry(table, match=Match(**keys), action=Action(action, **arguments)))

    def insert_by_port(self, table: str, action: str, port: int | None = None, **arguments: object) -> None:
        """Add the entry of an egress port (`OUT` if None)."""
        self.insert(table, {"egress_port": OUT if port is None else port}, action, **arguments)

    def route(self, prefix: str = f"{DESTINATION}/32", ports: Iterable[int] = (OUT,), mac: str = NEXT_HOP) -> None:
        """Forward a prefix to a port, or spread it over several."""
        hops = [1 * Action(SET_NEXT_HOP, port=port, dst_mac=mac) for port in ports]
        match = Match(**{"hdr.ipv4.dst_addr": prefix})
        self.control.write(+P4TableEntry("ingress.forward.ipv4_lpm", match=match, action=IndirectAction(hops)))

    def send(self, packet: Packet | bytes, port: int = IN) -> None:
        """Put a packet on a port."""
        ptf.testutils.send_packet(self, port, packet)

    def packet(self, **fields: object) -> Packet:
        """A data packet to the destination that `route` forwards."""
        return data_packet(src="10.0.0.1", dst=fields.pop("dst", DESTINATION), **fields)

    def receive(self, port: int | None = None, timeout_s: float = ARRIVES_S) -> Packet:
        """The next packet out of a port (of any, if None), as bytes that were dissected anew."""
        result = self.dataplane.poll(device_number=0, port_number=port, timeout=timeout_s)
        if not isinstance(result, self.dataplane.PollSuccess):
            self.fail(f"no packet out of port {port if port is not None else 'any'} within {timeout_s} s")
        return Ether(result.packet)

    def receive_all(self, port: int, wanted: int, timeout_s: float = ARRIVES_S) -> list[Packet]:
        """`wanted` packets out of a port, in order."""
        return [self.receive(port, timeout_s) for _ in range(wanted)]

    def expect(self, packet: Packet | bytes, port: int) -> None:
        """This very packet comes out of a port, and nothing out of another."""
        ptf.testutils.verify_packet(self, packet, port)
        self.expect_nothing()

    def expect_nothing(self) -> None:
        """Nothing comes out of any port."""
        ptf.testutils.verify_no_other_packets(self, timeout=SETTLES_S)

    def settle(self) -> None:
        """Give the switch time for what it does not answer."""
        time.sleep(SETTLES_S)


def hop(packet: Packet, mac: str = NEXT_HOP, **ip: object) -> Packet:
    """A packet as it leaves a switch that forwards it; `ip` are IPv4 fields that change beside the TTL."""
    left = packet.copy()
    left[Ether].src, left[Ether].dst = packet[Ether].dst, mac
    left[IP].ttl = packet[IP].ttl - 1
    for name, value in ip.items():
        setattr(left[IP], name, value)
    left[IP].chksum = None
    return left
