"""The P4 tutorials' labs, from a copy outside of this project: their topologies and runtime files, their solutions."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw
from scapy.utils import PcapReader

from p4cc.lab.plan import LabRequest
from p4cc.lab.run import LabOptions, LabReport, run_lab
from tests.lab.ports import GRPC, THRIFT

TUTORIALS = os.environ.get("P4CC_TUTORIALS")

pytestmark = pytest.mark.skipif(TUTORIALS is None, reason="P4CC_TUTORIALS names no copy of the P4 tutorials")

POD = "pod-topo/topology.json"
PINGS = [
    ("basic", POD, "10.0.4.4"),
    ("basic", "triangle-topo/topology.json", "10.0.3.3"),
    ("basic_tunnel", "topology.json", "10.0.3.3"),
    ("ecn", "topology.json", "10.0.2.2"),
    ("firewall", POD, "10.0.3.3"),
    ("link_monitor", POD, "10.0.4.4"),
    ("mri", "topology.json", "10.0.2.2"),
    ("multicast", "sig-topo/topology.json", "10.0.0.3"),
    ("qos", "topology.json", "10.0.3.3"),
]


def lab(exercise: str, topology: str, kind: str, folder: Path, *commands: str) -> LabReport:
    root = Path(TUTORIALS or "") / "exercises" / exercise
    request = LabRequest(
        str(root / topology),
        is_import=True,
        switch=kind,
        programs=(str(root / "solution" / f"{exercise}.p4"),),
        grpc_base=GRPC,
        thrift_base=THRIFT,
    )
    return run_lab(request, LabOptions(folder / "lab", cli=False, commands=commands, say=lambda _: None))


SENDER = """
import pathlib, socket, sys
link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
link.bind(("eth0", 0))
for line in pathlib.Path(sys.argv[1]).read_text().split():
    link.send(bytes.fromhex(line))
"""


def send(folder: Path, packets: Iterable[Packet]) -> str:
    """A command of h1 that sends these packets as they are."""
    script, frames = folder / "send.py", folder / "frames.txt"
    script.write_text(SENDER)
    frames.write_text("\n".join(bytes(packet).hex() for packet in packets))
    return f"h1 {sys.executable} {script} {frames}"


def sent(folder: Path, port: str) -> list[bytes]:
    """Frames that a switch sent out of a port."""
    with PcapReader(str(folder / "lab" / "pcaps" / f"{port}_out.pcap")) as packets:
        return [bytes(packet) for packet in packets]


@pytest.mark.parametrize(("exercise", "topology", "address"), PINGS)
def test_hosts_reach_each_other(kind: str, tmp_path: Path, exercise: str, topology: str, address: str) -> None:
    report = lab(exercise, topology, kind, tmp_path, f"h1 ping -q -c 3 -i 0.3 -W 2 {address}")
    assert report.ok, report


def test_the_calculator_adds(kind: str, tmp_path: Path) -> None:
    # "P4", version 1, operation, two operands, and room for the result.
    question = b"P4\x01+" + (20).to_bytes(4, "big") + (22).to_bytes(4, "big") + bytes(4)
    packet = Ether(dst="08:00:00:00:01:02", src="08:00:00:00:01:01", type=0x1234) / Raw(question)
    report = lab("calc", "topology.json", kind, tmp_path, send(tmp_path, [packet]), "h1 sleep 0.5")
    assert report.ok, report
    (answer,) = [data for data in sent(tmp_path, "p4cc-s1-1") if data[12:14] == b"\x12\x34"]
    assert int.from_bytes(answer[26:30], "big") == 42


def test_a_source_route_is_followed(kind: str, tmp_path: Path) -> None:
    # Each entry is a bit that marks the last one, and a port:
    # from s1 by port 2 to s2, there by port 1 to the host.
    packet = Ether(src="08:00:00:00:01:11", dst="ff:ff:ff:ff:ff:ff", type=0x1234) / Raw(bytes([0, 2, 0x80, 1]))
    packet = packet / IP(src="10.0.1.1", dst="10.0.2.2") / UDP(sport=1234, dport=5678)
    report = lab("source_routing", "topology.json", kind, tmp_path, send(tmp_path, [packet]), "h1 sleep 0.5")
    assert report.ok, report
    (arrived,) = [data for data in sent(tmp_path, "p4cc-s2-1") if data[12:14] == b"\x08\x00"]
    assert Ether(arrived)[UDP].dport == 5678


def test_flows_are_spread_over_both_servers(kind: str, tmp_path: Path) -> None:
    way = Ether(src="08:00:00:00:01:01", dst="08:00:00:00:01:00") / IP(src="10.0.1.1", dst="10.0.0.1")
    packets = [way / TCP(sport=port, dport=80, flags="S") for port in range(2_000, 2_032)]
    report = lab("load_balance", "topology.json", kind, tmp_path, send(tmp_path, packets), "h1 sleep 0.5")
    assert report.ok, report
    counts = [sum(TCP in Ether(data) for data in sent(tmp_path, f"p4cc-s1-{port}")) for port in (2, 3)]
    assert sum(counts) == 32
    assert min(counts) > 4
