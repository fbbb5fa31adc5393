"""Two-level marks of `p4cc-switch` come back to the kernel's senders, packet by packet."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.linux.kernel import Senders, senders, transfer
from tests.switchd import ecn_dual
from tests.switchd.namespaces import Lab, lab, run, wait_for
from tests.switchd.test_thrift import connect, free_port

K_PKTS, K_DC_PKTS = 8, 24
SIZE = 2_500_000
RATE_BPS = 20_000_000
GST = ("--slow-start", "gst", "--set", f"k={K_PKTS}", "--set", f"k_dc={K_DC_PKTS}")


@contextmanager
def marking(
    folder: Path, codepoints: dict[tuple[int, int], int] = ecn_dual.SCE_CODEPOINTS
) -> Generator[tuple[Lab, int]]:
    """Two hosts at a switch that marks packets for the second by two thresholds; its Thrift port."""
    port = free_port()
    with lab(folder) as it:
        rate = ("--rate-bps", f"2@{RATE_BPS}", "--queue-pkts", "200", "--thrift-port", str(port))
        it.switch(str(ecn_dual.PROGRAM), *rate)
        with wait_for(lambda: connect(port), "Thrift to answer"):
            pass
        ecn_dual.install(port, it.hosts, K_PKTS, K_DC_PKTS, codepoints)
        sender, receiver = it.hosts
        for host, other in ((sender, receiver), (receiver, sender)):
            # The program routes; it answers no ARP.
            run("ip", "-n", host.namespace, "neigh", "add", other.ipv4, "lladdr", other.mac, "dev", "eth0")
        yield it, port


def ends_of(it: Senders) -> tuple[dict[str, int], dict[str, int]]:
    """What the sender and the receiver of the only connection counted."""
    closed = it.stats()["closed"]
    sender = next(one for one in closed if one["remote"].endswith(":5301"))
    receiver = next(one for one in closed if one["local"].endswith(":5301"))
    return sender, receiver


@pytest.mark.parametrize("algorithm", ["dctcp", "d2tcp", "l2tcp", "reno_ecn"])
def test_counters_equal_the_marks_that_the_switch_set(tmp_path: Path, algorithm: str) -> None:
    with senders() as it, marking(tmp_path) as (net, port):
        name = it.load(algorithm, "--sender", algorithm, *GST)
        transfer(it, name, (net.hosts[0], net.hosts[1]), SIZE)
        marks = [ecn_dual.packets_at_level(port, 2, level) for level in (1, 2)]
        sender, receiver = ends_of(it)
        stats = it.stats()["senders"][name]["counters"]
    assert marks[0] > 100, marks
    assert marks[1] > 0, marks
    assert [receiver["received_k"], receiver["received_kdc"]] == marks
    # The last ACK reports all of them, whatever ACKs were merged or lost before.
    assert [sender["reported_k"], sender["reported_kdc"]] == marks
    assert [stats["k_marks"], stats["kdc_marks"]] == marks
    assert (stats["cuts"] > 0, sender["refused"], stats["timeouts"]) == (True, 0, 0)
