"""Kernel TCP with ECN through `p4cc-switch`: it keeps the shaped rate, and marks reach the receiver."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.switchd import ecn_dual
from tests.switchd.namespaces import PATIENCE_S, Host, both_ways, lab, run, wait_for
from tests.switchd.test_thrift import connect, free_port

RATE_BPS = 20_000_000
SECONDS = 4
K_PKTS = 20


def ecn_marks_received(host: Host) -> int:
    """Packets with the codepoint 11 that a namespace's kernel received."""
    lines = [line.split() for line in run(*host.command("cat", "/proc/net/netstat")).splitlines()]
    names, values = (line for line in lines if line[0] == "IpExt:")
    return int(values[names.index("InCEPkts")])


def sum_received_bps(client: Host, server: Host) -> float:
    """Rate of one TCP connection by iperf3, as the receiver counts it."""
    listening = subprocess.Popen(server.command("iperf3", "-s", "-1", "-p", "5201"), stdout=subprocess.DEVNULL)
    try:
        wait_for(lambda: ":5201" in run(*server.command("ss", "-Hltn")) or None, "iperf3 to listen")
        ask = client.command("iperf3", "-c", server.ipv4, "-p", "5201", "-t", str(SECONDS), "-J")
        done = subprocess.run(ask, capture_output=True, text=True, check=False, timeout=PATIENCE_S + SECONDS)
        assert done.returncode == 0, done.stdout
        return json.loads(done.stdout)["end"]["sum_received"]["bits_per_second"]
    finally:
        listening.kill()
        listening.wait()


@pytest.mark.parametrize("k_pkts", [K_PKTS, 10_000], ids=["marking", "not marking"])
@both_ways
def test_ecn_marks_reach_the_receiver_at_the_shaped_rate(tmp_path: Path, k_pkts: int) -> None:
    for tool in ("iperf3", "ss"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed: apt-get install iperf3 iproute2")
    port = free_port()
    with lab(tmp_path) as it:
        rate = ("--rate-bps", f"2@{RATE_BPS}", "--queue-pkts", "200", "--thrift-port", str(port))
        it.switch(str(ecn_dual.PROGRAM), *rate)
        with wait_for(lambda: connect(port), "Thrift to answer"):
            pass
        ecn_dual.install(port, it.hosts, k_pkts)
        sender, receiver = it.hosts
        for host, other in ((sender, receiver), (receiver, sender)):
            # The program routes; it answers no ARP.
            run("ip", "-n", host.namespace, "neigh", "add", other.ipv4, "lladdr", other.mac, "dev", "eth0")
            run(*host.command("sysctl", "-qw", "net.ipv4.tcp_ecn=1"))
        measured_bps = sum_received_bps(sender, receiver)
        # Of 1,500 bytes on the link 1,448 are payload. The least is what a busy machine leaves of it.
        assert 0.5 * RATE_BPS < measured_bps <= RATE_BPS * 1_448 / 1_500 * 1.02
        marks = ecn_marks_received(receiver)
        assert marks > 10 if k_pkts == K_PKTS else marks == 0
