"""Profile `gst` on the wire: hosts translate at their interfaces, and the switch's marks come back one by one."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.linux.kernel import COMMAND, LOAD_S, Senders, senders, transfer
from tests.linux.test_loader import joined
from tests.linux.test_marks import GST, SIZE, ends_of, marking
from tests.switchd import ecn_dual
from tests.switchd.namespaces import PATIENCE_S, Host, lab, run

#: docs/algorithms/marking.md#codepoints: `gst` for each code point of `sce`.
WIRE = {0b00: 0b00, 0b10: 0b11, 0b01: 0b10, 0b11: 0b01}


def profile(it: Senders, host: Host, name: str, interface: str = "eth0") -> subprocess.CompletedProcess[str]:
    """Runs `p4cc-hosts profile` in a host's network namespace, but with the pins of this one."""
    inside = ["nsenter", f"--net=/run/netns/{host.namespace}", str(COMMAND), "--pins", str(it.pins)]
    command = [*inside, "profile", name, "--dev", interface]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=LOAD_S)


def translating(it: Senders, host: Host) -> None:
    done = profile(it, host, "gst")
    assert (done.returncode, done.stdout) == (0, "eth0: code points of profile gst\n"), done.stderr


#: Counts data packets to port 5301 by code point until its input ends, and wrong IP checksums.
CAPTURE = """
import json, select, socket, struct, sys
link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
link.setsockopt(socket.SOL_SOCKET, 33, 1 << 24)
link.bind(("eth0", 0))
print("listening", flush=True)
counts, wrong = [0] * 4, 0
while True:
    ready, _, _ = select.select([link, sys.stdin], [], [])
    if link not in ready:
        break
    frame = link.recv(1 << 17)
    if frame[12:14] != b"\\x08\\x00" or frame[23] != 6 or frame[36:38] != (5301).to_bytes(2, "big"):
        continue
    total = sum(struct.unpack("!10H", frame[14:34]))
    wrong += (total & 0xFFFF) + (total >> 16) != 0xFFFF
    if int.from_bytes(frame[16:18], "big") > 20 + (frame[46] >> 4) * 4:
        counts[frame[15] & 3] += 1
print(json.dumps([*counts, wrong]))
"""


@contextmanager
def captured(host: Host) -> Generator[list[int]]:
    """Data packets on a host's wire by code point, and wrong checksums, once the block is left."""
    counts: list[int] = []
    process = host.python(CAPTURE)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "listening\n"
        yield counts
        output, errors = process.communicate("", PATIENCE_S)
        assert process.returncode == 0, errors
        counts += json.loads(output)
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("algorithm", ["dctcp", "reno_ecn"])
def test_marks_in_the_paper_s_code_points_come_back(tmp_path: Path, algorithm: str) -> None:
    with senders() as it, marking(tmp_path, ecn_dual.GST_CODEPOINTS) as (net, port):
        ends = net.hosts[0], net.hosts[1]
        for host in ends:
            translating(it, host)
        name = it.load(algorithm, "--sender", algorithm, *GST)
        with captured(ends[0]) as sent, captured(ends[1]) as arrived:
            transfer(it, name, ends, SIZE)
        marks = [ecn_dual.packets_at_level(port, 2, level) for level in (1, 2)]
        sender, receiver = ends_of(it)
        stats = it.stats()["senders"][name]["counters"]
    assert marks[0] > 100, marks
    assert marks[1] > 0, marks
    # On the wire all data leaves as 11 and arrives as 11, 10 or 01, with the right checksum.
    assert sent == [0, 0, 0, sum(sent), 0]
    assert arrived[:3] == [0, marks[1], marks[0]]
    assert arrived[3] > 0
    assert arrived[4] == 0
    assert [receiver["received_k"], receiver["received_kdc"]] == marks
    assert [sender["reported_k"], sender["reported_kdc"]] == marks
    assert [stats["k_marks"], stats["kdc_marks"]] == marks
    assert (stats["cuts"] > 0, sender["refused"], stats["timeouts"]) == (True, 0, 0)


#: Prints the code points of four datagrams.
LISTENER = """
import socket, sys
family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
level, option = (socket.IPPROTO_IPV6, 66) if family == socket.AF_INET6 else (socket.IPPROTO_IP, 13)
with socket.socket(family, socket.SOCK_DGRAM) as listening:
    listening.setsockopt(level, option, 1)
    listening.bind((sys.argv[1], 5302))
    print("listening", flush=True)
    for _ in range(4):
        _, ancillary, _, _ = listening.recvmsg(10, 100)
        print(ancillary[0][2][0], end=" ", flush=True)
"""
#: Sends datagrams with the code points from 0 to 3 and a traffic class that must stay.
SENDER = """
import socket, sys
family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
level, option = (socket.IPPROTO_IPV6, 67) if family == socket.AF_INET6 else (socket.IPPROTO_IP, 1)
with socket.socket(family, socket.SOCK_DGRAM) as sending:
    for ecn in range(4):
        sending.setsockopt(level, option, 0xB8 | ecn)
        sending.sendto(b"data", (sys.argv[1], 5302))
"""


def seen(it: Senders, ends: tuple[Host, Host], address: str) -> dict[int, int]:
    """The code point with which each code point of the first host reaches the second one's sockets."""
    server = it.python(ends[1], LISTENER, address)
    try:
        assert server.stdout is not None
        assert server.stdout.readline() == "listening\n"
        client = it.python(ends[0], SENDER, address)
        _, errors = client.communicate(timeout=PATIENCE_S)
        assert client.returncode == 0, errors
        output, errors = server.communicate(timeout=PATIENCE_S)
        assert server.returncode == 0, errors
    finally:
        server.kill()
        server.communicate()
    classes = [int(word) for word in output.split()]
    assert [word & ~3 for word in classes] == [0xB8] * 4
    return dict(enumerate(word & 3 for word in classes))


@pytest.mark.parametrize("version", [4, 6])
def test_each_end_translates_what_passes_its_interface(tmp_path: Path, version: int) -> None:
    with senders() as it, lab(tmp_path) as net:
        ends = joined(net)
        sender, receiver = ends
        address = receiver.ipv4
        if version == 6:
            address = f"fd00::{receiver.number}"
            for host in ends:
                run(*host.command("sysctl", "-qw", "net.ipv6.conf.eth0.disable_ipv6=0"))
                run("ip", "-n", host.namespace, "addr", "add", f"fd00::{host.number}/64", "dev", "eth0", "nodad")
        same = {ecn: ecn for ecn in range(4)}
        try:
            assert seen(it, ends, address) == same
            translating(it, sender)
            assert seen(it, ends, address) == WIRE
            translating(it, receiver)
            # Once more changes nothing.
            translating(it, receiver)
            assert seen(it, ends, address) == same
            assert profile(it, sender, "sce").returncode == 0
            assert seen(it, ends, address) == {wire: ecn for ecn, wire in WIRE.items()}
            translating(it, sender)
            assert it.call("status").count("profile gst: eth0 (network namespace ") == 2
            # From this namespace, which has none of the interfaces.
            it.call("unload")
            assert not it.pins.exists()
            assert seen(it, ends, address) == same
        finally:
            run("ip", "link", "del", sender.port_interface + "b")


def test_an_interface_may_have_a_dot_in_its_name(tmp_path: Path) -> None:
    with senders() as it, lab(tmp_path) as net:
        host = net.hosts[0]
        # As a VLAN's interface has it; the BPF file system allows none.
        for words in (("down",), ("name", "eth0.100"), ("up",)):
            run("ip", "-n", host.namespace, "link", "set", "eth0" if words[0] != "up" else "eth0.100", *words)
        done = profile(it, host, "gst", "eth0.100")
        assert (done.returncode, done.stdout) == (0, "eth0.100: code points of profile gst\n"), done.stderr
        assert it.call("status").count("profile gst: eth0.100 (network namespace ") == 1
        assert profile(it, host, "sce", "eth0.100").returncode == 0
        assert "profile gst" not in it.call("status")


def test_status_leaves_out_interfaces_that_are_gone(tmp_path: Path) -> None:
    with senders() as it, lab(tmp_path) as net:
        for host in net.hosts[:2]:
            translating(it, host)
        assert it.call("status").count("profile gst: eth0 ") == 2
        run("ip", "-n", net.hosts[0].namespace, "link", "del", "eth0")
        assert it.call("status").count("profile gst: eth0 ") == 1
        it.call("unload")
        assert not it.pins.exists()


@pytest.mark.parametrize(
    ("name", "interface", "message"),
    [
        ("gst", "nowhere", "nowhere: there is no such interface; see `ip link`"),
        ("gst", "lo", "lo: has no Ethernet header; give the Ethernet interface below it"),
        ("dctcp", "eth0", 'profile: there is no "dctcp"; give gst or sce'),
    ],
)
def test_what_cannot_translate_is_refused(tmp_path: Path, name: str, interface: str, message: str) -> None:
    with senders() as it, lab(tmp_path) as net:
        done = profile(it, net.hosts[0], name, interface)
        assert (done.returncode, done.stderr) == (1, f"p4cc-hosts: {message}\n")
        assert not it.pins.exists()
