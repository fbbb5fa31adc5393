"""A network of p4-utils with a controller for each of its two ways to a switch; run by p4-utils' Python.

Arguments: the P4 program, and where to write what was seen, as JSON. The first switch is told over Thrift, the second
over P4Runtime; both learn where hosts are from digests.
"""

from __future__ import annotations

import json
import struct
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pynng
from p4utils.mininetlib.network_API import NetworkAPI
from p4utils.utils.helper import load_topo
from p4utils.utils.sswitch_p4runtime_API import SimpleSwitchP4RuntimeAPI
from p4utils.utils.sswitch_thrift_API import SimpleSwitchThriftAPI

CLONE_SESSION = 100
#: Ports of either switch: two hosts, the other switch; then the first one's port to its controller.
PORTS = [1, 2, 3]
POLYNOMIALS = [0x04C11DB7, 0x1EDC6F41]


def flood_groups(create: Any, add: Any) -> None:
    """A multicast group for each port a packet may come in on: all the others."""
    for port in PORTS:
        create(port, [other for other in PORTS if other != port])
        add("everywhere", "flood", [str(port)], [str(port)])


class OverThrift:
    """The controller of the first switch."""

    def __init__(self, name: str, port: int) -> None:
        self.api = SimpleSwitchThriftAPI(port)
        self.api.reset_state()
        self.learned: dict[str, int] = {}
        flood_groups(self._group, self.api.table_add)
        info = self.api.client.bm_mgmt_get_info()
        self.subscriber = pynng.Sub0(dial=info.notifications_socket, topics=[b"LEA|"], recv_timeout=200)
        self.stopping = False
        self.thread = threading.Thread(target=self._learn, name=name, daemon=True)
        self.thread.start()

    def _group(self, group: int, ports: list[int]) -> None:
        self.api.mc_mgrp_create(group)
        self.api.mc_node_associate(group, self.api.mc_node_create(0, ports))

    def _learn(self) -> None:
        while not self.stopping:
            try:
                message = self.subscriber.recv()
            except pynng.Timeout:
                continue
            _, _, context, list_id, buffer_id, count = struct.unpack("<iQiiQi", message[:32])
            for at in range(count):
                high, low, port = struct.unpack_from(">HLH", message, 32 + 8 * at)
                source = f"{high << 32 | low:#014x}"
                self.learned[source] = port
                self.api.table_add("known", "NoAction", [source])
                self.api.table_add("where", "forward", [source], [str(port)])
            self.api.client.bm_learning_ack_buffer(context, list_id, buffer_id)

    def stop(self) -> None:
        self.stopping = True
        self.thread.join()


class OverP4Runtime:
    """The controller of the second switch."""

    def __init__(self, device_id: int, port: int, program: Path) -> None:
        p4info = str(program.with_name(program.stem + "_p4rt.txt"))
        config = str(program.with_suffix(".json"))
        self.api = SimpleSwitchP4RuntimeAPI(device_id, port, p4rt_path=p4info, json_path=config)
        flood_groups(self.api.mc_mgrp_create, self.api.table_add)
        self.api.digest_enable("learn_t", 1_000_000, 10, 1_000_000)
        self.learned: dict[str, int] = {}
        self.stopping = False
        self.thread = threading.Thread(target=self._learn, daemon=True)
        self.thread.start()

    def _learn(self) -> None:
        while not self.stopping:
            digests = self.api.get_digest_list(timeout=0.2)
            for data in digests.data if digests else []:
                source, port = (int.from_bytes(member.bitstring, "big") for member in data.struct.members)
                name = f"{source:#014x}"
                if name in self.learned:
                    continue
                self.learned[name] = port
                self.api.table_add("known", "NoAction", [name])
                self.api.table_add("where", "forward", [name], [str(port)])

    def stop(self) -> None:
        self.stopping = True
        self.thread.join()
        self.api.teardown()


def loss_percent(net: NetworkAPI, *hosts: str) -> float:
    return net.net.ping([net.net.get(name) for name in hosts] or None, timeout="2")


def arrays(api: SimpleSwitchThriftAPI, net: NetworkAPI) -> dict[str, Any]:
    """Counters, registers, custom checks, meters, groups, queues: set, used by packets, read."""
    seen: dict[str, Any] = {"calculations": sorted(api.get_custom_crc_calcs().items())}
    for (name, _), polynomial in zip(seen["calculations"], POLYNOMIALS, strict=True):
        api.set_crc32_parameters(name, polynomial, 0xFFFFFFFF, 0xFFFFFFFF, True, True)
    api.counter_reset("arrived")
    seen["direct"] = api.table_add("watch", "copy", ["10.0.0.2&&&255.255.255.255", "1->1"], [], prio=5)
    api.mirroring_add(CLONE_SESSION, 3)
    members = [api.act_prof_create_member("paths", "forward", [str(port)]) for port in (2, 2)]
    group = api.act_prof_create_group("paths")
    for member in members:
        api.act_prof_add_member_to_group("paths", member, group)
    table = api.get_tables()["ingress.spread"]
    seen["spread"] = [str(table.type_), [name for name, _, _ in table.key]]
    seen["ping"] = net.net.get("h1").cmd("ping -q -c 5 -i 0.2 -W 2 10.0.0.2")
    seen["counter"] = api.counter_read("arrived", 1)
    seen["hashes"] = api.register_read("hashes")[:3]
    watched = api.client.bm_mt_read_counter(0, "ingress.watch", seen["direct"])
    seen["watched"] = watched.packets
    api.set_queue_depth(20, 2)
    api.set_queue_rate(5, 2)
    slow = time.monotonic()
    net.net.get("h1").cmd("ping -q -c 8 -l 8 -W 5 10.0.0.2")
    seen["slow_s"] = time.monotonic() - slow
    api.set_queue_rate(0)
    api.meter_array_set_rates("allowed", [(0.000001, 1), (0.000002, 2)])
    seen["rates"] = api.meter_get_rates("allowed", 1)
    seen["metered"] = net.net.get("h1").cmd("ping -q -c 10 -i 0.1 -W 1 10.0.0.2")
    return seen


def main(program: Path, report: Path) -> None:
    net = NetworkAPI()
    net.setLogLevel("info")
    net.addP4Switch("s1")
    net.addP4RuntimeSwitch("s2")
    net.setP4SourceAll(str(program))
    for number in range(1, 5):
        net.addHost(f"h{number}")
    for host, switch, port in [("h1", "s1", 1), ("h2", "s1", 2), ("h3", "s2", 1), ("h4", "s2", 2)]:
        net.addLink(host, switch, port2=port)
    net.addLink("s1", "s2", port1=3, port2=3)
    net.l2()
    net.disableCli()
    net.enableLogAll()
    net.enablePcapDumpAll()
    net.startNetwork()
    seen: dict[str, Any] = {}
    try:
        topology = load_topo("topology.json")
        first = OverThrift("s1", topology.get_thrift_port("s1"))
        second = OverP4Runtime(topology.get_p4switch_id("s2"), topology.get_grpc_port("s2"), program)
        try:
            loss_percent(net)
            time.sleep(1.5)
            seen["loss"] = loss_percent(net)
            seen["arrays"] = arrays(first.api, net)
        finally:
            first.stop()
            second.stop()
        macs = {name: int(net.net.get(name).MAC().replace(":", ""), 16) for name in ("h1", "h2", "h3", "h4")}
        for name, controller in (("s1", first), ("s2", second)):
            seen[name] = {host: controller.learned.get(f"{mac:#014x}") for host, mac in macs.items()}
        report.write_text(json.dumps(seen))
    finally:
        net.stopNetwork()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
