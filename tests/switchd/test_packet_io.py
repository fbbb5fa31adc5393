"""How `p4cc-switch` moves packets: which way it takes, what neither way loses, what it leaves behind."""

from __future__ import annotations

import json
import platform
import re
import shutil
import signal
import time
from pathlib import Path

import pytest

from tests.switchd.namespaces import PAIR, PATIENCE_S, Host, Lab, both_ways, lab, needs_af_xdp, run, wait_for
from tests.switchd.test_daemon import processor_s, refused, round_trip_s

SEND = """
import socket
link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
link.bind(("eth0", 0))
for _ in range({count}):
    link.send(bytes.fromhex("ffffffffffff") + bytes(86))
"""


def received(host: Host) -> int:
    """Packets that came in at a host's interface."""
    shown = json.loads(run("ip", "-n", host.namespace, "-s", "-j", "link", "show", "eth0"))
    return int(shown[0]["stats64"]["rx"]["packets"])


def has_program(host: Host) -> bool:
    """Whether an XDP program is attached to the switch's end of a host's link."""
    return "xdp" in json.loads(run("ip", "-j", "link", "show", host.port_interface))[0]


def ways_taken(it: Lab) -> list[str]:
    """What the log of the lab's last switch says of each port."""
    lines = it.switches[-1].log.read_text().splitlines()
    return [line.split('io="')[1].split('"')[0] for line in lines if "port attached" in line]


def test_of_itself_a_switch_takes_af_xdp_where_nothing_is_lost_by_it(tmp_path: Path) -> None:
    needs_af_xdp()
    with lab(tmp_path) as it:
        run("tc", "qdisc", "add", "dev", it.hosts[1].port_interface, "root", "pfifo", "limit", "10")
        it.switch(str(PAIR))
        first, second = ways_taken(it)
        assert first == "AF_XDP, native XDP"
        assert second.startswith("packet socket: its queueing discipline is pfifo")
        assert [has_program(host) for host in it.hosts] == [True, False]
        assert round_trip_s(*it.hosts) < 1


def test_packets_too_long_for_a_frame_need_packet_sockets(tmp_path: Path) -> None:
    needs_af_xdp()
    with lab(tmp_path) as it:
        for host in it.hosts:
            run("ip", "link", "set", host.port_interface, "mtu", "9000")
            run("ip", "-n", host.namespace, "link", "set", "eth0", "mtu", "9000")
        it.switch(str(PAIR))
        assert all(way.startswith("packet socket: its MTU of 9000 is above") for way in ways_taken(it))
        assert round_trip_s(*it.hosts) < 1


def test_af_xdp_that_cannot_be_had_is_refused_with_cause_and_remedy(tmp_path: Path) -> None:
    needs_af_xdp()
    assert "its MTU of 65536 is above" in refused("--no-p4", "-i", "1@lo", "--io", "af_xdp")
    with lab(tmp_path) as it:
        it.switch("--no-p4")
        taken = f"1@{it.hosts[0].port_interface}"
        words = refused("--no-p4", "-i", taken, "--io", "af_xdp")
        assert "another process uses AF_XDP or XDP on it" in words
        assert f"ip link set dev {it.hosts[0].port_interface} xdp off" in words


@pytest.mark.parametrize("ended_by", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_the_program_goes_with_the_switch(tmp_path: Path, ended_by: signal.Signals) -> None:
    needs_af_xdp()
    with lab(tmp_path) as it:
        switch = it.switch(str(PAIR), "--io", "af_xdp")
        assert all(has_program(host) for host in it.hosts)
        switch.process.send_signal(ended_by)
        switch.process.wait(PATIENCE_S)
        wait_for(lambda: not any(has_program(host) for host in it.hosts), "the kernel to take the program off")
        it.switch(str(PAIR), "--io", "af_xdp")
        assert round_trip_s(*it.hosts) < 1


def offloads_on(host: Host) -> None:
    if shutil.which("ethtool") is None:
        pytest.skip("ethtool is missing: apt-get install ethtool")
    run(*host.command("ethtool", "-K", "eth0", "tx", "on", "tso", "on", "gso", "on"))


@both_ways
def test_checksums_left_to_an_offload_are_completed(tmp_path: Path, io: str) -> None:
    with lab(tmp_path) as it:
        it.switch(str(PAIR))
        for host in it.hosts:
            offloads_on(host)
            if io == "packet":
                # There the kernel's segments would be longer than the link.
                run(*host.command("ethtool", "-K", "eth0", "tso", "off", "gso", "off"))
        assert round_trip_s(*it.hosts) < 1
        assert transferred(it, 300_000) == 300_000


SERVE = """
import socket
with socket.create_server(("0.0.0.0", 5001)) as server:
    print("ready", flush=True)
    connection = server.accept()[0]
    count = 0
    while data := connection.recv(65536):
        count += len(data)
    print(count, flush=True)
"""


def transferred(it: Lab, count: int) -> int:
    """Bytes that arrived over one TCP connection of so many."""
    server = it.hosts[1].python(SERVE)
    try:
        assert server.stdout is not None
        assert server.stdout.readline() == "ready\n"
        ask = f"import socket; socket.create_connection(('{it.hosts[1].ipv4}', 5001), 10).sendall(bytes({count}))"
        run(*it.hosts[0].command("python3", "-c", ask))
        return int(server.stdout.readline())
    finally:
        server.kill()
        server.wait()


#: Has the kernel put VLAN 5's tag beside each frame that leaves, as its VLAN interfaces do, and sends one
#: frame. By bpf(2): a program for tcx egress that calls the helper `bpf_skb_vlan_push`.
SEND_TAGGED = """
import ctypes, socket, struct
libc = ctypes.CDLL(None, use_errno=True)
def bpf(command, attributes):
    done = libc.syscall(321, command, ctypes.create_string_buffer(attributes, len(attributes)), len(attributes))
    assert done >= 0, (command, ctypes.get_errno())
    return done
instruction = lambda code, registers, number: struct.pack("=BBhi", code, registers, 0, number)
program = ctypes.create_string_buffer(b"".join([
    instruction(0xb7, 2, socket.htons(0x8100)), instruction(0xb7, 3, 5), instruction(0x85, 0, 18),
    instruction(0xb7, 0, 0), instruction(0x95, 0, 0)]))
license = ctypes.create_string_buffer(b"GPL")
loaded = bpf(5, struct.pack("=IIQQIIQII", 3, 5, ctypes.addressof(program), ctypes.addressof(license), 0, 0, 0, 0, 0))
link = bpf(28, struct.pack("=IIII", loaded, socket.if_nametoindex("eth0"), 47, 0))
raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
raw.bind(("eth0", 0))
raw.send(bytes(range(60)))
"""


@both_ways
def test_vlan_tags_that_the_kernel_keeps_beside_a_packet_are_not_lost(tmp_path: Path) -> None:
    if platform.machine() != "x86_64":
        pytest.skip("the test calls bpf(2) by its number on x86-64")
    with lab(tmp_path) as it:
        switch = it.switch(str(PAIR), f"--pcap={tmp_path}")
        run(*it.hosts[0].command("python3", "-c", SEND_TAGGED))
        run(*it.hosts[0].command("python3", "-c", SEND.format(count=1)))
        wait_for(lambda: received(it.hosts[1]) >= 2, "both frames to pass")
        assert switch.stop() == 0
        plain = bytes(range(60))
        tagged = plain[:12] + bytes.fromhex("81000005") + plain[12:]
        for captured in (f"{it.hosts[0].port_interface}_in.pcap", f"{it.hosts[1].port_interface}_out.pcap"):
            assert tagged in (tmp_path / captured).read_bytes()


@both_ways
def test_packets_to_an_interface_that_is_down_are_counted_and_never_come_late(tmp_path: Path) -> None:
    with lab(tmp_path) as it:
        switch = it.switch(str(PAIR), log_level="debug")
        far = it.hosts[1]
        run("ip", "link", "set", far.port_interface, "down")
        run(*it.hosts[0].command("python3", "-c", SEND.format(count=200)))
        sent = re.compile(r"packet sent at_us=\d+ port=2")
        wait_for(lambda: len(sent.findall(switch.log.read_text())) == 200, "the switch to have sent them")
        before = received(far)
        run("ip", "link", "set", far.port_interface, "up")
        run(*it.hosts[0].command("python3", "-c", SEND.format(count=5)))
        wait_for(lambda: received(far) - before >= 5, "packets to pass again")
        assert received(far) - before == 5
        assert switch.stop() == 0
        closed = [line for line in switch.log.read_text().splitlines() if "port closed" in line and "port=2" in line]
        assert "not_sent=200" in closed[0]


@both_ways
def test_a_ring_that_is_full_loses_and_counts(tmp_path: Path) -> None:
    with lab(tmp_path) as it:
        switch = it.switch(str(PAIR), "--ring-frames", "32")
        before = received(it.hosts[1])
        switch.process.send_signal(signal.SIGSTOP)
        run(*it.hosts[0].command("python3", "-c", SEND.format(count=300)))
        switch.process.send_signal(signal.SIGCONT)
        wait_for(lambda: received(it.hosts[1]) - before >= 32, "what was kept")
        assert switch.stop() == 0
        lost = switch.log.read_text().split("ring_full=")[1].split()[0]
        assert int(lost) == 300 - (received(it.hosts[1]) - before)


@both_ways
def test_an_interface_that_is_deleted_takes_nothing_else_along(tmp_path: Path) -> None:
    with lab(tmp_path) as it:
        switch = it.switch(str(PAIR))
        run("ip", "link", "del", it.hosts[1].port_interface)
        wait_for(lambda: "port down port=2" in switch.log.read_text(), "the port to be down")
        run(*it.hosts[0].command("python3", "-c", SEND.format(count=200)))
        before = processor_s(switch.process.pid)
        time.sleep(1)
        assert processor_s(switch.process.pid) - before < 0.3, "it waits rather than asks again and again"
        assert switch.stop() == 0
        closed = [line for line in switch.log.read_text().splitlines() if "port closed" in line and "port=2" in line]
        assert int(closed[0].split("not_sent=")[1].split()[0]) >= 100
