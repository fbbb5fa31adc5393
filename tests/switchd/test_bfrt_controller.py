"""`p4cc controller` over BF Runtime, and packets: routes that it installs lead them, and the ports' counters count."""

from __future__ import annotations

import json
from pathlib import Path

from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from typer.testing import CliRunner, Result

from controller.cli import app
from tests.switchd.namespaces import PATIENCE_S, ROOT, Host, lab, listening, wait_for
from topos import format_ipv4, format_mac, generate, plan_addresses

PACKETS = 5
SHAPE = ["--topology", "star", "--set", "senders=1"]

LISTEN = """
import socket
link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
link.bind(("eth0", 0))
link.settimeout({patience})
print("ready", flush=True)
for _ in range({count}):
    while (frame := link.recv(2000))[12:14] != bytes([8, 0]):
        pass
    print(frame.hex(), flush=True)
"""
SEND = """
import socket
link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
link.bind(("eth0", 0))
for _ in range({count}):
    link.send(bytes.fromhex("{frame}"))
"""


def receive(host: Host, sender: Host, frame: bytes) -> list[bytes]:
    """What a host receives of frames that another sends."""
    listener = host.python(LISTEN.format(patience=PATIENCE_S, count=PACKETS))
    try:
        assert listener.stdout is not None
        assert listener.stdout.readline() == "ready\n"
        assert sender.python(SEND.format(count=PACKETS, frame=frame.hex())).wait(PATIENCE_S) == 0
        return [bytes.fromhex(listener.stdout.readline()) for _ in range(PACKETS)]
    finally:
        listener.kill()
        listener.wait()


def test_what_is_installed_leads_packets_and_counts_them(tmp_path: Path) -> None:
    of = plan_addresses(generate("star", {"senders": 1})).hosts
    h1, aggregator = of["h1"], of["aggregator"]
    sent = Ether(src=format_mac(h1.mac), dst=format_mac(h1.gateway_mac))
    # The first codepoint of the profile, which says that the sender knows ECN.
    sent /= IP(src=format_ipv4(h1.ipv4), dst=format_ipv4(aggregator.ipv4), tos=3) / UDP(sport=9, dport=9) / bytes(60)
    with lab(tmp_path) as it:
        switch = it.switch("--bfrt-addr", "127.0.0.1:0", str(ROOT / "p4src/tna/ecn_dual.p4"))
        address = wait_for(lambda: listening(switch, "BF Runtime server listening on "), "BF Runtime")

        def command(verb: str) -> Result:
            arguments = ["--protocol", "bfrt", "--server", address, "--p4-name", "ecn_dual", *SHAPE, "--json"]
            done = CliRunner().invoke(app, [verb, *arguments])
            assert done.exit_code == 0, done.stderr
            return done

        command("install")
        got = [Ether(frame) for frame in receive(it.hosts[1], it.hosts[0], bytes(sent))]
        assert {(one.dst, one[IP].ttl, one[IP].tos) for one in got} == {(format_mac(aggregator.mac), 63, 3)}
        ports = {port["peer"]: port for port in json.loads(command("show").stdout)}
    assert {name: port["level0_pkts"] for name, port in ports.items()} == {"aggregator": PACKETS, "h1": 0}
