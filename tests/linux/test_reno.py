"""The kernel's Reno beside p4cc's on one bottleneck: the same rules, so the same share."""

from __future__ import annotations

import json
from pathlib import Path

from tests.linux.kernel import Senders, senders
from tests.switchd import ecn_dual
from tests.switchd.namespaces import PATIENCE_S, Lab, lab, run, wait_for
from tests.switchd.test_thrift import connect, free_port

SECONDS = 6
RATE_BPS = 20_000_000
QUEUE_PKTS = 40
PORT = 5301

#: Accepts two connections and counts what each brings until both ends have closed.
COUNTER = """
import json, selectors, socket
counts = {}
selector = selectors.DefaultSelector()
with socket.create_server(("", 5301)) as listening:
    print("listening", flush=True)
    for _ in range(2):
        connection, (address, _) = listening.accept()
        counts[address] = 0
        selector.register(connection, selectors.EVENT_READ, address)
    while selector.get_map():
        for key, _ in selector.select():
            data = key.fileobj.recv(1 << 16)
            counts[key.data] += len(data)
            if not data:
                selector.unregister(key.fileobj)
print(json.dumps(counts))
"""

#: Sends for so many seconds by a sender.
SENDER = """
import socket, sys, time
with socket.socket() as connection:
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, sys.argv[2].encode())
    connection.connect((sys.argv[1], 5301))
    end = time.monotonic() + float(sys.argv[3])
    while time.monotonic() < end:
        connection.sendall(bytes(30_000))
"""


def shares(it: Senders, net: Lab, names: tuple[str, str]) -> list[int]:
    """Bytes that the third host received from the first two, which send by these senders at once."""
    *ends, receiver = net.hosts
    server = it.python(receiver, COUNTER)
    assert server.stdout is not None
    assert server.stdout.readline() == "listening\n"
    clients = [
        it.python(host, SENDER, receiver.ipv4, name, str(SECONDS)) for host, name in zip(ends, names, strict=True)
    ]
    for client in clients:
        _, errors = client.communicate(timeout=SECONDS + PATIENCE_S)
        assert client.returncode == 0, errors
    output, _ = server.communicate(timeout=PATIENCE_S)
    counts = json.loads(output)
    return [counts[host.ipv4] for host in ends]


def test_reno_shares_a_bottleneck_with_the_kernel_s(tmp_path: Path) -> None:
    port = free_port()
    with senders() as it, lab(tmp_path, hosts=3) as net:
        rate = ("--rate-bps", f"3@{RATE_BPS}", "--queue-pkts", str(QUEUE_PKTS), "--thrift-port", str(port))
        net.switch(str(ecn_dual.PROGRAM), *rate)
        with wait_for(lambda: connect(port), "Thrift to answer"):
            pass
        # Nothing is marked: both senders learn of the queue by losses.
        ecn_dual.install(port, net.hosts, 10_000)
        for host in net.hosts:
            for other in net.hosts:
                run("ip", "-n", host.namespace, "neigh", "replace", other.ipv4, "lladdr", other.mac, "dev", "eth0")
        name = it.load("reno", "--sender", "reno_ecn", option=False)
        got = shares(it, net, (name, "reno"))
        counters = it.stats()["senders"][name]["counters"]
    total = sum(got)
    jain = total**2 / (2 * sum(one**2 for one in got))
    assert total * 8 > 0.6 * RATE_BPS * SECONDS, got
    # Two like senders share within a factor of two in a few seconds, however loaded the machine is.
    assert jain > 0.85, got
    assert counters["recoveries"] > 0
    assert counters["segments"] > 0.8 * got[0] / 1448
