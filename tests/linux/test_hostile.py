"""A peer that lies in the option: the sender keeps its plain form, and the transfer ends as any other."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.linux.kernel import CLIENT, senders
from tests.switchd.namespaces import PATIENCE_S, lab, run

SIZE = 300_000
PORT = 5301

#: A TCP receiver on a packet socket, since a kernel's option cannot lie: it accepts one connection,
#: offers the option, and puts a hostile one into every ACK.
PEER = r"""
import random, socket, struct, sys
from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Ether

way, size = sys.argv[1], int(sys.argv[2])
link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x800))
link.bind(("eth0", 0))
print("listening", flush=True)
draw = random.Random(7)


def counters(k, kdc):
    return struct.pack("!HII", 0x5034, k % 2**32, kdc % 2**32)


def body():
    match way:
        case "too many marks":
            return counters(draw.randrange(10**6, 2**31), draw.randrange(2**31))
        case "a jump of 2^32":
            return counters(2**32 - draw.randrange(1, 1000), 2**32 - 1)
        case "short":
            return struct.pack("!H", 0x5034) + bytes(draw.randrange(8))
        case "long":
            return counters(1, 1) + bytes(draw.randrange(1, 20))
        case "another experiment":
            return struct.pack("!HII", 0x5035, 1, 1)
        case _:
            return draw.choice([b"", draw.randbytes(draw.randrange(1, 30)), counters(2**31, 2**31), counters(-5, 0)])


def answer(frame, flags, ack, options):
    ip, tcp = frame[IP], frame[TCP]
    reply = Ether(src=frame[Ether].dst, dst=frame[Ether].src) / IP(src=ip.dst, dst=ip.src)
    reply /= TCP(sport=tcp.dport, dport=tcp.sport, flags=flags, seq=seq, ack=ack % 2**32, window=65000, options=options)
    link.send(bytes(reply))


seq, expected, first, got = 1000, None, None, 0
while True:
    frame = Ether(link.recv(1 << 17))
    if TCP not in frame or frame[TCP].dport != 5301:
        continue
    tcp = frame[TCP]
    if tcp.flags.S:
        answer(frame, "SA", tcp.seq + 1, [("MSS", 1400), (254, struct.pack("!HII", 0x5034, 1 << 24, 0))])
        seq, expected = 1001, tcp.seq + 1
        continue
    length = frame[IP].len - 4 * frame[IP].ihl - 4 * tcp.dataofs
    if length and tcp.seq == expected % 2**32:
        expected += length
        got += length
    if length:
        answer(frame, "A", expected, [(254, body())] if len(body()) else [])
    if got >= size:
        reply = Ether(src=frame[Ether].dst, dst=frame[Ether].src) / IP(src=frame[IP].dst, dst=frame[IP].src)
        reply /= TCP(sport=5301, dport=tcp.sport, flags="PA", seq=seq, ack=expected % 2**32, window=65000) / b"!"
        link.send(bytes(reply))
        break
"""


@pytest.mark.parametrize(
    "way", ["too many marks", "a jump of 2^32", "short", "long", "another experiment", "anything at all"]
)
def test_a_peer_that_lies_changes_nothing(tmp_path: Path, way: str) -> None:
    with senders() as it, lab(tmp_path) as net:
        sender, receiver = net.hosts
        bridge = sender.port_interface + "b"
        run("ip", "link", "add", bridge, "type", "bridge")
        try:
            for host in net.hosts:
                run("ip", "link", "set", host.port_interface, "master", bridge)
            run("ip", "link", "set", bridge, "up")
            # The receiver's kernel has no address, so that it does not answer too.
            run("ip", "-n", receiver.namespace, "addr", "flush", "dev", "eth0")
            run("ip", "-n", sender.namespace, "neigh", "add", receiver.ipv4, "lladdr", receiver.mac, "dev", "eth0")
            name = it.load("dctcp", "--sender", "dctcp")
            peer = receiver.python(f"import sys; sys.argv[1:] = [{way!r}, '{SIZE}']\n{PEER}")
            assert peer.stdout is not None
            assert peer.stdout.readline() == "listening\n"
            client = it.python(sender, CLIENT, receiver.ipv4, str(PORT), str(SIZE), name)
            _, errors = client.communicate(timeout=2 * PATIENCE_S)
            peer.kill()
            peer.communicate()
            assert client.returncode == 0, errors
            stats = it.stats()
        finally:
            run("ip", "link", "del", bridge)
    counters = stats["senders"][name]["counters"]
    assert stats["option"]["negotiated"] == 1
    assert (counters["k_marks"], counters["kdc_marks"], counters["cuts"]) == (0, 0, 0)
    assert stats["option"]["accepted"] == 0
    # Without a report that may be true, each ACK counts in its plain form, even those without the option.
    assert counters["plain_acks"] == counters["acks"] > 0
    assert stats["option"]["refused"] > 0 or way == "another experiment"
