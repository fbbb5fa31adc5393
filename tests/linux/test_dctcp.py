"""p4cc's DCTCP beside the kernel's own program for it (tools/testing/selftests/bpf/progs/bpf_dctcp.c).

The kernel's is built and registered outside (docs/explanation/linux-hosts.md says how); without it nothing runs.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.linux.kernel import Senders, registered, senders
from tests.switchd import ecn_dual
from tests.switchd.namespaces import PATIENCE_S, Lab, lab, run, wait_for
from tests.switchd.test_thrift import connect, free_port

THEIRS = "bpf_dctcp"
OURS = "p4cc"
#: Linux does not grow a window in the round trip after a cut (CWR); sources and ns-2 do.
FROZEN = "p4cc, cwr_freeze=on"
SECONDS, WARM_UP_S = 12, 3
RATE_BPS = 20_000_000
K_PKTS = 20

#: Receives at two ports by these congestion controls, whose receivers echo marks as DCTCP's do.
RECEIVER = """
import selectors, socket, sys
selector = selectors.DefaultSelector()
for port, name in ((5301, sys.argv[1]), (5302, sys.argv[2])):
    listening = socket.create_server(("", port))
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
    selector.register(listening, selectors.EVENT_READ)
print("listening", flush=True)
left = 2
while left:
    for key, _ in selector.select():
        if key.fileobj.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            selector.register(key.fileobj.accept()[0], selectors.EVENT_READ)
        elif not key.fileobj.recv(1 << 16):
            selector.unregister(key.fileobj)
            left -= 1
"""

#: Sends for so many seconds; bytes, packets, marks and mean round-trip time in us after the warm-up.
SENDER = """
import json, socket, struct, sys, threading, time
with socket.socket() as connection:
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, sys.argv[2].encode())
    connection.connect((sys.argv[1], int(sys.argv[3])))
    end = time.monotonic() + float(sys.argv[4])
    begin = time.monotonic() + float(sys.argv[5])

    def send():
        while time.monotonic() < end:
            connection.sendall(bytes(30_000))

    def look():
        info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 232)
        numbers = ((120, "=Q"), (192, "=I"), (196, "=I"), (68, "=I"))
        return [struct.unpack_from(kind, info, at)[0] for at, kind in numbers]

    sending = threading.Thread(target=send)
    sending.start()
    time.sleep(begin - time.monotonic())
    first, rtts = look(), []
    begun = time.monotonic()
    while time.monotonic() < end:
        last = look()
        rtts.append(last[3])
        time.sleep(0.005)
    took = time.monotonic() - begun
    sending.join()
    print(json.dumps([last[0] - first[0], last[1] - first[1], last[2] - first[2], sum(rtts) / len(rtts), took]))
"""


@dataclass(frozen=True)
class Flow:
    """What the kernel says of one flow."""

    name: str
    sent_bytes: int
    packets: int
    marks: int
    rtt_us: float
    seconds: float

    def marks_a_round(self) -> float:
        return self.marks * self.rtt_us / 1e6 / self.seconds

    def mbps(self) -> float:
        return 8e-6 * self.sent_bytes / self.seconds


def flows(it: Senders, net: Lab, names: tuple[str, str]) -> list[Flow]:
    """Two flows from two hosts to the third at once, by these senders."""
    *ends, receiver = net.hosts
    server = it.python(receiver, RECEIVER, *names)
    try:
        assert server.stdout is not None
        assert server.stdout.readline() == "listening\n"
        clients = [
            it.python(host, SENDER, receiver.ipv4, name, str(port), str(SECONDS), str(WARM_UP_S))
            for host, name, port in zip(ends, names, (5301, 5302), strict=True)
        ]
        found: list[Flow] = []
        for name, client in zip(names, clients, strict=True):
            output, errors = client.communicate(timeout=SECONDS + PATIENCE_S)
            assert client.returncode == 0, errors
            found.append(Flow(name, *json.loads(output)))
        return found
    finally:
        server.kill()
        server.communicate()


@pytest.mark.skipif(THEIRS not in registered(), reason="bpf_dctcp is not registered (docs/explanation/linux-hosts.md)")
@pytest.mark.parametrize("pair", [(FROZEN, THEIRS), (THEIRS, FROZEN), (OURS, THEIRS), (OURS, OURS), (THEIRS, THEIRS)])
def test_dctcp_shares_a_bottleneck_with_the_kernel_s(tmp_path: Path, pair: tuple[str, str]) -> None:
    port = free_port()
    with senders() as it, lab(tmp_path, hosts=3) as net:
        rate = ("--rate-bps", f"3@{RATE_BPS}", "--queue-pkts", "200", "--thrift-port", str(port))
        net.switch(str(ecn_dual.PROGRAM), *rate)
        with wait_for(lambda: connect(port), "Thrift to answer"):
            pass
        ecn_dual.install(port, net.hosts, K_PKTS)
        for host in net.hosts:
            for other in net.hosts:
                run("ip", "-n", host.namespace, "neigh", "replace", other.ipv4, "lladdr", other.mac, "dev", "eth0")
        freeze = ("--set", "cwr_freeze=on") if FROZEN in pair else ()
        name = it.load("dctcp", "--sender", "dctcp", *freeze, option=False)
        first, second = flows(it, net, (THEIRS if pair[0] == THEIRS else name, THEIRS if pair[1] == THEIRS else name))
    sent = [first.sent_bytes, second.sent_bytes]
    jain = sum(sent) ** 2 / (2 * sum(one**2 for one in sent))
    for which, flow in zip(pair, (first, second), strict=True):
        marks = f"{flow.marks / flow.packets:.3f} of packets marked, {flow.marks_a_round():.2f} a round trip"
        print(f"{which}: {flow.mbps():.2f} Mbit/s, {marks}, {flow.rtt_us / 1_000:.2f} ms")
    print(f"Jain {jain:.4f}")
    # Like senders share within a factor of two in a few seconds, however loaded the machine is.
    assert jain > (0.7 if OURS in pair and THEIRS in pair else 0.85), sent
    assert first.marks > 0
    assert second.marks > 0
